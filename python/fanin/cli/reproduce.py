"""``fanin reproduce``: simulates figures of papers and judges the published claims."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.claims import sentences
from fanin.claims.verdicts import EDGE, explained
from fanin.cli import tab_completion
from fanin.cli.options import JobsOption, JsonOption, MemoryOption, OutOption, SetOption, memory_of, overrides, seeds
from fanin.cli.terminal import (
    agrees,
    counting,
    keeping,
    note,
    print_json,
    print_table,
    reading,
    say,
    say_trials,
    say_wrapped,
)
from fanin.errors import FaninError, ScenarioError
from fanin.later import pl
from fanin.numbers.summary import format_number
from fanin.results.layout import CLAIMS, apart, together

if TYPE_CHECKING:
    from fanin.claims.judge import Measurement
    from fanin.run.scenario import Scenario
    from fanin.run.sweep import Runs
    from fanin.scenario.format.plot import Plot
    from fanin.scenario.settings import Settings
    from fanin.show.plots.series import Series
    from fanin.show.reproduction import Reproduction

_MOST_ROWS = 40
"""Tables with more rows are not printed."""

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""The quantiles that are printed of a distribution."""

_MAX_SHOWN_BESIDE_PAPERS = 3
"""Of more experiments, the numbers beside those of the papers are too many to read at the end."""


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=tab_completion.experiments,
            help="Experiments such as sdtcp/fig9, papers such as sdtcp, or scenario files.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every experiment of every paper.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A quick look: one seed, few points.")] = False,
    png: Annotated[bool, typer.Option("--png", help="Draw a PNG beside each SVG.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Draw a PDF beside each SVG, for a paper.")] = False,
    seeds_: Annotated[str | None, typer.Option("--seeds", help="Seeds such as 1..10 or 1,2,5.")] = None,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    out: OutOption = Path("results"),
    environment: Annotated[
        str | None,
        typer.Option(
            "--environment",
            autocompletion=tab_completion.environments,
            help="Run in this environment, such as qualnet, in place of the one that the files name.",
        ),
    ] = None,
    set_: SetOption = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Let a file of yours start the program of its `benchmark` without asking.")
    ] = False,
    details: Annotated[
        bool,
        typer.Option("--details", help="Also print the numbers of each figure and of each case of a claim."),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 unless every case is reproduced.")] = False,
    json: JsonOption = False,
) -> None:
    """Reproduce figures of papers: run their sweeps, plot the results, and judge each published claim.

    Finished runs are stored and reused, so an interrupted or repeated command continues where it stopped. With --quick,
    experiments that already have a full run are skipped.

    Each experiment writes OUT/EXPERIMENT/runs.parquet, claims.json and, for each plot, an SVG, a CSV of its data and,
    with --png or --pdf, that picture. A plot whose data and description are as before is not drawn again. The command
    also updates OUT/report/index.html, the report of everything in OUT; `fanin claims` prints the verdicts.

    A claim that can be read in several ways is judged under each reading. Each of these cases is "reproduced", "right
    direction, other size" or "not reproduced". Reproduced means that our number is in the accepted range, which the
    experiment file fixed beforehand. The verdict on the claim follows from its cases. The closing lines explain the
    words of verdicts.

    --environment and --set change every system of every figure, except where a line of the figure sets the same key.
    Such results are kept apart, in OUT/changed, and do not count as verdicts on the paper. What they reproduce is
    "under a condition", which is these values. Explanations that were written for other seeds or values are not
    printed. The closing lines say where to find them.

    The command prints the verdict on each claim, the number of each verdict, where the figures and tables are, and what
    to do next. With --details it also prints the numbers of each figure and of each case of a claim.

    --json prints one object: {experiments: [{experiment, title, runs, claims: [{id, says, verdict, reading, added,
    measure, x, y, published, value, interval, accept, outcome, distance, at_edge, basis, environment, reason, note,
    cases}], plots: [{name, kind, x, y, series}], warnings, paths}], kept, missing: [{experiment, run, error}]}. `cases`
    has an entry for each case of a claim, and the numbers beside it are those of the main case. `kept` lists the
    experiments that --quick skipped because they already have a full run. `missing` lists the runs that could not be
    made here, with their values: a run may not fit in memory, for example. A claim that needs a missing run is not
    judged, and the command exits with 1.

    **Examples**

    - `fanin reproduce sdtcp/fig9 sdtcp/fig10`
    - `fanin reproduce pfdct --quick --jobs 2`, all experiments of one paper
    - `fanin reproduce --all`
    - `fanin reproduce my-sweep.toml --seeds 1..20 --out /tmp/results`
    - `fanin reproduce dtcwa --environment rfc --seeds 1..3`
    - `fanin reproduce dtcwa/fig6 --set transport.rto-min=200ms`
    """
    from fanin.claims import assessment
    from fanin.claims.standing import date
    from fanin.run.sweep import sweep_all
    from fanin.scenario import library
    from fanin.show.reproduction import folder_of

    changes = [("environment", environment)] if environment is not None else []
    changes += overrides(set_)
    loaded = [fanin.Scenario(name).set(changes) for name in library.chosen(experiments or [], every)]
    out = apart(out, changes)
    chosen, room = seeds(seeds_), memory_of(memory)
    for experiment in loaded:
        if not (experiment.has_runs or experiment.document.plot):
            message = "nothing to reproduce: add [sweep], [[plot]] or [[claim]], or use 'fanin run'"
            raise ScenarioError(str(experiment.path), None, "", message)
        experiment.check()
        folder_of(experiment, out)
        for remark in _unchanged(experiment):
            note(f"{experiment.name}: {remark}")
    kept = assessment.read_complete(loaded, out) if quick else {}
    for name, found in kept.items():
        full = f"already has a full run ({found.work.runs} runs, {date(found.work.last)})"
        note(f"{name}: {full}; --quick skips it")
    loaded = [each for each in loaded if each.name not in kept]
    _consent(loaded, trust=trust)
    earlier = {each.name: _earlier(each, out) for each in loaded if each.document.benchmark is not None}
    with keeping(f"finished runs are kept in {out}"), counting("runs") as counter:
        swept = sweep_all(
            loaded, seeds=chosen, jobs=jobs, memory=room, out=out, quick=quick, trust=True, advance=counter.advance
        )
    for name, when in earlier.items():
        before = f"again, replacing the measurements of {when}" if when else "for the first time"
        note(f"{name}: measured on this machine {before}")
    if quick and loaded:
        note("quick look with fewer seeds and points: the verdicts below are provisional")
    with keeping(f"all runs are kept in {out}"):
        also = [name for name, asked in (("png", png), ("pdf", pdf)) if asked]
        drawn = _draw([runs for runs in swept if not _is_lost(runs)], out, jobs, quick=quick, also=also)
        missing = _missing(swept)
        _warn(drawn)
        for each in drawn:
            if each.removed:
                note(
                    f"{each.experiment.name}: removed what no figure of its file is any more: {', '.join(each.removed)}"
                )
        if json:
            print_json({"experiments": [each.as_dict() for each in drawn], "kept": list(kept), "missing": missing})
        else:
            given = _Given(experiments or ["--all"], seeds_, out, changes, quick=quick, details=details)
            _show(drawn, given)
        _make_page(out)
    _tell_missing(swept)
    outcomes: set[str] = {measured.outcome for each in drawn for measured in each.measurements}
    outcomes |= {case.outcome for each in kept.values() for case in each.cases}
    if missing or (strict and outcomes != {"reproduced"}):
        raise typer.Exit(1)


