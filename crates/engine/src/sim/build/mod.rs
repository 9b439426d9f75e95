//! Builds a world that can run from a checked scenario.

mod endpoint;
mod layout;
mod ports;
mod watch;

pub use watch::probe_names;

pub(crate) use layout::Substitutes;

use crate::event::order::TieBreak;
use crate::event::{CoreParts, EventCore};
use crate::host::hosts::{Endpoint, Hosts};
use crate::host::queue::HostQueues;
use crate::ids::GroupId;
use crate::measure::looks::Looks;
use crate::net::control::{Control, ControlChannel};
use crate::net::network::Network;
use crate::net::paths::Paths;
use crate::net::switch::Switches;
use crate::rng::Stream;
use crate::schemes::NetworkFacts;
use crate::sim::world::{Watch, Windows, World};
use crate::spec::{Scenario, SpecError};
use crate::traffic::Place;
use crate::units::Time;
use crate::work::cast::{self, Cast};
use crate::work::group::Group;
use crate::work::plan::Plan;
use crate::work::settling::Settling;
use layout::Layout;
use std::collections::BTreeMap;

/// Builds everything that the scenario describes: the world before its first event.
pub(crate) fn build<C: EventCore>(scenario: &Scenario, substitutes: Substitutes) -> Result<World<C>, SpecError> {
    let layout = Layout::of(scenario, substitutes)?;
    let (seed, measure) = (scenario.run.integer("seed"), &scenario.measure);
    let nodes = layout.nodes().map(|node| layout.bundle().node_state(&layout.facts(node))).collect();
    let agents: Vec<_> = layout.nodes().map(|node| layout.agent(node)).collect();
    let looked_at: Vec<bool> = agents.iter().map(|agent| agent.as_ref().is_some_and(|a| a.needs_backlog())).collect();
    let ports = ports::ports(scenario, &layout, &looked_at, seed)?;
    let books = ports::books(scenario, &layout, &ports);
    let marks_late = ports.iter().any(|port| port.discipline.acts_on_dequeue());
    let links = layout.topology.links.len();
    let ties = TieBreak::new(links, seed);
    let packet = layout.mss + u64::from(layout.header);
    let buffers = ports.iter().map(|port| port.limit.bytes(packet)).collect();
    let hosts = layout.hosts(scenario);
    let host_queues = host_queues(&layout);
    let groups = groups(scenario, &layout, seed)?;
    let (host_probes, switch_probes) = watch::probes(scenario, &layout.schemes)?;
    let capture = watch::capture(scenario, &layout.topology, &layout.endpoints);
    let crossings = watch::crossings(scenario, &layout.topology);
    let controller = layout.bundle().controller(&NetworkFacts { base_rtt: layout.base_rtt });
    let channel = ControlChannel::new(&scenario.control, layout.topology.nodes.len(), seed);
    let switches = Switches::new(agents, layout.network_scheme, Control::new(controller, channel), switch_probes);
    let sampled = measure.is("queue-trace", "sampled");
    Ok(World {
        seed,
        duration: scenario.run.time("duration"),
        end: scenario.longest(),
        net: Network {
            core: C::new(CoreParts { ports, nodes, books, ties }),
            paths: Paths::new(seed),
            rates: layout.topology.links.iter().map(|link| link.rate).collect(),
            buffers,
            header: layout.header,
            marks_late,
            sent: 0,
            watched: layout.faults.any_loss() || capture.is_some() || crossings.is_some(),
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
        },
        looks: Looks::new(links),
        windows: Windows::default(),
        hops: 0,
        events: 0,
    })
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
