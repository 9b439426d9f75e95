//! Packets of a scheme's own, from receiver to sender.

use super::bench::{Log, Parts, Seen, Tap, reals, run_instead, star};
use crate::sim::Outcome;
use fanin_core::ids::FlowId;
use fanin_core::packet::Packet;
use fanin_core::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, ControlPacket, ReceiverAction,
    ReceiverCx, SenderCx, WindowControl,
};
use fanin_measure::table::Data;

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
