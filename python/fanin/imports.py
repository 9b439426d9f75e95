"""Other tools' lists of flows, size distributions and topologies, as what a scenario takes.

Lists are read line by line and sorted by start in four arrays of numbers, 32 bytes a flow. Every mistake names file
and line.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import NoReturn, TextIO

import numpy as np

from fanin.errors import ScenarioError

PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
"""Unit of time -> picoseconds."""

_LATEST = 10**18


@dataclass
class Flows:
    """A list of flows in arrays."""

    start: array[int] = field(default_factory=lambda: array("q"))
    """In picoseconds."""
    src: array[int] = field(default_factory=lambda: array("l"))
    dst: array[int] = field(default_factory=lambda: array("l"))
    size: array[int] = field(default_factory=lambda: array("q"))
    hosts: dict[str, int] = field(default_factory=dict)
    """Name in the file -> number, where hosts have names."""
    said: list[str] = field(default_factory=list)
    """What was assumed."""

    def add(self, start: int, src: int, dst: int, size: int) -> None:
        """One more flow."""
        self.start.append(start)
        self.src.append(src)
        self.dst.append(dst)
        self.size.append(size)

    def write(self, stream: TextIO) -> None:
        """Writes the list as the traffic pattern ``flows`` reads it, in order of start."""
        stream.write("start_ps,src,dst,bytes\n")
        columns = [np.frombuffer(each, each.typecode) for each in (self.start, self.src, self.dst, self.size)]
        order = np.argsort(columns[0], kind="stable") if len(self.start) else np.array([], dtype=int)
        for at in order:
            stream.write(",".join(str(column[at]) for column in columns) + "\n")


class _Source:
    """A file and the place in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0

    def fail(self, message: str) -> NoReturn:
        raise ScenarioError(str(self.path), self.line, "", message)

    def whole(self, text: str, what: str, least: int = 0) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least or int(text) >= 2**53:
            self.fail(f"{what} {text!r} is no whole number{f', {least} at least' if least else ''}")
        return int(text)

    def time(self, text: str, unit: str) -> int:
        try:
            ps = int(Decimal(text) * PS[unit])
        except (InvalidOperation, ValueError, OverflowError):
            self.fail(f"start {text!r} is no time")
        if not 0 <= ps <= _LATEST:
            self.fail(f"start {text} {unit} is not between 0 and {_LATEST // PS['s']} s")
        return ps

    def lines(self) -> Iterator[str]:
        """Lines without comments, with ``line`` kept."""
        try:
            with self.path.open(encoding="utf-8") as stream:
                for self.line, text in enumerate(stream, 1):
                    if text.strip() and not text.lstrip().startswith("#"):
                        yield text.strip()
        except UnicodeDecodeError:
            self.line += 1
            self.fail("no UTF-8 text")


def hpcc(path: Path) -> Flows:
    """HPCC's list: the number of flows, then ``src dst priority port bytes start`` with the start in seconds.

    Raises:
        ScenarioError: naming file and line.

    """
    source, flows = _Source(path), Flows()
    lines = source.lines()
    promised = source.whole(next(lines, ""), "number of flows")
    for text in lines:
        fields = text.split()
        if len(fields) != 6:
            source.fail(f"{len(fields)} fields, and a flow has 6: src dst priority port bytes start")
        src, dst = (source.whole(each, "host") for each in fields[:2])
        flows.add(source.time(fields[5], "s"), src, dst, source.whole(fields[4], "bytes", 1))
    if len(flows.start) != promised:
        source.fail(f"{len(flows.start)} flows, and the first line says {promised}")
    flows.said.append("starts are in seconds; priority and port are left out")
    return flows


_CONNECTION = re.compile(r"(\d+)->(\d+)\s+(.*)")


