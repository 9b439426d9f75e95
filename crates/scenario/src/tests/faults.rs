//! `[[fault]]`: reading, overriding, resolving, and mistakes.

use super::{WHOLE, parse, parse_with};
use fanin_core::units::{Rate, Time};
use fanin_network::fault::{Effect, REGISTRY};

/// The whole scenario with a fault, whose table begins at line 43.
fn with(fault: &str) -> String {
    format!("{WHOLE}\n[[fault]]\n{fault}")
}

fn error_of(fault: &str) -> String {
    parse(&with(fault)).expect_err("refused")
}

#[test]
fn faults_are_read_with_their_defaults() {
    let text =
        with("kind = \"link-down\"\nat = \"1ms\"\n[[fault]]\nname = \"slow\"\nkind = \"rate\"\nrate = \"10Mbps\"\n");
    let scenario = parse(&text).unwrap();
    let [down, slow] = scenario.faults.as_slice() else { panic!("two faults") };
    assert_eq!((down.name.as_str(), down.kind, down.values.time("at")), ("link-down", "link-down", Time::from_ms(1)));
    assert_eq!((down.values.text("link"), down.values.time("for")), ("bottleneck", Time::ZERO));
    let effect = |kind: &str, fault: &super::super::ScenarioFault| {
        (REGISTRY.iter().find(|row| row.key == kind).expect("registered").effect)(&fault.values)
    };
    assert_eq!(effect("link-down", down), Effect::Down { flush: false });
    assert_eq!((slow.name.as_str(), effect("rate", slow)), ("slow", Effect::Rate(Rate::from_bps(10_000_000))));
    assert!(parse(WHOLE).unwrap().faults.is_empty());
}

#[test]
fn overrides_call_a_fault_by_its_name() {
    let text = with("kind = \"loss\"\n");
    let scenario = parse_with(&text, &[("fault.loss.rate", "2%"), ("fault.loss.at", "3ms")]).unwrap();
    assert_eq!(scenario.faults[0].values.number("rate").to_string(), "0.02");
    let error = parse_with(&text, &[("fault.lss.rate", "2%")]).unwrap_err();
    assert_eq!(error, "--set: fault.lss: no such fault (did you mean \"loss\"?)");
    let error = parse_with(&text, &[("fault.loss.a.b", "2%")]).unwrap_err();
    assert_eq!(error, "--set: fault.loss.a.b: a fault has no tables inside");
}

#[test]
fn mistakes_name_line_and_key() {
    assert_eq!(
        error_of("kind = \"los\"\n"),
        "s.toml:44: fault.kind: must be one of link-down, loss, rate, drop, delay, mark, controller-outage, not \"los\" (did you mean \"loss\"?)"
    );
    assert_eq!(
        error_of("at = \"1ms\"\n"),
        "s.toml:43: fault.kind: is required: one of link-down, loss, rate, drop, delay, mark, controller-outage"
    );
    assert_eq!(
        error_of("kind = \"loss\"\nraet = 1\n"),
        "s.toml:45: fault.loss.raet: unknown key (did you mean \"rate\"?)"
    );
    assert_eq!(
        error_of("kind = \"loss\"\nqueued = \"drop\"\n"),
        "s.toml:45: fault.loss.queued: is a key of \"link-down\" only"
    );
    let twice = error_of("kind = \"loss\"\n[[fault]]\nkind = \"loss\"\n");
    assert_eq!(twice, "s.toml:45: fault.loss.name: two faults are called \"loss\"; give each a name of its own");
    let named = error_of("kind = \"rate\"\nname = \"slow\"\nrate = \"3bps\"\n");
    assert!(named.starts_with("s.toml:46: fault.slow.rate: at 3bps"), "{named}");
    assert_eq!(
        parse(&WHOLE.replace("[control]", "[fault]\nkind = \"loss\"\n[control]")).unwrap_err(),
        "s.toml:30: fault: is a list: write [[fault]]"
    );
}

#[test]
fn resolved_scenarios_hold_their_faults() {
    let scenario = parse(&with("kind = \"loss\"\nname = \"bad-cable\"\n")).unwrap();
    let resolved = scenario.resolved();
    assert_eq!(resolved["fault"][0]["name"], "bad-cable");
    assert_eq!(resolved["fault"][0]["rate"], 0.01);
    let table = scenario.resolved_table();
    let row = table.iter().find(|row| row.path == "fault.bad-cable.rate").expect("a row");
    assert_eq!((row.value.as_str(), row.is_default()), ("0.01", true));
    assert_eq!(parse(WHOLE).unwrap().resolved()["fault"], serde_json::json!([]));
}
