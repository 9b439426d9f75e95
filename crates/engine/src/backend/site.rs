//! What a scenario asks of a carrier that is Linux: hosts, links, ports and the settings of hosts. What Linux cannot follow is
//! refused by name.

use super::pfdct::{self, Bands};
use super::rcce;
use super::sab::{self, Shares};
use super::sdtcp::{self, OpenFlow};
use crate::sim::{GroupPreview, Preview, build};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::rng::Stream;
use fanin_core::units::{Rate, Size, Time};
use fanin_net::faults::Faults;
use fanin_network::fault::{Act, Chosen};
use fanin_network::queue::{MarkAt, RedConfig};
use fanin_network::topology::{NodeKind, Topology, twin};
use fanin_param::{SpecError, Value, Values};
use fanin_port::spec::Limit;
use fanin_scenario::Scenario;
use std::collections::VecDeque;
use std::fmt::{self, Write};

/// A network of Linux hosts.
#[derive(Clone, Debug)]
pub struct Site {
    /// By node, whether it is a host; the others are switches.
    pub hosts: Vec<bool>,
    /// All links: the even ones and the next odd ones are the two directions of a cable.
    pub links: Vec<SiteLink>,
    /// By switch and host, the links towards the host.
    pub routes: Vec<(NodeId, NodeId, Vec<LinkId>)>,
    /// Bytes of a frame on the wire beside the IP packet.
    pub overhead: u32,
    /// The settings of all hosts.
    pub stack: Stack,
    /// By traffic group, the congestion control.
    pub congestion: Vec<&'static str>,
    /// The modules of what Linux does not have: names, and parameters.
    pub modules: Vec<(&'static str, String)>,
    /// The queue of all hosts, if it sets the windows that they advertise.
    pub receiver: Option<&'static str>,
    /// Links whose ports have the scheduler of the host behind.
    pub edges: Vec<LinkId>,
    /// What switches have if a controller decides their flow tables; otherwise Linux routes.
    pub open_flow: Option<OpenFlow>,
    /// What faults do to packets.
    pub faults: Vec<SiteFault>,
    /// Seed of the run.
    pub seed: u64,
}

/// What happens to chosen packets of a link.
#[derive(Clone, Debug)]
pub struct SiteFault {
    /// The link that they cross.
    pub link: LinkId,
    /// What happens to them.
    pub act: Act,
    /// Which packets.
    pub chosen: Chosen,
    /// When it begins, from the start of the run.
    pub at: Time,
    /// When it ends; [`Time::NEVER`] at the end of the run.
    pub until: Time,
}

/// A direction of a cable, and the port that sends on it.
#[derive(Clone, Copy, Debug)]
pub struct SiteLink {
    /// The node of the port.
    pub from: NodeId,
    /// Where the link ends.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
    /// The buffer of the port; a host's has no limit.
    pub limit: Limit,
    /// When the port marks packets, if it does.
    pub marking: Option<Marking>,
    /// What the port divides among its flows, if it does.
    pub shares: Shares,
    /// Whether its queue is measured.
    pub observed: bool,
}

/// When a port marks packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// From a threshold on.
    Threshold {
        /// The queue from which packets are marked.
        threshold: Size,
        /// Whether a queue equal to it does not mark.
        above: bool,
        /// Whether the queue that a packet leaves behind counts, and not the one that it finds.
        leaving: bool,
    },
    /// From one threshold on while the queue rises, until another while it falls.
    Between {
        /// The queue at which marking begins.
        start: Size,
        /// The queue below which it ends.
        stop: Size,
    },
    /// By random early detection.
    Red {
        /// Its parameters.
        config: RedConfig,
        /// Whether packets are dropped that cannot be marked.
        drop: bool,
        /// Whether all are dropped when each one is due.
        hard_drop: bool,
        /// Seed of the port's random numbers.
        seed: u64,
    },
    /// Long flows of PFDCT above the sum of their thresholds.
    Bands(Bands),
}

