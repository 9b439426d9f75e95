//! Node by node in windows of time, instead of everything in the order of time.
//!
//! A packet needs at least the delay of its link to reach the next node. In a window that is no longer than the least
//! delay of any link, nothing that a node does reaches another one: every packet that arrives has left its port before the
//! window began. So each node can do its part of the window by itself, in its own order of time, while its ports, rings
//! and flows are in the cache. What arrives at it is known when its turn comes, and is sorted once instead of being
//! looked for packet by packet in the queue of all links, which sleeps meanwhile.
//!
//! Two nodes have a port's ring in common: one adds packets, and the other one takes them. It may be ahead of the first
//! or behind it by a window. Both do no harm: what it takes has left the port before the window, so the port's length
//! does not depend on it.

use crate::order::MiscKey;
use fanin_core::ids::LinkId;
use fanin_core::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The events of one node in the current window, and the rare events of all others.
#[derive(Default)]
pub(super) struct Windows {
    /// Whether there are windows now; else everything happens in the order of time.
    pub(super) open: bool,
    /// When the window began, and its end, which is not in it.
    pub(super) from: Time,
    pub(super) until: Time,
    /// Rare events of other nodes or later windows.
    pub(super) later: BinaryHeap<Reverse<(u64, MiscKey)>>,
    /// What arrives at the node in this window, in order, and how much of it has.
    pub(super) arrivals: Vec<u64>,
    pub(super) arrived: usize,
    /// Ports whose departures are counted one by one.
    pub(super) exact: Vec<LinkId>,
}

impl Windows {
    /// Whether a rare event is not for the node at work in this window.
    pub(super) fn is_later(&self, at: Time) -> bool {
        self.open && at >= self.until
    }
    /// Keeps a rare event for later.
    pub(super) fn put_off(&mut self, at: Time, key: MiscKey) {
        self.later.push(Reverse((at.ps(), key)));
    }
}
