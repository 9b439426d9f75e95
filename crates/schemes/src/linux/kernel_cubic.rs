//! CUBIC as Linux 6 has it (`net/ipv4/tcp_cubic.c`, whose functions are named here): whole segments, and a clock of a
//! millisecond as in a kernel with `HZ = 1000`.
//!
//! The cube root is exact, where `cubic_root` is up to some per mille off.

use super::kernel_hystart::{KernelHyStart, Sample};
use super::reno::{Growth, may_grow, segments};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, SenderCx};
use fanin_core::units::{Time, real};
use fanin_tcp::sender::pacing_rate;

/// `HZ`, and one of its ticks.
const HZ: u64 = 1000;
const TICK: Time = Time::from_ms(1);
/// `BICTCP_BETA_SCALE`.
const SCALE: u64 = 1024;
/// `BICTCP_HZ`: the cube is computed in 2^-10 s.
const CUBE_BITS: u32 = 10;
/// `cube_rtt_scale` and `cube_factor` are for this round trip in 1/10 s; it cancels.
const TENTHS: u64 = 10;
/// Bits of the scale of `c`, and of a cubed time.
const SHIFT: u32 = 10 + 3 * CUBE_BITS;
/// 2^-10 s beyond which the cube does not grow any more: twelve days.
const LONGEST: u64 = 1 << 30;

/// Constants, shared by the flows of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelCubicConfig {
    /// `bic_scale`: the growth in 1/1024 of ten segments per cubed second.
    pub(super) scale: u64,
    /// `beta` in 1/1024.
    pub(super) beta: u64,
    pub(super) fast_convergence: bool,
    /// `tcp_friendliness`.
    pub(super) reno_friendly: bool,
    pub(super) hystart: bool,
}

impl KernelCubicConfig {
    /// Of `c` in segments per cubed second and of a fraction.
    pub(super) fn new(c: f64, beta: f64) -> Self {
        let scale = libm::round(c * real(SCALE) / real(TENTHS)) as u64;
        let beta = libm::round(beta * real(SCALE)) as u64;
        Self { scale: scale.max(1), beta, fast_convergence: true, reno_friendly: true, hystart: true }
    }
}

/// A stage of congestion avoidance; times in ticks.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: u64,
    /// `bic_K` in 2^-10 s, and the window there.
    k: u64,
    origin: u64,
}

/// The sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelCubic {
    cfg: KernelCubicConfig,
    growth: Growth,
    /// `last_max_cwnd`: the window before the last reduction; zero if there was none since the start or a timeout.
    last_max: u64,
    epoch: Option<Epoch>,
    /// `last_cwnd` and `last_time`, of the last computation.
    last_window: u64,
    last_tick: u64,
    /// `cnt`: acknowledged segments for which the window grows by one.
    each: u64,
    /// `ack_cnt` and `tcp_cwnd`: what Reno's window would be.
    reno_acks: u64,
    reno_window: u64,
    /// `delay_min`; zero before the first.
    min_rtt_us: u64,
    hystart: KernelHyStart,
    /// `sk_pacing_rate` as the last acknowledgement left it.
    rate: Option<f64>,
    /// Since when everything is acknowledged.
    idle_since: Option<Time>,
}

fn ticks(time: Time) -> u64 {
    time.ps() / TICK.ps()
}

impl KernelCubic {
    /// A sender at the beginning; `paced` by its host.
    pub(super) fn new(cfg: KernelCubicConfig, paced: bool) -> Self {
        Self {
            cfg,
            growth: Growth::default(),
            last_max: 0,
            epoch: None,
            last_window: 0,
            last_tick: 0,
            each: 0,
            reno_acks: 0,
            reno_window: 0,
            min_rtt_us: 0,
            hystart: KernelHyStart::new(paced),
            rate: None,
            idle_since: None,
        }
    }

    /// `cubictcp_cwnd_event`: time in which nothing was outstanding does not count. The kernel sees it from one
    /// transmission to the next, here it is from acknowledgement to acknowledgement, which is as long.
    fn skip_idle_time(&mut self, now: Time) {
        if let (Some(since), Some(epoch)) = (self.idle_since.take(), &mut self.epoch) {
            epoch.start = (epoch.start + ticks(now) - ticks(since)).min(ticks(now));
        }
    }

