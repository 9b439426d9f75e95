"""Points of experiments as plain scenarios: one text that the engine reads without variants, sweeps and other files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fanin.errors import FaninError
from fanin.later import np, pl
from fanin.results.columns import filtered
from fanin.scenario.file import ScenarioFile
from fanin.scenario.format.bounds import Filter
from fanin.scenario.format.claim import Case
from fanin.scenario.format.values import Scalar
from fanin.scenario.handle import tables_of
from fanin.scenario.points import Point, points
from fanin.scenario.sections import OWNED

_GROUPS = ("traffic", "fault")
"""Arrays of tables, whose members are addressed by their names."""

_SCHEME = "transport.scheme"

MOST_HOPS = 20_000_000
"""A browser simulates so many packet-hops in some seconds; a larger run is none to play with."""


@dataclass(frozen=True)
class Plain:
    """A scenario in one text, and the schemes that the page shows on it side by side."""

    toml: str
    compare: list[str]


class Scenarios:
    """The plain scenarios of an experiment's runs."""

    def __init__(self, experiment: ScenarioFile, runs: pl.DataFrame) -> None:
        self._experiment = experiment
        small = np.asarray(runs["packet_hops"]) <= MOST_HOPS if "packet_hops" in runs.columns else None
        self._runs = runs if small is None else runs[np.flatnonzero(small)]
        """Those that a page can simulate."""
        base = _simulated(*experiment.origin)
        self._base = base
        self._names_files = any("file" in group for group in base.get("traffic", []))
        seeds = set(runs["seed"])
        used = [seed for seed in experiment.seeds if seed in seeds]
        self._points = {_key(point.row): point for point in points(experiment, used)}

    def of(self, case: Case) -> Plain | None:
        """The run in the middle of those on which a case is judged, with the systems that it is compared with.

        None if there is no such run, if it reads other files, or if it is too large for a page.
        """
        if self._names_files:
            return None
        point = self._middle(case, case.where)
        if point is None:
            return None
        compared = [where for where in (case.over, case.minus, *case.rivals) if where is not None]
        others = [self._middle(case, where) for where in compared]
        return self._together(point, [other for other in others if other is not None])

    def _middle(self, case: Case, where: Filter) -> Point | None:
        """Of the runs of a case that a page can simulate, one with the smallest seed and the middle x."""
        known = {name: values for name, values in where.items() if name in self._runs.columns}
        found = filtered(self._runs, known)
        if case.x in found.columns and found.schema[case.x].is_numeric():
            if case.between is not None:
                found = found.filter(pl.col(case.x).is_between(*case.between))
            if case.at is not None:
                found = found.filter(pl.col(case.x).cast(pl.Float64).is_in([float(each) for each in case.at]))
            found = found.sort(case.x, maintain_order=True)
        if found.is_empty():
            return None
        found = found.filter(pl.col("seed") == found["seed"].min())
        return self._points.get(_key(self._row(found.row(len(found) // 2, named=True))))

    def _row(self, run: dict[str, Any]) -> dict[str, Any]:
        """What distinguishes a run from the others of its sweep."""
        names = next(iter(self._points.values())).row.keys() if self._points else ()
        own = {*names, *self._experiment.swept, "seed"}
        return {name: value for name, value in run.items() if name in own and value is not None}

    def _together(self, first: Point, others: Iterable[Point]) -> Plain:
        """The first point's scenario, with the schemes of those others that differ in nothing but their scheme."""
        values = _settings(self._experiment, first)
        compare = [self._scheme(values)]
        shared = _without_schemes(values)
        for other in others:
            more = _settings(self._experiment, other)
            own = {path: value for path, value in more.items() if path.startswith("scheme.")}
            clash = any(values.get(path, value) != value for path, value in own.items())
            if _without_schemes(more) == shared and not clash and self._scheme(more) not in compare:
                compare.append(self._scheme(more))
                values |= own
        return Plain(written(applied(self._base, values)), compare)

    def _scheme(self, values: dict[str, Scalar]) -> str:
        own = self._base.get("transport", {}).get("scheme", "newreno")
        return str(values.get(_SCHEME, own))


def _settings(experiment: ScenarioFile, point: Point) -> dict[str, Scalar]:
    return {**dict(experiment.overrides), **point.values, "run.seed": point.seed}


def _without_schemes(values: dict[str, Scalar]) -> dict[str, Scalar]:
    return {path: value for path, value in values.items() if path != _SCHEME and not path.startswith("scheme.")}


def _key(row: dict[str, Any]) -> str:
    """The same for values that were stored as text or as other numbers."""
    return json.dumps(sorted((name, _plain(value)) for name, value in row.items()))


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{float(value):.12g}" if isinstance(value, int | float) else str(value)


def of_text(text: str) -> str:
    """A scenario file without what only Python reads, as :func:`written` writes it."""
    return written(_simulated(text, ""))


def _simulated(text: str, file: str) -> dict[str, Any]:
    """The tables of a scenario file that the engine reads."""
    return {name: table for name, table in tables_of(text, file).items() if name not in OWNED}


def applied(base: dict[str, Any], values: dict[str, Scalar]) -> dict[str, Any]:
    """A scenario with values of a sweep or a variant."""
    scenario: dict[str, Any] = json.loads(json.dumps(base))
    for path, value in values.items():
        parts = path.split(".")
        table = scenario
        if parts[0] in _GROUPS:
            group, parts = parts[1], parts[2:]
            members: list[dict[str, Any]] = scenario.setdefault(path.partition(".")[0], [])
            named = [each for each in members if each.get("name", each.get("kind")) == group]
            if not named:
                raise FaninError(f"{path}: no such group")
            table = named[0]
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        table[parts[-1]] = value
    return scenario


def written(scenario: dict[str, Any]) -> str:
    """A scenario as TOML."""
    lines: list[str] = []
    _write_table(lines, "", scenario)
    return "\n".join(lines).strip() + "\n"


def _write_table(lines: list[str], path: str, table: dict[str, Any]) -> None:
    lines += [f"{_name(key)} = {_value(value)}" for key, value in table.items() if not _has_header(value)]
    for key, value in table.items():
        if not _has_header(value):
            continue
        name = f"{path}.{_name(key)}" if path else _name(key)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(value, list) or any(not isinstance(inner, dict) for inner in each.values()):
                lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            _write_table(lines, name, each)


def _has_header(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _name(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() else json.dumps(key)


def _value(value: object) -> str:
    # TOML's strings, numbers, truth values and arrays of these are JSON's.
    return json.dumps(value, ensure_ascii=False)
