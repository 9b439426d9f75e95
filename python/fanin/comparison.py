"""Schemes side by side on one scenario: the same seeds for all, so that differences are between schemes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fanin import columns
from fanin.dataset import Row, row_of
from fanin.errors import RunError
from fanin.experiment import Experiment
from fanin.goals import Goal
from fanin.pool import Advance, Job, Progress, run_jobs
from fanin.stats import Floats, mean_interval
from fanin.summary import format_interval
from fanin.sweep import Point

METRICS = {
    "goodput_bps": "goodput",
    "fct_mean_s": "mean FCT",
    "fct_p99_s": "p99 FCT",
    "query_mean_s": "query",
    "timeouts": "timeouts",
    "drops": "drops",
    "marks": "marks",
    "queue_mean_packets": "queue",
    "jain": "Jain",
}
"""Column of the summary -> its short name in the table."""

FEW_SEEDS = [1, 2, 3, 4, 5]
"""Seeds of a scenario that names one at most: enough for an interval, and quick."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with half of its 95 % interval, and the same of the paired differences to the reference."""

    mean: float
    half: float
    difference: float
    difference_half: float

    @property
    def differs(self) -> bool:
        """The interval of the difference leaves out zero."""
        return self.difference_half < abs(self.difference)

    def as_dict(self) -> dict[str, float | None]:
        """For JSON, which knows no NaN."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}

    def shown(self, metric: str) -> str:
        """As people read it."""
        return f"{format_interval(metric, self.mean, self.half)}{'*' if self.differs else ''}"


@dataclass(frozen=True)
class Compared:
    """One scheme: its runs' summaries, or why there are none, and the estimates of what they have."""

    scheme: str
    summaries: list[dict[str, Any]]
    error: str | None
    estimates: dict[str, Estimate]
    rows: list[Row] = field(default_factory=list)
    """The runs as rows of a sweep's table."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        metrics = {name: estimate.as_dict() for name, estimate in self.estimates.items()}
        return {"scheme": self.scheme, "runs": len(self.summaries), "error": self.error, "metrics": metrics}


def compare(
    experiment: Experiment,
    schemes: list[str],
    seeds: list[int],
    *,
    against: str | None = None,
    jobs: int | None = None,
    out: Path | str | None = "results",
    advance: Advance = lambda _: None,
) -> list[Compared]:
    """Runs a scenario with each scheme in turn, on the same seeds.

    A scheme whose run fails is reported with its error; the others go on.

    Args:
        experiment: The scenario; its sweep is left aside.
        schemes: Values of ``transport.scheme``.
        seeds: Seeds of every scheme.
        against: The scheme that differences are taken to; the first if left out.
        jobs: Threads; one per core if left out.
        out: Results folder; ``None`` keeps everything in memory.
        advance: Called after every simulation.

    Raises:
        ScenarioError: the scenario is not valid with one of the schemes.
        ResultsError: results cannot be written.

    """
    for scheme in schemes:
        experiment.check({"transport.scheme": scheme})
    bare = experiment.vary({}, bare=True)
    found: dict[str, list[dict[str, Any]]] = {}
    rows: dict[str, list[Row]] = {}
    errors: dict[str, str] = {}
    last = Progress(0, 0)
    for index, scheme in enumerate(schemes):

        def count(now: Progress, before: int = index, ended: Progress = last) -> None:
            nonlocal last
            total, simulated, found = now.total, ended.simulated + now.simulated, ended.found + now.found
            last = Progress(
                before * total + now.done,
                len(schemes) * total,
                simulated=simulated,
                found=found,
                running=now.running,
            )
            advance(last)

        todo = [Point({"transport.scheme": scheme}, seed) for seed in seeds]
        try:
            wanted = [Job(bare, point.overrides, columns.tables(bare, point.row)) for point in todo]
            runs = run_jobs(wanted, out, jobs=jobs, advance=count)
            rows[scheme] = [row_of(bare, point, run) for point, run in zip(todo, runs, strict=True)]
            found[scheme] = [run.summary for run in runs]
        except RunError as error:
            errors[scheme] = str(error)
    reference = found.get(against or schemes[0], [])
    every = {scheme: _estimates(found.get(scheme, []), reference) for scheme in schemes}
    return [
        Compared(scheme, found.get(scheme, []), errors.get(scheme), every[scheme], rows.get(scheme, []))
        for scheme in schemes
    ]


def _estimates(summaries: list[dict[str, Any]], reference: list[dict[str, Any]]) -> dict[str, Estimate]:
    """The metrics that every run of a scheme has."""
    estimates = {}
    for metric in METRICS:
        values = _values(summaries, metric)
        if values is None:
            continue
        mean, half = mean_interval(values)
        others = _values(reference, metric)
        # Seed by seed: what the seeds have in common falls out.
        difference = (math.nan, math.nan) if others is None else mean_interval(values - others)
        estimates[metric] = Estimate(mean, half, *difference)
    return estimates


def _values(summaries: list[dict[str, Any]], metric: str) -> Floats | None:
    values = [summary.get(metric) for summary in summaries]
    if not values or any(value is None for value in values):
        return None
    return np.array(values, dtype=np.float64)


@dataclass(frozen=True)
class Placed:
    """A scheme's place by a goal."""

    scheme: str
    rank: int
    """One more than the number of schemes that are better by more than chance."""
    value: tuple[float, float]
    """Mean over the seeds, and half of its 95 % interval."""
    behind: Estimate | None
    """How it differs from the best, seed by seed; ``None`` for the best, and where a difference has no meaning."""
    measures: dict[str, tuple[float, float]]
    """The same of each measure that a weighted goal is made of."""

    @property
    def verdict(self) -> str:
        """What its distance to the best comes to."""
        if self.behind is None:
            return "unfinished" if math.isinf(self.value[0]) else "best"
        if math.isnan(self.behind.difference_half):
            return "too few seeds to tell"
        return "worse" if self.behind.differs else "no significant difference"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which knows neither NaN nor infinity."""
        behind = None if self.behind is None else (self.behind.difference, self.behind.difference_half)
        mean, half = _plain(self.value)
        difference, difference_half = (None, None) if behind is None else _plain(behind)
        numbers = {"mean": mean, "half": half, "difference": difference, "difference_half": difference_half}
        measures = {
            name: dict(zip(("mean", "half"), _plain(value), strict=True)) for name, value in self.measures.items()
        }
        return {"scheme": self.scheme, "rank": self.rank, **numbers, "verdict": self.verdict, "measures": measures}


def placed(compared: list[Compared], goal: Goal, against: str) -> list[Placed]:
    """The schemes that have a value of the goal, the best first.

    Args:
        compared: What :func:`compare` found.
        goal: What to rank by.
        against: The scheme that scores of a weighted goal are relative to.

    """
    reference = next((each.rows for each in compared if each.scheme == against), [])
    values = {each.scheme: goal.values(each.rows, reference) for each in compared if each.rows}
    values = {scheme: found for scheme, found in values.items() if not np.isnan(found).any()}
    sign = -1.0 if goal.more else 1.0
    order = sorted(values, key=lambda scheme: sign * float(values[scheme].mean()))
    rows = {each.scheme: each.rows for each in compared}
    found = []
    for scheme in order:
        away = {other: paired(sign * values[scheme], sign * values[other]) for other in order if other != scheme}
        better = sum(each is not None and each.differs and each.difference > 0 for each in away.values())
        better += sum(math.isinf(values[scheme].mean()) and not math.isinf(values[other].mean()) for other in away)
        measures = {each.name: interval(each.values(rows[scheme])) for each in goal.measures}
        behind = None if scheme == order[0] else paired(values[scheme], values[order[0]])
        found.append(Placed(scheme, 1 + better, interval(values[scheme]), behind, measures))
    return found


def paired(values: Floats, others: Floats) -> Estimate | None:
    """The mean of some values and how they differ from others of the same seeds; nothing if some are infinite."""
    if np.isinf(values).any() or np.isinf(others).any():
        return None
    return Estimate(*mean_interval(values), *mean_interval(values - others))


def interval(values: Floats) -> tuple[float, float]:
    """Mean and half of the 95 % interval, also of values of which some are infinite."""
    return (math.inf, math.nan) if np.isinf(values).any() else mean_interval(values)


def _plain(values: tuple[float, float]) -> tuple[float | None, float | None]:
    mean, half = (value if math.isfinite(value) else None for value in values)
    return mean, half
