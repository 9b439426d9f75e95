//! What is watched: probes and captures.

use crate::host::hosts::Endpoint;
use crate::ids::{LinkId, NodeId};
use crate::measure::capture::Capture;
use crate::measure::pcapng::Resolution;
use crate::measure::probes::{self, HostProbes, Recorder};
use crate::schemes::{self, NodeFacts, Scheme};
use crate::sim::build::endpoint::some_flow;
use crate::spec::{Scenario, SpecError};
use crate::topology::{LinkSpec, Topology};
use crate::units::Time;

/// The probes asked for; each must be one that every sender has, or one of a scheme's senders, switches or receiving
/// hosts. Not only of those in use: a sweep over schemes asks for the same probes of all.
pub(super) fn probes(
    scenario: &Scenario,
    in_use: &[Box<dyn Scheme>],
) -> Result<(HostProbes, Option<Recorder>), SpecError> {
    let measure = &scenario.measure;
    let facts = some_flow(scenario.transport.bytes("mss").get(), &scenario.network.params);
    let node = NodeId::default();
    let switch = NodeFacts { node, rate: facts.rate, base_rtt: Time::ZERO, mss: facts.mss, packet: facts.packet };
    let mut known: Vec<&str> = probes::COMMON.to_vec();
    let (mut of_switches, mut of_hosts): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let registered: Vec<_> = schemes::REGISTRY.iter().map(|row| (row.build)(scenario.scheme(row.key))).collect();
    for scheme in in_use.iter().chain(&registered) {
        scheme.congestion_control(&facts).probes(&mut |name, _| known.extend((!known.contains(&name)).then_some(name)));
        if let Some(agent) = scheme.switch_agent(&switch) {
            agent.probes(&mut |name, _| of_switches.extend((!of_switches.contains(&name)).then_some(name)));
        }
        if let Some(window) = scheme.window_control(&switch) {
            let mut show = |name, _| of_hosts.extend((!of_hosts.contains(&name)).then_some(name));
            window.probes(&mut show);
            window.flow_probes(facts.flow, &mut show);
        }
    }
    let names: Vec<&str> =
        measure.text("probes").split(',').map(str::trim).filter(|name| !matches!(*name, "" | "off")).collect();
    of_hosts.retain(|name| !known.contains(name));
    if let Some(unknown) =
        names.iter().find(|name| ![&known, &of_switches, &of_hosts].iter().any(|all| all.contains(name)))
    {
        of_hosts.retain(|name| !of_switches.contains(name));
        let there = [known, of_switches, of_hosts].concat().join(", ");
        return Err(measure.fail("probes", format!("nobody shows \"{unknown}\"; there are {there}")));
    }
    let of = |all: &[&str]| names.iter().any(|name| all.contains(name));
    let (switches, hosts) = (of(&of_switches), of(&of_hosts));
    let flows = measure.integer("probe-flows") as usize;
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    Ok((HostProbes::new(&names, flows, hosts), switches.then(|| Recorder::new(names))))
}

/// The capture, if packets or control messages are to be captured.
pub(super) fn capture(scenario: &Scenario, topology: &Topology, endpoints: &[Endpoint]) -> Option<Capture> {
    let host = |node: NodeId| topology.senders.contains(&node);
    let receiver = topology.receivers[0];
    let names = topology.names();
    let wants = |word| scenario.measure.is("capture", word);
    let wanted = |i: usize, link: &LinkSpec| {
        wants("all")
            || wants("bottleneck") && i == topology.bottleneck.index()
            || wants("senders") && (host(link.from) || host(link.to))
            || wants("receiver") && (link.from == receiver || link.to == receiver)
    };
    let links: Vec<(LinkId, String)> = topology
        .links
        .iter()
        .enumerate()
        .filter(|(i, link)| wanted(*i, link))
        .map(|(i, link)| (LinkId::new(i), format!("{} to {}", names[link.from.index()], names[link.to.index()])))
        .collect();
    // The file knows one kind of SYN: that of end points with selective acknowledgements, if there are any.
    let sack = endpoints.iter().any(|endpoint| endpoint.receiver.sack);
    let limit = scenario.measure.integer("capture-limit");
    let control = scenario.measure.flag("capture-control");
    (!links.is_empty() || control).then(|| {
        let mss = scenario.transport.bytes("mss").get() as u16;
        let words = [("ps", Resolution::Picoseconds), ("ns", Resolution::Nanoseconds)];
        let resolution = scenario.measure.choose("capture-time", &words);
        let capture = Capture::new(&links, topology.links.len(), resolution, limit, mss, sack);
        if control { capture.with_control(topology.nodes.len()) } else { capture }
    })
}
