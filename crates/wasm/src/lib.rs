//! The fanin engine for a browser: requests in as JSON, answers out as JSON, columns of tables as numbers.
//!
//! A host writes a request into the memory that `fanin_reserve` returns, calls `fanin_answer`, and reads the answer. The
//! exports are plain functions, so nothing but the compiler is needed to build the module.

mod answer;
#[cfg(target_family = "wasm")]
mod exports;
mod outcome;

pub use answer::{Answer, answer};
