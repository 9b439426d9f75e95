//! Reading and printing values exactly, with the unit in the text.
//!
//! Nothing is rounded. `"1.5us"` is 1,500,000 ps, and `"0.0001ns"` is an error because it is not a whole number of
//! picoseconds.

use super::workload;
use super::{Sizes, Value, Window};
use crate::declare::{Kind, Param, STEADY};
use crate::document::{Content, Node, Scalar};
use crate::error::{Fault, nearest};
use fanin_core::units::{Bytes, Rate, Size, Time};
use std::fmt;

/// Longest time of a key, 11 days: the sum of a dozen such times still fits a [`Time`].
const LONGEST: u64 = 1_000_000_000_000_000_000;
/// Largest size in bytes: the limit up to which `f64` represents every byte.
const LARGEST: u64 = 1 << 53;
/// Largest number of packets or segments: with 9000 bytes each they are within the largest size.
const MOST: u64 = 1 << 39;

/// The value of `given` for `param`, within its bounds.
pub(crate) fn read(param: &Param, given: &Content) -> Result<Value, Fault> {
    let kind = param.kind;
    let Content::Scalar(given) = given else {
        return Err(format!("must be {}, not {}{}", noun(kind), given.noun(), in_one_text(kind, given)).into());
    };
    let value = match kind {
        Kind::Start if matches!(given, Scalar::Text(text) if text == STEADY) => Value::Steady,
        Kind::Time | Kind::Start => Value::Time(time(quoted(Kind::Time, given)?)?),
        Kind::Bytes => Value::Bytes(Bytes::new(bytes(kind, &Quantity::of(kind, quoted(kind, given)?)?)?)),
        Kind::Size => Value::Size(size(quoted(kind, given)?)?),
        Kind::Rate => Value::Rate(rate(quoted(kind, given)?)?),
        Kind::Window => Value::Window(window(quoted(kind, given)?)?),
        Kind::Sizes => Value::Sizes(sizes(quoted(kind, given)?)?),
        Kind::Fraction => Value::Number(fraction(given)?),
        Kind::Number => Value::Number(number(kind, given)?),
        Kind::Integer => Value::Integer(integer(given)?),
        Kind::Bool => Value::Bool(flag(given)?),
        Kind::Text => Value::Text(word(kind, given)?),
        Kind::Choice(words) => Value::Text(choice(words, param, &word(kind, given)?)?),
    };
    check_bounds(param, &value)?;
    Ok(value)
}

/// The value of `text` for `param`, if no TOML syntax distinguishes strings from numbers.
pub fn read_text(param: &Param, text: &str) -> Result<Value, Fault> {
    let scalar = match param.kind {
        Kind::Bool if matches!(text, "true" | "false") => Scalar::Bool(text == "true"),
        Kind::Integer => Scalar::Integer(text.to_owned()),
        Kind::Number => Scalar::Float(text.to_owned()),
        Kind::Fraction if text.parse::<f64>().is_ok() => Scalar::Float(text.to_owned()),
        _ => Scalar::Text(text.to_owned()),
    };
    read(param, &Content::Scalar(scalar))
}

impl fmt::Display for Value {
    /// Prints the value as in a scenario file, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::Steady => f.write_str(STEADY),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Size(size) => size.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Bool(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Window(Window::Segments(n)) => write!(f, "{n}mss"),
            Self::Window(Window::Bytes(n)) => write!(f, "{n}B"),
            Self::Sizes(sizes) => sizes.fmt(f),
        }
    }
}

impl Value {
    /// The value as a number in the unit of results, as [`quantity`] has it; a bare number has no unit. None for words,
    /// flags, and sizes that vary.
    pub fn quantity(&self) -> Option<(f64, &'static str)> {
        match self {
            Self::Number(number) => Some((*number, "")),
            Self::Integer(number) => Some((*number as f64, "")),
            Self::Bool(_) | Self::Text(_) | Self::Steady => None,
            other => quantity(&other.to_string()),
        }
    }
}

