//! `[transport]`: the keys of TCP below every scheme, and the configurations of sender and receiver made from them.

use super::EcnMode;
use super::receiver::ReceiverConfig;
use super::rto::RtoConfig;
use super::sender::{FullAck, LossFlight, RackConfig, RecoverCheck, RttOf, SenderConfig};
use super::tlp::ProbeConfig;
use crate::spec::{Kind, Param, SpecError, Values};

/// The keys, beside the one that names the scheme.
pub const PARAMS: &[Param] = &[
    Param::new(
        "mss",
        Kind::Bytes,
        "1460B",
        "Maximum segment size: payload bytes.",
        "Ethernet MTU less 40 bytes of headers",
    )
    .at_least(1.0)
    .at_most(9000.0),
    Param::new("header", Kind::Bytes, "40B", "Bytes of header in every segment.", "IPv4 and TCP without options")
        .at_least(40.0)
        .at_most(1000.0),
    Param::new("initial-window", Kind::Window, "10mss", "Congestion window of a new connection.", "RFC 6928")
        .at_least(1.0),
    Param::new(
        "initial-ssthresh",
        Kind::Window,
        "1000000mss",
        "Slow-start threshold of a new connection.",
        "RFC 5681, section 3.1: arbitrarily high",
    )
    .at_least(1.0),
    Param::new(
        "receive-buffer",
        Kind::Bytes,
        "1MiB",
        "Buffer of a receiving connection: the most that it advertises.",
        "our choice: far above the bandwidth-delay product, so that only receiver-driven schemes are bound by it",
    )
    .at_least(1.0),
    Param::new(
        "window-scale",
        Kind::Choice(&["auto", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"]),
        "auto",
        "Shift of the advertised window, whose field has 16 bits; auto is the smallest that can advertise receive-buffer.",
        "RFC 7323, section 2",
    ),
    Param::new(
        "ack-every",
        Kind::Integer,
        "1",
        "Full segments that one acknowledgement covers; 2 is the usual delayed acknowledgement.",
        "our choice: 1, as ns-2's sinks and most incast papers have it",
    )
    .at_least(1.0)
    .at_most(255.0),
    Param::new(
        "ack-delay",
        Kind::Time,
        "40ms",
        "Longest that an acknowledgement waits for a further segment when ack-every is above 1.",
        "Linux's TCP_DELACK_MIN",
    ),
    Param::new(
        "quickack",
        Kind::Integer,
        "0",
        "Segments at the beginning of a connection that are acknowledged at once, whatever ack-every.",
        "RFC 5681 knows none; Linux has TCP_MAX_QUICKACKS of 16",
    ),
    Param::new(
        "duplicate-ack-threshold",
        Kind::Integer,
        "3",
        "Duplicate acknowledgements that start fast retransmit.",
        "RFC 5681, section 3.2",
    )
    .at_least(1.0),
    Param::new(
        "duplicate-ack-window",
        Kind::Choice(&["same", "any"]),
        "same",
        "Which window makes a duplicate, without SACK, of an acknowledgement that repeats the number while data is \
         outstanding: that of the last one, or any.",
        "RFC 5681, section 2 (e); any is ns-3.18, and what schemes need whose receivers change it with each segment",
    ),
    Param::new(
        "sack",
        Kind::Bool,
        "false",
        "Whether receivers report what they hold out of order and senders recover by it.",
        "our choice: off, as NewReno is the baseline of the incast papers",
    ),
    Param::new(
        "loss-detection",
        Kind::Choice(&["dup-ack", "rack"]),
        "dup-ack",
        "How senders tell losses: by duplicate acknowledgements, or by the time since later segments were sent, which \
         needs sack.",
        "RFC 5681, section 3.2; rack is RFC 8985",
    ),
    Param::new(
        "tail-loss-probe",
        Kind::Bool,
        "true",
        "Whether, with loss-detection rack, a sender without acknowledgements probes after two round trips.",
        "RFC 8985, section 7",
    ),
    Param::new(
        "probe-ack-delay",
        Kind::Time,
        "200ms",
        "How much longer a tail loss probe waits while one segment is outstanding, whose acknowledgement may be delayed.",
        "RFC 8985, section 7.2 leaves it open; Linux takes its least retransmission timeout",
    ),
    Param::new(
        "probe-margin",
        Kind::Time,
        "0s",
        "How much longer a tail loss probe waits in any case.",
        "RFC 8985, section 7.2: none; Linux has TCP_TIMEOUT_MIN of 2ms",
    ),
    Param::new(
        "rate-reduction",
        Kind::Choice(&["at-once", "proportional"]),
        "at-once",
        "Whether, with loss-detection rack, the window falls to the threshold at once in recovery, or as what is \
         outstanding arrives.",
        "RFC 6675, section 5; proportional is RFC 9937",
    ),
    Param::new(
        "limited-transmit",
        Kind::Bool,
        "false",
        "Whether the first duplicate acknowledgements let new segments out.",
        "RFC 3042; off in the incast papers' baseline",
    ),
    Param::new(
        "partial-ack-timer",
        Kind::Choice(&["impatient", "slow-but-steady"]),
        "impatient",
        "Whether only the first partial acknowledgement restarts the retransmission timer, or every one.",
        "RFC 6582, section 3.2; both are weighed in RFC 3782, section 4",
    ),
    Param::new(
        "partial-ack-order",
        Kind::Choice(&["hole-first", "new-data-first"]),
        "hole-first",
        "What a partial acknowledgement sends first: the next hole, or the new data that the deflated window allows.",
        "RFC 6582, section 3.2; new-data-first is ns-3.18",
    ),
    Param::new(
        "full-ack-window",
        Kind::Choice(&["flight", "flight-before", "threshold"]),
        "flight",
        "What bounds the window after recovery beside the threshold: one segment more than is outstanding after the \
         full acknowledgement, one more than was before it, or nothing. With the latter two that acknowledgement also \
         grows the window.",
        "RFC 6582, section 3.2, step 3, option 1; threshold is option 2 and ns-3.44, flight-before is ns-3.18",
    ),
    Param::new(
        "recovery-start",
        Kind::Choice(&["and-send", "retransmit"]),
        "and-send",
        "What the last of the duplicates that start recovery, without SACK, lets out: the retransmission and what the \
         inflated window allows, or the retransmission alone.",
        "RFC 5681, section 3.2, steps 3 and 5; retransmit is ns-3.18",
    ),
    Param::new(
        "partial-ack-window",
        Kind::Choice(&["one-segment", "wraps"]),
        "one-segment",
        "What becomes of the window if a partial acknowledgement covers more than it: one segment, or a number below \
         zero that is read as one close to 4 GiB.",
        "RFC 6582, section 3.2, leaves it open; wraps is what the unsigned window of ns-3.18 does",
    ),
    Param::new(
        "window-bytes",
        Kind::Choice(&["exact", "whole"]),
        "exact",
        "Whether the congestion window and the slow-start threshold have fractions of a byte, or are cut to whole bytes \
         whenever they change.",
        "our choice: RFC 5681, section 3.1, names integer arithmetic as an implementation's; whole is ns-3.18",
    ),
    Param::new(
        "recover-check",
        Kind::Choice(&["beyond", "reached", "off"]),
        "beyond",
        "Which duplicates, without SACK, may start another fast retransmit after one or after a timeout: those that \
         acknowledge more than had been sent by then, those that acknowledge all of it, or any.",
        "RFC 6582, section 3.2, step 2; reached is ns-3.44, off is ns-3.18",
    ),
    Param::new(
        "loss-flight",
        Kind::Choice(&["sent", "pipe", "highest"]),
        "sent",
        "What a loss halves: what was sent and not acknowledged; what of it is thought to be in the network; or \
         everything up to the highest number sent, even if a timeout has gone back.",
        "RFC 5681, equation 4; pipe is ns-3.44, highest is ns-3.18",
    ),
    Param::new(
        "repeated-timeout",
        Kind::Choice(&["hold", "halve"]),
        "hold",
        "Whether a further timeout of the same segment leaves the slow-start threshold alone, or reduces it again.",
        "RFC 5681, section 3.1, below equation 4; halve is what ns-3 does",
    ),
    Param::new(
        "sack-after-timeout",
        Kind::Choice(&["forget", "keep"]),
        "forget",
        "What a timeout does to the reports of what has arrived out of order: with keep only the rest is sent again.",
        "RFC 2018, section 8; keep is allowed by the erratum cited in RFC 6675, section 5.1, and is ns-3.44",
    ),
    Param::new(
        "sack-emulation",
        Kind::Bool,
        "false",
        "Whether, without SACK, each duplicate stands for a report of the first segment that has none. What these guesses \
         say outlasts recovery: segments with a report are not in flight, and a segment before the last report is lost \
         and goes again at once when it becomes the first.",
        "RFC 6582: in recovery only; true is ns-3.44, after Linux",
    ),
    Param::new(
        "sack-partial-ack",
        Kind::Choice(&["pipe", "one-more"]),
        "pipe",
        "What an acknowledgement that moves on in recovery with SACK lets out: what the pipe allows, or one segment at \
         least, unless the first one was sent again before.",
        "RFC 6675, section 5, step C; one-more is ns-3.44",
    ),
    Param::new(
        "sack-pipe",
        Kind::Choice(&["rfc", "resent"]),
        "rfc",
        "Whether a segment that was sent again and reported since counts as in flight until it is acknowledged.",
        "RFC 6675, section 4, SetPipe(): it does not; resent is ns-3.44",
    ),
    Param::new(
        "sack-recovery-timer",
        Kind::Choice(&["every", "first"]),
        "every",
        "What restarts the retransmission timer in recovery with SACK: the first retransmission and every \
         acknowledgement that moves on, or only the first such acknowledgement.",
        "RFC 6298, section 5.3 and RFC 6675, section 6; first is ns-3.44",
    ),
    Param::new(
        "rtt-of",
        Kind::Choice(&["cause", "oldest", "newest-clean"]),
        "cause",
        "Which segment an acknowledgement times: the one that caused it, unless that was a retransmission; the oldest \
         that it covers, unless that was ever sent again; or the last of those at its front that never were.",
        "as RFC 7323 does with timestamps; oldest is ns-3.44, newest-clean is the code of RCC's authors",
    ),
    Param::new(
        "rtt-clock",
        Kind::Time,
        "0s",
        "Tick of the clock that times round trips for the timeout: a sample is the number of ticks in a round trip, and a \
         round trip without a tick gives none, so that the initial timeout holds on. 0s is an exact clock. Schemes see \
         exact times.",
        "our choice: exact; with 1ms as ns-3 up to 3.33 reads its time stamps",
    ),
    Param::new(
        "rto-min",
        Kind::Time,
        "200ms",
        "Minimum retransmission timeout (RTOmin).",
        "Linux's TCP_RTO_MIN; RFC 6298, section 2.4 says 1s",
    ),
    Param::new(
        "rto-initial",
        Kind::Time,
        "1s",
        "Retransmission timeout before the first round-trip sample.",
        "RFC 6298, section 2.1",
    )
    .at_least(1.0),
    Param::new(
        "rto-max",
        Kind::Time,
        "60s",
        "Maximum retransmission timeout of data; the timeout of a SYN doubles without this limit.",
        "RFC 6298, section 2.5",
    )
    .at_least(1.0),
    Param::new(
        "rto-backoff-limit",
        Kind::Integer,
        "6",
        "Maximum number of doublings of the retransmission timeout; 6 is a factor of 64.",
        "the factor of 64 in BSD and ns-2",
    )
    .at_most(30.0),
    Param::new(
        "rto-backoff-reset",
        Kind::Choice(&["sample", "new-ack"]),
        "sample",
        "What ends the doubling: a round-trip sample, which retransmissions do not give, or any acknowledgement of \
         new data.",
        "RFC 6298, section 5, note after 5.7; new-ack is what ns-3 does",
    ),
    Param::new(
        "rto-granularity",
        Kind::Time,
        "0s",
        "Clock granularity G of the timeout computation.",
        "RFC 6298, section 2.3; our clock is exact",
    ),
    Param::new(
        "rto-after-syn-timeout",
        Kind::Time,
        "3s",
        "Retransmission timeout before the first sample when the SYN had to be sent again; never below rto-initial.",
        "RFC 6298, section 5.7",
    ),
    Param::new(
        "syn-timeout",
        Kind::Time,
        "1s",
        "Time after which an unanswered SYN is sent again, doubling each time.",
        "RFC 6298, section 2.1",
    )
    .at_least(1.0),
    Param::new("syn-retries", Kind::Integer, "6", "SYNs sent again before giving up.", "Linux's tcp_syn_retries")
        .at_most(30.0),
    Param::new(
        "idle-restart",
        Kind::Bool,
        "true",
        "Whether a connection idle for a retransmission timeout falls back to the initial window.",
        "RFC 5681, section 4.1",
    ),
    Param::new(
        "window-validation",
        Kind::Bool,
        "true",
        "Whether a congestion window grows only while it limits the sender. Without it the window of a flow that the \
         receive buffer limits grows without bound, and marks no longer reach it.",
        "RFC 7661, section 4.3; Linux; RFC 5681 leaves it open",
    ),
    Param::new(
        "ecn",
        Kind::Choice(&["auto", "off", "on"]),
        "auto",
        "Explicit congestion notification: auto is what the scheme wants; on gives RFC 3168 to schemes without \
         one of their own.",
        "the scheme's paper",
    ),
    Param::new(
        "ecn-syn",
        Kind::Bool,
        "false",
        "Whether SYN and SYN-ACK may be marked instead of dropped.",
        "RFC 3168, section 6.1.1: not on SYN packets",
    ),
    Param::new(
        "ecn-retransmit",
        Kind::Bool,
        "false",
        "Whether retransmitted segments may be marked instead of dropped.",
        "RFC 3168, section 6.1.5: not on retransmissions",
    ),
    Param::new(
        "ecn-ack",
        Kind::Bool,
        "false",
        "Whether pure acknowledgements of a flow that uses ECN may be marked instead of dropped.",
        "RFC 3168, section 6.1.4: not on pure acknowledgements",
    ),
];

/// Refuses contradictory values.
///
/// # Errors
///
/// The error names the key, and what to write instead.
pub(crate) fn check(transport: &Values) -> Result<(), SpecError> {
    if transport.bytes("receive-buffer") < transport.bytes("mss") {
        return Err(transport.fail("receive-buffer", "the receive buffer holds less than one segment"));
    }
    if transport.is("loss-detection", "rack") && !transport.flag("sack") {
        // RFC 8985 s3.1
        return Err(transport.fail("loss-detection", "rack needs reports of what has arrived: set sack = true"));
    }
    Ok(())
}

/// Shift of the advertised window.
pub(crate) fn window_scale(transport: &Values) -> u8 {
    if transport.is("window-scale", "auto") {
        let buffer = transport.bytes("receive-buffer").get();
        // RFC 7323 s2.2: the smallest shift that lets 16 bits hold the buffer, 14 at most.
        return (0..14).find(|shift| u16::try_from(buffer >> shift).is_ok()).unwrap_or(14);
    }
    transport.choice("window-scale").parse().expect("every other word is a number")
}

/// Who decides about ECN.
#[derive(Clone, Copy, PartialEq)]
enum EcnChoice {
    Scheme,
    Off,
    On,
}

impl EcnMode {
    /// How the ends of a flow use ECN, given the wish of its congestion control.
    pub(crate) fn chosen(transport: &Values, wanted: Self) -> Self {
        let words = [("auto", EcnChoice::Scheme), ("off", EcnChoice::Off), ("on", EcnChoice::On)];
        match transport.choose("ecn", &words) {
            EcnChoice::Off => Self::Off,
            EcnChoice::On if wanted == Self::Off => Self::Classic,
            EcnChoice::On | EcnChoice::Scheme => wanted,
        }
    }
}

impl From<&Values> for SenderConfig {
    fn from(transport: &Values) -> Self {
        let mss = transport.bytes("mss").get();
        let either = |key, yes, no| transport.choose(key, &[(yes, true), (no, false)]);
        Self {
            mss,
            initial_window: transport.window("initial-window").bytes(mss),
            initial_ssthresh: transport.window("initial-ssthresh").bytes(mss),
            duplicate_ack_threshold: transport.integer("duplicate-ack-threshold") as u32,
            any_window_is_duplicate: either("duplicate-ack-window", "any", "same"),
            sack: transport.flag("sack"),
            rack: either("loss-detection", "rack", "dup-ack").then(|| transport.into()),
            limited_transmit: transport.flag("limited-transmit"),
            impatient: either("partial-ack-timer", "impatient", "slow-but-steady"),
            new_data_first: either("partial-ack-order", "new-data-first", "hole-first"),
            full_ack: transport.choose(
                "full-ack-window",
                &[
                    ("flight", FullAck::Flight),
                    ("flight-before", FullAck::FlightBefore),
                    ("threshold", FullAck::Threshold),
                ],
            ),
            recover_check: transport.choose(
                "recover-check",
                &[("beyond", RecoverCheck::Beyond), ("reached", RecoverCheck::Reached), ("off", RecoverCheck::Off)],
            ),
            loss_flight: transport.choose(
                "loss-flight",
                &[("sent", LossFlight::Sent), ("pipe", LossFlight::Pipe), ("highest", LossFlight::Highest)],
            ),
            halves_every_timeout: either("repeated-timeout", "halve", "hold"),
            whole_bytes: either("window-bytes", "whole", "exact"),
            quiet_start: either("recovery-start", "retransmit", "and-send"),
            window_wraps: either("partial-ack-window", "wraps", "one-segment"),
            keeps_reports: either("sack-after-timeout", "keep", "forget"),
            emulates_sack: transport.flag("sack-emulation"),
            counts_resent: either("sack-pipe", "resent", "rfc"),
            one_more: either("sack-partial-ack", "one-more", "pipe"),
            sack_impatient: either("sack-recovery-timer", "first", "every"),
            rtt_of: transport.choose(
                "rtt-of",
                &[("cause", RttOf::Cause), ("oldest", RttOf::Oldest), ("newest-clean", RttOf::NewestClean)],
            ),
            rto: transport.into(),
            backoff_ends_on_new_ack: either("rto-backoff-reset", "new-ack", "sample"),
            rto_after_syn_timeout: transport.time("rto-after-syn-timeout"),
            syn_timeout: transport.time("syn-timeout"),
            syn_retries: transport.integer("syn-retries") as u32,
            idle_restart: transport.flag("idle-restart"),
            window_validation: transport.flag("window-validation"),
            ecn_syn: transport.flag("ecn-syn"),
            ecn_retransmit: transport.flag("ecn-retransmit"),
            ecn_ack: transport.flag("ecn-ack"),
        }
    }
}

impl From<&Values> for RtoConfig {
    fn from(transport: &Values) -> Self {
        Self {
            minimum: transport.time("rto-min"),
            initial: transport.time("rto-initial"),
            maximum: transport.time("rto-max"),
            granularity: transport.time("rto-granularity"),
            clock: transport.time("rtt-clock"),
            backoff_limit: transport.integer("rto-backoff-limit") as u32,
        }
    }
}

impl From<&Values> for RackConfig {
    fn from(transport: &Values) -> Self {
        let probe =
            ProbeConfig { max_ack_delay: transport.time("probe-ack-delay"), margin: transport.time("probe-margin") };
        Self {
            probe: transport.flag("tail-loss-probe").then_some(probe),
            proportional: transport.choose("rate-reduction", &[("proportional", true), ("at-once", false)]),
        }
    }
}

impl ReceiverConfig {
    /// The values of `[transport]` for a flow that uses ECN so.
    pub(crate) fn new(transport: &Values, ecn: EcnMode) -> Self {
        Self {
            ack_every: transport.integer("ack-every") as u32,
            ack_delay: transport.time("ack-delay"),
            quick_acks: transport.integer("quickack").min(u64::from(u32::MAX)) as u32,
            sack: transport.flag("sack"),
            ecn,
            ecn_ack: ecn != EcnMode::Off && transport.flag("ecn-ack"),
        }
    }
}
