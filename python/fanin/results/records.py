"""Runs of sweeps in a few files: the runs of one point with several seeds are one line of a log.

A command that runs many points writes one log, ``results/runs/<name>.jsonl``, a line at a time, and flushes it to disk
about once a second. A line is a JSON object. Its first key, ``sha256``, is the digest of the rest as it is written::

    {"sha256": ..., "runs": [ids], "seeds": [...], "each": [{"summary", "tables"}], "experiment", "scenario", ...}

``scenario`` is that of one of them. ``tables`` has the content of small Parquet files, in Base64. A last line without
a line feed was being written when its command was killed: its runs are not there yet.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results import files
from fanin.results.layout import RUNS

SUFFIX = ".jsonl"

_SYNC_EVERY_S = 1.0

_HEAD = b'{"sha256": "'
_REST = b'", '
_DIGEST = slice(len(_HEAD), len(_HEAD) + 64)
_START = _DIGEST.stop + len(_REST)
"""Where the rest of a line begins, without its opening brace."""


class Line(NamedTuple):
    """The place of a line."""

    path: Path
    start: int
    end: int
    number: int


@dataclass(frozen=True)
class Packed:
    """A run as it is put into a line."""

    run_id: str
    seed: int
    summary: dict[str, Any]
    tables: Mapping[str, bytes]
    """Contents of Parquet files."""

    def manifest(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """Its manifest, as it would be in a folder of its own, without digest.

        Args:
            about: The keys that the runs of a line share.

        """
        files = {
            f"{table}.parquet": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for table, content in self.tables.items()
        }
        scenario = with_seed(about["scenario"], self.seed)
        return {"run_id": self.run_id, "summary": self.summary, "files": files, **about, "scenario": scenario}


def with_seed(resolved: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The same resolved scenario with another seed."""
    return {**resolved, "run": {**resolved["run"], "seed": seed}}


def logs(folder: Path) -> list[Path]:
    """The logs of a folder of runs."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())


def is_log(path: Path) -> bool:
    """Whether this is the path of a log."""
    return path.suffix == SUFFIX and path.absolute().parent.name == RUNS


def text_of(runs: Sequence[Packed], about: Mapping[str, Any]) -> bytes:
    """The line of some runs of one point.

    Args:
        runs: The runs.
        about: The other keys of their manifests; the scenario is that of one of them.

    """
    each = [
        {
            "summary": run.summary,
            "tables": {name: base64.b64encode(content).decode() for name, content in run.tables.items()},
        }
        for run in runs
    ]
    content = {"runs": [run.run_id for run in runs], "seeds": [run.seed for run in runs], "each": each, **about}
    rest = json.dumps(content).encode()[1:]
    return b"".join((_HEAD, hashlib.sha256(rest).hexdigest().encode(), _REST, rest, b"\n"))


def is_whole(line: bytes) -> bool:
    """Whether a line is what was written."""
    # Lines may be large, and there may be many: nothing is copied.
    rest = memoryview(line)[_START : len(line) - line.endswith(b"\n")]
    return line[:_START] == b"".join((_HEAD, hashlib.sha256(rest).hexdigest().encode(), _REST))


def lines(path: Path, start: int = 0) -> Iterator[tuple[Line, bytes]]:
    """The complete lines of a log from an offset on; numbers are counted from there.

    Raises:
        OSError: it cannot be read.

    """
    with path.open("rb") as stream:
        stream.seek(start)
        for number, line in enumerate(stream, start=1):
            # The line feed may be what is damaged.
            if line.endswith(b"\n") or is_whole(line) or is_whole(line[:-1]):
                yield Line(path, start, start + len(line), number), line
            start += len(line)


_IDS = b'"runs": ["'


def ids_of(line: bytes) -> list[str]:
    """The ids of a line's runs."""
    start = line.find(_IDS, 0, _START + len(_IDS)) + len(_IDS)
    return line[start : line.find(b'"]', start)].decode("ascii", "replace").split('", "')


def ids(folder: Path) -> frozenset[str]:
    """The ids of all runs in the logs of a folder, without a comparison of digests."""
    found: set[str] = set()
    for path in logs(folder):
        with contextlib.suppress(OSError):
            for _, line in lines(path):
                found.update(each for each in ids_of(line) if is_run_id(each))
    return frozenset(found)


@functools.lru_cache(maxsize=8)
def content(line: Line) -> dict[str, Any]:
    """What a line says; that of neighbouring runs is read once.

    Raises:
        ResultsError: it is not what was written.

    """
    try:
        with line.path.open("rb") as stream:
            stream.seek(line.start)
            found = stream.read(line.end - line.start)
    except OSError as error:
        raise ResultsError(f"{line.path}: damaged ({error.strerror or error})") from None
    if not is_whole(found):
        raise ResultsError(damaged(line))
    value: dict[str, Any] = json.loads(found)
    return value