impl From<&Value> for serde_json::Value {
    /// Numbers, flags and words as such; quantities as text with their unit.
    fn from(value: &Value) -> Self {
        match value {
            Value::Number(number) => Self::from(*number),
            Value::Integer(number) => Self::from(*number),
            Value::Bool(flag) => Self::from(*flag),
            other => Self::from(other.to_string()),
        }
    }
}

/// A noun phrase for a value of this kind, for messages.
pub(crate) fn noun(kind: Kind) -> String {
    match kind {
        Kind::Time => "a time",
        Kind::Start => "a time, or \"steady\"",
        Kind::Bytes | Kind::Sizes => "a number of bytes",
        Kind::Size => "a number of packets or bytes",
        Kind::Rate => "a rate",
        Kind::Fraction => "a share",
        Kind::Number => "a number",
        Kind::Integer => "a whole number",
        Kind::Bool => "true or false",
        Kind::Text => "text",
        Kind::Choice(words) => return format!("one of {}", words.join(", ")),
        Kind::Window => "a number of segments or bytes",
    }
    .to_owned()
}

/// The units of a kind; the first one is suggested for a bare number.
pub(crate) fn units(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Time | Kind::Start => &["ms", "ps", "ns", "us", "s"],
        Kind::Bytes | Kind::Sizes => &["KB", "B", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "TiB"],
        Kind::Size => &["pkt", "B", "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "TiB"],
        Kind::Window => &["mss", "B", "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "TiB"],
        Kind::Rate => &["Gbps", "bps", "kbps", "Kbps", "Mbps", "Tbps", "Bps", "kBps", "KBps", "MBps", "GBps", "TBps"],
        _ => &[],
    }
}

/// A number and a unit, separated.
struct Quantity<'a> {
    text: &'a str,
    digits: u128,
    /// Number of digits after the decimal point.
    decimals: u32,
    unit: &'a str,
}

