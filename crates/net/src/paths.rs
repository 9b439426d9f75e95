//! The paths in use.

use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{CellTag, END, Onward};
use fanin_core::rng::Stream;
use fanin_core::roles::{PathCx, PathRequest, PathSelector, Routes};
use fanin_core::units::Time;
use fanin_network::topology::{ShortestPaths, Topology};
use std::any::Any;
use std::collections::BTreeMap;

/// The paths of all unfinished flows, one after another in one table. A packet carries its place in it ([`Onward`]).
///
/// A large network has far more pairs of hosts than active flows, and a flow takes only one of a pair's equal-cost
/// paths. Paths are therefore not stored per pair: each flow has its own entry here for as long as it uses the path.
#[derive(Debug)]
pub struct Paths {
    /// The key of the hash of flows.
    key: u64,
    table: Vec<u32>,
    /// Free entries of released paths, by number of links.
    free: Vec<Vec<u32>>,
    /// The shortest paths to each switch that has been a destination.
    shortest: BTreeMap<NodeId, ShortestPaths>,
    /// Paths of rerouted packets, from a link to a host. They are few, so they are never released.
    detours: BTreeMap<(LinkId, NodeId), u32>,
    /// Those of packets that switches make: from a switch to a host, by number. They are never released either.
    from_switches: BTreeMap<(NodeId, NodeId, usize), u32>,
}

impl Paths {
    /// No paths yet, in a run with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            key: Stream::named(seed, "paths").bits(),
            table: Vec::new(),
            free: Vec::new(),
            shortest: BTreeMap::new(),
            detours: BTreeMap::new(),
            from_switches: BTreeMap::new(),
        }
    }

    /// What a flow hashes to. Ports and addresses of real connections differ from run to run, so their hashes do too.
    pub const fn hash(&self, flow: FlowId) -> u64 {
        // SplitMix64's finaliser: every bit of the handle and of the key affects the low bits.
        let mut x = (flow.index() as u64 ^ self.key).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// The first link of the path at `offset`, and the rest of the path.
    #[inline(always)]
    pub fn begin(&self, offset: u32) -> (LinkId, Onward) {
        (LinkId::new(self.table[offset as usize] as usize), self.read(offset + 1))
    }

    /// What is left of a path after its next link.
    #[inline(always)]
    pub fn after(&self, onward: Onward) -> Onward {
        self.read(onward.index + 1)
    }

    #[inline(always)]
    fn read(&self, index: u32) -> Onward {
        Onward { index, link: self.table[index as usize] }
    }

    /// The links of the path at `offset`.
    pub fn links(&self, offset: u32) -> impl Iterator<Item = LinkId> {
        self.table[offset as usize..].iter().take_while(|link| **link != END).map(|link| LinkId::new(*link as usize))
    }

    fn shortest(&mut self, to: NodeId, topology: &Topology) -> &ShortestPaths {
        let switch = topology.rack_of(to);
        self.shortest.entry(switch).or_insert_with(|| topology.shortest_paths(switch))
    }

    /// The number of equal-cost paths.
    pub fn count(&mut self, from: NodeId, to: NodeId, topology: &Topology) -> usize {
        self.shortest(to, topology).count(topology.rack_of(from))
    }

    /// The links of one equal-cost path, used or not.
    pub fn path(&mut self, from: NodeId, to: NodeId, number: usize, topology: &Topology) -> Vec<LinkId> {
        topology.path(self.shortest(to, topology), from, to, number)
    }

    /// Puts one equal-cost path into the table; returns its offset.
    pub fn take(&mut self, from: NodeId, to: NodeId, number: usize, topology: &Topology) -> u32 {
        let links = self.path(from, to, number, topology);
        let room = self.free.get_mut(links.len()).and_then(Vec::pop);
        let offset = room.map_or(self.table.len(), |offset| offset as usize);
        if room.is_none() {
            self.table.resize(offset + links.len() + 1, END);
        }
        for (place, link) in self.table[offset..].iter_mut().zip(&links) {
            *place = link.index() as u32;
        }
        offset as u32
    }

    /// The rest of the path of a packet that leaves on `link` instead of on the link before `onward`.
    pub(crate) fn detour(&mut self, onward: Onward, link: LinkId, topology: &Topology) -> Onward {
        let to = topology.end(self.links(onward.index - 1).last().expect("a path has links"));
        if let Some(offset) = self.detours.get(&(link, to)) {
            return self.read(offset + 1);
        }
        let rest = topology.onward(self.shortest(to, topology), topology.end(link), to, 0);
        let offset = self.add(&[&[link], &rest[..]].concat());
        self.detours.insert((link, to), offset);
        self.read(offset + 1)
    }

    /// The first link of the path from a switch to a host that a flow hashes to, and the rest of the path.
    pub(crate) fn begin_at(
        &mut self,
        flow: FlowId,
        switch: NodeId,
        to: NodeId,
        topology: &Topology,
    ) -> (LinkId, Onward) {
        let hash = self.hash(flow);
        let shortest = self.shortest(to, topology);
        let number = (hash % shortest.count(switch) as u64) as usize;
        let offset = self.from_switches.get(&(switch, to, number)).copied().unwrap_or_else(|| {
            let links = topology.onward(self.shortest(to, topology), switch, to, number);
            let offset = self.add(&links);
            self.from_switches.insert((switch, to, number), offset);
            offset
        });
        self.begin(offset)
    }

    /// Puts a path that is never released at the end of the table; returns its offset.
    fn add(&mut self, links: &[LinkId]) -> u32 {
        let offset = self.table.len() as u32;
        self.table.extend(links.iter().map(|link| link.index() as u32).chain([END]));
        offset
    }

    /// Releases the path at `offset`.
    pub fn give_back(&mut self, offset: u32) {
        let length = self.links(offset).count();
        if self.free.len() <= length {
            self.free.resize_with(length + 1, Vec::new);
        }
        self.free[length].push(offset);
    }

    /// Length of the table.
    #[cfg(feature = "testing")]
    pub fn entries(&self) -> usize {
        self.table.len()
    }
}

