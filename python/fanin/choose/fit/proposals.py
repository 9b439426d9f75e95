"""The settings to try next: all if they are few, otherwise those that Optuna proposes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

from fanin.choose.fit.bench import Tried
from fanin.choose.fit.space import Space, Values, key
from fanin.choose.tuning.optuna_proposals import BATCH, Result, load_optuna, propose
from fanin.choose.tuning.space import Param


def next_of_grid(space: Space, done: int) -> list[Values]:
    """The settings of the whole grid that follow the first so many."""
    return list(itertools.islice(space.grid(), done, done + BATCH))


def propose_by_optuna(space: Space, tried: Sequence[Tried], sentences: Sequence[str], most: int) -> list[Values]:
    """The proposals of Optuna's tree-structured Parzen estimator after these results.

    Raises:
        NotFoundError: Optuna is not installed.

    """
    what = f"{space.size} settings need Optuna (or --trials {space.size}, which tries all of them)"
    optuna = load_optuna(what)
    params = [Param(each.path, None, each.values) for each in space.parameters]
    results = [
        Result({param.path: _place(param, each.values) for param in params}, [each.score(sentences)], {})
        for each in tried
    ]
    known = {key(each.values) for each in tried}
    found: list[Values] = []
    for drawn in propose(optuna, params, [True], results, min(BATCH, most)):
        setting = {param.path: param.value(drawn[param.path]) for param in params}
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
