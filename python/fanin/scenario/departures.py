"""The values that a case sets of what its paper leaves open, and that neither the paper nor the environment has."""

from __future__ import annotations

from functools import cached_property

from fanin._engine import Scenario
from fanin.numbers.units import quantity
from fanin.scenario.engine_rows import ValueRow
from fanin.scenario.file import ScenarioFile
from fanin.scenario.format.base import Where
from fanin.scenario.format.claim import Case
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point, points
from fanin.scenario.settings import override


def as_judged(experiment: ScenarioFile) -> list[Case]:
    """The cases of an experiment, each with its reading in words and its basis.

    A case that departs from the paper and its environment rests on a reading, whatever is declared for the reading
    that it shares with others, and the reading names the departures. So is a case under overrides, which are named.
    """
    departures = Departures(experiment)
    changes = [experiment.changes] if experiment.changes else []
    return [
        _under(case, changes if case.basis == "sensitivity" else [*departures.find(case), *changes])
        for case in experiment.document.cases
    ]


def _under(case: Case, departures: list[str]) -> Case:
    if not departures:
        return case
    reading = "; ".join(filter(None, [case.reading, ", ".join(departures)]))
    basis = "sensitivity" if case.basis == "sensitivity" else "reading"
    return case.model_copy(update={"reading": reading, "basis": basis})


class Departures:
    """The departures of an experiment's cases. A departure is a key (or an axis of variants) and its value in words.

    A key departs in a case if ``[open]`` declares it, the file or a variant of the case sets it, the value is not the
    one that the environment (or, where it has none, the scheme) has by default, and ``[open]`` quotes no text that
    prints it.
    """

    def __init__(self, experiment: ScenarioFile) -> None:
        self._experiment = experiment
        self._cases = experiment.document.cases
        self._found: dict[str, dict[str, None]] = {}
        """The departures of cases by their ids: a sentence of many cases asks for each of them as often."""
        self._known: dict[tuple[tuple[str, str], ...], list[str]] = {}

    def find(self, case: Case) -> list[str]:
        """Each departure of a case as ``key = value``; those of the other half of its sentence included."""
        experiment = self._experiment
        if not experiment.open or not experiment.needs_network or experiment.document.benchmark is not None:
            return []
        sentence = case.half_of or case.claim
        parts = [
            each
            for each in self._cases
            if each.id == case.id or ((each.half_of or each.claim) == sentence and each.reading == case.reading)
        ]
        found: dict[str, None] = {}
        for part in parts:
            found |= self._of_part(part)
        return list(found)

    def _of_part(self, case: Case) -> dict[str, None]:
        """The departures at the points whose runs a case looks at."""
        if case.id not in self._found:
            selections = [each for each in (case.where, case.over, case.minus, *case.rivals) if each is not None]
            used = sorted(set.union(*map(self._matching, selections)))
            points = (self._points[index] for index in used)
            self._found[case.id] = {
                name: None for point in points for name in (*self._labels(point), *self._keys(point))
            }
        return self._found[case.id]

    def _matching(self, where: Where) -> set[int]:
        """The points that can be among these runs; columns that are known only after a run say nothing."""
        found = set(range(len(self._points)))
        for name, values in where.items():
            with_value = self._places.get(name, {})
            others = with_value.keys() - set(map(_text, values))
            found.difference_update(*(with_value[other] for other in others))
        return found

    @cached_property
    def _points(self) -> list[Point]:
        """The points, with one seed."""
        return points(self._experiment, self._experiment.seeds[:1])

    @cached_property
    def _places(self) -> dict[str, dict[str, list[int]]]:
        """Column -> value -> the points that have it."""
        places: dict[str, dict[str, list[int]]] = {}
        for index, point in enumerate(self._points):
            for name, value in point.row.items():
                places.setdefault(name, {}).setdefault(_text(value), []).append(index)
        return places

    def _labels(self, point: Point) -> list[str]:
        """The labels of axes that the paper leaves open."""
        return [
            f"{choice.path} = {point.labels[choice.path]}"
            for choice in self._experiment.open
            if choice.path in point.labels and point.labels[choice.path] not in choice.printed
        ]

    def _keys(self, point: Point) -> list[str]:
        experiment = self._experiment
        paths = [choice.path for choice in experiment.open]
        varied = experiment.sweep.variables.keys() - set(paths)
        given = [(path, override(value)) for path, value in point.values.items() if path not in varied]
        name = tuple(given)
        if name not in self._known:
            scenario = experiment.handle(given)
            rows = _by_path(scenario)
            self._known[name] = [
                f"{choice.path} = {rows[choice.path]['value']}"
                for choice in experiment.open
                if choice.path in rows
                and not rows[choice.path]["is_default"]
                and not any(_is_same(rows[choice.path], override(value)) for value in choice.printed)
                and rows[choice.path]["value"] != scenario.default(choice.path)
            ]
        return self._known[name]


def _by_path(scenario: Scenario) -> dict[str, ValueRow]:
    """The values of a scenario by their paths, without those in which its schemes differ."""
    return {row["path"]: row for row in scenario.resolved() if row["scheme"] is None}


def _text(value: Scalar) -> str:
    return override(float(value)) if isinstance(value, int) and not isinstance(value, bool) else override(value)


def _is_same(row: ValueRow, other: str) -> bool:
    """Whether a value of a key is another one, in whichever units they are written."""
    known = row["unit"] is not None and (row["number"], row["unit"]) == quantity(other)
    return known or row["value"] == other
