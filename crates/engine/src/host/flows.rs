//! What becomes of a flow that is over: it is let go, and only sums remain.
//!
//! A flow is over when its connection will not be used again, both ends are done, and every packet of it has arrived or
//! was dropped. Then nothing can come of it any more: not even a late duplicate, since there is none in the network.
//! Timer events of it may still be pending; they do nothing, as they would have done.
//!
//! That the books of a flow balance is the law that [`World::check`] holds every other flow to at the end of a run; so
//! letting a flow go is its check.

use crate::event::EventCore;
use crate::host::flow::{Flow, Wire};
use crate::ids::FlowId;
use crate::net::books::FlowBook;
use crate::sim::world::World;

/// Flows that may soon be over, and what those that are have left behind.
#[derive(Debug, Default)]
pub(crate) struct Over {
    /// Flows that carry no more data.
    closing: Vec<FlowId>,
    /// As many of them as make a look at all worth it, and how many more than what is left after it that is.
    look_at: usize,
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

/// Looking more often would cost more than it frees.
const FEW: usize = 32;

impl Over {
    /// Nothing is over in a network of so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { look_at: FEW, few: FEW, nodes: vec![Ends::default(); nodes], ..Self::default() }
    }

    /// Looks after so many flows, or never.
    #[cfg(test)]
    pub(crate) fn look(&mut self, few: Option<usize>) {
        (self.look_at, self.few) = (few.unwrap_or(usize::MAX), few.unwrap_or(0));
    }

    fn add(&mut self, flow: &Flow) {
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

impl World {
    /// A flow carries no more data. It is let go later, when it is over; to look costs as much as there are of them, so
    /// that is done when they have doubled.
    pub(crate) fn close_flow<C: EventCore>(&mut self, flow: FlowId, core: &mut C) {
        self.over_flows.closing.push(flow);
        if self.over_flows.closing.len() >= self.over_flows.look_at {
            let mut closing = std::mem::take(&mut self.over_flows.closing);
            closing.retain(|flow| !self.let_go(*flow, core));
            self.over_flows.look_at = 2 * closing.len() + self.over_flows.few;
            self.over_flows.closing = closing;
        }
    }

    /// Lets a flow go, if it is over.
    fn let_go<C: EventCore>(&mut self, id: FlowId, core: &mut C) -> bool {
        let (flow, book) = (&self.flows[id], &core.books().flows[id]);
        if !flow.is_done() || !balances(flow, book) || self.is_known(flow) {
            return false;
        }
        let Some(flow) = self.flows.take(id) else { return true };
        core.books().close_flow(id);
        self.over_flows.add(&flow);
        let Wire { forward, reverse, cell_paths, .. } = &flow.wire;
        let forth = if cell_paths.is_empty() { std::slice::from_ref(forward) } else { cell_paths };
        forth.iter().chain([reverse]).for_each(|path| self.paths.give_back(*path));
        true
    }

    /// Whether the scheduler of the host where the flow ends may still act on it.
    fn is_known(&self, flow: &Flow) -> bool {
        let scheme = self.endpoints[flow.wire.endpoint as usize].scheme;
        let host = self.hosts[flow.wire.to.index()].as_ref();
        let window = host.and_then(|host| host.windows.get(scheme)?.as_ref());
        window.is_some_and(|window| window.knows(flow.wire.id))
    }
}

impl Flow {
    /// Whether both ends have nothing left to do.
    fn is_done(&self) -> bool {
        let (sender, side) = (&self.sender, &self.receiver);
        let waits = !side.state.ack_deadline().is_never() || side.held.is_some();
        // How long they would wait does not matter.
        let out_of_order = side.order.as_ref().is_some_and(|order| order.deadline(crate::units::Time::ZERO).is_some());
        let sane = self.window_is_sane() && sender.una() <= side.state.next();
        sender.is_quiet() && !waits && !out_of_order && sane
    }

    /// Whether the windows are such as an algorithm may set.
    pub(crate) fn window_is_sane(&self) -> bool {
        let window = self.sender.window();
        window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0
    }
}

/// Whether every packet and byte of a flow arrived or was dropped.
fn balances(flow: &Flow, book: &FlowBook) -> bool {
    let packets = flow.arrived + flow.acks_arrived + book.drops + book.acks_dropped;
    let bytes = flow.arrived_bytes + flow.ack_bytes_arrived + book.dropped_bytes;
    let (sent, sent_bytes) = (flow.packets_sent(), flow.bytes_sent());
    (packets, bytes, book.kept, book.kept_bytes) == (sent, sent_bytes, 0, 0)
}
