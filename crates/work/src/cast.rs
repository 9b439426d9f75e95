//! Assigns hosts to traffic groups: those that the topology provides for a group, or those that the group names.

use fanin_core::ids::NodeId;
use fanin_network::topology::{BY_PART, Demand, Topology};
use fanin_network::traffic::TrafficGroup;
use fanin_network::traffic::{self, TrafficRow};
use fanin_param::SpecError;
use fanin_scenario::Scenario;

/// The hosts of a traffic group.
#[derive(Clone, Debug)]
pub struct Cast {
    pub senders: Vec<NodeId>,
    pub receivers: Vec<NodeId>,
}

/// The registry's row of a group.
pub fn traffic_row(group: &TrafficGroup) -> &'static TrafficRow {
    traffic::REGISTRY.iter().find(|row| row.key == group.kind).expect("the parser knows the registry")
}

/// Hosts that the topology must provide for a group. Those that the group names exist anyway.
pub fn by_part(group: &TrafficGroup) -> Demand {
    let demand = (traffic_row(group).demand)(&group.values);
    Demand {
        senders: if names(group, "from") { 0 } else { demand.senders },
        receivers: if names(group, "to") { 0 } else { demand.receivers },
    }
}

fn names(group: &TrafficGroup, key: &str) -> bool {
    group.values.text(key) != BY_PART
}

/// The hosts of all groups, in file order. If no group refers to parts, hosts are named by number from now on.
pub fn casts(scenario: &Scenario, topology: &mut Topology) -> Result<Vec<Cast>, SpecError> {
    let mut free = topology.senders.clone();
    let mut casts = Vec::new();
    for group in &scenario.traffic {
        let receivers = receivers(group, topology)?;
        let mut cast = Cast { senders: senders(group, topology, &receivers, &mut free)?, receivers };
        if names(group, "from") {
            check_named(group, &mut cast)?;
        }
        if names(group, "to") && cast.senders.len() == 1 && cast.receivers.contains(&cast.senders[0]) {
            let message = "names the only host that sends among those that receive";
            return Err(group.values.fail("to", message));
        }
        casts.push(cast);
    }
    let parts = |text: &str| text == BY_PART || text.contains("sender") || text.contains("receiver");
    let by_number = |group: &TrafficGroup| ["from", "to"].iter().all(|key| !parts(group.values.text(key)));
    if scenario.traffic.iter().all(by_number) {
        topology.number_hosts(casts[0].receivers[0]);
    }
    Ok(casts)
}

/// A group's sending hosts; those that belong to it alone are taken from `free`.
fn senders(
    group: &TrafficGroup,
    topology: &Topology,
    receivers: &[NodeId],
    free: &mut Vec<NodeId>,
) -> Result<Vec<NodeId>, SpecError> {
    let row = traffic_row(group);
    let near = (row.near)(&group.values);
    let client = (near > 0).then(|| receivers[(row.demand)(&group.values).receivers - 1]);
    let in_order = |hosts: &mut Vec<NodeId>| {
        if let Some(client) = client {
            near_first(hosts, near, client, topology);
        }
    };
    let mut named = if names(group, "from") {
        topology.select(&group.values, "from")?
    } else if group.values.is("placement", "own-host") {
        in_order(free);
        return Ok(free.drain(..by_part(group).senders).collect());
    } else {
        topology.senders.clone()
    };
    in_order(&mut named);
    Ok(named)
}

/// Moves up to `wanted` hosts at the client's switch to the front.
fn near_first(hosts: &mut Vec<NodeId>, wanted: usize, client: NodeId, topology: &Topology) {
    let switch = |host: NodeId| topology.end(topology.uplink(host));
    let is_near = |host: &NodeId| *host != client && switch(*host) == switch(client);
    let near: Vec<NodeId> = hosts.iter().copied().filter(is_near).take(wanted).collect();
    hosts.retain(|host| !near.contains(host));
    hosts.splice(0..0, near);
}

fn receivers(group: &TrafficGroup, topology: &Topology) -> Result<Vec<NodeId>, SpecError> {
    if !names(group, "to") {
        return Ok(topology.receivers.clone());
    }
    let receivers = topology.select(&group.values, "to")?;
    let needed = (traffic_row(group).demand)(&group.values).receivers;
    if receivers.len() >= needed {
        return Ok(receivers);
    }
    let there = receivers.len();
    Err(group.values.fail("to", format!("names {there} hosts, and the group needs {needed} for its receiver")))
}

/// Removes a group's only client from the senders that it names, and checks that enough are left.
fn check_named(group: &TrafficGroup, cast: &mut Cast) -> Result<(), SpecError> {
    let row = traffic_row(group);
    let Demand { senders, receivers } = (row.demand)(&group.values);
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
    Err(group.values.fail("from", message))
}
