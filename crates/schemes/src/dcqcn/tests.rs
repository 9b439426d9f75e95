//! DCQCN against the clauses of its paper.

use super::*;
use crate::test_sender::{MSS, TestSender};
use fanin_core::ids::FlowId;
use fanin_core::roles::{Arrival, Delivery, ReceiverAction, ReceiverCx};
use fanin_core::units::Rate;

const US: fn(u64) -> Time = Time::from_us;
/// A link of 8 Gbit/s sends 1000 bytes in a microsecond.
const LINE: f64 = 8e9;

fn bench(params: &[(&str, &str)]) -> TestSender<Dcqcn> {
    let facts = FlowFacts::of_any(MSS as u64, Rate::from_bps(LINE as u64));
    let config =
        Config::new(&params.iter().fold(Values::defaults(&[PARAMS]), |values, (key, value)| values.with(key, value)));
    TestSender::new(Dcqcn::new(config, &facts), 10.0)
}

impl TestSender<Dcqcn> {
    /// One acknowledgement at this microsecond, after a notification or without.
    fn hears(&mut self, at: u64, notified: bool) -> f64 {
        self.now = US(at);
        self.send(1);
        if notified {
            self.call(|cc, cx| cc.on_control(cx, &ControlPacket::default()));
        }
        self.ack(false);
        self.cc.rate / LINE
    }
    /// Its wake-ups up to this microsecond.
    fn until(&mut self, at: u64) -> f64 {
        while self.wake <= US(at) {
            self.now = self.wake;
            self.call(Dcqcn::on_wake);
        }
        self.now = US(at);
        self.cc.rate / LINE
    }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn a_flow_begins_at_the_rate_of_its_link_and_stays_there_without_marks() {
    let mut bench = bench(&[]);
    assert_eq!(bench.packet.gap, US(1));
    near(bench.hears(1000, false), 1.0);
    assert!(bench.wake.is_never(), "no timer runs");
}

#[test]
fn the_first_notification_halves_the_rate_as_alpha_begins_with_1() {
    let mut bench = bench(&[]);
    near(bench.hears(10, true), 0.5);
    near(bench.cc.target / LINE, 1.0);
    near(bench.cc.alpha, 1.0);
    assert_eq!(bench.packet.gap, US(2), "paced by the rate");
}

#[test]
fn a_notification_cuts_by_half_of_alpha_which_falls_with_each_timer_without_one() {
    let mut bench = bench(&[("g", "0.5"), ("rate-timer", "1s")]);
    bench.hears(0, true);
    // Two alpha timers of 55 us, and not a third.
    near(bench.hears(164, true), 0.5 * (1.0 - 0.25 / 2.0));
    near(bench.cc.alpha, 0.25 / 2.0 + 0.5);
    // None has expired at 54 us after that.
    near(bench.hears(164 + 54, true), 0.4375 * (1.0 - 0.625 / 2.0));
    near(bench.cc.target / LINE, 0.4375);
}

/// The microseconds at which the receiver sends notifications of flow 7, whose segments arrive marked at these.
fn notifications(marks: &[u64]) -> Vec<u64> {
    let mut receiver = Receiver::new(US(50));
    let (mut sent, mut timers) = (Vec::new(), Vec::new());
    for at in 0..1000 {
        let mut actions = Vec::new();
        let mut cx =
            ReceiverCx { now: US(at), mss: 1000, rate: Rate::from_bps(1), most: 1 << 20, actions: &mut actions };
        if timers.contains(&US(at)) {
            receiver.on_timer(&mut cx, 7);
        }
        // Every microsecond a segment arrives.
        let (ce, delivery) = (marks.contains(&at), Delivery::default());
        let arrival = Arrival { seq: 1, payload: 1000, ce, fin: false, field: 0, delivery, next: 1 };
        receiver.on_data(&mut cx, FlowId::new(7), &arrival);
        for action in actions {
            match action {
                ReceiverAction::Timer { at, token: 7 } => timers.push(at),
                ReceiverAction::Control { flow, .. } if flow == FlowId::new(7) => sent.push(at),
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(!receiver.knows(FlowId::new(7)));
    sent
}

#[test]
fn there_is_one_notification_at_once_and_one_at_the_end_of_each_interval_with_marks() {
    assert_eq!(notifications(&[10]), [10]);
    assert_eq!(notifications(&[10, 11, 59, 60]), [10, 60, 110]);
    assert_eq!(notifications(&[10, 60, 300]), [10, 60, 300]);
    assert_eq!(notifications(&(0..200).collect::<Vec<_>>()), [0, 50, 100, 150, 200]);
}

#[test]
fn fast_recovery_halves_the_way_to_the_target_five_times() {
    let mut bench = bench(&[]);
    bench.hears(0, true);
    for (step, rate) in [0.75, 0.875, 0.9375, 0.96875, 0.984_375].into_iter().enumerate() {
        near(bench.until(55 * (step as u64 + 1) - 1), 1.0 - 2.0 * (1.0 - rate));
        near(bench.until(55 * (step as u64 + 1)), rate);
    }
}

/// A flow that was cut to this share of its link, with a target below it.
fn cut_twice(params: &[(&str, &str)]) -> TestSender<Dcqcn> {
    let mut bench = bench(params);
    bench.hears(0, true);
    bench.hears(50, true);
    near(bench.cc.target / LINE, 0.5);
    bench
}

#[test]
fn then_the_target_rises_by_the_increase() {
    let mut bench = cut_twice(&[("increase", "80Mbps")]);
    bench.until(50 + 5 * 55);
    near(bench.cc.target / LINE, 0.5);
    let before = bench.cc.rate / LINE;
    near(bench.until(50 + 6 * 55), f64::midpoint(before, 0.51));
    bench.until(50 + 8 * 55);
    near(bench.cc.target / LINE, 0.53);
}

#[test]
fn the_byte_counter_makes_steps_too_and_both_together_hyper_increase() {
    let mut bench = cut_twice(&[("increase", "80Mbps"), ("hyper-increase", "800Mbps"), ("byte-counter", "1KB")]);
    bench.until(50 + 6 * 55);
    near(bench.cc.target / LINE, 0.51);
    let mut targets = Vec::new();
    for _ in 0..7 {
        bench.hears(50 + 6 * 55, false);
        targets.push((bench.cc.target / LINE * 1e6).round() / 1e6);
    }
    assert_eq!(targets, [0.52, 0.53, 0.54, 0.55, 0.56, 0.66, 0.76], "the sixth is the first with both beyond five");
}

#[test]
fn a_notification_starts_timer_and_byte_counter_anew() {
    let mut bench = bench(&[("byte-counter", "3KB")]);
    bench.hears(0, true);
    bench.hears(51, false);
    bench.hears(52, false);
    let rate = bench.hears(53, true);
    near(bench.hears(54, false), rate);
    near(bench.until(53 + 54), rate);
    assert!(bench.until(53 + 55) > rate);
}

#[test]
fn the_rate_has_a_bound_below_and_the_link_above() {
    let mut bench = bench(&[("min-rate", "4Gbps")]);
    near(bench.hears(0, true), 0.5);
    near(bench.hears(50, true), 0.5);
    near(bench.until(1_000_000), 1.0);
    assert!(bench.wake.is_never(), "the timer stops there");
}

#[test]
fn a_loss_leaves_rate_and_window() {
    let mut bench = bench(&[]);
    let (window, rate) = (bench.window.cwnd, bench.cc.rate);
    assert_eq!(bench.call(Dcqcn::on_loss), Cut::window(window));
    assert_eq!(bench.call(|cc, cx| cc.on_timeout(cx, 1)), Cut::window(window));
    bench.echo();
    assert_eq!((bench.window.cwnd, bench.cc.rate), (window, rate));
}

#[test]
fn the_window_is_what_the_link_carries_in_a_round_trip_and_an_interval() {
    near(bench(&[]).segments(), 52.0);
    near(bench(&[("in-flight", "7KB")]).segments(), 7.0);
}
