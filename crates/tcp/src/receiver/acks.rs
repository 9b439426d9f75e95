//! The content of an acknowledgement.

use crate::sack::SackBlocks;
use fanin_core::packet::Stamp;

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOut {
    /// Next number expected.
    pub ack: u64,
    /// ECN echo.
    pub ece: bool,
    /// Echo of a segment's stamp (RFC 7323 section 4.3).
    pub stamp: Stamp,
    /// The echoed segment was a retransmission, which gives no sample by Karn's rule (RFC 6298 section 3).
    pub retransmitted_echo: bool,
    /// It carries the current [`Receiver::sack_blocks`](super::Receiver::sack_blocks), because something has arrived beyond a
    /// hole and the flow uses SACK, or the time for which its host has kept what it acknowledges. They are not stored here,
    /// because few ACKs have them and copying their space would slow down all.
    pub option: bool,
    /// The previous ACK had the same number.
    pub duplicate: bool,
}

/// The ACKs that one segment causes: at most one, except for the change of marks of RFC 8257 section 3.2, and for those that
/// Linux has held back.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckList {
    acks: [AckOut; 2],
    len: u8,
    /// The blocks of the first one, if others than the current ones.
    earlier: Option<SackBlocks>,
}

impl AckList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }
    /// The ACKs in the order in which to send them.
    #[inline(always)]
    pub fn as_slice(&self) -> &[AckOut] {
        &self.acks[..usize::from(self.len)]
    }
    /// Empties the list.
    #[inline(always)]
    pub(crate) const fn clear(&mut self) {
        self.len = 0;
        self.earlier = None;
    }
    #[inline(always)]
    pub(super) fn push(&mut self, ack: AckOut) {
        self.acks[usize::from(self.len)] = ack;
        self.len += 1;
    }
    /// Adds an ACK with blocks that are not the current ones any more.
    pub(super) fn push_earlier(&mut self, ack: AckOut, blocks: SackBlocks) {
        self.push(ack);
        self.earlier = Some(blocks);
    }
    /// The SACK blocks of the first ACK, if they are not the current ones.
    #[inline(always)]
    pub const fn earlier_blocks(&self) -> Option<&SackBlocks> {
        self.earlier.as_ref()
    }
}
