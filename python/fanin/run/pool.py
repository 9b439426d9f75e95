"""Running many points: on all cores, each distinct run once, the long ones first."""

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
    """How far a pool is."""

    done: int
    """Jobs that are finished: found in the store, simulated or failed."""
    total: int
    left: float | None = None
    """Seconds that are left, as far as they can be known."""
    simulated: int = 0
    """Runs that were simulated, and not found in the store."""
    failed: int = 0
    """Jobs whose run failed."""
    found: int = 0
    """Jobs that were finished before: the store had them."""
    running: int = 0
    """Runs that are under way."""


Advance = Callable[[Progress], None]
"""Told when simulations begin, whenever a run is finished, and now and then while none is."""

_TELL_EVERY_S = 2.0

_OVERDUE = 0.25
"""A run that takes longer than its kind did is taken to go on for this share of its time so far."""

Kind = tuple[object, ...]


@dataclass(frozen=True)
class Job:
    """A run that an experiment wants."""

    experiment: Experiment
    settings: Settings
    tables: frozenset[str] = frozenset()
    """Result tables to keep."""

    @property
    def kind(self) -> Kind:
        """What it has in common with the same point under another seed, and so about the time that it takes."""
        return (self.experiment.origin[1], *(setting for setting in self.settings if setting[0] != "run.seed"))


@dataclass
class PooledRun:
    """One distinct run, and the indices of the jobs that want it."""

    job: Job
    name: str
    """Id of the run."""
    memory: Estimate = field(default_factory=lambda: Estimate(0, 0))
    tables: set[str] = field(default_factory=set)
    indices: list[int] = field(default_factory=list)
    files: Files = field(default_factory=dict)
    """What the scenario names, as it was when the run was."""

    def resolved(self) -> dict[str, Any]:
        """The scenario with every default filled in; resolved each time, since a sweep has thousands of them.

        Raises:
            ResultsError: a file that it names has changed, so that the run would be another.

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
        """Runs that it simulates at once."""

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may begin beside those that are running."""

    def submit(self, work: PooledRun, store: Store | None) -> Future[Any]:
        """Begins a run."""

    def collect(self, work: PooledRun, store: Store | None, future: Future[Any]) -> Run:
        """The finished run, in the store if there is one; raises what it broke off with."""

    def close(self) -> None:
        """Breaks off what is running, if anything is, and waits for it; nothing runs there any more."""


