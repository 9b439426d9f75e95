//! The measurements of a run for the registry: totals, and columns of tables.

use fanin_engine::measure::table::{Column, Table};
use fanin_engine::measure::total::{Better, Topic, Total};
use fanin_engine::outcome::declared;
use serde_json::{Value, json};

/// The only total that the engine does not set, because it reads no clock.
pub const WALL: Total = Total {
    name: "wall_s",
    unit: "s",
    label: "Wall-clock time",
    doc: "time the simulation took; not part of the hash",
    better: Better::Less,
    ..Total::of(Topic::Run)
};

/// Every total in display order; `always` is false for those of a single scheme.
pub(crate) fn totals() -> Vec<Value> {
    let common = declared::totals().chain([WALL]).map(|each| total(&each, true));
    common.chain(declared::totals_of_some().iter().map(|each| total(each, false))).collect()
}

fn total(total: &Total, always: bool) -> Value {
    json!({
        "name": total.name,
        "unit": total.unit,
        "shown": total.shown,
        "label": total.label,
        "definition": total.definition,
        "short": total.short,
        "goal": total.goal,
        "doc": total.doc,
        "topic": total.topic.name(),
        "better": total.better.name(),
        "of_groups": total.of_groups,
        "hidden_at_zero": total.hidden_at_zero,
        "always": always,
    })
}

/// Every result table with its columns.
pub(crate) fn tables() -> Vec<Value> {
    declared::tables().iter().map(table).collect()
}

fn table(table: &Table) -> Value {
    let columns: Vec<Value> = table.columns.iter().map(column).collect();
    json!({ "name": table.name, "description": table.description, "columns": columns })
}

fn column(column: &Column) -> Value {
    json!({
        "name": column.name,
        "unit": column.unit,
        "description": column.description,
        "label": column.heading.label,
        "definition": column.heading.definition,
        "shown": column.heading.shown,
        "better": column.heading.better.name(),
    })
}
