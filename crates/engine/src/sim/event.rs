//! What can happen, and in which order at one instant.

use crate::ids::LinkId;
use crate::packet::Packet;
use crate::roles::Backlog;
use crate::sim::port::LinkState;
use crate::units::Time;

/// The kinds of rare events, in the order in which they happen at one instant.
///
/// The order at one instant is structural, never that of insertion: first departures from ports, then arrivals
/// by [`TieBreak`], then these by class and index. That is what makes event cores, refactorings and machines agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Class {
    /// A fault begins or ends, before anything else that is rare. Index: twice the fault, one more for its end.
    Fault,
    /// A transfer begins. Index: transfer.
    TransferStart,
    /// Endless data ends after all. Index: transfer.
    TransferStop,
    /// A traffic group asked to be woken. Index: group.
    Traffic,
    /// A sender's timer. Index: flow.
    Retransmission,
    /// A sender's pacing timer. Index: flow.
    Pacing,
    /// A congestion control's own timer. Index: flow.
    Wake,
    /// Segments have waited long enough for a flowcell that they overtook. Index: flow.
    Resequencing,
    /// A delayed acknowledgement is due. Index: flow.
    DelayedAck,
    /// A receiving host's own timer. Index: slot of its token.
    Host,
    /// A switch agent's timer. Index: slot of its token.
    Switch,
    /// A message reaches the controller, or is served, or reaches a switch. Index: slot of the message.
    Message,
    /// The controller's timer. Index: slot of its token.
    Controller,
    /// Time to sample queues.
    Sample,
    /// Queue statistics begin.
    WarmupEnd,
    /// The duration is over.
    Stop,
}

/// The order of links whose packets arrive at one instant: a seeded hash of the instant permutes them.
///
/// ACK-clocked flows over equal paths meet at exactly the same picosecond again and again. An order that favours one
/// link every time, such as the lower number, would let one flow take every free place of a full port and lose all
/// packets of another (decision 5); in a network such a tie is decided by noise. The hash depends on nothing but the
/// seed and the time, so every event core and every machine decides alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TieBreak {
    salt: u64,
    bits: u32,
    /// What leaves that many bits of a hash.
    shift: u32,
}

impl TieBreak {
    pub(crate) fn new(links: usize, seed: u64) -> Self {
        // SplitMix64's increment keeps neighbouring seeds apart.
        let salt = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
        let bits = links.next_power_of_two().max(2).trailing_zeros();
        Self { salt, bits, shift: 64 - bits }
    }
    /// Number of ranks: a power of two, and at least the number of links.
    pub(crate) const fn ranks(self) -> usize {
        1 << self.bits
    }
    /// Flipping the bits of the link number by a hash of the time makes either of two links come first equally often.
    #[inline(always)]
    const fn mask(self, at: Time) -> u64 {
        (at.ps() ^ self.salt).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> self.shift
    }
    /// Place of a link among those with an arrival at `at`.
    #[inline(always)]
    pub(crate) const fn rank(self, link: LinkId, at: Time) -> u64 {
        link.index() as u64 ^ self.mask(at)
    }
    /// The link at that place.
    #[inline(always)]
    pub(crate) const fn link(self, rank: u64, at: Time) -> LinkId {
        LinkId::new((rank ^ self.mask(at)) as usize)
    }
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A packet reached the far end of a link; [`EventCore::take`] hands it over.
    Arrival(LinkId),
    /// Something rare.
    Misc { class: Class, index: u32 },
}

/// Key of a rare event: class in the high 4 bits, index below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MiscKey(u32);

const INDEX_BITS: u32 = 28;
/// One above the largest index of a rare event.
pub(crate) const MAX_INDEX: usize = 1 << INDEX_BITS;
const CLASSES: [Class; 16] = [
    Class::Fault,
    Class::TransferStart,
    Class::TransferStop,
    Class::Traffic,
    Class::Retransmission,
    Class::Pacing,
    Class::Wake,
    Class::Resequencing,
    Class::DelayedAck,
    Class::Host,
    Class::Switch,
    Class::Message,
    Class::Controller,
    Class::Sample,
    Class::WarmupEnd,
    Class::Stop,
];

