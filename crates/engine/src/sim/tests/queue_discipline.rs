//! The egress port's role: order, marks, early drops, push-out, and a state shared with the switch's agent.

use super::bench::{Log, Parts, both, instead, reals, run_instead, star};
use crate::sim::build::Substitutes;
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{
    AckEvent, Admission, CongestionControl, EcnMode, Pass, Passage, QueueCx, QueueDiscipline, SenderCx, SwitchAgent,
    SwitchCx,
};
use fanin_schemes::NewReno;
use std::any::Any;

/// NewReno at one priority.
struct At(u8);

impl CongestionControl for At {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.priority = self.0;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        NewReno.on_ack(cx, ack);
    }
}

#[test]
fn bands_order_flows() {
    // The later a flow, the higher its priority.
    let scheme =
        Parts { congestion: Some(Box::new(|flow| Box::new(At(2 - flow.flow.index() as u8)))), ..Parts::default() };
    let text = star(3, "13KB", "[queue]\nkind = \"strict-priority\"");
    let outcome = run_instead(&text, scheme);
    let fct = reals(&outcome, "flows", "fct_s");
    assert!(fct[2] < fct[1] && fct[1] < fct[0], "{fct:?}");
    // The first is delayed by at most one lower packet and by no other: it is as fast as alone but for that, and
    // the answers to its SYN queue with two others at the receiver.
    let alone = reals(&outcome, "flows", "ideal_s")[2];
    assert!(fct[2] - alone <= 2.0 * 12e-6 + 4.0 * 0.32e-6, "{} for {alone}", fct[2]);
}

#[test]
fn deficit_round_robin_divides_a_port_among_bands_and_strict_priority_does_not() {
    // Six flows of high priority and one of low priority fill the port.
    let scheme = || Parts {
        congestion: Some(Box::new(|flow| Box::new(At(u8::from(flow.flow.index() == 6))))),
        ..Parts::default()
    };
    let goodput = |queue: &str| {
        let text = star(7, "2MB", &format!("[queue]\nkind = \"{queue}\"\nbands = 2"));
        let text = text.replace("delay", "buffer = \"10MB\"\ndelay");
        let outcome = both(&text, &|| instead(scheme())).unwrap_or_else(|difference| panic!("{difference}"));
        1.0 / reals(&outcome, "flows", "fct_s")[6]
    };
    let (strict, drr) = (goodput("strict-priority"), goodput("drr"));
    // It has half of the port. What the others leave comes last: twelve of fourteen megabytes go before it.
    assert!((drr / strict - 3.5).abs() < 0.2, "{drr} {strict}");
}

/// Marks every third packet of a port and drops every fiftieth, early.
struct Every(u64);

impl QueueDiscipline for Every {
    fn on_enqueue(&mut self, _cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        self.0 += 1;
        if self.0.is_multiple_of(50) {
            return Admission::Drop;
        }
        if self.0.is_multiple_of(3) {
            packet.flags = packet.flags.with(Flags::CE);
        }
        Admission::Enqueue(0)
    }
}

/// Tells which acknowledgements carry an echo.
struct Listening(Log<bool>);

impl CongestionControl for Listening {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.0.push(ack.ece);
    }
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
}

#[test]
fn marks_reach_the_sender_and_early_drops_are_named() {
    let echoes = Log::new();
    let tell = echoes.clone();
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Listening(tell.clone())))),
        queue: Some(Box::new(|_| Box::new(Every(0)))),
        ..Parts::default()
    };
    let outcome = run_instead(&star(1, "58400B", "[transport]\nrto-min = \"1ms\"\nrto-initial = \"1ms\""), scheme);
    // Towards the receiver: SYN, the handshake's last packet, 40 segments. Each third of these is marked, the SYN's
    // place included: segments 1, 4, ... 40. Towards the sender: SYN-ACK and 39 acknowledgements, of
    // which the last is on its way when the run ends.
    assert_eq!(echoes.take(), (1..39).map(|segment| segment % 3 == 1).collect::<Vec<_>>());
    assert_eq!(outcome.number("drops"), 0.0);
    assert_eq!(outcome.number("would_mark"), outcome.number("marks"), "a mark was due wherever one was set");
    let echoes = Log::new();
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Listening(echoes.clone())))),
        queue: Some(Box::new(|_| Box::new(Every(0)))),
        ..Parts::default()
    };
    let outcome = run_instead(&star(1, "100KB", "[transport]\nrto-min = \"1ms\"\nrto-initial = \"1ms\""), scheme);
    assert!(outcome.number("drops_discipline") > 0.0);
    assert_eq!(outcome.number("drops_discipline"), outcome.number("drops"));
}

