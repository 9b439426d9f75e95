"""``fanin import``: converts other tools' files for use in a scenario."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fanin import imports
from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json, say
from fanin.imports import Points, SizeUnit, Unit


class What(StrEnum):
    """The kind of the file."""

    HPCC = "hpcc"
    HTSIM = "htsim"
    COFLOWS = "coflows"
    RECORDS = "records"
    SIZES = "sizes"
    TOPOLOGY = "topology"


def import_(
    what: Annotated[What, typer.Argument(help="Kind of the file.")],
    file: Annotated[Path, typer.Argument(help="The file.", exists=True, dir_okay=False)],
    out: Annotated[Path | None, typer.Option("--out", help="File to write instead of standard output.")] = None,
    columns: Annotated[
        str, typer.Option("--columns", help="For records: the columns with start, src, dst and bytes.")
    ] = "start=start,src=src,dst=dst,bytes=bytes",
    time_unit: Annotated[
        Unit, typer.Option("--time-unit", help="For records: the unit of starts that are numbers.")
    ] = Unit.S,
    size_unit: Annotated[
        SizeUnit | None, typer.Option("--size-unit", help="For sizes: their unit; detected by default.")
    ] = None,
    points: Annotated[
        Points | None, typer.Option("--points", help="For sizes: how points are joined; detected by default.")
    ] = None,
    packet: Annotated[int, typer.Option("--packet", min=1, help="For sizes in packets: bytes per packet.")] = 1460,
    json: JsonOption = False,
) -> None:
    """Convert flow lists, size distributions and topologies of other tools for use in a scenario.

    Four kinds give the CSV of the traffic pattern "flows". `hpcc` is a flow list of HPCC, and `htsim` a connection
    matrix. `coflows` is Facebook's coflow trace, in which each coflow is a query. `records` is a table with a header,
    such as exports of NetFlow or sFlow and Zeek's conn.log, in any order. Name its columns with --columns. Starts are
    numbers or dates (ISO 8601), and the earliest is time zero. `sizes` gives bytes-each. It takes the points of a
    distribution, as HPCC, HKUST's traffic generator, ns-2 and Homa write them. If the first line states the mean, the
    mean of the points must agree: as bytes or packets, by lines or steps. Otherwise the file is refused. `topology`
    gives [network] from htsim's tiers or HPCC's list of cables. Assumptions, what was left out, and a summary are
    printed on stderr. Errors name file and line.

    --json prints one object: {what, said, flows, hosts, out} for lists, and {what, said, text} for the others. `said`
    has the assumptions, and `hosts` the number of each host of the file.

    **Examples**

    - `fanin import hpcc traffic.txt --out flows.csv`
    - `fanin import htsim perm.cm --out flows.csv`
    - `fanin import coflows FB2010-1Hr-150-0.txt --out flows.csv`
    - `fanin import records nfdump.csv --columns start=ts,src=sa,dst=da,bytes=ibyt --out flows.csv`
    - `fanin import records conn.log --columns start=ts,src=id.resp_h,dst=id.orig_h,bytes=resp_bytes --out flows.csv`
    - `fanin import sizes WebSearch_distribution.txt`
    - `fanin import sizes DCTCP_MsgSizeDist.txt --size-unit packets`
    - `fanin import topology fat_tree_1024.topo > fat-tree.toml`
    """
    from fanin.results.files import whole_file, write_whole, writing

    if out is not None and out.exists() and out.samefile(file):
        raise typer.BadParameter(f"{out} is the file to convert, which would be lost: name another", param_hint="--out")
    if what in (What.SIZES, What.TOPOLOGY):
        text, said = imports.sizes(file, packet, size_unit, points) if what is What.SIZES else imports.topology(file)
        for line in said:
            note(line)
        if json:
            print_json({"what": what.value, "said": said, "text": text})
        elif out is not None:
            with writing(out.parent):
                write_whole(out, text.encode())
        else:
            say(f'bytes-each = "{text}"' if what is What.SIZES else text.rstrip())
        return
    known = imports.LISTS.get(what.value)
    flows = known(file) if known else imports.records(file, _columns(columns), time_unit)
    said = [*flows.said, flows.summary()]
    for line in said:
        note(line)
    if out is not None:
        with writing(out.parent), whole_file(out) as temporary, temporary.open("w", encoding="utf-8") as stream:
            flows.write(stream)
    if json:
        about = {"what": what.value, "said": said, "flows": len(flows.start), "hosts": flows.hosts}
        print_json({**about, "out": None if out is None else str(out)})
    elif out is None:
        flows.write(sys.stdout)


def _columns(text: str) -> dict[str, str]:
    given = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    wanted = ("start", "src", "dst", "bytes")
    if sorted(given) != sorted(wanted):
        raise typer.BadParameter(f"name all of {', '.join(wanted)}, as in start=ts,src=sa", param_hint="--columns")
    return given
