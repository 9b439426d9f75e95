//! What Linux had before RACK, beside the recovery of RFC 6675: tail loss probes, early retransmit, and losses by forward
//! acknowledgement (FACK). After Linux 3.16, `net/ipv4/tcp_output.c` and `tcp_input.c`; its names are in the comments.
//!
//! Simpler than Linux: a probe's rest of the retransmission timer counts from when that timer was started, and not from when
//! the first segment left; timers end between ticks; the window falls at once in a recovery, not in steps (PRR); a reduction is
//! undone by DSACKs only, and that of a timeout never (no F-RTO); a lost retransmission waits for the timer; and reordering
//! changes nothing. What a kernel of today shows of these rules: docs/validation/linux.md.

use super::{Env, Growth, InAck, Recovery, Sender, SenderConfig, SenderIo, TimerOutcome};
use crate::sack::{SackBlocks, segment_start};
use fanin_core::packet::Flags;
use fanin_core::roles::CongestionWindow;
use fanin_core::units::Time;

/// The least wait for a probe.
const PROBE_LEAST: Time = Time::from_ms(10);
/// `TCP_DELACK_MAX`: how long the acknowledgement of a lone segment may take.
const ACK_DELAY_MOST: Time = Time::from_ms(200);
/// The least wait of an early retransmit, in which reordered segments may arrive.
const EARLY_LEAST: Time = Time::from_ms(2);
/// With so many segments outstanding three duplicates may come, and nothing is early.
const MANY: u64 = 4;

/// What the one timer of a sender runs for: `icsk_pending`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pending {
    /// A retransmission.
    #[default]
    Retransmission,
    /// A tail loss probe.
    Probe,
    /// An early retransmit.
    Early,
}

/// The state of probes, early retransmits and undoing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    pending: Pending,
    /// When the retransmission timer expires, or would without a probe.
    timeout_at: Time,
    /// `tlp_high_seq`: what had been sent when the last segment was sent again as a probe.
    probed: Option<u64>,
    undo: Option<Undo>,
}

/// What takes back the last reduction of the window for a loss, if all that it sent again turns out to be needless.
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// `undo_marker`: the first number that was outstanding.
    from: u64,
    before: CongestionWindow,
    /// `undo_retrans`, as the count of retransmissions at which it is zero.
    retransmissions: u64,
}

impl Tail {
    /// The retransmission timer runs until `at`.
    #[inline]
    pub(super) fn restart(&mut self, at: Time) {
        (self.pending, self.timeout_at) = (Pending::Retransmission, at);
    }

    /// When the retransmission timer expires.
    pub(super) fn timeout_at(&self) -> Time {
        self.timeout_at
    }
}

