//! Transfers: the rows of the flow table, from the traffic pattern's wish to the last byte's arrival.

use crate::event::EventCore;
use crate::event::order::Class;
use crate::host::flow::{Flow, Purpose, ReceiverSide, Wire};
use crate::ids::{FlowId, GroupId, NodeId, TransferId};
use crate::measure::rows::Rows;
use crate::measure::tables::row;
use crate::measure::timeouts::TimeoutCause;
use crate::net::paths::{Offers, choose};
use crate::packet::Stamp;
use crate::rng::Stream;
use crate::roles::{Announcement, PathRequest};
use crate::schemes::FlowFacts;
use crate::sim::world::{RunError, World};
use crate::tcp::FIRST_DATA;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::{Sender, State};
use crate::traffic::{Connection, Request, Traffic, TrafficAction, TrafficCx, TransferSpec};
use crate::units::Time;
use crate::work::ideal::Alone;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

/// Counters of a flow, to tell the transfers of one connection apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) retransmissions: u64,
    pub(crate) loss_probes: u64,
    pub(crate) timeouts: [u32; TimeoutCause::ALL.len()],
    pub(crate) drops: u64,
    pub(crate) marks: u64,
}

impl Counters {
    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut timeouts = self.timeouts;
        for (count, before) in timeouts.iter_mut().zip(&earlier.timeouts) {
            *count -= before;
        }
        Self {
            retransmissions: self.retransmissions - earlier.retransmissions,
            loss_probes: self.loss_probes - earlier.loss_probes,
            timeouts,
            drops: self.drops - earlier.drops,
            marks: self.marks - earlier.marks,
        }
    }
    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut timeouts = self.timeouts;
        for (count, more) in timeouts.iter_mut().zip(&other.timeouts) {
            *count += more;
        }
        Self {
            retransmissions: self.retransmissions + other.retransmissions,
            loss_probes: self.loss_probes + other.loss_probes,
            timeouts,
            drops: self.drops + other.drops,
            marks: self.marks + other.marks,
        }
    }
    pub(crate) fn timeout_count(&self) -> u64 {
        self.timeouts.iter().map(|count| u64::from(*count)).sum()
    }
}

/// One transfer that is not over, or that has no end.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) group: GroupId,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) bytes: Option<u64>,
    /// How many bytes endless data turned out to have, once it was stopped.
    pub(crate) stopped_at: Option<u64>,
    pub(crate) connection: Connection,
    pub(crate) request: Option<Request>,
    pub(crate) start: Time,
    /// When its data should have arrived, if it is in a hurry.
    pub(crate) deadline: Option<Time>,
    /// Its class among those of its group, if it has one.
    pub(crate) class: Option<u32>,
    pub(crate) completion: Option<Time>,
    pub(crate) failed: bool,
    pub(crate) query: Option<usize>,
    /// The request is on its way; the next start is that of the answer.
    pub(crate) asked: bool,
    /// The flow that carries its data, once it has begun.
    pub(crate) flow: Option<FlowId>,
    /// Payload that had arrived when the window of goodput opened.
    pub(crate) delivered_before: u64,
    pub(crate) before: Counters,
    pub(crate) after: Option<Counters>,
    /// The flow of a request that has not arrived yet, and its counters when it was sent.
    pub(crate) requesting: Option<(FlowId, Counters)>,
    /// What was counted for its request.
    pub(crate) request_counters: Counters,
}

/// Transfers that are asked for together; complete when all are.
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

/// A traffic group at work.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) traffic: Box<dyn Traffic>,
    pub(crate) stream: Stream,
    pub(crate) senders: Vec<NodeId>,
    pub(crate) receivers: Vec<NodeId>,
    pub(crate) endpoint: usize,
    /// Time that its transfers have from start to last byte; zero if they are in no hurry.
    pub(crate) hurry: Time,
    /// Its senders say how much they will send.
    pub(crate) announces_size: bool,
    pub(crate) query: Option<usize>,
    /// Wake-up calls that are pending.
    pub(crate) wakes: usize,
    /// Payload bytes that arrived in order, and how many of them before the window of goodput.
    pub(crate) delivered: u64,
    pub(crate) delivered_before: u64,
    /// How many had by the last completion of a finite transfer of any group.
    pub(crate) delivered_by_completion: u64,
    /// Request and answer flows of open connections.
    pub(crate) connections: BTreeMap<u32, (Option<FlowId>, Option<FlowId>)>,
}

