"""A sentence of a paper with its cases, the basis of its verdict in words, and the number of sentences by verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from fanin.claims import verdicts
from fanin.claims.verdicts import BY_BASIS, EDGE, LATE, VERDICTS, Outcome, Verdict, names
from fanin.numbers.stats import ends
from fanin.scenario.basis import Basis

State = Literal["complete", "partial", "quick", "stale", "never run", "invalid"]

MARKS: dict[State, str] = {"stale": " (stale)", "quick": " (quick)", "partial": " (partial)"}
"""State of an experiment -> suffix of its verdicts."""

_MAX_LISTED_SETTINGS = 4
"""How many settings under which a sentence fails are listed by name."""

_MOST_WORDS = 24
"""So many words a condition has where it is told in short."""

_UNDECIDED_OUTCOMES = ("not run", "not judged")

_VERDICTS_STRONGEST_FIRST = sorted(
    names(VERDICTS), key=lambda name: (name in ("not found", "impossible"), name == "not run")
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


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How a sentence came out under one setting: a case of a file, or a setting that ``fanin fit`` tried."""

    # Read from records, in which numbers are finite.
    __pydantic_config__: ClassVar[dict[str, bool]] = {"allow_inf_nan": False}

    experiment: str = ""
    id: str
    """The id of the case; empty for a setting that a search tried."""
    reading: str = ""
    """The setting in words: usually the reading of the paper, if there are several."""
    added: str = ""
    """The results that were known when the claim, its range or its reading was written; usually empty."""
    measure: str = ""
    published: float | str | None = None
    value: float | None = None
    """Our number; ``None`` if there is none, or if it is infinite."""
    interval: tuple[float | None, float | None] = (None, None)
    accept: tuple[float | None, float | None] = (None, None)
    outcome: Outcome
    distance: float = 1.0
    """How far the number is outside the accepted range, from 0 (inside) to 1."""
    at_edge: bool = False
    """Whether the number is so close to a bound of the accepted range that the outcome is in doubt."""
    basis: Basis = "reading"
    """The basis of the setting."""
    environment: str = ""
    """The environment in which it ran."""
    reason: str = ""
    note: str = ""
    shown: Shown
    """The same numbers as text."""

    @property
    def name(self) -> str:
        """``<paper>/<figure>/<case>``."""
        return f"{self.experiment}/{self.id}"

    @property
    def is_of_search(self) -> bool:
        """Whether a search tried the setting, and no file has it as a case."""
        return not self.id

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Judgement:
        """The judgement that was kept as JSON."""
        pairs = {key: tuple(kept[key]) for key in ("interval", "accept")}
        return cls(**{**kept, **pairs, "shown": Shown(**kept["shown"])})


def rests_on(
    verdict: Verdict, settings: Sequence[Judgement], impossible: str, tried: int = 0, *, short: bool = False
) -> str:
    """The basis of a verdict in words: the reading with its ablation, the closest setting, or the arithmetic.

    Args:
        verdict: The verdict.
        settings: The sentence's cases, and settings from searches.
        impossible: Why the sentence is impossible, if its file declares that.
        tried: Number of settings tried by searches, in addition to the cases.
        short: Only the condition, or the reason for what is not reproduced, in a few words.

    """
    counted = _counted(settings)
    if verdict == "impossible":
        return impossible
    if verdict in ("as printed", "not run"):
        return ""
    decisive = deciding(verdict, settings)
    assert decisive is not None
    if verdict == "with its tool's defaults":
        return decisive.environment
    if verdict == "under a condition":
        return in_short(f"if {_named(decisive)}") if short else _reading(decisive, counted, tried)
    accepted = f"accepted {decisive.shown.accept}"
    if verdict == "right direction, other size":
        said = ", ".join(filter(None, [accepted, decisive.reading]))
        return in_short(said) if short else decisive.reading
    return (
        in_short(f"none of {_number_tried(counted, tried)}; {accepted}")
        if short
        else _closest(decisive, counted, tried)
    )


def quoted(place: str, says: str) -> str:
    """A sentence in a line: where it stands, and its words without a remark at their end.

    Args:
        place: Its figure, or else the experiment that judges it.
        says: Its words.

    """
    return f"{place}: {re.sub(_REMARK, '', says)}"


_REMARK = r" \([^()]*\)(?=\.?$)"


def in_short(text: str) -> str:
    """The beginning of a text: whole clauses, and of keys only the last part."""
    text = re.sub(_KEY, r"\1", text)
    words = text.split()
    if len(words) <= _MOST_WORDS:
        return text
    beginning = " ".join(words[:_MOST_WORDS])
    clauses = re.match(r"(.+)[,;:] ", f"{beginning} ")
    return f"{(clauses[1] if clauses else beginning).rstrip(',;:')} ..."


