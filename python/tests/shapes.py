"""What a command prints with ``--json``, compared with what its help says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from fanin.cli.commands import COMMANDS
from fanin.numbers.summary import measured

_REGENERATE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "reference" / "regenerate.py"))

Shape = dict[str, Any]
"""Keys of an object, each with the shape of what it holds, if that is said."""


def stated(command: str) -> list[Shape]:
    """Every shape in the help of a command."""
    texts = _REGENERATE["stated"](COMMANDS[command].module)
    shapes = [_object(*each) for text in texts for each in _braces(text)]
    if any("the totals of the run" in text for text in texts):
        shapes.append(dict.fromkeys(measured()))
    return shapes


def _braces(text: str) -> list[tuple[str, int]]:
    """Where the outermost braces of a text open."""
    depth, found = 0, []
    for place, each in enumerate(text):
        if each == "{" and depth == 0:
            found.append((text, place))
        depth += (each == "{") - (each == "}")
    return found


def _object(text: str, opened: int) -> Shape:
    return _read(iter(re.findall(r"[{}]|[^][{},:\s]+", text[opened + 1 :])))


def _read(tokens: Any) -> Shape:
    shape: Shape = {}
    last = ""
    for token in tokens:
        if token == "}":
            return shape
        if token == "{":
            shape[last] = _read(tokens)
        else:
            shape[token] = None
            last = token
    raise AssertionError("a brace is not closed")


def unstated(command: str, printed: Any) -> list[str]:
    """Keys that a command prints and its help does not name."""
    shapes = stated(command)
    first = printed if isinstance(printed, list) else [printed]
    return sorted({path for value in first for path in _unstated(value, _union(shapes))})


def _union(shapes: list[Shape]) -> Shape:
    return {key: inner for shape in shapes for key, inner in shape.items()}


def _unstated(value: Any, shape: Shape) -> list[str]:
    if isinstance(value, list):
        return [path for each in value for path in _unstated(each, shape)]
    if not isinstance(value, dict) or "..." in shape:
        return []
    if list(shape) == ["column"]:
        shape = dict.fromkeys(value, shape["column"])
    found = [key for key in value if key not in shape]
    for key in value:
        if isinstance(inner := shape.get(key), dict):
            found += [f"{key}.{path}" for path in _unstated(value[key], inner)]
    return found


def undocumented(record: dict[str, Any], section: str) -> set[str]:
    """Keys of a record that a section of the page on output does not name."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "output.md").read_text()
    said = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return {key for key in _keys(record) if not re.search(rf"\b{key}\b", said)}


def _keys(value: Any) -> set[str]:
    inner = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return {*(value if isinstance(value, dict) else ()), *(key for each in inner for key in _keys(each))}
