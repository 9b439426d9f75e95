//! Where a sender asks its quirks which program it follows.

use super::{Env, LossRecovery, Sender, SenderConfig, SenderIo};

impl Sender {
    /// New data is acknowledged, and congestion control has not heard of it: a recovery that ends here does so before, so
    /// that the acknowledgement grows the window. Returns for how many bytes it counts.
    #[cold]
    pub(super) fn take_new_ack_first(&mut self, acked: u64, news: bool, cfg: &SenderConfig) -> u64 {
        match cfg.quirks.recovery {
            LossRecovery::Rfc => {}
            LossRecovery::Ns3_18 => self.leave_with_growth_as_ns3_18(acked, cfg),
            LossRecovery::Ns3_44 => return self.take_new_ack_as_ns3_44(acked, news, cfg),
        }
        acked
    }

    /// The windows may let new data go. Returns how many bytes are thought to have left the network besides; none if
    /// nothing more is sent now.
    #[cold]
    pub(super) fn prepare_sending<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> Option<u64> {
        match env.cfg.quirks.recovery {
            LossRecovery::Rfc => Some(0),
            LossRecovery::Ns3_18 => (!std::mem::take(&mut self.silent)).then_some(0),
            LossRecovery::Ns3_44 => self.send_first_as_ns3_44(env),
        }
    }

    /// [`Quirks::whole_bytes`].
    #[inline(always)]
    pub(super) fn cut_fractions(&mut self, cfg: &SenderConfig) {
        if cfg.quirks.whole_bytes {
            // Where a reduction of ns-3.44 leaves nothing, a byte lets as little through. That of ns-3.18 may wrap around to 0.
            let least = if cfg.quirks.repairs_as_ns3_44() { 1.0 } else { 0.0 };
            self.window.cwnd = self.window.cwnd.floor().max(least);
            self.window.ssthresh = self.window.ssthresh.floor().max(least);
        }
    }
}
