"""A file to import, read line by line, with the current position for error messages."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, NoReturn, TextIO

from fanin.errors import NotFoundError, ScenarioError
from fanin.scenario.sections import refuse_special

LATEST = 10**18
"""The longest list of flows, in picoseconds."""

_MAX_DIGITS = 15
"""Most digits of a whole number, which a double and a 64-bit integer can hold."""

_MAX_POWER = _MAX_DIGITS + 9
"""The largest power of ten of a number, above those of all starts, sizes and shares; exact arithmetic stays cheap."""

TOO_LARGE = 10**_MAX_DIGITS
"""The least size in bytes that is none of a flow."""

_DELIMITERS = ",\t;|"
_ZEEK_FIELDS = "#fields\t"
"""How Zeek begins the comment that names the columns of a log."""


class Unit(StrEnum):
    """Unit of a time."""

    S = "s"
    MS = "ms"
    US = "us"
    NS = "ns"
    PS = "ps"

    @property
    def ps(self) -> int:
        """The unit in picoseconds."""
        return int(10 ** (12 - 3 * list(Unit).index(self)))


class Stated(NamedTuple):
    """A number that a file states about itself."""

    what: str
    number: int
    line: int


class Source:
    """A file and the position in it."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self.content = content
        """What is in the file, if it has been read."""
        self.line = 0

    def fail(self, message: str) -> NoReturn:
        """Raises an error that names file and line.

        Raises:
            ScenarioError: always.

        """
        raise ScenarioError(str(self.path), self.line or None, "", message)

    def whole(self, text: str, what: str, least: int = 0) -> int:
        """A whole number, at least ``least``."""
        digits = text.isascii() and text.isdigit()
        if digits and len(text) > _MAX_DIGITS:
            self.fail(f"{what} {text!r} is too large: it has {len(text)} digits, at most {_MAX_DIGITS} are read")
        if not digits or int(text) < least:
            self.fail(f"{what} {text!r} is not a whole number{f' of at least {least}' if least else ''}")
        return int(text)

    def stated(self, text: str, what: str, least: int = 0) -> Stated:
        """A number that the file states about itself on this line."""
        return Stated(what, self.whole(text, what, least), self.line)

    def compare(self, stated: Stated | None, found: int, hint: str = "") -> None:
        """Refuses a file that states another number than was found in it."""
        if stated is not None and stated.number != found:
            self.line = stated.line
            self.fail(f"{stated.what} {stated.number}, but the file has {found}{hint}")

    def number(self, text: str, what: str) -> Decimal:
        """A finite number."""
        try:
            found = Decimal(text)
        except ArithmeticError:
            found = Decimal("NaN")
        if not found.is_finite():
            self.fail(f"{what} {text!r} is not a number")
        if found.adjusted() > _MAX_POWER:
            self.fail(f"{what} {text!r} is too large: numbers are below 1e{_MAX_POWER + 1}")
        return found

    def time(self, text: str, unit: Unit) -> int:
        """A time since the beginning, in picoseconds."""
        ps = self.number(text, "start") * unit.ps
        if not 0 <= ps <= LATEST:
            self.fail(f"start {text} {unit} is not between 0 and {LATEST // Unit.S.ps} s")
        return int(ps)

    def hosts(self, src: int, dst: int) -> tuple[int, int]:
        """The two ends of a flow, which must differ."""
        if src == dst:
            self.fail(f"host {src} sends to itself")
        return src, dst

    def lines(self, kept: str = "") -> Iterator[str]:
        """Lines without comments, except those that begin with ``kept``; ``line`` is kept up to date."""
        try:
            with self._opened() as stream:
                for self.line, text in enumerate(stream, 1):
                    if "\0" in text:
                        self.fail("no text: it has a NUL")
                    # A tab can be the end of an empty field.
                    if text.strip() and (not text.lstrip().startswith("#") or (kept and text.startswith(kept))):
                        yield text.strip(" \r\n")
        except UnicodeDecodeError:
            self.line += 1
            self.fail("no UTF-8 text")
        except OSError as error:
            raise NotFoundError(f"{self.path}: {error.strerror or error}") from None

    def _opened(self) -> TextIO:
        if self.content is not None:
            return io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig")
        refuse_special(self.path)
        return self.path.open(encoding="utf-8-sig")

    def rows(self, named: str = "") -> Iterator[list[str]]:
        """Lines as fields without blanks around them.

        They are separated by what is most frequent in the first line that has any of comma, tab, semicolon and bar; if
        none has, by blanks. A field ends on its line: in records, an unbalanced quote is more likely than a text of
        several lines.

        Args:
            named: How a comment begins that names the columns, up to the delimiter; below it a quote is a character
                like others.

        """
        delimiter, plain = "", False
        for text in self.lines(named):
            if named and text.startswith(named):
                delimiter, plain, text = named[-1], True, text.removeprefix(named)
            if not delimiter:
                if text.startswith("{"):
                    self.fail("JSON; write a table with a header")
                delimiter = max((each for each in _DELIMITERS if each in text), key=text.count, default="")
            if plain or not delimiter:
                yield [field.strip() for field in text.split(delimiter or None)]
                continue
            try:
                fields = next(csv.reader([text], strict=True, delimiter=delimiter))
            except csv.Error as error:
                self.fail(f"not a CSV file: {error}")
            yield [field.strip() for field in fields]

    def table(self, last: Sequence[str] | None = None) -> Iterator[list[str]]:
        """The rows of a table, first the names of the columns, each another one; lines that repeat them are left out.

        Args:
            last: A row after which rows may have any length.

        """
        header: list[str] = []
        ended = False
        for fields in self.rows(_ZEEK_FIELDS):
            if not header:
                header = fields
                if twice := [name for name, count in Counter(header).items() if count > 1]:
                    self.fail(f"two columns are called {twice[0]!r}")
            elif fields == header:
                continue
            ended |= fields == last
            if not ended and len(fields) != len(header):
                self.fail(f"{len(fields)} fields, but the header has {len(header)}")
            yield fields
