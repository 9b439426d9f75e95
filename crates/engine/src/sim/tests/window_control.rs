//! The receiving host's role: it sees every flow that ends there, sets windows, holds and releases
//! acknowledgements, and asks for retransmissions.

use super::bench::{Log, Parts, instead, reals, run_instead, scenario, star, tapped};
use crate::sim::build::Substitutes;
use crate::sim::run_with;
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, EcnMode, Pass, Passage, ReceiverAction,
    ReceiverCx, SenderCx, SwitchAction, SwitchAgent, SwitchCx, WindowControl,
};
use fanin_core::units::Time;
use fanin_schemes::{NewReno, Scheme};

/// What a host's scheduler is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Open(FlowId, Announcement),
    Data(FlowId),
    Ack(FlowId, AckKind),
}

/// Tells what it sees, and gives every flow the same window.
struct Watching {
    log: Log<Told>,
    window: Option<u64>,
}

impl WindowControl for Watching {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, announced: &Announcement) {
        self.log.push(Told::Open(flow, *announced));
        if let Some(bytes) = self.window {
            cx.actions.push(ReceiverAction::Window { flow, bytes });
        }
    }
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, flow: FlowId, _arrival: &Arrival) {
        self.log.push(Told::Data(flow));
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckDecision {
        self.log.push(Told::Ack(flow, kind));
        AckDecision::Send
    }
}

fn watching(window: Option<u64>) -> (Parts, Log<Told>) {
    let log = Log::new();
    let tell = log.clone();
    let make = move |_: &_| Box::new(Watching { log: tell.clone(), window }) as Box<dyn WindowControl>;
    (Parts { window: Some(Box::new(make)), ..Parts::default() }, log)
}

fn opens(log: &[Told]) -> Vec<(FlowId, Option<u64>)> {
    log.iter()
        .filter_map(|told| if let Told::Open(flow, announced) = told { Some((*flow, announced.bytes)) } else { None })
        .collect()
}

#[test]
fn it_sees_every_flow_of_its_host() {
    let (scheme, log) = watching(None);
    run_instead(&star(4, "5KB", ""), scheme);
    let log = log.take();
    let flows: Vec<FlowId> = (0..4).map(FlowId::new).collect();
    // Their SYNs arrive at one instant, so the order of their opening says nothing.
    let mut opened = opens(&log);
    opened.sort_unstable();
    assert_eq!(opened, flows.iter().map(|flow| (*flow, Some(5000))).collect::<Vec<_>>());
    for flow in flows {
        assert_eq!(log.iter().filter(|told| **told == Told::Data(flow)).count(), 4, "four segments of {flow}");
        assert!(log.contains(&Told::Ack(flow, AckKind::SynAck)) && log.contains(&Told::Ack(flow, AckKind::Data)));
    }
}

#[test]
fn transfers_on_open_connections_and_requests_are_announced() {
    let (scheme, log) = watching(None);
    let rounds = "connections = \"persistent\"\nrounds = 3";
    run_instead(&star(1, "5KB", rounds), scheme);
    assert_eq!(opens(&log.take()), [(FlowId::new(0), Some(5000)); 3]);
    let (scheme, log) = watching(None);
    run_instead(&star(1, "5KB", "request = \"200B\""), scheme);
    assert_eq!(opens(&log.take()), [(FlowId::new(0), Some(200)), (FlowId::new(1), Some(5000))]);
}

#[test]
fn a_deadline_is_announced_and_a_size_need_not_be() {
    let (scheme, log) = watching(None);
    run_instead(&star(1, "5KB", "start = \"1ms\"\ndeadline = \"20ms\"\nannounce-size = false"), scheme);
    let told = Announcement { bytes: None, deadline: Some(Time::from_ms(21)) };
    assert!(log.take().contains(&Told::Open(FlowId::new(0), told)));
}

#[test]
fn its_window_binds_the_sender() {
    for window in [4096, 20_000] {
        let (scheme, _) = watching(Some(window));
        let outcome = run_instead(&star(1, "200KB", "[measure]\nprobes = \"in-flight\""), scheme);
        let most = reals(&outcome, "probes", "value").into_iter().fold(0.0, f64::max);
        // Whole segments within the window, which the scale rounds down to a multiple of 32 bytes.
        assert_eq!(most, (window / 32 * 32 / 1460 * 1460) as f64);
    }
}

#[test]
fn it_acts_on_the_flows_of_its_own_scheme_only() {
    let (scheme, log) = watching(Some(4096));
    let scheme: Box<dyn Scheme> = Box::new(scheme);
    let text = star(
        1,
        "50KB",
        "[[traffic]]\nname = \"led\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"50KB\"\nscheme = \"dctcp\"\n",
    );
    let substitutes = Substitutes { schemes: [("dctcp", scheme)].into(), topology: None };
    run_with(&scenario(&text), substitutes, None).expect("runs");
    let flows: Vec<_> = opens(&log.take()).into_iter().map(|(flow, _)| flow).collect();
    assert_eq!(flows, [FlowId::new(1)]);
}

const TICK: Time = Time::from_ms(1);
const GRANTED: u64 = 14_336;

