//! Selects the hosts in racks that send and receive.

use super::{Demand, NodeKind, Topology, twin};
use fanin_core::ids::NodeId;
use fanin_core::rng::Stream;
use fanin_param::{Kind, Param, SpecError, Values};

/// The parameter of the senders' locations.
pub(super) const SENDER_PLACEMENT: Param = Param::new(
    "sender-placement",
    Kind::Choice(&["spread", "packed", "local", "random"]),
    "spread",
    "Order in which hosts become senders: one of every rack in turn, or rack after rack, both without the rack of \
     the first receiver. Or that receiver's own rack before the others, or a random order (by the seed).",
    "our choice: responses meet at the receiver's port and not before",
);

/// The parameter that [`receivers`] reads.
pub(super) const RECEIVER_PLACEMENT: Param = Param::new(
    "receiver-placement",
    Kind::Choice(&["packed", "spread", "random"]),
    "packed",
    "Placement of receivers: from the first rack on, one in every rack in turn, or on random hosts (by the seed).",
    "our choice: an incast has its receivers in one rack",
);

impl Topology {
    /// Selects random senders or receivers if the scenario says so, from a stream of the run's seed.
    pub fn place_at_random(&mut self, values: &Values, stream: &mut Stream) {
        let random = |param: &Param| values.has(param.key) && values.choice(param.key) == "random";
        if random(&RECEIVER_PLACEMENT) {
            let mut hosts = [&self.receivers[..], &self.senders[..]].concat();
            stream.shuffle(&mut hosts);
            let drawn = hosts[..self.receivers.len()].to_vec();
            // A sender on a drawn host moves to a host that receivers have left.
            let mut free = self.receivers.iter().copied().filter(|host| !drawn.contains(host)).collect::<Vec<_>>();
            free.reverse();
            for sender in self.senders.iter_mut().filter(|sender| drawn.contains(sender)) {
                *sender = free.pop().unwrap_or(*sender);
            }
            self.receivers = drawn;
            self.bottleneck = twin(self.uplink(self.receivers[0]));
        }
        if random(&SENDER_PLACEMENT) {
            stream.shuffle(&mut self.senders);
        }
    }
}

/// The receiving hosts: as many as the traffic needs, by the scenario's placement.
pub(super) fn receivers(racks: &[Vec<NodeId>], values: &Values, demand: &Demand) -> Vec<NodeId> {
    let order = if values.choice("receiver-placement") == "spread" { in_turn(racks) } else { racks.concat() };
    order.into_iter().take(demand.receivers.max(1)).collect()
}

/// Makes `receivers` the receivers and all other hosts of the racks senders. The first rack is that of the first
/// receiver. `key` is the parameter that an error names if there are too few hosts.
pub(super) fn assign(
    topology: &mut Topology,
    mut racks: Vec<Vec<NodeId>>,
    receivers: Vec<NodeId>,
    values: &Values,
    demand: &Demand,
    key: &str,
) -> Result<(), SpecError> {
    let mut receives = vec![false; topology.nodes.len()];
    for host in &receivers {
        receives[host.index()] = true;
    }
    for rack in &mut racks {
        rack.retain(|host| !receives[host.index()]);
    }
    let (home, others) = racks.split_at(1);
    let (home, others) = (home.concat(), others.to_vec());
    // Not every topology has every choice.
    topology.senders = match values.choice("sender-placement") {
        "local" => [home, in_turn(&others)].concat(),
        "packed" => [others.concat(), home].concat(),
        _ => [in_turn(&others), home].concat(),
    };
    topology.receivers = receivers;
    let hosts = topology.nodes.iter().filter(|kind| **kind == NodeKind::Host).count();
    if topology.receivers.len() < demand.receivers || topology.senders.len() < demand.senders.max(1) {
        let message = format!(
            "the traffic needs {} sending and {} receiving hosts of its own, and the network has {hosts} in all: \
             make it larger, or set placement = \"round-robin\" in the traffic group",
            demand.senders.max(1),
            demand.receivers.max(1)
        );
        return Err(values.fail(key, message));
    }
    topology.bottleneck = twin(topology.uplink(topology.receivers[0]));
    Ok(())
}

/// The first host of each rack, then the second hosts, and so on.
fn in_turn(racks: &[Vec<NodeId>]) -> Vec<NodeId> {
    let most = racks.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|i| racks.iter().filter_map(move |rack| rack.get(i).copied())).collect()
}