def htsim(path: Path) -> Flows:
    """A connection matrix of htsim: ``Nodes``, ``Connections``, then ``src->dst ... start PS ... size BYTES``.

    Raises:
        ScenarioError: naming file and line; also for a trigger or a failure, which a list of flows cannot say.

    """
    source, flows, promised = _Source(path), Flows(), None
    for text in source.lines():
        word, _, rest = text.partition(" ")
        if word == "Connections":
            promised = source.whole(rest.strip(), "number of connections")
        elif match := _CONNECTION.fullmatch(text):
            words = match[3].split()
            keys = dict(zip(words[::2], words[1::2], strict=False))
            if "trigger" in keys:
                source.fail("starts by a trigger: a list of flows has only times")
            if "start" not in keys or "size" not in keys:
                source.fail("a connection needs start and size")
            size = source.whole(keys["size"], "size", 1)
            flows.add(source.time(keys["start"], "ps"), int(match[1]), int(match[2]), size)
        elif word != "Nodes" and word != "Triggers":
            source.fail(f"{word!r} is not known: only Nodes, Connections and SRC->DST")
    if promised is not None and promised != len(flows.start):
        source.fail(f"{len(flows.start)} connections, and the file says {promised}")
    flows.said.append("starts are in picoseconds, as htsim reads them from a file")
    return flows


def records(path: Path, columns: dict[str, str], unit: str) -> Flows:
    """A CSV of flow records with a header, such as NetFlow's or sFlow's exports.

    Args:
        path: The file.
        columns: ``start``, ``src``, ``dst`` and ``bytes`` -> the column that has it.
        unit: Of the start.

    Raises:
        ScenarioError: naming file and line.

    """
    source, flows = _Source(path), Flows()
    first: int | None = None
    lines = csv.reader(source.lines())
    header = [name.strip() for name in next(lines, [])]
    if missing := [name for name in columns.values() if name not in header]:
        source.fail(f"no column {missing[0]!r}; the header has {', '.join(header)}")
    places = {what: header.index(name) for what, name in columns.items()}
    for fields in lines:
        if len(fields) != len(header):
            source.fail(f"{len(fields)} fields, and the header has {len(header)}")
        given = {what: fields[place].strip() for what, place in places.items()}
        # A clock of the day or of the epoch: only what comes after the first matters.
        base = Decimal(0) if first is None else Decimal(first)
        try:
            start = Decimal(given["start"])
        except InvalidOperation:
            source.fail(f"start {given['start']!r} is no time")
        if first is None:
            first, base = int(start), Decimal(int(start))
        if given["src"] == given["dst"]:
            source.fail(f"{given['src']} sends to itself")
        src, dst = (flows.hosts.setdefault(given[end], len(flows.hosts)) for end in ("src", "dst"))
        flows.add(source.time(str(start - base), unit), src, dst, source.whole(given["bytes"], "bytes", 1))
    flows.said.append(f"starts are in {unit}, counted from {first} on; hosts are numbered as they appear")
    return flows


def sizes(path: Path, packet: int = 1460) -> tuple[str, list[str]]:
    """The ``bytes-each`` of a file of points, two columns or ns-2's three, and what was assumed.

    Args:
        path: Lines of a size and the share of flows up to it; a first line with one number is a mean.
        packet: Bytes of a packet, where sizes are in packets.

    Raises:
        ScenarioError: naming file and line.

    """
    source = _Source(path)
    points: list[tuple[float, float]] = []
    columns = 0
    for text in source.lines():
        fields = text.split()
        if len(fields) == 1 and not points:
            continue
        if len(fields) not in (2, 3) or (columns and len(fields) != columns):
            source.fail(f"{len(fields)} fields, and a point has a size and a share")
        columns = len(fields)
        try:
            points.append((float(fields[0]), float(fields[-1])))
        except ValueError:
            source.fail(f"{text!r} is no point: write a size and a share")
    if not points:
        source.fail("no points")
    if any(a[0] > b[0] or a[1] > b[1] for a, b in pairwise(points)):
        source.fail("points fall: sizes and shares must rise")
    whole = points[-1][1]
    if whole not in (1.0, 100.0):
        source.fail(f"the last share is {whole:g}, neither 1 nor 100")
    unit = packet if columns == 3 else 1
    percent = 1.0 if whole == 100.0 else 100.0
    said = [f"shares are {'per cent' if percent == 1.0 else 'fractions'}"]
    said.append(f"sizes are in {f'packets of {packet} B' if unit > 1 else 'bytes'}; points are joined by lines")
    body = ", ".join(f"{max(round(size * unit), 1)}B {share * percent:.10g}%" for size, share in points)
    return f"cdf {body}", said


