"""The largest fan-in that keeps some bounds: a search, not a grid.

Fan-ins go up a ladder until the bounds break, and one rung further; then the gap between the last that keeps them and
the first that does not is halved until it is narrow. At each fan-in the first half of the seeds is looked at, and all
of them if that leaves it open: a bound holds if the 95 % interval of the seeds lies on its good side and is broken if
it lies on the other. That is one-sided, at 97.5 % for each of the two looks, so a fan-in is judged with 95 %
confidence. What all seeds leave open does not count as kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fanin.dataset import Row
from fanin.errors import FaninError, NotFoundError, ScenarioError
from fanin.experiment import Experiment
from fanin.failures import Failure
from fanin.format.values import Scalar
from fanin.goals import Keep
from fanin.laboratory import Laboratory
from fanin.pool import Advance, Place
from fanin.stats import FEWEST, mean_interval
from fanin.summary import format_interval, format_value
from fanin.sweep import Point

KEEP = ("goodput=90%", "timeout-ratio=1%")
"""Bounds if none are named."""

SEEDS = [1, 2, 3, 4, 5, 6]

_QUICK = 32
"""Up to here a step of the ladder is four times the last, then twice: a run far into collapse takes long."""

_KEYS = {"incast": "senders", "requests": "fan-in", "relay-tree": "senders"}
"""Kind of traffic -> its parameter that is the fan-in."""

State = Literal["keeps", "breaks", "open"]


@dataclass(frozen=True)
class Bound:
    """A bound at one fan-in."""

    keep: Keep
    reference: float
    mean: float
    half: float
    margin: float
    margin_half: float

    @property
    def state(self) -> State:
        """Whether it holds."""
        spread = 0.0 if math.isnan(self.margin_half) else self.margin_half
        if self.margin + spread < 0:
            return "breaks"
        return "keeps" if self.margin - spread >= 0 else "open"

    def shown(self) -> str:
        """What was measured, and the bound."""
        name = self.keep.measure.shown_as
        unit = format_value(name, 0.0).partition(" ")[2]
        value = (
            "unfinished" if math.isinf(self.mean) else f"{format_interval(name, self.mean, self.half)} {unit}".rstrip()
        )
        return f"{self.keep.measure.name} {value} ({self.keep.shown(self.reference).partition(' ')[2]})"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which knows neither NaN nor infinity."""
        numbers = {"mean": self.mean, "half": self.half, "limit": self.keep.limit(self.reference)}
        plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        return {"keep": self.keep.text, **plain, "state": self.state}


