//! Jiffies, and the timer wheel of `kernel/time/timer.c`.

use fanin_core::units::Time;

/// How long before the overflow of the kernel's jiffies a run begins: they begin five minutes before (`INITIAL_JIFFIES`), and
/// the kernel of `run.backend = "linux"` has run for two seconds then. The slots of the wheel's outer levels depend on it.
const BEFORE_OVERFLOW: Time = Time::from_secs(298);

/// The kernel's clock in ticks, which begin at multiples of their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks(pub Time);

impl Ticks {
    /// Jiffies at `now`.
    pub(crate) const fn at(self, now: Time) -> u64 {
        now.ps() / self.0.ps()
    }

    /// `usecs_to_jiffies`: ticks in a span, rounded up.
    pub(crate) const fn in_span(self, span: Time) -> u64 {
        span.ps().div_ceil(self.0.ps())
    }

    /// Ticks in a span, rounded down.
    pub(crate) const fn within(self, span: Time) -> u32 {
        (span.ps() / self.0.ps()) as u32
    }

    /// When a timer comes that is set at `now` to expire at `expires` jiffies: after the end of the tick, and later in
    /// the outer levels of the wheel, each of which is eight times as coarse.
    pub(crate) fn wheel(self, expires: u64, now: Time) -> Time {
        let mut shift = 0;
        let ahead = expires.saturating_sub(self.at(now));
        while ahead >= 63 << shift {
            shift += 3;
        }
        let start = (1 << 32) - BEFORE_OVERFLOW.ps() / self.0.ps();
        Time::from_ps((((((start + expires) >> shift) + 1) << shift) - start) * self.0.ps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calc_index_rounds_up_to_the_granularity_of_the_level() {
        let ticks = Ticks(Time::from_ms(1));
        let now = Time::from_us(2_300);
        assert_eq!(ticks.at(now), 2);
        assert_eq!(ticks.wheel(42, now), Time::from_ms(43), "no earlier than 40 ticks later");
        assert_eq!(ticks.wheel(64, now), Time::from_ms(65));
        assert_eq!(ticks.wheel(65, now), Time::from_ms(72), "the next multiple of 8");
        assert_eq!(ticks.wheel(506, now), Time::from_ms(528), "the next slot of 64, which begin 48 before the run");
    }
}