impl Sender {
    /// `tcp_process_tlp_ack`, before the acknowledgement is taken: whether the probe has repaired a loss, which the window
    /// then pays for.
    pub(super) fn judge_probe<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        let Some(high) = self.tail.as_ref().and_then(|tail| tail.probed) else { return };
        let reports = ack.sack().is_some_and(|sack| !sack.as_slice().is_empty());
        let needless = ack.ack == high && ack.ack == self.una && !reports;
        if !needless && ack.ack <= high {
            return;
        }
        self.end_probe();
        if !needless && ack.sack().and_then(SackBlocks::dsack).is_none() {
            self.ask_for_loss(self.in_flight(), env);
            if !self.owns_window {
                self.window.cwnd = self.window.ssthresh;
            }
            self.cut_fractions(env.cfg);
            self.end_echoes(env.cfg);
            self.arm_wake(env);
        }
    }

    /// `tcp_init_undo`, where a recovery begins: before it changes the window.
    pub(super) fn note_reduction(&mut self) {
        let (from, before, retransmissions) = (self.una, self.window, self.retransmissions);
        if let Some(tail) = &mut self.tail {
            tail.undo = Some(Undo { from, before, retransmissions });
        }
    }

    /// `tcp_check_dsack`, before the acknowledgement is taken: whether it reports a retransmission as needless.
    pub(super) fn count_needless(&mut self, ack: &InAck<'_>) {
        let Some(tail) = &mut self.tail else { return };
        if ack.flags.has(Flags::ECE) {
            tail.undo = None; // The reduction is due in any case.
        }
        if let Some(((_, end), undo)) = ack.sack().and_then(SackBlocks::dsack).zip(tail.undo.as_mut())
            && end > undo.from
            && end <= self.una
        {
            undo.retransmissions += 1;
        }
    }

    /// `tcp_try_undo_dsack`: all retransmissions were needless, so nothing was lost, and the window is what it was.
    pub(super) fn undo_needless(&mut self) {
        let Some(tail) = &mut self.tail else { return };
        let all = |undo: &Undo| undo.retransmissions == self.retransmissions && self.una > undo.from;
        if let Some(undo) = tail.undo.take_if(|undo| all(undo)) {
            self.window.cwnd = self.window.cwnd.max(undo.before.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(undo.before.ssthresh);
            self.leave_recovery();
        }
    }

    pub(super) fn end_probe(&mut self) {
        if let Some(tail) = &mut self.tail {
            tail.probed = None;
        }
    }

    /// Starts the timer anew behind what has just been acknowledged or sent: `tcp_schedule_loss_probe`.
    pub(super) fn schedule_probe_before_rack<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let Some(mut tail) = self.tail else { return };
        if tail.pending == Pending::Early || self.deadline.is_never() || self.nxt == self.una {
            return;
        }
        let srtt = self.estimator.srtt().filter(|_| env.cfg.before_rack.is_some_and(|cfg| cfg.tail_loss_probe));
        let at = match srtt {
            Some(srtt) if self.is_open() && !self.has_more_to_send(env.cfg) => {
                let lone = self.segments_out(env.cfg) == 1;
                let wait = (srtt * 2).max(PROBE_LEAST);
                let wait = if lone { wait.max(Time::from_ps(srtt.ps() * 3 / 2) + ACK_DELAY_MOST) } else { wait };
                tail.pending = Pending::Probe;
                env.now.saturating_add(wait).min(tail.timeout_at)
            }
            _ => {
                tail.pending = Pending::Retransmission;
                tail.timeout_at
            }
        };
        self.tail = Some(tail);
        if at != self.deadline {
            self.arm(at.max(env.now), env);
        }
    }

    /// Whether nothing is known to be missing or was reduced lately: state Open.
    fn is_open(&self) -> bool {
        let reported = self.scoreboard.as_ref().is_some_and(|board| !board.is_empty());
        let reduced = self.growth == Growth::AfterEcho && self.una <= self.cwr_end;
        self.recovery == Recovery::Open && self.una >= self.recover && !reported && !reduced
    }

    /// Whether the congestion window would let new data go that wait, for the receiver's window or below the sender.
    fn has_more_to_send(&self, cfg: &SenderConfig) -> bool {
        self.nxt < self.stream_end() && (self.window.cwnd as u64) / cfg.mss > self.segments_out(cfg)
    }

    /// `packets_out`
    fn segments_out(&self, cfg: &SenderConfig) -> u64 {
        self.in_flight().div_ceil(cfg.mss)
    }

    /// A duplicate that shows no loss by itself. RFC 5827 with a delay: `tcp_time_to_recover`, `tcp_pause_early_retransmit`.
    pub(super) fn consider_early_retransmit<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) {
        let Some(tail) = self.tail else { return };
        let reported = self.scoreboard.as_ref().is_some_and(|board| !board.is_empty());
        let few = self.in_flight().div_ceil(env.cfg.mss) < MANY;
        let waiting = self.nxt < self.stream_end() && self.nxt < self.peer_edge;
        if !reported || !few || waiting || self.una < self.recover || self.recovery != Recovery::Open {
            return;
        }
        let echo = ack.flags.has(Flags::ECE);
        let wait = self.estimator.srtt().map(|srtt| Time::from_ps(srtt.ps() / 4).max(EARLY_LEAST));
        match wait.map(|wait| env.now.saturating_add(wait)).filter(|at| !echo && *at < tail.timeout_at) {
            Some(at) => {
                self.tail = Some(Tail { pending: Pending::Early, ..tail });
                self.arm(at, env);
            }
            None => self.enter_recovery(env),
        }
    }

    /// The timer expired. Returns what it did, unless it is that of a retransmission.
    pub(super) fn on_timer_before_rack<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> Option<TimerOutcome> {
        let pending = self.tail.as_mut().map(|tail| std::mem::take(&mut tail.pending))?;
        match pending {
            Pending::Retransmission => {
                // `tcp_retransmit_timer`
                self.end_probe();
                if let Some(tail) = &mut self.tail {
                    tail.undo = None;
                }
                None
            }
            Pending::Probe => Some(self.send_probe_before_rack(env)),
            Pending::Early => {
                // `tcp_resume_early_retransmit`
                self.restart_timer(env);
                self.enter_recovery(env);
                Some(TimerOutcome::Reordering)
            }
        }
    }

    /// `tcp_send_loss_probe`: new data whatever the congestion window, or else the last segment again, once.
    fn send_probe_before_rack<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        let mut sent = false;
        if self.nxt < self.stream_end() {
            let len = self.packet.segment_of(env.cfg.mss).min(self.data_end.saturating_sub(self.nxt));
            if self.nxt + len <= self.peer_edge {
                self.transmit_next(len, env);
                sent = true;
            }
        } else if self.tail.is_some_and(|tail| tail.probed.is_none()) {
            let fin = self.closing().then_some(self.data_end);
            let seq = segment_start(self.max_sent - 1, fin, env.cfg.mss).max(self.una);
            self.retransmit(seq, self.max_sent - seq, env);
            if let Some(tail) = &mut self.tail {
                tail.probed = Some(self.nxt);
            }
            sent = true;
        }
        self.restart_timer(env);
        if sent { TimerOutcome::LossProbe } else { TimerOutcome::Reordering }
    }

    /// After a timeout, until all is acknowledged that was sent before it (`tcp_enter_loss`, state Loss): what the receiver
    /// has reported is neither in flight nor sent again.
    #[inline(never)]
    pub(super) fn send_after_timeout_before_rack<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let before = self.nxt;
        while self.nxt < self.stream_end() {
            let Some(board) = &self.scoreboard else { break };
            let reported = board.reported().range_at_or_above(self.nxt);
            if let Some(range) = reported.filter(|range| range.start <= self.nxt) {
                self.nxt = range.end;
                continue;
            }
            let hole = reported.map_or(u64::MAX, |range| range.start - self.nxt);
            let len = self.packet.segment_of(env.cfg.mss).min(self.data_end.saturating_sub(self.nxt)).min(hole);
            let flight = board.unreported(self.una, self.nxt);
            if flight + len > self.window.cwnd as u64 || self.nxt + len > self.peer_edge {
                break;
            }
            if self.is_shaped() && !self.may_leave(len, Some(self.window.cwnd as u64 - flight), env) {
                break;
            }
            self.transmit_next(len, env);
        }
        self.end_sending(before, env);
    }

    /// The end of an event that may have sent something.
    #[inline(always)]
    pub(super) fn after_sending<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.tail.is_some() {
            self.schedule_probe_before_rack(env);
        }
    }
}
