"""Colours, markers, dashes and hatches of lines and bars: a scheme has the same colour and marker in every figure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from fanin.registry import scheme_rows

_OF_PAPERS = {"tcp": "newreno", "cubic": "linux"}
"""What figures of papers call a scheme -> the scheme, whose colour and marker it has."""

_RTCP = ("#999999", "<")
"""RCC without its scheduler and marks."""

OTHERS = ("#EE6677", "#4477AA", "#228833", "#CCBB44", "#AA3377", "#66CCEE", "#777777")
"""Paul Tol's bright colours, for lines that are no schemes."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of such lines."""

ALONE = "#444444"
"""The colour of the only line of a plot that is not named."""

_DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.3)), (0, (7, 2, 1.2, 2)), (0, (3, 1.2)), (0, (7, 2, 1.2, 1.3, 1.2, 2)), (0, (9, 4)),
)  # fmt: skip
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "----")

_FILLS = ("full", "none", "left", "top", "right", "bottom", "none")


@dataclass(frozen=True)
class Style:
    """How a line or its bars look."""

    colour: str
    marker: str = "o"
    dash: Any = "-"
    hatch: str = ""
    fill: str = "full"
    """Which part of its markers is filled: all of a scheme's, another of each of its variants."""

    @property
    def mark(self) -> dict[str, Any]:
        """How its markers are drawn."""
        inside = "white" if self.fill == "none" else self.colour
        style = "full" if self.fill == "none" else self.fill
        return {
            "color": self.colour,
            "marker": self.marker,
            "fillstyle": style,
            "markerfacecolor": inside,
            "markerfacecoloralt": "white",
        }


@cache
def of_schemes() -> dict[str, tuple[str, str]]:
    """First word of a line's name in lower case -> colour and marker of that scheme."""
    # A scheme in Python has no colour.
    found = {row["key"]: (row["colour"], row["marker"]) for row in scheme_rows() if row["colour"]}
    return {**found, **{name: found[key] for name, key in _OF_PAPERS.items()}, "rtcp": _RTCP}


def scheme_of(name: str) -> str | None:
    """The scheme that a line's name begins with, such as RCC of "RCC without scheduler", or that of "Linux DCTCP"."""
    found = re.match(r"([a-z0-9]+(?:-[a-z0-9]+)*)(?: ([a-z0-9]+))?", name.lower())
    keys = [f"{found[1]}-{found[2]}", found[1]] if found else []
    return next((key for key in keys if key in of_schemes()), None)


def styles(lines: Iterable[str]) -> dict[str, Style]:
    """The style of each line: a scheme's own; its variants differ from it in their dashes."""
    lines = list(lines)
    if lines == [""]:
        return {"": Style(ALONE)}
    found = {}
    # Two names of a scheme, such as CUBIC and Linux CUBIC, are variants of one.
    variants: dict[tuple[str, str] | None, int] = {}
    # The scheme's plain name has the solid line wherever it stands.
    for name in sorted(lines, key=lambda line: scheme_of(line) != line.lower().replace(" ", "-")):
        scheme = scheme_of(name)
        look = None if scheme is None else of_schemes()[scheme]
        index = variants.get(look, 0)
        variants[look] = index + 1
        if look is None:
            cycle = index // len(OTHERS)
            found[name] = Style(OTHERS[index % len(OTHERS)], MARKERS[index % len(MARKERS)], _DASHES[cycle % 7])
        else:
            at = index % len(_DASHES)
            found[name] = Style(*look, _DASHES[at], _HATCHES[at], _FILLS[at])
    return {name: found[name] for name in lines}
