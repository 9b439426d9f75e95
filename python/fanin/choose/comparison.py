"""Schemes side by side on one scenario, all with the same seeds, so that only the schemes differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fanin.choose.goals import Goal
from fanin.later import np
from fanin.numbers.stats import FEWEST, Floats, Spread, finite, has_two_modes, mean_interval, percentile
from fanin.results.dataset import Row, Timeouts, capacity_of, spread_of, timeouts_of
from fanin.results.failures import Failure
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar

SCHEME = "transport.scheme"

STACK = "transport.stack"

_FRAME_OVERHEAD = "network.frame-overhead"

_PLAIN_STACK = "rfc"
"""The stack that sets nothing."""

METRICS = (
    "goodput_bps",
    "fct_mean_s",
    "fct_p99_s",
    "query_mean_s",
    "timeouts",
    "drops",
    "marks",
    "queue_mean_packets",
    "jain",
)
"""Totals that are compared."""

USUAL_MARGIN = 0.01
"""Candidates that differ by a smaller share tie unless the user says otherwise: such a difference is of no use."""

FEWEST_AGREEING = 6
"""So many differences of one sign have a probability of 2 / 2^6 = 3.1 % if both are as likely; five have 6.3 %."""

BY_FAR = 3.0
"""Pairs of enough seeds that all differ in one direction by this factor or more decide without an interval.

Seeds may fall into two groups, as of those that wait for a timer and those that do not. If they do so at random, and as
often for both, a pair has the two in different groups, in a given direction, with a probability of at most 1/4. Three
pairs then agree with one of 2 / 4^3 = 3.1 %, as six differences of one sign do.
"""

FEW_SEEDS = list(range(1, FEWEST_AGREEING + 1))
"""Seeds for a scenario that names at most one: the fewest with which the sign test can decide."""

_MAX_SEEDS = 10_000
"""More seeds than anybody runs."""

_MAX_NAMED = 3
"""So many of several names are told."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with half of its 95 % interval, and the same of the paired differences to the reference."""

    mean: float
    half: float
    difference: float
    difference_half: float
    quantiles: tuple[float, float] | None = None
    """Those of the differences, if they fall into two groups."""
    sizes: tuple[float, ...] = ()
    """Those of the differences, if all have one sign; otherwise none."""
    factor: float = math.nan
    """By what factor all pairs differ at least, if all do in one direction; not a number where that has no meaning."""

    @property
    def away(self) -> Spread:
        """The difference, with what is shown around it; whether it counts is a question about its mean in any case."""
        if self.quantiles is not None:
            return Spread(self.difference, math.nan, *self.quantiles, quantiles=True)
        low, high = self.difference - self.difference_half, self.difference + self.difference_half
        return Spread(self.difference, self.difference_half, low, high)

    def agreeing(self, margin: float = USUAL_MARGIN) -> int:
        """How many differences are at least that share of the mean, if all have one sign."""
        return sum(size >= margin * abs(self.mean) for size in self.sizes)

    def differs(self, margin: float = 0.0) -> bool:
        """Whether it is no chance: with 95 % confidence, or all pairs of enough seeds differ by far."""
        return self.is_sure(margin) or (len(self.sizes) >= FEWEST and self.factor >= BY_FAR)

    def is_sure(self, margin: float = 0.0) -> bool:
        """Whether it is no chance with 95 % confidence: the interval excludes zero, or enough signs are the same.

        Student's interval takes differences for about normal. It contains zero when each of few seeds is better, some
        by a little and others by a timer; the sign test does not mind how they are distributed. So it does not mind
        either that most are of no use, and of these it counts none.
        """
        return self.difference_half < abs(self.difference) or self.agreeing(margin) >= FEWEST_AGREEING

    def is_small(self, margin: float = USUAL_MARGIN) -> bool:
        """Whether it is no chance, but less than that share of the mean."""
        return self.differs() and abs(self.difference) < margin * abs(self.mean)

    def matters(self, margin: float = USUAL_MARGIN) -> bool:
        """Whether it counts: the difference is no chance, and it is at least that share of the mean.

        This is the one rule of all commands that compare. A difference of zero never counts, whatever the mean.
        """
        return self.differs(margin) and abs(self.difference) >= margin * abs(self.mean)

    def seeds_to_decide(self, seeds: int, margin: float = USUAL_MARGIN) -> int | None:
        """About how many seeds would tell whether it differs; ``None`` if that is known, or no use.

        An interval shrinks with the square root of the number of seeds. Differences that all count so far may need no
        more than the sign test does; so few that there is no interval may take no more either.
        """
        away, half = abs(self.difference), self.difference_half
        # What has no difference, as no seed is in both, is not a number.
        if self.differs(margin) or away == 0 or not away >= margin * abs(self.mean):
            return None
        if math.isnan(half):
            return FEWEST_AGREEING
        needed = math.ceil(seeds * (half / away) ** 2) + 1
        if self.sizes and self.agreeing(margin) == len(self.sizes):
            needed = min(needed, FEWEST_AGREEING)
        return needed if needed <= _MAX_SEEDS else None


