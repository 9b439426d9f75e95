//! Jiffies, and the timer wheel of `kernel/time/timer.c`.

use fanin_core::units::Time;

/// How long before the overflow of the kernel's jiffies a run begins: they begin five minutes before (`INITIAL_JIFFIES`), and
/// the kernel of `run.backend = "linux"` has run for two seconds then. The slots of the wheel's outer levels depend on it.
const BEFORE_OVERFLOW: Time = Time::from_secs(298);

/// Timers of one slot of the wheel expire last set first. Here they come that much apart for each time between their
/// settings, which matters for [`REMEMBERED`].
const ORDERED: u32 = 16;
const REMEMBERED: Time = Time::from_ps(1 << 35);
/// By how much the last timer of a slot comes late: half a microsecond.
const LATEST: Time = Time::from_ps(REMEMBERED.ps() >> ORDERED);

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
    /// the outer levels of the wheel, each of which is eight times as coarse. `before` is when it was to come before: in
    /// the same slot it keeps its place (`__mod_timer`).
    pub(crate) fn wheel(self, expires: u64, now: Time, before: Time) -> Time {
        let mut shift = 0;
        let ahead = expires.saturating_sub(self.at(now));
        while ahead >= 63 << shift {
            shift += 3;
        }
        let start = (1 << 32) - BEFORE_OVERFLOW.ps() / self.0.ps();
        let slot = Time::from_ps((((((start + expires) >> shift) + 1) << shift) - start) * self.0.ps());
        if before >= slot && before < slot + LATEST {
            return before;
        }
        slot + Time::from_ps((REMEMBERED.ps() - 1 - now.ps() % REMEMBERED.ps()) >> ORDERED)
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
        let slot = |expires| ticks.wheel(expires, now, Time::NEVER).ps() / 1_000_000_000;
        assert_eq!(slot(42), 43, "no earlier than 40 ticks later");
        assert_eq!(slot(64), 65);
        assert_eq!(slot(65), 72, "the next multiple of 8");
        assert_eq!(slot(506), 528, "the next slot of 64, which begin 48 before the run");
    }

    #[test]
    fn timers_of_a_slot_come_last_set_first_and_keep_their_places() {
        let ticks = Ticks(Time::from_ms(1));
        let (first, second) = (Time::from_us(2_300), Time::from_us(2_301));
        let set = |at, before| ticks.wheel(42, at, before);
        let (one, other) = (set(first, Time::NEVER), set(second, Time::NEVER));
        assert!(other < one && one < Time::from_ms(43) + LATEST, "{other} {one}");
        assert_eq!(set(second, one), one, "set again for the same slot");
        assert_eq!(set(second, Time::from_ms(44)), other, "set again for another one");
    }
}
