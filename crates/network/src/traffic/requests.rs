//! Requests: queries that start independently. In each, a random client sends requests to several random workers.
//!
//! The partition-aggregate pattern of DCTCP's section 2.2 at a given load: each query is an incast, and queries
//! overlap. The pattern `incast` has one client and sequential rounds; `relay-tree` adds a middle tier.

use super::offered::{Offered, count, stop};
use super::responses::{BYTES_EACH, BYTES_TOTAL, Responses};
use super::sessions::params::{COUNT, INTERVAL, LOAD, LOAD_OF, PLACEMENT, RECEIVERS, SENDERS, START, STOP, THINK};
use super::sessions::{demand, receivers};
use super::{Outlook, Pace, Place, Request, Traffic, TrafficAction, TrafficCx, TrafficRow, TransferSpec, asked_for};
use fanin_core::ids::NodeId;
use fanin_core::units::Time;
use fanin_param::{Kind, Param, SpecError, Values};

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "requests",
    summary: "Queries that start independently: a random client sends requests to several random workers at once.",
    params: PARAMS,
    demand_key: "senders",
    fan_in: Some("fan-in"),
    demand,
    one_client: false,
    near: |_| 0,
    unopened: asked_for,
    build,
};

const PARAMS: &[Param] = &[
    Param::new("fan-in", Kind::Integer, "", "Workers that each query sends requests to.", "required")
        .at_least(1.0)
        .at_most(1_000_000.0),
    BYTES_EACH,
    BYTES_TOTAL,
    LOAD,
    LOAD_OF,
    INTERVAL,
    Param::new(
        "arrivals",
        Kind::Choice(&["poisson", "periodic"]),
        "poisson",
        "Times between the starts of queries: poisson draws them from an exponential distribution, periodic has them all \
         equal, and the first query at start.",
        "our choice: poisson, as for the other traffic at a load",
    ),
    COUNT,
    START,
    STOP,
    Param::new("jitter", Kind::Time, "0s", "Each response is delayed by a random time, uniform below this.", "none"),
    Param::new(
        "request",
        Kind::Bytes,
        "0B",
        "Bytes of the request that the client sends to each worker first; 0: workers begin by themselves.",
        "the incast papers' servers begin by themselves; DCTCP, section 4.2.2 has 1.6KB",
    ),
    THINK,
    Param::new("think-jitter", Kind::Time, "0s", "Seeded uniform addition to the think time, below this.", "none"),
    SENDERS,
    RECEIVERS,
    PLACEMENT,
];

fn build(values: &Values, place: &Place<'_>) -> Result<Box<dyn Traffic>, SpecError> {
    let fan_in = values.integer("fan-in") as usize;
    let responses = Responses::of(values, fan_in)?;
    let clients = receivers(values, place);
    let mean = responses.mean(fan_in);
    Ok(Box::new(Requests {
        fan_in,
        responses,
        offered: Offered::of(values, place, clients, mean)?,
        clients: clients.to_vec(),
        workers: place.senders.to_vec(),
        periodic: values.choice("arrivals") == "periodic",
        start: values.time("start"),
        stop: stop(values)?,
        left: count(values),
        jitter: values.time("jitter"),
        request: values.bytes("request").get(),
        think: values.time("think"),
        think_jitter: values.time("think-jitter"),
    }))
}

struct Requests {
    fan_in: usize,
    responses: Responses,
    offered: Offered,
    clients: Vec<NodeId>,
    /// Permuted by every query.
    workers: Vec<NodeId>,
    /// Whether queries start at equal times from each other.
    periodic: bool,
    start: Time,
    /// No query starts at this time or later.
    stop: Time,
    /// Number of queries that may still start.
    left: u64,
    jitter: Time,
    request: u64,
    think: Time,
    think_jitter: Time,
}

impl Requests {
    /// Requests a call for the next query, so long after `after`.
    fn await_next(&self, after: Time, interval: Time, cx: &mut TrafficCx<'_>) {
        let next = after + if self.periodic { interval } else { cx.stream.exponential_time(interval) };
        if self.left > 0 && next < self.stop {
            cx.actions.push(TrafficAction::Wake(next));
        }
    }

    fn begin(&mut self, cx: &mut TrafficCx<'_>) {
        self.left -= 1;
        let client = self.clients[cx.stream.below(self.clients.len() as u64) as usize];
        // The client is not a worker of its own query: it is moved to the end and not drawn.
        let mut able = self.workers.len();
        if let Some(own) = self.workers.iter().position(|worker| *worker == client) {
            able -= 1;
            self.workers.swap(own, able);
        }
        debug_assert!(able > 0, "a group whose only worker is a client was refused");
        cx.actions.push(TrafficAction::Query);
        for i in 0..self.fan_in {
            let place = i % able;
            // Each worker gets one request before any gets a second one.
            if i < able {
                self.workers.swap(place, place + cx.stream.below((able - place) as u64) as usize);
            }
            self.ask(i, self.workers[place], client, cx);
        }
    }

    fn ask(&self, i: usize, worker: NodeId, client: NodeId, cx: &mut TrafficCx<'_>) {
        let start = cx.now + cx.stream.uniform_time(self.jitter);
        let think = self.think + cx.stream.uniform_time(self.think_jitter);
        let bytes = self.responses.bytes(i, self.fan_in, cx.stream);
        let request = Request { bytes: self.request, think };
        cx.actions.push(TrafficAction::Transfer(TransferSpec::response(start, [worker, client], bytes, request)));
    }
}

impl Traffic for Requests {
    fn outlook(&self) -> Outlook {
        let each = self.fan_in as u64;
        Outlook {
            pace: Pace::Open { each, interval: self.offered.interval, count: self.left },
            mean: self.offered.mean / self.fan_in as f64,
            receivers: self.clients.len(),
            start: self.start,
            stop: self.stop,
        }
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        let first = if self.periodic { Time::ZERO } else { self.offered.interval };
        self.await_next(self.start, first, cx);
    }

    fn on_wake(&mut self, cx: &mut TrafficCx<'_>) {
        self.begin(cx);
        self.await_next(cx.now, self.offered.interval, cx);
    }

    fn is_open_loop(&self) -> bool {
        self.request == 0
    }

    fn offered(&self) -> Option<Offered> {
        Some(self.offered)
    }
}
