"""Which fix to deploy on a scenario: ``fanin advise``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fanin.ask.common import goal_of, keeps_of, stopping, warn, workers_of
from fanin.choose import advising, confirmation
from fanin.choose import plan as planning
from fanin.choose.advice import Advice
from fanin.choose.capacity.find import default_bounds
from fanin.choose.comparison import FEW_SEEDS, USUAL_MARGIN
from fanin.choose.confirmation import Confirmed
from fanin.choose.diagnosis import Diagnosis, diagnose
from fanin.choose.fixes import Tried, fixes
from fanin.choose.goals import Goal, Keep, Measure, measure
from fanin.choose.notes import as_record
from fanin.choose.plan import Plan
from fanin.choose.robust import variations
from fanin.choose.rounds import Asked
from fanin.command import worded
from fanin.errors import ScenarioError, ScenarioWarning
from fanin.later import pl
from fanin.numbers.summary import BACKGROUND
from fanin.numbers.units import quantity
from fanin.results.runs import Run, frame_of, html_table
from fanin.run.job import Watch, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.observed import unmeasured
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.show import advice_page
from fanin.show.course import describe_course

WITHIN = "5min"
"""How long it may take unless somebody says so."""

_COLUMNS = (
    *("fix", "deployable", "rank", "mean", "half", "low", "high", "effect", "change", "change_half"),
    *("background_change", "costly", "seeds"),
)
"""What a table of fixes has of each."""

_BEST = 10
"""So many fixes are shown in a notebook."""


class First(NamedTuple):
    """A run of the scenario as it is."""

    run: Run
    seconds: float
    """How long it took."""
    diagnosis: Diagnosis
    """What it says."""


@dataclass(frozen=True)
class Recommendation:
    """Which fix to deploy, and all that were tried."""

    scenario: Scenario
    advice: Advice = field(repr=False)
    margin: float
    confirmed: list[Confirmed] = field(repr=False)
    """The best fixes in the Linux kernel too, if that was asked for."""
    linux: str
    """The kernel."""
    question: dict[str, Any] = field(repr=False)

    @property
    def headline(self) -> str:
        """The answer in words."""
        return worded(advice_page.headline(self.advice))

    @property
    def recommended(self) -> dict[str, Scalar] | None:
        """The settings of the fix to deploy, which :meth:`Scenario.set` takes; ``None`` if nothing is to be changed."""
        return None if self.advice.best is None else dict(self.advice.best.fix.settings)

    def frame(self) -> pl.DataFrame:
        """A row for each fix, the best first: mean of the goal, effect, whether it can be deployed, what it costs."""
        every = [each.as_dict(self.advice.goal) for each in self.advice.every]
        return frame_of([{name: each[name] for name in _COLUMNS} for each in every])

    def as_dict(self) -> dict[str, Any]:
        """What ``fanin advise --json`` prints, without the files."""
        said = as_record(self.advice.diagnosis) | {"headline": describe_course(self.advice.diagnosis).headline}
        found = self.advice.as_dict()
        told = {"headline": self.headline, "warnings": [worded(each) for each in found["warnings"]]}
        return {**self._asked, **found, **told, "diagnosis": said}

    @property
    def _asked(self) -> dict[str, Any]:
        confirmed = [each.as_dict() for each in self.confirmed]
        about = {"scenario": self.scenario.name, "margin": self.margin}
        return about | {"kernel": self.linux or None, "confirmed": confirmed}

    def write(self, out: Path | str = "results", command: str = "fanin.advise") -> list[Path]:
        """Writes the page with the answer into a folder of ``out``; returns the files.

        Args:
            out: Results folder.
            command: What gives this page.

        Raises:
            ResultsError: they cannot be written.

        """
        told, title = describe_course(self.advice.diagnosis), self.scenario.document.title or self.scenario.name
        folder = advice_page.folder_of(self.scenario, self.question, out)
        beside = advice_page.word_confirmed(self.confirmed, self.advice.seeds, self.linux)
        return advice_page.write(self.advice, told, title, command, self._asked, folder, beside)

    def _repr_html_(self) -> str:
        header, rows = advice_page.best_rows(self.advice, _BEST)
        return html_table(self.headline, header, rows)


def first(scenario: Scenario, seed: int, progress: Callable[[float], bool] | None = None) -> First:
    """Runs the scenario as it is."""
    begun = time.monotonic()
    # `fanin check` and `fanin run` show them.
    with warnings.catch_warnings(action="ignore", category=ScenarioWarning):
        run = scenario.run(seed, progress=progress, moved=None)
    return First(run, time.monotonic() - begun, diagnose(run, scenario.of_fan_in(), scenario.handle()))


def advise(
    scenario: Scenario,
    *,
    goal: str | Goal | None = None,
    keep: Iterable[str | Keep] = (),
    seeds: Sequence[int] | None = None,
    capacities: int | None = None,
    within: str | None = None,
    margin: float = USUAL_MARGIN,
    confirm: bool = False,
    out: Path | str | None = "results",
    jobs: int | None = None,
    workers: Workers | None = None,
    again: bool = False,
    progress: Watch | None = None,
    as_it_is: First | None = None,
    so_far: Callable[[Recommendation], None] = lambda _: None,
    ready: Callable[[Plan], None] = lambda _: None,
    planned: Callable[[Plan, float], None] = lambda *_: None,
) -> Recommendation:
    """Ranks all fixes on a scenario and says which to deploy, as ``fanin advise`` does.

    Args:
        scenario: The scenario; its sweep is ignored.
        goal: The criterion, such as ``query-p99``; by default what a run of the scenario suggests.
        keep: Bounds such as ``timeout-ratio=1%``; by default those of :func:`fanin.capacity`.
        seeds: By default 1 to 6.
        capacities: For how many of the best fixes to search how far they carry; by default 3.
        within: About how long it may take, such as ``2h``; by default five minutes.
        margin: Share of a value below which a difference does not count.
        confirm: Whether the scenario and the best fixes run in the Linux kernel too.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; by default one per core.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        progress: Called as runs finish; ``False`` stops.
        as_it_is: The result of :func:`first`, if the scenario as it is has run before.
        so_far: Called with what is known, whenever that is more than before.
        ready: Called with the plan before the fixes run.
        planned: Called with the plan and the seconds that all takes, as soon as the first seed tells.

    Raises:
        ValueError: there is no such goal, bound or time.
        NotFoundError: the fixes are to be confirmed, and there is no kernel.
        ScenarioError: the scenario is not valid.
        RunError: the scenario as it is fails, or ``progress`` stopped it; finished runs are kept.
        ResultsError: results cannot be written.

    >>> answer = fanin.advise(fanin.Scenario("tour/rack"), within="30s")
    >>> print(answer.headline)
    >>> fixed = fanin.Scenario("tour/rack").set(answer.recommended or {})

    """
    scenario.check()
    within_s, some = seconds(within or WITHIN), None if seeds is None else list(seeds)
    linux = confirmation.kernel(scenario) if confirm else ""
    run, run_s, happened = as_it_is or first(scenario, (some or FEW_SEEDS)[0])
    wanted, bounds = goal_of(goal, scenario, happened.goal), list(keep or default_bounds(scenario))
    asked = Asked(wanted, keeps_of(bounds, scenario), margin, within or WITHIN)
    measures = [*wanted.measures, *(each.measure for each in asked.keeps)]
    warn(unmeasured(scenario, [([], run.summary)], (name for each in measures for name in each.columns)))
    to_try = fixes(happened, scenario)
    # The plan depends on the machine; the same question has the same folder.
    question = {"scenario": scenario.name, "margin": margin, "goal": wanted.name, "seeds": some}
    question |= {"keep": [each.text for each in asked.keeps] if keep else None}

    def answer(found: Advice, confirmed: Sequence[Confirmed] = ()) -> Recommendation:
        return Recommendation(scenario, found, margin, list(confirmed), linux, question)

    with workers_of(workers, jobs) as pool:
        # That run has taken some of the time.
        room = {"run_s": run_s, "slots": pool.slots, "within_s": max(0.0, within_s - run_s), "is_bound": bool(within)}
        plan = _make_plan(scenario, happened, to_try, some, capacities, room)
        ready(plan)
        how: dict[str, Any] = {"workers": pool, "again": again, "advance": stopping(progress)}
        told: dict[str, Any] = {"so_far": lambda found: so_far(answer(found)), "planned": planned}
        found = advising.advise(scenario, happened, to_try, asked, plan, _background(scenario), out=out, **how, **told)
        confirmed = confirmation.confirm(found, Laboratory(scenario, out, **how)) if confirm else []
    return answer(found, confirmed)


def _make_plan(
    scenario: Scenario,
    happened: Diagnosis,
    to_try: Tried,
    some: list[int] | None,
    capacities: int | None,
    room: dict[str, Any],
) -> Plan:
    """What to run in the time that there is."""
    hosts = len(variations(happened, to_try.fixes[0], scenario)) - 1
    reach = (0, 0) if capacities == 0 else _reach(scenario, happened)
    return planning.planned(len(to_try.fixes), some, capacities, hosts=hosts, reach=reach, **room)


def _reach(scenario: Scenario, happened: Diagnosis) -> tuple[int, int]:
    """How many senders there are, and up to how many it can be searched how far they carry; zeros if it cannot be."""
    try:
        return advising.reach(scenario, happened)
    except ScenarioError as error:
        said = f"how many senders the fixes carry was not searched: {error}"
        warnings.warn(said, ScenarioWarning, stacklevel=4)
        return 0, 0


def _background(scenario: Scenario) -> Measure | None:
    if any(group["kind"] == "background" for group in scenario.resolved()["traffic"]):
        return measure(BACKGROUND, scenario)
    return None


def seconds(within: str) -> float:
    """A time such as 30s, 5min or 2h in seconds.

    Raises:
        ValueError: it is none.

    """
    for unit, factor in _UNITS.items():
        if within.endswith(unit) and within.removesuffix(unit).strip().isdecimal():
            return factor * float(within.removesuffix(unit))
    found = quantity(within)
    if found is None or found[1] != "s":
        raise ValueError(f"{within!r} is not a time such as 30s, 5min or 2h")
    return found[0]


_UNITS = {"min": 60.0, "h": 3600.0}
"""Units of time that no scenario has."""
