"""The results store: every run by its id, a hash of what was simulated.

``results/runs/<run-id>/`` holds ``manifest.json``, the tables as Parquet and, on request, ``trace.pcapng``. It is
written atomically, so a killed run leaves a complete result or none. Runs of sweeps are lines in a log instead
(:mod:`fanin.results.records`), unless their tables are wanted as files or are large.
The id is a hash of the resolved scenario (seed included) and of the engine: a finished run is found again, unless the
scenario or the engine has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from fanin import _engine
from fanin.digests import digest
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.names import checked_run_id, is_run_id
from fanin.results import records, sums
from fanin.results.files import beside, replacing, tidy, writing
from fanin.results.free_memory import SHARE, available, shown
from fanin.results.layout import MANIFEST, RUNS
from fanin.results.packages import packages

CAPTURE = "trace.pcapng"

_MOST_ROWS = 4096
"""A run whose tables have more rows in all needs a folder."""


@dataclass(frozen=True)
class StoredRun:
    """A finished run in the store."""

    folder: Path
    """Its folder; that of a run in a log does not exist."""
    manifest: dict[str, Any] = field(hash=False)
    line: records.Line | None = None
    """Its place in a log."""

    @property
    def run_id(self) -> str:
        """The run's name: 16 hexadecimal digits."""
        return self.folder.name

    @property
    def summary(self) -> dict[str, Any]:
        """The run's totals."""
        summary: dict[str, Any] = self.manifest["summary"]
        return summary

    @property
    def tables(self) -> list[str]:
        """Names of the stored tables."""
        return [name.removesuffix(".parquet") for name in self.manifest["files"] if name.endswith(".parquet")]

    def table(self, name: str) -> pl.DataFrame:
        """A stored table.

        Raises:
            ResultsError: the table is not stored, or its file is damaged.

        """
        if name not in self.tables:
            stored = ", ".join(self.tables) or "none"
            raise ResultsError(f"{self.folder}: table {name} is not stored (stored: {stored})")
        path = self.folder / f"{name}.parquet"
        return _parsed(path, self.content(path.name))

    def check(self, name: str) -> None:
        """Compares a file's content with the manifest, as :meth:`content` does."""
        self.content(name)

    def content(self, name: str) -> bytes:
        """A file's content, after it was compared with the manifest.

        Raises:
            ResultsError: the file is missing or differs.

        """
        if self.line is not None:
            return records.table(self.line, self.run_id, name.removesuffix(".parquet"))
        path = self.folder / name
        recorded = self.manifest["files"].get(name)
        try:
            found = path.read_bytes()
        except OSError as error:
            raise ResultsError(damaged(path, error.strerror or str(error))) from None
        if recorded is not None and hashlib.sha256(found).hexdigest() != recorded["sha256"]:
            raise ResultsError(damaged(path, "its content differs from what the manifest records"))
        return found


def damaged(path: Path, why: str) -> str:
    """Message about a file that cannot be used as a result; it suggests to delete only a run's folder."""
    folder = path.absolute().parent
    if is_run_id(folder.name) and (folder.parent.name == RUNS or (folder / MANIFEST).is_file()):
        shown = path.parent if path.parent.name else folder
        return f"{path}: damaged ({why}); delete {shown} and run the experiment again"
    return f"{path}: not a result of fanin, or a damaged one ({why})"


def now() -> str:
    """The current time in the format of a manifest."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def read_table(path: Path) -> pl.DataFrame:
    """A Parquet file as a frame; that of a run after its content was compared with its digest.

    Raises:
        ResultsError: it is missing, unreadable or damaged, or has more rows than fit in the free memory.

    """
    _refuse_many_rows(path)
    try:
        in_run = (path.parent / MANIFEST).is_file()
        content = read_run(path.parent).content(path.name) if in_run else path.read_bytes()
    except FileNotFoundError:
        raise ResultsError(f"{path}: no such file") from None
    except OSError as error:
        raise ResultsError(damaged(path, error.strerror or str(error))) from None
    return _parsed(path, content)


def _refuse_many_rows(path: Path) -> None:
    """Refuses a table that by its own word does not fit in memory; one that says less is damaged."""
    with contextlib.suppress(OSError):
        told = json.loads(_engine.describe_parquet(path))
        if (needed := told["rows"] * len(told["columns"]) * _VALUE) > (room := SHARE * available()):
            raise ResultsError(f"{path}: the table does not fit in memory: {shown(needed)}, available {shown(room)}")


_VALUE = 8
"""Bytes of a number in memory."""


def _parsed(path: Path, content: bytes) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(content), use_pyarrow=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultsError(damaged(path, str(error).splitlines()[0])) from None


def read_run(folder: Path) -> StoredRun:
    """The run in a folder of the store.

    Raises:
        ResultsError: the manifest is missing, unreadable or not what was written, or a file is missing or has the
            wrong size.

    """
    run = read_manifest(folder)
    for name, record in run.manifest["files"].items():
        file, size = folder / name, record["bytes"]
        if not file.is_file():
            raise ResultsError(damaged(file, "missing"))
        if file.stat().st_size != size:
            raise ResultsError(damaged(file, f"{file.stat().st_size} bytes instead of {size}"))
    return run


def read_manifest(folder: Path) -> StoredRun:
    """As :func:`read_run`, but the files that the manifest lists are not looked at.

    Raises:
        ResultsError: the manifest is missing, unreadable or not what was written.

    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        sums.unsealed(manifest)
    except OSError as error:
        raise ResultsError(damaged(path, error.strerror or str(error))) from None
    except ValueError as error:
        raise ResultsError(damaged(path, str(error))) from None
    return StoredRun(folder, manifest)


