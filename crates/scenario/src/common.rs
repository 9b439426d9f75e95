//! The keys that every scenario has, regardless of its scheme, topology, queue and traffic.

use super::environment;
use fanin_network::{fault, queue, topology, traffic};
use fanin_param::{Kind, Param, Rule, Variant};
use fanin_schemes as schemes;
use std::sync::{Mutex, PoisonError};

/// The only key outside the tables.
pub static ENVIRONMENT: &[Param] = &[Param::new(
    "environment",
    Kind::Choice(&ENVIRONMENT_KEYS),
    environment::DEFAULT,
    "The environment whose defaults apply to keys that the file omits: those of the tool in which a paper was run, \
     for every system alike.",
    "our choice: what the RFCs say",
)
.short(environment::SHORT_NAMES)];

/// Which topology `[network]` describes.
pub static TOPOLOGY: &[Param] = &[Param::new(
    "topology",
    Kind::Choice(&TOPOLOGY_KEYS),
    "",
    "Topology of the network; it adds its own keys to this table.",
    "required",
)];

/// `[network]`: the keys of all topologies.
pub static NETWORK: &[Param] = &[
    Param::new(
        "rate",
        Kind::Rate,
        "1Gbps",
        "Rate of every link for which the topology has no key of its own; Gbps counts bits, GBps bytes.",
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
        "PFDCT, section 5.1, and SDTCP, section 5.1, at 1 Gbps; then twice DCTCP's threshold (Alizadeh et al. 2010, \
         section 4.4: 65 packets at 10 Gbps), which leaves as much room above it for bursts",
    )
    .by(Rule::Packets { least: 100, per_10g: 130 })
    .at_least(1.0)
    .ignored_with("admission", "dynamic-threshold"),
    Param::new(
        "buffer-counts",
        Kind::Choice(&["all", "waiting"]),
        "all",
        "Which packets count against the buffer, and in the queue that a discipline sees on arrival. All count, \
         including the one in transmission, or only the waiting ones.",
        "our choice: all; ns-3's devices, and those of RCC's authors, take a packet out of the queue before they \
         transmit it",
    ),
    Param::new(
        "device-queue",
        Kind::Size,
        "0pkt",
        "Packets that each switch port holds below its buffer, first in, first out. A packet leaves the buffer, and \
         its queue discipline, as soon as there is room here. With such a queue buffer-counts has no effect: neither \
         these packets nor the one in transmission count.",
        "our choice: none, as a switch has one buffer a port; ns-3 has the queue of its device below that of the traffic \
         control layer",
    ),
    Param::new(
        "buffer-full",
        Kind::Choice(&["no-room", "reached"]),
        "no-room",
        "When a buffer in bytes drops a packet: if there is no room for the whole packet, or only if the buffer is \
         full.",
        "our choice: no-room; RCC's authors accept a packet if fewer than 80 times 1500 bytes are queued",
    )
    .ignored_with("admission", "dynamic-threshold"),
    Param::new(
        "admission",
        Kind::Choice(&["static", "dynamic-threshold"]),
        "static",
        "How a switch divides its memory: a fixed buffer for each port, or shared memory with a threshold \
         that falls as it fills.",
        "our choice: static, as in ns-2 and the incast papers; dynamic-threshold if shared-buffer is given",
    ),
    Param::new(
        "shared-buffer",
        Kind::Size,
        "1MB",
        "Memory that the ports of a switch share under dynamic-threshold, which admission then is by default.",
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
        "pfc",
        Kind::Choice(&["off", "on"]),
        "off",
        "Priority flow control, so that no packet is dropped. A switch that holds too much of what one cable brought \
         pauses the port at its other end. Buffers then hold what came in, instead of what goes out. All packets are of one \
         class.",
        "IEEE 802.1Qbb; our choice: off, as in the incast papers",
    ),
    Param::new(
        "pfc-headroom",
        Kind::Bytes,
        "0B",
        "Room of each ingress above XOFF for what arrives until its pause takes effect. 0B takes what the cable needs: its \
         rate times a round trip of its delay, three full packets and the frame.",
        "IEEE 802.1Qbb, annex O: twice the delay, the packets in transmission at both ends and the frame; one packet more, \
         as whole packets cross XOFF",
    )
    .ignored_with("pfc", "off"),
    Param::new(
        "pfc-xoff",
        Kind::Bytes,
        "0B",
        "Bytes from one cable beyond which a switch pauses the port at its other end. 0B takes the port's part of the \
         memory without the headroom: its buffer, or an equal part of shared-buffer.",
        "our choice: the memory that the switch has without flow control",
    )
    .ignored_with("pfc", "off"),
    Param::new(
        "pfc-xon",
        Kind::Bytes,
        "0B",
        "Bytes from one cable at which its port may send again. 0B takes two full packets below XOFF.",
        "DCQCN (Zhu et al. 2015), section 2: two packets below the threshold",
    )
    .ignored_with("pfc", "off"),
    Param::new(
        "host-jitter",
        Kind::Time,
        "0s",
        "Each packet that a host sends is delayed by a random time, uniform below this, without reordering. A little \
         jitter breaks phase effects between flows in lockstep.",
        "our choice: off, as in the papers",
    ),
    Param::new(
        "ties",
        Kind::Choice(&["drawn", "waiting-first", "fresh-first", "scheduled"]),
        "drawn",
        "Which packet goes first if packets of several hosts arrive at the same instant, as packets of flows in \
         lockstep do repeatedly. With drawn it is random, by the seed. With waiting-first it is one that waited \
         behind another packet of its host, with fresh-first one that did not. With scheduled it is the one whose \
         event was scheduled earlier, as in a simulator's event queue. A packet that waited is scheduled when the \
         transmission before it begins. A packet that an ACK releases is scheduled when the switch begins to send \
         the ACK. Unless drawn, the same packets come first every time.",
        "our choice: in a real network noise decides; waiting-first is the order of events in ns-3.18 with RCC's code, \
         scheduled that of ns-3 in general",
    ),
    Param::new(
        "frame-overhead",
        Kind::Bytes,
        "0B",
        "Link-layer bytes that each packet takes besides its IP length, on the wire and in buffers that count bytes. \
         Ethernet with preamble and gap has 38B.",
        "our choice: none, as in ns-2; the stack linux-6.12 has Ethernet's",
    )
    .at_most(1000.0),
    Param::new(
        "switch",
        Kind::Choice(&PART_KEYS),
        AUTO,
        "The environment whose defaults apply to keys that [network] and [queue] omit.",
        "environment",
    )
    .short(environment::SHORT_NAMES),
    Param::new(
        "non-ect",
        Kind::Choice(&["by-queue", "drop"]),
        "by-queue",
        "What happens on arrival to a packet that should be marked but is not ECT. With by-queue it is forwarded \
         unmarked, except in red and wred with red-drop or wred-drop. With drop any queue drops it.",
        "RFC 3168, section 5 allows a queue to drop it; threshold queues in the published code of papers forward it",
    ),
    Param::new(
        "path-selector",
        Kind::Choice(&["auto", "ecmp", "spray", "flowlets"]),
        "auto",
        "How one of several equal-cost paths is chosen. By the scheme if it has a method, by a hash of the flow, \
         in turn for each flowcell, or at random for each flowlet.",
        "the scheme's paper",
    ),
    Param::new(
        "flowcell",
        Kind::Bytes,
        "64KiB",
        "Bytes after which a flow takes the next path under path-selector = \"spray\"; the mss for a new path per \
         packet.",
        "He et al. 2015, section 3.1: the size of one segmentation offload",
    )
    .at_least(1.0),
    Param::new(
        "flowlet-gap",
        Kind::Time,
        "500us",
        "A flow that was silent for longer takes a random path under path-selector = \"flowlets\".",
        "the default of CONGA's flowlets (Alizadeh et al. 2014)",
    ),
];

