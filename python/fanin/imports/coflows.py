"""Facebook's coflow trace: shuffles of MapReduce, each from many racks to one or several."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from fanin.imports.flows import Flows
from fanin.imports.source import Source, Unit

MEGABYTE = 1 << 20
"""Bytes of a megabyte, as CoflowSim reads the trace."""


def coflows(path: Path) -> Flows:
    """The format of coflow-benchmark: ``ports coflows``, then a line for each coflow, which is a query of the list.

    A line has its number, its arrival in milliseconds, the number of mappers, their ports, and the number of reducers
    with ``port:megabytes`` each. Each reducer gets as much from each mapper.

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source, flows, local = Source(path), Flows(), 0
    lines = source.lines()
    head = next(lines, "").split()
    if len(head) != 2:
        source.fail("the first line has the number of ports and that of coflows, as in 150 526")
    ports, promised = source.whole(head[0], "number of ports", 2), source.stated(head[1], "number of coflows")
    found = 0
    for text in lines:
        fields = iter(text.split())
        query = source.whole(next(fields, ""), "coflow")
        start = source.time(next(fields, ""), Unit.MS)
        mappers = [_port(source, each, ports) for each in _several(source, fields, "mappers")]
        for each in _several(source, fields, "reducers"):
            where, _, size = each.partition(":")
            reducer, share = _port(source, where, ports), source.number(size, "megabytes") * MEGABYTE / len(mappers)
            if share < 1:
                source.fail(f"{each}: less than a byte from each of {len(mappers)} mappers")
            for mapper in mappers:
                if mapper == reducer:
                    local += 1
                    continue
                flows.add(start, (mapper, reducer), round(share))
                flows.query.append(query)
        if (more := next(fields, None)) is not None:
            source.fail(f"{more!r} comes after the last reducer")
        found += 1
    source.compare(promised, found)
    if local:
        flows.said.append(f"{local:,} flows are left out: their mapper and their reducer are at the same port")
    flows.refuse_none(source)
    flows.said.append("starts are in milliseconds, a megabyte is 1,048,576 bytes, and each coflow is a query")
    return flows


def _several(source: Source, fields: Iterator[str], what: str) -> list[str]:
    """As many fields as the next one says."""
    count = source.whole(next(fields, ""), f"number of {what}", 1)
    found = list(itertools.islice(fields, count))
    if len(found) != count:
        source.fail(f"{len(found)} {what}, but the line says {count}")
    return found


def _port(source: Source, text: str, ports: int) -> int:
    port = source.whole(text, "port")
    if port >= ports:
        source.fail(f"port {port}, but there are {ports}, numbered from 0")
    return port
