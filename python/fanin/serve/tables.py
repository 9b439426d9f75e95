"""Tables as the page and downloads have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fanin.later import pl
from fanin.numbers.summary import column, table_names
from fanin.registry import registry
from fanin.results.tables import Table, csv_parts

MOST_ROWS = 1_000_000
"""Rows of a table as JSON."""


def read(table: Table) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """A table, and what its columns are.

    Raises:
        ResultsError: it is damaged, or does not fit in memory.

    """
    if table.path.suffix == ".csv":
        frame = pl.read_csv(table.content(), infer_schema_length=None)
        return frame, [{"name": name, "unit": "", "description": ""} for name in frame.columns]
    frame = table.read()
    return frame, table.describe_columns(frame)


def csv(table: Table) -> Iterator[bytes]:
    """A table as CSV."""
    frame, described = read(table)
    return (part.encode(errors="replace") for part in csv_parts(frame, [each["unit"] for each in described]))


def columns(table: Table, offset: int = 0, limit: int = MOST_ROWS) -> dict[str, Any]:
    """A table as the page has it: numbers with null where there is none, and texts as places in a list of names."""
    frame, described = read(table)
    shown = frame.slice(offset, limit)
    about = {each["name"]: each for each in described}
    found = [
        {
            "name": each.name,
            "unit": about.get(each.name, {}).get("unit", ""),
            "description": about.get(each.name, {}).get("description", ""),
            "label": _label(table.name, each.name),
            **_values(each),
        }
        for each in shown.iter_columns()
    ]
    told = {each["name"]: each["description"] for each in registry()["tables"]}.get(table.name, "")
    counts = {"rows": shown.height, "of": frame.height, "offset": offset}
    return {"name": table.name, "description": told, **counts, "columns": found}


def _label(table: str, name: str) -> str:
    return column(f"{table}.{name}" if table in table_names() else name).label


def _values(series: pl.Series) -> dict[str, Any]:
    if series.dtype == pl.Boolean:
        return {"kind": "bool", "values": series.cast(pl.UInt8).to_list(), "names": []}
    if series.dtype.is_numeric():
        numbers = series.cast(pl.Float64)
        finite = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
        return {"kind": "number", "values": finite.to_list(), "names": []}
    texts = series.cast(pl.String)
    names = texts.drop_nulls().unique(maintain_order=True)
    places = {text: place for place, text in enumerate(names)}
    return {"kind": "label", "values": [places.get(text) for text in texts], "names": names.to_list()}
