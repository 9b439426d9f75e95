"""A diagram of a message's fields, and how diagrams are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fanin.later import pl
from fanin.scenario.format.plot import Plot
from fanin.show.plots import layout
from fanin.show.plots.drawing import ALSO, STYLE, save

_ROW_BITS = 32

_ROW = 0.2
"""Height of a row in inches."""

_TALLEST = 2
"""Rows to which longer fields are cut, with their number of bits."""


def draw_format(plot: Plot, folder: Path, *, also: Sequence[str] = ALSO, identifier: str = "") -> list[Path]:
    """Draws a message as rows of 32 bits.

    Raises:
        ResultsError: the folder cannot be written.

    """
    table = pl.DataFrame([{"field": field.name, "bits": field.bits} for field in plot.fields])
    parts, rows = _laid_out(plot)
    title = layout.wrapped(plot.title, 10, layout.WIDTH - 0.3)
    top = 0.45 + 0.17 * title.count("\n")
    height = top + _ROW * rows + 0.1
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(layout.WIDTH, height))
        axes = figure.add_axes((0.01, 0.1 / height, 0.98, _ROW * rows / height))
        axes.axis("off")
        axes.set_xlim(-0.5, _ROW_BITS + 0.5)
        axes.set_ylim(rows, 0)
        for bit in range(0, _ROW_BITS, 8):
            axes.text(bit, -0.15, str(bit), fontsize=7, ha="center")
        for column, row, width, tall, text in parts:
            axes.add_patch(Rectangle((column, row), width, tall, fill=False, linewidth=0.8))
            axes.text(column + width / 2, row + tall / 2, text, ha="center", va="center", fontsize=7)
        figure.text(0.5, 1 - 0.08 / height, title, va="top", ha="center", fontsize=10)
        return save(figure, table, folder, plot.name, also=also, identifier=identifier)


def _laid_out(plot: Plot) -> tuple[list[tuple[int, int, int, int, str]], int]:
    """The boxes of all fields, each with its column, row, width, height and text, and the number of rows."""
    boxes: list[tuple[int, int, int, int, str]] = []
    row = column = 0
    for field in plot.fields:
        parts: list[tuple[int, int, int, int, str]] = []
        bits = field.bits
        name = field.name
        while bits > 0:
            width = min(bits, _ROW_BITS - column)
            whole = bits // _ROW_BITS if width == _ROW_BITS else 1
            tall = min(whole, _TALLEST)
            if tall < whole:
                name = f"{field.name} ({field.bits} bits)"
            parts.append((column, row, width, tall, ""))
            bits -= width * whole
            ends = column + width == _ROW_BITS
            row, column = (row + tall, 0) if ends else (row, column + width)
        # The largest box has the field's name, the others have dots.
        largest = max(parts, key=lambda part: part[2] * part[3])
        boxes += [(*part[:4], name if part == largest else "\N{HORIZONTAL ELLIPSIS}") for part in parts]
    return boxes, row + (column > 0)
