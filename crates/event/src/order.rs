//! The kinds of events, and the order of simultaneous ones.

use fanin_core::ids::LinkId;
use fanin_core::units::Time;

/// The kinds of rare events, in the order in which simultaneous ones happen.
///
/// The order of simultaneous events is structural, never that of insertion: first departures from ports, then arrivals
/// by [`TieBreak`], then these by class and index. It makes results independent of the event core, of refactoring and
/// of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A fault begins or ends, before anything else that is rare. Index: twice the fault, one more for its end.
    Fault,
    /// A frame of flow control reaches a port, which it pauses or resumes. Index: the port's link.
    Pause,
    /// A packet arrives that a fault has delayed, after those that arrive without one. Index: its slot.
    Held,
    /// A host's interface hands over the packets that have arrived, before any timer looks at what they bring. Index: node.
    Interrupt,
    /// A transfer begins. Index: transfer.
    TransferStart,
    /// An endless transfer is stopped. Index: transfer.
    TransferStop,
    /// A timer that a traffic group set. Index: group.
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
    /// A message reaches the controller, is processed, or reaches a switch. Index: number of the message.
    Message,
    /// The controller's timer. Index: slot of its token.
    Controller,
    /// Time to sample queues.
    Sample,
    /// Time to look at what runs before other traffic.
    Look,
    /// Queue statistics begin.
    WarmupEnd,
    /// The duration is over.
    Stop,
    /// A packet leaves a lossless switch a picosecond later: before all else that happens then. Index: link.
    Departure,
}

/// The order of links whose packets arrive at the same instant: a permutation by a seeded hash of the instant.
///
/// ACK-clocked flows over equal paths repeatedly meet at exactly the same picosecond. An order that always favours one
/// link, such as the lower number, would let one flow take every free place of a full port and lose all packets of
/// another (decision 5). In a real network noise decides such ties. The hash depends only on the seed and the time, so
/// every event core and every machine decides alike.
#[derive(Clone, Copy, Debug)]
pub struct TieBreak {
    salt: u64,
    bits: u32,
    /// The shift that leaves so many bits of a hash.
    shift: u32,
}

impl TieBreak {
    /// The order among so many links.
    pub fn new(links: usize, seed: u64) -> Self {
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
    /// Rank of a link among those with an arrival at `at`.
    #[inline(always)]
    pub(crate) const fn rank(self, link: LinkId, at: Time) -> u64 {
        link.index() as u64 ^ self.mask(at)
    }
    /// Place of an arrival at `at` among those since `since`: the time, then the rank.
    #[inline(always)]
    pub(crate) const fn place(self, link: LinkId, at: Time, since: Time) -> u64 {
        (at.ps() - since.ps()) << self.bits | self.rank(link, at)
    }
    /// The time and the rank of an arrival at such a place.
    #[inline(always)]
    pub(crate) const fn placed(self, place: u64, since: Time) -> (Time, u64) {
        (Time::from_ps(since.ps() + (place >> self.bits)), place & ((1 << self.bits) - 1))
    }
    /// The longest time whose places fit.
    pub(crate) const fn reach(self) -> Time {
        Time::from_ps(u64::MAX >> self.bits)
    }
    /// The link with that rank.
    #[inline(always)]
    pub(crate) const fn link(self, rank: u64, at: Time) -> LinkId {
        LinkId::new((rank ^ self.mask(at)) as usize)
    }
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A packet reached the far end of a link; [`EventCore::take`](super::EventCore::take) returns it.
    Arrival(LinkId),
    /// A rare event.
    Misc {
        /// Its kind.
        class: Class,
        /// What it concerns, such as a slot of a timer.
        index: u32,
    },
}

/// Key of a rare event: class in the high 5 bits, index below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MiscKey(u32);

const INDEX_BITS: u32 = 27;
/// One above the largest index of a rare event.
pub const MAX_INDEX: usize = 1 << INDEX_BITS;
const CLASSES: [Class; 21] = [
    Class::Fault,
    Class::Pause,
    Class::Held,
    Class::Interrupt,
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
    Class::Look,
    Class::WarmupEnd,
    Class::Stop,
    Class::Departure,
];

impl MiscKey {
    pub(crate) fn new(class: Class, index: usize) -> Self {
        debug_assert!(index < MAX_INDEX);
        Self((class as u32) << INDEX_BITS | index as u32)
    }
    /// Position among rare events of one instant.
    pub(crate) fn order(self) -> u64 {
        u64::from(self.0)
    }
    /// Whether the event can change the simulation. Samples cannot, and timers may not, because their deadlines may
    /// have moved.
    pub(crate) fn is_live(self) -> bool {
        !matches!(
            CLASSES[(self.0 >> INDEX_BITS) as usize],
            Class::Sample | Class::Look | Class::Retransmission | Class::DelayedAck
        )
    }
    /// When what it stands for happens, if its event is at `at`.
    pub(crate) fn happens(self, at: u64) -> u64 {
        at + u64::from(self.0 >> INDEX_BITS == Class::Departure as u32)
    }
    /// The event that it is the key of.
    pub fn event(self) -> Event {
        Event::Misc { class: CLASSES[(self.0 >> INDEX_BITS) as usize], index: self.0 & ((1 << INDEX_BITS) - 1) }
    }
}
