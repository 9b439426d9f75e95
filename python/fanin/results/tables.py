"""Describing and exporting result tables."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from fanin import _engine
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.names import is_run_id
from fanin.numbers.summary import column
from fanin.results import records
from fanin.results.layout import MANIFEST, RUNS
from fanin.results.store import damaged, read_manifest, read_run, read_table


def locate(path: Path) -> list[Path]:
    """The Parquet files of a path: itself, or those of a run folder.

    Logs of runs have none. A run's file is first compared with its digest in the manifest.

    Raises:
        ResultsError: there is nothing there, or it is damaged.

    """
    if is_in_log(path) or records.is_log(path):
        return []
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            raise ResultsError(f"{path}: not a run folder (it has no {MANIFEST})")
        run = read_run(path)
        files = [path / f"{table}.parquet" for table in run.tables]
        for file in files:
            run.check(file.name)
        return files
    if not path.is_file():
        raise ResultsError(f"{path}: no such file or folder")
    with path.open("rb") as stream:
        if stream.read(len(_PARQUET)) != _PARQUET and not is_run_id(path.absolute().parent.name):
            what = "a scenario, of which 'fanin run' makes results" if path.suffix == ".toml" else "no Parquet file"
            raise ResultsError(f"{path}: {what}: name a run's folder or one of its tables")
    if (path.parent / MANIFEST).is_file():
        read_run(path.parent).check(path.name)
    return [path]


_PARQUET = b"PAR1"
"""How every Parquet file begins."""


def find(path: Path, table: str) -> Path | None:
    """The table of that name of a run folder, or the path itself if it is a Parquet file; none where there is neither.

    Raises:
        ResultsError: as :func:`locate`.

    """
    return next((file for file in locate(path) if file == path or file.stem == table), None)


def differences(paths: Iterable[Path]) -> list[str]:
    """The keys in which the scenarios of stored runs differ, apart from their seeds; tables alone are left out.

    Args:
        paths: Run folders, or files in them.

    """
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in paths)
    return differing(
        [flat(read_manifest(folder).manifest["scenario"]) for folder in folders if (folder / MANIFEST).is_file()]
    )


def differing(values: list[dict[str, Any]]) -> list[str]:
    """The keys in which flat scenarios differ, apart from the seed."""
    keys = dict.fromkeys(key for each in values for key in each)
    return [key for key in keys if key != "run.seed" and any(each.get(key) != values[0].get(key) for each in values)]


def flat(value: Any, path: str = "") -> dict[str, Any]:  # noqa: ANN401 - of JSON
    """A value of each dotted path; entries of a list have their name, or else their place, in it."""
    if isinstance(value, list):
        value = {str(each.get("name", i)) if isinstance(each, dict) else str(i): each for i, each in enumerate(value)}
    if not isinstance(value, dict):
        return {path: value}
    return {k: v for key, each in value.items() for k, v in flat(each, f"{path}.{key}" if path else key).items()}


def is_in_log(path: Path) -> bool:
    """Whether this is the place of a run that has no folder, because a log has it."""
    return not path.exists() and is_run_id(path.name) and path.absolute().parent.name == RUNS


_OF_SUMMARY = {
    "column": "The total or column that the row summarises",
    "unit": "Its unit",
    "mean": "Mean over the seeds",
    "half": "Half of the 95 % interval of the mean: Student's t over the seeds; null below three, or if it cannot be",
    "low": "Lower end of the interval; where it cannot be, the 2.5th percentile of the seeds",
    "high": "Upper end of the interval; where it cannot be, the 97.5th percentile of the seeds",
    "runs": "Runs that have a value",
}
"""Columns of a sweep's ``summary.parquet``."""


