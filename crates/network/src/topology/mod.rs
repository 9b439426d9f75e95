//! Topologies: nodes, links and the paths between hosts.
//!
//! To add one: a file here and a row in [`REGISTRY`].

mod clos;
mod custom;
mod fat_tree;
mod layers;
mod leaf_spine;
mod racks;
mod select;
mod shortest_paths;
mod star;
#[cfg(test)]
mod tests;
mod tree;
mod two_switch;

use fanin_core::ids::{LinkId, NodeId};
use fanin_core::roles::SwitchPort;
use fanin_core::units::{Rate, Time};
use fanin_param::{Param, SpecError, Values};

/// A topology that scenarios can name.
pub struct TopologyRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of the `[network]` table beyond those that every topology has.
    pub params: &'static [Param],
    /// Builds it for the hosts that the traffic needs.
    pub build: fn(&Values, &Demand) -> Result<Topology, SpecError>,
}

/// Every topology.
pub static REGISTRY: &[TopologyRow] =
    &[star::ROW, two_switch::ROW, tree::ROW, leaf_spine::ROW, clos::ROW, fat_tree::ROW, custom::ROW];

/// The hosts that the traffic of a scenario needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Number of sending hosts.
    pub senders: usize,
    /// Number of receiving hosts.
    pub receivers: usize,
}

impl Demand {
    /// An error message if no switch has enough ports for these hosts.
    pub fn too_many(&self) -> Option<String> {
        // Every network has at least one receiver.
        let (senders, receivers) = (self.senders, self.receivers.max(1));
        let says =
            || format!("{senders} sending hosts and {receivers} receiving do not fit on a switch of {MAX_PORTS} ports");
        (senders + receivers > MAX_PORTS).then(says)
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// An end host.
    Host,
    /// A switch.
    Switch,
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug)]
pub struct LinkSpec {
    /// The node whose egress port sends on it.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
    /// Key of `[network]` for the buffer of its port. If its value is 0, `buffer` applies.
    pub buffer: &'static str,
    /// Which of [`TIERS`](fanin_param::TIERS) it is in; none for a cable of a host.
    pub tier: Option<&'static str>,
}

/// Cables between two kinds of switches, in the direction away from the hosts below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The kinds of switches that it joins, the lower one first, as their names begin.
    pub ends: [&'static str; 2],
    /// What the hosts below one of its parts can send together. A part is a rack, or a pod.
    pub below: Rate,
    /// What its cables out of that part carry together.
    pub out: Rate,
}

/// The network of a scenario.
#[derive(Debug)]
pub struct Topology {
    /// The kind of each node.
    pub nodes: Vec<NodeKind>,
    /// All links, in the order that breaks ties between simultaneous events.
    pub links: Vec<LinkSpec>,
    /// Sending hosts, in the order in which groups take them.
    pub senders: Vec<NodeId>,
    /// Receiving hosts.
    pub receivers: Vec<NodeId>,
    /// The link whose queue is measured: where incast is expected, or the one that the scenario names.
    pub bottleneck: LinkId,
    /// Number of pods, which all have the same number of racks; one if the topology has no pods.
    pods: usize,
    /// Hosts are named by number, not by role.
    numbered: bool,
    /// Capacity in one direction between two halves of the pods, or with a single pod between two halves of the racks.
    pub(crate) bisection: Option<Rate>,
    /// The tiers of cables between switches, from the hosts up.
    pub tiers: Vec<Tier>,
    /// Names of switches; empty for hosts, whose names follow from their roles.
    switches: Vec<String>,
    /// Egress links of each node, for routing.
    egress: Vec<Vec<LinkId>>,
    /// For each switch, its links to other switches.
    trunks: Vec<Vec<LinkId>>,
}

pub use select::BY_PART;
pub use shortest_paths::ShortestPaths;

/// Key of `[network]` for the buffer of ports that have no key of their own.
const BUFFER: &str = "buffer";

