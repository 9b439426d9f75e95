//! Tests of the scenario file.

mod declarations;
mod environment_values;
mod environments;
mod errors;
mod faults;
mod fuzzed;
mod resolved;
mod rules;
mod schema;

use super::Scenario;

/// A scenario with every table; the tests below change single lines of it.
const WHOLE: &str = r#"title = "Goodput against fan-in"
paper = "sdtcp"

[network]
topology = "star"
rate = "10Gbps"
buffer = "150KB"

[queue]
kind = "drop-tail"

[transport]
scheme = "dctcp"
rto-min = "10ms"
sack = true

[scheme.dctcp]
mark-threshold = "65pkt"

[[traffic]]
name = "bursts"
kind = "incast"
senders = 49

[[traffic]]
kind = "incast"
senders = 2
scheme = "newreno"

[control]
loss = "1%"

[measure]
queues = "all"

[run]
duration = "1.5s"
seed = 7

[sweep]
"traffic.bursts.senders" = [1, 2, 3]
"#;

/// Its keys that do not belong to the engine.
const FOREIGN: &[&str] = &["title", "paper", "sweep"];

fn parse(text: &str) -> Result<Scenario, String> {
    parse_with(text, &[])
}

fn parse_with(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    Scenario::parse(text, "s.toml", &overrides).map_err(|error| error.to_string())
}

/// The error of the whole scenario with its line `old` replaced by `new`.
fn error_of(old: &str, new: &str) -> String {
    assert!(WHOLE.contains(old), "no line {old:?}");
    parse(&WHOLE.replacen(old, new, 1)).err().unwrap_or_else(|| panic!("{new:?} was accepted"))
}

/// The error of the whole scenario with one override.
fn override_error(path: &str, value: &str) -> String {
    parse_with(WHOLE, &[(path, value)]).err().unwrap_or_else(|| panic!("{path} = {value:?} was accepted"))
}
