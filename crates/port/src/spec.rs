//! What every event core knows about an egress port: its link, its buffer limit and its discipline.

use crate::pfc::FRAME;
use crate::slots::Slots;
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::rng::Stream;
use fanin_core::roles::{Admission, Backlog, DropReason, QueueCx, QueueDiscipline};
use fanin_core::telemetry::{Hop, Telemetry};
use fanin_core::units::{Rate, Size, Time};
use std::any::Any;

/// The buffer that a port may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No limit: a host's own interface.
    Unlimited,
    /// Packets, the one in transmission included.
    Packets(u32),
    /// Bytes, those of the packet in transmission included.
    Bytes(u64),
    /// Bytes below which a packet is admitted; the packet itself may exceed them.
    BytesBelow(u64),
    /// A share of the switch's common memory that depends on its free part (Choudhury and Hahne 1998): a port may hold
    /// at most `alpha` times the free bytes.
    Dynamic { pool: usize, memory: u64, alpha: f64 },
}

impl Limit {
    /// Whether the limit is in bytes.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::BytesBelow(_) | Self::Dynamic { .. })
    }

    /// Bytes that the port may hold, if its packets have `packet` bytes: its own buffer, or all of the common memory.
    pub fn bytes(self, packet: u64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Packets(packets) => u64::from(packets) * packet,
            Self::Bytes(bytes) | Self::BytesBelow(bytes) => bytes,
            Self::Dynamic { memory, .. } => memory,
        }
    }
    /// The limit, if it is the port's own.
    pub fn size(self) -> Option<Size> {
        match self {
            Self::Packets(packets) => Some(Size::Packets(u64::from(packets))),
            Self::Bytes(bytes) | Self::BytesBelow(bytes) => Some(Size::Bytes(bytes)),
            Self::Unlimited | Self::Dynamic { .. } => None,
        }
    }
    /// The limit of several buffers of this size.
    pub fn times(self, buffers: u32) -> Self {
        match self {
            Self::Packets(packets) => Self::Packets(packets.saturating_mul(buffers)),
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(u64::from(buffers))),
            Self::BytesBelow(bytes) => Self::BytesBelow(bytes.saturating_mul(u64::from(buffers))),
            Self::Unlimited | Self::Dynamic { .. } => self,
        }
    }
}

/// Which packet goes first if packets of several hosts arrive at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Decided by a hash of the seed, as `TieBreak` of the event core tells.
    Seeded,
    /// A packet that waited behind another one of its host goes first.
    WaitingFirst,
    /// A packet that found its host's interface idle goes first.
    FreshFirst,
}

/// Jitter of a host: each packet waits for a uniform time below `span`, in order. Ties that the seed does not decide
/// are broken by one picosecond, which is shorter than anything else in a network.
#[derive(Clone, Debug)]
pub struct Jitter {
    pub stream: Stream,
    pub span: Time,
    pub ties: Ties,
    pub ready: Time,
}

impl Jitter {
    /// The earliest time at which a packet that enters the interface at `now` may leave it.
    pub fn ready(&mut self, now: Time) -> Time {
        self.ready = self.ready.max(now + self.stream.uniform_time(self.span));
        self.ready
    }
    /// When the transmission begins of a packet that may leave from `ready` on, at a port that is free from `free` on.
    pub fn begin(&self, ready: Time, free: Time) -> Time {
        let tick = Time::from_ps(1);
        match self.ties {
            _ if ready >= free => ready,
            Ties::Seeded => free,
            Ties::WaitingFirst => free - tick,
            Ties::FreshFirst => free + tick,
        }
    }
}

/// Random numbers of one port. The stream is set up at the first draw: of thousands of ports few draw, and to set one up
/// takes a hash.
#[derive(Clone, Debug)]
pub struct PortStream {
    seed: u64,
    port: LinkId,
    stream: Option<Stream>,
}

impl PortStream {
    pub fn new(seed: u64, port: LinkId) -> Self {
        Self { seed, port, stream: None }
    }
    #[inline(always)]
    fn get(&mut self) -> &mut Stream {
        self.stream.get_or_insert_with(|| Stream::named(self.seed, &format!("port/{}", self.port.index())))
    }
}

/// State of a link under the active faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Its port transmits packets.
    pub up: bool,
    /// Its port admits packets.
    pub admits: bool,
    pub rate: Rate,
}

