//! What the tests here share: scenarios from text, outcomes of both event cores, and how they differ.

use crate::sim::build::{Substitutes, build};
use crate::sim::{Failure, Outcome, run_reference_with, run_with};
use fanin_core::ids::NodeId;
use fanin_core::packet::Packet;
use fanin_core::roles::{
    CongestionControl, Controller, Ecmp, Pass, Passage, PathSelector, QueueDiscipline, SwitchAgent, SwitchCx,
    WindowControl,
};
use fanin_core::units::Time;
use fanin_event::core::Core;
use fanin_measure::table::{Data, Table};
use fanin_net::network::Network;
use fanin_param::{Files, SpecError};
use fanin_scenario::Scenario;
use fanin_schemes::{FlowFacts, NetworkFacts, NewReno, NodeFacts, Scheme};
use std::any::Any;
use std::io::Cursor;
use std::sync::{Arc, Mutex};

/// What every file holds that a scenario names: flows from the first sending host to the first receiving one.
const FLOWS: &str = "start_us,src,dst,bytes\n0,0,0,40000\n3,0,0,9000\n3,0,0,70000\n250,0,0,1\n";

/// A scenario from its text, or why there is none.
fn parsed(text: &str) -> Result<Scenario, SpecError> {
    let scenario = Scenario::parse(text, "test.toml", &[])?;
    Ok(scenario.with_files(Files::new(|_| Ok(Box::new(Cursor::new(FLOWS))))))
}

/// A scenario from its text.
pub(super) fn scenario(text: &str) -> Scenario {
    parsed(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The network of a scenario before its first event; why it cannot be built, if its values do not fit each other.
pub(super) fn network(text: &str) -> Result<Network<Core>, SpecError> {
    Ok(build(&parsed(text)?, Substitutes::default())?.net)
}

/// A scheme in the place of the registered one called `newreno`.
pub(super) fn instead(scheme: impl Scheme + 'static) -> Substitutes {
    let scheme: Box<dyn Scheme> = Box::new(scheme);
    Substitutes { schemes: [("newreno", scheme)].into(), topology: None }
}

/// Runs a scenario with a scheme in the place of `newreno`.
#[track_caller]
pub(super) fn run_instead(text: &str, scheme: impl Scheme + 'static) -> Outcome {
    run_with(&scenario(text), instead(scheme), None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Both event cores on the same scenario, which must agree on every value. `substitutes` is asked once for each.
pub(super) fn both(text: &str, substitutes: &dyn Fn() -> Substitutes) -> Result<Outcome, String> {
    let scenario = scenario(text);
    let fast = run_with(&scenario, substitutes(), None);
    let reference = run_reference_with(&scenario, substitutes());
    match (fast, reference) {
        (Ok(fast), Ok(reference)) => match difference(&fast, &reference) {
            None => Ok(fast),
            Some(difference) => Err(format!("{difference} (real core first)\n{text}")),
        },
        (fast, reference) => Err(format!("{} | {}\n{text}", ending(&fast), ending(&reference))),
    }
}

fn ending(outcome: &Result<Outcome, Failure>) -> String {
    outcome.as_ref().map_or_else(ToString::to_string, |_| "an outcome".to_owned())
}

/// The first value in which two outcomes differ: table, column and row, or the name of a total.
pub(super) fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    // The port that is found is not hashed.
    if one.hash() == other.hash() && one.summary.get("bottleneck") == other.summary.get("bottleneck") {
        return None;
    }
    let tables = |outcome| Outcome::table_names(outcome).filter_map(|name| outcome.table(name));
    for (left, right) in tables(one).zip(tables(other)) {
        if let Some(place) = table_difference(left, right) {
            return Some(format!("table {}{place}", left.name));
        }
    }
    let total = one
        .summary
        .iter()
        .find(|(name, value)| *name != "result_hash" && other.summary.get(*name).is_none_or(|other| other != *value));
    Some(total.map_or_else(
        || "the hashes differ, but no table and no total does".to_owned(),
        |(name, value)| format!("total {name}: {value} and {:?}", other.summary.get(name)),
    ))
}

fn table_difference(left: &Table, right: &Table) -> Option<String> {
    for (one, other) in left.columns.iter().zip(&right.columns) {
        let rows = one.data.len().max(other.data.len());
        let differs = |row: &usize| cell(&one.data, *row) != cell(&other.data, *row);
        if let Some(row) = (0..rows).find(differs) {
            return Some(format!(
                ", column {}, row {row} of {rows}: {} and {}",
                one.name,
                cell(&one.data, row),
                cell(&other.data, row)
            ));
        }
    }
    None
}

/// One value as text, exact to the last bit.
fn cell(data: &Data, row: usize) -> String {
    match data {
        Data::U64(values) => format!("{:?}", values.get(row)),
        Data::OptU64(values) => format!("{:?}", values.get(row)),
        Data::F64(values) => format!("{:?}", values.get(row)),
        Data::OptF64(values) => format!("{:?}", values.get(row)),
        Data::Bool(values) => format!("{:?}", values.get(row)),
        Data::Text(values) => format!("{:?}", values.get(row)),
        Data::Label { codes, names } => format!("{:?}", codes.get(row).map(|code| &names[*code as usize])),
    }
}

/// A column of real numbers; NaN where a row has none.
#[track_caller]
pub(super) fn reals(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    match &outcome.table(table).expect(table).column(column).expect(column).data {
        Data::F64(values) => values.clone(),
        Data::OptF64(values) => values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
        Data::U64(values) => values.iter().map(|value| *value as f64).collect(),
        Data::OptU64(values) => values.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect(),
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// What roles tell a test, in order.
#[derive(Debug)]
pub(super) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Log<T> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }
    pub(super) fn push(&self, item: T) {
        self.0.lock().expect("no role has panicked").push(item);
    }
    /// Everything that was told.
    pub(super) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().expect("no role has panicked"))
    }
}

type Make<F, R> = Option<Box<dyn Fn(&F) -> R + Send + Sync>>;

/// A scheme of single roles; what is none is left to the base.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) congestion: Make<FlowFacts, Box<dyn CongestionControl>>,
    pub(super) window: Make<NodeFacts, Box<dyn WindowControl>>,
    pub(super) queue: Make<NodeFacts, Box<dyn QueueDiscipline>>,
    pub(super) agent: Make<NodeFacts, Box<dyn SwitchAgent>>,
    pub(super) controller: Make<(), Box<dyn Controller>>,
    pub(super) selector: Make<NodeFacts, Box<dyn PathSelector>>,
    pub(super) node: Make<NodeFacts, Box<dyn Any + Send>>,
}

