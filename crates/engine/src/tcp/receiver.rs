//! The receiving half of one flow: reassembly, and what is acknowledged when.

use super::ranges::RangeSet;
use super::sack::SackBlocks;
use super::{EcnMode, FIRST_DATA};
use crate::packet::{Stamp, unwrap_seq};
use crate::units::Time;

/// How a receiver acknowledges. Shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// In-order segments that one ACK may cover: 1 acknowledges each, 2 is the limit of RFC 5681 section 4.2.
    pub ack_every: u32,
    /// Longest time that an ACK waits for the next segment.
    pub ack_delay: Time,
    /// In-order segments at the beginning that are acknowledged at once.
    pub quick_acks: u32,
    /// Whether ACKs carry SACK blocks.
    pub sack: bool,
    /// How congestion marks are echoed.
    pub ecn: EcnMode,
}

/// An arriving segment of the flow, unwrapped by [`Receiver::unwrap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first byte.
    pub seq: u64,
    /// Bytes of payload.
    pub len: u64,
    /// The stream ends after it; the FIN takes the number after the payload.
    pub fin: bool,
    /// Marked as having met congestion.
    pub ce: bool,
    /// The sender has reduced its window.
    pub cwr: bool,
    /// When it was sent.
    pub stamp: Stamp,
    /// It was sent before.
    pub retransmitted: bool,
}

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOut {
    /// Next number expected.
    pub ack: u64,
    /// ECN echo.
    pub ece: bool,
    /// Echo of a segment's stamp (RFC 7323 section 4.3).
    pub stamp: Stamp,
    /// The echoed segment was a retransmission: by Karn's rule (RFC 6298 section 3) no sample.
    pub retransmitted_echo: bool,
    /// It carries the [`Receiver::sack_blocks`] of this moment: something has arrived beyond a hole, and the flow uses
    /// SACK. The blocks are not in here because few ACKs have them, and copying the room for them would cost all.
    pub sack: bool,
    /// The previous ACK had the same number.
    pub duplicate: bool,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Payload bytes that are now in order: of this segment, and of earlier ones behind the hole it filled.
    pub new_in_order: u64,
    /// Payload bytes of this segment that had not arrived before.
    pub new_data: u64,
    /// It began beyond the next number expected.
    pub out_of_order: bool,
    /// It brought nothing new.
    pub duplicate: bool,
    /// With it the stream is complete, FIN included.
    pub finished: bool,
}

/// The ACKs that one segment causes: one at most, but for the change of marks of RFC 8257 section 3.2.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckList {
    acks: [AckOut; 2],
    len: u8,
}

impl AckList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }
    /// The ACKs in the order in which to send them.
    #[inline(always)]
    pub fn as_slice(&self) -> &[AckOut] {
        &self.acks[..usize::from(self.len)]
    }
    /// Empties the list.
    #[inline(always)]
    pub const fn clear(&mut self) {
        self.len = 0;
    }
    #[inline(always)]
    fn push(&mut self, ack: AckOut) {
        self.acks[usize::from(self.len)] = ack;
        self.len += 1;
    }
}

/// Number of a FIN that has not been seen.
const NO_FIN: u64 = u64::MAX;

/// State of the receiving half after the handshake. What every segment needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// `RCV.NXT`: everything below has arrived.
    next: u64,
    /// Number of the last ACK.
    last_ack: u64,
    /// When a waiting ACK must go out; [`Time::NEVER`] if none waits.
    deadline: Time,
    /// Segments in order since the last ACK.
    waiting: u32,
    /// Segments in order that might have waited and were acknowledged at once, at the beginning.
    quick: u32,
    /// TS.Recent of RFC 7323 section 4.3, and whether it came in a retransmission.
    echo: Stamp,
    echo_retransmitted: bool,
    /// DCTCP.CE of RFC 8257 section 3.2, or the latch of RFC 3168 section 6.1.3: ACKs carry ECE.
    ce: bool,
    fin: u64,
    /// What lies beyond a hole; ranges are tagged with the arrival that reached them last. While an ACK waits
    /// this is empty, because arrivals around a hole are acknowledged at once.
    store: RangeSet,
    /// Arrivals beyond a hole so far.
    arrivals: u64,
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

