//! The choice among equal-cost paths, per flow and per flowcell.

use super::bench::Seen;
use super::bench::{Log, Parts, Tap, both, reals, scenario, star};
use crate::sim::build::Substitutes;
use crate::sim::{Outcome, run_reference_with, run_with};
use fanin_core::ids::{FlowId, NodeId};
use fanin_core::packet::CellTag;
use fanin_core::rng::Stream;
use fanin_core::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, EcnMode, Flowlets, PathAck, PathCx,
    PathRequest, PathSelector, ReceiverCx, SenderCx, WindowControl,
};
use fanin_core::units::{Rate, Time};
use fanin_network::topology::two_paths;
use fanin_schemes::Scheme;

/// Path by number: that of the flow plus that of the cell. With patience, packets are labelled with it.
#[derive(Clone, Copy)]
struct InTurn {
    cell: Option<u64>,
    patience: Option<Time>,
}

impl PathSelector for InTurn {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        assert_eq!(request.paths, 2);
        let path = (request.flow.index() + request.cell as usize) % 2;
        cx.label = self.patience.map(|_| path as u32);
        path
    }
    fn cell(&self) -> Option<u64> {
        self.cell
    }
    fn patience(&self) -> Option<Time> {
        self.patience
    }
}

/// Counts segments that overtook others.
struct Overtaking(Log<FlowId>);

