"""Values of a scenario key in a sweep: lists and ranges, in files and on the command line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from fractions import Fraction

Scalar = bool | int | float | str
"""A value of a sweep variable, as in a scenario file."""

_NUMBER = r"(\d+(?:\.\d+)?(?:/\d+)?)\s*([A-Za-z%]*(?:/s)?)"
_RANGE = re.compile(rf"^{_NUMBER}\.\.{_NUMBER}(?::{_NUMBER})?$")
MOST_VALUES = 1_000_000
"""Of a range or a number of seeds."""

LARGEST = 2**64 - 1
"""The largest whole number that the engine reads, and so the largest seed."""

_MAX_SHOWN_DIGITS = 20
"""Digits of a number that is too long to be shown as a whole."""

COUNTED = ("pkt", "mss", "B")
"""Units that are counted in whole numbers."""


@dataclass(frozen=True)
class Range:
    """``first..last:step``, both ends included, all in one unit; without a step it has only its ends."""

    first: Fraction
    last: Fraction
    step: Fraction | None
    unit: str

    def shown(self, number: Fraction | float) -> Scalar:
        """A number of the range, as in a scenario file."""
        plain: int | float = int(number) if number == int(number) else float(number)
        # Never in the form 1e-05, which scenario values with a unit do not allow.
        return f"{format(Decimal(repr(plain)), 'f')}{self.unit}" if self.unit else plain

    def values(self) -> list[Scalar]:
        """The values of a range with a step; whole numbers without a unit have steps of one.

        Raises:
            ValueError: there is no step, or there is no value, or there are too many.

        """
        step = self.step
        if step is None:
            if self.unit or self.first.denominator != 1 or self.last.denominator != 1:
                some = f"{self.shown(self.first)}..{self.shown(self.last)}"
                raise ValueError(f"the range {some!r} needs a step, such as '5pkt..80pkt:5pkt'")
            step = Fraction(1)
        if step == 0 or self.last < self.first:
            raise ValueError(f"{self} is an empty range: first..last:step goes upwards")
        count = (self.last - self.first) // step + 1
        if count > MOST_VALUES:
            raise ValueError(f"{self} has {count:,} values, more than {MOST_VALUES:,}")
        return [self.shown(self.first + index * step) for index in range(count)]

    @property
    def is_whole(self) -> bool:
        """Whether both ends are whole numbers."""
        return self.first.denominator == self.last.denominator == 1

    def spaced(self, count: int) -> list[Scalar]:
        """So many values with equal ratios between them, both ends included; whole numbers if the unit is counted.

        Raises:
            ValueError: the range does not start above zero and increase.

        """
        if not 0 < self.first < self.last:
            raise ValueError(f"{self} goes from above zero upwards")
        whole = self.is_whole and self.unit in ("", *COUNTED)
        ratio = float(self.last / self.first) ** (1 / (count - 1))
        inner = [float(self.first) * ratio**place for place in range(1, count - 1)]
        rounded = [float(f"{each:.3g}") for each in inner]
        found = [self.first, *(round(each) if whole else each for each in rounded), self.last]
        return list(dict.fromkeys(self.shown(each) for each in found))

    def __str__(self) -> str:
        step = "" if self.step is None else f":{self.shown(self.step)}"
        return f"'{self.shown(self.first)}..{self.shown(self.last)}{step}'"


def parse_range(text: str) -> Range | None:
    """The range in a text such as ``10..200:10`` or ``5pkt..80pkt:5pkt``; ``None`` if it is not a range.

    Raises:
        ValueError: its parts have different units, or one of them is no number or is too large.

    """
    match = _RANGE.match(text.strip())
    if match is None:
        return None
    first, unit, last, last_unit, step, step_unit = match.groups()
    if last_unit != unit or (step is not None and step_unit != unit):
        raise ValueError(f"{text!r}: write first, last and step in the same unit, such as '5pkt..80pkt:5pkt'")
    return Range(_number(first), _number(last), None if step is None else _number(step), unit)


def _number(text: str) -> Fraction:
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):  # thousands of digits, or a division by zero
        raise ValueError(f"{_cut(text)} is not a number that a range can have") from None
    _refuse_large(found)
    return found


def _refuse_large(number: Fraction | int) -> None:
    if not -LARGEST <= number <= LARGEST:
        raise ValueError(f"{_cut(str(number))} is too large: numbers go up to {LARGEST}")


def _cut(text: str) -> str:
    return text if len(text) <= 2 * _MAX_SHOWN_DIGITS else f"{text[:_MAX_SHOWN_DIGITS]}..."


def expand(value: object) -> list[Scalar]:
    """Values of an entry, each once: a list, one value, or ranges such as ``"10..200:10"`` (ends included)."""
    return [step[0] for step in distinct([(each,) for each in expand_all(value)])]


def distinct(steps: Iterable[tuple[Scalar, ...]]) -> list[tuple[Scalar, ...]]:
    """The steps without those that were there before: True and 1 are equal in Python, but not in a scenario."""
    return list({tuple((type(each), each) for each in step): step for step in steps}.values())


def expand_all(value: object) -> list[Scalar]:
    """As :func:`expand`, with values that come again."""
    values = value if isinstance(value, list) else [value]
    expanded: list[Scalar] = []
    for item in values:
        if not isinstance(item, bool | int | float | str):
            raise ValueError(f"takes values or ranges such as '10..200:10', not {_named(item)}")
        _refuse_endless(item)
        found = parse_range(item) if isinstance(item, str) else None
        expanded += [item] if found is None else found.values()
    if not expanded:
        raise ValueError("needs at least one value")
    return expanded


def _named(item: object) -> str:
    """A value of a kind that no scenario has, in the words of its file."""
    match item:
        case date() | time():
            return f"the {'time' if isinstance(item, time) else 'date'} {item.isoformat()}"
        case list():
            return "a list in a list"
        case dict():
            return "a table"
        case _:
            return repr(item)


def _refuse_endless(value: Scalar) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"takes finite numbers, not {value}")
    if isinstance(value, int):
        _refuse_large(value)


def values_of(text: str) -> list[Scalar]:
    """The values of a text such as ``2mss``, ``true`` or ``1..4``.

    Raises:
        ValueError: it is an invalid range.

    """
    return expand([_scalar(text)])


def expand_seeds(value: object) -> list[int]:
    """The seeds of ``seeds = "1..10"``, of a list, or of one number.

    Raises:
        ValueError: one is no whole number from zero to the largest that the engine reads, or there are too many.

    """
    seeds = expand(value)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= LARGEST for seed in seeds):
        raise ValueError("seeds are whole numbers or ranges such as '1..10'")
    return [int(seed) for seed in seeds]


def parse_seeds(text: str) -> list[int]:
    """The seeds of ``--seeds 1..10,15``.

    Raises:
        ValueError: as :func:`expand_seeds`.

    """
    return expand_seeds([int(part) if part.isdecimal() else part for part in text.split(",")])


def parse_values(text: str) -> list[Scalar]:
    """The values of ``--set PATH=VALUES``, each once: separated by commas, each a value or a range.

    A value that contains a comma is written in double quotes: ``"1MB 50%, 4MB 50%",64KB``.

    >>> parse_values("dctcp,rcc"), parse_values("10..30:10,64"), parse_values("0.5ms..1ms:0.5ms")
    (['dctcp', 'rcc'], [10, 20, 30, 64], ['0.5ms', '1ms'])

    Raises:
        ValueError: there is none, or a range is not valid.

    """
    return expand(_parts(text))


def parse_all_values(text: str) -> list[Scalar]:
    """As :func:`parse_values`, with values that come again.

    Raises:
        ValueError: as :func:`parse_values`.

    """
    return expand_all(_parts(text))


def _parts(text: str) -> list[Scalar]:
    try:
        parts = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise ValueError(f"{_cut(text)}: a value in quotes ends with a quote, and then a comma: {error}") from None
    if not parts or not all(part.strip() for part in parts):
        raise ValueError(f"{text!r} has an empty value")
    return [_scalar(part.strip()) for part in parts]


def _scalar(text: str) -> Scalar:
    """A value as TOML reads it; text needs no quotes."""
    if text in ("true", "false"):
        return text == "true"
    kinds: tuple[Callable[[str], Scalar], ...] = (int, float)
    for kind in kinds:
        # Python also accepts 1_000, inf and nan.
        if re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text):
            try:
                return kind(text)
            except ValueError:
                continue
    return text
