//! Faults: failures in the network, and when they occur.
//!
//! Each `[[fault]]` table of a scenario is one fault. Routing does not react: flows keep their paths, as they would
//! until a routing protocol converges. `net/faults.rs` keeps the active faults, and the event core carries out those of
//! links (`EventCore::set_link`). To add a kind: a row in [`REGISTRY`] and, if it does something new, an [`Effect`].

use fanin_core::units::Rate;
use fanin_param::{Kind, Param, Values};

/// A kind of fault that a scenario can name.
pub struct FaultRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[[fault]]` table beyond those of all faults.
    pub params: &'static [Param],
    /// What it does while it lasts.
    pub effect: fn(&Values) -> Effect,
}

/// Every kind of fault.
pub static REGISTRY: &[FaultRow] = &[LINK_DOWN, LOSS, RATE, CONTROLLER_OUTAGE];

/// What a fault does while it lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The link is down.
    Down {
        /// The packets queued at its port are lost, and so are all that arrive.
        flush: bool,
    },
    /// Each packet is lost with this probability.
    Loss(f64),
    /// The link has this rate.
    Rate(Rate),
    /// The controller does nothing.
    ControllerOutage,
}

/// `[[fault]]`: when it happens. Keys of every kind.
pub static COMMON: &[Param] = &[
    Param::new("at", Kind::Time, "0s", "When it begins.", "with the run"),
    Param::new("for", Kind::Time, "0s", "How long it lasts; 0s for the rest of the run.", "for good"),
];

const LINK: Param = Param::new(
    "link",
    Kind::Text,
    "bottleneck",
    "Which link: bottleneck, or its two ends as in the table of links, such as sender-3->switch-0. All parallel links \
     are affected unless one is named, as in leaf-0->spine-1/0.",
    "the link where incast is expected",
);

const DIRECTION: Param = Param::new(
    "direction",
    Kind::Choice(&["both", "one"]),
    "both",
    "Whether the other direction of the same cable is affected as well.",
    "our choice: a fault of the cable",
);

const LINK_DOWN: FaultRow = FaultRow {
    key: "link-down",
    summary: "A link is down; packets in flight on it are lost.",
    params: &[
        LINK,
        DIRECTION,
        Param::new(
            "queued",
            Kind::Choice(&["wait", "drop"]),
            "wait",
            "Packets at its port: they wait until the link is up again, or they and all arrivals while it is down are \
             lost.",
            "our choice: a short interruption, which the port does not detect",
        ),
    ],
    effect: |values| Effect::Down { flush: values.is("queued", "drop") },
};

const LOSS: FaultRow = FaultRow {
    key: "loss",
    summary: "A link loses packets at random, each independently.",
    params: &[
        LINK,
        DIRECTION,
        Param::new("rate", Kind::Fraction, "1%", "Probability that a packet is lost.", "our choice: a bad cable"),
    ],
    effect: |values| Effect::Loss(values.number("rate")),
};

const RATE: FaultRow = FaultRow {
    key: "rate",
    summary: "A link has another rate. A packet in transmission is finished at the old rate.",
    params: &[
        LINK,
        DIRECTION,
        Param::new(
            "rate",
            Kind::Rate,
            "100Mbps",
            "Its rate during the fault.",
            "our choice: negotiated down from 1 Gbps",
        )
        .at_least(1.0),
    ],
    effect: |values| Effect::Rate(values.rate("rate")),
};

const CONTROLLER_OUTAGE: FaultRow = FaultRow {
    key: "controller-outage",
    summary: "The controller loses messages that arrive or are queued there, and its timers are delayed; its state is \
              kept.",
    params: &[],
    effect: |_| Effect::ControllerOutage,
};

/// The link that a fault on links names.
pub const LINK_KEY: &str = LINK.key;