/// One egress port and its link, as the network is built.
pub struct PortSpec {
    pub rate: Rate,
    pub ps_per_byte: u32,
    pub delay: Time,
    /// The limit of all buffers of the port together.
    pub limit: Limit,
    /// The size of one of its buffers, if that is fixed.
    pub buffer: Option<Size>,
    /// The packet in transmission counts neither against the limit nor for the discipline's decisions on arrival.
    pub waiting_only: bool,
    /// Packets that a queue of the device holds, below the buffer and its discipline; 0 if there is none.
    pub device_queue: u32,
    /// A packet that should be marked on arrival but is not ECT is dropped.
    pub drops_unmarkable: bool,
    pub discipline: Box<dyn QueueDiscipline>,
    /// The discipline has several bands or acts on dequeue: only then does it see bands and may it push out packets.
    pub shows_bands: bool,
    pub jitter: Option<Jitter>,
    pub random: PortStream,
    /// Index of the node that the port belongs to.
    pub node: usize,
    /// Its queue length is tracked exactly over time, because it is measured or an agent reads its bytes.
    pub observed: bool,
    /// A fault may stop it or change its rate, so no departure is certain in advance.
    pub faulty: bool,
    /// It transmits packets, see [`LinkState`].
    pub up: bool,
    /// It admits packets, see [`LinkState`].
    pub admits: bool,
    /// It writes telemetry into packets that ask for it; if so, the bytes that it has begun to send.
    pub reports: Option<u64>,
    /// Flow control may pause it, so no departure is certain in advance.
    pub pausable: bool,
    /// Flow control has paused it: it finishes the packet in transmission and begins no other.
    pub paused: bool,
    /// It is a port of a lossless switch, which counts packets by the link over which they came.
    pub lossless: bool,
}

/// The decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Enqueue(u8),
    /// The last packet of this band is pushed out first. If the band is empty, the arriving packet is dropped for this
    /// reason.
    PushOut(u8, DropReason),
    /// Its payload is cut, and it waits in this band.
    Trim(u8),
    /// The last packet of the first band is cut and waits in the second. If the first is empty, the arriving packet is dropped.
    TrimLast(u8, u8),
    Drop(DropReason),
}

/// Facts for a decision about one packet.
pub struct Situation<'a> {
    pub now: Time,
    pub backlog: Backlog,
    pub bands: &'a [Backlog],
    /// Bytes in all ports of the pool, for a dynamic limit.
    pub pool_bytes: u64,
    pub node: &'a mut dyn Any,
}

impl PortSpec {
    /// The part of `backlog` that counts, with a packet of `in_service` bytes in transmission, zero if the port is
    /// idle.
    #[inline(always)]
    pub fn counted(&self, backlog: Backlog, in_service: u64) -> Backlog {
        if !self.waiting_only || backlog.packets == 0 {
            return backlog;
        }
        Backlog { packets: backlog.packets - 1, bytes: backlog.bytes - in_service }
    }

    /// Whether packets wait in bands until their transmission starts, because departures are not known on arrival.
    pub fn is_scheduled(&self) -> bool {
        self.faulty || self.shows_bands || self.device_queue > 0 || self.reports.is_some() || self.pausable
    }

    /// Whether it may begin to send a packet.
    pub fn sends(&self) -> bool {
        self.up && !self.paused
    }

    /// When a frame of flow control that leaves the port at `at` is at the far end of the link. It goes before all packets but the
    /// one in transmission, which ends at `free`.
    pub fn frame_arrives(&self, at: Time, free: Time) -> Time {
        at.max(free) + self.transmission(FRAME) + self.delay
    }

    /// Applies the effect of a fault.
    pub fn set(&mut self, state: LinkState) {
        debug_assert!(self.faulty);
        (self.up, self.admits, self.rate) = (state.up, state.admits, state.rate);
        self.ps_per_byte = state.rate.ps_per_byte().expect("the parser checks rates");
    }

    pub fn needs_bytes(&self) -> bool {
        self.discipline.needs_bytes() || self.limit.counts_bytes()
    }

    /// Transmission time of `size` bytes.
    pub fn transmission(&self, size: u16) -> Time {
        Time::from_ps(u64::from(size) * u64::from(self.ps_per_byte))
    }

