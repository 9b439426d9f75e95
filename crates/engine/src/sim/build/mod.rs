//! Builds a world that can run from a checked scenario.

mod endpoint;
mod layout;
mod lossless;
mod ports;
mod watch;

pub(crate) use ports::disciplines;
pub use watch::probe_names;

pub(crate) use layout::Substitutes;

use fanin_core::ids::GroupId;
use fanin_core::rng::Stream;
use fanin_core::roles::Controller;
use fanin_core::units::Time;
use fanin_event::order::TieBreak;
use fanin_event::{CoreParts, EventCore};
use fanin_host::hosts::{Endpoint, Hosts};
use fanin_net::control::{Control, ControlChannel};
use fanin_net::host_queue::HostQueues;
use fanin_net::looks::Looks;
use fanin_net::network::Network;
use fanin_net::paths::Paths;
use fanin_net::switch::Switches;
use fanin_network::topology::Topology;
use fanin_network::traffic::Place;
use fanin_param::SpecError;
use fanin_port::spec::PortSpec;
use fanin_scenario::Scenario;
use fanin_work::cast::{self, Cast};
use fanin_work::group::Group;
use fanin_work::plan::Plan;
use fanin_work::settling::Settling;
use fanin_world::{Watch, Windows, World};
use layout::Layout;
use std::collections::BTreeMap;

/// Builds everything that the scenario describes: the world before its first event.
pub(crate) fn build<C: EventCore>(scenario: &Scenario, substitutes: Substitutes) -> Result<World<C>, SpecError> {
    let layout = Layout::of(scenario, substitutes)?;
    let (seed, measure) = (scenario.run.integer("seed"), &scenario.measure);
    let nodes = layout.nodes().map(|node| layout.bundle().node_state(&layout.facts(node))).collect();
    let agents: Vec<_> = layout.nodes().map(|node| layout.agent(node)).collect();
    let looked_at: Vec<bool> = agents.iter().map(|agent| agent.as_ref().is_some_and(|a| a.needs_backlog())).collect();
    let mut ports = ports::ports(scenario, &layout, &looked_at, seed)?;
    let packet = layout.mss + u64::from(layout.header);
    let buffers = ports.iter().map(|port| port.limit.bytes(packet)).collect();
    let lossless = lossless::lossless(&scenario.network.values, &layout.topology, &mut ports, packet)?;
    let books = ports::books(scenario, &layout, &ports);
    let marks_late = ports.iter().any(|port| port.discipline.acts_on_dequeue());
    let links = layout.topology.links.len();
    let ties = TieBreak::new(links, seed);
    let hosts = layout.hosts(scenario);
    let host_queues = host_queues(&layout);
    let groups = groups(scenario, &layout, seed)?;
    let (host_probes, switch_probes) = watch::probes(scenario, &layout.schemes)?;
    let capture = watch::capture(scenario, &layout.topology, &layout.endpoints);
    let crossings = watch::crossings(scenario, &layout.topology);
    let controller = layout.bundle().controller(&layout.network());
    let channel = ControlChannel::new(&scenario.control, layout.topology.nodes.len(), seed);
    let switches =
        Switches::new(agents, layout.network_scheme, Control::new(controller, channel), switch_probes, lossless.any());
    let sampled = measure.is("queue-trace", "sampled");
    Ok(World {
        seed,
        duration: scenario.run.time("duration"),
        end: scenario.longest(),
        net: Network {
            core: C::new(CoreParts { ports, nodes, books, ties, lossless }),
            paths: Paths::new(seed),
            rates: layout.topology.links.iter().map(|link| link.rate).collect(),
            buffers,
            header: layout.header,
            marks_late,
            sent: 0,
            watched: layout.faults.any_of_packets() || capture.is_some() || crossings.is_some(),
            held: Vec::new(),
            faults: layout.faults,
            host_queues,
            capture,
            crossings,
            topology: layout.topology,
        },
        switches,
        hosts: Hosts::new(hosts, layout.schemes, layout.endpoints, host_probes),
        work: Plan::new(groups, measure.time("warmup"), Settling::new(scenario.run.time("steady-limit"), seed)),
        watch: Watch {
            every: if sampled { measure.time("queue-sample") } else { Time::ZERO },
            samples: Vec::new(),
            of_switches: measure.is("queues", "all"),
            carried: None,
            counters: None,
        },
        looks: Looks::new(links),
        windows: Windows::default(),
        hops: 0,
        events: 0,
    })
}

/// The network of a scenario, and its ports by link.
pub(crate) fn topology_and_ports(scenario: &Scenario) -> Result<(Topology, Vec<PortSpec>), SpecError> {
    let layout = Layout::of(scenario, Substitutes::default())?;
    let agents = vec![false; layout.topology.nodes.len()];
    let ports = ports::ports(scenario, &layout, &agents, scenario.run.integer("seed"))?;
    Ok((layout.topology, ports))
}

/// The controller of a scenario's network, if its scheme has one.
pub(crate) fn controller(scenario: &Scenario) -> Result<Option<Box<dyn Controller>>, SpecError> {
    let layout = Layout::of(scenario, Substitutes::default())?;
    Ok(layout.bundle().controller(&layout.network()))
}

/// The queues of hosts, if somebody asks when packets leave them, or they are limited.
fn host_queues(layout: &Layout) -> Option<Box<HostQueues>> {
    let matters = |endpoint: &Endpoint| endpoint.host_queue.is_some() || endpoint.sender.interface.is_some();
    let limits =
        |endpoint: &Endpoint| (endpoint.host_queue, endpoint.sender.interface.map_or(0, |interface| interface.burst));
    let endpoints = &layout.endpoints;
    let queues = || HostQueues::new(layout.topology.links.len(), endpoints.iter().map(limits).collect());
    endpoints.iter().any(matters).then(|| Box::new(queues()))
}

/// The traffic groups, each with its hosts.
fn groups(scenario: &Scenario, layout: &Layout, seed: u64) -> Result<Vec<Group>, SpecError> {
    let mut groups = Vec::new();
    for (i, (group, Cast { senders, receivers })) in scenario.traffic.iter().zip(&layout.casts).enumerate() {
        let place = Place { topology: &layout.topology, senders, receivers, files: &scenario.files };
        groups.push(Group {
            name: group.name.clone(),
            traffic: (cast::traffic_row(group).build)(&group.values, &place)?,
            stream: Stream::named(seed, &format!("traffic/{}", group.name)),
            senders: senders.clone(),
            receivers: receivers.clone(),
            endpoint: GroupId::new(i).index(),
            hurry: group.values.time("deadline"),
            announces_size: group.values.flag("announce-size"),
            waits: group.values.is_steady("start"),
            origin: Time::ZERO,
            queries: Vec::new(),
            wakes: 0,
            delivered_before: 0,
            delivered_by_completion: 0,
            connections: BTreeMap::new(),
        });
    }
    Ok(groups)
}
