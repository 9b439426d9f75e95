//! RCCE in Linux: where its scheduler is, and what nothing in the kernel follows.

use fanin_core::ids::LinkId;
use fanin_network::topology::{Topology, twin};
use fanin_param::SpecError;
use fanin_scenario::Scenario;

/// Keys that the site follows and the module does not.
pub(super) const SWITCH: &[&str] =
    &["mark-threshold", "mark-at", "edge-mode", "edge-scheduler", "proxy-counts", "st-enable"];

/// Keys of trees and flowcells, which the kernel does not have.
pub(super) const TREES: &[&str] = &["st-when", "st-cell", "st-hold", "st-settle", "st-retry"];

/// The module of the last switch.
pub(super) const EDGE: &str = "rcce";

/// Values that nothing in the kernel follows, and why.
const REFUSED: &[(&str, &str, &str)] = &[
    ("st-enable", "on", "the kernel's switches have no labels, and its hosts cut no flowcells: set off"),
    ("proxy-counts", "arrivals", "the kernel's edge sees data as they leave: set departures"),
];

/// Whether the last switch has the scheduler, and not the receiving host.
pub(super) fn in_switch(scenario: &Scenario) -> bool {
    scenario.scheme_key() == "rcce" && scenario.scheme("rcce").is("edge-mode", "tor-proxy")
}

/// The links to hosts that receive data, if their ports have the scheduler.
pub(super) fn edges(scenario: &Scenario, topology: &Topology) -> Result<Vec<LinkId>, SpecError> {
    if !in_switch(scenario) {
        return Ok(Vec::new());
    }
    let values = scenario.scheme("rcce");
    if values.is("edge-scheduler", "central") && topology.receivers.len() > 1 {
        let why = "each port towards a receiver has a scheduler of its own in the kernel: set per-host";
        return Err(values.fail("edge-scheduler", why));
    }
    Ok(topology.receivers.iter().map(|host| twin(topology.uplink(*host))).collect())
}

/// An error at what nothing in the kernel follows.
pub(super) fn refuse(scenario: &Scenario) -> Result<(), SpecError> {
    if !scenario.transports().any(|(key, _)| *key == "rcce") {
        return Ok(());
    }
    let values = scenario.scheme("rcce");
    if values.is("edge-mode", "relay-tree") && values.is("edge-scheduler", "central") {
        let why = "each host of an edge has a scheduler of its own in the kernel: set per-host";
        return Err(values.fail("edge-scheduler", why));
    }
    for (key, word, why) in REFUSED {
        if values.is(key, word) {
            return Err(values.fail(key, *why));
        }
    }
    Ok(())
}