/// The settings of hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stack {
    /// Bytes of the largest IP packet.
    pub mtu: u64,
    /// Least retransmission timeout.
    pub rto_min: Time,
    /// Initial window in segments.
    pub initial_window: u64,
    /// Whether each segment is acknowledged at once.
    pub quick_ack: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Whether losses are told by time (RACK), and not by counting duplicates.
    pub rack: bool,
    /// Tail loss probes.
    pub tail_loss_probe: bool,
    /// Whether windows shrink while a connection is idle.
    pub idle_restart: bool,
    /// Whether connections ask for ECN.
    pub ecn: bool,
    /// Least time between two interrupts of a receiving interface.
    pub interval: Time,
    /// Bytes of the largest segment that a receiving host merges; zero if it merges none.
    pub gro: u64,
    /// Bytes of the largest segment that a sending host hands to its interface; zero: single segments.
    pub tso: u64,
    /// Packets of the host's queue; zero for no limit.
    pub queue: u64,
    /// Whether the host's queue is `fq`, which paces.
    pub fq: bool,
    /// Bytes of a connection that may wait in the host's queue; zero for no limit.
    pub small_queue: u64,
    /// Bytes of the largest window that a host advertises, about half of the memory that it takes.
    pub receive_buffer: u64,
    /// Ticks a second.
    pub hz: u64,
}

/// The smallest and the first size of a receive buffer.
const RECEIVE: &str = "4096 131072";

impl Stack {
    /// What hosts set of `/proc/sys/net/ipv4`.
    pub fn sysctls(&self) -> [(&'static str, String); 8] {
        let flag = |value: bool| u8::from(value).to_string();
        [
            ("tcp_no_metrics_save", flag(true)),
            ("tcp_ecn", if self.ecn { "1" } else { "2" }.to_owned()),
            ("tcp_sack", flag(self.sack)),
            ("tcp_recovery", flag(self.rack)),
            ("tcp_early_retrans", if self.tail_loss_probe { "3" } else { "0" }.to_owned()),
            ("tcp_slow_start_after_idle", flag(self.idle_restart)),
            (
                "tcp_limit_output_bytes",
                match self.small_queue {
                    0 => i32::MAX.to_string(),
                    bytes => bytes.to_string(),
                },
            ),
            ("tcp_rmem", format!("{RECEIVE} {}", 2 * self.receive_buffer)),
        ]
    }
}

/// Why no traffic waits for other traffic in the kernel, and what to do.
const STEADY: &str = "the Linux backend cannot wait for other traffic to be steady: give a time. A simulated run prints when \
                      it was (fanin run --all: \"Start of the traffic that waited\")";

/// Keys of `[network]` that Linux does not follow.
const NETWORK: &[&str] = &[
    "buffer-counts",
    "device-queue",
    "host-jitter",
    "ties",
    "non-ect",
    "pfc",
    "switch",
    "path-selector",
    "flowcell",
    "flowlet-gap",
];
/// Keys of `[transport]` that hosts can be told.
const TRANSPORT: &[&str] = &[
    "scheme",
    "stack",
    "mss",
    "mtu",
    "initial-window",
    "receive-buffer",
    "ack-every",
    "sack",
    "loss-detection",
    "tail-loss-probe",
    "rto-min",
    "rto-granularity",
    "idle-restart",
    "ecn",
    "interrupt-interval",
    "gro",
    "tso",
    "pacing",
    "small-queue",
    "host-queue",
];
/// Keys of `[measure]` that can be measured.
const MEASURE: &[&str] = &["queues", "bottleneck", "queue-trace", "warmup", "probes", "probe-flows"];
/// Values of a sender that Linux tells.
const PROBES: &[&str] = &["cwnd", "ssthresh", "in-flight", "srtt", "rto", "share"];

/// A scheme that runs in Linux.
struct Runs {
    scheme: &'static str,
    /// The congestion control of its senders.
    congestion: &'static str,
    /// What else it needs.
    module: Module,
    /// Keys that its switches follow.
    switch: &'static [&'static str],
}

/// What Linux does not have of a scheme. A module follows all keys that switches do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Module {
    /// Nothing.
    None,
    /// The congestion control.
    Sender(&'static str),
    /// The queue of hosts, which sets the windows that they advertise; and the keys that it does not follow.
    Receiver(&'static str, &'static [&'static [&'static str]]),
}

