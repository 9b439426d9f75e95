//! From a checked scenario to a world that can run.

use crate::event::links::LinkQueue;
use crate::event::order::TieBreak;
use crate::event::slots::Slots;
use crate::flow_map::FlowMap;
use crate::host::flows::Over;
use crate::ids::{FlowId, GroupId, LinkId, NodeId};
use crate::measure::bins::Bins;
use crate::measure::capture::Capture;
use crate::measure::delay::DelayStats;
use crate::measure::pcapng::Resolution;
use crate::measure::probes::{self, Probes};
use crate::net::books::Books;
use crate::net::faults::Faults;
use crate::net::paths::Paths;
use crate::net::port::{Jitter, Limit, PortSpec, Ties};
use crate::net::switch::{ControlChannel, Mail};
use crate::packet::Stamp;
use crate::queue;
use crate::roles::{Ecmp, PathSelector, QueueDiscipline, Spray, SwitchAgent, WindowControl};
use crate::schemes::{self, FlowFacts, NetworkFacts, NodeFacts, Scheme};
use crate::sim::world::{Endpoint, Host, World, stream};
use crate::spec::{Params, Scenario, SpecError, TrafficGroup};
use crate::tcp::receiver::{AckList, ReceiverConfig};
use crate::tcp::sender::SenderConfig;
use crate::tcp::{self, EcnMode};
use crate::topology::{self, Demand, LinkSpec, NodeKind, Topology};
use crate::traffic::Place;
use crate::units::{Size, Time};
use crate::work::cast::{self, Cast};
use crate::work::transfer::{Group, Transfers};
use std::any::Any;
use std::collections::BTreeMap;

/// What an event core is made of.
pub(crate) struct CoreParts {
    pub(crate) ports: Vec<PortSpec>,
    pub(crate) nodes: Vec<Box<dyn Any + Send>>,
    pub(crate) books: Books,
    pub(crate) ties: TieBreak,
}

/// Largest IPv4 packet (RFC 791 section 3.1).
const LARGEST_PACKET: u64 = 65_535;

/// What takes the place of registered parts: how tests bring their own.
#[derive(Default)]
pub(crate) struct Substitutes {
    /// Schemes by key.
    pub(crate) schemes: BTreeMap<&'static str, Box<dyn Scheme>>,
    /// The network, whatever the scenario says.
    pub(crate) topology: Option<Topology>,
}

/// Lays out everything that the scenario names.
pub(crate) fn build(scenario: &Scenario, substitutes: Substitutes) -> Result<(World, CoreParts), SpecError> {
    let layout = Layout::of(scenario, substitutes)?;
    let seed = scenario.run.integer("seed");
    let nodes = layout.nodes().map(|node| layout.bundle().node_state(&layout.facts(node))).collect();
    let switches: Vec<_> = layout.nodes().map(|node| layout.agent(node)).collect();
    let looked_at: Vec<bool> = switches.iter().map(|agent| agent.as_ref().is_some_and(|a| a.needs_backlog())).collect();
    let ports = ports(scenario, &layout, &looked_at, seed)?;
    let books = books(scenario, &layout, &ports);
    let ties = TieBreak::new(layout.topology.links.len(), seed);
    let packet = layout.mss + u64::from(layout.header);
    let buffers = ports.iter().map(|port| port.limit.bytes(packet)).collect();
    let world = world(scenario, layout, switches, buffers, seed)?;
    Ok((world, CoreParts { ports, nodes, books, ties }))
}

/// The network, and what acts at its ends.
struct Layout {
    topology: Topology,
    faults: Faults,
    /// The hosts of each traffic group.
    casts: Vec<Cast>,
    /// The schemes in use, and which of them is the network's.
    schemes: Vec<Box<dyn Scheme>>,
    network_scheme: usize,
    /// By traffic group.
    endpoints: Vec<Endpoint>,
    mss: u64,
    /// Bytes of headers in every packet.
    header: u16,
    base_rtt: Time,
}

