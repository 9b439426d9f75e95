"""Judges the sentences of several experiments under one setting after another."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fanin.choose.fit.space import Space, Values
from fanin.claims.judge import join_halves, judge
from fanin.claims.verdicts import Outcome
from fanin.errors import ScenarioError
from fanin.numbers.stats import finite
from fanin.numbers.units import quantity
from fanin.results import columns, curves
from fanin.results.failures import Failure
from fanin.run.job import Job
from fanin.run.laboratory import Batches
from fanin.run.scenario import Scenario
from fanin.run.sweep import Runs
from fanin.scenario.format.bounds import matches
from fanin.scenario.format.claim import Case
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point, points

ROWS = ("where", "over", "minus")
"""Keys of a case that select runs, besides the rivals."""


@dataclass(frozen=True)
class Found:
    """A sentence under a setting."""

    outcome: Outcome
    distance: float
    """How far the number is outside the accepted range, from 0 (inside) to 1."""
    value: float | None
    shown: str
    """The number as text."""
    accept: str
    """The accepted range."""
    published: str

    @property
    def holds(self) -> bool:
        """Whether the number is inside the accepted range."""
        return self.outcome == "reproduced"


@dataclass(frozen=True)
class Tried:
    """The results under a setting."""

    values: Values
    """The setting; empty for the files' own values."""
    found: dict[str, Found]
    """Sentence -> its result; sentences whose runs failed are left out."""
    errors: list[str] = field(default_factory=list)

    @property
    def holding(self) -> frozenset[str]:
        """The sentences that hold."""
        return frozenset(name for name, found in self.found.items() if found.holds)

    def score(self, sentences: Sequence[str]) -> float:
        """The number of sentences that hold, plus a fraction for how close the others are on average."""
        away = [self.found[name].distance if name in self.found else 1.0 for name in sentences]
        others = [distance for name, distance in zip(sentences, away, strict=True) if name not in self.holding]
        return len(self.holding) + (1.0 - sum(others) / len(others) if others else 1.0) / 2


class Bench:
    """Runs and judges settings of several experiments."""

    def __init__(self, experiments: Sequence[Scenario], space: Space, batches: Batches) -> None:
        """Prepares the sentences; nothing is run yet.

        Args:
            experiments: The experiments whose sentences are judged, each by its main case.
            space: The open parameters.
            batches: Runs the simulations.

        Raises:
            ScenarioError: a case compares labels of an open axis, or a variant that it reads sets an open
                parameter.

        """
        self._space = space
        self._batches = batches
        names = {each.name for each in experiments}
        self._cases = {each.name: _counted(each, names) for each in experiments}
        self._experiments = [each for each in experiments if self._cases[each.name]]
        self.declared = {
            f"{each.name}/{claim.id}": claim.impossible
            for each in experiments
            for claim in each.document.claim
            if claim.impossible
        }
        """Sentences that their files declare as impossible, and why; they are not judged."""
        for experiment in self._experiments:
            self._check(experiment)

    def _check(self, experiment: Scenario) -> None:
        """Refuses an open parameter that a variant sets for runs of the claims: it would not apply to all systems."""
        setting = next(self._space.grid())
        own = self._space.restrict(experiment.name, setting)
        _, cases = self._applied(experiment, setting)
        for point in _points(experiment, cases, experiment.seeds[:1]):
            for path in own.keys() & point.values.keys():
                label = " ".join(point.labels.values())
                message = f"the variant {label} sets it, so it has no value for all systems"
                raise ScenarioError(str(experiment.path), None, f"open.{path}", message)

    @property
    def sentences(self) -> list[str]:
        """The sentences that are judged."""
        return list(self.says)

    @property
    def says(self) -> dict[str, str]:
        """The words of each sentence."""
        return {
            f"{name}/{case.claim}": case.says
            for name, cases in self._cases.items()
            for case in cases
            if not case.half_of
        }

    def judge(self, settings: Sequence[Values], seeds: Sequence[int], what: str = "") -> list[Tried]:
        """Judges some settings; their runs form one batch, of which the progress says what it is.

        Raises:
            ScenarioError: a value is invalid.
            ResultsError: results cannot be written; finished runs are kept.

        """
        applied = [[self._applied(each, setting) for each in self._experiments] for setting in settings]
        todo = [[_points(experiment, cases, seeds) for experiment, cases in each] for each in applied]
        wanted = [
            Job(experiment, point.overrides, columns.tables(experiment, point.row))
            for setting, of in zip(applied, todo, strict=True)
            for (experiment, _), chosen in zip(setting, of, strict=True)
            for point in chosen
        ]
        finished = iter(self._batches.run(wanted, what))
        tried = []
        for setting, each, of in zip(settings, applied, todo, strict=True):
            made = Tried(dict(setting), {})
            for (experiment, cases), chosen in zip(each, of, strict=True):
                runs = [next(finished) for _ in chosen]
                failures = [run for run in runs if isinstance(run, Failure)]
                made.errors.extend(f"{experiment.name}, seed {run.seed}: {run.error}" for run in failures[:1])
                if not failures:
                    whole = [
                        (point, run) for point, run in zip(chosen, runs, strict=True) if not isinstance(run, Failure)
                    ]
                    made.found.update(_judged(Runs(experiment, whole), cases))
            tried.append(made)
        return tried

    def _applied(self, experiment: Scenario, setting: Values) -> tuple[Scenario, list[Case]]:
        """An experiment under a setting, and its cases."""
        own = self._space.restrict(experiment.name, setting)
        labels = {path: value for path, value in own.items() if path in experiment.labels}
        values = [(path, value) for path, value in own.items() if path not in labels]
        changed = experiment.set(values) if values else experiment
        cases = [_relabel(experiment, case, labels) for case in self._cases[experiment.name]]
        return _without_plots(changed), cases


