//! The measurements of a run.
//!
//! The engine feeds these collectors during a run, at a few nanoseconds per packet. Each ends as a [`table::Table`] of
//! typed columns with their units and definitions.
#![allow(
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    reason = "a room of the engine, not for others"
)]

pub mod bins;
pub mod capture;
pub mod counters;
pub mod crossings;
pub mod delay;
pub mod fingerprint;
pub mod histogram;
pub mod probes;
pub mod queue;
pub mod rows;
pub mod stats;
pub mod table;
pub mod timeouts;
pub mod total;
