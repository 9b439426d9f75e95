"""The output of an experiment: its table of runs, plots and verdicts, as objects and as files."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fanin.choose.cautions import of_sweep
from fanin.choose.goals import few_samples, times_among
from fanin.claims import record
from fanin.claims.judge import Measurement, join_halves, judge
from fanin.claims.verdicts import EDGE, Verdict, at_edge, verdict
from fanin.errors import FaninError, ResultsError, ScenarioError
from fanin.garbage import collect_seldom
from fanin.later import pl
from fanin.results import columns, curves
from fanin.results.files import filling, writing
from fanin.results.frames import parquet_of
from fanin.results.layout import CLAIMS, TAKEN
from fanin.run.scenario import Scenario
from fanin.run.sweep import Runs
from fanin.scenario import remarks
from fanin.scenario.departures import as_judged
from fanin.scenario.format.base import Where
from fanin.scenario.format.claim import Claim, Location
from fanin.scenario.format.plot import Plot
from fanin.scenario.handle import line_of
from fanin.show.plots.drawn_before import fingerprint, keep
from fanin.show.plots.series import Series, has_rows, one_seed, series_of

TABLE = "runs.parquet"
"""The table of an experiment's runs."""

MORE_PICTURES = ("pdf", "png")
"""The formats of pictures that are drawn only if asked for."""

_FEW_PLOTS = 8
"""Below this number of plots, drawing them is faster than starting more processes."""


@dataclass(frozen=True)
class Reproduction:
    """An experiment's finished runs, judged and drawn."""

    experiment: Scenario
    runs: pl.DataFrame
    measurements: list[Measurement]
    series: dict[str, Series]
    """The data of each plot, by the plot's name."""
    paths: list[Path]
    """The files written."""
    warnings: list[str]
    """Warnings that affect how far the numbers can be trusted."""
    removed: list[str]
    """The files of an earlier command whose figures this one does not draw."""

    @property
    def claims(self) -> list[tuple[Claim, list[Measurement]]]:
        """The claims, each with the measurements of its cases, the main case first."""
        return [
            (claim, [each for each in self.measurements if each.case.claim == claim.id])
            for claim in self.experiment.document.claim
        ]

    def verdict(self, claim: Claim, judged: list[Measurement]) -> Verdict:
        """The verdict on a sentence, from its cases in this experiment alone."""
        return verdict([(each.basis, each.outcome) for each in judged], claim.impossible)

    def said(self, claim: Claim, judged: list[Measurement]) -> str:
        """The verdict as it is printed: with the values that the file does not have, and marked if at the edge."""
        found = self.verdict(claim, judged)
        environment, changes = self.experiment.environment, self.experiment.changes
        under = f" (under {environment if changes == f'environment = {environment}' else changes})" if changes else ""
        return f"{found}{under}{EDGE if _at_edge(found, judged) else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Everything for ``--json``."""
        document = self.experiment.document
        return {
            "experiment": self.experiment.name,
            "title": document.title,
            "runs": len(self.runs),
            "claims": [
                {
                    **judged[0].as_dict(),
                    "id": claim.id,
                    "verdict": self.verdict(claim, judged),
                    "at_edge": _at_edge(self.verdict(claim, judged), judged),
                    "cases": [each.as_dict() for each in judged],
                }
                for claim, judged in self.claims
            ],
            "plots": [
                {"name": plot.name, "kind": plot.kind, "x": plot.x, "y": plot.y, "series": drawn.data.to_dicts()}
                for plot in document.plot
                if (drawn := self.series.get(plot.name)) is not None
            ],
            "warnings": self.warnings,
            "paths": [str(path) for path in self.paths],
        }


def _at_edge(verdict: Verdict, judged: list[Measurement]) -> bool:
    return at_edge(verdict, ((each.basis, each.outcome, each.at_edge) for each in judged))


