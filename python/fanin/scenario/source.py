"""What a scenario is read from: a file, the name of an experiment, a text, or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.scenario import library, sections
from fanin.scenario.settings import override, plain
from fanin.scenario.toml_text import to_toml

Source = str | Path | Mapping[str, Any]
"""A file, the name of an experiment, a text in TOML (of several lines), or the tables of one."""

_NAME = "scenario"
"""What a scenario without a file is called."""


def read(source: Source | None, tables: Mapping[str, Any]) -> tuple[str, Path, str]:
    """Name, file and text of a scenario.

    Args:
        source: What it is read from, unless it is given as tables.
        tables: Its tables, by name.

    Raises:
        TypeError: both are given, or none is.
        NotFoundError: there is neither a file nor an experiment of that name.
        ScenarioError: the file is not UTF-8, or its name would lead out of a results folder.

    """
    if (source is None) != bool(tables):
        raise TypeError("a scenario is given by a file, a name or a text, or by tables such as network={...}")
    # The name of a file may have a line break, but no table's values.
    if isinstance(source, str) and "\n" in source and "=" in source:
        return _NAME, Path(_NAME), source
    if source is None or isinstance(source, Mapping):
        return _NAME, Path(_NAME), to_toml(_written(tables if source is None else source))
    name, path = library.find(source)
    return name, path, sections.read_text(path)


def _written(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as a file has them: no name at its top has an underscore, and no value of the engine is a list."""
    own = set(_engine.keys())
    named = {name.replace("_", "-"): each for name, each in tables.items()}
    return {name: _joined(each) if name in own else _plain(each) for name, each in named.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a table holds
    """A value in Python's own types."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence | range) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return plain(value)


def _joined(value: Any) -> Any:  # noqa: ANN401
    """The same, with a list of values as the engine reads it."""
    value = _plain(value)
    if isinstance(value, dict):
        return {key: _joined(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_joined(each) for each in value] if any(isinstance(each, dict) for each in value) else override(value)
    return value
