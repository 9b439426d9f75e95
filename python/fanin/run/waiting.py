"""The runs that wait in a pool, the long ones first, and how long they will take."""

from __future__ import annotations

import heapq
import itertools

from fanin.run.job import Kind, PooledRun

CHUNK_S = 0.25
"""Short runs of one point are simulated together, so many that they take about so long."""

_MAX_TOGETHER = 256
"""Runs to simulate together."""

_OVERDUE = 0.25
"""A run that takes longer than others of its kind is expected to continue for this share of its time so far."""


class Waiting:
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
        self._alone: set[str] = set()
        """Names of runs that are not simulated together with others."""

    def learn(self, kind: Kind, seconds: float) -> None:
        """Takes note of how long a run of this kind took."""
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

    def take_along(self, work: PooledRun) -> list[PooledRun]:
        """Takes out the waiting runs to simulate together with one; none unless they are known to be short."""
        kind = work.job.kind
        each, waiting = self._seconds.get(kind), self._waiting.get(kind, [])
        found: list[PooledRun] = []
        if each is None or work.name in self._alone:
            return found
        most = min(_MAX_TOGETHER, int(CHUNK_S / each) if each > 0 else _MAX_TOGETHER)
        while waiting and len(found) + 1 < most and waiting[-1].joins(work) and waiting[-1].name not in self._alone:
            found.append(waiting.pop())
        self._known -= len(found) * each
        if found and not waiting:
            del self._waiting[kind]
        return found

    def give_back(self, works: list[PooledRun], *, alone: bool = False) -> None:
        """Lets runs of one point wait again that were taken out.

        Args:
            works: The runs.
            alone: Whether each is to be simulated alone from now on, because one of them failed.

        """
        if not works:
            return
        kind = works[0].job.kind
        self._waiting.setdefault(kind, []).extend(reversed(works))
        if alone:
            self._alone.update(work.name for work in works)
        seconds = self._seconds.get(kind)
        if seconds is None:
            self._strangers += len(works)
            self._unknown.append(kind)
        else:
            self._known += len(works) * seconds
            heapq.heappush(self._longest, (-seconds, next(self._learned), kind))

    def seconds(self) -> float | None:
        """Total time of the waiting runs; unknown kinds are expected to take as long as the average of the others."""
        if not self._seconds:
            return None
        waiting = self._known + self._strangers * self._usual
        return waiting + (0.0 if self._next is None else self._expected(self._next.job.kind))

    def rest(self, kind: Kind, elapsed: float, runs: int = 1) -> float:
        """Remaining seconds of runs that have taken ``elapsed`` so far; some kind must be known."""
        return max(runs * self._expected(kind) - elapsed, _OVERDUE * elapsed)

    def _expected(self, kind: Kind) -> float:
        return self._seconds.get(kind, self._usual)

    @property
    def _usual(self) -> float:
        return self._total / len(self._seconds)