/// Maximum number of ports of a switch; more are considered a mistake in the scenario.
pub(crate) const MAX_PORTS: usize = 65_535;

impl Topology {
    fn new(bottleneck: LinkId) -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            bottleneck,
            pods: 1,
            numbered: false,
            bisection: None,
            tiers: Vec::new(),
            switches: Vec::new(),
            egress: Vec::new(),
            trunks: Vec::new(),
        }
    }

    fn add_node(&mut self, kind: NodeKind) -> NodeId {
        self.switches.push(match kind {
            NodeKind::Switch => {
                format!("switch-{}", self.nodes.iter().filter(|other| **other == NodeKind::Switch).count())
            }
            NodeKind::Host => String::new(),
        });
        self.nodes.push(kind);
        self.egress.push(Vec::new());
        self.trunks.push(Vec::new());
        NodeId::new(self.nodes.len() - 1)
    }

    /// Adds a switch with this name.
    fn add_switch(&mut self, name: String) -> NodeId {
        let switch = self.add_node(NodeKind::Switch);
        self.switches[switch.index()] = name;
        switch
    }

    /// Adds a host with its cable to `switch`.
    fn add_host(&mut self, switch: NodeId, rate: Rate, delay: Time) -> NodeId {
        let host = self.add_node(NodeKind::Host);
        self.add_cable(host, switch, rate, delay);
        host
    }

    /// Adds both directions of a cable; returns the link from `a` to `b`.
    fn add_cable(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) -> LinkId {
        let forth = LinkId::new(self.links.len());
        self.links.push(LinkSpec { from: a, to: b, rate, delay, buffer: BUFFER, tier: None });
        self.links.push(LinkSpec { from: b, to: a, rate, delay, buffer: BUFFER, tier: None });
        self.egress[a.index()].push(forth);
        self.egress[b.index()].push(twin(forth));
        if [a, b].iter().all(|node| self.nodes[node.index()] == NodeKind::Switch) {
            self.trunks[a.index()].push(forth);
            self.trunks[b.index()].push(twin(forth));
        }
        forth
    }

    /// Adds both directions of a cable of a tier.
    fn add_cable_of(&mut self, tier: &'static str, a: NodeId, b: NodeId, rate: Rate, delay: Time) {
        let forth = self.add_cable(a, b, rate, delay);
        for link in [forth, twin(forth)] {
            self.links[link.index()].tier = Some(tier);
        }
    }

    /// Sets the buffer of all ports of a switch to that of this key of `[network]`.
    fn set_buffer(&mut self, switch: NodeId, key: &'static str) {
        for link in &self.egress[switch.index()] {
            self.links[link.index()].buffer = key;
        }
    }

    /// Names of all nodes: `sender-0` and `receiver-0` by role, or `host-0` by number; switches as the topology names
    /// them.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.switches.clone();
        if self.numbered {
            for (i, host) in self.hosts().into_iter().enumerate() {
                names[host.index()] = format!("host-{i}");
            }
            return names;
        }
        for (role, hosts) in self.roles() {
            for (i, host) in hosts.iter().enumerate() {
                names[host.index()] = format!("{role}-{i}");
            }
        }
        names
    }

    /// The hosts that have a role, by which they are named; none where hosts are named by number.
    pub fn roles(&self) -> [(&'static str, &[NodeId]); 2] {
        let named = |hosts| if self.numbered { &[][..] } else { hosts };
        [("sender", named(&self.senders[..])), ("receiver", named(&self.receivers[..]))]
    }

    /// Names of all links, such as `sender-0->switch-0`. Parallel links have the suffixes `/0`, `/1`, and so on.
    pub fn link_names(&self) -> Vec<String> {
        let nodes = self.names();
        let mut names = Vec::with_capacity(self.links.len());
        for (i, link) in self.links.iter().enumerate() {
            let trunks = self.trunks[link.from.index()].iter().filter(|trunk| self.end(**trunk) == link.to);
            let parallel: Vec<usize> = trunks.map(|trunk| trunk.index()).collect();
            let place = parallel.iter().position(|trunk| *trunk == i).filter(|_| parallel.len() > 1);
            let suffix = place.map_or_else(String::new, |place| format!("/{place}"));
            names.push([&nodes[link.from.index()], "->", &nodes[link.to.index()], &suffix].concat());
        }
        names
    }

    /// The first egress link of a node: for a host, its interface.
    pub fn uplink(&self, node: NodeId) -> LinkId {
        self.egress[node.index()][0]
    }

    /// The ports of a switch, in the order of cables.
    pub fn ports(&self, switch: NodeId) -> Vec<SwitchPort> {
        let host = |to: &LinkId| self.nodes[self.end(*to).index()] == NodeKind::Host;
        let port = |to: &LinkId| SwitchPort {
            from: twin(*to),
            to: *to,
            rate: self.links[to.index()].rate,
            host: host(to),
            peer: self.end(*to),
        };
        self.egress[switch.index()].iter().map(port).collect()
    }

    /// Where a link ends.
    pub fn end(&self, link: LinkId) -> NodeId {
        self.links[link.index()].to
    }

    /// Round-trip propagation delay of a path and its reverse.
    pub fn base_rtt(&self, path: &[LinkId]) -> Time {
        path.iter().map(|link| self.links[link.index()].delay * 2).sum()
    }
}

