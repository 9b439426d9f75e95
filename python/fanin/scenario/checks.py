"""Validation of an experiment: its scenario at every varied value, and every name that its figures use."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from fanin.errors import ScenarioError
from fanin.numbers import summary
from fanin.numbers.units import quantity
from fanin.scenario.departures import Departures
from fanin.scenario.file import ScenarioFile
from fanin.scenario.format import bounds
from fanin.scenario.format.bounds import Filter, measured
from fanin.scenario.format.claim import Case, Location
from fanin.scenario.format.open import Choice
from fanin.scenario.format.plot import GRIDS, Plot, is_of_table
from fanin.scenario.format.values import Scalar
from fanin.scenario.handle import line_of
from fanin.scenario.points import points
from fanin.scenario.settings import Settings, override

ASKED_FOR = {
    "bins": ("bin", "0s"),
    "link-bins": ("bin", "0s"),
    "queue-trace": ("queue-trace", "off"),
    "probes": ("probes", "off"),
    "switch-probes": ("probes", "off"),
    "host-probes": ("probes", "off"),
}
"""Result table -> the key of [measure] that enables it, and the value that disables it."""


_MOST_CHANGES = 10_000
"""Each takes milliseconds."""

_MOST_NAMED = 8
"""So many values are named."""

_EXAMPLES = {"B": "100KB", "s": "10ms", "bit/s": "1Gbps", "pkt": "10pkt"}
"""Unit of a column -> a value."""


@dataclass(frozen=True)
class Change:
    """Values set by a sweep or a variant with those beside them, and the place of the former in the file."""

    settings: Settings
    location: Location
    text: str = ""
    file: str = ""
    own: Settings | None = None
    """Those of the settings that it sets itself; all if left out."""


NO_CHANGE = Change([], ())


def changes(experiment: ScenarioFile) -> list[Change]:
    """Each value of each sweep variable, and each variant as a whole, beside the first values of all others.

    Values may depend on each other, so each is part of a point of the sweep.
    """
    has_sweep = experiment.document.sweep is not None
    origin = (experiment.text, str(experiment.path)) if has_sweep else experiment.origin
    given = experiment.given or frozenset()
    found = []
    for path, values in experiment.sweep.variables.items():
        place: Location = (path,) if path in given else ("sweep", path)
        source = ("", "--set") if path in given else origin
        for index, value in enumerate(values):
            own = [(path, override(value))]
            found.append(Change([*_first_values_beside(experiment, path, index).items(), *own], place, *source, own))
    for variant in experiment.variants:
        origin = experiment.variant_source(variant)
        beside = _first_values_beside(experiment, variant.axis)
        first = [(path, override(values[0])) for path, values in variant.set_.items()]
        found.append(Change([*beside.items(), *first], variant.location, *origin, first))
        for path, values in variant.set_.items():
            rest = [[*first, (path, override(value))] for value in values[1:]]
            place = (*variant.location, path)
            found += [Change([*beside.items(), *own], place, *origin, own) for own in rest]
    return found


def _first_values_beside(experiment: ScenarioFile, varied: str, index: int = 0) -> dict[str, str]:
    """The first values of all that varies besides one variable or axis.

    Args:
        experiment: The experiment.
        varied: The variable or the axis of variants.
        index: Place of the variable's value, which those that change together with it share.

    """
    together = next((names for names in experiment.sweep.zip_ if varied in names), [])
    found = {}
    for path, values in experiment.sweep.variables.items():
        at = index if path in together else 0
        # Too few of them are told of when the points are made.
        found[path] = override(values[min(at, len(values) - 1)])
    for variants in (each for axis, each in experiment.axes.items() if axis != varied):
        # A variant that sets the variable itself has no point with this value.
        chosen = next((each.set_ for each in variants if varied not in each.set_), {})
        found |= {path: override(values[0]) for path, values in chosen.items()}
    return found


def check(experiment: ScenarioFile, given: Settings) -> None:
    """Checks everything that can be checked before a run.

    Raises:
        ScenarioError: the message names file, line, key and the nearest valid name.

    """
    if experiment.needs_network:
        _check_scenario(experiment, given)
        found = changes(experiment)
        if len(found) > _MOST_CHANGES:
            message = f"{len(found):,} values of its variables and variants; at most {_MOST_CHANGES:,} are checked"
            raise ScenarioError(
                str(experiment.path), line_of(experiment.text, str(experiment.path), ("sweep",)), "sweep", message
            )
        _check_changes(experiment, given, found)
        for choice in experiment.open:
            _check_open(experiment, given, choice)
    _Names(experiment).check()
    _check_bases(experiment)


def _check_scenario(experiment: ScenarioFile, given: Settings) -> None:
    """Checks the scenario as it is without a sweep, which needs all keys that have no default."""
    try:
        experiment.check_settings(given)
    except ScenarioError as error:
        if error.key not in experiment.sweep.variables:
            raise
        message = f"{error.message}, also where a sweep varies it: `fanin run` takes the scenario alone"
        raise ScenarioError(error.file, error.line, error.key, message, error.suggestion) from None


def _check_bases(experiment: ScenarioFile) -> None:
    """Checks that no declared basis is stronger than what the cases set of the keys that the paper leaves open."""
    departures = Departures(experiment)
    declared: dict[Location, list[Case]] = {}
    for case in experiment.document.cases:
        if case.basis in ("printed", "environment"):
            declared.setdefault(case.location("basis"), []).append(case)
    for location, cases in declared.items():
        case = cases[0]
        # What is declared for a reading that several cases share holds for those that depart from nothing.
        if (found := departures.find(case)) and (location[0] != "claims" or all(map(departures.find, cases))):
            message = f"{case.id}: the paper leaves open, and neither it nor the environment has, {', '.join(found)}"
            key = ".".join(map(str, location))
            raise ScenarioError(
                str(experiment.path), line_of(experiment.text, str(experiment.path), location), key, message, "reading"
            )


def _check_open(experiment: ScenarioFile, given: Settings, choice: Choice) -> None:
    """Checks that an open parameter is a scenario value that the sweep does not vary, or an axis of variants."""
    location: Location = ("open", *choice.path.split("."))
    line = line_of(experiment.text, str(experiment.path), location)
    key = ".".join(map(str, location))
    if choice.path in experiment.labels:
        for value in choice.admissible:
            if value not in experiment.labels[choice.path]:
                known = experiment.labels[choice.path]
                close = next(iter(difflib.get_close_matches(str(value), known, n=1)), None)
                raise ScenarioError(str(experiment.path), line, key, f"{value} is no label of {choice.path}", close)
        return
    if choice.path in experiment.sweep.variables:
        message = "the sweep varies it, so one value for all runs cannot be searched"
        raise ScenarioError(str(experiment.path), line, key, message)
    for value in choice.admissible:
        try:
            experiment.check_settings([*given, (choice.path, override(value))])
        except ScenarioError as error:
            if error.file != "--set":
                raise
            raise ScenarioError(str(experiment.path), line, key, error.message, error.suggestion) from None


def _check_changes(experiment: ScenarioFile, given: Settings, found: list[Change]) -> None:
    """Checks every change with what is beside it; the error is at a change that is wrong by itself, if there is one."""
    failed = None
    for change in found:
        try:
            experiment.check_settings(given + change.settings)
        except ScenarioError:
            failed = failed or change
            _check_change(experiment, given, change, change.own)
    if failed is not None:
        _check_change(experiment, given, failed)


def _check_change(experiment: ScenarioFile, given: Settings, change: Change, own: Settings | None = None) -> None:
    try:
        experiment.check_settings(given + (change.settings if own is None else own))
    except ScenarioError as error:
        if error.file != "--set":
            raise
        # The path may be quoted or written as dotted keys; if it is not found, the table's line is used.
        *table, path = change.location if len(change.location) != 3 else (*change.location, error.key)
        spellings = ((*table, path), (*table, *str(path).split(".")))
        line = max(line_of(change.text, change.file, spelling) or 0 for spelling in spellings)
        key = ".".join(map(str, (*table, path)))
        raise ScenarioError(change.file, line or None, key, error.message, error.suggestion) from None


def columns(experiment: ScenarioFile) -> list[str]:
    """The columns of an experiment's table of runs."""
    return _Names(experiment).columns