_KEY = r"\b(?:[a-z0-9-]+\.)+([a-z0-9-]+ = )"


def deciding(verdict: Verdict, settings: Sequence[Judgement]) -> Judgement | None:
    """The setting on which a verdict rests; ``None`` for a verdict that no run has given.

    Args:
        verdict: The verdict.
        settings: The sentence's cases, and settings from searches.

    """
    counted = _counted(settings)
    if verdict in ("impossible", "not run"):
        return None
    if verdict == "not found":
        return min(counted, key=lambda each: each.distance)
    if verdict == "right direction, other size":
        return next(each for each in counted if each.outcome == "right direction, other size")
    basis = next(basis for basis, found in BY_BASIS if found == verdict)
    holding = [each for each in counted if (each.basis, each.outcome) == (basis, "reproduced")]
    # With a case that is not at the edge, the verdict is not either. Of a search's setting it is not known.
    firm = [each for each in holding if not each.at_edge and not each.is_of_search]
    return firm[0] if holding[0].at_edge and firm else holding[0]


def _counted(settings: Sequence[Judgement]) -> list[Judgement]:
    return [each for each in settings if each.basis != "sensitivity" and each.outcome not in _UNDECIDED_OUTCOMES]


def _reading(first: Judgement, counted: Sequence[Judgement], tried: int) -> str:
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


def _named(judgement: Judgement) -> str:
    return judgement.reading or "the experiment's own values"


def _tried(tried: int) -> str:
    return f"a search tried {tried} setting{'s' if tried != 1 else ''}"


def _number_tried(counted: Sequence[Judgement], tried: int) -> str:
    of = tried + sum(not each.is_of_search for each in counted)
    return f"{of} setting{'s' if of != 1 else ''}"


