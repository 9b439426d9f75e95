"""Writes the tables and plots of a sweep to ``results/sweeps/<id>/``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from fanin.later import pl
from fanin.results.curves import numeric
from fanin.results.dataset import DataSet, as_json
from fanin.results.files import whole_folder
from fanin.results.frames import parquet_of
from fanin.results.layout import FAILED, HEAD, ROWS, SWEEPS
from fanin.results.packages import packages
from fanin.scenario.format.plot import Plot
from fanin.show.plots.series import is_uneven, means, named

PLOTTED = ("goodput_bps", "fct_p99_s", "query_p99_s", "timeouts")
"""Columns that are plotted if none are named."""

MOST_LINES = 12
"""A plot with more lines than this is not drawn."""

_WIDE = 50
"""So many times the smallest value, a linear axis shows that one as nothing."""


def write(data: DataSet, out: Path | str) -> list[Path]:
    """Writes ``runs.parquet``, ``summary.parquet``, the plots and, if there are any, ``failed.json``.

    Raises:
        ResultsError: the folder cannot be written; its earlier contents are kept.

    """
    final = Path(out) / SWEEPS / data.head.id
    frame = data.frame
    with whole_folder(final) as folder:
        (folder / ROWS).write_bytes(parquet_of(frame))
        (folder / "summary.parquet").write_bytes(parquet_of(data.summary))
        (folder / HEAD).write_bytes(as_json(asdict(data.head) | {"packages": packages()}))
        if data.failed:
            (folder / FAILED).write_bytes(as_json(data.failed))
        _draw(data, folder)
        names = sorted(path.name for path in folder.iterdir())
    return [final / name for name in names]


def _draw(data: DataSet, folder: Path) -> None:
    plots = plots_of(data)
    if not plots:
        return
    from fanin.show.plots.drawing import draw

    for plot in plots:
        draw(plot, means(plot, data.head.labels, data.frame), folder)


def plots_of(data: DataSet, against: str | None = None) -> list[Plot]:
    """One plot per requested column: each combination of the keys but ``against`` is a line.

    Args:
        data: The sweep.
        against: The key of the x axis; by default that with the most values.

    """
    frame, varying = data.frame, data.varying()
    asked = data.head.wanted or PLOTTED
    measured = [name for name in asked if name in frame.columns and frame[name].drop_nulls().len()]
    if not varying or not measured:
        return []
    numbers = [key for key in varying if numeric(frame, key).schema[key].is_numeric()]
    x = against or max(numbers or varying, key=lambda key: frame[key].n_unique())
    by: list[str] = []
    for key in varying:
        # A key that changes together with the others adds no lines.
        points = frame.select(x, *by).n_unique()
        if key != x and frame.select(x, *by, key).n_unique() > points:
            by.append(key)
    if by and frame.select(by).n_unique() > MOST_LINES:
        return []
    about = {"title": data.head.title, "x": x, "by": by, "kind": "line" if x in numbers else "bars"}
    if "." in x:
        about["x-label"] = named(x)
    if x in numbers and is_uneven(numeric(frame, x)[x].drop_nulls()):
        about["x-scale"] = "log"
    return [Plot.model_validate({**about, "y": name, "y-scale": scale_of(frame[name])}) for name in measured]


def scale_of(values: pl.Series) -> str:
    """The y axis that shows all values apart: logarithmic if some are far above others, and none is zero."""
    low, high = values.min(), values.max()
    wide = isinstance(low, float | int) and isinstance(high, float | int) and 0 < low < high / _WIDE
    return "log" if wide else "linear"
