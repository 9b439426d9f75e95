//! The keys that every scenario has, whatever scheme, topology, queue or traffic it names.

use super::declare::{Kind, Param};
use crate::{environment, fault, queue, schemes, topology, traffic};

/// The key beside the tables.
pub const ENVIRONMENT: &[Param] = &[Param::new(
    "environment",
    Kind::Choice(&ENVIRONMENT_KEYS),
    environment::DEFAULT,
    "Whose defaults hold for what the file leaves out: those of the tool in which a paper was run, for every system alike.",
    "our choice: what the RFCs say",
)];

/// Which topology `[network]` describes.
pub const TOPOLOGY: &[Param] = &[Param::new(
    "topology",
    Kind::Choice(&TOPOLOGY_KEYS),
    "",
    "Which topology connects the hosts; it brings keys of its own into this table.",
    "required",
)];

/// `[network]`: what all topologies share.
pub const NETWORK: &[Param] = &[
    Param::new(
        "rate",
        Kind::Rate,
        "1Gbps",
        "Rate of every link that the topology does not set apart; Gbps counts bits, GBps bytes.",
        "1 Gbps at the hosts in PFDCT, DT-CWA, RCC, SDTCP and RCCE alike",
    )
    .at_least(1.0),
    Param::new(
        "delay",
        Kind::Time,
        "25us",
        "Propagation delay of every link, one way.",
        "our choice: 100us of round trip through one switch, as in DT-CWA's setup",
    ),
    Param::new(
        "buffer",
        Kind::Size,
        "100pkt",
        "Buffer of every switch port under static admission.",
        "PFDCT, section 5.1; SDTCP, section 5.1",
    )
    .at_least(1.0)
    .ignored_with("admission", "dynamic-threshold"),
    Param::new(
        "buffer-counts",
        Kind::Choice(&["all", "waiting"]),
        "all",
        "Whether the packet in transmission counts against the buffer, and for a discipline that looks at the queue \
         which an arriving packet finds; or only those that wait.",
        "our choice: all; ns-3's devices take a packet out of the queue before they transmit it, RCC's authors too",
    ),
    Param::new(
        "buffer-full",
        Kind::Choice(&["no-room", "reached"]),
        "no-room",
        "When a buffer in bytes refuses a packet: once it has no room for all of it, or only once it is full.",
        "our choice: no-room; RCC's authors let in what finds less than 80 times 1500 bytes",
    )
    .ignored_with("admission", "dynamic-threshold"),
    Param::new(
        "admission",
        Kind::Choice(&["static", "dynamic-threshold"]),
        "static",
        "How a switch divides its memory: a fixed buffer for each port, or one shared memory with a threshold \
         that falls as it fills.",
        "our choice: what ns-2 and the incast papers assume",
    ),
    Param::new(
        "shared-buffer",
        Kind::Size,
        "1MB",
        "Memory of a switch that its ports share under dynamic-threshold.",
        "our choice: a shallow top-of-rack switch",
    )
    .at_least(1.0)
    .ignored_with("admission", "static"),
    Param::new(
        "dt-alpha",
        Kind::Number,
        "1",
        "Factor of the dynamic threshold: a port may hold this many times the free shared memory.",
        "Choudhury and Hahne 1998: a power of two, here 1",
    )
    .ignored_with("admission", "static"),
    Param::new(
        "host-jitter",
        Kind::Time,
        "0s",
        "Each packet that a host sends is held for a seeded uniform time below this, order kept. A little of it \
         breaks the phase effects of flows in lockstep.",
        "our choice: off, as in the papers",
    ),
    Param::new(
        "ties",
        Kind::Choice(&["drawn", "waiting-first", "fresh-first"]),
        "drawn",
        "Which packet comes first where packets of several hosts meet at one instant, as those of flows in lockstep do \
         again and again: either, drawn by the seed; always one that waited for another of its host; or always one \
         that did not. The same packets win and lose every time unless it is drawn.",
        "our choice: in a network noise decides; waiting-first is the order of events in ns-3.18 with RCC's code",
    ),
    Param::new(
        "frame-overhead",
        Kind::Bytes,
        "0B",
        "Link-layer bytes that a packet takes on the wire beyond its IP length; 38B for Ethernet with preamble \
         and gap.",
        "our choice: none, as in ns-2",
    )
    .at_most(1000.0),
    Param::new(
        "switch",
        Kind::Choice(&PART_KEYS),
        AUTO,
        "Whose switches these are: the environment whose defaults hold for what [network] and [queue] leave out.",
        "environment",
    ),
    Param::new(
        "non-ect",
        Kind::Choice(&["by-queue", "drop"]),
        "by-queue",
        "What becomes on arrival of a packet that is due a mark and whose transport is not ECN-capable: what the queue \
         does, which lets it pass unmarked unless it is RED with red-drop; or it is dropped, whatever the queue.",
        "RFC 3168, section 5 lets a queue drop it; queues with a threshold pass it in the papers that we know the code of",
    ),
    Param::new(
        "path-selector",
        Kind::Choice(&["auto", "ecmp", "spray"]),
        "auto",
        "Who chooses among paths of equal cost: the scheme if it has a way of its own, a hash of the flow, or each \
         flowcell the next path in turn.",
        "the scheme's paper",
    ),
    Param::new(
        "flowcell",
        Kind::Bytes,
        "64KiB",
        "Bytes after which a flow takes the next path under path-selector = \"spray\"; as much as mss for every packet.",
        "He et al. 2015, section 3.1: as much as one segmentation offload",
    )
    .at_least(1.0),
];

