"""The search for the best values, by Optuna's tree-structured Parzen estimator.

Trials run in batches of a fixed size. The same command takes the same course, on any number of cores, and finds the
runs of an interrupted one in the store. The best of many trials is partly a matter of luck. It therefore runs again,
alongside the default, with seeds that no trial has used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from fanin.choose.cautions import over_other_times
from fanin.choose.comparison import paired
from fanin.choose.goals import Goal, Keep
from fanin.choose.tuning.answer import Checked, Trial, Tuned, front, spread_evenly
from fanin.choose.tuning.optuna_proposals import BATCH, Result, load_optuna, propose
from fanin.choose.tuning.space import Drawn, Param, Values
from fanin.errors import RunError, WorkerError
from fanin.results.dataset import Row
from fanin.results.failures import BrokenOff
from fanin.run.laboratory import Laboratory, Outcome

_MAX_VIOLATION = 1e9
"""Stands for an unlimited violation of a bound."""


class Study:
    """One search."""

    def __init__(
        self,
        laboratory: Laboratory,
        params: Sequence[Param],
        goals: Sequence[Goal],
        keeps: Sequence[Keep],
        seeds: Sequence[int],
    ) -> None:
        """Prepares the study.

        Raises:
            NotFoundError: Optuna is not installed.

        """
        self._optuna = load_optuna("tuning needs Optuna")
        self._laboratory, self._params = laboratory, params
        self._goals, self._keeps, self._seeds = goals, keeps, list(seeds)
        self._results: list[Result] = []
        self._base: list[Row] = []

    def run(self, trials: int) -> list[Trial]:
        """Tries until there are so many trials, or no new ones are possible.

        Raises:
            RunError: the scenario fails with its own values.

        """
        self._base = self._default_rows(self._seeds, "the default")
        for goal in self._goals:
            if math.isnan(float(goal.values(self._base, self._base).mean())):
                raise RunError(f"with its own values, the scenario has no {goal.name}: choose another --goal")
        counts = [each.every for each in self._params]
        size = math.prod(len(each) if each is not None else 10**9 for each in counts)
        whole = (
            # There are so few combinations that all of them are tried.
            [self._drawn(drawn) for drawn in itertools.product(*(each or [] for each in counts))]
            if size <= trials
            else None
        )
        while asked := self._next(whole, trials):
            done = len(self._results)
            what = f"trials {done + 1} to {done + len(asked)} of {min(trials, size)}"
            self._results += self._try(asked, what)
        return self.trials()

    def _next(self, whole: list[Drawn] | None, trials: int) -> list[Drawn]:
        """The next batch: what is left of all combinations if they are few, otherwise what is proposed."""
        done = len(self._results)
        if whole is not None:
            return whole[done : done + BATCH]
        first = None if done else self._default_drawn()
        more = [each.more for each in self._goals]
        return propose(self._optuna, self._params, more, self._results, min(BATCH, trials - done), first)

    def _default_rows(self, seeds: Sequence[int], what: str) -> list[Row]:
        (found,) = self._laboratory.cases([({}, seeds)], what)
        return _ended(found, "the scenario with its own values")

    def _drawn(self, numbers: Sequence[float]) -> Drawn:
        whole = [each.whole or each.span is None for each in self._params]
        pairs = zip(self._params, numbers, whole, strict=True)
        return {each.path: int(number) if is_whole else number for each, number, is_whole in pairs}

    def _default_drawn(self) -> Drawn | None:
        """The scenario's own values, if they lie within the ranges."""
        numbers = [each.drawn(value) for each, value in zip(self._params, self.defaults().values(), strict=True)]
        known = [number for number in numbers if number is not None]
        return self._drawn(known) if len(known) == len(numbers) else None

    def defaults(self) -> dict[str, str]:
        """The scenario's own values of the parameters."""
        table = {row["path"]: row["value"] for row in self._laboratory.experiment.resolved_table() if not row["scheme"]}
        return {each.path: table.get(each.path, "") for each in self._params}

    def _try(self, asked: Sequence[Drawn], what: str) -> list[Result]:
        """Runs a batch."""
        found = self._laboratory.cases([(self._values(drawn), self._seeds) for drawn in asked], what)
        if broken_off := [each for outcome in found for each in outcome.failures if isinstance(each, BrokenOff)]:
            # It is not recorded as failed, so the same command retries it.
            raise WorkerError(broken_off[0].error)
        return [self._result(drawn, outcome) for drawn, outcome in zip(asked, found, strict=True)]

    def _result(self, drawn: Drawn, outcome: Outcome) -> Result:
        errors = [f"seed {each.seed}: {each.error}" for each in outcome.failures]
        goals = [] if errors else [float(goal.values(outcome.rows, self._base).mean()) for goal in self._goals]
        if any(map(math.isnan, goals)):
            errors.append("a goal has no value")
        if errors:
            return Result(drawn, [], {}, errors[0])
        return Result(drawn, goals, self._violations(outcome.rows))

    def _violations(self, rows: list[Row]) -> dict[str, float]:
        """By how much each bound is broken, relative to the bound; below zero if it is kept."""
        found = {}
        for keep, reference in zip(self._keeps, self.references(self._base), strict=True):
            margin = float(keep.margins(rows, reference).mean())
            scale = abs(keep.limit(reference)) or 1.0
            found[keep.text] = min(-margin / scale, _MAX_VIOLATION)
        return found

    def references(self, base: list[Row]) -> list[float]:
        """The references of relative bounds: the default's means."""
        return [float(keep.measure.values(base).mean()) for keep in self._keeps]

    def _values(self, drawn: Drawn) -> Values:
        return {each.path: each.value(drawn[each.path]) for each in self._params}

    def trials(self) -> list[Trial]:
        """The trials that completed."""
        return [
            Trial(self._values(each.drawn), each.goals, all(by <= 0 for by in each.bounds.values()))
            for each in self._results
            if not each.error
        ]

    def errors(self) -> list[str]:
        """The errors of failed trials."""
        return [each.error for each in self._results if each.error]

    def check(self, chosen: Sequence[Trial], seeds: Sequence[int]) -> tuple[Checked, list[Checked]]:
        """Runs the default and these trials with other seeds than those of the search.

        Raises:
            RunError: a run fails.

        """
        what = "the check, with fresh seeds"
        base = self._default_rows(seeds, what)
        found = self._laboratory.cases([(each.values, seeds) for each in chosen], what)
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
            [keep.text for keep in self._keeps if over_other_times([keep.measure], {"default": base, "found": rows})],
            [goal.name for goal in self._goals if not goal.can_refer_to(base)],
            rows,
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
        trials: Trials of the whole study.
        seeds: Seeds of every trial.
        fresh: Number of seeds of the check.

    Returns:
        The result, and the scenario's own values.

    Raises:
        NotFoundError: Optuna is not installed.
        RunError: the default or the best values fail.
        ResultsError: results cannot be written.

    """
    study = Study(laboratory, params, goals, keeps, seeds)
    tried = study.run(trials)
    best = spread_evenly(front(tried, goals))
    first = max(seeds) + 1
    default, checked = study.check(best, range(first, first + fresh))
    return Tuned(tried, study.errors(), default, checked), study.defaults()