    /// `cubictcp_acked`.
    fn on_sample(&mut self, rtt: Time, cx: &mut SenderCx<'_>) {
        // Not in the first second of a stage.
        if self.epoch.is_some_and(|epoch| ticks(cx.now) - epoch.start < HZ) {
            return;
        }
        let rtt_us = rtt.us().max(1);
        if self.min_rtt_us == 0 || rtt_us < self.min_rtt_us {
            self.min_rtt_us = rtt_us;
        }
        if !self.cfg.hystart || cx.window.cwnd >= cx.window.ssthresh {
            return;
        }
        let sample = Sample {
            now_us: cx.now.us(),
            una: cx.una,
            nxt: cx.nxt,
            rtt_us,
            min_rtt_us: self.min_rtt_us,
            window: whole_window(cx),
            rate: self.rate,
        };
        if self.hystart.ends_slow_start(&sample) {
            cx.window.ssthresh = cx.window.cwnd;
        }
    }

    /// `cubictcp_cong_avoid`.
    fn grow(&mut self, acked: u64, cx: &mut SenderCx<'_>) {
        let left = Growth::slow_start(segments(acked, cx.mss), cx);
        if left > 0 {
            self.update(whole_window(cx), left, ticks(cx.now));
            self.growth.one_for_each(self.each, left, cx);
        }
    }

    /// `bictcp_update`.
    fn update(&mut self, window: u64, acked: u64, now: u64) {
        self.reno_acks += acked;
        if self.last_window == window && now - self.last_tick <= HZ / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.last_tick {
            (self.last_window, self.last_tick) = (window, now);
            let epoch = self.epoch.unwrap_or_else(|| self.begin(window, acked, now));
            self.epoch = Some(epoch);
            self.each = self.cubic_step(&epoch, window, now);
        }
        if self.cfg.reno_friendly {
            self.keep_up_with_reno(window);
        }
        self.each = self.each.max(2);
    }

    fn begin(&mut self, window: u64, acked: u64, now: u64) -> Epoch {
        (self.reno_acks, self.reno_window) = (acked, window);
        let below = self.last_max.saturating_sub(window);
        let cube = ((1_u64 << SHIFT) / (self.cfg.scale * TENTHS)).saturating_mul(below);
        Epoch { start: now, k: libm::cbrt(real(cube)) as u64, origin: self.last_max.max(window) }
    }

    /// For how many acknowledged segments the window grows by one towards where the cube is one least round trip later.
    fn cubic_step(&self, epoch: &Epoch, window: u64, now: u64) -> u64 {
        let ahead = self.min_rtt_us.div_ceil(TICK.us());
        let t = ((now - epoch.start + ahead) << CUBE_BITS) / HZ;
        let offset = u128::from(t.abs_diff(epoch.k).min(LONGEST));
        let delta = ((u128::from(self.cfg.scale * TENTHS) * offset * offset * offset) >> SHIFT) as u64;
        let target = if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin.saturating_add(delta) };
        let each = if target > window { window / (target - window) } else { 100 * window };
        // With no window to return to the path is unknown: a twentieth in each round trip.
        if self.last_max == 0 { each.min(20) } else { each }
    }

    /// `tcp_friendliness`: not slower than Reno's window would grow that is reduced by `beta`, counted in whole segments.
    fn keep_up_with_reno(&mut self, window: u64) {
        // `beta_scale`
        let eighths = 8 * (SCALE + self.cfg.beta) / 3 / (SCALE - self.cfg.beta);
        let each = ((window * eighths) >> 3).max(1);
        if self.reno_acks > each {
            let steps = (self.reno_acks - 1) / each;
            self.reno_acks -= steps * each;
            self.reno_window += steps;
        }
        if self.reno_window > window {
            self.each = self.each.min(window / (self.reno_window - window));
        }
    }

    /// `cubictcp_recalc_ssthresh`, in bytes: of the window, used or not.
    fn reduce(&mut self, cx: &SenderCx<'_>) -> f64 {
        let window = whole_window(cx);
        self.epoch = None;
        let gives_way = window < self.last_max && self.cfg.fast_convergence;
        self.last_max = if gives_way { window * (SCALE + self.cfg.beta) / (2 * SCALE) } else { window };
        // tcp_init_cwnd_reduction
        self.growth = Growth::default();
        real((window * self.cfg.beta / SCALE).max(2)) * cx.mss
    }
}

