//! The six roles of an incast remedy: the places where a published system may act.
//!
//! A role is a small object-safe trait. Its methods take one borrowed input struct and one context, which is
//! the only way to act. Contexts hold facts and a list of actions, never the network: the same code can be
//! driven by the simulator, by a test, or by real packets and a real clock.
//!
//! | role | one instance per | may |
//! |---|---|---|
//! | [`CongestionControl`] | flow, at the sender | set window, pacing, ECT, priority and in-band field |
//! | [`WindowControl`] | receiving host | set advertised windows, hold and release ACKs, ask for retransmission |
//! | [`QueueDiscipline`] | egress port | order, mark, drop |
//! | [`SwitchAgent`] | switch | see and rewrite packets, report to a controller, obey its orders |
//! | [`Controller`] | network | keep a global view, answer reports with orders |
//! | [`PathSelector`] | host | choose among equal-cost paths |

use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{Addresses, Flags, Packet};
use crate::rng::Stream;
use crate::tcp::EcnMode;
use crate::tcp::receiver::Delivery;
use crate::units::{Rate, Size, Time};
use std::any::Any;

// ---------------------------------------------------------------------------------------------------------
// Sender

/// The two variables of RFC 5681 section 2, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionWindow {
    /// Bytes that may be outstanding.
    pub cwnd: f64,
    /// Window at which slow start ends.
    pub ssthresh: f64,
}

/// What the sender writes into each packet that it sends from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFacts {
    /// In-band field for switches and the receiver.
    pub field: u64,
    /// Pause after each packet, for pacing; zero sends whole windows at once.
    pub gap: Time,
    /// Largest payload of a segment in bytes where that is to be less than the usual; zero for the usual.
    pub segment: u32,
    /// Mark data as ECN-capable. Without effect on a flow whose [`CongestionControl::ecn`] is off.
    pub ect: bool,
    /// Priority, 0 the highest.
    pub priority: u8,
    /// Priority of segments that are sent again; none gives them that of the others.
    pub resend_priority: Option<u8>,
}

impl PacketFacts {
    /// Payload of a full segment, where the usual one is `mss`.
    #[inline(always)]
    pub fn segment_of(&self, mss: u64) -> u64 {
        if self.segment == 0 { mss } else { mss.min(u64::from(self.segment)) }
    }
}

/// Facts and levers of one sender.
#[derive(Debug)]
pub struct SenderCx<'a> {
    /// The clock.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: f64,
    /// Bytes sent and not yet acknowledged, `nxt - una`.
    pub in_flight: u64,
    /// First unacknowledged sequence number.
    pub una: u64,
    /// Next sequence number to send.
    pub nxt: u64,
    /// One past the highest sequence number ever sent.
    pub max_sent: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Time>,
    /// The window.
    pub window: &'a mut CongestionWindow,
    /// What the next packets carry.
    pub packet: &'a mut PacketFacts,
    /// Set to be called back at that time.
    pub wake: &'a mut Time,
}

/// An acknowledgement, as congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Bytes newly acknowledged; zero on a duplicate.
    pub acked: u64,
    /// ECN echo was set.
    pub ece: bool,
    /// The flow is in loss recovery: a window must not grow.
    pub in_recovery: bool,
    /// The congestion window was what limited the sender, and not the peer's window or a lack of data. A window that
    /// is not used says nothing about the path and must not grow (RFC 7661 section 4.3). Always set where
    /// `transport.window-validation` is off.
    pub window_limited: bool,
    /// A round-trip time, if this acknowledgement gives an unambiguous one (RFC 6298 section 3).
    pub rtt: Option<Time>,
    /// In-band field that the receiver echoed.
    pub field: u64,
}

/// A transfer that the application hands to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferFacts {
    /// Sequence number of its first byte.
    pub first: u64,
    /// Its size in bytes; none if it is endless.
    pub bytes: Option<u64>,
    /// When its data should have arrived, if it is in a hurry.
    pub deadline: Option<Time>,
}

