//! Whose turn it is: acknowledgements that wait and leave, and the timers that start with them.

use super::ack_list::Entry;
use super::host::Host;
use super::rules::{Arm, MarkAction};
use super::timers::{ALARM, ASK, call};
use super::timing::Expiry;
use crate::roles::{ReceiverAction, ReceiverCx};
use crate::tcp::FIRST_DATA;
use crate::units::Time;

impl Host {
    /// One past the last byte that an acknowledgement of the flow would let out now.
    fn edge(&self, cx: &ReceiverCx<'_>, slot: u32) -> u64 {
        let flow = &self.flows[slot as usize];
        flow.next + flow.window.bytes().min(cx.most)
    }

    /// Puts an acknowledgement into the list and lets go what may. Returns whether it leaves at once and past the
    /// list, because it lets nothing new out.
    pub(super) fn signal(&mut self, cx: &mut ReceiverCx<'_>, slot: u32, push: bool) -> bool {
        let again = push || self.flows[slot as usize].repeats;
        let skipped = self.unlist(slot);
        // READING: R8 what was granted before is counted in flight already. If it had to wait for others to arrive, a
        // burst of lost acknowledgements could stop the host for good.
        if !self.rules.scheduler
            || (again && !self.rules.repeats_wait && !self.flows[slot as usize].grant.is_below(self.edge(cx, slot)))
        {
            self.on_sent(cx, slot);
            if self.rules.timer.arm == Arm::OnQueue {
                // RCCE, Algorithm 3, line 6: what comes of a request, or of data that came twice, is waited for too.
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

    /// Lets acknowledgements go while fewer segments than `queue_max` are in flight.
    pub(super) fn release(&mut self, cx: &mut ReceiverCx<'_>) {
        // READING: E3 RCC's code compares strictly; RCCE's Algorithm 2, line 6, lets one more out.
        let limit = self.rules.queue_max + u64::from(self.rules.release_at_most);
        while self.flight.segments() < limit {
            let Some(entry) = self.list.pop() else { return };
            self.flows[entry.flow as usize].listed = false;
            self.on_sent(cx, entry.flow);
            let flow = self.flows[entry.flow as usize].id;
            cx.actions.push(ReceiverAction::Release { flow, push: entry.push });
        }
    }

    /// An acknowledgement of a flow leaves.
    fn on_sent(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let edge = self.edge(cx, slot);
        let flow = &mut self.flows[slot as usize];
        self.flight.on_granted(&mut flow.grant, edge);
        // An answer takes its server's time besides the network's.
        if !flow.window.in_recovery() && !flow.asked {
            flow.rtt.on_ack_sent(flow.next, edge - flow.next, self.facts.mss, cx.now);
        }
        if self.rules.timer.arm == Arm::OnRelease {
            self.arm(cx, slot);
        }
    }

    /// Starts the timer of a flow: not before its first data, and a loss in recovery is left to the sender's. A lost
    /// request is repeated by the host that has sent it.
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
                // READING: R9 the authors' delay looks random but is the clock's last digit; RCCE's text has none.
                let digit = if self.rules.timer.waits { cx.now.ps() / 1000 % 10 } else { 0 };
                flow.ask_at = cx.now.saturating_add(flow.rtt.mean() * digit);
                let at = flow.ask_at;
                self.set_window(cx, slot);
                if digit == 0 { self.ask(cx, slot) } else { call(cx, slot, ASK, at) }
            }
        }
    }

    /// Asks the sender to repeat the first segment that is missing.
    pub(super) fn ask(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        self.flows[slot as usize].ask_at = Time::NEVER;
        if self.signal(cx, slot, true) {
            let flow = self.flows[slot as usize].id;
            cx.actions.push(ReceiverAction::Release { flow, push: true });
        }
    }

    /// A period in which something marked arrived is over.
    pub(super) fn on_period(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        if let Some(factor) = flow.marks.on_end(flow.rtt.mean(), cx.now) {
            flow.window.scale(factor);
            // READING: E23 section V.B lets windows grow by a segment a round trip after a mark.
            if self.rules.marks.action == MarkAction::Avoidance {
                flow.window.end_slow_start();
            }
            self.set_window(cx, slot);
        }
    }
}
