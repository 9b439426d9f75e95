//! Recovery from losses detected by time: RFC 8985 and its timers instead of RFC 6582 and RFC 6675.
//!
//! A sender with `loss-detection = rack` takes every acknowledgement, timer and chance to send here. Unlike without,
//! it never goes back: after a timeout the reports of the receiver stand, and only what is deemed lost goes again
//! (RFC 8985 section 6.3). What is reported or lost has left the pipe, so new segments follow the first reports as
//! RFC 3042 would let them.
//!
//! Left out: the undoing of a reduction that turns out needless (RFC 3522, RFC 5682), and DSACK (see `rack.rs`).

use super::timed::{Phase, Timed};
use super::{Env, InAck, Sender, SenderConfig, SenderIo};
use crate::prr::ProportionalReduction;
use crate::rack::{Losses, Reordering, Segment};
use fanin_core::packet::Flags;
use fanin_core::roles::EcnMode;
use fanin_core::units::Time;

impl Sender {
    pub(super) fn timed(&mut self) -> &mut Timed {
        self.timed.as_mut().expect("only senders that detect losses by time come here")
    }

    pub(super) fn reordering(&self, cfg: &SenderConfig) -> Reordering {
        let in_recovery = self.timed.as_ref().is_some_and(|timed| timed.phase != Phase::Open);
        Reordering { in_recovery, dup_thresh: cfg.duplicate_ack_threshold, srtt: self.srtt() }
    }

