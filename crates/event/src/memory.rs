//! The bytes that ports hold together in the memory that they share: a running total.
//!
//! Departures are counted late, when somebody looks at a port, so the total is an upper bound. Where it matters, the
//! ports that a packet may have left since they were last counted are counted anew: those whose next departure has come.

use fanin_core::ids::LinkId;
use fanin_core::units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The memories of all switches.
pub(super) struct SharedMemory {
    pools: Vec<Pool>,
    /// By link; empty if no memory is shared.
    shares: Vec<Share>,
}

/// One memory.
#[derive(Default)]
struct Pool {
    /// Bytes of all shares.
    total: u64,
    /// Instants from which ports are out of date. An entry that is not its port's `recount` is obsolete.
    recounts: BinaryHeap<Reverse<(u64, LinkId)>>,
}

/// What one port holds.
#[derive(Clone, Copy)]
struct Share {
    /// Bytes, when the port was last counted.
    held: u64,
    /// No packet departs before; `u64::MAX` if none is known to depart.
    recount: u64,
}

impl SharedMemory {
    /// `pools` are the memories of the ports that share one, by link.
    pub(super) fn new(pools: &[Option<usize>]) -> Self {
        let count = pools.iter().flatten().max().map_or(0, |last| last + 1);
        let shares = if count > 0 { vec![Share { held: 0, recount: u64::MAX }; pools.len()] } else { Vec::new() };
        Self { pools: (0..count).map(|_| Pool::default()).collect(), shares }
    }

    /// The port of `link` holds `held` bytes; its next packet departs at `departure`.
    #[inline]
    pub(super) fn count(&mut self, pool: usize, link: LinkId, held: u64, departure: Option<Time>) {
        let (pool, share) = (&mut self.pools[pool], &mut self.shares[link.index()]);
        pool.total = pool.total + held - share.held;
        share.held = held;
        if let Some(departure) = departure.map(Time::ps)
            && departure < share.recount
        {
            share.recount = departure;
            pool.recounts.push(Reverse((departure, link)));
        }
    }

    /// A port whose share is out of date at `now`: it is to be counted before the next call.
    #[inline]
    pub(super) fn outdated(&mut self, pool: usize, now: Time) -> Option<LinkId> {
        let recounts = &mut self.pools[pool].recounts;
        while let Some(&Reverse((at, link))) = recounts.peek() {
            if at > now.ps() {
                return None;
            }
            recounts.pop();
            let share = &mut self.shares[link.index()];
            if share.recount == at {
                share.recount = u64::MAX;
                return Some(link);
            }
        }
        None
    }

    /// The bytes in a memory, or more if a share is out of date.
    #[inline]
    pub(super) fn at_most(&self, pool: usize) -> u64 {
        self.pools[pool].total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LinkId = LinkId::new(0);
    const B: LinkId = LinkId::new(2);

    fn ns(ns: u64) -> Time {
        Time::from_ps(1000 * ns)
    }

    fn shared() -> SharedMemory {
        SharedMemory::new(&[Some(0), None, Some(0)])
    }

    #[test]
    fn the_total_is_what_all_ports_hold() {
        let mut memory = shared();
        memory.count(0, A, 1500, Some(ns(12)));
        memory.count(0, B, 40, Some(ns(3)));
        memory.count(0, A, 3000, Some(ns(12)));
        assert_eq!(memory.at_most(0), 3040);
        memory.count(0, B, 0, None);
        assert_eq!(memory.at_most(0), 3000);
    }

    #[test]
    fn a_port_is_out_of_date_once_its_next_packet_has_departed() {
        let mut memory = shared();
        memory.count(0, A, 1500, Some(ns(12)));
        memory.count(0, B, 40, Some(ns(3)));
        assert_eq!(memory.outdated(0, ns(2)), None);
        assert_eq!(memory.outdated(0, ns(3)), Some(B), "a departure at this instant comes first");
        memory.count(0, B, 0, None);
        assert_eq!(memory.outdated(0, ns(11)), None);
        assert_eq!(memory.outdated(0, ns(30)), Some(A));
    }

    #[test]
    fn a_port_that_was_counted_elsewhere_is_asked_once_more() {
        let mut memory = shared();
        memory.count(0, A, 3000, Some(ns(12)));
        memory.count(0, A, 1500, Some(ns(24)));
        assert_eq!(memory.outdated(0, ns(12)), Some(A), "asking too early does no harm");
        memory.count(0, A, 1500, Some(ns(24)));
        assert_eq!(memory.outdated(0, ns(12)), None);
        assert_eq!(memory.outdated(0, ns(24)), Some(A));
    }

    #[test]
    fn a_departure_that_comes_earlier_than_was_known_counts() {
        let mut memory = shared();
        memory.count(0, A, 1500, Some(ns(12)));
        memory.count(0, A, 40, Some(ns(5)));
        assert_eq!(memory.outdated(0, ns(5)), Some(A));
        memory.count(0, A, 0, None);
        assert_eq!(memory.outdated(0, ns(20)), None, "the later entry is obsolete");
    }
}
