"""The claims ledger: what became of every claim of every experiment, from what ``fanin reproduce`` left.

Nothing is simulated here. A claim that was never judged is *not run*; verdicts of another engine or of another version
of the experiment's file stay, and are marked stale.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from fanin import _engine
from fanin.claims import record, sentences
from fanin.claims.judge import Judgement, Verdict, ends
from fanin.claims.record import Judged, OldRecordError, Record, Shown
from fanin.errors import FaninError, NotFoundError, ResultsError
from fanin.results import columns
from fanin.results.store import MANIFEST, RUNS
from fanin.run.experiment import Experiment
from fanin.scenario import library
from fanin.scenario.format.claim import Case
from fanin.scenario.points import Point, points
from fanin.scenario.run_id import run_id

Status = Verdict | Literal["not run"]

STATUSES: tuple[Status, ...] = ("reproduced", "direction only", "not reproduced", "not run")

State = Literal["complete", "partial", "quick", "stale", "never run", "invalid"]

MARKS: dict[State, str] = {"stale": " (stale)", "quick": " (quick)", "partial": " (partial)"}
"""State of an experiment -> what follows its verdicts."""

NONE = "-"

_LOOKS = 50
"""Points of a large sweep that are looked for before all are."""

_RUN = re.compile(r"[0-9a-f]{16}|\..*")
"""A folder of one run, or of one that is being written."""


@dataclass(frozen=True)
class Entry:
    """A claim under one of its readings, and where it stands."""

    experiment: str
    paper: str
    figure: str
    claim: str
    says: str
    published: float | str | None
    ours: float | None
    interval: tuple[float | None, float | None]
    verdict: Status
    reason: str
    shown: Shown
    """The same numbers as people read them."""
    state: State
    """Of the experiment: verdicts of a quick look or of an old engine are worth less."""
    command: str
    """What runs it."""
    reading: str = ""
    """Reading of the paper that it is judged under, where there are several."""
    note: str = ""
    added: str = ""
    """What had been seen when the claim, its range or its reading was written; nothing for most."""

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.experiment}/{self.claim}"

    @property
    def marked(self) -> str:
        """The verdict, and whether it is worth less than others."""
        return self.verdict if self.verdict == "not run" else self.verdict + MARKS.get(self.state, "")

    def as_dict(self) -> dict[str, Any]:
        """The claim for ``--json``."""
        return {
            "id": self.id,
            "says": self.says,
            "published": self.published,
            "ours": self.ours,
            "interval": ends(*self.interval),
            "verdict": self.verdict,
            "reason": self.reason,
            "paper": self.paper,
            "figure": self.figure,
            "experiment": self.experiment,
            "reading": self.reading,
            "note": self.note,
            "added": self.added,
            "number": self.shown.quantity,
            "state": self.state,
            "command": self.command,
        }


@dataclass(frozen=True)
class Sentence:
    """A claim of a paper and where it stands: under its main reading, which comes first, and under the others."""

    claim: str
    says: str
    entries: list[Entry]
    same_as: str = ""
    """The same sentence in another experiment, where it is counted."""

    @property
    def main(self) -> Entry:
        """The claim under its main reading."""
        return self.entries[0]

    @property
    def id(self) -> str:
        """``<paper>/<figure>/<claim>``."""
        return f"{self.main.experiment}/{self.claim}"

    @property
    def verdict(self) -> Status:
        """That of its main reading."""
        return self.main.verdict

    @property
    def verdicts(self) -> list[str]:
        """Those of all its readings."""
        return [entry.verdict for entry in self.entries]

    @property
    def readings(self) -> str:
        """Under how many of its readings it is reproduced, in words; nothing if it has but one."""
        return sentences.in_words(self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """The claim for ``--json``: under its main reading, and then under each."""
        cases = [entry.as_dict() for entry in self.entries]
        return {**cases[0], "id": self.id, "same_as": self.same_as, "cases": cases}


@dataclass(frozen=True)
class Standing:
    """An experiment and how far it has come."""

    key: str
    paper: str
    figure: str
    title: str
    state: State
    note: str
    """Why, in words: what makes it stale or invalid."""
    runs: int
    of: int
    command: str
    claims: list[Sentence]
    record: Record | None = None
    folder: Path = Path()
    """Where its results are."""

    @property
    def finished(self) -> str | None:
        """When its last run finished."""
        return self.record.work.last if self.record else None

    @property
    def last(self) -> str:
        """The same as people read it."""
        return date(self.finished)

    @property
    def seeds(self) -> str:
        """Seeds of its runs in the shortest form."""
        return NONE if self.record is None else record.ranges(self.record.work.seeds)

    @property
    def engine(self) -> str:
        """Version of the engine that made them."""
        return NONE if self.record is None else self.record.work.engine_version

    @property
    def commits(self) -> str:
        """Commits that they were made at."""
        return NONE if self.record is None else ", ".join(self.record.work.git_commits) or NONE

    @property
    def says(self) -> str:
        """The state in a few words."""
        if self.state == "quick":
            return "quick only"
        if self.state == "never run" and self.runs:
            return f"never run; other experiments have {self.runs} of its {self.of} runs"
        if self.state == "partial":
            return f"{self.runs} of {self.of} runs" + ("" if self.record else ", not judged")
        return self.state

    @property
    def entries(self) -> list[Entry]:
        """Its claims under each of their readings."""
        return [entry for claim in self.claims for entry in claim.entries]

    @property
    def size(self) -> int:
        """How many claims it has."""
        return len(self.claims)

    def count(self, verdict: Status) -> int:
        """How many of its claims have that verdict, under their main readings."""
        return sum(claim.verdict == verdict for claim in self.claims)

    def as_dict(self) -> dict[str, Any]:
        """The experiment for ``fanin list experiments --json``."""
        counts: dict[str, int] = {status.replace(" ", "_"): self.count(status) for status in STATUSES}
        return {
            "key": self.key,
            "summary": self.title,
            "paper": self.paper,
            "figure": self.figure,
            "state": self.state,
            "note": self.note,
            "runs": self.runs,
            "of": self.of,
            "finished": self.finished,
            "claims": {"total": len(self.claims), **counts},
            "command": self.command,
        }


def standings(out: Path | str) -> list[Standing]:
    """Every experiment there is, and those that only the results know, by paper and figure.

    Args:
        out: Results folder; one that does not exist holds nothing.

    Raises:
        ResultsError: a record is damaged, or ``out`` is no folder.

    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise ResultsError(f"{out}: not a folder; choose another with --out")
    counted: _Counted = {}
    known = {key: _of_library(key, path, out, counted) for key, path in library.experiments().items()}
    others = _recorded(out)
    found = [*known.values(), *(_of_results(key, out) for key in others if key not in known)]
    return sorted(found, key=lambda each: _natural(f"{each.paper or '~'}/{each.key}"))


