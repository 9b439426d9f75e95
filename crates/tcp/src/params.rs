//! `[transport]`: the keys of TCP below every scheme, and the configurations of sender and receiver made from them.

use super::Ticks;
use super::receiver::{LinuxReceiver, ReceiverConfig};
use super::rto::RtoConfig;
use super::sender::{BeforeRack, InterfaceConfig, LinuxConfig, Quirks, SenderConfig};
use fanin_core::roles::{ByteCounting, EcnMode};
use fanin_core::units::Time;
use fanin_param::{Kind, Param, SpecError, Values};

/// The keys, beside the one that names the scheme.
pub static PARAMS: &[Param] = &[
    Param::new(
        "mss",
        Kind::Bytes,
        "1460B",
        "Maximum segment size: payload bytes.",
        "Ethernet MTU less 40 bytes of headers",
    )
    .at_least(1.0)
    .at_most(9000.0),
    Param::new(
        "mtu",
        Kind::Bytes,
        "1500B",
        "Largest IP packet, with its headers; if given, mss is what header leaves of it. 9000B is usual for jumbo frames.",
        "mss and header together",
    )
    .at_least(1.0),
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
        "Receive buffer of a connection: the largest window that it advertises.",
        "our choice: far above the bandwidth-delay product of 10 Gbps in a data centre, so that it does not limit senders there",
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
        "ack-policy",
        Kind::Choice(&["count", "linux"]),
        "count",
        "When receivers acknowledge. With count they count segments, by ack-every, quickack and ack-delay. With \
         linux they do as Linux: the delay adapts from ack-delay on, sessions become interactive, and data carry the \
         acknowledgements of the other direction. SACKs are compressed, and duplicates are reported (DSACK). With \
         ack-every 1 its routes have quickack. Linux needs a tick: rto-granularity.",
        "RFC 5681, section 4.2; linux: Linux 6.12, __tcp_ack_snd_check, tcp_event_data_recv, tcp_send_delayed_ack",
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
        "Delayed-ACK timeout: the longest time that an ACK is delayed if ack-every is above 1.",
        "Linux's TCP_DELACK_MIN",
    ),
    Param::new(
        "quickack",
        Kind::Integer,
        "0",
        "Segments at the beginning of a connection that are acknowledged at once, regardless of ack-every.",
        "RFC 5681 has none; Linux has TCP_MAX_QUICKACKS of 16",
    )
    .at_most(255.0),
    Param::new(
        "like",
        Kind::Choice(&["rfc", "ns3.44", "ns3.36", "ns3.31", "ns3.18-rdtcp"]),
        "rfc",
        "Whose departures from the RFCs senders share, in loss recovery, RTT samples and the rounding of windows. \
         With rfc there are none. ns3.44, ns3.36 (for ns-3.34 to ns-3.37) and ns3.31 are releases of ns-3, and \
         ns3.18-rdtcp is the code of RCC's authors. Without effect with loss-detection linux.",
        "RFC 5681, RFC 6298, RFC 6582, RFC 6675; ns3.44, and in what ns3.36 and ns3.31 differ: docs/validation/ns3.md; \
         ns3.18-rdtcp: docs/validation/rcc.md",
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
        "Which window an ACK must have to count as a duplicate, without SACK: that of the last ACK, or any. The ACK \
         repeats the ACK number while data is outstanding.",
        "RFC 5681, section 2 (e); any is ns-3.18, and required by schemes whose receivers change the window with each \
         segment",
    ),
    Param::new(
        "sack",
        Kind::Bool,
        "false",
        "Selective acknowledgements (SACK): receivers report out-of-order data, and senders use the reports in \
         recovery.",
        "our choice: off, as NewReno is the baseline of the incast papers",
    ),
    Param::new(
        "loss-detection",
        Kind::Choice(&["dup-ack", "linux-3.16", "linux"]),
        "dup-ack",
        "How senders detect and repair losses. With dup-ack they go by duplicate ACKs, as the RFCs say. Linux 3.16 \
         has forward acknowledgement (FACK), tail loss probes, early retransmit and a minimum of the timeout's \
         variation, and no RACK. Linux 6.12 goes by the time since later segments were sent (RACK), with its timers, \
         its reductions of the window and their undoing. Both of Linux require sack.",
        "RFC 5681, section 3.2; linux-3.16: its net/ipv4/tcp_input.c and tcp_output.c, RFC 5827; linux: net/ipv4/tcp_input.c, \
         tcp_recovery.c, tcp_timer.c of Linux 6.12",
    ),
    Param::new(
        "tail-loss-probe",
        Kind::Bool,
        "true",
        "Whether, with loss-detection linux or linux-3.16, a sender that receives no ACK sends a tail loss probe \
         after two round trips. With linux-3.16 it does so after 10 ms at least, and only where the congestion \
         window or the end of the data limits it.",
        "RFC 8985, section 7; Linux: tcp_early_retrans",
    ),
    Param::new(
        "ticks",
        Kind::Choice(&["together", "apart"]),
        "together",
        "Whether, with loss-detection linux, the ticks of all senders begin at the same instant. The kernel in \
         virtual time does so, as its hosts have one clock. With apart they are spread evenly over a tick, as on \
         hosts with clocks of their own. Many timers of one tick send at once, and the port may lose what they send.",
        "our choice: as in the kernel that the model is compared with",
    ),
    Param::new(
        "limited-transmit",
        Kind::Bool,
        "false",
        "Limited transmit: the first duplicate ACKs permit new segments.",
        "RFC 3042; off in the incast papers' baseline",
    ),
    Param::new(
        "rtt-clock",
        Kind::Time,
        "0s",
        "Tick of the clock that measures RTTs for the timeout. An RTT is a whole number of ticks. An RTT of zero \
         ticks is discarded, so that the initial timeout remains. With like ns3.36 or ns3.44 it counts as 1us. 0s is \
         an exact clock. Schemes see exact times, but for the smoothed RTT.",
        "our choice: exact; 1ms is that of ns-3's timestamps, which discards zero ticks up to 3.33",
    ),
    Param::new(
        "rto-min",
        Kind::Time,
        "200ms",
        "Minimum retransmission timeout (RTOmin), max(rto-min, SRTT + 4 RTTVAR). With loss-detection linux or \
         linux-3.16 it is the least of the variation: SRTT + max(rto-min, variation). With linux it is a whole \
         multiple of rto-granularity, rounded up.",
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
        "new-ack",
        "What ends the doubling. With time stamps the ACK of a retransmission is an RTT sample too, so any ACK of \
         new data ends it. Without time stamps only the ACK of data that was sent once does.",
        "RFC 7323, section 4.1: hosts use time stamps by default; sample: RFC 6298, sections 3 and 5 (note after 5.7)",
    ),
    Param::new(
        "rto-granularity",
        Kind::Time,
        "0s",
        "Clock granularity G of the timeout computation: the least variation that counts. With loss-detection linux \
         it is the tick of the kernel, to whose multiples timers are rounded up. It is 1ms with HZ = 1000. Kernels \
         with HZ = 250 need 4ms.",
        "RFC 6298, section 2.3; our clock is exact",
    ),
    Param::new(
        "rto-after-syn-timeout",
        Kind::Time,
        "3s",
        "Retransmission timeout before the first RTT sample if the SYN was retransmitted; never below rto-initial.",
        "RFC 6298, section 5.7",
    ),
    Param::new(
        "open-rtt",
        Kind::Choice(&["unknown", "idle-path"]),
        "unknown",
        "What a sender knows of its path on a connection that is open already, before the run or by the peer's \
         handshake. With unknown, its first timeout is rto-initial. With idle-path it knows, as after one sample, \
         the round trip of a full segment on the idle path, which is also its least one.",
        "our choice: nothing, as in papers whose connections are new; idle-path is what systems have measured by then",
    ),
    Param::new(
        "syn-timeout",
        Kind::Time,
        "1s",
        "Time after which an unanswered SYN is retransmitted, doubling each time.",
        "RFC 6298, section 2.1",
    )
    .at_least(1.0),
    Param::new(
        "syn-retries",
        Kind::Integer,
        "6",
        "Retransmissions of a SYN before the connection is aborted.",
        "Linux's tcp_syn_retries",
    )
    .at_most(30.0),
    Param::new(
        "idle-restart",
        Kind::Bool,
        "true",
        "Whether a connection that was idle for a retransmission timeout restarts from the initial window.",
        "RFC 5681, section 4.1",
    ),
    Param::new(
        "window-validation",
        Kind::Bool,
        "true",
        "Whether a congestion window grows only while it limits the sender. Without it the window of a flow that the \
         receive buffer limits grows without bound. Marks then no longer reduce it to where it would limit the flow.",
        "RFC 7661, section 4.3; Linux; RFC 5681 leaves it open",
    ),
    Param::new(
        "growth-after-echo",
        Kind::Bool,
        "true",
        "Whether the congestion window grows between a reduction for an ECN echo and the end of the window of data \
         that was outstanding then. With off it grows only after an acknowledgement passes that end, or a timeout.",
        "RFC 3168, section 6.1.2 forbids only a second reduction; off: ns-3 and Linux, state CWR",
    ),
    Param::new(
        "byte-counting",
        Kind::Choice(&["off", "slow-start", "on"]),
        "off",
        "Whether a window grows by the segments that an acknowledgement covers. With off it grows with each \
         acknowledgement, by a segment in slow start and a segment a window after it. With slow-start that holds after \
         slow start only. The schemes linux, linux-reno, linux-dctcp and swift have a rule of their own.",
        "RFC 3465; off: RFC 5681, section 3.1; slow-start: Linux 3.13 to 3.19; on: Linux since 4.0",
    ),
    Param::new(
        "ecn",
        Kind::Choice(&["auto", "off", "on"]),
        "auto",
        "Explicit congestion notification: auto is what the scheme requires; on gives RFC 3168 to schemes that do not \
         define it.",
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
    Param::new(
        "interrupt-interval",
        Kind::Time,
        "0s",
        "Interrupt moderation of receiving interfaces: the least time between two interrupts of a host. An interrupt hands \
         over all packets that have arrived; the first one after a pause comes at once. 0s hands over each packet when it \
         arrives.",
        "an ideal host; ethtool's rx-usecs",
    ),
    Param::new(
        "gro",
        Kind::Bytes,
        "0B",
        "Generic receive offload (GRO): consecutive data segments of a flow with the same header that one interrupt \
         hands over are merged and acknowledged as one. This is the largest size, headers included, and 0B merges \
         none. Requires interrupt-interval to have an effect. Pure acknowledgements are never merged.",
        "an ideal host; Linux's gro_max_size",
    )
    .at_most(65_536.0),
    Param::new(
        "tso",
        Kind::Bytes,
        "0B",
        "Segmentation offload (TSO): new data leaves in bursts of up to this size. A burst is about a millisecond of \
         the flow's rate, or more if the round trip is short. A sender waits for ACKs to fill a burst unless it can \
         send a third of its window. 0B sends each segment alone.",
        "an ideal host; Linux's gso_max_size, tcp_tso_autosize and tcp_tso_should_defer",
    )
    .at_most(65_536.0),
    Param::new(
        "pacing",
        Kind::Choice(&["off", "fq"]),
        "off",
        "Whether senders are paced whose congestion control does not pace itself. The rate is twice the window per \
         smoothed RTT below half of the slow-start threshold, and 1.2 times the window above. The first ten segments \
         are not paced. Paced segments count as sent while they stay in the host, up to 10us after they are due.",
        "an ideal host; fq is Linux's queueing discipline of that name, tcp_update_pacing_rate",
    ),
    Param::new(
        "small-queue",
        Kind::Bytes,
        "0B",
        "TCP small queues (TSQ): a flow with more than this in its host's queue waits. For a slow flow the limit is \
         less: two bursts, or a millisecond of its rate. 0B is no limit.",
        "an ideal host; Linux's tcp_limit_output_bytes and tcp_small_queue_check",
    ),
    Param::new(
        "host-queue",
        Kind::Integer,
        "0",
        "Packets that the queue of a sending host holds, where a burst of tso is one packet; those beyond are lost. 0 is \
         no limit.",
        "an ideal host; Linux's txqueuelen",
    )
    .at_most(1e9),
];

