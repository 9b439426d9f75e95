"""How thoroughly advice looks at a scenario, and about how long that takes: less so where one run is slow."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fanin.choose.advice import PRECISION
from fanin.choose.capacity.search import Search
from fanin.choose.comparison import FEW_SEEDS

_MAX_CAPACITY_SEARCHES = 3

MIN_FAN_IN = 2
"""Capacities are searched from so many senders on."""

_MAX_FAN_IN_FACTOR = 16
"""Capacities are searched up to so many times the scenario's own fan-in, but no further than :data:`_MAX_FAN_IN`."""

_MAX_FAN_IN = 1024
"""More answers at once than one port is asked to take."""

_MIN_FAN_IN_FACTOR = 4
"""So many times its own fan-in is searched in any case."""

_TRIED_ON_OTHER_HOSTS = 4
"""About so many are tried on other hosts: the scenario as it is, two fixes that are about as good, and the ideal."""

_OVERHEAD_OF_RUN_S = 0.005
"""To prepare, store and read a run takes about so long, one after the other, and the first estimate has no better."""


def furthest(senders: int) -> int:
    """Up to how many senders capacities are searched for a scenario with so many."""
    return max(_MIN_FAN_IN_FACTOR * senders, min(_MAX_FAN_IN_FACTOR * senders, _MAX_FAN_IN))


@dataclass(frozen=True)
class Ahead:
    """What is still to be done, about."""

    runs: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Ahead) -> Ahead:
        """Both, one after the other."""
        return Ahead(self.runs + other.runs, self.seconds + other.seconds)


@dataclass(frozen=True)
class Plan:
    """How thoroughly to look."""

    seeds: list[int]
    capacities: int
    """For how many of the best fixes to search how far they carry."""
    run_s: float
    """How long the engine takes for a run of the scenario, over how many are made at once."""
    within_s: float
    """How long all may take that is still to be done when it is made."""
    work: list[float]
    """How many times longer a run of each fix takes than one of the scenario, which is one of them."""
    hosts: int
    """On how many other hosts the scenario and fixes are tried."""
    senders: int
    """How many the scenario has; 0 if there is no capacity to search."""
    last: int
    """Up to how many a capacity is searched."""
    are_seeds_asked: bool
    """Whether the seeds are asked for, which are not saved."""
    are_searches_asked: bool
    """Whether searches for capacities are asked for; the same."""
    slower: float = 1.0
    """How many times longer runs take than the first run said."""
    harder: float = 1.0
    """How many times longer searches take than is expected of them."""
    is_tight: bool = False
    """Whether there is no time for everything: then what can be deployed comes first, and what is hopeless has one
    seed."""

    def _ahead(self, runs: float, work: float) -> Ahead:
        """So many runs, which take so many times longer together than one of the scenario."""
        return Ahead(runs, self.slower * (runs * _OVERHEAD_OF_RUN_S + work * self.run_s))

    def ranked(self, seeds: int, fixes: int | None = None) -> Ahead:
        """The fixes, or so many of them, with so many seeds."""
        runs = seeds * (len(self.work) if fixes is None else fixes)
        return self._ahead(runs, runs * self._usual)

    def varied(self, some: int = _TRIED_ON_OTHER_HOSTS, seeds: int | None = None) -> Ahead:
        """So many of them on other hosts, with all seeds or so many."""
        runs = some * self.hosts * (len(self.seeds) if seeds is None else seeds)
        return self._ahead(runs, runs * self._usual)

    def search(self, work: float) -> Ahead:
        """A search for how far a fix carries whose runs take so many times longer than those of the scenario."""
        search = Search({}, [], MIN_FAN_IN, self.last, self.seeds, PRECISION)
        runs, senders = search.expected() if self.senders else (0.0, 0.0)
        ahead = self._ahead(runs, work * senders / max(1, self.senders))
        return replace(ahead, seconds=self.harder * ahead.seconds)

    def searched(self, begun_s: float = 0.0) -> Ahead:
        """The searches, for which there is the time that the rest leaves, unless they are asked for."""
        one = self.search(self._usual)
        wanted = (self.capacities + 1) * one.seconds if self.capacities else 0.0
        room = max(0.0, self.within_s - begun_s)
        seconds = wanted if self.are_searches_asked else min(wanted, room)
        return Ahead(one.runs * seconds / one.seconds if seconds else 0.0, seconds)

    @property
    def afterwards(self) -> Ahead:
        """What comes after the ranking."""
        return self.varied() + self.searched(self._least.seconds)

    @property
    def whole(self) -> Ahead:
        """Everything."""
        return self.in_time(self.ranked(len(self.seeds)) + self.afterwards)

    @property
    def is_asked(self) -> bool:
        """Whether it takes as long as it takes."""
        return self.are_seeds_asked or self.are_searches_asked

    def in_time(self, ahead: Ahead, begun_s: float = 0.0) -> Ahead:
        """As much of what is still to be done as there is time for, after everything has taken so long."""
        room = max(0.0, self.within_s - begun_s)
        if self.is_asked or ahead.seconds <= room:
            return ahead
        return Ahead(ahead.runs * room / ahead.seconds, room)

    @property
    def _least(self) -> Ahead:
        """The ranking and the other hosts."""
        return self.ranked(len(self.seeds)) + self.varied()

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
        end = begun_s + self.varied().seconds
        for place, each in enumerate(work):
            end += self.search(each).seconds
            if end > self.within_s:
                return place
        return len(work)

    def knowing(self, work: list[float]) -> Plan:
        """The plan once it is known how long runs of the fixes take, and so whether there is time for all.

        Args:
            work: How many times longer a run of each takes than one of the scenario.

        """
        known = replace(self, work=work)
        return replace(known, is_tight=known._least.seconds > self.within_s)


def planned(
    fixes: int,
    seeds: list[int] | None,
    capacities: int | None,
    *,
    hosts: int,
    reach: tuple[int, int],
    run_s: float,
    slots: int,
    within_s: float,
    is_bound: bool = False,
) -> Plan:
    """How everything is done, and whether there is time for that.

    Args:
        fixes: How many there are, with the scenario as it is.
        seeds: The seeds that are asked for; ``None`` takes those that can decide.
        capacities: For how many of the fixes to search how far they carry; the same.
        hosts: On how many other hosts some of them are tried.
        reach: How many senders the scenario has, and up to how many a capacity is searched; zeros if none is.
        run_s: How long one run of the scenario took.
        slots: How many runs are made at once.
        within_s: How long all may take.
        is_bound: Whether that holds also for the seeds and searches that are asked for.

    """
    alike = [1.0] * fixes
    searched = (_MAX_CAPACITY_SEARCHES if capacities is None else capacities) if reach[0] else 0
    thorough = Plan(
        seeds or FEW_SEEDS,
        searched,
        run_s / slots,
        within_s,
        alike,
        hosts,
        *reach,
        are_seeds_asked=seeds is not None and not is_bound,
        are_searches_asked=capacities is not None and not is_bound,
    )
    return thorough.knowing(alike)
