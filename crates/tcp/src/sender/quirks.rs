//! Where the TCP of other programs departs from the RFCs: one constant for each program, chosen by `transport.like`.
//!
//! The other files of a sender follow the RFCs, and call the files below at the places where a program does not:
//!
//! | file | what |
//! |---|---|
//! | `ns3_18.rs` | loss recovery of ns-3.18, as RCC's authors used it |
//! | `ns3_44.rs` | loss recovery of ns-3.44: what it takes duplicates for, and how echoes replace it |
//! | `ns3_44_sack.rs` | its recovery with SACK, by the marks of `marks.rs` |
//! | `ns3_36_rate.rs` | its proportional rate reduction, as up to 3.37 |
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
    /// Details in which releases of ns-3 differ.
    pub(crate) ns3: Ns3Release,
}

/// What differs between releases of ns-3 whose recovery is that of `ns3_44.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ns3Release {
    /// An echo of congestion takes the place of recovery: state CWR, since 3.33.
    pub(crate) echo_ends_recovery: bool,
    /// The acknowledgement that ends recovery grows the window: since 3.32.
    pub(crate) full_ack_grows: bool,
    /// What a timeout has marked as lost goes before new data, also above the highest report: up to 3.37 at least.
    pub(crate) lost_goes_first: bool,
    /// A window below one segment lets nothing through, and the sender waits for its timer.
    pub(crate) silent_below_segment: bool,
    /// A round trip in which the clock shows no tick counts as 1 us: since 3.34. Before, it is no sample.
    pub(crate) zero_is_sample: bool,
    /// With time stamps (a clock that ticks) what is echoed gives the round-trip time, also of a retransmission.
    pub(crate) stamps_time_all: bool,
    /// In recovery and in state CWR the window follows what is delivered: `ns3_36_rate.rs`, from 3.32 on, and as far as
    /// modelled up to 3.37.
    pub(crate) reduces_in_proportion: bool,
    /// What an acknowledgement delivers counts, without what was reported before, and not all that it covers: since 3.41 at
    /// the latest.
    pub(crate) counts_delivered: bool,
    /// Less than three duplicates start recovery if the second segment is lost, and not the first: up to 3.40.
    pub(crate) judges_second: bool,
}

impl Ns3Release {
    /// As far as the RFCs are followed, and ns-3.44.
    const NEWEST: Self = Self {
        echo_ends_recovery: true,
        full_ack_grows: true,
        lost_goes_first: false,
        silent_below_segment: false,
        zero_is_sample: true,
        stamps_time_all: false,
        reduces_in_proportion: false,
        counts_delivered: true,
        judges_second: false,
    };
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
    pub const RFC: Self = Self {
        recovery: LossRecovery::Rfc,
        rtt_of: RttOf::Cause,
        whole_bytes: false,
        halves_every_timeout: false,
        ns3: Ns3Release { zero_is_sample: false, counts_delivered: false, ..Ns3Release::NEWEST },
    };

    /// ns-3.31 (June 2020): its `tcp-socket-base.cc` and `tcp-tx-buffer.cc`, read and not run.
    pub const NS3_31: Self = Self {
        ns3: Ns3Release {
            echo_ends_recovery: false,
            full_ack_grows: false,
            lost_goes_first: true,
            silent_below_segment: false,
            zero_is_sample: false,
            stamps_time_all: false,
            reduces_in_proportion: false,
            counts_delivered: false,
            judges_second: true,
        },
        ..Self::NS3_44
    };

    /// ns-3.34 to 3.37 (2021 and 2022), which do not differ here: the same files of 3.36, and its `tcp-prr-recovery.cc`;
    /// compared in `docs/validation/ns3.md`.
    pub const NS3_36: Self = Self {
        ns3: Ns3Release {
            lost_goes_first: true,
            silent_below_segment: true,
            reduces_in_proportion: true,
            counts_delivered: false,
            judges_second: true,
            ..Ns3Release::NEWEST
        },
        ..Self::NS3_44
    };

    /// ns-3.44: `tcp-socket-base.cc` and `tcp-tx-buffer.cc`; compared in `docs/validation/ns3.md`.
    pub const NS3_44: Self = Self {
        recovery: LossRecovery::Ns3_44,
        rtt_of: RttOf::Oldest,
        whole_bytes: true,
        halves_every_timeout: true,
        ns3: Ns3Release { silent_below_segment: true, stamps_time_all: true, ..Ns3Release::NEWEST },
    };

    /// ns-3.18 with the code of RCC's authors: `tcp-newreno.cc`, `tcp-socket-base.cc` and their `rtt-estimator.cc`;
    /// compared in `docs/validation/rcc.md`.
    pub const NS3_18_RDTCP: Self = Self {
        recovery: LossRecovery::Ns3_18,
        rtt_of: RttOf::NewestClean,
        whole_bytes: true,
        halves_every_timeout: true,
        ..Self::RFC
    };

    /// What a congestion window counts as at least, with segments of `segment` bytes.
    #[inline(always)]
    pub(crate) const fn least_window(self, segment: u64) -> u64 {
        if self.ns3.silent_below_segment { 0 } else { segment }
    }

    /// Whether an echo of congestion takes the place of recovery.
    pub(crate) const fn echoes_end_recovery(self) -> bool {
        self.repairs_as_ns3_44() && self.ns3.echo_ends_recovery
    }

    /// Whether receivers acknowledge too little when marks change: `receiver/ns3.rs`.
    pub(crate) const fn changes_late(self) -> bool {
        self.repairs_as_ns3_44()
    }

    /// Whether losses are repaired as ns-3.44 does.
    pub(crate) const fn repairs_as_ns3_44(self) -> bool {
        matches!(self.recovery, LossRecovery::Ns3_44)
    }

    /// Whether the window can wrap around to zero within a recovery.
    pub const fn wraps_window(&self) -> bool {
        matches!(self.recovery, LossRecovery::Ns3_18)
    }
}