/// Holds everything; every millisecond sets a new window and lets the acknowledgement go.
struct Holding {
    flow: FlowId,
    granted: u64,
}

impl WindowControl for Holding {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _announced: &Announcement) {
        self.flow = flow;
        cx.actions.push(ReceiverAction::Window { flow, bytes: 0 });
        cx.actions.push(ReceiverAction::Timer { at: TICK, token: 1 });
    }
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Hold
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        assert_eq!(cx.now, TICK * token, "each timer brings its token");
        self.granted += GRANTED;
        cx.actions.push(ReceiverAction::Window { flow: self.flow, bytes: self.granted });
        cx.actions.push(ReceiverAction::Release { flow: self.flow, push: false });
        cx.actions.push(ReceiverAction::Timer { at: cx.now + TICK, token: token + 1 });
    }
}

#[test]
fn acknowledgements_wait_and_leave_with_the_number_and_window_of_their_release() {
    let (mut scheme, log) = tapped();
    scheme.window = Some(Box::new(|_| Box::new(Holding { flow: FlowId::default(), granted: 0 })));
    let outcome = run_instead(&star(1, "100KB", "[transport]\ninitial-window = \"100mss\""), scheme);
    let acks: Vec<_> = log.take().into_iter().filter(|seen| seen.packet.is_ack()).collect();
    // 10 us and the transmission of 40 bytes after each tick, one acknowledgement passes the switch.
    let on_the_way = Time::from_us(10) + Time::from_ns(320);
    for (tick, seen) in (1..).zip(&acks) {
        assert_eq!(seen.at, TICK * tick + on_the_way);
    }
    assert!(acks[0].packet.flags.has(Flags::SYN), "the answer to the SYN waits as well");
    assert_eq!(u64::from(acks[0].packet.window), GRANTED, "unscaled in a SYN");
    let mut expected = 1_u64;
    for (i, seen) in (1_u64..).zip(&acks[1..]) {
        // All whole segments that the last window let out have come by now.
        expected += GRANTED * i / 1460 * 1460;
        assert_eq!(u64::from(seen.packet.seq), expected.min(100_001));
        assert_eq!(u64::from(seen.packet.window) << 5, GRANTED * (i + 1) / 32 * 32);
    }
    assert_eq!((outcome.number("retransmissions"), outcome.number("timeouts")), (0.0, 0.0));
}

/// Marks the first segment alone.
struct MarkingFirst;

impl SwitchAgent for MarkingFirst {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        if packet.seq == 1 && packet.size > 40 && packet.flags.has(Flags::ECT) {
            packet.flags = packet.flags.with(Flags::CE);
        }
        Pass::Forward
    }
}

/// Told of every mark on its own.
struct Echoed(Log<bool>);

impl CongestionControl for Echoed {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.0.push(ack.ece);
        NewReno.on_ack(cx, ack);
    }
}

#[test]
fn a_held_acknowledgement_keeps_the_echo_of_those_that_it_replaces() {
    let echoes = Log::new();
    let tell = echoes.clone();
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Echoed(tell.clone())))),
        window: Some(Box::new(|_| Box::new(Holding { flow: FlowId::default(), granted: 0 }))),
        agent: Some(Box::new(|_| Box::new(MarkingFirst))),
        ..Parts::default()
    };
    // All segments of the first window are held for one acknowledgement; the first of them alone was marked.
    run_instead(&star(1, "50KB", "[transport]\ninitial-window = \"100mss\""), scheme);
    let echoes = echoes.take();
    assert!(echoes.len() > 2 && echoes[0], "{echoes:?}");
    assert!(!echoes[1..].contains(&true), "once told, the echo is over: {echoes:?}");
}

/// Lets the first SYN-ACK go, and whatever follows only after 2 ms.
struct HoldingData {
    opened: bool,
}

impl WindowControl for HoldingData {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {
        if !self.opened {
            cx.actions.push(ReceiverAction::Timer { at: Time::from_ms(2), token: 0 });
        }
    }
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        let hold = self.opened && cx.now <= Time::from_ms(2);
        self.opened = true;
        if hold { AckDecision::Hold } else { AckDecision::Send }
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, _token: u64) {
        cx.actions.push(ReceiverAction::Release { flow: FlowId::new(0), push: false });
    }
}

/// Marks the first segment alone, and lets data overtake repeated SYNs.
struct DelayingSyns {
    kept: Vec<(Packet, LinkId)>,
}

impl SwitchAgent for DelayingSyns {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.is_ack() || !packet.flags.has(Flags::SYN) || !packet.flags.has(Flags::RETRANSMITTED) {
            return MarkingFirst.on_packet(cx, packet, passage);
        }
        cx.actions.push(SwitchAction::Timer { at: Time::from_ms(1), token: 0 });
        self.kept.push((*packet, passage.to));
        Pass::Keep
    }
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, _token: u64) {
        for (packet, to) in self.kept.drain(..) {
            cx.actions.push(SwitchAction::Inject { packet, to });
        }
    }
}

