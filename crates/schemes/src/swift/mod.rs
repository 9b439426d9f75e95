//! Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020):
//! windows that grow below a target delay and shrink above it, one for the fabric and one for the hosts, paced below one
//! segment.
//!
//! Left out: quality of service, which gives each class its queue and weight. Where the paper prints no value, the default is
//! that of the Swift of htsim, whose authors call theirs guesses.

mod readings;

use super::{Effort, FlowFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{AckEvent, Asks, CongestionControl, Cut, Delay, SenderCx};
use fanin_core::units::{Time, real};
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "swift",
    summary: "Swift: windows that follow the delay of the fabric and that of the hosts, paced below one segment.",
    params: PARAMS,
    transport: &[Wish::Needs("ack-every", "1"), Wish::Needs("sack", "true")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a transport in the hosts that time-stamps packets in the interface, and echoes the stamps",
    reacts_to: &[Signal::Delay],
    colour: "#708090",
    marker: "8",
    build: |params| Box::new(Bundle { config: Config::new(params) }),
};

const PARAMS: &[Param] = &[
    Param::new(
        "base-target",
        Kind::Time,
        "20us",
        "Target of the fabric's delay, without what paths and small windows add.",
        "section 3.5: base_target; htsim: 20 us",
    )
    .reading("SW1"),
    Param::new(
        "hop-target",
        Kind::Time,
        "3us",
        "By how much each switch on the path raises it.",
        "section 3.5; htsim: base_target / 6.55",
    )
    .reading("SW1"),
    Param::new(
        "distance",
        Kind::Bool,
        "true",
        "Whether the delay of the idle path raises it too.",
        "our choice: the same targets serve networks of any size",
    )
    .reading("SW1"),
    Param::new(
        "flow-range",
        Kind::Time,
        "100us",
        "By how much the smallest windows raise it.",
        "section 3.5: fs_range; htsim: 5 base_target",
    ),
    Param::new(
        "flow-min",
        Kind::Number,
        "0.1",
        "Window in segments at and below which it is raised by all of that.",
        "section 3.5: fs_min_cwnd = 0.1",
    )
    .at_least(0.0001)
    .at_most(1.0),
    Param::new(
        "flow-max",
        Kind::Number,
        "100",
        "Window in segments from which on it is not raised.",
        "section 3.5: fs_max_cwnd = 100",
    )
    .at_least(1.001),
    Param::new(
        "host-target",
        Kind::Time,
        "200us",
        "Target of the hosts' delay.",
        "section 3.3; our choice: above two interrupt intervals of 64 us",
    )
    .reading("SW3"),
    Param::new(
        "increase",
        Kind::Number,
        "1",
        "Segments by which a window grows in a round trip below its target.",
        "algorithm 1: ai; htsim: 1",
    )
    .at_least(0.0001),
    Param::new(
        "beta",
        Kind::Fraction,
        "0.8",
        "Share of the relative excess of the delay by which a window shrinks.",
        "algorithm 1: beta; htsim: 0.8",
    ),
    Param::new(
        "max-decrease",
        Kind::Fraction,
        "0.5",
        "Largest share by which a window shrinks in a round trip, and by which a loss shrinks it.",
        "algorithm 1: max_mdf; htsim: 0.5",
    )
    .at_most(0.99),
    Param::new(
        "min-window",
        Kind::Number,
        "0.01",
        "Smallest window in segments.",
        "algorithm 1: min_cwnd; htsim: 10 bytes",
    )
    .at_least(0.0001)
    .at_most(1.0),
    Param::new("max-window", Kind::Number, "1000", "Largest window in segments.", "algorithm 1: max_cwnd; htsim: 1000")
        .at_least(1.0),
    Param::new(
        "reset-after",
        Kind::Integer,
        "5",
        "Timeouts in a row after which the windows are the smallest.",
        "algorithm 1: RETX_RESET_THRESHOLD; htsim: 5",
    )
    .at_least(1.0),
    Param::new(
        "decrease-clock",
        Kind::Choice(&["decrease", "no-growth"]),
        "decrease",
        "What the round trip without a further decrease begins with: a decrease, or whatever does not grow the window.",
        "our choice",
    )
    .reading("SW2"),
];

/// No pause between two packets is longer.
const LONGEST_PAUSE: f64 = 60e12;

/// The parameters; windows in segments, times in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Config {
    base: f64,
    hop: f64,
    distance: bool,
    range: f64,
    /// Flow scaling: `alpha / sqrt(window) + offset`.
    alpha: f64,
    offset: f64,
    hosts: f64,
    increase: f64,
    beta: f64,
    max_decrease: f64,
    least: f64,
    most: f64,
    reset_after: u64,
    any_clock: bool,
}

