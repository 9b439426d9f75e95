//! The settings of sender and switch, from the parameters.

use super::active::Scope;
use super::bands::{Tag, prioband};
use super::field::sixteenths;
use fanin_core::units::Time;
use fanin_network::queue::RedConfig;
use fanin_param::Values;

/// Which flows are long (P11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassRule {
    /// Section 3.2.3: large, and with a large window.
    Text,
    /// Algorithm 2, line 2: with a large window, or with more than a little sent.
    Algorithm,
    /// Large only.
    SizeOnly,
}

/// Which round-trip time of a window is the "current" one (P2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RttOf {
    /// The mean of the window's samples.
    Mean,
    /// The last sample.
    Last,
    /// The smoothed round-trip time of the retransmission timer.
    Smoothed,
    /// The same, and the minimum is that of smoothed ones: what ns-3 has to offer.
    Ns3,
}

/// The direction in which the threshold moves (P6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Eq. 5: down while the queue is long.
    Equation,
    /// The prose: up while the queue is long.
    Text,
    /// Not at all: Eq. 5 as printed has no step.
    Noop,
    /// Fixed: PFDCT-ST.
    Frozen,
}

/// How the switch learns a flow's threshold (P9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// In the field of each packet.
    InBand,
    /// By state shared with all senders.
    Oracle,
    /// Not at all: the sender compares its own queue estimate with it.
    SenderMark,
}

/// Source of the number of flows (P8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FlowCount {
    /// The narrowest switch counts them.
    Switch,
    /// State shared with all senders.
    Oracle,
    /// A constant.
    Const(f64),
}

/// Settings common to all senders of a scheme.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderSettings {
    pub(super) class: ClassRule,
    /// A long flow has more than this many bytes.
    pub(super) long_size: u64,
    /// The largest window of a long flow exceeds this many segments.
    pub(super) long_window: f64,
    /// By Algorithm 2, a flow that has sent more than this many bytes is long.
    pub(super) short_bytes: u64,
    pub(super) sticky: bool,
    /// Data of short flows is ECN-capable too.
    pub(super) ect_all: bool,
    pub(super) rtt: RttOf,
    pub(super) rtt_min_known: bool,
    /// Weights of Eq. 2 and Eq. 4, and the first value of Eq. 2.
    pub(super) g: f64,
    pub(super) h: f64,
    pub(super) alpha0: f64,
    pub(super) direction: Direction,
    /// For the threshold of the whole queue, in packets: initial value, step and limits.
    pub(super) initial: f64,
    /// The flows' thresholds are divided anew when their number changes, so that the sum stays.
    pub(super) rescale: bool,
    pub(super) step: f64,
    pub(super) lowest: f64,
    pub(super) highest: f64,
    /// Fixed ideal threshold in packets; negative for that of Eq. 15.
    pub(super) ideal: f64,
    /// Move the threshold only when the send buffer is empty (P32).
    pub(super) literal: bool,
    pub(super) scope: Scope,
    pub(super) transport: Transport,
    pub(super) flows: FlowCount,
    pub(super) slow_start: bool,
    /// Cut the window at the first echo of a window of data, not at its end.
    pub(super) first_echo: bool,
    /// Cut and grow it with each acknowledgement: Algorithm 2, lines 26 and 27, and 28 to 31.
    pub(super) cuts_each_ack: bool,
    pub(super) grows_each_ack: bool,
    /// Smallest window after a reduction, in bytes.
    pub(super) min_window: f64,
}

impl SenderSettings {
    /// From the scenario's values; the smallest window is set for each flow.
    pub(super) fn from(params: &Values, scope: Scope) -> Self {
        Self {
            class: params.choose(
                "class",
                &[("text", ClassRule::Text), ("alg2", ClassRule::Algorithm), ("size-only", ClassRule::SizeOnly)],
            ),
            long_size: params.bytes("long-size").get(),
            long_window: params.number("long-window"),
            short_bytes: params.bytes("short-bytes").get(),
            sticky: params.flag("sticky"),
            ect_all: params.is("ecn-for", "all"),
            rtt: params.choose(
                "rtt",
                &[("mean", RttOf::Mean), ("last", RttOf::Last), ("srtt", RttOf::Smoothed), ("ns-3", RttOf::Ns3)],
            ),
            rtt_min_known: params.is("rtt-min", "oracle"),
            g: params.number("g"),
            h: params.number("h"),
            alpha0: params.number("alpha0"),
            direction: params.choose(
                "kt-dir",
                &[
                    ("eq5", Direction::Equation),
                    ("text", Direction::Text),
                    ("noop", Direction::Noop),
                    ("frozen", Direction::Frozen),
                ],
            ),
            initial: params.number("kt-init"),
            rescale: !params.is("kt-join", "keep"),
            step: params.number("kt-step"),
            lowest: params.number("kt-low").max(params.number("clip-low")),
            highest: clip_high(params).unwrap_or(f64::INFINITY),
            ideal: params.number("ki"),
            literal: params.is("kt-when", "literal"),
            scope,
            transport: params.choose(
                "kt-transport",
                &[
                    ("in-band", Transport::InBand),
                    ("oracle", Transport::Oracle),
                    ("sender-mark", Transport::SenderMark),
                ],
            ),
            flows: params.choose(
                "n-source",
                &[
                    ("switch", FlowCount::Switch),
                    ("oracle", FlowCount::Oracle),
                    ("const", FlowCount::Const(params.number("n-const"))),
                ],
            ),
            slow_start: !params.is("slow-start", "none"),
            first_echo: params.is("cut", "first-echo"),
            cuts_each_ack: params.is("cut", "each-ack"),
            grows_each_ack: params.is("growth", "each-ack"),
            min_window: 0.0,
        }
    }
}

