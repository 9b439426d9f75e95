"""``fanin export``: results for other tools."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json, warn_of_differences
from fanin.errors import ResultsError


class Format(StrEnum):
    """Formats that results can be exported to."""

    CSV = "csv"
    FCT = "fct"


def export(
    paths: Annotated[list[Path], typer.Argument(help="Parquet files, or run folders of the results.")],
    to: Annotated[
        Format, typer.Option("--to", help="csv, or fct: one line per flow as HPCC's scripts read it.")
    ] = Format.CSV,
    table: Annotated[str, typer.Option("--table", help="Table of a run folder.")] = "flows",
    out: Annotated[Path | None, typer.Option("--out", help="File to write; by default stdout.")] = None,
    json: JsonOption = False,
) -> None:
    """Export result tables to CSV or to HPCC's fct.txt; tables with the same columns are concatenated.

    CSV has the names in its first line and the units in its second, which starts with '#':
    `polars.read_csv(file, skip_rows_after_header=1)` skips it. If tables of several runs are exported, each row starts
    with its run_id. fct has eight columns and no header: source and destination address (hexadecimal), ports, bytes,
    start, completion time and ideal completion time in nanoseconds; flows that did not complete are omitted.

    --json needs --out and prints one object: {file, rows}.

    **Examples**

    - `fanin export results/runs/0123456789abcdef > flows.csv`
    - `fanin export results/runs/*/flows.parquet > flows.csv`
    - `fanin export results/runs/0123456789abcdef --table queues --out queues.csv`
    - `fanin export results/runs/0123456789abcdef/flows.parquet --to fct --out fct.txt`
    """
    from fanin.results import tables
    from fanin.results.files import whole_file, writing

    if json and out is None:
        raise typer.BadParameter("needs --out, because the data itself goes to stdout", param_hint="--json")
    files = [_choose(path, table) for path in paths]
    warn_of_differences(files)
    if out is None:
        _write(files, to, sys.stdout)
        return
    with writing(out), whole_file(out) as file, file.open("w", encoding="utf-8", newline="") as stream:
        _write(files, to, stream)
    if json:
        print_json({"file": str(out), "rows": sum(tables.describe(file)["rows"] for file in files)})
    else:
        note(str(out))


def _choose(path: Path, table: str) -> Path:
    from fanin.results import tables

    file = tables.find(path, table)
    if file is None:
        there = ", ".join(file.stem for file in tables.locate(path)) or "none"
        raise ResultsError(f"{path}: no table {table}; this run has {there}")
    return file


def _write(files: list[Path], to: Format, stream: TextIO) -> None:
    from fanin.results import tables

    if to is Format.CSV:
        tables.write_csv(files, stream)
        return
    for file in files:
        tables.write_fct(file, stream)
