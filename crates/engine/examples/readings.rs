//! What each reading of a paper changes: `cargo run --release --example readings [-- SENDERS [SCHEME [READING,...]]]`.
//!
//! Runs one incast for every scheme, then again with each parameter that selects another reading set to each of its
//! other values, and prints a Markdown table of goodput and 99th percentile of the completion times, medians over
//! seeds, with the mean of the changes of each seed and its 95 % interval. Where neither change is half a per cent and
//! larger than its interval, other situations are tried until one shows what the reading is for. Words and switches
//! are tried from the tables of parameters, numbers and keys of other tables as [`NUMBERS`] and [`BESIDE`] list them.
//! [`ELSEWHERE`] says why a parameter of a reading has no such row; a test holds that none is forgotten.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use fanin_engine::param::{Kind, Param};
use fanin_engine::scenario::Scenario;
use fanin_engine::schemes::{self, Reading, SchemeRow};
use fanin_engine::sim;

const SEEDS: u64 = 5;
/// A change below this share is none.
const NOTABLE: f64 = 0.005;
/// 97.5 % point of Student's t with `SEEDS - 1` degrees of freedom.
const STUDENT: f64 = 2.776;

/// Keys and values.
type Values = &'static [(&'static str, &'static str)];

/// Other values of numbers: those that a reading or its paper names and, where neither names one, a value far enough from
/// the default to show what the number does. Scheme, reading, and keys of the scheme's table or paths with their values.
const NUMBERS: &[(&str, &str, Values)] = &[
    ("dctcp", "DCTCP2", &[("min-window", "1mss")]),
    ("dctcp", "DCTCP2", &[("alpha0", "0")]),
    ("dctcp", "D2", &[("mark-threshold", "40pkt")]),
    ("dctcp", "S17", &[("transport.ecn-syn", "true")]),
    ("l2dct", "L2DCT2", &[("light-up-to", "200mss"), ("heavy-from", "1000mss")]),
    ("l2dct", "L2DCT3", &[("min-window", "1mss")]),
    ("d2tcp", "D2TCP2", &[("sawtooth", "1")]),
    ("d2tcp", "D2TCP3", &[("urgency-min", "0.25"), ("urgency-max", "4")]),
    ("dt-dctcp", "DT1", &[("start", "35pkt"), ("stop", "30pkt")]),
    ("ictcp", "I2", &[("beta", "0.5")]),
    ("ictcp", "I3", &[("min-slot", "1ms")]),
    ("ictcp", "I4", &[("idle", "100ms")]),
    ("ictcp", "R17", &[("transport.duplicate-ack-window", "any")]),
    ("sab", "B1", &[("epsilon", "1")]),
    ("sab", "B4", &[("transport.initial-window", "4mss")]),
    ("pfdct", "P5", &[("ki", "0")]),
    ("pfdct", "P6", &[("kt-step", "4")]),
    ("pfdct", "P7", &[("clip-low", "20"), ("clip-high", "60")]),
    ("pfdct", "P7", &[("kt-low", "5")]),
    ("pfdct", "P8", &[("n-source", "const"), ("n-const", "10")]),
    ("pfdct", "P8", &[("flow-timeout", "20ms")]),
    ("pfdct", "P10", &[("h", "0.5")]),
    ("pfdct", "P11", &[("long-size", "100KB")]),
    ("pfdct", "P11", &[("long-window", "10")]),
    ("pfdct", "P13", &[("bands", "3")]),
    ("pfdct", "P16", &[("table-entries", "16")]),
    ("pfdct", "P19", &[("transport.rto-min", "200us")]),
    ("pfdct", "P20", &[("kt-init", "5")]),
    ("pfdct", "P25", &[("traffic.arrivals.load-of", "bisection")]),
    ("pfdct", "P25", &[("traffic.arrivals.load", "0"), ("traffic.arrivals.interval", "3ms")]),
    ("pfdct", "P26", &[("min-window", "1mss")]),
    ("dt-cwa", "D1", &[("start", "35pkt"), ("stop", "30pkt")]),
    ("dt-cwa", "D2", &[("start", "30KB"), ("stop", "35KB")]),
    ("dt-cwa", "D10", &[("min-window", "2mss")]),
    ("dt-cwa", "D10", &[("transport.stack", "qualnet")]),
    ("dt-cwa", "D14", &[("transport.initial-window", "10mss")]),
    ("dt-cwa", "D14", &[("transport.initial-ssthresh", "16KiB")]),
    ("dt-cwa", "D16", &[("beta", "0.5")]),
    ("rcc", "E1", &[("priority", "off")]),
    ("rcc", "E4", &[("skip-cap-deadline", "30"), ("skip-cap-other", "70")]),
    ("rcc", "R3", &[("traffic.bursts.exponential", "15ms")]),
    ("rcc", "R3", &[("traffic.bursts.start", "10ms")]),
    ("rcc", "R4", &[("network.ties", "waiting-first")]),
    ("rcc", "R7", &[("traffic.bursts.announce-size", "false")]),
    ("rcc", "R15", &[("rto-r-step", "1ms")]),
    ("rcc", "R17", &[("transport.duplicate-ack-window", "same")]),
    ("rcce", "E1", &[("priority", "off")]),
    ("rcce", "E20", &[("ecn", "off")]),
    ("rcce", "E20", &[("scheduler", "off")]),
    ("rcce", "R15", &[("rto-r-step", "1ms")]),
    ("rcce", "R17", &[("transport.duplicate-ack-window", "same")]),
    ("sdtcp", "S5", &[("poll", "100ms")]),
    ("sdtcp", "S7", &[("rtt", "400us")]),
    ("sdtcp", "S15", &[("control.delay", "66us")]),
    ("sdtcp", "S15", &[("control.service-time", "20us")]),
    ("sdtcp", "S15", &[("buffer-timeout", "1ms")]),
    ("sdtcp", "S20", &[("idle-timeout", "1s")]),
    ("sdtcp", "S20", &[("rule-timeout", "1s")]),
    ("sdtcp", "S22", &[("background-bytes", "100KB"), ("background-age", "100ms")]),
    ("sdtcp", "S22", &[("traffic.bursts.start", "500ms")]),
    ("hpcc", "HP1", &[("increase", "500B")]),
    ("hpcc", "HP2", &[("base-rtt", "300us")]),
    ("hpcc", "HP3", &[("loss-decrease", "50%")]),
    ("hpcc", "HP7", &[("transport.header", "40B")]),
    ("dcqcn", "DQ1", &[("cnp-interval", "500us")]),
    ("dcqcn", "DQ2", &[("recovery", "1")]),
    ("dcqcn", "DQ3", &[("hyper-increase", "4Gbps")]),
    ("dcqcn", "DQ4", &[("min-rate", "5Mbps")]),
    ("dcqcn", "DQ5", &[("in-flight", "5KB")]),
    ("ndp", "ND1", &[("first-window", "5")]),
    ("ndp", "ND2", &[("transport.rto-min", "10ms")]),
    ("homa", "HO1", &[("rtt-bytes", "30KB")]),
    ("homa", "HO2", &[("workload", "5KB")]),
    ("homa", "HO3", &[("overcommitment", "1")]),
    ("homa", "HO4", &[("resend-interval", "1ms")]),
    ("homa", "HO6", &[("transport.rto-min", "1ms")]),
    ("swift", "SW1", &[("base-target", "60us")]),
    ("swift", "SW1", &[("hop-target", "40us")]),
];

