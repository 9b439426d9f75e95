//! What the traffic can put on the ports of the switches, before a run: the tiers between switches with their
//! oversubscription, and the ports that the senders of a fan-in can fill.
//!
//! All paths are taken to carry equal parts, as hashing makes them on average, and all senders of a fan-in to send at
//! once. A response of a relay tree's worker to its aggregator is not counted, only what goes to the client.

use fanin_core::ids::{LinkId, NodeId};
use fanin_core::units::{Rate, Time};
use fanin_event::EventCore;
use fanin_network::topology::{LinkSpec, NodeKind, Tier, Topology, twin};
use fanin_network::traffic::TrafficGroup;
use fanin_port::spec::Limit;
use fanin_scenario::Scenario;
use fanin_work::cast::traffic_row;
use fanin_work::group::Group;
use fanin_world::World;
use std::collections::BTreeMap;

/// The loads of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// The tiers of cables between switches, from the hosts up.
    pub tiers: Vec<TierLoad>,
    /// The ports that a fan-in can fill, by group.
    pub fan_in: Vec<FanInPort>,
    /// The observed port of a switch, as one that traffic from the nearest hosts fills, and from the farthest ones.
    pub observed: Option<[FanInPort; 2]>,
}

/// A tier and what the traffic offers to it.
#[derive(Clone, Debug, PartialEq)]
pub struct TierLoad {
    /// The tier.
    pub tier: Tier,
    /// The largest load of its ports, as a share of their rate, from the groups whose arrivals do not depend on
    /// completions; none if there are no such groups.
    pub offered: Option<f64>,
    /// The port with that load.
    pub port: String,
}

/// A port that traffic can fill, such as the senders of a fan-in.
#[derive(Clone, Debug, PartialEq)]
pub struct FanInPort {
    /// The traffic group; empty for traffic of any kind.
    pub group: String,
    /// The port.
    pub port: String,
    /// Its tier; none for a port towards a receiver.
    pub tier: Option<[&'static str; 2]>,
    /// That tier as keys of its cables begin.
    pub cables: Option<&'static str>,
    /// Responses that cross it at once.
    pub responses: f64,
    /// What of theirs can arrive there together, in bit/s: what hosts send, and links on the way carry.
    pub arriving: f64,
    /// Its rate.
    pub rate: Rate,
    /// Packets of the first windows of these responses.
    pub first: f64,
    /// Bytes that it can hold while the other ports are empty.
    pub buffer: u64,
    /// Bytes of a full packet.
    pub packet: u64,
    /// The round trip of a full packet and its acknowledgement from the first sender to the receiver, without queues.
    pub rtt: Time,
}

impl Loads {
    pub(super) fn of<C: EventCore>(scenario: &Scenario, world: &mut World<C>) -> Self {
        let packet = scenario.transport.bytes("mss").get() + u64::from(world.net.header);
        let rooms: Vec<u64> = world.net.core.books().ports.iter().map(|port| room(port.limit, packet)).collect();
        let topology = &world.net.topology;
        let header = u64::from(world.net.header);
        let view = View { scenario, topology, names: topology.link_names(), rooms, packet, header };
        let mut fan_in = Vec::new();
        let mut offered: Option<Vec<f64>> = None;
        for (declared, group) in scenario.traffic.iter().zip(&world.work.groups) {
            let responses = Responses::of(declared, group);
            fan_in.extend(responses.iter().flat_map(|responses| view.fan_in(declared, group, responses)));
            if let Some(load) = group.traffic.offered() {
                let total = offered.get_or_insert_with(|| vec![0.0; view.topology.links.len()]);
                view.add_offered(total, declared, group, load.bps());
            }
        }
        let tiers = view.topology.tiers.iter().map(|tier| view.tier(tier, offered.as_deref())).collect();
        Self { tiers, fan_in, observed: view.observed() }
    }
}

/// Bytes that a port can hold while the other ports of its switch are empty.
fn room(limit: Limit, packet: u64) -> u64 {
    match limit {
        // A port holds alpha times what is free: q = alpha (M - q).
        Limit::Dynamic { memory, alpha, .. } => (memory as f64 * alpha / (1.0 + alpha)) as u64,
        limit => limit.bytes(packet),
    }
}

/// The responses of a fan-in.
struct Responses<'a> {
    /// The hosts that send them, and the share of these that sends at once.
    hosts: &'a [NodeId],
    active: f64,
    /// The number of them.
    count: f64,
    /// The hosts that may receive them.
    receivers: &'a [NodeId],
}

impl<'a> Responses<'a> {
    /// Those of a group that is a fan-in.
    fn of(declared: &TrafficGroup, group: &'a Group) -> Option<Self> {
        let (row, values) = (traffic_row(declared), &declared.values);
        let mut count = values.integer(row.fan_in?) as usize;
        for fewer in ["concurrent", "edge-count"] {
            let given = if values.has(fewer) { values.integer(fewer) as usize } else { 0 };
            count = if given > 0 { count.min(given) } else { count };
        }
        if count == 0 {
            return None;
        }
        let senders = &group.senders[..];
        // One client asks its servers in order, several clients ask random ones.
        let hosts = if row.one_client { &senders[..count.min(senders.len())] } else { senders };
        let client = (row.demand)(values).receivers.clamp(1, group.receivers.len());
        let receivers = if row.one_client { &group.receivers[client - 1..client] } else { &group.receivers[..] };
        let active = (count as f64 / hosts.len() as f64).min(1.0);
        Some(Self { hosts, active, count: count as f64, receivers })
    }
}

