//! Loss recovery of ns-3.44, `tcp-socket-base.cc`, where it is not that of RFC 6582 and RFC 6675.
//!
//! - Duplicates, without SACK, are taken for reports of segments that have arrived, and these [`Guesses`] outlast recovery.
//!   Segments with a report are not in flight. A first segment that such reports are left over for is deemed lost: it is
//!   sent again at once, and the next duplicate starts recovery.
//! - What a loss halves is the part of what is outstanding that is thought to be in the network.
//! - Duplicates start a fast retransmit once everything is acknowledged that was sent before a timeout or a recovery; by
//!   RFC 6582 they must acknowledge more.
//! - After recovery the window is the threshold (RFC 6582 section 3.2 step 3, option 2), and the full acknowledgement grows
//!   it.
//! - An echo of congestion takes the place of recovery (state CWR), in which the window is reduced again. Only
//!   acknowledgements of new data count as echoes. While it lasts no duplicates start recovery; what is known to be lost is sent
//!   again.
//! - The acknowledgement of all that was sent before a timeout grows the window only if it covers a segment more.
//!
//! With SACK it goes by marks: see `ns3_44_sack.rs`.
//!
//! Releases from 3.31 on differ in the details of [`Ns3Release`](super::quirks::Ns3Release).

use super::guesses::Guesses;
use super::{Env, Growth, Recovery, Sender, SenderConfig, SenderIo};

