"""``fanin capacity``: the largest fan-in at which given bounds hold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import (
    BackendOption,
    ClusterOption,
    FailedOption,
    JobsOption,
    JsonOption,
    KeepOption,
    MemoryOption,
    OutOption,
    ScenarioArgument,
    SetOption,
    keeps_of,
    number,
    overrides,
    refusing,
    schemes_of,
    seeds,
    told_later,
    workers,
)
from fanin.cli.terminal import counting, keeping, note, print_json, print_table, say, say_wrapped
from fanin.numbers.stats import CONFIDENCE, FEWEST
from fanin.scenario.format.values import Range, Scalar, parse_range, parse_values

if TYPE_CHECKING:
    from fanin.ask.capacity import Capacities
    from fanin.choose.capacity.search import Found

SchemeOption = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        autocompletion=tab_completion.schemes,
        help="Scheme, several such as dctcp,rcc, or all; by default the scenario's.",
    ),
]

OverOption = Annotated[
    str | None,
    typer.Option(
        "--over",
        metavar="PATH=FIRST..LAST",
        help="What to search; by default 2..1024 for the fan-in of the only group that has one.",
    ),
]

VaryOption = Annotated[
    str | None,
    typer.Option(
        "--vary",
        metavar="PATH=VALUES",
        help="Find a capacity for each value: a list, a range, or 50pkt..800pkt in --points steps.",
    ),
]

PointsOption = Annotated[int, typer.Option("--points", min=2, help="Values in a range of --vary without a step.")]

PrecisionOption = Annotated[
    float,
    typer.Option(
        "--precision", min=0.0, max=1.0, callback=number, help="Gap that may remain, relative to the capacity."
    ),
]

SeedsOption = Annotated[
    str | None, typer.Option("--seeds", help="Seeds such as 1..20, at least three; by default 1..10.")
]


def capacity(
    scenario: ScenarioArgument,
    scheme: SchemeOption = None,
    keep: KeepOption = None,
    over: OverOption = None,
    vary: VaryOption = None,
    points: PointsOption = 5,
    precision: PrecisionOption = 0.05,
    seeds_: SeedsOption = None,
    set_: SetOption = None,
    backend: BackendOption = None,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Find the largest fan-in at which given bounds hold, typically with fewer than 50 runs.

    The fan-in grows until the bounds break, and one step further. Then the gap is halved until it is narrow. This phase
    runs two seeds at each fan-in. The answer is run with all seeds: the whole 95 % interval of the mean must satisfy
    every bound. A warning is printed if bounds hold again above a fan-in that breaks them, or do not hold below one
    that keeps them. The output shows how many seeds break a bound, and the largest share of all seeds for which this is
    plausible (95 % confidence).

    A bound is a measure with a value, such as `timeout-ratio=1%`, `query-p99=500us` or `goodput=9Gbps`. A share such as
    `goodput=90%` is relative to the best goodput at any smaller or equal fan-in, and not to the link. The default is
    `goodput=90%` and `timeout-ratio=1%`. The ratio leaves out transfers that waited for a tail loss probe only. Beside
    other traffic, both bounds are on the group whose fan-in is searched. If its queries come by a clock, there is no
    bound on the goodput. Runs are stored, so the same command continues an interrupted search.

    OUT/capacity/NAME-HASH/ gets capacity.json and, for several schemes or values, a figure as PNG, SVG and CSV.
    Exit code 1 means that a run failed; the results up to then are shown. A failed run is retried only with --failed,
    unless it was aborted because of the machine it ran on.

    --json prints one object: {scenario, over, first, last, keep, seeds, precision, schemes, vary, runs, cases: [{case,
    capacity, sure: {confidence, seeds, breaking, share_at_most}, breaks_at, why, monotone, remarks, runs, error,
    tried}], warnings, paths}.

    **Examples**

    - `fanin capacity scenario.toml --scheme dctcp --keep goodput=90% --keep timeout-ratio=1%`
    - `fanin capacity scenario.toml --scheme all --keep query-p99=2ms`
    - `fanin capacity scenario.toml --scheme newreno,dctcp --vary network.buffer=50pkt..800pkt`
    - `fanin capacity scenario.toml --over traffic.servers.senders=8..256 --set network.rate=10Gbps --seeds 1..20
      --json`
    """
    from fanin.ask.capacity import LARGEST, refuse_unreachable, remarks_of
    from fanin.ask.capacity import capacity as ask
    from fanin.choose.capacity.find import default_bounds, fan_in_path
    from fanin.choose.capacity.search import SEEDS

    experiment = fanin.Scenario(scenario).set(overrides(set_, backend))
    experiment.check()
    path, first, last = _over(over) if over else (fan_in_path(experiment), 2, LARGEST)
    keeps = keeps_of(list(keep or default_bounds(experiment, path)), experiment)
    with refusing("--keep"):
        refuse_unreachable(keeps)
    chosen = seeds(seeds_) or SEEDS
    if len(chosen) < FEWEST:
        raise typer.BadParameter(f"at least {FEWEST} seeds are needed", param_hint="--seeds")
    varied = _vary(vary, points)
    names = () if scheme is None else schemes_of(scheme, "--scheme")
    with (
        keeping(f"finished runs are kept in {out}"),
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
        told_later(),
    ):
        found = ask(
            experiment,
            names,
            keep=keeps,
            over=(path, first, last),
            vary=varied,
            precision=precision,
            seeds=chosen,
            out=out,
            workers=pool,
            again=failed,
            progress=counter.advance,
        )
    paths = [str(each) for each in found.write(out)]
    if json:
        print_json({**found.as_dict(), "paths": paths})
    else:
        _print(found)
        for written in paths:
            say(written)
    for warning in [*found.warnings, *remarks_of(found.cases)]:
        note(f"warning: {warning}")
    _report_failures(found.cases)


