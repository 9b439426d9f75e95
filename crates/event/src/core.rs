//! The event core: one event per hop.
//!
//! A link's ring holds its packets, queued and in flight, in order; only the first of each link is in the event
//! queue. A FIFO port fixes a packet's departure when the packet enters, so no event is needed for it. Where the
//! departure depends on later arrivals (bands, marking at dequeue) the port uses *lazy service*: packets wait in
//! bands, and a decision due at T is made the next time the port is examined. All arrivals before T are known by then
//! and none after T was admitted. As the packet in service is delivered after its departure, the check at the delivery
//! of a ring's last packet is never too late.
//!
//! A port is quiet while fewer packets than its threshold are on the link, or all of them in flight. No packet can then be
//! marked or dropped and no statistics are kept, so a hop is a copy and two additions.

use crate::links::LinkQueue;
use crate::memory::SharedMemory;
use crate::order::{Class, Event, MiscKey};
use crate::ports::{Port, SlowPort, Stepped, in_port};
use crate::windows::Windows;
use crate::{CoreParts, EventCore, NodeByNode as _, PortAudit};
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
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The event core: one event per packet and link.
pub struct Core {
    /// When the last event happened.
    pub(super) now: Time,
    pub(super) links: LinkQueue,
    pub(super) ports: Vec<Port>,
    /// Apart from the rest, as in a large network packets come to them much more often.
    stepped: Vec<Option<Stepped>>,
    slow: Vec<SlowPort>,
    pub(super) misc: BinaryHeap<Reverse<(u64, MiscKey)>>,
    /// Time of the first entry of `misc`.
    pub(super) misc_min: u64,
    pub(super) windows: Windows,
    pub(super) nodes: Vec<Box<dyn Any + Send>>,
    memory: SharedMemory,
    /// By node, its ports whose disciplines act on dequeue, if the node's roles share a state.
    siblings: Vec<Vec<LinkId>>,
    pub(super) books: Books,
    pub(super) options: Slots<AckOption>,
    stacks: Stacks,
    lossless: Lossless,
}

impl Core {
    #[inline(never)]
    fn send_slow(&mut self, link: LinkId, packet: &Packet) {
        if let Some(stepped) = self.stepped[link.index()] {
            return self.send_stepped(link, packet, stepped);
        }
        let mut packet = *packet;
        let counts = self.slow[link.index()].spec.lossless;
        if counts && !self.lossless.fits(packet.came_over(), packet.size) {
            return self.discard(link, &packet, DropReason::HeadroomFull);
        }
        let marked = packet.flags.has(Flags::CE);
        let (band, pool_bytes) = match self.decide(link, &mut packet) {
            Ok(admitted) => admitted,
            Err(reason) => return self.discard(link, &packet, reason),
        };
        if packet.flags.has(Flags::CE) && !marked {
            self.books.on_mark(link, &packet, self.now);
        }
        if counts && self.lossless.enter(packet.came_over(), packet.size) {
            self.send_frame(packet.came_over(), self.now);
        }
        let port = &mut self.ports[link.index()];
        port.bytes_in += u64::from(packet.size);
        let backlog =
            if port.scheduled { self.enqueue_scheduled(link, &packet, band) } else { self.enqueue_fifo(link, &packet) };
        self.count_share(link, backlog);
        let backlog = self.counted(link, backlog);
        self.books.on_admitted(link, self.now, &packet, backlog, pool_bytes);
    }

    /// As [`Self::send_slow`], through a port that only counts packets.
    #[inline(always)]
    fn send_stepped(&mut self, link: LinkId, packet: &Packet, Stepped { limit, from, marks }: Stepped) {
        let found = self.look(link).packets;
        if found >= limit {
            return self.discard(link, packet, DropReason::BufferFull);
        }
        let mut packet = *packet;
        if found >= from {
            self.books.ports[link.index()].would_mark += 1;
            if marks.includes(&packet) && !packet.flags.has(Flags::CE) {
                packet.flags = packet.flags.with(Flags::CE);
                self.books.on_mark(link, &packet, self.now);
            }
        }
        self.ports[link.index()].bytes_in += u64::from(packet.size);
        let backlog = self.enqueue_fifo(link, &packet);
        self.books.on_admitted(link, self.now, &packet, backlog, 0);
    }

