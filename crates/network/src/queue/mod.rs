//! Queue disciplines: how an egress port orders, marks and drops its packets. The buffer limit, and the final verdict
//! on an arriving packet, are in `net/port.rs` (`PortSpec::admit`).
//!
//! To add one: a file here and a row in [`REGISTRY`].

mod double_threshold;
mod drop_tail;
mod drr;
mod ecn_threshold;
mod red;
mod strict_priority;
mod trimming;
mod wred;

pub use double_threshold::DoubleThreshold;
pub use drr::Drr;
pub use ecn_threshold::{MARKING_RULE, MARKING_SOURCE};
pub use ecn_threshold::{MarkAt, Threshold};
pub use red::{Notice, Red, RedConfig, transmission};
pub use strict_priority::StrictPriority;
pub use trimming::Trimming;
pub use wred::profile;

use fanin_core::roles::QueueDiscipline;
use fanin_param::{Kind, Param, SpecError, Values};

/// A queue discipline that a scenario can name.
pub struct QueueRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of the `[queue]` table.
    pub params: &'static [Param],
    /// Makes the discipline of one port.
    pub build: fn(&Values) -> Box<dyn QueueDiscipline>,
}

/// The key by which a scenario chooses which packets a queue may mark.
const REQUIRES_ECT: Param = Param::new(
    "requires-ect",
    Kind::Bool,
    "true",
    "Mark only packets of ECN-capable transports; others are forwarded unmarked.",
    "RFC 3168 section 5",
);

/// Every queue discipline.
pub static REGISTRY: &[QueueRow] =
    &[drop_tail::ROW, ecn_threshold::ROW, double_threshold::ROW, red::ROW, wred::ROW, strict_priority::ROW, drr::ROW];

/// Refuses contradictory values of `[queue]`.
///
/// # Errors
///
/// The error names the key, and what to write instead.
pub fn check(kind: &str, values: &Values) -> Result<(), SpecError> {
    if kind == wred::ROW.key { wred::check(values) } else { Ok(()) }
}

/// The default discipline of a port: drop-tail.
pub fn drop_tail() -> Box<dyn QueueDiscipline> {
    Box::new(Threshold::never())
}
