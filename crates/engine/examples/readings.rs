//! What each reading of a paper changes: `cargo run --release --example readings [-- SENDERS]`.
//!
//! Runs one incast for every scheme, then again with each parameter that selects another reading set to each of its
//! other values, and prints a Markdown table of goodput and 99th percentile of the completion times, medians over
//! seeds. Only words and switches are tried: numbers have no list of other values.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use fanin_engine::schemes::{self, SchemeRow};
use fanin_engine::sim;
use fanin_engine::spec::{Kind, Param, Scenario};

const SEEDS: u64 = 5;

/// Two switches, a background flow and bursts: every role of every scheme has something to do.
fn scenario(senders: u32, scheme: &str, setting: &str, seed: u64) -> Result<Scenario, String> {
    let text = format!(
        "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"{scheme}\"\n\
         rto-min = \"10ms\"\n[scheme.{scheme}]\n{setting}\n[[traffic]]\nname = \"long\"\nkind = \"background\"\n[[traffic]]\n\
         name = \"bursts\"\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"256KB\"\nstart = \"1200ms\"\n\
         jitter = \"100us\"\n[run]\nduration = \"8s\"\nseed = {seed}\n"
    );
    Scenario::parse(&text, "readings.toml", &[]).map_err(|error| error.to_string())
}

/// Median goodput in Mbit/s and p99 of the completion times in ms; none if the setting makes no sense by itself.
fn measure(senders: u32, scheme: &str, setting: &str) -> Option<(f64, f64)> {
    let mut runs = Vec::new();
    for seed in 1..=SEEDS {
        let scenario =
            scenario(senders, scheme, setting, seed).map_err(|error| eprintln!("{setting}: {error}")).ok()?;
        match sim::run(&scenario, None) {
            Ok(outcome) => runs.push((outcome.number("goodput_finite_bps") / 1e6, outcome.number("fct_p99_s") * 1e3)),
            Err(error) => eprintln!("{scheme} {setting}: {error}"),
        }
    }
    let median = |pick: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some((median(|run| run.0)?, median(|run| run.1)?))
}

/// The settings of a parameter that are not its default, as lines of a scenario file.
fn alternatives(param: &Param) -> Vec<String> {
    match param.kind {
        Kind::Bool => vec![format!("{} = {}", param.key, param.default != "true")],
        Kind::Choice(words) => {
            let others = words.iter().filter(|word| **word != param.default);
            others.map(|word| format!("{} = \"{word}\"", param.key)).collect()
        }
        _ => Vec::new(),
    }
}

fn rows(senders: u32, row: &SchemeRow) {
    let Some((goodput, p99)) = measure(senders, row.key, "") else { return };
    println!("| `{}` | | as it is | {goodput:.0} | | {p99:.1} | |", row.key);
    for param in row.params.iter().filter(|param| !param.reading.is_empty()) {
        for setting in alternatives(param) {
            let Some((other, slowest)) = measure(senders, row.key, &setting) else { continue };
            let (gain, loss) = (100.0 * (other / goodput - 1.0), 100.0 * (slowest / p99 - 1.0));
            println!("| | {} | `{setting}` | {other:.0} | {gain:+.0} % | {slowest:.1} | {loss:+.0} % |", param.reading);
        }
    }
}

fn main() {
    let senders = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(50);
    println!("| scheme | reading | setting | goodput, Mbit/s | | p99, ms | |\n|---|---|---|--:|--:|--:|--:|");
    for row in schemes::REGISTRY {
        rows(senders, row);
    }
}