def judge_and_draw_all(
    swept: list[Runs],
    out: Path | str,
    *,
    jobs: int | None = None,
    quick: bool = False,
    also: Sequence[str] = (),
    advance: Callable[[int], None] = lambda _: None,
) -> list[Reproduction]:
    """Runs :func:`judge_and_draw` on several experiments in parallel processes, as drawing holds the interpreter lock.

    Args:
        swept: What to judge and draw.
        out: Results folder.
        jobs: Processes; one per core if left out.
        quick: Whether the runs are those of a quick look.
        also: The formats of further pictures beside each SVG: ``png``, which takes as long again, ``pdf``.
        advance: Called with the number of finished experiments.

    Raises:
        FaninError: as :func:`judge_and_draw`; experiments after the failed one may have no files.

    """
    figures = [len(runs.scenario.document.plot) for runs in swept]
    workers = min(jobs or os.cpu_count() or 1, len(swept))
    if workers <= 1 or sum(figures) < _FEW_PLOTS:
        made = []
        for runs in swept:
            made.append(judge_and_draw(runs, out, quick=quick, also=also))
            advance(len(made))
        return made
    with (
        _without_working_folder(),
        ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare_worker) as pool,
    ):
        # Those with the most plots first, so that none of them is left to a single process at the end.
        order = sorted(_sharing(swept), key=lambda shared: -sum(figures[index] for index in shared))
        pending = {
            pool.submit(_judge_and_draw_some, [swept[index] for index in shared], out, quick=quick, also=also): shared
            for shared in order
        }
        found: dict[int, Reproduction] = {}
        try:
            for each in as_completed(pending):
                found |= zip(pending[each], each.result(), strict=True)
                advance(len(found))
        except BrokenProcessPool as error:
            raise FaninError(
                "a process that draws plots was killed; the runs are kept, so run the same command again"
            ) from error
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        return [found[index] for index in range(len(swept))]


@contextlib.contextmanager
def _without_working_folder() -> Iterator[None]:
    """Processes that are started meanwhile import nothing from the working folder."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before


_SAFE_PATH = "PYTHONSAFEPATH"


def _sharing(swept: list[Runs]) -> list[list[int]]:
    """The places of the experiments of each scenario: one process reads the tables of the runs that they share once."""
    places: dict[Path, list[int]] = {}
    for index, runs in enumerate(swept):
        places.setdefault(runs.scenario.scenario_path, []).append(index)
    return list(places.values())


def _judge_and_draw_some(swept: list[Runs], out: Path | str, *, quick: bool, also: Sequence[str]) -> list[Reproduction]:
    return [judge_and_draw(runs, out, quick=quick, also=also) for runs in swept]


def _prepare_worker() -> None:
    """Ignores Ctrl-C, which the terminal sends to all processes and the main process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()


