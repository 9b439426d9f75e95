"""Compares all stored runs of a results folder with the digests that were written with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results import records
from fanin.results.layout import RUNS
from fanin.results.store import read_run


@dataclass
class Verified:
    """What was found in a results folder."""

    runs: int = 0
    """Runs that are what was written."""
    damaged: list[str] = field(default_factory=list)
    """What is said of each that is not."""


def verify(out: Path, advance: Callable[[int, int], None] = lambda _done, _of: None) -> Verified:
    """Compares all runs of a results folder with their digests.

    Args:
        out: Results folder.
        advance: Called with the number of folders and logs compared so far, and of all.

    """
    found = Verified()
    folder = out / RUNS
    places = [*sorted(path for path in folder.glob("*") if is_run_id(path.name)), *records.logs(folder)]
    for done, place in enumerate(places, start=1):
        if place.is_dir():
            try:
                run = read_run(place)
                for name in run.manifest["files"]:
                    run.check(name)
                found.runs += 1
            except ResultsError as error:
                found.damaged.append(str(error))
        else:
            for line, text in records.lines(place):
                if records.is_whole(text):
                    found.runs += len(records.ids_of(text))
                else:
                    found.damaged.append(records.damaged(line))
        advance(done, len(places))
    return found
