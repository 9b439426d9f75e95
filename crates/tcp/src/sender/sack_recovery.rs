//! Loss recovery with selective acknowledgements: RFC 6675 section 5.
//!
//! The scoreboard (`sack.rs`) knows what is missing; here is what the sender does about it. The congestion window
//! stays at the threshold during recovery, and the estimate of what is in flight ("pipe") decides about sending.

use super::{Env, InAck, Recovery, Sender, SenderConfig, SenderIo};
use crate::sack::{NextSeg, Outstanding, Rule};

impl Sender {
    /// RFC 6675 section 5 step 4. The threshold is set and `recover` holds the recovery point.
    pub(super) fn enter_sack_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.recovery = Recovery::Sack;
        if !self.owns_window {
            self.window.cwnd = self.window.ssthresh;
        }
        self.begin_rate_reduction(env.cfg);
        self.rescue_rxt = None;
        // (4.3) the first segment that is missing goes at once, whatever the window; what else may go, `send` says.
        self.high_rxt = self.una;
        if !self.paces_resend(env.cfg.mss, env) {
            self.retransmit_hole(self.una, env);
        }
        match &mut self.marks {
            // RFC 6675 s6: the variant that gives the segment just retransmitted the full time of the timer.
            None => self.restart_timer(env),
            Some(marks) => marks.begin_recovery(),
        }
    }

    /// Retransmits a segment that is missing, and notes that.
    pub(super) fn retransmit_hole<I: SenderIo>(&mut self, start: u64, env: &mut Env<'_, I>) {
        self.high_rxt = self.retransmit(start, env.cfg.mss, env);
        self.note_resent(start, self.high_rxt);
    }

    /// An acknowledgement of new data in recovery: step A; `send` goes on. Returns whether the timer restarts.
    pub(super) fn on_sack_recovery_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) -> bool {
        if self.una >= self.recover {
            // (A) everything sent before the recovery is acknowledged.
            self.leave_recovery();
            return true;
        }
        // RFC 6298 s5.3: every acknowledgement of new data restarts it.
        self.marks.is_none() || self.on_partial_ack_by_marks(ack, env)
    }

    /// What `NextSeg()` goes by.
    pub(super) fn outstanding(&self, cfg: &SenderConfig) -> Outstanding {
        Outstanding {
            una: self.una,
            high_data: self.max_sent,
            high_rxt: self.high_rxt,
            rescue_rxt: self.rescue_rxt,
            new_end: self.new_end(cfg),
            fin: self.closing().then_some(self.data_end),
        }
    }

    /// Step C: sends while the window has room for a full segment beyond what is in flight.
    pub(super) fn sack_transmit<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let sack = env.cfg.sack_config();
        loop {
            let Some(board) = &self.scoreboard else { return };
            let pipe = board.set_pipe(self.una, self.max_sent, self.high_rxt, &sack);
            let window =
                if self.obeys_peer() { self.peer_edge.saturating_sub(self.una) as f64 } else { self.window.cwnd };
            if window < (pipe + env.cfg.mss) as f64 {
                return;
            }
            let Some(next) = board.next_seg(&self.outstanding(env.cfg), &sack) else { return };
            // RFC 6675 s4 (4) is a "should" for the sake of a lost tail, not to send the only hole twice at once.
            // Linux has no such rule.
            if next.rule == Rule::Rescue && (next.seq < self.high_rxt || self.tail.is_some()) {
                return;
            }
            if self.paces_resend(next.len, env) {
                return;
            }
            self.send_recovery_segment(&next, env);
        }
    }

    /// One past the last number of new data that the peer's window lets go: whole segments, or the last one.
    fn new_end(&self, cfg: &SenderConfig) -> u64 {
        let end = self.stream_end();
        if self.peer_edge >= self.data_end() {
            return end; // A FIN needs no window of its own.
        }
        let room = self.peer_edge.saturating_sub(self.max_sent);
        self.max_sent + room / cfg.mss * cfg.mss
    }

    pub(super) fn send_recovery_segment<I: SenderIo>(&mut self, next: &NextSeg, env: &mut Env<'_, I>) {
        let end = next.seq + next.len;
        match next.rule {
            Rule::New => {
                self.nxt = next.seq;
                let len = next.len.min(self.data_end.saturating_sub(next.seq));
                self.transmit_next(len, env);
                return;
            }
            Rule::Lost | Rule::Hole => self.high_rxt = end,
            Rule::Rescue => self.rescue_rxt = Some(self.recover),
        }
        self.note_resent(next.seq, end);
        self.retransmit(next.seq, next.len, env);
    }
}
