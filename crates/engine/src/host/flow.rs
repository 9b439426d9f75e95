//! One flow at work: its two ends, its paths, and the sender's way into the network.

use crate::event::EventCore;
use crate::event::order::Class;
use crate::flow_map::FlowMap;
use crate::ids::{FlowId, GroupId, NodeId, TransferId};
use crate::net::paths::{InTurn, Paths, choose};
use crate::packet::{Addresses, CellTag, Flags, Packet, Stamp};
use crate::roles::{AddressBook, Announcement, PacketFacts, PathRequest};
use crate::sim::world::Host;
use crate::tcp::FIRST_DATA;
use crate::tcp::receiver::Receiver;
use crate::tcp::resequencer::Resequencer;
use crate::tcp::sender::{OutSegment, Sender, SenderIo};
use crate::units::Time;

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
    /// What the transfer that it carries now is, or its request.
    pub(crate) carried: Announcement,
    /// SYN, full window, few duplicates, lost retransmission, spurious.
    pub(crate) timeouts: [u32; crate::measure::timeouts::TimeoutCause::ALL.len()],
}

/// Where the ends' own lines begin.
const _: () = {
    assert!(std::mem::offset_of!(Flow, receiver) == 128);
    assert!(std::mem::offset_of!(Flow, sender) % 64 == 0);
};

impl Flow {
    /// The transfer that it carries now, or whose request.
    pub(crate) fn carries(&self) -> TransferId {
        match self.purpose {
            Purpose::Request(transfer) => transfer,
            Purpose::Data => self.transfer,
        }
    }
    /// A segment has reached its receiver.
    #[inline(always)]
    pub(crate) fn book_arrival(&mut self, packet: &Packet) {
        self.arrived += 1;
        self.arrived_bytes += u64::from(packet.size);
        self.receiver.field = packet.field;
    }
    /// Packets that its two ends have sent.
    pub(crate) fn packets_sent(&self) -> u64 {
        self.sender.segments_sent + self.receiver.acks_sent
    }
    /// Their bytes.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.wire.sent_bytes + self.receiver.ack_bytes_sent
    }
}

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

impl AddressBook for FlowMap<Flow> {
    fn addresses(&self, flow: FlowId) -> Addresses {
        self[flow].wire.addresses()
    }
}

/// Address of a node: 10.0.0.0/8 plus its number.
pub(crate) fn address(node: NodeId) -> [u8; 4] {
    (0x0a00_0000_u32 + node.index() as u32).to_be_bytes()
}

/// The sender's way into the network.
pub(crate) struct Io<'a, C> {
    pub(crate) core: &'a mut C,
    pub(crate) wire: &'a mut Wire,
    pub(crate) paths: &'a Paths,
    pub(crate) host: &'a mut Host,
}

impl<C: EventCore> Io<'_, C> {
    /// Chooses the path of the flowcell that begins at or before `seq`.
    #[cold]
    fn next_cell(&mut self, seq: u64, cell: u64, now: Time) {
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
        let routes = InTurn { paths: self.paths, offsets: &self.wire.cell_paths };
        let node = self.core.node(self.host.edge, now);
        let (number, tag) = choose(&routes, &mut *self.host.selector, node, &request);
        (self.wire.forward, self.wire.tag) = (self.wire.cell_paths[number], tag);
    }
}

impl<C: EventCore> SenderIo for Io<'_, C> {
    const EAGER_TIMERS: bool = C::EAGER_TIMERS;

    #[inline(always)]
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts, now: Time) {
        if segment.seq >= self.wire.cell_end
            && let Some(cell) = self.host.selector.cell()
        {
            self.next_cell(segment.seq, cell, now);
        }
        let (mut priority, mut field) = (facts.priority, facts.field | self.wire.tag);
        if segment.flags.has(Flags::RETRANSMITTED) {
            if let (Some(tag), Some(cell)) = (CellTag::of(self.wire.tag), self.host.selector.cell()) {
                // It takes the way of the present cell, but belongs to its own.
                let cell = (segment.seq.saturating_sub(FIRST_DATA) / cell) as u32;
                field = facts.field | CellTag { cell, ..tag }.field();
            }
            priority = facts.resend_priority.unwrap_or(priority);
            self.core.books().on_resent(self.wire.id, segment.seq as u32);
            if let Some(bins) = &mut self.core.books().bins {
                bins.add_retransmission(self.wire.group, now);
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
            stamp: Stamp::of(now),
            window: if syn { u16::MAX } else { 0 },
            size: self.wire.header + segment.len as u16,
            flags: segment.flags.with_window_scale(if syn { self.wire.scale } else { 0 }),
            priority,
        };
        self.wire.sent_bytes += u64::from(packet.size);
        let link = self.paths.next(self.wire.forward).expect("a path has links");
        self.core.send(link, &packet, now);
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
