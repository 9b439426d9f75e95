//! Schemes: one room per published system.
//!
//! A scheme is a bundle of roles with typed parameters. What it leaves out is filled by the base: NewReno sender,
//! plain receiver, drop-tail, equal-cost multipath. To add one: a file (or folder) here and a row in [`REGISTRY`].
//!
//! A room has `mod.rs` (registry row, parameters, roles), `manual.md` (what the scheme does: the text of `fanin explain`),
//! and `readings.rs` where its paper leaves something open.

mod d2tcp;
mod dcqcn;
mod dctcp;
mod dt_cwa;
mod dt_dctcp;
mod homa;
mod hpcc;
mod ictcp;
mod l2dct;
mod linux;
mod ndp;
mod newreno;
mod pfdct;
mod rcc;
mod rcce;
mod row;
mod sab;
mod sdtcp;
mod swift;
pub mod test_sender;

pub use dctcp::Dctcp;
pub use linux::{Cubic, CubicConfig};
pub use newreno::NewReno;
pub use row::{Effort, Reading, SchemeRow, Signal, Wish};
pub use sdtcp::extension as sdtcp_extension;
pub use sdtcp::stress as sdtcp_stress;

use dctcp::DctcpSender;
use linux::Growth;
use rcc::{Bundle as Rcc, PARAMS as RCC_PARAMS};

use fanin_core::ids::{FlowId, NodeId};
use fanin_core::roles::{
    CongestionControl, Controller, Ecmp, PathSelector, QueueDiscipline, SenderCx, SwitchAgent, WindowControl,
};
use fanin_core::units::{Rate, Time};
use fanin_network::queue::Threshold;
use fanin_network::traffic::TrafficGroup;
use fanin_param::{Param, SpecError, Values};
use std::any::Any;
use std::sync::{OnceLock, PoisonError, RwLock};

/// A total of a run that a scheme counts in the state that its roles share on a switch, summed over the switches; less
/// of it is better.
#[derive(Clone, Copy, Debug)]
pub struct SwitchTotal {
    /// Key in the summary.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// Its definition, in Markdown.
    pub doc: &'static str,
}

/// Every scheme of this crate.
pub static REGISTRY: &[SchemeRow] = &[
    newreno::ROW,
    linux::ROW,
    linux::ROW_RENO,
    linux::ROW_DCTCP,
    dctcp::ROW,
    l2dct::ROW,
    d2tcp::ROW,
    dt_dctcp::ROW,
    ictcp::ROW,
    sab::ROW,
    pfdct::ROW,
    pfdct::ROW_ST,
    dt_cwa::ROW,
    rcc::ROW,
    rcce::ROW,
    sdtcp::ROW,
    swift::ROW,
    hpcc::ROW,
    dcqcn::ROW,
    ndp::ROW,
    homa::ROW,
];

/// What only the Linux kernel carries: a scenario can name it, but the simulator does not run it. Where the books of such a
/// run need a sender, Reno's stands for it.
pub static KERNEL: &[SchemeRow] = &[linux::ROW_BBR];

static OWN: OnceLock<&[&SchemeRow]> = OnceLock::new();

/// Adds schemes of another crate, once and before anything asks for a scheme.
///
/// # Errors
/// Says which row is refused, and why.
pub fn register(rows: &'static [&'static SchemeRow]) -> Result<(), String> {
    refuse_taken(rows)?;
    // Python may fill its module twice.
    if rows.is_empty() || std::ptr::eq(*OWN.get_or_init(|| rows), rows) {
        return Ok(());
    }
    Err("the schemes are known already: register yours before anything asks for one".to_owned())
}

/// Refuses keys that a scheme of this crate has, or two of these.
///
/// # Errors
/// Names the key.
pub fn refuse_taken(rows: &[&SchemeRow]) -> Result<(), String> {
    for (i, SchemeRow { key, .. }) in rows.iter().enumerate() {
        let known = REGISTRY.iter().chain(KERNEL).chain(rows[..i].iter().copied());
        if known.into_iter().any(|row| row.key == *key) {
            return Err(format!("there is a scheme {key:?} already: give yours another key"));
        }
    }
    Ok(())
}

/// Every scheme that the engine was built with and the simulator runs.
pub fn simulated() -> impl Iterator<Item = &'static SchemeRow> {
    REGISTRY.iter().chain(OWN.get_or_init(|| &[]).iter().copied())
}

/// Whether the engine itself has a scheme of this key.
pub fn is_built_in(key: &str) -> bool {
    simulated().chain(KERNEL).any(|row| row.key == key)
}

/// In the order in which [`add`] has added them, and whether each is still there: a scenario that was read keeps its own.
static ADDED: RwLock<Vec<(&'static SchemeRow, bool)>> = RwLock::new(Vec::new());

/// Adds a scheme of the program that runs the engine to those that scenarios can name from now on. It takes the place of one
/// that was added before under its key.
///
/// # Panics
/// If the engine itself has a scheme of that key.
pub fn add(row: &'static SchemeRow) {
    assert!(!is_built_in(row.key), "{} is a scheme of the engine", row.key);
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    match added.iter_mut().find(|(other, _)| other.key == row.key) {
        Some(other) => *other = (row, true),
        None => added.push((row, true)),
    }
}

/// Takes a scheme back that was added: no scenario can name it from now on.
pub fn remove(key: &str) {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.iter_mut().filter(|(row, _)| row.key == key).for_each(|(_, there)| *there = false);
}

/// The schemes that were added. Whoever goes through all schemes goes through those of the engine, unless it reads names.
pub fn added() -> Vec<&'static SchemeRow> {
    once_added().into_iter().filter_map(|(row, there)| there.then_some(row)).collect()
}

