"""Texts, totals and templates shared by the claims pages and the data of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2

from fanin.claims.record import ranges
from fanin.claims.sentences import Sentence
from fanin.claims.standing import NONE, PROGRAMS, Standing, date
from fanin.claims.verdicts import VERDICTS
from fanin.harmless import harmless
from fanin.numbers.summary import format_number
from fanin.registry import registry
from fanin.results.files import whole_file, writing

SENTENCES = (
    "A claim is one sentence of a paper. Each sentence is counted once, whether one experiment judges it or several. "
    "It has a case for each setting under which it was judged, such as a reading of the paper. Each case has its own "
    "outcome, and the verdict on the sentence follows from all of them. A case whose setting contradicts the paper's "
    "text is shown, and never counts."
)

INTERVALS = (
    "Intervals are 95 % confidence intervals over seeds. Means at given points have Student's t. Collapse points, "
    "ratios and extremes have the percentile bootstrap. With fewer than three seeds there is no interval. A verdict "
    "marked quick rests on few runs. One marked stale rests on another version of the engine or of the "
    "experiment's file."
)

IMPOSSIBLE = (
    "An impossible sentence is listed with the arithmetic, or with the words or numbers of the paper, that rule it "
    "out. Claims based on such numbers are judged by rank (which scheme is better) and by ratio (how much better)."
)


@dataclass(frozen=True)
class Paper:
    """The experiments of a paper, with the verdicts on its claims."""

    key: str
    standings: list[Standing]

    @property
    def name(self) -> str:
        """The paper's name: the title of its scheme's manual page, if there is one."""
        scheme = scheme_of(self.key)
        title = PROGRAMS.get(self.key, "") if scheme is None else heading(scheme["manual"])[0]
        return title or self.key or "other experiments"

    @property
    def sentences(self) -> list[Sentence]:
        """The paper's sentences, without those that are counted in another experiment."""
        return [claim for each in self.standings for claim in each.sentences]

    @property
    def counts(self) -> dict[str, int]:
        """Number of sentences per verdict."""
        found: list[str] = [claim.verdict for claim in self.sentences]
        return {word.name: found.count(word.name) for word in VERDICTS}

    @property
    def claims(self) -> int:
        """Total number of sentences."""
        return len(self.sentences)

    @property
    def outcomes(self) -> list[str]:
        """The outcomes of all cases."""
        return [case.outcome for each in self.standings for case in each.cases]

    @property
    def late(self) -> int:
        """Number of sentences whose verdict rests on a case that was written or corrected after a first run."""
        return sum(bool(claim.late) for claim in self.sentences)


def papers(standings: Iterable[Standing]) -> list[Paper]:
    """Groups experiments by paper, keeping their order."""
    groups = groupby(standings, key=lambda each: each.paper)
    return [Paper(key, list(group)) for key, group in groups]


def scheme_of(paper: str) -> dict[str, Any] | None:
    """The scheme that a paper proposes: the one with the paper's name, ignoring dashes."""
    rows: list[dict[str, Any]] = registry()["schemes"]
    return next((row for row in rows if row["key"].replace("-", "") == paper.replace("-", "")), None)


def heading(manual: str) -> tuple[str, str]:
    """A manual page's title, and the rest of the page."""
    first, _, rest = manual.strip().partition("\n")
    return (first.removeprefix("# "), rest) if first.startswith("# ") else ("", manual)


def totals(standings: Iterable[Standing]) -> dict[str, str]:
    """Totals over all runs: number, size, versions, machines and dates; a shared run is counted once."""
    records = [each.record for each in standings if each.record is not None]
    work = [each.work for each in records]
    runs = {run: totals for each in work for run, totals in each.each.items()}
    events, hops, seconds = (sum(each) for each in zip((0, 0, 0.0), *runs.values(), strict=True))
    finished = [each.last for each in work if each.last]
    return {
        "experiments": str(len(records)),
        "runs": format_number(len(runs)),
        "events": format_number(int(events)),
        "packet_hops": format_number(int(hops)),
        "time": duration(seconds),
        "seeds": ranges(seed for each in work for seed in each.seeds) or NONE,
        "engines": _joined(each.engine_version for each in work),
        "versions": _joined(each.fanin_version for each in work),
        "pythons": _joined(each.python_version for each in work),
        "commits": _joined(commit for each in records for commit in each.work.git_commits),
        "machines": _joined(machine for each in work for machine in each.machines),
        "first": date(min((each.first for each in work if each.first), default=None)),
        "last": date(max(finished, default=None)),
    }


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({value for value in values if value})) or NONE


def duration(seconds: float) -> str:
    """A duration in a readable unit."""
    if seconds < 120:
        return f"{format_number(seconds, 3)} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def write_markdown(path: Path, template: str, **values: object) -> None:
    """Writes a page of the documentation; the same values give the same bytes.

    Args:
        path: Where to.
        template: Name of the template; it can use the filter ``cell`` for text in table cells.
        values: Variables of the template.

    Raises:
        ResultsError: the file cannot be written.

    """
    made = _environment()
    made.filters["cell"] = cell
    text = made.get_template(template).render(**values)
    with writing(path.parent, "--page"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write_bytes(re.sub(r"\n{3,}", "\n\n", harmless(text)).encode(errors="backslashreplace"))


def cell(text: object) -> str:
    """Text for a cell of a Markdown table, with all markup escaped."""
    escaped = re.sub(r"([\\`*\[\]<>|$])", r"\\\1", str(text))
    return " ".join(escaped.split())
