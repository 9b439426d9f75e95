//! Folded Clos networks: leaves, spines that join the leaves of a pod, and cores that join pods.
//!
//! Several topologies are forms of this one. Every leaf has one or more cables to every spine of its pod. There are as
//! many groups of cores as spines in a pod; the `i`-th spine of every pod has a cable to every core of the `i`-th group
//! (Al-Fares et al. 2008). Flows take one of the shortest paths.

use super::racks::{assign, receivers};
use super::{Demand, MAX_PORTS, NodeKind, Tier, Topology, together};
use fanin_core::ids::{LinkId, NodeId};
use fanin_core::units::{Rate, Time};
use fanin_param::{Kind, Param, SpecError, Values};

/// The key of the spines' buffer.
pub(super) const SPINE_BUFFER: Param = Param::new(
    "spine-buffer",
    Kind::Size,
    "0pkt",
    "Buffer of every port of a spine; 0 for the same as buffer, which is that of the leaves.",
    "the same everywhere",
)
.ignored_with("admission", "dynamic-threshold");

/// The delay of the first tier of cables between switches.
pub(super) const UPLINK_DELAY: Param = Param::new(
    "uplink-delay",
    Kind::Time,
    "0s",
    "Propagation delay of the cables of uplink-rate, one way; 0s for the same as delay.",
    "the same everywhere, as in the papers",
);

/// The delay of the second tier of cables between switches.
pub(super) const CORE_DELAY: Param = Param::new(
    "core-delay",
    Kind::Time,
    "0s",
    "Propagation delay of the cables of core-rate, one way; 0s for the same as delay.",
    "the same everywhere, as in the papers",
);