class _Queue:
    """Runs that have not begun. One of each kind goes first, as it shows how long the others take."""

    def __init__(self, works: list[PooledRun]) -> None:
        self._waiting: dict[Kind, list[PooledRun]] = {}
        for work in reversed(works):
            self._waiting.setdefault(work.job.kind, []).append(work)
        self._unknown = list(self._waiting)
        self._seconds: dict[Kind, float] = {}
        self._longest: list[tuple[float, int, Kind]] = []
        """A heap of known kinds, stale entries included: a sweep has thousands of kinds, and asks at each run."""
        self._learned = itertools.count()
        self._total = 0.0
        """Of all kinds that are known."""
        self._known = 0.0
        """Seconds of the waiting runs of known kinds."""
        self._strangers = len(works)
        """Waiting runs of unknown kinds."""
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
        """The next to begin: of an unknown kind, else of the kind that takes longest."""
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
        """There is no room for it yet: it is the next again."""
        self._next = work

    def seconds(self) -> float | None:
        """Time that the waiting runs take together; kinds that are not known yet take as long as others on average."""
        if not self._seconds:
            return None
        waiting = self._known + self._strangers * self._usual
        return waiting + (0.0 if self._next is None else self._expected(self._next.job.kind))

    def rest(self, kind: Kind, elapsed: float) -> float:
        """Seconds that a run which has gone on for so long goes on; some kind has to be known."""
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
    """The runs that are wanted, in their order; those found in the store are not run again.

    The first run that fails stops those that have not begun. On Ctrl-C the runs that have finished stay in the store.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out. The engine releases the interpreter while it simulates.
        workers: Where to run them, if not on threads; whoever made it closes it.
        advance: Called after every simulation.

    Raises:
        ScenarioError: a point is not valid.
        RunError: an invariant broke in a run.
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
    """The same for many runs of which some may fail: these are recorded, and the others go on.

    A run that was aborted because of the machine it ran on, such as one whose worker died, is reported as
    :class:`BrokenOff` and not recorded.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out.
        workers: Where to run them, if not on threads; whoever made it closes it.
        again: Whether runs that are recorded as failed are tried again.
        advance: Called after every simulation, and for what the store has.

    Raises:
        ScenarioError: a value of a point is not valid.
        ResultsError: results cannot be written; what is finished is kept.

    """
    with _at(workers, jobs) as where:
        return _Pool(wanted, out, where, advance, again=again).run()


@contextmanager
def _at(workers: Workers | None, jobs: int | None) -> Iterator[Workers]:
    """The workers that are given, which stay running, or threads for this once."""
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
        """With the moment that each began."""
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
        """What has to be simulated; the rest is finished already."""
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
        """A run has ended, well or not."""
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
            # With all that a run costs beside the engine's time, which for a short one is most of it.
            queue.learn(work.job.kind, time.monotonic() - begun)
            if self._failures is not None:
                self._failures.forget(work.name)
        self._simulated += 1
        self._finish(work, result)
        self._tell(queue)

    def _find(self, work: PooledRun, result: Run | Failure) -> None:
        """A run was finished before."""
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
        """Seconds until the last run ends: the work of all over the slots, but no less than the longest of them."""
        waiting = queue.seconds()
        if waiting is None:
            return None
        now = time.monotonic()
        rests = [queue.rest(work.job.kind, now - begun) for work, begun in self._running.values()]
        return max((waiting + sum(rests)) / self._workers.slots, *rests, 0.0)


def _distinct(wanted: list[Job]) -> list[PooledRun]:
    """Each run once, with all the tables that anybody wants of it."""
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
        # It cannot be laid out, which the run will say in its turn.
        return Estimate(0, 0)


class Threads:
    """The threads of this process: one run on each, and together no more than the machine has memory for."""

    def __init__(self, threads: int | None = None, memory: float | None = None) -> None:
        """Starts no thread yet.

        Args:
            threads: Runs at once at most; one per core if left out.
            memory: Bytes that the runs may take together; most of what is free if left out.

        """
        self.slots = threads or os.cpu_count() or 1
        self._memory = SHARE * available() if memory is None else memory
        self._flows: dict[Kind, float] = {}
        self._told = False
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=self.slots)

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may begin beside those that are running; the first may, whatever it takes."""
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
        """Begins a run, whose thread also writes its result."""
        return self._pool.submit(self._run, work, store)

    def collect(self, work: PooledRun, store: Store | None, future: Future[Run]) -> Run:
        """The finished run as it is.

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
        """Bytes of a run: of the first of its kind by the scenario, of the others by what the first had."""
        return work.memory.bytes(self._flows.get(work.job.kind))

    def close(self) -> None:
        """Breaks off what is running and waits for the threads."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, work: PooledRun, store: Store | None) -> Run:
        if self._stop.is_set():
            raise RunError("stopped")
        # What is named is what was read when it was named, and not what somebody has put there since.
        refuse_changed(work.files)
        output = work.job.experiment.simulate(work.job.settings, lambda _: not self._stop.is_set(), store)
        return Run(work.name, json.loads(output.summary), output=output) if store is None else kept(work, store, output)


def kept(work: PooledRun, store: Store, output: Output) -> Run:
    """A run's output in the store."""
    return light(store.save(work.name, output, sorted(work.tables), work.resolved(), work.job.experiment.name))


def light(stored: StoredRun) -> Run:
    """A stored run without its scenario: a sweep has thousands."""
    manifest = {name: value for name, value in stored.manifest.items() if name != "scenario"}
    return Run(stored.run_id, stored.summary, StoredRun(stored.folder, manifest))
