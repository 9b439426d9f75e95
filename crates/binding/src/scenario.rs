//! What can be said of a scenario before it runs.

use fanin_engine::backend::{Limit, Marking, Site, congestion_control};
use fanin_engine::param::SpecError;
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, FanInPort, GroupPreview, MapLink, MapNode, NetworkMap, Preview, TierLoad};
use fanin_engine::topology::NodeKind;
use fanin_engine::units::Size;
use serde_json::{Value, json};

/// A preview of the run: the network's size, and the expected traffic of each group.
///
/// # Errors
///
/// The scenario has an error that only shows when its network is built.
pub fn check(scenario: &Scenario) -> Result<Value, SpecError> {
    let preview = sim::check(scenario)?;
    let groups: Vec<Value> = preview.groups.iter().map(group_preview).collect();
    let Preview { hosts, switches, ports, buffered, kernel_s, .. } = preview;
    Ok(json!({
        "hosts": hosts,
        "switches": switches,
        "ports": ports,
        "buffered": buffered,
        "groups": groups,
        "kernel_s": kernel_s,
    }))
}

/// What the traffic can put on the ports of the switches: the tiers between switches, the ports that a fan-in can fill,
/// and the observed port with the shortest and the longest round trip of traffic that fills it.
///
/// # Errors
///
/// As [`check`].
pub fn loads(scenario: &Scenario) -> Result<Value, SpecError> {
    let loads = sim::loads(scenario)?;
    let tiers: Vec<Value> = loads.tiers.iter().map(tier_load).collect();
    let ports = |ports: &[FanInPort]| ports.iter().map(fan_in_port).collect::<Vec<_>>();
    let observed = loads.observed.map(|ends| ports(&ends)).unwrap_or_default();
    Ok(json!({ "tiers": tiers, "fan_in": ports(&loads.fan_in), "observed": observed }))
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

/// What hosts and switches of Linux are set to for the scenario: the congestion control, modules with their parameters, sysctls,
/// routes, queues, and the ports of switches.
///
/// # Errors
///
/// As [`check`], or the scenario asks for something that Linux does not do.
pub fn hosts(scenario: &Scenario) -> Result<Value, SpecError> {
    let site = Site::on_hosts(scenario)?;
    let map = sim::network(scenario)?;
    let stack = &site.stack;
    let of_switches = site.links.iter().zip(&map.links).filter(|(link, _)| !site.hosts[link.from.index()]);
    let ports: Vec<Value> = of_switches
        .map(|(link, named)| {
            json!({
                "name": named.name,
                "rate_bps": link.rate.bps(),
                "observed": link.observed,
                "limit": limit(link.limit),
                "marking": link.marking.map(marking),
            })
        })
        .collect();
    let of_hosts = site.links.iter().filter(|link| site.hosts[link.from.index()]).map(|link| link.rate.bps());
    Ok(json!({
        "congestion": congestion_control(scenario.scheme_key()),
        "modules": site.modules,
        "receiver": site.receiver,
        "sysctls": stack.sysctls(),
        "rto_min_ms": stack.rto_min.ps() / 1_000_000_000,
        "initial_window": stack.initial_window,
        "quick_ack": stack.quick_ack,
        "gro": stack.gro > 0,
        "tso": stack.tso > 0,
        "fq": stack.fq,
        "queue": stack.queue,
        "mtu": stack.mtu,
        "hz": stack.hz,
        "overhead": site.overhead,
        "rate_bps": of_hosts.min(),
        "ports": ports,
    }))
}

/// A port's buffer as a number and its unit.
fn limit(limit: Limit) -> Value {
    match limit {
        // What one port can hold while all others are empty.
        Limit::Dynamic { memory, alpha, .. } => size(Size::Bytes((memory as f64 * alpha / (1.0 + alpha)) as u64)),
        own => own.size().map_or(Value::Null, size),
    }
}

fn size(size: Size) -> Value {
    match size {
        Size::Packets(packets) => json!([packets, "pkt"]),
        Size::Bytes(bytes) => json!([bytes, "B"]),
    }
}

fn marking(marking: Marking) -> Value {
    match marking {
        Marking::Threshold { threshold, above, leaving } => {
            json!({ "kind": "threshold", "threshold": size(threshold), "above": above, "leaving": leaving })
        }
        Marking::Between { start, stop } => json!({ "kind": "between", "start": size(start), "stop": size(stop) }),
        Marking::Bands(bands) => json!({
            "kind": "bands",
            "count": bands.count,
            "room": bands.room,
            "threshold": f64::from(bands.initial).clamp(bands.clip[0] as f64, bands.clip[1] as f64) / 16.0,
            "by_port": bands.by_port,
            "ack_tag": bands.ack_tag,
        }),
        Marking::Red { .. } => json!({ "kind": "red" }),
    }
}

/// How much memory a run will need at most: bytes for each flow, and besides.
///
/// # Errors
///
/// As [`check`].
pub fn memory(scenario: &Scenario) -> Result<Value, SpecError> {
    let memory = sim::memory(scenario, &sim::check(scenario)?);
    Ok(json!({
        "flows": memory.flows,
        "at_once": memory.at_once,
        "bytes_per_flow": memory.per_flow,
        "bytes_per_finished": memory.per_finished,
        "bytes_besides": memory.rest,
    }))
}

/// Every value of the scenario with its source.
pub fn resolved(scenario: &Scenario) -> Value {
    let rows = scenario.resolved_table().into_iter().map(|row| {
        json!({
            "path": row.path,
            "scheme": row.scheme,
            "value": row.value,
            "number": row.quantity.map(|(number, _)| number),
            "unit": row.quantity.map(|(_, unit)| unit),
            "set_at": row.set_at,
            "ignored_with": row.ignored_with.map(|(key, word)| format!("{key} = {word}")),
            "is_default": row.is_default(),
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
    json!({ "name": node.name, "kind": kind, "role": node.role, "tier": tier })
}

fn link(link: &MapLink) -> Value {
    json!({
        "name": link.name,
        "from": link.from,
        "to": link.to,
        "rate_bps": link.rate.bps(),
        "delay_s": link.delay.secs(),
        "buffer_bytes": link.buffer,
        "buffer_key": link.buffer_key,
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
        "buffer_packets": port.buffer / port.packet,
        "packet_bytes": port.packet,
        "path_packets": port.rate.bps() as f64 * port.rtt.secs() / 8.0 / port.packet as f64,
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
