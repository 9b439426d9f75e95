"""``fanin fct``: completion times and slowdown by size and by class."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json, print_table, warn_of_differences
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.numbers import fct as analysis


class Slowdown(StrEnum):
    """Which definition of slowdown."""

    HOMA = "homa"
    HPCC = "hpcc"


def fct(
    paths: Annotated[
        list[Path], typer.Argument(help="Runs, folders of sweeps or experiments, or flow tables; several are combined.")
    ],
    slowdown: Annotated[Slowdown, typer.Option("--slowdown", help="Definition of slowdown.")] = Slowdown.HOMA,
    bins: Annotated[
        int | None, typer.Option("--bins", min=1, help="Number of bins; by default the definition's.")
    ] = None,
    cdf: Annotated[
        Path | None, typer.Option("--cdf", help="Also write the cumulative distributions to this CSV file.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show completion times and slowdown of finished flows, by size and by class.

    Slowdown has two published definitions, which are not comparable. homa: completion time divided by the best
    possible one (the same flow alone in the network with an unlimited window), in 10 bins of equally many flows. hpcc:
    divided by the base round-trip time plus wire bytes over the path's lowest rate, at least 1, in 20 bins. Bins with
    the same edges are merged, as with flows of one size. Neither
    denominator includes the growth of a window, so a lone flow in slow start may be above 1. Percentiles are nearest
    ranks. The class is that of the list of flows, or else the traffic group.

    --json prints one object: {slowdown, definition, flows, sizes, classes}, where sizes and classes are arrays of
    {flows, bytes_from, bytes_to, fct_mean_s, fct_p50_s, fct_p95_s, fct_p99_s, fct_p99.9_s, slowdown_mean,
    slowdown_p50, slowdown_p95, slowdown_p99, slowdown_p99.9}, with class in each of classes.

    The CSV of --cdf has the columns class, share, fct_s and slowdown; equal rows are one, with the largest share.

    **Examples**

    - `fanin fct results/0123456789abcdef`
    - `fanin fct results/0123456789abcdef --slowdown hpcc --json`
    - `fanin fct results/0123456789abcdef --cdf cdf.csv`
    """
    from fanin.results.files import whole_file, writing

    definition = analysis.DEFINITIONS[slowdown.value]
    together = _together(paths)
    try:
        flows = analysis.complete(together)
    except ResultsError as error:
        raise ResultsError(f"{paths[0]}: {error}") from None
    sizes = analysis.by_size(flows, definition, bins)
    classes = analysis.by_class(flows, definition)
    if cdf is not None:
        with writing(cdf.parent, "--cdf"), whole_file(cdf) as file:
            file.write_bytes(analysis.cdf(flows, definition).write_csv().encode())
    if json:
        about = {"slowdown": definition.key, "definition": definition.says, "flows": flows.height}
        print_json({**about, "sizes": sizes, "classes": classes})
        return
    note(f"slowdown ({definition.key}): {definition.says}")
    print_table(f"{flows.height:,} flows by size", analysis.HEADER, map(analysis.shown, sizes))
    if classes:
        rows = ([row["class"], *analysis.shown(row)] for row in classes)
        print_table("By class", ["class", *analysis.HEADER], rows)
    if cdf is not None:
        note(str(cdf))


def _together(paths: list[Path]) -> pl.DataFrame:
    from fanin.results import tables

    found = [(path, tables.find(path, "flows")) for path in paths]
    without = [path for path, flows in found if not flows]
    if len(without) == len(found):
        raise ResultsError(f"{without[0]}: no table flows is stored; 'fanin run' stores it")
    if without:
        note(f"{len(without)} of {len(found)} runs have no table flows and are left out")
    every = [table for _, flows in found for table in flows]
    warn_of_differences(every)
    return tables.together(every)
