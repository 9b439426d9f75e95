//! Reductions of the window, in proportion to what is delivered (PRR), and their undoing.

use super::{CaState, Linux, Reduction};
use crate::sender::{Env, Sender, SenderConfig, SenderIo};
use fanin_core::roles::EcnMode;
use fanin_core::units::real;

impl Linux {
    /// `tcp_init_undo`
    pub(super) fn init_undo(&mut self, una: u64) {
        self.undo_marker = Some(una);
        let probe = u32::from(self.probe.is_some_and(|(_, again)| again));
        self.undo_retrans = Some(self.board.retrans_out + probe).filter(|count| *count > 0);
    }

    /// `tcp_packet_delayed`: the receiver echoes a time before the first retransmission.
    pub(super) fn was_delayed(&self) -> bool {
        match (self.retrans_stamp, self.echo) {
            (Some(stamp), Some(echo)) => echo < stamp,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    /// `tcp_may_undo`
    pub(super) fn may_undo(&self) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == Some(0) || self.was_delayed())
    }
}

impl Sender {
    /// `tcp_init_cwnd_reduction`. Congestion control is asked in [`Sender::reduce`].
    pub(super) fn init_reduction(&mut self, why: Reduction, cfg: &SenderConfig) {
        let (nxt, cwnd) = (self.nxt, self.segments(cfg));
        let linux = self.linux();
        linux.high_seq = nxt;
        linux.probe = None;
        linux.prior_cwnd = cwnd;
        (linux.prr_delivered, linux.prr_out) = (0, 0);
        linux.reduction = Some(why);
        self.cwr_pending = self.ecn != EcnMode::Off;
    }

    /// Asks congestion control for the threshold of a reduction that has begun.
    pub(super) fn reduce<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let Some(why) = self.linux().reduction.take() else { return };
        // What is beyond the window does not count as in flight (RFC 5681 s3.2 step 2).
        let flight = self.in_flight().min(self.window.cwnd as u64);
        let before = self.window.cwnd;
        match why {
            Reduction::Loss => self.ask_for_loss(flight, env),
            Reduction::Echo => {
                self.owns_window = false;
                self.with_cc_flight(flight, env, |cc, cx| cc.on_ecn_echo(cx));
                self.window.ssthresh = self.window.cwnd;
                self.window.cwnd = before;
            }
        }
        self.arm_wake(env);
    }

    /// `tcp_cwnd_reduction`, unless congestion control has its own (`cong_control`).
    pub(super) fn pace_reduction(&mut self, delivered: u32, lost: u32, advanced: bool, cfg: &SenderConfig) {
        let (threshold, own) = ((self.window.ssthresh / real(cfg.mss)) as i64, self.owns_window);
        let linux = self.linux();
        if own || delivered == 0 || linux.prior_cwnd == 0 {
            return;
        }
        let in_flight = i64::from(linux.board.in_flight());
        linux.prr_delivered += u64::from(delivered);
        let (sent, owed) = (linux.prr_out as i64, linux.prr_delivered as i64);
        let room = threshold - in_flight;
        let mut count = if room < 0 {
            let prior = linux.prior_cwnd as i64;
            (threshold * owed + prior - 1) / prior - sent
        } else {
            let count = (owed - sent).max(i64::from(delivered));
            (count + i64::from(advanced && lost == 0)).min(room)
        };
        // The first retransmission of a recovery leaves at once.
        count = count.max(i64::from(sent == 0));
        self.set_segments((in_flight + count).max(1) as u64, cfg);
    }

    /// `tcp_end_cwnd_reduction`
    pub(super) fn end_reduction(&mut self, now_tick: u64) {
        if self.owns_window {
            return;
        }
        let linux = self.linux();
        if linux.state == CaState::Cwr || linux.undo_marker.is_some() {
            linux.window_stamp = now_tick;
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// `tcp_undo_cwnd_reduction`
    pub(super) fn undo_reduction(&mut self, unmark: bool, now_tick: u64, cfg: &SenderConfig) {
        let (cwnd, own) = (self.segments(cfg), self.owns_window);
        let linux = self.linux();
        if unmark {
            linux.board.unmark_lost();
        }
        linux.window_stamp = now_tick;
        linux.undo_marker = None;
        linux.rack.advanced = true;
        let prior_cwnd = linux.prior_cwnd;
        if let Some(threshold) = linux.prior_ssthresh.filter(|_| !own) {
            self.set_segments(cwnd.max(prior_cwnd), cfg);
            if threshold > self.window.ssthresh {
                self.window.ssthresh = threshold;
                self.cwr_pending = false;
            }
        }
    }

    /// `tcp_enter_cwr`
    pub(super) fn enter_cwr(&mut self, cfg: &SenderConfig) {
        let linux = self.linux();
        linux.prior_ssthresh = None;
        if linux.state < CaState::Cwr {
            linux.undo_marker = None;
            self.init_reduction(Reduction::Echo, cfg);
            self.linux().state = CaState::Cwr;
        }
    }

    /// `tcp_enter_recovery`
    pub(super) fn enter_linux_recovery(&mut self, ece: bool, cfg: &SenderConfig) {
        let (una, threshold) = (self.una, self.current_threshold(cfg));
        let again = self.cc.cuts_again_for_loss();
        let linux = self.linux();
        if !linux.board.any_resent() {
            linux.retrans_stamp = None;
        }
        linux.prior_ssthresh = None;
        linux.init_undo(una);
        if !linux.reduces() {
            linux.prior_ssthresh = Some(threshold).filter(|_| !ece);
            self.init_reduction(Reduction::Loss, cfg);
        } else if again {
            linux.reduction = Some(Reduction::Loss);
        }
        self.linux().state = CaState::Recovery;
    }
}
