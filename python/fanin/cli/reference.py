"""``fanin compare --reference``: runs compared with other records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fanin.cli.options import workers
from fanin.cli.terminal import counting, keeping, note, print_json, print_table, say
from fanin.errors import NotFoundError
from fanin.numbers.summary import columns_of, format_value, is_text, measured, table_names

if TYPE_CHECKING:
    from fanin.choose.reference import Cell, Joined, Pairing, Records, Tolerance
    from fanin.run.scenario import Scenario
    from fanin.run.sweep import Runs
    from fanin.scenario.points import Point

_MAX_LISTED_KEYS = 5
"""How many keys that only one side has are listed."""


@dataclass(frozen=True)
class Asked:
    """The options of the comparison."""

    reference: Path
    key: str | None
    columns: list[str]
    tolerances: list[str]
    table: str | None
    level: float


@dataclass(frozen=True)
class Making:
    """Seeds, workers and results folder of the runs."""

    seeds: list[int] | None
    out: Path | None
    jobs: int | None
    memory: str | None
    cluster: str | None
    again: bool


def compare(experiment: Scenario, asked: Asked, making: Making, *, json: bool) -> None:
    """Runs the scenario's sweep, joins it to the records, prints the table, and exits with 1 unless all agrees."""
    from fanin.choose import reference
    from fanin.scenario.points import points

    theirs = reference.read(asked.reference)
    named, tolerances = _columns(asked)
    todo = points(experiment, making.seeds)
    key = _key(experiment, asked, todo, theirs, named)
    own = _numbers(experiment, asked.table)
    chosen = named or reference.compared_by_default(own, theirs, key)
    if not chosen:
        raise NotFoundError(
            f"{asked.reference}: no column is in both: name some, such as --column goodput_bps=mbps*1e6; these records "
            f"have {', '.join(theirs.frame.columns)}, and our runs {', '.join(own)}"
        )
    theirs = reference.numbers(theirs, [each.theirs for each in chosen])
    runs, failures = _runs(experiment, asked.table, todo, making)
    for failure in failures:
        note(f"error: {failure}")
    ours = runs.frame() if asked.table is None else runs.rows(asked.table)
    # Not all runs have every total.
    lacking = [] if named else [each.ours for each in chosen if each.ours not in ours.columns]
    chosen = [each for each in chosen if each.ours not in lacking]
    if not chosen:
        raise NotFoundError(f"{asked.reference}: our runs have none of the columns of these records")
    if lacking:
        note(f"warning: not compared, as our runs have none of it: {', '.join(lacking)}")
    joined = reference.join(ours, theirs, key, chosen, tolerances, asked.level)
    if json:
        cells = [cell.as_dict(joined.key) for cell in joined.cells]
        alone = {"ours_only": joined.ours_only, "theirs_only": joined.theirs_only}
        about = {"scenario": experiment.name, "reference": str(asked.reference), "level": asked.level}
        print_json({**about, "key": joined.key, "cells": cells, **alone, "agrees": joined.agrees})
    else:
        _print(joined, tolerances, asked)
    for what, keys in (("the reference has no", joined.ours_only), ("no run of ours has", joined.theirs_only)):
        if keys:
            more = f" and {len(keys) - _MAX_LISTED_KEYS} more" if len(keys) > _MAX_LISTED_KEYS else ""
            note(f"warning: {what} {'; '.join(_named(joined.key, each) for each in keys[:_MAX_LISTED_KEYS])}{more}")
    if failures or not joined.agrees:
        raise typer.Exit(1)


def _key(experiment: Scenario, asked: Asked, todo: list[Point], theirs: Records, columns: list[Pairing]) -> list[str]:
    """The columns that identify a cell; everything that can be is refused here, before the runs."""
    from fanin.choose import reference
    from fanin.results.runs import frame_of

    varied = frame_of([{name: point.row[name] for name in experiment.swept if name in point.row} for point in todo])
    if asked.key is None:
        key = reference.key_of(varied, theirs)
    else:
        key = [name.strip() for name in asked.key.split(",") if name.strip()]
    reference.check_columns(theirs, [*key, *(each.theirs for each in columns)])
    reference.check_test(varied, theirs, key, asked.level, rows=asked.table is not None)
    return key


