//! The queue of links: a branchless winner tree.

use crate::order::TieBreak;
use fanin_core::ids::LinkId;
use fanin_core::units::Time;

/// A key: an integer in the bits of a positive floating-point number, whose order is that of its bits. Of two such numbers
/// every x86-64 processor finds the lesser in one instruction, of two 64-bit integers in three.
type Key = f64;

/// Absent: greater than every key.
const NONE: Key = Key::INFINITY;

/// The least key in bits. Smaller numbers are subnormal, which some programs tell the processor to take for zero.
const LEAST: u64 = Key::MIN_POSITIVE.to_bits();

/// The lesser of two keys.
#[inline(always)]
fn lesser(a: Key, b: Key) -> Key {
    if a < b { a } else { b }
}

/// Earliest arrival over all links, ties by [`TieBreak`].
///
/// A binary tree in an array: leaf `i` holds the key of link `i`, an inner node the smaller of its children.
/// A key packs (arrival - base) above the link's rank, so one comparison orders by time and then by rank.
/// Insert, remove, later and earlier are the same walk from a leaf to the root.
#[derive(Debug)]
pub struct LinkQueue {
    nodes: Vec<Key>,
    /// The bits of a key that hold the link's rank.
    ranks: u64,
    link_bits: u32,
    /// The time that [`LEAST`] stands for.
    base: u64,
    /// The time that the bits of zero would stand for, modulo 2^64.
    zero: u64,
    /// First time that does not fit a key: `base + horizon`.
    end: u64,
    ties: TieBreak,
    walks: Walks,
    /// Nobody asks for the earliest arrival, so no time is set until the queue wakes.
    asleep: bool,
}

/// Writes a key to a leaf and updates the nodes above it.
type Walk = fn(nodes: &mut [Key], leaf: usize, key: Key);

/// The walks from a leaf of a tree with a certain number of levels.
#[derive(Clone, Copy, Debug)]
struct Walks {
    /// Walks to the root.
    to_root: Walk,
    /// Walks up to the first node that does not change.
    to_change: Walk,
}

/// By number of levels.
const WALKS: [Walks; 17] = [
    walks::<0>(),
    walks::<1>(),
    walks::<2>(),
    walks::<3>(),
    walks::<4>(),
    walks::<5>(),
    walks::<6>(),
    walks::<7>(),
    walks::<8>(),
    walks::<9>(),
    walks::<10>(),
    walks::<11>(),
    walks::<12>(),
    walks::<13>(),
    walks::<14>(),
    walks::<15>(),
    walks::<16>(),
];

const fn walks<const LEVELS: u32>() -> Walks {
    Walks { to_root: walk::<LEVELS, false>, to_change: walk::<LEVELS, true> }
}

/// A [`Walk`] over a number of levels that the compiler knows: it unrolls the loop and sees that no index is out of
/// bounds, which halves the walk. Every packet takes one to the root per link. `STOPS` at the first node that stays.
fn walk<const LEVELS: u32, const STOPS: bool>(nodes: &mut [Key], leaf: usize, mut key: Key) {
    let leaves = 1 << LEVELS;
    let nodes = &mut nodes[..2 * leaves];
    let mut i = leaves | (leaf & (leaves - 1));
    nodes[i] = key;
    for _ in 0..LEVELS {
        key = lesser(key, nodes[i ^ 1]);
        i >>= 1;
        if STOPS && nodes[i] == key {
            return;
        }
        nodes[i] = key;
    }
}

/// A [`Walk`] over any number of levels.
fn walk_high<const STOPS: bool>(nodes: &mut [Key], leaf: usize, mut key: Key) {
    let mut i = nodes.len() / 2 + leaf;
    nodes[i] = key;
    while i > 1 {
        key = lesser(key, nodes[i ^ 1]);
        i >>= 1;
        if STOPS && nodes[i] == key {
            return;
        }
        nodes[i] = key;
    }
}