/// As [`NUMBERS`], for keys that act beside others only: those come last and are set in what is compared with, too.
const BESIDE: &[(&str, &str, Values, Values)] = &[
    ("linux", "T3a", &[("growth", "per-ack")], &[("flavour", "rfc")]),
    ("pfdct", "P7, P13", &[("kt-high", "band")], SPLIT),
    ("pfdct", "P11", &[("short-bytes", "100KB")], &[("class", "alg2")]),
    ("pfdct", "P13", &[("retransmission-share", "0.1"), ("short-share", "0.45")], SPLIT),
    ("pfdct", "P31", &[("red-weight", "0.02")], &[("aqm", "red")]),
    ("pfdct", "P31", &[("red-gentle", "true")], &[("aqm", "red")]),
    ("pfdct", "P31", &[("red-wait", "true")], &[("aqm", "red")]),
    ("pfdct", "P31", &[("red-max-p", "0.02")], &[("aqm", "red")]),
    ("pfdct", "P7, P31", &[("red-min", "5"), ("red-max", "15")], &[("aqm", "red")]),
    ("dt-cwa", "D11", &[("network.delay", "16.67us")], &[("network.delay", "25us")]),
    ("rcc", "R2", &[("network.buffer", "128KiB")], CODE_BUFFER),
    ("rcc", "R2", &[("network.buffer-full", "no-room"), ("network.buffer-counts", "all")], CODE_BUFFER),
    (
        "rcc",
        "R3",
        &[("traffic.bursts.exponential-bound", "30ms"), ("traffic.bursts.exponential-step", "1ms")],
        &[("traffic.bursts.exponential", "15ms")],
    ),
    ("rcc", "E4", &[("push-bonus", "0")], &[("repeats", "wait")]),
    ("rcc", "R15", &[("rto-r-step", "1ms")], &[("rto-r-min", "1ms")]),
    ("rcce", "E4", &[("push-bonus", "150")], &[("repeats", "wait")]),
    ("rcce", "E4", &[("skip-cap-deadline", "30"), ("skip-cap-other", "70")], &[("skip-cap", "fixed")]),
    ("rcce", "E6", &[("st-cell", "16KiB")], &[("st-enable", "on")]),
    ("rcce", "E6", &[("st-hold", "0s")], &[("st-enable", "on")]),
    ("rcce", "E13", &[("network.buffer", "128KiB")], CODE_BUFFER),
    ("rcce", "R15", &[("rto-r-step", "1ms")], &[("rto-r-min", "1ms")]),
    ("swift", "SW3", &[("host-target", "20us")], &[("transport.interrupt-interval", "50us")]),
    ("homa", "HO5", &[("incast-threshold", "0")], &[("traffic.bursts.request", "100B")]),
];

