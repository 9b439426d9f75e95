//! What a packet costs on one link: time, compared with the reference core, and memory.
//!
//! `cargo bench -p fanin-engine --bench hops` prints; with `-- --check` it also fails where a FIFO port is less than
//! [`LEAST_RATIO`] times faster than the reference core. Ports with bands have no bar: both cores keep the same queues there,
//! and what is saved is the events only. The ratio is the median over pairs of runs, one of each core, straight after
//! each other, so that a busy machine slows both; and the cases take turns, so that a slow second falls on all of them.
//! Times are those of the thread on its processor. Memory is the peak of a child process that does a single run.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod memory;
mod timing;

use fanin_engine::sim;
use fanin_engine::spec::Scenario;
use memory::{child, peak};
use std::fmt::Write as _;
use std::process::ExitCode;
use timing::{REPETITIONS, median, time};

/// The bar that holds on a noisy machine (DESIGN section 5).
const LEAST_RATIO: f64 = 5.0;

struct Case {
    senders: u32,
    bytes: &'static str,
    scheme: &'static str,
    queue: &'static str,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (senders, bytes) in [(10, "4MB"), (100, "512KB"), (1000, "512KB")] {
        for scheme in ["newreno", "dctcp"] {
            for queue in ["auto", "strict-priority"] {
                cases.push(Case { senders, bytes, scheme, queue });
            }
        }
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        let queue = if self.queue == "auto" { "fifo" } else { "bands" };
        format!("incast {:>4}  {:<7}  {queue}", self.senders, self.scheme)
    }

    fn scenario(&self) -> Scenario {
        let Self { senders, bytes, scheme, queue } = self;
        let marking = if *queue != "auto" && *scheme == "dctcp" { "threshold = \"20pkt\"\n" } else { "" };
        let text = format!(
            "[network]\ntopology = \"star\"\nbuffer = \"100pkt\"\nhost-jitter = \"0s\"\n[queue]\nkind = \"{queue}\"\n{marking}\
             [transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\n[[traffic]]\nkind = \"incast\"\nsenders = {senders}\n\
             bytes-each = \"{bytes}\"\njitter = \"1ms\"\n[measure]\nqueues = \"none\"\n"
        );
        Scenario::parse(&text, "bench.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Peak memory of a child that does one run of a case, or none at all.
fn memory_of(case: Option<usize>) -> Option<u64> {
    let case = case.map_or_else(|| "none".to_owned(), |case| case.to_string());
    child(&["--memory", &case])?.trim().parse().ok()
}

fn single(case: &str) -> ExitCode {
    if let Some(case) = case.parse().ok().and_then(|case: usize| cases().into_iter().nth(case)) {
        sim::run(&case.scenario(), None).unwrap_or_else(|error| panic!("{error}"));
    }
    println!("{}", peak().unwrap_or(0));
    ExitCode::SUCCESS
}

/// Nanoseconds per packet-hop of the fast and of the reference core, a pair for each round.
type Pairs = Vec<(f64, f64)>;

fn pair(scenario: &Scenario) -> (f64, f64) {
    let fast = time(|| sim::run(scenario, None).unwrap_or_else(|error| panic!("{error}")));
    (fast, time(|| sim::run_reference(scenario).unwrap_or_else(|error| panic!("{error}"))))
}

/// Prints one row; returns whether the case keeps to the bar.
fn report(index: usize, case: &Case, pairs: &Pairs, idle: u64) -> bool {
    let of = |f: fn(&(f64, f64)) -> f64| median(&mut pairs.iter().map(f).collect::<Vec<_>>());
    let (fast, reference, ratio) = (of(|pair| pair.0), of(|pair| pair.1), of(|pair| pair.1 / pair.0));
    let mut row = format!("{:<28} {fast:>8.1} {reference:>9.1} {ratio:>7.2}", case.name());
    if let Some(peak) = memory_of(Some(index)) {
        let per_flow = peak.saturating_sub(idle) as f64 / f64::from(case.senders);
        let _ = write!(row, " {:>9.1} {per_flow:>10.2}", peak as f64 / 1024.0);
    }
    println!("{row}");
    ratio >= LEAST_RATIO || case.queue != "auto"
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(i) = args.iter().position(|arg| arg == "--memory") {
        return single(args.get(i + 1).map_or("", String::as_str));
    }
    let idle = memory_of(None).unwrap_or(0);
    println!("{:<28} {:>8} {:>9} {:>7} {:>9} {:>10}", "", "ns/hop", "reference", "ratio", "peak MiB", "KiB/flow");
    let cases = cases();
    let scenarios: Vec<Scenario> = cases.iter().map(Case::scenario).collect();
    let mut pairs: Vec<Pairs> = vec![Pairs::new(); cases.len()];
    for _ in 0..2 * REPETITIONS {
        for (scenario, pairs) in scenarios.iter().zip(&mut pairs) {
            pairs.push(pair(scenario));
        }
    }
    let rows = cases.iter().zip(&pairs).enumerate();
    let within = rows.filter(|(i, (case, pairs))| !report(*i, case, pairs, idle)).count() == 0;
    if args.iter().any(|arg| arg == "--check") && !within {
        eprintln!("a FIFO port is less than {LEAST_RATIO} times faster than the reference core");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