impl LinkQueue {
    pub(crate) fn new(ties: TieBreak) -> Self {
        let leaves = ties.ranks();
        let link_bits = leaves.trailing_zeros();
        let any = Walks { to_root: walk_high::<false>, to_change: walk_high::<true> };
        let walks = WALKS.get(link_bits as usize).copied().unwrap_or(any);
        let mut queue = Self {
            nodes: vec![NONE; 2 * leaves],
            ranks: leaves as u64 - 1,
            link_bits,
            base: 0,
            zero: 0,
            end: 0,
            ties,
            walks,
            asleep: false,
        };
        queue.begin(0);
        queue
    }

    /// Keys begin at `base`.
    fn begin(&mut self, base: u64) {
        self.base = base;
        self.zero = base.wrapping_sub(LEAST >> self.link_bits);
        self.end = base + horizon(self.link_bits);
    }

    /// The earliest arrival and its link.
    #[inline(always)]
    pub(crate) fn top(&self) -> Option<(Time, LinkId)> {
        let key = self.nodes[1].to_bits();
        if key == NONE.to_bits() {
            return None;
        }
        let at = Time::from_ps((key >> self.link_bits).wrapping_add(self.zero));
        Some((at, self.ties.link(key & self.ranks, at)))
    }

    /// Sets the time of a link, whatever it was; without a time the link is removed. No time is before `now`.
    #[inline(always)]
    pub(crate) fn set(&mut self, link: LinkId, at: Option<Time>, now: Time) {
        if self.asleep {
            return;
        }
        let key = if let Some(at) = at { self.key(link, at.ps(), now.ps()) } else { NONE };
        (self.walks.to_change)(&mut self.nodes, link.index(), key);
    }

    /// Sets the time of the link that is at the top. Its key is the smallest all the way up, so the walk always
    /// reaches the root and need not look for an early end.
    #[inline(always)]
    pub(crate) fn replace_top(&mut self, link: LinkId, at: Option<Time>, now: Time) {
        if self.asleep {
            return;
        }
        debug_assert_eq!(self.top().map(|(_, top)| top), Some(link));
        let key = if let Some(at) = at { self.key(link, at.ps(), now.ps()) } else { NONE };
        (self.walks.to_root)(&mut self.nodes, link.index(), key);
    }

    /// The order of simultaneous arrivals.
    pub(crate) fn ties(&self) -> TieBreak {
        self.ties
    }

    /// Sets no more times until [`Self::wake`].
    pub(crate) fn sleep(&mut self) {
        self.asleep = true;
    }

    /// Sets the times of all links at once: the next arrivals after `now`, by link.
    pub(crate) fn wake(&mut self, arrivals: impl Iterator<Item = Option<Time>>, now: Time) {
        self.asleep = false;
        self.begin(now.ps());
        let first = self.nodes.len() / 2;
        for (i, at) in arrivals.enumerate() {
            self.nodes[first + i] = at.map_or(NONE, |at| self.key(LinkId::new(i), at.ps(), now.ps()));
        }
        for i in (1..first).rev() {
            self.nodes[i] = lesser(self.nodes[2 * i], self.nodes[2 * i + 1]);
        }
    }

    #[inline(always)]
    fn key(&mut self, link: LinkId, at: u64, now: u64) -> Key {
        if at >= self.end {
            self.rebase(at, now);
        }
        Key::from_bits(at.wrapping_sub(self.zero) << self.link_bits | self.ties.rank(link, Time::from_ps(at)))
    }

    /// The longest time between an event and one that it sets, for a network of `links` links.
    pub fn reach(links: usize) -> Time {
        Time::from_ps(1 << (62 - links.next_power_of_two().max(2).trailing_zeros()))
    }

    /// Moves the base to the present, which keeps the order of the keys. It does not move to the earliest key, because
    /// the next packet may arrive before all those in flight.
    #[cold]
    fn rebase(&mut self, at: u64, now: u64) {
        let shift = now - self.base;
        for key in self.nodes.iter_mut().filter(|key| **key != NONE) {
            *key = Key::from_bits(key.to_bits() - (shift << self.link_bits));
        }
        self.begin(now);
        assert!(at < self.end, "one event lies more than {} ps after another", horizon(self.link_bits));
    }
}