/// Sender side: one instance per flow.
pub trait CongestionControl: Send {
    /// Which ECN signalling both ends of the flow use.
    fn ecn(&self) -> EcnMode {
        EcnMode::Off
    }
    /// The application hands over a transfer: before [`CongestionControl::on_start`] the first of a connection, and on
    /// an open connection one after the other.
    fn on_transfer(&mut self, _transfer: &TransferFacts) {}
    /// Only the window that the peer advertises limits the sender; its own congestion window is kept, but not obeyed.
    /// Duplicate acknowledgements and the timer still make it retransmit.
    fn obeys_peer(&self) -> bool {
        false
    }
    /// SYNs carry what the sender announces of its transfer in their in-band field, where switches can read it too: see
    /// [`Announcement::field`].
    fn announces(&self) -> bool {
        false
    }
    /// An acknowledgement with PSH is only a request to retransmit: it acknowledges nothing.
    fn push_is_only_a_request(&self) -> bool {
        false
    }
    /// The connection is open and the window has its initial value.
    fn on_start(&mut self, _cx: &mut SenderCx<'_>) {}
    /// The in-band field that came with the SYN-ACK, after `on_start`; not called on a connection taken up later.
    fn on_syn_ack(&mut self, _cx: &mut SenderCx<'_>, _field: u64) {}
    /// An acceptable acknowledgement came; `acked` is zero on a duplicate.
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent);
    /// An ECN echo came and the window was not yet reduced in this round trip (RFC 3168 section 6.1.2).
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let halved = half_flight(cx);
        cx.window.ssthresh = halved;
        // The floor of the threshold must not open a window of one segment.
        cx.window.cwnd = cx.window.cwnd.min(halved);
    }
    /// A loss was detected by duplicate acknowledgements. Returns the new slow-start threshold in bytes.
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> f64 {
        half_flight(cx)
    }
    /// The retransmission timer expired for the first time on this segment. Returns the new threshold in bytes.
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>) -> f64 {
        half_flight(cx)
    }
    /// The time set through [`SenderCx::wake`] has come.
    fn on_wake(&mut self, _cx: &mut SenderCx<'_>) {}
    /// Names and values of internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// RFC 5681 equation 4: half of what is outstanding, two segments at least.
pub fn half_flight(cx: &SenderCx<'_>) -> f64 {
    (cx.in_flight as f64 / 2.0).max(2.0 * cx.mss)
}

// ---------------------------------------------------------------------------------------------------------
// Receiver

/// What a sender tells of a transfer when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// Its size in bytes; none if it is endless or not announced.
    pub bytes: Option<u64>,
    /// When its data should have arrived, if it is in a hurry.
    pub deadline: Option<Time>,
}

/// Bits of a size in [`Announcement::field`].
const SIZE_BITS: u32 = 40;
/// Unit of a deadline there.
const DEADLINE_UNIT: Time = Time::from_us(100);

impl Announcement {
    /// As it travels in the field of a SYN; never zero. Sizes end at 1 TiB and deadlines after 28 minutes: what is beyond
    /// travels as the largest and the latest. A deadline is rounded up to 100 us.
    pub fn field(&self) -> u64 {
        let most = (1 << SIZE_BITS) - 1;
        // 1 stands for an unknown size, and sizes begin at 2.
        let size = self.bytes.map_or(1, |bytes| bytes.saturating_add(2).min(most));
        let latest = u64::MAX >> SIZE_BITS;
        size | self.deadline.map_or(0, |at| at.ps().div_ceil(DEADLINE_UNIT.ps()).clamp(1, latest)) << SIZE_BITS
    }
    /// What a field says.
    pub fn of(field: u64) -> Self {
        let (size, deadline) = (field & ((1 << SIZE_BITS) - 1), field >> SIZE_BITS);
        Self { bytes: size.checked_sub(2), deadline: (deadline > 0).then(|| DEADLINE_UNIT * deadline) }
    }
}