    /// An acceptable acknowledgement of an open connection.
    #[inline(never)]
    pub(super) fn on_rack_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        if self.push_is_only_a_request && ack.flags.has(Flags::PSH) {
            return self.on_rack_request(ack.window, env);
        }
        let outstanding = self.in_flight() - self.timed().rack.reported();
        let acked = ack.ack - self.una;
        let edge = ack.ack + ack.window;
        let bare = acked == 0 && ack.sack.is_none() && edge == self.peer_edge;
        self.una = ack.ack;
        self.nxt = self.nxt.max(self.una);
        self.peer_edge = edge;
        let original = ack.sack.is_none() && !ack.flags.has(Flags::RETRANSMITTED);
        let una = self.una;
        let delivered = self.timed().rack.on_ack(una, ack.sack, env.now, original);
        let rtt = ack.rtt.filter(|_| acked > 0).or(delivered.rtt);
        if self.sample(rtt, acked, env) {
            self.timed().probe.on_sample();
        }
        if acked > 0 || delivered.bytes > 0 {
            let in_recovery = self.in_recovery();
            self.tell_ack(acked, ack, rtt, in_recovery, env);
        }
        self.end_rack_recovery();
        if self.timed().probe.on_ack(una, bare) && self.timed().phase == Phase::Open {
            self.react_to_repaired_loss(env);
        }
        let requested = ack.flags.has(Flags::PSH) && self.nxt > self.una;
        let lost = self.search_losses(requested, outstanding, env);
        self.pace_recovery(delivered.bytes, acked > 0 && !lost, env.cfg);
        self.react_to_echo(ack, env);
        if acked > 0 && self.una == self.nxt {
            // RFC 6298 s5.2
            self.timed().stop_timers();
            self.deadline = Time::NEVER;
            if self.closing() && self.una == self.stream_end() {
                return self.finish(env);
            }
        } else if acked > 0 {
            self.restart_rack_timeout(env);
            self.schedule_probe(env);
        } else if self.timed().rack.has_reports() {
            // RFC 8985 s7.2: with reports there, RACK detects losses sooner.
            self.timed().probe_at = None;
        }
        self.rack_transmit(env);
    }

    /// A packet that requests the first segment and acknowledges nothing.
    fn on_rack_request<I: SenderIo>(&mut self, window: u64, env: &mut Env<'_, I>) {
        self.peer_edge = self.una + window;
        if self.nxt > self.una {
            let outstanding = self.in_flight() - self.timed().rack.reported();
            self.search_losses(true, outstanding, env);
            self.pace_recovery(0, false, env.cfg);
        }
        self.rack_transmit(env);
    }

    /// Everything that was outstanding when recovery began is acknowledged.
    fn end_rack_recovery(&mut self) {
        if self.una < self.recover {
            return;
        }
        if self.timed().phase == Phase::Recovery {
            // RFC 9937 s5: at the end of recovery the window is the threshold.
            self.window.cwnd = self.window.ssthresh;
        }
        self.timed().phase = Phase::Open;
    }

    /// RFC 8985 section 6.2 step 5, and what follows from it. Returns whether something is newly lost.
    pub(super) fn search_losses<I: SenderIo>(
        &mut self,
        requested: bool,
        outstanding: u64,
        env: &mut Env<'_, I>,
    ) -> bool {
        let by = self.reordering(env.cfg);
        let timed = self.timed();
        let mut losses: Losses = timed.rack.detect(&by, env.now);
        if requested && timed.phase == Phase::Open {
            // A receiver's request for the first segment (RCC).
            timed.rack.deem_first_lost();
            losses.any = true;
        }
        timed.search_at = losses.wait;
        // RFC 5681 s4.3: a lost retransmission is a second sign of congestion. After a timeout Linux takes it so.
        if losses.any && (timed.phase == Phase::Open || timed.phase == Phase::Timeout && losses.again) {
            self.enter_rack_recovery(outstanding, env);
        }
        losses.any
    }

    /// Fast recovery begins; `outstanding` was in flight before the acknowledgement that shows it.
    fn enter_rack_recovery<I: SenderIo>(&mut self, outstanding: u64, env: &mut Env<'_, I>) {
        self.reduce_for_loss(env);
        self.recover = self.nxt;
        let timed = self.timed();
        timed.phase = Phase::Recovery;
        timed.force = true;
        timed.probe.forget();
        timed.probe_at = None;
        timed.prr = ProportionalReduction::new(outstanding);
        self.window.cwnd = self.window.ssthresh;
    }

    /// The threshold after a loss.
    fn reduce_for_loss<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // RFC 5681 s3.2 step 2: segments that the first reports permit beyond the window do not count as outstanding.
        let flight = self.in_flight().min(self.window.cwnd as u64);
        self.window.ssthresh = self.with_cc_flight(flight, env, |cc, cx| cc.on_loss(cx));
        // RFC 3168 s6.1.2: one reduction a round trip, and CWR after any reduction.
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
        self.arm_wake(env);
    }

    /// RFC 8985 section 7.4.2: a probe repaired the only loss, which is congestion all the same.
    fn react_to_repaired_loss<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.reduce_for_loss(env);
        self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
    }

    /// In proportional recovery, RFC 9937 section 5: the window that permits what this acknowledgement allows.
    pub(super) fn pace_recovery(&mut self, delivered: u64, safe: bool, cfg: &SenderConfig) {
        let ssthresh = self.window.ssthresh;
        let timed = self.timed();
        if timed.phase != Phase::Recovery || !cfg.rack.is_some_and(|rack| rack.proportional) {
            return;
        }
        let pipe = timed.rack.pipe();
        let allowance = timed.prr.allowance(delivered, pipe, ssthresh, safe, cfg.mss);
        // With nothing in flight no acknowledgement would ever allow more.
        self.window.cwnd = (pipe + allowance).max(cfg.mss) as f64;
    }

    /// Sends what the windows allow: what is lost first, then new data.
    #[inline(never)]
    pub(super) fn rack_transmit<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let before = self.nxt;
        loop {
            let (window, peer) = (self.window.cwnd as u64, self.peer_edge.saturating_sub(self.una));
            let (segment, obeys_peer) = (self.packet.segment_of(env.cfg.mss), self.obeys_peer);
            let timed = self.timed();
            // A window below one segment would never let anything through: pacing is for that. In recovery it is
            // what the reduction allows.
            let window = match timed.in_recovery() {
                _ if obeys_peer => peer,
                true => window,
                false => window.max(segment),
            };
            let pipe = timed.rack.pipe();
            if let Some(lost) = timed.rack.first_lost() {
                let fits = timed.force || pipe + lost.len() <= window;
                if !fits || (self.is_shaped() && !self.may_leave(lost.len(), None, env)) {
                    break;
                }
                self.send_again(&lost, env);
                continue;
            }
            let len = segment.min(self.data_end.saturating_sub(self.nxt));
            let ended = self.nxt >= self.stream_end();
            if ended || self.nxt + len > self.peer_edge || pipe + len > window {
                break;
            }
            let room = (self.peer_edge - self.nxt).min(window - pipe);
            if self.is_shaped() && !self.may_leave(len, Some(room), env) {
                break;
            }
            self.send_new(len, env);
        }
        if self.nxt > before {
            self.probes = 0;
            if self.timed().timeout_at.is_none() {
                self.restart_rack_timeout(env);
            }
            self.schedule_probe(env);
        }
        self.arm_rack_timers(env);
    }

    pub(super) fn send_new<I: SenderIo>(&mut self, len: u64, env: &mut Env<'_, I>) {
        let start = self.nxt;
        self.transmit_next(len, env);
        let end = self.nxt;
        let timed = self.timed();
        timed.rack.on_sent(start, end, env.now);
        timed.prr.on_sent(end - start);
    }

    pub(super) fn send_again<I: SenderIo>(&mut self, segment: &Segment, env: &mut Env<'_, I>) {
        self.retransmit(segment.start, segment.len(), env);
        let una = self.una;
        let timed = self.timed();
        timed.force = false;
        timed.rack.on_sent_again(segment.end, env.now);
        timed.prr.on_sent(segment.len());
        if segment.start == una {
            // RFC 6675 s6: the first segment, retransmitted, has the full time of the timer.
            self.restart_rack_timeout(env);
        }
    }
}
