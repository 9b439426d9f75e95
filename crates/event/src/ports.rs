//! The state of a port in the event core: the part that every hop touches, and the part that only the slow path needs.

use fanin_core::packet::{Onward, Packet};
use fanin_core::roles::{Backlog, Markable, Step};
use fanin_core::units::Time;
use fanin_port::spec::{Limit, PortSpec};
use std::collections::VecDeque;

/// The part of a port that every hop touches: one cache line.
#[repr(C, align(64))]
pub(super) struct Port {
    pub(super) ring: Box<[Packet]>,
    /// Next packet to deliver.
    pub(super) head: u32,
    /// First packet that has not left the port, as of the last check.
    pub(super) dep: u32,
    pub(super) tail: u32,
    /// Number of packets on the link from which the slow path decides.
    pub(super) threshold: u32,
    pub(super) busy_until: u64,
    pub(super) delay: u64,
    pub(super) ps_per_byte: u32,
    /// Departures are tracked one by one.
    pub(super) exact: bool,
    /// Lazy service.
    pub(super) scheduled: bool,
    /// Lazy service: size of the packet in transmission, 0 if no departure was seen yet.
    pub(super) in_service: u16,
    pub(super) bytes_in: u64,
}

const _: () = assert!(std::mem::size_of::<Port>() == 64);

impl Port {
    /// An empty port, at the start of a run.
    pub(super) fn new(spec: &PortSpec) -> Self {
        let exact = Self::is_exact(spec);
        Self {
            ring: vec![Packet::default(); 2].into_boxed_slice(),
            head: 0,
            dep: 0,
            tail: 0,
            threshold: Self::quiet_below(spec, exact),
            busy_until: 0,
            delay: spec.delay.ps(),
            ps_per_byte: spec.ps_per_byte,
            exact,
            scheduled: spec.is_scheduled(),
            in_service: 0,
            bytes_in: 0,
        }
    }

    /// Whether departures from a port have to be tracked one by one.
    pub(super) fn is_exact(spec: &PortSpec) -> bool {
        let asked = spec.observed || (spec.needs_bytes() && spec.discipline.idle_below() < u32::MAX);
        !spec.is_scheduled() && asked || spec.limit.counts_bytes()
    }

    /// Number of packets on the link from which the slow path decides.
    pub(super) fn quiet_below(spec: &PortSpec, exact: bool) -> u32 {
        let scheduled = spec.is_scheduled();
        let bounded = match spec.limit {
            Limit::Unlimited => u32::MAX,
            Limit::Packets(packets) => packets,
            Limit::Bytes(_) | Limit::BytesBelow(_) | Limit::Dynamic { .. } => 0,
        };
        let always = exact || spec.jitter.is_some() || scheduled && (spec.observed || !leaves_at_once(spec));
        // With bands, only a packet that finds the link empty certainly leaves at once.
        let quiet = bounded.min(spec.discipline.idle_below()).min(if scheduled { 1 } else { u32::MAX });
        if always { 0 } else { quiet }
    }

    #[inline(always)]
    pub(super) fn at(&self, i: u32) -> &Packet {
        &self.ring[self.index(i)]
    }

    /// Index of the `i`th packet in the ring, whose length is a power of two.
    #[inline(always)]
    fn index(&self, i: u32) -> usize {
        (i & (self.ring.len() as u32).wrapping_sub(1)) as usize
    }

    /// Whether a packet is admitted as it is, without a closer look at the `on_link` packets before it.
    #[inline(always)]
    pub(super) fn is_quiet(&self, on_link: u32, now: u64) -> bool {
        on_link < self.threshold || self.busy_until <= now && self.threshold > 0 && !self.scheduled
    }

    /// Takes the first packet of the link, which arrives now.
    #[inline(always)]
    pub(super) fn pop(&mut self, now: Time) -> Packet {
        let packet = *self.at(self.head);
        debug_assert_eq!(packet.arrival, now.ps());
        self.head = self.head.wrapping_add(1);
        packet
    }

    /// When the first packet of the link arrives, if there is one.
    #[inline(always)]
    pub(super) fn first_arrival(&self) -> Option<Time> {
        (self.head != self.tail).then(|| Time::from_ps(self.at(self.head).arrival))
    }

    /// Shows when the packets of the link arrive, as far as that is before `until`.
    #[inline(always)]
    pub(super) fn arrivals(&self, until: Time, mut show: impl FnMut(u64)) {
        let mut i = self.head;
        while i != self.tail && self.at(i).arrival < until.ps() {
            show(self.at(i).arrival);
            i = i.wrapping_add(1);
        }
    }

    /// Starts the transmission of `packet` at `at`; returns when it arrives.
    #[inline(always)]
    pub(super) fn begin(&mut self, packet: &Packet, at: u64) -> u64 {
        let departure = at + u64::from(packet.size) * u64::from(self.ps_per_byte);
        self.busy_until = departure;
        self.in_service = packet.size;
        let arrival = departure + self.delay;
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        let index = self.index(self.tail);
        let slot = &mut self.ring[index];
        *slot = *packet;
        slot.arrival = arrival;
        self.tail = self.tail.wrapping_add(1);
        arrival
    }

    /// Sets what is left of the path of the last packet.
    #[inline(always)]
    pub(super) fn set_onward(&mut self, left: Onward) {
        let index = self.index(self.tail.wrapping_sub(1));
        self.ring[index].onward = left;
    }

