//! Where the TCP of RCC's authors, on ns-3.18, departs from the RFCs.

use super::*;

const NS3_18: SenderConfig = SenderConfig { quirks: Quirks::NS3_18_RDTCP, ..CFG };

#[test]
fn new_data_goes_before_the_next_hole_on_a_partial_acknowledgement() {
    let mut bench = recovering(&NS3_18);
    bench.dup_acks(6);
    bench.sent();
    bench.ack(301);
    bench.expect("1401:1501 301:401R");
    bench.expect_cwnd(1400.0 - 300.0 + 100.0);
}

#[test]
fn what_was_in_flight_before_a_full_acknowledgement_bounds_the_window_which_grows() {
    for (cfg, cwnd) in [(&CFG, 200.0), (&NS3_18, 500.0 + 100.0 * 100.0 / 500.0)] {
        let mut bench = recovering(cfg);
        bench.ack(1001);
        assert!(!bench.sender.in_recovery());
        bench.expect_cwnd(cwnd);
        assert_eq!(bench.sender.duplicate_acks(), 0);
    }
}

#[test]
fn the_window_after_recovery_is_a_segment_more_than_was_in_flight() {
    let mut bench = recovering(&NS3_18);
    bench.ack(901); // one segment is left
    bench.ack(1001);
    bench.expect_cwnd(100.0 + 100.0 + 100.0); // slow start, below the threshold of five
}

#[test]
fn no_window_grows_on_a_partial_acknowledgement() {
    let mut bench = recovering(&NS3_18);
    bench.ack(501);
    assert!(bench.sender.in_recovery());
    bench.expect_cwnd(800.0 - 500.0 + 100.0);
}

#[test]
fn the_end_of_recovery_with_sack_grows_no_window() {
    let mut bench = Bench::flying(10, &SenderConfig { sack: true, ..NS3_18 });
    bench.sack(&[(101, 401)]);
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc3782_s4_slow_but_steady_restarts_the_timer_on_every_partial_acknowledgement() {
    assert_eq!(recovering(&NS3_18).timeout_after_acks([101, 201, 301]), ms(1300));
}

#[test]
fn any_three_duplicates_after_a_timeout_count() {
    assert!(sent_after_timeout(&NS3_18, 101).starts_with("101:201R"));
    assert!(sent_after_timeout(&NS3_18, 1001).starts_with("1001:1101R"));
}

#[test]
fn a_further_timeout_halves_what_was_sent_at_the_highest() {
    assert_eq!(threshold_after_two_timeouts(&CFG), 500.0, "RFC 5681 s3.1");
    let mut bench = Bench::flying(10, &NS3_18);
    bench.expire_timer();
    bench.window = 600;
    bench.ack(201); // 800 were sent before
    bench.expire_timer();
    bench.expire_timer();
    bench.expect_ssthresh(400.0);
}

#[test]
fn a_window_of_32_bits_wraps_below_zero_and_back() {
    let mut bench = recovering(&NS3_18);
    bench.window = 3000;
    bench.ack(951); // 800 - 950 + 100
    bench.expect_cwnd(4_294_967_296.0 - 50.0);
    assert!(bench.sent().ends_with("3801:3901 951:1051R"), "only the peer's window limits the sender");
    bench.dup_acks(1);
    bench.expect_cwnd(50.0);
}

#[test]
fn a_window_that_wraps_may_be_zero_until_the_next_duplicate() {
    let mut bench = recovering(&NS3_18);
    bench.window = 3000;
    bench.ack(901); // 800 - 900 + 100
    bench.expect_cwnd(0.0);
    bench.expect("901:1001R"); // nothing but the next hole
    bench.dup_acks(1);
    bench.expect_cwnd(100.0);
}

#[test]
fn windows_of_whole_bytes_lose_what_is_left_of_one() {
    for (cfg, cwnd) in [(&CFG, 300.0 + 100.0 * 100.0 / 300.0), (&NS3_18, 333.0)] {
        let mut bench = Bench::open(SenderConfig { initial_window: 300, initial_ssthresh: 300, ..cfg.clone() });
        bench.ack(101); // congestion avoidance: 33.3 bytes
        bench.expect_cwnd(cwnd);
    }
}

#[test]
fn nothing_that_was_ever_sent_again_is_timed() {
    assert_eq!(rtt_after_timeout(&CFG), Some(ms(5)), "the cause is the first transmission");
    assert_eq!(rtt_after_timeout(&NS3_18), None);
}

#[test]
fn recovery_starts_with_the_retransmission_alone() {
    for (cfg, sent) in [(&CFG, "1:101R 401:501"), (&NS3_18, "1:101R")] {
        let mut bench = Bench::flying(4, cfg);
        bench.dup_acks(3); // the window is 200 + 300
        bench.expect(sent);
    }
    let mut bench = Bench::flying(4, &NS3_18);
    bench.dup_acks(4);
    bench.expect("1:101R 401:501 501:601");
}
