//! RFC 6582 (NewReno), RFC 3042 (limited transmit), and RCC's request for a retransmission.

use super::*;

#[test]
fn rfc6582_s3_2_a_partial_acknowledgement_retransmits_and_deflates() {
    let mut bench = recovering(&CFG);
    bench.dup_acks(6); // cwnd 1400: 1001..1401 leave
    bench.expect("1001:1101 1101:1201 1201:1301 1301:1401");
    bench.ack(301);
    bench.expect("301:401R 1401:1501");
    bench.expect_cwnd(1400.0 - 300.0 + 100.0);
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc6582_s3_2_a_partial_acknowledgement_of_less_than_a_segment_adds_none_back() {
    let mut bench = recovering(&CFG);
    bench.ack(51);
    bench.expect_cwnd(750.0);
    bench.expect("51:151R");
}

#[test]
fn rfc6582_s3_2_a_deflated_window_keeps_one_segment() {
    let mut bench = recovering(&CFG);
    bench.ack(951);
    bench.expect_cwnd(100.0);
}

#[test]
fn rfc6582_s3_2_a_full_acknowledgement_ends_recovery_without_a_burst() {
    let mut bench = recovering(&CFG);
    bench.ack(1000);
    assert!(bench.sender.in_recovery(), "one byte is missing");
    bench.sent();
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(200.0); // nothing is in flight: option 1 of step 3
    bench.expect("1001:1101 1101:1201");
    bench.ack(1101);
    bench.expect_cwnd(300.0);
}

#[test]
fn rfc6582_s3_2_a_full_acknowledgement_leaves_at_most_the_threshold() {
    let mut bench = recovering(&CFG);
    bench.dup_acks(8);
    bench.sent();
    bench.ack(1001);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc6582_s3_2_option_1_counts_what_is_in_flight() {
    let mut bench = recovering(&CFG);
    bench.dup_acks(5); // 1001..1301 leave
    bench.sent();
    bench.ack(1001);
    bench.expect_cwnd(400.0);
}

#[test]
fn rfc6582_s4_impatient_lets_only_the_first_partial_acknowledgement_restart_the_timer() {
    let mut bench = recovering(&CFG);
    assert_eq!(bench.timeout_after_acks([101, 201, 301]), ms(1100));
}

#[test]
fn rfc6582_s3_2_step_4_a_timeout_ends_recovery() {
    let mut bench = recovering(&CFG);
    bench.expire_timer();
    bench.expect("1:101R");
    assert!(!bench.sender.in_recovery());
    bench.ack(101); // no partial acknowledgement any more: slow start
    bench.expect_cwnd(200.0);
    bench.expect("101:201R 201:301R");
}

#[test]
fn rfc6582_s3_2_step_4_duplicates_of_what_was_sent_before_a_timeout_retransmit_nothing() {
    let mut bench = Bench::flying(10, &CFG);
    bench.expire_timer();
    bench.sent();
    bench.dup_acks(4);
    bench.ack(801);
    bench.sent();
    bench.dup_acks(4);
    bench.ack(1001); // as much as `recover`, not more
    bench.sent();
    bench.dup_acks(4);
    bench.expect_nothing();
    bench.ack(1101);
    bench.sent();
    bench.dup_acks(3);
    assert!(bench.sent().starts_with("1101:1201R"));
}

#[test]
fn rfc6582_s3_2_step_2_duplicates_of_the_recovered_window_retransmit_nothing() {
    let mut bench = recovering(&CFG);
    bench.ack(1001);
    bench.sent();
    bench.dup_acks(3);
    bench.expect_nothing();
    bench.ack(1101);
    bench.sent();
    bench.dup_acks(3);
    assert!(bench.sent().starts_with("1101:1201R"));
}

#[test]
fn rfc6582_s3_2_step_1_the_first_segment_of_all_may_be_retransmitted_fast() {
    let mut bench = Bench::closed(CFG, None, false);
    bench.connect();
    bench.syn_ack(Flags::NONE);
    bench.sent();
    bench.dup_acks(3);
    bench.expect("1:101R");
}

const LIMITED: SenderConfig = SenderConfig { limited_transmit: true, ..CFG };

#[test]
fn rfc3042_s2_the_first_two_duplicates_let_a_new_segment_out_each() {
    let mut bench = Bench::flying(4, &LIMITED);
    bench.dup_acks(1);
    bench.expect("401:501");
    bench.dup_acks(1);
    bench.expect("501:601");
    bench.expect_cwnd(400.0);
    bench.dup_acks(1);
    bench.expect("1:101R");
}

#[test]
fn rfc3042_s2_is_a_parameter() {
    let mut bench = Bench::flying(4, &CFG);
    bench.dup_acks(2);
    bench.expect_nothing();
}

#[test]
fn rfc3042_s2_no_more_than_two_segments_beyond_the_window() {
    let mut bench = Bench::flying(4, &LIMITED);
    bench.dup_acks(2);
    bench.sent();
    bench.window -= 1; // so that the acknowledgement is no duplicate but of new data
    bench.ack(101); // cwnd 425, 500 in flight
    bench.expect_nothing();
    bench.dup_acks(1);
    bench.expect("601:701");
    bench.dup_acks(1);
    bench.expect_nothing();
}

#[test]
fn rfc3042_s2_not_beyond_the_peers_window() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 400, ..LIMITED }, None, false);
    bench.window = 550;
    bench.adopt();
    bench.sent();
    bench.dup_acks(2);
    bench.expect("401:501");
}

