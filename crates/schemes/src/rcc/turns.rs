//! Queues and releases acknowledgements, and starts the receiver's timers with them.

use super::ack_list::Entry;
use super::host::Host;
use super::rules::{Arm, MarkAction};
use super::timers::{ALARM, ASK, call};
use super::timing::Expiry;
use fanin_core::roles::{ReceiverAction, ReceiverCx};
use fanin_core::units::Time;
use fanin_tcp::FIRST_DATA;

impl Host {
    /// One past the last byte that an acknowledgement of the flow would grant now.
    fn edge(&self, cx: &ReceiverCx<'_>, slot: u32) -> u64 {
        let flow = &self.flows[slot as usize];
        flow.next + flow.window.bytes().min(cx.most)
    }

    /// Queues an acknowledgement and releases what may be sent. Returns whether this one is sent at once, bypassing the
    /// list, because it grants nothing new.
    pub(super) fn signal(&mut self, cx: &mut ReceiverCx<'_>, slot: u32, push: bool) -> bool {
        let again = push || self.flows[slot as usize].repeats;
        let skipped = self.unlist(slot);
        // READING: R8 what it grants was counted as in flight before. If it waited for that to arrive, a burst of lost
        // acknowledgements could stop the host forever.
        if !self.rules.scheduler
            || (again && !self.rules.repeats_wait && !self.flows[slot as usize].grant.is_below(self.edge(cx, slot)))
        {
            self.on_sent(cx, slot);
            if self.rules.timer.arm == Arm::OnQueue {
                // RCCE, Algorithm 3, line 6: the timer also runs for acknowledgements of duplicates and for requests.
                self.arm(cx, slot);
            }
            return true;
        }
        let flow = &mut self.flows[slot as usize];
        flow.listed = true;
        let entry = Entry {
            flow: slot,
            cap: flow.cap,
            skipped: skipped + if push { self.rules.push_bonus } else { 0 },
            push,
            remaining: flow.remaining.unwrap_or(u64::MAX),
        };
        self.list.insert(entry, self.rules.priority);
        if self.rules.timer.arm == Arm::OnQueue {
            self.arm(cx, slot);
        }
        self.release(cx);
        false
    }

    /// Releases acknowledgements while fewer than `queue_max` segments are in flight.
    pub(super) fn release(&mut self, cx: &mut ReceiverCx<'_>) {
        // READING: E3 RCC's code compares strictly; RCCE's Algorithm 2, line 6, allows one segment more.
        let limit = self.rules.queue_max + u64::from(self.rules.release_at_most);
        while self.flight.segments() < limit {
            let Some(entry) = self.list.pop() else { return };
            self.flows[entry.flow as usize].listed = false;
            self.on_sent(cx, entry.flow);
            let flow = self.flows[entry.flow as usize].id;
            cx.actions.push(ReceiverAction::Release { flow, push: entry.push });
        }
    }

    /// An acknowledgement of a flow is sent.
    fn on_sent(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let edge = self.edge(cx, slot);
        let flow = &mut self.flows[slot as usize];
        self.flight.on_granted(&mut flow.grant, edge);
        // The first sample of a response would include the server's think time.
        if !flow.window.in_recovery() && !flow.asked {
            flow.rtt.on_ack_sent(flow.next, edge - flow.next, self.facts.mss, cx.now);
        }
        if self.rules.timer.arm == Arm::OnRelease {
            self.arm(cx, slot);
        }
    }

    /// Starts the timer of a flow, but not before its first data and not in recovery, where the sender's timer covers
    /// losses. A lost request is retransmitted by the client's own sender.
    fn arm(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let timer = self.rules.timer;
        let flow = &mut self.flows[slot as usize];
        if flow.next == FIRST_DATA || flow.asked || flow.window.in_recovery() || !flow.patience.on_ack_sent(flow.next) {
            return;
        }
        let wait = flow.rtt.timeout(timer.step).max(timer.minimum) * flow.patience.factor();
        if let Some(at) = flow.alarm.set(cx.now.saturating_add(wait)) {
            call(cx, slot, ALARM, at);
        }
    }

    /// An event of a flow's retransmission timer.
    pub(super) fn on_alarm(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        match flow.alarm.on_event(cx.now) {
            Expiry::Not(None) => {}
            Expiry::Not(Some(at)) => call(cx, slot, ALARM, at),
            Expiry::Now => {
                flow.window.on_timeout();
                flow.patience.double();
                // READING: R9 the authors' code delays the request by the clock's last digit, perhaps meant as random;
                // RCCE's text has no delay.
                let digit = if self.rules.timer.waits { cx.now.ps() / 1000 % 10 } else { 0 };
                flow.ask_at = cx.now.saturating_add(flow.rtt.mean() * digit);
                let at = flow.ask_at;
                self.set_window(cx, slot);
                if digit == 0 { self.ask(cx, slot) } else { call(cx, slot, ASK, at) }
            }
        }
    }

    /// Requests the retransmission of the first missing segment.
    pub(super) fn ask(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        self.flows[slot as usize].ask_at = Time::NEVER;
        if self.signal(cx, slot, true) {
            let flow = self.flows[slot as usize].id;
            cx.actions.push(ReceiverAction::Release { flow, push: true });
        }
    }

    /// A period with marked segments has ended.
    pub(super) fn on_period(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        if let Some(factor) = flow.marks.on_end(flow.rtt.mean(), cx.now) {
            flow.window.scale(factor);
            // READING: E23 in RCCE's section V.B windows grow by a segment per round trip after a mark.
            if self.rules.marks.action == MarkAction::Avoidance {
                flow.window.end_slow_start();
            }
            self.set_window(cx, slot);
        }
    }
}
