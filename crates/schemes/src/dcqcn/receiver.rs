//! The notification point: a packet for the sender at once for a mark, and one at the end of each interval with marks.

use fanin_core::ids::FlowId;
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, ControlPacket, ReceiverAction, ReceiverCx, WindowControl,
};
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// Bytes of a notification (CNP) on the wire, with Ethernet's least frame.
const SIZE: u16 = 64;

/// A flow that ends here.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    /// When the next notification may leave.
    next: Time,
    /// It has marks that none has reported.
    marked: bool,
}

/// The notifications of one host.
#[derive(Debug)]
pub(super) struct Receiver {
    interval: Time,
    flows: BTreeMap<FlowId, Incoming>,
}

impl Receiver {
    pub(super) fn new(interval: Time) -> Self {
        Self { interval, flows: BTreeMap::new() }
    }

    fn notify(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId) {
        self.flows.insert(flow, Incoming { next: cx.now + self.interval, marked: false });
        let packet = ControlPacket { size: SIZE, ..ControlPacket::default() };
        cx.actions.push(ReceiverAction::Control { flow, packet });
    }
}

impl WindowControl for Receiver {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        if !arrival.ce {
            return;
        }
        match self.flows.get_mut(&flow).filter(|state| cx.now < state.next) {
            // READING: DQ1
            Some(state) if !state.marked => {
                state.marked = true;
                cx.actions.push(ReceiverAction::Timer { at: state.next, token: flow.index() as u64 });
            }
            Some(_) => {}
            None => self.notify(cx, flow),
        }
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        self.notify(cx, FlowId::new(token as usize));
    }
    fn knows(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|state| state.marked)
    }
}
