//! The receiving host: grants to the shortest of its messages, RESENDs for what does not come, and control of incasts.

use super::levels::Levels;
use super::whole;
use fanin_core::ids::FlowId;
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, ControlPacket, Delivery, ReceiverAction, ReceiverCx, WindowControl,
};
use fanin_core::units::Time;
use fanin_tcp::FIRST_DATA;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Kinds of control packets. The field of a GRANT has one past the last number that is granted, and the priority in its low
/// byte; that of a RESEND the first number that is missing, and how many segments.
pub(super) const GRANT: u8 = 1;
pub(super) const RESEND: u8 = 2;
/// The largest number that fits.
const MOST: u64 = u64::MAX >> 8;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `RTTbytes`
    pub(super) ahead: u64,
    /// Messages that are granted to at once; 0 for the number of scheduled levels.
    pub(super) overcommitment: usize,
    pub(super) interval: Time,
    /// Outstanding requests beyond which there is an incast; 0 for none.
    pub(super) outstanding: u64,
    /// Bytes of a control packet.
    pub(super) size: u16,
}

/// The present message of a flow, or the next one.
#[derive(Clone, Debug)]
struct Message {
    /// Its first number, and one past its last; the same before it has begun.
    begin: u64,
    end: u64,
    /// Bytes that have arrived.
    arrived: u64,
    /// Next number expected, and where segments beyond that began.
    next: u64,
    beyond: BTreeSet<u64>,
    /// One past the last number that the sender may send.
    granted: u64,
    /// The last time that something arrived, was granted or was asked for again.
    heard: Time,
    /// A request asked for it.
    asked: bool,
    /// It may send one packet unasked, and its peer's window holds it until it has a grant.
    limited: bool,
}

impl Message {
    fn new() -> Self {
        Self {
            begin: FIRST_DATA,
            end: FIRST_DATA,
            arrived: 0,
            next: FIRST_DATA,
            beyond: BTreeSet::new(),
            granted: FIRST_DATA,
            heard: Time::ZERO,
            asked: false,
            limited: false,
        }
    }
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.begin.saturating_add(self.arrived))
    }
    /// Bytes that the sender may send and that have not arrived.
    fn expected(&self) -> u64 {
        self.granted.saturating_sub(self.begin.saturating_add(self.arrived))
    }
    /// The same, once the message has begun.
    fn incoming(&self) -> u64 {
        if self.end > self.begin { self.expected() } else { 0 }
    }
    fn take(&mut self, arrival: &Arrival, now: Time) {
        self.arrived = self.arrived.saturating_add(arrival.delivery.new_data);
        (self.next, self.heard) = (arrival.next, now);
        if arrival.delivery.out_of_order {
            self.beyond.insert(arrival.seq);
        }
        self.beyond = self.beyond.split_off(&self.next);
    }
    /// The first number that is missing, and the number of segments up to what has arrived or is granted.
    fn missing(&self, mss: u64) -> (u64, u64) {
        let to = self.beyond.first().copied().unwrap_or(self.granted);
        (self.next, to.saturating_sub(self.next).div_ceil(mss).clamp(1, 0xff))
    }
}

/// The messages that arrive at one host.
#[derive(Debug)]
pub(super) struct Receiver {
    rules: Rules,
    levels: Arc<Levels>,
    messages: BTreeMap<FlowId, Message>,
    /// Those with bytes to grant, the shortest first.
    waiting: BTreeSet<(u64, FlowId)>,
    /// Bytes that may be on their way, of messages that have begun.
    incoming: u64,
    /// Requests without their response.
    outstanding: u64,
    /// A timer is set.
    timed: bool,
}

fn control(flow: FlowId, kind: u8, size: u16, number: u64, low: u64) -> ReceiverAction {
    let field = number.min(MOST) << 8 | low;
    ReceiverAction::Control { flow, packet: ControlPacket { kind, priority: 0, size, field } }
}

/// Sets the timer for what may now be sent, unless it runs.
fn watch(timed: &mut bool, interval: Time, cx: &mut ReceiverCx<'_>) {
    if !std::mem::replace(timed, true) {
        cx.actions.push(ReceiverAction::Timer { at: cx.now + interval, token: 0 });
    }
}

impl Receiver {
    pub(super) fn new(mut rules: Rules, levels: Arc<Levels>) -> Self {
        if rules.overcommitment == 0 {
            rules.overcommitment = usize::from(levels.scheduled());
        }
        let (messages, waiting) = (BTreeMap::new(), BTreeSet::new());
        Self { rules, levels, messages, waiting, incoming: 0, outstanding: 0, timed: false }
    }

