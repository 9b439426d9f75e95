//! What every event core knows about an egress port: its link, its buffer limit and its discipline.

use crate::packet::{Flags, Packet};
use crate::rng::Stream;
use crate::roles::{Admission, Backlog, DropReason, QueueCx, QueueDiscipline};
use crate::units::{Bytes, Rate, Size, Time};
use std::any::Any;

/// The buffer that a port may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    /// No limit: a host's own interface.
    Unlimited,
    /// Packets, the one in transmission included.
    Packets(u32),
    /// Bytes, those of the packet in transmission included.
    Bytes(u64),
    /// Bytes that must not be reached before a packet enters; the packet itself may go beyond.
    BytesBelow(u64),
    /// A share of the switch's common memory that follows what is free (Choudhury and Hahne 1998):
    /// a port may hold at most `alpha` times the free bytes.
    Dynamic { pool: usize, memory: u64, alpha: f64 },
}

impl Limit {
    /// Whether the limit is one in bytes.
    pub(crate) fn counts_bytes(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::BytesBelow(_) | Self::Dynamic { .. })
    }

    /// Bytes that the port may hold, in full packets of `packet` bytes: its own, or all of the common memory.
    pub(crate) fn bytes(self, packet: u64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Packets(packets) => u64::from(packets) * packet,
            Self::Bytes(bytes) | Self::BytesBelow(bytes) => bytes,
            Self::Dynamic { memory, .. } => memory,
        }
    }
    /// The limit, where it is the port's own.
    pub(crate) fn size(self) -> Option<Size> {
        match self {
            Self::Packets(packets) => Some(Size::Packets(u64::from(packets))),
            Self::Bytes(bytes) | Self::BytesBelow(bytes) => Some(Size::Bytes(bytes)),
            Self::Unlimited | Self::Dynamic { .. } => None,
        }
    }
    /// The limit of several buffers of this size.
    pub(crate) fn times(self, buffers: u32) -> Self {
        match self {
            Self::Packets(packets) => Self::Packets(packets.saturating_mul(buffers)),
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(u64::from(buffers))),
            Self::BytesBelow(bytes) => Self::BytesBelow(bytes.saturating_mul(u64::from(buffers))),
            Self::Unlimited | Self::Dynamic { .. } => self,
        }
    }
}

/// Which of several hosts' packets comes first if they arrive at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// Decided by a hash of the seed, see [`crate::event::order::TieBreak`].
    Seeded,
    /// A packet that waited behind another one of its host.
    WaitingFirst,
    /// A packet that found its host's interface idle.
    FreshFirst,
}

/// Turn-around of a host: each packet waits a uniform time below `span`, and order is kept. Ties that the seed does not
/// decide are broken by a picosecond, which is less than anything else in a network takes.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    pub(crate) stream: Stream,
    pub(crate) span: Time,
    pub(crate) ties: Ties,
    pub(crate) ready: Time,
}

impl Jitter {
    /// When a packet that enters the interface at `now` may leave it at the earliest.
    pub(crate) fn ready(&mut self, now: Time) -> Time {
        self.ready = self.ready.max(now + self.stream.uniform_time(self.span));
        self.ready
    }
    /// When the transmission of a packet begins that may leave from `ready` on, and that the port can take at `free`.
    pub(crate) fn begin(&self, ready: Time, free: Time) -> Time {
        let tick = Time::from_ps(1);
        match self.ties {
            _ if ready >= free => ready,
            Ties::Seeded => free,
            Ties::WaitingFirst => free - tick,
            Ties::FreshFirst => free + tick,
        }
    }
}

/// State of a link under the active faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkState {
    /// Its port serves.
    pub(crate) up: bool,
    /// Its port lets packets in.
    pub(crate) admits: bool,
    pub(crate) rate: Rate,
}

/// One egress port and its link, as the network is built.
pub(crate) struct PortSpec {
    pub(crate) rate: Rate,
    pub(crate) ps_per_byte: u32,
    pub(crate) delay: Time,
    /// What all buffers of the port hold together.
    pub(crate) limit: Limit,
    /// The size of one of its buffers, where it has a fixed one.
    pub(crate) buffer: Option<Size>,
    /// The packet in transmission counts neither against the limit nor for the discipline's decisions on arrival.
    pub(crate) waiting_only: bool,
    /// What arrives, is due a mark and is not ECN-capable is lost.
    pub(crate) drops_unmarkable: bool,
    pub(crate) discipline: Box<dyn QueueDiscipline>,
    /// The discipline has several bands or acts on dequeue: only then it sees bands and may push out.
    pub(crate) shows_bands: bool,
    pub(crate) jitter: Option<Jitter>,
    pub(crate) random: Stream,
    /// Index of the node that the port belongs to.
    pub(crate) node: usize,
    /// Its queue length is followed exactly over time: it is measured, or an agent asks for its bytes.
    pub(crate) observed: bool,
    /// A fault will stop it or change its rate, so that no departure is certain before its time.
    pub(crate) faulty: bool,
    /// It serves packets, see [`LinkState`].
    pub(crate) up: bool,
    /// It lets packets in, see [`LinkState`].
    pub(crate) admits: bool,
}

