"""Measures of a network under short names, the goals made of them, and bounds on them.

A measure has one of the names that totals declare for goals, or is any column of a sweep's table. If more than one in a
hundred finite flows of a run did not complete, the slowest are missing from its completion times, so the run counts as
the worst. Those of traffic that goes on which had just begun are not counted (:mod:`fanin.results.never_ended`).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fanin.command import worded
from fanin.later import np
from fanin.numbers.stats import Floats, Spread, fewest_for, spread
from fanin.numbers.summary import (
    BACKGROUND,
    ColumnInfo,
    column,
    format_number,
    format_spread,
    format_value,
    goals,
    is_completion_time,
)
from fanin.numbers.units import quantity
from fanin.results import never_ended
from fanin.results.dataset import Row, capacity_of, spread_of
from fanin.run.scenario import Scenario
from fanin.scenario import checks
from fanin.scenario.format.column import Column
from fanin.scenario.traffic import begin_together, is_endless, is_fan_in

_UNITS_THAT_CAN_BE_ZERO = ("", "1", "pkt", "B")
"""Units of measures that can be zero: counts, ratios and queues."""

USUAL = {
    "query-p99": "there are queries",
    "fct_max_s": "all transfers begin together and the last is waited for",
    "p99-fct": "transfers are of known size",
    "goodput": "no transfer ends",
}
"""The usual goals, and where each is the one."""


class Quantile(NamedTuple):
    """A quantile of the completion times of a run."""

    percent: float
    of: str
    """The column that counts them; where only some of them are taken, there are fewer."""

    def number(self, row: Row) -> int | None:
        """How many completion times a run has."""
        return row.get(self.of)

    @property
    def counted(self) -> str:
        """What is counted, as text."""
        return "queries" if self.of == "queries" else "transfers"


@dataclass(frozen=True)
class Measure:
    """One number of a run."""

    name: str
    """As the user wrote it."""
    column: str
    more: bool
    """Whether more of it is better."""
    is_time: bool = False
    """Whether it is a completion time."""
    parts: tuple[str, ...] = ()
    """Columns whose sum it is, if it is not a column itself."""
    quantile: Quantile | None = None
    """Which quantile of a run's completion times it is, if it is one."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is made of."""
        return self.parts or (self.column,)

    def value(self, row: Row) -> float:
        """The value in a run, given as a row of a sweep's table; NaN if the run has none."""
        if self.is_time and never_ended.share(row) > never_ended.MAX_SHARE_OPEN:
            return math.inf
        values = [row.get(name) for name in self.columns]
        return math.fsum(math.nan if value is None else value for value in values)

    def values(self, rows: Sequence[Row]) -> Floats:
        """The values in several runs."""
        return np.array([self.value(row) for row in rows], dtype=np.float64)

    def spread(self, rows: Sequence[Row]) -> Spread:
        """The mean over several runs, with what is drawn around it."""
        return spread_of(self.shown_as, self.values(rows), capacity_of(rows))

    def shown(self, found: Spread) -> str:
        """A mean with its interval, or with the quantiles of the seeds, without the unit."""
        if math.isinf(found.mean):
            return "unfinished"
        return "-" if math.isnan(found.mean) else format_spread(self.shown_as, found)

    @property
    def is_ratio(self) -> bool:
        """Whether a percentage is a value of this measure itself, and not a share of a reference."""
        return column(self.column).shown_as == "%"

    @property
    def shown_as(self) -> str:
        """The column whose unit it is shown in."""
        return self.parts[0] if self.parts else self.column

    @property
    def unit(self) -> str:
        """The unit in which it is shown."""
        return column(self.shown_as).shown_as

    @property
    def label(self) -> str:
        """Its name and definition."""
        if self.parts:
            return "Goodput of the background traffic: payload in order, all groups of that kind together"
        return column(self.column).full

    @property
    def heading(self) -> str:
        """Its name and unit, as the heading of a table's column."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def usual_goal(scenario: dict[str, Any]) -> str:
    """By what all commands compare a scenario, unless the user says so: what its users wait for.

    Args:
        scenario: The scenario as :meth:`fanin.scenario.file.ScenarioFile.of_fan_in` gives it.

    """
    traffic = scenario["traffic"]
    if any(is_fan_in(group) or group.get("has-queries") for group in traffic):
        return "query-p99"
    if all(is_endless(group) for group in traffic):
        return "goodput"
    return "fct_max_s" if begin_together(scenario) else "p99-fct"


def measure(name: str, experiment: Scenario) -> Measure:
    """The measure of that name.

    Raises:
        ValueError: there is none; the message names the closest.

    """
    name = name.strip()
    found = goals().get(name, name)
    if found == BACKGROUND:
        groups = [group["name"] for group in experiment.resolved()["traffic"] if group["kind"] == "background"]
        if not groups:
            raise ValueError("background: the scenario has no background traffic")
        parts = tuple(f"groups.{group}.goodput_bps" for group in groups)
        return Measure(name, found, column(parts[0]).better == "more", parts=parts)
    known = [each for each in checks.columns(experiment) if each not in (*experiment.swept, "seed")]
    if found not in known or found in ("run_id", "result_hash", "wall_s"):
        close = difflib.get_close_matches(name, [*goals(), *known], n=1)
        hint = f' (did you mean "{close[0]}"?)' if close else ""
        raise ValueError(f"there is no measure {name!r}{hint}; choose from {', '.join(goals())}, or any column")
    own = next((each for each in experiment.columns if each.id == found), None)
    better = column(found).better if own is None else _better(own)
    if better == "neither":
        how = f"{name}: neither more nor less of it is better, so it is no goal and no bound"
        raise ValueError(how if own is None else f'{how}; declare better = "high" or "low" in its [[column]]')
    is_time = is_completion_time(found) if own is None else _is_time(own)
    return Measure(name, found, better == "more", is_time, quantile=_quantile(found, own) if is_time else None)


def times_among(columns: Iterable[str], experiment: Scenario) -> list[Measure]:
    """Those of some columns that are completion times, as measures."""
    own = {each.id: each for each in experiment.columns}
    return [
        Measure(name, name, more=False, is_time=True, quantile=_quantile(name, own.get(name)))
        for name in dict.fromkeys(columns)
        if (_is_time(own[name]) if name in own else is_completion_time(name))
    ]


def few_samples(measures: Iterable[Measure], rows: Iterable[Row]) -> list[str]:
    """Warnings of goals and bounds that are quantiles of few completion times of each run.

    More seeds do not help: a mean of the slowest of each run is still one of the slowest.
    """
    rows = list(rows)
    found: dict[str, list[str]] = {}
    for each in measures:
        counts = [count for row in rows if each.quantile and (count := each.quantile.number(row))]
        if each.quantile is None or not counts or min(counts) >= (needed := fewest_for(each.quantile.percent)):
            continue
        of = f"{min(counts):,} of the {needed:,} {each.quantile.counted} that a p{each.quantile.percent:g} takes"
        found.setdefault(of, []).append(each.name)
    more = "run more rounds (traffic.NAME.rounds or count)"
    return [f"{', '.join(names)}: a run has {of}; {more}" for of, names in found.items()]


def _quantile(name: str, own: Column | None) -> Quantile | None:
    """Which quantile a completion time is: a total, of all traffic or a group, or a column that takes one."""
    if own is not None:
        of_queries = own.table == "requests"
        percent = float(own.take[1:]) if own.take[1:2].isdigit() else 0.0
        return Quantile(percent, "queries" if of_queries else "completed") if 0 < percent < 100 else None
    group, dot, total = name.rpartition(".")
    percent = float(never_ended.percent_of(name) or 0)
    counted = "queries" if total.startswith("query_") else f"{group}{dot}completed"
    return Quantile(percent, counted) if 0 < percent < 100 else None


def _better(own: Column) -> str:
    """The better direction of a column that an experiment declares: as declared, or by the columns it is made of."""
    if own.better is not None:
        return "more" if own.better == "high" else "less"
    if own.of is None:
        return "more" if column(own.id, own.label).unit == "bit/s" else "neither"
    if own.take == "jain":
        return "more"
    return "neither" if own.take in ("count", "clusters") else "less" if own.take == "std" else column(own.of).better


def _is_time(own: Column) -> bool:
    """Whether a column that an experiment declares is a completion time, which unfinished flows lack."""
    if own.of is None:
        return column(own.id).unit == "s"
    of = column(own.of)
    return own.table in ("flows", "requests") and of.unit == "s" and of.better == "less"


@dataclass(frozen=True)
class Goal:
    """The criterion that ranks schemes or parameters: one measure, or several with weights."""

    parts: tuple[tuple[Measure, float], ...]

    @property
    def name(self) -> str:
        """As the user wrote it."""
        if len(self.parts) == 1:
            return self.parts[0][0].name
        return ",".join(f"{each.name}:{weight:g}" for each, weight in self.parts)

    @property
    def more(self) -> bool:
        """Whether more of it is better."""
        return len(self.parts) > 1 or self.parts[0][0].more

    @property
    def measures(self) -> list[Measure]:
        """The measures that it combines."""
        return [each for each, _ in self.parts]

    def can_refer_to(self, rows: Sequence[Row]) -> bool:
        """Whether these runs can be the reference, whose score is 1: all have finished, and no mean is zero."""
        means = [each.values(rows).mean() for each in self.measures] if rows else [math.nan]
        return len(self.parts) == 1 or all(0 < mean < math.inf for mean in means)

    def values(self, rows: Sequence[Row], reference: Sequence[Row]) -> Floats:
        """The values in several runs; infinitely bad if the goal includes a completion time and a run has none.

        Several measures give a score: the weighted geometric mean of their improvements over the means of the
        reference's runs, whose score is 1. If the reference has not finished, the score is relative to one of each
        unit. The choice of reference changes all scores by the same factor, so it does not change their order.
        """
        if len(self.parts) == 1:
            return self.parts[0][0].values(rows)
        total = sum(weight for _, weight in self.parts)
        refers = self.can_refer_to(reference)
        logs, unfinished = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
        with np.errstate(divide="ignore"):
            for each, weight in self.parts:
                values = each.values(rows)
                times = values / (each.values(reference).mean() if refers else 1.0)
                logs += weight / total * np.log(times if each.more else 1 / times)
                unfinished |= np.isinf(values)
        scores: Floats = np.where(unfinished, -math.inf, np.exp(logs))
        return scores

    def spread(self, rows: Sequence[Row], reference: Sequence[Row] = ()) -> Spread:
        """The mean over several runs, with what is drawn around it; a reference as for :meth:`values`."""
        return spread(self.values(rows, reference)) if len(self.parts) > 1 else self.measures[0].spread(rows)

    def shown(self, found: Spread) -> str:
        """A mean with its interval, or with the quantiles of the seeds, without the unit."""
        if len(self.parts) == 1:
            return self.measures[0].shown(found)
        if not math.isfinite(found.mean):
            return "unfinished" if math.isinf(found.mean) else "-"
        half = "" if math.isnan(found.half) else f" ± {format_number(found.half, 2)}"
        ends = f" ({format_number(found.low, 2)}..{format_number(found.high, 2)})" if found.quantiles else ""
        return f"{format_number(found.mean)}{half}{ends}"

    @property
    def heading(self) -> str:
        """Name and unit."""
        return self.parts[0][0].heading if len(self.parts) == 1 else "score"

    @property
    def axis(self) -> ColumnInfo:
        """How to show it on an axis."""
        if len(self.parts) == 1:
            label, _, definition = self.parts[0][0].label.partition(": ")
            how = column(self.parts[0][0].shown_as)
            return ColumnInfo(label, definition, how.unit, how.shown_as, how.scale)
        return ColumnInfo("Score", f"weighted geometric mean of the improvements over the default, {self.name}")


def goal(text: str, experiment: Scenario) -> Goal:
    """The goal that a text such as ``query-p99`` or ``query-p99:2,goodput`` means.

    Raises:
        ValueError: the text is not a goal, or it gives a weight to a measure that can be zero.

    """
    parts = []
    for part in text.split(","):
        name, colon, weight = part.partition(":")
        try:
            number = float(weight) if colon else 1.0
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise ValueError(f"{part!r}: a weight is a number above zero, such as query-p99:2,goodput:1")
        parts.append((measure(name, experiment), number))
    if len(parts) > 1:
        for each, _ in parts:
            if column(each.shown_as).unit in _UNITS_THAT_CAN_BE_ZERO and each.column != "jain":
                raise ValueError(
                    worded(f"{each.name} can be zero, so a weighted goal cannot include it; --keep takes a bound of it")
                )
    return Goal(tuple(parts))


@dataclass(frozen=True)
class Keep:
    """A bound on a measure: a minimum if more is better, otherwise a maximum."""

    text: str
    """As the user wrote it."""
    measure: Measure
    bound: float
    relative: bool
    """Whether the bound is a share of a reference instead of a value."""

    def limit(self, reference: float) -> float:
        """The bound as a value."""
        return self.bound * reference if self.relative else self.bound

    def margins(self, rows: Sequence[Row], reference: float) -> Floats:
        """Distances of runs from the bound, positive if the bound is satisfied."""
        away = self.measure.values(rows) - self.limit(reference)
        return away if self.measure.more else -away

    def broken_by(self, rows: Sequence[Row]) -> str:
        """The mean of runs that breaks the bound, and the bound; nothing if it is kept, or a share of a reference."""
        if self.relative or self.margins(rows, math.nan).mean() >= 0:
            return ""
        mean = format_value(self.measure.shown_as, float(self.measure.values(rows).mean()))
        return f"{self.measure.name} is {mean} ({self.text})"

    def shown(self, reference: float) -> str:
        """The measure and its bound as text."""
        return f"{self.measure.name} {self.word_bound(reference)}"

    def word_bound(self, reference: float) -> str:
        """The bound as text."""
        sign = "at least" if self.measure.more else "at most"
        return f"{sign} {format_value(self.measure.shown_as, self.limit(reference))}"


def keep(text: str, experiment: Scenario) -> Keep:
    """The bound that a text such as ``goodput=90%``, ``timeout-ratio=1%`` or ``query-p99=500us`` means.

    Raises:
        ValueError: the text is not a bound.

    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not MEASURE=BOUND, such as goodput=90% or query-p99=500us")
    bounded = measure(name, experiment)
    value = value.strip()
    found = quantity(float(value) if _is_number(value) else value)
    unit = column(bounded.shown_as).unit
    if found is not None:
        number, own = found
        if own == "1" and value.endswith("%") and not bounded.is_ratio:
            return Keep(text, bounded, number, relative=True)
        if own == unit or (not own and unit in ("1", "")):
            return Keep(text, bounded, number, relative=False)
    units = {"s": "a time such as 500us", "bit/s": "a rate such as 9Gbps", "pkt": "packets such as 20pkt"}
    wanted = units.get(unit, "a number")
    also = "" if bounded.is_ratio else ", or a share such as 90%"
    raise ValueError(f"{text!r}: {bounded.name} takes {'a share such as 1%' if bounded.is_ratio else wanted}{also}")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