impl Receiver {
    /// A receiver that has seen the SYN.
    pub const fn new() -> Self {
        Self {
            next: FIRST_DATA,
            last_ack: FIRST_DATA,
            deadline: Time::NEVER,
            waiting: 0,
            quick: 0,
            echo: Stamp::from_bits(0),
            echo_retransmitted: false,
            ce: false,
            fin: NO_FIN,
            store: RangeSet::new(),
            arrivals: 0,
        }
    }

    /// The next number expected.
    #[inline(always)]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// When [`on_ack_timer`](Self::on_ack_timer) is due; [`Time::NEVER`] if no ACK waits.
    #[inline(always)]
    pub const fn ack_deadline(&self) -> Time {
        self.deadline
    }

    /// Whether something has arrived beyond a hole.
    #[inline(always)]
    pub const fn has_hole(&self) -> bool {
        !self.store.is_empty()
    }

    /// Whether everything up to the FIN has arrived.
    #[inline(always)]
    pub const fn finished(&self) -> bool {
        self.next > self.fin
    }

    /// The 64-bit number of a segment of this flow.
    #[inline(always)]
    pub const fn unwrap(&self, wire: u32) -> u64 {
        unwrap_seq(wire, self.next)
    }

    /// Takes a segment; leaves the ACKs to send now in `out`, whose old content is dropped.
    #[inline(always)]
    pub fn on_segment(&mut self, seg: &Segment, now: Time, cfg: &ReceiverConfig, out: &mut AckList) -> Delivery {
        out.clear();
        let end = seg.seq + seg.len + u64::from(seg.fin);
        if seg.seq != self.next || end == seg.seq || !self.store.is_empty() {
            return self.on_irregular(seg, end, cfg, out);
        }
        if cfg.ecn != EcnMode::Off {
            self.observe_marks(seg, cfg, out);
        }
        self.next = end;
        if seg.fin {
            self.fin = end - 1;
        }
        // RFC 5681 s4.2: an ACK for every `ack_every` segments; a FIN is acknowledged at once.
        let wait = self.waiting + 1 < cfg.ack_every && !seg.fin && !self.is_quick(cfg);
        if self.waiting == 0 {
            self.record_stamp(seg);
            if wait {
                self.deadline = now.saturating_add(cfg.ack_delay);
            }
        }
        if wait {
            self.waiting += 1;
        } else {
            out.push(self.take_ack(cfg));
        }
        Delivery { new_in_order: seg.len, new_data: seg.len, finished: seg.fin, ..Delivery::default() }
    }

    /// Whether the connection is so young that no ACK waits: a sender in slow start is then not held up.
    #[inline]
    const fn is_quick(&mut self, cfg: &ReceiverConfig) -> bool {
        let quick = self.quick < cfg.quick_acks;
        self.quick += quick as u32;
        quick
    }

    /// The timer of the waiting ACK has run out.
    pub fn on_ack_timer(&mut self, now: Time, cfg: &ReceiverConfig) -> Option<AckOut> {
        (self.waiting > 0 && now >= self.deadline).then(|| self.take_ack(cfg))
    }

    /// The ACK that describes this moment, for a window update or for one that was held back. It leaves a
    /// waiting ACK waiting; [`take_ack`](Self::take_ack) does not.
    pub fn current_ack(&self, cfg: &ReceiverConfig) -> AckOut {
        AckOut {
            ack: self.next,
            ece: self.ce,
            stamp: self.echo,
            retransmitted_echo: self.echo_retransmitted,
            sack: cfg.sack && !self.store.is_empty(),
            duplicate: self.next == self.last_ack,
        }
    }

    /// [`current_ack`](Self::current_ack), sent: no ACK waits any more.
    #[inline]
    pub fn take_ack(&mut self, cfg: &ReceiverConfig) -> AckOut {
        let ack = self.current_ack(cfg);
        self.last_ack = self.next;
        self.waiting = 0;
        self.deadline = Time::NEVER;
        ack
    }

