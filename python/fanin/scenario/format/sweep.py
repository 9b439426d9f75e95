"""``[sweep]``, ``[[variant]]`` and ``[quick]``: the points to run."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from fanin.scenario.format.base import Section, Seeds, Setting, Steps, flatten

DEFAULT_SEEDS = list(range(1, 11))


class _Points(Section):
    """A table with a few keys of its own; all other keys are paths of scenario values."""

    variables: dict[str, Steps] = Field(
        default={}, description="Dotted path of a scenario value -> the values it takes."
    )

    @model_validator(mode="before")
    @classmethod
    def _split(cls, table: object) -> object:
        if not isinstance(table, dict) or "variables" in table:
            return table
        own = {field.alias or name for name, field in cls.model_fields.items()} - {"variables"}
        kept = {key: value for key, value in table.items() if key in own}
        return kept | {"variables": flatten({key: value for key, value in table.items() if key not in own})}


class Sweep(_Points):
    """The points to run: every combination of the variables' values, each with every seed."""

    seeds: Seeds = Field(default=DEFAULT_SEEDS, description='Seeds of every point: a list or a range such as "1..10".')
    zip_: list[list[str]] = Field(
        default=[], description="Lists of variables that change together: first value with first value, and so on."
    )

    @model_validator(mode="after")
    def _zips_fit(self) -> Self:
        for names in self.zip_:
            if missing := [name for name in names if name not in self.variables]:
                raise ValueError(f"zip: {missing[0]} is not a variable of [sweep]")
            if len({len(self.variables[name]) for name in names}) != 1:
                raise ValueError(f"zip: {', '.join(names)} need the same number of values")
        return self


class Variant(Section):
    """A named case: scenario values that belong together. Variants of one ``axis`` exclude each other."""

    label: str = Field(description="Name of the case, as tables and legends show it.")
    axis: str = Field(default="variant", description="Column that holds the label; cases of two axes are combined.")
    set_: Setting = Field(description="Dotted path -> the value, or the values that the case takes from the sweep.")

    why: str = Field(
        default="",
        description="Why it sets keys of the network, its queues, TCP or traffic that the others of its axis do not.",
    )

    location: tuple[str | int, ...] = Field(default=(), exclude=True, repr=False)
    """Its place in its file."""


def _one_by_one(variants: object) -> object:
    """Converts ``[variant.AXIS]``, with a line ``label = { settings }`` per case, to the list of ``[[variant]]``."""
    if isinstance(variants, list):
        places = enumerate(variants)
        return [
            {**case, "location": ("variant", index, "set")} if isinstance(case, dict) else case
            for index, case in places
        ]
    if not isinstance(variants, dict):
        return variants
    found: list[dict[str, Any]] = []
    for axis, cases in variants.items():
        if not isinstance(cases, dict):
            raise ValueError(f"{axis}: an axis is a table, [variant.{axis}]")
        found += [
            {"axis": axis, "label": label, **_with_reason(settings), "location": ("variant", axis, label)}
            for label, settings in cases.items()
        ]
    return found


def _with_reason(settings: object) -> dict[str, Any]:
    """The settings of one line, separated from the reason among them."""
    if not isinstance(settings, dict) or "why" not in settings:
        return {"set": settings}
    return {"why": settings["why"], "set": {key: value for key, value in settings.items() if key != "why"}}


Variants = Annotated[
    list[Variant], BeforeValidator(_one_by_one), WithJsonSchema({"type": ["array", "object"]}, mode="validation")
]
"""Cases one by one, or by axis and label."""


class Quick(_Points):
    """What ``--quick`` runs: its values instead of the sweep's, and of some axes only some variants."""

    seeds: Seeds = Field(default=[1], description="Seeds of every point of a quick look.")
    variant: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(
        default={}, description="Axis -> labels of its variants in a quick look; of an axis that is not named, all."
    )