    /// Decides on an arriving packet, and pushes others out if the discipline says so. Returns its band, and the bytes
    /// in the shared memory without it.
    #[inline(always)]
    fn decide(&mut self, link: LinkId, packet: &mut Packet) -> Result<(u8, u64), DropReason> {
        loop {
            let backlog = self.look(link);
            let backlog = self.counted(link, backlog);
            let pool_bytes = match self.slow[link.index()].spec.limit {
                Limit::Dynamic { pool, .. } => self.pool_bytes(pool, link, packet, backlog),
                _ => 0,
            };
            let slow = &mut self.slow[link.index()];
            let node = &mut *self.nodes[slow.spec.node];
            let situation = Situation { now: self.now, backlog, bands: &slow.bands, pool_bytes, node };
            let (decision, would_mark) = slow.spec.admit(packet, situation);
            self.books.ports[link.index()].would_mark += u64::from(would_mark);
            match decision {
                Decision::Enqueue(band) => return Ok((band, pool_bytes)),
                Decision::Drop(reason) => return Err(reason),
                Decision::Trim(band) => {
                    self.books.trim(link, packet, self.now);
                    return Ok((band, pool_bytes));
                }
                Decision::TrimLast(of, to) => {
                    if !self.trim_last(link, usize::from(of), usize::from(to)) {
                        return Err(DropReason::Discipline);
                    }
                }
                Decision::PushOut(victim, reason) => {
                    if !self.push_out(link, usize::from(victim)) {
                        return Err(reason);
                    }
                }
            }
        }
    }

    /// Miscounts one departed byte of a port that is tracked exactly, to test that the invariant checks notice it.
    #[cfg(feature = "testing")]
    pub fn forget(&mut self, link: usize) {
        assert!(self.ports[link].exact, "it counts bytes");
        self.slow[link].bytes_out += 1;
    }

    fn push_out(&mut self, link: LinkId, band: usize) -> bool {
        let slow = &mut self.slow[link.index()];
        let Some(victim) = slow.waiting.get_mut(band).and_then(VecDeque::pop_back) else { return false };
        slow.remove(band, victim.size);
        self.ports[link.index()].bytes_in -= u64::from(victim.size);
        self.leave(link, victim.arrival, victim.size, self.now);
        self.discard(link, &victim, DropReason::PushedOut);
        self.shrinks(link);
        true
    }

    #[cold]
    fn trim_last(&mut self, link: LinkId, of: usize, to: usize) -> bool {
        let slow = &mut self.slow[link.index()];
        let Some(mut victim) = slow.waiting.get_mut(of).and_then(VecDeque::pop_back) else { return false };
        slow.remove(of, victim.size);
        self.ports[link.index()].bytes_in -= self.books.trim(link, &mut victim, self.now);
        slow.add(to, victim.size);
        slow.waiting[to].push_back(victim);
        self.shrinks(link);
        true
    }

    /// What waits in a port has become less without a departure.
    fn shrinks(&mut self, link: LinkId) {
        let port = &self.ports[link.index()];
        let backlog = in_port(port, &self.slow[link.index()]);
        self.books.on_queue(link, self.now, backlog, port.in_service);
        self.count_share(link, backlog);
    }

    /// Returns the port's backlog, without bytes if they are not counted.
    #[inline(always)]
    fn enqueue_fifo(&mut self, link: LinkId, packet: &Packet) -> Backlog {
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        let free = Time::from_ps(port.busy_until);
        let begin = match &mut slow.spec.jitter {
            None => self.now.max(free),
            Some(jitter) => {
                let ready = jitter.ready(self.now);
                jitter.begin(ready, free)
            }
        };
        let empty = port.head == port.tail;
        if empty && !port.exact {
            port.rewind();
        }
        let arrival = port.begin(packet, begin.ps());
        if empty {
            self.links.set(link, Some(Time::from_ps(arrival)), self.now);
        }
        let packets = port.tail.wrapping_sub(port.dep);
        if !port.exact {
            return Backlog { packets, bytes: 0 };
        }
        let backlog = Backlog { packets, bytes: port.bytes_in - slow.bytes_out };
        self.books.on_queue(link, self.now, backlog, port.at(port.dep).size);
        backlog
    }

