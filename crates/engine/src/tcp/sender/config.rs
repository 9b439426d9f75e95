//! The common configuration of a traffic group's senders.

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
    /// Loss detection by time (RACK, RFC 8985), which requires SACK; none: by duplicate ACKs.
    pub rack: Option<RackConfig>,
    /// New segments on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Only the first partial acknowledgement of a recovery restarts the timer (RFC 6582 section 4, "impatient").
    pub impatient: bool,
    /// On a partial ACK new data is sent before the next hole is retransmitted, as ns-3.18 does.
    pub new_data_first: bool,
    /// What bounds the window after recovery.
    pub full_ack: FullAck,
    /// Which duplicates may start another fast retransmit.
    pub recover_check: RecoverCheck,
    /// What a loss halves.
    pub loss_flight: LossFlight,
    /// A further timeout of the same segment reduces the threshold again, against RFC 5681 section 3.1.
    pub halves_every_timeout: bool,
    /// A partial acknowledgement of more than the window makes it wrap around as a 32-bit number does, as in ns-3.18.
    pub window_wraps: bool,
    /// Window and threshold are whole bytes, as in ns-3, and what is left of one is cut off.
    pub whole_bytes: bool,
    /// On the third duplicate ACK only the retransmission is sent, as in ns-3.18, whatever the window allows then.
    pub quiet_start: bool,
    /// The receiver's reports are kept at a timeout, and only the rest is retransmitted.
    pub keeps_reports: bool,
    /// Without SACK every duplicate counts as a report, and what these guesses say outlasts recovery, as in ns-3.
    pub emulates_sack: bool,
    /// With SACK, what is lost and what is retransmitted is marked, and everything sent goes by these marks, as in ns-3.
    pub marks: bool,
    /// In recovery with SACK an acknowledgement that moves on sends one segment whatever the pipe, as in ns-3.
    pub one_more: bool,
    /// In recovery with SACK only the first acknowledgement that moves on restarts the timer.
    pub sack_impatient: bool,
    /// Which segment an acknowledgement times.
    pub rtt_of: RttOf,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Any acknowledgement of new data ends the timer's backoff, not only one that gives a round-trip sample.
    pub backoff_ends_on_new_ack: bool,
    /// A sender that begins on an open connection knows the round trip of its idle path.
    pub knows_open_path: bool,
    /// Timer value after a handshake in which the SYN timed out (RFC 6298 section 5.7).
    pub rto_after_syn_timeout: Time,
    /// First SYN timeout; doubles with each try.
    pub syn_timeout: Time,
    /// SYN retransmissions before the connection is aborted.
    pub syn_retries: u32,
    /// A window unused for longer than the timer value falls back to the initial one (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// An unused window does not grow (RFC 7661 section 4.3).
    pub window_validation: bool,
    /// After a reduction for an echo the window grows again at once, and not only when the window of data that was
    /// outstanding then is acknowledged (state CWR of ns-3 and Linux).
    pub growth_after_echo: bool,
    /// The acknowledgement of all that had been sent before a timeout grows the window.
    pub growth_after_repair: bool,
    /// An echo takes the place of a loss recovery, as state CWR does in ns-3.
    pub echo_replaces: bool,
    /// SYN and SYN-ACK are sent ECN-capable (RFC 5562, and what DCTCP deployments do).
    pub ecn_syn: bool,
    /// Retransmissions are sent ECN-capable.
    pub ecn_retransmit: bool,
    /// Pure ACKs are sent ECN-capable.
    pub ecn_ack: bool,
    /// What lies between the sender and its host's queue, if anything.
    pub interface: Option<InterfaceConfig>,
}

/// What lies between a sender and its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceConfig {
    /// Largest burst in bytes (TSO); zero sends each segment alone.
    pub burst: u64,
    /// A sender is paced whose congestion control does not do it.
    pub paced: bool,
    /// Bytes of a flow that its host's queue may hold before the flow waits; zero is no limit.
    pub small_queue: u64,
}

/// What bounds the window after recovery, beside the threshold (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullAck {
    /// Option 1: one segment more than is outstanding after the full acknowledgement.
    Flight,
    /// One segment more than was outstanding before it, which also grows the window, as in ns-3.18.
    FlightBefore,
    /// Option 2: nothing. The acknowledgement also grows the window, as in ns-3.
    Threshold,
}

/// Which duplicates may start a fast retransmit after a recovery or a timeout (RFC 6582 section 3.2 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverCheck {
    /// Those that acknowledge more than had been sent then.
    Beyond,
    /// Those that acknowledge all of it, as in ns-3.
    Reached,
    /// All, as in ns-3.18.
    Off,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossFlight {
    /// `FlightSize` (RFC 5681 equation 4).
    Sent,
    /// What is thought to be in the network, as in ns-3: less by what has arrived out of order or is deemed lost.
    Pipe,
    /// Everything from the first unacknowledged number to the highest sent, also after going back, as in ns-3.18.
    Highest,
}

/// Which segment an acknowledgement times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttOf {
    /// The one that caused it, unless that was a retransmission.
    Cause,
    /// The oldest that it covers, unless that was ever retransmitted: ns-3.
    Oldest,
    /// The newest of those at the front of what it covers that were never retransmitted: RCC's authors.
    NewestClean,
}

/// How losses are detected and repaired by time, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// Tail loss probes, if any.
    pub probe: Option<ProbeConfig>,
    /// Proportional rate reduction instead of the threshold at once.
    pub proportional: bool,
}
