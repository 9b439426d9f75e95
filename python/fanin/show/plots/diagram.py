"""A diagram of a message's fields, and how diagrams are written."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fanin.later import pl
from fanin.scenario.format.plot import Plot
from fanin.show.plots.drawing import STYLE, save

_ROW_BITS = 32


def draw_format(plot: Plot, folder: Path, *, png: bool = True) -> list[Path]:
    """Draws a message as rows of 32 bits.

    Raises:
        ResultsError: the folder cannot be written.

    """
    table = pl.DataFrame([{"field": field.name, "bits": field.bits} for field in plot.fields])
    rows = -(-int(table["bits"].sum()) // _ROW_BITS)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.8 + 0.4 * rows), layout="constrained")
        axes = figure.add_subplot()
        axes.axis("off")
        axes.set_xlim(-0.5, _ROW_BITS + 0.5)
        axes.set_ylim(rows + 0.1, -0.6)
        for bit in range(0, _ROW_BITS, 8):
            axes.text(bit, -0.15, str(bit), fontsize=7, ha="center")
        start = 0
        for field in plot.fields:
            _draw_field(axes, field.name, start, field.bits)
            start += field.bits
        axes.set_title(plot.title, fontsize=10)
        return save(figure, table, folder, plot.name, png=png)


def _draw_field(axes: mpl.axes.Axes, name: str, start: int, bits: int) -> None:
    """A field's boxes: whole rows form one box; the largest box has the field's name, the others have dots."""
    parts: list[tuple[int, int, int, int]] = []
    while bits > 0:
        row, column = divmod(start, _ROW_BITS)
        width = min(bits, _ROW_BITS - column)
        height = bits // _ROW_BITS if width == _ROW_BITS else 1
        parts.append((width, height, column, row))
        axes.add_patch(Rectangle((column, row), width, height, fill=False, linewidth=0.8))
        start, bits = start + width * height, bits - width * height
    largest = max(parts, key=lambda part: part[0] * part[1])
    for part in parts:
        width, height, column, row = part
        text = name if part == largest else "\N{HORIZONTAL ELLIPSIS}"
        axes.text(column + width / 2, row + height / 2, text, ha="center", va="center", fontsize=7)