impl WindowControl for Overtaking {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival) {
        if arrival.delivery.out_of_order {
            self.0.push(flow);
        }
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

struct Journey {
    outcome: Outcome,
    /// Data packets at the two switches between the edges.
    middle: [Vec<Seen>; 2],
    overtaken: Vec<FlowId>,
}

/// Flows of 100 KB over two paths, of which the second is longer by `detour`.
fn travel(flows: usize, cell: Option<u64>, detour: Time, more: &str) -> Journey {
    travel_by(InTurn { cell, patience: None }, flows, detour, more)
}

fn travel_by(selector: InTurn, flows: usize, detour: Time, more: &str) -> Journey {
    let parts = || Parts { selector: Some(Box::new(move |_| Box::new(selector))), ..Parts::default() };
    travel_with(&parts, flows, detour, more)
}

fn travel_with(parts: &dyn Fn() -> Parts, flows: usize, detour: Time, more: &str) -> Journey {
    let (log, late) = (Log::new(), Log::new());
    let near = Time::from_us(10);
    let network = || two_paths(flows, Rate::from_bps(1_000_000_000), [near, near + detour]);
    let substitutes = || {
        let (tap, overtaking) = (log.clone(), late.clone());
        let scheme: Box<dyn Scheme> = Box::new(Parts {
            agent: Some(Box::new(move |_| Box::new(Tap(tap.clone())))),
            window: Some(Box::new(move |_| Box::new(Overtaking(overtaking.clone())))),
            ..parts()
        });
        Substitutes { schemes: [("newreno", scheme)].into(), topology: Some(network().0) }
    };
    let scenario = scenario(&star(flows as u32, "100KB", more));
    let reference = run_reference_with(&scenario, substitutes()).expect("runs");
    log.take();
    late.take();
    let outcome = run_with(&scenario, substitutes(), None).expect("runs");
    assert_eq!(outcome.hash(), reference.hash());
    let seen = log.take();
    let at = |node: NodeId| {
        let here = seen.iter().filter(|seen| seen.switch == node && !seen.packet.is_ack() && seen.packet.size > 40);
        here.copied().collect::<Vec<_>>()
    };
    Journey { outcome, middle: network().1.map(at), overtaken: late.take() }
}

#[test]
fn a_flow_keeps_its_path() {
    let journey = travel(4, None, Time::ZERO, "");
    for (path, seen) in journey.middle.iter().enumerate() {
        assert!(!seen.is_empty() && seen.iter().all(|seen| seen.packet.flow.index() % 2 == path));
    }
    assert!(journey.overtaken.is_empty());
}

#[test]
fn flowcells_take_turns() {
    let journey = travel(1, Some(14_600), Time::ZERO, "");
    for (path, seen) in journey.middle.iter().enumerate() {
        let cells: Vec<u32> = seen.iter().map(|seen| (seen.packet.seq - 1) / 14_600).collect();
        assert!(cells.iter().all(|cell| *cell as usize % 2 == path), "{cells:?}");
    }
    let segments = journey.middle.iter().map(Vec::len).sum::<usize>();
    assert_eq!(segments as f64, 69.0 + journey.outcome.number("retransmissions"));
}

#[test]
fn cells_overtake_each_other_and_the_receiver_copes() {
    // A cell of ten segments takes 120 us, and the detour 300 us: whole cells are overtaken.
    let journey = travel(2, Some(14_600), Time::from_us(150), "");
    assert!(!journey.overtaken.is_empty());
    assert_eq!(reals(&journey.outcome, "flows", "delivered_bytes"), [100_000.0; 2]);
    assert_eq!((journey.outcome.number("completed"), journey.outcome.number("drops")), (2.0, 0.0));
    assert!(journey.outcome.number("retransmissions") > 0.0, "NewReno takes the reordering for loss");
    let patient = travel(2, Some(14_600), Time::from_us(150), "[transport]\nduplicate-ack-threshold = 1000");
    assert_eq!(patient.outcome.number("retransmissions"), 0.0, "a patient one does not");
}

/// Cells of ten segments over two paths, of which one is 300 us longer, to a host that waits so long for a cell.
fn patient(patience: Time, more: &str) -> Journey {
    travel_by(InTurn { cell: Some(14_600), patience: Some(patience) }, 2, Time::from_us(150), more)
}

#[test]
fn labelled_cells_are_put_back_in_order() {
    let journey = patient(Time::from_ms(2), "");
    assert!(journey.overtaken.is_empty(), "TCP sees no segment out of order");
    assert_eq!(journey.outcome.number("retransmissions"), 0.0);
    assert_eq!(reals(&journey.outcome, "flows", "delivered_bytes"), [100_000.0; 2]);
    for (path, seen) in journey.middle.iter().enumerate() {
        for Seen { packet, .. } in seen {
            let tag = CellTag { label: path as u32, cell: (packet.seq - 1) / 14_600 };
            assert_eq!(CellTag::of(packet.field), Some(tag));
        }
    }
}

#[test]
fn patience_with_an_earlier_cell_ends() {
    let journey = patient(Time::from_us(50), "");
    assert!(!journey.overtaken.is_empty() && journey.outcome.number("retransmissions") > 0.0);
    assert_eq!(journey.outcome.number("completed"), 2.0);
}

#[test]
fn losses_are_repaired_while_cells_are_put_back_in_order() {
    let journey = patient(Time::from_ms(2), "[[fault]]\nkind = \"loss\"\nrate = 0.02\n");
    assert!(journey.outcome.number("drops") > 0.0);
    assert_eq!(reals(&journey.outcome, "flows", "delivered_bytes"), [100_000.0; 2]);
    // What is sent again goes the way of the newest cell, and says which it belongs to.
    for Seen { packet, .. } in journey.middle.iter().flatten() {
        assert_eq!(CellTag::of(packet.field).map(|tag| tag.cell), Some((packet.seq - 1) / 14_600));
    }
}

/// A choice that must not be asked for.
struct Forbidden;
impl PathSelector for Forbidden {
    fn choose(&mut self, _cx: &mut PathCx<'_>, _request: &PathRequest) -> usize {
        panic!("the scenario asks for a hash of the flow")
    }
}

#[test]
fn the_scenario_can_insist_on_ecmp() {
    let text = star(16, "20KB", "").replace("[[traffic]]", "path-selector = \"ecmp\"\n[[traffic]]");
    let log = Log::new();
    let tap = log.clone();
    let (topology, middle) = two_paths(16, Rate::from_bps(1_000_000_000), [Time::from_us(10); 2]);
    let scheme: Box<dyn Scheme> = Box::new(Parts {
        selector: Some(Box::new(|_| Box::new(Forbidden))),
        agent: Some(Box::new(move |_| Box::new(Tap(tap.clone())))),
        ..Parts::default()
    });
    let substitutes = Substitutes { schemes: [("newreno", scheme)].into(), topology: Some(topology) };
    run_with(&scenario(&text), substitutes, None).expect("runs");
    let seen = log.take();
    for flow in (0..16).map(FlowId::new) {
        let on = |node| seen.iter().any(|s| s.switch == node && s.packet.flow == flow && !s.packet.is_ack());
        assert!(on(middle[0]) != on(middle[1]), "{flow} keeps one path");
    }
    assert!(middle.iter().all(|node| seen.iter().any(|s| s.switch == *node && !s.packet.is_ack())), "both are used");
}

/// One flow of 200 segments over four spines, with `more` behind `path-selector`.
fn over_spines(more: &str, seed: u64) -> Outcome {
    let selector = format!("\"clos\"\npath-selector = {more}");
    let text = format!("{}seed = {seed}\n", star(1, "292KB", "").replace("\"star\"", &selector));
    both(&text, &Substitutes::default).unwrap_or_else(|difference| panic!("{difference}"))
}

/// The bytes that it sends up to each of them.
fn uplinks(more: &str, seed: u64) -> Vec<f64> {
    let outcome = over_spines(more, seed);
    let names = match &outcome.table("links").expect("links").column("link").expect("link").data {
        fanin_measure::table::Data::Text(names) => names.clone(),
        other => panic!("{other:?}"),
    };
    let bytes = reals(&outcome, "links", "bytes");
    (0..4)
        .map(|spine| bytes[names.iter().position(|name| *name == format!("leaf-1->spine-{spine}")).expect("a link")])
        .collect()
}

#[test]
fn a_scenario_can_spray_flowcells_over_all_paths() {
    // 200 segments, FIN included, and a SYN and the end of the handshake on the first path.
    let packets = uplinks("\"spray\"\nflowcell = \"1460B\"", 1);
    assert_eq!(packets.iter().filter(|bytes| (**bytes - 75_000.0).abs() < 100.0).count(), 4);
    // Cells of 64 KiB: four whole ones, and what is left of the fifth on the path of the first.
    let mut cells = uplinks("\"spray\"", 1);
    cells.sort_by(f64::total_cmp);
    assert!(cells[0] > 60_000.0 && cells[3] > 90_000.0, "{cells:?}");
}

#[test]
fn ecmp_hashes_a_flow_to_one_path_and_to_another_under_another_seed() {
    let chosen: std::collections::BTreeSet<usize> = (1..=24)
        .map(|seed| {
            let bytes = uplinks("\"ecmp\"", seed);
            let used: Vec<usize> = (0..4).filter(|spine| bytes[*spine] > 0.0).collect();
            assert_eq!(used.len(), 1, "{bytes:?}");
            used[0]
        })
        .collect();
    assert_eq!(chosen.len(), 4, "24 seeds miss one of four paths once in 200: {chosen:?}");
}

#[test]
fn flowlets_with_a_gap_beyond_all_pauses_are_ecmp() {
    for seed in 1..=8 {
        let hash = |more| over_spines(more, seed).hash().to_owned();
        assert_eq!(hash("\"flowlets\"\nflowlet-gap = \"10s\""), hash("\"ecmp\""));
    }
}

#[test]
fn flowlets_with_a_gap_below_the_round_trip_use_all_paths_by_the_seed() {
    let more = "\"flowlets\"\nflowlet-gap = \"1us\"";
    let bytes = [1, 2].map(|seed| uplinks(more, seed));
    // What an acknowledgement lets go is a flowlet, about 70 of them.
    assert!(bytes.iter().flatten().all(|bytes| *bytes > 20_000.0), "{bytes:?}");
    assert_ne!(bytes[0], bytes[1]);
}

/// A gap below the round trip of the shorter path, and each segment waits for the acknowledgement of the one before it.
#[test]
fn each_pause_beyond_the_gap_is_a_random_path_of_its_own() {
    let drawn = || Stream::named(5, "flowlets");
    let alone = "[transport]\ninitial-window = \"1mss\"\nreceive-buffer = \"1460B\"\nack-every = 1";
    let travel = |gap| {
        let flowlets = move |_: &_| Box::new(Flowlets { gap, random: drawn() }) as Box<dyn PathSelector>;
        travel_with(&|| Parts { selector: Some(Box::new(flowlets)), ..Parts::default() }, 1, Time::ZERO, alone)
    };
    let journey = travel(Time::from_us(1));
    // The last packet of the handshake comes after a round trip, and takes the first data with it.
    let mut stream = drawn();
    let mut expected = [Vec::new(), Vec::new()];
    (0..69).for_each(|segment| expected[stream.below(2) as usize].push(1 + 1460 * segment));
    let seqs = |seen: &Vec<Seen>| seen.iter().map(|seen| seen.packet.seq).collect::<Vec<_>>();
    assert_eq!(journey.middle.each_ref().map(seqs), expected);
    assert!(travel(Time::from_secs(1)).middle.iter().any(Vec::is_empty), "no pause is as long");
}

/// PLB (Qureshi et al. 2022) for one flow: after three round trips in a row with more than half of their acknowledgements
/// marked, it takes the other path.
struct Plb {
    stays: bool,
    /// The number up to which segments have left, and had when the round trip began.
    sent: u64,
    round: u64,
    acks: [u32; 2],
    congested: u32,
    heard: Log<(Time, bool)>,
}

impl PathSelector for Plb {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        let Some(path) = request.current else { return 0 };
        assert!(request.idle <= cx.now);
        self.sent = self.sent.max(request.seq);
        if self.congested < 3 || self.stays {
            return path;
        }
        self.congested = 0;
        1 - path
    }
    fn asks_anew(&self) -> bool {
        true
    }
    fn on_ack(&mut self, ack: &PathAck) {
        assert_eq!(ack.flow, FlowId::new(0));
        self.heard.push((ack.now, ack.ece));
        self.acks[usize::from(ack.ece)] += 1;
        if ack.next > self.round {
            let [clear, marked] = std::mem::take(&mut self.acks);
            self.congested = if marked > clear { self.congested + 1 } else { 0 };
            self.round = self.sent;
        }
    }
}