impl Scheme for Parts {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        self.congestion.as_ref().map_or_else(|| Box::new(NewReno) as _, |make| make(flow))
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        self.window.as_ref().map(|make| make(host))
    }
    fn queue(&self, switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        self.queue.as_ref().map(|make| make(switch))
    }
    fn switch_agent(&self, switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        self.agent.as_ref().map(|make| make(switch))
    }
    fn controller(&self, _network: &NetworkFacts) -> Option<Box<dyn Controller>> {
        self.controller.as_ref().map(|make| make(&()))
    }
    fn path_selector(&self, host: &NodeFacts) -> Box<dyn PathSelector> {
        self.selector.as_ref().map_or_else(|| Box::new(Ecmp) as _, |make| make(host))
    }
    fn node_state(&self, switch: &NodeFacts) -> Box<dyn Any + Send> {
        self.node.as_ref().map_or_else(|| Box::new(()) as _, |make| make(switch))
    }
}

/// A switch agent that tells of every packet and lets it pass.
pub(super) struct Tap(pub(super) Log<Seen>);

/// One packet at a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: Time,
    pub(super) switch: NodeId,
    pub(super) packet: Packet,
    pub(super) passage: Passage,
}

impl SwitchAgent for Tap {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        self.0.push(Seen { at: cx.now, switch: cx.switch, packet: *packet, passage: *passage });
        Pass::Forward
    }
}

/// A scheme with a tap on every switch, and where it tells.
pub(super) fn tapped() -> (Parts, Log<Seen>) {
    let log = Log::new();
    let tell = log.clone();
    (Parts { agent: Some(Box::new(move |_| Box::new(Tap(tell.clone())))), ..Parts::default() }, log)
}

/// One switch, cables of 10 us, an incast of `senders` with `bytes` each, and `more` text.
pub(super) fn star(senders: u32, bytes: &str, more: &str) -> String {
    format!(
        "[network]\ntopology = \"star\"\ndelay = \"10us\"\n[[traffic]]\nkind = \"incast\"\nsenders = {senders}\n\
         bytes-each = \"{bytes}\"\n{more}\n[run]\nduration = \"5s\"\n"
    )
}
