use super::*;
use crate::pfdct::active::Scope;
use crate::test_sender::TestSender;
use fanin_core::roles::CongestionWindow;
use fanin_core::units::Rate;

const MSS: f64 = 1460.0;
const RTT: Time = Time::from_us(100);

/// The default settings.
fn settings() -> SenderSettings {
    let params = fanin_param::Values::defaults(&[&crate::pfdct::params::PARAMS]);
    SenderSettings { min_window: 2.0 * MSS, ..SenderSettings::from(&params, Scope::Sum) }
}

/// Long from the start.
fn long() -> SenderSettings {
    SenderSettings { class: ClassRule::SizeOnly, ..settings() }
}

/// A sender in slow start with a window of `segments`, all outstanding, at a port of 100 packets with two long flows.
fn sender(set: SenderSettings, bytes: Option<u64>, segments: f64) -> TestSender<Sender> {
    let facts = FlowFacts {
        flow: FlowId::new(0),
        bytes,
        mss: 1460,
        packet: 1500,
        rate: Rate::from_bps(1_000_000_000),
        hops: 1,
        base_rtt: Time::ZERO,
        idle_rtt: set.rtt_min_known.then_some(Time::from_us(64)),
        paced: false,
    };
    let window = CongestionWindow { cwnd: segments * MSS, ssthresh: 1e9 };
    let mut sender = TestSender::open(Sender::new(set, &facts, Arc::default()), MSS, window);
    sender.field = Field::new(true, None).through(2, 100).bits();
    sender.srtt = Some(Time::from_us(500));
    sender.rtt = Some(RTT);
    sender
}

