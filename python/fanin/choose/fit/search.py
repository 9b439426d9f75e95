"""The search: settings are tried in batches, the winner's neighbours last, and the answer runs again with fresh seeds.

Every batch is written to a log. The same command continues from the log, and takes the same course as an
uninterrupted search, on any number of cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fanin.choose.fit import proposals
from fanin.choose.fit.answer import Confirmed, Fitted, ablation, best, cover, front, missing
from fanin.choose.fit.bench import Bench, Tried
from fanin.choose.fit.space import Space, Values, key
from fanin.choose.tuning.parzen import BATCH
from fanin.errors import RunError
from fanin.results.search_log import Log

OWN = "the file's own values"
WINNER = "winner"
OTHER = "setting"
SENSITIVITY = "sensitivity"


class Admission:
    """What a search can have tried: settings of its space, each once, judged by its sentences."""

    def __init__(self, space: Space, sentences: Sequence[str]) -> None:
        self._space = space
        self._sentences = frozenset(sentences)
        self._known: set[str] = set()

    def __call__(self, tried: Tried) -> None:
        """Raises ValueError for anything else."""
        if tried.values not in self._space:
            raise ValueError("it is not a setting of the search")
        if not tried.found.keys() <= self._sentences:
            raise ValueError("it has sentences that the search does not judge")
        if (name := key(tried.values)) in self._known:
            raise ValueError("the setting was tried before")
        self._known.add(name)


def search(bench: Bench, space: Space, log: Log[Tried], seeds: Sequence[int], trials: int) -> list[Tried]:
    """Tries ``trials`` settings, and then the neighbours of the best one until none of them is better.

    Args:
        bench: Runs and judges settings.
        space: The open parameters.
        log: The settings tried before; new ones are added.
        seeds: Seeds of every setting.
        trials: Settings to try before the neighbours; the whole grid is tried if it has no more.

    Raises:
        NotFoundError: the grid is larger, and Optuna is not installed.
        RunError: the runs of every setting fail.
        ResultsError: results cannot be written; what was tried is kept.

    """
    sentences = bench.sentences
    whole = space.size <= trials
    while (left := (space.size if whole else trials) - len(log.entries)) > 0:
        asked = (
            proposals.from_grid(space, log.entries, left)
            if whole
            else proposals.from_optuna(space, log.entries, sentences, left)
        )
        tried, of = len(log.entries), space.size if whole else trials
        log.add(bench.judge(asked, seeds, f"settings {tried + 1} to {tried + len(asked)} of {of}, then neighbours"))
    while asked := missing(best(log.entries, sentences).values, space, log.entries):
        what = f"{len(asked)} neighbours of the best of {len(log.entries)} settings, until none is better"
        log.add(bench.judge(asked[:BATCH], seeds, what))
    if not any(each.found for each in log.entries):
        raise RunError(next(error for each in log.entries for error in each.errors))
    return log.entries


def fit(
    bench: Bench,
    space: Space,
    folder: Path,
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
        folder: The search's folder.
        trials: Settings to try; the grid, if it has no more.
        seeds: Seeds of every setting.
        fresh: Number of seeds of the confirmation.
        sensitivities: Label -> values that are not admissible; each changes the winner and is shown, not counted.

    Raises:
        NotFoundError: the grid is larger than ``trials``, and Optuna is not installed.
        RunError: the runs of every setting fail.
        ResultsError: results cannot be written; what was tried is kept.

    """
    log = Log(folder, Tried, Admission(space, bench.sentences))
    tried = search(bench, space, log, seeds, trials)
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
    return Fitted(space, bench.says, bench.declared, list(tried), found, changes, confirmed, list(seeds), confirming)
