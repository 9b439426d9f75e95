//! The congestion reaction of DT-CWA (section 2.2).

use super::{Dctcp, NewReno};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, EcnMode, SenderCx};

/// The window at the start of an episode, by Eq. 1 (D4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eq1 {
    /// As printed.
    Literal,
    /// The window less the range over alpha.
    Sub,
    /// The absolute value of Eq. 1 as printed.
    Abs,
    /// DCTCP's cut.
    DctcpCut,
}

/// The meaning of alpha in Eq. 1 (D5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alpha {
    Outstanding,
    /// Segments sent minus acknowledgements received since the connection began.
    SentLessAcks,
    Dctcp,
}

/// When an episode ends (D7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EpisodeEnd {
    /// When all data that was outstanding at the reaction is acknowledged.
    AllAcked,
    /// When data sent after the reaction is acknowledged.
    NextRound,
}

/// The period over which the extremes of the window are taken (D6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Horizon {
    Episode,
    Window,
    Life,
}

/// The readings in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) eq1: Eq1,
    pub(super) may_raise: bool,
    pub(super) alpha: Alpha,
    pub(super) horizon: Horizon,
    pub(super) episode_end: EpisodeEnd,
    pub(super) beta: f64,
    pub(super) end_if_marked: bool,
    pub(super) keep_cut: bool,
}

/// Smallest and largest window over a period, in bytes.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    min: f64,
    max: f64,
}

impl Extremes {
    const NONE: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn see(&mut self, window: f64) {
        self.min = self.min.min(window);
        self.max = self.max.max(window);
    }
    fn with(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// An episode of congestion: from a reaction until the data that was outstanding then is acknowledged.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// One past the data that was outstanding at the reaction.
    end: u64,
    /// An echo has arrived since the reaction.
    marked: bool,
    /// `CW_max - CW_min` at the reaction.
    range: f64,
}

/// Largest window that TCP can advertise, in bytes (RFC 7323 s2.3). Without this bound Eq. 2 would raise windows
/// without limit where Eq. 1 does not lower them.
const LARGEST: f64 = (1_u64 << 30) as f64;

/// The sender: DCTCP's estimate and growth, with another reaction to marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct DtCwa {
    dctcp: Dctcp,
    rules: Rules,
    /// Smallest window after a reaction, in bytes.
    min_window: f64,
    /// Extremes of the window in the current window of data (or since the period began), and in the window of data
    /// before.
    now: Extremes,
    before: Extremes,
    episode: Option<Episode>,
    /// Number of acknowledgements received.
    acks: u64,
}

impl DtCwa {
    pub(super) fn new(dctcp: Dctcp, rules: Rules, min_window: f64) -> Self {
        Self { dctcp, rules, min_window, now: Extremes::NONE, before: Extremes::NONE, episode: None, acks: 0 }
    }

    /// Starts a new period of extremes with the current window.
    fn begin_history(&mut self, window: f64) {
        self.before = Extremes::NONE;
        self.now = Extremes::NONE;
        self.now.see(window);
    }

    /// Eq. 1: the window at the start of an episode, in bytes.
    fn cw_start(&self, cx: &SenderCx<'_>, current: f64, range: f64) -> f64 {
        // READING: D5. The lower bounds avoid a division by zero when nothing is outstanding or was marked.
        let alpha = match self.rules.alpha {
            Alpha::Outstanding => (cx.in_flight as f64 / cx.mss).max(1.0),
            // The SYN takes the first sequence number.
            Alpha::SentLessAcks => (cx.max_sent.saturating_sub(1) as f64 / cx.mss - self.acks as f64).max(1.0),
            Alpha::Dctcp => self.dctcp.alpha().max(f64::MIN_POSITIVE),
        };
        let quotient = range / alpha;
        // READING: D4.
        match self.rules.eq1 {
            Eq1::Literal => quotient - current,
            Eq1::Sub => current - quotient,
            Eq1::Abs => (quotient - current).abs(),
            Eq1::DctcpCut => current * (1.0 - self.dctcp.alpha() / 2.0),
        }
    }

