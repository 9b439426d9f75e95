//! An active traffic group: its pattern, its hosts, and its open connections.

use fanin_core::ids::{FlowId, NodeId};
use fanin_core::rng::Stream;
use fanin_core::units::Time;
use fanin_network::traffic::{Connection, Traffic};
use std::collections::BTreeMap;

/// An active traffic group.
pub struct Group {
    pub name: String,
    pub traffic: Box<dyn Traffic>,
    pub stream: Stream,
    pub senders: Vec<NodeId>,
    pub receivers: Vec<NodeId>,
    pub endpoint: usize,
    /// Deadline of its transfers, from start to last byte; zero if they have none.
    pub hurry: Time,
    /// Whether its senders announce how much they will send.
    pub announces_size: bool,
    /// Whether it waits for what runs before to be steady.
    pub waits: bool,
    /// Where its clock begins: later than at zero if it has waited.
    pub origin: Time,
    /// The numbers of its queries, in the order of their starts.
    pub queries: Vec<u32>,
    /// Pending wake-ups of its pattern.
    pub wakes: usize,
    /// Payload bytes that had arrived in order when the goodput window opened.
    pub delivered_before: u64,
    /// Payload bytes that had arrived in order at the last completion of a finite transfer of any group.
    pub delivered_by_completion: u64,
    /// Connections that stay open, by their number.
    pub connections: BTreeMap<u32, Flows>,
}

/// The flows of a connection, as far as they exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flows {
    /// From the client to the server.
    pub(crate) request: Option<FlowId>,
    /// From the server to the client.
    pub(crate) data: Option<FlowId>,
}

impl Group {
    /// Whether its pattern may still ask for transfers.
    pub(crate) fn has_more(&self) -> bool {
        self.traffic.has_more() || self.wakes > 0
    }

    /// The flows of an open connection.
    pub(crate) fn known_flows(&self, connection: Connection) -> Flows {
        match connection {
            Connection::Fresh => Flows::default(),
            Connection::Persistent(number) => self.connections.get(&number).copied().unwrap_or_default(),
        }
    }

    /// The flows of a connection that stays open.
    pub(crate) fn flows_to_keep(&mut self, connection: Connection) -> Option<&mut Flows> {
        match connection {
            Connection::Fresh => None,
            Connection::Persistent(number) => Some(self.connections.entry(number).or_default()),
        }
    }

    /// Deadline of a transfer that began at `start`; `own` is the transfer's own relative deadline, if any.
    pub(crate) fn deadline(&self, start: Time, own: Option<Time>) -> Option<Time> {
        let hurry = own.unwrap_or(self.hurry);
        (hurry > Time::ZERO).then(|| start.saturating_add(hurry))
    }
}
