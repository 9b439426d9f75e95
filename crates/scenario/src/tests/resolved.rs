//! Reading whole scenarios, overrides, and the canonical form.

use super::{WHOLE, parse, parse_with};
use fanin_core::units::{Bytes, Rate, Size, Time};
use fanin_param::{Kind, Param, Values, Window};
use serde_json::{Value as Json, json};

const SMALL: &str = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 3\n";

#[test]
fn written_values_and_defaults() {
    let scenario = parse(WHOLE).unwrap();
    assert_eq!((scenario.network.kind, scenario.queue.kind, scenario.scheme_key()), ("star", "drop-tail", "dctcp"));
    let network = &scenario.network.values;
    assert_eq!(network.rate("rate"), Rate::from_bps(10_000_000_000));
    assert_eq!(network.size("buffer"), Size::Bytes(150_000));
    assert_eq!((network.time("delay"), network.is_default("delay")), (Time::from_us(25), true));
    assert!(!network.is_default("rate"));
    assert_eq!(network.number("dt-alpha").to_string(), "1");
    assert_eq!(scenario.transport.bytes("mss"), Bytes::new(1460));
    assert_eq!(scenario.transport.window("initial-window"), Window::Segments(10));
    assert!(scenario.transport.flag("sack") && scenario.transport.flag("idle-restart"));
    assert_eq!(scenario.transport.choice("window-scale"), "auto");
    assert_eq!(scenario.scheme("dctcp").size("mark-threshold"), Size::Packets(65));
    assert_eq!(scenario.run.integer("seed"), 7);
    assert_eq!(scenario.control.number("loss").to_string(), "0.01");
    let [bursts, second] = scenario.traffic.as_slice() else { panic!("two groups") };
    assert_eq!((bursts.name.as_str(), bursts.kind, bursts.scheme), ("bursts", "incast", None));
    assert_eq!((second.name.as_str(), second.scheme), ("incast", Some("newreno")));
    assert_eq!(bursts.values.integer("senders"), 49);
}

#[test]
fn a_small_file_is_enough() {
    let scenario = parse(SMALL).unwrap();
    assert_eq!((scenario.queue.kind, scenario.scheme_key()), ("auto", "newreno"));
    assert_eq!(scenario.run.time("duration"), Time::from_secs(30));
    assert!(scenario.queue.values.is_default("kind"));
    assert_eq!(parse(&SMALL.replace('\n', "\r\n")).unwrap().resolved(), scenario.resolved());
}

#[test]
fn overrides_apply_before_the_checks() {
    let no_senders = SMALL.replace("senders = 3\n", "");
    let scenario = parse_with(&no_senders, &[("traffic.incast.senders", "10")]).unwrap();
    assert_eq!(scenario.traffic[0].values.integer("senders"), 10);
    assert!(!scenario.traffic[0].values.is_default("senders"));
    let scenario = parse_with("[[traffic]]\nkind = \"incast\"\nsenders = 1", &[("network.topology", "star")]).unwrap();
    assert_eq!(scenario.network.kind, "star");
}

#[test]
fn another_seed_is_as_if_it_had_been_written() {
    for text in [SMALL, WHOLE] {
        for seed in [7, u64::MAX] {
            let written = parse_with(text, &[("run.seed", &seed.to_string())]).unwrap();
            assert_eq!(parse(text).unwrap().with_seed(seed).resolved(), written.resolved());
        }
    }
}

#[test]
fn overrides_of_every_form() {
    let overrides = [
        ("transport.scheme", "newreno"),
        ("transport.rto-min", "1ms"),
        ("transport.ack-delay", "\"2ms\""),
        ("transport.sack", "false"),
        ("scheme.dctcp.mark-threshold", "5pkt"),
        ("queue.kind", "auto"),
        ("measure.probes", "cwnd,srtt"),
        ("transport.window-scale", "7"),
        ("control.loss", "0.25"),
        ("network.delay", "5us"),
        ("network.delay", "6us"),
        ("traffic.bursts.name", "renamed"),
        ("traffic.renamed.scheme", "dctcp"),
        ("run", "{seed = 1_000}"),
    ];
    let scenario = parse_with(WHOLE, &overrides).unwrap();
    assert_eq!((scenario.scheme_key(), scenario.queue.kind), ("newreno", "auto"));
    assert_eq!(scenario.transport.time("rto-min"), Time::from_ms(1));
    assert_eq!(scenario.transport.time("ack-delay"), Time::from_ms(2));
    assert!(!scenario.transport.flag("sack"));
    assert_eq!(scenario.scheme("dctcp").size("mark-threshold"), Size::Packets(5));
    assert_eq!(scenario.measure.text("probes"), "cwnd,srtt");
    assert_eq!(scenario.transport.choice("window-scale"), "7");
    assert_eq!(scenario.network.values.time("delay"), Time::from_us(6));
    assert_eq!((scenario.traffic[0].name.as_str(), scenario.traffic[0].scheme), ("renamed", Some("dctcp")));
    assert_eq!((scenario.run.integer("seed"), scenario.run.time("duration")), (1000, Time::from_secs(30)));
}

