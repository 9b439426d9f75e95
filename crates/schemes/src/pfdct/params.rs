//! The parameters of PFDCT.

use fanin_network::queue::RedConfig;
use fanin_param::{Kind, Param};

/// Index of `kt-dir` in [`PARAMS`].
const KT_DIR: usize = 0;

/// The keys of `[scheme.pfdct]`.
pub(super) const PARAMS: [Param; 47] = [
    Param::new(
        "kt-dir",
        Kind::Choice(&["eq5", "text", "noop", "frozen"]),
        "eq5",
        "How the threshold changes while the queue is longer than ideal: down (eq5), up (text), not at all within its \
         limits (noop), or never (frozen).",
        "Li et al. 2023, Eq. 5, and section 3.2.5 for the other direction",
    )
    .reading("P6"),
    Param::new(
        "kt-step",
        Kind::Number,
        "1",
        "Step of the queue's threshold per round trip in packets; each of N flows changes by its share.",
        "our choice: the printed formula has none",
    )
    .reading("P6"),
    Param::new(
        "kt-init",
        Kind::Number,
        "20",
        "Initial threshold of the queue in packets, of which each of N flows has its share.",
        "section 3.1: that of DCTCP, 20 packets at 1 Gbps",
    )
    .at_most(65_535.0)
    .reading("P20"),
    Param::new(
        "kt-join",
        Kind::Choice(&["rescale", "keep"]),
        "rescale",
        "When N changes, each flow's threshold changes with 1/N, or stays until Eq. 5 changes it.",
        "our choice: N K_t = Q in Eq. 7 holds the sum",
    )
    .reading("P4, P20"),
    Param::new(
        "kt-scope",
        Kind::Choice(&["sum", "per-flow", "max", "global"]),
        "sum",
        "Threshold of a queue: sum of its long flows' thresholds, that of the packet's flow, the largest, or the last changed.",
        "section 3.2.5, Eq. 7: N K_t = Q",
    )
    .reading("P4"),
    Param::new(
        "kt-transport",
        Kind::Choice(&["in-band", "oracle", "sender-mark"]),
        "in-band",
        "How the switch learns thresholds: from a field in packets, from memory shared by all (an oracle), or not at \
         all. In the last case each sender compares its own queue estimate with its threshold.",
        "our choice: the paper names no channel",
    )
    .reading("P9"),
    Param::new(
        "kt-when",
        Kind::Choice(&["window", "literal"]),
        "window",
        "Update the threshold after each window, or only if the send buffer is empty as well.",
        "section 3.2.5; Algorithm 2 line 18 for the other",
    )
    .reading("P32"),
    Param::new(
        "kt-low",
        Kind::Number,
        "0",
        "Lower limit K_l of the queue's threshold in packets; kt-high is the upper one.",
        "section 3.2.5: 0 and M/N",
    )
    .reading("P7"),
    Param::new(
        "kt-high",
        Kind::Choice(&["port", "band"]),
        "port",
        "M, the upper limit of the queue's threshold: the buffer of the port, or what the long band of a split buffer holds.",
        "section 3.2.5: N K_u < M, the buffer capacity of the bottleneck switch",
    )
    .reading("P7, P13"),
    Param::new(
        "clip-low",
        Kind::Number,
        "0",
        "Minimum threshold of a queue in packets, for flows and switch alike.",
        "none; section 5.1 has 20",
    )
    .reading("P7"),
    Param::new(
        "clip-high",
        Kind::Number,
        "0",
        "Maximum threshold of a queue in packets, for flows and switch alike; 0 for none.",
        "none; section 5.1 has 60",
    )
    .reading("P7"),
    Param::new(
        "ki",
        Kind::Number,
        "-1",
        "Fixed ideal threshold K_i in packets, which may be 0; below 0 it is that of Eq. 15.",
        "Eq. 15",
    )
    .at_least(-1.0)
    .reading("P5"),
    Param::new(
        "h",
        Kind::Fraction,
        "1/16",
        "Weight of the newest window in the average queue estimate.",
        "our choice: section 3.2.5 says only between 0 and 1; 1/16 is g",
    )
    .at_most(1.0)
    .reading("P10"),
    Param::new("g", Kind::Fraction, "1/16", "Weight of the newest window in the marked share.", "section 5.1: 1/16")
        .at_most(1.0),
    Param::new("alpha0", Kind::Fraction, "1", "Initial marked share.", "RFC 8257 section 4.2, as for DCTCP").at_most(1.0),
    Param::new(
        "rtt",
        Kind::Choice(&["mean", "last", "srtt", "ns-3"]),
        "mean",
        "Current round-trip time of Eq. 1: mean of the window's samples, the last sample, or the smoothed RTT. With \
         ns-3 it is the smoothed RTT and its minimum, both by transport.rtt-clock.",
        "our choice: robust against a single outlier; ns-3: TcpSocketState, m_lastRtt and m_minRtt up to 3.37",
    )
    .reading("P2"),
    Param::new(
        "rtt-min",
        Kind::Choice(&["measured", "oracle"]),
        "measured",
        "Minimum round-trip time: the minimum that the flow has measured, or that of the idle path.",
        "Table 1; a flow that starts when there is a queue overestimates it",
    )
    .reading("P3"),
    Param::new(
        "n-source",
        Kind::Choice(&["switch", "oracle", "const"]),
        "switch",
        "Who counts the long flows N: the narrowest switch of the path, memory shared by all (an oracle), or nobody \
         (n-const).",
        "our choice: section 3.2.5 does not say how a sender learns N",
    )
    .reading("P8"),
    Param::new("n-const", Kind::Number, "1", "N where n-source is const.", "a lone flow").at_least(1.0).reading("P8"),
    Param::new(
        "flow-timeout",
        Kind::Time,
        "2ms",
        "Silence after which a switch no longer counts a flow.",
        "our choice: longer than 100 packets at 1 Gbps and a round trip",
    )
    .reading("P8"),
    Param::new(
        "class",
        Kind::Choice(&["text", "alg2", "size-only"]),
        "text",
        "Which flows are long. With text they are large flows with a large window. With alg2 they have a large \
         window or enough bytes sent, and with size-only they are all large flows.",
        "section 3.2.3; Algorithm 2 line 2",
    )
    .reading("P11"),
    Param::new("long-size", Kind::Bytes, "1MB", "Long flows carry more than this.", "section 3.2.3: 1 MB").reading("P11"),
    Param::new(
        "long-window",
        Kind::Number,
        "20",
        "Window in segments above which a flow may be long.",
        "section 3.2.3 and Algorithm 2: 20",
    )
    .reading("P11"),
    Param::new(
        "short-bytes",
        Kind::Bytes,
        "10KB",
        "Bytes sent from which on a flow is long by class = \"alg2\".",
        "Algorithm 2 line 2: 10 KB",
    )
    .reading("P11"),
    Param::new(
        "sticky",
        Kind::Bool,
        "true",
        "A flow that has become long stays long.",
        "our choice: a flow that becomes short again overtakes its own packets",
    )
    .reading("P12"),
    Param::new(
        "ecn-for",
        Kind::Choice(&["long", "all"]),
        "long",
        "Which flows are ECN-capable and marked.",
        "section 3.2.1: long flows only",
    ),
    Param::new(
        "bands",
        Kind::Integer,
        "2",
        "Number of strict priority bands: with two, retransmissions share the band of short flows; with three they \
         have their own; with one all share it.",
        "section 3.2.2: two sub-queues; section 3.2.3 has three priorities",
    )
    .at_least(1.0)
    .at_most(3.0)
    .reading("P13"),
    Param::new(
        "band-buf",
        Kind::Choice(&["own", "split", "shared-push-out"]),
        "own",
        "Buffer of a band: its own, as large as network.buffer; a part of network.buffer; or network.buffer shared by \
         all bands with push-out.",
        "section 3.2.2: the whole has no limit, packets are discarded by sub-queues only",
    )
    .reading("P13"),
    Param::new(
        "retransmission-share",
        Kind::Fraction,
        "1/3",
        "Share of a split buffer for retransmissions.",
        "our choice: equal parts",
    )
    .at_most(0.45)
    .reading("P13"),
    Param::new(
        "short-share",
        Kind::Fraction,
        "1/3",
        "Share of a split buffer for short flows; long flows have the rest.",
        "our choice: equal parts",
    )
    .at_most(0.45)
    .reading("P13"),
    Param::new(
        "aqm",
        Kind::Choice(&["step", "red", "red-dynamic", "red-between"]),
        "step",
        "How packets are marked. By the instantaneous queue (step), by the average queue between fixed thresholds \
         (red), or by the average queue at the flows' threshold (red-dynamic). With red-between there is a \
         probability from the flows' threshold on up to red-max / red-min times that.",
        "section 3.2.4; section 3.2.2 for the others",
    )
    .reading("P14"),
    Param::new(
        "red-min",
        Kind::Number,
        "20",
        "Average queue in packets from which on RED marks some packets.",
        "section 5.1: minimum 20",
    )
    .reading("P7, P31"),
    Param::new(
        "red-max",
        Kind::Number,
        "60",
        "Average queue in packets from which on RED marks all packets.",
        "section 5.1: maximum 60",
    )
    .reading("P7, P31"),
    Param::new(
        "red-weight",
        Kind::Fraction,
        "0.002",
        "Weight of the newest queue in RED's average.",
        "Floyd and Jacobson 1993, section 6",
    )
    .at_most(1.0)
    .reading("P31"),
    Param::new(
        "red-max-p",
        Kind::Fraction,
        "0.1",
        "RED's probability of a mark at its upper threshold.",
        "Floyd 1997, \"Discussions of Setting Parameters\"",
    )
    .at_most(1.0)
    .reading("P31"),
    RedConfig::GENTLE.reading("P31"),
    RedConfig::WAIT.reading("P31"),
    Param::new(
        "short-aqm",
        Kind::Choice(&["none", "red"]),
        "none",
        "Queue management in the bands above that of long flows: none but their limit, or RED, which drops packets \
         that are not ECT.",
        "section 3.2.1: no threshold discards short flows' packets; section 3.2.2: both sub-queues are RED",
    )
    .reading("P13, P31"),
    Param::new(
        "occupancy",
        Kind::Choice(&["band", "port"]),
        "band",
        "Which queue is compared with the threshold: packets waiting in the long band, or all in the port.",
        "section 2: each queue has its own threshold",
    )
    .reading("P15"),
    Param::new(
        "pit",
        Kind::Choice(&["hiwater", "set", "off"]),
        "hiwater",
        "What a switch stores to recognise retransmissions: each flow's highest sequence number, every number, or \
         nothing.",
        "section 3.2.3; the structure is our choice",
    )
    .reading("P16, P30"),
    Param::new(
        "table-entries",
        Kind::Integer,
        "16384",
        "Entries of that table, of eight bytes each; the least recently used is evicted.",
        "our choice: 128 KiB a switch",
    )
    .at_least(4.0)
    .at_most(16_777_216.0)
    .reading("P16"),
    Param::new(
        "ack-band",
        Kind::Choice(&["short", "retransmission", "long"]),
        "short",
        "Band of acknowledgements.",
        "Algorithm 1: no ECN, so the middle one",
    )
    .reading("P17"),
    Param::new(
        "classify",
        Kind::Choice(&["ect-pit", "dscp"]),
        "ect-pit",
        "How a switch classifies packets: by ECN field and table, or by the code point that the sender wrote.",
        "Algorithm 1; section 3.2.1 for the code point",
    )
    .reading("P29"),
    Param::new(
        "slow-start",
        Kind::Choice(&["none", "until-mark"]),
        "none",
        "Linear growth from the start, or slow start until the first mark or loss as in DCTCP.",
        "Eq. 3; Algorithm 2 lines 28 to 31; section 5.3: linear growth at the beginning",
    )
    .reading("P33"),
    Param::new(
        "cut",
        Kind::Choice(&["window-end", "first-echo", "each-ack"]),
        "window-end",
        "When a marked window is reduced. Once it has been acknowledged, or at its first ECN echo, with the alpha of \
         the previous windows. Or with each ACK after a mark in the window, by half of the share marked so far.",
        "section 3.2.4: once all packets of the window are acknowledged; RFC 8257 section 3.3 for the first echo; Algorithm \
         2 lines 26 and 27 for each ACK",
    )
    .reading("P18"),
    Param::new(
        "growth",
        Kind::Choice(&["window-end", "each-ack"]),
        "window-end",
        "When a window without marks grows. By a segment once it has been acknowledged. Or with each ACK of new data \
         by the square of a segment over the window, a byte at least. Such an ACK may also repair a timeout, which \
         does not let ns-3's own senders grow.",
        "Eq. 3; Algorithm 2 lines 28 to 31 for each ACK",
    )
    .reading("P18"),
    Param::new(
        "min-window",
        Kind::Window,
        "2mss",
        "Smallest window after a reduction.",
        "as DCTCP; the paper gives none",
    )
    .at_least(1.0)
    .reading("P26"),
];

/// The keys of `[scheme.pfdct-st]`: the same, but the threshold is fixed.
pub(super) const FROZEN: [Param; 47] = {
    let mut params = PARAMS;
    params[KT_DIR].default = "frozen";
    params
};
