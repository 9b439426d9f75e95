//! SACK blocks and DSACK as Linux keeps them: a list of four, most recent first, apart from what is stored.

use super::Act;
use crate::receiver::Receiver;
use crate::sack::SackBlocks;

/// `selective_acks` and `duplicate_sack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sacks {
    list: [(u64, u64); Self::KEPT],
    len: usize,
    /// What has arrived once more with the latest segment.
    pub(super) dsack: Option<(u64, u64)>,
}

/// Grows `block` by `start..end` if they touch: `tcp_sack_extend`.
fn extend(block: &mut (u64, u64), (start, end): (u64, u64)) -> bool {
    let touches = start <= block.1 && block.0 <= end;
    if touches {
        *block = (block.0.min(start), block.1.max(end));
    }
    touches
}

impl Sacks {
    /// `TCP_NUM_SACKS`.
    const KEPT: usize = 4;
    /// `TCP_SACK_BLOCKS_EXPECTED`: what one acknowledgement is relied on to report.
    const EXPECTED: usize = 2;

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0 && self.dsack.is_none()
    }

    /// The block that `start..end` touches.
    fn touched(&self, (start, end): (u64, u64)) -> usize {
        let touches = |block: &(u64, u64)| start <= block.1 && block.0 <= end;
        self.list[..self.len].iter().position(touches).unwrap_or(self.len)
    }

    /// Whether the news of `start..end` would leave behind more blocks than are expected to get through.
    pub(super) fn reaches_far(&self, start: u64, end: u64) -> bool {
        self.len > 0 && self.touched((start, end)) >= Self::EXPECTED
    }

    /// `tcp_sack_new_ofo_skb`: the block of the latest arrival comes first.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        let at = self.touched((start, end));
        if at < self.len {
            extend(&mut self.list[at], (start, end));
            self.list[..=at].rotate_right(1);
            self.coalesce();
            return;
        }
        // Of a full list the last one is forgotten.
        self.len = (self.len + 1).min(Self::KEPT);
        self.list[..self.len].rotate_right(1);
        self.list[0] = (start, end);
    }

    /// `tcp_sack_maybe_coalesce`: the first block may have grown into others.
    fn coalesce(&mut self) {
        let mut at = 1;
        while at < self.len {
            let other = self.list[at];
            if extend(&mut self.list[0], other) {
                self.list[at..self.len].rotate_left(1);
                self.len -= 1;
            } else {
                at += 1;
            }
        }
    }

    /// `tcp_sack_remove`: everything below `next` has arrived, and nothing beyond unless there are `holes`.
    pub(super) fn remove(&mut self, next: u64, holes: bool) {
        let mut kept = 0;
        for at in 0..self.len {
            if holes && self.list[at].0 > next {
                self.list[kept] = self.list[at];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// The option.
    pub(super) fn blocks(&self) -> SackBlocks {
        let mut blocks = self.dsack.map_or_else(SackBlocks::new, |(start, end)| SackBlocks::of_duplicate(start, end));
        for &(start, end) in &self.list[..self.len] {
            blocks.push(start, end);
        }
        blocks
    }
}

impl Receiver {
    /// The SACK option of Linux's receiver.
    pub(in crate::receiver) fn linux_blocks(&self) -> Option<SackBlocks> {
        Some(self.linux.as_ref()?.sacks.blocks())
    }
}

impl Act<'_> {
    /// `tcp_dsack_set`.
    pub(super) fn dsack_set(&mut self, start: u64, end: u64) {
        if self.cfg.sack {
            self.state.sacks.dsack = Some((start, end));
        }
    }

    /// `tcp_dsack_extend`.
    pub(super) fn dsack_extend(&mut self, start: u64, end: u64) {
        match &mut self.state.sacks.dsack {
            Some(block) => _ = extend(block, (start, end)),
            None => self.dsack_set(start, end),
        }
    }
}