#[test]
fn a_group_named_by_its_kind_keeps_the_name_when_the_kind_changes() {
    let scenario = parse_with(SMALL, &[("traffic.incast.kind", "incast"), ("traffic.incast.senders", "4")]).unwrap();
    assert_eq!((scenario.traffic[0].name.as_str(), scenario.traffic[0].values.integer("senders")), ("incast", 4));
}

#[test]
fn resolved_is_the_same_however_the_file_is_written() {
    let rewritten = r#"
        run = { seed = 7, duration = "1500ms" }
        [measure]
        queues = "all"
        [[traffic]]
        senders = 0x31
        kind = "incast"
        name = "bursts"
        scheme = "dctcp"
        [[traffic]]
        scheme = "newreno"
        kind = "incast"
        senders = 2
        [transport]
        rto-max = "60s"
        sack = true
        rto-min = "0.01s"
        scheme = "dctcp"
        [scheme]
        dctcp.mark-threshold = "65 pkt"
        [control]
        loss = 0.01
        [network]
        buffer = "0.15MB"
        rate = "1.25GB/s"
        topology = "star"
        [queue]
        kind = "drop-tail"
    "#;
    let (one, two) = (parse(WHOLE).unwrap().resolved(), parse(rewritten).unwrap().resolved());
    assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&two).unwrap());
    assert_eq!(one["network"]["rate"], json!("10Gbps"));
    assert_eq!(one["run"], json!({"duration": "1500ms", "seed": 7, "backend": "simulator", "steady-limit": "60s"}));
    assert_eq!(one["traffic"][1]["scheme"], json!("newreno"));
    assert_eq!(one["scheme"].as_object().unwrap().keys().collect::<Vec<_>>(), ["newreno", "dctcp"]);
}

#[test]
fn resolved_leaves_out_schemes_that_nobody_uses() {
    let unused = format!("{SMALL}[scheme.dctcp]\nmark-threshold = \"9pkt\"\n");
    assert_eq!(parse(&unused).unwrap().resolved(), parse(SMALL).unwrap().resolved());
}

#[test]
fn a_scheme_brings_transport_defaults_of_its_own() {
    let linux = format!("{SMALL}[transport]\nscheme = \"linux\"\nack-delay = \"1ms\"\n");
    let scenario = parse(&linux).unwrap();
    let transport = &scenario.transport;
    assert!(transport.flag("sack") && transport.is_default("sack"));
    assert_eq!((transport.integer("ack-every"), transport.choice("loss-detection")), (2, "linux"));
    assert_eq!(transport.time("ack-delay"), Time::from_ms(1), "what is written stands");
    let rows = scenario.resolved_table();
    let row = |path: &str| rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no {path}"));
    assert!(row("transport.sack").source.contains("linux") && row("transport.sack").is_default());
    assert!(!row("transport.ack-delay").source.contains("linux"));
    assert!(!row("transport.duplicate-ack-threshold").source.contains("linux"));
}

#[test]
fn receiver_driven_schemes_bring_what_their_schedulers_build_on() {
    for (scheme, segments) in [("rcc", 1), ("rcce", 1), ("ictcp", 2), ("sab", 1)] {
        let scenario = parse(&format!("{SMALL}[transport]\nscheme = \"{scheme}\"\nack-every = 2\n")).unwrap();
        assert_eq!(scenario.transport.window("initial-window"), Window::Segments(segments));
        assert_eq!(scenario.transport.integer("ack-every"), 2, "what is written stands");
        let rows = scenario.resolved_table();
        let row = rows.iter().find(|row| row.path == "transport.initial-window").unwrap();
        assert!(row.is_default() && row.source.contains(scheme), "{}", row.source);
    }
}

/// A group of Linux hosts among others.
const MIXED: &str = "[network]\ntopology = \"star\"\n[transport]\nack-delay = \"1ms\"\n[[traffic]]\nkind = \"incast\"\n\
                     senders = 3\nscheme = \"linux\"\n[[traffic]]\nname = \"other\"\nkind = \"incast\"\nsenders = 3\n";

#[test]
fn groups_of_different_schemes_have_transport_defaults_of_their_own() {
    let scenario = parse(MIXED).unwrap();
    assert!(!scenario.transport.flag("sack") && !scenario.transport_of("newreno").flag("sack"));
    assert!(scenario.transport_of("linux").flag("sack"));
    assert_eq!(scenario.transport_of("linux").time("ack-delay"), Time::from_ms(1));
    let rows = scenario.resolved_table();
    let values = |path: &str| -> Vec<_> {
        rows.iter().filter(|row| row.path == path).map(|row| (row.scheme, row.value.as_str())).collect()
    };
    assert_eq!(values("transport.sack"), [(Some("newreno"), "false"), (Some("linux"), "true")]);
    assert_eq!(values("transport.ack-delay"), [(None, "1ms")]);
    assert_eq!(scenario.resolved()["transport"].get("sack"), None, "it cannot be written for each");
    let of_linux = scenario.resolved_as(Some("linux"), &|value| value.into());
    assert_eq!((&of_linux["transport"]["sack"], of_linux["transport"].get("mtu")), (&Json::Bool(true), None));
    assert_eq!(of_linux["traffic"], scenario.resolved()["traffic"]);
}