impl<'a> Quantity<'a> {
    fn of(kind: Kind, text: &'a str) -> Result<Self, Fault> {
        let expected = || format!("{} such as \"10{}\"", noun(kind), units(kind)[0]);
        if text.trim().is_empty() {
            return Err(format!("is empty; write {}", expected()).into());
        }
        if text.starts_with('-') {
            return Err(format!("cannot be negative, as {text:?} is").into());
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        if whole.is_empty() || part.is_empty() || part.contains('.') {
            return Err(format!("must be {}, not {text:?}", expected()).into());
        }
        let unit = rest.strip_prefix(' ').unwrap_or(rest);
        if unit.is_empty() || text.parse::<f64>().is_ok() {
            return Err(needs_unit(kind, text.trim_end()));
        }
        let part = part.trim_end_matches('0');
        // No unit has more than 15 decimal places, so a longer fraction cannot be a whole number.
        if part.len() > 15 {
            return Err(imprecise(kind, text));
        }
        let digits = format!("{whole}{part}").parse().map_err(|_| too_large(text))?;
        Ok(Self { text, digits, decimals: part.len() as u32, unit })
    }

    /// The number times `scale`, to the precision of `f64`.
    fn amount(&self, scale: u128) -> Option<f64> {
        Some(self.digits.checked_mul(scale)? as f64 / 10_f64.powi(self.decimals as i32))
    }

    /// The number times `scale`, which must be whole and at most `limit`.
    fn times(&self, scale: u128, kind: Kind, limit: u64) -> Result<u64, Fault> {
        let scaled = self.digits.checked_mul(scale).ok_or_else(|| too_large(self.text))?;
        let divisor = 10_u128.pow(self.decimals);
        if !scaled.is_multiple_of(divisor) {
            return Err(imprecise(kind, self.text));
        }
        u64::try_from(scaled / divisor).ok().filter(|n| *n <= limit).ok_or_else(|| too_large(self.text))
    }
}

/// The number in `text` without a key that determines its kind, in the unit of results: seconds, bit/s, bytes, packets
/// (also for a window in segments), or 1 for a share. `None` if `text` has no unit.
pub fn quantity(text: &str) -> Option<(f64, &'static str)> {
    if text.contains(['%', '/']) && !text.contains("/s") {
        return fraction(&Scalar::Text(text.to_owned())).ok().map(|share| (share, "1"));
    }
    let quantity = Quantity::of(Kind::Size, text).ok()?;
    let counted = || matches!(quantity.unit, "pkt" | "mss").then_some((1, "pkt"));
    let in_bytes = || Some((byte_scale(quantity.unit)?, "B"));
    let in_bits = || Some((rate_scale(quantity.unit)?, "bit/s"));
    if let Some(scale) = time_scale(quantity.unit) {
        return Some((quantity.amount(scale)? / 1e12, "s"));
    }
    let (scale, unit) = counted().or_else(in_bytes).or_else(in_bits)?;
    Some((quantity.amount(scale)?, unit))
}

/// Picoseconds in a unit of time.
fn time_scale(unit: &str) -> Option<u128> {
    Some(match unit {
        "ps" => 1,
        "ns" => 1_000,
        "us" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        _ => return None,
    })
}

fn time(text: &str) -> Result<Time, Fault> {
    let quantity = Quantity::of(Kind::Time, text)?;
    let scale = time_scale(quantity.unit).ok_or_else(|| unknown_unit(Kind::Time, text, quantity.unit))?;
    quantity.times(scale, Kind::Time, LONGEST).map(Time::from_ps)
}

/// Bytes in a unit of size.
fn byte_scale(unit: &str) -> Option<u128> {
    unit.strip_suffix('B').and_then(prefix)
}

fn bytes(kind: Kind, quantity: &Quantity<'_>) -> Result<u64, Fault> {
    let scale = byte_scale(quantity.unit);
    let scale = scale.ok_or_else(|| unknown_unit(kind, quantity.text, quantity.unit))?;
    quantity.times(scale, kind, LARGEST)
}

fn size(text: &str) -> Result<Size, Fault> {
    let quantity = Quantity::of(Kind::Size, text)?;
    match quantity.unit {
        "pkt" => quantity.times(1, Kind::Size, MOST).map(Size::Packets),
        _ => bytes(Kind::Size, &quantity).map(Size::Bytes),
    }
}

fn window(text: &str) -> Result<Window, Fault> {
    let quantity = Quantity::of(Kind::Window, text)?;
    match quantity.unit {
        "mss" => quantity.times(1, Kind::Window, MOST).map(Window::Segments),
        _ => bytes(Kind::Window, &quantity).map(Window::Bytes),
    }
}

fn sizes(text: &str) -> Result<Sizes, Fault> {
    if workload::is_name(text) {
        return workload::find(text)
            .ok_or_else(|| Fault::unknown_name(&format!("unknown workload {text:?}"), text, &workload::KEYS));
    }
    Sizes::read(text, |text| bytes(Kind::Bytes, &Quantity::of(Kind::Bytes, text)?))
}

/// Bits per second in a unit of rate.
fn rate_scale(unit: &str) -> Option<u128> {
    let bits = ["bps", "b/s", "bit/s"].iter().find_map(|suffix| unit.strip_suffix(suffix)).and_then(prefix);
    let bytes = ["Bps", "B/s"].iter().find_map(|suffix| unit.strip_suffix(suffix)).and_then(prefix);
    bits.or(bytes.map(|scale| scale * 8))
}

fn rate(text: &str) -> Result<Rate, Fault> {
    let quantity = Quantity::of(Kind::Rate, text)?;
    let scale = rate_scale(quantity.unit).ok_or_else(|| unknown_unit(Kind::Rate, text, quantity.unit))?;
    let rate = Rate::from_bps(quantity.times(scale, Kind::Rate, u64::MAX)?);
    if rate == Rate::from_bps(0) {
        return Err(format!("must be above zero, not {text:?}").into());
    }
    if rate.ps_per_byte().is_some() { Ok(rate) } else { Err(inexact_rate(rate)) }
}

/// The factor of an SI or IEC prefix.
fn prefix(prefix: &str) -> Option<u128> {
    Some(match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    })
}

