//! The sender: Algorithm 2 and Equations 1 to 5 and 15.

use super::bands::Tag;
use super::field::{Field, UNIT};
use super::oracle::Oracle;
use super::settings::{ClassRule, Direction, FlowCount, RttOf, SenderSettings, Transport};
use crate::{FlowFacts, NewReno};
use fanin_core::ids::FlowId;
use fanin_core::roles::{
    AckEvent, CongestionControl, Cut, Cwr, EcnMode, PacketFacts, SenderCx, TransferFacts, half_flight,
};
use fanin_core::units::Time;
use fanin_tcp::FIRST_DATA;
use std::sync::Arc;

/// Eq. 15 in packets, for a capacity in packets per second and a round-trip time in seconds.
///
/// READING: P5. The formula is negative below C RTT = 2 packets and imaginary below 7/8; both are taken as zero.
pub(super) fn ideal_threshold(capacity: f64, rtt: f64) -> f64 {
    (((8.0 * capacity * rtt - 7.0).max(0.0).sqrt() - 3.0) / 4.0).max(0.0)
}

/// Eq. 1: packets of this flow that wait in queues, given its window in packets.
///
/// READING: P1. Algorithm 2 line 12 has the opposite sign; a queue is not negative.
pub(super) fn queue_length(window: f64, rtt: Time, rtt_min: Time) -> f64 {
    if rtt == Time::ZERO { 0.0 } else { window * rtt.saturating_sub(rtt_min).secs() / rtt.secs() }
}

/// The sender of one flow.
pub(super) struct Sender {
    set: SenderSettings,
    flow: FlowId,
    /// First sequence number of the transfer, and its size. Each transfer on a connection is classified by itself.
    first: u64,
    bytes: Option<u64>,
    /// Rate of the sender's own link in packets per second.
    capacity: f64,
    oracle: Arc<Oracle>,
    /// The flow is counted in the oracle.
    counted: bool,
    long: bool,
    /// Largest window of the transfer so far, in bytes.
    max_window: f64,
    alpha: f64,
    bytes_acked: u64,
    bytes_marked: u64,
    rtt_min: Time,
    /// Round-trip time samples of the current observation window.
    rtt_sum: Time,
    rtt_count: u64,
    rtt_last: Option<Time>,
    /// Average of the queue estimate in packets (Eq. 4).
    average_queue: f64,
    /// What was sent before the last timeout.
    repair_end: u64,
    /// In packets; none while the flow is short or the number of flows is unknown.
    threshold: Option<f64>,
    /// The number of flows by which the queue's threshold was divided.
    divisor: f64,
    /// `N` and `M` of the narrowest port, from the echo of a packet that was sent as a long flow's.
    flows: u16,
    buffer: u16,
}

impl Sender {
    pub(super) fn new(set: SenderSettings, facts: &FlowFacts, oracle: Arc<Oracle>) -> Self {
        Self {
            set,
            flow: facts.flow,
            first: FIRST_DATA,
            bytes: facts.bytes,
            capacity: facts.rate.bps() as f64 / 8.0 / facts.packet as f64,
            oracle,
            counted: false,
            long: false,
            max_window: 0.0,
            alpha: set.alpha0,
            bytes_acked: 0,
            bytes_marked: 0,
            rtt_min: facts.idle_rtt.unwrap_or(Time::NEVER),
            rtt_sum: Time::ZERO,
            rtt_count: 0,
            rtt_last: None,
            average_queue: 0.0,
            repair_end: 0,
            threshold: None,
            divisor: 1.0,
            flows: 0,
            buffer: 0,
        }
    }

    /// `N`, if it is known.
    fn flow_count(&self) -> Option<f64> {
        match self.set.flows {
            FlowCount::Switch => (self.flows > 0).then_some(f64::from(self.flows)),
            FlowCount::Oracle => Some(f64::from(self.oracle.long_flows().max(1))),
            FlowCount::Const(flows) => Some(flows),
        }
    }

