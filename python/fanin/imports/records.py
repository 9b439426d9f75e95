"""Flow records: a table with a header, such as exports of NetFlow or sFlow, and Zeek's conn.log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from fanin.imports.flows import Flows
from fanin.imports.source import LATEST, Source, Unit

_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?")
_SUMMARY = ["Summary"]
"""The lines after this one in nfdump's CSV are totals."""

_UNSET = ("", "-", "(empty)")
"""What stands where nothing was measured."""


def records(path: Path, columns: dict[str, str], unit: Unit) -> Flows:
    """A table of flow records with a header, in any order; time zero is the earliest start.

    Rows that measured records always have and that are no flows are left out and counted: without a value, with 0
    bytes, or of a host to itself.

    Args:
        path: The file.
        columns: ``start``, ``src``, ``dst`` and ``bytes`` -> name of the column.
        unit: Unit of starts that are numbers; they may also be dates with times (ISO 8601).

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source, flows = Source(path), Flows()
    _read(source, flows, columns, unit)
    return flows


class _Clock:
    """Starts in picoseconds since the first one read, which need not be the earliest."""

    def __init__(self, source: Source, unit: Unit) -> None:
        self.source = source
        self.unit = unit
        self.first: int | None = None
        self.low = self.high = 0
        self.earliest = ""
        self.dated = False

    def start(self, text: str) -> int:
        date = _ISO.fullmatch(text)
        if self.first is not None and (date is not None) != self.dated:
            self.source.fail(f"start {text!r} is {'a date' if date else 'not a date'}, unlike earlier ones")
        self.dated = date is not None
        ps = _since_1970(self.source, date) if date else int(self.source.number(text, "start") * self.unit.ps)
        if self.first is None:
            self.first, self.earliest = ps, text
        ps -= self.first
        if ps < self.low:
            self.low, self.earliest = ps, text
        self.high = max(self.high, ps)
        if self.high - self.low > LATEST:
            self.source.fail(f"start {text} is more than {LATEST // Unit.S.ps} s from an earlier one")
        return ps


def _since_1970(source: Source, date: re.Match[str]) -> int:
    """Picoseconds; dates without a time zone are in UTC."""
    try:
        seconds = datetime.fromisoformat(f"{date[1]}{date[3] or '+00:00'}") - datetime(1970, 1, 1, tzinfo=UTC)
    except ValueError as error:
        source.fail(f"start {date[0]!r} is not a valid time: {error}")
    whole = seconds.days * 86400 + seconds.seconds
    return int((whole + Decimal(f"0.{date[2] or 0}")) * Unit.S.ps)


def _read(source: Source, flows: Flows, columns: dict[str, str], unit: Unit) -> None:
    lines = source.table(last=_SUMMARY)
    header = next(lines, [])
    if not header:
        source.fail("no header")
    if missing := [name for name in columns.values() if name not in header]:
        source.fail(f"no column {missing[0]!r}; the header has {', '.join(header)}")
    places = {what: header.index(name) for what, name in columns.items()}
    clock = _Clock(source, unit)
    left_out: Counter[str] = Counter()
    rows = total = 0
    for fields in lines:
        if fields == _SUMMARY:
            flows.said.append(_totals(source, lines, rows, total))
            break
        rows += 1
        given = {what: fields[place] for what, place in places.items()}
        if unset := [what for what, text in given.items() if text in _UNSET]:
            left_out[f"without {unset[0]}"] += 1
            continue
        size = source.whole(given["bytes"], "bytes")
        total += size
        if size == 0 or given["src"] == given["dst"]:
            left_out["with 0 bytes" if size == 0 else "of a host to itself"] += 1
            continue
        src, dst = (flows.hosts.setdefault(given[end], len(flows.hosts)) for end in ("src", "dst"))
        flows.add(clock.start(given["start"]), (src, dst), size)
    if left_out:
        counted = (f"{count:,} {'rows' if count > 1 else 'row'} {why}" for why, count in left_out.items())
        flows.said.append(f"left out: {', '.join(counted)}")
    flows.refuse_none(source)
    flows.origin = clock.low
    kind = "dates, in UTC unless they have a time zone" if clock.dated else f"in {unit}"
    flows.said.append(
        f"starts are {kind}, relative to the earliest, {clock.earliest}; hosts are numbered in order of appearance"
    )


def _totals(source: Source, lines: Iterator[list[str]], rows: int, total: int) -> str:
    """Totals of nfdump beside those of the rows, which may differ: a row can stand for several flows."""
    line = source.line
    told = dict(zip(next(lines, []), next(lines, []), strict=False))
    flows, size = (told.get(name, "no") for name in ("flows", "bytes"))
    said = f"totals from line {line} on say {flows} flows and {size} B"
    return (
        said if (flows, size) == (str(rows), str(total)) else f"{said}, but the rows before are {rows} with {total} B"
    )
