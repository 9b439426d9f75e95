"""Colours, markers, dashes and hatches of lines and bars: a scheme has the same colour and marker in every figure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

_PALETTE = json.loads(files("fanin.show.plots").joinpath("palette.json").read_text("utf-8"))
"""The page in the browser draws with the same colours and markers."""

# The first are Okabe and Ito's colours, which people with any common colour blindness can distinguish.
_SCHEMES: dict[str, tuple[str, str]] = {
    name: (colour, marker) for name, (colour, marker) in _PALETTE["schemes"].items()
}
"""First word of a line's name in lower case -> colour and marker; RTCP is RCC without its scheduler and marks."""

_OTHERS: tuple[str, ...] = tuple(_PALETTE["others"])
"""Paul Tol's bright colours, for lines that are no schemes."""

_MARKERS: tuple[str, ...] = tuple(_PALETTE["markers"])

_DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.3)), (0, (7, 2, 1.2, 2)), (0, (3, 1.2)), (0, (7, 2, 1.2, 1.3, 1.2, 2)), (0, (9, 4)),
)  # fmt: skip
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "----")

_FILLS = ("full", "none", "left", "top", "right", "bottom", "none")

_ALONE: str = _PALETTE["alone"]
"""The colour of the only line of a plot that is not named."""


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


def scheme_of(name: str) -> str | None:
    """The scheme that a line's name begins with, such as RCC of "RCC without scheduler"."""
    found = re.match(r"[a-z0-9]+(-[a-z0-9]+)*", name.lower())
    return found[0] if found and found[0] in _SCHEMES else None


def styles(lines: Iterable[str]) -> dict[str, Style]:
    """The style of each line: a scheme's own; its variants differ from it in their dashes."""
    lines = list(lines)
    if lines == [""]:
        return {"": Style(_ALONE)}
    found = {}
    variants: dict[str | None, int] = {}
    # The scheme's plain name has the solid line wherever it stands.
    for name in sorted(lines, key=lambda line: (scheme_of(line) or "") != line.lower()):
        scheme = scheme_of(name)
        index = variants.get(scheme, 0)
        variants[scheme] = index + 1
        if scheme is None:
            cycle = index // len(_OTHERS)
            found[name] = Style(_OTHERS[index % len(_OTHERS)], _MARKERS[index % len(_MARKERS)], _DASHES[cycle % 7])
        else:
            at = index % len(_DASHES)
            found[name] = Style(*_SCHEMES[scheme], _DASHES[at], _HATCHES[at], _FILLS[at])
    return {name: found[name] for name in lines}
