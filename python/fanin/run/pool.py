"""Runs many points on all cores, each distinct run once, and the long ones first.

Runs that the store already has are not run again: this is how a sweep or a reproduction resumes.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fanin.errors import RunError, ScenarioError, WorkerError
from fanin.results.failures import BrokenOff, Failure, Failures, describe, is_of_run
from fanin.results.runs import Run
from fanin.results.store import Output, Store, StoredRun
from fanin.run.experiment import Experiment
from fanin.run.memory import SHARE, Estimate, available, estimate, shown
from fanin.scenario.file import Files, refuse_changed
from fanin.scenario.run_id import run_id
from fanin.scenario.settings import Settings


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


Advance = Callable[[Progress], None]
"""Called when simulations start, whenever a run finishes, and from time to time in between."""

_TELL_EVERY_S = 2.0

_OVERDUE = 0.25
"""A run that takes longer than others of its kind is expected to continue for this share of its time so far."""

Kind = tuple[object, ...]


@dataclass(frozen=True)
class Job:
    """A run that an experiment needs."""

    experiment: Experiment
    settings: Settings
    tables: frozenset[str] = frozenset()
    """Result tables to keep."""

    @property
    def kind(self) -> Kind:
        """What it has in common with the same point under other seeds, which take about the same time."""
        return (self.experiment.origin[1], *(setting for setting in self.settings if setting[0] != "run.seed"))


@dataclass
class PooledRun:
    """One distinct run, and the indices of the jobs that need it."""

    job: Job
    name: str
    """Id of the run."""
    memory: Estimate = field(default_factory=lambda: Estimate(0, 0))
    tables: set[str] = field(default_factory=set)
    indices: list[int] = field(default_factory=list)
    files: Files = field(default_factory=dict)
    """The files that the scenario names, as they were when the run was identified."""

    def resolved(self) -> dict[str, Any]:
        """The scenario with every default filled in; resolved on each call, because a sweep has thousands of them.

        Raises:
            ResultsError: a file that it names has changed, so that it would be a different run.

        """
        return self.job.experiment.still(self.name, self.files, self.job.settings)

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


class Workers(Protocol):
    """Where runs are simulated: the threads of this process, or a cluster."""

    @property
    def slots(self) -> int:
        """The number of runs that it simulates at once."""

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may start next to those that are running."""

    def submit(self, work: PooledRun, store: Store | None) -> Future[Any]:
        """Starts a run."""

    def collect(self, work: PooledRun, store: Store | None, future: Future[Any]) -> Run:
        """The finished run, in the store if there is one; raises its error."""

    def close(self) -> None:
        """Aborts what is running and waits for it; nothing can be started afterwards."""


class _Queue:
    """Runs that have not started. One of each kind goes first, to show how long the others take."""

    def __init__(self, works: list[PooledRun]) -> None:
        self._waiting: dict[Kind, list[PooledRun]] = {}
        for work in reversed(works):
            self._waiting.setdefault(work.job.kind, []).append(work)
        self._unknown = list(self._waiting)
        self._seconds: dict[Kind, float] = {}
        self._longest: list[tuple[float, int, Kind]] = []
        """A heap of known kinds, including stale entries: a sweep has thousands of kinds."""
        self._learned = itertools.count()
        self._total = 0.0
        """Sum over all known kinds."""
        self._known = 0.0
        """Total seconds of the waiting runs of known kinds."""
        self._strangers = len(works)
        """Number of waiting runs of unknown kinds."""
        self._next: PooledRun | None = None

    def learn(self, kind: Kind, seconds: float) -> None:
        waiting, before = len(self._waiting.get(kind, ())), self._seconds.get(kind)
        if before is None:
            self._strangers -= waiting
        self._known += waiting * (seconds - (before or 0.0))
        self._total += seconds - (before or 0.0)
        self._seconds[kind] = seconds
        heapq.heappush(self._longest, (-seconds, next(self._learned), kind))

    def pop(self) -> PooledRun | None:
        """The next run to start: one of an unknown kind, or else of the kind that takes longest."""
        if self._next is not None:
            work, self._next = self._next, None
            return work
        while self._unknown:
            kind = self._unknown.pop()
            if kind not in self._seconds:
                break
        else:
            if not self._waiting:
                return None
            kind = self._slowest()
        work = self._waiting[kind].pop()
        if not self._waiting[kind]:
            del self._waiting[kind]
        if kind in self._seconds:
            self._known -= self._seconds[kind]
        else:
            self._strangers -= 1
        return work

    def _slowest(self) -> Kind:
        """The waiting kind whose runs take longest; kinds of which no run has finished yet come last."""
        while self._longest:
            seconds, _, kind = self._longest[0]
            if kind in self._waiting and self._seconds[kind] == -seconds:
                return kind
            heapq.heappop(self._longest)
        return next(iter(self._waiting))

    def put_back(self, work: PooledRun) -> None:
        """Puts back a run for which there is no room yet; it is next again."""
        self._next = work

    def seconds(self) -> float | None:
        """Total time of the waiting runs; unknown kinds are expected to take as long as the average of the others."""
        if not self._seconds:
            return None
        waiting = self._known + self._strangers * self._usual
        return waiting + (0.0 if self._next is None else self._expected(self._next.job.kind))

    def rest(self, kind: Kind, elapsed: float) -> float:
        """Remaining seconds of a run that has taken ``elapsed`` so far; some kind must be known."""
        return max(self._expected(kind) - elapsed, _OVERDUE * elapsed)

    def _expected(self, kind: Kind) -> float:
        return self._seconds.get(kind, self._usual)

    @property
    def _usual(self) -> float:
        return self._total / len(self._seconds)


