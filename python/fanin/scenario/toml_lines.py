"""Reads TOML, and finds the line of a key in it, so that an error can point at it.

``tomllib`` keeps no positions. This scan knows strings, comments and brackets, so that it takes nothing inside a value
or a comment for a key or a header. It looks at each character once, whatever the text is.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from typing import Any

_MARK = re.compile(r"""["'#\n\[\]{}]""")
_STRING_ENDS = {
    '"': re.compile(r'"|\\.', re.DOTALL),
    "'": re.compile(r"'"),
    # Up to two quotes before the closing three belong to the string.
    '"""': re.compile(r'"{3,5}|\\.', re.DOTALL),
    "'''": re.compile(r"'{3,5}"),
}
"""What ends a string that begins with this mark, or is an escape in it."""
_PART = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*(\.?)""")


_MOST_PARTS = 100
"""Parts of a key, ``a.b.c`` has three. ``tomllib`` takes time in the square of their number."""
_LONG_KEY = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:(?:"(?:[^"\\]|\\.)*+"|'[^']*+'|[A-Za-z0-9_-]++)[ \t]*+\.[ \t]*+)"""
    f"{{{_MOST_PARTS}}}"
)


def loaded(text: str) -> dict[str, Any]:
    """What a text says as TOML.

    Raises:
        ValueError: it is not TOML, or has a number with too many digits.
        RecursionError: its values are nested too deeply, or its keys have too many parts.

    """
    # A key is on one line.
    if any(line.count(".") >= _MOST_PARTS and _LONG_KEY.search(line) for line in text.split("\n")):
        raise RecursionError
    return tomllib.loads(text)


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


# A scenario is that of many experiments.
@functools.lru_cache(maxsize=256)
def without(text: str, tables: frozenset[str]) -> str:
    """The text with the lines of these top-level tables emptied, so that all others keep their numbers."""
    kept = []
    inside = False
    for _, statement in _statements(text):
        if names := _names_of_header(statement):
            inside = names[0] in tables
        kept.append("\n" * statement.count("\n") if inside else statement)
    return "".join(kept)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each header and each key with its value, and the number of the line (from 1) on which it begins.

    A comment or an empty line is one of its own; together they are the text.
    """
    begin = place = depth = 0
    number = first = 1
    while found := _MARK.search(text, place):
        place = found.end()
        match found.group():
            case "\n":
                number += 1
                if depth <= 0:
                    yield first, text[begin:place]
                    begin, first, depth = place, number, 0
            case "#":
                end = text.find("\n", place)
                place = len(text) if end < 0 else end
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case _:
                place = _after_string(text, found.start())
                number += text.count("\n", found.start(), place)
    yield first, text[begin:]


def _after_string(text: str, start: int) -> int:
    """The place behind a string."""
    quote = text[start]
    mark = quote * 3 if text.startswith(quote * 3, start) else quote
    ends = _STRING_ENDS[mark].finditer(text, start + len(mark))
    return next((each.end() for each in ends if each.group()[0] == quote), len(text))


def syntax_error_line(text: str, error: tomllib.TOMLDecodeError) -> int:
    """Line that a TOML syntax error names; the last one if it is about the end of the document."""
    match = re.search(r"at line (\d+)", str(error))
    return int(match.group(1)) if match else text.removesuffix("\n").count("\n") + 1


# Checks ask for the lines of many keys of one text.
@functools.lru_cache(maxsize=16)
def _positions(text: str) -> tuple[tuple[tuple[str | int, ...], int], ...]:
    found: list[tuple[tuple[str | int, ...], int]] = []
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, statement in _statements(text):
        if names := _names_of_header(statement):
            if statement.lstrip().startswith("[["):
                counts[names] = counts.get(names, -1) + 1
                table = (*names, counts[names])
            else:
                table = names
            found.append((table, number))
        elif names := _names(statement, 0):
            found.append(((*table, *names), number))
    return tuple(found)


def _names_of_header(statement: str) -> tuple[str, ...]:
    """The names in a header such as ``[a.b]`` or ``[[a]]``; none if it is none."""
    bare = statement.lstrip()
    return _names(bare, 2 if bare.startswith("[[") else 1) if bare.startswith("[") else ()


def _names(statement: str, place: int) -> tuple[str, ...]:
    """The names of a dotted key that begins at a place."""
    names = []
    while found := _PART.match(statement, place):
        name, dot = found.groups()
        names.append(_plain(name))
        if not dot:
            break
        place = found.end()
    return tuple(names)


def _plain(name: str) -> str:
    """A name without its quotes."""
    if name[0] == "'":
        return name[1:-1]
    if name[0] != '"':
        return name
    try:
        return next(iter(tomllib.loads(f"{name} = 0")))
    except tomllib.TOMLDecodeError:
        return name[1:-1]


_UNQUOTED = re.compile(r"\s*([\w.-]+|\"[^\"]*\")\s*=\s*([\w.%+/-][^#\"']*)(#.*)?")


def unquoted(text: str, line: int) -> str | None:
    """What to write for a value that lacks its quotes, such as ``5us``; ``None`` if that is not what is wrong."""
    lines = text.split("\n")
    found = _UNQUOTED.fullmatch(lines[line - 1]) if 0 < line <= len(lines) else None
    if found is None:
        return None
    key, value = found[1], found[2].rstrip()
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return f'not TOML: values with letters or units are written in quotes: {key} = "{value}"'
    return None
