"""The data set of a sweep: one row per run, the summary over the seeds, and the failed runs.

``results/sweeps/<id>/`` is made from the rows alone, in the order of the sweep's points, and is replaced atomically:
the same sweep yields the same bytes, however often it was killed and wherever its runs were simulated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from fanin import _engine
from fanin.errors import ResultsError
from fanin.later import np, pl
from fanin.numbers.stats import Floats, Spread, finite, share_interval, spread
from fanin.numbers.summary import CAPACITY, column, format_number, is_within_capacity, most, totals
from fanin.results import columns
from fanin.results.failures import Failure
from fanin.results.layout import HEAD
from fanin.results.runs import Run, frame_of
from fanin.scenario.file import ScenarioFile
from fanin.scenario.points import Point

OF_THE_MACHINE = ("wall_s",)
"""Totals that differ each time."""


@dataclass(frozen=True)
class Head:
    """The description of a sweep."""

    id: str
    """Name of its folder."""
    title: str
    keys: list[str]
    """Columns that distinguish the points: axes of variants, and scenario values that vary."""
    seeds: list[int]
    runs: int
    engine_version: str
    axes: list[str] = field(default_factory=list)
    """The keys that are axes of variants."""
    labels: dict[str, str] = field(default_factory=dict)
    """The scenario file's declarations of its own columns."""
    wanted: list[str] = field(default_factory=list)
    """Columns to tabulate and to plot; if empty, those of ``fanin compare``, or a few of them."""


def read_head(folder: Path) -> Head:
    """The description of the sweep in a folder.

    Raises:
        ResultsError: it is missing or damaged.

    """
    path = folder / HEAD
    names = {each.name for each in fields(Head)}
    try:
        content = json.loads(path.read_bytes())
        return TypeAdapter(Head).validate_python({name: content[name] for name in names & content.keys()})
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, AttributeError):
        raise ResultsError(f"{path}: damaged (not the description of a sweep)") from None


def head(experiment: ScenarioFile, points: list[Point], wanted: list[str] | None = None) -> Head:
    """Describes a sweep; its id is a hash of what is simulated and tabulated, regardless of the engine."""
    # The better direction does not affect the data set.
    own = [each.model_dump(mode="json", exclude={"better"}) for each in experiment.columns]
    return Head(
        id=experiment.folder_name([point.row for point in points], own),
        title=experiment.document.title or experiment.name,
        keys=experiment.swept,
        seeds=sorted({point.seed for point in points}),
        runs=len(points),
        engine_version=_engine.version(),
        axes=list(experiment.labels),
        labels=columns.own_labels(experiment),
        wanted=wanted or [],
    )


Row = dict[str, Any]


def window_s(row: Row) -> float:
    """The length of a run's goodput window, over which its rates are; a time to weigh them with.

    It ends with the run, unless the last transfers of that failed to open their connections.
    """
    begin, end = (float(row[name]) for name in ("window_start_s", "simulated_s"))
    return end - begin


def row_of(experiment: ScenarioFile, point: Point, run: Run) -> Row:
    """A run as a row: varied values, seed, run id, totals and the file's own columns."""
    row: Row = {**point.row, "run_id": run.run_id, **totals(run.summary)}
    row = columns.extended(row, experiment.columns, run.table)
    return {name: value for name, value in row.items() if name not in OF_THE_MACHINE}


@dataclass(frozen=True)
class Timeouts:
    """How many queries had a timeout, over all runs of a case; of traffic without queries, how many transfers."""

    events: int
    of: int
    queries: bool
    """Whether queries are counted."""
    probes: int = 0
    """Tail loss probes of these runs, for which a sender waits as well; runs do not say in which queries."""

    @property
    def per_thousand(self) -> tuple[float, float, float]:
        """Of a thousand, with the ends of the 95 % interval: as if they were independent of each other."""
        low, high = share_interval(self.events, self.of)
        return 1000 * self.events / self.of, 1000 * low, 1000 * high

    @property
    def shown(self) -> str:
        """As text."""
        rate, low, high = (format_number(each, 2) for each in self.per_thousand)
        return f"{rate} ({low}..{high})"

    def seeds_to_decide(self, fewest: Timeouts, seeds: int) -> int | None:
        """About how many seeds would tell this rate from a lower one; ``None`` if these do, or no number would.

        The intervals are then apart. They shrink with the square root of the number of seeds, those of no timeout
        faster.
        """
        rate, low, _ = self.per_thousand
        least, _, above = fewest.per_thousand
        if rate <= least or low > above:
            return None
        return math.ceil(seeds * ((rate - low + above - least) / (rate - least)) ** 2)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rate, low, high = self.per_thousand
        what = "queries" if self.queries else "transfers"
        found = {"of": what, "count": self.of, "with_timeout": self.events, "rate": rate, "low": low, "high": high}
        return found | {"loss_probes": self.probes}


