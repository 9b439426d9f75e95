//! What each reading of a paper changes: `cargo run --release --example readings [-- SENDERS [SCHEME]]`.
//!
//! Runs one incast for every scheme, then again with each parameter that selects another reading set to each of its
//! other values, and prints a Markdown table of goodput and 99th percentile of the completion times, medians over
//! seeds. Where a setting changes neither by half a per cent, other situations are tried until one shows what the
//! reading is for. Only words and switches are tried: numbers have no list of other values.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use fanin_engine::schemes::{self, SchemeRow};
use fanin_engine::sim;
use fanin_engine::spec::{Kind, Param, Scenario};

const SEEDS: u64 = 5;
/// A change below this share is none.
const NOTABLE: f64 = 0.005;

/// A scenario without scheme and seed.
struct Situation {
    name: &'static str,
    network: &'static str,
    /// Keys of some schemes' own tables.
    rules: &'static [(&'static str, &'static str)],
    /// Traffic and all else.
    rest: &'static str,
}

const STAR: &str = "topology = \"star\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n";
const CLOS: &str = "topology = \"clos\"\nhosts-per-leaf = 12\nhost-jitter = \"1us\"\nbuffer = \"80pkt\"\n";
const TWO_SWITCHES: &str = "topology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n";

const OTHERS: &[Situation] = &[
    Situation {
        name: "16 flows of 3 MB",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 16\nbytes-each = \"3MB\"\njitter = \"10ms\"\n",
    },
    Situation {
        name: "2 flows of 8 MB, and bursts",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 2\nbytes-each = \"8MB\"\njitter = \"1ms\"\n\
               [[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 20\nbytes-each = \"30KB\"\nstart = \"20ms\"\n\
               rounds = 5\ngap = \"10ms\"\n",
    },
    Situation {
        name: "2 flows of 20 MB, 4 ms",
        network: "topology = \"star\"\ndelay = \"1ms\"\nbuffer = \"300pkt\"\n",
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 2\nbytes-each = \"20MB\"\njitter = \"1ms\"\n",
    },
    Situation {
        name: "1 in 100 lost",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"256KB\"\njitter = \"1ms\"\n[[fault]]\n\
               kind = \"loss\"\n",
    },
    Situation {
        name: "two bottlenecks",
        network: TWO_SWITCHES,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"1MB\"\njitter = \"1ms\"\n[[traffic]]\n\
               name = \"others\"\nkind = \"incast\"\nsenders = 20\nbytes-each = \"1MB\"\nreceiver = 1\njitter = \"1ms\"\n",
    },
    Situation {
        name: "1000 flows of 20 KB",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 1000\nbytes-each = \"20KB\"\njitter = \"5ms\"\n",
    },
    Situation {
        name: "100 rounds on 20 open connections",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"100KB\"\nconnections = \"persistent\"\n\
               rounds = 100\njitter = \"100us\"\n",
    },
    Situation {
        name: "6 flows of 1 MB with 40 ms left, 6 without",
        network: STAR,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 6\nbytes-each = \"1MB\"\ndeadline = \"40ms\"\njitter = \"100us\"\n\
               [[traffic]]\nname = \"others\"\nkind = \"incast\"\nsenders = 6\nbytes-each = \"1MB\"\njitter = \"100us\"\n",
    },
    Situation {
        name: "large requests",
        network: TWO_SWITCHES,
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"256KB\"\nrequest = \"64KB\"\njitter = \"100us\"\n\
               [[traffic]]\nname = \"others\"\nkind = \"incast\"\nsenders = 20\nbytes-each = \"256KB\"\nreceiver = 1\n\
               request = \"64KB\"\njitter = \"100us\"\n",
    },
    Situation {
        name: "flowcells over two unequal ways",
        network: "topology = \"clos\"\nspines = 2\nleaves = 2\nhosts-per-leaf = 21\nbuffer = \"60pkt\"\n\
                  path-selector = \"spray\"\nflowcell = \"14600B\"\n",
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"256KB\"\njitter = \"100us\"\n[[fault]]\n\
               kind = \"rate\"\nlink = \"leaf-1->spine-0\"\nrate = \"100Mbps\"\n",
    },
    Situation { name: "six clients of a rack", network: CLOS, rules: &[], rest: CLIENTS },
    Situation {
        name: "the same over spanning trees",
        network: CLOS,
        rules: &[("rcce", "st-enable = \"on\"\n")],
        rest: CLIENTS,
    },
    Situation {
        name: "no scheduler, the last switch instead",
        network: "topology = \"star\"\ndelay = \"33us\"\nbuffer = \"60pkt\"\n",
        rules: &[("rcce", "edge-mode = \"tor-proxy\"\n"), ("rcc", "scheduler = \"off\"\n")],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 100\nbytes-each = \"32KB\"\njitter = \"100us\"\n",
    },
    Situation {
        name: "no scheduler, 16 flows of 3 MB, some lost",
        network: STAR,
        rules: &[("rcce", "scheduler = \"off\"\n"), ("rcc", "scheduler = \"off\"\n")],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 16\nbytes-each = \"3MB\"\njitter = \"10ms\"\n[[fault]]\n\
               kind = \"loss\"\n",
    },
    Situation {
        name: "rounds, recovery after 5 ms",
        network: TWO_SWITCHES,
        rules: &[(
            "sdtcp",
            "recovery = \"5ms\"\nbackground-age = \"20ms\"\nbackground-bytes = \"100KB\"\npoll = \"2ms\"\n",
        )],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 4\nbytes-each = \"10MB\"\njitter = \"5ms\"\n[[traffic]]\n\
               name = \"bursts\"\nkind = \"incast\"\nsenders = 30\nbytes-each = \"100KB\"\nstart = \"30ms\"\nrounds = 5\n\
               gap = \"20ms\"\njitter = \"1ms\"\n",
    },
    Situation {
        name: "thresholds that coincide",
        network: TWO_SWITCHES,
        rules: &[("sdtcp", "low = \"60pkt\"\nmodest = \"60pkt\"\nhigh = \"60pkt\"\n")],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 30\nbytes-each = \"100KB\"\njitter = \"1ms\"\n",
    },
    Situation {
        name: "100 flows of 64 KB, 30 packets of buffer",
        network: "topology = \"star\"\ndelay = \"33us\"\nbuffer = \"30pkt\"\n",
        rules: &[],
        rest: "[[traffic]]\nkind = \"incast\"\nsenders = 100\nbytes-each = \"64KB\"\njitter = \"1ms\"\n",
    },
];

