"""The HTML report: one folder that opens from disk, made from what ``fanin reproduce`` wrote to the results folder.

``results/report/`` holds ``index.html`` (it fetches nothing; its script only filters), the figures as SVG with their
data as CSV, and the experiments' files. The same results give the same bytes.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from fanin.claims import ledger
from fanin.claims.record import PlotRecord, Simulations
from fanin.claims.standing import Standing
from fanin.claims.verdicts import AT_THE_EDGE, OUTCOMES, VERDICTS, word
from fanin.errors import ResultsError
from fanin.numbers.summary import format_number
from fanin.results import sums
from fanin.results.files import whole_folder, writing
from fanin.results.layout import CLAIMS
from fanin.scenario.toml_text import to_toml
from fanin.show import pages

FOLDER = "report"

PAGE = "index.html"

_GENERATOR = "fanin report"

_MOST_ROWS = 100
"""Maximum rows of a figure's data on the page; the CSV has all rows."""

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""Quantiles shown of a distribution."""


@dataclass(frozen=True)
class Drawing:
    """A plot on the page."""

    title: str
    caption: str
    note: str
    says: str
    """Text alternative of the figure, for screen readers."""
    picture: str
    """File beside the page; empty if it is missing."""
    size: tuple[int, int] | None
    """Width and height, so that the page does not jump when the figure loads."""
    table: str
    heading: str
    header: list[str]
    rows: list[list[str]]
    left_out: str


def write(out: Path | str, to: Path | str | None = None, *, advance: ledger.Advance = lambda _done, _of: None) -> Path:
    """Writes the report of everything in the results folder; it replaces an earlier one only when it is complete.

    Args:
        out: Results folder.
        to: Folder of the report; ``report`` in the results folder if left out.
        advance: As for :func:`fanin.claims.ledger.standings`.

    Returns:
        The page.

    Raises:
        FaninError: a record is damaged, or the folder cannot be written or is no report.

    """
    out = Path(out)
    final = out / FOLDER if to is None else Path(to)
    _refuse_to_replace(final)
    standings = ledger.standings(out, advance=advance)
    if not any(each.record for each in standings):
        old = any((each.folder / CLAIMS).is_file() for each in standings)
        why = "its results were written by another version of fanin" if old else "no results yet"
        raise ResultsError(f"{out}: {why}; run 'fanin reproduce' first")
    with whole_folder(final, "--to") as temporary:
        drawings = {each.key: _drawings(each, temporary) for each in standings}
        files = {each.key: _source(each, temporary) for each in standings}
        page = _render(standings, drawings, files)
        (temporary / PAGE).write_text(page, encoding="utf-8")
    return final / PAGE


def _refuse_to_replace(final: Path) -> None:
    """Refuses to replace a folder that contains anything but a report."""
    if not final.exists():
        return
    page = final / PAGE
    if final.is_dir() and not any(final.iterdir()):
        return
    with writing(final, "--to"):
        if page.is_file() and f'content="{_GENERATOR}"' in page.read_text(encoding="utf-8", errors="replace")[:2000]:
            return
    raise ResultsError(f"{final}: not a report written by fanin, so it is not replaced; choose another with --to")


def _render(standings: list[Standing], drawings: dict[str, list[Drawing]], files: dict[str, str]) -> str:
    environment = pages.environment()
    environment.filters |= {
        "anchor": _anchor,
        "markdown": _markdown,
        "sentence": _sentence,
        "simulated": _simulated,
        "word": word,
        "toml": to_toml,
    }
    papers = pages.papers(standings)
    systems = {paper.key: _system(paper.key) for paper in papers}
    style, script = (
        "\n" + (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
        for name in ("report.css", "report.js")
    )
    page: str = environment.get_template("report.html.j2").render(
        generator=_GENERATOR,
        policy=_policy(style, script),
        style=style,
        script=script,
        papers=papers,
        missing=[each for each in standings if each.record is None],
        total=pages.totals(standings),
        verdicts=VERDICTS,
        outcomes=OUTCOMES,
        sentences=pages.SENTENCES,
        edge=AT_THE_EDGE,
        intervals=pages.INTERVALS,
        impossible=pages.IMPOSSIBLE,
        systems=systems,
        drawings=drawings,
        files=files,
    )
    return page


def _policy(style: str, script: str) -> str:
    """What a browser may load for the page (Content Security Policy, level 3).

    These are its own style and script, and pictures beside it; texts of an experiment file cannot add to that.
    """
    own = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    styles, scripts = (f"'sha256-{each}'" for each in own)
    return (
        f"default-src 'none'; img-src 'self' file:; style-src {styles}; script-src {scripts}; base-uri 'none'; "
        "form-action 'none'"
    )


def _anchor(key: str) -> str:
    """The key as an HTML anchor; only spaces have to be replaced."""
    return re.sub(r"\s+", "-", key)


def _sentence(text: str) -> str:
    """The text as a sentence, with a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _markdown(text: str) -> str:
    """Renders Markdown as HTML; HTML in the text is escaped, and no image is loaded, as it might be anywhere."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text))


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


def _drawing(drawn: PlotRecord, standing: Standing, folder: Path) -> Drawing:
    copied = {".svg": "", ".csv": ""}
    content = dict(copied)
    for file in drawn.files:
        source = standing.folder / file
        # A link could lead to any file of whoever opens a stranger's results.
        if source.suffix in copied and source.is_file() and not source.is_symlink():
            name = f"figures/{standing.key}/{source.name}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            found = sums.read_bytes(source)
            (folder / name).write_bytes(found)
            copied[source.suffix] = name
            content[source.suffix] = found.decode("utf-8", errors="replace")
    try:
        heading, header, rows = _data(drawn, content[".csv"])
    except (ValueError, TypeError, csv.Error) as error:
        raise ResultsError(f"{standing.folder / drawn.name}.csv: not the data of a figure ({error})") from None
    axes = f"{drawn.y_label} against {drawn.x_label}." if drawn.y_label else ""
    named = [name for name in drawn.lines if name]
    more = [f"Lines: {', '.join(named)}." if named else "", f"Marks: {', '.join(drawn.marks)}." if drawn.marks else ""]
    left_out = f"The first {_MOST_ROWS} of {len(rows)} rows." if len(rows) > _MOST_ROWS else ""
    return Drawing(
        title=drawn.title,
        caption=f"{_sentence(drawn.title)} {axes}".strip(),
        note=drawn.note,
        says=" ".join(part for part in (_sentence(drawn.title), axes, *more) if part),
        picture=copied[".svg"],
        size=_size(content[".svg"]),
        table=copied[".csv"],
        heading=heading,
        header=header,
        rows=rows[:_MOST_ROWS],
        left_out=left_out,
    )


def _size(svg: str) -> tuple[int, int] | None:
    """Width and height of a picture, from its view box."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg[:4000])
    return None if found is None else (round(float(found[1])), round(float(found[2])))


