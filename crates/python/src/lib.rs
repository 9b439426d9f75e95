//! Python bindings of the fanin engine: scenarios in as text, results out as JSON and Arrow.
//!
//! Nothing is decided here. Text goes to the engine's parser, runs go to the engine with the interpreter released, and
//! each result table is returned as Arrow or written as Parquet.

mod panics;
mod spill;
mod stress;
mod tables;

use std::fs::File;
use std::io::{BufReader, Error as IoError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fanin_engine::measure::table::Table;
use fanin_engine::sim::{self, Failure, Outcome, RunError};
use fanin_engine::spec::{self, Files, KEYS, Scenario, SpecError, json_schema, repeated_key};
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use serde_json::{Value, json};
use spill::SpillFile;

type Overrides = Vec<(String, String)>;

type UnusedValue = (String, Option<(String, &'static str)>);

/// The module `fanin._engine`.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunOutput>()?;
    module.add_class::<TableView>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(refuse_repeated, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(loads, module)?)?;
    module.add_function(wrap_pyfunction!(network, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(resolved_table, module)?)?;
    module.add_function(wrap_pyfunction!(unused, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_seeds, module)?)?;
    module.add_function(wrap_pyfunction!(describe_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(stress::controller_benchmark, module)?)?;
    module.add_function(wrap_pyfunction!(panics::keep_panics, module)?)?;
    module.add_function(wrap_pyfunction!(panics::panics, module)?)?;
    Ok(())
}

/// The engine's version and a hash of its source.
#[pyfunction]
fn version() -> &'static str {
    fanin_binding::version()
}

/// Top-level keys of a scenario file that the engine reads.
#[pyfunction]
fn keys() -> Vec<&'static str> {
    KEYS.to_vec()
}

/// The JSON Schema of the keys that the engine reads in a scenario file.
#[pyfunction]
fn schema() -> String {
    json_schema().to_string()
}

/// A scenario value with a unit as a number, in the unit of results; `None` for other text.
#[pyfunction]
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    spec::quantity(text)
}

/// Everything that a scenario can name, with its parameters, and everything that a run measures, as JSON.
#[pyfunction]
fn registry() -> String {
    fanin_binding::registry().to_string()
}

/// Raises the error for a key that a text gives twice, if that makes it invalid TOML.
#[pyfunction]
fn refuse_repeated(py: Python<'_>, text: &str, file: &str) -> PyResult<()> {
    repeated_key(text, file).map_or(Ok(()), |error| Err(scenario_error(py, &error)))
}

/// Checks the scenario, including its network, and simulates nothing. Returns a preview of the run as a JSON object:
/// the network's size, and the expected traffic of each group.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn check(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<String> {
    let scenario = parse(py, text, file, &overrides)?;
    let found = fanin_binding::check(&scenario).map_err(|error| scenario_error(py, &error))?;
    Ok(found.to_string())
}

/// What the traffic can put on the ports of the switches, as a JSON object: the tiers between switches, and the ports
/// that a fan-in can fill.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn loads(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<String> {
    let scenario = parse(py, text, file, &overrides)?;
    let found = fanin_binding::loads(&scenario).map_err(|error| scenario_error(py, &error))?;
    Ok(found.to_string())
}

/// The network as a JSON object: nodes, and links in the order of the tables of a run.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn network(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<String> {
    let scenario = parse(py, text, file, &overrides)?;
    let found = fanin_binding::network(&scenario).map_err(|error| scenario_error(py, &error))?;
    Ok(found.to_string())
}

/// The scenario with every default filled in, as JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn resolve(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<String> {
    let scenario = parse(py, text, file, &overrides)?;
    Ok(scenario.resolved().to_string())
}

/// Every value of the scenario with its source, as a JSON array.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn resolved_table(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<String> {
    let scenario = parse(py, text, file, &overrides)?;
    Ok(fanin_binding::resolved_table(&scenario).to_string())
}

/// Paths of values that were set but have no effect, each with the key and its word that make it ineffective; with
/// neither if the scenario does not use the scheme.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn unused(py: Python<'_>, text: &str, file: &str, overrides: Overrides) -> PyResult<Vec<UnusedValue>> {
    let unused = parse(py, text, file, &overrides)?.unused();
    Ok(unused.into_iter().map(|value| (value.path, value.beside)).collect())
}

