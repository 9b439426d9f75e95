//! Published flow-size distributions, which a scenario names instead of writing their points.
//!
//! The files of `workloads/` are part of the engine, as data: a name means the same in every scenario, override, sweep and
//! test, and the engine still reads nothing.

use super::sizes::Sizes;
use serde_json::{Value, json};
use toml::Table;

/// Each name and its file.
const FILES: [(&str, &str); 5] = [
    ("web-search", include_str!("../../workloads/web-search.toml")),
    ("data-mining", include_str!("../../workloads/data-mining.toml")),
    ("hadoop", include_str!("../../workloads/hadoop.toml")),
    ("cache", include_str!("../../workloads/cache.toml")),
    ("rpc", include_str!("../../workloads/rpc.toml")),
];

/// The name of every workload.
pub(super) const KEYS: [&str; FILES.len()] = {
    let mut keys = [""; FILES.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = FILES[i].0;
        i += 1;
    }
    keys
};

/// Whether `text` reads as a name rather than as a size or sizes.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.contains(|c: char| c.is_whitespace() || c == '%')
}

/// The sizes of the workload called `name`.
pub(super) fn find(name: &str) -> Option<Sizes> {
    let (key, text) = FILES.iter().find(|(key, _)| *key == name)?;
    Some(sizes(key, &table(key, text)))
}

/// Every workload with its points, citation and mean, as JSON: what listings and manual pages show.
pub fn workloads() -> Vec<Value> {
    let entry = |(key, text): &(&'static str, &str)| {
        let table = table(key, text);
        let word = |name: &str| table[name].as_str().unwrap_or_default().to_owned();
        let sizes = sizes(key, &table);
        json!({
            "key": key,
            "title": word("title"),
            "summary": word("summary"),
            "citation": word("citation"),
            "source": word("source"),
            "interpolation": word("interpolation"),
            "mean_bytes": sizes.mean(),
            "stated_mean_bytes": number(&table["mean"]),
            "points": sizes.points(),
        })
    };
    FILES.iter().map(entry).collect()
}

fn table(key: &str, text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("workload {key}: {error}"))
}

fn sizes(key: &'static str, table: &Table) -> Sizes {
    assert_eq!(table["unit"].as_str(), Some("B"), "workload {key}: sizes are in bytes");
    let points = table["points"].as_array().into_iter().flatten().filter_map(|point| {
        let [bytes, share] = point.as_array()?.as_slice() else { return None };
        Some((bytes.as_integer()? as u64, number(share)))
    });
    let joined = match table["interpolation"].as_str() {
        Some("linear") => true,
        Some("step") => false,
        other => panic!("workload {key}: interpolation {other:?}"),
    };
    Sizes::workload(key, joined, points.collect()).unwrap_or_else(|why| panic!("workload {key}: {why}"))
}

fn number(value: &toml::Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64)).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn every_mean_is_the_stated_one() {
        for entry in workloads() {
            let [mean, stated] = ["mean_bytes", "stated_mean_bytes"].map(|key| entry[key].as_f64().expect("a number"));
            assert!((mean / stated - 1.0).abs() < 1e-5, "{}: {mean} for {stated}", entry["key"]);
        }
    }

    #[test]
    fn draws_have_the_mean_and_the_shares_of_the_points() {
        for key in KEYS {
            let (sizes, mut stream) = (find(key).expect("listed"), Stream::named(1, key));
            let drawn: Vec<f64> = (0..400_000).map(|_| sizes.draw(&mut stream) as f64).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            // The heaviest tail, data mining's, has a deviation of eight means: 5 % are four of its standard errors.
            assert!((mean / sizes.mean() - 1.0).abs() < 0.05, "{key}: {mean}");
            for (bytes, share) in sizes.points() {
                let below = drawn.iter().filter(|size| **size <= *bytes as f64).count() as f64;
                assert!((below / drawn.len() as f64 - share / 100.0).abs() < 0.005, "{key}: {bytes}");
            }
            assert!(sizes.least() >= 1, "{key}: nobody sends nothing");
        }
    }

    #[test]
    fn every_workload_says_where_it_is_from() {
        for entry in workloads() {
            for key in ["title", "summary", "citation", "source"] {
                assert!(entry[key].as_str().is_some_and(|text| text.len() > 2), "{}: {key}", entry["key"]);
            }
        }
    }
}