    /// Returns the port's backlog.
    fn enqueue_scheduled(&mut self, link: LinkId, packet: &Packet, band: u8) -> Backlog {
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        let idle = port.in_service == 0;
        if idle && slow.plain {
            slow.begun = self.now;
            port.begin(packet, self.now.ps());
            self.announce_head(link);
        } else {
            let band = usize::from(band).min(slow.bands.len() - 1);
            let ready = slow.spec.jitter.as_mut().map_or(self.now, |jitter| jitter.ready(self.now));
            let arrival = if slow.spec.lossless { packet.arrival } else { ready.ps() };
            slow.waiting[band].push_back(Packet { arrival, ..*packet });
            slow.add(band, packet.size);
            if !idle {
                self.fill_device(link, self.now);
            } else if self.serve(link, self.now) {
                self.announce_head(link);
            }
        }
        let port = &self.ports[link.index()];
        let backlog = in_port(port, &self.slow[link.index()]);
        self.books.on_queue(link, self.now, backlog, port.in_service);
        backlog
    }

    /// Enters the first packet of a link in the event queue.
    fn announce_head(&mut self, link: LinkId) {
        let port = &self.ports[link.index()];
        self.links.set(link, port.first_arrival(), self.now);
    }

    /// Takes the next packet of an idle scheduled port into service at `at`. Returns whether there was one.
    fn serve(&mut self, link: LinkId, at: Time) -> bool {
        let slow = &mut self.slow[link.index()];
        if !slow.spec.sends() {
            return false;
        }
        let first = slow.device.pop_front();
        slow.device_bytes -= first.map_or(0, |packet| u64::from(packet.size));
        let Some(packet) = first.or_else(|| self.take_waiting(link, at)) else { return false };
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        // A waiting packet stores its earliest departure time instead of its arrival time; in a lossless switch, where it came
        // from.
        let ready = if slow.spec.lossless { at } else { Time::from_ps(packet.arrival) };
        slow.begun = slow.spec.jitter.as_ref().map_or(at.max(ready), |jitter| jitter.begin(ready, at));
        port.begin(&packet, slow.begun.ps());
        if slow.spec.lossless {
            slow.came_over = packet.arrival;
            let end = Time::from_ps(port.busy_until - 1);
            self.schedule(end, Class::Departure, link.index());
        }
        self.fill_device(link, at);
        true
    }

    /// The device of a port takes packets out of its bands at `at`, as long as its queue has room.
    #[inline]
    fn fill_device(&mut self, link: LinkId, at: Time) {
        while self.slow[link.index()].device_has_room() {
            let Some(packet) = self.take_waiting(link, at) else { return };
            let slow = &mut self.slow[link.index()];
            slow.device_bytes += u64::from(packet.size);
            slow.device.push_back(packet);
        }
    }

    /// Takes the next packet out of the bands of a scheduled port at `at`, if any waits there.
    #[inline]
    fn take_waiting(&mut self, link: LinkId, at: Time) -> Option<Packet> {
        let slow = &mut self.slow[link.index()];
        if slow.behind.packets == 0 {
            return None;
        }
        let heads = slow.waiting.iter().map(|queue| queue.front().map(|packet| packet.size));
        let band = slow.spec.next_band(heads)?;
        let mut packet = slow.waiting[band].pop_front().expect("a packet waits in the band that is served");
        slow.remove(band, packet.size);
        if slow.acts_on_dequeue {
            slow.spec.report(&mut packet, slow.behind.bytes, at, &mut self.stacks);
            let node = &mut *self.nodes[slow.spec.node];
            let (marked, would_mark) = slow.spec.dequeue(&mut packet, slow.behind, &slow.bands, at, node);
            self.books.ports[link.index()].would_mark += u64::from(would_mark);
            if marked {
                self.books.on_mark(link, &packet, at);
            }
        }
        Some(packet)
    }