def judge_and_draw(runs: Runs, out: Path | str, *, quick: bool = False, also: Sequence[str] = ()) -> Reproduction:
    """Judges the claims and writes ``runs.parquet``, ``claims.json`` and the plots to ``out/<experiment>``.

    Args:
        runs: What to judge and draw.
        out: Results folder.
        quick: Whether the runs are those of a quick look.
        also: The formats of further pictures beside each SVG: ``png``, which takes as long again, ``pdf``.

    Raises:
        FaninError: a plot or a claim names a column that the runs do not have.
        ScenarioError: a plot or a column takes none of the rows that the runs have.
        ResultsError: the folder cannot be written.

    """
    experiment = runs.scenario
    folder = folder_of(experiment, out)
    frame = runs.frame()
    document = experiment.document
    judged = _judged(runs, frame, quick=quick)
    measurements = join_halves(judged)
    # Where a quick look leaves out variants, it leaves out their lines and figures.
    partial = quick and bool(experiment.quick.variant)
    series = {
        each.name: replace(series_of(each, runs, frame, partial=partial), sample=_sample(each, experiment, frame))
        for each in document.plot
        if not each.is_diagram
    }
    empty = [each for each in document.plot if each.name in series and series[each.name].data.is_empty()]
    if not quick:
        # A quick look may leave out what has these rows.
        for each in empty:
            if each.table is not None:
                rows = runs.rows(each.table, one_seed(each))
                _refuse_unmatched(experiment, ("plot", document.plot.index(each)), rows, each.rows)
        for index, column in enumerate(document.column):
            if column.of is not None and column.rows and frame[column.id].is_null().all():
                rows = runs.rows(column.of.partition(".")[0])
                _refuse_unmatched(experiment, ("column", index), rows, column.rows)
    plots = [each for each in document.plot if not (partial and each in empty)]
    remark = remarks.incomplete(run.summary for _, run in runs)
    warnings = [*remarks.changed(experiment.overrides), *experiment.warnings(swept=True), *of_sweep(experiment)]
    warnings += [remark] if remark else []
    shown = [name for plot in document.plot for name in plot.y or []]
    times = times_among([*shown, *(each.case.y for each in judged)], experiment)
    warnings += few_samples(times, frame.to_dicts() if times else [])
    warnings += runs.without()
    if not partial:
        warnings += [remarks.undrawn(each, has_rows=has_rows(each, runs, frame)) for each in empty]
    earlier = _drawn_earlier(folder)
    # What was asked for once is kept, or drawn anew with other data.
    also = sorted({*also, *(end for name in earlier for end in MORE_PICTURES if name.endswith(f".{end}"))})
    command = record.command(experiment, quick=quick, also=also, seeds=runs.seeds, out=str(out))
    with writing(folder), filling(folder, earlier) as new:
        (new / TABLE).write_bytes(parquet_of(frame))
        files = {plot.name: _draw(plot, experiment, series, (folder, new), also=also) for plot in plots}
        drawn = [_recorded(plot, series.get(plot.name), files[plot.name]) for plot in plots]
        record.write(record.make(runs, measurements, drawn, warnings, command, quick=quick), new)
    names = [*(path.name for drawn in files.values() for path in drawn), TABLE, CLAIMS]
    paths, removed = [folder / name for name in names], sorted({*earlier} - {*names})
    return Reproduction(experiment, frame, measurements, series, paths, warnings, removed)


def _judged(runs: Runs, frame: pl.DataFrame, *, quick: bool) -> list[Measurement]:
    """The measurement of each case; arguments as :func:`judge_and_draw`, and the table of runs."""
    experiment = runs.scenario
    labels = columns.own_labels(experiment)
    return [
        judge(
            case,
            curves.of_claim(case, runs, frame),
            provisional=quick,
            label=columns.describe(labels, case.y).label,
            environment=experiment.environment,
            written_for=_written_for(runs, quick=quick),
            missing=[point.row for point, _ in runs.missing],
        )
        for case in as_judged(experiment)
    ]


def _sample(plot: Plot, experiment: Scenario, frame: pl.DataFrame) -> str:
    """Of how many seeds a figure is the mean, for its caption; and of how many queries of each, if it is a quantile."""
    chosen = columns.filtered(frame, one_seed(plot))
    seeds = chosen["seed"].n_unique()
    if not plot.has_caption or plot.kind == "lanes" or seeds == 0 or (plot.kind == "time" and plot.seed is not None):
        return ""
    what = f"All {seeds} seeds together" if plot.kind == "cdf" else f"Points are means over {seeds} seeds"
    said = what if seeds > 1 else "One seed"
    for each in times_among(plot.y or [], experiment) if plot.table is None else []:
        found = [count for row in chosen.to_dicts() if each.quantile and (count := each.quantile.number(row))]
        if each.quantile and found:
            many = f"{min(found):,}" if min(found) == max(found) else f"{min(found):,} to {max(found):,}"
            return f"{said}, {many} {each.quantile.counted} a run"
    return said


