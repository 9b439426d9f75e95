//! RCCE's controller: learns the network, hands out labels, and tells edges where the crowd is.

use super::message::Message;
use super::trees::Network;
use crate::ids::{LinkId, NodeId};
use crate::roles::{Controller as ControllerRole, ControllerAction, ControllerCx};
use crate::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// The controller.
#[derive(Debug)]
pub(super) struct Controller {
    /// How long to wait for more reports.
    settle: Time,
    network: Network,
    /// Labels as they were last sent.
    sent: BTreeMap<NodeId, Vec<u8>>,
    crowded: BTreeSet<LinkId>,
    /// When labels are to be computed.
    due: Time,
}

impl Controller {
    pub(super) fn new(settle: Time) -> Self {
        let (network, sent, crowded) = (Network::default(), BTreeMap::new(), BTreeSet::new());
        Self { settle, network, sent, crowded, due: Time::NEVER }
    }

    fn order(cx: &mut ControllerCx<'_>, to: NodeId, message: Vec<u8>) {
        cx.actions.push(ControllerAction::Order { to, message });
    }
}

impl ControllerRole for Controller {
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]) {
        match Message::decode(message) {
            Some(Message::Ports(ports)) => {
                self.network.add(from, ports);
                // Until all have reported, links between switches look like links to hosts.
                self.due = cx.now + self.settle;
                cx.actions.push(ControllerAction::Timer { at: self.due, token: 0 });
            }
            Some(Message::Crowd { link, crowded }) => {
                let changed = if crowded { self.crowded.insert(link) } else { self.crowded.remove(&link) };
                if changed && self.network.last_hops().contains(&link) {
                    for edge in self.network.edges() {
                        Self::order(cx, edge, message.to_vec());
                    }
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, cx: &mut ControllerCx<'_>, _token: u64) {
        if self.due != cx.now {
            return; // Another report has come.
        }
        let trees = self.network.trees();
        for edge in self.network.edges() {
            let labels = Message::Labels(self.network.labels(&trees, edge)).encode();
            if self.sent.get(&edge) != Some(&labels) {
                Self::order(cx, edge, labels.clone());
                self.sent.insert(edge, labels);
            }
        }
    }
}
