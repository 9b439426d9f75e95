//! Causes of retransmission timeouts.

/// The cause of a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutCause {
    /// The SYN or the SYN-ACK did not arrive in time.
    Syn,
    /// All outstanding segments were lost.
    FullWindow,
    /// The first outstanding segment was lost, and too few segments after it arrived to signal the loss.
    FewDuplicates,
    /// The retransmission of the first outstanding segment was lost too.
    LostRetransmission,
    /// The first outstanding segment was not lost.
    Spurious,
}

impl TimeoutCause {
    /// Every cause, in the order of its code.
    pub const ALL: [Self; 5] =
        [Self::Syn, Self::FullWindow, Self::FewDuplicates, Self::LostRetransmission, Self::Spurious];
    /// Name of its column in the flow table, and of its total.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Syn => "timeouts_syn",
            Self::FullWindow => "timeouts_full_window",
            Self::FewDuplicates => "timeouts_few_duplicates",
            Self::LostRetransmission => "timeouts_lost_retransmission",
            Self::Spurious => "timeouts_spurious",
        }
    }
    /// What distinguishes its total from those of other causes.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Syn => "of a SYN",
            Self::FullWindow => "a whole window was lost",
            Self::FewDuplicates => "too few duplicate ACKs",
            Self::LostRetransmission => "a retransmission was lost",
            Self::Spurious => "nothing was lost",
        }
    }
    /// What the column and the total count.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Syn => "Timeouts because a SYN or SYN-ACK did not arrive in time.",
            Self::FullWindow => "Timeouts because all segments of a window were lost.",
            Self::FewDuplicates => {
                "Timeouts because too few duplicate ACKs arrived to trigger fast retransmit, or because they could \
                 not start a recovery (RFC 6582)."
            }
            Self::LostRetransmission => "Timeouts because a retransmission was lost.",
            Self::Spurious => "Timeouts although the first outstanding segment was not lost.",
        }
    }
}
