//! RFC 9293: handshake, close, sliding window, persist timer.

use super::*;

#[test]
fn rfc9293_s3_5_data_waits_for_the_syn_ack_and_follows_the_third_packet() {
    let mut bench = Bench::closed(CFG, Some(250), false);
    bench.connect();
    bench.expect("0:0S");
    bench.ack(1);
    bench.expect_nothing();
    bench.expect_state(State::SynSent);
    bench.syn_ack(Flags::NONE);
    bench.expect("1:1 1:101 101:201 201:251");
    bench.expect_state(State::Established);
}

#[test]
fn rfc9293_s3_10_7_3_a_syn_ack_of_something_else_is_no_answer() {
    let mut bench = Bench::closed(CFG, Some(250), false);
    bench.connect();
    bench.receive(2, Flags::SYN, &[]);
    bench.expect_state(State::SynSent);
}

#[test]
fn rfc9293_s3_10_7_4_a_second_syn_ack_changes_nothing() {
    let mut bench = Bench::closed(CFG, None, false);
    bench.connect();
    bench.syn_ack(Flags::NONE);
    bench.sent();
    (0..4).for_each(|_| bench.syn_ack(Flags::NONE));
    bench.expect_nothing();
    assert_eq!(bench.sender.duplicate_acks(), 0);
}

#[test]
fn a_syn_is_repeated_with_doubling_patience_and_then_given_up() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.connect();
    bench.sent();
    for (wait, outcome) in [(500, TimerOutcome::SynTimeout), (1000, TimerOutcome::SynTimeout)] {
        let before = bench.now;
        assert_eq!(bench.expire_timer(), outcome);
        assert_eq!(bench.now - before, ms(wait));
        bench.expect("0:0SR");
    }
    assert_eq!(bench.expire_timer(), TimerOutcome::Failed);
    assert_eq!(bench.now, ms(3500));
    bench.expect_state(State::Failed);
    bench.syn_ack(Flags::NONE);
    bench.expect_nothing();
}

#[test]
fn a_syn_timer_does_not_overflow() {
    let mut bench = Bench::closed(SenderConfig { syn_retries: 30, ..CFG }, Some(100), false);
    bench.connect();
    while !bench.wire.timers.is_empty() {
        bench.expire_timer();
    }
    assert_eq!(bench.sent().split(' ').count(), 26, "the next one is never due");
}

#[test]
fn rfc9293_s3_5_the_fin_rides_on_the_last_segment_and_takes_a_number() {
    let mut bench = Bench::closed(CFG, Some(250), true);
    bench.adopt();
    bench.expect("1:101 101:201 201:251F");
    bench.ack(251);
    bench.expect_state(State::Established);
    bench.ack(252);
    bench.expect("252:252");
    bench.expect_state(State::Finished);
    bench.ack(252);
    bench.expect_nothing();
}

#[test]
fn tcp_send_fin_is_a_packet_of_its_own_behind_data_that_have_left() {
    let close = |bench: &mut Bench| {
        let Bench { sender, now, cfg, wire, .. } = bench;
        sender.close_after_writing(&mut Env { now: *now, cfg, io: wire });
    };
    let mut bench = Bench::closed(CFG, Some(150), false);
    bench.adopt();
    close(&mut bench);
    bench.expect("1:101 101:151 151:151F");
    let mut bench = Bench::closed(SenderConfig { initial_window: 100, ..CFG }, Some(150), false);
    bench.adopt();
    close(&mut bench);
    bench.expect("1:101");
    bench.ack(101);
    bench.expect("101:151F");
}

#[test]
fn a_fin_is_sent_until_it_is_acknowledged() {
    let mut bench = Bench::closed(CFG, Some(200), true);
    bench.adopt();
    bench.expect("1:101 101:201F");
    bench.ack(101);
    bench.expire_timer();
    bench.expect("101:201FR");
    bench.ack(201); // the data, from a segment without the FIN
    bench.expect_nothing();
    bench.expire_timer();
    bench.expect("201:201FR");
    bench.ack(202);
    bench.expect_state(State::Finished);
}

#[test]
fn a_fast_retransmit_of_the_last_data_carries_the_fin_that_followed_it() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 300, ..CFG }, Some(300), false);
    bench.adopt();
    bench.sent();
    bench.sender.push_data(Some(0), true);
    bench.dup_acks(3);
    bench.ack(201);
    bench.expect("301:301F 1:101R 201:301FR");
}

#[test]
fn a_stream_without_fin_stays_open() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.ack(101);
    bench.expect("1:101");
    bench.expect_state(State::Established);
    bench.push_data(150);
    bench.expect("101:201 201:251");
}

#[test]
fn rfc9293_s3_10_7_4_acknowledgements_of_what_was_never_sent_are_ignored() {
    let mut bench = Bench::open(CFG);
    bench.ack(1002);
    bench.expect_nothing();
    assert_eq!(bench.sender.una(), 1);
    bench.ack(1001);
    assert_eq!(bench.sender.una(), 1001);
}

