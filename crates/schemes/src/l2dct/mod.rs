//! L2DCT (Munir et al., INFOCOM 2013): DCTCP whose back-off depends on the bytes that a flow has sent, so that short
//! flows finish first although their sizes are unknown.
//!
//! The rules are those on which two public implementations agree: one for ns-3, and that of PIAS for ns-2.

mod readings;

use super::{Dctcp, DctcpSender, Effort, FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal};
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, QueueDiscipline, SenderCx, TransferFacts};
use fanin_network::queue::{MarkAt, Threshold};
use fanin_param::{Kind, Param, Values, Window};
use fanin_tcp::FIRST_DATA;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "l2dct",
    summary: "L2DCT: DCTCP whose growth and back-off depend on the bytes that a flow has sent.",
    params: PARAMS,
    transport: &[],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a kernel module on the senders, and an ECN threshold in the switch",
    reacts_to: &[Signal::Marks],
    colour: "#56B4E9",
    marker: ">",
    build: |params| Box::new(Bundle::new(params)),
};

const PARAMS: &[Param] = &[
    DctcpSender::MARK_THRESHOLD,
    MarkAt::PARAM,
    DctcpSender::G,
    DctcpSender::ALPHA0,
    DctcpSender::MIN_WINDOW.reading("L2DCT3"),
    Param::new(
        "weight-max",
        Kind::Number,
        "2.5",
        "Weight of a flow that has sent few bytes.",
        "Munir et al. 2013: 2.5",
    )
    .at_least(0.001),
    Param::new(
        "weight-min",
        Kind::Number,
        "0.125",
        "Weight of a flow that has sent many bytes.",
        "Munir et al. 2013: 0.125",
    ),
    Param::new(
        "light-up-to",
        Kind::Window,
        "200KB",
        "Bytes sent up to which a flow has the largest weight.",
        "ns-2: 200e3 bytes",
    )
    .reading("L2DCT2"),
    Param::new(
        "heavy-from",
        Kind::Window,
        "1MB",
        "Bytes sent from which on a flow has the smallest weight.",
        "ns-2: 1000e3 bytes",
    )
    .reading("L2DCT2"),
    Param::new(
        "integer-division",
        Kind::Bool,
        "false",
        "Between the two the weight stays at its maximum, as with integer division.",
        "the paper's line",
    )
    .reading("L2DCT1"),
    Param::new(
        "count",
        Kind::Choice(&["transfer", "connection"]),
        "transfer",
        "Whether to count the bytes sent for the current transfer or for all transfers of the connection.",
        "a flow of the paper is one response",
    )
    .reading("L2DCT4"),
    Param::new(
        "weighted-growth",
        Kind::Bool,
        "true",
        "Whether the weight scales the growth; off: as DCTCP.",
        "Munir et al. 2013",
    ),
    Param::new(
        "weighted-cut",
        Kind::Bool,
        "true",
        "Whether the weight scales the back-off; off: as DCTCP.",
        "Munir et al. 2013",
    ),
];

