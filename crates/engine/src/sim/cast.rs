//! Which hosts each traffic group has: those that the network lays out for it, or those that it names.

use crate::ids::NodeId;
use crate::spec::{Scenario, SpecError, TrafficGroup};
use crate::topology::{BY_PART, Demand, Topology};
use crate::traffic::{self, TrafficRow};

/// The hosts of a traffic group.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    pub(crate) senders: Vec<NodeId>,
    pub(crate) receivers: Vec<NodeId>,
}

/// The registry's row of a group.
pub(crate) fn traffic_row(group: &TrafficGroup) -> &'static TrafficRow {
    traffic::REGISTRY.iter().find(|row| row.key == group.kind).expect("the parser knows the registry")
}

/// Hosts that the network must lay out for a group. Those that it names are there anyway.
pub(crate) fn by_part(group: &TrafficGroup) -> Demand {
    let demand = (traffic_row(group).demand)(&group.params);
    Demand {
        senders: if names(group, "from") { 0 } else { demand.senders },
        receivers: if names(group, "to") { 0 } else { demand.receivers },
    }
}

fn names(group: &TrafficGroup, key: &str) -> bool {
    group.params.text(key) != BY_PART
}

/// The hosts of all groups, in file order. If no group speaks of parts, hosts are called by number from now on.
pub(crate) fn casts(scenario: &Scenario, topology: &mut Topology) -> Result<Vec<Cast>, SpecError> {
    let mut next = 0;
    let mut casts = Vec::new();
    for group in &scenario.traffic {
        let demand = by_part(group);
        let mut cast = Cast { senders: senders(group, topology, next)?, receivers: receivers(group, topology)? };
        next += demand.senders;
        if names(group, "from") {
            check_named(group, &mut cast)?;
        }
        if names(group, "to") && cast.senders.len() == 1 && cast.receivers.contains(&cast.senders[0]) {
            let message = "names the only host that sends among those that receive";
            return Err(group.params.fail("to", message));
        }
        casts.push(cast);
    }
    let parts = |text: &str| text == BY_PART || text.contains("sender") || text.contains("receiver");
    let by_number = |group: &TrafficGroup| ["from", "to"].iter().all(|key| !parts(group.params.text(key)));
    if scenario.traffic.iter().all(by_number) {
        topology.number_hosts(casts[0].receivers[0]);
    }
    Ok(casts)
}

fn senders(group: &TrafficGroup, topology: &Topology, next: usize) -> Result<Vec<NodeId>, SpecError> {
    if names(group, "from") {
        return topology.select(&group.params, "from");
    }
    let shared = group.params.text("placement") != "own-host";
    Ok(if shared { topology.senders.clone() } else { topology.senders[next..next + by_part(group).senders].to_vec() })
}

fn receivers(group: &TrafficGroup, topology: &Topology) -> Result<Vec<NodeId>, SpecError> {
    if !names(group, "to") {
        return Ok(topology.receivers.clone());
    }
    let receivers = topology.select(&group.params, "to")?;
    let needed = (traffic_row(group).demand)(&group.params).receivers;
    if receivers.len() >= needed {
        return Ok(receivers);
    }
    let there = receivers.len();
    Err(group.params.fail("to", format!("names {there} hosts, and the group needs {needed} for its receiver")))
}

/// Leaves a group's only client out of the senders that it names, and checks that there are enough.
fn check_named(group: &TrafficGroup, cast: &mut Cast) -> Result<(), SpecError> {
    let row = traffic_row(group);
    let Demand { senders, receivers } = (row.demand)(&group.params);
    let mut but = "";
    if row.one_client {
        let client = cast.receivers[receivers - 1];
        cast.senders.retain(|host| *host != client);
        but = " beside the client";
    }
    if cast.senders.len() >= senders.max(1) {
        return Ok(());
    }
    let message = format!(
        "names {} hosts{but}, and the group needs {}, each of its own; name more, or let flows share hosts with \
         placement = \"round-robin\"",
        cast.senders.len(),
        senders.max(1),
    );
    Err(group.params.fail("from", message))
}
