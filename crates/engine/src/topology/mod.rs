//! Topologies: nodes, links and the paths between hosts.

use crate::spec::Param;

/// A topology that a scenario can name.
#[derive(Debug)]
pub struct TopologyRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of the `[network]` table beyond those that every topology has.
    pub params: &'static [Param],
}

/// Every topology.
pub const REGISTRY: &[TopologyRow] = &[TopologyRow { key: "star", summary: "All hosts on one switch.", params: &[] }];
