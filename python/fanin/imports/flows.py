"""Lists of flows, and those of HPCC and htsim.

They are read line by line into four arrays of numbers, 32 bytes per flow, and written in order of start.
"""

from __future__ import annotations

import itertools
import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from fanin.imports.source import Source, Stated, Unit
from fanin.later import np

_LINES_AT_ONCE = 10_000
"""Number of lines that are formatted at a time."""

_CONNECTION = re.compile(r"(\d+)->(\d+)")

_KEYS = ("id", "start", "size", "prio", "send_done_trigger", "recv_done_trigger")

_REFUSED = {
    "trigger": "starts by a trigger: a list of flows can contain only times",
    "addon": "grows by a trigger (addon): a list of flows can contain only times",
    "msg": "is shared by messages (msg): in a list, each flow has a connection of its own",
}

_NO_FLOW = {"trigger": "a list of flows can contain only times", "failure": "write it as [[fault]] in the scenario"}


@dataclass
class Flows:
    """A list of flows in arrays."""

    start: array[int] = field(default_factory=lambda: array("q"))
    """Starts in picoseconds."""
    src: array[int] = field(default_factory=lambda: array("q"))
    dst: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    query: array[int] = field(default_factory=lambda: array("q"))
    """The query of each flow, if they belong to queries."""
    hosts: dict[str, int] = field(default_factory=dict)
    """Name in the file -> number, if hosts have names."""
    origin: int = 0
    """The start that becomes time zero."""
    said: list[str] = field(default_factory=list)
    """Assumptions, for the user."""

    def add(self, start: int, ends: tuple[int, int], size: int) -> None:
        """Adds a flow."""
        self.start.append(start)
        self.src.append(ends[0])
        self.dst.append(ends[1])
        self.size.append(size)

    def refuse_none(self, source: Source) -> None:
        """Refuses a list without a flow, which no scenario takes.

        Raises:
            ScenarioError: there is none.

        """
        if not self.start:
            source.fail(f"no flows{''.join(f'; {each}' for each in self.said)}")

    def summary(self) -> str:
        """What was read, in numbers by which a misread file is noticed."""
        hosts = set(self.src).union(self.dst)
        first, last = ((start - self.origin) / Unit.S.ps for start in (min(self.start), max(self.start)))
        sizes = f"sizes {min(self.size):,} to {max(self.size):,} B, mean {sum(self.size) / len(self.size):,.0f} B"
        return (
            f"flows: {len(self.start):,}; {sizes}; starts {first:g} to {last:g} s; "
            f"hosts: {len(hosts):,}, numbers {min(hosts)} to {max(hosts)}"
        )

    def write(self, stream: TextIO) -> None:
        """Writes the list in the format of the traffic pattern ``flows``, in order of start, in parts."""
        stream.write(f"start_ps,src,dst,bytes{',query' if self.query else ''}\n")
        every = [self.start, self.src, self.dst, self.size, *([self.query] if self.query else [])]
        columns = [np.frombuffer(each, each.typecode) for each in every]
        order = np.argsort(columns[0], kind="stable")
        for first in range(0, len(order), _LINES_AT_ONCE):
            part = order[first : first + _LINES_AT_ONCE]
            start, *others = (column[part] for column in columns)
            rows = zip((start - self.origin).tolist(), *(column.tolist() for column in others), strict=True)
            stream.writelines(",".join(map(str, row)) + "\n" for row in rows)


def hpcc(path: Path) -> Flows:
    """HPCC's list: the number of flows, then ``src dst priority port bytes start`` with the start in seconds.

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source, flows = Source(path), Flows()
    lines = source.lines()
    promised = source.stated(next(lines, ""), "number of flows")
    for text in itertools.islice(lines, promised.number):
        fields = text.split()
        if len(fields) != 6:
            source.fail(f"{len(fields)} fields; a flow has 6: src dst priority port bytes start")
        src, dst = (source.whole(each, "host") for each in fields[:2])
        size = source.whole(fields[4], "bytes", 1)
        flows.add(source.time(fields[5], Unit.S), source.hosts(src, dst), size)
    found = len(flows.start)
    # HPCC's generator writes an estimate, and in the end the number over it.
    leftover = f": if these are all, the end of {promised.number} is left from an estimate; write {found}"
    source.compare(promised, found, leftover if found and str(promised.number).startswith(str(found)) else "")
    flows.refuse_none(source)
    if next(lines, None) is not None:
        flows.said.append(
            f"HPCC reads {found:,} flows, as the first line says; all from line {source.line} on is ignored"
        )
    flows.said.append("starts are in seconds; priority and port are ignored")
    if min(min(flows.src), min(flows.dst)) > 0:
        flows.said.append(
            "host 0 is not used: HPCC numbers switches too. If they come before the hosts, subtract their number from "
            "src and dst"
        )
    return flows


def htsim(path: Path) -> Flows:
    """A connection matrix of htsim: ``Nodes``, ``Connections``, then ``src->dst ... start PS ... size BYTES``.

    Raises:
        ScenarioError: the file is invalid, or has a trigger or a failure, which a list of flows cannot express; the
            message names file and line.

    """
    source, flows = Source(path), Flows()
    stated: dict[str, Stated] = {}
    for text in source.lines():
        word, *rest = text.split()
        if word in ("Nodes", "Connections", "Triggers", "Failures"):
            if flows.start:
                source.fail(f"{word} comes after the first connection")
            stated[word] = source.stated(" ".join(rest), f"number of {word.lower()}", int(word == "Nodes"))
        elif match := _CONNECTION.fullmatch(word):
            src, dst = (source.whole(each, "host") for each in match.groups())
            if "Nodes" in stated and max(src, dst) >= stated["Nodes"].number:
                source.fail(f"host {max(src, dst)}, but there are {stated['Nodes'].number} nodes, numbered from 0")
            flows.add(*_connection(source, rest, source.hosts(src, dst)))
        elif word in _NO_FLOW:
            source.fail(f"a {word}, which is no flow: {_NO_FLOW[word]}")
        else:
            source.fail(f"unknown word {word!r}: expected Nodes, Connections or SRC->DST")
    for word, found in (("Connections", len(flows.start)), ("Triggers", 0), ("Failures", 0)):
        source.compare(stated.get(word), found)
    flows.refuse_none(source)
    flows.said.append("starts are in picoseconds, as htsim reads them from a file")
    return flows


def _connection(source: Source, words: list[str], ends: tuple[int, int]) -> tuple[int, tuple[int, int], int]:
    """Start, ends and size of a connection."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in _REFUSED:
            source.fail(f"the connection {_REFUSED[word]}")
        if word not in _KEYS:
            source.fail(f"unknown word {word!r} of a connection: expected {', '.join(_KEYS)}")
        given[word] = next(rest, "")
    if "start" not in given or "size" not in given:
        source.fail("a connection needs start and size")
    size = source.whole(given["size"], "size")
    if size == 0:
        source.fail(
            "size 0: the connection never ends in htsim, and the flows of a list do; write it as [[traffic]] with "
            'kind = "background", from and to'
        )
    return source.time(given["start"], Unit.PS), ends, size