#[test]
fn rfc3042_s2_needs_new_data() {
    let mut bench = Bench::closed(LIMITED, Some(450), false);
    bench.adopt();
    bench.sent();
    bench.dup_acks(2);
    bench.expect_nothing();
}

#[test]
fn rfc3042_s2_sends_nothing_old_after_a_timeout() {
    let mut bench = Bench::flying(4, &LIMITED);
    bench.expire_timer();
    bench.expect("1:101R");
    bench.dup_acks(2);
    bench.expect_nothing();
}

#[test]
fn rfc5681_s3_2_step_2_what_limited_transmit_sent_is_not_halved() {
    let mut bench = Bench::flying(8, &LIMITED);
    bench.dup_acks(3);
    bench.expect("801:901 901:1001 1:101R");
    bench.expect_ssthresh(400.0);
}

#[test]
fn rfc5681_s3_2_step_2_forgets_limited_transmit_when_data_is_acknowledged() {
    let mut bench = Bench::flying(8, &LIMITED);
    bench.dup_acks(2);
    bench.ack(101);
    bench.sent();
    bench.cfg.limited_transmit = false;
    bench.dup_acks(3);
    bench.expect_ssthresh(450.0);
}

#[test]
fn a_request_for_retransmission_acts_as_three_duplicates() {
    let mut bench = Bench::flying(10, &CFG);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("1:101R");
    bench.expect_cwnd(800.0);
    bench.expect_ssthresh(500.0);
}

#[test]
fn a_request_for_retransmission_in_recovery_acts_as_one_more_duplicate() {
    let mut bench = recovering(&CFG);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect_nothing();
    bench.expect_cwnd(900.0);
}

#[test]
fn a_request_that_acknowledges_new_data_asks_for_the_segment_after_it() {
    let mut bench = Bench::flying(10, &CFG);
    bench.receive(301, Flags::PSH, &[]);
    assert_eq!(bench.sent().split(' ').next(), Some("301:401R"));
    assert_eq!(bench.sender.una(), 301);
}

#[test]
fn a_request_without_data_in_flight_is_ignored() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.receive(101, Flags::PSH, &[]);
    bench.receive(101, Flags::PSH, &[]);
    bench.expect("1:101");
    assert!(!bench.sender.in_recovery());
}
