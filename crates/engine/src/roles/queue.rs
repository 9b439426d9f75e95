//! Port: what a queue discipline sees of an egress port, and what it decides of each packet.

use crate::packet::{Flags, Packet};
use crate::rng::Stream;
use crate::units::{Rate, Size, Time};
use std::any::Any;

/// Packets and bytes in a port, the packet in transmission included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes. Kept only for ports that need it: see [`QueueDiscipline::needs_bytes`].
    pub bytes: u64,
}

/// Why a packet was lost, and who decides it.
///
/// A port decides in `PortSpec::admit`, which asks its limit first and then its discipline. A port with a limit in
/// packets and nothing else to ask takes a short cut to the same decision in the event core's `send`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The port's buffer was full: its limit, or a discipline whose bands have limits of their own.
    BufferFull,
    /// The port's share of the switch's shared memory was used up: its dynamic limit.
    SharedBufferFull,
    /// The queue discipline refused it, as RED does: `QueueDiscipline::on_enqueue`.
    Discipline,
    /// It made room for a packet of a higher band: `QueueDiscipline::on_full`.
    PushedOut,
    /// The switch agent dropped it before it reached a port: `SwitchAgent::on_packet`.
    Agent,
    /// Its link was down or went down: a fault, see `net/faults.rs`.
    LinkDown,
    /// A fault of its link lost it at random, after its transmission.
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
        self.names().0
    }
    /// Name of the total that counts it.
    pub const fn total(self) -> &'static str {
        self.names().1
    }
    /// What tells that total from those of other reasons.
    pub const fn definition(self) -> &'static str {
        self.names().2
    }
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::BufferFull => ("buffer-full", "drops_buffer_full", "the port's buffer was full"),
            Self::SharedBufferFull => {
                ("shared-buffer-full", "drops_shared_buffer_full", "over the threshold of the shared memory")
            }
            Self::Discipline => ("discipline", "drops_discipline", "by the queue's discipline"),
            Self::PushedOut => ("pushed-out", "drops_pushed_out", "pushed out by another"),
            Self::Agent => ("agent", "drops_agent", "by the scheme's part in the switch"),
            Self::LinkDown => ("link-down", "drops_link_down", "their link was down"),
            Self::RandomLoss => ("random-loss", "drops_random_loss", "lost at random by a fault"),
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
    /// Whether it marks; otherwise it only counts where it would have.
    fn marks(&self) -> bool {
        true
    }
    /// Whether the discipline reads byte counts.
    fn needs_bytes(&self) -> bool {
        true
    }
}