impl Layout {
    fn of(scenario: &Scenario, mut substitutes: Substitutes) -> Result<Self, SpecError> {
        let substitute = substitutes.topology.take();
        let mut schemes = Schemes { scenario, substitutes: substitutes.schemes, keys: Vec::new(), built: Vec::new() };
        let network_scheme = schemes.index(scenario.scheme_key());
        let mut topology = match substitute {
            Some(topology) => topology,
            None => self::topology(scenario)?,
        };
        let casts = cast::casts(scenario, &mut topology)?;
        let faults = Faults::build(scenario, &topology, scenario.run.integer("seed"))?;
        check_magnitudes(scenario, &topology, &faults)?;
        let header = header(scenario)?;
        let mut endpoints = Vec::new();
        for group in &scenario.traffic {
            let scheme = schemes.index(group.scheme.unwrap_or(scenario.scheme_key()));
            endpoints.push(endpoint(scenario, schemes.keys[scheme], scheme, &*schemes.built[scheme])?);
        }
        for (key, scheme) in schemes.keys.iter().zip(&schemes.built) {
            let runs_it = |group: &&TrafficGroup| group.scheme.unwrap_or(scenario.scheme_key()) == *key;
            let groups: Vec<&TrafficGroup> = scenario.traffic.iter().filter(runs_it).collect();
            scheme.check(scenario.scheme(key), &groups)?;
        }
        let (mss, base_rtt) = (scenario.transport.bytes("mss").get(), base_rtt(&topology));
        let schemes = schemes.built;
        Ok(Self { topology, faults, casts, schemes, network_scheme, endpoints, mss, header, base_rtt })
    }

    /// The network's scheme.
    fn bundle(&self) -> &dyn Scheme {
        &*self.schemes[self.network_scheme]
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.topology.nodes.len()).map(NodeId::new)
    }

    fn facts(&self, node: NodeId) -> NodeFacts {
        let rate = self.topology.links[self.topology.uplink(node).index()].rate;
        let packet = self.mss + u64::from(self.header);
        NodeFacts { node, rate, base_rtt: self.base_rtt, mss: self.mss, packet }
    }

    fn agent(&self, node: NodeId) -> Option<Box<dyn SwitchAgent>> {
        match self.topology.nodes[node.index()] {
            NodeKind::Switch => self.bundle().switch_agent(&self.facts(node)),
            NodeKind::Host => None,
        }
    }

    fn host(&self, scenario: &Scenario, node: NodeId) -> Option<Host> {
        match self.topology.nodes[node.index()] {
            NodeKind::Switch => None,
            NodeKind::Host => Some(Host {
                windows: windows(&self.schemes, &self.facts(node)),
                selector: selector(scenario, self.bundle(), &self.facts(node)),
                uplink: self.topology.uplink(node),
                edge: self.topology.links[self.topology.uplink(node).index()].to,
            }),
        }
    }
}

/// The world before anything has happened.
fn world(
    scenario: &Scenario,
    layout: Layout,
    switches: Vec<Option<Box<dyn SwitchAgent>>>,
    buffers: Vec<u64>,
    seed: u64,
) -> Result<World, SpecError> {
    let hosts: Vec<Option<Host>> = layout.nodes().map(|node| layout.host(scenario, node)).collect();
    let measure = &scenario.measure;
    let capture = capture(scenario, &layout.topology, &layout.endpoints);
    Ok(World {
        seed,
        duration: scenario.run.time("duration"),
        resequences: hosts.iter().flatten().any(|host| host.selector.patience().is_some()),
        has_schedulers: hosts.iter().flatten().any(|host| !host.windows.is_empty()),
        buffers,
        has_agents: switches.iter().any(Option::is_some),
        controller: layout.bundle().controller(&NetworkFacts { base_rtt: layout.base_rtt }),
        channel: channel(&scenario.control, layout.topology.nodes.len(), seed),
        rewritten: 0,
        watched: layout.faults.any_loss() || capture.is_some(),
        capture,
        delays: layout.endpoints.iter().map(|_| DelayStats::new()).collect(),
        groups: groups(scenario, &layout, seed)?,
        probes: probes(scenario, &layout.schemes)?,
        sample: if measure.text("queue-trace") == "sampled" { measure.time("queue-sample") } else { Time::ZERO },
        warmup: measure.time("warmup"),
        schemes: layout.schemes,
        network_scheme: layout.network_scheme,
        rates: layout.topology.links.iter().map(|link| link.rate).collect(),
        faults: layout.faults,
        over_flows: Over::new(layout.topology.nodes.len()),
        topology: layout.topology,
        endpoints: layout.endpoints,
        header: layout.header,
        paths: Paths::default(),
        hosts,
        switches,
        flows: FlowMap::default(),
        transfers: Transfers::default(),
        queries: Vec::new(),
        host_tokens: Slots::default(),
        tokens: Slots::default(),
        mail: Mail::default(),
        samples: Vec::new(),
        open: 0,
        window_start: None,
        last_completion: None,
        finite_before: 0,
        now: Time::ZERO,
        finished: false,
        failure: None,
        over: false,
        hops: 0,
        events: 0,
        stale_timers: 0,
        acks: AckList::new(),
        receiver_actions: Vec::new(),
        switch_actions: Vec::new(),
    })
}

