"""The cross-paper ranking as numbers, for the page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from fanin.choose.ranking import MEASURES, RankedSystem, Ranking, axis_name, heading, rank_standing, shown
from fanin.claims.standing import Standing
from fanin.errors import FaninError
from fanin.later import pl
from fanin.show.ranking_page import percent

_MEASURES = ("query goodput", "query p99", "timeouts", "background")
"""What the page shows of each system."""


def matrix_of(standings: Iterable[Standing]) -> dict[str, Any]:
    """Every regime of every experiment that has any, with each system's rank, share and numbers."""
    measures = [measure for measure in MEASURES if heading(measure).startswith(_MEASURES)]
    found = [
        {
            "title": each.standing.title or each.standing.key,
            "command": each.standing.command,
            "regimes": [
                {
                    "where": {axis_name(axis): str(value) for axis, value in regime.where.items()},
                    "places": [_place(place, measures) for place in regime.places],
                }
                for regime in each.regimes
            ],
        }
        for each in _rankings(standings)
    ]
    return {"columns": [heading(measure) for measure in measures], "experiments": found}


def _rankings(standings: Iterable[Standing]) -> list[Ranking]:
    """The rankings of the experiments that have any."""
    found = []
    for each in standings:
        # Something else may be called a system, without what systems are ranked by.
        with contextlib.suppress(FaninError, pl.exceptions.PolarsError):
            found.append(rank_standing(each))
    return [each for each in found if each is not None]


def _place(place: RankedSystem, measures: Iterable[str]) -> list[Any]:
    """System, rank (0 if undecided), share in per cent as shown, the measures as shown, and what was left."""
    share = percent(place.share)
    rounded = None if share == "-" else float(share.removesuffix("%"))
    values = [_value(place, measure) for measure in measures]
    return [place.system, place.rank or 0, rounded, *values, str(place.unfinished or "")]


def _value(place: RankedSystem, measure: str) -> str:
    """A number with its interval, marked if it covers only the queries that were complete."""
    value = shown(measure, place.values[measure])
    return f"{value} †" if place.unfinished and measure.startswith("query") and value != "-" else value
