//! State of what lies between a sender's windows and its host's queue; `bursts.rs` goes by it.

use super::OutSegment;
use fanin_core::roles::PacketFacts;
use fanin_core::units::Time;
use std::collections::VecDeque;

/// What one sender has handed to its interface.
#[derive(Debug, Default)]
pub(super) struct Interface {
    /// Bytes of the present burst that are still to be sent, and when it began.
    pub(super) left: u64,
    pub(super) begun: Time,
    /// Whether the segment that leaves now is the last of a burst of several: Linux sets PSH in it (`__tcp_transmit_skb`).
    pub(super) pushes: bool,
    /// The first number of the data that stand in buffers of the largest size, since all before had been sent when they were
    /// written.
    pub(super) buffered_from: u64,
    /// Whether a burst was put off in the present round trip because the congestion window had too little room for it.
    pub(super) lacks_window: bool,
    /// Segments of all bursts.
    pub(super) segments: u64,
    /// Bursts in flight: the number after each, and when it was sent.
    pub(super) sent: VecDeque<(u64, Time)>,
    /// Bursts in the host's queue: when each will have left it, and its bytes.
    pub(super) queued: VecDeque<(Time, u64)>,
    pub(super) queued_bytes: u64,
    /// When the present burst departs, if `fq` paces.
    pub(super) departs: Time,
    /// Segments that `fq` keeps, and until when.
    pub(super) held: VecDeque<(Time, OutSegment, PacketFacts)>,
}

impl Interface {
    /// Forgets what is acknowledged, what is to be sent again, and what has left the host.
    pub(super) fn settle(&mut self, una: u64, nxt: u64, now: Time) {
        while self.sent.front().is_some_and(|(end, _)| *end <= una) {
            self.sent.pop_front();
        }
        while self.sent.back().is_some_and(|(end, _)| *end > nxt) {
            self.sent.pop_back();
        }
        while let Some(&(leaves, bytes)) = self.queued.front()
            && leaves <= now
        {
            self.queued.pop_front();
            self.queued_bytes -= bytes;
        }
    }
}
