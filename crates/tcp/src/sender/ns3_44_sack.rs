//! Recovery with SACK in ns-3.44, `tcp-tx-buffer.cc`, where it is not that of RFC 6675: what is sent goes by [`Marks`].
//!
//! - A segment is marked as lost when three above it are reported, when it is the first one at the start of recovery, or at a
//!   timeout; and as sent again. Each mark stays until the segment is acknowledged or, that of a loss, reported.
//! - The marks decide in recovery and outside: reports make room for new data at once, and what is lost of new data is sent
//!   again after recovery. New data goes first if nothing above what is lost is reported.
//! - A timeout keeps the reports (as RFC 6675 section 5.1 allows), and only the rest is sent again.
//! - The next number to send, by which windows of data end, follows what was sent last, also a retransmission.
//! - An acknowledgement that moves on in recovery sends one segment whatever the pipe, unless the first one was sent again
//!   before. Only the first of them restarts the timer.
//!
//! [`Marks`]: crate::marks::Marks

use super::{Env, InAck, Recovery, Sender, SenderConfig, SenderIo};
use fanin_core::packet::Flags;

impl Sender {
    /// An acknowledgement has come, and its reports are on the scoreboard.
    pub(super) fn note_delivered(&mut self) {
        if let (Some(board), Some(marks)) = (&self.scoreboard, &mut self.marks) {
            marks.note_delivered(self.una, board);
        }
    }

    /// Bytes that the latest acknowledgement has delivered.
    pub(super) fn delivered(&self) -> u64 {
        self.marks.as_ref().map_or(0, |marks| marks.delivered)
    }

    /// Reports have told something new.
    #[cold]
    pub(super) fn mark_deemed_lost(&mut self, cfg: &SenderConfig) {
        if let (Some(board), Some(marks)) = (&self.scoreboard, &mut self.marks) {
            marks.mark_deemed_lost(board, &cfg.sack_config());
        }
    }

    /// New data is acknowledged, with `news` by reports.
    pub(super) fn mark_new_ack(&mut self, news: bool, cfg: &SenderConfig) {
        if let Some(marks) = &mut self.marks {
            marks.drop_below(self.una);
        }
        if news {
            self.mark_deemed_lost(cfg);
        }
    }

    /// Whether the first segment is marked as lost; up to 3.40 the second one.
    pub(super) fn shows_marked_loss(&self, cfg: &SenderConfig) -> bool {
        let seq = if cfg.quirks.ns3.judges_second { self.una + cfg.mss } else { self.una };
        let marked = self.scoreboard.as_ref().zip(self.marks.as_ref());
        marked.is_some_and(|(board, marks)| marks.is_lost(seq, board, &cfg.sack_config()))
    }

    /// Recovery begins: marks the first segment. Returns what is in flight by the marks.
    pub(super) fn mark_first_lost(&mut self, cfg: &SenderConfig) -> u64 {
        if let (Some(board), Some(marks)) = (&self.scoreboard, &mut self.marks) {
            let end = self.max_sent.min(self.una + cfg.mss);
            marks.mark_first_lost(self.una, end, board, &cfg.sack_config());
        }
        self.marked_pipe().unwrap_or(0)
    }

    /// What is in flight by the marks, if there are any.
    pub(super) fn marked_pipe(&self) -> Option<u64> {
        let (board, marks) = self.scoreboard.as_ref().zip(self.marks.as_ref())?;
        Some(marks.pipe(self.una, self.max_sent, board))
    }

    /// The numbers `start..end` are sent again.
    pub(super) fn note_resent(&mut self, start: u64, end: u64) {
        if let Some(marks) = &mut self.marks {
            marks.note_resent(start, end);
        }
    }

    /// What is below `end` was sent last.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, end: u64) {
        if let Some(marks) = &mut self.marks {
            marks.sent_to = end;
        }
    }

    /// What ns-3 calls the next number to send: after a retransmission it follows that.
    #[inline(always)]
    pub(crate) fn next_number(&self) -> u64 {
        self.marks.as_ref().map_or(self.nxt, |marks| marks.sent_to.max(self.una))
    }

    /// An acknowledgement that moves on in recovery. Returns whether the timer restarts.
    #[cold]
    pub(super) fn on_partial_ack_by_marks<I: SenderIo>(&mut self, ack: &InAck<'_>, env: &mut Env<'_, I>) -> bool {
        let una = self.una;
        let Some(marks) = &mut self.marks else { return true };
        let first = marks.move_on();
        // An echo is about to end recovery.
        if !marks.is_resent(una) && !ack.flags.has(Flags::ECE) {
            self.send_one_more(env);
        }
        first
    }

    /// Sends what is lost, or else what is new, or else the first segment.
    fn send_one_more<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let outstanding = self.outstanding(env.cfg);
        let marked = self.scoreboard.as_ref().zip(self.marks.as_ref());
        match marked.and_then(|(board, marks)| marks.next(&outstanding, false, board, &env.cfg.sack_config())) {
            Some(next) => self.send_recovery_segment(&next, env),
            None => self.retransmit_hole(self.una, env),
        }
    }

    /// Sends outside recovery by the marks, if there are any. Returns whether there are.
    pub(super) fn send_by_marks<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let marked = self.scoreboard.as_ref().zip(self.marks.as_ref());
        let matter = marked.is_some_and(|(board, marks)| !board.is_empty() || marks.has_any(self.una));
        if matter {
            self.transmit_marked(env);
        }
        matter
    }

    /// Step C by the marks, in recovery and outside. A segment less than full must be the last.
    #[cold]
    pub(super) fn transmit_marked<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let holes = self.recovery == Recovery::Sack;
        while let Some((board, marks)) = self.scoreboard.as_ref().zip(self.marks.as_ref()) {
            let room = self.edge(env.cfg.quirks.least_window(env.cfg.mss), 0) - self.una;
            let free = room.saturating_sub(marks.pipe(self.una, self.max_sent, board));
            let next = marks.next(&self.outstanding(env.cfg), holes, board, &env.cfg.sack_config());
            let Some(next) = next else { return };
            let full = env.cfg.mss.min(self.data_end.saturating_sub(next.seq));
            if free == 0 || free < full || (self.is_shaped() && !self.may_leave(next.len, None, env)) {
                return;
            }
            self.send_recovery_segment(&next, env);
            self.note_sent(next.seq + next.len);
            if self.deadline.is_never() {
                self.restart_timer(env);
            }
        }
    }

    /// Everything that was sent is marked as lost, and nothing as sent again. Returns whether there are marks.
    pub(super) fn repair_timeout_by_marks<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let Some(marks) = &mut self.marks else { return false };
        marks.on_timeout(self.max_sent);
        self.transmit_marked(env);
        true
    }
}
