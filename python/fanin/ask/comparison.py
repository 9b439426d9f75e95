"""Which scheme is best on a scenario: ``fanin compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin.ask.common import Schemes, goal_of, refuse_varied, several, stopping, warn, workers_of
from fanin.choose import comparison
from fanin.choose.cautions import between, cautions
from fanin.choose.comparison import FEW_SEEDS, METRICS, USUAL_MARGIN, Compared, Placed, placed, referred_to
from fanin.choose.goals import Goal
from fanin.later import pl
from fanin.registry import scheme_title
from fanin.results.dataset import Row
from fanin.results.runs import frame_of, html_table
from fanin.run.job import Watch, Workers
from fanin.run.scenario import Scenario
from fanin.scenario import catalogue
from fanin.scenario.own import CongestionControl
from fanin.scenario.remarks import incomplete
from fanin.scenario.settings import Settings, plain


@dataclass(frozen=True)
class Comparison:
    """Schemes on one scenario, ranked by a goal."""

    scenario: Scenario
    seeds: list[int]
    against: str
    """The scheme with which the others are compared."""
    goal: Goal
    margin: float
    """Share of a value below which a difference does not count."""
    ranking: list[Placed] = field(repr=False)
    """The schemes that have runs, the best first."""
    schemes: list[Compared] = field(repr=False)
    """All schemes in the same order, each with its runs, its failures and its estimates."""
    scored_against: str | None
    """The reference of a weighted goal's scores."""
    beside_scheme: dict[str, dict[str, str]] = field(repr=False)
    """Other keys of ``[transport]`` in which the systems differ."""
    warnings: list[str] = field(repr=False)
    """What to know before trusting the ranking."""

    def frame(self) -> pl.DataFrame:
        """A row for each place: scheme, rank, mean with its interval, the difference from the best, and in words."""
        return frame_of([{key: value for key, value in each.items() if key != "measures"} for each in self._places])

    def runs(self) -> pl.DataFrame:
        """A row for each run, with its scheme in front."""
        return frame_of([{"scheme": each.scheme, **row} for each in self.schemes for row in each.rows])

    @property
    def _places(self) -> list[dict[str, Any]]:
        return [each.as_dict() for each in self.ranking]

    def as_dict(self) -> dict[str, Any]:
        """What ``fanin compare --json`` prints."""
        by = self.goal.measures[0].column if len(self.goal.parts) == 1 else self.goal.name
        return {
            "scenario": self.scenario.name,
            "seeds": self.seeds,
            "against": self.against,
            "by": by,
            "goal": self.goal.name,
            "scored_against": self.scored_against,
            "margin": self.margin,
            "ranking": self._places,
            "schemes": [each.as_dict() for each in self.schemes],
            "beside_scheme": self.beside_scheme,
            "warnings": self.warnings,
        }

    def _repr_html_(self) -> str:
        rows = [
            (
                "-" if each.rank is None else str(each.rank),
                scheme_title(each.scheme),
                self.goal.shown(each.value.without_zero_width),
                each.comparison,
            )
            for each in self.ranking
        ]
        return html_table(f"{self.scenario.name}: by {self.goal.name}", ("rank", "scheme", self.goal.heading, ""), rows)


def compare(
    scenario: Scenario,
    schemes: Schemes = (),
    *,
    goal: str | Goal | None = None,
    against: str | type[CongestionControl] | None = None,
    seeds: Sequence[int] | None = None,
    margin: float = USUAL_MARGIN,
    out: Path | str | None = "results",
    jobs: int | None = None,
    workers: Workers | None = None,
    again: bool = False,
    progress: Watch | None = None,
) -> Comparison:
    """Runs a scenario with each scheme, on the same seeds, and ranks them by a goal, as ``fanin compare`` does.

    A run that fails is recorded, and the others continue. Finished runs in ``out`` are not run again. What is to be
    known of the ranking is raised as :class:`fanin.ScenarioWarning`.

    Args:
        scenario: The scenario; the sweep of its file is ignored.
        schemes: Names of schemes, or classes in Python; by default all.
        goal: The criterion, such as ``query-p99`` or ``query-p99:2,goodput``; by default the usual one of the scenario.
        against: The scheme with which the others are compared; by default the first.
        seeds: Seeds of every scheme; by default those of the sweep, or 1 to 6.
        margin: Share of a value below which a difference does not count.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; by default one per core.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        progress: Called as runs finish; ``False`` stops.

    Raises:
        ValueError: there is no such goal, ``against`` is not among the schemes, or :meth:`Scenario.vary` was called.
        ScenarioError: the scenario is not valid with one of the schemes.
        RunError: ``progress`` stopped it; finished runs are kept.
        ResultsError: results cannot be written.

    >>> fanin.compare(fanin.Scenario("tour/rack"), ["newreno", "dctcp"], goal="query-p99", seeds=range(1, 11))

    """
    refuse_varied(scenario, "compare")
    names = several(schemes) or [entry["key"] for entry in catalogue.entries("schemes")]
    wanted, reference = goal_of(goal, scenario), reference_of(plain(against), names)
    chosen = list(seeds or (scenario.seeds if scenario.document.sweep else FEW_SEEDS))
    how: dict[str, Any] = {"out": out, "again": again, "advance": stopping(progress)}
    with workers_of(workers, jobs) as pool:
        compared = comparison.compare(scenario, names, chosen, against=reference, workers=pool, **how)
    ranking = placed(compared, wanted, reference, margin)
    order = [each.scheme for each in ranking]
    compared.sort(key=lambda each: order.index(each.scheme) if each.scheme in order else len(order))
    scored = referred_to(compared, wanted, reference) if len(wanted.parts) > 1 else None
    cases = {scheme_title(name): {comparison.SCHEME: name} for name in names}
    apart = comparison.beside_scheme(scenario, cases)
    found = [*comparison.unequal(apart), *between(scenario, cases), *_cautions(scenario, compared, wanted)]
    if len(wanted.parts) > 1 and scored != reference:
        found.append(f"{reference} has no mean of every measure: scores are relative to {scored or 'raw values'}")
    found = warn(found)
    return Comparison(scenario, chosen, reference, wanted, margin, ranking, compared, scored, apart, found)


def reference_of(against: str | None, schemes: list[str]) -> str:
    """The scheme with which the others are compared.

    Raises:
        ValueError: it is none of them.

    """
    if against is not None and against not in schemes:
        raise ValueError(f"{against} is not among the schemes: {', '.join(schemes)}")
    return against or schemes[0]


def _cautions(scenario: Scenario, compared: list[Compared], goal: Goal) -> list[str]:
    """What a reader should know before trusting the ranking."""
    cases = {scheme_title(each.scheme): each.rows for each in compared}
    runs: list[tuple[Settings, Row]] = [([], row) for rows in cases.values() for row in rows]
    return [
        *(f"{each.scheme}: {said}" for each in compared if (said := incomplete(each.rows))),
        *cautions(scenario, goal.measures, runs, cases, METRICS),
    ]
