"""``fanin capacity``: the largest fan-in that a network stands."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

import fanin
from fanin import capacity_report
from fanin.capacity import KEEP, SEEDS, Found, fan_in_path, find
from fanin.capacity_report import SCHEME
from fanin.cli.options import (
    ClusterOption,
    JobsOption,
    JsonOption,
    KeepOption,
    OutOption,
    SetOption,
    keeps_of,
    overrides,
    place,
    schemes_of,
    seeds,
)
from fanin.cli.terminal import counting, note, print_json, print_table, say
from fanin.format.values import Range, Scalar, parse_range, parse_values
from fanin.stats import FEWEST


def capacity(
    scenario: Annotated[str, typer.Argument(help="Scenario file, or an experiment such as sdtcp/fig9.")],
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", help="Scheme, several such as dctcp,rcc, or all; the scenario's if left out."),
    ] = None,
    keep: KeepOption = None,
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            metavar="PATH=FIRST..LAST",
            help="What to search; 2..1024 of the fan-in of the one group that has any, if left out.",
        ),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            "--vary",
            metavar="PATH=VALUES",
            help="A capacity for each value: a list, a range, or 50pkt..800pkt in --points.",
        ),
    ] = None,
    points: Annotated[int, typer.Option("--points", min=2, help="Values of a range of --vary without a step.")] = 5,
    precision: Annotated[
        float, typer.Option("--precision", min=0.0, max=1.0, help="Gap to leave, as a share of the capacity.")
    ] = 0.05,
    seeds_: Annotated[
        str | None, typer.Option("--seeds", help="Seeds such as 1..10, at least three; 1..6 if left out.")
    ] = None,
    set_: SetOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Find the largest fan-in that keeps some bounds, by a search that typically takes fewer than 40 runs.

    Fan-ins grow until the bounds break, and once more; then the gap is halved until it is narrow. At each fan-in half
    of the seeds are run, and the others if those leave it open: a bound is kept or broken if the 95 % interval over
    the seeds says so, which judges a fan-in with 95 % confidence. One that stays open counts as not kept. Where bounds
    are kept again above one that breaks them, or broken below one that keeps them, that is told: fan-ins that were
    not tried may hide more of it.

    Bounds are measures with a value, such as timeout-ratio=1%, query-p99=500us or goodput=9Gbps; a share such as
    goodput=90% is of the best at any smaller fan-in. goodput=90% and timeout-ratio=1% if none is given. Runs go to
    the store, so that the same command goes on where it was interrupted.

    OUT/capacity/NAME-HASH/ gets capacity.json and, of several schemes or values, a picture as PNG, SVG and CSV.
    --json prints one object: {scenario, over, first, last, keep, seeds, precision, vary, confidence, runs, cases:
    [{case, capacity, breaks_at, why, monotone, remarks, runs, error, tried}], paths}. Exit code 1 says that a run
    failed; what was judged before is told. It would fail again and is not tried again, unless it broke off because of
    where it ran.

    **Examples**

    - `fanin capacity scenario.toml --scheme dctcp --keep goodput=90% --keep timeout-ratio=1%`
    - `fanin capacity scenario.toml --scheme all --keep query-p99=2ms`
    - `fanin capacity scenario.toml --scheme newreno,dctcp --vary network.buffer=50pkt..800pkt`
    - `fanin capacity scenario.toml --over traffic.bursts.senders=8..256 --set network.rate=10Gbps --seeds 1..10 --json`
    """
    experiment = fanin.load(scenario, overrides(set_))
    experiment.check()
    keeps = keeps_of(list(keep or KEEP), experiment)
    path, first, last = _over(over) if over else (fan_in_path(experiment), 2, 1024)
    chosen = seeds(seeds_) or SEEDS
    if len(chosen) < FEWEST:
        raise typer.BadParameter(f"an interval needs {FEWEST} seeds at least", param_hint="--seeds")
    varied, values = _vary(vary, points)
    names = [experiment.resolved()["transport"]["scheme"]] if scheme is None else schemes_of(scheme, "--scheme")
    cases: list[dict[str, Scalar]] = [
        {SCHEME: name} | ({} if varied is None else {varied: value}) for name, value in itertools.product(names, values)
    ]
    try:
        with place(cluster, jobs) as where, counting("runs") as counter:
            found = find(
                experiment,
                cases,
                keeps,
                over=path,
                first=first,
                last=last,
                seeds=chosen,
                precision=precision,
                out=out,
                place=where,
                advance=counter.advance,
            )
    except KeyboardInterrupt:
        note(f"interrupted: finished runs are kept in {out}; the same command goes on from there")
        raise typer.Exit(130) from None
    asked: dict[str, Any] = {
        "scenario": experiment.name,
        "over": path,
        "first": first,
        "last": last,
        "keep": [each.text for each in keeps],
        "seeds": chosen,
        "precision": precision,
        "schemes": names,
        "vary": None if varied is None else {varied: values},
        "confidence": 0.95,
    }
    title = experiment.document.title or experiment.name
    folder = capacity_report.folder_of(experiment, asked, out)
    paths = capacity_report.write(found, title, asked, varied, folder)
    if json:
        cases_found = [each.as_dict() for each in found]
        runs = sum(each.runs for each in found)
        print_json({**asked, "runs": runs, "cases": cases_found, "paths": [str(each) for each in paths]})
    else:
        _print(title, found, asked, varied)
        for written in paths:
            say(str(written))
    _tell(found)


