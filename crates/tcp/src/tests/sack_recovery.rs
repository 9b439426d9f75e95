//! RFC 6675: recovery by selective acknowledgements.

use super::*;

/// Ten segments in flight, of which the first is lost; three after it are reported.
fn recovering() -> Bench {
    let mut bench = Bench::flying(10, &SACK);
    for end in [201, 301, 401] {
        bench.sack(&[(101, end)]);
    }
    bench.expect("1:101R");
    bench
}

#[test]
fn rfc6675_s5_step_1_the_third_duplicate_starts_recovery() {
    let mut bench = Bench::flying(10, &SACK);
    // Reports of little each, so that the first segment is not deemed lost by their sum.
    bench.sack(&[(101, 111)]);
    bench.sack(&[(101, 121)]);
    bench.expect_nothing();
    bench.sack(&[(101, 131)]);
    bench.expect("1:101R");
    bench.expect_ssthresh(500.0);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc6675_s5_step_2_a_segment_deemed_lost_starts_recovery_earlier() {
    let mut bench = Bench::flying(10, &SACK);
    bench.sack(&[(101, 301)]);
    bench.expect_nothing();
    bench.sack(&[(101, 401)]);
    bench.expect("1:101R");
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc6675_s2_an_acknowledgement_without_news_is_no_duplicate() {
    let mut bench = Bench::flying(10, &SACK);
    bench.sack(&[(101, 201)]);
    (0..3).for_each(|_| bench.sack(&[(101, 201)]));
    bench.dup_acks(3);
    bench.expect_nothing();
    assert_eq!(bench.sender.duplicate_acks(), 1);
}

#[test]
fn rfc6675_s2_news_make_a_duplicate_whatever_the_window() {
    let mut bench = Bench::flying(10, &SACK);
    for end in [201, 301, 401] {
        bench.window += 100;
        bench.sack(&[(101, end)]);
    }
    bench.expect("1:101R");
}

#[test]
fn rfc6675_s2_news_make_a_duplicate_of_an_acknowledgement_that_moves_on() {
    let mut bench = Bench::flying(10, &SACK);
    bench.dup_acks(2);
    bench.receive(101, Flags::NONE, &[(201, 301)]);
    assert_eq!(bench.sender.duplicate_acks(), 1);
    bench.sent();
    bench.sack(&[(201, 311)]);
    assert_eq!(bench.sender.duplicate_acks(), 2);
    bench.receive(311, Flags::NONE, &[(401, 411)]);
    assert_eq!(bench.sender.duplicate_acks(), 1, "which starts a new count");
    assert!(!bench.sender.in_recovery());
}

#[test]
fn rfc6675_s5_step_2_an_acknowledgement_that_moves_on_may_show_a_loss() {
    let mut bench = Bench::flying(10, &SACK);
    bench.receive(101, Flags::NONE, &[(201, 501)]);
    assert_eq!(bench.sent().split(' ').next(), Some("101:201R"));
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc6675_s5_step_c_sends_while_the_pipe_is_below_the_window() {
    let mut bench = recovering(); // pipe: 401..1001 and 1..101, 700
    bench.sack(&[(101, 501)]);
    bench.sack(&[(101, 601)]);
    bench.expect_nothing(); // 500: no room for a full segment in 500
    bench.sack(&[(101, 701)]);
    bench.expect("1001:1101");
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc6675_s5_step_c_fills_holes_before_new_data() {
    let mut bench = recovering();
    bench.sack(&[(501, 801), (101, 401)]); // 401..501 is lost as well; pipe: 1..101, 801..1001
    bench.expect("401:501R 1001:1101");
}

#[test]
fn rfc6675_s5_step_c_respects_the_peers_window() {
    let mut bench = recovering();
    bench.window = 1050;
    bench.sack(&[(101, 801)]);
    bench.expect("901:1001R"); // no new data fits: the rescue of what is not reported
}

#[test]
fn a_window_that_opens_in_recovery_lets_data_out() {
    let mut bench = recovering();
    bench.window = 1000;
    bench.sack(&[(101, 801)]);
    bench.sent();
    bench.window = WIDE;
    bench.sack(&[(101, 801)]);
    bench.expect("1001:1101 1101:1201");
}

#[test]
fn data_that_comes_in_recovery_leaves_if_the_pipe_has_room() {
    let mut bench = Bench::closed(SenderConfig { initial_ssthresh: 1000, ..SACK }, Some(1000), false);
    bench.adopt();
    bench.sent();
    bench.sack(&[(101, 1001)]);
    bench.expect("1:101R");
    bench.push_data(1000);
    bench.expect("1001:1101 1101:1201 1201:1301 1301:1401");
}

#[test]
fn rfc6675_s5_step_b_a_partial_acknowledgement_goes_on() {
    let mut bench = recovering();
    bench.receive(401, Flags::NONE, &[(501, 801)]);
    bench.expect("401:501R 1001:1101 1101:1201");
    assert!(bench.sender.in_recovery());
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc6675_s5_step_a_recovery_ends_at_the_recovery_point() {
    let mut bench = recovering();
    bench.sack(&[(101, 801)]);
    bench.sent();
    bench.ack(1000);
    assert!(bench.sender.in_recovery());
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(500.0);
    bench.ack(1101);
    bench.expect_cwnd(520.0);
}

#[test]
fn rfc6675_s5_step_a_keeps_what_is_reported_beyond_the_recovery_point() {
    let mut bench = recovering();
    bench.sack(&[(101, 1001)]); // 1001..1401 leave
    bench.sent();
    bench.sack(&[(1101, 1401), (101, 1001)]);
    bench.sent();
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.sack(&[(1101, 1501)]);
    assert!(bench.sent().starts_with("1001:1101R"), "the first duplicate shows the loss");
}

#[test]
fn rfc6675_s4_next_seg_4_a_rescue_goes_out_once_a_recovery() {
    let mut bench = Bench::closed(SenderConfig { initial_ssthresh: 1000, ..SACK }, Some(1000), false);
    bench.adopt();
    bench.sent();
    bench.sack(&[(101, 401)]);
    bench.expect("1:101R");
    bench.sack(&[(101, 801)]); // pipe: 1..101, 801..1001
    bench.expect("901:1001R");
    bench.sack(&[(101, 901)]);
    bench.expect_nothing();
    bench.ack(901); // a partial one: the point of the spent rescue is not passed
    bench.expect_nothing();
}

#[test]
fn a_rescue_does_not_repeat_what_this_recovery_has_sent_again() {
    let mut bench = Bench::closed(SACK, Some(1000), false);
    bench.adopt();
    bench.sent();
    bench.sack(&[(101, 1001)]);
    bench.expect("1:101R");
}

#[test]
fn rfc6675_s4_next_seg_4_the_next_recovery_has_its_own_rescue() {
    let mut bench = Bench::closed(SenderConfig { initial_ssthresh: 1000, ..SACK }, Some(1000), false);
    bench.adopt();
    bench.sack(&[(101, 801)]);
    bench.ack(1001);
    bench.sent();
    bench.push_data(500);
    bench.expect("1001:1101 1101:1201 1201:1301 1301:1401 1401:1501");
    bench.sack(&[(1101, 1401)]);
    bench.expect("1001:1101R");
    bench.expect_ssthresh(250.0);
    bench.sack(&[(1101, 1451)]);
    bench.expect("1451:1501R");
}

#[test]
fn the_fin_is_part_of_the_last_segment_in_recovery() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 500, ..SACK }, Some(500), true);
    bench.adopt();
    bench.expect("1:101 101:201 201:301 301:401 401:501F");
    bench.ack(401);
    bench.wait(ms(1));
    bench.receive(401, Flags::PSH, &[]);
    bench.expect("401:501FR");
}

#[test]
fn a_rescue_of_the_fin_brings_its_data() {
    let mut bench = Bench::closed(SACK, Some(1000), true);
    bench.adopt();
    bench.sent();
    bench.sack(&[(101, 801)]);
    bench.expect("1:101R 901:1001FR");
}

#[test]
fn a_fin_may_leave_in_recovery_where_the_window_ends_with_the_data() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 1000, ..SACK }, Some(1030), true);
    bench.window = 1030;
    bench.adopt();
    bench.sent();
    bench.sack(&[(101, 901)]);
    bench.expect("1:101R 1001:1031F 1001:1031FR"); // the last one is the rescue
}

