"""Runs for a search, which knows what to run next only when it has seen what came of the last ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fanin.results import columns
from fanin.results.dataset import Row, row_of
from fanin.results.failures import Failure
from fanin.results.runs import Run
from fanin.run.experiment import Experiment
from fanin.run.pool import Advance, Job, Place, Progress, outcomes
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point


@dataclass(frozen=True)
class Outcome:
    """What became of a case's runs."""

    rows: list[Row]
    """Of those that ended, in the order of their seeds: rows of a sweep's table."""
    failures: list[Failure]


class Laboratory:
    """Runs points of one scenario, batch by batch, through the store: a search that was killed finds its runs again."""

    def __init__(
        self,
        experiment: Experiment,
        out: Path | str | None,
        *,
        place: Place | None = None,
        again: bool = False,
        advance: Advance = lambda _: None,
    ) -> None:
        """Runs nothing yet.

        Args:
            experiment: The scenario; its sweep and its variants are left aside.
            out: Results folder; ``None`` keeps everything in memory.
            place: Where to run all batches, which then know what the first ones took; threads for each if left out.
            again: Whether runs that are recorded as failed are tried again.
            advance: Called after every simulation, with the runs of all batches.

        """
        self.experiment = experiment.vary({}, bare=True)
        self._progress = Progress(0, 0)
        self._out = out
        self._place = place
        self._again = again
        self._advance = advance

    def cases(self, asked: Sequence[tuple[Mapping[str, Scalar], Sequence[int]]]) -> list[Outcome]:
        """What became of some cases, each scenario values and its seeds, in their order.

        Raises:
            ScenarioError: a value is not valid.
            ResultsError: results cannot be written; what is finished is kept.

        """
        points = [Point(dict(values), seed) for values, seeds in asked for seed in seeds]
        runs = zip(points, self._run(points), strict=True)
        found = []
        for _, seeds in asked:
            outcome = Outcome([], [])
            for point, run in itertools.islice(runs, len(seeds)):
                if isinstance(run, Failure):
                    outcome.failures.append(run)
                else:
                    outcome.rows.append(row_of(self.experiment, point, run))
            found.append(outcome)
        return found

    def _run(self, points: list[Point]) -> list[Run | Failure]:
        before = self._progress
        asked = before.total + len(points)

        def count(now: Progress) -> None:
            simulated, failed = before.simulated + now.simulated, before.failed + now.failed
            found = before.found + now.found
            self._progress = Progress(before.done + now.done, asked, now.left, simulated, failed, found, now.running)
            self._advance(self._progress)

        wanted = [Job(self.experiment, point.overrides, columns.tables(self.experiment, point.row)) for point in points]
        return outcomes(wanted, self._out, place=self._place, again=self._again, advance=count)
