"""``fanin plot``: pictures of runs."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import fanin
from fanin.cli.options import (
    BackendOption,
    GridOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    OutOption,
    grid,
    memory_of,
    overrides,
    seeds,
)
from fanin.cli.terminal import counting, keeping, note, note_moved, print_json, say
from fanin.errors import WorkerError

if TYPE_CHECKING:
    from fanin.results.runs import Run
    from fanin.results.stored_runs import ShownRuns
    from fanin.run.job import Advance
    from fanin.run.scenario import Scenario
    from fanin.scenario.format.values import Scalar
    from fanin.scenario.points import Point
    from fanin.scenario.settings import Settings
    from fanin.show.plots.of_runs import Asked

    _Made = tuple[Point, Run, Settings]
    """A run, with its settings."""


class What(StrEnum):
    """What is drawn."""

    QUEUE = "queue"
    GOODPUT = "goodput"
    WINDOWS = "windows"
    FLOWS = "flows"
    SLOWDOWN = "slowdown"
    CDF = "cdf"


def plot(
    what: Annotated[What, typer.Argument(help="What to draw.")],
    runs_: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS...", help="A scenario to run, or runs, sweeps and experiments of a results folder."
        ),
    ],
    file: Annotated[
        Path | None, typer.Option("--file", help="Picture to write: .png, .svg or .pdf; by default plots/WHAT.png.")
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--of",
            metavar="COLUMN",
            help="cdf: fct, slowdown, goodput, query, or any column as table.column; slowdown: homa or hpcc; queue: "
            "packets or bytes; windows: another probe, such as ssthresh.",
        ),
    ] = None,
    set_: GridOption = None,
    backend: BackendOption = None,
    seeds_: Annotated[
        str | None, typer.Option("--seeds", help="Seeds such as 1..5; by default the scenario's own.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="KEY=VALUES", help="Draw only the runs with these values; may be repeated."),
    ] = None,
    senders: Annotated[
        int | None, typer.Option("--senders", min=1, help="windows: how many senders to show; by default 4.")
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Draw from this simulated time on, such as 1ms.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Draw up to this simulated time, such as 5ms.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="A logarithmic axis of the values.")] = False,
    title: Annotated[str, typer.Option("--title", help="The title.")] = "",
    style: Annotated[
        Literal["page", "column", "slide"],
        typer.Option(
            "--style",
            help="The size: page, column of a paper (3.33 inches, 8 points) or slide. For a column, title and "
            "definitions go into a caption beside the picture, .txt.",
        ),
    ] = "page",
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Draw the queue, the goodput, windows, transfers or a distribution of any run or sweep: PNG, SVG, PDF.

    RUNS is a scenario, or runs, sweeps and experiments of a results folder. A scenario is run with what the picture
    needs, and each combination of the values of --set is a line. Stored runs are drawn as they were recorded. Lines are
    called after what distinguishes the runs.

    `queue` is the backlog of the bottleneck over time, with its buffer. The bottleneck is the port that --set
    measure.bottleneck names, or else the port that the run found. If that is not the port where incast is expected, the
    scenario runs once more. `goodput` is the goodput of all traffic, with the rate of the receivers' links. `windows`
    shows the congestion windows of some senders. `flows` shows each transfer from its start to its end, and a thin line
    where it waited for a retransmission timer. `slowdown` is the slowdown of flows by their size: p50, p95 and p99 over
    all seeds, with --of homa or hpcc. `cdf` is the distribution of a column over all seeds. Lines at the buffer or the
    rate are drawn where they are in reach of the values. `windows` takes a sender of each traffic group in turn, first
    the one with the most timeouts. Each sender is shown with all of its connections one after the other. `goodput` and
    `windows` run a scenario twice. The first run finds how long the scenario takes, and so which bins fit.

    --json prints one object: {file, lines, runs}.

    **Examples**

    - `fanin plot queue scenario.toml --set transport.scheme=newreno,dctcp`
    - `fanin plot queue scenario.toml --from 0s --to 2ms`
    - `fanin plot windows scenario.toml --senders 2 --file windows.pdf`
    - `fanin plot cdf scenario.toml --of slowdown --seeds 1..3 --log --file slowdown.svg`
    - `fanin plot slowdown scenario.toml --set transport.scheme=linux,linux-dctcp --log --style column`
    - `fanin plot flows results/0123456789abcdef`
    """
    from fanin.results.stored_runs import of_store
    from fanin.show.plots.drawing import PICTURES, draw_picture
    from fanin.show.plots.of_runs import Asked, drawn, measured_elsewhere

    picture = file or out / "plots" / f"{what.value}.png"
    if picture.suffix not in PICTURES:
        raise typer.BadParameter(f"{picture.name!r} ends with none of {', '.join(PICTURES)}", param_hint="--file")
    if senders is not None and what is not What.WINDOWS:
        raise typer.BadParameter(f"{what.value} shows no senders, windows does", param_hint="--senders")
    asked = Asked(of, senders, log, title, _span(what, begin, end))
    if not _is_scenario(runs_[0]):
        if set_ or backend or seeds_:
            raise typer.BadParameter("stored runs are drawn as they are; name a scenario to run it", param_hint="--set")
        runs = of_store([Path(name) for name in runs_])
    elif len(runs_) > 1:
        raise typer.BadParameter("name one scenario, and what varies with --set", param_hint="RUNS")
    else:
        pool = Pool(seeds(seeds_), jobs, memory, out)
        runs = _simulated(_recording(runs_[0], grid(set_, backend), what, asked, pool), what, asked, pool)
    chosen = runs.chosen(_where(where)) if where else runs
    about, series = drawn(what.value, chosen, asked)
    if not _is_scenario(runs_[0]) and (remark := measured_elsewhere(what.value, chosen, asked)):
        note(f"warning: {remark}")
    draw_picture(about.model_copy(update={"style": style}), series, picture)
    if json:
        print_json({"file": str(picture), "lines": series.lines, "runs": len(chosen.runs)})
        return
    say(str(picture))
    if about.note:
        note(about.note)


