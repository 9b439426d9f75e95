"""``fanin reproduce``: figures of papers, with a verdict on each published claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import polars as pl
import typer

import fanin
from fanin import html_report
from fanin.claims import Judgement, Verdict
from fanin.cli.options import JsonOption, OutOption, seeds
from fanin.cli.terminal import counting, note, print_json, print_table, say
from fanin.errors import FaninError, ScenarioError
from fanin.experiment import Experiment
from fanin.plots import line_names
from fanin.report import Report, report
from fanin.scenario import Plot
from fanin.store import Store
from fanin.summary import column, format_number
from fanin.sweep import Runs, points, sweep


def reproduce(
    experiments: Annotated[list[str], typer.Argument(help="Experiments such as sdtcp/fig9, or scenario files.")],
    quick: Annotated[bool, typer.Option("--quick", help="Two seeds and every third point, for a first look.")] = False,
    seeds_: Annotated[str | None, typer.Option("--seeds", help="Seeds such as 1..10 or 1,2,5.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; one per core if left out.")] = None,
    out: OutOption = Path("results"),
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 unless every claim is reproduced.")] = False,
    json: JsonOption = False,
) -> None:
    """Reproduce figures of papers: run their sweeps, plot them, and judge each published claim.

    Finished runs are kept and found again, so an interrupted or repeated command goes on where it stopped. Each
    experiment leaves OUT/EXPERIMENT/runs.parquet, claims.json and, per plot, a PNG, an SVG and a CSV of what is drawn.
    OUT/report/index.html, the report of all that OUT holds, is brought up to date; `fanin claims` is its ledger.
    A verdict is: reproduced (inside the range that the experiment file fixed beforehand), direction only, or not
    reproduced. --json prints one object: {experiments: [{experiment, title, runs, claims: [{id, says, measure,
    published, value, interval, accept, verdict, reason}], plots: [{name, x, y, series}], warnings,
    paths}]}.

    **Examples**

    - `fanin reproduce sdtcp/fig9 sdtcp/fig10`
    - `fanin reproduce sdtcp/fig9 --quick --jobs 2`
    - `fanin reproduce my-sweep.toml --seeds 1..20 --out /tmp/results`
    """
    loaded = [fanin.load(name) for name in experiments]
    chosen = seeds(seeds_)
    for experiment in loaded:
        if not (experiment.variables or experiment.document.plot or experiment.document.claim):
            message = "nothing to reproduce: add [sweep], [[plot]] or [[claim]], or use 'fanin run'"
            raise ScenarioError(str(experiment.path), None, "", message)
        experiment.check()
        Store(out, experiment.name).prepare()
    try:
        swept = _sweep(loaded, chosen, jobs, out, quick)
    except KeyboardInterrupt:
        note(f"interrupted: finished runs are kept in {out}; the same command goes on from there")
        raise typer.Exit(130) from None
    if quick:
        note("a quick look: two seeds and fewer points, so the verdicts below are provisional")
    reports = [report(experiment, swept[experiment.runs_name], out, quick=quick) for experiment in loaded]
    for remark in dict.fromkeys(warning for each in reports for warning in each.warnings):
        note(f"warning: {remark}")
    if json:
        print_json({"experiments": [each.as_dict() for each in reports]})
    else:
        for each in reports:
            _print(each)
        for path in (path for each in reports for path in each.paths):
            say(str(path))
        _print_closing(reports)
    _make_page(out)
    if strict and any(judgement.verdict != "reproduced" for each in reports for judgement in each.judgements):
        raise typer.Exit(1)


def _make_page(out: Path) -> None:
    """Brings the HTML report up to date; the results of others that are damaged do not spoil this command's."""
    try:
        note(f"report: {html_report.write(out)}")
    except FaninError as error:
        note(f"warning: no report: {error}")


def _sweep(
    experiments: list[Experiment], chosen: list[int] | None, jobs: int | None, out: Path, quick: bool
) -> dict[str, Runs]:
    """The runs of each distinct sweep, under one progress bar."""
    distinct = {experiment.runs_name: experiment for experiment in experiments}
    total = sum(len(points(experiment, chosen, quick=quick)) for experiment in distinct.values())
    with counting("runs", total) as counter:
        return {
            name: sweep(experiment, seeds=chosen, jobs=jobs, out=out, quick=quick, advance=counter.advance)
            for name, experiment in distinct.items()
        }


def _print(result: Report) -> None:
    experiment = result.experiment
    document = experiment.document
    title = ": ".join(part for part in (f"{document.paper} {document.figure}".strip(), document.title) if part)
    for plot in document.plot:
        _print_plot(title or experiment.name, plot, result.series[plot.name])
    if rows := [_claim_row(judgement) for judgement in result.judgements]:
        print_table("Claims", ["claim", "published", "ours", "95 % interval", "accepted", "verdict"], rows)
    for judgement in result.judgements:
        say(f"{judgement.verdict}: {judgement.claim.id}: {judgement.claim.says}")
        say(f"    {judgement.reason}")
    say()


def _print_plot(title: str, plot: Plot, data: pl.DataFrame) -> None:
    """One row per x and one column per line: mean and half the 95 % interval."""
    how = column(plot.y)
    names = line_names(plot, data)
    lines = list(names)
    cells = {
        (x, by): format_number(mean * how.scale) + ("" if half is None else f" ± {format_number(half * how.scale, 2)}")
        for by, x, mean, half in data.select("by", "x", "mean", "half").iter_rows()
    }
    heading = f"{title}: {plot.title or how.label}" + (f" [{how.shown_as}]" if how.shown_as else "")
    rows = ([f"{x:g}", *(cells.get((x, line), "-") for line in lines)] for x in sorted(set(data["x"])))
    print_table(heading, [plot.x_label or plot.x, *(names[line] or plot.y for line in lines)], rows)


def _print_closing(reports: list[Report]) -> None:
    """What the ± is, and how many claims came out how."""
    if any(series["half"].is_not_null().any() for each in reports for series in each.series.values()):
        say("± and bands: half the 95 % interval over seeds")
    verdicts = [judgement.verdict for each in reports for judgement in each.judgements]
    if verdicts:
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in get_args(Verdict))
        say(f"claims: {counts} (reasons above)")


def _claim_row(judgement: Judgement) -> list[str]:
    show, claim = judgement.show, judgement.claim
    return [
        claim.id,
        "-" if claim.published is None else show(claim.published),
        show(judgement.value),
        judgement.span(judgement.low, judgement.high),
        judgement.span(*claim.accept),
        judgement.verdict,
    ]
