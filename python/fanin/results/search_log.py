"""What a search tried, in the order in which it was proposed, as lines that no one can take out or exchange unnoticed.

``fits/<id>/tried.jsonl`` and ``studies/<id>/tried.jsonl`` have a JSON object per line::

    {"search": name of the folder and engine, "number": 1, "left": 3, "before": "", "tried": {...}, "sha256": ...}

``before`` is the digest of the line before, and ``left`` the number of lines of its batch that follow. A log without
its last lines is that of a search that was interrupted there. It continues after the last whole batch, because later
proposals depend on where batches end.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fanin import _engine
from fanin.errors import ResultsError
from fanin.results import sums
from fanin.results.files import write_whole, writing
from fanin.results.layout import SEARCH_LOG
from fanin.results.typed import typed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Entry = TypeVar("Entry", bound="DataclassInstance")

_ENGINE = ", engine "


@dataclass(frozen=True)
class _Link:
    """A line without its digest."""

    search: str
    number: int
    left: int
    before: str
    tried: dict[str, Any]


class EarlierVersionError(Exception):
    """A log whose lines are not linked: earlier versions wrote it."""


def links(content: bytes) -> Iterator[tuple[bytes, _Link]]:
    """The lines of a log, each after it was compared with its digest and with the line before.

    Raises:
        EarlierVersionError: the first line is not linked.
        ValueError: a line is not what was written, or not where it was.

    """
    before = ""
    for number, line in enumerate(sums.lines_of(content), start=1):
        try:
            value = json.loads(line)
            bare = sums.unsealed(value)
            if number == 1 and "before" not in bare:
                raise EarlierVersionError
            (link,) = typed(_Link, [bare])
            # The digest is of the values. Only the bytes show a change that leaves these as they are.
            if json.dumps(value).encode() != line:
                raise ValueError("its content differs from what was written")
            if (link.number, link.before) != (number, before):
                raise ValueError("lines are missing, repeated or exchanged before it")
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        yield line + b"\n", link
        before = value[sums.OWN]


def check(content: bytes, folder: str) -> bool:
    """Checks a log in a folder of that name; returns whether its lines are linked.

    Raises:
        ValueError: a line is not what was written, or not where it was.

    """
    try:
        for _, link in links(content):
            if link.search.partition(_ENGINE)[0] != folder:
                raise ValueError(f"line {link.number}: it is of another search ({link.search})")
    except EarlierVersionError:
        return False
    return True


class Log(Generic[Entry]):
    """The log of one search."""

    def __init__(self, folder: Path, kind: type[Entry], admit: Callable[[Entry], None]) -> None:
        """Reads what earlier commands tried. What is damaged, and everything after it, is reported and dropped.

        Args:
            folder: The folder of the search, two levels below the results folder.
            kind: Data class of what was tried.
            admit: Raises ValueError for what the search cannot have tried.

        Raises:
            ResultsError: the log cannot be read or written.

        """
        self._path = folder / SEARCH_LOG
        self._search = f"{folder.name}{_ENGINE}{_engine.version()}"
        self._lines: list[bytes] = []
        self.entries: list[Entry] = []
        content = _content(self._path)
        try:
            self._read(content, kind, admit)
        except EarlierVersionError:
            self._begins_anew("of an earlier version")
        except ValueError as error:
            warnings.warn(f"{self._path}: damaged ({error}); it and what follows is tried again", stacklevel=3)
        if b"".join(self._lines) != content:
            self._write([])

    def _read(self, content: bytes, kind: type[Entry], admit: Callable[[Entry], None]) -> None:
        batch: list[tuple[bytes, Entry]] = []
        for line, link in links(content):
            if link.search != self._search:
                self._begins_anew(f"of another search or engine ({link.search})")
                return
            try:
                (entry,) = typed(kind, [link.tried])
                admit(entry)
            except ValueError as error:
                raise ValueError(f"line {link.number}: {error}") from None
            batch.append((line, entry))
            if not link.left:
                self._lines += [each for each, _ in batch]
                self.entries += [each for _, each in batch]
                batch.clear()

    def _begins_anew(self, why: str) -> None:
        self._lines.clear()
        self.entries.clear()
        warnings.warn(f"{self._path}: {why}; the search begins anew, its runs are kept", stacklevel=4)

    def add(self, batch: Sequence[Entry]) -> None:
        """Adds a batch.

        Raises:
            ResultsError: it cannot be written; the log stays as it was.

        """
        before = json.loads(self._lines[-1])[sums.OWN] if self._lines else ""
        lines = []
        for place, each in enumerate(batch, start=1):
            link = _Link(self._search, len(self._lines) + place, len(batch) - place, before, asdict(each))
            value = sums.sealed(asdict(link))
            lines.append(json.dumps(value).encode() + b"\n")
            before = value[sums.OWN]
        self._write(lines)
        self._lines += lines
        self.entries += batch

    def _write(self, more: Sequence[bytes]) -> None:
        """Replaces the file as a whole, so that one to which it is linked elsewhere is not changed."""
        with writing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, b"".join((*self._lines, *more)))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
