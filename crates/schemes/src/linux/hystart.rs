//! HyStart++ (RFC 9406): the first slow start ends when round trips lengthen, before the queue overflows.

use fanin_core::units::Time;

/// RFC 9406 section 4.3.
const MIN_THRESHOLD: Time = Time::from_ms(4);
const MAX_THRESHOLD: Time = Time::from_ms(16);
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: f64 = 4.0;
const ROUNDS: u32 = 5;

/// What an acknowledgement means for slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Growth {
    /// Slow start goes on, with this share of its growth.
    Grow(f64),
    /// It is over.
    Exit,
}

/// The variables of RFC 9406 section 4.2.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Rounds are counted here, and not by `AckEvent::ends_window`: CUBIC shows only acknowledgements that grow the
    /// window, so that a round begins with the first of them.
    round_end: u64,
    last_min: Time,
    current_min: Time,
    samples: u32,
    /// `cssBaselineMinRtt` and the rounds begun, in conservative slow start.
    conservative: Option<(Time, u32)>,
}

impl HyStart {
    pub(super) const fn new() -> Self {
        Self { round_end: 0, last_min: Time::NEVER, current_min: Time::NEVER, samples: 0, conservative: None }
    }

    /// An acknowledgement up to `una`, with `nxt` sent so far and a round-trip time if it gives one.
    pub(super) fn on_ack(&mut self, una: u64, nxt: u64, rtt: Option<Time>) -> Growth {
        let mut over = false;
        if una > self.round_end {
            over = self.end_round(nxt);
        }
        if let Some(rtt) = rtt {
            self.current_min = self.current_min.min(rtt);
            self.samples += 1;
        }
        if over {
            return Growth::Exit;
        }
        if self.samples >= SAMPLES {
            self.look();
        }
        Growth::Grow(if self.conservative.is_some() { 1.0 / GROWTH_DIVISOR } else { 1.0 })
    }

    /// Returns whether conservative slow start has had its rounds.
    fn end_round(&mut self, nxt: u64) -> bool {
        self.round_end = nxt;
        self.last_min = self.current_min;
        self.current_min = Time::NEVER;
        self.samples = 0;
        let Some((_, rounds)) = &mut self.conservative else { return false };
        *rounds += 1;
        *rounds >= ROUNDS
    }

    fn look(&mut self) {
        match self.conservative {
            // The longer round trips were an accident: slow start goes on.
            Some((baseline, _)) if self.current_min < baseline => self.conservative = None,
            Some(_) => {}
            None if self.last_min.is_never() => {}
            None => {
                let threshold = Time::from_ps(self.last_min.ps() / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
                if self.current_min >= self.last_min + threshold {
                    self.conservative = Some((self.current_min, 0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rounds(HyStart, u64);

    impl Rounds {
        /// Eight acknowledgements of one round with this round-trip time in ms; the last growth.
        fn round(&mut self, rtt: u64) -> Growth {
            let end = self.1 + 8;
            let mut last = Growth::Exit;
            for _ in 0..8 {
                self.1 += 1;
                last = self.0.on_ack(self.1, end, Some(Time::from_ms(rtt)));
            }
            last
        }
    }

    fn after(rtts: &[u64]) -> Growth {
        let mut rounds = Rounds(HyStart::new(), 1);
        rtts.iter().map(|rtt| rounds.round(*rtt)).last().expect("a round")
    }

    #[test]
    fn rfc9406_s4_2_longer_round_trips_slow_the_growth_to_a_quarter() {
        assert_eq!(after(&[40, 44]), Growth::Grow(1.0), "less than an eighth longer");
        assert_eq!(after(&[40, 45]), Growth::Grow(0.25));
    }

    #[test]
    fn rfc9406_s4_3_the_threshold_is_between_4_and_16_ms() {
        assert_eq!(after(&[1, 4]), Growth::Grow(1.0));
        assert_eq!(after(&[1, 5]), Growth::Grow(0.25));
        assert_eq!(after(&[800, 815]), Growth::Grow(1.0));
        assert_eq!(after(&[800, 816]), Growth::Grow(0.25));
    }

    #[test]
    fn rfc9406_s4_2_eight_samples_are_needed() {
        let mut rounds = Rounds(HyStart::new(), 1);
        rounds.round(40);
        for _ in 0..7 {
            rounds.1 += 1;
            assert_eq!(rounds.0.on_ack(rounds.1, 100, Some(Time::from_ms(90))), Growth::Grow(1.0));
        }
        assert_eq!(rounds.0.on_ack(rounds.1, 100, Some(Time::from_ms(90))), Growth::Grow(0.25));
    }

    #[test]
    fn rfc9406_s4_2_shorter_round_trips_resume_slow_start() {
        assert_eq!(after(&[40, 50, 49]), Growth::Grow(1.0));
        assert_eq!(after(&[40, 50, 50]), Growth::Grow(0.25));
    }

    #[test]
    fn rfc9406_s4_2_five_rounds_later_slow_start_is_over() {
        let mut rounds = Rounds(HyStart::new(), 1);
        rounds.round(40);
        (0..5).for_each(|_| assert_eq!(rounds.round(50), Growth::Grow(0.25)));
        rounds.1 += 1;
        assert_eq!(rounds.0.on_ack(rounds.1, 100, None), Growth::Exit);
    }
}
