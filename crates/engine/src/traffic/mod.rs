//! Traffic: which transfers start when.

use crate::spec::{Kind, Param};

/// A traffic pattern that a scenario can name.
#[derive(Debug)]
pub struct TrafficRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[[traffic]]` table.
    pub params: &'static [Param],
}

/// Every traffic pattern.
pub const REGISTRY: &[TrafficRow] = &[TrafficRow {
    key: "incast",
    summary: "Many senders answer one receiver at once.",
    params: &[
        Param::new("senders", Kind::Integer, "", "Number of senders that answer at once.", "required").at_least(1.0)
    ],
}];
