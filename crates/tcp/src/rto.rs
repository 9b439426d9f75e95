//! The retransmission timer of RFC 6298: its duration, not its management (section 5, which is the sender's part).
//!
//! Karn's rule (section 3) is also up to the caller: it takes samples only from segments that were sent once.

use crate::Ticks;
use fanin_core::units::Time;

/// Constants of the timer. They are shared by all flows of a group, so estimators do not hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Lower bound of a computed timeout (RFC 6298 section 2.4 says 1 s; data centres use 200 us to 30 ms). Of a sender as in
    /// Linux it is whole ticks, and bounds the variation.
    pub minimum: Time,
    /// Timeout before the first sample (section 2.1). The lower bound does not apply to it.
    pub initial: Time,
    /// Upper bound of a timeout of data, backed off or not (section 2.5).
    pub maximum: Time,
    /// Clock granularity G of sections 2.2 and 2.3.
    pub(crate) granularity: Time,
    /// Tick of the clock that times round trips; zero for an exact one.
    pub(crate) clock: Time,
    /// What a round trip counts as in which no tick falls; none if it is no sample.
    pub(crate) unseen: Option<Time>,
    /// The minimum is that of the variation, and not of the timeout.
    pub(crate) bounds_variation: bool,
    /// Number of consecutive timeouts that double the timer (section 5.5); later ones do not.
    pub(crate) backoff_limit: u32,
}

impl RtoConfig {
    /// The declared defaults of `[transport]`.
    pub(crate) const DEFAULT: Self = Self {
        minimum: Time::from_ms(200),
        initial: Time::from_secs(1),
        maximum: Time::from_secs(60),
        granularity: Time::ZERO,
        clock: Time::ZERO,
        unseen: None,
        bounds_variation: false,
        backoff_limit: 6,
    };

    /// The kernel's tick, of a sender as in Linux.
    pub(crate) fn ticks(&self) -> Ticks {
        Ticks(if self.granularity == Time::ZERO { Time::from_ms(1) } else { self.granularity })
    }

    /// How long a tick is, of a sender as in Linux.
    pub fn tick(&self) -> Time {
        self.ticks().0
    }

    /// What the clock shows of a round trip of `rtt` that ends at `now`: the ticks that fell into it, or [`Self::unseen`].
    #[inline]
    pub(crate) fn measured(&self, rtt: Time, now: Time) -> Option<Time> {
        let tick = self.clock.ps();
        if tick == 0 {
            return Some(rtt);
        }
        let ticks = now.ps() / tick - now.saturating_sub(rtt).ps() / tick;
        if ticks > 0 { Some(Time::from_ps(ticks * tick)) } else { self.unseen }
    }
}

/// Smoothed round-trip time and its variation, and how often the timer has doubled.
///
/// All arithmetic is on integer picoseconds. Quotients are rounded to the nearest integer, halves upwards,
/// so one sample adds an error of half a picosecond at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RtoEstimator {
    /// [`NO_SAMPLE`] before the first sample.
    srtt: u64,
    rttvar: u64,
    backoff: u8,
}

/// Means that there is no sample yet; no round trip takes 213 days.
const NO_SAMPLE: u64 = u64::MAX;

/// K of RFC 6298 section 2.2.
const K: u64 = 4;

impl Default for RtoEstimator {
    fn default() -> Self {
        Self::new()
    }
}

impl RtoEstimator {
    /// An estimator without a sample and without backoff.
    pub(crate) const fn new() -> Self {
        Self { srtt: NO_SAMPLE, rttvar: 0, backoff: 0 }
    }

