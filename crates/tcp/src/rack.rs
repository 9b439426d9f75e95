//! RACK: loss detection by time (RFC 8985 sections 5 and 6).
//!
//! The last transmission of every segment in flight is recorded. Once a segment sent later has arrived, an earlier one
//! that is overdue by the reordering window is lost, whether new data or a retransmission. The sender's reaction is in
//! `sender/rack_recovery.rs`.
//!
//! Left out: the part of section 6.2 step 4 that widens the window on DSACKs (RFC 2883), which our receivers do not
//! send, so the multiplier stays at one; and reneging, because our receivers keep what they have reported.

use super::ranges::RangeSet;
use super::sack::SackBlocks;
use fanin_core::units::Time;
use std::collections::VecDeque;

/// A segment in flight: the per-segment variables of RFC 8985 section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// First number.
    pub(super) start: u64,
    /// After the last number, a FIN's included.
    pub(super) end: u64,
    /// When it was last sent.
    pub(super) sent: Time,
    /// It was sent more than once.
    pub(super) again: bool,
    /// Its last transmission is deemed lost.
    pub(super) lost: bool,
    sacked: bool,
}

impl Segment {
    pub(super) const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// The result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delivered {
    /// Numbers acknowledged or reported for the first time.
    pub(super) bytes: u64,
    /// Round-trip time of the newest of these segments that were sent once.
    pub(super) rtt: Option<Time>,
}

/// The result of a search for losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// A segment is newly lost.
    pub(super) any: bool,
    /// One of them was a retransmission.
    pub(super) again: bool,
    /// When to search again, if some segments may only be reordered.
    pub(super) wait: Option<Time>,
}

/// The inputs to the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// The sender is in loss recovery.
    pub(super) in_recovery: bool,
    /// `DupThresh`: reported segments that make it not worth waiting.
    pub(super) dup_thresh: u32,
    /// Smoothed round-trip time.
    pub(super) srtt: Option<Time>,
}

/// The segments in flight and the per-connection variables of RFC 8985 section 5.3.
#[derive(Debug)]
pub(super) struct Rack {
    /// In order of numbers, without gaps.
    segments: VecDeque<Segment>,
    /// Time and end of each transmission, in order of time. Those of segments that were retransmitted, reported, deemed
    /// lost or acknowledged since are dropped when a search meets them.
    order: VecDeque<(Time, u64)>,
    reported: RangeSet,
    /// Numbers in flight: neither reported nor deemed lost.
    pipe: u64,
    segments_sacked: u32,
    segments_lost: u32,
    /// No lost segment begins below this.
    lost_from: u64,
    /// `RACK.xmit_ts` and `RACK.end_seq`: the segment sent last among those that have arrived.
    newest: Option<(Time, u64)>,
    rtt: Time,
    min_rtt: Time,
    /// `RACK.fack`: after the highest number that has arrived.
    fack: u64,
    reordering_seen: bool,
    /// Room for the news of one acknowledgement.
    news: Vec<(u64, u64)>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            segments: VecDeque::new(),
            order: VecDeque::new(),
            reported: RangeSet::new(),
            pipe: 0,
            segments_sacked: 0,
            segments_lost: 0,
            lost_from: 0,
            newest: None,
            rtt: Time::ZERO,
            min_rtt: Time::NEVER,
            fack: 0,
            reordering_seen: false,
            news: Vec::new(),
        }
    }
}