def _consent(experiments: list[Scenario], *, trust: bool) -> None:
    """Asks before a file that fanin does not ship starts a program; without a terminal it refuses.

    Raises:
        ScenarioError: there is nobody to ask.

    """
    from fanin.run.benchmark import asks_for_trust, refuse_untrusted

    for experiment in experiments:
        command = asks_for_trust(experiment)
        if not command or trust:
            continue
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            refuse_untrusted([experiment])
        if not agrees(f"{experiment.path} starts a program: {command}\nStart it?"):
            raise typer.Abort


def _unchanged(experiment: Scenario) -> list[str]:
    """Remarks on lines of an experiment whose own values override ``--set``."""
    found = []
    for path, _ in experiment.overrides:
        lines = [line.label for line in experiment.variants if path in line.set_]
        lines += ["[sweep]"] if path in experiment.sweep.variables else []
        if lines:
            found.append(f"{path} keeps its value in {'; '.join(lines)}")
    return found


def _draw(swept: list[Runs], out: Path, jobs: int | None, *, quick: bool, also: Sequence[str]) -> list[Reproduction]:
    """Judges and plots the experiments, which takes a while for some."""
    from fanin.run.job import Progress
    from fanin.show.reproduction import judge_and_draw_all

    figures = sum(len(runs.scenario.document.plot) for runs in swept)
    if figures:
        note(f"all runs are done; judging and drawing {figures} figure{'s' if figures > 1 else ''}")
    with counting("experiments drawn") as counter:

        def advance(done: int) -> None:
            if len(swept) > 1:
                counter.advance(Progress(done, len(swept)))

        return judge_and_draw_all(swept, out, jobs=jobs, quick=quick, also=also, advance=advance)