def _without_plots(experiment: Scenario) -> Scenario:
    """The same experiment without plots, which may need result tables."""
    plain = copy.copy(experiment)
    plain.document = experiment.document.model_copy(update={"plot": []})
    return plain


def _counted(experiment: Scenario, names: set[str]) -> list[Case]:
    """The main case of each possible sentence that is not counted elsewhere in the search, and of its other halves."""
    document = experiment.document
    if document.benchmark is not None:
        return []
    skipped = {claim.id for claim in document.claim if claim.same_as.partition("#")[0] in names or claim.impossible}
    mains: dict[str, Case] = {}
    for case in document.cases:
        whole = mains.get(case.half_of)
        if skipped.isdisjoint((case.claim, case.half_of)) and (whole is None or whole.reading == case.reading):
            mains.setdefault(case.claim, case)
    return list(mains.values())


def _relabel(experiment: Scenario, case: Case, labels: Values) -> Case:
    """A case with other labels of some axes."""
    update: dict[str, Any] = {}
    sets = {name: getattr(case, name) for name in ROWS if getattr(case, name) is not None}
    for axis, label in labels.items():
        chosen = {repr(each.get(axis)) for each in [*sets.values(), *case.rivals]}
        if len(chosen) > 1:
            message = f"the claim {case.id} compares labels of {axis}, so it cannot be open"
            raise ScenarioError(str(experiment.path), None, f"open.{axis}", message)
        sets = {name: {**each, axis: [label]} for name, each in sets.items()}
        update["rivals"] = [{**each, axis: [label]} for each in update.get("rivals", case.rivals)]
    return case.model_copy(update={**update, **sets}) if labels else case


def _points(experiment: Scenario, cases: Sequence[Case], seeds: Sequence[int]) -> list[Point]:
    """The points of the sweep that any of the cases reads."""
    return [point for point in points(experiment, list(seeds)) if any(_reads(case, point.row) for case in cases)]


def _reads(case: Case, row: Mapping[str, Scalar]) -> bool:
    sets = [getattr(case, name) for name in ROWS if getattr(case, name) is not None]
    if not any(matches(row, each) for each in [*sets, *case.rivals]):
        return False
    x = quantity(row.get(case.axis))
    if x is None:
        return True
    inside = case.between is None or case.between[0] <= x[0] <= case.between[1]
    return inside and (case.at is None or x[0] in case.at)


def _judged(runs: Runs, cases: Sequence[Case]) -> dict[str, Found]:
    experiment = runs.scenario
    frame = runs.frame()
    labels = columns.own_labels(experiment)
    measurements = [
        judge(
            case,
            curves.of_claim(case, runs, frame),
            label=columns.describe(labels, case.y).label,
            environment=experiment.environment,
        )
        for case in cases
    ]
    found = {}
    for judged in join_halves(measurements):
        if not judged.case.half_of:
            shown = judged.shown
            found[f"{experiment.name}/{judged.case.claim}"] = Found(
                judged.outcome, judged.distance, finite(judged.value), shown.value, shown.accept, shown.published
            )
    return found
