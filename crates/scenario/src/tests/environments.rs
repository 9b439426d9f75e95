//! Environments: their rows, and the precedence of defaults.

use super::{parse, parse_with};
use crate::Scenario;
use crate::common::NETWORK;
use crate::environment::{DEFAULT, REGISTRY, SHORT_NAMES, Setting, find};
use fanin_core::units::{Bytes, Time};
use fanin_network::queue;
use fanin_param::{Param, Window};
use fanin_schemes::{self as schemes, Wish};
use fanin_tcp as tcp;
use fanin_tcp::sender::{Quirks, SenderConfig};

const SMALL: &str = "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 3\n";

/// A small scenario with these values set: `network.switch=rfc scheme=rcc`; keys without a table belong to
/// `[transport]`.
fn with(written: &str) -> Scenario {
    let pairs = written.split_whitespace().map(|pair| pair.split_once('=').expect("a key and a value"));
    let path = |key: &str| match key {
        "environment" => key.to_owned(),
        _ if key.contains('.') => key.to_owned(),
        _ => format!("transport.{key}"),
    };
    let pairs: Vec<_> = pairs.map(|(key, value)| (path(key), value)).collect();
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    parse_with(SMALL, &pairs).unwrap_or_else(|error| panic!("{error}"))
}

fn source(scenario: &Scenario, path: &str) -> String {
    let rows = scenario.resolved_table();
    let row = rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no {path}"));
    assert!(row.is_default(), "{path} was written");
    row.source.to_string()
}

#[test]
fn every_setting_is_declared_valid_and_has_a_source_and_no_key_has_two() {
    let has = |params: &[Param], key: &str| params.iter().any(|param| param.key == key);
    for row in REGISTRY {
        assert!(!row.summary.is_empty() && row.manual.len() > 50, "{} explains nothing", row.key);
        let keys: Vec<_> = row.stack.iter().chain(row.switch).map(|setting| setting.key).collect();
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{}: {key} twice", row.key);
        }
        for Setting { key, source, .. } in row.stack.iter().chain(row.switch) {
            assert!(source.len() > 3, "{}: {key} has no source", row.key);
        }
        for Setting { key, .. } in row.stack {
            let known = has(tcp::PARAMS, key) || *key == "network.frame-overhead";
            assert!(known, "{}: no key transport.{key}", row.key);
        }
        for Setting { key, .. } in row.switch {
            let known = match key.split_once('.') {
                Some(("network", key)) => has(NETWORK, key) && !["rate", "delay", "switch"].contains(&key),
                Some(("queue", key)) => queue::REGISTRY.iter().any(|row| has(row.params, key)),
                _ => false,
            };
            assert!(known, "{}: {key} is no key of a switch", row.key);
        }
        // Reading a value that is not of its kind panics.
        for kind in std::iter::once("auto").chain(queue::REGISTRY.iter().map(|row| row.key)) {
            let scenario = with(&format!("environment={} queue.kind={kind} scheme=pfdct", row.key));
            tcp::check(&scenario.transport).unwrap_or_else(|error| panic!("{}: {error}", row.key));
        }
    }
}

#[test]
fn the_environment_of_a_file_that_names_none_changes_no_declared_default() {
    let row = find(DEFAULT);
    assert!(row.stack.is_empty() && row.switch.is_empty());
    let (silent, named) = (parse(SMALL).unwrap(), with("environment=rfc"));
    assert_eq!(silent.resolved(), named.resolved());
}

#[test]
fn a_sender_of_which_nothing_is_set_has_the_declared_defaults() {
    assert_eq!(SenderConfig::from(&parse(SMALL).unwrap().transport), SenderConfig::default());
}

