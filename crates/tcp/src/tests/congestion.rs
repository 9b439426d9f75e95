//! RFC 5681: slow start, congestion avoidance, duplicate acknowledgements, timeouts, idle periods.

use super::*;
use fanin_core::roles::{AckEvent, SenderCx};
use std::sync::{Arc, Mutex};

#[test]
fn rfc5681_s3_1_slow_start_adds_what_is_acknowledged_up_to_one_segment() {
    let mut bench = Bench::open(CFG);
    bench.ack(61);
    bench.expect_cwnd(1060.0);
    bench.ack(401);
    bench.expect_cwnd(1160.0);
}

#[test]
fn rfc5681_s3_1_slow_start_sends_two_segments_for_each_acknowledged() {
    let mut bench = Bench::open(CFG);
    bench.ack(101);
    bench.expect("1001:1101 1101:1201");
}

#[test]
fn rfc5681_s3_1_congestion_avoidance_adds_a_segment_per_window() {
    let mut bench = Bench::flying(10, &CFG);
    bench.ack(101);
    bench.expect_cwnd(1010.0);
    bench.expect("1001:1101");
    bench.ack(301); // equation 3 counts acknowledgements, not bytes
    bench.expect_cwnd(1010.0 + 10_000.0 / 1010.0);
}

#[test]
fn rfc5681_s3_1_slow_start_ends_at_the_threshold() {
    let mut bench = Bench::open(SenderConfig { initial_ssthresh: 1100, ..CFG });
    bench.ack(101);
    bench.expect_cwnd(1100.0);
    bench.ack(201);
    bench.expect_cwnd(1100.0 + 10_000.0 / 1100.0);
}

#[test]
fn rfc5681_s3_1_no_window_is_below_one_segment() {
    let mut bench = Bench::open(SenderConfig { initial_window: 30, ..CFG });
    bench.ack(101);
    bench.expect("101:201");
}

#[test]
fn rfc5681_s3_2_the_third_duplicate_starts_fast_retransmit() {
    let mut bench = Bench::flying(10, &CFG);
    bench.dup_acks(2);
    bench.expect_nothing();
    bench.expect_cwnd(1000.0);
    bench.dup_acks(1);
    bench.expect("1:101R");
    bench.expect_ssthresh(500.0);
    bench.expect_cwnd(800.0);
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc5681_s3_2_the_number_of_duplicates_is_a_parameter() {
    let mut bench = Bench::flying(10, &SenderConfig { duplicate_ack_threshold: 5, ..CFG });
    bench.dup_acks(4);
    bench.expect_nothing();
    bench.dup_acks(1);
    bench.expect("1:101R");
    bench.expect_cwnd(1000.0);
}

#[test]
fn rfc5681_s3_1_equation_4_halves_what_is_outstanding_not_the_window() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 2000, ..CFG }, Some(1000), false);
    bench.adopt();
    bench.dup_acks(3);
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc5681_s3_1_equation_4_leaves_two_segments() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 2000, ..CFG }, Some(300), false);
    bench.adopt();
    bench.dup_acks(3);
    bench.expect_ssthresh(200.0);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc5681_s3_2_each_further_duplicate_inflates_the_window_and_may_let_new_data_out() {
    let mut bench = Bench::flying(10, &CFG);
    bench.dup_acks(5);
    bench.expect("1:101R");
    bench.expect_cwnd(1000.0);
    bench.dup_acks(1);
    bench.expect_cwnd(1100.0);
    bench.expect("1001:1101");
}

#[test]
fn rfc5681_s2_without_data_outstanding_there_are_no_duplicates() {
    let mut bench = Bench::open(CFG);
    bench.window = 0;
    bench.ack(1001);
    bench.dup_acks(4);
    assert_eq!(bench.sender.duplicate_acks(), 0);
    assert!(!bench.sender.in_recovery());
}

#[test]
fn rfc5681_s2_an_acknowledgement_with_another_window_is_no_duplicate() {
    let mut bench = Bench::flying(10, &CFG);
    bench.dup_acks(2);
    bench.window += 100;
    bench.dup_acks(1);
    bench.expect_nothing();
    bench.dup_acks(1);
    bench.expect("1:101R");
}

#[test]
fn rfc5681_s2_new_data_starts_the_count_anew() {
    let mut bench = Bench::flying(10, &CFG);
    bench.dup_acks(2);
    bench.ack(101);
    bench.sent();
    bench.dup_acks(2);
    bench.expect_nothing();
}

