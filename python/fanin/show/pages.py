"""What the page of claims and the HTML report have in common: texts, totals and templates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2

from fanin.claims import ledger
from fanin.claims.ledger import NONE, STATUSES, Sentence, Standing, Status
from fanin.claims.record import ranges
from fanin.claims.sentences import is_elsewhere
from fanin.numbers.summary import format_number
from fanin.registry import registry
from fanin.results.files import write_whole, writing

VERDICTS: tuple[tuple[Status, str], ...] = (
    ("reproduced", "our number lies inside the accepted range."),
    (
        "direction only",
        "it lies outside, but with its whole interval on the right side: the order or sign that the paper reports, not "
        "the size.",
    ),
    ("not reproduced", "neither. The reason names the cause as far as we know it."),
    ("not run", "the experiment was not run, or not judged, yet."),
)

READINGS = (
    "A claim is one sentence of a paper. Where it can be read in several ways it is judged under each reading, and its "
    "verdict is that of its main reading, the first one; under how many readings it is reproduced is told beside it. "
    "Counts go by claim, then by reading; a sentence that several experiments judge counts once."
)

INTERVALS = (
    "Intervals are 95 % confidence intervals over seeds: Student's t for means at given points, the percentile "
    "bootstrap over seeds for everything else (collapse points, ratios, extremes). Fewer than three seeds give none. A "
    "verdict marked quick rests on a look with few runs, one marked stale on another engine or another version of the "
    "experiment's file."
)

IMPOSSIBLE = (
    "Some published numbers cannot be. PFDCT's Table 2 gives 2.3 s to 4.3 s as the average completion time of flows of "
    "15 KB: a hundred of them are 1.5 MB, which the paper's 1 Gbit/s link carries in 12 ms. Its Table 3 gives traffic "
    "one an average of up to 1.8 Gbit/s over intervals of 5 s, but that traffic is 10 MB in all, gone in 45 ms at that "
    "rate. Claims that rest on such numbers are judged by rank (which scheme is better) and by ratio (how much "
    "better), never by the printed digits."
)


@dataclass(frozen=True)
class Paper:
    """The experiments of a paper, and how its claims came out."""

    key: str
    standings: list[Standing]

    @property
    def name(self) -> str:
        """What to call it: as its scheme's manual page does."""
        scheme = scheme_of(self.key)
        title = "" if scheme is None else heading(scheme["manual"])[0]
        return title or self.key or "other experiments"

    @property
    def anchor(self) -> str:
        """Its place on a page."""
        return f"paper-{self.key or 'other'}".replace(" ", "-")

    @property
    def has_runs(self) -> bool:
        """Whether there are results of any of its experiments."""
        return any(each.record is not None for each in self.standings)

    @property
    def sentences(self) -> list[Sentence]:
        """Its claims, each counted once."""
        return [claim for each in self.standings for claim in each.claims if not claim.same_as]

    @property
    def counts(self) -> dict[str, int]:
        """Claims by verdict, under their main readings."""
        return {status: sum(claim.verdict == status for claim in self.sentences) for status in STATUSES}

    @property
    def claims(self) -> int:
        """Claims in all."""
        return len(self.sentences)

    @property
    def elsewhere(self) -> int:
        """Claims that are reproduced, but not under their main reading."""
        return sum(is_elsewhere(claim.verdicts) for claim in self.sentences)

    @property
    def verdicts(self) -> list[str]:
        """Those of all readings of all claims."""
        return [entry.verdict for each in self.standings for entry in each.entries]

    @property
    def added(self) -> int:
        """Claims of which the main reading was written after a first look."""
        return sum(bool(claim.main.added) for claim in self.sentences)


def papers(standings: Iterable[Standing]) -> list[Paper]:
    """Experiments by paper, in their order."""
    groups = groupby(standings, key=lambda each: each.paper)
    return [Paper(key, list(group)) for key, group in groups]


def scheme_of(paper: str) -> dict[str, Any] | None:
    """The system that a paper proposes: the scheme of the same name, dashes aside."""
    rows: list[dict[str, Any]] = registry()["schemes"]
    return next((row for row in rows if row["key"].replace("-", "") == paper.replace("-", "")), None)


def heading(manual: str) -> tuple[str, str]:
    """A manual page's title, and what follows."""
    first, _, rest = manual.strip().partition("\n")
    return (first.removeprefix("# "), rest) if first.startswith("# ") else ("", manual)


def totals(standings: Iterable[Standing]) -> dict[str, str]:
    """What all runs together are: how many, of what size, by what versions, where; shared runs count once."""
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
        "first": ledger.date(min((each.first for each in work if each.first), default=None)),
        "last": ledger.date(max(finished, default=None)),
    }


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({value for value in values if value})) or NONE


def duration(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 120:
        return f"{format_number(seconds, 3)} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def beside(path: Path, name: str) -> Path:
    """A page of one paper or experiment, beside the one of all."""
    return path.with_name(f"{path.stem}-{name.replace('/', '-')}{path.suffix}")


def environment() -> jinja2.Environment:
    """Templates, with everything escaped in those of HTML."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=jinja2.select_autoescape(["html.j2"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def write_markdown(path: Path, template: str, **values: object) -> None:
    """Writes a page of the documentation; the same values give the same bytes.

    Args:
        path: Where to.
        template: Name of the template, which has the filter ``cell`` for what stands in tables.
        values: What the template shows.

    Raises:
        ResultsError: the file cannot be written.

    """
    made = environment()
    made.filters["cell"] = _cell
    text = made.get_template(template).render(**values)
    with writing(path.parent, "--page"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, re.sub(r"\n{3,}", "\n\n", text).encode())


def _cell(text: object) -> str:
    """A text for a Markdown table, where nothing of it means more than itself."""
    escaped = re.sub(r"([\\`*\[\]<>|$])", r"\\\1", str(text))
    return " ".join(escaped.split())