/// The error for a rate at which a byte does not take a whole number of picoseconds; it names the nearest rates at
/// which it does.
fn inexact_rate(rate: Rate) -> Fault {
    // All valid rates divide 8e12 = 2^15 * 5^12, so there are only about 200.
    let powers = |base: u64, top: u32| (0..=top).map(move |n| base.pow(n));
    let exact = powers(2, 15).flat_map(|two| powers(5, 12).map(move |five| Rate::from_bps(two * five)));
    let (below, above): (Vec<Rate>, Vec<Rate>) =
        exact.filter(|candidate| candidate.ps_per_byte().is_some()).partition(|candidate| *candidate < rate);
    let nearest: Vec<String> =
        below.iter().max().into_iter().chain(above.iter().min()).map(|r| format!("\"{r}\"")).collect();
    let nearest = nearest.join(" and ");
    format!("at {rate} a byte does not take a whole number of ps that fits 32 bits; nearest: {nearest}").into()
}

/// `"30%"`, `"1/16"` or a bare number; at most 1 unless the key allows more.
fn fraction(given: &Scalar) -> Result<f64, Fault> {
    let Scalar::Text(text) = given else { return number(Kind::Fraction, given) };
    let malformed = || Fault::from(format!("must be a share such as \"30%\", \"1/16\" or 0.3, not {text:?}"));
    let is_decimal = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'.') && s.parse::<f64>().is_ok();
    if text.starts_with('-') {
        return Err(format!("cannot be negative, as {text:?} is").into());
    }
    if let Some(percent) = text.strip_suffix('%') {
        let percent = percent.strip_suffix(' ').unwrap_or(percent);
        // The exponent moves the point before the only rounding, so "12.34%" is the double nearest to 0.1234.
        return format!("{percent}e-2").parse().ok().filter(|_| is_decimal(percent)).ok_or_else(malformed);
    }
    if let Some((over, under)) = text.split_once('/') {
        let whole = |s: &str| s.parse::<u32>().ok().filter(|_| is_decimal(s)).map(f64::from);
        return match (whole(over), whole(under)) {
            (Some(over), Some(under)) if under > 0.0 => Ok(over / under),
            _ => Err(malformed()),
        };
    }
    if is_decimal(text) { Err(unquote(text)) } else { Err(malformed()) }
}

fn number(kind: Kind, given: &Scalar) -> Result<f64, Fault> {
    match given {
        Scalar::Integer(text) | Scalar::Float(text) => match text.parse::<f64>() {
            // Adding zero turns -0.0 into 0.0, so that the value has one spelling.
            Ok(number) if number.is_finite() => Ok(number + 0.0),
            _ => Err(format!("must be a finite number, not {text}").into()),
        },
        Scalar::Text(text) if text.parse::<f64>().is_ok() => Err(unquote(text)),
        other => Err(format!("must be {}, not {}", noun(kind), other.noun()).into()),
    }
}

fn integer(given: &Scalar) -> Result<u64, Fault> {
    match given {
        Scalar::Integer(text) if text.starts_with('-') => Err(format!("cannot be negative, as {text} is").into()),
        Scalar::Integer(text) => text.parse().map_err(|_| too_large(text)),
        Scalar::Text(text) if text.parse::<u64>().is_ok() => Err(unquote(text)),
        other => Err(format!("must be a whole number, not {}", other.noun()).into()),
    }
}

fn flag(given: &Scalar) -> Result<bool, Fault> {
    match given {
        Scalar::Bool(flag) => Ok(*flag),
        Scalar::Text(text) if matches!(text.as_str(), "true" | "false") => Err(unquote(text)),
        other => Err(format!("must be true or false, not {}", other.noun()).into()),
    }
}

/// Text. A whole number is accepted too, so that `window-scale = 7` needs no quotes.
fn word(kind: Kind, given: &Scalar) -> Result<String, Fault> {
    match given {
        Scalar::Text(text) | Scalar::Integer(text) => Ok(text.clone()),
        other => Err(format!("must be {}, not {}", noun(kind), other.noun()).into()),
    }
}

