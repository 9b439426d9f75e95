//! What congestion control asks for beyond a window: pauses between packets, facts in packets, wake-up calls.

use super::*;
use fanin_core::roles::{AckEvent, Asks, Cut, SenderCx};

/// Pauses and wakes as told, and has a packet field that counts calls.
#[derive(Default)]
struct Script {
    gap: Time,
    asks: Asks,
    /// The gap after an acknowledgement.
    shrinks_to: Option<Time>,
    /// Set at the start, on a loss, on a timeout and on an echo.
    wakes: [Option<Time>; 4],
    again: Option<Time>,
}

impl Script {
    fn wake(&self, i: usize, cx: &mut SenderCx<'_>) {
        if let Some(at) = self.wakes[i] {
            *cx.wake = at;
        }
    }
}

impl CongestionControl for Script {
    fn asks(&self) -> Asks {
        self.asks
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.gap = self.gap;
        self.wake(0, cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        cx.packet.field += ack.acked;
        cx.packet.gap = self.shrinks_to.unwrap_or(cx.packet.gap);
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        self.wake(1, cx);
        Cut::to(300.0)
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.wake(2, cx);
        Cut::to(300.0)
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        self.wake(3, cx);
    }
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.cwnd += 100.0;
        if let Some(at) = self.again {
            *cx.wake = at;
        }
    }
}

/// An endless sender with a window of three segments.
fn started(script: Script) -> Bench {
    started_with(SenderConfig { initial_window: 300, ..CFG }, script)
}

fn started_with(cfg: SenderConfig, script: Script) -> Bench {
    let mut bench = Bench::with(cfg, Box::new(script), EcnMode::Classic, None, false);
    bench.adopt();
    bench
}

impl Bench {
    fn pace(&mut self) {
        self.now = self.wire.paces.remove(0);
        self.sender.on_pace(&mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }
    fn wake_at(&mut self, at: Time) {
        self.now = at;
        self.sender.on_wake(&mut Env { now: at, cfg: &self.cfg, io: &mut self.wire });
    }
}

#[test]
fn packets_leave_a_gap_apart_as_far_as_the_window_goes() {
    let mut bench = started(Script { gap: ms(10), ..Script::default() });
    bench.expect("1:101E");
    bench.pace();
    assert_eq!(bench.now, ms(10));
    bench.expect("101:201E");
    bench.pace();
    bench.expect("201:301E");
    assert!(bench.wire.paces.is_empty(), "the window is full");
    bench.wait(ms(50));
    bench.ack(201);
    bench.expect("301:401E");
    assert_eq!(bench.wire.paces, [bench.now + ms(10)]);
}

#[test]
fn acknowledgements_between_two_packets_ask_for_no_further_event() {
    let mut bench = started(Script { gap: ms(10), ..Script::default() });
    bench.wait(ms(5));
    bench.ack(101);
    bench.dup_acks(1);
    bench.expect("1:101E");
    assert_eq!(bench.wire.paces, [ms(10)]);
}

#[test]
fn a_sender_that_waits_for_its_pace_is_not_blocked_by_its_peer() {
    let mut bench = started(Script { gap: ms(5000), ..Script::default() });
    bench.ack(101);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Idle);
    bench.expect_nothing();
    bench.pace();
    bench.expect("101:201E");
    assert_eq!(bench.timer_runs(), ms(1000));
}

#[test]
fn a_sender_that_waits_for_its_pace_after_going_back_probes_nothing() {
    let mut bench = started(Script { gap: ms(10), ..Script::default() });
    bench.pace();
    bench.pace();
    bench.expire_timer();
    bench.expect("1:101E 101:201E 201:301E 1:101R");
    bench.ack(101);
    bench.ack(201); // the third is due in 10 ms, and nothing is in flight
    bench.expect("101:201R");
    assert_eq!(bench.expire_timer(), TimerOutcome::Idle);
    bench.expect_nothing();
    bench.pace();
    bench.expect("201:301R");
}

#[test]
fn rfc3042_s2_only_two_duplicates_let_new_data_out_even_if_pacing_leaves_room_for_more() {
    let mut bench = started(Script { gap: ms(10), ..Script::default() });
    bench.pace();
    bench.cfg.limited_transmit = true;
    bench.cfg.duplicate_ack_threshold = 9;
    bench.dup_acks(4);
    bench.expect("1:101E 101:201E 201:301E 301:401E");
}

/// A sender that asks for the pace of everything.
fn asking(gap: Time, shrinks_to: Option<Time>) -> Bench {
    let asks = Asks { paces: true, ..Asks::default() };
    started(Script { gap, asks, shrinks_to, ..Script::default() })
}