def _is_lost(runs: Runs) -> bool:
    """Whether none of an experiment's runs could be made, so that there is nothing to judge."""
    return bool(runs.missing) and not runs.finished


def _missing(swept: list[Runs]) -> list[dict[str, Any]]:
    """The runs that could not be made here, for ``--json``."""
    return [
        {"experiment": runs.scenario.name, "run": point.row, "error": broken.error}
        for runs in swept
        for point, broken in runs.missing
    ]


def _tell_missing(swept: list[Runs]) -> None:
    """Says how many runs are missing, and which are of the experiments that have no others; others' are warnings."""
    for runs in swept:
        for remark in runs.without() if _is_lost(runs) else []:
            note(f"error: {runs.scenario.name}: {remark}")
    missing, made = sum(len(runs.missing) for runs in swept), sum(map(len, swept))
    if missing:
        note(f"error: {missing} of {missing + made} runs could not be made; the same command tries them again")


def _warn(drawn: list[Reproduction]) -> None:
    remarks: dict[str, list[str]] = {}
    for each in drawn:
        for warning in each.warnings:
            remarks.setdefault(warning, []).append(each.experiment.name)
    for remark, names in remarks.items():
        note(f"warning: {', '.join(names)}: {remark}")


@dataclass(frozen=True)
class _Given:
    """What the command was given, for the commands that it suggests."""

    experiments: list[str]
    seeds: str | None
    out: Path
    changes: Settings
    quick: bool
    details: bool

    def command(self, *, whole: bool = False) -> str:
        """The same command, or with all seeds and points."""
        options = [
            f"--environment {shlex.quote(value)}"
            if path == "environment"
            else f"--set {shlex.quote(f'{path}={value}')}"
            for path, value in self.changes
        ]
        options += [f"--seeds {self.seeds}"] if self.seeds and not whole else []
        options += ["--quick"] if self.quick and not whole else []
        return " ".join(["fanin reproduce", *map(shlex.quote, self.experiments), *options, *self.place])

    @property
    def place(self) -> list[str]:
        """The option for the results folder, unless it is the usual one."""
        out = together(self.out)
        return [] if out == Path("results") else [f"--out {shlex.quote(str(out))}"]


