"""Advice for a scenario: every remedy on the same seeds, ranked by a goal, and how far the best of them carry.

It has no statistics and no search of its own: :mod:`fanin.choose.comparison` ranks and :mod:`fanin.choose.capacity`
searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fanin.choose.capacity.find import fan_in_path, find
from fanin.choose.capacity.search import Found
from fanin.choose.comparison import (
    LEAST,
    SCHEME,
    STACK,
    Compared,
    Estimate,
    Placed,
    beside_scheme,
    change_of,
    compare_cases,
    placed,
    unequal,
)
from fanin.choose.diagnosis import Facts
from fanin.choose.goals import Goal, Keep, Measure
from fanin.choose.remedies import AS_IT_IS, Remedy, remedies
from fanin.choose.robust import Varied, effect, variations, varied
from fanin.errors import NotFoundError
from fanin.numbers.stats import finite
from fanin.registry import scheme_title
from fanin.run.experiment import Experiment
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.scenario.format.values import Scalar

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
    own: float
    """The goal's mean of the scenario as it is."""
    is_same: bool = False
    """Whether its runs are those of the scenario as it is, so that it has no effect at all."""
    found: Found | None = None
    """How far it carries; ``None`` if that was not searched."""

    def effect(self, goal: Goal) -> str:
        """How it compares with the scenario as it is."""
        if self.remedy.name == AS_IT_IS:
            return "-"
        return effect(self.own, self.place.value.mean, self.change, goal, self.margin)

    @property
    def is_listed(self) -> bool:
        """Whether it says anything: one without any effect does not, unless it was searched how far it carries."""
        return self.remedy.name == AS_IT_IS or not self.is_same or self.found is not None

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
            "unmarked": list(self.remedy.unmarked),
            "effect": self.effect(goal),
            "same_runs": self.is_same,
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
    warnings: list[str] = field(default_factory=list)
    """What the comparison does not tell."""
    rival: str | None = None
    """The remedy of the variations: the recommended one, or the best other that can be deployed."""
    varied: list[Varied] = field(default_factory=list)
    """The scenario as it is and the rival on other hosts."""

    @property
    def holds(self) -> bool | None:
        """Whether the advice is the same with all variations; ``None`` if none was tried."""
        return all(each.holds for each in self.varied) if self.varied else None

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

        Of those that tie with the best, it is one that takes least effort; of these, one that carries as far as the one
        that carries furthest, to within the precision of the search; and of these, the one that changes least.
        """
        usable = [
            each for each in self.every if each.remedy.effort.is_deployable and each.effect(self.goal) == "better"
        ]
        ranks = [each.place.rank for each in usable if each.place.rank is not None]
        first = [each for each in usable if each.place.rank == min(ranks, default=None)]
        least = min((each.remedy.effort for each in first), default=None)
        return _plainest_of_the_furthest([each for each in first if each.remedy.effort == least])

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
        return _plainest_of_the_furthest(found)

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
            "holds": self.holds,
            "rival": self.rival,
            "variations": [each.as_dict() for each in self.varied],
            "refused": self.refused,
            "failed": self.failed,
            "warnings": self.warnings,
        }


def _plainest_of_the_furthest(found: list[Advised]) -> Advised | None:
    """Of those that carry as far as the one that carries furthest, the one of least effort and fewest settings."""
    most = max(map(_carries, found), default=0)
    far = [each for each in found if (1 + PRECISION) * _carries(each) >= most]
    return min(far, key=lambda each: (each.remedy.effort, len(each.remedy.settings), -_carries(each)), default=None)


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
        asked: The question.
        background: The goodput of the background traffic, if there is any.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.

    Raises:
        ResultsError: results cannot be written.

    """
    tried, refused = remedies(facts, experiment)
    laboratory = Laboratory(experiment, out, workers=workers, again=again, advance=advance)
    every, failed = _ranked(laboratory, tried, asked, background)
    warnings = unequal(beside_scheme(experiment, _systems(tried))) + _unmarkable(facts, tried)
    over = _over(experiment)
    answer = Advice(facts, asked.goal, asked.keeps, asked.seeds, every, over, refused, failed, warnings)
    if over is not None and asked.capacities:
        how = {"out": out, "workers": workers, "again": again, "advance": advance}
        answer = _carried(experiment, answer, over, asked.capacities, **how)
    # Which remedy is recommended depends on how far they carry.
    if rival := _rival(answer):
        chosen = variations(facts, rival.remedy, experiment)
        variants = varied(laboratory, chosen, rival.remedy, asked.goal, asked.seeds, asked.margin)
        # Nothing to tell if there is nothing that may differ.
        answer = replace(answer, rival=rival.remedy.name, varied=variants if len(variants) > 1 else [])
    return answer


