//! Every declaration of the file and of every registry row is sound.

use crate::spec::sections::{
    CONTROL, MEASURE, NETWORK, QUEUE, RUN, SCHEME, TOPOLOGY, TRAFFIC, TRAFFIC_OPTIONAL, TRANSPORT, Variants,
};
use crate::spec::{Kind, Param, Params};
use crate::{queue, schemes, topology, traffic};

/// The declarations of each table that can occur, together.
fn tables() -> Vec<(String, Vec<&'static [Param]>)> {
    let mut tables: Vec<(String, Vec<&'static [Param]>)> = vec![
        ("transport".into(), vec![SCHEME, TRANSPORT]),
        ("control".into(), vec![CONTROL]),
        ("measure".into(), vec![MEASURE]),
        ("run".into(), vec![RUN]),
    ];
    tables.extend(topology::REGISTRY.iter().map(|row| (row.key.into(), vec![TOPOLOGY, NETWORK, row.params])));
    tables.extend(queue::REGISTRY.iter().map(|row| (row.key.into(), vec![QUEUE, row.params])));
    tables.extend(traffic::REGISTRY.iter().map(|row| (row.key.into(), vec![TRAFFIC, TRAFFIC_OPTIONAL, row.params])));
    tables.extend(schemes::REGISTRY.iter().map(|row| (format!("scheme.{}", row.key), vec![row.params])));
    tables
}

#[test]
fn every_default_is_a_value_of_its_kind_and_within_bounds() {
    for (_, declared) in tables() {
        Params::defaults(&declared);
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
    for variants in [Variants::network(), Variants::queue(), Variants::traffic()] {
        let words: Vec<_> = variants.rows.iter().map(|row| row.key).collect();
        assert_eq!(variants.selector[0].kind, Kind::Choice(words.leak()));
    }
}
