//! Every parameter is set somewhere. Those that no published experiment sets change a run in which they can: `knobs.rs`.

use fanin_engine::spec::{Param, common};
use fanin_engine::{fault, queue, schemes, tcp, topology, traffic};
use std::path::Path;

/// Everything that a scenario can set.
fn declared() -> Vec<&'static Param> {
    let mut tables = vec![
        common::NETWORK,
        common::TRAFFIC_OPTIONAL,
        common::TRAFFIC_COMMON,
        common::CONTROL,
        common::MEASURE,
        common::RUN,
        tcp::PARAMS,
        fault::COMMON,
    ];
    tables.extend(topology::REGISTRY.iter().map(|row| row.params));
    tables.extend(queue::REGISTRY.iter().map(|row| row.params));
    tables.extend(traffic::REGISTRY.iter().map(|row| row.params));
    tables.extend(fault::REGISTRY.iter().map(|row| row.params));
    tables.extend(schemes::REGISTRY.iter().map(|row| row.params));
    tables.into_iter().flatten().collect()
}

/// The text of all files below `folder` whose names end in `ending`.
fn texts(folder: &Path, ending: &str, read: &mut dyn FnMut(&Path, String)) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            texts(&path, ending, read);
        } else if path.to_string_lossy().ends_with(ending) {
            read(&path, std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// Whether `text` gives `key` a value: `key = ...`, or as a pair of strings.
fn sets(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + key.len()..].trim_start_matches('"').trim_start();
        let whole = !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
        whole && (after.starts_with('=') || after.starts_with(", \"") || after.starts_with(", format"))
    })
}

/// A parameter that nobody ever sets may do nothing at all.
#[test]
fn every_parameter_is_set_by_a_test_or_an_experiment() {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    texts(&engine.join("tests"), ".rs", &mut |_, text| all += &text);
    texts(&engine.join("src"), ".rs", &mut |path, text| {
        let of_tests = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        all +=
            if of_tests { &text } else { text.split_once("#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests) };
    });
    texts(&engine.join("../../python/fanin/experiments"), ".toml", &mut |_, text| all += &text);
    // In a string, a line may end by an escape.
    let all = all.replace("\\n", "\n");
    let unset: Vec<&str> = declared().iter().map(|param| param.key).filter(|key| !sets(&all, key)).collect();
    assert!(unset.is_empty(), "no test and no experiment sets {}", unset.join(", "));
}
