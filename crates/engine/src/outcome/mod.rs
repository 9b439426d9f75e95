//! What a run tells: its totals, and the tables that are read from the world after it.

pub mod declared;
pub(crate) mod flow_table;
pub(crate) mod tables;
pub(crate) mod totals;
