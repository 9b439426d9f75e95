"""The claims ledger as pages of the documentation in Markdown.

One has the numbers of sentences by verdict, and how a verdict is found. The page on each paper has a table of its
sentences. They are made from what the list of the view Papers is made from, so that all say the same.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from fanin.claims.sentences import quoted
from fanin.claims.verdicts import EDGE, LATE, LATE_MEANING, explained
from fanin.errors import ResultsError
from fanin.results.files import write_whole
from fanin.show import pages

_FOLDERS = ("papers", "validation")
"""Where the pages on papers and programs are, in the documentation."""

BETWEEN = re.compile(
    r"(?P<begin>^<!-- sentences of (?P<paper>\S+): written by `make ledger` -->\n\n)(?P<table>.*?)"
    r"(?P<end>\n<!-- end of sentences -->$)",
    re.MULTILINE | re.DOTALL,
)
"""A table of sentences in a page."""

PICTURE = re.compile(r"^<!-- from results/(\S+) -->\n!\[[^\]]*\]\(([^)]+)\)$", re.MULTILINE)
"""A picture in a page, and the file of the results folder of which it is a copy."""


def write(
    path: Path, index: dict[str, Any], command: str, wanted: Collection[str] = (), *, tables: bool = True
) -> None:
    """Writes the page on all papers; the same results give the same bytes.

    Args:
        path: Where to.
        index: The list of the view Papers (:func:`fanin.show.page_data.index`).
        command: The command that makes the page.
        wanted: Verdicts of the sentences to include; all if left out.
        tables: Whether the page has the sentences, and not only their numbers.

    Raises:
        ResultsError: the file cannot be written.

    """
    found = _by_paper(index, wanted)
    papers = [paper for paper in index["papers"] if paper["key"] in found]
    shown = {key: table(each) for key, each in found.items()} if tables else {}
    pages.write_markdown(
        path, "claims.md.j2", command=command, index=index, papers=papers, tables=shown, late=LATE_MEANING
    )


def write_into_pages(docs: Path, index: dict[str, Any], out: Path) -> None:
    """Writes the sentences of each paper between the marks of its page, and copies the page's pictures.

    The page says which paper it is on and which files the pictures are. What was not run stays as it is.

    Args:
        docs: Folder of the documentation.
        index: The list of the view Papers.
        out: Results folder.

    Raises:
        ResultsError: a picture is not among the results of its experiment, or a file cannot be written.

    """
    found = _by_paper(index, ())

    def renewed(place: re.Match[str]) -> str:
        paper = place["paper"]
        return f"{place['begin']}{_section(paper, found[paper])}{place['end']}" if paper in found else place[0]

    for path in sorted(page for folder in _FOLDERS for page in (docs / folder).glob("*.md")):
        text = path.read_text(encoding="utf-8")
        changed = BETWEEN.sub(renewed, text)
        if changed != text:
            write_whole(path, changed.encode())
        for name, target in PICTURE.findall(text):
            _copy(out / name, path.parent / target)


def _copy(source: Path, target: Path) -> None:
    if not source.parent.is_dir():
        return
    if not source.is_file():
        raise ResultsError(f"{source}: no such figure, of which {target} is a copy")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _by_paper(index: dict[str, Any], wanted: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The sentences that count, by paper, in the order of the figures."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in index["sentences"]:
        if not (each["same_as"] or each["half_of"]) and (not wanted or each["verdict"] in wanted):
            found.setdefault(each["paper"], []).append(each)
    return found


def _section(paper: str, sentences: list[dict[str, Any]]) -> str:
    more = (
        "All cases with their intervals and reasons are in the view Papers. "
        f"`fanin claims --details {paper}` lists them too, after `fanin reproduce {paper}`."
    )
    return f"{table(sentences).rstrip()} {more}"


def table(sentences: list[dict[str, Any]]) -> str:
    """The sentences with a line each, and in one more what the words of their verdicts mean.

    Args:
        sentences: Entries of the list of the view Papers.

    """
    rows = ["| sentence | verdict | printed | ours | condition |", "|---|---|---:|---:|---|"]
    for each, quote in zip(sentences, _told_apart(sentences), strict=True):
        cells = [quote, _said(each), each["published"], each["ours"], each["condition"]]
        rows.append(f"| {' | '.join(map(pages.cell, cells))} |")
    words = " ".join(f"**{_begun(name)}**: {what}" for name, what in explained(map(_said, sentences)))
    return "\n".join([*rows, "", words, ""])


def _begun(name: str) -> str:
    """The word of a verdict at the beginning of a sentence."""
    return f"A {name}" if name == LATE else f"{name[0].upper()}{name[1:]}"


def _told_apart(sentences: list[dict[str, Any]]) -> list[str]:
    """The sentences as quoted; those that differ in numbers alone keep the remark at their end.

    The remark of a sentence is its measure, such as the mean or the 99th percentile.
    """
    places = [each["figure"] or each["experiment"] for each in sentences]
    quotes = [quoted(place, each["says"]) for place, each in zip(places, sentences, strict=True)]
    alike = Counter(map(_without_numbers, quotes))
    return [
        f"{place}: {each['says']}" if alike[_without_numbers(quote)] > 1 else quote
        for quote, place, each in zip(quotes, places, sentences, strict=True)
    ]


def _without_numbers(quote: str) -> str:
    return re.sub(r"[\d.,]+", "0", quote)


def _said(sentence: dict[str, Any]) -> str:
    edge, late = EDGE if sentence["edge"] else "", f" {LATE}" if sentence["late"] else ""
    return f"{sentence['verdict']}{edge}{sentence['mark']}{late}"
