//! What each scheme costs: time per packet-hop against NewReno's on the same scenario.
//!
//! `cargo bench -p fanin-engine --bench schemes`. With `-- --check` it fails where a scheme takes more than
//! [`MOST_RATIO`] times as long. Every role that a scheme has is in use, in its own row or in one of
//! [`FURTHER`]: its sender, its receiver, its queue, its switch agents, its controller. Runs of the scheme and of NewReno alternate, so that a busy machine slows both.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod timing;

use fanin_engine::schemes;
use fanin_engine::sim::{self, Outcome};
use fanin_engine::spec::Scenario;
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

/// A hundred answers of 512 KB, and an endless flow for schemes that tell long flows from short ones.
fn scenario(topology: &str, scheme: &str, rules: &str) -> Scenario {
    let racks = if topology == "star" { "" } else { "hosts-per-leaf = 64\n" };
    let text = format!(
        "{rules}[network]\ntopology = \"{topology}\"\n{racks}buffer = \"100pkt\"\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\n\
         [[traffic]]\nkind = \"incast\"\nsenders = 100\nbytes-each = \"512KB\"\njitter = \"1ms\"\n[[traffic]]\n\
         kind = \"background\"\n[measure]\nqueues = \"none\"\n[run]\nduration = \"20s\"\n"
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
            within &= cost <= MOST_RATIO * bar;
        }
    }
    if std::env::args().any(|arg| arg == "--check") && !within {
        eprintln!("a scheme costs more than {MOST_RATIO} times NewReno");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
