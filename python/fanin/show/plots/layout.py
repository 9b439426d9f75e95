"""Where a figure's title, legend, axes and labels are, from the sizes of their texts.

matplotlib's own layout draws the figure once more only to measure it, which takes half of the time.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.lines import Line2D

from fanin.later import np


@dataclass(frozen=True)
class Size:
    """A size of figures. Lengths are in inches, texts in points."""

    width: float
    height: float
    """Of the axes."""
    title: float
    """Zero: the figure has neither a title nor a note, which stand in a caption."""
    text: float
    """Of the axes."""
    small: float
    """Of the legend."""
    note: float
    line: float
    """Factor of the widths of lines and the sizes of markers."""

    @property
    def has_caption(self) -> bool:
        """Whether title, definitions and notes are left to a caption."""
        return self.title == 0


SIZES = {
    "page": Size(6.4, 2.9, 10.0, 9.0, 8.0, 7.0, 1.0),
    "column": Size(3.33, 1.8, 0.0, 8.0, 7.0, 0.0, 0.8),
    "slide": Size(10.0, 4.6, 20.0, 18.0, 16.0, 12.0, 2.0),
}
"""Name of a style -> its size: of a page, of a column of a paper in two columns, of a slide."""

_sizes = [SIZES["page"]]


def size() -> Size:
    """The size of the figure that is drawn."""
    return _sizes[-1]


@contextmanager
def sized(style: str) -> Iterator[Size]:
    """Draws in this style."""
    _sizes.append(SIZES[style])
    try:
        yield size()
    finally:
        _sizes.pop()


WIDTH = SIZES["page"].width
"""Width in inches of a figure that has no style, such as a diagram."""

_PAD = 0.08
"""Distance in inches between two texts, and between a text and the edge."""

_TICK = 0.07
"""Length of a tick and the distance of its label."""

_SAMPLE, _GAP = 0.32, 0.16
"""A line's sample in the legend with its distance to the name, and the distance of two columns."""

MOST_IN_LEGEND = 4
"""Of more entries, those of lines stand at the lines' right ends, where the eye need not go back and forth."""

_WIDEST_AT_LINE = 0.27
"""Share of the figure's width to which names at lines are wrapped."""

_SLANT = 35.0
"""Degrees by which names of places are turned that have no room side by side."""

_LONGEST = 1.5
"""Width in inches to which such names are wrapped."""


def text_width(text: str, size: float) -> float:
    """The width in inches of the longest line of a text."""
    return max((_line_width(line, size) for line in text.splitlines()), default=0.0)


@functools.lru_cache(4096)
def _line_width(line: str, size: float) -> float:
    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(size, 72)
    font.set_text(line, 0.0, flags=LoadFlags.NO_HINTING)
    # In 64ths of a point.
    return float(font.get_width_height()[0]) / 64 / 72


