//! Flows that are over are let go: that nothing depends on it, and how little remains.

use super::bench::scenario;
use crate::outcome::totals::collect;
use crate::sim::build::{Substitutes, build};
use crate::sim::laws;
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::Packet;
use fanin_event::EventCore;
use fanin_event::core::Core;
use fanin_measure::rows::{PAGE, Rows, Spill};
use fanin_schemes::REGISTRY;
use fanin_work::error::RunError;
use fanin_world::World as AnyWorld;
use std::io;

/// Many short flows between a few hosts, whose buffers are too small for them.
fn sessions(scheme: &str, count: usize, network: &str, more: &str) -> String {
    format!(
        "[network]\n{network}\nbuffer = \"12pkt\"\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"2ms\"\n[[traffic]]\n\
         kind = \"sessions\"\nbytes-each = \"30KB\"\ncount = {count}\nconcurrent = 16\nsenders = 8\nreceivers = 2\n{more}\n\
         [run]\nduration = \"20s\"\n"
    )
}

const STAR: &str = "topology = \"star\"";
const LEAVES: &str = "topology = \"leaf-spine\"\npath-selector = \"spray\"";

type World = AnyWorld<Core>;

fn laid_out(text: &str) -> World {
    build(&scenario(text), Substitutes::default()).expect("makes sense")
}

/// Runs a world, which every law is held to.
fn ends(world: &mut World) -> Result<(), RunError> {
    world.run(None)?;
    laws::check(world)
}

/// A world after its run, in which flows were let go as soon as they were over.
#[track_caller]
fn run(text: &str) -> World {
    let mut world = laid_out(text);
    world.hosts.finished.look(Some(0));
    ends(&mut world).unwrap_or_else(|error| panic!("{error}\n{text}"));
    world
}

/// Flows that were not let go.
fn kept(world: &World) -> usize {
    world.hosts.flows.iter().count()
}

#[test]
fn nothing_depends_on_when_a_flow_is_let_go() {
    let mut texts = Vec::new();
    for scheme in REGISTRY.iter().map(|row| row.key) {
        texts.push(sessions(scheme, 120, STAR, "request = \"2KB\"\nthink = \"5us\""));
        texts.push(sessions(scheme, 120, LEAVES, ""));
    }
    // Segments that overtake each other, and black-outs: acknowledgements and last packets are lost too.
    let fault = "[[fault]]\nkind = \"loss\"\nrate = 0.02\n";
    let rack = "[measure]\nbin = \"1ms\"\nprobes = \"cwnd\"\n";
    texts.push(sessions("dctcp", 300, LEAVES, fault));
    texts.push(
        sessions("linux", 300, STAR, &format!("{fault}{rack}"))
            .replace("rto-min", "loss-detection = \"linux\"\nrto-min"),
    );
    for text in texts {
        let outcome = |few: Option<usize>| {
            let mut world = laid_out(&text);
            world.hosts.finished.look(few);
            ends(&mut world).unwrap_or_else(|error| panic!("{error}\n{text}"));
            collect(world).unwrap_or_else(|error| panic!("{error}\n{text}"))
        };
        let [never, now_and_then, always] = [None, Some(7), Some(0)].map(outcome);
        assert_eq!(never.summary, now_and_then.summary, "{text}");
        assert_eq!(never.summary, always.summary, "{text}");
    }
}

#[test]
fn what_is_over_takes_no_memory() {
    for scheme in ["newreno", "dctcp", "rcc", "ictcp"] {
        let text = sessions(scheme, 2000, LEAVES, "");
        let mut world = run(&text);
        // 16 are under way at once; the last packets of some others may be.
        assert!(kept(&world) < 64, "{scheme}: {} flows", kept(&world));
        assert!(world.net.core.books().flows.iter().count() < 64, "{scheme}");
        assert_eq!(world.work.transfers.open().count(), 0, "{scheme}");
        // Each has all ways over two spines and one back, of five entries.
        assert!(world.net.paths.entries() < 64 * 3 * 5, "{scheme}: {} entries", world.net.paths.entries());
    }
}

