//! Relay tree: a client sends requests to aggregators near it, which send requests to their workers and forward the
//! responses.
//!
//! The partition-aggregate pattern with a middle tier, which RCCE calls its edge. Every hop is a TCP transfer of its
//! own, scheduled by its receiving host. All transfers in both directions belong to one query, which is complete when
//! the client has received everything.

mod params;
#[cfg(test)]
mod tests;

use super::{
    Connection, OpenConnection, Outlook, Pace, QueryOf, Request, Traffic, TrafficAction, TrafficCx, TrafficRow,
    TransferSpec, Unopened, asked_for,
};
use crate::topology::Demand;
use fanin_core::ids::{NodeId, TransferId};
use fanin_core::units::Time;
use fanin_param::{SpecError, Values};
use params::PARAMS;
use std::collections::BTreeMap;

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "relay-tree",
    summary: "A client sends requests to nearby aggregators, which send requests to their own workers and forward the \
              responses.",
    params: PARAMS,
    demand_key: "senders",
    fan_in: Some("senders"),
    demand: |values| {
        let (workers, edges) = (values.integer("senders") as usize, values.integer("edge-count") as usize);
        let own = values.is("placement", "own-host");
        Demand { senders: edges + if own { workers } else { 1 }, receivers: values.integer("receiver") as usize + 1 }
    },
    one_client: true,
    near: near_client,
    unopened: |values| {
        let open = Unopened { key: "cut-through", instead: "cut-through = false" };
        if values.flag("cut-through") { Some(open) } else { asked_for(values) }
    },
    build: |values, _| build(values),
};

/// The number of aggregators, if they are to be at the client's switch.
fn near_client(values: &Values) -> usize {
    if values.is("edge-placement", "near") { values.integer("edge-count") as usize } else { 0 }
}

fn build(values: &Values) -> Result<Box<dyn Traffic>, SpecError> {
    let (workers, edges) = (values.integer("senders") as usize, values.integer("edge-count") as usize);
    let fan_in = match values.integer("edge-fan-in") as usize {
        0 => workers.div_ceil(edges.max(1)),
        fan_in if edges > 0 && fan_in.saturating_mul(edges) < workers => {
            let message = format!("{edges} aggregators with {fan_in} workers each do not take {workers} workers");
            return Err(values.fail("edge-fan-in", message));
        }
        fan_in => fan_in,
    };
    let small = values.integer("small-senders") as usize;
    if small > workers {
        return Err(values.fail("small-senders", format!("there are {workers} workers in all")));
    }
    Ok(Box::new(RelayTree {
        workers,
        large: values.bytes("bytes-each").get(),
        small: (small, values.bytes("small-bytes").get()),
        fan_in,
        last: values.is("edge-placement", "last"),
        compute: values.time("edge-compute"),
        reduction: values.number("edge-reduction"),
        cut_through: values.flag("cut-through"),
        triage: values.bytes("edge-triage").get(),
        gathered: values.is("edge-triage-by", "gathered").then(|| vec![Seen::default(); workers]),
        start: values.time("start"),
        rounds: values.integer("rounds"),
        gap: values.time("gap"),
        request: values.bytes("request").get(),
        think: values.time("think"),
        think_jitter: values.time("think-jitter"),
        receiver: values.integer("receiver") as usize,
        edges: vec![Edge::default(); edges],
        legs: BTreeMap::new(),
        started: 0,
    }))
}

/// The purpose of a transfer.
#[derive(Clone, Copy, Debug)]
enum Leg {
    /// The client's request to an aggregator.
    Down(usize),
    /// A worker's response to an aggregator.
    In(usize, usize),
    /// An aggregator's response to the client.
    Up(usize),
    /// A worker's response to the client.
    Straight(usize),
}

/// The state of an aggregator.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    /// Outstanding responses of its workers.
    waiting: usize,
    /// Bytes received and not yet forwarded.
    stored: u64,
    /// A response to the client is in progress.
    busy: bool,
}

/// A worker's earlier responses.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    responses: u64,
    bytes: u64,
}

struct RelayTree {
    workers: usize,
    large: u64,
    /// Number of small responses, and their size in bytes.
    small: (usize, u64),
    fan_in: usize,
    last: bool,
    compute: Time,
    reduction: f64,
    cut_through: bool,
    triage: u64,
    /// Earlier responses by worker, if the triage uses gathered sizes.
    gathered: Option<Vec<Seen>>,
    start: Time,
    rounds: u64,
    gap: Time,
    request: u64,
    think: Time,
    think_jitter: Time,
    receiver: usize,
    edges: Vec<Edge>,
    /// Transfers in progress.
    legs: BTreeMap<TransferId, Leg>,
    /// Number of queries started.
    started: u64,
}

