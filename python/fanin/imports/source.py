"""A file to import, read line by line, with the current position for error messages."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import NoReturn, TextIO

from fanin.errors import NotFoundError, ScenarioError
from fanin.scenario.sections import refuse_special

LATEST = 10**18
"""The longest list of flows, in picoseconds."""

_DIGITS = 15
"""Most digits of a whole number, which a double and a 64-bit integer can hold."""

_MOST_POWER = _DIGITS + 9
"""The largest power of ten of a number, above those of all starts, sizes and shares; exact arithmetic stays cheap."""

TOO_LARGE = 10**_DIGITS
"""The least size in bytes that is none of a flow."""


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
        if digits and len(text) > _DIGITS:
            self.fail(f"{what} {text!r} is too large: it has {len(text)} digits, at most {_DIGITS} are read")
        if not digits or int(text) < least:
            self.fail(f"{what} {text!r} is not a whole number{f' of at least {least}' if least else ''}")
        return int(text)

    def number(self, text: str, what: str) -> Decimal:
        """A finite number."""
        try:
            found = Decimal(text)
        except ArithmeticError:
            found = Decimal("NaN")
        if not found.is_finite():
            self.fail(f"{what} {text!r} is not a number")
        if found.adjusted() > _MOST_POWER:
            self.fail(f"{what} {text!r} is too large: numbers are below 1e{_MOST_POWER + 1}")
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

    def lines(self) -> Iterator[str]:
        """Lines without comments; ``line`` is kept up to date."""
        try:
            with self._opened() as stream:
                for self.line, text in enumerate(stream, 1):
                    if "\0" in text:
                        self.fail("no text: it has a NUL")
                    if text.strip() and not text.lstrip().startswith("#"):
                        yield text.strip()
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

    def table(self, last: Sequence[str] | None = None) -> Iterator[list[str]]:
        """The rows of a CSV file without blanks around their fields, first the names of the columns, each another one.

        A field ends on its line: in records, an unbalanced quote is more likely than a text of several lines.

        Args:
            last: A row with which the table ends, of any length.

        """
        header: list[str] | None = None
        for text in self.lines():
            try:
                fields = [field.strip() for field in next(csv.reader([text], strict=True))]
            except csv.Error as error:
                self.fail(f"not a CSV file: {error}")
            if header is None:
                header = fields
                if twice := [name for name, count in Counter(header).items() if count > 1]:
                    self.fail(f"two columns are called {twice[0]!r}")
            elif fields == last:
                yield fields
                return
            elif len(fields) != len(header):
                self.fail(f"{len(fields)} fields, but the header has {len(header)}")
            yield fields