    /// The number of flows by which the queue's values are divided for this flow.
    ///
    /// READING: P4, P6, P20. The flows' thresholds add up to the queue's: `N K_t = Q` in Eq. 7, `K_u = M / N`.
    fn share(&self) -> Option<f64> {
        if self.set.scope.is_shared() { self.flow_count() } else { Some(1.0) }
    }

    /// The threshold in force, in packets.
    fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(self.set.initial / self.share().unwrap_or(1.0))
    }

    /// `K_i`, Algorithm 2 lines 7 to 9.
    ///
    /// READING: P33. It takes the shortest round-trip time, because Eq. 6 counts C RTT apart from the queue.
    fn ideal(&self) -> f64 {
        if self.set.ideal >= 0.0 {
            return self.set.ideal;
        }
        if self.rtt_min.is_never() { 0.0 } else { ideal_threshold(self.capacity, self.rtt_min.secs()) }
    }

    /// Algorithm 2, lines 1 to 6.
    fn is_long(&self, cx: &SenderCx<'_>) -> bool {
        let set = &self.set;
        // READING: P12. A long flow stays long. If it became short again, its new packets would overtake the earlier
        // ones.
        let window = if set.sticky { self.max_window } else { cx.window.cwnd } / cx.mss;
        let large = self.bytes.is_none_or(|bytes| bytes > set.long_size);
        match set.class {
            ClassRule::Text => large && window > set.long_window,
            ClassRule::Algorithm => {
                window >= set.long_window || cx.max_sent.saturating_sub(self.first) >= set.short_bytes
            }
            ClassRule::SizeOnly => large,
        }
    }

    fn classify(&mut self, cx: &mut SenderCx<'_>) {
        self.max_window = self.max_window.max(cx.window.cwnd);
        self.long = self.is_long(cx);
        let told = match self.set.transport {
            Transport::InBand if self.long => self.threshold,
            _ => None,
        };
        let tag = if self.long { Tag::Long } else { Tag::Short };
        *cx.packet = PacketFacts {
            field: Field::new(self.long, told).bits(),
            ect: self.long || self.set.ect_all,
            priority: tag.priority(),
            resend_priority: Some(Tag::Retransmission.priority()),
            ..*cx.packet
        };
        if self.set.flows == FlowCount::Oracle {
            let counts = self.long && cx.in_flight > 0;
            if counts != self.counted {
                self.counted = counts;
                self.oracle.count(counts);
            }
        }
    }

    /// Takes what the switches wrote, echoed by the receiver. The number of flows in a short flow's packet does not
    /// count this flow.
    fn hear(&mut self, bits: u64) {
        if let Some(field) = Field::read(bits).filter(|field| field.is_long()) {
            (self.flows, self.buffer) = (field.flows(), field.buffer());
        }
        self.take_share();
    }

    /// Sets the first threshold of a long flow, and a new one when the number of flows has changed.
    ///
    /// READING: P20. A flow takes its share once it is long and the number of flows includes it.
    /// READING: P4, P20. `N K_t = Q` in Eq. 7: when flows start or end, each flow's share of the queue's threshold
    /// changes but the sum does not. If the other flows kept their thresholds until Eq. 5 lowers them, six flows would
    /// have a sum of up to 20 (1 + 1/2 + ... + 1/6) = 49 packets.
    fn take_share(&mut self) {
        if !self.long || self.set.direction == Direction::Frozen {
            return;
        }
        let Some(share) = self.share() else { return };
        let highest = self.highest(share);
        match self.threshold {
            None => self.set_threshold((self.set.initial / share).min(highest)),
            Some(threshold) if self.set.rescale && share != self.divisor => {
                self.set_threshold((threshold * self.divisor / share).min(highest));
            }
            Some(_) => {}
        }
        self.divisor = share;
    }

    fn set_threshold(&mut self, packets: f64) {
        self.threshold = Some(packets);
        if self.set.transport == Transport::Oracle {
            self.oracle.tell(self.flow, packets);
        }
    }

    fn sample(&mut self, rtt: Time) {
        self.rtt_min = self.rtt_min.min(rtt);
        self.rtt_sum += rtt;
        self.rtt_count += 1;
        self.rtt_last = Some(rtt);
    }

    /// The "current" round-trip time of the window that ends.
    fn current_rtt(&self, cx: &SenderCx<'_>) -> Option<Time> {
        match self.set.rtt {
            RttOf::Mean if self.rtt_count > 0 => Some(Time::from_ps(self.rtt_sum.ps() / self.rtt_count)),
            RttOf::Smoothed | RttOf::Ns3 => cx.srtt,
            RttOf::Mean | RttOf::Last => self.rtt_last,
        }
    }

    /// Whether this acknowledgement reports congestion.
    fn is_marked(&self, cx: &SenderCx<'_>, ack: &AckEvent) -> bool {
        if self.set.transport != Transport::SenderMark {
            return ack.ece;
        }
        // READING: P9. Without a channel to the switch, the sender compares its own queue estimate with the threshold.
        let queue = ack.rtt.map(|rtt| queue_length(cx.window.cwnd / cx.mss, rtt, self.rtt_min));
        self.long && queue.is_some_and(|queue| queue > self.threshold())
    }

    /// Algorithm 2, lines 13 to 24, at the end of a window.
    fn manage_threshold(&mut self, cx: &SenderCx<'_>) {
        if let Some(rtt) = self.current_rtt(cx) {
            let queue = queue_length(cx.window.cwnd / cx.mss, rtt, self.rtt_min);
            // Eq. 4.
            self.average_queue = (1.0 - self.set.h) * self.average_queue + self.set.h * queue;
        }
        let sent_all = self.bytes.is_some_and(|bytes| cx.max_sent >= self.first + bytes);
        let (Some(threshold), Some(share)) = (self.threshold, self.share()) else { return };
        // READING: P32. Line 18 also requires an empty send buffer.
        if !self.long || (self.set.literal && !sent_all) {
            return;
        }
        let (queue, ideal, step) = (self.average_queue, self.ideal(), self.set.step / share);
        let (lowest, highest) = (self.set.lowest / share, self.highest(share));
        // Both limits apply in both directions, because the upper one falls when flows start.
        let down = (threshold - step).min(highest).max(lowest);
        let up = (threshold + step).max(lowest).min(highest);
        // READING: P6. Eq. 5 as printed has no step; by the order of its bounds the threshold falls while the queue is
        // long.
        let next = match self.set.direction {
            _ if queue == ideal => threshold,
            Direction::Frozen => threshold,
            Direction::Equation => {
                if queue > ideal {
                    down
                } else {
                    up
                }
            }
            Direction::Text => {
                if queue > ideal {
                    up
                } else {
                    down
                }
            }
            Direction::Noop => {
                if queue > ideal {
                    threshold.max(lowest)
                } else {
                    threshold.min(highest)
                }
            }
        };
        self.set_threshold(next);
    }

    /// `K_u`; infinite while `M` is unknown and no clip is set.
    ///
    /// READING: P7. `N K_u < M` is strict: a packet less than M, in whole sixteenths of a packet, so that N flows do
    /// not exceed it by rounding. The clip is a limit here too; without it a threshold would move on beyond the clip
    /// and return late.
    fn highest(&self, share: f64) -> f64 {
        let held = if self.buffer == 0 { f64::INFINITY } else { f64::from(self.buffer - 1) };
        let queue = held.min(self.set.highest);
        if queue.is_infinite() { queue } else { (queue / share * UNIT).floor() / UNIT }
    }

    /// Eq. 3 and Algorithm 2 line 27.
    fn cut(&self, cx: &mut SenderCx<'_>) {
        self.cut_by(cx, self.alpha);
    }

    fn reduced(&self, window: f64, share: f64) -> f64 {
        (window * (1.0 - share / 2.0)).max(self.set.min_window)
    }

    fn cut_by(&self, cx: &mut SenderCx<'_>, share: f64) {
        cx.window.cwnd = self.reduced(cx.window.cwnd, share);
        cx.window.ssthresh = cx.window.cwnd;
    }

    /// Algorithm 2 lines 28 to 31, for long flows and short ones.
    ///
    /// READING: P18. ns-3's own growth, which they copy, asks whether segments are acknowledged, and so leaves out the
    /// acknowledgement that repairs a timeout; the lines ask whether bytes are marked.
    fn grow_with_ack(&self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let repairs = cx.una >= self.repair_end && cx.una < self.repair_end + cx.mss as u64;
        if self.bytes_marked == 0 && !ack.in_recovery && (ack.window_limited || repairs) {
            cx.window.cwnd += (cx.mss * cx.mss / cx.window.cwnd).max(1.0);
        }
    }

    /// Whether the window is cut at the first ECN echo. A sender that marks for itself gets no echo.
    fn cuts_at_echo(&self) -> bool {
        self.set.first_echo && self.set.transport != Transport::SenderMark
    }

    /// At the end of a window: Eqs. 1 to 5, then Algorithm 2 lines 25 to 32.
    fn close_window(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let marked = self.bytes_marked as f64 / self.bytes_acked as f64;
        // Eq. 2.
        self.alpha = (1.0 - self.set.g) * self.alpha + self.set.g * marked;
        self.manage_threshold(cx);
        // READING: P18. Eq. 3 once per window, rather than line 27 for each acknowledgement. In recovery the loss has
        // reduced the window already.
        if marked > 0.0 {
            if !self.cuts_at_echo() && !self.set.cuts_each_ack {
                match ack.cwr {
                    Some(Cwr::Continues) => cx.window.ssthresh = self.reduced(cx.window.ssthresh, self.alpha),
                    Some(Cwr::Begins) => self.cut(cx),
                    None if !ack.in_recovery => self.cut(cx),
                    None => {}
                }
            }
        } else if !self.set.grows_each_ack
            && self.long
            && ack.window_limited
            && !ack.in_recovery
            && cx.window.cwnd >= cx.window.ssthresh
        {
            cx.window.cwnd += cx.mss;
        }
        (self.bytes_acked, self.bytes_marked) = (0, 0);
        (self.rtt_sum, self.rtt_count) = (Time::ZERO, 0);
    }
}

