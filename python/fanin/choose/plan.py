"""How thoroughly advice looks at a scenario, and about how long that takes: less so where one run is slow."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fanin.choose.comparison import FEW_SEEDS
from fanin.numbers.stats import FEWEST

_CAPACITIES = 3

_RUNS_OF_A_SEARCH = 40
"""A search for a capacity takes about so many."""

_LARGER = 2.0
"""The runs of a search take about so many times longer than with the scenario's own senders, as most have more."""

_OTHER_HOSTS = 5
"""The scenario and a remedy are tried on about so many other hosts."""

_VARIED = 3
"""About so many are tried there: the scenario as it is, a remedy and the ideal."""


@dataclass(frozen=True)
class Plan:
    """How thoroughly to look."""

    seeds: list[int]
    capacities: int
    """For how many of the best remedies to search how far they carry."""
    run_s: float
    """How long one run of the scenario takes, over how many are made at once."""
    within_s: float
    """How long all may take."""
    work: list[float]
    """How many times longer a run of each remedy takes than one of the scenario, which is one of them."""
    are_seeds_asked: bool
    """Whether the seeds are asked for, which are not saved."""
    are_searches_asked: bool
    """Whether searches for capacities are asked for; the same."""
    is_tight: bool = False
    """Whether there is no time for everything: what is hopeless with the first seed is left out of the others."""

    @property
    def runs(self) -> int:
        """How many runs the ranking and the other hosts take, about."""
        return (len(self.work) + _VARIED * _OTHER_HOSTS) * len(self.seeds)

    @property
    def seconds(self) -> float:
        """How long everything takes, about: searches have what time the rest leaves, unless they are asked for."""
        searched = (self.capacities + 1) * self._search_s(self._usual) if self.capacities else 0.0
        least = self._least_s
        return least + (searched if self.are_searches_asked else min(searched, max(0.0, self.within_s - least)))

    @property
    def _least_s(self) -> float:
        """How long the ranking and the other hosts take, about."""
        return (sum(self.work) + _VARIED * _OTHER_HOSTS * self._usual) * len(self.seeds) * self.run_s

    @property
    def _usual(self) -> float:
        return sum(self.work) / len(self.work)

    def _search_s(self, work: float) -> float:
        return _RUNS_OF_A_SEARCH * _LARGER * work * self.run_s

    def searches(self, work: list[float], begun_s: float) -> int:
        """For how many cases there is time to search how far they carry: none, or at least two.

        Args:
            work: How many times longer a run of each case is than one of the scenario, the most important first.
            begun_s: How long everything has taken so far.

        """
        if self.are_searches_asked:
            return len(work)
        end = begun_s + _OTHER_HOSTS * len(self.seeds) * sum(work[:_VARIED]) * self.run_s
        for place, each in enumerate(work):
            end += self._search_s(each)
            if end > self.within_s:
                # One capacity alone compares with nothing.
                return place if place > 1 else 0
        return len(work)

    def knowing(self, work: list[float], took_s: float = 0.0) -> Plan:
        """The plan once it is known how long runs of the remedies take: a shorter one if there is no time for this.

        Args:
            work: How many times longer a run of each takes than one of the scenario.
            took_s: How long one run of each took together; less than was expected if some were stored.

        """
        known = replace(self, work=work, run_s=max(self.run_s, took_s / sum(work)))
        if known._least_s <= self.within_s:
            return known
        return replace(known, seeds=self.seeds if self.are_seeds_asked else self.seeds[:FEWEST], is_tight=True)


def planned(
    remedies: int, seeds: list[int] | None, capacities: int | None, *, run_s: float, slots: int, within_s: float
) -> Plan:
    """The most thorough plan for which there is time, or the shortest.

    Args:
        remedies: How many there are, with the scenario as it is.
        seeds: The seeds that are asked for; ``None`` leaves them to the plan.
        capacities: For how many of the remedies to search how far they carry; the same.
        run_s: How long one run of the scenario took.
        slots: How many runs are made at once.
        within_s: How long all may take.

    """
    alike = [1.0] * remedies
    searched = _CAPACITIES if capacities is None else capacities
    thorough = Plan(
        seeds or FEW_SEEDS, searched, run_s / slots, within_s, alike, seeds is not None, capacities is not None
    )
    return thorough.knowing(alike)
