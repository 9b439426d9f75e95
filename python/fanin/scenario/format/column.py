"""``[[column]]``: a number of each run that is not in the summary."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from fanin.numbers.formula import names, parse_formula
from fanin.scenario.format.base import Section, Span, Where

TAKES = ("mean", "sum", "min", "max", "std", "count", "first", "last", "share", "time-share", "jain", "clusters")
_PERCENTILE = re.compile(r"^p(\d{1,2}(\.\d+)?|100)$")


class Column(Section):
    """A number of each run: taken from a result table, or computed from other columns."""

    id: str = Field(description="Name of the column; its end gives the unit, as in fct_s, goodput_bps, queue_packets.")
    label: str = Field(description="What it is and how it is defined, as axes and tables say it.")
    of: str | None = Field(default=None, description="Result table and column, such as flows.fct_s.")
    rows: Where = Field(
        default={}, description='Which rows of the table count: column -> value, values or bounds such as "<100KB".'
    )
    between: Span | None = Field(default=None, description="From when (included) to when (excluded), in seconds.")
    time: str = Field(default="time_s", description="Column of the table that between is about.")
    take: str = Field(default="mean", description="How the rows are reduced to one number: mean, sum, share, p99, ...")
    gap: FiniteFloat | None = Field(
        default=None, description="Smallest gap that parts two clusters, for take = clusters."
    )
    below: FiniteFloat | None = Field(
        default=None, description="Which values count in take = time-share: those below it."
    )
    weight: str | None = Field(default=None, description="Column of the table that weights the mean of each part.")
    by: str | None = Field(
        default=None,
        description="Column of the table. With weight, its values in rows are the parts of a mean. With take = "
        "time-share, a value is held until the next row with the same one.",
    )
    better: Literal["high", "low"] | None = Field(
        default=None, description="Which end is better, for goals; that of the table's column if left out."
    )
    formula: str | None = Field(default=None, description="Arithmetic over columns: {drops} / {segments_received}.")

    @field_validator("take")
    @classmethod
    def _known(cls, take: str) -> str:
        if take not in TAKES and not _PERCENTILE.match(take):
            raise ValueError(f"takes {', '.join(TAKES)} or a percentile such as p99, not {take!r}")
        return take

    @field_validator("formula")
    @classmethod
    def _parses(cls, formula: str | None) -> str | None:
        if formula is not None:
            parse_formula(formula)
        return formula

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        if (self.of is None) == (self.formula is None):
            raise ValueError("needs either of = table.column or formula")
        if self.of is not None and "." not in self.of:
            raise ValueError(f"of = table.column, such as flows.fct_s, not {self.of!r}")
        if (self.gap is not None) != (self.take == "clusters"):
            raise ValueError("gap belongs to take = clusters, which needs it")
        if (self.below is not None) != (self.take == "time-share"):
            raise ValueError("below belongs to take = time-share, which needs it")
        self._check_weight()
        return self

    def _check_weight(self) -> None:
        if (self.weight is None) != (self.by is None) and self.take != "time-share":
            raise ValueError("weight and by belong together: the weight of a mean, and the column of its parts")
        if self.weight is None:
            return
        if self.of is None or self.take != "mean":
            raise ValueError("weight belongs to take = mean")
        if self.by not in self.rows:
            raise ValueError(f"a weighted mean by {self.by} needs the values of {self.by} in rows")

    @property
    def table(self) -> str | None:
        """Result table that it reads."""
        return None if self.of is None else self.of.partition(".")[0]

    @property
    def inputs(self) -> list[str]:
        """Columns that its formula names."""
        return [] if self.formula is None else names(self.formula)
