//! Incast: many servers respond to one client at the same time, once or in barrier-synchronised rounds.

use super::responses::{BYTES_EACH, BYTES_TOTAL, Responses};
use super::{
    Connection, EXPONENTIAL_BOUND, EXPONENTIAL_STEP, OpenConnection, Outlook, Pace, QueryOf, Request, Spread, Traffic,
    TrafficAction, TrafficCx, TrafficRow, TransferSpec, Unopened, asked_for, host, shuffled,
};
use crate::topology::Demand;
use fanin_core::ids::{NodeId, TransferId};
use fanin_core::units::Time;
use fanin_param::{Kind, Param, SpecError, Values};

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "incast",
    summary: "Many servers respond to one client at once, once or in barrier-synchronised rounds.",
    params: PARAMS,
    demand_key: "senders",
    fan_in: Some("senders"),
    demand: |values| {
        let senders = values.integer("senders") as usize;
        let own = values.is("placement", "own-host");
        Demand {
            senders: if own { senders } else { senders.min(1) },
            receivers: values.integer("receiver") as usize + 1,
        }
    },
    one_client: true,
    near: |_| 0,
    unopened: |values| {
        let open = Unopened { key: "connections", instead: "connections = \"fresh\"" };
        if values.is("connections", "fresh") { asked_for(values) } else { Some(open) }
    },
    build: |values, _| build(values),
};

const PARAMS: &[Param] = &[
    Param::new("senders", Kind::Integer, "", "Number of servers that respond; 0 for none.", "required")
        .at_most(1_000_000.0),
    BYTES_EACH,
    BYTES_TOTAL,
    Param::new(
        "start",
        Kind::Start,
        "0s",
        "When the first round begins; \"steady\": once what runs before is steady.",
        "at once",
    ),
    Param::new(
        "jitter",
        Kind::Time,
        "0s",
        "Each start is delayed by a random time, uniform below this.",
        "synchronised, as the papers say",
    ),
    Param::new(
        "exponential",
        Kind::Time,
        "0s",
        "Each start is delayed by a random time, exponential with this mean.",
        "off; RCC Fig. 2 uses 15 ms",
    )
    .reading("R3"),
    EXPONENTIAL_BOUND,
    EXPONENTIAL_STEP,
    Param::new(
        "together",
        Kind::Bool,
        "false",
        "Whether one random delay applies to the whole round instead of one to each response.",
        "one to each response; the short flows of RCC's experiment under load begin together",
    ),
    Param::new(
        "rounds",
        Kind::Integer,
        "1",
        "Number of rounds; each begins when all responses of the previous one have arrived (Phanishayee et al. 2008).",
        "one",
    )
    .at_least(1.0),
    Param::new(
        "concurrent",
        Kind::Integer,
        "0",
        "Maximum number of outstanding responses; when one has arrived the next is requested. 0: no limit.",
        "synchronised, as the papers say; a limit is pacing by the application",
    ),
    Param::new("gap", Kind::Time, "0s", "Pause between rounds.", "at once"),
    Param::new("stop", Kind::Time, "0s", "No round begins then or later; 0s for no limit.", "no limit"),
    Param::new(
        "connections",
        Kind::Choice(&["fresh", "opened", "persistent"]),
        "fresh",
        "A new connection with its handshake for each response (fresh), or one connection per server. That one is \
         opened by a handshake before the first round (opened), or open before the run, so no switch has seen its \
         handshake (persistent).",
        "the papers: connection set-up is part of the experiment",
    ),
    Param::new(
        "open-at",
        Kind::Time,
        "0s",
        "When `opened` connections are opened: their SYNs are sent then, or up to `open-spread` later.",
        "when the run begins",
    ),
    Param::new(
        "open-spread",
        Kind::Time,
        "10ms",
        "Each of these SYNs is delayed by a random time, uniform below this.",
        "our choice: SYNs of hundreds of servers do not meet",
    ),
    Param::new(
        "request",
        Kind::Bytes,
        "0B",
        "Size of the request that the client sends to each server; 0: no request, servers start by themselves.",
        "the papers' servers start by themselves",
    ),
    Param::new("think", Kind::Time, "0s", "Time of a server between the request and its response.", "none"),
    Param::new("think-jitter", Kind::Time, "0s", "Random addition to the think time, uniform below this.", "none"),
    Param::new(
        "receiver",
        Kind::Integer,
        "0",
        "Index of the receiving host that gets the responses, from 0.",
        "the first",
    )
    .at_most(65_534.0),
    Param::new(
        "placement",
        Kind::Choice(&["own-host", "round-robin", "random"]),
        "own-host",
        "Whether each server has its own host, or servers share the hosts in turn, or in a random order that every \
         round draws.",
        "as in the papers",
    ),
];

