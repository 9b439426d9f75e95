"""Which values of its parameters are best for a scenario: ``fanin tune``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin.ask.common import goal_of, keeps_of, stopping, warn, workers_of
from fanin.choose.cautions import cautions
from fanin.choose.comparison import USUAL_MARGIN
from fanin.choose.goals import Goal, Keep
from fanin.choose.tuning.answer import Tuned, snippet
from fanin.choose.tuning.space import Param, Values, param, unused
from fanin.choose.tuning.study import tune as search
from fanin.command import worded
from fanin.later import pl
from fanin.results.runs import frame_of, html_table
from fanin.run.job import Watch, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.points import Point
from fanin.scenario.settings import Value, override
from fanin.scenario.thresholds import threshold_remarks
from fanin.show import tuning_folder


@dataclass(frozen=True)
class Tuning:
    """The best values that were found, and whether they are better than the scenario's own on fresh seeds."""

    scenario: Scenario
    goals: list[Goal]
    keeps: list[Keep]
    """The bounds."""
    margin: float
    """Share of a value below which a difference does not count."""
    tuned: Tuned = field(repr=False)
    """The trials, the scenario's own values and the best, the latter two with fresh seeds."""
    defaults: dict[str, str]
    """The scenario's own values."""
    asked: dict[str, Any] = field(repr=False)
    warnings: list[str] = field(repr=False)
    """What to know before trusting the answer."""

    @property
    def recommended(self) -> Values | None:
        """The values to take, which :meth:`Scenario.set` takes; ``None`` if the scenario's own are to be kept."""
        found = [each.values for each in self.tuned.best if each.is_advice(self.goals, self.margin)]
        return found[0] if len(self.goals) == 1 and found else None

    def frame(self) -> pl.DataFrame:
        """A row for each trial: its values, the mean of each goal, and whether it keeps all bounds."""
        names = [goal.name for goal in self.goals]
        rows = [(each, dict(zip(names, each.goals, strict=True))) for each in self.tuned.trials]
        return frame_of([{**each.values, **goals, "kept": each.kept} for each, goals in rows])

    def as_dict(self) -> dict[str, Any]:
        """What ``fanin tune --json`` prints, without the files."""
        answers = tuning_folder.as_dict(self.tuned, self.goals, self.keeps, self.margin)
        return {**self.asked, **answers, "warnings": self.warnings}

    def write(self, out: Path | str = "results") -> list[Path]:
        """Writes the answer into its folder in ``out``; returns the files.

        Raises:
            ResultsError: they cannot be written.

        """
        title = self.scenario.document.title or self.scenario.name
        folder = _folder(self.scenario, self.asked, out)
        asked = {**self.asked, "study": str(folder)}
        return tuning_folder.write(self.tuned, self.goals, self.keeps, asked, title, folder)

    def _repr_html_(self) -> str:
        found = snippet(self.recommended) if self.recommended else "keep yours"
        rows = [
            (", ".join(map(str, (each.values or self.defaults).values())), goal.shown(value.without_zero_width))
            for each in (self.tuned.default, *self.tuned.best)
            for goal, value in zip(self.goals[:1], each.goals, strict=False)
        ]
        return html_table(found, (", ".join(self.defaults), self.goals[0].heading), rows)


