//! What the roles of a switch share: its part of the trees, where hosts are, and the marks of its ports.

use super::message::{Place, Way};
use crate::ids::{FlowId, LinkId};
use std::collections::{BTreeMap, BTreeSet};

/// What the controller has told a switch.
#[derive(Debug, Default)]
pub(super) struct EdgeState {
    pub(super) ways: Vec<Way>,
    /// Where hosts are, by address.
    pub(super) places: BTreeMap<[u8; 4], Place>,
    /// Links to hosts with too many connections.
    pub(super) crowded: BTreeSet<LinkId>,
    /// Ports whose cables have failed.
    pub(super) down: BTreeSet<LinkId>,
    /// Data of watched connections that ports here have marked, by sequence number.
    pub(super) marked: BTreeMap<FlowId, BTreeSet<u32>>,
}

impl EdgeState {
    /// The link on which packets with a label leave, unless its cable has failed.
    pub(super) fn out(&self, label: u32) -> Option<LinkId> {
        let out = self.ways.iter().find(|way| way.label == label).map(|way| way.out);
        out.filter(|out| !self.down.contains(out))
    }

    /// The ways to the switch of a host whose cables have not failed here.
    pub(super) fn ways_to(&self, to: &Place) -> Vec<(u32, LinkId)> {
        let ways = self.ways.iter().filter(|way| way.edge == to.edge && !self.down.contains(&way.out));
        ways.map(|way| (way.label, way.out)).collect()
    }

    /// Another link for a packet whose path begins with a link by which no tree leads to its host any more.
    pub(super) fn detour(&self, path: LinkId, to: &Place, flow: FlowId) -> Option<LinkId> {
        let ways = self.ways_to(to);
        if ways.iter().any(|(_, out)| *out == path) {
            return None;
        }
        ways.get(flow.index().checked_rem(ways.len())?).map(|(_, out)| *out)
    }
}
