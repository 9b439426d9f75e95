//! One flow at work: its two ends, its paths, and the sender's way into the network.

use crate::ids::{FlowId, GroupId, LinkId, NodeId, TransferId};
use crate::packet::{Addresses, CellTag, Flags, Packet, Stamp};
use crate::roles::{AddressBook, PacketFacts, PathCx, PathRequest, PathSelector, Routes};
use crate::sim::event::{Class, EventCore};
use crate::sim::world::Host;
use crate::tcp::FIRST_DATA;
use crate::tcp::receiver::Receiver;
use crate::tcp::resequencer::Resequencer;
use crate::tcp::sender::{OutSegment, Sender, SenderIo};
use crate::topology::{Topology, twin};
use crate::units::Time;
use std::any::Any;
use std::collections::BTreeMap;

/// Marks the end of a path in the table of paths.
const END: u32 = u32::MAX;

/// Every path in use, one after the other in one table. A packet carries the index of its next link.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    table: Vec<u32>,
    /// Offsets of the equal paths between two hosts.
    known: BTreeMap<(NodeId, NodeId), Vec<u32>>,
    /// The links between the switches of two hosts, of every equal path. In a network of many hosts nearly every flow
    /// joins a pair of its own, but few pairs of switches.
    trunks: BTreeMap<(NodeId, NodeId), Vec<Vec<LinkId>>>,
}

impl Paths {
    /// The link at `hop`, or none at the end of the path.
    #[inline(always)]
    pub(crate) fn next(&self, hop: u32) -> Option<LinkId> {
        let link = self.table[hop as usize];
        (link != END).then(|| LinkId::new(link as usize))
    }

    /// Offsets of all equal paths.
    pub(crate) fn between(&mut self, from: NodeId, to: NodeId, topology: &Topology) -> &[u32] {
        let (table, trunks) = (&mut self.table, &mut self.trunks);
        self.known.entry((from, to)).or_insert_with(|| {
            let (first, last) = (topology.uplink(from), twin(topology.uplink(to)));
            let switches = (topology.end(first), topology.end(twin(last)));
            let between = trunks.entry(switches).or_insert_with(|| {
                let inner = |path: Vec<LinkId>| path[1..path.len() - 1].to_vec();
                topology.paths(from, to).into_iter().map(inner).collect()
            });
            let mut offsets = Vec::with_capacity(between.len());
            for trunk in between {
                offsets.push(table.len() as u32);
                let path = std::iter::once(&first).chain(&*trunk).chain([&last]);
                table.extend(path.map(|link| link.index() as u32));
                table.push(END);
            }
            offsets
        })
    }

    /// The links of the path at `offset`.
    pub(crate) fn links(&self, offset: u32) -> impl Iterator<Item = LinkId> {
        self.table[offset as usize..].iter().take_while(|link| **link != END).map(|link| LinkId::new(*link as usize))
    }
}

/// An acknowledgement that waits for the receiving host's scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldAck {
    pub(crate) syn: bool,
    pub(crate) ece: bool,
}

/// What the network knows about a flow. What every packet needs fills the first cache line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Wire {
    pub(crate) id: FlowId,
    /// Offset of the path of segments, and of acknowledgements, in the table of paths.
    pub(crate) forward: u32,
    pub(crate) reverse: u32,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) group: GroupId,
    pub(crate) endpoint: u32,
    pub(crate) header: u16,
    /// Window scale in force after the handshake.
    pub(crate) scale: u8,
    /// First sequence number of the next flowcell.
    pub(crate) cell_end: u64,
    /// Tag of the present flowcell; zero if its path has no label.
    pub(crate) tag: u64,
    /// What a SYN announces; zero if it announces nothing.
    pub(crate) announcement: u64,
    /// Bytes of the packets that the sender has sent.
    pub(crate) sent_bytes: u64,
    pub(crate) cell: u64,
    /// Equal paths to choose from per flowcell; empty where a flow keeps its path.
    pub(crate) cell_paths: Box<[u32]>,
}

/// The receiving host's side of a flow beyond reassembly. What every segment needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ReceiverSide {
    pub(crate) state: Receiver,
    /// In-band field of the last segment, echoed in acknowledgements.
    pub(crate) field: u64,
    /// Pending event of the delayed acknowledgement.
    pub(crate) timer_at: Time,
    /// The transfer in progress ends before this sequence number.
    pub(crate) boundary: u64,
    /// Window that the host's scheduler grants, in bytes.
    pub(crate) granted: u64,
    /// One-way delay of the last segment.
    pub(crate) last_delay: Option<Time>,
    pub(crate) segments: u64,
    pub(crate) acks_sent: u64,
    pub(crate) ack_bytes_sent: u64,
    pub(crate) held: Option<HeldAck>,
    /// Its first data will be the first that the host hears of it: no SYN announces it.
    pub(crate) unannounced: bool,
    pub(crate) syn_again: bool,
    pub(crate) ecn_agreed: bool,
    /// Stamp and retransmission mark to echo in a SYN-ACK.
    pub(crate) syn_stamp: Stamp,
    /// What puts flowcells back in order, once one was tagged.
    pub(crate) order: Option<Box<Resequencer>>,
}

/// What to do when a flow's transfer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Data of a transfer.
    Data,
    /// A request: the server answers with this transfer.
    Request(TransferId),
}

