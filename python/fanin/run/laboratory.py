"""Runs for a search, which decides what to run next from the results so far."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fanin.results import columns, never_ended
from fanin.results.dataset import Row, row_of
from fanin.results.failures import Failure, NotBegun
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run.job import Advance, Job, Progress, Workers
from fanin.run.pool import outcomes
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point

_READ = frozenset(["flows"])
"""Which tables tell what had just begun when a run ended."""


@dataclass
class Outcome:
    """The results of a case's runs."""

    rows: list[Row]
    """Rows of a sweep's table for the successful runs, in the order of their seeds."""
    failures: list[Failure]
    left_out: int = 0
    """How many runs did not begin, as there was no time."""


class Batches:
    """Runs jobs batch by batch through the store, so that a killed search can reuse its runs."""

    def __init__(
        self,
        out: Path | str | None,
        *,
        workers: Workers | None = None,
        again: bool = False,
        advance: Advance = lambda _: None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        """Prepares the runs; it does not run anything yet.

        Args:
            out: Results folder; ``None`` keeps everything in memory.
            workers: Where to run all batches, which also carries over their costs; by default new threads for each.
            again: Whether runs that are recorded as failed are retried.
            advance: Called after every simulation, with the runs of all batches.
            go_on: Whether more runs of a batch may begin, once one has.

        """
        self._progress = Progress(0, 0)
        self._out = None if out is None else Store(out)
        self._workers = workers
        self._again = again
        self._advance = advance
        self._go_on = go_on

    def run(self, wanted: list[Job], what: str = "") -> list[Run | Failure]:
        """The results of some jobs, in their order; the progress says what they are.

        Raises:
            ScenarioError: a value is invalid.
            ResultsError: results cannot be written; finished runs are kept.

        """
        before = self._progress
        asked = before.total + len(wanted)

        def count(now: Progress) -> None:
            simulated, failed = before.simulated + now.simulated, before.failed + now.failed
            found = before.found + now.found
            done = before.done + now.done
            self._progress = Progress(done, asked, now.left, simulated, failed, found, now.running, what)
            self._advance(self._progress)

        how: dict[str, Any] = {"workers": self._workers, "again": self._again, "go_on": self._go_on}
        found = outcomes(wanted, self._out, advance=count, **how)
        if left_out := sum(isinstance(each, NotBegun) for each in found):
            self._progress = replace(self._progress, total=self._progress.total - left_out)
            self._advance(self._progress)
        return found


class Laboratory:
    """Runs points of one scenario in batches."""

    def __init__(
        self,
        experiment: Scenario,
        out: Path | str | None,
        *,
        workers: Workers | None = None,
        again: bool = False,
        advance: Advance = lambda _: None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        """Prepares the runs; it does not run anything yet.

        Args:
            experiment: The scenario; its sweep and its variants are ignored.
            out: As for :class:`Batches`, like the arguments that follow.
            workers: Where to run all batches.
            again: Whether runs that are recorded as failed are retried.
            advance: Called after every simulation.
            go_on: Whether more runs may begin.

        """
        self.experiment = experiment.vary({}, bare=True)
        self._batches = Batches(out, workers=workers, again=again, advance=advance, go_on=go_on)

    def cases(self, asked: Sequence[tuple[Mapping[str, Scalar], Sequence[int]]], what: str = "") -> list[Outcome]:
        """The results of some cases, each with scenario values and seeds, in their order.

        Args:
            asked: The cases.
            what: What the progress says they are.

        Raises:
            ScenarioError: a value is invalid.
            ResultsError: results cannot be written; finished runs are kept.

        """
        points = [Point(dict(values), seed) for values, seeds in asked for seed in seeds]
        going_on = [never_ended.going_on(self.experiment.resolved(values)) for values, _ in asked]
        read = [_READ if on else frozenset() for on, (_, seeds) in zip(going_on, asked, strict=True) for _ in seeds]
        wanted = [
            Job(self.experiment, point.overrides, columns.tables(self.experiment, point.row) | own)
            for point, own in zip(points, read, strict=True)
        ]
        runs = zip(points, self._batches.run(wanted, what), strict=True)
        found = []
        for on, (_, seeds) in zip(going_on, asked, strict=True):
            outcome = Outcome([], [])
            for point, run in itertools.islice(runs, len(seeds)):
                if isinstance(run, NotBegun):
                    outcome.left_out += 1
                elif isinstance(run, Failure):
                    outcome.failures.append(run)
                else:
                    row = row_of(self.experiment, point, run)
                    if on and row["incomplete"]:
                        row[never_ended.JUST_BEGUN] = never_ended.just_begun(run.flows(), row["simulated_s"], on)
                    outcome.rows.append(row)
            found.append(outcome)
        return found
