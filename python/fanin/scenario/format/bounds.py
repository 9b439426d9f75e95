"""Bounds in place of values, where rows are chosen: ``<100KB``, or ``>=10KB <100KB`` of which both hold."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from fanin.numbers.units import quantity
from fanin.scenario.format.values import Scalar

_ONE = r"(<=|>=|<|>)\s*([^\s,<>=]+)"
_ALL = re.compile(rf"\s*(?:{_ONE}[\s,]*)+")
_HOLDS: dict[str, Callable[[Any, float], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Bound = tuple[Callable[[Any, float], Any], float]
"""Whether a number, or each of an array, is on the right side of another one."""


def measured(value: object) -> tuple[float, str] | None:
    """A value as a number in stored units and its unit, which a bare number has not; ``None`` if it is none."""
    if isinstance(value, str):
        try:
            return float(value), ""
        except ValueError:
            return quantity(value)
    return quantity(value)


def parts(value: object) -> list[tuple[str, str]]:
    """The bounds of a text, each with its sign; none if it is a value."""
    return re.findall(_ONE, value) if isinstance(value, str) and _ALL.fullmatch(value) else []


def bounds(value: object) -> list[Bound]:
    """The bounds of a text; none if it is a value, or if one of them is no number."""
    found = [(_HOLDS[sign], measured(text)) for sign, text in parts(value)]
    return [] if any(number is None for _, number in found) else [(holds, each[0]) for holds, each in found if each]


def is_void(value: object) -> bool:
    """Whether no number is within all bounds of a text."""
    every = bounds(value)
    ends = sorted({end for _, end in every})
    some = [*ends, *((low + high) / 2 for low, high in pairwise(ends)), *(end + off for end in ends for off in (-1, 1))]
    return bool(every) and not any(all(holds(each, end) for holds, end in every) for each in some)


Filter = Mapping[str, list[Scalar]]
"""Column -> the values, or texts with bounds, one of which a row must have."""


def matches(row: Mapping[str, object], where: Filter) -> bool:
    """Whether a row has one of the values in each of these columns; columns that it lacks are ignored."""
    return all(name not in row or row[name] in values or is_within(row[name], values) for name, values in where.items())


def is_within(value: object, values: Iterable[Scalar]) -> bool:
    """Whether a value, which may have a unit, is within one of the bounds among these."""
    every = [each for each in map(bounds, values) if each]
    number = measured(value) if every else None
    return number is not None and any(all(holds(number[0], end) for holds, end in each) for each in every)
