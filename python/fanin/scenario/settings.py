"""Scenario values that a command or a sweep replaces, as Python and as the engine take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fanin.scenario.format.values import Scalar

Overrides = Mapping[str, Scalar] | Sequence[tuple[str, Scalar]]
"""Dotted paths and the values they take: a dictionary or pairs."""

Settings = list[tuple[str, str]]
"""The same as the engine takes it."""


def settings(overrides: Overrides | None) -> Settings:
    """Overrides as the engine takes them."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides or []
    return [(path, override(value)) for path, value in pairs]


def override(value: Scalar) -> str:
    """One value as the engine takes it on its override list."""
    return str(value).lower() if isinstance(value, bool) else str(value)
