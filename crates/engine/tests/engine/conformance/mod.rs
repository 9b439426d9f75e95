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

/// Each registered scheme with its defaults, several times with a random stream of its own.
fn for_every_scheme(what: &str, rounds: u64, test: impl Fn(&dyn Scheme, &mut Stream)) {
    for row in REGISTRY {
        for round in 0..rounds {
            let scheme = (row.build)(&Params::defaults(&[row.params]));
            // Told apart in the output of a failing test.
            let name = format!("{what}/{}/{round}", row.key);
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
