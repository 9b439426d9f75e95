"""The best values of a scenario's parameters for one goal or several, by Optuna's tree-structured Parzen estimator.

A study is one SQLite file, so that it continues where it was interrupted. Trials are told in batches of a fixed size,
and the sampler is seeded by how many there are: an interrupted study goes the way of an undisturbed one, on any number
of cores. What came out best had luck too, so that it runs again, beside the default, on seeds that no trial has seen.
"""

from __future__ import annotations

import importlib
import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fanin import _engine, catalogue
from fanin.comparison import Estimate, interval, paired
from fanin.dataset import Row
from fanin.errors import NotFoundError, PlaceError, RunError
from fanin.experiment import Experiment
from fanin.failures import BrokenOff, Failure
from fanin.format.values import COUNTED, Range, Scalar, parse_range, parse_values
from fanin.goals import Goal, Keep
from fanin.laboratory import Laboratory
from fanin.store import writing
from fanin.sweep import Point

BATCH = 4
"""Trials that run side by side, whatever the cores."""

_WIDE = 8
"""A range of which the last is so many times the first is searched by ratios."""

_FAR = 1e9
"""A bound that is broken beyond measure."""

STUDY = "study.db"

Values = dict[str, Scalar]


@dataclass(frozen=True)
class Param:
    """A parameter to tune: a range, or a list of values."""

    path: str
    span: Range | None
    choices: tuple[Scalar, ...] = ()
    whole: bool = False

    def distribution(self, optuna: ModuleType) -> object:
        """What Optuna draws from: numbers, or the places of a list's values."""
        if self.span is None:
            return optuna.distributions.IntDistribution(0, len(self.choices) - 1)
        first, last = self.span.first, self.span.last
        log = first > 0 and last >= _WIDE * first
        if self.whole:
            return optuna.distributions.IntDistribution(int(first), int(last), log=log)
        return optuna.distributions.FloatDistribution(float(first), float(last), log=log)

    def value(self, drawn: float) -> Scalar:
        """A drawn number as the scenario file would write it, to three digits."""
        if self.span is None:
            return self.choices[int(drawn)]
        if self.whole:
            return self.span.shown(int(drawn))
        rounded = float(f"{drawn:.3g}")
        return self.span.shown(min(max(rounded, float(self.span.first)), float(self.span.last)))

    def drawn(self, value: str) -> float | None:
        """The number that a value of the scenario would be; ``None`` if it is none of the range or list."""
        if self.span is None:
            shown = [str(each) for each in self.choices]
            return shown.index(value) if value in shown else None
        point = parse_range(f"{value}..{value}")
        if point is None or point.unit != self.span.unit or not self.span.first <= point.first <= self.span.last:
            return None
        return int(point.first) if self.whole else float(point.first)

    @property
    def every(self) -> list[float] | None:
        """All numbers that may be drawn, if they can be counted."""
        if self.span is None:
            return [float(place) for place in range(len(self.choices))]
        return [float(each) for each in range(int(self.span.first), int(self.span.last) + 1)] if self.whole else None


def param(text: str, experiment: Experiment) -> Param:
    """The parameter that a text such as ``scheme.dctcp.mark-threshold=5pkt..80pkt`` means.

    Raises:
        ValueError: it means none.
        ScenarioError: the scenario has no such value; the nearest is named.

    """
    path, equals, values = text.partition("=")
    path = path.strip()
    if not equals or not path or not values.strip():
        raise ValueError(f"{text!r} is not PATH=FIRST..LAST, such as scheme.dctcp.g=1/64..1/4")
    span = parse_range(values)
    if span is None or span.step is not None:
        choices = parse_values(values)
        if len(choices) < 2:
            raise ValueError(f"{path} has one value only; --set sets it")
        found = Param(path, None, tuple(choices))
    elif span.first >= span.last:
        raise ValueError(f"{path}: {span} is an empty range: it goes upwards")
    else:
        counted = span.unit in COUNTED or (not span.unit and _is_whole(path, experiment))
        found = Param(path, span, whole=span.is_whole and counted)
    for value in (span.shown(span.first), span.shown(span.last)) if found.span and span else found.choices:
        experiment.check_settings([(path, str(value))])
    return found