/// The discipline of the switch ports.
pub static QUEUE: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&QUEUE_KEYS),
    "auto",
    "Queue discipline of the switch ports; auto takes the one that the scheme needs, or drop-tail.",
    "the scheme's paper",
)];

/// The keys that name a scheme.
struct OfSchemes {
    names: &'static [&'static str],
    transport: [Param; 2],
    traffic: [Param; 2],
}

impl OfSchemes {
    /// Those of the schemes that there are now: a program may have added some. Each list of them is declared once and stays,
    /// as declarations do.
    fn now() -> &'static Self {
        static MADE: Mutex<Vec<&OfSchemes>> = Mutex::new(Vec::new());
        let names: Vec<&str> = schemes::all().map(|row| row.key).collect();
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.iter().find(|each| each.names == names) {
            return found;
        }
        let new: &Self = Box::leak(Box::new(Self::of(names.leak())));
        made.push(new);
        new
    }

    fn of(names: &'static [&'static str]) -> Self {
        let scheme = |default, doc, source| {
            Param::new("scheme", Kind::Choice(names), default, doc, source).also(schemes::OTHER_NAMES)
        };
        Self {
            names,
            transport: [
                scheme(
                    "newreno",
                    "Scheme of the network, and of every traffic group that names no other.",
                    "the baseline of every incast paper",
                ),
                STACK,
            ],
            traffic: [NAME, scheme("", "Scheme of the group's end points.", "transport.scheme")],
        }
    }
}

