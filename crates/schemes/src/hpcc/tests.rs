//! HPCC against the clauses of its paper.

use super::*;
use crate::test_sender::{MSS, TestSender};
use fanin_core::ids::NodeId;
use fanin_core::units::Rate;

const US: fn(u64) -> Time = Time::from_us;
/// A link of 8 Gbit/s sends 1000 bytes in a microsecond.
const RATE: Rate = Rate::from_bps(8_000_000_000);

/// Packets without headers on a path with T = 20 us, so that `W_init` is 20 of them.
fn facts() -> FlowFacts {
    FlowFacts { base_rtt: US(18), ..FlowFacts::of_any(MSS as u64, RATE) }
}

fn config(params: &[(&str, &str)]) -> Config {
    Config::new(&params.iter().fold(Values::defaults(&[PARAMS]), |values, (key, value)| values.with(key, value)))
}

/// Without an increase to speak of, unless a test sets it.
fn bench(params: &[(&str, &str)]) -> TestSender<Hpcc> {
    let plain = [&[("increase", "1B"), ("in-flight", "fits")], params].concat();
    TestSender::new(Hpcc::new(config(&plain), &facts()), 10.0)
}

/// One link that sends from 0 on with the share `used` of its rate, at `at`, with a queue of `queued` bytes.
fn hop(at: u64, used: f64, queued: u64) -> Hop {
    Hop { at: US(at), sent: (used * 1000.0 * at as f64) as u64, queued, rate: RATE }
}

/// A stack of hops of the switches 1, 2 and so on.
fn stack(hops: &[Hop]) -> Telemetry {
    let mut stack = Telemetry::default();
    for (i, hop) in hops.iter().enumerate() {
        stack.push(NodeId::new(1 + i), *hop);
    }
    stack
}

