//! Ports that cut the payload of segments.

use super::bench::{Log, Parts, both, instead, reals, star};
use crate::sim::Outcome;
use fanin_core::ids::FlowId;
use fanin_core::roles::{AckDecision, AckKind, Announcement, Arrival, ReceiverCx, WindowControl};
use fanin_core::units::Size;
use fanin_measure::table::Data;
use fanin_network::queue::Trimming;

/// Tells of every segment whether it is whole, its flow and its number.
struct Watching(Log<(bool, FlowId, u64)>);

impl WindowControl for Watching {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        self.0.push((true, flow, arrival.seq));
    }
    fn on_trimmed(&mut self, _cx: &mut ReceiverCx<'_>, flow: FlowId, seq: u64, _field: u64) {
        self.0.push((false, flow, seq));
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

/// Ten senders of ten segments each over ports whose data queue holds `data` packets, the same on both event cores, and what
/// the receiver saw.
fn incast(data: u64, last: f64, more: &str) -> (Outcome, Vec<(bool, FlowId, u64)>) {
    let log = Log::new();
    let text = star(10, "14600B", &format!("[transport]\nrto-min = \"10ms\"\n[measure]\ncrossings = \"all\"\n{more}"));
    let substitutes = || {
        log.take();
        let tell = log.clone();
        instead(Parts {
            window: Some(Box::new(move |_| Box::new(Watching(tell.clone())))),
            queue: Some(Box::new(move |facts| {
                Box::new(Trimming::new((facts.packet - facts.mss) as u16, Size::Packets(data), last))
            })),
            ..Parts::default()
        })
    };
    let outcome = both(&text, &substitutes).unwrap_or_else(|difference| panic!("{difference}"));
    (outcome, log.take())
}

/// Of the packets of a kind that crossed links, how many.
fn crossed(outcome: &Outcome, kind: &str) -> usize {
    let column = outcome.table("crossings").and_then(|table| table.column("kind")).expect("recorded");
    let Data::Label { codes, names } = &column.data else { panic!("kinds are labels") };
    codes.iter().filter(|code| names[**code as usize] == kind).count()
}

#[test]
fn headers_arrive_in_place_of_what_does_not_fit_and_nothing_is_dropped() {
    for last in [0.0, 0.5, 1.0] {
        let (outcome, seen) = incast(8, last, "");
        let trimmed = seen.iter().filter(|(whole, ..)| !whole).count();
        assert!(trimmed > 10, "{trimmed} with {last}");
        assert_eq!(crossed(&outcome, "trimmed"), trimmed, "on the last link");
        assert_eq!(outcome.number("drops"), 0.0);
        assert!(seen.iter().all(|(_, _, seq)| (seq - 1) % 1460 == 0), "their numbers are left");
        // TCP takes them for losses, and sends them again: each is whole in the end.
        assert!(outcome.number("retransmissions") > 0.0);
        assert!(reals(&outcome, "flows", "fct_s").iter().all(|fct| fct.is_finite()));
        for (_, flow, seq) in seen.iter().filter(|(whole, ..)| !whole) {
            assert!(seen.contains(&(true, *flow, *seq)), "{flow} {seq}");
        }
    }
}

#[test]
fn headers_overtake_data() {
    let (_, seen) = incast(8, 0.0, "");
    let first = seen.iter().position(|(whole, ..)| !whole).expect("some are cut");
    // Nine segments were there before it: one in transmission and eight that wait. It passes those eight.
    assert!(first <= 2, "{first}");
}

#[test]
fn a_wide_data_queue_cuts_nothing() {
    let (outcome, seen) = incast(100, 0.5, "");
    assert_eq!((crossed(&outcome, "trimmed"), outcome.number("retransmissions")), (0, 0.0));
    assert_eq!(seen.len(), 100);
}

#[test]
fn the_last_segment_is_cut_in_the_place_of_the_arriving_one() {
    // The FIN is on the tenth segment of each. Cut, it is no FIN any more, and TCP sends it again with its payload.
    let cut = |last| incast(8, last, "").1.into_iter().filter(|(whole, ..)| !whole).collect::<Vec<_>>();
    assert_ne!(cut(0.0), cut(1.0));
    assert!(cut(0.0).iter().any(|(_, _, seq)| *seq == 1 + 9 * 1460));
}
