"""The data of the page in ``web``: sentences with verdicts, figures, scenarios to play with, and the ranking.

Two pages are made of them: the static site, whose data files are committed, because it must be buildable without the
runs, and the report of a results folder, which has them inside (:mod:`fanin.show.html_report`).

    python -m fanin.show.page_data RESULTS docs web/public/data

makes those of the site anew from the results of ``fanin reproduce`` and from the documentation.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.claims import ledger
from fanin.claims.record import Record, digest
from fanin.claims.sentences import Entry, Sentence, deciding
from fanin.claims.standing import Standing
from fanin.claims.verdicts import AT_THE_EDGE, OUTCOMES, VERDICTS, Word
from fanin.errors import FaninError
from fanin.later import pl
from fanin.numbers.summary import format_number
from fanin.results.files import write_whole
from fanin.results.store import read_table
from fanin.run.experiment import Experiment
from fanin.scenario import library, sections
from fanin.scenario.departures import as_judged
from fanin.scenario.format.claim import Case
from fanin.scenario.toml_text import to_toml
from fanin.show import pages, plain, prose, ranking_matrix
from fanin.show.page_figures import Keep, figure

_OTHER = "other"
"""The paper of experiments that belong to none."""


def write(out: Path, docs: Path, folder: Path) -> list[Path]:
    """Writes all data files of the site.

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
    described = [Described.of(each) for each in every]
    files = contents(every, described, ranking_matrix.read(docs / "papers"))
    files["presets.json"] = presets(described, docs)
    written = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text(content).encode())
        written.append(path)
    return written


def contents(every: list[Standing], described: list[Described], ranking: dict[str, Any]) -> dict[str, Any]:
    """The files of the view Papers by their names.

    Args:
        every: The experiments; also those that were not run, of which the page says so.
        described: Those that were.
        ranking: The ranking, as :mod:`fanin.show.ranking_matrix` makes it.

    """
    files: dict[str, Any] = {"papers.json": _index(every, described, ranked=bool(ranking["experiments"]))}
    files |= {f"experiments/{file_of(each.standing.key)}": each.as_dict() for each in described}
    return {**files, "ranking.json": ranking} if ranking["experiments"] else files


def file_of(experiment: str) -> str:
    """Name of the file with an experiment's sentences and figures."""
    return f"{experiment}.json"


def text(content: object) -> str:
    """A data file's content as JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


@dataclass(frozen=True)
class Described:
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
    beside: dict[str, str]
    """What the page of a results folder has in addition: the experiment's file, and its resolved scenario."""

    @classmethod
    def of(cls, standing: Standing, keep: Callable[[str], Keep] | None = None) -> Described:
        """Reads the experiment's file, its runs and the numbers of its figures.

        Args:
            standing: The experiment, which was run.
            keep: Keeps files beside the page, below the folder of a name; none if it has no files.

        Raises:
            FaninError: its results are damaged.

        """
        record = standing.record
        assert record is not None
        experiment = _experiment(standing, record)
        document = experiment.document if experiment else _parsed(record)
        plots = {plot.name: plot for plot in document.plot} if document else {}
        figures, drawn = [], []
        for each in record.plots:
            found = figure(
                each, plots.get(each.name), standing.folder, keep(f"figures/{standing.key}") if keep else None
            )
            if found["lines"] or keep:
                figures.append(found)
                drawn.append(plots[each.name].drawn if each.name in plots else "")
        cases = as_judged(experiment) if experiment else []
        scenarios, played = _scenarios(experiment, cases, standing.folder / "runs.parquet") if experiment else ([], {})
        shown = {case.claim: case.y for case in reversed(cases)}
        more = {}
        if keep:
            source = keep("experiments")(f"{standing.key}.toml", record.source.encode())
            more = {"file": source, "resolved": to_toml(record.scenario)}
        return cls(standing, record, figures, drawn, scenarios, played, shown, more)

    def figure_of(self, claim: str) -> int | None:
        """The figure that shows what a sentence is judged on, or else the first with numbers."""
        if self.shown.get(claim) in self.drawn:
            return self.drawn.index(self.shown[claim])
        return next((index for index, each in enumerate(self.figures) if each["lines"]), None)

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
            "description": prose.tree(record.description.strip()),
            "command": record.command if self.beside else f"fanin reproduce {self.standing.key}",
            "runs": record.work.runs,
            "seeds": self.standing.seeds,
            "engine": self.standing.engine,
            "facts": _facts(self.standing, record),
            "warnings": record.warnings,
            "sentences": [self._sentence(claim) for claim in self.standing.claims],
            "figures": self.figures,
            "scenarios": [{"toml": each.toml, "compare": each.compare} for each in self.scenarios],
            **self.beside,
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


def _experiment(standing: Standing, record: Record) -> Experiment | None:
    """The experiment, if its file is known and is the one that was run."""
    if standing.key not in library.experiments():
        return None
    try:
        found = Experiment(*library.find(standing.key))
        return found if digest(found) == record.digest else None
    except FaninError:
        return None


def _parsed(record: Record) -> sections.Document | None:
    """The experiment's file as its record has it."""
    try:
        return sections.parse(record.source, record.file)
    except FaninError:
        return None