def tune(
    scenario: Scenario,
    params: Mapping[str, Value] | Sequence[Param],
    *,
    goal: str | Goal | Sequence[str | Goal] | None = None,
    keep: Iterable[str | Keep] = (),
    trials: int = 40,
    seeds: Sequence[int] = (1, 2, 3),
    fresh: int = 10,
    margin: float = USUAL_MARGIN,
    out: Path | str | None = "results",
    jobs: int | None = None,
    workers: Workers | None = None,
    progress: Watch | None = None,
) -> Tuning:
    """Finds the best values of parameters and checks them on fresh seeds, as ``fanin tune`` does. It needs Optuna.

    Args:
        scenario: The scenario; its sweep is ignored.
        params: Dotted path of each parameter -> its range, such as ``5pkt..80pkt``, or a list of values.
        goal: The criterion, such as ``query-p99``; several give a Pareto front; by default the scenario's usual one.
        keep: Bounds such as ``goodput=95%``; a share is relative to the scenario's own values.
        trials: Trials of the whole study.
        seeds: Seeds of every trial.
        fresh: Number of seeds for the check, which no trial has used.
        margin: Share of a value below which a difference does not count.
        out: Results folder; ``None`` keeps everything in memory.
        jobs: Threads; by default one per core.
        workers: Where to run the simulations, if not on threads.
        progress: Called as runs finish; ``False`` stops.

    Raises:
        ValueError: there is no such goal, bound or range.
        NotFoundError: Optuna is not installed.
        ScenarioError: the scenario has no such value.
        RunError: the scenario's own values or the best fail, or ``progress`` stopped it; finished runs are kept.
        ResultsError: results cannot be written.

    >>> fanin.tune(fanin.Scenario("tour/rack"), {"transport.initial-window": ["2mss", "4mss", "10mss"]})

    """
    scenario.check()
    ranges = params_of(params, scenario)
    goals = [goal_of(each, scenario) for each in ([goal] if goal is None or isinstance(goal, str | Goal) else [*goal])]
    keeps = keeps_of(keep, scenario)
    asked: dict[str, Any] = {
        "scenario": scenario.name,
        "params": [each.text for each in ranges],
        "goals": [each.name for each in goals],
        "keep": [each.text for each in keeps],
        "seeds": list(seeds),
    }
    with workers_of(workers, jobs) as pool:
        laboratory = Laboratory(scenario, out, workers=pool, advance=stopping(progress))
        tuned, defaults = search(laboratory, ranges, goals, keeps, trials=trials, seeds=asked["seeds"], fresh=fresh)
    study = {} if out is None else {"study": str(_folder(scenario, asked, out))}
    found = _cautions(scenario, tuned, goals, keeps, margin)
    found = warn(found)
    return Tuning(
        scenario, goals, keeps, margin, tuned, defaults, {**asked, "margin": margin, "fresh": fresh, **study}, found
    )


def _folder(scenario: Scenario, asked: Mapping[str, Any], out: Path | str) -> Path:
    """The folder of a study, which its question names: not how it is checked."""
    question = {name: asked[name] for name in ("scenario", "params", "goals", "keep", "seeds")}
    return tuning_folder.folder_of(scenario, question, out)


def params_of(params: Mapping[str, Value] | Sequence[Param], scenario: Scenario) -> list[Param]:
    """The parameters to tune.

    Raises:
        ValueError: one is none, or nothing in the scenario uses its scheme.
        ScenarioError: the scenario has no such value.

    """
    if not isinstance(params, Mapping):
        found = list(params)
    else:
        found = [param(f"{path}={override(values)}", scenario) for path, values in params.items()]
    if (scheme := unused(found, scenario)) is not None:
        raise ValueError(worded(f"nothing in the scenario uses {scheme}; --set transport.scheme={scheme} does"))
    return found


def _cautions(scenario: Scenario, tuned: Tuned, goals: list[Goal], keeps: list[Keep], margin: float) -> list[str]:
    """What a reader should know before trusting the answer."""
    checked = {"default": tuned.default}
    checked |= {", ".join(map(str, (each.values or {}).values())): each for each in tuned.best}
    runs = [(Point(each.values or {}, row["seed"]).overrides, row) for each in checked.values() for row in each.rows]
    measures = [*(each for goal in goals for each in goal.measures), *(keep.measure for keep in keeps)]
    found = [
        f"of the recommended values: {remark}"
        for each in tuned.best
        if each.is_advice(goals, margin)
        for remark in _of_thresholds(scenario, each.values or {})
    ]
    return found + cautions(scenario, measures, runs, {name: each.rows for name, each in checked.items()})


def _of_thresholds(scenario: Scenario, values: Values) -> list[str]:
    """What ``fanin check`` says against the marking threshold that some values bring."""
    return threshold_remarks(scenario.loads(values)["fan_in"], scenario.resolved(values))
