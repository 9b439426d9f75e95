"""``fanin export``: results for other tools."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json
from fanin.errors import ResultsError

if TYPE_CHECKING:
    from fanin.results.tables import Table


class Format(StrEnum):
    """Formats that results can be exported to."""

    CSV = "csv"
    FCT = "fct"
    PARQUET = "parquet"
    PCAPNG = "pcapng"


def export(
    paths: Annotated[list[Path], typer.Argument(help="Runs, folders of sweeps or experiments, or Parquet files.")],
    to: Annotated[
        Format,
        typer.Option("--to", help="csv, parquet, pcapng (captured packets), or fct: a line per flow as HPCC reads it."),
    ] = Format.CSV,
    table: Annotated[str, typer.Option("--table", help="Table of a run.")] = "flows",
    out: Annotated[Path | None, typer.Option("--out", help="File to write; by default stdout.")] = None,
    json: JsonOption = False,
) -> None:
    """Write a table of stored runs as CSV, Parquet or HPCC's fct.txt, or the captured packets of a run as pcapng.

    Name a run by its results folder and its id, or latest. Name all runs of a sweep or an experiment by their folder.
    Tables with the same columns are concatenated, and with several runs each row starts with its run_id.

    CSV has the names in its first line and the units in its second, which starts with '#':
    `polars.read_csv(file, skip_rows_after_header=1)` skips it. `fct` has eight columns and no header: source and
    destination address (hexadecimal), two ports, bytes, start, completion time and ideal completion time. The times are
    in nanoseconds. Flows that did not complete are omitted.

    --json needs --out and prints one object: {file, rows}; rows is null for pcapng.

    **Examples**

    - `fanin export results/0123456789abcdef > flows.csv`
    - `fanin export results/0123456789abcdef --table queues --out queues.csv`
    - `fanin export results/0123456789abcdef --to parquet --out flows.parquet`
    - `fanin export results/0123456789abcdef --to pcapng --out trace.pcapng`
    - `fanin export results/0123456789abcdef --to fct --out fct.txt`
    """
    from fanin.results.files import whole_file, writing
    from fanin.results.tables import word_differences

    if json and out is None:
        raise typer.BadParameter("needs --out, because the data itself goes to stdout", param_hint="--json")
    tables = [] if to is Format.PCAPNG else [each for path in paths for each in _of(path, table)]
    content = _packets(paths) if to is Format.PCAPNG else b""
    for remark in word_differences(tables):
        note(f"warning: {remark}")
    if out is None:
        _write(tables, content, to, sys.stdout.buffer)
        return
    with writing(out), whole_file(out) as file, file.open("wb") as stream:
        _write(tables, content, to, stream)
    if json:
        print_json({"file": str(out), "rows": sum(each.rows() for each in tables) if tables else None})
    else:
        note(str(out))


def _write(tables: list[Table], content: bytes, to: Format, stream: BinaryIO) -> None:
    from fanin.results.frames import parquet_of
    from fanin.results.tables import together, write_csv, write_fct

    if to is Format.PCAPNG:
        stream.write(content)
    elif to is Format.CSV:
        write_csv(tables, stream)
    elif to is Format.FCT:
        for each in tables:
            write_fct(each, stream)
    else:
        # One alone as it is stored: it tells units and meanings of its columns.
        stream.write(tables[0].content() if len(tables) == 1 else parquet_of(together(tables)))


def _packets(paths: list[Path]) -> bytes:
    from fanin.results import tables
    from fanin.results.store import CAPTURE

    runs = [tables.run_of(path) for path in paths]
    if len(runs) != 1 or runs[0] is None:
        raise ResultsError("captured packets are those of one run: name it, such as results/0123456789abcdef")
    if CAPTURE not in runs[0].sizes:
        raise ResultsError(f"{runs[0].place}: no packets were captured; fanin run --pcap captures them")
    return runs[0].content(CAPTURE)


def _of(path: Path, table: str) -> list[Table]:
    from fanin.results import tables

    found = tables.find(path, table)
    if not found:
        there = ", ".join(dict.fromkeys(each.name for each in tables.locate(path))) or "none"
        raise ResultsError(f"{path}: no table {table} is stored (stored: {there})")
    return found
