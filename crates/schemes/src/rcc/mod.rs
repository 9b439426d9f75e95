//! RCC: receiver-oriented congestion control (Xu et al., Computer Networks 124, 2017).
//!
//! Only two pages of the paper are freely available. The rest is taken from the authors' code (thuxl/rdtcp); where that
//! code seems accidental, a parameter selects its behaviour. RCCE uses the same host with other rules, so [`Host`]
//! takes [`Rules`].
//!
//! | mechanism | RCCE's name of it | code |
//! |---|---|---|
//! | division of `queue-max` among flows | Eq. 1 and Algorithm 1 | `assignment.rs`: `assign` |
//! | list of held ACKs | section IV.B | `ack_list.rs`: `insert`, `pop` |
//! | release of ACKs | Algorithm 2 | `turns.rs`: `signal`, `release` |
//! | segments in flight | `flight_wins` in Algorithm 2 | `flight.rs`: `on_granted`, `on_arrived` |
//! | congestion window at the receiver | section IV.D | `window.rs`: `on_accepted` |
//! | marked share, and the reduction by half of it | Eq. 2 | `marks.rs`: `on_end`; `turns.rs`: `on_period` |
//! | receiver's timer and retransmission requests | Algorithm 3 | `timing.rs`; `turns.rs`: `on_alarm`, `ask` |
//! | sender that follows the advertised window | | `sender.rs` |
//!
//! Left out: blocking and delaying by "global round-trip times", which is in that code but never called.

mod ack_list;
mod assignment;
mod flight;
mod flow;
mod host;
mod marks;
mod readings;
mod rules;
mod sender;
mod timers;
mod timing;
mod turns;
mod window;

use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{CongestionControl, QueueDiscipline, WindowControl};
use fanin_core::units::Size;
use fanin_network::queue::{MarkAt, Threshold};
use fanin_param::{Kind, Param, Values};
use host::Host;
use rules::{Arm, Rules, TimerRules};
use sender::Obedient;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "rcc",
    summary: "RCC: the receiver sets windows, schedules acknowledgements and reacts to marks (Xu et al. 2017).",
    params: PARAMS,
    transport: TRANSPORT,
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a kernel module on the receivers, and ECN marks in the switch",
    reacts_to: &[Signal::Marks, Signal::Schedule],
    colour: "#009E73",
    marker: "D",
    build: |params| Box::new(Bundle::new(params)),
};

/// Transport settings that the schedulers of RCC and RCCE rely on. Each segment is acknowledged. On a connection that
/// was open before the run, no SYN-ACK has advertised a window, and the sender begins with one segment, as the receiver
/// assumes.
///
/// READING: R17. During a recovery the receiver's window changes with each out-of-order segment, so three
/// acknowledgements that repeat both number and window (RFC 5681 section 2) are rare.
pub(super) const TRANSPORT: &[Wish] =
    &[Wish::Needs("initial-window", "1mss"), Wish::Needs("ack-every", "1"), Wish::Needs("duplicate-ack-window", "any")];

const SWITCHED: Kind = Kind::Choice(&["on", "off"]);
const CODE: &str = "authors' code";

