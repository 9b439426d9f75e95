"""The id of a run: a hash of what is simulated, and of the engine that simulates it."""

from __future__ import annotations

from typing import Any

from fanin import _engine
from fanin.digests import digest
from fanin.scenario.sections import OWNED


def simulated(resolved: dict[str, Any]) -> dict[str, Any]:
    """The part of a resolved scenario that defines what is simulated, without what is done with the results."""
    return {key: value for key, value in resolved.items() if key not in OWNED}


def run_id(resolved: dict[str, Any]) -> str:
    """The id of a run: a hash of what is simulated and of the engine that simulates it."""
    return digest([simulated(resolved), _engine.version()])
