"""How much memory a run will take, and how much the machine has.

The estimate is an upper one, from what is known before a run: flows and hosts, which the engine reports, packets in
buffers, and the tables that grow with time. It is meant to keep a machine from running out, not to be exact; a test
holds it against real peaks.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.numbers.units import quantity

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

_FRAME = 1500.0


Preview = Mapping[str, Any]
"""``hosts switches ports groups`` of a scenario as the engine lays it out, see :meth:`fanin.Experiment.preview`."""


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


def estimate(resolved: Mapping[str, Any], preview: Preview) -> Estimate:
    """What a run takes at most, its tables included.

    Args:
        resolved: The scenario with every default filled in.
        preview: What the engine knows of the run in advance.

    """
    network, measure, groups = resolved["network"], resolved["measure"], preview["groups"]
    duration, rate = _number(resolved["run"]["duration"]), _number(network["rate"])
    flows, hosts = sum(group["flows"] for group in groups), preview["hosts"]
    # Every host's port and the switch's towards it; what waits there has been sent, by a flow that may and has it.
    window = _packets(resolved["transport"]["receive-buffer"])
    sizes = [group["mean_bytes"] / _FRAME + 1 if group["mean_bytes"] else window for group in groups]
    sent = sum(group["flows"] * min(window, size) for group, size in zip(groups, sizes, strict=True))
    buffered = min(2 * hosts * _packets(network["buffer"]), sent)
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


def _packets(size: object) -> float:
    number, unit = quantity(size) or (0.0, "")
    return number if unit == "pkt" else number / _FRAME


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
