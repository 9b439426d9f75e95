//! The network of a scenario as nodes and links, for whoever draws it.

use fanin_core::units::{Rate, Time};
use fanin_event::EventCore;
use fanin_network::topology::NodeKind;
use fanin_world::World;

/// The network of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkMap {
    /// Its nodes; handles of tables are indices into them.
    pub nodes: Vec<MapNode>,
    /// Its links, in the order of the table of links.
    pub links: Vec<MapLink>,
}

/// A node of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapNode {
    /// Its name.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// `sender` or `receiver`; none for a switch, and for hosts that are numbered.
    pub role: Option<&'static str>,
}

/// One direction of a cable, with the port that sends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct MapLink {
    /// Its name.
    pub name: String,
    /// Index of the node whose port sends on it.
    pub from: usize,
    /// Index of the node where it ends.
    pub to: usize,
    /// Its rate at the start of the run.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
    /// Bytes that its port holds; none if they are not limited.
    pub buffer: Option<u64>,
    /// Key of `[network]` for the buffer of its port. If its value is 0, `buffer` applies.
    pub buffer_key: &'static str,
    /// Its tier, with which keys of its cables begin; none for a cable of a host.
    pub tier: Option<&'static str>,
    /// Whether incast is expected at its port.
    pub bottleneck: bool,
}

impl NetworkMap {
    pub(super) fn of<C: EventCore>(world: &World<C>) -> Self {
        let topology = &world.net.topology;
        let kinds = topology.nodes.iter().copied();
        let named = topology.names().into_iter().zip(kinds);
        let mut nodes: Vec<MapNode> = named.map(|(name, kind)| MapNode { name, kind, role: None }).collect();
        for (role, hosts) in topology.roles() {
            for host in hosts {
                nodes[host.index()].role = Some(role);
            }
        }
        let links = topology.link_names().into_iter().enumerate().map(|(i, name)| {
            let (link, buffer) = (&topology.links[i], world.net.buffers[i]);
            MapLink {
                name,
                from: link.from.index(),
                to: link.to.index(),
                rate: link.rate,
                delay: link.delay,
                buffer: (buffer < u64::MAX).then_some(buffer),
                buffer_key: link.buffer,
                tier: link.tier,
                bottleneck: i == topology.bottleneck.index(),
            }
        });
        Self { nodes, links: links.collect() }
    }
}
