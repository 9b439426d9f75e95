"""Lists of flows, and those of HPCC and htsim.

They are read line by line into four arrays of numbers, 32 bytes per flow, and written in order of start.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from fanin.imports.source import Source, Unit
from fanin.later import np

_AT_ONCE = 10_000
"""Number of lines that are formatted at a time."""


@dataclass
class Flows:
    """A list of flows in arrays."""

    start: array[int] = field(default_factory=lambda: array("q"))
    """Starts in picoseconds."""
    src: array[int] = field(default_factory=lambda: array("q"))
    dst: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
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
            source.fail("no flows")

    def write(self, stream: TextIO) -> None:
        """Writes the list in the format of the traffic pattern ``flows``, in order of start, in parts."""
        stream.write("start_ps,src,dst,bytes\n")
        columns = [np.frombuffer(each, each.typecode) for each in (self.start, self.src, self.dst, self.size)]
        order = np.argsort(columns[0], kind="stable")
        for first in range(0, len(order), _AT_ONCE):
            part = order[first : first + _AT_ONCE]
            start, *others = (column[part] for column in columns)
            rows = zip((start - self.origin).tolist(), *(column.tolist() for column in others), strict=True)
            stream.writelines(f"{start},{src},{dst},{size}\n" for start, src, dst, size in rows)


def hpcc(path: Path) -> Flows:
    """HPCC's list: the number of flows, then ``src dst priority port bytes start`` with the start in seconds.

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source, flows = Source(path), Flows()
    lines = source.lines()
    promised = source.whole(next(lines, ""), "number of flows")
    for text in lines:
        fields = text.split()
        if len(fields) != 6:
            source.fail(f"{len(fields)} fields; a flow has 6: src dst priority port bytes start")
        src, dst = (source.whole(each, "host") for each in fields[:2])
        size = source.whole(fields[4], "bytes", 1)
        flows.add(source.time(fields[5], Unit.S), source.hosts(src, dst), size)
    if len(flows.start) != promised:
        source.fail(f"{len(flows.start)} flows, but the first line says {promised}")
    flows.refuse_none(source)
    flows.said.append("starts are in seconds; priority and port are ignored")
    return flows


_CONNECTION = re.compile(r"(\d+)->(\d+)\s+(.*)")


def htsim(path: Path) -> Flows:
    """A connection matrix of htsim: ``Nodes``, ``Connections``, then ``src->dst ... start PS ... size BYTES``.

    Raises:
        ScenarioError: the file is invalid, or has a trigger or a failure, which a list of flows cannot express; the
            message names file and line.

    """
    source, flows, promised, nodes = Source(path), Flows(), None, None
    for text in source.lines():
        word, _, rest = text.partition(" ")
        if word == "Nodes":
            if flows.start:
                source.fail("Nodes comes after the first connection")
            nodes = source.whole(rest.strip(), "number of nodes", 1)
        elif word == "Connections":
            promised = source.whole(rest.strip(), "number of connections")
        elif match := _CONNECTION.fullmatch(text):
            src, dst = (source.whole(each, "host") for each in match.groups()[:2])
            if nodes is not None and max(src, dst) >= nodes:
                source.fail(f"host {max(src, dst)}, but there are {nodes} nodes, numbered from 0")
            flows.add(*_connection(source, match[3], (src, dst)))
        elif word != "Triggers":
            source.fail(f"unknown word {word!r}: expected Nodes, Connections or SRC->DST")
    if promised is not None and promised != len(flows.start):
        source.fail(f"{len(flows.start)} connections, but the file says {promised}")
    flows.refuse_none(source)
    flows.said.append("starts are in picoseconds, as htsim reads them from a file")
    return flows


def _connection(source: Source, text: str, ends: tuple[int, int]) -> tuple[int, tuple[int, int], int]:
    """Start, ends and size of a connection."""
    words = text.split()
    keys = dict(zip(words[::2], words[1::2], strict=False))
    if "trigger" in keys:
        source.fail("the connection starts by a trigger: a list of flows can contain only times")
    if "start" not in keys or "size" not in keys:
        source.fail("a connection needs start and size")
    size = source.whole(keys["size"], "size", 1)
    return source.time(keys["start"], Unit.PS), source.hosts(*ends), size


LISTS: dict[str, Callable[[Path], Flows]] = {"hpcc": hpcc, "htsim": htsim}
"""Lists of flows whose columns are known."""
