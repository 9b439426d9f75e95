"""The runs of a results folder as rows of a list, each read once and again when it was replaced."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results import records
from fanin.results.layout import RUNS
from fanin.results.store import CAPTURE, StoredRun, read_manifest, read_run

TEXTS = ("run_id", "experiment", "scheme", "topology", "traffic", "bytes_each", "rate", "buffer", "finished")
"""Columns of text, which a search looks through."""

TOTALS = (
    "goodput_bps", "fct_p50_s", "fct_p99_s", "query_p99_s", "flows", "completed", "incomplete", "drops", "timeouts",
    "marks",
)  # fmt: skip
"""Totals in the list."""

COLUMNS = (
    "run_id", "experiment", "scheme", "topology", "traffic", "senders", "bytes_each", "rate", "buffer", "seed", *TOTALS,
    "finished",
)  # fmt: skip
"""Columns in the order of the list, by each of which it can be sorted."""

Row = dict[str, Any]

_LONGEST = 200
"""Characters of a text in the list."""

_SETTLED_S = 2.0
"""Clocks of file systems are coarse: a folder that has changed within this time is looked at again."""


@dataclass
class _Log:
    """What is known of a log of runs."""

    inode: int
    read: int = 0
    """Bytes that were read."""
    runs: dict[str, tuple[Row, records.Line]] = field(default_factory=dict)
    why: str = ""
    """What is wrong with it."""


class Index:
    """The runs of a folder."""

    def __init__(self, root: Path) -> None:
        self._folder = root / RUNS
        self._lock = threading.Lock()
        self._folders: dict[str, tuple[int, Row]] = {}
        """Runs with a folder of their own: its inode, and the row."""
        self._logs: dict[Path, _Log] = {}
        self._seen: int | None = None
        """When the folder of runs had changed last."""
        self._rows: dict[str, Row] = {}
        self._lines: dict[str, records.Line] = {}
        self._strange: dict[str, str] = {}
        """Entries of the folder of runs that are not opened."""
        self._damaged: dict[str, str] = {}

    def rows(self) -> tuple[dict[str, Row], dict[str, str]]:
        """The rows by run, and what cannot be read with the reason."""
        with self._lock:
            self._refresh()
            return self._rows, self._damaged

    def run(self, name: str) -> StoredRun | None:
        """A run of the list, with its files compared in size; none if the list does not have it.

        Raises:
            ResultsError: it is damaged.

        """
        rows, _ = self.rows()
        if name not in rows:
            return None
        if name in self._folders:
            return read_run(self._folder / name)
        line = self._lines[name]
        return StoredRun(self._folder / name, records.manifest(line, name), line)

    def _refresh(self) -> None:
        if not self._folder.is_dir():
            self._rows, self._seen = {}, None
            return
        changed = self._folder.stat().st_mtime_ns
        looked = changed != self._seen
        if looked:
            self._look()
            self._seen = changed if time.time_ns() - changed > _SETTLED_S * 1e9 else None
        more = [self._read_log(path, log) for path, log in self._logs.items()]
        if looked or any(more):
            self._join()

    def _look(self) -> None:
        """Finds the runs that came, were replaced or have gone."""
        self._strange = {}
        found: dict[str, tuple[int, Row]] = {}
        logs: dict[Path, _Log] = {}
        with os.scandir(self._folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                path = Path(entry.path)
                try:
                    if is_run_id(entry.name):
                        known = self._folders.get(entry.name)
                        same = known is not None and known[0] == entry.inode()
                        found[entry.name] = known if same and known else (entry.inode(), self._of_folder(entry.name))
                    elif records.is_log(path):
                        log = self._logs.get(path)
                        logs[path] = log if log and log.inode == entry.inode() else _Log(entry.inode())
                except ResultsError as error:
                    self._strange[entry.name] = str(error)
        self._folders, self._logs = found, logs

    def _of_folder(self, name: str) -> Row:
        manifest = read_manifest(self._folder / name).manifest
        return _row(name, manifest, manifest["summary"], list(manifest["files"]))

    def _read_log(self, path: Path, log: _Log) -> bool:
        """Reads what was added to a log; whether there was anything."""
        try:
            if path.stat().st_size <= log.read:
                return False
            for line, text in records.lines(path, log.read):
                log.read = line.end
                try:
                    log.runs |= {row["run_id"]: (row, line) for row in _of_line(line, text)}
                except ResultsError as error:
                    log.why = str(error)
        except (ResultsError, OSError) as error:
            log.why = str(error)
        return True

    def _join(self) -> None:
        """A run's folder is used before its line; of several lines, the one with most tables."""
        logged: dict[str, tuple[Row, records.Line]] = {}
        for log in self._logs.values():
            for name, (row, line) in log.runs.items():
                if name not in logged or len(logged[name][0]["tables"]) < len(row["tables"]):
                    logged[name] = row, line
        self._damaged = self._strange | {path.name: log.why for path, log in self._logs.items() if log.why}
        self._lines = {name: line for name, (_, line) in logged.items()}
        rows = {name: row for name, (row, _) in logged.items()} | {
            name: row for name, (_, row) in self._folders.items()
        }
        # Sorted, as runs of equal value are shown in this order.
        self._rows = dict(sorted(rows.items()))


