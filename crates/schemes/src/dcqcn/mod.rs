//! DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015): a rate that congestion notifications
//! cut and that a timer and a byte counter raise.
//!
//! Left out: RoCE's go-back-N in the place of TCP's loss recovery.

mod readings;
mod receiver;

use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{
    AckEvent, Asks, CongestionControl, ControlPacket, Cut, EcnMode, QueueDiscipline, QuietAck, SenderCx, WindowControl,
};
use fanin_core::units::{Size, Time, real};
use fanin_network::queue;
use fanin_param::{Kind, Param, Values};
use receiver::Receiver;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dcqcn",
    summary: "DCQCN: rates that marks cut and that a timer and a byte counter raise, over lossless switches.",
    params: PARAMS,
    transport: &[
        Wish::Needs("ack-every", "1"),
        Wish::Needs("sack", "true"),
        Wish::Needs("idle-restart", "false"),
        Wish::Prefers("receive-buffer", "16777216B"),
    ],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "RDMA hosts with DCQCN, and switches that mark by RED and have priority flow control",
    reacts_to: &[Signal::Marks],
    colour: "#DDAA33",
    marker: "X",
    build: |params| Box::new(Bundle { config: Config::new(params) }),
};

const PARAMS: &[Param] = &[
    Param::new(
        "k-min",
        Kind::Bytes,
        "5KB",
        "Queue above which ports mark some packets.",
        "the paper's table of parameters",
    ),
    Param::new(
        "k-max",
        Kind::Bytes,
        "200KB",
        "Queue above which ports mark every packet.",
        "the paper's table of parameters",
    ),
    Param::new("p-max", Kind::Fraction, "1%", "Share of packets marked at k-max.", "the paper's table of parameters"),
    Param::new(
        "cnp-interval",
        Kind::Time,
        "50us",
        "Shortest time between two notifications of a flow.",
        "the paper, section 3.1: N = 50 us",
    )
    .reading("DQ1")
    .at_least(1.0),
    Param::new(
        "g",
        Kind::Fraction,
        "0.00390625",
        "Weight of a notification in alpha.",
        "the paper's table of parameters: 1/256",
    ),
    Param::new(
        "alpha-timer",
        Kind::Time,
        "55us",
        "Time without a notification after which alpha falls.",
        "the paper, section 3.1: K = 55 us, more than N",
    )
    .at_least(1.0),
    Param::new("rate-timer", Kind::Time, "55us", "Time after which the rate rises.", "the paper's table of parameters")
        .at_least(1.0),
    Param::new(
        "byte-counter",
        Kind::Bytes,
        "10MB",
        "Bytes after which the rate rises.",
        "the paper's table of parameters",
    )
    .at_least(1.0),
    Param::new("recovery", Kind::Integer, "5", "Steps of fast recovery.", "the paper, section 3.1: F = 5")
        .reading("DQ2"),
    Param::new(
        "increase",
        Kind::Rate,
        "40Mbps",
        "By how much the target rate rises in a step of additive increase.",
        "the paper, section 3.1: R_AI = 40 Mbps",
    ),
    Param::new(
        "hyper-increase",
        Kind::Rate,
        "400Mbps",
        "By how much it rises in a step of hyper increase.",
        "our choice: ten times R_AI, as in QCN (IEEE 802.1Qau)",
    )
    .reading("DQ3"),
    Param::new(
        "min-rate",
        Kind::Rate,
        "100Mbps",
        "Lowest rate of a flow.",
        "MinRate of HPCC's models for ns-3, which have DCQCN",
    )
    .reading("DQ4"),
    Param::new(
        "in-flight",
        Kind::Bytes,
        "0B",
        "Bytes that a flow has in flight at most; 0B for what its link carries in a round trip and a cnp-interval.",
        "our choice",
    )
    .reading("DQ5"),
];

/// The parameters. Rates are in bits per second.
#[derive(Clone, Copy, Debug)]
struct Config {
    k: [u64; 2],
    p_max: f64,
    cnp_interval: Time,
    g: f64,
    alpha_timer: Time,
    rate_timer: Time,
    byte_counter: u64,
    recovery: u64,
    increase: f64,
    hyper_increase: f64,
    min_rate: f64,
    in_flight: u64,
}

impl Config {
    fn new(params: &Values) -> Self {
        let rate = |key| real(params.rate(key).bps());
        Self {
            k: ["k-min", "k-max"].map(|key| params.bytes(key).get()),
            p_max: params.number("p-max"),
            cnp_interval: params.time("cnp-interval"),
            g: params.number("g"),
            alpha_timer: params.time("alpha-timer"),
            rate_timer: params.time("rate-timer"),
            byte_counter: params.bytes("byte-counter").get(),
            recovery: params.integer("recovery"),
            increase: rate("increase"),
            hyper_increase: rate("hyper-increase"),
            min_rate: rate("min-rate"),
            in_flight: params.bytes("in-flight").get(),
        }
    }
}

