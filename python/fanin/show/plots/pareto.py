"""Plots a search with several goals: all trials, and the Pareto front."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fanin.later import np
from fanin.numbers.stats import Floats
from fanin.numbers.summary import ColumnInfo
from fanin.show.plots.drawing import STYLE, save


def draw_pareto(
    axes: Sequence[ColumnInfo], kept: Floats, others: Floats, front: Floats, default: Floats, title: str, folder: Path
) -> list[Path]:
    """Writes ``pareto.png`` and ``pareto.svg``: a panel for each pair of goals.

    Args:
        axes: How to show each goal.
        kept: A row for each trial that keeps the bounds, with a column for each goal.
        others: The same of those that do not.
        front: The same of those that no other beats.
        default: The goals of the scenario as it is.
        title: Of the picture.
        folder: Where to.

    Raises:
        ResultsError: the folder cannot be written.

    """
    pairs = list(itertools.combinations(range(len(axes)), 2))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.8 * len(pairs)), layout="constrained")
        figure.suptitle(title, fontsize=10)
        for panel, (x, y) in zip(np.ravel(figure.subplots(len(pairs), 1)), pairs, strict=True):
            _draw(panel, axes, (x, y), (kept, others, front, default))
        return save(figure, None, folder, "pareto")


def _draw(panel: Axes, axes: Sequence[ColumnInfo], pair: tuple[int, int], points: tuple[Floats, ...]) -> None:
    x, y = pair
    kept, others, front, default = (
        each.reshape(-1, len(axes)) * np.array([column.scale for column in axes]) for each in points
    )
    if len(others):
        panel.plot(others[:, x], others[:, y], "x", color="#999999", markersize=4, label="breaks a bound")
    panel.plot(kept[:, x], kept[:, y], "o", color="#56B4E9", markersize=4, label="trial")
    # The front of two goals is a line; of more its projection is none.
    line = "-" if len(axes) == 2 else ""
    order = np.argsort(front[:, x])
    panel.plot(front[order, x], front[order, y], f"o{line}", color="#D55E00", markersize=5, label="Pareto front")
    panel.plot(default[:, x], default[:, y], "*", color="black", markersize=10, label="default")
    panel.set_xlabel(axes[x].axis())
    panel.set_ylabel(axes[y].axis())
    # Above the panel, where it hides no trial.
    panel.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
