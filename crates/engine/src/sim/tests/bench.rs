//! What the tests here share: scenarios from text, outcomes of both event cores, and how they differ.

use crate::measure::table::{Data, Table};
use crate::schemes::Scheme;
use crate::sim::build::Substitutes;
use crate::sim::{Failure, Outcome, run_oracle_with, run_with};
use crate::spec::Scenario;

/// A scenario from its text.
pub(super) fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A scheme in the place of the registered one called `newreno`.
pub(super) fn instead(scheme: impl Scheme + 'static) -> Substitutes {
    let scheme: Box<dyn Scheme> = Box::new(scheme);
    Substitutes { schemes: [("newreno", scheme)].into(), topology: None }
}

/// Runs a scenario with a scheme in the place of `newreno`.
#[track_caller]
pub(super) fn run_instead(text: &str, scheme: impl Scheme + 'static) -> Outcome {
    run_with(&scenario(text), instead(scheme), None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Both event cores on the same scenario, which must agree on every value. `substitutes` is asked once for each.
pub(super) fn both(text: &str, substitutes: &dyn Fn() -> Substitutes) -> Result<Outcome, String> {
    let scenario = scenario(text);
    let fast = run_with(&scenario, substitutes(), None);
    let naive = run_oracle_with(&scenario, substitutes());
    match (fast, naive) {
        (Ok(fast), Ok(naive)) => match difference(&fast, &naive) {
            None => Ok(fast),
            Some(difference) => Err(format!("{difference} (real core first)\n{text}")),
        },
        (fast, naive) => Err(format!("{} | {}\n{text}", ending(&fast), ending(&naive))),
    }
}

fn ending(outcome: &Result<Outcome, Failure>) -> String {
    outcome.as_ref().map_or_else(ToString::to_string, |_| "an outcome".to_owned())
}

/// The first value in which two outcomes differ: table, column and row, or the name of a total.
fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    if one.hash() == other.hash() {
        return None;
    }
    for (left, right) in one.tables.iter().zip(&other.tables) {
        if let Some(place) = table_difference(left, right) {
            return Some(format!("table {}{place}", left.name));
        }
    }
    let total = one
        .summary
        .iter()
        .find(|(name, value)| *name != "result_hash" && other.summary.get(*name).is_none_or(|other| other != *value));
    Some(total.map_or_else(
        || "the hashes differ, but no table and no total does".to_owned(),
        |(name, value)| format!("total {name}: {value} and {:?}", other.summary.get(name)),
    ))
}

fn table_difference(left: &Table, right: &Table) -> Option<String> {
    for (one, other) in left.columns.iter().zip(&right.columns) {
        let rows = one.data.len().max(other.data.len());
        let differs = |row: &usize| cell(&one.data, *row) != cell(&other.data, *row);
        if let Some(row) = (0..rows).find(differs) {
            return Some(format!(
                ", column {}, row {row} of {rows}: {} and {}",
                one.name,
                cell(&one.data, row),
                cell(&other.data, row)
            ));
        }
    }
    None
}

/// One value as text, exact to the last bit.
fn cell(data: &Data, row: usize) -> String {
    match data {
        Data::U64(values) => format!("{:?}", values.get(row)),
        Data::OptU64(values) => format!("{:?}", values.get(row)),
        Data::F64(values) => format!("{:?}", values.get(row)),
        Data::OptF64(values) => format!("{:?}", values.get(row)),
        Data::Bool(values) => format!("{:?}", values.get(row)),
        Data::Text(values) => format!("{:?}", values.get(row)),
        Data::Label { codes, names } => format!("{:?}", codes.get(row).map(|code| &names[*code as usize])),
    }
}

/// A column of real numbers; NaN where a row has none.
#[track_caller]
pub(super) fn reals(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    match &outcome.table(table).expect(table).column(column).expect(column).data {
        Data::F64(values) => values.clone(),
        Data::OptF64(values) => values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
        Data::U64(values) => values.iter().map(|value| *value as f64).collect(),
        Data::OptU64(values) => values.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect(),
        other => panic!("{table}.{column} is {other:?}"),
    }
}
