"""Advice for a scenario: every remedy on the same seeds, ranked by a goal, and how far the best of them carry.

It has no statistics and no search of its own: :mod:`fanin.choose.comparison` ranks and :mod:`fanin.choose.capacity`
searches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fanin.choose.capacity.find import fan_in_path, find
from fanin.choose.capacity.search import Found
from fanin.choose.comparison import LEAST, Compared, Estimate, Placed, compare_cases, paired, placed
from fanin.choose.diagnosis import Facts
from fanin.choose.goals import Goal, Keep, Measure
from fanin.choose.remedies import AS_IT_IS, Remedy
from fanin.errors import NotFoundError
from fanin.later import np
from fanin.numbers.stats import finite
from fanin.run.experiment import Experiment
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory

SEEDS = [1, 2, 3, 4, 5]
"""Enough for intervals, and for an answer in about a minute."""

PRECISION = 0.1
"""Gap between a capacity and the next fan-in that was tried: half as narrow as ``fanin capacity`` has it."""

_FURTHER = 16
"""Capacities are searched up to so many times the scenario's own fan-in, but no further than :data:`_FAR`."""

_FAR = 1024
"""More answers at once than one port is asked to take."""

_ROOM = 0.25
"""A scenario whose bounds break with so many more senders has hardly room for more."""

Room = Literal["enough", "hardly any", "too little"]

_AT_LEAST = 4
"""So many times its own fan-in is searched in any case."""


@dataclass(frozen=True)
class Advised:
    """A remedy with its results."""

    remedy: Remedy
    place: Placed
    change: Estimate | None
    """The goal, and how it differs from that of the scenario as it is; ``None`` where a difference has no meaning."""
    background: Estimate | None
    """The same for the goodput of the background traffic; ``None`` if there is none."""
    margin: float
    found: Found | None = None
    """How far it carries; ``None`` if that was not searched."""

    def effect(self, goal: Goal) -> str:
        """How it compares with the scenario as it is."""
        if self.remedy.name == AS_IT_IS:
            return "-"
        if math.isinf(self.place.value.mean):
            return "unfinished"
        if self.change is None or math.isnan(self.change.difference_half):
            return "not comparable"
        if not self.change.matters(self.margin):
            return "no difference that counts"
        return "better" if (self.change.difference > 0) == goal.more else "worse"

    @property
    def cost(self) -> float | None:
        """Change of the background's goodput as a share; ``None`` if there is none, or it does not count."""
        if self.background is None or not self.background.matters(self.margin):
            return None
        before = self.background.mean - self.background.difference
        return self.background.difference / before if before else None

    def as_dict(self, goal: Goal) -> dict[str, Any]:
        """For JSON."""
        change = self.change
        return {
            **{key: value for key, value in self.place.as_dict().items() if key != "scheme"},
            "remedy": self.remedy.name,
            "settings": self.remedy.settings,
            "needs": self.remedy.needs,
            "deployable": self.remedy.effort.is_deployable,
            "effect": self.effect(goal),
            "change": change and finite(change.difference),
            "change_half": change and finite(change.difference_half),
            "background_change": finite(self.cost),
            "capacity": None if self.found is None else self.found.as_dict() | {"tried": len(self.found.tried)},
        }


@dataclass(frozen=True)
class Advice:
    """The answer."""

    facts: Facts
    goal: Goal
    keeps: list[Keep]
    seeds: list[int]
    every: list[Advised]
    """All remedies, the best first."""
    over: str | None
    """The scenario value that is the fan-in; ``None`` if there is none, or several."""
    refused: list[str]
    failed: list[str]

    def of(self, name: str) -> Advised:
        """A remedy by its name."""
        return next(each for each in self.every if each.remedy.name == name)

    @property
    def own(self) -> Advised:
        """The scenario as it is."""
        return self.of(AS_IT_IS)

    @property
    def best(self) -> Advised | None:
        """The remedy to deploy; ``None`` if none that can be deployed is better than the scenario as it is.

        Of those that tie with the best, it is the one that takes least effort; of these, the one that carries furthest.
        """
        usable = [
            each for each in self.every if each.remedy.effort.is_deployable and each.effect(self.goal) == "better"
        ]
        ranks = [each.place.rank for each in usable if each.place.rank is not None]
        first = [each for each in usable if each.place.rank == min(ranks, default=None)]
        return min(first, key=lambda each: (each.remedy.effort, -_carries(each)), default=None)

    @property
    def further(self) -> Advised | None:
        """The remedy for more senders, if the scenario as it is needs none; ``None`` if none carries further.

        Of those that carry as far as the one that carries furthest, to within the precision of the search, it is the
        one that takes least effort.
        """
        own = self.own.found
        if self.best is not None or own is None or own.breaks_at is None:
            return None
        beyond = (1 + PRECISION) * own.breaks_at
        found = [each for each in self.every if each.remedy.effort.is_deployable and _carries(each) > beyond]
        most = max(map(_carries, found), default=0)
        far = [each for each in found if (1 + PRECISION) * _carries(each) >= most]
        return min(far, key=lambda each: (each.remedy.effort, -_carries(each)), default=None)

    @property
    def fan_in(self) -> int:
        """How many senders the scenario has; 0 if it has no fan-in."""
        group = self.facts.fan_in
        return int(group[group["key"]]) if group else 0

    @property
    def room(self) -> Room:
        """Whether the scenario as it is carries its own senders, and more; taken for granted if that is not known."""
        own = self.own.found
        if own is None:
            return "enough"
        if (own.capacity or 0) < self.fan_in:
            return "too little"
        # The next number of senders that was tried is further up by the precision of the search.
        return "enough" if own.breaks_at is None or own.breaks_at > (1 + _ROOM) * self.fan_in else "hardly any"

    @property
    def best_of_all(self) -> Advised:
        """The best, whatever it needs."""
        return self.every[0]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "goal": self.goal.name,
            "keep": [each.text for each in self.keeps],
            "seeds": self.seeds,
            "over": self.over,
            "recommended": None if self.best is None else self.best.remedy.name,
            "further": None if self.further is None else self.further.remedy.name,
            "remedies": [each.as_dict(self.goal) for each in self.every],
            "refused": self.refused,
            "failed": self.failed,
        }


