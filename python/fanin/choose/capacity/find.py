"""Finds the capacities of a scenario for several cases at once, by running what their searches request."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fanin.choose.capacity.search import SEEDS, Found, Search, Step
from fanin.choose.comparison import in_its_frames
from fanin.choose.goals import Keep
from fanin.errors import NotFoundError, ScenarioError
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point
from fanin.scenario.traffic import comes_by_a_clock, fan_in_keys, is_fan_in

_GOODPUT, _TIMEOUTS = "90%", "1%"
"""Default bounds."""


def default_bounds(experiment: Scenario, over: str | None = None) -> list[str]:
    """The bounds of a search unless others are given: those of the traffic whose fan-in it is.

    Beside other traffic the total goodput is mostly that of the others. Where queries come by a clock it is what is
    asked for, and no bound.

    Args:
        experiment: The scenario.
        over: The scenario value that is searched; by default the only fan-in, if there is one.

    """
    if over is None:
        with contextlib.suppress(NotFoundError):
            over = fan_in_path(experiment)
    groups = experiment.resolved()["traffic"]
    asked = next((group for group in groups if over is not None and over.startswith(f"traffic.{group['name']}.")), None)
    if asked is None or (len(groups) == 1 and not comes_by_a_clock(asked)):
        return [f"goodput={_GOODPUT}", f"timeout-ratio={_TIMEOUTS}"]
    own = f"groups.{asked['name']}"
    timeouts = f"{own}.timeout_ratio={_TIMEOUTS}"
    return [timeouts] if comes_by_a_clock(asked) else [f"{own}.goodput_bps={_GOODPUT}", timeouts]


def fan_in_path(experiment: Scenario) -> str:
    """The scenario value that is the fan-in, if there is exactly one.

    Raises:
        NotFoundError: there is none, or several; the message names the option that selects it.

    """
    found = fan_ins(experiment.resolved())
    if len(found) == 1:
        return found[0]
    some = f"several fan-ins: {', '.join(found)}" if found else "no traffic from many senders to one receiver"
    raise NotFoundError(f"{experiment.path}: {some}; name the value to search with --over PATH=FIRST..LAST")


def fan_ins(resolved: Mapping[str, Any]) -> list[str]:
    """The values of a scenario that are a fan-in."""
    return [f"traffic.{each['name']}.{fan_in_keys()[each['kind']]}" for each in resolved["traffic"] if is_fan_in(each)]


def largest_valid(experiment: Scenario, path: str, first: int, last: int, case: dict[str, Scalar]) -> int:
    """The largest fan-in up to ``last`` that is valid: the network may not have enough hosts for more.

    Raises:
        ScenarioError: the scenario is not even valid with ``first``.

    """

    def valid(fan_in: int) -> bool:
        try:
            experiment.check_settings([*Point(case, experiment.seeds[0]).overrides, (path, str(fan_in))])
        except ScenarioError:
            return False
        return True

    experiment.check_settings([*Point(case, experiment.seeds[0]).overrides, (path, str(first))])
    if valid(last):
        return last
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if valid(middle) else (low, middle)
    return low


def find(
    experiment: Scenario,
    cases: list[dict[str, Scalar]],
    keeps: list[Keep],
    *,
    over: str,
    first: int = 2,
    last: int = 1024,
    seeds: list[int] = SEEDS,
    precision: float = 0.05,
    out: Path | str | None = "results",
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
) -> list[Found]:
    """Finds the largest fan-in of each case, all cases in parallel; runs in the store are reused.

    Args:
        experiment: The scenario; its sweep is ignored.
        cases: Scenario values of each case, such as its scheme.
        keeps: The bounds.
        over: The scenario value that is the fan-in.
        first: The smallest fan-in.
        last: The largest.
        seeds: At least three; the same for every fan-in and every case.
        precision: The gap that may remain between keeping and breaking the bounds, relative to the answer.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.

    Raises:
        ScenarioError: the scenario is not valid for a case.
        ResultsError: results cannot be written.

    """
    laboratory = Laboratory(experiment, out, workers=workers, again=again, advance=advance)
    found = find_in(laboratory, cases, keeps, over=over, first=first, last=last, seeds=seeds, precision=precision)
    return [each for each in found if each is not None]


def find_in(
    laboratory: Laboratory,
    cases: list[dict[str, Scalar]],
    keeps: list[Keep],
    *,
    over: str,
    first: int,
    last: int,
    seeds: list[int],
    precision: float,
    own: int | None = None,
) -> list[Found | None]:
    """The same in a laboratory that has other runs as well; ``None`` for what it has no time to find.

    Args:
        laboratory: Where to run the simulations.
        cases: As for :func:`find`, like the arguments that follow.
        keeps: The bounds.
        over: The scenario value that is the fan-in.
        first: The smallest fan-in.
        last: The largest.
        seeds: The same for every fan-in and every case.
        precision: The gap that may remain.
        own: A fan-in that is tried first; if it keeps the bounds, smaller ones are not tried.

    """
    frames = [in_its_frames(laboratory.experiment, case) for case in cases]
    searches = [
        Search(
            case, keeps, first, largest_valid(laboratory.experiment, over, first, last, case), seeds, precision, own=own
        )
        for case in cases
    ]
    while True:
        steps = [(search, _step(search)) for search in searches]
        wanted = [(search, step, case) for (search, step), case in zip(steps, frames, strict=True) if step is not None]
        if not wanted:
            return [None if each.is_broken_off else replace(each.found(), rows=each.rows) for each in searches]
        tried = ", ".join(map(str, sorted({fan_in for _, (fan_in, _), _ in wanted})))
        what = f"trying {over} = {tried}, until the largest is known"
        found = laboratory.cases([({**case, over: fan_in}, some) for _, (fan_in, some), case in wanted], what)
        for (search, (fan_in, _), _), each in zip(wanted, found, strict=True):
            search.is_broken_off = each.left_out > 0
            if each.failures:
                search.error = f"fan-in {fan_in}, seed {each.failures[0].seed}: {each.failures[0].error}"
            else:
                search.rows.setdefault(fan_in, []).extend(each.rows)


def _step(search: Search) -> Step | None:
    return None if search.error is not None or search.is_broken_off else search.next()
