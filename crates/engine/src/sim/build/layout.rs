//! The network as built, with its schemes and end points.

use crate::sim::build::endpoint::{endpoint, some_sender};
use crate::sim::limits::{LARGEST_PACKET, base_rtt, check_magnitudes};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::rng::Stream;
use fanin_core::roles::{Ecmp, Flowlets, PathSelector, Spray, SwitchAgent, WindowControl};
use fanin_core::units::Time;
use fanin_host::hosts::{Endpoint, Host};
use fanin_net::faults::Faults;
use fanin_network::topology::{self, Demand, NodeKind, Topology};
use fanin_network::traffic::TrafficGroup;
use fanin_param::SpecError;
use fanin_scenario::Scenario;
use fanin_schemes::{self as schemes, NetworkFacts, NodeFacts, Scheme};
use fanin_work::cast::{self, Cast};
use std::collections::BTreeMap;

/// Replacements for registered parts, for tests.
#[derive(Default)]
pub(crate) struct Substitutes {
    /// Schemes by key.
    pub(crate) schemes: BTreeMap<&'static str, Box<dyn Scheme>>,
    /// The topology, which replaces the scenario's.
    pub(crate) topology: Option<Topology>,
}

/// The network and its end points.
pub(super) struct Layout {
    pub(super) topology: Topology,
    pub(super) faults: Faults,
    /// The hosts of each traffic group.
    pub(super) casts: Vec<Cast>,
    /// The schemes in use, and which of them is the network's.
    pub(super) schemes: Vec<Box<dyn Scheme>>,
    pub(super) network_scheme: usize,
    /// By traffic group.
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) mss: u64,
    /// Bytes of headers in every packet.
    pub(super) header: u16,
    /// Switches write telemetry.
    pub(super) telemetry: bool,
    pub(super) base_rtt: Time,
    /// By switch, the first host at it.
    first_at: BTreeMap<NodeId, NodeId>,
}

impl Layout {
    pub(super) fn of(scenario: &Scenario, mut substitutes: Substitutes) -> Result<Self, SpecError> {
        let substitute = substitutes.topology.take();
        let mut schemes = Schemes { scenario, substitutes: substitutes.schemes, keys: Vec::new(), built: Vec::new() };
        let network_scheme = schemes.index(scenario.scheme_key());
        let mut topology = match substitute {
            Some(topology) => topology,
            None => self::topology(scenario)?,
        };
        let casts = cast::casts(scenario, &mut topology)?;
        observe(scenario, &mut topology)?;
        let faults = Faults::build(scenario, &topology, scenario.run.integer("seed"))?;
        check_magnitudes(scenario, &topology, &faults)?;
        let header = header(scenario)?;
        let telemetry = some_sender(scenario, &*schemes.built[network_scheme]).asks().telemetry;
        let mut endpoints = Vec::new();
        for group in &scenario.traffic {
            let scheme = schemes.index(group.scheme.unwrap_or(scenario.scheme_key()));
            let sender = some_sender(scenario, &*schemes.built[scheme]);
            if !telemetry && sender.asks().telemetry {
                let message = format!(
                    "{0} needs switches that write telemetry: set transport.scheme = \"{0}\", and the other traffic apart",
                    schemes.keys[scheme]
                );
                return Err(group.values.fail("scheme", message));
            }
            endpoints.push(endpoint(scenario, schemes.keys[scheme], scheme, &*sender)?);
        }
        for (key, scheme) in schemes.keys.iter().zip(&schemes.built) {
            let runs_it = |group: &&TrafficGroup| group.scheme.unwrap_or(scenario.scheme_key()) == *key;
            let groups: Vec<&TrafficGroup> = scenario.traffic.iter().filter(runs_it).collect();
            scheme.check(scenario.scheme(key), &groups)?;
        }
        let (mss, base_rtt) = (scenario.transport.bytes("mss").get(), base_rtt(&topology));
        let (schemes, first_at) = (schemes.built, first_hosts(&topology));
        Ok(Self {
            topology,
            faults,
            casts,
            schemes,
            network_scheme,
            endpoints,
            mss,
            header,
            telemetry,
            base_rtt,
            first_at,
        })
    }

