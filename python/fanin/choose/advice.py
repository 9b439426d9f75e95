"""Advice for a scenario: every remedy on the same seeds, ranked by a goal, and how far the best of them carry.

It has no statistics and no search of its own: :mod:`fanin.choose.comparison` ranks and :mod:`fanin.choose.capacity`
searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
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
    placed,
    unequal,
)
from fanin.choose.diagnosis import Facts
from fanin.choose.goals import Goal, Keep, Measure
from fanin.choose.plan import Plan
from fanin.choose.remedies import AS_IT_IS, Effort, Remedy, remedies
from fanin.choose.robust import Varied, effect, times, variations, varied
from fanin.choose.threshold import given_threshold, marks_by_one_threshold
from fanin.errors import NotFoundError
from fanin.numbers.stats import finite
from fanin.registry import registry, scheme_title
from fanin.results.dataset import Row
from fanin.run.experiment import Experiment
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.scenario.format.values import Scalar

PRECISION = 0.1
"""Gap between a capacity and the next fan-in that was tried: half as narrow as ``fanin capacity`` has it."""

_FURTHER = 16
"""Capacities are searched up to so many times the scenario's own fan-in, but no further than :data:`_FAR`."""

_FAR = 1024
"""More answers at once than one port is asked to take."""

_ROOM = 0.25
"""A scenario whose bounds break with so many more senders has hardly room for more."""

Room = Literal["enough", "hardly any", "too little"]

_AGAIN = 2
"""So often another remedy is searched for how far it carries, as the best does not carry its own senders."""

MUCH = 0.2
"""Background traffic that loses such a share of its goodput pays much."""

_BAD = 2.0
"""What cannot be deployed and is so many times worse than what can be is hopeless."""

