//! RFC 8985, section 6, and RFC 9937: losses told by time, and what the sender does about them.
//!
//! Round trips take 10 ms. Segments of one burst leave at one instant.

use super::*;
use crate::sender::RackConfig;

const RACK: SenderConfig =
    SenderConfig { sack: true, rack: Some(RackConfig { probe: None, proportional: false }), ..CFG };

/// `segments` in flight of a window as large, sent at 0 ms; it is 10 ms now. Nothing was ever acknowledged.
fn flying(segments: u64) -> Bench {
    let mut bench = Bench::flying(segments, &RACK);
    bench.wait(ms(10));
    bench
}

/// One segment acknowledged and two sent, at 10 ms; it is `after` later than that. A round trip is known.
fn known(after: Time) -> Bench {
    let mut bench = flying(10);
    bench.ack(101);
    bench.wait(after);
    bench.sent();
    bench
}

#[test]
fn rfc8985_s6_2_a_segment_is_lost_once_a_later_one_has_arrived_and_the_window_is_over() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    bench.expect("1001:1101"); // what is reported has left the pipe
    assert!(!bench.sender.in_recovery(), "it may be out of order");
    // The reordering window is a quarter of the least round trip: at 10 + 2.5 ms.
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    assert_eq!(bench.now, Time::from_us(12_500));
    bench.expect("1:101R");
    assert!(bench.sender.in_recovery());
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc8985_s6_2_segments_sent_after_the_newest_arrival_are_not_lost() {
    let mut bench = known(ms(5)); // 1001:1201 left at 10 ms
    bench.sack(&[(501, 601)]);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    bench.expect("101:201R"); // four are lost: one goes, for the rest the window is too small
    bench.wait(ms(1));
    bench.sack(&[(501, 1001)]);
    bench.expect("201:301R 301:401R"); // five segments' room, and 1001:1201 still in it
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc8985_s6_2_step_4_three_reported_segments_end_the_wait() {
    let mut bench = flying(10);
    bench.sack(&[(101, 301)]);
    assert!(!bench.sender.in_recovery());
    bench.sack(&[(101, 401)]);
    assert!(bench.sender.in_recovery());
    let sent = bench.sent();
    assert!(sent.contains("1:101R"), "{sent}");
}

#[test]
fn rfc8985_s6_2_step_4_in_recovery_there_is_no_wait() {
    let mut bench = flying(10);
    bench.sack(&[(201, 501)]);
    assert!(bench.sent().contains("1:101R"));
    bench.wait(ms(1));
    bench.sack(&[(601, 701), (201, 501)]);
    bench.sack(&[(701, 801), (201, 501)]);
    assert!(bench.sent().contains("501:601R"), "at the first report above it");
}

#[test]
fn rfc8985_s6_2_step_3_reordering_keeps_the_wait_up() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    bench.receive(201, Flags::NONE, &[]); // the first was only late
    bench.sent();
    bench.sack(&[(301, 701)]);
    assert!(!bench.sender.in_recovery(), "four reports do not end the wait where order was broken");
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    assert_eq!(bench.now, Time::from_us(12_500));
    assert!(bench.sender.in_recovery());
}

#[test]
fn rfc8985_s6_2_step_3_blocks_of_one_acknowledgement_show_no_reordering() {
    let mut bench = flying(10);
    bench.sack(&[(801, 901), (501, 601), (301, 401)]);
    assert!(bench.sender.in_recovery(), "three reports, whatever their order");
}

#[test]
fn rfc8985_s6_2_step_5_a_retransmission_is_lost_like_any_segment() {
    let mut bench = flying(10);
    bench.sack(&[(101, 401)]);
    bench.sack(&[(101, 901)]);
    bench.expect("1:101R 1001:1101 1101:1201 1201:1301");
    bench.wait(ms(10));
    bench.sack(&[(101, 1101)]); // sent at the same instant, with a higher number
    let sent = bench.sent();
    assert!(sent.starts_with("1:101R"), "at once, in recovery: {sent}");
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc8985_s6_2_step_2_a_retransmission_acknowledged_too_early_says_nothing() {
    let mut bench = flying(10);
    bench.sack(&[(101, 401)]);
    bench.sent(); // 1:101R at 10 ms, with new data
    bench.wait(ms(1));
    // A round trip of 1 ms where 10 was the least: the original was late. Were it the retransmission, 401:1001, sent
    // before it, would be lost.
    bench.receive(401, Flags::NONE, &[]);
    assert!(!bench.sent().contains('R'));
}

#[test]
fn rfc8985_s6_2_step_2_the_echo_of_an_original_says_nothing_of_its_retransmission() {
    for (flags, again) in [(Flags::NONE, false), (Flags::RETRANSMITTED, true)] {
        let mut bench = flying(10);
        bench.sack(&[(101, 401)]);
        bench.sent();
        bench.wait(ms(11));
        bench.receive(401, flags, &[]); // 1:101R took 11 ms, or the original took 21 ms
        assert_eq!(bench.sent().contains("401:501R"), again);
    }
}

#[test]
fn rfc8985_s6_3_a_timeout_takes_what_is_overdue_for_lost_and_keeps_the_reports() {
    let mut bench = flying(4);
    bench.sack(&[(101, 201)]);
    bench.sent();
    bench.expire_timer(); // of the reordering window: 1:101R
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("1:101R");
    bench.expect_cwnd(100.0);
    bench.wait(ms(10));
    bench.ack(201);
    bench.expect("201:301R 301:401R"); // slow start; 101:201 was reported and stays so
}

#[test]
fn rfc8985_s6_3_what_was_sent_just_before_a_timeout_is_not_lost() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 200, ..RACK }, Some(1000), false);
    bench.rtt = Some(ms(10));
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(101); // lets 201:301 and 301:401 out at 10 ms; the timer, from now, runs for 200 ms
    bench.sent();
    bench.wait(ms(199));
    bench.window = 400;
    bench.sender.forge_window(400.0);
    bench.sender.on_data_ready(&mut Env { now: bench.now, cfg: &bench.cfg.clone(), io: &mut bench.wire });
    bench.expect("401:501");
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("101:201R");
    bench.wait(ms(10));
    bench.ack(401);
    assert!(!bench.sent().contains("401:501R"), "still on its way");
}