/// The window in whole segments.
fn whole_window(cx: &SenderCx<'_>) -> u64 {
    (cx.window.cwnd / cx.mss) as u64
}

impl CongestionControl for KernelCubic {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.hystart.restart(cx.now.us(), cx.nxt);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.skip_idle_time(cx.now);
        if let Some(rtt) = ack.rtt {
            self.on_sample(rtt, cx);
        }
        if may_grow(ack) {
            self.grow(ack.acked, cx);
        }
        self.rate = pacing_rate(*cx.window, cx.in_flight, cx.srtt);
        self.idle_since = (cx.una == cx.nxt).then_some(cx.now);
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.ssthresh = self.reduce(cx);
        cx.window.cwnd = cx.window.ssthresh;
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        Cut::to(self.reduce(cx))
    }
    /// `cubictcp_state` forgets everything at a timeout, once the threshold is computed.
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        let threshold = self.reduce(cx);
        *self = Self { hystart: self.hystart, rate: self.rate, ..Self::new(self.cfg, false) };
        self.hystart.restart(cx.now.us(), cx.nxt);
        Cut::to(threshold)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("w-max", real(self.last_max));
        show("w-est", if self.epoch.is_some() { real(self.reno_window) } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};
    use fanin_core::roles::CongestionWindow;

    fn plain() -> KernelCubicConfig {
        KernelCubicConfig { reno_friendly: false, hystart: false, ..KernelCubicConfig::new(0.4, 0.7) }
    }

    /// In congestion avoidance with a window of so many segments, after 100 s.
    fn bench(cfg: KernelCubicConfig, segments: u64) -> TestSender<KernelCubic> {
        let mut bench = TestSender::new(KernelCubic::new(cfg, false), real(segments));
        bench.now = Time::from_secs(100);
        bench
    }

    fn lose(bench: &mut TestSender<KernelCubic>) {
        let threshold = bench.call(CongestionControl::on_loss).ssthresh;
        bench.window = CongestionWindow { cwnd: threshold, ssthresh: threshold };
    }

    /// A window's worth of acknowledgements over each of `rounds` round trips.
    fn run(bench: &mut TestSender<KernelCubic>, rtt: Time, rounds: u32) {
        for _ in 0..rounds {
            let count = bench.segments() as u64;
            bench.send(2 * count);
            for _ in 0..count {
                bench.now += Time::from_ps(rtt.ps() / count);
                bench.ack(false);
            }
        }
    }

    #[test]
    fn echoes_stop_growth_but_after_a_timeout_and_leave_two_segments() {
        let window = CongestionWindow { cwnd: 2.0 * MSS, ssthresh: 100.0 * MSS };
        let mut bench = TestSender::open(KernelCubic::new(plain(), false), MSS, window);
        bench.expect_growth_with_echoes_in_loss_only();
        bench.window.cwnd = MSS;
        bench.echo();
        assert_eq!(bench.window.ssthresh, 2.0 * MSS);
        assert_eq!(bench.segments(), 2.0, "what the reduction ends with");
    }

    #[test]
    fn the_parameters_are_the_modules_in_1024ths() {
        let cfg = KernelCubicConfig::new(0.4, 0.7);
        assert_eq!((cfg.scale, cfg.beta), (41, 717));
    }

    #[test]
    fn tcp_slow_start_takes_all_that_an_acknowledgement_covers() {
        let window = CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 1e9 };
        let mut bench = TestSender::open(KernelCubic::new(plain(), false), MSS, window);
        bench.send(100);
        bench.ack_of(44, false);
        assert_eq!(bench.segments(), 54.0);
    }

    #[test]
    fn cubictcp_recalc_ssthresh_takes_the_window_whether_it_is_used_or_not() {
        for (window, left) in [(100, 70.0), (99, 69.0), (2, 2.0)] {
            let mut bench = bench(plain(), window);
            bench.send(2);
            assert_eq!(bench.call(CongestionControl::on_loss).ssthresh, left * MSS, "of {window}, in whole segments");
        }
        let mut bench = bench(plain(), 100);
        bench.echo();
        assert_eq!(bench.window, CongestionWindow { cwnd: 70.0 * MSS, ssthresh: 70.0 * MSS });
    }

    #[test]
    fn cubictcp_recalc_ssthresh_gives_way_while_windows_shrink() {
        let after_two = |fast_convergence| {
            let mut bench = bench(KernelCubicConfig { fast_convergence, ..plain() }, 100);
            lose(&mut bench);
            lose(&mut bench);
            bench.cc.last_max
        };
        // 70 * 1741 / 2048
        assert_eq!((after_two(true), after_two(false)), (59, 70));
    }

    #[test]
    fn bictcp_update_follows_the_cube_through_the_old_window() {
        let mut bench = bench(plain(), 100);
        lose(&mut bench);
        let (k, start) = (libm::cbrt(30.0 / 0.4), bench.now.secs());
        for rounds in [10, 10, 22, 20, 10] {
            run(&mut bench, Time::from_ms(100), rounds);
            let t = bench.now.secs() - start - k;
            let expected = 0.4 * t * t * t + 100.0;
            assert!((bench.segments() - expected).abs() < 1.6, "{} instead of {expected}", bench.segments());
        }
        assert!(bench.segments() > 103.0, "convex beyond");
    }

    #[test]
    fn bictcp_update_looks_one_least_round_trip_ahead() {
        let each = |min_rtt_us| {
            let mut cc = KernelCubic { last_max: 100, min_rtt_us, ..KernelCubic::new(plain(), false) };
            cc.update(70, 1, 5_000);
            cc.each
        };
        // Of 30 segments below the old window 29 whole ones are left at once, and 27 in 100 ms: targets of 71 and 73.
        assert_eq!((each(0), each(100_000), each(99_001)), (70, 23, 23));
    }

    #[test]
    fn bictcp_update_grows_by_a_segment_for_two_at_most() {
        let mut cc = KernelCubic { last_max: 10, ..KernelCubic::new(plain(), false) };
        cc.update(10, 1, 1_000);
        cc.update(10, 1, 1_000_000);
        assert_eq!(cc.each, 2);
    }

    #[test]
    fn bictcp_update_computes_once_a_tick_and_seldom_while_the_window_stays() {
        let mut cc = KernelCubic { last_max: 100, ..KernelCubic::new(plain(), false) };
        cc.update(70, 1, 1_000);
        let first = cc.each;
        cc.update(70, 1, 1_031);
        assert_eq!((cc.last_tick, cc.reno_acks), (1_000, 2), "within a 32nd of a second");
        cc.update(70, 1, 1_032);
        assert_eq!(cc.last_tick, 1_032);
        cc.update(71, 1, 1_032);
        assert_eq!((cc.last_window, cc.each), (70, first), "the same tick");
        cc.update(71, 1, 1_033);
        assert_eq!(cc.last_window, 71);
    }

    #[test]
    fn bictcp_update_grows_by_a_twentieth_where_there_was_no_loss_yet() {
        let mut cc = KernelCubic::new(plain(), false);
        cc.update(1_000, 1, 1_000);
        assert_eq!(cc.each, 20);
        cc.last_max = 1_000;
        cc.update(1_000, 1, 2_000);
        assert!(cc.each > 20);
    }

    #[test]
    fn tcp_friendliness_counts_whole_segments_and_never_grows_as_reno_does_alone() {
        let friendly = KernelCubicConfig { reno_friendly: true, ..plain() };
        // At the old window the cube is flat.
        let mut cc = KernelCubic { last_max: 70, ..KernelCubic::new(friendly, false) };
        cc.update(70, 1, 1_000);
        // 15/8 of the window for each segment of Reno's window: beta_scale is 15.
        cc.update(70, 130, 1_040);
        assert_eq!((cc.reno_window, cc.reno_acks), (70, 131), "no more than 70 * 15 / 8 = 131");
        cc.update(70, 1, 1_080);
        assert_eq!((cc.reno_window, cc.reno_acks, cc.each), (71, 1, 70));
        cc.update(70, 263, 1_120);
        assert_eq!((cc.reno_window, cc.each), (73, 70 / 3));
        // RFC 9438 s4.3 has Reno's own growth beyond the old window; the kernel keeps to the slower one.
        let mut bench = bench(friendly, 20);
        lose(&mut bench);
        run(&mut bench, Time::from_ms(1), 200);
        let before = bench.segments();
        run(&mut bench, Time::from_ms(1), 200);
        let grown = (bench.segments() - before) / 200.0;
        assert!(bench.segments() > 60.0 && (0.3..0.55).contains(&grown), "{} by {grown}", bench.segments());
    }

    #[test]
    fn cubictcp_cong_avoid_gives_congestion_avoidance_what_slow_start_leaves() {
        let window = CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 12.0 * MSS };
        let mut bench = TestSender::open(KernelCubic::new(plain(), false), MSS, window);
        bench.send(40);
        bench.ack_of(30, false);
        // 28 are left for a window of 12 that grows by a segment for 20.
        assert_eq!(bench.segments(), 13.0);
    }

    #[test]
    fn cubictcp_state_forgets_all_at_a_timeout() {
        let mut bench = bench(plain(), 100);
        lose(&mut bench);
        bench.rtt = Some(Time::from_ms(10));
        run(&mut bench, Time::from_ms(10), 2);
        assert_eq!(bench.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh, 49.0 * MSS, "first the threshold");
        assert_eq!((bench.cc.last_max, bench.cc.min_rtt_us), (0, 0));
    }

    #[test]
    fn cubictcp_acked_takes_no_round_trip_in_the_first_second_of_a_stage() {
        let mut bench = bench(plain(), 100);
        bench.rtt = Some(Time::from_ms(10));
        bench.send(10);
        bench.ack(false);
        bench.rtt = Some(Time::from_ms(9));
        bench.now += Time::from_ms(999);
        bench.ack(false);
        assert_eq!(bench.cc.min_rtt_us, 10_000);
        bench.now += Time::from_ms(1);
        bench.ack(false);
        assert_eq!(bench.cc.min_rtt_us, 9_000);
    }

    #[test]
    fn cubictcp_cwnd_event_leaves_out_time_with_nothing_outstanding() {
        let mut bench = bench(plain(), 100);
        lose(&mut bench);
        bench.send(2);
        bench.ack(false);
        let start = bench.cc.epoch.unwrap().start;
        bench.ack(false);
        bench.now += Time::from_secs(60);
        bench.send(1);
        bench.ack(false);
        assert_eq!(bench.cc.epoch.unwrap().start, start + 60_000);
        assert_eq!(bench.segments(), 70.0);
    }

    #[test]
    fn hystart_ends_slow_start_before_the_acknowledgement_grows_the_window() {
        let slow = CongestionWindow { cwnd: 16.0 * MSS, ssthresh: 1e9 };
        let ended = |hystart| {
            let cfg = KernelCubicConfig { hystart, ..plain() };
            let mut bench = TestSender::open(KernelCubic::new(cfg, false), MSS, slow);
            bench.send(60);
            bench.rtt = Some(Time::from_ms(1));
            bench.srtt = bench.rtt;
            (0..30).for_each(|_| {
                bench.now += Time::from_us(100);
                bench.ack(false);
            });
            bench.window.ssthresh
        };
        // A train of more than half of a millisecond, and half of the 1 ms for bursts: 11 acknowledgements of 100 us.
        assert_eq!((ended(true), ended(false)), (27.0 * MSS, 1e9));
    }
}