impl Module {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Sender(name) | Self::Receiver(name, _) => Some(name),
        }
    }

    fn follows(self, key: &str) -> bool {
        match self {
            Self::None => false,
            Self::Sender(_) => true,
            Self::Receiver(_, without) => !without.iter().any(|keys| keys.contains(&key)),
        }
    }

    /// The queue of hosts.
    fn receiver(self) -> Option<&'static str> {
        if let Self::Receiver(name, _) = self { Some(name) } else { None }
    }
}

/// What of RCC needs senders that announce sizes or follow requests for retransmissions, or was chosen once.
const ANNOUNCED: &[&str] = &[
    "skip-cap",
    "skip-cap-deadline",
    "skip-cap-other",
    "push-bonus",
    "push",
    "repeats",
    "flight",
    "duplicates",
    "rto-r-step",
    "rto-r-wait",
    "mark-requires-ect",
];
/// What a stock sender cannot follow of ICTCP as RCC's authors have it.
const RDTCP: &[&str] = &["flavour", "slot-clock", "looks"];

/// The keys of a threshold.
const THRESHOLD: &[&str] = &["mark-threshold", "mark-at"];
/// The keys of two thresholds.
const THRESHOLDS: &[&str] = &["start", "stop"];

const RUNS: &[Runs] = &[
    Runs { scheme: "linux", congestion: "cubic", module: Module::None, switch: &[] },
    Runs { scheme: "linux-reno", congestion: "reno", module: Module::None, switch: &[] },
    Runs { scheme: "linux-dctcp", congestion: "dctcp", module: Module::None, switch: THRESHOLD },
    Runs { scheme: "linux-bbr", congestion: "bbr", module: Module::None, switch: &[] },
    Runs { scheme: "l2dct", congestion: "l2dct", module: Module::Sender("tcp_l2dct"), switch: THRESHOLD },
    Runs { scheme: "d2tcp", congestion: "d2tcp", module: Module::Sender("tcp_d2tcp"), switch: THRESHOLD },
    Runs { scheme: "dt-cwa", congestion: "dtcwa", module: Module::Sender("tcp_dtcwa"), switch: THRESHOLDS },
    Runs { scheme: "pfdct", congestion: "pfdct", module: Module::Sender("tcp_pfdct"), switch: pfdct::SWITCH },
    Runs { scheme: "pfdct-st", congestion: "pfdct", module: Module::Sender("tcp_pfdct"), switch: pfdct::SWITCH },
    Runs { scheme: "dt-dctcp", congestion: "dctcp", module: Module::None, switch: THRESHOLDS },
    Runs { scheme: "ictcp", congestion: "reno", module: Module::Receiver("ictcp", &[RDTCP]), switch: &[] },
    Runs { scheme: "sab", congestion: "reno", module: Module::None, switch: sab::SWITCH },
    Runs { scheme: "rcc", congestion: "reno", module: Module::Receiver("rcc", &[ANNOUNCED]), switch: THRESHOLD },
    Runs {
        scheme: "rcce",
        congestion: "reno",
        module: Module::Receiver("rcc", &[ANNOUNCED, rcce::TREES]),
        switch: rcce::SWITCH,
    },
    Runs { scheme: "sdtcp", congestion: "reno", module: Module::None, switch: sdtcp::FOLLOWED },
];

/// Schemes whose switches no switch of Linux can be.
const AT_SWITCHES: &[&str] = &["sab", "rcce", "sdtcp"];

/// The congestion control of Linux that hosts of a scheme have, if it runs there.
pub fn congestion_control(scheme: &str) -> Option<&'static str> {
    runs(scheme).map(|runs| runs.congestion)
}

/// How a scheme runs in Linux, if it does.
fn runs(scheme: &str) -> Option<&'static Runs> {
    RUNS.iter().find(|runs| runs.scheme == scheme)
}

impl Site {
    /// The network of a scenario.
    ///
    /// # Errors
    ///
    /// The scenario has an error, or a key that Linux does not follow.
    pub fn of(scenario: &Scenario) -> Result<Self, SpecError> {
        refuse(scenario)?;
        Self::built(scenario, faults)
    }

