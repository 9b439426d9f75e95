"""The ledger as pages of the documentation: Markdown, written by a program from the runs.

One page has how claims are judged and how many came out; beside it stands one per paper with every claim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from fanin.claims.ledger import STATUSES, Standing
from fanin.show import pages


def write(path: Path, standings: list[Standing], wanted: Collection[str] = ()) -> list[Path]:
    """Writes the pages; the same results give the same bytes.

    Args:
        path: Where to write the first one.
        standings: The experiments on them.
        wanted: Verdicts on them; all if left out.

    Returns:
        The pages.

    Raises:
        ResultsError: a file cannot be written.

    """
    shown = [
        dataclasses.replace(each, claims=[claim for claim in each.claims if not wanted or claim.verdict in wanted])
        for each in standings
    ]
    papers = [paper for paper in pages.papers(shown) if any(each.claims for each in paper.standings)]
    files = {paper.key: pages.beside(path, paper.key or "other") for paper in papers}
    command = f"fanin claims --page {path.as_posix()}"
    pages.write_markdown(
        path,
        "claims.md.j2",
        command=command,
        papers=papers,
        files={key: file.name for key, file in files.items()},
        statuses=STATUSES,
        total=pages.totals(shown),
        verdicts=pages.VERDICTS,
        readings=pages.READINGS,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
    )
    for paper in papers:
        pages.write_markdown(files[paper.key], "claims-paper.md.j2", command=command, paper=paper, page=path.name)
    return [path, *files.values()]
