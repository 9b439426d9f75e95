//! Port: what a queue discipline knows of its egress port, and what it decides for each packet.

use crate::packet::{Flags, Packet};
use crate::rng::Stream;
use crate::units::{Rate, Size, Time};
use std::any::Any;

/// Packets and bytes in a port, the packet in transmission included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes. Counted only for ports that need them: see [`QueueDiscipline::needs_bytes`].
    pub bytes: u64,
}

/// Why a packet was dropped, and which code decides it.
///
/// A port decides in `PortSpec::admit`, by its limit first and then by its discipline. For a port that has only a limit
/// in packets, the event core's `send` makes the same decision by a short cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The port's buffer was full, by its limit or by the limit of a discipline's band.
    BufferFull,
    /// The port had reached its dynamic limit in the switch's shared memory.
    SharedBufferFull,
    /// The queue discipline dropped it early, as RED does: `QueueDiscipline::on_enqueue`.
    Discipline,
    /// It made room for a packet of a higher band: `QueueDiscipline::on_full`.
    PushedOut,
    /// The switch agent dropped it before it reached a port: `SwitchAgent::on_packet`.
    Agent,
    /// Its link was down or went down: a fault, see `net/faults.rs`.
    LinkDown,
    /// A fault of its link lost it at random, after its transmission.
    RandomLoss,
    /// The queue of the sending host was full, see `host/queue.rs`.
    HostQueueFull,
    /// A fault of its link chose it, after its transmission.
    Chosen,
    /// The headroom of its ingress was full: `pfc.rs` of the crate of ports.
    HeadroomFull,
}

impl DropReason {
    /// Every reason, in the order of its code.
    pub const ALL: [Self; 10] = [
        Self::BufferFull,
        Self::SharedBufferFull,
        Self::Discipline,
        Self::PushedOut,
        Self::Agent,
        Self::LinkDown,
        Self::RandomLoss,
        Self::HostQueueFull,
        Self::Chosen,
        Self::HeadroomFull,
    ];
    /// Whether every run counts it; if not, those with a limited host queue, a fault that chooses packets, or flow control.
    pub const fn is_everywhere(self) -> bool {
        !matches!(self, Self::HostQueueFull | Self::Chosen | Self::HeadroomFull)
    }
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        self.names().0
    }
    /// Name of the total that counts it.
    pub const fn total(self) -> &'static str {
        self.names().1
    }
    /// What distinguishes that total from those of other reasons.
    pub const fn definition(self) -> &'static str {
        self.names().2
    }
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::BufferFull => ("buffer-full", "drops_buffer_full", "the port's buffer was full"),
            Self::SharedBufferFull => (
                "shared-buffer-full",
                "drops_shared_buffer_full",
                "the port exceeded its dynamic threshold in the \
                                                                    shared buffer",
            ),
            Self::Discipline => ("discipline", "drops_discipline", "by the queue discipline"),
            Self::PushedOut => ("pushed-out", "drops_pushed_out", "pushed out by another packet"),
            Self::Agent => ("agent", "drops_agent", "by the scheme's switch agent"),
            Self::LinkDown => ("link-down", "drops_link_down", "their link was down"),
            Self::RandomLoss => ("random-loss", "drops_random_loss", "lost at random by a fault"),
            Self::HostQueueFull => {
                ("host-queue-full", "drops_host_queue_full", "the sending host's own queue was full")
            }
            Self::Chosen => ("chosen", "drops_chosen", "chosen by a fault"),
            Self::HeadroomFull => ("headroom-full", "drops_headroom_full", "the headroom of a lossless port was full"),
        }
    }
}