/// The decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Enqueue(u8),
    /// The last packet of this band makes room first; if it has none, the arriving packet is lost for this reason.
    PushOut(u8, DropReason),
    Drop(DropReason),
}

/// Facts for a decision about one packet.
pub(crate) struct Situation<'a> {
    pub(crate) now: Time,
    pub(crate) backlog: Backlog,
    pub(crate) bands: &'a [Backlog],
    /// Bytes in all ports of the pool, for a dynamic limit.
    pub(crate) pool_bytes: u64,
    pub(crate) node: &'a mut dyn Any,
}

impl PortSpec {
    /// What counts of a `backlog` with a packet of `in_service` bytes in transmission, none if the port is idle.
    #[inline(always)]
    pub(crate) fn counted(&self, backlog: Backlog, in_service: u64) -> Backlog {
        if !self.waiting_only || backlog.packets == 0 {
            return backlog;
        }
        Backlog { packets: backlog.packets - 1, bytes: backlog.bytes - in_service }
    }

    /// Whether packets wait in bands until their service is decided, because a departure cannot be known at arrival.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.faulty || self.shows_bands
    }

    /// Applies the effect of a fault.
    pub(crate) fn set(&mut self, state: LinkState) {
        debug_assert!(self.faulty);
        (self.up, self.admits, self.rate) = (state.up, state.admits, state.rate);
        self.ps_per_byte = state.rate.ps_per_byte().expect("the parser checks rates");
    }

    pub(crate) fn needs_bytes(&self) -> bool {
        self.discipline.needs_bytes() || self.limit.counts_bytes()
    }

    /// Transmission time of `size` bytes.
    pub(crate) fn transmission(&self, size: u16) -> Time {
        Time::from_ps(u64::from(size) * u64::from(self.ps_per_byte))
    }

    /// Decides about an arriving packet, which may be marked. The second value: a mark was due, ECT or not.
    #[inline(always)]
    pub(crate) fn admit(&mut self, packet: &mut Packet, at: Situation<'_>) -> (Decision, bool) {
        if !self.admits {
            return (Decision::Drop(DropReason::LinkDown), false);
        }
        let size = Bytes::new(u64::from(packet.size));
        let full = self.full(size, at.backlog, at.pool_bytes);
        let Situation { now, backlog, node, .. } = at;
        let bands = if self.shows_bands { at.bands } else { &[] };
        let (rate, buffer, random) = (self.rate, self.buffer, &mut self.random);
        let mut cx = QueueCx { now, backlog, bands, rate, buffer, random, node, would_mark: false };
        if let Some(reason) = full {
            let victim = self.discipline.on_full(&mut cx, packet).filter(|_| self.shows_bands);
            return (victim.map_or(Decision::Drop(reason), |band| Decision::PushOut(band, reason)), false);
        }
        let before = packet.flags;
        let decision = match self.discipline.on_enqueue(&mut cx, packet) {
            // RFC 3168 s5
            Admission::Enqueue(_) if self.drops_unmarkable && cx.would_mark && !packet.flags.has(Flags::CE) => {
                Decision::Drop(DropReason::Discipline)
            }
            Admission::Enqueue(band) => Decision::Enqueue(band),
            Admission::Drop => Decision::Drop(DropReason::Discipline),
            Admission::Full => Decision::Drop(DropReason::BufferFull),
        };
        (decision, cx.would_mark || marked_now(before, packet))
    }

    #[inline(always)]
    fn full(&self, size: Bytes, backlog: Backlog, pool_bytes: u64) -> Option<DropReason> {
        match self.limit {
            Limit::Unlimited => None,
            Limit::Packets(limit) => (backlog.packets >= limit).then_some(DropReason::BufferFull),
            Limit::Bytes(limit) => (backlog.bytes + size.get() > limit).then_some(DropReason::BufferFull),
            Limit::BytesBelow(limit) => (backlog.bytes >= limit).then_some(DropReason::BufferFull),
            Limit::Dynamic { memory, alpha, .. } => {
                let free = memory.saturating_sub(pool_bytes);
                let over = backlog.bytes as f64 >= alpha * free as f64 || size.get() > free;
                over.then_some(DropReason::SharedBufferFull)
            }
        }
    }

    /// A packet starts its transmission and leaves `behind` in the port. Returns whether it was marked now, and
    /// whether a mark was due, ECT or not.
    pub(crate) fn dequeue(
        &mut self,
        packet: &mut Packet,
        behind: Backlog,
        bands: &[Backlog],
        now: Time,
        node: &mut dyn Any,
    ) -> (bool, bool) {
        if !self.discipline.acts_on_dequeue() {
            return (false, false);
        }
        let before = packet.flags;
        let (rate, buffer, random) = (self.rate, self.buffer, &mut self.random);
        let mut cx = QueueCx { now, backlog: behind, bands, rate, buffer, random, node, would_mark: false };
        self.discipline.on_dequeue(&mut cx, packet);
        let marked = marked_now(before, packet);
        (marked, cx.would_mark || marked)
    }
}

fn marked_now(before: Flags, packet: &Packet) -> bool {
    packet.flags.has(Flags::CE) && !before.has(Flags::CE)
}
