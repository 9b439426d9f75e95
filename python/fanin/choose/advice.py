"""Advice for a scenario: what to deploy of the fixes that were tried, why, and how far it carries.

How it is found, :mod:`fanin.choose.advising` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from fanin.choose.capacity.find import fan_ins
from fanin.choose.capacity.search import Found
from fanin.choose.comparison import SCHEME, STACK, BySeed, Estimate, Placed, paired_by_seed
from fanin.choose.diagnosis import Diagnosis
from fanin.choose.fixes import AS_IT_IS, Effort, Fix
from fanin.choose.goals import Goal, Keep
from fanin.choose.outcomes import Verdict
from fanin.choose.robust import ABOUT_AS_GOOD_FACTOR, Varied, effect, is_about, seeds_to_decide, times
from fanin.numbers.stats import FEWEST, finite
from fanin.registry import reacts_to_marks
from fanin.results.never_ended import going_on

_ROLES = (
    *("undecided", "further", "ideal", "passed_over", "keeping", "may_be_better", "beside_the_switch", "with_memory"),
    *("saving", "rival", "unsteady"),
)
"""Fixes that an answer has beside the recommended one, as its record names them."""

PRECISION = 0.1
"""Gap between a capacity and the next fan-in that was tried: half as narrow as ``fanin capacity`` has it."""

_HARDLY_ROOM_SHARE = 0.25
"""A scenario whose bounds break with so many more senders has hardly room for more."""

Room = Literal["enough", "hardly any", "too little"]

_MAX_FINALISTS = 5
"""So many fixes that are about as good are tried on other hosts."""

MUCH = 0.2
"""Background traffic that loses such a share of its goodput pays much."""


@dataclass(frozen=True)
class Advised:
    """A fix with its results."""

    fix: Fix
    place: Placed
    change: Estimate | None
    """The goal, and how it differs from that of the scenario as it is; ``None`` where a difference has no meaning."""
    background: Estimate | None
    """The same for the goodput of the background traffic; ``None`` if there is none."""
    margin: float
    own: float
    """The goal's mean of the scenario as it is."""
    values: BySeed
    """The goal with each seed."""
    broken: tuple[str, ...]
    """What its runs break of the bounds by their mean, without those that are shares of a reference."""
    work: float
    """How many times more events a run of it takes."""
    is_same: bool = False
    """Whether its runs are those of the scenario as it is, so that it has no effect at all."""
    found: Found | None = None
    """How far it carries; ``None`` if that was not searched."""

    def effect(self, goal: Goal) -> str:
        """How it compares with the scenario as it is."""
        if self.fix.name == AS_IT_IS:
            return "-"
        return effect(self.own, self.place.value.mean, self.change, goal, self.margin, self.place.seeds)

    @property
    def only_saves(self) -> bool:
        """Whether it gains hardly more than a query alone does with it."""
        return self.fix.alone < 1 and times(self.own, self.place.value.mean) * self.fix.alone < ABOUT_AS_GOOD_FACTOR

    @property
    def seeds_to_decide(self) -> int | None:
        """About how many seeds would tell whether it differs from the scenario as it is; ``None`` if that is known."""
        return seeds_to_decide(self.change, self.place.seeds, self.margin)

    @property
    def keeps(self) -> bool:
        """Whether its runs keep the bounds."""
        return not self.broken

    @property
    def is_listed(self) -> bool:
        """Whether it says anything: one without any effect does not, unless it was searched how far it carries."""
        return self.fix.name == AS_IT_IS or not self.is_same or self.found is not None

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
            "fix": self.fix.name,
            "seeds": self.place.seeds,
            "settings": self.fix.settings,
            "needs": self.fix.needs,
            "deployable": self.fix.effort.is_deployable,
            "unmarked": list(self.fix.unmarked),
            "threshold": self.fix.marking and self.fix.marking.threshold,
            "cautions": list(self.fix.cautions),
            "effect": self.effect(goal),
            "same_runs": self.is_same,
            "seeds_to_tell": self.seeds_to_decide,
            "change": change and finite(change.difference),
            "change_half": change and finite(change.difference_half),
            "broken": list(self.broken),
            "background_change": finite(self.cost),
            "costly": self.is_costly,
            "capacity": None if self.found is None else self.found.as_dict() | {"tried": len(self.found.tried)},
        }


