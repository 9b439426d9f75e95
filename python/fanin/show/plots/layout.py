"""Where a figure's title, legend, axes and labels are, from the sizes of their texts.

matplotlib's own layout draws the figure once more only to measure it, which takes half of the time.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from fanin.later import np

WIDTH = 6.4
"""Width of a figure in inches."""

_HEIGHT = 2.9
"""Height of the axes in inches."""

_TITLE, _TEXT, _SMALL, _NOTE = 10.0, 9.0, 8.0, 7.0
"""Sizes in points: of titles, of axes, of the legend, of notes."""

_PAD = 0.08
"""Distance in inches between two texts, and between a text and the edge."""

_TICK = 0.07
"""Length of a tick and the distance of its label."""

_SAMPLE, _GAP = 0.32, 0.16
"""A line's sample in the legend with its distance to the name, and the distance of two columns."""

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
        words = line.split() or [""]
        while words:
            count = _fitting(words, size, width)
            lines.append(" ".join(words[:count]))
            words = words[count:]
    return "\n".join(lines)


def _fitting(words: list[str], size: float, width: float) -> int:
    """How many of some words a line has room for, at least one; by bisection, as measuring a text takes long."""

    def needed(count: int) -> float:
        return text_width(" ".join(words[:count]), size)

    if needed(len(words)) <= width:
        return len(words)
    return 1 + bisect_right(range(2, len(words) + 1), width, key=needed)


def arrange(figure: Figure, axes: Axes, title: str, note: str = "") -> None:
    """Places everything around axes that are drawn and labelled, and sets the figure's height."""
    title = wrapped(title, _TITLE, WIDTH - 4 * _PAD)
    note = wrapped(note, _NOTE, WIDTH - 4 * _PAD)
    x_label = wrapped(axes.get_xlabel(), _TEXT, WIDTH - 1.5)
    y_label = wrapped(axes.get_ylabel(), _TEXT, _HEIGHT)
    labels, columns = _legend(axes)
    above = _PAD + sum(size + _PAD for size in (_height(title, _TITLE), _rows_height(labels, columns)) if size)
    figure.set_figheight(_HEIGHT)
    axes.set_position((0.15, 0, 0.8, 1))
    ticks = max((text_width(text, _TEXT) for text in _tick_labels(axes.yaxis)), default=0.0) + _TICK
    left = _PAD + _height(y_label, _TEXT) + _PAD + ticks
    # Without the objects of the ticks, which each question for their labels would place anew.
    names = axes.xaxis.get_major_formatter().format_ticks(list(axes.xaxis.get_majorticklocs()))
    names = _tick_labels(axes.xaxis) if not any(names) else names
    right = max(2 * _PAD, max((text_width(text, _TEXT) for text in names[-1:]), default=0.0) / 2 + _PAD / 2)
    below_axes = _TICK + max((_height(text, _TEXT) for text in names), default=0.0)
    if is_slanted(axes):
        right = 2 * _PAD
        longest = max(text_width(text, _TEXT) for text in names)
        below_axes = _TICK + longest * math.sin(math.radians(_SLANT)) + max(_height(text, _TEXT) for text in names)
    below = below_axes + sum(size + _PAD for size in (_height(x_label, _TEXT), _height(note, _NOTE)) if size) + _PAD
    height = above + _HEIGHT + below
    figure.set_figheight(height)
    axes.set_position((left / WIDTH, below / height, (WIDTH - left - right) / WIDTH, _HEIGHT / height))
    whole = figure.transFigure
    middle = (left + (WIDTH - left - right) / 2) / WIDTH
    axes.set_xlabel(x_label)
    axes.xaxis.set_label_coords(middle, (below - below_axes - _PAD / 2) / height, transform=whole)
    axes.set_ylabel(y_label)
    axes.yaxis.set_label_coords((left - ticks - _PAD / 2) / WIDTH, (below + _HEIGHT / 2) / height, transform=whole)
    figure.text(0.5, 1 - _PAD / height, title, va="top", ha="center", fontsize=_TITLE)
    figure.text(0.5, _PAD / height, note, va="bottom", ha="center", fontsize=_NOTE)
    if labels:
        top = _PAD + (_height(title, _TITLE) + _PAD if title else 0.0)
        axes.legend(
            axes.get_legend_handles_labels()[0],
            labels,
            fontsize=_SMALL,
            ncols=columns,
            loc="upper center",
            bbox_to_anchor=(0.5, 1 - top / height),
            bbox_transform=whole,
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.4,
        )


def _legend(axes: Axes) -> tuple[list[str], int]:
    """The names in the legend, wrapped, and the number of columns that needs the fewest rows."""
    labels = [wrapped(label, _SMALL, WIDTH - _SAMPLE - 4 * _PAD) for label in axes.get_legend_handles_labels()[1]]
    for rows in range(1, len(labels) + 1):
        columns = -(-len(labels) // rows)
        # As matplotlib fills them.
        parts = np.array_split(np.arange(len(labels)), columns)
        widths = [_SAMPLE + max(text_width(labels[index], _SMALL) for index in part) for part in parts]
        if sum(widths) + _GAP * (columns - 1) <= WIDTH - 2 * _PAD:
            return labels, columns
    return labels, 1


def _rows_height(labels: list[str], columns: int) -> float:
    if not labels:
        return 0.0
    parts = np.array_split(np.arange(len(labels)), columns)
    return max(sum(_height(labels[index], _SMALL) + 0.5 * _SMALL / 72 for index in part) for part in parts)


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
    room = (WIDTH - 1.1) / max(len(names), 1) - _PAD / 2
    side_by_side = [wrapped(name, _TEXT, room) for name in names]
    # Without any name the axis still has one place.
    axes.set_xlim(-0.5, max(len(names), 1) - 0.5)
    if all(text_width(name, _TEXT) <= room for name in side_by_side):
        axes.set_xticks(range(len(names)), side_by_side)
        return
    slanted = [wrapped(name, _TEXT, _LONGEST) for name in names]
    axes.set_xticks(range(len(names)), slanted, rotation=_SLANT, ha="right", va="top", rotation_mode="anchor")


def is_slanted(axes: Axes) -> bool:
    """Whether the names of the places are slanted."""
    return any(tick.label1.get_rotation() for tick in axes.xaxis.get_major_ticks(1))
