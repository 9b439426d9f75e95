"""How many senders a scenario carries: ``fanin capacity``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin.ask.common import Schemes, keeps_of, several, stopping, warn, workers_of
from fanin.choose.capacity.find import default_bounds, fan_in_path, find
from fanin.choose.capacity.search import SEEDS, Found
from fanin.choose.cautions import cautions
from fanin.choose.comparison import SCHEME
from fanin.choose.goals import Keep
from fanin.later import pl
from fanin.numbers.stats import FEWEST
from fanin.registry import scheme_title
from fanin.results.runs import frame_of, html_table
from fanin.run.job import Watch, Workers
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import Point
from fanin.show import capacity_folder

LARGEST = 1024
"""No larger fan-in is tried unless one is asked for."""


@dataclass(frozen=True)
class Capacities:
    """The largest fan-ins that keep some bounds, one for each case."""

    scenario: Scenario
    over: str
    """The scenario value that is the fan-in."""
    cases: list[Found] = field(repr=False)
    keeps: list[Keep]
    """The bounds."""
    varied: str | None
    """The scenario value in which cases differ besides their schemes."""
    asked: dict[str, Any] = field(repr=False)
    warnings: list[str] = field(repr=False)
    """What to know before trusting the answers."""

    def frame(self) -> pl.DataFrame:
        """A row for each case: its values, the capacity, and the next larger fan-in, which breaks a bound."""
        names = ("capacity", "breaks_at", "why", "runs", "error")
        return frame_of([{**each.case, **{name: getattr(each, name) for name in names}} for each in self.cases])

    def as_dict(self) -> dict[str, Any]:
        """What ``fanin capacity --json`` prints, without the files."""
        return {**self.asked, **capacity_folder.as_dict(self.cases), "warnings": self.warnings}

    def write(self, out: Path | str = "results") -> list[Path]:
        """Writes the answers into a folder of ``out``, and a figure if there are several cases; returns the files.

        Raises:
            ResultsError: they cannot be written.

        """
        title = self.scenario.document.title or self.scenario.name
        folder = capacity_folder.folder_of(self.scenario, self.asked, out)
        return capacity_folder.write(self.cases, title, self.asked, self.keeps, self.varied, folder)

    def _repr_html_(self) -> str:
        names = ["scheme", *([self.varied] if self.varied else [])]
        rows = [(*named(each), str(each.capacity), str(each.breaks_at), each.why) for each in self.cases]
        return html_table(f"Capacity: {self.over}", (*names, "capacity", "breaks at", "because of"), rows)


def capacity(
    scenario: Scenario,
    schemes: Schemes = (),
    *,
    keep: Iterable[str | Keep] = (),
    over: tuple[str, int, int] | None = None,
    vary: Mapping[str, Sequence[Scalar]] | None = None,
    precision: float = 0.05,
    seeds: Sequence[int] = SEEDS,
    out: Path | str | None = "results",
    jobs: int | None = None,
    workers: Workers | None = None,
    again: bool = False,
    progress: Watch | None = None,
) -> Capacities:
    """Finds the largest fan-in at which bounds hold, as ``fanin capacity`` does.

    Args:
        scenario: The scenario; its sweep is ignored.
        schemes: Names of schemes or classes in Python, each with a capacity of its own; by default the scenario's.
        keep: Bounds such as ``timeout-ratio=1%``; by default on the goodput and on timeouts.
        over: The scenario value to search, with the smallest and the largest fan-in; by default the only fan-in.
        vary: One scenario value, with a capacity for each of its values.
        precision: The gap that may remain, relative to the capacity.
        seeds: At least three; the same for every fan-in and every case.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; by default one per core.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        progress: Called as runs finish; ``False`` stops.

    Raises:
        ValueError: there is no such bound, no fan-in can keep it, or there are fewer than three seeds.
        NotFoundError: there is no fan-in, or there are several.
        ScenarioError: the scenario is not valid for a case.
        RunError: ``progress`` stopped it; finished runs are kept.
        ResultsError: results cannot be written.

    >>> fanin.capacity(fanin.Scenario("tour/rack"), ["newreno", "dctcp"], keep=["query-p99=2ms"])

    """
    scenario.check()
    path, first, last = over or (fan_in_path(scenario), 2, LARGEST)
    keeps = keeps_of(keep or default_bounds(scenario, path), scenario)
    refuse_unreachable(keeps)
    if len(seeds) < FEWEST:
        raise ValueError(f"at least {FEWEST} seeds are needed")
    names = several(schemes) or [str(scenario.resolved()["transport"]["scheme"])]
    varied, values = next(iter(vary.items())) if vary else (None, [""])
    cases: list[dict[str, Scalar]] = [
        {SCHEME: name, **({} if varied is None else {varied: value})}
        for name, value in itertools.product(names, values)
    ]
    search: dict[str, Any] = {"over": path, "first": first, "last": last}
    how: dict[str, Any] = {"seeds": list(seeds), "precision": precision}
    with workers_of(workers, jobs) as pool:
        found = find(
            scenario, cases, keeps, **search, **how, out=out, workers=pool, again=again, advance=stopping(progress)
        )
    of_cases = {"schemes": names, "vary": None if varied is None else {varied: list(values)}}
    asked = {"scenario": scenario.name, **search, "keep": [each.text for each in keeps], **how, **of_cases}
    said = warn(_cautions(scenario, found, keeps, path))
    warn(remarks_of(found))
    return Capacities(scenario, path, found, keeps, varied, asked, said)


def refuse_unreachable(keeps: list[Keep]) -> None:
    """Refuses shares of the best that the best itself does not reach, before a search for nothing.

    Raises:
        ValueError: one is such a share.

    """
    for each in keeps:
        if each.relative and (each.bound > 1 if each.measure.more else each.bound < 1):
            most = "at most" if each.measure.more else "at least"
            raise ValueError(
                f"{each.text}: the share is of the best at any smaller fan-in, so no fan-in keeps it: {most} 100%"
            )


def _cautions(scenario: Scenario, found: list[Found], keeps: list[Keep], over: str) -> list[str]:
    """What a reader should know before trusting the capacities."""
    runs = [
        (Point({**each.case, over: fan_in}, row["seed"]).overrides, row)
        for each in found
        for fan_in, rows in each.rows.items()
        for row in rows
    ]
    at_capacity = {", ".join(named(each)): each.rows[each.capacity] for each in found if each.capacity in each.rows}
    return cautions(scenario, [each.measure for each in keeps], runs, at_capacity)


def remarks_of(found: list[Found]) -> list[str]:
    """What is to be known of single capacities."""
    return [f"{', '.join(named(each))}: {remark}" for each in found for remark in each.remarks]


def named(each: Found) -> list[str]:
    """The values of a case, its scheme as the text calls it."""
    return [scheme_title(str(value)) if path == SCHEME else str(value) for path, value in each.case.items()]
