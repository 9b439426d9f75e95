//! Loss recovery with selective acknowledgements: RFC 6675 section 5.
//!
//! The scoreboard (`sack.rs`) knows what is missing; here is what the sender does about it. The congestion window
//! stays at the threshold during recovery, and the estimate of what is in flight ("pipe") decides about sending.

use super::{Env, InAck, Recovery, Sender, SenderConfig, SenderIo};
use crate::packet::Flags;
use crate::tcp::sack::{NextSeg, Outstanding, Rule, SackConfig};

impl Sender {
    /// RFC 6675 section 5 step 4. The threshold is set and `recover` holds the recovery point.
    pub(super) fn enter_sack_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.recovery = Recovery::Sack { partial: false };
        self.window.cwnd = self.window.ssthresh;
        self.rescue_rxt = None;
        // (4.3) the first segment that is missing goes at once, whatever the window; what else may go, `send` says.
        self.high_rxt = self.retransmit(self.una, env.cfg.mss, env);
        self.note_resent(self.una, self.high_rxt, env.cfg);
        if !env.cfg.sack_impatient {
            // RFC 6675 s6: the variant that gives the segment just retransmitted the full time of the timer.
            self.restart_timer(env);
        }
    }

    /// An acknowledgement of new data in recovery: step A; `send` goes on. Returns whether the timer restarts.
    pub(super) fn on_sack_recovery_ack<I: SenderIo>(
        &mut self,
        partial: bool,
        ack: &InAck<'_>,
        env: &mut Env<'_, I>,
    ) -> bool {
        if self.una >= self.recover {
            // (A) everything sent before the recovery is acknowledged.
            self.leave_recovery();
            return true;
        }
        self.recovery = Recovery::Sack { partial: true };
        let resent = match &self.scoreboard {
            Some(board) if env.cfg.marks => board.is_resent(self.una),
            _ => self.high_rxt > self.una,
        };
        let ends = env.cfg.echo_replaces && ack.flags.has(Flags::ECE);
        if env.cfg.one_more && !resent && !ends {
            self.send_one_more(env);
        }
        !(env.cfg.sack_impatient && partial)
    }

    /// [`SenderConfig::one_more`], where the first segment was not retransmitted yet: what is lost, or else what is new, or
    /// else the first segment.
    #[cold]
    fn send_one_more<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
        let outstanding = self.outstanding(env.cfg);
        let next = self.scoreboard.as_ref().and_then(|board| {
            if env.cfg.marks {
                board.next_marked(&outstanding, false, &sack)
            } else {
                board.next_seg(&outstanding, &sack)
            }
        });
        if let Some(next) = next.filter(|next| matches!(next.rule, Rule::Lost | Rule::New)) {
            return self.send_recovery_segment(&next, env);
        }
        self.high_rxt = self.retransmit(self.una, env.cfg.mss, env);
        self.note_resent(self.una, self.high_rxt, env.cfg);
    }

    /// What `NextSeg()` goes by.
    fn outstanding(&self, cfg: &SenderConfig) -> Outstanding {
        Outstanding {
            una: self.una,
            high_data: self.max_sent,
            high_rxt: self.high_rxt,
            rescue_rxt: self.rescue_rxt,
            new_end: self.new_end(cfg),
            fin: self.closing().then_some(self.data_end),
        }
    }

    /// After a timeout that has kept the reports: sends what the receiver is missing, then what is new. What it has
    /// reported is not in flight.
    #[cold]
    pub(super) fn send_unreported<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        while let Some(board) = &self.scoreboard {
            let (start, hole_end) = board.next_unreported(self.nxt);
            self.nxt = start;
            let segment = self.packet.segment_of(env.cfg.mss);
            let len = segment.min(self.data_end.saturating_sub(start)).min(hole_end - start);
            let flight = board.unreported(self.una, start);
            let fits = start + len <= self.peer_edge && flight + len <= (self.window.cwnd as u64).max(segment);
            if start >= self.stream_end() || !fits || (self.is_shaped() && !self.may_leave(len, None, env)) {
                return;
            }
            self.transmit_next(len, env);
            if self.deadline.is_never() {
                self.restart_timer(env);
            }
        }
    }

    /// [`SenderConfig::marks`].
    fn note_resent(&mut self, start: u64, end: u64, cfg: &SenderConfig) {
        if let Some(board) = self.scoreboard.as_mut().filter(|_| cfg.marks) {
            board.note_resent(start, end);
        }
    }

    /// [`SenderConfig::marks`] and [`SenderConfig::keeps_reports`]: sends outside recovery if the reports matter then. Returns
    /// whether they do.
    #[cold]
    pub(super) fn send_by_reports<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let Some(board) = &self.scoreboard else { return false };
        if env.cfg.marks {
            let matter = board.has_marks(self.una);
            if matter {
                self.transmit_marked(env);
            }
            return matter;
        }
        let matter = self.una < self.recover;
        if matter {
            self.send_unreported(env);
        }
        matter
    }

    /// [`SenderConfig::marks`]: step C, in recovery and outside. A segment less than full must be the last.
    #[cold]
    pub(super) fn transmit_marked<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
        let holes = matches!(self.recovery, Recovery::Sack { .. });
        while let Some(board) = &self.scoreboard {
            let room = self.edge(env.cfg.mss, 0) - self.una;
            let free = room.saturating_sub(board.marked_pipe(self.una, self.max_sent));
            let Some(next) = board.next_marked(&self.outstanding(env.cfg), holes, &sack) else { return };
            let full = env.cfg.mss.min(self.data_end.saturating_sub(next.seq));
            if free == 0 || free < full || (self.is_shaped() && !self.may_leave(next.len, None, env)) {
                return;
            }
            self.send_recovery_segment(&next, env);
            if self.deadline.is_never() {
                self.restart_timer(env);
            }
        }
    }

    /// Step C: sends while the window has room for a full segment beyond what is in flight.
    pub(super) fn sack_transmit<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let sack = SackConfig { mss: env.cfg.mss, dup_thresh: env.cfg.duplicate_ack_threshold };
        loop {
            let Some(board) = &self.scoreboard else { return };
            let pipe = board.set_pipe(self.una, self.max_sent, self.high_rxt, &sack);
            let window =
                if self.obeys_peer { self.peer_edge.saturating_sub(self.una) as f64 } else { self.window.cwnd };
            if window < (pipe + env.cfg.mss) as f64 {
                return;
            }
            let Some(next) = board.next_seg(&self.outstanding(env.cfg), &sack) else { return };
            // RFC 6675 s4 (4) is a "should" for the sake of a lost tail, not to send the only hole twice at once.
            if next.rule == Rule::Rescue && next.seq < self.high_rxt {
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

    fn send_recovery_segment<I: SenderIo>(&mut self, next: &NextSeg, env: &mut Env<'_, I>) {
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
        self.note_resent(next.seq, end, env.cfg);
        self.retransmit(next.seq, next.len, env);
    }
}
