//! Transfers and queries, from their start until the last byte has arrived.

use fanin_core::ids::{FlowId, GroupId, NodeId, TransferId};
use fanin_core::units::Time;
use fanin_host::hosts::Hosts;
use fanin_measure::counters::Counters;
use fanin_measure::rows::Rows;
use fanin_network::traffic::{Connection, Request};
use fanin_tcp::FIRST_DATA;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

/// A transfer that has not ended.
#[derive(Debug)]
pub struct Transfer {
    pub group: GroupId,
    pub from: NodeId,
    pub to: NodeId,
    pub bytes: Option<u64>,
    /// Size of an endless transfer, known once it was stopped.
    pub stopped_at: Option<u64>,
    pub connection: Connection,
    pub request: Option<Request>,
    pub start: Time,
    /// Its connection is to be opened before its start and has not been opened yet.
    pub opens: bool,
    /// Its deadline, if it has one.
    pub deadline: Option<Time>,
    /// Its class in its traffic group's list of classes, if it has one.
    pub(crate) class: Option<u32>,
    pub completion: Option<Time>,
    pub failed: bool,
    pub(crate) query: Option<usize>,
    /// The request was sent; the next start is that of the response.
    pub asked: bool,
    /// The flow that carries its data, once it has started.
    pub flow: Option<FlowId>,
    /// The flow that will carry its data, if it was opened together with its request, or otherwise before its start.
    pub(crate) response: Option<FlowId>,
    /// Payload that had arrived when the goodput window opened.
    pub(crate) delivered_before: u64,
    pub(crate) before: Counters,
    pub(crate) after: Option<Counters>,
    /// The flow of a request that has not arrived yet, and its counters when it was sent.
    pub(crate) requesting: Option<(FlowId, Counters)>,
    /// The flow that carried its request, on the same connection.
    pub(crate) asked_on: Option<FlowId>,
    /// Counters of the flow that carried its request.
    pub(crate) request_counters: Counters,
    /// What another system counts of it, if that carries it.
    pub carried: Option<Box<Carried>>,
}

/// What another system counts of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carried {
    /// Payload bytes that have arrived.
    pub delivered: u64,
    pub counters: Counters,
}

impl Transfer {
    /// Whether it has neither ended nor been stopped, whether or not it has begun.
    pub fn is_under_way(&self) -> bool {
        self.completion.is_none() && self.stopped_at.is_none() && !self.failed
    }

    /// Payload bytes that have arrived in order.
    pub fn delivered(&self, hosts: &Hosts) -> u64 {
        if self.completion.is_some() {
            return self.bytes.or(self.stopped_at).unwrap_or(0);
        }
        if let Some(carried) = &self.carried {
            return carried.delivered;
        }
        let Some(flow) = self.flow.map(|flow| &hosts.flows[flow]) else { return 0 };
        let arrived = flow.receiver.state.next() - FIRST_DATA;
        let earlier = self.bytes.map_or(0, |bytes| flow.sender.data_end() - FIRST_DATA - bytes);
        arrived.saturating_sub(earlier)
    }
}

/// A query: transfers that are requested together. It is complete when all of them are.
#[derive(Clone, Debug)]
pub struct Query {
    pub group: GroupId,
    pub start: Time,
    pub fan_in: u64,
    pub bytes: u64,
    pub(crate) open: u64,
    pub completion: Option<Time>,
    pub slowest: Option<TransferId>,
}

/// Transfers by number: the open ones, and a row of each ended one.
#[derive(Debug, Default)]
pub struct Transfers {
    open: BTreeMap<TransferId, Box<Transfer>>,
    /// The rows of ended transfers.
    pub rows: Rows,
    count: usize,
    /// Whether any transfer is finite.
    pub(crate) any_finite: bool,
    /// Number of finite transfers that are not complete.
    pub unfinished: usize,
    /// Payload of ended finite transfers.
    pub(crate) finite_over: u64,
}

impl Transfers {
    /// The number of transfers so far, which is the number of the next one.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Adds a transfer under the next number.
    pub(super) fn push(&mut self, transfer: Transfer) {
        self.any_finite |= transfer.bytes.is_some();
        self.unfinished += usize::from(transfer.bytes.is_some());
        self.open.insert(TransferId::new(self.count), Box::new(transfer));
        self.count += 1;
    }
    /// Open transfers, by number.
    pub fn open(&self) -> impl Iterator<Item = (TransferId, &Transfer)> {
        self.open.iter().map(|(id, transfer)| (*id, &**transfer))
    }
    /// Open transfers, by number, mutable.
    pub(crate) fn open_mut(&mut self) -> impl Iterator<Item = (TransferId, &mut Transfer)> {
        self.open.iter_mut().map(|(id, transfer)| (*id, &mut **transfer))
    }
    /// Removes an ended transfer.
    pub(super) fn close(&mut self, id: TransferId) -> Option<Box<Transfer>> {
        self.open.remove(&id)
    }
    pub(super) fn get(&self, id: TransferId) -> Option<&Transfer> {
        self.open.get(&id).map(|transfer| &**transfer)
    }
}

impl Index<TransferId> for Transfers {
    type Output = Transfer;
    fn index(&self, id: TransferId) -> &Transfer {
        &self.open[&id]
    }
}

impl IndexMut<TransferId> for Transfers {
    fn index_mut(&mut self, id: TransferId) -> &mut Transfer {
        self.open.get_mut(&id).expect("the transfer is not over")
    }
}