fn choice(words: &[&str], param: &Param, word: &str) -> Result<String, Fault> {
    if words.contains(&word) {
        return Ok(word.to_owned());
    }
    if let Some((_, ours)) = param.short.iter().find(|(name, _)| *name == word) {
        return Ok((*ours).to_owned());
    }
    let message = format!("must be one of {}, not {word:?}", words.join(", "));
    match param.also.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
        Some((name, ours)) => Err(format!("{message}; {name} is {ours:?} here").into()),
        None => Err(Fault { message, suggestion: nearest(word, words).map(str::to_owned) }),
    }
}

fn quoted(kind: Kind, given: &Scalar) -> Result<&str, Fault> {
    match given {
        Scalar::Text(text) => Ok(text),
        Scalar::Integer(text) | Scalar::Float(text) if text.starts_with('-') => {
            Err(format!("cannot be negative, as {text} is").into())
        }
        Scalar::Integer(text) | Scalar::Float(text) => Err(needs_unit(kind, text)),
        other => Err(format!("must be {}, not {}", noun(kind), other.noun()).into()),
    }
}

/// The error for a number without a unit; it shows the number with the unit in which it is most plausible.
fn needs_unit(kind: Kind, number: &str) -> Fault {
    let amount = number.parse().unwrap_or(f64::NAN);
    if amount.is_nan() || amount >= 1e15 {
        return format!("must be {} such as \"10{}\", not {number}", noun(kind), units(kind)[0]).into();
    }
    let unit = match kind {
        Kind::Time if amount < 1.0 => "s",
        Kind::Time if amount >= 1e7 => "ns",
        Kind::Time if amount >= 1e4 => "us",
        Kind::Rate if amount >= 1e3 => "bps",
        // Who writes thousands of bytes has counted bytes.
        Kind::Bytes | Kind::Sizes | Kind::Size | Kind::Window if amount >= 1e3 => "B",
        Kind::Size | Kind::Window if amount.fract() > 0.0 => "KB",
        _ => units(kind)[0],
    };
    let written = match unit {
        "bps" => Rate::from_bps(amount as u64).to_string(),
        "B" => format!("{amount:.0}B"),
        _ => format!("{amount}{unit}"),
    };
    let or_bytes = if unit == "pkt" { format!(" or \"{amount}KB\"") } else { String::new() };
    format!("{} needs a unit: write \"{written}\"{or_bytes}", noun(kind)).into()
}

/// How a list of words is written where one text is wanted, for messages.
fn in_one_text(kind: Kind, given: &Content) -> String {
    let word = |item: &Node| match &item.content {
        Content::Scalar(Scalar::Text(word)) => Some(word.clone()),
        _ => None,
    };
    let words = match given {
        Content::Array(items) if kind == Kind::Text => items.iter().map(word).collect::<Option<Vec<String>>>(),
        _ => None,
    };
    words.filter(|words| !words.is_empty()).map_or_else(String::new, |words| format!(": write {:?}", words.join(",")))
}

fn imprecise(kind: Kind, text: &str) -> Fault {
    let unit = match kind {
        Kind::Time => "picoseconds",
        Kind::Rate => "bits per second",
        Kind::Bytes => "bytes",
        Kind::Size => "packets or bytes",
        _ => "segments or bytes",
    };
    format!("{text:?} would lose precision: it is not a whole number of {unit}").into()
}

fn too_large(text: &str) -> Fault {
    format!("{text} is too large").into()
}

fn unquote(text: &str) -> Fault {
    format!("write {text} without quotes").into()
}

fn unknown_unit(kind: Kind, text: &str, unit: &str) -> Fault {
    if let Some(other) = measured(unit).filter(|_| meant(kind, unit).is_none()) {
        return format!("{text:?} is {other}, and this is {}; valid units: {}", noun(kind), units(kind).join(", "))
            .into();
    }
    let known = units(kind);
    let number = text[..text.len() - unit.len()].trim_end();
    let intended = meant(kind, unit);
    let suggestion = intended.map(|unit| format!("{number}{unit}"));
    let is_bits = unit.ends_with('b') && matches!(kind, Kind::Bytes | Kind::Size | Kind::Window);
    let message = match suggestion {
        Some(_) if is_bits => format!("{unit:?} counts bits, and this is {}", noun(kind)),
        Some(_) => format!("unknown unit {unit:?}"),
        None => format!("unknown unit {unit:?}; valid: {}", known.join(", ")),
    };
    Fault { message, suggestion }
}

