"""The record of an experiment that ``fanin reproduce`` writes: the verdicts and their evidence.

``results/<experiment>/claims.json`` is one file, written atomically. The claims ledger, the list of
experiments and the HTML report read it, and simulate nothing.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

import fanin
from fanin.claims.judge import Measurement
from fanin.claims.sentences import Judgement
from fanin.claims.verdicts import Verdict, verdict
from fanin.errors import ResultsError
from fanin.results.files import write_whole
from fanin.results.layout import CLAIMS, FORMAT, together
from fanin.results.store import provenance
from fanin.run.scenario import Scenario
from fanin.run.sweep import Runs
from fanin.scenario import library
from fanin.scenario.format.base import FileName, FileNameOrNone
from fanin.scenario.format.claim import Claim
from fanin.scenario.handle import tables_of
from fanin.scenario.points import points

_TOTALS = ("events", "packet_hops", "wall_s")


_Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SentenceRecord(_Part):
    """A sentence of a paper with its verdict, and its cases, the main one first."""

    id: str
    says: str
    same_as: str = ""
    """The same sentence in another experiment: ``experiment#claim``."""
    half_of: str = ""
    """The claim of this experiment that has the rest of the sentence and is counted."""
    everywhere: bool = False
    """Whether it holds only if it does in each experiment that judges it."""
    impossible: str = ""
    """Why no setting can show it: arithmetic, or another sentence of the paper."""
    verdict: Verdict
    """Verdict on the sentence, from the cases of this experiment alone."""
    cases: list[Judgement]


class PlotRecord(_Part):
    """A plot and its files, which are stored beside the record."""

    name: FileName
    kind: str = "line"
    title: str
    note: str = ""
    x_label: str
    y_label: str
    x_scale: FiniteFloat = 1.0
    """Factor from the CSV's numbers to the plotted ones."""
    y_scale: FiniteFloat = 1.0
    lines: list[str] = []
    """Names of the lines in the legend and in the CSV."""
    marks: list[str] = []
    """Names of the paper's marks."""
    files: list[FileName]


class Simulations(_Part):
    """The runs behind the verdicts: their number, seeds, machines and versions."""

    runs: int
    of: int
    """Number of runs in the experiment's file."""
    missing: int = 0
    """Number of runs that were aborted because of the machine."""
    seeds: list[int]
    engine_version: str
    fanin_version: str
    python_version: str
    git_commits: list[str]
    machines: list[str]
    hosts: list[str]
    first: str | None
    """When the first run finished (``first``) and the last one (``last``)."""
    last: str | None
    each: dict[str, tuple[_Count, _Count, FiniteFloat]]
    """Id of a run -> its events, packet-hops and seconds in the engine. Figures share runs."""


class Record(_Part):
    """One reproduced experiment."""

    format: Literal[1]
    experiment: str
    paper: FileNameOrNone
    figure: str
    title: str
    description: str
    runs_of: str
    """The experiment to which the runs belong; usually its own name."""
    file: str
    digest: str
    """Digest of the experiment file as read; if it differs now, the record is stale."""
    source: str
    """The experiment file."""
    scenario: dict[str, Any]
    """The sweep's base point with every default filled in."""
    varied: dict[str, list[str]]
    """The sweep's variables with their values."""
    command: str
    quick: bool
    work: Simulations
    measured: bool = False
    """Whether a program was measured, on the machine of ``work``; otherwise the runs were simulated."""
    warnings: list[str]
    plots: list[PlotRecord]
    claims: list[SentenceRecord]

    @property
    def cases(self) -> list[Judgement]:
        """The cases of all claims."""
        return [case for claim in self.claims for case in claim.cases]


