"""Whether a recommendation holds on other hosts than the scenario's.

Interrupts, connections that are open or not, and what a switch does with packets that it cannot mark are seldom known
and decide much: a probe that is taken for late, a first window that nobody has measured, flows that marks starve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from fanin.choose.comparison import SCHEME, Compared, Estimate, change_of
from fanin.choose.diagnosis import SLOW, Diagnosis
from fanin.choose.fixes import AS_IT_IS, Fix
from fanin.choose.goals import Goal
from fanin.errors import ScenarioError
from fanin.numbers.stats import Spread
from fanin.numbers.units import Quantity
from fanin.registry import reacts_to_marks
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar

_INTERRUPTS = tuple(Quantity(f"{micro}us" if micro else "0s", micro / 1e6, "s") for micro in (0, 8, 16, 64))
"""From none to a usual setting for throughput; Linux's adaptive moderation chooses between 1 and 256 us."""

Effect = Literal["unfinished", "not comparable", "undecided", "no difference that counts", "better", "worse"]

_MAX_DECIDING_SEEDS = 30
"""A difference is undecided if about so many seeds would decide; one that takes more is small for what seeds change."""

ABOUT_AS_GOOD_FACTOR = 1.1
"""A result is about as good as another if it is worse by no larger factor: what gains less is hardly worth a change of
hosts and switches."""

AS_GIVEN = "hosts as given"


def seeds_to_decide(change: Estimate | None, seeds: int, margin: float) -> int | None:
    """About how many seeds would decide whether it counts; ``None`` if that is known, or takes too many."""
    needed = None if change is None else change.seeds_to_decide(seeds, margin)
    return needed if needed is not None and needed <= _MAX_DECIDING_SEEDS else None


def effect(own: float, mean: float, change: Estimate | None, goal: Goal, margin: float, seeds: int) -> Effect:
    """How a fix compares with the scenario as it is.

    Args:
        own: The goal's mean of the scenario as it is, infinite if that did not finish.
        mean: That of the fix.
        change: How it differs, seed by seed; ``None`` where a difference has no meaning.
        goal: The criterion.
        margin: Share of the mean below which a difference does not count.
        seeds: How many seeds have run.

    """
    if math.isinf(mean):
        return "unfinished"
    if math.isinf(own):
        return "better"
    if change is None or math.isnan(change.difference):
        return "not comparable"
    if seeds_to_decide(change, seeds, margin) is not None:
        return "undecided"
    if not change.matters(margin):
        return "no difference that counts"
    return "better" if (change.difference > 0) == goal.more else "worse"


def times(one: float, other: float) -> float:
    """By what factor two results differ, at least one; not a number where that has no meaning."""
    if not (0 < one < math.inf and 0 < other < math.inf):
        return math.nan
    return max(one / other, other / one)


def is_about(mean: float, other: float, goal: Goal, factor: float) -> bool:
    """Whether a result is better than another, or worse by no more than a factor."""
    low, high = (other, mean) if goal.more else (mean, other)
    return low <= factor * high


@dataclass(frozen=True)
class Variation:
    """Other hosts, or another switch."""

    name: str
    settings: dict[str, Scalar]
    slower: float = 1.0
    """How many times longer a query takes there alone, at least one."""


Outcome = Literal["holds", "helps less", "not needed", "undecided", "does not hold"]
"""What becomes of advice with a variation.

Of a fix: it is better there and about as good as promised; it is better, but far from that; the scenario without it
is about as good as was promised with it, and nearer to that than to itself as given; seeds do not tell; or it is no
better. Of the advice that none is needed: no fix is worth it there and the scenario is not much worse than as given;
seeds do not tell; or that is not so.
"""


@dataclass(frozen=True)
class Varied:
    """The scenario as it is and a fix, both with a variation."""

    variation: Variation
    own: Spread
    fix: Spread
    effect: Effect
    outcome: Outcome
    """What becomes of the advice."""

    @property
    def holds(self) -> bool:
        """Whether the advice is right there as well, or at least not needed."""
        return self.outcome in ("holds", "not needed")

    @property
    def times(self) -> float:
        """How many times better or worse the fix is, at least one; not a number where that has no meaning."""
        return times(self.own.mean, self.fix.mean)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "variation": self.variation.name,
            "settings": self.variation.settings,
            "own": self.own.as_dict(),
            "fix": self.fix.as_dict(),
            "effect": self.effect,
            "outcome": self.outcome,
        }


