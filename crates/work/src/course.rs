//! The life of a transfer: its request, its data, its end, and its row in the results.

use crate::error::RunError;
use crate::group::Group;
use crate::ideal::Alone;
use crate::plan::Plan;
use crate::transfer::Transfer;
use fanin_core::ids::{FlowId, GroupId, NodeId, TransferId};
use fanin_core::roles::Announcement;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_host::flow::Purpose;
use fanin_host::flows::Opening;
use fanin_host::hosts::Hosts;
use fanin_measure::counters::Counters;
use fanin_measure::rows::Row;
use fanin_net::network::Network;
use fanin_network::traffic::{Connection, Request};
use fanin_port::ledger::What;

impl Plan {
    /// A transfer starts, with its request if it has one, or with its data. If its connection is opened earlier, this
    /// is called twice.
    pub fn start_transfer<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) {
        if std::mem::take(&mut self.transfers[id].opens) {
            self.open_early(id, hosts, net);
            return net.core.schedule(self.transfers[id].start, Class::TransferStart, id.index());
        }
        if self.transfers[id].bytes.is_some() {
            self.see_whether_settled(net.now());
            if self.opens_with_transfer() {
                self.open_window(hosts, net);
            }
        }
        let transfer = &mut self.transfers[id];
        match transfer.request {
            Some(request) if !transfer.asked => {
                transfer.asked = true;
                self.send_request(id, request, hosts, net);
            }
            _ => self.send_data(id, hosts, net),
        }
    }

    /// The host that sends first opens the connection that a later transfer will use.
    fn open_early<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) {
        let &Transfer { group, from, to, connection, bytes, request, .. } = &self.transfers[id];
        let (ends, bytes) = match request {
            Some(request) => ([to, from], Some(request.bytes)),
            None => ([from, to], bytes),
        };
        let flow = self.open_flow(id, ends, bytes, None, hosts, net);
        if let Some(flows) = self.groups[group.index()].flows_to_keep(connection) {
            *(if request.is_some() { &mut flows.request } else { &mut flows.data }) = Some(flow);
        }
        if request.is_some() {
            hosts.flows[flow].purpose = Purpose::Request(id);
        } else {
            hosts.flows[flow].probed = hosts.probes.choose();
        }
        hosts.connect(flow, net);
    }

    /// The client sends the request on a flow of its own, in the opposite direction on the same connection.
    fn send_request<C: EventCore>(
        &mut self,
        id: TransferId,
        request: Request,
        hosts: &mut Hosts,
        net: &mut Network<C>,
    ) {
        let &Transfer { group, from, to, connection, .. } = &self.transfers[id];
        let bytes = Some(request.bytes);
        let known = self.groups[group.index()].known_flows(connection).request;
        let flow = known.unwrap_or_else(|| self.open_flow(id, [to, from], bytes, None, hosts, net));
        if let Some(flows) = self.groups[group.index()].flows_to_keep(connection) {
            flows.request = Some(flow);
        }
        hosts.flows[flow].purpose = Purpose::Request(id);
        let before = hosts.counters(flow, net);
        (self.transfers[id].requesting, self.transfers[id].asked_on) = (Some((flow, before)), Some(flow));
        if hosts.follows_requests(self.groups[group.index()].endpoint) {
            let response = self.data_flow(id, hosts, net);
            self.transfers[id].response = Some(response);
            hosts.flows[flow].dialogue.response = Some(response);
            hosts.flows[response].dialogue.request = Some(flow);
        }
        // Requests have no deadline of their own.
        let (carried, open) = (Announcement { bytes, deadline: None }, connection != Connection::Fresh);
        if !(open && hosts.hold_request(flow, carried, net)) {
            hosts.push_data(flow, carried, open, false, net);
        }
    }

    /// The flow for the data of a transfer: that of its connection, or a new one.
    fn data_flow<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) -> FlowId {
        let &Transfer { group, from, to, bytes, connection, response, asked_on, .. } = &self.transfers[id];
        let known = response.or(self.groups[group.index()].known_flows(connection).data);
        let flow = known.unwrap_or_else(|| self.open_flow(id, [from, to], bytes, asked_on, hosts, net));
        if let Some(flows) = self.groups[group.index()].flows_to_keep(connection) {
            flows.data = Some(flow);
        }
        if known.is_none() {
            hosts.flows[flow].probed = hosts.probes.choose();
        }
        flow
    }

    /// Opens the flow for the data of a transfer before its start, which changes nothing: flows are numbered by the order of
    /// the starts, and this must be called in that.
    pub fn open_ahead<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) {
        if self.transfers[id].response.is_none() {
            self.transfers[id].response = Some(self.data_flow(id, hosts, net));
        }
    }

    fn send_data<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) {
        let flow = self.data_flow(id, hosts, net);
        let &Transfer { bytes, deadline, connection, asked, .. } = &self.transfers[id];
        hosts.flows[flow].transfer = id;
        let before = hosts.counters(flow, net);
        let transfer = &mut self.transfers[id];
        (transfer.flow, transfer.before) = (Some(flow), before);
        if let Some(request) = transfer.asked_on {
            hosts.join(request, flow, net);
        }
        // A response uses the connection that its request has opened.
        let open = asked || connection != Connection::Fresh;
        hosts.push_data(flow, Announcement { bytes, deadline }, open, connection == Connection::Fresh, net);
    }

    /// Opens a flow for a transfer or its request, or for the response to a request on `asked_on`.
    fn open_flow<C: EventCore>(
        &self,
        transfer: TransferId,
        [from, to]: [NodeId; 2],
        bytes: Option<u64>,
        asked_on: Option<FlowId>,
        hosts: &mut Hosts,
        net: &mut Network<C>,
    ) -> FlowId {
        let &Transfer { group, connection, .. } = &self.transfers[transfer];
        let open = connection != Connection::Fresh || asked_on.is_some();
        let &Group { endpoint, announces_size, .. } = &self.groups[group.index()];
        let idle_rtt =
            hosts.asks_idle_rtt(endpoint, open).map(|payload| Alone::between(net, from, to, payload).round_trip());
        hosts
            .open_flow(&Opening { group, from, to, bytes, transfer, endpoint, announces_size, asked_on, idle_rtt }, net)
    }

    /// Stops the sender of endless data, unless its handshake was aborted.
    pub fn stop_transfer<C: EventCore>(&mut self, id: TransferId, hosts: &mut Hosts, net: &mut Network<C>) {
        let transfer = self.transfers.get(id).filter(|transfer| !transfer.failed);
        let Some(flow) = transfer.and_then(|transfer| transfer.flow) else { return };
        self.transfers[id].stopped_at = Some(hosts.stop_data(flow, net));
    }

    /// All bytes of the transfer in progress on this flow have arrived in order.
    #[cold]
    pub fn on_transfer_arrived<C: EventCore>(&mut self, id: FlowId, hosts: &mut Hosts, net: &mut Network<C>) {
        let flow = &mut hosts.flows[id];
        // Nothing more can arrive until the sender gets the next transfer.
        flow.receiver.boundary = u64::MAX;
        let ledger = &mut net.core.books().ledger;
        if ledger.open {
            return ledger.note(What::Arrived(id));
        }
        let transfer = flow.carries();
        let fresh = self.transfers[transfer].connection == Connection::Fresh;
        match flow.purpose {
            Purpose::Request(_) => {
                if fresh {
                    self.close_request(transfer, hosts, net);
                }
                // The server responds after its think time.
                let think = self.transfers[transfer].request.map_or(Time::ZERO, |request| request.think);
                net.core.schedule(net.now() + think, Class::TransferStart, transfer.index());
            }
            Purpose::Data => self.complete(transfer, id, hosts, net),
        }
        if fresh {
            hosts.close_flow(id, net);
        }
    }

    /// Adds the counts of a transfer's request so far to the transfer. On a connection that stays open it may still be sent
    /// again, because its acknowledgement was lost.
    fn close_request<C: EventCore>(&mut self, id: TransferId, hosts: &Hosts, net: &mut Network<C>) {
        if let Some((flow, before)) = self.transfers[id].requesting.take() {
            self.transfers[id].request_counters = hosts.counters(flow, net).since(&before);
        }
    }

    fn complete<C: EventCore>(&mut self, id: TransferId, flow: FlowId, hosts: &Hosts, net: &mut Network<C>) {
        let after = hosts.counters(flow, net);
        self.complete_with(id, after, hosts, net);
    }

    /// All bytes of a transfer that another system carries have arrived there; [`Transfer::carried`] is set.
    pub fn on_carried<C: EventCore>(&mut self, id: TransferId, hosts: &Hosts, net: &mut Network<C>) {
        self.complete_with(id, Counters::default(), hosts, net);
    }

    fn complete_with<C: EventCore>(&mut self, id: TransferId, after: Counters, hosts: &Hosts, net: &mut Network<C>) {
        let now = net.now();
        let transfer = &mut self.transfers[id];
        transfer.completion = Some(now);
        transfer.after = Some(after);
        let (group, query, start) = (transfer.group, transfer.query, transfer.start);
        if transfer.bytes.is_none() {
            // The transfer was stopped, so its end does not count as a completion.
            return;
        }
        self.transfers.unfinished -= 1;
        self.window.last_completion = Some(now);
        for (i, group) in self.groups.iter_mut().enumerate() {
            group.delivered_by_completion = hosts.delivered(GroupId::new(i));
        }
        if let Some(query) = query.map(|query| &mut self.queries[query]) {
            query.open -= 1;
            query.slowest = Some(id);
            if query.open == 0 {
                query.completion = Some(now);
            }
        }
        if let Some(bins) = &mut net.core.books().bins {
            bins.add_completion(group, now, now - start);
        }
        self.close_transfer(id, hosts, net);
        self.ask_traffic(group.index(), net, |traffic, cx| traffic.on_complete(cx, id));
        self.see_whether_finished();
    }

    /// A transfer has ended: only its row is kept.
    pub fn close_transfer<C: EventCore>(&mut self, id: TransferId, hosts: &Hosts, net: &mut Network<C>) {
        self.close_request(id, hosts, net);
        let Some(transfer) = self.transfers.close(id) else { return };
        let row = self.row(&transfer, hosts, net);
        self.transfers.finite_over += row.bytes.map_or(0, |_| row.delivered);
        if let Err(error) = self.transfers.rows.set(id.index(), row) {
            self.fail(RunError::spill(&error));
        }
    }

    /// The handshake was aborted: the transfer will not complete.
    pub fn on_flow_failed<C: EventCore>(&mut self, id: FlowId, hosts: &Hosts, net: &mut Network<C>) {
        self.fail_transfer(hosts.flows[id].carries(), net);
    }

    /// The transfer will not complete.
    pub fn fail_transfer<C: EventCore>(&mut self, transfer: TransferId, net: &mut Network<C>) {
        let state = &mut self.transfers[transfer];
        state.failed = true;
        let (group, finite) = (state.group, state.bytes.is_some());
        self.transfers.unfinished -= usize::from(finite);
        self.ask_traffic(group.index(), net, |traffic, cx| traffic.on_complete(cx, transfer));
        self.see_whether_finished();
    }

    /// The row of a transfer: final if the transfer is finished, otherwise its current state.
    fn row<C: EventCore>(&self, transfer: &Transfer, hosts: &Hosts, net: &mut Network<C>) -> Row {
        let carried = transfer.carried.as_ref().map(|carried| carried.counters);
        let counters = carried.unwrap_or_else(|| {
            transfer.flow.map_or_else(Counters::default, |flow| {
                let after = transfer.after.unwrap_or_else(|| hosts.counters(flow, net));
                after.since(&transfer.before)
            })
        });
        let (now, delivered) = (net.now(), transfer.delivered(hosts));
        let mss = hosts.endpoints[self.groups[transfer.group.index()].endpoint].sender.mss;
        let alone = Alone::between(net, transfer.from, transfer.to, mss);
        let row = Row {
            group: transfer.group,
            from: transfer.from,
            to: transfer.to,
            class: transfer.class,
            flow: transfer.flow,
            query: transfer.query.map(|query| query as u32),
            bytes: transfer.bytes,
            delivered,
            start: transfer.start,
            completion: transfer.completion,
            deadline: transfer.deadline,
            ideal: transfer.bytes.map(|bytes| alone.ideal(transfer, bytes)),
            standalone: transfer.bytes.map(|bytes| alone.standalone(bytes)),
            rate: None,
            counters: counters.plus(&transfer.request_counters),
            waiting: Self::waiting(transfer, hosts, now),
            failed: transfer.failed,
        };
        let unfinished = || self.unfinished_rate(transfer, delivered, now);
        Row { rate: row.fct().map_or_else(unfinished, |fct| Some(delivered as f64 / fct)), ..row }
    }

    /// For how long a timer has run for what is outstanding of a transfer or its request; `None` if it has completed.
    fn waiting(transfer: &Transfer, hosts: &Hosts, now: Time) -> Option<Time> {
        let flow = transfer.requesting.map(|(flow, _)| flow).or(transfer.flow)?;
        if transfer.completion.is_some() || transfer.failed {
            return None;
        }
        let since = hosts.flows.get(flow)?.sender.waits_since(&hosts.endpoint(flow).sender)?;
        Some(now.saturating_sub(since))
    }

    /// Payload per second of a transfer without a completion time, within the goodput window.
    fn unfinished_rate(&self, transfer: &Transfer, delivered: u64, now: Time) -> Option<f64> {
        let from = transfer.start.max(self.window.start.unwrap_or(Time::ZERO));
        let span = transfer.completion.unwrap_or(now).saturating_sub(from).secs();
        (span > 0.0 && !transfer.failed).then(|| (delivered - transfer.delivered_before) as f64 / span)
    }
}
