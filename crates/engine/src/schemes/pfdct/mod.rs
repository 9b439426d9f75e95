//! PFDCT (Li et al., "PFDCT: An Enhanced Transport Layer Protocol for Precise Flow Control in Data Centers",
//! Electronics 12(8), 1890, 2023), and PFDCT-ST, its variant with a fixed threshold.
//!
//! **Sender** ([`sender`]): tells long flows from short ones; only long flows are ECN-capable. Once per window it
//! estimates its queue from round-trip times, moves its marking threshold, and moves its window by the share of marks.
//! The threshold travels to the switches in each packet ([`field`]). **Switch** ([`queue`]): three strict bands, of
//! retransmissions, short flows and long flows ([`bands`]); a table of sequence numbers tells the first ([`seen`]); the
//! long band is marked above the sum of the thresholds of its flows ([`active`]). **Receiver**: echoes every mark, as
//! DCTCP's, and the in-band field.
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
use super::{FlowFacts, NodeFacts, Scheme, SchemeRow, SwitchTotal};
use crate::roles::{CongestionControl, QueueDiscipline};
use crate::spec::{Params, Window};
use std::any::Any;
use std::sync::Arc;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "pfdct",
    summary: "PFDCT: bands for retransmissions, short and long flows; marks at a threshold that senders move.",
    params: &params::PARAMS,
    transport: &[],
    manual: MANUAL,
    readings: readings::all!("pfdct"),
    totals: TOTALS,
    build: |params| Box::new(Bundle::new(params)),
};

/// PFDCT-ST: the same room with the threshold frozen.
pub(super) const ROW_ST: SchemeRow = SchemeRow {
    key: "pfdct-st",
    summary: "PFDCT-ST: PFDCT with its marking threshold frozen at that of DCTCP.",
    params: &params::FROZEN,
    transport: &[],
    manual: MANUAL,
    readings: readings::all!("pfdct-st"),
    totals: TOTALS,
    build: |params| Box::new(Bundle::new(params)),
};

const TOTALS: &[SwitchTotal] = &[EVICTIONS];

const EVICTIONS: SwitchTotal = SwitchTotal {
    name: "table_evictions",
    label: "Entries evicted from the switches' tables of sequence numbers",
    doc: "entries that PFDCT's switches evicted from their tables of sequence numbers to make room for others",
};

const MANUAL: &str = "# PFDCT\n\nLi et al., \"PFDCT: An Enhanced Transport Layer Protocol for Precise Flow Control in Data \
     Centers\", Electronics 12(8), 1890, 2023. `pfdct-st` is the variant of its section 4, whose threshold stays at DCTCP's.\n\n\
     * **Sender**: a flow is long or short (`class`); only long flows are ECN-capable. Per window, with the queue estimate \
     `LQ = cwnd (RTT - RTT_min) / RTT` and its average `LQV = (1 - h) LQV + h LQ`, the flow's threshold `K_t` moves down while \
     `LQV > K_i` and up while it is below, from 0 to below `M / N`; `K_i = (sqrt(8 C RTT - 7) - 3) / 4`. Then \
     `alpha = (1 - g) alpha + g F` with `F` the share of marked bytes, and the window grows by one segment if `F = 0`, else \
     `cwnd = cwnd (1 - alpha / 2)`. Short flows are plain NewReno. A loss halves.\n\
     * **Switch**: strict bands for retransmissions (recognised by a table of sequence numbers), short and long flows. A packet \
     of a long flow is marked if more packets wait in its band than the sum of the thresholds of the port's long flows. \
     The switch counts these flows and tells senders their number and its buffer.\n\
     * **Receiver**: echoes the mark of every packet.\n\n\
     With a frozen threshold (`pfdct-st`, or `kt-dir = \"frozen\"`) nothing comes of the keys that move or limit it: `kt-step`, \
     `kt-join`, `kt-when`, `kt-low`, `kt-high`, `ki`, `h` and `rtt`; of `kt-transport` only `sender-mark` acts, and `n-source`, \
     `n-const` and `rtt-min` only with that.\n\n\
     ## Packets (our reading of a figure that we do not have)\n\n\
     | packet | ECN | code point | recorded | band |\n|---|---|---|---|---|\n\
     | SYN, SYN-ACK | off | short | yes | short |\n| request, data of a short flow | off | short | yes | short |\n\
     | data of a long flow | on | long | yes | long |\n| sent again | off | retransmission | yes | highest |\n\
     | acknowledgement | off | short | no | short |\n\nA FIN rides on the last data.\n\n\
     ## In-band field\n\nBits 63-60 `1010`, 59 long flow, 58 threshold given, 51-32 `K_t` in sixteenths of a packet (all by the \
     sender), 31-16 `N` and 15-0 `M` of the narrowest port on the way (by switches). Receivers echo it.\n\n\
     ## Cost\n\nThe table of sequence numbers has `table-entries` entries of eight bytes, one or two per flow, in buckets of \
     four; the least recently used gives way, and a retransmission of a forgotten flow looks new. \
     The total `table_evictions` counts that.\n";

struct Bundle {
    sender: SenderSettings,
    min_window: Window,
    queue: QueueSettings,
    table: Option<(Mode, usize)>,
    oracle: Arc<Oracle>,
}

impl Bundle {
    fn new(params: &Params) -> Self {
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
