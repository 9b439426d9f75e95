"""All systems on the same traffic, ranked regime by regime, from the results of ``fanin reproduce``.

An experiment can be ranked if its file has an axis of variants ``system`` and a traffic group ``queries``; a group
``background`` is optional. A regime is one combination of everything else that varies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.choose.comparison import USUAL_MARGIN, ranked
from fanin.claims import ledger
from fanin.claims.record import Record
from fanin.claims.standing import NONE, Standing
from fanin.errors import ResultsError
from fanin.later import np, pl
from fanin.numbers.stats import FEWEST, Spread, finite
from fanin.numbers.summary import CAPACITY, column, format_spread, measured, short
from fanin.results.dataset import capacity_of, spread_of
from fanin.results.frames import read_table
from fanin.scenario import sections

SYSTEM = "system"

BACKGROUND = "background"

CRITERION = "groups.queries.goodput_bps"
"""The criterion of the ranks. Rounds are barrier-synchronised, so this is work divided by the time until the last query
is complete. Unlike a completion time, it also exists for runs that end earlier."""

MEASURES = (
    CRITERION,
    "query_p50_s",
    "query_p99_s",
    "timeouts",
    "groups.background.goodput_bps",
    "groups.queries.jain",
    "queue_mean_packets",
    "queue_p99_packets",
)
"""Columns of the table of runs to show."""

_NAMES = {
    CRITERION: "query goodput",
    "query_p50_s": "query p50",
    "groups.background.goodput_bps": BACKGROUND,
}
"""Names for narrow columns that differ from the short names of the totals."""

UNFINISHED = "groups.queries.incomplete"

UNKNOWN = Spread(math.nan, math.nan, math.nan, math.nan)
"""The mean of a measure that some seed lacks."""


def shown(measure: str, found: Spread) -> str:
    """A mean over the seeds as text, in the unit of the measure's heading."""
    return NONE if math.isnan(found.mean) else format_spread(measure, found, digits=3)


@dataclass(frozen=True)
class RankedSystem:
    """One system in one regime."""

    system: str
    rank: int | None
    """As :func:`fanin.choose.comparison.ranked` says; ``None`` if undecided."""
    values: dict[str, Spread]
    share: float
    """Its query goodput relative to the best."""
    unfinished: int
    """Responses that were incomplete when the run ended, over all seeds."""
    seeds: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which knows no NaN."""
        values = {name: value.as_dict() for name, value in self.values.items()}
        return {
            "system": self.system,
            "rank": self.rank,
            "share_of_best": finite(self.share),
            "unfinished": self.unfinished,
            "seeds": self.seeds,
            "measures": values,
        }


@dataclass(frozen=True)
class Regime:
    """One combination of the axes' values, and the systems in it, the best first."""

    where: dict[str, Any]
    places: list[RankedSystem]

    @property
    def best(self) -> list[RankedSystem]:
        """The systems than which none is significantly better."""
        return [place for place in self.places if place.rank == 1]

    def of(self, system: str) -> RankedSystem:
        """A system's place."""
        return next(place for place in self.places if place.system == system)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"regime": self.where, "places": [place.as_dict() for place in self.places]}


@dataclass(frozen=True)
class Overall:
    """One system over several regimes."""

    system: str
    share: float
    """Geometric mean of its query goodput relative to the best."""
    worst: float
    first: int
    """Regimes in which no system is significantly better."""
    regimes: int
    finished: int
    """Regimes in which it completed every response, with every seed."""
    background: float
    """Goodput of the background flows, mean over the regimes; not a number if they have none."""


@dataclass(frozen=True)
class Ranking:
    """An experiment's regimes."""

    standing: Standing
    record: Record
    axes: list[str]
    """The axes that distinguish the regimes; the last is usually the number of senders."""
    systems: list[str]
    """In the order of the file; the first is the reference."""
    regimes: list[Regime]

    def values(self, axis: str) -> list[Any]:
        """The values of an axis, in their order."""
        return list(dict.fromkeys(regime.where[axis] for regime in self.regimes))

    def matching(self, axis: str, value: object) -> list[Regime]:
        """The regimes with this value."""
        return [each for each in self.regimes if each.where[axis] == value]


def read(
    out: Path | str, name: str = "cross", margin: float = USUAL_MARGIN, any_engine: bool = False
) -> tuple[list[Ranking], list[Standing]]:
    """The rankings of all experiments of a folder of experiments, or of one, that were run; and those that were not.

    Args:
        out: Results folder.
        name: Folder such as ``cross``, or experiment.
        margin: Share of a mean below which a difference does not count.
        any_engine: Results of another engine are not stale.

    Raises:
        NotFoundError: there is no experiment of that name.
        ResultsError: none was run, or none has systems to rank.

    """
    chosen = ledger.chosen(ledger.standings(out, any_engine=any_engine), name)
    found = [ranking for each in chosen if (ranking := rank_standing(each, margin))]
    missing = [each for each in chosen if each.record is None]
    if not found:
        raise ResultsError(f"{out}: nothing to rank yet; run fanin reproduce {name}")
    return found, missing