fn build(values: &Values) -> Result<Box<dyn Traffic>, SpecError> {
    let senders = values.integer("senders") as usize;
    let responses = Responses::of(values, senders)?;
    let (persistent, random) = (!values.is("connections", "fresh"), values.is("placement", "random"));
    if persistent && random {
        return Err(values.fail("placement", "open connections stay with their hosts; give connections = \"fresh\""));
    }
    let opens = values.is("connections", "opened").then(|| (values.time("open-at"), values.time("open-spread")));
    let (mut start, stop) = (values.time("start"), values.time("stop"));
    if let Some((at, spread)) = opens.filter(|_| values.is_steady("start")) {
        // What is steady has no connections of this group, which are opened first.
        start = at + spread;
    }
    if let Some((at, spread)) = opens
        && at + spread > start
    {
        return Err(values.fail("open-at", format!("with open-spread must not be later than start, which is {start}")));
    }
    if stop > Time::ZERO && stop <= start {
        return Err(values.fail("stop", format!("must be later than start, which is {start}")));
    }
    Ok(Box::new(Incast {
        senders,
        responses,
        start,
        stop: if stop > Time::ZERO { stop } else { Time::NEVER },
        spread: Spread::of(values),
        together: values.flag("together"),
        rounds: values.integer("rounds"),
        gap: values.time("gap"),
        persistent,
        opens,
        request: values.bytes("request").get(),
        think: values.time("think"),
        think_jitter: values.time("think-jitter"),
        receiver: values.integer("receiver") as usize,
        random,
        concurrent: values.integer("concurrent") as usize,
        started: 0,
        open: 0,
        next: 0,
        order: Vec::new(),
    }))
}

struct Incast {
    senders: usize,
    responses: Responses,
    start: Time,
    /// No round starts at this time or later.
    stop: Time,
    spread: Spread,
    /// One draw delays a whole round.
    together: bool,
    rounds: u64,
    gap: Time,
    persistent: bool,
    /// If connections are opened before the first round: from when on, and spread over which time.
    opens: Option<(Time, Time)>,
    request: u64,
    think: Time,
    think_jitter: Time,
    receiver: usize,
    /// Every round has a random order of hosts.
    random: bool,
    /// Maximum number of outstanding responses; 0 for no limit.
    concurrent: usize,
    /// Number of rounds started.
    started: u64,
    /// Outstanding responses of the current round.
    open: usize,
    /// Index of the server of the current round that responds next.
    next: usize,
    /// The hosts of the current round.
    order: Vec<NodeId>,
}

impl Incast {
    fn begin_round(&mut self, at: Time, cx: &mut TrafficCx<'_>) {
        self.started += 1;
        self.open = self.senders;
        self.next = 0;
        cx.actions.push(TrafficAction::Query);
        if self.random || self.order.is_empty() {
            self.order = if self.random { shuffled(cx.senders, cx.stream) } else { cx.senders.to_vec() };
        }
        let at = if self.together { at + self.spread.draw(cx.stream) } else { at };
        let at_once = if self.concurrent == 0 { self.senders } else { self.senders.min(self.concurrent) };
        (0..at_once).for_each(|_| self.ask_next(at, cx));
    }

    /// Starts the response of the round's next server at `at` or later.
    fn ask_next(&mut self, at: Time, cx: &mut TrafficCx<'_>) {
        let i = self.next;
        self.next += 1;
        let delay = if self.together { Time::ZERO } else { self.spread.draw(cx.stream) };
        let think = self.think + cx.stream.uniform_time(self.think_jitter);
        let bytes = Some(self.responses.bytes(i, self.senders, cx.stream));
        let ends = [host(&self.order, i), cx.receivers[self.receiver]];
        let opens = self.opens.filter(|_| self.started == 1).map(|(at, spread)| at + cx.stream.uniform_time(spread));
        cx.actions.push(TrafficAction::Transfer(TransferSpec {
            connection: if self.persistent { Connection::Persistent(i as u32) } else { Connection::Fresh },
            request: (self.request > 0).then_some(Request { bytes: self.request, think }),
            query: QueryOf::Latest,
            opens,
            ..TransferSpec::new(at + delay, ends, bytes)
        }));
    }
}

impl Traffic for Incast {
    fn outlook(&self) -> Outlook {
        Outlook {
            pace: Pace::Rounds { each: self.senders as u64, rounds: self.rounds },
            mean: self.responses.mean(self.senders) / self.senders.max(1) as f64,
            receivers: 1,
            start: self.start,
            stop: self.stop,
        }
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        if self.senders == 0 {
            self.rounds = 0;
            return;
        }
        self.begin_round(self.start, cx);
    }
    fn on_complete(&mut self, cx: &mut TrafficCx<'_>, _transfer: TransferId) {
        self.open -= 1;
        if self.next < self.senders {
            self.ask_next(cx.now, cx);
        }
        if self.open > 0 || self.started >= self.rounds {
            return;
        }
        let at = cx.now + self.gap;
        if at < self.stop {
            self.begin_round(at, cx);
        } else {
            self.rounds = self.started;
        }
    }
    fn has_more(&self) -> bool {
        self.started < self.rounds
    }
    fn open_connections(&self, senders: &[NodeId], receivers: &[NodeId]) -> Vec<OpenConnection> {
        let connection = |i| {
            let (from, to) = (host(senders, i), receivers[self.receiver]);
            OpenConnection { number: i as u32, from, to, asked: self.request > 0 }
        };
        let open = if self.persistent && self.opens.is_none() { self.senders } else { 0 };
        (0..open).map(connection).collect()
    }
}
