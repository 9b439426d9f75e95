"""The data files of the page in ``web``: sentences with verdicts, figures, scenarios to play with, and the ranking.

They are committed, because a static site must be buildable without the runs:

    python -m fanin.show.page_data RESULTS docs web/public/data

makes them anew from the results of ``fanin reproduce`` and from the documentation.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.claims import ledger
from fanin.claims.record import PlotRecord, Record
from fanin.claims.sentences import Entry, Sentence, deciding
from fanin.claims.standing import Standing
from fanin.claims.verdicts import OUTCOMES, VERDICTS, Word
from fanin.errors import FaninError
from fanin.later import pl
from fanin.results.files import write_whole
from fanin.results.store import read_table
from fanin.run.experiment import Experiment
from fanin.scenario import library
from fanin.scenario.departures import as_judged
from fanin.scenario.format.plot import CATEGORICAL, Plot
from fanin.show import pages, plain, ranking_matrix

_MOST_POINTS = 160
"""Most points of a line: a page's figure is some hundred pixels wide."""


def write(out: Path, docs: Path, folder: Path) -> list[Path]:
    """Writes all data files.

    Args:
        out: Results folder.
        docs: Folder of the documentation.
        folder: Where to.

    Returns:
        The files written.

    Raises:
        FaninError: a record or a file of the documentation cannot be read.

    """
    every = [each for each in ledger.standings(out) if each.paper and each.record is not None]
    described = [_Described.of(each) for each in every]
    files: dict[str, Any] = {"papers.json": _index(every, described)}
    files |= {f"experiments/{file_of(each.standing.key)}": each.as_dict() for each in described}
    files["presets.json"] = presets(described, docs)
    files["ranking.json"] = ranking_matrix.read(docs / "papers")
    written = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _text(content).encode())
        written.append(path)
    return written


def file_of(experiment: str) -> str:
    """Name of the file with an experiment's sentences and figures."""
    return f"{experiment.replace('/', '-')}.json"