    /// Decides on an arriving packet, which may be marked. The second value says whether a mark was due, ECT or not.
    #[inline(always)]
    pub fn admit(&mut self, packet: &mut Packet, at: Situation<'_>) -> (Decision, bool) {
        if !self.admits {
            return (Decision::Drop(DropReason::LinkDown), false);
        }
        let full = self.full(packet.size, at.backlog, at.pool_bytes);
        let Situation { now, backlog, node, .. } = at;
        let bands = if self.shows_bands { at.bands } else { &[] };
        let (rate, buffer, random) = (self.rate, self.buffer, self.random.get());
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
            Admission::Trim(band) => Decision::Trim(band),
            Admission::TrimLast { of, to } => Decision::TrimLast(of, to),
        };
        (decision, cx.would_mark || marked_now(before, packet))
    }

    /// Why a packet of `size` does not fit, if it does not.
    #[inline(always)]
    pub fn full(&self, size: u16, backlog: Backlog, pool_bytes: u64) -> Option<DropReason> {
        let size = u64::from(size);
        match self.limit {
            Limit::Unlimited => None,
            Limit::Packets(limit) => (backlog.packets >= limit).then_some(DropReason::BufferFull),
            Limit::Bytes(limit) => (backlog.bytes + size > limit).then_some(DropReason::BufferFull),
            Limit::BytesBelow(limit) => (backlog.bytes >= limit).then_some(DropReason::BufferFull),
            Limit::Dynamic { memory, alpha, .. } => {
                let free = memory.saturating_sub(pool_bytes);
                let over = backlog.bytes as f64 >= alpha * free as f64 || size > free;
                over.then_some(DropReason::SharedBufferFull)
            }
        }
    }

    /// The band of the next packet, given the sizes of the first ones that wait in each.
    #[inline]
    pub fn next_band(&mut self, mut heads: impl Iterator<Item = Option<u16>>) -> Option<usize> {
        if !self.discipline.schedules() {
            return heads.position(|head| head.is_some());
        }
        let heads: Vec<_> = heads.collect();
        heads.iter().any(Option::is_some).then(|| self.discipline.serve(&heads))
    }

    /// Writes telemetry into a packet whose transmission starts, and which leaves `queued` bytes behind, if it asks for that.
    #[inline(never)]
    pub fn report(&mut self, packet: &mut Packet, queued: u64, at: Time, stacks: &mut Stacks) {
        let Some(sent) = &mut self.reports else { return };
        let hop = Hop { at, sent: *sent, queued, rate: self.rate };
        *sent += u64::from(packet.size);
        if packet.flags.has(Flags::OPTION) && !packet.is_ack() {
            let written = packet.field.checked_sub(1).and_then(|slot| stacks.take(slot as usize));
            let mut stack = written.unwrap_or_default();
            stack.push(NodeId::new(self.node), hop);
            packet.field = stacks.put(stack) as u64 + 1;
        }
    }

    /// Starts the transmission of a packet, which leaves `behind` in the port. Returns whether it was marked now, and
    /// whether a mark was due, ECT or not.
    pub fn dequeue(
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
        let (rate, buffer, random) = (self.rate, self.buffer, self.random.get());
        let mut cx = QueueCx { now, backlog: behind, bands, rate, buffer, random, node, would_mark: false };
        self.discipline.on_dequeue(&mut cx, packet);
        let marked = marked_now(before, packet);
        (marked, cx.would_mark || marked)
    }
}

/// The stacks in packets under way, each in the slot that the in-band field of its packet names.
pub type Stacks = Slots<Box<Telemetry>>;

/// The handle of the stack in a segment, counted from 1; 0 if no port has written into it.
pub fn stack_of(packet: &Packet) -> u32 {
    let asks = packet.flags.has(Flags::OPTION) && !packet.is_ack();
    if asks { packet.field as u32 } else { 0 }
}

/// Forgets the stack of this handle, if it is one.
#[cold]
pub fn drop_stack(handle: u32, stacks: &mut Stacks) {
    if handle > 0 {
        stacks.take(handle as usize - 1);
    }
}

fn marked_now(before: Flags, packet: &Packet) -> bool {
    packet.flags.has(Flags::CE) && !before.has(Flags::CE)
}
