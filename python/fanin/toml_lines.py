"""Finds the line of a key in a TOML text, so that an error can point at it.

``tomllib`` keeps no positions. This scan knows headers, arrays of tables and ``key = value`` lines, which is what
scenario files are made of; where it does not recognise a key it names the nearest table above it.
"""

from __future__ import annotations

import re
import tomllib

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+|\s*\.\s*)+?)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """Line (from 1) of the key at ``path``, or of the innermost table on the way to it.

    Args:
        text: A TOML document.
        path: Keys, and indices (from 0) into arrays of tables, such as ``("claim", 1, "accept")``.

    """
    best: tuple[int, int] | None = None
    for position, line in _positions(text):
        if position == path[: len(position)] and (best is None or len(position) > best[0]):
            best = (len(position), line)
    return None if best is None else best[1]


def syntax_error_line(text: str, error: tomllib.TOMLDecodeError) -> int:
    """Line that a TOML syntax error names; the last one if it is about the end of the document."""
    match = re.search(r"at line (\d+)", str(error))
    return int(match.group(1)) if match else len(text.splitlines())


def _positions(text: str) -> list[tuple[tuple[str | int, ...], int]]:
    found: list[tuple[tuple[str | int, ...], int]] = []
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            names = _parts(header.group(2))
            if header.group(1) == "[[":
                counts[names] = counts.get(names, -1) + 1
                table = (*names, counts[names])
            else:
                table = names
            found.append((table, number))
        elif key := _KEY.match(line):
            found.append(((*table, *_parts(key.group(1))), number))
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(quoted or single or bare for quoted, single, bare in _PART.findall(dotted))