impl Group {
    /// When the data of a transfer that began at `start` should have arrived; `own` is the time that it has itself.
    pub(crate) fn deadline(&self, start: Time, own: Option<Time>) -> Option<Time> {
        let hurry = own.unwrap_or(self.hurry);
        (hurry > Time::ZERO).then(|| start.saturating_add(hurry))
    }
}

/// Transfers by number: those that are not over, and a row of each that is.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    open: BTreeMap<TransferId, Box<Transfer>>,
    pub(crate) rows: Rows,
    count: usize,
    /// Some have an end.
    pub(crate) any_finite: bool,
    /// Payload of those that are over and had one.
    pub(crate) finite_over: u64,
}

impl Transfers {
    /// All of them so far: the next one's number.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    /// Adds the next one.
    fn push(&mut self, transfer: Transfer) {
        self.any_finite |= transfer.bytes.is_some();
        self.open.insert(TransferId::new(self.count), Box::new(transfer));
        self.count += 1;
    }
    /// Those that are not over, in the order of their numbers.
    pub(crate) fn open(&self) -> impl Iterator<Item = (TransferId, &Transfer)> {
        self.open.iter().map(|(id, transfer)| (*id, &**transfer))
    }
    /// The same.
    pub(crate) fn open_mut(&mut self) -> impl Iterator<Item = (TransferId, &mut Transfer)> {
        self.open.iter_mut().map(|(id, transfer)| (*id, &mut **transfer))
    }
    fn get(&self, id: TransferId) -> Option<&Transfer> {
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

impl World {
    pub(crate) fn ask_traffic<C: EventCore>(
        &mut self,
        group: usize,
        now: Time,
        core: &mut C,
        ask: impl FnOnce(&mut dyn Traffic, &mut TrafficCx<'_>),
    ) {
        let mut actions = Vec::new();
        let state = &mut self.groups[group];
        let mut cx = TrafficCx {
            now,
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
                TrafficAction::Transfer(spec) => self.plan_transfer(GroupId::new(group), &spec, now, core),
                TrafficAction::Fail(what) => self.fail(RunError::Input { at: now, what }),
                TrafficAction::Wake(at) => {
                    self.groups[group].wakes += 1;
                    core.schedule(at.max(now), Class::Traffic, group);
                }
            }
        }
    }

    fn begin_query(&mut self, group: GroupId) {
        self.groups[group.index()].query = Some(self.queries.len());
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

    fn plan_transfer<C: EventCore>(&mut self, group: GroupId, spec: &TransferSpec, now: Time, core: &mut C) {
        let start = spec.start.max(now);
        let query = self.groups[group.index()].query.filter(|_| spec.in_query);
        if let Some(query) = query {
            let query = &mut self.queries[query];
            query.start = query.start.min(start);
            query.fan_in += 1;
            query.open += 1;
            query.completion = None;
            query.bytes += spec.bytes.unwrap_or(0);
        }
        self.open += usize::from(spec.bytes.is_some());
        core.schedule(start, Class::TransferStart, self.transfers.count());
        if let Some(stop) = spec.stop {
            core.schedule(stop.max(start), Class::TransferStop, self.transfers.count());
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
            deadline: spec.bytes.and_then(|_| self.groups[group.index()].deadline(start, spec.deadline)),
            class: spec.class,
            completion: None,
            failed: false,
            query,
            asked: false,
            flow: None,
            delivered_before: 0,
            before: Counters::default(),
            after: None,
            requesting: None,
            request_counters: Counters::default(),
        });
    }

    /// A transfer begins: with its request, if it has one, or with its data.
    pub(crate) fn start_transfer<C: EventCore>(&mut self, id: TransferId, now: Time, core: &mut C) {
        let transfer = &self.transfers[id];
        if self.window_start.is_none() && self.warmup == Time::ZERO && transfer.bytes.is_some() {
            self.open_window(now, core);
        }
        let transfer = &mut self.transfers[id];
        match transfer.request {
            Some(request) if !transfer.asked => {
                transfer.asked = true;
                self.send_request(id, request, now, core);
            }
            _ => self.send_data(id, now, core),
        }
    }

    /// The client asks on a flow of its own, in the opposite direction on the same connection.
    fn send_request<C: EventCore>(&mut self, id: TransferId, request: Request, now: Time, core: &mut C) {
        let transfer = &self.transfers[id];
        let (group, from, to, connection) = (transfer.group, transfer.from, transfer.to, transfer.connection);
        let known = self.known_flows(group, connection).0;
        let flow = known.unwrap_or_else(|| self.open_flow(group, to, from, Some(request.bytes), id, core));
        if let Connection::Persistent(slot) = connection {
            self.groups[group.index()].connections.entry(slot).or_default().0 = Some(flow);
        }
        self.flows[flow].purpose = Purpose::Request(id);
        let before = self.counters(flow, core);
        self.transfers[id].requesting = Some((flow, before));
        self.push_data(flow, Some(request.bytes), connection != Connection::Fresh, false, now, core);
    }

    fn send_data<C: EventCore>(&mut self, id: TransferId, now: Time, core: &mut C) {
        let transfer = &self.transfers[id];
        let (group, from, to, bytes) = (transfer.group, transfer.from, transfer.to, transfer.bytes);
        let (connection, asked) = (transfer.connection, transfer.asked);
        let known = self.known_flows(group, connection).1;
        let flow = known.unwrap_or_else(|| self.open_flow(group, from, to, bytes, id, core));
        if let Connection::Persistent(slot) = connection {
            self.groups[group.index()].connections.entry(slot).or_default().1 = Some(flow);
        }
        self.flows[flow].transfer = id;
        if known.is_none() {
            self.flows[flow].probed = self.probes.choose();
        }
        let before = self.counters(flow, core);
        let transfer = &mut self.transfers[id];
        transfer.flow = Some(flow);
        transfer.before = before;
        // An answer goes out on the connection that its request has opened.
        let open = asked || connection != Connection::Fresh;
        self.push_data(flow, bytes, open, connection == Connection::Fresh, now, core);
    }

    /// The sender of endless data closes, unless its handshake was given up.
    pub(crate) fn stop_transfer<C: EventCore>(&mut self, id: TransferId, now: Time, core: &mut C) {
        let transfer = self.transfers.get(id).filter(|transfer| !transfer.failed);
        let Some(flow) = transfer.and_then(|transfer| transfer.flow) else { return };
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the bare method is not general in its lifetimes"
        )]
        self.with_sender(flow, now, core, |sender, env| sender.close(env));
        let end = self.flows[flow].sender.data_end();
        self.flows[flow].receiver.boundary = end;
        self.transfers[id].stopped_at = Some(end - FIRST_DATA);
    }

