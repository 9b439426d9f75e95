//! The queue of a sending host in front of its link: when a burst will have left it, and its limit.
//!
//! Linux's `txqueuelen`. The queue counts bursts (what TSO sends at once is one packet to it) and acknowledgements. Where
//! it is full the rest of a burst is lost like any packet: the default queue of most distributions, `fq_codel`, drops
//! packets that TCP has sent; with `pfifo_fast` TCP would learn of it and send the burst again.

use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::Packet;
use fanin_core::units::Time;
use std::collections::VecDeque;

/// The queues of all hosts.
#[derive(Debug)]
pub struct HostQueues {
    /// By link; only those out of hosts are used.
    queues: Vec<HostQueue>,
    /// By traffic group, the limit of the queue, none if there is none, and the size of a burst.
    limits: Vec<(Option<usize>, u64)>,
}

/// One host's queue.
#[derive(Clone, Debug, Default)]
struct HostQueue {
    /// When everything in it will have left, at the current rate of the link.
    free_at: Time,
    bursts: VecDeque<Burst>,
    /// The last burst that was refused.
    refused: Option<Burst>,
}

/// What the queue counts as one packet.
#[derive(Clone, Copy, Debug)]
struct Burst {
    flow: FlowId,
    ack: bool,
    at: Time,
    bytes: u64,
    leaves: Time,
}

impl Burst {
    /// Adds a packet to the burst, if it is part of it.
    fn takes(&mut self, packet: &Packet, now: Time, most: u64) -> bool {
        let bytes = self.bytes + u64::from(packet.size);
        let part = self.flow == packet.flow && self.at == now && !self.ack && !packet.is_ack() && bytes <= most;
        if part {
            self.bytes = bytes;
        }
        part
    }
}

impl HostQueues {
    /// Empty queues of so many links, with these limits and bursts of traffic groups.
    pub fn new(links: usize, limits: Vec<(Option<usize>, u64)>) -> Self {
        Self { queues: vec![HostQueue::default(); links], limits }
    }

    /// When everything in the queue of `link` will have left.
    pub(crate) fn free_at(&self, link: LinkId) -> Time {
        self.queues[link.index()].free_at
    }

    /// Whether a packet of the traffic group `group`, which would leave at `leaves`, finds a place in the queue of `link`.
    pub(crate) fn admits(&mut self, link: LinkId, packet: &Packet, group: usize, now: Time, leaves: Time) -> bool {
        let queue = &mut self.queues[link.index()];
        let admitted = queue.admits(packet, self.limits[group], now, leaves);
        if admitted {
            queue.free_at = leaves;
        }
        admitted
    }

    /// Whether some queue has a limit.
    pub fn limited(&self) -> bool {
        self.limits.iter().any(|(limit, _)| limit.is_some())
    }
}

impl HostQueue {
    /// Whether a packet that leaves at `leaves` finds a place.
    fn admits(&mut self, packet: &Packet, (limit, most): (Option<usize>, u64), now: Time, leaves: Time) -> bool {
        let Some(limit) = limit else { return true };
        while self.bursts.front().is_some_and(|burst| burst.leaves <= now) {
            self.bursts.pop_front();
        }
        if self.refused.as_mut().is_some_and(|burst| burst.takes(packet, now, most)) {
            return false;
        }
        if let Some(burst) = self.bursts.back_mut()
            && burst.takes(packet, now, most)
        {
            burst.leaves = leaves;
            return true;
        }
        let burst = Burst { flow: packet.flow, ack: packet.is_ack(), at: now, bytes: u64::from(packet.size), leaves };
        let fits = self.bursts.len() < limit;
        if fits {
            self.bursts.push_back(burst);
        } else {
            self.refused = Some(burst);
        }
        fits
    }
}
