//! CUBIC (RFC 9438): a window that grows with the cube of the time since it was reduced, flat about where it was then.
//!
//! Windows are in segments and times in seconds in here, as in the RFC.

use super::hystart::{Growth, HyStart};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, SenderCx};
use fanin_core::units::Time;

/// Constants, shared by the flows of a group.
#[derive(Clone, Copy, Debug)]
pub struct CubicConfig {
    /// Scaling of the cube in segments per cubed second.
    pub c: f64,
    /// Multiplicative decrease.
    pub beta: f64,
    /// RFC 9438 section 4.7.
    pub fast_convergence: bool,
    /// RFC 9438 section 4.3.
    pub reno_friendly: bool,
    /// RFC 9406.
    pub hystart: bool,
    /// The window grows with acknowledgements, not with the segments that they cover.
    pub per_ack: bool,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Seconds until the window is `w_max` again.
    k: f64,
    w_max: f64,
    /// What Reno's window would be.
    w_est: f64,
}

/// The sender of RFC 9438.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    cfg: CubicConfig,
    /// Window before the last reduction, lowered by fast convergence.
    w_max: f64,
    /// Window before the last reduction.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// The next stage starts flat, with no window to return to (RFC 9438 sections 4.8 and 4.10).
    flat: bool,
    /// Since when the window has not been in use.
    idle_since: Option<Time>,
    hystart: Option<HyStart>,
}

/// RFC 9406 section 4.2, L for senders that do not pace: segments by which one acknowledgement may open the window.
const SLOW_START_LIMIT: f64 = 8.0;

impl Cubic {
    /// A sender at the beginning.
    pub fn new(cfg: CubicConfig) -> Self {
        let hystart = cfg.hystart.then(HyStart::new);
        Self { cfg, w_max: 0.0, cwnd_prior: 0.0, epoch: None, flat: true, idle_since: None, hystart }
    }

    fn slow_start(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        // Congestion avoidance after this is a stage of its own.
        self.epoch = None;
        let growth = self.hystart.as_mut().map(|hystart| hystart.on_ack(cx.una, cx.nxt, ack.rtt));
        let share = match growth {
            Some(Growth::Exit) => {
                self.hystart = None;
                cx.window.ssthresh = cx.window.cwnd;
                // RFC 9438 s4.10
                self.cwnd_prior = cx.window.cwnd / cx.mss;
                return;
            }
            Some(Growth::Grow(share)) => share,
            None => 1.0,
        };
        cx.window.cwnd += (ack.acked as f64).min(SLOW_START_LIMIT * cx.mss) * share;
    }

