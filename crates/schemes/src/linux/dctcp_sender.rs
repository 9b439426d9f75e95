//! DCTCP as Linux has it (`net/ipv4/tcp_dctcp.c`): counts in whole segments, and an estimate of ten bits.

use super::reno::{Growth, half_window, may_grow, segments};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, EcnMode, SenderCx};
use fanin_core::units::real;

/// `DCTCP_MAX_ALPHA`: an estimate of one.
const MAX_ALPHA: u64 = 1024;

/// The sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxDctcp {
    /// Estimated share of marked segments, in 1/1024.
    alpha: u64,
    shift_g: u32,
    /// Segments acknowledged in the present window of data, and those by acknowledgements with an echo.
    delivered: u64,
    marked: u64,
    /// The window of data ends when everything below this is acknowledged.
    next: u64,
    growth: Growth,
}

impl LinuxDctcp {
    pub(super) fn new(shift_g: u32, alpha: u64) -> Self {
        Self { alpha, shift_g, delivered: 0, marked: 0, next: 0, growth: Growth::default() }
    }

    /// `dctcp_update_alpha`. The acknowledgement that ends a window of data counts in it.
    fn observe(&mut self, segments: u64, ece: bool, cx: &SenderCx<'_>) {
        self.delivered += segments;
        self.marked += if ece { segments } else { 0 };
        if cx.una >= self.next {
            let decay = self.alpha >> self.shift_g;
            self.alpha -= if decay > 0 { decay } else { self.alpha };
            let gain = (self.marked << (10 - self.shift_g)) / self.delivered.max(1);
            self.alpha = (self.alpha + gain).min(MAX_ALPHA);
            (self.delivered, self.marked, self.next) = (0, 0, cx.nxt);
        }
    }
}

impl CongestionControl for LinuxDctcp {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let segments = segments(ack.acked, cx.mss);
        self.observe(segments, ack.ece, cx);
        if may_grow(ack) {
            self.growth.grow(segments, cx);
        }
    }
    /// A window of data without any: the estimate decays.
    fn on_idle_data(&mut self, cx: &mut SenderCx<'_>) {
        self.observe(0, false, cx);
    }
    /// `dctcp_ssthresh`.
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let window = (cx.window.cwnd / cx.mss) as u64;
        let left = real((window - ((window * self.alpha) >> 11)).max(2)) * cx.mss;
        self.growth = Growth::default();
        cx.window.cwnd = left;
        cx.window.ssthresh = left;
    }
    /// `dctcp_react_to_loss`.
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        // tcp_init_cwnd_reduction and tcp_enter_loss, as with every reduction.
        self.growth = Growth::default();
        Cut::to(half_window(cx))
    }
    fn cuts_again_for_loss(&self) -> bool {
        true
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.on_loss(cx)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", real(self.alpha) / real(MAX_ALPHA));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};

    fn bench(alpha: u64, segments: f64) -> TestSender<LinuxDctcp> {
        TestSender::new(LinuxDctcp::new(4, alpha), segments)
    }

    #[test]
    fn echoes_stop_growth_but_after_a_timeout() {
        let mut bench = bench(0, 2.0);
        bench.window.ssthresh = 100.0 * MSS;
        bench.expect_growth_with_echoes_in_loss_only();
    }

    #[test]
    fn the_estimate_decays_by_a_sixteenth_a_window_and_to_nothing_in_the_end() {
        let mut bench = bench(1024, 10.0);
        bench.round(1, 0);
        assert_eq!(bench.cc.alpha, 960, "the first acknowledgement ends the empty window of the start");
        bench.cc.alpha = 15;
        bench.round(1, 0);
        assert_eq!(bench.cc.alpha, 0, "less than a sixteenth cannot be taken off");
    }

    #[test]
    fn the_estimate_decays_with_each_segment_of_the_other_direction() {
        let mut bench = bench(1024, 10.0);
        (0..2).for_each(|_| bench.call(CongestionControl::on_idle_data));
        assert_eq!(bench.cc.alpha, 900, "960 less its sixteenth");
    }

    #[test]
    fn marks_count_in_whole_segments_and_the_acknowledgement_that_ends_a_window_in_it() {
        let mut bench = bench(0, 10.0);
        bench.send(10);
        bench.ack(false); // ends the empty window; the next one has the ten segments
        (0..8).for_each(|i| bench.ack(i < 3));
        assert_eq!(bench.cc.alpha, 0);
        bench.ack(true);
        // Of nine segments four were marked: 64 * 4 / 9 of 1024.
        assert_eq!(bench.cc.alpha, 28);
        assert_eq!((bench.cc.delivered, bench.cc.marked), (0, 0));
    }

    #[test]
    fn an_echo_cuts_by_half_of_the_estimate_in_whole_segments_and_a_loss_by_half() {
        let mut bench = bench(1024, 15.0);
        bench.echo();
        assert_eq!(bench.segments(), 8.0, "15 less 7");
        (0..9).for_each(|_| bench.echo());
        assert_eq!(bench.segments(), 2.0);
        let mut bench = self::bench(0, 15.0);
        bench.echo();
        assert_eq!(bench.segments(), 15.0);
        assert_eq!(bench.call(CongestionControl::on_loss).ssthresh, 7.0 * MSS);
        assert_eq!(bench.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh, 7.0 * MSS);
    }

    #[test]
    fn the_window_grows_without_echoes_only() {
        let mut bench = bench(0, 10.0);
        bench.round(10, 10);
        assert_eq!(bench.segments(), 10.0);
        bench.round(10, 0);
        assert_eq!(bench.segments(), 11.0);
    }
}
