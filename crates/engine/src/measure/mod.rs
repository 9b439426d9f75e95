//! The measurements of a run.
//!
//! The engine feeds these collectors during a run, at a few nanoseconds per packet. Each ends as a [`table::Table`] of
//! typed columns with their units and definitions.

pub mod bins;
pub(crate) mod capture;
pub(crate) mod counters;
pub(crate) mod crossings;
pub mod declared;
pub mod delay;
pub(crate) mod fingerprint;
pub(crate) mod flow_table;
pub mod histogram;
pub(crate) mod looks;
pub mod pcapng;
pub(crate) mod probes;
pub mod queue;
pub(crate) mod rows;
pub mod stats;
pub mod table;
pub(crate) mod tables;
pub mod timeouts;
pub mod total;
pub(crate) mod totals;