    /// The network's scheme.
    pub(super) fn bundle(&self) -> &dyn Scheme {
        &*self.schemes[self.network_scheme]
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.topology.nodes.len()).map(NodeId::new)
    }

    pub(super) fn facts(&self, node: NodeId) -> NodeFacts {
        let rate = self.topology.links[self.topology.uplink(node).index()].rate;
        let packet = self.mss + u64::from(self.header);
        NodeFacts { node, rate, base_rtt: self.base_rtt, mss: self.mss, packet }
    }

    pub(super) fn network(&self) -> NetworkFacts {
        NetworkFacts { base_rtt: self.base_rtt, mss: self.mss }
    }

    pub(super) fn agent(&self, node: NodeId) -> Option<Box<dyn SwitchAgent>> {
        match self.topology.nodes[node.index()] {
            NodeKind::Switch => self.bundle().switch_agent(&self.facts(node)),
            NodeKind::Host => None,
        }
    }

    /// By scheme, the host whose scheduler acts for `host`: the first one at its switch, if they share a scheduler.
    fn keepers(&self, host: NodeId) -> Vec<NodeId> {
        if !self.schemes.iter().any(|scheme| scheme.shares_scheduler()) {
            return Vec::new();
        }
        let first = self.first_at[&self.topology.end(self.topology.uplink(host))];
        self.schemes.iter().map(|scheme| if scheme.shares_scheduler() { first } else { host }).collect()
    }

    /// By node, the hosts.
    pub(super) fn hosts(&self, scenario: &Scenario) -> Vec<Option<Host>> {
        let selection = Selection::of(scenario);
        let host = |node: NodeId| match self.topology.nodes[node.index()] {
            NodeKind::Switch => None,
            NodeKind::Host => Some(Host {
                windows: windows(&self.schemes, &self.facts(node)),
                keepers: self.keepers(node),
                selector: selection.selector(self.bundle(), &self.facts(node)),
                uplink: self.topology.uplink(node),
                edge: self.topology.links[self.topology.uplink(node).index()].to,
            }),
        };
        self.nodes().map(host).collect()
    }
}

/// Observes the port that the scenario names as the bottleneck, if it names one.
fn observe(scenario: &Scenario, topology: &mut Topology) -> Result<(), SpecError> {
    let wanted = scenario.measure.text("bottleneck");
    if wanted == "auto" {
        return Ok(());
    }
    let names = topology.link_names();
    let Some(link) = names.iter().position(|name| *name == wanted) else {
        let valid: Vec<&str> = std::iter::once("auto").chain(names.iter().map(String::as_str)).collect();
        return Err(scenario.measure.unknown_name("bottleneck", "no such port in this network", wanted, &valid));
    };
    topology.bottleneck = LinkId::new(link);
    Ok(())
}

/// By switch, the first host at it.
fn first_hosts(topology: &Topology) -> BTreeMap<NodeId, NodeId> {
    let mut first = BTreeMap::new();
    let nodes = (0..topology.nodes.len()).map(NodeId::new);
    for host in nodes.filter(|node| topology.nodes[node.index()] == NodeKind::Host) {
        first.entry(topology.end(topology.uplink(host))).or_insert(host);
    }
    first
}

/// The schemes that a scenario uses, each built once.
struct Schemes<'a> {
    scenario: &'a Scenario,
    substitutes: BTreeMap<&'static str, Box<dyn Scheme>>,
    keys: Vec<&'static str>,
    built: Vec<Box<dyn Scheme>>,
}

impl Schemes<'_> {
    fn index(&mut self, key: &'static str) -> usize {
        if let Some(index) = self.keys.iter().position(|known| *known == key) {
            return index;
        }
        let scheme =
            self.substitutes.remove(key).unwrap_or_else(|| (schemes::find(key).build)(self.scenario.scheme(key)));
        self.keys.push(key);
        self.built.push(scheme);
        self.built.len() - 1
    }
}

