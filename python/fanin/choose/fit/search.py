"""The search: settings are tried in batches, the winner's neighbours last, and the answer runs again with fresh seeds.

The same command takes the same course, on any number of cores, and finds the runs of an interrupted one in the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fanin.choose.fit.answer import Confirmed, Fitted, ablation, best, cover, front, missing
from fanin.choose.fit.bench import Bench, Tried
from fanin.choose.fit.proposals import next_of_grid, propose_by_optuna
from fanin.choose.fit.space import Space, Values
from fanin.choose.tuning.optuna_proposals import BATCH
from fanin.errors import RunError

OWN = "the file's own values"
WINNER = "winner"
OTHER = "setting"
SENSITIVITY = "sensitivity"


def search(bench: Bench, space: Space, seeds: Sequence[int], trials: int) -> list[Tried]:
    """Tries ``trials`` settings, and then the neighbours of the best one until none of them is better.

    Args:
        bench: Runs and judges settings.
        space: The open parameters.
        seeds: Seeds of every setting.
        trials: Settings to try before the neighbours; the whole grid is tried if it has no more.

    Raises:
        NotFoundError: the grid is larger, and Optuna is not installed.
        RunError: the runs of every setting fail.
        ResultsError: results cannot be written; finished runs are kept.

    """
    sentences = bench.sentences
    whole = space.size <= trials
    of = space.size if whole else trials
    tried: list[Tried] = []
    while (done := len(tried)) < of:
        asked = next_of_grid(space, done) if whole else propose_by_optuna(space, tried, sentences, of - done)
        tried += bench.judge(asked, seeds, f"settings {done + 1} to {done + len(asked)} of {of}, then neighbours")
    while asked := missing(best(tried, sentences).values, space, tried):
        what = f"{len(asked)} neighbours of the best of {len(tried)} settings, until none is better"
        tried += bench.judge(asked[:BATCH], seeds, what)
    if not any(each.found for each in tried):
        raise RunError(next(error for each in tried for error in each.errors))
    return tried


def fit(
    bench: Bench,
    space: Space,
    *,
    trials: int = 64,
    seeds: Sequence[int] = (1, 2, 3),
    fresh: int = 10,
    sensitivities: Mapping[str, Values] | None = None,
) -> Fitted:
    """Finds the settings that fit most sentences, and confirms them with seeds that the search has not used.

    Args:
        bench: Runs and judges settings.
        space: The open parameters.
        trials: Settings to try; the grid, if it has no more.
        seeds: Seeds of every setting.
        fresh: Number of seeds of the confirmation.
        sensitivities: Label -> values that are not admissible; each changes the winner and is shown, not counted.

    Raises:
        NotFoundError: the grid is larger than ``trials``, and Optuna is not installed.
        RunError: the runs of every setting fail.
        ResultsError: results cannot be written; finished runs are kept.

    """
    tried = search(bench, space, seeds, trials)
    found = front(tried, bench.sentences)
    first = max(seeds) + 1
    confirming = list(range(first, first + fresh))
    chosen = [(OWN, {}), *((OTHER, each.values) for each in cover(found))]
    chosen[1] = (WINNER, chosen[1][1])
    chosen += [
        (f"{SENSITIVITY}: {label}", {**found[0].values, **values}) for label, values in (sensitivities or {}).items()
    ]
    judged = bench.judge([values for _, values in chosen], confirming, "the best settings, with fresh seeds")
    confirmed = [Confirmed(label, each) for (label, _), each in zip(chosen, judged, strict=True)]
    changes = ablation(found[0], space, tried)
    return Fitted(space, bench.says, bench.declared, tried, found, changes, confirmed, list(seeds), confirming)
