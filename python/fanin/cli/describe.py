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
    """Describe result files: rows, and each column's type, unit and meaning; for a run folder also its summary.

    --json prints one object: {files: [{file, rows, columns: [{name, type, unit, description}]}], manifest}, where
    manifest is that of the first run folder.

    **Examples**

    - `fanin describe results/tour/collapse/runs.parquet`
    - `fanin describe results/runs/0123456789abcdef`
    - `fanin describe results/runs/*/flows.parquet`
    """
    from fanin.results import tables
    from fanin.results.store import Store, read_run

    files = [tables.describe(file) for path in paths for file in tables.locate(path)]
    manifests = {path: read_run(path).manifest for path in paths if path.is_dir()}
    manifests |= {
        path: Store(path.absolute().parents[1]).read(path.name).manifest for path in paths if tables.is_in_log(path)
    }
    if json:
        print_json({"files": files, "manifest": next(iter(manifests.values()), None)})
        return
    for path, manifest in manifests.items():
        _print_manifest(path, manifest)
    for file in files:
        rows = ([entry[key] for key in ("name", "type", "unit", "description")] for entry in file["columns"])
        print_table(f"{file['file']}: {file['rows']} rows", ["column", "type", "unit", "meaning"], rows)


def _print_manifest(path: Path, manifest: dict[str, Any]) -> None:
    facts = ("experiment", "run_id", "engine_version", "git_commit", "host", "cpus", "finished")
    rows = [["", fact.replace("_", " "), str(manifest.get(fact) or "-")] for fact in facts]
    print_table(f"{path}: manifest", ["", "", "value"], [*rows, *summary_rows(manifest["summary"])])