/// Two bands; a full port makes room for the first at the expense of the second.
struct Pushing;

impl QueueDiscipline for Pushing {
    fn bands(&self) -> u8 {
        2
    }
    fn on_enqueue(&mut self, _cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        Admission::Enqueue(packet.priority.min(1))
    }
    fn on_full(&mut self, cx: &mut QueueCx<'_>, packet: &Packet) -> Option<u8> {
        (packet.priority == 0 && cx.bands[1].packets > 0).then_some(1)
    }
}

#[test]
fn a_full_port_pushes_out() {
    let make = || {
        instead(Parts {
            congestion: Some(Box::new(|flow| Box::new(At((flow.flow.index() % 2) as u8)))),
            queue: Some(Box::new(|_| Box::new(Pushing))),
            ..Parts::default()
        })
    };
    let text =
        star(8, "14600B", "[transport]\nrto-min = \"5ms\"").replace("[[traffic]]", "buffer = \"45pkt\"\n[[traffic]]");
    let outcome = both(&text, &make).expect("both cores agree");
    let drops = reals(&outcome, "flows", "drops");
    // 80 segments come at once for 45 places; the 40 of the first band all find one.
    assert!(outcome.number("drops_pushed_out") > 0.0);
    for (flow, drops) in drops.iter().enumerate() {
        assert_eq!(*drops > 0.0, flow % 2 == 1, "flow {flow} lost {drops}");
    }
}

#[test]
fn a_fifo_that_asks_to_push_out_drops_the_arriving_packet() {
    struct Wishful;
    impl QueueDiscipline for Wishful {
        fn on_enqueue(&mut self, _cx: &mut QueueCx<'_>, _packet: &mut Packet) -> Admission {
            Admission::Enqueue(0)
        }
        fn on_full(&mut self, _cx: &mut QueueCx<'_>, _packet: &Packet) -> Option<u8> {
            Some(0)
        }
    }
    let make = || instead(Parts { queue: Some(Box::new(|_| Box::new(Wishful))), ..Parts::default() });
    let text = star(8, "14600B", "").replace("[[traffic]]", "buffer = \"20pkt\"\n[[traffic]]");
    let outcome = both(&text, &make).expect("both cores agree");
    assert!(outcome.number("drops_buffer_full") > 0.0);
    assert_eq!(outcome.number("drops_pushed_out"), 0.0);
}

/// Drops what the agent of the switch has put on its list.
struct Listed;

impl QueueDiscipline for Listed {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let list: &mut Vec<u32> = cx.node.downcast_mut().expect("the scheme's own state");
        match list.iter().position(|seq| *seq == packet.seq && packet.size > 40) {
            Some(i) => {
                list.remove(i);
                Admission::Drop
            }
            None => Admission::Enqueue(0),
        }
    }
}

/// Puts the third data segment on the list.
struct Listing(u32);

impl SwitchAgent for Listing {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        self.0 += u32::from(packet.size > 40);
        if self.0 == 3 && packet.size > 40 {
            let list: &mut Vec<u32> = cx.node.downcast_mut().expect("the scheme's own state");
            list.push(packet.seq);
        }
        Pass::Forward
    }
}

#[test]
fn discipline_and_agent_share_a_state() {
    let scheme = Parts {
        queue: Some(Box::new(|_| Box::new(Listed))),
        agent: Some(Box::new(|_| Box::new(Listing(0)))),
        node: Some(Box::new(|_| Box::<Vec<u32>>::default() as Box<dyn Any + Send>)),
        ..Parts::default()
    };
    let outcome = run_instead(&star(1, "30KB", ""), scheme);
    assert_eq!((outcome.number("drops_discipline"), outcome.number("retransmissions")), (1.0, 1.0));
    assert_eq!(reals(&outcome, "drops", "seq"), [1.0 + 2.0 * 1460.0]);
}

/// Drops by the discipline, marks, and packets that were due a mark, of ten senders of 64 KB through a port that is looked at
/// by both event cores.
fn unmarkable(network: &str, rest: &str) -> [f64; 3] {
    let text = star(10, "64KB", rest).replacen("delay", &format!("{network}\ndelay"), 1);
    let outcome = both(&text, &Substitutes::default).unwrap_or_else(|error| panic!("{error}"));
    let total = |name: &str| outcome.summary[name].as_f64().unwrap_or_else(|| panic!("{name}"));
    [total("drops_discipline"), total("marks"), total("would_mark")]
}