/// One of the incasts to the hosts of a rack, which want more than the spines carry.
macro_rules! client {
    ($n:literal) => {
        concat!(
            "[[traffic]]\nname = \"to-",
            $n,
            "\"\nkind = \"incast\"\nsenders = 48\nbytes-each = \"128KB\"\nreceiver = ",
            $n,
            "\nplacement = \"round-robin\"\njitter = \"1ms\"\n"
        )
    };
}
const CLIENTS: &str = concat!(client!(0), client!(1), client!(2), client!(3), client!(4), client!(5));

/// Two switches, a background flow and bursts: every role of every scheme has something to do.
fn first(senders: u32) -> Situation {
    let rest = format!(
        "[[traffic]]\nname = \"long\"\nkind = \"background\"\n[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\n\
         senders = {senders}\nbytes-each = \"256KB\"\nstart = \"1200ms\"\njitter = \"100us\"\n"
    );
    let name = format!("a background flow, {senders} bursts").leak();
    Situation { name, network: TWO_SWITCHES, rules: &[], rest: rest.leak() }
}

/// What one setting of one scheme comes to.
struct Measured {
    /// Median in Mbit/s.
    goodput: f64,
    /// Median of the 99th percentile of completion times in ms.
    p99: f64,
    /// Of everything that was measured.
    hashes: Vec<String>,
}

