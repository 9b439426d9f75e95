//! Paths: what a host knows of the equal-cost paths, and how it chooses.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::units::Time;
use std::any::Any;

/// What a path is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct PathRequest {
    /// The flow.
    pub flow: FlowId,
    /// Sending host.
    pub from: NodeId,
    /// Receiving host.
    pub to: NodeId,
    /// Number of paths to choose from; at least one.
    pub paths: usize,
    /// Which flowcell of the flow: 0 for the first, and always 0 without [`PathSelector::cell`].
    pub cell: u64,
}

/// The paths that a request offers, by number.
pub trait Routes {
    /// The links of path number `path`: that of the sending host first, that into the receiving host last.
    fn links(&self, path: usize) -> Vec<LinkId>;
}

/// Facts and levers of a choice among paths.
pub struct PathCx<'a> {
    /// State that the roles of one scheme share on the host's edge switch.
    pub node: &'a mut dyn Any,
    /// The paths to choose from.
    pub routes: &'a dyn Routes,
    /// Set to label the packets that take the path: see [`CellTag`](crate::packet::CellTag).
    pub label: Option<u32>,
}

/// Host or its edge switch: one instance per host.
pub trait PathSelector: Send {
    /// Index of the path to take, below `request.paths`.
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize;
    /// Bytes of a flowcell, after which a path is chosen anew; none keeps one path per flow.
    fn cell(&self) -> Option<u64> {
        None
    }
    /// Where data arrives: how long a segment that overtook an earlier flowcell waits for it before TCP sees it; none
    /// shows every segment at once. Flowcells are told apart by their tags, so this needs labelled paths.
    fn patience(&self) -> Option<Time> {
        None
    }
}

/// Flowcells over all paths in turn, from the one that a hash of the flow picks on (Presto, He et al. 2015, section 3.1;
/// packet spraying, Dixit et al. 2013, where a cell is one packet).
#[derive(Debug)]
pub struct Spray {
    /// Bytes of a flowcell.
    pub cell: u64,
}

impl PathSelector for Spray {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        ((Ecmp.choose(cx, request) as u64 + request.cell) % request.paths as u64) as usize
    }
    fn cell(&self) -> Option<u64> {
        Some(self.cell)
    }
}

/// Equal-cost multipath: a hash of the flow picks one path for its lifetime (RFC 2992).
#[derive(Debug, Default)]
pub struct Ecmp;

impl PathSelector for Ecmp {
    fn choose(&mut self, _cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        // SplitMix64's finaliser: every bit of the handle reaches the low bits.
        let mut x = (request.flow.index() as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % request.paths as u64) as usize
    }
}