#[test]
fn resolved_is_itself_a_scenario() {
    for text in [WHOLE, SMALL, MIXED] {
        let resolved = parse(text).unwrap().resolved();
        let again = parse(&toml::to_string(&resolved).unwrap()).unwrap();
        assert_eq!(again.resolved(), resolved);
    }
}

#[test]
fn the_table_lists_what_resolved_does() {
    let scenario = parse(WHOLE).unwrap();
    let rows = scenario.resolved_table();
    let row = |path: &str| rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no {path}"));
    let short = |path| (row(path).value.as_str(), row(path).is_default());
    assert_eq!(short("network.rate"), ("10Gbps", false));
    assert_eq!(short("network.delay"), ("25us", true));
    assert_eq!(short("traffic.bursts.scheme"), ("dctcp", true));
    assert_eq!(short("traffic.incast.scheme"), ("newreno", false));
    assert_eq!(short("scheme.dctcp.mark-threshold"), ("65pkt", false));
    assert_eq!(row("transport.rto-initial").source, "RFC 6298, section 2.1");
    assert!(row("transport.mss").doc.starts_with("Maximum segment size"));
    // The names of the groups are in the paths, so only they have no row; the environment has one, and is in the other as its
    // stack and its switch, as the MTU is as the segments.
    assert_eq!(rows.len(), leaves(&scenario.resolved()) - scenario.traffic.len() + 2);
    assert_eq!(short("transport.mtu"), ("1500B", true));
    let known = |path| (row(path).quantity, row(path).set_at.as_deref());
    assert_eq!(known("network.rate"), (Some((1e10, "bit/s")), Some("s.toml:6")));
    assert_eq!(known("network.delay"), (Some((25e-6, "s")), None));
    assert_eq!(known("scheme.dctcp.mark-threshold"), (Some((65.0, "pkt")), Some("s.toml:18")));
    assert_eq!(known("control.loss"), (Some((0.01, "")), Some("s.toml:31")));
    assert_eq!(known("traffic.incast.scheme"), (None, Some("s.toml:28")));
    assert_eq!(known("queue.kind"), (None, Some("s.toml:10")));
    assert_eq!(short("environment"), ("rfc", true));
}

fn leaves(value: &Json) -> usize {
    match value {
        Json::Object(map) => map.values().map(leaves).sum(),
        Json::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

const DECLARED: &[Param] = &[
    Param::new("interval", Kind::Time, "1ms", "", ""),
    Param::new("gain", Kind::Fraction, "1/16", "", ""),
    Param::new("count", Kind::Integer, "", "", ""),
];

#[test]
fn params_for_tests() {
    let values = Values::defaults(&[DECLARED]).with("count", "5").with("gain", "50%");
    assert_eq!((values.integer("count"), values.number("gain").to_string()), (5, "0.5".into()));
    assert_eq!((values.time("interval"), values.is_default("interval")), (Time::from_ms(1), true));
    assert!(!values.is_default("count"));
}

#[test]
#[should_panic(expected = "params.count is required and was not given")]
fn required_keys_have_no_default() {
    Values::defaults(&[DECLARED]).integer("count");
}

#[test]
#[should_panic(expected = "params.nothing is not a declared key")]
fn undeclared_keys_are_a_programmers_error() {
    Values::defaults(&[DECLARED]).time("nothing");
}

#[test]
#[should_panic(expected = "gain is not a time; it holds Number(0.0625)")]
fn mistyped_keys_are_a_programmers_error() {
    Values::defaults(&[DECLARED]).time("gain");
}

#[test]
fn the_table_marks_values_that_another_one_takes_the_effect_of() {
    let without_effect = |text: &str| -> Vec<String> {
        let rows = parse(text).unwrap().resolved_table().into_iter();
        rows.filter(|row| row.ignored_with.is_some()).map(|row| row.path).collect()
    };
    let pfc = ["network.pfc-headroom", "network.pfc-xoff", "network.pfc-xon"];
    assert_eq!(without_effect(SMALL), [&["network.shared-buffer", "network.dt-alpha"][..], &pfc].concat());
    let shared = SMALL.replacen("[network]", "[network]\nadmission = \"dynamic-threshold\"", 1);
    assert_eq!(without_effect(&shared), [&["network.buffer", "network.buffer-full"][..], &pfc].concat());
}