def digest(experiment: Scenario) -> str:
    """Fingerprint of the content of an experiment's file, without comments and white space."""
    texts = [tables_of(text, path) for path, text in experiment.sources.items()]
    said = json.dumps([texts, experiment.overrides], sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def command(
    experiment: Scenario,
    *,
    quick: bool = False,
    also: Sequence[str] = (),
    seeds: list[int] | None = None,
    out: str = "results",
) -> str:
    """The command line that runs an experiment."""
    known = experiment.name in library.experiments()
    words = ["fanin", "reproduce", experiment.name if known else str(experiment.path)]
    words += ["--quick"] if quick else []
    words += [f"--{suffix}" for suffix in also]
    for path, value in experiment.overrides:
        words += ["--environment", value] if path == "environment" else ["--set", f"{path}={value}"]
    if seeds and seeds != experiment.seeds and not quick:
        words += ["--seeds", ranges(seeds)]
    folder = str(together(Path(out)))
    words += [] if folder == "results" else ["--out", folder]
    return shlex.join(words)


def ranges(numbers: Iterable[int]) -> str:
    """Integers in the shortest form that ``--seeds`` accepts: ``1..10,15``."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}..{last}" for first, last in found)


def make(
    runs: Runs,
    measurements: list[Measurement],
    drawn: list[PlotRecord],
    warnings: list[str],
    command: str,
    *,
    quick: bool,
) -> Record:
    """The record of an experiment's finished runs, which ``command`` makes."""
    experiment = runs.scenario
    document = experiment.document
    work = _work(runs)
    where = _where(work) if document.benchmark else ""
    return Record(
        format=FORMAT,
        experiment=experiment.name,
        paper=document.paper,
        figure=document.figure,
        title=document.title,
        description=document.description,
        runs_of=document.runs_of or experiment.name,
        file=str(experiment.path),
        digest=digest(experiment),
        source=experiment.text,
        scenario=experiment.resolved() if experiment.needs_network else {},
        varied=_varied(experiment),
        command=command,
        quick=quick,
        work=work,
        measured=document.benchmark is not None,
        warnings=warnings,
        plots=drawn,
        claims=[
            _sentence(claim, [each for each in measurements if each.case.claim == claim.id], where)
            for claim in document.claim
        ],
    )


def _sentence(claim: Claim, measurements: list[Measurement], where: str) -> SentenceRecord:
    return SentenceRecord.model_validate(
        {
            "id": claim.id,
            "says": claim.says,
            "same_as": claim.same_as,
            "half_of": claim.half_of,
            "everywhere": claim.everywhere,
            "impossible": claim.impossible,
            "verdict": verdict([(each.basis, each.outcome) for each in measurements], claim.impossible),
            "cases": [asdict(replace(each.judgement, reason=f"{each.reason}{where}")) for each in measurements],
        }
    )


def _where(work: Simulations) -> str:
    """Where and when a program was measured, for a claim's reason."""
    when = f", {work.last.replace('T', ' ').replace('Z', ' UTC')}" if work.last else ""
    return f"; measured on {'; '.join(work.machines)}{when}"


def _varied(experiment: Scenario) -> dict[str, list[str]]:
    """The labels of the variants by axis, and the values of the sweep's variables by path."""
    return experiment.labels | {
        path: [str(value) for value in values] for path, values in experiment.sweep.variables.items()
    }


def _work(runs: Runs) -> Simulations:
    made = [provenance() if run.stored is None else run.stored.made for _, run in runs]
    finished = sorted(run.stored.finished for _, run in runs if run.stored is not None)

    def every(key: str) -> list[str]:
        return sorted({str(each[key]) for each in made if each.get(key)})

    return Simulations(
        runs=len(runs),
        of=len(points(runs.scenario)),
        missing=len(runs.missing),
        seeds=runs.seeds,
        engine_version=fanin.engine_version(),
        fanin_version=fanin.__version__,
        python_version=", ".join(every("python_version")),
        git_commits=[commit[:12] for commit in every("git_commit")],
        machines=sorted({f"{each['platform']}, {each['cpus']} cores" for each in made}),
        hosts=every("host"),
        first=finished[0] if finished else None,
        last=finished[-1] if finished else None,
        each={run.run_id: tuple(run.summary.get(total, 0) for total in _TOTALS) for _, run in runs},
    )


def write(record: Record, folder: Path) -> Path:
    """Writes a record into the experiment's results folder."""
    path = folder / CLAIMS
    # All of them are of this experiment.
    content = record.model_dump(exclude={"claims": {"__all__": {"cases": {"__all__": {"experiment"}}}}})
    write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return path


class OldRecordError(ResultsError):
    """A record written by another version of fanin."""


def read(folder: Path) -> Record | None:
    """The record in an experiment's results folder; ``None`` if there is none.

    Raises:
        OldRecordError: another version of fanin wrote it.
        ResultsError: it is damaged.

    """
    path = folder / CLAIMS
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise ResultsError(f"{path}: damaged (not JSON); delete it and run the experiment again") from None
    if isinstance(content, dict) and content.get("format") != FORMAT:
        raise OldRecordError(f"{path}: written by another version of fanin; run the experiment again")
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        why = f"{place}: {first['msg']}" if place else first["msg"]
        raise ResultsError(f"{path}: damaged ({why}); delete it and run the experiment again") from None
