//! Every declaration of the file and of every registry row is valid.

use crate::check_row;
use crate::common::{
    CONTROL, ENVIRONMENT, FAULT, FAULT_OPTIONAL, MEASURE, NETWORK, QUEUE, RUN, TOPOLOGY, TRAFFIC, TRAFFIC_COMMON,
    Variants, scheme, traffic_optional,
};
use fanin_network::{fault, queue, topology, traffic};
use fanin_param::{Kind, Param, Values};
use fanin_schemes as schemes;
use fanin_schemes::{SchemeRow, Signal, Wish};
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
    }
}

#[test]
fn rows_of_schemes_are_sound_and_their_colours_differ() {
    for row in schemes::REGISTRY {
        assert_eq!(check_row(row), Ok(()));
        let alike = schemes::REGISTRY.iter().filter(|other| other.colour.eq_ignore_ascii_case(row.colour)).count();
        assert_eq!(alike, 1, "{}: another scheme has its colour", row.key);
    }
}

#[test]
fn a_row_that_says_what_cannot_be_is_refused() {
    const PARAM: Param = Param::new("share", Kind::Fraction, "30%", "A share.", "a test");
    let refused = |change: fn(&mut SchemeRow)| {
        let mut row = SchemeRow { key: "own", ..schemes::REGISTRY[0] };
        change(&mut row);
        check_row(&row).expect_err("a mistake").to_string()
    };
    for (why, wanted) in [
        (refused(|row| row.key = "Own"), r#"scheme "Own": key: must be lower-case"#),
        (refused(|row| row.manual = "Own"), r#"scheme "own": manual: must begin"#),
        (
            refused(|row| row.params = &[Param { default: "3 of 10", ..PARAM }]),
            r#"scheme "own": default of share: must"#,
        ),
        (refused(|row| row.transport = &[Wish::Stack("windows")]), r#"scheme "own": transport: unknown stack"#),
        (refused(|row| row.transport = &[Wish::Needs("sck", "true")]), r#"scheme "own": transport: unknown key "sck""#),
        (refused(|row| row.transport = &[Wish::Prefers("mss", "1000B")]), r#"scheme "own": transport: mss is common"#),
        (refused(|row| row.transport = &[Wish::Prefers("sack", "each")]), r#"scheme "own": transport: must be"#),
        (refused(|row| row.colour = "brown"), r#"scheme "own": colour: must be as"#),
        (refused(|row| row.marker = "z"), r#"scheme "own": marker: must be one of"#),
        (refused(|row| row.needs = ""), r#"scheme "own": needs: must say"#),
        (refused(|row| row.reacts_to = &[Signal::Marks]), r#"scheme "own": reacts-to: differs"#),
    ] {
        assert!(why.starts_with(wanted), "{why}");
    }
}

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
