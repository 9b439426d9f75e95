"""A sweep in parts, run on independent machines, and the merging of the parts.

Shard i of n has every n-th point of the sweep, from the i-th on. When all of its runs have ended, it writes
``results/shards/<sweep>/<i>-of-<n>.json`` with their rows, next to the runs themselves.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fanin.digests import canonical
from fanin.errors import ResultsError
from fanin.names import checked, checked_run_id
from fanin.numbers.summary import totals
from fanin.results import sums
from fanin.results.confined import read
from fanin.results.dataset import OF_THE_MACHINE, DataSet, Head, Row, as_json
from fanin.results.files import write_whole, writing
from fanin.results.layout import ELSEWHERE, SHARDS
from fanin.results.store import Store


@dataclass(frozen=True)
class Shard:
    """One part of several."""

    index: int
    """Counted from one."""
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard of a text such as ``2/8``.

        Raises:
            ValueError: the text is not a shard.

        """
        match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        if match is None or not 1 <= int(match.group(1)) <= int(match.group(2)):
            raise ValueError(f"{text!r} is not a shard: 2/8 is the second of eight")
        return cls(int(match.group(1)), int(match.group(2)))

    def has(self, place: int) -> bool:
        """Whether a point of the sweep, counted from zero, belongs to it."""
        return place % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True)
class Part:
    """The result of a shard: the rows of its points, by their index in the whole sweep."""

    head: Head
    shard: Shard
    rows: dict[int, Row]
    failed: dict[int, Row]
    root: Path
    """Results folder with its runs."""

    @property
    def path(self) -> Path:
        """Its file."""
        return self.root / SHARDS / self.head.id / f"{self.shard.index}-of-{self.shard.count}.json"

    def write(self) -> Path:
        """Writes its file atomically.

        Raises:
            ResultsError: the folder cannot be written.

        """
        rows = {name: list(found.items()) for name, found in (("rows", self.rows), ("failed", self.failed))}
        content = sums.sealed({"sweep": asdict(self.head), "shard": str(self.shard), **rows})
        with writing(self.root):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, as_json(content))
        return self.path


class _File(BaseModel):
    """The content of a shard's file."""

    model_config = ConfigDict(extra="forbid")

    sweep: Head
    shard: str
    rows: list[list[Any]]
    failed: list[list[Any]]


def _read(path: Path, root: Path) -> Part:
    """A finished shard.

    Raises:
        ResultsError: its file is damaged.

    """
    try:
        value = sums.unsealed(sums.loaded(read(path)))
        content = _File.model_validate(value)
        head = content.sweep
        checked(head.id)
        if not is_of(path, value):
            raise ValueError(ELSEWHERE)
        rows = {_place(place, head): _checked(row, head) for place, row in content.rows}
        failed: dict[int, Row] = {_place(place, head): dict(row) for place, row in content.failed}
        return Part(head, Shard.parse(content.shard), rows, failed, root)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ResultsError(f"{path}: damaged ({why}); delete it and run the shard again: its runs are kept") from None


def is_of(path: Path, content: dict[str, Any]) -> bool:
    """Whether a shard's file is in its place: another in it would be taken for the one that is lost."""
    place = content["sweep"]["id"], f"{content['shard'].replace('/', '-of-')}.json"
    return (path.parent.name, path.name) == place


def _place(value: object, head: Head) -> int:
    if type(value) is not int or not 0 <= value < head.runs:
        raise ValueError(f"{value!r} is not the place of a run")
    return value


def _checked(row: Row, head: Head) -> Row:
    """The row of a run, if the columns that are not among its totals are what a sweep can have."""
    checked_run_id(row["run_id"])
    for name in (*head.keys, *head.labels):
        if not isinstance(row.get(name), str | int | float | None):
            raise TypeError(f"{name} = {row[name]!r}")
    return row


@dataclass(frozen=True)
class Merged:
    """The result of merging all shards found."""

    whole: list[DataSet]
    """The complete sweeps; their data sets are not written yet."""
    left: dict[str, str]
    """Sweeps that were not merged -> what is missing or wrong."""


