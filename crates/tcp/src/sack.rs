//! Selective acknowledgements: the blocks of RFC 2018 and the sender's scoreboard of RFC 6675.
//!
//! "Reported" is what a block has covered. RFC 6675 names the highest number of a region; here every bound is
//! the number after it, as `una` and `nxt` are. `HighACK` is thus `una - 1`, `HighData` is `high_data - 1`,
//! `HighRxt` is `high_rxt - 1`, and the "less or equal" of the RFC becomes "less".

use super::FIRST_DATA;
use super::ranges::RangeSet;
use fanin_core::packet::Stamp;
use fanin_core::roles::HostDelay;

/// The SACK option of one ACK: up to three blocks, most recent first (RFC 2018 section 3; timestamps take the
/// room of a fourth). Before them there may be a DSACK block, which takes the room of one (RFC 2883 section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); Self::CAPACITY],
    len: u8,
    dsack: bool,
}

/// What an acknowledgement under way carries that has no room in its packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOption {
    /// Its SACK blocks, if any.
    pub blocks: SackBlocks,
    /// How long the remote host kept the segment that it acknowledges, if that is asked for; and the own host it, once it is
    /// there.
    pub hosts: HostDelay,
    /// The echoed stamp, in whose place the packet names this.
    pub stamp: Stamp,
    /// The handle of the telemetry of the segment that it acknowledges, counted from 1; 0 if it has none.
    pub stack: u32,
}

impl AckOption {
    /// Whether it reports anything.
    pub const fn has_blocks(&self) -> bool {
        self.blocks.len > 0
    }
}

impl SackBlocks {
    /// Number of blocks that fit in the option next to a timestamp.
    pub(crate) const CAPACITY: usize = 3;

    /// An option without blocks.
    pub(crate) const fn new() -> Self {
        Self { blocks: [(0, 0); Self::CAPACITY], len: 0, dsack: false }
    }

    /// An option whose first block says that `start..end` has arrived once more.
    pub const fn of_duplicate(start: u64, end: u64) -> Self {
        let mut blocks = Self::new();
        blocks.dsack = blocks.push(start, end);
        blocks
    }

    /// Appends the block `start..end`; returns whether there was room for it.
    pub(crate) const fn push(&mut self, start: u64, end: u64) -> bool {
        let room = (self.len as usize) < Self::CAPACITY;
        if room {
            self.blocks[self.len as usize] = (start, end);
            self.len += 1;
        }
        room
    }

    /// The blocks that report what has arrived beyond a hole, as (first number, number after the last).
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.all()[usize::from(self.dsack)..]
    }

    /// The DSACK block: what has arrived once more.
    pub fn dsack(&self) -> Option<(u64, u64)> {
        self.dsack.then_some(self.blocks[0])
    }

    /// All blocks in the order in which the option has them.
    pub fn all(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// Constants of loss recovery, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SackConfig {
    /// SMSS: payload bytes of a full segment.
    pub(crate) mss: u64,
    /// `DupThresh` of RFC 6675 section 2, 3 unless reordering is expected.
    pub(crate) dup_thresh: u32,
    /// All is lost that is `DupThresh` segments below the highest reported number (FACK), however little is reported.
    pub(crate) forward: bool,
}

/// The state of the sender: the variables of RFC 6675 section 2 that `next_seg` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outstanding {
    /// First unacknowledged number.
    pub(crate) una: u64,
    /// After the highest number sent.
    pub(crate) high_data: u64,
    /// After the highest number retransmitted in this recovery; `una` at its start.
    pub(crate) high_rxt: u64,
    /// The recovery point for which the rescue retransmission was spent, if it was.
    pub(crate) rescue_rxt: Option<u64>,
    /// After the last number that application and window allow to be sent, the FIN included.
    pub(crate) new_end: u64,
    /// Number of the FIN, once the application has closed.
    pub(crate) fin: Option<u64>,
}

/// The rule of RFC 6675 section 4 that chose a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// (1): deemed lost and not yet retransmitted. Advances `high_rxt`.
    Lost,
    /// (2): not sent before. Advances `high_data`.
    New,
    /// (3): below a reported number, not yet retransmitted, not deemed lost either. Advances `high_rxt`.
    Hole,
    /// (4): the last unreported segment, once per recovery. Sets `rescue_rxt`, leaves `high_rxt`.
    Rescue,
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextSeg {
    /// First number.
    pub(crate) seq: u64,
    /// Numbers that the segment occupies. A FIN counts as one and travels with the last data, so this may be one more
    /// than the segment size.
    pub(crate) len: u64,
    /// Why.
    pub(crate) rule: Rule,
}

