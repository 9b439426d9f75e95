"""Writes the results of a capacity search to ``results/capacity/<id>/``: the answers and a plot of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from fanin.choose.capacity.judge import in_words
from fanin.choose.capacity.search import Found
from fanin.choose.comparison import SCHEME
from fanin.choose.goals import Keep
from fanin.later import pl
from fanin.numbers.summary import ColumnInfo, column
from fanin.results.curves import axis_of, numeric
from fanin.results.dataset import as_json
from fanin.results.files import whole_folder
from fanin.results.layout import CAPACITIES, CAPACITY
from fanin.run.scenario import Scenario
from fanin.scenario.format.plot import Plot
from fanin.scenario.format.values import Scalar
from fanin.show.plots.series import Series, is_uneven, named, readable


def folder_of(experiment: Scenario, asked: dict[str, Any], out: Path | str) -> Path:
    """The folder of a search; its name includes a hash of the scenario and the question."""
    return Path(out) / CAPACITIES / experiment.folder_name(asked)


def as_dict(found: list[Found]) -> dict[str, Any]:
    """The answers as JSON."""
    return {"runs": sum(each.runs for each in found), "cases": [each.as_dict() for each in found]}


def write(
    found: list[Found], title: str, asked: dict[str, Any], keeps: list[Keep], varied: str | None, folder: Path
) -> list[Path]:
    """Writes ``capacity.json`` and, if there are several cases, ``capacity.png``, ``.svg`` and ``.csv``.

    Args:
        found: The answers.
        title: Title of the plot.
        asked: What was searched for.
        keeps: The bounds.
        varied: The scenario value on the plot's x axis; the scheme if left out.
        folder: The folder to write.

    Raises:
        ResultsError: the folder cannot be written; its earlier contents are kept.

    """
    with whole_folder(folder) as temporary:
        (temporary / CAPACITY).write_bytes(as_json({**asked, **as_dict(found)}))
        if len(found) > 1:
            _draw(found, title, in_words(keeps), varied, temporary)
        names = sorted(path.name for path in temporary.iterdir())
    return [folder / name for name in names]


def _draw(found: list[Found], title: str, bounds: str, varied: str | None, folder: Path) -> None:
    from fanin.show.plots.drawing import draw

    x = varied or SCHEME
    rows = [_row(each, x) for each in found if each.error is None]
    frame = numeric(pl.DataFrame(rows, schema_overrides={"mean": pl.Float64}), "x")
    texts = pl.DataFrame({x: [str(row["x"]) for row in rows]})
    is_curve = varied is not None and frame.schema["x"].is_numeric()
    y = ColumnInfo("Capacity", f"largest fan-in that keeps {bounds}", "1", "senders")
    how = readable(Series(frame, axis_of(texts, x, column(x, named(x))), y))
    note = "Whiskers end at the next larger fan-in that was tried and does not meet the bounds."
    if math.inf in frame["high"]:
        note += "\nA triangle: that many or more, as the search ended there."
    about = {"id": "capacity", "title": title, "x": x, "y": "capacity", "spread": ("low", "high"), "note": note}
    wide = is_curve and is_uneven(frame["x"])
    plot = Plot.model_validate(
        {**about, "kind": "line" if is_curve else "bars", "x_scale": "log" if wide else "linear"}
    )
    draw(plot, how, folder)


def _row(each: Found, x: str) -> dict[str, Any]:
    capacity = each.capacity or 0
    by = [str(value) for path, value in each.case.items() if path != x]
    # Where nothing larger was tried the end is open.
    beyond = math.inf if each.capacity is not None else 0.0
    ends = {"low": float(capacity), "high": beyond if each.breaks_at is None else float(each.breaks_at)}
    value: Scalar = each.case[x]
    return {"by": ", ".join(by), "x": value, "mean": float(capacity), "half": None, **ends, "runs": each.runs}