    /// A segment that is not the next of a stream without holes. All of these are acknowledged at once
    /// (RFC 5681 section 4.2): out of order, filling a hole, duplicate.
    #[inline(never)]
    fn on_irregular(&mut self, seg: &Segment, end: u64, cfg: &ReceiverConfig, out: &mut AckList) -> Delivery {
        let before = self.next;
        let out_of_order = seg.seq > before && end > seg.seq;
        let old = end <= before;
        if cfg.ecn != EcnMode::Off {
            // RFC 3168 s6.1.5: the ECN field of data outside the window is ignored. Its CWR is not.
            let ce = if old { self.ce && cfg.ecn == EcnMode::Accurate } else { seg.ce };
            self.observe_marks(&Segment { ce, ..*seg }, cfg, out);
        }
        // RFC 7323 s4.3 (2): only a segment that begins at or below the last ACK number is echoed, and the
        // first of several. So beyond a hole the last segment in order is, and in the end the one that fills it.
        if seg.seq <= before && self.waiting == 0 {
            self.record_stamp(seg);
        }
        let new_numbers = if old || end == seg.seq {
            0
        } else if out_of_order {
            self.arrivals += 1;
            self.store.insert(seg.seq, end, self.arrivals)
        } else {
            let (next, stored) = self.store.take_contiguous(end);
            self.next = next;
            next - before - stored
        };
        let new_fin = seg.fin && self.fin == NO_FIN;
        if new_fin {
            self.fin = end - 1;
        }
        let finished = before <= self.fin && self.finished();
        out.push(self.take_ack(cfg));
        Delivery {
            new_in_order: self.next - before - u64::from(finished),
            // A switch that follows a connection may see a FIN whose number data has taken.
            new_data: new_numbers.saturating_sub(u64::from(new_fin)),
            out_of_order,
            duplicate: new_numbers == 0,
            finished,
        }
    }

    /// What the marks of an arriving segment mean for the ACKs: first for those that it finds waiting.
    #[inline]
    fn observe_marks(&mut self, seg: &Segment, cfg: &ReceiverConfig, out: &mut AckList) {
        match cfg.ecn {
            EcnMode::Off => {}
            // RFC 3168 s6.1.3: ECE from a mark until CWR; a segment with both starts anew.
            EcnMode::Classic => self.ce = seg.ce || (self.ce && !seg.cwr),
            EcnMode::Accurate => {
                // RFC 8257 s3.2: a change of marks first acknowledges what arrived before, with the old state.
                if seg.ce != self.ce && self.waiting > 0 {
                    out.push(self.take_ack(cfg));
                }
                self.ce = seg.ce;
            }
        }
    }

    #[inline(always)]
    const fn record_stamp(&mut self, seg: &Segment) {
        self.echo = seg.stamp;
        self.echo_retransmitted = seg.retransmitted;
    }