#[test]
fn a_timeout_never_goes_back() {
    let mut bench = flying(4);
    bench.expire_timer();
    bench.expect("1:101R");
    assert_eq!((bench.sender.nxt(), bench.sender.in_flight()), (401, 400));
    bench.wait(ms(10));
    bench.ack(401); // all had arrived, only the acknowledgements were lost
    bench.expect("401:501 501:601");
}

#[test]
fn a_second_timeout_of_a_segment_keeps_the_threshold() {
    let mut bench = flying(10);
    bench.expire_timer();
    bench.expect_ssthresh(500.0);
    bench.expire_timer();
    bench.expect("1:101R 1:101R");
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc5681_s4_3_a_retransmission_lost_after_a_timeout_is_a_second_sign_of_congestion() {
    let mut bench = flying(10);
    bench.expire_timer();
    bench.sent();
    bench.wait(ms(10));
    bench.receive(101, Flags::RETRANSMITTED, &[]);
    bench.expect("101:201R 201:301R");
    bench.wait(ms(10));
    bench.sack(&[(201, 301)]); // 101:201 was lost again
    assert!(bench.sender.in_recovery());
    bench.expect_ssthresh(200.0);
}

#[test]
fn a_recovery_ends_at_the_recovery_point() {
    let mut bench = flying(10);
    bench.sack(&[(101, 901)]);
    bench.sent();
    bench.wait(ms(10));
    bench.receive(901, Flags::RETRANSMITTED, &[]);
    assert!(bench.sender.in_recovery());
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(500.0);
}

#[test]
fn the_peers_window_holds_in_recovery() {
    let mut bench = flying(10);
    bench.window = 1000;
    bench.sack(&[(101, 901)]);
    bench.expect("1:101R");
}

#[test]
fn the_fin_goes_again_with_its_data() {
    let mut bench = Bench::closed(RACK, Some(500), true);
    bench.adopt();
    bench.expect("1:101 101:201 201:301 301:401 401:501F");
    bench.wait(ms(10));
    bench.ack(401);
    bench.expire_timer();
    bench.expect("401:501FR");
    bench.ack(502);
    bench.expect_state(State::Finished);
}

#[test]
fn a_request_starts_recovery() {
    let mut bench = flying(10);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("1:101R");
    assert!(bench.sender.in_recovery());
    bench.receive(1, Flags::PSH, &[]);
    bench.expect_nothing();
}

#[test]
fn reports_give_round_trip_times() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    assert_eq!(bench.sender.srtt(), Some(ms(10)));
}

#[test]
fn rfc9937_s5_a_proportional_reduction_sends_while_it_shrinks() {
    let rack = Some(RackConfig { probe: None, proportional: true });
    let trace = |rack| {
        let mut bench = Bench::flying(20, &SenderConfig { rack, ..RACK });
        bench.wait(ms(10));
        bench.sack(&[(101, 401)]);
        bench.sent();
        let counts: Vec<usize> = (5..20)
            .map(|n| {
                bench.sack(&[(101, 100 * n + 1)]);
                bench.sent().split_whitespace().count()
            })
            .collect();
        counts
    };
    let (at_once, proportional) = (trace(RACK.rack), trace(rack));
    assert!(at_once[..7].iter().all(|sent| *sent == 0), "silence until the pipe has shrunk: {at_once:?}");
    assert!(proportional[..7].iter().sum::<usize>() >= 3, "one for two: {proportional:?}");
    assert!(proportional.iter().all(|sent| *sent <= 2), "and no bursts: {proportional:?}");
}

#[test]
fn a_closed_window_is_probed_and_its_probe_comes_again_as_data() {
    let mut bench = Bench::closed(RACK, Some(300), false);
    bench.window = 0;
    bench.adopt();
    bench.expect_nothing();
    assert_eq!(bench.expire_timer(), TimerOutcome::WindowProbe);
    bench.expect("1:2");
    bench.window = WIDE;
    bench.ack(2);
    bench.expect("2:102 102:202 202:301");
    bench.wait(ms(10));
    bench.ack(301);
    bench.expect_nothing();
}