/// The receiver's reports beyond the acknowledgement number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scoreboard {
    sacked: RangeSet,
}

impl Scoreboard {
    /// Whether nothing is reported: no hole is known.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// RFC 6675 section 4, `Update()`: takes an ACK of everything below `una` with `blocks`. Returns how many
    /// numbers they report that were neither acknowledged nor reported before: an ACK with some is a duplicate
    /// ACK in the sense of section 2.
    #[inline]
    pub(crate) fn update(&mut self, blocks: Option<&SackBlocks>, una: u64) -> u64 {
        self.sacked.drop_below(una);
        let Some(blocks) = blocks else { return 0 };
        let mut reported = 0;
        // The newest block comes first and usually extends the highest range, which is the cheap case.
        for &(start, end) in blocks.as_slice() {
            // RFC 2018 s4 lets a block lag behind an acknowledgement that overtook it.
            if end > una {
                reported += self.sacked.insert(start.max(una), end, 0);
            }
        }
        reported
    }

    /// What is reported.
    pub(super) const fn reported(&self) -> &RangeSet {
        &self.sacked
    }

    /// Forgets all reports: after a timeout the receiver may have dropped what it reported (RFC 2018 section 8).
    pub(crate) fn clear(&mut self) {
        self.sacked.clear();
    }

    /// Whether the receiver has reported `seq`.
    pub(crate) fn is_sacked(&self, seq: u64) -> bool {
        self.sacked.range_at_or_above(seq).is_some_and(|range| range.start <= seq)
    }

    /// RFC 6675 section 4, `IsLost()`: whether enough is reported above `seq` to deem it
    /// lost. A reported number is not.
    pub(crate) fn is_lost(&self, seq: u64, cfg: &SackConfig) -> bool {
        seq < self.lost_end(cfg) && !self.is_sacked(seq)
    }

    /// RFC 6675 section 4, `SetPipe()`: the numbers in flight between `una` and `high_data`.
    pub(crate) fn set_pipe(&self, una: u64, high_data: u64, high_rxt: u64, cfg: &SackConfig) -> u64 {
        // (a) not deemed lost, so the first transmission is still in flight; (b) retransmitted, which is in flight too.
        let first = self.unreported(self.lost_end(cfg).max(una), high_data);
        let again = self.unreported(una, high_rxt.min(high_data));
        first + again
    }

    /// RFC 6675 section 4, `NextSeg()`: what to send next in loss recovery, if anything. Full segments are
    /// counted from where a hole begins, which is where a segment began: streams of several writes have short
    /// segments anywhere.
    pub(crate) fn next_seg(&self, out: &Outstanding, cfg: &SackConfig) -> Option<NextSeg> {
        let hole = self.first_hole(out.high_rxt.max(out.una));
        // (1.c) The lowest hole has the most reported above it: if it is not lost, none is.
        if let Some((start, end)) = hole.filter(|&(start, _)| start < self.lost_end(cfg)) {
            return Some(piece(start, end, Rule::Lost, out, cfg));
        }
        if out.new_end > out.high_data {
            return Some(piece(out.high_data, out.new_end, Rule::New, out, cfg));
        }
        if let Some((start, end)) = hole {
            return Some(piece(start, end, Rule::Hole, out, cfg));
        }
        // (4): HighACK greater than RescueRxt.
        if out.rescue_rxt.is_none_or(|spent| out.una > spent) { self.rescue(out, cfg) } else { None }
    }

    /// Rule (4): the segment that ends with the highest outstanding number that is not reported.
    fn rescue(&self, out: &Outstanding, cfg: &SackConfig) -> Option<NextSeg> {
        let ranges = self.sacked.as_slice();
        let (end, below) = match ranges.split_last() {
            Some((last, below)) if last.end >= out.high_data => (last.start, below),
            _ => (out.high_data, ranges),
        };
        if end <= out.una {
            return None;
        }
        let floor = below.last().map_or(out.una, |range| range.end.max(out.una));
        let seq = segment_start(end - 1, out.fin, cfg.mss).max(floor);
        Some(NextSeg { seq, len: end - seq, rule: Rule::Rescue })
    }

