//! Shortest paths through the switches, of which a network has far too many to list.
//!
//! For one destination, each switch has a distance and a number of shortest paths. Paths are numbered in the order in
//! which a search along the links finds them, so any of them can be walked by its number.

use super::{Topology, twin};
use fanin_core::ids::{LinkId, NodeId};

/// The shortest paths to one switch.
#[derive(Debug)]
pub struct ShortestPaths {
    to: NodeId,
    /// By node: the distance in links, and the number of shortest paths. Hosts do not forward and have none.
    switches: Vec<(u32, u32)>,
}

impl ShortestPaths {
    /// The number of shortest paths from `switch`.
    pub fn count(&self, switch: NodeId) -> usize {
        self.switches[switch.index()].1 as usize
    }
}

impl Topology {
    /// The shortest paths to the switch `to`.
    pub fn shortest_paths(&self, to: NodeId) -> ShortestPaths {
        let mut switches = vec![(u32::MAX, 0_u32); self.nodes.len()];
        switches[to.index()] = (0, 1);
        let mut wave = vec![to];
        for hops in 1.. {
            let mut next = Vec::new();
            for node in &wave {
                let paths = switches[node.index()].1;
                // Cables have both directions, so a switch's neighbours are the ends of its own links. Parallel links
                // count separately, and paths over several switches of the wave before add up.
                for link in &self.trunks[node.index()] {
                    let neighbour = &mut switches[self.end(*link).index()];
                    if neighbour.0 == u32::MAX {
                        *neighbour = (hops, 0);
                        next.push(self.end(*link));
                    }
                    if neighbour.0 == hops {
                        neighbour.1 = neighbour.1.saturating_add(paths);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            wave = next;
        }
        ShortestPaths { to, switches }
    }

    /// The first links of the shortest paths from `switch`.
    pub fn first_links(&self, paths: &ShortestPaths, switch: NodeId) -> Vec<LinkId> {
        let distance = |node: NodeId| paths.switches[node.index()].0;
        let nearer = |link: &&LinkId| distance(self.end(**link)) < distance(switch);
        self.trunks[switch.index()].iter().filter(nearer).copied().collect()
    }

    /// The links of path number `number` from `switch`, below [`ShortestPaths::count`]. Paths are in link order.
    fn walk<'a>(
        &'a self,
        paths: &'a ShortestPaths,
        switch: NodeId,
        number: usize,
    ) -> impl Iterator<Item = LinkId> + 'a {
        let (mut node, mut rest) = (switch, number as u32);
        std::iter::from_fn(move || {
            if node == paths.to {
                return None;
            }
            let hops = paths.switches[node.index()].0;
            let link = self.trunks[node.index()].iter().find(|link| {
                let (distance, count) = paths.switches[self.end(**link).index()];
                let here = distance < hops && rest < count;
                rest -= if distance < hops && !here { count } else { 0 };
                here
            });
            node = self.end(*link?);
            link.copied()
        })
    }

    /// What each link gets, in link order, if every switch sends the amount `sent` at its node to the destination of
    /// `paths` in equal parts on its shortest paths, as hashing does on average; and what reaches that destination.
    /// `passed` is how much of that a link passes on.
    pub fn spread(
        &self,
        paths: &ShortestPaths,
        mut sent: Vec<f64>,
        passed: impl Fn(LinkId, f64) -> f64,
    ) -> (Vec<f64>, f64) {
        let mut carried = vec![0.0; self.links.len()];
        let reached = |node: &usize| paths.switches[*node].1 > 0;
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(reached).collect();
        order.sort_by_key(|node| std::cmp::Reverse(paths.switches[*node].0));
        for node in order.into_iter().filter(|node| *node != paths.to.index()) {
            let (hops, count) = paths.switches[node];
            for link in &self.trunks[node] {
                let (distance, onward) = paths.switches[self.end(*link).index()];
                if distance < hops {
                    let part = sent[node] * f64::from(onward) / f64::from(count);
                    carried[link.index()] += part;
                    sent[self.end(*link).index()] += passed(*link, part);
                }
            }
        }
        (carried, sent[paths.to.index()])
    }

    /// The links of shortest path number `number` from a switch to a host.
    pub fn onward(&self, paths: &ShortestPaths, from: NodeId, to: NodeId, number: usize) -> Vec<LinkId> {
        self.walk(paths, from, number).chain([twin(self.uplink(to))]).collect()
    }

    /// The links of shortest path number `number` from one host to another; `paths` are those to the latter's switch.
    pub fn path(&self, paths: &ShortestPaths, from: NodeId, to: NodeId, number: usize) -> Vec<LinkId> {
        let (first, last) = (self.uplink(from), twin(self.uplink(to)));
        [first].into_iter().chain(self.walk(paths, self.rack_of(from), number)).chain([last]).collect()
    }
}
