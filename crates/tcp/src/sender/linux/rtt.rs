//! `tcp_rtt_estimator`, `tcp_set_rto` and `tcp_update_rtt_min`: whole microseconds, and a timeout in ticks.

use crate::rto::RtoConfig;
use fanin_core::units::Time;

/// What a sender knows of its round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtt {
    /// `srtt_us`: eight times the smoothed round-trip time; zero before the first sample.
    eightfold: u64,
    /// `mdev_us`, `mdev_max_us` and `rttvar_us`: four times the deviation, its largest in the present round trip, and what
    /// counts for the timeout.
    deviation: u64,
    largest: u64,
    variation: u64,
    /// `rtt_seq`: the round trip ends when this is acknowledged.
    round_end: u64,
    /// `rtt_min`: the least one; zero before the first sample.
    pub(super) least: u64,
    /// `icsk_rto` in ticks; zero before the first sample and timeout.
    timeout: u64,
}

impl Rtt {
    /// A sample of `us`, with all below `una` acknowledged and all below `nxt` sent.
    pub(super) fn on_sample(&mut self, us: u64, una: u64, nxt: u64, cfg: &RtoConfig) {
        let least = cfg.minimum.us();
        let us = us as i64;
        if self.eightfold == 0 {
            self.eightfold = (us << 3).max(1) as u64;
            self.deviation = (us << 1) as u64;
            self.variation = self.deviation.max(least);
            self.largest = self.variation;
            self.round_end = nxt;
        } else {
            let error = us - (self.eightfold >> 3) as i64;
            self.eightfold = (self.eightfold as i64 + error).max(1) as u64;
            let mut change = error.abs() - (self.deviation >> 2) as i64;
            // A round trip that is shorter says less about the next.
            if error < 0 && change > 0 {
                change >>= 3;
            }
            self.deviation = (self.deviation as i64 + change).max(0) as u64;
            if self.deviation > self.largest {
                self.largest = self.deviation;
                self.variation = self.variation.max(self.largest);
            }
            if una > self.round_end {
                self.variation -= self.variation.saturating_sub(self.largest) >> 2;
                self.round_end = nxt;
                self.largest = least;
            }
        }
        let timeout = Time::from_us((self.eightfold >> 3) + self.variation);
        self.timeout = cfg.ticks().in_span(timeout.min(cfg.maximum));
    }

    /// A round-trip time that may be the least one.
    pub(super) fn on_least(&mut self, us: u64, cfg: &RtoConfig) {
        let us = if us == 0 { cfg.ticks().0.us() } else { us };
        if self.least == 0 || us < self.least {
            self.least = us;
        }
    }

    /// `icsk_rto`, in ticks.
    pub(super) fn timeout(&self, cfg: &RtoConfig) -> u64 {
        if self.timeout == 0 { cfg.ticks().in_span(cfg.initial) } else { self.timeout }
    }

    /// The timer has expired: it runs twice as long.
    pub(super) fn back_off(&mut self, cfg: &RtoConfig) {
        self.timeout = (2 * self.timeout(cfg)).min(cfg.ticks().in_span(cfg.maximum));
    }

    /// The smoothed round-trip time in us, times eight; none before the first sample.
    pub(super) fn eightfold(&self) -> Option<u64> {
        (self.eightfold > 0).then_some(self.eightfold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFG: RtoConfig = RtoConfig { granularity: Time::from_ms(1), ..RtoConfig::DEFAULT };

    /// After samples in us, each of a round trip of its own.
    fn sampled(samples: &[u64]) -> Rtt {
        let mut rtt = Rtt::default();
        for (&us, at) in samples.iter().zip((1..).step_by(10)) {
            rtt.on_sample(us, at, at + 9, &CFG);
        }
        rtt
    }

    #[test]
    fn tcp_rtt_estimator_bounds_the_variation_and_not_the_timeout() {
        assert_eq!(sampled(&[40]).timeout(&CFG), 201, "200 ms and 40 us, in whole ticks");
        assert_eq!(sampled(&[400_000]).timeout(&CFG), 1200, "twice the first sample is more");
    }

    #[test]
    fn tcp_rtt_estimator_takes_the_largest_variation_of_a_round_trip_and_lowers_it_slowly() {
        let peak = sampled(&[100_000, 500_000]);
        let later = sampled(&[100_000, 500_000, 150_000, 150_000]);
        let (peak, later) = (peak.variation, later.variation);
        assert!(peak > 500_000 && later > peak / 2 && later < peak, "{peak} {later}");
    }

    #[test]
    fn tcp_rtt_estimator_weighs_a_shorter_round_trip_less() {
        let rise = sampled(&[100_000, 500_000]).deviation - sampled(&[100_000]).deviation;
        let fall = sampled(&[500_000, 100_000]).deviation - sampled(&[500_000]).deviation;
        assert!(fall < rise / 4, "{fall} {rise}");
    }

    #[test]
    fn tcp_retransmit_timer_doubles_up_to_the_maximum_and_a_sample_ends_it() {
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout(&CFG), 1000, "TCP_TIMEOUT_INIT");
        (0..3).for_each(|_| rtt.back_off(&CFG));
        assert_eq!(rtt.timeout(&CFG), 8000);
        (0..9).for_each(|_| rtt.back_off(&CFG));
        assert_eq!(rtt.timeout(&CFG), 60_000);
        rtt.on_sample(40, 1, 2, &CFG);
        assert_eq!(rtt.timeout(&CFG), 201);
    }

    #[test]
    fn tcp_update_rtt_min_keeps_the_least_and_takes_none_for_a_tick() {
        let mut rtt = Rtt::default();
        rtt.on_least(0, &CFG);
        assert_eq!(rtt.least, 1000);
        for us in [30, 50] {
            rtt.on_least(us, &CFG);
        }
        assert_eq!(rtt.least, 30);
    }
}
