"""Runs to draw: those of the store, or runs that have just ended, each with what distinguishes it from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.errors import ResultsError
from fanin.later import pl
from fanin.results import tables
from fanin.results.columns import Labels, Table
from fanin.results.curves import stacked
from fanin.results.dataset import DataSet, Head, read_head
from fanin.results.frames import read_table
from fanin.results.layout import HEAD, ROWS
from fanin.results.store import StoredRun
from fanin.scenario.format.bounds import Filter, matches


@dataclass(frozen=True)
class Shown:
    """One run to draw."""

    row: dict[str, Any]
    """What distinguishes it, and its seed."""
    table: Table
    """Its result tables."""
    scenario: dict[str, Any]
    """Its scenario with every default filled in."""
    summary: dict[str, Any]
    place: str
    """What the user knows it by."""


@dataclass(frozen=True)
class ShownRuns:
    """Runs to draw."""

    runs: list[Shown]
    labels: Labels

    def rows(self, table: str, where: Filter | None = None) -> pl.DataFrame:
        """A result table of all runs, or of those that match, with what distinguishes its run in front of each row."""
        return stacked(((each.row, each.table) for each in self.runs), table, where)

    def chosen(self, where: Filter) -> ShownRuns:
        """Those that match.

        Raises:
            ResultsError: nothing distinguishes the runs by such a key, or none matches.

        """
        keys = list(dict.fromkeys(key for each in self.runs for key in each.row))
        for key in where:
            if key not in keys:
                raise ResultsError(f"the runs do not differ in {key}; they differ in {', '.join(keys)}")
        found = [each for each in self.runs if matches(each.row, where)]
        if not found:
            raise ResultsError("none of the runs has these values")
        return ShownRuns(found, self.labels)

    @property
    def varying(self) -> list[str]:
        """The keys in which the runs differ, the seed last."""
        keys = list(dict.fromkeys(key for each in self.runs for key in each.row))
        several = [key for key in keys if len({str(each.row.get(key)) for each in self.runs}) > 1]
        return sorted(several, key=lambda key: key == "seed")


def of_store(paths: Sequence[Path]) -> ShownRuns:
    """These runs of a store, or those of sweeps and experiments.

    Raises:
        ResultsError: there is no such run, or something is damaged.

    """
    labels: Labels = {}
    found: list[Shown] = []
    alone: list[StoredRun] = []
    for path in paths:
        if (path / HEAD).is_file():
            head = read_head(path)
            labels |= head.labels
            found += _of_table(path, head)
        elif (path / ROWS).is_file():
            found += _of_table(path)
        elif (run := tables.run_of(path)) is not None:
            alone.append(run)
        else:
            raise ResultsError(f"{path}: neither a run, a sweep nor an experiment of a results folder, nor a scenario")
    flat = [tables.flat(run.scenario) for run in alone]
    keys = [key for key in tables.differing(flat) if not key.startswith("measure.")]
    for run, values in zip(alone, flat, strict=True):
        row = {key: values.get(key) for key in keys} | {"seed": run.scenario["run"]["seed"]}
        found.append(Shown(row, run.table, run.scenario, run.summary, run.place))
    return ShownRuns(found, labels)


def _of_table(folder: Path, head: Head | None = None) -> list[Shown]:
    """The runs of a sweep, or of an experiment, whose table alone says what varies: that stands before the seed."""
    path = folder / ROWS
    frame = read_table(path)
    if head is None:
        keys = frame.columns[: ([*frame.columns, "seed"]).index("seed")]
        axes = [key for key in keys if "." not in key]
        head = Head(id="", title="", keys=keys, seeds=[], runs=len(frame), engine_version="", axes=axes)
    if lacks := [key for key in (*head.keys, "seed", "run_id") if key not in frame.columns]:
        raise ResultsError(f"{path}: damaged (it has no column {lacks[0]})")
    if frame.is_empty():
        raise ResultsError(f"{path}: no run has finished")
    keys = [*DataSet(head, frame.to_dicts(), []).varying(), "seed"]
    return [
        Shown({key: row[key] for key in keys}, run.table, run.scenario, run.summary, run.place)
        for row, run in zip(frame.iter_rows(named=True), tables.runs_of(folder), strict=True)
    ]
