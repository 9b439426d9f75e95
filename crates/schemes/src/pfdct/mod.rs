//! PFDCT (Li et al., "PFDCT: An Enhanced Transport Layer Protocol for Precise Flow Control in Data Centers",
//! Electronics 12(8), 1890, 2023), and PFDCT-ST, its variant with a fixed threshold.
//!
//! **Sender** ([`sender`]): announces its threshold to the switches in each packet ([`field`]). **Switch** ([`queue`]):
//! strict priority bands ([`bands`]); a table of sequence numbers recognises retransmissions ([`seen`]); the long band
//! is marked above the sum of its flows' thresholds ([`active`]).
//!
//! | paper | code |
//! |---|---|
//! | Eq. 1, queue estimate | `sender.rs`: `queue_length` |
//! | Eq. 2, marked share | `sender.rs`: `close_window` |
//! | Eq. 3, window | `sender.rs`: `cut` and `close_window` |
//! | Eqs. 4 and 5, average estimate and threshold | `sender.rs`: `manage_threshold` |
//! | Eq. 7, sum of the thresholds of a queue | `active.rs`: `threshold`; `sender.rs`: `share` |
//! | Eq. 15, ideal threshold | `sender.rs`: `ideal_threshold` |
//! | Algorithm 1, lines 1 to 6, 7 to 13, 14 to 27 | `bands.rs`: `is_retransmitted`, `set_prio`, `do_enqueue` |
//! | Algorithm 2, lines 1 to 6, classes of flows | `sender.rs`: `is_long` and `classify` |
//! | Algorithm 2, lines 7 to 9 | `sender.rs`: `ideal` |
//! | Algorithm 2, lines 10 to 24 | `sender.rs`: `manage_threshold` |
//! | Algorithm 2, lines 25 to 32 | `sender.rs`: `close_window` |
//! | section 3.2.4, marking | `queue.rs`: `is_congested` |
//!
//! Left out: the packet filters of a real switch, of which only the one for acknowledgements exists (`ack-band`).

mod active;
mod bands;
mod field;
mod oracle;
mod params;
mod queue;
mod readings;
mod seen;
mod sender;
mod settings;

use self::active::Scope;
use self::oracle::Oracle;
use self::queue::{Node, Queue};
use self::seen::{Mode, Seen};
use self::sender::Sender;
use self::settings::{QueueSettings, SenderSettings};
use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, SwitchTotal, Wish};
use fanin_core::roles::{CongestionControl, QueueDiscipline};
use fanin_param::{Values, Window};
use std::any::Any;
use std::sync::Arc;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "pfdct",
    summary: "PFDCT: strict priority bands for short and long flows; marking at a threshold that senders adapt.",
    params: &params::PARAMS,
    transport: PACKETS,
    manual: include_str!("manual.md"),
    readings: readings::all!("pfdct"),
    totals: TOTALS,
    effort: Effort::Switch,
    needs: "a switch that tells short flows from long ones, and a kernel module on the senders",
    reacts_to: &[Signal::Marks],
    colour: "#882255",
    marker: "X",
    build: |params| Box::new(Bundle::new(params)),
};

/// PFDCT-ST: the same scheme with a fixed threshold.
pub(super) const ROW_ST: SchemeRow = SchemeRow {
    key: "pfdct-st",
    summary: "PFDCT-ST: PFDCT with its marking threshold fixed at that of DCTCP.",
    params: &params::FROZEN,
    transport: PACKETS,
    manual: include_str!("manual.md"),
    readings: readings::all!("pfdct-st"),
    totals: TOTALS,
    effort: Effort::Switch,
    needs: "a switch that tells short flows from long ones, and DCTCP on the hosts",
    reacts_to: &[Signal::Marks],
    colour: "#B8A800",
    marker: "P",
    build: |params| Box::new(Bundle::new(params)),
};

/// A switch recognises new data of long flows by its ECN field (Algorithm 1), so no other packet may be ECN-capable.
const PACKETS: &[Wish] =
    &[Wish::Needs("ecn-syn", "false"), Wish::Needs("ecn-retransmit", "false"), Wish::Needs("ecn-ack", "false")];

const TOTALS: &[SwitchTotal] = &[EVICTIONS];

const EVICTIONS: SwitchTotal = SwitchTotal {
    name: "table_evictions",
    label: "Entries evicted from the switches' tables of sequence numbers",
    doc: "entries that PFDCT's switches evicted from their tables of sequence numbers to make room for others",
};

struct Bundle {
    sender: SenderSettings,
    min_window: Window,
    queue: QueueSettings,
    table: Option<(Mode, usize)>,
    oracle: Arc<Oracle>,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        let scope = params.choose(
            "kt-scope",
            &[("sum", Scope::Sum), ("per-flow", Scope::PerFlow), ("max", Scope::Max), ("global", Scope::Global)],
        );
        let sender = SenderSettings::from(params, scope);
        let mode = params.choose("pit", &[("hiwater", Some(Mode::HighWater)), ("set", Some(Mode::Set)), ("off", None)]);
        Self {
            sender,
            min_window: params.window("min-window"),
            queue: QueueSettings::from(params, scope, sender.transport),
            table: mode.map(|mode| (mode, params.integer("table-entries") as usize)),
            oracle: Arc::default(),
        }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        let set = SenderSettings { min_window: self.min_window.bytes(flow.mss) as f64, ..self.sender };
        Box::new(Sender::new(set, flow, Arc::clone(&self.oracle)))
    }
    fn wants_idle_rtt(&self) -> bool {
        self.sender.rtt_min_known
    }
    fn queue(&self, switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        let oracle = self.queue.by_oracle.then(|| Arc::clone(&self.oracle));
        let header = (switch.packet - switch.mss) as u16;
        Some(Box::new(Queue::new(self.queue, header, switch.packet, oracle)))
    }
    fn node_state(&self, _switch: &NodeFacts) -> Box<dyn Any + Send> {
        Box::new(Node { seen: self.table.map(|(mode, entries)| Seen::new(mode, entries)) })
    }
    fn node_totals(&self, node: &dyn Any, show: &mut dyn FnMut(&'static SwitchTotal, u64)) {
        let seen = node.downcast_ref::<Node>().and_then(|node| node.seen.as_ref());
        show(&EVICTIONS, seen.map_or(0, |seen| seen.evicted));
    }
}
