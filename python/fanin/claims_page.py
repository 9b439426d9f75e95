"""The ledger as a page of the documentation: Markdown, written by a program from the runs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from pathlib import Path

from fanin import pages
from fanin.ledger import STATUSES, Standing
from fanin.store import write_whole, writing


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
    environment = pages.environment()
    environment.filters["cell"] = _cell
    text = environment.get_template("claims.md.j2").render(
        command=f"fanin claims --page {path.as_posix()}",
        papers=[paper for paper in pages.papers(shown) if paper.claims],
        statuses=STATUSES,
        total=pages.totals(shown),
        verdicts=pages.VERDICTS,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
    )
    with writing(path.parent, "--page"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, re.sub(r"\n{3,}", "\n\n", text).encode())


def _cell(text: object) -> str:
    """A text for a Markdown table, where nothing of it means more than itself."""
    escaped = re.sub(r"([\\`*\[\]<>|$])", r"\\\1", str(text))
    return " ".join(escaped.split())
