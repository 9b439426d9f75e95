//! The books that every event core keeps alike: drops, marks, queue lengths, and packets' SACK blocks.

use crate::ids::{FlowId, GroupId, LinkId};
use crate::measure::bins::Bins;
use crate::measure::queue::{QueueStats, Trace};
use crate::packet::{Flags, Packet};
use crate::roles::{Backlog, DropReason};
use crate::sim::event::Slots;
use crate::tcp::sack::SackBlocks;
use crate::units::{Bytes, Time};

/// What happened to packets at one egress port.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortBook {
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    pub(crate) would_mark: u64,
}

/// A segment whose latest transmission was dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSegment {
    pub(crate) seq: u32,
    /// That transmission was a repeated one.
    pub(crate) retransmitted: bool,
}

/// What happened to packets of one flow inside the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowBook {
    pub(crate) drops: u64,
    /// Marks on data packets.
    pub(crate) marks: u64,
    /// Segments whose latest transmission was dropped.
    pub(crate) lost: Vec<LostSegment>,
    /// Acknowledgements (and SYN-ACKs) of the flow that were dropped.
    pub(crate) acks_dropped: u64,
    /// Packets that a switch agent keeps.
    pub(crate) kept: u64,
    pub(crate) group: GroupId,
}

/// The queue of one observed port.
#[derive(Debug)]
pub(crate) struct QueueMonitor {
    pub(crate) stats: QueueStats,
    pub(crate) trace: Option<Trace>,
    /// Last change, for the integral per time bin.
    last: (Time, u32),
    binned: bool,
}

/// One lost packet: a row of the drops table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropRecord {
    pub(crate) at: Time,
    pub(crate) link: LinkId,
    pub(crate) flow: FlowId,
    pub(crate) reason: DropReason,
    pub(crate) seq: u32,
    pub(crate) ack: bool,
    pub(crate) retransmitted: bool,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) ports: Vec<PortBook>,
    pub(crate) flows: Vec<FlowBook>,
    /// Indexed by link; set for observed ports.
    pub(crate) queues: Vec<Option<QueueMonitor>>,
    pub(crate) bins: Option<Bins>,
    pub(crate) sack: Slots<SackBlocks>,
    pub(crate) drop_log: Vec<DropRecord>,
}

/// The drops table lists this many losses; totals count all.
pub(crate) const DROP_LOG_LIMIT: usize = 100_000;

impl Ledger {
    pub(crate) fn new(links: usize, bins: Option<Bins>) -> Self {
        Self {
            drops: [0; DropReason::ALL.len()],
            ports: vec![PortBook::default(); links],
            flows: Vec::new(),
            queues: (0..links).map(|_| None).collect(),
            bins,
            sack: Slots::default(),
            drop_log: Vec::new(),
        }
    }

    /// Starts to watch the queue of `link`; `binned` if its length goes into the time bins.
    pub(crate) fn observe(&mut self, link: LinkId, trace: bool, binned: bool) {
        let trace = trace.then(Trace::new);
        let monitor = QueueMonitor { stats: QueueStats::new(), trace, last: (Time::ZERO, 0), binned };
        self.queues[link.index()] = Some(monitor);
    }

    pub(crate) fn add_flow(&mut self, group: GroupId) {
        self.flows.push(FlowBook { group, ..FlowBook::default() });
    }

    #[cold]
    pub(crate) fn on_drop(&mut self, link: LinkId, packet: &Packet, reason: DropReason, now: Time) {
        self.drops[reason as usize] += 1;
        self.ports[link.index()].drops += 1;
        if packet.flags.has(Flags::SACK) {
            self.sack.take(packet.stamp.bits() as usize);
        }
        let ack = packet.is_ack();
        if self.drop_log.len() < DROP_LOG_LIMIT {
            self.drop_log.push(DropRecord {
                at: now,
                link,
                flow: packet.flow,
                reason,
                seq: packet.seq,
                ack,
                retransmitted: packet.flags.has(Flags::RETRANSMITTED),
            });
        }
        let book = &mut self.flows[packet.flow.index()];
        if ack {
            book.acks_dropped += 1;
        } else {
            book.drops += 1;
            let retransmitted = packet.flags.has(Flags::RETRANSMITTED);
            book.lost.retain(|lost| lost.seq != packet.seq);
            book.lost.push(LostSegment { seq: packet.seq, retransmitted });
        }
        if let Some(bins) = &mut self.bins {
            bins.add_drop(book.group, now);
        }
    }

    #[inline]
    pub(crate) fn on_mark(&mut self, link: LinkId, packet: &Packet, now: Time) {
        self.ports[link.index()].marks += 1;
        let book = &mut self.flows[packet.flow.index()];
        book.marks += 1;
        if let Some(bins) = &mut self.bins {
            bins.add_mark(book.group, now);
        }
    }

    /// The segment at `seq` was sent again: its earlier loss no longer counts.
    #[cold]
    pub(crate) fn on_resent(&mut self, flow: FlowId, seq: u32) {
        self.flows[flow.index()].lost.retain(|lost| lost.seq != seq);
    }

    /// The queue of an observed port changed.
    #[inline]
    pub(crate) fn on_queue(&mut self, link: LinkId, at: Time, backlog: Backlog) {
        if let Some(monitor) = &mut self.queues[link.index()] {
            let bytes = Bytes::new(backlog.bytes);
            monitor.stats.on_change(at, backlog.packets, bytes);
            if let Some(trace) = &mut monitor.trace {
                trace.on_change(at, backlog.packets, bytes);
            }
            if monitor.binned
                && let Some(bins) = &mut self.bins
            {
                bins.add_queue(monitor.last.0, at, monitor.last.1);
                monitor.last = (at, backlog.packets);
            }
        }
    }

    pub(crate) fn marks(&self) -> u64 {
        self.ports.iter().map(|port| port.marks).sum()
    }
    pub(crate) fn would_mark(&self) -> u64 {
        self.ports.iter().map(|port| port.would_mark).sum()
    }
}
