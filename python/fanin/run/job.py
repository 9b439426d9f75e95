"""The runs that a pool is asked for, its workers, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from fanin.errors import WorkerError
from fanin.results.failures import BrokenOff, Failure, NotBegun, describe
from fanin.results.runs import Run
from fanin.results.store import Finished, Output, Store
from fanin.run.memory import Estimate
from fanin.run.scenario import Scenario
from fanin.scenario import own
from fanin.scenario.file import Files
from fanin.scenario.settings import SEED, Settings, without_seed


@dataclass(frozen=True)
class Progress:
    """The progress of a pool."""

    done: int
    """Jobs that are finished: found in the store, simulated or failed."""
    total: int
    left: float | None = None
    """Remaining seconds, as far as they can be estimated."""
    simulated: int = 0
    """Runs that were simulated, not found in the store."""
    failed: int = 0
    """Jobs whose run failed."""
    found: int = 0
    """Jobs that were found in the store."""
    running: int = 0
    """Runs in progress."""
    what: str = ""
    """What these jobs are, of a command that asks for more when they are done."""
    is_whole: bool = False
    """Whether ``total`` and ``left`` are those of all that such a command asks for, about, and not of these alone."""


Advance = Callable[[Progress], None]
"""Called when simulations start, whenever a run finishes, and from time to time in between."""

Watch = Callable[[Progress], object]
"""As ``Advance``, where ``False`` stops."""

Kind = tuple[object, ...]


@dataclass(frozen=True)
class Job:
    """A run that an experiment needs."""

    experiment: Scenario
    settings: Settings
    tables: frozenset[str] = frozenset()
    """Result tables to keep."""

    @cached_property
    def point(self) -> Settings:
        """Its settings without the seed."""
        return [setting for setting in self.settings if setting[0] != SEED]

    @cached_property
    def kind(self) -> Kind:
        """What it has in common with the same point under other seeds, which take about the same time."""
        return (self.experiment.origin[1], *self.experiment.overrides, *self.point)

    @property
    def seed(self) -> int | None:
        """The seed among its settings, if there is one and it is plain."""
        return without_seed(self.settings)[1]


@dataclass
class PooledRun:
    """One distinct run, and the indices of the jobs that need it."""

    job: Job
    name: str
    """Id of the run."""
    memory: Estimate = field(default_factory=lambda: Estimate(0, 0))
    tables: set[str] = field(default_factory=set)
    indices: list[int] = field(default_factory=list)
    seed: int = 0
    files: Files = field(default_factory=dict)
    """The files that the scenario names, as they were when the run was identified."""

    def resolved(self) -> dict[str, Any]:
        """The scenario with every default filled in; resolved on each call, because a sweep has thousands of them.

        Raises:
            ResultsError: a file that it names has changed, so that it would be a different run.

        """
        return self.job.experiment.resolve_unchanged(self.name, self.files, self.job.settings)

    @property
    def is_own(self) -> bool:
        """Whether it has a scheme in Python, which only this process knows."""
        return own.is_used() and own.is_own(self.job.experiment.resolved(self.job.point))

    def joins(self, other: PooledRun) -> bool:
        """Whether both can be simulated in one call and stored together: they differ in their seeds only."""
        return (
            self.job.kind == other.job.kind
            and self.job.experiment.name == other.job.experiment.name
            and self.files == other.files
        )

    @property
    def shown(self) -> str:
        """What distinguishes it from other runs, in words."""
        values = " ".join(f"{path}={value}" for path, value in self.job.settings)
        return f"{self.job.experiment.name} with {values}" if values else self.job.experiment.name

    def failure(self, error: BaseException) -> Failure:
        """The record of its failure."""
        resolved, job = self.resolved(), self.job
        kind = BrokenOff if isinstance(error, WorkerError) else Failure
        return kind(self.name, job.experiment.name, resolved["run"]["seed"], job.settings, describe(error), resolved)

    def not_begun(self) -> NotBegun:
        """What there is of it where no more runs may begin."""
        return NotBegun(self.name, self.job.experiment.name, self.seed, self.job.settings, "it did not begin", {})


class Workers(Protocol):
    """Where runs are simulated: the threads of this process, or a cluster."""

    @property
    def slots(self) -> int:
        """The number of runs that it simulates at once."""

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may start next to those that are running."""

    def submit(self, works: list[PooledRun], store: Store | None) -> Future[Any]:
        """Starts a run, and some of the same point that follow it."""

    def collect(self, works: list[PooledRun], store: Store | None, future: Future[Any]) -> list[Run]:
        """The finished runs, in the store if there is one: the first of those that were started, at least one.

        It raises the error of a run that failed, whichever it was; ``LeftOutError`` if all have to be made elsewhere.
        """

    def close(self) -> None:
        """Aborts what is running and waits for it; nothing can be started afterwards."""


def kept(works: list[PooledRun], store: Store, outputs: Sequence[Output]) -> list[Run]:
    """The outputs of the first of some runs of one point, in the store."""
    first = works[0]
    finished = [
        Finished(work.name, work.seed, output, work.tables) for work, output in zip(works, outputs, strict=False)
    ]
    stored = store.keep(finished, first.resolved(), first.job.experiment.name)
    return [Run(run.run_id, run.summary, run) for run in stored]
