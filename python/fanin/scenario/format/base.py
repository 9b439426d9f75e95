"""Common parts of the sections: reading of tables, and the types of values."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    WithJsonSchema,
)

from fanin.names import checked
from fanin.scenario.format.values import Scalar, expand, expand_all, expand_seeds

_MAX_ON_AXIS = 1e100
"""From zero that an axis reaches: differences and powers of what is on it are numbers, too, in any unit."""

_MIN_WIDTH_OF_AXIS = 1e-12


class Section(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=AliasGenerator(alias=lambda name: name.rstrip("_").replace("_", "-")),
    )


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted paths: ``transport.scheme = [...]`` and ``"transport.scheme" = [...]`` mean the same."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        flat |= flatten(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat


def flattened(table: object) -> object:
    """As :func:`flatten`, for any value; a value that is not a table is left for the type to reject."""
    return flatten(table) if isinstance(table, dict) else table


def listed(value: object) -> object:
    """A single value as a list."""
    return value if isinstance(value, list) else [value]


OneOrMore = WithJsonSchema({"type": ["array", "string", "number", "boolean"]})
"""The JSON Schema of a list that may be written as one value."""

Values = Annotated[list[Scalar], BeforeValidator(expand), OneOrMore]
"""Values of a scenario key: a list, one value, or ranges."""

Steps = Annotated[list[Scalar], BeforeValidator(expand_all), OneOrMore]
"""As ``Values``, with values that come again: what changes with another key may."""

Seeds = Annotated[list[int], BeforeValidator(expand_seeds), OneOrMore]

Setting = Annotated[dict[str, Values], BeforeValidator(flattened)]
"""Dotted paths of scenario values, and the values they take."""

Where = Annotated[dict[str, Values], BeforeValidator(flattened)]
"""Columns and their values, one of which a row must have."""

Names = Annotated[list[str], BeforeValidator(listed), Field(min_length=1), OneOrMore]
"""One name or several."""

Numbers = Annotated[list[FiniteFloat], BeforeValidator(listed), OneOrMore]
"""One finite number or several."""


def _is_number(value: float) -> float:
    if math.isnan(value):
        raise ValueError("nan is not a number; an end that is open is inf or -inf")
    return value


_End = Annotated[float, AfterValidator(_is_number)]

Span = tuple[_End, _End]
"""Lowest and highest value; an infinite one leaves its end open."""


def _has_a_place(value: float) -> float:
    if abs(value) > _MAX_ON_AXIS:
        raise ValueError(f"{value} is too large to be drawn: axes reach from -{_MAX_ON_AXIS} to {_MAX_ON_AXIS}")
    return value


Drawn = Annotated[FiniteFloat, AfterValidator(_has_a_place)]
"""A number that has a place on an axis."""

DrawnNumbers = Annotated[list[Drawn], BeforeValidator(listed), OneOrMore]
"""One number with a place on an axis, or several."""


def _goes_upwards(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    # Narrower ones are widened as they are drawn.
    if not high - low > _MIN_WIDTH_OF_AXIS * max(abs(low), abs(high), _MIN_WIDTH_OF_AXIS):
        raise ValueError(f"goes from a lower end to a higher one that can be told from it, not from {low} to {high}")
    return ends


Ends = Annotated[tuple[Drawn, Drawn], AfterValidator(_goes_upwards)]
"""Both ends of what is drawn."""

FileName = Annotated[str, AfterValidator(checked)]
"""A name that becomes a file name."""

FileNameOrNone = Annotated[str, AfterValidator(lambda name: name and checked(name))]
"""A name that becomes a file name, or none."""
