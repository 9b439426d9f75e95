"""The figures of the page: their lines as numbers, from the CSV files that ``fanin reproduce`` wrote beside them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fanin.claims.record import PlotRecord
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.scenario.format.plot import CATEGORICAL

Keep = Callable[[str, bytes], str]
"""Keeps a file of that name beside the page, and returns its path from there."""

_MOST_POINTS = 160
"""Most points of a line: a page's figure is some hundred pixels wide."""

_MOST_ROWS = 100
"""Most rows of a figure without lines; the CSV has all."""

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""Shares of a distribution that the page has in numbers; their points are kept."""

_DRAWN = ("line", "bars", "points", "cdf", "time")
"""Kinds of plots that the page draws itself; of others it shows the data."""


def figure(
    drawn: PlotRecord, published: list[dict[str, Any]], folder: Path, keep: Keep | None = None
) -> dict[str, Any]:
    """The lines of a figure, in the units of its labels, and the published numbers that it shows.

    Args:
        drawn: The figure's record.
        published: The published numbers in it, as its experiment's file has them.
        folder: The folder of its files.
        keep: Keeps its data beside the page; none for a page without them.

    Raises:
        ResultsError: a file is damaged, or not the data of a figure.

    """
    content = _data(drawn, folder)
    scale = (1.0 if drawn.kind in CATEGORICAL else drawn.x_scale, drawn.y_scale)
    lines = _lines(drawn, content, scale, folder) if drawn.kind in _DRAWN and drawn.lines else []
    found: dict[str, Any] = {
        "name": drawn.name,
        "kind": drawn.kind,
        "title": drawn.title,
        "note": drawn.note,
        "x": drawn.x_label,
        "y": drawn.y_label,
        "lines": lines,
        "published": [
            {
                "label": each["label"],
                "x": [_rounded(value * scale[0]) for value in each["x"]],
                "y": [_rounded(value * scale[1]) for value in each["y"]],
                "by": each["by"] or "",
            }
            for each in published
        ],
    }
    if drawn.kind == "cdf":
        found["whole"] = scale[1]
    if keep is None:
        return found
    found["data"] = "" if content is None else keep(f"{drawn.name}.csv", content)
    return found if lines else {**found, "rows": _rows(drawn, content or b"", folder)}


def _data(drawn: PlotRecord, folder: Path) -> bytes | None:
    """The figure's data, if they are there."""
    for name in drawn.files:
        path = folder / name
        if path.suffix == ".csv" and path.is_file():
            return path.read_bytes()
    return None


def _refused(drawn: PlotRecord, folder: Path, why: object) -> ResultsError:
    said = (str(why).splitlines() or [""])[0]
    return ResultsError(f"{folder / drawn.name}.csv: not the data of a figure ({said})")


def _lines(drawn: PlotRecord, content: bytes | None, scale: tuple[float, float], folder: Path) -> list[dict[str, Any]]:
    if content is None:
        return []
    named = drawn.kind in CATEGORICAL
    try:
        data = _known(pl.read_csv(io.BytesIO(content), infer_schema_length=None), named=named)
        groups = data.group_by("by", maintain_order=True)
        return [_line(str(line), rows, scale, named=named) for (line,), rows in groups]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError, OverflowError) as error:
        raise _refused(drawn, folder, error) from None


def _known(data: pl.DataFrame, *, named: bool) -> pl.DataFrame:
    """The rows whose numbers are known and finite; a name that is missing is empty."""
    names, numbers = (["by", "x"], [_value(data)]) if named else (["by"], ["x", _value(data)])
    texts = data.with_columns(pl.col(name).cast(pl.String).fill_null("") for name in names)
    return texts.filter(*(pl.col(name).cast(pl.Float64).is_finite() for name in numbers))


def _value(data: pl.DataFrame) -> str:
    return "share" if "share" in data.columns else "mean"


def _line(label: str, rows: pl.DataFrame, scale: tuple[float, float], *, named: bool) -> dict[str, Any]:
    rows = _thinned(rows)
    y = [value * scale[1] for value in rows[_value(rows)]]
    x = [str(value) for value in rows["x"]] if named else [_rounded(value * scale[0], 5) for value in rows["x"]]
    found: dict[str, Any] = {"label": label, "x": x, "y": [_rounded(value) for value in y]}
    ends = _ends(rows, y, scale[1])
    return found if ends is None else {**found, "low": ends[0], "high": ends[1]}


def _ends(rows: pl.DataFrame, y: list[float], scale: float) -> tuple[list[float], list[float]] | None:
    """The ends of the intervals or whiskers; none if a point has none, or all of them have no width."""
    if {"low", "high"} <= set(rows.columns) and not rows["low"].null_count():
        return [_rounded(value * scale) for value in rows["low"]], [_rounded(value * scale) for value in rows["high"]]
    if "half" not in rows.columns or rows["half"].null_count() or rows["half"].dtype == pl.String:
        return None
    halves = [value * scale for value in rows["half"]]
    if not any(halves):
        return None
    low = [_rounded(value - half) for value, half in zip(y, halves, strict=True)]
    return low, [_rounded(value + half) for value, half in zip(y, halves, strict=True)]


def _thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """Too many points are reduced to the smallest and the largest of each part, and to quantiles of a distribution."""
    if len(rows) <= _MOST_POINTS:
        return rows
    y = rows[_value(rows)].to_list()
    size = math.ceil(2 * len(rows) / _MOST_POINTS)
    kept = {0, len(rows) - 1}
    for start in range(0, len(rows), size):
        part = range(start, min(start + size, len(rows)))
        kept |= {min(part, key=y.__getitem__), max(part, key=y.__getitem__)}
    if _value(rows) == "share":
        kept |= {next((at for at, share in enumerate(y) if share >= wanted), 0) for wanted in _SHARES}
    return rows[sorted(kept)]


def _rounded(value: float, digits: int = 4) -> float:
    rounded = float(f"{value:.{digits}g}")
    if not math.isfinite(rounded):
        raise ValueError(f"{value} is no number of a figure")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _rows(drawn: PlotRecord, content: bytes, folder: Path) -> dict[str, Any]:
    """The data of a figure without lines, as they are."""
    text = content.decode("utf-8", errors="replace")
    try:
        header, *rows = list(csv.reader(io.StringIO(text), strict=True)) or [[]]
    except csv.Error as error:
        raise _refused(drawn, folder, error) from None
    return {"header": header, "first": rows[:_MOST_ROWS], "of": len(rows)}
