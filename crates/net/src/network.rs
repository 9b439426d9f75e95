//! The network's current state: the event core with its ports, the paths in use, and the active faults.

use crate::faults::{Faults, Turn};
use crate::host_queue::HostQueues;
use crate::paths::Paths;
use fanin_core::ids::LinkId;
use fanin_core::packet::{Flags, Packet, Stamp};
use fanin_core::roles::{AddressBook, DropReason};
use fanin_core::units::{Rate, Time};
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_measure::capture::Capture;
use fanin_measure::crossings::Crossings;
use fanin_network::topology::Topology;

/// The network between hosts.
pub struct Network<C> {
    /// Events and ports.
    pub core: C,
    /// Nodes and links.
    pub topology: Topology,
    /// The paths of flows.
    pub paths: Paths,
    /// The current rate of each link.
    pub rates: Vec<Rate>,
    /// Bytes that each port may hold.
    pub buffers: Vec<u64>,
    /// Bytes of headers in every packet, link layer included.
    pub header: u16,
    /// Whether a port marks packets when they leave, which becomes known when it is looked at.
    pub marks_late: bool,
    /// Packets that hosts have sent.
    pub sent: u64,
    /// What is broken, and when.
    pub faults: Faults,
    /// The packets that are captured, if any are.
    pub capture: Option<Capture>,
    /// The packets that are recorded on links, if any are.
    pub crossings: Option<Crossings>,
    /// Whether faults look at packets, or packets are captured or recorded.
    pub watched: bool,
    /// Packets that a fault delays, with the links that they have crossed; none where one has arrived.
    pub held: Vec<Option<(LinkId, Packet)>>,
    /// The queues of sending hosts, if they matter.
    pub host_queues: Option<Box<HostQueues>>,
}

impl<C: EventCore> Network<C> {
    /// The clock.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.core.now()
    }

    /// Schedules the beginnings and ends of faults before `end`.
    pub fn plan_faults(&mut self, begin: Time, duration: Time) {
        for (at, index) in self.faults.instants().filter(|(at, _)| *at < duration) {
            self.core.schedule(begin + at, Class::Fault, index);
        }
    }

    /// A fault begins or ends. Returns the affected links, and whether each is up.
    pub fn on_fault(&mut self, index: usize) -> Vec<(LinkId, bool)> {
        let mut ports = Vec::new();
        match self.faults.turn(index) {
            Turn::Links(links) => {
                for (link, state) in links {
                    self.rates[link.index()] = state.rate;
                    ports.push((link, state.up));
                    self.core.set_link(link, state);
                }
            }
            Turn::Controller(timers) => {
                let now = self.now();
                for slot in timers {
                    self.core.schedule(now, Class::Controller, slot);
                }
            }
            Turn::Nothing => {}
        }
        ports
    }

    /// Whether a packet that has just crossed a watched link arrives now. If not, a fault has lost or delayed it.
    #[cold]
    pub fn arrives(&mut self, link: LinkId, packet: &mut Packet, book: &dyn AddressBook) -> bool {
        let now = self.now();
        let fate = self.faults.fate(link, packet, self.header);
        if let Some(reason) = fate.lost {
            self.core.lose(link, packet, reason);
            return false;
        }
        if fate.marked {
            self.core.books().ports[link.index()].would_mark += 1;
            if packet.flags.has(Flags::ECT) && !packet.flags.has(Flags::CE) {
                packet.flags = packet.flags.with(Flags::CE);
                self.core.books().on_mark(link, packet, now);
            }
        }
        if fate.later > Time::ZERO {
            let slot = self.held.iter().position(Option::is_none).unwrap_or(self.held.len());
            self.held.resize(self.held.len().max(slot + 1), None);
            self.held[slot] = Some((link, *packet));
            self.core.schedule(now + fate.later, Class::Held, slot);
            return false;
        }
        self.see(link, packet, book);
        true
    }

    /// A packet that a fault has delayed arrives now.
    pub fn release(&mut self, slot: usize, book: &dyn AddressBook) -> (LinkId, Packet) {
        let (link, mut packet) = self.held[slot].take().expect("a delayed packet has an event of its own");
        packet.arrival = self.now().ps();
        self.see(link, &packet, book);
        (link, packet)
    }

    /// Captures and records a packet that has crossed a link.
    fn see(&mut self, link: LinkId, packet: &Packet, book: &dyn AddressBook) {
        let now = self.now();
        if let Some(capture) = &mut self.capture {
            let option = self.core.options().peek(packet.stamp.bits() as usize);
            capture.record(link, packet, now, self.header, book, option.map(|option| &option.blocks));
        }
        if let Some(crossings) = &mut self.crossings {
            crossings.record(link, packet, now);
        }
    }

    /// A host sends a packet of a flow of the traffic group `group` on its link.
    #[inline(always)]
    pub fn put(&mut self, link: LinkId, packet: &Packet, group: u32) {
        if self.host_queues.is_some() && !self.enters_queue(link, packet, group) {
            return;
        }
        self.sent += 1;
        self.core.send(link, packet);
    }

    #[inline(never)]
    fn enters_queue(&mut self, link: LinkId, packet: &Packet, group: u32) -> bool {
        let (now, leaves) = (self.now(), self.leaves(link, u64::from(packet.size)));
        let Some(queues) = &mut self.host_queues else { return true };
        let admitted = queues.admits(link, packet, group as usize, now, leaves);
        if !admitted {
            self.core.discard(link, packet, DropReason::HostQueueFull);
        }
        admitted
    }

    /// When the last of so many bytes that a host puts into the queue of `link` now will have left it.
    pub fn leaves(&self, link: LinkId, bytes: u64) -> Time {
        let free_at = self.host_queues.as_ref().map_or(Time::ZERO, |queues| queues.free_at(link));
        let ps_per_byte = self.rates[link.index()].ps_per_byte().map_or(0, u64::from);
        free_at.max(self.now()) + Time::from_ps(bytes * ps_per_byte)
    }

    /// The age of a packet, or of the segment that it acknowledges.
    #[inline]
    pub fn age(&mut self, packet: &Packet) -> Time {
        let age = packet.stamp.until(self.now());
        if age > Stamp::OLDEST {
            self.too_old(packet, age);
        }
        age
    }

    /// Aborts the run, because measured delays and timers would be wrong from now on.
    #[cold]
    fn too_old(&mut self, packet: &Packet, age: Time) {
        let now = self.now();
        let what = format!(
            "flow {} has a packet, or an acknowledged segment, that is {age} old, but delays are measured only up to \
             {}: use a smaller buffer or receive-buffer, or a higher rate",
            packet.flow.index(),
            Stamp::OLDEST
        );
        self.core.books().broken(now, what);
    }

    /// A packet of a finished flow has reached a host; no such packet should exist.
    #[cold]
    pub fn stray(&mut self, packet: &Packet) {
        let now = self.now();
        self.core.books().broken(now, format!("a packet of flow {}, which had finished, reached a host", packet.flow));
    }
}