#[test]
fn rfc9293_s3_10_7_4_old_acknowledgements_are_ignored() {
    let mut bench = Bench::flying(10, &CFG);
    bench.ack(501);
    bench.sent();
    bench.window = 0; // theirs is an old window, too
    (0..3).for_each(|_| bench.ack(401));
    bench.window = WIDE;
    bench.expect_nothing();
    assert_eq!((bench.sender.una(), bench.sender.duplicate_acks()), (501, 0));
    bench.dup_acks(2);
    assert_eq!(bench.sender.duplicate_acks(), 2, "the window had not changed");
}

#[test]
fn rfc9293_s3_8_6_2_1_only_full_segments_or_the_last_one_leave() {
    let mut bench = Bench::closed(CFG, Some(350), false);
    bench.window = 250;
    bench.adopt();
    bench.expect("1:101 101:201");
    bench.window = 150;
    bench.ack(201);
    bench.expect("201:301 301:351");
}

#[test]
fn rfc9293_s3_8_6_the_peers_window_is_the_right_edge() {
    let mut bench = Bench::closed(CFG, None, false);
    bench.window = 300;
    bench.adopt();
    bench.expect("1:101 101:201 201:301");
    bench.window = 200;
    bench.ack(101); // the edge stays
    bench.expect_nothing();
    bench.window = 400;
    bench.ack(101); // a window update
    bench.expect("301:401 401:501");
    assert_eq!(bench.sender.duplicate_acks(), 0);
}

#[test]
fn a_request_tells_a_window_that_no_acknowledgement_has_told() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 1000, ..CFG }, Some(200), false);
    bench.window = 200;
    bench.adopt();
    bench.expect("1:101 101:201");
    bench.ack(201);
    bench.sender.hear_window(100);
    bench.push_data(300);
    bench.expect("201:301 301:401");
    bench.ack(401);
    bench.sender.hear_window(300);
    bench.push_data(200);
    bench.expect("401:501 501:601 601:701");
}

#[test]
fn rfc9293_s3_8_6_a_window_that_shrinks_takes_nothing_back() {
    let mut bench = Bench::open(CFG);
    bench.window = 100;
    bench.ack(101);
    bench.expect_nothing();
    assert_eq!(bench.sender.nxt(), 1001);
    bench.window = 950;
    bench.ack(201);
    bench.expect("1001:1101");
}

#[test]
fn a_fin_needs_no_window_of_its_own() {
    let mut bench = Bench::closed(CFG, Some(200), true);
    bench.window = 200;
    bench.adopt();
    bench.expect("1:101 101:201F");
}

#[test]
fn rfc9293_s3_8_6_1_a_closed_window_is_probed_ever_less_often() {
    let mut bench = Bench::open(CFG);
    bench.window = 0;
    bench.ack(1001);
    bench.expect_nothing();
    for (wait, trace) in [(1000, "1001:1002"), (2000, "1001:1002R"), (4000, "1001:1002R")] {
        let before = bench.now;
        assert_eq!(bench.expire_timer(), TimerOutcome::WindowProbe);
        assert_eq!(bench.now - before, ms(wait));
        bench.expect(trace);
        bench.dup_acks(4); // the probe was refused
        bench.expect_nothing();
    }
    bench.expect_cwnd(1100.0);
    bench.window = WIDE;
    bench.ack(1001);
    assert!(bench.sent().starts_with("1001:1101R 1101:1201 "));
    assert_eq!(bench.timer_runs(), ms(1000), "the probes' backoff is over");
}

#[test]
fn rfc9293_s3_8_6_1_accepted_probes_do_not_end_the_backoff_either() {
    let mut bench = Bench::open(CFG);
    bench.window = 0;
    bench.ack(1001);
    bench.rtt = Some(ms(1));
    assert_eq!(bench.timer_runs(), ms(1000));
    bench.ack(1002);
    let waits: Vec<Time> = (1003..1006).map(|next| (bench.timer_runs(), bench.ack(next)).0).collect();
    assert_eq!(waits, [ms(400), ms(800), ms(1600)]);
}

#[test]
fn rfc9293_s3_8_6_1_a_window_that_closes_again_is_probed_as_often_as_at_first() {
    let mut bench = Bench::closed(CFG, Some(300), false);
    bench.window = 100;
    bench.adopt();
    for ack in [101, 201] {
        bench.window = 0;
        bench.ack(ack);
        assert_eq!(bench.timer_runs(), ms(1000));
        bench.window = 100;
        bench.ack(ack);
    }
}

#[test]
fn rfc9293_s3_8_6_1_a_probe_sends_what_fits() {
    let mut bench = Bench::open(CFG);
    bench.window = 60;
    bench.ack(1001);
    assert_eq!(bench.expire_timer(), TimerOutcome::WindowProbe);
    bench.expect("1001:1061");
}

#[test]
fn without_data_to_send_nothing_is_probed() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.window = 0;
    bench.ack(101);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Idle);
    bench.expect_nothing();
    assert!(bench.wire.timers.is_empty());
}
