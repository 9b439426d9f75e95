//! Runs a scenario file without Python: `cargo run --release --example run -- FILE [key=value ...]`.
//!
//! Prints the totals as JSON. With `--oracle` the naive event core runs it; with `--again=N` it runs N times more before
//! that, so that a measurement from outside counts little of the start. Meant for profilers and debuggers.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use fanin_engine::sim;
use fanin_engine::spec::Scenario;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let oracle = args.iter().position(|arg| arg == "--oracle").map(|i| args.remove(i)).is_some();
    let again = args.iter().position(|arg| arg.starts_with("--again=")).map(|i| args.remove(i));
    let again = again.and_then(|arg| arg["--again=".len()..].parse().ok()).unwrap_or(0);
    let Some(file) = args.first() else {
        eprintln!("usage: run FILE [key=value ...] [--oracle] [--again=N]");
        return ExitCode::from(2);
    };
    let pairs = args[1..].iter().filter_map(|arg| arg.split_once('='));
    let overrides: Vec<_> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(3);
        }
    };
    let scenario = match Scenario::parse(&text, file, &overrides) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    let run = || if oracle { sim::run_oracle(&scenario) } else { sim::run(&scenario, None) };
    for _ in 0..again {
        let _ = std::hint::black_box(run());
    }
    let start = Instant::now();
    let outcome = run();
    match outcome {
        Ok(outcome) => {
            let seconds = start.elapsed().as_secs_f64();
            println!("{}", serde_json::to_string_pretty(&outcome.summary).unwrap_or_default());
            eprintln!("{seconds:.3} s, {:.1} ns per packet-hop", seconds * 1e9 / outcome.number("packet_hops"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
