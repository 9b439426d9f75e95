//! RCCE: RCC extended to the network's edge (Arun Selvi et al., "A Hybrid Framework for TCP Incast Congestion Control
//! in Data Center Networks", 2019).
//!
//! **Receiver, sender, switch**: those of RCC, with this paper's rules. **Controller** ([`trees`], [`controller`]) and
//! **edge** ([`edge`]): spanning trees, and flowcells over them. With `edge-mode = tor-proxy` the scheduler is in the
//! last switch ([`proxy`]). The aggregators of the paper's edge are hosts in the traffic pattern `relay-tree`.
//!
//! | paper | code |
//! |---|---|
//! | Eqs. 1 and 2, Algorithms 1 to 3 | as in the table of `rcc/mod.rs`, with the rules of `params.rs` |
//! | section IV.A, spanning trees | `trees.rs`: `trees`, `tables` |
//! | section IV.A, flowcells | `cells.rs`: `choose`; `edge.rs`: `forward` |
//! | section IV.A, "when connections are too large" | `edge.rs`: `crowded`, `report_crowds` |
//! | section IV.B, limit of overtaking C RTO_r / 2 | `rcc/rules.rs`: `cap` |
//! | section IV, scheduler at the edge | `edge.rs` with `edge-scheduler`; `proxy.rs` in the last switch |
//! | Eqs. 3 to 18, closed forms | tests in `crates/engine/tests/engine/schemes/rcce.rs` |

mod asked;
mod cells;
mod controller;
mod edge;
mod lines;
mod message;
mod noted;
mod params;
mod proxy;
mod readings;
mod state;
#[cfg(test)]
mod tests;
mod traffic;
mod trees;

use super::{Effort, FlowFacts, NetworkFacts, NodeFacts, Rcc, Scheme, SchemeRow, Signal};
use controller::Controller;
use edge::{Edge, OverTrees};
use fanin_core::roles::{
    CongestionControl, Controller as ControllerRole, Ecmp, PathSelector, QueueDiscipline, SwitchAgent, WindowControl,
};
use fanin_core::units::Time;
use fanin_network::traffic::TrafficGroup;
use fanin_param::{SpecError, Values};
use noted::Noted;
use proxy::{Proxy, ProxyRules};
use state::EdgeState;
use std::any::Any;
use std::sync::Arc;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "rcce",
    summary: "RCCE: RCC by the rules of another paper, with flowcells over spanning trees (Arun Selvi et al. 2019).",
    params: &params::ALL,
    transport: super::rcc::TRANSPORT,
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Kernel,
    needs: "a kernel module at the receivers' edge, and for flowcells a controller of the paths",
    reacts_to: &[Signal::Marks, Signal::Schedule],
    colour: "#CC79A7",
    marker: "v",
    build: |params| Box::new(Bundle::new(params)),
};

/// How flows are spread over spanning trees.
#[derive(Clone, Copy, Debug)]
struct Spreading {
    /// Bytes of a flowcell.
    cell: u64,
    /// Maximum time that the receiving host holds a segment of a later flowcell.
    patience: Time,
    /// Flows to a host are spread if there are more of them than this; none spreads all flows.
    above: Option<u64>,
    /// Time that the controller waits for further reports.
    settle: Time,
    /// Time that a switch waits for the controller's reply before it repeats a report.
    retry: Time,
}

struct Bundle {
    rcc: Arc<Rcc>,
    /// The scheduler is in the last switch.
    proxy: Option<ProxyRules>,
    /// One scheduler serves all hosts at a switch.
    central: bool,
    spreading: Option<Spreading>,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        let spreading = Spreading {
            cell: params.bytes("st-cell").get(),
            patience: params.time("st-hold"),
            // READING: E7 more connections than queue_max are too many.
            above: (params.is("st-when", "crowded")).then(|| params.integer("queue-max")),
            settle: params.time("st-settle"),
            retry: params.time("st-retry"),
        };
        let central = !params.is("edge-mode", "none") && params.is("edge-scheduler", "central");
        let on_arrival = params.is("proxy-counts", "arrivals");
        let proxy = (params.is("edge-mode", "tor-proxy")).then_some(ProxyRules { on_arrival, central });
        Self {
            rcc: Arc::new(Rcc::new(params)),
            proxy,
            central,
            spreading: (params.is("st-enable", "on")).then_some(spreading),
        }
    }
}

impl Scheme for Bundle {
    fn check(&self, params: &Values, groups: &[&TrafficGroup]) -> Result<(), SpecError> {
        traffic::check(params, groups)
    }
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        self.rcc.congestion_control(flow)
    }
    fn follows_requests(&self) -> bool {
        self.proxy.is_some() || self.spreading.is_some() || self.rcc.follows_requests()
    }
    fn shares_scheduler(&self) -> bool {
        self.proxy.is_none() && self.central
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        if self.proxy.is_some() { None } else { self.rcc.window_control(host) }
    }
    fn queue(&self, switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        let inner = self.rcc.queue(switch)?;
        if self.proxy.is_some() { Some(Box::new(Noted(inner))) } else { Some(inner) }
    }
    fn switch_agent(&self, switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        let edge = self.spreading.map(|spreading| Edge::new(spreading, self.central));
        match self.proxy {
            Some(rules) => {
                let rcc = Arc::clone(&self.rcc);
                Some(Box::new(Proxy::new(switch, edge, rules, move |host| rcc.without_requests(host))))
            }
            None => edge.map(|edge| Box::new(edge) as _),
        }
    }
    fn controller(&self, _network: &NetworkFacts) -> Option<Box<dyn ControllerRole>> {
        Some(Box::new(Controller::new(self.spreading?.settle)))
    }
    fn path_selector(&self, _host: &NodeFacts) -> Box<dyn PathSelector> {
        match self.spreading {
            Some(spreading) => Box::new(OverTrees(spreading)),
            None => Box::new(Ecmp),
        }
    }
    fn node_state(&self, _switch: &NodeFacts) -> Box<dyn Any + Send> {
        Box::new(EdgeState::default())
    }
}