impl Sender {
    /// A duplicate outside recovery. What it lets out, limited transmit or not, `send` says.
    #[cold]
    pub(super) fn on_duplicate_as_ns3_44<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.dup_acks += 1;
        if env.cfg.quirks.echoes_end_recovery() && self.una <= self.cwr_end {
            return;
        }
        let first_lost = self.guesses.as_ref().is_some_and(|guesses| guesses.first_lost);
        let enough = self.dup_acks >= env.cfg.duplicate_ack_threshold || self.shows_marked_loss(env.cfg);
        self.count_left(env.cfg);
        if first_lost || (enough && self.una >= self.recover) {
            self.enter_recovery(env);
        }
    }

    /// A duplicate says that one more segment has left the network. Those that permit no segment count only once recovery
    /// begins, and none while a timeout is repaired.
    fn count_left(&mut self, cfg: &SenderConfig) {
        if self.in_recovery() || (cfg.limited_transmit && self.una >= self.recover) {
            self.add_left(cfg);
        }
    }

    /// One more segment has left the network; not the first one, as it would be acknowledged.
    fn add_left(&mut self, cfg: &SenderConfig) {
        let most = (self.max_sent - self.una).saturating_sub(cfg.mss);
        if let Some(guesses) = &mut self.guesses {
            guesses.left = (guesses.left + cfg.mss).min(most);
        }
    }

    /// `acked` bytes are acknowledged: the first segment of them and those for which duplicates stood. If duplicates are left
    /// over outside recovery, they stand for what is now the first segment, so that this must be lost.
    fn take_left(&mut self, acked: u64, cfg: &SenderConfig) {
        let (outstanding, open) = (self.max_sent - self.una, self.recovery == Recovery::Open);
        let Some(guesses) = &mut self.guesses else { return };
        let leftover = guesses.left > 0 && guesses.left >= acked && outstanding > 0;
        let most = outstanding.saturating_sub(cfg.mss);
        guesses.left = guesses.left.saturating_sub(acked.saturating_sub(cfg.mss)).min(most);
        if open {
            (guesses.first_lost, guesses.first_resent) = (leftover, false);
        }
    }

    /// [`Sender::take_new_ack_first`].
    pub(super) fn take_new_ack_as_ns3_44(&mut self, acked: u64, news: bool, cfg: &SenderConfig) -> u64 {
        self.note_delivered();
        let repaired = self.covers_resent(acked);
        self.mark_new_ack(news, cfg);
        self.follow_new_ack(acked, news, repaired, cfg);
        let repairs = matches!(self.recovery, Recovery::NewReno { .. } | Recovery::Sack);
        let ends = repairs && self.una >= self.recover;
        if ends {
            self.window.cwnd = self.window.ssthresh;
            self.leave_recovery();
            self.end_rate_reduction();
        }
        self.take_left(acked, cfg);
        if ends { acked } else { self.counted(acked, cfg) }
    }

    /// Whether an acknowledgement that reports news leaves state disorder as it is: it grows no window, unless a timeout is
    /// repaired.
    pub(super) fn stays_in_disorder(&self) -> bool {
        let repairs_timeout = self.growth == Growth::AfterRepair && self.una < self.recover;
        self.marks.is_some() && !repairs_timeout
    }

    /// The bytes for which an acknowledgement of `acked` bytes counts in congestion control, outside recovery.
    fn counted(&self, acked: u64, cfg: &SenderConfig) -> u64 {
        if self.growth == Growth::AfterRepair && self.una >= self.recover {
            // That which ends the repair of a timeout counts for what it covers besides.
            return acked.min((self.una - self.recover).max(1));
        }
        // One byte, which is no segment, is not nothing, which would be a duplicate.
        if cfg.quirks.ns3.counts_delivered && self.marks.is_some() { self.delivered().max(1) } else { acked }
    }

    /// What a fast retransmit halves.
    pub(super) fn pipe_at_loss(&mut self, cfg: &SenderConfig) -> u64 {
        if self.marks.is_some() {
            return self.mark_first_lost(cfg);
        }
        if !cfg.limited_transmit {
            // It counts only the duplicate that starts recovery.
            self.add_left(cfg);
        }
        (self.max_sent - self.una).saturating_sub(self.left())
    }

    /// What a timeout halves, and an echo that takes the place of recovery.
    pub(super) fn pipe_at_timeout(&self) -> u64 {
        let repairs_timeout = self.nxt < self.max_sent;
        self.marked_pipe().unwrap_or_else(|| {
            if repairs_timeout { self.in_flight() } else { self.in_flight().saturating_sub(self.left()) }
        })
    }

    /// Bytes that duplicates say have left the network.
    fn left(&self) -> u64 {
        self.guesses.as_ref().map_or(0, |guesses| guesses.left)
    }

    /// Recovery without SACK begins, or a duplicate has come in it: the window is inflated by what has left the network.
    pub(super) fn inflate_by_left(&mut self) {
        self.window.cwnd = self.window.ssthresh + self.left() as f64;
    }

    /// Recovery begins, which takes the place of what left-over duplicates say.
    pub(super) fn begin_recovery_as_ns3_44(&mut self) {
        self.inflate_by_left();
        if let Some(guesses) = &mut self.guesses {
            (guesses.first_lost, guesses.first_resent) = (false, false);
        }
    }

    /// A duplicate in recovery without SACK.
    #[cold]
    pub(super) fn on_duplicate_in_recovery_as_ns3_44(&mut self, cfg: &SenderConfig) {
        self.count_left(cfg);
        self.inflate_by_left();
    }

    /// [`Sender::prepare_sending`].
    pub(super) fn send_first_as_ns3_44<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> Option<u64> {
        if self.send_by_marks(env) {
            return None;
        }
        if self.guesses.as_ref().is_some_and(|guesses| guesses.first_lost && !guesses.first_resent) {
            self.resend_first_lost(env);
        }
        Some(if self.recovery == Recovery::Open { self.left() } else { 0 })
    }

    /// Sends the first segment again that left-over duplicates say is lost, if the window has room for it.
    fn resend_first_lost<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // Neither the segment itself nor those that have left are in the network.
        let pipe = self.in_flight().saturating_sub(self.left() + env.cfg.mss);
        if self.recovery != Recovery::Open || (pipe + env.cfg.mss) as f64 > self.window.cwnd {
            return;
        }
        if let Some(guesses) = &mut self.guesses {
            guesses.first_resent = true;
        }
        self.retransmit_first(env);
    }

    /// The window is reduced for a loss: an echo may reduce it again.
    pub(super) fn allow_echoes(&mut self) {
        self.cwr_end = 0;
        self.growth = Growth::Free;
        self.end_rate_reduction();
    }

    /// An echo ends loss recovery, if there is any, and reduces the window. Returns whether there was.
    #[cold]
    pub(super) fn replace_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let recovering = self.recovery != Recovery::Open;
        if recovering {
            let flight = self.pipe_at_timeout();
            self.ask_for_loss(flight, env);
            if !self.owns_window {
                self.window.cwnd = self.window.ssthresh;
            }
            self.leave_recovery();
        }
        self.recover = self.max_sent;
        recovering
    }

    /// The retransmission timer has expired. With marks, sends what they say and returns true.
    #[cold]
    pub(super) fn repair_timeout_as_ns3_44<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        if let Some(guesses) = &mut self.guesses {
            **guesses = Guesses::default();
        }
        self.repair_timeout_by_marks(env)
    }
}