    /// Request and data flow of an open connection, as far as it has them.
    fn known_flows(&self, group: GroupId, connection: Connection) -> (Option<FlowId>, Option<FlowId>) {
        match connection {
            Connection::Fresh => (None, None),
            Connection::Persistent(slot) => {
                self.groups[group.index()].connections.get(&slot).copied().unwrap_or_default()
            }
        }
    }

    /// Gives data to a flow's sender, which opens the connection if it is not `open` yet.
    fn push_data<C: EventCore>(
        &mut self,
        id: FlowId,
        bytes: Option<u64>,
        open: bool,
        fin: bool,
        now: Time,
        core: &mut C,
    ) {
        let flow = &self.flows[id];
        let endpoint = &self.endpoints[flow.wire.endpoint as usize];
        let peer_window = (endpoint.buffer >> flow.wire.scale).min(u64::from(u16::MAX)) << flow.wire.scale;
        let carried = self.carried(id);
        self.flows[id].carried = carried;
        let deadline = carried.deadline;
        if !open && self.flows[id].sender.congestion_control().announces() {
            self.flows[id].wire.announcement = self.announced(id).field();
        }
        let sender = &mut self.flows[id].sender;
        sender.announce(bytes, deadline);
        sender.push_data(bytes, fin);
        let boundary = if bytes.is_some() { sender.data_end() } else { u64::MAX };
        let side = &mut self.flows[id].receiver;
        side.boundary = boundary;
        side.unannounced = open;
        self.with_sender(id, now, core, |sender, env| match sender.state() {
            State::Closed if open => sender.adopt(peer_window, env),
            State::Closed => sender.connect(env),
            _ => sender.on_data_ready(env),
        });
    }

