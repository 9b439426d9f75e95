//! DT-CWA (Sreekumari, "Multiple Congestion Points and Congestion Reaction Mechanisms for Improving DCTCP Performance
//! in Data Center Networks", 2018).
//!
//! The sender's reaction to marks is in `sender.rs`; the switch uses `queue::DoubleThreshold`, and the receiver is
//! DCTCP's.
//!
//! | paper | code |
//! |---|---|
//! | section 2.1, thresholds K1 and K2 | `queue::DoubleThreshold::on_enqueue` |
//! | section 2.2, an episode of marks | `sender.rs`: `react` starts it, `end` ends it |
//! | Eq. 1, window at its start | `sender.rs`: `cw_start` |
//! | Eq. 2, window at its end | `sender.rs`: `end` |

mod readings;
mod sender;

use super::{Dctcp, DctcpSender, Effort, FlowFacts, NewReno, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{CongestionControl, QueueDiscipline};
use fanin_network::queue::DoubleThreshold;
use fanin_param::{Kind, Param, Values, Window};
use sender::{Alpha, DtCwa, EpisodeEnd, Eq1, Horizon, Rules};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dt-cwa",
    summary: "DT-CWA: two marking thresholds, and a window adjusted at start and end of each episode of marks.",
    params: PARAMS,
    // READING: D14.
    transport: &[Wish::Prefers("initial-window", "2mss")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Switch,
    needs: "a switch that marks by two thresholds, and a kernel module on the senders",
    reacts_to: &[Signal::Marks],
    colour: "#332288",
    marker: "h",
    build: |params| Box::new(Bundle::new(params)),
};

const AS_DCTCP_G: &str = "Weight of the newest window in DCTCP's marked share, which acts with eq1-alpha = dctcp-alpha, eq1 = dctcp-cut or keep-dctcp-cut only.";
const AS_DCTCP_ALPHA0: &str = "Initial marked share, which acts where g does.";

const PARAMS: &[Param] = &[
    DoubleThreshold::start("30pkt", "the paper's lower threshold starts the marking; 35 and 30 are its numbers").reading("D1, D2"),
    DoubleThreshold::stop("35pkt", "the paper's upper threshold ends the marking").reading("D1, D2"),
    Param { doc: AS_DCTCP_G, ..DctcpSender::G },
    Param { doc: AS_DCTCP_ALPHA0, ..DctcpSender::ALPHA0 },
    Param {
        default: "1mss",
        source: "section 2: DCTCP's window falls to one segment, and no minimum is given",
        ..DctcpSender::MIN_WINDOW
    }
    .reading("D10"),
    Param::new(
        "eq1",
        Kind::Choice(&["literal-clamped", "sub", "abs", "dctcp-cut"]),
        "literal-clamped",
        "Window at the start of an episode: Eq. 1, CW_current - (CW_max - CW_min) / alpha, the absolute value of Eq. 1, or DCTCP's cut.",
        "Eq. 1",
    )
    .reading("D4"),
    Param::new(
        "eq1-may-raise",
        Kind::Bool,
        "true",
        "Eq. 1 may increase the window, as it does if little is outstanding; else it is capped at the current one.",
        "Eq. 1, as printed",
    )
    .reading("D4"),
    Param::new(
        "eq1-alpha",
        Kind::Choice(&["outstanding", "sent-less-acks", "dctcp-alpha"]),
        "outstanding",
        "What alpha is in Eq. 1: segments outstanding, or segments sent less ACKs received, at least one; or DCTCP's \
         estimate.",
        "section 2.2: the number of outstanding packets",
    )
    .reading("D5"),
    Param::new(
        "cw-hist",
        Kind::Choice(&["episode", "window", "life"]),
        "life",
        "Over what CW_max and CW_min are taken. It is the time since the last episode, the last window of data and \
         the present one, or the life of the connection.",
        "section 2.2: before receiving the congestion notification",
    )
    .reading("D6"),
    Param::new(
        "episode-end",
        Kind::Choice(&["all-acked", "next-round"]),
        "all-acked",
        "An episode ends when everything outstanding at its start is acknowledged, or something sent since.",
        "section 2.2: when all outstanding packets are acknowledged",
    )
    .reading("D7"),
    Param::new("beta", Kind::Fraction, "0.2", "Share of the range that Eq. 2 restores.", "section 2.2: 0.2").reading("D16"),
    Param::new(
        "cw-end-if-marked",
        Kind::Bool,
        "true",
        "Eq. 2 applies at the end of every episode, echoes or not; else the next episode begins after echoes.",
        "section 2.2: when all outstanding packets are acknowledged",
    )
    .reading("D8"),
    Param::new(
        "keep-dctcp-cut",
        Kind::Bool,
        "false",
        "DCTCP's cut comes first, and Eq. 1 reacts to what is left.",
        "section 2.2: the sender's reaction is another",
    )
    .reading("D9"),
];

struct Bundle {
    marking: DoubleThreshold,
    sender: DctcpSender,
    min_window: Window,
    rules: Rules,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        Self {
            marking: DoubleThreshold::new(params),
            sender: DctcpSender::new(params),
            min_window: params.window("min-window"),
            rules: Rules {
                eq1: params.choose(
                    "eq1",
                    &[
                        ("literal-clamped", Eq1::Literal),
                        ("sub", Eq1::Sub),
                        ("abs", Eq1::Abs),
                        ("dctcp-cut", Eq1::DctcpCut),
                    ],
                ),
                may_raise: params.flag("eq1-may-raise"),
                alpha: params.choose(
                    "eq1-alpha",
                    &[
                        ("outstanding", Alpha::Outstanding),
                        ("sent-less-acks", Alpha::SentLessAcks),
                        ("dctcp-alpha", Alpha::Dctcp),
                    ],
                ),
                horizon: params.choose(
                    "cw-hist",
                    &[("episode", Horizon::Episode), ("window", Horizon::Window), ("life", Horizon::Life)],
                ),
                episode_end: params.choose(
                    "episode-end",
                    &[("all-acked", EpisodeEnd::AllAcked), ("next-round", EpisodeEnd::NextRound)],
                ),
                beta: params.number("beta"),
                end_if_marked: params.flag("cw-end-if-marked"),
                keep_cut: params.flag("keep-dctcp-cut"),
            },
        }
    }
    fn sender(&self, mss: u64) -> DtCwa {
        DtCwa::new(self.sender.build(mss), self.rules, self.min_window.bytes(mss) as f64)
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(self.sender(flow.mss))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}
