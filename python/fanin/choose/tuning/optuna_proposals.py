"""What Optuna's tree-structured Parzen estimator proposes after some results, for ``fanin fit`` and ``fanin tune``.

Its study is rebuilt in memory from the results, and its sampler is seeded by their number. Proposals therefore follow
from the question and the results alone, on any number of cores. A search keeps no log of its own: the same command
asks for the same runs again, and finds those that are stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fanin.choose.tuning.space import Drawn, Param
from fanin.extras import needed

BATCH = 4
"""What is proposed and run together, regardless of the number of cores."""


@dataclass(frozen=True)
class Result:
    """The results of what was drawn."""

    drawn: Drawn
    goals: list[float]
    """Value of each goal; none if it failed."""
    bounds: dict[str, float]
    """Bound -> by how much it is broken; at most zero if it is kept."""
    error: str = ""
    """Why it failed."""


def load_optuna(what: str) -> Any:  # noqa: ANN401 - an extra, and slow to import
    """Optuna.

    Args:
        what: What needs it.

    Raises:
        NotFoundError: it is not installed.

    """
    return needed("optuna", what, "tune")


def propose(
    optuna: Any,  # noqa: ANN401 - an extra
    params: Sequence[Param],
    more: Sequence[bool],
    results: Sequence[Result],
    count: int,
    first: Mapping[str, float] | None = None,
) -> list[Drawn]:
    """What to try next.

    Args:
        optuna: The module.
        params: The parameters.
        more: Of each goal, whether more is better.
        results: Everything that was tried, in order.
        count: Number of proposals.
        first: The first proposal; by default the estimator's.

    """
    distributions = {each.path: each.distribution(optuna) for each in params}
    with warnings.catch_warnings(), _silenced(optuna):
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(
            directions=["maximize" if each else "minimize" for each in more],
            sampler=optuna.samplers.TPESampler(seed=len(results), n_startup_trials=2 * BATCH),
        )
        study.add_trials(
            optuna.trial.create_trial(
                params=each.drawn, distributions=distributions, values=each.goals, constraints=each.bounds
            )
            for each in results
            if not each.error
        )
        if first is not None:
            study.enqueue_trial(dict(first))
        return [dict(study.ask(distributions).params) for _ in range(count)]


@contextmanager
def _silenced(optuna: Any) -> Iterator[None]:  # noqa: ANN401 - an extra
    """Optuna says only what is wrong, and afterwards what it said before."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