/// The schemes that a scenario uses, each built once.
struct Schemes<'a> {
    scenario: &'a Scenario,
    substitutes: BTreeMap<&'static str, Box<dyn Scheme>>,
    keys: Vec<&'static str>,
    built: Vec<Box<dyn Scheme>>,
}

impl Schemes<'_> {
    fn index(&mut self, key: &'static str) -> usize {
        if let Some(index) = self.keys.iter().position(|known| *known == key) {
            return index;
        }
        let scheme = self.substitutes.remove(key).unwrap_or_else(|| {
            let row = schemes::REGISTRY.iter().find(|row| row.key == key).expect("the parser knows the registry");
            (row.build)(self.scenario.scheme(key))
        });
        self.keys.push(key);
        self.built.push(scheme);
        self.built.len() - 1
    }
}

fn topology(scenario: &Scenario) -> Result<Topology, SpecError> {
    let demands: Vec<Demand> = scenario.traffic.iter().map(cast::by_part).collect();
    let total = Demand {
        senders: demands.iter().map(|demand| demand.senders).sum(),
        receivers: demands.iter().map(|demand| demand.receivers).max().unwrap_or(0),
    };
    let row = topology::REGISTRY.iter().find(|row| row.key == scenario.network.kind).expect("the parser knows it");
    let follows = row.params.iter().any(|param| param.key == "sender-hosts")
        && scenario.network.params.is_default("sender-hosts");
    if follows && let Some(message) = total.too_many() {
        return Err(asks_for_most(scenario, &demands, &total, message));
    }
    let mut topology = (row.build)(&scenario.network.params, &total)?;
    topology.place_at_random(&scenario.network.params, &mut stream(scenario.run.integer("seed"), "placement"));
    Ok(topology)
}

/// The error of hosts that are too many, at the traffic group that asks for most of them.
fn asks_for_most(scenario: &Scenario, demands: &[Demand], total: &Demand, mut message: String) -> SpecError {
    let many_senders = total.senders >= total.receivers;
    let asked = |demand: &Demand| if many_senders { demand.senders } else { demand.receivers };
    let most = (0..demands.len()).max_by_key(|group| asked(&demands[*group])).unwrap_or(0);
    let group = &scenario.traffic[most];
    let row = cast::traffic_row(group);
    let has = |key: &str| row.params.iter().any(|param| param.key == key);
    if many_senders && has("placement") {
        message += "; let flows share hosts with placement = \"round-robin\"";
    }
    let to = ["receivers", "receiver"].into_iter().find(|key| !many_senders && has(key));
    group.params.fail(to.unwrap_or(row.demand_key), message)
}

fn header(scenario: &Scenario) -> Result<u16, SpecError> {
    let header = scenario.transport.bytes("header").get() + scenario.network.params.bytes("frame-overhead").get();
    // SACK blocks come on top of an acknowledgement's headers, and are far smaller than a segment.
    if header + scenario.transport.bytes("mss").get() > LARGEST_PACKET {
        let message = format!("segment and headers exceed the largest packet of {LARGEST_PACKET} bytes");
        return Err(scenario.transport.fail("mss", message));
    }
    Ok(header as u16)
}

