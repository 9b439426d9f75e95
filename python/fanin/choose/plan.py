"""What advice on a scenario runs, and about how long that takes: fewer seeds and capacities where one run is slow."""

from __future__ import annotations

from dataclasses import dataclass

SEEDS = [1, 2, 3, 4, 5]
"""Enough for intervals, and for an answer in about a minute."""

_CAPACITIES = 3

_FEWEST_SEEDS = 3
"""With fewer there is no telling chance from difference."""

_RUNS_OF_A_SEARCH = 40
"""A search for a capacity takes about so many."""

_OTHER_HOSTS = 5
"""The scenario and a remedy are tried on about so many other hosts each."""


@dataclass(frozen=True)
class Plan:
    """How thoroughly to look."""

    seeds: list[int]
    capacities: int
    """For how many of the best remedies to search how far they carry."""
    runs: int
    """How many runs that takes, about."""
    seconds: float
    """How long they take, about."""
    is_tight: bool = False
    """Whether there is no time for everything: what is hopeless with the first seed is left out of the others."""


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
    for place, (some, searched) in enumerate(_choices(seeds, capacities)):
        runs = (remedies + 2 * _OTHER_HOSTS) * len(some) + ((searched + 1) * _RUNS_OF_A_SEARCH if searched else 0)
        plans.append(Plan(some, searched, runs, runs * run_s / slots, is_tight=place > 0))
    return next((each for each in plans if each.seconds <= within_s), plans[-1])


def _choices(seeds: list[int] | None, capacities: int | None) -> list[tuple[list[int], int]]:
    """The most thorough first."""
    few = SEEDS[:_FEWEST_SEEDS] if seeds is None else seeds
    searched = [_CAPACITIES, 1, 0] if capacities is None else [capacities]
    return [(seeds or SEEDS, searched[0]), *((few, each) for each in searched)]
