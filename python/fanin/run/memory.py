"""How much memory a run will need.

The estimate is an upper bound from what is known before a run: flows and hosts, which the engine reports, packets in
buffers, and the tables that grow with time. Its purpose is to keep a machine from running out of memory, not to be
exact; a test compares it with real peaks, which may be a quarter of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from fanin.errors import WorkerError
from fanin.numbers.units import FRAME_BYTES, number
from fanin.results.free_memory import shown
from fanin.scenario.traffic import waits

BASE = 6e6
PER_FLOW = 2200.0
PER_FINISHED = 450.0
PER_HOST = 3000.0
PER_PACKET = 48.0
PER_TRACE_ROW = 70.0
PER_BIN = 450.0
PER_CAPTURED = 130.0
"""Bytes, each measured on runs of one kind; those of tables include the writing."""

_MARGIN = 1.25
"""Numbers of flows differ by less between seeds."""

_HANDSHAKE = 4
"""Packets that open and close a transfer."""

_BOTH_WAYS = 2.0
"""An acknowledgement for each packet."""

_REPEATED = 2.0
"""Each packet is sent as often, which is more than in any collapse: half of the packets would have to be lost."""

_LARGEST, _LEAST = "3MiB", "1448B"
"""A window and a segment of schemes that differ in these: the largest and the least of any stack."""

_MOST_PORTS = 8
"""Ports on the longest path, of a Clos network, with some room."""


Preview = Mapping[str, Any]
"""A scenario as the engine builds it, see :meth:`fanin.Experiment.preview`."""


@dataclass(frozen=True)
class Estimate:
    """The memory of a run."""

    flows: float
    """Largest number of flows."""
    rest: float
    """Bytes that do not depend on the number of flows."""
    at_once: float = math.inf
    """Largest number of concurrent flows; each of the others takes only a row."""

    def bytes(self, flows: float | None = None) -> float:
        """Total bytes.

        Args:
            flows: Number of flows of the same point with another seed, if known.

        """
        likely = self.flows if flows is None else min(_MARGIN * flows, self.flows)
        at_work = min(likely, self.at_once)
        return self.rest + at_work * PER_FLOW + (likely - at_work) * PER_FINISHED


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


def estimate(resolved: Mapping[str, Any], preview: Preview) -> Estimate:
    """The largest memory of a run, tables included.

    Args:
        resolved: The scenario with every default filled in.
        preview: The engine's preview of the run.

    """
    network, measure, groups = resolved["network"], resolved["measure"], preview["groups"]
    duration, rate = number(resolved["run"]["duration"]), number(network["rate"])
    if any(map(waits, resolved["traffic"])):
        duration += number(resolved["run"]["steady-limit"])
    flows, hosts = sum(group["flows"] for group in groups), preview["hosts"]
    # As much again waits at the hosts' interfaces. What waits is limited by the flows' windows and sizes.
    window = number(resolved["transport"].get("receive-buffer", _LARGEST)) / FRAME_BYTES
    sizes = [group["mean_bytes"] / FRAME_BYTES + 1 if group["mean_bytes"] else window for group in groups]
    sent = sum(group["flows"] * min(window, size) for group, size in zip(groups, sizes, strict=True))
    buffered = min(2.0 * preview["buffered"], sent)
    # Links carry no more than fits in their time, and no more than there is to send.
    crossing = _packets(resolved, groups)
    carried = min(rate * duration / 8 / FRAME_BYTES, crossing)
    observed = float({"none": 0, "bottleneck": 1}.get(measure["queues"], int(preview["ports"])))
    rows = 0.0
    if measure["queue-trace"] == "on-change":
        rows += 2 * min(carried * observed, crossing * _MOST_PORTS)
    elif measure["queue-trace"] != "off":
        rows += duration / max(number(measure["queue-sample"]), 1e-9) * observed
    if measure["probes"] != "off":
        rows += carried * min(1.0, measure["probe-flows"] / max(flows, 1.0))
    bins = duration / width if (width := number(measure["bin"])) > 0 else 0.0
    captured = 0.0 if measure["capture"] == "off" else min(2 * carried, measure["capture-limit"])
    tables = rows * PER_TRACE_ROW + bins * (len(groups) + observed) * PER_BIN + captured * PER_CAPTURED
    at_once = sum(group["at_once"] for group in groups)
    return Estimate(flows, BASE + hosts * PER_HOST + buffered * PER_PACKET + tables, at_once)


def _packets(resolved: Mapping[str, Any], groups: list[Mapping[str, Any]]) -> float:
    """Packets that any port sees at most, acknowledgements and repetitions included; infinite for endless data."""
    if any(group["mean_bytes"] == 0 for group in groups):
        return math.inf
    mss = number(resolved["transport"].get("mss", _LEAST))
    full = (group["flows"] * (group["mean_bytes"] / mss + 1 + _HANDSHAKE) for group in groups)
    return _BOTH_WAYS * _REPEATED * _MARGIN * float(sum(full))