    /// Returns to the front of an empty ring: most of thousands of links carry a packet or two, whose memory is still
    /// in the cache.
    #[inline(always)]
    pub(super) fn rewind(&mut self) {
        (self.head, self.dep, self.tail) = (0, 0, 0);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len();
        let mut ring = vec![Packet::default(); 2 * old].into_boxed_slice();
        let mut i = self.head;
        while i != self.tail {
            ring[i as usize & (2 * old - 1)] = self.ring[i as usize & (old - 1)];
            i = i.wrapping_add(1);
        }
        self.ring = ring;
    }

    /// Packets in the port of a FIFO that is not tracked exactly.
    #[inline(always)]
    pub(super) fn occupancy(&mut self, now: u64) -> u32 {
        if self.busy_until <= now {
            self.dep = self.tail;
            return 0;
        }
        // Deliveries may have advanced since the last check.
        if (self.head.wrapping_sub(self.dep) as i32) > 0 {
            self.dep = self.head;
        }
        let limit = now + self.delay;
        while self.dep != self.tail && self.at(self.dep).arrival <= limit {
            self.dep = self.dep.wrapping_add(1);
        }
        self.tail.wrapping_sub(self.dep)
    }
}

/// The decisions of a port with a [`Step`] for a discipline.
#[derive(Clone, Copy)]
pub(super) struct Stepped {
    /// Largest number of packets that it holds.
    pub(super) limit: u32,
    /// Number of packets in it from which on a mark is due.
    pub(super) from: u32,
    pub(super) marks: Markable,
}

impl Stepped {
    /// None if the decision depends on anything else.
    pub(super) fn of(spec: &PortSpec) -> Option<Self> {
        let limit = match spec.limit {
            Limit::Unlimited => u32::MAX,
            Limit::Packets(packets) => packets,
            Limit::Bytes(_) | Limit::BytesBelow(_) | Limit::Dynamic { .. } => return None,
        };
        let Step { from, marks } = spec.discipline.step()?;
        let plain = !spec.is_scheduled() && !spec.waiting_only && !spec.drops_unmarkable;
        plain.then(|| Self { limit, from: from.unwrap_or(u32::MAX), marks })
    }
}

/// The part of a port that only the slow path needs.
pub(super) struct SlowPort {
    pub(super) spec: PortSpec,
    pub(super) bytes_out: u64,
    /// Lazy service: packets that wait, by band, and their counts.
    pub(super) waiting: Vec<VecDeque<Packet>>,
    pub(super) bands: Vec<Backlog>,
    /// Total backlog of all bands.
    pub(super) behind: Backlog,
    /// Lazy service: packets that have left the bands and wait in the device's queue, and their bytes.
    pub(super) device: VecDeque<Packet>,
    pub(super) device_bytes: u64,
    /// The discipline acts on each departing packet, or the port writes telemetry into it.
    pub(super) acts_on_dequeue: bool,
    /// Lazy service: the ports of its switch share a state, so none is brought up to date without the others.
    pub(super) shares: bool,
    /// Lazy service: a packet that finds the port idle leaves at once.
    pub(super) plain: bool,
    /// Lazy service: since when the packet in transmission has been sent.
    pub(super) begun: Time,
    /// In a lossless switch, the link over which the packet in transmission came.
    pub(super) came_over: u64,
}

impl SlowPort {
    /// An empty port, at the start of a run; `shares` as in the field of that name.
    pub(super) fn new(spec: PortSpec, shares: bool) -> Self {
        let bands = if spec.is_scheduled() { usize::from(spec.discipline.bands()) } else { 0 };
        Self {
            acts_on_dequeue: spec.discipline.acts_on_dequeue() || spec.reports.is_some(),
            shares,
            plain: leaves_at_once(&spec),
            spec,
            bytes_out: 0,
            waiting: (0..bands).map(|_| VecDeque::new()).collect(),
            bands: vec![Backlog::default(); bands],
            behind: Backlog::default(),
            device: VecDeque::new(),
            device_bytes: 0,
            begun: Time::ZERO,
            came_over: 0,
        }
    }

    /// What waits, in the bands and in the device's queue.
    #[inline(always)]
    pub(super) fn waits(&self) -> Backlog {
        let Backlog { packets, bytes } = self.behind;
        Backlog { packets: packets + self.device.len() as u32, bytes: bytes + self.device_bytes }
    }

    /// Whether the device's queue takes another packet.
    pub(super) fn device_has_room(&self) -> bool {
        self.device.len() < self.spec.device_queue as usize
    }

    /// Counts a packet that starts to wait in a band.
    #[inline(always)]
    pub(super) fn add(&mut self, band: usize, size: u16) {
        for backlog in [&mut self.bands[band], &mut self.behind] {
            backlog.packets += 1;
            backlog.bytes += u64::from(size);
        }
    }

    /// Counts a packet that no longer waits.
    #[inline(always)]
    pub(super) fn remove(&mut self, band: usize, size: u16) {
        for backlog in [&mut self.bands[band], &mut self.behind] {
            backlog.packets -= 1;
            backlog.bytes -= u64::from(size);
        }
    }
}

/// The contents of a scheduled port, the packet in transmission included.
#[inline(always)]
pub(super) fn in_port(port: &Port, slow: &SlowPort) -> Backlog {
    let Backlog { packets, bytes } = slow.waits();
    Backlog { packets: packets + u32::from(port.in_service > 0), bytes: bytes + u64::from(port.in_service) }
}

/// Whether a packet that finds the port idle leaves at once, unchanged.
fn leaves_at_once(spec: &PortSpec) -> bool {
    !spec.discipline.acts_on_dequeue()
        && spec.reports.is_none()
        && !spec.faulty
        && !spec.pausable
        && !spec.discipline.schedules()
        && spec.jitter.is_none()
}
