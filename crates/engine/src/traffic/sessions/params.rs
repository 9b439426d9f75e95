//! Keys of a `[[traffic]]` table of sessions.

use crate::spec::{Kind, Param};

/// Every key.
pub(super) const PARAMS: &[Param] = &[
    Param::new("bytes-each", Kind::Sizes, "", "Bytes of each session: one size, or sizes to draw from.", "required")
        .at_least(1.0),
    Param::new(
        "arrivals",
        Kind::Choice(&["closed", "poisson"]),
        "closed",
        "When sessions begin: a fixed number is always under way and each that ends has a successor, or independently \
         of those under way, with exponential times between them.",
        "PFDCT, section 5.3: 10 MB that give 1.8 Gbps for seconds must repeat",
    )
    .reading("P24, P25"),
    Param::new("concurrent", Kind::Integer, "1", "Sessions under way at once, if closed.", "one")
        .at_least(1.0)
        .at_most(1_000_000.0)
        .reading("P24"),
    Param::new("gap", Kind::Time, "0s", "Pause between a session and its successor, if closed.", "none").reading("P24"),
    Param::new(
        "load",
        Kind::Fraction,
        "0",
        "Payload that arrives per second over the capacity of load-of, if poisson.",
        "give this or interval",
    )
    .at_most(100.0)
    .reading("P25"),
    Param::new(
        "load-of",
        Kind::Choice(&["receivers", "bisection"]),
        "receivers",
        "The capacity: of the links to the receiving hosts together, or from one half of the network to the other.",
        "PFDCT, section 5.2: link load",
    )
    .reading("P25"),
    Param::new(
        "interval",
        Kind::Time,
        "0s",
        "Mean time between the beginnings of sessions, if poisson.",
        "give this or load",
    ),
    Param::new("count", Kind::Integer, "0", "Number of sessions in all; 0 for no limit.", "no limit"),
    Param::new("start", Kind::Time, "0s", "When the first sessions may begin.", "at once"),
    Param::new(
        "stop",
        Kind::Time,
        "0s",
        "When the last session has begun; 0s for the end of the run.",
        "the run's end",
    ),
    Param::new(
        "jitter",
        Kind::Time,
        "0s",
        "Each of the first sessions is delayed by a seeded uniform time below this, if closed.",
        "none",
    ),
    Param::new(
        "pairs",
        Kind::Choice(&["random", "in-turn"]),
        "random",
        "Whether each session draws its two hosts, or they follow in turn: a successor then keeps those of the session \
         that it follows.",
        "PFDCT, section 4: a random client for each request",
    ),
    Param::new(
        "in-rack",
        Kind::Fraction,
        "0",
        "Share of random sessions whose sender is another host of the receiver's rack, where there is one that sends.",
        "none more than by chance; PFDCT, section 4, reads blocks of HDFS: 100%",
    ),
    Param::new(
        "request",
        Kind::Bytes,
        "0B",
        "Bytes of the request that the receiver sends first; 0: senders begin by themselves.",
        "senders begin by themselves",
    ),
    Param::new("think", Kind::Time, "0s", "Time that a sender needs between request and answer.", "none"),
    Param::new("senders", Kind::Integer, "1", "Number of sending hosts by part.", "one")
        .at_least(1.0)
        .at_most(1_000_000.0),
    Param::new("receivers", Kind::Integer, "1", "Number of receiving hosts by part.", "one")
        .at_least(1.0)
        .at_most(65_535.0),
    Param::new(
        "placement",
        Kind::Choice(&["own-host", "round-robin"]),
        "own-host",
        "Whether the senders by part are the group's own, or it shares all there are.",
        "as in the papers",
    ),
];
