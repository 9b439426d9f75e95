"""A sentence of a paper with its cases, the basis of its verdict in words, and the number of sentences by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from fanin.claims import verdicts
from fanin.claims.verdicts import BY_BASIS, EDGE, VERDICTS, Outcome, Verdict, names
from fanin.numbers.stats import ends

if TYPE_CHECKING:
    from fanin.scenario.format.claim import Basis


State = Literal["complete", "partial", "quick", "stale", "never run", "invalid"]

MARKS: dict[State, str] = {"stale": " (stale)", "quick": " (quick)", "partial": " (partial)"}
"""State of an experiment -> suffix of its verdicts."""

_MAX_LISTED_SETTINGS = 4
"""How many settings under which a sentence fails are listed by name."""

_UNDECIDED_OUTCOMES = ("not run", "not judged")

_VERDICTS_STRONGEST_FIRST = sorted(
    names(VERDICTS), key=lambda name: (name in ("never", "cannot be"), name == "not run")
)
"""Verdicts on a sentence about all experiments, the strongest first: what fails in one fails whether others have run
or not, and it cannot hold before all have."""


@dataclass(frozen=True)
class Shown:
    """Numbers of a case as text."""

    published: str
    value: str
    interval: str
    accept: str
    quantity: str = ""
    """Description of the number, such as a mean, a ratio or Kendall's tau; empty for a setting that a search tried."""


class Judged(Protocol):
    """How a sentence came out under one setting."""

    @property
    def basis(self) -> Basis:
        """The basis of the setting."""

    @property
    def outcome(self) -> str:
        """The outcome."""

    @property
    def distance(self) -> float:
        """How far the number is outside the accepted range, from 0 (inside) to 1."""

    @property
    def at_edge(self) -> bool:
        """Whether the number is so close to a bound of the accepted range that the outcome is in doubt."""

    @property
    def shown(self) -> Shown:
        """Its numbers."""


class Setting(Judged, Protocol):
    """A sentence under one setting: a case of its file, or a setting that a search tried."""

    @property
    def setting(self) -> str:
        """The setting in words."""

    @property
    def environment(self) -> str:
        """The environment in which it ran."""


_AnyJudged = TypeVar("_AnyJudged", bound=Judged)


def rests_on(verdict: Verdict, settings: Sequence[Setting], cannot_be: str, tried: int = 0) -> str:
    """The basis of a verdict in words: the reading with its ablation, the closest setting, or the arithmetic.

    Args:
        verdict: The verdict.
        settings: The sentence's cases, and settings from searches.
        cannot_be: Why the sentence is impossible, if its file declares that.
        tried: Number of settings tried by searches, in addition to the cases.

    """
    counted = _counted(settings)
    if verdict == "cannot be":
        return cannot_be
    if verdict in ("as printed", "not run"):
        return ""
    decisive = deciding(verdict, settings)
    assert decisive is not None
    if verdict == "in its environment":
        return decisive.environment
    if verdict == "under a reading":
        return _reading(decisive, counted, tried)
    return decisive.setting if verdict == "direction only" else _closest(decisive, counted, tried)


def deciding(verdict: Verdict, settings: Sequence[_AnyJudged]) -> _AnyJudged | None:
    """The setting on which a verdict rests; ``None`` for a verdict that no run has given.

    Args:
        verdict: The verdict.
        settings: The sentence's cases, and settings from searches.

    """
    counted = _counted(settings)
    if verdict in ("cannot be", "not run"):
        return None
    if verdict == "never":
        return min(counted, key=lambda each: each.distance)
    if verdict == "direction only":
        return next(each for each in counted if each.outcome == "direction only")
    basis = next(basis for basis, found in BY_BASIS if found == verdict)
    holding = [each for each in counted if (each.basis, each.outcome) == (basis, "reproduced")]
    # With a case that is not at the edge, the verdict is not either. Of a search's setting it is not known.
    firm = [each for each in holding if not each.at_edge and not isinstance(each, Searched)]
    return firm[0] if holding[0].at_edge and firm else holding[0]


def _counted(settings: Sequence[_AnyJudged]) -> list[_AnyJudged]:
    return [each for each in settings if each.basis != "sensitivity" and each.outcome not in _UNDECIDED_OUTCOMES]


def _reading(first: Setting, counted: Sequence[Setting], tried: int) -> str:
    """The first reading that reproduces the sentence, and the settings that do not; equal ones count once."""
    holds = dict.fromkeys(_named(each) for each in counted if each.outcome == "reproduced")
    fails = list(dict.fromkeys(_named(each) for each in counted if each.outcome != "reproduced"))
    named = _named(first)
    if not fails:
        return f"{named}; {_tried(tried)}" if tried else named
    listed = ", ".join(f'"{each}"' for each in fails[:_MAX_LISTED_SETTINGS])
    more = f" and {len(fails) - _MAX_LISTED_SETTINGS} more" if len(fails) > _MAX_LISTED_SETTINGS else ""
    holding = f"holds in {len(holds)} of {len(holds) + len(fails)} settings, not with {listed}{more}"
    return f"{named}; {holding}" + (f"; {_tried(tried)}" if tried else "")


