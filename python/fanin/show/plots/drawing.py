"""Draws the lines, bars and bands of a plot, and holds their style: colours, markers, dashes, fonts."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fanin.errors import FaninError
from fanin.later import np, pl
from fanin.numbers.stats import Floats
from fanin.results.files import writing
from fanin.scenario.format.plot import Plot, Published
from fanin.show.plots.series import Series

# Okabe and Ito's colours, which people with any common colour blindness can distinguish, and three more at the end.
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999999", "#B8A800",
)  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_LEGEND = 96
"""Characters that fit in one row of a legend; each line's sample takes six."""

_TITLE = 80
"""Characters of a title that fit in one line."""

_BROKEN = (":", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
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


def draw(plot: Plot, drawn: Series, folder: Path, *, png: bool = True) -> list[Path]:
    """Writes ``<name>.png`` if asked to, ``<name>.svg`` and ``<name>.csv`` into the folder.

    Raises:
        FaninError: a published curve is of a line that the plot does not have.
        ResultsError: the folder cannot be written.

    """
    with mpl.rc_context(STYLE):
        return save(_figure(plot, drawn), drawn.data, folder, plot.name, png=png)


def save(figure: Figure, table: pl.DataFrame | None, folder: Path, name: str, *, png: bool = True) -> list[Path]:
    """Writes a figure and its data, the same bytes for the same figure; returns the files.

    Args:
        figure: What to draw.
        table: What it shows, if that is to be a CSV.
        folder: Where to.
        name: Of all files, without their ends.
        png: Whether to write a PNG beside the SVG, which takes as long again.

    Raises:
        ResultsError: the folder cannot be written.

    """
    bitmap, drawing, data = (folder / f"{name}.{suffix}" for suffix in ("png", "svg", "csv"))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if png:
            # `Figure.savefig` draws all of it twice for each picture, and finds the layout each time.
            FigureCanvasAgg(figure).print_png(bitmap, metadata={"Software": None})
            figure.set_layout_engine("none")
        else:
            # One that was drawn earlier would show other numbers than the SVG.
            bitmap.unlink(missing_ok=True)
        FigureCanvasSVG(figure).print_svg(drawing, metadata={"Date": None, "Creator": "fanin"})
        if table is not None:
            table.write_csv(data)
    return [*([bitmap] if png else []), drawing, *([data] if table is not None else [])]


def _figure(plot: Plot, drawn: Series) -> Figure:
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale(plot.x_scale)
    axes.set_yscale(plot.y_scale)
    _KINDS[plot.kind](axes, plot, drawn)
    above = _draw_all_published(axes, plot, drawn)
    axes.set_xlabel(_wrapped(drawn.x.axis(plot.x_label), 80))
    axes.set_ylabel(_wrapped(drawn.y.axis(plot.y_label), 52))
    _set_ranges(axes, plot, drawn)
    _set_ticks(axes, plot, drawn)
    _draw_legend(figure, axes, plot, above)
    if plot.note:
        figure.supxlabel(plot.note, fontsize=7, wrap=True)
    if drawn.data.is_empty():
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "none of the runs is of this", transform=axes.transAxes, ha="center")
    return figure


