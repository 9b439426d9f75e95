//! Errors of the engine as exceptions of Python.

use std::io::Error as IoError;
use std::path::Path;

use fanin_engine::param::SpecError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `fanin.errors.ScenarioError`, which Python's own checks raise too.
pub(crate) fn scenario_error(py: Python<'_>, error: &SpecError) -> PyErr {
    let fields = PyDict::new(py);
    let raised = (|| {
        fields.set_item("file", &error.file)?;
        fields.set_item("line", error.line)?;
        fields.set_item("key", &error.key)?;
        fields.set_item("message", &error.message)?;
        fields.set_item("suggestion", error.suggestion.as_deref())?;
        fields.set_item("more", error.more.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        py.import("fanin.errors")?.getattr("ScenarioError")?.call((), Some(&fields))
    })();
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// `OSError`, with the number that shows whether the disk is full.
pub(crate) fn os_error(error: &IoError, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string(), path.to_owned())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// `fanin.errors.RunError`.
pub(crate) fn run_error(py: Python<'_>, error: &impl ToString) -> PyErr {
    let raised = (|| py.import("fanin.errors")?.getattr("RunError")?.call1((error.to_string(),)))();
    raised.map_or_else(|error| error, PyErr::from_value)
}
