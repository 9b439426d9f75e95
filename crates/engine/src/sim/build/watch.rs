//! Probes and captures.

use crate::sim::build::endpoint::some_flow;
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::pcapng::Resolution;
use fanin_core::units::{Rate, Time};
use fanin_host::hosts::Endpoint;
use fanin_measure::capture::Capture;
use fanin_measure::crossings::Crossings;
use fanin_measure::probes::{self, HostProbes, Recorder};
use fanin_network::topology::{LinkSpec, Topology};
use fanin_param::{SpecError, Values};
use fanin_scenario::Scenario;
use fanin_schemes::{self as schemes, FlowFacts, NodeFacts, Scheme};

/// The values that can be recorded over time.
struct ProbeNames {
    senders: Vec<&'static str>,
    switches: Vec<&'static str>,
    /// Of receiving hosts, but of no sender.
    hosts: Vec<&'static str>,
}

impl ProbeNames {
    /// Those that every sender has, and those of the senders, switches and receiving hosts of `schemes`.
    fn of<'a>(schemes: impl Iterator<Item = &'a Box<dyn Scheme>>, facts: &FlowFacts) -> Self {
        let node = NodeId::default();
        let switch = NodeFacts { node, rate: facts.rate, base_rtt: Time::ZERO, mss: facts.mss, packet: facts.packet };
        let mut names = Self { senders: probes::COMMON.to_vec(), switches: Vec::new(), hosts: Vec::new() };
        for scheme in schemes {
            scheme.congestion_control(facts).probes(&mut |name, _| add(&mut names.senders, name));
            if let Some(agent) = scheme.switch_agent(&switch) {
                agent.probes(&mut |name, _| add(&mut names.switches, name));
            }
            if let Some(window) = scheme.window_control(&switch) {
                let mut show = |name, _| add(&mut names.hosts, name);
                window.probes(&mut show);
                window.flow_probes(facts.flow, &mut show);
            }
        }
        names.hosts.retain(|name| !names.senders.contains(name));
        names
    }

    fn all(mut self) -> Vec<&'static str> {
        self.hosts.retain(|name| !self.switches.contains(name));
        [self.senders, self.switches, self.hosts].concat()
    }
}

fn add(names: &mut Vec<&'static str>, name: &'static str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// The names of all probes of `measure.probes`, over all schemes.
pub fn probe_names() -> Vec<&'static str> {
    let built: Vec<_> = schemes::simulated().map(|row| (row.build)(&Values::defaults(&[row.params]))).collect();
    ProbeNames::of(built.iter(), &FlowFacts::of_any(1460, Rate::from_bps(1_000_000_000))).all()
}

/// The probes of the scenario. Each must be one that every sender has, or one of the senders, switches or receiving
/// hosts of any scheme, not only of those in use: a sweep over schemes uses the same probes for all.
pub(super) fn probes(
    scenario: &Scenario,
    in_use: &[Box<dyn Scheme>],
) -> Result<(HostProbes, Option<Recorder>), SpecError> {
    let measure = &scenario.measure;
    let flows = measure.integer("probe-flows") as usize;
    let names: Vec<&str> =
        measure.text("probes").split(',').map(str::trim).filter(|name| !matches!(*name, "" | "off")).collect();
    if names.is_empty() {
        // Most runs have none, and to ask every scheme takes as long as all the rest that is built for a small one.
        return Ok((HostProbes::new(&[], flows, false), None));
    }
    let facts = some_flow(scenario.transport.bytes("mss").get(), &scenario.network.values);
    let registered: Vec<_> = schemes::simulated().map(|row| (row.build)(scenario.scheme(row.key))).collect();
    let known = ProbeNames::of(in_use.iter().chain(&registered), &facts);
    let of = |all: &[&str]| names.iter().any(|name| all.contains(name));
    let (switches, hosts) = (of(&known.switches), of(&known.hosts));
    let known = known.all();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(measure.fail("probes", format!("unknown probe \"{unknown}\"; valid: {}", known.join(", "))));
    }
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    Ok((HostProbes::new(&names, flows, hosts), switches.then(|| Recorder::new(names))))
}

/// For each link whether the word of this key of `[measure]` names it.
fn chosen_links(scenario: &Scenario, topology: &Topology, key: &str) -> Vec<bool> {
    let host = |node: NodeId| topology.senders.contains(&node);
    let receiver = topology.receivers[0];
    let words = ["all", "bottleneck", "senders", "receiver"];
    let [all, bottleneck, senders, receivers] = words.map(|word| scenario.measure.is(key, word));
    let wanted = |(i, link): (usize, &LinkSpec)| {
        all || bottleneck && i == topology.bottleneck.index()
            || senders && (host(link.from) || host(link.to))
            || receivers && (link.from == receiver || link.to == receiver)
    };
    topology.links.iter().enumerate().map(wanted).collect()
}

/// The record of packets that cross links, if the scenario asks for one.
pub(super) fn crossings(scenario: &Scenario, topology: &Topology) -> Option<Crossings> {
    let links = chosen_links(scenario, topology, "crossings");
    links.contains(&true).then(|| Crossings::new(links, scenario.measure.integer("capture-limit")))
}

/// The capture, if the scenario asks for one.
pub(super) fn capture(scenario: &Scenario, topology: &Topology, endpoints: &[Endpoint]) -> Option<Capture> {
    let wanted = chosen_links(scenario, topology, "capture");
    let links: Vec<_> = topology.links.iter().enumerate().filter(|(i, _)| wanted[*i]).collect();
    let control = scenario.measure.flag("capture-control");
    if links.is_empty() && !control {
        return None;
    }
    let names = topology.names();
    let named = |(i, link): (usize, &LinkSpec)| {
        (LinkId::new(i), format!("{} to {}", names[link.from.index()], names[link.to.index()]))
    };
    let links: Vec<(LinkId, String)> = links.into_iter().map(named).collect();
    // All SYNs in the file look alike: those of end points with selective acknowledgements, if there are any.
    let sack = endpoints.iter().any(|endpoint| endpoint.receiver.sack);
    let limit = scenario.measure.integer("capture-limit");
    let mss = scenario.transport.bytes("mss").get() as u16;
    let words = [("ps", Resolution::Picoseconds), ("ns", Resolution::Nanoseconds)];
    let resolution = scenario.measure.choose("capture-time", &words);
    let capture = Capture::new(&links, topology.links.len(), resolution, limit, mss, sack);
    Some(if control { capture.with_control(topology.nodes.len()) } else { capture })
}