    /// Grants to the shortest messages what keeps `RTTbytes` of each on the way, and no more than as much for each of the
    /// overcommitment altogether. `flow` is about to be acknowledged.
    fn grant(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId) {
        let Rules { overcommitment, interval, size, .. } = self.rules;
        let ahead = whole(self.rules.ahead, cx.mss);
        let active: Vec<_> = self.waiting.iter().take(overcommitment).copied().collect();
        for (rank, (left, id)) in active.iter().enumerate() {
            // READING: HO3
            if self.incoming >= overcommitment as u64 * ahead {
                return;
            }
            let Some(message) = self.messages.get_mut(id) else { continue };
            let upto = message.begin.saturating_add(message.arrived).saturating_add(ahead).min(message.end);
            if upto <= message.granted {
                continue;
            }
            self.incoming += upto - message.granted;
            (message.granted, message.heard) = (upto, cx.now);
            watch(&mut self.timed, interval, cx);
            let level = self.levels.of(rank, active.len());
            cx.actions.push(control(*id, GRANT, size, upto, u64::from(level)));
            if std::mem::take(&mut message.limited) {
                cx.actions.push(ReceiverAction::Window { flow: *id, bytes: cx.most });
                if *id != flow {
                    cx.actions.push(ReceiverAction::Release { flow: *id, push: false });
                }
            }
            if upto == message.end {
                self.waiting.remove(&(*left, *id));
            }
        }
    }

    /// A message is complete, and with the end of its stream the last one of its flow.
    fn close(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, last: bool) {
        let Some(message) = self.messages.get_mut(&flow) else { return };
        self.outstanding -= u64::from(message.asked);
        if message.asked && self.rules.outstanding > 0 {
            // A window never shrinks (RFC 9293 s3.8.6), so that the next request can only open it.
            cx.actions.push(ReceiverAction::Window { flow, bytes: 0 });
        }
        self.incoming -= message.incoming();
        let end = message.end;
        *message = Message { begin: end, end, next: end, granted: end, ..Message::new() };
        if last {
            self.messages.remove(&flow);
        }
    }
}

impl WindowControl for Receiver {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_request(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId) -> AckDecision {
        let message = self.messages.entry(flow).or_insert_with(Message::new);
        if std::mem::replace(&mut message.asked, true) {
            return AckDecision::Send; // A repeated request.
        }
        self.outstanding += 1;
        message.limited = self.rules.outstanding > 0 && self.outstanding > self.rules.outstanding;
        // READING: HO5
        let (first, window) =
            if message.limited { (cx.mss, cx.mss) } else { (whole(self.rules.ahead, cx.mss), cx.most) };
        (message.granted, message.heard) = (message.begin + first, cx.now);
        cx.actions.push(ReceiverAction::Window { flow, bytes: window });
        watch(&mut self.timed, self.rules.interval, cx);
        AckDecision::Send
    }
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        let Delivery { new_data, finished, .. } = arrival.delivery;
        if new_data == 0 && !finished {
            return; // It repeats what has arrived, perhaps of a message before this one.
        }
        let message = self.messages.entry(flow).or_insert_with(Message::new);
        self.waiting.remove(&(message.left(), flow));
        if arrival.field > message.end && message.left() == 0 {
            message.end = arrival.field;
            if !message.asked {
                message.granted = message.begin.saturating_add(whole(self.rules.ahead, cx.mss));
            }
            message.granted = message.granted.min(message.end);
            self.incoming += message.incoming();
        }
        self.incoming -= message.incoming();
        message.take(arrival, cx.now);
        self.incoming += message.incoming();
        if message.left() == 0 || finished {
            self.close(cx, flow, finished);
        } else {
            if message.limited {
                cx.actions.push(ReceiverAction::Window { flow, bytes: 0 });
            }
            if message.granted < message.end {
                self.waiting.insert((message.left(), flow));
            }
            watch(&mut self.timed, self.rules.interval, cx);
        }
        self.grant(cx, flow);
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, _token: u64) {
        let Rules { interval, size, .. } = self.rules;
        let mut next = Time::NEVER;
        for (flow, message) in self.messages.iter_mut().filter(|(_, message)| message.expected() > 0) {
            if message.heard + interval <= cx.now {
                message.heard = cx.now;
                let (from, count) = message.missing(cx.mss);
                cx.actions.push(control(*flow, RESEND, size, from, count));
                if message.asked && message.left() > 0 {
                    // The acknowledgement with the window of its first grant may be lost.
                    cx.actions.push(ReceiverAction::Release { flow: *flow, push: false });
                }
            }
            next = next.min(message.heard + interval);
        }
        self.timed = !next.is_never();
        if self.timed {
            cx.actions.push(ReceiverAction::Timer { at: next, token: 0 });
        }
    }
    fn knows(&self, flow: FlowId) -> bool {
        self.messages.get(&flow).is_some_and(|message| message.asked || message.left() > 0)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("messages-waiting", self.waiting.len() as f64);
    }
}
