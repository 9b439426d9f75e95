"""What the sections share: how a table is read, and the values that a scenario's keys take."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

Scalar = bool | int | float | str
"""A value of a sweep variable, as the scenario file would write it."""

_RANGE = re.compile(r"^(\d+)\.\.(\d+)(?::(\d+))?$")


class Section(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=AliasGenerator(alias=lambda name: name.rstrip("_").replace("_", "-")),
    )


def expand(value: object) -> list[Scalar]:
    """Values that a sweep entry stands for: a list, one value, or ranges such as ``"10..200:10"`` (ends included)."""
    values = value if isinstance(value, list) else [value]
    expanded: list[Scalar] = []
    for item in values:
        if not isinstance(item, bool | int | float | str):
            raise ValueError(f"takes values or ranges such as '10..200:10', not {item!r}")
        match = _RANGE.match(item) if isinstance(item, str) else None
        if match is None:
            expanded.append(item)
            continue
        first, last, step = int(match.group(1)), int(match.group(2)), int(match.group(3) or 1)
        if step == 0 or last < first:
            raise ValueError(f"{item!r} is an empty range: first..last:step goes upwards")
        expanded.extend(range(first, last + 1, step))
    if not expanded:
        raise ValueError("needs at least one value")
    # True and 1 are equal to Python, but not to a scenario.
    return list({(type(item), item): item for item in expanded}.values())


def expand_seeds(value: object) -> list[int]:
    """Seeds that ``seeds = "1..10"``, a list or one number stands for."""
    seeds = expand(value)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in seeds):
        raise ValueError("seeds are whole numbers or ranges such as '1..10'")
    return [int(seed) for seed in seeds]


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted paths: ``transport.scheme = [...]`` and ``"transport.scheme" = [...]`` mean the same."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        flat |= flatten(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat


def flattened(table: object) -> object:
    """The same of whatever stands in the file; what is no table is left for the type to complain about."""
    return flatten(table) if isinstance(table, dict) else table


def listed(value: object) -> object:
    """One value where a list is meant."""
    return value if isinstance(value, list) else [value]


OneOrMore = WithJsonSchema({"type": ["array", "string", "number", "boolean"]})
"""What editors know of a list that may be written as one value."""

Values = Annotated[list[Scalar], BeforeValidator(expand), OneOrMore]
"""Values of a scenario key: a list, one value, or ranges."""

Seeds = Annotated[list[int], BeforeValidator(expand_seeds), OneOrMore]

Setting = Annotated[dict[str, Values], BeforeValidator(flattened)]
"""Dotted paths of scenario values, and the values they take."""

Where = Annotated[dict[str, Values], BeforeValidator(flattened)]
"""Columns and the values of which a row must have one."""

Names = Annotated[list[str], BeforeValidator(listed), Field(min_length=1), OneOrMore]
"""One name or several."""

Numbers = Annotated[list[float], BeforeValidator(listed), OneOrMore]
"""One number or several."""

Span = tuple[float, float]
"""Lowest and highest value."""
