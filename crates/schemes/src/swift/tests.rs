//! Swift against the clauses of its paper.

use super::*;
use crate::test_sender::{MSS, TestSender};
use fanin_core::roles::{Delay, HostDelay};
use fanin_core::units::Rate;

const US: fn(u64) -> Time = Time::from_us;

fn config(params: &[(&str, &str)]) -> Config {
    Config::new(&params.iter().fold(Values::defaults(&[PARAMS]), |values, (key, value)| values.with(key, value)))
}

/// A sender with a smoothed round trip of 50 us on a path whose target is 50 us.
fn bench(segments: f64, params: &[(&str, &str)]) -> TestSender<Swift> {
    let mut bench = TestSender::new(Swift::new(config(params), 50e6), segments);
    bench.srtt = Some(US(50));
    bench.now = US(1000);
    bench
}

/// Without flow scaling.
const FLAT: (&str, &str) = ("flow-range", "0s");

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn below_the_target_the_window_grows_by_a_segment_in_a_round_trip() {
    let mut bench = bench(10.0, &[]);
    bench.rtt = Some(US(20));
    bench.round(10, 0);
    assert!((10.9..11.01).contains(&bench.segments()), "{}", bench.segments());
}

#[test]
fn below_one_segment_it_grows_by_a_segment_for_each() {
    let mut bench = bench(1.0, &[("increase", "0.25")]);
    bench.cc.both(|window| window.segments = 0.5);
    bench.rtt = Some(US(20));
    bench.round(1, 0);
    near(bench.cc.segments(), 0.75);
}

#[test]
fn above_the_target_it_shrinks_once_in_a_round_trip_by_the_excess() {
    let mut bench = bench(10.0, &[FLAT]);
    bench.rtt = Some(US(80));
    bench.round(10, 0);
    near(bench.segments(), 10.0 * (1.0 - 0.8 * 30.0 / 80.0));
    bench.now += US(49);
    bench.round(1, 0);
    near(bench.segments(), 7.0);
    bench.now += US(1);
    bench.round(7, 0);
    near(bench.segments(), 4.9);
}

#[test]
fn no_decrease_is_larger_than_max_mdf() {
    let mut bench = bench(10.0, &[]);
    bench.rtt = Some(Time::from_ms(8));
    bench.round(1, 0);
    near(bench.segments(), 5.0);
}

#[test]
fn the_printed_clock_of_decreases_never_lets_a_stream_above_the_target_shrink_again() {
    let shrunk = |clock: &str| {
        let mut bench = bench(16.0, &[FLAT, ("decrease-clock", clock)]);
        bench.rtt = Some(Time::from_ms(8));
        for _ in 0..20 {
            bench.round(1, 0);
            bench.now += US(10);
        }
        bench.segments()
    };
    near(shrunk("no-growth"), 8.0);
    near(shrunk("decrease"), 1.0);
}

#[test]
fn below_one_segment_packets_are_paced_a_round_trip_over_the_window_apart() {
    let mut bench = bench(1.0, &[FLAT]);
    bench.rtt = Some(Time::from_ms(8));
    bench.round(1, 0);
    near(bench.cc.segments(), 0.5);
    near(bench.window.cwnd, MSS);
    assert_eq!(bench.packet.gap, US(100));
    bench.rtt = Some(US(10));
    bench.round(1, 0);
    near(bench.cc.segments(), 1.5);
    assert_eq!((bench.packet.gap, bench.window.cwnd), (Time::ZERO, 1.5 * MSS));
}

#[test]
fn windows_stay_between_the_smallest_and_the_largest() {
    let mut bench = bench(2.0, &[("max-window", "3"), ("min-window", "0.5")]);
    bench.rtt = Some(US(10));
    (0..9).for_each(|_| bench.round(2, 0));
    near(bench.segments(), 3.0);
    bench.rtt = Some(Time::from_ms(9));
    for _ in 0..9 {
        bench.now += US(50);
        bench.round(1, 0);
    }
    near(bench.cc.segments(), 0.5);
}

#[test]
fn the_target_is_higher_for_longer_paths_and_smaller_windows() {
    let config = config(&[]);
    // 15 us each way for a full packet of 1500 bytes at 1 Gbit/s over three links, in 2 hops.
    let flow =
        FlowFacts { hops: 2, base_rtt: US(30), packet: 1500, ..FlowFacts::of_any(1460, Rate::from_bps(1_000_000_000)) };
    near(config.path_target(&flow), 20e6 + 2.0 * 3e6 + 30e6 + 3.0 * 12e6);
    near(Config { distance: false, ..config }.path_target(&flow), 26e6);
    near(config.share(0.1), 100e6);
    near(config.share(0.01), 100e6);
    near(config.share(100.0), 0.0);
    near(config.share(1000.0), 0.0);
    let (low, high) = (0.1_f64.sqrt().recip(), 0.1);
    near(config.share(1.0), 100e6 * (1.0 - high) / (low - high));
}

#[test]
fn the_lesser_of_the_windows_for_fabric_and_hosts_counts() {
    let after = |hosts: Time| {
        let mut bench = bench(10.0, &[FLAT, ("host-target", "40us")]);
        let rtt = US(30) + hosts;
        bench.delay = Some(Delay { rtt, hosts: HostDelay { remote: hosts, local: Time::ZERO } });
        bench.round(1, 0);
        (bench.cc.fabric.segments, bench.cc.hosts.segments, bench.segments())
    };
    let (fabric, hosts, both) = after(US(80));
    near(fabric, 10.1);
    near(hosts, 10.0 * (1.0 - 0.8 * 40.0 / 80.0));
    near(both, hosts);
    let (_, hosts, both) = after(US(20));
    near(hosts, 10.1);
    near(both, 10.1);
}

#[test]
fn a_fast_retransmit_shrinks_the_window_once_in_a_round_trip_and_keeps_it_from_recovery() {
    let mut bench = bench(10.0, &[]);
    let cut = bench.call(CongestionControl::on_loss);
    assert_eq!(cut, Cut::window(5.0 * MSS));
    bench.now += US(20);
    assert_eq!(bench.call(CongestionControl::on_loss), Cut::window(5.0 * MSS));
}

#[test]
fn timeouts_in_a_row_shrink_it_and_then_reset_it() {
    let mut bench = bench(64.0, &[("reset-after", "3")]);
    for (times, left) in [(1, 32.0), (2, 16.0), (3, 0.01), (1, 0.01)] {
        bench.now += Time::from_ms(1);
        bench.call(|cc, cx| cc.on_timeout(cx, times));
        near(bench.cc.segments(), left);
    }
    near(bench.window.cwnd, MSS);
    assert_eq!(bench.packet.gap, Time::from_ms(5));
}

#[test]
fn acknowledgements_that_report_nothing_change_nothing() {
    let mut bench = bench(10.0, &[]);
    bench.send(1);
    bench.ack(false);
    near(bench.segments(), 10.0);
}
