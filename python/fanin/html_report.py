"""The HTML report: one folder that opens from disk, made from what ``fanin reproduce`` left in the results.

``results/report/`` holds ``index.html`` (no script, nothing fetched from anywhere), the figures as SVG with their data
as CSV, and the experiments' files. The same results give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from fanin import ledger, pages
from fanin.errors import ResultsError
from fanin.ledger import STATUSES, Standing, Status
from fanin.record import Drawn
from fanin.store import clear_leftovers, replace_folder, temporary_beside, writing
from fanin.summary import column, format_number

FOLDER = "report"

PAGE = "index.html"

_GENERATOR = "fanin report"

_SIGNS: dict[Status, str] = {"reproduced": "✓", "direction only": "≈", "not reproduced": "✗", "not run": "○"}

_MOST_ROWS = 300
"""Of a figure's data on the page; the CSV has all."""


@dataclass(frozen=True)
class Drawing:
    """A plot on the page."""

    title: str
    says: str
    x_label: str
    y_label: str
    picture: str
    """File beside the page; empty if it is missing."""
    size: tuple[int, int] | None
    """Of the picture, so that the page does not jump when it comes."""
    table: str
    caption: str
    header: list[str]
    rows: list[list[str]]
    left_out: str


def write(out: Path | str, to: Path | str | None = None) -> Path:
    """Makes the report of everything in the results folder; an earlier one gives way when the new one is whole.

    Args:
        out: Results folder.
        to: Folder of the report; ``report`` in the results folder if left out.

    Returns:
        The page.

    Raises:
        FaninError: a record is damaged, or the folder cannot be written or is no report.

    """
    out = Path(out)
    final = out / FOLDER if to is None else Path(to)
    _refuse_to_replace(final)
    standings = ledger.standings(out)
    if not any(each.record for each in standings):
        raise ResultsError(f"{out}: no results yet; run 'fanin reproduce' first")
    temporary = temporary_beside(final)
    try:
        with writing(final, "--to"):
            temporary.mkdir(parents=True)
            clear_leftovers(final.parent)
            drawings = {each.key: _drawings(each, temporary) for each in standings}
            files = {each.key: _source(each, temporary) for each in standings}
            page = _render(standings, drawings, files)
            (temporary / PAGE).write_text(page, encoding="utf-8")
            replace_folder(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final / PAGE


def _refuse_to_replace(final: Path) -> None:
    """A folder that holds anything but a report stays what it is."""
    if not final.exists():
        return
    page = final / PAGE
    if final.is_dir() and not any(final.iterdir()):
        return
    with writing(final, "--to"):
        if page.is_file() and f'content="{_GENERATOR}"' in page.read_text(encoding="utf-8", errors="replace")[:2000]:
            return
    raise ResultsError(f"{final}: not a report of fanin's, so that it is not replaced; choose another with --to")


def _render(standings: list[Standing], drawings: dict[str, list[Drawing]], files: dict[str, str]) -> str:
    environment = pages.environment()
    environment.filters |= {
        "anchor": _anchor,
        "count": format_number,
        "duration": pages.duration,
        "markdown": _markdown,
        "sentence": _sentence,
        "slug": lambda status: status.replace(" ", "-"),
        "toml": to_toml,
    }
    papers = pages.papers(standings)
    systems = {paper.key: _system(paper.key) for paper in papers}
    style = (Path(__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    page: str = environment.get_template("report.html.j2").render(
        generator=_GENERATOR,
        style=style,
        papers=papers,
        statuses=STATUSES,
        signs=_SIGNS,
        total=pages.totals(standings),
        verdicts=pages.VERDICTS,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
        systems=systems,
        drawings=drawings,
        files=files,
    )
    return page


def _anchor(key: str) -> str:
    """The key itself, which may stand in an address but for spaces."""
    return re.sub(r"\s+", "-", key)


def _sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _markdown(text: str) -> str:
    """Markdown as HTML; HTML in it is shown, not obeyed."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def _system(paper: str) -> dict[str, str] | None:
    """The paper's own scheme: the beginning of its manual page, with the citation."""
    scheme = pages.scheme_of(paper)
    if scheme is None:
        return None
    _, body = pages.heading(scheme["manual"])
    return {"scheme": scheme["key"], "html": _markdown(body.partition("\n## ")[0])}


def _source(standing: Standing, folder: Path) -> str:
    """Copies the experiment's file."""
    if standing.record is None:
        return ""
    name = f"experiments/{standing.key}.toml"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(standing.record.source, encoding="utf-8")
    return name


def _drawings(standing: Standing, folder: Path) -> list[Drawing]:
    """Copies the experiment's figures and their data."""
    if standing.record is None:
        return []
    return [_drawing(drawn, standing, folder) for drawn in standing.record.plots]


def _drawing(drawn: Drawn, standing: Standing, folder: Path) -> Drawing:
    copied = {".svg": "", ".csv": ""}
    content = dict(copied)
    for file in drawn.files:
        source = standing.folder / Path(file).name
        if source.suffix in copied and source.is_file():
            name = f"figures/{standing.key}/{source.name}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
            copied[source.suffix] = name
            content[source.suffix] = source.read_text(encoding="utf-8", errors="replace")
    caption, header, rows = _data(drawn, content[".csv"])
    left_out = f"The first {_MOST_ROWS} of {len(rows)} rows." if len(rows) > _MOST_ROWS else ""
    return Drawing(
        title=drawn.title,
        says=drawn.says,
        x_label=drawn.x_label,
        y_label=drawn.y_label,
        picture=copied[".svg"],
        size=_size(content[".svg"]),
        table=copied[".csv"],
        caption=caption,
        header=header,
        rows=rows[:_MOST_ROWS],
        left_out=left_out,
    )


def _size(svg: str) -> tuple[int, int] | None:
    """Width and height of a picture, from its view box."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg[:4000])
    return None if found is None else (round(float(found[1])), round(float(found[2])))


def _data(drawn: Drawn, text: str) -> tuple[str, list[str], list[list[str]]]:
    """Caption, header and rows of a figure's CSV.

    Means of several lines stand side by side, in the unit of the axis; anything else is shown as it is.
    """
    table = list(csv.reader(io.StringIO(text)))
    if len(table) < 2:
        return "", [], []
    header, rows = table[0], table[1:]
    if header != ["by", "x", "mean", "half", "runs"]:
        return drawn.title, header, rows
    scale = column(drawn.y).scale
    lines = list(dict.fromkeys(row[0] for row in rows))
    cells = {(x, line): _with_half(mean, half, scale) for line, x, mean, half, _ in rows}
    places = sorted({row[1] for row in rows}, key=_place)
    names = [drawn.lines.get(line, line) or drawn.y_label for line in lines]
    body = [[x, *(cells.get((x, line), "") for line in lines)] for x in places]
    caption = f"{drawn.y_label}: mean ± half the 95 % interval over seeds"
    return caption, [drawn.x_label, *names], body


def _with_half(mean: str, half: str, scale: float) -> str:
    shown = format_number(float(mean) * scale)
    return f"{shown} ± {format_number(float(half) * scale, 2)}" if half else shown


def _place(value: str) -> tuple[float, str]:
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value


def to_toml(table: Mapping[str, Any]) -> str:
    """A resolved scenario as TOML."""
    lines: list[str] = []
    _append(lines, table, ())
    return "\n".join(lines).strip() + "\n"


def _append(lines: list[str], table: Mapping[str, Any], path: tuple[str, ...]) -> None:
    inner: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) or (isinstance(value, list) and value and isinstance(value[0], Mapping)):
            inner[key] = value
        elif value is not None and value != []:
            lines.append(f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}")
    for key, value in inner.items():
        place = (*path, _key(key))
        for each in value if isinstance(value, list) else [value]:
            # A table of tables alone needs no header of its own.
            if isinstance(value, list) or not each or any(not isinstance(part, Mapping) for part in each.values()):
                name = ".".join(place)
                lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            _append(lines, each, place)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
