//! Divides a network of tiers into disjoint spanning trees, as Presto's controller does (He et al. 2015, section 3.1).
//!
//! The roots are switches of the highest tier; a tree goes down from its root and reaches every edge switch. Where
//! switches are joined by several cables, each takes part in another tree. A tree that would share a cable with an
//! earlier one is left out, so there are as many as an edge switch has cables upwards.

use super::message::{Label, Port};
use crate::ids::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A cable of a switch: the link in, and the link out.
type Cable = [LinkId; 2];

/// What the controller was told of the network.
#[derive(Debug, Default)]
pub(super) struct Network {
    ports: BTreeMap<NodeId, Vec<Port>>,
}

/// A tree: from every switch but the root, its cable upwards and the switch there.
pub(super) struct Tree {
    up: BTreeMap<NodeId, (Cable, NodeId)>,
}

impl Network {
    /// A switch tells its ports. Returns whether that is news.
    pub(super) fn add(&mut self, switch: NodeId, ports: Vec<Port>) -> bool {
        let known = self.ports.get(&switch) == Some(&ports);
        self.ports.insert(switch, ports);
        !known
    }

    /// All switches that have told their ports, in order.
    pub(super) fn switches(&self) -> impl Iterator<Item = NodeId> {
        self.ports.keys().copied()
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
        self.ports.values().flatten().filter(|port| port.host).map(|port| port.cable[1]).collect()
    }

    /// Switches with hosts, in order.
    pub(super) fn edges(&self) -> Vec<NodeId> {
        let has_hosts = |ports: &[Port]| ports.iter().any(|port| port.host);
        self.ports.iter().filter(|(_, ports)| has_hosts(ports)).map(|(switch, _)| *switch).collect()
    }

    /// Disjoint trees that reach every edge.
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
                if edges.iter().all(|edge| tree.up.contains_key(edge)) && links.iter().all(|link| !used.contains(link))
                {
                    used.extend(links);
                    trees.push(tree);
                }
            }
        }
        trees
    }

    /// The ways of one edge through all trees to all other edges; none for a switch that is no edge.
    pub(super) fn labels(&self, trees: &[Tree], from: NodeId) -> Vec<Label> {
        let edges = self.edges();
        let mut labels = Vec::new();
        if !edges.contains(&from) {
            return labels;
        }
        for (t, tree) in trees.iter().enumerate() {
            for (e, to) in edges.iter().enumerate().filter(|(_, to)| **to != from) {
                // READING: E6 "every switch a succeeding label in every tree": numbers count on, and only edges need one,
                // because nothing ends elsewhere.
                let label = (t * edges.len() + e) as u32;
                labels.push(Label { label, links: tree.way(from, *to) });
            }
        }
        labels
    }
}

impl Tree {
    /// Cables from a switch up to the root, each with the switch above it.
    fn climb(&self, from: NodeId) -> Vec<(Cable, NodeId)> {
        std::iter::successors(self.up.get(&from), |(_, above)| self.up.get(above)).copied().collect()
    }

    /// The links from one edge to another: up to the first switch that is above both, and down again.
    fn way(&self, from: NodeId, to: NodeId) -> Vec<LinkId> {
        let (rise, fall) = (self.climb(from), self.climb(to));
        let common = rise.iter().rev().zip(fall.iter().rev()).take_while(|(one, other)| one == other).count();
        let (rise, fall) = (&rise[..rise.len() - common], &fall[..fall.len() - common]);
        rise.iter().map(|(cable, _)| cable[1]).chain(fall.iter().rev().map(|(cable, _)| cable[0])).collect()
    }
}

/// How many cables lie between each switch and the nearest edge.
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

/// The tree down from `root` over the cables with number `parallel` between their ends.
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
            // Cables stand in the order of ports, which is the same at both ends.
            let Some([from, to]) = joined.get(parallel) else { continue };
            if tiers[below] + 1 == tiers[&switch] && !up.contains_key(below) {
                // Seen from below, what the upper switch gets is what the lower one sends.
                up.insert(*below, ([*to, *from], switch));
                open.push_back(*below);
            }
        }
    }
    Tree { up }
}