    /// The network of a scenario as it is on real hosts, whatever the Linux backend can measure and carry of its runs.
    ///
    /// # Errors
    ///
    /// The scenario has an error, or asks hosts or switches for something that Linux does not do.
    pub fn on_hosts(scenario: &Scenario) -> Result<Self, SpecError> {
        refuse_schemes(scenario)?;
        if let Some((key, transport)) = scenario.transports().find(|(key, _)| AT_SWITCHES.contains(key)) {
            return Err(transport.fail("scheme", format!("{key}'s switches are part of the Linux backend's own links")));
        }
        Self::built(scenario, |_, _| Ok(Vec::new()))
    }

    fn built(
        scenario: &Scenario,
        faults: impl FnOnce(&Scenario, &Topology) -> Result<Vec<SiteFault>, SpecError>,
    ) -> Result<Self, SpecError> {
        let (topology, ports) = build::topology_and_ports(scenario)?;
        let is_host = |node: NodeId| topology.nodes[node.index()] == NodeKind::Host;
        let shares = sab::shares(scenario, &topology);
        let mut links = Vec::with_capacity(topology.links.len());
        for (number, (link, port)) in topology.links.iter().zip(&ports).enumerate() {
            links.push(SiteLink {
                from: link.from,
                to: link.to,
                rate: link.rate,
                delay: link.delay,
                limit: port.limit,
                marking: if is_host(link.from) { None } else { marking(scenario, number, link.tier, port.buffer)? },
                shares: if is_host(link.from) { Shares::default() } else { shares(link.rate, port.limit) },
                observed: port.observed,
            });
        }
        let transport = scenario.transport_of(scenario.scheme_key());
        Ok(Self {
            hosts: topology.nodes.iter().map(|kind| *kind == NodeKind::Host).collect(),
            links,
            routes: routes(&topology),
            overhead: scenario.network.values.bytes("frame-overhead").get() as u32,
            stack: Stack { ecn: asks_for_ecn(scenario, transport), ..stack(transport)? },
            congestion: scenario
                .traffic
                .iter()
                .map(|group| runs(group.scheme.unwrap_or(scenario.scheme_key())).map_or("", |runs| runs.congestion))
                .collect(),
            modules: modules(scenario),
            receiver: runs(scenario.scheme_key())
                .filter(|_| !rcce::in_switch(scenario))
                .and_then(|runs| runs.module.receiver()),
            edges: rcce::edges(scenario, &topology)?,
            open_flow: OpenFlow::of(scenario),
            faults: faults(scenario, &topology)?,
            seed: scenario.run.integer("seed"),
        })
    }
}

impl Site {
    /// A number of everything that it says, by which two programs see whether they read a scenario in the same way.
    pub fn fingerprint(&self) -> u64 {
        let mut number = Fingerprint(0xCBF2_9CE4_8422_2325);
        write!(number, "{self:?}").expect("a number takes every text");
        number.0
    }
}

/// The hash FNV-1a.
struct Fingerprint(u64);

impl Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        Ok(())
    }
}

/// Seconds of one core that a kernel takes to start, for each of its hosts, and for a packet on a link.
const START: f64 = 0.1;
const HOST: f64 = 0.005;
const HOP: f64 = 30e-6;
/// Seconds of one core that Open vSwitch takes for a packet.
const FORWARDING: f64 = 1e-3;
/// MiB of Open vSwitch.
const OPEN_VSWITCH: u64 = 256;
/// Packets for each data segment: every other one is acknowledged.
const PACKETS: f64 = 1.5;

impl Site {
    /// About how many seconds of one core the run takes in the kernel: what its network takes to start, and all data over the
    /// longest of the shortest paths. Endless data are taken to fill one link.
    pub(crate) fn seconds(&self, scenario: &Scenario, preview: &Preview) -> f64 {
        let duration = scenario.run.time("duration").secs();
        let rate = self.links.iter().map(|link| link.rate.bps() as f64 / 8.0).fold(0.0, f64::max);
        let bytes = |group: &GroupPreview| match group.mean_bytes {
            0.0 => rate * duration,
            mean => group.forecast.flows * mean,
        };
        let all: f64 = preview.groups.iter().map(bytes).sum();
        let segments = all.min(rate * duration * preview.hosts as f64) / scenario.transport.bytes("mss").get() as f64;
        let (hops, packets) = (self.hops() as f64, PACKETS * segments);
        let forwarding = if self.open_flow.is_some() { FORWARDING * (hops - 1.0) } else { 0.0 };
        START + HOST * preview.hosts as f64 + packets * (HOP * hops + forwarding)
    }