    fn open_flow<C: EventCore>(
        &mut self,
        group: GroupId,
        from: NodeId,
        to: NodeId,
        bytes: Option<u64>,
        transfer: TransferId,
        core: &mut C,
    ) -> FlowId {
        let id = FlowId::new(self.flows.count());
        let index = self.groups[group.index()].endpoint;
        let mss = self.endpoints[index].sender.mss;
        let scheme = self.endpoints[index].scheme;
        let idle_rtt = self.schemes[scheme].wants_idle_rtt().then(|| Alone::between(self, from, to).round_trip(mss));
        let endpoint = &self.endpoints[index];
        let rate = self.hosts[from.index()].as_ref().map(|host| self.topology.links[host.uplink.index()].rate);
        let facts = FlowFacts {
            flow: id,
            bytes,
            mss,
            packet: mss + u64::from(self.header),
            rate: rate.expect("flows begin at hosts"),
            idle_rtt,
        };
        let cc = self.schemes[endpoint.scheme].congestion_control(&facts);
        let sender = Sender::new(&endpoint.sender, cc, endpoint.receiver.ecn);
        let (buffer, scale) = (endpoint.buffer, endpoint.scale);
        let wire = self.wire(id, group, [from, to], index, scale, core);
        self.flows.push(Flow {
            sender,
            receiver: ReceiverSide {
                state: Receiver::new(),
                order: None,
                granted: buffer,
                held: None,
                timer_at: Time::NEVER,
                syn_stamp: Stamp::default(),
                syn_again: false,
                ecn_agreed: false,
                field: 0,
                boundary: u64::MAX,
                unannounced: false,
                last_delay: None,
                segments: 0,
                acks_sent: 0,
                ack_bytes_sent: 0,
            },
            wire,
            purpose: Purpose::Data,
            transfer,
            carried: Announcement::default(),
            timeouts: [0; TimeoutCause::ALL.len()],
            window_probes: 0,
            loss_probes: 0,
            arrived: 0,
            acks_arrived: 0,
            arrived_bytes: 0,
            ack_bytes_arrived: 0,
            probed: false,
        });
        core.books().add_flow(group);
        id
    }

    fn wire<C: EventCore>(
        &mut self,
        id: FlowId,
        group: GroupId,
        [from, to]: [NodeId; 2],
        endpoint: usize,
        scale: u8,
        core: &mut C,
    ) -> Wire {
        let (number, tag, cell) = self.choose_path(id, from, to, core);
        let (back, _, _) = self.choose_path(id, to, from, core);
        let mut take = |from, to, number| self.paths.take(from, to, number, &self.topology);
        let reverse = take(to, from, back);
        let cell_paths: Box<[u32]> = match cell {
            Some((_, paths)) => (0..paths).map(|number| take(from, to, number)).collect(),
            None => Box::default(),
        };
        let forward = cell_paths.get(number).copied().unwrap_or_else(|| take(from, to, number));
        Wire {
            id,
            forward,
            reverse,
            from,
            to,
            group,
            endpoint: endpoint as u32,
            header: self.header,
            scale,
            cell_end: cell.map_or(u64::MAX, |(cell, _)| cell + FIRST_DATA),
            cell: 0,
            cell_paths,
            tag,
            announcement: 0,
            sent_bytes: 0,
        }
    }

    /// Chooses among the equal paths of a flow: the number, the tag of its packets, and how many bytes are a flowcell and
    /// how many paths there are, if flowcells take turns.
    fn choose_path<C: EventCore>(
        &mut self,
        flow: FlowId,
        from: NodeId,
        to: NodeId,
        core: &mut C,
    ) -> (usize, u64, Option<(u64, usize)>) {
        let paths = self.paths.count(from, to, &self.topology);
        if paths == 1 {
            return (0, 0, None);
        }
        let host = self.hosts[from.index()].as_mut().expect("flows join hosts");
        let request = PathRequest { flow, from, to, paths, cell: 0 };
        let offers = Offers::of(&mut self.paths, from, to, &self.topology);
        let (number, tag) = choose(&offers, &mut *host.selector, core.node(host.edge, self.now), &request);
        (number, tag, host.selector.cell().filter(|cell| *cell > 0).map(|cell| (cell, paths)))
    }

