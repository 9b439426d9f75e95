//! Looks at every port during a run, which find where packets wait.
//!
//! Only observed ports keep statistics of their queues: a hop through any other costs nothing more. What the others hold
//! is looked at now and then, so rarely that it is a small share of a hop. That tells which port holds most, not how
//! much it holds at most.

use crate::network::Network;
use fanin_core::ids::LinkId;
use fanin_event::EventCore;

/// What ports held at each look.
#[derive(Debug)]
pub struct Looks {
    /// The number of packet-hops at the last look.
    last: u64,
    /// The number of packet-hops at the next look.
    pub next: u64,
    /// By link, the bytes that its port held, summed over packet-hops.
    held: Vec<u128>,
}

/// Packet-hops from one look to the next, for each port and each packet that a look finds in one.
const HOPS: u64 = 32;

impl Looks {
    /// Nothing seen yet at so many ports.
    pub fn new(links: usize) -> Self {
        Self { last: 0, next: 1, held: vec![0; links] }
    }

    /// Looks at every port, after so many packet-hops. Each look counts for the hops since the last one.
    #[cold]
    #[inline(never)]
    pub fn look<C: EventCore>(&mut self, hops: u64, net: &mut Network<C>) {
        let mut cost = self.held.len() as u64;
        for (i, held) in self.held.iter_mut().enumerate() {
            let backlog = net.core.held(LinkId::new(i));
            *held += u128::from(backlog.bytes) * u128::from(hops - self.last);
            cost += u64::from(backlog.packets);
        }
        // A short run is looked at too: the intervals double first.
        (self.last, self.next) = (hops, hops + hops.min(HOPS * cost));
    }

    /// The port with the most lost bytes, or if none lost any, with the most waiting ones; of several, the observed one.
    /// Bytes that a fault took from a link do not count: no port was too small for them.
    pub fn bottleneck<C: EventCore>(&self, net: &mut Network<C>) -> Option<LinkId> {
        let observed = net.topology.bottleneck;
        let books = net.core.books();
        let lost = |i: usize| u128::from(books.ports[i].dropped_bytes - books.ports[i].lost_on_link);
        let most = |of: &dyn Fn(usize) -> u128| {
            let links = (0..self.held.len()).rev().filter(|i| of(*i) > 0);
            links.max_by_key(|i| (of(*i), *i == observed.index()))
        };
        most(&lost).or_else(|| most(&|i| self.held[i])).map(LinkId::new)
    }
}
