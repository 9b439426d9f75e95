"""Scenario values with units as numbers, in the units of the result tables."""

from __future__ import annotations

from fanin import _engine

FRAME_BYTES = 1500.0
"""A full packet, of an Ethernet without jumbo frames: what estimates take a packet for."""


def quantity(value: object) -> tuple[float, str] | None:
    """A scenario value as a number, as the engine reads it, and its unit in results: s, bit/s, B, pkt, or 1.

    A bare number has no unit. Values that are not quantities give ``None``.
    """
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
