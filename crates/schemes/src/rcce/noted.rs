//! Records marks of a switch's own ports for the scheduler in the same switch.

use super::state::EdgeState;
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};

/// A queue discipline whose marks on the scheduler's connections are recorded.
pub(super) struct Noted(pub(super) Box<dyn QueueDiscipline>);

/// Calls a discipline for a packet, and records a mark that it sets.
fn note<R>(cx: &mut QueueCx<'_>, packet: &mut Packet, act: impl FnOnce(&mut QueueCx<'_>, &mut Packet) -> R) -> R {
    let before = packet.flags.has(Flags::CE);
    let result = act(cx, packet);
    if !before
        && packet.flags.has(Flags::CE)
        && !packet.is_ack()
        && let Some(state) = cx.node.downcast_mut::<EdgeState>()
        && let Some(marked) = state.marked.get_mut(&packet.flow)
    {
        marked.insert(packet.seq);
    }
    result
}

impl QueueDiscipline for Noted {
    fn bands(&self) -> u8 {
        self.0.bands()
    }
    fn buffers(&self) -> u32 {
        self.0.buffers()
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        note(cx, packet, |cx, packet| self.0.on_enqueue(cx, packet))
    }
    fn on_full(&mut self, cx: &mut QueueCx<'_>, packet: &Packet) -> Option<u8> {
        self.0.on_full(cx, packet)
    }
    fn acts_on_dequeue(&self) -> bool {
        self.0.acts_on_dequeue()
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        note(cx, packet, |cx, packet| self.0.on_dequeue(cx, packet));
    }
    fn idle_below(&self) -> u32 {
        self.0.idle_below()
    }
    fn needs_bytes(&self) -> bool {
        self.0.needs_bytes()
    }
}