#[test]
fn a_sender_has_the_quirks_of_the_program_that_is_named_unless_it_detects_losses_by_time() {
    let quirks = |written: &str| SenderConfig::from(&with(written).transport).quirks;
    for (program, of) in [
        ("rfc", Quirks::RFC),
        ("ns3.44", Quirks::NS3_44),
        ("ns3.36", Quirks::NS3_36),
        ("ns3.31", Quirks::NS3_31),
        ("ns3.18-rdtcp", Quirks::NS3_18_RDTCP),
    ] {
        assert_eq!(quirks(&format!("like={program}")), of);
        assert_eq!(quirks(&format!("like={program} sack=true loss-detection=linux")), Quirks::RFC);
    }
    assert_eq!(quirks("environment=ns3-2020"), Quirks::NS3_31);
    assert_eq!(quirks("environment=ns3-2022"), Quirks::NS3_36);
    assert_eq!(quirks("environment=ns3.18-rdtcp"), Quirks::NS3_18_RDTCP);
}

#[test]
fn an_environment_brings_a_stack_and_a_switch_and_says_where_each_value_is_from() {
    let scenario = with("environment=mininet-2.2 queue.kind=red");
    assert_eq!((scenario.transport.time("ack-delay"), scenario.transport.integer("ack-every")), (Time::from_ms(40), 2));
    assert_eq!(scenario.network.values.choice("non-ect"), "drop");
    assert_eq!(scenario.queue.values.number("red-weight").to_string(), "0.5");
    assert_eq!(source(&scenario, "transport.rto-min"), "environment mininet-2.2: Linux 3.16: TCP_RTO_MIN, HZ/5");
    assert!(source(&scenario, "network.non-ect").starts_with("environment mininet-2.2: "));
    assert!(source(&scenario, "queue.red-min").starts_with("environment mininet-2.2: Mininet 2.2"));
    assert_eq!(source(&scenario, "transport.duplicate-ack-threshold"), "RFC 5681, section 3.2");
}

#[test]
fn a_stack_and_a_switch_can_be_named_alone_and_win_over_the_environment() {
    let both = with("environment=qualnet network.switch=rfc stack=linux-6.12");
    assert_eq!((both.transport.choice("stack"), both.transport.bytes("mss")), ("linux-6.12", Bytes::new(1448)));
    assert!(both.transport.flag("sack"));
    assert_eq!((both.network.values.choice("switch"), both.network.values.is_default("buffer")), ("rfc", true));
    assert_eq!(both.network.values.size("buffer").to_string(), "100pkt");
    let stack = with("stack=qualnet");
    assert_eq!((stack.transport.integer("ack-every"), stack.network.values.choice("switch")), (2, "rfc"));
    assert!(source(&stack, "transport.ack-every").starts_with("stack qualnet: "));
    let switch = with("network.switch=qualnet");
    assert_eq!(
        (switch.transport.choice("stack"), switch.network.values.size("buffer").to_string()),
        ("rfc", "150000B".into())
    );
}

#[test]
fn what_is_written_wins_over_what_a_scheme_needs_and_that_over_the_stack() {
    let rcc = with("environment=qualnet scheme=rcc");
    assert_eq!(rcc.transport.integer("ack-every"), 1, "RCC needs it");
    assert_eq!(rcc.transport.bytes("mss"), Bytes::new(512));
    assert!(source(&rcc, "transport.ack-every").contains("the scheme rcc"));
    let written = with("environment=qualnet scheme=rcc ack-every=3 mss=600B");
    assert_eq!((written.transport.integer("ack-every"), written.transport.bytes("mss")), (3, Bytes::new(600)));
}

#[test]
fn what_a_scheme_merely_prefers_gives_way_to_a_stack_that_names_the_key() {
    for scheme in ["dt-cwa", "ictcp"] {
        let window = |written: &str| with(&format!("{written} scheme={scheme}")).transport.window("initial-window");
        assert_eq!(window(""), Window::Segments(2), "{scheme}");
        assert_eq!(window("environment=qualnet"), Window::Segments(2), "QualNet's is not known");
        assert_eq!(window("environment=ns3-2020"), Window::Segments(10), "{scheme}");
    }
}

