"""``fanin describe``: what is in a result file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fanin import tables
from fanin.cli.options import JsonOption
from fanin.cli.terminal import print_json, print_table
from fanin.store import read_run
from fanin.summary import column, format_value


def describe(
    path: Annotated[Path, typer.Argument(help="A Parquet file, or a run folder of the results.")],
    json: JsonOption = False,
) -> None:
    """Describe a result file: rows, and each column's type, unit and meaning; for a run folder its summary too.

    --json prints one object: {files: [{file, rows, columns: [{name, type, unit, description}]}], manifest}.

    **Examples**

    - `fanin describe results/sdtcp/fig9/runs.parquet`
    - `fanin describe results/scenario/0123456789abcdef`
    """
    files = [tables.describe(file) for file in tables.locate(path)]
    manifest = read_run(path).manifest if path.is_dir() else None
    if json:
        print_json({"files": files, "manifest": manifest})
        return
    if manifest is not None:
        _print_manifest(path, manifest)
    for file in files:
        rows = ([entry[key] for key in ("name", "type", "unit", "description")] for entry in file["columns"])
        print_table(f"{file['file']}: {file['rows']} rows", ["column", "type", "unit", "meaning"], rows)


def _print_manifest(path: Path, manifest: dict[str, Any]) -> None:
    facts = ("experiment", "run_id", "engine_version", "git_commit", "host", "cpus", "finished")
    rows = [[fact.replace("_", " "), str(manifest.get(fact) or "-")] for fact in facts]
    rows += [[column(name).label, format_value(name, value)] for name, value in manifest["summary"].items()]
    print_table(f"{path}: manifest", ["", "value"], rows)
