"""How much memory the machine, the container or the job has left."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

SHARE = 0.8
"""Share of the free memory that all runs together, or a table, may take."""


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
    with contextlib.suppress(OSError, ValueError):
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
    with contextlib.suppress(OSError, ValueError):
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
