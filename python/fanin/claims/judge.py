"""Judges the cases of published claims: the number that was measured, its interval, and the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from fanin.claims.measures import POINTS, number
from fanin.claims.sentences import Judgement, Shown
from fanin.claims.verdicts import Outcome, basis_of
from fanin.errors import FaninError
from fanin.later import np, pl
from fanin.numbers.stats import FEWEST, Floats, ends, finite, mean_interval
from fanin.numbers.summary import format_plain, format_quantity, format_value, is_completion_time
from fanin.numbers.units import quantity
from fanin.results.columns import filtered
from fanin.scenario.basis import Basis
from fanin.scenario.format.base import Where
from fanin.scenario.format.bounds import Filter, matches
from fanin.scenario.format.claim import Case, Measure
from fanin.scenario.format.values import Scalar

_NAMES: dict[Measure, str] = {
    "mean": "mean",
    "mean-ratio": "mean of the ratios at each point",
    "max": "largest",
    "min": "smallest",
    "first-at-least": "first point at the level",
    "first-at-most": "first point at the level",
    "collapse-point": "collapse point",
    "first-drop": "first drop",
    "trend": "Kendall's tau (1 always rises, -1 always falls)",
    "wins": "share of points where no rival is better",
    "order": "share of pairs in the claimed order",
    "lead": "mean, over that of the best rival",
    "margin": "smallest difference to the best rival",
    "farthest": "mean, over that of the rival from which it is farthest",
}
"""Measure -> description of its number."""

_NOT_REACHED: dict[Measure, str] = {"collapse-point": "no collapse", "first-drop": "no drop"}

_RESAMPLES = 1000

_EDGE_SHARE = 0.01
"""A number that is closer to a bound, as a share of it, is at the edge."""

_Indices: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.intp]]"

_OUTCOMES_WEAKEST_FIRST: tuple[Outcome, ...] = (
    "not run",
    "not judged",
    "not reproduced",
    "right direction, other size",
    "reproduced",
)


@dataclass(frozen=True)
class Measurement:
    """The measured number of a case with all that its outcome follows from."""

    case: Case
    value: float
    """The measured number; infinite for a point that the sweep never reaches."""
    low: float
    high: float
    """95 % interval of ``value`` over the seeds."""
    outcome: Outcome
    reach: float = math.inf
    """Largest x that was measured."""
    provisional: bool = False
    """Whether this is a quick look, which may have no run for the claim."""
    label: str = ""
    """Label of the claim's y; the column's name if empty."""
    environment: str = ""
    """The environment that the experiment ran in."""
    written_for: str = ""
    """The runs that the explanation describes, if they are not the judged ones."""
    alone: Outcome | None = None
    """The outcome of this half of a sentence by itself; ``None`` for a whole sentence."""
    never_ended: str = ""
    """In how many runs how many transfers had not ended; empty if all have, or if the number is no time."""
    missing: int = 0
    """Number of the runs for the claim that are missing; then it is not judged."""
    undefined: bool = False
    """Whether other seeds might have given no number, as where neither side of a ratio has lost a packet."""
    sizeless: bool = False
    """Whether the number is infinite and the paper's is not, so that it reproduces nothing (:func:`_is_sizeless`)."""
    endless: bool = False
    """Whether it is infinite because transfers had not ended; then it has no direction either."""
    halves: tuple[Measurement, ...] = ()
    """The other halves of the sentence under the same reading; ``outcome`` is that of all together."""

    @property
    def basis(self) -> Basis:
        """The basis of the case's setting."""
        return basis_of(self.case.basis, self.case.reading, self.environment)

    @property
    def distance(self) -> float:
        """How far the number is outside the accepted range: 0 inside, towards 1 with the distance.

        The distance is relative to the nearer bound; if that is zero, to the published number, the width of the range
        or one unit: the first of these that is known and not zero. Of several halves the farthest counts.
        """
        return max(self._distance, *(half.distance for half in self.halves)) if self.halves else self._distance

    @property
    def _distance(self) -> float:
        lowest, highest = self.case.accept
        if math.isnan(self.value) or self.sizeless:
            return 1.0
        if lowest <= self.value <= highest:
            return 0.0
        gap = max(lowest - self.value, self.value - highest)
        if math.isinf(gap):
            return 1.0
        bound = lowest if self.value < lowest else highest
        published = self.case.published if isinstance(self.case.published, int | float) else 0.0
        width = highest - lowest if math.isfinite(highest - lowest) else 0.0
        scale = next((abs(each) for each in (bound, published, width) if each), 1.0)
        return gap / (gap + scale)

    @property
    def at_edge(self) -> bool:
        """Whether the number is so close to a bound of the accepted range that the outcome is in doubt.

        It is if the interval has the bound inside, or if the number is within 1 % of the bound (or of the width of the
        range, if that is less). Of several halves one is enough if all hold, and all that fail have to be if not.
        """
        if not self.halves:
            return self._at_edge
        own = (self.alone or self.outcome, self._at_edge)
        every = [own, *((half.outcome, half.at_edge) for half in self.halves)]
        failing = [edge for outcome, edge in every if outcome != "reproduced"]
        return all(failing) if failing else any(edge for _, edge in every)

    @property
    def _at_edge(self) -> bool:
        return not math.isnan(self.value) and (bool(self._doubt()) or any(map(self._is_close, self._passable)))

    @property
    def _limits(self) -> tuple[float, float]:
        """The lowest and the highest value that such a number can have."""
        case = self.case
        signed = case.minus is not None or case.measure == "margin"
        plain = case.over is None and case.minus is None and case.measure not in ("lead", "farthest", "margin")
        share = case.measure in ("wins", "order") or (plain and case.y.endswith("_ratio"))
        if case.measure == "trend":
            return -1.0, 1.0 if plain else math.inf
        return -math.inf if signed else 0.0, 1.0 if share else math.inf

    @property
    def _passable(self) -> list[float]:
        """The bounds of the accepted range that a number can be beyond."""
        return [bound for bound in self.case.accept if math.isfinite(bound) and bound not in self._limits]

    def _is_close(self, bound: float) -> bool:
        lowest, highest = self.case.accept
        scale = min((each for each in (abs(bound), highest - lowest) if 0 < each < math.inf), default=0.0)
        # The points of an axis are apart: one on the bound is inside, and no other is within 1 % of it.
        return not self._is_point and abs(self.value - bound) < _EDGE_SHARE * scale

    @property
    def shown(self) -> Shown:
        """Its numbers as text, and those of the other halves."""
        parts = [self, *self.halves]
        return Shown(
            published=" and ".join(each.published for each in parts),
            value=" and ".join("-" if each.outcome == "not judged" else each.show(each.value) for each in parts),
            interval=" and ".join(each.span(each.low, each.high) for each in parts),
            accept=" and ".join(each.span(*each.case.accept) for each in parts),
            quantity=" and ".join(each.quantity for each in parts),
        )

    @property
    def reason(self) -> str:
        """Our number, the accepted range, and the cause if the claim is not reproduced; then those of other halves."""
        others = (f"; other half, {each.case.id}, {each.outcome}: {each.reason}" for each in self.halves)
        return f"{self._reason(self.alone or self.outcome)}{''.join(others)}"

    @property
    def reason_here(self) -> str:
        """The reason, without an explanation whose numbers are those of other runs."""
        if not self.explained_elsewhere:
            return self.reason
        others = (f"; other half, {each.case.id}, {each.outcome}: {each.reason_here}" for each in self.halves)
        return f"{self._numbers()}{''.join(others)}"

    @property
    def explained_elsewhere(self) -> bool:
        """Whether the reason has an explanation whose numbers are those of other runs."""
        told = [self.alone or self.outcome, self.case.explanation, self.written_for]
        own = all(told) and told[0] not in ("not judged", "reproduced")
        return own or any(half.explained_elsewhere for half in self.halves)

    def _numbers(self) -> str:
        return f"{self._found()}; accepted {self.span(*self.case.accept)} ({self.case.why}){self._doubt()}"

    def _reason(self, outcome: Outcome) -> str:
        if self.missing:
            runs = "one of the runs" if self.missing == 1 else f"{self.missing} of the runs"
            return f"not judged: {runs} for this claim could not be made here"
        if outcome == "not judged":
            return "the quick look made no run for this claim"
        sentence = self._numbers()
        if outcome == "reproduced" or not self.case.explanation:
            return sentence
        return f"{sentence}: {self.of_other_runs}{self.case.explanation}"

    @property
    def of_other_runs(self) -> str:
        """Introduces a text of the file whose numbers are those of other runs; empty if they are those judged."""
        return f"written for {self.written_for}, not for these runs: " if self.written_for else ""

    @property
    def note(self) -> str:
        """The note of the case."""
        return f"{self.of_other_runs}{self.case.note}" if self.case.note else ""

    def _found(self) -> str:
        if math.isinf(self.value) and self._is_point:
            what = _NOT_REACHED.get(self.case.measure, "level not reached")
            return f"{what} up to {self.show(self.reach)}"
        found = self.show(self.value)
        return f"{found} ({self.never_ended})" if self.never_ended else found

    def _doubt(self) -> str:
        """A remark if other seeds could have given another outcome."""
        lowest, highest = self.case.accept
        if self.undefined:
            return "; other seeds might have given no number"
        if math.isnan(self.low) or math.isnan(self.value):
            return ""
        if lowest <= self.value <= highest:
            if _may_be_nothing(self.case, (self.low, self.high)):
                return "; the 95 % interval includes zero: other seeds might have shown nothing"
            below, above = self._limits
            crosses = self.low < lowest != below or self.high > highest != above
            return "; the 95 % interval reaches beyond the accepted range" if crosses else ""
        overlaps = self.low <= highest and self.high >= lowest
        return "; the 95 % interval reaches into the accepted range" if overlaps else ""

    @property
    def _is_point(self) -> bool:
        """Whether the number is a value of the claim's x axis."""
        return self.case.measure in POINTS and self.case.over is None and self.case.minus is None

    @property
    def published(self) -> str:
        """The paper's number with its unit, or the paper's words."""
        published = self.case.published
        return "-" if published is None else published if isinstance(published, str) else self.show(published)

    @property
    def quantity(self) -> str:
        """Description of the number: the measure, the quantity, and the runs whose number divides or is subtracted."""
        case = self.case
        name = f"{_NAMES[case.measure]}: {self.label or case.y}"
        if case.over is not None:
            return f"{name}, over that of {self._name_difference(case.over)}"
        return f"{name}, less that of {self._name_difference(case.minus)}" if case.minus is not None else name

    def _name_difference(self, other: Where) -> str:
        """The values that distinguish other runs from the claim's own."""
        differs = [name for name, values in other.items() if self.case.where.get(name) != values]
        values = [(name, value) for name in differs for value in other[name]]
        words = [value if isinstance(value, str) else format_quantity(name, value) for name, value in values]
        return ", ".join(words) or "other runs"

    def show(self, value: float) -> str:
        """A value of the claim's measure with its unit."""
        if math.isnan(value):
            return "not defined"
        if math.isinf(value):
            # Not of what has not ended: the number of a ratio to zero is many to none.
            to_none = not self.endless and (self.case.over is not None or self.case.measure in ("lead", "farthest"))
            return "never" if self.case.measure in POINTS else "many to none" if to_none else "infinite"
        return (format_quantity if self._is_point else format_value)(self._shown_as, value)

    @property
    def _shown_as(self) -> str:
        """The column whose unit the number has."""
        case = self.case
        if self._is_point:
            return case.axis
        if case.measure in ("wins", "order"):
            return "share_ratio"
        plain = case.over is not None or case.measure in ("trend", "lead", "farthest")
        return "" if plain else case.axis if case.measure in POINTS else case.y

    def span(self, low: float, high: float) -> str:
        """A range of such values."""
        if math.isnan(low) or math.isnan(high):
            return "-"
        first, last = self.show(low), self.show(high)
        if low == -math.inf:
            return f"at most {last}"
        if low == high or math.isinf(low):
            return first
        if math.isinf(high):
            return f"from {first} on, or never" if self._is_point else f"at least {first}"
        return f"{format_plain(self._shown_as, low)} to {last}"

    @property
    def judgement(self) -> Judgement:
        """What a record keeps of it."""
        lowest, highest = self.case.accept
        return Judgement(
            id=self.case.id,
            reading=self.case.reading,
            added=self.case.added,
            measure=self.case.measure,
            published=self.case.published,
            value=finite(self.value),
            interval=(finite(self.low), finite(self.high)),
            accept=(finite(lowest), finite(highest)),
            outcome=self.outcome,
            distance=self.distance,
            at_edge=self.at_edge,
            basis=self.basis,
            environment=self.environment,
            reason=self.reason,
            note=self.note,
            shown=self.shown,
        )

    def as_dict(self) -> dict[str, Any]:
        """The judgement for ``--json``, with what was measured; an infinite value is ``null``."""
        kept = asdict(self.judgement)
        kept["interval"] = ends(self.low, self.high)
        about = {"id": self.case.id, "says": self.case.says}
        about |= {key: kept[key] for key in ("reading", "added", "measure")}
        about |= {"x": self.case.axis, "y": self.case.y}
        return {**about, **{key: value for key, value in kept.items() if key not in ("experiment", "shown")}}


