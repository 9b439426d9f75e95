//! The rules of RCC's receiver, from the parameters.

use super::assignment::Weight;
use super::marks::{Alpha, Periods};
use crate::NodeFacts;
use fanin_core::units::Time;
use fanin_param::Values;

/// How often a waiting acknowledgement may be overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipCap {
    /// Fixed numbers for flows with and without a deadline.
    Fixed { deadline: u32, other: u32 },
    /// Half the packets that the host's link carries during the minimum of the receiver's timer.
    Formula,
}

/// When the receiver's timer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// Never: only senders retransmit.
    Off,
    /// When an acknowledgement is sent.
    OnRelease,
    /// When an acknowledgement enters the list.
    OnQueue,
}

/// The receiver's retransmission timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerRules {
    /// When it starts.
    pub(crate) arm: Arm,
    /// Its minimum.
    pub(crate) minimum: Time,
    /// Mean and deviation of the round-trip time are truncated to multiples of this.
    pub(crate) step: Time,
    /// After it expires, wait for a number of round trips, which is the last digit of the time in nanoseconds.
    pub(crate) waits: bool,
}

/// What marks change besides the reduction by the marked share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkAction {
    /// Nothing: the window is reduced by the marked share once in a period with marks.
    Equation,
    /// The reduction also ends slow start.
    Avoidance,
    /// Each marked segment also halves the slow-start threshold and adds nothing to the window.
    Code,
}

/// How the receiver reacts to ECN marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkRules {
    /// It reacts.
    pub(crate) on: bool,
    /// The reaction.
    pub(crate) action: MarkAction,
    /// The periods of the estimate.
    pub(crate) periods: Periods,
    /// The estimate.
    pub(crate) alpha: Alpha,
    /// Weight of the newest share in the average.
    pub(crate) g: f64,
    /// A mark on the segment with FIN counts.
    pub(crate) on_fin: bool,
}

/// All rules of a receiving host. The hosts of RCC and RCCE differ only in these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Windows are assigned and acknowledgements wait. Without it, each flow has its own window and nothing waits.
    pub(crate) scheduler: bool,
    /// Segments that all flows of a host may have in flight.
    pub(crate) queue_max: u64,
    /// Flows with fewer remaining bytes have larger weights and go first.
    pub(crate) priority: bool,
    /// What windows are proportional to.
    pub(crate) weights: Weight,
    /// See [`super::assignment::assign`].
    pub(crate) equal_only: bool,
    /// How often an acknowledgement may be overtaken.
    pub(crate) skip_cap: SkipCap,
    /// How often an acknowledgement with PSH counts as overtaken when it enters the list.
    pub(crate) push_bonus: u32,
    /// Acknowledgements are also released while exactly `queue_max` segments are in flight.
    pub(crate) release_at_most: bool,
    /// An acknowledgement that grants nothing new waits like any other.
    pub(crate) repeats_wait: bool,
    /// See [`super::flight::Flight`].
    pub(crate) exact_flight: bool,
    /// See [`super::window::WindowMachine`].
    pub(crate) keeps_duplicates: bool,
    /// Initial slow-start threshold in bytes.
    pub(crate) initial_threshold: u64,
    /// Requests, and the last packets of their handshakes, wait in the list too.
    pub(crate) requests_wait: bool,
    /// ECN.
    pub(crate) marks: MarkRules,
    /// The timer.
    pub(crate) timer: TimerRules,
}

impl Rules {
    /// The rules from a `[scheme.<key>]` table with the keys of `[scheme.rcc]`.
    pub(crate) fn new(params: &Values) -> Self {
        Self {
            scheduler: params.is("scheduler", "on"),
            queue_max: params.integer("queue-max"),
            priority: !params.is("priority", "off"),
            weights: params
                .choose("priority", &[("on", Weight::Inverse), ("size", Weight::Size), ("off", Weight::Equal)]),
            equal_only: params.is("assignment", "printed"),
            skip_cap: if params.is("skip-cap", "formula") {
                SkipCap::Formula
            } else {
                SkipCap::Fixed {
                    deadline: params.integer("skip-cap-deadline") as u32,
                    other: params.integer("skip-cap-other") as u32,
                }
            },
            push_bonus: params.integer("push-bonus") as u32,
            release_at_most: params.is("release", "at-most"),
            repeats_wait: params.is("repeats", "wait"),
            exact_flight: params.is("flight", "exact"),
            keeps_duplicates: params.is("duplicates", "kept"),
            initial_threshold: params.bytes("initial-threshold").get(),
            requests_wait: params.is("requests", "wait"),
            marks: MarkRules {
                on: params.is("ecn", "on"),
                action: params.choose(
                    "mark-action",
                    &[
                        ("equation", MarkAction::Equation),
                        ("avoidance", MarkAction::Avoidance),
                        ("code", MarkAction::Code),
                    ],
                ),
                periods: Periods { least: params.time("mark-period"), unmeasured: params.time("first-rtt") },
                alpha: params.choose(
                    "alpha",
                    &[("code", Alpha::Code), ("every-round", Alpha::EveryRound), ("ratio", Alpha::Ratio)],
                ),
                g: params.number("g"),
                on_fin: params.is("marks-on-fin", "count"),
            },
            timer: TimerRules {
                arm: params
                    .choose("rto-r", &[("on-release", Arm::OnRelease), ("on-queue", Arm::OnQueue), ("off", Arm::Off)]),
                minimum: params.time("rto-r-min"),
                step: params.time("rto-r-step"),
                waits: params.is("rto-r-wait", "clock-digit"),
            },
        }
    }

    /// How often a host may let an acknowledgement of a flow with or without a `deadline` be overtaken.
    pub(crate) fn cap(&self, deadline: bool, host: &NodeFacts) -> u32 {
        match self.skip_cap {
            SkipCap::Fixed { deadline: cap, .. } if deadline => cap,
            SkipCap::Fixed { other, .. } => other,
            // READING: E4 the limit is C RTO_r / 2, with C in packets per second.
            SkipCap::Formula => (host.rate.bytes_in(self.timer.minimum) / host.packet as f64 / 2.0) as u32,
        }
    }
}
