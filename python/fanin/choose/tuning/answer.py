"""The result of a study: its trials, the best of them, and their results with fresh seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from fanin.choose.comparison import USUAL_MARGIN, Estimate
from fanin.choose.goals import Goal
from fanin.choose.tuning.space import Values
from fanin.later import np
from fanin.numbers.stats import Spread
from fanin.results.dataset import Row


@dataclass(frozen=True)
class Trial:
    """Values that were tried, and their results with the seeds of the search."""

    values: Values
    goals: list[float]
    """Mean of each goal."""
    kept: bool
    """Whether the means keep all bounds."""


@dataclass(frozen=True)
class Checked:
    """The default, or the best values of the search, with fresh seeds."""

    values: Values | None
    """``None`` is the scenario's own values."""
    goals: list[Spread]
    """Mean of each goal, and what is drawn around it."""
    differences: list[Estimate | None]
    """Paired difference of each goal from the default."""
    keeps: list[Spread]
    """The measure of each bound."""
    broken: list[str]
    """The bounds that the means do not keep."""
    incomparable: list[str]
    """The bounds on what is not comparable with the default's, as the runs last longer or shorter."""
    unscored: list[str]
    """Weighted goals computed from the raw values, because the default has no mean for some measure."""
    rows: list[Row] = field(default_factory=list, repr=False)
    """The runs."""

    def comparison(self, index: int, goal: Goal, margin: float = USUAL_MARGIN) -> str:
        """How a goal compares with the default's; a difference counts by the rule of :class:`Estimate`."""
        found = self.differences[index]
        if found is None:
            return "unfinished" if math.isinf(self.goals[index].mean) else "finishes"
        if math.isnan(found.difference_half):
            return "not comparable"
        if not found.matters(margin):
            return f"less than {100 * margin:g} %" if found.is_small(margin) else "no significant difference"
        return "better" if (found.difference > 0) == goal.more else "worse"

    def is_advice(self, goals: Sequence[Goal], margin: float = USUAL_MARGIN) -> bool:
        """Whether to take these values: they keep the bounds on fresh seeds, and some goal is better in what counts.

        Bounds that are not comparable say nothing about these values, nor about those that they excluded.
        """
        found = [self.comparison(place, goal, margin) for place, goal in enumerate(goals)]
        return not self.broken and not self.incomparable and any(each in ("better", "finishes") for each in found)


@dataclass(frozen=True)
class Tuned:
    """The result of a search."""

    trials: list[Trial]
    failed: list[str]
    """Errors of trials that failed."""
    default: Checked
    best: list[Checked]
    """The best for one goal, the Pareto front for several; empty if no trial keeps the bounds."""


def front(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[Trial]:
    """Among the trials that keep the bounds, the best for one goal, or the Pareto front for several."""
    signs = np.array([-1.0 if goal.more else 1.0 for goal in goals])
    kept = {tuple(each.goals): each for each in reversed(trials) if each.kept and np.isfinite(each.goals).all()}
    costs = {key: signs * np.array(key) for key in kept}

    def beaten(key: tuple[float, ...]) -> bool:
        own = costs[key]
        return any((other <= own).all() and (other < own).any() for other in costs.values())

    return sorted((kept[key] for key in kept if not beaten(key)), key=lambda each: each.goals)


def spread_evenly(trials: list[Trial], most: int = 8) -> list[Trial]:
    """At most ``most`` trials, spread evenly over the front."""
    places = np.linspace(0, len(trials) - 1, min(len(trials), most)).round().astype(int)
    return [trials[place] for place in places]


def snippet(values: Values) -> str:
    """The values as a scenario fragment; values of named groups are written as options."""
    sections: dict[str, list[str]] = {}
    options = []
    for path, value in values.items():
        section, _, key = path.rpartition(".")
        if section.split(".")[0] in ("traffic", "fault"):
            options.append(f"# --set {path}={value}")
            continue
        plain = value if not isinstance(value, bool) else str(value).lower()
        sections.setdefault(section, []).append(f"{key} = " + (f'"{value}"' if isinstance(value, str) else str(plain)))
    parts = ["\n".join((f"[{section}]", *lines)) for section, lines in sections.items()]
    return "\n\n".join([*parts, *options]) + "\n"
