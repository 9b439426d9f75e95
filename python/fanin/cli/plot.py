"""``fanin plot``: pictures of runs."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    overrides,
    refusing,
    seeds,
    workers,
)
from fanin.cli.terminal import counting, keeping, note, note_moved, print_json, say

if TYPE_CHECKING:
    from fanin.scenario.format.values import Scalar


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
    from fanin.ask.picture import plot as draw
    from fanin.ask.picture import writable

    picture = file or out / "plots" / f"{what.value}.png"
    with refusing("--file"):
        writable(picture)
    if senders is not None and what is not What.WINDOWS:
        raise typer.BadParameter(f"{what.value} shows no senders, windows does", param_hint="--senders")
    asked: dict[str, Any] = {"of": of, "senders": senders, "log": log, "title": title, "style": style}
    asked |= {"span": _span(what, begin, end), "where": _where(where)}
    if not _is_scenario(runs_[0]):
        if set_ or backend or seeds_:
            raise typer.BadParameter("stored runs are drawn as they are; name a scenario to run it", param_hint="--set")
        drawn = draw(what.value, [Path(name) for name in runs_], **asked)
    elif len(runs_) > 1:
        raise typer.BadParameter("name one scenario, and what varies with --set", param_hint="RUNS")
    else:
        scenario, some = fanin.Scenario(runs_[0]).vary(grid(set_, backend)), seeds(seeds_)
        with (
            keeping(f"finished runs are kept in {out}"),
            workers(None, jobs, memory) as pool,
            counting("runs") as counter,
        ):
            how: dict[str, Any] = {"out": out, "workers": pool, "progress": counter.advance, "moved": note_moved}
            drawn = draw(what.value, scenario, **asked, seeds=some, **how)
    drawn.save(picture)
    if json:
        print_json({"file": str(picture), "lines": drawn.lines, "runs": drawn.runs})
        return
    say(str(picture))
    if drawn.note:
        note(drawn.note)


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


def _where(texts: list[str] | None) -> dict[str, list[Scalar]]:
    from fanin.scenario.format.values import parse_values

    return {path: parse_values(values) for path, values in overrides(texts)}


def _is_scenario(name: str) -> bool:
    from fanin.results.tables import names_run

    return name.endswith(".toml") or not (Path(name).exists() or names_run(Path(name)))
