"""The data of a plot as a table: one row per line and x value."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from fanin.errors import FaninError
from fanin.later import np, pl
from fanin.numbers.stats import FEWEST, spread
from fanin.numbers.summary import CAPACITY, ColumnInfo, column, is_within_capacity, most
from fanin.results.columns import Labels, describe, filtered
from fanin.results.curves import Drawable, axis_of, in_intervals, numeric, table_rows
from fanin.scenario.format.plot import CATEGORICAL, GRIDS, Plot
from fanin.scenario.format.values import Scalar

_KILOBYTES_FROM = 10_000
"""From this many bytes on, values are shown in kilobytes."""

_MAX_POINTS = 2000
"""Most points of a line: more cannot be distinguished on paper."""

_SHARE = ColumnInfo("Share not above", "", "1", "%", 100.0)

_NO_SHARES = pl.DataFrame(schema={"by": pl.String, "x": pl.Float64, "share": pl.Float64})


@dataclass(frozen=True)
class Bound:
    """What no value can be above, or below what nothing happens: a rate or a buffer, drawn as a line."""

    label: str
    at: float
    """In stored units."""
    axis: Literal["x", "y"] = "y"


@dataclass(frozen=True)
class Series:
    """A plot's lines, in stored units, and how to show its axes."""

    data: pl.DataFrame
    """``by x mean half low high runs``: ``half`` is half the width of the 95 % interval over the seeds, null for fewer
    than three or where that interval cannot be; ``low`` and ``high``, if there are any, are the ends of what is drawn:
    whiskers of a plot's own, intervals, quantiles where an interval cannot be, or the
    smallest and the largest of few seeds on a logarithmic axis. A distribution has ``by x share``."""
    x: ColumnInfo
    y: ColumnInfo
    bounds: tuple[Bound, ...] = ()
    sample: str = ""
    """Of how many seeds it is, and of how many queries of each if it shows a quantile of these."""

    @functools.cached_property
    def lines(self) -> list[str]:
        """Names of the lines, in order."""
        return list(dict.fromkeys(self.data["by"].to_list()))


_ACRONYMS = {"rto": "RTO", "mss": "MSS", "ecn": "ECN", "gro": "GRO", "red": "RED"}


