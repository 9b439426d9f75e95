//! What is outstanding, segment by segment, with the counts of `struct tcp_sock`: `packets_out`, `sacked_out`, `lost_out` and
//! `retrans_out`.

use crate::ranges::RangeSet;
use std::collections::VecDeque;

/// An outstanding segment: of `struct tcp_skb_cb` what recovery needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    /// After the last number, a FIN's included.
    pub(super) end: u64,
    /// Payload in bytes.
    pub(super) len: u64,
    /// When it was last sent, in us.
    pub(super) sent: u64,
    /// Segments that had been delivered then.
    pub(super) delivered: u32,
    /// `TCPCB_SACKED_ACKED`: the receiver has reported it.
    pub(super) sacked: bool,
    /// `TCPCB_LOST`.
    pub(super) lost: bool,
    /// `TCPCB_SACKED_RETRANS`: its retransmission is in flight.
    pub(super) resent: bool,
    /// `TCPCB_EVER_RETRANS`.
    pub(super) ever_resent: bool,
    /// Whether it was the last of the burst in which it was sent first, and whether it was pushed then.
    pub(super) ends_burst: bool,
    pub(super) pushed: bool,
}

impl Segment {
    /// Whether it is lost, and its retransmission is not in flight.
    fn is_to_resend(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// The outstanding segments in order of their numbers, without gaps.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Segment>,
    /// `tsorted_sent_queue`: time in us and end of each transmission, in order. Those of segments that were sent again,
    /// reported, deemed lost or acknowledged since are dropped when a search meets them.
    order: VecDeque<(u64, u64)>,
    reported: RangeSet,
    pub(super) sacked_out: u32,
    pub(super) lost_out: u32,
    pub(super) retrans_out: u32,
    /// After the highest number that was reported.
    fack: u64,
    /// No lost segment that is not sent again begins below this.
    resend_from: u64,
}

impl Scoreboard {
    /// `packets_out`.
    pub(super) fn packets_out(&self) -> u32 {
        self.segments.len() as u32
    }
    /// `tcp_packets_in_flight`.
    pub(super) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }
    /// `tcp_left_out`.
    pub(super) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }
    pub(super) fn first(&self) -> Option<&Segment> {
        self.segments.front()
    }
    pub(super) fn last(&self) -> Option<&Segment> {
        self.segments.back()
    }
    pub(super) fn get(&mut self, index: usize) -> &mut Segment {
        &mut self.segments[index]
    }
    /// `tcp_highest_sack_seq`.
    pub(super) fn highest_sack(&self, una: u64) -> u64 {
        if self.sacked_out == 0 { una } else { self.fack.max(una) }
    }
    /// `tcp_any_retrans_done`.
    pub(super) fn any_resent(&self) -> bool {
        self.retrans_out > 0 || self.segments.front().is_some_and(|first| first.ever_resent)
    }

    /// New data was sent.
    pub(super) fn push(&mut self, segment: Segment) {
        debug_assert!(self.segments.back().is_none_or(|last| last.end == segment.start), "without gaps");
        self.segments.push_back(segment);
        self.order.push_back((segment.sent, segment.end));
    }

    /// The segment that ends with `end` was sent again; `counted` as a retransmission in flight, which a probe is not.
    pub(super) fn on_resent(&mut self, end: u64, now: u64, delivered: u32, counted: bool) {
        let Some(index) = self.find(end) else { return };
        let segment = &mut self.segments[index];
        (segment.sent, segment.delivered, segment.ever_resent) = (now, delivered, true);
        if counted && !segment.resent {
            segment.resent = true;
            self.retrans_out += 1;
        }
        self.order.push_back((now, end));
    }

    /// Takes the first segment away if all of it is below `una`.
    pub(super) fn pop_acknowledged(&mut self, una: u64) -> Option<Segment> {
        let first = *self.segments.front()?;
        if first.end > una {
            // A probe of a closed window was let in, or part of a merged segment was taken.
            let first = &mut self.segments[0];
            first.len -= (una.max(first.start) - first.start).min(first.len);
            first.start = first.start.max(una);
            return None;
        }
        self.segments.pop_front();
        self.sacked_out -= u32::from(first.sacked);
        self.lost_out -= u32::from(first.lost);
        self.retrans_out -= u32::from(first.resent);
        Some(first)
    }

    pub(super) fn drop_reports_below(&mut self, una: u64) {
        self.reported.drop_below(una);
    }

    /// The indices of segments within `start..end` that are not yet reported go to `news`.
    pub(super) fn report(&mut self, start: u64, end: u64, news: &mut Vec<usize>) {
        for (start, end) in self.reported.gaps_within(start, end) {
            let mut index = self.segments.partition_point(|segment| segment.end <= start);
            while self.segments.get(index).is_some_and(|segment| segment.start < end) {
                news.push(index);
                index += 1;
            }
        }
        self.reported.insert(start, end, 0);
        // Part of a segment is no news.
        news.retain(|&index| {
            let Segment { start, end, sacked, .. } = self.segments[index];
            !sacked && self.reported.count_within(start, end) == end - start
        });
    }

    /// Marks a segment as reported: the counts of `tcp_sacktag_one`.
    pub(super) fn mark_sacked(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        segment.sacked = true;
        if segment.lost {
            segment.lost = false;
            self.lost_out -= 1;
            if segment.resent {
                segment.resent = false;
                self.retrans_out -= 1;
            }
        }
        self.sacked_out += 1;
        self.fack = self.fack.max(segment.end);
    }

    /// `tcp_mark_skb_lost`. Returns whether something is newly lost.
    pub(super) fn mark_lost(&mut self, index: usize) -> bool {
        let segment = &mut self.segments[index];
        if segment.sacked || (segment.lost && !segment.resent) {
            return false;
        }
        if segment.lost {
            // Its retransmission is lost too.
            segment.resent = false;
            self.retrans_out -= 1;
        } else {
            segment.lost = true;
            self.lost_out += 1;
        }
        self.resend_from = self.resend_from.min(segment.start);
        true
    }

    /// What `tcp_undo_cwnd_reduction` does to marks.
    pub(super) fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            segment.lost = false;
        }
        self.lost_out = 0;
    }

    /// Forgets the retransmission of a segment that turned out needless.
    pub(super) fn forget_resent(&mut self, index: usize) {
        if std::mem::take(&mut self.segments[index].resent) {
            self.retrans_out -= 1;
        }
    }

    /// The lowest lost segment whose retransmission is not in flight.
    pub(super) fn next_to_resend(&mut self) -> Option<Segment> {
        if self.retrans_out >= self.lost_out {
            // Nothing is known of the others until the next mark.
            self.resend_from = u64::MAX;
            return None;
        }
        let from = self.segments.partition_point(|segment| segment.end <= self.resend_from);
        let segment = self.segments.range(from..).find(|segment| segment.is_to_resend()).copied();
        self.resend_from = segment.map_or(u64::MAX, |segment| segment.start);
        segment
    }

    /// How many segments of a burst leave together again, from the lost one at `start` on, of `most` that may.
    pub(super) fn resent_together(&self, start: u64, most: u64) -> u64 {
        let from = self.segments.partition_point(|segment| segment.start < start);
        let lost = self.segments.range(from..).take(most as usize).take_while(|segment| segment.is_to_resend()).count();
        let last = self.segments.range(from..).take(lost).position(|segment| segment.ends_burst);
        last.map_or(lost, |last| last + 1) as u64
    }

    /// The segments within `start..end`.
    pub(super) fn within(&self, start: u64, end: u64) -> std::ops::Range<usize> {
        let from = self.segments.partition_point(|segment| segment.start < start);
        let to = self.segments.partition_point(|segment| segment.end <= end);
        from..to.max(from)
    }

    fn find(&self, end: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.end < end);
        self.segments.get(index).filter(|segment| segment.end == end).map(|_| index)
    }

    /// `tcp_rack_detect_loss`: asks `overdue` of each transmission that is older than the `newest` delivered one, in the order
    /// of transmissions; the answer is how long it may still wait, in us. Returns how many are newly lost, and the longest
    /// wait.
    pub(super) fn detect(&mut self, newest: (u64, u64), overdue: impl Fn(u64) -> i64) -> (u32, Option<u64>) {
        let (mut seen, mut kept, mut lost, mut wait) = (0, 0, 0, None);
        while let Some(&(sent, end)) = self.order.get(seen) {
            let index = self.find(end).filter(|&index| {
                let segment = &self.segments[index];
                segment.sent == sent && !segment.sacked
            });
            let Some(index) = index else {
                seen += 1;
                continue;
            };
            let segment = self.segments[index];
            // What a timeout marked keeps its place, as it may be unmarked again.
            if !segment.lost || segment.resent {
                if (sent, end) >= newest {
                    break;
                }
                let remaining = overdue(sent);
                if remaining <= 0 {
                    lost += u32::from(self.mark_lost(index));
                    seen += 1;
                    continue;
                }
                wait = wait.max(Some(remaining as u64));
            }
            self.order.swap(kept, seen);
            kept += 1;
            seen += 1;
        }
        self.order.drain(kept..seen);
        (lost, wait)
    }
}