#[test]
fn flows_that_ask_first_are_let_go_too() {
    let world = run(&sessions("dctcp", 1000, STAR, "request = \"2KB\""));
    assert_eq!(world.hosts.flows.count(), 2000, "a flow for the request, and one for the response");
    assert!(kept(&world) < 96, "{}", kept(&world));
}

#[test]
fn a_flow_that_its_host_still_knows_is_kept() {
    // The scheduler of the server does not learn that a request without a FIN was the last one.
    let world = run(&sessions("rcc", 200, STAR, "request = \"2KB\""));
    assert!((200..264).contains(&kept(&world)), "{}", kept(&world));
}

#[test]
fn connections_that_stay_open_are_kept() {
    let text = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 5\nrounds = 60\n\
                bytes-each = \"20KB\"\nconnections = \"persistent\"\n[run]\nduration = \"5s\"\n";
    let world = run(text);
    assert_eq!((world.hosts.flows.count(), kept(&world)), (5, 5));
}

#[test]
fn a_packet_of_a_flow_that_is_over_is_noticed() {
    let gone = |world: &World| {
        FlowId::new(
            (0..world.hosts.flows.count())
                .find(|i| world.hosts.flows.get(FlowId::new(*i)).is_none())
                .expect("one is over"),
        )
    };
    let mut world = run(&sessions("newreno", 100, STAR, ""));
    let packet = Packet { flow: gone(&world), size: 1500, ..Packet::default() };
    world.net.core.send(LinkId::new(0), &packet);
    let Err(RunError::Broken { what, .. }) = laws::check(&mut world) else { panic!("not noticed") };
    assert!(what.contains("was over, and packets of it are in the network"), "{what}");
}

/// Memory that stands for a disk, of which only so much is left.
struct Disk {
    bytes: Vec<u8>,
    room: usize,
}

impl Spill for Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() > self.room {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.bytes.extend(bytes);
        Ok(())
    }
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }
}

fn spilled(text: &str, room: usize) -> Result<World, RunError> {
    let mut world = laid_out(text);
    world.work.transfers.rows = Rows::new(Some(Box::new(Disk { bytes: Vec::new(), room })));
    ends(&mut world)?;
    Ok(world)
}

#[test]
fn rows_on_the_disk_make_the_same_tables() {
    let text = sessions(
        "dctcp",
        8 * PAGE,
        STAR,
        "deadline = \"1ms\"\n[[traffic]]\nkind = \"background\"\nstop = \"1ms\"\n[measure]\nbin = \"1ms\"",
    );
    let world = spilled(&text, usize::MAX).expect("runs");
    // The page of the endless flow waits for its end, and the last one is not full.
    assert!(world.work.transfers.rows.in_memory() <= 3 * PAGE, "{:?}", world.work.transfers.rows);
    let spilled = collect(world).expect("comes back");
    let mut world = laid_out(&text);
    ends(&mut world).expect("runs");
    let whole = collect(world).expect("is there");
    assert_eq!(spilled.summary, whole.summary);
    assert_eq!(spilled.table("flows"), whole.table("flows"));
    let mut rows = 0;
    whole
        .flows
        .parts(|part| {
            rows += part.rows();
            Ok(())
        })
        .expect("nothing is read");
    assert_eq!((rows, whole.flows.rows()), (8 * PAGE + 1, 8 * PAGE + 1));
}

#[test]
fn a_full_disk_ends_the_run_with_its_own_number() {
    let text = sessions("dctcp", 4 * PAGE, STAR, "");
    let Err(error) = spilled(&text, 60_000) else { panic!("not noticed") };
    assert!(matches!(error, RunError::Spill { code: Some(28), .. }), "{error}");
}
