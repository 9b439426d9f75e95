"""What an experiment shows: its table of runs, its plots and its verdicts, as objects and as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fanin import curves, plots, record, remarks
from fanin.claims import Judgement, judge
from fanin.experiment import Experiment
from fanin.format.plot import Plot
from fanin.store import writing
from fanin.sweep import Runs


@dataclass(frozen=True)
class Report:
    """An experiment's finished runs, judged and drawn."""

    experiment: Experiment
    runs: pl.DataFrame
    judgements: list[Judgement]
    series: dict[str, plots.Drawn]
    """What each plot shows, by the plot's name."""
    paths: list[Path]
    """The files written."""
    warnings: list[str]
    """What to know before believing the numbers."""

    def as_dict(self) -> dict[str, Any]:
        """The report for ``--json``."""
        document = self.experiment.document
        return {
            "experiment": self.experiment.name,
            "title": document.title,
            "runs": len(self.runs),
            "claims": [judgement.as_dict() for judgement in self.judgements],
            "plots": [
                {"name": plot.name, "kind": plot.kind, "x": plot.x, "y": plot.y, "series": drawn.data.to_dicts()}
                for plot in document.plot
                if (drawn := self.series.get(plot.name)) is not None
            ],
            "warnings": self.warnings,
            "paths": [str(path) for path in self.paths],
        }


def report(runs: Runs, out: Path | str, *, quick: bool = False) -> Report:
    """Judges the claims and writes ``runs.parquet``, ``claims.json`` and the plots to ``out/<experiment>``.

    Args:
        runs: What to judge and draw.
        out: Results folder.
        quick: Whether the runs are those of a quick look.

    Raises:
        FaninError: a plot or a claim names a column that the runs do not have.
        ResultsError: the folder cannot be written.

    """
    experiment = runs.experiment
    folder = Path(out) / experiment.name
    frame = runs.frame()
    document = experiment.document
    judgements = [judge(claim, curves.of_claim(claim, runs, frame), provisional=quick) for claim in document.claim]
    series = {plot.name: plots.series(plot, runs, frame) for plot in document.plot if not plot.is_diagram}
    remark = remarks.incomplete_in(run.summary for _, run in runs)
    warnings = [*experiment.warnings(swept=True), *([remark] if remark else [])]
    warnings += remarks.undrawn(name for name, each in series.items() if each.data.is_empty())
    table = folder / "runs.parquet"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(table)
        files = {plot.name: _draw(plot, experiment, series, folder) for plot in document.plot}
        # Last, as it says that all the rest is there.
        drawn = [record.drawn(plot, series.get(plot.name), files[plot.name]) for plot in document.plot]
        made = record.make(runs, judgements, drawn, warnings, out, quick=quick)
        verdicts = record.write(made, folder)
    paths = [*(path for drawn in files.values() for path in drawn), table, verdicts]
    return Report(experiment, frame, judgements, series, paths, warnings)


def _draw(plot: Plot, experiment: Experiment, series: dict[str, plots.Drawn], folder: Path) -> list[Path]:
    if plot.kind == "topology":
        return plots.draw_topology(plot, experiment.empty_table("links"), folder)
    if plot.kind == "format":
        return plots.draw_format(plot, folder)
    return plots.draw(plot, series[plot.name], folder)