#[test]
fn a_late_syn_does_not_displace_a_held_acknowledgement_of_data() {
    let echoes = Log::new();
    let tell = echoes.clone();
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Echoed(tell.clone())))),
        window: Some(Box::new(|_| Box::new(HoldingData { opened: false }))),
        agent: Some(Box::new(|_| Box::new(DelayingSyns { kept: Vec::new() }))),
        ..Parts::default()
    };
    // The SYN-ACK takes longer than the timer of the SYN, which is sent again for nothing.
    let outcome = run_instead(&star(1, "5KB", "[transport]\nsyn-timeout = \"30us\""), scheme);
    assert_eq!((outcome.number("timeouts_syn"), outcome.number("timeouts")), (1.0, 1.0));
    let echoes = echoes.take();
    assert!(echoes[0] && !echoes[1..].contains(&true), "the mark of the first segment: {echoes:?}");
}

/// After a while asks for a retransmission of what is unacknowledged.
struct Asking;

impl WindowControl for Asking {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _announced: &Announcement) {
        cx.actions.push(ReceiverAction::Timer { at: TICK, token: flow.index() as u64 });
    }
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        cx.actions.push(ReceiverAction::Release { flow: FlowId::new(token as usize), push: true });
    }
}

/// Loses the second segment, the last, so that no duplicate acknowledgement can tell.
struct Losing;

impl SwitchAgent for Losing {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        let lost = packet.seq == 1461 && !packet.is_ack() && !packet.flags.has(Flags::RETRANSMITTED);
        if lost { Pass::Drop } else { Pass::Forward }
    }
}

#[test]
fn a_push_makes_the_sender_retransmit() {
    let scheme = Parts {
        window: Some(Box::new(|_| Box::new(Asking))),
        agent: Some(Box::new(|_| Box::new(Losing))),
        ..Parts::default()
    };
    let outcome = run_instead(&star(1, "2920B", ""), scheme);
    assert_eq!((outcome.number("retransmissions"), outcome.number("timeouts")), (1.0, 0.0));
    // The request and the segment cross the switch: 20 us each, and 40 and 1500 bytes twice.
    let completion = reals(&outcome, "flows", "completion_s")[0];
    assert!((completion - (1e-3 + 40e-6 + 2.0 * 1540.0 * 8e-9)).abs() < 1e-12, "{completion}");
}

/// Never lets an acknowledgement go.
struct Silent;

impl WindowControl for Silent {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _arrival: &Arrival) {}
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Hold
    }
}

#[test]
fn a_scheduler_that_never_answers_costs_the_connection_not_the_run() {
    let scheme = Parts { window: Some(Box::new(|_| Box::new(Silent))), ..Parts::default() };
    let text = star(2, "50KB", "[transport]\nsyn-timeout = \"10ms\"\nsyn-retries = 2");
    let outcome = run_with(&scenario(&text), instead(scheme), None).expect("runs");
    assert_eq!((outcome.number("failed"), outcome.number("timeouts_syn")), (2.0, 6.0));
    assert_eq!(outcome.number("timeout_ratio"), 1.0, "the last wait of each counts as well");
}

/// Counts the payload that arrived with a mark, and says in acknowledgements how much that is by now.
struct Counting {
    marked: u64,
    /// Says so only when an acknowledgement is due, which is to have it.
    late: bool,
}

impl WindowControl for Counting {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        self.marked += u64::from(arrival.ce) * arrival.payload;
        if !self.late {
            cx.actions.push(ReceiverAction::Acks { flow, field: self.marked, priority: 1 });
        }
    }
    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckDecision {
        if self.late && kind == AckKind::Data {
            cx.actions.push(ReceiverAction::Acks { flow, field: self.marked, priority: 1 });
        }
        AckDecision::Send
    }
}

/// Sets every packet's field, and hears what acknowledgements have there.
struct Hearing(Log<u64>);

impl CongestionControl for Hearing {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.field = 77;
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.0.push(ack.field);
    }
}

/// Marks the segments that begin at these numbers, and tells of the priorities of acknowledgements.
struct Marking(Log<u8>);

impl SwitchAgent for Marking {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        if packet.is_ack() {
            self.0.push(packet.priority);
        } else if [1, 2921, 4381].contains(&packet.seq) && packet.size > 1000 {
            packet.flags = packet.flags.with(Flags::CE);
        }
        Pass::Forward
    }
}

#[test]
fn a_receiver_writes_counts_of_marks_and_a_priority_into_acknowledgements() {
    for late in [false, true] {
        let (heard, priorities) = (Log::new(), Log::new());
        let (hear, tell) = (heard.clone(), priorities.clone());
        let scheme = Parts {
            congestion: Some(Box::new(move |_| Box::new(Hearing(hear.clone())))),
            window: Some(Box::new(move |_| Box::new(Counting { marked: 0, late }))),
            agent: Some(Box::new(move |_| Box::new(Marking(tell.clone())))),
            ..Parts::default()
        };
        run_instead(&star(1, "8760B", "[transport]\nack-every = 2"), scheme);
        assert_eq!(heard.take(), [1460, 3 * 1460], "of two segments each, before the run ends with the last");
        assert_eq!(priorities.take(), [0, 1, 1], "the first is of the handshake");
    }
}