    /// All unreported numbers below this one are lost in the sense of `IsLost()`, and none above: the criterion
    /// only weakens towards the top, and changes only where a reported range begins.
    pub(super) fn lost_end(&self, cfg: &SackConfig) -> u64 {
        if cfg.forward {
            let far = u64::from(cfg.dup_thresh) * cfg.mss;
            return self.sacked.as_slice().last().map_or(0, |highest| highest.end.saturating_sub(far));
        }
        let mut octets = 0;
        for (sequences, range) in (1..).zip(self.sacked.as_slice().iter().rev()) {
            octets += range.len();
            // RFC 6675 s4: DupThresh discontiguous sequences, or more than (DupThresh - 1) * SMSS bytes.
            if sequences >= cfg.dup_thresh || octets > u64::from(cfg.dup_thresh.saturating_sub(1)) * cfg.mss {
                return range.start;
            }
        }
        0
    }

    /// How many numbers of `from..to` are not reported; none where the bounds cross.
    pub(super) fn unreported(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        to - from - self.sacked.count_within(from, to)
    }

    /// The first unreported numbers from `from` on that have a reported one above: (1.a) and (1.b) of `NextSeg()`.
    fn first_hole(&self, from: u64) -> Option<(u64, u64)> {
        let above = self.sacked.range_at_or_above(from)?;
        if from < above.start {
            return Some((from, above.start));
        }
        let next = self.sacked.range_at_or_above(above.end)?;
        Some((above.end, next.start))
    }
}

/// The first segment of `start..end`.
pub(super) fn piece(start: u64, end: u64, rule: Rule, out: &Outstanding, cfg: &SackConfig) -> NextSeg {
    let end = end.min(segment_end(start, out.fin, cfg.mss));
    NextSeg { seq: start, len: end - start, rule }
}

/// After the last number of a full segment from `seq` on. The FIN belongs to the segment of the last data byte.
fn segment_end(seq: u64, fin: Option<u64>, mss: u64) -> u64 {
    let end = seq + mss;
    fin.filter(|&fin| end >= fin).map_or(end, |fin| fin + 1)
}