def _data(drawn: PlotRecord, text: str) -> tuple[str, list[str], list[list[str]]]:
    """Heading, header and rows of a figure's CSV.

    Lines of a plot become columns, in the units of the axes; any other table is shown as it is.
    """
    table = list(csv.DictReader(io.StringIO(text)))
    if not table:
        return "", [], []
    columns = set(table[0])
    if not {"by", "x"} < columns or not columns & {"mean", "share"}:
        return drawn.title, list(table[0]), [list(row.values()) for row in table]
    lines = list(dict.fromkeys(row["by"] for row in table))
    if "share" in columns:
        return drawn.y_label, ["Share", *(name or drawn.x_label for name in lines)], _quantiles(drawn, table, lines)
    cells = {(row["x"], row["by"]): _mean(row, drawn.y_scale) for row in table}
    places = dict.fromkeys(row["x"] for row in table)
    if all(_is_number(x) for x in places):
        places = dict.fromkeys(sorted(places, key=float))
    rows = [[_scaled(x, drawn.x_scale), *(cells.get((x, line), "") for line in lines)] for x in places]
    interval = ": mean ± half the 95 % interval over seeds" if any(row.get("half") for row in table) else ""
    return f"{drawn.y_label}{interval}", [drawn.x_label, *(name or drawn.y_label for name in lines)], rows


def _quantiles(drawn: PlotRecord, table: list[dict[str, str]], lines: list[str]) -> list[list[str]]:
    """A distribution as a few quantiles."""
    rows = []
    for share in _SHARES:
        of_lines = ([row for row in table if row["by"] == line] for line in lines)
        reached = [next((row["x"] for row in each if float(row["share"]) >= share), "") for each in of_lines]
        rows.append([f"{share:.0%}", *(format_number(float(x) * drawn.x_scale) if x else "" for x in reached)])
    return rows


def _mean(row: dict[str, str], scale: float) -> str:
    """A mean with half of its interval, or with the ends of its whiskers."""
    shown = _scaled(row["mean"], scale)
    if row.get("low") and row.get("high"):
        return f"{shown} ({_scaled(row['low'], scale)} to {_scaled(row['high'], scale)})"
    return f"{shown} ± {format_number(float(row['half']) * scale, 2)}" if row.get("half") else shown


def _scaled(value: str, scale: float) -> str:
    if not _is_number(value):
        return value
    return format_number(float(value) * scale) if scale != 1.0 or "." in value else value


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _simulated(work: Simulations) -> str:
    events, hops, seconds = (sum(each) for each in zip((0, 0, 0.0), *work.each.values(), strict=True))
    counts = f"{format_number(int(events))} events, {format_number(int(hops))} packet-hops"
    return f"{counts}, {pages.duration(seconds)} in the engine"
