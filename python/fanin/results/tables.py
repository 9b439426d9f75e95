"""Result tables, of stored runs and in files: finding, describing and exporting them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fanin.errors import ResultsError
from fanin.later import pl
from fanin.names import is_run_id
from fanin.numbers.summary import column, meanings
from fanin.results.database import FILE
from fanin.results.frames import meanings_in, read_table, rows_in
from fanin.results.layout import ROWS
from fanin.results.store import Store, StoredRun

USUAL = Path("results")
"""The results folder of a run that is named by its id alone, unless the working folder is one."""


@dataclass(frozen=True)
class Table:
    """A result table: of a stored run, or a Parquet file."""

    name: str
    run: StoredRun | None = None
    path: Path = Path()
    """The file, if it is not of a run."""

    @property
    def place(self) -> str:
        """What the user knows it by."""
        return str(self.path) if self.run is None else f"{self.run.place}/{self.name}"

    def content(self) -> bytes:
        """The content of the Parquet file.

        Raises:
            ResultsError: it is damaged.
            OSError: the file cannot be read.

        """
        return self.path.read_bytes() if self.run is None else self.run.content(self.name)

    def read(self) -> pl.DataFrame:
        """The table.

        Raises:
            ResultsError: it is damaged, or does not fit in memory.

        """
        return read_table(self.path) if self.run is None else self.run.table(self.name)

    def rows(self) -> int:
        """How many rows it has.

        Raises:
            ResultsError: it is damaged.

        """
        return rows_in(self.path if self.run is None else io.BytesIO(self.content()), self.place)

    def describe(self) -> dict[str, Any]:
        """Rows and columns: ``{file, rows, columns: [{name, type, unit, description}]}``.

        Raises:
            ResultsError: it is damaged or no Parquet file.

        """
        frame = self.read()
        return {"file": self.place, "rows": frame.height, "columns": self.describe_columns(frame)}

    def describe_columns(self, frame: pl.DataFrame) -> list[dict[str, Any]]:
        """The columns of what was read of it, as in :meth:`describe`.

        Raises:
            ResultsError: it is damaged or no Parquet file.

        """
        known = meanings_in(self.path, self.place) if self.run is None else meanings(self.name)
        return [
            {"name": name, "type": _type_name(dtype), **(known.get(name) or _meaning(name))}
            for name, dtype in frame.schema.items()
        ]


LATEST = "latest"
"""Names the run with tables that finished last, in place of an id."""


def names_run(path: Path) -> bool:
    """Whether this is how a run is named, alone or in a results folder."""
    return (is_run_id(path.name) or path.name == LATEST) and not path.exists()


def run_of(path: Path) -> StoredRun | None:
    """The run that is named by its id, in a results folder or alone; none if this is no such name.

    Raises:
        ResultsError: there is no such run, or it is damaged.

    """
    if not names_run(path):
        return None
    store = Store(USUAL if path.parent == Path() and not Path(FILE).exists() else path.parent)
    name = store.latest() if path.name == LATEST else path.name
    if name is None:
        raise ResultsError(f"{store.root}: no run with tables is stored here")
    return store.read(name)


def locate(path: Path) -> list[Table]:
    """The tables of a path: a Parquet file, a run (``results/ID``), or all runs of a sweep or an experiment.

    Raises:
        ResultsError: there is nothing there, or it is damaged.

    """
    if (run := run_of(path)) is not None:
        return [Table(name, run) for name in run.tables]
    if path.is_dir():
        return [Table(name, run) for run in runs_of(path) for name in run.tables]
    if not path.is_file():
        raise ResultsError(f"{path}: no such file, and no run of a results folder")
    with path.open("rb") as stream:
        if stream.read(len(_PARQUET)) != _PARQUET:
            what = "a scenario, of which 'fanin run' makes results" if path.suffix == ".toml" else "no Parquet file"
            raise ResultsError(f"{path}: {what}: name a run or a table")
    return [Table(path.stem, path=path)]


def runs_of(folder: Path) -> list[StoredRun]:
    """The runs of a sweep or an experiment, in the order of its table.

    Raises:
        ResultsError: the folder is of neither, or it is not in a results folder.

    """
    path = folder / ROWS
    store = next((Store(above) for above in folder.absolute().parents if (above / FILE).exists()), None)
    if store is None or not path.is_file():
        raise ResultsError(f"{folder}: neither a run, such as results/0123456789abcdef, nor a folder of runs")
    return [store.read(name) for name in read_table(path)["run_id"]]


_PARQUET = b"PAR1"
"""How every Parquet file begins."""


def find(path: Path, table: str) -> list[Table]:
    """The tables of that name of the runs that a path names, or the path itself if it is a Parquet file.

    Raises:
        ResultsError: as :func:`locate`.

    """
    return [each for each in locate(path) if each.run is None or each.name == table]


def differences(tables: Iterable[Table]) -> list[str]:
    """The keys in which the scenarios of stored runs differ, apart from their seeds; files are left out."""
    runs = {each.run.run_id: each.run for each in tables if each.run is not None}
    return differing([flat(run.scenario) for run in runs.values()])


_MOST_NAMED = 4
"""So many keys are named in a warning."""


def word_differences(tables: Iterable[Table]) -> list[str]:
    """A warning if the runs whose tables are taken together are not runs of one scenario with several seeds."""
    if not (found := differences(tables)):
        return []
    more = f" and {len(found) - _MOST_NAMED} more keys" if len(found) > _MOST_NAMED else ""
    return [f"runs of different scenarios are combined: they differ in {', '.join(found[:_MOST_NAMED])}{more}"]


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


def _type_name(dtype: pl.DataType) -> str:
    if dtype in (pl.String, pl.Categorical):
        return "text"
    return "bool" if dtype == pl.Boolean else str(dtype).lower()


def _meaning(name: str) -> dict[str, str]:
    """Unit and description of a column that its file does not tell: of a sweep's table."""
    known = column(name, _OF_SUMMARY.get(name))
    if known.label != name:
        return {"unit": known.unit, "description": known.full}
    return {"unit": "", "description": "Scenario value that the sweep varies" if "." in name else ""}


