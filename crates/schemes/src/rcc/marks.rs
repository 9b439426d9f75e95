//! ECN at the receiver: the estimated share of marked segments, and the reduction that follows from it.

use fanin_core::units::Time;

/// How the marked share is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alpha {
    /// A moving average over periods with marks, as in the authors' code. A period without marks does not end: its
    /// segments count towards the next one.
    Code,
    /// A moving average over all periods, as DCTCP's over windows (RFC 8257 section 3.3).
    EveryRound,
    /// The marked share of the last period.
    Ratio,
}

/// How long a period lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periods {
    /// Minimum length, and the length while no usable round-trip time is known.
    pub(crate) least: Time,
    /// A round-trip time of at least this is not usable: it is the estimator's value before the first sample.
    pub(crate) unmeasured: Time,
}

impl Periods {
    fn of(self, rtt: Time) -> Time {
        if rtt < self.least || rtt >= self.unmeasured { self.least } else { rtt }
    }
}

/// Counts the marked segments of one flow in periods.
///
/// A period lasts one round-trip time. Its end is an event only if a marked segment arrived in it. Ends of other
/// periods are computed when needed, so a flow without marks needs no timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedShare {
    rule: Alpha,
    /// Weight of the newest share in the average.
    g: f64,
    periods: Periods,
    alpha: f64,
    total: u64,
    marked: u64,
    /// End of the current period.
    end: Time,
    /// An event is scheduled for that end.
    armed: bool,
}

impl MarkedShare {
    /// The first period begins now.
    pub(crate) fn new(rule: Alpha, g: f64, periods: Periods, now: Time) -> Self {
        Self { rule, g, periods, alpha: 0.0, total: 0, marked: 0, end: now + periods.least, armed: false }
    }

    /// The estimate.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// A segment arrived; the round-trip time is `rtt`. Returns the end of the period if an event has to be scheduled
    /// for it.
    pub(crate) fn on_segment(&mut self, marked: bool, rtt: Time, now: Time) -> Option<Time> {
        if self.end < now {
            self.pass(now, self.periods.of(rtt));
        }
        self.total += 1;
        self.marked += u64::from(marked);
        if !marked || self.armed {
            return None;
        }
        self.armed = true;
        Some(self.end)
    }

    /// Ends the periods that have passed without a marked segment.
    fn pass(&mut self, now: Time, period: Time) {
        match self.rule {
            Alpha::Code => {}
            Alpha::EveryRound => {
                // A period without segments says nothing about congestion.
                if self.total > 0 {
                    self.alpha *= 1.0 - self.g;
                }
                self.total = 0;
            }
            Alpha::Ratio => self.total = 0,
        }
        let over = (now - self.end).ps().div_ceil(period.ps());
        self.end += period * over;
    }

    /// The event of a period's end. Returns the factor for the window, unless the event is obsolete.
    pub(crate) fn on_end(&mut self, rtt: Time, now: Time) -> Option<f64> {
        if !self.armed || self.end != now {
            return None;
        }
        let share = self.marked as f64 / self.total as f64;
        self.alpha = match self.rule {
            Alpha::Code | Alpha::EveryRound => (1.0 - self.g) * self.alpha + self.g * share,
            Alpha::Ratio => share,
        };
        *self = Self { total: 0, marked: 0, armed: false, end: now + self.periods.of(rtt), ..*self };
        Some(1.0 - self.alpha / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Time = Time::from_us(200);
    const PERIODS: Periods = Periods { least: Time::from_us(100), unmeasured: Time::from_ms(10) };

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn a_marked_segment_cuts_at_the_end_of_its_period_and_only_once() {
        let mut share = MarkedShare::new(Alpha::Code, 0.5, PERIODS, Time::ZERO);
        assert_eq!(share.on_segment(false, RTT, us(10)), None);
        assert_eq!(share.on_segment(true, RTT, us(20)), Some(us(100)));
        assert_eq!(share.on_segment(true, RTT, us(30)), None, "that end is known");
        assert_eq!(share.on_end(RTT, us(50)), None, "not yet");
        let factor = share.on_end(RTT, us(100)).expect("the end");
        assert!((factor - (1.0 - 0.5 * (2.0 / 3.0) / 2.0)).abs() < 1e-12);
        assert_eq!(share.on_end(RTT, us(100)), None);
        assert_eq!(share.on_segment(true, RTT, us(101)), Some(us(300)), "a round trip later");
    }

    #[test]
    fn periods_last_a_round_trip_or_a_tenth_of_a_millisecond() {
        for (rtt, period) in [(us(99), us(100)), (us(350), us(350)), (us(10_000), us(100))] {
            let mut share = MarkedShare::new(Alpha::Code, 0.5, PERIODS, Time::ZERO);
            assert_eq!(share.on_segment(false, rtt, us(100) + period + us(1)), None);
            assert_eq!(share.on_segment(true, rtt, us(100) + period + us(2)), Some(us(100) + period * 2));
        }
    }

    #[test]
    fn a_segment_that_comes_with_the_end_belongs_to_the_period() {
        let mut share = MarkedShare::new(Alpha::Code, 0.5, PERIODS, Time::ZERO);
        assert_eq!(share.on_segment(true, RTT, us(100)), Some(us(100)));
    }

    /// Ten unmarked segments in the first period and a marked one in the second.
    fn after_a_quiet_period(rule: Alpha) -> f64 {
        let mut share = MarkedShare { alpha: 0.5, ..MarkedShare::new(rule, 0.25, PERIODS, Time::ZERO) };
        (0..10).for_each(|_| assert_eq!(share.on_segment(false, RTT, us(50)), None));
        let end = share.on_segment(true, RTT, us(150)).expect("the end");
        share.on_end(RTT, end).expect("it has come")
    }

    #[test]
    fn the_authors_average_ignores_periods_without_marks() {
        let alpha = 0.75 * 0.5 + 0.25 / 11.0;
        assert!((after_a_quiet_period(Alpha::Code) - (1.0 - alpha / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn dctcps_average_decays_in_periods_without_marks() {
        let alpha = 0.75 * (0.75 * 0.5) + 0.25;
        assert!((after_a_quiet_period(Alpha::EveryRound) - (1.0 - alpha / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn the_ratio_knows_the_last_period_only() {
        assert!((after_a_quiet_period(Alpha::Ratio) - 0.5).abs() < 1e-12);
    }
}
