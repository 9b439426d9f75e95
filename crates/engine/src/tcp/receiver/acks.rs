//! The acknowledgements of a receiver: what they say, and when one that waits goes out.

use super::{Receiver, ReceiverConfig, Segment};
use crate::packet::Stamp;
use crate::tcp::sack::SackBlocks;
use crate::units::Time;

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOut {
    /// Next number expected.
    pub ack: u64,
    /// ECN echo.
    pub ece: bool,
    /// Echo of a segment's stamp (RFC 7323 section 4.3).
    pub stamp: Stamp,
    /// The echoed segment was a retransmission: by Karn's rule (RFC 6298 section 3) no sample.
    pub retransmitted_echo: bool,
    /// It carries the [`Receiver::sack_blocks`] of this moment: something has arrived beyond a hole, and the flow uses
    /// SACK. The blocks are not in here because few ACKs have them, and copying the room for them would cost all.
    pub sack: bool,
    /// The previous ACK had the same number.
    pub duplicate: bool,
}

/// The ACKs that one segment causes: one at most, but for the change of marks of RFC 8257 section 3.2.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckList {
    acks: [AckOut; 2],
    len: u8,
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
    pub const fn clear(&mut self) {
        self.len = 0;
    }
    #[inline(always)]
    pub(super) fn push(&mut self, ack: AckOut) {
        self.acks[usize::from(self.len)] = ack;
        self.len += 1;
    }
}

impl Receiver {
    /// Whether the connection is so young that no ACK waits: a sender in slow start is then not held up.
    #[inline]
    pub(super) const fn is_quick(&mut self, cfg: &ReceiverConfig) -> bool {
        let quick = self.quick < cfg.quick_acks;
        self.quick += quick as u32;
        quick
    }

    /// The timer of the waiting ACK has run out.
    pub fn on_ack_timer(&mut self, now: Time, cfg: &ReceiverConfig) -> Option<AckOut> {
        (self.waiting > 0 && now >= self.deadline).then(|| self.take_ack(cfg))
    }

    /// The ACK that describes this moment, for a window update or for one that was held back. It leaves a
    /// waiting ACK waiting; [`take_ack`](Self::take_ack) does not.
    pub fn current_ack(&self, cfg: &ReceiverConfig) -> AckOut {
        AckOut {
            ack: self.next,
            ece: self.ce,
            stamp: self.echo,
            retransmitted_echo: self.echo_retransmitted,
            sack: cfg.sack && !self.store.is_empty(),
            duplicate: self.next == self.last_ack,
        }
    }

    /// [`current_ack`](Self::current_ack), sent: no ACK waits any more.
    #[inline]
    pub fn take_ack(&mut self, cfg: &ReceiverConfig) -> AckOut {
        let ack = self.current_ack(cfg);
        self.last_ack = self.next;
        self.waiting = 0;
        self.deadline = Time::NEVER;
        ack
    }

    #[inline(always)]
    pub(super) const fn record_stamp(&mut self, seg: &Segment) {
        self.echo = seg.stamp;
        self.echo_retransmitted = seg.retransmitted;
    }

    /// RFC 2018 section 4: the block that the latest arrival beyond a hole belongs to, then those of earlier ones.
    pub fn sack_blocks(&self) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        let mut bound = u64::MAX;
        // Tags are unique, so each round finds the next older range. Three rounds over few ranges.
        while let Some(range) =
            self.store.as_slice().iter().filter(|range| range.touched < bound).max_by_key(|range| range.touched)
        {
            if !blocks.push(range.start, range.end) {
                break;
            }
            bound = range.touched;
        }
        blocks
    }
}
