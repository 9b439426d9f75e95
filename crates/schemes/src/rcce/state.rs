//! The state that the roles of a switch share: its part of the trees, the hosts' attachments, and its ports' marks.

use super::message::{Attachment, Way};
use fanin_core::ids::{FlowId, LinkId};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a switch.
#[derive(Debug, Default)]
pub(super) struct EdgeState {
    pub(super) ways: Vec<Way>,
    /// The attachments of hosts, by address.
    pub(super) attachments: BTreeMap<[u8; 4], Attachment>,
    /// Links to hosts with too many connections.
    pub(super) crowded: BTreeSet<LinkId>,
    /// Egress links of ports whose cables have failed.
    pub(super) down: BTreeSet<LinkId>,
    /// Sequence numbers of data that this switch has marked, for the scheduler's connections.
    pub(super) marked: BTreeMap<FlowId, BTreeSet<u32>>,
}

impl EdgeState {
    /// The egress link of packets with a label, unless its cable has failed.
    pub(super) fn out(&self, label: u32) -> Option<LinkId> {
        let out = self.ways.iter().find(|way| way.label == label).map(|way| way.out);
        out.filter(|out| !self.down.contains(out))
    }

    /// The entries for the switch of a host, except those whose cables have failed here.
    pub(super) fn ways_to(&self, to: &Attachment) -> Vec<(u32, LinkId)> {
        let ways = self.ways.iter().filter(|way| way.edge == to.edge && !self.down.contains(&way.out));
        ways.map(|way| (way.label, way.out)).collect()
    }

    /// Another egress link for a packet, if no tree leads to its host over the first link of its path any more.
    pub(super) fn detour(&self, path: LinkId, to: &Attachment, flow: FlowId) -> Option<LinkId> {
        let ways = self.ways_to(to);
        if ways.iter().any(|(_, out)| *out == path) {
            return None;
        }
        ways.get(flow.index().checked_rem(ways.len())?).map(|(_, out)| *out)
    }
}
