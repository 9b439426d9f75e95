"""``fanin merge``: merges the shards of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption, OutOption
from fanin.cli.sweep import show
from fanin.cli.terminal import counting, note, print_json


def merge(
    shards: Annotated[
        list[Path] | None, typer.Argument(help="Results folders of the shards; by default that of --out.")
    ] = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Merge the shards of a sweep (`fanin sweep --shard`) into one data set.

    The runs are copied into OUT's store, and OUT/sweeps/NAME-HASH/ is byte for byte what the sweep would
    have written on one machine. Missing shards are named. A run in two shards is used once if both are equal, and
    refused if they differ. If there are shards of several sweeps, each complete sweep is merged, and the output says
    what is missing or wrong in the others. Exit code 3 means that a sweep could not be merged, and 1 that runs failed.

    --json prints one object: {sweeps, left}, where sweeps is an array of what 'fanin sweep --json' prints, and left an
    array of {sweep, why} for sweeps that were not merged.

    **Examples**

    - `fanin merge part-1 part-2 part-3`
    - `fanin merge part-* --out /data/results`
    - `fanin merge`, if all shards were written to the same results folder
    """
    from fanin.results.shards import merge as join
    from fanin.run.job import Progress

    with counting("runs") as counter:
        found = join(shards or [out], out, lambda done, total: counter.advance(Progress(done, total)))
    sweeps = [show(data, out, silent=json) for data in found.whole]
    if json:
        print_json({"sweeps": sweeps, "left": [{"sweep": name, "why": why} for name, why in found.left.items()]})
    for name, why in found.left.items():
        note(f"error: sweep {name} is not merged: {why}")
    if found.left:
        raise typer.Exit(3)
    if any(data.failed for data in found.whole):
        raise typer.Exit(1)