    /// Memory of the kernel's machine in MiB: of the kernel and its log, of hosts, and of connections.
    pub fn mebibytes(&self, preview: &Preview) -> u64 {
        let flows: f64 = preview.groups.iter().map(|group| group.forecast.at_once).sum();
        let open_flow = if self.open_flow.is_some() { OPEN_VSWITCH } else { 0 };
        512 + open_flow + self.hosts.len() as u64 + flows as u64 / 4
    }

    /// Links from the first host to the farthest one.
    fn hops(&self) -> u64 {
        let mut distances = vec![None; self.hosts.len()];
        let mut queue: VecDeque<usize> = self.hosts.iter().position(|is_host| *is_host).into_iter().collect();
        for first in &queue {
            distances[*first] = Some(0_u64);
        }
        let mut most = 0;
        while let Some(node) = queue.pop_front() {
            most = distances[node].unwrap_or(0);
            for link in self.links.iter().filter(|link| link.from.index() == node) {
                let to = link.to.index();
                if distances[to].is_none() {
                    distances[to] = Some(most + 1);
                    queue.push_back(to);
                }
            }
        }
        most
    }
}

/// The modules of a scenario's schemes, with the values of their schemes as parameters.
fn modules(scenario: &Scenario) -> Vec<(&'static str, String)> {
    let mut modules = Vec::new();
    for (key, transport) in scenario.transports() {
        let Some(Runs { module, switch, .. }) = runs(key) else { continue };
        let Some(name) = module.name() else { continue };
        let name = if rcce::in_switch(scenario) { rcce::EDGE } else { name };
        let mss = transport.bytes("mss").get();
        // An ideal threshold below zero is that of an equation, which the module takes if it gets none. A timer that runs while
        // acknowledgements are held would request something of senders.
        let is_set = |key: &str, value: &Value| match value {
            Value::Number(number) => key != "ki" || *number >= 0.0,
            Value::Text(word) => key != "rto-r" || word != "on-queue",
            _ => true,
        };
        let follows = |key: &str| module.follows(key) && !switch.contains(&key);
        let own = scenario.scheme(key).iter();
        let own = own.filter(|(key, param, value, _)| follows(param.key) && is_set(key, value));
        let set = own.map(|(key, _, value, _)| format!("{}={}", key.replace('-', "_"), parameter(&key, value, mss)));
        modules.push((name, set.collect::<Vec<_>>().join(" ")));
    }
    modules
}

/// A value as a module reads it.
fn parameter(key: &str, value: &Value, mss: u64) -> String {
    match value {
        // The smallest window is in segments, and what is compared with bytes sent is in bytes.
        Value::Window(window) if key == "min-window" => format!("{:.6}", window.bytes(mss) as f64 / mss as f64),
        Value::Window(window) => window.bytes(mss).to_string(),
        Value::Number(number) => format!("{number:.9}"),
        Value::Integer(number) => number.to_string(),
        Value::Bytes(bytes) => bytes.get().to_string(),
        Value::Time(time) => format!("{}ns", time.ps() / 1000),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        Value::Text(word) => word.clone(),
        other => unreachable!("no scheme that runs in Linux has {key} as {other:?}"),
    }
}