    /// Takes the round-trip time of a segment that was sent once, and ends the backoff: RFC 6298 section 5, in
    /// the note after (5.7), computes the timeout afresh from the first measurement after a retransmission.
    #[inline(always)]
    pub(crate) const fn on_sample(&mut self, rtt: Time) {
        let rtt = rtt.ps();
        if self.srtt == NO_SAMPLE {
            // RFC 6298 s2.2
            self.srtt = rtt;
            self.rttvar = rtt.div_ceil(2);
        } else {
            // RFC 6298 s2.3: alpha = 1/8, beta = 1/4, and RTTVAR first because it needs the old SRTT.
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt) + 2) / 4;
            self.srtt = (7 * self.srtt + rtt + 4) / 8;
        }
        self.backoff = 0;
    }

    /// The timer expired: doubles it (RFC 6298 section 5.5), `backoff_limit` times at most.
    pub(crate) const fn on_timeout(&mut self, cfg: &RtoConfig) {
        if (self.backoff as u32) < cfg.backoff_limit && self.backoff < u8::MAX {
            self.backoff += 1;
        }
    }

    /// Shows the smoothed round-trip time of an estimator that is not this one.
    pub(crate) fn show(&mut self, srtt: Option<Time>) {
        self.srtt = srtt.map_or(NO_SAMPLE, Time::ps);
    }

    /// Ends the backoff without a sample, as some stacks do when new data is acknowledged by the ACK of a retransmission.
    ///
    /// By RFC 6298 section 5, note after (5.7), only a new measurement ends the backoff, because until then the
    /// round-trip time may have grown beyond the estimate.
    pub(crate) const fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// How long the timer runs if started now.
    #[inline(always)]
    pub(crate) fn rto(&self, cfg: &RtoConfig) -> Time {
        let base = match self.srtt {
            NO_SAMPLE => cfg.initial.ps(), // RFC 6298 s2.1
            // RFC 6298 s2.2 and 2.3; rounded up to the minimum by s2.4.
            srtt => {
                let (minimum, variation) = (cfg.minimum.ps(), cfg.granularity.ps().max(K * self.rttvar));
                if cfg.bounds_variation { srtt + variation.max(minimum) } else { (srtt + variation).max(minimum) }
            }
        };
        // RFC 6298 s5.5, bounded by s2.5. The minimum comes before the doubling: what doubles is the RTO.
        let doubled = if self.backoff == 0 { base } else { base.saturating_mul(1 << self.backoff.min(63)) };
        Time::from_ps(doubled.min(cfg.maximum.ps()))
    }

    /// Smoothed round-trip time, once there is a sample.
    pub(crate) fn srtt(&self) -> Option<Time> {
        (self.srtt != NO_SAMPLE).then_some(Time::from_ps(self.srtt))
    }

    /// Variation of the round-trip time, once there is a sample.
    #[cfg(test)]
    pub(crate) fn rttvar(&self) -> Option<Time> {
        (self.srtt != NO_SAMPLE).then_some(Time::from_ps(self.rttvar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFG: RtoConfig = RtoConfig {
        minimum: Time::from_us(200),
        initial: Time::from_ms(10),
        granularity: Time::from_us(1),
        ..RtoConfig::DEFAULT
    };

    fn sampled(samples_us: &[u64]) -> RtoEstimator {
        let mut rto = RtoEstimator::new();
        for &us in samples_us {
            rto.on_sample(Time::from_us(us));
        }
        rto
    }

    #[test]
    fn a_clock_shows_the_ticks_of_a_round_trip_and_no_sample_without_one() {
        let cfg = RtoConfig { clock: Time::from_ms(1), ..CFG };
        let at = |us| Time::from_us(us);
        assert_eq!(cfg.measured(at(1000), at(1950)), Some(Time::from_ms(1)), "the tick at 1 ms");
        assert_eq!(cfg.measured(at(40), at(1020)), Some(Time::from_ms(1)), "40 us with a tick among them");
        assert_eq!(cfg.measured(at(800), at(1900)), None, "800 us without");
        let since_3_34 = RtoConfig { unseen: Some(at(1)), ..cfg };
        assert_eq!(since_3_34.measured(at(800), at(1900)), Some(at(1)), "ns-3 from 3.34 on");
        assert_eq!(since_3_34.measured(at(1000), at(1950)), Some(Time::from_ms(1)));
        assert_eq!(
            cfg.measured(at(2100), at(3000)),
            Some(Time::from_ms(3)),
            "ticks at 1, 2 and 3 ms: one at the very end counts"
        );
        assert_eq!(CFG.measured(at(40), at(1020)), Some(at(40)), "an exact clock");
    }

    #[test]
    fn the_minimum_bounds_the_timeout_or_the_variation() {
        let steady = sampled(&[100; 40]);
        assert_eq!(steady.rto(&CFG), Time::from_us(200));
        assert_eq!(steady.rto(&RtoConfig { bounds_variation: true, ..CFG }), Time::from_us(300));
    }

    #[test]
    fn rfc6298_s2_1_the_timeout_before_any_sample_is_the_initial_one() {
        assert_eq!(RtoEstimator::new().rto(&CFG), Time::from_ms(10));
        assert_eq!(RtoEstimator::new().srtt(), None);
        assert_eq!(RtoEstimator::new().rttvar(), None);
        let cfg = RtoConfig { initial: Time::from_us(50), ..CFG };
        assert_eq!(RtoEstimator::new().rto(&cfg), Time::from_us(50), "set, not computed: no minimum");
    }

    #[test]
    fn rfc6298_s2_2_the_first_sample_sets_mean_and_half_of_it_as_variation() {
        let rto = sampled(&[400]);
        assert_eq!(rto.srtt(), Some(Time::from_us(400)));
        assert_eq!(rto.rttvar(), Some(Time::from_us(200)));
        assert_eq!(rto.rto(&CFG), Time::from_us(400 + 4 * 200));
    }

    #[test]
    fn rfc6298_s2_3_later_samples_move_the_variation_before_the_mean() {
        let rto = sampled(&[400, 800]);
        // |400 - 800| against the old mean: 3/4 * 200 + 1/4 * 400. The new mean, 450, would give 237.5.
        assert_eq!(rto.rttvar(), Some(Time::from_us(250)));
        assert_eq!(rto.srtt(), Some(Time::from_us(450)));
        assert_eq!(rto.rto(&CFG), Time::from_us(450 + 4 * 250));
        assert_eq!(sampled(&[800, 400]).rttvar(), Some(Time::from_us(400)), "the deviation is absolute");
    }

    #[test]
    fn rfc6298_s2_3_the_variation_counts_for_at_least_the_clock_granularity() {
        let rto = sampled(&[400; 100]);
        assert!(rto.rttvar().unwrap() < Time::from_ns(1));
        assert_eq!(rto.rto(&CFG), Time::from_us(401));
    }

    #[test]
    fn rfc6298_s2_4_a_computed_timeout_is_raised_to_the_minimum_before_it_doubles() {
        let mut rto = sampled(&[10]);
        assert_eq!(rto.rto(&CFG), Time::from_us(200));
        rto.on_timeout(&CFG);
        assert_eq!(rto.rto(&CFG), Time::from_us(400));
    }

    #[test]
    fn rfc6298_s2_5_no_timeout_exceeds_the_maximum() {
        let cfg = RtoConfig { maximum: Time::from_ms(25), backoff_limit: u32::MAX, ..CFG };
        assert_eq!(sampled(&[1_000_000]).rto(&cfg), Time::from_ms(25));
        let mut rto = RtoEstimator::new();
        for expected in [20, 25, 25] {
            rto.on_timeout(&cfg);
            assert_eq!(rto.rto(&cfg), Time::from_ms(expected));
        }
        for _ in 0..1000 {
            rto.on_timeout(&cfg);
        }
        assert_eq!(rto.rto(&cfg), Time::from_ms(25), "and no shift overflows");
    }

    #[test]
    fn rfc6298_s5_5_every_timeout_doubles_the_timer_up_to_the_limit() {
        let mut rto = sampled(&[400]);
        let base = rto.rto(&CFG);
        for n in 1..=8 {
            rto.on_timeout(&CFG);
            assert_eq!(rto.rto(&CFG), base * (1 << n.min(6)));
        }
    }

    #[test]
    fn rfc6298_s5_7_a_sample_ends_the_backoff() {
        let mut rto = sampled(&[400, 400]);
        rto.on_timeout(&CFG);
        rto.on_timeout(&CFG);
        rto.on_sample(Time::from_us(400));
        assert_eq!(rto, sampled(&[400, 400, 400]));
    }

    #[test]
    fn rfc6298_s5_7_a_reset_ends_the_backoff() {
        let mut rto = sampled(&[400]);
        let base = rto.rto(&CFG);
        rto.on_timeout(&CFG);
        assert_eq!(rto.rto(&CFG), base * 2);
        rto.reset_backoff();
        assert_eq!(rto.rto(&CFG), base);
    }

    #[test]
    fn quotients_are_rounded_to_the_nearest_picosecond() {
        let mut rto = RtoEstimator::new();
        rto.on_sample(Time::from_ps(101));
        assert_eq!(rto.rttvar(), Some(Time::from_ps(51))); // 50.5
        rto.on_sample(Time::from_ps(105));
        assert_eq!(rto.rttvar(), Some(Time::from_ps(39))); // 39.25
        assert_eq!(rto.srtt(), Some(Time::from_ps(102))); // 101.5
    }
}
