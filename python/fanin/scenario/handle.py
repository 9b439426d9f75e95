"""Scenarios as the engine holds them. Each text is parsed once, and each changed scenario is read once."""

from __future__ import annotations

import functools
import tomllib
from typing import Any

from fanin._engine import Scenario
from fanin.errors import ScenarioError


# A file is read for its own sake, as what others run, and for the report.
@functools.lru_cache(maxsize=256)
def opened(text: str, file: str) -> Scenario:
    """The scenario in a text.

    Raises:
        ScenarioError: it is not TOML.

    """
    # A text of a record can have what no file has, and the engine takes no such text.
    text, file = (each.encode(errors="replace").decode() for each in (text, file))
    return Scenario(text, file)


# Ids, records and warnings ask for the same points, and so do all experiments that share a scenario's runs.
@functools.lru_cache(maxsize=1024)
def with_changes(text: str, file: str, changes: tuple[tuple[str, str], ...]) -> Scenario:
    """The scenario in a text with some values replaced."""
    return opened(text, file).with_changes(changes)


def line_of(text: str, file: str, path: tuple[str | int, ...]) -> int | None:
    """Line (from 1) of the key at ``path``, or of the innermost table on the way to it.

    Args:
        text: A TOML document.
        file: Its name.
        path: Keys, and indices (from 0) into arrays of tables, such as ``("claim", 1, "accept")``.

    """
    return opened(text, file).line(path)


@functools.lru_cache(maxsize=256)
def tables_of(text: str, file: str) -> dict[str, Any]:
    """What a file says as TOML, which nobody may change: it is asked for several times.

    Raises:
        ScenarioError: it is not TOML, or has a number with too many digits; values or keys are nested too deeply.

    """
    # The engine knows the line of what is wrong.
    opened(text, file)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(file, None, "", f"not TOML: {error}") from None
    except ValueError:
        # The only other limit of the parser is Python's on the digits of whole numbers.
        raise ScenarioError(file, None, "", "a number has too many digits") from None