/// When a port of a link marks packets. One buffer of it is `buffer`, if it has one of its own.
fn marking(
    scenario: &Scenario,
    link: usize,
    tier: Option<&'static str>,
    buffer: Option<Size>,
) -> Result<Option<Marking>, SpecError> {
    let at = |values: &Values| tier.map_or_else(|| values.clone(), |tier| values.at_tier(tier));
    match (scenario.queue.kind, scenario.scheme_key()) {
        ("auto", scheme) if runs(scheme).is_some_and(|runs| [THRESHOLD, rcce::SWITCH].contains(&runs.switch)) => {
            let values = at(scenario.scheme(scheme));
            let (threshold, leaving) = (values.size("mark-threshold"), MarkAt::chosen(&values) == MarkAt::Dequeue);
            Ok(Some(Marking::Threshold { threshold, above: false, leaving }))
        }
        ("auto", scheme) if runs(scheme).is_some_and(|runs| runs.switch == THRESHOLDS) => {
            Ok(Some(between(&at(scenario.scheme(scheme)))))
        }
        ("auto", scheme) if runs(scheme).is_some_and(|runs| runs.switch == pfdct::SWITCH) => {
            let bytes = |values: &Values, key: &str| values.bytes(key).get();
            let packet = ["mss", "header"].iter().map(|key| bytes(&scenario.transport, key)).sum::<u64>()
                + bytes(&scenario.network.values, "frame-overhead");
            Ok(Some(Marking::Bands(Bands::of(&at(scenario.scheme(scheme)), buffer, packet))))
        }
        ("auto" | "drop-tail", _) => Ok(None),
        ("double-threshold", _) => {
            let values = at(&scenario.queue.values);
            needs_ect(&values)?;
            Ok(Some(between(&values)))
        }
        ("ecn-threshold", _) => {
            let values = at(&scenario.queue.values);
            needs_ect(&values)?;
            let leaving = MarkAt::chosen(&values) == MarkAt::Dequeue;
            let (threshold, above) = (values.size("threshold"), values.is("compare", "above"));
            Ok(Some(Marking::Threshold { threshold, above, leaving }))
        }
        ("red", _) => {
            let values = at(&scenario.queue.values);
            Ok(Some(Marking::Red {
                config: RedConfig::from(&values),
                drop: values.flag("red-drop"),
                hard_drop: values.flag("red-hard-drop"),
                // Each port draws for itself, as in the simulator.
                seed: Stream::named(scenario.run.integer("seed"), &format!("port/{link}")).bits(),
            }))
        }
        (kind, _) => {
            let message = format!(
                "{kind} is no queue of the Linux backend; it has auto, drop-tail, ecn-threshold, double-threshold and red"
            );
            Err(scenario.queue.values.fail("kind", message))
        }
    }
}

fn between(values: &Values) -> Marking {
    Marking::Between { start: values.size("start"), stop: values.size("stop") }
}

fn needs_ect(values: &Values) -> Result<(), SpecError> {
    if values.flag("requires-ect") {
        return Ok(());
    }
    Err(values.fail("requires-ect", "Linux does not mark packets that are not ECN-capable"))
}

/// The faults, which all choose packets.
fn faults(scenario: &Scenario, topology: &Topology) -> Result<Vec<SiteFault>, SpecError> {
    let faults = Faults::build(scenario, topology, 0)?;
    if let Some((other, _)) = scenario.faults.iter().zip(faults.chooses()).find(|(_, chooses)| !chooses) {
        let message = format!("{} is no fault of the Linux backend; it has drop, delay and mark", other.kind);
        return Err(other.values.fail("kind", message));
    }
    let site = |(link, act, chosen, [at, until]): (LinkId, Act, &Chosen, [Time; 2])| SiteFault {
        link,
        act,
        chosen: chosen.clone(),
        at,
        until,
    };
    Ok(faults.choosing().map(site).collect())
}

/// Whether a scheme has the scheduler of RCC.
fn schedules(scheme: &str) -> bool {
    matches!(scheme, "rcc" | "rcce")
}

/// Whether connections ask for ECN: RCC's receiver counts marks, but its senders have a congestion control that does not ask.
fn asks_for_ecn(scenario: &Scenario, transport: &Values) -> bool {
    let scheme = scenario.scheme_key();
    transport.is("ecn", "on") || (schedules(scheme) && scenario.scheme(scheme).is("ecn", "on"))
}

