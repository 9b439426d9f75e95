//! Counts of what happens to packets, the same for every event core: drops, marks and queue lengths.

use crate::flow_map::FlowMap;
use crate::ledger::{Ledger, What};
use crate::spec::Limit;
use fanin_core::ids::{FlowId, GroupId, LinkId, NodeId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Backlog, DropReason};
use fanin_core::units::{Bytes, Time};
use fanin_measure::bins::Bins;
use fanin_measure::queue::{QueueStats, Trace};

/// What happened to packets at one egress port.
#[derive(Clone, Debug)]
pub struct PortBook {
    pub drops: u64,
    /// Bytes of dropped packets, and payload that was cut.
    pub dropped_bytes: u64,
    /// Of the dropped bytes, those lost on the link after they had left the port.
    pub lost_on_link: u64,
    pub marks: u64,
    pub would_mark: u64,
    /// The buffer limit that the port must not exceed.
    pub limit: Limit,
    pub pauses: Pauses,
}

/// How often and for how long flow control has paused a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    pub count: u64,
    /// Without a pause that still holds.
    pub lasted: Time,
    since: Option<Time>,
}

impl Pauses {
    fn change(&mut self, paused: bool, at: Time) {
        if let Some(since) = self.since.take() {
            self.lasted += at - since;
        }
        self.count += u64::from(paused);
        self.since = paused.then_some(at);
    }
}

/// A packet leaves a port.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its transmission began, and when it ends.
    pub begun: Time,
    pub at: Time,
    /// Its bytes.
    pub size: u16,
    /// Bytes of the packet whose transmission begins then, zero if there is none.
    pub next: u16,
    /// What is left in the queue.
    pub backlog: Backlog,
}

/// An invariant that was violated during the run.
#[derive(Clone, Debug)]
pub struct Breach {
    pub at: Time,
    /// The invariant, with the numbers.
    pub what: String,
}

/// A segment whose latest transmission was dropped.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    pub seq: u32,
    /// The dropped transmission was itself a retransmission.
    pub retransmitted: bool,
}

/// Loss runs: dropped segments with consecutive sequence numbers. A full port drops whole packet trains.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossRun {
    /// Sequence number of the segment after the last lost one.
    next: u32,
    length: u64,
    pub(crate) longest: u64,
}

impl LossRun {
    fn lose(&mut self, seq: u32, numbers: u32) {
        self.length = if seq == self.next { self.length + 1 } else { 1 };
        self.next = seq.wrapping_add(numbers);
        self.longest = self.longest.max(self.length);
    }
}

/// What happened to packets of one flow inside the network.
#[derive(Clone, Debug, Default)]
pub struct FlowBook {
    pub drops: u64,
    /// Marks on data packets.
    pub marks: u64,
    /// Segments whose latest transmission was dropped.
    pub lost: Vec<LostSegment>,
    /// Segments that its sender retransmitted, SYNs included.
    pub retransmissions: u64,
    /// The runs of its lost segments.
    pub(crate) loss_run: LossRun,
    /// Acknowledgements (and SYN-ACKs) of the flow that were dropped (`acks_dropped`) or marked (`acks_marked`).
    pub acks_dropped: u64,
    pub(crate) acks_marked: u64,
    /// Bytes of all its packets that were dropped, in both directions, and payload that was cut.
    pub dropped_bytes: u64,
    /// Packets held by switch agents; negative if an agent injects packets that it did not hold.
    pub kept: i64,
    /// Bytes of these packets.
    pub kept_bytes: i64,
    /// Control packets that switch agents have sent to its sender.
    pub made: u64,
    /// Their bytes.
    pub made_bytes: u64,
    pub(crate) group: GroupId,
}

impl FlowBook {
    /// The latest transmission of a segment is lost.
    fn lose(&mut self, seq: u32, retransmitted: bool) {
        self.lost.retain(|lost| lost.seq != seq);
        self.lost.push(LostSegment { seq, retransmitted });
    }
    /// Counts a marked packet: an acknowledgement, or a segment.
    #[inline(always)]
    pub fn count_mark(&mut self, ack: bool) {
        self.marks += u64::from(!ack);
        self.acks_marked += u64::from(ack);
    }
}

/// What happened to packets of a traffic group, acknowledgements included.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupBook {
    pub drops: u64,
    pub marks: u64,
}

impl GroupBook {
    fn add(&mut self, flow: &FlowBook) {
        self.drops += flow.drops + flow.acks_dropped;
        self.marks += flow.marks + flow.acks_marked;
    }
}