#[test]
fn an_environment_gives_every_scheme_that_has_no_need_of_its_own_the_same_transport() {
    for row in REGISTRY.iter().filter(|row| row.key != DEFAULT) {
        let reno = with(&format!("environment={}", row.key));
        for scheme in schemes::REGISTRY {
            let needs = |key: &str| {
                scheme.transport.iter().any(|wish| matches!(wish, Wish::Needs(needed, _) if *needed == key))
            };
            let other = with(&format!("environment={} scheme={}", row.key, scheme.key));
            for setting in row.stack.iter().filter(|setting| !needs(setting.key)) {
                let value = |scenario: &Scenario| scenario.resolved()["transport"][setting.key].clone();
                assert_eq!(value(&other), value(&reno), "{}: {} of {}", row.key, setting.key, scheme.key);
            }
        }
    }
}

#[test]
fn the_scheme_linux_runs_on_linux_unless_a_scenario_says_otherwise_and_others_can_run_there() {
    let linux = with("scheme=linux");
    assert_eq!((linux.transport.choice("stack"), linux.transport.choice("loss-detection")), ("linux-6.12", "linux"));
    let dctcp = with("scheme=dctcp stack=linux-6.12");
    for setting in find("linux-6.12").stack {
        let value = |scenario: &Scenario| scenario.resolved()["transport"][setting.key].clone();
        assert_eq!(value(&dctcp), value(&linux), "{}", setting.key);
    }
    let elsewhere = with("environment=mininet-2.2 scheme=linux");
    assert_eq!(elsewhere.transport.choice("loss-detection"), "linux-3.16");
    let plain = with("scheme=linux stack=rfc");
    assert!(!plain.transport.flag("sack"));
}

#[test]
fn a_short_name_is_read_as_the_long_one_in_every_key_that_names_an_environment() {
    for (short, key) in SHORT_NAMES {
        for written in ["environment=NAME", "stack=NAME", "network.switch=NAME"] {
            let named = |name: &str| with(&written.replace("NAME", name)).resolved();
            assert_eq!(named(short), named(key), "{written}");
        }
        assert!(REGISTRY.iter().all(|row| row.key != *short), "{short} is a name of its own");
    }
    assert_eq!(source(&with("stack=linux-6"), "transport.mss").split(':').next(), Some("stack linux-6.12"));
}

#[test]
fn the_least_timeout_of_linux_is_whole_ticks_of_its_kernel() {
    let least = |written: &str| {
        let scenario = with(&format!("rto-min=1ms {written}"));
        tcp::rto::RtoConfig::from(&scenario.transport).minimum
    };
    let ms = Time::from_ms;
    assert_eq!(least("scheme=linux"), ms(1), "HZ = 1000");
    assert_eq!(least("scheme=linux rto-granularity=4ms"), ms(4), "HZ = 250");
    assert_eq!(least("scheme=dctcp rto-granularity=4ms"), ms(1), "where it bounds the timeout itself");
}

#[test]
fn the_stack_of_a_groups_scheme_leaves_the_networks_packets_as_they_are() {
    let text = |network: &str, group: &str| {
        format!(
            "[network]\ntopology = \"star\"\n[transport]\nscheme = \"{network}\"\n[[traffic]]\nkind = \"incast\"\n\
             senders = 3\nscheme = \"{group}\"\n"
        )
    };
    for (network, group, sizes, frame) in [("newreno", "linux", [1460, 40], 0), ("linux", "newreno", [1448, 52], 38)] {
        let scenario = parse(&text(network, group)).unwrap();
        for scheme in [network, group] {
            let values = scenario.transport_of(scheme);
            assert_eq!(
                ["mss", "header"].map(|key| values.bytes(key).get()),
                sizes,
                "{scheme} in a network of {network}"
            );
        }
        assert_eq!(scenario.network.values.bytes("frame-overhead").get(), frame, "{network}");
        assert_eq!(parse(&toml::to_string(&scenario.resolved()).unwrap()).unwrap().resolved(), scenario.resolved());
    }
}