class _Names:
    """The names that the figures and claims of an experiment may use."""

    def __init__(self, experiment: ScenarioFile) -> None:
        self._experiment = experiment
        self._swept = [*experiment.swept, "seed"]
        self._labels = experiment.labels
        declared = [each.id for each in experiment.columns]
        groups = experiment.groups if experiment.needs_network else []
        of_groups = [f"groups.{group}.{name}" for group in groups for name in summary.group_names()]
        self.columns = [*self._swept, *declared, *summary.names(), *of_groups]
        self._taken = {*self._swept, *summary.names(), *summary.measured(), *of_groups}
        self._declared = declared
        self._met: set[str] = set()
        """What some run has."""

    def check(self) -> None:
        document = self._experiment.document
        if document.benchmark is not None:
            return
        for index, column in enumerate(document.column):
            location: Location = ("column", index)
            if column.id in self._taken:
                self._fail((*location, "id"), f"the runs have a column {column.id} already; give it another name", None)
            later = self._declared[self._declared.index(column.id) :]
            for name in column.inputs:
                self._check((*location, "formula"), name, self.columns)
                if name in later:
                    which = (
                        "is this column itself" if name == column.id else "is computed later: put it before this one"
                    )
                    self._fail((*location, "formula"), f"{name} {which}", None)
                if self._has_texts(name):
                    self._fail((*location, "formula"), f"{name} has texts, of which no formula is a number", None)
            if column.of is not None:
                known = self._check_table((*location, "of"), column.of)
                self._check_rows((*location, "rows"), column.rows, known, column.table)
                if column.between is not None or column.take == "time-share":
                    self._check((*location, "time"), column.time, known)
                for key, other in (("weight", column.weight), ("by", column.by)):
                    if other is not None:
                        self._check((*location, key), other, known)
        for index, plot in enumerate(document.plot):
            self._check_plot(("plot", index), plot)
        for case in document.cases:
            self._check_case(case)

    def _has_texts(self, name: str) -> bool:
        """Whether all runs have a text in that column: a total that is one, labels of variants, or words as values."""
        if name not in self._swept:
            return summary.is_text(name)
        experiment = self._experiment
        sets = [experiment.sweep.variables, *(variant.set_ for variant in experiment.variants)]
        values = [*self._labels.get(name, []), *(value for each in sets for value in each.get(name, []))]
        # No value is known of a seed, which is a number.
        return bool(values) and all(quantity(value) is None for value in values)

    def _check_case(self, case: Case) -> None:
        known = self.columns
        if case.table is not None:
            known = self._check_table(case.location("y"), case.y)
            self._check_rows(case.location("rows"), case.rows, known, case.table)
        else:
            self._check(case.location("y"), case.y, known)
        self._check(case.location("x" if case.x else "y"), case.axis, known)
        # A curve is the mean over seeds.
        for key, name in (("x", case.axis), ("y", case.y)):
            if name == "seed":
                self._fail(
                    case.location(key), "a claim is about the mean over the seeds, so seed is none of its axes", None
                )
        if case.axis == case.y:
            self._fail(case.location("y"), f"{case.y} is the claim's x already", None)
        for key in ("where", "over", "minus"):
            self._check_rows(case.location(key), getattr(case, key) or {}, self.columns)
        for rival in case.rivals:
            self._check_rows(case.location("rivals"), rival, self.columns)
        self._check_kept(case)

    def _check_kept(self, case: Case) -> None:
        """Checks that a claim keeps some of the values on its axis."""
        found = [measured(row[case.axis]) for row in self._rows] if case.axis in self._swept[:-1] else []
        places = {each[0] for each in found if each is not None}
        kept = {each for each in places if case.at is None or each in case.at}
        if case.between is not None:
            kept = {each for each in kept if case.between[0] <= each <= case.between[1]}
        if places and not kept:
            key = "between" if case.at is None else "at"
            message = f"no run has such a {case.axis}; it is {', '.join(f'{each:g}' for each in sorted(places))}"
            self._fail(case.location(key), message, None)

    def _check_plot(self, location: Location, plot: Plot) -> None:
        if plot.is_diagram:
            return
        self._check_rows((*location, "where"), plot.where, self.columns)
        if plot.table is not None:
            known: list[str] = []
            for name in [plot.x or ""] if plot.kind == "cdf" else plot.y or []:
                known = self._check_table((*location, "x" if plot.kind == "cdf" else "y"), name)
            self._check_rows((*location, "rows"), plot.rows, known, plot.table)
            if plot.kind == "time" and plot.table not in GRIDS and plot.seed is None and plot.every is None:
                self._fail((*location, "seed"), f"one run of {plot.table} can be drawn, so name its seed", None)
            if plot.kind == "time" and plot.x is not None:
                self._check((*location, "x"), plot.x, known)
            for name in plot.by:
                self._check((*location, "by"), name, [*self._swept, *known])
            return
        if plot.kind == "time":
            self._complain((*location, "y"), f"{plot.drawn} is no table.column", plot.drawn, [])
        for key, names in (("x", [plot.x or ""]), ("y", plot.y or []), ("spread", plot.spread or ())):
            for name in names:
                self._check((*location, key), name, self.columns)
        for name in plot.by:
            if name not in self._swept:
                self._complain((*location, "by"), f"{name} is not swept", name, self._swept)

    def _check_rows(self, location: Location, rows: Filter, known: list[str], table: str | None = None) -> None:
        """Checks which rows of a result table count, or which runs, so that there is one."""
        for name, values in rows.items():
            place = (*location, name)
            self._check(place, name, known)
            for value in values if name in self._labels else ():
                if value not in self._labels[name]:
                    self._complain(place, f"{value} is no label of {name}", str(value), self._labels[name])
            if name == "group" and (wrong := [each for each in values if each not in self._experiment.groups]):
                self._complain(place, f"no traffic is named {wrong[0]}", str(wrong[0]), self._experiment.groups)
            if table is None and name in self._swept:
                self._check_values(place, self._unit_of(name), values)
                self._check_points(place, {name: values})
            else:
                self._check_values(place, summary.unit_of(table, name) if table else summary.column(name).unit, values)
        if table is None:
            self._check_points(location, rows)

    def _unit_of(self, name: str) -> str:
        """The unit of what varies; empty if it has none, or not all values have one."""
        found = [measured(row[name]) for row in self._rows if name in row]
        units = {"" if each is None else each[1] for each in found}
        return units.pop() if len(units) == 1 else ""

    def _check_values(self, place: Location, unit: str, values: list[Scalar]) -> None:
        """Checks that a column in a unit can have these values."""
        for value in values:
            if bounds.is_void(value):
                self._fail(place, f"no number is {value}", None)
            if not unit or not isinstance(value, str):
                continue
            found = [measured(text) for _, text in bounds.parts(value)] or [measured(value)]
            if not all(each is not None and each[1] in ("", "1", unit) for each in found):
                some = _EXAMPLES.get(unit, "10")
                self._fail(place, f'{value!r} is no number in {unit}: write {some}, or "<{some}"', None)

    def _check_points(self, place: Location, where: Filter) -> None:
        """Checks that a run has these values of what varies."""
        where = {name: values for name, values in where.items() if name in self._swept and name != "seed"}
        # Cases of a file share most of their runs.
        if not where or repr(where) in self._met or any(bounds.matches(row, where) for row in self._rows):
            self._met.add(repr(where))
            return
        if len(where) > 1:
            self._fail(place, "no run has all of these values", None)
        ((name, values),) = where.items()
        known = list(dict.fromkeys(str(row[name]) for row in self._rows))
        said = " or ".join(map(str, values[:_MOST_NAMED]))
        has = f"{', '.join(known[:_MOST_NAMED])}{' ...' if len(known) > _MOST_NAMED else ''}"
        self._complain(place, f"no run has {said}; {name} is {has}", str(values[0]), known)

    @cached_property
    def _rows(self) -> list[dict[str, Scalar]]:
        """What varies, for each point of the sweep."""
        return [point.row for point in points(self._experiment, self._experiment.seeds[:1])]

    def _check_table(self, location: Location, name: str) -> list[str]:
        """The columns of the result table in a name such as ``flows.fct_s``."""
        table, _, column = name.partition(".")
        if not is_of_table(name):
            self._complain(location, f"there is no result table {table}", table, summary.table_names())
        experiment = self._experiment
        if table in ASKED_FOR:
            key, off = ASKED_FOR[table]
            if f"measure.{key}" not in experiment.swept and experiment.resolved()["measure"][key] == off:
                self._fail(location, f"no run records {table}: it needs measure.{key}", None)
        known = summary.columns_of(table)
        if column not in known:
            close = difflib.get_close_matches(column, known, n=1)
            self._fail(location, f"table {table} has no column {column}", f"{table}.{close[0]}" if close else None)
        return known

    def _check(self, location: Location, name: str, known: Iterable[str]) -> None:
        if name not in known:
            self._complain(location, f"{name} is neither a column nor swept", name, known)

    def _complain(self, location: Location, message: str, name: str, known: Iterable[str]) -> NoReturn:
        self._fail(location, message, next(iter(difflib.get_close_matches(name, list(known), n=1)), None))

    def _fail(self, location: Location, message: str, close: str | None) -> NoReturn:
        experiment = self._experiment
        key = ".".join(map(str, location))
        raise ScenarioError(
            str(experiment.path), line_of(experiment.text, str(experiment.path), location), key, message, close
        )
