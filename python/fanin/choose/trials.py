"""Changes that are tried on a run: what each makes of it, simulated once with the run's own seed.

No rule says what helps. Which of several fixes to deploy takes more seeds, and is for :mod:`fanin.choose.advising`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fanin.choose.diagnosis import Diagnosis
from fanin.choose.fixes import Effort, fixes, resolved
from fanin.choose.goals import Measure, measure
from fanin.errors import RunError, ScenarioError
from fanin.numbers.summary import column, format_value
from fanin.numbers.units import rate_text
from fanin.results import never_ended
from fanin.results.dataset import Row
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.loads import SOME_JITTER

MIN_GAIN = 0.1
"""What makes a run better by a smaller share is not told: another seed may differ by as much."""

_IDENTIFYING_TOTALS = ("goodput_bps", "flows", "drops", "retransmissions", "fct_max_s")
"""Totals that tell one run from another, whatever of it is measured."""

_MAX_TOLD_CHANGES = 3
"""So many changes are told."""

_STABLE_LOAD = 0.8
"""Queues of a link with that load end again."""

_SLOWEST = "fct_max_s"

_IN_WORDS = {_SLOWEST: "the slowest transfer"}
"""Measures that have no short name."""


class Change(NamedTuple):
    """A change of the scenario."""

    name: str
    settings: dict[str, Scalar]
    effort: Effort
    is_realism: bool = False
    """Whether it has answers begin apart, as on real hosts: no fix, and a note where it makes a run worse."""
    is_less: bool = False
    """Whether it offers less load, so that the goodput is less, too."""
    alone: float = 1.0
    """What share of its time a query alone takes with it."""


class Changed(NamedTuple):
    """A measure of the run, before and after a change."""

    name: str
    shown_as: str
    """The column whose unit it is shown in."""
    more: bool
    """Whether more of it is better."""
    before: float
    after: float

    @property
    def gain(self) -> float:
        """By what share of before it is better; what does not end is infinitely bad, and what is unknown no gain."""
        if math.isnan(self.before) or math.isnan(self.after) or self.before == self.after:
            return 0.0
        if math.isinf(self.before) or not self.before:
            return 1.0
        change = (self.after - self.before) / self.before
        return max(0.0, change if self.more else -change)

    @property
    def loss(self) -> float:
        """By what share of after it is worse."""
        return self._replace(before=self.after, after=self.before).gain

    @property
    def left(self) -> float:
        """How bad it is after the change: a time, or the inverse of what more is better of."""
        return (1 / self.after if self.after else math.inf) if self.more else self.after

    @property
    def text(self) -> str:
        """As a part of a sentence."""
        before, after = self._word(self.before), self.word_after()
        return f"{self.name} {before} -> {after}" if before != after else f"{self.name} stays {after}"

    def word_after(self) -> str:
        """What it is after the change."""
        return self._word(self.after)

    def _word(self, value: float) -> str:
        if math.isinf(value):
            return "unfinished"
        if math.isnan(value):
            return "-"
        return rate_text(value) if column(self.shown_as).unit == "bit/s" else format_value(self.shown_as, value)


@dataclass(frozen=True)
class Trial:
    """A change that was tried, and what came of it."""

    change: Change
    changed: list[Changed]
    """The goal first."""

    @property
    def decides(self) -> Changed:
        """The goal; if the end of the run decided it before and after, the goodput."""
        goal, *others = self.changed
        open_ = math.isinf(goal.before) and math.isinf(goal.after)
        return next((each for each in others if open_ and each.more), goal)

    @property
    def gain(self) -> float:
        """By what share that is better."""
        return self.decides.gain

    @property
    def spoils(self) -> bool:
        """Whether another measure is worse by a share that would be told."""
        kept = [each for each in self.changed if not (self.change.is_less and each.more)]
        return any(each.loss >= MIN_GAIN for each in kept)

    @property
    def place(self) -> tuple[bool, bool, float]:
        """Its place among others, the best first: what spoils nothing, has a value of the goal, and is best by that."""
        # Of thresholds that make no difference, the usual one comes first.
        return self.spoils, self.decides is not self.changed[0], float(f"{self.decides.left:.2g}")


@dataclass(frozen=True)
class Trials:
    """What was tried on a run."""

    goal: str
    tried: int
    """How many changes."""
    helped: int
    """How many made the goal better by a share that is told."""
    told: list[Trial]
    """The best of these, the least effort first among those that are about as good."""
    worse_apart: Trial | None = None
    """Answers that begin apart, as on real hosts, if that makes the goal worse by such a share."""


def trials(
    experiment: Scenario,
    diagnosis: Diagnosis,
    seed: int,
    *,
    workers: Workers | None = None,
    advance: Advance = lambda _: None,
) -> Trials | None:
    """Tries changes on a run; ``None`` if it cannot be repeated, such as for want of memory.

    Args:
        experiment: Its scenario; the sweep of that is ignored.
        diagnosis: What it says.
        seed: Its seed.
        workers: Where to run the simulations, if not on threads.
        advance: Called after every simulation.

    Raises:
        ScenarioError: the scenario is not valid.
        RunError: it is no longer the one that was run.

    """
    changes = [*_propose_without_fix(experiment, diagnosis), *_fixes(experiment, diagnosis)]
    measures = _measures(experiment, diagnosis)
    laboratory = Laboratory(experiment, None, workers=workers, advance=advance)
    cases = [({}, [seed]), *((each.settings, [seed]) for each in changes)]
    own, *others = laboratory.cases(cases)
    if not own.rows:
        return None
    if any(own.rows[0][name] != diagnosis.summary[name] for name in _IDENTIFYING_TOTALS):
        raise RunError("the scenario, or a file that it names, has changed since the run")
    found = []
    for change, outcome in zip(changes, others, strict=True):
        if outcome.rows:
            found.append(Trial(change, _changed(measures, own.rows[0], outcome.rows[0])))
    helping = [each for each in found if each.gain - (1 - each.change.alone) >= MIN_GAIN]
    best = [replace(each, change=_shortest(experiment, each.change)) for each in choose_told(helping)]
    apart = (each for each in found if each.change.is_realism and each.decides.loss >= MIN_GAIN)
    goal = _IN_WORDS.get(measures[0].name, measures[0].name)
    return Trials(goal, len(found), len(helping), best, next(apart, None))


def _propose_without_fix(experiment: Scenario, diagnosis: Diagnosis) -> Iterator[Change]:
    """What no fix is: starts that are not at one instant, less load, a faster path."""
    found = []
    if (jitter := diagnosis.jitter_to_set) is not None:
        name = "answers that do not begin at the same instant"
        found.append(Change(name, {jitter: SOME_JITTER}, Effort.NOTHING, is_realism=True))
    if (excess := diagnosis.excess) is not None:
        asking = [each for each in diagnosis.scenario["traffic"] if each["name"] in excess.groups and "load" in each]
        most = max(asking, key=lambda group: float(group["load"]), default=None)
        if most is not None:
            fits = f"{100 * _STABLE_LOAD * float(most['load']) / excess.load:.0f}%"
            found.append(
                Change("a load that fits", {f"traffic.{most['name']}.load": fits}, Effort.APPLICATION, is_less=True)
            )
    if diagnosis.port.between_switches and not diagnosis.port.is_slowed:
        key, rate = _rate_of(diagnosis)
        found.append(Change(f"twice the {key}", {f"network.{key}": rate}, Effort.SWITCH))
    for each in found:
        if _scenario(experiment, each.settings) is not None:
            yield each


def _rate_of(diagnosis: Diagnosis) -> tuple[str, str]:
    """The rate of the links between switches that the port is of, and twice of it."""
    network = diagnosis.scenario["network"]
    key = f"{diagnosis.port.cables}-rate" if diagnosis.port.cables else "rate"
    return key, f"{2 * network[key].number / 1e9:g}Gbps"


def _fixes(experiment: Scenario, diagnosis: Diagnosis) -> list[Change]:
    """The fixes that can be deployed, each by itself."""
    found = fixes(diagnosis, experiment, systems=False).fixes
    alone = [each for each in found if each.settings and not each.is_combined]
    return [Change(each.name, each.settings, each.effort, alone=each.alone) for each in alone]


def _shortest(experiment: Scenario, change: Change) -> Change:
    """A change without the values that the scenario has anyhow."""
    wanted, settings = resolved(experiment, change.settings), change.settings
    for path in change.settings:
        fewer = {other: value for other, value in settings.items() if other != path}
        if _scenario(experiment, fewer) == wanted:
            settings = fewer
    return change._replace(settings=settings)


def _scenario(experiment: Scenario, settings: dict[str, Scalar]) -> dict[str, Any] | None:
    """The scenario with these values; ``None`` if it is not valid, as it may be with one of several values alone."""
    try:
        return resolved(experiment, settings)
    except ScenarioError:
        return None


def _measures(experiment: Scenario, diagnosis: Diagnosis) -> list[Measure]:
    """The goal, and what a change must not spoil: the usual completion time, and the goodput of all."""
    usual = {"query-p99": "query-mean", "fct_max_s": "mean-fct", "p99-fct": "mean-fct"}
    names = [diagnosis.goal, *([usual[diagnosis.goal]] if diagnosis.goal in usual else [])]
    if diagnosis.is_of_few:
        names = list(dict.fromkeys([_SLOWEST, diagnosis.goal]))
    # Not that of the rest alone: where queries are faster, a run is over sooner, in which others have less of the time.
    if diagnosis.goal != "goodput":
        names.append("goodput")
    return [measure(name, experiment) for name in names]


def _changed(measures: list[Measure], own: Row, row: Row) -> list[Changed]:
    """The measures of both runs. One that ends is better than one that does not, however few transfers did not end."""
    found = []
    ends, row_ends = (never_ended.share(each) == 0 for each in (own, row))
    for each in measures:
        before, after = each.value(own), each.value(row)
        if each.is_time and ends != row_ends:
            before, after = (before, math.inf) if ends else (math.inf, after)
        found.append(Changed(_IN_WORDS.get(each.name, each.name), each.shown_as, each.more, before, after))
    return found


def choose_told(helping: list[Trial]) -> list[Trial]:
    """The best, each with other values.

    Of what is about as good as the best, there is first one for each kind of effort, that with the least before.
    """
    ranked = sorted(helping, key=lambda each: each.place)
    near = [each for each in ranked if _is_about(each, ranked[0])]
    near.sort(key=lambda each: each.change.effort)
    best: dict[Effort, Trial] = {}
    for each in near:
        best.setdefault(each.change.effort, each)
    unique: dict[frozenset[str], Trial] = {}
    for each in (*best.values(), *near, *ranked):
        unique.setdefault(frozenset(each.change.settings), each)
    return [*unique.values()][:_MAX_TOLD_CHANGES]


def _is_about(one: Trial, best: Trial) -> bool:
    """Whether it is about as good as the best."""
    return one.place[:-1] == best.place[:-1] and one.decides.left <= (1 + MIN_GAIN) * best.decides.left