/// Refuses contradictory values.
///
/// # Errors
///
/// The error names the key, and what to write instead.
pub fn check(transport: &Values) -> Result<(), SpecError> {
    if transport.bytes("receive-buffer") < transport.bytes("mss") {
        return Err(transport.fail("receive-buffer", "the receive buffer holds less than one segment"));
    }
    if !transport.is("loss-detection", "dup-ack") && !transport.flag("sack") {
        let name = transport.choice("loss-detection");
        let why = format!("{name} requires selective acknowledgements: set sack = true");
        return Err(transport.fail("loss-detection", why));
    }
    if transport.is("loss-detection", "linux-3.16") && !transport.is("like", "rfc") {
        return Err(transport.fail("like", "loss-detection linux-3.16 is that of another program: leave like at rfc"));
    }
    if transport.is("like", "ns3.36") && !transport.flag("sack") {
        return Err(
            transport.fail("like", "the rate reduction of ns3.36 needs selective acknowledgements: set sack = true")
        );
    }
    if transport.is("ack-policy", "linux") && transport.time("rto-granularity") == Time::ZERO {
        return Err(
            transport.fail("ack-policy", "linux counts ticks: set rto-granularity, which is 1ms with HZ = 1000")
        );
    }
    Ok(())
}

/// Shift of the advertised window.
pub fn window_scale(transport: &Values) -> u8 {
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

/// How the ends of a flow use ECN, given the wish of its congestion control.
pub fn ecn_mode(transport: &Values, wanted: EcnMode) -> EcnMode {
    let words = [("auto", EcnChoice::Scheme), ("off", EcnChoice::Off), ("on", EcnChoice::On)];
    match transport.choose("ecn", &words) {
        EcnChoice::Off => EcnMode::Off,
        EcnChoice::On if wanted == EcnMode::Off => EcnMode::Classic,
        EcnChoice::On | EcnChoice::Scheme => wanted,
    }
}

impl Quirks {
    /// Those of the program that `like` names.
    fn chosen(transport: &Values) -> Self {
        let programs = [
            ("rfc", Self::RFC),
            ("ns3.44", Self::NS3_44),
            ("ns3.36", Self::NS3_36),
            ("ns3.31", Self::NS3_31),
            ("ns3.18-rdtcp", Self::NS3_18_RDTCP),
        ];
        // The sender of Linux is one of its own.
        if transport.is("loss-detection", "linux") { Self::RFC } else { transport.choose("like", &programs) }
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
            before_rack: transport
                .is("loss-detection", "linux-3.16")
                .then(|| BeforeRack { tail_loss_probe: transport.flag("tail-loss-probe") }),
            linux: transport.is("loss-detection", "linux").then(|| LinuxConfig {
                tail_loss_probe: transport.flag("tail-loss-probe"),
                ticks_apart: either("ticks", "apart", "together"),
            }),
            limited_transmit: transport.flag("limited-transmit"),
            quirks: Quirks::chosen(transport),
            rto: transport.into(),
            backoff_ends_on_new_ack: either("rto-backoff-reset", "new-ack", "sample"),
            knows_open_path: either("open-rtt", "idle-path", "unknown"),
            rto_after_syn_timeout: transport.time("rto-after-syn-timeout"),
            syn_timeout: transport.time("syn-timeout"),
            syn_retries: transport.integer("syn-retries") as u32,
            idle_restart: transport.flag("idle-restart"),
            window_validation: transport.flag("window-validation"),
            growth_after_echo: transport.flag("growth-after-echo"),
            counting: transport.choose(
                "byte-counting",
                &[("off", ByteCounting::Off), ("slow-start", ByteCounting::SlowStart), ("on", ByteCounting::On)],
            ),
            ecn_syn: transport.flag("ecn-syn"),
            ecn_retransmit: transport.flag("ecn-retransmit"),
            ecn_ack: transport.flag("ecn-ack"),
            interface: InterfaceConfig::new(transport),
        }
    }
}