def damaged(line: Line) -> str:
    """What to say of a line that is not what was written."""
    return f"{line.path}: damaged (line {line.number}: its content differs from what was written)"


def manifest(line: Line, name: str) -> dict[str, Any]:
    """The manifest of a run in a line.

    Raises:
        ResultsError: the line is not what was written.

    """
    found = content(line)
    place = found["runs"].index(name)
    each = found["each"][place]
    tables = {table: base64.b64decode(text) for table, text in each["tables"].items()}
    about = {key: value for key, value in found.items() if key not in _OF_LINES}
    return Packed(name, found["seeds"][place], each["summary"], tables).manifest(about)


_OF_LINES = frozenset({"sha256", "runs", "seeds", "each"})
"""Keys of a line that are not of manifests."""


def table(line: Line, name: str, table: str) -> bytes:
    """The content of a run's Parquet file.

    Raises:
        ResultsError: the line is not what was written.

    """
    found = content(line)
    return base64.b64decode(found["each"][found["runs"].index(name)]["tables"][table])


class Records:
    """The logs of a folder of runs, and one to write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, list[Line]] = {}
        self._read: dict[Path, int] = {}
        """How many bytes of each log are known."""
        self._lock = threading.Lock()
        self._log: Path | None = None
        self._descriptor = -1
        self._synced = float("-inf")
        self._unsynced = False

    def refresh(self, *, compared: bool = True) -> list[Line]:
        """Reads what was written since; returns the damaged lines, which count as not there.

        Args:
            compared: Whether to compare all lines with their digests. A line is compared in any case when it is used,
                which is enough to look up a few runs.

        Raises:
            ResultsError: a log cannot be read.

        """
        found = []
        for path in logs(self._folder):
            known = self._read.get(path, 0)
            try:
                if path.stat().st_size <= known:
                    continue
                for line, text in lines(path, known):
                    self._read[path] = line.end
                    if compared and not is_whole(text):
                        found.append(line)
                        continue
                    for name in ids_of(text):
                        self._lines.setdefault(name, []).append(line)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
        return found

    def find(self, name: str) -> list[Line]:
        """The lines with that run."""
        return self._lines.get(name, [])

    def append(self, runs: Sequence[Packed], about: Mapping[str, Any]) -> Line:
        """Writes a line; it is flushed to disk with those of a second, at the latest by :meth:`close`.

        Raises:
            OSError: it cannot be written; nothing of it is left behind.

        """
        text = text_of(runs, about)
        with self._lock:
            path = self._opened()
            start = self._read[path]
            try:
                _write(self._descriptor, text)
                line = Line(path, start, start + len(text), 0)
                self._unsynced = True
                if time.monotonic() - self._synced > _SYNC_EVERY_S:
                    self._sync()
            except OSError:
                os.ftruncate(self._descriptor, start)
                raise
            self._read[path] = line.end
            for run in runs:
                self._lines.setdefault(run.run_id, []).append(line)
        return line

    def close(self) -> None:
        """Flushes what was written; what is written later continues the same log.

        Raises:
            OSError: it cannot be written, or somebody has removed it.

        """
        with self._lock:
            if self._log is None or self._descriptor < 0:
                return
            try:
                if os.fstat(self._descriptor).st_nlink == 0:
                    raise FileNotFoundError(errno.ENOENT, "removed while it was written", str(self._log))
                if self._unsynced:
                    self._sync()
            finally:
                os.close(self._descriptor)
                self._descriptor = -1
                if not self._read[self._log]:
                    self._log.unlink(missing_ok=True)

    def _opened(self) -> Path:
        if self._log is None:
            self._log = self._folder / f"{uuid.uuid4().hex}{SUFFIX}"
        if self._descriptor < 0:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            # For as long as it is written, nobody else may remove damaged lines of it. Some file systems have no locks.
            with contextlib.suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            self._read[self._log] = os.fstat(self._descriptor).st_size
            self._synced = float("-inf")
        return self._log

    def _sync(self) -> None:
        assert self._log is not None
        files.sync(self._log)
        if self._synced == float("-inf"):
            files.sync(self._folder)
        self._synced, self._unsynced = time.monotonic(), False


def _write(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def drop_damaged(path: Path) -> bool:
    """Writes the whole lines of a log to a new one, which takes its place; unless a command is still writing it.

    Raises:
        OSError: it cannot be written.

    """
    with path.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        kept = b"".join(text for _, text in lines(path) if is_whole(text))
        if kept:
            # Another name: places in the old one are not places in the new one.
            files.write_whole(path.with_name(f"{uuid.uuid4().hex}{SUFFIX}"), kept)
        path.unlink()
    return True