/// A data segment that a receiving host accepted.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// First sequence number.
    pub seq: u64,
    /// Payload in bytes.
    pub payload: u64,
    /// Congestion experienced.
    pub ce: bool,
    /// The stream ends with this segment.
    pub fin: bool,
    /// In-band field as it arrived.
    pub field: u64,
    /// What reassembly made of it.
    pub delivery: Delivery,
    /// Next sequence number expected, after this segment.
    pub next: u64,
}

/// Which acknowledgement wants to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// Answer to a SYN.
    SynAck,
    /// Acknowledges new data.
    Data,
    /// Repeats the last acknowledgement number.
    Duplicate,
}

/// What becomes of an acknowledgement that wants to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckVerdict {
    /// It leaves now.
    Send,
    /// It waits; at most one waits per flow, and a newer one takes its place. Number and window are those of
    /// the moment of release.
    Hold,
}

/// What a receiving host is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverAction {
    /// Advertise at most `bytes` to the sender of `flow` from now on.
    Window {
        /// The flow.
        flow: FlowId,
        /// Its window in bytes.
        bytes: u64,
    },
    /// Send the acknowledgement of `flow` now: the held one, or else a fresh one.
    Release {
        /// The flow.
        flow: FlowId,
        /// Set PSH: ask the sender to retransmit its first unacknowledged segment (RCC).
        push: bool,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Handed back.
        token: u64,
    },
}

/// Facts and levers of one receiving host.
#[derive(Debug)]
pub struct ReceiverCx<'a> {
    /// The clock.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Rate of the host's link.
    pub rate: Rate,
    /// The largest window that an acknowledgement can carry: the receive buffer, or what 16 bits and the scale hold.
    pub most: u64,
    /// What to do, in order.
    pub actions: &'a mut Vec<ReceiverAction>,
}

/// Receiving host: one instance, which sees all flows that end there.
pub trait WindowControl: Send {
    /// A SYN came, or the first data of a transfer on an open connection. A SYN that is sent again comes here again.
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, announced: &Announcement);
    /// A data segment was accepted.
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival);
    /// An acknowledgement wants to leave.
    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckVerdict;
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut ReceiverCx<'_>, _token: u64) {}
    /// Whether it may still act on a flow. One that is over is kept for as long.
    fn knows(&self, _flow: FlowId) -> bool {
        true
    }
    /// Names and values of the host's internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
    /// The same of one flow that ends there; of one that it does not know, the same names.
    fn flow_probes(&self, _flow: FlowId, _show: &mut dyn FnMut(&'static str, f64)) {}
}

// ---------------------------------------------------------------------------------------------------------
// Port

/// Packets and bytes in a port, the packet in transmission included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes. Kept only for ports that need it: see [`QueueDiscipline::needs_bytes`].
    pub bytes: u64,
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The port's buffer was full.
    BufferFull,
    /// The port's share of the switch's common memory was used up.
    SharedBufferFull,
    /// The queue discipline refused it.
    Discipline,
    /// It made room for a packet of a higher band.
    PushedOut,
    /// The switch agent dropped it.
    Agent,
    /// Its link was down or went down.
    LinkDown,
    /// A fault of its link lost it at random.
    RandomLoss,
}

impl DropReason {
    /// Every reason, in the order of its code.
    pub const ALL: [Self; 7] = [
        Self::BufferFull,
        Self::SharedBufferFull,
        Self::Discipline,
        Self::PushedOut,
        Self::Agent,
        Self::LinkDown,
        Self::RandomLoss,
    ];
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BufferFull => "buffer-full",
            Self::SharedBufferFull => "shared-buffer-full",
            Self::Discipline => "discipline",
            Self::PushedOut => "pushed-out",
            Self::Agent => "agent",
            Self::LinkDown => "link-down",
            Self::RandomLoss => "random-loss",
        }
    }
}