def together(tables: list[Table]) -> pl.DataFrame:
    """Several tables as one; those of several runs have the run's id in front of each row.

    Raises:
        ResultsError: one is damaged, or its columns are not those of the first.

    """
    with_ids = len(tables) > 1 and all(each.run is not None for each in tables)
    found: list[pl.DataFrame] = []
    for each in tables:
        frame = each.read()
        if with_ids and each.run is not None:
            frame = frame.select(pl.lit(each.run.run_id).alias("run_id"), pl.all())
        if found and found[0].columns != frame.columns:
            raise ResultsError(f"{each.place}: not the columns of {tables[0].place}")
        found.append(frame)
    try:
        return found[0] if len(found) == 1 else pl.concat(found, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise ResultsError(f"{tables[0].place} and others: {str(error).splitlines()[0]}") from None


def write_csv(tables: list[Table], out: BinaryIO) -> None:
    """Tables as one CSV: names in the first line, units as a comment in the second.

    Raises:
        ResultsError: as :func:`together`, or they cannot be CSV.

    """
    frame = together(tables)
    units = [entry["unit"] for entry in tables[0].describe_columns(frame)]
    try:
        for part in csv_parts(frame, units):
            out.write(part.encode(errors="replace"))
    except ValueError as error:
        raise ResultsError(f"{tables[0].place}: {error}") from None


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


def write_fct(table: Table, out: BinaryIO) -> None:
    """A flows table as HPCC's ``fct.txt``; flows that did not complete are left out.

    Addresses are those that HPCC's simulator gives its nodes. The ports are invented, because flows here have none: the
    source port is 10000 plus the flow's number, modulo the number of ports; the destination port is HPCC's 100.

    Raises:
        ResultsError: it is damaged, or not a flows table.

    """
    frame = table.read()
    missing = [name for name in (*_FCT_WHOLE, *_FCT_SECONDS) if name not in frame.columns]
    if missing:
        raise ResultsError(f"{table.place}: not a flows table: it has no {', '.join(missing)}")
    completed = frame.select(*_FCT_WHOLE, *_FCT_SECONDS).filter(pl.col("fct_s").is_not_null())
    for flow, source, destination, size, *seconds in completed.iter_rows():
        addresses = " ".join(f"{_address(node):08x}" for node in (source, destination))
        times = " ".join(str(round(value * 1e9)) for value in seconds)
        out.write(f"{addresses} {10000 + flow % 55536} 100 {size} {times}\n".encode())


def _address(node: int) -> int:
    """11.x.y.1 for node 256 x + y."""
    return 0x0B000001 + (node // 256) * 0x10000 + (node % 256) * 0x100