#[test]
fn a_switch_may_drop_what_is_due_a_mark_and_cannot_be_marked() {
    const DROP: &str = "non-ect = \"drop\"";
    let threshold = "[queue]\nkind = \"ecn-threshold\"\nthreshold = \"20pkt\"";
    let [dropped, marked, due] = unmarkable("", threshold);
    assert!(dropped == 0.0 && marked == 0.0 && due > 0.0, "plain TCP passes a threshold unmarked");
    let [dropped, marked, due] = unmarkable(DROP, threshold);
    assert!(dropped > 0.0 && marked == 0.0, "RFC 3168 section 5 lets a port drop it");
    assert_eq!(dropped, due, "each of them, and nothing else");
    // Bytes are counted on the slow path; the rule is the same.
    let [dropped, marked, due] = unmarkable(DROP, "[queue]\nkind = \"ecn-threshold\"\nthreshold = \"30KB\"");
    assert!(dropped > 0.0 && marked == 0.0 && dropped == due);
}

#[test]
fn what_a_scheme_marks_is_not_dropped_and_a_queue_that_only_counts_drops_nothing() {
    const DROP: &str = "non-ect = \"drop\"";
    let dctcp = "[transport]\nscheme = \"dctcp\"\necn-syn = true\necn-retransmit = true";
    let [dropped, marked, due] = unmarkable(DROP, dctcp);
    assert!(marked > 0.0 && dropped == 0.0 && marked == due, "the scheme's own queue, and every packet is capable");
    let [dropped, _, due] = unmarkable(DROP, "[queue]\nkind = \"drop-tail\"\nwould-mark = \"20pkt\"");
    assert!(due > 0.0 && dropped == 0.0);
    let [dropped, ..] = unmarkable(DROP, "[queue]\nkind = \"strict-priority\"");
    assert_eq!(dropped, 0.0, "no threshold");
    let red = "[queue]\nkind = \"red\"\nred-weight = 1.0\nred-drop = false";
    assert_eq!(unmarkable("", red)[0], 0.0);
    assert!(unmarkable(DROP, red)[0] > 0.0, "RED as well, whatever red-drop says");
}

#[test]
fn acknowledgements_are_marked_and_not_dropped_where_a_flow_has_them_ecn_capable() {
    const DROP: &str = "non-ect = \"drop\"";
    let all = |ack: bool| {
        format!(
            "[transport]\nscheme = \"dctcp\"\necn-syn = true\necn-retransmit = true\necn-ack = {ack}\n\
             [queue]\nkind = \"ecn-threshold\"\nthreshold = \"1pkt\""
        )
    };
    let [dropped, marked, _] = unmarkable(DROP, &all(false));
    assert!(dropped > 0.0 && marked > 0.0, "RFC 3168 s6.1.4: no pure acknowledgement is capable");
    let [dropped, marked, due] = unmarkable(DROP, &all(true));
    assert!(dropped == 0.0 && marked == due && due > 0.0);
}

#[test]
fn scheduled_ties_fall_as_a_way_back_shorter_or_longer_than_a_transmission_makes_them() {
    let run = |delay: &str, ties: &str| {
        let text = format!(
            "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\ndelay = \"{delay}\"\nbuffer = \"40pkt\"\nties = \"{ties}\"\n\
             [transport]\nscheme = \"newreno\"\nrto-min = \"2ms\"\nack-every = 2\n[[traffic]]\nkind = \"incast\"\nsenders = 12\n\
             bytes-each = \"100KB\"\n[run]\nduration = \"9s\"\nseed = 3\n"
        );
        let outcome = both(&text, &Substitutes::default).unwrap_or_else(|error| panic!("{error}"));
        ["drops", "timeouts", "fct_mean_s"].map(|name| outcome.number(name).to_string())
    };
    for (delay, same, other) in [("10us", "waiting-first", "fresh-first"), ("25us", "fresh-first", "waiting-first")] {
        let scheduled = run(delay, "scheduled");
        assert_eq!(scheduled, run(delay, same), "{delay} against 11.7 us of payload");
        assert_ne!(scheduled, run(delay, other), "{delay}: the order matters");
    }
}