def _set_ranges(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Sets the range of each axis, slightly wider than asked for, so that a line at its end is not cut off."""
    if plot.y_scale == "linear":
        axes.set_ylim(bottom=0)
    if plot.x_range is not None:
        axes.set_xlim(plot.x_range[0] * drawn.x.scale, plot.x_range[1] * drawn.x.scale)
    if plot.y_range is not None:
        low, high = (limit * drawn.y.scale for limit in plot.y_range)
        axes.set_ylim(low, high + (0.015 * (high - low) if plot.y_scale == "linear" else 0.0))


def _set_ticks(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Labels ticks with whole numbers if all values are whole, and logarithmic axes without powers of ten."""
    if plot.kind == "line" and plot.x_scale == "linear" and drawn.data["x"].dtype.is_integer():
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis, scale in ((axes.xaxis, plot.x_scale), (axes.yaxis, plot.y_scale)):
        if scale == "log":
            low, high = sorted(axis.get_view_interval())
            # Over many decades only the powers of ten have room for a number.
            named = (2, 5) if high < 300 * low else ()
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
            axis.set_minor_formatter(_named_minor(named))


def _named_minor(digits: tuple[int, ...]) -> Callable[[float, float], str]:
    def text(value: float, _: float) -> str:
        first = round(value / 10.0 ** np.floor(np.log10(value) + 1e-9), 6)
        return f"{value:,.10g}" if first in digits else ""

    return text


def _draw_legend(figure: Figure, axes: Axes, plot: Plot, above: int) -> None:
    """Puts the title above the axes and the legend between them, in as few rows as possible."""
    labels = axes.get_legend_handles_labels()[1]
    if not labels:
        axes.set_title(_wrapped(plot.title, _TITLE), fontsize=10, pad=6 + 12 * above)
        return
    columns = max(int(_LEGEND / (6 + max(map(len, labels)))), 1)
    columns = min(columns, len(labels))
    # As many columns as the rows that are needed anyway ask for.
    rows = -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + 0.17 * rows)
    axes.legend(
        fontsize=8,
        ncols=-(-len(labels) // rows),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.01 + 0.05 * above),
        borderaxespad=0.2,
        columnspacing=1.4,
    )
    figure.suptitle(_wrapped(plot.title, _TITLE), fontsize=10)


def _wrapped(label: str, width: int) -> str:
    """Wraps a title or an axis label to the number of characters that fit the figure or the axis."""
    return "\n".join(textwrap.fill(line, width) for line in label.splitlines())


def _style(index: int) -> tuple[str, str]:
    return _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]


def _groups(drawn: Series) -> list[tuple[int, str, pl.DataFrame]]:
    return [(index, line, drawn.data.filter(by=line)) for index, line in enumerate(drawn.lines)]


def _ends(group: pl.DataFrame, drawn: Series) -> tuple[Any, Any, Any]:
    """Mean, and lower and upper end of the interval or of the whiskers, in display units."""
    mean = group["mean"].to_numpy() * drawn.y.scale
    if "low" in group.columns:
        return mean, group["low"].to_numpy() * drawn.y.scale, group["high"].to_numpy() * drawn.y.scale
    # Where there is no interval nothing is drawn of it.
    half = group["half"].cast(pl.Float64).fill_null(np.nan).to_numpy() * drawn.y.scale
    return mean, np.maximum(mean - half, 0), mean + half


