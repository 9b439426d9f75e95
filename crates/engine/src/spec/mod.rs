//! The scenario file, which describes what is simulated.
//!
//! A scenario is TOML. Every key is declared once as a [`Param`]: in [`common`] if every scenario has it, else next to
//! the code that uses it, in the registry row of its scheme, topology, queue or traffic pattern or in
//! [`crate::tcp::PARAMS`]. [`Scenario::parse`] checks a file against these declarations, and [`json_schema`] publishes
//! them.
//!
//! | file | what |
//! |---|---|
//! | `declare.rs` | the declaration of a key |
//! | [`common`] | the keys that every scenario has, and the selectors of the others |
//! | `values/` | from text to checked values |
//! | `scenario/` | a whole scenario: reading it, and printing what is in effect |
//! | `document.rs`, `lines.rs`, `error.rs` | TOML that remembers its lines; mistakes and where they stand |
//! | `repeated.rs` | where a key that is given twice was given first |
//! | `schema.rs` | the declarations as JSON Schema |

pub mod common;
mod declare;
mod document;
mod error;
mod lines;
mod repeated;
mod scenario;
mod schema;
mod values;

pub use declare::{Kind, Param, Rule, STEADY};
pub use document::Document;
pub use error::SpecError;
pub use scenario::{Files, KEYS, ResolvedRow, Scenario, ScenarioFault, Selected, TrafficGroup, Unused};
pub use schema::json_schema;
pub use values::{Sizes, Value, Values, WORKLOADS, Window, quantity, workloads};

#[cfg(test)]
mod tests;
