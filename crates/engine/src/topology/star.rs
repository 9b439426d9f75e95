//! All hosts on one switch: the last hop of every incast experiment.

use super::{Demand, NodeKind, SENDER_HOSTS, Topology, TopologyRow, sender_hosts};
use crate::ids::LinkId;
use crate::spec::{Params, SpecError};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "star",
    summary: "All hosts on one switch; the port of the first receiver is the bottleneck.",
    params: &[SENDER_HOSTS],
    build,
};

fn build(params: &Params, demand: &Demand) -> Result<Topology, SpecError> {
    let (rate, delay) = (params.rate("rate"), params.time("delay"));
    let senders = sender_hosts(params, demand)?;
    // The first cable added below is the first receiver's; its second direction starts at the switch.
    let mut topology = Topology::new(LinkId::new(1));
    let switch = topology.add_node(NodeKind::Switch);
    for _ in 0..demand.receivers.max(1) {
        let host = topology.add_host(switch, rate, delay);
        topology.receivers.push(host);
    }
    for _ in 0..senders {
        let host = topology.add_host(switch, rate, delay);
        topology.senders.push(host);
    }
    Ok(topology)
}