impl TestSender<Sender> {
    fn kt(&self) -> f64 {
        self.cc.threshold()
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn eq_1_queue_length() {
    near(queue_length(20.0, Time::from_us(100), Time::from_us(40)), 12.0);
    near(queue_length(20.0, Time::from_us(40), Time::from_us(40)), 0.0);
    near(queue_length(20.0, Time::from_us(30), Time::from_us(40)), 0.0);
}

#[test]
fn eq_15_at_1_gbps_for_packets_of_1500_bytes() {
    let ki = |us: f64| ideal_threshold(1e9 / 8.0 / 1500.0, us * 1e-6);
    for (us, expected) in [(40.0, 0.3587), (100.0, 1.1811), (200.0, 2.06), (300.0, 2.7231)] {
        assert!((ki(us) - expected).abs() < 1e-4, "{us} us: {}", ki(us));
    }
    assert_eq!(ki(20.0), 0.0, "negative");
    assert_eq!(ki(1.0), 0.0, "imaginary");
}

#[test]
fn algorithm_2_lines_2_and_3_a_flow_with_a_small_window_and_little_sent_is_not_ecn_capable() {
    let mut bench = sender(SenderSettings { class: ClassRule::Algorithm, ..settings() }, Some(2_000_000), 3.0);
    assert_eq!((bench.packet.ect, bench.packet.priority), (false, 1));
    bench.round(6, 0); // 8760 bytes, 9 segments
    assert_eq!((bench.packet.ect, bench.packet.priority), (false, 1));
    assert!(!Field::read(bench.packet.field).unwrap().is_long());
}

#[test]
fn algorithm_2_lines_4_and_5_either_of_both_makes_it_long() {
    let set = SenderSettings { class: ClassRule::Algorithm, ..settings() };
    let mut sent = sender(set, Some(2_000_000), 3.0);
    sent.round(7, 0); // 10220 bytes
    assert_eq!((sent.packet.ect, sent.packet.priority), (true, 2));
    assert!(Field::read(sent.packet.field).unwrap().is_long());
    let window = sender(set, Some(2_000_000), 20.0);
    assert!(window.packet.ect);
}

#[test]
fn by_the_text_a_flow_is_long_if_large_and_with_a_large_window() {
    let class = |bytes, window| sender(settings(), bytes, window).packet.ect;
    assert!(class(Some(1_000_001), 21.0));
    assert!(class(None, 21.0), "endless is large");
    assert!(!class(Some(1_000_000), 21.0));
    assert!(!class(Some(2_000_000), 20.0));
    let size_only = SenderSettings { class: ClassRule::SizeOnly, ..settings() };
    assert!(sender(size_only, Some(2_000_000), 1.0).packet.ect);
}

#[test]
fn each_transfer_of_a_connection_is_a_flow_by_itself() {
    let mut bench = sender(SenderSettings { class: ClassRule::SizeOnly, ..settings() }, Some(2_000_000), 3.0);
    assert!(bench.packet.ect);
    bench.call(|cc, cx| cc.on_transfer(&TransferFacts { first: cx.nxt, bytes: Some(3000), deadline: None }));
    bench.call(CongestionControl::on_later_transfer);
    assert!(!bench.packet.ect, "from its first packet on");
}

#[test]
fn p12_a_long_flow_stays_long() {
    let fall = |sticky| {
        let mut bench = sender(SenderSettings { sticky, ..settings() }, None, 21.0);
        bench.window.cwnd = 5.0 * MSS;
        bench.window.ssthresh = MSS;
        bench.round(1, 0);
        bench.packet.ect
    };
    assert!(fall(true));
    assert!(!fall(false));
}

#[test]
fn retransmissions_have_the_highest_code_point_whatever_the_class() {
    assert_eq!(sender(settings(), None, 1.0).packet.resend_priority, Some(0));
    assert_eq!(sender(settings(), None, 30.0).packet.resend_priority, Some(0));
}

#[test]
fn algorithm_2_lines_7_to_9_the_ideal_threshold_is_that_of_the_shortest_round_trip() {
    let mut bench = sender(long(), None, 20.0);
    bench.round(10, 0);
    bench.rtt = Some(Time::from_us(900));
    bench.round(10, 0);
    near(bench.cc.ideal(), ideal_threshold(1e9 / 12000.0, 100e-6));
    let mut fixed = sender(SenderSettings { ideal: 7.0, ..long() }, None, 20.0);
    fixed.round(10, 0);
    near(fixed.cc.ideal(), 7.0);
}

#[test]
fn algorithm_2_lines_10_to_12_and_15_the_queue_estimate_is_averaged() {
    let mut bench = sender(SenderSettings { h: 0.5, ..long() }, None, 20.0);
    bench.round(1, 0); // The first acknowledgement ends the empty first window, with the shortest round-trip time.
    near(bench.cc.average_queue, 0.0);
    let window = bench.segments();
    bench.rtt = Some(Time::from_us(200));
    bench.round(1, 0);
    near(bench.cc.average_queue, 0.5 * window / 2.0);
    let window = bench.segments();
    bench.round(1, 0);
    near(bench.cc.average_queue, 0.5 * (0.25 * (window - 1.0)) + 0.5 * window / 2.0);
}

#[test]
fn p2_the_current_round_trip_time() {
    let after = |rtt| {
        let mut bench = sender(SenderSettings { rtt, h: 1.0, ..long() }, None, 20.0);
        bench.round(1, 0);
        // A window of two segments: one with a round trip of 100 us, then one of 300 us that ends the window.
        bench.nxt = bench.una + 2 * 1460;
        bench.window_end = bench.una + 1460;
        for us in [100, 300] {
            bench.rtt = Some(Time::from_us(us));
            bench.window_limited = false;
            bench.ack(false);
        }
        bench.cc.average_queue / bench.segments()
    };
    near(after(RttOf::Mean), 0.5);
    near(after(RttOf::Last), 2.0 / 3.0);
    near(after(RttOf::Smoothed), 0.8);
}

#[test]
fn p3_the_shortest_round_trip_time_is_measured_or_known() {
    let mut measured = sender(long(), None, 20.0);
    measured.round(1, 0);
    assert_eq!(measured.cc.rtt_min, RTT);
    let known = sender(SenderSettings { rtt_min_known: true, ..long() }, None, 20.0);
    assert_eq!(known.cc.rtt_min, Time::from_us(64));
}

/// Threshold before and after one more window, with a long queue or none.
fn moved(set: SenderSettings, queue: bool) -> (f64, f64) {
    let mut bench = sender(SenderSettings { h: 1.0, ..set }, None, 20.0);
    bench.window_limited = false;
    bench.round(1, 0);
    let before = bench.kt();
    bench.rtt = Some(if queue { Time::from_us(400) } else { RTT });
    bench.round(1, 0);
    (before, bench.kt())
}

#[test]
fn algorithm_2_lines_20_to_23_and_eq_5_the_threshold_goes_down_in_a_long_queue_and_up_in_a_short_one() {
    // Two flows: each begins with half of 20 packets, and the first window moves that by a step.
    let (before, after) = moved(long(), true);
    near(after, before - 0.5);
    let (before, after) = moved(long(), false);
    near(after, before + 0.5);
}

#[test]
fn p6_the_other_directions() {
    let text = SenderSettings { direction: Direction::Text, ..long() };
    let (before, after) = moved(text, true);
    near(after, before + 0.5);
    let (before, after) = moved(text, false);
    near(after, before - 0.5);
    for direction in [Direction::Noop, Direction::Frozen] {
        for queue in [false, true] {
            let (before, after) = moved(SenderSettings { direction, ..long() }, queue);
            near(before, 10.0);
            near(after, 10.0);
        }
    }
}

#[test]
fn algorithm_2_lines_16_and_17_the_threshold_stays_between_k_l_and_less_than_m_over_n() {
    let bounds = |queue: u64, rounds, set: SenderSettings| {
        let mut bench = sender(SenderSettings { h: 1.0, ..set }, None, 20.0);
        bench.window_limited = false;
        bench.round(1, 0);
        bench.rtt = Some(Time::from_us(queue));
        (0..rounds).for_each(|_| bench.round(1, 0));
        bench
    };
    near(bounds(400, 100, long()).kt(), 0.0);
    near(bounds(400, 100, SenderSettings { lowest: 4.0, ..long() }).kt(), 2.0);
    // N K_u < M: a packet less than 100 in sum, in whole sixteenths for each flow.
    let mut high = bounds(100, 200, long());
    near(high.kt(), 49.5);
    high.field = Field::new(true, None).through(10, 100).bits();
    high.round(1, 0);
    near(high.kt(), 9.875);
}

/// With a clip at the switch alone, `K_t` would go on to its own limits, and return from there by one step per round
/// trip.
#[test]
fn p7_the_clip_limits_what_a_flow_asks_for() {
    let params = fanin_param::Values::defaults(&[&crate::pfdct::params::PARAMS]);
    let clip = SenderSettings::from(&params.with("clip-low", "20").with("clip-high", "60"), Scope::Sum);
    let set = SenderSettings { class: ClassRule::SizeOnly, h: 1.0, ..clip };
    let mut bench = sender(set, None, 20.0);
    bench.window_limited = false;
    bench.round(1, 0);
    bench.rtt = Some(Time::from_us(400));
    (0..100).for_each(|_| bench.round(1, 0));
    near(bench.kt(), 10.0); // Half of 20.
    bench.rtt = Some(RTT);
    bench.round(1, 0);
    near(bench.kt(), 10.5);
    (0..200).for_each(|_| bench.round(1, 0));
    near(bench.kt(), 30.0); // Half of 60.
}

#[test]
fn p20_the_first_threshold_is_within_the_limits_too() {
    let mut bench = sender(SenderSettings { direction: Direction::Noop, ..long() }, None, 20.0);
    bench.field = Field::new(true, None).through(2, 9).bits();
    bench.round(1, 0);
    near(bench.kt(), 4.0);
}

#[test]
fn n_k_u_is_below_m_in_what_n_flows_tell() {
    for flows in 1..=200 {
        let mut bench = sender(long(), None, 20.0);
        bench.window_limited = false;
        bench.field = Field::new(true, None).through(flows, 32).bits();
        (0..100).for_each(|_| bench.round(1, 0));
        let told = Field::read(bench.packet.field).unwrap().threshold().unwrap();
        assert!(u32::from(flows) * told < 32 * 16, "{flows} flows tell {told} sixteenths each");
    }
}

#[test]
fn algorithm_2_line_18_the_threshold_moves_only_at_the_end_of_a_window_and_literally_of_all_data() {
    let mut bench = sender(long(), None, 20.0);
    bench.round(1, 0);
    let before = bench.kt();
    bench.round(1, 0);
    let after_window = bench.kt();
    assert!(after_window > before);
    bench.nxt = bench.una + 5 * 1460;
    bench.window_end = bench.nxt;
    bench.round(4, 0);
    near(bench.kt(), after_window);
    let mut literal = sender(SenderSettings { literal: true, ..long() }, Some(2_000_000), 20.0);
    literal.round(10, 0);
    literal.round(10, 0);
    near(literal.kt(), 10.0);
    literal.nxt = 2_000_001;
    literal.una = literal.nxt - 1460;
    literal.round(1, 0);
    near(literal.kt(), 10.5);
}

#[test]
fn algorithm_2_line_24_the_new_threshold_travels_in_the_field_of_long_flows_only() {
    let told = |set| {
        let mut bench = sender(set, Some(2_000_000), 3.0);
        bench.window_limited = false;
        bench.round(1, 0);
        Field::read(bench.packet.field).unwrap().threshold().map(f64::from)
    };
    assert_eq!(told(SenderSettings { direction: Direction::Noop, ..long() }), Some(160.0));
    assert_eq!(told(SenderSettings { class: ClassRule::Text, ..long() }), None);
    assert_eq!(told(SenderSettings { transport: Transport::Oracle, ..long() }), None);
    assert_eq!(told(SenderSettings { direction: Direction::Frozen, ..long() }), None, "the switch knows it");
}

#[test]
fn algorithm_2_line_13_the_threshold_of_a_short_flow_is_not_managed() {
    let mut bench = sender(settings(), Some(20_000), 4.0);
    bench.window_limited = false;
    (0..5).for_each(|_| bench.round(1, 0));
    assert_eq!(bench.cc.threshold, None);
    let mut large = sender(long(), None, 4.0);
    large.window_limited = false;
    (0..5).for_each(|_| large.round(1, 0));
    near(large.kt(), 10.0 + 5.0 * 0.5);
}

#[test]
fn algorithm_2_line_14_the_queue_is_estimated_with_the_current_round_trip_time() {
    let mut bench = sender(SenderSettings { h: 1.0, ..long() }, None, 20.0);
    bench.window_limited = false;
    for us in [100, 160, 400] {
        bench.rtt = Some(Time::from_us(us));
        bench.round(1, 0);
        near(bench.cc.average_queue, queue_length(20.0, Time::from_us(us), RTT));
    }
}

#[test]
fn algorithm_2_line_19_the_ideal_threshold_decides_the_direction() {
    // A window of 20 segments, half of which wait.
    let change = |ideal| {
        let mut bench = sender(SenderSettings { h: 1.0, ideal, ..long() }, None, 20.0);
        bench.window_limited = false;
        bench.round(1, 0);
        let before = bench.kt();
        bench.rtt = Some(Time::from_us(200));
        bench.round(1, 0);
        bench.kt() - before
    };
    near(change(9.0), -0.5);
    near(change(10.0), 0.0);
    near(change(11.0), 0.5);
}

/// Below C RTT = 2 packets Eq. 15 is taken as zero, and zero can be set for any round-trip time.
#[test]
fn p5_an_ideal_threshold_of_exactly_zero_is_below_any_queue_and_not_above_none() {
    for (ideal, us) in [(settings().ideal, 20), (0.0, 100)] {
        let mut bench = sender(SenderSettings { h: 1.0, ideal, ..long() }, None, 20.0);
        (bench.window_limited, bench.rtt) = (false, Some(Time::from_us(us)));
        bench.round(1, 0);
        let before = bench.kt();
        bench.round(1, 0);
        assert_eq!((bench.cc.ideal(), bench.cc.average_queue, bench.kt()), (0.0, 0.0, before), "no queue");
        bench.rtt = Some(Time::from_us(us) + Time::from_ps(1));
        bench.round(1, 0);
        near(bench.kt(), before - 0.5);
        bench.rtt = Some(Time::from_us(us));
        bench.round(1, 0);
        near(bench.kt(), before - 0.5);
    }
    // With any `K_i` above zero, an empty queue is too short.
    let mut bench = sender(SenderSettings { h: 1.0, ideal: f64::MIN_POSITIVE, ..long() }, None, 20.0);
    bench.window_limited = false;
    bench.round(1, 0);
    let before = bench.kt();
    bench.round(1, 0);
    near(bench.kt(), before + 0.5);
}

#[test]
fn algorithm_2_line_25_the_window_changes_once_for_each_window_acknowledged() {
    let mut bench = sender(long(), None, 20.0);
    bench.round(1, 0);
    let before = bench.segments();
    bench.nxt = bench.una + 10 * 1460;
    bench.window_end = bench.nxt - 1460;
    bench.round(9, 0);
    near(bench.segments(), before);
    bench.round(1, 0);
    near(bench.segments(), before + 1.0);
}

#[test]
fn p20_a_flow_takes_its_share_once_it_is_long_and_counted() {
    let mut bench = sender(SenderSettings { direction: Direction::Noop, ..settings() }, None, 20.0);
    bench.window_limited = false;
    // The only long flow at the port is another flow.
    bench.field = Field::new(false, None).through(1, 100).bits();
    bench.round(1, 0);
    assert_eq!(bench.cc.threshold, None, "short");
    bench.window.cwnd = 21.0 * MSS;
    bench.round(1, 0);
    assert!(bench.packet.ect);
    bench.round(1, 0);
    assert_eq!(bench.cc.threshold, None, "the echo is of a packet sent as a short flow");
    bench.field = Field::new(true, None).through(2, 100).bits();
    bench.round(1, 0);
    assert_eq!(bench.cc.threshold, Some(10.0));
}

#[test]
fn p4_the_sum_of_the_thresholds_stays_when_the_number_of_flows_changes() {
    let after = |rescale, flows| {
        let mut bench = sender(SenderSettings { direction: Direction::Noop, rescale, ..long() }, None, 20.0);
        bench.round(1, 0);
        bench.field = Field::new(true, None).through(flows, 100).bits();
        bench.round(1, 0);
        bench.kt()
    };
    near(after(true, 5), 4.0);
    near(after(true, 1), 20.0);
    near(after(false, 5), 10.0);
}

#[test]
fn p8_the_number_of_flows_comes_from_the_switch_or_is_given() {
    let kt = |flows, field| {
        let set = SenderSettings { flows, direction: Direction::Noop, ..long() };
        let mut bench = sender(set, None, 20.0);
        bench.field = field;
        bench.round(1, 0);
        bench.kt()
    };
    let eight = Field::new(true, None).through(8, 100).bits();
    near(kt(FlowCount::Switch, eight), 2.5);
    near(kt(FlowCount::Const(4.0), eight), 5.0);
    near(kt(FlowCount::Oracle, eight), 20.0);
    near(kt(FlowCount::Switch, 0), 20.0);
}

#[test]
fn p4_with_other_scopes_a_threshold_is_the_whole_queues() {
    let set = SenderSettings { scope: Scope::PerFlow, ..long() };
    let (before, after) = moved(set, true);
    near(before - after, 1.0);
    near(sender(set, None, 20.0).kt(), 20.0);
}

#[test]
fn eq_2_alpha_follows_the_share_of_marked_bytes() {
    let mut bench = sender(SenderSettings { alpha0: 0.0, g: 0.5, ..long() }, None, 20.0);
    bench.round(10, 0);
    bench.round(10, 5);
    bench.round(10, 0);
    // The window that ended had nine segments of one round and one of the next.
    assert!((bench.cc.alpha - 0.25).abs() < 0.03, "{}", bench.cc.alpha);
    let before = bench.cc.alpha;
    bench.round(10, 0);
    near(bench.cc.alpha, before / 2.0);
}

#[test]
fn eq_3_and_algorithm_2_lines_26_and_27_a_marked_window_ends_in_a_cut_by_half_of_alpha() {
    let mut bench = sender(SenderSettings { alpha0: 0.5, g: 0.0, ..long() }, None, 20.0);
    bench.window_limited = false;
    bench.round(10, 0);
    bench.round(10, 10);
    // The first acknowledgement of the round, itself marked, ended the window before; the others are one window.
    near(bench.segments(), 15.0);
    bench.round(10, 0);
    near(bench.segments(), 11.25);
    bench.round(10, 0);
    near(bench.segments(), 11.25);
}

#[test]
fn p18_a_marked_window_is_cut_at_its_first_echo_or_at_its_end_and_once() {
    let after = |first_echo, calls: &dyn Fn(&mut TestSender<Sender>)| {
        let mut bench = sender(SenderSettings { alpha0: 0.5, g: 0.0, first_echo, ..long() }, None, 20.0);
        bench.window_limited = false;
        calls(&mut bench);
        bench.segments()
    };
    let echo = |bench: &mut TestSender<Sender>| bench.echo();
    near(after(true, &echo), 15.0);
    near(after(false, &echo), 20.0);
    let window = |bench: &mut TestSender<Sender>| {
        bench.round(1, 0);
        bench.round(10, 10);
    };
    near(after(true, &window), 20.0);
    near(after(false, &window), 15.0);
    // Without an ECN echo, the sender's own marks act at the end of the window.
    let set = SenderSettings { transport: Transport::SenderMark, first_echo: true, ..long() };
    let mut alone = sender(set, None, 20.0);
    alone.echo();
    near(alone.segments(), 20.0);
}

/// The kernel goes to its threshold by itself.
#[test]
fn eq_3_lowers_the_threshold_once_a_window_while_linux_reduces() {
    let mut bench = sender(SenderSettings { alpha0: 0.5, g: 0.0, ..long() }, None, 20.0);
    bench.round(1, 0);
    bench.send(10);
    bench.cwr = Some(Cwr::Continues);
    (bench.window.cwnd, bench.window.ssthresh) = (12.0 * MSS, 16.0 * MSS);
    // The first acknowledgement ends the window before.
    (0..10).for_each(|_| bench.ack(true));
    near(bench.segments(), 12.0);
    near(bench.window.ssthresh, 12.0 * MSS);
}

#[test]
fn eq_3_and_algorithm_2_lines_28_to_32_a_window_without_marks_ends_in_one_segment_more() {
    let mut bench = sender(long(), None, 20.0);
    bench.round(10, 0);
    near(bench.segments(), 21.0);
    bench.round(10, 0);
    near(bench.segments(), 22.0);
    bench.window_limited = false;
    bench.round(10, 0);
    near(bench.segments(), 22.0);
}

#[test]
fn p26_the_window_has_a_floor() {
    let mut bench = sender(long(), None, 20.0);
    (0..50).for_each(|_| bench.round(4, 4));
    near(bench.segments(), 2.0);
}

#[test]
fn p33_slow_start_ends_with_the_first_mark_or_never_begins() {
    let mut bench = sender(SenderSettings { slow_start: true, ..long() }, None, 4.0);
    bench.round(4, 0);
    near(bench.segments(), 8.0);
    bench.round(2, 1);
    let cut = bench.segments();
    assert!(cut < 8.0, "the marked window ends in a cut");
    bench.round(4, 0);
    near(bench.segments(), cut + 1.0);
    let mut none = sender(long(), None, 4.0);
    none.round(4, 0);
    near(none.segments(), 5.0);
    none.nxt = none.una + 20 * 1460;
    near(none.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh, MSS);
}

#[test]
fn short_flows_are_plain_newreno() {
    let mut bench = sender(SenderSettings { slow_start: true, ..settings() }, Some(20_000), 4.0);
    bench.round(4, 0);
    near(bench.segments(), 8.0);
    bench.window.ssthresh = MSS;
    bench.round(8, 0);
    assert!((bench.segments() - 9.0).abs() < 0.1, "one segment in a round trip");
}

#[test]
fn p9_a_sender_may_mark_for_itself() {
    let mut bench = sender(SenderSettings { transport: Transport::SenderMark, alpha0: 1.0, ..long() }, None, 20.0);
    bench.round(1, 0);
    let before = bench.segments();
    bench.round(2, 2);
    assert!(bench.segments() > before, "echoes of switches do not count");
    // A window of 22 segments, three quarters of which wait: more than ten.
    bench.rtt = Some(Time::from_us(400));
    bench.round(3, 0);
    bench.round(3, 0);
    assert!(bench.segments() < before);
}

#[test]
fn algorithm_2_lines_28_to_31_a_window_may_grow_with_each_ack() {
    let mut bench = sender(SenderSettings { grows_each_ack: true, ..long() }, None, 10.0);
    bench.send(10);
    bench.ack(false);
    near(bench.segments(), 10.1);
    bench.ack(false);
    near(bench.segments(), 10.1 + 1.0 / 10.1);
    bench.ack(true);
    bench.ack(false);
    near(bench.segments(), 10.1 + 1.0 / 10.1);
}

#[test]
fn algorithm_2_line_29_lacks_ns3_s_condition_and_grows_with_the_ack_that_repairs_a_timeout() {
    for (grows_each_ack, segments) in [(true, 2.0), (false, 1.0)] {
        let mut bench = sender(SenderSettings { grows_each_ack, ..long() }, None, 1.0);
        bench.window.ssthresh = MSS;
        bench.send(1);
        bench.call(|cc, cx| cc.on_timeout(cx, 1));
        bench.window_limited = false; // so the connection says of this acknowledgement
        bench.ack(false);
        near(bench.segments(), segments);
    }
}

#[test]
fn algorithm_2_lines_26_and_27_a_window_may_be_cut_with_each_ack() {
    let mut bench = sender(SenderSettings { cuts_each_ack: true, min_window: 0.0, ..long() }, None, 16.0);
    bench.send(16);
    bench.ack(false); // ends the empty window of the start
    let before = bench.segments();
    bench.ack(true);
    near(bench.segments(), before * 0.5);
    bench.ack(false);
    near(bench.segments(), before * 0.5 * 0.75);
}

#[test]
fn ns3_offers_smoothed_round_trip_times_only() {
    for (rtt, least) in [(RttOf::Mean, RTT), (RttOf::Ns3, Time::from_us(500))] {
        let mut bench = sender(SenderSettings { rtt, ..long() }, None, 10.0);
        bench.send(10);
        bench.ack(false);
        assert_eq!(bench.cc.rtt_min, least);
    }
}
