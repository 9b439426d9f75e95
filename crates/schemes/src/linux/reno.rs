//! Reno as Linux has it (`net/ipv4/tcp_cong.c`): windows in whole segments, and half of the window after a loss.

use fanin_core::roles::{AckEvent, CongestionControl, Cut, SenderCx};
use fanin_core::units::real;

/// Growth of a window in whole segments, by the segments that are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth {
    /// Acknowledged segments that have not increased the window yet.
    credit: u64,
}

impl Growth {
    /// `tcp_slow_start`: a segment for each one acknowledged, up to the threshold. Returns how many are left then.
    pub(crate) fn slow_start(segments: u64, cx: &mut SenderCx<'_>) -> u64 {
        let window = &mut *cx.window;
        if window.cwnd >= window.ssthresh {
            return segments;
        }
        let before = window.cwnd;
        window.cwnd = (before + real(segments) * cx.mss).min(window.ssthresh);
        segments - (((window.cwnd - before) / cx.mss).ceil() as u64).min(segments)
    }

    /// A segment for each window of acknowledged segments.
    pub(crate) fn avoid_congestion(&mut self, segments: u64, cx: &mut SenderCx<'_>) {
        self.one_for_each((cx.window.cwnd / cx.mss) as u64, segments, cx);
    }

    /// `tcp_cong_avoid_ai`: a segment for `each` acknowledged segments.
    pub(super) fn one_for_each(&mut self, each: u64, segments: u64, cx: &mut SenderCx<'_>) {
        let window = &mut *cx.window;
        let each = each.max(1);
        if self.credit >= each {
            self.credit = 0;
            window.cwnd += cx.mss;
        }
        self.credit += segments;
        window.cwnd += real(self.credit / each) * cx.mss;
        self.credit %= each;
    }

    /// `tcp_reno_cong_avoid`.
    pub(super) fn grow(&mut self, segments: u64, cx: &mut SenderCx<'_>) {
        let left = Self::slow_start(segments, cx);
        if left > 0 {
            self.avoid_congestion(left, cx);
        }
    }
}

/// Segments that `acked` bytes are.
pub(super) fn segments(acked: u64, mss: f64) -> u64 {
    acked.div_ceil(mss as u64)
}

/// `tcp_reno_ssthresh`: half of the window in whole segments, two at least.
pub(super) fn half_window(cx: &SenderCx<'_>) -> f64 {
    real(((cx.window.cwnd / cx.mss) as u64 / 2).max(2)) * cx.mss
}

/// Whether an acknowledgement lets the window grow (`tcp_may_raise_cwnd`). With an echo it does not (RFC 3168 section 6.1.2),
/// unless what was sent before a timeout is being repaired.
pub(super) fn may_grow(ack: &AckEvent) -> bool {
    ack.acked > 0 && !ack.in_recovery && ack.window_limited && (!ack.ece || ack.in_loss)
}

/// The sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinuxReno {
    growth: Growth,
}

impl CongestionControl for LinuxReno {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if may_grow(ack) {
            self.growth.grow(segments(ack.acked, cx.mss), cx);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.ssthresh = self.on_loss(cx).ssthresh;
        cx.window.cwnd = cx.window.ssthresh;
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        // tcp_init_cwnd_reduction and tcp_enter_loss: what has counted for the next segment is lost, too.
        self.growth = Growth::default();
        Cut::to(half_window(cx))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.on_loss(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};
    use fanin_core::roles::CongestionWindow;

    fn bench(segments: f64, ssthresh: f64) -> TestSender<LinuxReno> {
        let window = CongestionWindow { cwnd: segments * MSS, ssthresh: ssthresh * MSS };
        TestSender::open(LinuxReno::default(), MSS, window)
    }

    #[test]
    fn echoes_stop_growth_but_after_a_timeout_and_leave_two_segments() {
        let mut bench = bench(2.0, 100.0);
        bench.expect_growth_with_echoes_in_loss_only();
        bench.window.cwnd = MSS;
        bench.echo();
        assert_eq!(bench.segments(), 2.0, "what the reduction ends with");
    }

    #[test]
    fn slow_start_counts_segments_and_what_it_leaves_counts_for_congestion_avoidance() {
        let mut bench = bench(4.0, 8.0);
        bench.send(10);
        bench.ack_of(3, false);
        assert_eq!(bench.segments(), 7.0, "not one for each acknowledgement");
        bench.ack_of(3, false);
        assert_eq!(bench.segments(), 8.0);
        assert_eq!(bench.cc.growth.credit, 2);
        bench.ack_of(4, false);
        bench.round(2, 0);
        assert_eq!(bench.segments(), 9.0, "eight segments since the threshold");
    }

    #[test]
    fn tcp_init_cwnd_reduction_forgets_what_has_counted_for_the_next_segment() {
        let cuts: [fn(&mut LinuxReno, &mut SenderCx<'_>) -> Cut; 2] =
            [CongestionControl::on_loss, |cc, cx| cc.on_timeout(cx, 1)];
        for cut in cuts {
            let mut bench = bench(10.0, 10.0);
            bench.round(9, 0);
            assert_eq!(bench.cc.growth.credit, 9);
            bench.call(cut);
            assert_eq!(bench.cc.growth.credit, 0);
        }
    }

    #[test]
    fn a_loss_a_timeout_and_an_echo_leave_half_of_the_window_in_whole_segments() {
        for (window, left) in [(15.0, 7.0), (3.0, 2.0)] {
            let mut bench = bench(window, window);
            // Less than the window is in flight.
            bench.send(2);
            assert_eq!(bench.call(CongestionControl::on_loss).ssthresh, left * MSS);
            assert_eq!(bench.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh, left * MSS);
            bench.echo();
            assert_eq!(bench.window, CongestionWindow { cwnd: left * MSS, ssthresh: left * MSS });
        }
    }
}
