//! The network's current state: the event core with its ports, the paths in use, and the active faults.

use crate::event::EventCore;
use crate::event::order::Class;
use crate::ids::LinkId;
use crate::measure::capture::Capture;
use crate::net::faults::{Faults, Turn};
use crate::net::paths::Paths;
use crate::packet::{Packet, Stamp};
use crate::roles::{AddressBook, DropReason};
use crate::topology::Topology;
use crate::units::{Rate, Time};

/// The network between hosts.
pub(crate) struct Network<C> {
    pub(crate) core: C,
    pub(crate) topology: Topology,
    pub(crate) paths: Paths,
    /// The current rate of each link.
    pub(crate) rates: Vec<Rate>,
    /// Bytes that each port may hold.
    pub(crate) buffers: Vec<u64>,
    /// Bytes of headers in every packet, link layer included.
    pub(crate) header: u16,
    pub(crate) faults: Faults,
    pub(crate) capture: Option<Capture>,
    /// Whether some link loses packets at random, or packets are captured.
    pub(crate) watched: bool,
}

impl<C: EventCore> Network<C> {
    /// The clock.
    #[inline(always)]
    pub(crate) fn now(&self) -> Time {
        self.core.now()
    }

    /// Schedules the beginnings and ends of faults before `end`.
    pub(crate) fn plan_faults(&mut self, end: Time) {
        for (at, index) in self.faults.instants().filter(|(at, _)| *at < end) {
            self.core.schedule(at, Class::Fault, index);
        }
    }

    /// A fault begins or ends. Returns the affected links, and whether each is up.
    pub(crate) fn on_fault(&mut self, index: usize) -> Vec<(LinkId, bool)> {
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

    /// Whether a watched link has lost a packet that has just crossed it; if not, the packet is captured.
    #[cold]
    pub(crate) fn is_lost_or_seen(&mut self, link: LinkId, packet: &Packet, book: &dyn AddressBook) -> bool {
        let now = self.now();
        if self.faults.loses(link) {
            self.core.books().on_lost(link, packet, DropReason::RandomLoss, now);
            return true;
        }
        if let Some(capture) = &mut self.capture {
            let blocks = self.core.books().sack.peek(packet.stamp.bits() as usize);
            capture.record(link, packet, now, self.header, book, blocks);
        }
        false
    }

    /// The age of a packet, or of the segment that it acknowledges.
    #[inline]
    pub(crate) fn age(&mut self, packet: &Packet) -> Time {
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
            "a packet of flow {}, or the segment that it acknowledges, is {age} old, but delays are measured only up \
             to {}: use a smaller buffer or receive-buffer, or a higher rate",
            packet.flow.index(),
            Stamp::OLDEST
        );
        self.core.books().broken(now, what);
    }

    /// A packet of a finished flow has reached a host; no such packet should exist.
    #[cold]
    pub(crate) fn stray(&mut self, packet: &Packet) {
        let now = self.now();
        self.core.books().broken(now, format!("a packet of flow {}, which had finished, reached a host", packet.flow));
    }
}