def whole(experiments: Iterable[Experiment], out: Path | str) -> dict[str, Record]:
    """Records of those experiments that are judged on all their runs, by this engine and from these files."""
    found = {}
    for experiment in experiments:
        with contextlib.suppress(FaninError):
            there = record.read(Path(out) / experiment.name)
            if there is not None and _state(there, experiment)[0] == "complete":
                found[experiment.name] = there
    return found


def _recorded(out: Path) -> set[str]:
    """Names of the experiments that left a record; the many folders of single runs are not looked into."""
    found = set()
    for folder, inner, files in os.walk(out):
        inner[:] = [name for name in inner if not _RUN.fullmatch(name)]
        if record.NAME in files and Path(folder) != out:
            found.add(Path(folder).relative_to(out).as_posix())
    return found


def chosen(every: list[Standing], name: str | None) -> list[Standing]:
    """Those of a paper, or one experiment.

    Raises:
        NotFoundError: there is neither a paper nor an experiment of that name.

    """
    if name is None:
        return every
    found = [each for each in every if name in (each.paper, each.key) or each.key.startswith(f"{name}/")]
    if found:
        return found
    papers = list(dict.fromkeys(each.paper for each in every if each.paper))
    close = difflib.get_close_matches(name, [*papers, *(each.key for each in every)], n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    raise NotFoundError(f"{name}: no paper or experiment of that name{hint}; papers: {', '.join(papers)}")


def _natural(key: str) -> list[tuple[int, str]]:
    """Sorts ``fig9`` before ``fig10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", key)]


def _of_library(key: str, path: Path, out: Path, counted: _Counted) -> Standing:
    try:
        experiment = Experiment(key, path)
    except FaninError as error:
        # A mistake in one file of one's own must not hide all the others.
        return Standing(key, key.partition("/")[0], "", library.title(path), "invalid", str(error), 0, 0, "", [])
    document = experiment.document
    command = record.command(experiment, out=str(out))
    of = len(points(experiment))
    note, found = "", None
    try:
        found = record.read(out / key)
    except OldRecordError as error:
        note = str(error)
    if found is None:
        runs, begun = (0, False) if note else _finished(experiment, out, counted)
        state: State = "stale" if note else "partial" if begun else "never run"
    else:
        state, note, runs = *_state(found, experiment), found.work.runs
    judged = {} if found is None else {each.id: each for each in found.cases}
    about = (document.paper, document.figure, state, command)
    labels = columns.own_labels(experiment)
    entries: dict[str, list[Entry]] = {}
    for case in document.cases:
        entry = (
            _judged(key, case.says, judged[case.id], note, *about)
            if case.id in judged
            else _not_run(key, case, columns.describe(labels, case.y).label, note, *about)
        )
        entries.setdefault(case.claim, []).append(entry)
    claims = [Sentence(each.id, each.says, entries[each.id], each.same_as) for each in document.claim]
    return Standing(
        key, document.paper, document.figure, document.title, state, note, runs, of, command, claims, found, out / key
    )


def _of_results(key: str, out: Path) -> Standing:
    """An experiment from a file outside the library: its claims are not counted as those of the paper that it names."""
    try:
        found = record.read(out / key)
    except OldRecordError as error:
        return Standing(key, "", "", "", "stale", str(error), 0, 0, "", [], None, out / key)
    assert found is not None
    file = Path(found.file)
    try:
        state, note = _state(found, Experiment(key, file) if file.is_file() else None)
    except FaninError as error:
        state, note = "stale", str(error)
    about = ("", found.figure, state, found.command)
    claims = [
        Sentence(each.id, each.says, [_judged(key, each.says, case, note, *about) for case in each.cases], each.same_as)
        for each in found.claims
    ]
    work = found.work
    return Standing(
        key, "", found.figure, found.title, state, note, work.runs, work.of, found.command, claims, found,
        out / key,
    )  # fmt: skip


def _state(found: Record, experiment: Experiment | None) -> tuple[State, str]:
    """How far a record can be trusted, and why not."""
    engine = _engine.version()
    if found.work.engine_version != engine:
        return "stale", f"made by engine {found.work.engine_version}, and this is {engine}"
    if experiment is not None and record.digest(experiment) != found.digest:
        return "stale", "the experiment's file has changed since"
    if found.quick:
        return "quick", "a quick look with fewer runs"
    if found.work.runs < found.work.of:
        return "partial", ""
    return "complete", ""


_Counted = dict[tuple[Path, tuple[tuple[str, ...], ...]], list[Path]]
"""Scenario file and the points of a sweep -> those of its runs that are stored: figures share runs."""


def _finished(experiment: Experiment, out: Path, counted: _Counted) -> tuple[int, bool]:
    """How many of an experiment's runs are stored, and whether a command for it made any: others share runs with it."""
    store = out / RUNS
    if not store.is_dir():
        return 0, False
    try:
        todo = points(experiment)
        key = (experiment.scenario_path, tuple(tuple(map(str, point.row.items())) for point in todo))
        if key not in counted:
            counted[key] = _stored(experiment, todo, store)
        return len(counted[key]), any(_made_for(manifest, experiment.name) for manifest in counted[key])
    except FaninError:
        return 0, False


def _made_for(manifest: Path, name: str) -> bool:
    """Whether that experiment was the first to want a run."""
    try:
        found = json.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("experiment") == name


def _stored(experiment: Experiment, todo: list[Point], store: Path) -> list[Path]:
    """Manifests of the runs that are stored."""
    # A name takes a millisecond: of a large sweep it is first asked whether anything is there at all.
    step = max(len(todo) // _LOOKS, 1)
    looks = todo[::step] if step > 1 else []
    if looks and not any(_manifest(experiment.resolved(point.overrides), store).is_file() for point in looks):
        return []
    found = []
    resolved: dict[str, Any] = {}
    before = None
    for point in todo:
        # Seeds change fastest, and nothing else depends on them.
        if before is None or (point.values, point.labels) != (before.values, before.labels):
            resolved = experiment.resolved(point.overrides)
        resolved["run"]["seed"] = point.seed
        if (manifest := _manifest(resolved, store)).is_file():
            found.append(manifest)
        before = point
    return found


def _manifest(resolved: dict[str, Any], store: Path) -> Path:
    return store / run_id(resolved) / MANIFEST


def _judged(
    key: str, says: str, found: Judged, note: str, paper: str, figure: str, state: State, command: str
) -> Entry:
    doubt = f"stale ({note}); rerun: {command}. " if state == "stale" else ""
    return Entry(
        experiment=key,
        paper=paper,
        figure=figure,
        claim=found.id,
        says=says,
        published=found.published,
        ours=found.value,
        interval=found.interval,
        # A quick look may have no run of what the claim is about.
        verdict=next((status for status in STATUSES if status == found.verdict), "not run"),
        reason=f"{doubt}{found.reason}",
        shown=found.shown,
        state=state,
        command=command,
        reading=found.reading,
        note=found.note,
        added=found.added,
    )


def _not_run(key: str, case: Case, label: str, note: str, paper: str, figure: str, state: State, command: str) -> Entry:
    # Only to say numbers in the claim's unit: there is nothing judged.
    words = Judgement(case, math.nan, math.nan, math.nan, "not reproduced", label=label)
    why = f"stale ({note}): " if note else ""
    return Entry(
        experiment=key,
        paper=paper,
        figure=figure,
        claim=case.id,
        says=case.says,
        published=case.published,
        ours=None,
        interval=(None, None),
        verdict="not run",
        reason=f"{why}not run yet: {command}",
        shown=Shown(
            published=words.published,
            value=NONE,
            interval=NONE,
            accept=words.span(*case.accept),
            quantity=words.quantity,
        ),
        state=state,
        command=command,
        reading=case.reading,
        note=case.note,
        added=case.added,
    )


def date(stamp: str | None) -> str:
    """A moment as people read it."""
    return NONE if stamp is None else stamp.replace("T", " ").replace("Z", " UTC")


def age(finished: str, now: datetime | None = None) -> str:
    """How long ago that was: ``3 h``."""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(finished)).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