fn endpoint(scenario: &Scenario, key: &'static str, index: usize, scheme: &dyn Scheme) -> Result<Endpoint, SpecError> {
    let transport = scenario.transport_of(key);
    tcp::check(transport)?;
    let any = some_flow(transport.bytes("mss").get(), &scenario.network.params);
    let ecn = EcnMode::chosen(transport, scheme.congestion_control(&any).ecn());
    Ok(Endpoint {
        sender: SenderConfig::from(transport),
        receiver: ReceiverConfig::new(transport, ecn),
        buffer: transport.bytes("receive-buffer").get(),
        scale: tcp::window_scale(transport),
        scheme: index,
    })
}

/// A flow that stands for any, to ask a scheme what its senders are like.
fn some_flow(mss: u64, network: &Params) -> FlowFacts {
    FlowFacts { flow: FlowId::default(), bytes: None, mss, packet: mss, rate: network.rate("rate"), idle_rtt: None }
}

/// Longest propagation delay from a sender to the first receiver and back. Senders on one switch are as far.
fn base_rtt(topology: &Topology) -> Time {
    let places = topology.senders.iter().map(|host| {
        let cable = topology.links[topology.uplink(*host).index()];
        ((cable.to, cable.delay), *host)
    });
    let places: BTreeMap<_, _> = places.collect();
    let to = topology.receivers[0];
    let ways = topology.ways(topology.rack_of(to));
    let reached = places.into_values().filter(|from| ways.count(topology.rack_of(*from)) > 0);
    reached.map(|from| topology.base_rtt(&topology.path(&ways, from, to, 0))).max().unwrap_or(Time::ZERO)
}

fn ports(scenario: &Scenario, layout: &Layout, looked_at: &[bool], seed: u64) -> Result<Vec<PortSpec>, SpecError> {
    let topology = &layout.topology;
    let packet = layout.mss + u64::from(layout.header);
    // A switch of several tiers has ports of several rates.
    let port = |link: &LinkSpec| NodeFacts { rate: link.rate, ..layout.facts(link.from) };
    let mut ports = Vec::with_capacity(topology.links.len());
    for (i, link) in topology.links.iter().enumerate() {
        let switch = topology.nodes[link.from.index()] == NodeKind::Switch;
        let (span, ties) = (scenario.network.params.time("host-jitter"), ties(&scenario.network.params));
        let jitter = (!switch && (span > Time::ZERO || ties != Ties::Drawn)).then(|| Jitter {
            stream: stream(seed, &format!("host-jitter/{}", link.from)),
            span,
            ties,
            ready: Time::ZERO,
        });
        let (one, discipline) = if switch {
            let discipline = discipline(scenario, layout.bundle(), &port(link));
            (limit(&scenario.network.params, link, packet)?, discipline)
        } else {
            (Limit::Unlimited, queue::drop_tail())
        };
        ports.push(PortSpec {
            rate: link.rate,
            ps_per_byte: link.rate.ps_per_byte().expect("the parser checks rates"),
            delay: link.delay,
            limit: one.times(discipline.buffers()),
            buffer: one.size(),
            shows_bands: discipline.bands() > 1 || discipline.acts_on_dequeue(),
            discipline,
            waiting_only: switch && scenario.network.params.text("buffer-counts") == "waiting",
            jitter,
            random: stream(seed, &format!("port/{i}")),
            node: link.from.index(),
            observed: observed(scenario, topology, LinkId::new(i), switch) || looked_at[link.from.index()],
            faulty: layout.faults.moves_departures(LinkId::new(i)),
            up: true,
            admits: true,
        });
    }
    Ok(ports)
}

/// A host's schedulers, one for each scheme of the end points; none at all if no scheme has one.
fn windows(schemes: &[Box<dyn Scheme>], host: &NodeFacts) -> Vec<Option<Box<dyn WindowControl>>> {
    let windows: Vec<_> = schemes.iter().map(|scheme| scheme.window_control(host)).collect();
    if windows.iter().any(Option::is_some) { windows } else { Vec::new() }
}

