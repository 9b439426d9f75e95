//! The time that a transfer would take alone in the network: the denominator of its slowdown.

use crate::transfer::Transfer;
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_net::network::Network;
use fanin_network::topology::Topology;
use fanin_network::traffic::Connection;

/// The paths of a transfer's data and of its acknowledgements, without other traffic.
pub(crate) struct Alone<'a> {
    topology: &'a Topology,
    /// Payload of a full segment.
    mss: u64,
    /// Bytes of headers in every packet.
    header: u64,
    forth: Vec<LinkId>,
    back: Vec<LinkId>,
}

impl<'a> Alone<'a> {
    /// The paths between two hosts; the first of several equal-cost paths.
    pub(crate) fn between<C: EventCore>(net: &'a mut Network<C>, from: NodeId, to: NodeId, mss: u64) -> Self {
        let Network { paths, topology, header, .. } = net;
        let (forth, back) = (paths.path(from, to, 0, topology), paths.path(to, from, 0, topology));
        Self { topology, mss, header: u64::from(*header), forth, back }
    }

    /// Completion time of a transfer alone in the network with an unlimited window: handshake, or request and think
    /// time, then its segments back to back through every link of its path.
    pub(crate) fn ideal(&self, transfer: &Transfer, bytes: u64) -> Time {
        let (mss, header) = (self.mss, self.header);
        let fresh = transfer.connection == Connection::Fresh;
        let mut before = Time::ZERO;
        if fresh {
            before += self.last_arrival(&self.forth, &[(header, 1)]) + self.last_arrival(&self.back, &[(header, 1)]);
        }
        // The last packet of the handshake goes first.
        let handshake = (header, u64::from(fresh));
        let [full, rest] = segments(bytes, mss, header);
        let Some(request) = transfer.request else {
            return before.saturating_add(self.last_arrival(&self.forth, &[handshake, full, rest]));
        };
        let [ask, ask_rest] = segments(request.bytes, mss, header);
        let asked = self.last_arrival(&self.back, &[handshake, ask, ask_rest]);
        let response = self.last_arrival(&self.forth, &[full, rest]);
        (before + asked + request.think).saturating_add(response)
    }

    /// HPCC's standalone completion time: the round trip of a full segment plus the bytes on the wire divided by the
    /// lowest rate of the path. HPCC's analysis divides completion times by it and raises ratios below one to one (Li
    /// et al. 2019, Fig. 10 and following).
    pub(crate) fn standalone(&self, bytes: u64) -> Time {
        let wire = bytes.saturating_add(bytes.div_ceil(self.mss).saturating_mul(self.header));
        let rates = self.forth.iter().map(|link| self.topology.links[link.index()].rate);
        let slowest = rates.filter_map(fanin_core::units::Rate::ps_per_byte).max().map_or(0, u64::from);
        self.round_trip().saturating_add(Time::from_ps(wire.saturating_mul(slowest)))
    }

    /// Time until a full segment is acknowledged in an otherwise idle network.
    pub(crate) fn round_trip(&self) -> Time {
        let Self { mss, header, .. } = *self;
        self.last_arrival(&self.forth, &[(mss + header, 1)]) + self.last_arrival(&self.back, &[(header, 1)])
    }

    /// When the last of these packets arrives, if all are ready at time zero and there is no other traffic.
    ///
    /// Each link forwards a packet after the previous packet and after the previous link. The last arrival is therefore
    /// the longest path through a grid of packets by links, on which all but one packet of a train of equal packets
    /// take the train's slowest link. The cost does not depend on the number of packets.
    fn last_arrival(&self, path: &[LinkId], trains: &[Train]) -> Time {
        let links = || path.iter().map(|link| self.topology.links[link.index()]);
        // Per link, the time of a byte and the longest path so far that ends there.
        let mut stages: Vec<_> = links().map(|link| (u64::from(link.rate.ps_per_byte().unwrap_or(0)), None)).collect();
        stages[0].1 = Some(0);
        for &(size, count) in trains.iter().filter(|(_, count)| *count > 0) {
            // From the far end, so that the paths of the previous train are still unchanged where those of this train
            // begin.
            for last in (0..stages.len()).rev() {
                let (mut sum, mut slowest, mut heaviest) = (0, 0, None);
                for &(ps_per_byte, reached) in stages[..=last].iter().rev() {
                    sum += ps_per_byte;
                    slowest = slowest.max(ps_per_byte);
                    // Saturates at the largest time, 213 days.
                    let rest = (count - 1).saturating_mul(slowest).saturating_add(sum);
                    let through = |reached| size.saturating_mul(rest).saturating_add(reached);
                    heaviest = heaviest.max(reached.map(through));
                }
                stages[last].1 = heaviest;
            }
        }
        Time::from_ps(stages[stages.len() - 1].1.unwrap_or(0)).saturating_add(links().map(|link| link.delay).sum())
    }
}

/// Packets of equal size, one after another: bytes on the wire, and number of packets.
type Train = (u64, u64);

fn segments(bytes: u64, mss: u64, header: u64) -> [Train; 2] {
    let (full, rest) = (bytes / mss, bytes % mss);
    [(mss + header, full), (rest + header, u64::from(rest > 0))]
}
