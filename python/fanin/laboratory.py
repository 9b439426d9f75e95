"""Runs for a search, which knows what to run next only when it has seen what came of the last ones."""

from __future__ import annotations

from pathlib import Path

from fanin import columns
from fanin.dataset import Row, row_of
from fanin.experiment import Experiment
from fanin.failures import Failure
from fanin.pool import Advance, Job, Place, Progress, outcomes
from fanin.sweep import Point


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

    def rows(self, points: list[Point]) -> list[Row | Failure]:
        """What became of these points, in their order: rows of a sweep's table.

        Raises:
            ScenarioError: a value of a point is not valid.
            ResultsError: results cannot be written; what is finished is kept.

        """
        before = self._progress
        asked = before.total + len(points)

        def count(now: Progress) -> None:
            simulated, failed = before.simulated + now.simulated, before.failed + now.failed
            found = before.found + now.found
            self._progress = Progress(before.done + now.done, asked, now.left, simulated, failed, found, now.running)
            self._advance(self._progress)

        wanted = [Job(self.experiment, point.overrides, columns.tables(self.experiment, point.row)) for point in points]
        found = outcomes(wanted, self._out, place=self._place, again=self._again, advance=count)
        return [
            run if isinstance(run, Failure) else row_of(self.experiment, point, run)
            for point, run in zip(points, found, strict=True)
        ]