pub(super) const PARAMS: &[Param] = &[
    Param::new("scheduler", SWITCHED, "on", "Assign windows and hold ACKs.", "RCC, section 1"),
    Param::new(
        "queue-max",
        Kind::Integer,
        "40",
        "Segments that all flows of a receiving host may have in flight.",
        "authors' code: equal to the marking threshold",
    )
    .at_least(1.0),
    Param::new(
        "priority",
        Kind::Choice(&["on", "size", "off"]),
        "on",
        "Flows with fewer remaining bytes have more weight and go first. With size they go first, but windows are in \
         proportion to remaining bytes, as in Equation 1 of RCCE if the size is the priority. With off all flows are \
         alike, first come, first served.",
        CODE,
    )
    .reading("E1"),
    Param::new(
        "assignment",
        Kind::Choice(&["code", "printed"]),
        "code",
        "Without priority, a window is no larger than what its flow needs, and the rest is distributed. Or every \
         flow has the same whole number of segments. With priority both values mean the first.",
        "authors' code; RCCE's Algorithm 1 has printed",
    )
    .reading("E19"),
    Param::new("ecn", SWITCHED, "on", "The receiver reacts to marks.", "RCC, section 1"),
    Param::new(
        "alpha",
        Kind::Choice(&["code", "every-round", "ratio"]),
        "code",
        "Estimate of the marked share: an average over periods with marks, an average over all periods as DCTCP's, or \
         the share of the last period.",
        "authors' code: the published curves come from it",
    )
    .reading("R6"),
    Param::new(
        "mark-action",
        Kind::Choice(&["code", "avoidance", "equation"]),
        "code",
        "What marks do to a window besides the reduction by half the marked share, once in a round trip with marks. \
         With code each marked segment halves the slow-start threshold and does not increase the window. With \
         avoidance slow start ends at the reduced window. With equation marks do nothing more.",
        "authors' code; RCCE's text has the reduction, and an analysis in which windows then grow by a segment a round trip",
    )
    .reading("E23"),
    Param::new(
        "mark-period",
        Kind::Time,
        "100us",
        "Minimum period over which the marked share is taken, also used until a round-trip time has been measured; \
         otherwise the period is that time.",
        CODE,
    )
    .at_least(1.0),
    Param::new(
        "first-rtt",
        Kind::Time,
        "10ms",
        "Round-trip time that the receiver assumes before it has measured one.",
        CODE,
    )
    .at_least(1.0),
    Param::new(
        "initial-threshold",
        Kind::Bytes,
        "65535B",
        "Window at which a flow's first slow start at the receiver ends.",
        "authors' code, which has it from ns-3",
    )
    .at_least(1.0),
    Param::new("g", Kind::Fraction, "1/16", "Weight of the newest share in the average.", CODE).at_most(1.0),
    Param::new(
        "marks-on-fin",
        Kind::Choice(&["count", "ignore"]),
        "count",
        "Whether the mark of the segment with FIN counts.",
        "as any other segment's; the authors' code never counts it",
    )
    .reading("R11"),
    Param::new(
        "mark-threshold",
        Kind::Size,
        "60000B",
        "Queue from which on a switch port marks.",
        "authors' code: 40 packets of 1500 bytes, in bytes, so that a burst of SYNs is not taken for congestion",
    )
    .per_tier(),
    MarkAt::PARAM,
    Param::new(
        "mark-requires-ect",
        Kind::Bool,
        "true",
        "Mark only ECN-capable packets; else any, SYNs and acknowledgements too.",
        "RFC 3168 section 5; the authors' code marks any",
    )
    .reading("R10"),
    Param::new(
        "skip-cap",
        Kind::Choice(&["fixed", "formula"]),
        "fixed",
        "How often an ACK may be overtaken: a fixed number, or half the packets that the host's link carries in \
         rto-r-min.",
        "authors' code; RCCE's text has the formula",
    )
    .reading("E4"),
    Param::new(
        "skip-cap-deadline",
        Kind::Integer,
        "300",
        "Fixed number for flows with a deadline (key deadline of their traffic group).",
        CODE,
    )
    .reading("E4"),
    Param::new("skip-cap-other", Kind::Integer, "700", "Fixed number for flows without a deadline.", CODE)
        .reading("E4"),
    Param::new(
        "push-bonus",
        Kind::Integer,
        "150",
        "Initial number of times that an ACK that requests a retransmission counts as overtaken. No effect on ACKs \
         that are not held (repeats).",
        "authors' code; RCCE's text has none",
    )
    .reading("E4"),
    Param::new(
        "release",
        Kind::Choice(&["below", "at-most"]),
        "below",
        "ACKs are released while fewer segments than queue-max are in flight, or also while exactly as many are.",
        "authors' code; RCCE, Algorithm 2 has at-most",
    )
    .reading("E3"),
    Param::new(
        "repeats",
        Kind::Choice(&["pass", "wait"]),
        "pass",
        "Whether an ACK that repeats an earlier one and permits no new data is sent at once, or held like any other. \
         It follows duplicate data, a duplicate SYN, or the receiver's timer.",
        "our choice: if they are held, the loss of queue-max ACKs stops the host; the authors' code holds them",
    )
    .reading("R8"),
    Param::new(
        "requests",
        Kind::Choice(&["pass", "wait"]),
        "pass",
        "For a receiver of the data that opens the connection and sends a request. The last packet of its handshake \
         and its request permit the first segment of the response. They are sent at once or held in the list.",
        "authors' code has no requests; RCCE, section IV.B: the buffer queue stores acknowledgements",
    )
    .reading("E24"),
    Param::new(
        "flight",
        Kind::Choice(&["exact", "code"]),
        "exact",
        "How segments in flight are counted: exactly, per flow, or as in the authors' code. The code ignores parts \
         of segments. It subtracts the whole rest of a flow when its last byte arrives, even if part of the rest \
         arrived earlier.",
        "our choice: the same as long as nothing is lost",
    )
    .reading("R12"),
    Param::new(
        "duplicates",
        Kind::Choice(&["reset", "kept"]),
        "reset",
        "Whether the count of out-of-order segments is reset if the hole is filled before the third one, or continues \
         with the next hole.",
        "RFC 5681 section 3.2; the authors' code keeps them",
    )
    .reading("R13"),
    Param::new(
        "rto-r",
        Kind::Choice(&["on-release", "on-queue", "off"]),
        "on-release",
        "When the receiver's retransmission timer starts: when an ACK is released, when it enters the list, or never.",
        "authors' code; in RCCE, section V.A, timers run while ACKs are held",
    )
    .reading("R14"),
    Param::new("rto-r-min", Kind::Time, "10ms", "Minimum of that timer.", CODE).at_least(1.0),
    Param::new(
        "rto-r-step",
        Kind::Time,
        "0s",
        "Mean and deviation of the round-trip time are truncated to multiples of this for the timer; 0: not truncated.",
        "our choice: exact; the authors' code truncates to milliseconds",
    )
    .reading("R15"),
    Param::new(
        "rto-r-wait",
        Kind::Choice(&["none", "clock-digit"]),
        "none",
        "Time between the timer's expiry and the retransmission request: none, or as many round trips as the last \
         digit of the clock's nanoseconds.",
        "RCCE, Algorithm 3; the authors' code has clock-digit",
    )
    .reading("R9"),
    Param::new(
        "push",
        Kind::Choice(&["acknowledges", "request"]),
        "acknowledges",
        "Whether an ACK with PSH acknowledges, and requests a retransmission if data is outstanding, or only requests.",
        "RFC 9293 section 3.10.7.4; in the authors' code it only asks",
    )
    .reading("R16"),
];

