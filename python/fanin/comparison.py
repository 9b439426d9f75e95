"""Schemes side by side on one scenario: the same seeds for all, so that differences are between schemes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fanin.errors import RunError
from fanin.experiment import Experiment
from fanin.pool import Advance, Job, Progress, run_jobs
from fanin.stats import mean_interval
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

MORE_IS_BETTER = frozenset({"goodput_bps", "jain"})

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
    found: dict[str, list[dict[str, Any]]] = {}
    errors: dict[str, str] = {}
    for index, scheme in enumerate(schemes):

        def count(progress: Progress, before: int = index) -> None:
            total = progress.total
            advance(Progress(before * total + progress.done, len(schemes) * total, simulated=progress.simulated))

        todo = [Point({"transport.scheme": scheme}, seed) for seed in seeds]
        try:
            wanted = [Job(experiment, point.overrides) for point in todo]
            runs = run_jobs(wanted, out, jobs=jobs, advance=count)
            found[scheme] = [run.summary for run in runs]
        except RunError as error:
            errors[scheme] = str(error)
    reference = found.get(against or schemes[0], [])
    return [
        Compared(scheme, found.get(scheme, []), errors.get(scheme), _estimates(found.get(scheme, []), reference))
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


def _values(summaries: list[dict[str, Any]], metric: str) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    values = [summary.get(metric) for summary in summaries]
    if not values or any(value is None for value in values):
        return None
    return np.array(values, dtype=np.float64)


def ranked(compared: list[Compared], metric: str) -> list[Compared]:
    """The best first by the mean of a metric; those without it last, in the order given."""

    def place(each: Compared) -> tuple[bool, float]:
        estimate = each.estimates.get(metric)
        if estimate is None:
            return (True, 0.0)
        return (False, -estimate.mean if metric in MORE_IS_BETTER else estimate.mean)

    return sorted(compared, key=place)