def _named(setting: Setting) -> str:
    return setting.setting or "the experiment's own values"


def _tried(tried: int) -> str:
    return f"a search tried {tried} setting{'s' if tried != 1 else ''}"


def _closest(closest: Setting, counted: Sequence[Setting], tried: int) -> str:
    """The number of settings tried, and the closest one."""
    of = tried + sum(not isinstance(each, Searched) for each in counted)
    where = f" ({closest.setting})" if closest.setting else ""
    nothing = f"; its 95 % interval, {closest.shown.interval}, includes zero" if closest.distance == 0 else ""
    return (
        f"none of {of} setting{'s' if of != 1 else ''}; closest {closest.shown.value}{where}, "
        f"accepted {closest.shown.accept}{nothing}"
    )


@dataclass(frozen=True)
class Searched:
    """A sentence under a setting that ``fanin fit`` tried, from its record."""

    setting: str
    outcome: str
    distance: float
    shown: Shown
    environment: str = ""
    basis: Basis = "reading"
    at_edge: bool = False


@dataclass(frozen=True)
class Entry:
    """A case of a claim: the claim under one setting, with its outcome."""

    experiment: str
    paper: str
    figure: str
    claim: str
    says: str
    published: float | str | None
    ours: float | None
    interval: tuple[float | None, float | None]
    outcome: Outcome
    reason: str
    shown: Shown
    """The same numbers as text."""
    state: State
    """State of the experiment: outcomes of a quick look or of an old engine are provisional."""
    command: str
    """The command that runs it."""
    reading: str = ""
    """The reading of the paper under which it is judged, if there are several."""
    note: str = ""
    added: str = ""
    """The results that were known when the claim, its range or its reading was written; usually empty."""
    basis: Basis = "reading"
    """The basis of the setting."""
    environment: str = ""
    """The environment in which it ran."""
    distance: float = 1.0
    """How far the number is outside the accepted range, from 0 (inside) to 1."""
    at_edge: bool = False
    """Whether the number is so close to a bound of the accepted range that the outcome is in doubt."""

    @property
    def setting(self) -> str:
        """The setting in words."""
        return self.reading

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.experiment}/{self.claim}"

    @property
    def marked(self) -> str:
        """The outcome, marked if it is at the edge, provisional or stale."""
        if self.outcome == "not run":
            return self.outcome
        return f"{self.outcome}{EDGE if self.at_edge else ''}{MARKS.get(self.state, '')}"

    def as_dict(self) -> dict[str, Any]:
        """The claim for ``--json``."""
        return {
            "id": self.id,
            "says": self.says,
            "published": self.published,
            "ours": self.ours,
            "interval": ends(*self.interval),
            "outcome": self.outcome,
            "basis": self.basis,
            "environment": self.environment,
            "distance": self.distance,
            "at_edge": self.at_edge,
            "reason": self.reason,
            "paper": self.paper,
            "figure": self.figure,
            "experiment": self.experiment,
            "reading": self.reading,
            "note": self.note,
            "added": self.added,
            "number": self.shown.quantity,
            "state": self.state,
            "command": self.command,
        }

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Entry:
        """The reverse of :meth:`as_dict`."""
        low, high = kept["interval"]
        return cls(**{**kept, "interval": (low, high), "shown": Shown(**kept["shown"])})


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper: its verdict, and below it its cases, the main one first."""

    claim: str
    says: str
    entries: list[Entry]
    same_as: str = ""
    """The same sentence in another experiment, where it is counted."""
    half_of: str = ""
    """The claim of the same experiment that has the rest of the sentence; it is counted, and judged with this one."""
    cannot_be: str = ""
    """Why no setting can show it: arithmetic, or another sentence of the paper."""
    repeats: list[Entry] = field(default_factory=list)
    """Cases of the same sentence in other experiments; they count for its verdict."""
    searched: list[Searched] = field(default_factory=list)
    """The results of searches over what the paper leaves open."""
    tried: int = 0
    """Number of settings tried by these searches."""
    everywhere: bool = False
    """Whether it speaks of all experiments, and so holds only if it does in each one that judges it."""

    @property
    def main(self) -> Entry:
        """The main case."""
        return self.entries[0]

    @cached_property
    def settings(self) -> list[Setting]:
        """All cases, and the settings from searches; those of other experiments last.

        Of a sentence about all experiments they are those of the experiment with the weakest verdict.
        If other experiments judge the sentence too, every case names its own, as a setting can hold in one and fail in
        another.
        """
        if not self.repeats:
            return [*self.entries, *self.searched]
        own, others = ([_placed(each) for each in cases] for cases in (self.entries, self.repeats))
        if self.everywhere:
            places: list[list[Setting]] = [[*own, *self.searched], *_by_experiment(others)]
            judging = [cases for cases in places if any(each.basis != "sensitivity" for each in cases)]
            return max(judging or places, key=lambda cases: _VERDICTS_STRONGEST_FIRST.index(_verdict(cases)))
        return [*own, *self.searched, *others]

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.main.experiment}/{self.claim}"

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the sentence."""
        return _verdict(self.settings, self.cannot_be)

    @cached_property
    def decides(self) -> int:
        """Which case's numbers stand for the sentence: that on which its verdict rests, if it is one of its own."""
        found = deciding(self.verdict, self.settings)
        ids = [entry.id for entry in self.entries]
        return ids.index(found.id) if isinstance(found, Entry) and found.id in ids else 0

    @property
    def marked(self) -> str:
        """The verdict, marked if it is at the edge, provisional or stale."""
        timeless = self.verdict in ("not run", "cannot be")
        return self.verdict if timeless else f"{self.said}{MARKS.get(self.main.state, '')}"

    @property
    def at_edge(self) -> bool:
        """Whether the verdict rests on cases at the edge."""
        if self.verdict not in verdicts.REPRODUCED:
            return verdicts.at_edge(self.verdict, self.settings)
        decisive = deciding(self.verdict, self.settings)
        return decisive is not None and decisive.at_edge

    @property
    def said(self) -> str:
        """The verdict, marked if it is at the edge."""
        return f"{self.verdict}{EDGE if self.at_edge else ''}"

    @property
    def rests_on(self) -> str:
        """The basis of the verdict, in words."""
        return rests_on(self.verdict, self.settings, self.cannot_be, self.tried)

    @property
    def late(self) -> str:
        """The results that were known when the case on which the verdict rests was written; usually empty.

        Settings from searches are judged by the terms of the main case.
        """
        decisive = deciding(self.verdict, self.settings)
        return decisive.added if isinstance(decisive, Entry) else self.main.added

    @property
    def contradiction(self) -> str:
        """A warning if a case reproduces what the file declares as impossible; usually empty."""
        if not self.cannot_be or self.verdict == "cannot be":
            return ""
        return f"{self.id} is declared as impossible, but is reproduced {self.verdict}: {self.cannot_be}"

    def as_dict(self) -> dict[str, Any]:
        """The sentence for ``--json``: its verdict, the numbers of its main case, and all cases."""
        cases = [entry.as_dict() for entry in self.entries]
        own: dict[str, Any] = {"verdict": self.verdict, "at_edge": self.at_edge}
        own |= {"rests_on": self.rests_on, "settings_tried": self.tried}
        about = {"id": self.id, "same_as": self.same_as, "half_of": self.half_of, "cannot_be": self.cannot_be}
        return {**cases[0], **own, **about, "cases": cases, "repeats": [entry.id for entry in self.repeats]}


