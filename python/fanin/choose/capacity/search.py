"""The largest fan-in that keeps some bounds: a search, not a grid.

Fan-ins go up a ladder until the bounds break, and one rung further; then the gap between the last that keeps them and
the first that does not is halved until it is narrow. All that takes a glance at each, at two seeds, or at half of them
if the two disagree. What the answer is made of then gets all seeds, and where they do not bear it out, the search goes
on from what they say.
"""

from __future__ import annotations

import math
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
"""If none of ten breaks a bound, a larger share than one in four of all seeds that does is excluded."""

_GLANCE = 2
"""Seeds that are enough to go on searching, where they agree."""

_MANY = 60
"""Runs that are more than enough for the way to the answer, which then gets all seeds."""

_HOPELESS = 3
"""Rungs, the first ones, with too much of something, after which it is not looked for at larger fan-ins."""

_QUICK = 32
"""Up to here a step of the ladder is four times the last, then twice: a run far into collapse takes long."""


@dataclass
class Search:
    """The search of one case: what was tried, and from that what to try next and what the answer is."""

    case: dict[str, Scalar]
    """Scenario values that tell it from other cases."""
    keeps: list[Keep]
    first: int
    last: int
    seeds: list[int]
    precision: float
    rows: dict[int, list[Row]] = field(default_factory=dict)
    spots: int = 0
    """Fan-ins that were tried to see whether all between two that keep the bounds keep them too."""
    careful: bool = False
    """Whether a few seeds have turned out not to tell what all do."""
    doubted: set[int] = field(default_factory=set)
    """Fan-ins that got more seeds though the first ones said that they break the bounds."""
    error: str | None = None

    @cached_property
    def ladder(self) -> list[int]:
        """The fan-ins that are tried first, from below."""
        rungs = [self.first]
        while (rung := rungs[-1] * (4 if rungs[-1] < _QUICK else 2)) < self.last:
            rungs.append(rung)
        return list(dict.fromkeys([*rungs, self.last]))

    def judged(self) -> list[Judged]:
        """Everything that was tried, in order of the fan-in."""
        return [judge(fan_in, self.keeps, self.rows) for fan_in in sorted(self.rows)]

    def next(self) -> tuple[int, list[int]] | None:
        """The fan-in and the seeds to run next; nothing if the answer is found."""
        judged = self.judged()
        self._learn(judged)
        unsure = [each for each in judged if each.state == "open" and len(each.seeds) < self._half]
        _, after = self._edge(judged)
        if self.careful and after is not None and len(after.seeds) < len(self.seeds):
            unsure.append(after)
        if unsure:
            return self._closer(unsure[0])
        fan_in = self._climb(judged)
        if fan_in is None:
            fan_in = self._halve(judged)
        if fan_in is None:
            fan_in = self._look_between(judged)
        if fan_in is not None:
            return fan_in, self._suspects(judged)[: len(self.seeds) if self.careful else _GLANCE]
        for each in self._telling(judged):
            if not self._is_settled(each):
                return self._closer(each)
        return None

    def _closer(self, each: Judged) -> tuple[int, list[int]]:
        """More seeds of a fan-in: half of all, then the rest."""
        if each.state == "breaks":
            self.doubted.add(each.fan_in)
        rest = [seed for seed in self.seeds if seed not in each.seeds]
        missing = self._half - len(each.seeds)
        return each.fan_in, rest[:missing] if missing > 0 else rest

    def _learn(self, judged: list[Judged]) -> None:
        """Takes all seeds everywhere, once a fan-in that fewer took to break the bounds has kept them after all."""
        state = {each.fan_in: each.state for each in judged if self._is_settled(each)}
        self.careful = self.careful or any(state.get(fan_in) == "keeps" for fan_in in self.doubted)

    def _suspects(self, judged: list[Judged]) -> list[int]:
        """The seeds, those before others that break a bound at smaller fan-ins: what they keep the others do."""
        first = {seed: each.fan_in for each in reversed(judged) for seed in each.breaking}
        return sorted(self.seeds, key=lambda seed: first.get(seed, math.inf))

    @property
    def _half(self) -> int:
        """So many seeds are enough to say that a bound is broken."""
        return max(FEWEST, -(-len(self.seeds) // 2))

    def _is_settled(self, each: Judged) -> bool:
        """Whether nothing more is to be learnt of a fan-in: that it keeps the bounds takes all seeds."""
        count = len(each.seeds)
        return count == len(self.seeds) or (each.state == "breaks" and count >= self._half)

    def _telling(self, judged: list[Judged]) -> list[Judged]:
        """What the answer and its remarks are made of."""
        kept, after = self._edge(judged)
        if kept is None:
            return [judged[0], *(each for each in judged[1:] if each.state == "open")]
        below = [each for each in judged if each.fan_in < kept.fan_in and each.state != "keeps"]
        above = [] if after is None else self._again(judged, after)
        return [kept, *([] if after is None else [after]), *below[-1:], *above[-1:]]

    @staticmethod
    def _again(judged: list[Judged], after: Judged) -> list[Judged]:
        """Fan-ins that keep the bounds again."""
        return [each for each in judged if each.fan_in > after.fan_in and each.state == "keeps"]

    def _climb(self, judged: list[Judged]) -> int | None:
        """The next rung of the ladder, until one breaks that comes after one that keeps, and one more."""
        known = {each.fan_in: each.state == "keeps" for each in judged}
        seen = [known[rung] for rung in self.ladder if rung in known]
        if self._is_hopeless(judged):
            return None
        up_to = next((place for place in range(1, len(seen)) if seen[place - 1] and not seen[place]), len(self.ladder))
        return self.ladder[len(seen)] if len(seen) < min(up_to + 2, len(self.ladder)) else None

    @staticmethod
    def _is_hopeless(judged: list[Judged]) -> bool:
        """Whether nothing keeps the bounds because of what grows with the fan-in, such as times and losses."""
        return len(judged) >= _HOPELESS and all(each.is_too_much for each in judged)

    def _halve(self, judged: list[Judged]) -> int | None:
        kept, after = self._edge(judged)
        if kept is None or after is None:
            return None
        return None if self._is_narrow(kept, after) or self._is_long(judged) else (kept.fan_in + after.fan_in) // 2

    def _is_narrow(self, kept: Judged, after: Judged) -> bool:
        return after.fan_in - kept.fan_in <= max(1, int(self.precision * kept.fan_in))

    def _is_long(self, judged: list[Judged]) -> bool:
        """Whether it has taken so many runs that the seeds must disagree more than neighbouring fan-ins do."""
        return sum(len(each.seeds) for each in judged) > _MANY + 7 * len(self.seeds)

    def _look_between(self, judged: list[Judged]) -> int | None:
        """The middle of the widest gap between fan-ins that keep the bounds, once: there may be a hole."""
        kept, _ = self._edge(judged)
        if kept is None or self.spots:
            return None
        self.spots += 1
        below = [self.first, *(each.fan_in for each in judged if each.fan_in <= kept.fan_in)]
        gap, low = max((high - low, low) for low, high in pairwise(below))
        return low + gap // 2 if gap > max(1, int(self.precision * kept.fan_in)) else None

    @staticmethod
    def _edge(judged: list[Judged]) -> tuple[Judged | None, Judged | None]:
        """The last of the first fan-ins in a row that keep the bounds, and the next that was tried."""
        kept = None
        for each in judged:
            if each.state == "keeps":
                kept = each
            elif kept is not None:
                return kept, each
        return kept, None

    def found(self) -> Found:
        """The answer."""
        judged = self.judged()
        kept, after = self._edge(judged)
        if self.error is not None:
            so_far = [] if kept is None else [f"up to then {kept.fan_in} keeps the bounds"]
            return Found(self.case, None, None, so_far, judged, self.error)
        if kept is None:
            return Found(self.case, None, judged[0], self._remarks(judged, None, None), judged)
        return Found(self.case, kept, after, self._remarks(judged, kept, after), judged)

    def _remarks(self, judged: list[Judged], kept: Judged | None, after: Judged | None) -> list[str]:
        """What the answer alone does not tell."""
        remarks = []
        below = [] if kept is None else [each for each in judged if each.fan_in < kept.fan_in]
        if holes := [each.fan_in for each in below if each.state != "keeps" and self._is_settled(each)]:
            remarks.append(f"not monotone: with {_listed(holes)} the bounds are not kept either")
        above = [] if after is None else self._again(judged, after)
        if again := [each.fan_in for each in above if self._is_settled(each)]:
            remarks.append(f"not monotone: the bounds are kept again with {_listed(again)}")
        if kept and after and not self._is_narrow(kept, after):
            remarks.append(f"the seeds disagree too much to tell fan-ins from {kept.fan_in} to {after.fan_in} apart")
        if kept is None and self._is_hopeless(judged) and judged[-1].fan_in < self.last:
            remarks.append(f"fan-ins above {judged[-1].fan_in} were not tried")
        if edge := [each.fan_in for each in judged if each.state == "open" and self._is_settled(each)]:
            remarks.append(f"{len(self.seeds)} seeds leave {_listed(edge)} open, which counts as not kept")
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
    """The next fan-in that was tried; ``None`` if the largest that may be tried keeps them."""
    remarks: list[str]
    tried: list[Judged]
    error: str | None = None

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
        """What does not hold there."""
        return "" if self.after is None else self.after.why

    @property
    def runs(self) -> int:
        """Runs that it took."""
        return sum(len(each.seeds) for each in self.tried)

    @property
    def monotone(self) -> bool:
        """Whether the bounds, once broken, stayed so at every larger fan-in that was tried."""
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