impl MiscKey {
    pub(crate) fn new(class: Class, index: usize) -> Self {
        debug_assert!(index < MAX_INDEX);
        Self((class as u32) << INDEX_BITS | index as u32)
    }
    /// Position among rare events of one instant.
    #[cfg(any(test, feature = "oracle"))]
    pub(crate) fn order(self) -> u64 {
        u64::from(self.0)
    }
    /// Something may come of it: no sample, and no timer, whose deadline may have moved.
    pub(crate) fn is_live(self) -> bool {
        !matches!(CLASSES[(self.0 >> INDEX_BITS) as usize], Class::Sample | Class::Retransmission | Class::DelayedAck)
    }
    pub(crate) fn event(self) -> Event {
        Event::Misc { class: CLASSES[(self.0 >> INDEX_BITS) as usize], index: self.0 & ((1 << INDEX_BITS) - 1) }
    }
}

/// A store of payloads for rare events that do not fit their 28-bit index.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn put(&mut self, item: T) -> usize {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = Some(item);
            return slot as usize;
        }
        self.items.push(Some(item));
        self.items.len() - 1
    }
    pub(crate) fn take(&mut self, slot: usize) -> Option<T> {
        let item = self.items.get_mut(slot)?.take();
        if item.is_some() {
            self.free.push(slot as u32);
        }
        item
    }
    pub(crate) fn peek(&self, slot: usize) -> Option<&T> {
        self.items.get(slot)?.as_ref()
    }
}

/// An event core: the queue of events and the ports whose packets are events.
///
/// The product has one (`sim::core`); the tests have a second, naive one that it must agree with bit for bit.
pub(crate) trait EventCore {
    /// Every new deadline of a retransmission or acknowledgement timer becomes an event, and is ignored if it has moved
    /// when the event comes. Else deadlines move lazily, which must not change anything else.
    const EAGER_TIMERS: bool = false;
    /// Lets `packet` into the egress port of `link`.
    fn send(&mut self, link: LinkId, packet: &Packet, now: Time);
    /// Changes the link whose port is [`PortSpec::faulty`](super::port::PortSpec). What is in transmission or on the
    /// link when it goes down is lost now.
    fn set_link(&mut self, link: LinkId, state: LinkState, now: Time);
    /// Schedules a rare event.
    fn schedule(&mut self, at: Time, class: Class, index: usize);
    /// The next event in time and structural order.
    fn next(&mut self) -> Option<(Time, Event)>;
    /// Takes the packet whose arrival was the last event.
    fn take(&mut self, link: LinkId, now: Time) -> Packet;
    /// What is in the port of `link` now.
    fn backlog(&mut self, link: LinkId, now: Time) -> Backlog;
    /// The books that both cores keep in the same way.
    fn ledger(&mut self) -> &mut super::ledger::Ledger;
    /// Brings every observed port up to `now` (end of run, samples).
    fn settle(&mut self, now: Time);
    /// State that a switch's roles share, as it is now.
    fn node(&mut self, switch: crate::ids::NodeId, now: Time) -> &mut dyn std::any::Any;
    /// Packets of each flow that are still inside a port or on a link.
    fn in_network(&self, count: &mut dyn FnMut(&Packet));
    /// Nothing is left that could happen, but for samples and the timers of end points.
    fn is_idle(&self) -> bool;
    /// What every port has counted, beside what is really there.
    fn audit(&mut self, now: Time) -> Vec<PortAudit>;
}

/// What one port has counted, beside what is really in it and on its link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortAudit {
    /// Bytes that were let in and not pushed out again.
    pub(crate) entered: u64,
    /// What it believes to hold.
    pub(crate) believed: Backlog,
    /// It counts bytes, not only packets.
    pub(crate) counts_bytes: bool,
    /// What it holds, the packet in transmission included.
    pub(crate) held: Backlog,
    /// Bytes that have left it and are on their way.
    pub(crate) flying: u64,
}

impl PortAudit {
    /// Books a packet that is in the port, or else on its way.
    pub(crate) fn find(&mut self, size: u16, in_port: bool) {
        if in_port {
            self.held.packets += 1;
            self.held.bytes += u64::from(size);
        } else {
            self.flying += u64::from(size);
        }
    }
    /// Bytes whose transmission is over.
    pub(crate) fn departed(&self) -> u64 {
        self.entered.saturating_sub(self.held.bytes)
    }
    /// Bytes that have reached the end of the link.
    pub(crate) fn delivered(&self) -> u64 {
        self.departed().saturating_sub(self.flying)
    }
}
