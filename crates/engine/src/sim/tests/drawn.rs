//! Random scenarios of everything that the registries know: each topology, traffic pattern and fault, with values for
//! its keys that follow from their declarations. A new row is drawn without a line here.

use super::bench::{both, network as built};
use super::random::{check, queue, transport};
use crate::sim::build::Substitutes;
use fanin_network::fault;
use fanin_network::topology::{self, TopologyRow};
use fanin_network::traffic::{self, TrafficRow};
use fanin_param::{Kind, Param, SpecError};
use fanin_scenario::common::NETWORK;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Values of a key, small enough for a short run, as a scenario file has them.
fn values(param: &Param) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect();
    let numbers = |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect();
    match (param.key, param.kind) {
        // Whatever has no end must be told one, and all hosts must fit.
        ("stop", _) => words(&["9ms", "2ms"]),
        ("count", _) => numbers(&[12, 1, 25]),
        ("interval", _) => words(&["70us", "400us"]),
        ("rounds" | "concurrent", _) => numbers(&[1, 2, 3]),
        ("sender-hosts", _) => numbers(&[9, 12]),
        ("receiver", _) => numbers(&[0, 1]),
        ("segments" | "copies", _) => words(&["1..40", "1", "2,4..5"]),
        ("cables", _) => words(&[
            "8 hosts - left, 8 hosts - right, left - right 2Gbps",
            "6 hosts - a-0..2, a-0 - a-1, a-1 - a-2 10us, a-2 - a-0",
            "9 hosts - leaf-0..1, leaf-0..1 - spine-0..1, leaf-0 - spine-0",
        ]),
        (_, Kind::Bool) => vec!["true".to_owned(), "false".to_owned()],
        (_, Kind::Choice(choices)) => words(choices),
        (_, Kind::Time) => words(&["0s", "3us", "50us", "1ms"]),
        (_, Kind::Start) => words(&["0s", "50us", "1ms", "steady"]),
        (_, Kind::Bytes) => words(&["9KB", "0B", "300B", "60KB"]),
        (_, Kind::Size) => words(&["6pkt", "30pkt", "12KB", "60KB"]),
        (_, Kind::Window) => words(&["2mss", "9KB"]),
        (_, Kind::Rate) => words(&["50Mbps", "100Mbps", "1Gbps", "10Gbps"]),
        (_, Kind::Sizes) => words(&["50KB", "2KB 70%, 90KB 30%", "cdf 1KB 0%, 9KB 50%, 170KB 100%"]),
        (_, Kind::Fraction) => words(&["30%", "0%", "2%"]),
        (_, Kind::Number) => ["0.5", "1", "3"].map(str::to_owned).to_vec(),
        (_, Kind::Integer) => numbers(&[4, 1, 2, 9]),
        (_, Kind::Text) => words(&["text"]),
    }
}

/// Keys that are nearly always given, besides those without a default: without them a pattern would not end soon, or not
/// begin, and a fault would choose one packet.
const GIVEN: [&str; 5] = ["stop", "count", "interval", "bytes-each", "segments"];

/// Lines for the keys of a row: those that must be given, and some of the others.
fn lines(params: &'static [Param]) -> impl Strategy<Value = String> {
    // A fault's links are drawn from those of the network.
    let params = params.iter().filter(|param| param.key != fault::LINK_KEY);
    let line = |param: &'static Param| {
        let key = param.key;
        let given = select(values(param)).prop_map(move |value| format!("{key} = {value}\n"));
        let often = if param.default.is_empty() {
            20
        } else if GIVEN.contains(&key) {
            16
        } else {
            4
        };
        prop_oneof![often => given, 20 - often => Just(String::new())]
    };
    params.map(line).collect::<Vec<_>>().prop_map(|lines| lines.concat())
}

fn network() -> impl Strategy<Value = String> {
    let topology = select((0..topology::REGISTRY.len()).collect::<Vec<_>>()).prop_flat_map(|row| {
        let TopologyRow { key, params, .. } = &topology::REGISTRY[row];
        lines(params).prop_map(move |lines| format!("topology = \"{key}\"\n{lines}"))
    });
    let ties = NETWORK.iter().find(|param| param.key == "ties").expect("a key of every network");
    let common =
        (select(values(ties)), select(vec!["0s", "1us", "33us", "1ms"]), select(vec!["5pkt", "30pkt", "20KB"]));
    (topology, common).prop_map(|(topology, (ties, delay, buffer))| {
        format!("{topology}ties = {ties}\ndelay = \"{delay}\"\nbuffer = \"{buffer}\"\n")
    })
}

