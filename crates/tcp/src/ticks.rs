//! Jiffies, and the timer wheel of `kernel/time/timer.c`.

use fanin_core::units::Time;

/// How long before the overflow of the kernel's jiffies a run begins: they begin five minutes before (`INITIAL_JIFFIES`), and
/// the kernel of `run.backend = "linux"` has run for two seconds then. The slots of the wheel's outer levels depend on it.
const BEFORE_OVERFLOW: Time = Time::from_secs(298);

/// Timers that expire at one tick come in an order, and here some picoseconds apart: those of the wheel's outer levels first, and
/// those of one slot last set first. The place of a timer depends on how long it runs, up to this; longer ones begin anew.
const LONGEST: Time = Time::from_ms(32);
/// Places of timers that were set at different times.
const PLACES: u64 = 1 << 19;
/// Places of one level: behind those of [`PLACES`] are as many for timers that were set when they expired themselves, all in
/// one tick, so that their order is that of their expiry, turned round. The last place of a tick is two microseconds late.
const OF_A_LEVEL: u64 = 2 * PLACES;

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
        let tick = self.0.ps();
        let mut shift = 0;
        let ahead = expires.saturating_sub(self.at(now));
        while ahead >= 63 << shift {
            shift += 3;
        }
        let start = (1 << 32) - BEFORE_OVERFLOW.ps() / tick;
        let slot = (((((start + expires) >> shift) + 1) << shift) - start) * tick;
        let first = slot + if shift == 0 { OF_A_LEVEL } else { 0 };
        if (first..first + OF_A_LEVEL).contains(&before.ps()) {
            return before;
        }
        let place = if before == now {
            OF_A_LEVEL - 1 - now.ps() % tick % PLACES
        } else {
            (slot - now.ps()) % LONGEST.ps() * PLACES / LONGEST.ps()
        };
        Time::from_ps(first + place)
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

    /// The order in which timers come that are set at these microseconds to expire at jiffy 142; each `before` comes first.
    fn order(timers: &[(u64, Time)]) -> Vec<usize> {
        let ticks = Ticks(Time::from_ms(1));
        let at = |&(us, before): &(u64, Time)| ticks.wheel(142, Time::from_us(us), before);
        let mut order: Vec<_> = (0..timers.len()).collect();
        order.sort_by_key(|&timer| at(&timers[timer]));
        order
    }

    #[test]
    fn timers_of_a_slot_come_last_set_first() {
        let never = Time::NEVER;
        assert_eq!(order(&[(100_001, never), (100_003, never), (100_002, never)]), [1, 2, 0]);
    }

    #[test]
    fn outer_levels_come_before_inner_ones() {
        // Both at 144 ms: the first one has waited in a slot of eight.
        let ticks = Ticks(Time::from_ms(1));
        let (outer, inner) =
            (ticks.wheel(142, Time::ZERO, Time::NEVER), ticks.wheel(143, Time::from_ms(100), Time::NEVER));
        assert!(outer < inner && inner < Time::from_ms(144) + Time::from_us(3), "{outer} {inner}");
    }

    #[test]
    fn a_timer_that_is_set_again_for_its_slot_keeps_its_place() {
        let ticks = Ticks(Time::from_ms(1));
        let first = ticks.wheel(42, Time::from_us(2_300), Time::NEVER);
        assert_eq!(ticks.wheel(42, Time::from_us(2_301), first), first);
        assert_ne!(ticks.wheel(42, Time::from_us(2_301), Time::from_ms(44)), first);
    }

    #[test]
    fn timers_that_are_set_when_they_expire_come_in_the_opposite_order_each_time() {
        let ticks = Ticks(Time::from_ms(1));
        let set = |jiffies, at| ticks.wheel(jiffies, at, at);
        let (one, other) =
            (ticks.wheel(4, Time::from_us(1), Time::NEVER), ticks.wheel(4, Time::from_us(3), Time::NEVER));
        assert!(other < one);
        let (one, other) = (set(300, one), set(300, other));
        assert!(one < other);
        let (one, other) = (set(900, one), set(900, other));
        assert!(other < one);
    }
}
