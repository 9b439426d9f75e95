//! Where data arrives in flowcells: segments that overtook an earlier cell wait before TCP sees them.

use crate::event::EventCore;
use crate::event::order::Class;
use crate::ids::FlowId;
use crate::packet::{CellTag, Flags, Packet};
use crate::sim::world::World;
use crate::tcp::resequencer::{Place, Resequencer};
use crate::units::Time;

impl World {
    /// How long segments of a flow wait for those of earlier flowcells where they arrive.
    fn patience(&self, id: FlowId) -> Option<Time> {
        self.hosts[self.flows[id].wire.to.index()].as_ref()?.selector.patience()
    }

    /// Shows a segment to TCP when its turn has come, and then those that waited for it.
    #[cold]
    pub(crate) fn resequence<C: EventCore>(&mut self, packet: &Packet, now: Time, core: &mut C) {
        let id = packet.flow;
        let Some(patience) = self.patience(id) else { return self.accept(packet, false, now, core) };
        let flow = &mut self.flows[id];
        let cell = CellTag::of(packet.field).map_or(0, |tag| tag.cell + 1);
        if cell == 0 && flow.receiver.order.is_none() {
            return self.accept(packet, false, now, core);
        }
        let seq = flow.receiver.state.unwrap(packet.seq);
        let fin = u64::from(packet.flags.has(Flags::FIN));
        let place = Place { cell, seq, end: seq + u64::from(packet.size - flow.wire.header) + fin };
        let next = flow.receiver.state.next();
        let order = flow.receiver.order.get_or_insert_with(|| Box::new(Resequencer::new(next)));
        if order.on_segment(place, packet, now) {
            self.accept(packet, false, now, core);
            while let Some(packet) = self.flows[id].receiver.order.as_mut().and_then(|order| order.take_next()) {
                self.accept(&packet, false, now, core);
            }
        } else if !std::mem::replace(&mut order.timed, true) {
            core.schedule(now + patience, Class::Resequencing, id.index());
        }
    }

    /// Some segments of a flow may have waited long enough.
    pub(crate) fn on_resequencing_timer<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        if self.flows.get(id).is_none() {
            return;
        }
        let patience = self.patience(id).unwrap_or(Time::ZERO);
        let Some(order) = self.flows[id].receiver.order.as_mut() else { return };
        order.timed = false;
        match order.deadline(patience) {
            Some(at) if at > now => {
                order.timed = true;
                core.schedule(at, Class::Resequencing, id.index());
            }
            Some(_) => {
                let since = now.saturating_sub(patience);
                let next = |world: &mut Self| world.flows[id].receiver.order.as_mut()?.take_late(since);
                while let Some(packet) = next(self) {
                    self.accept(&packet, false, now, core);
                }
                let order = self.flows[id].receiver.order.as_mut();
                if let Some((order, at)) = order.and_then(|order| order.deadline(patience).map(|at| (order, at))) {
                    order.timed = true;
                    core.schedule(at, Class::Resequencing, id.index());
                }
            }
            None => {}
        }
    }
}
