"""Compares runs with other records, joined by key: means within tolerances, and distributions by a test.

The test is the two-sample Kolmogorov-Smirnov test of SciPy: exact for small samples, and without assumptions on the
distributions. Every cell and column is a separate test, so the levels are Holm's: with no difference at all, the
probability that any of them is reported is at most the level.
"""

from __future__ import annotations

import bisect
import io
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fanin.errors import NotFoundError, ResultsError, ScenarioError
from fanin.extras import needed
from fanin.imports.source import Source
from fanin.later import np, pl
from fanin.numbers.kinds import of_numbers, of_texts
from fanin.numbers.stats import FEWEST, Floats, finite
from fanin.numbers.units import quantity
from fanin.scenario.sections import nearest, refuse_special

Status = Literal["agrees", "out of tolerance", "other distribution", "not tested", "no value"]

_COLUMN = re.compile(r"^(?P<theirs>.+?)(?:\*(?P<factor>[0-9.eE+-]+))?$")

_ROWS_AT_ONCE = 10_000
"""Rows of a CSV file that are held as Python's texts at a time."""

_UNLIMITED_ROWS = 1_000_000
"""So many rows are as good as any number of them."""


@dataclass(frozen=True)
class Pairing:
    """A column of ours and the one of theirs that it is compared with."""

    ours: str
    theirs: str
    factor: float = 1.0
    """Factor that converts their numbers to our unit."""


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of the means: a share of theirs, or a number."""

    share: float = 0.0
    number: float = 0.0

    def holds(self, ours: float, theirs: float) -> bool:
        """Whether two means are close enough; rounding does not count."""
        allowed = max(self.share * abs(theirs), self.number)
        return abs(ours - theirs) <= allowed or math.isclose(ours, theirs, rel_tol=1e-12)


@dataclass(frozen=True)
class Cell:
    """One column at one key."""

    key: tuple[str, ...]
    column: str
    ours: float
    theirs: float
    """Means."""
    counts: tuple[int, int]
    """Our values, and theirs."""
    within: bool | None
    """Whether the means are within the tolerance; ``None`` without one."""
    p: float | None
    """p-value of the test of distributions; ``None`` if there are too few values for it to reject anything."""
    rejected: bool = False
    """Whether the test rejects equal distributions."""

    @property
    def status(self) -> Status:
        """The result of the comparison."""
        if math.isnan(self.ours) or math.isnan(self.theirs):
            return "no value"
        if self.within is False:
            return "out of tolerance"
        if self.within is None and self.p is None:
            return "not tested"
        return "other distribution" if self.rejected else "agrees"

    @property
    def difference(self) -> float:
        """Ours divided by theirs, minus one; not a number if theirs is zero."""
        return self.ours / self.theirs - 1 if self.theirs else (0.0 if self.ours == 0 else math.nan)

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """For JSON."""
        return {
            "key": dict(zip(names, self.key, strict=True)),
            "column": self.column,
            "ours": finite(self.ours),
            "theirs": finite(self.theirs),
            "difference": finite(self.difference),
            "values": list(self.counts),
            "within": self.within,
            "p": self.p,
            "status": self.status,
        }


@dataclass(frozen=True)
class Joined:
    """A comparison."""

    key: list[str]
    cells: list[Cell]
    ours_only: list[tuple[str, ...]]
    """Keys that the reference does not have."""
    theirs_only: list[tuple[str, ...]]

    @property
    def agrees(self) -> bool:
        """Whether every cell agrees."""
        return all(cell.status == "agrees" for cell in self.cells)


@dataclass(frozen=True)
class Records:
    """The data of somebody else."""

    path: Path
    frame: pl.DataFrame
    lines: list[int] | None = None
    """The line of each row in the file, if it has lines."""

    def row(self, index: int) -> str:
        """The place of a row, for messages."""
        return f"{self.path}: row {index + 1}" if self.lines is None else f"{self.path}:{self.lines[index]}"


def read(path: Path) -> Records:
    """The records in a CSV or Parquet file; of a CSV file, a column is of texts unless all of it is numbers.

    Raises:
        NotFoundError: there is no such file.
        ResultsError: it cannot be read in the format of its ending.

    """
    if not path.is_file():
        raise NotFoundError(f"{path}: no such file")
    refuse_special(path)
    try:
        content = path.read_bytes()
        if path.suffix.lower() != ".parquet":
            return _of_csv(path, content)
        return Records(path, pl.read_parquet(io.BytesIO(content)))
    except ScenarioError as error:
        raise ResultsError(str(error)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = next(iter(str(error).strip().splitlines()), "nothing in it")
        raise ResultsError(f"{path}: neither CSV nor, with that ending, Parquet: {first}") from None


def _of_csv(path: Path, content: bytes) -> Records:
    source = Source(path, content)
    rows = source.table()
    schema = dict.fromkeys(next(rows, []), pl.String())
    if not schema:
        source.fail("nothing in it")
    lines: list[int] = []
    numbered = ((source.line, fields) for fields in rows)
    parts = [pl.DataFrame(schema=schema)]
    while part := list(itertools.islice(numbered, _ROWS_AT_ONCE)):
        lines += [line for line, _ in part]
        parts.append(pl.DataFrame([fields for _, fields in part], schema=schema, orient="row"))
    texts = pl.concat(parts)
    return Records(path, texts.with_columns(_read_if_all(each) for each in texts.iter_columns()), lines)


def _read_if_all(texts: pl.Series) -> pl.Series:
    numbers = _finite(texts)
    return texts if _unread(texts, numbers).any() else numbers


def _finite(values: pl.Series) -> pl.Series:
    """The finite numbers of a column, null where there is none."""
    numbers = values.cast(pl.Float64, strict=False)
    return pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series().rename(values.name)


def _unread(values: pl.Series, numbers: pl.Series) -> pl.Series:
    """Where a column has something that is no number; an empty text is nothing."""
    there = values.is_not_null() if values.dtype != pl.String else values.fill_null("") != ""
    return there & numbers.is_null()


def numbers(theirs: Records, names: Sequence[str]) -> Records:
    """The records with some columns as finite numbers; what is empty has no value.

    Raises:
        ResultsError: a cell is no finite number.

    """
    return replace(theirs, frame=theirs.frame.with_columns(_numbers(theirs, name) for name in dict.fromkeys(names)))


def _numbers(theirs: Records, name: str) -> pl.Series:
    values = theirs.frame[name]
    if of_texts(values.dtype):
        values = values.cast(pl.String).str.strip_chars()
    elif not of_numbers(values.dtype):
        raise ResultsError(f"{theirs.path}: the column {name} is of {values.dtype}, not of numbers")
    found = _finite(values)
    if (wrong := _unread(values, found).arg_true()).len():
        at = wrong[0]
        raise ResultsError(
            f"{theirs.row(at)}: {name}: {values[at]!r} is not a finite number; an empty cell is no value"
        )
    return found


def column(text: str) -> Pairing:
    """The column that a text such as ``goodput_bps=goodput_mbps*1e6`` means.

    Raises:
        ValueError: it is not of that form.

    """
    ours, equals, rest = (part.strip() for part in text.partition("="))
    match = _COLUMN.match(rest)
    if not ours or not equals or match is None:
        raise ValueError(f"{text!r} is not OURS=THEIRS or OURS=THEIRS*FACTOR")
    factor = _number(match["factor"] or "1")
    if not isinstance(factor, float) or not math.isfinite(factor):
        raise ValueError(f"{text!r}: the factor is not a finite number")
    return Pairing(ours, match["theirs"].strip(), factor)


def tolerance(text: str) -> tuple[str, Tolerance]:
    """The column and the tolerance that a text such as ``goodput_bps=5%`` or ``fct_p99_s=1ms`` means.

    Raises:
        ValueError: it is not of that form.

    """
    name, equals, value = (part.strip() for part in text.partition("="))
    found = quantity(_number(value))
    if not name or not equals or found is None or not 0 <= found[0] < math.inf:
        raise ValueError(f"{text!r} is not COLUMN=SHARE or COLUMN=NUMBER, such as goodput_bps=5% or timeouts=2")
    number, unit = found
    return name, Tolerance(share=number) if unit == "1" else Tolerance(number=number)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def join(
    ours: pl.DataFrame,
    theirs: Records,
    key: Sequence[str],
    compared: Sequence[Pairing],
    tolerances: Mapping[str, Tolerance],
    level: float,
) -> Joined:
    """Compares two tables, whose rows with the same key are samples of the same cell.

    Args:
        ours: Our rows.
        theirs: The records, with what is compared as numbers.
        key: Columns of both that identify a cell; without any, all rows are one cell.
        compared: Columns to compare.
        tolerances: By our column's name.
        level: Probability of reporting any difference of distributions although there is none.

    Raises:
        NotFoundError: SciPy is not installed, a column is missing, or no key is in both.
        ResultsError: a column of ours is not of numbers.

    """
    _check(ours, "our runs", [*key, *(each.ours for each in compared)])
    check_columns(theirs, [*key, *(each.theirs for each in compared)])
    for each in compared:
        if not of_numbers(ours.schema[each.ours]):
            raise ResultsError(f"our runs: the column {each.ours} is not of numbers")
    mine, others = _cells(ours, key), _cells(theirs.frame, key)
    common = [place for place in mine if place in others]
    if not common:
        raise NotFoundError(f"{theirs.path}: no {' and '.join(key) or 'row'} is in both our runs and these records")
    places = [(place, each) for place in common for each in compared]
    sides = [
        (_values(mine[place][each.ours]), _values(others[place][each.theirs]) * each.factor) for place, each in places
    ]
    able = _able([_least_p(len(own), len(other)) for own, other in sides], level)
    cells = [
        _cell(place, each.ours, values, tolerances.get(each.ours), tested=tested)
        for (place, each), values, tested in zip(places, sides, able, strict=True)
    ]
    return Joined(
        list(key),
        _rejected(cells, level),
        [place for place in mine if place not in others],
        [place for place in others if place not in mine],
    )


def key_of(points: pl.DataFrame, theirs: Records) -> list[str]:
    """The varied keys that the records have, if these tell all points of ours apart.

    Args:
        points: What varies between our runs: a column for each key, and a row for each run.
        theirs: The records.

    Raises:
        NotFoundError: the records lack a key that is varied: different points would be taken for samples of one.

    """
    key = [name for name in points.columns if name in theirs.frame.columns]
    if len(_cells(points, key)) < len(_cells(points, points.columns)):
        name = next(each for each in points.columns if each not in key and points[each].n_unique() > 1)
        raise NotFoundError(
            f"{theirs.path}: the sweep varies {name}, which these records lack{_instead(name, theirs.frame)}; "
            "--key names the columns that identify a cell, --key '' takes all rows for samples of one"
        )
    return key


def check_columns(theirs: Records, names: Sequence[str]) -> None:
    """Refuses records without some columns, before anything runs.

    Raises:
        NotFoundError: a column is missing.

    """
    _check(theirs.frame, str(theirs.path), names)


def check_test(points: pl.DataFrame, theirs: Records, key: Sequence[str], level: float, *, rows: bool) -> None:
    """Refuses what will need a test of distributions without SciPy, before anything runs.

    Args:
        points: As for :func:`key_of`.
        theirs: The records.
        key: Columns of both that identify a cell.
        level: As for :func:`join`.
        rows: Whether a run has many rows to compare, not one.

    Raises:
        NotFoundError: SciPy is not installed.

    """
    if not set(key) <= set(points.columns):
        return
    mine, others = _cells(points, key), _cells(theirs.frame, key)
    common = [place for place in mine if place in others]
    if any(_least_p(_UNLIMITED_ROWS if rows else len(mine[place]), len(others[place])) <= level for place in common):
        _scipy_stats()


def _check(frame: pl.DataFrame, what: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise NotFoundError(f"{what}: no column {name}{_instead(name, frame)}")


def _instead(name: str, frame: pl.DataFrame) -> str:
    """The columns that there are, and the one that was probably meant."""
    close = nearest(name, frame.columns)
    hint = f' (did you mean "{close}"?)' if close else ""
    return f"{hint}; there are {', '.join(frame.columns)}"


def _cells(frame: pl.DataFrame, key: Sequence[str]) -> dict[tuple[str, ...], pl.DataFrame]:
    """The rows of each key; numbers with and without units are the same key if they are equal."""
    places = [tuple(_shown(value) for value in row) for row in frame.select(key).iter_rows()] if key else []
    rows: dict[tuple[str, ...], list[int]] = {}
    for index, place in enumerate(places or [()] * len(frame)):
        rows.setdefault(place, []).append(index)
    return {place: frame[indices] for place, indices in rows.items()}


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    found = quantity(value)
    return str(value) if found is None else f"{found[0]:.12g}"


def _values(column: pl.Series) -> Floats:
    values: Floats = np.asarray(_finite(column).drop_nulls())
    return values


def _cell(
    key: tuple[str, ...], name: str, sides: tuple[Floats, Floats], allowed: Tolerance | None, *, tested: bool
) -> Cell:
    ours, theirs = (float(values.mean()) if len(values) else math.nan for values in sides)
    within = None if allowed is None else allowed.holds(ours, theirs)
    return Cell(key, name, ours, theirs, (len(sides[0]), len(sides[1])), within, _p_value(*sides) if tested else None)


def _least_p(ours: int, theirs: int) -> float:
    """The smallest p-value that so many values can have: where all of one side are below all of the other.

    Of all orders of the values, two are as far apart as that.
    """
    if min(ours, theirs) < FEWEST:
        return math.inf
    return 2 * math.exp(math.lgamma(ours + 1) + math.lgamma(theirs + 1) - math.lgamma(ours + theirs + 1))


def _able(least: list[float], level: float) -> list[bool]:
    """Which tests can reject, by the smallest p-values that they can have: one that cannot tests nothing."""
    ordered = sorted(least)
    able = [p for p in ordered if p <= level / bisect.bisect_right(ordered, p)]
    return [p <= max(able, default=-1.0) for p in least]


def _p_value(ours: Floats, theirs: Floats) -> float:
    """p-value of the Kolmogorov-Smirnov test for two samples."""
    return float(_scipy_stats().ks_2samp(ours, theirs).pvalue)


def _scipy_stats() -> Any:  # noqa: ANN401 - it has no types
    return needed("scipy.stats", "a test of distributions needs SciPy", "reference")


def _rejected(cells: list[Cell], level: float) -> list[Cell]:
    """The cells, with the rejections of Holm's procedure."""
    tested = sorted((cell.p, place) for place, cell in enumerate(cells) if cell.p is not None)
    rejected = set()
    for rank, (p, place) in enumerate(tested):
        if p > level / (len(tested) - rank):
            break
        rejected.add(place)
    return [
        cell if place not in rejected else Cell(**{**vars(cell), "rejected": True}) for place, cell in enumerate(cells)
    ]


def compared_by_default(names: Iterable[str], theirs: Records, key: Sequence[str]) -> list[Pairing]:
    """The columns that have the same name in the records, without the key and the seed.

    Args:
        names: Columns of our runs that are of numbers.
        theirs: The records.
        key: Columns of both that identify a cell.

    """
    skipped = {*key, "seed"}
    return [Pairing(name, name) for name in names if name not in skipped and name in theirs.frame.columns]
