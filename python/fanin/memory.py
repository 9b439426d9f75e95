"""How much memory a run will take, and how much the machine has.

The estimate is an upper one, from the scenario alone: flows, hosts, packets in buffers, and the tables that grow with
time. It is meant to keep a machine from running out, not to be exact; a test holds it against real peaks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fanin import catalogue
from fanin.units import quantity

BASE = 6e6
PER_FLOW = 1800.0
PER_HOST = 3000.0
PER_PACKET = 48.0
PER_TRACE_ROW = 70.0
PER_BIN = 450.0
PER_CAPTURED = 130.0
"""Bytes, measured on runs of one kind each; the tables' include what writing them takes."""

SHARE = 0.8
"""Part of the free memory that runs may take together."""

_MARGIN = 1.25
"""Seeds differ by less in their numbers of flows."""

_FRAME = 1500.0
_UNKNOWN_SIZE = 10e3

_HOSTS: dict[str, tuple[str, ...]] = {
    "leaf-spine": ("leaves", "hosts-per-leaf"),
    "clos": ("pods", "leaves", "hosts-per-leaf"),
    "tree": ("edge-switches", "hosts-per-edge"),
}
"""Topology -> the parameters whose product is its number of hosts."""


@dataclass(frozen=True)
class Estimate:
    """What a run takes."""

    flows: float
    """Flows that it has at most."""
    rest: float
    """Bytes that do not depend on how many they are."""

    def bytes(self, flows: float | None = None) -> float:
        """Bytes in all.

        Args:
            flows: How many the same point had with another seed, if that is known.

        """
        likely = self.flows if flows is None else min(_MARGIN * flows, self.flows)
        return self.rest + likely * PER_FLOW


def estimate(resolved: Mapping[str, Any]) -> Estimate:
    """What a run of a resolved scenario takes at most, its tables included."""
    network, measure = resolved["network"], resolved["measure"]
    groups = resolved["traffic"]
    duration = _number(resolved["run"]["duration"])
    rate = _number(network["rate"])
    counts = [_flows(group, network, rate / len(groups), duration) for group in groups]
    flows = sum(counts)
    hosts = _hosts(network) or sum(_senders(group) for group in groups)
    # Every host's port and the switch's towards it; what waits there has been sent, by a flow that may and has it.
    window = _packets(resolved["transport"]["receive-buffer"])
    sizes = [_size(group) / _FRAME + 1 if _size(group) else window for group in groups]
    sent = sum(count * min(window, size) for count, size in zip(counts, sizes, strict=True))
    buffered = min(2 * hosts * _packets(network["buffer"]), sent)
    carried = rate * duration / 8 / _FRAME
    observed = {"none": 0.0, "bottleneck": 1.0}.get(measure["queues"], 2 * hosts)
    rows = 0.0
    if measure["queue-trace"] == "on-change":
        rows += 2 * carried * observed
    elif measure["queue-trace"] != "off":
        rows += duration / max(_number(measure["queue-sample"]), 1e-9) * observed
    if measure["probes"] != "off":
        rows += carried * min(1.0, measure["probe-flows"] / max(flows, 1.0))
    bins = duration / width if (width := _number(measure["bin"])) > 0 else 0.0
    captured = 0.0 if measure["capture"] == "off" else min(2 * carried, measure["capture-limit"])
    tables = rows * PER_TRACE_ROW + bins * (len(groups) + observed) * PER_BIN + captured * PER_CAPTURED
    return Estimate(flows, BASE + hosts * PER_HOST + buffered * PER_PACKET + tables)


def _flows(group: Mapping[str, Any], network: Mapping[str, Any], rate: float, duration: float) -> float:
    """As many as a traffic group asks for, and no more than its part of the links into its receivers can carry."""
    start, stop = _number(group.get("start", 0)), _number(group.get("stop", 0))
    seconds = max((min(stop, duration) if stop > 0 else duration) - start, 0.0)
    senders, fan_in = max(_senders(group), 1.0), float(group.get("fan-in") or 1)
    asked = float(group.get("flows") or senders * (group.get("rounds") or float("inf")))
    if count := group.get("count"):
        asked = min(asked, fan_in * count)
    if (interval := _number(group.get("interval", 0))) > 0 and "flows" not in group:
        asked = min(asked, fan_in * seconds / interval)
    size = _size(group)
    if size == 0:
        return asked if asked != float("inf") else senders
    receivers = float(group.get("receivers") or 1) if group.get("to", "by-part") == "by-part" else _hosts(network)
    load = float(group.get("load") or 1.0)
    # Those that cannot be carried have begun all the same, one per sender at least.
    return min(asked, senders + receivers * rate * load * seconds / 8 / size)


def _size(group: Mapping[str, Any]) -> float:
    """Bytes of a transfer of a group on average; none if it is endless."""
    parts = float(group.get("fan-in") or _senders(group) or 1)
    return mean_size(group.get("bytes-each", "")) or _number(group.get("bytes-total", 0)) / parts


def _senders(group: Mapping[str, Any]) -> float:
    return float(group.get("senders") or group.get("flows") or 1) + float(group.get("small-senders") or 0)


def _hosts(network: Mapping[str, Any]) -> float:
    """Hosts of the topology; none where they are as many as the traffic needs."""
    if network["topology"] == "fat-tree":
        pods = network["pods"]
        edges, hosts = network["edges-per-pod"] or pods / 2, network["hosts-per-edge"] or pods / 2
        return float(pods * edges * hosts)
    keys = _HOSTS.get(network["topology"])
    if keys is None:
        return float(network.get("sender-hosts") or 0)
    product = 1.0
    for key in keys:
        product *= network[key]
    return product


def mean_size(text: object) -> float:
    """Bytes of a transfer on average: of a size, of shares such as "1MB 50%, 4MB 50%", or of a distribution."""
    for workload in catalogue.registry()["workloads"]:
        if workload["key"] == text:
            return float(workload["mean_bytes"])
    words = str(text).removeprefix("cdf ")
    if (found := quantity(words)) is not None:
        return found[0]
    parts = [part.split() for part in words.split(",") if part.strip()]
    if not parts or any(len(part) != 2 or quantity(part[0]) is None for part in parts):
        return _UNKNOWN_SIZE if words else 0.0
    points = [(_number(size), _number(share)) for size, share in parts]
    if words != str(text):
        return sum((a + b) / 2 * (high - low) for (a, low), (b, high) in pairwise(points)) + points[0][0] * points[0][1]
    return sum(size * share for size, share in points)


def _packets(size: object) -> float:
    number, unit = quantity(size) or (0.0, "")
    return number if unit == "packets" else number / _FRAME


def _number(value: object) -> float:
    found = quantity(value)
    return 0.0 if found is None else found[0]


def available() -> float:
    """Bytes that are free on this machine, or in the container that this is."""
    free = [number for read in (_free, _room_of_container) if (number := read()) is not None]
    return min(free, default=float("inf"))


def _free() -> float | None:
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # Not Linux: half of what the machine has.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    return None


def _room_of_container() -> float | None:
    """What the control group leaves, in either version's files."""
    root = Path("/sys/fs/cgroup")
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            return max(float((root / limit).read_text()) - float((root / used).read_text()), 0.0)
    return None


def shown(number: float) -> str:
    """Bytes as people read them."""
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e6:.0f} MB"
