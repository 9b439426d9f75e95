"""The search for the best values, by Optuna's tree-structured Parzen estimator.

A study is one SQLite file, so it continues where it was interrupted. Trials are reported in batches of a fixed size,
and the sampler is seeded by their number, so an interrupted study takes the same course as an uninterrupted one, on any
number of cores. The best of many trials is partly a matter of luck. It therefore runs again, alongside the default,
with seeds that no trial has used.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.choose.comparison import paired
from fanin.choose.goals import Goal, Keep
from fanin.choose.tuning.answer import Checked, Trial, Tuned, front, some
from fanin.choose.tuning.space import Param, Values
from fanin.errors import RunError, WorkerError
from fanin.extras import needed
from fanin.results.dataset import Row
from fanin.results.failures import BrokenOff
from fanin.results.files import writing
from fanin.run.laboratory import Laboratory, Outcome

BATCH = 4
"""Trials that run in parallel, regardless of the number of cores."""

_FAR = 1e9
"""Stands for an unlimited violation of a bound."""

STUDY = "study.db"


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
        """Opens the study, or creates it.

        Raises:
            NotFoundError: Optuna is not installed.
            ResultsError: the folder cannot be written.

        """
        self._optuna: Any = needed("optuna", "tuning needs Optuna", "tune")
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        self._laboratory, self._params = laboratory, params
        self._goals, self._keeps, self._seeds = goals, keeps, list(seeds)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / STUDY
        with self._quiet():
            self._study = self._optuna.create_study(
                storage=self._optuna.storages.RDBStorage(f"sqlite:///{self._path}"),
                # Trials of one engine are not valid for another.
                study_name=f"engine {_engine.version()}",
                directions=["maximize" if goal.more else "minimize" for goal in goals],
                load_if_exists=True,
            )
        self._base: list[Row] = []

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Suppresses Optuna's warnings about experimental features."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            yield

    def run(self, trials: int) -> list[Trial]:
        """Continues until there are so many trials, or no new ones are possible.

        Raises:
            RunError: the scenario fails with its own values.

        """
        self._base = self._default_rows(self._seeds)
        for goal in self._goals:
            if math.isnan(float(goal.values(self._base, self._base).mean())):
                raise RunError(f"with its own values, the scenario has no {goal.name}: choose another --goal")
        with self._quiet():
            trials = self._begin(trials)
            while (done := len(self._finished())) < trials:
                self._study.sampler = self._optuna.samplers.TPESampler(seed=done, n_startup_trials=2 * BATCH)
                self._batch(min(BATCH - done % BATCH, trials - done))
        return self.trials()

    def _default_rows(self, seeds: Sequence[int]) -> list[Row]:
        (found,) = self._laboratory.cases([({}, seeds)])
        return _ended(found, "the scenario with its own values")

    def _begin(self, trials: int) -> int:
        """Cleans up after a killed search, or queues the first trials; returns how many trials there can be."""
        state = self._optuna.trial.TrialState
        killed = self._study.get_trials(states=(state.RUNNING,))
        for trial in killed:
            self._study.tell(trial.number, state=state.FAIL)
        counts = [each.every for each in self._params]
        size = math.prod(len(each) if each is not None else 10**9 for each in counts)
        if "in line" not in self._study.user_attrs:
            line: list[dict[str, float]] = []
            if size <= trials:
                # There are so few combinations that all of them are tried.
                line = [self._drawn(drawn) for drawn in itertools.product(*(each or [] for each in counts))]
            elif (first := self._default_drawn()) is not None:
                line = [first]
            # A search that was killed at this point has already queued the first ones.
            for drawn in line[len(self._study.get_trials(deepcopy=False)) :]:
                self._study.enqueue_trial(drawn)
            self._study.set_user_attr("in line", True)
        # Interrupted trials are repeated: the same values in the same order.
        for trial in killed:
            self._study.enqueue_trial(trial.system_attrs.get("fixed_params", trial.params))
        return min(trials, size)

    def _drawn(self, numbers: Sequence[float]) -> dict[str, float]:
        whole = [each.whole or each.span is None for each in self._params]
        pairs = zip(self._params, numbers, whole, strict=True)
        return {each.path: int(number) if is_whole else number for each, number, is_whole in pairs}

    def _default_drawn(self) -> dict[str, float] | None:
        """The scenario's own values, if they lie within the ranges."""
        numbers = [each.drawn(value) for each, value in zip(self._params, self.defaults().values(), strict=True)]
        known = [number for number in numbers if number is not None]
        return self._drawn(known) if len(known) == len(numbers) else None

    def defaults(self) -> dict[str, str]:
        """The scenario's own values of the parameters."""
        table = {row["path"]: str(row["value"]) for row in self._laboratory.experiment.resolved_table()}
        return {each.path: table.get(each.path, "") for each in self._params}

    def _finished(self) -> list[Any]:
        """Trials that completed or failed; those that were interrupted by a kill do not count."""
        state = self._optuna.trial.TrialState
        every = self._study.get_trials(deepcopy=False, states=(state.COMPLETE, state.FAIL))
        return [each for each in every if each.state == state.COMPLETE or "error" in each.user_attrs]

    def _batch(self, count: int) -> None:
        """Runs some trials in parallel."""
        distributions = {each.path: each.distribution(self._optuna) for each in self._params}
        asked = [self._study.ask(distributions) for _ in range(count)]
        found = self._laboratory.cases([(self._values(trial.params), self._seeds) for trial in asked])
        if broken_off := [each for outcome in found for each in outcome.failures if isinstance(each, BrokenOff)]:
            # These trials are not reported to Optuna, so the same command retries them.
            raise WorkerError(broken_off[0].error)
        for trial, outcome in zip(asked, found, strict=True):
            errors = [f"seed {each.seed}: {each.error}" for each in outcome.failures]
            values = [] if errors else [float(goal.values(outcome.rows, self._base).mean()) for goal in self._goals]
            if any(map(math.isnan, values)):
                errors.append("a goal has no value")
            if errors:
                trial.set_user_attr("error", errors[0])
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            for keep, by in zip(self._keeps, self._violations(outcome.rows), strict=True):
                trial.set_constraint(keep.text, by)
            self._study.tell(trial, values)

    def _violations(self, rows: list[Row]) -> list[float]:
        """By how much each bound is broken, relative to the bound; below zero if it is kept."""
        found = []
        for keep, reference in zip(self._keeps, self.references(self._base), strict=True):
            margin = float(keep.margins(rows, reference).mean())
            scale = abs(keep.limit(reference)) or 1.0
            found.append(min(-margin / scale, _FAR))
        return found

    def references(self, base: list[Row]) -> list[float]:
        """The references of relative bounds: the default's means."""
        return [float(keep.measure.values(base).mean()) for keep in self._keeps]

    def _values(self, drawn: dict[str, float]) -> Values:
        return {each.path: each.value(drawn[each.path]) for each in self._params}

    def trials(self) -> list[Trial]:
        """The trials that completed."""
        return [
            Trial(self._values(each.params), list(each.values), all(by <= 0 for by in each.constraints.values()))
            for each in self._finished()
            if "error" not in each.user_attrs
        ]

    def errors(self) -> list[str]:
        """The errors of failed trials."""
        return [str(each.user_attrs["error"]) for each in self._finished() if "error" in each.user_attrs]

    def check(self, chosen: Sequence[Trial], seeds: Sequence[int]) -> tuple[Checked, list[Checked]]:
        """Runs the default and these trials with other seeds than those of the search.

        Raises:
            RunError: a run fails.

        """
        base = self._default_rows(seeds)
        found = self._laboratory.cases([(each.values, seeds) for each in chosen])
        rows = [_ended(outcome, "the values found") for outcome in found]
        checked = [self._checked(each.values, of, base) for each, of in zip(chosen, rows, strict=True)]
        return self._checked(None, base, base), checked

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
            [goal.spread(rows, base) for goal in self._goals],
            [paired(own, other) for own, other in zip(goals, others, strict=True)],
            [keep.measure.spread(rows) for keep in self._keeps],
            broken,
            [goal.name for goal in self._goals if not goal.can_refer_to(base)],
        )


def _ended(outcome: Outcome, what: str) -> list[Row]:
    """The rows of runs, all of which must succeed."""
    for failure in outcome.failures:
        raise RunError(f"{what}, seed {failure.seed}: {failure.error}")
    return outcome.rows


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
    """Finds the best values, and checks them with seeds that the search has not used.

    Args:
        laboratory: Runs the simulations; its scenario is the default with which values are compared.
        params: The parameters to vary.
        goals: The goals; several give a Pareto front.
        keeps: The bounds.
        folder: The study's folder.
        trials: Trials of the whole study, including those of earlier commands.
        seeds: Seeds of every trial.
        fresh: Number of seeds of the check.

    Returns:
        The result, and the scenario's own values.

    Raises:
        NotFoundError: Optuna is not installed.
        RunError: the default or the best values fail.
        ResultsError: results cannot be written.

    """
    study = Study(laboratory, params, goals, keeps, seeds, folder)
    tried = study.run(trials)
    best = some(front(tried, goals))
    first = max(seeds) + 1
    default, checked = study.check(best, range(first, first + fresh))
    return Tuned(tried, study.errors(), default, checked), study.defaults()
