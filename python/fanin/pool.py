"""Running many points: on all cores, each distinct run once, the long ones first."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from fanin.errors import RunError
from fanin.experiment import Experiment, Settings
from fanin.runs import Run
from fanin.store import Store, StoredRun, run_id

Advance = Callable[[int, int, float | None], None]
"""Told of how many jobs, of how many, are finished, and of the seconds that are left as far as they can be known."""

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
class _Work:
    """One distinct run, and the places of the jobs that want it."""

    job: Job
    name: str
    tables: set[str] = field(default_factory=set)
    places: list[int] = field(default_factory=list)


class _Queue:
    """Runs that have not begun. One of each kind goes first, as it tells how long the others take."""

    def __init__(self, works: list[_Work]) -> None:
        self._waiting: dict[Kind, list[_Work]] = {}
        for work in reversed(works):
            self._waiting.setdefault(work.job.kind, []).append(work)
        self._unknown = list(self._waiting)
        self._seconds: dict[Kind, float] = {}

    def learn(self, kind: Kind, seconds: float) -> None:
        self._seconds[kind] = seconds

    def pop(self) -> _Work | None:
        """The next to begin: of an unknown kind, else of the kind that takes longest."""
        while self._unknown:
            kind = self._unknown.pop()
            if kind not in self._seconds:
                break
        else:
            if not self._waiting:
                return None
            kind = max(self._waiting, key=lambda kind: self._seconds.get(kind, 0.0))
        work = self._waiting[kind].pop()
        if not self._waiting[kind]:
            del self._waiting[kind]
        return work

    def seconds(self) -> float | None:
        """Time that the waiting runs take together; kinds that are not known yet take as long as others on average."""
        if not self._seconds:
            return None
        mean = sum(self._seconds.values()) / len(self._seconds)
        return sum(len(works) * self._seconds.get(kind, mean) for kind, works in self._waiting.items())


def run_jobs(
    wanted: list[Job], out: Path | str | None, *, jobs: int | None = None, advance: Advance = lambda *_: None
) -> list[Run]:
    """The runs that are wanted, in their order; those found in the store are not run again.

    The first run that fails stops those that have not begun. On Ctrl-C the runs that have finished stay in the store.

    Args:
        wanted: What to run; equal runs are simulated once.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; one per core if left out. The engine releases the interpreter while it simulates.
        advance: Called after every simulation.

    Raises:
        ScenarioError: a point is not valid.
        RunError: an invariant broke in a run.
        ResultsError: results cannot be written.

    """
    store = None if out is None else Store(out)
    if store is not None and wanted:
        store.prepare()
    finished: dict[int, Run] = {}
    missing = []
    costs: dict[Kind, float] = {}

    def finish(work: _Work, run: Run, left: float | None) -> None:
        for place in work.places:
            finished[place] = run
        advance(len(finished), len(wanted), left)

    for work in _distinct(wanted):
        stored = None if store is None else store.find(work.name, work.tables)
        if stored is None:
            missing.append(work)
            continue
        costs[work.job.kind] = stored.summary["wall_s"]
        finish(work, _light(stored), None)
    queue = _Queue(missing)
    for kind, seconds in costs.items():
        queue.learn(kind, seconds)
    _simulate(queue, store, jobs or os.cpu_count() or 1, finish)
    return [finished[place] for place in range(len(wanted))]


def _distinct(wanted: list[Job]) -> list[_Work]:
    """Each run once, with all the tables that anybody wants of it."""
    works: dict[str, _Work] = {}
    for place, job in enumerate(wanted):
        name = run_id(job.experiment.resolved(job.settings))
        work = works.setdefault(name, _Work(job, name))
        work.tables |= job.tables
        work.places.append(place)
    return list(works.values())


def _simulate(
    queue: _Queue, store: Store | None, threads: int, finish: Callable[[_Work, Run, float | None], None]
) -> None:
    stop = threading.Event()
    pool = ThreadPoolExecutor(max_workers=threads)
    running: dict[Future[Run], _Work] = {}

    def fill() -> None:
        while len(running) < threads and (work := queue.pop()) is not None:
            running[pool.submit(_run, work, store, stop)] = work

    try:
        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                run, work = future.result(), running.pop(future)
                queue.learn(work.job.kind, run.summary["wall_s"])
                left = queue.seconds()
                finish(work, run, None if left is None else left / threads)
            fill()
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _run(work: _Work, store: Store | None, stop: threading.Event) -> Run:
    if stop.is_set():
        raise RunError("stopped")
    output = work.job.experiment.simulate(work.job.settings, lambda _: not stop.is_set())
    run = Run(work.name, json.loads(output.summary), output=output)
    if store is None:
        return run
    tables = [table for table in output.table_names if table in work.tables]
    resolved = work.job.experiment.resolved(work.job.settings)
    return _light(store.save(work.name, output, tables, resolved, work.job.experiment.name))


def _light(stored: StoredRun) -> Run:
    """A stored run without its scenario: a sweep has thousands."""
    manifest = {name: value for name, value in stored.manifest.items() if name != "scenario"}
    return Run(stored.run_id, stored.summary, StoredRun(stored.folder, manifest))
