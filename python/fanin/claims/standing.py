"""The state of experiments, with the sentences that they judge, for the ledger, the list and the report.

These are plain data, which can be cached as JSON and shown again without reading the experiments' files.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fanin.claims import sentences
from fanin.claims.sentences import Judgement, Sentence, State
from fanin.claims.verdicts import REPRODUCED, VERDICTS, Verdict

if TYPE_CHECKING:
    from fanin.claims.record import Record

NONE = "-"

PROGRAMS = {"rcc-code": "the program of RCC's authors"}
"""Names of what has experiments and claims like a paper, and is none."""


def known_as(paper: str) -> str:
    """A paper's key as headings show it; that of a program after its name."""
    return f"{PROGRAMS[paper]} ({paper})" if paper in PROGRAMS else paper


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
    def cases(self) -> list[Judgement]:
        """The cases of all its claims."""
        return [case for claim in self.claims for case in claim.cases]

    @property
    def sentences(self) -> list[Sentence]:
        """Its claims, without those that repeat a sentence of another experiment."""
        return sentences.drop_repeats(self.claims)

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
        counts = {word.slug.replace("-", "_"): found.count(word.name) for word in VERDICTS}
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
            Sentence(**{**claim, "cases": [Judgement.from_dict(case) for case in claim["cases"]]})
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
