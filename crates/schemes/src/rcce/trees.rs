//! Divides a network of tiers into disjoint spanning trees, as Presto's controller does (He et al. 2015, section 3.1).
//!
//! The roots are switches of the highest tier; a tree goes down from its root to the edge switches. Of several parallel
//! cables between two switches, each belongs to a different tree. A tree that would share a cable with an earlier one
//! is omitted, so there are as many trees as an edge switch has uplinks. If a cable fails, its tree no longer reaches
//! the switches below, but still serves the others.

use super::message::{Attachment, Port, Table, Way};
use fanin_core::ids::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A cable of a switch: its ingress and egress link.
type Cable = [LinkId; 2];

/// The network as reported to the controller.
#[derive(Debug, Default)]
pub(super) struct Network {
    ports: BTreeMap<NodeId, Vec<Port>>,
    /// Assigned labels, by root, number of the parallel cable and edge switch. They do not change when cables fail.
    labels: BTreeMap<(NodeId, usize, NodeId), u32>,
}

/// A tree: for every switch but the root, its uplink and the switch above.
pub(super) struct Tree {
    root: NodeId,
    /// Which of the parallel cables it uses.
    parallel: usize,
    up: BTreeMap<NodeId, (Cable, NodeId)>,
}

impl Network {
    /// A switch reports its ports. Returns whether they have changed.
    pub(super) fn add(&mut self, switch: NodeId, ports: Vec<Port>) -> bool {
        let known = self.ports.get(&switch) == Some(&ports);
        self.ports.insert(switch, ports);
        !known
    }

    /// Cables between switches, by both ends.
    fn cables(&self) -> BTreeMap<NodeId, BTreeMap<NodeId, Vec<Cable>>> {
        let into = self.ports.iter().flat_map(|(switch, ports)| ports.iter().map(move |p| (p.cable[0], *switch)));
        let into: BTreeMap<LinkId, NodeId> = into.collect();
        let mut cables: BTreeMap<NodeId, BTreeMap<NodeId, Vec<Cable>>> = BTreeMap::new();
        for (switch, ports) in &self.ports {
            for Port { cable, .. } in ports {
                if let Some(neighbour) = into.get(&cable[1]) {
                    cables.entry(*switch).or_default().entry(*neighbour).or_default().push(*cable);
                }
            }
        }
        cables
    }

    /// Links on which switches send to hosts.
    pub(super) fn last_hops(&self) -> BTreeSet<LinkId> {
        self.ports.values().flatten().filter(|port| port.host.is_some()).map(|port| port.cable[1]).collect()
    }

    /// Switches with hosts, in order.
    pub(super) fn edges(&self) -> Vec<NodeId> {
        let has_hosts = |ports: &[Port]| ports.iter().any(|port| port.host.is_some());
        self.ports.iter().filter(|(_, ports)| has_hosts(ports)).map(|(switch, _)| *switch).collect()
    }

    /// The disjoint trees that join edge switches.
    pub(super) fn trees(&self) -> Vec<Tree> {
        let (cables, edges) = (self.cables(), self.edges());
        let tiers = tiers(&cables, &edges);
        let highest = tiers.values().copied().max().unwrap_or(0);
        if highest == 0 {
            return Vec::new();
        }
        let most = cables.values().flat_map(BTreeMap::values).map(Vec::len).max().unwrap_or(0);
        let mut used: BTreeSet<LinkId> = BTreeSet::new();
        let mut trees = Vec::new();
        for root in tiers.iter().filter(|(_, tier)| **tier == highest).map(|(root, _)| *root) {
            for parallel in 0..most {
                let tree = grow(root, parallel, &cables, &tiers);
                let links: Vec<LinkId> = tree.up.values().map(|(cable, _)| cable[1]).collect();
                let joined = edges.iter().filter(|edge| tree.reaches(**edge)).count();
                if joined > 1 && links.iter().all(|link| !used.contains(link)) {
                    used.extend(links);
                    trees.push(tree);
                }
            }
        }
        trees
    }

