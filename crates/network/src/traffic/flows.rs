//! Flows: starts each flow of a list at its time.
//!
//! The list is read twice: once before the run, to report bad lines early, and once during the run, so that its length
//! costs no memory; it must be the same both times. The caller opens the file; the engine does not access the file system.

use super::flow_file::{BadLine, FlowFile, ListedFlow};
use super::reread::Twice;
use super::sessions::demand;
use super::sessions::params::{PLACEMENT, RECEIVERS, SENDERS};
use super::{Outlook, Pace, Place, QueryOf, Traffic, TrafficAction, TrafficCx, TrafficRow, TransferSpec};
use fanin_core::ids::NodeId;
use fanin_core::units::Time;
use fanin_param::{Kind, Param, SpecError, Values};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const ROW: TrafficRow = TrafficRow {
    key: "flows",
    summary: "The flows of a CSV file: start, src, dst, bytes and, if wanted, class, deadline and query.",
    params: PARAMS,
    demand_key: "senders",
    fan_in: None,
    demand,
    one_client: false,
    near: |_| 0,
    unopened: |_| None,
    build,
};

const PARAMS: &[Param] = &[
    Param::new(
        "file",
        Kind::Text,
        "",
        "The CSV file, relative to the scenario file unless its path is absolute; src and dst are numbers of the \
         hosts in from and to.",
        "required",
    ),
    Param::new(
        "file-sha256",
        Kind::Text,
        ANY,
        "SHA-256 of the file in hexadecimal digits; a file with another one is refused. fanin gives it with every run.",
        "our choice: any content",
    ),
    Param::new(
        "start",
        Kind::Start,
        "0s",
        "Simulated time of the file's time zero; \"steady\": once what runs before is steady.",
        "at once",
    ),
    SENDERS,
    RECEIVERS,
    PLACEMENT,
];

const ANY: &str = "any";

fn build(values: &Values, place: &Place<'_>) -> Result<Box<dyn Traffic>, SpecError> {
    let name = values.text("file");
    let bad = |bad: BadLine| values.fail("file", format!("{name}:{}: {}", bad.line, bad.message));
    let open = || place.files.open(name).map_err(|why| values.fail("file", format!("{name}: {why}")));
    let seen = Arc::default();
    let (senders, receivers) = (place.senders, place.receivers);
    let mut classes: Vec<String> = Vec::new();
    let mut file = FlowFile::new(Box::new(Twice::first(open()?, &seen))).map_err(bad)?;
    let (mut listed, mut bytes) = (0_u64, 0.0);
    while let Some(flow) = file.next_flow().map_err(bad)? {
        ends(&flow, senders, receivers).map_err(bad)?;
        if !flow.class.is_empty() && !classes.contains(&flow.class) {
            if classes.len() == MOST_CLASSES {
                let message = format!("more than {MOST_CLASSES} classes");
                return Err(bad(BadLine { line: flow.line, message }));
            }
            classes.push(flow.class);
        }
        listed += 1;
        bytes += flow.bytes as f64;
    }
    if listed == 0 {
        return Err(values.fail("file", format!("{name}: no flows")));
    }
    let (digest, wanted) = (seen.lock().expect("nothing panics in a reader").digest(), values.text("file-sha256"));
    if wanted != ANY && wanted != digest {
        return Err(values.fail("file-sha256", format!("{name} has another one, {digest}: its content has changed")));
    }
    Ok(Box::new(Flows {
        file: FlowFile::new(Box::new(Twice::again(open()?, &seen))).map_err(bad)?,
        name: name.to_owned(),
        start: values.time("start"),
        classes,
        listed,
        mean: bytes / listed as f64,
        receivers: receivers.len(),
        queries: BTreeMap::new(),
        next: None,
    }))
}

/// Maximum number of classes; a file with more does not use them as classes.
const MOST_CLASSES: usize = 1000;

