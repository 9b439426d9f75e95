//! Every declaration of the file and of every registry row is valid.

use crate::common::{
    CONTROL, ENVIRONMENT, FAULT, FAULT_OPTIONAL, MEASURE, NETWORK, QUEUE, RUN, TOPOLOGY, TRAFFIC, TRAFFIC_COMMON,
    Variants, scheme, traffic_optional,
};
use crate::environment;
use fanin_core::roles::EcnMode;
use fanin_core::units::Rate;
use fanin_network::{fault, queue, topology, traffic};
use fanin_param::{Kind, Param, Values};
use fanin_schemes as schemes;
use fanin_schemes::{FlowFacts, Signal, Wish};
use fanin_tcp as tcp;

/// The declarations of each table that can occur.
fn tables() -> Vec<(String, Vec<&'static [Param]>)> {
    let mut tables: Vec<(String, Vec<&'static [Param]>)> = vec![
        ("transport".into(), vec![scheme(), tcp::PARAMS]),
        ("control".into(), vec![CONTROL]),
        ("measure".into(), vec![MEASURE]),
        ("run".into(), vec![RUN]),
        ("the file".into(), vec![ENVIRONMENT]),
    ];
    tables.extend(topology::REGISTRY.iter().map(|row| (row.key.into(), vec![TOPOLOGY, NETWORK, row.params])));
    tables.extend(queue::REGISTRY.iter().map(|row| (row.key.into(), vec![QUEUE, row.params])));
    tables.extend(
        traffic::REGISTRY
            .iter()
            .map(|row| (row.key.into(), vec![TRAFFIC, traffic_optional(), TRAFFIC_COMMON, row.params])),
    );
    tables.extend(
        fault::REGISTRY.iter().map(|row| (row.key.into(), vec![FAULT, FAULT_OPTIONAL, fault::COMMON, row.params])),
    );
    tables.extend(schemes::REGISTRY.iter().map(|row| (format!("scheme.{}", row.key), vec![row.params])));
    tables
}

#[test]
fn every_default_is_a_value_of_its_kind_and_within_bounds() {
    for (_, declared) in tables() {
        Values::defaults(&declared);
    }
}