def numbers(own: Spread, away: Estimate | None) -> dict[str, float | None]:
    """A mean and the differences of an estimate, which may be missing, for JSON."""
    nothing = math.nan
    differs = (nothing, nothing) if away is None else (away.difference, away.difference_half)
    return {**own.as_dict(), "difference": finite(differs[0]), "difference_half": finite(differs[1])}


def paired(values: Floats, others: Floats) -> Estimate | None:
    """The mean of some values and of their differences from others of the same seeds; ``None`` if any is infinite."""
    if np.isinf(values).any() or np.isinf(others).any():
        return None
    return _estimate(values, values, others)


def _estimate(values: Floats, pair: Floats, others: Floats) -> Estimate:
    """The mean of some values, and of those of them that have a pair the differences from that."""
    differences = pair - others
    ends = (percentile(differences, 2.5), percentile(differences, 97.5)) if has_two_modes(differences) else None
    agree = (differences > 0).all() or (differences < 0).all()
    sizes = tuple(map(float, np.abs(differences))) if agree else ()
    has_factor = agree and (pair > 0).all() and (others > 0).all()
    factor = float(np.maximum(pair / others, others / pair).min()) if has_factor else math.nan
    return Estimate(*mean_interval(values), *mean_interval(differences), ends, sizes, factor)


@dataclass(frozen=True)
class Compared:
    """One scheme: its runs, its failed runs, and its estimates."""

    scheme: str
    rows: list[Row]
    """The runs as rows of a sweep's table."""
    failures: list[Failure] = field(default_factory=list)
    estimates: dict[str, Estimate] = field(default_factory=dict)

    @property
    def error(self) -> str | None:
        """A description of the failed runs."""
        if not self.failures:
            return None
        first = self.failures[0]
        some = f"{len(self.failures)} of {len(self.failures) + len(self.rows)} runs failed"
        return f"{some}; seed {first.seed}: {first.error}"

    @property
    def timeouts(self) -> Timeouts | None:
        """How many of its queries had a timeout."""
        return timeouts_of(self.rows)

    def spread(self, metric: str) -> Spread | None:
        """A metric's mean over the seeds, with what is drawn around it; ``None`` if a run lacks it."""
        if metric not in self.estimates:
            return None
        return spread_of(metric, _array(row[metric] for row in self.rows), capacity_of(self.rows))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        timeouts = self.timeouts and self.timeouts.as_dict()
        metrics = {name: numbers(found, away) for name, away in self.estimates.items() if (found := self.spread(name))}
        return {
            "scheme": self.scheme,
            "runs": len(self.rows),
            "error": self.error,
            "timeouts": timeouts,
            "metrics": metrics,
        }


def compare(
    experiment: Scenario,
    schemes: list[str],
    seeds: list[int],
    *,
    against: str | None = None,
    out: Path | str | None = "results",
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
) -> list[Compared]:
    """Runs a scenario with each scheme, on the same seeds; a run that fails is recorded, and the others continue.

    Args:
        experiment: The scenario; its sweep is ignored.
        schemes: Values of ``transport.scheme``.
        seeds: Seeds of every scheme.
        against: The scheme with which the others are compared; by default the first.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.

    Raises:
        ScenarioError: the scenario is not valid with one of the schemes.
        ResultsError: results cannot be written.

    """
    for scheme in schemes:
        experiment.check({SCHEME: scheme})
    laboratory = Laboratory(experiment, out, workers=workers, again=again, advance=advance)
    cases = {scheme: in_its_frames(experiment, {SCHEME: scheme}) for scheme in schemes}
    return compare_cases(laboratory, cases, seeds, against or schemes[0])


