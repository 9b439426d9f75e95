"""How a claim, a sentence of a paper, came out where it is judged under several readings.

The first reading of a claim is its main one, and its verdict is the claim's. Whether other readings come to another
verdict is told beside it and counted apart, so that no claim counts as reproduced because some reading of many was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["reproduced", "direction only", "not reproduced", "not judged"]
"""The last one is a quick look's that has no run of what the claim is about."""

Status = Verdict | Literal["not run"]

STATUSES: tuple[Status, ...] = ("reproduced", "direction only", "not reproduced", "not run")


@dataclass(frozen=True)
class Shown:
    """Numbers of a claim as people read them."""

    published: str
    value: str
    interval: str
    accept: str
    quantity: str = ""
    """What the number is: a mean, a ratio, Kendall's tau; records of before it was kept have none."""


def in_words(verdicts: Sequence[str]) -> str:
    """Under how many of its readings a claim is reproduced; nothing if it has but one."""
    return f"reproduced in {verdicts.count('reproduced')} of {len(verdicts)} readings" if len(verdicts) > 1 else ""


def is_elsewhere(verdicts: Sequence[str]) -> bool:
    """Whether a claim is reproduced under another reading than its main one."""
    return verdicts[0] != "reproduced" and "reproduced" in verdicts


def tally(claims: Sequence[Sequence[str]], statuses: Sequence[str]) -> str:
    """How many claims came out how, by their main readings, and how many readings there are.

    Args:
        claims: The verdicts of each claim, that of its main reading first.
        statuses: Verdicts to count.

    """
    main = [verdicts[0] for verdicts in claims]
    counts = ", ".join(f"{main.count(status)} {status}" for status in statuses)
    every = [verdict for verdicts in claims for verdict in verdicts]
    if len(every) == len(main):
        return counts
    elsewhere = sum(is_elsewhere(verdicts) for verdicts in claims)
    readings = f"{every.count('reproduced')} of {len(every)} readings reproduced"
    return f"{counts} by their main readings, {elsewhere} of them reproduced under another; {readings}"
