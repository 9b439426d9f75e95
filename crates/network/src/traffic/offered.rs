//! Offered load of open-loop traffic: the time between arrivals that follows from a load.

use super::Place;
use fanin_core::ids::NodeId;
use fanin_core::units::Time;
use fanin_param::{SpecError, Values};

/// The average arrivals, whether or not the network can carry them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// Mean payload of an arrival in bytes: of a transfer, or of all responses of a query.
    pub mean: f64,
    /// Mean time between arrivals.
    pub interval: Time,
    /// The reference of the load: a word of the key `load-of`.
    pub of: &'static str,
    /// Capacity of the reference in bit/s, headers included; none if the network does not define it.
    pub capacity: Option<f64>,
}

impl Offered {
    /// Reads `load`, `load-of` and `interval` for arrivals of `mean` bytes at these receivers.
    pub(super) fn of(values: &Values, place: &Place<'_>, receivers: &[NodeId], mean: f64) -> Result<Self, SpecError> {
        let (load, interval) = (values.number("load"), values.time("interval"));
        let bisection = values.is("load-of", "bisection");
        let (of, capacity) = if bisection {
            ("bisection", place.topology.bisection.map(|rate| rate.bps() as f64))
        } else {
            let rate = |host: &NodeId| place.topology.links[place.topology.uplink(*host).index()].rate.bps();
            ("receivers", Some(receivers.iter().map(|host| rate(host) as f64).sum()))
        };
        let interval = match (load > 0.0, interval > Time::ZERO) {
            (false, true) => interval,
            (true, false) => {
                let none = "this network has no two halves; those of leaf-spine, clos and fat-tree have";
                let capacity = capacity.ok_or_else(|| values.fail("load-of", none))?;
                Time::from_secs_f64(mean * 8.0 / (load * capacity))
            }
            (false, false) => return Err(values.fail("load", "give load or interval")),
            (true, true) => return Err(values.fail("interval", "give load or interval, not both")),
        };
        if interval == Time::ZERO {
            return Err(values.fail("load", "all would begin at once; give less"));
        }
        Ok(Self { mean, interval, of, capacity })
    }

    /// Payload per second.
    pub fn bps(&self) -> f64 {
        self.mean * 8.0 / self.interval.secs()
    }

    /// Payload per second as a share of the capacity.
    pub fn load(&self) -> Option<f64> {
        Some(self.bps() / self.capacity?)
    }
}

/// The time at which arrivals stop.
pub(super) fn stop(values: &Values) -> Result<Time, SpecError> {
    let (start, stop) = (values.time("start"), values.time("stop"));
    if stop == Time::ZERO {
        return Ok(Time::NEVER);
    }
    if stop <= start {
        return Err(values.fail("stop", format!("must be later than start, which is {start}")));
    }
    Ok(stop)
}

/// The maximum number of arrivals.
pub(super) fn count(values: &Values) -> u64 {
    Some(values.integer("count")).filter(|count| *count > 0).unwrap_or(u64::MAX)
}
