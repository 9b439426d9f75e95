//! Packets of a scheme's own, from a receiver or a switch to a sender.

use super::bench::{Log, Parts, Seen, Tap, both, instead, reals, run_instead, scenario, star};
use crate::sim::build::build;
use crate::sim::{Outcome, laws};
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::Packet;
use fanin_core::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, ControlPacket, Pass, Passage,
    ReceiverAction, ReceiverCx, SenderCx, SwitchAction, SwitchAgent, SwitchCx, WindowControl,
};
use fanin_core::units::Time;
use fanin_event::core::Core;
use fanin_measure::table::Data;
use fanin_world::World;

/// Answers each segment with a packet of its own, which names the next number expected.
struct Pulling;

impl WindowControl for Pulling {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        let packet = ControlPacket { kind: 7, priority: 2, size: 64, field: arrival.next };
        cx.actions.push(ReceiverAction::Control { flow, packet });
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

/// Sends a segment at first, and one for each packet that it hears; keeps its edge where it is otherwise.
struct Pulled {
    edge: u64,
    heard: Log<ControlPacket>,
}

impl CongestionControl for Pulled {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.edge = cx.una + cx.mss as u64;
        cx.window.cwnd = cx.mss;
    }
    fn on_control(&mut self, cx: &mut SenderCx<'_>, packet: &ControlPacket) {
        self.heard.push(*packet);
        self.edge += cx.mss as u64;
        cx.window.cwnd = (self.edge - cx.una) as f64;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        cx.window.cwnd = ((self.edge - cx.una) as f64).max(1.0);
    }
}

/// The run of one sender of ten segments, what its sender heard, and what passed the switch.
fn pull(more: &str) -> (Outcome, Vec<ControlPacket>, Vec<Seen>) {
    let (heard, seen) = (Log::new(), Log::new());
    let (hear, tap) = (heard.clone(), seen.clone());
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Pulled { edge: 0, heard: hear.clone() }))),
        window: Some(Box::new(|_| Box::new(Pulling))),
        agent: Some(Box::new(move |_| Box::new(Tap(tap.clone())))),
        ..Parts::default()
    };
    let outcome = run_instead(&star(1, "14600B", more), scheme);
    (outcome, heard.take(), seen.take())
}

#[test]
fn a_receivers_own_packets_reach_the_sender_which_sends_by_them() {
    let (_, heard, seen) = pull("");
    // The run ends with the last segment, before what answers it.
    let expected = (1..10).map(|n| ControlPacket { kind: 7, priority: 2, size: 64, field: 1 + 1460 * n });
    assert_eq!(heard, expected.collect::<Vec<_>>());
    let control: Vec<_> = seen.iter().map(|seen| seen.packet).filter(Packet::is_control).collect();
    assert_eq!(control.len(), 9);
    assert!(control.iter().all(|packet| (packet.size, packet.priority) == (64, 2)), "as any packet at a switch");
    assert_eq!(seen.iter().filter(|seen| seen.packet.size == 1500).count(), 10);
}

#[test]
fn a_fault_can_choose_them_and_tables_name_them() {
    let lose = "[measure]\ncrossings = \"all\"\n[transport]\nrto-min = \"10ms\"\n[[fault]]\nkind = \"drop\"\n\
                packets = \"control\"\nlink = \"receiver-0->switch-0\"\ncopies = \"3\"";
    let (outcome, heard, _) = pull(lose);
    assert_eq!(outcome.number("drops_chosen"), 1.0);
    assert!(!heard.iter().any(|packet| packet.field == 1 + 1460 * 3), "{heard:?}");
    let kind = outcome.table("crossings").and_then(|table| table.column("kind")).expect("recorded");
    let Data::Label { codes, names } = &kind.data else { panic!("kinds are labels") };
    let control: Vec<usize> = (0..codes.len()).filter(|row| names[codes[*row] as usize] == "control").collect();
    let (seqs, sizes) = (reals(&outcome, "crossings", "seq"), reals(&outcome, "crossings", "size_bytes"));
    assert!(control.len() >= 2 * 8 && control.iter().all(|row| (seqs[*row], sizes[*row]) == (7.0, 64.0)));
}

/// Notifies the sender of each segment with data that leaves over `link`, at once and once more after `later`.
struct Notifying {
    link: Option<LinkId>,
    later: Time,
    sent: Log<(Time, FlowId)>,
}

impl Notifying {
    fn notify(&self, cx: &mut SwitchCx<'_>, flow: FlowId, kind: u8) {
        self.sent.push((cx.now, flow));
        let packet = ControlPacket { kind, priority: 1, size: 64, field: 100 + flow.index() as u64 };
        cx.actions.push(SwitchAction::Control { flow, packet });
    }
}

impl SwitchAgent for Notifying {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if !packet.is_ack() && packet.size > 40 && self.link.is_none_or(|link| link == passage.to) {
            self.notify(cx, packet.flow, 3);
            if self.later > Time::ZERO {
                cx.actions.push(SwitchAction::Timer { at: cx.now + self.later, token: packet.flow.index() as u64 });
            }
        }
        Pass::Forward
    }
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, token: u64) {
        self.notify(cx, FlowId::new(token as usize), 4);
    }
}