/// The two ends share the first two cache lines; then each has its own. With hundreds of flows at work every line that
/// a packet touches has to be fetched, so what is used together stands together.
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) wire: Wire,
    /// Packets that reached their end host, in both directions.
    pub(crate) arrived: u64,
    pub(crate) acks_arrived: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) ack_bytes_arrived: u64,
    pub(crate) purpose: Purpose,
    pub(crate) receiver: ReceiverSide,
    pub(crate) transfer: TransferId,
    pub(crate) probed: bool,
    pub(crate) window_probes: u32,
    pub(crate) loss_probes: u32,
    pub(crate) sender: Sender,
    /// SYN, full window, few duplicates, lost retransmission, spurious.
    pub(crate) timeouts: [u32; crate::sim::transfers::TimeoutCause::ALL.len()],
}

/// Where the ends' own lines begin.
const _: () = {
    assert!(std::mem::offset_of!(Flow, receiver) == 128);
    assert!(std::mem::offset_of!(Flow, sender) % 64 == 0);
};

impl Wire {
    /// What the headers of the flow's segments show.
    pub(crate) fn addresses(&self) -> Addresses {
        Addresses {
            src: address(self.from),
            dst: address(self.to),
            src_port: 10_000 + (self.id.index() % 50_000) as u16,
            dst_port: 5_001,
        }
    }
}

impl AddressBook for Vec<Flow> {
    fn addresses(&self, flow: FlowId) -> Addresses {
        self[flow.index()].wire.addresses()
    }
}

/// Address of a node: 10.0.0.0/8 plus its number.
pub(crate) fn address(node: NodeId) -> [u8; 4] {
    (0x0a00_0000_u32 + node.index() as u32).to_be_bytes()
}

/// The equal paths between two hosts, of which one is to be chosen.
pub(crate) struct Offers<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) offsets: &'a [u32],
}

impl Offers<'_> {
    /// Offset of the chosen path, and the tag of the packets that take it.
    pub(crate) fn choose(
        &self,
        selector: &mut dyn PathSelector,
        node: &mut dyn Any,
        request: &PathRequest,
    ) -> (u32, u64) {
        let mut cx = PathCx { node, routes: self, label: None };
        let choice = selector.choose(&mut cx, request).min(self.offsets.len() - 1);
        let tag = cx.label.map_or(0, |label| CellTag { label, cell: request.cell as u32 }.field());
        (self.offsets[choice], tag)
    }
}

impl Routes for Offers<'_> {
    fn links(&self, path: usize) -> Vec<LinkId> {
        self.offsets.get(path).map_or_else(Vec::new, |offset| self.paths.links(*offset).collect())
    }
}

/// The sender's way into the network.
pub(crate) struct Io<'a, C> {
    pub(crate) core: &'a mut C,
    pub(crate) wire: &'a mut Wire,
    pub(crate) paths: &'a Paths,
    pub(crate) host: &'a mut Host,
    pub(crate) now: Time,
}

impl<C: EventCore> Io<'_, C> {
    /// Chooses the path of the flowcell that begins at or before `seq`.
    #[cold]
    fn next_cell(&mut self, seq: u64, cell: u64) {
        // Cells count data bytes; those before the first have the number of the handshake.
        self.wire.cell = seq.saturating_sub(FIRST_DATA) / cell;
        self.wire.cell_end = (self.wire.cell + 1) * cell + FIRST_DATA;
        let request = PathRequest {
            flow: self.wire.id,
            from: self.wire.from,
            to: self.wire.to,
            paths: self.wire.cell_paths.len(),
            cell: self.wire.cell,
        };
        let offers = Offers { paths: self.paths, offsets: &self.wire.cell_paths };
        let node = self.core.node(self.host.edge, self.now);
        (self.wire.forward, self.wire.tag) = offers.choose(&mut *self.host.selector, node, &request);
    }
}

impl<C: EventCore> SenderIo for Io<'_, C> {
    const EAGER_TIMERS: bool = C::EAGER_TIMERS;

    #[inline(always)]
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts) {
        if segment.seq >= self.wire.cell_end
            && let Some(cell) = self.host.selector.cell()
        {
            self.next_cell(segment.seq, cell);
        }
        let (mut priority, mut field) = (facts.priority, facts.field | self.wire.tag);
        if segment.flags.has(Flags::RETRANSMITTED) {
            if let (Some(tag), Some(cell)) = (CellTag::of(self.wire.tag), self.host.selector.cell()) {
                // It takes the way of the present cell, but belongs to its own.
                let cell = (segment.seq.saturating_sub(FIRST_DATA) / cell) as u32;
                field = facts.field | CellTag { cell, ..tag }.field();
            }
            priority = facts.resend_priority.unwrap_or(priority);
            self.core.ledger().on_resent(self.wire.id, segment.seq as u32);
            if let Some(bins) = &mut self.core.ledger().bins {
                bins.add_retransmission(self.wire.group, self.now);
            }
        }
        let syn = segment.flags.has(Flags::SYN);
        if syn && self.wire.announcement != 0 {
            field = self.wire.announcement;
        }
        let packet = Packet {
            arrival: 0,
            field,
            flow: self.wire.id,
            seq: segment.seq as u32,
            hop: self.wire.forward + 1,
            stamp: Stamp::of(self.now),
            window: if syn { u16::MAX } else { 0 },
            size: self.wire.header + segment.len as u16,
            flags: segment.flags,
            priority,
            scale: if syn { self.wire.scale } else { 0 },
        };
        self.wire.sent_bytes += u64::from(packet.size);
        let link = self.paths.next(self.wire.forward).expect("a path has links");
        self.core.send(link, &packet, self.now);
    }
    fn retransmission_timer(&mut self, at: Time) {
        self.core.schedule(at, Class::Retransmission, self.wire.id.index());
    }
    fn pacing_timer(&mut self, at: Time) {
        self.core.schedule(at, Class::Pacing, self.wire.id.index());
    }
    fn wake_timer(&mut self, at: Time) {
        self.core.schedule(at, Class::Wake, self.wire.id.index());
    }
}
