"""``[open]``: the parameters that a paper leaves open, and the values that its text allows, with reasons."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from fanin.scenario.format.base import Section
from fanin.scenario.format.values import Scalar, values_of

PRINTED = "printed:"
"""How the reason for a value begins that the paper prints."""


class Admissible(Section):
    """A value that the paper's text allows."""

    value: Scalar
    why: str = Field(
        min_length=1, description="Why the text allows the value. If the text prints it, printed: and a quotation."
    )

    @field_validator("why")
    @classmethod
    def _quotes_what_is_printed(cls, why: str) -> str:
        if why.startswith(PRINTED) and why.count("'") < 2:
            raise ValueError("a printed value needs the paper's words in single quotes, and where they are")
        return why


class Choice(Section):
    """A parameter that the paper leaves open."""

    path: str = Field(description="Dotted path of a scenario value, or an axis of variants, whose values are labels.")
    values: list[Admissible]

    @field_validator("values")
    @classmethod
    def _are_several(cls, values: list[Admissible]) -> list[Admissible]:
        if len(values) < 2:
            raise ValueError("a parameter with a single admissible value is not open; set it in the scenario")
        if len({str(each.value) for each in values}) < len(values):
            raise ValueError("a value is listed twice")
        return values

    def why(self, value: Scalar) -> str:
        """Why the text allows a value."""
        return next(each.why for each in self.values if each.value == value)

    @property
    def printed(self) -> list[Scalar]:
        """The values that the paper prints: their reasons begin with ``printed:``, and quote it."""
        return [each.value for each in self.values if each.why.startswith(PRINTED)]

    @property
    def admissible(self) -> list[Scalar]:
        """The values without reasons."""
        return [each.value for each in self.values]


def _choices(table: object) -> object:
    """The parameters of nested tables; the innermost ones have a reason for each value."""
    if not isinstance(table, dict):
        return table
    found: list[dict[str, Any]] = []
    _collect(table, (), found)
    return found


def _collect(table: dict[str, Any], path: tuple[str, ...], found: list[dict[str, Any]]) -> None:
    reasons = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if reasons:
        if not path or len(reasons) < len(table) or not all(isinstance(why, str) for why in reasons.values()):
            raise ValueError(f'{".".join(path) or next(iter(reasons))}: write [open.PATH] with VALUE = "why" for each')
        values = [{"value": value, "why": why} for key, why in reasons.items() for value in values_of(key)]
        found.append({"path": ".".join(path), "values": values})
        return
    for key, inner in table.items():
        _collect(inner, (*path, key), found)


Open = Annotated[list[Choice], BeforeValidator(_choices), WithJsonSchema({"type": "object"})]
"""Parameters by path: ``[open.transport.ack-every]`` with ``1 = "why"``."""
