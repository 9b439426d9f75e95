//! RFC 8985, section 7: tail loss probes.

use super::*;
use crate::sender::RackConfig;
use crate::tlp::ProbeConfig;

const PROBING: SenderConfig = SenderConfig {
    sack: true,
    rack: Some(RackConfig {
        probe: Some(ProbeConfig { max_ack_delay: ms(50), margin: Time::ZERO, tick: Time::ZERO }),
        proportional: false,
    }),
    ..CFG
};

/// Segments of a transfer that ends with them, acknowledged up to the last `left`, with a round trip of 10 ms.
fn tail(left: u64) -> Bench {
    let mut bench = Bench::closed(PROBING, Some(1000), false);
    bench.rtt = Some(ms(10));
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(1001 - 100 * left);
    bench.sent();
    bench
}

#[test]
fn rfc8985_s7_2_a_probe_leaves_after_two_round_trips() {
    let mut bench = tail(3);
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    assert_eq!(bench.now, ms(30));
    bench.expect("901:1001R");
}

#[test]
fn a_sender_that_knows_its_open_path_probes_its_first_window_after_two_round_trips_of_it() {
    let mut bench = Bench::closed(PROBING, Some(300), false);
    bench.sender.know_open_path(ms(10));
    bench.adopt();
    bench.sent();
    assert_eq!(bench.timer_runs(), ms(20));
    bench.expect("201:301R");
    assert_eq!(bench.sender.least_rtt(), Some(ms(10)));
}

#[test]
fn rfc8985_s7_2_a_single_segment_waits_for_a_delayed_acknowledgement() {
    let mut bench = tail(1);
    assert_eq!(bench.timer_runs(), ms(70));
    bench.expect("901:1001R");
}

#[test]
fn rfc8985_s7_2_a_probe_never_waits_longer_than_the_retransmission_timer() {
    let mut bench = tail(1);
    let slow = ProbeConfig { max_ack_delay: ms(500), margin: Time::ZERO, tick: Time::ZERO };
    bench.cfg.rack = Some(RackConfig { probe: Some(slow), proportional: false });
    bench.wait(ms(1));
    bench.push_data(100);
    bench.ack(1001);
    bench.sent();
    assert_eq!(bench.timer_runs(), ms(200), "the least timeout");
    bench.expect("1001:1101R");
}

#[test]
fn rfc8985_s7_2_no_probe_where_the_receiver_has_reported() {
    let mut bench = tail(3);
    bench.sack(&[(801, 901)]);
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    bench.expect("701:801R");
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout, "and none in recovery");
}

#[test]
fn rfc8985_s7_3_new_data_is_the_probe_whatever_the_window() {
    let mut bench = Bench::open(PROBING);
    bench.rtt = Some(ms(10));
    bench.wait(ms(10));
    bench.ack(101);
    bench.expect("1001:1101 1101:1201");
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    bench.expect("1201:1301");
}

#[test]
fn rfc8985_s7_3_the_retransmission_timer_follows_a_probe() {
    let mut bench = tail(3);
    bench.expire_timer();
    bench.sent();
    assert_eq!(bench.timer_runs(), ms(200));
    bench.expect("701:801R");
    bench.expect_cwnd(100.0);
}

#[test]
fn rfc8985_s7_4_1_the_answer_to_a_probe_shows_the_losses_before_it() {
    let mut bench = tail(3);
    bench.expire_timer();
    bench.sent();
    bench.wait(ms(10));
    bench.sack(&[(901, 1001)]); // 701:901 went 20 ms before the probe
    bench.expect("701:801R 801:901R");
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc8985_s7_4_2_a_loss_that_a_probe_has_repaired_reduces_the_window() {
    let mut bench = tail(2);
    let before = bench.sender.window().cwnd;
    bench.expire_timer();
    bench.wait(ms(10));
    bench.receive(1001, Flags::RETRANSMITTED, &[]);
    bench.push_data(100);
    bench.wait(ms(10));
    bench.ack(1101);
    assert!(bench.sender.window().cwnd < before, "{}", bench.sender.window().cwnd);
}

#[test]
fn rfc8985_s7_4_2_a_probe_that_was_not_needed_does_not() {
    let mut bench = tail(2);
    let before = bench.sender.window().cwnd;
    bench.expire_timer();
    bench.wait(ms(1));
    bench.ack(1001); // the originals were late
    bench.push_data(200);
    bench.wait(ms(9));
    bench.ack(1001); // the duplicate of the probe
    bench.wait(ms(1));
    bench.ack(1201);
    assert!(bench.sender.window().cwnd >= before);
}

#[test]
fn without_probes_a_tail_waits_for_the_timer() {
    let mut bench = Bench::closed(PROBING, Some(1000), false);
    bench.cfg.rack = Some(RackConfig { probe: None, proportional: false });
    bench.rtt = Some(ms(10));
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(701);
    assert_eq!(bench.timer_runs(), ms(200));
}
