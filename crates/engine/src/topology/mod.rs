//! Topologies: nodes, links and the paths between hosts.
//!
//! To add one: a file here and a row in [`REGISTRY`].

mod star;
mod two_switch;

use crate::ids::{LinkId, NodeId};
use crate::spec::{Param, Params, SpecError};
use crate::units::{Rate, Time};

/// A topology that a scenario can name.
pub struct TopologyRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of the `[network]` table beyond those that every topology has.
    pub params: &'static [Param],
    /// Lays it out for the hosts that the traffic needs.
    pub build: fn(&Params, &Demand) -> Result<Topology, SpecError>,
}

/// Every topology.
pub const REGISTRY: &[TopologyRow] = &[star::ROW, two_switch::ROW];

/// Hosts that the traffic of a scenario needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Hosts that send, each of its own.
    pub senders: usize,
    /// Hosts that receive.
    pub receivers: usize,
}

/// What a node is.
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
    /// Whose egress port feeds it.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
}

/// A network without traffic.
#[derive(Debug)]
pub struct Topology {
    /// What each node is.
    pub nodes: Vec<NodeKind>,
    /// Every link, in the order that breaks ties at one instant.
    pub links: Vec<LinkSpec>,
    /// Hosts that answer, in the order in which groups take them.
    pub senders: Vec<NodeId>,
    /// Hosts that receive.
    pub receivers: Vec<NodeId>,
    /// The link where incast is expected: whose queue is measured.
    pub bottleneck: LinkId,
    /// Egress links of each node, for routing.
    egress: Vec<Vec<LinkId>>,
}

/// More ports than this on one switch is a mistake in the scenario rather than a switch.
pub const MAX_PORTS: usize = 65_535;

impl Topology {
    fn new(bottleneck: LinkId) -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            bottleneck,
            egress: Vec::new(),
        }
    }

    fn add_node(&mut self, kind: NodeKind) -> NodeId {
        self.nodes.push(kind);
        self.egress.push(Vec::new());
        NodeId::new(self.nodes.len() - 1)
    }

    /// Adds both directions of a cable; returns the link from `a` to `b`.
    fn add_cable(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) -> LinkId {
        let forth = LinkId::new(self.links.len());
        self.links.push(LinkSpec { from: a, to: b, rate, delay });
        self.links.push(LinkSpec { from: b, to: a, rate, delay });
        self.egress[a.index()].push(forth);
        self.egress[b.index()].push(LinkId::new(forth.index() + 1));
        forth
    }

    /// Every shortest path from one host to another, each a list of links, in link order.
    pub fn paths(&self, from: NodeId, to: NodeId) -> Vec<Vec<LinkId>> {
        let distance = self.distances(to);
        let mut done = Vec::new();
        let mut open = vec![(from, Vec::new())];
        while let Some((node, path)) = open.pop() {
            if node == to {
                done.push(path);
                continue;
            }
            for &link in self.egress[node.index()].iter().rev() {
                let next = self.links[link.index()].to;
                if distance[next.index()] != u32::MAX && distance[next.index()] + 1 == distance[node.index()] {
                    open.push((next, path.iter().copied().chain([link]).collect()));
                }
            }
        }
        done
    }

    /// Hops from every node to `to`; hosts do not forward.
    fn distances(&self, to: NodeId) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.nodes.len()];
        distance[to.index()] = 0;
        let mut wave = vec![to];
        while !wave.is_empty() {
            let mut next = Vec::new();
            for node in wave {
                if node != to && self.nodes[node.index()] == NodeKind::Host {
                    continue;
                }
                for &link in &self.egress[node.index()] {
                    // Cables have both directions, so a node's neighbours are where its own links end.
                    let neighbour = self.links[link.index()].to;
                    if distance[neighbour.index()] == u32::MAX {
                        distance[neighbour.index()] = distance[node.index()] + 1;
                        next.push(neighbour);
                    }
                }
            }
            wave = next;
        }
        distance
    }

    /// Round-trip propagation delay of a path and its reverse.
    pub fn base_rtt(&self, path: &[LinkId]) -> Time {
        path.iter().map(|link| self.links[link.index()].delay * 2).sum()
    }
}

/// How many sender hosts to lay out: as many as the scenario says, else as many as its traffic needs.
fn sender_hosts(params: &Params, demand: &Demand) -> Result<usize, SpecError> {
    let hosts = match params.integer("sender-hosts") as usize {
        0 => demand.senders,
        hosts => hosts,
    };
    if hosts < demand.senders {
        let message = format!(
            "the traffic needs {} sending hosts, each of its own; give more, or let flows share hosts with \
             placement = \"round-robin\" in their traffic group",
            demand.senders
        );
        return Err(params.fail("sender-hosts", message));
    }
    if hosts + demand.receivers + 1 > MAX_PORTS {
        return Err(params.fail("sender-hosts", format!("{hosts} hosts do not fit on one switch of {MAX_PORTS} ports")));
    }
    Ok(hosts.max(1))
}

/// The parameter that [`sender_hosts`] reads.
const SENDER_HOSTS: Param = Param::new(
    "sender-hosts",
    crate::spec::Kind::Integer,
    "0",
    "Number of sending hosts; 0 lays out as many as the traffic needs.",
    "one flow per server, as in the papers",
);