    /// All bytes of the transfer in progress on this flow have arrived, in order.
    #[cold]
    pub(crate) fn on_transfer_arrived<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        let flow = &mut self.flows[id];
        // Until the next transfer is given to the sender nothing more can arrive.
        flow.receiver.boundary = u64::MAX;
        let transfer = flow.carries();
        let fresh = self.transfers[transfer].connection == Connection::Fresh;
        match flow.purpose {
            Purpose::Request(_) => {
                self.close_request(transfer, core);
                self.on_request_arrived(transfer, now, core);
            }
            Purpose::Data => self.complete(transfer, id, now, core),
        }
        if fresh {
            self.close_flow(id, core);
        }
    }

    /// What was counted for the request of a transfer so far belongs to the transfer.
    pub(crate) fn close_request<C: EventCore>(&mut self, id: TransferId, core: &mut C) {
        if let Some((flow, before)) = self.transfers[id].requesting.take() {
            self.transfers[id].request_counters = self.counters(flow, core).since(&before);
        }
    }

    /// The server thinks, then answers.
    fn on_request_arrived<C: EventCore>(&mut self, id: TransferId, now: Time, core: &mut C) {
        let transfer = &self.transfers[id];
        let think = transfer.request.map_or(Time::ZERO, |request| request.think);
        core.schedule(now + think, Class::TransferStart, id.index());
    }

    fn complete<C: EventCore>(&mut self, id: TransferId, flow: FlowId, now: Time, core: &mut C) {
        let after = self.counters(flow, core);
        let transfer = &mut self.transfers[id];
        transfer.completion = Some(now);
        transfer.after = Some(after);
        let (group, query, start) = (transfer.group, transfer.query, transfer.start);
        if transfer.bytes.is_none() {
            // It was stopped: nobody waits for its end, which takes as long as the scenario says.
            return;
        }
        self.open -= 1;
        self.last_completion = Some(now);
        for group in &mut self.groups {
            group.delivered_by_completion = group.delivered;
        }
        if let Some(query) = query.map(|query| &mut self.queries[query]) {
            query.open -= 1;
            query.slowest = Some(id);
            if query.open == 0 {
                query.completion = Some(now);
            }
        }
        if let Some(bins) = &mut core.books().bins {
            bins.add_completion(group, now, now - start);
        }
        self.close_transfer(id, core);
        self.ask_traffic(group.index(), now, core, |traffic, cx| traffic.on_complete(cx, id));
        self.see_whether_finished();
    }

    /// Nothing of a transfer changes any more: its row remains.
    pub(crate) fn close_transfer<C: EventCore>(&mut self, id: TransferId, core: &mut C) {
        self.close_request(id, core);
        let Some(transfer) = self.transfers.open.remove(&id) else { return };
        let row = row(self, &transfer, core);
        self.transfers.finite_over += row.bytes.map_or(0, |_| row.delivered);
        if let Err(error) = self.transfers.rows.set(id.index(), row) {
            self.fail(RunError::spill(&error));
        }
    }

    /// The handshake was given up: the transfer will not complete.
    pub(crate) fn on_flow_failed<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        let transfer = self.flows[id].carries();
        let state = &mut self.transfers[transfer];
        state.failed = true;
        let group = state.group;
        self.open -= usize::from(state.bytes.is_some());
        self.ask_traffic(group.index(), now, core, |traffic, cx| traffic.on_complete(cx, transfer));
        self.see_whether_finished();
    }

    /// What was counted for a flow up to now. Marks at dequeue are known once a port is looked at, so the ports on
    /// the flow's way are.
    pub(crate) fn counters<C: EventCore>(&self, flow: FlowId, core: &mut C) -> Counters {
        let state = &self.flows[flow];
        for path in std::iter::once(&state.wire.forward).chain(&state.wire.cell_paths[..]) {
            for link in self.paths.links(*path) {
                core.backlog(link, self.now);
            }
        }
        let book = &core.books().flows[flow];
        Counters {
            retransmissions: state.sender.retransmissions,
            loss_probes: u64::from(state.loss_probes),
            timeouts: state.timeouts,
            drops: book.drops,
            marks: book.marks,
        }
    }
}