impl InterfaceConfig {
    /// The values of `[transport]`; none if a sender has nothing below it.
    fn new(transport: &Values) -> Option<Self> {
        let paced = transport.choose("pacing", &[("off", false), ("fq", true)]);
        let (burst, small_queue) = (transport.bytes("tso").get(), transport.bytes("small-queue").get());
        (paced || burst > 0 || small_queue > 0).then_some(Self { burst, paced, small_queue })
    }
}

impl From<&Values> for RtoConfig {
    fn from(transport: &Values) -> Self {
        let is_linux = transport.is("loss-detection", "linux");
        let (minimum, granularity) = (transport.time("rto-min"), transport.time("rto-granularity"));
        Self {
            // Linux keeps it in ticks: `tcp_rto_min` of what `usecs_to_jiffies` or `dst_metric_rtt` made.
            minimum: if is_linux { minimum.up_to_ticks(granularity) } else { minimum },
            initial: transport.time("rto-initial"),
            maximum: transport.time("rto-max"),
            granularity,
            clock: transport.time("rtt-clock"),
            unseen: Quirks::chosen(transport).ns3.zero_is_sample.then_some(Time::from_us(1)),
            bounds_variation: transport.is("loss-detection", "linux-3.16"),
            backoff_limit: transport.integer("rto-backoff-limit") as u32,
        }
    }
}