def _carries(each: Advised) -> int:
    return (each.found.capacity or 0) if each.found is not None else 0


@dataclass(frozen=True)
class Asked:
    """A question for advice."""

    goal: Goal
    keeps: list[Keep]
    seeds: list[int]
    margin: float = LEAST
    capacities: int = 4
    """For how many of the best remedies to search how far they carry."""


def advise(
    experiment: Experiment,
    facts: Facts,
    tried: tuple[Sequence[Remedy], list[str]],
    asked: Asked,
    background: Measure | None,
    *,
    out: Path | str | None = "results",
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
) -> Advice:
    """Runs the remedies on the scenario, ranks them, and searches how far the best of them carry.

    Args:
        experiment: The scenario; its sweep is ignored.
        facts: What one run of it says.
        tried: The remedies, the scenario as it is among them, and why others cannot be tried.
        asked: The question.
        background: The goodput of the background traffic, if there is any.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.

    Raises:
        ResultsError: results cannot be written.

    """
    remedies, refused = tried
    laboratory = Laboratory(experiment, out, workers=workers, again=again, advance=advance)
    cases = {each.name: each.settings for each in remedies}
    compared = compare_cases(laboratory, cases, asked.seeds, AS_IT_IS, "comparing the remedies")
    places = {each.scheme: each for each in placed(compared, asked.goal, AS_IT_IS, asked.margin)}
    by_name = {each.scheme: each for each in compared}
    own = by_name[AS_IT_IS]
    every = [
        Advised(
            remedy,
            places[remedy.name],
            _change(by_name[remedy.name], own, asked.goal),
            None if background is None else _change(by_name[remedy.name], own, Goal(((background, 1.0),))),
            asked.margin,
        )
        for remedy in sorted(remedies, key=lambda each: list(places).index(each.name) if each.name in places else 0)
        if remedy.name in places
    ]
    over = _over(experiment)
    failed = [f"{each.scheme}: {each.error}" for each in compared if each.error]
    answer = Advice(facts, asked.goal, asked.keeps, asked.seeds, every, over, refused, failed)
    if over is None or asked.capacities == 0:
        return answer
    chosen = _worth_searching(answer, asked.capacities)
    here = answer.fan_in
    found = find(
        experiment,
        [dict(each.remedy.settings) for each in chosen],
        asked.keeps,
        over=over,
        last=max(_AT_LEAST * here, min(_FURTHER * here, _FAR)),
        seeds=asked.seeds,
        precision=PRECISION,
        out=out,
        workers=workers,
        again=again,
        advance=advance,
    )
    carried = {each.remedy.name: far for each, far in zip(chosen, found, strict=True)}
    every = [
        Advised(each.remedy, each.place, each.change, each.background, each.margin, carried.get(each.remedy.name))
        for each in every
    ]
    return Advice(facts, asked.goal, asked.keeps, asked.seeds, every, over, refused, failed)


def _change(each: Compared, own: Compared, goal: Goal) -> Estimate | None:
    """A goal, and its paired difference from that of the scenario as it is."""
    before = dict(zip((row["seed"] for row in own.rows), goal.values(own.rows, own.rows), strict=True))
    after = dict(zip((row["seed"] for row in each.rows), goal.values(each.rows, own.rows), strict=True))
    both = [seed for seed in after if seed in before]
    if not both:
        return None
    return paired(np.array([after[seed] for seed in both]), np.array([before[seed] for seed in both]))


def _over(experiment: Experiment) -> str | None:
    try:
        return fan_in_path(experiment)
    except NotFoundError:
        return None


def _worth_searching(answer: Advice, most: int) -> list[Advised]:
    """The scenario as it is, the remedy to deploy, and the next best: first those that can be deployed.

    If none is better at this fan-in, those that can be deployed and tie may still carry further.
    """
    wanted = [answer.own, *([answer.best] if answer.best else [])]
    better = [each for each in answer.every if each.effect(answer.goal) == "better"]
    wanted += sorted(better, key=lambda each: not each.remedy.effort.is_deployable)
    unique = list({each.remedy.name: each for each in wanted}.values())[: most + 1]
    return unique if answer.best is not None else [*unique, *_plainest(answer)]


def _plainest(answer: Advice) -> list[Advised]:
    """Those that can be deployed and do not differ, without those that only add a setting to another of them."""
    tied = [
        each
        for each in answer.every
        if each.remedy.effort.is_deployable and each.effect(answer.goal) == "no difference that counts"
    ]
    sets = [set(each.remedy.settings.items()) for each in tied]
    return [each for each, own in zip(tied, sets, strict=True) if not any(other < own for other in sets)]