/// Tells when which packet of a switch arrived; NewReno otherwise.
struct Notified(Log<(Time, ControlPacket)>);

impl CongestionControl for Notified {
    fn on_control(&mut self, cx: &mut SenderCx<'_>, packet: &ControlPacket) {
        self.0.push((cx.now, *packet));
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        fanin_schemes::NewReno.on_ack(cx, ack);
    }
}

/// What switches sent, and what senders heard.
#[derive(Clone)]
struct Notes {
    sent: Log<(Time, FlowId)>,
    heard: Log<(Time, ControlPacket)>,
}

impl Notes {
    fn new() -> Self {
        Self { sent: Log::new(), heard: Log::new() }
    }
    /// A scheme whose switches notify senders.
    fn of(&self, link: Option<usize>, later: Time) -> Parts {
        let (Self { sent, heard }, link) = (self.clone(), link.map(LinkId::new));
        Parts {
            congestion: Some(Box::new(move |_| Box::new(Notified(heard.clone())))),
            agent: Some(Box::new(move |_| Box::new(Notifying { link, later, sent: sent.clone() }))),
            ..Parts::default()
        }
    }
}

/// A sender, two switches with 10 Gbps to each other, and a receiver.
fn trunk(more: &str) -> String {
    star(1, "1460B", more).replace("\"star\"", "\"two-switch\"\nrate = \"1Gbps\"\ntrunk-rate = \"10Gbps\"")
}

/// The link of this name.
fn link(text: &str, name: &str) -> usize {
    let names = super::bench::network(text).expect("a network").topology.link_names();
    names.iter().position(|link| link == name).unwrap_or_else(|| panic!("{names:?}"))
}

#[test]
fn a_switchs_own_packet_takes_the_shortest_path_in_the_time_of_the_closed_form() {
    let text = trunk("");
    let notes = Notes::new();
    run_instead(&text, notes.of(Some(link(&text, "switch-1->receiver-0")), Time::ZERO));
    let [(left, flow)] = notes.sent.take()[..] else { panic!("one segment") };
    // 64 bytes at 10 and at 1 Gbps, and two cables of 10 us. Nothing else goes this way then.
    let at = left + Time::from_ps(51_200) + Time::from_ps(512_000) + Time::from_us(20);
    let packet = ControlPacket { kind: 3, priority: 1, size: 64, field: 100 + flow.index() as u64 };
    assert_eq!(notes.heard.take(), [(at, packet)]);
}

#[test]
fn a_fault_can_drop_a_switchs_own_packet() {
    let lose = "[[fault]]\nkind = \"drop\"\npackets = \"control\"\nlink = \"switch-0->sender-0\"";
    let text = trunk(lose);
    let notes = Notes::new();
    let outcome = run_instead(&text, notes.of(Some(link(&text, "switch-1->receiver-0")), Time::ZERO));
    assert_eq!((notes.sent.take().len(), outcome.number("drops_chosen")), (1, 1.0));
    assert!(notes.heard.take().is_empty());
}

#[test]
fn with_packets_of_switches_the_laws_hold_and_both_cores_agree() {
    let leaves = "topology = \"leaf-spine\"";
    let networks = [leaves, "topology = \"star\"\npfc = \"on\"\nbuffer = \"60pkt\"", "topology = \"fat-tree\""];
    let mores =
        ["", "[queue]\nkind = \"strict-priority\"\nthreshold = \"5pkt\"", "[[fault]]\nkind = \"loss\"\nrate = 0.05"];
    for network in networks {
        for more in mores {
            let text = star(8, "60KB", &format!("[transport]\nrto-min = \"1ms\"\n{more}"))
                .replace("topology = \"star\"", network);
            let notes = Notes::new();
            let make = || instead(notes.of(None, Time::from_us(300)));
            both(&text, &make).unwrap_or_else(|difference| panic!("{difference}"));
            let heard = notes.heard.take().len();
            assert!(heard > 0 && heard <= notes.sent.take().len());
        }
    }
}

#[test]
fn a_switchs_own_packet_for_a_flow_that_has_finished_is_not_sent() {
    let notes = Notes::new();
    // Connections of 3 KB one after another, of which each is let go within a millisecond.
    let text = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"sessions\"\nbytes-each = \"3KB\"\ncount = 100\n\
                concurrent = 1\nsenders = 2\nreceivers = 1\n[run]\nduration = \"5s\"\n";
    let mut world: World<Core> =
        build(&scenario(text), instead(notes.of(None, Time::from_ms(5)))).expect("makes sense");
    world.hosts.finished.look(Some(0));
    world.run(None).and_then(|()| laws::check(&mut world)).unwrap_or_else(|error| panic!("{error}"));
    let (sent, heard) = (notes.sent.take().len(), notes.heard.take());
    assert!(heard.iter().all(|(_, packet)| packet.kind == 3), "those after 5 ms come too late");
    assert!(sent > 300 && heard.len() > 190, "{sent}, {}", heard.len());
    assert!(world.hosts.flows.iter().count() < 5, "what switches sent is no reason to keep a flow");
}