#[test]
fn rfc5681_s3_1_a_timeout_leaves_one_segment_of_window() {
    let mut bench = Bench::flying(10, &CFG);
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("1:101R");
    bench.expect_cwnd(100.0);
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc5681_s3_1_the_threshold_is_held_when_the_same_segment_times_out_again() {
    for backoff_limit in [0, 6] {
        let rto = RtoConfig { backoff_limit, ..CFG.rto };
        let mut bench = Bench::flying(10, &SenderConfig { rto, ..CFG });
        bench.expire_timer();
        bench.expire_timer();
        bench.expect("1:101R 1:101R");
        bench.expect_ssthresh(500.0);
    }
}

#[test]
fn rfc5681_s3_1_the_threshold_is_set_when_another_segment_times_out_though_still_backed_off() {
    let mut bench = Bench::flying(10, &CFG);
    bench.expire_timer();
    bench.ack(1001); // no sample: Karn
    bench.ack(1101);
    bench.ack(1201);
    bench.expire_timer();
    bench.expect_ssthresh(200.0);
    bench.expect_cwnd(100.0);
}

#[test]
fn rfc5681_s3_1_a_lost_syn_leaves_an_initial_window_of_one_segment() {
    let mut bench = Bench::closed(CFG, None, false);
    bench.connect();
    bench.expire_timer();
    bench.syn_ack(Flags::NONE);
    bench.expect("0:0S 0:0SR 1:1 1:101");
}

/// An open connection that has sent and got acknowledged eleven segments, in a window of twenty.
fn idle(cfg: SenderConfig, span: Time) -> Bench {
    let mut bench = Bench::closed(cfg, Some(1000), false);
    bench.adopt();
    for segment in 1..=10 {
        bench.ack(1 + 100 * segment);
    }
    bench.push_data(100);
    bench.ack(1101);
    bench.sent();
    bench.wait(span);
    bench
}

#[test]
fn rfc5681_s4_1_a_window_idle_for_a_timeout_falls_back_to_the_initial_one() {
    let mut bench = idle(CFG, ms(1000) + Time::from_ps(1));
    bench.push_data(10_000);
    assert_eq!(bench.sent().split(' ').count(), 10);
    bench.expect_cwnd(1000.0);
}

#[test]
fn rfc5681_s4_1_a_window_idle_for_no_longer_stays() {
    let mut bench = idle(CFG, ms(1000));
    bench.push_data(10_000);
    // Ten segments were outstanding at most, so slow start took the window to twenty.
    assert_eq!(bench.sent().split(' ').count(), 20);
}

#[test]
fn rfc5681_s4_1_the_fallback_is_a_parameter() {
    let mut bench = idle(SenderConfig { idle_restart: false, ..CFG }, ms(10_000));
    bench.push_data(10_000);
    // Ten segments were outstanding at most, so slow start took the window to twenty.
    assert_eq!(bench.sent().split(' ').count(), 20);
}

#[test]
fn rfc5681_s4_1_idleness_never_opens_a_window() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 100, ..CFG }, Some(100), false);
    bench.adopt();
    bench.cfg.initial_window = 1000;
    bench.expire_timer();
    bench.ack(101);
    bench.wait(ms(10_000));
    bench.push_data(100);
    bench.expect_cwnd(200.0);
}

#[test]
fn rfc5681_s4_1_a_connection_with_data_in_flight_is_not_idle() {
    let mut bench = Bench::closed(CFG, Some(1000), false);
    bench.adopt();
    for segment in 1..=9 {
        bench.ack(1 + 100 * segment);
    }
    bench.wait(ms(999));
    bench.cfg.rto.initial = ms(1);
    bench.push_data(10_000);
    bench.expect_cwnd(1900.0);
}

#[test]
fn rfc7661_s4_3_a_window_that_the_peer_limits_stops_growing() {
    // Twenty segments are outstanding when the peer limits the sender to ten: slow start ends at twice twenty, and
    // without validation it does not end.
    let grown = |cfg: SenderConfig| {
        let mut bench = idle(cfg, Time::ZERO);
        bench.push_data(1_000_000);
        bench.sent();
        for segment in 12..200 {
            bench.window = 1000;
            bench.ack(1 + 100 * segment);
        }
        bench.sender.window().cwnd
    };
    assert!(grown(CFG) <= 4000.0, "{}", grown(CFG));
    assert!(grown(SenderConfig { window_validation: false, ..CFG }) > 10_000.0);
}

/// Keeps its window, and notes the acknowledgement numbers that end a window of data.
struct Ends(Arc<Mutex<Vec<u64>>>);

impl CongestionControl for Ends {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if ack.ends_window {
            self.0.lock().expect("one thread").push(cx.una);
        }
    }
}

#[test]
fn rfc8257_s3_3_a_window_of_data_ends_once_per_round_trip_and_begins_anew_after_a_timeout() {
    let ends = Arc::<Mutex<Vec<u64>>>::default();
    let mut bench = Bench::with(CFG, Box::new(Ends(Arc::clone(&ends))), EcnMode::Off, None, false);
    bench.adopt();
    let taken = |ends: &Arc<Mutex<Vec<u64>>>| std::mem::take(&mut *ends.lock().expect("one thread"));
    (1..=25).for_each(|segment| bench.ack(100 * segment + 1));
    // The first acknowledgement finds 1001 sent next; ten segments are outstanding from then on.
    assert_eq!(taken(&ends), [101, 1101, 2101]);
    bench.dup_acks(2);
    assert_eq!(taken(&ends), [0; 0], "a duplicate ends nothing");
    // Going back, one segment is outstanding: its acknowledgement is within the window that was under way.
    bench.expire_timer();
    bench.ack(2601);
    bench.ack(3001);
    assert_eq!(taken(&ends), [0; 0]);
    bench.ack(3101);
    assert_eq!(taken(&ends), [3101]);
}
