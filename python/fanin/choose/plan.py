"""How thoroughly advice looks at a scenario, and about how long that takes: less so where one run is slow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fanin.choose.comparison import FEWEST_AGREEING

SEEDS = list(range(1, FEWEST_AGREEING + 1))
"""Enough for intervals and for the sign test, and for an answer in about a minute."""

_CAPACITIES = 3

_FEWEST_SEEDS = 3
"""With fewer there is no telling chance from difference."""

_RUNS_OF_A_SEARCH = 40
"""A search for a capacity takes about so many."""

_OTHER_HOSTS = 5
"""The scenario and a remedy are tried on about so many other hosts."""


@dataclass(frozen=True)
class Plan:
    """How thoroughly to look."""

    seeds: list[int]
    capacities: int
    """For how many of the best remedies to search how far they carry."""
    run_s: float
    """How long one run of the scenario takes, over how many are made at once."""
    runs: int
    """How many runs the ranking and the other hosts take, about."""
    seconds: float
    """How long these take, about."""
    searches_within_s: float
    """When the last search for a capacity has to end, from the beginning."""
    is_tight: bool = False
    """Whether there is no time for everything: what is hopeless with the first seed is left out of the others."""

    def searches(self, work: list[float], begun_s: float) -> int:
        """For how many cases there is time to search how far they carry: none, or at least two.

        Args:
            work: How many times longer a run of each case is than one of the scenario, the most important first.
            begun_s: How long everything has taken so far.

        """
        end = begun_s + _OTHER_HOSTS * len(self.seeds) * sum(work[:2]) * self.run_s
        for place, each in enumerate(work):
            end += _RUNS_OF_A_SEARCH * each * self.run_s
            if end > self.searches_within_s:
                # One capacity alone compares with nothing.
                return place if place > 1 else 0
        return len(work)


def planned(
    remedies: int, seeds: list[int] | None, capacities: int | None, *, run_s: float, slots: int, within_s: float
) -> Plan:
    """The most thorough plan for which there is time, or the shortest.

    Args:
        remedies: How many there are, with the scenario as it is.
        seeds: The seeds that are asked for, which are not saved; ``None`` leaves them to the plan.
        capacities: For how many of the remedies to search how far they carry; the same.
        run_s: How long one run of the scenario took.
        slots: How many runs are made at once.
        within_s: How long all may take.

    """
    plans = []
    for some, is_tight in ((seeds or SEEDS, False), (seeds or SEEDS[:_FEWEST_SEEDS], True)):
        runs = (remedies + 2 * _OTHER_HOSTS) * len(some)
        searched, end_s = (_CAPACITIES, within_s) if capacities is None else (capacities, math.inf)
        plans.append(Plan(some, searched, run_s / slots, runs, runs * run_s / slots, end_s, is_tight))
    return next((each for each in plans if each.seconds <= within_s), plans[-1])
