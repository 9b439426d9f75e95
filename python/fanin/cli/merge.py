"""``fanin merge``: the shards of a sweep, joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption, OutOption
from fanin.cli.sweep import show
from fanin.cli.terminal import counting
from fanin.pool import Progress
from fanin.shards import merge as join


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
    refused if they differ. If there are shards of several sweeps, each is joined. Exit code 1 says that runs failed.

    --json prints what 'fanin sweep --json' does.

    **Examples**

    - `fanin merge part-1 part-2 part-3`
    - `fanin merge part-* --out /data/results`
    - `fanin merge`, if all shards wrote to the same results folder
    """
    with counting("runs") as counter:
        joined = join(shards or [out], out, lambda done, total: counter.advance(Progress(done, total)))
    failed = False
    for data in joined:
        try:
            show(data, out, json=json)
        except typer.Exit:
            failed = True
    if failed:
        raise typer.Exit(1)
