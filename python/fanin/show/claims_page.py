"""The claims ledger as a page of the documentation in Markdown: how claims are judged, and the sentences of each paper.

It is made from what the list of the view Papers is made from, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from fanin.claims.verdicts import EDGE
from fanin.show import pages


def write(path: Path, index: dict[str, Any], command: str, wanted: Collection[str] = ()) -> None:
    """Writes the page; the same results give the same bytes.

    Args:
        path: Where to.
        index: The list of the view Papers (:func:`fanin.show.page_data.index`).
        command: The command that makes the page.
        wanted: Verdicts to include; all if left out.

    Raises:
        ResultsError: the file cannot be written.

    """
    counted = [each for each in index["sentences"] if not (each["same_as"] or each["half_of"])]
    sentences: dict[str, list[dict[str, Any]]] = {}
    for each in counted:
        if not wanted or each["verdict"] in wanted:
            sentences.setdefault(each["paper"], []).append(each)
    papers = [paper for paper in index["papers"] if paper["key"] in sentences]
    values = {"command": command, "index": index, "papers": papers, "sentences": sentences, "edge": EDGE}
    pages.write_markdown(path, "claims.md.j2", **values)