/// The roles, built from the parameters; RCCE uses them too.
pub(super) struct Bundle {
    rules: Rules,
    push_is_only_a_request: bool,
    threshold: Size,
    mark_at: MarkAt,
    requires_ect: bool,
}

impl Bundle {
    pub(super) fn new(params: &Values) -> Self {
        Self {
            rules: Rules::new(params),
            push_is_only_a_request: params.is("push", "request"),
            threshold: params.size("mark-threshold"),
            mark_at: MarkAt::chosen(params),
            requires_ect: params.flag("mark-requires-ect"),
        }
    }

    /// The scheduler inside a switch, which cannot create acknowledgements and so requests no retransmissions.
    pub(super) fn without_requests(&self, host: &NodeFacts) -> Box<dyn WindowControl> {
        let timer = TimerRules { arm: Arm::Off, ..self.rules.timer };
        Box::new(Host::new(Rules { timer, ..self.rules }, host))
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        let Self { push_is_only_a_request, .. } = *self;
        Box::new(Obedient { ecn: self.rules.marks.on, push_is_only_a_request })
    }
    fn follows_requests(&self) -> bool {
        self.rules.scheduler && self.rules.requests_wait
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Host::new(self.rules, host)))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(Threshold { requires_ect: self.requires_ect, ..Threshold::at(self.threshold, self.mark_at) }))
    }
}

#[cfg(test)]
impl Bundle {
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }
}

#[cfg(test)]
mod tests;
