"""Scenario values with units as numbers, in the units of the result tables."""

from __future__ import annotations

from typing import Self

from fanin import _engine

FRAME_BYTES = 1500.0
"""A full packet, of an Ethernet without jumbo frames: what estimates take a packet for."""


class Quantity(str):
    """A value of a scenario with its unit: the text of the file, and its number.

    >>> fanin.Scenario("sdtcp/fig9").resolved()["transport"]["rto-min"].number
    0.2

    """

    __slots__ = ("number", "unit")
    number: float
    """In the unit of results."""
    unit: str
    """``s``, ``bit/s``, ``B`` or ``pkt``, which segments are too."""

    def __new__(cls, text: str, number: float, unit: str) -> Self:
        """A text that has this number in the unit of results."""
        found = super().__new__(cls, text)
        found.number, found.unit = number, unit
        return found

    def __getnewargs__(self) -> tuple[str, float, str]:  # type: ignore[override]
        return str(self), self.number, self.unit


def quantity(value: object) -> tuple[float, str] | None:
    """A scenario value as a number, as the engine reads it, and its unit in results: s, bit/s, B, pkt, or 1.

    A bare number has no unit. Values that are not quantities give ``None``.
    """
    if isinstance(value, Quantity):
        return value.number, value.unit
    if isinstance(value, int | float):
        return float(value), ""
    return _engine.quantity(value) if isinstance(value, str) else None


def number(value: object) -> float:
    """A scenario value as a number, without its unit; zero if it is no quantity."""
    found = quantity(value)
    return 0.0 if found is None else found[0]


def seconds(value: object) -> float:
    """A duration of a checked scenario in seconds."""
    found = quantity(value)
    assert found is not None, value
    return found[0]


def rate_text(bps: float) -> str:
    """A rate in words, with three digits."""
    unit, factor = ("Mbit/s", 1e-6) if bps < 1e9 else ("Gbit/s", 1e-9) if bps < 1e12 else ("Tbit/s", 1e-12)
    shown = bps * factor
    return f"{shown:,.0f} {unit}" if shown >= 100 else f"{shown:.3g} {unit}"
