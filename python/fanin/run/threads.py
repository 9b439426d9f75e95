"""Workers of a pool that are threads of this process; each may have a process of its own for a large run."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import warnings
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from fanin.errors import RunError, WorkerError
from fanin.results.files import writing
from fanin.results.free_memory import SHARE, available, shown
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run import alone
from fanin.run.job import PooledRun, kept
from fanin.run.memory import Needs, refuse_oversized
from fanin.run.remote import task_of
from fanin.run.waiting import CHUNK_S
from fanin.scenario import own
from fanin.scenario.file import refuse_changed

_TOGETHER = 0.25
"""Share of the memory that the runs inside this process may be estimated to take, if there is one on every thread."""

_PATIENCE_S = 0.5
"""How long a run that is aborted may take to notice, before it is interrupted."""


class Threads:
    """The threads of this process: one run on each, and no more runs than fit in memory."""

    def __init__(self, threads: int | None = None, memory: float | None = None) -> None:
        """Prepares the threads; none is started yet.

        Args:
            threads: Largest number of runs at once; by default one per core.
            memory: Bytes that all runs together may take; by default most of the free memory, and for one run alone
                all of it.

        """
        self.slots = threads or os.cpu_count() or 1
        self._given = memory
        self._memory = SHARE * available() if memory is None else memory
        self._needs = Needs()
        self._told = False
        self._stop = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._pool = ThreadPoolExecutor(self.slots, initializer=lambda: self._threads.add(threading.current_thread()))

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

    def submit(self, works: list[PooledRun], store: Store | None) -> Future[list[Run]]:
        """Starts runs of one point, whose thread also writes their results."""
        return self._pool.submit(self._run, works, store)

    def collect(self, works: list[PooledRun], store: Store | None, future: Future[list[Run]]) -> list[Run]:
        """The finished runs.

        Raises:
            WorkerError: memory ran out.

        """
        try:
            runs = future.result()
        except MemoryError:
            raise WorkerError("there was not enough memory; the next command retries it") from None
        self._needs.learn(works[0].job.kind, runs[-1].summary["flows"])
        return runs

    def _needed(self, work: PooledRun) -> float:
        return self._needs.of(work.job.kind, work.memory)

    def _is_large(self, work: PooledRun) -> bool:
        """Whether a run could take so much that it gets a process of its own.

        A quarter of the memory for all others leaves room for estimates that are wrong by a factor of four.
        """
        return self._needed(work) * self.slots > _TOGETHER * self._memory

    def close(self) -> None:
        """Aborts what is running and waits for the threads."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        for thread in [*self._threads]:
            thread.join(_PATIENCE_S)
            while thread.is_alive():
                # A scheme in Python may be in a method that never ends.
                own.interrupt(each.ident for each in self._threads)
                thread.join(_PATIENCE_S)
        self._pool.shutdown(wait=True)

    def _run(self, works: list[PooledRun], store: Store | None) -> list[Run]:
        if self._stop.is_set():
            raise RunError("stopped")
        job, seeds = works[0].job, [work.seed for work in works]
        # The runs' ids cover the files as they were read then, not as they may have changed since.
        refuse_changed(works[0].files)
        # Others fit in what all runs together may take.
        if (needed := self._needed(works[0])) > self._memory:
            refuse_oversized(needed, available() if self._given is None else self._given)
        if store is not None and self._is_large(works[0]) and not works[0].is_own:
            return self._run_alone(works, store)
        outputs = job.experiment.simulate_seeds(
            job.point, seeds, CHUNK_S, lambda _: not self._stop.is_set(), store, works[0].files
        )
        if store is not None:
            return kept(works, store, outputs)
        pairs = zip(works, outputs, strict=False)
        resolved = job.experiment.resolved(job.point)
        return [Run(work.name, json.loads(output.summary), output=output, resolved=resolved) for work, output in pairs]

    def _run_alone(self, works: list[PooledRun], store: Store) -> list[Run]:
        with writing(store.root), tempfile.TemporaryDirectory(prefix=store.spill().name, dir=store.root) as folder:
            return kept(works, store, alone.simulate(task_of(works, store), Path(folder), self._stop.is_set))