def _placed(entry: Entry) -> Entry:
    """The same case, with its experiment in its setting."""
    return replace(entry, reading=f"{_named(entry)} (in {entry.experiment})")


def _by_experiment(cases: Sequence[Entry]) -> list[list[Setting]]:
    """The cases of each experiment."""
    return [[each for each in cases if each.experiment == name] for name in dict.fromkeys(c.experiment for c in cases)]


def _verdict(settings: Sequence[Setting], cannot_be: str = "") -> Verdict:
    return verdicts.verdict([(each.basis, each.outcome) for each in settings], cannot_be)


class Claimed(Protocol):
    """A claim that may repeat the sentence of another, or be half of it."""

    @property
    def same_as(self) -> str:
        """The claim of another experiment in which the sentence is counted; usually empty."""

    @property
    def half_of(self) -> str:
        """The claim that has the rest of the sentence and is counted; usually empty."""


C = TypeVar("C", bound=Claimed)


def drop_repeats(claims: Iterable[C]) -> list[C]:
    """The claims that count: a sentence judged by several experiments, or in halves, is counted once."""
    return [claim for claim in claims if not claim.same_as and not claim.half_of]


def tally(claims: Sequence[tuple[Claimed, str]]) -> str:
    """The number of sentences, in all and by verdict, and of claims that repeat one or are halves of one.

    Args:
        claims: Each with its verdict.

    """
    repeating = sum(bool(claim.same_as) for claim, _ in claims)
    halves = sum(bool(claim.half_of) for claim, _ in claims)
    found = counted([verdict for claim, verdict in claims if drop_repeats([claim])])
    more = (
        [f"{repeating} more repeat{'s' if repeating == 1 else ''} a sentence that is counted in another experiment"]
        if repeating
        else []
    )
    more += [f"{halves} more {'are halves of sentences' if halves > 1 else 'is half of a sentence'}"] if halves else []
    return f"{found} ({', '.join(more)})" if more else found


def counted(verdicts: Sequence[str]) -> str:
    """The number of sentences, in all and by verdict, in the order of the verdicts."""
    counts = Counter(verdicts)
    found = ", ".join(f"{counts[name]} {name}" for name in names(VERDICTS) if counts[name])
    return f"{len(verdicts)} sentence{'s' if len(verdicts) != 1 else ''}{f': {found}' if found else ''}"