/// Facts of one egress port.
pub struct QueueCx<'a> {
    /// The clock.
    pub now: Time,
    /// What is in the port, before the packet in question.
    pub backlog: Backlog,
    /// Packets and bytes waiting in each band (without the one in transmission); empty for a single FIFO.
    pub bands: &'a [Backlog],
    /// Rate of the link.
    pub rate: Rate,
    /// What the port may hold by itself; none where it shares the switch's memory.
    pub buffer: Option<Size>,
    /// Random numbers of this port.
    pub random: &'a mut Stream,
    /// State that the roles of one scheme share on this switch.
    pub node: &'a mut dyn Any,
    /// Set where the discipline would have marked, had the packet been ECN-capable and marking enabled.
    pub would_mark: bool,
}

impl QueueCx<'_> {
    /// Marks a packet if its transport is ECN-capable, or `any`, and counts where it would have been marked. Returns
    /// whether it carries the mark.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet, any: bool) -> bool {
        self.would_mark = true;
        let may = any || packet.flags.has(Flags::ECT);
        if may {
            packet.flags = packet.flags.with(Flags::CE);
        }
        may
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits in this band; bands are served in strict priority, 0 first, and in order within a band.
    Enqueue(u8),
    /// It is lost.
    Drop,
    /// It is lost because its band has no room, of a discipline that gives each band a part of the buffer.
    Full,
}

/// All that a discipline does on arrival where that depends on nothing but the number of packets in the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Packets in the port from which on an arriving one is due a mark; none if that never is.
    pub from: Option<u32>,
    /// Which of those that are due a mark get one; the others are only counted.
    pub marks: Markable,
}

/// Which packets a port may mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markable {
    /// None.
    Nothing,
    /// Those of an ECN-capable transport (RFC 3168 section 5).
    Capable,
    /// All.
    Everything,
}

impl Markable {
    /// Whether `packet` may get a mark.
    #[inline(always)]
    pub fn includes(self, packet: &Packet) -> bool {
        match self {
            Self::Nothing => false,
            Self::Capable => packet.flags.has(Flags::ECT),
            Self::Everything => true,
        }
    }
}

/// Egress port: order, marks, early drops. The buffer limit is the port's own and comes first.
pub trait QueueDiscipline: Send {
    /// Number of strict-priority bands.
    fn bands(&self) -> u8 {
        1
    }
    /// Buffers of the configured size that the port has: one, or one for each band. Dividing them is the discipline's
    /// business; the port sees to their sum.
    fn buffers(&self) -> u32 {
        1
    }
    /// A packet arrives and there is room for it. May mark it.
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission;
    /// What [`QueueDiscipline::on_enqueue`] does, where this says it all: a port that knows need not ask.
    fn step(&self) -> Option<Step> {
        None
    }
    /// The buffer is full. Names the band whose last packet makes room, or none to drop the arriving packet; asked
    /// again until the packet fits. Only a port with several bands, or one that acts on dequeue, can push out: any
    /// other has fixed the departure of what it holds, and drops the arriving packet.
    fn on_full(&mut self, _cx: &mut QueueCx<'_>, _packet: &Packet) -> Option<u8> {
        None
    }
    /// Whether [`QueueDiscipline::on_dequeue`] acts; a port that does not ask for it is served faster.
    fn acts_on_dequeue(&self) -> bool {
        false
    }
    /// A packet starts its transmission; the backlog in `cx` is what it leaves behind. May mark it.
    fn on_dequeue(&mut self, _cx: &mut QueueCx<'_>, _packet: &mut Packet) {}
    /// `on_enqueue` neither drops nor marks while fewer packets than this are in the port, and need not be called.
    fn idle_below(&self) -> u32 {
        0
    }
    /// Whether the discipline reads byte counts.
    fn needs_bytes(&self) -> bool {
        true
    }
}

// ---------------------------------------------------------------------------------------------------------
// Switch

/// Where a packet passes a switch.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Link on which it came.
    pub from: LinkId,
    /// Link on which it is about to leave.
    pub to: LinkId,
    /// What is in the port of `to`; nothing, if the agent does not look ([`SwitchAgent::needs_backlog`]).
    pub backlog: Backlog,
    /// Bytes that the port may hold: its own buffer, or all of a memory that ports share.
    pub buffer: u64,
    /// Rate of `to`.
    pub rate: Rate,
}