fn topology(scenario: &Scenario) -> Result<Topology, SpecError> {
    let demands: Vec<Demand> = scenario.traffic.iter().map(cast::by_part).collect();
    let total = Demand {
        senders: demands.iter().map(|demand| demand.senders).sum(),
        receivers: demands.iter().map(|demand| demand.receivers).max().unwrap_or(0),
    };
    let row = topology::REGISTRY.iter().find(|row| row.key == scenario.network.kind).expect("the parser knows it");
    let follows = row.params.iter().any(|param| param.key == "sender-hosts")
        && scenario.network.values.is_default("sender-hosts");
    if follows && let Some(message) = total.too_many() {
        return Err(asks_for_most(scenario, &demands, &total, message));
    }
    let mut topology = (row.build)(&scenario.network.values, &total)?;
    topology.place_at_random(&scenario.network.values, &mut Stream::named(scenario.run.integer("seed"), "placement"));
    Ok(topology)
}

/// The error for too many hosts, placed at the traffic group that asks for most of them.
fn asks_for_most(scenario: &Scenario, demands: &[Demand], total: &Demand, mut message: String) -> SpecError {
    let many_senders = total.senders >= total.receivers;
    let asked = |demand: &Demand| if many_senders { demand.senders } else { demand.receivers };
    let most = (0..demands.len()).max_by_key(|group| asked(&demands[*group])).unwrap_or(0);
    let group = &scenario.traffic[most];
    let row = cast::traffic_row(group);
    let has = |key: &str| row.params.iter().any(|param| param.key == key);
    if many_senders && has("placement") {
        message += "; let flows share hosts with placement = \"round-robin\"";
    }
    let to = ["receivers", "receiver"].into_iter().find(|key| !many_senders && has(key));
    group.values.fail(to.unwrap_or(row.demand_key), message)
}

fn header(scenario: &Scenario) -> Result<u16, SpecError> {
    let header = scenario.transport.bytes("header").get() + scenario.network.values.bytes("frame-overhead").get();
    // SACK blocks are added to an acknowledgement's headers, but are far smaller than a segment.
    if header + scenario.transport.bytes("mss").get() > LARGEST_PACKET {
        let message = format!("segment and headers exceed the largest packet of {LARGEST_PACKET} bytes");
        return Err(scenario.transport.fail("mss", message));
    }
    Ok(header as u16)
}

/// A host's schedulers, by scheme; empty if no scheme has one.
fn windows(schemes: &[Box<dyn Scheme>], host: &NodeFacts) -> Vec<Option<Box<dyn WindowControl>>> {
    let windows: Vec<_> = schemes.iter().map(|scheme| scheme.window_control(host)).collect();
    if windows.iter().any(Option::is_some) { windows } else { Vec::new() }
}

/// How hosts choose among equal paths. Read once: there may be thousands of hosts.
#[derive(Clone, Copy, PartialEq)]
enum Selection {
    /// As the scheme does.
    Scheme,
    Ecmp,
    /// Flowcells of so many bytes take turns.
    Spray(u64),
    /// At random after pauses of this length, by this seed.
    Flowlets(Time, u64),
}

impl Selection {
    fn of(scenario: &Scenario) -> Self {
        let network = &scenario.network.values;
        let spray = Self::Spray(network.bytes("flowcell").get());
        let flowlets = Self::Flowlets(network.time("flowlet-gap"), scenario.run.integer("seed"));
        let words = [("auto", Self::Scheme), ("ecmp", Self::Ecmp), ("spray", spray), ("flowlets", flowlets)];
        network.choose("path-selector", &words)
    }
    fn selector(self, bundle: &dyn Scheme, host: &NodeFacts) -> Box<dyn PathSelector> {
        match self {
            Self::Scheme => bundle.path_selector(host),
            Self::Ecmp => Box::new(Ecmp),
            Self::Spray(cell) => Box::new(Spray { cell }),
            Self::Flowlets(gap, seed) => {
                Box::new(Flowlets { gap, random: Stream::named(seed, &format!("flowlets/{}", host.node)) })
            }
        }
    }
}