def _is_whole(path: str, experiment: Experiment) -> bool:
    section, _, rest = path.partition(".")
    name, _, key = rest.partition(".")
    kinds = {group["name"]: group["kind"] for group in experiment.resolved()["traffic"]}
    known = f"traffic.{kinds[name]}.{key}" if section == "traffic" and name in kinds else path
    try:
        return str(catalogue.explain(known).get("takes")) == "whole number"
    except NotFoundError:
        return False


def unused(params: Sequence[Param], experiment: Experiment) -> str | None:
    """The scheme whose parameters are to be tuned, if nothing in the scenario uses it."""
    resolved = experiment.resolved()
    used = {resolved["transport"]["scheme"], *(group["scheme"] for group in resolved["traffic"])}
    tuned = [each.path.split(".")[1] for each in params if each.path.startswith("scheme.")]
    return next((scheme for scheme in tuned if scheme not in used), None)


@dataclass(frozen=True)
class Trial:
    """Values that were tried, and what came of them with the seeds of the search."""

    values: Values
    goals: list[float]
    """Mean of each goal."""
    kept: bool
    """Whether the means keep all bounds."""


@dataclass(frozen=True)
class Checked:
    """The default, or values that the search found best, with fresh seeds."""

    values: Values | None
    """``None`` is the scenario as it is."""
    goals: list[tuple[float, float]]
    """Mean of each goal, and half of its 95 % interval."""
    differences: list[Estimate | None]
    """How each goal differs from the default's, seed by seed."""
    keeps: list[tuple[float, float]]
    """The measure of each bound."""
    broken: list[str]
    """The bounds that the means do not keep."""

    def verdict(self, place: int, goal: Goal) -> str:
        """What the difference of a goal to the default's comes to."""
        found = self.differences[place]
        if found is None or math.isnan(found.difference_half):
            return "not comparable"
        if not found.differs:
            return "no significant difference"
        return "better" if (found.difference > 0) == goal.more else "worse"


@dataclass(frozen=True)
class Tuned:
    """What a search came to."""

    trials: list[Trial]
    failed: list[str]
    """Errors of trials that failed."""
    default: Checked
    best: list[Checked]
    """The best for one goal, those of the Pareto front for several; none if no trial keeps the bounds."""


