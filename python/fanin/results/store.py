"""The store of a results folder: every run by its id, a hash of what was simulated.

A run is a row of ``fanin.db`` (:mod:`fanin.results.database`) with its tables. It is written in a transaction, so a
killed command leaves complete runs or none. The id is a hash of the resolved scenario (seed included) and of the
engine: a finished run is found again, unless the scenario or the engine has changed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sqlite3
import subprocess
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from fanin import _engine
from fanin.digests import digest
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.results.database import Database
from fanin.results.failures import Failure
from fanin.results.files import beside, tidy
from fanin.results.frames import Column, decode, frame_in, parquet_of
from fanin.results.packages import packages

CAPTURE = "capture"
"""Name of captured packets, which are stored like a table."""

_SMALL = 1 << 18
"""Bytes of a table that is kept in memory once it was read."""


@dataclass(frozen=True)
class StoredRun:
    """A finished run in the store. Its tables and its scenario are read when they are asked for."""

    run_id: str
    experiment: str
    """The experiment for which it was made."""
    finished: str
    engine_version: str
    summary: dict[str, Any] = field(hash=False)
    """Its totals."""
    made: dict[str, Any] = field(hash=False, repr=False)
    """Versions and machine."""
    measured: dict[str, Any] | None = field(hash=False, repr=False)
    """The command and the point of a measurement, which has no scenario."""
    sizes: dict[str, int] = field(hash=False, repr=False)
    """Bytes of each table, and of captured packets."""
    store: Store = field(compare=False, repr=False)

    @property
    def place(self) -> str:
        """What the user knows it by: what commands take."""
        return str(self.store.root / self.run_id)

    @property
    def tables(self) -> list[str]:
        """Names of the stored tables."""
        return [name for name in self.sizes if name != CAPTURE]

    @property
    def scenario(self) -> dict[str, Any]:
        """Its scenario with every default filled in; that of a measurement is empty."""
        return self.store.scenario(self.run_id)

    @property
    def manifest(self) -> dict[str, Any]:
        """All that is known of it, without the content of its tables."""
        own = {"run_id": self.run_id, "experiment": self.experiment, "summary": self.summary, "tables": self.sizes}
        own |= {"measured": self.measured} if self.measured else {"scenario": self.scenario}
        return {**own, "finished": self.finished, "engine_version": self.engine_version, **self.made}

    def table(self, name: str) -> pl.DataFrame:
        """A stored table.

        Raises:
            ResultsError: the table is not stored, is damaged, or does not fit in memory.

        """
        if name not in self.tables:
            raise ResultsError(f"{self.place}: table {name} is not stored (stored: {', '.join(self.tables) or 'none'})")
        return _small_table(self, name) if self.sizes[name] <= _SMALL else self._read(name)

    def _read(self, name: str) -> pl.DataFrame:
        return frame_in(self.content(name), f"{self.place}: table {name}")

    def content(self, name: str) -> bytes:
        """A table as the content of a Parquet file, or the captured packets, after they were compared with the digest.

        Raises:
            ResultsError: it is not stored, or damaged.

        """
        return self.store.content(self.run_id, name)


@functools.lru_cache(maxsize=256)
def _small_table(run: StoredRun, name: str) -> pl.DataFrame:
    """A table that plots, claims and experiments that share the run read again and again."""
    return run._read(name)


def now() -> str:
    """The current time in the format of the store."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Output(Protocol):
    """The output of a simulation, from the engine here or from a worker elsewhere."""

    @property
    def summary(self) -> str:
        """The totals, as JSON."""

    @property
    def table_names(self) -> list[str]:
        """The names of its result tables."""

    def columns(self, name: str) -> list[Column]:
        """The columns of a table."""

    def capture(self) -> bytes | None:
        """The captured packets, if a capture was requested."""


@dataclass(frozen=True)
class Finished:
    """A run that has finished and is not stored yet."""

    run_id: str
    seed: int
    output: Output
    tables: Collection[str]
    """Tables to keep."""


