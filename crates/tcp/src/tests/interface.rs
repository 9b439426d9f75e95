//! What lies between a sender's windows and its host's queue: bursts, pacing and small queues.

use super::*;

const NONE: InterfaceConfig = InterfaceConfig { burst: 0, paced: false, small_queue: 0 };

/// A window of `segments` in congestion avoidance, with round trips of 100 us.
fn config(segments: u64, interface: InterfaceConfig) -> SenderConfig {
    let window = 100 * segments;
    SenderConfig { initial_window: window, initial_ssthresh: window, interface: Some(interface), ..CFG }
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

impl Bench {
    /// The first window has left; acknowledgements measure 100 us.
    fn bursts(segments: u64, interface: InterfaceConfig, bytes: Option<u64>, fin: bool) -> Self {
        let mut bench = Self::closed(config(segments, interface), bytes, fin);
        bench.rtt = Some(us(100));
        bench.adopt();
        bench.wire.sent.clear();
        bench
    }
    fn at(&mut self, at: Time) -> &mut Self {
        self.now = at;
        self
    }
    /// Segments that have left since the last look.
    fn count(&mut self) -> usize {
        self.wire.sent.drain(..).count()
    }
    pub(super) fn resume(&mut self) {
        self.now = self.wire.paces.remove(0);
        self.sender.on_pace(&mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }
}

#[test]
fn tso_waits_until_a_full_burst_may_leave() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, None, false);
    bench.at(us(100));
    for acked in 1..10 {
        bench.ack(1 + 100 * acked);
        bench.expect_nothing();
    }
    bench.ack(1001);
    assert_eq!(bench.count(), 10);
}

#[test]
fn the_last_segment_of_a_burst_is_pushed_if_there_are_several() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 300, ..NONE }, None, false);
    bench.at(us(100)).ack(301);
    let pushed: Vec<bool> = bench.wire.sent.drain(..).map(|segment| segment.flags.has(Flags::PSH)).collect();
    assert_eq!(pushed, [false, false, true]);
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 300, ..NONE }, None, false);
    bench.at(us(1001)).ack(101);
    assert!(!bench.wire.sent[0].flags.has(Flags::PSH), "a single segment");
}

#[test]
fn tso_waits_for_a_third_of_the_window_at_most() {
    let mut bench = Bench::bursts(9, InterfaceConfig { burst: 60_000, ..NONE }, None, false);
    bench.at(us(100)).ack(101);
    bench.ack(201);
    bench.expect_nothing();
    bench.ack(301);
    bench.expect("901:1001 1001:1101 1101:1201");
}

#[test]
fn tso_does_not_wait_for_an_acknowledgement_that_is_more_than_half_a_round_trip_away() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, None, false);
    bench.at(us(49)).ack(101);
    bench.expect("6001:6101");
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, None, false);
    bench.at(us(50)).ack(101);
    bench.expect_nothing();
}

#[test]
fn tso_does_not_wait_if_the_last_segment_left_more_than_a_millisecond_ago() {
    for (at, sent) in [(us(1000), ""), (us(1001), "6001:6101")] {
        let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, None, false);
        bench.at(at).ack(101);
        bench.expect(sent);
    }
}

#[test]
fn tso_does_not_hold_the_end_of_a_stream_that_the_windows_let_go() {
    for (fin, sent) in [(true, "6001:6101 6101:6151F"), (false, "")] {
        let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, Some(6150), fin);
        bench.at(us(100)).ack(101);
        bench.expect_nothing();
        bench.ack(201);
        bench.expect(sent);
    }
}

#[test]
fn what_is_sent_again_after_a_timeout_may_lie_before_the_newest_buffer() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, Some(6000), false);
    bench.at(us(100)).push_data(6000);
    bench.expect_nothing();
    bench.expire_timer();
    bench.expect("1:101R");
    bench.ack(101);
    bench.expect("101:201R 201:301R");
}

#[test]
fn tso_does_not_hold_a_single_segment() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, Some(6100), false);
    bench.at(us(100)).ack(101);
    bench.expect("6001:6101");
}

#[test]
fn without_tso_each_acknowledgement_lets_its_segment_out() {
    let mut bench = Bench::bursts(60, InterfaceConfig { small_queue: 1 << 20, ..NONE }, None, false);
    bench.at(us(100)).ack(101);
    bench.expect("6001:6101");
}

#[test]
fn two_bursts_fit_a_window_and_the_last_one_need_not_be_whole_segments() {
    let interface = InterfaceConfig { burst: 60_000, small_queue: 1 << 20, ..NONE };
    assert_eq!(Bench::bursts(7, interface, None, false).wire.bursts, [300, 300, 100]);
    assert_eq!(Bench::bursts(10, interface, Some(730), false).wire.bursts, [500, 230]);
    assert_eq!(Bench::bursts(1, interface, None, false).wire.bursts, [100]);
}

#[test]
fn bursts_are_smaller_the_longer_the_round_trip_but_have_two_segments() {
    let largest = |rtt: Time| {
        let mut bench = Bench::bursts(64, InterfaceConfig { burst: 1600, small_queue: 1 << 20, ..NONE }, None, false);
        bench.rtt = Some(rtt);
        bench.at(rtt).ack(6401);
        bench.wire.bursts[4..].iter().copied().max()
    };
    // A part for near peers, halved for each 512 us, and what is sent in 2^-10 s, 1.2 windows a round trip.
    assert_eq!(largest(us(500)), Some(1600));
    assert_eq!(largest(ms(100)), Some(200));
    // 1600 / 2^19 and 1.2 * 6500 / 10.24
    assert_eq!(largest(ms(10)), Some(700));
}

