"""The points of a sweep: every combination of varied values, with every seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from fanin.errors import ScenarioError
from fanin.scenario.file import ScenarioFile
from fanin.scenario.format.values import Scalar, distinct
from fanin.scenario.handle import line_of
from fanin.scenario.settings import Settings, override

_QUICK_VALUES = 4
"""From this many numbers on, a quick look takes only the first, the middle and the last."""


_MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Point:
    """One run of a sweep: the values of the variables and a seed."""

    values: dict[str, Scalar]
    """Dotted path -> value."""
    seed: int
    """The seed."""
    labels: dict[str, str] = field(default_factory=dict)
    """Axis -> label of its variant."""

    @property
    def overrides(self) -> Settings:
        """The point as overrides for the engine."""
        settings = [(path, override(value)) for path, value in self.values.items()]
        return [*settings, ("run.seed", str(self.seed))]

    @property
    def row(self) -> dict[str, Scalar]:
        """The values that distinguish it from other points of the sweep."""
        return {**self.labels, **self.values, "seed": self.seed}


def points(experiment: ScenarioFile, seeds: list[int] | None = None, *, quick: bool = False) -> list[Point]:
    """The sweep's points; seeds vary fastest.

    Args:
        experiment: The experiment with the sweep.
        seeds: Seeds that replace the file's.
        quick: Whether to use what ``[quick]`` names, and three values of other long numeric variables.

    Raises:
        ScenarioError: variables that change together have different numbers of values, or there are too many points.

    """
    chosen = seeds or (experiment.quick.seeds if quick else experiment.seeds)
    if not experiment.has_runs:
        return []
    axes = experiment.axes
    if quick:
        chosen_of = experiment.quick.variant
        axes = {
            axis: [each for each in variants if each.label in chosen_of.get(axis, [each.label])]
            for axis, variants in axes.items()
        }
    found: list[Point] = []
    _refuse_many(experiment, math.prod(map(len, axes.values())))
    for cases in itertools.product(*axes.values()):
        variables = dict(experiment.sweep.variables)
        for case in cases:
            variables |= case.set_
        if quick:
            fixed = {path for case in cases for path, values in case.set_.items() if len(values) == 1}
            variables = {path: _thinned(values) for path, values in variables.items()}
            variables |= {path: values for path, values in experiment.quick.variables.items() if path not in fixed}
        labels = {case.axis: case.label for case in cases}
        steps = _steps(experiment, variables)
        _refuse_many(experiment, len(found) + math.prod(map(len, steps)) * len(chosen))
        for values in _combinations(steps, list(variables)):
            found += [Point(values, seed, labels) for seed in chosen]
    return found


def _refuse_many(experiment: ScenarioFile, count: int) -> None:
    """Refuses a sweep before its points take all of the memory."""
    if count > _MOST_POINTS:
        line = line_of(experiment.text, str(experiment.path), ("sweep",))
        message = f"it has {count:,} runs or more; {_MOST_POINTS:,} can be planned, so divide it into several"
        raise ScenarioError(str(experiment.path), line, "sweep", message)


def _steps(experiment: ScenarioFile, variables: dict[str, list[Scalar]]) -> list[list[dict[str, Scalar]]]:
    """The values of each variable, or of those that change together."""
    together = {name: tuple(names) for names in experiment.sweep.zip_ for name in names}
    steps: dict[tuple[str, ...], list[dict[str, Scalar]]] = {}
    for name in variables:
        names = together.get(name, (name,))
        if names in steps:
            continue
        if len({len(variables[each]) for each in names}) != 1:
            message = f"{', '.join(names)} change together and need the same number of values"
            raise ScenarioError(str(experiment.path), None, "sweep.zip", message)
        # A value may come again beside another one.
        values = distinct(zip(*(variables[each] for each in names), strict=True))
        steps[names] = [dict(zip(names, step, strict=True)) for step in values]
    return list(steps.values())


def _combinations(steps: list[list[dict[str, Scalar]]], names: list[str]) -> Iterable[dict[str, Scalar]]:
    """Every combination of the variables' values; the last variable varies fastest."""
    for parts in itertools.product(*steps):
        merged: dict[str, Scalar] = {}
        for part in parts:
            merged |= part
        yield {name: merged[name] for name in names}


def _thinned(values: list[Scalar]) -> list[Scalar]:
    if len(values) < _QUICK_VALUES or any(isinstance(value, str | bool) for value in values):
        return values
    return [values[0], values[len(values) // 2], values[-1]]