/// The first number of the segment that holds `seq`, in a stream of full segments.
pub(super) fn segment_start(seq: u64, fin: Option<u64>, mss: u64) -> u64 {
    let byte = if fin == Some(seq) { (seq - 1).max(FIRST_DATA) } else { seq };
    FIRST_DATA + (byte - FIRST_DATA) / mss * mss
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFG: SackConfig = SackConfig { mss: 100, dup_thresh: 3, forward: false };

    /// A scoreboard of a sender that has `una` acknowledged, with these ranges reported to it.
    fn scoreboard(una: u64, ranges: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(start, end) in ranges {
            board.update(Some(&blocks(&[(start, end)])), una);
        }
        board
    }

    fn blocks(ranges: &[(u64, u64)]) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        for &(start, end) in ranges {
            assert!(blocks.push(start, end));
        }
        blocks
    }

    /// Ten segments of 100 bytes are out, nothing is retransmitted, nothing new may be sent.
    const OUT: Outstanding =
        Outstanding { una: 1, high_data: 1001, high_rxt: 1, rescue_rxt: None, new_end: 1001, fin: None };

    #[allow(clippy::unnecessary_wraps)]
    const fn next(seq: u64, len: u64, rule: Rule) -> Option<NextSeg> {
        Some(NextSeg { seq, len, rule })
    }

    #[test]
    fn rfc2018_s3_an_option_holds_three_blocks_beside_a_timestamp() {
        let mut full = blocks(&[(1, 2), (3, 4), (5, 6)]);
        assert!(!full.push(7, 8));
        assert_eq!(full.as_slice(), [(1, 2), (3, 4), (5, 6)]);
    }

    #[test]
    fn rfc2883_s4_a_duplicate_comes_first_and_takes_the_room_of_a_block() {
        let mut full = SackBlocks::of_duplicate(1, 2);
        assert!(full.push(3, 4) && full.push(5, 6) && !full.push(7, 8));
        assert_eq!(full.dsack(), Some((1, 2)));
        assert_eq!(full.as_slice(), [(3, 4), (5, 6)], "what is reported beyond a hole");
        assert_eq!(full.all(), [(1, 2), (3, 4), (5, 6)]);
        assert_eq!(blocks(&[(1, 2)]).dsack(), None);
        assert_eq!(scoreboard(1, &[]).update(Some(&SackBlocks::of_duplicate(1, 101)), 1), 0, "is no news of a hole");
    }

    #[test]
    fn by_forward_acknowledgement_one_report_tells_that_what_is_far_below_is_lost() {
        let board = scoreboard(1, &[(901, 1001)]);
        let forward = SackConfig { forward: true, ..CFG };
        assert_eq!((board.lost_end(&CFG), board.lost_end(&forward)), (0, 701));
        assert_eq!(scoreboard(1, &[]).lost_end(&forward), 0);
    }

    #[test]
    fn rfc2018_s8_a_sender_forgets_its_reports_on_a_timeout() {
        let mut board = scoreboard(1, &[(101, 401)]);
        board.clear();
        assert!(board.is_empty() && !board.is_sacked(101));
        assert_eq!(board.set_pipe(1, 1001, 1, &CFG), 1000);
    }

    #[test]
    fn rfc6675_s4_update_marks_what_is_reported_and_counts_what_is_new() {
        let mut board = Scoreboard::default();
        assert_eq!(board.update(None, 1), 0);
        assert_eq!(board.update(Some(&blocks(&[(301, 401), (101, 201)])), 1), 200);
        assert_eq!(board.update(Some(&blocks(&[(301, 501), (101, 201)])), 1), 100, "repeated blocks are not news");
        assert!(board.is_sacked(101) && board.is_sacked(200) && board.is_sacked(500));
        assert!(!board.is_sacked(100) && !board.is_sacked(201) && !board.is_sacked(501));
    }

    #[test]
    fn rfc6675_s4_update_drops_what_is_acknowledged_cumulatively() {
        let mut board = scoreboard(1, &[(101, 201), (301, 501)]);
        assert_eq!(board.update(None, 401), 0);
        assert!(!board.is_sacked(150) && !board.is_sacked(350) && board.is_sacked(401));
        assert_eq!(board.update(Some(&blocks(&[(301, 501)])), 401), 0, "a block that lags behind is no news");
        board.update(None, 501);
        assert_eq!(board.update(Some(&blocks(&[(301, 401)])), 501), 0, "nor is one that was overtaken");
        assert!(board.is_empty());
    }

    #[test]
    fn rfc6675_s4_is_lost_once_dup_thresh_discontiguous_sequences_are_sacked_above() {
        // One byte each, so the criterion in bytes is out of play.
        let two = scoreboard(1, &[(200, 201), (400, 401)]);
        assert!(!two.is_lost(1, &CFG));
        let three = scoreboard(1, &[(200, 201), (400, 401), (600, 601)]);
        assert!(three.is_lost(1, &CFG) && three.is_lost(199, &CFG));
        assert!(!three.is_lost(201, &CFG), "only two above");
        let four = scoreboard(1, &[(200, 201), (400, 401), (600, 601), (800, 801)]);
        assert!(four.is_lost(201, &CFG) && !four.is_lost(200, &CFG), "a reported number is not lost");
    }

    #[test]
    fn rfc6675_s4_is_lost_once_more_than_two_segments_are_sacked_above() {
        let two_segments = scoreboard(1, &[(101, 301)]);
        assert!(!two_segments.is_lost(1, &CFG), "more than (DupThresh - 1) * SMSS, not as much");
        let one_byte_more = scoreboard(1, &[(101, 302)]);
        assert!(one_byte_more.is_lost(1, &CFG));
        assert!(!one_byte_more.is_lost(302, &CFG), "nothing above");
    }

    #[test]
    fn rfc6675_s4_is_lost_depends_on_dup_thresh() {
        let board = scoreboard(1, &[(101, 501)]);
        assert!(board.is_lost(1, &SackConfig { dup_thresh: 4, ..CFG }));
        assert!(!board.is_lost(1, &SackConfig { dup_thresh: 5, ..CFG }));
    }

    #[test]
    fn rfc6675_s4_set_pipe_counts_neither_sacked_nor_lost_numbers() {
        let board = scoreboard(1, &[(101, 201)]);
        assert_eq!(board.set_pipe(1, 1001, 1, &CFG), 900, "the first segment is not lost yet");
        let board = scoreboard(1, &[(101, 401)]);
        assert_eq!(board.set_pipe(1, 1001, 1, &CFG), 600, "now it is");
    }

    #[test]
    fn rfc6675_s4_set_pipe_counts_retransmitted_numbers() {
        let board = scoreboard(1, &[(101, 401)]);
        assert_eq!(board.set_pipe(1, 1001, 101, &CFG), 700, "lost and retransmitted");
        let board = scoreboard(1, &[(101, 201)]);
        assert_eq!(board.set_pipe(1, 1001, 101, &CFG), 1000, "sent twice, neither is lost");
        assert_eq!(board.set_pipe(1, 1001, 201, &CFG), 1000, "reported numbers do not count");
    }

    #[test]
    fn rfc6675_s4_next_seg_1_sends_the_lowest_lost_segment_first() {
        let board = scoreboard(1, &[(201, 301), (401, 701)]);
        let new = Outstanding { new_end: 2000, ..OUT };
        assert_eq!(board.next_seg(&new, &CFG), next(1, 100, Rule::Lost));
    }

    #[test]
    fn rfc6675_s4_next_seg_1a_skips_what_is_retransmitted() {
        let board = scoreboard(1, &[(201, 301), (401, 701)]);
        let at = |high_rxt| board.next_seg(&Outstanding { high_rxt, ..OUT }, &CFG);
        assert_eq!(at(101), next(101, 100, Rule::Lost));
        assert_eq!(at(201), next(301, 100, Rule::Lost), "and steps over what is reported");
        assert_eq!(at(401).map(|seg| seg.rule), Some(Rule::Rescue), "no hole is left");
    }

    #[test]
    fn rfc6675_s4_next_seg_1c_and_2_prefer_new_data_to_a_hole_that_is_not_lost() {
        let board = scoreboard(1, &[(101, 201)]);
        assert_eq!(board.next_seg(&Outstanding { new_end: 2000, ..OUT }, &CFG), next(1001, 100, Rule::New));
        assert_eq!(board.next_seg(&Outstanding { new_end: 1051, ..OUT }, &CFG), next(1001, 50, Rule::New));
    }

    #[test]
    fn rfc6675_s4_next_seg_3_fills_a_hole_when_nothing_else_may_be_sent() {
        let board = scoreboard(1, &[(101, 201)]);
        assert_eq!(board.next_seg(&OUT, &CFG), next(1, 100, Rule::Hole));
    }

    #[test]
    fn rfc6675_s4_next_seg_4_rescues_the_highest_unsacked_segment_once() {
        let all_retransmitted = Outstanding { high_rxt: 101, ..OUT };
        let board = scoreboard(1, &[(101, 201)]);
        assert_eq!(board.next_seg(&all_retransmitted, &CFG), next(901, 100, Rule::Rescue));
        let spent = Outstanding { rescue_rxt: Some(1001), ..all_retransmitted };
        assert_eq!(board.next_seg(&spent, &CFG), None);
        let next_recovery = Outstanding { una: 1101, high_rxt: 1101, high_data: 1301, new_end: 1301, ..spent };
        assert_eq!(Scoreboard::default().next_seg(&next_recovery, &CFG), next(1201, 100, Rule::Rescue));
    }

    #[test]
    fn rfc6675_s4_next_seg_4_ends_with_the_highest_number_not_sacked() {
        let board = scoreboard(1, &[(501, 531), (541, 1001)]);
        let all_retransmitted = Outstanding { high_rxt: 541, ..OUT };
        assert_eq!(board.next_seg(&all_retransmitted, &CFG), next(531, 10, Rule::Rescue));
    }

    #[test]
    fn rfc6675_s4_next_seg_5_is_empty_when_nothing_is_outstanding() {
        let idle = Outstanding { una: 1001, high_rxt: 1001, ..OUT };
        assert_eq!(Scoreboard::default().next_seg(&idle, &CFG), None);
    }

    #[test]
    fn segments_are_full_from_where_a_hole_begins_and_end_at_sacked_data() {
        let board = scoreboard(1, &[(161, 171), (401, 701)]);
        let at = |high_rxt| board.next_seg(&Outstanding { high_rxt, ..OUT }, &CFG);
        assert_eq!(at(51), next(51, 100, Rule::Lost));
        assert_eq!(at(101), next(101, 60, Rule::Lost));
        assert_eq!(at(161), next(171, 100, Rule::Lost));
    }

    #[test]
    fn the_fin_rides_on_the_last_data() {
        let whole = Outstanding { fin: Some(1001), new_end: 1002, ..OUT };
        let board = Scoreboard::default();
        assert_eq!(board.next_seg(&Outstanding { high_data: 901, ..whole }, &CFG), next(901, 101, Rule::New));
        assert_eq!(board.next_seg(&whole, &CFG), next(1001, 1, Rule::New), "unless the data is out already");
        assert_eq!(board.next_seg(&Outstanding { high_data: 1002, ..whole }, &CFG), next(901, 101, Rule::Rescue));
        let partial = Outstanding { fin: Some(951), high_data: 952, new_end: 952, ..OUT };
        assert_eq!(board.next_seg(&partial, &CFG), next(901, 51, Rule::Rescue));
        let empty = Outstanding { fin: Some(1), high_data: 2, new_end: 2, ..OUT };
        assert_eq!(board.next_seg(&empty, &CFG), next(1, 1, Rule::Rescue), "a stream without data");
    }
}
