//! What is known of a run before it begins: the network as it is laid out, and how much traffic to expect.

use super::world::World;
use crate::spec::Scenario;
use crate::topology::NodeKind;
use crate::traffic::{Bounds, Forecast, Offered};

/// A scenario as it is laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// Hosts of the network.
    pub hosts: usize,
    /// Its switches.
    pub switches: usize,
    /// Ports of the switches.
    pub ports: usize,
    /// The traffic groups, in file order.
    pub groups: Vec<GroupPreview>,
}

/// What to expect of a traffic group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPreview {
    /// Its name.
    pub name: String,
    /// How many transfers.
    pub forecast: Forecast,
    /// Mean bytes of a transfer; 0 for endless data.
    pub mean_bytes: f64,
    /// What it offers, if it is at a load.
    pub offered: Option<Offered>,
}

impl Preview {
    pub(super) fn of<C>(scenario: &Scenario, world: &World<C>) -> Self {
        let topology = &world.net.topology;
        let is_switch = |kind: &NodeKind| *kind == NodeKind::Switch;
        let switches = topology.nodes.iter().filter(|kind| is_switch(kind)).count();
        let network = &scenario.network.values;
        let bounds = Bounds {
            duration: scenario.run.time("duration"),
            rate: network.rate("rate").bps() as f64,
            // A handshake and the data: three times over two links at least.
            least: network.time("delay") * 6,
            rto: scenario.transport.time("rto-min"),
            groups: world.work.groups.len(),
        };
        let groups = world.work.groups.iter().map(|group| {
            let outlook = group.traffic.outlook();
            GroupPreview {
                name: group.name.clone(),
                forecast: outlook.forecast(&bounds),
                mean_bytes: outlook.mean,
                offered: group.traffic.offered(),
            }
        });
        Self {
            hosts: topology.nodes.len() - switches,
            switches,
            ports: topology.links.iter().filter(|link| is_switch(&topology.nodes[link.from.index()])).count(),
            groups: groups.collect(),
        }
    }
}
