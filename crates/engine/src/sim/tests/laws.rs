//! The laws that every run is held to: each is broken once, and the run must say so.

use super::bench::{Parts, instead, scenario, star};
use crate::sim::build::{Substitutes, build};
use crate::sim::laws;
use fanin_core::ids::FlowId;
use fanin_core::roles::{AckEvent, CongestionControl, SenderCx};
use fanin_core::units::Time;
use fanin_event::core::Core;
use fanin_event::order::{Class, Event};
use fanin_event::reference_core::ReferenceCore;
use fanin_event::{EventCore, NodeByNode as _};
use fanin_port::spec::Limit;
use fanin_schemes::NewReno;
use fanin_work::error::RunError;
use fanin_world::World;

/// Five senders overrun a port of ten packets, and the clock stops while packets are under way.
const BUSY: &str = "[network]\ntopology = \"star\"\nbuffer = \"10pkt\"\n[[traffic]]\nkind = \"incast\"\nsenders = 5\n\
                    bytes-each = \"200KB\"\n[run]\nduration = \"700us\"\nseed = 42\n";

/// A world before the first event.
fn laid_out<C: EventCore>(text: &str, substitutes: Substitutes) -> World<C> {
    build(&scenario(text), substitutes).expect("makes sense")
}

/// Runs a world, which every law is held to.
fn ends<C: EventCore>(world: &mut World<C>) -> Result<(), RunError> {
    world.run(None)?;
    laws::check(world)
}

/// What is wrong with a run whose books are changed after it, and when.
#[track_caller]
fn after(change: impl FnOnce(&mut World<Core>)) -> String {
    let mut world = laid_out(BUSY, Substitutes::default());
    ends(&mut world).expect("every law holds");
    change(&mut world);
    told(laws::check(&mut world), Time::from_us(700))
}

#[track_caller]
fn told(result: Result<(), RunError>, when: Time) -> String {
    let Err(RunError::Broken { seed, at, what }) = result else { panic!("{result:?}") };
    assert_eq!((seed, at), (42, when), "{what}");
    what
}

#[track_caller]
fn says(what: &str, words: &[&str]) {
    assert!(words.iter().all(|word| what.contains(word)), "{what}");
}

#[test]
fn a_lost_packet_is_missed() {
    says(&after(|world| world.hosts.flows[FlowId::new(3)].arrived -= 1), &["flow 3 sent", "packets"]);
    says(&after(|world| world.net.core.books().flows[FlowId::new(2)].drops += 1), &["flow 2 sent", "packets"]);
}

#[test]
fn lost_bytes_are_missed_in_both_directions() {
    says(&after(|world| world.hosts.flows[FlowId::new(1)].arrived_bytes -= 1), &["flow 1 sent", "bytes"]);
    says(&after(|world| world.hosts.flows[FlowId::new(1)].ack_bytes_arrived += 40), &["flow 1 sent", "bytes"]);
    says(&after(|world| world.hosts.flows[FlowId::new(0)].wire.sent_bytes += 1500), &["flow 0 sent", "bytes"]);
    says(&after(|world| world.net.core.books().flows[FlowId::new(0)].dropped_bytes -= 1), &["flow 0 sent", "bytes"]);
}

#[test]
fn what_no_switch_kept_cannot_leave_it() {
    let what = after(|world| {
        let book = &mut world.net.core.books().flows[FlowId::new(0)];
        (book.kept, book.kept_bytes) = (-1, -1500);
        world.hosts.flows[FlowId::new(0)].arrived += 1;
        world.hosts.flows[FlowId::new(0)].arrived_bytes += 1500;
    });
    says(&what, &["flow 0 sent", "-1 are kept"]);
}

#[test]
fn each_port_accounts_for_its_bytes() {
    // Of all ports at the switch and at the hosts: one byte more than was let in, or dropped, is noticed at its node.
    for link in 0..12 {
        let dropped = after(|world| world.net.core.books().ports[link].dropped_bytes += 1);
        says(&dropped, &["do not add up", "dropped"]);
    }
    says(&after(|world| world.net.core.forget(1)), &["switch-0->receiver-0 let in", "counts"]);
    says(&after(|world| world.net.core.books().kept[0] += 40), &["node 0 keeps 40 bytes"]);
}