/// Which discipline `[queue]` gives the switch ports.
pub const QUEUE: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&QUEUE_KEYS),
    "auto",
    "Queue discipline of the switch ports; auto takes what the scheme needs, else drop-tail.",
    "the scheme's paper",
)];

/// Which scheme `[transport]` runs, and on whose stack.
pub const SCHEME: &[Param] = &[
    Param::new(
        "scheme",
        Kind::Choice(&SCHEME_KEYS),
        "newreno",
        "Scheme of the network and of every traffic group that names none.",
        "the baseline of every incast paper",
    ),
    Param::new(
        "stack",
        Kind::Choice(&PART_KEYS),
        AUTO,
        "Whose hosts these are: the environment whose defaults hold for what [transport] leaves out. In the environment rfc \
         a scheme may bring a stack of its own.",
        "environment",
    ),
];

/// Which pattern a `[[traffic]]` group follows.
pub const TRAFFIC: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&TRAFFIC_KEYS),
    "",
    "Which pattern the group's transfers follow; it brings keys of its own into this table.",
    "required",
)];

/// `[[traffic]]`: keys of every group that stand for something else when absent.
pub const TRAFFIC_OPTIONAL: &[Param] = &[
    Param::new(
        "name",
        Kind::Text,
        "",
        "Name by which results and overrides call the group: lower-case letters, digits and hyphens.",
        "the group's kind",
    ),
    Param::new("scheme", Kind::Choice(&SCHEME_KEYS), "", "Scheme of the group's end points.", "transport.scheme"),
];

/// `[[traffic]]`: keys of every group, whatever its pattern.
pub const TRAFFIC_COMMON: &[Param] = &[
    Param::new(
        "from",
        Kind::Text,
        topology::BY_PART,
        "Hosts that send, such as \"pod-0\", \"rack-4..7\", \"host-3, host-9\" or \"all\"; by-part: those that the network \
         lays out as senders, one after the other.",
        "an incast has senders of its own",
    ),
    Param::new(
        "to",
        Kind::Text,
        topology::BY_PART,
        "Hosts that receive, in the same words; by-part: those that the network lays out as receivers.",
        "an incast has one receiver",
    ),
    Param::new(
        "deadline",
        Kind::Time,
        "0s",
        "Time from the start of each transfer by which its data should have arrived, for schemes that know deadlines; \
         0: no hurry.",
        "no deadline: most of the papers' traffic has none",
    ),
    Param::new(
        "announce-size",
        Kind::Bool,
        "true",
        "Whether senders tell the receiver at the start how many bytes a transfer has.",
        "as RCC's senders do",
    ),
];