/// What a switch does with a packet after its agent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// On to the egress port.
    Forward,
    /// Lost.
    Drop,
    /// Kept by the agent, which may send it on later through [`SwitchAction::Inject`].
    Keep,
}

/// What a switch is told to do.
#[derive(Clone, Debug)]
pub enum SwitchAction {
    /// Send a message to the controller.
    Report(Vec<u8>),
    /// Put a packet kept earlier into the port of `to`, by way of [`SwitchAgent::on_inject`].
    Inject {
        /// The packet, as it was kept.
        packet: Packet,
        /// Egress.
        to: LinkId,
    },
    /// Lose a packet kept earlier.
    Discard {
        /// The packet, as it was kept.
        packet: Packet,
        /// Egress that it was kept from.
        to: LinkId,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Handed back.
        token: u64,
    },
}

/// One port of a switch: both directions of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchPort {
    /// Link on which packets come in.
    pub from: LinkId,
    /// Link on which they leave.
    pub to: LinkId,
    /// Rate of `to`.
    pub rate: Rate,
    /// An end host is at the other end, as the configuration of an edge port tells (IEEE 802.1Q, adminEdge).
    pub host: bool,
}

/// What a switch reads of a packet's headers beyond [`Packet`]: addresses and ports, which the handle stands for.
pub trait AddressBook {
    /// Addresses and ports of a flow, in the direction of its data.
    fn addresses(&self, flow: FlowId) -> Addresses;
}

/// Nobody's: for tests of agents that do not ask.
#[cfg(test)]
impl AddressBook for () {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses::default()
    }
}

/// Facts and levers of one switch.
pub struct SwitchCx<'a> {
    /// The clock.
    pub now: Time,
    /// The switch.
    pub switch: NodeId,
    /// State that the roles of one scheme share on this switch.
    pub node: &'a mut dyn Any,
    /// The headers of the packets that pass.
    pub book: &'a dyn AddressBook,
    /// What to do, in order.
    pub actions: &'a mut Vec<SwitchAction>,
}

