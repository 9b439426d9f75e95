//! What a packet costs on one link: time, compared with a lower bound, the reference core and ns-3, and memory.
//!
//! `cargo bench -p fanin-engine --bench hops` prints; with `-- --check` it also fails where a FIFO port is less than
//! [`LEAST_RATIO`] times faster than the reference core. Ports with bands have no bar: both cores keep the same queues there,
//! and what is saved is the events only. Nor have they a lower bound (`bound`), which has no bands. ns-3 is compared where
//! `validation/ns3/build.sh` has built its driver, in [`NS3_ROUNDS`] rounds.
//!
//! A ratio is the median over rounds, with its quartiles. In a round, the runs that are compared come straight after each
//! other, so that a busy machine slows all; and the cases take turns, so that a slow second falls on all of them.
//! Times are those of the thread on its processor. Memory is the peak of a child process that does a single run.
//! `--bound SENDERS BYTES SCHEME` runs the lower bound once and prints its packet-hops, for `instructions.sh`;
//! `--table FILE` also writes the ratios, and what that script has recorded, into a document: `docs/reference/speed.md`,
//! by its full path, as cargo runs benches in the folder of their crate.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod bound;
mod memory;
mod timing;

use bound::Incast;
use fanin_engine::scenario::Scenario;
use fanin_engine::sim;
use memory::{child, peak};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use timing::{REPETITIONS, median, time, time_hops};

/// The bar that holds on a noisy machine (DESIGN section 5).
const LEAST_RATIO: f64 = 5.0;

/// Rounds in which ns-3 takes part: it is a hundred times slower.
const NS3_ROUNDS: usize = 3;

struct Case {
    senders: u32,
    bytes: u64,
    scheme: &'static str,
    queue: &'static str,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (senders, bytes) in [(10, 4_000_000), (100, 512_000), (1000, 512_000)] {
        for scheme in ["newreno", "dctcp"] {
            for queue in ["auto", "strict-priority"] {
                cases.push(Case { senders, bytes, scheme, queue });
            }
        }
    }
    cases
}

impl Case {
    fn is_fifo(&self) -> bool {
        self.queue == "auto"
    }

    fn name(&self) -> String {
        let queue = if self.is_fifo() { "fifo" } else { "bands" };
        format!("incast {:>4}  {:<7}  {queue}", self.senders, self.scheme)
    }

    fn scenario(&self) -> Scenario {
        let Self { senders, bytes, scheme, queue } = self;
        let marking = if !self.is_fifo() && *scheme == "dctcp" { "threshold = \"20pkt\"\n" } else { "" };
        let text = format!(
            "[network]\ntopology = \"star\"\nbuffer = \"100pkt\"\nhost-jitter = \"0s\"\n[queue]\nkind = \"{queue}\"\n{marking}\
             [transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\n[[traffic]]\nkind = \"incast\"\nsenders = {senders}\n\
             bytes-each = \"{bytes}B\"\njitter = \"1ms\"\n[measure]\nqueues = \"none\"\n"
        );
        Scenario::parse(&text, "bench.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Nanoseconds per packet-hop of the lower bound.
    fn bound(&self) -> Option<f64> {
        let incast = Incast { senders: self.senders, bytes: self.bytes, dctcp: self.scheme == "dctcp" };
        self.is_fifo().then(|| time_hops(|| bound::run(&incast)))
    }

    /// The same of ns-3's simulation alone, with nothing measured, if its driver is built.
    fn ns3(&self) -> Option<f64> {
        let driver = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/ns3/incast"));
        if !self.is_fifo() || !driver.exists() {
            return None;
        }
        let [seconds, hops] = ["false", "true"].map(|measure| {
            let mut command = Command::new(&driver);
            command.arg(format!("--tcp={}", self.scheme)).arg(format!("--senders={}", self.senders));
            command.arg(format!("--size={}", self.bytes)).args(["--jitter=1000000", "--seed=1"]);
            let output = command.arg(format!("--measure={measure}")).output().ok()?;
            // Packets are counted only where something is measured.
            let result: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
            result[if measure == "true" { "packet_hops" } else { "cpu_s" }].as_f64()
        });
        Some(seconds? * 1e9 / hops?)
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

/// Nanoseconds per packet-hop of what is compared, straight after each other.
struct Round {
    engine: f64,
    reference: f64,
    bound: Option<f64>,
    ns3: Option<f64>,
}

impl Round {
    fn of(case: &Case, scenario: &Scenario, with_ns3: bool) -> Self {
        Self {
            bound: case.bound(),
            engine: time(|| sim::run(scenario, None).unwrap_or_else(|error| panic!("{error}"))),
            reference: time(|| sim::run_reference(scenario).unwrap_or_else(|error| panic!("{error}"))),
            ns3: if with_ns3 { case.ns3() } else { None },
        }
    }
}

/// The median of ratios that were each measured together, and the quarters below and above it.
struct Ratio {
    low: f64,
    median: f64,
    high: f64,
}

impl Ratio {
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let mut ratios: Vec<f64> = ratios.collect();
        let median = median(&mut ratios);
        let last = ratios.len() - 1;
        Self { low: ratios[last / 4], median, high: ratios[last - last / 4] }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2} to {:.2})", self.median, self.low, self.high)
    }
}

/// What the rounds of a case give.
struct Result {
    name: String,
    ns: f64,
    over_bound: Option<Ratio>,
    reference: Ratio,
    ns3: Option<Ratio>,
    /// Peak of memory in MiB, and what a flow adds to it in KiB.
    memory: Option<(f64, f64)>,
}

impl Result {
    fn of(index: usize, case: &Case, rounds: &[Round], idle: u64) -> Self {
        let ratios = |ratio: fn(&Round) -> Option<f64>| {
            let ratios: Vec<f64> = rounds.iter().filter_map(ratio).collect();
            (!ratios.is_empty()).then(|| Ratio::of(ratios.into_iter()))
        };
        let memory = memory_of(Some(index)).map(|peak| {
            let per_flow = peak.saturating_sub(idle) as f64 / f64::from(case.senders);
            (peak as f64 / 1024.0, per_flow)
        });
        Self {
            name: case.name(),
            ns: median(&mut rounds.iter().map(|round| round.engine).collect::<Vec<_>>()),
            over_bound: ratios(|round| Some(round.engine / round.bound?)),
            reference: Ratio::of(rounds.iter().map(|round| round.reference / round.engine)),
            ns3: ratios(|round| Some(round.ns3? / round.engine)),
            memory,
        }
    }