    /// Brings a port's state up to date and returns its backlog.
    #[inline(always)]
    pub(super) fn look(&mut self, link: LinkId) -> Backlog {
        let port = &mut self.ports[link.index()];
        if port.scheduled {
            self.catch_up(link);
            return in_port(&self.ports[link.index()], &self.slow[link.index()]);
        }
        if !port.exact {
            return Backlog { packets: port.occupancy(self.now.ps()), bytes: 0 };
        }
        self.follow(link);
        let port = &self.ports[link.index()];
        Backlog { packets: port.tail.wrapping_sub(port.dep), bytes: port.bytes_in - self.slow[link.index()].bytes_out }
    }

    /// The part of a port's backlog that counts, once the port is up to date.
    #[inline(always)]
    fn counted(&self, link: LinkId, backlog: Backlog) -> Backlog {
        let (port, slow) = (&self.ports[link.index()], &self.slow[link.index()]);
        if slow.spec.device_queue > 0 {
            return slow.behind;
        }
        if !slow.spec.waiting_only {
            return backlog;
        }
        let in_service = match (port.scheduled, port.exact && backlog.packets > 0) {
            (true, _) => port.in_service,
            (false, true) => port.at(port.dep).size,
            (false, false) => 0,
        };
        slow.spec.counted(backlog, u64::from(in_service))
    }

    /// Counts every departure up to now from a FIFO port that is tracked exactly.
    #[inline(never)]
    fn follow(&mut self, link: LinkId) {
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        let limit = self.now.ps() + port.delay;
        while port.dep != port.tail {
            let packet = *port.at(port.dep);
            if packet.arrival > limit {
                break;
            }
            slow.bytes_out += u64::from(packet.size);
            port.dep = port.dep.wrapping_add(1);
            let backlog = Backlog { packets: port.tail.wrapping_sub(port.dep), bytes: port.bytes_in - slow.bytes_out };
            let at = Time::from_ps(packet.arrival - port.delay);
            let begun = at - slow.spec.transmission(packet.size);
            let next = if backlog.packets > 0 { port.at(port.dep).size } else { 0 };
            self.books.on_departure(link, &Departure { begun, at, size: packet.size, next, backlog });
        }
    }

    /// Takes every service decision of a scheduled port that is due.
    #[inline]
    fn catch_up(&mut self, link: LinkId) {
        let slow = &self.slow[link.index()];
        if slow.shares {
            return self.catch_up_node(slow.spec.node);
        }
        loop {
            let port = &self.ports[link.index()];
            if port.in_service == 0 || port.busy_until > self.now.ps() {
                return;
            }
            self.complete_service(link);
        }
    }

    /// As [`Self::catch_up`] for all ports of a switch whose disciplines may write the state that they share when a
    /// packet leaves: in order of time, then of links.
    #[cold]
    fn catch_up_node(&mut self, node: usize) {
        loop {
            let busy = self.siblings[node].iter().filter(|link| self.ports[link.index()].in_service > 0);
            match busy.map(|link| (self.ports[link.index()].busy_until, *link)).min() {
                Some((at, link)) if at <= self.now.ps() => self.complete_service(link),
                _ => return,
            }
        }
    }

    /// The packet in service leaves a scheduled port, and the next one is taken.
    #[inline]
    fn complete_service(&mut self, link: LinkId) {
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        let at = Time::from_ps(port.busy_until);
        let size = std::mem::take(&mut port.in_service);
        let (begun, came_over, backlog) = (slow.begun, slow.came_over, slow.waits());
        self.serve(link, at);
        let next = self.ports[link.index()].in_service;
        self.books.on_departure(link, &Departure { begun, at, size, next, backlog });
        self.leave(link, came_over, size, at);
    }

