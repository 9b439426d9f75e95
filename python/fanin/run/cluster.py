"""Runs on a Dask cluster instead of threads: the same runs and the same store, on other processors.

Runs are sent through the standard executor interface of Dask's client, and come back as they finish. Dask gives the
runs of a worker that dies to another one. The store stays here: workers need fanin, but no shared file system.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import time
from collections.abc import Collection
from concurrent.futures import CancelledError, Future
from typing import Any

from fanin.errors import ClusterError, FaninError, WorkerError
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run.job import PooledRun, kept
from fanin.run.remote import Package, Task, Versions, refuse_others, simulate, versions

_AHEAD = 2
"""Runs sent per thread of the cluster: the one in progress, and the next."""

_COUNT_EVERY_S = 2.0
"""Workers come and go, so threads are counted repeatedly."""


class Cluster:
    """A running scheduler and its workers. A :class:`fanin.run.job.Workers`."""

    def __init__(self, address: str, timeout: float = 20.0) -> None:
        """Connects, and checks that all workers have this version of fanin.

        Args:
            address: Address of the scheduler, such as ``tcp://host:8786``; ``tls://`` uses Dask's configuration.
            timeout: Seconds to wait for the scheduler.

        Raises:
            ClusterError: Dask is not installed, no scheduler responds, or a worker has another fanin version.

        """
        try:
            # It is an optional dependency, and has no types.
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise ClusterError("a cluster needs Dask: pip install 'fanin[cluster]'") from None
        # A lost scheduler is reported as an error here, without an additional traceback.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._killed = distributed.KilledWorker
        try:
            self._client = distributed.Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(f"{address}: no scheduler responds: {error}") from None
        self._address = address
        self._counted = float("-inf")
        self._threads = 0
        try:
            for worker, found in self.workers().items():
                if not isinstance(found, Versions):
                    raise ClusterError(f"worker {worker} has no working fanin: {found}")
                refuse_others(versions(), found, f"worker {worker}")
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)

    def workers(self) -> dict[str, Versions | Exception]:
        """The workers by address, each with its versions, or the reason why it has none."""
        found: dict[str, Versions | Exception] = self._client.run(versions, on_error="return")
        # A worker that cannot be reached has left; one that joins later is checked with each run.
        return {worker: each for worker, each in sorted(found.items()) if not isinstance(each, OSError)}

    def threads(self) -> dict[str, int]:
        """Threads of each worker."""
        found: dict[str, int] = self._client.nthreads()
        return found

    @property
    def slots(self) -> int:
        """Runs that the cluster simulates at once; one if no worker has joined yet."""
        if time.monotonic() - self._counted > _COUNT_EVERY_S:
            try:
                self._threads = sum(self.threads().values())
            except OSError as error:
                raise self._lost(error) from None
            self._counted = time.monotonic()
        return max(self._threads, 1)

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may be sent."""
        return len(running) < _AHEAD * self.slots

    def submit(self, works: list[PooledRun], store: Store | None) -> Future[list[Package]]:
        """Sends runs of one point."""
        # A run that is stored with other tables is repeated with all of them.
        tables = {table for work in works for table in (*work.tables, *(store.tables(work.name) if store else ()))}
        job, seeds = works[0].job, [work.seed for work in works]
        text, file, settings = job.experiment.engine_input(job.point)
        sent: Future[list[Package]] = self._executor.submit(
            simulate, Task(text, file, settings, seeds, frozenset(tables), versions(), works[0].files)
        )
        return sent

    def collect(self, works: list[PooledRun], store: Store | None, future: Future[Any]) -> list[Run]:
        """Stores the results that came back.

        Raises:
            ClusterError: the cluster is lost, or a worker is unsuitable.
            WorkerError: every worker that had the run died.
            RunError: the run failed.

        """
        try:
            packages = future.result()
        except FaninError:
            raise
        except self._killed as error:
            why = f"{error.allowed_failures + 1} workers died while simulating it: do they have enough memory?"
            raise WorkerError(f"{why} The next command retries it") from None
        except (CancelledError, OSError) as error:
            raise self._lost(error) from None
        except Exception as error:
            raise ClusterError(f"a worker has no working fanin: {type(error).__name__}: {error}") from None
        if store is None:
            raise ClusterError("a cluster needs a results folder")
        return kept(works, store, packages)

    def close(self) -> None:
        """Cancels the runs that were sent, and disconnects; the cluster keeps running."""
        with contextlib.suppress(OSError, CancelledError):
            self._executor.shutdown(wait=False)
        self._client.close()

    def _lost(self, error: BaseException) -> ClusterError:
        why = str(error) or "the connection is gone"
        kept = "finished runs are kept; run the same command again"
        return ClusterError(f"{self._address}: lost the cluster ({why}); {kept}")