@dataclass(frozen=True)
class Advice:
    """The answer."""

    diagnosis: Diagnosis
    goal: Goal
    keeps: list[Keep]
    seeds: list[int]
    every: list[Advised]
    """All fixes, the best first."""
    over: str | None
    """The scenario value that is the fan-in; ``None`` if there is none, or several."""
    refused: list[str]
    failed: list[str]
    warnings: list[str] = field(default_factory=list)
    """What the comparison does not tell."""
    hosts: dict[str, list[Varied]] = field(default_factory=dict)
    """Fix -> the scenario as it is and the fix on other hosts."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Fixes that were hopeless when there was no time for all, and why: they have no further seeds."""
    unsearched: list[str] = field(default_factory=list)
    """Those of the best for which there was no time to search how far they carry."""
    untried: list[str] = field(default_factory=list)
    """Fixes for which there was no time at all."""
    within: str = ""
    """How long it was to take."""
    is_provisional: bool = False
    """Whether not all that was planned has run."""

    @property
    def rival(self) -> Advised | None:
        """The fix of the variations: the recommended one, or the best other that can be deployed and has effects."""
        others = (each for each in self._settings if each.fix.name != AS_IT_IS)
        return self.best or next((each for each in others if not each.is_same and each is not self.saving), None)

    @property
    def varied(self) -> list[Varied]:
        """The scenario as it is and the rival on other hosts."""
        return self._varied(self.rival)

    @property
    def ideal_varied(self) -> list[Varied]:
        """The scenario as it is and the ideal on other hosts."""
        return self._varied(self.ideal)

    def _varied(self, each: Advised | None) -> list[Varied]:
        return [] if each is None else self.hosts.get(each.fix.name, [])

    @property
    def holds(self) -> bool | None:
        """Whether the advice is right, or not needed, with all variations; ``None`` if none was tried."""
        return all(each.holds for each in self.varied) if self.varied else None

    def find(self, name: str) -> Advised:
        """A fix by its name."""
        return next(each for each in self.every if each.fix.name == name)

    @property
    def own(self) -> Advised:
        """The scenario as it is."""
        return self.find(AS_IT_IS)

    @property
    def best(self) -> Advised | None:
        """The fix to deploy; ``None`` if none that can be deployed is better than the scenario as it is.

        What needs memory that the switch may lack comes after all others. The goal decides: only of those that are
        about as good as the best by it, one is preferred that keeps the bounds with the scenario's own senders; of
        these, one that carries no fewer senders than the scenario does as it is; of these, one that brings no threshold
        of which `fanin check` warns; of these, one that holds on all other hosts that were tried; of these, one that
        takes least effort; of these, one than which no other is better by a
        difference that counts; of these, one that carries as far as the one that carries furthest, to within the
        precision of the search; and of these, the one that changes least.
        """
        first = self._first
        return self._plainest_of_the_least([each for each in first if self.steady(each)] or first)

    @property
    def passed_over(self) -> Advised | None:
        """The best by the goal, if it is better than the fix to deploy by a difference that counts; else ``None``.

        It takes more effort, breaks bounds, carries fewer senders, brings a threshold of which `fanin check` warns or
        does not hold on other hosts.
        """
        first = next(iter(self._usable), None)
        if first is None or first is self.best:
            return None
        return first if self.is_better(first, self.best) else None

    @property
    def gain_passed_over(self) -> float:
        """Share of the goal of the fix to deploy by which that is better; 0 if there is none."""
        if self.best is None or self.passed_over is None:
            return 0.0
        taken = self.best.place.value.mean
        return abs(self.passed_over.place.value.mean - taken) / abs(taken)

    @property
    def unsteady(self) -> Advised | None:
        """What would be recommended, if it held on other hosts; ``None`` if that is what is recommended."""
        found = self._plainest_of_the_least(self._first)
        return None if found is self.best else found

    def steady(self, each: Advised) -> bool:
        """Whether a fix holds on all other hosts; not if that was not tried."""
        varied = self.hosts.get(each.fix.name)
        return varied is not None and all(other.holds for other in varied)

    @property
    def finalists(self) -> list[Advised]:
        """What to try on other hosts: the fix to deploy, and others about as good, of each kind the best."""
        kinds: dict[frozenset[str], Advised] = {}
        for each in [*([self.best] if self.best is not None else []), *self._first]:
            kinds.setdefault(frozenset(each.fix.settings), each)
        # What adds to another one of them would take the place of another kind.
        own = [each for paths, each in kinds.items() if each is self.best or not any(other < paths for other in kinds)]
        return own[:_MAX_FINALISTS]

    @property
    def _first(self) -> list[Advised]:
        """Those that are about as good as the best by the goal.

        Without those that break bounds, those that carry fewer than yours, and those with a threshold that costs long
        flows or overflows, if others do not.
        """
        usable = self._usable
        near = [
            each
            for each in usable
            if is_about(each.place.value.mean, usable[0].place.value.mean, self.goal, ABOUT_AS_GOOD_FACTOR)
        ]
        near = [each for each in near if self.suffices(each)] or near
        near = [each for each in near if not self.gives_up(each)] or near
        return [each for each in near if each.fix.marks is None or not each.fix.cautions] or near

    @property
    def _usable(self) -> list[Advised]:
        """Those that can be deployed and are better than the scenario as it is, the best first."""
        better = [each for each in self._settings if each.effect(self.goal) == "better" and not each.only_saves]
        return without_useless_settings(_surest(better))

    @property
    def _settings(self) -> list[Advised]:
        """Those that can be deployed."""
        return [each for each in self.every if each.fix.effort.is_deployable]

    @property
    def saving(self) -> Advised | None:
        """What is better only by what a query alone gains with it; ``None`` if there is nothing."""
        return next((each for each in self.every if each.effect(self.goal) == "better" and each.only_saves), None)

    def _plainest_of_the_least(self, found: list[Advised]) -> Advised | None:
        """Of those of least effort, the plainest of those than which no other is better by a difference that counts."""
        least = min((each.fix.effort for each in found), default=None)
        alike = [each for each in found if each.fix.effort == least]
        first = [each for each in alike if not any(self.is_better(other, each) for other in alike)]
        # If runs failed, pairs have other seeds in common, and three may be better than one another in a circle.
        return _plainest_of_the_furthest(first or alike)

    @property
    def has_few_seeds(self) -> bool:
        """Whether so few seeds have run that they decide nothing but what finishes."""
        return self.own.place.seeds < FEWEST

    @property
    def is_comparable(self) -> bool:
        """Whether the scenario as it is has a value of the goal, or a fix that can be deployed has one."""
        return not all(math.isinf(each.place.value.mean) for each in self._settings)

    @property
    def undecided(self) -> Advised | None:
        """What may be better, if nothing is that can be deployed: the best by its mean; ``None`` if there is none."""
        if self.best is not None:
            return None
        own = self.own.place.value.mean
        means = [(each, each.place.value.mean) for each in self._open]
        found = [each for each, mean in means if mean != own and is_about(mean, own, self.goal, 1.0)]
        return next(iter(_surest(found)), None)

    @property
    def may_be_better(self) -> Advised | None:
        """What may be better than the fix to deploy, if seeds do not tell: the best by its mean; else ``None``."""
        if self.best is None:
            return None
        best = self.best.place.value.mean
        found = [
            each for each in self._open if not is_about(best, each.place.value.mean, self.goal, ABOUT_AS_GOOD_FACTOR)
        ]
        return next(iter(_surest(found)), None)

    @property
    def _open(self) -> list[Advised]:
        """Those that can be deployed and of which seeds do not tell whether they are better than the scenario."""
        return [each for each in self._settings if each.effect(self.goal) == "undecided" and not each.only_saves]

    @property
    def beside_the_switch(self) -> Advised | None:
        """The best by the goal that changes no switch, if the fix to deploy does; ``None`` if none is better."""
        if self.best is None or self.best.fix.effort < Effort.SWITCH_SETTING:
            return None
        return next((each for each in self._usable if each.fix.effort < Effort.SWITCH_SETTING), None)

    @property
    def keeping(self) -> Advised | None:
        """The best by the goal that keeps the bounds, if the fix to deploy does not; ``None`` if none does."""
        if self.best is None or self.suffices(self.best):
            return None
        return next((each for each in self._usable if self.suffices(each)), None)

    def suffices(self, each: Advised) -> bool:
        """Whether a fix carries the scenario's own senders, as far as that is known."""
        return each.keeps if each.found is None else _has_room(each.found, self.fan_in)

    def gives_up(self, each: Advised) -> bool:
        """Whether a fix is known to carry fewer senders than the scenario does as it is."""
        known = each.found is not None and self.own.found is not None
        return known and (1 + PRECISION) * _carries(each) < _carries(self.own)

    @property
    def further(self) -> Advised | None:
        """The fix for more senders, if the scenario as it is needs none; ``None`` if none carries further.

        What needs memory that the switch may lack comes after all others. Of those that carry as far as the one that
        carries furthest, to within the precision of the search, it is the one that takes least effort.
        """
        own = self.own.found
        if self.best is not None or own is None or own.breaks_at is None:
            return None
        beyond = (1 + PRECISION) * own.breaks_at
        found = [each for each in self.every if each.fix.effort.is_deployable and _carries(each) > beyond]
        return _plainest_of_the_furthest(_surest(found))

    @property
    def advised(self) -> Advised:
        """What to run: the fix to deploy, or the one for more senders, or the scenario as it is."""
        return self.best or self.further or self.own

    @property
    def with_memory(self) -> Advised | None:
        """What is better than what is advised, or carries further, if the switch has memory for it; else ``None``."""
        for each in self.every:
            if each.fix.effort == Effort.SWITCH_MEMORY and each is not self.advised:
                is_searched = each.found is not None and self.advised.found is not None
                is_further = is_searched and _carries(each) > (1 + PRECISION) * _carries(self.advised)
                if is_further or (each.effect(self.goal) == "better" and self.is_better(each, self.best)):
                    return each
        return None

    @property
    def ideal(self) -> Advised | None:
        """What is best of all, and better than what is advised, but cannot be deployed; ``None`` if that is nothing."""
        first = self.every[0]
        is_better = first.effect(self.goal) == "better" and self.is_better(first, self.best)
        return first if is_better and not first.fix.effort.is_deployable else None

    def is_better(self, one: Advised, other: Advised | None) -> bool:
        """Whether a fix is better than another by a difference that counts; any is better than none."""
        if other is None or (math.isinf(other.place.value.mean) and math.isfinite(one.place.value.mean)):
            return True
        change = paired_by_seed(one.values, other.values)
        return change is not None and change.matters(one.margin) and (change.difference > 0) == self.goal.more

    def compared_thresholds(self, each: Advised) -> Advised | None:
        """The same fix with another threshold; ``None`` if it has none, or no other was tried."""
        marking = each.fix.marking
        if marking is None:
            return None

        def rest(other: Fix) -> dict[str, Any]:
            scenario = self.diagnosis.scenario
            own = {SCHEME: scenario["transport"]["scheme"], STACK: scenario["transport"]["stack"]}
            return {**own, "queue.kind": scenario["queue"]["kind"], **other.settings, marking.path: None}

        others = (other for other in self.every if other.fix.marking not in (None, marking))
        return next((other for other in others if rest(other.fix) == rest(each.fix)), None)

    @property
    def fan_in(self) -> int:
        """How many senders the scenario has; 0 if it has no fan-in."""
        return senders(self.diagnosis)

    @property
    def room(self) -> Room:
        """Whether the scenario as it is carries its own senders, and more; taken for granted if that is not known."""
        own = self.own.found
        if own is None:
            return "enough"
        if not _has_room(own, self.fan_in):
            return "too little"
        # The next number of senders that was tried is further up by the precision of the search.
        return (
            "enough"
            if own.breaks_at is None or own.breaks_at > (1 + _HARDLY_ROOM_SHARE) * self.fan_in
            else "hardly any"
        )

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        if self.is_provisional:
            return Verdict.PROVISIONAL
        if self.best is not None:
            return Verdict.TAKE
        if not self.is_comparable:
            return Verdict.NOT_COMPARABLE
        if self.undecided is not None:
            return Verdict.UNDECIDED
        if self.has_few_seeds:
            return Verdict.FEW_SEEDS
        by_room: dict[Room, Verdict] = {"enough": Verdict.KEEP, "hardly any": Verdict.KEEP_FOR_NOW}
        return by_room.get(self.room, Verdict.TOO_LITTLE)

    @property
    def is_sure(self) -> bool:
        """Whether the fix to deploy is better with 95 % confidence, and not only by far with each of few seeds."""
        change = None if self.best is None else self.best.change
        margin = self.own.margin
        return change is None or change.is_sure(margin) or not change.differs(margin)

    @property
    def to_set(self) -> list[str]:
        """The keys to change if nothing can be compared: where traffic goes on until the end, when it stops."""
        if self.verdict != Verdict.NOT_COMPARABLE:
            return []
        return [f"traffic.{name}.stop" for name in going_on(self.diagnosis.scenario)] or ["run.duration"]

    @property
    def unsearchable(self) -> list[str] | None:
        """The fan-ins of which none is searched, several or none; ``None`` if one is."""
        return fan_ins(self.diagnosis.scenario) if self.over is None else None

    @property
    def lacks_hosts(self) -> bool:
        """Whether there was no time to try other hosts."""
        if self.rival is None or not self.is_comparable or self.is_provisional:
            return False
        return self.rival.fix.name not in self.hosts

    @property
    def against(self) -> list[str]:
        """What speaks against what is better than the fix to deploy."""
        each, best = self.passed_over, self.best
        if each is None or best is None:
            return []
        is_tried = bool(self.hosts.get(each.fix.name))
        reasons = {
            "threshold": each.fix.cautions and not best.fix.cautions,
            "bounds": self.suffices(best) and not self.suffices(each) and each.keeps,
            "fewer": self.gives_up(each) and not self.gives_up(best),
            "other-hosts": is_tried and self.steady(best) and not self.steady(each),
            "needs": each.fix.needs != best.fix.needs,
        }
        found = [reason for reason, holds in reasons.items() if holds]
        # Only some of those that are about as good are tried there.
        return found or ["untried"] * (not is_tried and self.steady(best))

    @property
    def thresholds(self) -> dict[str, Any] | None:
        """From where on the switch marks, why from there, and how another threshold compares."""
        each = self.advised
        if self.best is None and each.fix.marks is None:
            # What is for more senders alone leaves the threshold as it is.
            each = self.own
        fix, marking = each.fix, each.fix.marking
        if marking is None:
            return None
        scheme = self.diagnosis.scenario["transport"]["scheme"]
        if fix.marks is None and (SCHEME in fix.settings or not reacts_to_marks(scheme)):
            return None
        other = self.compared_thresholds(each)
        found: dict[str, Any] = {"from": marking.threshold, "path": marking.path, "cautions": list(fix.cautions)}
        found |= {"why": fix.marks and fix.marks.why, "other": None, "other_is": None}
        if other is not None and other.fix.marking is not None:
            is_worse, is_better = self.is_better(each, other), self.is_better(other, each)
            verdict = "worse" if is_worse else "better" if is_better else "no different"
            found |= {"other": other.fix.name, "other_from": other.fix.marking.threshold, "other_is": verdict}
        return found

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        named = {"recommended": self.best, **{role: getattr(self, role) for role in _ROLES}}
        return {
            "verdict": self.verdict,
            **{role: each and each.fix.name for role, each in named.items()},
            "goal": self.goal.name,
            "keep": [each.text for each in self.keeps],
            "seeds": self.seeds,
            "over": self.over,
            "comparable": self.is_comparable,
            "gain_passed_over": self.gain_passed_over,
            "against": self.against,
            "sure": self.is_sure,
            "set": self.to_set,
            "unsearchable": self.unsearchable,
            "lacks_hosts": self.lacks_hosts,
            "room": self.room,
            "thresholds": self.thresholds,
            "provisional": self.is_provisional,
            "fixes": [each.as_dict(self.goal) for each in self.every],
            "holds": self.holds,
            "variations": [each.as_dict() for each in self.varied],
            "ideal_variations": [each.as_dict() for each in self.ideal_varied],
            "dropped": [f"{name} ({why})" for name, why in self.dropped.items()],
            "untried": self.untried,
            "unsearched": self.unsearched,
            "refused": self.refused,
            "failed": self.failed,
            "warnings": self.warnings,
        }


