//! The whole host, driven event by event.

use super::PARAMS;
use super::host::Host;
use super::marks::Alpha;
use super::rules::{Arm, Rules};
use crate::NodeFacts;
use fanin_core::ids::{FlowId, NodeId};
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, EcnMode, ReceiverAction, ReceiverCx, WindowControl,
};
use fanin_core::units::{Rate, Time};
use fanin_param::Values;
use fanin_tcp::receiver::{AckList, Receiver, ReceiverConfig, Segment};
use std::collections::BTreeMap;

const MSS: u64 = 1000;

/// A sent acknowledgement: its flow, and whether it requests a retransmission.
type Left = (usize, bool);

struct Bench {
    host: Host,
    now: Time,
    receivers: BTreeMap<usize, Receiver>,
    windows: BTreeMap<usize, u64>,
    timers: Vec<(Time, u64)>,
}

impl Bench {
    /// A host with these values instead of the defaults.
    fn new(values: &[(&str, &str)]) -> Self {
        let params = values.iter().fold(Values::defaults(&[PARAMS]), |params, (key, value)| params.with(key, value));
        let facts = NodeFacts {
            node: NodeId::default(),
            rate: Rate::from_bps(1_000_000_000),
            base_rtt: Time::from_us(160),
            mss: MSS,
            packet: MSS + 54,
        };
        Self {
            host: Host::new(Rules::new(&params), &facts),
            now: Time::from_us(1),
            receivers: BTreeMap::new(),
            windows: BTreeMap::new(),
            timers: Vec::new(),
        }
    }