/// The queue of one observed port.
#[derive(Debug)]
pub struct QueueMonitor {
    pub stats: QueueStats,
    pub trace: Option<Trace>,
    /// Time and length of the last change, for the integral in each time bin.
    last: (Time, u32),
    /// The port's number among the observed ports.
    slot: usize,
    /// Transmission time of a byte at the rate that the link has without faults.
    ps_per_byte: u32,
}

/// One lost packet: a row of the drops table.
#[derive(Clone, Copy, Debug)]
pub struct DropRecord {
    pub at: Time,
    pub link: LinkId,
    pub flow: FlowId,
    pub reason: DropReason,
    pub seq: u32,
    pub ack: bool,
    pub retransmitted: bool,
}

#[derive(Debug)]
pub struct Books {
    pub drops: [u64; DropReason::ALL.len()],
    pub ports: Vec<PortBook>,
    pub flows: FlowMap<FlowBook>,
    /// By traffic group, the sums over finished flows.
    over: Vec<GroupBook>,
    /// The longest loss run of any finished flow.
    over_longest: u64,
    /// By link; set for observed ports.
    pub queues: Vec<Option<QueueMonitor>>,
    pub bins: Option<Bins>,
    pub drop_log: Vec<DropRecord>,
    /// By node, the bytes held by its switch agent, less those of the packets that it has made.
    pub kept: Vec<i64>,
    /// What nodes do out of the order of time, and waits to be entered in it.
    pub ledger: Ledger,
    /// The first invariant that was violated.
    pub breach: Option<Breach>,
    /// Bytes of headers in every packet: a segment of this size carries no data.
    header: u16,
}

/// Maximum rows of the drops table; totals count all losses.
pub(crate) const DROP_LOG_LIMIT: usize = 100_000;

impl Books {
    /// Books for ports with these buffers and for so many nodes.
    pub fn new(limits: impl Iterator<Item = Limit>, nodes: usize, bins: Option<Bins>, header: u16) -> Self {
        let port = |limit| PortBook {
            drops: 0,
            dropped_bytes: 0,
            lost_on_link: 0,
            marks: 0,
            would_mark: 0,
            limit,
            pauses: Pauses::default(),
        };
        let ports: Vec<PortBook> = limits.map(port).collect();
        let links = ports.len();
        Self {
            drops: [0; DropReason::ALL.len()],
            ports,
            flows: FlowMap::default(),
            over: Vec::new(),
            over_longest: 0,
            queues: (0..links).map(|_| None).collect(),
            bins,
            drop_log: Vec::new(),
            kept: vec![0; nodes],
            ledger: Ledger::default(),
            breach: None,
            header,
        }
    }

    /// Starts to observe the queue of `link`. Calls come in the order of links.
    pub fn observe(&mut self, link: LinkId, ps_per_byte: u32, trace: bool) {
        let trace = trace.then(Trace::new);
        let slot = self.observed().count();
        let monitor = QueueMonitor { stats: QueueStats::new(), trace, last: (Time::ZERO, 0), slot, ps_per_byte };
        self.queues[link.index()] = Some(monitor);
    }

    /// The observed ports, in the order of their columns in the time bins.
    pub fn observed(&self) -> impl Iterator<Item = LinkId> {
        let watched = self.queues.iter().enumerate().filter(|(_, monitor)| monitor.is_some());
        watched.map(|(link, _)| LinkId::new(link))
    }

    pub fn add_flow(&mut self, group: GroupId) {
        self.flows.push(FlowBook { group, ..FlowBook::default() });
        self.over.resize(self.over.len().max(group.index() + 1), GroupBook::default());
    }

    /// Closes the book of a finished flow; its counts go to its traffic group.
    pub fn close_flow(&mut self, flow: FlowId) {
        if let Some(book) = self.flows.take(flow) {
            self.over[book.group.index()].add(&book);
            self.over_longest = self.over_longest.max(book.loss_run.longest);
        }
    }

    /// The sums over a traffic group.
    pub fn of_group(&self, group: GroupId) -> GroupBook {
        let mut sum = self.over.get(group.index()).copied().unwrap_or_default();
        self.flows.iter().filter(|(_, book)| book.group == group).for_each(|(_, book)| sum.add(book));
        sum
    }

    /// The longest loss run of any flow.
    pub fn longest_loss_run(&self) -> u64 {
        self.flows.iter().map(|(_, book)| book.loss_run.longest).fold(self.over_longest, u64::max)
    }

