//! TCP as state machines without I/O: events and configuration go in, decisions come out.
//!
//! Sequence numbers are 64 bits wide here and never wrap: the SYN has number 0, the first data byte [`FIRST_DATA`], and
//! the FIN the number after the last byte. [`crate::packet::unwrap_seq`] extends those on the wire.

mod marks;
mod params;
mod prr;
mod rack;
mod ranges;
pub mod receiver;
pub mod resequencer;
pub mod rto;
pub mod sack;
pub mod sender;
pub mod tlp;

#[cfg(test)]
mod models;
#[cfg(test)]
mod tests;

pub use params::PARAMS;
pub(crate) use params::{check, window_scale};

/// Number of the first data byte; the SYN occupies the one before.
pub const FIRST_DATA: u64 = 1;

/// How the two ends of a flow use ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not at all: packets are not ECN-capable, and marks are ignored.
    #[default]
    Off,
    /// RFC 3168 section 6.1: the receiver echoes ECE from the first mark until the sender confirms with CWR.
    Classic,
    /// RFC 8257 section 3.2: the receiver's two-state machine echoes which bytes were marked.
    Accurate,
}
