//! The ports: their buffers, disciplines and jitter, and the books about them.

use crate::sim::build::layout::Layout;
use crate::sim::limits::base_rtt;
use fanin_core::ids::LinkId;
use fanin_core::rng::Stream;
use fanin_core::roles::QueueDiscipline;
use fanin_core::units::{Size, Time};
use fanin_measure::bins::Bins;
use fanin_network::queue::{self, QueueRow};
use fanin_network::topology::{LinkSpec, NodeKind, Topology, twin};
use fanin_param::{SpecError, Values};
use fanin_port::books::Books;
use fanin_port::spec::{Jitter, Limit, PortSpec, PortStream, Ties};
use fanin_scenario::Scenario;
use fanin_schemes::{self as schemes, NodeFacts, Scheme};
use fanin_work::cast::traffic_row;
use std::collections::BTreeSet;

/// Every port, by link. The agents of nodes in `looked_at` read backlogs.
pub(super) fn ports(
    scenario: &Scenario,
    layout: &Layout,
    looked_at: &[bool],
    seed: u64,
) -> Result<Vec<PortSpec>, SpecError> {
    let topology = &layout.topology;
    let packet = layout.mss + u64::from(layout.header);
    // A switch of several tiers has ports of several rates.
    let port = |link: &LinkSpec| NodeFacts { rate: link.rate, ..layout.facts(link.from) };
    // Read once: there may be thousands of ports.
    let network = &scenario.network.values;
    let span = network.time("host-jitter");
    let (drops_unmarkable, waiting_only) = (network.is("non-ect", "drop"), network.is("buffer-counts", "waiting"));
    let device_queue = device_queue(network)?;
    let observed = observed(scenario, layout);
    let disciplines = Disciplines::of(scenario, layout.bundle());
    let mut ports = Vec::with_capacity(topology.links.len());
    for (i, link) in topology.links.iter().enumerate() {
        let switch = topology.nodes[link.from.index()] == NodeKind::Switch;
        let ties = ties(network, link, layout);
        let jitter = (!switch && (span > Time::ZERO || ties != Ties::Seeded)).then(|| Jitter {
            stream: Stream::named(seed, &format!("host-jitter/{}", link.from)),
            span,
            ties,
            ready: Time::ZERO,
        });
        let (one, discipline) = if switch {
            (limit(network, link, packet)?, disciplines.at(link.tier, &port(link)))
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
            drops_unmarkable: switch && drops_unmarkable && discipline.marks(),
            discipline,
            waiting_only: switch && waiting_only,
            device_queue: if switch { device_queue } else { 0 },
            jitter,
            random: PortStream::new(seed, LinkId::new(i)),
            node: link.from.index(),
            observed: observed(LinkId::new(i), switch) || looked_at[link.from.index()],
            faulty: layout.faults.moves_departures(LinkId::new(i)),
            up: true,
            admits: true,
            reports: (switch && layout.telemetry).then_some(0),
            pausable: false,
            paused: false,
            lossless: false,
        });
    }
    Ok(ports)
}

/// By link, the discipline that a scenario gives its port; none of a host's.
pub(crate) fn disciplines(scenario: &Scenario, topology: &Topology) -> Vec<Option<Box<dyn QueueDiscipline>>> {
    let key = scenario.scheme_key();
    let scheme = (schemes::find(key).build)(scenario.scheme(key));
    let disciplines = Disciplines::of(scenario, &*scheme);
    let (mss, base_rtt) = (scenario.transport.bytes("mss").get(), base_rtt(topology));
    let header = scenario.transport.bytes("header").get() + scenario.network.values.bytes("frame-overhead").get();
    let discipline = |link: &LinkSpec| {
        let facts = NodeFacts { node: link.from, rate: link.rate, base_rtt, mss, packet: mss + header };
        let switch = topology.nodes[link.from.index()] == NodeKind::Switch;
        switch.then(|| disciplines.at(link.tier, &facts))
    };
    topology.links.iter().map(discipline).collect()
}

/// The order at one instant of packets that leave hosts by such a link.
fn ties(network: &Values, link: &LinkSpec, layout: &Layout) -> Ties {
    let words = [
        ("drawn", Some(Ties::Seeded)),
        ("waiting-first", Some(Ties::WaitingFirst)),
        ("fresh-first", Some(Ties::FreshFirst)),
        ("scheduled", None),
    ];
    network.choose("ties", &words).unwrap_or_else(|| {
        // A packet that waited leaves at an event scheduled one transmission ago, one that an acknowledgement releases at
        // the arrival of that, scheduled when the switch began to send it. Both have a header to send; what is left to
        // compare is the link's delay and the time of the payload.
        let payload = u64::from(link.rate.ps_per_byte().expect("the parser checks rates")) * layout.mss;
        if link.delay.ps() > payload { Ties::FreshFirst } else { Ties::WaitingFirst }
    })
}

/// Packets that the device of a switch port holds below its buffer.
fn device_queue(network: &Values) -> Result<u32, SpecError> {
    match network.size("device-queue") {
        Size::Packets(packets) => Ok(u32::try_from(packets).unwrap_or(u32::MAX)),
        Size::Bytes(_) => Err(network.fail("device-queue", "is counted in packets")),
    }
}

