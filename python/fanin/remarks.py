"""What a user should know about a scenario or its runs before believing the numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fanin import catalogue


def incomplete(summary: dict[str, Any]) -> str | None:
    """A remark on the flows of a run that did not complete."""
    missing = summary.get("incomplete") or 0
    if not missing:
        return None
    total = missing + summary["completed"]
    return (
        f"{missing} of {total} finite flows were not complete after {summary['simulated_s']:g} s; "
        "completion times are those of the others"
    )


def incomplete_in(summaries: Iterable[dict[str, Any]]) -> str | None:
    """The same for the runs of a sweep."""
    every = list(summaries)
    missing = [summary["incomplete"] for summary in every if summary.get("incomplete")]
    if not missing:
        return None
    total = sum(missing) + sum(summary["completed"] for summary in every)
    return (
        f"{sum(missing)} of {total} finite flows, in {len(missing)} of {len(every)} runs, were not complete at the end "
        "of the run; completion times are those of the others"
    )


def unmarked(resolved: dict[str, Any]) -> str | None:
    """A remark on schemes that wait for marks where no queue marks."""
    if resolved["queue"]["kind"] != "drop-tail":
        return None
    keyed = {row["key"]: {param["key"] for param in row["params"]} for row in catalogue.registry()["schemes"]}
    schemes = sorted({group["scheme"] for group in resolved["traffic"] if "mark-threshold" in keyed[group["scheme"]]})
    if not schemes:
        return None
    return f'{", ".join(schemes)} needs marks, and queue.kind = "drop-tail" never marks; leave queue.kind out'
