"""The progress of advice: one count of its runs, and about how long everything still takes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from fanin.choose.plan import Ahead, Plan
from fanin.numbers.stats import FEWEST
from fanin.run.job import Advance, Progress

_MIN_SIMULATED_SHARE = 0.5
"""If this share of some runs was simulated, and not found in the store, they tell how long others take."""

_MAX_RESERVED_SHARE = 0.3
"""At most this share of the time is kept for other hosts while fixes are ranked."""


class Outlook:
    """What is done and what is left, estimated again whenever some of it has ended."""

    def __init__(self, plan: Plan, tell: Advance) -> None:
        """Begins now.

        Args:
            plan: How thoroughly to look.
            tell: What to call with the progress of everything.

        """
        self.plan = plan
        """The plan, which learns how long runs take."""
        self._tell = tell
        self._begun = self._since = time.monotonic()
        self._progress = Progress(0, 0)
        """Of all runs that were asked for so far."""
        self._before = self._progress
        """The same when what is being done began."""
        self._now = self._after = Ahead()
        """What is being done, and what comes after."""
        self._is_search = False
        self._until_s = math.inf
        """When the last run of what is being done may begin."""
        self._expected_s = self._took_s = 0.0
        """How long the runs so far should have taken by the first one, and how long they took."""

    @property
    def begun_s(self) -> float:
        """How long everything has taken so far."""
        return time.monotonic() - self._begun

    @property
    def has_time(self) -> bool:
        """Whether another run of what is being done may begin."""
        return self.begun_s < self._until_s

    @property
    def ranked_until_s(self) -> float:
        """When the ranking has to end, so that there is time to try the best on other hosts, if that can be enough."""
        kept_s = min(self.plan.varied().seconds, _MAX_RESERVED_SHARE * self.plan.within_s)
        is_enough = self.plan.varied(2, FEWEST).seconds <= kept_s
        return self.plan.within_s - kept_s * is_enough

    def whole_s(self, after: Ahead) -> float:
        """How long everything takes, if so much is still to be done."""
        return self.begun_s + self.plan.in_time(after, self.begun_s).seconds

    @contextmanager
    def running(self, now: Ahead, after: Ahead, until_s: float = math.inf) -> Iterator[None]:
        """While some runs are made, which tell how long others take.

        Args:
            now: What they are.
            after: What else is to be done after them.
            until_s: When the last of them may begin.

        """
        slower = self.plan.slower
        with self._doing(now, after, until_s):
            yield
        if self._is_telling:
            made = (self._progress.done - self._before.done) / now.runs if now.runs else 1.0
            self._expected_s += min(1.0, made) * now.seconds / slower
            self._took_s += time.monotonic() - self._since
            self._learn()

    def knowing(self, work: list[float]) -> Plan:
        """The plan once it is known how much longer runs of each fix take; so far they were taken to be alike.

        Args:
            work: How many times longer each takes than the scenario as it is; one run of each has been made.

        """
        alike = self.plan.ranked(1).seconds
        # What they took longer than expected is for the most part that.
        self._expected_s *= replace(self.plan, work=work).ranked(1).seconds / alike if alike else 1.0
        self._learn()
        self.plan = self.plan.knowing(work)
        return self.plan

    def _learn(self) -> None:
        if self._expected_s:
            self.plan = replace(self.plan, slower=self._took_s / self._expected_s)

    @contextmanager
    def searching(self, now: Ahead, after: Ahead, until_s: float = math.inf) -> Iterator[None]:
        """The same of a search, which asks for runs by those before, and tells how long others take."""
        self._is_search = True
        with self._doing(now, after, until_s):
            yield
        self._is_search = False
        if self._is_telling and now.seconds:
            took_s = time.monotonic() - self._since
            self.plan = replace(self.plan, harder=self.plan.harder * took_s / now.seconds)

    @contextmanager
    def _doing(self, now: Ahead, after: Ahead, until_s: float) -> Iterator[None]:
        self._now = now = self.plan.in_time(now, self.begun_s)
        self._after, self._until_s = self.plan.in_time(after, self.begun_s + now.seconds), until_s
        self._since, self._before = time.monotonic(), self._progress
        yield

    @property
    def _is_telling(self) -> bool:
        asked = self._progress.total - self._before.total
        return asked > 0 and self._progress.simulated - self._before.simulated >= _MIN_SIMULATED_SHARE * asked

    def advance(self, progress: Progress) -> None:
        """Tells the progress of everything, by that of the runs that were asked for."""
        self._progress = progress
        end = self._before.total + self._now.runs
        left = max(0.0, self._now.seconds - (time.monotonic() - self._since))
        # A search asks for more when these runs are done.
        left = left if progress.left is None or self._is_search else progress.left
        total = round(max(progress.total, end) + self._after.runs)
        self._tell(replace(progress, total=total, left=left + self._after.seconds, is_whole=True))
