//! Feeds arbitrary text to the scenario parser, which must answer with a scenario or an error.
//!
//! Text before a NUL byte is the file; what follows it, if anything, is `path=value` overrides, one a line.

#![no_main]

use fanin_engine::scenario::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (file, overrides) = text.split_once('\0').unwrap_or((text, ""));
    let pairs = overrides.lines().filter_map(|line| line.split_once('='));
    let overrides: Vec<_> = pairs.map(|(path, value)| (path.to_owned(), value.to_owned())).collect();
    match Scenario::parse(file, "fuzz.toml", &overrides) {
        Ok(scenario) => drop((scenario.resolved(), scenario.resolved_table())),
        Err(error) => drop(error.to_string()),
    }
});
