//! The reference core, with which the event core must agree bit for bit: one event queue, two events per hop.
//!
//! `sim/tests/grid.rs` and `sim/tests/random.rs` compare them (through `both` in `sim/tests/bench.rs`), and
//! `benches/hops.rs` their speed. It is compiled for tests and with the feature `reference-core` only.
//!
//! Ports count what they hold instead of deriving it from departure times, every departure is an event, so is every
//! deadline of a timer even if it moves, and nothing is skipped. Buffer limits, disciplines and books are shared;
//! everything else is implemented separately.

use crate::core::Core;
use crate::order::{Class, Event, MiscKey, TieBreak};
use crate::{CoreParts, EventCore, PortAudit};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Backlog, DropReason, QueueDiscipline};
use fanin_core::units::Time;
use fanin_port::books::{Books, Departure};
use fanin_port::pfc::Lossless;
use fanin_port::slots::Slots;
use fanin_port::spec::{Decision, Limit, LinkState, PortSpec, Situation, Stacks};
use fanin_tcp::sack::AckOption;
use std::any::Any;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

enum Kind {
    Departure(Packet),
    Arrival(Packet),
    Misc(MiscKey),
}

/// Order at one instant: departures, arrivals by tie-break, then the rest by class and index.
struct Entry {
    at: Time,
    rank: (u8, u64),
    link: usize,
    kind: Kind,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.rank).cmp(&(other.at, other.rank))
    }
}

struct Port {
    spec: PortSpec,
    bands: Vec<VecDeque<(Time, Packet)>>,
    counts: Vec<Backlog>,
    /// The queue of the device, below the bands.
    device: VecDeque<(Time, Packet)>,
    in_service: u16,
    /// When the transmission of that began.
    begun: Time,
    bytes_in: u64,
}

impl Port {
    fn backlog(&self) -> Backlog {
        let mut sum = self.in_bands();
        for (_, packet) in &self.device {
            sum.packets += 1;
            sum.bytes += u64::from(packet.size);
        }
        sum.packets += u32::from(self.in_service > 0);
        sum.bytes += u64::from(self.in_service);
        sum
    }

    fn in_bands(&self) -> Backlog {
        let mut sum = Backlog::default();
        for count in &self.counts {
            sum.packets += count.packets;
            sum.bytes += count.bytes;
        }
        sum
    }

    /// What counts against the limit, and for the discipline.
    fn counted(&self) -> Backlog {
        let device = self.spec.device_queue > 0;
        if device { self.in_bands() } else { self.spec.counted(self.backlog(), u64::from(self.in_service)) }
    }
}

/// The reference core: two events per packet and link, and none of the shortcuts of the event core.
pub struct ReferenceCore {
    /// Time of the last event that was reported to the simulation.
    now: Time,
    queue: BinaryHeap<Reverse<Entry>>,
    ports: Vec<Port>,
    nodes: Vec<Box<dyn Any + Send>>,
    books: Books,
    options: Slots<AckOption>,
    stacks: Stacks,
    lossless: Lossless,
    /// The packet of the last arrival.
    arrived: Packet,
    ties: TieBreak,
}

impl ReferenceCore {
    fn push(&mut self, at: Time, rank: (u8, u64), link: usize, kind: Kind) {
        self.queue.push(Reverse(Entry { at, rank, link, kind }));
    }

    /// Takes the next packet of an idle port into service.
    fn serve(&mut self, link: usize, at: Time) {
        let port = &mut self.ports[link];
        if !port.spec.sends() {
            return;
        }
        let first = port.device.pop_front();
        let Some((ready, packet)) = first.or_else(|| self.take_waiting(link, at)) else { return };
        let port = &mut self.ports[link];
        port.in_service = packet.size;
        port.begun = port.spec.jitter.as_ref().map_or(at.max(ready), |jitter| jitter.begin(ready, at));
        let departure = port.begun + port.spec.transmission(packet.size);
        self.push(departure, (0, link as u64), link, Kind::Departure(packet));
        self.fill_device(link, at);
    }

    /// Moves packets from the bands of a port to its device while that has room.
    fn fill_device(&mut self, link: usize, at: Time) {
        while self.ports[link].device.len() < self.ports[link].spec.device_queue as usize {
            let Some(next) = self.take_waiting(link, at) else { return };
            self.ports[link].device.push_back(next);
        }
    }

