//! The DCTCP sender in RCC's published code, which RCC's figures show.

use crate::NewReno;
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, SenderCx};
use fanin_core::units::Time;

/// A round-trip time below this, or not below [`LONGEST`], is not used as a period.
const SHORTEST: Time = Time::from_us(200);
const LONGEST: Time = Time::from_ms(10);
/// Weight of a sample in the smoothed round-trip time, as one in so many.
const SAMPLES: i64 = 10;

/// A sender that estimates by acknowledgements and cuts by a timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RccCode {
    /// Estimated share of marked packets.
    alpha: f64,
    g: f64,
    /// Acknowledged segments since the last cut, and those with an echo.
    acks: u64,
    marked: u64,
    /// Smoothed round-trip time, once measured.
    rtt: Option<Time>,
    /// The timer runs since the first acknowledgement of data.
    started: bool,
    /// Loss recovery was in progress at the last acknowledgement.
    recovering: bool,
}

impl RccCode {
    pub(super) fn new(g: f64) -> Self {
        Self { alpha: 0.0, g, acks: 0, marked: 0, rtt: None, started: false, recovering: false }
    }

    /// Smooths with a gain of a tenth, where RFC 6298 has an eighth.
    fn take_sample(&mut self, sample: Time) {
        self.rtt = Some(self.rtt.map_or(sample, |rtt| {
            let step = (sample.ps().cast_signed() - rtt.ps().cast_signed()) / SAMPLES;
            Time::from_ps(rtt.ps().saturating_add_signed(step))
        }));
    }

    /// An acknowledgement of `acked` bytes counts as its whole segments, the first one and duplicates as one.
    fn count(&mut self, ack: &AckEvent, mss: u64) {
        let segments = if ack.acked == 0 || !self.started { 1 } else { ack.acked / mss };
        self.acks += segments;
        self.marked += if ack.ece { segments } else { 0 };
    }

    /// An echo: half of what was in flight is the threshold, nothing is added to the window in recovery, and recovery
    /// ends with the new threshold.
    fn take_echo(&self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if ack.in_recovery {
            // Never to nothing, although their code has no floor here.
            cx.window.cwnd = (cx.window.cwnd - cx.mss).max(cx.mss);
        }
        if ack.acked > 0 {
            let flight = (cx.max_sent - cx.una + ack.acked) as f64;
            cx.window.ssthresh = (flight / 2.0).max(2.0 * cx.mss);
            if self.recovering && !ack.in_recovery {
                cx.window.cwnd = cx.window.cwnd.min(cx.window.ssthresh);
            }
        }
    }
}

