//! The DCTCP sender in the published code of RCC, which its curves compare with.

use crate::roles::{AckEvent, CongestionControl, SenderCx, half_flight};
use crate::schemes::NewReno;
use crate::tcp::EcnMode;
use crate::units::Time;

/// A round-trip time below this, or not below [`LONGEST`], is not used as a period.
const SHORTEST: Time = Time::from_us(200);
const LONGEST: Time = Time::from_ms(10);

/// A sender that estimates by acknowledgements and cuts by a timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RccCode {
    /// Estimated share of marked packets.
    alpha: f64,
    g: f64,
    /// Acknowledgements since the last cut, and those with an echo.
    acks: u64,
    marked: u64,
}

impl RccCode {
    pub(super) fn new(g: f64) -> Self {
        Self { alpha: 0.0, g, acks: 0, marked: 0 }
    }

    fn set_timer(cx: &mut SenderCx<'_>) {
        let period = cx.srtt.filter(|rtt| (SHORTEST..LONGEST).contains(rtt)).unwrap_or(SHORTEST);
        *cx.wake = cx.now + period;
    }
}

impl CongestionControl for RccCode {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        Self::set_timer(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.acks += 1;
        if ack.ece {
            self.marked += 1;
            cx.window.ssthresh = half_flight(cx);
        } else if ack.acked > 0 && !ack.in_recovery && ack.window_limited {
            NewReno::grow(cx, ack.acked);
        }
    }
    /// The timer cuts instead.
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        // READING: DCTCP1. Without an echo neither the estimate nor the counts change.
        if self.marked > 0 {
            let marked = self.marked as f64 / self.acks as f64;
            self.alpha = (1.0 - self.g) * self.alpha + self.g * marked;
            cx.window.cwnd = (cx.window.cwnd * (1.0 - self.alpha / 2.0)).max(cx.mss);
            self.acks = 0;
            self.marked = 0;
        }
        Self::set_timer(cx);
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::CongestionWindow;
    use crate::schemes::test_sender::{MSS, TestSender};

    fn bench(segments: f64) -> TestSender<RccCode> {
        TestSender::new(RccCode::new(1.0 / 16.0), segments)
    }

    #[test]
    fn an_echo_sets_the_threshold_to_half_the_flight_and_does_not_grow() {
        let mut bench = bench(10.0);
        bench.send(9);
        bench.ack(true);
        assert_eq!(bench.window, CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 4.0 * MSS });
        bench.send(2);
        bench.ack(true);
        assert_eq!(bench.window, CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 2.0 * MSS });
        bench.round(1, 0);
        assert!((bench.segments() - 10.1).abs() < 1e-9, "congestion avoidance: {}", bench.segments());
    }

    #[test]
    fn the_echo_by_itself_does_not_cut() {
        let mut bench = bench(10.0);
        bench.echo();
        assert!((bench.segments() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_timer_cuts_by_an_estimate_that_starts_at_nothing_and_does_not_decay() {
        let mut bench = bench(10.0);
        bench.call(CongestionControl::on_wake);
        assert!((bench.segments() - 10.0).abs() < 1e-9, "no echo, no cut");
        // Three unmarked in a period without echoes count in the next one that has some: F = 1/4.
        bench.round(3, 0);
        bench.call(CongestionControl::on_wake);
        bench.round(1, 1);
        let before = bench.segments();
        bench.call(CongestionControl::on_wake);
        let alpha = 0.25 / 16.0;
        assert!((bench.cc.alpha - alpha).abs() < 1e-12);
        assert!((bench.segments() - before * (1.0 - alpha / 2.0)).abs() < 1e-9);
        for _ in 0..5 {
            bench.round(1, 0);
            bench.call(CongestionControl::on_wake);
        }
        assert!((bench.cc.alpha - alpha).abs() < 1e-12, "it stays without marks");
    }

    #[test]
    fn the_window_may_fall_to_one_segment() {
        let mut bench = bench(1.2);
        for _ in 0..100 {
            bench.round(1, 1);
            bench.call(CongestionControl::on_wake);
        }
        assert!((bench.segments() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_period_is_the_round_trip_time_or_200_us() {
        let mut bench = bench(10.0);
        assert_eq!(bench.wake, Time::from_us(200), "it runs from the start");
        let expected = [(199, 200), (200, 200), (700, 700), (9999, 9999), (10_000, 200)];
        for (srtt, period) in expected {
            bench.srtt = Some(Time::from_us(srtt));
            bench.call(CongestionControl::on_wake);
            assert_eq!(bench.wake, Time::from_us(period), "{srtt} us");
        }
    }
}
