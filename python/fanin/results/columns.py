"""The columns that an experiment declares in addition to a run's summary, and the result tables they need."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from fanin.later import np, pl
from fanin.numbers import summary
from fanin.numbers.formula import evaluate
from fanin.numbers.stats import Floats, percentile
from fanin.numbers.units import quantity
from fanin.results import never_ended
from fanin.scenario.file import ScenarioFile
from fanin.scenario.format.bounds import Filter, bounds, is_within, matches, measured
from fanin.scenario.format.column import Column
from fanin.scenario.format.values import Scalar

if TYPE_CHECKING:
    import numpy.typing as npt

Table: TypeAlias = "Callable[[str], pl.DataFrame]"
"""A run's result table by name."""


Labels = dict[str, str]
"""Column -> label and, after a colon, definition."""


def own_labels(experiment: ScenarioFile) -> Labels:
    """Labels of an experiment's own columns: those that it declares, and the axes of its variants."""
    axes = {axis: axis[:1].upper() + axis[1:] for axis in experiment.labels}
    return axes | {each.id: each.label for each in experiment.columns}


def describe(own: Labels, name: str) -> summary.ColumnInfo:
    """How to display a column of the table of runs, including the experiment's own columns."""
    return summary.column(name, own.get(name))


def filtered(frame: pl.DataFrame, where: Filter) -> pl.DataFrame:
    """The rows that match; in a column of text, values are compared as text."""
    chosen = np.ones(len(frame), dtype=bool)
    for name, values in where.items():
        column = frame[name]
        if column.dtype == pl.Boolean or column.dtype.is_numeric():
            chosen &= _chosen(np.asarray(column.cast(pl.Float64)), values)
        else:
            names = column.cast(pl.String)
            within = {text for text in names.unique() if is_within(text, values)} if any(map(bounds, values)) else set()
            found = [np.asarray(names == text) for text in within | {_text(value) for value in values}]
            # What has no value is equal to none.
            chosen &= np.any(found, axis=0).astype(bool)
    return frame if chosen.all() else frame[np.flatnonzero(chosen)]


def _chosen(column: Floats, values: list[Scalar]) -> npt.NDArray[np.bool_]:
    """Where a column of numbers has one of the values, which may have units, or is within bounds among them."""
    chosen = _among(column, [each for each in values if not isinstance(each, str)])
    texts = [each for each in values if isinstance(each, str)]
    known = [number[0] for each in texts if (number := measured(each)) is not None]
    chosen |= np.isin(column, np.array(known, dtype=np.float64))
    for each in map(bounds, texts):
        if each:
            chosen |= np.all([holds(column, end) for holds, end in each], axis=0)
    return chosen


def unmatched(frame: pl.DataFrame, where: Filter) -> tuple[str, str] | None:
    """The column for whose values there is no row, and what to say of it; ``None`` if some row matches.

    If each of them has rows, it is the last of those for which the rows before had none.
    """
    left = frame
    for name, values in where.items():
        chosen = filtered(left, {name: values})
        if chosen.is_empty():
            said = " or ".join(map(_text, values[:_SHOWN])) + (" ..." if len(values) > _SHOWN else "")
            beside = "" if len(left) == len(frame) else " where the others match"
            return name, f"no row has {said}{beside}; {_has(left[name], values)}"
        left = chosen
    return None


def _has(column: pl.Series, values: list[Scalar]) -> str:
    """The values of a column in words, those that are most like others first."""
    if column.dtype.is_numeric():
        numbers = np.asarray(_known(column).cast(pl.Float64))
        return (
            f"{column.name} goes from {min(numbers):.10g} to {max(numbers):.10g}" if len(numbers) else "there is none"
        )
    known = [str(each) for each in column.cast(pl.String).drop_nulls().unique(maintain_order=True)]
    close = [near for each in values for near in difflib.get_close_matches(_text(each), known, n=1)]
    names = list(dict.fromkeys([*close, *known]))
    return f"{column.name} is {', '.join(names[:_SHOWN])}{' ...' if len(names) > _SHOWN else ''}"


_SHOWN = 8
"""So many values are named."""


def _among(column: Floats, numbers: list[int | float]) -> npt.NDArray[np.bool_]:
    """Whether a column has one of these numbers; a range such as 90000..134100 is tested by its ends."""
    if numbers and numbers == list(range(int(numbers[0]), int(numbers[0]) + len(numbers))):
        among: npt.NDArray[np.bool_] = (column >= numbers[0]) & (column <= numbers[-1]) & (column == np.floor(column))
        return among
    return np.isin(column, np.array(numbers, dtype=np.float64))


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def tables(experiment: ScenarioFile, row: Mapping[str, Scalar]) -> frozenset[str]:
    """The result tables of a run that the columns, plots and claims of an experiment read."""
    needed = {column.table for column in experiment.columns}
    for plot in experiment.document.plot:
        if matches(row, plot.where) and plot.seed in (None, row["seed"]):
            needed.add(plot.table)
    needed |= {claim.table for claim in experiment.document.cases}
    return frozenset(table for table in needed if table is not None)


