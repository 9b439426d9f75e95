//! Quantities with their unit in the type: time in picoseconds, sizes in bytes, rates in bit/s.
//!
//! All three are exact integers. One byte lasts 80 ps at 100 Gbps and 20 ps at 400 Gbps, so picoseconds
//! hold every transmission time that the simulator accepts, and `u64` holds 213 days of them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A point in simulated time, or a span of it, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The origin of simulated time; also the empty span.
    pub const ZERO: Self = Self(0);
    /// Later than every event: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// A time of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// A time of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// A time of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// A time of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// A span of `s` seconds, cut to whole picoseconds.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e12) as u64)
    }
    /// A time of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }
    /// The number of picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Whole microseconds: what a clock of that resolution shows.
    pub const fn us(self) -> u64 {
        self.0 / 1_000_000
    }
    /// The value in seconds, for reports and for algorithms that work in floating point.
    pub fn secs(self) -> f64 {
        // Division gives the double nearest to the decimal value; multiplying by 1e-12 does not.
        self.0 as f64 / 1e12
    }
    /// `self - earlier`, or zero where `earlier` is later.
    #[must_use]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, capped at [`Time::NEVER`].
    #[must_use]
    pub const fn saturating_add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
    /// Whether this is [`Time::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Time {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}
impl Time {
    /// The next multiple of `tick`, or this time if it is one; an exact clock has ticks of zero.
    #[inline(always)]
    #[must_use]
    pub const fn up_to_ticks(self, tick: Self) -> Self {
        if tick.0 == 0 { self } else { Self(self.0.div_ceil(tick.0).saturating_mul(tick.0)) }
    }
}

impl fmt::Display for Time {
    /// Prints in the largest unit in which the value is an integer: `33us`, `1500ns`, `0s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
        let (scale, unit) = UNITS.iter().find(|(scale, _)| self.0.is_multiple_of(*scale)).expect("1 divides all");
        write!(f, "{}{unit}", self.0 / scale)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);
    /// A size of `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}
impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// Bits in a byte times picoseconds in a second: `ps per byte = BIT_PS / (bit/s)`.
const BIT_PS: u64 = 8_000_000_000_000;

impl Rate {
    /// A rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Picoseconds that one byte takes, if that is a whole number that a port can hold (32 bits).
    pub fn ps_per_byte(self) -> Option<u32> {
        if self.0 == 0 || !BIT_PS.is_multiple_of(self.0) {
            return None;
        }
        u32::try_from(BIT_PS / self.0).ok()
    }
    /// Bytes sent in `span` at this rate, as a real number: a bandwidth-delay product.
    pub fn bytes_in(self, span: Time) -> f64 {
        self.0 as f64 / 8.0 * span.secs()
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "kbps"), (1, "bps")];
        let (scale, unit) = UNITS.iter().find(|(scale, _)| self.0.is_multiple_of(*scale)).expect("1 divides all");
        write!(f, "{}{unit}", self.0 / scale)
    }
}

/// A limit that may count packets or bytes, as switch documentation and papers use either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Whole packets of any length.
    Packets(u64),
    /// Bytes on the wire.
    Bytes(u64),
}
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n}pkt"),
            Self::Bytes(n) => write!(f, "{n}B"),
        }
    }
}

/// A count as a real number. By way of a signed integer, which x86-64 converts in one instruction, and an unsigned one
/// in six.
#[inline(always)]
pub const fn real(count: u64) -> f64 {
    count as i64 as f64
}
