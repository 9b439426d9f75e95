"""The rows for plots and claims: those of the table of runs, or of a result table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from fanin.later import pl
from fanin.numbers.summary import ColumnInfo
from fanin.numbers.units import quantity
from fanin.results.columns import Labels, Table, filtered
from fanin.results.runs import frame_of
from fanin.scenario.format.bounds import Filter, matches
from fanin.scenario.format.claim import Case


class HasRows(Protocol):
    """The finished runs of a sweep."""

    def rows(self, table: str, where: Filter | None = None) -> pl.DataFrame:
        """A result table of the runs that match."""


class Drawable(HasRows, Protocol):
    """Runs whose result tables can be drawn."""

    @property
    def labels(self) -> Labels:
        """What their experiment says of its own columns."""


def stacked(runs: Iterable[tuple[Mapping[str, Any], Table]], table: str, where: Filter | None) -> pl.DataFrame:
    """A result table of all runs, or of those that match, with what distinguishes its run in front of each row.

    Args:
        runs: What distinguishes each run, and its tables.
        table: Which.
        where: Values of what distinguishes them.

    """
    chosen = [(row, of) for row, of in runs if matches(row, where or {})]
    varied = frame_of([dict(row) for row, _ in chosen])
    found = []
    for (_, of), row in zip(chosen, varied.iter_slices(1), strict=True):
        # Categories differ between runs; plain strings do not.
        rows = of(table).with_columns(pl.selectors.categorical().cast(pl.String))
        clash = {name: f"{name}_run" for name in varied.columns if name in rows.columns}
        found.append(row.rename(clash).join(rows, how="cross"))
    return pl.concat(found) if found else pl.DataFrame()


def of_claim(case: Case, runs: HasRows, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows on which a claim is measured: those of the runs, or of a result table over time."""
    if case.table is None:
        return numeric(frame, case.axis)
    others = [each for each in (case.over, case.minus) if each is not None]
    sets = [case.where, *others, *case.rivals]
    names = set.intersection(*(set(each) for each in sets))
    where = {name: [value for each in sets for value in each[name]] for name in names}
    rows = table_rows(runs, case.table, where, case.rows, case.axis)
    return in_intervals(rows, case.axis, case.every)


def table_rows(runs: HasRows, table: str, where: Filter, rows: Filter, *needed: str) -> pl.DataFrame:
    """The rows of a result table over runs, without those that lack a needed value; possibly none."""
    frame = runs.rows(table, where)
    return frame if frame.is_empty() else filtered(frame, rows).drop_nulls(needed)


def in_intervals(frame: pl.DataFrame, time: str, width: float | None) -> pl.DataFrame:
    """The frame with times rounded down to the start of intervals of this width."""
    if width is None or frame.is_empty():
        return frame
    # Slightly more, so that the start of a bin stays in its interval despite rounding errors.
    return frame.with_columns(((pl.col(time) / width + 1e-9).floor() * width).alias(time))


def numeric(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frame with a column of scenario values such as "64KB" converted to numbers."""
    if name not in frame.columns or frame.schema[name] != pl.String:
        return frame
    found = [quantity(value) for value in frame[name]]
    if any(each is None for each in found):
        return frame
    return frame.with_columns(pl.Series(name, [each[0] for each in found if each is not None], dtype=pl.Float64))


def axis_of(frame: pl.DataFrame, name: str, known: ColumnInfo) -> ColumnInfo:
    """How to display a column on an axis: scenario values such as "64KB" have the unit in which they are written."""
    if name not in frame.columns or frame.schema[name] != pl.String or known.shown_as:
        return known
    found = {each[1] for value in frame[name] if (each := quantity(value)) is not None}
    return known.in_unit(found.pop()) if len(found) == 1 else known
