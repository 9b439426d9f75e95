//! RCC's sender: its window is the one that the receiver advertises.

use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, SenderCx};

/// A sender without a congestion window of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obedient {
    /// Data is ECN-capable. The echo is ignored: the receiver has already reacted to the mark.
    pub(crate) ecn: bool,
    /// An acknowledgement with PSH acknowledges nothing.
    pub(crate) push_is_only_a_request: bool,
}

impl CongestionControl for Obedient {
    fn ecn(&self) -> EcnMode {
        if self.ecn { EcnMode::Accurate } else { EcnMode::Off }
    }
    fn obeys_peer(&self) -> bool {
        true
    }
    fn announces(&self) -> bool {
        true
    }
    fn push_is_only_a_request(&self) -> bool {
        self.push_is_only_a_request
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
}
