//! RFC 6298 section 5: when the retransmission timer runs. How long it runs is tested beside the estimator.

use super::*;

#[test]
fn rfc6298_s5_1_the_first_data_starts_the_timer() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.wait(ms(7));
    bench.adopt();
    assert_eq!(bench.wire.timers, [ms(1007)]);
    bench.wait(ms(5));
    bench.push_data(100);
    assert_eq!(bench.timer_runs(), ms(995), "later data does not");
}

#[test]
fn a_sender_that_knows_its_open_path_computes_its_first_timeout_from_it() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.sender.know_open_path(ms(100));
    bench.adopt();
    assert_eq!(bench.timer_runs(), ms(100 + 4 * 50), "as after one sample of 100 ms");
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.sender.know_open_path(ms(100));
    bench.connect();
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.timer_runs(), ms(1000), "a handshake without a sample leaves the initial one");
}

#[test]
fn rfc6298_s5_1_data_after_an_idle_period_starts_it_again() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.ack(101);
    bench.wait(ms(100));
    bench.push_data(100);
    assert_eq!(bench.timer_runs(), ms(1000));
}

#[test]
fn rfc6298_s5_2_the_timer_stops_when_everything_is_acknowledged() {
    let mut bench = Bench::closed(CFG, Some(200), false);
    bench.adopt();
    bench.ack(201);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Idle);
    bench.expect_nothing();
    assert!(bench.wire.timers.is_empty());
}

#[test]
fn rfc6298_s5_3_new_data_acknowledged_restarts_the_timer_and_duplicates_do_not() {
    let mut bench = Bench::flying(10, &CFG);
    bench.wait(ms(300));
    bench.ack(101);
    bench.wait(ms(300));
    bench.dup_acks(2);
    assert_eq!(bench.timer_runs(), ms(700));
}

#[test]
fn rfc6298_s5_5_each_timeout_doubles_the_timer() {
    let mut bench = Bench::flying(10, &CFG);
    let runs: Vec<Time> = (0..8).map(|_| bench.timer_runs()).collect();
    assert_eq!(runs, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000].map(ms));
}

#[test]
fn rfc6298_s5_4_a_timeout_goes_back_to_the_earliest_segment_and_on_from_there() {
    let mut bench = Bench::flying(10, &CFG);
    bench.expire_timer();
    bench.expect("1:101R");
    bench.ack(101);
    bench.expect("101:201R 201:301R");
    bench.ack(1001); // the rest had arrived
    bench.expect("1001:1101 1101:1201 1201:1301");
}

#[test]
fn rfc6298_s3_karn_an_acknowledgement_without_sample_keeps_the_backoff() {
    let mut bench = Bench::flying(10, &CFG);
    bench.expire_timer();
    bench.ack(101);
    assert_eq!(bench.timer_runs(), ms(2000));
}

#[test]
fn rfc6298_s5_the_next_sample_ends_the_backoff() {
    let mut bench = Bench::flying(10, &CFG);
    bench.expire_timer();
    bench.rtt = Some(ms(400));
    bench.ack(101);
    assert_eq!(bench.timer_runs(), ms(1200), "400 + 4 * 200");
    assert_eq!(bench.sender.srtt(), Some(ms(400)));
}

#[test]
fn backoff_may_end_with_any_new_data_acknowledged() {
    let mut bench = Bench::flying(10, &SenderConfig { backoff_ends_on_new_ack: true, ..CFG });
    bench.expire_timer();
    bench.dup_acks(1);
    assert_eq!(bench.timer_runs(), ms(2000), "a duplicate is not new");
    bench.ack(101);
    assert_eq!(bench.timer_runs(), ms(1000));
}

#[test]
fn rfc6298_s3_duplicates_give_no_sample() {
    let mut bench = Bench::flying(10, &CFG);
    bench.rtt = Some(ms(400));
    bench.dup_acks(2);
    assert_eq!(bench.sender.srtt(), None);
}

#[test]
fn rfc6298_s2_2_the_handshake_gives_the_first_sample() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.connect();
    bench.wait(ms(100));
    bench.rtt = Some(ms(100));
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.timer_runs(), ms(300));
}

#[test]
fn rfc6298_s3_a_handshake_with_two_syns_gives_none() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.connect();
    bench.expire_timer();
    bench.rtt = Some(ms(100));
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.sender.srtt(), None);
}

#[test]
fn rfc6298_s5_7_after_a_syn_timeout_data_starts_with_three_seconds() {
    let mut bench = Bench::closed(CFG, Some(1000), false);
    bench.connect();
    bench.expire_timer();
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.timer_runs(), ms(3000));
    bench.rtt = Some(ms(100));
    bench.ack(101);
    assert_eq!(bench.timer_runs(), ms(300), "until there is a sample");
}

#[test]
fn rfc6298_s5_7_never_shortens_the_timer() {
    let rto = RtoConfig { initial: ms(5000), ..CFG.rto };
    let mut bench = Bench::closed(SenderConfig { rto, ..CFG }, Some(100), false);
    bench.connect();
    bench.expire_timer();
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.timer_runs(), ms(5000));
}

#[test]
fn the_syn_timer_is_stopped_by_the_syn_ack() {
    let mut bench = Bench::closed(CFG, Some(0), false);
    bench.connect();
    bench.syn_ack(Flags::NONE);
    assert_eq!(bench.expire_timer(), TimerOutcome::Idle);
}

#[test]
fn a_deadline_that_moves_on_leaves_the_event_queue_alone() {
    let mut bench = Bench::flying(10, &CFG);
    assert_eq!(bench.wire.timers, [ms(1000)]);
    for segment in 1..=5 {
        bench.wait(ms(100));
        bench.ack(1 + 100 * segment);
    }
    assert_eq!(bench.wire.timers, [ms(1000)], "no event per acknowledgement");
    bench.wire.timers.clear();
    bench.now = ms(1000);
    assert_eq!(
        bench.sender.on_timer(&mut Env { now: bench.now, cfg: &bench.cfg, io: &mut bench.wire }),
        TimerOutcome::Idle
    );
    assert_eq!(bench.wire.timers, [ms(1500)], "the event that came too early asks for the right one");
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
}

#[test]
fn a_deadline_that_comes_nearer_has_an_event_of_its_own_and_the_old_one_is_ignored() {
    let mut bench = Bench::flying(10, &CFG);
    bench.wait(ms(100));
    bench.rtt = Some(ms(50));
    bench.ack(101); // from 1 s to 200 ms
    assert_eq!(bench.wire.timers, [ms(1000), ms(300)]);
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    assert_eq!(bench.now, ms(300));
    bench.rtt = None;
    bench.sent();
    bench.now = ms(1000);
    assert_eq!(bench.wire.timers, [ms(1000), ms(700)], "200 ms doubled");
    assert_eq!(
        bench.sender.on_timer(&mut Env { now: ms(700), cfg: &bench.cfg, io: &mut bench.wire }),
        TimerOutcome::Timeout
    );
    bench.sent();
    let pending = bench.wire.timers.len();
    assert_eq!(
        bench.sender.on_timer(&mut Env { now: ms(1000), cfg: &bench.cfg, io: &mut bench.wire }),
        TimerOutcome::Idle
    );
    bench.expect_nothing();
    assert_eq!(bench.wire.timers.len(), pending, "and asks for no other");
}

#[test]
fn a_stopped_timer_that_starts_again_uses_the_event_still_pending() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.wait(ms(400));
    bench.ack(101);
    bench.push_data(100);
    assert_eq!(bench.wire.timers, [ms(1000)]);
    assert_eq!(bench.timer_runs(), ms(1000));
}