def _numbers(experiment: Scenario, table: str | None) -> list[str]:
    """The columns of our runs that are quantities: no names, and nothing that is varied.

    Raises:
        NotFoundError: there is no such result table.

    """
    from fanin.scenario.checks import columns

    if table is None:
        every = dict.fromkeys([*columns(experiment), *measured()])
        return [name for name in every if name not in experiment.swept and not is_text(name)]
    if table not in table_names():
        raise NotFoundError(f"there is no result table {table}; there are {', '.join(table_names())}")
    return [name for name in columns_of(table) if not is_text(f"{table}.{name}")]


def _columns(asked: Asked) -> tuple[list[Pairing], dict[str, Tolerance]]:
    """The columns of ``--column``, and those with a tolerance and the same name on both sides."""
    from fanin.choose import reference

    try:
        columns = [reference.column(text) for text in asked.columns]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--column") from None
    try:
        tolerances = dict(reference.tolerance(text) for text in asked.tolerances)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--tolerance") from None
    named = {each.ours for each in columns}
    return columns + [reference.Pairing(name, name) for name in tolerances if name not in named], tolerances


def _runs(experiment: Scenario, table: str | None, todo: list[Point], making: Making) -> tuple[Runs, list[str]]:
    """The runs of the scenario's sweep, and the failures."""
    from fanin.results import columns
    from fanin.results.failures import Failure
    from fanin.run.job import Job
    from fanin.run.laboratory import Batches
    from fanin.run.sweep import Runs

    tables = frozenset() if table is None else frozenset([table])
    wanted = [Job(experiment, each.overrides, columns.tables(experiment, each.row) | tables) for each in todo]
    kept = f"finished runs are kept in {making.out}" if making.out else None
    with keeping(kept), workers(making.cluster, making.jobs, making.memory) as pool, counting("runs") as counter:
        found = Batches(making.out, workers=pool, again=making.again, advance=counter.advance).run(wanted)
    pairs = list(zip(todo, found, strict=True))
    failures = [f"seed {run.seed}: {run.error}" for _, run in pairs if isinstance(run, Failure)]
    return Runs(experiment, [(point, run) for point, run in pairs if not isinstance(run, Failure)]), failures


def _print(joined: Joined, tolerances: dict[str, Tolerance], asked: Asked) -> None:
    header = [*joined.key, "column", "ours", "reference", "difference", "allowed", "p", ""]
    rows = ([*cell.key, *_row(cell, tolerances.get(cell.column))] for cell in joined.cells)
    print_table(f"Against {asked.reference}", header, rows)
    statuses = [cell.status for cell in joined.cells]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(sorted(statuses)))
    say(f"{len(joined.cells)} comparisons: {counts}")
    say(f"p: Kolmogorov-Smirnov, two samples; rejected below {asked.level:g} for all tests together (Holm)")
    if "not tested" in statuses:
        say("not tested: there is no --tolerance, and too few values for the test to reject anything")


def _row(cell: Cell, allowed: Tolerance | None) -> list[str]:
    difference = "-" if cell.difference != cell.difference else f"{cell.difference:+.2%}"
    sides = zip((cell.ours, cell.theirs), cell.counts, strict=True)
    numbers = [_shown(cell.column, value, count) for value, count in sides]
    p = "-" if cell.p is None else f"{cell.p:.3g}"
    return [cell.column, *numbers, difference, _limit(cell.column, allowed), p, cell.status]


def _limit(name: str, allowed: Tolerance | None) -> str:
    if allowed is None:
        return "-"
    return f"{100 * allowed.share:g} %" if allowed.share else format_value(name, allowed.number)


def _shown(name: str, value: float, count: int) -> str:
    if value != value:
        return "-"
    return f"{format_value(name, value)} ({count})"


def _named(key: list[str], place: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(key, place, strict=True)) or "any row"
