"""The ledger as a page of the documentation: Markdown, written by a program from the runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from fanin import pages
from fanin.ledger import STATUSES, Standing


def write(path: Path, standings: list[Standing], wanted: Collection[str] = ()) -> None:
    """Writes the page; the same results give the same bytes.

    Args:
        path: Where to.
        standings: The experiments on it.
        wanted: Verdicts on it; all if left out.

    Raises:
        ResultsError: the file cannot be written.

    """
    shown = [
        dataclasses.replace(each, entries=[entry for entry in each.entries if not wanted or entry.verdict in wanted])
        for each in standings
    ]
    pages.write_markdown(
        path,
        "claims.md.j2",
        command=f"fanin claims --page {path.as_posix()}",
        papers=[paper for paper in pages.papers(shown) if paper.claims],
        statuses=STATUSES,
        total=pages.totals(shown),
        verdicts=pages.VERDICTS,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
    )
