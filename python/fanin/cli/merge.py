"""``fanin merge``: the shards of a sweep, joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption, OutOption
from fanin.cli.sweep import show
from fanin.cli.terminal import counting, note, print_json


def merge(
    shards: Annotated[
        list[Path] | None, typer.Argument(help="Results folders of the shards; that of --out if left out.")
    ] = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Join what `fanin sweep --shard` left, on one machine or many, into one data set.

    The runs are copied into OUT's store, and OUT/sweeps/NAME-HASH/ is what the whole sweep would have left on one
    machine, to the byte. Missing shards are named; a run that two shards have is taken once if both are the same, and
    refused if they differ. If there are shards of several sweeps, each that is whole is joined, and of the others it is
    told what is missing or wrong. Exit code 3 says that there are some, and 1 that runs failed.

    --json prints one object: {sweeps, left}, where sweeps is an array of what 'fanin sweep --json' prints, and left one
    of {sweep, why} for those that were not joined.

    **Examples**

    - `fanin merge part-1 part-2 part-3`
    - `fanin merge part-* --out /data/results`
    - `fanin merge`, if all shards wrote to the same results folder
    """
    from fanin.results.shards import merge as join
    from fanin.run.pool import Progress

    with counting("runs") as counter:
        found = join(shards or [out], out, lambda done, total: counter.advance(Progress(done, total)))
    sweeps = [show(data, out, silent=json) for data in found.whole]
    if json:
        print_json({"sweeps": sweeps, "left": [{"sweep": name, "why": why} for name, why in found.left.items()]})
    for name, why in found.left.items():
        note(f"error: sweep {name} is not joined: {why}")
    if found.left:
        raise typer.Exit(3)
    if any(data.failed for data in found.whole):
        raise typer.Exit(1)
