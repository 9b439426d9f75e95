"""Pictures of runs: ``fanin plot``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from fanin.ask.common import stopping
from fanin.ask.sweep import sweep
from fanin.errors import FaninError, ResultsError, ScenarioWarning, WorkerError
from fanin.results.runs import Run
from fanin.results.stored_runs import Shown, ShownRuns, of_store
from fanin.run.job import Advance, Job, Watch, Workers
from fanin.run.observed import BOTTLENECK, find_moved_bottleneck
from fanin.run.pool import run_jobs
from fanin.run.scenario import Scenario
from fanin.run.sweep import Runs, sweep_all, whole
from fanin.scenario import remarks
from fanin.scenario.format.bounds import matches
from fanin.scenario.format.plot import Plot
from fanin.scenario.format.values import Scalar, expand
from fanin.scenario.library import is_shipped
from fanin.scenario.points import Point, points
from fanin.scenario.sections import nearest
from fanin.scenario.settings import Settings
from fanin.show.plots.of_runs import (
    KINDS,
    Asked,
    depends_on_length,
    drawn,
    measured_elsewhere,
    needs,
    of_a_queue,
    table_of,
    tables_of,
    until,
)
from fanin.show.plots.series import Series, means
from fanin.show.sweep_folder import MOST_LINES, plots_of

_MEASURE = "measure"
"""The kind whose lines are means over the seeds."""

Kind = Literal["queue", "goodput", "windows", "flows", "slowdown", "cdf", "measure"]

Style = Literal["page", "column", "slide"]

Drawable = Scenario | Runs | Run | Path | str | Sequence[Path | str]
"""What can be drawn: a scenario, which is run for it; runs; or runs, sweeps and experiments of a results folder."""

_Made = tuple[Point, Run, Settings]
"""A run, with its settings."""


@dataclass(frozen=True)
class Picture:
    """A picture of runs, which notebooks show."""

    plot: Plot = field(repr=False)
    series: Series = field(repr=False)
    runs: int
    """How many are drawn."""

    @property
    def lines(self) -> list[str]:
        """The names of its lines."""
        return self.series.lines

    @property
    def note(self) -> str:
        """What is said below it."""
        return self.plot.note

    def save(self, file: Path | str) -> Path:
        """Writes it as PNG, SVG or PDF, by the file's ending.

        Raises:
            ValueError: the file has another ending.
            ResultsError: it cannot be written.

        """
        from fanin.show.plots.drawing import draw_picture

        path = writable(Path(file))
        draw_picture(self.plot, self.series, path)
        return path

    def _repr_png_(self) -> bytes:
        from fanin.show.plots.drawing import picture

        return picture(self.plot, self.series, ".png")


def writable(file: Path) -> Path:
    """A file whose ending is that of a picture.

    Raises:
        ValueError: it has another.

    """
    from fanin.show.plots.drawing import PICTURES

    if file.suffix not in PICTURES:
        raise ValueError(f"{file.name!r} ends with none of {', '.join(PICTURES)}")
    return file


@dataclass(frozen=True)
class _Making:
    """How the runs of a scenario are made."""

    seeds: list[int] | None
    out: Path | str | None
    jobs: int | None
    workers: Workers | None
    advance: Advance
    moved: Callable[[str, str], None]


def _warn_of_moved(observed: str, found: str) -> None:
    warnings.warn(remarks.moved(observed, found), ScenarioWarning, stacklevel=6)


def plot(
    what: Kind,
    runs: Drawable,
    *,
    of: str | None = None,
    against: str | None = None,
    where: Mapping[str, object] | None = None,
    senders: int | None = None,
    span: tuple[float, float] | None = None,
    log: bool = False,
    title: str = "",
    style: Style = "page",
    seeds: Sequence[int] | None = None,
    out: Path | str | None = "results",
    jobs: int | None = None,
    workers: Workers | None = None,
    progress: Watch | None = None,
    moved: Callable[[str, str], None] = _warn_of_moved,
) -> Picture:
    """Draws the queue, the goodput, windows, transfers or a distribution, as ``fanin plot`` does; or a sweep's measure.

    A scenario is run with what the picture needs, once for each combination of what :meth:`Scenario.vary` was given.
    Runs are drawn as they were recorded. A ``measure`` is drawn as ``fanin sweep`` does: means over the seeds against
    what varies, with their 95 % intervals.

    Args:
        what: What to draw.
        runs: A scenario, runs, or names of runs, sweeps and experiments of a results folder.
        of: ``cdf`` and ``measure``: the column; ``slowdown``: ``homa`` or ``hpcc``; ``queue``: ``packets`` or
            ``bytes``; ``windows``: another probe.
        against: ``measure``: the key of the x axis; by default that with the most values.
        where: Draws only the runs with these values.
        senders: ``windows``: how many senders.
        span: From when to when, in seconds.
        log: Whether the axis of the values is logarithmic.
        title: The title.
        style: For a page, a column of a paper, or a slide.
        seeds: Of a scenario: its seeds; by default its own.
        out: Of a scenario: the results folder; ``None`` keeps everything in memory.
        jobs: Threads; by default one per core.
        workers: Where to run the simulations, if not on threads.
        progress: Called as runs finish; ``False`` stops.
        moved: Called with the port where incast is expected and with the bottleneck, if a queue of another port is
            drawn; by default this is a warning.

    Raises:
        ValueError: there is no such picture, or ``against`` does not vary.
        FaninError: there is no such column.
        ResultsError: a run has not recorded it (the message has the key of ``[measure]``), or there are too many lines.

    >>> fanin.plot("queue", fanin.Scenario("tour/rack").vary({"transport.scheme": ["newreno", "dctcp"]}))
    >>> fanin.plot("cdf", runs, of="slowdown", log=True, style="column").save("slowdown.pdf")
    >>> fanin.plot("measure", runs, of="query_p99_s", against="traffic.reads.senders", style="column").save("p99.pdf")

    """
    if what not in (*KINDS, _MEASURE):
        raise ValueError(f"there is no picture {what!r}: {', '.join((*KINDS, _MEASURE))}")
    asked = Asked(of, senders, log, title, span)
    if what == _MEASURE:
        if isinstance(runs, Scenario):
            runs = sweep(runs, seeds=seeds, out=out, jobs=jobs, workers=workers, progress=stopping(progress))
        return _of_measure(runs, asked, against, where or {}, style)
    if isinstance(runs, Scenario):
        made = _Making(None if seeds is None else [*seeds], out, jobs, workers, stopping(progress), moved)
        shown = _simulated(_recording(runs, what, asked, made), what, asked, made)
    else:
        shown = _shown(runs)
    chosen = shown.chosen({key: expand(value) for key, value in where.items()}) if where else shown
    about, series = drawn(what, chosen, asked)
    if not isinstance(runs, Scenario) and (remark := measured_elsewhere(what, chosen, asked)):
        warnings.warn(remark, ScenarioWarning, stacklevel=2)
    return Picture(about.model_copy(update={"style": style}), series, len(chosen.runs))


def _of_measure(
    runs: Drawable, asked: Asked, against: str | None, where: Mapping[str, object], style: Style
) -> Picture:
    """A measure of a sweep against what varies."""
    if not isinstance(runs, Runs):
        raise TypeError("a measure is drawn of a scenario that varies, or of the runs of fanin.sweep")
    wanted = {key: expand(value) for key, value in where.items()}
    made = [(point, run) for point, run in runs if matches(point.row, wanted)]
    data = replace(runs, finished=made).data
    name = asked.of or "goodput_bps"
    if name not in data.frame.columns:
        close = nearest(name, data.frame.columns)
        raise FaninError(f"the runs have no column {name!r}" + (f' (did you mean "{close}"?)' if close else ""))
    keys = data.varying()
    if against not in (None, *keys):
        raise ValueError(f"{against} does not vary in these runs; {', '.join(keys) or 'nothing'} does")
    plots = plots_of(replace(data, head=replace(data.head, wanted=[name])), against)
    if not plots:
        raise ResultsError(f"{name} has no value, nothing varies, or there are more than {MOST_LINES} lines: set where")
    about = {"style": style, "y_scale": "log" if asked.log else "linear", "title": asked.title or plots[0].title}
    plot = plots[0].model_copy(update=about)
    return Picture(plot, means(plot, data.head.labels, data.frame), len(made))


def _shown(runs: Drawable) -> ShownRuns:
    """Runs that have been made."""
    if isinstance(runs, Runs):
        found = [_as_shown(dict(point.row), run, runs.scenario.name) for point, run in runs]
        return ShownRuns(found, runs.labels)
    if isinstance(runs, Run):
        return ShownRuns([_as_shown({"seed": runs.scenario["run"]["seed"]}, runs, runs.run_id)], {})
    several = [runs] if isinstance(runs, str | Path) else cast("Sequence[Path | str]", runs)
    return of_store([Path(each) for each in several])


def _as_shown(row: dict[str, Any], run: Run, place: str) -> Shown:
    return Shown(row, run.table, dict(run.scenario), run.summary, place)


def _recording(plain: Scenario, what: Kind, asked: Asked, making: _Making) -> Scenario:
    """The scenario with what the picture needs, unless it records that in a way of its own."""
    varied: dict[str, list[Scalar]] = {path: plain.sweep.variables[path] for path in plain.given or ()}
    bare = plain.vary(varied, bare=True)
    if len(points(plain, plain.seeds[:1])) > max(1, len(points(bare, plain.seeds[:1]))):
        name = plain.name if is_shipped(plain.path) else plain.path
        said = f"[sweep] and [variant] are not drawn here: `fanin reproduce {name}` draws a [[plot]] of them"
        warnings.warn(said, ScenarioWarning, stacklevel=3)
    values, lengths = plain.resolved(), []
    if depends_on_length(what, values["measure"]):
        first = _simulated(bare, "flows", asked, making)
        lengths = [float(run.summary["simulated_s"]) for run in first.runs]
    settings = [*needs(what, asked, values["measure"], lengths), *until(lengths, values["run"]["duration"])]
    return bare.set(settings)


def _simulated(scenario: Scenario, what: Kind, asked: Asked, making: _Making) -> ShownRuns:
    """The runs of a scenario."""
    table = table_of(what, asked)
    tables = [*tables_of(what, asked), *(["queues", "links"] if of_a_queue(table) else [])]
    how: dict[str, Any] = {"out": making.out, "jobs": making.jobs, "workers": making.workers}
    seeds = making.seeds or [int(scenario.resolved()["run"]["seed"])]
    scenario.warn(swept=True)
    (every,) = sweep_all([scenario], seeds=seeds, tables=tables, advance=making.advance, **how)
    done = whole(every)
    runs: list[_Made] = [(point, run, point.overrides) for point, run in done]
    if of_a_queue(table):
        runs = _at_bottlenecks(scenario, runs, frozenset(tables), making, how)
    found = [
        Shown(dict(point.row), run.table, scenario.resolved(given), run.summary, scenario.name)
        for point, run, given in runs
    ]
    return ShownRuns(found, done.labels)


def _at_bottlenecks(
    scenario: Scenario, runs: list[_Made], tables: frozenset[str], making: _Making, how: dict[str, Any]
) -> list[_Made]:
    """The same runs, those whose bottleneck is not the observed port made once more with its queue measured."""
    moved = {
        place: ports
        for place, (_, run, given) in enumerate(runs)
        if (ports := find_moved_bottleneck(run, scenario.resolved(given), scenario.handle(given).network)) is not None
    }
    if not moved:
        return runs
    for ports in dict.fromkeys(moved.values()):
        making.moved(*ports)
    settings = {place: [*runs[place][2], (BOTTLENECK, found)] for place, (_, found) in moved.items()}
    jobs = [Job(scenario, given, tables) for given in settings.values()]
    again = run_jobs(jobs, advance=making.advance, **how)
    made = list(runs)
    for (place, given), run in zip(settings.items(), again, strict=True):
        if not isinstance(run, Run):
            raise WorkerError(run.error)
        made[place] = (runs[place][0], run, given)
    return made