impl Situation {
    fn run(&self, scheme: &str, setting: Option<&(String, String)>, seed: u64) -> Result<(f64, f64, String), String> {
        let rules: String = self.rules.iter().filter(|(key, _)| *key == scheme).map(|(_, rules)| *rules).collect();
        let text = format!(
            "[network]\n{}[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\nsyn-timeout = \"50ms\"\n\
             syn-retries = 12\n[scheme.{scheme}]\n{rules}{}[run]\nduration = \"8s\"\nseed = {seed}\n",
            self.network, self.rest
        );
        let overrides: Vec<_> =
            setting.iter().map(|(key, value)| (format!("scheme.{scheme}.{key}"), value.clone())).collect();
        let scenario = Scenario::parse(&text, "readings.toml", &overrides).map_err(|error| error.to_string())?;
        let outcome = sim::run(&scenario, None).map_err(|error| error.to_string())?;
        let (goodput, p99) = (outcome.number("goodput_finite_bps") / 1e6, outcome.number("fct_p99_s") * 1e3);
        Ok((goodput, p99, outcome.hash().to_owned()))
    }

    /// None if the setting makes no sense here.
    fn measure(&self, scheme: &str, setting: Option<&(String, String)>) -> Option<Measured> {
        let tell = |error| eprintln!("{scheme} {setting:?}, {}: {error}", self.name);
        let runs: Vec<_> = (1..=SEEDS).filter_map(|seed| self.run(scheme, setting, seed).map_err(tell).ok()).collect();
        let median = |pick: fn(&(f64, f64, String)) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(pick).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let (goodput, p99) = (median(|run| run.0)?, median(|run| run.1)?);
        Some(Measured { goodput, p99, hashes: runs.into_iter().map(|run| run.2).collect() })
    }
}

/// The settings of a parameter that are not its default, as key and value.
fn alternatives(param: &Param) -> Vec<(String, String)> {
    let with = |value: &str| (param.key.to_owned(), value.to_owned());
    match param.kind {
        Kind::Bool => vec![with(if param.default == "true" { "false" } else { "true" })],
        Kind::Choice(words) => words.iter().filter(|word| **word != param.default).map(|word| with(word)).collect(),
        _ => Vec::new(),
    }
}

/// What a setting changes: shares of goodput and of the 99th percentile, and whether anything at all is another.
fn change(from: &Measured, to: &Measured) -> (f64, f64, bool) {
    (to.goodput / from.goodput - 1.0, to.p99 / from.p99 - 1.0, from.hashes != to.hashes)
}

/// The first situation in which a setting matters, or else that in which it changes most; none if it changes no run.
fn tell(row: &SchemeRow, param: &Param, setting: &(String, String), situations: &[(&Situation, Option<Measured>)]) {
    let mut most: Option<(&str, Measured, f64, f64)> = None;
    for (situation, base) in situations {
        let Some(base) = base else { continue };
        let Some(other) = situation.measure(row.key, Some(setting)) else { continue };
        let (gain, loss, differs) = change(base, &other);
        let size = |gain: f64, loss: f64| gain.abs().max(loss.abs());
        if differs && most.as_ref().is_none_or(|most| size(gain, loss) > size(most.2, most.3)) {
            most = Some((situation.name, other, gain, loss));
        }
        if most.as_ref().is_some_and(|most| size(most.2, most.3) >= NOTABLE) {
            break;
        }
    }
    let (key, value) = setting;
    match most {
        Some((name, Measured { goodput, p99, .. }, gain, loss)) => println!(
            "| | {} | `{key} = {value}` | {name} | {goodput:.0} | {:+.1} % | {p99:.1} | {:+.1} % |",
            param.reading,
            100.0 * gain,
            100.0 * loss
        ),
        None => println!("| | {} | `{key} = {value}` | no situation | | | | |", param.reading),
    }
}

fn main() {
    let senders = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(50);
    let only = std::env::args().nth(2);
    let first = first(senders);
    println!(
        "| scheme | reading | setting | situation | goodput, Mbit/s | | p99, ms | |\n|---|---|---|---|--:|--:|--:|--:|"
    );
    for row in schemes::REGISTRY.iter().filter(|row| only.as_ref().is_none_or(|only| only == row.key)) {
        let all = std::iter::once(&first).chain(OTHERS);
        let situations: Vec<_> = all.map(|situation| (situation, situation.measure(row.key, None))).collect();
        if let Some(base) = &situations[0].1 {
            println!("| `{}` | | as it is | {} | {:.0} | | {:.1} | |", row.key, first.name, base.goodput, base.p99);
        }
        for param in row.params.iter().filter(|param| !param.reading.is_empty()) {
            for setting in alternatives(param) {
                tell(row, param, &setting, &situations);
            }
        }
    }
}
