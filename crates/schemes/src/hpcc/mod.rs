//! HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019): windows that follow the utilisation of the most
//! used link on the path, which each port writes into every packet.
//!
//! Left out: go-back-N in the place of TCP's loss recovery. The widths and
//! units of the telemetry's fields are left out too: its values are exact.

mod readings;

use super::{Effort, FlowFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{AckEvent, Asks, CongestionControl, Cut, SenderCx};
use fanin_core::telemetry::{Hop, Telemetry};
use fanin_core::units::{Time, real};
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "hpcc",
    summary: "HPCC: windows that follow the utilisation that switches write into each packet.",
    params: PARAMS,
    transport: &[
        Wish::Needs("header", "82B"),
        Wish::Prefers("mss", "1418B"),
        Wish::Needs("ack-every", "1"),
        Wish::Needs("sack", "true"),
        Wish::Needs("idle-restart", "false"),
    ],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "switches with in-band telemetry, and a transport in the hosts that sends it back and paces by it",
    reacts_to: &[Signal::Telemetry],
    colour: "#6B8E23",
    marker: "P",
    build: |params| Box::new(Bundle { config: Config::new(params) }),
};

const PARAMS: &[Param] = &[
    Param::new(
        "eta",
        Kind::Fraction,
        "95%",
        "Utilisation of a link that senders aim at.",
        "the paper's parameters: eta = 95 %",
    )
    .at_least(0.01),
    Param::new(
        "max-stage",
        Kind::Integer,
        "5",
        "Round trips in a row that a window only grows by the increase; then it follows the utilisation.",
        "the paper's parameters: maxStage = 5",
    ),
    Param::new(
        "increase",
        Kind::Bytes,
        "80B",
        "By how much a window grows in each round trip.",
        "the authors' code: RATE_AI 50 Mb/s, which is 80 bytes in 12.8 us",
    )
    .reading("HP1")
    .at_least(1.0),
    Param::new(
        "base-rtt",
        Kind::Time,
        "0s",
        "Round-trip time of the idle network; 0s takes that of the flow's own path.",
        "the authors' code: GLOBAL_T chooses between the two",
    )
    .reading("HP2"),
    Param::new(
        "loss-decrease",
        Kind::Fraction,
        "0%",
        "Share by which a loss or a timeout shrinks the window.",
        "our choice: algorithm 1 has no rule for losses",
    )
    .reading("HP3")
    .at_most(0.99),
    Param::new(
        "in-flight",
        Kind::Choice(&["reaches", "fits"]),
        "reaches",
        "Whether a segment leaves that reaches beyond the window, or only one that fits.",
        "the authors' code sends while less than a window is in flight",
    )
    .reading("HP4"),
];

/// The parameters.
#[derive(Clone, Copy, Debug)]
struct Config {
    eta: f64,
    stages: u64,
    /// `W_AI` in bytes.
    increase: f64,
    base_rtt: Time,
    loss: f64,
    fits: bool,
}

impl Config {
    fn new(params: &Values) -> Self {
        Self {
            eta: params.number("eta"),
            stages: params.integer("max-stage"),
            increase: real(params.bytes("increase").get()),
            base_rtt: params.time("base-rtt"),
            loss: params.number("loss-decrease"),
            fits: params.is("in-flight", "fits"),
        }
    }

    /// T: the round-trip time of a full packet on an idle path.
    fn base_rtt(&self, flow: &FlowFacts) -> Time {
        // READING: HP2
        if self.base_rtt > Time::ZERO {
            return self.base_rtt;
        }
        let links = u64::from(flow.hops) + 1;
        let both = flow.packet + (flow.packet - flow.mss);
        flow.base_rtt + Time::from_ps(links * both * flow.rate.ps_per_byte().map_or(0, u64::from))
    }
}

struct Bundle {
    config: Config,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Hpcc::new(self.config, flow))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