    /// Takes the next packet out of the bands of a port.
    fn take_waiting(&mut self, link: usize, at: Time) -> Option<(Time, Packet)> {
        let port = &mut self.ports[link];
        let heads = port.bands.iter().map(|band| band.front().map(|(_, packet)| packet.size));
        let band = port.spec.next_band(heads)?;
        let (ready, mut packet) = port.bands[band].pop_front().expect("a packet waits in the band that is served");
        port.counts[band].packets -= 1;
        port.counts[band].bytes -= u64::from(packet.size);
        let behind = port.in_bands();
        port.spec.report(&mut packet, behind.bytes, at, &mut self.stacks);
        let node = &mut *self.nodes[port.spec.node];
        let bands = if port.spec.is_scheduled() { &port.counts[..] } else { &[] };
        let (marked, would_mark) = port.spec.dequeue(&mut packet, behind, bands, at, node);
        self.books.ports[link].would_mark += u64::from(would_mark);
        if marked {
            self.books.on_mark(LinkId::new(link), &packet, at);
        }
        Some((ready, packet))
    }

    fn depart(&mut self, link: usize, packet: Packet, at: Time) {
        let port = &mut self.ports[link];
        port.in_service = 0;
        let (begun, backlog) = (port.begun, port.backlog());
        let arrival = at + port.spec.delay;
        let rank = self.ties.rank(LinkId::new(link), arrival);
        self.push(arrival, (1, rank), link, Kind::Arrival(packet));
        self.serve(link, at);
        let next = self.ports[link].in_service;
        let departure = Departure { begun, at, size: packet.size, next, backlog };
        self.books.on_departure(LinkId::new(link), &departure);
        self.leave(link, &packet, at);
    }

    /// A packet is no longer in a port.
    fn leave(&mut self, link: usize, packet: &Packet, at: Time) {
        if self.ports[link].spec.lossless && self.lossless.leave(packet.came_over(), packet.size) {
            self.send_frame(packet.came_over(), at);
        }
    }

    /// A frame leaves at `at` for the port of `link`.
    fn send_frame(&mut self, link: LinkId, at: Time) {
        let back = &self.ports[link.twin().index()];
        let free = if back.in_service > 0 { back.begun + back.spec.transmission(back.in_service) } else { at };
        let arrives = back.spec.frame_arrives(at, free);
        self.schedule(arrives, Class::Pause, link.index());
    }

    /// A port whose state has changed sends again, if it may.
    fn restart(&mut self, link: LinkId) {
        let i = link.index();
        if self.ports[i].in_service == 0 {
            self.serve(i, self.now);
        }
        let backlog = self.ports[i].backlog();
        self.books.on_queue(link, self.now, backlog, self.ports[i].in_service);
    }

    /// Removes the packets in flight on a link, in order, and the one in transmission.
    fn in_transit(&mut self, link: usize) -> (Vec<Packet>, Vec<Packet>) {
        let entries = std::mem::take(&mut self.queue).into_sorted_vec();
        // Sorted in reverse, the latest first.
        let of = |entry: &Entry| entry.link == link && !matches!(entry.kind, Kind::Misc(_));
        let (gone, kept): (Vec<_>, Vec<_>) = entries.into_iter().rev().map(|Reverse(entry)| entry).partition(of);
        self.queue = kept.into_iter().map(Reverse).collect();
        let (flying, leaving): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|entry| matches!(entry.kind, Kind::Arrival(_)));
        let packet = |entry: Entry| match entry.kind {
            Kind::Departure(packet) | Kind::Arrival(packet) => Some(packet),
            Kind::Misc(_) => None,
        };
        (flying.into_iter().filter_map(packet).collect(), leaving.into_iter().filter_map(packet).collect())
    }

    fn pool_bytes(&self, limit: Limit) -> u64 {
        let Limit::Dynamic { pool, .. } = limit else { return 0 };
        let in_pool = |port: &&Port| matches!(port.spec.limit, Limit::Dynamic { pool: other, .. } if other == pool);
        self.ports.iter().filter(in_pool).map(|port| port.backlog().bytes).sum()
    }

    fn push_out(&mut self, link: usize, band: usize) -> bool {
        let port = &mut self.ports[link];
        let Some((_, victim)) = port.bands.get_mut(band).and_then(VecDeque::pop_back) else { return false };
        port.counts[band].packets -= 1;
        port.counts[band].bytes -= u64::from(victim.size);
        port.bytes_in -= u64::from(victim.size);
        let (backlog, in_service) = (port.backlog(), port.in_service);
        self.leave(link, &victim, self.now);
        self.discard(LinkId::new(link), &victim, DropReason::PushedOut);
        self.books.on_queue(LinkId::new(link), self.now, backlog, in_service);
        true
    }

    fn trim_last(&mut self, link: usize, of: usize, to: usize) -> bool {
        let port = &mut self.ports[link];
        let Some((ready, mut victim)) = port.bands.get_mut(of).and_then(VecDeque::pop_back) else { return false };
        let before = u64::from(victim.size);
        let cut = self.books.trim(LinkId::new(link), &mut victim, self.now);
        port.counts[of].packets -= 1;
        port.counts[of].bytes -= before;
        port.counts[to].packets += 1;
        port.counts[to].bytes += before - cut;
        port.bytes_in -= cut;
        port.bands[to].push_back((ready, victim));
        let (backlog, in_service) = (port.backlog(), port.in_service);
        self.books.on_queue(LinkId::new(link), self.now, backlog, in_service);
        true
    }

    fn admit(&mut self, link: usize, packet: &mut Packet) -> (Decision, bool) {
        let pool_bytes = self.pool_bytes(self.ports[link].spec.limit);
        let port = &mut self.ports[link];
        let bands = if port.spec.is_scheduled() { &port.counts[..] } else { &[] };
        let backlog = port.counted();
        let node = &mut *self.nodes[port.spec.node];
        port.spec.admit(packet, Situation { now: self.now, backlog, bands, pool_bytes, node })
    }
}