impl ReceiverConfig {
    /// The values of `[transport]` for a flow that uses ECN so.
    pub fn new(transport: &Values, ecn: EcnMode) -> Self {
        Self {
            ack_every: transport.integer("ack-every") as u32,
            ack_delay: transport.time("ack-delay"),
            quick_acks: transport.integer("quickack").min(u64::from(u32::MAX)) as u32,
            sack: transport.flag("sack"),
            ecn,
            ecn_ack: ecn != EcnMode::Off && transport.flag("ecn-ack"),
            late_change: Quirks::chosen(transport).changes_late(),
            tells_more: false,
            linux: transport.is("ack-policy", "linux").then(|| transport.into()),
        }
    }
}

impl From<&Values> for LinuxReceiver {
    fn from(transport: &Values) -> Self {
        let ticks = Ticks(transport.time("rto-granularity"));
        let least = ticks.within(transport.time("rto-min").up_to_ticks(ticks.0));
        let ato_min = ticks.within(transport.time("ack-delay"));
        Self {
            ticks,
            ato_min,
            // TCP_DELACK_MAX is HZ/5, and TCP_ATO_MIN is HZ/25.
            delack_max: (least.max(2) - 1).min(5 * ato_min),
            // Rounded up to a tick, with some of the round trip.
            rto: least + 1,
            max_quickacks: transport.integer("quickack").min(u64::from(u32::MAX)) as u32,
            quick_route: transport.integer("ack-every") == 1,
            advmss: transport.bytes("mss").get() as u32,
            // Half of it is a window, before segments are measured.
            rmem_max: 2 * transport.bytes("receive-buffer").get(),
            scale: window_scale(transport),
        }
    }
}
