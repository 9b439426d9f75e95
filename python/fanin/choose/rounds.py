"""Ranks the fixes of advice, a round for each seed, with as many of them as there is time for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fanin.choose.advice import Advised
from fanin.choose.comparison import USUAL_MARGIN, Compared, Estimate, change_of, goal_by_seed, paired, placed
from fanin.choose.fixes import AS_IT_IS, Fix
from fanin.choose.goals import Goal, Keep, Measure
from fanin.choose.outlook import Outlook
from fanin.choose.plan import Ahead, Plan
from fanin.choose.robust import times
from fanin.errors import RunError
from fanin.later import np
from fanin.numbers.stats import FEWEST
from fanin.results.dataset import Row, window_s
from fanin.run.laboratory import Laboratory

_FIRST_SEED_TIME_SHARE = 0.4
"""Share of the time in which fixes begin to run with the first seed: one seed decides nothing."""

_HOPELESS_FACTOR = 2.0
"""What is so many times worse than what can be deployed is hopeless."""

_MAX_EVENTS_FACTOR = 5.0
"""What is no better and takes so many times more events is not worth its time."""


@dataclass(frozen=True)
class Asked:
    """A question for advice."""

    goal: Goal
    keeps: list[Keep]
    margin: float = USUAL_MARGIN
    within: str = "the time"
    """How long the answer may take, as it was asked for."""


class Rounds:
    """The ranking as it goes: what can be deployed comes first, and is the last to be left out."""

    def __init__(
        self,
        laboratory: Laboratory,
        tried: list[Fix],
        asked: Asked,
        outlook: Outlook,
        planned: Callable[[Plan, float], None],
    ) -> None:
        """Prepares the ranking; nothing runs yet.

        Args:
            laboratory: Where to run the simulations.
            tried: The fixes, the scenario as it is first.
            asked: The question.
            outlook: How much time there is.
            planned: Called with the plan, and with how long everything takes, once the first seed says how long runs
                of the fixes take.

        """
        self._laboratory, self._tried, self._asked, self._outlook = laboratory, tried, asked, outlook
        self._planned = planned
        self._found = {each.name: Compared(each.name, []) for each in tried}
        self.dropped: dict[str, str] = {}
        """What was hopeless when time was short, and why: it has no other seeds."""

    def run(self) -> Iterator[None]:
        """Runs the rounds, and returns after each.

        Raises:
            RunError: the scenario as it is fails with the first seed.

        """
        outlook = self._outlook
        first, *others = outlook.plan.seeds
        can, cannot = (
            [each for each in self._tried if each.effort.is_deployable == can_be] for can_be in (True, False)
        )
        after = outlook.plan.ranked(1, len(cannot)) + outlook.plan.ranked(len(others)) + outlook.plan.afterwards
        self._round(first, can, after, _FIRST_SEED_TIME_SHARE * outlook.plan.within_s)
        yield
        self._learn()
        ranks_all = outlook.plan.are_seeds_asked or not outlook.plan.is_tight
        if ranks_all:
            self._round(first, cannot, outlook.plan.ranked(len(others)) + outlook.plan.afterwards)
            self._learn()
            yield
        self._planned(outlook.plan, outlook.whole_s(outlook.plan.ranked(len(others)) + outlook.plan.afterwards))
        yield from self._add_seeds(others, self._tried if ranks_all else can)
        rest = [each for each in self._tried if each.name in self.untried]
        if rest and outlook.begun_s < outlook.ranked_until_s:
            self._round(first, rest, outlook.plan.afterwards)
            yield
            yield from self._add_seeds(others, rest)

    def _add_seeds(self, seeds: list[int], some: list[Fix]) -> Iterator[None]:
        """Some fixes with more seeds, and fewer of them wherever there is no time for all."""
        for place, seed in enumerate(seeds):
            some = self._that_fit(some, len(seeds) - place)
            if not some:
                return
            after = self._outlook.plan.ranked(len(seeds) - place - 1, len(some)) + self._outlook.plan.afterwards
            self._round(seed, some, after)
            yield

    def _that_fit(self, some: list[Fix], seeds: int) -> list[Fix]:
        """The fixes for which there is time with so many more seeds: first of all what is hopeless is given up."""
        plan = self._outlook.plan
        is_own = some[:1] == self._tried[:1]
        each_s = plan.ranked(seeds, 1).seconds
        room_s = max(0.0, self._outlook.ranked_until_s - self._outlook.begun_s)
        most = int(room_s / each_s) if each_s else len(some)
        if len(some) > most:
            self.dropped = self._hopeless() | self.dropped
        kept = [each for each in some if not self._is_out(each)]
        if plan.are_seeds_asked or len(kept) <= most:
            return kept
        # What it is compared with, and one to compare, are the least, as long as there is any time.
        return sorted(kept, key=self._place)[: max(most, 2 * (is_own and room_s > 0))]

    def _is_out(self, each: Fix) -> bool:
        """Whether it has no more seeds; where seeds are asked for, what can be deployed has all of them."""
        asked = self._outlook.plan.are_seeds_asked and each.effort.is_deployable
        return not self._found[each.name].rows or (each.name in self.dropped and not asked)

    def _place(self, each: Fix) -> tuple[bool, bool, float]:
        """Its place among those that get more seeds: the scenario as it is, and then what can be deployed."""
        mean = self._means.get(each.name, math.inf)
        return each.name != AS_IT_IS, not each.effort.is_deployable, -mean if self._asked.goal.more else mean

    def _round(self, seed: int, some: Sequence[Fix], after: Ahead, until_s: float | None = None) -> None:
        """Runs some fixes with a seed, as far as there is time."""
        plan, outlook = self._outlook.plan, self._outlook
        until = outlook.ranked_until_s if until_s is None else until_s
        with outlook.running(plan.ranked(1, len(some)), after, math.inf if plan.are_seeds_asked else until):
            outcomes = self._laboratory.cases([(each.settings, [seed]) for each in some], "comparing the fixes")
        for each, got in zip(some, outcomes, strict=True):
            self._found[each.name].rows.extend(got.rows)
            self._found[each.name].failures.extend(got.failures)
        if not self._found[AS_IT_IS].rows:
            # There is nothing to compare with.
            raise RunError(f"{AS_IT_IS}: {self._found[AS_IT_IS].error}")

    def _learn(self) -> None:
        """How much longer runs of the fixes take decides how many there is time for."""
        own = self._found[AS_IT_IS].rows
        known = {name: _work(each.rows, own) for name, each in self._found.items() if each.rows}
        usual = sum(known.values()) / len(known)
        self._outlook.knowing([known.get(each.name, usual) for each in self._tried])

    @property
    def compared(self) -> list[Compared]:
        """What has run and is ranked: what cannot be deployed and is hopeless is not."""
        ranked = [each for each in self._tried if each.effort.is_deployable or each.name not in self.dropped]
        return [found for each in ranked if (found := self._found[each.name]).rows or found.failures]

    @property
    def untried(self) -> list[str]:
        """For which there was no time at all."""
        return [name for name, each in self._found.items() if not each.rows and not each.failures]

    def advised(self, background: Measure | None) -> list[Advised]:
        """The fixes that have results, the best first."""
        compared, goal, margin = self.compared, self._asked.goal, self._asked.margin
        # Those with few seeds, which time was too short for, would share the first place.
        enough = placed([each for each in compared if len(each.rows) >= FEWEST], goal, AS_IT_IS, margin)
        ranks = {each.scheme: each.rank for each in enough}
        order = placed(compared, goal, AS_IT_IS, margin)
        places = {each.scheme: replace(each, rank=ranks.get(each.scheme)) for each in order}
        by_name = {each.scheme: each for each in compared}
        own, fix = by_name[AS_IT_IS], {each.name: each for each in self._tried}
        return [
            Advised(
                fix[name],
                place,
                change_of(by_name[name], own, goal),
                None if background is None else paid(by_name[name].rows, own.rows, background),
                margin,
                places[AS_IT_IS].value.mean if AS_IT_IS in places else math.nan,
                goal_by_seed(by_name[name], own, goal),
                tuple(said for each in self._asked.keeps if (said := each.broken_by(by_name[name].rows))),
                _work(by_name[name].rows, own.rows),
                _is_same(by_name[name].rows, own.rows),
            )
            for name, place in places.items()
        ]

    @property
    def _means(self) -> dict[str, float]:
        own = self._found[AS_IT_IS].rows
        return {name: self._asked.goal.spread(each.rows, own).mean for name, each in self._found.items() if each.rows}

    def _hopeless(self) -> dict[str, str]:
        """What is much worse than what can be deployed, or cannot be, and is no better for much more work; and why."""
        own, means, goal = self._found[AS_IT_IS].rows, self._means, self._asked.goal
        can = [
            each.name
            for each in self._tried
            if each.effort.is_deployable and math.isfinite(means.get(each.name, math.nan))
        ]
        if not can:
            return {}
        best = (max if goal.more else min)(can, key=means.__getitem__)
        dropped: dict[str, str] = {}
        for each in self._tried:
            mean = means.get(each.name, math.nan)
            if each.name == AS_IT_IS or math.isnan(mean) or (mean > means[best]) == goal.more:
                continue
            if math.isinf(mean):
                dropped[each.name] = "unfinished"
            elif (factor := times(means[best], mean)) >= _HOPELESS_FACTOR:
                dropped[each.name] = f"{factor:.3g} x worse"
            elif each.effort.is_deployable:
                continue
            elif (work := _work(self._found[each.name].rows, own)) >= _MAX_EVENTS_FACTOR:
                dropped[each.name] = f"no better, and its runs take {work:.3g} x longer"
        return dropped


def paid(rows: list[Row], own: list[Row], background: Measure) -> Estimate | None:
    """The goodput of the background, and how it differs from that of the scenario as it is, over equal times.

    A closed loop of queries ends sooner with a fix that makes them faster. For the rest of the time that the longer
    of two takes, the background is taken to have what all traffic had together, in that of the two runs in which it had
    more: nothing else is left on the link.
    """
    before = {row["seed"]: row for row in own}
    found = []
    for after in rows:
        if (other := before.get(after["seed"])) is None or not after["goodput_bps"] or not other["goodput_bps"]:
            continue
        longest = max(window_s(each) for each in (after, other))
        alone = max(each["goodput_bps"] for each in (after, other))
        shares = [(window_s(each) / longest, background.value(each)) for each in (after, other)]
        found.append([share * goodput + (1 - share) * alone for share, goodput in shares])
    return paired(*np.array(found).T) if found else None


def _work(rows: list[Row], own: list[Row]) -> float:
    """How many times more events runs take than those of the scenario as it is."""
    before = max((row["events"] for row in own), default=0)
    return max(row["events"] for row in rows) / before if before and rows else 1.0


def _is_same(rows: list[Row], own: list[Row]) -> bool:
    """Whether runs are those of the scenario as it is, with each seed that they have."""
    before = {row["seed"]: row["result_hash"] for row in own}
    return bool(rows) and all(before.get(row["seed"]) == row["result_hash"] for row in rows)
