//! Keys of `[scheme.sdtcp]`.

use fanin_param::{Kind, Param};

const fn threshold(key: &'static str, default: &'static str, doc: &'static str) -> Param {
    Param::new(key, Kind::Size, default, doc, "section 5.1: 30, 60 and 85 packets of a buffer of 100").at_least(1.0)
}

const fn acts(key: &'static str, doc: &'static str) -> Param {
    Param::new(key, Kind::Bool, "true", doc, "section 3.4")
}

pub(super) const PARAMS: &[Param] = &[
    threshold("low", "30pkt", "Threshold L of a port's queue, from which on its congestion is low."),
    threshold("modest", "60pkt", "Threshold M, from which on congestion is modest."),
    threshold("high", "85pkt", "Threshold H, from which on congestion is high."),
    Param::new(
        "queue-counts",
        Kind::Choice(&["bytes", "packets"]),
        "bytes",
        "Whether a threshold in packets means that many full packets, so that small ones count by their bytes, or that many \
         of any size. A threshold in bytes is one either way.",
        "Algorithm 1, line 1: the queue grows by size(P); section 5.1: 100 packets are 150 KB",
    )
    .reading("S4"),
    Param::new("recovery", Kind::Time, "1s", "Time below L after which a port has recovered.", "section 3.2"),
    Param::new(
        "jump",
        Kind::Choice(&["sequential", "highest"]),
        "sequential",
        "Whether a queue far above the next threshold passes through every state, or goes to the highest at once.",
        "Algorithm 1, as written",
    )
    .reading("S1"),
    Param::new(
        "step-down",
        Kind::Bool,
        "false",
        "Whether the state also falls by one when the queue stays below its own threshold for `recovery`.",
        "Algorithm 1 has no such step",
    )
    .reading("S2"),
    Param::new(
        "reevaluate",
        Kind::Choice(&["none", "on-flow-change", "periodic"]),
        "on-flow-change",
        "When the controller computes the windows of a congested port again without a notification. Not at all, when \
         a flow joins or leaves the port, or with every poll.",
        "section 3.3: the controller knows every connection from its SYN; Algorithm 1 notifies each level once, and is silent on flows that \
         join later",
    )
    .reading("S2"),
    Param::new(
        "select",
        Kind::Choice(&["port", "switch"]),
        "port",
        "Which flows share the capacity of a congested port and have their windows set. Their data leave by the \
         port, or only pass its switch.",
        "section 3.4: flows that the switch forwards \"to the same destination\"; section 3.1, Step 2: \"all of the background \
         flows passing through the OF-switch\"",
    )
    .reading("S6"),
    acts("cn-low", "Whether the controller acts on low congestion (CN-L)."),
    acts("cn-modest", "Whether it acts on modest congestion (CN-M)."),
    acts("cn-high", "Whether it acts on high congestion (CN-H)."),
    Param::new("factor-low", Kind::Fraction, "2/3", "Background window over the fair one at CN-L.", "Eq. 5"),
    Param::new("factor-modest", Kind::Fraction, "1/2", "Background window over the fair one at CN-M.", "Eq. 6"),
    Param::new(
        "class",
        Kind::Choice(&["both", "volume-only", "either"]),
        "both",
        "When a flow is in the background: large and old, large, or large or old.",
        "section 3.3: larger than 1 MB and longer than 1 s",
    )
    .reading("S5"),
    Param::new("background-bytes", Kind::Bytes, "1MB", "Above this a flow is large.", "section 3.3"),
    Param::new("background-age", Kind::Time, "1s", "Above this a flow is old.", "section 3.3"),
    Param::new("poll", Kind::Time, "100ms", "Interval at which the controller asks for flow statistics.", "our choice")
        .at_least(1.0)
        .reading("S5"),
    Param::new(
        "rtt",
        Kind::Time,
        "0s",
        "Round-trip time in Eqs. 2 to 8, without queues; 0s for the propagation delay of the network's longest path.",
        "section 5.1: about 200us by construction",
    )
    .reading("S7"),
    Param::new(
        "rtt-queue",
        Kind::Choice(&["excluded", "included"]),
        "excluded",
        "Whether that round-trip time excludes queueing, or is a measured one that includes it.",
        "Eq. 2 adds the queue by itself",
    )
    .reading("S7"),
    Param::new(
        "window-scale",
        Kind::Choice(&["learned", "ignored"]),
        "learned",
        "Whether a rule's window is shifted by the scale of the handshake, or written into the field as it is.",
        "RFC 7323, section 2; the paper does not mention it",
    )
    .reading("S13"),
    Param::new(
        "setup-delay",
        Kind::Bool,
        "true",
        "Whether SYN, SYN-ACK and FIN are held at the switch until the controller answers; else it gets a copy.",
        "sections 3.3 and 5.2.5: the first packet is forwarded to the controller",
    )
    .reading("S15"),
    Param::new(
        "buffers",
        Kind::Bool,
        "true",
        "Whether switches keep a packet that is held for the controller, and send its headers. With off they send \
         the whole packet, as switches without buffers do. The controller sends it back after the entry to which it \
         belongs.",
        "OpenFlow 1.3.5, section 7.3.7: either; Floodlight and Open vSwitch differ by version",
    )
    .reading("S15"),
    Param::new(
        "buffer-timeout",
        Kind::Time,
        "100ms",
        "Time after which a packet that is held for the controller is dropped.",
        "our choice: far above any control delay, below every SYN timeout",
    )
    .at_least(1.0)
    .reading("S15"),
    Param::new(
        "data-from",
        Kind::Choice(&["either", "opener"]),
        "either",
        "Which side of a connection may send data. Both directions count as flows until statistics show that one \
         carries acknowledgements alone. Or only the direction of the SYN counts.",
        "section 3.3 records every TCP connection; Fig. 5 shows one that the sender opens",
    )
    .reading("S24"),
    Param::new(
        "remove-at",
        Kind::Choice(&["first-fin", "last-fin"]),
        "first-fin",
        "Which of a connection's two FINs removes it from the tables.",
        "Fig. 6 shows one",
    )
    .reading("S20"),
    Param::new(
        "idle-timeout",
        Kind::Time,
        "0s",
        "Time without data after which a switch removes a flow and notifies the controller, in whole seconds; 0s for \
         never.",
        "our choice: OpenFlow's default",
    )
    .at_most(65_535e12)
    .reading("S20"),
    Param::new(
        "rule-timeout",
        Kind::Time,
        "0s",
        "Time after which a switch removes a window rule regardless of the controller, in whole seconds; 0s for never.",
        "our choice: OpenFlow's default",
    )
    .at_most(65_535e12)
    .reading("S20"),
];
