"""Summarises the verdicts on a claim (one sentence of a paper) under several readings.

The first reading of a claim is its main reading, and the claim's verdict is the one under that reading. Verdicts under
other readings are shown and counted separately: a claim does not count as reproduced because one of many readings is.
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
    """Under how many of its readings a claim is reproduced; empty if it has only one."""
    return f"reproduced in {verdicts.count('reproduced')} of {len(verdicts)} readings" if len(verdicts) > 1 else ""


def is_elsewhere(verdicts: Sequence[str]) -> bool:
    """Whether a claim is reproduced, but not under its main reading."""
    return verdicts[0] != "reproduced" and "reproduced" in verdicts


def tally(claims: Sequence[Sequence[str]], statuses: Sequence[str]) -> str:
    """Counts claims by verdict under their main readings, and readings that are reproduced.

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
    return f"{counts} under their main readings; {elsewhere} reproduced only under another reading; {readings}"
