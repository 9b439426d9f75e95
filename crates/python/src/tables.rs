//! Result tables for Python: the bytes of each column, which Polars takes as they are.

use fanin_engine::measure::table::{Column, Data, Table};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Each column: its name, the type of its values, the values, and which of them are there or what their codes stand for.
pub(crate) fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    table.columns.iter().map(|column| values(py, column)).collect()
}

fn values<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyTuple>> {
    let name = column.name;
    let none = py.None();
    match &column.data {
        Data::U64(values) => (name, "u64", packed(py, values, |value| value.to_le_bytes()), none).into_pyobject(py),
        Data::F64(values) => (name, "f64", packed(py, values, |value| value.to_le_bytes()), none).into_pyobject(py),
        Data::OptU64(values) => {
            let numbers = packed(py, values, |value| value.unwrap_or_default().to_le_bytes());
            (name, "u64", numbers, packed(py, values, |value| [u8::from(value.is_some())])).into_pyobject(py)
        }
        Data::OptF64(values) => {
            let numbers = packed(py, values, |value| value.unwrap_or_default().to_le_bytes());
            (name, "f64", numbers, packed(py, values, |value| [u8::from(value.is_some())])).into_pyobject(py)
        }
        Data::Bool(values) => (name, "bool", packed(py, values, |value| [u8::from(*value)]), none).into_pyobject(py),
        Data::Text(values) => (name, "text", values, none).into_pyobject(py),
        Data::Label { codes, names } => {
            (name, "label", packed(py, codes, |code| code.to_le_bytes()), names).into_pyobject(py)
        }
    }
}

/// The little-endian bytes of values of one width.
pub(crate) fn packed<'py, T, const WIDTH: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(&T) -> [u8; WIDTH],
) -> Bound<'py, PyBytes> {
    let flat: Vec<u8> = values.iter().flat_map(bytes).collect();
    PyBytes::new(py, &flat)
}
