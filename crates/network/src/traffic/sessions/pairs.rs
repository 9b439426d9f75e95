//! Selects the hosts of sessions.

use crate::topology::Topology;
use fanin_core::ids::NodeId;
use fanin_core::rng::Stream;
use fanin_param::{SpecError, Values};
use std::collections::BTreeMap;

/// How a group selects the hosts of its sessions.
pub(super) struct Pairs {
    senders: Vec<NodeId>,
    receivers: Vec<NodeId>,
    /// In turn instead of at random.
    in_turn: bool,
    in_rack: f64,
    /// For each receiver, the other senders in its rack, if there are any.
    near: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Pairs {
    pub(super) fn new(
        values: &Values,
        topology: &Topology,
        senders: &[NodeId],
        receivers: &[NodeId],
    ) -> Result<Self, SpecError> {
        let in_rack = values.number("in-rack");
        let mut near = BTreeMap::new();
        if in_rack > 0.0 {
            let mut racks: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
            for sender in senders {
                racks.entry(topology.rack_of(*sender)).or_default().push(*sender);
            }
            for receiver in receivers {
                let rack = racks.get(&topology.rack_of(*receiver)).into_iter().flatten();
                let others: Vec<NodeId> = rack.copied().filter(|host| host != receiver).collect();
                near.extend((!others.is_empty()).then_some((*receiver, others)));
            }
        }
        let in_turn = values.is("pairs", "in-turn");
        if in_turn && in_rack > 0.0 {
            return Err(values.fail("in-rack", "has an effect with pairs = \"random\" only"));
        }
        Ok(Self { senders: senders.to_vec(), receivers: receivers.to_vec(), in_turn, in_rack, near })
    }

    /// Number of receiving hosts.
    pub(super) fn receivers(&self) -> usize {
        self.receivers.len()
    }

    /// Sender and receiver of a session, which are different hosts.
    pub(super) fn next(&self, number: u64, stream: &mut Stream) -> (NodeId, NodeId) {
        if self.in_turn {
            let [sender, receiver] =
                [&self.senders, &self.receivers].map(|hosts| (number % hosts.len() as u64) as usize);
            let to = self.receivers[receiver];
            let ahead = usize::from(self.senders[sender] == to);
            return (self.senders[(sender + ahead) % self.senders.len()], to);
        }
        let to = self.receivers[stream.below(self.receivers.len() as u64) as usize];
        let near = self.near.get(&to).filter(|_| self.in_rack >= 1.0 || stream.unit() < self.in_rack);
        let from = match near {
            Some(rack) => rack[stream.below(rack.len() as u64) as usize],
            None => self.any_but(to, stream),
        };
        (from, to)
    }

    /// A random sender other than `host`.
    fn any_but(&self, host: NodeId, stream: &mut Stream) -> NodeId {
        let drawn = stream.below(self.senders.len() as u64) as usize;
        if self.senders[drawn] != host {
            return self.senders[drawn];
        }
        // A second draw among the others, which are equally likely.
        let ahead = 1 + stream.below(self.senders.len() as u64 - 1) as usize;
        self.senders[(drawn + ahead) % self.senders.len()]
    }
}
