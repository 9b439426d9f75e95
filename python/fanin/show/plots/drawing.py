"""Draws the lines, bars and bands of a plot."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from matplotlib.markers import CARETUPBASE
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from fanin.errors import FaninError
from fanin.later import np, pl
from fanin.numbers.stats import Floats
from fanin.numbers.summary import format_number
from fanin.results.files import whole_file, writing
from fanin.scenario.format.plot import CATEGORICAL, Plot, Published
from fanin.show.plots import layout
from fanin.show.plots.series import FEW_SEEDS, Series
from fanin.show.plots.shared import SharedAxes, write_svg
from fanin.show.plots.styles import Style, scheme_of, styles

_BROKEN = (":", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
_HOLLOW = ("o", "s", "^", "D", "v")
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.formatter.limits": (-5, 7),
    "axes.formatter.useoffset": False,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 150,
    "font.size": 9,
    "grid.alpha": 0.3,
    "hatch.color": "white",
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    # TrueType, which publishers ask for.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "fanin",
    # Texts of a file are shown as they are; a dollar sign begins no formula.
    "text.parse_math": False,
    # Numbers at small ticks are as far from the axis as those at large ones.
    "xtick.minor.pad": 5.0,
    "ytick.minor.pad": 5.0,
}


ALSO = ("png",)
"""What is drawn beside an SVG if nothing else is asked for."""


def draw(plot: Plot, drawn: Series, folder: Path, *, also: Sequence[str] = ALSO, identifier: str = "") -> list[Path]:
    """Writes ``<name>.svg``, ``<name>.png`` or ``.pdf`` if asked to, ``<name>.csv`` and maybe a caption ``<name>.txt``.

    Raises:
        ResultsError: the folder cannot be written.

    """
    with mpl.rc_context(STYLE):
        paths = save(_figure(plot, drawn), drawn.data, folder, plot.name, also=also, identifier=identifier)
    with writing(folder):
        return [*paths, *_write_caption(plot, drawn, folder / f"{plot.name}.txt")]


def save(
    figure: Figure,
    table: pl.DataFrame | None,
    folder: Path,
    name: str,
    *,
    also: Sequence[str] = ALSO,
    identifier: str = "",
) -> list[Path]:
    """Writes a figure and its data, the same bytes for the same figure; returns the files.

    Args:
        figure: What to draw.
        table: What it shows, if that is to be a CSV.
        folder: Where to.
        name: Of all files, without their ends.
        also: The formats of further pictures beside the SVG: ``png``, which takes as long again, ``pdf``.
        identifier: What the SVG's metadata call it.

    Raises:
        ResultsError: the folder cannot be written.

    """
    drawing, data = (folder / f"{name}.{suffix}" for suffix in ("svg", "csv"))
    more = [folder / f"{name}.{suffix}" for suffix in also]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "pdf"):
            # One that was drawn earlier would show other numbers than the SVG.
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)
        for picture in more:
            _write(figure, picture)
        _write(figure, drawing, identifier)
        if table is not None:
            table.write_csv(data)
    return [*more, drawing, *([data] if table is not None else [])]


def draw_picture(plot: Plot, drawn: Series, file: Path) -> None:
    """Writes one picture in the format that the file's name ends with, one of :data:`PICTURES`.

    Raises:
        ResultsError: the file cannot be written.

    """
    with mpl.rc_context(STYLE), writing(file, "--file"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as temporary:
            _write(_figure(plot, drawn), temporary, suffix=file.suffix)
        _write_caption(plot, drawn, file.with_suffix(".txt"))


def picture(plot: Plot, drawn: Series, suffix: str) -> bytes:
    """A picture in the format of that ending, as :func:`draw_picture` writes it."""
    with mpl.rc_context(STYLE), tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"picture{suffix}")
        _write(_figure(plot, drawn), file)
        return file.read_bytes()


PICTURES = (".png", ".svg", ".pdf")
"""How names of pictures end."""


def _write(figure: Figure, file: Path, identifier: str = "", suffix: str = "") -> None:
    """Writes a picture, the same bytes for the same figure: `Figure.savefig` would draw all of it twice."""
    match suffix or file.suffix:
        case ".png":
            FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
        case ".pdf":
            # What fails in the middle of a file leaves the writer of PDF in no state to end.
            content = io.BytesIO()
            FigureCanvasPdf(figure).print_pdf(content, metadata={"CreationDate": None, "Creator": "fanin"})
            file.write_bytes(content.getvalue())
        case _:
            name = {"Identifier": identifier} if identifier else {}
            write_svg(figure, file, {"Date": None, "Creator": "fanin", **name})


def _figure(plot: Plot, drawn: Series) -> Figure:
    with layout.sized(plot.style) as size, mpl.rc_context({"font.size": size.text}):
        return _figure_of(plot, drawn, size)


def _figure_of(plot: Plot, drawn: Series, size: layout.Size) -> Figure:
    figure = Figure(figsize=(size.width, 3.8))
    axes = figure.add_subplot(axes_class=SharedAxes)
    x_label, y_label = (label.partition("\n")[0] for label in _axes(plot, drawn))
    if plot.x_scale == "log" and plot.kind == "line" and (drawn.data["x"] == 0).any():
        least = _decade(drawn.data["x"].filter(drawn.data["x"] > 0) * drawn.x.scale)
        axes.set_xscale("symlog", linthresh=least, linscale=0.5)
        x_label += f", linear below {least:.10g}"
    else:
        axes.set_xscale(plot.x_scale)
    if plot.y_scale == "log" and (floor := _floor(plot, drawn)) is not None:
        axes.set_yscale("symlog", linthresh=floor, linscale=0.5)
        y_label += f"\nlinear below {floor:.10g}"
    else:
        axes.set_yscale(plot.y_scale)
    _KINDS[plot.kind](axes, plot, drawn)
    _draw_all_published(axes, plot, drawn)
    _draw_bounds(axes, drawn)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    _set_ranges(axes, plot, drawn)
    _set_ticks(axes, plot, drawn)
    if drawn.data.is_empty():
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "none of the runs is of this", transform=axes.transAxes, ha="center")
    for line in axes.lines if size.line != 1.0 else []:
        line.set(linewidth=size.line * line.get_linewidth(), markersize=size.line * line.get_markersize())
    notes = "\n".join(filter(None, (*_definitions(plot, drawn), plot.note, _band(plot, drawn))))
    layout.arrange(figure, axes, plot.title, notes, _ends_of_lines(axes, plot, drawn))
    return figure


def _axes(plot: Plot, drawn: Series) -> tuple[str, str]:
    """The name of each axis with its unit, and its definition on a line of its own."""
    return drawn.x.axis(plot.x_label), drawn.y.axis(plot.y_label)


def _definitions(plot: Plot, drawn: Series) -> list[str]:
    """What the axes show, for a note or a caption: the axes themselves have only a name and a unit."""
    return [": ".join(label.split("\n")) for label in _axes(plot, drawn) if "\n" in label]


def _ends_of_lines(axes: Axes, plot: Plot, drawn: Series) -> dict[str, tuple[float, float]]:
    """Name in the legend -> where its line ends in the picture, of plots whose lines end apart."""
    if plot.kind not in ("line", "time") or len(drawn.lines) <= 1:
        return {}
    right, found = max(axes.get_xlim()), {}
    low, high = sorted(axes.get_ylim())
    for line in _lines(plot, drawn):
        x, y = np.asarray(line.data["x"].cast(pl.Float64)) * drawn.x.scale, _unlimited(line.data, drawn)[0]
        seen = (x <= right) & np.isfinite(np.asarray(y, float))
        if line.label and seen.any():
            last = np.flatnonzero(seen)[-1]
            found[line.label] = (float(x[last]), float(np.clip(y[last], low, high)))
    return found


def _write_caption(plot: Plot, drawn: Series, file: Path) -> list[Path]:
    """Writes the caption of a picture whose style has one; returns the files."""
    if not plot.has_caption:
        return []
    file.write_text(caption(plot, drawn), encoding="utf-8")
    return [file]


def caption(plot: Plot, drawn: Series) -> str:
    """What stands under a figure that has no title: title, definitions of its axes, notes, and of what it is a mean."""
    parts = [plot.title, *_definitions(plot, drawn), plot.note, drawn.sample, _band(plot, drawn)]
    return " ".join(f"{part.rstrip('.')}." for part in parts if part) + "\n"


def _band(plot: Plot, drawn: Series) -> str:
    """What the bands or whiskers are, if there are any of runs."""
    data = drawn.data
    if plot.spread or "half" not in data.columns or (np.asarray(data["half"].cast(pl.Float64)) <= 0).all():
        return ""
    quantiles = "low" in data.columns and data.filter(pl.col("half").is_null() & pl.col("low").is_not_null()).height
    if not quantiles and data["half"].is_null().all():
        return ""
    what = "Bands" if plot.kind in ("line", "time") else "Whiskers"
    if plot.y_scale == "log" and "low" in data.columns and data.select(pl.col("runs").max()).item() < FEW_SEEDS:
        return f"{what}: from the smallest to the largest value of the seeds."
    interval = f"{what}: 95 % interval of the mean over the seeds (Student's t)"
    where = "where that has impossible values or the seeds fall into two groups"
    beyond = f"; {where}, the 2.5th to the 97.5th percentile of the seeds"
    return f"{interval}{beyond if quantiles else ''}."


def _floor(plot: Plot, drawn: Series) -> float | None:
    """The decade below which a logarithmic axis is linear, so that it shows zeros; none if there are no zeros."""
    if "mean" not in drawn.data.columns or not (drawn.data["mean"] == 0).any():
        return None
    positive = drawn.data["mean"].filter(drawn.data["mean"] > 0) * drawn.y.scale
    least = plot.y_range[0] * drawn.y.scale if plot.y_range else positive.min()
    return 10.0 ** np.floor(np.log10(least) + 1e-9) if isinstance(least, float) else 1.0


def _decade(positive: pl.Series) -> float:
    """The power of ten at or below the smallest of positive numbers."""
    return float(10.0 ** np.floor(np.log10(float(np.asarray(positive).min())) + 1e-9))


def _set_ranges(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Sets the range of each axis, slightly wider than asked for, so that a line at its end is not cut off."""
    if plot.y_scale == "linear":
        # Where nothing happened, fractions of it would tell nothing.
        nothing = "mean" in drawn.data.columns and (drawn.data["mean"] == 0).all() and not drawn.data.is_empty()
        axes.set_ylim(bottom=0, top=1 if nothing else None)
    if plot.x_range is not None:
        axes.set_xlim(plot.x_range[0] * drawn.x.scale, plot.x_range[1] * drawn.x.scale)
    if plot.y_range is not None:
        low, high = (limit * drawn.y.scale for limit in plot.y_range)
        axes.set_ylim(low, high + (0.015 * (high - low) if plot.y_scale == "linear" else 0.0))
    if axes.get_yscale() == "symlog" and (floor := _floor(plot, drawn)) is not None:
        # Low enough for the markers of zeros.
        axes.set_ylim(bottom=-0.15 * floor)