/// PFDCT's bands with parts of one buffer.
const SPLIT: Values = &[("bands", "3"), ("band-buf", "split")];

/// The buffer of RCC's authors.
const CODE_BUFFER: Values =
    &[("network.buffer", "120000B"), ("network.buffer-full", "reached"), ("network.buffer-counts", "waiting")];

/// Readings with parameters that are not tried here, and why: scheme, reading, reason.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("pfdct", "P21", "the networks of sections 4 and 5.3, in the experiments of Figs. 3 to 5 and 9 to 13"),
    ("pfdct", "P22", "the size of each figure's flows, in its experiment"),
    ("pfdct", "P23", "both origins are in the table of flows of any run"),
    ("pfdct", "P24", "sessions once or in a closed loop, in the experiments of Figs. 10 to 13"),
    ("dt-cwa", "D2", "DCTCP's threshold: see dctcp"),
    ("dt-cwa", "D10", "DCTCP's smallest window: see dctcp"),
    ("dt-cwa", "D12", "workers by the tree of the experiments"),
    ("dt-cwa", "D13", "the traffic of Figs. 6 to 8, in their experiments"),
    ("dt-cwa", "D15", "every port of a switch here has a buffer of its own"),
    ("rcc", "R5", "two links are crossed with either number of switches"),
    ("rcce", "E5", "relay trees, a kind of traffic, in the experiment of edge and trees"),
    ("rcce", "E6", "the repair of trees, in the experiment of failing cables"),
    ("rcce", "E9", "a sentence about a figure; the closed form is a test"),
    ("rcce", "E10", "both numbers of senders, in the experiment of Fig. 5b"),
    ("rcce", "E14", "no other reading: an RTO_r that doubled for good would not follow the round trip"),
    ("rcce", "E15", "a condition, which the experiments judge"),
    ("rcce", "E17", "the symbol of a bound; the closed form is a test"),
    ("rcce", "E21", "aggregators, in the experiment of relay trees"),
    ("sdtcp", "S14", "no other reading: its thresholds are printed in packets (see S4)"),
    ("sdtcp", "S17", "its end hosts have no ECN: see dctcp"),
    ("sdtcp", "S18", "how far the curves go, in the experiments"),
    ("sdtcp", "S21", "who receives, in the experiments"),
];

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
        name: "flowcells over two unequal paths",
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
        name: "bursts beside arrivals at 60 % load",
        network: "topology = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts-per-leaf = 11\nbuffer = \"100pkt\"\n",
        rules: &[],
        rest: "[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 20\nbytes-each = \"30KB\"\nrounds = 5\n\
               gap = \"10ms\"\njitter = \"100us\"\n[[traffic]]\nname = \"arrivals\"\nkind = \"poisson\"\nfrom = \"all\"\n\
               to = \"all\"\nbytes-each = \"150KB\"\nload = \"60%\"\ncount = 1000\n",
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

