//! Finished flows: only their sums are kept.
//!
//! A flow has finished when its connection will not be used again, both ends are done, and each of its packets has
//! arrived or was dropped. It can then have no further effect: not even a late duplicate is left in the network.
//! Pending timer events do nothing, as they would if the flow were kept.

use crate::flow::Flow;
use fanin_core::ids::FlowId;
use fanin_port::books::FlowBook;

/// Flows that may finish soon, and the sums of finished flows.
#[derive(Debug, Default)]
pub struct Finished {
    /// Flows that carry no more data.
    pub(super) closing: Vec<FlowId>,
    /// Length of `closing` at which it is scanned again.
    look_at: usize,
    /// The least increase of `look_at` with each scan.
    few: usize,
    /// Segments that arrived.
    pub segments: u64,
    /// By node, bytes of finished flows that began or ended there.
    pub nodes: Vec<Ends>,
}

/// Bytes that flows sent and received at a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    pub begun: u64,
    pub ended: u64,
}

/// More frequent scans would cost more than they free.
const FEW: usize = 32;

impl Finished {
    /// No finished flows yet, in a network of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { look_at: FEW, few: FEW, nodes: vec![Ends::default(); nodes], ..Self::default() }
    }

    /// Sets the number of flows after which to scan; none: never.
    #[cfg(feature = "testing")]
    pub fn look(&mut self, few: Option<usize>) {
        (self.look_at, self.few) = (few.unwrap_or(usize::MAX), few.unwrap_or(0));
    }

    /// Whether enough flows are closing to scan them for finished ones. A scan costs time in proportion to their
    /// number, so the next one is due when that has doubled.
    pub(super) fn is_due(&self) -> bool {
        self.closing.len() >= self.look_at
    }

    /// Keeps the flows that a scan has left.
    pub(super) fn keep(&mut self, closing: Vec<FlowId>) {
        self.look_at = 2 * closing.len() + self.few;
        self.closing = closing;
    }

    pub(super) fn add(&mut self, flow: &Flow) {
        self.segments += flow.receiver.segments;
        add_ends(&mut self.nodes, flow);
    }
}

/// Adds the bytes that a flow sent and received at its two nodes.
pub fn add_ends(nodes: &mut [Ends], flow: &Flow) {
    let (from, to) = (flow.wire.from.index(), flow.wire.to.index());
    nodes[from].begun += flow.wire.sent_bytes;
    nodes[to].begun += flow.receiver.ack_bytes_sent;
    nodes[to].ended += flow.arrived_bytes;
    nodes[from].ended += flow.ack_bytes_arrived;
}

/// Whether every packet and byte of a flow has arrived or was dropped. A finished flow is checked when it is released,
/// all others at the end of the run.
pub(super) fn balances(flow: &Flow, book: &FlowBook) -> bool {
    let packets = flow.arrived + flow.acks_arrived + book.drops + book.acks_dropped;
    let bytes = flow.arrived_bytes + flow.ack_bytes_arrived + book.dropped_bytes;
    let (sent, sent_bytes) = (flow.packets_sent() + book.made, flow.bytes_sent() + book.made_bytes);
    (packets, bytes, book.kept, book.kept_bytes) == (sent, sent_bytes, 0, 0)
}
