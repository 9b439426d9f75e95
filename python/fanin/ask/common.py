"""What questions have in common: goals and bounds, where runs take place, and what is to be known of answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext

from fanin.choose import goals
from fanin.choose.goals import Goal, Keep
from fanin.errors import RunError, ScenarioWarning
from fanin.run.job import Advance, Progress, Watch, Workers
from fanin.run.scenario import Scenario
from fanin.run.threads import Threads
from fanin.scenario.own import CongestionControl, refuse_replaced
from fanin.scenario.settings import plain


def goal_of(goal: str | Goal | None, scenario: Scenario, usual: str | None = None) -> Goal:
    """The goal that a text means; by default the usual one of the scenario, or of a run of it.

    Raises:
        ValueError: it means none.

    """
    if isinstance(goal, Goal):
        return goal
    return goals.goal(goal or usual or goals.usual_goal(scenario.of_fan_in()), scenario)


def keeps_of(keep: Iterable[str | Keep], scenario: Scenario) -> list[Keep]:
    """The bounds that texts mean.

    Raises:
        ValueError: one means none.

    """
    every = [keep] if isinstance(keep, str) else keep
    return [each if isinstance(each, Keep) else goals.keep(each, scenario) for each in every]


Schemes = str | type[CongestionControl] | Iterable[str | type[CongestionControl]]
"""One scheme or several, by their names or as classes in Python."""


def refuse_varied(scenario: Scenario, question: str) -> None:
    """Refuses what :meth:`Scenario.vary` was given, for a question about one scenario.

    Raises:
        ValueError: it was given something.

    """
    if scenario.given:
        paths = ", ".join(sorted(scenario.given))
        raise ValueError(f"{question} asks about one scenario, but {paths} vary: set one value of each, or use sweep")


def several(given: Schemes) -> list[str]:
    """The names of one scheme or several."""
    found = [plain(each) for each in ([given] if isinstance(given, str | type) else given)]
    refuse_replaced(found)
    return found


@contextmanager
def workers_of(workers: Workers | None, jobs: int | None) -> Iterator[Workers]:
    """The given workers, which stay open, or threads for this question."""
    with nullcontext(workers) if workers is not None else closing(Threads(jobs)) as found:
        yield found


def stopping(progress: Watch | None) -> Advance:
    """Tells the progress of a question, which has no answer if it is stopped."""

    def advance(now: Progress) -> None:
        if progress is not None and progress(now) is False:
            raise RunError("stopped; finished runs are kept in the results folder, and the same call continues")

    return advance


def warn(found: Iterable[str]) -> list[str]:
    """Raises warnings in whoever called the caller of this, and returns them."""
    told = [ScenarioWarning(each) for each in found]
    for each in told:
        warnings.warn(each, stacklevel=3)
    return [*map(str, told)]
