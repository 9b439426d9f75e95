//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010).
//!
//! **Switch**: marks arriving packets while the queue is at or above a threshold. **Receiver**: echoes each packet's
//! mark exactly, delayed acknowledgements included. **Sender**: estimates the share of marked bytes once per window
//! and reduces the window in proportion to it, at most once per window.

use super::{FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow};
use crate::queue::{MarkAt, Threshold};
use crate::roles::{AckEvent, CongestionControl, QueueDiscipline, SenderCx};
use crate::spec::{Kind, Param, Params, Window};
use crate::tcp::EcnMode;
use crate::units::Size;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dctcp",
    summary: "DCTCP: window cut in proportion to the share of marked bytes (RFC 8257).",
    params: &[
        Param::new(
            "mark-threshold",
            Kind::Size,
            "20pkt",
            "Queue from which on a switch port marks arriving packets.",
            "Alizadeh et al. 2010, section 4.4: 20 packets at 1 Gbps, 65 at 10 Gbps",
        ),
        MarkAt::PARAM,
        Param::new(
            "g",
            Kind::Fraction,
            "1/16",
            "Weight of the newest window in the estimate of the marked share.",
            "RFC 8257 section 4.2",
        )
        .at_most(1.0),
        Param::new("alpha0", Kind::Fraction, "1", "Initial estimate of the marked share.", "RFC 8257 section 4.2: 1")
            .at_most(1.0),
        Param::new(
            "min-window",
            Kind::Window,
            "2mss",
            "Smallest window after a reduction.",
            "Linux tcp_dctcp: two segments",
        )
        .at_least(1.0),
    ],
    transport: &[],
    manual: "# DCTCP\n\nRFC 8257; Alizadeh et al., \"Data Center TCP\", SIGCOMM 2010.\n\n* **Switch**: marks arriving packets while \
             the instantaneous queue is at or above `mark-threshold`; packets of senders without ECN are dropped only when the \
             buffer is full.\n* **Receiver**: echoes the mark of every packet; with delayed acknowledgements by the two-state \
             machine of RFC 8257 section 3.2.\n* **Sender**: per window of data, `alpha = (1 - g) alpha + g F` with `F` the share \
             of marked bytes, also when `F` is zero; on an echo, at most once per window, `cwnd = cwnd (1 - alpha / 2)`. A loss \
             halves the window as in NewReno.\n\nAcknowledgements with an echo do not grow the window. SYNs are ECN-capable \
             only with `transport.ecn-syn`, retransmissions only with `transport.ecn-retransmit`.\n",
    readings: &[],
    build: |params| Box::new(Bundle::new(params)),
};

struct Bundle {
    threshold: Size,
    mark_at: MarkAt,
    g: f64,
    alpha0: f64,
    min_window: Window,
}

impl Bundle {
    fn new(params: &Params) -> Self {
        Self {
            threshold: params.size("mark-threshold"),
            mark_at: MarkAt::named(params.text("mark-at")),
            g: params.number("g"),
            alpha0: params.number("alpha0"),
            min_window: params.window("min-window"),
        }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(self.g, self.alpha0, self.min_window.bytes(flow.mss) as f64))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(Threshold::at(self.threshold, self.mark_at)))
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
    /// The observation window ends when more than this is acknowledged.
    window_end: u64,
    bytes_acked: u64,
    bytes_marked: u64,
}

impl Dctcp {
    /// A sender with gain `g`, first estimate `alpha0` and a smallest window in bytes.
    pub fn new(g: f64, alpha0: f64, min_window: f64) -> Self {
        Self { alpha: alpha0, g, min_window, window_end: 0, bytes_acked: 0, bytes_marked: 0 }
    }
    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// RFC 8257 section 3.3 steps 1 to 5.
    #[inline]
    fn observe(&mut self, cx: &SenderCx<'_>, ack: &AckEvent) {
        self.bytes_acked += ack.acked;
        if ack.ece {
            self.bytes_marked += ack.acked;
        }
        if cx.una <= self.window_end {
            return;
        }
        let marked = self.bytes_marked as f64 / self.bytes_acked as f64;
        self.alpha = (1.0 - self.g) * self.alpha + self.g * marked;
        self.window_end = cx.nxt;
        self.bytes_acked = 0;
        self.bytes_marked = 0;
    }
}