impl Rack {
    /// Numbers in flight: neither acknowledged, nor reported, nor deemed lost.
    pub(super) const fn pipe(&self) -> u64 {
        self.pipe
    }
    /// The shortest round-trip time so far.
    pub(super) fn min_rtt(&self) -> Option<Time> {
        (!self.min_rtt.is_never()).then_some(self.min_rtt)
    }
    /// Whether nothing is outstanding.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// Number of outstanding segments.
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }
    /// Whether the receiver has reported something beyond a hole.
    pub(super) const fn has_reports(&self) -> bool {
        self.segments_sacked > 0
    }
    /// How many numbers it has reported there.
    pub(super) fn reported(&self) -> u64 {
        self.reported.as_slice().iter().map(super::ranges::Range::len).sum()
    }
    /// The highest segment in flight.
    pub(super) fn last(&self) -> Option<Segment> {
        self.segments.back().copied()
    }

    /// Takes the handshake's round-trip time, a sample like any other (RFC 8985 section 6.2 step 1).
    pub(super) fn on_handshake(&mut self, rtt: Time) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// RFC 8985 section 6.1: new data `start..end` was sent.
    pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Time) {
        debug_assert!(self.segments.back().is_none_or(|last| last.end == start), "without gaps");
        self.segments.push_back(Segment { start, end, sent: now, again: false, lost: false, sacked: false });
        self.order.push_back((now, end));
        self.pipe += end - start;
    }

    /// RFC 8985 section 6.1: the segment that ends with `end` was retransmitted.
    pub(super) fn on_sent_again(&mut self, end: u64, now: Time) {
        let Some(index) = self.find(end) else { return };
        let segment = &mut self.segments[index];
        if segment.lost {
            segment.lost = false;
            self.segments_lost -= 1;
            self.pipe += segment.len();
        }
        segment.again = true;
        segment.sent = now;
        self.order.push_back((now, end));
    }

    /// The lowest segment deemed lost.
    pub(super) fn first_lost(&mut self) -> Option<Segment> {
        if self.segments_lost == 0 {
            return None;
        }
        let from = self.segments.partition_point(|segment| segment.end <= self.lost_from);
        let segment = self.segments.range(from..).find(|segment| segment.lost).copied();
        self.lost_from = segment.map_or(self.lost_from, |segment| segment.start);
        segment
    }

    /// RFC 8985 section 6.2 steps 1 to 3: everything below `una` and these blocks have arrived. `original` says that
    /// the receiver echoed the time of a segment that was not a retransmission.
    pub(super) fn on_ack(&mut self, una: u64, blocks: Option<&SackBlocks>, now: Time, original: bool) -> Delivered {
        let mut delivered = Delivered::default();
        while let Some(segment) = self.segments.front().copied().filter(|segment| segment.start < una) {
            if segment.end > una {
                self.trim_first(una, &mut delivered);
                break;
            }
            self.segments.pop_front();
            self.segments_lost -= u32::from(segment.lost);
            self.segments_sacked -= u32::from(segment.sacked);
            if !segment.sacked {
                self.pipe -= if segment.lost { 0 } else { segment.len() };
                self.on_delivery(&segment, now, original, &mut delivered);
            }
        }
        self.reported.drop_below(una);
        if let Some(blocks) = blocks {
            self.on_blocks(una, blocks, now, original, &mut delivered);
        }
        delivered
    }

    /// Part of the first segment was acknowledged: a probe of a closed window was let in.
    fn trim_first(&mut self, una: u64, delivered: &mut Delivered) {
        let first = &mut self.segments[0];
        let gone = una - first.start;
        first.start = una;
        if !first.sacked {
            delivered.bytes += gone;
            self.pipe -= if first.lost { 0 } else { gone };
        }
    }

    fn on_blocks(&mut self, una: u64, blocks: &SackBlocks, now: Time, original: bool, delivered: &mut Delivered) {
        let mut news = std::mem::take(&mut self.news);
        news.clear();
        for &(start, end) in blocks.as_slice() {
            let start = start.max(una);
            if start < end {
                news.extend(self.reported.gaps_within(start, end));
                self.reported.insert(start, end, 0);
            }
        }
        // Step 3 looks for reordering between acknowledgements, not in the order of an option's blocks.
        news.sort_unstable();
        for &(start, end) in &news {
            let from = self.segments.partition_point(|segment| segment.end <= start);
            for index in from..self.segments.len() {
                let segment = self.segments[index];
                if segment.start >= end {
                    break;
                }
                if !segment.sacked && self.reported.count_within(segment.start, segment.end) == segment.len() {
                    self.segments[index].sacked = true;
                    self.segments[index].lost = false;
                    self.segments_sacked += 1;
                    self.segments_lost -= u32::from(segment.lost);
                    self.pipe -= if segment.lost { 0 } else { segment.len() };
                    self.on_delivery(&segment, now, original, delivered);
                }
            }
        }
        self.news = news;
    }

    /// One segment has arrived.
    fn on_delivery(&mut self, segment: &Segment, now: Time, original: bool, delivered: &mut Delivered) {
        let rtt = now.saturating_sub(segment.sent);
        delivered.bytes += segment.len();
        if !segment.again {
            // Step 1, with a global minimum, which the RFC allows.
            self.min_rtt = self.min_rtt.min(rtt);
            delivered.rtt = Some(rtt);
        }
        // Step 3: something new below what has arrived before was overtaken.
        if segment.end > self.fack {
            self.fack = segment.end;
        } else if !segment.again {
            self.reordering_seen = true;
        }
        // Step 2: the arrival of a retransmission may be that of the original. RFC 8985 asks the echoed time stamp,
        // which our acknowledgements with blocks do not carry, and the least round trip, as Linux does.
        let too_early = !self.min_rtt.is_never() && rtt < self.min_rtt;
        if segment.again && (original || too_early) {
            return;
        }
        self.rtt = rtt;
        if self.newest.is_none_or(|newest| (segment.sent, segment.end) > newest) {
            self.newest = Some((segment.sent, segment.end));
        }
    }

    /// RFC 8985 section 6.2 step 4.
    fn reordering_window(&self, by: &Reordering) -> Time {
        if !self.reordering_seen && (by.in_recovery || self.segments_sacked >= by.dup_thresh) {
            return Time::ZERO;
        }
        if self.min_rtt.is_never() {
            return Time::ZERO;
        }
        Time::from_ps(self.min_rtt.ps() / 4).min(by.srtt.unwrap_or(Time::NEVER))
    }

    /// RFC 8985 section 6.2 step 5: deems lost what was sent well before the newest segment that has arrived.
    pub(super) fn detect(&mut self, by: &Reordering, now: Time) -> Losses {
        let mut losses = Losses::default();
        let Some(newest) = self.newest else { return losses };
        let patience = self.rtt + self.reordering_window(by);
        let (mut seen, mut kept) = (0, 0);
        // Transmissions of one instant are in order of their numbers only as far as one call sent them.
        while let Some(&(sent, end)) = self.order.get(seen).filter(|(sent, _)| *sent <= newest.0) {
            if let Some(index) = self.waiting(sent, end) {
                let due = sent + patience;
                if (sent, end) < newest && due <= now {
                    losses.any = true;
                    losses.again |= self.segments[index].again;
                    self.deem_lost(index);
                } else {
                    if (sent, end) < newest {
                        losses.wait = losses.wait.max(Some(due));
                    }
                    self.order.swap(kept, seen);
                    kept += 1;
                }
            }
            seen += 1;
        }
        self.order.drain(kept..seen);
        losses
    }

    /// RFC 8985 section 6.3: the retransmission timer has expired.
    pub(super) fn on_timeout(&mut self, by: &Reordering, now: Time) {
        let patience = self.rtt + self.reordering_window(by);
        for index in 0..self.segments.len() {
            let segment = self.segments[index];
            if !segment.sacked && !segment.lost && (index == 0 || segment.sent + patience <= now) {
                self.deem_lost(index);
            }
        }
    }

    /// Deems the first segment lost, if it is in flight, on other evidence than time.
    pub(super) fn deem_first_lost(&mut self) {
        if self.segments.front().is_some_and(|first| !first.sacked && !first.lost) {
            self.deem_lost(0);
        }
    }

    fn deem_lost(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        segment.lost = true;
        self.pipe -= segment.len();
        self.segments_lost += 1;
        self.lost_from = self.lost_from.min(segment.start);
        if self.segments_lost == 1 {
            self.lost_from = segment.start;
        }
    }

    fn find(&self, end: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.end < end);
        self.segments.get(index).filter(|segment| segment.end == end).map(|_| index)
    }

    /// The segment whose last transmission this was, if it is still outstanding.
    fn waiting(&self, sent: Time, end: u64) -> Option<usize> {
        let index = self.find(end)?;
        let segment = &self.segments[index];
        (segment.sent == sent && !segment.sacked && !segment.lost).then_some(index)
    }
}
