//! What all senders of one traffic group have in common.

use crate::tcp::rto::RtoConfig;
use crate::tcp::tlp::ProbeConfig;
use crate::units::Time;

/// How the senders of a group work.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Initial window in bytes (RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold in bytes (RFC 5681 section 3.1).
    pub initial_ssthresh: u64,
    /// Duplicate acknowledgements that signal a loss (RFC 5681 section 3.2).
    pub duplicate_ack_threshold: u32,
    /// Without SACK an acknowledgement that repeats the number is a duplicate whatever window it has; else the window
    /// must be the same (RFC 5681 section 2 (e)).
    pub any_window_is_duplicate: bool,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Losses told by time (RFC 8985), which needs SACK; none tells them by duplicates.
    pub rack: Option<RackConfig>,
    /// New segments on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Only the first partial acknowledgement of a recovery restarts the timer (RFC 6582 section 4, "impatient").
    pub impatient: bool,
    /// A partial acknowledgement lets new data out before the next hole is sent again, as ns-3.18 does.
    pub new_data_first: bool,
    /// The window after a full acknowledgement is bound by what was outstanding before it, and grows with it, as in
    /// ns-3.18.
    pub full_ack_grows: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Any acknowledgement of new data ends the timer's backoff, not only one that gives a round-trip sample.
    pub backoff_ends_on_new_ack: bool,
    /// Timer value after a handshake in which the SYN timed out (RFC 6298 section 5.7).
    pub rto_after_syn_timeout: Time,
    /// First SYN timeout; doubles with each try.
    pub syn_timeout: Time,
    /// SYN retransmissions before the sender gives up.
    pub syn_retries: u32,
    /// A window unused for longer than the timer value falls back to the initial one (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// A window that is not used does not grow (RFC 7661 section 4.3).
    pub window_validation: bool,
    /// SYN and SYN-ACK are sent ECN-capable (RFC 5562, and what DCTCP deployments do).
    pub ecn_syn: bool,
    /// Retransmissions are sent ECN-capable.
    pub ecn_retransmit: bool,
}

/// How losses are told and repaired by time, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// Tail loss probes, if any.
    pub probe: Option<ProbeConfig>,
    /// Proportional rate reduction instead of the threshold at once.
    pub proportional: bool,
}