def describe(path: Path) -> dict[str, Any]:
    """Rows and columns of a Parquet file: ``{file, rows, columns: [{name, type, unit, description}]}``.

    Raises:
        ResultsError: the file is damaged or no Parquet file.

    """
    try:
        found: dict[str, Any] = json.loads(_engine.describe_parquet(path))
    except OSError as error:
        raise ResultsError(
            damaged(path, f"not a readable Parquet file: {str(error).removeprefix(f'{path}: ')}")
        ) from None
    for entry in found["columns"]:
        # Tables that Python writes carry no metadata; their columns are those of a run's summary.
        known = column(entry["name"], _OF_SUMMARY.get(entry["name"]))
        if not entry["description"] and known.label != entry["name"]:
            entry["unit"], entry["description"] = known.unit, known.full
        elif not entry["description"] and "." in entry["name"]:
            entry["description"] = "Scenario value that the sweep varies"
    return {"file": str(path), **found}


def write_csv(paths: list[Path], out: TextIO) -> None:
    """Parquet files as one CSV: names in the first line, units as a comment in the second.

    For tables of several runs each row starts with its run's id.

    Raises:
        ResultsError: a file is damaged, its columns are not those of the first, or they cannot be CSV.

    """
    columns: list[str] | None = None
    with_ids = len(paths) > 1 and all((path.absolute().parent / MANIFEST).is_file() for path in paths)
    for path in paths:
        frame = read_table(path)
        if with_ids:
            frame = frame.select(pl.lit(path.absolute().parent.name).alias("run_id"), pl.all())
        if columns not in (None, frame.columns):
            raise ResultsError(f"{path}: not the columns of {paths[0]}")
        units = [*([""] if with_ids else []), *(entry["unit"] for entry in describe(path)["columns"])]
        try:
            out.writelines(itertools.islice(csv_parts(frame, units), 0 if columns is None else 1, None))
        except ValueError as error:
            raise ResultsError(f"{path}: {error}") from None
        columns = frame.columns


def csv_parts(frame: pl.DataFrame, units: list[str]) -> Iterator[str]:
    """A table as CSV: the line of names with that of units, and the rows in parts of bounded size.

    Raises:
        ValueError: it has columns of lists or of objects.

    """
    try:
        names = frame.clear().write_csv().removesuffix("\n")
        yield f"{names}\n# {','.join(units)}\n"
        for part in frame.iter_slices(_ROWS_AT_ONCE):
            yield part.write_csv(include_header=False)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"cannot be CSV: {str(error).splitlines()[0]}") from None


_ROWS_AT_ONCE = 65_536
"""Rows of CSV that are made at a time."""

_FCT_WHOLE, _FCT_SECONDS = ("flow", "src", "dst", "bytes"), ("start_s", "fct_s", "ideal_s")


def write_fct(path: Path, out: TextIO) -> None:
    """A flows table as HPCC's ``fct.txt``; flows that did not complete are left out.

    Addresses are those that HPCC's simulator gives its nodes. The ports are invented, because flows here have none: the
    source port is 10000 plus the flow's number, modulo the number of ports; the destination port is HPCC's 100.

    Raises:
        ResultsError: the file is damaged, or it is not a flows table.

    """
    frame = read_table(path)
    missing = [name for name in (*_FCT_WHOLE, *_FCT_SECONDS) if name not in frame.columns]
    if missing:
        raise ResultsError(f"{path}: not a flows table: it has no {', '.join(missing)}")
    completed = frame.select(*_FCT_WHOLE, *_FCT_SECONDS).filter(pl.col("fct_s").is_not_null())
    for flow, source, destination, size, *seconds in completed.iter_rows():
        addresses = " ".join(f"{_address(node):08x}" for node in (source, destination))
        times = " ".join(str(round(value * 1e9)) for value in seconds)
        out.write(f"{addresses} {10000 + flow % 55536} 100 {size} {times}\n")


def _address(node: int) -> int:
    """11.x.y.1 for node 256 x + y."""
    return 0x0B000001 + (node // 256) * 0x10000 + (node % 256) * 0x100
