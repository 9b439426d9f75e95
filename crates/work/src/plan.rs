//! All work of a run: the transfers that traffic patterns request, and whether more will follow.

use crate::error::RunError;
use crate::goodput::GoodputWindow;
use crate::group::Group;
use crate::settling::{Settled, Settling};
use crate::transfer::{Query, Transfer, Transfers};
use fanin_core::ids::{GroupId, TransferId};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_host::hosts::Hosts;
use fanin_measure::counters::Counters;
use fanin_net::network::Network;
use fanin_network::traffic::{QueryOf, Traffic, TrafficAction, TrafficCx, TransferSpec};

/// The work of all hosts.
pub struct Plan {
    pub groups: Vec<Group>,
    pub transfers: Transfers,
    pub queries: Vec<Query>,
    pub window: GoodputWindow,
    /// What is known of long flows, until other traffic begins.
    pub(super) settling: Option<Settling>,
    pub settled: Settled,
    /// All finite transfers are complete, and no more will start.
    pub finished: bool,
    /// Why the run cannot continue.
    pub failure: Option<RunError>,
    /// Whether the run is over: the work is finished, it has failed, or the duration has passed.
    pub over: bool,
}

impl Plan {
    pub fn new(groups: Vec<Group>, warmup: Time, settling: Settling) -> Self {
        Self {
            groups,
            transfers: Transfers::default(),
            queries: Vec::new(),
            window: GoodputWindow { warmup, ..GoodputWindow::default() },
            settling: Some(settling),
            settled: Settled::default(),
            finished: false,
            failure: None,
            over: false,
        }
    }

    /// Starts every traffic pattern that does not wait; all of them, if there is none to wait for.
    pub fn start<C: EventCore>(&mut self, net: &mut Network<C>) {
        if self.groups.iter().all(|group| group.waits) {
            self.settled.steady = Some(Time::ZERO);
            return self.release(net);
        }
        for group in 0..self.groups.len() {
            if !self.groups[group].waits {
                self.ask_traffic(group, net, |traffic, cx| traffic.on_start(cx));
            }
        }
        self.plan_looks(net);
    }

    /// Whether the goodput window opens with the next finite transfer.
    pub fn opens_with_transfer(&self) -> bool {
        self.window.start.is_none() && self.window.warmup == Time::ZERO && !self.waits()
    }

    /// A timer of a traffic pattern expires.
    pub fn on_wake<C: EventCore>(&mut self, group: usize, net: &mut Network<C>) {
        self.groups[group].wakes -= 1;
        self.ask_traffic(group, net, |traffic, cx| traffic.on_wake(cx));
        self.see_whether_finished();
    }

    /// Whether traffic patterns may still ask for transfers, so that the work is not finished whatever completes.
    pub fn has_more(&self) -> bool {
        self.groups.iter().any(|group| group.waits || group.has_more())
    }

    /// Whether the work certainly goes on until a packet that no host has sent yet has crossed a link: more transfers may
    /// be asked for, or one has data that were never sent. `witness` is the last one that was found.
    pub fn goes_on(&self, hosts: &Hosts, witness: &mut TransferId) -> bool {
        let has_unsent = |transfer: &Transfer| {
            let sender = transfer.flow.map(|flow| &hosts.flows[flow].sender);
            let sent = sender.is_some_and(|sender| sender.max_sent() >= sender.data_end());
            transfer.bytes.is_some() && !transfer.failed && !sent
        };
        if self.has_more() || self.transfers.get(*witness).is_some_and(has_unsent) {
            return true;
        }
        let found = self.transfers.open().find(|(_, transfer)| has_unsent(transfer));
        *witness = found.map_or(*witness, |(id, _)| id);
        found.is_some()
    }

    /// The work is finished when no finite transfer is open or will start, unless there are only endless ones.
    pub fn see_whether_finished(&mut self) {
        self.finished = self.transfers.any_finite && self.transfers.unfinished == 0 && !self.has_more();
        self.over |= self.finished;
    }

    /// The run cannot continue; the first reason is kept.
    pub(super) fn fail(&mut self, why: RunError) {
        self.failure.get_or_insert(why);
        self.over = true;
    }

