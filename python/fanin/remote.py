"""The part of a run that happens on another machine: a scenario in, what it leaves out, both as plain values."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from fanin import _engine, extension
from fanin.errors import ClusterError, RunError
from fanin.experiment import Settings
from fanin.failures import describe, is_of_run


@dataclass(frozen=True)
class Versions:
    """What has to be the same on both sides, as results depend on it."""

    fanin: str
    engine: str

    def __str__(self) -> str:
        return f"fanin {self.fanin} (engine {self.engine})"


def versions() -> Versions:
    """Those of this side."""
    return Versions(extension.PACKAGE_VERSION, _engine.version())


@dataclass(frozen=True)
class Task:
    """A run as it is sent."""

    text: str
    file: str
    settings: Settings
    tables: frozenset[str]
    """Result tables to send back."""
    versions: Versions
    """Those of the side that sends it."""


@dataclass(frozen=True)
class Package:
    """A run's output as it is sent back."""

    summary: str
    parquet: dict[str, bytes]
    captured: bytes | None

    @property
    def table_names(self) -> list[str]:
        """The result tables that were asked for."""
        return list(self.parquet)

    def write_parquet(self, name: str, path: str | Path) -> None:
        """Writes a table as the Parquet file that it is."""
        Path(path).write_bytes(self.parquet[name])

    def capture(self) -> bytes | None:
        """The captured packets, if any were asked for."""
        return self.captured


def simulate(task: Task) -> Package:
    """Runs the engine here, for somebody elsewhere.

    Raises:
        ClusterError: this side has another fanin than the one that asks.
        RunError: the run failed, whatever the way: not all errors of the engine can be sent.

    """
    refuse_others(task.versions, versions(), "a worker")
    try:
        output = _engine.run(task.text, task.file, task.settings, None)
    except BaseException as error:
        if is_of_run(error):
            raise RunError(describe(error)) from None
        raise
    parquet = {}
    with tempfile.TemporaryDirectory(prefix="fanin-") as folder:
        for name in (name for name in output.table_names if name in task.tables):
            path = Path(folder) / f"{name}.parquet"
            output.write_parquet(name, path)
            parquet[name] = path.read_bytes()
    return Package(output.summary, parquet, output.capture())


def refuse_others(here: Versions, there: Versions, who: str) -> None:
    """Refuses to mix results of two versions.

    Raises:
        ClusterError: naming both.

    """
    if here != there:
        raise ClusterError(f"{who} has {there}, but this machine has {here}: install the same on both")
