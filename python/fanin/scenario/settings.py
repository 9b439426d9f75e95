"""Scenario values that a command or a sweep replaces, in the formats of Python and of the engine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fanin.scenario.format.values import Scalar
from fanin.scenario.own import CongestionControl, named

Value = Scalar | Sequence[Scalar] | type[CongestionControl]
"""A value of a scenario, the parts of one that is a list, such as the names of probes, or a scheme in Python."""

Overrides = Mapping[str, Value] | Sequence[tuple[str, Value]]
"""Dotted paths and their values: a dictionary or pairs."""

Settings = list[tuple[str, str]]
"""Overrides in the engine's format."""


def settings(overrides: Overrides | None) -> Settings:
    """Overrides in the engine's format."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides or []
    return [(path, override(value)) for path, value in pairs]


SEED = "run.seed"

_LONG = 19
"""Seeds with so many digits may be too large, which the engine says."""


def without_seed(given: Settings) -> tuple[Settings, int | None]:
    """Overrides without that of the seed, and the seed; all of them if there is none, or none that is plain."""
    text = dict(given).get(SEED, "")
    if not (text.isdecimal() and text.isascii() and len(text) < _LONG and str(int(text)) == text):
        return given, None
    return [setting for setting in given if setting[0] != SEED], int(text)


def as_options(overrides: Overrides) -> str:
    """Overrides as options of a command."""
    return " ".join(f"--set {shlex.quote(f'{path}={value}')}" for path, value in settings(overrides))


def with_options(file: str, overrides: Overrides) -> str:
    """A scenario and overrides as arguments of a command."""
    return f"{shlex.quote(file)} {as_options(overrides)}".strip()


def override(value: Value) -> str:
    """One value in the engine's format."""
    value = plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ",".join(map(override, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a program has computed
    """A value in Python's own types, in place of NumPy's, of paths and of schemes."""
    if isinstance(value, type):
        return named(value)
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value