#[test]
fn a_flow_with_too_much_in_the_queue_of_its_host_waits_until_some_has_left() {
    let mut bench = Bench::bursts(20, InterfaceConfig { small_queue: 500, ..NONE }, None, false);
    // The sixth goes with five in the queue. Each takes 140 us.
    assert_eq!(bench.wire.bursts.len(), 6);
    assert_eq!(bench.wire.paces, [us(140)]);
    bench.resume();
    bench.expect("601:701");
    assert_eq!(bench.wire.paces, [us(280)]);
}

#[test]
fn a_flow_with_one_burst_in_flight_does_not_wait_for_its_queue() {
    let interface = InterfaceConfig { burst: 1000, small_queue: 1, ..NONE };
    let bench = Bench::bursts(100, interface, None, false);
    // The limit is two bursts or more, and the third finds as much in the queue.
    assert_eq!(bench.wire.bursts, [1000, 1000]);
}

/// Ten segments leave at once; then each waits.
#[test]
fn a_paced_flow_sends_twice_its_window_a_round_trip_in_slow_start_and_then_less() {
    for (ssthresh, gap) in [(1_000_000, us(250)), (4000, Time::from_ps(416_666_666))] {
        let cfg = SenderConfig {
            initial_window: 2000,
            initial_ssthresh: ssthresh,
            interface: Some(InterfaceConfig { paced: true, ..NONE }),
            ..CFG
        };
        let mut bench = Bench::closed(cfg, None, false);
        bench.rtt = Some(ms(10));
        bench.connect();
        bench.syn_ack(Flags::NONE);
        assert_eq!(bench.count(), 2 + 10, "SYN and ACK, and ten segments");
        for passed in 1..5 {
            // The timer of fq is 10 us late.
            assert_eq!(bench.wire.paces, [Time::from_ps(gap.ps() * passed) + us(10)]);
            bench.resume();
            assert_eq!(bench.count(), 1);
        }
    }
}

/// Bursts of four in windows of 60, of which 400 bytes are acknowledged at 100 us. 400 bytes take 5.5 us at the paced rate.
fn paced() -> Bench {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 400, paced: true, ..NONE }, None, false);
    bench.at(us(100)).ack(401);
    assert_eq!(bench.count(), 4);
    bench
}

/// Microseconds of the pending events of a bench, rounded down.
fn events(bench: &Bench) -> Vec<u64> {
    bench.wire.paces.iter().map(|at| at.us()).collect()
}

#[test]
fn what_is_paced_counts_as_sent_while_fq_keeps_it() {
    let mut bench = paced();
    bench.ack(801);
    bench.expect_nothing();
    assert_eq!(bench.sender.in_flight(), 6000);
}

#[test]
fn tcp_update_skb_after_send_takes_up_to_half_of_the_time_off_where_a_burst_was_late() {
    let mut bench = paced();
    bench.ack(801);
    assert_eq!(events(&bench), [100 + 2 + 10]);
    bench.resume();
    assert_eq!(bench.count(), 4);
    bench.ack(1201);
    assert_eq!(bench.count(), 4, "due at 108 us");
    bench.ack(1601);
    assert_eq!(events(&bench), [112 + 2 + 10 + 1], "4 us late, of which 2.7 count");
}

#[test]
fn fq_lets_go_what_is_due_when_its_timer_is_or_another_burst_comes() {
    let mut bench = paced();
    bench.ack(801); // due at 102 us
    bench.ack(1201); // due at 108 us
    bench.at(us(105)).ack(1601);
    assert_eq!(bench.count(), 4, "the timer would have come at 112 us");
    bench.resume();
    bench.expect_nothing();
    assert_eq!(events(&bench), [118]);
    bench.resume();
    assert_eq!(bench.count(), 8, "the last is due at 113 us");
    assert!(bench.wire.paces.is_empty());
}

#[test]
fn a_congestion_control_that_paces_itself_is_left_to_it() {
    /// A segment each 7 ms.
    struct Slow;
    impl CongestionControl for Slow {
        fn on_start(&mut self, cx: &mut fanin_core::roles::SenderCx<'_>) {
            cx.packet.gap = ms(7);
        }
        fn on_ack(&mut self, _cx: &mut fanin_core::roles::SenderCx<'_>, _ack: &fanin_core::roles::AckEvent) {}
    }
    let cfg = config(20, InterfaceConfig { burst: 60_000, paced: true, small_queue: 0 });
    let mut bench = Bench::with(cfg, Box::new(Slow), EcnMode::Off, None, false);
    bench.adopt();
    for passed in 1..4 {
        assert_eq!(bench.count(), 1);
        assert_eq!(bench.wire.paces, [ms(7 * passed)]);
        bench.resume();
    }
}

#[test]
fn retransmissions_are_not_held_for_bursts() {
    let mut bench = Bench::bursts(60, InterfaceConfig { burst: 1000, ..NONE }, None, false);
    bench.at(us(100)).dup_acks(3);
    bench.expect("1:101R");
}