/// Switch: one instance, which sees every packet that passes, in both directions.
pub trait SwitchAgent: Send {
    /// Whether [`Passage::backlog`] is looked at; a switch whose agent does not is followed less closely, and faster.
    fn needs_backlog(&self) -> bool {
        true
    }
    /// The run begins, on a switch with these ports.
    fn on_start(&mut self, _cx: &mut SwitchCx<'_>, _ports: &[SwitchPort]) {}
    /// A packet is about to enter an egress port. May rewrite its window, priority, ECN bits and field.
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass;
    /// A packet of [`SwitchAction::Inject`] is about to enter the port of `to`, which holds `backlog` and is of `rate`.
    fn on_inject(&mut self, _cx: &mut SwitchCx<'_>, _packet: &Packet, _to: LinkId, _backlog: Backlog, _rate: Rate) {}
    /// A message from the controller arrived.
    fn on_message(&mut self, _cx: &mut SwitchCx<'_>, _message: &[u8]) {}
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut SwitchCx<'_>, _token: u64) {}
    /// Names and values of internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

// ---------------------------------------------------------------------------------------------------------
// Controller

/// What the controller does.
#[derive(Clone, Debug)]
pub enum ControllerAction {
    /// Send a message to a switch.
    Order {
        /// The switch.
        to: NodeId,
        /// The message.
        message: Vec<u8>,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Handed back.
        token: u64,
    },
}

/// Facts and levers of the controller.
#[derive(Debug)]
pub struct ControllerCx<'a> {
    /// The clock.
    pub now: Time,
    /// What to do, in order.
    pub actions: &'a mut Vec<ControllerAction>,
}

/// Controller: one instance per network, behind a channel with delay, jitter and loss, and a FIFO server.
pub trait Controller: Send {
    /// The run begins.
    fn on_start(&mut self, _cx: &mut ControllerCx<'_>) {}
    /// A message from switch `from` was served.
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]);
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut ControllerCx<'_>, _token: u64) {}
}

// ---------------------------------------------------------------------------------------------------------
// Paths

/// What a path is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct PathRequest {
    /// The flow.
    pub flow: FlowId,
    /// Sending host.
    pub from: NodeId,
    /// Receiving host.
    pub to: NodeId,
    /// Number of paths to choose from; at least one.
    pub paths: usize,
    /// Which flowcell of the flow: 0 for the first, and always 0 without [`PathSelector::cell`].
    pub cell: u64,
}

/// The paths that a request offers, by number.
pub trait Routes {
    /// The links of path number `path`: that of the sending host first, that into the receiving host last.
    fn links(&self, path: usize) -> Vec<LinkId>;
}

/// Facts and levers of a choice among paths.
pub struct PathCx<'a> {
    /// State that the roles of one scheme share on the host's edge switch.
    pub node: &'a mut dyn Any,
    /// The paths to choose from.
    pub routes: &'a dyn Routes,
    /// Set to label the packets that take the path: see [`CellTag`](crate::packet::CellTag).
    pub label: Option<u32>,
}

/// Host or its edge switch: one instance per host.
pub trait PathSelector: Send {
    /// Index of the path to take, below `request.paths`.
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize;
    /// Bytes of a flowcell, after which a path is chosen anew; none keeps one path per flow.
    fn cell(&self) -> Option<u64> {
        None
    }
    /// Where data arrives: how long a segment that overtook an earlier flowcell waits for it before TCP sees it; none
    /// shows every segment at once. Flowcells are told apart by their tags, so this needs labelled paths.
    fn patience(&self) -> Option<Time> {
        None
    }
}

/// Flowcells over all paths in turn, from the one that a hash of the flow picks on (Presto, He et al. 2015, section 3.1;
/// packet spraying, Dixit et al. 2013, where a cell is one packet).
#[derive(Debug)]
pub struct Spray {
    /// Bytes of a flowcell.
    pub cell: u64,
}

impl PathSelector for Spray {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        ((Ecmp.choose(cx, request) as u64 + request.cell) % request.paths as u64) as usize
    }
    fn cell(&self) -> Option<u64> {
        Some(self.cell)
    }
}

/// Equal-cost multipath: a hash of the flow picks one path for its lifetime (RFC 2992).
#[derive(Debug, Default)]
pub struct Ecmp;

impl PathSelector for Ecmp {
    fn choose(&mut self, _cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        // SplitMix64's finaliser: every bit of the handle reaches the low bits.
        let mut x = (request.flow.index() as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % request.paths as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_read_as_they_were_written() {
        for bytes in [None, Some(0), Some(1), Some(32 << 10), Some((1 << 40) - 4)] {
            for deadline in [None, Some(Time::from_us(100)), Some(Time::from_ms(20))] {
                let told = Announcement { bytes, deadline };
                assert_eq!(Announcement::of(told.field()), told);
                assert!(told.field() > 0);
            }
        }
        let beyond = Announcement { bytes: Some(u64::MAX), deadline: Some(Time::from_us(101)) };
        let read = Announcement { bytes: Some((1 << 40) - 3), deadline: Some(Time::from_us(200)) };
        assert_eq!(Announcement::of(beyond.field()), read);
        assert_eq!(Announcement::of(0), Announcement::default());
    }
}
