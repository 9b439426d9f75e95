"""``[[plot]]``: a figure."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, FiniteFloat, ValidationInfo, field_validator, model_validator

from fanin.names import checked
from fanin.numbers.summary import table_names
from fanin.scenario.format.base import DrawnNumbers, Ends, FileName, Names, OneOrMore, Section, Where, listed
from fanin.scenario.format.values import LARGEST

Kind = Literal["line", "bars", "points", "cdf", "time", "lanes", "topology", "format"]
Scale = Literal["linear", "log"]

PlotStyle = Literal["page", "column", "slide"]

DIAGRAMS: tuple[Kind, ...] = ("topology", "format")
"""Kinds of plots that show no run."""

CATEGORICAL: tuple[Kind, ...] = ("bars", "points")
"""Kinds of plots whose x values are names beside each other."""


class Published(Section):
    """Published numbers to draw: points, or a line if only ``x`` or only ``y`` is known."""

    label: str
    x: DrawnNumbers = Field(default=[], description="A place or several, as the axis has them, in stored units.")
    y: DrawnNumbers = Field(default=[], description="A value for each place, in stored units.")
    by: str | None = Field(default=None, description="Line of the plot that they belong to, drawn in its colour.")

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if not self.x and not self.y:
            raise ValueError("needs x, y or both")
        if self.x and self.y and len(self.x) != len(self.y):
            raise ValueError(f"has {len(self.x)} places x and {len(self.y)} values y")
        return self


_MOST_BITS = 2**31
"""Of one field, as a table of whole numbers takes them."""


class MessageField(Section):
    """One field of a message format."""

    name: str
    bits: int = Field(gt=0, le=_MOST_BITS)


class Plot(Section):
    """One plot. A name with a table, such as ``bins.goodput_bps``, is a column of a result table."""

    kind: Kind = Field(
        default="line",
        description="Lines, bars and points show means over the seeds, time a result table over time, and cdf a "
        "distribution. With lanes each transfer is drawn from its start to its end, with topology the network, with "
        "format the fields of a message.",
    )
    id: FileName | None = Field(default=None, description="Name of the files; the column's name if left out.")
    title: str = ""
    x: str | None = Field(
        default=None,
        description="line, bars and points: sweep variable or column; cdf: column or table.column; "
        "time: column of the table, time_s if left out.",
    )
    y: Names | None = Field(default=None, description="line, bars and points: column or columns; time: table.column.")
    by: Annotated[list[str], BeforeValidator(listed), OneOrMore] = Field(
        default=[], description="Sweep variables, or columns of the result table, that make the lines."
    )
    where: Where = Field(default={}, description="Runs that are drawn: column -> value or values.")
    rows: Where = Field(
        default={},
        description='Rows of the result table that are drawn: column -> value, values or bounds such as "<100KB".',
    )
    seed: int | None = Field(default=None, ge=0, le=LARGEST, description="The one seed that time, cdf and lanes draw.")
    every: FiniteFloat | None = Field(
        default=None, gt=0, description="time: means over intervals of this many seconds."
    )
    total: bool = Field(
        default=False, description="time: rows of one line at the same time are added up, not averaged."
    )
    spread: tuple[str, str] | None = Field(
        default=None, description="Columns of the lower and upper end of whiskers, in place of the 95 % interval."
    )
    relative_to: str | None = Field(default=None, description="Line by which all others are divided, at the same x.")
    x_label: str | None = Field(default=None, description="What the x axis is called; its unit is added.")
    y_label: str | None = Field(default=None, description="What the y axis is called; unit and definition are added.")
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_range: Ends | None = Field(default=None, description="Part of the axis that is shown, in stored units.")
    y_range: Ends | None = None
    names: dict[str, str] = Field(default={}, description="What the figure calls lines: a line's name -> another.")
    published: list[Published] = Field(default=[], description="Numbers of the paper to draw.")
    note: str = Field(default="", description="What a reader has to know, below the plot.")
    style: PlotStyle = Field(
        default="page",
        description="The size: page, column of a paper (3.33 inches, 8 points) or slide. Title and definitions of a "
        "column are in a caption beside it, NAME.txt.",
    )
    fields: list[MessageField] = Field(default=[], description="format: the message's fields in their order.")

    @field_validator("x_range", "y_range")
    @classmethod
    def _is_on_its_axis(cls, ends: Ends | None, info: ValidationInfo) -> Ends | None:
        scale = info.data.get(f"{info.field_name}".replace("range", "scale"))
        if ends is not None and scale == "log" and ends[0] <= 0:
            raise ValueError(f"a logarithmic axis begins above zero, not at {ends[0]}")
        return ends

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        drawn = ("x", "y")
        needs = {
            "line": drawn,
            "bars": drawn,
            "points": drawn,
            "time": ("y",),
            "cdf": ("x",),
            "format": ("fields", "id"),
        }
        for key in needs.get(self.kind, ("id",)):
            if not getattr(self, key):
                raise ValueError(f'kind = "{self.kind}" needs {key}')
        checked(self.name)
        only = {
            "seed": ("time", "cdf", "lanes"),
            "rows": ("time", "cdf", "lanes"),
            "every": ("time",),
            "total": ("time",),
            "spread": ("line", "bars", "points"),
            "relative_to": ("line", "bars", "points"),
            "names": ("line", "bars", "points", "time", "cdf", "lanes"),
            "fields": ("format",),
        }
        for key, kinds in only.items():
            if getattr(self, key) and self.kind not in kinds:
                raise ValueError(f"{key.replace('_', '-')} belongs to kind = {' or '.join(kinds)}")
        if self.kind == "bars" and self.y_scale == "log":
            raise ValueError('a bar has no base on a logarithmic axis; use kind = "points"')
        return self

    @property
    def is_diagram(self) -> bool:
        """Whether it shows no run."""
        return self.kind in DIAGRAMS

    @property
    def has_caption(self) -> bool:
        """Whether its title, definitions and notes are left to a caption."""
        return self.style == "column" and not self.is_diagram

    @property
    def drawn(self) -> str:
        """The column whose values are drawn, the first of several."""
        return (self.x or "") if self.kind == "cdf" else next(iter(self.y or []), "")

    @property
    def table(self) -> str | None:
        """Result table that it reads."""
        if self.kind == "lanes":
            return "flows"
        reads = self.kind in ("time", "cdf") and is_of_table(self.drawn)
        return self.drawn.partition(".")[0] if reads else None

    @property
    def name(self) -> str:
        """Stem of the plot's file names."""
        return self.id or self.drawn.lower().replace("_", "-").replace(".", "-")


def is_of_table(name: str) -> bool:
    """Whether a name is that of a result table's column; totals of traffic groups are dotted too."""
    table, dot, _ = name.partition(".")
    return bool(dot) and table in table_names()


GRIDS = ("bins", "link-bins")
"""Tables whose times are the same in all runs."""