def front(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[Trial]:
    """Of the trials that keep the bounds those that no other beats: the best for one goal, else the Pareto front."""
    signs = np.array([-1.0 if goal.more else 1.0 for goal in goals])
    kept = {tuple(each.goals): each for each in reversed(trials) if each.kept and np.isfinite(each.goals).all()}
    costs = {key: signs * np.array(key) for key in kept}

    def beaten(key: tuple[float, ...]) -> bool:
        own = costs[key]
        return any((other <= own).all() and (other < own).any() for other in costs.values())

    return sorted((kept[key] for key in kept if not beaten(key)), key=lambda each: each.goals)


class Study:
    """One search, in its own SQLite file."""

    def __init__(
        self,
        laboratory: Laboratory,
        params: Sequence[Param],
        goals: Sequence[Goal],
        keeps: Sequence[Keep],
        seeds: Sequence[int],
        folder: Path,
    ) -> None:
        """Opens the study, or begins it.

        Raises:
            NotFoundError: Optuna is not installed.
            ResultsError: the folder cannot be written.

        """
        try:
            # An extra, and slow to import.
            self._optuna: Any = importlib.import_module("optuna")
        except ImportError:
            raise NotFoundError("tuning needs Optuna: pip install 'fanin[tune]'") from None
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        self._laboratory, self._params = laboratory, params
        self._goals, self._keeps, self._seeds = goals, keeps, list(seeds)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / STUDY
        with self._quiet():
            self._study = self._optuna.create_study(
                storage=self._optuna.storages.RDBStorage(f"sqlite:///{self._path}"),
                # The trials of one engine tell nothing of another.
                study_name=f"engine {_engine.version()}",
                directions=["maximize" if goal.more else "minimize" for goal in goals],
                load_if_exists=True,
            )
        self._base: list[Row] = []

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Optuna warns of what is new in it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            yield

    def run(self, trials: int) -> list[Trial]:
        """Goes on until there are so many trials, or none that are new.

        Raises:
            RunError: the scenario fails as it is.

        """
        self._base = self._default_rows(self._seeds)
        for goal in self._goals:
            if math.isnan(float(goal.values(self._base, self._base).mean())):
                raise RunError(f"the scenario as it is has no {goal.name}: choose another --goal")
        with self._quiet():
            trials = self._begin(trials)
            while (done := len(self._finished())) < trials:
                self._study.sampler = self._optuna.samplers.TPESampler(seed=done, n_startup_trials=2 * BATCH)
                self._batch(min(BATCH - done % BATCH, trials - done))
        return self.trials()

    def _default_rows(self, seeds: Sequence[int]) -> list[Row]:
        rows = self._laboratory.rows([Point({}, seed) for seed in seeds])
        for row in rows:
            if isinstance(row, Failure):
                raise RunError(f"the scenario as it is, seed {row.seed}: {row.error}")
        return [row for row in rows if not isinstance(row, Failure)]

    def _begin(self, trials: int) -> int:
        """Cleans up after a killed search, or puts the first trials in line; returns how many there can be."""
        state = self._optuna.trial.TrialState
        killed = self._study.get_trials(states=(state.RUNNING,))
        for trial in killed:
            self._study.tell(trial.number, state=state.FAIL)
        counts = [each.every for each in self._params]
        size = math.prod(len(each) if each is not None else 10**9 for each in counts)
        if "in line" not in self._study.user_attrs:
            line: list[dict[str, float]] = []
            if size <= trials:
                # A few values: all of them, and nothing is left to chance.
                line = [self._drawn(drawn) for drawn in itertools.product(*(each or [] for each in counts))]
            elif (first := self._default_drawn()) is not None:
                line = [first]
            # A search that was killed in here has put the first ones in line already.
            for drawn in line[len(self._study.get_trials(deepcopy=False)) :]:
                self._study.enqueue_trial(drawn)
            self._study.set_user_attr("in line", True)
        # What was under way is tried again, the same values in the same order.
        for trial in killed:
            self._study.enqueue_trial(trial.system_attrs.get("fixed_params", trial.params))
        return min(trials, size)

    def _drawn(self, numbers: Sequence[float]) -> dict[str, float]:
        whole = [each.whole or each.span is None for each in self._params]
        pairs = zip(self._params, numbers, whole, strict=True)
        return {each.path: int(number) if is_whole else number for each, number, is_whole in pairs}

    def _default_drawn(self) -> dict[str, float] | None:
        """The scenario's own values, if they are in the ranges."""
        numbers = [each.drawn(value) for each, value in zip(self._params, self.defaults().values(), strict=True)]
        known = [number for number in numbers if number is not None]
        return self._drawn(known) if len(known) == len(numbers) else None

    def defaults(self) -> dict[str, str]:
        """The values that the parameters have in the scenario as it is."""
        table = {row["path"]: str(row["value"]) for row in self._laboratory.experiment.resolved_table()}
        return {each.path: table.get(each.path, "") for each in self._params}

    def _finished(self) -> list[Any]:
        """Trials that are complete or failed by themselves, not because the search was killed."""
        state = self._optuna.trial.TrialState
        every = self._study.get_trials(deepcopy=False, states=(state.COMPLETE, state.FAIL))
        return [each for each in every if each.state == state.COMPLETE or "error" in each.user_attrs]

    def _batch(self, count: int) -> None:
        """Some trials side by side."""
        distributions = {each.path: each.distribution(self._optuna) for each in self._params}
        asked = [self._study.ask(distributions) for _ in range(count)]
        points = [Point(self._values(trial.params), seed) for trial in asked for seed in self._seeds]
        found = self._laboratory.rows(points)
        if broken_off := [row for row in found if isinstance(row, BrokenOff)]:
            # Nothing is told of these trials, so that the same command tries them again.
            raise PlaceError(broken_off[0].error)
        rows = iter(found)
        for trial in asked:
            mine = [next(rows) for _ in self._seeds]
            errors = [f"seed {row.seed}: {row.error}" for row in mine if isinstance(row, Failure)]
            if errors:
                trial.set_user_attr("error", errors[0])
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            finished = [row for row in mine if not isinstance(row, Failure)]
            values = [float(goal.values(finished, self._base).mean()) for goal in self._goals]
            if any(map(math.isnan, values)):
                trial.set_user_attr("error", "a goal has no value")
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            for keep, by in zip(self._keeps, self._violations(finished), strict=True):
                trial.set_constraint(keep.text, by)
            self._study.tell(trial, values)

    def _violations(self, rows: list[Row]) -> list[float]:
        """How far each bound is broken, as a share of it; below zero if it is kept."""
        found = []
        for keep, reference in zip(self._keeps, self.references(self._base), strict=True):
            margin = float(keep.margins(rows, reference).mean())
            scale = abs(keep.limit(reference)) or 1.0
            found.append(min(-margin / scale, _FAR))
        return found

    def references(self, base: list[Row]) -> list[float]:
        """What shares in the bounds are of: the default's means."""
        return [float(keep.measure.values(base).mean()) for keep in self._keeps]

    def _values(self, drawn: dict[str, float]) -> Values:
        return {each.path: each.value(drawn[each.path]) for each in self._params}

    def trials(self) -> list[Trial]:
        """What was tried."""
        return [
            Trial(self._values(each.params), list(each.values), all(by <= 0 for by in each.constraints.values()))
            for each in self._finished()
            if "error" not in each.user_attrs
        ]

    def errors(self) -> list[str]:
        """What trials failed of."""
        return [str(each.user_attrs["error"]) for each in self._finished() if "error" in each.user_attrs]

    def check(self, chosen: Sequence[Trial], seeds: Sequence[int]) -> tuple[Checked, list[Checked]]:
        """The default and these trials with other seeds than those of the search.

        Raises:
            RunError: a run fails.

        """
        base = self._default_rows(seeds)
        rows = iter(self._laboratory.rows([Point(each.values, seed) for each in chosen for seed in seeds]))
        found = []
        for each in chosen:
            mine = [next(rows) for _ in seeds]
            for row in mine:
                if isinstance(row, Failure):
                    raise RunError(f"the values found, seed {row.seed}: {row.error}")
            found.append(self._checked(each.values, [row for row in mine if not isinstance(row, Failure)], base))
        return self._checked(None, base, base), found

    def _checked(self, values: Values | None, rows: list[Row], base: list[Row]) -> Checked:
        goals = [goal.values(rows, base) for goal in self._goals]
        others = [goal.values(base, base) for goal in self._goals]
        references = self.references(base)
        broken = [
            keep.shown(reference)
            for keep, reference in zip(self._keeps, references, strict=True)
            if keep.margins(rows, reference).mean() < 0
        ]
        return Checked(
            values,
            [interval(each) for each in goals],
            [paired(own, other) for own, other in zip(goals, others, strict=True)],
            [interval(keep.measure.values(rows)) for keep in self._keeps],
            broken,
        )


def snippet(values: Values) -> str:
    """The values as a scenario file has them; those of groups, which go by their names, as options."""
    sections: dict[str, list[str]] = {}
    options = []
    for path, value in values.items():
        section, _, key = path.rpartition(".")
        if section.split(".")[0] in ("traffic", "fault"):
            options.append(f"# --set {path}={value}")
            continue
        plain = value if not isinstance(value, bool) else str(value).lower()
        sections.setdefault(section, []).append(f"{key} = " + (f'"{value}"' if isinstance(value, str) else str(plain)))
    parts = ["\n".join((f"[{section}]", *lines)) for section, lines in sections.items()]
    return "\n\n".join([*parts, *options]) + "\n"


def tune(
    laboratory: Laboratory,
    params: Sequence[Param],
    goals: Sequence[Goal],
    keeps: Sequence[Keep],
    folder: Path,
    *,
    trials: int = 40,
    seeds: Sequence[int] = (1, 2, 3),
    fresh: int = 10,
) -> tuple[Tuned, dict[str, str]]:
    """Searches the best values, and checks them with seeds that the search has not seen.

    Args:
        laboratory: Where runs are made; its scenario is the default that values are compared with.
        params: What to vary.
        goals: What for; several make a Pareto front.
        keeps: What has to hold.
        folder: Where the study is kept.
        trials: Trials of the whole study; what it has already counts.
        seeds: Of every trial.
        fresh: Number of seeds of the check.

    Returns:
        What came of it, and the values that the scenario has as it is.

    Raises:
        NotFoundError: Optuna is not installed.
        RunError: the default, or the best, fails.
        ResultsError: results cannot be written.

    """
    study = Study(laboratory, params, goals, keeps, seeds, folder)
    tried = study.run(trials)
    best = _some(front(tried, goals))
    first = max(seeds) + 1
    default, checked = study.check(best, range(first, first + fresh))
    return Tuned(tried, study.errors(), default, checked), study.defaults()


def _some(trials: list[Trial], most: int = 8) -> list[Trial]:
    """At most so many, evenly over the front."""
    places = np.linspace(0, len(trials) - 1, min(len(trials), most)).round().astype(int)
    return [trials[place] for place in places]