fn limit(network: &Values, link: &LinkSpec, packet: u64) -> Result<Limit, SpecError> {
    if network.is("admission", "dynamic-threshold") {
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
        Size::Bytes(bytes) if network.is("buffer-full", "reached") => Ok(Limit::BytesBelow(bytes)),
        Size::Bytes(bytes) => Ok(Limit::Bytes(bytes)),
    }
}

/// What makes the disciplines of ports, and what makes those of tiers that have values of their own.
struct Disciplines<'a> {
    usual: Maker<'a>,
    tiers: Vec<(&'static str, Maker<'a>)>,
}

enum Maker<'a> {
    Scheme(&'a dyn Scheme),
    /// The scheme with the values of a tier.
    OfTier(Box<dyn Scheme>),
    Kind(&'static QueueRow, Values),
}

impl<'a> Disciplines<'a> {
    fn of(scenario: &Scenario, bundle: &'a dyn Scheme) -> Self {
        let kind = queue::REGISTRY.iter().find(|row| row.key == scenario.queue.kind);
        let values = if kind.is_some() { &scenario.queue.values } else { scenario.scheme(scenario.scheme_key()) };
        let own = |tier: &str| match kind {
            Some(row) => Maker::Kind(row, values.at_tier(tier)),
            None => Maker::OfTier((schemes::find(scenario.scheme_key()).build)(&values.at_tier(tier))),
        };
        let written: BTreeSet<&str> = values.tiers().map(|(tier, _)| tier).collect();
        Self {
            usual: kind.map_or(Maker::Scheme(bundle), |row| Maker::Kind(row, values.clone())),
            tiers: written.into_iter().map(|tier| (tier, own(tier))).collect(),
        }
    }

    fn at(&self, tier: Option<&str>, switch: &NodeFacts) -> Box<dyn QueueDiscipline> {
        let own = self.tiers.iter().find(|(name, _)| tier == Some(*name));
        let queue = match own.map_or(&self.usual, |(_, maker)| maker) {
            Maker::Scheme(scheme) => scheme.queue(switch),
            Maker::OfTier(scheme) => scheme.queue(switch),
            Maker::Kind(row, values) => Some((row.build)(values)),
        };
        queue.unwrap_or_else(queue::drop_tail)
    }
}

/// Whether the queue of a link's port is measured; the second argument says whether it is a switch's.
fn observed(scenario: &Scenario, layout: &Layout) -> impl Fn(LinkId, bool) -> bool {
    let measure = &scenario.measure;
    let every = measure.is("queues", "all");
    let way = if scenario.queues_on_the_way { on_the_way(scenario, layout) } else { Vec::new() };
    // The table of time bins has a column for the bottleneck's queue.
    let one = measure.is("queues", "bottleneck") || measure.time("bin") > Time::ZERO;
    let bottleneck = layout.topology.bottleneck;
    move |link, switch| if every { switch } else { one && link == bottleneck || way.get(link.index()) == Some(&true) }
}

/// By link, whether its port is a switch's that responses cross on their way to the client of an incast.
fn on_the_way(scenario: &Scenario, layout: &Layout) -> Vec<bool> {
    let topology = &layout.topology;
    let mut crossed = vec![0.0; topology.links.len()];
    for (group, cast) in scenario.traffic.iter().zip(&layout.casts) {
        let row = traffic_row(group);
        if row.fan_in.is_none() || !row.one_client {
            continue;
        }
        let client = cast.receivers[(row.demand)(&group.values).receivers - 1];
        let mut sent = vec![0.0; topology.nodes.len()];
        for host in &cast.senders {
            sent[topology.rack_of(*host).index()] = 1.0;
        }
        let (part, _) = topology.spread(&topology.shortest_paths(topology.rack_of(client)), sent, |_, part| part);
        crossed.iter_mut().zip(part).for_each(|(crossed, part)| *crossed += part);
        crossed[twin(topology.uplink(client)).index()] += 1.0;
    }
    crossed.into_iter().map(|part| part > 0.0).collect()
}

/// The books of the ports, with the queues of observed ones.
pub(super) fn books(scenario: &Scenario, layout: &Layout, ports: &[PortSpec]) -> Books {
    let topology = &layout.topology;
    let width = scenario.measure.time("bin");
    let switch = |link: &LinkSpec| topology.nodes[link.from.index()] == NodeKind::Switch;
    let links = topology.links.iter().enumerate().map(|(i, link)| (LinkId::new(i), switch(link)));
    let observed = observed(scenario, layout);
    let watched: Vec<LinkId> = links.filter(|(link, switch)| observed(*link, *switch)).map(|(link, _)| link).collect();
    let bins = (width > Time::ZERO).then(|| Bins::new(width, layout.endpoints.len(), watched.len()));
    let limits = ports.iter().map(|port| port.limit);
    let mut books = Books::new(limits, topology.nodes.len(), bins, layout.header);
    let trace = scenario.measure.is("queue-trace", "on-change");
    for link in watched {
        books.observe(link, ports[link.index()].ps_per_byte, trace);
    }
    books
}