impl EventCore for ReferenceCore {
    const EAGER_TIMERS: bool = true;
    type Windows = Core;

    fn new(parts: CoreParts) -> Self {
        let CoreParts { ports: specs, nodes, books, ties, lossless } = parts;
        let ports = specs.into_iter().map(|spec| {
            let bands = usize::from(spec.discipline.bands());
            Port {
                spec,
                bands: (0..bands).map(|_| VecDeque::new()).collect(),
                counts: vec![Backlog::default(); bands],
                device: VecDeque::new(),
                in_service: 0,
                begun: Time::ZERO,
                bytes_in: 0,
            }
        });
        Self {
            now: Time::ZERO,
            queue: BinaryHeap::new(),
            ports: ports.collect(),
            nodes,
            books,
            options: Slots::default(),
            stacks: Stacks::default(),
            lossless,
            arrived: Packet::default(),
            ties,
        }
    }

    fn now(&self) -> Time {
        self.now
    }

    fn send(&mut self, link: LinkId, packet: &Packet) {
        let (i, mut packet) = (link.index(), *packet);
        let counts = self.ports[i].spec.lossless;
        if counts && !self.lossless.fits(packet.came_over(), packet.size) {
            return self.discard(link, &packet, DropReason::HeadroomFull);
        }
        let marked = packet.flags.has(Flags::CE);
        let band = loop {
            let (decision, would_mark) = self.admit(i, &mut packet);
            self.books.ports[i].would_mark += u64::from(would_mark);
            match decision {
                Decision::Enqueue(band) => break usize::from(band).min(self.ports[i].bands.len() - 1),
                Decision::PushOut(band, _) if self.push_out(i, usize::from(band)) => {}
                Decision::Trim(band) => {
                    self.books.trim(link, &mut packet, self.now);
                    break usize::from(band);
                }
                Decision::TrimLast(of, to) if self.trim_last(i, usize::from(of), usize::from(to)) => {}
                Decision::TrimLast(..) => return self.discard(link, &packet, DropReason::Discipline),
                Decision::Drop(reason) | Decision::PushOut(_, reason) => {
                    return self.discard(link, &packet, reason);
                }
            }
        };
        if packet.flags.has(Flags::CE) && !marked {
            self.books.on_mark(link, &packet, self.now);
        }
        if counts && self.lossless.enter(packet.came_over(), packet.size) {
            self.send_frame(packet.came_over(), self.now);
        }
        let port = &mut self.ports[i];
        port.bytes_in += u64::from(packet.size);
        let ready = port.spec.jitter.as_mut().map_or(self.now, |jitter| jitter.ready(self.now));
        port.bands[band].push_back((ready, packet));
        port.counts[band].packets += 1;
        port.counts[band].bytes += u64::from(packet.size);
        if port.in_service == 0 {
            self.serve(i, self.now);
        } else {
            self.fill_device(i, self.now);
        }
        let backlog = self.ports[i].backlog();
        self.books.on_queue(link, self.now, backlog, self.ports[i].in_service);
        let pool_bytes = self.pool_bytes(self.ports[i].spec.limit).saturating_sub(u64::from(packet.size));
        let counted = self.ports[i].counted();
        self.books.on_admitted(link, self.now, &packet, counted, pool_bytes);
    }

