//! The scenario file: what is simulated.
//!
//! A scenario is TOML. Every key it may hold is declared once as a [`Param`], either in [`sections`] or in the
//! registry row of the scheme, topology, queue or traffic pattern that it belongs to. [`Scenario::parse`] checks
//! a file against those declarations and [`json_schema`] publishes them.

mod document;
mod error;
mod files;
mod params;
mod quantity;
mod scenario;
mod schema;
mod section;
pub mod sections;
mod sizes;
#[cfg(test)]
mod tests;
mod workload;

pub use error::SpecError;
pub use files::Files;
pub use params::{Kind, Param, Value, Window};
pub use scenario::{KEYS, ResolvedRow, Scenario, ScenarioFault, Section, TrafficGroup, Unused};
pub use schema::json_schema;
pub use section::Params;
pub use sizes::Sizes;
pub use workload::workloads;
