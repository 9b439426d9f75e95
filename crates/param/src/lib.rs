//! Parameters: what a key of a scenario file may hold, and the checked values that are read from one.
//!
//! A key is declared once as a [`Param`], next to the code that uses it. Nothing here knows which keys there are.
//!
//! | file | what |
//! |---|---|
//! | `declare.rs` | the declaration of a key |
//! | `values/` | from text to checked values |
//! | `document.rs`, `lines.rs`, `error.rs` | TOML that remembers its lines; mistakes and where they stand |
//! | `repeated.rs` | where a key that is given twice was given first |
//! | `files.rs` | files that a scenario names |

#![allow(clippy::missing_errors_doc, reason = "every error is a mistake in the text that was given")]

mod declare;
pub mod document;
pub mod error;
mod files;
mod lines;
mod repeated;
#[cfg(test)]
mod tests;
pub mod values;

pub use declare::{Kind, Param, Rule, STEADY, TIERS, Variant};
pub use document::Document;
pub use error::SpecError;
pub use files::Files;
pub use values::{Sizes, Value, Values, WORKLOADS, Window, quantity, workloads};
