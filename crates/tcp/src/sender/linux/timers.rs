//! The one timer of a sender (`icsk_retransmit_timer`), which runs for reordering, a tail loss probe or a retransmission, in
//! ticks and on the kernel's timer wheel.

use super::{CaState, Pending, tick};
use crate::sender::{Env, Sender, SenderIo, TimerOutcome};
use fanin_core::roles::EcnMode;
use fanin_core::units::Time;

/// `tcp_syn_linear_timeouts`: so many times a SYN is sent again before its timer doubles.
pub(in crate::sender) const SYN_LINEAR_TIMEOUTS: u32 = 4;
/// `TCP_TIMEOUT_MIN_US`, for probes and the search for losses.
const TIMEOUT_MIN: Time = Time::from_ms(2);

impl Sender {
    /// `inet_csk_reset_xmit_timer`
    fn reset_timer<I: SenderIo>(&mut self, why: Pending, ticks: u64, env: &mut Env<'_, I>) {
        let linux = self.linux();
        let (clock, begun, now) = (env.cfg.rto.ticks(), linux.tick_begun, env.now + linux.tick_begun);
        let at = clock.wheel(clock.at(now) + ticks, now, linux.on_wheel.saturating_add(begun)) - begun;
        linux.on_wheel = at;
        linux.pending = Some(why);
        linux.armed_at = env.now;
        self.arm(at, env);
    }

