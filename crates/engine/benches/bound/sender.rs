//! The windows of the lower bound: NewReno or DCTCP in segments, without anything that a real sender guards against.

use super::{ACK_BYTES, DATA_BYTES, NEVER, Net, Packet, Ps, TIMEOUT};
use std::cmp::Reverse;

/// Segments that a receiver lets be outstanding.
const WINDOW: u32 = 256;

/// A sender of one response.
pub(super) struct Sender {
    una: u32,
    nxt: u32,
    max_sent: u32,
    end: u32,
    cwnd: f64,
    threshold: f64,
    deadline: Ps,
    /// The pending event of its timer.
    timer_at: Ps,
    flow: u32,
    duplicates: u32,
    /// The last round-trip time.
    rtt: Ps,
    /// Recovery lasts until all below is acknowledged.
    recover: u32,
    backoff: u32,
    in_recovery: bool,
    /// Fraction of marks, and what it is counted from, if it follows marks.
    dctcp: bool,
    alpha: f64,
    acked: u32,
    marked: u32,
    window_end: u32,
}

impl Sender {
    /// A sender that a timer starts.
    pub(super) fn new(flow: u32, end: u32, start: Ps, dctcp: bool) -> Self {
        Self {
            una: 0,
            nxt: 0,
            max_sent: 0,
            end,
            cwnd: 10.0,
            threshold: f64::INFINITY,
            deadline: start,
            timer_at: start,
            flow,
            duplicates: 0,
            rtt: 0,
            recover: 0,
            backoff: 0,
            in_recovery: false,
            dctcp,
            alpha: 1.0,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.una == self.end
    }

    #[inline(always)]
    fn transmit(&mut self, seq: u32, net: &mut Net) {
        let stamp = net.now;
        let packet = Packet { flow: self.flow, seq, size: DATA_BYTES, stamp, ..Packet::default() };
        net.send(6 * self.flow, &packet);
    }

    #[inline(always)]
    fn send(&mut self, net: &mut Net) {
        let edge = self.end.min(self.una + (self.cwnd as u32).min(WINDOW));
        while self.nxt < edge {
            self.transmit(self.nxt, net);
            self.nxt += 1;
        }
        self.max_sent = self.max_sent.max(self.nxt);
    }

    /// Deadlines move without an event, which looks anew when it comes.
    #[inline(always)]
    fn restart(&mut self, net: &mut Net) {
        self.deadline = net.now + (TIMEOUT.max(2 * self.rtt) << self.backoff);
        if self.deadline < self.timer_at {
            self.timer_at = self.deadline;
            net.timers.push(Reverse((self.deadline, self.flow)));
        }
    }

    #[inline(always)]
    pub(super) fn on_ack(&mut self, ack: &Packet, net: &mut Net) {
        if ack.seq > self.una {
            self.on_new_ack(ack, net);
        } else if ack.seq == self.una && self.nxt > self.una {
            self.on_duplicate(net);
        }
        self.send(net);
    }

    #[inline(always)]
    fn on_new_ack(&mut self, ack: &Packet, net: &mut Net) {
        let acked = ack.seq - self.una;
        self.una = ack.seq;
        self.rtt = net.now - ack.stamp;
        self.nxt = self.nxt.max(self.una);
        (self.duplicates, self.backoff) = (0, 0);
        if self.dctcp {
            self.follow_marks(acked, ack.marked);
        }
        if self.in_recovery && self.una < self.recover {
            self.cwnd = (self.cwnd - f64::from(acked) + 1.0).max(1.0);
            self.transmit(self.una, net);
        } else if self.in_recovery {
            (self.in_recovery, self.cwnd) = (false, self.threshold);
        } else if self.cwnd < self.threshold {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
        if self.una == self.end {
            self.deadline = NEVER;
        } else {
            self.restart(net);
        }
    }

    #[inline(always)]
    fn follow_marks(&mut self, acked: u32, marked: bool) {
        self.acked += acked;
        self.marked += if marked { acked } else { 0 };
        if self.una > self.window_end {
            let fraction = f64::from(self.marked) / f64::from(self.acked);
            self.alpha += (fraction - self.alpha) / 16.0;
            if self.marked > 0 && !self.in_recovery {
                self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(2.0);
                self.threshold = self.cwnd;
            }
            (self.acked, self.marked, self.window_end) = (0, 0, self.nxt);
        }
    }

    fn on_duplicate(&mut self, net: &mut Net) {
        self.duplicates += 1;
        if self.in_recovery {
            self.cwnd += 1.0;
        } else if self.duplicates == 3 && self.una >= self.recover {
            self.threshold = (f64::from(self.nxt - self.una) / 2.0).max(2.0);
            self.cwnd = self.threshold + 3.0;
            (self.in_recovery, self.recover) = (true, self.max_sent);
            self.transmit(self.una, net);
            self.restart(net);
        }
    }

    /// The start, a timeout, or a deadline that has moved.
    #[cold]
    pub(super) fn on_timer(&mut self, net: &mut Net) {
        if self.timer_at != net.now {
            return; // Another event has taken its place.
        }
        self.timer_at = NEVER;
        if self.deadline == NEVER {
            return;
        }
        if self.deadline > net.now {
            self.timer_at = self.deadline;
            net.timers.push(Reverse((self.deadline, self.flow)));
            return;
        }
        if self.nxt > 0 {
            self.threshold = (f64::from(self.nxt - self.una) / 2.0).max(2.0);
            (self.cwnd, self.nxt) = (1.0, self.una);
            (self.recover, self.in_recovery, self.duplicates) = (self.max_sent, false, 0);
            self.backoff = (self.backoff + 1).min(6);
        }
        self.send(net);
        self.restart(net);
    }
}

/// The receiver of one response.
#[derive(Clone, Default)]
pub(super) struct Receiver {
    next: u32,
    /// Segments beyond a hole, a bit for each number modulo [`WINDOW`].
    beyond: [u64; WINDOW as usize / 64],
}

impl Receiver {
    #[inline(always)]
    fn bit(seq: u32) -> (usize, u64) {
        ((seq % WINDOW / 64) as usize, 1 << (seq % 64))
    }

    #[inline(always)]
    pub(super) fn on_segment(&mut self, segment: &Packet, net: &mut Net) {
        let (word, bit) = Self::bit(segment.seq);
        if segment.seq == self.next {
            self.next += 1;
            loop {
                let (word, bit) = Self::bit(self.next);
                if self.beyond[word] & bit == 0 {
                    break;
                }
                self.beyond[word] &= !bit;
                self.next += 1;
            }
        } else if segment.seq > self.next {
            self.beyond[word] |= bit;
        }
        let ack = Packet { seq: self.next, size: ACK_BYTES, ack: true, ..*segment };
        net.send(6 * segment.flow + 3, &ack);
    }
}