def judge(
    case: Case,
    runs: pl.DataFrame,
    *,
    provisional: bool = False,
    label: str = "",
    environment: str = "",
    written_for: str = "",
    missing: Iterable[Mapping[str, Scalar]] = (),
) -> Measurement:
    """Measures the claim on a table of runs (one row per run, or per run and x, with a ``seed`` column) and judges it.

    Args:
        case: What to measure.
        runs: The table.
        provisional: Whether this is a quick look, which may have no run for the claim.
        label: Label of the claim's y.
        environment: The environment that the runs were made in.
        written_for: The runs that the claim's explanation describes, if they are not these.
        missing: The values of runs that could not be made; without one of its runs a claim is not judged.

    Raises:
        FaninError: a column of the claim does not exist, or no run matches it.

    """
    sets = [case.where, *(each for each in (case.over, case.minus) if each is not None), *case.rivals]
    curves = _paired([_points(case, runs, where) for where in sets])
    lost = sum(any(_reads(case, row, where) for where in sets) for row in missing)
    if lost or any(not y.size for _, y in curves):
        if not (lost or provisional):
            raise FaninError(f"claim {case.id}: {_missing(case, runs, sets)}")
        return Measurement(
            case, math.nan, math.nan, math.nan, "not judged", math.nan, provisional, label, environment, written_for,
            missing=lost,
        )  # fmt: skip

    def value_of(rows: _Indices) -> float:
        return number(case, [(x, y[rows].mean(axis=0)) for x, y in curves])

    seeds = len(curves[0][1])
    value = value_of(np.arange(seeds))
    low, high = _interval(value, value_of, curves[0][1], plain=case.measure == "mean" and len(curves) == 1)
    undefined = seeds >= FEWEST and math.isnan(high) and not math.isnan(value)
    endless = math.isinf(value) and any(np.isinf(y).any() for _, y in curves)
    sizeless = _is_sizeless(case, value, endless=endless)
    reach = max(float(x.max()) for x, _ in curves)
    return Measurement(
        case,
        value,
        low,
        high,
        _outcome(case, value, (low, high), undefined=undefined or endless, sizeless=sizeless),
        reach,
        provisional,
        label,
        environment,
        written_for,
        never_ended=_never_ended(case, runs, sets),
        undefined=undefined,
        sizeless=sizeless,
        endless=endless,
    )


