//! Thresholds that the ports of one tier of cables have of their own.

use crate::outcome::run;
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::Outcome;

/// An incast whose queue is at the trunk, which is slower than all other cables.
fn over_trunk(scheme: &str, tables: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\nbuffer = \"400pkt\"\n[transport]\n\
         scheme = \"{scheme}\"\n{tables}\n[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"20KB\"\n[run]\n\
         duration = \"1s\"\n"
    ))
}

#[test]
fn every_threshold_of_a_queue_may_be_that_of_a_tier_alone() {
    for (kind, keys) in [
        ("ecn-threshold", &[("threshold", "\"900pkt\"", "\"9pkt\"")][..]),
        ("strict-priority", &[("threshold", "\"900pkt\"", "\"9pkt\"")]),
        ("drr", &[("threshold", "\"900pkt\"", "\"9pkt\"")]),
        ("double-threshold", &[("start", "\"900pkt\"", "\"9pkt\""), ("stop", "\"900pkt\"", "\"9pkt\"")]),
        ("red", &[("red-min", "900", "9"), ("red-max", "950", "20")]),
        ("wred", &[("wred-min", "\"900KB\"", "\"9KB\""), ("wred-max", "\"950KB\"", "\"20KB\"")]),
    ] {
        let lines = |tier: &str, low: bool| {
            let line =
                |(key, high, own): &(&str, &str, &str)| format!("{tier}{key} = {}\n", if low { own } else { high });
            keys.iter().map(line).collect::<Vec<_>>().concat()
        };
        let table = format!("[queue]\nkind = \"{kind}\"\n{}", if kind == "red" { "red-weight = 1\n" } else { "" });
        let high = over_trunk("dctcp", &format!("{table}{}", lines("", false)));
        let tier = over_trunk("dctcp", &format!("{table}{}{}", lines("", false), lines("trunk-", true)));
        let all = over_trunk("dctcp", &format!("{table}{}", lines("", true)));
        assert_eq!(high.number("marks"), 0.0, "{kind}");
        assert!(tier.number("marks") > 0.0, "{kind}");
        assert_eq!(tier.hash(), all.hash(), "{kind}: only the trunk has a queue");
    }
}

#[test]
fn the_threshold_of_a_scheme_may_be_that_of_a_tier_alone() {
    for scheme in ["dctcp", "d2tcp", "l2dct", "linux-dctcp", "rcc"] {
        let marks = |keys: &str| over_trunk(scheme, &format!("[scheme.{scheme}]\n{keys}\n")).number("marks");
        assert_eq!(marks("mark-threshold = \"900pkt\""), 0.0, "{scheme}");
        assert!(marks("mark-threshold = \"900pkt\"\ntrunk-mark-threshold = \"2pkt\"") > 0.0, "{scheme}");
    }
}

const FABRIC: &str = "[network]\ntopology = \"leaf-spine\"\n[transport]\nscheme = \"dctcp\"\n\
                      [[traffic]]\nkind = \"incast\"\nsenders = 3\n";

fn with(pairs: &[(&str, &str)]) -> Result<Scenario, String> {
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::parse(FABRIC, "f.toml", &pairs).map_err(|error| error.to_string())
}

#[test]
fn a_tier_of_the_canonical_form_is_there_if_it_was_written() {
    let key = "scheme.dctcp.uplink-mark-threshold";
    let (plain, own) = (with(&[]).unwrap().resolved(), with(&[(key, "65pkt")]).unwrap());
    assert_eq!(plain["scheme"]["dctcp"].get("uplink-mark-threshold"), None);
    assert_eq!(own.resolved()["scheme"]["dctcp"]["uplink-mark-threshold"], "65pkt");
    let again = Scenario::parse(&toml::to_string(&own.resolved()).unwrap(), "again.toml", &[]).unwrap();
    assert_eq!(again.resolved(), own.resolved());
    let rows = own.resolved_table();
    let row = rows.iter().find(|row| row.path == key).expect("it is listed");
    assert_eq!((row.value.as_str(), row.is_default()), ("65pkt", false));
}