def _show(drawn: list[Reproduction], given: _Given) -> None:
    """Prints the verdicts, their number, where the files are, and what to do next; before these, details on demand."""
    for each in drawn:
        if given.details:
            _print(each)
        elif each.claims:
            say(f"{each.experiment.name}: {each.experiment.document.title or each.experiment.name}")
            for claim, judged in each.claims:
                say_wrapped(f"- {each.said(claim, judged)}: {claim.says}")
            say()
    if given.details:
        _explain(drawn)
    claims = [(claim, each.verdict(claim, cases)) for each in drawn for claim, cases in each.claims]
    if claims:
        if len(drawn) <= _MAX_SHOWN_BESIDE_PAPERS and not given.details:
            _print_beside(drawn)
        say_wrapped(sentences.tally(claims))
        say_wrapped(_meanings([each.said(claim, cases) for each in drawn for claim, cases in each.claims]))
    for each in drawn:
        _print_files(each.paths)
    if drawn:
        say_trials(_trials(drawn, given, judged=bool(claims)))


def _print_beside(drawn: list[Reproduction]) -> None:
    """A line for each claim: the published number, ours in the case that the verdict rests on, and the verdict."""
    rows = []
    for each in drawn:
        for claim, judged in each.claims:
            judgements = [case.judgement for case in judged]
            shown = (sentences.deciding(each.verdict(claim, judged), judgements) or judgements[0]).shown
            rows.append([claim.id, shown.quantity, shown.published, shown.value, each.said(claim, judged)])
    said = _published(drawn)
    print_table(f"{said.capitalize()}, and measured here", ["claim", "number", said, "ours", "verdict"], rows)
    say()


def _published(drawn: Iterable[Reproduction]) -> str:
    """What the numbers of claims are called: those of files of one's own are no paper's."""
    return "expected" if all(each.experiment.is_own for each in drawn) else "published"


def _meanings(said: list[str]) -> str:
    """What the verdicts that were given mean."""
    found = [f"{name}: {what}" for name, what in explained(said)]
    return f"({' '.join(found)})" if found else ""


def _print_files(paths: list[Path]) -> None:
    """The files of an experiment, in one line each for its figures and the rest."""
    from fanin.show.reproduction import TABLE

    drawings = [path.name for path in paths if path.suffix in (".svg", ".png", ".pdf")]
    if drawings:
        say_wrapped(f"Figures in {paths[0].parent}: {', '.join(drawings)}; the numbers of each in its .csv")
    rest = [path.name for path in paths if path.name not in drawings and path.suffix != ".csv"]
    what = {TABLE: "a row for each run", CLAIMS: "the verdicts with their reasons"}
    if rest:
        listed = ", ".join(f"{name} ({what[name]})" if name in what else name for name in rest)
        say_wrapped(f"Data in {paths[0].parent}: {listed}")


def _trials(drawn: list[Reproduction], given: _Given, *, judged: bool) -> Iterator[tuple[str, str]]:
    """What to do next."""
    if not given.details:
        yield (
            f"{given.command()} --details",
            ("the numbers of each figure, and of each case of a sentence; nothing runs again"),
        )
    if given.seeds or given.quick:
        yield given.command(whole=True), "all seeds and points, with 95 % intervals and the written explanations"
    if judged and not given.changes:
        papers = {each.experiment.name.partition("/")[0] for each in drawn}
        named = [drawn[0].experiment.name] if len(drawn) == 1 else sorted(papers) if len(papers) == 1 else []
        yield " ".join(["fanin claims", *named, *given.place]), "each verdict with its reason, again at any time"


def _earlier(experiment: Scenario, out: Path) -> str:
    """When the experiment's benchmark was last run; empty if never, or if its record is missing."""
    from fanin.claims import record
    from fanin.claims.standing import date

    try:
        found = record.read(out / experiment.name)
    except FaninError:
        return ""
    return "" if found is None else date(found.work.last)


def _make_page(out: Path) -> None:
    """Updates the HTML report; damaged results of other experiments do not make this command fail."""
    from fanin.show import front_end, html_report

    if not front_end.has_report():
        note(f"all results are written, but no report: {front_end.NOT_BUILT}")
        return
    note(f"all results are written; updating the report of everything in {out}, which you can interrupt")
    try:
        note(f"report: {html_report.write(out, advance=reading('experiments read'))}")
    except FaninError as error:
        note(f"warning: no report: {error}")


