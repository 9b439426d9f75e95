//! Keys of a relay tree's `[[traffic]]` table.

use fanin_param::{Kind, Param};

/// All keys.
pub(super) const PARAMS: &[Param] = &[
    Param::new("senders", Kind::Integer, "", "Number of workers that respond.", "required")
        .at_least(1.0)
        .at_most(1_000_000.0),
    Param::new("bytes-each", Kind::Bytes, "", "Size of a worker's response.", "required").at_least(1.0),
    Param::new("small-senders", Kind::Integer, "0", "Number of workers that have a small response.", "none")
        .at_most(1_000_000.0),
    Param::new("small-bytes", Kind::Bytes, "2KB", "Size of a small response.", "Alizadeh et al. 2010: 2 KB queries")
        .at_least(1.0),
    Param::new("start", Kind::Start, "0s", "When the first query begins; \"steady\": once what runs before is steady.", "at once"),
    Param::new("rounds", Kind::Integer, "1", "Number of queries; each begins when the previous one is complete.", "one").at_least(1.0),
    Param::new("gap", Kind::Time, "0s", "Pause between queries.", "at once"),
    Param::new(
        "request",
        Kind::Bytes,
        "200B",
        "Size of a request, to an aggregator and to a worker; 0: no request, workers start by themselves.",
        "our choice: one packet",
    ),
    Param::new("think", Kind::Time, "0s", "Time of a worker between the request and its response.", "none"),
    Param::new("think-jitter", Kind::Time, "0s", "Random addition to the think time, uniform below this.", "none"),
    Param::new(
        "edge-count",
        Kind::Integer,
        "4",
        "Number of aggregators; 0: workers respond to the client directly.",
        "our choice; RCCE has no number",
    )
    .at_most(10_000.0)
    .reading("E5"),
    Param::new(
        "edge-fan-in",
        Kind::Integer,
        "0",
        "Maximum number of workers per aggregator, filled one after the other; 0 divides workers evenly.",
        "our choice: evenly",
    )
    .at_most(1_000_000.0)
    .reading("E5"),
    Param::new(
        "edge-placement",
        Kind::Choice(&["near", "first", "last"]),
        "near",
        "Which of the group's sending hosts are aggregators. Either the hosts at the client's switch come first, and \
         then the first others. Or aggregators are the first or the last in the order of network.sender-placement.",
        "RCCE, section IV: from the nearby localized form factor",
    )
    .reading("E5"),
    Param::new("edge-compute", Kind::Time, "0s", "Processing time of an aggregator between input and output.", "none").reading("E5"),
    Param::new(
        "edge-reduction",
        Kind::Number,
        "1",
        "Bytes that an aggregator forwards for each byte that it received.",
        "RCCE, figure 5(c): no data is saved",
    )
    .at_most(1000.0)
    .reading("E5"),
    Param::new(
        "cut-through",
        Kind::Bool,
        "false",
        "Forward complete responses as they arrive, over one open connection. Responses that arrive while one batch \
         is on its way form the next batch, which is sent when the client has the previous one. Otherwise one \
         response is sent when all have arrived. Bytes of an incomplete response are not forwarded.",
        "RCCE, section III.C: aggregators combine the results",
    )
    .reading("E5"),
    Param::new(
        "edge-triage",
        Kind::Bytes,
        "0B",
        "Responses of fewer bytes go directly to the client, which knows their sizes and sends the requests itself.",
        "none do; RCCE, section IV: the edge triages the bandwidth-intensive and latency-sensitive",
    )
    .reading("E21"),
    Param::new(
        "edge-triage-by",
        Kind::Choice(&["announced", "gathered"]),
        "announced",
        "Whether triage is by the sizes that responses will have, or by the mean of each worker's earlier responses \
         through the edge. By the mean, all responses of the first query go through the edge.",
        "RCCE, section III.B: the edge gathers information automatically; announced: our choice, which needs no earlier query",
    )
    .reading("E21"),
    Param::new("receiver", Kind::Integer, "0", "Which receiving host is the client, from 0.", "the first")
        .at_most(65_534.0),
    Param::new(
        "placement",
        Kind::Choice(&["own-host", "round-robin"]),
        "own-host",
        "Whether each worker has a host of its own, or they share in turn those that are no aggregators.",
        "as in the papers",
    ),
];