/// The scheme of `[transport]`, and its stack.
pub fn scheme() -> &'static [Param] {
    &OfSchemes::now().transport
}

const STACK: Param = Param::new(
    "stack",
    Kind::Choice(&PART_KEYS),
    AUTO,
    "The environment whose defaults apply to keys that [transport] omits. In the environment rfc \
     a scheme may bring a stack of its own.",
    "environment",
)
.short(environment::SHORT_NAMES);

/// The pattern of a `[[traffic]]` group.
pub static TRAFFIC: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&TRAFFIC_KEYS),
    "",
    "Pattern of the group's transfers; it adds its own keys to this table.",
    "required",
)];

/// `[[traffic]]`: keys of every group whose default depends on other keys.
pub fn traffic_optional() -> &'static [Param] {
    &OfSchemes::now().traffic
}

const NAME: Param = Param::new(
    "name",
    Kind::Text,
    "",
    "Name of the group in results and overrides: lower-case letters, digits and hyphens.",
    "the group's kind",
);

/// `[[traffic]]`: keys of every group, regardless of its pattern.
pub static TRAFFIC_COMMON: &[Param] = &[
    Param::new(
        "from",
        Kind::Text,
        topology::BY_PART,
        "Sending hosts, such as \"pod-0\", \"rack-4..7\", \"host-3, host-9\" or \"all\"; by-part: those that the \
         topology provides as senders, one after another.",
        "an incast has its own senders",
    ),
    Param::new(
        "to",
        Kind::Text,
        topology::BY_PART,
        "Receiving hosts, in the same form; by-part: those that the topology provides as receivers.",
        "an incast has one receiver",
    ),
    Param::new(
        "deadline",
        Kind::Time,
        "0s",
        "Time after the start of each transfer by which its data should arrive, for schemes that use deadlines; \
         0: no deadline.",
        "most of the papers' traffic has no deadlines",
    ),
    Param::new(
        "announce-size",
        Kind::Bool,
        "true",
        "Whether senders announce the size of a transfer to the receiver at its start.",
        "as RCC's senders do",
    ),
];

/// The kind of a `[[fault]]`.
pub static FAULT: &[Param] = &[Param::new(
    "kind",
    Kind::Choice(&FAULT_KEYS),
    "",
    "Kind of fault; it adds its own keys to this table.",
    "required",
)];

/// `[[fault]]`: keys of every fault whose default depends on other keys.
pub static FAULT_OPTIONAL: &[Param] = &[Param::new(
    "name",
    Kind::Text,
    "",
    "Name of the fault in overrides: lower-case letters, digits and hyphens.",
    "the fault's kind",
)];

/// `[control]`: the channel between switches and a scheme's controller, which serves one message at a time.
pub static CONTROL: &[Param] = &[
    Param::new(
        "delay",
        Kind::Time,
        "33us",
        "One-way delay of a message between a switch and the controller.",
        "SDTCP, section 5.2.5: 66us of a control delay of 70us to 95us is transmission, over two links there and back",
    ),
    Param::new(
        "jitter",
        Kind::Time,
        "0s",
        "Each message takes longer by a random time, uniform below this.",
        "our choice",
    ),
    Param::new("loss", Kind::Fraction, "0", "Share of messages lost.", "our choice: the channel is reliable"),
    Param::new(
        "service-time",
        Kind::Time,
        "5us",
        "Time that the controller takes to process a message; later ones wait in order.",
        "our choice: roughly what remains in SDTCP, Fig. 16 besides transmission at low load",
    ),
];

/// Links that can be chosen for a record of their packets.
const LINKS: &[&str] = &["off", "bottleneck", "senders", "receiver", "all"];

