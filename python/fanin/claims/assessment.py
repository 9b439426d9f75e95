"""The state of one experiment and of its claims, from its file and from the results of ``fanin reproduce``.

Each function also returns the files on which its answer depends, so that the ledger can cache it until they change.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from fanin import _engine
from fanin.claims import record
from fanin.claims.judge import Measurement
from fanin.claims.record import OldRecordError, Record, SentenceRecord
from fanin.claims.sentences import Judgement, Sentence, Shown, State
from fanin.claims.standing import NONE, Standing
from fanin.claims.verdicts import basis_of
from fanin.errors import FaninError
from fanin.results import columns
from fanin.run.scenario import Scenario
from fanin.scenario import library
from fanin.scenario.departures import as_judged
from fanin.scenario.file import Files
from fanin.scenario.format.claim import Case, Claim
from fanin.scenario.points import Point, points
from fanin.scenario.run_id import ids_of_seeds

Sweeps = dict[tuple[Path, tuple[tuple[str, ...], ...]], tuple[list[str], Files]]
"""Scenario file and points of a sweep -> the ids of its runs, and the files on which they depend."""

_POINTS_LOOKED_UP_FIRST = 50
"""Points of a large sweep that are looked up before all others."""


def read_complete(experiments: Iterable[Scenario], out: Path | str) -> dict[str, Record]:
    """Records of the experiments that were judged on all their runs, by this engine and from these files."""
    found = {}
    for experiment in experiments:
        with contextlib.suppress(FaninError):
            there = record.read(Path(out) / experiment.name)
            if there is not None and _state(there, experiment)[0] == "complete":
                found[experiment.name] = there
    return found


def digest_now(name: str) -> str | None:
    """Fingerprint of the present file of an experiment of the library; ``None`` if there is none or it is invalid."""
    path = library.experiments().get(name)
    try:
        return None if path is None else record.digest(Scenario.named(name, path))
    except FaninError:
        return None


def of_library(
    key: str, path: Path, out: Path, runs: int, begun: bool, any_engine: bool = False
) -> tuple[Standing, Files | None]:
    """An experiment of the library.

    Args:
        key: Its name.
        path: Its file.
        out: Results folder.
        runs: Number of its stored runs, if it has no record.
        begun: Whether a command for this experiment made any of them: experiments share runs.
        any_engine: Results of another engine are as good as those of this one.

    Raises:
        ResultsError: its record is damaged.

    """
    try:
        experiment = Scenario.named(key, path)
    except FaninError as error:
        # A mistake in one file must not hide all other experiments.
        broken = Standing(key, key.partition("/")[0], "", library.title(path), "invalid", str(error), 0, 0, "", [])
        return broken, None
    document = experiment.document
    command = record.command(experiment, out=str(out))
    note, found = "", None
    try:
        found = record.read(out / key)
    except OldRecordError as error:
        note = str(error)
    state: State = "stale" if note else "partial" if begun else "never run"
    if found is not None:
        state, note, runs = *_state(found, experiment, any_engine), found.work.runs
    claims = _sentences(experiment, found, note, state, command)
    standing = Standing(
        key, document.paper, document.figure, document.title, state, note, runs, len(points(experiment)), command,
        claims, out / key, found is not None, None if found is None else found.work.last,
    )  # fmt: skip
    return standing, experiment.fingerprints


def _sentences(experiment: Scenario, found: Record | None, note: str, state: State, command: str) -> list[Sentence]:
    """The claims in the experiment's present file, judged or not."""
    judged = {} if found is None else {each.id: each for each in found.cases}
    labels = columns.own_labels(experiment)
    cases: dict[str, list[Judgement]] = {}
    # The record of a case says its reading and basis, which take long to find.
    recorded = all(case.id in judged for case in experiment.document.cases)
    for case in experiment.document.cases if recorded else as_judged(experiment):
        cases.setdefault(case.claim, []).append(
            _as_it_stands(experiment.name, judged[case.id], note, state, command)
            if case.id in judged
            else _not_run(experiment, case, columns.describe(labels, case.y).label, note, command)
        )
    document = experiment.document
    return [_sentence(each, cases[each.id], document.paper, document.figure, state, command) for each in document.claim]


def _sentence(
    said: Claim | SentenceRecord, cases: list[Judgement], paper: str, figure: str, state: State, command: str
) -> Sentence:
    return Sentence(
        said.id,
        said.says,
        cases,
        said.same_as,
        said.half_of,
        said.impossible,
        everywhere=said.everywhere,
        paper=paper,
        figure=figure,
        state=state,
        command=command,
    )


