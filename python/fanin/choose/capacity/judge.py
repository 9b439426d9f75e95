"""Judges a fan-in: whether it keeps its bounds, and with what confidence.

A bound is kept or broken if the 95 % interval of the mean over seeds (Student's t) lies entirely on one side of it.
Such an interval cannot account for events that no seed has shown: if all seeds agree, it has no width. The stated
confidence is therefore about seeds. The number of seeds that break a bound gives an upper limit for the share of all
seeds that do. This limit is exact for any distribution and any number of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fanin.choose.goals import Keep
from fanin.errors import FaninError
from fanin.later import np
from fanin.numbers.stats import CONFIDENCE, FEWEST, Floats, Spread, finite, mean_interval, share_at_most
from fanin.results.dataset import Row

State = Literal["keeps", "breaks", "open"]


@dataclass(frozen=True)
class Bound:
    """A bound at one fan-in."""

    keep: Keep
    reference: float
    found: Spread
    """The measure over the seeds."""
    margins: Floats
    """Distance of each from the bound, positive if the bound is satisfied."""

    @property
    def broken(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which seeds, taken alone, break it."""
        return ~(self.margins >= 0)

    @property
    def state(self) -> State:
        """Whether it holds."""
        if not np.isfinite(self.margins).all():
            return "breaks"
        if len(self.margins) < FEWEST:
            return "breaks" if self.broken.all() else "open" if self.broken.any() else "keeps"
        margin, half = mean_interval(self.margins)
        if margin + half < 0:
            return "breaks"
        return "keeps" if margin - half >= 0 else "open"

    def shown(self) -> str:
        """The measured value and the bound."""
        measure = self.keep.measure
        value = measure.shown(self.found.without_zero_width)
        if math.isfinite(self.found.mean):
            value = f"{value} {measure.unit}".rstrip()
        return f"{measure.name} {value} ({self.keep.word_bound(self.reference)})"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        limit = finite(self.keep.limit(self.reference))
        return {"keep": self.keep.text, **self.found.as_dict(), "limit": limit, "state": self.state}


@dataclass(frozen=True)
class Judged:
    """A fan-in, and whether its bounds hold."""

    fan_in: int
    seeds: list[int]
    """The seeds that were run."""
    bounds: list[Bound]

    @property
    def breaking(self) -> list[int]:
        """The seeds that, taken alone, break a bound."""
        broken = np.any([bound.broken for bound in self.bounds], axis=0)
        return [seed for seed, each in zip(self.seeds, broken, strict=True) if each]

    @property
    def share_at_most(self) -> float:
        """Upper limit of the share of all seeds that break a bound, with 95 % confidence."""
        return share_at_most(len(self.breaking), len(self.seeds), CONFIDENCE)

    @property
    def state(self) -> State:
        """Whether all bounds hold."""
        states = {bound.state for bound in self.bounds}
        return "breaks" if "breaks" in states else "open" if "open" in states else "keeps"

    @property
    def is_too_much(self) -> bool:
        """Whether a maximum is exceeded, such as of times or losses, which a larger fan-in does not improve."""
        return any(bound.state == "breaks" and not bound.keep.measure.more for bound in self.bounds)

    @property
    def why(self) -> str:
        """The bounds that are broken, or if none is, those that seeds leave open, whose means may keep them."""
        broken = [bound.shown() for bound in self.bounds if bound.state == "breaks"]
        return "; ".join(broken or [f"{bound.shown()}, undecided" for bound in self.bounds if bound.state == "open"])

    @property
    def sure(self) -> dict[str, Any]:
        """The statement of confidence, for JSON."""
        return {
            "confidence": CONFIDENCE,
            "seeds": len(self.seeds),
            "breaking": len(self.breaking),
            "share_at_most": round(self.share_at_most, 4),
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        bounds = [bound.as_dict() for bound in self.bounds]
        seeds = {"seeds": len(self.seeds), "breaking": len(self.breaking)}
        return {"fan_in": self.fan_in, **seeds, "state": self.state, "bounds": bounds}


def in_words(keeps: Sequence[Keep]) -> str:
    """Bounds as text, with what :func:`judge` takes a share of."""
    return " and ".join(f"{each.text} of its own best" if each.relative else each.text for each in keeps)


def judge(fan_in: int, keeps: Sequence[Keep], rows: dict[int, list[Row]]) -> Judged:
    """Compares the runs of a fan-in with the bounds; smaller fan-ins supply the reference of relative bounds.

    Args:
        fan_in: The fan-in.
        keeps: The bounds.
        rows: Fan-in -> its runs.

    Raises:
        FaninError: a run has no value for a measure.

    """
    bounds = []
    for keep in keeps:
        values = keep.measure.values(rows[fan_in])
        if np.isnan(values).any():
            raise FaninError(f"{keep.measure.name}: a run with fan-in {fan_in} has no value for it")
        # The best at any smaller or equal fan-in: goodput rises before it collapses.
        means = [float(keep.measure.values(of).mean()) for each, of in rows.items() if each <= fan_in]
        reference = max(means) if keep.measure.more else min(means)
        with np.errstate(invalid="ignore"):
            margins = keep.margins(rows[fan_in], reference)
        bounds.append(Bound(keep, reference, keep.measure.spread(rows[fan_in]), margins))
    return Judged(fan_in, [row["seed"] for row in rows[fan_in]], bounds)