/// The dimensions of a folded Clos network.
pub(super) struct Layers {
    pub(super) pods: usize,
    /// Leaves per pod.
    pub(super) leaves: usize,
    /// Spines per pod.
    pub(super) spines: usize,
    /// Cores of the whole network; zero with a single pod.
    pub(super) cores: usize,
    /// Hosts per leaf.
    pub(super) hosts: usize,
    /// Parallel cables between two joined switches.
    pub(super) parallel: usize,
    pub(super) uplink_rate: Rate,
    pub(super) core_rate: Rate,
    /// Names of leaves, spines and cores.
    pub(super) names: [&'static str; 3],
    /// Keys of the buffers of spines and cores.
    pub(super) buffers: [&'static str; 2],
    /// The key that an error names if there are too few or too many hosts.
    pub(super) hosts_key: &'static str,
}

/// Maximum number of shortest paths between two hosts: each is stored as a list of links.
pub(super) const MOST_PATHS: usize = 16_384;
/// Maximum number of cables between switches.
const MOST_TRUNKS: usize = 1 << 20;

impl Layers {
    /// Number of cores in a group, which are those that a spine is joined to.
    fn group(&self) -> usize {
        self.cores / self.spines
    }

    /// Half of the capacity of the tier that has the least.
    fn bisection(&self, rate: Rate) -> Rate {
        let all = |cables: usize, rate: Rate| cables as u64 * rate.bps() / 2;
        let leaves = self.pods * self.leaves;
        let hosts = all(leaves * self.hosts, rate);
        let uplinks = all(leaves * self.spines * self.parallel, self.uplink_rate);
        let cores = if self.pods > 1 { all(self.pods * self.cores * self.parallel, self.core_rate) } else { u64::MAX };
        Rate::from_bps(hosts.min(uplinks).min(cores))
    }

    /// The tiers above a rack and, if there are several pods, above a pod.
    fn tiers(&self, rate: Rate) -> Vec<Tier> {
        let [leaf, spine, core] = self.names;
        let rack = Tier {
            ends: [leaf, spine],
            below: together(self.hosts, rate),
            out: together(self.spines * self.parallel, self.uplink_rate),
        };
        let pod = Tier {
            ends: [spine, core],
            below: together(self.leaves * self.hosts, rate),
            out: together(self.cores * self.parallel, self.core_rate),
        };
        if self.pods > 1 { vec![rack, pod] } else { vec![rack] }
    }

    fn check(&self, values: &Values, key: &str) -> Result<(), SpecError> {
        if self.pods > 1 && (self.cores == 0 || !self.cores.is_multiple_of(self.spines)) {
            let message = format!(
                "{} cores cannot be divided evenly among the {} {} switches of a pod",
                self.cores, self.spines, self.names[1]
            );
            return Err(values.fail("cores", message));
        }
        let hosts = self.pods * self.leaves * self.hosts;
        if hosts > MAX_PORTS {
            return Err(values.fail(self.hosts_key, format!("gives {hosts} hosts, more than {MAX_PORTS}")));
        }
        let trunks = self.pods * self.spines * (self.leaves + self.group()) * self.parallel;
        let hops = if self.pods > 1 { 4 } else { 2 };
        let paths = self.spines * self.group().max(1) * self.parallel.pow(hops);
        if trunks > MOST_TRUNKS || paths > MOST_PATHS {
            let message =
                format!("gives {trunks} cables between switches and {paths} paths between two hosts: too many");
            return Err(values.fail(key, message));
        }
        Ok(())
    }

    /// Builds the network; `key` is the parameter that an error names if it is too large.
    pub(super) fn build(&self, values: &Values, demand: &Demand, key: &str) -> Result<Topology, SpecError> {
        self.check(values, key)?;
        let (rate, delay) = (values.rate("rate"), values.time("delay"));
        let delay_of = |tier: &Param| match values.time(tier.key) {
            Time::ZERO => delay,
            other => other,
        };
        // The bottleneck is set once the receivers are known.
        let mut topology = Topology::new(LinkId::default());
        let mut racks = Vec::new();
        for pod in 0..self.pods {
            for leaf in 0..self.leaves {
                let switch = topology.add_switch(format!("{}-{}", self.names[0], pod * self.leaves + leaf));
                racks.push((0..self.hosts).map(|_| topology.add_host(switch, rate, delay)).collect::<Vec<_>>());
            }
        }
        let leaves = switches(&topology);
        for pod in 0..self.pods {
            for spine in 0..self.spines {
                let switch = topology.add_switch(format!("{}-{}", self.names[1], pod * self.spines + spine));
                for leaf in &leaves[pod * self.leaves..(pod + 1) * self.leaves] {
                    self.join(&mut topology, "uplink", [*leaf, switch], self.uplink_rate, delay_of(&UPLINK_DELAY));
                }
            }
        }
        let spines = switches(&topology).split_off(leaves.len());
        let cores = if self.pods > 1 { self.cores } else { 0 };
        for core in 0..cores {
            let switch = topology.add_switch(format!("{}-{core}", self.names[2]));
            for pod in 0..self.pods {
                let spine = spines[pod * self.spines + core / self.group()];
                self.join(&mut topology, "core", [spine, switch], self.core_rate, delay_of(&CORE_DELAY));
            }
            topology.set_buffer(switch, self.buffers[1]);
        }
        for spine in spines {
            topology.set_buffer(spine, self.buffers[0]);
        }
        topology.pods = self.pods;
        topology.bisection = Some(self.bisection(rate));
        topology.tiers = self.tiers(rate);
        let receivers = receivers(&racks, values, demand);
        assign(&mut topology, racks, receivers, values, demand, self.hosts_key)?;
        Ok(topology)
    }

    fn join(&self, topology: &mut Topology, tier: &'static str, ends: [NodeId; 2], rate: Rate, delay: Time) {
        for _ in 0..self.parallel {
            topology.add_cable_of(tier, ends[0], ends[1], rate, delay);
        }
    }
}

/// The switches added so far, in order.
fn switches(topology: &Topology) -> Vec<NodeId> {
    let nodes = topology.nodes.iter().enumerate();
    nodes.filter(|(_, kind)| **kind == NodeKind::Switch).map(|(node, _)| NodeId::new(node)).collect()
}