def _refuse_unmatched(experiment: Scenario, location: Location, frame: pl.DataFrame, where: Where) -> None:
    """Refuses a plot or a column at ``location`` of the file that takes none of the rows that there are.

    Raises:
        ScenarioError: the message names the values that there are.

    """
    if frame.is_empty() or (wrong := columns.unmatched(frame, where)) is None:
        return
    name, message = wrong
    line = line_of(experiment.text, str(experiment.path), (*location, "rows", name)) or line_of(
        experiment.text, str(experiment.path), location
    )
    key = ".".join(map(str, (*location, "rows", name)))
    raise ScenarioError(str(experiment.path), line, key, message)


def folder_of(experiment: Scenario, out: Path | str) -> Path:
    """The folder of an experiment's results.

    Raises:
        ResultsError: its name is that of a folder with other results.

    """
    folder = Path(out) / experiment.name
    if (first := experiment.name.partition("/")[0]) in TAKEN:
        raise ResultsError(f"{experiment.path}: its results would be in {folder}, but {first} has others: rename it")
    return folder


def _written_for(runs: Runs, *, quick: bool) -> str:
    """The runs that the file's explanations describe, if these are others."""
    experiment = runs.scenario
    full = experiment.seeds
    said = (
        [f"seed{'s' if len(full) > 1 else ''} {record.ranges(full)}"] if quick or set(runs.seeds) != set(full) else []
    )
    said = [f"the full run with {said[0]}"] if quick else said
    return " and ".join([*said, *(["the file's own values"] if experiment.changes else [])])


def _drawn_earlier(folder: Path) -> list[str]:
    """The files of the figures that an earlier command drew, unless the user has removed them."""
    with contextlib.suppress(ResultsError):
        if (found := record.read(folder)) is not None:
            return [name for plot in found.plots for name in plot.files if (folder / name).is_file()]
    return []


def _draw(
    plot: Plot, experiment: Scenario, series: dict[str, Series], folders: tuple[Path, Path], *, also: Sequence[str]
) -> list[Path]:
    """The files of a plot in the second folder, copied from the first if the same figure is there."""
    earlier, folder = folders
    network = json.dumps([experiment.network(), experiment.buffers()]) if plot.kind == "topology" else ""
    identifier = fingerprint(plot, series.get(plot.name), network)
    ends = (*also, *(["txt"] if plot.has_caption else []), "svg", "csv")
    if kept := keep(earlier, folder, plot.name, identifier, ends):
        return kept
    # Imported here because matplotlib takes half a second to load.
    from fanin.show.plots.diagram import draw_format
    from fanin.show.plots.drawing import draw
    from fanin.show.plots.topology import draw_topology

    if plot.kind == "topology":
        return draw_topology(plot, experiment.network(), experiment.buffers(), folder, also=also, identifier=identifier)
    if plot.kind == "format":
        return draw_format(plot, folder, also=also, identifier=identifier)
    return draw(plot, series[plot.name], folder, also=also, identifier=identifier)


def _recorded(plot: Plot, shown: Series | None, files: list[Path]) -> record.PlotRecord:
    """The record of a plot: its labels, the names of its lines and its files; of a diagram only its files."""
    names = [path.name for path in files]
    if shown is None:
        return record.PlotRecord(
            name=plot.name, kind=plot.kind, title=plot.title, note=plot.note, x_label="", y_label="", files=names
        )
    return record.PlotRecord(
        name=plot.name,
        kind=plot.kind,
        title=plot.title or shown.y.label,
        note=plot.note,
        x_label=shown.x.axis(plot.x_label).replace("\n", ": "),
        y_label=shown.y.axis(plot.y_label).replace("\n", ": "),
        x_scale=shown.x.scale,
        y_scale=shown.y.scale,
        lines=shown.lines,
        marks=[published.label for published in plot.published],
        files=names,
    )