impl CongestionControl for RccCode {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if let Some(sample) = ack.rtt {
            self.take_sample(sample);
        }
        self.count(ack, cx.mss as u64);
        if ack.ece {
            self.take_echo(cx, ack);
        } else if ack.acked > 0 && !ack.in_recovery && ack.window_limited {
            NewReno::grow(cx, ack.acked);
        }
        self.recovering = ack.in_recovery;
        if !self.started {
            self.started = true;
            *cx.wake = cx.now;
        }
    }
    /// The timer cuts instead.
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        // READING: DCTCP1. Without an echo neither the estimate nor the counts change.
        if self.marked > 0 {
            let marked = self.marked as f64 / self.acks as f64;
            self.alpha = (1.0 - self.g) * self.alpha + self.g * marked;
            cx.window.cwnd = (cx.window.cwnd * (1.0 - self.alpha / 2.0)).round().max(cx.mss);
            self.acks = 0;
            self.marked = 0;
        }
        let period = self.rtt.filter(|rtt| (SHORTEST..LONGEST).contains(rtt)).unwrap_or(SHORTEST);
        *cx.wake = cx.now + period;
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};
    use fanin_core::roles::CongestionWindow;

    fn bench(segments: f64) -> TestSender<RccCode> {
        TestSender::new(RccCode::new(1.0 / 16.0), segments)
    }

    /// Acknowledges `segments` at once.
    fn jump(bench: &mut TestSender<RccCode>, segments: u64, ece: bool, in_recovery: bool) {
        let acked = segments * MSS as u64;
        bench.una += acked;
        let ack = AckEvent {
            acked,
            ece,
            in_recovery,
            in_loss: false,
            cwr: None,
            window_limited: true,
            ends_window: false,
            rtt: bench.rtt,
            field: 0,
        };
        bench.call(|cc, cx| cc.on_ack(cx, &ack));
    }

    #[test]
    fn an_echo_sets_the_threshold_to_half_of_what_was_in_flight_and_does_not_grow() {
        let mut bench = bench(10.0);
        bench.send(9);
        bench.ack(true);
        assert_eq!(bench.window, CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 4.5 * MSS });
        bench.send(2);
        bench.ack(true);
        assert_eq!(bench.window, CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 2.0 * MSS });
        bench.round(1, 0);
        assert!((bench.segments() - 10.1).abs() < 1e-9, "congestion avoidance: {}", bench.segments());
    }

    #[test]
    fn a_duplicate_with_an_echo_counts_and_leaves_the_threshold() {
        let mut bench = bench(10.0);
        bench.send(9);
        jump(&mut bench, 0, true, false);
        assert_eq!(bench.window, CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 10.0 * MSS });
        assert_eq!((bench.cc.acks, bench.cc.marked), (1, 1));
    }

    #[test]
    fn an_acknowledgement_counts_as_its_segments_and_the_first_as_one() {
        let mut bench = bench(10.0);
        bench.send(9);
        jump(&mut bench, 2, false, false);
        assert_eq!((bench.cc.acks, bench.cc.marked), (1, 0), "the first");
        jump(&mut bench, 3, true, false);
        assert_eq!((bench.cc.acks, bench.cc.marked), (4, 3));
    }

    #[test]
    fn an_echo_adds_nothing_in_recovery_and_ends_it_with_the_new_threshold() {
        let mut bench = bench(10.0);
        bench.send(9);
        jump(&mut bench, 0, true, true);
        jump(&mut bench, 1, true, true);
        assert!((bench.segments() - 8.0).abs() < 1e-9, "what the sender adds back is taken: {}", bench.segments());
        jump(&mut bench, 1, true, false);
        assert_eq!(bench.window, CongestionWindow { cwnd: 4.0 * MSS, ssthresh: 4.0 * MSS });
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
        assert_eq!(bench.window.cwnd, (before * MSS * (1.0 - alpha / 2.0)).round(), "in whole bytes");
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
    fn the_timer_runs_from_the_first_acknowledgement_of_data() {
        let mut bench = bench(10.0);
        assert!(bench.wake.is_never(), "not from the handshake");
        bench.now = Time::from_us(500);
        bench.round(1, 0);
        assert_eq!(bench.wake, bench.now, "at once");
        bench.call(CongestionControl::on_wake);
        assert_eq!(bench.wake, Time::from_us(700));
    }

    #[test]
    fn the_period_is_the_round_trip_time_or_200_us() {
        let expected = [(199, 200), (200, 200), (700, 700), (9999, 9999), (10_000, 200)];
        for (rtt, period) in expected {
            let mut bench = bench(10.0);
            bench.rtt = Some(Time::from_us(rtt));
            bench.round(1, 0);
            bench.call(CongestionControl::on_wake);
            assert_eq!(bench.wake, Time::from_us(period), "{rtt} us");
        }
    }

    #[test]
    fn a_sample_of_the_round_trip_time_weighs_a_tenth() {
        let mut bench = bench(10.0);
        for rtt in [400, 500, 310] {
            bench.rtt = Some(Time::from_us(rtt));
            bench.round(1, 0);
        }
        bench.call(CongestionControl::on_wake);
        assert_eq!(bench.wake, Time::from_us(400), "400, then 410, then 400");
    }
}
