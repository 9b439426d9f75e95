//! Senders on one switch, receivers on another, one cable between them (SDTCP Fig. 8).

use super::{Demand, NodeKind, SENDER_HOSTS, Tier, Topology, TopologyRow, sender_hosts, together};
use fanin_core::ids::LinkId;
use fanin_param::{Kind, Param, Rule, SpecError, Values};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "two-switch",
    summary: "Senders on one switch, receivers on another; the cable between them is the bottleneck.",
    params: &[
        SENDER_HOSTS,
        Param::new("receiver-hosts", Kind::Integer, "2", "Number of receiving hosts, at least.", "SDTCP Fig. 8: two")
            .at_least(1.0),
        Param::new(
            "trunk-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cable between the switches.",
            "SDTCP section 5.1: 1 Gbps, as at the hosts; it is oversubscribed by the number of senders",
        )
        .by(Rule::Times(1, "rate")),
    ],
    build,
};

fn build(values: &Values, demand: &Demand) -> Result<Topology, SpecError> {
    let (rate, delay) = (values.rate("rate"), values.time("delay"));
    let senders = sender_hosts(values, demand)?;
    // The trunk is the first cable, and its first direction leads to the receivers.
    let mut topology = Topology::new(LinkId::new(0));
    let near = topology.add_node(NodeKind::Switch);
    let far = topology.add_node(NodeKind::Switch);
    topology.add_cable_of("trunk", near, far, values.rate("trunk-rate"), delay);
    for _ in 0..demand.receivers.max(values.integer("receiver-hosts") as usize) {
        let host = topology.add_host(far, rate, delay);
        topology.receivers.push(host);
    }
    for _ in 0..senders {
        let host = topology.add_host(near, rate, delay);
        topology.senders.push(host);
    }
    let out = values.rate("trunk-rate");
    topology.tiers = vec![Tier { ends: ["switch", "switch"], below: together(senders, rate), out }];
    Ok(topology)
}
