//! What ns-3.44 makes of duplicates, which `ns3_44.rs` counts.

/// What is made of duplicates without SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guesses {
    /// Bytes that duplicates say have left the network, beyond the first segment.
    pub(super) left: u64,
    /// Duplicates that recovery has left over say that the first segment is lost.
    pub(super) first_lost: bool,
    /// It has been retransmitted since.
    pub(super) first_resent: bool,
}
