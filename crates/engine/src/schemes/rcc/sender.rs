//! RCC's sender: what the receiver advertises is its window.

use crate::roles::{AckEvent, CongestionControl, SenderCx};
use crate::tcp::EcnMode;

/// A sender without a window of its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::schemes) struct Obedient {
    /// Data is sent ECN-capable. The echo is not read: the receiver has acted on the mark already.
    pub(in crate::schemes) ecn: bool,
    /// An acknowledgement with PSH acknowledges nothing.
    pub(in crate::schemes) push_is_only_a_request: bool,
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
