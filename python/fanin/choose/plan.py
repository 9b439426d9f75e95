"""How thoroughly advice looks at a scenario, and about how long that takes: less so where one run is slow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from fanin.choose.comparison import FEW_SEEDS
from fanin.numbers.stats import FEWEST

_CAPACITIES = 3

_RUNS_OF_A_SEARCH = 40
"""A search for a capacity takes about so many."""

_FURTHER = 16
"""Capacities are searched up to so many times the scenario's own fan-in, but no further than :data:`_FAR`."""

_FAR = 1024
"""More answers at once than one port is asked to take."""

_AT_LEAST = 4
"""So many times its own fan-in is searched in any case."""

_OTHER_HOSTS = 5
"""The scenario and a remedy are tried on about so many other hosts."""

_VARIED = 3
"""About so many are tried there: the scenario as it is, a remedy and the ideal."""


def furthest(senders: int) -> int:
    """Up to how many senders capacities are searched for a scenario with so many."""
    return max(_AT_LEAST * senders, min(_FURTHER * senders, _FAR))


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
    search_s: float
    """How long a search takes for a remedy whose runs take as long as the scenario's."""
    is_tight: bool = False
    """Whether there is no time for everything: what is hopeless with the first seed is left out of the others."""

    @property
    def runs(self) -> int:
        """How many runs the ranking and the other hosts take, about."""
        return (len(self.work) + _VARIED * _OTHER_HOSTS) * len(self.seeds)

    @property
    def seconds(self) -> float:
        """How long everything takes, about: searches have what time the rest leaves, unless they are asked for."""
        searched = (self.capacities + 1) * self.search_s * self._usual if self.capacities else 0.0
        least = self._least_s
        return least + (searched if self.are_searches_asked else min(searched, max(0.0, self.within_s - least)))

    @property
    def _least_s(self) -> float:
        """How long the ranking and the other hosts take, about."""
        return (sum(self.work) + _VARIED * _OTHER_HOSTS * self._usual) * len(self.seeds) * self.run_s

    @property
    def _usual(self) -> float:
        return sum(self.work) / len(self.work)

    def searches(self, work: list[float], begun_s: float) -> int:
        """For how many cases there is time to search how far they carry.

        Args:
            work: How many times longer a run of each case is than one of the scenario, the most important first.
            begun_s: How long everything has taken so far.

        """
        if self.are_searches_asked:
            return len(work)
        end = begun_s + _VARIED * _OTHER_HOSTS * self._usual * len(self.seeds) * self.run_s
        for place, each in enumerate(work):
            end += self.search_s * each
            if end > self.within_s:
                return place
        return len(work)

    def having_searched(self, work: list[float], took_s: float) -> Plan:
        """The plan once it is known how long searches for some cases took together; the same work as above."""
        return replace(self, search_s=took_s / sum(work))

    def knowing(self, work: list[float], took_s: float = 0.0) -> Plan:
        """The plan once it is known how long runs of the remedies take: a shorter one if there is no time for this.

        Args:
            work: How many times longer a run of each takes than one of the scenario.
            took_s: How long one run of each took together; less than was expected if some were stored.

        """
        run_s = max(self.run_s, took_s / sum(work))
        known = replace(self, work=work, run_s=run_s, search_s=self.search_s * run_s / self.run_s)
        if known._least_s <= self.within_s:
            return known
        return replace(known, seeds=self.seeds if self.are_seeds_asked else self.seeds[:FEWEST], is_tight=True)


def planned(
    remedies: int,
    seeds: list[int] | None,
    capacities: int | None,
    *,
    senders: int,
    run_s: float,
    slots: int,
    within_s: float,
) -> Plan:
    """The most thorough plan for which there is time, or the shortest.

    Args:
        remedies: How many there are, with the scenario as it is.
        seeds: The seeds that are asked for; ``None`` leaves them to the plan.
        capacities: For how many of the remedies to search how far they carry; the same.
        senders: How many the scenario has.
        run_s: How long one run of the scenario took.
        slots: How many runs are made at once.
        within_s: How long all may take.

    """
    alike = [1.0] * remedies
    searched = _CAPACITIES if capacities is None else capacities
    each_s = run_s / slots
    # Runs take longer with more senders, and a search may end anywhere between a few and the most.
    search_s = _RUNS_OF_A_SEARCH * math.sqrt(furthest(senders) / senders) * each_s if senders else 0.0
    thorough = Plan(
        seeds or FEW_SEEDS, searched, each_s, within_s, alike, seeds is not None, capacities is not None, search_s
    )
    return thorough.knowing(alike)