#[test]
fn a_tier_that_is_not_there_and_a_misspelt_or_wrong_value_are_refused() {
    let refused = |pairs: &[(&str, &str)]| with(pairs).err().unwrap_or_else(|| panic!("{pairs:?} is accepted"));
    let found = refused(&[("scheme.dctcp.core-mark-threshold", "65pkt")]);
    assert!(
        found.contains("scheme.dctcp.core-mark-threshold: the topology leaf-spine has no cables of core-rate"),
        "{found}"
    );
    let found = refused(&[("scheme.dctcp.uplink-mark-treshold", "65pkt")]);
    assert!(found.contains("unknown key") && found.contains("uplink-mark-threshold"), "{found}");
    assert!(refused(&[("scheme.dctcp.uplink-mark-threshold", "65ms")]).contains("uplink-mark-threshold"));
    // A key whose value no port reads has no tiers.
    assert!(refused(&[("scheme.dctcp.uplink-g", "0.1")]).contains("unknown key"));
    assert!(refused(&[("queue.uplink-threshold", "65pkt")]).contains("is a key of"), "queue.kind is auto");
    let wred = [("queue.kind", "wred"), ("queue.uplink-wred-min", "900pkt")];
    assert!(
        refused(&wred).contains("queue.wred-max: must be at least wred-min, which is 900pkt"),
        "{}",
        refused(&wred)
    );
    let mixed = [("queue.kind", "wred"), ("queue.wred-min", "90KB")];
    assert!(refused(&mixed).contains("give both in bytes, or both in packets"), "{}", refused(&mixed));
}

/// Two bottlenecks: Alizadeh et al. 2010, section 4.1 and Fig. 17, and ns-3's dctcp-example, with thresholds of 20 packets
/// at 1 Gbit/s and 65 at 10 Gbit/s. The senders of the first group cross both. The paper and ns-3 have 46, 475 and 54
/// Mbit/s for a sender of each group, within 10 % of the fair shares.
#[test]
fn two_bottlenecks_of_different_rates_give_each_sender_its_share() {
    let outcome = run(
        "[network]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts-per-leaf = 31\nrate = \"1Gbps\"\n\
         uplink-rate = \"10Gbps\"\ndelay = \"10us\"\nbuffer = \"1MB\"\nhost-jitter = \"1us\"\n[transport]\nscheme = \"dctcp\"\n\
         rto-min = \"10ms\"\n[scheme.dctcp]\nmark-threshold = \"20pkt\"\nuplink-mark-threshold = \"65pkt\"\n\
         [[traffic]]\nname = \"both\"\nkind = \"background\"\nflows = 10\nfrom = \"host-0..9\"\nto = \"host-31\"\njitter = \"1ms\"\n\
         [[traffic]]\nname = \"trunk\"\nkind = \"background\"\nflows = 20\nfrom = \"host-10..29\"\nto = \"host-42..61\"\njitter = \"1ms\"\n\
         [[traffic]]\nname = \"last\"\nkind = \"background\"\nflows = 10\nfrom = \"host-32..41\"\nto = \"host-31\"\njitter = \"1ms\"\n\
         [measure]\nwarmup = \"300ms\"\n[run]\nduration = \"1s\"\n",
    );
    for (name, flows, wanted) in [("both", 10.0, 46.0), ("trunk", 20.0, 475.0), ("last", 10.0, 54.0)] {
        let groups = outcome.summary["groups"].as_array().expect("a list");
        let group = groups.iter().find(|group| group["group"] == name).expect("it is a group");
        let found = group["goodput_bps"].as_f64().expect("a rate") / 1e6 / flows;
        assert!((found / wanted - 1.0).abs() < 0.1, "{found} Mbit/s for a sender of {name}, not {wanted}");
    }
}