#[test]
fn frames_are_those_of_the_stack_however_it_is_chosen_unless_they_are_written() {
    let overhead = |written: &str| with(written).network.values.bytes("frame-overhead").get();
    for linux in
        ["environment=linux-6.12", "stack=linux-6.12", "scheme=linux", "scheme=linux-reno", "scheme=linux-dctcp"]
    {
        assert_eq!(overhead(linux), 38, "{linux}");
        assert_eq!(overhead(&format!("{linux} network.frame-overhead=18B")), 18, "{linux}");
        assert_eq!(overhead(&format!("{linux} stack=qualnet")), 0, "{linux}");
    }
    assert_eq!(overhead("environment=qualnet scheme=dctcp stack=linux-6.12"), 38);
    for other in REGISTRY.iter().filter(|row| row.key != "linux-6.12") {
        assert_eq!(
            overhead(&format!("environment={} scheme=linux", other.key)),
            if other.key == DEFAULT { 38 } else { 0 }
        );
    }
    let found = source(&with("scheme=linux"), "network.frame-overhead");
    assert!(found.starts_with("stack linux-6.12 of the scheme linux: IEEE 802.3"), "{found}");
}

#[test]
fn segments_are_what_the_mtu_leaves_and_the_mtu_is_what_segments_make_it() {
    let sizes = |written: &str| {
        let scenario = with(written);
        ["mtu", "mss", "header"].map(|key| scenario.transport.bytes(key).get())
    };
    assert_eq!(sizes(""), [1500, 1460, 40]);
    assert_eq!(sizes("mtu=9000B"), [9000, 8960, 40]);
    assert_eq!(sizes("mtu=9000B scheme=linux"), [9000, 8948, 52]);
    assert_eq!(sizes("mtu=9000B environment=qualnet header=60B"), [9000, 8940, 60]);
    assert_eq!(sizes("mss=8948B stack=linux-6.12"), [9000, 8948, 52]);
    assert_eq!(sizes("mtu=1040B mss=1000B"), [1040, 1000, 40]);
    assert_eq!(source(&with("mtu=9000B"), "transport.mss"), "mtu less header");
    // One form for both ways to write it.
    assert_eq!(with("mtu=9000B").resolved(), with("mss=8960B").resolved());
    assert_eq!(with("mtu=1500B").resolved(), with("").resolved());
}

#[test]
fn an_mtu_that_the_segments_contradict_or_that_leaves_none_is_refused() {
    let refused = |pairs: &[(&str, &str)]| parse_with(SMALL, pairs).unwrap_err();
    let both = [("transport.mtu", "1500B"), ("transport.mss", "1480B")];
    let found = refused(&both);
    assert!(
        found.contains("transport.mtu: is not mss and header together, which are 1520B: leave out mtu or mss"),
        "{found}"
    );
    assert!(refused(&[both[0], ("transport.mss", "1448B")]).contains("which are 1488B"), "it would have no effect");
    let found = refused(&[("transport.mtu", "40B")]);
    assert!(
        found.contains("transport.mtu: leaves 0B for mss beside a header of 40B, which must be at least"),
        "{found}"
    );
    assert!(refused(&[("transport.mtu", "9216B")]).contains("at most"), "as mss alone");
}

#[test]
fn the_canonical_form_of_an_environment_is_its_stack_and_its_switch() {
    let named = with("environment=ns3-2020");
    let parts = with("network.switch=ns3-2020 stack=ns3-2020");
    assert_eq!(named.resolved(), parts.resolved());
    assert_eq!(named.resolved()["transport"]["stack"], "ns3-2020");
    for text in ["", "scheme=linux", "stack=auto"] {
        let scenario = with(&format!("environment=qualnet {text}"));
        let again = parse(&toml::to_string(&scenario.resolved()).unwrap()).unwrap();
        assert_eq!(again.resolved(), scenario.resolved());
    }
}

#[test]
fn an_unknown_environment_is_told_with_the_nearest_name() {
    let error = parse(&format!("environment = \"qalnet\"\n{SMALL}")).unwrap_err();
    assert!(error.starts_with("s.toml:1: environment: must be one of rfc, qualnet, "), "{error}");
    assert!(error.ends_with("not \"qalnet\" (did you mean \"qualnet\"?)"), "{error}");
    let error = parse(&format!("enviroment = \"qualnet\"\n{SMALL}")).unwrap_err();
    assert_eq!(error, "s.toml:1: enviroment: unknown key (did you mean \"environment\"?)");
}
