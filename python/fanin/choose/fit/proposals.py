"""The settings to try next: all if they are few, otherwise those that Optuna proposes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

from fanin.choose.fit.bench import Tried
from fanin.choose.fit.space import Space, Values, key
from fanin.choose.tuning.space import Param
from fanin.extras import needed

BATCH = 4
"""Number of settings that are proposed together, regardless of the number of cores."""


def from_grid(space: Space, tried: Sequence[Tried], most: int) -> list[Values]:
    """The next settings of the whole grid."""
    known = {key(each.values) for each in tried}
    missing = (setting for setting in space.grid() if key(setting) not in known)
    return list(itertools.islice(missing, min(BATCH, most)))


def from_optuna(space: Space, tried: Sequence[Tried], sentences: Sequence[str], most: int) -> list[Values]:
    """The proposals of Optuna's tree-structured Parzen estimator after these results.

    The study is rebuilt from the results, and its sampler is seeded by their number. An interrupted search therefore
    takes the same course as an uninterrupted one.

    Raises:
        NotFoundError: Optuna is not installed.

    """
    what = f"{space.size} settings need Optuna (or --trials {space.size}, which tries all of them)"
    optuna: Any = needed("optuna", what, "tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    params = [Param(each.path, None, each.values) for each in space.parameters]
    distributions = {each.path: each.distribution(optuna) for each in params}
    sampler = optuna.samplers.TPESampler(seed=len(tried), n_startup_trials=2 * BATCH)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for each in tried:
        drawn = {param.path: _place(param, each.values) for param in params}
        study.add_trial(
            optuna.trial.create_trial(params=drawn, distributions=distributions, value=each.score(sentences))
        )
    known = {key(each.values) for each in tried}
    found: list[Values] = []
    for _ in range(min(BATCH, most)):
        trial = study.ask(distributions)
        setting = {param.path: param.value(trial.params[param.path]) for param in params}
        if key(setting) in known:
            setting = _unknown(space, known, len(tried) + len(found))
        known.add(key(setting))
        found.append(setting)
    return found


def _place(param: Param, setting: Values) -> int:
    wanted = key({"": setting[param.path]})
    return next(place for place, value in enumerate(param.choices) if key({"": value}) == wanted)


def _unknown(space: Space, known: set[str], seed: int) -> Values:
    """A random setting that was not tried; there is one, because the grid is larger than the search."""
    generator = random.Random(seed)
    while True:
        setting = {each.path: generator.choice(each.values) for each in space.parameters}
        if key(setting) not in known:
            return setting
