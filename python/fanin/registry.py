"""The engine's registries: schemes, topologies and so on with their parameters, and everything that a run measures."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fanin import _engine


@cache
def registry() -> dict[str, Any]:
    """The engine's registries, its sections with their parameters, and the totals and tables of a run."""
    found: dict[str, Any] = json.loads(_engine.registry())
    return found


def scheme_rows() -> list[dict[str, Any]]:
    """The rows of all schemes, also of those that only the Linux kernel carries, and of those in Python."""
    return [row for kind in ("schemes", "kernel_schemes", "added_schemes") for row in registry()[kind]]


def scheme_row(key: str) -> dict[str, Any]:
    """A scheme's row of the registry."""
    return next(row for row in scheme_rows() if row["key"] == key)


def reacts_to_marks(scheme: str) -> bool:
    """Whether senders of a scheme slow down when packets are marked."""
    return "marks" in scheme_row(scheme)["reacts_to"]


def reacts_to_losses_alone(scheme: str) -> bool:
    """Whether nothing but a loss slows senders of a scheme down."""
    return not scheme_row(scheme)["reacts_to"]


def is_scheduled(scheme: str) -> bool:
    """Whether receivers decide when each segment of a scheme is acknowledged, and so how many are in flight."""
    return "schedule" in scheme_row(scheme)["reacts_to"]


def heading(manual: str) -> str:
    """The first line of a manual: what the text calls the thing."""
    return manual.partition("\n")[0].removeprefix("# ")


def scheme_title(key: str) -> str:
    """What the text calls a scheme; any other name is returned as it is."""
    return scheme_titles().get(key, key)


@cache
def scheme_titles() -> dict[str, str]:
    """What the text calls each scheme, by its key: ``dctcp`` is DCTCP."""
    found: dict[str, str] = {}
    for row in scheme_rows():
        title = heading(row["manual"])
        # A variant shares the manual of its scheme, and its summary begins with its own name.
        found[row["key"]] = title if title not in found.values() else row["summary"].partition(":")[0]
    return found
