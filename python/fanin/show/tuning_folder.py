"""Writes the results of tuning beside its study: the answer, the trials, the TOML snippet and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fanin.choose.comparison import numbers
from fanin.choose.goals import Goal, Keep
from fanin.choose.tuning.answer import Checked, Trial, Tuned, front, snippet
from fanin.later import np
from fanin.results.dataset import as_json
from fanin.results.files import filling, writing
from fanin.results.layout import STUDIES, TUNE
from fanin.results.runs import frame_of
from fanin.run.scenario import Scenario


def folder_of(experiment: Scenario, asked: dict[str, Any], out: Path | str) -> Path:
    """The folder of a study; its name includes a hash of the scenario and the question."""
    return Path(out) / STUDIES / experiment.folder_name(asked)


def as_dict(tuned: Tuned, goals: Sequence[Goal], keeps: Sequence[Keep], margin: float) -> dict[str, Any]:
    """The answer as JSON."""
    best = [
        {
            **_checked(each, goals, keeps, margin),
            "recommended": each.is_advice(goals, margin),
            "snippet": snippet(each.values or {}),
        }
        for each in tuned.best
    ]
    default = _checked(tuned.default, goals, keeps, margin)
    return {"trials": len(tuned.trials), "failed": tuned.failed, "default": default, "best": best}


def _checked(each: Checked, goals: Sequence[Goal], keeps: Sequence[Keep], margin: float) -> dict[str, Any]:
    found = {}
    for place, goal in enumerate(goals):
        apart = numbers(each.goals[place], each.differences[place])
        found[goal.name] = {**apart, "comparison": each.comparison(place, goal, margin)}
    bounds = [{"keep": keep.text, **found.as_dict()} for keep, found in zip(keeps, each.keeps, strict=True)]
    return {
        "values": each.values,
        "goals": found,
        "keep": bounds,
        "broken": each.broken,
        "incomparable": each.incomparable,
    }


def write(
    tuned: Tuned, goals: Sequence[Goal], keeps: Sequence[Keep], asked: dict[str, Any], title: str, folder: Path
) -> list[Path]:
    """Writes ``tune.json``, ``trials.csv`` and, if there are several goals, a plot of the Pareto front.

    For one goal, ``best.toml`` is written if the values found are better than the default in what counts.

    Raises:
        ResultsError: the folder cannot be written.

    """
    rows = [
        {**each.values, **dict(zip((goal.name for goal in goals), each.goals, strict=True)), "kept": each.kept}
        for each in tuned.trials
    ]
    files = {
        TUNE: as_json({**asked, **as_dict(tuned, goals, keeps, asked["margin"])}),
        "trials.csv": frame_of(rows).write_csv().encode(),
    }
    if len(goals) == 1 and tuned.best and tuned.best[0].is_advice(goals, asked["margin"]):
        files["best.toml"] = snippet(tuned.best[0].values or {}).encode()
    with writing(folder), filling(folder, ["best.toml", "pareto.png", "pareto.svg"]) as temporary:
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        drawn = _draw(tuned, goals, title, temporary) if len(goals) > 1 and tuned.best else []
    return [folder / name for name in (*files, *(path.name for path in drawn))]


def _draw(tuned: Tuned, goals: Sequence[Goal], title: str, folder: Path) -> list[Path]:
    from fanin.show.plots.pareto import draw_pareto

    def points(trials: list[Trial]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([each.goals for each in trials], dtype=np.float64).reshape(-1, len(goals))

    default = np.array([each.mean for each in tuned.default.goals], dtype=np.float64)
    kept = points([each for each in tuned.trials if each.kept])
    others = points([each for each in tuned.trials if not each.kept])
    best = points(front(tuned.trials, goals))
    return draw_pareto([goal.axis for goal in goals], kept, others, best, default, title, folder)
