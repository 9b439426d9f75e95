//! What a shared buffer costs: time per packet-hop against a static one, on the same incast.
//!
//! `cargo bench -p fanin-engine --bench buffers` prints; with `-- --check` it fails where the shared buffer takes more
//! than [`MOST_RATIO`] times as long. Both count bytes. The runs of a pair come straight after each other, and the cases
//! take turns, so that a busy machine slows all alike.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod timing;

use fanin_engine::scenario::Scenario;
use fanin_engine::sim;
use std::process::ExitCode;
use timing::{REPETITIONS, median, time};

/// What a shared buffer may take, as a multiple of the static buffer's time.
const MOST_RATIO: f64 = 1.15;

const SENDERS: [u32; 3] = [60, 100, 300];

/// Nobody loses a packet, so that both buffers do the same work.
fn scenario(senders: u32, buffer: &str) -> Scenario {
    let text = format!(
        "[network]\ntopology = \"star\"\n{buffer}\n[transport]\nscheme = \"dctcp\"\nrto-min = \"10ms\"\n\
         [[traffic]]\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"512KB\"\njitter = \"1ms\"\n\
         [measure]\nqueues = \"none\"\n"
    );
    Scenario::parse(&text, "bench.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn measured(scenario: &Scenario) -> f64 {
    time(|| {
        let outcome = sim::run(scenario, None).unwrap_or_else(|error| panic!("{error}"));
        assert!(outcome.number("drops") < 1.0, "nothing is lost");
        outcome
    })
}

fn main() -> ExitCode {
    let cases = SENDERS.map(|senders| {
        let buffers = ["buffer = \"12MB\"", "admission = \"dynamic-threshold\"\nshared-buffer = \"12MB\""];
        (senders, buffers.map(|buffer| scenario(senders, buffer)), Vec::new())
    });
    let mut cases = cases;
    for _ in 0..2 * REPETITIONS {
        for (_, [fixed, shared], pairs) in &mut cases {
            pairs.push((measured(fixed), measured(shared)));
        }
    }
    println!("{:<12} {:>8} {:>8} {:>7}", "senders", "static", "shared", "ratio");
    let mut within = true;
    for (senders, _, pairs) in &cases {
        let of = |f: fn(&(f64, f64)) -> f64| median(&mut pairs.iter().map(f).collect::<Vec<_>>());
        let (fixed, shared, ratio) = (of(|pair| pair.0), of(|pair| pair.1), of(|pair| pair.1 / pair.0));
        println!("{senders:<12} {fixed:>8.1} {shared:>8.1} {ratio:>7.2}");
        within &= ratio <= MOST_RATIO;
    }
    if std::env::args().any(|arg| arg == "--check") && !within {
        eprintln!("a shared buffer takes more than {MOST_RATIO} times as long as a static one");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