/// What a unit measures, if it is one of any kind.
fn measured(unit: &str) -> Option<&'static str> {
    let time = time_scale(unit).map(|_| "a time");
    let bytes = || byte_scale(unit).map(|_| "a number of bytes");
    let rate = || rate_scale(unit).map(|_| "a rate");
    let counted = || matches!(unit, "pkt" | "mss").then_some("a number of packets");
    time.or_else(bytes).or_else(rate).or_else(counted)
}

/// The unit of `kind` that `unit` probably stands for.
fn meant(kind: Kind, unit: &str) -> Option<&'static str> {
    let other_case = |name: &str| units(kind).iter().copied().find(|known| known.eq_ignore_ascii_case(name));
    other_case(unit).or_else(|| match (kind, unit.to_lowercase().as_str()) {
        (Kind::Time, "sec" | "secs" | "second" | "seconds") => Some("s"),
        (Kind::Time, "msec" | "msecs" | "millis") => Some("ms"),
        (Kind::Time, "usec" | "usecs" | "µs" | "μs" | "micros") => Some("us"),
        (Kind::Time, "nsec" | "nsecs" | "nanos") => Some("ns"),
        (Kind::Size, "p" | "pkts" | "packet" | "packets") => Some("pkt"),
        (Kind::Window, "seg" | "segs" | "segment" | "segments" | "pkt" | "packets") => Some("mss"),
        (Kind::Bytes | Kind::Size | Kind::Window, "byte" | "bytes") => Some("B"),
        (Kind::Rate, short @ ("k" | "m" | "g" | "t")) => other_case(&format!("{short}bps")),
        // Gb and GB differ only in case, which distinguishes bits from bytes here.
        (Kind::Rate, _) => units(kind).iter().copied().find(|known| known.strip_suffix("ps") == Some(unit)),
        _ => None,
    })
}

fn check_bounds(param: &Param, value: &Value) -> Result<(), Fault> {
    let (least, most) = match value {
        Value::Time(time) => both(time.ps() as f64),
        Value::Bytes(bytes) => both(bytes.get() as f64),
        Value::Rate(rate) => both(rate.bps() as f64),
        Value::Size(Size::Packets(n) | Size::Bytes(n))
        | Value::Window(Window::Segments(n) | Window::Bytes(n))
        | Value::Integer(n) => both(*n as f64),
        Value::Number(number) => both(*number),
        Value::Sizes(sizes) => (sizes.least() as f64, sizes.most() as f64),
        Value::Bool(_) | Value::Text(_) | Value::Steady => return Ok(()),
    };
    let max = upper_bound(param);
    if least < param.min {
        return Err(format!("must be at least {}, not {value}", bound(value, param.min)).into());
    }
    if most > max {
        return Err(format!("must be at most {}, not {value}", bound(value, max)).into());
    }
    Ok(())
}

fn both(amount: f64) -> (f64, f64) {
    (amount, amount)
}

/// The largest value of `param`; a share is at most 1 unless its declaration says otherwise.
pub fn upper_bound(param: &Param) -> f64 {
    if param.kind == Kind::Fraction && param.max.is_infinite() { 1.0 } else { param.max }
}

/// A bound in the unit of the value that violates it.
fn bound(value: &Value, bound: f64) -> Value {
    let whole = bound.ceil() as u64;
    match value {
        Value::Time(_) => Value::Time(Time::from_ps(whole)),
        Value::Bytes(_) | Value::Sizes(_) => Value::Bytes(Bytes::new(whole)),
        Value::Rate(_) => Value::Rate(Rate::from_bps(whole)),
        Value::Size(Size::Packets(_)) => Value::Size(Size::Packets(whole)),
        Value::Size(Size::Bytes(_)) => Value::Size(Size::Bytes(whole)),
        Value::Window(Window::Segments(_)) => Value::Window(Window::Segments(whole)),
        Value::Window(Window::Bytes(_)) => Value::Window(Window::Bytes(whole)),
        _ => Value::Number(bound),
    }
}