#[test]
fn segments_in_recovery_are_full_where_earlier_data_ended_with_a_short_one() {
    let mut bench = Bench::closed(SACK, Some(130), false);
    bench.adopt();
    bench.ack(131);
    bench.push_data(500);
    bench.expect("1:101 101:131 131:231 231:331 331:431 431:531 531:631");
    bench.sack(&[(331, 631)]);
    bench.expect("131:231R 231:331R");
}

#[test]
fn rfc2018_s8_a_timeout_clears_the_scoreboard() {
    let mut bench = Bench::flying(10, &SACK);
    bench.sack(&[(101, 301)]);
    bench.expire_timer();
    bench.expect("1:101R");
    bench.sack(&[(101, 301)]);
    assert_eq!(bench.sender.duplicate_acks(), 1, "the same report is news again");
    bench.ack(101);
    bench.expect("101:201R 201:301R");
}

#[test]
fn rfc6675_s5_1_after_a_timeout_no_recovery_starts_before_its_data_is_acknowledged() {
    let mut bench = Bench::flying(10, &SACK);
    bench.expire_timer();
    bench.sent();
    bench.sack(&[(101, 701)]);
    bench.sack(&[(101, 801)]);
    bench.sack(&[(101, 1001)]);
    bench.expect_nothing();
    assert!(!bench.sender.in_recovery());
    bench.ack(1001);
    bench.sent();
    bench.sack(&[(1101, 1201)]);
    bench.sack(&[(1101, 1211)]);
    bench.sack(&[(1101, 1221)]);
    assert!(bench.sender.in_recovery(), "acknowledged as far as the timeout reached is enough");
}

#[test]
fn rfc6675_s6_the_retransmission_that_starts_recovery_restarts_the_timer() {
    let mut bench = Bench::flying(10, &SACK);
    bench.wait(ms(900));
    bench.sack(&[(101, 401)]);
    assert_eq!(bench.timer_runs(), ms(1000));
}

#[test]
fn a_request_for_retransmission_starts_recovery_by_reports_too() {
    let mut bench = Bench::flying(10, &SACK);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("1:101R");
    bench.expect_cwnd(500.0);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect_nothing();
    bench.expect_cwnd(500.0);
}