def _height(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * 1.25 / 72 if text else 0.0


def wrapped(text: str, size: float, width: float) -> str:
    """The text in lines of at most this width in inches; a longer word has a line of its own."""
    lines = []
    for line in text.splitlines():
        words = re.split(r"[ \t]+", line.strip(" \t"))
        while words:
            count = _fitting(words, size, width)
            lines.append(" ".join(words[:count]))
            words = words[count:]
    return "\n".join(lines)


def balanced(text: str, size: float, width: float) -> str:
    """The same in lines about as long as one another, and no more of them; a unit stays with the word before it."""
    lines = []
    for line in text.replace(" [", f"{_NO_BREAK}[").splitlines():
        most = wrapped(line, size, width)
        shorter = (wrapped(line, size, width * part / _PARTS) for part in range(1, _PARTS))
        fits = (each for each in shorter if each.count("\n") == most.count("\n") and text_width(each, size) <= width)
        lines.append(next(fits, most) if "\n" in most else most)
    return "\n".join(lines).replace(_NO_BREAK, " ")


_NO_BREAK = "\N{NO-BREAK SPACE}"

_PARTS = 20
"""So many lengths of lines are tried."""


def _fitting(words: list[str], size: float, width: float) -> int:
    """How many of some words a line has room for, at least one; by bisection, as measuring a text takes long."""

    def needed(count: int) -> float:
        return text_width(" ".join(words[:count]), size)

    if needed(len(words)) <= width:
        return len(words)
    return 1 + bisect_right(range(2, len(words) + 1), width, key=needed)


def arrange(
    figure: Figure, axes: Axes, title: str, note: str = "", ends: Mapping[str, tuple[float, float]] | None = None
) -> None:
    """Places everything around axes that are drawn and labelled, and sets the figure's height.

    Args:
        figure: What is drawn.
        axes: Its axes.
        title: The title.
        note: What stands below.
        ends: Names of lines -> where each ends: a name stands there if the legend would have too many.

    """
    own = size()
    title = "" if own.has_caption else wrapped(title, own.title, own.width - 4 * _PAD)
    note = "" if own.has_caption else wrapped(note, own.note, own.width - 4 * _PAD)
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    at_lines = _at_lines(entries, ends or {})
    listed = [label for label in entries if label not in at_lines]
    beside = max((_SAMPLE + text_width(text, own.small) + 2 * _PAD for text in at_lines.values()), default=0.0)
    x_label = balanced(axes.get_xlabel(), own.text, own.width - 1.5 - beside)
    y_label = balanced(axes.get_ylabel(), own.text, own.height)
    labels, columns = _legend(listed)
    above = _PAD + sum(each + _PAD for each in (_height(title, own.title), _rows_height(labels, columns)) if each)
    figure.set_figheight(own.height)
    axes.set_position((0.15, 0, 0.8, 1))
    ticks = max((text_width(text, own.text) for text in _tick_labels(axes.yaxis)), default=0.0) + _TICK
    left = _PAD + _height(y_label, own.text) + _PAD + ticks
    # Without the objects of the ticks, which each question for their labels would place anew.
    names = axes.xaxis.get_major_formatter().format_ticks(list(axes.xaxis.get_majorticklocs()))
    names = _tick_labels(axes.xaxis) if not any(names) else names
    right = max(2 * _PAD, max((text_width(text, own.text) for text in names[-1:]), default=0.0) / 2 + _PAD / 2)
    below_axes = _TICK + max((_height(text, own.text) for text in names), default=0.0)
    if is_slanted(axes):
        right = 2 * _PAD
        longest = max(text_width(text, own.text) for text in names)
        highest = max(_height(text, own.text) for text in names)
        below_axes = _TICK + longest * math.sin(math.radians(_SLANT)) + highest
    right = max(right, beside)
    below = (
        _PAD + below_axes + sum(each + _PAD for each in (_height(x_label, own.text), _height(note, own.note)) if each)
    )
    height = above + own.height + below
    figure.set_figheight(height)
    inner = own.width - left - right
    axes.set_position((left / own.width, below / height, inner / own.width, own.height / height))
    whole = figure.transFigure
    axes.set_xlabel(x_label)
    axes.xaxis.set_label_coords(
        (left + inner / 2) / own.width, (below - below_axes - _PAD / 2) / height, transform=whole
    )
    axes.set_ylabel(y_label)
    axes.yaxis.set_label_coords(
        (left - ticks - _PAD / 2) / own.width, (below + own.height / 2) / height, transform=whole
    )
    if not own.has_caption:
        figure.text(0.5, 1 - _PAD / height, title, va="top", ha="center", fontsize=own.title)
        figure.text(0.5, _PAD / height, note, va="bottom", ha="center", fontsize=own.note)
    if labels:
        top = _PAD + (_height(title, own.title) + _PAD if title else 0.0)
        _place_legend(axes, [entries[label] for label in listed], labels, columns, 1 - top / height)
    if at_lines:
        _name_lines(axes, {label: (entries[label], text) for label, text in at_lines.items()}, ends or {}, inner)


def _place_legend(axes: Axes, handles: list[Artist], labels: list[str], columns: int, top: float) -> None:
    """Places the legend in the middle of the figure, with its upper end at this share of the height."""
    axes.legend(
        handles,
        labels,
        fontsize=size().small,
        ncols=columns,
        loc="upper center",
        bbox_to_anchor=(0.5, top),
        bbox_transform=axes.figure.transFigure,
        borderaxespad=0,
        borderpad=0,
        columnspacing=1.4,
    )


def _at_lines(entries: Mapping[str, Artist], ends: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """The names that stand at the ends of their lines, wrapped; none if the legend is short, or room is short."""
    own = size()
    # Beside the axes of a column they would take a third of it.
    if len(entries) <= MOST_IN_LEGEND or own.has_caption:
        return {}
    found = {
        label: wrapped(label, own.small, _WIDEST_AT_LINE * own.width - _SAMPLE)
        for label, handle in entries.items()
        if label in ends and isinstance(handle, Line2D)
    }
    return found if sum(_height(text, own.small) for text in found.values()) <= own.height else {}


def _name_lines(
    axes: Axes,
    named: Mapping[str, tuple[Artist, str]],
    ends: Mapping[str, tuple[float, float]],
    width: float,
) -> None:
    """Writes the name of each line beside its right end, with a sample, and a thin line between them."""
    own = size()
    axes.get_xlim(), axes.get_ylim()  # The range of axes that nobody has asked for is not yet known.
    to_axes = axes.transData + axes.transAxes.inverted()
    at = {label: to_axes.transform(ends[label]) for label in named}
    heights = [_height(text, own.small) / own.height for _, text in named.values()]
    places = spread([float(y) for _, y in at.values()], heights)
    for (label, (sample, text)), y in zip(named.items(), places, strict=True):
        begin, end = 1 + _PAD / width, 1 + (_PAD + _SAMPLE - _TICK) / width
        x, own_y = at[label]
        line = Line2D([], [])
        line.update_from(sample)
        line.set(data=([begin, (begin + end) / 2, end], [y, y, y]), markevery=[1])
        leader = Line2D([float(x), begin], [float(own_y), y], color=line.get_color(), linewidth=0.5, alpha=0.6)
        for each in (leader, line):
            each.set(transform=axes.transAxes, clip_on=False, zorder=1.5)
            axes.add_artist(each)
        axes.text(end + _TICK / width, y, text, transform=axes.transAxes, fontsize=own.small, va="center")


def spread(wanted: list[float], heights: list[float]) -> list[float]:
    """Places from 0 to 1, each as near as possible to the wanted one, at which things so high do not overlap.

    Neighbours that would overlap are moved as one: its middle is the mean of what they want.
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[list[int]] = []

    def bottom(block: list[int]) -> float:
        """Where a block begins, within the ends."""
        high = sum(heights[each] for each in block)
        below, middles = 0.0, []
        for each in block:
            middles.append(wanted[each] - below - heights[each] / 2)
            below += heights[each]
        return min(max(sum(middles) / len(middles), 0.0), max(1.0 - high, 0.0))

    for each in order:
        blocks.append([each])
        while len(blocks) > 1 and bottom(blocks[-2]) + sum(heights[i] for i in blocks[-2]) > bottom(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    found = dict[int, float]()
    for block in blocks:
        at = bottom(block)
        for each in block:
            found[each] = at + heights[each] / 2
            at += heights[each]
    return [found[each] for each in range(len(wanted))]


def _legend(names: list[str]) -> tuple[list[str], int]:
    """The names in the legend, wrapped, and the number of columns that needs the fewest rows."""
    room = size().width - _SAMPLE - 4 * _PAD
    labels = [wrapped(label, size().small, room) for label in names]
    for rows in range(1, len(labels) + 1):
        columns = -(-len(labels) // rows)
        # As matplotlib fills them.
        parts = np.array_split(np.arange(len(labels)), columns)
        widths = [_SAMPLE + max(text_width(labels[index], size().small) for index in part) for part in parts]
        if sum(widths) + _GAP * (columns - 1) <= size().width - 2 * _PAD:
            return labels, columns
    return labels, 1


def _rows_height(labels: list[str], columns: int) -> float:
    if not labels:
        return 0.0
    parts = np.array_split(np.arange(len(labels)), columns)
    return max(sum(_height(labels[index], size().small) + 0.5 * size().small / 72 for index in part) for part in parts)


def _tick_labels(axis: Axis) -> list[str]:
    """The labels of the ticks in view."""
    low, high = sorted(axis.get_view_interval())
    found = []
    for places, formatter in (
        (axis.get_majorticklocs(), axis.get_major_formatter()),
        (axis.get_minorticklocs(), axis.get_minor_formatter()),
    ):
        shown = [place for place in places if low <= place <= high]
        found += formatter.format_ticks(shown) if shown else []
    return found


def name_places(axes: Axes, names: list[str]) -> None:
    """Names the places 0, 1, 2 and so on of the x axis: side by side if there is room, otherwise slanted."""
    room = (size().width - 1.1) / max(len(names), 1) - _PAD / 2
    side_by_side = [wrapped(name, size().text, room) for name in names]
    # Without any name the axis still has one place.
    axes.set_xlim(-0.5, max(len(names), 1) - 0.5)
    if all(text_width(name, size().text) <= room for name in side_by_side):
        axes.set_xticks(range(len(names)), side_by_side)
        return
    slanted = [wrapped(name, size().text, _LONGEST) for name in names]
    axes.set_xticks(range(len(names)), slanted, rotation=_SLANT, ha="right", va="top", rotation_mode="anchor")


def is_slanted(axes: Axes) -> bool:
    """Whether the names of the places are slanted."""
    return any(tick.label1.get_rotation() for tick in axes.xaxis.get_major_ticks(1))
