"""Running many points: on all cores, once each, and in a fixed order."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from fanin.errors import RunError
from fanin.experiment import Experiment, Run, Settings, html_table, override
from fanin.scenario import Scalar, combinations
from fanin.store import Store, run_id
from fanin.summary import format_value, totals

STORED_TABLES = ("flows", "queues")
"""Tables that a sweep keeps; a single run keeps all."""

_QUICK_SEEDS = 2
_QUICK_STEP = 3


@dataclass(frozen=True)
class Point:
    """One run of a sweep: the values of the variables and a seed."""

    values: dict[str, Scalar]
    seed: int

    @property
    def overrides(self) -> Settings:
        """The point as the engine takes it."""
        settings = [(path, override(value)) for path, value in self.values.items()]
        return [*settings, ("run.seed", str(self.seed))]


@dataclass(frozen=True)
class Runs:
    """Finished runs of a sweep, in the order of its points."""

    experiment: str
    finished: list[tuple[Point, Run]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.finished)

    def __iter__(self) -> Iterator[tuple[Point, Run]]:
        return iter(self.finished)

    def frame(self) -> pl.DataFrame:
        """One row per run: the sweep's variables, the seed, the run's id and its summary."""
        rows = [
            {**point.values, "seed": point.seed, "run_id": run.run_id, **totals(run.summary)}
            for point, run in self.finished
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def flows(self) -> pl.DataFrame:
        """The flows of all runs, each with its run's variables and seed in front."""
        return self._stacked("flows")

    def queues(self) -> pl.DataFrame:
        """The queues of all runs, each with its run's variables and seed in front."""
        return self._stacked("queues")

    def _stacked(self, table: str) -> pl.DataFrame:
        frames = []
        for point, run in self.finished:
            frame = run.table(table)
            labels = [pl.lit(value).alias(name) for name, value in {**point.values, "seed": point.seed}.items()]
            frames.append(frame.select(*labels, pl.all()))
        return pl.concat(frames, how="vertical_relaxed")

    def _repr_html_(self) -> str:
        rows = [
            (
                ", ".join(f"{path} = {value}" for path, value in point.values.items()),
                str(point.seed),
                format_value("goodput_bps", run.summary.get("goodput_bps")),
            )
            for point, run in self.finished[:20]
        ]
        return html_table(f"{len(self)} runs of {self.experiment}", ("point", "seed", "goodput"), rows)


def points(experiment: Experiment, seeds: list[int] | None = None, *, quick: bool = False) -> list[Point]:
    """The sweep's points, seeds changing fastest.

    Args:
        experiment: Whose sweep.
        seeds: In place of the file's.
        quick: Two seeds, and every third value of the long numeric variables (first and last included).

    """
    chosen = seeds or experiment.seeds
    variables = experiment.variables
    if quick:
        chosen = chosen[:_QUICK_SEEDS]
        variables = {path: _thinned(values) for path, values in variables.items()}
    return [Point(values, seed) for values in combinations(variables) for seed in chosen]


def _thinned(values: list[Scalar]) -> list[Scalar]:
    if len(values) < 10 or any(isinstance(value, str | bool) for value in values):
        return values
    return list(dict.fromkeys([*values[::_QUICK_STEP], values[-1]]))


def sweep(
    experiment: Experiment,
    *,
    seeds: list[int] | None = None,
    jobs: int | None = None,
    out: Path | str | None = "results",
    quick: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Runs:
    """Runs every point of an experiment's sweep; finished points found in the store are not run again.

    Results do not depend on ``jobs`` or on the order in which runs end. On Ctrl-C the runs that have finished stay
    in the store.

    Args:
        experiment: What to run.
        seeds: In place of the file's.
        jobs: Threads; one per core if left out. The engine releases the interpreter while it simulates.
        out: Results folder; ``None`` keeps everything in memory.
        quick: A thinner sweep, for a first look.
        advance: Called once per finished run.

    Raises:
        ScenarioError: a point is not valid.
        RunError: an invariant broke in a run.
        ResultsError: results cannot be written.

    """
    todo = points(experiment, seeds, quick=quick)
    store = None if out is None else Store(out, experiment.runs_name)
    if store is not None:
        store.prepare()
    finished = run_points(experiment, todo, store, jobs=jobs, advance=advance)
    return Runs(experiment.runs_name, list(zip(todo, finished, strict=True)))


def run_points(
    experiment: Experiment,
    todo: list[Point],
    store: Store | None,
    *,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> list[Run]:
    """The runs of these points, in their order. The first run that fails stops those that have not begun."""
    stop = threading.Event()
    pool = ThreadPoolExecutor(max_workers=jobs or os.cpu_count())
    futures: list[Future[Run]] = []
    try:
        futures = [pool.submit(run_point, experiment, point, store, stop) for point in todo]
        for future in as_completed(futures):
            future.result()
            advance()
    except BaseException:
        stop.set()
        for future in futures:
            future.cancel()
        raise
    finally:
        pool.shutdown(wait=True)
    return [future.result() for future in futures]


def run_point(experiment: Experiment, point: Point, store: Store | None, stop: threading.Event) -> Run:
    """Finds a point's run in the store, or simulates and stores it."""
    if stop.is_set():
        raise RunError("stopped")
    resolved = experiment.resolved(point.overrides)
    name = run_id(resolved)
    if store is not None and (stored := store.find(name)) is not None:
        return Run(name, stored.summary, stored)
    output = experiment.simulate(point.overrides, lambda _: not stop.is_set())
    run = Run(name, json.loads(output.summary), output=output)
    if store is None:
        return run
    tables = [table for table in output.table_names if table in STORED_TABLES]
    return Run(name, run.summary, store.save(name, output, tables, resolved))
