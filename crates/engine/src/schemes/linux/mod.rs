//! TCP as Linux runs it today: the honest zero against which a remedy has to show its worth.
//!
//! **Sender**: CUBIC (RFC 9438) with HyStart++ (RFC 9406); losses told by time with tail loss probes (RFC 8985),
//! repaired by selective acknowledgements with proportional rate reduction (RFC 9937). **Receiver**: delayed
//! acknowledgements, the first ones quick. The switch drops what does not fit.
//!
//! What is not CUBIC is TCP's: this scheme only sets its `[transport]` defaults to Linux's.

mod cubic;
mod hystart;

pub use cubic::{Cubic, CubicConfig};

use super::{FlowFacts, Reading, Scheme, SchemeRow};
use crate::roles::CongestionControl;
use crate::spec::{Kind, Param, Params};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "linux",
    summary: "TCP as Linux runs it: CUBIC, RACK, tail loss probes (RFC 9438, RFC 8985).",
    params: PARAMS,
    transport: &[
        ("initial-window", "10mss"),
        ("ack-every", "2"),
        ("ack-delay", "40ms"),
        ("quickack", "16"),
        ("sack", "true"),
        ("loss-detection", "rack"),
        ("tail-loss-probe", "true"),
        ("probe-ack-delay", "200ms"),
        ("probe-margin", "2ms"),
        ("rate-reduction", "proportional"),
        ("limited-transmit", "true"),
        ("rto-min", "200ms"),
        ("rto-initial", "1s"),
        ("rto-max", "120s"),
        ("rto-backoff-limit", "15"),
        // With time stamps the acknowledgement of a retransmission is a sample as well.
        ("rto-backoff-reset", "new-ack"),
        ("syn-timeout", "1s"),
        ("window-validation", "true"),
    ],
    manual: MANUAL,
    readings: READINGS,
    totals: &[],
    build: |params| Box::new(Bundle::new(params)),
};

const PARAMS: &[Param] = &[
    Param::new(
        "c",
        Kind::Number,
        "0.4",
        "How fast the window grows, in segments per cubed second.",
        "RFC 9438 section 5",
    )
    .at_least(0.001),
    Param::new("beta", Kind::Fraction, "0.7", "What remains of the window after a loss.", "RFC 9438 section 4.6")
        .at_least(0.1)
        .at_most(0.95),
    Param::new(
        "fast-convergence",
        Kind::Bool,
        "true",
        "Whether a flow whose window shrinks from loss to loss leaves room to others.",
        "RFC 9438 section 4.7",
    ),
    Param::new(
        "reno-friendly",
        Kind::Bool,
        "true",
        "Whether the window is at least what Reno's would be, which rules where round trips are short.",
        "RFC 9438 section 4.3",
    ),
    Param::new(
        "hystart",
        Kind::Bool,
        "true",
        "Whether the first slow start ends when round trips lengthen.",
        "RFC 9406; Linux has an older form of it",
    ),
    Param::new(
        "growth",
        Kind::Choice(&["per-segment", "per-ack"]),
        "per-segment",
        "What grows the window: each segment that an acknowledgement covers, or each acknowledgement.",
        "Linux tcp_cubic; RFC 9438 section 4.4 says each acknowledgement",
    )
    .reading("T3a"),
];

const READINGS: &[Reading] = &[
    Reading {
        id: "T3a",
        text: "RFC 9438 section 4.4 grows the window by (target - cwnd)/cwnd for each acknowledgement, which delayed \
               acknowledgements would halve; we count the segments that it covers, as Linux does and as section 4.3 \
               does for the Reno-friendly window.",
        params: &["scheme.linux.growth"],
    },
    Reading {
        id: "T3b",
        text: "RFC 9438 section 4.6 reduces what is in flight, Linux the window; we take what is in flight but no more \
               than the window, so that segments which the first reports let out do not count. The two differ only \
               for a window that is not used.",
        params: &[],
    },
];

const MANUAL: &str = "# Linux\n\nWhat runs today, as the zero of comparisons. RFC 9438 (CUBIC), RFC 9406 (HyStart++), RFC 8985 (RACK \
and tail loss probes), RFC 9937 (proportional rate reduction), RFC 6928 (initial window).\n\n* **Sender**, window: slow start, \
whose first run ends by HyStart++ (RFC 9406 section 4); then `W(t) = c (t - K)^3 + W_max` with `t` in seconds since the \
reduction, `W` in segments and `K = cbrt((W_max - cwnd) / c)` (RFC 9438 section 4.2), aimed at one round trip ahead and never \
more than half again the window; but at least the window of a Reno flow with the same losses (section 4.3). A loss leaves \
`beta` of what is in flight, a timeout one segment; fast convergence lowers `W_max` further while windows shrink (section \
4.7). With `transport.ecn = \"on\"` a mark reduces as a loss does, once a round trip (RFC 3168 section 6.1.2).\n* **Sender**, \
losses: told by time (RFC 8985 section 6): a segment is lost once one sent later has arrived and the reordering window, a \
quarter of the least round trip, is over; the window is zero in recovery or after three reports, unless reordering was seen. \
Without acknowledgements for two round trips and 2 ms a probe goes out (section 7); for a single segment 200 ms later, so \
that the retransmission timer comes first. Recovery lets segments out in proportion to what arrives (RFC 9937). A timeout \
takes only what is overdue for lost and keeps the receiver's reports (RFC 8985 section 6.3).\n* **Receiver**: an \
acknowledgement for every second segment or after 40 ms, but the first 16 at once.\n\nAll but the first are `[transport]` keys \
with Linux's values as this scheme's defaults, and work with any scheme. **Cheap remedies** to put on top: \
`transport.rto-min` of 1ms to 5ms; `jitter` of an incast group; `concurrent` of an incast group, which lets only so many \
servers answer at once.\n\nLeft out: the widening of the reordering window on DSACKs (RFC 8985 section 6.2 step 4) and DSACK \
itself; the undoing of reductions that were not needed (F-RTO, Eifel); quick acknowledgements after reordering or idle time; \
pacing; automatic tuning of the receive buffer; Linux's own HyStart, for which the RFC's stands; small queues. The retransmission \
timer is `max(200 ms, SRTT + 4 RTTVAR)` after RFC 6298, where Linux has `SRTT + max(200 ms, 4 RTTVAR)`.\n";

struct Bundle {
    cubic: CubicConfig,
}

impl Bundle {
    fn new(params: &Params) -> Self {
        Self {
            cubic: CubicConfig {
                c: params.number("c"),
                beta: params.number("beta"),
                fast_convergence: params.flag("fast-convergence"),
                reno_friendly: params.flag("reno-friendly"),
                hystart: params.flag("hystart"),
                per_ack: params.is("growth", "per-ack"),
            },
        }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Cubic::new(self.cubic))
    }
}