def _closest(closest: Judgement, counted: Sequence[Judgement], tried: int) -> str:
    """The number of settings tried, and the closest one."""
    where = f" ({closest.reading})" if closest.reading else ""
    nothing = f"; its 95 % interval, {closest.shown.interval}, includes zero" if closest.distance == 0 else ""
    return (
        f"none of {_number_tried(counted, tried)}; closest {closest.shown.value}{where}, "
        f"accepted {closest.shown.accept}{nothing}"
    )


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper: its verdict, and below it its cases, the main one first."""

    claim: str
    says: str
    cases: list[Judgement]
    same_as: str = ""
    """The same sentence in another experiment, where it is counted."""
    half_of: str = ""
    """The claim of the same experiment that has the rest of the sentence; it is counted, and judged with this one."""
    impossible: str = ""
    """Why no setting can show it: arithmetic, or another sentence of the paper."""
    repeats: list[Judgement] = field(default_factory=list)
    """Cases of the same sentence in other experiments; they count for its verdict."""
    searched: list[Judgement] = field(default_factory=list)
    """The results of searches over what the paper leaves open."""
    tried: int = 0
    """Number of settings tried by these searches."""
    everywhere: bool = False
    """Whether it speaks of all experiments, and so holds only if it does in each one that judges it."""
    paper: str = ""
    figure: str = ""
    state: State = "complete"
    """State of the experiment: outcomes of a quick look or of an old engine are provisional."""
    command: str = ""
    """The command that runs it."""

    @cached_property
    def _own(self) -> list[Judgement]:
        """Its cases; they name their experiment if others judge the sentence too."""
        return [_placed(each) for each in self.cases] if self.repeats else self.cases

    @cached_property
    def settings(self) -> list[Judgement]:
        """All cases, and the settings from searches; those of other experiments last.

        Of a sentence about all experiments they are those of the experiment with the weakest verdict.
        If other experiments judge the sentence too, every case names its own, as a setting can hold in one and fail in
        another.
        """
        own, others = [*self._own, *self.searched], [_placed(each) for each in self.repeats]
        if self.repeats and self.everywhere:
            places = [own, *_by_experiment(others)]
            judging = [cases for cases in places if any(each.basis != "sensitivity" for each in cases)]
            return max(judging or places, key=lambda cases: _VERDICTS_STRONGEST_FIRST.index(_verdict(cases)))
        return [*own, *others]

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.experiment}/{self.claim}"

    @property
    def experiment(self) -> str:
        """The experiment that has it."""
        return self.cases[0].experiment

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the sentence."""
        return _verdict(self.settings, self.impossible)

    @cached_property
    def decides(self) -> int:
        """Which case's numbers stand for the sentence: that on which its verdict rests, if it is one of its own."""
        found = deciding(self.verdict, self.settings)
        return next((place for place, each in enumerate(self._own) if each is found), 0)

    @property
    def shown(self) -> Shown:
        """The numbers that stand for the sentence: those of the setting on which its verdict rests."""
        found = deciding(self.verdict, self.settings)
        return (found or self.cases[0]).shown

    @property
    def marked(self) -> str:
        """The verdict, marked if it is at the edge, provisional or stale."""
        timeless = self.verdict in ("not run", "impossible")
        return self.verdict if timeless else f"{self.said}{MARKS.get(self.state, '')}"

    @property
    def at_edge(self) -> bool:
        """Whether the verdict rests on cases at the edge."""
        if self.verdict not in verdicts.REPRODUCED:
            return verdicts.at_edge(self.verdict, ((each.basis, each.outcome, each.at_edge) for each in self.settings))
        decisive = deciding(self.verdict, self.settings)
        return decisive is not None and decisive.at_edge

    @property
    def said(self) -> str:
        """The verdict, marked if it is at the edge."""
        return f"{self.verdict}{EDGE if self.at_edge else ''}"

    @property
    def rests_on(self) -> str:
        """The basis of the verdict, in words."""
        return rests_on(self.verdict, self.settings, self.impossible, self.tried)

    @property
    def quote(self) -> str:
        """Where it stands and what it says, in a line."""
        return quoted(self.figure or self.experiment, self.says)

    @property
    def condition(self) -> str:
        """The condition of the verdict in a few words, or the reason for one that is not reproduced."""
        return rests_on(self.verdict, self.settings, self.impossible, self.tried, short=True)

    @property
    def late(self) -> str:
        """The results that were known when the case on which the verdict rests was written; usually empty.

        Settings from searches are judged by the terms of the main case.
        """
        decisive = deciding(self.verdict, self.settings)
        return self.cases[0].added if decisive is None or decisive.is_of_search else decisive.added

    @property
    def late_mark(self) -> str:
        """What follows the verdict if it rests on a case written after a first run."""
        return f" {LATE}" if self.late else ""

    @property
    def contradiction(self) -> str:
        """A warning if a case reproduces what the file declares as impossible; usually empty."""
        if not self.impossible or self.verdict == "impossible":
            return ""
        return f"{self.id} is declared as impossible, but is reproduced {self.verdict}: {self.impossible}"

    def as_dict(self) -> dict[str, Any]:
        """The sentence for ``--json``: its verdict, the numbers of its main case, and all cases."""
        cases = self.cases_as_dicts()
        own: dict[str, Any] = {"verdict": self.verdict, "at_edge": self.at_edge}
        own |= {"condition": self.condition, "rests_on": self.rests_on, "settings_tried": self.tried}
        about = {"id": self.id, "same_as": self.same_as, "half_of": self.half_of, "impossible": self.impossible}
        return {**cases[0], **own, **about, "cases": cases, "repeats": [each.name for each in self.repeats]}

    def cases_as_dicts(self) -> list[dict[str, Any]]:
        """Its cases for ``--json``."""
        return [
            {
                "id": each.name,
                "says": self.says,
                "published": each.published,
                "ours": each.value,
                "interval": ends(*each.interval),
                "outcome": each.outcome,
                "basis": each.basis,
                "environment": each.environment,
                "distance": each.distance,
                "at_edge": each.at_edge,
                "reason": each.reason,
                "paper": self.paper,
                "figure": self.figure,
                "experiment": each.experiment,
                "reading": each.reading,
                "note": each.note,
                "added": each.added,
                "number": each.shown.quantity,
                "state": self.state,
                "command": self.command,
            }
            for each in self.cases
        ]


def _placed(case: Judgement) -> Judgement:
    """The same case, with its experiment in its setting."""
    return replace(case, reading=f"{_named(case)} (in {case.experiment})")


def _by_experiment(cases: Sequence[Judgement]) -> list[list[Judgement]]:
    """The cases of each experiment."""
    return [[each for each in cases if each.experiment == name] for name in dict.fromkeys(c.experiment for c in cases)]


def _verdict(settings: Sequence[Judgement], impossible: str = "") -> Verdict:
    return verdicts.verdict([(each.basis, each.outcome) for each in settings], impossible)


class _MayRepeat(Protocol):
    """A claim that may repeat the sentence of another, or be half of it."""

    @property
    def same_as(self) -> str:
        """The claim of another experiment in which the sentence is counted; usually empty."""

    @property
    def half_of(self) -> str:
        """The claim that has the rest of the sentence and is counted; usually empty."""


C = TypeVar("C", bound=_MayRepeat)


def drop_repeats(claims: Iterable[C]) -> list[C]:
    """The claims that count: a sentence judged by several experiments, or in halves, is counted once."""
    return [claim for claim in claims if not claim.same_as and not claim.half_of]


def tally(claims: Sequence[tuple[_MayRepeat, str]]) -> str:
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
    found = "; ".join(f"{counts[name]} {name}" for name in names(VERDICTS) if counts[name])
    return f"{len(verdicts)} sentence{'s' if len(verdicts) != 1 else ''}{f': {found}' if found else ''}"
