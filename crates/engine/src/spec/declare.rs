//! Parameters as data: each key of a scenario file is declared once, next to the code that uses it.
//!
//! The parser's checks, the default, the JSON Schema, `check --resolved` with the source of every default, and the
//! parameter table of a manual page are all derived from this declaration.

/// What kind of value a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A span of time: `"33us"`.
    Time,
    /// A number of bytes: `"512KB"`, `"64KiB"`.
    Bytes,
    /// A number of bytes or of packets: `"100pkt"`, `"150KB"`.
    Size,
    /// A bit rate: `"1Gbps"`.
    Rate,
    /// A share: `"30%"`, a bare number such as `0.3`, or a fraction of two integers, `"1/16"`. At most 1 unless the
    /// declaration sets another upper bound.
    Fraction,
    /// A dimensionless real number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Bool,
    /// Free text.
    Text,
    /// One of the listed words.
    Choice(&'static [&'static str]),
    /// A number of segments or bytes: `"2mss"`, `"2920B"`.
    Window,
    /// Sizes to draw from: `"64KB"`, `"1MB 50%, 4MB 50%"`, `"cdf 2KB 0%, 98KB 100%"`, `"web-search"`.
    Sizes,
}

/// One key of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key, in kebab-case.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default as in a scenario file, without quotes; empty if the key is required.
    pub default: &'static str,
    /// What it means, in one sentence.
    pub doc: &'static str,
    /// Where the default comes from: a paper's section, an RFC clause, or why we chose it.
    pub source: &'static str,
    /// The reading of a paper that it selects (`P6`, `D4`), or empty.
    pub reading: &'static str,
    /// Smallest allowed value in the kind's base unit (ps, bytes, bit/s, 1); packets for a `Size` in packets.
    pub min: f64,
    /// Largest allowed value in the kind's base unit.
    pub max: f64,
    /// A choice in the same table, as key and value, under which this key has no effect. To set it then is an error.
    pub idle_with: Option<(&'static str, &'static str)>,
    /// The same, except that to set it is no error; [`super::Scenario::unused`] lists it.
    pub ignored_with: Option<(&'static str, &'static str)>,
}

impl Param {
    /// A key without bounds except those of its kind.
    pub const fn new(
        key: &'static str,
        kind: Kind,
        default: &'static str,
        doc: &'static str,
        source: &'static str,
    ) -> Self {
        let (min, max) = (0.0, f64::INFINITY);
        Self { key, kind, default, doc, source, reading: "", min, max, idle_with: None, ignored_with: None }
    }
    /// The same key, never below `min`.
    #[must_use]
    pub const fn at_least(mut self, min: f64) -> Self {
        self.min = min;
        self
    }
    /// The same key, never above `max`.
    #[must_use]
    pub const fn at_most(mut self, max: f64) -> Self {
        self.max = max;
        self
    }
    /// The same key, which must not be set if `key` is `word`.
    #[must_use]
    pub const fn idle_with(mut self, key: &'static str, word: &'static str) -> Self {
        self.idle_with = Some((key, word));
        self
    }
    /// The same key, without effect if `key` is `word`, for scenarios that are run with several values of `key`.
    #[must_use]
    pub const fn ignored_with(mut self, key: &'static str, word: &'static str) -> Self {
        self.ignored_with = Some((key, word));
        self
    }
    /// The same key, marked as a choice between readings of a paper.
    #[must_use]
    pub const fn reading(mut self, reading: &'static str) -> Self {
        self.reading = reading;
        self
    }
}