fn traffic() -> impl Strategy<Value = String> {
    let group = select((0..traffic::REGISTRY.len()).collect::<Vec<_>>()).prop_flat_map(|row| {
        let TrafficRow { key, params, .. } = &traffic::REGISTRY[row];
        let hosts = prop_oneof![2 => Just(""), 1 => Just("from = \"all\"\nto = \"all\"\n")];
        (lines(params), hosts).prop_map(move |(lines, hosts)| format!("kind = \"{key}\"\n{lines}{hosts}"))
    });
    proptest::collection::vec(group, 1..4).prop_map(|groups| {
        let table = |(i, group)| format!("[[traffic]]\nname = \"g{i}\"\n{group}");
        groups.into_iter().enumerate().map(table).collect()
    })
}

/// Whether a fault is one of links, its lines but for the link, and a number to choose the link by.
type DrawnFault = (bool, String, usize);

fn faults() -> impl Strategy<Value = Vec<DrawnFault>> {
    let fault = select((0..fault::REGISTRY.len()).collect::<Vec<_>>()).prop_flat_map(|row| {
        let row = &fault::REGISTRY[row];
        let of_links = row.params.iter().any(|param| param.key == fault::LINK_KEY);
        (lines(row.params), 0_u32..3000, 1_u32..4000, any::<u16>()).prop_map(move |(lines, at, lasts, link)| {
            (of_links, format!("kind = \"{}\"\n{lines}at = \"{at}us\"\nfor = \"{lasts}us\"\n", row.key), link.into())
        })
    });
    proptest::collection::vec(fault, 0..3)
}

/// The tables of faults, with their links by name.
fn with_links(faults: Vec<DrawnFault>, links: &[String]) -> String {
    let table = |(i, (of_links, lines, link)): (usize, DrawnFault)| {
        // Half of them at the bottleneck, where most packets are.
        let name = if link.is_multiple_of(2) { "bottleneck" } else { links[link / 2 % links.len()].as_str() };
        let link = if of_links { format!("{} = \"{name}\"\n", fault::LINK_KEY) } else { String::new() };
        format!("[[fault]]\nname = \"f{i}\"\n{lines}{link}")
    };
    faults.into_iter().enumerate().map(table).collect()
}

/// The text of a scenario without faults, and its faults.
fn scenario() -> impl Strategy<Value = (String, Vec<DrawnFault>)> {
    // Long enough for what runs before to be found steady, and no longer: some of it has no end.
    (network(), queue(), transport(), traffic(), 0_u64..1000, faults()).prop_map(
        |(network, queue, transport, traffic, seed, faults)| {
            let text = format!(
                "[network]\n{network}[queue]\n{queue}[transport]\n{transport}{traffic}[measure]\nqueues = \"all\"\n\
                 bin = \"1ms\"\n[run]\nduration = \"40ms\"\nsteady-limit = \"200ms\"\nseed = {seed}\n"
            );
            (text, faults)
        },
    )
}

/// The text with its faults, or why it is refused: not every value fits every other.
fn whole((text, faults): (String, Vec<DrawnFault>)) -> Result<String, SpecError> {
    let links = built(&text)?.topology.link_names();
    let text = format!("{text}{}", with_links(faults, &links));
    built(&text).map(|_| text)
}

/// Lines for the keys of a row that are nearly always given, each with its first value; then the same without one of
/// them, because some exclude each other.
pub(super) fn typical(params: &'static [Param]) -> impl Iterator<Item = String> {
    std::iter::once("").chain(GIVEN).map(|without| {
        let given = |param: &&Param| param.default.is_empty() || GIVEN.contains(&param.key) && param.key != without;
        let line = |param: &Param| format!("{} = {}\n", param.key, values(param)[0]);
        params.iter().filter(given).map(line).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_rows_together(drawn in scenario()) {
        let text = whole(drawn).map_err(|error| TestCaseError::reject(error.to_string()))?;
        let outcome = both(&text, &Substitutes::default).map_err(TestCaseError::fail)?;
        check(&text, &outcome, None)?;
    }
}

#[test]
fn every_row_is_drawn_and_accepted() {
    let [topologies, patterns, faults] = [
        topology::REGISTRY.iter().map(|row| row.key).collect::<Vec<_>>(),
        traffic::REGISTRY.iter().map(|row| row.key).collect(),
        fault::REGISTRY.iter().map(|row| row.key).collect(),
    ];
    let mut open = [topologies, patterns, faults].concat();
    let mut runner = TestRunner::deterministic();
    for _ in 0..2000 {
        let drawn = scenario().new_tree(&mut runner).expect("nothing is filtered").current();
        if let Ok(text) = whole(drawn) {
            open.retain(|key| !text.contains(&format!(" = \"{key}\"\n")));
        }
    }
    assert!(open.is_empty(), "never accepted: {open:?}");
}
