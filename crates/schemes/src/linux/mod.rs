//! TCP as Linux runs it today: the baseline that a fix has to beat.
//!
//! What is not congestion control is TCP's: these schemes only bring the stack `linux-6.12`, on which any other can run as
//! well. Linux's default is CUBIC: `kernel_cubic.rs` is the kernel's, and `cubic.rs` that of the RFC, which differs.
//! `reno.rs` and `dctcp_sender.rs` are the senders of two others that servers run.

mod cubic;
mod dctcp_sender;
mod hystart;
mod kernel_cubic;
mod kernel_hystart;
mod readings;
mod reno;

pub use cubic::{Cubic, CubicConfig};
pub(crate) use reno::Growth;

use super::{DctcpSender, Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use dctcp_sender::LinuxDctcp;
use fanin_core::roles::{CongestionControl, QueueDiscipline};
use fanin_network::queue::{MarkAt, Threshold};
use fanin_param::{Kind, Param, Values};
use kernel_cubic::{KernelCubic, KernelCubicConfig};
use reno::LinuxReno;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "linux",
    summary: "TCP as Linux runs it: CUBIC, HyStart, RACK, tail loss probes.",
    params: PARAMS,
    transport: &[Wish::Stack("linux-6.12")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Hosts,
    needs: "Linux hosts with their default, CUBIC",
    reacts_to: &[],
    colour: "#8B4513",
    marker: "8",
    build: |values| Box::new(Bundle::new(values)),
};

/// Linux Reno: congestion control `reno` on the same stack.
pub(super) const ROW_RENO: SchemeRow = SchemeRow {
    key: "linux-reno",
    summary: "Reno as Linux runs it: congestion control `reno` on the stack of Linux 6.",
    params: &[],
    transport: &[Wish::Stack("linux-6.12")],
    manual: include_str!("reno.md"),
    readings: &[],
    totals: &[],
    effort: Effort::Hosts,
    needs: "Linux hosts with net.ipv4.tcp_congestion_control=reno",
    reacts_to: &[],
    colour: "#6699CC",
    marker: "<",
    build: |_| Box::new(Reno),
};

/// Linux DCTCP: congestion control `dctcp` on the same stack.
pub(super) const ROW_DCTCP: SchemeRow = SchemeRow {
    key: "linux-dctcp",
    summary: "DCTCP as Linux runs it: congestion control `dctcp` on the stack of Linux 6.",
    params: DCTCP_PARAMS,
    transport: &[
        Wish::Stack("linux-6.12"),
        // tcp_output.c, with tcp_ca_needs_ecn: every packet of such a connection is ECT.
        Wish::Needs("ecn-syn", "true"),
        Wish::Needs("ecn-retransmit", "true"),
        Wish::Needs("ecn-ack", "true"),
    ],
    manual: include_str!("dctcp.md"),
    readings: &[],
    totals: &[],
    effort: Effort::SwitchSetting,
    needs: "an ECN threshold in the switch, and Linux hosts with net.ipv4.tcp_congestion_control=dctcp at both ends",
    reacts_to: &[Signal::Marks],
    colour: "#EE3377",
    marker: "D",
    build: |values| Box::new(MarkedDctcp::new(values)),
};

/// Linux BBR, which only the kernel carries.
pub(super) const ROW_BBR: SchemeRow = SchemeRow {
    key: "linux-bbr",
    summary: "BBR as Linux has it: congestion control `bbr`, only with --backend linux.",
    params: &[],
    transport: &[Wish::Stack("linux-6.12")],
    manual: include_str!("bbr.md"),
    readings: &[],
    totals: &[],
    effort: Effort::Hosts,
    needs: "Linux hosts with net.ipv4.tcp_congestion_control=bbr",
    reacts_to: &[Signal::Delay],
    colour: "#999933",
    marker: ">",
    build: |_| Box::new(Reno),
};

const DCTCP_PARAMS: &[Param] = &[
    DctcpSender::MARK_THRESHOLD,
    MarkAt::PARAM,
    Param::new(
        "shift-g",
        Kind::Integer,
        "4",
        "Weight of the latest window in the estimate of the marked share: 2 to the power of minus this.",
        "Linux 6, tcp_dctcp.c: module parameter dctcp_shift_g",
    )
    .at_most(10.0),
    Param::new(
        "alpha-on-init",
        Kind::Integer,
        "1024",
        "Initial estimate of the marked share, in 1/1024.",
        "Linux 6, tcp_dctcp.c: module parameter dctcp_alpha_on_init",
    )
    .at_most(1024.0),
];

const PARAMS: &[Param] = &[
    Param::new(
        "flavour",
        Kind::Choice(&["kernel", "rfc"]),
        "kernel",
        "Whose CUBIC and HyStart: the kernel's, in whole segments and with beta and c in 1/1024. Or that of RFC 9438 \
         and RFC 9406, which no kernel has.",
        "Linux 6, net/ipv4/tcp_cubic.c",
    )
    .reading("T3b"),
    Param::new(
        "c",
        Kind::Number,
        "0.4",
        "Growth of the window, in segments per cubed second.",
        "RFC 9438 section 5; Linux 6: bic_scale 41",
    )
    .at_least(0.001),
    Param::new(
        "beta",
        Kind::Fraction,
        "0.7",
        "Factor by which a loss multiplies the window.",
        "RFC 9438 section 4.6; Linux 6: beta 717",
    )
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
        "Whether slow start may end before a loss. The kernel's HyStart ends it when acknowledgements keep coming \
         for half of the least round trip, or round trips lengthen. The RFC's ends it for the second reason alone, \
         and only the first slow start.",
        "Linux 6, tcp_cubic.c: module parameter hystart; RFC 9406",
    ),
    Param::new(
        "growth",
        Kind::Choice(&["per-segment", "per-ack"]),
        "per-segment",
        "What grows the window: each segment that an ACK covers, or each ACK.",
        "RFC 9438 section 4.3 and Linux; section 4.4 says each acknowledgement",
    )
    .ignored_with("flavour", "kernel")
    .reading("T3a"),
];

enum Bundle {
    Kernel(KernelCubicConfig),
    Rfc(CubicConfig),
}

impl Bundle {
    fn new(values: &Values) -> Self {
        let (c, beta) = (values.number("c"), values.number("beta"));
        let (fast_convergence, reno_friendly) = (values.flag("fast-convergence"), values.flag("reno-friendly"));
        let hystart = values.flag("hystart");
        if values.is("flavour", "kernel") {
            return Self::Kernel(KernelCubicConfig {
                fast_convergence,
                reno_friendly,
                hystart,
                ..KernelCubicConfig::new(c, beta)
            });
        }
        let per_ack = values.is("growth", "per-ack");
        Self::Rfc(CubicConfig { c, beta, fast_convergence, reno_friendly, hystart, per_ack })
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        match self {
            Self::Kernel(cfg) => Box::new(KernelCubic::new(*cfg, flow.paced)),
            Self::Rfc(cfg) => Box::new(Cubic::new(*cfg)),
        }
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

struct Reno;

impl Scheme for Reno {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(LinuxReno::default())
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

struct MarkedDctcp {
    marking: Threshold,
    shift_g: u32,
    alpha_on_init: u64,
}

impl MarkedDctcp {
    fn new(values: &Values) -> Self {
        Self {
            marking: DctcpSender::marking(values),
            shift_g: values.integer("shift-g") as u32,
            alpha_on_init: values.integer("alpha-on-init"),
        }
    }
}

impl Scheme for MarkedDctcp {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(LinuxDctcp::new(self.shift_g, self.alpha_on_init))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}