impl CongestionControl for Sender {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        (self.first, self.bytes, self.max_window) = (transfer.first, transfer.bytes, 0.0);
    }
    fn on_later_transfer(&mut self, cx: &mut SenderCx<'_>) {
        self.classify(cx);
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        if !self.set.slow_start {
            cx.window.ssthresh = cx.window.cwnd;
        }
        self.classify(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.hear(ack.field);
        let rtt = if self.set.rtt == RttOf::Ns3 { cx.srtt } else { ack.rtt };
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        if ack.acked == 0 {
            return;
        }
        self.bytes_acked += ack.acked;
        let marked = self.is_marked(cx, ack);
        if marked {
            self.bytes_marked += ack.acked;
            if !ack.in_recovery {
                // READING: P33. The first mark ends slow start.
                cx.window.ssthresh = cx.window.ssthresh.min(cx.window.cwnd);
            }
        }
        let slow_start = cx.window.cwnd < cx.window.ssthresh;
        if self.set.grows_each_ack && !slow_start {
            self.grow_with_ack(cx, ack);
        } else if (slow_start || !self.long) && !marked && !ack.in_recovery && ack.window_limited {
            NewReno::grow(cx, ack.acked);
        }
        if self.set.cuts_each_ack && self.bytes_marked > 0 && !ack.in_recovery {
            // Algorithm 2 lines 26 and 27.
            let marked = self.bytes_marked as f64 / self.bytes_acked as f64;
            self.cut_by(cx, marked);
        }
        if ack.ends_window {
            self.close_window(cx, ack);
        }
        self.classify(cx);
    }
    /// READING: P18. Cuts at the first echo as DCTCP does, or does nothing: by Eq. 3 the window is cut at the end of
    /// the window in which marks were counted.
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        if self.cuts_at_echo() {
            self.cut(cx);
        }
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.repair_end = cx.max_sent;
        Cut::to(if self.set.slow_start { half_flight(cx) } else { cx.mss })
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
        show("k-t", self.threshold());
        show("k-t-told", self.threshold.unwrap_or(0.0));
        show("k-i", self.ideal());
        show("l-qv", self.average_queue);
        show("long", f64::from(u8::from(self.long)));
    }
}

#[cfg(test)]
mod tests;
