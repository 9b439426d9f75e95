//! What every scheme must stand: random events at each of its roles, and hard scenarios in the simulator.
//!
//! Both go through the registry, so that a new scheme is tested with its row. Nothing here knows what a scheme does: only
//! that windows stay windows, that no message makes it panic, and that every finite flow completes.

mod network;
mod receiver;
mod sender;
mod stress;

use fanin_engine::ids::{FlowId, NodeId};
use fanin_engine::rng::Stream;
use fanin_engine::schemes::{FlowFacts, NodeFacts, REGISTRY, Scheme};
use fanin_engine::spec::Params;
use fanin_engine::units::{Rate, Time};

/// Payload and wire bytes of a full segment.
const MSS: u64 = 1460;
const PACKET: u64 = 1500;
const RATE: Rate = Rate::from_bps(1_000_000_000);

/// A scheme with some of its parameters changed.
struct Setting {
    scheme: &'static str,
    /// Tells it apart; empty with its defaults.
    name: &'static str,
    values: &'static [(&'static str, &'static str)],
}

impl Setting {
    /// Its name in messages.
    fn label(&self) -> String {
        let dash = if self.name.is_empty() { "" } else { "-" };
        format!("{}{dash}{}", self.scheme, self.name)
    }
}

/// Settings with roles that the defaults of their scheme leave out.
const FURTHER: &[Setting] = &[
    Setting { scheme: "rcce", name: "trees", values: &[("st-enable", "on"), ("st-when", "always")] },
    Setting { scheme: "rcce", name: "crowded", values: &[("st-enable", "on"), ("queue-max", "4")] },
    Setting { scheme: "rcce", name: "proxy", values: &[("edge-mode", "tor-proxy")] },
    Setting {
        scheme: "rcce",
        name: "blind-proxy",
        values: &[("edge-mode", "tor-proxy"), ("proxy-counts", "arrivals")],
    },
    Setting {
        scheme: "rcce",
        name: "proxy-and-trees",
        values: &[("edge-mode", "tor-proxy"), ("st-enable", "on"), ("queue-max", "4"), ("mark-at", "dequeue")],
    },
];

/// Every scheme with its defaults, and the further settings.
fn settings() -> impl Iterator<Item = Setting> {
    let defaults = REGISTRY.iter().map(|row| Setting { scheme: row.key, name: "", values: &[] });
    defaults.chain(FURTHER.iter().map(|setting| Setting { ..*setting }))
}

/// Each registered scheme in each setting, several times with a random stream of its own.
fn for_every_scheme(what: &str, rounds: u64, test: impl Fn(&dyn Scheme, &mut Stream)) {
    for setting in settings() {
        let row = REGISTRY.iter().find(|row| row.key == setting.scheme).expect("a registered scheme");
        let params = setting.values.iter().fold(Params::defaults(&[row.params]), |p, (key, value)| p.with(key, value));
        for round in 0..rounds {
            let scheme = (row.build)(&params);
            // Told apart in the output of a failing test.
            let name = format!("{what}/{}/{round}", setting.label());
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                test(&*scheme, &mut Stream::named(1, &name));
            }));
            assert!(outcome.is_ok(), "{name} failed, see above");
        }
    }
}

fn flow_facts(flow: usize, bytes: Option<u64>) -> FlowFacts {
    let idle_rtt = Some(Time::from_us(150));
    FlowFacts { flow: FlowId::new(flow), bytes, mss: MSS, packet: PACKET, rate: RATE, idle_rtt }
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
