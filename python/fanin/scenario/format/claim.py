"""``[[claim]]``: a sentence of a paper made checkable."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from fanin.scenario.format.base import Numbers, Section, Span, Where
from fanin.scenario.format.plot import is_of_table

Measure = Literal["mean", "max", "min", "first-at-least", "first-at-most", "collapse-point", "trend", "wins", "order"]
Better = Literal["high", "low"]


class Claim(Section):
    """One sentence of a paper made checkable.

    ``measure`` turns the curve of ``y`` against ``x``, over the runs that match ``where``, into one number; ``over``
    names a second set of runs whose number divides it, ``minus`` one whose number is taken from it, ``rivals`` those
    it is compared with. The number inside ``accept`` is *reproduced*; outside it but with its whole interval inside
    ``direction`` it is *direction only*; anything else is *not reproduced*.
    """

    id: str
    says: str = Field(description="The paper's claim.")
    reading: str = Field(default="", description="Reading of the paper that this judges, if there are several.")
    measure: Measure
    x: str | None = Field(default=None, description="Sweep variable or column; time_s for a result table's column.")
    y: str = Field(description="Column, or table.column for a curve over time.")
    where: Where = Field(default={}, description="Runs: column -> value or values.")
    rows: Where = Field(default={}, description="Rows of the result table.")
    every: float | None = Field(default=None, gt=0, description="Means over intervals of this many seconds.")
    over: Where | None = Field(default=None, description="Runs whose number divides.")
    minus: Where | None = Field(default=None, description="Runs whose number is subtracted.")
    rivals: list[Where] = Field(default=[], description="wins: the others; order: those that follow, in their order.")
    better: Better = Field(default="high", description="wins and order: which y is the better one.")
    at: Numbers | None = Field(default=None, description="Keep only these values of x.")
    between: Span | None = Field(default=None, description="Keep only x from here (included) to there (included).")
    level: float | None = Field(default=None, description="Level of first-at-least and first-at-most.")
    published: float | str | None = Field(default=None, description="The paper's number, or its words.")
    accept: Span = Field(description="Lowest and highest value that reproduce the claim.")
    direction: Span | None = Field(default=None, description="Range that shows the right sign or order only.")
    why: str = Field(description="Reason for the accepted range, fixed before the first run unless ``added`` is given.")
    added: str = Field(default="", description="What had been seen when the claim, its range or reading was written.")
    explanation: str = Field(default="", description="Cause, if the claim is not fully reproduced.")
    note: str = Field(default="", description="Why the claim is judged by rank or ratio and not by its number.")

    @model_validator(mode="after")
    def _fits_its_measure(self) -> Self:
        if (self.level is not None) != self.measure.startswith("first-at-"):
            raise ValueError("level belongs to first-at-least and first-at-most, which need it")
        if bool(self.rivals) != (self.measure in ("wins", "order")):
            raise ValueError("rivals belongs to wins and order, which need it")
        if sum(map(bool, (self.over is not None, self.minus is not None, self.rivals))) > 1:
            raise ValueError("only one of over, minus and rivals")
        if self.x is None and not is_of_table(self.y):
            raise ValueError("needs x, the axis that y is a curve over")
        for name, bounds in (("accept", self.accept), ("direction", self.direction)):
            if bounds is not None and not bounds[0] <= bounds[1]:
                raise ValueError(f"{name} = [low, high] needs low <= high")
        return self

    @property
    def table(self) -> str | None:
        """Result table that it reads."""
        return self.y.partition(".")[0] if is_of_table(self.y) else None

    @property
    def axis(self) -> str:
        """Name of the column that y is a curve over."""
        return self.x or "time_s"