struct Bundle {
    marking: Threshold,
    sender: DctcpSender,
    weight_max: f64,
    weight_min: f64,
    light: Window,
    heavy: Window,
    integer_division: bool,
    per_connection: bool,
    growth: bool,
    cut: bool,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        Self {
            marking: DctcpSender::marking(params),
            sender: DctcpSender::new(params),
            weight_max: params.number("weight-max"),
            weight_min: params.number("weight-min"),
            light: params.window("light-up-to"),
            heavy: params.window("heavy-from"),
            integer_division: params.flag("integer-division"),
            per_connection: params.is("count", "connection"),
            growth: params.flag("weighted-growth"),
            cut: params.flag("weighted-cut"),
        }
    }
    fn sender(&self, mss: u64) -> L2dct {
        L2dct {
            dctcp: self.sender.build(mss),
            weight: Weight {
                max: self.weight_max,
                min: self.weight_min,
                light: self.light.bytes(mss) as f64,
                heavy: self.heavy.bytes(mss) as f64,
                integer_division: self.integer_division,
            },
            first: FIRST_DATA,
            per_connection: self.per_connection,
            growth: self.growth,
            cut: self.cut,
        }
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

/// The weight of a flow by the bytes that it has sent.
#[derive(Clone, Copy, Debug)]
struct Weight {
    max: f64,
    min: f64,
    /// Bytes up to which the weight is the largest (`light`), and from which on it is the smallest (`heavy`).
    light: f64,
    heavy: f64,
    integer_division: bool,
}

impl Weight {
    fn after(&self, sent: f64) -> f64 {
        if sent >= self.heavy {
            self.min
        } else if sent <= self.light || self.integer_division {
            // READING: L2DCT1. As a division of integers, the quotient below is zero in this whole range.
            self.max
        } else {
            self.max - (self.max - self.min) * (sent - self.light) / (self.heavy - self.light)
        }
    }
}

/// DCTCP's sender with a weight.
#[derive(Clone, Copy, Debug)]
struct L2dct {
    dctcp: Dctcp,
    weight: Weight,
    /// Sequence number from which bytes sent are counted.
    first: u64,
    per_connection: bool,
    growth: bool,
    cut: bool,
}

impl L2dct {
    /// The weight by the bytes sent, not by those acknowledged.
    fn weight(&self, cx: &SenderCx<'_>) -> f64 {
        self.weight.after(cx.max_sent.saturating_sub(self.first) as f64)
    }
}

impl CongestionControl for L2dct {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        // READING: L2DCT4.
        if !self.per_connection {
            self.first = transfer.first;
        }
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if self.dctcp.lets_grow(ack) {
            let segments = if self.growth { self.weight(cx) / self.weight.max } else { 1.0 };
            NewReno::grow_by(cx, ack.acked, segments);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let alpha = self.dctcp.alpha();
        let penalty = if self.cut { libm::pow(alpha, self.weight(cx)) } else { alpha };
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

    /// A sender with this estimate and segments of 1000 bytes that has sent `sent` bytes.
    fn bench(params: &[(&str, &str)], alpha: &str, sent: u64) -> TestSender<L2dct> {
        let params = params.iter().fold(Values::defaults(&[PARAMS]), |params, (key, value)| params.with(key, value));
        let mut bench = TestSender::new(Bundle::new(&params.with("alpha0", alpha)).sender(1000), 20.0);
        bench.una += sent;
        bench.nxt = bench.una;
        bench
    }
    fn weight_after(params: &[(&str, &str)], sent: u64) -> f64 {
        let mut bench = bench(params, "1", sent);
        bench.call(|cc, cx| cc.weight(cx))
    }
    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    #[test]
    fn the_weight_falls_on_a_line_between_the_breakpoints() {
        for (sent, weight) in
            [(0, 2.5), (200_000, 2.5), (400_000, 1.90625), (600_000, 1.3125), (1_000_000, 0.125), (9_000_000, 0.125)]
        {
            near(weight_after(&[], sent), weight);
        }
    }

    #[test]
    fn division_of_whole_numbers_keeps_the_weight_until_the_second_breakpoint() {
        let bug = [("integer-division", "true")];
        near(weight_after(&bug, 999_999), 2.5);
        near(weight_after(&bug, 1_000_000), 0.125);
    }

    #[test]
    fn breakpoints_may_be_in_segments() {
        let segments = [("light-up-to", "20mss"), ("heavy-from", "100mss")];
        near(weight_after(&segments, 20_000), 2.5);
        near(weight_after(&segments, 60_000), 1.3125);
        near(weight_after(&segments, 100_000), 0.125);
    }

    #[test]
    fn the_weight_is_that_of_bytes_sent_not_acknowledged() {
        let mut bench = bench(&[], "1", 0);
        bench.send(600);
        near(bench.call(|cc, cx| cc.weight(cx)), 1.3125);
    }

    #[test]
    fn a_transfer_on_an_open_connection_is_a_flow_of_its_own() {
        for (count, weight) in [("transfer", 2.5), ("connection", 0.125)] {
            let mut bench = bench(&[("count", count)], "1", 5_000_000);
            bench.cc.on_transfer(&TransferFacts { first: 5_000_001, bytes: None, deadline: None });
            near(bench.call(|cc, cx| cc.weight(cx)), weight);
        }
    }

    #[test]
    fn congestion_avoidance_grows_by_the_weight_s_share_of_a_segment() {
        for (sent, share) in [(0, 1.0), (600_000, 0.525), (1_000_000, 0.05)] {
            let mut bench = bench(&[], "0", sent);
            bench.round(1, 0);
            // The segment just acknowledged was sent too.
            let late = if sent == 600_000 { 2.375 / 800.0 / 2.5 } else { 0.0 };
            near(bench.segments(), 20.0 + (share - late) / 20.0);
        }
    }

    #[test]
    fn slow_start_does_not_depend_on_the_weight() {
        let mut bench = bench(&[], "0", 1_000_000);
        bench.window.ssthresh = 1e9;
        bench.round(4, 0);
        near(bench.segments(), 24.0);
    }

    #[test]
    fn the_cut_is_by_alpha_to_the_power_of_the_weight() {
        // 0.25^2.5 = 1/32; 0.25^0.125 = 2^-0.25.
        for (sent, penalty) in [(0, 1.0 / 32.0), (1_000_000, 0.840_896_415_253_714_6)] {
            let mut bench = bench(&[], "0.25", sent);
            bench.echo();
            near(bench.segments(), 20.0 * (1.0 - penalty / 2.0));
        }
    }

    #[test]
    fn each_use_of_the_weight_can_be_switched_off() {
        let mut grown = bench(&[("weighted-growth", "false")], "0", 1_000_000);
        grown.round(1, 0);
        near(grown.segments(), 20.05);
        let mut cut = bench(&[("weighted-cut", "false")], "0.25", 1_000_000);
        cut.echo();
        near(cut.segments(), 17.5);
    }

    #[test]
    fn the_floor_of_a_reduction_is_a_parameter() {
        for (floor, segments) in [("1mss", 1.0), ("2mss", 2.0)] {
            let mut bench = bench(&[("min-window", floor)], "1", 1_000_000);
            (0..20).for_each(|_| bench.echo());
            near(bench.segments(), segments);
        }
    }

    #[test]
    fn a_loss_halves_whatever_the_weight() {
        let mut bench = bench(&[], "0.1", 1_000_000);
        bench.send(10);
        near(bench.call(CongestionControl::on_loss).ssthresh, 5000.0);
    }
}
