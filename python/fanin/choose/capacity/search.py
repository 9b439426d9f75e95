"""The largest fan-in that keeps some bounds: a search, not a grid.

The search goes up a ladder of fan-ins until the bounds break, and one rung further. Then it halves the gap between the
last fan-in that keeps them and the first that does not, until the gap is narrow. Then it looks between any two rungs
below, as the bounds may not hold there. During these phases each fan-in is run with two seeds, or with half of all
seeds if the two disagree. The fan-ins on which the answer rests are then run with all seeds. If any of these contradict
the earlier result, the search continues from there.
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from fanin.choose.capacity.judge import Judged, judge
from fanin.choose.goals import Keep
from fanin.numbers.stats import FEWEST
from fanin.results.dataset import Row
from fanin.scenario.format.values import Scalar

SEEDS = list(range(1, 11))
"""If none of ten breaks a bound, at most 26 % of all seeds do, with 95 % confidence."""

GLANCE = 2
"""Seeds that are enough to continue the search if they agree."""

_MAX_GLANCED_RUNS = 60
"""Runs that are more than enough to find the answer, which is then run with all seeds."""

_HOPELESS_RUNGS = 3
"""If so many rungs from the start exceed a maximum, larger fan-ins are not tried."""

_FAST_RUNGS_UP_TO = 32
"""Up to here each rung is four times the last, then twice: a run far into collapse takes long."""


Step = tuple[int, list[int]]
"""A fan-in and the seeds to run it with."""


@dataclass
class Search:
    """The search for one case: what was tried, what to try next, and the answer."""

    case: dict[str, Scalar]
    """Scenario values that distinguish it from other cases."""
    keeps: list[Keep]
    first: int
    last: int
    seeds: list[int]
    precision: float
    rows: dict[int, list[Row]] = field(default_factory=dict)
    careful: bool = False
    """Whether a few seeds have turned out to be misleading."""
    doubted: set[int] = field(default_factory=set)
    """Fan-ins that were run with more seeds although the first seeds broke the bounds."""
    error: str | None = None
    is_broken_off: bool = False
    """Whether it has no time to go on."""
    own: int | None = None
    """A fan-in that is tried first; if it keeps the bounds, smaller ones do not matter, and are not tried."""

    @cached_property
    def ladder(self) -> list[int]:
        """The fan-ins that are tried first, in ascending order."""
        rungs = [self.first]
        while (rung := rungs[-1] * (4 if rungs[-1] < _FAST_RUNGS_UP_TO else 2)) < self.last:
            rungs.append(rung)
        own = [] if self.own is None or not self.first <= self.own <= self.last else [self.own]
        return sorted({*rungs, self.last, *own})

    def judged(self) -> list[Judged]:
        """All fan-ins that were tried, in ascending order."""
        return [judge(fan_in, self.keeps, self.rows) for fan_in in sorted(self.rows)]

    def next(self) -> Step | None:
        """The fan-in and the seeds to run next; ``None`` if the answer is found."""
        if self.own in self.ladder and self.own not in self.rows:
            return self.own, self.seeds[:GLANCE]
        judged = self.judged()
        self._learn(judged)
        unsure = [each for each in judged if each.state == "open" and len(each.seeds) < self._half_of_seeds]
        _, after = self._find_edge(judged)
        if self.careful and after is not None and len(after.seeds) < len(self.seeds):
            unsure.append(after)
        if unsure:
            return self._add_seeds(unsure[0])
        fan_in = self._climb(judged)
        if fan_in is None:
            fan_in = self._halve(judged)
        if fan_in is None:
            fan_in = self._look_between(judged)
        if fan_in is not None:
            return fan_in, self._suspects(judged)[: len(self.seeds) if self.careful else GLANCE]
        for each in self._telling(judged):
            if not self._is_settled(each):
                return self._add_seeds(each)
        return None

    def expected(self) -> tuple[float, float]:
        """About how many runs a search takes that has none yet, and how many senders they have together.

        The mean over where it may end: between any two rungs.
        """
        ends = [*pairwise(self.ladder), (self.ladder[-1], self.ladder[-1])]
        some = [self._runs_up_to(low, high) for low, high in ends]
        return sum(map(len, some)) / len(some), sum(map(sum, some)) / len(some)

    def _runs_up_to(self, low: int, high: int) -> list[int]:
        """The fan-ins of about the runs that it takes, if the last that keeps the bounds lies between two."""
        gap = (high - low) / max(1, int(self.precision * low))
        between = [(low + high) // 2] * math.ceil(math.log2(max(1.0, gap)))
        spots = self._spots([rung for rung in self.ladder if rung <= low])
        glances = [*self.ladder[: bisect(self.ladder, low) + 2], *between, *spots] * GLANCE
        # Those on which the answer rests have more.
        seeds = {high: self._half_of_seeds, low: len(self.seeds)}
        return [*glances, *(fan_in for fan_in, wanted in seeds.items() for _ in range(wanted - GLANCE))]

    def _add_seeds(self, each: Judged) -> Step:
        """More seeds for a fan-in: up to half of all, then the rest."""
        if each.state == "breaks":
            self.doubted.add(each.fan_in)
        rest = [seed for seed in self.seeds if seed not in each.seeds]
        missing = self._half_of_seeds - len(each.seeds)
        return each.fan_in, rest[:missing] if missing > 0 else rest

    def _learn(self, judged: list[Judged]) -> None:
        """Uses all seeds from now on if a fan-in that seemed to break the bounds turned out to keep them."""
        state = {each.fan_in: each.state for each in judged if self._is_settled(each)}
        self.careful = self.careful or any(state.get(fan_in) == "keeps" for fan_in in self.doubted)

    def _suspects(self, judged: list[Judged]) -> list[int]:
        """All seeds; first those that broke a bound at the smallest fan-ins, as the others are likely to do better."""
        first = {seed: each.fan_in for each in reversed(judged) for seed in each.breaking}
        return sorted(self.seeds, key=lambda seed: first.get(seed, math.inf))

    @property
    def _half_of_seeds(self) -> int:
        """The number of seeds that is enough to conclude that a bound is broken."""
        return min(len(self.seeds), max(FEWEST, -(-len(self.seeds) // 2)))

    def _is_settled(self, each: Judged) -> bool:
        """Whether a fan-in needs no more seeds: only all seeds can show that it keeps the bounds."""
        count = len(each.seeds)
        return count == len(self.seeds) or (each.state == "breaks" and count >= self._half_of_seeds)

    def _telling(self, judged: list[Judged]) -> list[Judged]:
        """The fan-ins on which the answer and its remarks rest."""
        kept, after = self._find_edge(judged)
        if kept is None:
            return [judged[0], *(each for each in judged[1:] if each.state == "open")]
        below = [each for each in judged if each.fan_in < kept.fan_in and each.state != "keeps"]
        above = [] if after is None else self._find_kept_again(judged, after)
        return [kept, *([] if after is None else [after]), *below[-1:], *above[-1:]]

    @staticmethod
    def _find_kept_again(judged: list[Judged], after: Judged) -> list[Judged]:
        """Larger fan-ins that keep the bounds again."""
        return [each for each in judged if each.fan_in > after.fan_in and each.state == "keeps"]

    def _climb(self, judged: list[Judged]) -> int | None:
        """The next rung of the ladder: one beyond the first that breaks the bounds after one that keeps them."""
        known = {each.fan_in: each.state == "keeps" for each in judged}
        if self._is_hopeless(judged):
            return None
        rungs = self._rungs(judged)
        ends = (
            low for low, high in pairwise(rung for rung in rungs if rung in known) if known[low] and not known[high]
        )
        last_kept = next(ends, self.last)
        # The first that breaks the bounds, and one more.
        further = rungs[: bisect(rungs, last_kept) + 2]
        return next((rung for rung in further if rung not in known), None)

    def _rungs(self, judged: list[Judged]) -> list[int]:
        """The ladder, from the own fan-in on if that keeps the bounds."""
        begin = self._begin(judged)
        return [rung for rung in self.ladder if rung >= begin]

    def _begin(self, judged: list[Judged]) -> int:
        """The fan-in from which on the answer is looked for: the own one if it keeps the bounds, or else the first."""
        return next((each.fan_in for each in judged if each.fan_in == self.own and each.state == "keeps"), self.first)

    @staticmethod
    def _is_hopeless(judged: list[Judged]) -> bool:
        """Whether every fan-in exceeds a maximum of something that grows with the fan-in, such as times and losses."""
        return len(judged) >= _HOPELESS_RUNGS and all(each.is_too_much for each in judged)

    def _halve(self, judged: list[Judged]) -> int | None:
        kept, after = self._find_edge(judged)
        if kept is None or after is None:
            return None
        return None if self._is_narrow(kept, after) or self._is_long(judged) else (kept.fan_in + after.fan_in) // 2

    def _is_narrow(self, kept: Judged, after: Judged) -> bool:
        return after.fan_in - kept.fan_in <= max(1, int(self.precision * kept.fan_in))

    def _is_long(self, judged: list[Judged]) -> bool:
        """Whether it has taken so many runs that seeds must differ more than neighbouring fan-ins do."""
        return sum(len(each.seeds) for each in judged) > _MAX_GLANCED_RUNS + 7 * len(self.seeds)

    def _look_between(self, judged: list[Judged]) -> int | None:
        """The middle of two rungs that keep the bounds, which may not hold there, from the largest on.

        Timers need not expire more often with more senders: where few segments are lost from each, none is left to ask
        for them. Only where nothing was tried between the rungs is there anything to find.
        """
        kept, _ = self._find_edge(judged)
        if kept is None:
            return None
        keeps = {each.fan_in for each in judged if each.fan_in <= kept.fan_in and each.state == "keeps"}
        return next(reversed(self._spots([rung for rung in self.ladder if rung in keeps])), None)

    def _spots(self, rungs: list[int]) -> list[int]:
        """The middles of rungs that are far apart and have nothing between them that was tried."""
        return [
            (low + high) // 2
            for low, high in pairwise(rungs)
            if high - low > max(1, int(self.precision * low)) and not any(low < tried < high for tried in self.rows)
        ]

    def _find_edge(self, judged: list[Judged]) -> tuple[Judged | None, Judged | None]:
        """The end of the first unbroken series of fan-ins that keep the bounds, and the next fan-in that was tried.

        If the own one keeps them, the series is that which it is in.
        """
        begin, kept = self._begin(judged), None
        for each in judged:
            if each.fan_in < begin:
                continue
            if each.state == "keeps":
                kept = each
            elif kept is not None:
                return kept, each
        return kept, None

    def found(self) -> Found:
        """The answer."""
        judged = self.judged()
        kept, after = self._find_edge(judged)
        if self.error is not None:
            so_far = [] if kept is None else [f"before the failure, the bounds held at {kept.fan_in}"]
            return Found(self.case, None, None, so_far, judged, self.error)
        if kept is None:
            return Found(self.case, None, judged[0], self._remarks(judged, None, None), judged)
        return Found(self.case, kept, after, self._remarks(judged, kept, after), judged)

    def _remarks(self, judged: list[Judged], kept: Judged | None, after: Judged | None) -> list[str]:
        """Warnings that belong to the answer."""
        remarks = []
        below = [] if kept is None else [each for each in judged if each.fan_in < kept.fan_in]
        if holes := [each.fan_in for each in below if each.state != "keeps" and self._is_settled(each)]:
            remarks.append(f"not monotone: the bounds do not hold at {_listed(holes)} either")
        above = [] if after is None else self._find_kept_again(judged, after)
        if again := [each.fan_in for each in above if self._is_settled(each)]:
            remarks.append(f"not monotone: the bounds hold again at {_listed(again)}")
        if kept and after and not self._is_narrow(kept, after):
            remarks.append(f"seeds differ too much to distinguish fan-ins from {kept.fan_in} to {after.fan_in}")
        if kept is None and self._is_hopeless(judged) and judged[-1].fan_in < self.last:
            remarks.append(f"fan-ins above {judged[-1].fan_in} were not tried")
        if edge := [each.fan_in for each in judged if each.state == "open" and self._is_settled(each)]:
            remarks.append(f"{len(self.seeds)} seeds cannot decide about {_listed(edge)}, which counts as broken")
        return remarks


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


@dataclass(frozen=True)
class Found:
    """The answer for one case."""

    case: dict[str, Scalar]
    kept: Judged | None
    """The largest fan-in that keeps the bounds; ``None`` if none does."""
    after: Judged | None
    """The next fan-in that was tried; ``None`` if the largest allowed fan-in keeps the bounds."""
    remarks: list[str]
    tried: list[Judged]
    error: str | None = None
    rows: dict[int, list[Row]] = field(default_factory=dict, repr=False)
    """Fan-in -> its runs."""

    @property
    def capacity(self) -> int | None:
        """The answer itself."""
        return None if self.kept is None else self.kept.fan_in

    @property
    def breaks_at(self) -> int | None:
        """The next fan-in that was tried."""
        return None if self.after is None else self.after.fan_in

    @property
    def why(self) -> str:
        """The bounds that do not hold there."""
        return "" if self.after is None else self.after.why

    @property
    def runs(self) -> int:
        """Number of runs that the search took."""
        return sum(len(each.seeds) for each in self.tried)

    @property
    def monotone(self) -> bool:
        """Whether the bounds, once broken, remained broken at every larger fan-in that was tried."""
        return not any(remark.startswith("not monotone") for remark in self.remarks)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "case": self.case,
            "capacity": self.capacity,
            "sure": None if self.kept is None else self.kept.sure,
            "breaks_at": self.breaks_at,
            "why": self.why,
            "monotone": self.monotone,
            "remarks": self.remarks,
            "runs": self.runs,
            "error": self.error,
            "tried": [each.as_dict() for each in self.tried],
        }