class Output(Protocol):
    """The output of a simulation, from the engine here or from a worker elsewhere."""

    @property
    def summary(self) -> str:
        """The totals, as JSON."""

    @property
    def table_names(self) -> list[str]:
        """The names of its result tables."""

    def rows(self, name: str) -> int:
        """The number of rows of a table."""

    def parquet(self, name: str) -> bytes:
        """A table as the content of a Parquet file."""

    def write_parquet(self, name: str, path: str | Path) -> None:
        """Writes a table as a Parquet file."""

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
    folder: bool
    """Whether they are wanted as files."""


class Store:
    """The runs of all experiments; equal runs of two figures are stored once."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.folder = self.root / RUNS
        self._records = records.Records(self.folder)
        self._is_read = False

    def prepare(self) -> None:
        """Creates the folder, cleans up after killed runs, and looks for runs that other commands have added.

        Raises:
            ResultsError: the folder cannot be written.

        """
        with writing(self.root):
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = beside(self.folder / "probe")
            probe.mkdir()
            probe.rmdir()
            tidy(self.folder)
            for path in dict.fromkeys(line.path for line in self._refresh()):
                records.drop_damaged(path)
            self._refresh()

    def _refresh(self) -> list[records.Line]:
        """Reads the logs; what is damaged is reported as a warning and treated as absent."""
        self._is_read = True
        damaged = self._records.refresh()
        for line in damaged:
            warnings.warn(f"{records.damaged(line)}; its runs are repeated", stacklevel=3)
        return damaged

    def close(self) -> None:
        """Flushes to disk what was kept.

        Raises:
            ResultsError: it cannot be written.

        """
        with writing(self.root):
            self._records.close()

    def spill(self) -> Path:
        """A file for the rows of a run in progress; leftovers of killed runs are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return beside(self.folder / "rows")

    def find(self, name: str, tables: Iterable[str] = (), *, folder: bool = False) -> StoredRun | None:
        """The finished run of that id with these tables; a damaged one is reported as a warning and treated as absent.

        Args:
            name: Id of the run.
            tables: A run that was stored without one of these, or whose file of one is damaged, is treated as absent.
            folder: Whether the tables are wanted as files, so that a run in a log is not enough.

        """
        wanted = set(tables)
        self._refuse(name)
        try:
            found = self._in_folder(name, wanted)
        except ResultsError as error:
            warnings.warn(f"{str(error).partition('; delete')[0]}; the run is repeated and replaced", stacklevel=2)
            return None
        if found is not None or (folder and wanted):
            return found
        logged = self._logged(name)
        return logged if logged is not None and wanted <= set(logged.tables) else None

    def read(self, name: str) -> StoredRun:
        """The run of that id.

        Raises:
            ResultsError: it is missing or damaged.

        """
        self._refuse(name)
        if not (self.folder / name).is_dir() and (found := self._logged(name)) is not None:
            return found
        return read_run(self.folder / name)

    def _refuse(self, name: object) -> None:
        """Refuses what is no id: ids become names of folders."""
        try:
            checked_run_id(name)
        except ValueError as error:
            raise ResultsError(f"{self.folder}: no such run: {error}") from None

    def _in_folder(self, name: str, tables: set[str]) -> StoredRun | None:
        if not (self.folder / name).is_dir():
            return None
        found = read_run(self.folder / name)
        if not tables <= set(found.tables):
            return None
        for table in tables:
            found.check(f"{table}.parquet")
        return found

    def _logged(self, name: str) -> StoredRun | None:
        """The run in a log: of several lines the one with most tables, as what is stored later has all those before."""
        return max(self._in_logs(name), key=lambda run: len(run.tables), default=None)

    def _in_logs(self, name: str) -> Iterator[StoredRun]:
        if not self._is_read:
            self._is_read = True
            self._records.refresh(compared=False)
        for line in self._records.find(name):
            try:
                yield StoredRun(self.folder / name, records.manifest(line, name), line)
            except ResultsError as error:
                # The whole lines of a log that is gone are in another.
                if line.path.exists():
                    warnings.warn(f"{error}; its runs are repeated", stacklevel=2)

    def tables(self, name: str) -> list[str]:
        """The stored tables of a run; none if it is not stored."""
        found: dict[str, None] = {}
        if (self.folder / name).is_dir():
            with contextlib.suppress(ResultsError):
                found |= dict.fromkeys(read_manifest(self.folder / name).tables)
        for run in self._in_logs(name):
            found |= dict.fromkeys(run.tables)
        return list(found)

    def keep(self, runs: Sequence[Finished], resolved: dict[str, Any], experiment: str) -> list[StoredRun]:
        """Writes finished runs of one point, which differ in their seeds, into the log; some need a folder.

        A run needs a folder if its tables are wanted as files or are not small, if it has captured packets, or if it
        has a folder already, which may be damaged.

        Args:
            runs: The runs.
            resolved: The resolved scenario of one of them.
            experiment: The experiment for which they were made.

        Raises:
            ResultsError: the folder cannot be written, or the disk is full.

        """
        found: dict[str, StoredRun] = {}
        packed = []
        for run in runs:
            tables = self._kept_tables(run.run_id, run.output, run.tables)
            if self._needs_folder(run, tables):
                scenario = records.with_seed(resolved, run.seed)
                found[run.run_id] = self.save(run.run_id, run.output, tables, scenario, experiment)
                continue
            contents = {table: run.output.parquet(table) for table in tables}
            packed.append(records.Packed(run.run_id, run.seed, json.loads(run.output.summary), contents))
        if packed:
            about = {"experiment": experiment, "scenario": resolved, "finished": now(), **provenance()}
            with writing(self.root):
                line = self._records.append(packed, about)
            found |= {run.run_id: StoredRun(self.folder / run.run_id, run.manifest(about), line) for run in packed}
        return [found[run.run_id] for run in runs]

    def _needs_folder(self, run: Finished, tables: list[str]) -> bool:
        return (
            (run.folder and bool(tables))
            or (self.folder / run.run_id).is_dir()
            or run.output.capture() is not None
            or sum(map(run.output.rows, tables)) > _MOST_ROWS
        )

    def _kept_tables(self, name: str, output: Output, wanted: Collection[str]) -> list[str]:
        """The tables to keep of a run: those that are wanted, and those that are stored already."""
        kept = {*wanted, *self.tables(name)}
        return [table for table in output.table_names if table in kept]

    def save(
        self, name: str, output: Output, tables: list[str], resolved: dict[str, Any], experiment: str
    ) -> StoredRun:
        """Writes a finished run and replaces an earlier one of the same id; the earlier run's tables are kept as well.

        Raises:
            ResultsError: the folder cannot be written, or the disk is full; nothing is left behind.

        """
        tables = self._kept_tables(name, output, tables)
        final = self.folder / name
        with writing(self.root), replacing(final) as temporary:
            manifest = _write(temporary, output, tables, resolved)
            manifest = _write_manifest(temporary, {"run_id": name, "experiment": experiment} | manifest)
        return StoredRun(final, manifest)

    def save_measured(
        self, command: list[str], point: dict[str, Any], row: dict[str, Any], experiment: str
    ) -> StoredRun:
        """Writes a program's measurement at a point and replaces an earlier one by the same engine.

        Raises:
            ResultsError: the folder cannot be written.

        """
        name = digest([command, point, _engine.version()])
        content = json.dumps([point, row], sort_keys=True).encode()
        manifest = {
            "run_id": name,
            "experiment": experiment,
            # Never the same twice, but every manifest needs one.
            "summary": {**row, "result_hash": hashlib.sha256(content).hexdigest()[:16]},
            "measured": {"command": command, "point": point},
            "files": {},
            "finished": now(),
            **provenance(),
        }
        final = self.folder / name
        with writing(self.root), replacing(final) as temporary:
            manifest = _write_manifest(temporary, manifest)
        return StoredRun(final, manifest)


def _write(folder: Path, output: Output, tables: list[str], resolved: dict[str, Any]) -> dict[str, Any]:
    for table in tables:
        output.write_parquet(table, folder / f"{table}.parquet")
    if (capture := output.capture()) is not None:
        (folder / CAPTURE).write_bytes(capture)
    files = {path.name: _record(path) for path in sorted(folder.iterdir())}
    return {
        "summary": json.loads(output.summary),
        "scenario": resolved,
        "files": files,
        "finished": now(),
        **provenance(),
    }


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """Writes a manifest with its own digest, and returns it."""
    manifest = sums.sealed(manifest)
    (folder / MANIFEST).write_bytes(manifest_text(manifest))
    return manifest


def manifest_text(manifest: dict[str, Any]) -> bytes:
    """The content of a manifest's file."""
    return (json.dumps(manifest, indent=1) + "\n").encode()


def _record(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


@cache
def provenance() -> dict[str, Any]:
    """The versions and the machine that computed a result."""
    return {
        "engine_version": _engine.version(),
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
