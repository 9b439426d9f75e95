"""Completion times and slowdown of flows, by size and by class."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from fanin.cli.terminal import note, print_json, print_table, warn_of_differences
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.numbers import fct as analysis


class Slowdown(StrEnum):
    """Which definition of slowdown."""

    HOMA = "homa"
    HPCC = "hpcc"


def print_slowdown(paths: list[Path], slowdown: Slowdown, bins: int | None, cdf: Path | None, json: bool) -> None:
    """Prints completion times and slowdown of finished flows, by size and by class.

    Args:
        paths: Runs, folders of sweeps or experiments, or flow tables; several are combined.
        slowdown: Definition of slowdown.
        bins: Number of bins; by default the definition's.
        cdf: CSV file for the cumulative distributions.
        json: Whether to print one object in place of tables.

    Raises:
        ResultsError: there are no flows, or they are damaged.

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