    /// Begins an episode, after an echo or after an episode with further echoes.
    fn react(&mut self, cx: &mut SenderCx<'_>) {
        let window = cx.window.cwnd;
        self.now.see(window);
        let Extremes { min, max } = self.now.with(self.before);
        // READING: D9.
        let current = if self.rules.keep_cut { window * (1.0 - self.dctcp.alpha() / 2.0) } else { window };
        let start = self.cw_start(cx, current, max - min);
        let start = if self.rules.may_raise { start } else { start.min(current) };
        // READING: D10. A smaller window is raised to the minimum, as in DCTCP.
        cx.window.cwnd = start.max(self.min_window).min(LARGEST);
        cx.window.ssthresh = cx.window.cwnd;
        self.now.see(cx.window.cwnd);
        self.episode = Some(Episode { end: cx.max_sent, marked: false, range: max - min });
    }

    /// Ends an episode with Eq. 2, or begins the next one (D8).
    fn end(&mut self, episode: Episode, cx: &mut SenderCx<'_>) {
        self.episode = None;
        if episode.marked && !self.rules.end_if_marked {
            // READING: D8.
            return self.react(cx);
        }
        cx.window.cwnd = (cx.window.cwnd + self.rules.beta * episode.range).min(LARGEST);
        if self.rules.horizon == Horizon::Episode {
            self.begin_history(cx.window.cwnd);
        }
    }
}