def _over(text: str) -> tuple[str, int, int]:
    path, _, values = text.partition("=")
    found = _range(values, "--over")
    whole = found is not None and found.first.denominator == found.last.denominator == 1 and not found.unit
    if found is None or not whole or not 0 < found.first <= found.last:
        raise typer.BadParameter(f"{text!r} is not PATH=FIRST..LAST in whole numbers", param_hint="--over")
    return path.strip(), int(found.first), int(found.last)


def _vary(text: str | None, points: int) -> tuple[str | None, list[Scalar]]:
    """The path and values of ``--vary``; a range without a step is divided by equal ratios."""
    if text is None:
        return None, [""]
    path, equals, values = text.partition("=")
    if not equals or not path.strip() or path.strip() == SCHEME:
        raise typer.BadParameter(f"{text!r} is not PATH=VALUES; --scheme has the schemes", param_hint="--vary")
    try:
        found = parse_range(values)
        return path.strip(), parse_values(values) if found is None or found.step is not None else found.spaced(points)
    except ValueError as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--vary") from None


def _range(text: str, option: str) -> Range | None:
    try:
        return parse_range(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _print(title: str, found: list[Found], asked: dict[str, Any], varied: str | None) -> None:
    header = ["scheme", *([varied.rpartition(".")[2]] if varied else []), "capacity", "breaks at", "because of", "runs"]
    body = []
    for each in found:
        capacity = "none" if each.capacity is None else str(each.capacity)
        if each.capacity == asked["last"] or (each.capacity is not None and each.breaks_at is None):
            capacity = f"{capacity} or more"
        cells = (
            ["-"] * 3 if each.error else [capacity, "-" if each.breaks_at is None else str(each.breaks_at), each.why]
        )
        body.append([*(str(value) for value in each.case.values()), *cells, str(each.runs)])
    print_table(f"{title}: largest {asked['over']} that keeps {' and '.join(asked['keep'])}", header, body)
    say(f"each fan-in judged with 95 % confidence, over up to {len(asked['seeds'])} seeds")


def _tell(found: list[Found]) -> None:
    """Remarks, and what failed."""
    for each in found:
        name = ", ".join(map(str, each.case.values()))
        for remark in each.remarks:
            note(f"warning: {name}: {remark}")
        if each.error is not None:
            note(f"error: {name}: {each.error}")
    if any(each.error is not None for each in found):
        raise typer.Exit(1)