/// Values of keys of the scheme's own table, or of paths where they have a dot.
type Setting = Vec<(String, String)>;

/// What one setting of one scheme comes to: goodput in Mbit/s, 99th percentile of the completion times in ms and the hash of
/// everything that was measured, by seed where it makes sense.
struct Measured(Vec<Option<(f64, f64, String)>>);

impl Measured {
    /// Medians of goodput and percentile.
    fn medians(&self) -> [f64; 2] {
        [|run: &(f64, f64, String)| run.0, |run: &(f64, f64, String)| run.1].map(|pick| {
            let mut values: Vec<f64> = self.0.iter().flatten().map(pick).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        })
    }
}

impl Situation {
    fn run(&self, scheme: &str, setting: &Setting, seed: u64) -> Result<(f64, f64, String), String> {
        let rules: String = self.rules.iter().filter(|(key, _)| *key == scheme).map(|(_, rules)| *rules).collect();
        // A second until the first loss is repaired would be all that a run shows.
        let text = format!(
            "[network]\n{}[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\nrto-initial = \"10ms\"\n\
             rto-after-syn-timeout = \"10ms\"\nsyn-timeout = \"50ms\"\nsyn-retries = 12\n[scheme.{scheme}]\n{rules}{}[run]\n\
             duration = \"8s\"\nseed = {seed}\n",
            self.network, self.rest
        );
        let at = |key: &String| if key.contains('.') { key.clone() } else { format!("scheme.{scheme}.{key}") };
        let overrides: Vec<_> = setting.iter().map(|(key, value)| (at(key), value.clone())).collect();
        let scenario = Scenario::parse(&text, "readings.toml", &overrides).map_err(|error| error.to_string())?;
        let outcome = sim::run(&scenario, None).map_err(|error| error.to_string())?;
        let (goodput, p99) = (outcome.number("goodput_finite_bps") / 1e6, outcome.number("fct_p99_s") * 1e3);
        Ok((goodput, p99, outcome.hash().to_owned()))
    }

    /// None if the setting makes no sense here.
    fn measure(&self, scheme: &str, setting: &Setting) -> Option<Measured> {
        let tell = |error| eprintln!("{scheme} {setting:?}, {}: {error}", self.name);
        let runs: Vec<_> = (1..=SEEDS).map(|seed| self.run(scheme, setting, seed).map_err(tell).ok()).collect();
        runs.iter().any(Option::is_some).then_some(Measured(runs))
    }
}

/// A setting that selects another reading.
struct Alternative {
    reading: String,
    setting: Setting,
    /// What else is set, in what it is compared with too.
    beside: Setting,
}