def extended(
    row: dict[str, Any], columns: list[Column], table: Table, going_on: never_ended.GoingOn | None = None
) -> dict[str, Any]:
    """A run's row with the experiment's own columns.

    Args:
        row: The run's totals.
        columns: The experiment's own columns.
        table: The run's result tables.
        going_on: The groups of :func:`fanin.results.never_ended.going_on`, if what never ended takes infinitely long;
            without them it is left out.

    """
    table = functools.cache(table)  # Several columns may read the same table.
    for column in columns:
        row[column.id] = (
            evaluate(column.formula, _numbers(row, column.inputs))
            if column.formula
            else _taken(column, table, going_on)
        )
    return row


def _numbers(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Those of some columns that are numbers, or scenario values with a unit."""
    found = {name: quantity(row.get(name)) for name in names}
    return {name: value[0] for name, value in found.items() if value is not None}


_OF_ALL = re.compile(r"mean|sum|min|max|p\d.*")
"""Reductions in which what never ended takes infinitely long; the others are of what has ended."""


def _taken(column: Column, table: Table, going_on: never_ended.GoingOn | None) -> float | None:
    """The number that a column takes from a result table; none if no row has a value."""
    assert column.of is not None
    name, _, of = column.of.partition(".")
    whole = table(name)
    # To pick rows of all columns would take most of the time.
    read = {of, column.time, column.weight, column.by, *column.rows, *never_ended.READ}
    rows = filtered(whole[[each for each in whole.columns if each in read]], column.rows)
    if column.between is not None:
        first, last = column.between
        times = np.asarray(rows[column.time])
        rows = rows[np.flatnonzero((times >= first) & (times < last))]
    if going_on is not None and _OF_ALL.fullmatch(column.take):
        rows = never_ended.filled(rows, name, of, going_on)
    if column.weight is not None:
        return _weighted_mean(rows, column, of)
    if column.take == "time-share":
        return _time_share(rows, column, of)
    values = np.asarray(_known(rows[of]).cast(pl.Float64))
    if column.take == "count":
        return float(len(values))
    if not len(values):
        return 0.0 if column.take in ("sum", "clusters") else None
    if column.take == "clusters":
        assert column.gap is not None
        return 1.0 + float((np.diff(np.sort(values)) > column.gap).sum())
    return _REDUCE[column.take](values) if column.take in _REDUCE else percentile(values, float(column.take[1:]))


def _known(values: pl.Series) -> pl.Series:
    """The values that are not null. A query of a small table takes longer than all else that is done with it."""
    return values.drop_nulls() if values.null_count() else values


def _weighted_mean(rows: pl.DataFrame, column: Column, of: str) -> float | None:
    """The mean of each part's values, weighted by the part's weights; none if the weights add up to zero.

    Parts are added up in the order in which the column lists them, so that equal tables give equal bits.
    """
    assert column.weight is not None
    assert column.by is not None
    weighted = total = 0.0
    for part in column.rows[column.by]:
        pairs = filtered(rows, {column.by: [part]}).select(of, column.weight).cast(pl.Float64).drop_nulls()
        if len(pairs):
            weight = float(np.asarray(pairs[column.weight]).sum())
            weighted += weight * float(np.asarray(pairs[of]).sum()) / len(pairs)
            total += weight
    return weighted / total if total else None


def _time_share(rows: pl.DataFrame, column: Column, of: str) -> float | None:
    """The share of the time in which the value is below the column's bound; none if no time passes.

    A value is held until the next row of the same part. How long the last one of a part is held is not in the table,
    so it does not count.
    """
    assert column.below is not None
    following = pl.col(column.time).shift(-1)
    if column.by is not None:
        following = following.over(column.by)
    held = rows.sort(column.time, maintain_order=True).select(
        value=pl.col(of).cast(pl.Float64), time=following - pl.col(column.time)
    )
    held = held.drop_nulls()
    total = float(held["time"].sum())
    return float(held.filter(pl.col("value") < column.below)["time"].sum()) / total if total else None


def jain(values: Floats) -> float | None:
    """Jain, Chiu and Hawe's index: one if all are equal, 1/n if one has everything; none if all are zero.

    Scaled by the largest value, as in the engine, so that neither very large nor very small values lose precision.
    """
    largest = float(np.abs(values).max())
    if largest == 0:
        return None
    scaled = values / largest
    return float(scaled.sum()) ** 2 / (len(values) * float((scaled**2).sum()))


_REDUCE: dict[str, Callable[[Floats], float | None]] = {
    "mean": lambda values: float(values.mean()),
    "sum": lambda values: float(values.sum()),
    "min": lambda values: float(values.min()),
    "max": lambda values: float(values.max()),
    "std": lambda values: float(values.std(ddof=1)) if len(values) > 1 else 0.0,
    "first": lambda values: float(values[0]),
    "last": lambda values: float(values[-1]),
    "share": lambda values: float((values > 0).mean()),
    "jain": jain,
}
"""Name -> reduction of the values of a table's rows to one number."""
