//! Time at the receiver of one flow: its round-trip time, and the timer after which it requests a retransmission.

use fanin_core::units::Time;
use std::collections::VecDeque;

/// The newest sample has a weight of 1/`GAIN` in mean and deviation.
const GAIN: i64 = 10;
/// Maximum factor by which the timer is backed off.
const MOST_BACKOFF: u64 = 64;

/// Round-trip time as the receiver sees it: from an acknowledgement to the last segment that it grants. It includes the
/// transmission of the whole window.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    mean: Time,
    deviation: Time,
    sampled: bool,
    /// The largest acknowledgement number sent.
    last_ack: u64,
    /// For each acknowledgement: the sequence number of the last segment that it grants, and when it was sent.
    pending: VecDeque<(u64, Time)>,
    /// They are in the order of sequence numbers, as always unless a window has shrunk.
    ordered: bool,
}

impl RoundTrip {
    /// No sample yet: the mean is `initial`.
    pub(crate) fn new(initial: Time) -> Self {
        let pending = VecDeque::new();
        Self { mean: initial, deviation: Time::ZERO, sampled: false, last_ack: 0, pending, ordered: true }
    }
    /// The mean.
    pub(crate) fn mean(&self) -> Time {
        self.mean
    }
    /// The mean plus four deviations, each truncated to a multiple of `step`.
    pub(crate) fn timeout(&self, step: Time) -> Time {
        let cut = |time: Time| Time::from_ps(time.ps() - time.ps() % step.ps().max(1));
        cut(self.mean) + cut(self.deviation) * 4
    }

    /// An acknowledgement with number `ack` and a `window` in bytes was sent.
    pub(crate) fn on_ack_sent(&mut self, ack: u64, window: u64, mss: u64, now: Time) {
        if window < mss {
            return;
        }
        let last = ack + (window - mss) / mss * mss;
        if ack > self.last_ack {
            self.last_ack = ack;
            self.ordered = match self.pending.back() {
                Some((before, _)) => self.ordered && *before <= last,
                None => true,
            };
            self.pending.push_back((last, now));
        } else if ack == self.last_ack {
            // A repeated acknowledgement makes the sample ambiguous.
            self.pending.retain(|(seq, _)| *seq < ack);
        }
    }

    /// A segment with sequence number `seq` arrived. Returns whether it gave a sample.
    pub(crate) fn on_segment(&mut self, seq: u64, now: Time) -> bool {
        let mut sample = None;
        if self.ordered {
            // The usual case: a whole window is pending, and each segment takes one entry.
            while let Some((last, sent)) = self.pending.front().copied().filter(|(last, _)| *last <= seq) {
                self.pending.pop_front();
                sample = if last == seq { Some(now - sent) } else { sample };
            }
        } else {
            self.pending.retain(|(last, sent)| {
                sample = if *last == seq { Some(now - *sent) } else { sample };
                *last > seq
            });
        }
        if let Some(sample) = sample {
            self.add(sample);
        }
        sample.is_some()
    }

    fn add(&mut self, sample: Time) {
        if !self.sampled {
            *self = Self { mean: sample, deviation: sample, sampled: true, ..std::mem::take(self) };
            return;
        }
        let toward = |from: Time, to: i64| Time::from_ps((from.ps() as i64 + (to - from.ps() as i64) / GAIN) as u64);
        let error = sample.ps().abs_diff(self.mean.ps());
        self.mean = toward(self.mean, sample.ps() as i64);
        self.deviation = toward(self.deviation, error as i64);
    }
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self::new(Time::ZERO)
    }
}

/// A timer with few events although its deadline moves often: an event that finds the deadline moved is repeated then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    deadline: Time,
    /// The earliest pending event.
    event: Time,
}

impl Alarm {
    /// A stopped timer.
    pub(crate) fn new() -> Self {
        Self { deadline: Time::NEVER, event: Time::NEVER }
    }
    /// Stops the timer.
    pub(crate) fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }
    /// Sets the deadline. Returns when to call [`Self::on_event`], unless an earlier call is due.
    pub(crate) fn set(&mut self, at: Time) -> Option<Time> {
        self.deadline = at;
        if at < self.event {
            self.event = at;
            return Some(at);
        }
        None
    }
    /// A call that was due. Returns whether the timer has expired.
    pub(crate) fn on_event(&mut self, now: Time) -> Expiry {
        if self.event != now {
            return Expiry::Not(None);
        }
        self.event = Time::NEVER;
        if self.deadline > now {
            let deadline = self.deadline;
            return Expiry::Not(if deadline.is_never() { None } else { self.set(deadline) });
        }
        self.deadline = Time::NEVER;
        Expiry::Now
    }
}

/// The result of an [`Alarm`]'s event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The timer has expired.
    Now,
    /// It has not; call again at this time, if any.
    Not(Option<Time>),
}

/// The backoff of the receiver's retransmission timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    factor: u64,
    last_ack: u64,
    /// Acknowledgements that repeat `last_ack` since the factor last doubled for them.
    repeated: u32,
}

