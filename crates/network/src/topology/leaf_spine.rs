//! Leaves with their hosts, each joined to every spine by one cable.

use super::TopologyRow;
use super::layers::{Layers, SPINE_BUFFER, UPLINK_DELAY};
use super::racks::{RECEIVER_PLACEMENT, SENDER_PLACEMENT};
use fanin_param::{Kind, Param, Rule};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "leaf-spine",
    summary: "Racks of hosts behind leaves, each leaf joined to every spine; paths are chosen per flow.",
    params: &[
        Param::new("leaves", Kind::Integer, "4", "Number of leaves, one for each rack.", "our choice: a small pod")
            .at_least(2.0)
            .at_most(1024.0),
        Param::new(
            "spines",
            Kind::Integer,
            "2",
            "Number of spines.",
            "our choice: the smallest number with several paths",
        )
        .at_least(1.0)
        .at_most(256.0),
        Param::new("hosts-per-leaf", Kind::Integer, "16", "Number of hosts of a rack.", "our choice: a small rack")
            .at_least(1.0)
            .at_most(4096.0),
        Param::new(
            "uplink-rate",
            Kind::Rate,
            "10Gbps",
            "Rate of the cables between leaves and spines; rate is that of the hosts.",
            "Alizadeh et al. 2010, section 4: hosts at 1 Gbps, uplinks at 10 Gbps; 16 hosts and 2 spines are then not \
             oversubscribed (0.8 to 1)",
        )
        .by(Rule::Times(10, "rate")),
        SPINE_BUFFER,
        UPLINK_DELAY,
        SENDER_PLACEMENT,
        RECEIVER_PLACEMENT,
    ],
    build: |values, demand| {
        let layers = Layers {
            pods: 1,
            leaves: values.integer("leaves") as usize,
            spines: values.integer("spines") as usize,
            cores: 0,
            hosts: values.integer("hosts-per-leaf") as usize,
            parallel: 1,
            uplink_rate: values.rate("uplink-rate"),
            core_rate: values.rate("uplink-rate"),
            names: ["leaf", "spine", "core"],
            buffers: ["spine-buffer", "spine-buffer"],
            hosts_key: "hosts-per-leaf",
        };
        layers.build(values, demand, "spines")
    },
};
