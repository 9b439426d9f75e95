"""Files of points of a size distribution: HPCC's, HKUST's, ns-2's and Homa's.

They look alike but differ in meaning: shares are in per cent or fractions, sizes in bytes or packets, and points are
interpolated linearly or are single sizes. If a file states its mean, the mean decides; everything else is assumed and
reported, or must be given by an option.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise, product
from pathlib import Path

from fanin.imports.source import TOO_LARGE, Source

_MEAN_TOLERANCE = Decimal("0.01")
"""Relative difference up to which a mean counts as equal to the stated one."""

_MAX_SIZE_IN_PACKETS = 10**6
"""If the largest size is above this, sizes cannot be in packets: they would be gigabytes."""


class SizeUnit(StrEnum):
    """The unit of sizes."""

    BYTES = "bytes"
    PACKETS = "packets"


class Points(StrEnum):
    """How the distribution continues between two points."""

    LINES = "lines"
    STEPS = "steps"


@dataclass
class _File:
    """The content of a file of points."""

    points: list[tuple[Decimal, Decimal]]
    """Size as in the file, and the share of flows up to that size, in per cent."""
    columns: int
    stated: Decimal | None
    """The mean in the first line."""
    last: int
    """Line of the last point."""

    def mean(self, shape: Points) -> Decimal:
        """The mean in the unit of the file."""
        first, share = self.points[0]
        total = first * share
        for (low, before), (high, upto) in pairwise(self.points):
            total += (high if shape is Points.STEPS else (low + high) / 2) * (upto - before)
        return total / 100


def sizes(
    path: Path, packet: int = 1460, unit: SizeUnit | None = None, shape: Points | None = None
) -> tuple[str, list[str]]:
    """The ``bytes-each`` of a file of points, with two columns or ns-2's three, and the assumptions made.

    Args:
        path: Lines of a size and the share of flows up to it, separated by blanks, tabs, commas or semicolons; a first
            line with one number is the mean.
        packet: Bytes of a packet, if sizes are in packets.
        unit: Unit of sizes; detected by default.
        shape: How points are joined; detected by default.

    Raises:
        ScenarioError: naming file and line; also if nothing fits the stated mean, or bytes and packets cannot be told
            apart.

    """
    source = Source(path)
    file, said = _read(source)
    unit, shape = _fitting(source, file, packet, unit, shape, said)
    each = packet if unit is SizeUnit.PACKETS else 1
    if (largest := file.points[-1][0] * each) >= TOO_LARGE:
        source.line = file.last
        source.fail(f"{largest:,.0f} B is too large for a flow: sizes are below {TOO_LARGE:,} B")
    counted = f"packets of {packet} B" if unit is SizeUnit.PACKETS else "bytes"
    joined = "interpolated linearly" if shape is Points.LINES else "single sizes"
    said.append(f"sizes are in {counted}; points are {joined}")
    points = [(max(round(size * each), 1), share) for size, share in file.points]
    mean = float(file.mean(shape) * each)
    said.append(f"points: {len(points)}; sizes {points[0][0]:,} to {points[-1][0]:,} B, mean {mean:,.1f} B")
    if shape is Points.LINES:
        return f"cdf {', '.join(f'{size}B {_shown(share)}%' for size, share in points)}", said
    return ", ".join(_parts(points)), said


def _parts(points: list[tuple[int, Decimal]]) -> Iterator[str]:
    """Each size with the share of flows of that size."""
    before = Decimal(0)
    for size, upto in points:
        if upto > before:
            yield f"{size}B {_shown(upto - before)}%"
        before = upto


def _shown(share: Decimal) -> str:
    return f"{share.normalize():f}"


def _read(source: Source) -> tuple[_File, list[str]]:
    rows: list[tuple[Decimal, Decimal]] = []
    stated: Decimal | None = None
    columns = last = 0
    for fields in source.rows():
        text = " ".join(fields)
        if len(fields) == 1 and not rows and stated is None:
            stated = source.number(text, "mean")
            if stated <= 0:
                source.fail(f"the mean {text} is not above 0")
            continue
        if len(fields) not in (2, 3) or (columns and len(fields) != columns):
            source.fail(f"{len(fields)} fields; a point has a size and a share")
        columns = len(fields)
        size, share = source.number(fields[0], "size"), source.number(fields[-1], "share")
        if size < 0 or share < 0:
            source.fail(f"{text!r} is not a point: size and share cannot be negative")
        if size == 0 < share:
            source.fail(f"{text!r} is not a point: flows have at least one byte, so the share up to size 0 is 0")
        if rows and (size < rows[-1][0] or share < rows[-1][1]):
            source.fail("points decrease: sizes and shares must increase")
        rows.append((size, share))
        last = source.line
    if not rows:
        source.fail("no points")
    whole = rows[-1][1]
    if whole not in (1, 100):
        source.fail(f"the last share is {whole:f}; it must be 1 or 100")
    said = [f"shares are {'fractions' if whole == 1 else 'per cent'}"]
    return _File([(size, share * (100 / whole)) for size, share in rows], columns, stated, last), said


def _fitting(
    source: Source, file: _File, packet: int, unit: SizeUnit | None, shape: Points | None, said: list[str]
) -> tuple[SizeUnit, Points]:
    """Unit and shape: as requested, as the stated mean implies, or as is usual in such files."""
    if unit is None and file.columns == 3:
        # ns-2's generators count packets.
        unit = SizeUnit.PACKETS
    if file.stated is None:
        return unit or SizeUnit.BYTES, shape or Points.LINES
    source.line = 1
    units = [unit] if unit else [SizeUnit.BYTES, SizeUnit.PACKETS]
    shapes = [shape] if shape else [Points.LINES, Points.STEPS]
    each = {SizeUnit.BYTES: 1, SizeUnit.PACKETS: packet}
    # The mean is in bytes or in the unit of the sizes.
    ways = [(file.mean(a_shape) * scale, a_unit, a_shape) for a_unit, a_shape in product(units, shapes)
            for scale in sorted({1, each[a_unit]})]  # fmt: skip
    off = {way: abs(way[0] / file.stated - 1) for way in ways}
    best = min(off.values())
    fits = [way for way in ways if off[way] == best]
    if best > _MEAN_TOLERANCE:
        found = ", ".join(f"{float(file.mean(a_shape)):,.6g} as {a_shape.value}" for a_shape in shapes)
        source.fail(
            f"the stated mean is {file.stated:f}, but the mean of the points is {found}, or {packet} times that in "
            "packets; remove the first line if it is not the mean"
        )
    said.append(f"the stated mean, {file.stated:f}, fits points that are {_words(fits[0][2])}")
    if len({way[1] for way in fits}) == 1:
        return fits[0][1], fits[0][2]
    if file.points[-1][0] < _MAX_SIZE_IN_PACKETS:
        source.fail("the mean fits sizes in bytes as well as in packets: add --size-unit bytes or --size-unit packets")
    return SizeUnit.BYTES, fits[0][2]


def _words(shape: Points) -> str:
    return "interpolated linearly" if shape is Points.LINES else "single sizes"
