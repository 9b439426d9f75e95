//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010).
//!
//! `rcc_code.rs` is the sender with which RCC's authors compared their scheme, `ns3.rs` that of ns-3.

mod ns3;
mod rcc_code;
mod readings;

use super::{Effort, FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal};
use fanin_core::roles::{AckEvent, CongestionControl, EcnMode, QueueDiscipline, SenderCx};
use fanin_network::queue::{MARKING_RULE, MARKING_SOURCE, MarkAt, Threshold};
use fanin_param::{Kind, Param, Values, Window};
use ns3::{Ns3, Release};
use rcc_code::RccCode;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dctcp",
    summary: "DCTCP: window cut in proportion to the share of marked bytes (RFC 8257).",
    params: &[
        DctcpSender::MARK_THRESHOLD,
        MarkAt::PARAM,
        Param::new(
            "flavour",
            Kind::Choice(&["rfc8257", "ns-3", "ns-3.31", "ns-3.36", "rcc-code"]),
            "rfc8257",
            "Whose sender it is: that of the RFC, of a release of ns-3, or of RCC's published code. With ns-3 a \
             window of data ends one segment earlier, the reduction uses the estimate before the ACK of the echo, \
             and segments are whole. With ns-3.31 (also 3.32) reaction to loss and least window are ns-3's own: two \
             segments, growth as NewReno. With ns-3.36 (from 3.33 on) a loss reduces by the estimate too, without a \
             least window. RCC's code also fixes alpha0 at 0 and min-window at 1mss.",
            "RFC 8257; ns-3.44, 3.31 and 3.36, tcp-dctcp.cc, PktsAcked, ReduceCwnd and GetSsThresh, and tcp-linux-reno.cc, \
             IncreaseWindow",
        )
        .reading("DCTCP1"),
        DctcpSender::G,
        DctcpSender::ALPHA0,
        DctcpSender::MIN_WINDOW,
    ],
    transport: &[],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::SwitchSetting,
    needs: "an ECN threshold in the switch, and DCTCP on the hosts",
    reacts_to: &[Signal::Marks],
    colour: "#D55E00",
    marker: "s",
    build: |params| {
        Box::new(Bundle {
            marking: DctcpSender::marking(params),
            flavour: params.choose(
                "flavour",
                &[
                    ("rfc8257", Flavour::Rfc8257),
                    ("ns-3", Flavour::Ns3(Release::Ns3_44)),
                    ("ns-3.31", Flavour::Ns3(Release::Ns3_31)),
                    ("ns-3.36", Flavour::Ns3(Release::Ns3_36)),
                    ("rcc-code", Flavour::RccCode),
                ],
            ),
            sender: DctcpSender::new(params),
        })
    },
};

struct Bundle {
    marking: Threshold,
    flavour: Flavour,
    sender: DctcpSender,
}

#[derive(Clone, Copy, PartialEq)]
enum Flavour {
    Rfc8257,
    Ns3(Release),
    RccCode,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        let DctcpSender { g, alpha0, min_window } = self.sender;
        match self.flavour {
            Flavour::Rfc8257 => Box::new(self.sender.build(flow.mss)),
            Flavour::Ns3(release) => Box::new(Ns3::new(release, g, alpha0, min_window.bytes(flow.mss) as f64)),
            Flavour::RccCode => Box::new(RccCode::new(g)),
        }
    }
    fn shares_nothing(&self) -> bool {
        true
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}

/// The parts of DCTCP that its variants reuse: keys, marking and sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct DctcpSender {
    g: f64,
    alpha0: f64,
    min_window: Window,
}

impl DctcpSender {
    pub(super) const MARK_THRESHOLD: Param = Param::new(
        "mark-threshold",
        Kind::Size,
        "20pkt",
        "Marking threshold K: packets that arrive at a queue of at least this size are marked.",
        MARKING_SOURCE,
    )
    .by(MARKING_RULE)
    .per_tier();
    pub(super) const G: Param = Param::new(
        "g",
        Kind::Fraction,
        "1/16",
        "Weight of the latest window in the estimate of the marked share.",
        "RFC 8257 section 4.2",
    )
    .at_most(1.0);
    pub(super) const ALPHA0: Param =
        Param::new("alpha0", Kind::Fraction, "1", "Initial estimate of the marked share.", "RFC 8257 section 4.2: 1")
            .at_most(1.0);
    pub(super) const MIN_WINDOW: Param = Param::new(
        "min-window",
        Kind::Window,
        "2mss",
        "Smallest window after a reduction.",
        "Linux tcp_dctcp: two segments",
    )
    .at_least(1.0);

    /// The values of [`Self::G`], [`Self::ALPHA0`] and [`Self::MIN_WINDOW`].
    pub(super) fn new(params: &Values) -> Self {
        Self { g: params.number("g"), alpha0: params.number("alpha0"), min_window: params.window("min-window") }
    }
    /// The switch port that [`Self::MARK_THRESHOLD`] and [`MarkAt::PARAM`] describe.
    pub(super) fn marking(params: &Values) -> Threshold {
        Threshold::at(params.size("mark-threshold"), MarkAt::chosen(params))
    }
    /// The sender of one flow with segments of `mss` bytes.
    pub(super) fn build(&self, mss: u64) -> Dctcp {
        Dctcp::new(self.g, self.alpha0, self.min_window.bytes(mss) as f64)
    }
}

