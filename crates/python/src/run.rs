//! Runs with the interpreter released, and their outputs.

use std::io::Error as IoError;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fanin_engine::measure::table::Table;
use fanin_engine::sim::{self, Failure, Outcome, RunError};
use fanin_engine::spec::Scenario;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use serde_json::{Value, json};

use crate::errors::{os_error, run_error, scenario_error};
use crate::spill::SpillFile;
use crate::tables;

/// The time between questions whether to continue: each needs the interpreter, for which it may have to wait.
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn simulate(scenario: &Scenario, watch: &mut Watch, spill: Option<&Path>) -> Result<RunOutput, Failure> {
    let started = Instant::now();
    let mut go_on = |fraction: f64| watch.go_on(fraction);
    let mut outcome = match spill {
        Some(path) => {
            let file = Box::new(SpillFile::new(path.to_owned()));
            sim::run_spilling(scenario, file, Some(&mut go_on))?
        }
        None => sim::run(scenario, Some(&mut go_on))?,
    };
    outcome.summary.insert(fanin_binding::WALL.name.to_string(), json!(started.elapsed().as_secs_f64()));
    Ok(RunOutput { outcome })
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

    fn go_on(&mut self, fraction: f64) -> bool {
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
    pub(crate) fn error(self, py: Python<'_>, failure: Failure, spill: Option<&Path>) -> PyErr {
        match (self.raised, failure) {
            (Some(error), _) => error,
            (None, Failure::Scenario(error)) => scenario_error(py, &error),
            (None, Failure::Run(RunError::Spill { code, what })) => {
                let error = code.map_or_else(|| IoError::other(what), IoError::from_raw_os_error);
                os_error(&error, spill.unwrap_or(Path::new("")))
            }
            (None, Failure::Run(error)) => run_error(py, &error),
        }
    }
}

/// The result of a run.
#[pyclass]
pub(crate) struct RunOutput {
    outcome: Outcome,
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

    /// A table as an object for Arrow consumers.
    fn table(slf: PyRef<'_, Self>, name: &str) -> PyResult<TableView> {
        let name = slf.known(name)?;
        Ok(TableView { output: slf.into(), name })
    }

    /// Writes a table as Parquet, with unit and description in each column's metadata.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned paths")]
    fn write_parquet(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<()> {
        let name = self.known(name)?;
        let written = py.detach(|| match self.other(name) {
            Some(table) => tables::write(table, &path),
            None => tables::write_flows(&self.outcome.flows, &path),
        });
        written.map_err(|error| os_error(&error, &path))
    }

    /// The number of rows of a table.
    fn rows(&self, name: &str) -> PyResult<usize> {
        let name = self.known(name)?;
        Ok(self.other(name).map_or_else(|| self.outcome.flows.rows(), Table::rows))
    }

    /// The content of the file that `write_parquet` writes.
    fn parquet<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let name = self.known(name)?;
        let content = py.detach(|| match self.other(name) {
            Some(table) => tables::content(table),
            None => tables::content(&self.outcome.flows.whole()?),
        });
        Ok(PyBytes::new(py, &content.map_err(|error| os_error(&error, Path::new(name)))?))
    }

    /// The packet capture as pcapng, if the scenario asks for one.
    fn capture<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.outcome.capture.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }
}

impl RunOutput {
    /// The table of that name, unless it is that of flows.
    fn other(&self, name: &str) -> Option<&Table> {
        self.outcome.tables.iter().find(|table| table.name == name)
    }

    /// The name of an existing table.
    fn known(&self, name: &str) -> PyResult<&'static str> {
        let found = self.outcome.table_names().find(|known| *known == name);
        found.ok_or_else(|| PyKeyError::new_err(name.to_string()))
    }
}

/// One table of a run, readable by every library that speaks the Arrow C stream interface.
#[pyclass(frozen)]
pub(crate) struct TableView {
    output: Py<RunOutput>,
    name: &'static str,
}

#[pymethods]
impl TableView {
    /// The Arrow C stream of the table; `requested_schema` is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned references")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let output = self.output.borrow(py);
        let stream = match output.other(self.name) {
            Some(table) => tables::stream(table)?,
            None => tables::stream(&output.outcome.flows.whole()?)?,
        };
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
