//! Runs with the interpreter released, and their outputs.

use std::io::Error as IoError;
use std::path::Path;
use std::time::{Duration, Instant};

use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Failure, Outcome, RunError};
use fanin_linux::{Error, Source};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use serde_json::{Value, json};

use crate::errors::{os_error, run_error, scenario_error};
use crate::spill::SpillFile;
use crate::tables;

/// The time between questions whether to continue: each needs the interpreter, for which it may have to wait.
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(50);

/// Runs a scenario, which `source` describes, on its backend.
pub(crate) fn simulate(
    scenario: &Scenario,
    source: &Source<'_>,
    watch: &mut Watch,
    spill: Option<&Path>,
) -> Result<RunOutput, Error> {
    let started = Instant::now();
    let mut go_on = |fraction: f64| watch.go_on(fraction);
    let mut outcome = if scenario.run.is("backend", "linux") {
        fanin_linux::run(scenario, source, Some(&mut go_on))?
    } else if let Some(path) = spill {
        let file = Box::new(SpillFile::new(path.to_owned()));
        sim::run_spilling(scenario, file, Some(&mut go_on))?
    } else {
        sim::run(scenario, Some(&mut go_on))?
    };
    outcome.summary.insert(fanin_binding::WALL.name.to_string(), json!(started.elapsed().as_secs_f64()));
    Ok(RunOutput::new(outcome))
}

/// Asks Python during a run whether to continue.
pub(crate) struct Watch {
    /// Is told the share of the duration simulated so far, and returns whether to continue.
    progress: Option<Py<PyAny>>,
    /// Least time between two questions.
    every: Duration,
    asked: Option<Instant>,
    /// What Python raised instead of an answer.
    raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(progress: Option<Py<PyAny>>, every: Duration) -> Self {
        Self { progress, every, asked: None, raised: None }
    }

    pub(crate) fn go_on(&mut self, fraction: f64) -> bool {
        if self.asked.is_some_and(|asked| asked.elapsed() < self.every) {
            return true;
        }
        let answer = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, (fraction,))?.is_truthy(py),
                None => Ok(true),
            }
        });
        self.asked = Some(Instant::now());
        answer.unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    /// What to raise for a failure.
    pub(crate) fn error(self, py: Python<'_>, failure: Error, spill: Option<&Path>) -> PyErr {
        let failure = match (self.raised, failure) {
            (Some(error), _) => return error,
            (None, Error::Run(failure)) => *failure,
            (None, error) => return run_error(py, &error),
        };
        match failure {
            Failure::Scenario(error) => scenario_error(py, &error),
            Failure::Run(RunError::Spill { code, what }) => {
                let error = code.map_or_else(|| IoError::other(what), IoError::from_raw_os_error);
                os_error(&error, spill.unwrap_or(Path::new("")))
            }
            Failure::Run(error) => run_error(py, &error),
        }
    }
}

/// The result of a run.
#[pyclass]
pub(crate) struct RunOutput {
    outcome: Outcome,
}

impl RunOutput {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self { outcome }
    }
}

#[pymethods]
impl RunOutput {
    /// The run's totals as a JSON object.
    #[getter]
    fn summary(&self) -> String {
        Value::Object(self.outcome.summary.clone()).to_string()
    }

    /// Makes this the output of the same scenario with another port in `measure.bottleneck`; returns whether its queue was
    /// measured.
    fn observe(&mut self, py: Python<'_>, port: &str) -> PyResult<bool> {
        py.detach(|| self.outcome.observe(port)).map_err(|error| os_error(&error, Path::new("flows")))
    }

    /// Names of the tables.
    #[getter]
    fn table_names(&self) -> Vec<String> {
        self.outcome.table_names().map(str::to_string).collect()
    }

    /// The columns of a table: of each its name, the type of its values (`u64`, `f64`, `bool`, `text` or `label`), the
    /// values, and which of them are there (`None` if all are) or the texts that a label's codes stand for.
    ///
    /// Values are little-endian bytes, 8 of a number, 1 of a truth value and 4 of a code; texts are a list.
    fn columns<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        if let Some(table) = self.outcome.tables.iter().find(|table| table.name == name) {
            return tables::columns(py, table);
        }
        if !self.outcome.table_names().any(|known| known == name) {
            return Err(PyKeyError::new_err(name.to_string()));
        }
        let flows = py.detach(|| self.outcome.flows.whole()).map_err(|error| os_error(&error, Path::new(name)))?;
        tables::columns(py, &flows)
    }

    /// The packet capture as pcapng, if the scenario asks for one.
    fn capture<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.outcome.capture.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }
}