/// The number of segments of an initial window, and the other settings of a host.
fn stack(transport: &Values) -> Result<Stack, SpecError> {
    let (mss, header) = (transport.bytes("mss").get(), transport.bytes("header").get());
    let hz = match transport.time("rto-granularity") {
        tick if tick == Time::from_ms(1) => 1000,
        tick if tick == Time::from_ms(4) => 250,
        _ => return Err(transport.fail("rto-granularity", "is a tick of Linux: 1ms (HZ 1000) or 4ms (HZ 250)")),
    };
    let rto_min = transport.time("rto-min");
    let tick = Time::from_ms(1000 / hz);
    if rto_min == Time::ZERO || !rto_min.ps().is_multiple_of(tick.ps()) {
        return Err(transport.fail("rto-min", format!("is a whole number of Linux's ticks, which are {tick}")));
    }
    Ok(Stack {
        mtu: mss + header,
        rto_min,
        initial_window: transport.window("initial-window").bytes(mss) / mss,
        quick_ack: transport.integer("ack-every") == 1,
        sack: transport.flag("sack"),
        rack: transport.is("loss-detection", "linux"),
        tail_loss_probe: transport.flag("tail-loss-probe"),
        idle_restart: transport.flag("idle-restart"),
        ecn: transport.is("ecn", "on"),
        interval: transport.time("interrupt-interval"),
        gro: transport.bytes("gro").get(),
        tso: transport.bytes("tso").get(),
        queue: transport.integer("host-queue"),
        fq: !transport.is("pacing", "off"),
        small_queue: transport.bytes("small-queue").get(),
        receive_buffer: transport.bytes("receive-buffer").get(),
        hz,
    })
}

fn routes(topology: &Topology) -> Vec<(NodeId, NodeId, Vec<LinkId>)> {
    let nodes = (0..topology.nodes.len()).map(NodeId::new);
    let (hosts, switches): (Vec<NodeId>, Vec<NodeId>) =
        nodes.partition(|node| topology.nodes[node.index()] == NodeKind::Host);
    let mut routes = Vec::new();
    for host in hosts {
        let rack = topology.rack_of(host);
        let paths = topology.shortest_paths(rack);
        for switch in &switches {
            let links =
                if *switch == rack { vec![twin(topology.uplink(host))] } else { topology.first_links(&paths, *switch) };
            routes.push((*switch, host, links));
        }
    }
    routes
}

const DECIDES: &str = "Linux decides this itself: the Linux backend cannot follow it; leave it out";
const STOCK: &str = "the module of the Linux backend does not follow it, as its senders are Linux's own: leave it out";
const MEASURES: &str = "is not measured by the Linux backend; leave it out";

/// An error at the first value of a scheme's `[transport]` that would have no effect.
fn refuse_values(scheme: &str, transport: &Values) -> Result<(), SpecError> {
    if transport.is("loss-detection", "dup-ack") {
        let why = format!("{DECIDES}, and set transport.stack = \"linux-6\" where the scheme has another");
        return Err(transport.fail("loss-detection", why));
    }
    if !matches!(scheme, "linux" | "linux-reno" | "linux-bbr" | "ictcp" | "sab" | "sdtcp") && transport.is("ecn", "off")
    {
        let why =
            "this congestion control asks for ECN whatever its hosts are set to; leave it out, or take another scheme";
        return Err(transport.fail("ecn", why));
    }
    if transport.integer("ack-every") > 2 {
        let why = "Linux acknowledges every other full segment, or with quickack each one: set 2 or 1";
        return Err(transport.fail("ack-every", why));
    }
    let mss = transport.bytes("mss").get();
    if !transport.window("initial-window").bytes(mss).is_multiple_of(mss) {
        let why =
            format!("Linux counts it in segments, which are {mss} B (mss): set a multiple of them, such as 10mss");
        return Err(transport.fail("initial-window", why));
    }
    Ok(())
}

/// Whether senders were asked to announce sizes.
fn announces(group: &Values) -> bool {
    let asked = |value: &Value| matches!(value, Value::Bool(true));
    group.iter().any(|(key, _, value, origin)| key == "announce-size" && origin.is_some() && asked(value))
}

