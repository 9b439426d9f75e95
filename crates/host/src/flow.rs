//! A flow: its two ends, and the network's data about it.

use crate::riding::Riding;
use fanin_core::ids::{FlowId, GroupId, NodeId, TransferId};
use fanin_core::packet::{Addresses, Flags, Packet, Stamp, address};
use fanin_core::roles::{AddressBook, Announcement};
use fanin_core::units::Time;
use fanin_port::flow_map::FlowMap;
use fanin_tcp::receiver::{AckOut, Receiver};
use fanin_tcp::resequencer::Resequencer;
use fanin_tcp::sender::Sender;
use std::ops::{Deref, DerefMut};

/// An acknowledgement that waits for the receiving host's scheduler.
#[derive(Clone, Copy, Debug)]
pub struct HeldAck {
    pub(crate) syn: bool,
    pub(crate) ece: bool,
}

/// The part of a request that the scheduler of the sending host holds back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldRequest {
    /// Everything after the SYN-ACK, with the contents of the SYN-ACK.
    Handshake { window: u64, flags: Flags, rtt: Option<Time>, field: u64 },
    /// The request itself, on an open connection.
    Data(Announcement),
}

/// A request and its response. They are the two directions of one connection, but separate flows here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dialogue {
    /// The flow of the response to the request that this flow carries, if the scheme follows requests.
    pub response: Option<FlowId>,
    /// The flow of the request to which this flow carries the response.
    pub request: Option<FlowId>,
    /// The part of its request that is held back.
    pub(crate) held: Option<HeldRequest>,
}

/// The network's data about a flow. The fields needed for every packet fill the first cache line.
#[derive(Debug)]
#[repr(C)]
pub struct Wire {
    pub(crate) id: FlowId,
    /// Offsets in the table of paths: of the path of segments (`forward`), and of acknowledgements (`reverse`).
    pub(crate) forward: u32,
    pub(crate) reverse: u32,
    pub from: NodeId,
    pub to: NodeId,
    pub(crate) group: GroupId,
    pub endpoint: u32,
    pub(crate) header: u16,
    /// Whether pure acknowledgements are ECN-capable.
    pub(crate) ecn_ack: bool,
    /// Window scale in force after the handshake.
    pub(crate) scale: u8,
    /// First sequence number of the next flowcell; 0 if each segment asks anew for a path.
    pub(crate) cell_end: u64,
    /// Tag of the current flowcell; zero if its path has no label.
    pub(crate) tag: u64,
    /// The announcement in the SYN; zero if there is none.
    pub(crate) announcement: u64,
    /// Bytes of the packets that the sender has sent.
    pub sent_bytes: u64,
    /// When its last segment left, if each asks anew.
    pub(crate) sent_at: Time,
    /// Equal-cost paths to choose from per flowcell or segment; empty if the flow keeps its path.
    pub(crate) cell_paths: Box<[u32]>,
}

/// A window that the receiving host grants, as headers carry it: computed when it changes, which is rare, instead of
/// for each acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// In a SYN-ACK, where it is never scaled (RFC 7323 section 2.2).
    pub(crate) unscaled: u16,
    pub(crate) scaled: u16,
}

impl ReceiverSide {
    /// The window field of an acknowledgement. A receiver of Linux has a window of its own.
    #[inline(always)]
    pub(crate) fn window_field(&self, scale: u8) -> u16 {
        let own = self.state.linux_window().map(|bytes| (bytes >> scale).min(u64::from(u16::MAX)) as u16);
        own.map_or(self.granted.scaled, |own| own.min(self.granted.scaled))
    }
}

impl Grant {
    /// The window of so many bytes, out of a receive buffer of `buffer`.
    pub(crate) fn of(bytes: u64, buffer: u64, scale: u8) -> Self {
        // Rounded up to the granularity of the window scale. Rounded down, a window of whole segments would admit one
        // segment fewer, or none.
        let scaled = bytes.div_ceil(1 << scale).min(buffer >> scale);
        let field = |window: u64| window.min(u64::from(u16::MAX)) as u16;
        Self { unscaled: field(bytes.min(buffer)), scaled: field(scaled) }
    }
}

