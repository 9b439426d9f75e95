"""Completion times and slowdown of flows, by size and by class."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from fanin.cli.terminal import note, print_json, print_table
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
    from fanin.ask.fct import fct
    from fanin.results.files import whole_file, writing

    found = fct([*paths], slowdown.value, bins=bins)
    definition = found.definition
    if cdf is not None:
        with writing(cdf.parent, "--cdf"), whole_file(cdf) as file:
            file.write_bytes(found.cdf.write_csv().encode())
    if json:
        print_json(found.as_dict())
        return
    note(f"slowdown ({definition.key}): {definition.says}")
    print_table(f"{found.flows.height:,} flows by size", analysis.HEADER, map(analysis.shown, found.of_sizes))
    if found.of_classes:
        rows = ([row["class"], *analysis.shown(row)] for row in found.of_classes)
        print_table("By class", ["class", *analysis.HEADER], rows)
    if cdf is not None:
        note(str(cdf))
