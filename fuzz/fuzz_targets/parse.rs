//! Feeds arbitrary text to the scenario parser and nothing else, so that a second has as many executions as possible.

#![no_main]

use fanin_engine::spec::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Scenario::parse(text, "fuzz.toml", &[]) {
        let lines = text.split('\n').count() + 1;
        assert!(!error.message.is_empty() && error.line.is_none_or(|line| (1..=lines).contains(&(line as usize))));
    }
});