#[test]
fn windows_stay_above_zero() {
    /// Takes the window below zero for one acknowledgement.
    struct Owing(u32);
    impl CongestionControl for Owing {
        fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
            self.0 += 1;
            match self.0 {
                5 => cx.window.cwnd = -1.0,
                6 => cx.window.cwnd = cx.mss,
                _ => NewReno.on_ack(cx, ack),
            }
        }
    }
    let owing = Parts { congestion: Some(Box::new(|_| Box::new(Owing(0)))), ..Parts::default() };
    let text = star(1, "200KB", "[measure]\nprobes = \"cwnd\"").replace("[run]", "[run]\nseed = 42");
    let mut world: World<Core> = laid_out(&text, instead(owing));
    let Err(RunError::Broken { seed: 42, at, what }) = ends(&mut world) else { panic!("not noticed") };
    says(&what, &["flow f0", "cwnd: -1"]);
    assert!(at > Time::ZERO && at < world.net.now(), "when it happened, not at the end: {at}");
    says(&after(|world| world.hosts.flows[FlowId::new(4)].sender.forge_window(f64::NAN)), &["flow 4", "NaN"]);
}

/// Packets carry 40 bits of their age; what they tell beyond would be wrong without a word.
#[test]
fn packets_that_are_too_old_to_tell_break_off_the_run() {
    let text = star(500, "20KB", "").replace("[network]", "[network]\nrate = \"10kbps\"\nbuffer = \"2000pkt\"");
    let text = text.replace("[run]", "[run]\nseed = 42").replace("\"5s\"", "\"3000s\"");
    let mut world: World<Core> = laid_out(&text, Substitutes::default());
    let Err(RunError::Broken { seed: 42, what, .. }) = ends(&mut world) else { panic!("not noticed") };
    says(&what, &["has a packet", "old", "measured only up to 1000s"]);
}

#[test]
fn a_port_may_not_hold_packets_until_they_are_too_old() {
    let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"sender-0->switch-0\"\nat = \"1ms\"\n";
    let refused = |lasts: &str| {
        let text = format!("{}\n{fault}{lasts}", star(2, "20KB", ""));
        build::<Core>(&scenario(&text), Substitutes::default()).err().map(|error| error.to_string())
    };
    assert!(refused("for = \"1001s\"").is_some_and(|what| what.contains("packets would wait for 1001s")));
    for fine in ["for = \"1001s\"\nqueued = \"drop\"", "for = \"1000s\"", ""] {
        assert_eq!(refused(fine), None);
    }
}

/// Runs a busy star whose books hold the port to the receiver to another limit than the port itself keeps to.
fn held_to<C: EventCore>(network: &str, limit: Limit) -> String {
    let mut world: World<C> = laid_out(&BUSY.replace("buffer = \"10pkt\"", network), Substitutes::default());
    let to_receiver = world.net.topology.bottleneck.index();
    world.net.core.books().ports[to_receiver].limit = limit;
    let result = ends(&mut world);
    let Err(RunError::Broken { seed: 42, at, what }) = result else { panic!("{result:?}") };
    assert!(at > Time::ZERO && at < Time::from_us(700), "when it happened: {at}");
    what
}

fn queues_stay_within_their_buffers_on<C: EventCore>() {
    let shared = "admission = \"dynamic-threshold\"\nshared-buffer = \"15KB\"";
    let packets = held_to::<C>("buffer = \"10pkt\"", Limit::Packets(9));
    says(&packets, &["holds 10 packets in a buffer of 9"]);
    let bytes = held_to::<C>("buffer = \"15KB\"", Limit::Bytes(14_999));
    says(&bytes, &["holds 15000 bytes in a buffer of 14999"]);
    let memory = held_to::<C>(shared, Limit::Dynamic { pool: 0, memory: 4_000, alpha: 1.0 });
    says(&memory, &["share the memory of link", "in 4000"]);
}

#[test]
fn queues_stay_within_their_buffers() {
    queues_stay_within_their_buffers_on::<Core>();
    queues_stay_within_their_buffers_on::<ReferenceCore>();
}

#[test]
fn the_memory_that_ports_share_is_counted_at_the_end_as_well() {
    let what = after(|world| {
        for port in &mut world.net.core.books().ports {
            port.limit = Limit::Dynamic { pool: 0, memory: 2_000, alpha: 1.0 };
        }
    });
    says(&what, &["the ports of", "in a memory of 2000"]);
}

#[test]
fn nothing_happens_in_the_past() {
    let mut world: World<Core> = laid_out(BUSY, Substitutes::default());
    world.net.core.set_clock(Time::from_us(700));
    world.net.core.schedule(Time::from_us(500), Class::Sample, 0);
    let what = told(world.run(None), Time::from_us(700));
    says(&what, &["comes after one of"]);
    assert!(!matches!(world.net.core.next(), Some(Event::Misc { class: Class::Stop, .. })), "it stopped there");
}
