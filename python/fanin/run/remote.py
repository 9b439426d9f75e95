"""The part of a run that happens in another process or on another machine: what travels are plain values."""

from __future__ import annotations

import platform
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin import _engine, extension
from fanin._engine import Scenario
from fanin.errors import ClusterError, RunError, WorkerError
from fanin.results.failures import describe, is_of_run
from fanin.results.frames import Column
from fanin.results.free_memory import available
from fanin.results.store import Store
from fanin.run.job import PooledRun
from fanin.run.memory import refuse_oversized
from fanin.run.waiting import CHUNK_S
from fanin.scenario.file import Files, changed


class VersionError(ClusterError):
    """A worker has another version."""


@dataclass(frozen=True)
class Versions:
    """The versions that must be equal on both sides because results depend on them."""

    fanin: str
    engine: str

    def __str__(self) -> str:
        return f"fanin {self.fanin} (engine {self.engine})"


def versions() -> Versions:
    """The versions on this side."""
    return Versions(extension.PACKAGE_VERSION, _engine.version())


@dataclass(frozen=True)
class Task:
    """Runs of one point as they are sent."""

    scenario: Scenario
    seeds: list[int]
    tables: frozenset[str]
    """Result tables to send back."""
    versions: Versions
    """The versions on the sending side."""
    files: Files = field(default_factory=dict)
    """The files that the scenario names, as they are on the sending side."""
    needed: float = 0.0
    """Bytes of memory that one of the runs is estimated to need."""
    memory: float | None = None
    """Bytes that it may take; if left out, those that are free where it runs."""


def task_of(works: list[PooledRun], store: Store | None) -> Task:
    """Some runs of one point, to be sent.

    Raises:
        ClusterError: they have a scheme in Python, which the other side does not know.

    """
    if works[0].is_own:
        raise ClusterError("a scheme in Python runs in the process that has its class: run it without a cluster")
    # A run that is stored with other tables is repeated with all of them.
    tables = {table for work in works for table in (*work.tables, *(store.tables(work.name) if store else ()))}
    job, seeds = works[0].job, [work.seed for work in works]
    scenario = job.experiment.handle(job.point, works[0].files)
    return Task(scenario, seeds, frozenset(tables), versions(), works[0].files)


@dataclass(frozen=True)
class Package:
    """A run's output as it is sent back."""

    summary: str
    tables: dict[str, list[Column]]
    """The requested result tables."""
    captured: bytes | None

    @property
    def table_names(self) -> list[str]:
        """The requested result tables."""
        return list(self.tables)

    def columns(self, name: str) -> list[Column]:
        """The columns of a table, as they arrived."""
        return self.tables[name]

    def capture(self) -> bytes | None:
        """The captured packets, if a capture was requested."""
        return self.captured


def simulate(task: Task) -> list[Package]:
    """Runs the engine here on behalf of another machine.

    Raises:
        VersionError: this side has another fanin version.
        ClusterError: this side has other files, or no space for temporary files.
        WorkerError: there is not enough memory.
        RunError: the run failed.

    """
    refuse_others(task.versions, versions(), _worker())
    try:
        refuse_oversized(task.needed, _room() if task.memory is None else task.memory)
        return simulated(task)
    except OSError as error:
        # Sent unchanged, it would look like a lost connection on the other side.
        what = f"cannot write temporary files: {error.strerror or error}"
        kept = "finished runs are kept; run the same command again without this worker"
        raise ClusterError(f"{_worker()} {what}; {kept}") from None
    except MemoryError:
        raise WorkerError(f"{_worker()} does not have enough memory for the run; the next command retries it") from None


def simulated(task: Task) -> list[Package]:
    """Runs the engine here.

    Raises:
        ClusterError: this side has other files.
        RunError: the run failed for any reason: not all errors of the engine can be sent.
        OSError: temporary files cannot be written.

    """
    _refuse_copies(task.files)
    with tempfile.TemporaryDirectory(prefix="fanin-") as folder:
        try:
            outputs = task.scenario.run_seeds(task.seeds, CHUNK_S, None, Path(folder) / "rows")
        except BaseException as error:
            if is_of_run(error):
                raise RunError(describe(error)) from None
            raise
        finally:
            _refuse_copies(task.files)
        return [
            Package(
                output.summary,
                {name: output.columns(name) for name in output.table_names if name in task.tables},
                output.capture(),
            )
            for output in outputs
        ]


def _refuse_copies(files: Files) -> None:
    """Refuses files whose content differs here; called before and after a run, because they may change."""
    if (other := changed({str(Path(path).absolute()): held for path, held in files.items()})) is not None:
        raise ClusterError(f"{_worker()} has a different copy of {other}: both machines must have the same file")


def _worker() -> str:
    """The name of this process in messages to the other side."""
    # Imported if this is a Dask worker.
    distributed: Any = sys.modules.get("distributed")
    try:
        return f"worker {distributed.get_worker().address}"
    except (AttributeError, ValueError):
        return f"a worker on {platform.node()}"


def _room() -> float:
    """Bytes that are free here; at most those with which Dask lets a worker live."""
    distributed: Any = sys.modules.get("distributed")
    try:
        limit = distributed.get_worker().memory_manager.memory_limit
    except (AttributeError, ValueError):
        limit = None
    return min(available(), float(limit)) if limit else available()


def refuse_others(here: Versions, there: Versions, who: str) -> None:
    """Refuses to mix results of two versions.

    Raises:
        VersionError: the versions differ; the message names both.

    """
    if here != there:
        raise VersionError(f"{who} has {there}, but this machine has {here}: install the same version on both")
