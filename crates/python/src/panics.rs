//! What panics said, kept for the report of a defect. Rust itself would print it on stderr.

use std::backtrace::Backtrace;
use std::panic;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A sweep goes on after a run that panicked, so that there may be many.
const MOST: usize = 8;

/// Keeps from now on what panics say, instead of printing it.
#[pyfunction]
pub(super) fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let text = format!("{info}\n{}", Backtrace::force_capture());
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST {
            said.push(text);
        }
    }));
}

/// What the first panics since then said, each with its place and the calls that led there.
#[pyfunction]
pub(super) fn panics() -> Vec<String> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