struct Bundle {
    config: Config,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Dcqcn::new(self.config, flow))
    }
    fn window_control(&self, _host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Receiver::new(self.config.cnp_interval)))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        let Config { k: [min, max], p_max, .. } = self.config;
        Some(queue::profile(Size::Bytes(min), Size::Bytes(max), p_max))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

/// The reaction point.
#[derive(Clone, Copy, Debug)]
struct Dcqcn {
    config: Config,
    /// Bytes of a full packet on the wire.
    packet: f64,
    /// Payload in flight at most.
    window: f64,
    /// Rate of the host's link.
    line: f64,
    /// `R_C`
    rate: f64,
    /// `R_T`
    target: f64,
    alpha: f64,
    /// The last notification, up to which alpha is right; before the first one it stays 1.
    notified: Option<Time>,
    /// When the rate timer expires; never while the flow has the rate of its link.
    timer: Time,
    /// Bytes sent when the byte counter began.
    counted: u64,
    /// How often the timer and the counter have expired since the last notification: `T` and `BC`.
    steps: [u64; 2],
}

impl Dcqcn {
    fn new(config: Config, flow: &FlowFacts) -> Self {
        let line = real(flow.rate.bps());
        // READING: DQ5
        let window = match config.in_flight {
            0 => flow.rate.bytes_in(flow.base_rtt + config.cnp_interval) + 2.0 * real(flow.packet),
            bytes => real(bytes),
        };
        Self {
            config,
            packet: real(flow.packet),
            window: window.max(real(flow.mss)),
            line,
            rate: line,
            target: line,
            alpha: 1.0,
            notified: None,
            timer: Time::NEVER,
            counted: 0,
            steps: [0; 2],
        }
    }

    /// Counts what was sent.
    fn count(&mut self, cx: &mut SenderCx<'_>) {
        while cx.max_sent - self.counted >= self.config.byte_counter {
            self.counted += self.config.byte_counter;
            self.raise(1);
        }
        self.apply(cx);
    }

    /// Eq. 1, and the end of all increases so far.
    fn cut(&mut self, cx: &SenderCx<'_>) {
        let Config { g, alpha_timer, rate_timer, min_rate, .. } = self.config;
        // Eq. 2, for each alpha timer that has expired meanwhile.
        let mut expired = self.notified.map_or(0, |last| cx.now.saturating_sub(last).ps() / alpha_timer.ps());
        while expired > 0 && self.alpha > f64::MIN_POSITIVE {
            self.alpha *= 1.0 - g;
            expired -= 1;
        }
        self.target = self.rate;
        // READING: DQ4
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(min_rate.min(self.line));
        self.alpha = (1.0 - g) * self.alpha + g;
        self.notified = Some(cx.now);
        (self.timer, self.counted, self.steps) = (cx.now + rate_timer, cx.max_sent, [0; 2]);
    }

    /// The timer (0) or the byte counter (1) has expired.
    fn raise(&mut self, which: usize) {
        let Config { recovery, increase, hyper_increase, .. } = self.config;
        self.steps[which] += 1;
        let [timer, bytes] = self.steps;
        // READING: DQ2
        if timer.min(bytes) > recovery {
            // READING: DQ3
            self.target += hyper_increase;
        } else if timer.max(bytes) > recovery {
            self.target += increase;
        }
        self.target = self.target.min(self.line);
        self.rate = f64::midpoint(self.rate, self.target);
        if self.line - self.rate < 1.0 {
            (self.rate, self.timer) = (self.line, Time::NEVER);
        }
    }

    fn apply(&self, cx: &mut SenderCx<'_>) {
        cx.packet.gap = Time::from_ps((self.packet * 8e12 / self.rate) as u64);
        (cx.window.cwnd, cx.window.ssthresh) = (self.window, self.window);
        *cx.wake = self.timer;
    }
}

impl CongestionControl for Dcqcn {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn asks(&self) -> Asks {
        Asks { paces: true, quiet_acks: true, ..Asks::default() }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.counted = cx.max_sent;
        self.apply(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.count(cx);
    }
    fn on_quiet_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &QuietAck) {
        self.count(cx);
    }
    fn on_control(&mut self, cx: &mut SenderCx<'_>, _packet: &ControlPacket) {
        self.cut(cx);
        self.apply(cx);
    }
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
    fn on_loss(&mut self, _cx: &mut SenderCx<'_>) -> Cut {
        Cut::window(self.window)
    }
    fn on_timeout(&mut self, _cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        Cut::window(self.window)
    }
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        while cx.now >= self.timer {
            self.timer += self.config.rate_timer;
            self.raise(0);
        }
        self.count(cx);
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("rate", self.rate);
        show("target-rate", self.target);
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests;
