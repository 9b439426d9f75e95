"""``fanin describe``: the contents of a result file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import print_json, print_table, summary_rows


def describe(
    paths: Annotated[list[Path], typer.Argument(help="Parquet files, or runs of the results.")],
    json: JsonOption = False,
) -> None:
    """Describe result tables: rows, and each column's type, unit and meaning; of a run also its summary.

    A run is named by its results folder and its id, or latest; all runs of a sweep or an experiment by the folder of
    that.

    --json prints one object: {files: [{file, rows, columns: [{name, type, unit, description}]}], manifest}, where
    manifest is what is known of the first run.

    **Examples**

    - `fanin describe results/tour/collapse/runs.parquet`
    - `fanin describe results/latest`
    - `fanin describe results/0123456789abcdef`
    """
    from fanin.results import tables

    found = [table for path in paths for table in tables.locate(path)]
    files = [table.describe() for table in found]
    runs = [run for path in paths if (run := tables.run_of(path)) is not None]
    if json:
        print_json({"files": files, "manifest": next((run.manifest for run in runs), None)})
        return
    for run in runs:
        _print_manifest(run.place, run.manifest)
    for file in files:
        rows = ([entry[key] for key in ("name", "type", "unit", "description")] for entry in file["columns"])
        print_table(f"{file['file']}: {file['rows']} rows", ["column", "type", "unit", "meaning"], rows)


def _print_manifest(place: str, manifest: dict[str, Any]) -> None:
    facts = ("experiment", "run_id", "engine_version", "git_commit", "host", "cpus", "finished")
    rows = [["", fact.replace("_", " "), str(manifest.get(fact) or "-")] for fact in facts]
    print_table(f"{place}: run", ["", "", "value"], [*rows, *summary_rows(manifest["summary"])])
