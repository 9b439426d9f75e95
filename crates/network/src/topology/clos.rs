//! A Clos network of two or three tiers with parallel cables, as used for load balancing by Presto and RCCE.
//!
//! With one pod there are two tiers, and the number of spanning trees that share no cable between switches is the
//! number of spines times that of parallel cables (He et al. 2015, section 3.1). More pods are joined by cores.

use super::TopologyRow;
use super::layers::{CORE_DELAY, Layers, SPINE_BUFFER, UPLINK_DELAY};
use super::racks::{RECEIVER_PLACEMENT, SENDER_PLACEMENT};
use fanin_param::{Kind, Param, Rule};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "clos",
    summary: "Two or three tiers of switches with parallel cables between them.",
    params: &[
        Param::new("pods", Kind::Integer, "1", "Number of pods; one has no cores.", "He et al. 2015: two tiers")
            .at_least(1.0)
            .at_most(64.0),
        Param::new(
            "leaves",
            Kind::Integer,
            "4",
            "Leaves of a pod, one for each rack.",
            "He et al. 2015, section 4: four",
        )
        .at_least(1.0)
        .at_most(1024.0),
        Param::new("spines", Kind::Integer, "4", "Spines of a pod.", "He et al. 2015, section 4: four")
            .at_least(1.0)
            .at_most(256.0),
        Param::new(
            "cores",
            Kind::Integer,
            "4",
            "Cores of the network, divided evenly among the spines of a pod; of no effect with one pod.",
            "our choice: one for each spine",
        )
        .at_least(1.0)
        .at_most(1024.0),
        Param::new(
            "parallel-links",
            Kind::Integer,
            "1",
            "Cables between each two switches that are joined.",
            "He et al. 2015, section 4: one",
        )
        .at_least(1.0)
        .at_most(16.0),
        Param::new("hosts-per-leaf", Kind::Integer, "4", "Hosts of a rack.", "He et al. 2015, section 4: four")
            .at_least(1.0)
            .at_most(4096.0),
        Param::new(
            "uplink-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cables between leaves and spines; rate is that of the hosts.",
            "He et al. 2015, section 4: the same as the hosts'; 4 hosts and 4 spines are then not oversubscribed (1 to 1)",
        )
        .by(Rule::Times(1, "rate")),
        Param::new(
            "core-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cables between spines and cores.",
            "our choice: the same as the uplinks', so that a core for each spine is a quarter of what a pod of 4 leaves \
             can send (4 to 1)",
        )
        .by(Rule::Times(1, "uplink-rate")),
        SPINE_BUFFER,
        Param::new(
            "core-buffer",
            Kind::Size,
            "0pkt",
            "Buffer of every port of a core; 0 for the same as buffer.",
            "the same everywhere",
        )
        .ignored_with("admission", "dynamic-threshold"),
        UPLINK_DELAY,
        CORE_DELAY,
        SENDER_PLACEMENT,
        RECEIVER_PLACEMENT,
    ],
    build: |values, demand| {
        let layers = Layers {
            pods: values.integer("pods") as usize,
            leaves: values.integer("leaves") as usize,
            spines: values.integer("spines") as usize,
            cores: values.integer("cores") as usize,
            hosts: values.integer("hosts-per-leaf") as usize,
            parallel: values.integer("parallel-links") as usize,
            uplink_rate: values.rate("uplink-rate"),
            core_rate: values.rate("core-rate"),
            names: ["leaf", "spine", "core"],
            buffers: ["spine-buffer", "core-buffer"],
            hosts_key: "hosts-per-leaf",
        };
        layers.build(values, demand, "parallel-links")
    },
};
