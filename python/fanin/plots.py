"""Plots of an experiment's runs: PNG, SVG and the CSV of what is drawn.

The same runs give the same bytes: no dates, no random identifiers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fanin.errors import FaninError
from fanin.scenario import Plot, Published
from fanin.stats import mean_interval
from fanin.store import writing
from fanin.summary import column

# Okabe and Ito's colours, which people with any common colour blindness can tell apart, black last.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_BROKEN = (":", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 150,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "fanin",
}


def series(plot: Plot, runs: pl.DataFrame) -> pl.DataFrame:
    """What a plot shows, in stored units: ``by x mean half runs``, one row per line and x.

    ``half`` is half the width of the 95 % interval over the seeds; it is null for fewer than three runs.

    Raises:
        FaninError: the runs have no such column.

    """
    for name in (plot.x, plot.y, *([plot.by] if plot.by else [])):
        if name not in runs.columns:
            raise FaninError(f"plot {plot.name}: the runs have no column {name}; they have {', '.join(runs.columns)}")
    by = pl.col(plot.by).cast(pl.String) if plot.by else pl.lit("")
    points = runs.select(by=by, x=pl.col(plot.x), y=pl.col(plot.y).cast(pl.Float64)).drop_nulls()
    rows = []
    for (line, x), group in points.group_by("by", "x", maintain_order=True):
        mean, half = mean_interval(group["y"].to_numpy())
        rows.append({"by": line, "x": x, "mean": mean, "half": None if math.isnan(half) else half, "runs": len(group)})
    lines = list(dict.fromkeys(points["by"]))
    order = pl.col("by").replace_strict(lines, range(len(lines)), return_dtype=pl.Int64)
    schema: dict[str, Any] = {
        "by": pl.String,
        "x": points.schema["x"],
        "mean": pl.Float64,
        "half": pl.Float64,
        "runs": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema).sort(order, "x")


def draw(plot: Plot, runs: pl.DataFrame, folder: Path) -> list[Path]:
    """Writes ``<name>.png``, ``<name>.svg`` and ``<name>.csv`` into the folder.

    Raises:
        FaninError: the runs have no such column.
        ResultsError: the folder cannot be written.

    """
    data = series(plot, runs)
    paths = [folder / f"{plot.name}.{suffix}" for suffix in ("png", "svg", "csv")]
    with mpl.rc_context(_STYLE), writing(folder):
        figure = _figure(plot, data)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(paths[0], metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None, "Creator": "fanin"})
        data.write_csv(paths[2])
    return paths


def _figure(plot: Plot, data: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    how = column(plot.y)
    names = line_names(plot, data)
    for index, ((line,), group) in enumerate(data.group_by("by", maintain_order=True)):
        colour, marker = _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]
        x = group["x"].cast(pl.Float64).to_numpy()
        mean = group["mean"].to_numpy() * how.scale
        half = np.nan_to_num(group["half"].cast(pl.Float64).to_numpy()) * how.scale
        axes.plot(x, mean, color=colour, marker=marker, markersize=3.5, linewidth=1.4, label=names[line] or None)
        axes.fill_between(x, np.maximum(mean - half, 0), mean + half, color=colour, alpha=0.2, linewidth=0)
    above = 0
    for index, published in enumerate(plot.published):
        _draw_published(axes, published, how.scale, index)
        if published.x is not None and published.y is None:
            # One above the other, so that near ones do not collide.
            place = (published.x, 1.01 + 0.045 * above)
            axes.text(*place, published.label, transform=axes.get_xaxis_transform(), ha="center", fontsize=7)
            above += 1
    axes.set_xlabel(plot.x_label or column(plot.x).axis)
    axes.set_ylabel(plot.y_label or how.axis)
    axes.set_ylim(bottom=0)
    axes.set_title(plot.title, fontsize=10, pad=6 + 12 * above)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    return figure


def line_names(plot: Plot, data: pl.DataFrame) -> dict[str, str]:
    """Each line's name; a bare number or truth value with the name of what varies."""
    lines = list(dict.fromkeys(data["by"]))
    if plot.by is None or not all(_is_bare(line) for line in lines):
        return {line: line for line in lines}
    what = plot.by.rsplit(".", 1)[-1]
    return {line: f"{what} = {line}" for line in lines}


def _is_bare(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return value in ("true", "false")
    return True


def _draw_published(axes: Axes, published: Published, scale: float, index: int) -> None:
    """A hollow mark, or a broken line where the paper gives one coordinate only."""
    label = f"{published.label} (published)"
    style: dict[str, Any] = {"color": "black", "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
    if published.x is None and published.y is not None:
        axes.axhline(published.y * scale, label=label, **style)
    elif published.y is None and published.x is not None:
        axes.axvline(published.x, label=label, **style)
    elif published.x is not None and published.y is not None:
        axes.plot(
            published.x,
            published.y * scale,
            linestyle="none",
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=9,
            markerfacecolor="none",
            markeredgecolor="black",
            label=label,
        )
