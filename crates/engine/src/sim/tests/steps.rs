//! A run in steps is the run, and what changes in between changes both event cores alike.

use super::bench::{difference, scenario};
use super::random::{queue, transport};
use crate::sim::{Outcome, Simulation, run};
use fanin_core::rng::Stream;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::core::Core;
use fanin_event::reference_core::ReferenceCore;
use fanin_measure::table::Data;
use fanin_scenario::Scenario;
use proptest::prelude::*;

/// Queues that mark and lose, and a fault that never begins by itself.
fn text(queue: &str, transport: &str) -> String {
    format!(
        "[network]\ntopology = \"two-switch\"\ndelay = \"10us\"\nbuffer = \"30pkt\"\n[queue]\n{queue}\n[transport]\n\
         {transport}\n[[traffic]]\nkind = \"background\"\nflows = 2\n[[traffic]]\nname = \"reads\"\nkind = \"incast\"\n\
         senders = 9\nbytes-each = \"60KB\"\n[[fault]]\nkind = \"link-down\"\nname = \"cut\"\nat = \"1s\"\n[[fault]]\n\
         kind = \"rate\"\nname = \"slow\"\nat = \"1s\"\n[run]\nduration = \"60ms\"\n"
    )
}

const DCTCP: &str = "scheme = \"dctcp\"\nrto-min = \"2ms\"";

/// Steps of drawn lengths, with what `between` does after each.
fn stepped<C: EventCore>(
    scenario: &Scenario,
    seed: u64,
    mut between: impl FnMut(&mut Simulation<C>, &mut Stream),
) -> Result<Outcome, String> {
    let mut lengths = Stream::named(seed, "steps");
    let mut simulation = Simulation::<C>::start(scenario).map_err(|error| error.to_string())?;
    for _ in 0..60 {
        let until = simulation.now() + lengths.uniform_time(Time::from_us(700));
        simulation.advance(until, None).map_err(|error| error.to_string())?;
        assert!(simulation.is_done() || simulation.now() == until);
        between(&mut simulation, &mut lengths);
    }
    simulation.end(None).map_err(|error| error.to_string())
}

fn observe<C: EventCore>(simulation: &mut Simulation<C>, _: &mut Stream) {
    simulation.observe();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn steps_of_any_length_and_looks_in_between_change_nothing(
        queue in queue(), transport in transport(), seed in any::<u64>()
    ) {
        let scenario = scenario(&text(&queue, &transport));
        match (run(&scenario, None), stepped::<Core>(&scenario, seed, observe)) {
            (Ok(whole), Ok(pieces)) => prop_assert_eq!(difference(&whole, &pieces), None),
            (Err(whole), Err(pieces)) => prop_assert_eq!(whole.to_string(), pieces),
            (whole, pieces) => prop_assert!(false, "{:?} {:?}", whole.err(), pieces.err()),
        }
    }
}

/// Sets something that is drawn.
fn change<C: EventCore>(simulation: &mut Simulation<C>, draw: &mut Stream, texts: [&str; 2]) {
    let settable = simulation.settable().to_vec();
    let path = &settable[draw.below(settable.len() as u64) as usize];
    if path.starts_with("fault.") {
        return simulation.switch_fault(path, draw.unit() < 0.3).expect("there is one");
    }
    let value = match (path.ends_with("threshold"), draw.unit() < 0.3) {
        (true, true) => format!("{}KB", 1 + draw.below(40)),
        (true, false) => format!("{}pkt", 1 + draw.below(40)),
        (false, _) if path.ends_with("rto-min") => format!("{}us", 500 + draw.below(5000)),
        (false, _) => format!("{}mss", 1 + draw.below(20)),
    };
    let changed = Scenario::parse(&text(texts[0], texts[1]), "test.toml", &[(path.clone(), value)]).expect("is valid");
    simulation.set(path, &changed).expect("it can change");
}

#[test]
fn both_cores_agree_whatever_changes_during_the_run() {
    let queues = [
        "kind = \"auto\"",
        "kind = \"ecn-threshold\"\nmark-at = \"dequeue\"",
        "kind = \"strict-priority\"\nthreshold = \"9pkt\"",
    ];
    for (i, queue) in queues.iter().enumerate() {
        for seed in 0..20 {
            let texts = [*queue, DCTCP];
            let scenario = scenario(&text(queue, DCTCP));
            let fast = stepped::<Core>(&scenario, seed, |simulation, draw| change(simulation, draw, texts));
            let simple = stepped::<ReferenceCore>(&scenario, seed, |simulation, draw| change(simulation, draw, texts));
            let (fast, simple) = (fast.expect("runs"), simple.expect("runs"));
            assert_eq!(difference(&fast, &simple), None, "queue {i}, seed {seed}");
            assert_ne!(fast.hash(), run(&scenario, None).expect("runs").hash());
        }
    }
}

fn sum(data: &Data) -> f64 {
    if let Data::F64(values) = data { values.iter().sum() } else { f64::NAN }
}

