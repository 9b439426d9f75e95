"""The id of a run: a hash of what is simulated, and of the engine that simulates it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fanin import _engine
from fanin.scenario.sections import OWNED


def simulated(resolved: dict[str, Any]) -> dict[str, Any]:
    """The part of a resolved scenario that defines what is simulated, without what is done with the results."""
    return {key: value for key, value in resolved.items() if key not in OWNED}


def run_id(resolved: dict[str, Any]) -> str:
    """The id of a run: a hash of what is simulated and of the engine that simulates it."""
    return digest([simulated(resolved), _engine.version()])


def digest(value: object) -> str:
    """A short hash of a value, independent of its JSON layout."""
    return whole_digest(value)[:16]


def whole_digest(value: object) -> str:
    """The full hash of a value, independent of its JSON layout."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