/// The settings that select other readings.
fn alternatives(row: &SchemeRow) -> Vec<Alternative> {
    let words = |param: &Param| -> Vec<&str> {
        match param.kind {
            Kind::Bool => vec!["true", "false"],
            Kind::Choice(words) => words.to_vec(),
            _ => Vec::new(),
        }
    };
    let owned = |values: &[(&str, &str)]| -> Setting {
        values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let of = |reading: &str, values: &[(&str, &str)], beside: &[(&str, &str)]| Alternative {
        reading: reading.to_owned(),
        setting: owned(values),
        beside: owned(beside),
    };
    let mut found = Vec::new();
    for param in row.params.iter().filter(|param| !param.reading.is_empty()) {
        let others = words(param).into_iter().filter(|word| *word != param.default);
        found.extend(others.map(|word| of(param.reading, &[(param.key, word)], &[])));
    }
    let numbers = NUMBERS.iter().filter(|(key, ..)| *key == row.key);
    found.extend(numbers.map(|(_, reading, values)| of(reading, values, &[])));
    let companions = BESIDE.iter().filter(|(key, ..)| *key == row.key);
    found.extend(companions.map(|(_, reading, values, beside)| of(reading, values, beside)));
    found
}

/// Path of a key of a setting, as readings name it: without the names of traffic groups.
fn path(scheme: &str, key: &str) -> String {
    let parts: Vec<&str> = key.split('.').collect();
    match parts.as_slice() {
        [key] => format!("scheme.{scheme}.{key}"),
        ["traffic", _, key] => format!("traffic.{key}"),
        _ => key.to_owned(),
    }
}

/// Parameters of a reading that are not tried.
struct Untried {
    reading: &'static Reading,
    params: Vec<&'static str>,
    /// None if [`ELSEWHERE`] has none.
    reason: Option<&'static str>,
}

/// Readings of which at least one parameter is not tried.
fn untried(row: &SchemeRow) -> Vec<Untried> {
    let tried = alternatives(row);
    let tried: Vec<String> = tried.iter().flat_map(|other| &other.setting).map(|(key, _)| path(row.key, key)).collect();
    let of = |reading: &'static Reading| {
        let missing = reading.params.iter().copied().filter(|param| tried.iter().all(|path| path != param));
        let said = ELSEWHERE.iter().find(|(scheme, id, _)| (*scheme, *id) == (row.key, reading.id));
        Untried { reading, params: missing.collect(), reason: said.map(|(.., reason)| *reason) }
    };
    row.readings.iter().map(of).filter(|untried| !untried.params.is_empty()).collect()
}

/// A mean share and the half of its 95 % interval.
#[derive(Clone, Copy)]
struct Change(f64, f64);

impl Change {
    fn of(shares: &[f64]) -> Self {
        let n = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / n;
        let variance = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        Self(mean, STUDENT * (variance / n).sqrt())
    }
    fn is_notable(self) -> bool {
        self.0.abs() >= NOTABLE && self.0.abs() > self.1
    }
    fn text(self) -> String {
        format!("{:+.1} ± {:.1} %", 100.0 * self.0, 100.0 * self.1)
    }
}

/// What a setting changes, seed by seed: goodput and percentile; none if no run differs.
fn change(from: &Measured, to: &Measured) -> Option<[Change; 2]> {
    let pairs: Vec<_> =
        from.0.iter().zip(&to.0).filter_map(|(from, to)| Some((from.as_ref()?, to.as_ref()?))).collect();
    let shares = |pick: fn(&(f64, f64, String)) -> f64| -> Change {
        let all = pairs.iter().map(|(from, to)| pick(to) / pick(from) - 1.0);
        // A run in which too few flows end has no percentile.
        Change::of(&all.filter(|share| share.is_finite()).collect::<Vec<_>>())
    };
    pairs.iter().any(|(from, to)| from.2 != to.2).then(|| [shares(|run| run.0), shares(|run| run.1)])
}

