//! Senders that only obey the window of their peer, and acknowledgements that ask for a retransmission.

use super::{Bench, CFG, ms};
use crate::sender::{SenderConfig, State, TimerOutcome};
use fanin_core::packet::Flags;
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, SenderCx};

/// Without a window of its own; `only` if PSH acknowledges nothing.
struct Led {
    only: bool,
}

impl CongestionControl for Led {
    fn obeys_peer(&self) -> bool {
        true
    }
    fn push_is_only_a_request(&self) -> bool {
        self.only
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
}

/// Three segments of a window of three are on their way; the own window is one segment.
fn led(only: bool) -> Bench {
    let cfg = SenderConfig { initial_window: 100, ..CFG };
    let mut bench = Bench::with(cfg, Box::new(Led { only }), EcnMode::Off, None, false);
    bench.connect();
    bench.window = 300;
    bench.syn_ack(Flags::NONE);
    bench.expect("0:0S 1:1 1:101 101:201 201:301");
    bench
}

#[test]
fn the_peers_window_is_the_only_one() {
    let mut bench = led(false);
    bench.window = 450;
    bench.ack(101);
    bench.expect("301:401 401:501"); // half a segment more does not fit
    bench.window = 100;
    bench.ack(501);
    bench.expect("501:601");
}

#[test]
fn the_timer_and_duplicates_still_repeat_and_the_peer_decides_how_much_follows() {
    let mut bench = led(false);
    bench.dup_acks(3);
    bench.expect("1:101R");
    bench.window = 500;
    bench.dup_acks(1);
    bench.expect("301:401 401:501");
    let mut late = led(false);
    assert_eq!(late.expire_timer(), TimerOutcome::Timeout);
    late.expect("1:101R");
    late.window = 200;
    late.ack(101);
    late.expect("101:201R 201:301R");
}

#[test]
fn duplicates_whose_window_moves_repeat_only_where_any_window_makes_one() {
    for any_window_is_duplicate in [false, true] {
        let mut bench = led(false);
        bench.cfg.any_window_is_duplicate = any_window_is_duplicate;
        for window in [290, 280, 270] {
            bench.expect_nothing();
            bench.window = window;
            bench.dup_acks(1);
        }
        if any_window_is_duplicate {
            bench.expect("1:101R");
        } else {
            bench.expect_nothing();
        }
    }
}

#[test]
fn nothing_outstanding_makes_no_duplicate_whatever_the_window() {
    let mut bench = Bench::closed(SenderConfig { any_window_is_duplicate: true, ..CFG }, Some(100), false);
    bench.adopt();
    bench.ack(101);
    bench.sent();
    bench.window += 100;
    bench.dup_acks(3);
    bench.expect_nothing();
    assert_eq!(bench.sender.duplicate_acks(), 0);
}

#[test]
fn a_connection_that_nobody_opened_has_the_initial_window() {
    let cfg = SenderConfig { initial_window: 200, ..CFG };
    let mut bench = Bench::with(cfg, Box::new(Led { only: false }), EcnMode::Off, None, false);
    bench.adopt();
    bench.expect("1:101 101:201");
}

#[test]
fn with_sack_the_peers_window_limits_what_is_in_the_pipe() {
    let cfg = SenderConfig { initial_window: 100, sack: true, ..CFG };
    let mut bench = Bench::with(cfg, Box::new(Led { only: false }), EcnMode::Off, None, false);
    bench.window = 500;
    bench.connect();
    bench.syn_ack(Flags::NONE);
    bench.sent();
    bench.sack(&[(101, 201)]);
    bench.sack(&[(301, 401), (101, 201)]);
    bench.sack(&[(301, 501), (101, 201)]);
    bench.expect("1:101R 201:301R");
}

#[test]
fn a_request_repeats_the_first_segment_at_once_and_in_recovery_lets_one_more_out() {
    let mut bench = Bench::flying(4, &CFG);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("1:101R 401:501"); // half of four and three: five
    bench.expect_cwnd(500.0);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("501:601");
    bench.expect_cwnd(600.0);
}

#[test]
fn a_request_with_nothing_outstanding_is_none() {
    let mut bench = Bench::closed(CFG, Some(100), false);
    bench.adopt();
    bench.ack(101);
    bench.sent();
    bench.receive(101, Flags::PSH, &[]);
    bench.expect_nothing();
}

#[test]
fn a_request_acknowledges_too_unless_it_may_not() {
    for (only, una, trace) in [(false, 101, "101:201R 301:401"), (true, 1, "1:101R")] {
        let mut bench = led(only);
        bench.wait(ms(1));
        bench.receive(101, Flags::PSH, &[]);
        assert_eq!(bench.sender.una(), una);
        bench.expect(trace);
        bench.expect_state(State::Established);
    }
    let mut all = led(true);
    all.receive(301, Flags::PSH, &[]);
    assert_eq!(all.sender.una(), 1, "it asks for nothing, and is not read further");
    all.expect_nothing();
}
