"""The words for results of claims, and :func:`verdict`, the rule that derives a sentence's verdict from its cases.

Outcomes (of each case) and verdicts (on each sentence) are listed here once, in the order in which they are counted,
with their meaning in one line, sign and tone. Everything else that shows or counts claims reads these tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fanin.scenario.basis import Basis

Outcome = Literal["reproduced", "right direction, other size", "not reproduced", "not judged", "not run"]
"""The outcome of a case, a sentence under one setting. ``not judged``: a quick look made no run for it; the ledger
calls that ``not run``."""

Verdict = Literal[
    "as printed",
    "with its tool's defaults",
    "under a condition",
    "right direction, other size",
    "not found",
    "impossible",
    "not run",
]
"""The verdict on a sentence of a paper, from all of its cases."""

Tone = Literal["good", "part", "bad", "none"]


@dataclass(frozen=True)
class Word:
    """An outcome or a verdict."""

    name: str
    meaning: str
    """One line, which every page and view that uses the word shows."""
    sign: str
    tone: Tone
    """Determines the colour."""

    @property
    def slug(self) -> str:
        """The name as an option's value and in HTML."""
        return re.sub(r"[^a-z]+", "-", self.name.replace("'", ""))


OUTCOMES: tuple[Word, ...] = (
    Word(
        "reproduced",
        "our number is inside the accepted range, and its interval excludes that it is nothing.",
        "✓",
        "good",
    ),
    Word(
        "right direction, other size",
        "the order or the sign is the paper's, and so is that of the interval.",
        "≈",
        "part",
    ),
    Word("not reproduced", "neither the size nor the direction is the paper's.", "✗", "bad"),
    Word("not run", "the experiment has not been run or judged yet.", "○", "none"),
)

VERDICTS: tuple[Word, ...] = (
    Word("as printed", "it holds with the values that the paper prints.", "●", "good"),
    Word(
        "with its tool's defaults",
        "it holds with the printed values and the defaults of the simulator or testbed that the paper used.",
        "◕",
        "good",
    ),
    Word(
        "under a condition",
        "it holds if a choice that the paper leaves open is made as the condition says.",
        "◑",
        "good",
    ),
    Word("right direction, other size", "no setting gives the size, but one gives the order or the sign.", "≈", "part"),
    Word("not found", "none of the settings that were tried gives it.", "✗", "bad"),
    Word("impossible", "arithmetic, or the paper's own text or numbers, rules it out.", "∅", "bad"),
    Word("not run", "the experiment has not been run or judged yet.", "○", "none"),
)

REPRODUCED: tuple[Verdict, ...] = ("as printed", "with its tool's defaults", "under a condition")
"""Verdicts on sentences that some admissible setting reproduces."""

EDGE = ", at the edge"
"""Follows a verdict or an outcome that is at the edge."""

EDGE_MEANING = "other seeds, or 1 % more or less, could give another verdict."

LATE = "†"
"""Marks a verdict that rests on a case which was written after a first run."""

LATE_MEANING = "its case was written when results were known, so it is weaker."

AT_THE_EDGE = (
    'A verdict "at the edge" could as well be another one. The number on which it rests is less than 1 % from a bound '
    "of the accepted range, or its interval reaches over that bound. The 1 % is of the bound, or of the width of the "
    "range if that is less. A bound that no number can pass, such as 0 drops, has no edge."
)
"""The definition; see :attr:`fanin.claims.judge.Measurement.at_edge` and :func:`at_edge`."""

BY_BASIS: tuple[tuple[Basis, Verdict], ...] = (
    ("printed", "as printed"),
    ("environment", "with its tool's defaults"),
    ("reading", "under a condition"),
)
"""The strongest first."""

DEFAULT_ENVIRONMENT = "rfc"
"""The defaults of fanin itself, which belong to no paper's environment."""


def names(words: Sequence[Word]) -> tuple[str, ...]:
    """Their names, in order."""
    return tuple(word.name for word in words)


def explained(said: Iterable[str]) -> list[tuple[str, str]]:
    """The words that are used in verdicts, each with its meaning in one line.

    Args:
        said: Verdicts, which may be marked as at the edge or as resting on a late case.

    """
    every = list(said)
    marks = [(EDGE, EDGE_MEANING), (LATE, LATE_MEANING)]
    found = [(each.name, each.meaning) for each in VERDICTS if any(one.startswith(each.name) for one in every)]
    return found + [(mark.removeprefix(", "), what) for mark, what in marks if any(mark in one for one in every)]


def word(name: str) -> Word:
    """The verdict or outcome of that name."""
    return next(each for each in (*VERDICTS, *OUTCOMES) if each.name == name)


def at_edge(verdict: Verdict, settings: Iterable[tuple[Basis, str, bool]]) -> bool:
    """Whether a verdict rests on settings at the edge.

    A sentence that is reproduced is at the edge if every setting that gives this verdict is; one that is not, if any
    setting might as well have reproduced it.

    Args:
        verdict: The verdict.
        settings: Basis and outcome under each setting, and whether that is at the edge.

    """
    bases = [basis for basis, found in BY_BASIS if found == verdict]
    if bases:
        deciding = [edge for basis, outcome, edge in settings if (basis, outcome) == (bases[0], "reproduced")]
        return bool(deciding) and all(deciding)
    if verdict in ("right direction, other size", "not found"):
        return any(edge for basis, _, edge in settings if basis != "sensitivity")
    return False


def basis_of(declared: Basis | None, reading: str, environment: str) -> Basis:
    """The basis of a case: as declared in its file, or else derived.

    Without a declaration, a case in an environment that names no reading rests on the environment, and every other
    case on a reading. Nothing counts as printed unless its file says so.
    """
    if declared is not None:
        return declared
    named = environment not in ("", DEFAULT_ENVIRONMENT)
    return "environment" if named and not reading else "reading"


def verdict(cases: Sequence[tuple[Basis, str]], impossible: str = "") -> Verdict:
    """The verdict on a sentence.

    A case that reproduces the sentence refutes a declaration that it is impossible.

    Args:
        cases: Basis and outcome of each case.
        impossible: Why the sentence is impossible, if its file declares that.

    """
    counted = [(basis, outcome) for basis, outcome in cases if basis != "sensitivity"]
    for basis, found in BY_BASIS:
        if (basis, "reproduced") in counted:
            return found
    if impossible:
        return "impossible"
    outcomes = {outcome for _, outcome in counted} - {"not run", "not judged"}
    if not outcomes:
        return "not run"
    return "right direction, other size" if "right direction, other size" in outcomes else "not found"