/// What so many cables of a rate carry together.
fn together(cables: usize, rate: Rate) -> Rate {
    Rate::from_bps(cables as u64 * rate.bps())
}

/// The opposite direction of a cable.
pub fn twin(link: LinkId) -> LinkId {
    link.twin()
}

/// The number of sender hosts: the scenario's, otherwise as many as its traffic needs.
fn sender_hosts(values: &Values, demand: &Demand) -> Result<usize, SpecError> {
    let hosts = match values.integer("sender-hosts") as usize {
        0 => demand.senders,
        hosts => hosts,
    };
    if hosts < demand.senders {
        let message = format!(
            "the traffic needs {} sending hosts, each of its own; give more, or let flows share hosts with \
             placement = \"round-robin\" in their traffic group",
            demand.senders
        );
        return Err(values.fail("sender-hosts", message));
    }
    match (Demand { senders: hosts, ..*demand }).too_many() {
        Some(message) => Err(values.fail("sender-hosts", message)),
        None => Ok(hosts.max(1)),
    }
}

/// The parameter that [`sender_hosts`] reads.
const SENDER_HOSTS: Param = Param::new(
    "sender-hosts",
    fanin_param::Kind::Integer,
    "0",
    "Number of sending hosts; 0: as many as the traffic requires.",
    "one flow per server, as in the papers",
);

/// A network for tests: sending hosts and a receiver at two edge switches, which are joined through two other switches.
/// The cables of the second one are longer. Also returns these two switches.
#[cfg(any(test, feature = "testing"))]
pub fn two_paths(senders: usize, rate: Rate, delays: [Time; 2]) -> (Topology, [NodeId; 2]) {
    let mut topology = Topology::new(LinkId::new(1));
    let receiver = topology.add_node(NodeKind::Host);
    let (near, far) = (topology.add_node(NodeKind::Switch), topology.add_node(NodeKind::Switch));
    topology.add_cable(receiver, far, rate, delays[0]);
    topology.receivers.push(receiver);
    let between = delays.map(|delay| {
        let middle = topology.add_node(NodeKind::Switch);
        topology.add_cable(near, middle, rate, delay);
        topology.add_cable(middle, far, rate, delay);
        middle
    });
    for _ in 0..senders {
        let host = topology.add_node(NodeKind::Host);
        topology.add_cable(host, near, rate, delays[0]);
        topology.senders.push(host);
    }
    (topology, between)
}