    /// Records a packet of a finished flow; there should be none.
    #[cold]
    fn stray(&mut self, packet: &Packet, at: Time) {
        self.broken(at, format!("flow {} had finished, but a packet of it is in the network", packet.flow));
    }

    #[cold]
    pub fn on_drop(&mut self, link: LinkId, packet: &Packet, reason: DropReason, now: Time) {
        if self.ledger.open {
            return self.ledger.note(What::Drop(link, Box::new(*packet), reason));
        }
        self.drops[reason as usize] += 1;
        let port = &mut self.ports[link.index()];
        port.drops += 1;
        port.dropped_bytes += u64::from(packet.size);
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
        let Some(book) = self.flows.get_mut(packet.flow) else { return self.stray(packet, now) };
        book.dropped_bytes += u64::from(packet.size);
        if ack {
            book.acks_dropped += 1;
        } else {
            book.drops += 1;
            // The last packet of a handshake has the sequence number of the first data byte, but carries no data.
            if packet.size > self.header || packet.flags.has(Flags::SYN.with(Flags::FIN)) {
                let retransmitted = packet.flags.has(Flags::RETRANSMITTED);
                book.lose(packet.seq, retransmitted);
                let flags = u32::from(packet.flags.has(Flags::SYN.with(Flags::FIN)));
                book.loss_run.lose(packet.seq, u32::from(packet.size - self.header) + flags);
            }
        }
        if let Some(bins) = &mut self.bins {
            bins.add_drop(book.group, now);
        }
    }

    /// The port of `link` cuts the payload of a segment, which is lost. Returns its bytes.
    #[cold]
    pub fn trim(&mut self, link: LinkId, packet: &mut Packet, now: Time) -> u64 {
        let cut = u64::from(packet.size - self.header);
        let retransmitted = packet.flags.has(Flags::RETRANSMITTED);
        packet.size = self.header;
        packet.flags = packet.flags.without(Flags::FIN).with(Flags::TRIMMED);
        self.ports[link.index()].dropped_bytes += cut;
        let Some(book) = self.flows.get_mut(packet.flow) else {
            self.stray(packet, now);
            return cut;
        };
        book.dropped_bytes += cut;
        book.lose(packet.seq, retransmitted);
        cut
    }

    /// A packet was admitted to the port of `link`. `backlog` is what counts against the limit now, and `pool_bytes` is
    /// what the ports that share its memory held without the packet. Ports decide on admission themselves; this checks
    /// that they keep the limit.
    #[inline]
    pub fn on_admitted(&mut self, link: LinkId, now: Time, packet: &Packet, backlog: Backlog, pool_bytes: u64) {
        let size = u64::from(packet.size);
        let pool_bytes = pool_bytes + size;
        let within = match self.ports[link.index()].limit {
            Limit::Unlimited => true,
            Limit::Packets(limit) => backlog.packets <= limit,
            Limit::Bytes(limit) => backlog.bytes <= limit,
            Limit::BytesBelow(limit) => backlog.bytes < limit + size,
            Limit::Dynamic { memory, .. } => pool_bytes <= memory,
        };
        if !within {
            self.overflow(link, now, backlog, pool_bytes);
        }
    }

    #[cold]
    fn overflow(&mut self, link: LinkId, now: Time, backlog: Backlog, pool_bytes: u64) {
        let Backlog { packets, bytes } = backlog;
        let what = match self.ports[link.index()].limit {
            Limit::Packets(limit) => format!("link {link} holds {packets} packets in a buffer of {limit}"),
            Limit::Bytes(limit) | Limit::BytesBelow(limit) => {
                format!("link {link} holds {bytes} bytes in a buffer of {limit}")
            }
            Limit::Dynamic { memory, .. } => {
                format!("the ports that share the memory of link {link} hold {pool_bytes} bytes in {memory}")
            }
            Limit::Unlimited => return,
        };
        self.broken(now, what);
    }

    /// Records a violated invariant; only the first one is kept.
    #[cold]
    pub fn broken(&mut self, at: Time, what: String) {
        self.breach.get_or_insert(Breach { at, what });
    }

    /// A switch agent holds a packet.
    pub fn on_keep(&mut self, switch: NodeId, packet: &Packet) {
        self.keep(switch, packet, 1);
    }

    /// A switch agent releases a packet that it held: it sends or drops it.
    pub fn on_let_go(&mut self, switch: NodeId, packet: &Packet) {
        self.keep(switch, packet, -1);
    }