impl CongestionControl for DtCwa {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.begin_history(cx.window.cwnd);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.acks += 1;
        if ack.acked == 0 {
            return;
        }
        self.dctcp.observe(ack);
        if ack.ends_window && self.rules.horizon == Horizon::Window {
            self.before = self.now;
            self.now = Extremes::NONE;
        }
        if let Some(episode) = &mut self.episode {
            episode.marked |= ack.ece;
        }
        if ack.in_recovery {
            return;
        }
        self.now.see(cx.window.cwnd);
        match &mut self.episode {
            // READING: D7. There is one reaction per episode, and no growth during it.
            Some(episode) => {
                let episode = *episode;
                let ends = match self.rules.episode_end {
                    EpisodeEnd::AllAcked => cx.una >= episode.end,
                    // As the observation windows of RFC 8257 s3.3. It is a round trip longer, because data sent after
                    // the reaction queues behind the data that was outstanding.
                    EpisodeEnd::NextRound => cx.una > episode.end,
                };
                if ends || cx.in_flight == 0 {
                    self.end(episode, cx);
                }
            }
            None if !ack.ece && ack.window_limited => NewReno::grow(cx, ack.acked),
            None => {}
        }
        self.now.see(cx.window.cwnd);
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        if self.episode.is_none() {
            self.react(cx);
        }
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        self.episode = None;
        self.dctcp.on_loss(cx)
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        self.episode = None;
        self.dctcp.on_timeout(cx, times)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.dctcp.probes(show);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bundle, PARAMS};
    use super::*;
    use crate::test_sender::{MSS, TestSender};
    use fanin_core::roles::Cwr;
    use fanin_param::Values;

    /// A sender whose window has grown from `low` to `high` segments, all outstanding.
    fn bench(params: &[(&str, &str)], low: f64, high: f64) -> TestSender<DtCwa> {
        let params = params.iter().fold(Values::defaults(&[PARAMS]), |params, (key, value)| params.with(key, value));
        let mut bench = TestSender::new(Bundle::new(&params).sender(1000), low);
        bench.window.cwnd = high * MSS;
        bench.send(high as u64);
        bench
    }
    /// The window in segments after the first reaction.
    fn cw_start(params: &[(&str, &str)], low: f64, high: f64, outstanding: u64) -> f64 {
        let mut bench = bench(params, low, high);
        bench.send(outstanding);
        bench.echo();
        bench.segments()
    }
    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    #[test]
    fn eq_1_literally_falls_to_the_floor_where_the_window_is_outstanding() {
        // (20 - 4) / 20 - 20 < 0.
        near(cw_start(&[], 4.0, 20.0, 20), 1.0);
        // (40 - 2) / 4 - 6 = 3.5: between the minimum and the window, which was 40 and is now 6.
        let mut bench = bench(&[], 2.0, 40.0);
        bench.call(|cc, cx| cc.now.see(cx.window.cwnd));
        bench.window.cwnd = 6.0 * MSS;
        bench.send(4);
        bench.echo();
        near(bench.segments(), 3.5);
        near(bench.window.ssthresh / MSS, 3.5);
    }

    #[test]
    fn no_window_is_larger_than_tcp_can_advertise() {
        let mut bench = bench(&[("beta", "1"), ("cw-hist", "life"), ("eq1-alpha", "dctcp-alpha")], 2.0, 1e9);
        bench.call(|cc, cx| cc.now.see(cx.window.cwnd));
        bench.echo();
        assert!(bench.window.cwnd <= LARGEST, "Eq. 1 leaves {}", bench.window.cwnd);
        bench.call(|cc, cx| {
            let episode = Episode { end: cx.una, marked: false, range: 1e30 };
            cc.end(episode, cx);
        });
        near(bench.window.cwnd, LARGEST);
    }

    #[test]
    fn d4_eq_1_opens_the_window_unless_it_is_capped() {
        // (20 - 2) / 1 - 5 = 13, while the window is 5.
        for (may, segments) in [("false", 5.0), ("true", 13.0)] {
            let mut bench = bench(&[("eq1-may-raise", may)], 2.0, 20.0);
            bench.call(|cc, cx| cc.now.see(cx.window.cwnd));
            bench.window.cwnd = 5.0 * MSS;
            bench.send(1);
            bench.echo();
            near(bench.segments(), segments);
        }
    }

    #[test]
    fn d4_the_other_readings_of_eq_1() {
        near(cw_start(&[("eq1", "sub")], 4.0, 20.0, 20), 20.0 - 16.0 / 20.0);
        near(cw_start(&[("eq1", "sub")], 4.0, 20.0, 2), 12.0);
        near(cw_start(&[("eq1", "sub")], 4.0, 20.0, 1), 4.0);
        near(cw_start(&[("eq1", "abs")], 4.0, 20.0, 20), 20.0 - 16.0 / 20.0);
        near(cw_start(&[("eq1", "dctcp-cut"), ("alpha0", "0.5")], 4.0, 20.0, 20), 15.0);
    }

    #[test]
    fn d5_alpha_is_what_is_outstanding_or_dctcp_s() {
        near(cw_start(&[("eq1", "sub"), ("alpha0", "0.5")], 12.0, 20.0, 4), 18.0);
        near(cw_start(&[("eq1", "sub"), ("alpha0", "0.5"), ("eq1-alpha", "dctcp-alpha")], 16.0, 20.0, 4), 12.0);
        // With nothing outstanding alpha is one, and an estimate of zero does not divide by zero.
        near(cw_start(&[("eq1", "sub")], 12.0, 20.0, 0), 12.0);
        let none = [("eq1", "sub"), ("alpha0", "0"), ("eq1-alpha", "dctcp-alpha")];
        near(cw_start(&none, 12.0, 20.0, 4), 1.0);
        near(cw_start(&none, 20.0, 20.0, 4), 20.0);
    }

    #[test]
    fn d5_alpha_may_count_acknowledgements_which_delayed_ones_make_grow() {
        // 20 segments sent and acknowledged by 20 acknowledgements, 20 more by ten, and four outstanding: 44 - 30.
        let mut bench = bench(&[("eq1", "sub"), ("eq1-alpha", "sent-less-acks")], 6.0, 20.0);
        (0..20).for_each(|_| bench.ack(false));
        bench.send(24);
        bench.una += 10 * MSS as u64;
        (0..10).for_each(|_| bench.ack(false));
        bench.window.cwnd = 20.0 * MSS;
        let range = bench.cc.now.max / MSS - 6.0;
        bench.echo();
        near(bench.segments(), 20.0 - range / 14.0);
    }

    #[test]
    fn eq_2_gives_beta_of_the_range_back_when_what_was_outstanding_is_acknowledged() {
        for (beta, segments) in [("0.2", 4.2), ("1", 17.0)] {
            let mut bench = bench(&[("beta", beta)], 4.0, 20.0);
            bench.echo();
            (0..19).for_each(|_| bench.ack(false));
            near(bench.segments(), 1.0);
            bench.ack(false);
            near(bench.segments(), segments);
            assert!(bench.window.cwnd > bench.window.ssthresh, "congestion avoidance goes on from there");
        }
    }

    #[test]
    fn d7_an_episode_lasts_until_what_was_outstanding_or_something_sent_since_is_acknowledged() {
        for (end, acks) in [("all-acked", 20), ("next-round", 21)] {
            let mut bench = bench(&[("episode-end", end)], 4.0, 20.0);
            bench.echo();
            bench.send(22);
            (1..acks).for_each(|_| bench.ack(false));
            near(bench.segments(), 1.0);
            bench.ack(false);
            near(bench.segments(), 4.2);
        }
    }

    #[test]
    fn d7_an_episode_reacts_once_and_does_not_grow() {
        let mut bench = bench(&[("eq1", "sub")], 4.0, 20.0);
        bench.echo();
        near(bench.segments(), 19.2);
        for i in 0..19 {
            bench.ack(i < 5);
            bench.echo();
            near(bench.segments(), 19.2);
        }
    }

    #[test]
    fn d8_eq_2_holds_after_marks_too_unless_the_next_episode_begins_instead() {
        let mut next = bench(&[("eq1", "sub"), ("cw-end-if-marked", "false")], 4.0, 20.0);
        next.echo();
        next.send(30);
        (0..19).for_each(|i| next.ack(i == 3));
        near(next.segments(), 19.2);
        next.ack(false);
        // The range is still 16, and ten segments are outstanding.
        near(next.segments(), 19.2 - 1.6);
        assert_eq!(next.cc.episode.expect("a new episode").end, next.nxt);
        // Echoes count while Linux reduces the window, too.
        for marked in [false, true] {
            let mut bench = bench(&[("eq1", "sub"), ("cw-end-if-marked", "false")], 4.0, 20.0);
            bench.echo();
            bench.cwr = Some(Cwr::Continues);
            bench.ack(marked);
            bench.cwr = None;
            (0..19).for_each(|_| bench.ack(false));
            assert_eq!(bench.cc.episode.is_some(), marked);
        }
        let mut grown = bench(&[("eq1", "sub")], 4.0, 20.0);
        grown.echo();
        (0..20).for_each(|i| grown.ack(i == 3));
        near(grown.segments(), 19.2 + 0.2 * 16.0);
    }

    #[test]
    fn d8_with_the_cap_and_no_end_while_marks_persist_no_episode_opens_the_window() {
        let readings = ["literal-clamped", "sub", "abs"].map(|eq1| [(eq1, "all-acked"), (eq1, "next-round")]);
        for (eq1, end) in readings.into_iter().flatten() {
            for (low, high) in [(1.0, 1.5), (2.0, 3.0), (2.0, 20.0), (10.0, 80.0), (30.0, 30.0)] {
                let capped = [("eq1-may-raise", "false"), ("cw-end-if-marked", "false"), ("cw-hist", "episode")];
                let mut bench = bench(&[&capped[..], &[("eq1", eq1), ("episode-end", end)]].concat(), low, high);
                let mut last = bench.segments().max(2.0);
                bench.echo();
                for _ in 0..50 {
                    assert!(bench.segments() <= last + 1e-9, "{eq1}: from {last} to {}", bench.segments());
                    last = bench.segments();
                    bench.send(last as u64);
                    (0..last as u64).for_each(|_| bench.ack(true));
                }
            }
        }
    }

    #[test]
    fn d4_sub_opens_the_window_over_an_episode_that_ends_unmarked_with_much_outstanding() {
        // The range is 16: minus 16 / alpha plus 16 / 5.
        for (outstanding, grows) in [(4, false), (6, true)] {
            let mut bench = bench(&[("eq1", "sub")], 4.0, 20.0);
            bench.send(outstanding);
            bench.echo();
            (0..outstanding).for_each(|_| bench.ack(false));
            assert_eq!(bench.segments() > 20.0, grows);
        }
    }

    #[test]
    fn d6_the_extremes_are_those_since_the_last_episode_the_last_window_or_ever() {
        // In the first episode the window grew from 4 to 20. After it the window stays near 5.2, so the range of the
        // second is what it has grown since.
        for (horizon, range) in [("episode", 1.0), ("life", 19.0), ("window", 1.0)] {
            let mut bench = bench(&[("cw-hist", horizon)], 4.0, 20.0);
            bench.echo();
            (0..20).for_each(|_| bench.ack(false));
            let start = bench.segments();
            for _ in 0..4 {
                bench.send(1);
                bench.window.cwnd = start * MSS;
                bench.ack(false);
            }
            bench.window.cwnd = (start + 1.0) * MSS;
            bench.echo();
            near(bench.cc.episode.expect("an episode").range / MSS, range);
        }
    }

    #[test]
    fn d6_with_window_only_the_last_window_of_data_and_the_present_one_count() {
        // From 4 to 17 segments over four windows of data, the last two of which begin with 14 and 16.
        for (horizon, least, most) in [("episode", 12.0, 14.0), ("life", 12.0, 14.0), ("window", 1.5, 6.0)] {
            let mut bench = bench(&[("cw-hist", horizon)], 4.0, 10.0);
            for segments in [10_u32, 12, 14, 16] {
                bench.window.cwnd = f64::from(segments) * MSS;
                bench.send(u64::from(segments));
                (0..segments).for_each(|_| bench.ack(false));
            }
            bench.echo();
            let range = bench.cc.episode.expect("an episode").range / MSS;
            assert!((least..most).contains(&range), "{horizon}: {range}");
        }
    }

    #[test]
    fn d9_dctcp_s_cut_may_come_first() {
        let cut = [("eq1", "sub"), ("keep-dctcp-cut", "true"), ("alpha0", "0.5")];
        near(cw_start(&cut, 4.0, 20.0, 20), 15.0 - 16.0 / 20.0);
    }

    #[test]
    fn d10_the_floor_is_a_parameter() {
        near(cw_start(&[("min-window", "2mss")], 4.0, 20.0, 20), 2.0);
        near(cw_start(&[("min-window", "3000B")], 4.0, 20.0, 20), 3.0);
    }

    #[test]
    fn between_episodes_the_window_grows_as_dctcp_s() {
        let mut bench = bench(&[], 20.0, 20.0);
        bench.ack(false);
        near(bench.segments(), 20.05);
        bench.ack(true);
        near(bench.segments(), 20.05);
    }

    #[test]
    fn a_loss_halves_and_ends_the_episode() {
        let timeout = |cc: &mut _, cx: &mut SenderCx<'_>| CongestionControl::on_timeout(cc, cx, 1);
        for hook in [CongestionControl::on_loss, timeout] {
            let mut bench = bench(&[], 4.0, 20.0);
            bench.echo();
            near(bench.call(hook).ssthresh / MSS, 10.0);
            (0..20).for_each(|_| bench.ack(true));
            near(bench.segments(), 1.0);
            assert!(bench.cc.episode.is_none());
        }
    }
}