    /// A packet that came over the link `from` is no longer in the port of `link`.
    #[inline]
    fn leave(&mut self, link: LinkId, from: u64, size: u16, at: Time) {
        let from = LinkId::new(from as usize);
        if self.slow[link.index()].spec.lossless && self.lossless.leave(from, size) {
            self.send_frame(from, at);
        }
    }

    /// A frame leaves at `at` for the port of `link`.
    #[cold]
    fn send_frame(&mut self, link: LinkId, at: Time) {
        let back = link.twin().index();
        let busy = self.ports[back].in_service > 0;
        let free = if busy { Time::from_ps(self.ports[back].busy_until) } else { at };
        let arrives = self.slow[back].spec.frame_arrives(at, free);
        self.schedule(arrives, Class::Pause, link.index());
    }

    /// A port whose state has changed sends again, if it may.
    fn restart(&mut self, link: LinkId) {
        if self.ports[link.index()].in_service == 0 && self.serve(link, self.now) {
            self.announce_head(link);
        }
        let port = &self.ports[link.index()];
        let backlog = in_port(port, &self.slow[link.index()]);
        self.books.on_queue(link, self.now, backlog, port.in_service);
        self.count_share(link, backlog);
    }

    /// Drops the packets in transmission or in flight on a link.
    fn lose_in_transit(&mut self, link: LinkId) {
        loop {
            let port = &mut self.ports[link.index()];
            if port.head == port.tail {
                break;
            }
            let packet = *port.at(port.head);
            port.head = port.head.wrapping_add(1);
            if port.head == port.tail && port.in_service > 0 {
                self.discard(link, &packet, DropReason::LinkDown);
            } else {
                self.lose(link, &packet, DropReason::LinkDown);
            }
        }
        // The transmission of the last one does not finish.
        let port = &mut self.ports[link.index()];
        let cut = std::mem::take(&mut port.in_service);
        port.bytes_in -= u64::from(cut);
        if cut > 0 {
            self.leave(link, self.slow[link.index()].came_over, cut, self.now);
        }
        self.links.set(link, None, self.now);
    }

    /// Drops the packets that wait in a scheduled port.
    fn lose_waiting(&mut self, link: LinkId) {
        let i = link.index();
        while let Some(packet) = self.slow[i].device.pop_front() {
            self.slow[i].device_bytes -= u64::from(packet.size);
            self.ports[i].bytes_in -= u64::from(packet.size);
            self.leave(link, packet.arrival, packet.size, self.now);
            self.discard(link, &packet, DropReason::LinkDown);
        }
        for band in 0..self.slow[i].waiting.len() {
            while let Some(packet) = self.slow[i].waiting[band].pop_front() {
                self.slow[i].remove(band, packet.size);
                self.ports[i].bytes_in -= u64::from(packet.size);
                self.leave(link, packet.arrival, packet.size, self.now);
                self.discard(link, &packet, DropReason::LinkDown);
            }
        }
    }

    /// Bytes in a shared memory, as far as they decide whether `packet` fits the port of `link`: more than there are, if
    /// it fits even so.
    fn pool_bytes(&mut self, pool: usize, link: LinkId, packet: &Packet, backlog: Backlog) -> u64 {
        let at_most = self.memory.at_most(pool);
        if self.slow[link.index()].spec.full(packet.size, backlog, at_most).is_none() {
            return at_most;
        }
        while let Some(link) = self.memory.outdated(pool, self.now) {
            let backlog = self.look(link);
            self.count_share(link, backlog);
        }
        self.memory.at_most(pool)
    }

    /// The port of `link` holds `backlog`, of which its switch's shared memory, if there is one, takes note.
    #[inline]
    fn count_share(&mut self, link: LinkId, backlog: Backlog) {
        let (port, slow) = (&self.ports[link.index()], &self.slow[link.index()]);
        let Limit::Dynamic { pool, .. } = slow.spec.limit else { return };
        let departure = if port.scheduled {
            (port.in_service > 0).then_some(port.busy_until)
        } else {
            (port.dep != port.tail).then(|| port.at(port.dep).arrival - port.delay)
        };
        self.memory.count(pool, link, backlog.bytes, departure.map(Time::from_ps));
    }