def rank_standing(standing: Standing, margin: float = USUAL_MARGIN) -> Ranking | None:
    """The ranking of an experiment; ``None`` if it was not run or compares no systems.

    Raises:
        ResultsError: its runs are damaged, or lack what is ranked.

    """
    record = standing.record
    if record is None or SYSTEM not in record.varied:
        return None
    sweep = sections.parse(record.source, record.file).sweep
    axes = [name for name in record.varied if sweep is None or name not in sweep.variables]
    if SYSTEM not in axes:
        return None
    follow = {name for names in sweep.zip_ for name in names[1:]} if sweep else set()
    variables = [name for name, values in sweep.variables.items() if len(values) > 1] if sweep else []
    axes = [axis for axis in axes if axis != SYSTEM] + [name for name in variables if name not in follow]
    frame = read_table(standing.folder / "runs.parquet")
    if missing := [name for name in (CRITERION, *axes) if name not in frame.columns]:
        raise ResultsError(f"{standing.folder}: its runs have no {missing[0]}, so they cannot be ranked")
    systems = list(dict.fromkeys(frame[SYSTEM]))
    groups = frame.partition_by(axes, as_dict=True, maintain_order=True)
    regimes = [Regime(dict(zip(axes, key, strict=True)), rank(group, margin)) for key, group in groups.items()]
    return Ranking(standing, record, axes, systems, regimes)


def rank(runs: pl.DataFrame, margin: float = USUAL_MARGIN) -> list[RankedSystem]:
    """Systems by the mean of the criterion, the best first, ranked as :func:`fanin.choose.comparison.ranked` does.

    With too few seeds for an interval the means decide.

    Args:
        runs: The runs of one regime, one row per system and seed.
        margin: Share of a mean below which a difference does not count.

    """
    every = {
        str(key[0]): group for key, group in runs.partition_by([SYSTEM], as_dict=True, maintain_order=True).items()
    }
    values = {system: {name: _value(group, name) for name in MEASURES} for system, group in every.items()}
    seeds = {
        system: dict(group.select("seed", CRITERION).fill_null(math.nan).iter_rows()) for system, group in every.items()
    }
    order = ranked(seeds, more=True, margin=margin)
    best = order[0].value[0]
    enough = all(len(of) >= FEWEST for of in seeds.values())
    return [
        RankedSystem(
            each.name,
            each.rank if enough else place,
            values[each.name],
            each.value[0] / best if best else math.nan,
            int(every[each.name][UNFINISHED].sum()) if UNFINISHED in every[each.name].columns else 0,
            len(every[each.name]),
        )
        for place, each in enumerate(order, start=1)
    ]


def _value(runs: pl.DataFrame, name: str) -> Spread:
    """Mean and interval of a column; not a number if a seed has no value, such as a percentile of no values."""
    values = runs[name] if name in runs.columns else None
    if values is None or values.null_count() or not len(values):
        return UNKNOWN
    known = runs.select(CAPACITY).iter_rows(named=True) if CAPACITY in runs.columns else ()
    return spread_of(name, np.asarray(values.cast(pl.Float64)), capacity_of(known))


def front(every: list[Overall]) -> list[Overall]:
    """The Pareto front: no other system has a larger share and leaves more to the background flows."""
    return [
        each
        for each in every
        if not any(
            other.share >= each.share and other.background >= each.background and other is not each for other in every
        )
    ]


def overall(regimes: Iterable[Regime]) -> list[Overall]:
    """Systems over several regimes, the best first."""
    every = list(regimes)
    places: dict[str, list[RankedSystem]] = {}
    for regime in every:
        for place in regime.places:
            places.setdefault(place.system, []).append(place)
    found = []
    for system, of in places.items():
        shares = np.array([place.share for place in of])
        background = [place.values["groups.background.goodput_bps"].mean for place in of]
        found.append(
            Overall(
                system,
                float(np.exp(np.log(shares).mean())) if (shares > 0).all() else 0.0,
                float(shares.min()),
                sum(place.rank == 1 for place in of),
                len(of),
                sum(not place.unfinished for place in of),
                float(np.mean(background)),
            )
        )
    return sorted(found, key=lambda each: -each.share)


def name_of(measure: str) -> str:
    """Short name of a measure."""
    return _NAMES.get(measure) or short(measure.rpartition(".")[2])


def heading(measure: str) -> str:
    """Short name and unit of a measure."""
    unit = column(measure).shown_as
    return f"{name_of(measure)} ({unit})" if unit else name_of(measure)


def definition(measure: str) -> str:
    """The definition that distinguishes a column of the table of runs from others of the same name."""
    how = column(measure)
    known = measured().get(measure)
    return f"{how.label}: {known.doc}" if known and not how.definition else how.full


def axis_name(axis: str) -> str:
    """A short name of an axis: ``senders`` for ``traffic.queries.senders``."""
    return axis.rpartition(".")[2]
