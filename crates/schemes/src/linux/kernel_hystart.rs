//! HyStart as Linux has it (`net/ipv4/tcp_cubic.c`): slow start ends in the round in which acknowledgements keep coming for
//! half of the least round trip, or in which round trips have become longer.
//!
//! Times are whole microseconds in here, as `tcp_mstamp` is.

/// `hystart_low_window`: segments below which nothing is looked for.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: acknowledgements at most this far apart are one train.
const SPACING_US: u64 = 2_000;
/// `HYSTART_MIN_SAMPLES`: round trips of a round before its least one counts.
const SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`.
const LEAST_INCREASE_US: u64 = 4_000;
const MOST_INCREASE_US: u64 = 16_000;
/// `sk_gso_max_size`, without the room for headers that the kernel takes off it.
const BURST: f64 = 65_536.0;
/// Largest result of `hystart_ack_delay`.
const MOST_ACK_DELAY_US: f64 = 1_000.0;

/// What an acknowledgement is judged by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now_us: u64,
    /// Acknowledged and sent up to here.
    pub(super) una: u64,
    pub(super) nxt: u64,
    /// Its round-trip time and the least so far.
    pub(super) rtt_us: u64,
    pub(super) min_rtt_us: u64,
    /// The window in segments.
    pub(super) window: u64,
    /// Bytes per second at which Linux would pace the flow (`sk_pacing_rate`).
    pub(super) rate: Option<f64>,
}

/// The variables of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelHyStart {
    /// The flow is paced: bursts of a round may be spread over half of it.
    paced: bool,
    found: bool,
    round_start_us: u64,
    round_end: u64,
    last_ack_us: u64,
    round_min_us: u64,
    samples: u32,
}

impl KernelHyStart {
    pub(super) const fn new(paced: bool) -> Self {
        let (found, round_start_us, round_end, last_ack_us) = (false, 0, 0, 0);
        Self { paced, found, round_start_us, round_end, last_ack_us, round_min_us: u64::MAX, samples: 0 }
    }

    /// `cubictcp_init` and `cubictcp_state`: at the start and after a timeout.
    pub(super) const fn restart(&mut self, now_us: u64, nxt: u64) {
        self.found = false;
        self.begin_round(now_us, nxt);
    }

    /// `bictcp_hystart_reset`.
    const fn begin_round(&mut self, now_us: u64, nxt: u64) {
        (self.round_start_us, self.last_ack_us, self.round_end) = (now_us, now_us, nxt);
        (self.round_min_us, self.samples) = (u64::MAX, 0);
    }

    /// `hystart_update` and its caller's conditions: whether slow start is over.
    pub(super) fn ends_slow_start(&mut self, sample: &Sample) -> bool {
        if self.found {
            return false;
        }
        if sample.una > self.round_end {
            self.begin_round(sample.now_us, sample.nxt);
        }
        if sample.window < LOW_WINDOW {
            return false;
        }
        let (train, delay) = (self.sees_train(sample), self.sees_delay(sample));
        self.found = train || delay;
        self.found
    }

    fn sees_train(&mut self, sample: &Sample) -> bool {
        if sample.now_us - self.last_ack_us > SPACING_US {
            return false;
        }
        self.last_ack_us = sample.now_us;
        let threshold = sample.min_rtt_us + ack_delay_us(sample.rate);
        sample.now_us - self.round_start_us > if self.paced { threshold } else { threshold / 2 }
    }

    fn sees_delay(&mut self, sample: &Sample) -> bool {
        self.round_min_us = self.round_min_us.min(sample.rtt_us);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let increase = (sample.min_rtt_us / 8).clamp(LEAST_INCREASE_US, MOST_INCREASE_US);
        self.round_min_us > sample.min_rtt_us + increase
    }
}

/// `hystart_ack_delay`: the time of four of the largest bursts.
fn ack_delay_us(rate: Option<f64>) -> u64 {
    let Some(rate) = rate.filter(|rate| *rate > 0.0) else { return 0 };
    (BURST * 4.0 * 1e6 / rate).min(MOST_ACK_DELAY_US) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Sample =
        Sample { now_us: 0, una: 1, nxt: 100, rtt_us: 10_000, min_rtt_us: 10_000, window: 20, rate: None };

    /// When slow start ends, if acknowledgements of one round come every `spacing` from its first one on.
    fn train(paced: bool, spacing: u64, by: Sample) -> Option<u64> {
        let mut hystart = KernelHyStart::new(paced);
        hystart.restart(0, 1);
        let at = |i: u64| Sample { now_us: 50_000 + i * spacing, una: 2 + i, nxt: 1_000, ..by };
        (0..60).find(|i| hystart.ends_slow_start(&at(*i))).map(|i| i * spacing)
    }

    #[test]
    fn hystart_update_ends_slow_start_when_a_train_is_longer_than_half_of_the_least_round_trip() {
        assert_eq!(train(false, 500, QUIET), Some(5_500), "more than 5 ms");
        assert_eq!(train(true, 500, QUIET), Some(10_500), "all of it if the flow is paced");
    }

    #[test]
    fn hystart_update_knows_a_train_by_two_milliseconds_between_acknowledgements() {
        assert_eq!(train(false, 2_000, QUIET), Some(6_000));
        assert_eq!(train(false, 2_001, QUIET), None);
    }

    #[test]
    fn hystart_ack_delay_is_the_time_of_four_bursts_and_a_millisecond_at_most() {
        assert_eq!(ack_delay_us(Some(1e9)), 262);
        assert_eq!(ack_delay_us(Some(1e8)), 1_000);
        assert_eq!(ack_delay_us(None), 0);
        // 100 us and 262 us: the train may last for half of both.
        let near = Sample { rtt_us: 100, min_rtt_us: 100, rate: Some(1e9), ..QUIET };
        assert_eq!(train(false, 20, near), Some(200));
    }

    #[test]
    fn cubictcp_acked_looks_for_nothing_below_sixteen_segments() {
        assert_eq!(train(false, 500, Sample { window: 15, ..QUIET }), None);
        assert_eq!(train(false, 500, Sample { window: 16, ..QUIET }), Some(5_500));
    }

    #[test]
    fn bictcp_hystart_reset_begins_rounds_of_small_windows_too() {
        let mut hystart = KernelHyStart::new(false);
        hystart.restart(0, 1);
        assert!(!hystart.ends_slow_start(&Sample { now_us: 50_000, una: 2, window: 15, ..QUIET }));
        for now_us in [52_000, 54_000] {
            assert!(!hystart.ends_slow_start(&Sample { now_us, una: 50, window: 16, ..QUIET }));
        }
        assert!(hystart.ends_slow_start(&Sample { now_us: 55_001, una: 60, window: 17, ..QUIET }), "5 ms of the round");
    }

    /// Whether slow start ends with the `count`th acknowledgement of a round at once, all with this round trip.
    fn ends_with(count: u32, rtt_us: u64, min_rtt_us: u64) -> bool {
        let mut hystart = KernelHyStart::new(false);
        hystart.restart(0, 1);
        let sample = Sample { now_us: 50_000, una: 2, nxt: 1_000, rtt_us, min_rtt_us, ..QUIET };
        (1..count).for_each(|_| assert!(!hystart.ends_slow_start(&sample)));
        hystart.ends_slow_start(&sample)
    }

    #[test]
    fn hystart_update_ends_slow_start_when_a_rounds_least_delay_grows_by_an_eighth() {
        assert!(ends_with(9, 90_001, 80_000) && !ends_with(9, 90_000, 80_000));
    }

    #[test]
    fn hystart_delay_thresh_is_between_4_and_16_ms() {
        assert!(ends_with(9, 4_101, 100) && !ends_with(9, 4_100, 100));
        assert!(ends_with(9, 816_001, 800_000) && !ends_with(9, 816_000, 800_000));
    }

    #[test]
    fn hystart_min_samples_of_a_round_come_before_its_delay_counts() {
        assert!(!ends_with(8, 90_001, 80_000));
    }

    #[test]
    fn bictcp_hystart_reset_begins_a_round_when_all_that_its_start_had_sent_is_acknowledged() {
        let mut hystart = KernelHyStart::new(false);
        hystart.restart(0, 1);
        // Rounds of a train of 4 ms each.
        for (now_us, una, nxt) in [(50_000, 2, 100), (54_000, 50, 150), (55_000, 101, 200), (59_000, 150, 250)] {
            assert!(!hystart.ends_slow_start(&Sample { now_us, una, nxt, ..QUIET }), "{now_us}");
        }
    }

    #[test]
    fn slow_start_ends_once_until_a_timeout() {
        let mut hystart = KernelHyStart::new(false);
        let long = Sample { now_us: 50_000, una: 0, rtt_us: 90_000, ..QUIET };
        let ends = |hystart: &mut KernelHyStart| (0..9).filter(|_| hystart.ends_slow_start(&long)).count();
        assert_eq!((ends(&mut hystart), ends(&mut hystart)), (1, 0));
        hystart.restart(50_000, 100);
        assert_eq!(ends(&mut hystart), 1);
    }
}