    /// RFC 2018 section 4: the block that the latest arrival beyond a hole belongs to, then those of earlier ones.
    pub fn sack_blocks(&self) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        let mut bound = u64::MAX;
        // Tags are unique, so each round finds the next older range. Three rounds over few ranges.
        while let Some(range) =
            self.store.as_slice().iter().filter(|range| range.touched < bound).max_by_key(|range| range.touched)
        {
            if !blocks.push(range.start, range.end) {
                break;
            }
            bound = range.touched;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK for each segment, without options.
    const EACH: ReceiverConfig =
        ReceiverConfig { ack_every: 1, ack_delay: Time::from_us(500), quick_acks: 0, sack: false, ecn: EcnMode::Off };
    /// The delayed ACK of RFC 5681.
    const EVERY_SECOND: ReceiverConfig = ReceiverConfig { ack_every: 2, ..EACH };

    /// A receiver with its configuration, a clock of 1 us per segment, and the latest answer.
    struct Rig {
        receiver: Receiver,
        cfg: ReceiverConfig,
        now: Time,
        out: AckList,
        delivery: Delivery,
    }

    impl Rig {
        fn new(cfg: ReceiverConfig) -> Self {
            let (receiver, out) = (Receiver::new(), AckList::new());
            Self { receiver, cfg, now: Time::ZERO, out, delivery: Delivery::default() }
        }
        fn take(&mut self, seg: &Segment) -> &[AckOut] {
            self.now += Time::from_us(1);
            self.delivery = self.receiver.on_segment(seg, self.now, &self.cfg, &mut self.out);
            self.out.as_slice()
        }
        /// The ACK numbers that segment `n` of 100 bytes causes.
        fn numbers(&mut self, n: u64) -> Vec<u64> {
            self.take(&segment(n)).iter().map(|ack| ack.ack).collect()
        }
        /// (number, ECE) of the ACKs that a segment causes.
        fn echoes(&mut self, seg: Segment) -> Vec<(u64, bool)> {
            self.take(&seg).iter().map(|ack| (ack.ack, ack.ece)).collect()
        }
        /// The SACK blocks of the one ACK that segment `n` causes, in units of segments.
        fn sacks(&mut self, n: u64) -> Vec<(u64, u64)> {
            let [ack] = *self.take(&segment(n)) else { panic!("one ACK") };
            let blocks = if ack.sack { self.receiver.sack_blocks() } else { SackBlocks::new() };
            blocks.as_slice().iter().map(|&(start, end)| ((start - 1) / 100, (end - 1) / 100)).collect()
        }
    }

    /// Segment `n` of 100 bytes, counted from 0, with `n` as its stamp.
    fn segment(n: u64) -> Segment {
        Segment { seq: 1 + 100 * n, len: 100, stamp: Stamp::from_bits(n as u32), ..Segment::default() }
    }

    fn marked(n: u64) -> Segment {
        Segment { ce: true, ..segment(n) }
    }

    #[test]
    fn data_in_order_is_delivered_and_acknowledged() {
        let mut rig = Rig::new(EACH);
        assert_eq!(rig.numbers(0), [101]);
        assert_eq!(rig.numbers(1), [201]);
        assert_eq!(rig.delivery, Delivery { new_in_order: 100, new_data: 100, ..Delivery::default() });
        assert_eq!((rig.receiver.next(), rig.receiver.has_hole()), (201, false));
        assert!(!rig.out.as_slice()[0].duplicate);
    }

    #[test]
    fn rfc5681_s4_2_an_ack_covers_at_most_so_many_segments() {
        let mut rig = Rig::new(EVERY_SECOND);
        let acks: Vec<_> = (0..4).map(|n| rig.numbers(n)).collect();
        assert_eq!(acks, [vec![], vec![201], vec![], vec![401]]);
        let mut rig = Rig::new(ReceiverConfig { ack_every: 3, ..EACH });
        let acks: Vec<_> = (0..3).map(|n| rig.numbers(n)).collect();
        assert_eq!(acks, [vec![], vec![], vec![301]]);
    }

    #[test]
    fn the_first_segments_of_a_connection_are_acknowledged_at_once_if_so_many() {
        let mut rig = Rig::new(ReceiverConfig { quick_acks: 3, ..EVERY_SECOND });
        let acks: Vec<_> = (0..5).map(|n| rig.numbers(n)).collect();
        assert_eq!(acks, [vec![101], vec![201], vec![301], vec![], vec![501]]);
    }

    #[test]
    fn rfc5681_s4_2_an_ack_waits_no_longer_than_the_delay() {
        let mut rig = Rig::new(EVERY_SECOND);
        assert!(rig.receiver.ack_deadline().is_never());
        rig.take(&segment(0));
        let deadline = rig.receiver.ack_deadline();
        assert_eq!(deadline, rig.now + Time::from_us(500));
        assert_eq!(rig.receiver.on_ack_timer(deadline - Time::from_ps(1), &EVERY_SECOND), None);
        assert_eq!(rig.receiver.on_ack_timer(deadline, &EVERY_SECOND).map(|ack| ack.ack), Some(101));
        assert!(rig.receiver.ack_deadline().is_never());
        assert_eq!(rig.receiver.on_ack_timer(Time::NEVER, &EVERY_SECOND), None, "only once");
        rig.take(&segment(1));
        rig.take(&segment(2));
        assert!(rig.receiver.ack_deadline().is_never(), "the second segment took the ACK along");
    }

    #[test]
    fn rfc5681_s4_2_the_delay_counts_from_the_first_waiting_segment() {
        let mut rig = Rig::new(ReceiverConfig { ack_every: 3, ..EACH });
        rig.take(&segment(0));
        let deadline = rig.receiver.ack_deadline();
        rig.take(&segment(1));
        assert_eq!(rig.receiver.ack_deadline(), deadline);
    }

    #[test]
    fn rfc5681_s4_2_a_segment_out_of_order_is_acknowledged_at_once() {
        let mut rig = Rig::new(EVERY_SECOND);
        rig.take(&segment(0));
        assert_eq!(rig.numbers(2), [101], "with the segment that waited");
        assert_eq!(rig.delivery, Delivery { new_data: 100, out_of_order: true, ..Delivery::default() });
        assert!(rig.receiver.has_hole() && !rig.out.as_slice()[0].duplicate);
        assert_eq!(rig.numbers(3), [101]);
        assert!(rig.out.as_slice()[0].duplicate);
    }

    #[test]
    fn rfc5681_s4_2_a_segment_that_fills_a_hole_or_part_of_it_is_acknowledged_at_once() {
        let mut rig = Rig::new(EVERY_SECOND);
        rig.take(&segment(2));
        assert_eq!(rig.numbers(0), [101], "part");
        assert_eq!(rig.delivery, Delivery { new_in_order: 100, new_data: 100, ..Delivery::default() });
        assert_eq!(rig.numbers(1), [301], "the rest");
        assert_eq!(rig.delivery, Delivery { new_in_order: 200, new_data: 100, ..Delivery::default() });
        assert!(!rig.receiver.has_hole());
        assert!(rig.numbers(3).is_empty(), "then delayed again");
    }

    #[test]
    fn a_duplicate_is_acknowledged_at_once() {
        let mut rig = Rig::new(EVERY_SECOND);
        rig.take(&segment(0));
        assert_eq!(rig.numbers(0), [101]);
        assert_eq!(rig.delivery, Delivery { duplicate: true, ..Delivery::default() });
        rig.take(&segment(2));
        assert_eq!(rig.numbers(2), [101], "also one from beyond the hole");
        assert_eq!(rig.delivery, Delivery { duplicate: true, out_of_order: true, ..Delivery::default() });
        assert_eq!(rig.echoes(Segment { len: 0, ..segment(0) }), [(101, false)], "also one without data");
    }

    #[test]
    fn overlapping_segments_count_their_new_bytes_only() {
        let mut rig = Rig::new(EACH);
        rig.take(&Segment { seq: 51, len: 100, ..Segment::default() });
        rig.take(&Segment { seq: 1, len: 200, ..Segment::default() });
        assert_eq!(rig.delivery, Delivery { new_in_order: 200, new_data: 100, ..Delivery::default() });
        rig.take(&Segment { seq: 151, len: 60, ..Segment::default() });
        assert_eq!(rig.delivery, Delivery { new_in_order: 10, new_data: 10, ..Delivery::default() });
    }

    #[test]
    fn a_fin_takes_one_number_and_is_acknowledged_at_once() {
        for (fin, end) in [(Segment { fin: true, ..segment(0) }, 102), (Segment { fin: true, len: 0, ..segment(0) }, 2)]
        {
            let mut rig = Rig::new(EVERY_SECOND);
            assert_eq!(rig.echoes(fin), [(end, false)]);
            assert!(rig.delivery.finished && rig.receiver.finished());
            assert_eq!(rig.delivery.new_in_order, fin.len);
            assert_eq!(rig.echoes(fin), [(end, false)], "a retransmitted FIN too");
            assert_eq!(rig.delivery, Delivery { duplicate: true, ..Delivery::default() });
        }
    }

    #[test]
    fn a_fin_beyond_a_hole_ends_the_stream_once_the_hole_is_filled() {
        let mut rig = Rig::new(EACH);
        rig.take(&Segment { fin: true, ..segment(1) });
        assert_eq!(rig.delivery, Delivery { new_data: 100, out_of_order: true, ..Delivery::default() });
        assert!(!rig.receiver.finished());
        assert_eq!(rig.numbers(0), [202]);
        assert_eq!(rig.delivery, Delivery { new_in_order: 200, new_data: 100, finished: true, ..Delivery::default() });
    }

    #[test]
    fn a_fin_may_come_with_a_retransmission_of_data_that_went_without() {
        let mut rig = Rig::new(EACH);
        rig.take(&segment(0));
        assert_eq!(rig.echoes(Segment { fin: true, ..segment(0) }), [(102, false)]);
        assert_eq!(rig.delivery, Delivery { finished: true, ..Delivery::default() });
    }

    #[test]
    fn rfc7323_s4_3_a_delayed_ack_echoes_the_earliest_segment_it_covers() {
        let mut rig = Rig::new(EVERY_SECOND);
        rig.take(&Segment { retransmitted: true, ..segment(0) });
        let ack = rig.take(&segment(1))[0];
        assert_eq!((ack.stamp.bits(), ack.retransmitted_echo), (0, true));
        rig.take(&segment(2));
        rig.take(&segment(1)); // a duplicate sends the waiting ACK and leaves its stamp
        assert_eq!((rig.out.as_slice()[0].stamp.bits(), rig.out.as_slice()[0].retransmitted_echo), (2, false));
    }

    #[test]
    fn rfc7323_s4_3_beyond_a_hole_the_last_segment_in_order_is_echoed() {
        let mut rig = Rig::new(EACH);
        rig.take(&segment(0));
        assert_eq!(rig.take(&segment(2))[0].stamp.bits(), 0);
    }

    #[test]
    fn rfc7323_s4_3_the_segment_that_fills_a_hole_is_echoed() {
        let mut rig = Rig::new(EACH);
        rig.take(&segment(1));
        let filler = Segment { stamp: Stamp::from_bits(77), retransmitted: true, ..segment(0) };
        let ack = rig.take(&filler)[0];
        assert_eq!((ack.ack, ack.stamp.bits(), ack.retransmitted_echo), (201, 77, true), "so Karn's rule applies");
    }

    #[test]
    fn rfc2018_s4_the_first_block_holds_the_segment_that_caused_the_ack() {
        let mut rig = Rig::new(ReceiverConfig { sack: true, ..EACH });
        rig.take(&segment(2));
        assert_eq!(rig.sacks(6), [(6, 7), (2, 3)]);
        assert_eq!(rig.sacks(3), [(2, 4), (6, 7)], "the whole contiguous block");
        assert_eq!(rig.sacks(6), [(6, 7), (2, 4)], "also if it came twice");
    }

    #[test]
    fn rfc2018_s4_further_blocks_repeat_the_most_recently_reported() {
        let mut rig = Rig::new(ReceiverConfig { sack: true, ..EACH });
        for n in [2, 8, 4] {
            rig.take(&segment(n));
        }
        assert_eq!(rig.sacks(6), [(6, 7), (4, 5), (8, 9)], "the oldest has no room");
        assert_eq!(rig.sacks(5), [(4, 7), (8, 9), (2, 3)], "blocks that merge leave some");
    }

    #[test]
    fn rfc2018_s4_a_segment_that_advances_the_ack_is_in_no_block() {
        let mut rig = Rig::new(ReceiverConfig { sack: true, ..EACH });
        rig.take(&segment(1));
        rig.take(&segment(3));
        rig.take(&segment(5));
        assert_eq!(rig.sacks(0), [(5, 6), (3, 4)]);
        rig.take(&segment(2));
        rig.take(&segment(4));
        assert!(!rig.out.as_slice()[0].sack, "nothing beyond a hole, no option");
    }

    #[test]
    fn rfc2018_s2_without_permission_no_blocks_are_sent() {
        let mut rig = Rig::new(EACH);
        assert_eq!(rig.sacks(1), []);
    }

    #[test]
    fn rfc3168_s6_1_3_every_ack_echoes_from_a_mark_until_cwr() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Classic, ..EACH });
        assert_eq!(rig.echoes(segment(0)), [(101, false)]);
        assert_eq!(rig.echoes(marked(1)), [(201, true)]);
        assert_eq!(rig.echoes(segment(2)), [(301, true)]);
        assert_eq!(rig.echoes(Segment { cwr: true, ..segment(3) }), [(401, false)]);
        assert_eq!(rig.echoes(segment(4)), [(501, false)]);
    }

    #[test]
    fn rfc3168_s6_1_3_a_mark_on_the_cwr_segment_starts_anew() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Classic, ..EACH });
        rig.take(&marked(0));
        assert_eq!(rig.echoes(Segment { cwr: true, ..marked(1) }), [(201, true)]);
        assert_eq!(rig.echoes(segment(2)), [(301, true)]);
    }

    #[test]
    fn rfc3168_s6_1_3_a_delayed_ack_echoes_a_mark_on_any_segment_it_covers() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Classic, ..EVERY_SECOND });
        assert_eq!(rig.echoes(marked(0)), []);
        assert_eq!(rig.echoes(segment(1)), [(201, true)]);
    }

    #[test]
    fn rfc3168_s6_1_5_marks_on_data_outside_the_window_are_ignored() {
        for ecn in [EcnMode::Classic, EcnMode::Accurate] {
            let mut rig = Rig::new(ReceiverConfig { ecn, ..EACH });
            rig.take(&segment(0));
            assert_eq!(rig.echoes(marked(0)), [(101, false)]);
            assert_eq!(rig.echoes(marked(2)), [(101, true)], "beyond a hole is inside");
        }
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..EACH });
        rig.take(&marked(0));
        assert_eq!(rig.echoes(segment(0)), [(101, true)], "and so is their absence");
    }

    #[test]
    fn without_ecn_marks_are_ignored() {
        let mut rig = Rig::new(EACH);
        assert_eq!(rig.echoes(marked(0)), [(101, false)]);
        assert_eq!(rig.echoes(marked(2)), [(101, false)]);
    }

    #[test]
    fn rfc8257_s3_2_each_ack_echoes_the_marks_of_the_segments_it_covers() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..EACH });
        assert_eq!(rig.echoes(marked(0)), [(101, true)]);
        assert_eq!(rig.echoes(segment(1)), [(201, false)], "without waiting for CWR");
    }

    #[test]
    fn rfc8257_s3_2_a_change_of_marks_first_sends_the_waiting_ack_with_the_old_state() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..EVERY_SECOND });
        assert_eq!(rig.echoes(segment(0)), []);
        assert_eq!(rig.echoes(marked(1)), [(101, false)]);
        assert_eq!(rig.out.as_slice()[0].stamp.bits(), 0);
        assert_eq!(rig.receiver.ack_deadline(), rig.now + Time::from_us(500), "the marked segment waits in turn");
        assert_eq!(rig.echoes(segment(2)), [(201, true)]);
        assert_eq!(rig.out.as_slice()[0].stamp.bits(), 1);
        assert_eq!(rig.echoes(segment(3)), [(401, false)]);
    }

    #[test]
    fn rfc8257_s3_2_a_change_of_marks_with_nothing_waiting_sends_no_empty_ack() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..EVERY_SECOND });
        rig.take(&segment(0));
        rig.take(&segment(1));
        assert_eq!(rig.echoes(marked(2)), []);
        assert_eq!(rig.echoes(marked(3)), [(401, true)]);
    }

    #[test]
    fn rfc8257_s3_2_holds_for_segments_out_of_order() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, sack: true, ..EVERY_SECOND });
        rig.take(&segment(0));
        assert_eq!(rig.echoes(marked(2)), [(101, false), (101, true)]);
        let [old, new] = rig.out.as_slice() else { panic!("two ACKs") };
        assert!(!old.duplicate && !old.sack && new.duplicate && new.sack);
        assert_eq!(rig.echoes(segment(1)), [(301, false)]);
    }

    #[test]
    fn rfc8257_s3_2_holds_for_a_marked_fin() {
        let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..EVERY_SECOND });
        rig.take(&segment(0));
        assert_eq!(rig.echoes(Segment { fin: true, ..marked(1) }), [(101, false), (202, true)]);
    }

    #[test]
    fn a_window_update_leaves_the_waiting_ack_waiting() {
        let mut rig = Rig::new(EVERY_SECOND);
        rig.take(&segment(0));
        assert_eq!(rig.receiver.current_ack(&EVERY_SECOND).ack, 101);
        assert!(!rig.receiver.ack_deadline().is_never());
        assert!(!rig.receiver.take_ack(&EVERY_SECOND).duplicate);
        assert!(rig.receiver.ack_deadline().is_never());
        assert!(rig.receiver.current_ack(&EVERY_SECOND).duplicate);
    }

    #[test]
    fn streams_run_across_the_wrap_of_wire_numbers() {
        let mut rig = Rig::new(EACH);
        let total = (1_u64 << 32) + 1000;
        let len = 1 << 20;
        while rig.receiver.next() < total {
            let seq = rig.receiver.unwrap(rig.receiver.next() as u32);
            rig.take(&Segment { seq, len, ..Segment::default() });
        }
        assert_eq!(rig.receiver.unwrap(1), (1 << 32) + 1);
        assert_eq!(rig.receiver.unwrap(u32::MAX), u64::from(u32::MAX), "a late duplicate");
    }
}