/// The receiving host's state of a flow besides reassembly. The fields needed for every segment come first.
#[derive(Debug)]
#[repr(C)]
pub struct ReceiverSide {
    pub state: Receiver,
    /// In-band field of the last segment, echoed in acknowledgements.
    pub(crate) field: u64,
    /// When the pending event of the delayed-acknowledgement timer is due.
    pub(crate) timer_at: Time,
    /// The transfer in progress ends before this sequence number.
    pub boundary: u64,
    /// Window that the host's scheduler grants.
    pub(crate) granted: Grant,
    /// One-way delay of the last segment.
    pub(crate) last_delay: Option<Time>,
    pub segments: u64,
    pub(crate) acks_sent: u64,
    pub(crate) ack_bytes_sent: u64,
    pub held: Option<HeldAck>,
    /// Priority of acknowledgements.
    pub(crate) priority: u8,
    /// No SYN announced the flow to the host, which learns of it from the first data.
    pub(crate) unannounced: bool,
    pub(crate) syn_again: bool,
    pub(crate) ecn_agreed: bool,
    /// Time stamp and retransmission mark to echo in a SYN-ACK.
    pub(crate) syn_stamp: Stamp,
    /// Puts flowcells back in order; created by the first packet with a tag.
    pub(crate) order: Option<Box<Resequencer>>,
}

/// When segments arrived at the interface of a receiving host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrivalTimes {
    /// The stamp that acknowledgements echo, and when its segment arrived.
    echo: Option<Stamp>,
    echoed: Time,
    /// When the last segment arrived.
    latest: Time,
}

impl ArrivalTimes {
    /// A segment that arrived at `at` has reached TCP, which echoes the stamp `echo` from now on.
    #[cold]
    pub(crate) fn note(&mut self, at: Time, echo: Stamp) {
        self.latest = at;
        if self.echo != Some(echo) {
            (self.echo, self.echoed) = (Some(echo), at);
        }
    }
    /// How long the host has kept what this acknowledgement acknowledges: the segment whose stamp it echoes, or if that is
    /// acknowledged already the last one.
    pub(crate) fn held(&self, ack: &AckOut, now: Time) -> Time {
        now.saturating_sub(if ack.duplicate { self.latest } else { self.echoed })
    }
}

/// The content of a flow, which determines what happens once it has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data of a transfer.
    Data,
    /// A request: the server responds with this transfer.
    Request(TransferId),
}

/// The two ends share the first two cache lines; then each has its own. With hundreds of active flows every line that a
/// packet touches must be fetched, so fields that are used together lie next to each other.
#[repr(C, align(64))]
pub struct Flow {
    pub wire: Wire,
    /// Packets that reached their end host: segments (`arrived`) and acknowledgements (`acks_arrived`).
    pub arrived: u64,
    pub acks_arrived: u64,
    pub arrived_bytes: u64,
    pub ack_bytes_arrived: u64,
    pub purpose: Purpose,
    pub receiver: ReceiverSide,
    pub transfer: TransferId,
    pub probed: bool,
    /// Its application closes the stream once the connection is open and the data are written.
    pub(crate) closing: bool,
    /// Its sender announces how much it will send.
    pub(crate) announces_size: bool,
    pub sender: Sender,
    pub(crate) window_probes: u32,
    pub(crate) loss_probes: u32,
    pub dialogue: Dialogue,
    /// Size and deadline of the data or request that it carries now.
    pub(crate) carried: Announcement,
    /// Timeouts, by [`TimeoutCause`](fanin_measure::timeouts::TimeoutCause).
    pub timeouts: [u32; fanin_measure::timeouts::TimeoutCause::ALL.len()],
    /// How long the retransmission timers and those of SYNs ran that expired, and those of tail loss probes.
    pub(crate) timer_wait: Time,
    pub(crate) probe_wait: Time,
    /// The flow of its request, in the other direction, if the request's handshake opened the connection.
    pub(crate) asked_on: Option<FlowId>,
    /// When the SYN-ACK was sent first.
    pub(crate) syn_answered: Time,
    /// From then until the handshake's last packet arrived, if the SYN was sent once.
    pub(crate) handshake: Option<Time>,
    /// The acknowledgements that its segments carry, where the other direction of its connection is known.
    pub(crate) riding: Option<Box<Riding>>,
    /// When what its receiver acknowledges arrived, if acknowledgements say so.
    pub(crate) arrivals: ArrivalTimes,
    /// The handle of the telemetry of the last segment, until it is sent back; 0 then.
    pub(crate) stack: u32,
}