    /// RFC 9438 section 4.2.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        let flat = std::mem::take(&mut self.flat) || self.w_max <= cwnd;
        let w_max = if flat { cwnd } else { self.w_max };
        Epoch { start: now, k: libm::cbrt((w_max - cwnd) / self.cfg.c), w_max, w_est: cwnd }
    }

    fn avoid_congestion(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let cwnd = cx.window.cwnd / cx.mss;
        let acked = ack.acked as f64 / cx.mss;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(cx.now, cwnd));
        if let Some(since) = self.idle_since.take() {
            // RFC 9438 s5.8: time in which the window was not used does not count.
            epoch.start += cx.now - since.max(epoch.start);
        }
        let elapsed = cx.now.saturating_sub(epoch.start).secs();
        let cubic = |t: f64| self.cfg.c * (t - epoch.k) * (t - epoch.k) * (t - epoch.k) + epoch.w_max;
        // RFC 9438 s4.3: Reno's growth with this decrease, and Reno's own once the old window is reached again.
        let beta = self.cfg.beta;
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * acked / cwnd;
        let window = if self.cfg.reno_friendly && cubic(elapsed) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            // RFC 9438 s4.4 and s4.5. READING: T3a, per segment.
            let target = cubic(elapsed + cx.srtt.map_or(0.0, Time::secs)).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * if self.cfg.per_ack { 1.0 } else { acked }
        };
        cx.window.cwnd = window * cx.mss;
        self.epoch = Some(epoch);
    }

    /// RFC 9438 sections 4.6 and 4.7; the new threshold in bytes. READING: T3b.
    fn reduce(&mut self, cx: &SenderCx<'_>) -> f64 {
        let cwnd = cx.window.cwnd / cx.mss;
        let shrinks = cwnd < self.w_max && self.cfg.fast_convergence;
        self.w_max = if shrinks { cwnd * (1.0 + self.cfg.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.flat = false;
        // RFC 9406 s4.2: for the first slow start only.
        self.hystart = None;
        (cx.in_flight as f64 * self.cfg.beta).max(2.0 * cx.mss)
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        // RFC 3168 s6.1.2: an acknowledgement with an echo does not grow the window.
        if ack.acked == 0 || ack.in_recovery || ack.ece {
            return;
        }
        if !ack.window_limited {
            self.idle_since = self.idle_since.or(Some(cx.now));
            return;
        }
        if cx.window.cwnd < cx.window.ssthresh {
            self.slow_start(cx, ack);
        } else {
            self.avoid_congestion(cx, ack);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let threshold = self.reduce(cx);
        cx.window.ssthresh = threshold;
        cx.window.cwnd = cx.window.cwnd.min(threshold);
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        Cut::to(self.reduce(cx))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        if times > 1 {
            return Cut::to(cx.window.ssthresh);
        }
        let threshold = self.reduce(cx);
        // RFC 9438 s4.8
        self.flat = true;
        Cut::to(threshold)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("w-max", self.w_max);
        show("w-est", self.epoch.map_or(0.0, |epoch| epoch.w_est));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::roles::{ByteCounting, CongestionWindow, PacketFacts};

    const MSS: f64 = 1000.0;
    const CFG: CubicConfig =
        CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, reno_friendly: false, hystart: false, per_ack: false };

    struct Bench {
        cc: Cubic,
        window: CongestionWindow,
        now: Time,
        rtt: Time,
        una: u64,
    }

    impl Bench {
        /// In congestion avoidance with a window of so many segments.
        fn new(cfg: CubicConfig, segments: f64) -> Self {
            let window = CongestionWindow { cwnd: segments * MSS, ssthresh: segments * MSS };
            Self { cc: Cubic::new(cfg), window, now: Time::from_secs(1), rtt: Time::from_ms(100), una: 1 }
        }
        fn call<R>(&mut self, f: impl FnOnce(&mut Cubic, &mut SenderCx<'_>) -> R) -> R {
            let in_flight = self.window.cwnd as u64;
            let mut cx = SenderCx {
                now: self.now,
                mss: MSS,
                in_flight,
                una: self.una,
                nxt: self.una + in_flight,
                max_sent: self.una + in_flight,
                srtt: Some(self.rtt),
                window: &mut self.window,
                packet: &mut PacketFacts::default(),
                wake: &mut Time::NEVER.clone(),
                counting: ByteCounting::Off,
            };
            f(&mut self.cc, &mut cx)
        }
        fn ack(&mut self, segments: u64) {
            self.ack_limited(segments, true);
        }
        fn ack_limited(&mut self, segments: u64, window_limited: bool) {
            self.una += 1000 * segments;
            let rtt = Some(self.rtt);
            let acked = 1000 * segments;
            let ack = AckEvent {
                acked,
                ece: false,
                in_recovery: false,
                in_loss: false,
                cwr: None,
                window_limited,
                ends_window: false,
                rtt,
                field: 0,
            };
            self.call(|cc, cx| cc.on_ack(cx, &ack));
        }
        fn lose(&mut self) {
            let threshold = self.call(CongestionControl::on_loss).ssthresh;
            self.window = CongestionWindow { cwnd: threshold, ssthresh: threshold };
        }
        fn segments(&self) -> f64 {
            self.window.cwnd / MSS
        }
        /// A window's worth of acknowledgements over each round trip.
        fn run(&mut self, secs: f64) {
            let end = self.now + Time::from_ps((secs * 1e12) as u64);
            // Round trips that are cut to whole picoseconds leave a little over, which is not one more.
            while self.now + Time::from_us(1) < end {
                let count = self.segments() as u64;
                for _ in 0..count {
                    self.now += Time::from_ps(self.rtt.ps() / count);
                    self.ack(1);
                }
            }
        }
        #[track_caller]
        fn expect(&self, segments: f64, tolerance: f64) {
            assert!((self.segments() - segments).abs() <= tolerance, "{} instead of {segments}", self.segments());
        }
    }

    #[test]
    fn rfc9438_s4_6_a_loss_leaves_beta_of_the_flight_and_two_segments_at_least() {
        let mut bench = Bench::new(CFG, 100.0);
        bench.lose();
        bench.expect(70.0, 1e-9);
        let mut bench = Bench::new(CFG, 2.0);
        bench.lose();
        bench.expect(2.0, 1e-9);
    }

    #[test]
    fn rfc9438_s4_2_the_window_follows_the_cube_through_its_old_value() {
        let mut bench = Bench::new(CFG, 100.0);
        bench.lose();
        let k = (30.0_f64 / 0.4).cbrt(); // 4.22 s
        let start = bench.now.secs();
        for (after, tolerance) in [(1.0, 0.8), (1.0, 0.5), (2.2, 0.2), (2.0, 0.6), (1.0, 1.2)] {
            bench.run(after);
            let t = bench.now.secs() - start;
            bench.expect(0.4 * (t - k).powi(3) + 100.0, tolerance);
        }
        assert!(bench.segments() > 103.0, "convex beyond");
    }

    #[test]
    fn rfc9438_s4_4_and_4_5_a_round_trip_grows_the_window_by_half_at_most() {
        let mut bench = Bench::new(CFG, 10.0);
        bench.ack(1);
        bench.now += Time::from_secs(1000);
        bench.ack(1);
        bench.expect(10.5, 0.01);
    }

    #[test]
    fn rfc9438_s4_3_short_round_trips_are_renos() {
        // At 1 ms the cube has not moved after 50 round trips; Reno's window has grown by 0.53 each.
        let friendly = CubicConfig { reno_friendly: true, ..CFG };
        let grown = |cfg| {
            let mut bench = Bench::new(cfg, 100.0);
            bench.rtt = Time::from_ms(1);
            bench.lose();
            bench.run(0.05);
            bench.segments() - 70.0
        };
        assert!((grown(friendly) - 50.0 * 3.0 * 0.3 / 1.7).abs() < 1.0, "{}", grown(friendly));
        assert!(grown(CFG) < 1.5);
    }

    #[test]
    fn rfc9438_s4_3_above_the_old_window_reno_grows_by_one() {
        let mut bench = Bench::new(CubicConfig { reno_friendly: true, ..CFG }, 20.0);
        bench.rtt = Time::from_ms(1);
        bench.lose();
        bench.run(0.012); // 14 to 20 takes 11.3 round trips
        let before = bench.segments();
        bench.run(0.01);
        assert!((bench.segments() - before - 10.0).abs() < 0.7, "{}", bench.segments() - before);
    }

    #[test]
    fn rfc9438_s4_7_a_shrinking_window_gives_way() {
        let after_two = |fast_convergence| {
            let mut bench = Bench::new(CubicConfig { fast_convergence, ..CFG }, 100.0);
            bench.lose();
            bench.lose();
            bench.cc.w_max
        };
        assert!((after_two(true) - 70.0 * 1.7 / 2.0).abs() < 1e-9);
        assert!((after_two(false) - 70.0).abs() < 1e-9);
    }

    #[test]
    fn rfc9438_s4_8_after_a_timeout_the_window_starts_flat() {
        let mut bench = Bench::new(CFG, 100.0);
        let threshold = bench.call(|cc, cx| cc.on_timeout(cx, 1)).ssthresh;
        assert!((threshold - 70.0 * MSS).abs() < 1e-9);
        bench.window = CongestionWindow { cwnd: 70.0 * MSS, ssthresh: threshold };
        bench.run(2.0);
        bench.expect(70.0 + 0.4 * 8.0, 0.6);
    }

    #[test]
    fn rfc9438_s5_8_time_without_use_of_the_window_does_not_count() {
        let mut bench = Bench::new(CFG, 100.0);
        bench.lose();
        bench.ack(1);
        bench.ack_limited(1, false);
        bench.now += Time::from_secs(60);
        bench.ack(1);
        bench.expect(70.0, 0.3);
    }

    #[test]
    fn rfc9406_s4_2_slow_start_opens_by_what_is_acknowledged_eight_segments_at_most() {
        let mut bench = Bench::new(CFG, 10.0);
        bench.window.ssthresh = 1e9;
        bench.ack(2);
        bench.expect(12.0, 1e-9);
        bench.ack(20);
        bench.expect(20.0, 1e-9);
    }

    #[test]
    fn rfc9438_s4_10_hystart_ends_the_first_slow_start_without_a_loss() {
        let ended = |hystart| {
            let mut bench = Bench::new(CubicConfig { hystart, ..CFG }, 20.0);
            bench.window.ssthresh = 1e9;
            for round in 0..8 {
                bench.rtt = Time::from_ms(if round < 2 { 100 } else { 150 });
                bench.run(bench.rtt.secs());
            }
            bench.window.ssthresh < 1e9
        };
        assert!(ended(true) && !ended(false));
    }

    #[test]
    fn rfc3168_s6_1_2_an_echo_reduces_as_a_loss_does() {
        let mut bench = Bench::new(CFG, 100.0);
        bench.call(CongestionControl::on_ecn_echo);
        bench.expect(70.0, 1e-9);
        assert!((bench.window.ssthresh - 70.0 * MSS).abs() < 1e-9);
    }

    #[test]
    fn delayed_acknowledgements_do_not_halve_the_growth_unless_asked() {
        let grown = |per_ack, covered| {
            let mut bench = Bench::new(CubicConfig { per_ack, ..CFG }, 100.0);
            bench.lose();
            for _ in 0..60 / covered {
                bench.now += Time::from_ms(10 * covered);
                bench.ack(covered);
            }
            bench.segments() - 70.0
        };
        assert!((grown(false, 2) / grown(false, 1) - 1.0).abs() < 0.05);
        assert!(grown(true, 2) < 0.6 * grown(false, 2));
    }
}