def _facts(standing: Standing, record: Record) -> list[tuple[str, str]]:
    work = record.work
    events, hops, seconds = (sum(each) for each in zip((0, 0, 0.0), *work.each.values(), strict=True))
    shared = f", shared with {record.runs_of}" if record.runs_of != standing.key else ""
    made: list[tuple[str, str]] = []
    if record.measured:
        again = "running the experiment again repeats the measurement"
        made = [("Measured", f"on {'; '.join(work.machines)}, {standing.last}; {again}")]
    elif work.each:
        counts = f"{format_number(int(events))} events, {format_number(int(hops))} packet-hops"
        made = [("Simulated", f"{counts}, {pages.duration(seconds)} in the engine")]
    state = standing.says + (f": {standing.note}" if standing.note else "")
    return [
        ("State", state + (f"; last run {standing.last}" if standing.finished else "")),
        ("Runs", f"{standing.runs} of {standing.of}{shared}" + (f"; seeds {standing.seeds}" if work.seeds else "")),
        *made,
        ("Engine", f"{standing.engine}, commit {standing.commits}"),
        *((f"Varied: {path}", ", ".join(values)) for path, values in record.varied.items()),
    ]


def _scenarios(experiment: Experiment, cases: list[Case], runs: Path) -> tuple[list[plain.Plain], dict[str, int]]:
    """The scenarios to play with, each once, and which one each sentence has."""
    if experiment.document.benchmark is not None or not runs.is_file():
        return [], {}
    found: list[plain.Plain] = []
    played: dict[str, int] = {}
    table = read_table(runs)
    try:
        every = plain.Scenarios(experiment, table)
        for case in cases:
            if case.claim in played or (scenario := every.of(case)) is None:
                continue
            if scenario not in found:
                found.append(scenario)
            played[case.claim] = found.index(scenario)
    except pl.exceptions.PolarsError:
        # The runs are not this experiment's.
        return [], {}
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


def _index(every: list[Standing], described: list[Described], *, ranked: bool) -> dict[str, Any]:
    total = pages.totals(every)
    known = {each.standing.key: each for each in described}
    return {
        "runs": total["runs"],
        "hops": total["packet_hops"],
        "engine": total["engines"],
        "facts": _totals(total),
        "method": [pages.SENTENCES, AT_THE_EDGE, pages.INTERVALS, pages.IMPOSSIBLE],
        "verdicts": [_word(word) for word in VERDICTS],
        "outcomes": [_word(word) for word in OUTCOMES],
        "papers": [_paper(paper) for paper in pages.papers(every)],
        "experiments": [_listed(each) for each in every],
        "sentences": [_brief(claim, known.get(each.key)) for each in every for claim in each.claims],
        "ranked": ranked,
    }


def _totals(total: dict[str, str]) -> list[tuple[str, str]]:
    until = f" to {total['last']}" if total["last"] != total["first"] else ""
    plural = "" if total["experiments"] == "1" else "s"
    counted = "a run shared by several figures is counted once"
    return [
        ("Fanin", f"{total['versions']}, engine {total['engines']}, commit {total['commits']}"),
        ("Machine", f"{total['machines']}; Python {total['pythons']}"),
        ("Seeds", total["seeds"]),
        ("Runs", f"{total['runs']}, in {total['experiments']} experiment{plural}; {counted}"),
        (
            "Simulated",
            f"{total['events']} events, {total['packet_hops']} packet-hops, {total['time']} of engine time, "
            "summed over the runs",
        ),
        ("When", f"{total['first']}{until}"),
    ]


def _word(word: Word) -> dict[str, str]:
    return {"name": word.name, "meaning": word.meaning, "sign": word.sign, "tone": word.tone}


def _paper(paper: pages.Paper) -> dict[str, Any]:
    scheme = pages.scheme_of(paper.key) if paper.key else None
    manual = "" if scheme is None else pages.heading(scheme["manual"])[1].partition("\n## ")[0]
    return {
        "key": paper.key or _OTHER,
        "name": paper.name,
        "counts": paper.counts,
        "sentences": paper.claims,
        "late": paper.late,
        "cases": len(paper.outcomes),
        "reproduced": paper.outcomes.count("reproduced"),
        "run": sum(each.record is not None for each in paper.standings),
        "experiments": len(paper.standings),
        "scheme": "" if scheme is None else scheme["key"],
        "manual": prose.tree(manual),
    }


def _listed(standing: Standing) -> dict[str, Any]:
    """What the list of experiments shows of one."""
    return {
        "key": standing.key,
        "paper": standing.paper or _OTHER,
        "figure": standing.figure,
        "title": standing.title,
        "state": standing.says,
        "run": standing.record is not None,
        "sentences": standing.size,
        "command": standing.command,
    }


def _brief(claim: Sentence, described: Described | None) -> dict[str, Any]:
    """What the list of all sentences shows of one, and what is searched."""
    main, decisive = claim.main, claim.entries[_decisive(claim)]
    return {
        "id": claim.id,
        "experiment": main.experiment,
        "paper": main.paper or _OTHER,
        "figure": main.figure,
        "says": claim.says,
        "verdict": claim.verdict,
        "run": described is not None,
        "edge": claim.at_edge,
        "mark": claim.marked.removeprefix(claim.said),
        "late": bool(claim.late),
        "same_as": claim.same_as.replace("#", "/"),
        "half_of": f"{main.experiment}/{claim.half_of}" if claim.half_of else "",
        "published": decisive.shown.published,
        "ours": decisive.shown.value,
        "systems": described.systems(claim.claim) if described else [],
    }


def presets(described: list[Described], docs: Path) -> list[dict[str, Any]]:
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
