//! Events in time order: the event queue, and the ports whose packets are events.

mod by_node;
pub mod core;
pub mod links;
mod memory;
pub mod order;
mod ports;
#[cfg(any(test, feature = "reference-core"))]
pub mod reference_core;
mod windows;

use crate::order::{Class, Event, MiscKey, TieBreak};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::packet::{Flags, Onward, Packet};
use fanin_core::roles::{Backlog, DropReason, QueueDiscipline};
use fanin_core::units::Time;
use fanin_port::books::Books;
use fanin_port::pfc::Lossless;
use fanin_port::slots::Slots;
use fanin_port::spec::{LinkState, PortSpec, Stacks, drop_stack, stack_of};
use fanin_tcp::sack::AckOption;
use std::any::Any;

/// An event core: the queue of events and the ports whose packets are events.
///
/// Simulations use [`core`]; tests compare it with the reference core (`reference_core.rs`), a second, simple
/// implementation, which must agree bit for bit.
pub trait EventCore {
    /// Every new deadline of a retransmission or acknowledgement timer becomes an event, and is ignored if it has moved
    /// when the event comes. Otherwise deadlines move lazily, which must not change any result.
    const EAGER_TIMERS: bool = false;
    /// The core that simulates node by node.
    type Windows: NodeByNode;
    /// A core before the first event.
    fn new(parts: CoreParts) -> Self;
    /// The clock: the time of the last event.
    fn now(&self) -> Time;
    /// Sends `packet` to the egress port of `link`.
    fn send(&mut self, link: LinkId, packet: &Packet);
    /// Changes the state of a link whose port is [`PortSpec::faulty`]. Packets in transmission or in flight when it
    /// goes down are lost now.
    fn set_link(&mut self, link: LinkId, state: LinkState);
    /// A frame of flow control reaches the port of `link`.
    fn on_frame(&mut self, link: LinkId);
    /// A packet leaves the port of `link`, for cores that schedule that ([`Class::Departure`]).
    fn on_departure(&mut self, _link: LinkId) {}
    /// Whether switches are lossless.
    fn is_lossless(&self) -> bool;
    /// Schedules a rare event.
    fn schedule(&mut self, at: Time, class: Class, index: usize);
    /// The next event in time and structural order; the clock advances to it.
    fn next(&mut self) -> Option<Event>;
    /// Whether the next event is at `until` or before. If it is later, the clock advances to `until`.
    fn is_due(&mut self, until: Time) -> bool;
    /// Gives the port of `link` another discipline of the same form ([`QueueDiscipline::keeps_nothing`]).
    fn set_discipline(&mut self, link: LinkId, discipline: Box<dyn QueueDiscipline>);
    /// Takes the packet whose arrival was the last event.
    fn take(&mut self, link: LinkId) -> Packet;
    /// The current backlog of the port of `link`, without bytes if it does not count them.
    fn backlog(&mut self, link: LinkId) -> Backlog;
    /// As [`Self::backlog`], with its bytes even if the port does not count them.
    fn held(&mut self, link: LinkId) -> Backlog;
    /// The books, which both cores keep in the same way.
    fn books(&mut self) -> &mut Books;
    /// What acknowledgements under way carry besides their packets, each in the slot that its packet names in place of a stamp.
    fn options(&mut self) -> &mut Slots<AckOption>;
    /// The telemetry in segments under way.
    fn stacks(&mut self) -> &mut Stacks;
    /// The port of `link` drops a packet, or whoever sends it there.
    #[cold]
    fn discard(&mut self, link: LinkId, packet: &Packet, reason: DropReason) {
        if packet.flags.has(Flags::OPTION) {
            let option = if packet.is_ack() { self.options().take(packet.stamp.bits() as usize) } else { None };
            drop_stack(option.map_or(stack_of(packet), |option| option.stack), self.stacks());
        }
        let now = self.now();
        self.books().on_drop(link, packet, reason, now);
    }
    /// A packet that had left the port of `link` is lost on the link.
    #[cold]
    fn lose(&mut self, link: LinkId, packet: &Packet, reason: DropReason) {
        self.books().ports[link.index()].lost_on_link += u64::from(packet.size);
        self.discard(link, packet, reason);
    }
    /// The core, if it can simulate node by node.
    fn windows(&mut self) -> Option<&mut Self::Windows> {
        None
    }
    /// Brings every observed port up to date (for the end of the run and samples).
    fn settle(&mut self);
    /// The current state shared by a switch's roles.
    fn node(&mut self, switch: NodeId) -> &mut dyn Any;
    /// Packets of each flow that are still inside a port or on a link.
    fn in_network(&self, count: &mut dyn FnMut(&Packet));
    /// Whether no events are left except samples and the timers of end points.
    fn is_idle(&self) -> bool;
    /// Each port's counts, together with its actual contents, for the checks.
    fn audit(&mut self) -> Vec<PortAudit>;
}

