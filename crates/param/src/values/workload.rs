//! Published flow-size distributions, which a scenario can use by name.
//!
//! The files of `workloads/` are compiled into the engine: a name means the same in every scenario, override, sweep and
//! test, and the engine reads no files.

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
pub const KEYS: [&str; FILES.len()] = {
    let mut keys = [""; FILES.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = FILES[i].0;
        i += 1;
    }
    keys
};

/// Whether `text` is a name rather than a size or a list of sizes.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.contains(|c: char| c.is_whitespace() || c == '%')
}

/// The sizes of the workload called `name`.
pub(crate) fn find(name: &str) -> Option<Sizes> {
    let (key, text) = FILES.iter().find(|(key, _)| *key == name)?;
    Some(sizes(key, &table(key, text)))
}

/// Every workload with its points, their source and its mean, as JSON for listings and manual pages.
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
            "precision": word("precision"),
            "interpolation": word("interpolation"),
            "mean_bytes": sizes.mean(),
            "stated_mean_bytes": number(&table["mean"]),
            "mean_from": word("mean-from"),
            "mean_tolerance": number(&table["tolerance"]),
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
    assert_eq!(table["interpolation"].as_str(), Some("linear"), "workload {key}: points are joined by lines");
    Sizes::workload(key, points.collect()).unwrap_or_else(|why| panic!("workload {key}: {why}"))
}

fn number(value: &toml::Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64)).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::rng::Stream;

    #[test]
    fn every_mean_is_that_of_the_source() {
        for entry in workloads() {
            let keys = ["mean_bytes", "stated_mean_bytes", "mean_tolerance"];
            let [mean, stated, part] = keys.map(|key| entry[key].as_f64().expect("a number"));
            assert!((mean / stated - 1.0).abs() <= part && part < 0.05, "{}: {mean} for {stated}", entry["key"]);
        }
    }

    #[test]
    fn points_are_few_and_round() {
        for entry in workloads() {
            let points = entry["points"].as_array().expect("points");
            assert!(points.len() <= 17, "{}: {} points", entry["key"], points.len());
            for point in points {
                let share = point[1].as_f64().expect("a share") * 100.0;
                assert!((share - share.round()).abs() < 1e-9, "{}: {point} is no reading", entry["key"]);
            }
        }
    }

    /// Percentage of a workload's flows with at most `bytes`.
    fn below(key: &str, bytes: u64) -> f64 {
        let sizes = find(key).expect("listed");
        let pair = sizes.points().windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&bytes)).expect("between");
        let [(least, low), (most, high)] = [pair[0], pair[1]];
        low + (high - low) * (bytes - least) as f64 / (most - least) as f64
    }

    /// Percentage of a workload's bytes in flows of more than `bytes`.
    fn bytes_above(key: &str, bytes: u64) -> f64 {
        let sizes = find(key).expect("listed");
        let parts = sizes.points().windows(2).map(|pair| {
            let [(least, low), (most, high)] = [pair[0], pair[1]];
            let from = least.max(bytes).min(most);
            let part = if most > least { (most - from) as f64 / (most - least) as f64 } else { 0.0 };
            (high - low) * part * (from + most) as f64 / 2.0
        });
        parts.sum::<f64>() / sizes.mean()
    }

    #[test]
    fn the_papers_own_words_hold() {
        // VL2, caption of Fig. 2: 99 % of flows below 100 MB; most bytes from there to 1 GB, its Fig. 2 has 76 to 81 %.
        assert!((below("data-mining", 100_000_000) - 99.0).abs() < 0.5);
        assert!((bytes_above("data-mining", 100_000_000) - 78.0).abs() < 5.0);
        // pFabric, section 5.1, of the same data: 80 % below 10 KB.
        assert!((below("data-mining", 10_000) - 80.0).abs() < 1.5);
        // DCTCP, section 2.2, calls flows of 1 to 50 MB update flows; most bytes are theirs. pFabric, section 5.1: 30 % of the
        // flows, over 95 % of the bytes. Fig. 4 itself has 94 %.
        assert!((below("web-search", 1_000_000) - 70.0).abs() < 1.0 && bytes_above("web-search", 1_000_000) > 92.0);
        // Roy et al.: the median below 1 KB, 70 % below 10 KB, less than 5 % above 1 MB.
        assert!(below("hadoop", 1000) >= 50.0 && below("hadoop", 10_000) >= 70.0 && below("hadoop", 1_000_000) > 95.0);
    }

    #[test]
    fn draws_have_the_mean_and_the_shares_of_the_points() {
        for key in KEYS {
            let (sizes, mut stream) = (find(key).expect("listed"), Stream::named(1, key));
            let drawn: Vec<f64> = (0..400_000).map(|_| sizes.draw(&mut stream) as f64).collect();
            let count = drawn.len() as f64;
            let mean = drawn.iter().sum::<f64>() / count;
            let deviation = (drawn.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / count).sqrt();
            // Tails are heavy: the standard deviation of RPC is 15 times its mean. The room is four standard errors,
            // and the half byte lost by whole sizes.
            let room = 4.0 * deviation / count.sqrt() + 1.0;
            assert!((mean - sizes.mean()).abs() < room, "{key}: {mean} for {}", sizes.mean());
            for (bytes, share) in sizes.points() {
                let below = drawn.iter().filter(|size| **size <= *bytes as f64).count() as f64;
                // Among small sizes, a single byte more is a noticeable share.
                assert!((below / count - share / 100.0).abs() < 0.006, "{key}: {bytes}");
            }
            assert!(sizes.least() >= 1, "{key}: nobody sends nothing");
        }
    }

    #[test]
    fn every_workload_says_where_it_is_from() {
        for entry in workloads() {
            for key in ["title", "summary", "citation", "source", "precision", "mean_from"] {
                assert!(entry[key].as_str().is_some_and(|text| text.len() > 2), "{}: {key}", entry["key"]);
            }
        }
    }
}
