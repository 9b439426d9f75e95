//! TCP as Linux runs it today: the baseline that a remedy has to beat.
//!
//! What is not CUBIC is TCP's: this scheme only brings the stack `linux-6`, on which any other can run as well.

mod cubic;
mod hystart;
mod readings;

pub use cubic::{Cubic, CubicConfig};

use super::{FlowFacts, Scheme, SchemeRow, Wish};
use crate::roles::CongestionControl;
use crate::spec::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "linux",
    summary: "TCP as Linux runs it: CUBIC, RACK, tail loss probes (RFC 9438, RFC 8985).",
    params: PARAMS,
    transport: &[Wish::Stack("linux-6")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    build: |values| Box::new(Bundle::new(values)),
};

const PARAMS: &[Param] = &[
    Param::new("c", Kind::Number, "0.4", "Growth of the window, in segments per cubed second.", "RFC 9438 section 5")
        .at_least(0.001),
    Param::new("beta", Kind::Fraction, "0.7", "Factor by which a loss multiplies the window.", "RFC 9438 section 4.6")
        .at_least(0.1)
        .at_most(0.95),
    Param::new(
        "fast-convergence",
        Kind::Bool,
        "true",
        "Whether a flow whose window shrinks from loss to loss releases bandwidth to others.",
        "RFC 9438 section 4.7",
    ),
    Param::new(
        "reno-friendly",
        Kind::Bool,
        "true",
        "Whether the window is at least what Reno's would be, which dominates if round trips are short.",
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
        "What grows the window: each segment that an ACK covers, or each ACK.",
        "Linux tcp_cubic; RFC 9438 section 4.4 says each acknowledgement",
    )
    .reading("T3a"),
];

struct Bundle {
    cubic: CubicConfig,
}

impl Bundle {
    fn new(values: &Values) -> Self {
        Self {
            cubic: CubicConfig {
                c: values.number("c"),
                beta: values.number("beta"),
                fast_convergence: values.flag("fast-convergence"),
                reno_friendly: values.flag("reno-friendly"),
                hystart: values.flag("hystart"),
                per_ack: values.is("growth", "per-ack"),
            },
        }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Cubic::new(self.cubic))
    }
}
