//! Paths: what a host knows of its equal-cost paths, and how it chooses among them.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::rng::Stream;
use crate::units::Time;
use std::any::Any;

/// A request for a path.
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
    /// What the flow's addresses and ports hash to: the same in all requests of a flow, another one under another
    /// seed of the run.
    pub hash: u64,
    /// Index of the flowcell within the flow; always 0 without [`PathSelector::cell`].
    pub cell: u64,
    /// Number of the path that the flow takes now; none when it opens.
    pub current: Option<usize>,
    /// First sequence number of the segment that is about to leave; 0 for a SYN, and when the flow opens.
    pub seq: u64,
    /// Time since the flow's last segment; zero for the first, and always without [`PathSelector::asks_anew`].
    pub idle: Time,
}

/// An acknowledgement that has reached the sender of a flow.
#[derive(Clone, Copy, Debug)]
pub struct PathAck {
    /// The flow.
    pub flow: FlowId,
    /// The clock.
    pub now: Time,
    /// Next sequence number that the receiver expects: all before it have arrived.
    pub next: u64,
    /// ECN echo was set.
    pub ece: bool,
}

/// The paths to choose from, by number.
pub trait Routes {
    /// The links of path number `path`, from the sending host's link to the link into the receiving host.
    fn links(&self, path: usize) -> Vec<LinkId>;
}

/// What a choice among paths can use and set.
pub struct PathCx<'a> {
    /// The clock.
    pub now: Time,
    /// State that the roles of one scheme share on the host's edge switch.
    pub node: &'a mut dyn Any,
    /// The paths to choose from.
    pub routes: &'a dyn Routes,
    /// Set to label the packets that take the path: see [`CellTag`](crate::packet::CellTag).
    pub label: Option<u32>,
}

/// The path selector of a host or its edge switch: one instance per host.
pub trait PathSelector: Send {
    /// Index of the path to take, below `request.paths`.
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize;
    /// Bytes of a flowcell, after which a new path is chosen; none keeps one path per flow.
    fn cell(&self) -> Option<u64> {
        None
    }
    /// Whether each segment of a flow with several paths asks anew, in place of each flowcell; always the same. An answer
    /// other than [`PathRequest::current`] moves the flow. Its acknowledgements keep the path that they began with.
    fn asks_anew(&self) -> bool {
        false
    }
    /// An acknowledgement has reached the sender of a flow whose segments [ask anew](Self::asks_anew); the sender reacts to
    /// it after this.
    fn on_ack(&mut self, _ack: &PathAck) {}
    /// At the receiving host, how long a segment that overtook an earlier flowcell waits for it before TCP sees it;
    /// none passes every segment on at once. Flowcells are distinguished by their tags, so this needs labelled paths.
    fn patience(&self) -> Option<Time> {
        None
    }
}

/// Sends flowcells over all paths in turn, from one picked by a hash of the flow (Presto, He et al. 2015, section 3.1;
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

/// Lets a flow that was silent for longer than the gap take a random path, and any other keep its path (LetFlow, Vanini et
/// al. 2017). The first path is ECMP's. LetFlow's switches choose the next link for what passes them; here the sending host
/// chooses all of the path.
#[derive(Debug)]
pub struct Flowlets {
    /// The longest pause within a flowlet.
    pub gap: Time,
    /// Where paths are drawn from.
    pub random: Stream,
}

impl PathSelector for Flowlets {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        match request.current {
            None => Ecmp.choose(cx, request),
            Some(path) if request.idle <= self.gap => path,
            Some(_) => self.random.below(request.paths as u64) as usize,
        }
    }
    fn asks_anew(&self) -> bool {
        true
    }
}

/// Equal-cost multipath: a hash of the flow picks one path for its lifetime (RFC 2992).
#[derive(Debug, Default)]
pub struct Ecmp;

impl PathSelector for Ecmp {
    fn choose(&mut self, _cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        (request.hash % request.paths as u64) as usize
    }
}
