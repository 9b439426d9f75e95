"""The id of a run: a hash of what is simulated, and of the engine that simulates it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from fanin import _engine
from fanin.digests import LENGTH, canonical
from fanin.scenario.sections import OWNED


def simulated(resolved: dict[str, Any]) -> dict[str, Any]:
    """The part of a resolved scenario that defines what is simulated, without what is done with the results."""
    return {key: value for key, value in resolved.items() if key not in OWNED}


def run_id(resolved: dict[str, Any]) -> str:
    """The id of a run: a hash of what is simulated and of the engine that simulates it."""
    return ids_of_seeds(resolved, [resolved["run"]["seed"]])[0]


_SEED = "\0seed"
"""Marks the place of the seed; no scenario can contain it in front of that place."""


def ids_of_seeds(resolved: dict[str, Any], seeds: Iterable[int]) -> list[str]:
    """The ids of the runs of a resolved scenario with these seeds, without writing the scenario anew for each."""
    marked = {**resolved, "run": {**resolved["run"], "seed": _SEED}}
    head, _, tail = canonical([simulated(marked), _engine.version()]).partition(canonical(_SEED))
    common = hashlib.sha256(head.encode())
    found = []
    for seed in seeds:
        each = common.copy()
        each.update(f"{seed}{tail}".encode())
        found.append(each.hexdigest()[:LENGTH])
    return found
