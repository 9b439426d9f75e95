//! A scenario as an object of Python.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fanin_engine::param::{self, Document, Files, SpecError};
use fanin_engine::scenario;
use fanin_engine::traffic::TrafficGroup;
use fanin_linux::Source;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyType};
use serde_json::{Value, json};

use crate::errors::scenario_error;
use crate::own;
use crate::run::{ASK_EVERY, RunOutput, Watch, simulate};

/// What makes an equal scenario: the text, the file and the changes.
type Made<'a> = (&'a str, &'a str, Vec<(String, String)>);

type UnusedValue = (String, Option<(String, &'static str)>);

/// A scenario: a file in TOML, with changes of single values.
///
/// The text is parsed once. What it says is checked when something is asked for the first time, so that a file may lack
/// values that changes bring. A scenario never changes; :meth:`with_changes` makes another one of the same file.
///
/// Every method but :meth:`line` raises ``fanin.ScenarioError`` if the scenario is not valid: it names the file (``--set``
/// for a change), the line, the key and the nearest valid name.
///
/// Args:
///     text: The scenario as TOML. Tables that the engine does not know, such as ``[sweep]``, are ignored.
///     file: The name of the file, for messages. Files that the scenario names are in its folder.
///     changes: As for :meth:`with_changes`.
///
/// Raises:
///     ScenarioError: the text is not TOML.
///
/// >>> scenario = Scenario(Path("scenario.toml").read_text(), "scenario.toml")
/// >>> slow = scenario.with_changes({"transport.rto-min": "200ms", "traffic.servers.senders": 64})
/// >>> slow.run(seed=1).summary
#[pyclass(frozen, module = "fanin._engine")]
pub(crate) struct Scenario {
    text: Arc<str>,
    file: Arc<str>,
    document: Arc<Document>,
    changes: Vec<(String, String)>,
    read: OnceLock<Result<scenario::Scenario, SpecError>>,
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (text, file="scenario.toml", changes=None))]
    fn new(py: Python<'_>, text: &str, file: &str, changes: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let document = Document::parse(text, file).map_err(|error| scenario_error(py, &error))?;
        let changes = changes.map(pairs).transpose()?.unwrap_or_default();
        let (text, file, document) = (text.into(), file.into(), Arc::new(document));
        Ok(Self { text, file, document, changes, read: OnceLock::new() })
    }

    /// The same scenario with some values replaced, beside those that were replaced before.
    ///
    /// Args:
    ///     changes: Dotted paths and their new values, a dictionary or pairs; of one path the last counts. Traffic groups
    ///         and faults are addressed by name. Quantities are texts: ``{"network.buffer": "150KB"}``.
    fn with_changes(&self, changes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (text, file, document) = (self.text.clone(), self.file.clone(), self.document.clone());
        let changes = self.changes.iter().cloned().chain(pairs(changes)?).collect();
        Ok(Self { text, file, document, changes, read: OnceLock::new() })
    }

    /// The text of the file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The name of the file.
    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    /// The values that are replaced: pairs of a dotted path and a value as in the file, in the order in which they came.
    #[getter]
    fn changes(&self) -> Vec<(String, String)> {
        self.changes.clone()
    }

    /// The line in the file, from 1, of the key at a path, or of the innermost table on the way to it; ``None`` if the file
    /// has neither.
    ///
    /// Args:
    ///     path: Keys, and indices (from 0) into lists, such as ``("traffic", 1, "senders")``.
    fn line(&self, path: Vec<Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
        let path = path.into_iter().map(|part| Ok(part.str()?.to_str()?.to_owned())).collect::<PyResult<Vec<_>>>()?;
        Ok(self.document.line(&path))
    }

    /// Checks the scenario and builds its network; simulates nothing.
    ///
    /// Returns:
    ///     A preview: the number of ``hosts``, ``switches`` and ``ports`` of these, how many full packets the switches can
    ///     hold (``buffered``), and for each of the ``groups`` of traffic its ``name``, its largest numbers of transfers in
    ///     all and at once (``flows``, ``at_once``), their mean size (``mean_bytes``, 0 for endless data) and what it is
    ///     ``offered``: ``group mean_bytes interval_s offered_bps load load_of capacity_bps``, or ``None`` without a load.
    ///     ``kernel_s``: about how many seconds it takes in the Linux kernel, or ``None`` if it does not run there.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.told(py, fanin_binding::check)
    }

    /// Every value in effect, in the tables of a scenario file: ``{"network": {...}, "traffic": [{...}, ...], ...}``.
    ///
    /// Values with a unit are ``fanin.numbers.units.Quantity``: texts that know their number in the unit of results. The
    /// same tables come of all ways to write the same scenario. Of ``[transport]``, keys in which the schemes of the
    /// scenario differ are left out.
    ///
    /// Args:
    ///     scheme: One of the schemes in use, whose values of ``[transport]`` are all there.
    #[pyo3(signature = (scheme=None))]
    fn values<'py>(&self, py: Python<'py>, scheme: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let scenario = self.scenario(py)?;
        if let Some(key) = scheme.filter(|key| scenario.transports().all(|(used, _)| used != key)) {
            return Err(PyValueError::new_err(format!("no traffic of the scenario has the scheme {key}")));
        }
        let leaf = |value: &param::Value| match (value.into(), value.quantity()) {
            (Value::String(text), Some((number, unit))) => json!([text, number, unit]),
            (plain, _) => plain,
        };
        let quantity = py.import("fanin.numbers.units")?.getattr("Quantity")?;
        python(py, &scenario.resolved_as(scheme, &leaf), Some(&quantity))
    }

    /// Every value in effect with its source, a row for each.
    ///
    /// Returns:
    ///     Dictionaries with ``path``, ``value`` as text, ``number`` and ``unit`` (s, bit/s, B, pkt, or none; ``None`` of
    ///     words), ``scheme`` (whose end points have it, if another scheme of the scenario has another value), ``set_at``
    ///     (``file:line``, or ``--set`` for a change; ``None`` for a default), ``is_default``, the ``source`` of the default,
    ///     ``ignored_with`` (what takes its effect away) and ``doc`` (what the key means).
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &fanin_binding::resolved(self.scenario(py)?), None)
    }

    /// The value that a key would have by default; ``None`` if it would not be in effect.
    ///
    /// Args:
    ///     path: Dotted path of the key, which neither the file nor a change then has. A key of traffic or of a fault is left
    ///         as the file has it.
    fn default(&self, py: Python<'_>, path: &str) -> PyResult<Option<String>> {
        let changes: Vec<_> = self.changes.iter().filter(|(changed, _)| changed != path).cloned().collect();
        let found = scenario::Scenario::of(&self.document.without(path), &changes);
        let rows = found.map_err(|error| scenario_error(py, &error))?.resolved_table();
        let row = rows.into_iter().find(|row| row.path == path && row.scheme.is_none() && row.is_default());
        Ok(row.map(|row| row.value))
    }

    /// The files that the scenario names.
    ///
    /// Returns:
    ///     For each the name of its group of traffic, its own name, and the SHA-256 that it must have (``any`` for any).
    fn files(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
        let named = self.scenario(py)?.traffic.iter().filter(|group| group.values.has("file"));
        let text = |group: &TrafficGroup, key| group.values.text(key).to_owned();
        Ok(named.map(|group| (group.name.clone(), text(group, "file"), text(group, "file-sha256"))).collect())
    }

    /// The values that were set but have no effect.
    ///
    /// Returns:
    ///     Pairs of a path and what makes it ineffective: another path and its value, or ``None`` if nothing in the scenario
    ///     has its scheme.
    fn unused(&self, py: Python<'_>) -> PyResult<Vec<UnusedValue>> {
        Ok(self.scenario(py)?.unused().into_iter().map(|value| (value.path, value.beside)).collect())
    }

    /// What the traffic can put on the ports of the switches.
    ///
    /// Returns:
    ///     ``tiers``: the cables between switches, from the hosts up; ``fan_in``: the ports that the senders of a fan-in can
    ///     fill; ``observed``: the port whose queue is measured, with the shortest and with the longest round trip of traffic
    ///     that crosses it, or none if it is a host's. ``fanin.scenario.engine_rows`` has their columns.
    fn loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.told(py, fanin_binding::loads)
    }

    /// The network.
    ///
    /// Returns:
    ///     ``nodes``, each with ``name``, ``kind`` (``host`` or ``switch``), ``role`` (``sender`` or ``receiver``; ``None`` for
    ///     a switch, and for hosts that are numbered) and ``tier`` (how many links it is away from the nearest host); and
    ///     ``links``, in the order of the result table of that name, each with ``name``, the names of its ends (``from``,
    ///     ``to``), ``rate_bps``, ``delay_s``, ``buffer_bytes`` of the port that sends on it (all memory if ports share it;
    ///     ``None`` for a host), ``buffer_key`` (which key of ``[network]`` is the port's; where that is 0, ``buffer``
    ///     applies), ``cables`` (their tier, as keys of the scenario begin with it; ``None`` for a cable of a host) and
    ///     ``bottleneck`` (whether it is the one whose queue is measured).
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.told(py, |scenario| {
            let mut map = fanin_binding::network(scenario)?;
            let names: Vec<Value> =
                map["nodes"].as_array().into_iter().flatten().map(|node| node["name"].clone()).collect();
            for link in map["links"].as_array_mut().into_iter().flatten() {
                for end in ["from", "to"] {
                    link[end] = link[end].as_u64().map_or(Value::Null, |at| names[at as usize].clone());
                }
            }
            Ok(map)
        })
    }

    /// What hosts and switches of Linux are set to for the scenario, whether or not it can run in the Linux backend.
    ///
    /// Returns:
    ///     What ``fanin deploy`` prints commands for; ``fanin.scenario.engine_rows.Hosts`` has its keys.
    fn hosts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.told(py, fanin_binding::hosts)
    }

    /// How much memory a run will need at most. Real peaks may be a quarter of it.
    ///
    /// Returns:
    ///     The largest number of ``flows``, in all and ``at_once``; ``bytes_per_flow`` of those, ``bytes_per_finished`` of each
    ///     other one, and ``bytes_besides``.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.told(py, fanin_binding::memory)
    }

    /// Simulates the scenario with the interpreter released. The same scenario and seed give the same output everywhere.
    ///
    /// Args:
    ///     seed: Seed of the run; by default the scenario's own.
    ///     progress: Called with the share of the duration simulated so far; the run stops when it returns ``False``.
    ///     spill: A new file for the rows of finished flows, which is removed with the output; by default they are in memory.
    ///     on_the_way: Whether any port on the way to the client of an incast may be observed after the run
    ///         (:meth:`RunOutput.observe`).
    ///
    /// Raises:
    ///     RunError: an invariant was violated, or ``progress`` stopped the run.
    ///     OSError: the rows cannot be written.
    #[pyo3(signature = (seed=None, progress=None, spill=None, on_the_way=false))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned paths")]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        progress: Option<Py<PyAny>>,
        spill: Option<PathBuf>,
        on_the_way: bool,
    ) -> PyResult<RunOutput> {
        let scenario = self.prepared(py, seed, on_the_way)?;
        let mut watch = Watch::new(progress, Duration::ZERO);
        let changes = self.changes_with_seed(&scenario);
        let run = || simulate(&scenario, &self.source(&scenario, &changes), &mut watch, spill.as_deref());
        let ended = py.detach(|| own::catch(run))?;
        ended.map_err(|failure| watch.error(py, failure, spill.as_deref()))
    }

    /// Simulates the scenario with one seed after the other, in one call with the interpreter released.
    ///
    /// Args:
    ///     seeds: The seeds.
    ///     seconds: No run starts later than so long after the call, except for the first.
    ///     progress: As for :meth:`run`, but called a few times a second.
    ///     spill: As for :meth:`run`; each run has a file of its own, whose name begins so.
    ///
    /// Returns:
    ///     The outputs in the order of the seeds, fewer than these if time was up.
    ///
    /// Raises:
    ///     RunError: a run failed; those after it are not begun.
    ///     OSError: the rows cannot be written.
    #[pyo3(signature = (seeds, seconds=f64::INFINITY, progress=None, spill=None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over owned lists")]
    fn run_seeds(
        &self,
        py: Python<'_>,
        seeds: Vec<u64>,
        seconds: f64,
        progress: Option<Py<PyAny>>,
        spill: Option<PathBuf>,
    ) -> PyResult<Vec<RunOutput>> {
        let mut scenario = self.scenario(py)?.clone();
        let mut watch = Watch::new(progress, ASK_EVERY);
        let run = || {
            let begun = Instant::now();
            let mut outputs = Vec::with_capacity(seeds.len());
            for seed in &seeds {
                if !outputs.is_empty() && begun.elapsed().as_secs_f64() > seconds {
                    break;
                }
                scenario = scenario.clone().with_seed(*seed);
                // The outputs before it may still have files of theirs, and so may other threads with the same seeds.
                let spill = spill.as_ref().map(|path| {
                    let mut own = path.clone().into_os_string();
                    own.push(format!("-{seed}"));
                    PathBuf::from(own)
                });
                let changes = self.changes_with_seed(&scenario);
                outputs.push(simulate(&scenario, &self.source(&scenario, &changes), &mut watch, spill.as_deref())?);
            }
            Ok(outputs)
        };
        let ended = py.detach(|| own::catch(run))?;
        ended.map_err(|failure| watch.error(py, failure, spill.as_deref()))
    }

    /// Makes an equal scenario, in another process too.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, Made<'_>) {
        (py.get_type::<Self>(), (&self.text, &self.file, self.changes.clone()))
    }

    fn __repr__(&self) -> String {
        let changes: Vec<String> = self.changes.iter().map(|(path, value)| format!(" {path}={value}")).collect();
        format!("<Scenario {}{}>", self.file, changes.concat())
    }
}

