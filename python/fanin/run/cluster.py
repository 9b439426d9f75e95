"""Runs on a Dask cluster instead of threads: the same runs and the same store, on other processors.

Runs are sent through the standard executor interface of Dask's client, and come back as they finish. Dask gives the
runs of a worker that dies to another one. The store stays here: workers need fanin, but no shared file system.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import re
import time
import warnings
from collections import Counter
from collections.abc import Collection
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Any

from fanin.errors import ClusterError, FaninError, LeftOutError, WorkerError
from fanin.extras import how_to_install
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run.job import PooledRun, kept
from fanin.run.memory import Needs
from fanin.run.remote import Package, VersionError, Versions, refuse_others, simulate, task_of, versions

_AHEAD = 2
"""Runs sent per thread of the cluster: the one in progress, and the next."""

_COUNT_EVERY_S = 2.0
"""Workers come and go, so threads are counted repeatedly."""

_MOST_TRIES = 5
"""Unsuitable workers that may have a run, one after the other, before it counts as the run's fault."""

_CLOSING_S = 10.0
"""Time for closing a client that got no connection, however little it had for connecting."""

_ADDRESS = re.compile(r"(\w+://)?(\[[\w:.%]+\]|[^\s:/\[\]]+):\d{1,5}")


_LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""What Dask says itself of a connection that breaks, or of what does not speak its language, with tracebacks."""


class Cluster:
    """A running scheduler and its workers. A :class:`fanin.run.job.Workers`."""

    def __init__(self, address: str, timeout: float = 20.0, memory: float | None = None) -> None:
        """Connects, and checks that all workers have this version of fanin.

        Args:
            address: Address of the scheduler, such as ``tcp://host:8786``; ``tls://`` uses Dask's configuration.
            timeout: Seconds to wait for the scheduler.
            memory: Bytes that a run may take; by default what is free where it runs.

        Raises:
            ClusterError: Dask is not installed, no scheduler responds, or a worker has another fanin version.

        """
        # Dask would try for long, and on the way out once more.
        if not _ADDRESS.fullmatch(address):
            raise ClusterError(f"{address}: no address of a scheduler, such as tcp://host:8786")
        try:
            # It is an optional dependency, and has no types.
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise ClusterError(f"a cluster needs Dask: {how_to_install('cluster')}") from None
        # A lost scheduler, and what is none, are reported as errors here, without an additional traceback.
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._killed = distributed.KilledWorker
        self._client = _connected(distributed.Client, address, timeout)
        self._address = address
        self._memory = memory
        self._needs = Needs()
        self._tries: Counter[str] = Counter()
        """How often an unsuitable worker had a run."""
        self._counted = float("-inf")
        self._threads: dict[str, int] = {}
        self._sent_to: dict[str, list[str]] = {}
        """Runs that only some workers may make, by the name of the first of those that were sent together."""
        self._unsuitable: dict[str, ClusterError | None] = {}
        """The workers that have been asked, each with what is wrong with it."""
        try:
            for worker, found in self.workers().items():
                self._unsuitable[worker] = None
                if (wrong := _wrong(worker, found)) is not None:
                    raise wrong
            self._executor = self._client.get_executor(pure=False)
        except OSError as error:
            self._client.close()
            raise self._lost(error) from None
        except BaseException:
            self._client.close()
            raise

    def workers(self, asked: list[str] | None = None) -> dict[str, Versions | Exception]:
        """The workers by address, or some of them, each with its versions, or the reason why it has none."""
        found: dict[str, Versions | Exception] = self._client.run(versions, workers=asked, on_error="return")
        # A worker that cannot be reached has left; one that joins later is asked then.
        return {worker: each for worker, each in sorted(found.items()) if not isinstance(each, OSError)}

    def threads(self) -> dict[str, int]:
        """Threads of each worker.

        Raises:
            ClusterError: the cluster is lost.

        """
        try:
            found: dict[str, int] = self._client.nthreads()
        except OSError as error:
            raise self._lost(error) from None
        return found

    @property
    def slots(self) -> int:
        """Runs that the cluster simulates at once; one if no worker has joined yet."""
        if time.monotonic() - self._counted > _COUNT_EVERY_S:
            self._count()
        return max(sum(self._threads.values()), 1)

    def _count(self) -> None:
        """Counts the threads of suitable workers, and warns of those that joined and are left out.

        Raises:
            ClusterError: the cluster is lost, or no worker is suitable any more.

        """
        try:
            threads = self.threads()
            joined = [worker for worker in threads if worker not in self._unsuitable]
            found = self.workers(joined) if joined else {}
        except OSError as error:
            raise self._lost(error) from None
        wrong = {worker: _wrong(worker, each) for worker, each in found.items()}
        # Those that have left are forgotten: another one may come to the same address.
        known = {worker: error for worker, error in self._unsuitable.items() if worker in threads}
        self._unsuitable = known | wrong
        for unsuitable in filter(None, wrong.values()):
            warnings.warn(f"{unsuitable}; this worker is left out", stacklevel=2)
        self._threads = {worker: count for worker, count in threads.items() if self._unsuitable.get(worker) is None}
        if threads and not self._threads:
            raise next(filter(None, self._unsuitable.values()))
        # Others, even suitable ones, would never be given these.
        if any(not threads.keys() & some for some in self._sent_to.values()):
            raise self._lost(ClusterError("the workers that had runs have left"))
        self._counted = time.monotonic()

    def has_room(self, running: Collection[PooledRun], work: PooledRun) -> bool:
        """Whether another run may be sent."""
        return len(running) < _AHEAD * self.slots

    def submit(self, works: list[PooledRun], store: Store | None) -> Future[list[Package]]:
        """Sends runs of one point."""
        needed = self._needs.of(works[0].job.kind, works[0].memory)
        task = replace(task_of(works, store), needed=needed, memory=self._memory)
        where = {}
        if any(self._unsuitable.values()):
            # One that fails at once is always idle, and would be given every run if others were only preferred.
            where = {"workers": list(self._threads), "allow_other_workers": False}
            self._sent_to[works[0].name] = list(self._threads)
        sent: Future[list[Package]] = self._executor.submit(simulate, task, **where)
        return sent

    def collect(self, works: list[PooledRun], store: Store | None, future: Future[Any]) -> list[Run]:
        """Stores the results that came back.

        Raises:
            ClusterError: the cluster is lost, or a worker is unsuitable.
            LeftOutError: a worker that had joined turned out to be unsuitable, and another one has to make the run.
            WorkerError: every worker that had the run died, or it does not fit in memory.
            RunError: the run failed.

        """
        self._sent_to.pop(works[0].name, None)
        try:
            packages = future.result()
        except VersionError as error:
            self._leave_out(works, error)
            raise
        except FaninError:
            raise
        except self._killed as error:
            why = f"{error.allowed_failures + 1} workers died while simulating it: do they have enough memory?"
            raise WorkerError(f"{why} The next command retries it") from None
        except (CancelledError, OSError) as error:
            raise self._lost(error) from None
        except Exception as error:
            bare = ClusterError(f"a worker has no working fanin: {type(error).__name__}: {error}")
            self._leave_out(works, bare)
            raise bare from None
        if store is None:
            raise ClusterError("a cluster needs a results folder")
        runs = kept(works, store, packages)
        self._needs.learn(works[0].job.kind, runs[-1].summary["flows"])
        return runs

    def _leave_out(self, works: list[PooledRun], error: ClusterError) -> None:
        """After an unsuitable worker had runs.

        Raises:
            LeftOutError: it had joined in the meantime and is left out.

        """
        self._count()
        name = works[0].name
        self._tries[name] += 1
        if any(self._unsuitable.values()) and self._tries[name] < _MOST_TRIES:
            raise LeftOutError(str(error)) from None

    def close(self) -> None:
        """Cancels the runs that were sent, and disconnects; the cluster keeps running."""
        with contextlib.suppress(OSError, CancelledError):
            self._executor.shutdown(wait=False)
        self._client.close()

    def _lost(self, error: BaseException) -> ClusterError:
        why = str(error) or "the connection is gone"
        kept = "finished runs are kept; run the same command again"
        return ClusterError(f"{self._address}: lost the cluster ({why}); {kept}")


def _connected(client: Any, address: str, timeout: float) -> Any:  # noqa: ANN401 - it has no types
    """A client of Dask's that is connected.

    Raises:
        ClusterError: no scheduler responds, or Dask has no such kind of address, no certificates for it, or may not use
            it without encryption.

    """
    # In two steps, so that one that gets no connection is closed here: when the interpreter ends, where it would be
    # closed otherwise, the thread of its event loop does not run any more, and it would wait for that in vain.
    made = client.__new__(client)
    # Dask bounds the time that it takes to connect, but waits without end for what is said on the connection.
    made.start = functools.partial(made.start, callback_timeout=timeout)
    try:
        made.__init__(address, timeout=timeout, set_as_default=False)
    except BaseException as error:
        made.close(timeout=_CLOSING_S)
        # What cannot be unpacked says nothing.
        if isinstance(error, ValueError | TypeError | RuntimeError | ImportError) and str(error):
            raise ClusterError(f"{address}: Dask does not connect there: {error}") from None
        if not isinstance(error, Exception):
            raise
        why = f"timed out after {timeout:g} s" if isinstance(error, TimeoutError) else str(error)
        if not isinstance(error, OSError):
            # Dask takes whatever comes for a message of its own: the first bytes for a length, which is mostly huge.
            why = "something else answers there"
        check = "check the address, that dask scheduler runs there, and that no firewall is between"
        raise ClusterError(f"{address}: no scheduler responds: {why}; {check}") from None
    return made


def _wrong(worker: str, found: Versions | Exception) -> ClusterError | None:
    """What is wrong with a worker that has these versions, or none."""
    if not isinstance(found, Versions):
        return ClusterError(f"worker {worker} has no working fanin: {found}")
    try:
        refuse_others(versions(), found, f"worker {worker}")
    except VersionError as error:
        return error
    return None