def merge(roots: list[Path], out: Path, advance: Callable[[int, int], None] = lambda *_: None) -> Merged:
    """Merges the shards of some results folders: their runs are copied to the store of ``out``, unless already there.

    Args:
        roots: Results folders of the shards.
        out: Results folder of the whole.
        advance: Called with the number of runs copied so far and the total.

    Raises:
        ResultsError: there are no shards, or the results folder cannot be written.

    """
    sweeps: dict[str, list[tuple[Path, Path]]] = {}
    for root in roots:
        if not root.is_dir():
            raise ResultsError(f"{root}: no such folder")
        for path in sorted((root / SHARDS).glob("*/*-of-*.json")):
            sweeps.setdefault(path.parent.name, []).append((path, root))
    if not sweeps:
        raise ResultsError(f"{', '.join(map(str, roots))}: no finished shards; fanin sweep --shard makes them")
    merged = Merged([], {})
    joined: dict[str, tuple[list[Part], DataSet]] = {}
    for name, files in sweeps.items():
        try:
            parts = [_read(path, root) for path, root in files]
            joined[name] = parts, _joined(parts)
        except ResultsError as error:
            merged.left[name] = str(error)
    store = Store(out)
    if joined:
        store.prepare()
    total = sum(len(part.rows) for parts, _ in joined.values() for part in parts)
    done = itertools.count(1)
    stores = {root: Store(root) for root in roots}
    with closing(store):
        for name, (parts, data) in joined.items():
            try:
                for root, row in ((part.root, row) for part in parts for row in part.rows.values()):
                    _adopt(stores[root], row, store)
                    advance(next(done), total)
                merged.whole.append(data)
            except ResultsError as error:
                merged.left[name] = str(error)
    return merged


def whole(root: Path, sweep: str) -> DataSet:
    """The data set of a sweep from its shards in a results folder.

    Raises:
        ResultsError: they are not all there, or damaged.

    """
    parts = [_read(path, root) for path in sorted((root / SHARDS / sweep).glob("*-of-*.json"))]
    if not parts:
        raise ResultsError(f"{root}: no shards of {sweep}")
    return _joined(parts)


_MOST_MISSING = 10_000
"""So many runs are looked at for the names of missing shards."""


def _points(head: Head) -> tuple[object, ...]:
    """What the shards of one sweep have in common, whatever its file says in words."""
    return head.id, head.keys, head.seeds, head.runs, head.axes


def _joined(parts: list[Part]) -> DataSet:
    """The data set of one sweep.

    Raises:
        ResultsError: shards are missing or differ.

    """
    first = parts[0]
    rows: dict[int, Row] = {}
    failed: dict[int, Row] = {}
    for part in parts:
        if part.head.engine_version != first.head.engine_version:
            raise ResultsError(
                f"{first.path} and {part.path} are of two engines, {first.head.engine_version} and "
                f"{part.head.engine_version}: run one of them again with the other's, or delete its file"
            )
        if _points(part.head) != _points(first.head):
            raise ResultsError(f"{first.path} and {part.path} are of two sweeps: put each below a folder of its name")
        for found, into in ((part.rows, rows), (part.failed, failed)):
            for place, row in found.items():
                known = into.setdefault(place, row)
                if known != row:
                    names = ", ".join(
                        f"{name} {known.get(name)} and {row[name]}" for name in row if row[name] != known.get(name)
                    )
                    raise ResultsError(f"{part.path}: run {row['run_id']} differs from that of another shard: {names}")
    # A run that failed in one shard but succeeded in another has succeeded.
    failed = {place: row for place, row in failed.items() if place not in rows}
    absent = (place for place in range(first.head.runs) if place not in rows and place not in failed)
    missing = list(itertools.islice(absent, _MOST_MISSING))
    if missing:
        counts = sorted({part.shard.count for part in parts})
        shards = [Shard(place % count + 1, count) for count in counts for place in missing]
        names = ", ".join(str(each) for each in sorted(set(shards), key=lambda each: (each.count, each.index)))
        raise ResultsError(f"missing {names}: run the same command with --shard for each")
    return DataSet(first.head, *([found[place] for place in sorted(found)] for found in (rows, failed)))


def _adopt(source: Store, row: Row, store: Store) -> None:
    """Copies a run into another store, unless it is there.

    Raises:
        ResultsError: it is missing or damaged, or it is not the run that the shard lists.

    """
    name = row["run_id"]
    run = source.read(name)
    measured = {name: value for name, value in totals(run.summary).items() if name not in OF_THE_MACHINE}
    if canonical(measured) != canonical({name: row.get(name) for name in measured}):
        raise ResultsError(f"{run.folder}: not the run that its shard has tabulated; run the shard again")
    if store.folder.resolve() == source.folder.resolve():
        return
    there = store.find(name)
    if there is not None:
        if there.summary["result_hash"] != run.summary["result_hash"]:
            raise ResultsError(f"{run.folder} and {there.folder}: two results of one run; delete the wrong one")
        if set(run.tables) <= set(there.tables) and store.find(name, run.tables) is not None:
            return
    store.adopt(run)
