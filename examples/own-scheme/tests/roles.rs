//! A scheme that reads marks, with one of each role: what there is to copy from.

use fanin::ids::{FlowId, NodeId};
use fanin::packet::Packet;
use fanin::param::{Param, SpecError, Values};
use fanin::queue::MarkAt;
use fanin::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, Controller, ControllerCx, EcnMode, Pass,
    Passage, PathSelector, QueueDiscipline, ReceiverCx, SenderCx, Spray, SwitchAgent, SwitchCx, WindowControl,
};
use fanin::schemes::test_sender::TestSender;
use fanin::schemes::{
    Dctcp, Effort, FlowFacts, MARK_THRESHOLD, NetworkFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal, marking,
};
use fanin::traffic::TrafficGroup;
use fanin::units::Size;

const PARAMS: &[Param] = &[MARK_THRESHOLD, MarkAt::PARAM];

static ROW: SchemeRow = SchemeRow {
    key: "halving",
    summary: "Halving: marks halve the window once in a round trip, and the receiver lets all through.",
    params: PARAMS,
    transport: &[],
    manual: "# Halving\n",
    readings: &[],
    totals: &[],
    effort: Effort::Kernel,
    needs: "a kernel module on the senders, and an ECN threshold",
    reacts_to: &[Signal::Marks],
    colour: "#AA3377",
    marker: "d",
    build: |params| Box::new(Bundle { values: params.clone() }),
};

struct Bundle {
    values: Values,
}

impl Scheme for Bundle {
    fn check(&self, values: &Values, _groups: &[&TrafficGroup]) -> Result<(), SpecError> {
        match values.size("mark-threshold") {
            Size::Packets(1) => Err(values.fail("mark-threshold", "must be above one packet, or the link is idle")),
            _ => Ok(()),
        }
    }
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Halving(Dctcp::new(1.0 / 16.0, 1.0, 2.0 * flow.mss as f64)))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(marking(&self.values)))
    }
    fn window_control(&self, _host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        Some(Box::new(Through))
    }
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        Some(Box::new(Through))
    }
    fn controller(&self, _network: &NetworkFacts) -> Option<Box<dyn Controller>> {
        Some(Box::new(Through))
    }
    fn path_selector(&self, _host: &NodeFacts) -> Box<dyn PathSelector> {
        Box::new(Spray { cell: 64_000 })
    }
}

/// Asks for marks as DCTCP does, and grows as NewReno.
struct Halving(Dctcp);

impl CongestionControl for Halving {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if self.0.lets_grow(ack) {
            NewReno::grow(cx, ack.acked);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        self.0.reduce(cx, 1.0);
    }
}

/// A receiver, a switch and a controller that change nothing.
struct Through;

impl WindowControl for Through {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

impl SwitchAgent for Through {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, _packet: &mut Packet, _passage: &Passage) -> Pass {
        Pass::Forward
    }
}

impl Controller for Through {
    fn on_message(&mut self, _cx: &mut ControllerCx<'_>, _from: NodeId, _message: &[u8]) {}
}

#[test]
fn the_row_is_sound() {
    fanin::check_row(&ROW).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_mark_halves_the_window_once_in_a_round_trip() {
    let mut sender = TestSender::new(Halving(Dctcp::new(1.0 / 16.0, 1.0, 2.0)), 10.0);
    sender.echo();
    assert!((sender.segments() - 5.0).abs() < 1e-9);
}

#[test]
fn a_threshold_of_one_packet_is_refused() {
    let values = Values::defaults(&[PARAMS]).with("mark-threshold", "1pkt");
    let error = (ROW.build)(&values).check(&values, &[]).expect_err("refused");
    assert!(error.to_string().contains("must be above one packet"), "{error}");
}