def run_jobs(
    wanted: list[Job],
    out: Path | str | None,
    *,
    jobs: int | None = None,
    workers: Workers | None = None,
    advance: Advance = lambda _: None,
) -> list[Run]:
    """The requested runs, in order; those found in the store are not run again.

    The first failed run stops those that have not started. On Ctrl-C the finished runs stay in the store.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out. The engine releases the interpreter while it simulates.
        workers: Where to run them, if not on threads; the caller closes it.
        advance: Called after every simulation.

    Raises:
        ScenarioError: a point is not valid.
        RunError: a run violated an invariant.
        ResultsError: results cannot be written.

    """
    with _at(workers, jobs) as where:
        found = _Pool(wanted, out, where, advance, stop_at_failures=True).run()
    return [each for each in found if isinstance(each, Run)]


def outcomes(
    wanted: list[Job],
    out: Path | str | None,
    *,
    jobs: int | None = None,
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
) -> list[Run | Failure]:
    """As :func:`run_jobs`, but failed runs are recorded and the others continue.

    A run that was aborted because of the machine it ran on, such as one whose worker died, is reported as
    :class:`BrokenOff` and not recorded.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out.
        workers: Where to run them, if not on threads; the caller closes it.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation, and for runs found in the store.

    Raises:
        ScenarioError: a value of a point is not valid.
        ResultsError: results cannot be written; finished runs are kept.

    """
    with _at(workers, jobs) as where:
        return _Pool(wanted, out, where, advance, again=again).run()


@contextmanager
def _at(workers: Workers | None, jobs: int | None) -> Iterator[Workers]:
    """The given workers, which stay open, or threads for this call."""
    with nullcontext(workers) if workers is not None else closing(Threads(jobs)) as where:
        yield where


