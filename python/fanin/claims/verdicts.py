"""The words for results of claims, and :func:`verdict`, the rule that derives a sentence's verdict from its cases.

Outcomes (of each case) and verdicts (on each sentence) are listed here once, in the order in which they are counted,
with their meaning, sign and tone. Everything else that shows or counts claims reads these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fanin.scenario.basis import Basis

Outcome = Literal["reproduced", "direction only", "not reproduced", "not judged", "not run"]
"""The outcome of a case, a sentence under one setting. ``not judged``: a quick look made no run for it; the ledger
calls that ``not run``."""

Verdict = Literal[
    "as printed", "in its environment", "under a reading", "direction only", "never", "cannot be", "not run"
]
"""The verdict on a sentence of a paper, from all of its cases."""

Tone = Literal["good", "part", "bad", "none"]


@dataclass(frozen=True)
class Word:
    """An outcome or a verdict."""

    name: str
    meaning: str
    sign: str
    tone: Tone
    """Determines the colour."""

    @property
    def slug(self) -> str:
        """The name as an option's value and in HTML."""
        return self.name.replace(" ", "-")


OUTCOMES: tuple[Word, ...] = (
    Word(
        "reproduced",
        "our number lies inside the accepted range, and the runs show that it is not nothing.",
        "✓",
        "good",
    ),
    Word(
        "direction only",
        "it lies outside, but our number and its whole interval are in the wider range that the file has for the "
        "direction: they show the order or the sign that the paper reports, but not the size.",
        "≈",
        "part",
    ),
    Word("not reproduced", "neither of these. The reason names the cause, as far as we know it.", "✗", "bad"),
    Word("not run", "the experiment has not been run or judged yet.", "○", "none"),
)

VERDICTS: tuple[Word, ...] = (
    Word("as printed", "the values that the paper prints suffice to reproduce the sentence.", "●", "good"),
    Word(
        "in its environment",
        "it is reproduced with the printed values and the defaults of the tool in which the paper was simulated or "
        "measured. They apply to all systems alike, and each has a source.",
        "◕",
        "good",
    ),
    Word(
        "under a reading",
        "it is reproduced under a choice that the paper leaves open. The choice is named, and so are the choices under "
        "which the sentence does not hold.",
        "◑",
        "good",
    ),
    Word(
        "direction only",
        "no setting reproduces it, but at least one shows the order or the sign that the paper reports, without "
        "the size.",
        "≈",
        "part",
    ),
    Word(
        "never",
        "none of the admissible settings that were tried shows it. Their number and the closest one are given.",
        "✗",
        "bad",
    ),
    Word(
        "cannot be",
        "it is arithmetically impossible or contradicts another sentence of the paper. The reason is written in the "
        "experiment's file.",
        "∅",
        "bad",
    ),
    Word("not run", "the experiment has not been run or judged yet.", "○", "none"),
)

REPRODUCED: tuple[Verdict, ...] = ("as printed", "in its environment", "under a reading")
"""Verdicts on sentences that some admissible setting reproduces."""

EDGE = ", at the edge"
"""Follows a verdict or an outcome that is at the edge."""

AT_THE_EDGE = (
    'A verdict "at the edge" could as well be another one: the number of the case on which it rests is inside the '
    "accepted range, but by less than 1 % (of the bound, or of the width of the range if that is less), or its "
    "interval reaches beyond the range; or it is outside, but by less than 1 %, or its interval reaches into the "
    "range. A bound that no number can pass, such as 0 drops or 100 % of the flows, has no edge."
)
"""The definition; see :attr:`fanin.claims.judge.Measurement.at_edge` and :func:`at_edge`."""

BRIEFLY: dict[str, str] = {
    "as printed": "with the values that the paper prints",
    "in its environment": "with these and the defaults of the tool that the paper used",
    "under a reading": "with a choice that the paper leaves open",
    "direction only": "the order or the sign, not the size",
    "never": "with none of the settings that were tried",
    "cannot be": "impossible, or against the paper's own text",
    EDGE.removeprefix(", "): "by less than 1 %, or its interval is on both sides of the bound",
}
"""Verdicts in a few words."""

BY_BASIS: tuple[tuple[Basis, Verdict], ...] = (
    ("printed", "as printed"),
    ("environment", "in its environment"),
    ("reading", "under a reading"),
)
"""The strongest first."""

DEFAULT_ENVIRONMENT = "rfc"
"""The defaults of fanin itself, which belong to no paper's environment."""


def names(words: Sequence[Word]) -> tuple[str, ...]:
    """Their names, in order."""
    return tuple(word.name for word in words)


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
    if verdict in ("direction only", "never"):
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


def verdict(cases: Sequence[tuple[Basis, str]], cannot_be: str = "") -> Verdict:
    """The verdict on a sentence.

    A case that reproduces the sentence refutes a declaration that it is impossible.

    Args:
        cases: Basis and outcome of each case.
        cannot_be: Why the sentence is impossible, if its file declares that.

    """
    counted = [(basis, outcome) for basis, outcome in cases if basis != "sensitivity"]
    for basis, found in BY_BASIS:
        if (basis, "reproduced") in counted:
            return found
    if cannot_be:
        return "cannot be"
    outcomes = {outcome for _, outcome in counted} - {"not run", "not judged"}
    if not outcomes:
        return "not run"
    return "direction only" if "direction only" in outcomes else "never"
