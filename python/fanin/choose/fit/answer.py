"""The result of a search: the best settings, their ablation, and sentences that never hold, alone or together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fanin.choose.fit.bench import Found, Tried
from fanin.choose.fit.space import Space, Values, key
from fanin.scenario.format.values import Scalar


@dataclass(frozen=True)
class Change:
    """The winner with one parameter changed."""

    path: str
    value: Scalar
    lost: list[str]
    """Sentences that hold with the winner but not with this value."""
    gained: list[str]


@dataclass(frozen=True)
class Confirmed:
    """A setting run with seeds that the search has not used."""

    label: str
    """What it is: the file's own values, the winner, another setting, or a sensitivity."""
    tried: Tried


@dataclass(frozen=True)
class Pair:
    """Two sentences, each of which holds under some setting."""

    one: str
    other: str
    settings: int
    """The number of settings tried under which both hold."""
    best: Tried | None
    """Of these the one with most sentences, if both are of the same figure."""


@dataclass(frozen=True)
class Fitted:
    """The result of a search."""

    space: Space
    sentences: dict[str, str]
    """Sentence -> its words."""
    declared: dict[str, str]
    """Sentences that their files declare as impossible, and why."""
    tried: list[Tried]
    """Every admissible setting that was tried, in order."""
    front: list[Tried]
    """The Pareto front: settings whose sentences no other setting holds together with further ones."""
    ablation: list[Change]
    confirmed: list[Confirmed]
    seeds: list[int]
    """Seeds of the search."""
    fresh: list[int]
    """Seeds of the confirmation."""

    @property
    def winner(self) -> Tried:
        """The setting under which most sentences hold; among equals, the one closest to the other sentences."""
        return self.front[0]

    @property
    def exhaustive(self) -> bool:
        """Whether every admissible setting was tried."""
        return len(self.tried) == self.space.size

    @property
    def not_found(self) -> dict[str, tuple[Tried, Found]]:
        """Sentences that hold under no setting, with the closest setting, if any yields a number."""
        found: dict[str, tuple[Tried, Found]] = {}
        for name in self.sentences:
            each = [(tried, tried.found[name]) for tried in self.tried if name in tried.found]
            if each and not any(seen.holds for _, seen in each):
                found[name] = min(each, key=lambda pair: pair[1].distance)
        return found

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two sentences that each hold under some setting; first those that seldom hold together."""
        holding = [(tried, tried.holding) for tried in self.tried]
        possible = [name for name in self.sentences if any(name in held for _, held in holding)]
        names = list(self.sentences)
        found = []
        for one, other in itertools.combinations(possible, 2):
            both = [tried for tried, held in holding if one in held and other in held]
            together = one.rpartition("/")[0] == other.rpartition("/")[0]
            found.append(Pair(one, other, len(both), best(both, names) if both and together else None))
        return sorted(found, key=lambda pair: pair.settings)

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Pairs of sentences that each hold under some setting, but never both under the same one."""
        return [(pair.one, pair.other) for pair in self.pairs if not pair.settings]

    def carried_by(self, sentence: str) -> list[str]:
        """The parameters of the winner that a sentence depends on."""
        return list(dict.fromkeys(change.path for change in self.ablation if sentence in change.lost))


def best(tried: Sequence[Tried], sentences: Sequence[str]) -> Tried:
    """The setting with most sentences, then the closest, then the first."""
    return max(tried, key=lambda each: each.score(sentences))


def front(tried: Sequence[Tried], sentences: Sequence[str]) -> list[Tried]:
    """The Pareto set: settings whose sentences are not all kept by another one, the best first.

    Settings with the same sentences are represented by the closest one.
    """
    by_holding: dict[frozenset[str], Tried] = {}
    for each in sorted(tried, key=lambda each: -each.score(sentences)):
        by_holding.setdefault(each.holding, each)
    return [each for holding, each in by_holding.items() if not any(holding < other for other in by_holding)]


def cover(found: Sequence[Tried]) -> list[Tried]:
    """The winner, and as few settings of the front as needed for each sentence that can hold to hold under one."""
    chosen, reached = [found[0]], set(found[0].holding)
    wanted = frozenset().union(*(each.holding for each in found))
    while reached < wanted:
        more = max(found, key=lambda each: len(each.holding - reached))
        chosen.append(more)
        reached |= more.holding
    return chosen


def ablation(winner: Tried, space: Space, tried: Sequence[Tried]) -> list[Change]:
    """The effect of every other value of each parameter; all neighbours must be among the settings tried."""
    known: Mapping[str, Tried] = {key(each.values): each for each in tried}
    changes = []
    for path, setting in space.neighbours(winner.values):
        other = known[key(setting)]
        lost, gained = sorted(winner.holding - other.holding), sorted(other.holding - winner.holding)
        changes.append(Change(path, setting[path], lost, gained))
    return changes


def missing(setting: Values, space: Space, tried: Sequence[Tried]) -> list[Values]:
    """The neighbours of a setting that were not tried yet."""
    known = {key(each.values) for each in tried}
    return [other for _, other in space.neighbours(setting) if key(other) not in known]
