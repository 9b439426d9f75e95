//! Loss by duplicate acknowledgements and by timeout: NewReno's recovery (RFC 6582), limited transmit (RFC 3042), and
//! what a retransmission timeout does to the windows (RFC 5681, RFC 6298).

use super::{Env, Recovery, Sender, SenderConfig, SenderIo, TimerOutcome};
use crate::tcp::EcnMode;
use crate::tcp::sack::SackConfig;

impl Sender {
    pub(super) fn on_duplicate<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.dup_acks += 1;
        let (fresh, lost) = match &self.scoreboard {
            // RFC 6675 s5.1: no new recovery before everything sent at the last timeout is acknowledged.
            Some(board) => {
                let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
                (self.una >= self.recover, board.is_lost(self.una, &sack))
            }
            // RFC 6582 s3.2 step 2: the acknowledgement must cover more than `recover`.
            None => (self.una > self.recover, false),
        };
        if fresh && (self.dup_acks >= env.cfg.duplicate_ack_threshold || lost) {
            self.enter_recovery(env);
        } else if env.cfg.limited_transmit && self.dup_acks <= 2 {
            self.limited_transmit(env);
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
        let flight = self.in_flight() - excess;
        self.window.ssthresh = self.with_cc_flight(flight, env, |cc, cx| cc.on_loss(cx));
        self.recover = self.max_sent;
        // A window reduced for a loss is not reduced again for marks of the same round trip (RFC 3168 s6.1.2).
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
        if self.scoreboard.is_some() {
            self.enter_sack_recovery(env);
        } else {
            self.retransmit_first(env);
            self.window.cwnd = self.window.ssthresh + f64::from(env.cfg.duplicate_ack_threshold) * env.cfg.mss as f64;
            self.recovery = Recovery::NewReno { partial: false };
        }
        self.arm_wake(env);
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
        self.window.cwnd = self.window.cwnd.max(mss);
        self.recovery = Recovery::NewReno { partial: true };
        if env.cfg.new_data_first {
            self.send(env);
            self.retransmit_first(env);
        }
        !(env.cfg.impatient && partial)
    }

    /// [`SenderConfig::full_ack_grows`]: ends recovery before congestion control hears of a full acknowledgement, so
    /// that it grows the window. Returns whether it was one.
    #[cold]
    pub(super) fn leave_with_growth(&mut self, acked: u64, cfg: &SenderConfig) -> bool {
        let full = matches!(self.recovery, Recovery::NewReno { .. }) && self.una >= self.recover;
        if full {
            let before = (self.max_sent - (self.una - acked)) as f64;
            self.window.cwnd = self.window.ssthresh.min(before + cfg.mss as f64);
            self.leave_recovery();
        }
        full
    }

    pub(super) fn leave_recovery(&mut self) {
        self.recovery = Recovery::Open;
        self.dup_acks = 0;
        self.limited_bytes = 0;
    }

    /// What a timeout means for the windows.
    pub(super) fn reduce_for_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // RFC 5681 s3.1: the threshold is held when the same segment times out again.
        if self.timed_out != self.una {
            self.timed_out = self.una;
            self.window.ssthresh = self.with_cc(env, |cc, cx| cc.on_timeout(cx));
            self.arm_wake(env);
        }
        self.window.cwnd = env.cfg.mss as f64;
        // RFC 3168 s6.1.2: one reduction a round trip, and CWR after any reduction.
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
    }

    pub(super) fn on_retransmission_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        self.reduce_for_timeout(env);
        // RFC 6582 s4.3: duplicates of what was sent before the timeout must not start a fast retransmit.
        self.recover = self.max_sent;
        self.leave_recovery();
        if let Some(board) = &mut self.scoreboard {
            // RFC 2018 s8: the receiver may have discarded what it reported.
            board.clear();
        }
        // RFC 6298 s5.4-5.6: back off, send the earliest segment again, restart; go back to it for the rest.
        self.estimator.on_timeout(&env.cfg.rto);
        self.nxt = self.una;
        self.restart_timer(env);
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        self.transmit_next(len, env);
        TimerOutcome::Timeout
    }
}
