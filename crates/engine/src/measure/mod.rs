//! The measurements of a run.
//!
//! The collectors here are fed by the engine as a run goes, cost a few nanoseconds a packet, and end as a
//! [`table::Table`]: typed columns that carry their unit and their definition.

pub mod bins;
pub(crate) mod capture;
pub(crate) mod counters;
pub mod declared;
pub mod delay;
pub(crate) mod flow_table;
pub mod histogram;
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