impl Config {
    fn new(params: &Values) -> Self {
        let time = |key: &str| real(params.time(key).ps());
        let range = time("flow-range");
        let [low, high] = ["flow-min", "flow-max"].map(|key| params.number(key).sqrt().recip());
        let alpha = range / (low - high);
        Self {
            base: time("base-target"),
            hop: time("hop-target"),
            distance: params.flag("distance"),
            range,
            alpha,
            offset: -alpha * high,
            hosts: time("host-target"),
            increase: params.number("increase"),
            beta: params.number("beta"),
            max_decrease: params.number("max-decrease"),
            least: params.number("min-window"),
            most: params.number("max-window"),
            reset_after: params.integer("reset-after"),
            any_clock: params.is("decrease-clock", "no-growth"),
        }
    }

    /// Section 3.5, topology scaling: the target of a flow with a large window.
    fn path_target(&self, flow: &FlowFacts) -> f64 {
        // READING: SW1
        let links = real(u64::from(flow.hops) + 1);
        let packet = real(flow.rate.ps_per_byte().map_or(0, u64::from) * flow.packet);
        let distance = if self.distance { real(flow.base_rtt.ps()) + links * packet } else { 0.0 };
        self.base + self.hop * real(u64::from(flow.hops)) + distance
    }

    /// Section 3.5, flow scaling: what a window of `segments` adds.
    fn share(&self, segments: f64) -> f64 {
        (self.alpha / segments.sqrt() + self.offset).clamp(0.0, self.range)
    }
}

struct Bundle {
    config: Config,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Swift::new(self.config, self.config.path_target(flow)))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

/// One of the two windows.
#[derive(Clone, Copy, Debug, Default)]
struct DelayWindow {
    segments: f64,
    /// `t_last_decrease`
    decreased: Option<Time>,
}

impl DelayWindow {
    /// `can_decrease`: once in a round trip.
    fn can_decrease(&self, now: Time, rtt: Time) -> bool {
        self.decreased.is_none_or(|at| now.saturating_sub(at) >= rtt)
    }

    /// Algorithm 1, lines 7 to 15 and 27 to 29: `acked` segments were acknowledged that took `delay`.
    fn on_delay(&mut self, cfg: &Config, delay: f64, target: f64, acked: f64, now: Time, rtt: Time) {
        let before = self.segments;
        if delay < target {
            self.segments += cfg.increase * acked / self.segments.max(1.0);
        } else if self.can_decrease(now, rtt) {
            self.segments *= (1.0 - cfg.beta * (delay - target) / delay).max(1.0 - cfg.max_decrease);
        }
        self.end(cfg, before, now);
    }

    /// Lines 21, 22, 25 and 26.
    fn on_loss(&mut self, cfg: &Config, now: Time, rtt: Time) {
        let before = self.segments;
        if self.can_decrease(now, rtt) {
            self.segments *= 1.0 - cfg.max_decrease;
        }
        self.end(cfg, before, now);
    }

