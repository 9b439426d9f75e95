//! Parameters as data: each key of a scenario file is declared once, next to the code that uses it.
//!
//! The parser's checks, the default, the JSON Schema, `check --resolved` with the source of every default, and the
//! parameter table of a manual page are all derived from this declaration.

use fanin_core::units::Rate;

/// What kind of value a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A span of time: `"33us"`.
    Time,
    /// When traffic begins: a time, or [`STEADY`].
    Start,
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

/// The start of traffic that waits until what runs before it is steady.
pub const STEADY: &str = "steady";

/// The tiers of cables between switches: a key of `[network]` such as `uplink-rate` begins with its tier.
pub const TIERS: [&str; 3] = ["uplink", "core", "trunk"];

/// A default that follows from the rates of `[network]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// So many times the rate of this key.
    Times(u64, &'static str),
    /// Packets in proportion to the rate of the slowest links, but not less than at 1 Gbit/s.
    Packets {
        /// The number at 1 Gbit/s and below.
        least: u64,
        /// The number per 10 Gbit/s.
        per_10g: u64,
    },
}

impl Rule {
    /// The key of `[network]` that it follows; none for the lowest of all rates.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Times(_, key) => Some(key),
            Self::Packets { .. } => None,
        }
    }
    /// The rule in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Times(1, key) => format!("that of {key}"),
            Self::Times(factor, key) => format!("{factor} times {key}"),
            Self::Packets { least, per_10g } => {
                format!("{per_10g}pkt per 10Gbps of the slowest links, at least {least}pkt")
            }
        }
    }
    /// The default for this rate, as in a scenario file; none if no link can have it.
    pub fn at(self, rate: Rate) -> Option<String> {
        match self {
            Self::Times(factor, _) => {
                let rate = Rate::from_bps(rate.bps().checked_mul(factor)?);
                rate.ps_per_byte().map(|_| rate.to_string())
            }
            Self::Packets { least, per_10g } => {
                let scaled = (u128::from(rate.bps()) * u128::from(per_10g) + TEN_G / 2) / TEN_G;
                Some(format!("{}pkt", u64::try_from(scaled).ok()?.max(least)))
            }
        }
    }
}

/// 10 Gbit/s.
const TEN_G: u128 = 10_000_000_000;

/// One key of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key, in kebab-case.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default as in a scenario file, without quotes; empty if the key is required. With a rule, the default at
    /// 1 Gbit/s.
    pub default: &'static str,
    /// The rule that its default follows, if it is not fixed.
    pub rule: Option<Rule>,
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
    /// The same, except that to set it is no error; `Scenario::unused` lists it.
    pub ignored_with: Option<(&'static str, &'static str)>,
    /// Whether the ports of a tier of cables may have their own: `uplink-KEY` beside KEY, and so for each of the tiers.
    pub per_tier: bool,
    /// Other names for words of the choice, each with its word: not valid, but errors name the word.
    pub also: &'static [(&'static str, &'static str)],
    /// Short names for words of the choice, each with its word: valid, and read as that word.
    pub short: &'static [(&'static str, &'static str)],
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
        let (rule, idle_with, ignored_with, per_tier) = (None, None, None, false);
        let (reading, also, short) = ("", &[], &[]);
        Self {
            key,
            kind,
            default,
            rule,
            doc,
            source,
            reading,
            min,
            max,
            idle_with,
            ignored_with,
            per_tier,
            also,
            short,
        }
    }
    /// The same key, which the ports of a tier of cables may have of their own.
    #[must_use]
    pub const fn per_tier(mut self) -> Self {
        self.per_tier = true;
        self
    }
    /// The keys for the ports of single tiers, each with its tier.
    pub fn tier_keys(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let key = self.key;
        TIERS
            .iter()
            .filter(|_| self.per_tier)
            .map(|tier| (*tier, format!("{tier}-{key}")))
            .collect::<Vec<_>>()
            .into_iter()
    }
    /// The same key, with a default that follows a rule.
    #[must_use]
    pub const fn by(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }
    /// Its default in words.
    pub fn default_in_words(&self) -> String {
        self.rule.map_or_else(|| self.default.to_owned(), Rule::words)
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
    /// The same key, whose words have these other names.
    #[must_use]
    pub const fn also(mut self, also: &'static [(&'static str, &'static str)]) -> Self {
        self.also = also;
        self
    }
    /// The same key, whose words have these short names.
    #[must_use]
    pub const fn short(mut self, short: &'static [(&'static str, &'static str)]) -> Self {
        self.short = short;
        self
    }
    /// The same key, marked as a choice between readings of a paper.
    #[must_use]
    pub const fn reading(mut self, reading: &'static str) -> Self {
        self.reading = reading;
        self
    }
}

/// One value of a selector.
#[derive(Debug)]
pub struct Variant {
    /// The value.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// The keys that it adds.
    pub params: &'static [Param],
}
