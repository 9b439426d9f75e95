"""The sections of a scenario file that say what is done with runs.

The engine owns what is simulated (``[network] [transport] [queue] [scheme.*] [[traffic]] [[fault]] [run]``). Python
owns the rest: the titles, ``[sweep]``, ``[[plot]]`` and ``[[claim]]``, which this module reads and checks.
"""

from __future__ import annotations

import difflib
import itertools
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from fanin.errors import NotFoundError, ScenarioError
from fanin.toml_lines import line_of, syntax_error_line

Scalar = bool | int | float | str
"""A value of a sweep variable, as the scenario file would write it."""

_RANGE = re.compile(r"^(\d+)\.\.(\d+)(?::(\d+))?$")


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=lambda name: name.replace("_", "-"),
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


def _flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted paths: ``transport.scheme = [...]`` and ``"transport.scheme" = [...]`` mean the same."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        flat |= _flatten(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat


class Sweep(_Section):
    """The points to run: every combination of the variables' values, each with every seed."""

    seeds: Annotated[list[int], BeforeValidator(expand_seeds)] = Field(
        default=[1], description='Seeds of every point: a list or a range such as "1..10".'
    )
    variables: dict[str, Annotated[list[Scalar], BeforeValidator(expand)]] = Field(
        default={}, description="Dotted path of a scenario value -> the values it takes."
    )

    @model_validator(mode="before")
    @classmethod
    def _split(cls, table: dict[str, Any]) -> dict[str, Any]:
        variables = _flatten({key: value for key, value in table.items() if key != "seeds"})
        return {"variables": variables} | ({"seeds": table["seeds"]} if "seeds" in table else {})


class Published(_Section):
    """A published number to draw: a point, or a line where only ``x`` or only ``y`` is known."""

    label: str
    x: float | None = None
    y: float | None = None

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if self.x is None and self.y is None:
            raise ValueError("needs x, y or both")
        return self


class Plot(_Section):
    """One plot: the mean of ``y`` over the seeds against ``x``, one line per value of ``by``."""

    x: str = Field(description="Sweep variable or summary column of the horizontal axis.")
    y: str = Field(description="Summary column of the vertical axis.")
    by: str | None = Field(default=None, description="Sweep variable that makes the lines.")
    id: str | None = Field(default=None, description="Name of the files; the column's name if left out.")
    title: str = ""
    x_label: str | None = None
    y_label: str | None = None
    published: list[Published] = []

    @property
    def name(self) -> str:
        """Stem of the plot's file names."""
        return self.id or self.y.replace("_", "-")


Measure = Literal["collapse-point", "first-at-least", "value-at", "max", "min"]
Range = tuple[float, float]


class Claim(_Section):
    """One sentence of a paper made checkable.

    ``measure`` turns the curve of ``y`` against ``x``, over the runs that match ``where``, into one number; ``over``
    names a second set of runs whose number divides it. The number inside ``accept`` is *reproduced*; outside it but
    inside ``direction`` is *direction only*; anything else is *not reproduced*.
    """

    id: str
    says: str = Field(description="The paper's sentence.")
    measure: Measure
    x: str
    y: str
    where: dict[str, Scalar] = {}
    over: dict[str, Scalar] | None = None
    at: list[float] | None = Field(default=None, description="Keep only these values of x.")
    level: float | None = Field(default=None, description="Level of first-at-least.")
    published: float | None = None
    accept: Range = Field(description="Lowest and highest value that reproduce the claim.")
    direction: Range | None = Field(default=None, description="Range that shows the right sign or order only.")
    why: str = Field(description="Reason for the accepted range, fixed before the first run.")
    explanation: str = Field(default="", description="Cause, if the claim is not fully reproduced.")

    @model_validator(mode="after")
    def _fits_its_measure(self) -> Self:
        if (self.level is not None) != (self.measure == "first-at-least"):
            raise ValueError("level belongs to first-at-least, which needs it")
        if self.measure == "value-at" and not self.at:
            raise ValueError("value-at needs at = [x, ...]")
        for name, bounds in (("accept", self.accept), ("direction", self.direction)):
            if bounds is not None and not bounds[0] <= bounds[1]:
                raise ValueError(f"{name} = [low, high] needs low <= high")
        return self


class Document(_Section):
    """Everything in a scenario file that is not the engine's."""

    title: str = ""
    paper: str = ""
    figure: str = ""
    description: str = ""
    runs_of: str | None = Field(default=None, description="Experiment whose scenario and runs this one shows.")
    sweep: Sweep = Sweep()
    plot: list[Plot] = []
    claim: list[Claim] = []


OWNED = frozenset(field.alias or name for name, field in Document.model_fields.items())
"""Top-level keys that Python reads; the engine reads all others."""


def read_text(path: Path) -> str:
    """The file as text.

    Raises:
        NotFoundError: there is no such file, or it cannot be read.
        ScenarioError: it is not UTF-8.

    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ScenarioError(str(path), line, "", "the file is not UTF-8 text") from None
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror or error}") from None


def parse(text: str, file: str) -> Document:
    """Reads the sections that Python owns.

    Raises:
        ScenarioError: naming file, line, key and, for an unknown key, the nearest valid one.

    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(file, syntax_error_line(text, error), "", f"not TOML: {error}") from None
    try:
        return Document.model_validate({key: value for key, value in tables.items() if key in OWNED})
    except ValidationError as error:
        raise _scenario_error(text, file, error) from None


def _scenario_error(text: str, file: str, error: ValidationError) -> ScenarioError:
    """One of pydantic's complaints, in the words and with the place that the engine would use.

    An unknown key comes first: it is often why another one is missing.
    """
    first = min(error.errors(), key=lambda complaint: complaint["type"] != "extra_forbidden")
    path = tuple(part for part in first["loc"] if part != "variables")
    suggestion = None
    if first["type"] == "extra_forbidden":
        message = "unknown key"
        suggestion = next(iter(difflib.get_close_matches(str(path[-1]), _keys_at(path[:-1]), n=1)), None)
    elif first["type"] == "missing":
        message = "required key is missing"
    else:
        if first["type"] == "literal_error":
            suggestion = next(iter(difflib.get_close_matches(str(first["input"]), get_args(Measure), n=1)), None)
        message = first["msg"].removeprefix("Value error, ")
    key = ".".join(str(part) for part in path)
    return ScenarioError(file, line_of(text, path), key, message, suggestion)


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    sections: dict[str, type[_Section]] = {"plot": Plot, "claim": Claim, "published": Published}
    names = [part for part in path if isinstance(part, str)]
    section = sections.get(names[-1], Document) if names else Document
    return [field.alias or name for name, field in section.model_fields.items()]


def combinations(variables: dict[str, list[Scalar]]) -> list[dict[str, Scalar]]:
    """Every combination of the variables' values, the last variable changing fastest."""
    return [dict(zip(variables, values, strict=True)) for values in itertools.product(*variables.values())]
