//! Feeds arbitrary text to the scenario parser and nothing else, so that a second has as many executions as possible.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| drop(fanin_fuzz::check(text)));