def of_results(key: str, out: Path) -> tuple[Standing, Files | None]:
    """An experiment from a file outside the library. Its claims do not count as those of the paper that it names.

    Raises:
        ResultsError: its record is damaged.

    """
    try:
        found = record.read(out / key)
    except OldRecordError as error:
        return Standing(key, "", "", "", "stale", str(error), 0, 0, "", [], out / key), {}
    assert found is not None
    files: Files | None = {found.file: None}
    try:
        experiment = Scenario.named(key, Path(found.file)) if Path(found.file).is_file() else None
        state, note = _state(found, experiment)
        files = files if experiment is None else experiment.fingerprints
    except (FaninError, OSError) as error:
        state, note, files = "stale", str(error), None
    claims = []
    for each in found.claims:
        cases = [_as_it_stands(key, case, note, state, found.command) for case in each.cases]
        claims.append(_sentence(each, cases, "", found.figure, state, found.command))
    work = found.work
    standing = Standing(
        key, "", found.figure, found.title, state, note, work.runs, work.of, found.command, claims, out / key, True,
        work.last,
    )  # fmt: skip
    return standing, files


def _state(found: Record, experiment: Scenario | None, any_engine: bool = False) -> tuple[State, str]:
    """The state of a record, and the reason if it is not complete."""
    engine = _engine.version()
    if found.work.engine_version != engine and not any_engine:
        return "stale", f"made by engine {found.work.engine_version}; this is {engine}"
    if experiment is not None and record.digest(experiment) != found.digest:
        return "stale", "the experiment's file has changed since"
    if found.quick:
        return "quick", "a quick look with fewer runs"
    if found.work.missing or found.work.runs < found.work.of:
        return "partial", ""
    return "complete", ""


def run_ids(key: str, path: Path, done: Sweeps, *, some: bool) -> tuple[list[str], Files]:
    """Ids of the runs of an experiment of the library, and the files on which they depend.

    Args:
        key: Its name.
        path: Its file.
        done: Results for other experiments, because figures share runs.
        some: Whether a few runs of a large sweep are enough, because each id takes a millisecond.

    Raises:
        FaninError: the scenario or its sweep is not valid.

    """
    experiment = Scenario.named(key, path)
    todo = points(experiment)
    todo = todo[:: max(len(todo) // _POINTS_LOOKED_UP_FIRST, 1)] if some else todo
    sweep = (experiment.scenario_path, tuple(tuple(map(str, point.row.items())) for point in todo))
    if sweep not in done:
        done[sweep] = _named(experiment, todo)
    ids, files = done[sweep]
    return ids, {**experiment.fingerprints, **files}


def _named(experiment: Scenario, todo: list[Point]) -> tuple[list[str], Files]:
    ids: list[str] = []
    files: dict[str, str | None] = {}
    # Seeds vary fastest, and nothing else depends on them.
    for _, same in itertools.groupby(todo, key=lambda point: (point.values, point.labels)):
        each = list(same)
        resolved = experiment.resolved(each[0].overrides)
        files |= experiment.files(resolved)
        ids += ids_of_seeds(resolved, [point.seed for point in each])
    return ids, files


def _as_it_stands(key: str, found: Judgement, note: str, state: State, command: str) -> Judgement:
    """A recorded judgement in the ledger, where what a quick look has no run for is not run."""
    doubt = f"stale ({note}); rerun: {command}. " if state == "stale" else ""
    outcome = "not run" if found.outcome == "not judged" else found.outcome
    return replace(found, experiment=key, outcome=outcome, reason=f"{doubt}{found.reason}")


def _not_run(experiment: Scenario, case: Case, label: str, note: str, command: str) -> Judgement:
    # Only to print numbers in the claim's unit: nothing was judged.
    words = Measurement(case, math.nan, math.nan, math.nan, "not run", label=label)
    why = f"stale ({note}): " if note else ""
    return Judgement(
        experiment=experiment.name,
        id=case.id,
        reading=case.reading,
        added=case.added,
        measure=case.measure,
        published=case.published,
        outcome="not run",
        basis=basis_of(case.basis, case.reading, experiment.environment),
        environment=experiment.environment,
        reason=f"{why}not run yet: {command}",
        note=case.note,
        shown=Shown(
            published=words.published,
            value=NONE,
            interval=NONE,
            accept=words.span(*case.accept),
            quantity=words.quantity,
        ),
    )
