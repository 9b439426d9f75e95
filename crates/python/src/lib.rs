//! Python bindings of the fanin engine.
//!
//! Nothing is decided here. A [`Scenario`] reads a file with the engine's parser and asks the engine about it, runs go to
//! the engine with the interpreter released, and each result table is returned as the bytes of its columns.

mod errors;
mod own;
mod panics;
mod run;
mod scenario;
mod spill;
mod steps;
mod stress;
mod tables;

use std::path::PathBuf;

use fanin_engine::scenario::{KEYS, json_schema};
use fanin_engine::schemes::SchemeRow;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use run::RunOutput;
use scenario::Scenario;
use steps::Simulation;

/// What a scheme is written with.
pub use fanin_engine::scenario::check_row;
pub use fanin_engine::{ids, packet, param, queue, rng, roles, schemes, telemetry, traffic, units};
#[doc(hidden)]
pub use pyo3;

/// Makes this crate, a `cdylib`, the module `fanin._engine` with these rows beside the schemes of fanin. It stands in the root of
/// the crate. Tests of the crate do without it, as they have no Python; a test checks the rows.
#[macro_export]
macro_rules! engine {
    ($($row:expr),*) => {
        static ROWS_OF_FANIN: &[&$crate::schemes::SchemeRow] = &[$(&$row),*];
        #[test]
        fn rows_are_sound() {
            for row in ROWS_OF_FANIN {
                $crate::check_row(row).unwrap_or_else(|error| panic!("{error}"));
            }
            $crate::schemes::refuse_taken(ROWS_OF_FANIN).unwrap_or_else(|error| panic!("{error}"));
        }
        #[cfg(not(test))]
        use $crate::pyo3 as pyo3_of_fanin;
        #[cfg(not(test))]
        #[$crate::pyo3::pymodule(crate = "crate::pyo3_of_fanin")]
        fn _engine(module: &$crate::pyo3::Bound<'_, $crate::pyo3::types::PyModule>) -> $crate::pyo3::PyResult<()> {
            $crate::fill(module, ROWS_OF_FANIN)
        }
    };
}

/// Fills the module `fanin._engine`.
///
/// # Errors
/// A row has a mistake, or a name that exists.
#[doc(hidden)]
pub fn fill(module: &Bound<'_, PyModule>, rows: &'static [&'static SchemeRow]) -> PyResult<()> {
    rows.iter().try_for_each(|row| check_row(row)).map_err(|error| PyValueError::new_err(error.to_string()))?;
    schemes::register(rows).map_err(PyValueError::new_err)?;
    module.add_class::<Scenario>()?;
    module.add_class::<RunOutput>()?;
    module.add_class::<Simulation>()?;
    module.add_class::<own::SenderCx>()?;
    module.add_class::<own::AckEvent>()?;
    module.add_class::<own::Delay>()?;
    module.add_class::<own::Transfer>()?;
    module.add_class::<own::Flow>()?;
    module.add_class::<own::ReceiverCx>()?;
    module.add_class::<own::Arrival>()?;
    module.add_class::<own::Node>()?;
    module.add_class::<own::SwitchCx>()?;
    module.add_class::<own::Packet>()?;
    module.add_class::<own::Passage>()?;
    module.add_class::<own::Port>()?;
    module.add_class::<own::ControllerCx>()?;
    module.add_function(wrap_pyfunction!(own::register_scheme, module)?)?;
    module.add_function(wrap_pyfunction!(own::unregister_scheme, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(linux_folder, module)?)?;
    module.add_function(wrap_pyfunction!(linux_kernels, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
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

/// The folder of the kernels that run scenarios with `run.backend = "linux"`.
#[pyfunction]
fn linux_folder() -> PathBuf {
    fanin_linux::folder()
}

/// These kernels, as far as they are built: ticks a second, version, program, configuration, and whether they were built from
/// the sources that this engine has.
#[pyfunction]
fn linux_kernels() -> Vec<(u64, String, PathBuf, PathBuf, bool)> {
    let told = |built: fanin_linux::Built| (built.hz, built.release, built.kernel, built.config, built.is_current);
    fanin_linux::builds().into_iter().map(told).collect()
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
    param::quantity(text)
}

/// Everything that a scenario can name, with its parameters, and everything that a run measures, as JSON.
#[pyfunction]
fn registry() -> String {
    fanin_binding::registry().to_string()
}
