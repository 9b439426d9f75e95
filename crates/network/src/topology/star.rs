//! All hosts on one switch, as at the last hop of an incast.

use super::{Demand, NodeKind, SENDER_HOSTS, Topology, TopologyRow, sender_hosts};
use fanin_core::ids::LinkId;
use fanin_param::{SpecError, Values};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "star",
    summary: "All hosts on one switch; the port of the first receiver is the bottleneck.",
    params: &[SENDER_HOSTS],
    build,
};

fn build(values: &Values, demand: &Demand) -> Result<Topology, SpecError> {
    let (rate, delay) = (values.rate("rate"), values.time("delay"));
    let senders = sender_hosts(values, demand)?;
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