/// An error at what cannot be beside a queue of hosts that sets their windows.
fn refuse_beside_receiver(
    scenario: &Scenario,
    scheme: &str,
    module: Module,
    transport: &Values,
) -> Result<(), SpecError> {
    if module.receiver().is_none() {
        return Ok(());
    }
    if !transport.is("pacing", "off") && !rcce::in_switch(scenario) {
        let why = format!("{scheme} is the queue of hosts in the Linux backend, so fq cannot be: set off");
        return Err(transport.fail("pacing", why));
    }
    let own = scenario.scheme(scheme);
    if schedules(scheme)
        && own.is("rto-r", "on-queue")
        && own.iter().any(|(key, _, _, origin)| key == "rto-r" && origin.is_some())
    {
        return Err(own.fail("rto-r", "the module of the Linux backend has on-release and off"));
    }
    if schedules(scheme)
        && let Some(group) = scenario.traffic.iter().find(|group| announces(&group.values))
    {
        return Err(group
            .values
            .fail("announce-size", "Linux's senders announce no sizes: leave it out, or set false"));
    }
    if scenario.transports().count() > 1 {
        let why = format!(
            "{scheme} sets the windows of all connections of a host in the Linux backend: give no group another"
        );
        return Err(transport.fail("scheme", why));
    }
    Ok(())
}

/// An error at the first key that was set and is not followed.
fn set(values: &Values, followed: impl Fn(&str) -> bool, why: &str) -> Result<(), SpecError> {
    let refused = values.iter().find(|(key, _, _, origin)| origin.is_some() && !followed(key));
    refused.map_or(Ok(()), |(key, ..)| Err(values.fail(&key, why)))
}

/// An error at the first key of hosts and switches that was set and that Linux does not follow.
fn refuse_schemes(scenario: &Scenario) -> Result<(), SpecError> {
    let mut loaded = Vec::new();
    for (key, transport) in scenario.transports() {
        let Some(Runs { module, switch, .. }) = runs(key) else {
            let all: Vec<&str> = RUNS.iter().map(|runs| runs.scheme).collect();
            let message = format!("{key} is no congestion control of the Linux backend; it runs {}", all.join(", "));
            return Err(transport.fail("scheme", message));
        };
        set(transport, |key| TRANSPORT.contains(&key), DECIDES)?;
        refuse_values(key, transport)?;
        if *switch == pfdct::SWITCH {
            pfdct::refuse(scenario.scheme(key))?;
        }
        let why = if module.receiver().is_some() { STOCK } else { DECIDES };
        set(scenario.scheme(key), |key| module.follows(key) || switch.contains(&key), why)?;
        refuse_beside_receiver(scenario, key, *module, transport)?;
        if let Some(name) = module.name() {
            if loaded.contains(&name) {
                let why = format!(
                    "{key} runs by the module {name} like another scheme here, which has one set of parameters"
                );
                return Err(transport.fail("scheme", why));
            }
            loaded.push(name);
        }
    }
    sab::refuse(scenario)?;
    rcce::refuse(scenario)?;
    if scenario.scheme_key() == "sdtcp" {
        sdtcp::refuse(scenario)?;
    }
    Ok(())
}

/// An error at the first key that was set and that the Linux backend does not follow.
fn refuse(scenario: &Scenario) -> Result<(), SpecError> {
    refuse_schemes(scenario)?;
    set(&scenario.network.values, |key| !NETWORK.contains(&key), DECIDES)?;
    let controlled = scenario.scheme_key() == "sdtcp";
    set(&scenario.control, |_| controlled, "has no effect: this scheme has no controller")?;
    set(&scenario.measure, |key| MEASURE.contains(&key) || (controlled && key == "capture-control"), MEASURES)?;
    if scenario.measure.is("queue-trace", "sampled") {
        return Err(scenario.measure.fail("queue-trace", "the Linux backend records each change: set on-change"));
    }
    let mut probes = scenario.measure.text("probes").split(',').map(str::trim);
    let reported = |name: &str| PROBES.contains(&name) && (name != "share" || scenario.scheme_key() == "sab");
    if let Some(other) = probes.find(|name| !matches!(*name, "" | "off") && !reported(name)) {
        let message = format!("Linux does not report {other} of a sender; it reports {}", PROBES.join(", "));
        return Err(scenario.measure.fail("probes", message));
    }
    let waits = scenario.traffic.iter().find(|group| group.values.is_steady("start"));
    waits.map_or(Ok(()), |group| Err(group.values.fail("start", STEADY)))
}