def _carried(experiment: Experiment, answer: Advice, over: str, most: int, **how: Any) -> Advice:  # noqa: ANN401
    """With how far the most promising remedies carry; the keywords are those of :func:`advise`."""
    searched, here = _worth_searching(answer, most), answer.fan_in
    found = find(
        experiment,
        [dict(each.remedy.settings) for each in searched],
        answer.keeps,
        over=over,
        last=max(_AT_LEAST * here, min(_FURTHER * here, _FAR)),
        seeds=answer.seeds,
        precision=PRECISION,
        **how,
    )
    carried = {each.remedy.name: far for each, far in zip(searched, found, strict=True)}
    return replace(answer, every=[replace(each, found=carried.get(each.remedy.name)) for each in answer.every])


def _ranked(
    laboratory: Laboratory, tried: list[Remedy], asked: Asked, background: Measure | None
) -> tuple[list[Advised], list[str]]:
    """The remedies with their results, the best first; and those of which a run failed."""
    cases = {each.name: each.settings for each in tried}
    compared = compare_cases(laboratory, cases, asked.seeds, AS_IT_IS, "comparing the remedies")
    places = {each.scheme: each for each in placed(compared, asked.goal, AS_IT_IS, asked.margin)}
    by_name = {each.scheme: each for each in compared}
    own, remedy = by_name[AS_IT_IS], {each.name: each for each in tried}
    every = [
        Advised(
            remedy[name],
            place,
            change_of(by_name[name], own, asked.goal),
            None if background is None else change_of(by_name[name], own, Goal(((background, 1.0),))),
            asked.margin,
            places[AS_IT_IS].value.mean if AS_IT_IS in places else math.nan,
            _hashes(by_name[name]) == _hashes(own),
        )
        for name, place in places.items()
    ]
    return every, [f"{each.scheme}: {each.error}" for each in compared if each.error]


def _hashes(compared: Compared) -> list[str]:
    return [row["result_hash"] for row in compared.rows]


def _systems(tried: list[Remedy]) -> dict[str, dict[str, Scalar]]:
    """The scenario as it is, and each scheme that remedies bring with its stack."""
    found: dict[str, dict[str, Scalar]] = {AS_IT_IS: {}}
    for each in tried:
        if SCHEME in each.settings:
            values = {path: each.settings[path] for path in (SCHEME, STACK)}
            found.setdefault(scheme_title(str(values[SCHEME])), values)
    return found


def _unmarkable(facts: Facts, tried: list[Remedy]) -> list[str]:
    """Warns of remedies that need marks which not all traffic can have."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for each in tried:
        # What sets no scheme has that of the scenario.
        if each.unmarked and (each.name == AS_IT_IS or SCHEME in each.settings):
            name = scheme_title(str(each.settings[SCHEME])) if each.settings else each.name
            found.setdefault(each.unmarked, {})[name] = None
    forwards = facts.scenario["network"]["non-ect"] != "drop"
    does, other = ("forwards", "drop") if forwards else ("drops", "by-queue")
    how = "drop it above the threshold, as WRED does" if forwards else "forward it"
    return [
        f"not all traffic is ECN-capable ({', '.join(groups)}) with {', '.join(names)}: the switch here {does} what it "
        f"cannot mark, others {how}, which can reverse the result: see --set network.non-ect={other}"
        for groups, names in found.items()
    ]


def _rival(answer: Advice) -> Advised | None:
    """The recommended remedy, or else the best other that can be deployed and has any effect."""
    others = (each for each in answer.every if each.remedy.name != AS_IT_IS and each.remedy.effort.is_deployable)
    return answer.best or next((each for each in others if not each.is_same), None)


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
