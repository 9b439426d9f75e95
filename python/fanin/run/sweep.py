"""Runs the points of a sweep and returns the table of its finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin.errors import WorkerError
from fanin.later import pl
from fanin.numbers.summary import format_value, totals
from fanin.results import columns, never_ended
from fanin.results.curves import stacked
from fanin.results.dataset import DataSet, head, row_of
from fanin.results.failures import BrokenOff
from fanin.results.runs import Run, frame_of, html_table
from fanin.results.store import Store
from fanin.run.benchmark import measure, refuse_untrusted
from fanin.run.job import Advance, Job, Workers
from fanin.run.pool import run_jobs
from fanin.run.scenario import Scenario
from fanin.run.threads import Threads
from fanin.scenario.format.bounds import Filter
from fanin.scenario.points import Point, points

_MOST_REMARKS = 10


@dataclass(frozen=True)
class Runs:
    """Finished runs of a sweep, in the order of its points."""

    scenario: Scenario
    """The scenario."""
    finished: list[tuple[Point, Run]] = field(repr=False)
    """Each point with its run, over which a loop goes too."""
    missing: list[tuple[Point, BrokenOff]] = field(default_factory=list, repr=False)
    """Points whose runs were aborted because of the machine, as they do not fit in memory, or did not begin."""

    def __len__(self) -> int:
        return len(self.finished)

    def __iter__(self) -> Iterator[tuple[Point, Run]]:
        return iter(self.finished)

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        return sorted({point.seed for point, _ in [*self.finished, *self.missing]})

    @property
    def labels(self) -> columns.Labels:
        """What the experiment says of its own columns."""
        return columns.own_labels(self.scenario)

    def without(self) -> list[str]:
        """Remarks on the missing runs and on why they are missing; of many on the first ones."""
        remarks = []
        for point, broken in self.missing[:_MOST_REMARKS]:
            values = ", ".join(f"{name} = {value}" for name, value in point.row.items())
            remarks.append(f"no run with {values}: {broken.error}")
        more = len(self.missing) - len(remarks)
        return [*remarks, f"and {more} more runs are missing"] if more else remarks

    def frame(self) -> pl.DataFrame:
        """One row per run: variants, variables, seed, the run's id, its summary and the experiment's own columns.

        Completion times that fall among transfers that never ended are infinite (:mod:`fanin.results.never_ended`).
        """
        return frame_of([self._row(point, run) for point, run in self.finished])

    def _row(self, point: Point, run: Run) -> dict[str, Any]:
        row: dict[str, Any] = totals(run.summary)
        going_on: never_ended.GoingOn = {}
        if row.get("incomplete"):
            resolved = self.scenario.resolved(point.overrides)
            row, going_on = never_ended.with_infinite(row, resolved), never_ended.going_on(resolved)
        row = {**point.row, "run_id": run.run_id, **row}
        return columns.extended(row, self.scenario.columns, run.table, going_on)

    def rows(self, table: str, where: Filter | None = None) -> pl.DataFrame:
        """A result table of all runs, or of those that match, each row with its run's variables and seed in front."""
        return stacked(((point.row, run.table) for point, run in self.finished), table, where)

    def summary(self) -> pl.DataFrame:
        """Means over the seeds with 95 % intervals: a row for each point and numeric column, as ``fanin sweep`` has it.

        Its columns are the variables, ``column unit mean half low high runs`` (see ``docs/reference/sweep.md``).
        """
        return self.data.summary

    @property
    def data(self) -> DataSet:
        """The data set that ``fanin sweep`` makes of them."""
        rows = [row_of(self.scenario, point, run) for point, run in self.finished]
        return DataSet(head(self.scenario, [point for point, _ in self.finished]), rows, [])

    def flows(self) -> pl.DataFrame:
        """The flows of all runs, each with its run's variables and seed in front."""
        return self.rows("flows")

    def queues(self) -> pl.DataFrame:
        """The queues of all runs, each with its run's variables and seed in front."""
        return self.rows("queues")

    def __repr__(self) -> str:
        return f"<Runs of {self.scenario.name}: {len(self)}>"

    def _repr_html_(self) -> str:
        header = ["", "goodput", "run"]
        rows = [
            (
                ", ".join(map(str, point.row.values())),
                format_value("goodput_bps", run.summary["goodput_bps"]),
                run.run_id,
            )
            for point, run in self.finished
        ]
        return html_table(f"Runs of {self.scenario.name}", header, rows)


def whole(runs: Runs) -> Runs:
    """The same runs, if none is missing.

    Raises:
        WorkerError: some are.

    """
    if runs.missing:
        some = f"{len(runs.missing)} of {len(runs.missing) + len(runs)} runs are missing"
        raise WorkerError(f"{some}: {runs.without()[0]}")
    return runs


def sweep_all(
    experiments: list[Scenario],
    *,
    seeds: list[int] | None = None,
    jobs: int | None = None,
    memory: float | None = None,
    workers: Workers | None = None,
    out: Path | str | None = "results",
    quick: bool = False,
    tables: Iterable[str] = (),
    trust: bool = False,
    advance: Advance = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
) -> list[Runs]:
    """Runs the sweeps of several experiments as one: equal runs are simulated once, and long runs start first.

    The measurements of a ``benchmark`` are stored as well, but repeated each time. A run that was aborted because of
    the machine is among the missing ones of its experiment.

    Arguments and other errors are those of :func:`fanin.sweep`.
    """
    if not trust:
        refuse_untrusted(experiments)
    swept = [(experiment, points(experiment, seeds, quick=quick)) for experiment in experiments]
    wanted = [
        Job(experiment, point.overrides, columns.tables(experiment, point.row) | frozenset(tables))
        for experiment, todo in swept
        if experiment.document.benchmark is None
        for point in todo
    ]
    with nullcontext(workers) if workers is not None else closing(Threads(jobs, memory)) as where:
        finished = iter(run_jobs(wanted, out, workers=where, advance=advance, go_on=go_on))
    store = None if out is None else Store(out)
    found = []
    for experiment, todo in swept:
        # After all simulations and one at a time, so that nothing else uses the processor.
        measured = experiment.document.benchmark is not None
        runs = [(point, _measured(experiment, point, store) if measured else next(finished)) for point in todo]
        made = [(point, run) for point, run in runs if isinstance(run, Run)]
        found.append(Runs(experiment, made, [(point, run) for point, run in runs if isinstance(run, BrokenOff)]))
    return found


def _measured(experiment: Scenario, point: Point, store: Store | None) -> Run:
    """The measurement of a point by the experiment's program; it is stored with machine and date."""
    command = experiment.document.benchmark
    assert command is not None
    row = measure(command, point.row)
    if store is None:
        return Run("", row)
    stored = store.save_measured(command, point.row, row, experiment.name)
    return Run(stored.run_id, row, stored)
