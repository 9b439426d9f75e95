//! Workers at edge switches, and a root switch with the aggregator (DT-CWA Fig. 5).
//!
//! Every response crosses three cables. The root's port to the aggregator is the bottleneck; its buffer is
//! `network.buffer`.
//
// READING: D11 DT-CWA gives 25 us for each link and a round trip of 100 us, but three links and back take 150 us. The
// topology's default is the delay of a link; the experiments keep the round trip, `network.delay = "16667ns"`.
// READING: D12 There are nine workers and up to 60 flows, which are placed round-robin: `placement = "round-robin"`.
// READING: D15 The 128 KB of switch 1 are per port: `network.buffer = "128KB"` under static admission.

use super::racks::assign;
use super::{Demand, MAX_PORTS, Tier, Topology, TopologyRow, together};
use fanin_core::ids::LinkId;
use fanin_param::{Kind, Param, Rule, SpecError, Values};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "tree",
    summary: "Workers behind edge switches, all joined to the root switch of the aggregator.",
    params: &[
        Param::new("edge-switches", Kind::Integer, "3", "Number of edge switches.", "DT-CWA Fig. 5: three")
            .at_least(1.0)
            .at_most(1024.0),
        Param::new("hosts-per-edge", Kind::Integer, "3", "Workers of an edge switch.", "DT-CWA Fig. 5: three")
            .at_least(1.0)
            .at_most(4096.0),
        Param::new(
            "uplink-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cables between edge switches and root; rate is that of the hosts.",
            "DT-CWA section 3: 1 Gbps, as at the hosts; with three hosts it is oversubscribed 3 to 1",
        )
        .by(Rule::Times(1, "rate")),
        Param::new(
            "edge-buffer",
            Kind::Size,
            "512KB",
            "Buffer of every port of an edge switch; 0 for the same as buffer, which is that of the root.",
            "DT-CWA section 3: 512 KB at switches 2 to 4",
        )
        .ignored_with("admission", "dynamic-threshold")
        .reading("D15"),
        Param::new(
            "sender-placement",
            Kind::Choice(&["spread", "packed"]),
            "spread",
            "Order in which workers become senders: one of every edge switch in turn, or one switch after the other.",
            "DT-CWA section 3: senders send through different switches",
        )
        .reading("D12"),
    ],
    build,
};

fn build(values: &Values, demand: &Demand) -> Result<Topology, SpecError> {
    let (rate, delay) = (values.rate("rate"), values.time("delay"));
    let (edges, hosts) = (values.integer("edge-switches") as usize, values.integer("hosts-per-edge") as usize);
    if edges * hosts + demand.receivers > MAX_PORTS {
        return Err(values.fail("hosts-per-edge", format!("gives {} hosts, more than {MAX_PORTS}", edges * hosts)));
    }
    let mut topology = Topology::new(LinkId::default());
    let root = topology.add_switch("root".to_owned());
    let receivers: Vec<_> = (0..demand.receivers.max(1)).map(|_| topology.add_host(root, rate, delay)).collect();
    let mut racks = vec![receivers.clone()];
    for edge in 0..edges {
        let switch = topology.add_switch(format!("edge-{edge}"));
        topology.add_cable_of("uplink", switch, root, values.rate("uplink-rate"), delay);
        racks.push((0..hosts).map(|_| topology.add_host(switch, rate, delay)).collect());
        topology.set_buffer(switch, "edge-buffer");
    }
    let out = values.rate("uplink-rate");
    topology.tiers = vec![Tier { ends: ["edge", "root"], below: together(hosts, rate), out }];
    assign(&mut topology, racks, receivers, values, demand, "hosts-per-edge")?;
    Ok(topology)
}
