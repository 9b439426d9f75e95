//! The common configuration of a traffic group's senders.

use super::quirks::Quirks;
use crate::rto::RtoConfig;
use crate::sack::SackConfig;
use fanin_core::roles::ByteCounting;
use fanin_core::units::Time;

/// How the senders of a group work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Initial window in bytes (RFC 6928).
    pub(crate) initial_window: u64,
    /// Initial slow-start threshold in bytes (RFC 5681 section 3.1).
    pub(crate) initial_ssthresh: u64,
    /// Duplicate acknowledgements that signal a loss (RFC 5681 section 3.2).
    pub(crate) duplicate_ack_threshold: u32,
    /// Without SACK an acknowledgement that repeats the number is a duplicate whatever window it has; else the window
    /// must be the same (RFC 5681 section 2 (e)).
    pub(crate) any_window_is_duplicate: bool,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub(crate) sack: bool,
    /// The sender of Linux, which requires SACK; none: that of the RFCs.
    pub linux: Option<LinuxConfig>,
    /// What Linux had before RACK, which requires SACK; none: only what the RFCs say.
    pub before_rack: Option<BeforeRack>,
    /// New segments on the first two duplicate acknowledgements (RFC 3042).
    pub(crate) limited_transmit: bool,
    /// What it does otherwise than the RFCs, as another program does.
    pub quirks: Quirks,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Any acknowledgement of new data ends the timer's backoff, not only one that gives a round-trip sample.
    pub(crate) backoff_ends_on_new_ack: bool,
    /// A sender that begins on an open connection knows the round trip of its idle path.
    pub knows_open_path: bool,
    /// Timer value after a handshake in which the SYN timed out (RFC 6298 section 5.7).
    pub rto_after_syn_timeout: Time,
    /// First SYN timeout; doubles with each try.
    pub syn_timeout: Time,
    /// SYN retransmissions before the connection is aborted.
    pub(crate) syn_retries: u32,
    /// A window unused for longer than the timer value falls back to the initial one (RFC 5681 section 4.1).
    pub(crate) idle_restart: bool,
    /// An unused window does not grow (RFC 7661 section 4.3).
    pub(crate) window_validation: bool,
    /// After a reduction for an echo the window grows again at once, and not only when the window of data that was
    /// outstanding then is acknowledged (state CWR of ns-3 and Linux).
    pub(crate) growth_after_echo: bool,
    /// What acknowledgements count for the growth of windows.
    pub(crate) counting: ByteCounting,
    /// SYN and SYN-ACK are sent ECN-capable (RFC 5562, and what DCTCP deployments do).
    pub ecn_syn: bool,
    /// Retransmissions are sent ECN-capable.
    pub(crate) ecn_retransmit: bool,
    /// Pure ACKs are sent ECN-capable.
    pub(crate) ecn_ack: bool,
    /// What lies between the sender and its host's queue, if anything.
    pub interface: Option<InterfaceConfig>,
}

impl SenderConfig {
    /// Whether the time stamp that an acknowledgement echoes gives its round-trip time.
    #[inline(always)]
    pub(crate) fn stamps_time_all(&self) -> bool {
        self.quirks.ns3.stamps_time_all && self.rto.clock > Time::ZERO
    }

    /// What a scenario gets that sets nothing of it: the declared defaults of `[transport]`.
    pub(crate) const DEFAULT: Self = Self {
        mss: 1460,
        initial_window: 14_600,
        initial_ssthresh: 1_460_000_000,
        duplicate_ack_threshold: 3,
        any_window_is_duplicate: false,
        sack: false,
        linux: None,
        before_rack: None,
        limited_transmit: false,
        quirks: Quirks::RFC,
        rto: RtoConfig::DEFAULT,
        backoff_ends_on_new_ack: true,
        knows_open_path: false,
        rto_after_syn_timeout: Time::from_secs(3),
        syn_timeout: Time::from_secs(1),
        syn_retries: 6,
        idle_restart: true,
        window_validation: true,
        growth_after_echo: true,
        counting: ByteCounting::Off,
        ecn_syn: false,
        ecn_retransmit: false,
        ecn_ack: false,
        interface: None,
    };

    /// What recovery with SACK goes by.
    pub(super) const fn sack_config(&self) -> SackConfig {
        SackConfig { mss: self.mss, dup_thresh: self.duplicate_ack_threshold, forward: self.before_rack.is_some() }
    }
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What lies between a sender and its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceConfig {
    /// Largest burst in bytes (TSO); zero sends each segment alone.
    pub burst: u64,
    /// A sender is paced whose congestion control does not do it.
    pub paced: bool,
    /// Bytes of a flow that its host's queue may hold before the flow waits; zero is no limit.
    pub(crate) small_queue: u64,
}

/// What the sender of Linux leaves open, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxConfig {
    /// Tail loss probes: `tcp_early_retrans`.
    pub tail_loss_probe: bool,
    /// The ticks of hosts are spread over a tick, instead of beginning together.
    pub ticks_apart: bool,
}

/// What the sender of Linux 3.16 leaves open, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeforeRack {
    /// Tail loss probes: `tcp_early_retrans`.
    pub(crate) tail_loss_probe: bool,
}