def topology(path: Path) -> tuple[str, list[str]]:
    """The ``[network]`` table of an htsim topology of two or three tiers, and what was left out.

    Raises:
        ScenarioError: naming file and line.

    """
    source = _Source(path)
    whole: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    for text in source.lines():
        key, value = [*text.split(), ""][:2]
        if key == "Tier":
            if source.whole(value, "tier") != len(tiers):
                source.fail(f"tier {value} is not the next")
            tiers.append({})
        else:
            (tiers[-1] if tiers else whole)[key.lower()] = source.whole(value, key)
    if whole.get("tiers") != len(tiers) or len(tiers) not in (2, 3):
        source.fail("two or three tiers are needed, each with its table")
    return _two_tiers(source, tiers) if len(tiers) == 2 else _three_tiers(source, whole, tiers)


def _get(source: _Source, tier: dict[str, int], key: str) -> int:
    if key not in tier:
        source.fail(f"a tier lacks {key}")
    return tier[key]


def _cables(source: _Source, tiers: list[dict[str, int]]) -> tuple[list[str], list[str]]:
    names = [("rate", "delay"), ("uplink-rate", "uplink-delay"), ("core-rate", "core-delay")]
    lines = []
    for tier, (rate, delay) in zip(tiers, names, strict=False):
        lines.append(f'{rate} = "{_get(source, tier, "downlink_speed_gbps")}Gbps"')
        lines.append(f'{delay} = "{_get(source, tier, "downlink_latency_ns")}ns"')
    slow = [tier.get("switch_latency_ns", 0) for tier in tiers]
    said = [f"switch latencies of {slow} ns are left out: add them to the delays"] if any(slow) else []
    said += ["bundles of cables are left out"] if any(tier.get("bundle", 1) > 1 for tier in tiers) else []
    return lines, said


def _two_tiers(source: _Source, tiers: list[dict[str, int]]) -> tuple[str, list[str]]:
    hosts, spines = _get(source, tiers[0], "radix_down"), _get(source, tiers[0], "radix_up")
    leaves = _get(source, tiers[1], "radix_down")
    cables, said = _cables(source, tiers)
    shape = [f"leaves = {leaves}", f"spines = {spines}", f"hosts-per-leaf = {hosts}"]
    return "\n".join(["[network]", 'topology = "leaf-spine"', *shape, *cables]) + "\n", said


def _three_tiers(source: _Source, whole: dict[str, int], tiers: list[dict[str, int]]) -> tuple[str, list[str]]:
    hosts, up = _get(source, tiers[0], "radix_down"), _get(source, tiers[0], "radix_up")
    edges, cores_up = (_get(source, tiers[1], key) for key in ("radix_down", "radix_up"))
    pods = _get(source, whole, "nodes") // (hosts * edges)
    cables, said = _cables(source, tiers)
    shape = [
        f"pods = {pods}",
        f"edges-per-pod = {edges}",
        f"aggregations-per-pod = {up}",
        f"hosts-per-edge = {hosts}",
        f"cores = {up * cores_up}",
    ]
    return "\n".join(["[network]", 'topology = "fat-tree"', *shape, *cables]) + "\n", said


LISTS: dict[str, Callable[[Path], Flows]] = {"hpcc": hpcc, "htsim": htsim}
"""Lists of flows whose columns are known."""
