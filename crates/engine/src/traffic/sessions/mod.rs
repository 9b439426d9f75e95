//! Sessions: transfers between random or given pairs of hosts, in a closed loop or at a load.
//!
//! Block reads of a distributed file system are sessions whose sender is in the rack of a random client. Each session is
//! made when it begins, so that a long run is no large table in advance.
//
// READING: P24 PFDCT's traffic of section 5.3 repeats: when a flow ends its place is taken by a new one.
// READING: P25 Its link load is the payload of flows that arrive independently, over the capacity of the receiver's link.

mod pairs;
mod params;
#[cfg(test)]
mod tests;

use super::{Connection, Place, Request, Traffic, TrafficAction, TrafficCx, TrafficRow, TransferSpec, asked_for};
use crate::ids::TransferId;
use crate::spec::{Params, Sizes, SpecError};
use crate::topology::{BY_PART, Demand};
use crate::units::Time;
use pairs::Pairs;
use params::PARAMS;
use std::collections::BTreeMap;

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "sessions",
    summary: "Transfers between random or given pairs of hosts, in a closed loop or at a load.",
    params: PARAMS,
    demand_key: "senders",
    demand: |params| {
        let own = params.text("placement") == "own-host" && params.text("from") == BY_PART;
        let senders = if own { params.integer("senders") as usize } else { 1 };
        let receivers = if params.text("to") == BY_PART { params.integer("receivers") as usize } else { 1 };
        Demand { senders, receivers }
    },
    one_client: false,
    near: |_| 0,
    unopened: asked_for,
    build,
};

fn build(params: &Params, place: &Place<'_>) -> Result<Box<dyn Traffic>, SpecError> {
    let receivers = match params.text("to") {
        BY_PART => &place.receivers[..params.integer("receivers") as usize],
        _ => place.receivers,
    };
    let (start, stop) = (params.time("start"), params.time("stop"));
    if stop > Time::ZERO && stop <= start {
        return Err(params.fail("stop", format!("must be later than start, which is {start}")));
    }
    let request = params.bytes("request").get();
    let think = params.time("think");
    Ok(Box::new(Sessions {
        pairs: Pairs::new(params, place.topology, place.senders, receivers)?,
        sizes: params.sizes("bytes-each").clone(),
        arrivals: arrivals(params, place, receivers.len())?,
        request: (request > 0).then_some(Request { bytes: request, think }),
        start,
        stop: if stop > Time::ZERO { stop } else { Time::NEVER },
        left: Some(params.integer("count")).filter(|count| *count > 0).unwrap_or(u64::MAX),
        begun: 0,
        slots: BTreeMap::new(),
    }))
}

/// When sessions begin.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// Always so many, with this pause between one and its successor; the first ones jittered.
    Closed { concurrent: u64, gap: Time, jitter: Time },
    /// With this mean time between them.
    Poisson { mean: Time },
}

fn arrivals(params: &Params, place: &Place<'_>, receivers: usize) -> Result<Arrivals, SpecError> {
    let (load, interval) = (params.number("load"), params.time("interval"));
    if params.text("arrivals") == "closed" {
        let open = [("load", load > 0.0), ("interval", interval > Time::ZERO)];
        if let Some((key, _)) = open.iter().find(|(_, given)| *given) {
            return Err(params.fail(key, "has an effect with arrivals = \"poisson\" only"));
        }
        let (gap, jitter) = (params.time("gap"), params.time("jitter"));
        return Ok(Arrivals::Closed { concurrent: params.integer("concurrent"), gap, jitter });
    }
    let mean = match (load > 0.0, interval > Time::ZERO) {
        (false, true) => interval,
        (true, false) => {
            let capacity = capacity(params, place, receivers)?;
            let bits = params.sizes("bytes-each").mean() * 8.0;
            Time::from_secs_f64(bits / (load * capacity))
        }
        (false, false) => return Err(params.fail("load", "give load or interval")),
        (true, true) => return Err(params.fail("interval", "give load or interval, not both")),
    };
    if mean == Time::ZERO {
        return Err(params.fail("load", "sessions would begin all at once; give less"));
    }
    Ok(Arrivals::Poisson { mean })
}

/// Bits per second of which the load is a share.
fn capacity(params: &Params, place: &Place<'_>, receivers: usize) -> Result<f64, SpecError> {
    let topology = place.topology;
    if params.text("load-of") == "receivers" {
        let rate = |host| topology.links[topology.uplink(host).index()].rate.bps();
        return Ok(place.receivers[..receivers].iter().map(|host| rate(*host) as f64).sum());
    }
    let none = "this network has no two halves; those of leaf-spine, clos and fat-tree have";
    topology.bisection.map(|rate| rate.bps() as f64).ok_or_else(|| params.fail("load-of", none))
}

struct Sessions {
    pairs: Pairs,
    sizes: Sizes,
    arrivals: Arrivals,
    request: Option<Request>,
    start: Time,
    /// No session begins then or later.
    stop: Time,
    /// How many sessions may still begin.
    left: u64,
    /// How many have.
    begun: u64,
    /// The place in the closed loop that each session under way has.
    slots: BTreeMap<TransferId, u64>,
}

impl Sessions {
    /// Begins a session at `at`, of the pair with that number where pairs come in turn.
    fn begin(&mut self, at: Time, number: u64, cx: &mut TrafficCx<'_>) -> Option<TransferId> {
        if self.left == 0 || at >= self.stop {
            return None;
        }
        self.left -= 1;
        self.begun += 1;
        let (from, to) = self.pairs.next(number, cx.stream);
        let bytes = Some(self.sizes.draw(cx.stream));
        Some(cx.transfer(TransferSpec {
            start: at,
            from,
            to,
            bytes,
            stop: None,
            connection: Connection::Fresh,
            request: self.request,
            in_query: false,
        }))
    }

    fn fill(&mut self, slot: u64, at: Time, cx: &mut TrafficCx<'_>) {
        if let Some(session) = self.begin(at, slot, cx) {
            self.slots.insert(session, slot);
        }
    }

    /// Asks to be called when the next session arrives.
    fn await_next(&self, after: Time, mean: Time, cx: &mut TrafficCx<'_>) {
        let next = after + cx.stream.exponential_time(mean);
        if self.left > 0 && next < self.stop {
            cx.actions.push(TrafficAction::Wake(next));
        }
    }
}

impl Traffic for Sessions {
    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        match self.arrivals {
            Arrivals::Closed { concurrent, jitter, .. } => {
                for slot in 0..concurrent.min(self.left) {
                    let at = self.start + cx.stream.uniform_time(jitter);
                    self.fill(slot, at, cx);
                }
            }
            Arrivals::Poisson { mean } => self.await_next(self.start, mean, cx),
        }
    }

    fn on_complete(&mut self, cx: &mut TrafficCx<'_>, session: TransferId) {
        if let (Some(slot), Arrivals::Closed { gap, .. }) = (self.slots.remove(&session), self.arrivals) {
            self.fill(slot, cx.now + gap, cx);
        }
    }

    fn on_wake(&mut self, cx: &mut TrafficCx<'_>) {
        if let Arrivals::Poisson { mean } = self.arrivals {
            self.begin(cx.now, self.begun, cx);
            self.await_next(cx.now, mean, cx);
        }
    }
}
