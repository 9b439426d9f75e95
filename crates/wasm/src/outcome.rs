//! The outcome of a run: totals and the heads of tables as JSON, the columns as one list of numbers.

use fanin_engine::measure::table::{Column, Data, Table};
use fanin_engine::sim::Outcome;
use serde_json::{Value, json};

/// The outcome as JSON. Each column says `at` which of `numbers` its rows begin.
pub(crate) fn describe(outcome: &Outcome, numbers: &mut Vec<f64>) -> Value {
    let tables = outcome.table_names().filter_map(|name| outcome.table(name));
    let tables: Vec<Value> = tables.map(|each| table(each, numbers)).collect();
    json!({ "summary": outcome.summary, "tables": tables })
}

fn table(table: &Table, numbers: &mut Vec<f64>) -> Value {
    let columns: Vec<Value> = table.columns.iter().map(|each| column(each, numbers)).collect();
    json!({ "name": table.name, "description": table.description, "rows": table.rows(), "columns": columns })
}

fn column(column: &Column, numbers: &mut Vec<f64>) -> Value {
    let at = numbers.len();
    let (kind, names) = put(&column.data, numbers);
    json!({
        "name": column.name,
        "unit": column.unit,
        "description": column.description,
        "label": column.heading.label,
        "shown": column.heading.shown,
        "kind": kind,
        "names": names,
        "at": at,
    })
}

/// Appends the rows as numbers: NaN for a missing one, 0 or 1 for a truth, and for text an index into the returned names.
fn put<'a>(data: &'a Data, numbers: &mut Vec<f64>) -> (&'static str, &'a [String]) {
    let (kind, names): (_, &[String]) = match data {
        Data::Bool(_) => ("bool", &[]),
        Data::Text(texts) => ("text", texts),
        Data::Label { names, .. } => ("label", names),
        Data::U64(_) | Data::OptU64(_) | Data::F64(_) | Data::OptF64(_) => ("number", &[]),
    };
    match data {
        Data::U64(rows) => numbers.extend(rows.iter().map(|row| *row as f64)),
        Data::OptU64(rows) => numbers.extend(rows.iter().map(|row| row.map_or(f64::NAN, |row| row as f64))),
        Data::F64(rows) => numbers.extend(rows),
        Data::OptF64(rows) => numbers.extend(rows.iter().map(|row| row.unwrap_or(f64::NAN))),
        Data::Bool(rows) => numbers.extend(rows.iter().map(|row| f64::from(u8::from(*row)))),
        Data::Text(rows) => numbers.extend((0..rows.len()).map(|row| row as f64)),
        Data::Label { codes, .. } => numbers.extend(codes.iter().map(|code| f64::from(*code))),
    }
    (kind, names)
}
