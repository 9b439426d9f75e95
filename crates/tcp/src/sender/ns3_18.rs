//! Loss recovery of ns-3.18, `tcp-newreno.cc`, where it is not that of RFC 6582.
//!
//! - Any duplicates start a fast retransmit, also those of what was sent before a timeout or a recovery.
//! - What a loss halves goes up to the highest number sent, also after a timeout has taken the sender back.
//! - The third duplicate lets out nothing but the retransmission.
//! - On a partial acknowledgement new data goes before the next hole, and each restarts the timer.
//! - The window is an unsigned number of 32 bits: a partial acknowledgement of more than the window wraps it around.
//! - After recovery the window is bounded by what was outstanding before the full acknowledgement, which then grows it.

use super::{Env, Recovery, Sender, SenderConfig, SenderIo};

/// Where a window of 32 bits wraps around.
const WRAP: f64 = 4_294_967_296.0;

impl Sender {
    /// The window has been changed by a number of bytes.
    pub(super) fn wrap_window(&mut self) {
        self.window.cwnd = self.window.cwnd.rem_euclid(WRAP);
    }

    /// A partial acknowledgement of `acked` bytes. The timer restarts.
    #[cold]
    pub(super) fn on_partial_ack_as_ns3_18<I: SenderIo>(&mut self, acked: u64, env: &mut Env<'_, I>) {
        self.deflate(acked, env.cfg);
        self.wrap_window();
        self.send(env);
        self.retransmit_first(env);
    }

    /// Ends recovery if everything is acknowledged that was sent before it; `acked` bytes of that just now.
    pub(super) fn leave_with_growth_as_ns3_18(&mut self, acked: u64, cfg: &SenderConfig) {
        if matches!(self.recovery, Recovery::NewReno { .. }) && self.una >= self.recover {
            let before = (self.max_sent - (self.una - acked)) as f64;
            self.window.cwnd = self.window.ssthresh.min(before + cfg.mss as f64);
            self.leave_recovery();
        }
    }
}