_LONG = 5.0
"""What is no better and takes so many times more events is not worth its time."""

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
    keeps: bool
    """Whether it keeps the bounds, without those that are shares of a reference, by the means of its runs."""
    work: float
    """How many times more events a run of it takes."""
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
    def is_costly(self) -> bool:
        """Whether the background traffic pays much for it."""
        return self.cost is not None and self.cost <= -MUCH

    @property
    def cost(self) -> float | None:
        """Change of the background's goodput as a share; ``None`` if there is none, or it does not count."""
        change = self.background
        if change is None:
            return None
        # With too few seeds for an interval, a change may be chance, but one that is not told would pass for none.
        is_open = math.isnan(change.difference_half) and abs(change.difference) >= self.margin * abs(change.mean)
        before = change.mean - change.difference
        return change.difference / before if before and (is_open or change.matters(self.margin)) else None

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
            "costly": self.is_costly,
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
    ideal_varied: list[Varied] = field(default_factory=list)
    """The scenario as it is and the ideal on other hosts."""
    dropped: list[str] = field(default_factory=list)
    """Remedies that were hopeless with the first seed, if there was no time for more, and why."""
    unsearched: bool = False
    """Whether there was no time to search how far all of the best carry."""
    is_provisional: bool = False
    """Whether not all that was planned has run."""

    @property
    def holds(self) -> bool | None:
        """Whether the advice is the same with all variations; ``None`` if none was tried."""
        return _hold(self.varied)

    @property
    def ideal_holds(self) -> bool | None:
        """The same for the ideal."""
        return _hold(self.ideal_varied)

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

        What needs memory that the switch may lack comes after all others, and then what does not keep the bounds with
        the scenario's own senders. Of those that tie with the best, it is one that takes least effort; of these, one
        that carries as far as the one that carries furthest, to within the precision of the search; and of these, the
        one that changes least.
        """
        usable = _surest(
            [each for each in self.every if each.remedy.effort.is_deployable and each.effect(self.goal) == "better"]
        )
        usable = _without_useless_settings(usable)
        usable = [each for each in usable if self._keeps(each)] or usable
        ranks = [each.place.rank for each in usable if each.place.rank is not None]
        first = [each for each in usable if each.place.rank == min(ranks, default=None)]
        least = min((each.remedy.effort for each in first), default=None)
        return _plainest_of_the_furthest([each for each in first if each.remedy.effort == least])

    def _keeps(self, each: Advised) -> bool:
        """Whether a remedy carries the scenario's own senders, as far as that is known."""
        return each.keeps if each.found is None else _carries(each) >= self.fan_in

    @property
    def further(self) -> Advised | None:
        """The remedy for more senders, if the scenario as it is needs none; ``None`` if none carries further.

        What needs memory that the switch may lack comes after all others. Of those that carry as far as the one that
        carries furthest, to within the precision of the search, it is the one that takes least effort.
        """
        own = self.own.found
        if self.best is not None or own is None or own.breaks_at is None:
            return None
        beyond = (1 + PRECISION) * own.breaks_at
        found = [each for each in self.every if each.remedy.effort.is_deployable and _carries(each) > beyond]
        return _plainest_of_the_furthest(_surest(found))

    @property
    def advised(self) -> Advised:
        """What to run: the remedy to deploy, or the one for more senders, or the scenario as it is."""
        return self.best or self.further or self.own

    @property
    def with_memory(self) -> Advised | None:
        """What is better than what is advised, or carries further, if the switch has memory for it; else ``None``."""
        for each in self.every:
            if each.remedy.effort == Effort.SWITCH_MEMORY and each is not self.advised:
                is_searched = each.found is not None and self.advised.found is not None
                is_further = is_searched and _carries(each) > (1 + PRECISION) * _carries(self.advised)
                if is_further or (each.effect(self.goal) == "better" and self.precedes(each, self.best)):
                    return each
        return None

    @property
    def ideal(self) -> Advised | None:
        """What is best of all, and better than what is advised, but cannot be deployed; ``None`` if that is nothing."""
        first = self.every[0]
        is_better = first.effect(self.goal) == "better" and self.precedes(first, self.best)
        return first if is_better and not first.remedy.effort.is_deployable else None

    @staticmethod
    def precedes(one: Advised, other: Advised | None) -> bool:
        """Whether a remedy is better than another by a difference that counts."""
        if other is None or one.place.rank is None:
            return other is None
        return other.place.rank is None or one.place.rank < other.place.rank

    def compared_thresholds(self, each: Advised) -> Advised | None:
        """The same remedy with the other threshold; ``None`` if it has none, or that was not tried."""
        remedy = each.remedy
        if remedy.marks is None:
            return None
        path = next(path for path, value in remedy.settings.items() if value == remedy.marks.threshold)
        rest = {**remedy.settings, path: None}
        return next(
            (
                other
                for other in self.every
                if other.remedy.marks not in (None, remedy.marks) and {**other.remedy.settings, path: None} == rest
            ),
            None,
        )

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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "goal": self.goal.name,
            "keep": [each.text for each in self.keeps],
            "seeds": self.seeds,
            "over": self.over,
            "recommended": None if self.best is None else self.best.remedy.name,
            "further": None if self.further is None else self.further.remedy.name,
            "ideal": None if self.ideal is None else self.ideal.remedy.name,
            "provisional": self.is_provisional,
            "remedies": [each.as_dict(self.goal) for each in self.every],
            "holds": self.holds,
            "rival": self.rival,
            "variations": [each.as_dict() for each in self.varied],
            "ideal_variations": [each.as_dict() for each in self.ideal_varied],
            "dropped": self.dropped,
            "unsearched": self.unsearched,
            "refused": self.refused,
            "failed": self.failed,
            "warnings": self.warnings,
        }


def _hold(found: list[Varied]) -> bool | None:
    return all(each.holds for each in found) if found else None


def _surest(found: list[Advised]) -> list[Advised]:
    """Those that need no memory which the switch may lack, if there are any."""
    return [each for each in found if each.remedy.effort != Effort.SWITCH_MEMORY] or found


def _plainest_of_the_furthest(found: list[Advised]) -> Advised | None:
    """Of those that carry as far as the one that carries furthest, the one of least effort and fewest settings.

    Of two thresholds it is the usual one.
    """
    most = max(map(_carries, found), default=0)
    far = [each for each in found if (1 + PRECISION) * _carries(each) >= most]

    def order(each: Advised) -> tuple[Effort, int, bool, int]:
        remedy = each.remedy
        is_other = remedy.marks is not None and not remedy.marks.is_first
        return remedy.effort, len(remedy.settings), is_other, -_carries(each)

    return min(far, key=order, default=None)


def _carries(each: Advised) -> int:
    return (each.found.capacity or 0) if each.found is not None else 0


@dataclass(frozen=True)
class Asked:
    """A question for advice."""

    goal: Goal
    keeps: list[Keep]
    margin: float = LEAST