impl TestSender<Hpcc> {
    /// An acknowledgement brings these hops.
    fn hears(&mut self, hops: &[Hop]) {
        self.call(|cc, cx| cc.on_telemetry(cx, &stack(hops)));
    }
    /// The first round trip is over, and said that the path is full; another one has begun with the number 1000.
    fn begun(mut self) -> Self {
        self.nxt = 1000;
        self.una = 1;
        self.hears(&[hop(0, 1.0, 0)]);
        self
    }
    /// A round trip of T in which one link was used so much.
    fn round_trip(&mut self, used: f64) {
        let before = self.cc.last.map_or(hop(0, 0.0, 0), |stack| stack.hops()[0]);
        self.una = self.nxt + 1;
        self.nxt += 1000;
        let sent = before.sent + (used * 20_000.0) as u64;
        self.hears(&[Hop { at: before.at + US(20), sent, ..before }]);
    }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 2e-4 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn a_flow_begins_with_what_its_link_carries_in_a_round_trip() {
    let bench = bench(&[]);
    near(bench.segments(), 20.0);
    assert_eq!(bench.packet.gap, US(1), "at the rate of the link");
}

#[test]
fn t_is_propagation_and_a_packet_and_its_acknowledgement_on_each_link() {
    let flow = FlowFacts { packet: MSS as u64 + 100, hops: 2, ..facts() };
    assert_eq!(config(&[]).base_rtt(&flow), Time::from_ns(18_000 + 3 * 1200));
    assert_eq!(config(&[("base-rtt", "13us")]).base_rtt(&flow), US(13));
}

#[test]
fn the_first_acknowledgement_gives_only_the_stack_before_the_next() {
    let mut bench = bench(&[]);
    bench.hears(&[hop(5, 1.0, 40_000)]);
    near(bench.segments(), 20.0);
    assert_eq!(bench.cc.utilisation, 1.0);
}

#[test]
fn a_link_is_used_by_its_traffic_and_by_the_lesser_queue_per_round_trip() {
    let mut bench = bench(&[]).begun();
    bench.hears(&[Hop { queued: 4000, ..hop(10, 0.5, 0) }]);
    near(bench.cc.utilisation, 0.5 * 1.0 + 0.5 * 0.5);
    let before = bench.cc.utilisation;
    // 5000 bytes in 10 us, and 2000 of the 20000 of T.
    bench.hears(&[Hop { queued: 2000, ..hop(20, 0.5, 0) }]);
    near(bench.cc.utilisation, 0.5 * before + 0.5 * (0.5 + 0.1));
}

#[test]
fn a_queue_counts_by_the_rate_of_its_link() {
    let mut bench = bench(&[]).begun();
    bench.cc.last = Some(stack(&[Hop { queued: 4000, ..hop(0, 0.0, 0) }]));
    let faster = Rate::from_bps(16_000_000_000);
    bench.hears(&[Hop { queued: 4000, rate: faster, ..hop(20, 0.0, 0) }]);
    near(bench.cc.utilisation, 0.1);
}

#[test]
fn the_most_used_link_counts_with_its_time() {
    let mut bench = bench(&[]);
    bench.hears(&[hop(0, 0.0, 0), hop(0, 0.0, 0), hop(0, 0.0, 0)]);
    bench.hears(&[hop(20, 0.3, 0), hop(10, 0.8, 0), hop(20, 0.6, 0)]);
    near(bench.cc.utilisation, 0.5 * 1.0 + 0.5 * 0.8);
}

#[test]
fn no_measurement_counts_for_more_than_a_round_trip() {
    let mut bench = bench(&[]).begun();
    bench.hears(&[hop(60, 0.5, 0)]);
    near(bench.cc.utilisation, 0.5);
}

#[test]
fn packets_of_one_instant_measure_nothing() {
    let mut bench = bench(&[]).begun();
    bench.hears(&[hop(0, 0.5, 0)]);
    assert_eq!(bench.cc.utilisation, 1.0);
}

#[test]
fn above_eta_the_window_is_divided_by_the_excess() {
    let mut bench = bench(&[("increase", "100B")]).begun();
    bench.round_trip(1.5);
    near(bench.cc.window, 20_000.0 / (1.5 / 0.95) + 100.0);
    near(bench.segments(), bench.cc.window / MSS);
    let gap = bench.packet.gap.secs();
    near(gap * 1e6, 20.0 * MSS / bench.cc.window);
}

#[test]
fn below_eta_it_grows_by_the_increase_for_max_stage_round_trips_and_then_with_the_gap() {
    let mut bench = bench(&[("increase", "100B"), ("max-stage", "3")]).begun();
    bench.round_trip(2.0);
    let mut expected = 20_000.0 / (2.0 / 0.95) + 100.0;
    near(bench.cc.window, expected);
    for _ in 0..3 {
        bench.round_trip(0.9);
        expected += 100.0;
        near(bench.cc.window, expected);
    }
    bench.round_trip(0.9);
    expected = expected / (0.9 / 0.95) + 100.0;
    near(bench.cc.window, expected);
    bench.round_trip(0.9);
    near(bench.cc.window, expected + 100.0);
}

#[test]
fn a_decrease_begins_the_stages_anew() {
    let mut bench = bench(&[("max-stage", "2")]).begun();
    for used in [0.9, 0.9, 1.0] {
        bench.round_trip(used);
    }
    assert_eq!(bench.cc.stage, 0);
    bench.round_trip(0.9);
    assert_eq!(bench.cc.stage, 1);
}

#[test]
fn acknowledgements_of_one_round_trip_start_from_one_reference_window() {
    let mut bench = bench(&[]).begun();
    bench.round_trip(2.0);
    let reference = bench.cc.reference;
    for at in [40, 60, 80] {
        // What was outstanding at the last update is not acknowledged yet.
        bench.una = bench.cc.updated;
        bench.hears(&[Hop { at: US(at), sent: 2000 * at, ..hop(0, 0.0, 0) }]);
        near(bench.cc.window, reference / (2.0 / 0.95) + 1.0);
        assert_eq!((bench.cc.reference, bench.cc.stage), (reference, 0));
    }
    bench.nxt += 1000;
    bench.una += 1;
    bench.hears(&[Hop { at: US(100), sent: 200_000, ..hop(0, 0.0, 0) }]);
    assert!(bench.cc.reference < 0.5 * reference);
}

#[test]
fn no_window_is_above_the_first() {
    let mut bench = bench(&[("max-stage", "0")]).begun();
    bench.round_trip(0.1);
    near(bench.cc.window, 20_000.0);
    near(bench.cc.reference, 20_000.0);
}

#[test]
fn a_new_path_begins_anew() {
    let mut bench = bench(&[]).begun();
    bench.una = bench.nxt;
    bench.hears(&[hop(20, 1.0, 90_000), hop(20, 1.0, 90_000)]);
    assert_eq!((bench.cc.utilisation, bench.cc.window), (1.0, 20_000.0));
    assert_eq!(bench.cc.last.unwrap().hops().len(), 2);
}

#[test]
fn a_segment_may_reach_beyond_the_window_and_one_may_always_fly() {
    let segments = |window: f64, rule: &str| {
        let mut bench = bench(&[("in-flight", rule)]);
        bench.cc.window = window;
        bench.call(|cc, cx| cc.apply(cx)) / MSS
    };
    assert_eq!([segments(2500.0, "reaches"), segments(2500.0, "fits")], [3.0, 2.5]);
    assert_eq!([segments(100.0, "reaches"), segments(100.0, "fits")], [1.0, 1.0]);
}

#[test]
fn a_window_below_a_packet_is_a_longer_pause() {
    let mut bench = bench(&[]);
    bench.cc.window = 100.0;
    bench.call(|cc, cx| cc.apply(cx));
    assert_eq!(bench.packet.gap, US(200));
}

#[test]
fn losses_leave_the_window_unless_they_shall_not() {
    for (share, left) in [("0%", 20.0), ("25%", 15.0)] {
        let mut lost = bench(&[("loss-decrease", share)]);
        let cut = lost.call(CongestionControl::on_loss);
        near(cut.cwnd.unwrap(), left * MSS);
        near(lost.cc.reference, left * MSS);
        let mut late = bench(&[("loss-decrease", share)]);
        near(late.call(|cc, cx| cc.on_timeout(cx, 1)).cwnd.unwrap(), left * MSS);
    }
}

#[test]
fn windows_count_bytes_on_the_wire() {
    let flow = FlowFacts { packet: MSS as u64 + 250, ..facts() };
    let cc = Hpcc::new(config(&[("base-rtt", "20us"), ("in-flight", "fits")]), &flow);
    near(TestSender::new(cc, 10.0).segments(), 20_000.0 / 1250.0);
}