#[test]
fn keys_are_kebab_case_documented_and_unique_in_their_table() {
    for (table, declared) in tables() {
        let mut seen = Vec::new();
        for param in declared.into_iter().flatten() {
            let Param { key, doc, source, .. } = param;
            assert!(key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{table}.{key}");
            assert!(doc.ends_with('.') && !source.is_empty() && !source.ends_with('.'), "{table}.{key}");
            assert!(!seen.contains(key), "{table}.{key} is declared twice");
            seen.push(key);
        }
    }
}

#[test]
fn bounds_are_in_order_and_choices_have_words() {
    for (table, declared) in tables() {
        for param in declared.into_iter().flatten() {
            assert!(param.min <= param.max, "{table}.{}", param.key);
            assert!(!matches!(param.kind, Kind::Choice([])), "{table}.{}", param.key);
        }
    }
}

#[test]
fn selectors_offer_exactly_their_rows() {
    for variants in [Variants::network(), Variants::queue(), Variants::traffic(), Variants::fault()] {
        let words: Vec<_> = variants.rows.iter().map(|row| row.key).collect();
        assert_eq!(variants.selector[0].kind, Kind::Choice(words.leak()));
    }
}

#[test]
fn readings_of_schemes_are_told_apart_and_name_real_parameters() {
    let has = |params: &[Param], key: &str| params.iter().any(|param| param.key == key);
    for row in schemes::REGISTRY {
        for (i, reading) in row.readings.iter().enumerate() {
            let id = reading.id;
            assert!(row.readings[..i].iter().all(|other| other.id != id), "{}: {id} twice", row.key);
            assert!(reading.text.len() > 20, "{}: {id} explains nothing", row.key);
            for path in reading.params {
                let known = match path.split('.').collect::<Vec<_>>()[..] {
                    ["scheme", scheme, key] => {
                        schemes::REGISTRY.iter().any(|other| other.key == scheme && has(other.params, key))
                    }
                    ["transport", key] => has(scheme(), key) || has(tcp::PARAMS, key),
                    ["network", key] => has(NETWORK, key) || topology::REGISTRY.iter().any(|row| has(row.params, key)),
                    ["traffic", key] => {
                        has(TRAFFIC_COMMON, key) || traffic::REGISTRY.iter().any(|row| has(row.params, key))
                    }
                    ["control", key] => has(CONTROL, key),
                    ["queue", key] => queue::REGISTRY.iter().any(|row| has(row.params, key)),
                    _ => false,
                };
                assert!(known, "{}: {id} names {path}, which does not exist", row.key);
            }
        }
        for param in row.params.iter().filter(|param| !param.reading.is_empty()) {
            let path = format!("scheme.{}.{}", row.key, param.key);
            let told = param.reading.split([',', ' ']).filter(|id| !id.is_empty()).all(|id| {
                row.readings.iter().any(|reading| reading.id == id && reading.params.contains(&path.as_str()))
            });
            assert!(told, "{path} selects {}, which its scheme's readings do not tell", param.reading);
        }
        for wish in row.transport {
            match wish {
                Wish::Stack(key) => assert!(environment::REGISTRY.iter().any(|row| row.key == *key), "no stack {key}"),
                Wish::Needs(key, _) | Wish::Prefers(key, _) => {
                    assert!(has(tcp::PARAMS, key), "{}: no transport key {key}", row.key);
                    assert!(!["mss", "header"].contains(key), "{}: {key} is common to the network", row.key);
                }
            }
        }
    }
}

#[test]
fn schemes_say_what_their_senders_react_to_and_how_they_are_drawn() {
    for row in schemes::REGISTRY {
        let scheme = (row.build)(&Values::defaults(&[row.params]));
        let sender = scheme.congestion_control(&FlowFacts::of_any(1460, Rate::from_bps(1_000_000_000)));
        let marks = row.reacts_to.contains(&Signal::Marks);
        assert_eq!(marks, sender.ecn() != EcnMode::Off, "{}: its row and its senders differ about marks", row.key);
        let digits = row.colour.strip_prefix('#').unwrap_or("");
        let is_colour = digits.len() == 6 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        assert!(is_colour, "{}: {} is no colour", row.key, row.colour);
        assert!(MARKERS.split(' ').any(|marker| marker == row.marker), "{}: no marker {}", row.key, row.marker);
        let alike = schemes::REGISTRY.iter().filter(|other| other.colour.eq_ignore_ascii_case(row.colour)).count();
        assert_eq!(alike, 1, "{}: another scheme has its colour", row.key);
        assert!(!row.needs.is_empty(), "{}: what does it take to deploy?", row.key);
    }
}

/// Markers that figures and the page can draw.
const MARKERS: &str = "o s ^ v < > D d P X p h H 8 *";

#[test]
fn every_word_of_a_choice_has_a_meaning_of_its_own() {
    const CHOICE: &[Param] = &[Param::new("how", Kind::Choice(&["fast", "slow"]), "slow", "How.", "a test")];
    let values = Values::defaults(&[CHOICE]);
    assert_eq!(values.choose("how", &[("fast", 2), ("slow", 1)]), 1);
    assert_eq!(values.clone().with("how", "fast").choose("how", &[("slow", 1), ("fast", 2)]), 2);
    assert!(values.is("how", "slow") && !values.is("how", "fast"));
    let refused = |meanings: &[(&str, u8)]| {
        let values = std::panic::AssertUnwindSafe(&values);
        assert!(std::panic::catch_unwind(|| values.choose("how", meanings)).is_err(), "{meanings:?}");
    };
    refused(&[("slow", 1)]);
    refused(&[("slow", 1), ("quick", 2)]);
    refused(&[("slow", 1), ("slow", 2)]);
    refused(&[("slow", 1), ("fast", 1)]);
    let values = std::panic::AssertUnwindSafe(&values);
    assert!(std::panic::catch_unwind(|| values.is("how", "quick")).is_err());
}