impl Patience {
    /// Not backed off.
    pub(crate) fn new() -> Self {
        Self { factor: 1, last_ack: 0, repeated: 0 }
    }
    /// Factor of the timer.
    pub(crate) fn factor(&self) -> u64 {
        self.factor
    }
    /// Doubles the timer.
    pub(crate) fn double(&mut self) {
        self.factor = (2 * self.factor).min(MOST_BACKOFF);
    }
    /// A round-trip time was measured, which ends the backoff.
    pub(crate) fn reset(&mut self) {
        self.factor = 1;
    }
    /// An acknowledgement was sent: progress ends the backoff, every third repetition doubles the timer. Returns
    /// whether the timer starts, which it does not for a number below the largest sent.
    pub(crate) fn on_ack_sent(&mut self, ack: u64) -> bool {
        if ack < self.last_ack {
            return false;
        }
        if ack > self.last_ack {
            *self = Self { factor: 1, last_ack: ack, ..*self };
            return true;
        }
        self.repeated += 1;
        if self.repeated == 3 {
            self.repeated = 0;
            self.double();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn an_acknowledgement_with_a_smaller_window_asks_for_an_earlier_segment_than_the_one_before() {
        let mut rtt = RoundTrip::new(us(0));
        rtt.on_ack_sent(1, 5000, 1000, us(0)); // Grants up to the segment at 4001.
        rtt.on_ack_sent(1001, 2000, 1000, us(20)); // Grants up to the segment at 2001.
        assert!(rtt.on_segment(2001, us(120)));
        assert_eq!((rtt.mean(), rtt.pending.len()), (us(100), 1));
        assert!(rtt.on_segment(4001, us(100)));
        assert!(rtt.pending.is_empty());
        rtt.on_ack_sent(4001, 3000, 1000, us(200));
        rtt.on_ack_sent(5001, 3000, 1000, us(210));
        assert!(!rtt.on_segment(5001, us(220)), "earlier than either");
        assert!(rtt.on_segment(7001, us(310)), "the first one is lost, and asked for no more");
        assert!(rtt.pending.is_empty());
    }

    #[test]
    fn a_round_trip_ends_with_the_last_segment_that_the_acknowledgement_let_out() {
        let mut rtt = RoundTrip::new(us(10_000));
        rtt.on_ack_sent(1001, 3500, 1000, us(50));
        assert!(!rtt.on_segment(1001, us(200)) && !rtt.on_segment(2001, us(210)), "the third one counts");
        assert_eq!(rtt.mean(), us(10_000));
        assert!(rtt.on_segment(3001, us(250)));
        assert_eq!((rtt.mean(), rtt.timeout(Time::ZERO)), (us(200), us(200 + 4 * 200)));
    }

    #[test]
    fn a_segment_beyond_ends_the_wait_for_an_earlier_one() {
        let mut rtt = RoundTrip::new(us(10_000));
        rtt.on_ack_sent(1, 1000, 1000, us(0));
        rtt.on_ack_sent(1001, 1000, 1000, us(10));
        assert!(rtt.on_segment(1001, us(100)) && !rtt.on_segment(1, us(300)), "a retransmission is no sample");
    }

    #[test]
    fn mean_and_deviation_move_by_a_tenth() {
        let mut rtt = RoundTrip::new(us(10_000));
        for (i, sent) in [0, 1000].into_iter().enumerate() {
            rtt.on_ack_sent(1 + i as u64 * 1000, 1000, 1000, us(sent));
            rtt.on_segment(1 + i as u64 * 1000, us(sent + 200 + 100 * i as u64));
        }
        assert_eq!(rtt.mean(), us(210));
        assert_eq!(rtt.timeout(Time::ZERO), us(210) + us(190) * 4);
        assert_eq!(rtt.timeout(Time::from_ms(1)), Time::ZERO, "whole milliseconds only");
    }

    #[test]
    fn a_repeated_acknowledgement_spoils_the_sample_and_a_window_below_a_segment_asks_for_nothing() {
        let mut rtt = RoundTrip::new(us(10_000));
        rtt.on_ack_sent(1001, 2000, 1000, us(0));
        rtt.on_ack_sent(1001, 2000, 1000, us(50));
        assert!(!rtt.on_segment(2001, us(100)));
        rtt.on_ack_sent(3001, 999, 1000, us(200));
        assert!(!rtt.on_segment(3001, us(300)));
    }

    #[test]
    fn an_alarm_keeps_its_event_while_the_deadline_moves_on() {
        let mut alarm = Alarm::new();
        assert_eq!(alarm.set(us(100)), Some(us(100)));
        assert_eq!(alarm.set(us(150)), None);
        assert_eq!(alarm.on_event(us(100)), Expiry::Not(Some(us(150))));
        assert_eq!(alarm.on_event(us(150)), Expiry::Now);
        assert_eq!(alarm.on_event(us(150)), Expiry::Not(None), "once");
        assert_eq!(alarm.set(us(200)), Some(us(200)));
        alarm.stop();
        assert_eq!(alarm.on_event(us(200)), Expiry::Not(None));
    }

    #[test]
    fn the_third_repetition_doubles_and_progress_resets() {
        let mut patience = Patience::new();
        assert!(patience.on_ack_sent(1001));
        for _ in 0..2 {
            assert!(patience.on_ack_sent(1001));
        }
        assert_eq!(patience.factor(), 1);
        patience.on_ack_sent(1001);
        assert_eq!(patience.factor(), 2);
        assert!(!patience.on_ack_sent(1), "older than the last");
        patience.on_ack_sent(2001);
        assert_eq!(patience.factor(), 1);
        (0..10).for_each(|_| patience.double());
        assert_eq!(patience.factor(), 64);
        patience.reset();
        assert_eq!(patience.factor(), 1);
    }
}