/// `[measure]`: what is recorded besides flows and queries.
pub static MEASURE: &[Param] = &[
    Param::new(
        "queues",
        Kind::Choice(&["bottleneck", "all", "none"]),
        "bottleneck",
        "Ports with queue statistics.",
        "our choice",
    ),
    Param::new(
        "bottleneck",
        Kind::Text,
        "auto",
        "Which port is observed as the bottleneck: its two ends as in the table of links, such as leaf-0->spine-1. \
         With auto it is the port to the first receiver, or of the cable between two switches.",
        "our choice: where incast is expected",
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
        "Values of a flow recorded over time, comma-separated, or off: cwnd, ssthresh, srtt, rto, in-flight, \
         duplicate-acks. A scheme has values of its own, also of its switches and receiving hosts.",
        "our choice",
    ),
    Param::new(
        "probe-flows",
        Kind::Integer,
        "16",
        "Number of flows that are probed, from the first one on.",
        "our choice",
    ),
    Param::new("bin", Kind::Time, "0s", "Width of the time bins; 0s for none.", "our choice"),
    Param::new(
        "capture",
        Kind::Choice(LINKS),
        "off",
        "Links whose packets are captured at their far end. A packet's time is the arrival of its last bit. Packets \
         lost on the link are not in the capture.",
        "our choice",
    ),
    Param::new(
        "capture-time",
        Kind::Choice(&["ns", "ps"]),
        "ns",
        "Unit of times in a capture. Picoseconds are exact, but Wireshark 4 shows them wrongly.",
        "our choice",
    ),
    Param::new(
        "capture-control",
        Kind::Bool,
        "false",
        "Whether the messages between switches and controller are also captured, where they are sent, on TCP port \
         6653.",
        "our choice",
    ),
    Param::new(
        "crossings",
        Kind::Choice(LINKS),
        "off",
        "Links whose packets are recorded in the table of crossings, with the time at which each arrives at the far end.",
        "our choice",
    ),
    Param::new(
        "capture-limit",
        Kind::Integer,
        "1000000",
        "Largest number of captured packets, and of rows of the table of crossings.",
        "our choice",
    ),
    Param::new(
        "warmup",
        Kind::Time,
        "0s",
        "Time at which queue statistics and the goodput window begin; with 0s they begin with the first finite \
         transfer.",
        "our choice",
    ),
];

/// `[run]`: duration and seed.
pub static RUN: &[Param] = &[
    Param::new("duration", Kind::Time, "30s", "Simulated time after which the run ends.", "our choice").at_least(1.0),
    Param::new("seed", Kind::Integer, "1", "Seed of every random stream.", "our choice"),
    Param::new(
        "backend",
        Kind::Choice(&["simulator", "linux"]),
        "simulator",
        "What carries the transfers: the simulator, or the Linux kernel itself in virtual time, which \"make linux\" builds.",
        "our choice",
    ),
    Param::new(
        "steady-limit",
        Kind::Time,
        "60s",
        "Traffic with start = \"steady\" begins then at the latest; duration, warmup and faults count from when it begins.",
        "our choice: some periods of the longest sawtooth that fits into a switch's buffer",
    )
    .at_least(1.0),
];

/// A table whose keys depend on the value of one of them, its selector.
#[derive(Debug)]
pub(super) struct Variants {
    /// The selector, as the only element.
    pub(super) selector: &'static [Param],
    /// Optional keys without a fixed default.
    pub(super) optional: &'static [Param],
    /// Keys of every variant.
    pub(super) common: &'static [Param],
    /// The values of the selector, with the keys that each adds.
    pub(super) rows: Vec<Variant>,
}

impl Variants {
    /// `[network]`.
    pub(super) fn network() -> Self {
        let row = |row: &topology::TopologyRow| Variant { key: row.key, summary: row.summary, params: row.params };
        Self { selector: TOPOLOGY, optional: &[], common: NETWORK, rows: topology::REGISTRY.iter().map(row).collect() }
    }
    /// `[queue]`.
    pub(super) fn queue() -> Self {
        let auto = Variant { key: AUTO, summary: "The queue that the scheme needs, or drop-tail.", params: &[] };
        let row = |row: &queue::QueueRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = std::iter::once(auto).chain(queue::REGISTRY.iter().map(row)).collect();
        Self { selector: QUEUE, optional: &[], common: &[], rows }
    }
    /// One `[[traffic]]` group.
    pub(super) fn traffic() -> Self {
        let row = |row: &traffic::TrafficRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = traffic::REGISTRY.iter().map(row).collect();
        Self { selector: TRAFFIC, optional: traffic_optional(), common: TRAFFIC_COMMON, rows }
    }
    /// One `[[fault]]`.
    pub(super) fn fault() -> Self {
        let row = |row: &fault::FaultRow| Variant { key: row.key, summary: row.summary, params: row.params };
        let rows = fault::REGISTRY.iter().map(row).collect();
        Self { selector: FAULT, optional: FAULT_OPTIONAL, common: fault::COMMON, rows }
    }
}

/// The value that leaves a choice to the scheme or to the environment.
pub(crate) const AUTO: &str = "auto";

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