impl Scenario {
    /// The scenario as the engine reads it.
    fn scenario(&self, py: Python<'_>) -> PyResult<&scenario::Scenario> {
        let read = self.read.get_or_init(|| {
            let folder = Path::new(&*self.file).parent().map(Path::to_owned).unwrap_or_default();
            let files = Files::new(move |name| {
                let input = File::open(folder.join(name))?;
                Ok(Box::new(BufReader::with_capacity(1 << 16, input)))
            });
            Ok(scenario::Scenario::of(&self.document, &self.changes)?.with_files(files))
        });
        read.as_ref().map_err(|error| scenario_error(py, error))
    }

    /// The scenario as one run needs it.
    pub(crate) fn prepared(&self, py: Python<'_>, seed: Option<u64>, on_the_way: bool) -> PyResult<scenario::Scenario> {
        let mut scenario = self.scenario(py)?.clone();
        if let Some(seed) = seed {
            scenario = scenario.with_seed(seed);
        }
        if on_the_way {
            scenario = scenario.with_queues_on_the_way();
        }
        Ok(scenario)
    }

    /// The values that are replaced, with the seed of a run.
    fn changes_with_seed(&self, scenario: &scenario::Scenario) -> Vec<(String, String)> {
        let seed = ("run.seed".to_owned(), scenario.run.integer("seed").to_string());
        self.changes.iter().cloned().chain([seed]).collect()
    }