/// The network as the loads see it.
struct View<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    names: Vec<String>,
    /// By link, what its port can hold while the other ports are empty.
    rooms: Vec<u64>,
    /// Bytes of a full packet.
    packet: u64,
    /// Bytes of a packet without data.
    header: u64,
}

impl View<'_> {
    /// The ports that the responses of a group can fill: the one towards the receiver, and the fullest of each tier.
    fn fan_in(&self, declared: &TrafficGroup, group: &Group, responses: &Responses<'_>) -> Vec<FanInPort> {
        let to = responses.receivers[0];
        let (topology, at) = (self.topology, self.topology.rack_of(to));
        let paths = topology.shortest_paths(at);
        let mut sent = vec![0.0; topology.nodes.len()];
        for host in responses.hosts.iter().filter(|host| **host != to) {
            let uplink = &topology.links[topology.uplink(*host).index()];
            sent[uplink.to.index()] += uplink.rate.bps() as f64 * responses.active;
        }
        let last = twin(topology.uplink(to));
        let all: f64 = sent.iter().sum();
        // What a slower link before it does not carry cannot fill a port, but its responses cross it all the same.
        let rate = |link: LinkId| topology.links[link.index()].rate.bps() as f64;
        let (mut arriving, received) = topology.spread(&paths, sent.clone(), |link, part| part.min(rate(link)));
        arriving[last.index()] = received;
        let (mut crossing, _) = topology.spread(&paths, sent, |_, part| part);
        crossing[last.index()] = all;
        let mut fullest: BTreeMap<Option<usize>, LinkId> = BTreeMap::new();
        let over = |link: &LinkId| arriving[link.index()] / rate(*link);
        for link in (0..topology.links.len()).map(LinkId::new).filter(|link| over(link) > 1.0) {
            let best = fullest.entry(self.tier_of(link)).or_insert(link);
            if over(&link) > over(best) {
                *best = link;
            }
        }
        let rtt = self.round_trip(responses, to);
        let first = self.first_window(declared, group);
        let port = |(tier, link): (Option<usize>, LinkId)| FanInPort {
            group: group.name.clone(),
            port: self.names[link.index()].clone(),
            tier: tier.map(|tier| topology.tiers[tier].ends),
            cables: topology.links[link.index()].tier,
            responses: responses.count * crossing[link.index()] / all,
            arriving: arriving[link.index()],
            rate: topology.links[link.index()].rate,
            first: first * responses.count * crossing[link.index()] / all,
            buffer: self.rooms[link.index()],
            packet: self.packet,
            rtt,
        };
        fullest.into_iter().map(port).collect()
    }

    /// The observed port, if it is one of a switch, with the least and the largest round trip of a packet that crosses it.
    fn observed(&self) -> Option<[FanInPort; 2]> {
        let link = self.topology.bottleneck;
        let spec = &self.topology.links[link.index()];
        if self.topology.nodes[spec.from.index()] == NodeKind::Host {
            return None;
        }
        let (before, behind) = (self.to_hosts(spec.from, spec.to), self.to_hosts(spec.to, spec.from));
        let port = |rtt: Time| FanInPort {
            group: String::new(),
            port: self.names[link.index()].clone(),
            tier: None,
            cables: spec.tier,
            responses: 0.0,
            arriving: 0.0,
            rate: spec.rate,
            first: 0.0,
            buffer: self.rooms[link.index()],
            packet: self.packet,
            rtt,
        };
        let ends = |ways: &[Time]| Some([*ways.iter().min()?, *ways.iter().max()?]);
        let ([near, far], [nearest, farthest]) = (ends(&before)?, ends(&behind)?);
        let own = self.there_and_back(link);
        Some([port(near + own + nearest), port(far + own + farthest)])
    }

    /// What the ways with the fewest links take from a node to each host and back, none of them by way of another node.
    fn to_hosts(&self, start: NodeId, barred: NodeId) -> Vec<Time> {
        let mut found = Vec::new();
        let mut leaving = vec![Vec::new(); self.topology.nodes.len()];
        for (at, link) in self.topology.links.iter().enumerate() {
            leaving[link.from.index()].push(LinkId::new(at));
        }
        let mut seen = vec![false; self.topology.nodes.len()];
        (seen[start.index()], seen[barred.index()]) = (true, true);
        let mut reached = BTreeMap::from([(start, Time::ZERO)]);
        while !reached.is_empty() {
            let mut onward: BTreeMap<NodeId, Time> = BTreeMap::new();
            for (node, so_far) in reached {
                if self.topology.nodes[node.index()] == NodeKind::Host {
                    found.push(so_far);
                    continue;
                }
                for link in &leaving[node.index()] {
                    let (to, way) = (self.topology.end(*link), so_far + self.there_and_back(*link));
                    if !seen[to.index()] {
                        onward.entry(to).and_modify(|best| *best = way.min(*best)).or_insert(way);
                    }
                }
            }
            for node in onward.keys() {
                seen[node.index()] = true;
            }
            reached = onward;
        }
        found
    }

    /// What a full packet takes over a link, and its acknowledgement over its twin.
    fn there_and_back(&self, link: LinkId) -> Time {
        let LinkSpec { rate, delay, .. } = &self.topology.links[link.index()];
        let sent = u64::from(rate.ps_per_byte().unwrap_or(0)) * (self.packet + self.header);
        *delay * 2 + Time::from_ps(sent)
    }

    /// Packets of the first window of a response.
    fn first_window(&self, declared: &TrafficGroup, group: &Group) -> f64 {
        let transport = self.scenario.transport_of(declared.scheme.unwrap_or(self.scenario.scheme_key()));
        let mss = transport.bytes("mss").get();
        let window = transport.window("initial-window").bytes(mss) as f64;
        let bytes = window.min(group.traffic.outlook().mean);
        (bytes / mss as f64).ceil()
    }

    /// Propagation and transmission of a full packet to `to`, and of its acknowledgement back.
    fn round_trip(&self, responses: &Responses<'_>, to: NodeId) -> Time {
        let topology = self.topology;
        let Some(from) = responses.hosts.iter().find(|host| **host != to) else { return Time::ZERO };
        let paths = topology.shortest_paths(topology.rack_of(to));
        if paths.count(topology.rack_of(*from)) == 0 {
            return Time::ZERO;
        }
        let path = topology.path(&paths, *from, to, 0);
        let bytes = self.packet + self.header;
        let sent = path.iter().map(|link| topology.links[link.index()].rate.ps_per_byte().unwrap_or(0));
        let sent: u64 = sent.map(|each| u64::from(each) * bytes).sum();
        topology.base_rtt(&path) + Time::from_ps(sent)
    }

    /// The tier of a link, in any direction; none for a cable of a host.
    fn tier_of(&self, link: LinkId) -> Option<usize> {
        let name = &self.names[link.index()];
        let (from, to) = name.split_once("->")?;
        let ends = [from, to].map(|node| node.split('-').next().unwrap_or(node));
        self.topology.tiers.iter().position(|tier| {
            let [low, high] = tier.ends;
            ends == [low, high] || ends == [high, low]
        })
    }

    /// Adds what a group offers to each link, in bit/s.
    fn add_offered(&self, total: &mut [f64], declared: &TrafficGroup, group: &Group, bps: f64) {
        let topology = self.topology;
        let values = &declared.values;
        let in_rack = if values.has("in-rack") { values.number("in-rack") } else { 0.0 };
        let in_turn = values.has("pairs") && values.is("pairs", "in-turn");
        let each = bps / group.receivers.len() as f64;
        let mut by_rack: BTreeMap<NodeId, Vec<f64>> = BTreeMap::new();
        for (i, to) in group.receivers.iter().enumerate() {
            let rack = topology.rack_of(*to);
            let sent = by_rack.entry(rack).or_insert_with(|| vec![0.0; topology.nodes.len()]);
            let own = |host: &&NodeId| **host != *to;
            let from: Vec<NodeId> = if in_turn {
                group.senders.iter().skip(i % group.senders.len()).step_by(group.receivers.len()).copied().collect()
            } else {
                group.senders.iter().filter(own).copied().collect()
            };
            let near = if from.iter().any(|host| topology.rack_of(*host) == rack) { in_rack } else { 0.0 };
            sent[rack.index()] += each * near;
            for host in &from {
                sent[topology.rack_of(*host).index()] += each * (1.0 - near) / from.len() as f64;
            }
            total[twin(topology.uplink(*to)).index()] += each;
        }
        for (rack, sent) in by_rack {
            let (carried, _) = topology.spread(&topology.shortest_paths(rack), sent, |_, part| part);
            total.iter_mut().zip(carried).for_each(|(total, carried)| *total += carried);
        }
    }

    /// A tier with the largest of its ports' loads.
    fn tier(&self, tier: &Tier, offered: Option<&[f64]>) -> TierLoad {
        let links = (0..self.topology.links.len()).map(LinkId::new);
        let mine = links.filter(|link| self.tier_of(*link).is_some_and(|i| self.topology.tiers[i] == *tier));
        let load = |link: LinkId| {
            let rate = self.topology.links[link.index()].rate.bps() as f64;
            offered.map(|offered| (offered[link.index()] / rate, link))
        };
        let most = mine.filter_map(load).max_by(|a, b| a.0.total_cmp(&b.0));
        TierLoad {
            tier: *tier,
            offered: most.map(|(load, _)| load),
            port: most.map_or_else(String::new, |(_, link)| self.names[link.index()].clone()),
        }
    }
}
