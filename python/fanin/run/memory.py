"""How much memory runs will need: what the engine says of the first of a kind, and what that had of the others."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from fanin._engine import Scenario
from fanin.errors import WorkerError
from fanin.results.free_memory import shown

_MARGIN = 1.25
"""Numbers of flows differ by less between seeds."""


@dataclass(frozen=True)
class Estimate:
    """The memory of a run."""

    flows: float
    """Largest number of flows."""
    rest: float
    """Bytes that do not depend on the number of flows."""
    at_once: float = math.inf
    """Largest number of concurrent flows; each of the others takes only a row."""
    per_flow: float = 0.0
    """Bytes of each of those."""
    per_finished: float = 0.0
    """Bytes of each of the others."""

    def bytes(self, flows: float | None = None) -> float:
        """Total bytes.

        Args:
            flows: Number of flows of the same point with another seed, if known.

        """
        likely = self.flows if flows is None else min(_MARGIN * flows, self.flows)
        at_work = min(likely, self.at_once)
        return self.rest + at_work * self.per_flow + (likely - at_work) * self.per_finished


class Needs:
    """Bytes of runs: from the scenario for the first of a kind, and from that run's flows for the others."""

    def __init__(self) -> None:
        self._flows: dict[Hashable, float] = {}

    def learn(self, kind: Hashable, flows: float) -> None:
        """Takes note of how many flows a run of this kind had."""
        self._flows[kind] = flows

    def of(self, kind: Hashable, memory: Estimate) -> float:
        """Bytes of a run of this kind."""
        return memory.bytes(self._flows.get(kind))


def refuse_oversized(needed: float, room: float) -> None:
    """Refuses a run that needs more than there is.

    Args:
        needed: Its estimated bytes.
        room: Bytes that it may take.

    Raises:
        WorkerError: it does not fit.

    """
    if needed > room:
        raise WorkerError(
            f"the run does not fit in memory: estimated {shown(needed)}, available {shown(room)}; the estimate is an "
            "upper bound, and --memory states what runs may take"
        )


def estimate(scenario: Scenario) -> Estimate:
    """The largest memory of a run, tables included.

    Raises:
        ScenarioError: the network cannot be built.

    """
    told = scenario.memory()
    each = {"per_flow": told["bytes_per_flow"], "per_finished": told["bytes_per_finished"]}
    return Estimate(told["flows"], told["bytes_besides"], told["at_once"], **each)
