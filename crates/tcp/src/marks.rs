//! Marks on the segments of a sender with SACK, as in ns-3.44, `tcp-tx-buffer.cc`: which are lost, and which were sent again.
//!
//! The scoreboard of RFC 6675 has neither: there the reports alone say what is lost, anew each time. Bounds are those of
//! `sack.rs`: the number after the last.

use super::FIRST_DATA;
use super::ranges::{Range, RangeSet};
use super::sack::{NextSeg, Outstanding, Rule, SackConfig, Scoreboard, piece, segment_start};

/// The marks, beside the reports on the scoreboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Retransmitted numbers: they count as in flight until acknowledged.
    resent: RangeSet,
    /// All unreported numbers below this are marked as lost.
    lost_to: u64,
    /// An acknowledgement has moved on in the present recovery.
    moved_on: bool,
    /// What is lost above the highest report goes before new data.
    beyond_reports: bool,
    /// The number after what was sent last, which a retransmission takes back.
    pub(super) sent_to: u64,
    /// Bytes that the latest acknowledgement has delivered: acknowledged or reported for the first time.
    pub(super) delivered: u64,
    /// All bytes delivered so far.
    delivered_to: u64,
}

impl Marks {
    /// None. `beyond_reports`: what is lost above the highest report goes before new data.
    pub(super) fn new(beyond_reports: bool) -> Self {
        Self { beyond_reports, delivered_to: FIRST_DATA, ..Self::default() }
    }

    /// An acknowledgement of all below `una` has come with its reports.
    pub(super) fn note_delivered(&mut self, una: u64, board: &Scoreboard) {
        let to = una + board.reported().as_slice().iter().map(Range::len).sum::<u64>();
        self.delivered = to.saturating_sub(self.delivered_to);
        self.delivered_to = to;
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn drop_below(&mut self, una: u64) {
        if !self.resent.is_empty() {
            self.resent.drop_below(una);
        }
    }

    /// The numbers `start..end` are retransmitted.
    pub(super) fn note_resent(&mut self, start: u64, end: u64) {
        self.resent.insert(start, end, 0);
    }

    /// A timeout: everything below `end` that is not reported is lost, and nothing was sent again since.
    pub(super) fn on_timeout(&mut self, end: u64) {
        self.resent.clear();
        self.mark_lost(end);
    }

    /// Recovery begins.
    pub(super) fn begin_recovery(&mut self) {
        self.moved_on = false;
    }

    /// An acknowledgement moves on in recovery. Returns whether it is the first one.
    pub(super) fn move_on(&mut self) -> bool {
        !std::mem::replace(&mut self.moved_on, true)
    }

    /// Marks all unreported numbers below `end` as lost.
    fn mark_lost(&mut self, end: u64) {
        self.lost_to = self.lost_to.max(end);
    }

    /// Marks as lost what `IsLost()` deems lost.
    pub(super) fn mark_deemed_lost(&mut self, board: &Scoreboard, cfg: &SackConfig) {
        self.mark_lost(board.lost_end(cfg));
    }

    /// Marks the first segment, `una..end`, as lost and not retransmitted, unless it is known to be lost: if it is
    /// marked so and something is reported above.
    pub(super) fn mark_first_lost(&mut self, una: u64, end: u64, board: &Scoreboard, cfg: &SackConfig) {
        if !self.is_lost(una, board, cfg) {
            self.resent.drop_below(end);
            self.mark_lost(end);
        }
    }

    /// Whether the segment that begins at `seq` is marked as lost and below the highest reported one.
    pub(super) fn is_lost(&self, seq: u64, board: &Scoreboard, cfg: &SackConfig) -> bool {
        let below = highest_reported(board, cfg).is_some_and(|start| seq < start);
        below && seq < self.lost_to && !board.is_sacked(seq)
    }

    /// Whether `seq` was retransmitted.
    pub(super) fn is_resent(&self, seq: u64) -> bool {
        self.resent.range_at_or_above(seq).is_some_and(|range| range.start <= seq)
    }

    /// Whether any of the numbers `from..to` was retransmitted.
    pub(super) fn has_resent(&self, from: u64, to: u64) -> bool {
        self.resent.range_at_or_above(from).is_some_and(|range| range.start < to)
    }

    /// Whether a segment from `una` on has a mark.
    pub(super) fn has_any(&self, una: u64) -> bool {
        una < self.lost_to || !self.resent.is_empty()
    }

    /// What is in flight: neither reported nor lost, and all that was retransmitted.
    pub(super) fn pipe(&self, una: u64, high_data: u64, board: &Scoreboard) -> u64 {
        let again: u64 = self.resent.as_slice().iter().map(Range::len).sum();
        board.unreported(self.lost_to.max(una), high_data) + again
    }

    /// What to send next, with RFC 6675's rule (3) if `holes`, and never by rule (4).
    pub(super) fn next(&self, out: &Outstanding, holes: bool, board: &Scoreboard, cfg: &SackConfig) -> Option<NextSeg> {
        let hole = self.first_unmarked(out, board, cfg);
        if let Some((start, end)) = hole.filter(|&(start, _)| start < self.lost_to) {
            return Some(piece(start, end, Rule::Lost, out, cfg));
        }
        if out.new_end > out.high_data {
            return Some(piece(out.high_data, out.new_end, Rule::New, out, cfg));
        }
        hole.filter(|_| holes).map(|(start, end)| piece(start, end, Rule::Hole, out, cfg))
    }

    /// The first numbers neither reported nor retransmitted; if reports bound them, below the highest reported segment.
    fn first_unmarked(&self, out: &Outstanding, board: &Scoreboard, cfg: &SackConfig) -> Option<(u64, u64)> {
        let reported = highest_reported(board, cfg).filter(|_| !self.beyond_reports);
        let limit = reported.unwrap_or(out.high_data);
        let mut gaps = board.reported().gaps_within(out.una, limit);
        gaps.find_map(|(from, to)| self.resent.gaps_within(from, to).next())
    }
}

/// Where the highest reported segment begins.
fn highest_reported(board: &Scoreboard, cfg: &SackConfig) -> Option<u64> {
    let last = board.reported().as_slice().last()?;
    Some(segment_start(last.end - 1, None, cfg.mss).max(last.start))
}