/// Checks where the cache lines of each end begin, on processors of 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(std::mem::offset_of!(Flow, receiver) == 128);
    assert!(std::mem::offset_of!(Flow, sender) % 64 == 0);
};

impl Flow {
    /// The transfer whose data or request it carries now.
    pub fn carries(&self) -> TransferId {
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
    /// A packet without data has arrived: the last one of the handshake, if it is the first.
    pub(crate) fn time_handshake(&mut self, now: Time) {
        if self.handshake.is_none() && !self.receiver.syn_again && !self.syn_answered.is_never() {
            let rtt = now.saturating_sub(self.syn_answered);
            self.handshake = Some(rtt);
            self.receiver.state.know_handshake(rtt, now);
        }
    }
    /// An acknowledgement has reached its sender.
    #[inline(always)]
    pub(crate) fn book_ack(&mut self, packet: &Packet) {
        self.acks_arrived += 1;
        self.ack_bytes_arrived += u64::from(packet.size);
    }
    /// What its sender announces about the data or request that it carries now.
    pub(crate) fn announced(&self) -> Announcement {
        Announcement { bytes: self.carried.bytes.filter(|_| self.announces_size), ..self.carried }
    }
    /// Whether both ends have nothing left to do.
    pub(crate) fn is_done(&self) -> bool {
        let (sender, side) = (&self.sender, &self.receiver);
        let waits = !side.state.ack_deadline().is_never() || side.held.is_some() || self.dialogue.held.is_some();
        // It does not matter how long they would wait.
        let out_of_order = side.order.as_ref().is_some_and(|order| order.deadline(Time::ZERO).is_some());
        let sane = self.window_is_sane(false) && sender.una() <= side.state.next();
        sender.is_quiet() && !waits && !out_of_order && sane
    }
    /// Whether the window and the slow-start threshold are valid.
    pub fn window_is_sane(&self, wraps: bool) -> bool {
        let window = self.sender.window();
        window.is_open(wraps) && window.cwnd.is_finite() && window.ssthresh > 0.0
    }
    /// Packets that its two ends have sent, but for those that `fq` still keeps.
    pub fn packets_sent(&self) -> u64 {
        self.sender.segments_sent - self.sender.segments_held() + self.receiver.acks_sent
    }
    /// Bytes of the packets that its two ends have sent.
    pub fn bytes_sent(&self) -> u64 {
        self.wire.sent_bytes + self.receiver.ack_bytes_sent
    }
}

impl Wire {
    /// Whether each segment asks anew for a path.
    #[inline(always)]
    pub(crate) fn asks_anew(&self) -> bool {
        self.cell_end == 0
    }
    /// Addresses and ports in the headers of the flow's segments.
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

/// Every flow that is not over.
#[derive(Default)]
pub struct Flows(FlowMap<Flow>);

impl Deref for Flows {
    type Target = FlowMap<Flow>;
    #[inline(always)]
    fn deref(&self) -> &FlowMap<Flow> {
        &self.0
    }
}

impl DerefMut for Flows {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut FlowMap<Flow> {
        &mut self.0
    }
}

impl AddressBook for Flows {
    fn addresses(&self, flow: FlowId) -> Addresses {
        self[flow].wire.addresses()
    }
    fn response(&self, flow: FlowId) -> Option<FlowId> {
        self[flow].dialogue.response
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

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;

    #[test]
    fn an_acknowledgement_says_how_long_its_host_kept_the_segment_whose_stamp_it_echoes() {
        let stamp = |us| Stamp::of(US(us));
        let mut arrivals = ArrivalTimes::default();
        arrivals.note(US(50), stamp(0));
        // The second waits with the first, whose stamp is echoed.
        arrivals.note(US(60), stamp(0));
        assert_eq!(arrivals.held(&AckOut::default(), US(70)), US(20));
        arrivals.note(US(80), stamp(40));
        assert_eq!(arrivals.held(&AckOut::default(), US(85)), US(5));
        // One beyond a hole leaves the echo as it is, and is itself what is reported.
        arrivals.note(US(90), stamp(40));
        assert_eq!(arrivals.held(&AckOut { duplicate: true, ..AckOut::default() }, US(91)), US(1));
    }
}
