//! D2TCP (Vamanan et al., SIGCOMM 2012): DCTCP whose flows back off by the urgency of their deadlines.

mod readings;

use super::{Dctcp, DctcpSender, Effort, FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal};
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, QueueDiscipline, SenderCx, TransferFacts};
use fanin_network::queue::{MarkAt, Threshold};
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "d2tcp",
    summary: "D2TCP: DCTCP whose back-off depends on the deadline of the flow.",
    params: PARAMS,
    transport: &[],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a kernel module on the senders, deadlines of applications, and an ECN threshold",
    reacts_to: &[Signal::Marks],
    colour: "#117733",
    marker: "H",
    build: |values| Box::new(Bundle::new(values)),
};

const PARAMS: &[Param] = &[
    DctcpSender::MARK_THRESHOLD,
    MarkAt::PARAM,
    DctcpSender::G,
    DctcpSender::ALPHA0,
    DctcpSender::MIN_WINDOW,
    Param::new("urgency-min", Kind::Number, "0.5", "Smallest exponent of alpha.", "Vamanan et al. 2012: 0.5")
        .reading("D2TCP3"),
    Param::new("urgency-max", Kind::Number, "2", "Largest exponent of alpha.", "Vamanan et al. 2012: 2")
        .reading("D2TCP3"),
    Param::new(
        "sawtooth",
        Kind::Fraction,
        "3/4",
        "Mean window, as a share of the current one, for the estimate of the time still needed.",
        "Vamanan et al. 2012: 3/4",
    )
    .at_least(0.01)
    .reading("D2TCP2"),
    Param::new(
        "late",
        Kind::Choice(&["give-way", "hurry", "as-dctcp"]),
        "give-way",
        "The exponent once the deadline has passed: the smallest, the largest, or 1.",
        "public ns-3 implementation: the smallest",
    )
    .reading("D2TCP1"),
];

struct Bundle {
    marking: Threshold,
    sender: DctcpSender,
    urgency: Urgency,
}

