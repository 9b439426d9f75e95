"""``fanin import``: other tools' files as what a scenario takes."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fanin import imports
from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json, say
from fanin.store import write_whole, writing


class What(StrEnum):
    """What the file is."""

    HPCC = "hpcc"
    HTSIM = "htsim"
    RECORDS = "records"
    SIZES = "sizes"
    TOPOLOGY = "topology"


class Unit(StrEnum):
    """Unit of a time."""

    S = "s"
    MS = "ms"
    US = "us"
    NS = "ns"
    PS = "ps"


def import_(
    what: Annotated[What, typer.Argument(help="What the file is.")],
    file: Annotated[Path, typer.Argument(help="The file.", exists=True, dir_okay=False)],
    out: Annotated[Path | None, typer.Option("--out", help="Write here instead of to standard output.")] = None,
    columns: Annotated[
        str, typer.Option("--columns", help="Of records: which columns have start, src, dst and bytes.")
    ] = "start=start,src=src,dst=dst,bytes=bytes",
    time_unit: Annotated[Unit, typer.Option("--time-unit", help="Of records: the unit of the start.")] = Unit.S,
    packet: Annotated[int, typer.Option("--packet", min=1, help="Of sizes in packets: bytes of one.")] = 1460,
    json: JsonOption = False,
) -> None:
    """Convert lists of flows, size distributions and topologies of other tools into what a scenario takes.

    hpcc: a flow list of HPCC. htsim: a connection matrix. records: CSV with a header, such as exports of NetFlow or
    sFlow, whose columns --columns names. These three give the CSV of the traffic pattern "flows". sizes: points of a
    distribution, as HPCC, HKUST's traffic generator, ns-2 and Homa have them; gives bytes-each. topology: htsim's
    tiers; gives [network]. What had to be assumed is told on stderr; a bad line by file and number.

    --json prints one object: {what, said, flows, hosts, out} for lists, {what, said, text} for the others.

    **Examples**

    - `fanin import hpcc traffic.txt --out flows.csv`
    - `fanin import htsim perm.cm --out flows.csv`
    - `fanin import records nfdump.csv --columns start=ts,src=sa,dst=da,bytes=ibyt --out flows.csv`
    - `fanin import sizes WebSearch_distribution.txt`
    - `fanin import topology fat_tree_1024.topo >> scenario.toml`
    """
    if what in (What.SIZES, What.TOPOLOGY):
        text, said = imports.sizes(file, packet) if what is What.SIZES else imports.topology(file)
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
    flows = known(file) if known else imports.records(file, _columns(columns), time_unit.value)
    for line in flows.said:
        note(line)
    if out is not None:
        stream = io.StringIO()
        flows.write(stream)
        with writing(out.parent):
            write_whole(out, stream.getvalue().encode())
    if json:
        about = {"what": what.value, "said": flows.said, "flows": len(flows.start), "hosts": flows.hosts}
        print_json({**about, "out": None if out is None else str(out)})
    elif out is None:
        flows.write(sys.stdout)
    else:
        note(f"{out}: {len(flows.start):,} flows")


def _columns(text: str) -> dict[str, str]:
    given = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    wanted = ("start", "src", "dst", "bytes")
    if sorted(given) != sorted(wanted):
        raise typer.BadParameter(f"name all of {', '.join(wanted)}, as in start=ts,src=sa", param_hint="--columns")
    return given