/// The first situation in which a setting matters, or else that in which it changes most; none if it changes no run.
fn tell(row: &SchemeRow, other: &Alternative, situations: &[(&Situation, Option<Measured>)]) {
    let size = |changes: &[Change; 2]| changes[0].0.abs().max(changes[1].0.abs());
    let both = [&other.beside[..], &other.setting].concat();
    let mut most: Option<(&str, [f64; 2], [Change; 2])> = None;
    for (situation, base) in situations {
        let own = (!other.beside.is_empty()).then(|| situation.measure(row.key, &other.beside)).flatten();
        let base = if other.beside.is_empty() { base.as_ref() } else { own.as_ref() };
        let Some(base) = base else { continue };
        let Some(measured) = situation.measure(row.key, &both) else { continue };
        let Some(changes) = change(base, &measured) else { continue };
        let notable = changes.iter().any(|change| change.is_notable());
        if notable || most.as_ref().is_none_or(|most| size(&changes) > size(&most.2)) {
            most = Some((situation.name, measured.medians(), changes));
        }
        if notable {
            break;
        }
    }
    let listed = |setting: &Setting| {
        let words: Vec<String> = setting.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
        words.join(", ")
    };
    let beside = if other.beside.is_empty() { String::new() } else { format!(", beside {}", listed(&other.beside)) };
    let (reading, words) = (&other.reading, listed(&other.setting) + &beside);
    match most {
        Some((name, [goodput, p99], [gain, loss])) => {
            println!(
                "| | {reading} | {words} | {name} | {goodput:.0} | {} | {p99:.1} | {} |",
                gain.text(),
                loss.text()
            );
        }
        None => println!("| | {reading} | {words} | no situation | | | | |"),
    }
}

fn main() {
    let senders = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(50);
    let (only, readings) = (std::env::args().nth(2), std::env::args().nth(3));
    let wanted = |reading: &str| {
        let is = |wanted: &str| reading.split(", ").any(|id| id == wanted);
        readings.as_ref().is_none_or(|wanted| wanted.split(',').any(is))
    };
    let first = first(senders);
    println!(
        "| scheme | reading | setting | situation | goodput, Mbit/s | | p99, ms | |\n|---|---|---|---|--:|--:|--:|--:|"
    );
    for row in schemes::REGISTRY.iter().filter(|row| only.as_ref().is_none_or(|only| only == row.key)) {
        let others: Vec<_> = alternatives(row).into_iter().filter(|other| wanted(&other.reading)).collect();
        let left: Vec<_> = untried(row).into_iter().filter(|untried| wanted(untried.reading.id)).collect();
        if readings.is_some() && others.is_empty() && left.is_empty() {
            continue;
        }
        let all = std::iter::once(&first).chain(OTHERS);
        let situations: Vec<_> = all.map(|situation| (situation, situation.measure(row.key, &Vec::new()))).collect();
        if let Some(base) = &situations[0].1 {
            let [goodput, p99] = base.medians();
            println!("| `{}` | | default | {} | {goodput:.0} | | {p99:.1} | |", row.key, first.name);
        }
        for other in &others {
            tell(row, other, &situations);
        }
        for Untried { reading, params, reason } in left {
            let params: Vec<String> = params.iter().map(|param| format!("`{param}`")).collect();
            let reason = reason.unwrap_or("no reason is given");
            println!("| | {} | {} | not tried: {reason} | | | | |", reading.id, params.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_of_every_reading_has_a_row() {
        for row in schemes::REGISTRY.iter().filter(|row| row.key != "pfdct-st") {
            let untried = untried(row);
            for Untried { reading, params, reason } in &untried {
                assert!(reason.is_some(), "{} {} is not tried: {params:?}", row.key, reading.id);
            }
            let reasons = ELSEWHERE.iter().filter(|(scheme, ..)| *scheme == row.key).count();
            assert_eq!(reasons, untried.len(), "{}: reasons for what is tried", row.key);
        }
    }
}
