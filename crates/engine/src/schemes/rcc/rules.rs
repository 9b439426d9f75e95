//! The rules of RCC's receiver, from the parameters.

use super::marks::{Alpha, Periods};
use crate::schemes::NodeFacts;
use crate::spec::Values;
use crate::units::Time;

/// How often a waiting acknowledgement may be overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schemes) enum SkipCap {
    /// Fixed numbers for flows with and without a deadline.
    Fixed { deadline: u32, other: u32 },
    /// Half the packets that the host's link carries during the minimum of the receiver's timer.
    Formula,
}

/// When the receiver's timer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schemes) enum Arm {
    /// Never: only senders retransmit.
    Off,
    /// When an acknowledgement is sent.
    OnRelease,
    /// When an acknowledgement enters the list.
    OnQueue,
}

/// The receiver's retransmission timer.
#[derive(Clone, Copy, Debug)]
pub(in crate::schemes) struct TimerRules {
    /// When it starts.
    pub(in crate::schemes) arm: Arm,
    /// Its minimum.
    pub(in crate::schemes) minimum: Time,
    /// Mean and deviation of the round-trip time are truncated to multiples of this.
    pub(in crate::schemes) step: Time,
    /// After it expires, wait for a number of round trips, which is the last digit of the time in nanoseconds.
    pub(in crate::schemes) waits: bool,
}

/// What marks change besides the reduction by the marked share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schemes) enum MarkAction {
    /// Nothing: the window is reduced by the marked share once in a period with marks.
    Equation,
    /// The reduction also ends slow start.
    Avoidance,
    /// Each marked segment also halves the slow-start threshold and adds nothing to the window.
    Code,
}

/// How the receiver reacts to ECN marks.
#[derive(Clone, Copy, Debug)]
pub(in crate::schemes) struct MarkRules {
    /// It reacts.
    pub(in crate::schemes) on: bool,
    /// The reaction.
    pub(in crate::schemes) action: MarkAction,
    /// The periods of the estimate.
    pub(in crate::schemes) periods: Periods,
    /// The estimate.
    pub(in crate::schemes) alpha: Alpha,
    /// Weight of the newest share in the average.
    pub(in crate::schemes) g: f64,
    /// A mark on the segment with FIN counts.
    pub(in crate::schemes) on_fin: bool,
}

/// All rules of a receiving host. The hosts of RCC and RCCE differ only in these.
#[derive(Clone, Copy, Debug)]
pub(in crate::schemes) struct Rules {
    /// Windows are assigned and acknowledgements wait. Without it, each flow has its own window and nothing waits.
    pub(in crate::schemes) scheduler: bool,
    /// Segments that all flows of a host may have in flight.
    pub(in crate::schemes) queue_max: u64,
    /// Flows with fewer remaining bytes have larger weights and go first.
    pub(in crate::schemes) priority: bool,
    /// See [`super::assignment::assign`].
    pub(in crate::schemes) equal_only: bool,
    /// How often an acknowledgement may be overtaken.
    pub(in crate::schemes) skip_cap: SkipCap,
    /// How often an acknowledgement with PSH counts as overtaken when it enters the list.
    pub(in crate::schemes) push_bonus: u32,
    /// Acknowledgements are also released while exactly `queue_max` segments are in flight.
    pub(in crate::schemes) release_at_most: bool,
    /// An acknowledgement that grants nothing new waits like any other.
    pub(in crate::schemes) repeats_wait: bool,
    /// See [`super::flight::Flight`].
    pub(in crate::schemes) exact_flight: bool,
    /// See [`super::window::WindowMachine`].
    pub(in crate::schemes) keeps_duplicates: bool,
    /// Initial slow-start threshold in bytes.
    pub(in crate::schemes) initial_threshold: u64,
    /// Requests, and the last packets of their handshakes, wait in the list too.
    pub(in crate::schemes) requests_wait: bool,
    /// ECN.
    pub(in crate::schemes) marks: MarkRules,
    /// The timer.
    pub(in crate::schemes) timer: TimerRules,
}

impl Rules {
    /// The rules from a `[scheme.<key>]` table with the keys of `[scheme.rcc]`.
    pub(in crate::schemes) fn new(params: &Values) -> Self {
        Self {
            scheduler: params.is("scheduler", "on"),
            queue_max: params.integer("queue-max"),
            priority: params.is("priority", "on"),
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
    pub(in crate::schemes) fn cap(&self, deadline: bool, host: &NodeFacts) -> u32 {
        match self.skip_cap {
            SkipCap::Fixed { deadline: cap, .. } if deadline => cap,
            SkipCap::Fixed { other, .. } => other,
            // READING: E4 the limit is C RTO_r / 2, with C in packets per second.
            SkipCap::Formula => (host.rate.bytes_in(self.timer.minimum) / host.packet as f64 / 2.0) as u32,
        }
    }
}
