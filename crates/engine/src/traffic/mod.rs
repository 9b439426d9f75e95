//! Traffic: which transfers start when.
//!
//! A pattern is called at the start, whenever one of its transfers completes, and at the times that it asked for.
//! Each time it returns transfers to start. To add one: a file here and a row in [`REGISTRY`].

mod background;
pub mod flow_file;
mod flows;
mod incast;
mod offered;
mod outlook;
mod relay_tree;
mod requests;
mod responses;
mod sessions;
#[cfg(test)]
mod tests;

pub use offered::Offered;
pub use outlook::{Bounds, Forecast, Outlook, Pace};

use crate::ids::{NodeId, TransferId};
use crate::rng::Stream;
use crate::spec::{Files, Param, SpecError, Values};
use crate::topology::{Demand, Topology};
use crate::units::Time;

/// A traffic pattern that a scenario can name.
pub struct TrafficRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[[traffic]]` table.
    pub params: &'static [Param],
    /// The key that says how many hosts it needs.
    pub demand_key: &'static str,
    /// The key that is its fan-in: how many hosts send to one receiver at the same time.
    pub fan_in: Option<&'static str>,
    /// Hosts that it needs.
    pub demand: fn(&Values) -> Demand,
    /// All its data goes to one host, the last of the receivers that it needs.
    pub one_client: bool,
    /// How many of its sending hosts stand at its client's switch, if there are so many; they are its first.
    pub near: fn(&Values) -> usize,
    /// Why not every connection of its data is opened by the host that sends the data, if so.
    pub unopened: fn(&Values) -> Option<Unopened>,
    /// Makes the pattern.
    pub build: Build,
}

/// A key by which data comes on connections that its sender does not open for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unopened {
    /// The key.
    pub key: &'static str,
    /// What to write so that it does.
    pub instead: &'static str,
}

/// Requests use the connection of their response, which the client then opens.
fn asked_for(values: &Values) -> Option<Unopened> {
    let asked = values.bytes("request").get() > 0;
    asked.then_some(Unopened { key: "request", instead: "request = \"0B\"" })
}

/// Makes a pattern for a given network and hosts.
pub type Build = fn(&Values, &Place<'_>) -> Result<Box<dyn Traffic>, SpecError>;

/// The network and the hosts of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// Its sending hosts.
    pub senders: &'a [NodeId],
    /// Its receiving hosts.
    pub receivers: &'a [NodeId],
    /// The files that its keys may name.
    pub files: &'a Files,
}

/// Every traffic pattern.
pub const REGISTRY: &[TrafficRow] =
    &[incast::ROW, background::ROW, sessions::ROW, sessions::POISSON, requests::ROW, flows::ROW, relay_tree::ROW];

/// How a transfer gets its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Opened for it by a handshake and closed after it.
    Fresh,
    /// One that stays open; transfers with the same number share it, one after the other. It is open before the run,
    /// unless a transfer opens it ([`TransferSpec::opens`]).
    Persistent(u32),
}

/// The request that a server responds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes of the request.
    pub bytes: u64,
    /// Think time: from the arrival of the request to the first byte of the response.
    pub think: Time,
}

/// A transfer to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSpec {
    /// When it begins: the SYN, the request, or the first byte leaves.
    pub start: Time,
    /// When its connection is opened by a handshake, if that is to be done before the start. The connection then stays
    /// open.
    pub opens: Option<Time>,
    /// The host whose data it is.
    pub from: NodeId,
    /// The host that gets it.
    pub to: NodeId,
    /// How much; none for endless data.
    pub bytes: Option<u64>,
    /// Time at which an endless transfer is stopped: the sender closes.
    pub stop: Option<Time>,
    /// On which connection.
    pub connection: Connection,
    /// A request that the receiver sends first.
    pub request: Option<Request>,
    /// Part of the query announced last, rather than on its own.
    pub in_query: bool,
    /// Deadline relative to its start, if it differs from the group's.
    pub deadline: Option<Time>,
    /// Its class, if it has one: an index into [`Traffic::classes`].
    pub class: Option<u32>,
}

impl TransferSpec {
    /// A transfer on a connection of its own that nobody asks for: the rest is set where it differs.
    #[must_use]
    pub fn new(start: Time, [from, to]: [NodeId; 2], bytes: Option<u64>) -> Self {
        Self {
            start,
            opens: None,
            from,
            to,
            bytes,
            stop: None,
            connection: Connection::Fresh,
            request: None,
            in_query: false,
            deadline: None,
            class: None,
        }
    }

    /// A worker's response, part of the query announced last, after the think time. Without a `request` no request
    /// packet is simulated, and the think time starts at `at`.
    #[must_use]
    pub fn response(at: Time, ends: [NodeId; 2], bytes: u64, request: Request) -> Self {
        let asked = request.bytes > 0;
        Self {
            request: asked.then_some(request),
            in_query: true,
            ..Self::new(if asked { at } else { at + request.think }, ends, Some(bytes))
        }
    }
}

/// An action that a pattern asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrafficAction {
    /// Start a transfer.
    Transfer(TransferSpec),
    /// A new query begins; the transfers that follow belong to it.
    Query,
    /// Call back at that time.
    Wake(Time),
    /// Abort the run for this reason: a file that the pattern reads has changed.
    Fail(String),
}

/// What a traffic pattern can read and request when it is called.
#[derive(Debug)]
pub struct TrafficCx<'a> {
    /// The clock.
    pub now: Time,
    /// Its sending hosts.
    pub senders: &'a [NodeId],
    /// Its receiving hosts.
    pub receivers: &'a [NodeId],
    /// Number of the next transfer.
    pub next: TransferId,
    /// Its own random stream.
    pub stream: &'a mut Stream,
    /// What to do, in order.
    pub actions: &'a mut Vec<TrafficAction>,
}

impl TrafficCx<'_> {
    /// Asks for a transfer. Returns its number, as long as all transfers of a call are asked for in this way.
    pub fn transfer(&mut self, spec: TransferSpec) -> TransferId {
        let number = self.next;
        self.next = TransferId::new(number.index() + 1);
        self.actions.push(TrafficAction::Transfer(spec));
        number
    }
}

/// An active traffic pattern.
pub trait Traffic: Send {
    /// The run begins.
    fn on_start(&mut self, cx: &mut TrafficCx<'_>);
    /// One of its transfers completed.
    fn on_complete(&mut self, _cx: &mut TrafficCx<'_>, _transfer: TransferId) {}
    /// A time that it asked for has come.
    fn on_wake(&mut self, _cx: &mut TrafficCx<'_>) {}
    /// It may still start transfers: the run is not over when the present ones are.
    fn has_more(&self) -> bool {
        false
    }
    /// What its transfers' classes are called.
    fn classes(&self) -> &[String] {
        &[]
    }
    /// How many transfers it will start.
    fn outlook(&self) -> Outlook;
    /// What arrives on average, if that does not depend on what completes.
    fn offered(&self) -> Option<Offered> {
        None
    }
}

/// Which host sends the `i`-th flow of a group.
fn host(hosts: &[NodeId], i: usize) -> NodeId {
    hosts[i % hosts.len()]
}

/// The hosts in a random order.
fn shuffled(hosts: &[NodeId], stream: &mut Stream) -> Vec<NodeId> {
    let mut hosts = hosts.to_vec();
    stream.shuffle(&mut hosts);
    hosts
}

/// How long a flow or round waits before it begins, where the scenario spreads them.
#[derive(Clone, Copy, Debug)]
struct Spread {
    jitter: Time,
    exponential: Time,
}

impl Spread {
    fn of(values: &Values) -> Self {
        Self { jitter: values.time("jitter"), exponential: values.time("exponential") }
    }
    fn draw(self, stream: &mut Stream) -> Time {
        let jitter = stream.uniform_time(self.jitter);
        jitter + if self.exponential > Time::ZERO { stream.exponential_time(self.exponential) } else { Time::ZERO }
    }
}