    fn set_link(&mut self, link: LinkId, state: LinkState) {
        let i = link.index();
        self.ports[i].spec.set(state);
        let mut lost = Vec::new();
        if !state.up {
            let (flying, leaving) = self.in_transit(i);
            for packet in &flying {
                self.lose(link, packet, DropReason::LinkDown);
            }
            lost = leaving;
            let port = &mut self.ports[i];
            port.bytes_in -= u64::from(port.in_service);
            port.in_service = 0;
        }
        let port = &mut self.ports[i];
        if !state.admits {
            let bands = port.bands.iter_mut().flat_map(|band| band.drain(..));
            for packet in port.device.drain(..).chain(bands).map(|(_, packet)| packet) {
                port.bytes_in -= u64::from(packet.size);
                lost.push(packet);
            }
            port.counts.fill(Backlog::default());
        }
        for packet in &lost {
            self.leave(i, packet, self.now);
            self.discard(link, packet, DropReason::LinkDown);
        }
        self.restart(link);
    }

    fn on_frame(&mut self, link: LinkId) {
        let paused = self.lossless.frame(link);
        self.ports[link.index()].spec.paused = paused;
        self.books.on_pause(link, paused, self.now);
        self.restart(link);
    }

    fn is_lossless(&self) -> bool {
        self.lossless.any()
    }

    fn schedule(&mut self, at: Time, class: Class, index: usize) {
        let key = MiscKey::new(class, index);
        self.push(at, (2, key.order()), 0, Kind::Misc(key));
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            let Reverse(entry) = self.queue.pop()?;
            match entry.kind {
                Kind::Departure(packet) => self.depart(entry.link, packet, entry.at),
                Kind::Arrival(packet) => {
                    (self.now, self.arrived) = (entry.at, packet);
                    return Some(Event::Arrival(LinkId::new(entry.link)));
                }
                Kind::Misc(key) => {
                    self.now = entry.at;
                    return Some(key.event());
                }
            }
        }
    }

    fn is_due(&mut self, until: Time) -> bool {
        loop {
            let Some(Reverse(entry)) = self.queue.peek() else { return false };
            if entry.at > until {
                self.now = until;
                return false;
            }
            if !matches!(entry.kind, Kind::Departure(_)) {
                return true;
            }
            let Some(Reverse(entry)) = self.queue.pop() else { return false };
            if let Kind::Departure(packet) = entry.kind {
                self.depart(entry.link, packet, entry.at);
            }
        }
    }

    fn set_discipline(&mut self, link: LinkId, discipline: Box<dyn QueueDiscipline>) {
        self.ports[link.index()].spec.discipline = discipline;
    }

    fn take(&mut self, _link: LinkId) -> Packet {
        Packet { arrival: self.now().ps(), ..self.arrived }
    }

    fn backlog(&mut self, link: LinkId) -> Backlog {
        self.ports[link.index()].backlog()
    }

    fn held(&mut self, link: LinkId) -> Backlog {
        self.backlog(link)
    }

    fn books(&mut self) -> &mut Books {
        &mut self.books
    }

    fn options(&mut self) -> &mut Slots<AckOption> {
        &mut self.options
    }

    fn stacks(&mut self) -> &mut Stacks {
        &mut self.stacks
    }

    /// Departures due at this instant come before the caller's action.
    fn settle(&mut self) {
        while let Some(Reverse(entry)) = self.queue.peek() {
            if entry.at > self.now || !matches!(entry.kind, Kind::Departure(_)) {
                return;
            }
            let Some(Reverse(entry)) = self.queue.pop() else { return };
            if let Kind::Departure(packet) = entry.kind {
                self.depart(entry.link, packet, entry.at);
            }
        }
    }

    fn node(&mut self, switch: NodeId) -> &mut dyn Any {
        &mut *self.nodes[switch.index()]
    }

    fn in_network(&self, count: &mut dyn FnMut(&Packet)) {
        for port in &self.ports {
            port.bands.iter().flatten().chain(&port.device).for_each(|(_, packet)| count(packet));
        }
        for Reverse(entry) in &self.queue {
            if let Kind::Departure(packet) | Kind::Arrival(packet) = &entry.kind {
                count(packet);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.queue.iter().all(|Reverse(entry)| matches!(entry.kind, Kind::Misc(key) if !key.is_live()))
    }

    fn audit(&mut self) -> Vec<PortAudit> {
        let start = |port: &Port| PortAudit {
            entered: port.bytes_in,
            believed: port.backlog(),
            counts_bytes: true,
            ..PortAudit::default()
        };
        let mut audits: Vec<PortAudit> = self.ports.iter().map(start).collect();
        for (port, audit) in self.ports.iter().zip(&mut audits) {
            port.bands.iter().flatten().chain(&port.device).for_each(|(_, packet)| audit.find(packet.size, true));
        }
        for Reverse(entry) in &self.queue {
            match &entry.kind {
                Kind::Departure(packet) => audits[entry.link].find(packet.size, true),
                Kind::Arrival(packet) => audits[entry.link].find(packet.size, false),
                Kind::Misc(_) => {}
            }
        }
        audits
    }
}
