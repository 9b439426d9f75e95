//! Where the TCP of other programs departs from the RFCs: one constant for each program, chosen by `transport.like`.
//!
//! The other files of a sender follow the RFCs, and call the files below at the places where a program does not:
//!
//! | file | what |
//! |---|---|
//! | `ns3_18.rs` | loss recovery of ns-3.18, as RCC's authors used it |
//! | `ns3_44.rs` | loss recovery of ns-3.44: what it takes duplicates for, and how echoes replace it |
//! | `ns3_44_sack.rs` | its recovery with SACK, by the marks of `marks.rs` |
//! | `history.rs` | which segments an acknowledgement may time |
//!
//! The sender of Linux is one of its own (`linux/`), and has none of this.

/// What another program does otherwise than the RFCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// How it repairs losses.
    pub(crate) recovery: LossRecovery,
    /// Which segment an acknowledgement times.
    pub(crate) rtt_of: RttOf,
    /// Window and threshold are whole bytes: at every change what is left of one is cut off.
    pub(crate) whole_bytes: bool,
    /// A further timeout of the same segment reduces the threshold again, against RFC 5681 section 3.1.
    pub(crate) halves_every_timeout: bool,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// RFC 6582 and RFC 6675.
    Rfc,
    /// `ns3_18.rs`.
    Ns3_18,
    /// `ns3_44.rs`.
    Ns3_44,
}

/// Which segment an acknowledgement times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttOf {
    /// The one that caused it, unless that was a retransmission: as RFC 7323 does with time stamps.
    Cause,
    /// The oldest that it covers, unless that was ever retransmitted: ns-3.
    Oldest,
    /// The newest of those at the front of what it covers that were never retransmitted: RCC's authors.
    NewestClean,
}

impl Quirks {
    /// None.
    pub const RFC: Self =
        Self { recovery: LossRecovery::Rfc, rtt_of: RttOf::Cause, whole_bytes: false, halves_every_timeout: false };

    /// ns-3.31, as far as it was read: `tcp-socket-base.cc`, `EstimateRtt`. Its recovery was not compared.
    pub const NS3_31: Self = Self { rtt_of: RttOf::Oldest, ..Self::RFC };

    /// ns-3.44: `tcp-socket-base.cc` and `tcp-tx-buffer.cc`; compared in `docs/validation/ns3.md`.
    pub const NS3_44: Self =
        Self { recovery: LossRecovery::Ns3_44, rtt_of: RttOf::Oldest, whole_bytes: true, halves_every_timeout: true };

    /// ns-3.18 with the code of RCC's authors: `tcp-newreno.cc`, `tcp-socket-base.cc` and their `rtt-estimator.cc`;
    /// compared in `docs/validation/rcc.md`.
    pub const NS3_18_RDTCP: Self = Self {
        recovery: LossRecovery::Ns3_18,
        rtt_of: RttOf::NewestClean,
        whole_bytes: true,
        halves_every_timeout: true,
    };

    /// Whether losses are repaired as ns-3.44 does.
    pub(crate) const fn repairs_as_ns3_44(self) -> bool {
        matches!(self.recovery, LossRecovery::Ns3_44)
    }

    /// Whether the window can wrap around to zero within a recovery.
    pub const fn wraps_window(&self) -> bool {
        matches!(self.recovery, LossRecovery::Ns3_18)
    }
}
