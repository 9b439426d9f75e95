//! The receiver against the clauses of its RFCs.

use super::*;
use crate::sack::SackBlocks;

/// An ACK for each segment, without options.
const EACH: ReceiverConfig = ReceiverConfig {
    ack_every: 1,
    ack_delay: Time::from_us(500),
    quick_acks: 0,
    sack: false,
    ecn: EcnMode::Off,
    ecn_ack: false,
    late_change: false,
    tells_more: false,
    linux: None,
};
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
        let blocks = if ack.option { self.receiver.sack_blocks() } else { SackBlocks::new() };
        blocks.as_slice().iter().map(|&(start, end)| ((start - 1) / 100, (end - 1) / 100)).collect()
    }
}

/// A receiver of ns-3 with DCTCP.
const NS3: ReceiverConfig = ReceiverConfig { ecn: EcnMode::Accurate, late_change: true, ..EVERY_SECOND };

/// One that is ECN-capable.
fn capable(seg: Segment) -> Segment {
    Segment { ect: true, ..seg }
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
    for (fin, end) in [(Segment { fin: true, ..segment(0) }, 102), (Segment { fin: true, len: 0, ..segment(0) }, 2)] {
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
    assert!(!rig.out.as_slice()[0].option, "nothing beyond a hole, no option");
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
fn a_segment_out_of_order_is_one_of_the_first_that_are_acknowledged_at_once() {
    let mut rig = Rig::new(ReceiverConfig { quick_acks: 1, ..EVERY_SECOND });
    assert_eq!(rig.numbers(1), [1]);
    assert_eq!(rig.numbers(0), [201]);
    assert_eq!(rig.numbers(2), [0u64; 0]);
}

#[test]
fn ns3_acknowledges_one_segment_too_little_at_a_change_of_marks() {
    let mut rig = Rig::new(NS3);
    assert_eq!(rig.echoes(capable(segment(0))), []);
    assert_eq!(rig.echoes(capable(marked(1))), [(1, false)]);
    assert!(rig.out.as_slice()[0].duplicate, "the first segment still waits");
    assert_eq!(rig.echoes(capable(marked(2))), [(301, true)]);
    assert_eq!(rig.echoes(capable(segment(2))), [(301, false)], "the last segment once more counts");
    assert_eq!(rig.echoes(capable(Segment { retransmitted: true, ..marked(0) })), [(301, false)]);
    assert_eq!(rig.echoes(capable(marked(3))), []);
    assert_eq!(rig.echoes(segment(4)), [(501, true)], "without ECN it says nothing");
}

#[test]
fn in_ns3_a_mark_counts_beyond_the_last_one_also_on_a_retransmission() {
    for (first, again) in [(0, true), (2, false)] {
        let mut rig = Rig::new(NS3);
        rig.take(&Segment { ect: true, ..marked(first) });
        let echoes = rig.echoes(Segment { ect: true, retransmitted: true, ..marked(1) });
        assert_eq!(echoes.last().is_some_and(|(_, ece)| *ece), again, "{first}");
    }
}

#[test]
fn ns3_refuses_a_segment_below_the_next_number_without_an_echo() {
    let mut rig = Rig::new(NS3);
    assert_eq!(rig.echoes(capable(marked(0))), []);
    assert_eq!(rig.echoes(capable(marked(1))), [(201, true)]);
    assert_eq!(rig.echoes(capable(marked(2))), []);
    assert_eq!(rig.echoes(capable(segment(0))), [(301, false)]);
    assert_eq!(rig.echoes(capable(marked(3))), [], "the mark before it still stands");
}

#[test]
fn ns3_has_nothing_to_acknowledge_before_the_first_segment_that_is_ecn_capable() {
    let mut rig = Rig::new(NS3);
    assert_eq!(rig.echoes(segment(0)), []);
    assert_eq!(rig.echoes(Segment { ect: true, ..marked(1) }), [(201, true)]);
}

#[test]
fn ns3_takes_a_segment_that_old_data_has_acknowledged_for_one_that_waits() {
    for (second, next, sends) in [(segment(0), 1, [(101, false)].as_slice()), (segment(1), 2, &[])] {
        let mut rig = Rig::new(NS3);
        assert_eq!(rig.echoes(capable(segment(0))), []);
        assert_eq!(rig.echoes(Segment { retransmitted: true, ..capable(second) }).len(), 1);
        assert_eq!(rig.echoes(capable(marked(next))), sends);
    }
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
    assert!(!old.duplicate && !old.option && new.duplicate && new.option);
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
