//! RCCE's controller: learns the network, assigns labels, and notifies edge switches of crowded hosts.

use super::message::Message;
use super::trees::Network;
use fanin_core::ids::NodeId;
use fanin_core::roles::{Controller as ControllerRole, ControllerAction, ControllerCx};
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// The controller.
#[derive(Debug)]
pub(super) struct Controller {
    /// Time to wait for further reports before labels are computed.
    settle: Time,
    network: Network,
    /// The last message of labels to each switch.
    sent: BTreeMap<NodeId, Vec<u8>>,
    /// When labels are due to be computed.
    due: Time,
}

impl Controller {
    pub(super) fn new(settle: Time) -> Self {
        Self { settle, network: Network::default(), sent: BTreeMap::new(), due: Time::NEVER }
    }

    fn order(cx: &mut ControllerCx<'_>, to: NodeId, message: Vec<u8>) {
        cx.actions.push(ControllerAction::Order { to, message });
    }
}

impl ControllerRole for Controller {
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]) {
        match Message::decode(message) {
            Some(Message::Ports(ports)) => {
                // A switch that repeats its report has received no reply.
                self.sent.remove(&from);
                if self.network.add(from, ports) || self.due.is_never() {
                    // Until all switches have reported, the trees are incomplete.
                    self.due = cx.now + self.settle;
                    cx.actions.push(ControllerAction::Timer { at: self.due, token: 0 });
                }
            }
            // A repeated report is passed on again, because its sender has received no reply.
            Some(Message::Crowd { links, .. }) if links.iter().all(|link| self.network.last_hops().contains(link)) => {
                for edge in self.network.edges() {
                    Self::order(cx, edge, message.to_vec());
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, cx: &mut ControllerCx<'_>, _token: u64) {
        if self.due != cx.now {
            return; // Another report has arrived.
        }
        self.due = Time::NEVER;
        for (switch, table) in self.network.tables() {
            let labels = Message::Labels(table).encode();
            if self.sent.get(&switch) != Some(&labels) {
                Self::order(cx, switch, labels.clone());
                self.sent.insert(switch, labels);
            }
        }
    }
}