def _text(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


@dataclass(frozen=True)
class _Described:
    """An experiment with the scenarios and figures of its sentences."""

    standing: Standing
    record: Record
    figures: list[dict[str, Any]]
    drawn: list[str]
    """The column that each figure shows."""
    scenarios: list[plain.Plain]
    played: dict[str, int]
    """Sentence -> its scenario."""
    shown: dict[str, str]
    """Sentence -> the column on which it is judged."""

    @classmethod
    def of(cls, standing: Standing) -> _Described:
        """Reads the experiment's file, its runs and the numbers of its figures."""
        assert standing.record is not None
        experiment = Experiment(*library.find(standing.key))
        plots = {plot.name: plot for plot in experiment.document.plot}
        drawn = [each for each in standing.record.plots if each.lines]
        figures = [figure(each, plots.get(each.name), standing.folder) for each in drawn]
        columns = [plots[each.name].drawn if each.name in plots else "" for each in drawn]
        scenarios, played = _scenarios(experiment, standing.folder / "runs.parquet")
        shown = {case.claim: case.y for case in reversed(as_judged(experiment))}
        return cls(standing, standing.record, figures, columns, scenarios, played, shown)

    def figure_of(self, claim: str) -> int | None:
        """The figure that shows what a sentence is judged on, or else the first."""
        if self.shown.get(claim) in self.drawn:
            return self.drawn.index(self.shown[claim])
        return 0 if self.figures else None

    def systems(self, claim: str) -> list[str]:
        """The schemes that a sentence speaks of."""
        found = self.played.get(claim)
        return [] if found is None else self.scenarios[found].compare

    def as_dict(self) -> dict[str, Any]:
        """The experiment's file."""
        record = self.record
        return {
            "key": self.standing.key,
            "title": record.title,
            "description": record.description.strip(),
            "command": f"fanin reproduce {self.standing.key}",
            "runs": record.work.runs,
            "seeds": self.standing.seeds,
            "engine": self.standing.engine,
            "sentences": [self._sentence(claim) for claim in self.standing.claims],
            "figures": self.figures,
            "scenarios": [{"toml": each.toml, "compare": each.compare} for each in self.scenarios],
        }

    def _sentence(self, claim: Sentence) -> dict[str, Any]:
        return {
            "id": claim.id,
            "rests_on": claim.rests_on,
            "tried": claim.tried,
            "decides": _decisive(claim),
            "cases": [_case(entry) for entry in claim.entries],
            "repeats": [entry.id for entry in claim.repeats],
            "figure": self.figure_of(claim.claim),
            "scenario": self.played.get(claim.claim),
        }


def _scenarios(experiment: Experiment, runs: Path) -> tuple[list[plain.Plain], dict[str, int]]:
    """The scenarios to play with, each once, and which one each sentence has."""
    if experiment.document.benchmark is not None or not runs.is_file():
        return [], {}
    every = plain.Scenarios(experiment, read_table(runs))
    found: list[plain.Plain] = []
    played: dict[str, int] = {}
    for case in as_judged(experiment):
        if case.claim in played or (scenario := every.of(case)) is None:
            continue
        if scenario not in found:
            found.append(scenario)
        played[case.claim] = found.index(scenario)
    return found, played


def _decisive(claim: Sentence) -> int:
    """The case whose numbers stand for the sentence: the one on which its verdict rests, if it is one of its own."""
    found = deciding(claim.verdict, claim.settings)
    ids = [entry.id for entry in claim.entries]
    return ids.index(found.id) if isinstance(found, Entry) and found.id in ids else 0


def _case(entry: Entry) -> dict[str, Any]:
    shown = entry.shown
    return {
        "reading": entry.reading,
        "quantity": shown.quantity,
        "published": shown.published,
        "ours": shown.value,
        "interval": shown.interval,
        "accept": shown.accept,
        "outcome": entry.outcome,
        "edge": entry.at_edge,
        "basis": entry.basis,
        "environment": entry.environment,
        "reason": entry.reason.removeprefix(f"{shown.value}; accepted {shown.accept} "),
        "note": entry.note,
        "added": entry.added,
    }


def _index(standings: list[Standing], described: list[_Described]) -> dict[str, Any]:
    total = pages.totals(standings)
    return {
        "runs": total["runs"],
        "hops": total["packet_hops"],
        "engine": total["engines"],
        "verdicts": [_word(word) for word in VERDICTS],
        "outcomes": [_word(word) for word in OUTCOMES],
        "papers": [_paper(paper) for paper in pages.papers(standings)],
        "sentences": [_brief(claim, each) for each in described for claim in each.standing.claims],
    }


def _word(word: Word) -> dict[str, str]:
    return {"name": word.name, "meaning": word.meaning, "sign": word.sign, "tone": word.tone}


def _paper(paper: pages.Paper) -> dict[str, Any]:
    return {
        "key": paper.key,
        "name": paper.name,
        "counts": paper.counts,
        "sentences": paper.claims,
        "late": paper.late,
        "cases": len(paper.outcomes),
        "reproduced": paper.outcomes.count("reproduced"),
    }


def _brief(claim: Sentence, described: _Described) -> dict[str, Any]:
    """What the list of all sentences shows of one, and what is searched."""
    main, decisive = claim.main, claim.entries[_decisive(claim)]
    return {
        "id": claim.id,
        "experiment": main.experiment,
        "paper": main.paper,
        "figure": main.figure,
        "says": claim.says,
        "verdict": claim.verdict,
        "edge": claim.at_edge,
        "late": bool(claim.late),
        "same_as": claim.same_as.replace("#", "/"),
        "half_of": f"{main.experiment}/{claim.half_of}" if claim.half_of else "",
        "published": decisive.shown.published,
        "ours": decisive.shown.value,
        "systems": described.systems(claim.claim),
    }


def figure(drawn: PlotRecord, plot: Plot | None, folder: Path) -> dict[str, Any]:
    """The lines of a figure, in the units of its labels, and the published numbers that it shows."""
    data = pl.read_csv(folder / f"{drawn.name}.csv", infer_schema_length=None)
    named = drawn.kind in CATEGORICAL
    scale = (1.0 if named else drawn.x_scale, drawn.y_scale)
    lines = [
        _line(str(line), rows, scale, named=named)
        for (line,), rows in data.fill_null("").group_by("by", maintain_order=True)
        if not rows.is_empty()
    ]
    published = [] if plot is None else plot.published
    return {
        "name": drawn.name,
        "kind": drawn.kind,
        "title": drawn.title,
        "note": drawn.note,
        "x": drawn.x_label,
        "y": drawn.y_label,
        "lines": lines,
        "published": [
            {
                "label": each.label,
                "x": [_rounded(value * scale[0]) for value in each.x],
                "y": [_rounded(value * scale[1]) for value in each.y],
                "by": each.by or "",
            }
            for each in published
        ],
    }


def _line(label: str, rows: pl.DataFrame, scale: tuple[float, float], *, named: bool) -> dict[str, Any]:
    rows = _thinned(rows)
    y = [value * scale[1] for value in rows["share" if "share" in rows.columns else "mean"]]
    x = [str(value) for value in rows["x"]] if named else [_rounded(value * scale[0], 5) for value in rows["x"]]
    found: dict[str, Any] = {"label": label, "x": x, "y": [_rounded(value) for value in y]}
    ends = _ends(rows, y, scale[1])
    return found if ends is None else {**found, "low": ends[0], "high": ends[1]}


def _ends(rows: pl.DataFrame, y: list[float], scale: float) -> tuple[list[float], list[float]] | None:
    """The ends of the intervals or whiskers; none if a point has none, or all of them have no width."""
    if {"low", "high"} <= set(rows.columns) and not rows["low"].null_count():
        return [_rounded(value * scale) for value in rows["low"]], [_rounded(value * scale) for value in rows["high"]]
    if "half" not in rows.columns or rows["half"].null_count() or rows["half"].dtype == pl.String:
        return None
    halves = [value * scale for value in rows["half"]]
    if not any(halves):
        return None
    low = [_rounded(value - half) for value, half in zip(y, halves, strict=True)]
    return low, [_rounded(value + half) for value, half in zip(y, halves, strict=True)]


def _thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """Too many points are reduced to the smallest and the largest of each part."""
    if len(rows) <= _MOST_POINTS:
        return rows
    name = "share" if "share" in rows.columns else "mean"
    y = rows[name].to_list()
    size = math.ceil(2 * len(rows) / _MOST_POINTS)
    kept = {0, len(rows) - 1}
    for start in range(0, len(rows), size):
        part = range(start, min(start + size, len(rows)))
        kept |= {min(part, key=y.__getitem__), max(part, key=y.__getitem__)}
    return rows[sorted(kept)]


def _rounded(value: float, digits: int = 4) -> float:
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def presets(described: list[_Described], docs: Path) -> list[dict[str, Any]]:
    """A scenario of every figure with one, under its first sentence, and those of the guides."""
    found: list[dict[str, Any]] = []
    names = {paper.key: paper.name for paper in pages.papers(each.standing for each in described)}
    for each in described:
        claim = next((claim for claim in each.standing.claims if claim.claim in each.played), None)
        if claim is None or not each.standing.figure:
            continue
        scenario = each.scenarios[each.played[claim.claim]]
        if any(scenario.toml == other["toml"] for other in found):
            continue
        found.append(
            {
                "id": each.standing.key,
                "title": f"{each.standing.figure}: {each.standing.title}",
                "group": names[each.standing.paper],
                "text": f"The paper: {claim.says}",
                "toml": scenario.toml,
                "compare": scenario.compare,
            }
        )
    return [*found, *_of_guides(docs / "guides")]


_BLOCK = re.compile(r"^```toml\n# (?P<name>\S+\.toml)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'^title = "(.*)"$', re.MULTILINE)


def _of_guides(guides: Path) -> list[dict[str, Any]]:
    """The scenario files of the guides."""
    found: list[dict[str, Any]] = []
    for path in sorted(guides.glob("*.md")):
        guide = path.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(guide):
            title = _TITLE.search(block["text"])
            toml = plain.of_text(block["text"])
            try:
                _engine.check(toml, block["name"], [])
            except FaninError:
                # A file that names other files, or shows a mistake.
                continue
            found.append(
                {
                    "id": f"{path.stem}/{block['name']}",
                    "title": title[1] if title else block["name"],
                    "group": "Guides",
                    "text": f"{block['name']} of the guide {guide.splitlines()[0].removeprefix('# ')!r}.",
                    "toml": toml,
                    "compare": [],
                }
            )
    return found


if __name__ == "__main__":
    for written in write(*map(Path, sys.argv[1:])):
        print(written)