    /// The timer of a SYN that has just left.
    pub(in crate::sender) fn arm_syn<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let ticks = env.cfg.rto.ticks().in_span(self.syn_timer(env.cfg).min(env.cfg.rto.maximum));
        self.reset_timer(Pending::Retransmission, ticks, env);
    }

    /// `tcp_rearm_rto`
    pub(super) fn rearm_retransmission<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let linux = self.linux();
        if linux.board.packets_out() == 0 {
            linux.pending = None;
            self.deadline = Time::NEVER;
            return;
        }
        let mut ticks = linux.rtt.timeout(&env.cfg.rto);
        if matches!(linux.pending, Some(Pending::Reordering | Pending::Probe)) {
            ticks = env.cfg.rto.ticks().in_span(self.until_timeout(env)).max(1);
        }
        self.reset_timer(Pending::Retransmission, ticks, env);
    }

    /// Starts the retransmission timer anew, for its whole time.
    pub(super) fn restart_retransmission<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let ticks = self.linux().rtt.timeout(&env.cfg.rto);
        self.reset_timer(Pending::Retransmission, ticks, env);
    }

    /// `tcp_rto_delta_us`: until the first segment times out; nothing if it is overdue.
    fn until_timeout<I>(&mut self, env: &Env<'_, I>) -> Time {
        let linux = self.linux();
        let sent = linux.board.first().map_or(Time::ZERO, |first| Time::from_us(first.sent));
        (sent + linux.timeout(env.cfg)).saturating_sub(Time::from_us(env.now.us()))
    }

    /// `tcp_set_xmit_timer`
    pub(super) fn set_linux_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if !self.schedule_probe(true, env) {
            self.rearm_retransmission(env);
        }
    }

    /// `tcp_rack_mark_lost`, where segments may still be `wait` us late.
    pub(super) fn arm_search<I: SenderIo>(&mut self, wait: u64, env: &mut Env<'_, I>) {
        let most = self.linux().rtt.timeout(&env.cfg.rto);
        let ticks = env.cfg.rto.ticks().in_span(Time::from_us(wait) + TIMEOUT_MIN).min(most);
        self.reset_timer(Pending::Reordering, ticks, env);
    }

    /// `tcp_schedule_loss_probe`; `anew` if the retransmission timer would start anew too.
    pub(super) fn schedule_probe<I: SenderIo>(&mut self, anew: bool, env: &mut Env<'_, I>) -> bool {
        let cfg = &env.cfg.rto;
        let linux = self.linux();
        let packets = linux.board.packets_out();
        let probes = env.cfg.linux.is_some_and(|linux| linux.tail_loss_probe);
        if !probes || packets == 0 || !matches!(linux.state, CaState::Open | CaState::Cwr) {
            return false;
        }
        let wait = linux.rtt.eightfold().map_or(cfg.initial, |eightfold| {
            Time::from_us(eightfold >> 2) + if packets == 1 { cfg.minimum } else { TIMEOUT_MIN }
        });
        let mut ticks = cfg.ticks().in_span(wait);
        let until = if anew { linux.timeout(env.cfg) } else { self.until_timeout(env) };
        if until > Time::ZERO {
            ticks = ticks.min(cfg.ticks().in_span(until));
        }
        self.reset_timer(Pending::Probe, ticks, env);
        true
    }

    /// `tcp_write_timer_handler`
    pub(in crate::sender) fn on_linux_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        match self.linux().pending {
            Some(Pending::Reordering) => {
                self.on_search_timer(env);
                TimerOutcome::Reordering
            }
            Some(Pending::Probe) => {
                if self.send_probe(env) {
                    TimerOutcome::LossProbe
                } else {
                    TimerOutcome::Reordering
                }
            }
            Some(Pending::Retransmission) => {
                self.linux().pending = None;
                self.on_linux_timeout(env);
                TimerOutcome::Timeout
            }
            None => TimerOutcome::Idle,
        }
    }

    /// `tcp_send_loss_probe`. Returns whether one left.
    fn send_probe<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let mut sent = None;
        if self.linux().probe.is_none() {
            let len = self.packet.segment_of(env.cfg.mss).min(self.data_end.saturating_sub(self.nxt));
            if self.nxt < self.stream_end() && self.nxt + len <= self.peer_edge {
                if self.send_new(self.stream_end(), true, env) > 0 {
                    sent = Some(false);
                }
            } else if let Some(last) = self.linux().board.last().copied() {
                self.send_again(&last, false, env);
                sent = Some(true);
            }
        }
        if let Some(again) = sent {
            let nxt = self.nxt;
            let linux = self.linux();
            linux.probe = Some((nxt, again));
            // The timer of a retransmission starts anew behind a probe.
            linux.pending = None;
        }
        self.rearm_retransmission(env);
        sent.is_some()
    }

    /// `tcp_retransmit_timer`
    fn on_linux_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.enter_loss(env);
        let linux = self.linux();
        linux.retransmits += 1;
        if let Some(first) = linux.board.first().copied()
            && !self.paces_resend(first.len, env)
        {
            self.send_again(&first, true, env);
        }
        self.linux().rtt.back_off(&env.cfg.rto);
        self.restart_retransmission(env);
    }

    /// `tcp_enter_loss`
    fn enter_loss<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let (una, nxt, now) = (self.una, self.nxt, env.now.us());
        let (threshold, cwnd) = (self.current_threshold(env.cfg), self.segments(env.cfg));
        let linux = self.linux();
        let state = linux.state;
        // `tcp_timeout_mark_lost`: what was sent within a round trip is not lost yet.
        for index in 0..linux.board.packets_out() as usize {
            let sent = linux.board.get(index).sent;
            if (index == 0 || !linux.is_recent(sent, now)) && linux.board.mark_lost(index) {
                linux.lost += 1;
            }
        }
        let first =
            state <= CaState::Disorder || linux.high_seq <= una || state == CaState::Loss && linux.retransmits == 0;
        if first {
            linux.prior_ssthresh = Some(threshold);
            linux.prior_cwnd = cwnd;
            linux.init_undo(una);
        }
        let kept = self.window.ssthresh;
        let flight = self.in_flight().min(self.window.cwnd as u64);
        // It hears of each timeout, but only the first of an episode sets the threshold.
        let times = self.linux().retransmits + 1;
        let cut = self.with_cc_flight(flight, env, |cc, cx| cc.on_timeout(cx, times));
        self.window.ssthresh = if first || cut.cwnd.is_some() { cut.ssthresh } else { kept };
        self.owns_window = cut.cwnd.is_some();
        self.arm_wake(env);
        let in_flight = u64::from(self.linux().board.in_flight());
        match cut.cwnd {
            Some(own) => self.window.cwnd = own,
            None => self.set_segments(in_flight + 1, env.cfg),
        }
        self.cwr_pending = self.ecn != EcnMode::Off;
        let linux = self.linux();
        if state <= CaState::Disorder && linux.board.sacked_out >= env.cfg.duplicate_ack_threshold {
            linux.reordering = linux.reordering.min(env.cfg.duplicate_ack_threshold);
        }
        linux.state = CaState::Loss;
        linux.window_stamp = tick(env);
        linux.high_seq = nxt;
        linux.probe = None;
        linux.frto = state < CaState::Recovery || linux.retransmits > 0;
    }
}
