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
from fanin.stats import FEWEST, Floats, mean_interval
from fanin.summary import format_quantity, format_value

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
    reach: float = math.inf
    """Largest x that was measured."""
    provisional: bool = False
    """Whether this is a quick look, with fewer runs than the explanation is about."""

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        sentence = f"{self._found()}; accepted {self.span(*self.claim.accept)} ({self.claim.why}){self._doubt()}"
        if self.verdict == "reproduced":
            return sentence
        explanation = self.claim.explanation or "no explanation is written yet"
        written = "explanation written for the full run: " if self.provisional and self.claim.explanation else ""
        return f"{sentence}: {written}{explanation}"

    def _found(self) -> str:
        if math.isinf(self.value) and self._is_point:
            what = "no collapse" if self.claim.measure == "collapse-point" else "level not reached"
            return f"{what} up to {self.show(self.reach)}"
        return "- (undefined)" if math.isnan(self.value) else self.show(self.value)

    def _doubt(self) -> str:
        """A remark when other seeds might have given another answer."""
        lowest, highest = self.claim.accept
        if math.isnan(self.low) or math.isnan(self.value):
            return ""
        if lowest <= self.value <= highest:
            crosses = self.low < lowest or self.high > highest
            return "; the 95 % interval reaches beyond the accepted range" if crosses else ""
        overlaps = self.low <= highest and self.high >= lowest
        return "; the 95 % interval reaches into the accepted range" if overlaps else ""

    @property
    def _is_point(self) -> bool:
        """Whether the number is a place on the claim's x axis."""
        return self.claim.measure in ("collapse-point", "first-at-least") and self.claim.over is None

    def show(self, value: float) -> str:
        """A value of the claim's measure as people read it."""
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "never" if self._is_point else "infinite"
        if self._is_point:
            return format_quantity(self.claim.x, value)
        return format_value("" if self.claim.over is not None else self.claim.y, value)

    def span(self, low: float, high: float) -> str:
        """A range of such values."""
        if math.isnan(low) or math.isnan(high):
            return "-"
        first, last = self.show(low), self.show(high)
        if low == high or math.isinf(low):
            return first
        if math.isinf(high):
            return f"from {first} on, or never" if self._is_point else f"at least {first}"
        number, _, unit = last.partition(" ")
        return f"{first.removesuffix(f' {unit}') if unit else first} to {number} {unit}".rstrip()

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


def judge(claim: Claim, runs: pl.DataFrame, *, provisional: bool = False) -> Judgement:
    """Measures the claim on the runs (one row each, with a ``seed`` column) and compares.

    Args:
        claim: What to measure.
        runs: On what.
        provisional: Whether the runs are but some of those that the claim's explanation is about.

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
    reach = max(float(x.max()) for x, _ in curves)
    return Judgement(claim, value, low, high, _verdict(claim, value), reach, provisional)


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
    if seeds < FEWEST:
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