/// The sending and the receiving host of a flow.
fn ends(flow: &ListedFlow, senders: &[NodeId], receivers: &[NodeId]) -> Result<(NodeId, NodeId), BadLine> {
    let bad = |message| BadLine { line: flow.line, message };
    let host = |what: &str, hosts: &[NodeId], number: usize, [key, count]: [&str; 2]| {
        let found = hosts.get(number).copied();
        found.ok_or_else(|| {
            bad(format!(
                "{what} {number}, and \"{key}\" has {} hosts, from 0: set {count} = {} or more. If hosts send and \
                 receive, set from = \"all\", to = \"all\" and a network of so many hosts (network.sender-hosts)",
                hosts.len(),
                number + 1
            ))
        })
    };
    let from = host("src", senders, flow.src, ["from", "senders"])?;
    let to = host("dst", receivers, flow.dst, ["to", "receivers"])?;
    if from == to {
        return Err(bad("a host sends to itself".to_owned()));
    }
    Ok((from, to))
}

struct Flows {
    file: FlowFile,
    name: String,
    start: Time,
    classes: Vec<String>,
    /// Number of flows in the file, and their mean size in bytes.
    listed: u64,
    mean: f64,
    receivers: usize,
    /// The queries that have begun, each with its number.
    queries: BTreeMap<String, u32>,
    /// The flow that starts at the next call.
    next: Option<ListedFlow>,
}

impl Flows {
    /// Reads the next flow, and requests a call at its start.
    fn read(&mut self, cx: &mut TrafficCx<'_>) {
        match self.file.next_flow() {
            Ok(next) => self.next = next,
            Err(bad) => self.fail(&bad, cx),
        }
    }

    /// The file has changed since it was first read.
    fn fail(&mut self, bad: &BadLine, cx: &mut TrafficCx<'_>) {
        self.next = None;
        cx.actions.push(TrafficAction::Fail(format!("{}:{}: {}", self.name, bad.line, bad.message)));
    }

    fn begin(&mut self, flow: &ListedFlow, cx: &mut TrafficCx<'_>) {
        match ends(flow, cx.senders, cx.receivers) {
            Ok((from, to)) => {
                let query = self.query_of(flow, cx);
                cx.actions.push(TrafficAction::Transfer(TransferSpec {
                    deadline: flow.deadline,
                    class: self.classes.iter().position(|class| *class == flow.class).map(|class| class as u32),
                    query,
                    ..TransferSpec::new(self.start + flow.start, [from, to], Some(flow.bytes))
                }));
            }
            Err(bad) => self.fail(&bad, cx),
        }
    }

    /// The query of a flow, if it has one. It begins with the first of its flows.
    fn query_of(&mut self, flow: &ListedFlow, cx: &mut TrafficCx<'_>) -> QueryOf {
        if flow.query.is_empty() {
            return QueryOf::None;
        }
        let next = self.queries.len() as u32;
        let number = *self.queries.entry(flow.query.clone()).or_insert(next);
        if number == next {
            cx.actions.push(TrafficAction::Query);
        }
        QueryOf::Number(number)
    }

    fn go_on(&mut self, cx: &mut TrafficCx<'_>) {
        while let Some(flow) = self.next.take() {
            let at = self.start + flow.start;
            if at > cx.now {
                self.next = Some(flow);
                cx.actions.push(TrafficAction::Wake(at));
                return;
            }
            self.begin(&flow, cx);
            self.read(cx);
        }
    }
}

impl Traffic for Flows {
    fn outlook(&self) -> Outlook {
        Outlook {
            pace: Pace::Listed(self.listed),
            mean: self.mean,
            receivers: self.receivers,
            start: self.start,
            stop: Time::NEVER,
        }
    }

    fn on_start(&mut self, cx: &mut TrafficCx<'_>) {
        self.read(cx);
        self.go_on(cx);
    }

    fn on_wake(&mut self, cx: &mut TrafficCx<'_>) {
        self.go_on(cx);
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn is_open_loop(&self) -> bool {
        true
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}
