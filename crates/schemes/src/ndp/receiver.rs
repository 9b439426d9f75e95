//! The receiving host: a NACK for each header, and one queue of pulls for all its flows, paced by its link.

use crate::NodeFacts;
use fanin_core::ids::FlowId;
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, ControlPacket, ReceiverAction, ReceiverCx, WindowControl,
};
use fanin_core::units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Kinds of control packets. A NACK names the first number of a trimmed segment, a pull counts the pulls of its flow.
pub(super) const NACK: u8 = 1;
pub(super) const PULL: u8 = 2;

/// A flow that ends here.
#[derive(Clone, Copy, Debug, Default)]
struct Incoming {
    /// Bytes that have arrived.
    arrived: u64,
    /// Pulls that wait.
    waiting: u64,
    /// Pulls that were sent.
    pulled: u64,
    /// It has a turn.
    queued: bool,
}

/// The pulls of one host.
#[derive(Debug)]
pub(super) struct Receiver {
    /// Time of a full packet on the host's link.
    gap: Time,
    /// Bytes of a control packet.
    size: u16,
    flows: BTreeMap<FlowId, Incoming>,
    /// Flows with pulls, in turn.
    turns: VecDeque<FlowId>,
    /// When the next pull may leave.
    next: Time,
    /// A timer is set for then.
    timed: bool,
}

impl Receiver {
    pub(super) fn new(host: &NodeFacts, size: u16) -> Self {
        let gap = Time::from_ps(host.packet * host.rate.ps_per_byte().map_or(0, u64::from));
        Self { gap, size, flows: BTreeMap::new(), turns: VecDeque::new(), next: Time::ZERO, timed: false }
    }

    /// A packet of a flow has arrived, whole with `new` bytes or trimmed. Another is asked for, if one is missing of a transfer
    /// that ends before `end`.
    fn ask(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, new: u64, end: u64) {
        let state = self.flows.entry(flow).or_default();
        state.arrived += new;
        // READING: ND3
        let missing = end.saturating_sub(1 + state.arrived).div_ceil(cx.mss);
        state.waiting = (state.waiting + 1).min(missing);
        if state.waiting > 0 && !std::mem::replace(&mut state.queued, true) {
            self.turns.push_back(flow);
        }
        self.wait(cx);
    }

    /// The next pull leaves when its time has come, and behind the acknowledgement of what has arrived now: its sender then knows
    /// what is missing.
    fn wait(&mut self, cx: &mut ReceiverCx<'_>) {
        if !self.turns.is_empty() && !std::mem::replace(&mut self.timed, true) {
            cx.actions.push(ReceiverAction::Timer { at: self.next.max(cx.now), token: 0 });
        }
    }

    /// Sends the next pull, if its time has come.
    fn pull(&mut self, cx: &mut ReceiverCx<'_>) {
        while cx.now >= self.next
            && let Some(flow) = self.turns.pop_front()
        {
            let Some(state) = self.flows.get_mut(&flow) else { continue };
            state.queued = state.waiting > 1;
            if state.queued {
                self.turns.push_back(flow);
            }
            if state.waiting == 0 {
                continue;
            }
            state.waiting -= 1;
            state.pulled += 1;
            let packet = ControlPacket { kind: PULL, priority: 0, size: self.size, field: state.pulled };
            cx.actions.push(ReceiverAction::Control { flow, packet });
            self.next = cx.now + self.gap;
        }
        self.wait(cx);
    }
}

impl WindowControl for Receiver {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        if arrival.delivery.new_data > 0 {
            self.ask(cx, flow, arrival.delivery.new_data, arrival.field);
        }
    }
    fn on_trimmed(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, seq: u64, field: u64) {
        let packet = ControlPacket { kind: NACK, priority: 0, size: self.size, field: seq };
        cx.actions.push(ReceiverAction::Control { flow, packet });
        self.ask(cx, flow, 0, field);
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, _token: u64) {
        self.timed = false;
        self.pull(cx);
    }
    fn knows(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|state| state.waiting > 0)
    }
}
