//! What a large network costs: a fat-tree of 1,024 hosts with 100,000 Poisson flows, in time and memory.
//!
//! `cargo bench -p fanin-engine --bench scale` prints. With `-- --check` the network is smaller, and it fails where a
//! finished flow takes more memory than [`MOST_IN_MEMORY`], or [`MOST_SPILLED`] where rows wait on the disk: that is what
//! the peak grows by from a quarter of the flows to all of them, in child processes that do a single run. With
//! `-- --million` there are 9,826 hosts and a million flows, which takes minutes. Times are those of the thread on its
//! processor.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod memory;
#[allow(dead_code, reason = "one run has no median")]
mod timing;

use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Spill};
use memory::{child, peak};
use std::fs::File;
use std::io::{Read as _, Result, Seek as _, SeekFrom, Write as _};
use std::process::ExitCode;
use std::sync::Mutex;
use timing::time;

/// Bytes that a finished flow may take: its row, its places among the others, and what totals need of it.
const MOST_IN_MEMORY: f64 = 360.0;
/// The same where its row is on the disk.
const MOST_SPILLED: f64 = 120.0;

/// Whether rows wait on the disk, and what a finished flow may take then.
const PLACES: [(bool, f64); 2] = [(false, MOST_IN_MEMORY), (true, MOST_SPILLED)];

/// A k-ary fat-tree, and how many flows.
#[derive(Clone, Copy)]
struct Case {
    pods: u32,
    flows: u32,
}

const LARGE: Case = Case { pods: 16, flows: 100_000 };
const SMALL: Case = Case { pods: 8, flows: 40_000 };
const MILLION: Case = Case { pods: 34, flows: 1_000_000 };

impl Case {
    fn scenario(self) -> Scenario {
        let Self { pods, flows } = self;
        let text = format!(
            "[network]\ntopology = \"fat-tree\"\npods = {pods}\nrate = \"10Gbps\"\nuplink-rate = \"10Gbps\"\n\
             core-rate = \"10Gbps\"\n[transport]\nscheme = \"dctcp\"\nrto-min = \"10ms\"\n\
             [[traffic]]\nkind = \"poisson\"\nfrom = \"all\"\nto = \"all\"\nload = 0.3\ncount = {flows}\n\
             bytes-each = \"20KB\"\n[measure]\nqueues = \"none\"\n[run]\nduration = \"10s\"\n"
        );
        Scenario::parse(&text, "bench.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn hosts(self) -> u32 {
        self.pods.pow(3) / 4
    }
}

/// A nameless file.
struct Waiting(Mutex<File>);

impl Waiting {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("fanin-bench-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(path)?;
        Ok(Self(Mutex::new(file)))
    }
}

impl Spill for Waiting {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.0.get_mut().expect("nobody panicked");
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.0.lock().expect("nobody panicked");
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

/// One run, in a process of its own: prints packet-hops, nanoseconds for each, and the peak of memory in KiB.
fn single(case: Case, spills: bool) {
    let scenario = case.scenario();
    let mut hops = 0.0;
    let ns = time(|| {
        let outcome = if spills {
            let waiting = Waiting::new().unwrap_or_else(|error| panic!("{error}"));
            sim::run_spilling(&scenario, Box::new(waiting), None)
        } else {
            sim::run(&scenario, None)
        };
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        hops = outcome.number("packet_hops");
        assert_eq!(outcome.number("completed"), f64::from(case.flows), "every flow completes");
        outcome
    });
    println!("{hops} {ns} {}", peak().unwrap_or(0));
}

/// What such a process printed.
fn measured(case: Case, spills: bool) -> [f64; 3] {
    let arguments = [case.pods.to_string(), case.flows.to_string(), spills.to_string()];
    let words = [["--single"].as_slice(), &arguments.each_ref().map(String::as_str)].concat();
    let printed = child(&words).unwrap_or_default();
    let mut numbers = printed.split_whitespace().filter_map(|number| number.parse().ok());
    [(); 3].map(|()| numbers.next().unwrap_or(f64::NAN))
}

/// Prints one row; returns the bytes of a finished flow.
fn report(case: Case, spills: bool) -> f64 {
    let fewer = Case { flows: case.flows / 4, ..case };
    let [hops, ns, peak] = measured(case, spills);
    let [_, _, before] = measured(fewer, spills);
    let per_flow = (peak - before) * 1024.0 / f64::from(case.flows - fewer.flows);
    let rows = if spills { "disk" } else { "memory" };
    println!(
        "{:>6} {:>8} {rows:<8} {:>12.0} {:>8.2} {ns:>8.1} {:>9.1} {per_flow:>10.0}",
        case.hosts(),
        case.flows,
        hops,
        hops * ns / 1e9,
        peak / 1024.0
    );
    per_flow
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, pods, flows, spills] = &args[..]
        && word == "--single"
    {
        let number = |text: &str| text.parse().expect("a number");
        single(Case { pods: number(pods), flows: number(flows) }, spills == "true");
        return ExitCode::SUCCESS;
    }
    let [check, million] = ["--check", "--million"].map(|word| args.iter().any(|arg| arg == word));
    let (case, places) = match (check, million) {
        (true, _) => (SMALL, PLACES.as_slice()),
        (false, true) => (MILLION, &PLACES[..1]),
        (false, false) => (LARGE, PLACES.as_slice()),
    };
    println!(
        "{:>6} {:>8} {:<8} {:>12} {:>8} {:>8} {:>9} {:>10}",
        "hosts", "flows", "rows in", "hops", "seconds", "ns/hop", "peak MiB", "B/finished"
    );
    let within: Vec<bool> = places.iter().map(|(spills, most)| report(case, *spills) <= *most).collect();
    if check && within.contains(&false) {
        eprintln!("a finished flow takes more than {MOST_IN_MEMORY} bytes, or {MOST_SPILLED} with its row on the disk");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