def _draw_lines(axes: Axes, plot: Plot, drawn: Series) -> None:
    for index, line, group in _groups(drawn):
        colour, marker = _style(index)
        x = group["x"].cast(pl.Float64).to_numpy() * drawn.x.scale
        mean, low, high = _ends(group, drawn)
        more = _wider(index, drawn)
        size: dict[str, Any] = {"markersize": 3.5 + more, "linewidth": 1.4 + more}
        axes.plot(x, mean, color=colour, marker=marker, label=line or None, **size)
        if plot.spread:
            ends = np.maximum([mean - low, high - mean], 0)
            axes.errorbar(x, mean, yerr=ends, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
        else:
            axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


def _wider(index: int, drawn: Series) -> float:
    """Extra width of earlier lines, so that they remain visible under equal lines drawn later."""
    return 1.8 * (1 - index / (len(drawn.lines) - 1)) if len(drawn.lines) > 1 else 0.0


def _draw_bars(axes: Axes, plot: Plot, drawn: Series) -> None:
    places = list(dict.fromkeys(drawn.data["x"]))
    width = 0.8 / max(len(drawn.lines), 1)
    for index, line, group in _groups(drawn):
        at = np.array([places.index(x) for x in group["x"]]) + (index - (len(drawn.lines) - 1) / 2) * width
        mean, low, high = _ends(group, drawn)
        ends = np.maximum([mean - low, high - mean], 0)
        axes.bar(
            at, mean, width, color=_style(index)[0], yerr=ends, capsize=2, error_kw={"lw": 0.8}, label=line or None
        )
    room = max(84 // max(len(places), 1), 6)
    axes.set_xticks(range(len(places)), [textwrap.fill(_place(x, drawn), room) for x in places])


def _place(x: object, drawn: Series) -> str:
    return f"{x * drawn.x.scale:g}" if isinstance(x, int | float) else str(x)


def _draw_distributions(axes: Axes, plot: Plot, drawn: Series) -> None:
    for index, line, group in _groups(drawn):
        x = group["x"].to_numpy() * drawn.x.scale
        share = group["share"].to_numpy() * drawn.y.scale
        start = (x[:1], np.zeros(1))
        axes.plot(
            np.concatenate([start[0], x]),
            np.concatenate([start[1], share]),
            color=_style(index)[0],
            drawstyle="steps-post",
            linewidth=1.4 + _wider(index, drawn),
            label=line or None,
        )
    axes.set_ylim(top=102)


def _draw_times(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Draws traces as steps, intervals as lines and single events as dots."""
    for index, line, group in _groups(drawn):
        colour = _style(index)[0]
        x = group["x"].to_numpy() * drawn.x.scale
        mean, low, high = _ends(group, drawn)
        if plot.table in ("flows", "requests", "drops") and plot.every is None:
            axes.plot(x, mean, ".", color=colour, markersize=3, label=line or None)
            continue
        traced = plot.table in ("queue-trace", "probes", "switch-probes", "host-probes") and plot.every is None
        axes.plot(
            x,
            mean,
            color=colour,
            linewidth=1 + _wider(index, drawn) / 2,
            drawstyle="steps-post" if traced else "default",
            label=line or None,
        )
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


_KINDS: dict[str, Callable[[Axes, Plot, Series], None]] = {
    "line": _draw_lines,
    "bars": _draw_bars,
    "cdf": _draw_distributions,
    "time": _draw_times,
}


def _draw_all_published(axes: Axes, plot: Plot, drawn: Series) -> int:
    """Draws the published numbers; returns the number of labels above the axes."""
    above = 0
    for index, published in enumerate(plot.published):
        if published.x and not published.y:
            for place_x in published.x:
                style: dict[str, Any] = {"color": "black", "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
                axes.axvline(place_x * drawn.x.scale, **style)
                # One above the other, so that near ones do not collide.
                place = (place_x * drawn.x.scale, 1.01 + 0.045 * above)
                axes.text(
                    *place,
                    f"{published.label} (published)",
                    transform=axes.get_xaxis_transform(),
                    ha="center",
                    fontsize=7,
                )
            above += 1
            continue
        _draw_published(axes, plot, drawn, published, index)
    return above


def _draw_published(axes: Axes, plot: Plot, drawn: Series, published: Published, index: int) -> None:
    """Draws hollow markers, or dashed lines if the paper gives only levels."""
    label = f"{published.label} (published)"
    colour, marker = "black", _MARKERS[index % len(_MARKERS)]
    if published.by is not None:
        if published.by not in drawn.lines:
            raise FaninError(f"plot {plot.name}: published {published.by!r} is no line; there are {drawn.lines}")
        colour, marker = _style(drawn.lines.index(published.by))
    if not published.x:
        for level in published.y:
            style: dict[str, Any] = {"color": colour, "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
            axes.axhline(level * drawn.y.scale, label=label, **style)
        return
    x: Any = np.array(published.x) * drawn.x.scale
    if plot.kind == "bars":
        places = [_place(each, drawn) for each in dict.fromkeys(drawn.data["x"])]
        shift = drawn.lines.index(published.by) - (len(drawn.lines) - 1) / 2 if published.by else 0.0
        known = [f"{each:g}" in places for each in x]
        width = 0.8 / max(len(drawn.lines), 1)
        x = np.array([places.index(f"{each:g}") + shift * width for each, kept in zip(x, known, strict=True) if kept])
        y = np.array(published.y)[known]
    else:
        y = np.array(published.y)
    y = y / _published_base(plot, published) if plot.relative_to else y * drawn.y.scale
    axes.plot(
        x,
        y,
        linestyle=":" if len(x) > 1 and plot.kind != "bars" else "none",
        linewidth=0.8,
        color=colour,
        marker=marker,
        markersize=7,
        markerfacecolor="none",
        label=label,
    )


def _published_base(plot: Plot, published: Published) -> Floats:
    """The published values of the reference line at the x values of another line."""
    base = next((dict(zip(each.x, each.y, strict=True)) for each in plot.published if each.by == plot.relative_to), {})
    try:
        return np.array([base[x] for x in published.x])
    except KeyError as error:
        raise FaninError(f"plot {plot.name}: {plot.relative_to} has no published value at {error}") from None