/// The sender of algorithm 1. Windows are bytes on the wire.
#[derive(Clone, Copy, Debug)]
struct Hpcc {
    config: Config,
    /// Bytes of a full packet.
    packet: f64,
    /// `T`
    base_rtt: Time,
    /// `W_init`: what the sender's own link carries in that time.
    most: f64,
    /// `W`
    window: f64,
    /// `W^c`
    reference: f64,
    /// `incStage`
    stage: u64,
    /// `U`
    utilisation: f64,
    /// `lastUpdateSeq`
    updated: u64,
    /// `L`; none before the first acknowledgement.
    last: Option<Telemetry>,
}

impl Hpcc {
    fn new(config: Config, flow: &FlowFacts) -> Self {
        let base_rtt = config.base_rtt(flow);
        let most = flow.rate.bytes_in(base_rtt);
        Self {
            config,
            packet: real(flow.packet),
            base_rtt,
            most,
            window: most,
            reference: most,
            stage: 0,
            // READING: HP5
            utilisation: 1.0,
            updated: 0,
            last: None,
        }
    }

    /// The utilisation of one link between two packets, and the time between them; none if they are not in order.
    fn of_link(&self, before: &Hop, now: &Hop) -> Option<(f64, Time)> {
        let past = now.at.saturating_sub(before.at);
        if past == Time::ZERO {
            return None;
        }
        let queue = real(now.queued.min(before.queued)) / now.rate.bytes_in(self.base_rtt);
        Some((queue + real(now.sent.saturating_sub(before.sent)) / now.rate.bytes_in(past), past))
    }

    /// `MeasureInflight`.
    fn measure(&mut self, before: &Telemetry, now: &Telemetry) {
        let links = before.hops().iter().zip(now.hops()).filter_map(|(before, now)| self.of_link(before, now));
        let Some((most, past)) = links.max_by(|one, other| one.0.total_cmp(&other.0)) else { return };
        let share = past.min(self.base_rtt).secs() / self.base_rtt.secs();
        self.utilisation += share * (most - self.utilisation);
    }

    /// `ComputeWind`.
    fn compute(&mut self, update: bool) {
        let Config { eta, stages, increase, .. } = self.config;
        let follows = self.utilisation >= eta || self.stage >= stages;
        let target = if follows { self.reference / (self.utilisation / eta) } else { self.reference };
        self.window = (target + increase).min(self.most);
        if update {
            self.stage = if follows { 0 } else { self.stage + 1 };
            self.reference = self.window;
        }
    }

    /// `R = W / T`, and what may be in flight. Returns that in bytes.
    fn apply(&self, cx: &mut SenderCx<'_>) -> f64 {
        cx.packet.gap = Time::from_ps((real(self.base_rtt.ps()) * self.packet / self.window) as u64);
        // READING: HP4
        let segments = self.window / self.packet;
        let whole = if self.config.fits { segments } else { segments.ceil() };
        cx.window.cwnd = whole.max(1.0) * cx.mss;
        cx.window.ssthresh = cx.window.cwnd;
        cx.window.cwnd
    }
}

impl CongestionControl for Hpcc {
    fn asks(&self) -> Asks {
        Asks { telemetry: true, paces: true, ..Asks::default() }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.apply(cx);
    }
    /// `NewAck`.
    fn on_telemetry(&mut self, cx: &mut SenderCx<'_>, telemetry: &Telemetry) {
        let before = self.last.replace(*telemetry);
        let update = cx.una > self.updated;
        // READING: HP5
        if let Some(before) = before.filter(|before| before.path() == telemetry.path()) {
            self.measure(&before, telemetry);
            self.compute(update);
            self.apply(cx);
        }
        if update {
            self.updated = cx.nxt;
        }
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        // READING: HP3
        for window in [&mut self.window, &mut self.reference] {
            *window *= 1.0 - self.config.loss;
        }
        Cut::window(self.apply(cx))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.on_loss(cx)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("window", self.window);
        show("reference-window", self.reference);
        show("utilisation", self.utilisation);
        show("stage", real(self.stage));
    }
}

#[cfg(test)]
mod tests;
