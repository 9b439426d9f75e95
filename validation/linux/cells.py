"""The cells of the comparison: what the Linux kernel and the simulator both run, and what is kept of a run."""

from __future__ import annotations

import hashlib
import json
import math
import re
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Generic, TypeVar

import numpy as np

import fanin
from fanin import _engine
from fanin.results.frames import decode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STORED = HERE / "kernel.jsonl"
_MODULES = ROOT / "linux" / "modules"
_INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)

_DOCUMENT = tomllib.loads((HERE / "cells.toml").read_text())
SEEDS: list[int] = _DOCUMENT["seeds"]
TOLERANCE: dict[str, float] = _DOCUMENT["tolerance"]

PATHS = {
    "topology": "network.topology",
    "rate": "network.rate",
    "delay": "network.delay",
    "buffer": "network.buffer",
    "memory": "network.shared-buffer",
    "alpha": "network.dt-alpha",
    "trunk-rate": "network.trunk-rate",
    "uplink-rate": "network.uplink-rate",
    "queue": "queue.kind",
    "mark-from": "queue.threshold",
    "scheme": "transport.scheme",
    "threshold": "scheme.linux-dctcp.mark-threshold",
    "mtu": "transport.mtu",
    "ecn": "transport.ecn",
    "pacing": "transport.pacing",
    "rto-min": "transport.rto-min",
    "tick": "transport.rto-granularity",
    "interrupts": "transport.interrupt-interval",
    "gro": "transport.gro",
    "tso": "transport.tso",
    "small-queue": "transport.small-queue",
    "host-queue": "transport.host-queue",
    "senders": "traffic.answers.senders",
    "bytes": "traffic.answers.bytes-each",
    "rounds": "traffic.answers.rounds",
    "start": "traffic.answers.start",
    "gap": "traffic.answers.gap",
    "request": "traffic.answers.request",
    "jitter": "traffic.answers.jitter",
    "connections": "traffic.answers.connections",
}

MODULES = {
    "l2dct": "tcp_l2dct.c",
    "d2tcp": "tcp_d2tcp.c",
    "dt-cwa": "tcp_dtcwa.c",
    "pfdct": "tcp_pfdct.c",
    "pfdct-st": "tcp_pfdct.c",
    "ictcp": "ictcp.c",
    "rcc": "rcc.c",
    "rcce": "rcc.c",
    "sab": "sab.h",
    "sdtcp": "sdtcp.h",
}
"""What Linux lacks of a scheme: a module, or a header of that of the links which no other scheme uses."""

COUNTS = {
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
    "tail loss probes": "loss_probes",
    "marks": "marks",
}
"""What is counted in a run, and the total that has it."""

PERCENTILES = {"p50": "fct_p50_s", "p95": "fct_p95_s", "p99": "fct_p99_s"}
"""Percentiles of the completion times of transfers in a run, and the total that has each."""


@dataclass(frozen=True)
class Cell:
    """One scenario of the comparison."""

    group: str
    own: Mapping[str, Any] = field(hash=False)
    """The values by which it differs from its group."""
    values: Mapping[str, Any] = field(hash=False)
    """All values that replace those of the base, by short key."""
    base: str
    """The file of the scenario that it starts from."""

    @property
    def name(self) -> str:
        """Such as ``cubic/8x32KB buffer=30pkt``."""
        rest = {key: value for key, value in self.own.items() if key not in ("senders", "bytes", "rounds")}
        what = [f"{self.group}/{self.own['senders']}x{self.own['bytes']}"]
        return " ".join([*what, *(f"{key}={value}" for key, value in rest.items())])

    @property
    def settings(self) -> dict[str, Any]:
        """The same as dotted paths of a scenario."""
        return {PATHS.get(key, key): value for key, value in self.values.items()}

    @property
    def hz(self) -> int:
        """Ticks a second of the kernel."""
        return 250 if self.values.get("tick") == "4ms" else 1000

    @property
    def digest(self) -> str:
        """Of everything that it runs."""
        return digest([self.base], json.dumps([self.settings, SEEDS], sort_keys=True))


def digest(files: Iterable[str], text: str = "", folder: Path = HERE) -> str:
    """Of files and a text: 12 hexadecimal digits."""
    hashed = hashlib.sha256(text.encode())
    for file in files:
        hashed.update((folder / file).read_bytes())
    return hashed.hexdigest()[:12]


GROUPS: dict[str, str] = {group["name"]: group["title"] for group in _DOCUMENT["group"]}
CELLS = tuple(
    Cell(group["name"], own, group.get("set", {}) | own, group.get("base", "incast.toml"))
    for group in _DOCUMENT["group"]
    for own in group["cells"]
)


@dataclass(frozen=True)
class Measured:
    """What is kept of a cell: one list, or one number, of each seed."""

    queries: tuple[tuple[int, ...], ...]
    """Times of queries in nanoseconds, in the order of their starts."""
    numbers: Mapping[str, tuple[int, ...]] = field(hash=False)
    """By name: percentiles of transfers in nanoseconds, and counts."""

    @property
    def row(self) -> dict[str, Any]:
        """As it is stored."""
        return {"queries": self.queries, **self.numbers}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Measured:
        """From what is stored."""
        numbers = {name: tuple(row[name]) for name in (*PERCENTILES, *COUNTS)}
        return cls(tuple(tuple(run) for run in row["queries"]), numbers)


ORDERED: Mapping[str, str] = {"network.ties": "scheduled"}
"""What the simulator needs so that packets that meet come in the kernel's order."""