def named(path: str) -> str:
    """A scenario value as an axis calls it: ``network.shared-buffer`` is "Shared buffer"."""
    words = [_ACRONYMS.get(word, word) for word in path.rpartition(".")[2].split("-")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def is_uneven(values: Iterable[float]) -> bool:
    """Whether numbers lie so unevenly that a linear axis would not show them apart; for no negative ones."""
    ordered = sorted(set(values))
    gaps = [high - low for low, high in pairwise(ordered)]
    return bool(gaps) and ordered[0] >= 0 and max(gaps) > _UNEVEN * min(gaps)


_UNEVEN = 8
"""So many times as far as the nearest two, some numbers lie apart on an axis that is to be logarithmic."""


def series_of(plot: Plot, runs: Drawable, frame: pl.DataFrame, *, partial: bool = False) -> Series:
    """The data of a plot.

    Args:
        plot: Which.
        runs: The runs, for what is drawn from their result tables.
        frame: Their table.
        partial: Whether lines may be missing, as in a quick look that leaves out variants.

    Raises:
        FaninError: the runs have no such column or no such rows.

    """
    match plot.kind:
        case "cdf":
            drawn = _distribution(plot, runs, frame)
        case "time":
            drawn = _over_time(plot, runs)
        case "lanes":
            drawn = _lanes(plot, runs)
        case _:
            return means(plot, runs.labels, frame, partial=partial)
    return readable(renamed(plot, drawn, partial=partial))


def has_rows(plot: Plot, runs: Drawable, frame: pl.DataFrame) -> bool:
    """Whether the runs have rows for a plot, be there values in these or not; arguments as :func:`series_of`."""
    where = one_seed(plot)
    found = filtered(frame, where) if plot.table is None else table_rows(runs, plot.table, where, plot.rows)
    return not found.is_empty()


def renamed(plot: Plot, drawn: Series, *, partial: bool = False) -> Series:
    """The same series with the names that the plot gives to its lines; ``partial``: some may be missing."""
    if drawn.lines and not partial:
        _refuse_missing(plot, drawn.lines)
    return replace(drawn, data=drawn.data.with_columns(pl.col("by").replace(plot.names))) if plot.names else drawn


def _refuse_missing(plot: Plot, lines: list[str]) -> None:
    """Refuses names and published values of lines that are not there."""
    if missing := plot.names.keys() - lines:
        raise FaninError(f"plot {plot.name}: names: {sorted(missing)[0]!r} is no line; there are {lines}")
    named = [plot.names.get(line, line) for line in lines]
    for each in plot.published:
        if each.by is not None and each.by not in named:
            raise FaninError(f"plot {plot.name}: published {each.by!r} is no line; there are {named}")


def readable(drawn: Series) -> Series:
    """The same series with large numbers of bytes in KB or MB."""
    return replace(drawn, x=_in_thousands(drawn.x, drawn.data, "x"), y=_in_thousands(drawn.y, drawn.data, "mean"))


def _in_thousands(how: ColumnInfo, data: pl.DataFrame, name: str) -> ColumnInfo:
    """Shows bytes in KB or MB if the numbers are large."""
    if how.shown_as != "B" or name not in data.columns or not data.schema[name].is_numeric():
        return how
    most = data[name].max()
    if not isinstance(most, int | float) or most < _KILOBYTES_FROM:
        return how
    unit, scale = ("MB", 1e-6) if most >= 1000 * _KILOBYTES_FROM else ("KB", 1e-3)
    return replace(how, shown_as=unit, scale=scale)


def means(plot: Plot, own: Labels, frame: pl.DataFrame, *, partial: bool = False) -> Series:
    """Means over the seeds, for lines and bars, which need only the table of runs.

    Args:
        plot: Which.
        own: What the experiment says of its own columns.
        frame: The table of runs.
        partial: Whether lines may be missing, as in a quick look that leaves out variants.

    Raises:
        FaninError: there is no such column.

    """
    assert plot.x is not None
    assert plot.y is not None
    for name in (plot.x, *plot.y, *plot.by, *(plot.spread or ())):
        if name not in frame.columns:
            raise FaninError(f"plot {plot.name}: the runs have no column {name}; they have {', '.join(frame.columns)}")
    how = axis_of(frame, plot.x, describe(own, plot.x))
    chosen = filtered(frame, plot.where)
    if plot.kind == "line":
        chosen = numeric(chosen, plot.x)
        if not chosen.schema[plot.x].is_numeric() and not chosen.is_empty():
            raise FaninError(f'plot {plot.name}: the values of {plot.x} are not numbers; use kind = "bars"')
    labels = _distinct_parts([describe(own, name) for name in plot.y])
    ends = dict(zip(("low", "high"), plot.spread, strict=True)) if plot.spread else {}
    rows = []
    for name, label in zip(plot.y, labels, strict=True):
        points = chosen.select(
            named_lines(chosen, plot.by, label).alias("by"),
            pl.col(plot.x).alias("x"),
            pl.col(name).cast(pl.Float64).alias("y"),
            pl.col("seed"),
            *(pl.col(end).cast(pl.Float64).alias(key) for key, end in ends.items()),
            _most(chosen, name).alias("most"),
        ).drop_nulls(["x", "y"])
        rows += _summaries(plot, _relative(plot, points, partial=partial) if plot.relative_to else points)
    data = _table(rows, chosen.schema[plot.x])
    if plot.kind == "line":
        order = {line: index for index, line in enumerate(dict.fromkeys(data["by"]))}
        data = data.sort(pl.col("by").replace_strict(order, return_dtype=pl.Int64), "x") if order else data
    if plot.kind in CATEGORICAL and frame.schema[plot.x] == pl.String:
        # Values such as "64KB" name their unit themselves.
        how = replace(how, shown_as="", scale=1.0)
    return readable(renamed(plot, Series(data, how, _y_axis(plot, own)), partial=partial))


def _most(frame: pl.DataFrame, name: str) -> pl.Expr:
    """What no value of a column can be above."""
    if is_within_capacity(name) and CAPACITY in frame.columns:
        return pl.col(CAPACITY).cast(pl.Float64).fill_null(math.inf)
    return pl.lit(most(name))


def _y_axis(plot: Plot, own: Labels) -> ColumnInfo:
    """The axis of a plot with several measures: what their labels and definitions have in common."""
    every = [describe(own, name) for name in plot.y or []]
    label, definition = every[0].label, every[0].definition
    if len(every) > 1:
        shared = [part for part in label.split(", ") if all(part in each.label.split(", ") for each in every)]
        label = ", ".join(shared) or label
        definition = definition if len({each.definition for each in every}) == 1 else ""
    if plot.relative_to:
        return ColumnInfo(f"{label}, relative to {plot.relative_to}", definition)
    return ColumnInfo(label, definition, every[0].unit, every[0].shown_as, every[0].scale)


def _distinct_parts(columns: list[ColumnInfo]) -> list[str]:
    """The parts that distinguish labels such as "Queue, mean" and "Queue, median"; empty for a single label."""
    if len(columns) == 1:
        return [""]
    labels = [each.label for each in columns]
    if len(set(labels)) < len(labels):
        return [each.definition or each.label for each in columns]
    parts = [label.split(", ") for label in labels]
    shared = set.intersection(*map(set, parts))
    own = [", ".join(part for part in each if part not in shared) for each in parts]
    return [short or label for short, label in zip(own, labels, strict=True)]


def named_lines(frame: pl.DataFrame, by: Iterable[str], label: str = "") -> pl.Expr:
    """The name of a row's line: the values of what varies, and the measure if there are several."""
    parts = []
    for name in by:
        shown = pl.col(name).cast(pl.String)
        bare = all(_is_bare(str(value)) for value in frame[name].unique())
        parts.append(pl.format(f"{name.rsplit('.', 1)[-1]} = {{}}", shown) if bare else shown)
    if label:
        parts.append(pl.lit(label))
    return pl.concat_str(parts, separator=", ") if parts else pl.lit("")


def _is_bare(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return value in ("true", "false")
    return True


def _relative(plot: Plot, points: pl.DataFrame, *, partial: bool) -> pl.DataFrame:
    """Divides every value by that of the reference line with the same seed."""
    # Of a place with several rows, as in bars over all that varies, the reference is their mean.
    reference = points.filter(by=plot.relative_to).group_by("x", "seed").agg(base=pl.col("y").mean())
    if reference.is_empty() and not partial:
        names = ", ".join(points["by"].unique(maintain_order=True))
        raise FaninError(f"plot {plot.name}: relative-to: no line {plot.relative_to}; there are {names}")
    joined = points.join(reference, on=["x", "seed"], maintain_order="left").filter(pl.col("base") != 0)
    ends = [name for name in ("low", "high") if name in points.columns]
    return joined.with_columns(pl.col("y", *ends) / pl.col("base"), most=pl.lit(math.inf)).drop("base")


FEW_SEEDS = 5
"""Intervals of the mean over fewer seeds are wider than all that the seeds gave, and fill a logarithmic axis."""


def _summaries(plot: Plot, points: pl.DataFrame) -> list[dict[str, Any]]:
    """The mean over the seeds of each line and x; there is no place for those that are infinite."""
    ends = [end for end in ("low", "high") if end in points.columns]
    # A frame for each of thousands of groups would take most of the time.
    limit = pl.col("most").max() if "most" in points.columns else pl.lit(math.inf).alias("most")
    groups = points.group_by("by", "x", maintain_order=True).agg("y", pl.col(ends).mean(), limit)
    rows = []
    for row in groups.iter_rows(named=True):
        values = np.array(row.pop("y"))
        found = spread(values, row.pop("most"))
        if not all(map(math.isfinite, (found.mean, *(row[end] or 0.0 for end in ends)))):
            continue
        if ends:
            pass
        elif found.quantiles:
            row |= {"low": found.low, "high": found.high}
        elif plot.y_scale == "log" and FEWEST <= len(values) < FEW_SEEDS:
            row |= {"low": float(values.min()), "high": float(values.max())}
        half = None if math.isnan(found.half) else found.half
        rows.append(row | {"mean": found.mean, "half": half, "runs": len(values)})
    if any("low" in row for row in rows):
        for row in rows:
            half = row["half"]
            interval = (None, None) if half is None else (row["mean"] - half, row["mean"] + half)
            row.setdefault("low", interval[0])
            row.setdefault("high", interval[1])
    return rows


def _table(rows: list[dict[str, Any]], x: pl.DataType) -> pl.DataFrame:
    schema: dict[str, Any] = {"by": pl.String, "x": x, "mean": pl.Float64, "half": pl.Float64}
    if any("low" in row for row in rows):
        schema |= {"low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema={**schema, "runs": pl.Int64})


def one_seed(plot: Plot) -> dict[str, list[Scalar]]:
    """The runs to draw: those of one seed if the plot names one."""
    return plot.where if plot.seed is None else {**plot.where, "seed": [plot.seed]}


def _distribution(plot: Plot, runs: Drawable, frame: pl.DataFrame) -> Series:
    """The share of values that do not exceed x."""
    assert plot.x is not None
    where = one_seed(plot)
    if plot.table is None:
        chosen, name = filtered(frame, where), plot.x
    else:
        name = plot.x.partition(".")[2]
        chosen = table_rows(runs, plot.table, where, plot.rows, name)
    if chosen.is_empty():
        return Series(_NO_SHARES, describe(runs.labels, plot.x), _SHARE)
    parts = []
    lines = chosen.select(
        named_lines(chosen, plot.by).alias("by"), pl.col(name).cast(pl.Float64).alias("x")
    ).drop_nulls()
    for (line,), group in lines.group_by("by", maintain_order=True):
        values = np.sort(np.asarray(group["x"]))
        share = np.arange(1, len(values) + 1) / len(values)
        # What never ended counts, but has no place.
        finite = int(np.isfinite(values).sum())
        kept = np.unique(np.linspace(0, finite - 1, min(finite, _MAX_POINTS)).round().astype(int))
        parts.append(pl.DataFrame({"by": [line] * len(kept), "x": values[kept], "share": share[kept]}))
    return Series(pl.concat([_NO_SHARES, *parts]), describe(runs.labels, plot.x), _SHARE)


_TRANSFER = ColumnInfo("Transfer, in order of start")


def _lanes(plot: Plot, runs: Drawable) -> Series:
    """The transfers of each line, one above the other in the order in which they start."""
    rows = table_rows(runs, "flows", one_seed(plot), plot.rows, "start_s")
    if rows.is_empty():
        return Series(_NO_LANES, column("time_s"), _TRANSFER)
    found = rows.select(
        named_lines(rows, plot.by).alias("by"),
        pl.col("start_s").alias("x"),
        # What did not end is drawn to the end of what did.
        pl.col("completion_s").fill_null(pl.max_horizontal(pl.col("completion_s").max(), "start_s")).alias("end"),
        pl.col("completion_s").is_not_null().alias("ended"),
        # A probe that comes soon is no wait.
        ((pl.col("timeouts") > 0) | (pl.col("probe_wait_s") > pl.col("fct_s") / 2).fill_null(False)).alias("waited"),
    )
    order = {line: index for index, line in enumerate(dict.fromkeys(found["by"]))}
    found = found.sort(pl.col("by").replace_strict(order, return_dtype=pl.Int64), "x", "end", maintain_order=True)
    lanes = found.with_columns(pl.int_range(1, pl.len() + 1).cast(pl.Float64).alias("mean"))
    return Series(lanes.select(_NO_LANES.columns), column("time_s"), _TRANSFER)


_NO_LANES = pl.DataFrame(
    schema={
        "by": pl.String,
        "x": pl.Float64,
        "end": pl.Float64,
        "mean": pl.Float64,
        "waited": pl.Boolean,
        "ended": pl.Boolean,
    }
)


def _over_time(plot: Plot, runs: Drawable) -> Series:
    """A result table over time: the mean over the seeds, or one run."""
    assert plot.table is not None
    assert plot.y is not None
    x = plot.x or "time_s"
    names = [name.partition(".")[2] for name in plot.y]
    where = one_seed(plot)
    rows = table_rows(runs, plot.table, where, plot.rows, x)
    if rows.is_empty():
        return Series(_table([], pl.Float64()), column(x), _y_axis(plot, runs.labels))
    labels = _distinct_parts([column(name) for name in names])
    found = []
    for name, label in zip(names, labels, strict=True):
        points = rows.select(
            named_lines(rows, plot.by, label).alias("by"),
            pl.col(x).alias("x"),
            pl.col(name).cast(pl.Float64).alias("y"),
            pl.col("seed"),
        ).drop_nulls()
        if plot.total:
            points = points.group_by("by", "x", "seed", maintain_order=True).agg(pl.col("y").sum())
        points = in_intervals(points, "x", plot.every)
        if plot.table in GRIDS or plot.every is not None:
            points = points.group_by("by", "x", "seed", maintain_order=True).agg(pl.col("y").mean())
            found.append(_table(_summaries(plot, points), pl.Float64()))
        else:
            for (line,), group in points.group_by("by", maintain_order=True):
                ordered = group.sort("x", maintain_order=True)
                found.append(_thinned(str(line), _shown(ordered, plot.x_range)))
    return Series(pl.concat(found) if found else _table([], pl.Float64()), column(x), _y_axis(plot, runs.labels))


def _shown(points: pl.DataFrame, span: tuple[float, float] | None) -> pl.DataFrame:
    """Of points in order, those in the part of the axis that is shown, and on each side the next, where lines lead."""
    if span is None:
        return points
    first = max(points["x"].search_sorted(span[0], "left") - 1, 0)
    last = points["x"].search_sorted(span[1], "right")
    return points[first : last + 1]


def _thinned(line: str, points: pl.DataFrame) -> pl.DataFrame:
    """One run's points in order of time; too many are reduced to the first, smallest, largest and last per interval."""
    if len(points) > _MAX_POINTS:
        parts = np.array_split(np.arange(len(points)), _MAX_POINTS // 4)
        y = np.asarray(points["y"])
        kept = {int(i) for part in parts for i in (part[0], part[y[part].argmin()], part[y[part].argmax()], part[-1])}
        points = points[sorted(kept)]
    nothing = pl.lit(None, pl.Float64)
    return points.select(
        pl.lit(line).alias("by"),
        "x",
        pl.col("y").alias("mean"),
        nothing.alias("half"),
        pl.lit(1, pl.Int64).alias("runs"),
    )
