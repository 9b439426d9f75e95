//! TCP as state machines without I/O: events and configuration go in, decisions come out.
//!
//! Sequence numbers are 64 bits wide here and never wrap: the SYN has number 0, the first data byte [`FIRST_DATA`], and
//! the FIN the number after the last byte. [`fanin_core::packet::unwrap_seq`] extends those on the wire.

mod marks;
mod params;
mod ranges;
pub mod receiver;
pub mod resequencer;
pub mod rto;
pub mod sack;
pub mod sender;
mod ticks;

#[cfg(test)]
mod models;
#[cfg(test)]
mod tests;

pub use ticks::Ticks;

pub use params::{PARAMS, check, ecn_mode, window_scale};

/// Number of the first data byte; the SYN occupies the one before.
pub const FIRST_DATA: u64 = 1;
