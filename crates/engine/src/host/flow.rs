//! An active flow: its two ends, and the network's data about it.

use crate::flow_map::FlowMap;
use crate::ids::{FlowId, GroupId, NodeId, TransferId};
use crate::packet::{Addresses, Flags, Packet, Stamp, address};
use crate::roles::{AddressBook, Announcement};
use crate::tcp::receiver::Receiver;
use crate::tcp::resequencer::Resequencer;
use crate::tcp::sender::Sender;
use crate::units::Time;

/// An acknowledgement that waits for the receiving host's scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldAck {
    pub(crate) syn: bool,
    pub(crate) ece: bool,
}

/// What of a request waits for its turn at the scheduler of the host that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldRequest {
    /// Everything that follows the SYN-ACK: what that said.
    Handshake { window: u64, flags: Flags, rtt: Option<Time>, field: u64 },
    /// The request itself, on a connection that is open.
    Data(Announcement),
}

/// A request and its answer, which are the two directions of one connection but flows of their own here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dialogue {
    /// The flow that answers the request which this one carries, where the scheme follows requests.
    pub(crate) answer: Option<FlowId>,
    /// The flow that carries the request which this one answers.
    pub(crate) request: Option<FlowId>,
    /// What of its request is held.
    pub(crate) held: Option<HeldRequest>,
}

/// The network's data about a flow. The fields that every packet needs fill the first cache line.
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
    /// The value that a SYN announces; zero if it announces nothing.
    pub(crate) announcement: u64,
    /// Bytes of the packets that the sender has sent.
    pub(crate) sent_bytes: u64,
    pub(crate) cell: u64,
    /// Equal paths to choose from per flowcell; empty where a flow keeps its path.
    pub(crate) cell_paths: Box<[u32]>,
}

/// The receiving host's state of a flow beyond reassembly. The fields that every segment needs come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ReceiverSide {
    pub(crate) state: Receiver,
    /// In-band field of the last segment, echoed in acknowledgements.
    pub(crate) field: u64,
    /// When the pending event of the delayed acknowledgement is due.
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
    /// The host learns of the flow from its first data, as no SYN announces it.
    pub(crate) unannounced: bool,
    pub(crate) syn_again: bool,
    pub(crate) ecn_agreed: bool,
    /// Stamp and retransmission mark to echo in a SYN-ACK.
    pub(crate) syn_stamp: Stamp,
    /// Puts flowcells back in order; there once a packet with a tag has arrived.
    pub(crate) order: Option<Box<Resequencer>>,
}

/// The content of a flow, which determines what follows when it has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Data of a transfer.
    Data,
    /// A request: the server responds with this transfer.
    Request(TransferId),
}

/// The two ends share the first two cache lines; then each has its own. With hundreds of flows at work every line that
/// a packet touches has to be fetched, so fields that are used together are next to each other.
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
    /// Its sender says how much it will send.
    pub(crate) announces_size: bool,
    pub(crate) window_probes: u32,
    pub(crate) loss_probes: u32,
    pub(crate) sender: Sender,
    pub(crate) dialogue: Dialogue,
    /// Size and deadline of the data or request that it carries now.
    pub(crate) carried: Announcement,
    /// Timeouts, by [`TimeoutCause`](crate::measure::timeouts::TimeoutCause).
    pub(crate) timeouts: [u32; crate::measure::timeouts::TimeoutCause::ALL.len()],
    /// The flow whose handshake opened its connection, in the other direction, if it has none of its own: the request's.
    pub(crate) asked_on: Option<FlowId>,
}

/// Where the ends' own lines begin.
const _: () = {
    assert!(std::mem::offset_of!(Flow, receiver) == 128);
    assert!(std::mem::offset_of!(Flow, sender) % 64 == 0);
};

impl Flow {
    /// The transfer whose data or request it carries now.
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
    /// An acknowledgement has reached its sender.
    #[inline(always)]
    pub(crate) fn book_ack(&mut self, packet: &Packet) {
        self.acks_arrived += 1;
        self.ack_bytes_arrived += u64::from(packet.size);
    }
    /// What its sender announces of what it carries now.
    pub(crate) fn announced(&self) -> Announcement {
        Announcement { bytes: self.carried.bytes.filter(|_| self.announces_size), ..self.carried }
    }
    /// Whether both ends have nothing left to do.
    pub(crate) fn is_done(&self) -> bool {
        let (sender, side) = (&self.sender, &self.receiver);
        let waits = !side.state.ack_deadline().is_never() || side.held.is_some() || self.dialogue.held.is_some();
        // How long they would wait does not matter.
        let out_of_order = side.order.as_ref().is_some_and(|order| order.deadline(Time::ZERO).is_some());
        let sane = self.window_is_sane() && sender.una() <= side.state.next();
        sender.is_quiet() && !waits && !out_of_order && sane
    }
    /// Whether the windows are such as an algorithm may set.
    pub(crate) fn window_is_sane(&self) -> bool {
        let window = self.sender.window();
        window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0
    }
    /// Packets that its two ends have sent.
    pub(crate) fn packets_sent(&self) -> u64 {
        self.sender.segments_sent + self.receiver.acks_sent
    }
    /// Bytes of the packets that its two ends have sent.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.wire.sent_bytes + self.receiver.ack_bytes_sent
    }
}

impl Wire {
    /// What the headers of the flow's segments show.
    pub(crate) fn addresses(&self) -> Addresses {
        Self::named(self.id, [self.from, self.to])
    }
    fn named(flow: FlowId, [from, to]: [NodeId; 2]) -> Addresses {
        Addresses {
            src: address(from),
            dst: address(to),
            src_port: 10_000 + (flow.index() % 50_000) as u16,
            dst_port: 5_001,
        }
    }
}

impl AddressBook for FlowMap<Flow> {
    fn addresses(&self, flow: FlowId) -> Addresses {
        self[flow].wire.addresses()
    }
    fn answer(&self, flow: FlowId) -> Option<FlowId> {
        self[flow].dialogue.answer
    }
    fn announced(&self, flow: FlowId) -> Announcement {
        self[flow].announced()
    }
    fn asked_on(&self, flow: FlowId) -> Option<FlowId> {
        self.get(flow)?.asked_on
    }
    fn opener(&self, flow: FlowId) -> Addresses {
        let flow = &self[flow];
        match flow.asked_on {
            Some(request) => Wire::named(request, [flow.wire.to, flow.wire.from]),
            None => flow.wire.addresses(),
        }
    }
}
