//! What can be said of a scenario before it runs.

use fanin_engine::sim::{self, FanInPort, GroupPreview, MapLink, MapNode, NetworkMap, Preview, TierLoad};
use fanin_engine::spec::{Scenario, SpecError};
use fanin_engine::topology::NodeKind;
use serde_json::{Value, json};

/// A preview of the run: the network's size, and the expected traffic of each group.
///
/// # Errors
///
/// The scenario has an error that only shows when its network is built.
pub fn check(scenario: &Scenario) -> Result<Value, SpecError> {
    let preview = sim::check(scenario)?;
    let groups: Vec<Value> = preview.groups.iter().map(group_preview).collect();
    let Preview { hosts, switches, ports, buffered, .. } = preview;
    Ok(json!({ "hosts": hosts, "switches": switches, "ports": ports, "buffered": buffered, "groups": groups }))
}

/// What the traffic can put on the ports of the switches: the tiers between switches, and the ports that a fan-in can
/// fill.
///
/// # Errors
///
/// As [`check`].
pub fn loads(scenario: &Scenario) -> Result<Value, SpecError> {
    let loads = sim::loads(scenario)?;
    let tiers: Vec<Value> = loads.tiers.iter().map(tier_load).collect();
    let fan_in: Vec<Value> = loads.fan_in.iter().map(fan_in_port).collect();
    Ok(json!({ "tiers": tiers, "fan_in": fan_in }))
}

/// The network as nodes and links, which are in the order of the tables of a run.
///
/// # Errors
///
/// As [`check`].
pub fn network(scenario: &Scenario) -> Result<Value, SpecError> {
    let map = sim::network(scenario)?;
    let nodes: Vec<Value> = map.nodes.iter().zip(tiers(&map)).map(|(each, tier)| node(each, tier)).collect();
    let links: Vec<Value> = map.links.iter().map(link).collect();
    Ok(json!({ "nodes": nodes, "links": links }))
}

/// Every value of the scenario with its source.
pub fn resolved_table(scenario: &Scenario) -> Value {
    let rows = scenario.resolved_table().into_iter().map(|row| {
        json!({
            "path": row.path,
            "value": row.value,
            "ignored_with": row.ignored_with.map(|(key, word)| format!("{key} = {word}")),
            "is_default": row.is_default,
            "source": row.source,
            "doc": row.doc,
        })
    });
    rows.collect()
}

/// For each node how many links it is away from the nearest host.
fn tiers(map: &NetworkMap) -> Vec<usize> {
    let far = map.nodes.len();
    let mut tiers: Vec<usize> =
        map.nodes.iter().map(|node| if node.kind == NodeKind::Host { 0 } else { far }).collect();
    // The longest way up has as many links as there are tiers, which are few.
    let mut before = Vec::new();
    while before != tiers {
        before.clone_from(&tiers);
        for link in &map.links {
            tiers[link.to] = tiers[link.to].min(tiers[link.from] + 1);
        }
    }
    tiers
}

fn node(node: &MapNode, tier: usize) -> Value {
    let kind = match node.kind {
        NodeKind::Host => "host",
        NodeKind::Switch => "switch",
    };
    json!({ "name": node.name, "kind": kind, "tier": tier })
}

fn link(link: &MapLink) -> Value {
    json!({
        "name": link.name,
        "from": link.from,
        "to": link.to,
        "rate_bps": link.rate.bps(),
        "delay_s": link.delay.secs(),
        "buffer_bytes": link.buffer,
        "cables": link.tier,
        "bottleneck": link.bottleneck,
    })
}

fn tier_load(load: &TierLoad) -> Value {
    let [low, high] = load.tier.ends;
    let (below, out) = (load.tier.below.bps(), load.tier.out.bps());
    json!({
        "tier": format!("{low} to {high}"),
        "below_bps": below,
        "out_bps": out,
        "oversubscription": below as f64 / out as f64,
        "load": load.offered,
        "port": load.port,
    })
}

fn fan_in_port(port: &FanInPort) -> Value {
    json!({
        "group": port.group,
        "port": port.port,
        "tier": port.tier.map(|[low, high]| format!("{low} to {high}")),
        "cables": port.cables,
        "responses": port.responses,
        "arriving_bps": port.arriving,
        "rate_bps": port.rate.bps(),
        "first_packets": port.first,
        "buffer_bytes": port.buffer,
        "packet_bytes": port.packet,
        "rtt_s": port.rtt.secs(),
    })
}

fn group_preview(group: &GroupPreview) -> Value {
    json!({
        "name": group.name,
        "flows": group.forecast.flows,
        "at_once": group.forecast.at_once,
        "mean_bytes": group.mean_bytes,
        "offered": group.offered.map(|offered| sim::offered_json(&group.name, &offered)),
    })
}