#[test]
fn a_gap_that_shrinks_lets_the_packet_go_that_waits_if_congestion_control_asks() {
    let mut bench = asking(ms(100), Some(ms(20)));
    bench.sent();
    bench.wait(ms(10));
    bench.ack(101);
    assert_eq!(bench.wire.paces, [ms(100), ms(20)]);
    bench.wire.paces.remove(0);
    bench.pace();
    bench.expect("101:201E");
    let mut bench = started(Script { gap: ms(100), shrinks_to: Some(ms(20)), ..Script::default() });
    bench.wait(ms(30));
    bench.ack(101);
    bench.expect("1:101E");
}

#[test]
fn a_gap_that_has_shrunk_to_less_than_has_passed_lets_the_packet_go_at_once() {
    let mut bench = asking(ms(100), Some(ms(20)));
    bench.wait(ms(30));
    bench.ack(101);
    bench.expect("1:101E 101:201E");
    assert_eq!(bench.wire.paces, [ms(100), ms(50)]);
    bench.wire.paces.remove(0);
    bench.pace();
    bench.expect("201:301E");
    bench.pace();
    bench.expect("301:401E");
    let pending = bench.wire.paces.len();
    bench.now = ms(100);
    bench.sender.on_pace(&mut Env { now: bench.now, cfg: &bench.cfg, io: &mut bench.wire });
    assert_eq!(bench.wire.paces.len(), pending, "the event that came too late asks for no other");
}

#[test]
fn retransmissions_keep_to_their_pace_if_congestion_control_asks() {
    for sack in [false, true] {
        let asks = Asks { paces: true, ..Asks::default() };
        let cfg = SenderConfig { initial_window: 500, sack, ..CFG };
        let mut bench = started_with(cfg, Script { gap: ms(100), asks, ..Script::default() });
        (0..4).for_each(|_| bench.pace());
        bench.sent();
        let left = bench.now;
        if sack {
            (0..3).for_each(|i| bench.sack(&[(101, 201 + 100 * i)]));
        } else {
            bench.dup_acks(3);
        }
        bench.expect_nothing();
        assert!(bench.sender.in_recovery());
        bench.pace();
        assert_eq!(bench.now, left + ms(100));
        bench.expect("1:101R");
    }
}

#[test]
fn a_timeout_keeps_to_the_pace_if_congestion_control_asks() {
    let mut bench = asking(ms(5000), None);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect_nothing();
    bench.pace();
    assert_eq!(bench.now, ms(5000));
    bench.expect("1:101R");
    assert_eq!(bench.timer_runs(), ms(2000), "the backed-off timer");
}

#[test]
fn facts_go_into_the_packets_sent_from_then_on() {
    let mut bench = started(Script::default());
    assert_eq!(bench.wire.facts.field, 0);
    bench.ack(101);
    assert_eq!(bench.wire.facts.field, 100);
}

#[test]
fn a_wake_up_call_comes_once_and_may_let_data_out() {
    let mut bench = started(Script { wakes: [Some(ms(3)), None, None, None], ..Script::default() });
    bench.sent();
    assert_eq!(bench.wire.wakes, [ms(3)]);
    bench.ack(1);
    assert_eq!(bench.wire.wakes, [ms(3)], "asked for once");
    bench.wake_at(ms(2));
    bench.expect_nothing();
    bench.wake_at(ms(3));
    bench.expect("301:401E");
    bench.wake_at(ms(3));
    bench.expect_nothing();
}

#[test]
fn a_wake_up_call_may_ask_for_the_next() {
    let mut bench = started(Script { wakes: [Some(ms(3)), None, None, None], again: Some(ms(6)), ..Script::default() });
    bench.wake_at(ms(3));
    assert_eq!(bench.wire.wakes, [ms(3), ms(6)]);
}

#[test]
fn a_wake_up_call_may_be_asked_for_on_a_loss_a_timeout_and_an_echo() {
    let script = || Script { wakes: [None, Some(ms(5000)), Some(ms(6000)), Some(ms(7000))], ..Script::default() };
    let mut bench = started(script());
    bench.dup_acks(3);
    assert_eq!(bench.wire.wakes, [ms(5000)]);
    let mut bench = started(script());
    bench.expire_timer();
    assert_eq!(bench.wire.wakes, [ms(6000)]);
    let mut bench = started(script());
    bench.receive(101, Flags::ECE, &[]);
    assert_eq!(bench.wire.wakes, [ms(7000)]);
}
