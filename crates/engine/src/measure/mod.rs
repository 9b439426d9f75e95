//! What a run measures.
//!
//! The collectors here are fed by the engine as a run goes, cost a few nanoseconds a packet, and end as a
//! [`table::Table`]: typed columns that carry their unit and their definition.

pub mod bins;
pub mod delay;
pub mod histogram;
pub mod pcapng;
pub mod queue;
pub mod stats;
pub mod table;
pub mod timeouts;