def advise(
    experiment: Experiment,
    facts: Facts,
    asked: Asked,
    plan: Plan,
    background: Measure | None,
    *,
    out: Path | str | None = "results",
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
    so_far: Callable[[Advice], None] = lambda _: None,
) -> Advice:
    """Runs the remedies on the scenario, ranks them, and searches how far the best of them carry.

    Args:
        experiment: The scenario; its sweep is ignored.
        facts: What one run of it says.
        asked: The question.
        plan: How thoroughly to look.
        background: The goodput of the background traffic, if there is any.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.
        so_far: Called with what is known, whenever that is more than before.

    Raises:
        ResultsError: results cannot be written.

    """
    begun = time.monotonic()
    tried, refused = remedies(facts, experiment)
    laboratory = Laboratory(experiment, out, workers=workers, again=again, advance=advance)
    warnings = unequal(beside_scheme(experiment, _systems(tried))) + _unmarkable(facts, tried) + _unlike(experiment)
    over = _over(experiment)
    unknown = Advice(facts, asked.goal, asked.keeps, plan.seeds, [], over, refused, [], warnings, is_provisional=True)
    answer = unknown
    for answer in _ranked(laboratory, tried, asked, plan, background, unknown):
        so_far(answer)
    if over is not None and plan.capacities:
        how = {"out": out, "workers": workers, "again": again, "advance": advance}
        wanted = _worth_searching(answer, plan.capacities)
        searched = wanted[: plan.searches([each.work for each in wanted], time.monotonic() - begun)]
        answer = replace(answer, unsearched=len(searched) < len(wanted))
        answer = _carried(experiment, answer, over, searched, **how)
        # What was best may not carry its own senders, and then another is.
        for _ in range(_AGAIN if searched else 0):
            if answer.best is None or answer.best.found is not None:
                break
            answer = _carried(experiment, answer, over, [answer.best], **how)
        so_far(answer)

    def on_other_hosts(each: Advised) -> list[Varied]:
        chosen = variations(facts, each.remedy, experiment)
        found = varied(laboratory, chosen, each.remedy, asked.goal, plan.seeds, asked.margin)
        # Nothing to tell if there is nothing that may differ.
        return found if len(found) > 1 else []

    # Which remedy is recommended depends on how far they carry.
    if rival := _rival(answer):
        answer = replace(answer, rival=rival.remedy.name, varied=on_other_hosts(rival))
        so_far(answer)
    if answer.ideal is not None:
        answer = replace(answer, ideal_varied=on_other_hosts(answer.ideal))
    return replace(answer, is_provisional=False)


def _carried(experiment: Experiment, answer: Advice, over: str, searched: list[Advised], **how: Any) -> Advice:  # noqa: ANN401
    """With how far some remedies carry; the keywords are those of :func:`advise`."""
    here = answer.fan_in
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
    return replace(
        answer, every=[replace(each, found=carried.get(each.remedy.name, each.found)) for each in answer.every]
    )


def _ranked(
    laboratory: Laboratory,
    tried: list[Remedy],
    asked: Asked,
    plan: Plan,
    background: Measure | None,
    unknown: Advice,
) -> Iterator[Advice]:
    """The remedies with their results, the best first: after each seed, and first with those that can be deployed."""
    found = {each.name: Compared(each.name, []) for each in tried}
    can, cannot = ([each for each in tried if each.effort.is_deployable == can_be] for can_be in (True, False))
    first, *others = plan.seeds
    left = tried
    dropped: dict[str, str] = {}
    for seed, some in [(first, can), (first, cannot), *((seed, None) for seed in others)]:
        chosen = [each for each in (left if some is None else some) if each.name not in dropped]
        cases = [(each.settings, [seed]) for each in chosen]
        for each, got in zip(chosen, laboratory.cases(cases, "comparing the remedies"), strict=True):
            found[each.name].rows.extend(got.rows)
            found[each.name].failures.extend(got.failures)
        if some is cannot and plan.is_tight and others:
            dropped = _hopeless(found, tried, asked.goal)
        compared = [each for name, each in found.items() if name not in dropped and (each.rows or each.failures)]
        yield replace(
            unknown,
            every=_advised(compared, tried, asked, background),
            failed=[f"{each.scheme}: {each.error}" for each in compared if each.error],
            dropped=[f"{name} ({why})" for name, why in dropped.items()],
        )