impl Bundle {
    fn new(values: &Values) -> Self {
        let (min, max) = (values.number("urgency-min"), values.number("urgency-max"));
        // Numbers of the values, which may be equal.
        let late = [min, max, 1.0][values.choose("late", &[("give-way", 0), ("hurry", 1), ("as-dctcp", 2)])];
        Self {
            marking: DctcpSender::marking(values),
            sender: DctcpSender::new(values),
            urgency: Urgency { min, max, sawtooth: values.number("sawtooth"), late },
        }
    }
    fn sender(&self, mss: u64) -> D2tcp {
        let transfer = TransferFacts { first: 0, bytes: None, deadline: None };
        D2tcp { dctcp: self.sender.build(mss), urgency: self.urgency, transfer }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(self.sender(flow.mss))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}

/// How the exponent of alpha follows from time needed and time left.
#[derive(Clone, Copy, Debug)]
struct Urgency {
    min: f64,
    max: f64,
    /// Mean window over present window.
    sawtooth: f64,
    /// The exponent after the deadline.
    late: f64,
}

/// DCTCP's sender with a deadline.
#[derive(Clone, Copy, Debug)]
struct D2tcp {
    dctcp: Dctcp,
    urgency: Urgency,
    /// What is being sent.
    transfer: TransferFacts,
}

impl D2tcp {
    /// The exponent `d`.
    fn urgency(&self, cx: &SenderCx<'_>) -> f64 {
        let (Some(deadline), Some(bytes), Some(rtt)) = (self.transfer.deadline, self.transfer.bytes, cx.srtt) else {
            return 1.0;
        };
        let Urgency { min, max, sawtooth, late } = self.urgency;
        let left = deadline.saturating_sub(cx.now).secs();
        if left <= 0.0 {
            // READING: D2TCP1.
            return late;
        }
        let bytes = (self.transfer.first + bytes).saturating_sub(cx.una) as f64;
        let needed = bytes * rtt.secs() / (sawtooth * cx.window.cwnd);
        // Not `clamp`, which panics where a scenario sets the smallest above the largest.
        (needed / left).min(max).max(min)
    }
}

impl CongestionControl for D2tcp {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        self.transfer = *transfer;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if self.dctcp.lets_grow(ack) {
            NewReno::grow(cx, ack.acked);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let penalty = libm::pow(self.dctcp.alpha(), self.urgency(cx));
        self.dctcp.reduce(cx, penalty);
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.dctcp.probes(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::TestSender;
    use fanin_core::units::Time;

    /// A sender with alpha = 1/4, a window of ten segments of 1000 bytes and a round trip of 1 ms, at time 10 ms, with
    /// 75,000 bytes to send: it needs 10 ms at three quarters of its window.
    fn bench(params: &[(&str, &str)], deadline_ms: Option<u64>) -> TestSender<D2tcp> {
        let params = params.iter().fold(Values::defaults(&[PARAMS]), |params, (key, value)| params.with(key, value));
        let mut bench = TestSender::new(Bundle::new(&params.with("alpha0", "0.25")).sender(1000), 10.0);
        bench.now = Time::from_ms(10);
        bench.srtt = Some(Time::from_ms(1));
        let deadline = deadline_ms.map(Time::from_ms);
        bench.cc.on_transfer(&TransferFacts { first: 1, bytes: Some(75_000), deadline });
        bench
    }
    #[track_caller]
    fn urgency(params: &[(&str, &str)], deadline_ms: Option<u64>, expected: f64) {
        let found = bench(params, deadline_ms).call(|cc, cx| cc.urgency(cx));
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn the_urgency_is_the_time_needed_over_the_time_left_within_bounds() {
        urgency(&[], Some(20), 1.0);
        urgency(&[], Some(22), 10.0 / 12.0);
        urgency(&[], Some(18), 1.25);
        urgency(&[], Some(100), 0.5);
        urgency(&[], Some(11), 2.0);
        urgency(&[("urgency-max", "8"), ("urgency-min", "0.01")], Some(12), 5.0);
        urgency(&[("urgency-max", "8"), ("urgency-min", "0.01")], Some(110), 0.1);
        urgency(&[("sawtooth", "1")], Some(20), 0.75);
    }

    #[test]
    fn a_flow_without_a_deadline_or_an_end_is_dctcp() {
        urgency(&[], None, 1.0);
        let mut endless = bench(&[], Some(11));
        endless.cc.on_transfer(&TransferFacts { first: 1, bytes: None, deadline: Some(Time::from_ms(11)) });
        assert!((endless.call(|cc, cx| cc.urgency(cx)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn after_the_deadline_a_flow_gives_way_or_what_else_is_said() {
        for (late, exponent) in [("give-way", 0.5), ("hurry", 2.0), ("as-dctcp", 1.0)] {
            urgency(&[("late", late)], Some(10), exponent);
            urgency(&[("late", late)], Some(3), exponent);
        }
    }

    #[test]
    fn the_bytes_left_are_those_not_acknowledged_of_this_transfer() {
        let mut bench = bench(&[], Some(18));
        bench.una += 30_000;
        bench.nxt = bench.una;
        assert!((bench.call(|cc, cx| cc.urgency(cx)) - 0.75).abs() < 1e-9);
        // The next transfer on the same connection: all of its bytes are left.
        let next = TransferFacts { first: 30_001, bytes: Some(75_000), deadline: Some(Time::from_ms(18)) };
        bench.cc.on_transfer(&next);
        assert!((bench.call(|cc, cx| cc.urgency(cx)) - 1.25).abs() < 1e-9);
    }

    #[test]
    fn the_cut_is_by_alpha_to_the_power_of_the_urgency() {
        // 0.25^2 = 1/16, 0.25^1 = 1/4, 0.25^0.5 = 1/2.
        for (deadline, penalty) in [(11, 1.0 / 16.0), (20, 0.25), (100, 0.5)] {
            let mut bench = bench(&[], Some(deadline));
            bench.echo();
            assert!((bench.segments() - 10.0 * (1.0 - penalty / 2.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn growth_is_one_segment_per_round_trip_without_marks() {
        let mut bench = bench(&[], Some(11));
        bench.round(1, 0);
        assert!((bench.segments() - 10.1).abs() < 1e-9);
        bench.round(1, 1);
        assert!((bench.segments() - 10.1).abs() < 1e-9);
    }
}
