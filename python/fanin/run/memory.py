"""How much memory a run will need, and how much the machine has.

The estimate is an upper bound from what is known before a run: flows and hosts, which the engine reports, packets in
buffers, and the tables that grow with time. Its purpose is to keep a machine from running out of memory, not to be
exact; a test compares it with real peaks, which may be a quarter of it.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.errors import WorkerError
from fanin.numbers.units import quantity

BASE = 6e6
PER_FLOW = 2200.0
PER_FINISHED = 450.0
PER_HOST = 3000.0
PER_PACKET = 48.0
PER_TRACE_ROW = 70.0
PER_BIN = 450.0
PER_CAPTURED = 130.0
"""Bytes, each measured on runs of one kind; those of tables include the writing."""

SHARE = 0.8
"""Share of the free memory that all runs together may take."""

_MARGIN = 1.25
"""Numbers of flows differ by less between seeds."""

_FRAME = 1500.0


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
    duration, rate = _number(resolved["run"]["duration"]), _number(network["rate"])
    flows, hosts = sum(group["flows"] for group in groups), preview["hosts"]
    # As much again waits at the hosts' interfaces. What waits is limited by the flows' windows and sizes.
    window = _number(resolved["transport"]["receive-buffer"]) / _FRAME
    sizes = [group["mean_bytes"] / _FRAME + 1 if group["mean_bytes"] else window for group in groups]
    sent = sum(group["flows"] * min(window, size) for group, size in zip(groups, sizes, strict=True))
    buffered = min(2.0 * preview["buffered"], sent)
    carried = rate * duration / 8 / _FRAME
    observed = float({"none": 0, "bottleneck": 1}.get(measure["queues"], int(preview["ports"])))
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
    at_once = sum(group["at_once"] for group in groups)
    return Estimate(flows, BASE + hosts * PER_HOST + buffered * PER_PACKET + tables, at_once)


def _number(value: object) -> float:
    found = quantity(value)
    return 0.0 if found is None else found[0]


def available() -> float:
    """Bytes that are free on this machine, in this container, or in this job."""
    free = [
        number for read in (_free, _room_of_container, _room_of_process, _room_of_job) if (number := read()) is not None
    ]
    return min(free, default=float("inf"))


def _free() -> float | None:
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # Not Linux: half of the machine's memory.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    return None


_LIMITS = {
    # Version 2, mounted alone or next to version 1.
    "": ("memory.max", "memory.current", "inactive_file"),
    "unified": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Mount point of control groups -> their files with limit and use, and the key of the part that can be freed."""


def _room_of_container(
    membership: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Memory left by the control groups of this process, in either version: its own, and all that contain it."""
    rooms = []
    for mount, files in _LIMITS.items():
        own = mounted / mount / _group(membership, first_version=mount == "memory")
        for folder in (own, *own.parents):
            if folder.is_relative_to(mounted / mount):
                rooms.append(_room(folder, *files))
    return min((room for room in rooms if room is not None), default=None)


def _group(membership: Path, *, first_version: bool) -> str:
    """Path of the control group that limits the memory of this process, below the mount point."""
    with contextlib.suppress(OSError):
        for line in membership.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if ("memory" in controllers.split(",")) if first_version else not controllers:
                # Nothing can be read outside of this container.
                return "" if ".." in path else path.strip("/")
    return ""


def _room(folder: Path, limit: str, used: str, freed: str) -> float | None:
    """Memory left by a control group; none if it has no limit. Unused cached files count as free."""
    with contextlib.suppress(OSError, ValueError):
        room = float((folder / limit).read_text()) - float((folder / used).read_text())
        stat = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text().splitlines())
        return max(room + float(stat.get(freed, 0)), 0.0)
    return None


def _room_of_process() -> float | None:
    """Address space left to this process (``ulimit -v``); none if it has no limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        resource = importlib.import_module("resource")
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            return max(float(limit - pages * resource.getpagesize()), 0.0)
    return None


def _room_of_job() -> float | None:
    """Memory that Slurm allocated to this job on this machine, enforced or not; 0 means all."""
    megabytes = os.environ.get("SLURM_MEM_PER_NODE", "")
    return float(megabytes) * 2**20 if megabytes.isdigit() and int(megabytes) else None


def shown(number: float) -> str:
    """Bytes as text."""
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e6:.0f} MB"
