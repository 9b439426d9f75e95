//! Constructed runs: a switch that drops or delays packets by their number, and writes down what passes.

mod connections;
mod probes;
mod timeouts;

use crate::sim::{Outcome, TimeoutCause, build, run_with};
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, Pass, Passage, ReceiverAction, ReceiverCx, SwitchAction, SwitchAgent,
    SwitchCx, WindowControl,
};
use fanin_core::units::Time;
use fanin_measure::table::Data;
use fanin_scenario::Scenario;
use fanin_schemes::{NodeFacts, Scheme};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Which packet of flow 0, counted from 0 in its direction: among the segments 0 is the SYN, 1 the last packet of the
/// handshake and 2 the first data; among the acknowledgements 0 is the SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nth {
    Segment(usize),
    Ack(usize),
}

/// What the switch does with it.
#[derive(Clone, Copy)]
enum Fate {
    Lost,
    Late(Time),
}

type Plan = BTreeMap<Nth, Fate>;

/// These segments are lost.
fn lose(segments: impl IntoIterator<Item = usize>) -> Plan {
    segments.into_iter().map(|n| (Nth::Segment(n), Fate::Lost)).collect()
}

/// A run with what passed the switch of flow 0: `1:1461` is a segment, `a1461` an acknowledgement, `x` before it means
/// lost and `+` late; S(YN) and F(IN) follow.
struct Trial {
    outcome: Outcome,
    trace: Vec<String>,
}

impl Trial {
    /// One flow of `bytes` on a star; round trips take 0.1 ms, the timer 10 ms at least and the SYN's 20 ms.
    fn new(plan: Plan, bytes: u64, window: u64, more: &[(&str, &str)]) -> Self {
        Self::granting(None, plan, bytes, window, more)
    }

    /// As `new`, with receivers that grant each flow a window of so many bytes.
    fn granting(grant: Option<u64>, plan: Plan, bytes: u64, window: u64, more: &[(&str, &str)]) -> Self {
        let text = format!(
            "[network]\ntopology = \"star\"\n[transport]\nscheme = \"newreno\"\ninitial-window = \"{window}mss\"\n\
             receive-buffer = \"64000B\"\nrto-min = \"10ms\"\nrto-initial = \"10ms\"\nsyn-timeout = \"20ms\"\n\
             [[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"{bytes}B\"\n\
             [[traffic]]\nname = \"other\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1000000B\"\nstart = \"1s\"\n"
        );
        let overrides: Vec<_> = more.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let scenario = Scenario::parse(&text, "constructed.toml", &overrides).expect("a good scenario");
        let trace = Arc::default();
        let meddling = Meddling { plan, trace: Arc::clone(&trace), grant };
        let substitutes =
            build::Substitutes { schemes: [("newreno", Box::new(meddling) as Box<dyn Scheme>)].into(), topology: None };
        let outcome = run_with(&scenario, substitutes, None).expect("a run without defect");
        let trace = std::mem::take(&mut *trace.lock().expect("one thread"));
        Self { outcome, trace }
    }

    /// A column of flow 0 in the table of flows.
    fn count(&self, column: &str) -> u64 {
        let flows = self.outcome.table("flows").expect("a table of flows");
        match &flows.column(column).expect("a column of it").data {
            Data::U64(values) => values[0],
            other => panic!("{column} is {other:?}"),
        }
    }

    /// A column of flow 0 in seconds, if it has a value.
    fn seconds(&self, column: &str) -> Option<f64> {
        let flows = self.outcome.table("flows").expect("a table of flows");
        match &flows.column(column).expect("a column of it").data {
            Data::F64(values) => Some(values[0]),
            Data::OptF64(values) => values[0],
            other => panic!("{column} is {other:?}"),
        }
    }

    /// Timeouts of flow 0 by cause: SYN, full window, few duplicates, lost retransmission, spurious.
    fn causes(&self) -> [u64; 5] {
        let causes = TimeoutCause::ALL.map(|cause| self.count(cause.column()));
        assert_eq!(causes.iter().sum::<u64>(), self.count("timeouts"));
        causes
    }

    fn trace(&self) -> String {
        self.trace.join(" ")
    }
}

struct Meddling {
    plan: Plan,
    trace: Arc<Mutex<Vec<String>>>,
    grant: Option<u64>,
}

impl Scheme for Meddling {
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        let (plan, trace) = (self.plan.clone(), Arc::clone(&self.trace));
        Some(Box::new(Meddler { plan, trace, segments: 0, acks: 0, kept: Vec::new() }))
    }
    fn window_control(&self, _host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        self.grant.map(|bytes| Box::new(Grant(bytes)) as Box<dyn WindowControl>)
    }
}

/// The same window for every flow, in bytes.
struct Grant(u64);

impl WindowControl for Grant {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _announced: &Announcement) {
        cx.actions.push(ReceiverAction::Window { flow, bytes: self.0 });
    }
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

struct Meddler {
    plan: Plan,
    trace: Arc<Mutex<Vec<String>>>,
    segments: usize,
    acks: usize,
    kept: Vec<(Packet, LinkId)>,
}

impl SwitchAgent for Meddler {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.flow != FlowId::new(0) {
            return Pass::Forward;
        }
        let (count, nth): (_, fn(usize) -> Nth) =
            if packet.is_ack() { (&mut self.acks, Nth::Ack) } else { (&mut self.segments, Nth::Segment) };
        let fate = self.plan.get(&nth(*count));
        *count += 1;
        let (sign, pass) = match fate {
            None => ("", Pass::Forward),
            Some(Fate::Lost) => ("x", Pass::Drop),
            Some(Fate::Late(delay)) => {
                cx.actions.push(SwitchAction::Timer { at: cx.now + *delay, token: self.kept.len() as u64 });
                self.kept.push((*packet, passage.to));
                ("+", Pass::Keep)
            }
        };
        self.trace.lock().expect("one thread").push(format!("{sign}{}", show(packet)));
        pass
    }

    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, token: u64) {
        let (packet, to) = self.kept[token as usize];
        cx.actions.push(SwitchAction::Inject { packet, to });
    }
}

fn show(packet: &Packet) -> String {
    let numbers = if packet.is_ack() {
        format!("a{}", packet.seq)
    } else {
        format!("{}:{}", packet.seq, packet.seq.wrapping_add(u32::from(packet.size) - 40))
    };
    let flag = |flag, letter| if packet.flags.has(flag) { letter } else { "" };
    numbers + flag(Flags::SYN, "S") + flag(Flags::FIN, "F")
}
