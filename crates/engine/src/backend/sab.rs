//! SAB in Linux: what the ports of its switches divide among flows, and the readings that no Linux host follows.

use crate::sim::base_rtt;
use fanin_core::units::{Rate, Time};
use fanin_network::topology::Topology;
use fanin_param::{SpecError, Values};
use fanin_port::spec::Limit;
use fanin_scenario::Scenario;

/// Keys that switches follow, and those that have one value in the kernel.
pub(super) const SWITCH: &[&str] = &["epsilon", "rtt0", "sub-mss", "first-share", "forget"];

/// What a port divides among its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Bytes that path and buffer hold; zero if the port divides nothing.
    pub pipe: u64,
    /// Segments that each flow gets at least.
    pub least: u32,
    /// Whether a FIN leaves its flow counted.
    pub keeps: bool,
}

/// What each port of a switch divides, by its rate and buffer.
pub(super) fn shares(scenario: &Scenario, topology: &Topology) -> impl Fn(Rate, Limit) -> Shares {
    let values = scenario.scheme("sab");
    let runs = scenario.scheme_key() == "sab";
    let bytes = |of: &Values, key: &str| of.bytes(key).get();
    let packet = ["mss", "header"].iter().map(|key| bytes(&scenario.transport, key)).sum::<u64>()
        + bytes(&scenario.network.values, "frame-overhead");
    // A receiver that acknowledges every other segment would wait for a second one.
    let least = scenario.transport.integer("ack-every") as u32;
    let (epsilon, keeps) = (values.number("epsilon"), !values.flag("forget"));
    let rtt0 = match values.time("rtt0") {
        Time::ZERO => base_rtt(topology),
        rtt0 => rtt0,
    };
    move |rate, limit| {
        if !runs {
            return Shares::default();
        }
        let pipe = rate.bytes_in(rtt0) + epsilon * limit.bytes(packet) as f64;
        Shares { pipe: (pipe as u64).max(1), least, keeps }
    }
}

/// An error at what no Linux host follows.
pub(super) fn refuse(scenario: &Scenario) -> Result<(), SpecError> {
    if !scenario.transports().any(|(key, _)| *key == "sab") {
        return Ok(());
    }
    if scenario.transports().count() > 1 {
        let why = "sab sets the windows of all connections that cross its switches in the Linux backend: give no group another";
        return Err(scenario.transport.fail("scheme", why));
    }
    let values = scenario.scheme("sab");
    if !values.is("sub-mss", "min1") {
        let why = "a Linux sender sends nothing into a window below a segment, and paces by no window: set min1";
        return Err(values.fail("sub-mss", why));
    }
    if !values.is("first-share", "data") {
        let why = "a Linux sender begins with initial-window, whatever the window of a SYN-ACK: set data";
        return Err(values.fail("first-share", why));
    }
    Ok(())
}
