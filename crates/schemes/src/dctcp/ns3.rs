//! The DCTCP senders of ns-3 (`tcp-dctcp.cc`, `tcp-linux-reno.cc`, `tcp-congestion-ops.cc`).
//!
//! - Up to 3.32 it grows as NewReno does, also with an echo; an echo reduces it by the estimate, to two segments at least,
//!   and a loss halves what is in flight.
//! - From 3.33 on it grows as Linux does; an echo and a loss reduce it by the estimate, to whatever that leaves.
//! - That of 3.44 has RFC 8257's reaction to loss, and a least window, as in our comparison with ns-3.

use crate::{Growth, NewReno};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, EcnMode, SenderCx, half_flight};
use fanin_core::units::real;

/// Which releases have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// 3.31 and 3.32.
    Ns3_31,
    /// 3.33 to 3.37, and later ones as they are shipped.
    Ns3_36,
    /// 3.44 with RFC 8257's reaction to loss.
    Ns3_44,
}

/// A sender that counts whole segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns3 {
    release: Release,
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
    pub(super) fn new(release: Release, g: f64, alpha0: f64, min_window: f64) -> Self {
        let (alpha, alpha_before) = (alpha0, alpha0);
        Self {
            release,
            alpha,
            alpha_before,
            g,
            min_window,
            acked: 0,
            marked: 0,
            window_end: 0,
            growth: Growth::default(),
        }
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
        if self.release == Release::Ns3_31 {
            let below = cx.window.cwnd < cx.window.ssthresh;
            NewReno::grow(cx, segments * cx.mss as u64);
            if below && cx.window.cwnd >= cx.window.ssthresh && segments > 1 {
                NewReno::grow(cx, cx.mss as u64);
            }
        } else if cx.window.cwnd < cx.window.ssthresh {
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
        let echo = ack.ece && self.release != Release::Ns3_31;
        // Of the one that ends the repair of a timeout no segment counts, but what was counted before may be a window now.
        let grows = ack.window_limited || segments == 0;
        if ack.acked > 0 && !ack.in_recovery && !echo && grows {
            self.grow(segments, cx);
        }
    }
    /// The reduction comes before the acknowledgement is counted; up to 3.32 with the next segment, and so after it.
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let cut = |alpha: f64| cx.window.cwnd * (1.0 - alpha / 2.0);
        let window = match self.release {
            Release::Ns3_31 => cut(self.alpha).max(2.0 * cx.mss),
            Release::Ns3_36 => cut(self.alpha_before),
            Release::Ns3_44 => cut(self.alpha_before).max(self.min_window),
        };
        cx.window.cwnd = window;
        cx.window.ssthresh = window;
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        let left = cx.window.cwnd * (1.0 - self.alpha / 2.0);
        Cut::to(if self.release == Release::Ns3_36 { left } else { half_flight(cx) })
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.on_loss(cx)
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
        of(Release::Ns3_44, alpha, segments)
    }

    fn of(release: Release, alpha: f64, segments: f64) -> TestSender<Ns3> {
        TestSender::new(Ns3::new(release, 0.5, alpha, 2.0 * MSS), segments)
    }

    #[test]
    fn from_3_33_on_nothing_bounds_a_reduction_from_below_and_a_loss_goes_by_the_estimate() {
        for (release, floor, loss) in
            [(Release::Ns3_31, 2.0, 5.0), (Release::Ns3_36, 10.0 / 1024.0, 7.5), (Release::Ns3_44, 2.0, 5.0)]
        {
            let mut bench = of(release, 1.0, 10.0);
            (0..10).for_each(|_| bench.echo());
            assert!((bench.segments() - floor).abs() < 1e-9, "{release:?}: {}", bench.segments());
            let mut bench = of(release, 0.5, 10.0);
            bench.send(10);
            assert!((bench.call(CongestionControl::on_loss).ssthresh - loss * MSS).abs() < 1e-9, "{release:?}");
            assert!((bench.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh - loss * MSS).abs() < 1e-9, "{release:?}");
        }
    }

    #[test]
    fn up_to_3_32_the_window_grows_as_newreno_s_also_with_an_echo() {
        for (release, after) in [(Release::Ns3_31, 10.1), (Release::Ns3_36, 10.0)] {
            let mut bench = of(release, 0.0, 10.0);
            bench.send(10);
            bench.ack(true);
            assert!((bench.segments() - after).abs() < 1e-9, "{release:?}: {}", bench.segments());
        }
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
    fn what_was_counted_before_a_timeout_grows_the_window_with_the_acknowledgement_that_repairs_it() {
        let mut bench = sender(0.0, 10.0);
        bench.round(9, 0);
        (bench.window.cwnd, bench.window.ssthresh) = (MSS, MSS);
        let repairs = AckEvent {
            acked: 1,
            ece: false,
            in_recovery: false,
            in_loss: false,
            cwr: None,
            window_limited: false,
            ends_window: false,
            rtt: None,
            field: 0,
        };
        bench.call(|cc, cx| cc.on_ack(cx, &repairs));
        assert!((bench.segments() - 2.0).abs() < 1e-9, "{}", bench.segments());
        bench.call(|cc, cx| cc.on_ack(cx, &repairs));
        assert!((bench.segments() - 2.0).abs() < 1e-9, "nothing is left");
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