def _advised(compared: list[Compared], tried: list[Remedy], asked: Asked, background: Measure | None) -> list[Advised]:
    """The remedies that have results, the best first."""
    places = {each.scheme: each for each in placed(compared, asked.goal, AS_IT_IS, asked.margin)}
    by_name = {each.scheme: each for each in compared}
    own, remedy = by_name[AS_IT_IS], {each.name: each for each in tried}
    return [
        Advised(
            remedy[name],
            place,
            change_of(by_name[name], own, asked.goal),
            None if background is None else change_of(by_name[name], own, Goal(((background, 1.0),))),
            asked.margin,
            places[AS_IT_IS].value.mean if AS_IT_IS in places else math.nan,
            all(each.margins(by_name[name].rows, math.nan).mean() >= 0 for each in asked.keeps if not each.relative),
            _work(by_name[name].rows, own.rows),
            _hashes(by_name[name]) == _hashes(own),
        )
        for name, place in places.items()
    ]


def _hopeless(found: dict[str, Compared], tried: list[Remedy], goal: Goal) -> dict[str, str]:
    """What cannot be deployed and is much worse than what can be, or no better for much more work; and why."""
    own = found[AS_IT_IS].rows
    means = {each.name: goal.spread(rows, own).mean for each in tried if (rows := found[each.name].rows)}
    can = [each.name for each in tried if each.effort.is_deployable and math.isfinite(means.get(each.name, math.nan))]
    if not can:
        return {}
    best = (max if goal.more else min)(can, key=means.__getitem__)
    dropped: dict[str, str] = {}
    for each in tried:
        mean = means.get(each.name, math.nan)
        if each.effort.is_deployable or math.isnan(mean) or (mean > means[best]) == goal.more:
            continue
        if math.isinf(mean):
            dropped[each.name] = "unfinished"
        elif (factor := times(means[best], mean)) >= _BAD:
            dropped[each.name] = f"{factor:.3g} times worse than {best}"
        elif (work := _work(found[each.name].rows, own)) >= _LONG:
            dropped[each.name] = f"no better than {best}, and its runs take {work:.3g} times more than yours"
    return dropped


def _work(rows: list[Row], own: list[Row]) -> float:
    """How many times more events runs take than those of the scenario as it is."""
    before = max((row["events"] for row in own), default=0)
    return max(row["events"] for row in rows) / before if before else 1.0


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


def _unlike(experiment: Experiment) -> list[str]:
    """Warns that some systems are tried with another threshold than that of the scenario's switch."""
    given = given_threshold(experiment)
    if given is None:
        return []
    schemes = [row["key"] for row in registry()["schemes"] if row["reacts_to_marks"]]
    unlike = [scheme_title(key) for key in schemes if not marks_by_one_threshold(key)]
    return [
        f"the switch marks from {given[1]} on ({given[0]}), and so it does for the other schemes with one threshold; "
        f"{', '.join(unlike)} have a switch that marks otherwise, and are tried with that"
    ]


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
    wanted = [each for each in (answer.own, answer.best, answer.ideal) if each is not None]
    better = [each for each in answer.every if each.effect(answer.goal) == "better"]
    wanted += sorted(better, key=lambda each: (not each.remedy.effort.is_deployable, not each.keeps))
    unique = _without_useless_settings(list({each.remedy.name: each for each in wanted}.values()))[: most + 1]
    return unique if answer.best is not None else [*unique, *_plainest(answer)]


def _without_useless_settings(found: list[Advised]) -> list[Advised]:
    """Without those that add a setting to another of them and have the very same results."""
    kept: list[Advised] = []
    for each in found:
        own = each.remedy.settings.items()
        if not any(
            other.remedy.settings.items() < own and other.place.value == each.place.value
            for other in found
            if other.remedy.settings
        ):
            kept.append(each)
    return kept


def _plainest(answer: Advice) -> list[Advised]:
    """Those that can be deployed and do not differ, without those that only add a setting to another of them."""
    tied = [
        each
        for each in answer.every
        if each.remedy.effort.is_deployable and each.effect(answer.goal) == "no difference that counts"
    ]
    sets = [set(each.remedy.settings.items()) for each in tied]
    return [each for each, own in zip(tied, sets, strict=True) if not any(other < own for other in sets)]
