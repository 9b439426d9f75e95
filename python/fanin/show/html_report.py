"""The HTML report: one folder that opens from disk, made from what ``fanin reproduce`` wrote to the results folder.

It is the view Papers of the page, with the data inside the document, as a page that was opened from a disk may fetch
nothing. ``results/report/`` holds ``index.html``, the figures' data as CSV, and the experiments' files: nothing of a
results folder that a browser would run. The same results and the same front end give the same bytes.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
from pathlib import Path
from typing import Any

from fanin.claims import ledger
from fanin.claims.standing import Standing
from fanin.errors import ResultsError
from fanin.results.files import whole_folder, writing
from fanin.results.layout import CLAIMS, GENERATOR, PAGE, REPORT
from fanin.show import front_end, page_data, ranking_matrix
from fanin.show.page_experiments import Files
from fanin.show.page_figures import Keep

_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="{generator}">
<title>Report · fanin</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<noscript>The report is a program, and needs JavaScript. The data of its figures are in the folder figures,
its experiments' files in the folder experiments.</noscript>
{data}<script>{script}</script>
</body>
</html>
"""


def write(out: Path | str, to: Path | str | None = None, *, advance: ledger.Advance = lambda _done, _of: None) -> Path:
    """Writes the report of everything in the results folder; it replaces an earlier one only when it is complete.

    Args:
        out: Results folder.
        to: Folder of the report; ``report`` in the results folder if left out.
        advance: As for :func:`fanin.claims.ledger.standings`.

    Returns:
        The page.

    Raises:
        NotFoundError: the front end is not built.
        FaninError: a record is damaged, or the folder cannot be written or is no report.

    """
    out = Path(out)
    final = out / REPORT if to is None else Path(to)
    built = front_end.of_report()
    _refuse_to_replace(final)
    standings = ledger.standings(out, advance=advance)
    if not any(each.record for each in standings):
        old = any((each.folder / CLAIMS).is_file() for each in standings)
        why = "its results were written by another version of fanin" if old else "no results yet"
        raise ResultsError(f"{out}: {why}; run 'fanin reproduce' first")
    with whole_folder(final, "--to") as temporary:
        document = _document(built, _contents(out, standings, temporary))
        # Half of a pair of UTF-16 is no character: in JSON it can be escaped.
        (temporary / PAGE).write_bytes(document.encode(errors="backslashreplace"))
    return final / PAGE


def _refuse_to_replace(final: Path) -> None:
    """Refuses to replace a folder that contains anything but a report."""
    if not final.exists():
        return
    with writing(final, "--to"):
        if _is_report(final) or (final.is_dir() and not any(final.iterdir())):
            return
    raise ResultsError(f"{final}: not a report written by fanin, so it is not replaced; choose another with --to")


def _is_report(folder: Path) -> bool:
    """Whether this is the folder of a report."""
    with contextlib.suppress(OSError), (folder / PAGE).open("rb") as stream:
        return f'content="{GENERATOR}"'.encode() in stream.read(_HEAD)
    return False


_HEAD = 2000
"""Bytes of a page in which it says what made it."""


def _contents(out: Path, standings: list[Standing], folder: Path) -> dict[str, Any]:
    """The data files of the page; figures' data and experiments' files are copied into the folder."""

    def keep(below: str) -> Keep:
        def kept(name: str, content: bytes) -> str:
            path = folder / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return f"{below}/{name}"

        return kept

    files = Files(out)
    described = [page_data.Described.of(each, files, keep) for each in standings if each.record is not None]
    files.write()
    return page_data.contents(standings, described, ranking_matrix.matrix_of(standings))


def _document(built: front_end.OfReport, files: dict[str, Any]) -> str:
    """The page. All that a results folder says is JSON, which cannot end its element or begin another."""
    data = "".join(
        f'<script type="application/json" data-file="{html.escape(name)}">{_inert(content)}</script>\n'
        for name, content in files.items()
    )
    return _DOCUMENT.format(
        generator=GENERATOR, policy=_policy(built), style=built.style, script=built.script, data=data
    )


def _inert(content: object) -> str:
    """JSON that is no HTML."""
    return page_data.text(content).strip().replace("<", "\\u003c")


def _policy(built: front_end.OfReport) -> str:
    """What a browser may load for the page (Content Security Policy, level 3).

    These are its own style and script, and pictures that it makes; texts of an experiment file cannot add to that.
    """
    own = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (built.style, built.script))
    styles, scripts = (f"'sha256-{each}'" for each in own)
    return (
        f"default-src 'none'; img-src data: blob:; style-src {styles}; script-src {scripts}; base-uri 'none'; "
        "form-action 'none'"
    )
