"""What an experiment's file says of its sentences and figures: the scenarios to play with, and the published numbers.

To derive that from an experiment takes a tenth of a second, and it rarely changes: it is cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fanin.claims.record import Record, digest
from fanin.claims.standing import Standing
from fanin.errors import FaninError
from fanin.later import pl
from fanin.results.cache import Cache, Made
from fanin.results.frames import read_table
from fanin.results.layout import CLAIMS
from fanin.run.scenario import Scenario
from fanin.scenario import library, sections
from fanin.scenario.format.claim import Case
from fanin.scenario.sections import Document
from fanin.show import plain


@dataclass(frozen=True)
class OfFile:
    """What an experiment's file says."""

    columns: dict[str, str]
    """Figure -> the column that it shows."""
    published: dict[str, list[dict[str, Any]]]
    """Figure -> the published numbers in it."""
    shown: dict[str, str]
    """Sentence -> the column on which it is judged."""
    scenarios: list[plain.Plain]
    played: dict[str, int]
    """Sentence -> its scenario."""


class Files:
    """The experiments' files of a results folder."""

    def __init__(self, out: Path) -> None:
        known = {key: str(path) for key, path in library.experiments().items()}
        self._cache = Cache("page", Path.cwd(), str(out), made_by=known)

    def of(self, standing: Standing) -> OfFile:
        """What the file of an experiment that was run says.

        Raises:
            ResultsError: the table of its runs is damaged.

        """
        record, runs = standing.record, standing.folder / "runs.parquet"
        assert record is not None

        def make() -> Made:
            experiment = _experiment(standing.key, record)
            sources = {} if experiment is None else experiment.fingerprints
            return asdict(_read(experiment, record, runs)), sources

        given = [self._cache.fingerprint(path) for path in (standing.folder / CLAIMS, runs)]
        kept = self._cache.value(standing.key, given, make)
        return OfFile(**{**kept, "scenarios": [plain.Plain(**each) for each in kept["scenarios"]]})

    def write(self) -> None:
        """Writes the cache."""
        self._cache.write()


def _read(experiment: Scenario | None, record: Record, runs: Path) -> OfFile:
    cases = experiment.document.cases if experiment else ()
    scenarios, played = _scenarios(experiment, cases, runs) if experiment else ([], {})
    document = experiment.document if experiment else _parsed(record)
    plots = document.plot if document else []
    return OfFile(
        columns={plot.name: plot.drawn for plot in plots},
        published={plot.name: [each.model_dump() for each in plot.published] for plot in plots},
        shown={case.claim: case.y for case in reversed(cases)},
        scenarios=scenarios,
        played=played,
    )


def _experiment(key: str, record: Record) -> Scenario | None:
    """The experiment, if its file is known and is the one that was run."""
    path = library.experiments().get(key)
    if path is None:
        return None
    try:
        found = Scenario.named(key, path)
        return found if digest(found) == record.digest else None
    except FaninError:
        return None


def _parsed(record: Record) -> Document | None:
    """The experiment's file as its record has it."""
    try:
        return sections.parse(record.source, record.file)
    except FaninError:
        return None


def _scenarios(experiment: Scenario, cases: Sequence[Case], runs: Path) -> tuple[list[plain.Plain], dict[str, int]]:
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