@dataclass(frozen=True)
class Judged:
    """What a fan-in came to."""

    fan_in: int
    seeds: int
    bounds: list[Bound]

    @property
    def state(self) -> State:
        """Whether all bounds hold."""
        states = {bound.state for bound in self.bounds}
        return "breaks" if "breaks" in states else "open" if "open" in states else "keeps"

    @property
    def why(self) -> str:
        """The bounds that do not hold."""
        return "; ".join(bound.shown() for bound in self.bounds if bound.state != "keeps")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        bounds = [bound.as_dict() for bound in self.bounds]
        return {"fan_in": self.fan_in, "seeds": self.seeds, "state": self.state, "bounds": bounds}


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
        tried = sorted(self.rows)
        return [self._judge(fan_in, tried[: place + 1]) for place, fan_in in enumerate(tried)]

    def _judge(self, fan_in: int, up_to: list[int]) -> Judged:
        rows = self.rows[fan_in]
        bounds = []
        for keep in self.keeps:
            values = keep.measure.values(rows)
            if np.isnan(values).any():
                raise FaninError(f"{keep.measure.name}: a run with fan-in {fan_in} has no value of it")
            # The best at any smaller fan-in: goodput rises before it collapses.
            means = [float(keep.measure.values(self.rows[each]).mean()) for each in up_to]
            reference = max(means) if keep.measure.more else min(means)
            if np.isinf(values).any():
                bounds.append(Bound(keep, reference, math.inf, math.nan, -math.inf, math.nan))
                continue
            margins = mean_interval(keep.margins(rows, reference))
            bounds.append(Bound(keep, reference, *mean_interval(values), *margins))
        return Judged(fan_in, len(rows), bounds)

    def next(self) -> tuple[int, list[int]] | None:
        """The fan-in and the seeds to run next; nothing if the answer is found."""
        judged = self.judged()
        for each in judged:
            if each.state == "open" and each.seeds < len(self.seeds):
                return each.fan_in, self.seeds[each.seeds :]
        fan_in = self._climb(judged)
        if fan_in is None:
            fan_in = self._halve(judged)
        if fan_in is None:
            fan_in = self._look_between(judged)
        return None if fan_in is None else (fan_in, self.seeds[: max(FEWEST, -(-len(self.seeds) // 2))])

    def _climb(self, judged: list[Judged]) -> int | None:
        """The next rung of the ladder, until one breaks that comes after one that keeps, and one more."""
        known = {each.fan_in: each.state == "keeps" for each in judged}
        seen = [known[rung] for rung in self.ladder if rung in known]
        up_to = next((place for place in range(1, len(seen)) if seen[place - 1] and not seen[place]), len(self.ladder))
        return self.ladder[len(seen)] if len(seen) < min(up_to + 2, len(self.ladder)) else None

    def _halve(self, judged: list[Judged]) -> int | None:
        kept, after = self._edge(judged)
        if kept is None or after is None:
            return None
        low, high = kept.fan_in, after.fan_in
        return (low + high) // 2 if high - low > max(1, int(self.precision * low)) else None

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
            return Found(self.case, None, None, "", so_far, judged, self.error)
        remarks = []
        if kept is None:
            least = judged[0]
            return Found(self.case, None, least.fan_in, least.why, self._remarks(judged, None), judged)
        below = [each.fan_in for each in judged if each.fan_in < kept.fan_in and each.state != "keeps"]
        if below:
            remarks.append(f"not monotone: with {_listed(below)} the bounds are not kept either")
        remarks += self._remarks(judged, after)
        at, why = (None, "") if after is None else (after.fan_in, after.why)
        return Found(self.case, kept.fan_in, at, why, remarks, judged)

    def _remarks(self, judged: list[Judged], after: Judged | None) -> list[str]:
        """What the answer alone does not tell."""
        remarks = []
        above = [] if after is None else [each for each in judged if each.fan_in > after.fan_in]
        if again := [each.fan_in for each in above if each.state == "keeps"]:
            remarks.append(f"not monotone: the bounds are kept again with {_listed(again)}")
        if edge := [each.fan_in for each in judged if each.state == "open"]:
            remarks.append(f"{len(self.seeds)} seeds leave {_listed(edge)} open, which counts as not kept")
        return remarks


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


@dataclass(frozen=True)
class Found:
    """The answer for one case."""

    case: dict[str, Scalar]
    capacity: int | None
    """Largest fan-in that keeps the bounds; ``None`` if none does."""
    breaks_at: int | None
    """The next fan-in that was tried; ``None`` if the largest that may be tried keeps them."""
    why: str
    """What does not hold there."""
    remarks: list[str]
    tried: list[Judged]
    error: str | None = None

    @property
    def runs(self) -> int:
        """Runs that it took."""
        return sum(each.seeds for each in self.tried)

    @property
    def monotone(self) -> bool:
        """Whether the bounds, once broken, stayed so at every larger fan-in that was tried."""
        return not any(remark.startswith("not monotone") for remark in self.remarks)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "case": self.case,
            "capacity": self.capacity,
            "breaks_at": self.breaks_at,
            "why": self.why,
            "monotone": self.monotone,
            "remarks": self.remarks,
            "runs": self.runs,
            "error": self.error,
            "tried": [each.as_dict() for each in self.tried],
        }


def fan_in_path(experiment: Experiment) -> str:
    """The scenario value that is the fan-in, if there is one alone.

    Raises:
        NotFoundError: there is none or there are several; the option that names it is told.

    """
    groups = experiment.resolved()["traffic"]
    found = [f"traffic.{group['name']}.{_KEYS[group['kind']]}" for group in groups if group["kind"] in _KEYS]
    if len(found) == 1:
        return found[0]
    some = f"several fan-ins: {', '.join(found)}" if found else "no traffic of many senders to one receiver"
    raise NotFoundError(f"{experiment.path}: {some}; name the value to search with --over PATH=FIRST..LAST")


def largest_valid(experiment: Experiment, path: str, first: int, last: int, case: dict[str, Scalar]) -> int:
    """The largest fan-in up to ``last`` that the scenario can have: its network may have room for so many senders only.

    Raises:
        ScenarioError: the scenario is not valid with the first one either.

    """

    def valid(fan_in: int) -> bool:
        try:
            experiment.check_settings([*Point(case, experiment.seeds[0]).overrides, (path, str(fan_in))])
        except ScenarioError:
            return False
        return True

    experiment.check_settings([*Point(case, experiment.seeds[0]).overrides, (path, str(first))])
    if valid(last):
        return last
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if valid(middle) else (low, middle)
    return low


def find(
    experiment: Experiment,
    cases: list[dict[str, Scalar]],
    keeps: list[Keep],
    *,
    over: str,
    first: int = 2,
    last: int = 1024,
    seeds: list[int] = SEEDS,
    precision: float = 0.05,
    out: Path | str | None = "results",
    place: Place | None = None,
    advance: Advance = lambda _: None,
) -> list[Found]:
    """Searches the largest fan-in of each case, all of them side by side; runs in the store are found again.

    Args:
        experiment: The scenario; its sweep is left aside.
        cases: Scenario values of each case, such as its scheme.
        keeps: What has to hold.
        over: The scenario value that is the fan-in.
        first: The smallest fan-in.
        last: The largest.
        seeds: At least three; the same for every fan-in and every case.
        precision: The gap that is left between what keeps the bounds and what breaks them, as a share of the answer.
        out: Results folder; ``None`` keeps everything in memory.
        place: Where to run them, if not on threads.
        advance: Called after every simulation.

    Raises:
        ScenarioError: the scenario is not valid with a case.
        ResultsError: results cannot be written.

    """
    laboratory = Laboratory(experiment, out, place=place, advance=advance)
    searches = [
        Search(case, keeps, first, largest_valid(laboratory.experiment, over, first, last, case), seeds, precision)
        for case in cases
    ]
    while wanted := [(search, step) for search in searches if (step := _step(search)) is not None]:
        points = [Point({**search.case, over: fan_in}, seed) for search, (fan_in, some) in wanted for seed in some]
        rows = iter(laboratory.rows(points))
        for search, (fan_in, some) in wanted:
            mine = [next(rows) for _ in some]
            failed = [row for row in mine if isinstance(row, Failure)]
            if failed:
                search.error = f"fan-in {fan_in}, seed {failed[0].seed}: {failed[0].error}"
            else:
                search.rows.setdefault(fan_in, []).extend(row for row in mine if not isinstance(row, Failure))
    return [search.found() for search in searches]


def _step(search: Search) -> tuple[int, list[int]] | None:
    return None if search.error is not None else search.next()