/// Which kind of fault a `[[fault]]` is.
pub const FAULT: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&FAULT_KEYS),
    "",
    "What goes wrong; it brings keys of its own into this table.",
    "required",
)];

/// `[[fault]]`: keys of every fault that stand for something else when absent.
pub const FAULT_OPTIONAL: &[Param] = &[Param::new(
    "name",
    Kind::Text,
    "",
    "Name by which overrides call the fault: lower-case letters, digits and hyphens.",
    "the fault's kind",
)];

/// `[control]`: the channel between switches and a scheme's controller, which serves one message at a time.
pub const CONTROL: &[Param] = &[
    Param::new(
        "delay",
        Kind::Time,
        "33us",
        "Time of a message between a switch and the controller, one way.",
        "SDTCP, section 5.2.5: 66us of a control delay of 70us to 95us is transmission, over two links there and back",
    ),
    Param::new("jitter", Kind::Time, "0s", "Each message takes a seeded uniform time below this longer.", "our choice"),
    Param::new("loss", Kind::Fraction, "0", "Share of messages lost.", "our choice: the channel is reliable"),
    Param::new(
        "service-time",
        Kind::Time,
        "5us",
        "Time for which one message occupies the controller; later ones wait in order.",
        "our choice: about what SDTCP, Fig. 16 leaves beyond transmission at low load",
    ),
];

/// `[measure]`: what is recorded besides flows and requests.
pub const MEASURE: &[Param] = &[
    Param::new(
        "queues",
        Kind::Choice(&["bottleneck", "all", "none"]),
        "bottleneck",
        "Which ports have queue statistics.",
        "our choice",
    ),
    Param::new(
        "queue-trace",
        Kind::Choice(&["off", "on-change", "sampled"]),
        "off",
        "Whether the backlog of those ports is recorded over time, at every change or at fixed times.",
        "our choice",
    ),
    Param::new("queue-sample", Kind::Time, "100us", "Interval of a sampled queue trace.", "our choice").at_least(1.0),
    Param::new(
        "probes",
        Kind::Text,
        "off",
        "Values of a flow recorded over time, comma-separated: cwnd, ssthresh, srtt, rto, in-flight and what the \
         scheme adds, for its switches and receiving hosts as well; or off.",
        "our choice",
    ),
    Param::new("probe-flows", Kind::Integer, "16", "Flows that are probed, from the first.", "our choice"),
    Param::new("bin", Kind::Time, "0s", "Width of the time bins of group totals; 0s for none.", "our choice"),
    Param::new(
        "capture",
        Kind::Choice(&["off", "bottleneck", "senders", "receiver", "all"]),
        "off",
        "Whose packets are captured, at the far end of each link: a packet's time is when its last bit arrives there, and \
         what the link itself loses is not in the capture.",
        "our choice",
    ),
    Param::new(
        "capture-time",
        Kind::Choice(&["ns", "ps"]),
        "ns",
        "Unit of a capture's times. Picoseconds are exact, but Wireshark 4 shows wrong times of them.",
        "our choice",
    ),
    Param::new(
        "capture-control",
        Kind::Bool,
        "false",
        "Whether the messages between switches and controller are captured too, where they are sent, as TCP port 6653.",
        "our choice",
    ),
    Param::new("capture-limit", Kind::Integer, "1000000", "Packets captured at most.", "our choice"),
    Param::new(
        "warmup",
        Kind::Time,
        "0s",
        "Time at which queue statistics and the goodput window begin; at 0s, with the first finite transfer.",
        "our choice",
    ),
];

/// `[run]`: how long, and with which random numbers.
pub const RUN: &[Param] = &[
    Param::new("duration", Kind::Time, "30s", "Simulated time after which the run ends.", "our choice").at_least(1.0),
    Param::new("seed", Kind::Integer, "1", "Seed of every random stream.", "our choice"),
];

