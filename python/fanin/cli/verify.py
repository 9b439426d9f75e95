"""``fanin verify``: whether runs are what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import counting, note, print_json, say
from fanin.errors import ResultsError


def verify(
    out: Annotated[Path, typer.Argument(help="Results folder.")] = Path("results"), json: JsonOption = False
) -> None:
    """Compare every stored run with its digest, and name the damaged runs.

    Other commands compare a run when they read it. Repeat the command that made a damaged run: it simulates what is
    damaged, and keeps the rest. Exit code 1 means that something is damaged, and 3 that there was no run.

    --json prints one object: {folder, runs, damaged}, where damaged is an array of texts.

    **Examples**

    - `fanin verify`
    - `fanin verify /data/results --json`
    """
    from fanin.results.store import Store
    from fanin.run.job import Progress

    with counting("runs compared") as counter:
        runs, damaged = Store(out).verify(lambda done, of: counter.advance(Progress(done, of)))
    if not (runs or damaged):
        raise ResultsError(f"{out}: no run is stored here")
    if json:
        print_json({"folder": str(out), "runs": runs, "damaged": damaged})
    else:
        for each in damaged:
            note(f"error: {each}")
        say(f"{runs} runs are whole, {len(damaged)} damaged")
    if damaged:
        raise typer.Exit(1)
