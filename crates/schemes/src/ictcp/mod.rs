//! ICTCP (Wu, Feng, Guo, Zhang, `CoNEXT` 2010): incast congestion control at the receiver.
//!
//! `window.rs` controls one flow, `interface.rs` all flows of a host, which share the spare bandwidth of its interface.

mod config;
mod interface;
mod readings;
mod window;

use self::config::Config;
use self::interface::Interface;
use super::{Effort, FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{AckEvent, CongestionControl, SenderCx, WindowControl};
use fanin_param::{Kind, Param};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "ictcp",
    summary: "ICTCP: receivers divide spare bandwidth among their flows by their advertised windows (CoNEXT 2010).",
    params: PARAMS,
    // A new flow begins with `min-window`, which the SYN-ACK advertises, or on a connection that was open before the request.
    // Without a request nobody has there, and the sender, stock TCP, begins as its stack does.
    transport: &[Wish::Prefers("initial-window", "2mss")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a driver or kernel module on the receivers",
    reacts_to: &[Signal::Window],
    colour: "#E69F00",
    marker: "^",
    build: |params| Box::new(Bundle { config: Config::new(params) }),
};

const PARAMS: &[Param] = &[
    Param::new(
        "flavour",
        Kind::Choice(&["paper", "rdtcp"]),
        "paper",
        "The rules of the paper, or those of the code that produced the ICTCP curves of RCC's authors.",
        "the paper",
    )
    .reading("I1"),
    Param::new(
        "slot-clock",
        Kind::Choice(&["auto", "host", "first-flow"]),
        "auto",
        "What keeps the clock of the slots: the host, or its first connection, with which the clock stops forever. \
         With auto it is the host, and under rdtcp the first connection.",
        "Wu et al. 2010, section 4.2: global to the interface; first-flow is RCC's authors' code",
    )
    .reading("I6"),
    Param::new(
        "looks",
        Kind::Choice(&["auto", "one", "two"]),
        "auto",
        "How many timers evaluate each flow; two share one count of bytes. auto is one, and two under rdtcp.",
        "Wu et al. 2010, section 4.3: once per round trip; two is RCC's authors' code",
    )
    .reading("I6"),
    Param::new(
        "alpha",
        Kind::Fraction,
        "0.9",
        "Share of the capacity that may be used.",
        "Wu et al. 2010, section 4.1: 0.9",
    )
    .at_most(1.0),
    Param::new(
        "quota",
        Kind::Bool,
        "true",
        "Whether increases are limited to the measured spare bandwidth.",
        "Wu et al. 2010, section 4.2",
    ),
    Param::new(
        "increase",
        Kind::Choice(&["second-half", "any"]),
        "second-half",
        "When windows may grow: in the second half of a slot, or in both, the first with what the previous half left.",
        "Wu et al. 2010, section 4.2: the second half",
    ),
    Param::new(
        "spacing",
        Kind::Number,
        "2",
        "Round-trip times since the last change of a window before it may grow; 0: none.",
        "Wu et al. 2010, section 4.3: at most every second round trip",
    ),
    Param::new(
        "slow-start",
        Kind::Bool,
        "true",
        "Whether a new flow doubles its window; under rdtcp none does.",
        "Wu et al. 2010, section 4.3",
    ),
    Param::new(
        "beta",
        Kind::Fraction,
        "0.9",
        "Weight of the past in the smoothed throughput of a flow; 0: no smoothing.",
        "RCC's authors' code: 0.9; the paper gives none",
    )
    .at_most(1.0)
    .reading("I2"),
    Param::new(
        "gamma1",
        Kind::Fraction,
        "0.1",
        "Difference up to which a window may grow; 1: always.",
        "Wu et al. 2010, section 4.3: 0.1",
    )
    .at_most(1.0),
    Param::new(
        "gamma2",
        Kind::Fraction,
        "0.5",
        "Difference above which a window shrinks; 1: never.",
        "Wu et al. 2010, section 4.3: 0.5",
    )
    .at_most(1.0),
    Param::new(
        "fair-share",
        Kind::Fraction,
        "0.2",
        "Share of the capacity: with less of it left, windows above the mean shrink. 0: never.",
        "Wu et al. 2010, section 4.4: 0.2",
    )
    .at_most(1.0),
    Param::new(
        "min-window",
        Kind::Window,
        "2mss",
        "Smallest and first window.",
        "Wu et al. 2010, section 4.3: 2 segments",
    )
    .at_least(1.0),
    Param::new(
        "min-slot",
        Kind::Time,
        "160us",
        "Minimum half of a slot, and minimum interval between two evaluations of a flow; also their value until a \
         round trip has been measured.",
        "RCC's authors' code: 160 us, their round-trip time without queues",
    )
    .at_least(1e6)
    .reading("I3"),
    Param::new(
        "idle",
        Kind::Time,
        "10ms",
        "A flow without data for longer than this restarts with the minimum window.",
        "our choice: the minimum retransmission timeout of the papers' experiments; the paper says \"long\"",
    )
    .reading("I4"),
];

/// The sender of RCC's authors: what the receiver advertises is its window, from the first segment on and after losses.
#[derive(Clone, Copy, Debug)]
struct Advertised;

impl CongestionControl for Advertised {
    fn obeys_peer(&self) -> bool {
        true
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
}

struct Bundle {
    config: Config,
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        // READING: I1 their senders have no window of their own; the paper's are TCP's.
        if self.config.rdtcp { Box::new(Advertised) } else { Box::new(NewReno) }
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Interface::new(self.config, host)))
    }
    fn follows_requests(&self) -> bool {
        // In their simulator no connection is asked twice.
        !self.config.rdtcp
    }
}