_OWN = ("experiment", "seed", "finished", "engine", "scenario", "totals", "measured", "made")
"""Columns of ``runs`` of which the digest is, beside the id."""

_LISTED = ("scheme", "topology", "traffic", "senders", "bytes_each", "rate", "buffer")
"""Columns of ``runs`` that follow from the scenario."""


def sealed(row: Mapping[str, Any]) -> str:
    """The digest of a row of ``runs``."""
    return hashlib.sha256(json.dumps([row["id"], *(row[name] for name in _OWN)]).encode()).hexdigest()


class Store:
    """The runs of all experiments; equal runs of two figures are stored once."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.database = Database(self.root)

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        # Another process opens the file itself.
        return type(self), (self.root,)

    @property
    def path(self) -> Path:
        """The file."""
        return self.database.path

    def prepare(self) -> None:
        """Creates the folder and the file, and cleans up after killed runs.

        Raises:
            ResultsError: the folder cannot be written.

        """
        with self.database.transaction():
            tidy(self.root)

    def close(self) -> None:
        """Writes everything to the disk. The store can be used again.

        Raises:
            ResultsError: it cannot be written.

        """
        self.database.close()

    def spill(self) -> Path:
        """A file for the rows of a run in progress; leftovers of killed runs are removed."""
        self.root.mkdir(parents=True, exist_ok=True)
        return beside(self.root / "rows")

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """What a query finds; nothing if there is no file."""
        with self.database.reading() as connection:
            return [] if connection is None else connection.execute(sql, values).fetchall()

    def find(self, name: str, tables: Iterable[str] = ()) -> StoredRun | None:
        """The finished run of that id with these tables; a damaged one is reported as a warning and treated as absent.

        Args:
            name: Id of the run.
            tables: A run that was stored without one of these, or whose content of one is damaged, is treated as
                absent.

        """
        try:
            found = self._found(name)
            if found is None or not set(tables) <= set(found.tables):
                return None
            for table in tables:
                found.content(table)
        except DamagedError as error:
            warnings.warn(f"{error}; the run is repeated and replaced", stacklevel=2)
            return None
        return found

    def read(self, name: str) -> StoredRun:
        """The run of that id.

        Raises:
            ResultsError: it is missing or damaged.

        """
        found = self._found(name)
        if found is None:
            raise ResultsError(f"{self.root}: there is no run {name}")
        return found

    def _found(self, name: str) -> StoredRun | None:
        rows = self.rows("SELECT * FROM runs WHERE id = ?", name)
        return self._checked(dict(rows[0])) if rows else None

    def _checked(self, row: dict[str, Any]) -> StoredRun:
        if sealed(row) != row["sha256"]:
            raise DamagedError(f"{self.path}: run {row['id']} is damaged")
        sizes = self.rows("SELECT name, length(content) FROM tables WHERE run = ? ORDER BY rowid", row["id"])
        return self._stored(row, {each[0]: each[1] for each in sizes})

    def _stored(self, row: Mapping[str, Any], sizes: dict[str, int]) -> StoredRun:
        totals, made = json.loads(row["totals"]), _loaded(row["made"])
        measured = None if row["measured"] is None else json.loads(row["measured"])
        about = row["experiment"], row["finished"], row["engine"]
        return StoredRun(row["id"], *about, totals, made, measured, sizes, self)

    def scenario(self, name: str) -> dict[str, Any]:
        """The scenario of a run; that of a measurement is empty."""
        rows = self.rows("SELECT scenario FROM runs WHERE id = ?", name)
        found: dict[str, Any] = json.loads(rows[0][0]) if rows and rows[0][0] else {}
        return found

    def content(self, name: str, table: str) -> bytes:
        """A table of a run as it is stored.

        Raises:
            ResultsError: it is not there, or damaged.

        """
        rows = self.rows("SELECT content, sha256 FROM tables WHERE run = ? AND name = ?", name, table)
        if not rows:
            raise ResultsError(f"{self.root}: the run {name} has no {table}")
        content: bytes = rows[0][0]
        if hashlib.sha256(content).hexdigest() != rows[0][1]:
            raise DamagedError(f"{self.path}: {table} of run {name} is damaged")
        return content

    def made_for(self) -> dict[str, str]:
        """The ids of all runs, each with the experiment for which it was made."""
        return {each[0]: each[1] for each in self.rows("SELECT id, experiment FROM runs")}

    def latest(self) -> str | None:
        """The id of the run with tables that finished last; none if there is none."""
        # Not one of the changes that a command tried after it: of these there are only totals.
        where = "WHERE EXISTS (SELECT 1 FROM tables WHERE run = runs.id)"
        rows = self.rows(f"SELECT id FROM runs {where} ORDER BY finished DESC, rowid DESC LIMIT 1")
        return rows[0][0] if rows else None

    def tables(self, name: str) -> list[str]:
        """The stored tables of a run; none if it is not stored."""
        return [row[0] for row in self.rows("SELECT name FROM tables WHERE run = ?", name) if row[0] != CAPTURE]

    def keep(self, runs: Sequence[Finished], resolved: dict[str, Any], experiment: str) -> list[StoredRun]:
        """Writes finished runs of one point, which differ in their seeds, in one transaction.

        A run of the same id is replaced; its tables are kept as well.

        Args:
            runs: The runs.
            resolved: The resolved scenario of one of them.
            experiment: The experiment for which they were made.

        Raises:
            ResultsError: they cannot be written.

        """
        rows, contents = [], []
        for run in runs:
            scenario = {**resolved, "run": {**resolved["run"], "seed": run.seed}}
            about = {"id": run.run_id, "experiment": experiment, "seed": _number(run.seed), "measured": None}
            rows.append({**about, "scenario": json.dumps(scenario), "totals": run.output.summary, **_shown(scenario)})
            wanted = {*run.tables, *self.tables(run.run_id)}
            tables = {name: run.output.columns(name) for name in run.output.table_names if name in wanted}
            contents.append({name: parquet_of(decode(columns), name) for name, columns in tables.items()})
            if (capture := run.output.capture()) is not None:
                contents[-1][CAPTURE] = capture
        return self._write(rows, contents)

    def save_measured(
        self, command: list[str], point: dict[str, Any], row: dict[str, Any], experiment: str
    ) -> StoredRun:
        """Writes a program's measurement at a point and replaces an earlier one by the same engine.

        Raises:
            ResultsError: it cannot be written.

        """
        # Never the same twice, but every run has a hash of its result.
        content = json.dumps([point, row], sort_keys=True).encode()
        totals = {**row, "result_hash": hashlib.sha256(content).hexdigest()[:16]}
        about = {"id": digest([command, point, _engine.version()]), "experiment": experiment, "scenario": None}
        about |= {"totals": json.dumps(totals), "measured": json.dumps({"command": command, "point": point})}
        (found,) = self._write([{**about, **dict.fromkeys(("seed", *_LISTED))}], [{}])
        return found

    def _write(self, rows: list[dict[str, Any]], contents: list[dict[str, bytes]]) -> list[StoredRun]:
        """Writes runs with their tables, and returns them."""
        shared = {"finished": now(), "engine": _engine.version(), "made": json.dumps(provenance())}
        whole = [{**row, **shared} for row in rows]
        whole = [{**row, "sha256": sealed(row)} for row in whole]
        columns = ("id", *_OWN, *_LISTED, "sha256")
        insert = f"INSERT INTO runs ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        # Not replaced as a whole: tables that another command has stored meanwhile stay.
        insert += f" ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in columns)}"
        with self.database.transaction() as connection:
            for row, tables in zip(whole, contents, strict=True):
                connection.execute(insert, [row[name] for name in columns])
                connection.executemany(
                    "INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?)",
                    [(row["id"], name, each, hashlib.sha256(each).hexdigest()) for name, each in tables.items()],
                )
                connection.execute("DELETE FROM failures WHERE id = ?", [row["id"]])
        return [
            self._stored(row, {name: len(each) for name, each in tables.items()})
            for row, tables in zip(whole, contents, strict=True)
        ]

    def failure(self, name: str) -> Failure | None:
        """The record of a failed run; ``None`` if there is none."""
        for row in self.rows("SELECT * FROM failures WHERE id = ?", name):
            known = {key: row[key] for key in ("experiment", "error", "failed")} | {"seed": int(row["seed"])}
            settings = [(path, value) for path, value in json.loads(row["settings"])]
            scenario, engine = json.loads(row["scenario"]), row["engine"]
            return Failure(row["id"], settings=settings, scenario=scenario, engine_version=engine, **known)
        return None

    def fail(self, failure: Failure) -> None:
        """Writes the record of a failed run.

        Raises:
            ResultsError: it cannot be written.

        """
        about = asdict(failure) | {"engine_version": _engine.version(), "failed": now()}
        about |= {name: json.dumps(about[name]) for name in ("settings", "scenario")} | {"seed": _number(failure.seed)}
        with self.database.transaction() as connection:
            # The fields of a failure are the columns, in their order.
            connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*about.values()])

    def verify(self, advance: Callable[[int, int], None] = lambda _done, _of: None) -> tuple[int, list[str]]:
        """Compares all runs with their digests.

        Args:
            advance: Called with the number of runs compared so far, and of all.

        Returns:
            How many are what was written, and what is said of each of the others.

        """
        names, damaged = list(self.made_for()), []
        for done, name in enumerate(names, start=1):
            try:
                run = self.read(name)
                for table in run.sizes:
                    run.content(table)
            except DamagedError as error:
                damaged.append(str(error))
            advance(done, len(names))
        return len(names) - len(damaged), damaged


class DamagedError(ResultsError):
    """A run is not what was written."""


@contextmanager
def kept_in(out: Store | Path | str | None) -> Iterator[Store | None]:
    """A results folder; what was kept in it is on disk in the end, unless whoever gave the store goes on with it."""
    if out is None or isinstance(out, Store):
        yield out
        return
    with closing(Store(out)) as store:
        yield store


@functools.lru_cache(maxsize=64)
def _loaded(text: str) -> dict[str, Any]:
    """What runs of one command share."""
    found: dict[str, Any] = json.loads(text)
    return found


def _number(seed: int) -> int | str:
    """A seed as SQLite has it: integers of 64 bits have a sign there."""
    return seed if seed < 1 << 63 else str(seed)


def _shown(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """What a list of runs shows of a resolved scenario."""
    network, traffic = scenario["network"], scenario["traffic"]

    def each(key: str) -> str:
        """What traffic groups have of a key, each value once; of no size is what is endless."""
        return ", ".join(dict.fromkeys(str(group[key]) for group in traffic if group.get(key) not in (None, "", "0B")))

    return {
        "scheme": scenario["transport"]["scheme"],
        "topology": network["topology"],
        "traffic": each("kind"),
        # Of the group with most, as a sweep varies that.
        "senders": max((group.get("senders") or 0 for group in traffic), default=0) or None,
        "bytes_each": each("bytes-each"),
        "rate": network.get("rate"),
        "buffer": network.get("buffer" if network.get("admission") == "static" else "shared-buffer"),
    }


@cache
def provenance() -> dict[str, Any]:
    """The versions and the machine that computed a result."""
    return {
        "python_version": platform.python_version(),
        "packages": packages(),
        "git_commit": _git_commit(),
        "host": platform.node(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
    }


def _git_commit() -> str | None:
    """The commit of the checkout from which this package runs, if any."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
