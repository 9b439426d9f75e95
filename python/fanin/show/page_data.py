"""The data of the page in ``web``: sentences with verdicts, figures, scenarios to play with, and the ranking.

Two pages are made of them: the static site, and the report of a results folder, which has them inside
(:mod:`fanin.show.html_report`). The site must be buildable without the runs, so all its data are committed as one file,
the ledger, which ``web/data.py`` unpacks.

    python -m fanin.show.page_data RESULTS docs web/ledger.json.xz

makes the ledger anew from the results of ``fanin reproduce`` and from the guides. With it come the page
``docs/papers/claims.md``, and the table of sentences and the picture of the page on each paper.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin._engine import Scenario
from fanin.claims import ledger
from fanin.claims.record import Record
from fanin.claims.sentences import Judgement, Sentence
from fanin.claims.standing import Standing
from fanin.claims.verdicts import AT_THE_EDGE, OUTCOMES, VERDICTS, Word
from fanin.errors import FaninError
from fanin.numbers.summary import format_number
from fanin.results.files import write_whole
from fanin.scenario.toml_text import to_toml
from fanin.show import claims_page, pages, plain, prose, ranking_matrix
from fanin.show.page_experiments import Files, OfFile
from fanin.show.page_figures import Keep, figure

_OTHER = "other"
"""The paper of experiments that belong to none."""

_RANKED = "cross/"
"""The experiments whose rankings the site has."""


def write(out: Path, docs: Path, path: Path) -> None:
    """Writes the ledger, which has all data files of the site, and the sentences in the documentation.

    Args:
        out: Results folder.
        docs: Folder of the documentation.
        path: Where to.

    Raises:
        FaninError: a record or a guide cannot be read, or a file cannot be written.

    """
    known = ledger.standings(out, any_engine=True)
    every = [each for each in known if each.paper and each.record is not None]
    from_files = Files(out)
    described = [Described.of(each, from_files) for each in every]
    from_files.write()
    ranked = ranking_matrix.matrix_of(each for each in known if each.key.startswith(_RANKED))
    files = {**contents(every, described, ranked), "presets.json": presets(described, docs)}
    # A value a line, so that what has changed can be read in the difference of two versions.
    readable = json.dumps(files, ensure_ascii=False, indent=0, allow_nan=False)
    write_whole(path, lzma.compress(readable.encode(), preset=9 | lzma.PRESET_EXTREME))
    claims_page.write(docs / "papers/claims.md", files["papers.json"], "make ledger", tables=False)
    claims_page.write_into_pages(docs, files["papers.json"], out)


def contents(every: list[Standing], described: list[Described], ranking: dict[str, Any]) -> dict[str, Any]:
    """The files of the view Papers by their names.

    Args:
        every: The experiments; also those that were not run, of which the page says so.
        described: Those that were.
        ranking: The ranking, as :mod:`fanin.show.ranking_matrix` makes it.

    """
    files: dict[str, Any] = {"papers.json": index(every, described, ranked=bool(ranking["experiments"]))}
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
    file: OfFile
    beside: dict[str, str]
    """What the page of a results folder has in addition: the experiment's file, and its resolved scenario."""

    @classmethod
    def of(cls, standing: Standing, files: Files, keep: Callable[[str], Keep] | None = None) -> Described:
        """Reads the experiment's file, its runs and the numbers of its figures.

        Args:
            standing: The experiment, which was run.
            files: The files of the experiments.
            keep: Keeps files beside the page, below the folder of a name; none if it has no files.

        Raises:
            FaninError: its results are damaged.

        """
        record = standing.record
        assert record is not None
        file = files.of(standing)
        beside = keep(f"figures/{standing.key}") if keep else None
        every = [figure(each, file.published.get(each.name, []), standing.folder, beside) for each in record.plots]
        figures = [each for each in every if each["lines"] or keep]
        more = {}
        if keep:
            source = keep("experiments")(f"{standing.key}.toml", record.source.encode(errors="replace"))
            more = {"file": source, "resolved": to_toml(record.scenario)}
        return cls(standing, record, figures, file, more)

    def figure_of(self, claim: str) -> int | None:
        """The figure that shows what a sentence is judged on, or else the first with numbers."""
        drawn = [self.file.columns.get(each["name"], "") for each in self.figures]
        if self.file.shown.get(claim) in drawn:
            return drawn.index(self.file.shown[claim])
        return next((index for index, each in enumerate(self.figures) if each["lines"]), None)

    def scenario_of(self, claim: str) -> plain.Plain | None:
        """The scenario to play with of a sentence."""
        found = self.file.played.get(claim)
        return None if found is None else self.file.scenarios[found]

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
            "scenarios": [{"toml": each.toml, "compare": each.compare} for each in self.file.scenarios],
            **self.beside,
        }

    def _sentence(self, claim: Sentence) -> dict[str, Any]:
        return {
            "id": claim.id,
            "rests_on": claim.rests_on,
            "tried": claim.tried,
            "decides": claim.decides,
            "cases": [_case(case) for case in claim.cases],
            "repeats": [case.name for case in claim.repeats],
            "figure": self.figure_of(claim.claim),
            "scenario": self.file.played.get(claim.claim),
        }


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


def _case(case: Judgement) -> dict[str, Any]:
    shown = case.shown
    return {
        "reading": case.reading,
        "quantity": shown.quantity,
        "published": shown.published,
        "ours": shown.value,
        "interval": shown.interval,
        "accept": shown.accept,
        "outcome": case.outcome,
        "edge": case.at_edge,
        "basis": case.basis,
        "environment": case.environment,
        "reason": case.reason.removeprefix(f"{shown.value}; accepted {shown.accept} "),
        "note": case.note,
        "added": case.added,
    }


def index(every: list[Standing], described: list[Described], *, ranked: bool) -> dict[str, Any]:
    """What the view Papers shows first: the papers, and all sentences with their verdicts.

    Args:
        every: The experiments; also those that were not run.
        described: Those that were, for the systems of each sentence.
        ranked: Whether there is a ranking.

    """
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
    scenario = described.scenario_of(claim.claim) if described else None
    return {
        "id": claim.id,
        "experiment": claim.experiment,
        "paper": claim.paper or _OTHER,
        "figure": claim.figure,
        "says": claim.says,
        "verdict": claim.verdict,
        "run": described is not None,
        "edge": claim.at_edge,
        "mark": claim.marked.removeprefix(claim.said),
        "late": bool(claim.late),
        "condition": claim.condition,
        "same_as": claim.same_as.replace("#", "/"),
        "half_of": f"{claim.experiment}/{claim.half_of}" if claim.half_of else "",
        "published": claim.shown.published,
        "ours": claim.shown.value,
        "systems": [] if scenario is None else scenario.compare,
    }


def presets(described: list[Described], docs: Path) -> list[dict[str, Any]]:
    """A scenario of every figure with one, under its first sentence, and those of the guides."""
    found: list[dict[str, Any]] = []
    names = {paper.key: paper.name for paper in pages.papers(each.standing for each in described)}
    for each in described:
        played = ((claim, each.scenario_of(claim.claim)) for claim in each.standing.claims)
        claim, scenario = next((pair for pair in played if pair[1] is not None), (None, None))
        if claim is None or scenario is None or not each.standing.figure:
            continue
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
                Scenario(toml, block["name"]).check()
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
    write(*map(Path, sys.argv[1:]))
