//! A preview of a run: the size of the network and the expected traffic.

use fanin_event::EventCore;
use fanin_network::topology::NodeKind;
use fanin_network::traffic::{Bounds, Forecast, Offered};
use fanin_port::spec::Limit;
use fanin_scenario::Scenario;
use fanin_world::World;
use std::collections::BTreeMap;

/// The preview of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// Hosts of the network.
    pub hosts: usize,
    /// Switches of the network.
    pub switches: usize,
    /// Ports of the switches.
    pub ports: usize,
    /// Full packets that the buffers of all these ports hold together; memory that ports share counts once.
    pub buffered: u64,
    /// The traffic groups, in file order.
    pub groups: Vec<GroupPreview>,
    /// About how many seconds of one core the run takes in the Linux kernel, if it takes place there.
    pub kernel_s: Option<f64>,
    /// The memory that its machine gets there, in MiB.
    pub kernel_mib: Option<u64>,
}

/// The expected traffic of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPreview {
    /// Its name.
    pub name: String,
    /// Expected number of transfers.
    pub forecast: Forecast,
    /// Mean bytes of a transfer; 0 for endless data.
    pub mean_bytes: f64,
    /// Its offered load, if it has one.
    pub offered: Option<Offered>,
}

impl Preview {
    pub(super) fn of<C: EventCore>(scenario: &Scenario, world: &mut World<C>) -> Self {
        let packet = scenario.transport.bytes("mss").get() + u64::from(world.net.header);
        let buffered = buffered(world.net.core.books().ports.iter().map(|port| port.limit), packet);
        let topology = &world.net.topology;
        let is_switch = |kind: &NodeKind| *kind == NodeKind::Switch;
        let switches = topology.nodes.iter().filter(|kind| is_switch(kind)).count();
        let network = &scenario.network.values;
        let bounds = Bounds {
            duration: scenario.run.time("duration"),
            rate: network.rate("rate").bps() as f64,
            // Handshake and data cross at least two links three times.
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
            buffered,
            groups: groups.collect(),
            kernel_s: None,
            kernel_mib: None,
        }
    }
}

/// Full packets that fit in the buffers of ports with these limits. Interfaces of hosts have none.
fn buffered(limits: impl Iterator<Item = Limit>, packet: u64) -> u64 {
    let mut pools = BTreeMap::new();
    let mut own = 0_u64;
    for limit in limits {
        match limit {
            Limit::Unlimited => {}
            Limit::Dynamic { pool, memory, .. } => {
                pools.insert(pool, memory / packet);
            }
            limit => own = own.saturating_add(limit.bytes(packet) / packet),
        }
    }
    pools.into_values().fold(own, u64::saturating_add)
}