/// A table whose keys depend on the word that one of them holds.
#[derive(Debug)]
pub(super) struct Variants {
    /// The key that holds the word: the only element.
    pub(super) selector: &'static [Param],
    /// Keys that may be absent and have no fixed default.
    pub(super) optional: &'static [Param],
    /// Keys of every variant.
    pub(super) common: &'static [Param],
    /// The words, with what each adds.
    pub(super) rows: Vec<Variant>,
}

/// What one word of a selector stands for.
#[derive(Debug)]
pub(super) struct Variant {
    /// The word.
    pub(super) key: &'static str,
    /// One line for listings.
    pub(super) summary: &'static str,
    /// The keys that it adds.
    pub(super) params: &'static [Param],
}

impl Variants {
    /// `[network]`.
    pub(super) fn network() -> Self {
        let row = |row: &topology::TopologyRow| Variant { key: row.key, summary: row.summary, params: row.params };
        Self { selector: TOPOLOGY, optional: &[], common: NETWORK, rows: topology::REGISTRY.iter().map(row).collect() }
    }
    /// `[queue]`.
    pub(super) fn queue() -> Self {
        let auto = Variant { key: AUTO, summary: "What the scheme needs, else drop-tail.", params: &[] };
        let row = |row: &queue::QueueRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = std::iter::once(auto).chain(queue::REGISTRY.iter().map(row)).collect();
        Self { selector: QUEUE, optional: &[], common: &[], rows }
    }
    /// One `[[traffic]]` group.
    pub(super) fn traffic() -> Self {
        let row = |row: &traffic::TrafficRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = traffic::REGISTRY.iter().map(row).collect();
        Self { selector: TRAFFIC, optional: TRAFFIC_OPTIONAL, common: TRAFFIC_COMMON, rows }
    }
    /// One `[[fault]]`.
    pub(super) fn fault() -> Self {
        let row = |row: &fault::FaultRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = fault::REGISTRY.iter().map(row).collect();
        Self { selector: FAULT, optional: FAULT_OPTIONAL, common: fault::COMMON, rows }
    }
}

/// The word that leaves a choice to the scheme or to the environment.
pub const AUTO: &str = "auto";

const ENVIRONMENT_KEYS: [&str; environment::REGISTRY.len()] = {
    let mut keys = [""; environment::REGISTRY.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = environment::REGISTRY[i].key;
        i += 1;
    }
    keys
};

const PART_KEYS: [&str; environment::REGISTRY.len() + 1] = {
    let mut keys = [AUTO; environment::REGISTRY.len() + 1];
    let mut i = 1;
    while i < keys.len() {
        keys[i] = environment::REGISTRY[i - 1].key;
        i += 1;
    }
    keys
};

const SCHEME_KEYS: [&str; schemes::REGISTRY.len()] = {
    let mut keys = [""; schemes::REGISTRY.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = schemes::REGISTRY[i].key;
        i += 1;
    }
    keys
};

const TOPOLOGY_KEYS: [&str; topology::REGISTRY.len()] = {
    let mut keys = [""; topology::REGISTRY.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = topology::REGISTRY[i].key;
        i += 1;
    }
    keys
};

const QUEUE_KEYS: [&str; queue::REGISTRY.len() + 1] = {
    let mut keys = [AUTO; queue::REGISTRY.len() + 1];
    let mut i = 1;
    while i < keys.len() {
        keys[i] = queue::REGISTRY[i - 1].key;
        i += 1;
    }
    keys
};

const TRAFFIC_KEYS: [&str; traffic::REGISTRY.len()] = {
    let mut keys = [""; traffic::REGISTRY.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = traffic::REGISTRY[i].key;
        i += 1;
    }
    keys
};

const FAULT_KEYS: [&str; fault::REGISTRY.len()] = {
    let mut keys = [""; fault::REGISTRY.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = fault::REGISTRY[i].key;
        i += 1;
    }
    keys
};
