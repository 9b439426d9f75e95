//! Loss by duplicate acknowledgements and by timeout: NewReno's recovery (RFC 6582), limited transmit (RFC 3042), and
//! what a retransmission timeout does to the windows (RFC 5681, RFC 6298).

use super::quirks::LossRecovery;
use super::{Env, Growth, Recovery, Sender, SenderConfig, SenderIo, TimerOutcome};
use fanin_core::roles::EcnMode;

impl Sender {
    pub(super) fn on_duplicate<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.asks.repairs {
            return;
        }
        if env.cfg.quirks.repairs_as_ns3_44() {
            return self.on_duplicate_as_ns3_44(env);
        }
        self.dup_acks += 1;
        if self.shows_loss(env.cfg) {
            self.enter_recovery(env);
        } else if env.cfg.limited_transmit && self.dup_acks <= 2 {
            self.limited_transmit(env);
        }
    }

    /// Whether the duplicates so far say that the first segment is lost.
    fn shows_loss(&self, cfg: &SenderConfig) -> bool {
        let enough = self.dup_acks >= cfg.duplicate_ack_threshold;
        match &self.scoreboard {
            // RFC 6675 s5.1: no new recovery before everything sent at the last timeout is acknowledged.
            Some(board) => self.una >= self.recover && (enough || board.is_lost(self.una, &cfg.sack_config())),
            // RFC 6582 s3.2 step 2: the acknowledgement must cover more than `recover`.
            None => enough && (self.una > self.recover || cfg.quirks.recovery == LossRecovery::Ns3_18),
        }
    }

    /// What a fast retransmit halves: `FlightSize` (RFC 5681 equation 4), without what limited transmit has sent (section
    /// 3.2 step 2).
    fn flight_at_loss(&mut self, cfg: &SenderConfig) -> u64 {
        let limited = std::mem::take(&mut self.limited_bytes);
        match cfg.quirks.recovery {
            LossRecovery::Rfc => self.in_flight() - limited,
            LossRecovery::Ns3_18 => self.max_sent - self.una,
            LossRecovery::Ns3_44 => self.pipe_at_loss(cfg),
        }
    }

    /// What a timeout halves: `FlightSize` (RFC 5681 equation 4).
    fn flight_at_timeout(&self, cfg: &SenderConfig) -> u64 {
        match cfg.quirks.recovery {
            LossRecovery::Rfc => self.in_flight(),
            LossRecovery::Ns3_18 => self.max_sent - self.una,
            LossRecovery::Ns3_44 => self.pipe_at_timeout(),
        }
    }

    /// RFC 3042: one new segment if the peer's window allows it and no more than two beyond the own window.
    fn limited_transmit<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        let room = self.window.cwnd as u64 + 2 * env.cfg.mss;
        if self.nxt == self.max_sent && len > 0 && self.nxt + len <= self.peer_edge && self.in_flight() + len <= room {
            self.transmit_next(len, env);
            self.limited_bytes += len;
        }
    }

    pub(super) fn enter_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.note_reduction();
        let flight = self.flight_at_loss(env.cfg);
        self.ask_for_loss(flight, env);
        self.cut_fractions(env.cfg);
        self.recover = self.max_sent;
        // A window reduced for a loss is not reduced again for marks of the same round trip (RFC 3168 s6.1.2).
        self.end_echoes(env.cfg);
        if self.scoreboard.is_some() {
            self.enter_sack_recovery(env);
        } else {
            self.enter_newreno_recovery(env);
        }
        self.arm_wake(env);
    }

    /// Asks congestion control what a loss with `flight` bytes outstanding does: sets the threshold, and the window if that is
    /// its own.
    pub(super) fn ask_for_loss<I: SenderIo>(&mut self, flight: u64, env: &mut Env<'_, I>) {
        let cut = self.with_cc_flight(flight, env, |cc, cx| cc.on_loss(cx));
        self.window.ssthresh = cut.ssthresh;
        self.window.cwnd = cut.cwnd.unwrap_or(self.window.cwnd);
        self.owns_window = cut.cwnd.is_some();
    }

    /// RFC 5681 section 3.2 step 3: the duplicates stand for segments that have left the network.
    fn enter_newreno_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.retransmit_first(env);
        let left = u64::from(env.cfg.duplicate_ack_threshold) * env.cfg.mss;
        self.window.cwnd = if self.owns_window { self.window.cwnd } else { self.window.ssthresh + left as f64 };
        self.recovery = Recovery::NewReno { partial: false };
        match env.cfg.quirks.recovery {
            LossRecovery::Rfc => {}
            LossRecovery::Ns3_18 => self.silent = true,
            LossRecovery::Ns3_44 => self.begin_recovery_as_ns3_44(),
        }
    }

    /// RFC 5681 section 3.2 step 4: one more segment has left the network.
    pub(super) fn inflate(&mut self, cfg: &SenderConfig) {
        if !self.owns_window {
            self.window.cwnd += cfg.mss as f64;
        }
        match cfg.quirks.recovery {
            LossRecovery::Rfc => {}
            LossRecovery::Ns3_18 => self.wrap_window(),
            LossRecovery::Ns3_44 => self.on_duplicate_in_recovery_as_ns3_44(cfg),
        }
    }

    /// RFC 6582 section 3.2 step 3. Returns whether the timer restarts.
    pub(super) fn on_recovery_ack<I: SenderIo>(&mut self, acked: u64, partial: bool, env: &mut Env<'_, I>) -> bool {
        let mss = env.cfg.mss as f64;
        if self.una >= self.recover {
            // Full acknowledgement, option 1: no burst beyond what is outstanding.
            let flight = self.in_flight() as f64;
            if !self.owns_window {
                self.window.cwnd = self.window.ssthresh.min(flight.max(mss) + mss);
            }
            self.leave_recovery();
            return true;
        }
        // Partial acknowledgement: the next segment was lost as well.
        self.recovery = Recovery::NewReno { partial: true };
        if env.cfg.quirks.recovery == LossRecovery::Ns3_18 {
            self.on_partial_ack_as_ns3_18(acked, env);
            return true;
        }
        self.retransmit_first(env);
        if !self.owns_window {
            self.deflate(acked, env.cfg);
            self.window.cwnd = self.window.cwnd.max(mss);
        }
        if env.cfg.quirks.repairs_as_ns3_44() {
            self.inflate_by_left();
        }
        // "Impatient" (RFC 6582 s4): only the first one restarts it.
        !partial
    }

    /// A partial acknowledgement takes what it acknowledges from the window, and adds one segment back if that was at
    /// least one.
    pub(super) fn deflate(&mut self, acked: u64, cfg: &SenderConfig) {
        self.window.cwnd -= acked as f64;
        if acked >= cfg.mss {
            self.window.cwnd += cfg.mss as f64;
        }
    }

    pub(super) fn leave_recovery(&mut self) {
        self.recovery = Recovery::Open;
        self.resend_waits = false;
        self.dup_acks = 0;
        self.limited_bytes = 0;
    }

    /// The effect of a timeout on the windows.
    pub(super) fn reduce_for_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.times = if self.timed_out == self.una { self.times + 1 } else { 1 };
        self.timed_out = self.una;
        let (times, flight) = (self.times, self.flight_at_timeout(env.cfg));
        let cut = self.with_cc_flight(flight, env, |cc, cx| cc.on_timeout(cx, times));
        // RFC 5681 s3.1: the threshold is held when the same segment times out again.
        if times == 1 || env.cfg.quirks.halves_every_timeout || cut.cwnd.is_some() {
            self.window.ssthresh = cut.ssthresh;
            self.cut_fractions(env.cfg);
        }
        self.arm_wake(env);
        self.window.cwnd = cut.cwnd.unwrap_or(env.cfg.mss as f64);
        self.end_echoes(env.cfg);
        self.growth = if env.cfg.quirks.repairs_as_ns3_44() { Growth::AfterRepair } else { Growth::Free };
    }

    /// The window is reduced for a loss. RFC 3168 section 6.1.2: one reduction a round trip, and CWR after any reduction.
    pub(super) fn end_echoes(&mut self, cfg: &SenderConfig) {
        if cfg.quirks.repairs_as_ns3_44() && !cfg.quirks.echoes_end_recovery() {
            // A loss says nothing of echoes: only the last one that was answered does.
            self.growth = Growth::Free;
            return;
        }
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
        if cfg.quirks.echoes_end_recovery() {
            self.allow_echoes();
        }
    }

    /// A timeout of who repairs losses itself: RFC 6298 section 5.5 and 5.6, and what congestion control sends again. Returns
    /// whether that was anything.
    fn on_own_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        self.times = if self.timed_out == self.una { self.times + 1 } else { 1 };
        self.timed_out = self.una;
        let times = self.times;
        let cut = self.with_cc(env, |cc, cx| cc.on_timeout(cx, times));
        self.window.cwnd = cut.cwnd.unwrap_or(self.window.cwnd);
        self.arm_wake(env);
        self.estimator.on_timeout(&env.cfg.rto);
        self.restart_timer(env);
        if self.resend_named(env) { TimerOutcome::Timeout } else { TimerOutcome::Reordering }
    }

    pub(super) fn on_retransmission_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        if self.asks.repairs {
            return self.on_own_timeout(env);
        }
        self.reduce_for_timeout(env);
        // RFC 6582 s4.3: duplicates of what was sent before the timeout must not start a fast retransmit.
        self.recover = self.max_sent;
        self.leave_recovery();
        if let Some(history) = &mut self.history {
            history.on_timeout();
        }
        // RFC 6298 s5.4-5.6: back off, send the earliest segment again, restart; go back to it for the rest.
        self.estimator.on_timeout(&env.cfg.rto);
        self.restart_timer(env);
        if env.cfg.quirks.repairs_as_ns3_44() && self.repair_timeout_as_ns3_44(env) {
            return TimerOutcome::Timeout;
        }
        if let Some(board) = self.scoreboard.as_mut().filter(|_| self.tail.is_none()) {
            // RFC 2018 s8: the receiver may have discarded what it reported.
            board.clear();
        }
        self.nxt = self.una;
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        if !self.paces_resend(len, env) {
            self.transmit_next(len, env);
        }
        TimerOutcome::Timeout
    }
}
