"""Completion times of runs in which transfers had not ended: what never ends takes longer than any run, so infinitely.

A mean over what has ended alone would be the smaller, the more never ends. So a mean with a transfer that never ended
is infinite, and a quantile or maximum is if it falls among those that never ended. Where traffic goes on until the
run's end, transfers are always in progress then: as many as a closed loop keeps so, and a few of open arrivals. Such
traffic is measured by what has ended. Goals, which see each run's transfers, leave out those that had just begun.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fanin.later import pl
from fanin.numbers.summary import column, is_completion_time
from fanin.numbers.units import seconds

MAX_SHARE_OPEN = 0.01
"""Share of the finite transfers that may be missing from a completion time: of open arrivals more are a backlog."""

_ASK = ("incast", "requests", "relay-tree")
"""Kinds of traffic whose transfers are parts of queries."""

_QUANTILES = {"p50": "50", "p95": "95", "p99": "99", "max": "100"}
"""Measure in a total's name -> its quantile in per cent; the only other one is the mean."""


def percent_of(name: str) -> str | None:
    """The quantile, in per cent, that a total with the completion times of transfers or queries is."""
    return _QUANTILES.get(name.rpartition(".")[2].split("_")[1])


JUST_BEGUN = "just_begun"
"""Key of a row: what :func:`just_begun` counts in a run."""


def share(row: Mapping[str, Any]) -> float:
    """Share of a run's finite transfers that had not ended, without those that had just begun if that is known."""
    missing = (row.get("incomplete") or 0) - row.get(JUST_BEGUN, 0)
    return missing / (missing + row["completed"]) if missing else 0.0


GoingOn = Mapping[str, int]
"""Groups in which transfers begin until the run ends -> how many a closed loop keeps in progress; 0 without one."""


def going_on(scenario: Mapping[str, Any]) -> GoingOn:
    """The groups of a resolved scenario in which transfers begin until the run ends."""
    end = seconds(scenario["run"]["duration"])
    return {
        group["name"]: group.get("concurrent", 0)
        for group in scenario["traffic"]
        if group.get("count") == 0 and not 0 < seconds(group["stop"]) < end
    }


def just_begun(flows: pl.DataFrame, end_s: float, on: GoingOn) -> int:
    """How many transfers of traffic that goes on began so late that few could have ended.

    They had been under way for no longer than what ended took on average in their group: the end of the run, and not
    what they met, is why they did not end. One that waits for a timer has been under way for longer.

    Args:
        flows: The run's transfers.
        end_s: When the run ended.
        on: The groups of :func:`going_on`.

    """
    found = 0
    for group in on:
        own = flows.filter((pl.col("group").cast(pl.String) == group) & ~pl.col("failed"))
        mean = pl.col("fct_s").mean()
        found += own.filter(pl.col("fct_s").is_null() & (end_s - pl.col("start_s") <= mean)).height
    return found


def with_infinite(row: Mapping[str, Any], scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The totals of a run, with an infinite value for each completion time that falls among what never ended.

    Args:
        row: The totals, those of traffic groups under dotted names.
        scenario: The resolved scenario.

    """
    kinds = {group["name"]: group["kind"] for group in scenario["traffic"]}
    on = going_on(scenario)
    found = dict(row)
    for name in filter(is_completion_time, row):
        prefix, _, own = name.rpartition(".")
        if prefix:
            groups = [prefix.removeprefix("groups.")]
        else:
            # Of a query the totals tell only its transfers: it has not ended if one of them has not.
            groups = [each for each, kind in kinds.items() if kind in _ASK or not own.startswith("query_")]
        counts = [(each, row[f"groups.{each}.completed"], row[f"groups.{each}.incomplete"]) for each in groups]
        if _is_infinite(own, counts, on):
            found[name] = math.inf
    return found


def _is_infinite(name: str, counts: Sequence[tuple[str, int, int]], on: GoingOn) -> bool:
    ended = sum(completed for _, completed, _ in counts)
    never = sum(incomplete for _, _, incomplete in counts)
    if never == 0 or (
        ended and _in_progress(never, ended + never, {group for group, _, missing in counts if missing}, on)
    ):
        return False
    percent = percent_of(name)
    return percent is None or math.ceil(Fraction(percent) * (ended + never) / 100) > ended


def _in_progress(missing: int, of: int, groups: set[str], on: GoingOn) -> bool:
    """Whether transfers that had not ended are but those in progress, of traffic that goes on."""
    return groups <= set(on) and missing <= sum(on[group] for group in groups) + MAX_SHARE_OPEN * of


READ = ("bytes", "group")
"""Columns of a result table that :func:`filled` reads."""


def filled(rows: pl.DataFrame, table: str, name: str, on: GoingOn) -> pl.DataFrame:
    """The rows of a result table with an infinite time for each transfer or query that never ended.

    Args:
        rows: The rows.
        table: Name of the table.
        name: The column; only times at which something ends, or that it takes, are filled in.
        on: The groups of :func:`going_on`.

    """
    known = column(f"{table}.{name}")
    if table not in ("flows", "requests") or (known.unit, known.better) != ("s", "less"):
        return rows
    # What has no size has no end. Most tables lack nothing, and a query of a small one takes longer than to see that.
    if rows["bytes"].null_count():
        rows = rows.filter(pl.col("bytes").is_not_null())
    if not rows[name].null_count():
        return rows
    missing = rows.filter(pl.col(name).is_null())
    groups = set(missing["group"].cast(pl.String))
    if len(missing) < len(rows) and _in_progress(len(missing), len(rows), groups, on):
        return rows
    return rows.with_columns(pl.col(name).fill_null(math.inf))
