"""The cross-paper ranking as numbers, from runs, or from the pages that ``fanin ranking --page`` wrote of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fanin.choose.ranking import MEASURES, RankedSystem, Ranking, axis_name, heading
from fanin.errors import ResultsError
from fanin.show.ranking_page import Cell, percent

_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
_REGIME = re.compile(r"^## ((?:buffer|answer|background|senders|spine) .*)$")
_LINK = re.compile(r"\]\((ranking-cross-[^)]*\.md)\)")
"""A page of the ranking in its index; another ranking may have pages beside it."""
_COMMAND = re.compile(r"Command: `([^`]*)`")
_MEASURES = ("query goodput", "query p99", "timeouts", "background")


def matrix_of(rankings: Iterable[Ranking]) -> dict[str, Any]:
    """The same of rankings as of their pages.

    Args:
        rankings: The rankings of experiments.

    """
    shown = [measure for measure in MEASURES if heading(measure).startswith(_MEASURES)]

    def cells(place: RankedSystem) -> dict[str, str]:
        first = {"rank": str(place.rank or "-"), "system": place.system, "share": percent(place.share)}
        measures = {heading(measure): Cell(place).shown(measure) for measure in shown}
        return {**first, **measures, "left": str(place.unfinished or "")}

    found = [
        {
            "title": each.standing.title or each.standing.key,
            "command": each.standing.command,
            "columns": None,
            "regimes": [
                {
                    "where": {axis_name(axis): str(value) for axis, value in regime.where.items()},
                    "places": [_place(cells(place)) for place in regime.places],
                }
                for regime in each.regimes
            ],
        }
        for each in rankings
    ]
    return {"columns": [heading(measure) for measure in shown], "experiments": found}


def read(folder: Path) -> dict[str, Any]:
    """Every regime of every experiment, with each system's rank, share and numbers.

    Args:
        folder: Folder of the pages.

    Raises:
        ResultsError: a page has no regimes.

    """
    index = folder / "ranking.md"
    linked = _LINK.findall(index.read_text(encoding="utf-8")) if index.is_file() else []
    found = [_page(folder / name) for name in sorted(set(linked))]
    columns = found[0]["columns"] if found else []
    return {"columns": columns, "experiments": [{**each, "columns": None} for each in found]}


def _page(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    title, command = _TITLE.search(text), _COMMAND.search(text)
    regimes: list[dict[str, Any]] = []
    columns: list[str] = []
    for line in text.splitlines():
        if regime := _REGIME.match(line):
            regimes.append({"where": _where(regime[1]), "places": []})
        elif regimes and line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] == "rank":
                columns = cells
            elif not cells[0].startswith("-:") and "---" not in cells[0]:
                regimes[-1]["places"].append(_place(dict(zip(columns, cells, strict=True))))
    if not regimes or title is None or command is None:
        raise ResultsError(f"{path}: has no regimes; write it with 'fanin ranking cross --page'")
    shown = [name for name in columns if name.startswith(_MEASURES)]
    return {"title": title[1], "command": command[1], "columns": shown, "regimes": regimes}


def _where(heading: str) -> dict[str, str]:
    """``buffer 100 KB, answer 32 KB, background none, senders 5``."""
    return {name: value for name, _, value in (part.partition(" ") for part in heading.split(", "))}


def _place(cells: dict[str, str]) -> list[Any]:
    """System, rank (0 if undecided), share in per cent, the measures as shown, and what was left."""
    rank = cells["rank"]
    shown = [value for name, value in cells.items() if name.startswith(_MEASURES)]
    share = float(cells["share"].removesuffix("%").strip()) if cells["share"] != "-" else None
    return [cells["system"], int(rank) if rank.isdecimal() else 0, share, *shown, cells["left"]]
