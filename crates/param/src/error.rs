//! Errors in a scenario file, and where they are.

use std::fmt;
use std::sync::Arc;

/// A mistake in a scenario file or in an override.
///
/// Prints as `scenario.toml:12: network.bufer: unknown key (did you mean "buffer"?)`, with each further mistake on its
/// own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The file as named by the caller, or `--set` for an override.
    pub file: String,
    /// Line in the file, from 1; none for an override or for something missing in the file.
    pub line: Option<usize>,
    /// Path of the key, such as `traffic.bursts.senders`; empty if the mistake concerns no key.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// A replacement for the wrong name or value, if there is exactly one plausible one.
    pub suggestion: Option<Box<str>>,
    /// Further mistakes that do not depend on this one: unknown keys, and values that are not of their kind.
    pub more: Box<[SpecError]>,
}

impl SpecError {
    /// Whether both are the same mistake. Their paths may differ, because a table of a list has another path if its
    /// name or kind cannot be read.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let last = |error: &Self| error.key.rsplit('.').next().map(str::to_owned);
        (self.line, &self.message) == (other.line, &other.message) && last(self) == last(other)
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, " (did you mean \"{suggestion}\"?)")?;
        }
        self.more.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl std::error::Error for SpecError {}

/// The file name for overrides.
const OVERRIDES: &str = "--set";

/// Where a key or table was written.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The file, or `--set`.
    pub(crate) file: Arc<str>,
    /// Its line there.
    pub(crate) line: Option<usize>,
}

impl Origin {
    /// The origin of everything set by overrides.
    pub(crate) fn overrides() -> Self {
        Self::file(OVERRIDES)
    }
    /// Whether an override set the value.
    pub fn is_override(&self) -> bool {
        &*self.file == OVERRIDES
    }
    /// The place in words: `scenario.toml:12`, or `--set`.
    pub fn place(&self) -> String {
        self.line.map_or_else(|| self.file.to_string(), |line| format!("{}:{line}", self.file))
    }
    /// A whole file, for something missing in it.
    pub fn file(name: &str) -> Self {
        Self { file: name.into(), line: None }
    }
    /// The error for `fault` in the value of `key` at this origin.
    pub fn error(&self, key: impl Into<String>, fault: impl Into<Fault>) -> SpecError {
        let Fault { message, suggestion } = fault.into();
        SpecError {
            file: self.file.to_string(),
            line: self.line,
            key: key.into(),
            message,
            suggestion: suggestion.map(Into::into),
            more: Box::default(),
        }
    }
}

/// A mistake without its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub(crate) message: String,
    /// What to write instead, if that is known.
    pub(crate) suggestion: Option<String>,
}

impl Fault {
    /// The fault for an unknown `name` where only `valid` ones exist.
    pub fn unknown_name(what: &str, name: &str, valid: &[&str]) -> Self {
        const FEW: usize = 40;
        let suggestion = nearest(name, valid).map(str::to_owned);
        let listed = suggestion.is_none() && (1..=FEW).contains(&valid.len());
        let message = if listed { format!("{what}; valid: {}", valid.join(", ")) } else { what.to_owned() };
        Self { message, suggestion }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self { message, suggestion: None }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// The valid name that `name` most probably stands for.
pub(crate) fn nearest<'a>(name: &str, valid: &[&'a str]) -> Option<&'a str> {
    let name = normal(name);
    let abbreviates = |candidate: &str| {
        name.chars().count() >= 3
            && (candidate.starts_with(&name) || candidate.len() >= 3 && name.starts_with(candidate))
    };
    let plausible = |candidate: &&str| is_slip(&name, candidate) || abbreviates(candidate);
    let candidates = valid.iter().copied().filter(plausible);
    candidates.min_by_key(|candidate| strsim::damerau_levenshtein(&name, candidate))
}

/// The valid name of which `name` is a misspelling, if it may also be the name of something else.
pub fn misspelt<'a>(name: &str, valid: &[&'a str]) -> Option<&'a str> {
    let name = normal(name);
    valid.iter().copied().find(|candidate| is_slip(&name, candidate))
}

/// Whether one is a misspelling of the other: at most a third of the letters differ.
fn is_slip(name: &str, candidate: &str) -> bool {
    let letters = name.chars().count();
    // Anything is close to one or two letters, so those suggest nothing.
    letters >= 3 && strsim::damerau_levenshtein(name, candidate) <= (letters.max(candidate.len()) / 3).max(1)
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}