/// What a discipline knows of its egress port.
pub struct QueueCx<'a> {
    /// The clock.
    pub now: Time,
    /// The contents of the port without the packet in question.
    pub backlog: Backlog,
    /// Packets and bytes waiting in each band (without the one in transmission); empty for a single FIFO.
    pub bands: &'a [Backlog],
    /// Rate of the link.
    pub rate: Rate,
    /// The port's own buffer; none if it shares the switch's memory.
    pub buffer: Option<Size>,
    /// Random numbers of this port.
    pub random: &'a mut Stream,
    /// State that the roles of one scheme share on this switch.
    pub node: &'a mut dyn Any,
    /// Set if the discipline would have marked an ECN-capable packet with marking enabled.
    pub would_mark: bool,
}

impl QueueCx<'_> {
    /// Marks a packet if its transport is ECN-capable or if `any` is set, and records that it should be marked. Returns
    /// whether the packet carries a mark.
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

/// The decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits in this band. Bands are served in strict priority, 0 first, or as [`QueueDiscipline::serve`] says, and each in
    /// order.
    Enqueue(u8),
    /// It is dropped.
    Drop,
    /// It is dropped because its band's part of the buffer is full.
    Full,
    /// Its payload is cut, and what is left waits in this band. Only for segments with a payload.
    Trim(u8),
    /// The payload of the last packet that waits in a band is cut, and what is left moves to the end of another one; then the
    /// discipline is asked again. Only for bands whose packets all have a payload. The packet is dropped if none waits there.
    TrimLast {
        /// The band.
        of: u8,
        /// The other one.
        to: u8,
    },
}

/// What a discipline does on arrival, if that depends only on the number of packets in the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of packets in the port from which on arriving ones should be marked; none if they never are.
    pub from: Option<u32>,
    /// Which of the packets that should be marked are; the others are only counted.
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

/// Egress port: order, marks and early drops. The port checks its buffer limit first.
pub trait QueueDiscipline: Send {
    /// Number of strict-priority bands.
    fn bands(&self) -> u8 {
        1
    }
    /// Number of buffers of the configured size that the port has: one, or one for each band. The port checks their
    /// sum; the discipline divides it.
    fn buffers(&self) -> u32 {
        1
    }
    /// Whether [`QueueDiscipline::serve`] says which band is next; if not, it is the first one in which a packet waits.
    fn schedules(&self) -> bool {
        false
    }
    /// The port is free for another packet. `heads` has the size of the first one that waits in each band, none where none
    /// does; one waits at least. Returns the band of the next one.
    fn serve(&mut self, _heads: &[Option<u16>]) -> usize {
        0
    }
    /// A packet arrives and there is room for it as it is. May mark it.
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission;
    /// A full description of [`QueueDiscipline::on_enqueue`], if there is one: the port then need not call it.
    fn step(&self) -> Option<Step> {
        None
    }
    /// The buffer is full. Returns the band whose last packet is pushed out, or none to drop the arriving packet;
    /// called again until the packet fits. Only a port with several bands, or one that acts on dequeue, can push
    /// packets out: any other has fixed the departures of the packets that it holds, and drops the arriving one.
    fn on_full(&mut self, _cx: &mut QueueCx<'_>, _packet: &Packet) -> Option<u8> {
        None
    }
    /// Whether [`QueueDiscipline::on_dequeue`] does anything; a port without it is simulated faster.
    fn acts_on_dequeue(&self) -> bool {
        false
    }
    /// A packet starts its transmission and leaves the backlog in `cx` behind. May mark it.
    fn on_dequeue(&mut self, _cx: &mut QueueCx<'_>, _packet: &mut Packet) {}
    /// While fewer packets than this are in the port, `on_enqueue` neither drops nor marks and need not be called.
    fn idle_below(&self) -> u32 {
        0
    }
    /// Whether it marks; otherwise it only counts the packets that it would have marked.
    fn marks(&self) -> bool {
        true
    }
    /// Whether the discipline reads byte counts.
    fn needs_bytes(&self) -> bool {
        true
    }
    /// Whether it remembers nothing, so that another one with other thresholds can take its place during a run.
    fn keeps_nothing(&self) -> bool {
        false
    }
}