def _of_line(line: records.Line, text: bytes) -> Iterator[Row]:
    """The rows of the runs in a line of a log."""
    if not records.is_whole(text):
        raise ResultsError(records.damaged(line))
    try:
        about = json.loads(text)
        for name, seed, each in zip(about["runs"], about["seeds"], about["each"], strict=True):
            if is_run_id(name):
                scenario = records.with_seed(about["scenario"], seed)
                files = [f"{table}.parquet" for table in each["tables"]]
                yield _row(name, {**about, "scenario": scenario}, each["summary"], files)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise ResultsError(f"{line.path}: line {line.number} is not a line of runs") from None


def _row(name: str, manifest: dict[str, Any], summary: object, files: list[str]) -> Row:
    """A run in the list; what is not of the expected kind is left empty."""
    scenario = _table(manifest.get("scenario"))
    traffic = scenario.get("traffic")
    groups = [_table(each) for each in traffic[:_LONGEST]] if isinstance(traffic, list) else []
    network, transport = _table(scenario.get("network")), _table(scenario.get("transport"))
    totals = _table(summary)
    return {
        "run_id": name,
        "experiment": _text(manifest.get("experiment")),
        "scheme": _text(transport.get("scheme")),
        "topology": _text(network.get("topology")),
        "traffic": _each(groups, "kind"),
        # Of the group with most, as a sweep varies that.
        "senders": max((each for each in (_number(group.get("senders")) for group in groups) if each), default=None),
        "bytes_each": _each(groups, "bytes-each"),
        "rate": _text(network.get("rate")),
        "buffer": _text(network.get("buffer" if network.get("admission") == "static" else "shared-buffer")),
        "finished": _text(manifest.get("finished")),
        "seed": _number(_table(scenario.get("run")).get("seed")),
        **{total: _number(totals.get(total)) for total in TOTALS},
        "tables": [file.removesuffix(".parquet") for file in files if file.endswith(".parquet")],
        "capture": CAPTURE in files,
    }


def _each(groups: list[dict[str, Any]], key: str) -> str:
    """What traffic groups have of a key, each value once."""
    values = dict.fromkeys(_text(group.get(key)) for group in groups)
    # Of no size is what is endless.
    return ", ".join(value for value in values if value not in ("", "0B"))[:_LONGEST]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


_EXACT = 1 << 53
"""Integers up to here are numbers of JavaScript."""


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else None
    return value if math.isfinite(value) else None


def chosen(rows: dict[str, Row], search: str, sort: str, *, descending: bool) -> list[Row]:
    """The rows that have every word of a search, sorted; rows without a value come last."""
    words = search.lower().split()
    found = [row for row in rows.values() if not words or _has(row, words)]
    known = [row for row in found if row[sort] not in (None, "")]
    known.sort(key=lambda row: row[sort], reverse=descending)
    return known + [row for row in found if row[sort] in (None, "")]


def _has(row: Row, words: list[str]) -> bool:
    text = " ".join(row[name] for name in TEXTS).lower()
    return all(word in text for word in words)