/// Simulates the scenario with the interpreter released.
///
/// `progress` is called with the share of the duration simulated so far; the run stops when it returns `False`. Rows of
/// finished flows are kept in a new file called `spill` until the output is dropped, or in memory without one. With
/// `on_the_way`, any port on the way to the client of an incast may be observed after the run ([`RunOutput::observe`]).
#[pyfunction]
#[pyo3(signature = (text, file, overrides, progress=None, spill=None, on_the_way=false))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn run(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: Overrides,
    progress: Option<Py<PyAny>>,
    spill: Option<PathBuf>,
    on_the_way: bool,
) -> PyResult<RunOutput> {
    let read = parse(py, text, file, &overrides)?;
    let scenario = if on_the_way { read.with_queues_on_the_way() } else { read };
    let mut watch = Watch { progress, every: Duration::ZERO, asked: None, raised: None };
    let ended = py.detach(|| simulate(&scenario, &mut watch, spill.as_deref()));
    ended.map_err(|failure| watch.error(py, failure, spill.as_deref()))
}

/// Simulates the scenario with one seed after the other in one call, with the interpreter released, and returns the
/// outputs in that order.
///
/// No run starts later than `seconds` after the call, except for the first; then fewer outputs than seeds are returned.
/// `progress` is called a few times a second during long runs. The first run that fails ends the call.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seeds, seconds, progress=None, spill=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of `run`, and two more")]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
fn run_seeds(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: Overrides,
    seeds: Vec<u64>,
    seconds: f64,
    progress: Option<Py<PyAny>>,
    spill: Option<PathBuf>,
) -> PyResult<Vec<RunOutput>> {
    let mut watch = Watch { progress, every: ASK_EVERY, asked: None, raised: None };
    let ended = py.detach(|| {
        let begun = Instant::now();
        let mut outputs = Vec::with_capacity(seeds.len());
        let Some(first) = seeds.first() else { return Ok(outputs) };
        let mut overrides = overrides;
        overrides.push((SEED.to_owned(), first.to_string()));
        // Read once: that takes as long as a small run.
        let mut scenario = read(text, file, &overrides)?;
        for seed in &seeds {
            if !outputs.is_empty() && begun.elapsed().as_secs_f64() > seconds {
                break;
            }
            scenario = scenario.with_seed(*seed);
            // The outputs before it may still have files of theirs, and so may other threads with the same seeds.
            let spill = spill.as_ref().map(|path| {
                let mut own = path.clone().into_os_string();
                own.push(format!("-{seed}"));
                PathBuf::from(own)
            });
            outputs.push(simulate(&scenario, &mut watch, spill.as_deref())?);
        }
        Ok(outputs)
    });
    ended.map_err(|failure| watch.error(py, failure, spill.as_deref()))
}

/// The path of the seed in a scenario.
const SEED: &str = "run.seed";

/// The time between questions whether to continue: each needs the interpreter, for which it may have to wait.
const ASK_EVERY: Duration = Duration::from_millis(50);

fn simulate(scenario: &Scenario, watch: &mut Watch, spill: Option<&Path>) -> Result<RunOutput, Failure> {
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
struct Watch {
    progress: Option<Py<PyAny>>,
    /// Least time between two questions.
    every: Duration,
    asked: Option<Instant>,
    /// What Python raised instead of an answer.
    raised: Option<PyErr>,
}

impl Watch {
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
    fn error(self, py: Python<'_>, failure: Failure, spill: Option<&Path>) -> PyErr {
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

/// Columns, units, descriptions and row count of a Parquet file, as JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned paths")]
fn describe_parquet(path: PathBuf) -> PyResult<String> {
    Ok(tables::describe(&path).map_err(|error| os_error(&error, &path))?.to_string())
}

/// The result of a run.
#[pyclass]
struct RunOutput {
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
struct TableView {
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

/// Files that the scenario names are in its own folder.
fn read(text: &str, file: &str, overrides: &Overrides) -> Result<Scenario, SpecError> {
    let scenario = Scenario::parse(text, file, overrides)?;
    let folder = Path::new(file).parent().map(Path::to_owned).unwrap_or_default();
    Ok(scenario.with_files(Files::new(move |name| {
        let input = File::open(folder.join(name))?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, input)))
    })))
}

fn parse(py: Python<'_>, text: &str, file: &str, overrides: &Overrides) -> PyResult<Scenario> {
    read(text, file, overrides).map_err(|error| scenario_error(py, &error))
}

/// `fanin.errors.ScenarioError`, which Python's own checks raise too.
fn scenario_error(py: Python<'_>, error: &SpecError) -> PyErr {
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
fn os_error(error: &std::io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string(), path.to_owned())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// `fanin.errors.RunError`.
fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    let raised = (|| py.import("fanin.errors")?.getattr("RunError")?.call1((error.to_string(),)))();
    raised.map_or_else(|error| error, PyErr::from_value)
}
