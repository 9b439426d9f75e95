//! The k-ary fat tree of Al-Fares et al. 2008, and the irregular ones of PFDCT's experiments.
//!
//! Each of the k pods has k/2 edge and k/2 aggregation switches, each edge switch has k/2 hosts, and (k/2)^2 cores join
//! the pods. Each of these numbers can be set separately.
//
// READING: P21 PFDCT's section 4 has 250 servers behind 50 edge switches, with up to 20 per switch: `pods = 10` with
// its default of five hosts per edge switch. Its section 5.3 has 160 servers, four pods, two aggregation switches per
// pod and eight cores, but no number of edge switches: `pods = 4`, `aggregations-per-pod = 2`, `edges-per-pod = 4`,
// `hosts-per-edge = 10`, `cores = 8`.

use super::TopologyRow;
use super::layers::{CORE_DELAY, Layers, UPLINK_DELAY};
use super::racks::{RECEIVER_PLACEMENT, SENDER_PLACEMENT};
use fanin_param::{Kind, Param, Rule};

pub(super) const ROW: TopologyRow = TopologyRow {
    key: "fat-tree",
    summary: "Three tiers: hosts behind edge switches, aggregation switches in pods, cores that join the pods.",
    params: &[
        Param::new("pods", Kind::Integer, "4", "Number of pods: the k of a k-ary fat tree.", "Al-Fares et al. 2008")
            .at_least(2.0)
            .at_most(64.0),
        Param::new(
            "edges-per-pod",
            Kind::Integer,
            "0",
            "Edge switches of a pod, one for each rack; 0 for half the number of pods.",
            "Al-Fares et al. 2008, section 3",
        )
        .at_most(1024.0)
        .reading("P21"),
        Param::new(
            "aggregations-per-pod",
            Kind::Integer,
            "0",
            "Aggregation switches of a pod; 0 for half the number of pods.",
            "Al-Fares et al. 2008, section 3",
        )
        .at_most(256.0)
        .reading("P21"),
        Param::new(
            "hosts-per-edge",
            Kind::Integer,
            "0",
            "Hosts of an edge switch; 0 for half the number of pods.",
            "Al-Fares et al. 2008, section 3",
        )
        .at_most(4096.0)
        .reading("P21"),
        Param::new(
            "cores",
            Kind::Integer,
            "0",
            "Cores, divided evenly among the aggregation switches of a pod; 0 for half the number of pods for each.",
            "Al-Fares et al. 2008, section 3",
        )
        .at_most(4096.0)
        .reading("P21"),
        Param::new(
            "uplink-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cables between edge and aggregation switches; rate is that of the hosts.",
            "PFDCT, section 5.3: 1 Gbps, as at the hosts; the k-ary tree is then not oversubscribed (1 to 1)",
        )
        .by(Rule::Times(1, "rate")),
        Param::new(
            "core-rate",
            Kind::Rate,
            "1Gbps",
            "Rate of the cables between aggregation switches and cores.",
            "PFDCT, section 4: 1 Gbps, as at the hosts; section 5.3 has 10 Gbps",
        )
        .by(Rule::Times(1, "uplink-rate")),
        Param::new(
            "aggregation-buffer",
            Kind::Size,
            "0pkt",
            "Buffer of every port of an aggregation switch; 0 for the same as buffer, which is that of the edges.",
            "PFDCT, section 5.3: 100 packets at both",
        )
        .ignored_with("admission", "dynamic-threshold"),
        Param::new(
            "core-buffer",
            Kind::Size,
            "0pkt",
            "Buffer of every port of a core; 0 for the same as buffer.",
            "PFDCT, section 4: the same; section 5.3 has 250 packets",
        )
        .ignored_with("admission", "dynamic-threshold"),
        UPLINK_DELAY,
        CORE_DELAY,
        SENDER_PLACEMENT,
        RECEIVER_PLACEMENT,
    ],
    build: |values, demand| {
        let pods = values.integer("pods") as usize;
        let number = |key: &str, regular: usize| match values.integer(key) as usize {
            0 => regular,
            given => given,
        };
        let spines = number("aggregations-per-pod", pods / 2);
        let layers = Layers {
            pods,
            leaves: number("edges-per-pod", pods / 2),
            spines,
            cores: number("cores", spines * (pods / 2)),
            hosts: number("hosts-per-edge", pods / 2),
            parallel: 1,
            uplink_rate: values.rate("uplink-rate"),
            core_rate: values.rate("core-rate"),
            names: ["edge", "aggregation", "core"],
            buffers: ["aggregation-buffer", "core-buffer"],
            hosts_key: "hosts-per-edge",
        };
        layers.build(values, demand, "pods")
    },
};