/// An event core that can simulate one node after the other in windows of time (`windows.rs`).
pub trait NodeByNode {
    /// Whether no node's state is part of another's, and departures follow from arrivals.
    fn is_plain(&self) -> bool;
    /// The longest window that can be told apart to the picosecond.
    fn longest_window(&self) -> Time;
    /// The time of the next event.
    fn upcoming(&self) -> Option<Time>;
    /// Goes over from the order of time to windows.
    fn open_windows(&mut self);
    /// Goes back to the order of time; every event before `now` has happened.
    fn close_windows(&mut self, now: Time);
    /// Sets the clock, which goes back where the next node's part of a window begins.
    fn set_clock(&mut self, now: Time);
    /// Opens the window from `from` to `until`, exclusive. While it is being planned, it is called with `until == from`.
    fn begin_window(&mut self, from: Time, until: Time);
    /// The next rare event before `until`, if there is one.
    fn first_rare(&self, until: Time) -> Option<(Time, MiscKey)>;
    /// Takes out the next rare event.
    fn take_rare(&mut self);
    /// Keeps a rare event for later.
    fn put_off(&mut self, at: Time, key: MiscKey);
    /// The times of all arrivals before `until`, in no order, and how many packets there are on all links.
    fn arrival_times(&self, until: Time) -> (Vec<u64>, u64);
    /// It is a node's turn, which `links` lead to: what arrives on them in this window is sorted.
    fn gather(&mut self, links: &[LinkId]);
    /// Gives a rare event to the node at work.
    fn give(&mut self, at: Time, key: MiscKey);
    /// The next link of the packet that arrives now over `link`, and the rest of its path.
    fn onward(&self, link: LinkId) -> Onward;
    /// The packet that arrives now over `link` goes on over `next`, with what is `left` of its path after that.
    fn pass_on(&mut self, link: LinkId, next: LinkId, left: Onward);
    /// The next event of the node at work; the clock is set to it.
    fn next_here(&mut self) -> Option<Event>;
}

/// Everything that an event core is built from.
pub struct CoreParts {
    /// By link, the port at its beginning.
    pub ports: Vec<PortSpec>,
    /// By node, the state that the roles of its scheme share.
    pub nodes: Vec<Box<dyn Any + Send>>,
    /// Where it counts what happens to packets.
    pub books: Books,
    /// The order of simultaneous arrivals.
    pub ties: TieBreak,
    /// The ingresses of lossless switches.
    pub lossless: Lossless,
}

/// One port's counts, together with the actual contents of the port and its link.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortAudit {
    /// Bytes that were admitted and not pushed out again.
    pub entered: u64,
    /// The backlog by the port's own count.
    pub believed: Backlog,
    /// Whether the port counts bytes as well as packets.
    pub counts_bytes: bool,
    /// The actual contents of the port, the packet in transmission included.
    pub held: Backlog,
    /// Bytes that have left the port and are in flight.
    pub flying: u64,
}

impl PortAudit {
    /// Counts a packet that is in the port, or else in flight.
    pub(crate) fn find(&mut self, size: u16, in_port: bool) {
        if in_port {
            self.held.packets += 1;
            self.held.bytes += u64::from(size);
        } else {
            self.flying += u64::from(size);
        }
    }
    /// Bytes whose transmission is complete.
    pub fn departed(&self) -> u64 {
        self.entered.saturating_sub(self.held.bytes)
    }
    /// Bytes that have reached the end of the link.
    pub fn delivered(&self) -> u64 {
        self.departed().saturating_sub(self.flying)
    }
}