def _print(result: Reproduction) -> None:
    experiment = result.experiment
    document = experiment.document
    for plot in document.plot:
        if plot.name in result.series:
            _print_plot(experiment.name, plot, result.series[plot.name])
    for remark in dict.fromkeys(plot.note for plot in document.plot if plot.note and plot.name in result.series):
        say(remark)
    if rows := [_claim_row(measured) for measured in result.measurements]:
        said = _published([result])
        print_table("Claims", ["claim", "number", said, "ours", "95 % interval", "accepted", "outcome"], rows)
    for claim, judged in result.claims:
        say(f"{result.said(claim, judged)}: {claim.says}")
        for each in judged:
            edge = EDGE if each.at_edge else ""
            say(f"    {each.outcome}{edge}: {each.case.id}{f': {each.case.reading}' if each.case.reading else ''}")
            say(f"        {each.reason_here}")
    if elsewhere := [each for each in result.measurements if each.explained_elsewhere]:
        written = f"they were written for {elsewhere[0].written_for} (to be read in {experiment.path})"
        say(f"Explanations are left out: {written}.")
    say()


def _print_plot(experiment: str, plot: Plot, drawn: Series) -> None:
    """Prints a row per x and a column per line; quantiles for distributions, and only a note for a long curve."""
    from fanin.scenario.format.plot import CATEGORICAL

    heading = f"{experiment}: {plot.title or drawn.y.label}"
    if plot.kind == "cdf":
        _print_quantiles(f"{heading} [{drawn.x.shown_as}]", plot, drawn)
        return
    if drawn.y.shown_as:
        heading += f" [{drawn.y.shown_as}]"
    places = list(dict.fromkeys(drawn.data["x"]))
    if plot.kind == "time" and len(places) > _MOST_ROWS:
        note(f"{heading}: {len(places)} points in time, see the plot and its CSV")
        return
    if plot.kind not in CATEGORICAL:
        places.sort()
    scale = drawn.y.scale
    cells = {
        (x, by): format_number(mean * scale) + ("" if half is None else f" ± {format_number(half * scale, 2)}")
        for by, x, mean, half in drawn.data.select("by", "x", "mean", "half").iter_rows()
    }
    rows = ([_place(x, drawn), *(cells.get((x, line), "-") for line in drawn.lines)] for x in places)
    x_heading = plot.x_label or plot.x or drawn.x.label
    print_table(heading, [x_heading, *(line or drawn.y.label for line in drawn.lines)], rows)


def _place(x: object, drawn: Series) -> str:
    return f"{x * drawn.x.scale:g} {drawn.x.shown_as}".rstrip() if isinstance(x, int | float) else str(x)


def _print_quantiles(heading: str, plot: Plot, drawn: Series) -> None:
    groups = [drawn.data.filter(by=line) for line in drawn.lines]

    def quantile(group: pl.DataFrame, share: float) -> str:
        reached = group.filter(pl.col("share") >= share)["x"]
        # The rest never ended.
        return "infinite" if reached.is_empty() else format_number(reached[0] * drawn.x.scale)

    rows = ([f"{share:.0%}", *(quantile(group, share) for group in groups)] for share in _SHARES)
    print_table(heading, ["share", *(line or drawn.x.label for line in drawn.lines)], rows)


def _explain(reports: list[Reproduction]) -> None:
    """The meaning of ±, if there is one."""
    drawn = [each.data for result in reports for each in result.series.values()]
    if any(data["half"].is_not_null().any() for data in drawn if "half" in data.columns):
        say("±: half of the 95 % interval over seeds; bands in plots: the whole interval")


def _claim_row(measured: Measurement) -> list[str]:
    show, case = measured.show, measured.case
    return [
        case.id,
        measured.quantity,
        measured.published,
        show(measured.value),
        measured.span(measured.low, measured.high),
        measured.span(*case.accept),
        f"{measured.outcome}{EDGE if measured.at_edge else ''}",
    ]