    /// A switch agent has made a packet.
    pub fn on_make(&mut self, switch: NodeId, packet: &Packet) {
        let Some(book) = self.flows.get_mut(packet.flow) else { return };
        book.made += 1;
        book.made_bytes += u64::from(packet.size);
        self.kept[switch.index()] -= i64::from(packet.size);
    }

    fn keep(&mut self, switch: NodeId, packet: &Packet, packets: i64) {
        let bytes = packets * i64::from(packet.size);
        let Some(book) = self.flows.get_mut(packet.flow) else { return };
        book.kept += packets;
        book.kept_bytes += bytes;
        self.kept[switch.index()] += bytes;
    }

    #[inline]
    pub fn on_mark(&mut self, link: LinkId, packet: &Packet, now: Time) {
        self.ports[link.index()].marks += 1;
        let ack = packet.is_ack();
        if self.ledger.open {
            return self.ledger.note(What::Mark(packet.flow, ack));
        }
        let Some(book) = self.flows.get_mut(packet.flow) else { return self.stray(packet, now) };
        book.count_mark(ack);
        if let Some(bins) = &mut self.bins {
            bins.add_mark(book.group, now);
        }
    }

    /// The segment at `seq` was retransmitted: its earlier loss no longer counts.
    #[cold]
    pub fn on_resent(&mut self, flow: FlowId, seq: u32) {
        if self.ledger.open {
            return self.ledger.note(What::Resent(flow, seq));
        }
        let book = &mut self.flows[flow];
        book.retransmissions += 1;
        book.lost.retain(|lost| lost.seq != seq);
    }

    /// A packet has left the port of `link`.
    #[inline(always)]
    pub fn on_departure(&mut self, link: LinkId, departure: &Departure) {
        if self.queues[link.index()].is_some() {
            if self.bins.is_some() {
                self.bin_sent(link, departure);
            }
            self.on_queue(link, departure.at, departure.backlog, departure.next);
        }
    }

    #[inline(never)]
    fn bin_sent(&mut self, link: LinkId, departure: &Departure) {
        if let (Some(monitor), Some(bins)) = (&self.queues[link.index()], &mut self.bins) {
            let as_built = Time::from_ps(u64::from(departure.size) * u64::from(monitor.ps_per_byte));
            bins.add_sent(monitor.slot, departure.begun, departure.at, as_built);
        }
    }

    /// The queue of an observed port changed. The packet in transmission has `in_service` bytes, zero if there is none.
    #[inline(always)]
    pub fn on_queue(&mut self, link: LinkId, at: Time, backlog: Backlog, in_service: u16) {
        if let Some(monitor) = &mut self.queues[link.index()] {
            let bytes = Bytes::new(backlog.bytes);
            monitor.stats.on_change(at, backlog.packets, bytes, Bytes::new(u64::from(in_service)));
            if monitor.trace.is_some() || self.bins.is_some() {
                self.log_queue(link, at, backlog);
            }
        }
    }

    /// Adds a change of an observed queue to its trace and to the time bins, which few runs have.
    #[inline(never)]
    fn log_queue(&mut self, link: LinkId, at: Time, backlog: Backlog) {
        if let Some(monitor) = &mut self.queues[link.index()] {
            if let Some(trace) = &mut monitor.trace {
                trace.on_change(at, backlog.packets, Bytes::new(backlog.bytes));
            }
            if let Some(bins) = &mut self.bins {
                bins.add_queue(monitor.slot, monitor.last.0, at, monitor.last.1);
                monitor.last = (at, backlog.packets);
            }
        }
    }

    /// Flow control pauses or resumes the port of `link`.
    pub fn on_pause(&mut self, link: LinkId, paused: bool, at: Time) {
        self.ports[link.index()].pauses.change(paused, at);
    }

    /// Adds the time up to the end of the run to the bins, and to pauses that still hold.
    pub fn close(&mut self, end: Time) {
        for Pauses { lasted, since, .. } in self.ports.iter_mut().map(|port| &mut port.pauses) {
            *lasted += since.take().map_or(Time::ZERO, |since| end - since);
        }
        for monitor in self.queues.iter_mut().flatten() {
            if let Some(bins) = &mut self.bins {
                bins.add_queue(monitor.slot, monitor.last.0, end, monitor.last.1);
                monitor.last.0 = end;
            }
        }
    }

    pub fn marks(&self) -> u64 {
        self.ports.iter().map(|port| port.marks).sum()
    }
    pub fn would_mark(&self) -> u64 {
        self.ports.iter().map(|port| port.would_mark).sum()
    }
}
