//! Why retransmission timers expire.

/// Why a retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutCause {
    /// The SYN or its answer was not in time.
    Syn,
    /// Every segment outstanding was lost.
    FullWindow,
    /// The first segment was lost, and too few arrived after it to signal that.
    FewDuplicates,
    /// The first segment was lost again when it was sent again.
    LostRetransmission,
    /// Nothing was lost that the sender waits for.
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
    /// What tells its total from those of other causes.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Syn => "of a SYN",
            Self::FullWindow => "a whole window was lost",
            Self::FewDuplicates => "too few duplicate acknowledgements",
            Self::LostRetransmission => "a retransmission was lost",
            Self::Spurious => "nothing was lost",
        }
    }
    /// What the column and the total count.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Syn => "Timeouts because a SYN or its answer was not in time.",
            Self::FullWindow => "Timeouts after every segment of a window was lost.",
            Self::FewDuplicates => {
                "Timeouts after a loss that too few later segments signalled, or whose signal could not begin a recovery (RFC 6582)."
            }
            Self::LostRetransmission => "Timeouts after a retransmission was lost.",
            Self::Spurious => "Timeouts although the first outstanding segment was not lost.",
        }
    }
}
