//! Finished flows, of which only sums are kept.
//!
//! A flow is finished when its connection will not be used again, both ends are done, and each of its packets has
//! arrived or was dropped. It can then have no further effect: there is not even a late duplicate in the network. Its
//! timer events may still be pending; they do nothing, just as they would have done if the flow had been kept.

use crate::host::flow::Flow;
use crate::ids::FlowId;
use crate::net::books::FlowBook;

/// Flows that may soon be finished, and the sums of those that are.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Flows that carry no more data.
    pub(super) closing: Vec<FlowId>,
    /// How many of them there must be before they are looked through again.
    look_at: usize,
    /// The least that this grows by with each look.
    few: usize,
    /// Segments that arrived.
    pub(crate) segments: u64,
    /// By node, bytes that flows sent and took there.
    pub(crate) nodes: Vec<Ends>,
}

/// Bytes of flows that begin or end at a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// To look more often would cost more than it frees.
const FEW: usize = 32;

impl Finished {
    /// No finished flows yet, for a network with this number of nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { look_at: FEW, few: FEW, nodes: vec![Ends::default(); nodes], ..Self::default() }
    }

    /// Looks after so many flows, or never.
    #[cfg(test)]
    pub(crate) fn look(&mut self, few: Option<usize>) {
        (self.look_at, self.few) = (few.unwrap_or(usize::MAX), few.unwrap_or(0));
    }

    /// Whether there are enough flows without data to look for those that are over. A look costs as much as there are
    /// of them, so the next one is due when they have doubled.
    pub(super) fn is_due(&self) -> bool {
        self.closing.len() >= self.look_at
    }

    /// These are left after a look.
    pub(super) fn keep(&mut self, closing: Vec<FlowId>) {
        self.look_at = 2 * closing.len() + self.few;
        self.closing = closing;
    }

    pub(super) fn add(&mut self, flow: &Flow) {
        self.segments += flow.receiver.segments;
        add_ends(&mut self.nodes, flow);
    }
}

/// Books what a flow sent and took at its two nodes.
pub(crate) fn add_ends(nodes: &mut [Ends], flow: &Flow) {
    let (from, to) = (flow.wire.from.index(), flow.wire.to.index());
    nodes[from].begun += flow.wire.sent_bytes;
    nodes[to].begun += flow.receiver.ack_bytes_sent;
    nodes[to].ended += flow.arrived_bytes;
    nodes[from].ended += flow.ack_bytes_arrived;
}

/// Whether every packet and byte of a flow arrived or was dropped. Other flows are checked for this at the end of the
/// run; a finished flow is checked when it is released.
pub(super) fn balances(flow: &Flow, book: &FlowBook) -> bool {
    let packets = flow.arrived + flow.acks_arrived + book.drops + book.acks_dropped;
    let bytes = flow.arrived_bytes + flow.ack_bytes_arrived + book.dropped_bytes;
    let (sent, sent_bytes) = (flow.packets_sent(), flow.bytes_sent());
    (packets, bytes, book.kept, book.kept_bytes) == (sent, sent_bytes, 0, 0)
}