fn once_added() -> Vec<(&'static SchemeRow, bool)> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Everything that a scenario can name as its scheme.
pub fn all() -> impl Iterator<Item = &'static SchemeRow> {
    simulated().chain(KERNEL).chain(added())
}

/// The key by which schemes that mark let a scenario choose their threshold.
pub const MARK_THRESHOLD: Param = DctcpSender::MARK_THRESHOLD;

/// The switch port that [`MARK_THRESHOLD`] and [`MarkAt::PARAM`](fanin_network::queue::MarkAt::PARAM) describe.
pub fn marking(values: &Values) -> Threshold {
    DctcpSender::marking(values)
}

/// The scheme that is or was called `key`.
///
/// # Panics
/// If there is none.
pub fn find(key: &str) -> &'static SchemeRow {
    let gone = once_added().into_iter().map(|(row, _)| row);
    all().chain(gone).find(|row| row.key == key).unwrap_or_else(|| panic!("no scheme {key:?}"))
}

/// What operating systems call a congestion control, and the scheme that it is.
pub static OTHER_NAMES: &[(&str, &str)] = &[("CUBIC", linux::ROW.key), ("Reno", linux::ROW_RENO.key)];

/// Lets a sender that repairs losses itself have so many bytes on their way.
pub(crate) fn allow(cx: &mut SenderCx<'_>, bytes: u64) {
    // A window is positive; half a byte lets nothing through.
    cx.window.cwnd = (bytes as f64).max(0.5);
    cx.window.ssthresh = cx.window.cwnd.max(1.0);
}

/// What is known about a flow when it begins.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts {
    /// The flow.
    pub flow: FlowId,
    /// Bytes that it will carry, if known.
    pub bytes: Option<u64>,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Bytes of a full packet on the wire.
    pub packet: u64,
    /// Rate of the sender's link.
    pub rate: Rate,
    /// Switches on the way of its data, as the TTL of arriving packets tells.
    pub hops: u32,
    /// Round-trip propagation delay of its path.
    pub base_rtt: Time,
    /// Round-trip time of a full segment on its path while nobody else sends: what no sender can know, given only to
    /// schemes that ask for it ([`Scheme::wants_idle_rtt`]).
    pub idle_rtt: Option<Time>,
    /// Its host paces it (`transport.pacing`).
    pub paced: bool,
}

impl FlowFacts {
    /// A flow that stands for any, to ask a scheme what its senders are like.
    pub fn of_any(mss: u64, rate: Rate) -> Self {
        Self {
            flow: FlowId::default(),
            bytes: None,
            mss,
            packet: mss,
            rate,
            hops: 1,
            base_rtt: Time::ZERO,
            idle_rtt: None,
            paced: false,
        }
    }
}

/// What is known about a node when the network is built.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts {
    /// The node.
    pub node: NodeId,
    /// Rate of its (first) link; for a queue, that of the port.
    pub rate: Rate,
    /// Round-trip propagation delay between the farthest hosts.
    pub base_rtt: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Bytes of a full packet on the wire.
    pub packet: u64,
}

impl NodeFacts {
    /// A node that stands for any, to ask a scheme for its roles.
    pub fn of_any(mss: u64, rate: Rate) -> Self {
        Self { node: NodeId::default(), rate, base_rtt: Time::ZERO, mss, packet: mss }
    }
}

/// What a controller knows of its network in advance; it must request the rest.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFacts {
    /// Round-trip propagation delay between the farthest hosts.
    pub base_rtt: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
}

/// A published system: a bundle of roles.
pub trait Scheme: Send + Sync {
    /// Refuses what it could not serve: `groups` are the traffic whose hosts run it, `values` its own values.
    ///
    /// # Errors
    ///
    /// Names the key, and what to write instead.
    fn check(&self, _values: &Values, _groups: &[&TrafficGroup]) -> Result<(), SpecError> {
        Ok(())
    }
    /// The sender of one flow.
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(NewReno)
    }
    /// Its parameters that may change during a run.
    fn settable(&self) -> Vec<&'static str> {
        Vec::new()
    }
    /// Takes over other values, for all that it has made and will make. Only those of [`Self::settable`] differ.
    fn set(&self, _values: &Values) {}
    /// Whether its senders are given [`FlowFacts::idle_rtt`], as if by an oracle.
    fn wants_idle_rtt(&self) -> bool {
        false
    }
    /// Whether its schedulers act on requests ([`WindowControl::on_request`]), and its switches tell which flow
    /// responds to which.
    fn follows_requests(&self) -> bool {
        false
    }
    /// Whether its senders and queues have no state in common: each acts on what reaches it in packets alone.
    fn shares_nothing(&self) -> bool {
        false
    }
    /// Whether all hosts at one switch share the scheduler of the first of them, at no distance.
    fn shares_scheduler(&self) -> bool {
        false
    }
    /// The scheduler of a receiving host; none is the plain receiver.
    fn window_control(&self, _host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        None
    }
    /// The discipline of a switch's egress port; none is drop-tail.
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        None
    }
    /// The agent of a switch.
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        None
    }
    /// The network's controller.
    fn controller(&self, _network: &NetworkFacts) -> Option<Box<dyn Controller>> {
        None
    }
    /// How a host's flows choose among equal paths.
    fn path_selector(&self, _host: &NodeFacts) -> Box<dyn PathSelector> {
        Box::new(Ecmp)
    }
    /// State that the scheme's roles share on one switch.
    fn node_state(&self, _switch: &NodeFacts) -> Box<dyn Any + Send> {
        Box::new(())
    }
    /// What that state has counted at the end of a run: each of [`SchemeRow::totals`] and its value. The run's totals have
    /// them, summed over the switches.
    fn node_totals(&self, _node: &dyn Any, _show: &mut dyn FnMut(&'static SwitchTotal, u64)) {}
}