fn selector(scenario: &Scenario, bundle: &dyn Scheme, host: &NodeFacts) -> Box<dyn PathSelector> {
    match scenario.network.params.text("path-selector") {
        "ecmp" => Box::new(Ecmp),
        "spray" => Box::new(Spray { cell: scenario.network.params.bytes("flowcell").get() }),
        _ => bundle.path_selector(host),
    }
}

/// Most rows of the bins and of a sampled queue trace.
const MOST_ROWS: u64 = 100_000_000;

/// Packets tell how old they are up to [`Stamp::OLDEST`]; this leaves as much for queues.
const LONGEST_PROPAGATION: Time = Time::from_secs(500);

/// Refuses what would not fit the memory or the keys of the event queue.
fn check_magnitudes(scenario: &Scenario, topology: &Topology, faults: &Faults) -> Result<(), SpecError> {
    let (measure, network) = (&scenario.measure, &scenario.network.params);
    let duration = scenario.run.time("duration").ps();
    let rows = |interval: Time| if interval == Time::ZERO { 0 } else { duration / interval.ps() };
    let too_many = |key: &str, rows: u64| {
        let message = format!("gives {rows} rows over run.duration, more than {MOST_ROWS}; give a longer time");
        Err(measure.fail(key, message))
    };
    let ports = if measure.text("queues") == "all" { topology.links.len() } else { 1 };
    let bins = rows(measure.time("bin")).saturating_mul(scenario.traffic.len().max(ports) as u64);
    if bins > MOST_ROWS {
        return too_many("bin", bins);
    }
    if measure.text("queue-trace") == "sampled" && rows(measure.time("queue-sample")) > MOST_ROWS {
        return too_many("queue-sample", rows(measure.time("queue-sample")));
    }
    if base_rtt(topology) > LONGEST_PROPAGATION {
        let message =
            format!("a round trip of propagation takes {}, more than {LONGEST_PROPAGATION}", base_rtt(topology));
        return Err(network.fail("delay", message));
    }
    let reach = LinkQueue::reach(topology.links.len());
    let jitter = network.time("host-jitter");
    for link in &topology.links {
        let transmission = LARGEST_PACKET * u64::from(link.rate.ps_per_byte().expect("the parser checks rates"));
        if link.delay + jitter + Time::from_ps(transmission) > reach {
            let (delay, rate) = (link.delay, link.rate);
            let message =
                format!("a packet takes too long to cross a link of {rate} and {delay}, with {jitter} of jitter");
            return Err(network.fail("delay", message));
        }
    }
    if let Some((fault, waits)) = faults.waits().find(|(_, waits)| *waits > Stamp::OLDEST) {
        let message = format!(
            "packets would wait for {waits}, and tell how old they are up to {}; let it end earlier, or queued = \"drop\"",
            Stamp::OLDEST
        );
        return Err(scenario.faults[fault].params.fail("for", message));
    }
    for (fault, links, rate) in faults.rates() {
        let transmission = LARGEST_PACKET * u64::from(rate.ps_per_byte().expect("the parser checks rates"));
        let longest = links.iter().map(|link| topology.links[link.index()].delay).max().unwrap_or(Time::ZERO);
        if longest + jitter + Time::from_ps(transmission) > reach {
            let message = format!("a packet takes too long to cross a link of {rate} and {longest}");
            return Err(scenario.faults[fault].params.fail("rate", message));
        }
    }
    Ok(())
}

fn ties(network: &Params) -> Ties {
    match network.text("ties") {
        "waiting-first" => Ties::WaitingFirst,
        "fresh-first" => Ties::FreshFirst,
        _ => Ties::Drawn,
    }
}

