"""Tables as the page and downloads have them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.later import pl
from fanin.numbers.summary import column, table_names
from fanin.registry import registry
from fanin.results import tables
from fanin.results.store import StoredRun, read_table

MOST_ROWS = 1_000_000
"""Rows of a table as JSON."""


@dataclass(frozen=True)
class Source:
    """A table: a file of a run, or of the folder of an experiment or a sweep."""

    place: StoredRun | Path
    """The run, or the folder."""
    file: str

    def content(self) -> bytes:
        """The bytes of the file."""
        return self.place.content(self.file) if isinstance(self.place, StoredRun) else self._path.read_bytes()

    @property
    def _path(self) -> Path:
        return (self.place.folder if isinstance(self.place, StoredRun) else self.place) / self.file

    def read(self) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
        """The table, and what its columns are.

        Raises:
            ResultsError: it is damaged, or does not fit in memory.

        """
        if self.file.endswith(".csv"):
            frame = pl.read_csv(self.content(), infer_schema_length=None)
            return frame, [{"name": name, "unit": "", "description": ""} for name in frame.columns]
        if not isinstance(self.place, StoredRun) or self.place.line is None:
            return read_table(self._path), tables.describe(self._path)["columns"]
        frame = self.place.table(self.file.removesuffix(".parquet"))
        with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
            copy.write(self.content())
            copy.flush()
            return frame, tables.describe(Path(copy.name))["columns"]


def csv(source: Source) -> Iterator[bytes]:
    """A table as CSV."""
    frame, described = source.read()
    return (part.encode(errors="replace") for part in tables.csv_parts(frame, [each["unit"] for each in described]))


def columns(source: Source, offset: int = 0, limit: int = MOST_ROWS) -> dict[str, Any]:
    """A table as the page has it: numbers with null where there is none, and texts as places in a list of names."""
    frame, described = source.read()
    name = Path(source.file).stem
    shown = frame.slice(offset, limit)
    about = {each["name"]: each for each in described}
    found = [
        {
            "name": each.name,
            "unit": about.get(each.name, {}).get("unit", ""),
            "description": about.get(each.name, {}).get("description", ""),
            "label": _label(name, each.name),
            **_values(each),
        }
        for each in shown.iter_columns()
    ]
    told = {each["name"]: each["description"] for each in registry()["tables"]}.get(name, "")
    counts = {"rows": shown.height, "of": frame.height, "offset": offset}
    return {"name": name, "description": told, **counts, "columns": found}


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