def in_its_frames(experiment: Scenario, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Scenario values with the frames that the scenario has without them.

    Stacks bring Ethernet's frames or none. What goes over the wire besides packets is no matter of the host's TCP: with
    other frames the same link would carry more, or less.
    """
    own, its = (experiment.resolved(each)["network"]["frame-overhead"] for each in ({}, values))
    return {**values, **({} if own == its or _FRAME_OVERHEAD in values else {_FRAME_OVERHEAD: own})}


def beside_scheme(experiment: Scenario, cases: Mapping[str, Mapping[str, Scalar]]) -> dict[str, dict[str, str]]:
    """The keys of ``[transport]`` in which systems differ on a scenario besides their scheme: key -> name -> value.

    Loss recovery, acknowledgements and timers differ where schemes bring a stack or values of their own, and then a
    difference between them need not be one of their congestion control. What a case sets itself is no such key, unless
    it is the stack.

    Args:
        experiment: The scenario.
        cases: Name -> scenario values, the scheme among them if it is not that of the scenario.

    """
    found: dict[str, dict[str, str]] = {}
    own = {path for values in cases.values() for path in values} - {STACK}
    for name, values in cases.items():
        rows = experiment.resolved_table(values)
        scheme = next(row["value"] for row in rows if row["path"] == SCHEME)
        for row in rows:
            path = row["path"]
            if path.startswith("transport.") and path not in own | {SCHEME} and row["scheme"] in (None, scheme):
                found.setdefault(path, {})[name] = row["value"]
    return {path: values for path, values in found.items() if len(set(values.values())) > 1}


def some_of(names: Sequence[str]) -> str:
    """Several names, or the first of many and how many more there are."""
    shown = names if len(names) <= _MAX_NAMED + 1 else [*names[:_MAX_NAMED], f"{len(names) - _MAX_NAMED} more"]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def unequal(keys: Mapping[str, Mapping[str, str]], where: str = "; --json lists the differences") -> list[str]:
    """A warning that systems differ in more than their scheme, with some of the keys of :func:`beside_scheme`."""
    if not keys:
        return []
    names = [path.removeprefix("transport.") for path in keys]
    stack = next((each for each in keys.get(STACK, {}).values() if each != _PLAIN_STACK), "")
    for_all = f"; --set {STACK}={stack} gives all the same stack" if stack else ""
    return [f"the systems differ in more than their scheme: {some_of(names)}{for_all}{where}"]


def compare_cases(
    laboratory: Laboratory, cases: Mapping[str, Mapping[str, Scalar]], seeds: list[int], against: str, what: str = ""
) -> list[Compared]:
    """As :func:`compare`, for any scenario values.

    Args:
        laboratory: What runs them.
        cases: Name -> scenario values, which must be valid.
        seeds: Seeds of every case.
        against: The name of the case with which the others are compared.
        what: What the progress says they are.

    Raises:
        ResultsError: results cannot be written.

    """
    found = dict(zip(cases, laboratory.cases([(values, seeds) for values in cases.values()], what), strict=True))
    reference = found[against].rows
    return [Compared(name, each.rows, each.failures, _estimates(each.rows, reference)) for name, each in found.items()]


def _estimates(rows: list[Row], reference: list[Row]) -> dict[str, Estimate]:
    """The metrics that all runs of a scheme have."""
    estimates = {}
    for metric in METRICS:
        own, others = _values(rows, metric), _values(reference, metric)
        if not own:
            continue
        # Seed by seed: variation between seeds that both share cancels out.
        pairs = _same_seeds(own, others)
        estimates[metric] = _estimate(_array(own.values()), *(pairs or [np.array([math.nan])] * 2))
    return estimates


BySeed = dict[int, float]
"""Seed -> value."""


def _values(rows: list[Row], metric: str) -> BySeed:
    """Values by seed; empty if any run has none."""
    values: BySeed = {row["seed"]: row[metric] for row in rows if row.get(metric) is not None}
    return values if len(values) == len(rows) else {}


def _array(values: Iterable[float]) -> Floats:
    return np.array(list(values), dtype=np.float64)


def _same_seeds(own: BySeed, others: BySeed) -> tuple[Floats, Floats] | None:
    """The values for the seeds that both have, if there are any."""
    both = [seed for seed in own if seed in others]
    return (_array(own[seed] for seed in both), _array(others[seed] for seed in both)) if both else None


def change_of(each: Compared, own: Compared, goal: Goal) -> Estimate | None:
    """A goal, and its paired difference from that of another; ``None`` if no seed is in both, or any is infinite."""
    return paired_by_seed(goal_by_seed(each, own, goal), goal_by_seed(own, own, goal))


def goal_by_seed(each: Compared, reference: Compared, goal: Goal) -> BySeed:
    """A goal with each seed."""
    return dict(zip((row["seed"] for row in each.rows), goal.values(each.rows, reference.rows), strict=True))


@dataclass(frozen=True)
class Placed:
    """A scheme's place in the ranking by a goal."""

    scheme: str
    rank: int | None
    """Its place, as :func:`ranked` says; ``None`` if that is open."""
    value: Spread
    """Mean over the seeds, with its 95 % interval."""
    is_best: bool
    behind: Estimate | None
    """How it differs from the best, seed by seed; ``None`` for the best, and where a difference has no meaning."""
    measures: dict[str, Spread]
    """The same for each measure of a weighted goal."""
    seeds: int
    margin: float = USUAL_MARGIN
    """Share of its mean below which a difference does not count."""

    @property
    def seeds_to_decide(self) -> int | None:
        """About how many seeds would tell whether it is worse than the best."""
        return None if self.behind is None else self.behind.seeds_to_decide(self.seeds, self.margin)

    @property
    def comparison(self) -> str:
        """How it compares with the best."""
        if math.isnan(self.value.mean):
            return "no value"
        if math.isinf(self.value.mean):
            return "unfinished"
        if self.is_best:
            return "best"
        if self.behind is None or math.isnan(self.behind.difference_half):
            return "too few seeds"
        if self.behind.matters(self.margin):
            return "worse" if self.rank is not None else "worse, its place among the others open"
        near = (
            f"less than {100 * self.margin:g} %" if self.behind.is_small(self.margin) else "no significant difference"
        )
        return f"tie, {near}" if self.rank == 1 else near

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        measures = {name: of.as_dict() for name, of in self.measures.items()}
        return {
            "scheme": self.scheme,
            "rank": self.rank,
            **numbers(self.value, self.behind),
            "comparison": self.comparison,
            "seeds_to_decide": self.seeds_to_decide,
            "measures": measures,
        }


def referred_to(compared: Sequence[Compared], goal: Goal, against: str) -> str | None:
    """The reference of a weighted goal's scores: the requested scheme, or else the first that has finished."""
    wanted = sorted(compared, key=lambda each: each.scheme != against)
    return next((each.scheme for each in wanted if goal.can_refer_to(each.rows)), None)


def placed(compared: Sequence[Compared], goal: Goal, against: str, margin: float = USUAL_MARGIN) -> list[Placed]:
    """Ranks the schemes that have runs: the best first, and those that did not finish after all others.

    Args:
        compared: The result of :func:`compare`.
        goal: The criterion.
        against: The reference of a weighted goal's scores, if it has finished.
        margin: Share of a mean below which a difference does not count.

    """
    rows = {each.scheme: each.rows for each in compared if each.rows}
    reference = rows.get(referred_to(compared, goal, against) or "", [])
    values = {
        scheme: dict(zip((row["seed"] for row in of), goal.values(of, reference), strict=True))
        for scheme, of in rows.items()
    }
    found = ranked(values, more=goal.more, margin=margin)
    measures = {scheme: {each.name: each.spread(of) for each in goal.measures} for scheme, of in rows.items()}
    return [
        Placed(
            each.name,
            each.rank,
            goal.spread(rows[each.name], reference),
            each is found[0],
            each.behind,
            measures[each.name],
            len(rows[each.name]),
            margin,
        )
        for each in found
    ]


class Ranked(NamedTuple):
    """One of several candidates that were run with the same seeds."""

    name: str
    rank: int | None
    """One more than the number of candidates in better places; ``None`` if the seeds leave it open."""
    value: tuple[float, float]
    """Mean over the seeds, and half of its 95 % interval."""
    behind: Estimate | None
    """How it differs from the best, seed by seed; ``None`` for the best, and where a difference has no meaning."""


def ranked(values: Mapping[str, BySeed], *, more: bool, margin: float = USUAL_MARGIN) -> list[Ranked]:
    """Ranks candidates: the best mean first, by differences seed by seed that count.

    Which differences count is not transitive: the third may differ from the first and not from the second. So places
    are those of the longest chains: a candidate's place is the next after the last one that holds a better candidate.
    Those that share a place do not differ in what counts, and ranks are counted as in a competition: 1, 1, 3.

    Args:
        values: The value of each with each seed: infinite if it did not finish, NaN if there is none.
        more: Whether more is better.
        margin: Share of a candidate's own mean below which a difference does not count.

    """
    sign = -1.0 if more else 1.0
    means = {name: mean_interval(_array(of.values())) for name, of in values.items()}
    order = sorted(values, key=lambda name: (math.isnan(means[name][0]), sign * means[name][0]))
    found: list[Ranked] = []
    places: dict[str, int] = {}
    for name in order:
        value, best = means[name], order[0]
        unfinished = math.isinf(value[0])
        away = {other: paired_by_seed(values[name], values[other]) for other in {best: 0} | places if other != name}
        better = [
            place
            for other, place in places.items()
            if ((each := away[other]) is not None and each.matters(margin) and sign * each.difference > 0)
            or (unfinished and math.isfinite(means[other][0]))
        ]
        place = 1 + max(better, default=0)
        # Open if a candidate with a better mean has a worse place.
        rank = None
        if not math.isnan(value[0]) and place >= max(places.values(), default=1):
            rank = 1 + sum(other < place for other in places.values())
            places[name] = place
        found.append(Ranked(name, rank, value, away.get(best)))
    return found


def paired_by_seed(own: BySeed, others: BySeed) -> Estimate | None:
    """Values, and how they differ from others with the same seeds; ``None`` if none is in both, or any is infinite."""
    both = _same_seeds(own, others)
    return both and paired(*both)
