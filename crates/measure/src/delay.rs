//! One-way delay and jitter of a class of packets.

use super::histogram::Histogram;
use fanin_core::units::Time;

/// Delays of a class of packets.
///
/// "Jitter" has two definitions here, under two names: the mean absolute difference between consecutive packets of a
/// flow, and the standard deviation. The smoothed estimate of RFC 3550 section 6.4.1 filters the same differences with
/// a gain of 1/16. Its value depends on when it is read, so it is no statistic of a window.
#[derive(Clone, Debug, Default)]
pub struct DelayStats {
    delays: Histogram,
    /// Sum of the squared delays in ps^2. A delay below 2^43 ps (8.8 s) leaves room for 2^42 packets.
    squares: u128,
    differences: u128,
    pairs: u64,
}

impl DelayStats {
    /// Statistics without packets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a packet. `previous` is the delay of the packet received before it on the same flow, if any.
    #[inline]
    pub fn record(&mut self, delay: Time, previous: Option<Time>) {
        let ps = delay.ps();
        self.delays.record(ps);
        self.squares += u128::from(ps) * u128::from(ps);
        if let Some(previous) = previous {
            self.differences += u128::from(ps.abs_diff(previous.ps()));
            self.pairs += 1;
        }
    }

    /// The statistics of all packets so far; `None` without packets.
    pub fn summary(&self) -> Option<DelaySummary> {
        let percentile = |q| self.delays.percentile(q).map(Time::from_ps);
        Some(DelaySummary {
            packets: self.delays.count(),
            mean_s: self.delays.mean()? * 1e-12,
            p50: percentile(0.50)?,
            p95: percentile(0.95)?,
            p99: percentile(0.99)?,
            max: percentile(1.0)?,
            standard_deviation_s: self.variance_ps2().sqrt() * 1e-12,
            mean_absolute_difference_s: (self.pairs > 0).then(|| self.differences as f64 / self.pairs as f64 * 1e-12),
        })
    }

    /// Variance in ps^2. In floating point, rounding would swamp the variance of delays of milliseconds that differ by
    /// nanoseconds, so the squares are centred on the mean in integers: `sum (d - m)^2 = sum d^2 + n m^2 - 2 m sum d`.
    fn variance_ps2(&self) -> f64 {
        let n = u128::from(self.delays.count());
        let mean = self.delays.sum() / n;
        let about_mean = (self.squares + n * mean * mean) - 2 * mean * self.delays.sum();
        let fraction = (self.delays.sum() % n) as f64 / n as f64;
        (about_mean as f64 / n as f64 - fraction * fraction).max(0.0)
    }
}

/// Delays of a class over a window.
#[derive(Clone, Debug, PartialEq)]
pub struct DelaySummary {
    /// The number of packets.
    pub packets: u64,
    /// Mean in seconds, exact but for the rounding to `f64`.
    pub mean_s: f64,
    /// Median. All percentiles are by nearest rank, at most 1/64 too high.
    pub p50: Time,
    /// 95th percentile.
    pub p95: Time,
    /// 99th percentile.
    pub p99: Time,
    /// Exact maximum.
    pub max: Time,
    /// Population standard deviation of the delays, in seconds.
    pub standard_deviation_s: f64,
    /// Jitter in seconds: mean absolute difference between the delays of consecutive packets of a flow (|D| of RFC 3550
    /// section 6.4.1, unsmoothed). `None` if no flow had two packets.
    pub mean_absolute_difference_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-12
    }

    fn of(delays_ns: &[u64]) -> DelayStats {
        let mut stats = DelayStats::new();
        let mut previous = None;
        for delay in delays_ns.iter().copied().map(Time::from_ns) {
            stats.record(delay, previous);
            previous = Some(delay);
        }
        stats
    }

    #[test]
    fn the_two_jitters_are_what_they_say() {
        let summary = of(&[2, 4, 4, 4, 5, 5, 7, 9]).summary().unwrap();
        assert_eq!((summary.packets, summary.max), (8, Time::from_ns(9)));
        assert!(near(summary.mean_s, 5e-9), "{summary:?}");
        assert!(near(summary.standard_deviation_s, 2e-9), "{summary:?}");
        assert!(near(summary.mean_absolute_difference_s.unwrap(), 1e-9), "{summary:?}");
    }

    #[test]
    fn the_deviation_survives_a_large_mean() {
        // 1 s plus or minus 1.5 ps: a squared delay has 24 digits, more than f64 holds.
        let mut stats = DelayStats::new();
        let second = Time::from_secs(1);
        stats.record(second, None);
        stats.record(second + Time::from_ps(3), None);
        let summary = stats.summary().unwrap();
        assert!(near(summary.standard_deviation_s, 1.5e-12), "{summary:?}");
        assert!(summary.mean_absolute_difference_s.is_none());
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(DelayStats::new().summary(), None);
    }
}