/// The sender of RFC 8257 section 3.3.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    /// Estimated share of marked bytes.
    alpha: f64,
    g: f64,
    /// Smallest window after a reduction, in bytes.
    min_window: f64,
    bytes_acked: u64,
    bytes_marked: u64,
}

impl Dctcp {
    /// A sender with gain `g`, first estimate `alpha0` and a smallest window in bytes.
    pub fn new(g: f64, alpha0: f64, min_window: f64) -> Self {
        Self { alpha: alpha0, g, min_window, bytes_acked: 0, bytes_marked: 0 }
    }
    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// RFC 8257 section 3.3 steps 1 to 5.
    #[inline]
    pub(super) fn observe(&mut self, ack: &AckEvent) {
        self.bytes_acked += ack.acked;
        if ack.ece {
            self.bytes_marked += ack.acked;
        }
        if !ack.ends_window {
            return;
        }
        let marked = self.bytes_marked as f64 / self.bytes_acked as f64;
        self.alpha = (1.0 - self.g) * self.alpha + self.g * marked;
        self.bytes_acked = 0;
        self.bytes_marked = 0;
    }

    /// Processes an acknowledgement and returns whether the window may grow.
    #[inline]
    pub fn lets_grow(&mut self, ack: &AckEvent) -> bool {
        if ack.acked == 0 {
            return false;
        }
        self.observe(ack);
        // RFC 8257 s3.3: growth is that of the base algorithm, and an echo signals congestion, so the window does not
        // grow.
        !ack.ece && !ack.in_recovery && ack.window_limited
    }

    /// RFC 8257 section 3.3 step 6 with `penalty` instead of alpha.
    pub fn reduce(&self, cx: &mut SenderCx<'_>, penalty: f64) {
        // RFC 8257 s3.4. The lower bound also raises a smaller window, as in Linux: otherwise a flow that starts with
        // one segment into a standing queue, where every acknowledgement carries an echo, would stay at one segment.
        let window = (cx.window.cwnd * (1.0 - penalty / 2.0)).max(self.min_window);
        cx.window.cwnd = window;
        cx.window.ssthresh = window;
    }
}

impl CongestionControl for Dctcp {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if self.lets_grow(ack) {
            NewReno::grow(cx, ack.acked);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        self.reduce(cx, self.alpha);
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sender::{MSS, TestSender};

    #[test]
    fn alpha_starts_at_alpha0_and_decays_without_marks() {
        let mut bench = TestSender::new(Dctcp::new(1.0 / 16.0, 1.0, 2.0 * MSS), 10.0);
        assert!((bench.cc.alpha() - 1.0).abs() < 1e-12);
        bench.round(10, 0); // the first acknowledgement ends the empty window of the start
        let after_one = bench.cc.alpha();
        bench.round(10, 0);
        assert!((after_one - 15.0 / 16.0).abs() < 1e-12);
        assert!((bench.cc.alpha() - (15.0_f64 / 16.0).powi(2)).abs() < 1e-12);
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes_once_per_window() {
        let mut bench = TestSender::new(Dctcp::new(0.5, 0.0, 2.0 * MSS), 10.0);
        bench.round(10, 0);
        bench.round(10, 5); // counted when the next window's first acknowledgement arrives
        bench.round(10, 0);
        // The window that ended held nine segments of one round and one of the next: 5 marked of 10.
        assert!((bench.cc.alpha() - 0.25).abs() < 0.03, "{}", bench.cc.alpha());
    }

    #[test]
    fn an_echo_cuts_in_proportion_to_alpha_and_not_below_the_floor() {
        let mut bench = TestSender::new(Dctcp::new(1.0 / 16.0, 0.5, 2.0 * MSS), 20.0);
        bench.echo();
        assert!((bench.window.cwnd - 15.0 * MSS).abs() < 1e-9);
        assert!((bench.window.ssthresh - 15.0 * MSS).abs() < 1e-9);
        for _ in 0..50 {
            bench.echo();
        }
        assert!((bench.window.cwnd - 2.0 * MSS).abs() < 1e-9);
    }

    #[test]
    fn an_acknowledgement_with_an_echo_does_not_grow_the_window() {
        let mut bench = TestSender::new(Dctcp::new(1.0 / 16.0, 0.0, 2.0 * MSS), 10.0);
        bench.round(10, 10);
        assert!((bench.window.cwnd - 10.0 * MSS).abs() < 1e-9);
        bench.round(10, 0);
        assert!(bench.window.cwnd > 10.9 * MSS, "one segment per round trip without marks");
    }

    #[test]
    fn a_loss_halves_and_ignores_alpha() {
        let mut bench = TestSender::new(Dctcp::new(1.0 / 16.0, 0.1, 2.0 * MSS), 10.0);
        bench.send(10);
        let threshold = bench.call(CongestionControl::on_loss).ssthresh;
        assert!((threshold - 5.0 * MSS).abs() < 1e-9);
    }
}