    #[inline(always)]
    fn deliver(&mut self, link: LinkId) -> Packet {
        let port = &mut self.ports[link.index()];
        // One branch for both.
        if port.exact | port.scheduled {
            return self.deliver_followed(link);
        }
        let packet = port.pop(self.now);
        let next = port.first_arrival();
        self.links.replace_top(link, next, self.now);
        packet
    }

    /// As [`Self::deliver`], from a port whose departures are counted or decided one by one.
    #[inline(never)]
    fn deliver_followed(&mut self, link: LinkId) -> Packet {
        let port = &self.ports[link.index()];
        // A packet's departure is counted before the packet leaves the ring.
        if port.exact && port.dep == port.head && !port.scheduled {
            self.follow(link);
        }
        let port = &mut self.ports[link.index()];
        let packet = port.pop(self.now);
        if port.scheduled && port.head == port.tail {
            self.catch_up(link);
        }
        let next = self.ports[link.index()].first_arrival();
        self.links.replace_top(link, next, self.now);
        packet
    }
}

impl EventCore for Core {
    type Windows = Self;

    fn new(parts: CoreParts) -> Self {
        let CoreParts { ports: specs, nodes, books, ties, lossless } = parts;
        let mut siblings = vec![Vec::new(); nodes.len()];
        for (i, spec) in specs.iter().enumerate() {
            if spec.discipline.acts_on_dequeue() && !nodes[spec.node].is::<()>() {
                siblings[spec.node].push(LinkId::new(i));
            }
        }
        let pool = |spec: &PortSpec| if let Limit::Dynamic { pool, .. } = spec.limit { Some(pool) } else { None };
        let pools: Vec<_> = specs.iter().map(pool).collect();
        let slow_part = |spec: PortSpec| {
            let shares = !siblings[spec.node].is_empty();
            SlowPort::new(spec, shares)
        };
        Self {
            now: Time::ZERO,
            links: LinkQueue::new(ties),
            ports: specs.iter().map(Port::new).collect(),
            stepped: specs.iter().map(Stepped::of).collect(),
            slow: specs.into_iter().map(slow_part).collect(),
            misc: BinaryHeap::new(),
            misc_min: u64::MAX,
            windows: Windows::default(),
            nodes,
            memory: SharedMemory::new(&pools),
            siblings,
            books,
            options: Slots::default(),
            stacks: Stacks::default(),
            lossless,
        }
    }

    #[inline(always)]
    fn now(&self) -> Time {
        self.now
    }

    #[inline(always)]
    fn send(&mut self, link: LinkId, packet: &Packet) {
        let port = &mut self.ports[link.index()];
        let on_link = port.tail.wrapping_sub(port.head);
        if !port.is_quiet(on_link, self.now.ps()) {
            return self.send_slow(link, packet);
        }
        port.bytes_in += u64::from(packet.size);
        if on_link == 0 {
            port.rewind();
        }
        let arrival = port.begin(packet, port.busy_until.max(self.now.ps()));
        if on_link == 0 {
            self.links.set(link, Some(Time::from_ps(arrival)), self.now);
        }
    }

    fn set_link(&mut self, link: LinkId, state: LinkState) {
        // Earlier decisions are taken with the old state, so the packet in transmission keeps its end.
        self.catch_up(link);
        self.slow[link.index()].spec.set(state);
        self.ports[link.index()].ps_per_byte = self.slow[link.index()].spec.ps_per_byte;
        if !state.up {
            self.lose_in_transit(link);
        }
        if !state.admits {
            self.lose_waiting(link);
        }
        self.restart(link);
    }

    fn on_frame(&mut self, link: LinkId) {
        self.catch_up(link);
        let paused = self.lossless.frame(link);
        self.slow[link.index()].spec.paused = paused;
        self.books.on_pause(link, paused, self.now);
        self.restart(link);
    }

    fn on_departure(&mut self, link: LinkId) {
        self.now += Time::from_ps(1);
        self.catch_up(link);
    }

    fn is_lossless(&self) -> bool {
        self.lossless.any()
    }