def variations(diagnosis: Diagnosis, fix: Fix, experiment: Scenario) -> list[Variation]:
    """The scenario as given, and what may differ from it where it is deployed, without what is not valid on it.

    What the fix itself sets is no other host.

    Args:
        diagnosis: What a run of the scenario says about it.
        fix: The fix, which each is tried with as well.
        experiment: The scenario.

    """
    transport, network, traffic = (diagnosis.scenario[section] for section in ("transport", "network", "traffic"))
    found = [Variation(AS_GIVEN, {})]
    # Only this stack has hosts as they are; on the others interrupts would be the only part of one.
    for interval in _INTERRUPTS if transport["stack"] == "linux-6.12" else ():
        if interval.number != transport["interrupt-interval"].number:
            name = f"interrupts every {interval}" if interval.number else "an interrupt for every packet"
            found.append(Variation(name, {"transport.interrupt-interval": interval}))
    groups = [group for group in traffic if "connections" in group]
    fresh = [group for group in groups if group["connections"] == "fresh"]
    if groups:
        other, chosen = ("persistent", fresh) if fresh else ("fresh", groups)
        name = "connections that are open before" if fresh else "a new connection for each answer"
        found.append(Variation(name, {f"traffic.{group['name']}.connections": other for group in chosen}))
    schemes = [str(fix.settings.get(SCHEME, transport["scheme"])), *(each["scheme"] for each in traffic)]
    if any(map(reacts_to_marks, schemes)) and network["non-ect"] != "drop":
        found.append(Variation("a switch that drops what it cannot mark", {"network.non-ect": "drop"}))
    return [
        replace(each, slower=max(1.0, diagnosis.alone(experiment.of_fan_in(each.settings))))
        for each in found
        if not (each.settings and each.settings.items() <= fix.settings.items())
        and all(_is_valid(experiment, own | each.settings) for own in ({}, fix.settings))
    ]


def _is_valid(experiment: Scenario, settings: dict[str, Scalar]) -> bool:
    try:
        experiment.check(settings)
    except ScenarioError:
        return False
    return True


def varied(
    laboratory: Laboratory, chosen: list[Variation], fix: Fix, goal: Goal, seeds: list[int], margin: float
) -> list[Varied]:
    """The scenario as it is and a fix, with each variation and on the same seeds.

    Without those whose runs failed, or for which there was no time; without the hosts as given, there is nothing.

    The first variation has to be that of no value: whether the advice holds is judged by it.

    Raises:
        ResultsError: results cannot be written.

    """
    asked = [(own | each.settings, seeds) for each in chosen for own in ({}, fix.settings)]
    runs = laboratory.cases(asked, "varying the hosts")
    found: list[Varied] = []
    for variation, before, after in zip(chosen, runs[::2], runs[1::2], strict=True):
        if before.rows and after.rows and not before.left_out + after.left_out:
            own, other = Compared(AS_IT_IS, before.rows), Compared(fix.name, after.rows)
            spreads = [goal.spread(each.rows, own.rows) for each in (own, other)]
            how = effect(spreads[0].mean, spreads[1].mean, change_of(other, own, goal), goal, margin, len(own.rows))
            found.append(Varied(variation, spreads[0], spreads[1], how, "holds"))
    if not found or found[0].variation != chosen[0]:
        return []
    return [replace(each, outcome=_outcome(each, found[0], goal)) for each in found]


def _outcome(each: Varied, given: Varied, goal: Goal) -> Outcome:
    open_: Outcome = "undecided" if each.effect in ("undecided", "not comparable") else "does not hold"
    # What a query alone takes longer there is no fault of what is deployed.
    enough = SLOW * each.variation.slower
    is_worth_it = each.effect == "better" and not each.times < ABOUT_AS_GOOD_FACTOR
    if given.effect != "better":
        is_well = is_about(each.own.mean, given.own.mean, goal, enough)
        return "holds" if is_well and not is_worth_it and open_ != "undecided" else open_
    promised = given.fix.mean
    if is_worth_it:
        return "holds" if is_about(each.fix.mean, promised, goal, enough) else "helps less"
    # A small gain must be able to fail: there, the scenario is nearer to what was promised than to itself as given.
    half_way = math.sqrt(given.times) if math.isfinite(given.times) else SLOW
    if is_about(each.own.mean, promised, goal, min(enough, half_way * each.variation.slower)):
        return "not needed"
    return "helps less" if each.effect == "better" else open_