def _never_ended(case: Case, runs: pl.DataFrame, sets: Sequence[Where]) -> str:
    """In how many of the case's runs how many transfers had not ended, if that matters for its number."""
    group = f"{case.y.rpartition('.')[0]}." if case.y.startswith("groups.") else ""
    missing, ended = f"{group}incomplete", f"{group}completed"
    if case.table is not None or not {missing, ended} <= set(runs.columns) or not (runs[missing] > 0).any():
        return ""
    names = list({case.axis, case.y, missing, ended}.union(*sets))
    used = pl.concat([_chosen(case, runs[names], where) for where in sets])
    late = used.filter(pl.col(missing) > 0)
    if not is_completion_time(case.y):
        # Of a column of the experiment only an infinite value tells that it is such a time.
        late = late.filter(~pl.col(case.y).cast(pl.Float64).is_finite())
    if late.is_empty():
        return ""
    never, others = int(late[missing].sum()), int(late[ended].sum())
    return f"in {len(late)} of {len(used)} runs {never:,} of {never + others:,} transfers had not ended"


def join_halves(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The same, those of sentences with halves judged together: each reading holds as the weakest half does.

    Args:
        measurements: Those of all cases of an experiment.

    """
    return [_with_halves(each, measurements) for each in measurements]


def _with_halves(one: Measurement, measurements: Sequence[Measurement]) -> Measurement:
    case = one.case
    halves = tuple(
        each for each in measurements if (each.case.half_of, each.case.reading) == (case.claim, case.reading)
    )
    if not halves:
        return one
    outcome = min((one.outcome, *(each.outcome for each in halves)), key=_OUTCOMES_WEAKEST_FIRST.index)
    return replace(one, outcome=outcome, alone=one.outcome, halves=halves)


def _points(case: Case, runs: pl.DataFrame, where: Filter) -> pl.DataFrame:
    """The rows ``x seed y`` of a claim's curve; those of one seed and x count as their mean."""
    y = case.y.partition(".")[2] if case.table else case.y
    if runs.is_empty():
        return pl.DataFrame(schema={"x": pl.Float64, "seed": pl.Int64, "y": pl.Float64})
    for name in (case.axis, y, *where):
        if name not in runs.columns:
            raise FaninError(f"claim {case.id}: the runs have no column {name}; they have {', '.join(runs.columns)}")
    rows = _chosen(case, runs[list({case.axis, "seed", y, *where})], where)
    return pl.DataFrame(
        [rows[case.axis].cast(pl.Float64).alias("x"), rows["seed"], rows[y].cast(pl.Float64).alias("y")]
    )


def _chosen(case: Case, runs: pl.DataFrame, where: Filter) -> pl.DataFrame:
    """The rows of a claim's curve."""
    chosen = filtered(runs, where)
    if case.at is None and case.between is None:
        return chosen
    x = np.asarray(chosen[case.axis].cast(pl.Float64))
    first, last = case.between or (-math.inf, math.inf)
    on = (x >= first) & (x <= last)
    return chosen[np.flatnonzero(on & np.isin(x, case.at) if case.at is not None else on)]


def _reads(case: Case, row: Mapping[str, Scalar], where: Filter) -> bool:
    """Whether a run with these values would be on a claim's curve."""
    x = quantity(row.get(case.axis))
    first, last = case.between or (-math.inf, math.inf)
    return matches(row, where) and (x is None or ((case.at is None or x[0] in case.at) and first <= x[0] <= last))


def _paired(curves: list[pl.DataFrame]) -> list[tuple[Floats, Floats]]:
    """For each curve sorted x, and y with one row per seed and one column per x.

    Row n is the same seed in every curve: only seeds that all of them have are kept, in ascending order. A point that
    lacks one of these seeds is left out.
    """
    seeds = sorted(set.intersection(*(set(curve["seed"].to_list()) for curve in curves)))
    return [_by_seed(curve, seeds) for curve in curves]


def _by_seed(points: pl.DataFrame, seeds: list[int]) -> tuple[Floats, Floats]:
    """Sorted x, and y with one row per seed; by NumPy, as queries of a frame cost many small curves more."""
    if any(column.null_count() for column in points.iter_columns()):
        points = points.drop_nulls()
    used = np.isin(np.asarray(points["seed"]), seeds)
    x, columns = np.unique(np.asarray(points["x"])[used], return_inverse=True)
    cells = np.searchsorted(seeds, np.asarray(points["seed"])[used]) * len(x) + columns
    shape = (len(seeds), len(x))
    counts = np.bincount(cells, minlength=len(seeds) * len(x)).reshape(shape)
    sums = np.bincount(cells, weights=np.asarray(points["y"])[used], minlength=len(seeds) * len(x)).reshape(shape)
    whole = counts.all(axis=0)
    return x[whole], sums[:, whole] / counts[:, whole]


def _missing(case: Case, runs: pl.DataFrame, sets: list[Where]) -> str:
    """Why a claim cannot be measured."""
    at = f"at {case.at or 'any ' + case.axis}"
    points = [_points(case, runs, where).drop_nulls() for where in sets]
    for where, of in zip(sets, points, strict=True):
        if of.is_empty():
            wanted = ", ".join(f"{key} = {' or '.join(map(str, values))}" for key, values in where.items())
            return f"no run has {wanted} {at}" if wanted else f"there is no run {at}"
    if not set.intersection(*(set(of["seed"]) for of in points)):
        return f"the runs that it compares have no seed in common {at}"
    return f"no point has a value with every seed {at}"


def _interval(value: float, value_of: Callable[[_Indices], float], own: Floats, *, plain: bool) -> tuple[float, float]:
    """The 95 % interval of a number, of which a plain one is the mean of its own curve."""
    if plain and math.isfinite(value):
        half = mean_interval(own.mean(axis=1))[1]
        # Of what is never negative, and mostly zero, no symmetric interval tells whether there is any.
        if not (value - half <= 0 and own.min() >= 0):
            return value - half, value + half
    return _bootstrap(value_of, len(own))


def _bootstrap(value_of: Callable[[_Indices], float], seeds: int) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the number, resampling the seeds with replacement."""
    if seeds < FEWEST:
        return math.nan, math.nan
    generator = np.random.Generator(np.random.PCG64(1))
    draws = generator.integers(0, seeds, size=(_RESAMPLES, seeds))
    values = np.sort([value_of(draw) for draw in draws])
    return float(values[int(0.025 * _RESAMPLES)]), float(values[int(0.975 * _RESAMPLES) - 1])


def _is_sizeless(case: Case, value: float, *, endless: bool) -> bool:
    """Whether a number is infinite and the paper's is not, so that it has no size.

    A point that is never reached is what a paper says in words, and so is a number of many over none.

    Args:
        case: The case.
        value: Its number.
        endless: Whether any value of its curves is infinite, as what never ended.

    """
    if not math.isinf(value) or isinstance(case.published, int | float):
        return math.isinf(value)
    if case.measure in POINTS:
        return case.over is not None or case.minus is not None
    return endless


def _outcome(case: Case, value: float, interval: tuple[float, float], *, undefined: bool, sizeless: bool) -> Outcome:
    if case.accept[0] <= value <= case.accept[1] and not _may_be_nothing(case, interval) and not sizeless:
        return "reproduced"
    # The whole interval counts: an effect that other seeds might not show has no direction.
    spread = [value, *(end for end in interval if not math.isnan(end))]
    within = case.direction is not None and case.direction[0] <= min(spread) and max(spread) <= case.direction[1]
    return "right direction, other size" if within and not undefined else "not reproduced"


def _may_be_nothing(case: Case, interval: tuple[float, float]) -> bool:
    """Whether the interval includes zero, and the accepted range does not.

    A mean of nine runs without a loss and one with many is no loss rate. A share of points or pairs may be zero.
    """
    return case.measure not in ("wins", "order") and not _includes_zero(case.accept) and _includes_zero(interval)


def _includes_zero(span: tuple[float, float]) -> bool:
    return span[0] <= 0 <= span[1]
