//! What every scheme must stand: random events at each of its roles, and hard scenarios in the simulator.
//!
//! Both go through the registry, so that a new scheme is tested with its row. Nothing here knows what a scheme does: only
//! that windows stay windows, that no message makes it panic, and that every finite flow completes.

mod network;
mod receiver;
mod sender;
mod stress;

use fanin_engine::ids::{FlowId, NodeId};
use fanin_engine::param::{Kind, Param, Values};
use fanin_engine::rng::Stream;
use fanin_engine::schemes::{FlowFacts, NodeFacts, REGISTRY, Scheme, SchemeRow};
use fanin_engine::units::{Rate, Time};

/// Payload and wire bytes of a full segment.
const MSS: u64 = 1460;
const PACKET: u64 = 1500;
const RATE: Rate = Rate::from_bps(1_000_000_000);

/// How a setting was come by, and so how much it is made to stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The defaults.
    Defaults,
    /// Of [`FURTHER`].
    Further,
    /// One parameter has another of its words.
    Alternative,
}

/// A scheme with some of its parameters changed.
struct Setting {
    scheme: &'static str,
    origin: Origin,
    /// Its name in messages.
    label: String,
    values: Vec<(&'static str, &'static str)>,
}

impl Setting {
    fn new(scheme: &'static str, origin: Origin, name: &str, values: &[(&'static str, &'static str)]) -> Self {
        let dash = if name.is_empty() { "" } else { "-" };
        Self { scheme, origin, label: format!("{scheme}{dash}{name}"), values: values.to_vec() }
    }
}

/// One of [`FURTHER`]: scheme, name and values.
struct Further {
    scheme: &'static str,
    name: &'static str,
    values: &'static [(&'static str, &'static str)],
}

/// Settings that change several parameters at once.
const FURTHER: &[Further] = &[
    Further { scheme: "rcce", name: "trees", values: &[("st-enable", "on"), ("st-when", "always")] },
    Further { scheme: "rcce", name: "crowded", values: &[("st-enable", "on"), ("queue-max", "4")] },
    Further { scheme: "rcce", name: "proxy", values: &[("edge-mode", "tor-proxy")] },
    Further {
        scheme: "rcce",
        name: "blind-proxy",
        values: &[("edge-mode", "tor-proxy"), ("proxy-counts", "arrivals")],
    },
    Further {
        scheme: "rcce",
        name: "proxy-and-trees",
        values: &[("edge-mode", "tor-proxy"), ("st-enable", "on"), ("queue-max", "4"), ("mark-at", "dequeue")],
    },
];

/// The words of a parameter that are not its default: those of a choice, and of a switch.
fn other_words(param: &Param) -> Vec<&'static str> {
    let words: &[&str] = match param.kind {
        Kind::Choice(words) => words,
        Kind::Bool => &["true", "false"],
        _ => &[],
    };
    words.iter().copied().filter(|word| *word != param.default).collect()
}

/// What has to be set beside `param`, where it must not be written with the default of another: the last of its other words.
fn beside(row: &SchemeRow, param: &Param) -> Option<(&'static str, &'static str)> {
    let (key, idle) = param.idle_with?;
    let other = row.params.iter().find(|other| other.key == key && other.default == idle)?;
    other_words(other).last().map(|word| (key, *word))
}

/// A scheme with one parameter changed, each in turn; from the table of parameters, so that a new one is among them.
fn alternatives(row: &'static SchemeRow) -> impl Iterator<Item = Setting> {
    row.params.iter().flat_map(move |param| {
        other_words(param).into_iter().map(move |word| {
            let values: Vec<_> = beside(row, param).into_iter().chain([(param.key, word)]).collect();
            Setting::new(row.key, Origin::Alternative, &format!("{}={word}", param.key), &values)
        })
    })
}

/// Every scheme with its defaults, the further settings, and every alternative.
fn settings() -> impl Iterator<Item = Setting> {
    let defaults = REGISTRY.iter().map(|row| Setting::new(row.key, Origin::Defaults, "", &[]));
    let further = FURTHER.iter().map(|set| Setting::new(set.scheme, Origin::Further, set.name, set.values));
    defaults.chain(further).chain(REGISTRY.iter().flat_map(alternatives))
}

/// Times that an alternative is tried, which shares most of its code with the defaults of its scheme.
const ALTERNATIVE_ROUNDS: u64 = 2;

/// Each registered scheme in each setting, several times with a random stream of its own.
fn for_every_scheme(what: &str, rounds: u64, test: impl Fn(&dyn Scheme, &mut Stream)) {
    for setting in settings() {
        let row = REGISTRY.iter().find(|row| row.key == setting.scheme).expect("a registered scheme");
        let params = setting.values.iter().fold(Values::defaults(&[row.params]), |p, (key, value)| p.with(key, value));
        let rounds = if setting.origin == Origin::Alternative { ALTERNATIVE_ROUNDS } else { rounds };
        for round in 0..rounds {
            let scheme = (row.build)(&params);
            // Told apart in the output of a failing test.
            let name = format!("{what}/{}/{round}", setting.label);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                test(&*scheme, &mut Stream::named(1, &name));
            }));
            assert!(outcome.is_ok(), "{name} failed, see above");
        }
    }
}

fn flow_facts(flow: usize, bytes: Option<u64>) -> FlowFacts {
    let idle_rtt = Some(Time::from_us(150));
    FlowFacts {
        flow: FlowId::new(flow),
        bytes,
        mss: MSS,
        packet: PACKET,
        rate: RATE,
        hops: 1,
        base_rtt: Time::from_us(100),
        idle_rtt,
        paced: false,
    }
}

fn node_facts(node: usize) -> NodeFacts {
    NodeFacts { node: NodeId::new(node), rate: RATE, base_rtt: Time::from_us(100), mss: MSS, packet: PACKET }
}

/// A number below `n`, often a small one: orders of magnitude are equally likely.
fn skewed(stream: &mut Stream, n: u64) -> u64 {
    let bits = 64 - n.leading_zeros();
    let shift = stream.below(u64::from(bits));
    stream.below((n >> shift).max(1))
}

/// Bits of an in-band field: none, a few, or any.
fn field(stream: &mut Stream) -> u64 {
    match stream.below(4) {
        0 => 0,
        1 => stream.below(100_000),
        2 => u64::MAX,
        _ => stream.bits(),
    }
}
