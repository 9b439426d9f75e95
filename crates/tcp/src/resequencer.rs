//! Puts the segments of flowcells back in order before TCP takes overtaken segments for lost.
//!
//! Presto (He et al. 2015, section 3.2) does this where received segments are merged. A hole within a flowcell is a
//! loss, because a flowcell takes one path; a hole before a flowcell may be an earlier flowcell still in flight on a
//! slower path.

use fanin_core::packet::Packet;
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// Where a segment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of its flowcell; 0 for segments without one, from 1 for others.
    pub cell: u32,
    /// Its first sequence number.
    pub seq: u64,
    /// One past its last.
    pub end: u64,
}

/// The segments of one flow that wait.
#[derive(Clone, Debug)]
pub struct Resequencer {
    /// The latest flowcell that was passed on, and the first number after it.
    cell: u32,
    expected: u64,
    /// Waiting segments, by first number, with their arrival times.
    held: BTreeMap<u64, (Position, Packet, Time)>,
    /// A timer is pending.
    pub timed: bool,
}

impl Resequencer {
    /// Nothing waits; everything before `expected` was passed on.
    pub const fn new(expected: u64) -> Self {
        Self { cell: 0, expected, held: BTreeMap::new(), timed: false }
    }

    /// A segment arrives. Returns whether it is passed to TCP at once; if not, it waits.
    pub fn on_segment(&mut self, position: Position, packet: &Packet, now: Time) -> bool {
        // A later cell may begin only where the earlier ones end.
        if position.cell <= self.cell || position.seq <= self.expected {
            self.pass(position);
            return true;
        }
        // One that comes again waits no longer for it.
        let since = self.held.get(&position.seq).map_or(now, |(_, _, since)| *since);
        self.held.insert(position.seq, (position, *packet, since));
        false
    }

    /// The next waiting segment whose turn it is, if any.
    pub fn take_next(&mut self) -> Option<Packet> {
        let (position, ..) = self.held.first_key_value()?.1;
        if position.cell > self.cell && position.seq > self.expected { None } else { self.take_first() }
    }

    /// The first of those that wait, if its turn has come, or if it or one behind it has waited since `since` or longer:
    /// what they waited for does not come.
    pub fn take_late(&mut self, since: Time) -> Option<Packet> {
        if self.held.values().any(|(_, _, began)| *began <= since) { self.take_first() } else { self.take_next() }
    }

    fn take_first(&mut self) -> Option<Packet> {
        let (_, (position, packet, _)) = self.held.pop_first()?;
        self.pass(position);
        Some(packet)
    }

    /// When the first of those that wait has waited for `patience`; none if nothing waits.
    pub fn deadline(&self, patience: Time) -> Option<Time> {
        self.held.values().map(|(_, _, began)| began.saturating_add(patience)).min()
    }

    fn pass(&mut self, position: Position) {
        self.cell = self.cell.max(position.cell);
        self.expected = self.expected.max(position.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flowcells of three segments of ten bytes: cell 1 has 1 to 30, cell 2 has 31 to 60.
    fn position(segment: u64) -> Position {
        let seq = 1 + 10 * segment;
        Position { cell: (segment / 3) as u32 + 1, seq, end: seq + 10 }
    }

    /// What TCP sees of segments that arrive in this order.
    fn passed(order: &mut Resequencer, arrivals: &[u64]) -> Vec<u64> {
        let mut seen = Vec::new();
        for segment in arrivals {
            let packet = Packet { seq: *segment as u32, ..Packet::default() };
            if order.on_segment(position(*segment), &packet, Time::from_us(*segment)) {
                seen.push(*segment);
            }
            while let Some(packet) = order.take_next() {
                seen.push(u64::from(packet.seq));
            }
        }
        seen
    }

    #[test]
    fn a_cell_that_overtakes_waits_for_the_earlier_one() {
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[0, 3, 4, 1, 2, 5]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order.deadline(Time::from_us(9)), None);
    }

    #[test]
    fn a_hole_within_a_cell_is_a_loss_and_shows_at_once() {
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[0, 2, 3, 4]), [0, 2, 3, 4], "the cell after it is in turn");
    }

    #[test]
    fn what_was_sent_again_passes() {
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[0, 1, 2, 3, 4, 1, 0]), [0, 1, 2, 3, 4, 1, 0]);
    }

    #[test]
    fn several_cells_wait_in_order() {
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[6, 7, 3, 0, 1, 4, 2, 5, 8]), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn patience_runs_from_the_first_that_waits_and_ends_in_order() {
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[0, 4, 3]), [0]);
        // The second came a microsecond before the first (a segment's number is its time of arrival here).
        assert_eq!(order.deadline(Time::from_us(9)), Some(Time::from_us(12)));
        assert_eq!(order.take_late(Time::from_us(2)), None);
        let late: Vec<u32> =
            std::iter::from_fn(|| order.take_late(Time::from_us(4))).map(|packet| packet.seq).collect();
        assert_eq!(late, [3, 4]);
        assert_eq!(passed(&mut order, &[1, 2, 5]), [1, 2, 5], "and what comes of the first cell after that is late");
    }

    #[test]
    fn each_waits_its_own_time() {
        let mut order = Resequencer::new(1);
        let packet = |segment: u64| Packet { seq: segment as u32, ..Packet::default() };
        for (segment, at) in [(3, 10), (6, 15), (6, 18)] {
            assert!(!order.on_segment(position(segment), &packet(segment), Time::from_us(at)));
        }
        assert_eq!(order.deadline(Time::from_us(9)), Some(Time::from_us(19)));
        let late = |order: &mut Resequencer, since| order.take_late(Time::from_us(since)).map(|packet| packet.seq);
        assert_eq!((late(&mut order, 10), late(&mut order, 10)), (Some(3), None), "the other has 5 us left");
        assert_eq!(order.deadline(Time::from_us(9)), Some(Time::from_us(24)), "not from when it came again");
        assert_eq!(late(&mut order, 15), Some(6));
    }

    #[test]
    fn a_segment_sent_again_does_not_open_later_cells() {
        // 1 is lost; 3 and 4 wait. What fills the hole carries its own cell, so 6 still waits for 5.
        let mut order = Resequencer::new(1);
        assert_eq!(passed(&mut order, &[0, 2, 3, 4, 1, 6, 5]), [0, 2, 3, 4, 1, 5, 6]);
    }

    #[test]
    fn segments_without_a_cell_do_not_wait() {
        let mut order = Resequencer::new(1);
        let bare = |seq: u64| Position { cell: 0, seq, end: seq + 10 };
        assert!(order.on_segment(bare(101), &Packet::default(), Time::ZERO));
        assert!(order.on_segment(bare(1), &Packet::default(), Time::ZERO));
    }
}
