"""The measures of claims: each reduces curves to one number."""

from __future__ import annotations

import math
from collections.abc import Callable

from fanin.later import np
from fanin.numbers.stats import Floats
from fanin.scenario.format.claim import Case

Curve = tuple[Floats, Floats]
"""Sorted x, and the mean of y over the seeds."""


def number(case: Case, curves: list[Curve]) -> float:
    """The claim's number; its own curve comes first, then those of ``over``, ``minus`` or ``rivals``.

    Of two systems that never finish none is ahead, and the difference of their numbers is NaN. So is any ratio to what
    is infinite: 0 would be a size.
    """
    if case.measure == "wins":
        return _wins(case, curves)
    if case.measure == "order":
        return _order(case, curves)
    if case.measure == "margin":
        return _margin(case, curves)
    if case.measure == "lead":
        return _lead(case, curves)
    if case.measure == "farthest":
        return _farthest(curves)
    if case.measure == "mean-ratio":
        return _mean_ratio(curves)
    values = [_MEASURES[case.measure](case, *curve) for curve in curves]
    if case.over is not None:
        return _divide(*values)
    # In plain floats, infinity less infinity is NaN without a warning.
    return values[0] - values[1] if case.minus is not None else values[0]


def _collapse_point(_: Case, x: Floats, y: Floats) -> float:
    """Smallest x from which y stays below half of the highest y at smaller x."""
    for index in range(1, len(x)):
        if (y[index:] < y[:index].max() / 2).all():
            return float(x[index])
    return math.inf


def _first_drop(_: Case, x: Floats, y: Floats) -> float:
    """Smallest x at which y is below half of the highest y at smaller x, whatever follows."""
    best = np.maximum.accumulate(y)[:-1]
    return _first(y[1:] < best / 2, x[1:])


def _first(reached: np.ndarray[tuple[int], np.dtype[np.bool_]], x: Floats) -> float:
    found = np.flatnonzero(reached)
    return float(x[found[0]]) if len(found) else math.inf


def _trend(_: Case, x: Floats, y: Floats) -> float:
    """Kendall's tau-a: the share of pairs of points where y rises with x, minus the share where it falls."""
    if len(x) < 2:
        return math.nan
    above = np.triu_indices(len(y), 1)
    return float(np.sign(_less(y[above[1]], y[above[0]])).mean())


def _wins(case: Case, curves: list[Curve]) -> float:
    """Share of the x values at which no rival is better."""
    ahead = _ahead(case, curves)
    return float((ahead >= 0).mean()) if len(ahead) else math.nan


def _margin(case: Case, curves: list[Curve]) -> float:
    """The smallest difference over x to the best rival there; negative if that is better."""
    ahead = _ahead(case, curves)
    return float(ahead.min()) if len(ahead) else math.nan


def _ahead(case: Case, curves: list[Curve]) -> Floats:
    """The difference to the best rival at each x that all curves have; negative if that is better.

    Of two that never finish none is better, but there is no difference at all if nothing finishes anywhere.
    """
    common = np.array(sorted(set.intersection(*(set(x.tolist()) for x, _ in curves))))
    sign = 1.0 if case.better == "high" else -1.0
    own, *others = [sign * y[np.isin(x, common)] for x, y in curves]
    best = np.max(others, axis=0)
    return _less(own, best) if np.isfinite([own, best]).any() else own[:0]


def _less(values: Floats, others: Floats) -> Floats:
    """The differences; zero where both are infinite."""
    equal = values == others
    found: Floats = np.where(equal, 0.0, values - np.where(equal, 0.0, others))
    return found


def _mean_ratio(curves: list[Curve]) -> float:
    """The mean over x of the ratio of two curves, at each x that both have."""
    (x, y), (others_x, others) = curves
    both = sorted(set(x.tolist()) & set(others_x.tolist()))
    ratios = [_divide(float(y[x == each][0]), float(others[others_x == each][0])) for each in both]
    return sum(ratios) / len(ratios) if ratios else math.nan


def _order(case: Case, curves: list[Curve]) -> float:
    """Share of the pairs of systems whose means over x are in the claimed order, the better one first."""
    sign = 1.0 if case.better == "high" else -1.0
    means = [sign * float(y.mean()) for _, y in curves]
    pairs = [means[first] > means[second] for second in range(len(means)) for first in range(second)]
    return sum(pairs) / len(pairs)


def _lead(case: Case, curves: list[Curve]) -> float:
    """The mean over x relative to that of the best rival."""
    own, *others = [float(y.mean()) for _, y in curves]
    return _divide(own, max(others) if case.better == "high" else min(others))


def _farthest(curves: list[Curve]) -> float:
    """The mean over x relative to that of a rival, for the rival from which it is farthest by a factor."""
    own, *others = [float(y.mean()) for _, y in curves]
    ratios = [_divide(own, other) for other in others]
    if any(not ratio > 0 for ratio in ratios):
        return next(ratio for ratio in ratios if not ratio > 0)
    return max(ratios, key=lambda ratio: max(ratio, 1 / ratio))


_MEASURES: dict[str, Callable[[Case, Floats, Floats], float]] = {
    "mean": lambda _, x, y: float(y.mean()),
    "max": lambda _, x, y: float(y.max()),
    "min": lambda _, x, y: float(y.min()),
    "first-at-least": lambda case, x, y: _first(y >= (case.level or 0.0), x),
    "first-at-most": lambda case, x, y: _first(y <= (case.level or 0.0), x),
    "collapse-point": _collapse_point,
    "first-drop": _first_drop,
    "trend": _trend,
}
"""Measures of one curve."""

POINTS = ("collapse-point", "first-drop", "first-at-least", "first-at-most")
"""Measures whose number is a value of the x axis."""


def _divide(value: float, by: float) -> float:
    if math.isinf(by):
        return math.nan
    if by == 0:
        return math.nan if math.isinf(value) or value == 0 else math.inf
    return value / by