    pub(super) fn ask_traffic<C: EventCore>(
        &mut self,
        group: usize,
        net: &mut Network<C>,
        ask: impl FnOnce(&mut dyn Traffic, &mut TrafficCx<'_>),
    ) {
        let (now, mut actions) = (net.now(), Vec::new());
        let state = &mut self.groups[group];
        let origin = state.origin;
        let mut cx = TrafficCx {
            now: now - origin,
            senders: &state.senders,
            receivers: &state.receivers,
            next: TransferId::new(self.transfers.count()),
            stream: &mut state.stream,
            actions: &mut actions,
        };
        ask(&mut *state.traffic, &mut cx);
        for action in actions {
            match action {
                TrafficAction::Query => self.begin_query(GroupId::new(group)),
                TrafficAction::Transfer(spec) => self.plan_transfer(GroupId::new(group), &spec.after(origin), net),
                TrafficAction::Fail(what) => self.fail(RunError::Input { at: now, what }),
                TrafficAction::Wake(at) => {
                    self.groups[group].wakes += 1;
                    net.core.schedule((at + origin).max(now), Class::Traffic, group);
                }
            }
        }
    }

    fn begin_query(&mut self, group: GroupId) {
        self.groups[group.index()].queries.push(self.queries.len() as u32);
        self.queries.push(Query {
            group,
            start: Time::NEVER,
            fan_in: 0,
            bytes: 0,
            open: 0,
            completion: None,
            slowest: None,
        });
    }

    fn plan_transfer<C: EventCore>(&mut self, group: GroupId, spec: &TransferSpec, net: &mut Network<C>) {
        let start = spec.start.max(net.now());
        let begun = &self.groups[group.index()].queries;
        let query = match spec.query {
            QueryOf::None => None,
            QueryOf::Latest => begun.last().copied(),
            QueryOf::Number(number) => begun.get(number as usize).copied(),
        };
        let query = query.map(|query| query as usize);
        if let Some(query) = query {
            let query = &mut self.queries[query];
            query.start = query.start.min(start);
            query.fan_in += 1;
            query.open += 1;
            query.completion = None;
            query.bytes += spec.bytes.unwrap_or(0);
        }
        let begins = spec.opens.map_or(start, |at| at.max(net.now()).min(start));
        net.core.schedule(begins, Class::TransferStart, self.transfers.count());
        if let Some(stop) = spec.stop {
            net.core.schedule(stop.max(start), Class::TransferStop, self.transfers.count());
        }
        self.transfers.push(Transfer {
            group,
            from: spec.from,
            to: spec.to,
            bytes: spec.bytes,
            stopped_at: None,
            connection: spec.connection,
            request: spec.request,
            start,
            opens: spec.opens.is_some(),
            deadline: spec.bytes.and_then(|_| self.groups[group.index()].deadline(start, spec.deadline)),
            class: spec.class,
            completion: None,
            failed: false,
            query,
            asked: false,
            flow: None,
            response: None,
            delivered_before: 0,
            before: Counters::default(),
            after: None,
            requesting: None,
            asked_on: None,
            request_counters: Counters::default(),
            carried: None,
        });
    }

    /// Payload of all finite transfers that has arrived in order.
    pub fn finite_delivered(&self, hosts: &Hosts) -> u64 {
        let finite = self.transfers.open().filter(|(_, transfer)| transfer.bytes.is_some());
        self.transfers.finite_over + finite.map(|(_, transfer)| transfer.delivered(hosts)).sum::<u64>()
    }

    /// Statistics of queues and goodput begin now.
    pub fn open_window<C: EventCore>(&mut self, hosts: &Hosts, net: &mut Network<C>) {
        let now = net.now();
        net.core.settle();
        for monitor in net.core.books().queues.iter_mut().flatten() {
            monitor.stats.reset(now);
        }
        for (i, group) in self.groups.iter_mut().enumerate() {
            group.delivered_before = hosts.delivered(GroupId::new(i));
        }
        self.transfers.open_mut().for_each(|(_, transfer)| transfer.delivered_before = transfer.delivered(hosts));
        self.window.finite_before = self.finite_delivered(hosts);
        self.window.start = Some(now);
    }
}
