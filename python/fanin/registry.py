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