/// The upper limit of the clip, if it has one.
fn clip_high(params: &Values) -> Option<f64> {
    Some(params.number("clip-high")).filter(|packets| *packets > 0.0)
}

/// How the bands share the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BandBuffer {
    /// Each band has a buffer of the configured size.
    Own,
    /// Each band has a part of the port's buffer.
    Split,
    /// All bands share one buffer. When it is full, an arriving packet pushes out one of a lower band.
    SharedPushOut,
}

/// What a switch writes as `M` (P7, P13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The buffer of the port.
    Port,
    /// The capacity of the band of long flows.
    Band,
}

/// What decides on marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Marking {
    /// Nothing: the senders mark for themselves.
    Off,
    /// The instantaneous queue and the flows' threshold.
    Step,
    /// The average queue and two fixed thresholds.
    Red(RedConfig),
    /// The average queue and the flows' threshold.
    RedDynamic(RedConfig),
    /// The average queue between the flows' threshold and a multiple of it.
    RedBetween(RedConfig),
}

/// Settings common to all ports of a scheme.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueSettings {
    pub(super) bands: u8,
    pub(super) band_buffer: BandBuffer,
    /// Shares of the highest and the middle band in the buffer.
    pub(super) shares: [f64; 2],
    pub(super) marking: Marking,
    /// RED on the bands above that of long flows, if any.
    pub(super) short_red: Option<RedConfig>,
    /// Compare the whole port's queue with the threshold, not the long band's.
    pub(super) by_port: bool,
    pub(super) scope: Scope,
    /// Initial threshold of the queue, and limits of the flows' sum, in sixteenths of a packet.
    pub(super) initial: u32,
    /// Senders divide their thresholds anew when the number of flows changes.
    pub(super) rescale: bool,
    pub(super) clip: (u64, u64),
    pub(super) told: Told,
    pub(super) flow_timeout: Time,
    /// Classify by the sender's code point instead of the ECN field and the table.
    pub(super) by_code_point: bool,
    /// Mark ECN-capable packets of any band, not only of long flows.
    pub(super) mark_all: bool,
    /// Thresholds come from state shared with the senders.
    pub(super) by_oracle: bool,
    /// Band of acknowledgements, if it is not that of short flows.
    pub(super) ack_band: Option<u8>,
}

impl QueueSettings {
    /// From the scenario's values.
    pub(super) fn from(params: &Values, scope: Scope, transport: Transport) -> Self {
        let red = RedConfig::from(params);
        let low = u64::from(sixteenths(params.number("clip-low")));
        let high = clip_high(params).map_or(u64::MAX, |packets| u64::from(sixteenths(packets)).max(low));
        let bands = params.integer("bands") as u8;
        let band_of = |tag: Tag| prioband(bands)[usize::from(tag.priority())];
        Self {
            bands,
            band_buffer: params.choose(
                "band-buf",
                &[
                    ("own", BandBuffer::Own),
                    ("split", BandBuffer::Split),
                    ("shared-push-out", BandBuffer::SharedPushOut),
                ],
            ),
            shares: [params.number("retransmission-share"), params.number("short-share")],
            marking: if transport == Transport::SenderMark {
                Marking::Off
            } else {
                params.choose(
                    "aqm",
                    &[
                        ("step", Marking::Step),
                        ("red", Marking::Red(red)),
                        ("red-dynamic", Marking::RedDynamic(red)),
                        ("red-between", Marking::RedBetween(red)),
                    ],
                )
            },
            short_red: params.is("short-aqm", "red").then_some(red),
            by_port: params.is("occupancy", "port"),
            scope,
            initial: sixteenths(params.number("kt-init")),
            rescale: !params.is("kt-join", "keep"),
            told: params.choose("kt-high", &[("port", Told::Port), ("band", Told::Band)]),
            clip: (low, high),
            flow_timeout: params.time("flow-timeout"),
            by_code_point: params.is("classify", "dscp"),
            mark_all: params.is("ecn-for", "all"),
            ack_band: params
                .choose(
                    "ack-band",
                    &[("short", None), ("retransmission", Some(Tag::Retransmission)), ("long", Some(Tag::Long))],
                )
                .map(band_of),
            by_oracle: transport == Transport::Oracle,
        }
    }
}
