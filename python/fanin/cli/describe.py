"""``fanin describe``: the contents of a result file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fanin.cli.options import JsonOption
from fanin.cli.slowdown import Slowdown, print_slowdown
from fanin.cli.terminal import print_json, print_table, summary_rows


def describe(
    paths: Annotated[list[Path], typer.Argument(help="Parquet files, runs, or folders of sweeps or experiments.")],
    slowdown: Annotated[
        Slowdown | None,
        typer.Option("--slowdown", help="Show completion times and slowdown of the flows, by this definition."),
    ] = None,
    bins: Annotated[
        int | None, typer.Option("--bins", min=1, help="With --slowdown: bins of sizes; by default the definition's.")
    ] = None,
    cdf: Annotated[
        Path | None, typer.Option("--cdf", help="With --slowdown: write the distributions to this CSV file as well.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Describe results: a run's summary, the tables with types and units, or the slowdown of flows by size.

    Name a run by its results folder and its id, or latest. Name all runs of a sweep or an experiment by their folder.

    --json prints one object: {files: [{file, rows, columns: [{name, type, unit, description}]}], manifest}, where
    `manifest` is what is known of the first run.

    --slowdown shows completion times and slowdown of the finished flows of all paths together, by size and by class.
    Slowdown has two published definitions, which are not comparable. Both divide the completion time. With `homa` the
    divisor is the best possible time: the same flow alone in the network with an unlimited window. There are ten bins
    of equally many flows. With `hpcc` the divisor is the base round-trip time plus wire bytes over the path's lowest
    rate. The slowdown is at least one, and there are 20 bins. Bins with the same edges are merged, as with flows of one
    size. Neither denominator includes the growth of a window, so a lone flow in slow start may be above 1. Percentiles
    are nearest ranks. The class is that of the list of flows, or else the traffic group.

    --json with --slowdown prints one object: {slowdown, definition, flows, sizes, classes}, where sizes and classes are
    arrays of {flows, bytes_from, bytes_to, fct_mean_s, fct_p50_s, fct_p95_s, fct_p99_s, fct_p99.9_s, slowdown_mean,
    slowdown_p50, slowdown_p95, slowdown_p99, slowdown_p99.9}, with `class` in each of classes. The CSV of --cdf has the
    columns class, share, fct_s and slowdown. Equal rows are one, with the largest share.

    **Examples**

    - `fanin describe results/tour/collapse/runs.parquet`
    - `fanin describe results/latest`
    - `fanin describe results/0123456789abcdef`
    - `fanin describe results/0123456789abcdef --slowdown homa`
    - `fanin describe results/0123456789abcdef --slowdown hpcc --cdf cdf.csv --json`
    """
    from fanin.results import tables

    if slowdown is not None:
        print_slowdown(paths, slowdown, bins, cdf, json)
        return
    if bins is not None or cdf is not None:
        raise typer.BadParameter("needs --slowdown", param_hint="--cdf" if bins is None else "--bins")
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