class _Pool:
    """One call of :func:`run_jobs` or :func:`outcomes`."""

    def __init__(
        self,
        wanted: list[Job],
        out: Path | str | None,
        workers: Workers,
        advance: Advance,
        *,
        stop_at_failures: bool = False,
        again: bool = False,
    ) -> None:
        self._wanted = wanted
        self._workers = workers
        self._advance = advance
        self._strict = stop_at_failures
        self._again = again
        self._store = None if out is None else Store(out)
        self._failures = None if out is None or stop_at_failures else Failures(out)
        self._finished: dict[int, Run | Failure] = {}
        self._running: dict[Future[Any], tuple[PooledRun, float]] = {}
        """Running runs, each with its start time."""
        self._simulated = 0
        self._failed = 0
        self._found = 0

    def run(self) -> list[Run | Failure]:
        if self._store is not None and self._wanted:
            self._store.prepare()
        queue = self._missing()
        self._fill(queue)
        if self._running:
            self._tell(queue)
        while self._running:
            done, _ = wait(self._running, timeout=_TELL_EVERY_S, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(queue, *self._running.pop(future), future)
            self._fill(queue)
            if not done:
                self._tell(queue)
        return [self._finished[index] for index in range(len(self._wanted))]

    def _missing(self) -> _Queue:
        """The runs to simulate; all others are finished already."""
        missing, costs = [], {}
        for work in _distinct(self._wanted):
            stored = None if self._store is None else self._store.find(work.name, work.tables)
            if stored is not None:
                costs[work.job.kind] = stored.summary["wall_s"]
                self._find(work, light(stored))
                continue
            failure = self._failures and self._failures.find(work.name)
            if failure and not self._again:
                self._find(work, failure)
                continue
            missing.append(work)
        queue = _Queue(missing)
        for kind, seconds in costs.items():
            queue.learn(kind, seconds)
        return queue

    def _fill(self, queue: _Queue) -> None:
        while (work := queue.pop()) is not None:
            if not self._workers.has_room([each for each, _ in self._running.values()], work):
                queue.put_back(work)
                return
            self._running[self._workers.submit(work, self._store)] = work, time.monotonic()

    def _take(self, queue: _Queue, work: PooledRun, begun: float, future: Future[Any]) -> None:
        """Handles the end of a run, successful or not."""
        result: Run | Failure
        try:
            result = self._workers.collect(work, self._store, future)
        except BaseException as error:
            if self._strict and is_of_run(error) and not isinstance(error, ScenarioError):
                raise RunError(f"{work.shown}: {describe(error)}") from error
            if self._strict or not (is_of_run(error) or isinstance(error, WorkerError)):
                raise
            result = work.failure(error)
            if self._failures is not None and not isinstance(result, BrokenOff):
                self._failures.save(result)
        else:
            # Includes the overhead of a run besides the engine's time, which dominates short runs.
            queue.learn(work.job.kind, time.monotonic() - begun)
            if self._failures is not None:
                self._failures.forget(work.name)
        self._simulated += 1
        self._finish(work, result)
        self._tell(queue)

    def _find(self, work: PooledRun, result: Run | Failure) -> None:
        """Handles a run that was finished before."""
        self._found += len(work.indices)
        self._finish(work, result)
        self._tell()

    def _finish(self, work: PooledRun, result: Run | Failure) -> None:
        for index in work.indices:
            self._finished[index] = result
        self._failed += len(work.indices) if isinstance(result, Failure) else 0

    def _tell(self, queue: _Queue | None = None) -> None:
        done, left = len(self._finished), None if queue is None else self._left(queue)
        counts = (self._simulated, self._failed, self._found, len(self._running))
        self._advance(Progress(done, len(self._wanted), left, *counts))

    def _left(self, queue: _Queue) -> float | None:
        """Seconds until the last run ends: the total work divided by the slots, but at least the longest run."""
        waiting = queue.seconds()
        if waiting is None:
            return None
        now = time.monotonic()
        rests = [queue.rest(work.job.kind, now - begun) for work, begun in self._running.values()]
        return max((waiting + sum(rests)) / self._workers.slots, *rests, 0.0)


def _distinct(wanted: list[Job]) -> list[PooledRun]:
    """Each run once, with all the tables that any job needs."""
    works: dict[str, PooledRun] = {}
    estimates: dict[Kind, Estimate] = {}
    for index, job in enumerate(wanted):
        resolved = job.experiment.resolved(job.settings)
        name = run_id(resolved)
        kind = (*job.kind, *job.experiment.overrides)
        if kind not in estimates:
            estimates[kind] = _estimate(job, resolved)
        work = works.setdefault(name, PooledRun(job, name, estimates[kind], files=job.experiment.files(resolved)))
        work.tables |= job.tables
        work.indices.append(index)
    return list(works.values())


def _estimate(job: Job, resolved: Mapping[str, Any]) -> Estimate:
    try:
        return estimate(resolved, job.experiment.preview(job.settings))
    except ScenarioError:
        # The network cannot be built, which the run itself will report.
        return Estimate(0, 0)


class Threads:
    """The threads of this process: one run on each, and no more runs than fit in memory."""

    def __init__(self, threads: int | None = None, memory: float | None = None) -> None:
        """Prepares the threads; none is started yet.

        Args:
            threads: Largest number of runs at once; by default one per core.
            memory: Bytes that all runs together may take; by default most of the free memory.

        """
        self.slots = threads or os.cpu_count() or 1
        self._memory = SHARE * available() if memory is None else memory
        self._flows: dict[Kind, float] = {}
        self._told = False
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=self.slots)

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may start next to those that are running; the first one always may."""
        if len(running) >= self.slots:
            return False
        needed = self._needed(work)
        fits = needed + sum(self._needed(each) for each in running) <= self._memory
        if not fits and not self._told:
            self._told = True
            each, free = shown(needed), shown(self._memory)
            message = f"estimated memory per run {each}, available {free}: fewer runs in parallel"
            warnings.warn(message, stacklevel=2)
        return fits or not running

    def submit(self, work: PooledRun, store: Store | None) -> Future[Run]:
        """Starts a run, whose thread also writes its result."""
        return self._pool.submit(self._run, work, store)

    def collect(self, work: PooledRun, store: Store | None, future: Future[Run]) -> Run:
        """The finished run.

        Raises:
            WorkerError: memory ran out.

        """
        try:
            run = future.result()
        except MemoryError:
            raise WorkerError("there was not enough memory; the next command retries it") from None
        self._flows[work.job.kind] = run.summary["flows"]
        return run

    def _needed(self, work: PooledRun) -> float:
        """Bytes of a run: from the scenario for the first of its kind, and from the first run for the others."""
        return work.memory.bytes(self._flows.get(work.job.kind))

    def close(self) -> None:
        """Aborts what is running and waits for the threads."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, work: PooledRun, store: Store | None) -> Run:
        if self._stop.is_set():
            raise RunError("stopped")
        # The run's id covers the files as they were read then, not as they may have changed since.
        refuse_changed(work.files)
        output = work.job.experiment.simulate(work.job.settings, lambda _: not self._stop.is_set(), store)
        return Run(work.name, json.loads(output.summary), output=output) if store is None else kept(work, store, output)


def kept(work: PooledRun, store: Store, output: Output) -> Run:
    """A run's output in the store."""
    return light(store.save(work.name, output, sorted(work.tables), work.resolved(), work.job.experiment.name))


def light(stored: StoredRun) -> Run:
    """A stored run without its scenario, because a sweep has thousands of runs."""
    manifest = {name: value for name, value in stored.manifest.items() if name != "scenario"}
    return Run(stored.run_id, stored.summary, StoredRun(stored.folder, manifest))