/// The range of times after the base that a key can represent: the greatest is less than [`NONE`].
const fn horizon(link_bits: u32) -> u64 {
    3 << (61 - link_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::rng::Stream;

    #[test]
    fn agrees_with_a_sorted_list_across_rebases() {
        let mut stream = Stream::named(3, "links");
        let (links, mut now) = (37, 0_u64);
        let ties = TieBreak::new(links, 5);
        let mut queue = LinkQueue::new(ties);
        // A short horizon makes the base move often.
        queue.link_bits = 44;
        queue.begin(0);
        let mut model = vec![None::<u64>; links];
        for _ in 0..20_000 {
            let link = stream.below(links as u64) as usize;
            let at = (stream.below(5) > 0).then(|| now + stream.below(1 << 17));
            queue.set(LinkId::new(link), at.map(Time::from_ps), Time::from_ps(now));
            model[link] = at;
            let ranked = model
                .iter()
                .enumerate()
                .filter_map(|(i, at)| at.map(|at| (at, ties.rank(LinkId::new(i), Time::from_ps(at)), i)));
            let expected = ranked.min();
            assert_eq!(queue.top().map(|(at, link)| (at.ps(), link.index())), expected.map(|(at, _, i)| (at, i)));
            if let Some((at, _, _)) = expected {
                now = at;
            }
        }
        assert!(queue.base > 0, "the base never moved");
    }

    #[test]
    fn keys_are_normal_numbers_below_that_of_no_link() {
        let mut queue = LinkQueue::new(TieBreak::new(8, 1));
        for at in [0, 1, horizon(queue.link_bits) - 1] {
            queue.set(LinkId::new(7), Some(Time::from_ps(at)), Time::ZERO);
            assert!(queue.nodes[1].is_normal() && queue.nodes[1] < NONE, "{at} ps");
            assert_eq!(queue.top(), Some((Time::from_ps(at), LinkId::new(7))));
        }
        assert_eq!(queue.base, 0, "the base did not move");
    }

    #[test]
    fn a_queue_that_wakes_knows_what_it_is_told_and_nothing_of_its_sleep() {
        let mut queue = LinkQueue::new(TieBreak::new(5, 1));
        let us = Time::from_us;
        queue.set(LinkId::new(0), Some(us(1)), Time::ZERO);
        queue.sleep();
        queue.set(LinkId::new(1), Some(us(2)), us(1));
        queue.replace_top(LinkId::new(0), None, us(1));
        let arrivals = [None, None, Some(us(9)), Some(us(7)), None];
        queue.wake(arrivals.into_iter(), us(3));
        assert_eq!(queue.top(), Some((us(7), LinkId::new(3))));
        queue.replace_top(LinkId::new(3), None, us(7));
        assert_eq!(queue.top(), Some((us(9), LinkId::new(2))));
        queue.replace_top(LinkId::new(2), None, us(9));
        assert_eq!(queue.top(), None);
    }

    #[test]
    fn ties_favour_no_link() {
        let ties = TieBreak::new(200, 1);
        let mut wins = 0;
        for i in 0..1000 {
            let mut queue = LinkQueue::new(ties);
            let at = Time::from_ns(12_016 * i);
            queue.set(LinkId::new(3), Some(at), Time::ZERO);
            queue.set(LinkId::new(5), Some(at), Time::ZERO);
            wins += u32::from(queue.top() == Some((at, LinkId::new(3))));
        }
        assert!((400..600).contains(&wins), "{wins} of 1000");
    }

    #[test]
    fn a_later_packet_may_arrive_before_those_that_moved_the_base() {
        let mut queue = LinkQueue::new(TieBreak::new(8, 1));
        let late = Time::from_ps(horizon(queue.link_bits));
        let now = Time::from_ps(horizon(queue.link_bits) - 10);
        queue.set(LinkId::new(0), Some(late), now);
        queue.set(LinkId::new(1), Some(late.saturating_sub(Time::from_ps(5))), now);
        assert_eq!(queue.top(), Some((late.saturating_sub(Time::from_ps(5)), LinkId::new(1))));
    }
}