def senders(diagnosis: Diagnosis) -> int:
    """How many senders a scenario has; 0 if it has no fan-in."""
    group = diagnosis.fan_in
    return int(group[group["key"]]) if group else 0


def _surest(found: list[Advised]) -> list[Advised]:
    """Those that need no memory which the switch may lack, if there are any."""
    return [each for each in found if each.fix.effort != Effort.SWITCH_MEMORY] or found


def _plainest_of_the_furthest(found: list[Advised]) -> Advised | None:
    """Of those that carry as far as the one that carries furthest, the one of least effort and fewest settings.

    A threshold that nothing speaks against comes before one that `fanin check` warns of, and then the usual one.
    """
    most = max(map(_carries, found), default=0)
    far = [each for each in found if (1 + PRECISION) * _carries(each) >= most]

    def order(each: Advised) -> tuple[Effort, bool, int, bool, int]:
        fix = each.fix
        is_other = fix.marks is not None and not fix.marks.is_first
        return fix.effort, bool(fix.cautions), len(fix.settings), is_other, -_carries(each)

    return min(far, key=order, default=None)


def _has_room(found: Found, fan_in: int) -> bool:
    """Whether so many senders keep the bounds, or lie in the gap that the search has left below those that do not."""
    return (found.capacity or 0) >= fan_in or (found.breaks_at is not None and found.breaks_at > fan_in)


def _carries(each: Advised) -> int:
    return (each.found.capacity or 0) if each.found is not None else 0


def without_useless_settings(found: list[Advised]) -> list[Advised]:
    """Without those that add a setting to another of them and have the very same results."""
    kept: list[Advised] = []
    for each in found:
        own = each.fix.settings.items()
        if not any(
            other.fix.settings.items() < own and other.place.value == each.place.value
            for other in found
            if other.fix.settings
        ):
            kept.append(each)
    return kept
