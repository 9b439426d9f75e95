//! The DCTCP sender of ns-3.44 (`tcp-dctcp.cc`, `tcp-linux-reno.cc`), apart from its reaction to loss.

use crate::Growth;
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, SenderCx};
use fanin_core::units::real;

/// A sender that counts whole segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns3 {
    /// Estimated share of marked segments, and what it was before the present acknowledgement.
    alpha: f64,
    alpha_before: f64,
    g: f64,
    /// Smallest window after a reduction, in bytes.
    min_window: f64,
    acked: u64,
    marked: u64,
    /// The window of data ends when everything below this is acknowledged; 0 before the first acknowledgement.
    window_end: u64,
    growth: Growth,
}

impl Ns3 {
    pub(super) fn new(g: f64, alpha0: f64, min_window: f64) -> Self {
        let (alpha, alpha_before) = (alpha0, alpha0);
        Self { alpha, alpha_before, g, min_window, acked: 0, marked: 0, window_end: 0, growth: Growth::default() }
    }

    /// `PktsAcked`.
    fn observe(&mut self, segments: u64, ece: bool, cx: &SenderCx<'_>) {
        self.alpha_before = self.alpha;
        self.acked += segments;
        self.marked += if ece { segments } else { 0 };
        if self.window_end == 0 {
            self.window_end = cx.nxt;
        }
        if cx.una >= self.window_end {
            let marked = if self.acked > 0 { real(self.marked) / real(self.acked) } else { 0.0 };
            self.alpha = (1.0 - self.g) * self.alpha + self.g * marked;
            (self.acked, self.marked, self.window_end) = (0, 0, cx.nxt);
        }
    }

    /// `IncreaseWindow` of the base class, which follows Linux but for what slow start leaves.
    fn grow(&mut self, segments: u64, cx: &mut SenderCx<'_>) {
        if cx.window.cwnd < cx.window.ssthresh {
            Growth::slow_start(segments, cx);
        } else {
            self.growth.avoid_congestion(segments, cx);
        }
    }
}

impl CongestionControl for Ns3 {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        // In recovery, and for a duplicate, it counts one segment whatever is acknowledged.
        let segments = if ack.acked == 0 || ack.in_recovery { 1 } else { ack.acked / cx.mss as u64 };
        self.observe(segments, ack.ece, cx);
        if ack.acked > 0 && !ack.in_recovery && !ack.ece && ack.window_limited {
            self.grow(segments, cx);
        }
    }
    /// The reduction comes before the acknowledgement is counted.
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let window = (cx.window.cwnd * (1.0 - self.alpha_before / 2.0)).max(self.min_window);
        cx.window.cwnd = window;
        cx.window.ssthresh = window;
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};

    fn sender(alpha: f64, segments: f64) -> TestSender<Ns3> {
        TestSender::new(Ns3::new(0.5, alpha, 2.0 * MSS), segments)
    }

    #[test]
    fn a_window_of_data_ends_when_all_that_was_sent_is_acknowledged() {
        let mut bench = sender(0.0, 10.0);
        bench.send(10);
        bench.ack(false); // the window of data ends with the last of the ten
        bench.send(10);
        (0..8).for_each(|i| bench.ack(i < 4));
        assert!(bench.cc.alpha.abs() < 1e-12);
        bench.ack(false);
        assert!((bench.cc.alpha - 0.5 * 4.0 / 10.0).abs() < 1e-12, "{}", bench.cc.alpha);
    }

    #[test]
    fn an_echo_cuts_by_the_estimate_before_its_acknowledgement() {
        let mut bench = sender(0.5, 20.0);
        bench.send(1);
        bench.ack(true); // ends a window: the estimate is 0.75 now
        bench.echo();
        assert!((bench.segments() - 15.0).abs() < 1e-9, "{}", bench.segments());
        assert!((bench.cc.alpha - 0.75).abs() < 1e-12);
        (0..9).for_each(|_| bench.echo());
        assert!((bench.segments() - 2.0).abs() < 1e-9, "not below the least window");
    }

    #[test]
    fn the_window_grows_by_a_whole_segment_after_a_window_of_acknowledgements() {
        let mut bench = sender(0.0, 10.5);
        bench.round(9, 0);
        assert!((bench.segments() - 10.5).abs() < 1e-9);
        bench.round(1, 0);
        assert!((bench.segments() - 11.5).abs() < 1e-9);
        bench.window.ssthresh = 12.0 * MSS;
        bench.round(1, 0);
        assert!((bench.segments() - 12.0).abs() < 1e-9, "slow start ends at the threshold");
    }
}