impl CongestionControl for Dctcp {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.window_end = cx.una;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        if ack.acked == 0 {
            return;
        }
        self.observe(cx, ack);
        // RFC 8257 s3.3: growth is that of the base algorithm, and an echo is a sign of congestion, not of room.
        if !ack.ece && !ack.in_recovery && ack.window_limited {
            NewReno::grow(cx, ack.acked);
        }
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        // RFC 8257 s3.3 step 6 and s3.4. The floor lifts a smaller window too, as in Linux: without that a flow that
        // starts with one segment into a standing queue, where every acknowledgement echoes, would never leave it.
        let window = (cx.window.cwnd * (1.0 - self.alpha / 2.0)).max(self.min_window);
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
    use crate::roles::{CongestionWindow, PacketFacts};
    use crate::units::Time;

    const MSS: f64 = 1000.0;

    struct Bench {
        cc: Dctcp,
        window: CongestionWindow,
        una: u64,
        nxt: u64,
    }

    impl Bench {
        fn new(cc: Dctcp, segments: f64) -> Self {
            let mut bench = Self {
                cc,
                window: CongestionWindow { cwnd: segments * MSS, ssthresh: segments * MSS },
                una: 1,
                nxt: 1,
            };
            bench.call(CongestionControl::on_start);
            bench
        }
        fn call<R>(&mut self, f: impl FnOnce(&mut Dctcp, &mut SenderCx<'_>) -> R) -> R {
            let mut cx = SenderCx {
                now: Time::ZERO,
                mss: MSS,
                in_flight: self.nxt - self.una,
                una: self.una,
                nxt: self.nxt,
                max_sent: self.nxt,
                srtt: None,
                window: &mut self.window,
                packet: &mut PacketFacts::default(),
                wake: &mut Time::NEVER.clone(),
            };
            f(&mut self.cc, &mut cx)
        }
        /// Sends `segments` and has them acknowledged one by one, the first `marked` with an echo.
        fn round(&mut self, segments: u64, marked: u64) {
            self.nxt = self.una + segments * 1000;
            for i in 0..segments {
                self.una += 1000;
                let ack = AckEvent {
                    acked: 1000,
                    ece: i < marked,
                    in_recovery: false,
                    window_limited: true,
                    rtt: None,
                    field: 0,
                };
                self.call(|cc, cx| cc.on_ack(cx, &ack));
            }
        }
    }

    #[test]
    fn alpha_starts_at_alpha0_and_decays_without_marks() {
        let mut bench = Bench::new(Dctcp::new(1.0 / 16.0, 1.0, 2.0 * MSS), 10.0);
        assert!((bench.cc.alpha() - 1.0).abs() < 1e-12);
        bench.round(10, 0); // the first acknowledgement ends the empty window of the start
        let after_one = bench.cc.alpha();
        bench.round(10, 0);
        assert!((after_one - 15.0 / 16.0).abs() < 1e-12);
        assert!((bench.cc.alpha() - (15.0_f64 / 16.0).powi(2)).abs() < 1e-12);
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes_once_per_window() {
        let mut bench = Bench::new(Dctcp::new(0.5, 0.0, 2.0 * MSS), 10.0);
        bench.round(10, 0);
        bench.round(10, 5); // counted when the next window's first acknowledgement arrives
        bench.round(10, 0);
        // The window that ended held nine segments of one round and one of the next: 5 marked of 10.
        assert!((bench.cc.alpha() - 0.25).abs() < 0.03, "{}", bench.cc.alpha());
    }

    #[test]
    fn an_echo_cuts_in_proportion_to_alpha_and_not_below_the_floor() {
        let mut bench = Bench::new(Dctcp::new(1.0 / 16.0, 0.5, 2.0 * MSS), 20.0);
        bench.call(CongestionControl::on_ecn_echo);
        assert!((bench.window.cwnd - 15.0 * MSS).abs() < 1e-9);
        assert!((bench.window.ssthresh - 15.0 * MSS).abs() < 1e-9);
        for _ in 0..50 {
            bench.call(CongestionControl::on_ecn_echo);
        }
        assert!((bench.window.cwnd - 2.0 * MSS).abs() < 1e-9);
    }

    #[test]
    fn an_acknowledgement_with_an_echo_does_not_grow_the_window() {
        let mut bench = Bench::new(Dctcp::new(1.0 / 16.0, 0.0, 2.0 * MSS), 10.0);
        bench.round(10, 10);
        assert!((bench.window.cwnd - 10.0 * MSS).abs() < 1e-9);
        bench.round(10, 0);
        assert!(bench.window.cwnd > 10.9 * MSS, "one segment per round trip without marks");
    }

    #[test]
    fn a_loss_halves_and_ignores_alpha() {
        let mut bench = Bench::new(Dctcp::new(1.0 / 16.0, 0.1, 2.0 * MSS), 10.0);
        bench.nxt = bench.una + 10_000;
        let threshold = bench.call(CongestionControl::on_loss);
        assert!((threshold - 5.0 * MSS).abs() < 1e-9);
    }
}
