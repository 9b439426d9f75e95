//! Loss by duplicate acknowledgements and by timeout: NewReno's recovery (RFC 6582), limited transmit (RFC 3042), and
//! what a retransmission timeout does to the windows (RFC 5681, RFC 6298).

use super::{Env, FullAck, LossFlight, RecoverCheck, Recovery, Sender, SenderConfig, SenderIo, TimerOutcome};
use crate::tcp::EcnMode;
use crate::tcp::sack::SackConfig;

/// Where a window of 32 bits wraps around.
const WRAP: f64 = 4_294_967_296.0;

impl Sender {
    pub(super) fn on_duplicate<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.dup_acks += 1;
        let (fresh, lost) = if let Some(board) = &self.scoreboard {
            // RFC 6675 s5.1: no new recovery before everything sent at the last timeout is acknowledged.
            let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
            let marked = env.cfg.marks && board.is_first_marked_lost(self.una, &sack);
            (self.una >= self.recover, marked || (!env.cfg.marks && board.is_lost(self.una, &sack)))
        } else {
            // RFC 6582 s3.2 step 2: the acknowledgement must cover more than `recover`.
            self.count_left(env.cfg);
            (self.passes_recover(env.cfg.recover_check), false)
        };
        if (fresh && (self.dup_acks >= env.cfg.duplicate_ack_threshold || lost)) || self.first_lost {
            self.enter_recovery(env);
        } else if env.cfg.limited_transmit && self.dup_acks <= 2 && !self.counts_duplicates(env.cfg) {
            // Where duplicates count as reports, or all reports as segments that have arrived, `send` does it.
            self.limited_transmit(env);
        }
    }

    /// Whether what is in flight shrinks with every duplicate outside recovery, too.
    fn counts_duplicates(&self, cfg: &SenderConfig) -> bool {
        if self.scoreboard.is_some() { cfg.marks } else { cfg.emulates_sack }
    }

    fn passes_recover(&self, check: RecoverCheck) -> bool {
        match check {
            RecoverCheck::Beyond => self.una > self.recover,
            RecoverCheck::Reached => self.una >= self.recover,
            RecoverCheck::Off => true,
        }
    }

    /// A duplicate says that one more segment has left the network; not the first one, as it would be acknowledged.
    /// ns-3 counts those that permit no segment only once recovery begins, and none while it repairs a timeout.
    pub(super) fn count_left(&mut self, cfg: &SenderConfig) {
        let counts = self.in_recovery() || (cfg.limited_transmit && self.una >= self.recover);
        if (cfg.loss_flight == LossFlight::Pipe || cfg.emulates_sack) && counts && self.scoreboard.is_none() {
            self.left = (self.left + cfg.mss).min((self.max_sent - self.una).saturating_sub(cfg.mss));
        }
    }

    /// `acked` bytes are acknowledged: the first segment of them and those for which duplicates stood. Returns whether
    /// duplicates are left that stand for what is now the first segment, so that this must be lost.
    #[cold]
    pub(super) fn take_left(&mut self, acked: u64, cfg: &SenderConfig) -> bool {
        let leftover = cfg.emulates_sack && self.left >= acked;
        let most = (self.max_sent - self.una).saturating_sub(cfg.mss);
        self.left = self.left.saturating_sub(acked.saturating_sub(cfg.mss)).min(most);
        leftover && self.una < self.max_sent
    }

    /// Sends the first segment again that left-over duplicates say is lost, if the window has room for it.
    #[cold]
    pub(super) fn resend_first_lost<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // Neither the segment itself nor those that have left are in the network.
        let gone = self.left + env.cfg.mss;
        let pipe = self.in_flight().saturating_sub(gone);
        if self.recovery == Recovery::Open && (pipe + env.cfg.mss) as f64 <= self.window.cwnd {
            self.first_resent = true;
            self.retransmit_first(env);
        }
    }

    /// What a fast retransmit halves, where limited transmit has sent `excess` (RFC 5681 section 3.2 step 2: that does
    /// not count as outstanding).
    fn flight_at_loss(&mut self, excess: u64, cfg: &SenderConfig) -> u64 {
        match (cfg.loss_flight, &self.scoreboard) {
            (LossFlight::Sent, _) => self.in_flight() - excess,
            (LossFlight::Highest, _) => self.max_sent - self.una,
            (LossFlight::Pipe, Some(board)) if cfg.marks => board.marked_pipe(self.una, self.max_sent),
            (LossFlight::Pipe, Some(board)) => {
                let sack = SackConfig { mss: cfg.mss, dup_thresh: cfg.duplicate_ack_threshold };
                let first = if board.is_lost(self.una, &sack) { 0 } else { cfg.mss };
                board.set_pipe(self.una, self.max_sent, self.una, &sack).saturating_sub(first)
            }
            (LossFlight::Pipe, None) => {
                if !cfg.limited_transmit {
                    // It counts only the duplicate that starts recovery.
                    self.left = (self.left + cfg.mss).min((self.max_sent - self.una).saturating_sub(cfg.mss));
                }
                (self.max_sent - self.una).saturating_sub(self.left)
            }
        }
    }

    /// What a timeout halves.
    fn flight_at_timeout(&self, cfg: &SenderConfig) -> u64 {
        let repairing = self.nxt < self.max_sent;
        match (cfg.loss_flight, &self.scoreboard) {
            (LossFlight::Sent, _) => self.in_flight(),
            (LossFlight::Highest, _) => self.max_sent - self.una,
            (LossFlight::Pipe, Some(board)) if cfg.marks => board.marked_pipe(self.una, self.max_sent),
            (LossFlight::Pipe, Some(board)) if repairing => board.unreported(self.una, self.nxt),
            (LossFlight::Pipe, Some(board)) => {
                let sack = SackConfig { mss: cfg.mss, dup_thresh: cfg.duplicate_ack_threshold };
                let high_rxt = if self.in_recovery() { self.high_rxt } else { self.una };
                board.set_pipe(self.una, self.max_sent, high_rxt, &sack)
            }
            (LossFlight::Pipe, None) if repairing => self.in_flight(),
            (LossFlight::Pipe, None) => self.in_flight().saturating_sub(self.left),
        }
    }

    /// RFC 3042: one new segment if the peer's window allows it and no more than two beyond the own window.
    pub(super) fn limited_transmit<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        let room = self.window.cwnd as u64 + 2 * env.cfg.mss;
        if self.nxt == self.max_sent && len > 0 && self.nxt + len <= self.peer_edge && self.in_flight() + len <= room {
            self.transmit_next(len, env);
            self.limited_bytes += len;
        }
    }

    pub(super) fn enter_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // RFC 5681 s3.2 step 2: what limited transmit sent does not count as outstanding.
        let excess = std::mem::take(&mut self.limited_bytes);
        if let Some(board) = self.scoreboard.as_mut().filter(|_| env.cfg.marks) {
            let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
            board.mark_first_lost(self.una, self.max_sent.min(self.una + env.cfg.mss), &sack);
        }
        let flight = self.flight_at_loss(excess, env.cfg);
        self.window.ssthresh = self.with_cc_flight(flight, env, |cc, cx| cc.on_loss(cx));
        self.cut_fractions(env.cfg);
        self.recover = self.max_sent;
        // A window reduced for a loss is not reduced again for marks of the same round trip (RFC 3168 s6.1.2).
        self.end_echoes(env.cfg);
        if self.scoreboard.is_some() {
            self.enter_sack_recovery(env);
        } else {
            self.retransmit_first(env);
            let left = u64::from(env.cfg.duplicate_ack_threshold) * env.cfg.mss;
            let left = if env.cfg.emulates_sack { self.left } else { left };
            self.window.cwnd = self.window.ssthresh + left as f64;
            (self.first_lost, self.first_resent) = (false, false);
            self.silent = env.cfg.quiet_start;
            self.recovery = Recovery::NewReno { partial: false };
        }
        self.arm_wake(env);
    }

    /// [`SenderConfig::whole_bytes`].
    #[inline(always)]
    pub(super) fn cut_fractions(&mut self, cfg: &SenderConfig) {
        if cfg.whole_bytes {
            self.window.cwnd = self.window.cwnd.floor();
            self.window.ssthresh = self.window.ssthresh.floor();
        }
    }

    /// RFC 5681 section 3.2 step 4: one more segment has left the network.
    pub(super) fn inflate(&mut self, cfg: &SenderConfig) {
        self.window.cwnd += cfg.mss as f64;
        if cfg.window_wraps {
            self.window.cwnd %= WRAP;
        }
        self.count_left(cfg);
        if cfg.emulates_sack {
            self.window.cwnd = self.window.ssthresh + self.left as f64;
        }
    }

    /// RFC 6582 section 3.2 step 3. Returns whether the timer restarts.
    pub(super) fn on_recovery_ack<I: SenderIo>(&mut self, acked: u64, partial: bool, env: &mut Env<'_, I>) -> bool {
        let mss = env.cfg.mss as f64;
        if self.una >= self.recover {
            // Full acknowledgement, option 1: no burst beyond what is outstanding.
            let flight = self.in_flight() as f64;
            self.window.cwnd = self.window.ssthresh.min(flight.max(mss) + mss);
            self.leave_recovery();
            return true;
        }
        // Partial acknowledgement: the next segment was lost as well.
        if !env.cfg.new_data_first {
            self.retransmit_first(env);
        }
        // Deflate by what was acknowledged, and add one segment back if that was at least one.
        self.window.cwnd -= acked as f64;
        if acked >= env.cfg.mss {
            self.window.cwnd += mss;
        }
        self.window.cwnd = if env.cfg.emulates_sack {
            self.window.ssthresh + self.left as f64
        } else if env.cfg.window_wraps {
            self.window.cwnd.rem_euclid(WRAP)
        } else {
            self.window.cwnd.max(mss)
        };
        self.recovery = Recovery::NewReno { partial: true };
        if env.cfg.new_data_first {
            self.send(env);
            self.retransmit_first(env);
        }
        !(env.cfg.impatient && partial)
    }

    /// [`FullAck::FlightBefore`] and [`FullAck::Threshold`]: ends recovery before congestion control hears of a full
    /// acknowledgement, so that it grows the window. Returns whether it was one.
    #[cold]
    pub(super) fn leave_with_growth(&mut self, acked: u64, cfg: &SenderConfig) -> bool {
        let threshold = cfg.full_ack == FullAck::Threshold;
        let applies = match self.recovery {
            Recovery::NewReno { .. } => true,
            Recovery::Sack { .. } => threshold,
            Recovery::Open | Recovery::Rack => false,
        };
        let full = applies && self.una >= self.recover;
        if full {
            let before = (self.max_sent - (self.una - acked)) as f64;
            let most = if threshold { f64::INFINITY } else { before + cfg.mss as f64 };
            self.window.cwnd = self.window.ssthresh.min(most);
            self.leave_recovery();
        }
        full
    }

    pub(super) fn leave_recovery(&mut self) {
        self.recovery = Recovery::Open;
        self.dup_acks = 0;
        self.limited_bytes = 0;
    }

    /// The effect of a timeout on the windows.
    pub(super) fn reduce_for_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // RFC 5681 s3.1: the threshold is held when the same segment times out again.
        if self.timed_out != self.una || env.cfg.halves_every_timeout {
            self.timed_out = self.una;
            let flight = self.flight_at_timeout(env.cfg);
            self.window.ssthresh = self.with_cc_flight(flight, env, |cc, cx| cc.on_timeout(cx));
            self.cut_fractions(env.cfg);
            self.arm_wake(env);
        }
        self.window.cwnd = env.cfg.mss as f64;
        // RFC 3168 s6.1.2: one reduction a round trip, and CWR after any reduction.
        self.end_echoes(env.cfg);
        self.repairing = !env.cfg.growth_after_repair;
        self.frozen = self.repairing;
    }

    /// The window is reduced for a loss, and no echo reduces it again unless it may replace recovery.
    fn end_echoes(&mut self, cfg: &SenderConfig) {
        self.cwr_end = if cfg.echo_replaces { 0 } else { self.max_sent };
        self.frozen &= !(cfg.echo_replaces || self.repairing);
        self.repairing = false;
        self.cwr_pending = self.ecn != EcnMode::Off;
    }

    /// [`SenderConfig::echo_replaces`]: ends loss recovery for an echo and reduces the window, if there was recovery.
    #[cold]
    pub(super) fn replace_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let recovering = self.recovery != Recovery::Open;
        if recovering {
            let flight = self.flight_at_timeout(env.cfg);
            self.window.ssthresh = self.with_cc_flight(flight, env, |cc, cx| cc.on_loss(cx));
            self.window.cwnd = self.window.ssthresh;
            self.leave_recovery();
        }
        self.recover = self.max_sent;
        recovering
    }

    pub(super) fn on_retransmission_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        self.reduce_for_timeout(env);
        // RFC 6582 s4.3: duplicates of what was sent before the timeout must not start a fast retransmit.
        self.recover = self.max_sent;
        self.leave_recovery();
        self.left = 0;
        (self.first_lost, self.first_resent) = (false, false);
        if let Some(history) = &mut self.history {
            history.on_timeout();
        }
        if let Some(board) = &mut self.scoreboard {
            board.forget_resent();
            if !env.cfg.keeps_reports {
                // RFC 2018 s8: the receiver may have discarded what it reported.
                board.clear();
            }
            if env.cfg.marks {
                board.mark_lost(self.max_sent);
            }
        }
        // RFC 6298 s5.4-5.6: back off, send the earliest segment again, restart; go back to it for the rest.
        self.estimator.on_timeout(&env.cfg.rto);
        self.restart_timer(env);
        if env.cfg.marks && self.scoreboard.is_some() {
            self.transmit_marked(env);
            return TimerOutcome::Timeout;
        }
        self.nxt = self.una;
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        self.transmit_next(len, env);
        TimerOutcome::Timeout
    }
}