def _over(text: str) -> tuple[str, int, int]:
    path, _, values = text.partition("=")
    found = _range(values, "--over")
    whole = found is not None and found.first.denominator == found.last.denominator == 1 and not found.unit
    if found is None or not whole or not 0 < found.first <= found.last:
        raise typer.BadParameter(f"{text!r} is not PATH=FIRST..LAST in whole numbers", param_hint="--over")
    return path.strip(), int(found.first), int(found.last)


def _vary(text: str | None, points: int) -> dict[str, list[Scalar]] | None:
    """The path and values of ``--vary``; a range without a step is divided by equal ratios."""
    from fanin.choose.comparison import SCHEME

    if text is None:
        return None
    path, equals, values = text.partition("=")
    if not equals or not path.strip() or path.strip() == SCHEME:
        raise typer.BadParameter(f"{text!r} is not PATH=VALUES; use --scheme to select schemes", param_hint="--vary")
    try:
        found = parse_range(values)
        several = parse_values(values) if found is None or found.step is not None else found.spaced(points)
    except ValueError as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--vary") from None
    return {path.strip(): several}


def _range(text: str, option: str) -> Range | None:
    try:
        return parse_range(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _print(answer: Capacities) -> None:
    from fanin.ask.capacity import named
    from fanin.choose.capacity.judge import in_words

    varied = answer.varied
    names = ["scheme", *([varied.rpartition(".")[2]] if varied else [])]
    header = [*names, "capacity", "seeds that break it", "breaks at", "because of", "runs"]
    body = []
    for each in answer.cases:
        capacity = "none" if each.capacity is None else str(each.capacity)
        if each.capacity == answer.asked["last"] or (each.capacity is not None and each.breaks_at is None):
            capacity = f"{capacity} or more"
        cells = [capacity, _sure(each), "-" if each.breaks_at is None else str(each.breaks_at), each.why]
        body.append([*named(each), *(["-"] * 4 if each.error else cells), str(each.runs)])
    title = answer.scenario.document.title or answer.scenario.name
    print_table(f"{title}: largest {answer.over} that keeps {in_words(answer.keeps)}", header, body)
    say_wrapped(
        f"{CONFIDENCE:.0%} confidence that no larger share of all seeds breaks a bound at the capacity".replace(
            "%", " %"
        )
    )


def _sure(each: Found) -> str:
    """The seeds that break a bound, and the largest plausible share of all seeds."""
    kept = each.kept
    if kept is None:
        return "-"
    return f"{len(kept.breaking)} of {len(kept.seeds)}: at most {math.ceil(100 * kept.share_at_most)} %"


def _report_failures(found: list[Found]) -> None:
    from fanin.ask.capacity import named

    errors = [f"{', '.join(named(each))}: {each.error}" for each in found if each.error is not None]
    for error in errors:
        note(f"error: {error}")
    if errors:
        raise typer.Exit(1)
