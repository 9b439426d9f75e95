//! What must hold of any text that is parsed.

use fanin_engine::scenario::Scenario;

/// The scenario of a text, if it is one; an error has a message and names a line of the text, if any.
pub fn check(text: &str) -> Option<Scenario> {
    let error = match Scenario::parse(text, "fuzz.toml", &[]) {
        Ok(scenario) => return Some(scenario),
        Err(error) => error,
    };
    let lines = text.split('\n').count() + 1;
    assert!(!error.message.is_empty() && error.line.is_none_or(|line| (1..=lines).contains(&(line as usize))));
    None
}
