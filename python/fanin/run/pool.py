"""Runs many points on all cores, each distinct run once, and the long ones first.

Runs that the store already has are not run again: this is how a sweep or a reproduction resumes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from fanin.errors import LeftOutError, RunError, ScenarioError, SchemeError, WorkerError
from fanin.results.failures import BrokenOff, Failure, describe, is_of_run
from fanin.results.runs import Run
from fanin.results.store import Store, kept_in
from fanin.run.job import Advance, Job, Kind, PooledRun, Progress, Workers
from fanin.run.memory import Estimate, estimate
from fanin.run.threads import Threads
from fanin.run.waiting import Waiting
from fanin.scenario.run_id import ids_of_seeds

_TELL_EVERY_S = 2.0


def run_jobs(
    wanted: list[Job],
    out: Store | Path | str | None,
    *,
    jobs: int | None = None,
    workers: Workers | None = None,
    advance: Advance = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
) -> list[Run | BrokenOff]:
    """The requested runs, in order; those found in the store are not run again.

    The first failed run stops those that have not started, but a run that was aborted because of the machine costs only
    itself. On Ctrl-C the finished runs stay in the store.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out. The engine releases the interpreter while it simulates.
        workers: Where to run them, if not on threads; the caller closes it.
        advance: Called after every simulation.
        go_on: Whether more runs may begin, once one has.

    Raises:
        ScenarioError: a point is not valid.
        RunError: a run violated an invariant.
        ResultsError: results cannot be written.

    """
    with kept_in(out) as store, _at(workers, jobs) as where:
        found = _Pool(wanted, store, where, advance, stop_at_failures=True, go_on=go_on).run()
    return [each for each in found if isinstance(each, Run | BrokenOff)]


def outcomes(
    wanted: list[Job],
    out: Store | Path | str | None,
    *,
    jobs: int | None = None,
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
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
        go_on: Whether more runs may begin, once one has; those that may not are reported as :class:`NotBegun`.

    Raises:
        ScenarioError: a value of a point is not valid.
        ResultsError: results cannot be written; finished runs are kept.

    """
    with kept_in(out) as store, _at(workers, jobs) as where:
        return _Pool(wanted, store, where, advance, again=again, go_on=go_on).run()


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
        store: Store | None,
        workers: Workers,
        advance: Advance,
        *,
        stop_at_failures: bool = False,
        again: bool = False,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self._wanted = wanted
        self._workers = workers
        self._advance = advance
        self._strict = stop_at_failures
        self._again = again
        self._go_on = go_on
        self._store = store
        self._finished: dict[int, Run | Failure] = {}
        self._running: dict[Future[Any], tuple[list[PooledRun], float]] = {}
        """Running runs, those of a point together, each with their start time."""
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
        while (work := queue.pop()) is not None:
            for index in work.indices:
                self._finished[index] = work.not_begun()
        return [self._finished[index] for index in range(len(self._wanted))]

    def _missing(self) -> Waiting:
        """The runs to simulate; all others are finished already."""
        missing, costs = [], {}
        for work in _distinct(self._wanted):
            stored = None if self._store is None else self._store.find(work.name, work.tables)
            if stored is not None:
                costs[work.job.kind] = stored.summary["wall_s"]
                self._find(work, Run(stored.run_id, stored.summary, stored))
                continue
            failure = None if self._store is None or self._strict else self._store.failure(work.name)
            if failure and not self._again:
                self._find(work, failure)
                continue
            missing.append(work)
        queue = Waiting(missing)
        for kind, seconds in costs.items():
            queue.learn(kind, seconds)
        return queue

    def _fill(self, queue: Waiting) -> None:
        while self._may_begin and (work := queue.pop()) is not None:
            if not self._workers.has_room([works[0] for works, _ in self._running.values()], work):
                queue.put_back(work)
                return
            works = [work, *queue.take_along(work)]
            self._running[self._workers.submit(works, self._store)] = works, time.monotonic()

    @property
    def _may_begin(self) -> bool:
        return not (self._running or self._finished) or self._go_on()

    def _take(self, queue: Waiting, works: list[PooledRun], begun: float, future: Future[Any]) -> None:
        """Handles the end of runs, successful or not."""
        found: Sequence[Run | Failure]
        try:
            found = self._workers.collect(works, self._store, future)
        except LeftOutError:
            queue.give_back(works)
            return
        except BaseException as error:
            spoils_run = is_of_run(error) or isinstance(error, WorkerError)
            is_own = isinstance(error, SchemeError)
            if (spoils_run or is_own) and len(works) > 1:
                # Alone, each shows whether it was the one.
                queue.give_back(works, alone=True)
                return
            work = works[0]
            if is_own:
                error.args = (f"{work.shown}: {error}",)
            if not spoils_run or (self._strict and isinstance(error, ScenarioError)):
                raise
            if self._strict and is_of_run(error):
                raise RunError(f"{work.shown}: {describe(error)}") from error
            failure = work.failure(error)
            if self._store is not None and not isinstance(failure, BrokenOff):
                self._store.fail(failure)
            found = [failure]
        else:
            # Includes the overhead of a run besides the engine's time, which dominates short runs.
            queue.learn(works[0].job.kind, (time.monotonic() - begun) / len(found))
        for work, result in zip(works, found, strict=False):
            self._finish(work, result)
        self._simulated += len(found)
        queue.give_back(works[len(found) :])
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

    def _tell(self, queue: Waiting | None = None) -> None:
        done, left = len(self._finished), None if queue is None else self._left(queue)
        counts = (self._simulated, self._failed, self._found, len(self._running))
        self._advance(Progress(done, len(self._wanted), left, *counts))

    def _left(self, queue: Waiting) -> float | None:
        """Seconds until the last run ends: the total work divided by the slots, but at least the longest run."""
        waiting = queue.seconds()
        if waiting is None:
            return None
        now = time.monotonic()
        rests = [queue.rest(works[0].job.kind, now - begun, len(works)) for works, begun in self._running.values()]
        return max((waiting + sum(rests)) / self._workers.slots, *rests, 0.0)


def _distinct(wanted: list[Job]) -> list[PooledRun]:
    """Each run once, with all the tables that any job needs."""
    works: dict[str, PooledRun] = {}
    estimates: dict[Kind, Estimate] = {}
    # Seeds vary fastest, and nothing else in the scenario depends on them.
    for _, jobs in itertools.groupby(enumerate(wanted), key=_together):
        same = list(jobs)
        job = same[0][1]
        resolved = job.experiment.resolved(job.settings)
        files = job.experiment.files(resolved)
        if job.kind not in estimates:
            estimates[job.kind] = _estimate(job)
        seeds = [resolved["run"]["seed"] if each.seed is None else each.seed for _, each in same]
        for (index, each), name, seed in zip(same, ids_of_seeds(resolved, seeds), seeds, strict=True):
            work = works.get(name)
            if work is None:
                work = works[name] = PooledRun(each, name, estimates[job.kind], seed=seed, files=files)
            work.tables |= each.tables
            work.indices.append(index)
    return list(works.values())


def _together(numbered: tuple[int, Job]) -> object:
    """What the neighbouring jobs have in common whose scenarios differ in their seeds only."""
    index, job = numbered
    return index if job.seed is None else (id(job.experiment), job.kind)


def _estimate(job: Job) -> Estimate:
    try:
        return estimate(job.experiment.handle(job.point))
    except ScenarioError:
        # The network cannot be built, which the run itself will report.
        return Estimate(0, 0)
