//! Queue disciplines: what an egress port does with the packets that wait in it.

use crate::spec::Param;

/// A queue discipline that a scenario can name.
#[derive(Debug)]
pub struct QueueRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of the `[queue]` table.
    pub params: &'static [Param],
}

/// Every queue discipline.
pub const REGISTRY: &[QueueRow] = &[QueueRow {
    key: "drop-tail",
    summary: "First in, first out; arrivals beyond the buffer are dropped.",
    params: &[],
}];