def run(
    cell: Cell,
    backend: str,
    seeds: Sequence[int] = tuple(SEEDS),
    progress: Callable[[float], bool] | None = None,
    changes: Mapping[str, str] = ORDERED,
) -> Measured:
    """Runs a cell in the kernel (``linux``), or in the simulator with changes."""
    settings = cell.settings | (changes if backend == "simulator" else {})
    experiment = fanin.Scenario(HERE / cell.base).set(settings | {"run.backend": backend})
    outputs = experiment.simulate_seeds({}, list(seeds), math.inf, progress)
    totals = [json.loads(output.summary) for output in outputs]
    times = [decode(output.columns("requests"))["qct_s"].to_numpy() for output in outputs]
    if any(np.isnan(run).any() for run in times):
        raise AssertionError(f"{cell.name}: a query did not end")
    queries = tuple(tuple(np.rint(run * 1e9).astype(int).tolist()) for run in times)
    percentiles = {name: tuple(round(run[total] * 1e9) for run in totals) for name, total in PERCENTILES.items()}
    counts = {name: tuple(run[total] for run in totals) for name, total in COUNTS.items()}
    return Measured(queries, percentiles | counts)


Done = TypeVar("Done")
Task = TypeVar("Task")


def run_all(
    tasks: Sequence[Task],
    work: Callable[[Task, Callable[[float], bool]], Done],
    jobs: int,
    done: Callable[[Task, Done], None],
) -> None:
    """Does tasks, ``jobs`` at a time; ``work`` gets what says whether to go on, and ``done`` is called as each ends."""
    stopped = Event()
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(work, task, lambda _: not stopped.is_set()): task for task in tasks}
        try:
            for ended in as_completed(running):
                done(running[ended], ended.result())
        except BaseException:
            # What runs ends with it, and nothing of a kernel is left.
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def interruptible(main: Callable[[], None]) -> None:
    """Runs a program that may be asked to end: its kernels end too, and what has been measured is stored."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)


def kernels() -> dict[int, str]:
    """The releases of the kernels that are built, by HZ."""
    return {hz: release for hz, release, *_ in _engine.linux_kernels()}


def sources(module: str, without: Iterable[str] = ()) -> list[str]:
    """A module's files: its own, and those that it includes."""
    found = [module]
    for file in found:
        included = _INCLUDED.findall((_MODULES / file).read_text())
        found += [each for each in included if each not in (*found, *without)]
    return [str(_MODULES / file) for file in found]


def kernel_digest() -> str:
    """Of what makes the kernel and its links: patch, configuration, and module without what one scheme uses."""
    links = sources("cable.c", MODULES.values())
    return digest(["virtual-time.patch", "kernel.config", *links], "", ROOT / "linux")


Found = TypeVar("Found")


@dataclass(frozen=True)
class Entry(Generic[Found]):
    """A line of a file of what the kernel did."""

    release: str
    kernel: str
    """Digest of what made the kernel."""
    settings: str
    """Digest of what was run."""
    found: Found

    @property
    def head(self) -> dict[str, str]:
        """What it begins with, after the name."""
        return {"release": self.release, "kernel": self.kernel, "settings": self.settings}

    @classmethod
    def of_row(cls, row: Mapping[str, Any], found: Found) -> Entry[Found]:
        """From what is stored."""
        return cls(row["release"], row["kernel"], row["settings"], found)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """What a file of JSON lines has; nothing if there is none."""
    return [json.loads(line) for line in (path.read_text().splitlines() if path.exists() else [])]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a file of JSON lines, as a whole or not at all."""
    partial = path.with_suffix(".part")
    partial.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    partial.replace(path)


def stored() -> dict[str, Entry[Measured]]:
    """The kernel's numbers by name of the cell."""
    return {row["cell"]: Entry.of_row(row, Measured.of_row(row)) for row in read_rows(STORED)}


def store(entries: Mapping[str, Entry[Measured]]) -> None:
    """Writes the kernel's numbers of today's cells, one line a cell, in the order of the list."""
    named = [(cell.name, entries[cell.name]) for cell in CELLS if cell.name in entries]
    write_rows(STORED, [{"cell": name, **entry.head, **entry.found.row} for name, entry in named])


def lacking(entries: Mapping[str, Entry[Measured]]) -> list[Cell]:
    """Cells of which nothing is stored, or what was measured with other settings or another kernel."""
    kernel = kernel_digest()
    made = {name: (entry.settings, entry.kernel) for name, entry in entries.items()}
    return [cell for cell in CELLS if made.get(cell.name) != (cell.digest, kernel)]


def measure(cells: Sequence[Cell], jobs: int, say: Callable[[str], None]) -> None:
    """Runs cells in the kernel, ``jobs`` at a time, and stores each as it ends; cells without a kernel are skipped."""
    built, kernel, entries = kernels(), kernel_digest(), stored()
    for hz in sorted({cell.hz for cell in cells} - built.keys()):
        names = [cell.name for cell in cells if cell.hz == hz]
        say(f"{len(names)} cells are skipped, since the kernel with HZ={hz} is not built: {', '.join(names)}")
    runnable = [cell for cell in cells if cell.hz in built]
    ended, begun = 0, time.monotonic()

    def keep(cell: Cell, measured: Measured) -> None:
        nonlocal ended
        ended += 1
        entries[cell.name] = Entry(built[cell.hz], kernel, cell.digest, measured)
        store(entries)
        say(f"kernel: {ended} of {len(runnable)} cells, {time.monotonic() - begun:.0f} s: {cell.name}")

    run_all(runnable, lambda cell, go_on: run(cell, "linux", progress=go_on), jobs, keep)
