"""Scenario values with units as numbers, in the units of the result tables."""

from __future__ import annotations

import re

_QUANTITY = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%]+)$")
_UNITS: dict[str, tuple[float, str]] = {
    "ns": (1e-9, "s"),
    "us": (1e-6, "s"),
    "ms": (1e-3, "s"),
    "s": (1.0, "s"),
    "bps": (1.0, "bps"),
    "kbps": (1e3, "bps"),
    "Kbps": (1e3, "bps"),
    "Mbps": (1e6, "bps"),
    "Gbps": (1e9, "bps"),
    "B": (1.0, "bytes"),
    "KB": (1e3, "bytes"),
    "MB": (1e6, "bytes"),
    "GB": (1e9, "bytes"),
    "KiB": (1024.0, "bytes"),
    "MiB": (1024.0**2, "bytes"),
    "GiB": (1024.0**3, "bytes"),
    "pkt": (1.0, "packets"),
    "mss": (1.0, "packets"),
    "%": (0.01, "ratio"),
}
"""Unit of a scenario value -> its size, and the end of a column's name that has the stored unit."""


def quantity(value: object) -> tuple[float, str] | None:
    """The number of a scenario value and the end of a column's name that has its unit; none for what is no number."""
    if isinstance(value, int | float):
        return float(value), ""
    match = _QUANTITY.match(value) if isinstance(value, str) else None
    if match is None or match.group(2) not in _UNITS:
        return None
    size, unit = _UNITS[match.group(2)]
    return float(match.group(1)) * size, unit