    /// Lines 27 to 29.
    fn end(&mut self, cfg: &Config, before: f64, now: Time) {
        self.segments = self.segments.clamp(cfg.least, cfg.most);
        // READING: SW2
        if self.segments < before || (cfg.any_clock && self.segments <= before) {
            self.decreased = Some(now);
        }
    }
}

/// The sender of algorithm 1.
#[derive(Clone, Copy, Debug)]
struct Swift {
    config: Config,
    path_target: f64,
    fabric: DelayWindow,
    hosts: DelayWindow,
    /// That of the present acknowledgement.
    delay: Option<Delay>,
    /// The last delays, in picoseconds.
    fabric_delay: f64,
    host_delay: f64,
}

impl Swift {
    fn new(config: Config, path_target: f64) -> Self {
        let none = DelayWindow::default();
        Self { config, path_target, fabric: none, hosts: none, delay: None, fabric_delay: 0.0, host_delay: 0.0 }
    }

    /// The window in segments: section 3.3, the lesser of the two.
    fn segments(&self) -> f64 {
        self.fabric.segments.min(self.hosts.segments)
    }

    /// Section 3.5: the target of the fabric's delay.
    fn target(&self) -> f64 {
        self.path_target + self.config.share(self.fabric.segments)
    }

    /// Lines 30 to 34. The connection keeps a segment of what is below one, and pauses instead. Returns the window in bytes.
    fn apply(&self, cx: &mut SenderCx<'_>) -> f64 {
        let (segments, rtt) = (self.segments(), real(cx.srtt.unwrap_or(Time::ZERO).ps()));
        let gap = if segments < 1.0 { (rtt / segments).min(LONGEST_PAUSE) } else { 0.0 };
        cx.packet.gap = Time::from_ps(gap as u64);
        cx.window.cwnd = segments.max(1.0) * cx.mss;
        cx.window.ssthresh = cx.window.cwnd;
        cx.window.cwnd
    }

    fn both(&mut self, change: impl Fn(&mut DelayWindow)) {
        change(&mut self.fabric);
        change(&mut self.hosts);
    }
}

impl CongestionControl for Swift {
    fn asks(&self) -> Asks {
        Asks { delays: true, paces: true, ..Asks::default() }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        let segments = (cx.window.cwnd / cx.mss).clamp(self.config.least, self.config.most);
        self.both(|window| window.segments = segments);
        self.apply(cx);
    }
    fn on_delay(&mut self, _cx: &mut SenderCx<'_>, delay: &Delay) {
        self.delay = Some(*delay);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if let Some(delay) = self.delay.take() {
            (self.fabric_delay, self.host_delay) = (real(delay.fabric().ps()), real(delay.hosts.total().ps()));
            let (cfg, target, rtt) = (self.config, self.target(), cx.srtt.unwrap_or(delay.rtt));
            let acked = real(ack.acked) / cx.mss;
            self.fabric.on_delay(&cfg, self.fabric_delay, target, acked, cx.now, rtt);
            self.hosts.on_delay(&cfg, self.host_delay, cfg.hosts, acked, cx.now, rtt);
        }
        self.apply(cx);
    }
    /// Lines 23 to 26.
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        let (cfg, now, rtt) = (self.config, cx.now, cx.srtt.unwrap_or(Time::ZERO));
        self.both(|window| window.on_loss(&cfg, now, rtt));
        Cut::window(self.apply(cx))
    }
    /// Lines 16 to 22.
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        let cfg = self.config;
        if u64::from(times) < cfg.reset_after {
            return self.on_loss(cx);
        }
        self.both(|window| window.segments = cfg.least);
        Cut::window(self.apply(cx))
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("fabric-window", self.fabric.segments);
        show("host-window", self.hosts.segments);
        show("fabric-delay-s", self.fabric_delay / 1e12);
        show("host-delay-s", self.host_delay / 1e12);
        show("fabric-target-s", self.target() / 1e12);
    }
}

#[cfg(test)]
mod tests;