    fn columns(&self) -> [String; 7] {
        let ratio = |ratio: &Option<Ratio>| ratio.as_ref().map_or_else(String::new, Ratio::to_string);
        let memory =
            |of: fn((f64, f64)) -> f64| self.memory.map_or_else(String::new, |memory| format!("{:.1}", of(memory)));
        [
            self.name.clone(),
            format!("{:.1}", self.ns),
            ratio(&self.over_bound),
            self.reference.to_string(),
            ratio(&self.ns3),
            memory(|memory| memory.0),
            memory(|memory| memory.1),
        ]
    }
}

const HEADINGS: [&str; 7] = ["", "ns/hop", "engine/bound", "reference/engine", "ns-3/engine", "peak MiB", "KiB/flow"];

fn print(columns: &[String; 7]) {
    let [name, ns, bound, reference, ns3, peak, flow] = columns;
    println!("{name:<28} {ns:>8} {bound:>22} {reference:>22} {ns3:>26} {peak:>9} {flow:>9}");
}

/// What `instructions.sh` has recorded of a case: instructions and misses per packet-hop, of the engine and the bound.
fn recorded(case: &Case) -> Vec<&'static str> {
    let bands = if case.is_fifo() { "" } else { "-bands" };
    let name = format!("incast{}-{}{bands}", case.senders, case.scheme);
    let lines = include_str!("instructions.csv").lines().map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(|line| line[0] == name).find_map(|line| line.get(1..7).map(<[_]>::to_vec)).unwrap_or(vec![""; 6])
}

/// Writes the rows into a document, between two comments that mark their place.
fn document(path: &str, rows: &[(&Case, Result)]) -> std::io::Result<()> {
    let mut table = "| senders, scheme, port | ns/hop | engine/bound | reference/engine | ns-3/engine | instructions | L1 misses | \
                     L2 misses | instructions of the bound | L1 misses | L2 misses |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for (case, result) in rows {
        let [_, ns, bound, reference, ns3, ..] = result.columns();
        let port = if case.is_fifo() { "FIFO" } else { "bands" };
        let counts = recorded(case).join(" | ");
        let _ = writeln!(
            table,
            "| {}, `{}`, {port} | {ns} | {bound} | {reference} | {ns3} | {counts} |",
            case.senders, case.scheme
        );
    }
    let text = std::fs::read_to_string(path)?;
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| std::io::Error::other(format!("{path} lacks {BEGIN} and {END}")))?;
    std::fs::write(path, format!("{head}{BEGIN}\n\n{table}\n{END}{tail}"))
}

const BEGIN: &str = "<!-- hops: begin -->";
const END: &str = "<!-- hops: end -->";

/// The ratios of all cases.
fn measure(cases: &[Case]) -> Vec<(&Case, Result)> {
    let idle = memory_of(None).unwrap_or(0);
    let scenarios: Vec<Scenario> = cases.iter().map(Case::scenario).collect();
    let mut rounds: Vec<Vec<Round>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 0..2 * REPETITIONS {
        for ((case, scenario), rounds) in cases.iter().zip(&scenarios).zip(&mut rounds) {
            rounds.push(Round::of(case, scenario, round < NS3_ROUNDS));
        }
    }
    let results = cases.iter().zip(&rounds).enumerate();
    results.map(|(i, (case, rounds))| (case, Result::of(i, case, rounds, idle))).collect()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(i) = args.iter().position(|arg| arg == "--memory") {
        return single(args.get(i + 1).map_or("", String::as_str));
    }
    if let [word, senders, bytes, scheme] = &args[..]
        && word == "--bound"
    {
        let number = |text: &str| text.parse().expect("a number");
        let incast = Incast { senders: number(senders), bytes: number(bytes).into(), dctcp: scheme == "dctcp" };
        println!("{}", bound::run(&incast));
        return ExitCode::SUCCESS;
    }
    let cases = cases();
    let results = measure(&cases);
    print(&HEADINGS.map(str::to_owned));
    for (_, result) in &results {
        print(&result.columns());
    }
    if let Some(path) = args.iter().position(|arg| arg == "--table").and_then(|i| args.get(i + 1))
        && let Err(error) = document(path, &results)
    {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let within = |(case, result): &(&Case, Result)| result.reference.median >= LEAST_RATIO || !case.is_fifo();
    if args.iter().any(|arg| arg == "--check") && !results.iter().all(within) {
        eprintln!("a FIFO port is less than {LEAST_RATIO} times faster than the reference core");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