#[test]
fn what_observations_tell_adds_up_to_the_totals() {
    let scenario = scenario(&text("kind = \"auto\"", DCTCP));
    let mut sums = std::collections::BTreeMap::new();
    let mut simulation = Simulation::<Core>::start(&scenario).expect("makes sense");
    let mut longest = 0.0_f64;
    while !simulation.is_done() {
        simulation.advance(simulation.now() + Time::from_us(300), None).expect("runs");
        for (name, data) in simulation.observe().columns {
            *sums.entry(name).or_insert(0.0) += sum(&data);
            if let (true, Data::F64(values)) = (name == "queue_packets", &data) {
                longest = values.iter().copied().fold(longest, f64::max);
            }
        }
    }
    let outcome = simulation.end(None).expect("runs");
    for total in ["drops", "marks"] {
        assert!(sums[total] > 9.0);
        assert_eq!(sums[total], outcome.number(total), "{total}");
    }
    let flows = outcome.table("flows").expect("flows").column("delivered_bytes").expect("a column");
    let Data::U64(delivered) = &flows.data else { panic!("{flows:?}") };
    assert_eq!(sums["delivered_bytes"], delivered.iter().sum::<u64>() as f64);
    // Of flows that end between two observations the last bytes are missing.
    assert!(sums["flow_delivered_bytes"] < sums["delivered_bytes"]);
    assert!(sums["flow_delivered_bytes"] > 0.8 * sums["delivered_bytes"]);
    assert!(longest > 9.0 && longest <= 30.0, "{longest}");
}

#[test]
fn a_threshold_counts_from_when_it_is_set() {
    let marks = |after: u64| {
        let scenario = scenario(&text("kind = \"auto\"", DCTCP));
        let mut simulation = Simulation::<Core>::start(&scenario).expect("makes sense");
        simulation.advance(Time::from_ms(after), None).expect("runs");
        let never = [("scheme.dctcp.mark-threshold".to_owned(), "900pkt".to_owned())];
        let never = Scenario::parse(&text("kind = \"auto\"", DCTCP), "test.toml", &never).expect("is valid");
        simulation.set("scheme.dctcp.mark-threshold", &never).expect("it can change");
        simulation.end(None).expect("runs").number("marks")
    };
    assert_eq!(marks(0), 0.0);
    assert!(0.0 < marks(5) && marks(5) < marks(50), "{} {}", marks(5), marks(50));
}

#[test]
fn what_is_set_at_the_beginning_is_as_in_the_scenario() {
    let text = text("kind = \"auto\"", DCTCP);
    let plain = scenario(&text);
    let values = [("transport.initial-window", "3mss"), ("transport.rto-min", "7ms")];
    let thresholds = [("scheme.dctcp.mark-threshold", "6pkt"), ("scheme.dctcp.trunk-mark-threshold", "9KB")];
    for (path, value) in values.into_iter().chain(thresholds) {
        let changed = Scenario::parse(&text, "test.toml", &[(path.to_owned(), value.to_owned())]).expect("is valid");
        let mut simulation = Simulation::<Core>::start(&plain).expect("makes sense");
        simulation.set(path, &changed).expect("it can change");
        let (driven, whole) = (simulation.end(None).expect("runs"), run(&changed, None).expect("runs"));
        assert_eq!(difference(&driven, &whole), None, "{path}");
        assert_ne!(whole.hash(), run(&plain, None).expect("runs").hash(), "{path}");
    }
}

#[test]
fn what_cannot_change_is_refused_with_what_can() {
    let refused = |queue: &str, path: &str, value: &str| {
        let text = text(queue, DCTCP);
        let mut simulation = Simulation::<Core>::start(&scenario(&text)).expect("makes sense");
        let changed = Scenario::parse(&text, "test.toml", &[(path.to_owned(), value.to_owned())]).expect("is valid");
        simulation.set(path, &changed).expect_err("refused").to_string()
    };
    assert_eq!(
        refused("kind = \"auto\"", "network.buffer", "9pkt"),
        "--set: network.buffer: cannot change during a run; these can: transport.initial-window, transport.rto-min, \
         scheme.dctcp.mark-threshold, scheme.dctcp.trunk-mark-threshold, fault.cut, fault.slow"
    );
    assert!(!refused("kind = \"red\"", "network.buffer", "9pkt").contains("threshold"), "RED keeps an average");
    let begins = refused("kind = \"strict-priority\"", "queue.threshold", "9pkt");
    assert!(begins.contains("a queue that marks nothing cannot begin to"), "{begins}");
    let mut simulation = Simulation::<Core>::start(&scenario(&text("kind = \"auto\"", DCTCP))).expect("makes sense");
    let unknown = simulation.switch_fault("fault.cutt", true).expect_err("refused").to_string();
    assert!(unknown.contains("fault.cutt: cannot change during a run"), "{unknown}");
}
