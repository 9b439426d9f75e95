"""The claims ledger as documentation pages in Markdown, generated from the runs.

The main page explains how claims are judged and counts sentences by verdict. A page per paper lists every sentence, and
below it its cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from fanin.claims.standing import Standing
from fanin.claims.usual import shortened
from fanin.claims.usual import usual as usual_of
from fanin.claims.verdicts import AT_THE_EDGE, OUTCOMES, VERDICTS
from fanin.show import pages


def write(path: Path, standings: list[Standing], wanted: Collection[str] = ()) -> list[Path]:
    """Writes the pages; the same results give the same bytes.

    Args:
        path: File of the main page; the others are written beside it.
        standings: The experiments to include.
        wanted: Verdicts to include; all if left out.

    Returns:
        The files written.

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
        total=pages.totals(shown),
        verdicts=VERDICTS,
        outcomes=OUTCOMES,
        sentences=pages.SENTENCES,
        edge=AT_THE_EDGE,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
    )
    for paper in papers:
        usual = {each.key: usual_of(each.claims) for each in paper.standings}
        short = [
            dataclasses.replace(each, claims=[shortened(claim, usual[each.key]) for claim in each.claims])
            for each in paper.standings
        ]
        values = {"paper": dataclasses.replace(paper, standings=short), "usual": usual, "page": path.name}
        pages.write_markdown(files[paper.key], "claims-paper.md.j2", command=command, **values)
    return [path, *files.values()]
