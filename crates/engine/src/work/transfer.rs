//! Transfers and queries, from their start until the last byte has arrived.

use crate::host::hosts::Hosts;
use crate::ids::{FlowId, GroupId, NodeId, TransferId};
use crate::measure::counters::Counters;
use crate::measure::rows::Rows;
use crate::tcp::FIRST_DATA;
use crate::traffic::{Connection, Request};
use crate::units::Time;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

/// A transfer that has not ended.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) group: GroupId,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) bytes: Option<u64>,
    /// Size of an endless transfer, known once it was stopped.
    pub(crate) stopped_at: Option<u64>,
    pub(crate) connection: Connection,
    pub(crate) request: Option<Request>,
    pub(crate) start: Time,
    /// Its connection is to be opened before its start and has not been opened yet.
    pub(crate) opens: bool,
    /// Its deadline, if it has one.
    pub(crate) deadline: Option<Time>,
    /// Its class in its traffic group's list of classes, if it has one.
    pub(crate) class: Option<u32>,
    pub(crate) completion: Option<Time>,
    pub(crate) failed: bool,
    pub(crate) query: Option<usize>,
    /// The request was sent; the next start is that of the response.
    pub(crate) asked: bool,
    /// The flow that carries its data, once it has started.
    pub(crate) flow: Option<FlowId>,
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
}

impl Transfer {
    /// Whether it has neither ended nor been stopped, whether or not it has begun.
    pub(crate) fn is_under_way(&self) -> bool {
        self.completion.is_none() && self.stopped_at.is_none() && !self.failed
    }

    /// Payload bytes that have arrived in order.
    pub(crate) fn delivered(&self, hosts: &Hosts) -> u64 {
        if self.completion.is_some() {
            return self.bytes.or(self.stopped_at).unwrap_or(0);
        }
        let Some(flow) = self.flow.map(|flow| &hosts.flows[flow]) else { return 0 };
        let arrived = flow.receiver.state.next() - FIRST_DATA;
        let earlier = self.bytes.map_or(0, |bytes| flow.sender.data_end() - FIRST_DATA - bytes);
        arrived.saturating_sub(earlier)
    }
}

/// A query: transfers that are requested together. It is complete when all of them are.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) group: GroupId,
    pub(crate) start: Time,
    pub(crate) fan_in: u64,
    pub(crate) bytes: u64,
    pub(crate) open: u64,
    pub(crate) completion: Option<Time>,
    pub(crate) slowest: Option<TransferId>,
}

/// Transfers by number: the open ones, and a row of each ended one.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    open: BTreeMap<TransferId, Box<Transfer>>,
    /// The rows of ended transfers.
    pub(crate) rows: Rows,
    count: usize,
    /// Whether any transfer is finite.
    pub(crate) any_finite: bool,
    /// Number of finite transfers that are not complete.
    pub(crate) unfinished: usize,
    /// Payload of ended finite transfers.
    pub(crate) finite_over: u64,
}

impl Transfers {
    /// The number of transfers so far, which is the number of the next one.
    pub(crate) fn count(&self) -> usize {
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
    pub(crate) fn open(&self) -> impl Iterator<Item = (TransferId, &Transfer)> {
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
