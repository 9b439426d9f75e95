//! Keys of a `[[traffic]]` table of sessions, in a closed loop or at a load.

use fanin_param::{Kind, Param};

/// All keys of a closed loop.
pub(super) const CLOSED: &[Param] = &[
    BYTES_EACH,
    Param::new("concurrent", Kind::Integer, "1", "Number of concurrent sessions.", "one")
        .at_least(1.0)
        .at_most(1_000_000.0)
        .reading("P24"),
    Param::new("gap", Kind::Time, "0s", "Pause between a session and its successor.", "none").reading("P24"),
    COUNT,
    START,
    STOP,
    Param::new(
        "jitter",
        Kind::Time,
        "0s",
        "Each of the first sessions is delayed by a random time, uniform below this.",
        "none",
    ),
    PAIRS,
    IN_RACK,
    REQUEST,
    THINK,
    SENDERS,
    RECEIVERS,
    PLACEMENT,
];

/// All keys of Poisson arrivals.
pub(super) const POISSON: &[Param] = &[
    BYTES_EACH, LOAD, LOAD_OF, INTERVAL, COUNT, START, STOP, PAIRS, IN_RACK, REQUEST, THINK, SENDERS, RECEIVERS,
    PLACEMENT,
];

const BYTES_EACH: Param = Param::new(
    "bytes-each",
    Kind::Sizes,
    "",
    "Bytes of each transfer: one size, sizes to draw from, or a workload such as \"web-search\".",
    "required",
)
.at_least(1.0);

pub(in crate::traffic) const LOAD: Param = Param::new(
    "load",
    Kind::Fraction,
    "0",
    "Payload that arrives per second, divided by the capacity of load-of.",
    "give this or interval",
)
.at_most(100.0)
.reading("P25");

pub(in crate::traffic) const LOAD_OF: Param = Param::new(
    "load-of",
    Kind::Choice(&["receivers", "bisection"]),
    "receivers",
    "The capacity: of the access links of the receiving hosts together, or from one half of the network to the other.",
    "PFDCT, section 5.2: link load",
)
.reading("P25");

pub(in crate::traffic) const INTERVAL: Param =
    Param::new("interval", Kind::Time, "0s", "Mean time between starts.", "give this or load");

pub(in crate::traffic) const COUNT: Param =
    Param::new("count", Kind::Integer, "0", "Total number of starts; 0 for no limit.", "no limit");

pub(in crate::traffic) const START: Param =
    Param::new("start", Kind::Start, "0s", "Earliest start; \"steady\": once what runs before is steady.", "at once");

pub(in crate::traffic) const STOP: Param =
    Param::new("stop", Kind::Time, "0s", "No start at this time or later; 0s for the end of the run.", "the run's end");

const PAIRS: Param = Param::new(
    "pairs",
    Kind::Choice(&["random", "in-turn"]),
    "random",
    "Whether each session draws its two hosts at random, or takes the pairs in turn. In a closed loop with pairs, \
     the next session uses the hosts of the one before it.",
    "PFDCT, section 4: a random client for each request",
);

const IN_RACK: Param = Param::new(
    "in-rack",
    Kind::Fraction,
    "0",
    "Share of random sessions whose sender is another host in the receiver's rack, if there is a sending host there.",
    "random; PFDCT, section 4, reads blocks of HDFS: 100%",
);

const REQUEST: Param = Param::new(
    "request",
    Kind::Bytes,
    "0B",
    "Bytes of the request that the receiver sends first; 0: senders start by themselves.",
    "senders begin by themselves",
);

pub(in crate::traffic) const THINK: Param =
    Param::new("think", Kind::Time, "0s", "Time of a sender between the request and its response.", "none");

pub(in crate::traffic) const SENDERS: Param =
    Param::new("senders", Kind::Integer, "1", "Number of sending hosts by part.", "one")
        .at_least(1.0)
        .at_most(1_000_000.0);

pub(in crate::traffic) const RECEIVERS: Param =
    Param::new("receivers", Kind::Integer, "1", "Number of receiving hosts by part.", "one")
        .at_least(1.0)
        .at_most(65_535.0);

pub(in crate::traffic) const PLACEMENT: Param = Param::new(
    "placement",
    Kind::Choice(&["own-host", "round-robin"]),
    "own-host",
    "Whether the group has sending hosts of its own, or shares all of them with other groups.",
    "as in the papers",
);