    fn source<'a>(&'a self, scenario: &scenario::Scenario, changes: &'a [(String, String)]) -> Source<'a> {
        Source { text: &self.text, file: &self.file, changes, on_the_way: scenario.queues_on_the_way }
    }

    /// What can be said of it before it runs.
    fn told<'py>(
        &self,
        py: Python<'py>,
        ask: impl Fn(&scenario::Scenario) -> Result<Value, SpecError> + Send + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scenario = self.scenario(py)?;
        let found = py.detach(|| own::catch(|| ask(scenario)))?.map_err(|error| scenario_error(py, &error))?;
        python(py, &found, None)
    }
}

/// Paths and values of a dictionary, or of pairs, as a file has them.
fn pairs(changes: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let items = if changes.is_instance_of::<PyDict>() { changes.call_method0("items")? } else { changes.clone() };
    let pair = |pair: PyResult<Bound<'_, PyAny>>| {
        let (path, value): (String, Bound<'_, PyAny>) = pair?.extract()?;
        let text = match value.cast::<PyBool>() {
            Ok(flag) => flag.is_true().to_string(),
            Err(_) => value.str()?.to_str()?.to_owned(),
        };
        Ok((path, text))
    };
    items.try_iter()?.map(pair).collect()
}

/// JSON as objects of Python; lists that are a text, its number and its unit as that class has them.
fn python<'py>(py: Python<'py>, json: &Value, quantity: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, number) => number.into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(parts) => {
            if let (Some(class), [Value::String(text), number, Value::String(unit)]) = (quantity, &parts[..]) {
                class.call1((text, number.as_f64(), unit))?
            } else {
                let items = parts.iter().map(|part| python(py, part, quantity));
                PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
            }
        }
        Value::Object(map) => {
            let found = PyDict::new(py);
            for (key, value) in map {
                found.set_item(key, python(py, value, quantity)?)?;
            }
            found.into_any()
        }
    })
}