impl RelayTree {
    /// The hosts of aggregators, and those of workers.
    fn hosts<'a>(&self, senders: &'a [NodeId]) -> (&'a [NodeId], &'a [NodeId]) {
        let edges = self.edges.len();
        if self.last {
            let (workers, edges) = senders.split_at(senders.len() - edges);
            (edges, workers)
        } else {
            senders.split_at(edges)
        }
    }

    fn bytes(&self, worker: usize) -> u64 {
        if worker < self.small.0 { self.small.1 } else { self.large }
    }

    /// The aggregator of a worker; none if the worker responds to the client directly.
    fn edge_of(&self, worker: usize) -> Option<usize> {
        // READING: E21 workers with large responses are bandwidth-intensive; so is one without an earlier response,
        // whose size is unknown.
        let bytes = match &self.gathered {
            Some(seen) => seen[worker].bytes.checked_div(seen[worker].responses).unwrap_or(u64::MAX),
            None => self.bytes(worker),
        };
        (!self.edges.is_empty() && bytes >= self.triage).then(|| worker / self.fan_in)
    }

    /// A response has passed the edge, through an aggregator or directly to the client.
    fn gather(&mut self, worker: usize) {
        let bytes = self.bytes(worker);
        if let Some(seen) = &mut self.gathered {
            seen[worker] = Seen { responses: seen[worker].responses + 1, bytes: seen[worker].bytes + bytes };
        }
    }

    fn begin(&mut self, at: Time, cx: &mut TrafficCx<'_>) {
        self.started += 1;
        cx.actions.push(TrafficAction::Query);
        for worker in (0..self.workers).filter(|worker| self.edge_of(*worker).is_none()).collect::<Vec<_>>() {
            self.ask_worker(worker, at, cx);
        }
        for edge in 0..self.edges.len() {
            self.edges[edge].waiting = (0..self.workers).filter(|worker| self.edge_of(*worker) == Some(edge)).count();
            if self.edges[edge].waiting == 0 {
                continue;
            }
            if self.request == 0 {
                self.ask_workers(edge, at, cx);
            } else {
                let (client, host) = (cx.receivers[self.receiver], self.hosts(cx.senders).0[edge]);
                self.send(Leg::Down(edge), [client, host], self.request, at, cx);
            }
        }
    }

    fn ask_workers(&mut self, edge: usize, at: Time, cx: &mut TrafficCx<'_>) {
        for worker in (0..self.workers).filter(|worker| self.edge_of(*worker) == Some(edge)).collect::<Vec<_>>() {
            self.ask_worker(worker, at, cx);
        }
    }

    /// Starts a worker's response to its aggregator or to the client.
    fn ask_worker(&mut self, worker: usize, at: Time, cx: &mut TrafficCx<'_>) {
        let (edges, workers) = self.hosts(cx.senders);
        let (bytes, from) = (self.bytes(worker), workers[worker % workers.len()]);
        let (leg, to) = match self.edge_of(worker) {
            Some(edge) => (Leg::In(edge, worker), edges[edge]),
            None => (Leg::Straight(worker), cx.receivers[self.receiver]),
        };
        let think = self.think + cx.stream.uniform_time(self.think_jitter);
        let spec = TransferSpec::response(at, [from, to], bytes, Request { bytes: self.request, think });
        self.legs.insert(cx.transfer(spec), leg);
    }

    /// Forwards the received data after computation and reduction.
    fn pass_on(&mut self, edge: usize, cx: &mut TrafficCx<'_>) {
        let state = &mut self.edges[edge];
        // A response has at least one byte.
        let bytes = ((state.stored as f64 * self.reduction).ceil() as u64).max(1);
        (state.stored, state.busy) = (0, true);
        let (client, host) = (cx.receivers[self.receiver], self.hosts(cx.senders).0[edge]);
        self.send(Leg::Up(edge), [host, client], bytes, cx.now + self.compute, cx);
    }

    fn send(&mut self, leg: Leg, ends: [NodeId; 2], bytes: u64, start: Time, cx: &mut TrafficCx<'_>) {
        let connection = match leg {
            Leg::Up(edge) if self.cut_through => Connection::Persistent(edge as u32),
            _ => Connection::Fresh,
        };
        let spec = TransferSpec { connection, query: QueryOf::Latest, ..TransferSpec::new(start, ends, Some(bytes)) };
        self.legs.insert(cx.transfer(spec), leg);
    }
}

impl Traffic for RelayTree {
    fn outlook(&self) -> Outlook {
        let (small, workers) = (self.small.0 as f64, self.workers as f64);
        let bytes = small * self.small.1 as f64 + (workers - small) * self.large as f64;
        // A request to each aggregator and a response, or with cut-through up to one per worker's response.
        let relayed = if self.cut_through { self.workers } else { self.edges.len() };
        let hops = if self.edges.is_empty() { 0 } else { self.edges.len() + relayed };
        Outlook {
            pace: Pace::Rounds { each: (self.workers + hops) as u64, rounds: self.rounds },
            mean: bytes / workers,
            receivers: self.edges.len().max(1),
            start: self.start,
            stop: Time::NEVER,
        }
    }

    fn open_connections(&self, senders: &[NodeId], receivers: &[NodeId]) -> Vec<OpenConnection> {
        let edges = if self.cut_through { self.hosts(senders).0 } else { &[] };
        let to = receivers[self.receiver];
        let numbered = edges.iter().zip(0..);
        numbered.map(|(from, number)| OpenConnection { number, from: *from, to, asked: false }).collect()
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        self.begin(self.start, cx);
    }

    fn on_complete(&mut self, cx: &mut TrafficCx<'_>, transfer: TransferId) {
        match self.legs.remove(&transfer) {
            Some(Leg::Down(edge)) => self.ask_workers(edge, cx.now, cx),
            Some(Leg::In(edge, worker)) => {
                self.gather(worker);
                let bytes = self.bytes(worker);
                let state = &mut self.edges[edge];
                state.waiting -= 1;
                state.stored += bytes;
                let ready = if self.cut_through { !state.busy } else { state.waiting == 0 };
                if ready {
                    self.pass_on(edge, cx);
                }
            }
            Some(Leg::Up(edge)) => {
                self.edges[edge].busy = false;
                if self.edges[edge].stored > 0 {
                    self.pass_on(edge, cx);
                }
            }
            Some(Leg::Straight(worker)) => self.gather(worker),
            None => {}
        }
        if self.legs.is_empty() && self.started < self.rounds {
            self.begin(cx.now + self.gap, cx);
        }
    }

    fn has_more(&self) -> bool {
        self.started < self.rounds
    }
}