    /// The table of each switch.
    pub(super) fn tables(&mut self) -> Vec<(NodeId, Table)> {
        let (trees, edges) = (self.trees(), self.edges());
        for (tree, edge) in trees.iter().flat_map(|tree| edges.iter().map(move |edge| (tree, edge))) {
            // READING: E6 "every switch a succeeding label in every tree": labels are consecutive numbers. Only edge
            // switches need one, because no path ends elsewhere.
            let next = self.labels.len() as u32;
            self.labels.entry((tree.root, tree.parallel, *edge)).or_insert(next);
        }
        let table = |at: &NodeId| {
            let ways = trees.iter().flat_map(|tree| {
                let way = |to: &NodeId| {
                    let label = self.labels[&(tree.root, tree.parallel, *to)];
                    tree.out(*at, *to).map(|out| Way { label, edge: *to, out })
                };
                edges.iter().filter_map(way)
            });
            (
                *at,
                Table {
                    ways: ways.collect(),
                    attachments: if edges.contains(at) { self.attachments() } else { Vec::new() },
                },
            )
        };
        self.ports.keys().map(table).collect()
    }

    /// The attachments of all hosts.
    fn attachments(&self) -> Vec<Attachment> {
        let ports = self.ports.iter().flat_map(|(edge, ports)| ports.iter().map(move |port| (*edge, port)));
        ports.filter_map(|(edge, port)| port.host.map(|host| Attachment { host, edge, link: port.cable[1] })).collect()
    }
}

impl Tree {
    /// The uplinks from a switch to the root, each with the switch above it.
    fn climb(&self, from: NodeId) -> Vec<(Cable, NodeId)> {
        std::iter::successors(self.up.get(&from), |(_, above)| self.up.get(above)).copied().collect()
    }

    fn reaches(&self, switch: NodeId) -> bool {
        switch == self.root || self.up.contains_key(&switch)
    }

    /// The first link of the path from one switch to another, if both are in the tree.
    fn out(&self, from: NodeId, to: NodeId) -> Option<LinkId> {
        if self.reaches(from) && self.reaches(to) { self.way(from, to).first().copied() } else { None }
    }

    /// The path from one switch to another: up to the first switch above both, then down.
    fn way(&self, from: NodeId, to: NodeId) -> Vec<LinkId> {
        let (rise, fall) = (self.climb(from), self.climb(to));
        let common = rise.iter().rev().zip(fall.iter().rev()).take_while(|(one, other)| one == other).count();
        let (rise, fall) = (&rise[..rise.len() - common], &fall[..fall.len() - common]);
        rise.iter().map(|(cable, _)| cable[1]).chain(fall.iter().rev().map(|(cable, _)| cable[0])).collect()
    }
}

/// The number of cables between each switch and the nearest edge switch.
fn tiers(cables: &BTreeMap<NodeId, BTreeMap<NodeId, Vec<Cable>>>, edges: &[NodeId]) -> BTreeMap<NodeId, u32> {
    let mut tiers: BTreeMap<NodeId, u32> = edges.iter().map(|edge| (*edge, 0)).collect();
    let mut open: VecDeque<NodeId> = edges.iter().copied().collect();
    while let Some(switch) = open.pop_front() {
        let tier = tiers[&switch];
        for neighbour in cables.get(&switch).into_iter().flat_map(BTreeMap::keys) {
            if !tiers.contains_key(neighbour) {
                tiers.insert(*neighbour, tier + 1);
                open.push_back(*neighbour);
            }
        }
    }
    tiers
}

/// The tree from `root` downwards over the `parallel`-th cable between any two switches.
fn grow(
    root: NodeId,
    parallel: usize,
    cables: &BTreeMap<NodeId, BTreeMap<NodeId, Vec<Cable>>>,
    tiers: &BTreeMap<NodeId, u32>,
) -> Tree {
    let mut up = BTreeMap::new();
    let mut open = VecDeque::from([root]);
    while let Some(switch) = open.pop_front() {
        for (below, joined) in cables.get(&switch).into_iter().flatten() {
            // Cables are in the order of ports, which is the same at both ends.
            let Some([from, to]) = joined.get(parallel) else { continue };
            if tiers[below] + 1 == tiers[&switch] && !up.contains_key(below) {
                // The egress link of the lower switch is the ingress link of the upper one.
                up.insert(*below, ([*to, *from], switch));
                open.push_back(*below);
            }
        }
    }
    Tree { root, parallel, up }
}
