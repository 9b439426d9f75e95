"""Finds the line of a key in a TOML text, so that an error can point at it.

``tomllib`` keeps no positions. This scan recognises headers, arrays of tables and ``key = value`` lines, of which
scenario files consist; if it does not find a key, it returns the line of the nearest table above.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+|\s*\.\s*)+?)\s*=""")
_MULTILINE = re.compile(r'"{3}|\'{3}')
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


def without(text: str, tables: Collection[str]) -> str:
    """The text with the lines of these top-level tables emptied, so that all others keep their numbers."""
    kept = []
    inside, quoted = False, ""
    for line in text.splitlines():
        if not quoted and (header := _HEADER.match(line)) and (names := _parts(header.group(2))):
            inside = names[0] in tables
        kept.append("" if inside else line)
        quoted = _quoted_after(line, quoted)
    return "\n".join(kept) + "\n"


def _quoted_after(line: str, quoted: str) -> str:
    """The delimiter of the multi-line string that is open at the end of a line."""
    for mark in _MULTILINE.findall(line):
        if not quoted:
            quoted = mark
        elif quoted == mark:
            quoted = ""
    return quoted


def syntax_error_line(text: str, error: tomllib.TOMLDecodeError) -> int:
    """Line that a TOML syntax error names; the last one if it is about the end of the document."""
    match = re.search(r"at line (\d+)", str(error))
    return int(match.group(1)) if match else len(text.splitlines())


# Checks ask for the lines of many keys of one text.
@functools.lru_cache(maxsize=16)
def _positions(text: str) -> tuple[tuple[tuple[str | int, ...], int], ...]:
    found: list[tuple[tuple[str | int, ...], int]] = []
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    quoted = ""
    for number, line in enumerate(text.splitlines(), start=1):
        within, quoted = quoted, _quoted_after(line, quoted)
        if within:
            continue
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
    return tuple(found)


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(quoted or single or bare for quoted, single, bare in _PART.findall(dotted))


_UNQUOTED = re.compile(r"\s*([\w.-]+|\"[^\"]*\")\s*=\s*([\w.%+/-][^#\"']*?)\s*(#.*)?")


def unquoted(text: str, line: int) -> str | None:
    """What to write for a value that lacks its quotes, such as ``5us``; ``None`` if that is not what is wrong."""
    lines = text.splitlines()
    found = _UNQUOTED.fullmatch(lines[line - 1]) if 0 < line <= len(lines) else None
    if found is None:
        return None
    key, value = found[1], found[2]
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return f'not TOML: values with letters or units are written in quotes: {key} = "{value}"'
    return None