fn limit(network: &Params, link: &LinkSpec, packet: u64) -> Result<Limit, SpecError> {
    if network.text("admission") == "dynamic-threshold" {
        let memory = match network.size("shared-buffer") {
            Size::Bytes(bytes) => bytes,
            Size::Packets(packets) => packets.saturating_mul(packet),
        };
        if memory < packet {
            return Err(network.fail("shared-buffer", format!("holds less than one packet of {packet} bytes")));
        }
        if network.number("dt-alpha") <= 0.0 {
            return Err(network.fail("dt-alpha", "a port may hold nothing; give a positive factor"));
        }
        return Ok(Limit::Dynamic { pool: link.from.index(), memory, alpha: network.number("dt-alpha") });
    }
    let key = match network.size(link.buffer) {
        Size::Packets(0) | Size::Bytes(0) => "buffer",
        _ => link.buffer,
    };
    match network.size(key) {
        Size::Packets(0) => Err(network.fail(key, "holds less than one packet")),
        Size::Bytes(bytes) if bytes < packet => {
            Err(network.fail(key, format!("{bytes}B holds less than one packet of {packet} bytes")))
        }
        Size::Packets(packets) => Ok(Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))),
        Size::Bytes(bytes) if network.text("buffer-full") == "reached" => Ok(Limit::BytesBelow(bytes)),
        Size::Bytes(bytes) => Ok(Limit::Bytes(bytes)),
    }
}

fn discipline(scenario: &Scenario, bundle: &dyn Scheme, switch: &NodeFacts) -> Box<dyn QueueDiscipline> {
    if scenario.queue.kind == "auto" {
        return bundle.queue(switch).unwrap_or_else(queue::drop_tail);
    }
    let row = queue::REGISTRY.iter().find(|row| row.key == scenario.queue.kind).expect("the parser knows it");
    (row.build)(&scenario.queue.params)
}

fn observed(scenario: &Scenario, topology: &Topology, link: LinkId, switch: bool) -> bool {
    match scenario.measure.text("queues") {
        "all" => switch,
        "bottleneck" => link == topology.bottleneck,
        // The time bins have a column for it.
        _ => link == topology.bottleneck && scenario.measure.time("bin") > Time::ZERO,
    }
}

fn books(scenario: &Scenario, layout: &Layout, ports: &[PortSpec]) -> Books {
    let topology = &layout.topology;
    let width = scenario.measure.time("bin");
    let switch = |link: &LinkSpec| topology.nodes[link.from.index()] == NodeKind::Switch;
    let links = topology.links.iter().enumerate().map(|(i, link)| (LinkId::new(i), switch(link)));
    let watched: Vec<LinkId> =
        links.filter(|(link, switch)| observed(scenario, topology, *link, *switch)).map(|(link, _)| link).collect();
    let bins = (width > Time::ZERO).then(|| Bins::new(width, layout.endpoints.len(), watched.len()));
    let limits = ports.iter().map(|port| port.limit);
    let mut books = Books::new(limits, topology.nodes.len(), bins, layout.header);
    let trace = scenario.measure.text("queue-trace") == "on-change";
    for link in watched {
        books.observe(link, ports[link.index()].ps_per_byte, trace);
    }
    books
}

/// The traffic groups, each with its hosts.
fn groups(scenario: &Scenario, layout: &Layout, seed: u64) -> Result<Vec<Group>, SpecError> {
    let mut groups = Vec::new();
    for (i, (group, Cast { senders, receivers })) in scenario.traffic.iter().zip(&layout.casts).enumerate() {
        let place = Place { topology: &layout.topology, senders, receivers, files: &scenario.files };
        groups.push(Group {
            name: group.name.clone(),
            traffic: (cast::traffic_row(group).build)(&group.params, &place)?,
            stream: stream(seed, &format!("traffic/{}", group.name)),
            senders: senders.clone(),
            receivers: receivers.clone(),
            endpoint: GroupId::new(i).index(),
            hurry: group.params.time("deadline"),
            announces_size: group.params.flag("announce-size"),
            query: None,
            wakes: 0,
            delivered: 0,
            delivered_before: 0,
            delivered_by_completion: 0,
            connections: BTreeMap::new(),
        });
    }
    Ok(groups)
}

fn channel(control: &Params, nodes: usize, seed: u64) -> ControlChannel {
    ControlChannel {
        delay: control.time("delay"),
        jitter: control.time("jitter"),
        loss: control.number("loss"),
        service: control.time("service-time"),
        stream: stream(seed, "control-channel"),
        free_at: Time::ZERO,
        last: vec![[Time::ZERO; 2]; nodes],
        messages: 0,
        bytes: 0,
        lost: 0,
    }
}