def _set_ticks(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Labels ticks with whole numbers if all values are whole, and logarithmic axes without powers of ten."""
    if plot.kind == "line" and plot.x_scale == "linear" and drawn.data["x"].dtype.is_integer():
        axes.xaxis.set_major_locator(MaxNLocator(5 if layout.size().has_caption else 10, integer=True))
    for axis, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        if scale == "symlog":
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        if scale == "log":
            low, high = sorted(axis.get_view_interval())
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
            if axis is axes.xaxis and plot.kind == "line" and (places := _places_with_room(drawn, low, high)):
                axis.set_major_locator(FixedLocator(places))
                axis.set_minor_locator(NullLocator())
                continue
            if _has_few_ticks(low, high):
                axis.set_major_locator(MaxNLocator(6))
                axis.set_minor_locator(NullLocator())
                continue
            # Over many decades only the powers of ten have room for a number.
            named = (2, 5) if high < 300 * low else ()
            axis.set_minor_formatter(_named_minor(named))


_MOST_PLACES = 8
"""So many values that were drawn are ticks themselves."""


def _places_with_room(drawn: Series, low: float, high: float) -> list[float]:
    """The values on a logarithmic x axis, if they are few and their numbers have room side by side."""
    places = [place for place in sorted({x * drawn.x.scale for x in drawn.data["x"]}) if low <= place <= high]
    if not 1 < len(places) <= _MOST_PLACES:
        return []
    size = layout.size()
    inch = (size.width - _BESIDE_AXES) / math.log(high / low)
    widths = [layout.text_width(f"{place:,.10g} ", size.text) for place in places]
    has_room = all(
        inch * math.log(right / left) >= (here + there) / 2
        for (left, here), (right, there) in pairwise(zip(places, widths, strict=True))
    )
    return places if has_room else []


_BESIDE_AXES = 1.0
"""About the width in inches of what stands beside the axes."""

_FEWEST_TICKS = 3
"""Fewer numbers on an axis do not tell its scale."""


def _has_few_ticks(low: float, high: float) -> bool:
    """Whether fewer of 1, 2, 5, 10, 20, ... are within the ends of a logarithmic axis."""
    first = math.floor(math.log10(low))
    # Three decades have enough of them.
    ticks = [digit * 10.0 ** (first + decade) for decade in range(3) for digit in (1, 2, 5)]
    return sum(low <= tick <= high for tick in ticks) < _FEWEST_TICKS


def _named_minor(digits: tuple[int, ...]) -> Callable[[float, float], str]:
    def text(value: float, _: float) -> str:
        first = round(value / 10.0 ** np.floor(np.log10(value) + 1e-9), 6)
        return f"{value:,.10g}" if first in digits else ""

    return text


@dataclass(frozen=True)
class _Line:
    """A line of the plot with how it looks."""

    data: pl.DataFrame
    style: Style
    label: str | None
    """Its name in the legend."""
    wider: float
    """Extra width of lines that coincide."""
    turn: tuple[int, int]
    """Its place among the lines that coincide with it, and their number."""
    marked: bool
    """Whether its points have markers."""

    def name(self, axes: Axes) -> None:
        """Puts it into the legend, by a sample that is whole where the line takes turns with others."""
        if self.label:
            mark = {**self.style.mark, "markersize": 4} if self.marked else {"color": self.style.colour}
            axes.plot([], [], label=self.label, linestyle=self.style.dash, linewidth=1.6, **mark)

    def stroke(self, width: float) -> dict[str, Any]:
        """How its line is drawn: lines that coincide take turns in dashes, so that each is seen."""
        place, number = self.turn
        dash = self.style.dash if number == 1 else (place * _TURN, (_TURN, (number - 1) * _TURN))
        return {"color": self.style.colour, "linestyle": dash, "linewidth": width + self.wider}


_TURN = 5.0
"""Length of a dash of coinciding lines, in widths of the line."""

_NEAR = 0.004
"""Share of the height of the plot below which two lines cannot be told apart."""


def _lines(plot: Plot, drawn: Series) -> list[_Line]:
    found, looks = [], styles(drawn.lines)
    groups = {str(line): of for (line,), of in drawn.data.partition_by("by", maintain_order=True, as_dict=True).items()}
    values = {line: _values(plot, group) for line, group in groups.items()}
    span = max((float(np.ptp(each)) for each in [np.concatenate([*values.values(), np.zeros(1)])]), default=0.0)
    first_of: dict[str, str] = {}
    for line in drawn.lines:
        near = (each for each in first_of.values() if _coincide(groups, values, (each, line), _NEAR * span))
        first_of[line] = next(near, line)
    for line in drawn.lines:
        group = [each for each in drawn.lines if first_of[each] == first_of[line]]
        equal = (each for each in group[: group.index(line)] if _coincide(groups, values, (each, line), 0.0))
        same = next(equal, "")
        label = line
        if line != group[0] and plot.kind not in CATEGORICAL:
            label = f"{line} (same as {same})" if same else f"{line} (nearly as {group[0]})"
        turn = (group.index(line), len(group))
        wider = 0.6 if turn[1] > 1 else 0.0
        found.append(_Line(groups[line], looks[line], label or None, wider, turn, plot.kind == "line"))
    return found


def _values(plot: Plot, group: pl.DataFrame) -> Floats:
    values: Floats = np.asarray(group["share" if "share" in group.columns else "mean"].cast(pl.Float64))
    return np.log10(np.maximum(values, 1e-300)) if plot.y_scale == "log" and (values > 0).all() else values


def _coincide(
    groups: dict[str, pl.DataFrame], values: dict[str, Floats], pair: tuple[str, str], distance: float
) -> bool:
    one, other = pair
    if not groups[one]["x"].equals(groups[other]["x"]):
        return False
    return bool(np.nanmax(np.abs(values[one] - values[other]), initial=0.0) <= distance)


def _ends(group: pl.DataFrame, plot: Plot, drawn: Series) -> tuple[Any, Any, Any]:
    """Mean, and lower and upper end of the interval or of the whiskers, in display units, within the plot's y-range."""
    mean, low, high = _unlimited(group, drawn)
    if plot.y_range is None:
        return mean, low, high
    # The axis has some room above the range, in which an interval would show what cannot be.
    least, most = (limit * drawn.y.scale for limit in plot.y_range)
    return mean, np.clip(low, least, most), np.clip(high, least, most)


def _unlimited(group: pl.DataFrame, drawn: Series) -> tuple[Any, Any, Any]:
    mean = np.asarray(group["mean"]) * drawn.y.scale
    if "low" in group.columns:
        low, high = (np.asarray(group[name].cast(pl.Float64)) * drawn.y.scale for name in ("low", "high"))
        return mean, low, high
    # Where there is no interval nothing is drawn of it.
    half = np.asarray(group["half"].cast(pl.Float64)) * drawn.y.scale
    return mean, np.maximum(mean - half, 0), mean + half


def _draw_lines(axes: Axes, plot: Plot, drawn: Series) -> None:
    for line in _lines(plot, drawn):
        style, (place, number) = line.style, line.turn
        x = np.asarray(line.data["x"].cast(pl.Float64)) * drawn.x.scale
        mean, low, high = _ends(line.data, plot, drawn)
        axes.plot(
            x,
            mean,
            markersize=4 + line.wider,
            # Of lines that coincide, each has its markers at places of its own.
            markevery=(place, number) if len(x) >= number else None,
            **{**style.mark, **line.stroke(1.4)},
        )
        line.name(axes)
        if plot.spread:
            _draw_whiskers(axes, x, (mean, low, high), style.colour)
        else:
            _draw_band(axes, x, low, high, style.colour)


def _draw_band(axes: Axes, x: Floats, low: Floats, high: Floats, colour: str) -> None:
    """Fills the interval around a line; of runs without intervals nothing would be seen."""
    if not np.isnan(high - low).all():
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


def _draw_whiskers(axes: Axes, at: Floats, values: tuple[Any, Any, Any], colour: str) -> None:
    """Draws a whisker around each mean, and a triangle on those whose upper end is open."""
    mean, low, high = values
    is_open = np.isinf(high)
    ends = np.maximum([mean - low, np.where(is_open, mean, high) - mean], 0)
    axes.errorbar(at, mean, yerr=ends, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    if is_open.any():
        axes.plot(at[is_open], mean[is_open], linestyle="none", marker=CARETUPBASE, markersize=9, color=colour)


def _draw_bars(axes: Axes, plot: Plot, drawn: Series) -> None:
    for line, at, values, width in _placed(axes, plot, drawn):
        axes.bar(at, values[0], width, color=_colours(line, drawn), label=line.label, hatch=line.style.hatch)
        _draw_whiskers(axes, at, values, "black")


def _draw_points(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Draws markers with whiskers beside each other, for a logarithmic axis, on which a bar has no base."""
    for line, at, values, _ in _placed(axes, plot, drawn):
        _draw_whiskers(axes, at, values, line.style.colour)
        axes.plot(at, values[0], linestyle="none", markersize=6, label=line.label, **line.style.mark)


def _placed(axes: Axes, plot: Plot, drawn: Series) -> list[tuple[_Line, Floats, tuple[Any, Any, Any], float]]:
    """Each line with the places of its values, which are named on the axis, its means and ends, and a bar's width."""
    places = list(dict.fromkeys(drawn.data["x"]))
    width = 0.8 / max(len(drawn.lines), 1)
    found = []
    for index, line in enumerate(_lines(plot, drawn)):
        shift = (index - (len(drawn.lines) - 1) / 2) * width
        at = np.array([places.index(x) + shift for x in line.data["x"]])
        found.append((line, at, _ends(line.data, plot, drawn), width))
    layout.name_places(axes, [_place(x, drawn) for x in places])
    return found


def _colours(line: _Line, drawn: Series) -> str | list[str]:
    """The colour of a line's bars: of its only unnamed line, each bar has that of the scheme that it is named after."""
    names = [str(x) for x in line.data["x"]]
    if drawn.lines == [""] and any(map(scheme_of, names)):
        looks = styles(names)
        return [looks[name].colour if scheme_of(name) else line.style.colour for name in names]
    return line.style.colour


def _place(x: object, drawn: Series) -> str:
    return f"{x * drawn.x.scale:g}" if isinstance(x, int | float) else str(x)


def _draw_distributions(axes: Axes, plot: Plot, drawn: Series) -> None:
    for line in _lines(plot, drawn):
        x = np.asarray(line.data["x"]) * drawn.x.scale
        share = np.asarray(line.data["share"]) * drawn.y.scale
        start = (x[:1], np.zeros(1))
        axes.plot(
            np.concatenate([start[0], x]),
            np.concatenate([start[1], share]),
            drawstyle="steps-post",
            **line.stroke(1.4),
        )
        line.name(axes)
    axes.set_ylim(top=102)


def _draw_times(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Draws traces as steps, intervals as lines and single events as dots."""
    for line in _lines(plot, drawn):
        colour = line.style.colour
        x = np.asarray(line.data["x"]) * drawn.x.scale
        mean, low, high = _ends(line.data, plot, drawn)
        if plot.table in ("flows", "requests", "drops") and plot.every is None:
            axes.plot(x, mean, ".", color=colour, markersize=3, label=line.label)
            continue
        traced = plot.table in ("queue-trace", "probes", "switch-probes", "host-probes") and plot.every is None
        # A line of one point is none.
        marker = "o" if len(x) == 1 else None
        axes.plot(x, mean, drawstyle="steps-post" if traced else "default", marker=marker, **line.stroke(1.0))
        line.name(axes)
        _draw_band(axes, x, low, high, colour)


def _draw_lanes(axes: Axes, plot: Plot, drawn: Series) -> None:
    """Draws transfers from their start to their end; those that waited for a timer or a probe are thin."""
    thick = min(4.0, max(0.8, 0.7 * 72 * 2.9 / max(drawn.data.height, 1)))
    for line in _lines(plot, drawn):
        for waited in (False, True):
            of = line.data.filter(waited=waited)
            x, end = np.asarray(of["x"]) * drawn.x.scale, np.asarray(of["end"]) * drawn.x.scale
            width = thick / 3 if waited else thick
            axes.hlines(np.asarray(of["mean"]), x, end, colors=line.style.colour, linewidth=width)
        if line.label:
            axes.plot([], [], label=line.label, color=line.style.colour, linewidth=2)
    if drawn.data["waited"].any():
        axes.plot([], [], label="waited for a timer, or mostly for a loss probe", color="#444444", linewidth=0.7)


_KINDS: dict[str, Callable[[Axes, Plot, Series], None]] = {
    "line": _draw_lines,
    "bars": _draw_bars,
    "points": _draw_points,
    "cdf": _draw_distributions,
    "time": _draw_times,
    "lanes": _draw_lanes,
}


_MAX_DISTANCE_OF_BOUND = 3.0
"""A bound that is so many times as large as all that is drawn does not bound the axis."""


def _draw_bounds(axes: Axes, drawn: Series) -> None:
    """Draws a rate or a buffer as a line, where it is in reach of what is drawn."""
    for index, bound in enumerate(drawn.bounds):
        how, limits = (drawn.x, axes.get_xlim()) if bound.axis == "x" else (drawn.y, axes.get_ylim())
        if bound.at * how.scale > _MAX_DISTANCE_OF_BOUND * max(limits):
            continue
        style: dict[str, Any] = {"color": "black", "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
        line = axes.axvline if bound.axis == "x" else axes.axhline
        label = f"{bound.label} {format_number(bound.at * how.scale)} {how.shown_as}".rstrip()
        line(bound.at * how.scale, label=label, **style)


def _draw_all_published(axes: Axes, plot: Plot, drawn: Series) -> None:
    for index, published in enumerate(plot.published):
        if published.x and not published.y:
            style: dict[str, Any] = {"color": "black", "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
            for number, place_x in enumerate(published.x):
                label = None if number else f"{published.label} (published)"
                axes.axvline(place_x * drawn.x.scale, label=label, **style)
        else:
            _draw_published(axes, plot, drawn, published, index)


def _draw_published(axes: Axes, plot: Plot, drawn: Series, published: Published, index: int) -> None:
    """Draws hollow markers, or dashed lines if the paper gives only levels."""
    label = f"{published.label} (published)"
    colour, marker = "black", _HOLLOW[index % len(_HOLLOW)]
    if published.by is not None:
        if published.by not in drawn.lines:
            return  # as in a quick look
        look = styles(drawn.lines)[published.by]
        colour, marker = look.colour, look.marker
    if not published.x:
        for level in published.y:
            style: dict[str, Any] = {"color": colour, "linestyle": _BROKEN[index % len(_BROKEN)], "linewidth": 1}
            axes.axhline(level * drawn.y.scale, label=label, **style)
        return
    x: Any = np.array(published.x) * drawn.x.scale
    if plot.kind in CATEGORICAL:
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
        linestyle=":" if len(x) > 1 and plot.kind not in CATEGORICAL else "none",
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