    fn schedule(&mut self, at: Time, class: Class, index: usize) {
        let key = MiscKey::new(class, index);
        if self.windows.is_later(at) { self.windows.put_off(at, key) } else { self.give(at, key) }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<Event> {
        match self.links.top() {
            Some((now, link)) if now.ps() <= self.misc_min => {
                self.now = now;
                Some(Event::Arrival(link))
            }
            _ => {
                let Reverse((now, key)) = self.misc.pop()?;
                self.now = Time::from_ps(now);
                self.misc_min = self.misc.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
                Some(key.event())
            }
        }
    }

    fn is_due(&mut self, until: Time) -> bool {
        match self.upcoming() {
            Some(at) if at > until => self.now = until,
            upcoming => return upcoming.is_some(),
        }
        false
    }

    fn set_discipline(&mut self, link: LinkId, discipline: Box<dyn QueueDiscipline>) {
        // Departures up to now are counted as before.
        self.look(link);
        let held = self.held(link).bytes;
        let (port, slow) = (&mut self.ports[link.index()], &mut self.slow[link.index()]);
        slow.spec.discipline = discipline;
        if !port.exact && Port::is_exact(&slow.spec) {
            (port.exact, slow.bytes_out) = (true, port.bytes_in - held);
        }
        port.threshold = Port::quiet_below(&slow.spec, port.exact);
        self.stepped[link.index()] = Stepped::of(&slow.spec);
    }

    #[inline(always)]
    fn take(&mut self, link: LinkId) -> Packet {
        self.deliver(link)
    }

    fn backlog(&mut self, link: LinkId) -> Backlog {
        self.look(link)
    }

    fn held(&mut self, link: LinkId) -> Backlog {
        let port = &self.ports[link.index()];
        if port.head == port.tail && !port.scheduled {
            // Most ports of a large network.
            return Backlog::default();
        }
        let backlog = self.look(link);
        let port = &self.ports[link.index()];
        if port.exact || port.scheduled || backlog.packets == 0 {
            return backlog;
        }
        let last = port.tail;
        let bytes = (1..=backlog.packets).map(|i| u64::from(port.at(last.wrapping_sub(i)).size)).sum();
        Backlog { bytes, ..backlog }
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

    fn windows(&mut self) -> Option<&mut Self> {
        Some(self)
    }

    fn settle(&mut self) {
        for i in 0..self.ports.len() {
            self.look(LinkId::new(i));
        }
    }

    fn node(&mut self, switch: NodeId) -> &mut dyn Any {
        if !self.siblings[switch.index()].is_empty() {
            self.catch_up_node(switch.index());
        }
        &mut *self.nodes[switch.index()]
    }

    fn in_network(&self, count: &mut dyn FnMut(&Packet)) {
        for (port, slow) in self.ports.iter().zip(&self.slow) {
            let mut i = port.head;
            while i != port.tail {
                count(port.at(i));
                i = i.wrapping_add(1);
            }
            slow.waiting.iter().flatten().chain(&slow.device).for_each(&mut *count);
        }
    }

    fn is_idle(&self) -> bool {
        self.links.top().is_none() && self.misc.iter().all(|Reverse((_, key))| !key.is_live())
    }

    fn audit(&mut self) -> Vec<PortAudit> {
        let mut audits = Vec::with_capacity(self.ports.len());
        for link in (0..self.ports.len()).map(LinkId::new) {
            let believed = self.look(link);
            let (port, slow) = (&self.ports[link.index()], &self.slow[link.index()]);
            let counts_bytes = port.exact || port.scheduled;
            let mut audit = PortAudit { entered: port.bytes_in, believed, counts_bytes, ..PortAudit::default() };
            slow.waiting.iter().flatten().chain(&slow.device).for_each(|packet| audit.find(packet.size, true));
            let mut i = port.head;
            while i != port.tail {
                let packet = port.at(i);
                audit.find(packet.size, packet.arrival > self.now.ps() + port.delay);
                i = i.wrapping_add(1);
            }
            audits.push(audit);
        }
        audits
    }
}