/// Keeps eight segments in flight, whatever the marks.
struct Steady;

impl CongestionControl for Steady {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.cwnd = 8.0 * cx.mss;
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
}

#[test]
fn acknowledgements_reach_a_selector_that_moves_a_flow_off_a_congested_path() {
    // The first path has a tenth of the rate, so that its port holds and marks the window.
    let more = "[transport]\nduplicate-ack-threshold = 1000\n[queue]\nkind = \"ecn-threshold\"\nthreshold = \"3pkt\"\n\
                [[fault]]\nkind = \"rate\"\nlink = \"switch-0->switch-2\"\nrate = \"100Mbps\"";
    let heard = Log::new();
    let travel = |stays| {
        let parts = || {
            heard.take();
            let heard = heard.clone();
            let plb = move |_: &_| {
                let heard = heard.clone();
                Box::new(Plb { stays, sent: 0, round: 0, acks: [0; 2], congested: 0, heard }) as Box<dyn PathSelector>
            };
            Parts {
                selector: Some(Box::new(plb)),
                congestion: Some(Box::new(|_| Box::new(Steady))),
                ..Parts::default()
            }
        };
        travel_with(&parts, 1, Time::ZERO, more)
    };
    let ends = |journey: &Journey| reals(&journey.outcome, "flows", "completion_s")[0];
    let stays = travel(true);
    let marked = heard.take().into_iter().filter(|(_, ece)| *ece).count();
    assert!(stays.middle[1].is_empty() && marked > 20, "{marked}");
    let moved = travel(false);
    let [near, far] = moved.middle.each_ref().map(|seen| seen.iter().map(|seen| seen.packet.seq).collect::<Vec<_>>());
    assert!(near.iter().max() < far.iter().min(), "it moves once: {near:?} {far:?}");
    assert!((3 * 8..5 * 8).contains(&near.len()), "after three round trips: {near:?}");
    let heard = heard.take();
    let last = heard.iter().rposition(|(_, ece)| *ece).expect("marks were heard");
    assert!(heard.len() - last > 1 && heard.is_sorted_by_key(|(at, _)| *at), "no marks on the other path: {heard:?}");
    assert!(!heard[0].1, "the answer to the SYN, whose ECE is no echo, is not reported");
    // What is left of 69 segments after four windows takes a tenth of the time.
    assert!(ends(&moved) < 0.7 * ends(&stays), "{} and {}", ends(&moved), ends(&stays));
}