def timeouts_of(rows: Iterable[Row]) -> Timeouts | None:
    """How many queries had a timeout, over some runs; ``None`` if there is nothing to count."""
    rows = list(rows)
    if not rows or any(row.get("queries") is None for row in rows):
        return None
    if all(row["queries"] for row in rows):
        events, of, queries = _sum(rows, "queries_with_timeout"), _sum(rows, "queries"), True
    else:
        events = sum(round((row["timeout_ratio"] or 0.0) * row["flows"]) for row in rows)
        of, queries = _sum(rows, "flows"), False
    found = Timeouts(events, of, queries, _sum(rows, "loss_probes"))
    return found if found.of else None


def _sum(rows: list[Row], name: str) -> int:
    return sum(int(row[name]) for row in rows)


def spread_of(name: str, values: Floats, capacity: float) -> Spread:
    """A column's mean over seeds, with what is drawn around it.

    Args:
        name: The column, also one of a group.
        values: One of each seed.
        capacity: What no goodput of these runs can be above; not a number if that is not known.

    """
    limit = capacity if is_within_capacity(name) else most(name)
    return spread(values, math.inf if math.isnan(limit) else limit)


def capacity_of(rows: Iterable[Row]) -> float:
    """What no goodput of some runs can be above; what a program measured does not say it."""
    return max((row.get(CAPACITY) or math.inf for row in rows), default=math.inf)


def failure_of(point: Point, failure: Failure) -> Row:
    """A failed run as a row: varied values, seed, run id, error and full scenario."""
    return {**point.row, "run_id": failure.run_id, "error": failure.error, "scenario": failure.scenario}


@dataclass(frozen=True)
class DataSet:
    """The rows of a sweep, and separately those of failed runs, both in the order of its points."""

    head: Head
    rows: list[Row]
    failed: list[Row]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per finished run."""
        return frame_of(self.rows)

    def varying(self) -> list[str]:
        """The keys with several values, without those that a variant's label implies."""
        rows = [*self.rows, *self.failed]

        def cases(keys: list[str]) -> int:
            return len({tuple(str(row.get(key)) for key in keys) for row in rows})

        axes = self.head.axes
        labelled = cases(axes)
        return [key for key in self.head.keys if cases([key]) > 1 and (key in axes or cases([*axes, key]) > labelled)]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """The summary over seeds: keys, ``column unit mean half low high runs``; a row per point and numeric column.

        ``half`` is half of the 95 % interval, whose ends are ``low`` and ``high``; null with fewer than three seeds.
        Where the interval contains what cannot be, or the seeds fall into two groups, ``half`` is null, and the ends
        are quantiles of the seeds.
        """
        frame = self.frame
        keys = [key for key in self.head.keys if key in frame.columns]
        known = {*keys, "seed"}
        numbers = [name for name, kind in frame.schema.items() if kind.is_numeric() and name not in known]
        rows: list[Row] = []
        units = {name: column(name).unit for name in numbers}
        # A missing value becomes NaN.
        table = np.asarray(frame.select(pl.col(numbers).cast(pl.Float64)))
        capacities = np.asarray(frame.select(pl.col(f"^{CAPACITY}$").cast(pl.Float64)))
        for point, places in _points(frame, keys):
            # What a program measured has none.
            capacity = float(capacities[places].max()) if capacities.size else math.inf
            for name, values in zip(numbers, table[places].T, strict=True):
                known = values[~np.isnan(values)]
                if not len(known):
                    continue
                found = spread_of(name, known, capacity)
                ends = {end: finite(getattr(found, end)) for end in ("half", "low", "high")}
                about = {**point, "column": name, "unit": units[name], "mean": found.mean}
                rows.append({**about, **ends, "runs": len(known)})
        kinds = {key: frame.schema[key] for key in keys}
        texts = {"column": pl.String, "unit": pl.String}
        floats = dict.fromkeys(("mean", "half", "low", "high"), pl.Float64)
        return pl.DataFrame(rows, schema={**kinds, **texts, **floats, "runs": pl.Int64})


def _points(frame: pl.DataFrame, keys: Sequence[str]) -> Iterable[tuple[Row, list[int]]]:
    """The points in order, each with its rows."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, point in enumerate(frame.select(keys).iter_rows()) if keys else ():
        found.setdefault(point, []).append(place)
    if not keys and len(frame):
        found[()] = list(range(len(frame)))
    return [(dict(zip(keys, point, strict=True)), places) for point, places in found.items()]


def as_json(value: object) -> bytes:
    """A file's content, the same bytes for the same value."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