    fn call<R>(&mut self, call: impl FnOnce(&mut Host, &mut ReceiverCx<'_>) -> R) -> (R, Vec<Left>) {
        let mut actions = Vec::new();
        let rate = Rate::from_bps(1_000_000_000);
        let mut cx = ReceiverCx { now: self.now, mss: MSS, rate, most: 65_535, actions: &mut actions };
        let result = call(&mut self.host, &mut cx);
        let mut left = Vec::new();
        for action in actions {
            match action {
                ReceiverAction::Window { flow, bytes } => drop(self.windows.insert(flow.index(), bytes)),
                ReceiverAction::Release { flow, push } => left.push((flow.index(), push)),
                ReceiverAction::Timer { at, token } => self.timers.push((at, token)),
                other @ (ReceiverAction::Acks { .. } | ReceiverAction::Control { .. }) => unreachable!("{other:?}"),
            }
        }
        (result, left)
    }

    fn ack(&mut self, flow: usize, kind: AckKind) -> Vec<Left> {
        let (decision, mut left) = self.call(|host, cx| host.on_ack(cx, FlowId::new(flow), kind));
        if decision == AckDecision::Send {
            left.insert(0, (flow, false));
        }
        left
    }

    /// A SYN arrives. Returns the acknowledgements sent.
    fn syn_of(&mut self, flow: usize, announced: Announcement) -> Vec<Left> {
        self.call(|host, cx| host.on_open(cx, FlowId::new(flow), &announced));
        self.receivers.entry(flow).or_default();
        self.ack(flow, AckKind::SynAck)
    }

    fn syn(&mut self, flow: usize, bytes: u64) -> Vec<Left> {
        self.syn_of(flow, Announcement { bytes: Some(bytes), deadline: None })
    }

    fn segment(&mut self, flow: usize, segment: &Segment) -> Vec<Left> {
        let cfg = ReceiverConfig {
            ack_every: 1,
            ack_delay: Time::ZERO,
            quick_acks: 0,
            sack: false,
            ecn: EcnMode::Off,
            ecn_ack: false,
            late_change: false,
            tells_more: false,
            linux: None,
        };
        let receiver = self.receivers.get_mut(&flow).expect("it was opened");
        let delivery = receiver.on_segment(segment, self.now, &cfg, &mut AckList::new());
        let Segment { seq, len, ce, fin, .. } = *segment;
        let arrival = Arrival { seq, payload: len, ce, fin, field: 0, delivery, next: receiver.next() };
        let ((), earlier) = self.call(|host, cx| host.on_data(cx, FlowId::new(flow), &arrival));
        assert!(earlier.is_empty(), "acknowledgements leave when one wants to");
        let kind = if delivery.duplicate || delivery.out_of_order { AckKind::Duplicate } else { AckKind::Data };
        self.ack(flow, kind)
    }

    /// Segment `n` of a flow arrives, counted from 0. Returns the acknowledgements sent.
    fn data(&mut self, flow: usize, n: u64) -> Vec<Left> {
        self.segment(flow, &numbered(n))
    }

    /// Processes the earliest timer events. None if no timer runs.
    fn tick(&mut self) -> Option<Vec<Left>> {
        self.now = self.timers.iter().map(|(at, _)| *at).min()?;
        let (due, rest) = self.timers.iter().partition(|(at, _)| *at == self.now);
        self.timers = rest;
        let due: Vec<(Time, u64)> = due;
        Some(due.into_iter().flat_map(|(_, token)| self.call(|host, cx| host.on_timer(cx, token)).1).collect())
    }

    /// The times of the first `count` retransmission requests of flow 0 if nothing arrives.
    fn requests(&mut self, count: usize) -> Vec<Time> {
        let mut times = Vec::new();
        while times.len() < count {
            let Some(left) = self.tick() else { break };
            times.extend(left.into_iter().filter(|left| *left == (0, true)).map(|_| self.now));
        }
        times
    }

    fn wait(&mut self, us: u64) {
        self.now += Time::from_us(us);
    }
}

fn numbered(n: u64) -> Segment {
    Segment { seq: 1 + n * MSS, len: MSS, ..Segment::default() }
}

/// Acknowledgements of these flows without retransmission requests.
fn acks(flows: &[usize]) -> Vec<Left> {
    flows.iter().map(|flow| (*flow, false)).collect()
}

#[test]
fn connection_setup_is_throttled() {
    let mut bench = Bench::new(&[("queue-max", "4")]);
    for flow in 0..4 {
        assert_eq!(bench.syn(flow, 10 * MSS), acks(&[flow]));
    }
    assert_eq!([bench.syn(4, 10 * MSS), bench.syn(5, 10 * MSS)], [acks(&[]), acks(&[])]);
    assert_eq!((bench.host.in_flight(), bench.host.waiting()), (4, 2));
    assert_eq!(bench.windows[&5], MSS, "a segment each at first");
}

#[test]
fn at_most_lets_one_more_go_than_below() {
    for (release, most) in [("below", 4), ("at-most", 5)] {
        let mut bench = Bench::new(&[("queue-max", "4"), ("release", release)]);
        (0..8).for_each(|flow| drop(bench.syn(flow, 10 * MSS)));
        assert_eq!(bench.host.in_flight(), most);
    }
}

#[test]
fn what_arrives_makes_room_and_the_flow_with_the_least_to_come_goes_first() {
    let mut bench = Bench::new(&[("queue-max", "2")]);
    for flow in 0..3 {
        bench.syn(flow, 5 * MSS);
    }
    // Flow 0 has fewer remaining bytes than flow 2, whose SYN waits: it takes the free segment itself.
    assert_eq!(bench.data(0, 0), acks(&[0]));
    assert_eq!(bench.data(0, 1), acks(&[0]));
    assert_eq!(bench.host.in_flight(), 2);
    let mut fair = Bench::new(&[("queue-max", "2"), ("priority", "off")]);
    for flow in 0..3 {
        fair.syn(flow, 5 * MSS);
    }
    assert_eq!(fair.data(0, 0), acks(&[2]), "without priority the SYN was first");
}

#[test]
fn an_acknowledgement_is_put_off_only_so_often() {
    for (values, times) in [
        (&[("skip-cap-other", "3"), ("skip-cap-deadline", "5")][..], 3),
        (&[("skip-cap", "formula"), ("rto-r-min", "50us")][..], 2), // Half of 6250 bytes or 5.9 packets.
    ] {
        let mut bench = Bench::new(&[&[("queue-max", "1")], values].concat());
        bench.syn(0, 50 * MSS);
        bench.syn(1, 50 * MSS);
        for n in 0..times {
            assert_eq!(bench.data(0, n), acks(&[0]), "{n}");
        }
        assert_eq!(bench.data(0, times), acks(&[1]));
    }
}

#[test]
fn flows_with_a_deadline_have_a_cap_of_their_own() {
    let mut bench = Bench::new(&[("queue-max", "1"), ("skip-cap-deadline", "1"), ("skip-cap-other", "9")]);
    let hurried = Announcement { bytes: Some(50 * MSS), deadline: Some(Time::from_ms(20)) };
    bench.syn(0, 50 * MSS);
    bench.syn_of(1, hurried);
    assert_eq!([bench.data(0, 0), bench.data(0, 1)], [acks(&[0]), acks(&[1])]);
}

#[test]
fn a_window_of_several_segments_may_overshoot() {
    let mut bench = Bench::new(&[("queue-max", "4")]);
    bench.syn(0, 103 * MSS);
    for n in 0..3 {
        bench.data(0, n);
    }
    // Slow start: one segment arrives, two are granted.
    assert_eq!((bench.windows[&0], bench.host.in_flight()), (4 * MSS, 4));
    bench.syn(1, 100 * MSS);
    bench.data(0, 3);
    assert_eq!(bench.windows[&0], 2 * MSS, "half of four from now on; what is out is not taken back");
}

#[test]
fn windows_are_assigned_again_when_a_flow_ends() {
    let mut bench = Bench::new(&[("queue-max", "4")]);
    bench.syn(0, MSS);
    bench.syn(1, 100 * MSS);
    (0..3).for_each(|n| drop(bench.data(1, n)));
    assert_eq!(bench.windows[&1], 3 * MSS, "the other needs one");
    let fin = Segment { fin: true, ..numbered(0) };
    assert_eq!(bench.segment(0, &fin), acks(&[0]), "the last acknowledgement lets nothing out and does not wait");
    bench.data(1, 3);
    assert_eq!(bench.windows[&1], 4 * MSS);
}

#[test]
fn the_last_acknowledgement_lets_others_have_their_turn() {
    let mut bench = Bench::new(&[("queue-max", "1")]);
    bench.syn(0, MSS);
    bench.syn(1, MSS);
    assert_eq!(bench.segment(0, &Segment { fin: true, ..numbered(0) }), acks(&[0, 1]));
    assert_eq!(bench.ack(0, AckKind::Duplicate), acks(&[0]), "one that is over is no business of the list");
}

#[test]
fn data_that_came_before_changes_nothing_and_is_acknowledged() {
    let mut bench = Bench::new(&[]);
    bench.syn(0, 100 * MSS);
    (0..3).for_each(|n| drop(bench.data(0, n)));
    let before = (bench.windows[&0], bench.host.in_flight());
    assert_eq!(bench.data(0, 1), acks(&[0]));
    assert_eq!((bench.windows[&0], bench.host.in_flight()), before);
}

#[test]
fn repetitions_pass_unless_they_must_wait() {
    for (repeats, again) in [("pass", acks(&[0])), ("wait", acks(&[]))] {
        let mut bench = Bench::new(&[("queue-max", "1"), ("repeats", repeats)]);
        bench.syn(0, 50 * MSS);
        assert_eq!(bench.syn(0, 50 * MSS), again, "its SYN-ACK was lost");
        assert_eq!(bench.syn(1, 50 * MSS), acks(&[]));
        assert_eq!(bench.syn(1, 50 * MSS), acks(&[]), "the SYN-ACK to this one has not left yet");
        assert_eq!(bench.host.in_flight(), 1);
    }
}

#[test]
fn a_flow_of_unknown_size_has_one_segment_and_comes_last_first_come_first_served() {
    let mut bench = Bench::new(&[("queue-max", "1")]);
    let unknown = Announcement::default();
    bench.syn(0, 50 * MSS);
    bench.syn_of(1, unknown);
    bench.syn_of(2, unknown);
    bench.syn(3, 90 * MSS);
    assert_eq!(bench.data(0, 0), acks(&[0]));
    let sizes: Vec<u64> = (1..50).collect();
    for n in &sizes[..48] {
        bench.data(0, *n);
    }
    assert_eq!(bench.segment(0, &Segment { fin: true, ..numbered(49) }), acks(&[0, 3]));
    let mut alone = Bench::new(&[("queue-max", "1")]);
    alone.syn_of(1, unknown);
    alone.syn_of(2, unknown);
    assert_eq!(alone.data(1, 0), acks(&[2]), "no one is smaller");
    assert_eq!(alone.windows[&1], MSS);
}

#[test]
fn marks_cut_the_window_at_the_end_of_a_round_trip() {
    for (values, cut) in [(&[][..], true), (&[("ecn", "off")][..], false), (&[("marks-on-fin", "ignore")][..], true)] {
        let mut bench = Bench::new(values);
        bench.syn(0, 100 * MSS);
        (0..8).for_each(|n| drop(bench.data(0, n)));
        bench.timers.clear(); // Without the retransmission timer.
        bench.segment(0, &Segment { ce: true, ..numbered(8) });
        assert_eq!(bench.windows[&0], if cut { 9 * MSS } else { 10 * MSS }, "a marked segment does not grow it");
        bench.timers.retain(|(at, _)| *at < Time::from_ms(1));
        assert_eq!(bench.tick().is_some(), cut);
        // One of nine segments is marked; the share is weighted by 1/16 and halved.
        let expected = if cut { (9000.0_f64 * (1.0 - 1.0 / 9.0 / 16.0 / 2.0)).round() as u64 } else { 10 * MSS };
        assert_eq!(bench.windows[&0], expected);
    }
}

#[test]
fn the_mark_of_the_segment_with_fin_may_be_overlooked() {
    for (on_fin, timers) in [("count", 1), ("ignore", 0)] {
        let mut bench = Bench::new(&[("marks-on-fin", on_fin)]);
        bench.syn(0, MSS);
        bench.segment(0, &Segment { ce: true, fin: true, ..numbered(0) });
        assert_eq!(bench.timers.len(), timers);
    }
}

#[test]
fn the_timer_asks_again_and_leaves_one_segment() {
    for arm in ["on-release", "on-queue"] {
        let mut bench = Bench::new(&[("rto-r", arm)]);
        bench.syn(0, 100 * MSS);
        // It does not run on a SYN-ACK: the sender repeats its SYN.
        assert!(bench.timers.is_empty());
        (0..4).for_each(|n| drop(bench.data(0, n)));
        let start = bench.now;
        bench.wait(500);
        bench.data(0, 4);
        let restart = bench.now;
        assert_eq!(bench.tick().map(|left| left.len()), Some(0), "it moved on with the data");
        assert_eq!(bench.now, start + Time::from_ms(10));
        assert_eq!(
            bench.requests(4),
            [10, 30, 70, 230].map(|ms| restart + Time::from_ms(ms)),
            "{arm}: twice, and once more"
        );
        assert_eq!(bench.windows[&0], MSS);
    }
}

#[test]
fn data_that_came_twice_leaves_the_timer_running() {
    for arm in ["on-release", "on-queue"] {
        let mut bench = Bench::new(&[("rto-r", arm)]);
        bench.syn(0, 100 * MSS);
        (0..4).for_each(|n| drop(bench.data(0, n)));
        bench.wait(500);
        bench.data(0, 1);
        let repeated = bench.now;
        assert_eq!(bench.requests(2), [10, 30].map(|ms| repeated + Time::from_ms(ms)), "{arm}");
    }
}

#[test]
fn the_timer_does_not_run_when_off_and_not_in_recovery() {
    let mut off = Bench::new(&[("rto-r", "off")]);
    off.syn(0, 100 * MSS);
    off.data(0, 0);
    assert!(off.timers.is_empty());
    let mut bench = Bench::new(&[]);
    bench.syn(0, 100 * MSS);
    (0..4).for_each(|n| drop(bench.data(0, n)));
    (5..8).for_each(|n| drop(bench.data(0, n)));
    while let Some(left) = bench.tick() {
        assert_eq!(left, []);
    }
}

#[test]
fn on_queue_the_timer_runs_while_an_acknowledgement_waits() {
    for (arm, asks) in [("on-queue", true), ("on-release", false)] {
        let mut bench = Bench::new(&[("queue-max", "1"), ("priority", "off"), ("rto-r", arm)]);
        bench.syn(0, 50 * MSS);
        bench.syn(1, 50 * MSS);
        assert_eq!(bench.data(0, 0), acks(&[1]), "flow 0 waits");
        assert_eq!(bench.tick().is_some(), asks);
        // The retransmission request replaces the waiting acknowledgement, and is sent when its turn comes.
        assert_eq!(bench.data(1, 0), vec![(0, asks)]);
    }
}

#[test]
fn the_newest_flags_win() {
    let mut bench = Bench::new(&[("queue-max", "1"), ("priority", "off"), ("rto-r", "on-queue"), ("repeats", "wait")]);
    bench.syn(0, 50 * MSS);
    bench.syn(1, 50 * MSS);
    bench.data(0, 0);
    bench.tick();
    bench.data(0, 0); // A duplicate: its acknowledgement, which waits, requests nothing.
    assert_eq!(bench.data(1, 0), acks(&[0]));
}

#[test]
fn a_request_counts_as_put_off_already() {
    for (bonus, first) in [("0", (1, false)), ("9", (0, true))] {
        let mut bench = Bench::new(&[
            ("queue-max", "1"),
            ("rto-r", "on-queue"),
            ("skip-cap-other", "9"),
            ("push-bonus", bonus),
            ("repeats", "wait"),
        ]);
        bench.syn(0, 50 * MSS);
        bench.syn(1, 9 * MSS);
        bench.data(0, 0); // Flow 0 waits behind flow 1, which is sent.
        bench.tick();
        assert_eq!(bench.data(1, 0), [first], "flow 1 has less to come and passes, unless flow 0 is at its cap");
    }
}

#[test]
fn the_authors_wait_follows_the_clocks_last_digit() {
    let mut bench = Bench::new(&[("rto-r-wait", "clock-digit")]);
    bench.now = Time::from_ns(1003);
    bench.syn(0, 100 * MSS);
    bench.now = Time::from_ns(101_003);
    bench.data(0, 0); // A round trip of 100 us.
    assert_eq!(bench.tick(), Some(vec![]), "the timer has expired");
    assert_eq!(bench.now, Time::from_ns(10_101_003));
    assert_eq!(bench.windows[&0], MSS);
    assert_eq!(bench.tick(), Some(vec![(0, true)]));
    assert_eq!(bench.now, Time::from_ns(10_401_003));
}

#[test]
fn a_further_transfer_on_an_open_connection_counts_anew() {
    let mut bench = Bench::new(&[("queue-max", "4")]);
    bench.syn(0, 2 * MSS);
    (0..2).for_each(|n| drop(bench.data(0, n)));
    assert_eq!((bench.windows[&0], bench.host.in_flight()), (MSS, 0), "it begins anew");
    let more = Announcement { bytes: Some(9 * MSS), deadline: None };
    bench.call(|host, cx| host.on_open(cx, FlowId::new(0), &more));
    assert_eq!(bench.data(0, 2), acks(&[0]));
    assert_eq!((bench.windows[&0], bench.host.in_flight()), (2 * MSS, 2));
}

#[test]
fn requests_wait_for_their_turn_and_the_segment_that_they_let_out_counts() {
    // RCCE, section IV.B: requests wait in the list too.
    let mut bench = Bench::new(&[("queue-max", "2"), ("requests", "wait")]);
    for (flow, leaves) in [(0, true), (1, true), (2, false), (3, false)] {
        let (decision, left) = bench.call(|host, cx| host.on_request(cx, FlowId::new(flow)));
        assert_eq!((decision, left), (AckDecision::Hold, acks(&[flow][..usize::from(leaves)])), "{flow}");
    }
    assert_eq!((bench.host.in_flight(), bench.host.waiting()), (2, 2));
    let (again, left) = bench.call(|host, cx| host.on_request(cx, FlowId::new(2)));
    assert_eq!((again, left), (AckDecision::Send, vec![]), "more of a request that has been told of");
    // The response begins: its size is now known, and it goes before flows of unknown size.
    bench.receivers.entry(0).or_default();
    bench.call(|host, cx| host.on_open(cx, FlowId::new(0), &Announcement { bytes: Some(2 * MSS), deadline: None }));
    assert_eq!(bench.data(0, 0), acks(&[0]));
    assert_eq!(bench.segment(0, &Segment { fin: true, ..numbered(1) }), acks(&[0, 2]), "then the first that waits");
    assert_eq!((bench.host.in_flight(), bench.host.waiting()), (2, 1));
}

#[test]
fn requests_pass_where_they_need_not_wait() {
    for values in [&[("requests", "pass")][..], &[("requests", "wait"), ("scheduler", "off")]] {
        let mut bench = Bench::new(&[&[("queue-max", "1")], values].concat());
        for flow in 0..3 {
            let (decision, left) = bench.call(|host, cx| host.on_request(cx, FlowId::new(flow)));
            assert_eq!((decision, left), (AckDecision::Send, vec![]));
        }
        assert_eq!(bench.host.in_flight(), 0);
    }
}

#[test]
fn the_time_that_a_server_thinks_is_no_round_trip_and_starts_no_timer() {
    let mut bench = Bench::new(&[("requests", "wait"), ("rto-r", "on-queue")]);
    bench.call(|host, cx| host.on_request(cx, FlowId::new(0)));
    assert!(bench.timers.is_empty());
    bench.wait(5000);
    bench.receivers.entry(0).or_default();
    bench.call(|host, cx| host.on_open(cx, FlowId::new(0), &Announcement { bytes: Some(9 * MSS), deadline: None }));
    bench.data(0, 0);
    // Without a sample, the mean is its initial value and the timer is at its minimum.
    assert_eq!(bench.requests(1), [bench.host.flows[0].rtt.mean().max(Time::from_ms(10)) + Time::from_us(5001)]);
    assert_eq!(bench.host.flows[0].rtt.mean(), Time::from_ms(10));
}

#[test]
fn marks_act_on_threshold_and_growth_as_chosen() {
    // E23: after eight segments the window is nine; the marked segment is the ninth.
    for (action, marked, next) in
        [("code", 9000, 1000 * 1000 / 8969), ("avoidance", 10_000, 0), ("equation", 10_000, MSS)]
    {
        let mut bench = Bench::new(&[("mark-action", action)]);
        bench.syn(0, 100 * MSS);
        (0..8).for_each(|n| drop(bench.data(0, n)));
        bench.timers.retain(|(at, _)| *at < Time::from_ms(1));
        bench.segment(0, &Segment { ce: true, ..numbered(8) });
        assert_eq!(bench.windows[&0], marked, "{action}");
        bench.timers.retain(|(at, _)| *at < Time::from_ms(1));
        bench.tick().expect("the period ends");
        let cut = (marked as f64 * (1.0 - 1.0 / 9.0 / 16.0 / 2.0)).round() as u64;
        assert_eq!(bench.windows[&0], cut, "{action}: Eq. 2");
        bench.data(0, 9);
        let grown = if action == "avoidance" { MSS * MSS / cut } else { next };
        assert_eq!(bench.windows[&0], cut + grown, "{action}");
    }
}

#[test]
fn the_fixed_numbers_of_the_code_are_parameters() {
    let mut bench = Bench::new(&[("initial-threshold", "3000B"), ("mark-period", "70us"), ("first-rtt", "4ms")]);
    bench.syn(0, 100 * MSS);
    assert_eq!(bench.host.flows[0].rtt.mean(), Time::from_ms(4));
    (0..2).for_each(|n| drop(bench.data(0, n)));
    assert_eq!(bench.windows[&0], 3 * MSS);
    bench.data(0, 2);
    assert_eq!(bench.windows[&0], 3 * MSS + MSS / 3, "slow start has ended");
    bench.timers.clear();
    bench.segment(0, &Segment { ce: true, ..numbered(3) });
    assert!(bench.timers.iter().any(|(at, _)| *at == Time::from_us(71)), "{:?}", bench.timers);
}

#[test]
fn without_a_scheduler_each_flow_has_its_own_window() {
    let mut bench = Bench::new(&[("scheduler", "off"), ("queue-max", "2")]);
    for flow in 0..4 {
        assert_eq!(bench.syn(flow, 100 * MSS), acks(&[flow]));
    }
    for n in 0..9 {
        assert_eq!(bench.data(0, n), acks(&[0]));
    }
    assert_eq!(bench.windows[&0], 10 * MSS);
}

#[test]
fn the_defaults_are_the_authors() {
    let facts = NodeFacts {
        node: NodeId::default(),
        rate: Rate::from_bps(1_000_000_000),
        base_rtt: Time::from_us(160),
        mss: 1446,
        packet: 1500,
    };
    let rcc = Rules::new(&Values::defaults(&[PARAMS]));
    assert_eq!((rcc.cap(false, &facts), rcc.cap(true, &facts), rcc.push_bonus), (700, 300, 150));
    assert_eq!((rcc.marks.alpha, rcc.timer.arm, rcc.equal_only), (Alpha::Code, Arm::OnRelease, false));
    assert_eq!((rcc.queue_max, rcc.timer.minimum), (40, Time::from_ms(10)));
    assert!((rcc.marks.g - 1.0 / 16.0).abs() < 1e-12 && rcc.scheduler && rcc.priority && rcc.marks.on);
}
