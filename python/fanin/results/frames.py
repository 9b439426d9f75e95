"""Result tables as frames, and frames as Parquet files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from fanin.errors import ResultsError
from fanin.extras import needed
from fanin.later import np, pl
from fanin.numbers.summary import meanings
from fanin.results.free_memory import SHARE, available, shown

Column: TypeAlias = tuple[str, str, "bytes | list[str]", "bytes | list[str] | None"]
"""A column as the engine hands it over: its name; the type of its values (``u64``, ``f64``, ``bool``, ``text`` or
``label``); their little-endian bytes, or a list of texts; which of them are there, or the texts of a label's codes."""


def decode(columns: Sequence[Column]) -> pl.DataFrame:
    """A table of the engine as a frame."""
    return pl.DataFrame([_series(*column) for column in columns])


def _series(name: str, kind: str, values: bytes | list[str], more: bytes | list[str] | None) -> pl.Series:
    if isinstance(values, list):
        return pl.Series(name, values, dtype=pl.String)
    if isinstance(more, list):
        return pl.Series(name, more, dtype=pl.String).gather(_numbers(values, pl.UInt32, 4)).cast(pl.Categorical)
    if kind == "bool":
        return _truths(values).alias(name)
    numbers = _numbers(values, pl.UInt64 if kind == "u64" else pl.Float64).alias(name)
    return numbers.set(~_truths(more), None) if more else numbers


def _numbers(values: bytes, dtype: type[pl.DataType], width: int = 8) -> pl.Series:
    if not values:
        return pl.Series([], dtype=dtype)
    whole = pl.Array(dtype, len(values) // width)
    return pl.Series([values]).bin.reinterpret(dtype=whole, endianness="little").explode()


def _truths(values: bytes) -> pl.Series:
    return _numbers(values, pl.UInt8, 1).cast(pl.Boolean)


_MEANINGS = "columns"
"""Key of a Parquet file's metadata: unit and description of each column, as JSON."""


def parquet_of(frame: pl.DataFrame, table: str | None = None) -> bytes:
    """A frame as the content of a Parquet file; Polars itself does not tell a full disk from a defect.

    Args:
        frame: The frame.
        table: The result table that it is, whose units and descriptions the file tells.

    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=None if table is None else {_MEANINGS: _meanings(table)})
    return buffer.getvalue()


def to_pandas(table: pl.DataFrame | Framed) -> Any:  # noqa: ANN401 - pandas is no dependency
    """A table as a pandas frame, without pyarrow; what is missing is NaN, or None among texts.

    Args:
        table: A frame, or an object with a method ``frame``, such as the runs of a sweep.

    Raises:
        NotFoundError: pandas is not installed; the message has the command that installs it.

    >>> fanin.to_pandas(run.flows())

    """
    pandas = needed("pandas", "pandas frames need pandas", "pandas")
    frame = table if isinstance(table, pl.DataFrame) else table.frame()
    return pandas.DataFrame({column.name: _array(column, pandas) for column in frame})


def _array(column: pl.Series, pandas: Any) -> Any:  # noqa: ANN401
    if column.dtype == pl.Categorical:
        return pandas.Categorical(column.to_list())
    if column.dtype.is_numeric() and column.null_count():
        return np.asarray(column.cast(pl.Float64).fill_null(float("nan")))
    return np.asarray(column) if column.dtype.is_numeric() else column.to_list()


class Framed(Protocol):
    """What has a table."""

    def frame(self) -> pl.DataFrame:
        """It."""


@cache
def _meanings(table: str) -> str:
    return json.dumps(meanings(table))


def frame_in(content: bytes, place: str) -> pl.DataFrame:
    """The frame in the content of a Parquet file.

    Args:
        content: The content.
        place: What the user knows it by.

    Raises:
        ResultsError: it is damaged.

    """
    with _naming_errors(place):
        return pl.read_parquet(io.BytesIO(content), use_pyarrow=False)


def meanings_in(file: Path | io.BytesIO, place: str) -> dict[str, dict[str, str]]:
    """Unit and description of each column, as a Parquet file has them; empty if it has none.

    Raises:
        ResultsError: it is damaged.

    """
    with _naming_errors(place):
        found: dict[str, dict[str, str]] = json.loads(pl.read_parquet_metadata(file).get(_MEANINGS, "{}"))
        return found


def rows_in(file: Path | io.BytesIO, place: str) -> int:
    """How many rows a Parquet file has by its own word.

    Raises:
        ResultsError: it is damaged.

    """
    with _naming_errors(place):
        return int(pl.scan_parquet(file, glob=False).select(pl.len()).collect().item())


def read_table(path: Path) -> pl.DataFrame:
    """A Parquet file as a frame.

    Raises:
        ResultsError: it is missing, unreadable or damaged, or by its own word does not fit in the free memory.

    """
    place = str(path)
    try:
        with path.open("rb") as stream:
            with _naming_errors(place):
                width = len(pl.read_parquet_schema(path))
            needed = max(path.stat().st_size, rows_in(path, place) * width * _VALUE)
            if needed > (room := SHARE * available()):
                raise ResultsError(
                    f"{path}: the table does not fit in memory: {shown(needed)}, available {shown(room)}"
                )
            return frame_in(stream.read(), place)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


_VALUE = 8
"""Bytes of a number in memory."""


@contextmanager
def _naming_errors(place: str) -> Iterator[None]:
    """Tells the errors of Polars as those of a place."""
    try:
        yield
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultsError(f"{place}: damaged, or no Parquet file ({str(error).splitlines()[0]})") from None
