"""Verdicts on the published claims of an experiment."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from fanin.errors import FaninError
from fanin.scenario import Claim, Scalar
from fanin.stats import Floats, mean_interval
from fanin.summary import format_value

Verdict = Literal["reproduced", "direction only", "not reproduced"]

_RESAMPLES = 1000

_Indices = np.ndarray[tuple[int], np.dtype[np.intp]]


@dataclass(frozen=True)
class Judgement:
    """What became of a claim."""

    claim: Claim
    value: float
    """The measured number; infinite for a point that the sweep never reaches."""
    low: float
    high: float
    """95 % interval of ``value`` over the seeds."""
    verdict: Verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        low, high = (self.show(bound) for bound in self.claim.accept)
        if self.verdict == "reproduced":
            return f"{self.show(self.value)} lies in {low} to {high}: {self.claim.why}"
        explanation = self.claim.explanation or "no explanation is written yet"
        return f"{self.show(self.value)} lies outside {low} to {high} ({self.claim.why}): {explanation}"

    def show(self, value: float) -> str:
        """A value of the claim's measure as people read it."""
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "never"
        own_unit = self.claim.measure in ("value-at", "max", "min") and self.claim.over is None
        return format_value(self.claim.y if own_unit else "", value)

    def as_dict(self) -> dict[str, object]:
        """The judgement for ``--json``; an infinite value is ``null``."""
        return {
            "id": self.claim.id,
            "says": self.claim.says,
            "measure": self.claim.measure,
            "published": self.claim.published,
            "value": _finite(self.value),
            "interval": [_finite(self.low), _finite(self.high)],
            "accept": [_finite(bound) for bound in self.claim.accept],
            "verdict": self.verdict,
            "reason": self.reason,
        }


def judge(claim: Claim, runs: pl.DataFrame) -> Judgement:
    """Measures the claim on the runs (one row each, with a ``seed`` column) and compares.

    Raises:
        FaninError: a column of the claim does not exist, or no run matches it.

    """
    curves = [_curves(claim, runs, where) for where in (claim.where, claim.over) if where is not None]
    measure = MEASURES[claim.measure]

    def number(rows: _Indices) -> float:
        values = [measure(claim, x, y[rows].mean(axis=0)) for x, y in curves]
        return values[0] if len(values) == 1 else _divide(values[0], values[1])

    seeds = min(len(y) for _, y in curves)
    value = number(np.arange(seeds))
    if claim.measure == "value-at" and claim.over is None:
        half = mean_interval(curves[0][1].mean(axis=1))[1]
        low, high = value - half, value + half
    else:
        low, high = _bootstrap(number, seeds)
    return Judgement(claim, value, low, high, _verdict(claim, value))


def _curves(claim: Claim, runs: pl.DataFrame, where: dict[str, Scalar]) -> tuple[Floats, Floats]:
    """Sorted x, and y with one row per seed and one column per x."""
    for name in (claim.x, claim.y, *where):
        if name not in runs.columns:
            raise FaninError(f"claim {claim.id}: the runs have no column {name}; they have {', '.join(runs.columns)}")
    chosen = runs.filter(*(pl.col(name) == value for name, value in where.items()))
    if claim.at is not None:
        chosen = chosen.filter(pl.col(claim.x).cast(pl.Float64).is_in(claim.at))
    if chosen.is_empty():
        raise FaninError(f"claim {claim.id}: no run matches {where} at {claim.at or 'any ' + claim.x}")
    table = chosen.pivot(on="seed", index=claim.x, values=claim.y, aggregate_function="mean").sort(claim.x).drop_nulls()
    x = table[claim.x].cast(pl.Float64).to_numpy()
    return x, table.drop(claim.x).cast(pl.Float64).to_numpy().T


def _collapse_point(_: Claim, x: Floats, y: Floats) -> float:
    """Smallest x whose y is below half of the best at smaller x, and stays below."""
    for index in range(1, len(x)):
        if (y[index:] < y[:index].max() / 2).all():
            return float(x[index])
    return math.inf


def _first_at_least(claim: Claim, x: Floats, y: Floats) -> float:
    """Smallest x whose y reaches the level."""
    assert claim.level is not None
    reached = np.flatnonzero(y >= claim.level)
    return float(x[reached[0]]) if len(reached) else math.inf


MEASURES: dict[str, Callable[[Claim, Floats, Floats], float]] = {
    "collapse-point": _collapse_point,
    "first-at-least": _first_at_least,
    "value-at": lambda _, x, y: float(y.mean()),
    "max": lambda _, x, y: float(y.max()),
    "min": lambda _, x, y: float(y.min()),
}
"""Each measure takes the claim, x and the mean of y over the seeds."""


def _bootstrap(number: Callable[[_Indices], float], seeds: int) -> tuple[float, float]:
    """95 % percentile interval of the number when the seeds are drawn again with replacement."""
    if seeds < 2:
        return math.nan, math.nan
    generator = np.random.Generator(np.random.PCG64(1))
    draws = generator.integers(0, seeds, size=(_RESAMPLES, seeds))
    values = np.sort([number(draw) for draw in draws])
    return float(values[int(0.025 * _RESAMPLES)]), float(values[int(0.975 * _RESAMPLES) - 1])


def _divide(value: float, by: float) -> float:
    if by == 0 or math.isinf(by):
        return math.nan if math.isinf(value) or value == 0 else (math.inf if by == 0 else 0.0)
    return value / by


def _verdict(claim: Claim, value: float) -> Verdict:
    if claim.accept[0] <= value <= claim.accept[1]:
        return "reproduced"
    if claim.direction is not None and claim.direction[0] <= value <= claim.direction[1]:
        return "direction only"
    return "not reproduced"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
