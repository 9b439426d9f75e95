//! What each scheme costs: time per packet-hop against NewReno's on the same scenario.
//!
//! `cargo bench -p fanin-engine --bench schemes`. With `-- --check` it fails where a scheme takes more than
//! [`MOST_RATIO`] times as long and [`DEARER`] does not say why. Every role that a scheme has is in use, in its own row or in one of
//! [`FURTHER`]: its sender, its receiver, its queue, its switch agents, its controller. Runs of the scheme and of NewReno alternate, so that a busy machine slows both.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod timing;

use fanin_engine::scenario::Scenario;
use fanin_engine::schemes;
use fanin_engine::sim::{self, Outcome};
use std::process::ExitCode;
use timing::{REPETITIONS, median, time};

/// What a scheme may cost, as a multiple of NewReno's time per packet-hop.
const MOST_RATIO: f64 = 2.0;

/// Roles that the defaults of a scheme leave out: name, scheme, and the table that turns them on.
const FURTHER: &[(&str, &str, &str)] = &[
    ("rcce-trees", "rcce", "[scheme.rcce]\nst-enable = \"on\"\nst-when = \"always\"\n"),
    ("rcce-crowded", "rcce", "[scheme.rcce]\nst-enable = \"on\"\n"),
    ("rcce-proxy", "rcce", "[scheme.rcce]\nedge-mode = \"tor-proxy\"\n"),
];

/// What costs more, and why: names of rows, and the work behind it. Instructions per packet-hop are callgrind's for
/// [`scenario`] on a star and, after it, a leaf-spine, where NewReno takes 510 and 390; `docs/reference/speed.md` has them all.
const DEARER: &[(&[&str], &str)] = &[
    (
        &["rcc", "rcce", "rcce-crowded"],
        "1137 and 926 instructions. 250 on a star go into following each departure of every port, as marks from a \
         number of bytes on need (mark-threshold in packets takes 970); 100 into the list in which acknowledgements \
         wait: each newcomer counts whom it overtakes; the rest into showing the host's scheduler every segment and \
         every acknowledgement, and its window, marks, flight and round trip.",
    ),
    (
        &["rcce-trees"],
        "1486 and 1351 instructions: rcce's, and 350 to 430 for labels, their rules in switches and flowcells that the \
         host puts in order.",
    ),
    (
        &["rcce-proxy"],
        "1732 and 1408 instructions: the last switch reassembles every flow once more, notes every departure with a \
         timer of its own, keeps acknowledgements and rewrites them, and finds flow, port and host anew for each.",
    ),
    (
        &["pfdct", "pfdct-st"],
        "935 and 990 instructions. 296 on a star go into three bands, whose departures are decided when they come \
         (NewReno over bands takes 856); the rest into the table of sequence numbers, the count of long flows and the \
         field that each hop through a switch reads and writes, which is why it costs more where there are more of them.",
    ),
    (
        &["sdtcp"],
        "1082 and 1045 instructions: its agents look at the backlog with each packet, so every departure of a switch's \
         ports is followed, and each packet is held against the switch's rules.",
    ),
    (
        &["linux", "linux-reno", "linux-dctcp"],
        "1159 to 1205 and 719 to 736 instructions. 331 of linux's on a star go into its hosts: bursts of segments, small \
         queues and the host's own queue; 205 into detection of losses by time, with a record of each segment, and \
         probes; and one acknowledgement for two segments leaves fewer packet-hops, each of which has more of the work.",
    ),
    (
        &["ictcp"],
        "826 and 564 instructions: an event for each look at a flow, once per round trip, which with a hundred flows is \
         every second segment, and its scheduler sees every segment and every acknowledgement.",
    ),
];

/// A hundred responses of 512 KB, and a flow of 20 MB for schemes that tell long flows from short ones. All of it is
/// finite and first timeouts are short, so that every scheme does the same work: an endless flow beside the last, late
/// response would be most of what is measured, and cheap.
fn scenario(topology: &str, scheme: &str, rules: &str) -> Scenario {
    let racks = if topology == "star" { "" } else { "hosts-per-leaf = 64\n" };
    let text = format!(
        "{rules}[network]\ntopology = \"{topology}\"\n{racks}buffer = \"100pkt\"\n[transport]\nscheme = \"{scheme}\"\n\
         rto-min = \"10ms\"\nrto-initial = \"10ms\"\nrto-after-syn-timeout = \"10ms\"\nsyn-timeout = \"10ms\"\n\
         [[traffic]]\nkind = \"incast\"\nsenders = 100\nbytes-each = \"512KB\"\njitter = \"1ms\"\n[[traffic]]\n\
         kind = \"background\"\nbytes-each = \"20MB\"\n[measure]\nqueues = \"none\"\n[run]\nduration = \"20s\"\n"
    );
    Scenario::parse(&text, "bench.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Outcome {
    sim::run(scenario, None).unwrap_or_else(|error| panic!("{error}"))
}

fn main() -> ExitCode {
    let mut within = true;
    println!("{:<24} {:>8} {:>8} {:>7}", "", "ns/hop", "newreno", "ratio");
    for topology in ["star", "leaf-spine"] {
        let defaults = schemes::REGISTRY.iter().map(|row| (row.key, row.key, ""));
        for (name, key, rules) in defaults.chain(FURTHER.iter().copied()) {
            let (own, base) = (scenario(topology, key, rules), scenario(topology, "newreno", ""));
            let (mut cost, mut bar) = (Vec::new(), Vec::new());
            for _ in 0..REPETITIONS {
                cost.push(time(|| run(&own)));
                bar.push(time(|| run(&base)));
            }
            let (cost, bar) = (median(&mut cost), median(&mut bar));
            println!("{topology:<11} {name:<12} {cost:>8.1} {bar:>8.1} {:>7.2}", cost / bar);
            within &= cost <= MOST_RATIO * bar || DEARER.iter().any(|(names, _)| names.contains(&name));
        }
    }
    for (names, why) in DEARER {
        println!("\n{}: {why}", names.join(", "));
    }
    if std::env::args().any(|arg| arg == "--check") && !within {
        eprintln!("a scheme costs more than {MOST_RATIO} times NewReno, and nothing says why");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