/// The probes asked for; each must be one that every sender has, or one of a scheme's senders, switches or receiving
/// hosts. Not only of those in use: a sweep over schemes asks for the same probes of all.
fn probes(scenario: &Scenario, in_use: &[Box<dyn Scheme>]) -> Result<Probes, SpecError> {
    let measure = &scenario.measure;
    let facts = some_flow(scenario.transport.bytes("mss").get(), &scenario.network.params);
    let node = NodeId::default();
    let switch = NodeFacts { node, rate: facts.rate, base_rtt: Time::ZERO, mss: facts.mss, packet: facts.packet };
    let mut known: Vec<&str> = probes::COMMON.to_vec();
    let (mut of_switches, mut of_hosts): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let registered: Vec<_> = schemes::REGISTRY.iter().map(|row| (row.build)(scenario.scheme(row.key))).collect();
    for scheme in in_use.iter().chain(&registered) {
        scheme.congestion_control(&facts).probes(&mut |name, _| known.extend((!known.contains(&name)).then_some(name)));
        if let Some(agent) = scheme.switch_agent(&switch) {
            agent.probes(&mut |name, _| of_switches.extend((!of_switches.contains(&name)).then_some(name)));
        }
        if let Some(window) = scheme.window_control(&switch) {
            let mut show = |name, _| of_hosts.extend((!of_hosts.contains(&name)).then_some(name));
            window.probes(&mut show);
            window.flow_probes(facts.flow, &mut show);
        }
    }
    let names: Vec<&str> =
        measure.text("probes").split(',').map(str::trim).filter(|name| !matches!(*name, "" | "off")).collect();
    of_hosts.retain(|name| !known.contains(name));
    if let Some(unknown) =
        names.iter().find(|name| ![&known, &of_switches, &of_hosts].iter().any(|all| all.contains(name)))
    {
        of_hosts.retain(|name| !of_switches.contains(name));
        let there = [known, of_switches, of_hosts].concat().join(", ");
        return Err(measure.fail("probes", format!("nobody shows \"{unknown}\"; there are {there}")));
    }
    let of = |all: &[&str]| names.iter().any(|name| all.contains(name));
    let (switches, hosts) = (of(&of_switches), of(&of_hosts));
    let flows = measure.integer("probe-flows") as usize;
    Ok(Probes::new(names.into_iter().map(str::to_owned).collect(), flows, switches, hosts))
}

fn capture(scenario: &Scenario, topology: &Topology, endpoints: &[Endpoint]) -> Option<Capture> {
    let host = |node: NodeId| topology.senders.contains(&node);
    let receiver = topology.receivers[0];
    let names = topology.names();
    let wanted = |i: usize, link: &LinkSpec| match scenario.measure.text("capture") {
        "all" => true,
        "bottleneck" => i == topology.bottleneck.index(),
        "senders" => host(link.from) || host(link.to),
        "receiver" => link.from == receiver || link.to == receiver,
        _ => false,
    };
    let links: Vec<(LinkId, String)> = topology
        .links
        .iter()
        .enumerate()
        .filter(|(i, link)| wanted(*i, link))
        .map(|(i, link)| (LinkId::new(i), format!("{} to {}", names[link.from.index()], names[link.to.index()])))
        .collect();
    // The file knows one kind of SYN: that of end points with selective acknowledgements, if there are any.
    let sack = endpoints.iter().any(|endpoint| endpoint.receiver.sack);
    let limit = scenario.measure.integer("capture-limit");
    let control = scenario.measure.flag("capture-control");
    (!links.is_empty() || control).then(|| {
        let mss = scenario.transport.bytes("mss").get() as u16;
        let resolution = match scenario.measure.text("capture-time") {
            "ps" => Resolution::Picoseconds,
            _ => Resolution::Nanoseconds,
        };
        let capture = Capture::new(&links, topology.links.len(), resolution, limit, mss, sack);
        if control { capture.with_control(topology.nodes.len()) } else { capture }
    })
}
