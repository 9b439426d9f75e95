//! Resequencing of flowcells: segments that overtook an earlier flowcell wait before TCP sees them.

use crate::hosts::Hosts;
use fanin_core::ids::FlowId;
use fanin_core::packet::{CellTag, Flags, Packet};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_net::network::Network;
use fanin_tcp::resequencer::{Position, Resequencer};

impl Hosts {
    /// How long segments of a flow wait at the receiving host for earlier flowcells.
    fn patience(&self, id: FlowId) -> Option<Time> {
        self.by_node[self.flows[id].wire.to.index()].as_ref()?.selector.patience()
    }

    /// A segment has arrived that may have overtaken others. Returns whether it is its turn; if not, it waits.
    #[cold]
    pub fn is_in_turn<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) -> bool {
        let id = packet.flow;
        let Some(flow) = self.flows.get_mut(id) else {
            net.stray(packet);
            return false;
        };
        flow.book_arrival(packet);
        let Some(patience) = self.patience(id) else { return true };
        let flow = &mut self.flows[id];
        let cell = CellTag::of(packet.field).map_or(0, |tag| tag.cell + 1);
        if cell == 0 && flow.receiver.order.is_none() {
            return true;
        }
        let seq = flow.receiver.state.unwrap(packet.seq);
        let fin = u64::from(packet.flags.has(Flags::FIN));
        let position = Position { cell, seq, end: seq + u64::from(packet.size - flow.wire.header) + fin };
        let next = flow.receiver.state.next();
        let order = flow.receiver.order.get_or_insert_with(|| Box::new(Resequencer::new(next)));
        let in_turn = order.on_segment(position, packet, net.now());
        if !in_turn && !std::mem::replace(&mut order.timed, true) {
            net.core.schedule(net.now() + patience, Class::Resequencing, id.index());
        }
        in_turn
    }

    /// The next waiting segment whose turn it is.
    pub fn next_in_turn(&mut self, id: FlowId) -> Option<Packet> {
        self.flows.get_mut(id)?.receiver.order.as_mut()?.take_next()
    }

    /// Whether some segment of a flow has waited for the full time.
    pub fn is_overdue<C: EventCore>(&self, id: FlowId, net: &Network<C>) -> bool {
        let Some(order) = self.flows.get(id).and_then(|flow| flow.receiver.order.as_ref()) else { return false };
        let patience = self.patience(id).unwrap_or(Time::ZERO);
        order.deadline(patience).is_some_and(|at| at <= net.now())
    }

    /// The next segment that has waited for the full time, or whose turn it is because of one that has.
    pub fn next_overdue<C: EventCore>(&mut self, id: FlowId, net: &Network<C>) -> Option<Packet> {
        self.flows.get(id)?;
        let since = net.now().saturating_sub(self.patience(id).unwrap_or(Time::ZERO));
        self.flows[id].receiver.order.as_mut()?.take_late(since)
    }

    /// Sets the timer for the waiting segments of a flow.
    pub fn wait_on<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        if self.flows.get(id).is_none() {
            return;
        }
        let patience = self.patience(id).unwrap_or(Time::ZERO);
        let Some(order) = self.flows[id].receiver.order.as_mut() else { return };
        let deadline = order.deadline(patience);
        order.timed = deadline.is_some();
        if let Some(at) = deadline {
            net.core.schedule(at, Class::Resequencing, id.index());
        }
    }
}
