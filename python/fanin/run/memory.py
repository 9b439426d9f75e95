"""How much memory a run will take, and how much the machine has.

The estimate is an upper one, from the scenario alone: flows, hosts, packets in buffers, and the tables that grow with
time. It is meant to keep a machine from running out, not to be exact; a test holds it against real peaks.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fanin.numbers.units import quantity
from fanin.registry import registry

BASE = 6e6
PER_FLOW = 2200.0
PER_FINISHED = 450.0
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

_FEW = 64
_KEPT_UP = 0.8
"""Share of its receivers' links up to which a network keeps up with what begins by itself."""
_SLOWDOWN = 10.0

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
    at_once: float = math.inf
    """Flows that are under way together at most; the others are over or to come, and a row is all they take."""

    def bytes(self, flows: float | None = None) -> float:
        """Bytes in all.

        Args:
            flows: How many the same point had with another seed, if that is known.

        """
        likely = self.flows if flows is None else min(_MARGIN * flows, self.flows)
        at_work = min(likely, self.at_once)
        return self.rest + at_work * PER_FLOW + (likely - at_work) * PER_FINISHED


def estimate(resolved: Mapping[str, Any]) -> Estimate:
    """What a run of a resolved scenario takes at most, its tables included."""
    network, measure = resolved["network"], resolved["measure"]
    groups = resolved["traffic"]
    duration = _number(resolved["run"]["duration"])
    rate = _number(network["rate"])
    counts = [_flows(group, network, rate, duration, len(groups)) for group in groups]
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
    rto = _number(resolved["transport"]["rto-min"])
    at_once = sum(_at_once(group, network, count, duration, rto) for group, count in zip(groups, counts, strict=True))
    return Estimate(flows, BASE + hosts * PER_HOST + buffered * PER_PACKET + tables, at_once)


def _flows(group: Mapping[str, Any], network: Mapping[str, Any], rate: float, duration: float, groups: int) -> float:
    """As many as a traffic group asks for, and where that is endless as the network can carry.

    The groups of a scenario share the links into their receivers.
    """
    start, stop = _number(group.get("start", 0)), _number(group.get("stop", 0))
    seconds = max((min(stop, duration) if stop > 0 else duration) - start, 0.0)
    if group["kind"] == "flows":
        # The header is a line too, and so are comments.
        return float(max(group["file-lines"] - 1, 0))
    size = _size(group)
    capacity = _receivers(group, network) * rate / 8
    if group["kind"] in ("poisson", "requests"):
        return _arrivals(group, size, capacity, seconds)
    senders, fan_in = max(_senders(group), 1.0), float(group.get("fan-in") or 1)
    asked = float(group.get("flows") or senders * (group.get("rounds") or float("inf")))
    if count := group.get("count"):
        asked = min(asked, fan_in * count)
    if (interval := _number(group.get("interval", 0))) > 0 and "flows" not in group:
        asked = min(asked, fan_in * seconds / interval)
    if concurrent := float(group.get("concurrent") or 0) if group["kind"] == "sessions" else 0.0:
        # None is done before a handshake, and before its bytes have been sent: three times over two links at least.
        least = size * 8 / rate + 6 * _number(network["delay"]) + _number(group["gap"])
        asked = min(asked, concurrent * (1 + seconds / max(least, 1e-9)))
    if size == 0:
        return asked if asked != float("inf") else senders
    # Those that cannot be carried have begun all the same, one per sender at least.
    return min(asked, max(senders, concurrent) + capacity / groups * seconds / size)


def _at_once(group: Mapping[str, Any], network: Mapping[str, Any], flows: float, duration: float, rto: float) -> float:
    """As many of a group's flows as are under way together, at most and as far as the scenario tells."""
    most = flows
    if group["kind"] == "incast":
        most = _senders(group)
    elif group["kind"] == "sessions":
        most = float(group["concurrent"])
    elif group["kind"] in ("poisson", "requests"):
        rate, size = _number(network["rate"]), _size(group)
        arrivals = flows / max(duration, 1e-9)
        if arrivals * size * 8 < _KEPT_UP * _receivers(group, network) * rate:
            # One that has lost something waits for its timer.
            most = arrivals * (_SLOWDOWN * (size * 8 / rate + 6 * _number(network["delay"])) + rto)
    # Those that are over are let go when they have doubled.
    return min(flows, 2 * most + _FEW)


def _arrivals(group: Mapping[str, Any], size: float, capacity: float, seconds: float) -> float:
    """Flows that begin by themselves, whether or not what has begun is done."""
    fan_in = float(group.get("fan-in") or 1)
    interval = _number(group["interval"])
    if interval == 0:
        interval = size * fan_in / (float(group["load"]) * capacity)
    likely = seconds / interval
    # Chance adds some: as good as never more than five deviations.
    most = likely + 5 * math.sqrt(likely) + 1
    return fan_in * min(most, float(group["count"] or "inf"))


def _receivers(group: Mapping[str, Any], network: Mapping[str, Any]) -> float:
    """Hosts that a group may send to, at most."""
    return float(group.get("receivers") or 1) if group.get("to", "by-part") == "by-part" else _hosts(network) or 1.0


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
    for workload in registry()["workloads"]:
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
    """Bytes that are free on this machine, in the container that this is, or in the job that it is part of."""
    free = [number for read in (_free, _room_of_container, _room_of_job) if (number := read()) is not None]
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


_LIMITS = {
    # Version 2, mounted alone or beside the first.
    "": ("memory.max", "memory.current", "inactive_file"),
    "unified": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Where control groups are mounted -> their files of limit and use, and the key of what can be freed of it."""


def _room_of_container(
    membership: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """What the control groups of this process leave, in either version: its own, and all that this one is in."""
    rooms = []
    for mount, files in _LIMITS.items():
        own = mounted / mount / _group(membership, first_version=mount == "memory")
        for folder in (own, *own.parents):
            if folder.is_relative_to(mounted / mount):
                rooms.append(_room(folder, *files))
    return min((room for room in rooms if room is not None), default=None)


def _group(membership: Path, *, first_version: bool) -> str:
    """Path of the control group of this process that limits memory, below where they are mounted."""
    with contextlib.suppress(OSError):
        for line in membership.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if ("memory" in controllers.split(",")) if first_version else not controllers:
                # Outside of what this container sees, nothing can be read.
                return "" if ".." in path else path.strip("/")
    return ""


def _room(folder: Path, limit: str, used: str, freed: str) -> float | None:
    """What a control group leaves; none if it has no limit. Copies of files that nobody uses make room for others."""
    with contextlib.suppress(OSError, ValueError):
        room = float((folder / limit).read_text()) - float((folder / used).read_text())
        stat = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text().splitlines())
        return max(room + float(stat.get(freed, 0)), 0.0)
    return None


def _room_of_job() -> float | None:
    """What Slurm gave this job on this machine, whether or not it keeps it to that; 0 is all."""
    megabytes = os.environ.get("SLURM_MEM_PER_NODE", "")
    return float(megabytes) * 2**20 if megabytes.isdigit() and int(megabytes) else None


def shown(number: float) -> str:
    """Bytes as people read them."""
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e6:.0f} MB"
