//! Traffic: which transfers start, and when.
//!
//! A pattern is called at the start, whenever one of its transfers completes, and at times that it requests. Each time
//! it can start transfers. To add one: a file here and a row in [`REGISTRY`].

mod background;
pub mod flow_file;
mod flows;
mod incast;
mod offered;
mod outlook;
mod relay_tree;
mod requests;
mod reread;
mod responses;
mod sessions;
#[cfg(test)]
mod tests;

pub use offered::Offered;
pub use outlook::{Bounds, Forecast, Outlook, Pace};

use crate::topology::{Demand, Topology};
use fanin_core::ids::{NodeId, TransferId};
use fanin_core::rng::Stream;
use fanin_core::units::Time;
use fanin_param::{Files, Kind, Param, SpecError, Values};

/// A traffic pattern that scenarios can name.
pub struct TrafficRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[[traffic]]` table.
    pub params: &'static [Param],
    /// The key that sets the number of hosts.
    pub demand_key: &'static str,
    /// The key of its fan-in: the number of hosts that send to one receiver at the same time.
    pub fan_in: Option<&'static str>,
    /// The hosts that it needs.
    pub demand: fn(&Values) -> Demand,
    /// All its data goes to one host, the last of its receivers.
    pub one_client: bool,
    /// The number of its sending hosts, the first ones, that should be at its client's switch.
    pub near: fn(&Values) -> usize,
    /// The key that makes data use connections that the host that sends it does not open, if any.
    pub unopened: fn(&Values) -> Option<Unopened>,
    /// Builds the pattern.
    pub build: Build,
}

/// A key that makes data use connections that the sender of the data does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unopened {
    /// The key.
    pub key: &'static str,
    /// The setting with which it does.
    pub instead: &'static str,
}

/// Requests share the connection of their response, which the client opens.
fn asked_for(values: &Values) -> Option<Unopened> {
    let asked = values.bytes("request").get() > 0;
    asked.then_some(Unopened { key: "request", instead: "request = \"0B\"" })
}

/// Builds a pattern for a network and its hosts.
pub(crate) type Build = fn(&Values, &Place<'_>) -> Result<Box<dyn Traffic>, SpecError>;

/// The network and the hosts for which a pattern is built.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// The sending hosts of the group.
    pub senders: &'a [NodeId],
    /// The receiving hosts of the group.
    pub receivers: &'a [NodeId],
    /// The files that its keys may name.
    pub files: &'a Files,
}

/// Every traffic pattern.
pub static REGISTRY: &[TrafficRow] =
    &[incast::ROW, background::ROW, sessions::ROW, sessions::POISSON, requests::ROW, flows::ROW, relay_tree::ROW];

/// The connection of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A connection of its own, which a handshake opens and a FIN closes.
    Fresh,
    /// A connection that stays open. Transfers with the same number use it one after the other. It is open before the
    /// run, unless a transfer opens it ([`TransferSpec::opens`]).
    Persistent(u32),
}

/// A connection that is open before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnection {
    /// The number that transfers name it by ([`Connection::Persistent`]).
    pub number: u32,
    /// The host that sends data on it.
    pub from: NodeId,
    /// The host that gets them.
    pub to: NodeId,
    /// Whether requests precede them.
    pub asked: bool,
}

/// The request that a server responds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes of the request.
    pub bytes: u64,
    /// Think time: from the arrival of the request to the start of the response.
    pub think: Time,
}

/// The query that a transfer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryOf {
    /// It belongs to none.
    None,
    /// The one of its group that started last.
    Latest,
    /// The one of its group with this number, in the order of their starts.
    Number(u32),
}

/// A transfer to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSpec {
    /// When it starts: the SYN, the request or the first byte is sent.
    pub start: Time,
    /// When a handshake opens its connection, if that is before the start. The connection then stays open.
    pub opens: Option<Time>,
    /// The sending host.
    pub from: NodeId,
    /// The receiving host.
    pub to: NodeId,
    /// Size in bytes; none for endless data.
    pub bytes: Option<u64>,
    /// When an endless transfer is stopped.
    pub stop: Option<Time>,
    /// Its connection.
    pub connection: Connection,
    /// A request that the receiver sends first.
    pub request: Option<Request>,
    /// The query that it belongs to.
    pub query: QueryOf,
    /// Deadline relative to its start, if it differs from the group's.
    pub deadline: Option<Time>,
    /// Its class, if it has one: an index into [`Traffic::classes`].
    pub class: Option<u32>,
}

impl TransferSpec {
    /// A transfer without a request on a connection of its own, with defaults for everything else.
    #[must_use]
    pub(crate) fn new(start: Time, [from, to]: [NodeId; 2], bytes: Option<u64>) -> Self {
        Self {
            start,
            opens: None,
            from,
            to,
            bytes,
            stop: None,
            connection: Connection::Fresh,
            request: None,
            query: QueryOf::None,
            deadline: None,
            class: None,
        }
    }

    /// The same transfer of a group whose clock began at `origin`.
    #[must_use]
    pub fn after(self, origin: Time) -> Self {
        let later = |time: Option<Time>| time.map(|time| time + origin);
        Self { start: self.start + origin, opens: later(self.opens), stop: later(self.stop), ..self }
    }

    /// A worker's response in the current query. It follows a request, or if that has no bytes, it starts after the
    /// think time from `at`.
    #[must_use]
    pub(crate) fn response(at: Time, ends: [NodeId; 2], bytes: u64, request: Request) -> Self {
        let asked = request.bytes > 0;
        Self {
            request: asked.then_some(request),
            query: QueryOf::Latest,
            ..Self::new(if asked { at } else { at + request.think }, ends, Some(bytes))
        }
    }
}

/// One `[[traffic]]` group.
#[derive(Clone, Debug)]
pub struct TrafficGroup {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The registry key of its pattern.
    pub kind: &'static str,
    /// The scheme of its end points, if it is not the one of `[transport]`.
    pub scheme: Option<&'static str>,
    /// Where the scheme was set: `scenario.toml:12`, or `--set`.
    pub scheme_set_at: Option<String>,
    /// Its other values.
    pub values: Values,
}

/// An action that a pattern requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrafficAction {
    /// Start a transfer.
    Transfer(TransferSpec),
    /// Start a query, to which the following transfers belong.
    Query,
    /// Call the pattern at this time.
    Wake(Time),
    /// Abort the run for this reason, such as a changed input file.
    Fail(String),
}

/// What a pattern can read and request when it is called.
#[derive(Debug)]
pub struct TrafficCx<'a> {
    /// The current time.
    pub now: Time,
    /// The sending hosts of the group.
    pub senders: &'a [NodeId],
    /// The receiving hosts of the group.
    pub receivers: &'a [NodeId],
    /// Number of the next transfer.
    pub next: TransferId,
    /// The pattern's own random stream.
    pub stream: &'a mut Stream,
    /// The requested actions, in order.
    pub actions: &'a mut Vec<TrafficAction>,
}

impl TrafficCx<'_> {
    /// Starts a transfer. Returns its number, provided that all transfers of a call are started by this method.
    pub(crate) fn transfer(&mut self, spec: TransferSpec) -> TransferId {
        let number = self.next;
        self.next = TransferId::new(number.index() + 1);
        self.actions.push(TrafficAction::Transfer(spec));
        number
    }
}

/// An active traffic pattern.
pub trait Traffic: Send {
    /// The run starts.
    fn on_start(&mut self, cx: &mut TrafficCx<'_>);
    /// One of its transfers completed.
    fn on_complete(&mut self, _cx: &mut TrafficCx<'_>, _transfer: TransferId) {}
    /// A time that it requested has come.
    fn on_wake(&mut self, _cx: &mut TrafficCx<'_>) {}
    /// It may start further transfers, so the run does not end when the current ones are complete.
    fn has_more(&self) -> bool {
        false
    }
    /// Whether its transfers start at times that do not depend on others, each on a connection of its own and without a
    /// request, and at least one is planned at each time that it requests.
    fn is_open_loop(&self) -> bool {
        false
    }
    /// All its connections that are open before the run, for these sending and receiving hosts.
    fn open_connections(&self, _senders: &[NodeId], _receivers: &[NodeId]) -> Vec<OpenConnection> {
        Vec::new()
    }
    /// Names of its transfers' classes.
    fn classes(&self) -> &[String] {
        &[]
    }
    /// An estimate of the transfers that it will start.
    fn outlook(&self) -> Outlook;
    /// The offered load, if arrivals do not depend on completions.
    fn offered(&self) -> Option<Offered> {
        None
    }
}

/// The host of the `i`-th flow of a group.
fn host(hosts: &[NodeId], i: usize) -> NodeId {
    hosts[i % hosts.len()]
}

/// The hosts in a random order.
fn shuffled(hosts: &[NodeId], stream: &mut Stream) -> Vec<NodeId> {
    let mut hosts = hosts.to_vec();
    stream.shuffle(&mut hosts);
    hosts
}

/// Largest exponential delay of a start.
const EXPONENTIAL_BOUND: Param = Param::new(
    "exponential-bound",
    Kind::Time,
    "0s",
    "Largest exponential delay of a start: one above it is drawn again; 0s for none.",
    "none; RCC's scripts have twice the mean, in lines that are commented out",
)
.reading("R3");
/// Grain of the exponential delays of starts.
const EXPONENTIAL_STEP: Param = Param::new(
    "exponential-step",
    Kind::Time,
    "0s",
    "Exponential delays are rounded down to whole multiples of this; 0s for exact ones.",
    "exact; RCC's scripts have whole milliseconds, in lines that are commented out",
)
.reading("R3");

/// The random delay of a flow's or round's start.
#[derive(Clone, Copy, Debug)]
struct Spread {
    jitter: Time,
    exponential: Time,
    /// Largest exponential delay: what is drawn above it is drawn again; zero for none.
    bound: Time,
    /// Exponential delays are whole multiples of this, rounded down; zero for exact ones.
    step: Time,
}

impl Spread {
    fn of(values: &Values) -> Self {
        Self {
            jitter: values.time("jitter"),
            exponential: values.time("exponential"),
            bound: values.time("exponential-bound"),
            step: values.time("exponential-step"),
        }
    }
    fn draw(self, stream: &mut Stream) -> Time {
        let jitter = stream.uniform_time(self.jitter);
        jitter + if self.exponential > Time::ZERO { self.exponential(stream) } else { Time::ZERO }
    }
    /// As ns-3's `ExponentialRandomVariable`: a value above the bound is drawn again.
    fn exponential(self, stream: &mut Stream) -> Time {
        loop {
            let drawn = stream.exponential_time(self.exponential);
            if self.bound == Time::ZERO || drawn <= self.bound {
                let step = self.step.ps().max(1);
                return Time::from_ps(drawn.ps() / step * step);
            }
        }
    }
}
