//! The time that a transfer would take alone: the yardstick of slowdown.

use crate::ids::NodeId;
use crate::sim::transfers::Transfer;
use crate::sim::world::World;
use crate::traffic::Connection;
use crate::units::Time;

/// Completion time of a transfer that is alone and whose window is no limit: handshake, or request and think time,
/// then its segments back to back through every link of its path.
pub(crate) fn ideal(world: &mut World, transfer: &Transfer, bytes: u64) -> Time {
    let mss = world.endpoints[world.groups[transfer.group.index()].endpoint].sender.mss;
    let header = u64::from(world.header);
    let fresh = transfer.connection == Connection::Fresh;
    let (from, to) = (transfer.from, transfer.to);
    let mut before = Time::ZERO;
    if fresh {
        before += last_arrival(world, from, to, &[(header, 1)]) + last_arrival(world, to, from, &[(header, 1)]);
    }
    // The last packet of the handshake goes first.
    let handshake = (header, u64::from(fresh));
    let [full, rest] = segments(bytes, mss, header);
    let Some(request) = transfer.request else {
        return before.saturating_add(last_arrival(world, from, to, &[handshake, full, rest]));
    };
    let [ask, ask_rest] = segments(request.bytes, mss, header);
    let asked = last_arrival(world, to, from, &[handshake, ask, ask_rest]);
    let answered = last_arrival(world, from, to, &[full, rest]);
    (before + asked + request.think).saturating_add(answered)
}

/// HPCC's standalone completion time: a full segment's round trip, and the bytes on the wire over the lowest rate of the
/// path. Its analysis divides completion times by it and clips below one (Li et al. 2019, Fig. 10 and following).
pub(crate) fn standalone(world: &mut World, transfer: &Transfer, bytes: u64) -> Time {
    let mss = world.endpoints[world.groups[transfer.group.index()].endpoint].sender.mss;
    let wire = bytes.saturating_add(bytes.div_ceil(mss).saturating_mul(u64::from(world.header)));
    let round_trip = round_trip(world, transfer.from, transfer.to, mss);
    let offset = world.paths.between(transfer.from, transfer.to, &world.topology)[0];
    let slowest = world.paths.links(offset).filter_map(|link| world.topology.links[link.index()].rate.ps_per_byte());
    let slowest = slowest.max().map_or(0, u64::from);
    round_trip.saturating_add(Time::from_ps(wire.saturating_mul(slowest)))
}

/// Time until a full segment that is alone in the network is acknowledged.
pub(crate) fn round_trip(world: &mut World, from: NodeId, to: NodeId, mss: u64) -> Time {
    let header = u64::from(world.header);
    last_arrival(world, from, to, &[(mss + header, 1)]) + last_arrival(world, to, from, &[(header, 1)])
}

/// Packets of equal size, one after the other: bytes on the wire, and how many.
type Train = (u64, u64);

fn segments(bytes: u64, mss: u64, header: u64) -> [Train; 2] {
    let (full, rest) = (bytes / mss, bytes % mss);
    [(mss + header, full), (rest + header, u64::from(rest > 0))]
}

/// When the last of these packets arrives if all are ready at time zero and nobody else sends.
///
/// Each link passes on each packet after the one before it and after the link before: the last arrival is the
/// heaviest way through this grid of packets by links, on which a train of equal packets takes its slowest link
/// for all but one of them. So the cost does not depend on the number of packets.
fn last_arrival(world: &mut World, from: NodeId, to: NodeId, trains: &[Train]) -> Time {
    let offset = world.paths.between(from, to, &world.topology)[0];
    let links = || world.paths.links(offset).map(|link| world.topology.links[link.index()]);
    // Per link the time of a byte, and the heaviest way so far that ends there.
    let mut ways: Vec<_> = links().map(|link| (u64::from(link.rate.ps_per_byte().unwrap_or(0)), None)).collect();
    ways[0].1 = Some(0);
    for &(size, count) in trains.iter().filter(|(_, count)| *count > 0) {
        // From the far end, so that the ways of the train before still stand where this one's begin.
        for last in (0..ways.len()).rev() {
            let (mut sum, mut slowest, mut heaviest) = (0, 0, None);
            for &(ps_per_byte, reached) in ways[..=last].iter().rev() {
                sum += ps_per_byte;
                slowest = slowest.max(ps_per_byte);
                // Saturates where a time has no room for it, after 213 days.
                let rest = (count - 1).saturating_mul(slowest).saturating_add(sum);
                let through = |reached| size.saturating_mul(rest).saturating_add(reached);
                heaviest = heaviest.max(reached.map(through));
            }
            ways[last].1 = heaviest;
        }
    }
    Time::from_ps(ways[ways.len() - 1].1.unwrap_or(0)).saturating_add(links().map(|link| link.delay).sum())
}
