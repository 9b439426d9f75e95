"""The state of experiments and their claims, for the ledger, the list of experiments and the report.

These are plain data, which can be cached as JSON and shown again without reading the experiments' files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fanin.claims import sentences, verdicts
from fanin.claims.sentences import Searched, Setting, Shown
from fanin.claims.verdicts import REPRODUCED, VERDICTS, Outcome, Verdict
from fanin.numbers.stats import ends

if TYPE_CHECKING:
    from fanin.claims.record import Record
    from fanin.scenario.format.claim import Basis

State = Literal["complete", "partial", "quick", "stale", "never run", "invalid"]

MARKS: dict[State, str] = {"stale": " (stale)", "quick": " (quick)", "partial": " (partial)"}
"""State of an experiment -> suffix of its verdicts."""

NONE = "-"

PROGRAMS = {"rcc-code": "the program of RCC's authors"}
"""Names of what has experiments and claims like a paper, and is none."""


def known_as(paper: str) -> str:
    """A paper's key as headings show it; that of a program after its name."""
    return f"{PROGRAMS[paper]} ({paper})" if paper in PROGRAMS else paper


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
        """The outcome, marked if it is provisional or stale."""
        return self.outcome if self.outcome == "not run" else self.outcome + MARKS.get(self.state, "")

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
    cannot_be: str = ""
    """Arithmetic, or another sentence of the paper, that forbids it."""
    repeats: list[Entry] = field(default_factory=list)
    """Cases of the same sentence in other experiments; they count for its verdict."""
    searched: list[Searched] = field(default_factory=list)
    """The results of searches over what the paper leaves open."""
    tried: int = 0
    """Number of settings tried by these searches."""

    @property
    def main(self) -> Entry:
        """The main case."""
        return self.entries[0]

    @property
    def settings(self) -> list[Setting]:
        """All cases, and the settings from searches."""
        return [*self.entries, *self.repeats, *self.searched]

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.main.experiment}/{self.claim}"

    @property
    def verdict(self) -> Verdict:
        """The verdict on the sentence."""
        return verdicts.verdict([(each.basis, each.outcome) for each in self.settings], self.cannot_be)

    @property
    def marked(self) -> str:
        """The verdict, marked if it is provisional or stale."""
        timeless = self.verdict in ("not run", "cannot be")
        return self.verdict if timeless else self.verdict + MARKS.get(self.main.state, "")

    @property
    def rests_on(self) -> str:
        """The basis of the verdict, in words."""
        return sentences.rests_on(self.verdict, self.settings, self.cannot_be, self.tried)

    @property
    def late(self) -> str:
        """The results that were known when the case on which the verdict rests was written; usually empty.

        Settings from searches are judged by the terms of the main case.
        """
        decisive = sentences.deciding(self.verdict, self.settings)
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
        own = {"verdict": self.verdict, "rests_on": self.rests_on, "settings_tried": self.tried}
        about = {"id": self.id, "same_as": self.same_as, "cannot_be": self.cannot_be}
        return {**cases[0], **own, **about, "cases": cases, "repeats": [entry.id for entry in self.repeats]}


@dataclass(frozen=True)
class Standing:
    """An experiment and its state."""

    key: str
    paper: str
    figure: str
    title: str
    state: State
    note: str
    """Why it is stale or invalid, in words."""
    runs: int
    of: int
    command: str
    claims: list[Sentence]
    folder: Path = Path()
    """The folder of its results."""
    judged: bool = False
    """Whether its results have a record of this version's format."""
    finished: str | None = None
    """When its last run finished."""

    @cached_property
    def record(self) -> Record | None:
        """The full record of its results; read only on request, because most lists need only the fields above."""
        from fanin.claims import record

        return record.read(self.folder) if self.judged else None

    @property
    def last(self) -> str:
        """The time of the last run, as text."""
        return date(self.finished)

    @property
    def seeds(self) -> str:
        """Seeds of its runs in the shortest form."""
        from fanin.claims.record import ranges

        return NONE if self.record is None else ranges(self.record.work.seeds)

    @property
    def engine(self) -> str:
        """Version of the engine that made them."""
        return NONE if self.record is None else self.record.work.engine_version

    @property
    def commits(self) -> str:
        """Commits at which they were made."""
        return NONE if self.record is None else ", ".join(self.record.work.git_commits) or NONE

    @property
    def says(self) -> str:
        """The state in a few words."""
        if self.state == "quick":
            return "quick only"
        if self.state == "never run" and self.runs:
            return f"never run; other experiments have {self.runs} of its {self.of} runs"
        if self.state == "partial":
            return f"{self.runs} of {self.of} runs" + ("" if self.judged else ", not judged")
        return self.state

    @property
    def entries(self) -> list[Entry]:
        """The cases of all its claims."""
        return [entry for claim in self.claims for entry in claim.entries]

    @property
    def sentences(self) -> list[Sentence]:
        """Its claims, without those that repeat a sentence of another experiment."""
        return sentences.once(self.claims)

    @property
    def size(self) -> int:
        """How many sentences it has."""
        return len(self.sentences)

    def count(self, *wanted: Verdict) -> int:
        """How many of its sentences have one of these verdicts."""
        return sum(claim.verdict in wanted for claim in self.sentences)

    @property
    def reproduced(self) -> int:
        """How many of its sentences some admissible setting reproduces."""
        return self.count(*REPRODUCED)

    def as_dict(self) -> dict[str, Any]:
        """The experiment for ``fanin list experiments --json``."""
        found: list[str] = [claim.verdict for claim in self.sentences]
        counts = {word.name.replace(" ", "_"): found.count(word.name) for word in VERDICTS}
        return {
            "key": self.key,
            "summary": self.title,
            "paper": self.paper,
            "figure": self.figure,
            "state": self.state,
            "note": self.note,
            "runs": self.runs,
            "of": self.of,
            "finished": self.finished,
            "claims": {"total": self.size, **counts},
            "command": self.command,
        }

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Standing:
        """The reverse of :meth:`as_dict`."""
        claims = [
            Sentence(**{**claim, "entries": [Entry.from_dict(entry) for entry in claim["entries"]]})
            for claim in kept["claims"]
        ]
        return cls(**{**kept, "claims": claims, "folder": Path(kept["folder"])})


def date(stamp: str | None) -> str:
    """A moment as people read it."""
    return NONE if stamp is None else stamp.replace("T", " ").replace("Z", " UTC")


def age(finished: str, now: datetime | None = None) -> str:
    """How long ago that was: ``3 h``."""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(finished)).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