/// The equal-cost paths between two hosts, as offered to a path selector.
pub struct Offers<'a> {
    shortest: &'a ShortestPaths,
    topology: &'a Topology,
    from: NodeId,
    to: NodeId,
}

impl<'a> Offers<'a> {
    /// The paths from one host to another.
    pub fn of(paths: &'a mut Paths, from: NodeId, to: NodeId, topology: &'a Topology) -> Self {
        Self { shortest: paths.shortest(to, topology), topology, from, to }
    }
}

impl Routes for Offers<'_> {
    fn links(&self, number: usize) -> Vec<LinkId> {
        self.topology.path(self.shortest, self.from, self.to, number)
    }
}

/// The equal-cost paths that a flow uses in turn.
pub struct InTurn<'a> {
    /// The table of all paths.
    pub paths: &'a Paths,
    /// Where those of the flow begin in it.
    pub offsets: &'a [u32],
}

impl Routes for InTurn<'_> {
    fn links(&self, number: usize) -> Vec<LinkId> {
        self.offsets.get(number).map_or_else(Vec::new, |offset| self.paths.links(*offset).collect())
    }
}

/// The number of the chosen path, and the tag of the packets that take it.
pub fn choose(
    routes: &dyn Routes,
    selector: &mut dyn PathSelector,
    node: &mut dyn Any,
    now: Time,
    request: &PathRequest,
) -> (usize, u64) {
    let mut cx = PathCx { now, node, routes, label: None };
    let number = selector.choose(&mut cx, request).min(request.paths - 1);
    let tag = cx.label.map_or(0, |label| CellTag { label, cell: request.cell as u32 }.field());
    (number, tag)
}