def _span(what: What, begin: str | None, end: str | None) -> tuple[float, float] | None:
    """The part of the time that is drawn, in seconds."""
    from fanin.numbers.units import quantity

    def time(text: str, option: str) -> float:
        found = quantity(text)
        if found is None or found[1] != "s":
            raise typer.BadParameter(f"{text!r} is not a time such as 2ms", param_hint=option)
        return found[0]

    if begin is None and end is None:
        return None
    if what is What.CDF:
        raise typer.BadParameter("a distribution has no axis of time", param_hint="--from, --to")
    span = time(begin or "0s", "--from"), math.inf if end is None else time(end, "--to")
    if span[0] >= span[1]:
        raise typer.BadParameter("--from is not before --to", param_hint="--from, --to")
    return span


def _where(texts: list[str]) -> dict[str, list[Scalar]]:
    from fanin.scenario.format.values import parse_values

    return {path: parse_values(values) for path, values in overrides(texts)}


@dataclass(frozen=True)
class Pool:
    """With which seeds a scenario runs, on what, and where results are kept."""

    seeds: list[int] | None
    jobs: int | None
    memory: str | None
    out: Path


def _is_scenario(name: str) -> bool:
    from fanin.results.tables import names_run

    return name.endswith(".toml") or not (Path(name).exists() or names_run(Path(name)))


def _recording(name: str, varied: dict[str, list[Scalar]], what: What, asked: Asked, pool: Pool) -> Scenario:
    """The scenario with what the picture needs, unless it records that in a way of its own."""
    from fanin.scenario.points import points
    from fanin.show.plots.of_runs import depends_on_length, needs, until

    plain = fanin.Scenario(name)
    if len(points(plain, plain.seeds[:1])) > 1:
        note(f"warning: [sweep] and [variant] are not drawn here: `fanin reproduce {name}` draws a [[plot]] of them")
    values, lengths = plain.resolved(), []
    if depends_on_length(what.value, values["measure"]):
        first = _simulated(plain.vary(varied, bare=True), What.FLOWS, asked, pool)
        lengths = [float(run.summary["simulated_s"]) for run in first.runs]
    settings = [*needs(what.value, asked, values["measure"], lengths), *until(lengths, values["run"]["duration"])]
    return fanin.Scenario(name).set(settings).vary(varied, bare=True)


def _simulated(experiment: Scenario, what: What, asked: Asked, pool: Pool) -> ShownRuns:
    """The runs of a scenario, each in the store."""
    from fanin.results.stored_runs import Shown, ShownRuns
    from fanin.show.plots.of_runs import of_a_queue, table_of, tables_of

    table = table_of(what.value, asked)
    tables = [*tables_of(what.value, asked), *(["queues", "links"] if of_a_queue(table) else [])]
    with keeping(f"finished runs are kept in {pool.out}"), counting("runs") as counter:
        done = fanin.sweep(
            experiment,
            seeds=pool.seeds or [int(experiment.resolved()["run"]["seed"])],
            jobs=pool.jobs,
            memory=memory_of(pool.memory),
            out=pool.out,
            tables=tables,
            advance=counter.advance,
        )
        runs = [(point, run, point.overrides) for point, run in done]
        if of_a_queue(table):
            runs = _at_bottlenecks(experiment, runs, frozenset(tables), pool, counter.advance)
    found = [
        Shown(dict(point.row), run.table, experiment.resolved(given), run.summary, experiment.name)
        for point, run, given in runs
    ]
    return ShownRuns(found, done.labels)


def _at_bottlenecks(
    experiment: Scenario, runs: list[_Made], tables: frozenset[str], pool: Pool, advance: Advance
) -> list[_Made]:
    """The same runs, those whose bottleneck is not the observed port made once more with its queue measured."""
    from fanin.results.runs import Run
    from fanin.run.job import Job
    from fanin.run.observed import BOTTLENECK, find_moved_bottleneck
    from fanin.run.pool import run_jobs
    from fanin.run.threads import Threads

    moved = {
        place: ports
        for place, (_, run, given) in enumerate(runs)
        if (ports := find_moved_bottleneck(run, experiment.resolved(given), experiment.handle(given).network))
        is not None
    }
    if not moved:
        return runs
    for ports in dict.fromkeys(moved.values()):
        note_moved(*ports)
    settings = {place: [*runs[place][2], (BOTTLENECK, found)] for place, (_, found) in moved.items()}
    with closing(Threads(pool.jobs, memory_of(pool.memory))) as threads:
        jobs = [Job(experiment, given, tables) for given in settings.values()]
        again = run_jobs(jobs, pool.out, workers=threads, advance=advance)
    made = list(runs)
    for (place, given), run in zip(settings.items(), again, strict=True):
        if not isinstance(run, Run):
            raise WorkerError(run.error)
        made[place] = (runs[place][0], run, given)
    return made
