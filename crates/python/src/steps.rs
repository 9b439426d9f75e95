//! A run that Python drives step by step.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use std::sync::Mutex;
use std::time::Instant;

use fanin_engine::measure::table::Data;
use fanin_engine::sim;
use fanin_engine::units::Time;
use fanin_linux::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::errors::{run_error, scenario_error};
use crate::own;
use crate::run::{ASK_EVERY, RunOutput, Watch};
use crate::scenario::Scenario;
use crate::tables::packed;

/// A run that goes on when it is told to. ``fanin.Scenario.start`` begins one.
#[pyclass(module = "fanin._engine")]
pub(crate) struct Simulation {
    /// None once its result was taken.
    running: Mutex<Option<sim::Simulation>>,
    begun: Instant,
    watch: Watch,
}

#[pymethods]
impl Simulation {
    /// Begins a run of a scenario.
    ///
    /// Args:
    ///     scenario: The scenario.
    ///     seed: Seed of the run; by default the scenario's own.
    ///     on_the_way: As for :meth:`Scenario.run`.
    ///
    /// Raises:
    ///     ScenarioError: the scenario is not valid, or does not run in the simulator.
    #[new]
    #[pyo3(signature = (scenario, seed=None, on_the_way=false))]
    fn new(py: Python<'_>, scenario: &Scenario, seed: Option<u64>, on_the_way: bool) -> PyResult<Self> {
        let scenario = scenario.prepared(py, seed, on_the_way)?;
        let started = py
            .detach(|| own::catch(|| sim::Simulation::start(&scenario)))?
            .map_err(|error| scenario_error(py, &error))?;
        let watch = Watch::new(None, ASK_EVERY);
        Ok(Self { running: Mutex::new(Some(started)), begun: Instant::now(), watch })
    }

    /// The clock in seconds.
    #[getter]
    fn now(&mut self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.running(py)?.now().secs())
    }

    /// Whether nothing more will happen.
    #[getter]
    fn done(&mut self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.running(py)?.is_done())
    }

    /// Whether all data have arrived and no more will be sent.
    #[getter]
    fn finished(&mut self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.running(py)?.is_finished())
    }

    /// The names of all ports.
    #[getter]
    fn ports(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.running(py)?.ports())
    }

    /// The index of the port where incast is expected.
    #[getter]
    fn bottleneck(&mut self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.running(py)?.bottleneck())
    }

    /// The names of the traffic groups.
    #[getter]
    fn groups(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.running(py)?.groups())
    }

    /// What :meth:`set` and :meth:`switch_fault` can change.
    #[getter]
    fn settable(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.running(py)?.settable().to_vec())
    }

    /// Goes on for so many picoseconds, or to the end, with the interpreter released.
    ///
    /// Raises:
    ///     RunError: an invariant was violated, or there is a result already.
    fn step(&mut self, py: Python<'_>, picoseconds: u64) -> PyResult<()> {
        let until = self.running(py)?.now() + Time::from_ps(picoseconds);
        let Self { running, watch, .. } = self;
        let done = py.detach(|| {
            let mut go_on = |share| watch.go_on(share);
            let running = running.get_mut().ok().and_then(Option::as_mut);
            own::catch(|| running.map_or(Ok(()), |running| running.advance(until, Some(&mut go_on))))
        });
        if done.is_err() {
            self.running = Mutex::new(None);
        }
        done?.map_err(|failure| self.error(py, failure.into()))
    }

    /// The time in seconds, that of the observation before, and the columns: names with little-endian bytes, 8 of a value,
    /// of whole numbers (``flow``, ``flow_group``) or real ones.
    fn observe<'py>(&mut self, py: Python<'py>) -> PyResult<(f64, f64, Bound<'py, PyDict>)> {
        let seen = self.running(py)?.observe();
        let columns = PyDict::new(py);
        for (name, data) in &seen.columns {
            let bytes = match data {
                Data::F64(values) => packed(py, values, |value| value.to_le_bytes()),
                Data::U64(values) => packed(py, values, |value| value.to_le_bytes()),
                _ => PyBytes::new(py, &[]),
            };
            columns.set_item(name, bytes)?;
        }
        Ok((seen.at.secs(), seen.since.secs(), columns))
    }

    /// Takes the value at ``path`` from another scenario, which is the same but for that.
    ///
    /// Raises:
    ///     ScenarioError: it cannot change during a run, or not to that value.
    fn set(&mut self, py: Python<'_>, path: &str, changed: &Scenario) -> PyResult<()> {
        let changed = changed.prepared(py, None, false)?;
        self.running(py)?.set(path, &changed).map_err(|error| scenario_error(py, &error))
    }

    /// A fault of the scenario, ``fault.NAME``, begins or ends now.
    ///
    /// Raises:
    ///     ScenarioError: there is none of that name.
    fn switch_fault(&mut self, py: Python<'_>, path: &str, on: bool) -> PyResult<()> {
        self.running(py)?.switch_fault(path, on).map_err(|error| scenario_error(py, &error))
    }

    /// Goes on to the end and returns the result; nothing else can be asked for afterwards.
    ///
    /// Raises:
    ///     RunError: an invariant was violated, or there is a result already.
    fn result(&mut self, py: Python<'_>) -> PyResult<RunOutput> {
        self.running(py)?;
        let Self { running, watch, .. } = self;
        let ended = py.detach(|| {
            let running = running.get_mut().ok().and_then(Option::take)?;
            let mut go_on = |share| watch.go_on(share);
            Some(own::catch(|| running.end(Some(&mut go_on))))
        });
        let mut outcome = ended.expect("it runs")?.map_err(|failure| self.error(py, failure))?;
        outcome.summary.insert(fanin_binding::WALL.name.to_string(), json!(self.begun.elapsed().as_secs_f64()));
        Ok(RunOutput::new(outcome))
    }
}

impl Simulation {
    fn running(&mut self, py: Python<'_>) -> PyResult<&mut sim::Simulation> {
        let running = self.running.get_mut().ok().and_then(Option::as_mut);
        running.ok_or_else(|| run_error(py, &"the simulation has ended: by an error, or its result was taken"))
    }

    fn error(&mut self, py: Python<'_>, failure: sim::Failure) -> PyErr {
        let watch = std::mem::replace(&mut self.watch, Watch::new(None, ASK_EVERY));
        watch.error(py, Error::Run(Box::new(failure)), None)
    }
}
