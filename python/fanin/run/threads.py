"""Workers of a pool that are threads of this process."""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor

from fanin.errors import RunError, WorkerError
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run.job import Kind, PooledRun, kept
from fanin.run.memory import SHARE, available, shown
from fanin.run.waiting import CHUNK_S
from fanin.scenario.file import refuse_changed


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
        self._flows[works[0].job.kind] = runs[-1].summary["flows"]
        return runs

    def _needed(self, work: PooledRun) -> float:
        """Bytes of a run: from the scenario for the first of its kind, and from the first run for the others."""
        return work.memory.bytes(self._flows.get(work.job.kind))

    def _refuse_oversized(self, work: PooledRun) -> None:
        """Refuses a run that needs more than is free now: without memory the engine would end the whole sweep.

        Raises:
            WorkerError: it does not fit.

        """
        needed = self._needed(work)
        # Others fit in what all runs together may take.
        if needed > self._memory and needed > (free := available()):
            what = f"estimated memory {shown(needed)}, available {shown(free)}"
            raise WorkerError(f"the run does not fit in memory: {what}; the next command retries it")

    def close(self) -> None:
        """Aborts what is running and waits for the threads."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, works: list[PooledRun], store: Store | None) -> list[Run]:
        if self._stop.is_set():
            raise RunError("stopped")
        job, seeds = works[0].job, [work.seed for work in works]
        # The runs' ids cover the files as they were read then, not as they may have changed since.
        refuse_changed(works[0].files)
        self._refuse_oversized(works[0])
        outputs = job.experiment.simulate_seeds(job.point, seeds, CHUNK_S, lambda _: not self._stop.is_set(), store)
        if store is not None:
            return kept(works, store, outputs)
        pairs = zip(works, outputs, strict=False)
        return [Run(work.name, json.loads(output.summary), output=output) for work, output in pairs]
