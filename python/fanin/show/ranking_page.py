"""Which fix for which regime, as a page of the documentation: Markdown, written by a program from the runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fanin.choose.ranking import (
    BACKGROUND,
    CRITERION,
    Overall,
    Ranking,
    Regime,
    axis_name,
    definition,
    front,
    heading,
    name_of,
    overall,
)
from fanin.claims.standing import Standing
from fanin.numbers.summary import format_interval
from fanin.show import pages

_MIN_NAMED = 3
"""Fewest systems that a cell of the first table names."""

_MIN_SHARE_OF_LEADER = 0.95
"""It names all systems with at least this share of the best query goodput."""

_MAX_NAMED = 8
"""Most systems that a cell of the first table names."""

_MIN_SHARE_OF_FIX = 0.5
"""A system below this share of the best query goodput is no fix, however much goodput the background gets."""


def write(path: Path, rankings: list[Ranking], name: str, missing: Iterable[Standing] = ()) -> None:
    """Writes the page; the same results give the same bytes.

    Args:
        path: Where to.
        rankings: What it is about.
        name: What was asked for, such as ``cross``.
        missing: Experiments that belong here and have no results yet.

    Raises:
        ResultsError: the file cannot be written.

    """
    values: dict[str, Any] = {
        "command": f"fanin ranking {name} --page {path.as_posix()}",
        "name": name,
        "measure": name_of(CRITERION),
        "criterion": CRITERION,
        "axis_name": axis_name,
        "heading": heading,
        "definition": definition,
        "missing": list(missing),
        "percent": percent,
        "leaders": leaders,
        "compromises": compromises,
        "overall": overall,
        "families": families,
        "rate": rate,
        "split": split,
    }
    total = pages.totals(ranking.standing for ranking in rankings)
    pages.write_markdown(path, "ranking.md.j2", rankings=rankings, total=total, **values)


def families(ranking: Ranking) -> list[tuple[str, list[Regime]]]:
    """The regimes with and without background flows."""
    if BACKGROUND not in ranking.axes:
        return [("", ranking.regimes)]
    return [(f"{BACKGROUND}: {value}", ranking.matching(BACKGROUND, value)) for value in ranking.values(BACKGROUND)]


def split(ranking: Ranking) -> list[tuple[str, list[list[Regime]]]]:
    """The regimes grouped by the value of the last axis, and within each value by family."""
    axis = ranking.axes[-1]
    return [
        (str(value), [[each for each in family if each.where[axis] == value] for _, family in families(ranking)])
        for value in ranking.values(axis)
    ]


def leaders(regimes: list[Regime]) -> str:
    """The best systems over these regimes, with their share of the best query goodput and the background goodput."""
    every = overall(regimes)
    count = sum(each.share >= _MIN_SHARE_OF_LEADER for each in every)
    return "; ".join(
        f"{each.system} {percent(each.share)}" + (f" ({rate(each)})" if each.background > 0 else "")
        for each in every[: min(max(count, _MIN_NAMED), _MAX_NAMED)]
    )


def compromises(regimes: list[Regime]) -> str:
    """The systems that no other beats in both query goodput and background goodput."""
    every = [each for each in overall(regimes) if each.share >= _MIN_SHARE_OF_FIX]
    return "; ".join(f"{each.system} {percent(each.share)} ({rate(each)})" for each in front(every)) or "-"


def percent(share: float) -> str:
    """A share in per cent."""
    if math.isnan(share):
        return "-"
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.2g} %"


def rate(each: Overall) -> str:
    """Goodput of the background flows."""
    return format_interval("groups.background.goodput_bps", each.background, math.nan, digits=3)
