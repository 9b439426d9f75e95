"""The search: settings are tried in batches, the winner's neighbours last, and the answer runs again with fresh seeds.

Every batch is written to a log. The same command continues from the log, and takes the same course as an
uninterrupted search, on any number of cores.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from fanin.choose.fit import proposals
from fanin.choose.fit.answer import Confirmed, Fitted, ablation, best, cover, front, missing
from fanin.choose.fit.bench import Bench, Tried
from fanin.choose.fit.space import Space, Values
from fanin.errors import RunError
from fanin.results import sums
from fanin.results.files import write_whole, writing
from fanin.results.layout import FIT_LOG

OWN = "the file's own values"
WINNER = "winner"
OTHER = "setting"
SENSITIVITY = "sensitivity"


class Log:
    """The settings that were tried, one per line, in the order in which they were proposed."""

    def __init__(self, path: Path) -> None:
        """Reads the log of earlier commands; an incomplete line and everything after it are dropped."""
        self._path = path
        self.tried: list[Tried] = []
        content = path.read_bytes() if path.is_file() else b""
        for number, line in enumerate(sums.lines_of(content), start=1):
            try:
                self.tried.append(Tried.from_dict(sums.unsealed(sums.loaded(line))))
            except (ValueError, KeyError, TypeError):
                warnings.warn(f"{path}:{number}: damaged; it and what follows is tried again", stacklevel=2)
                break
        whole = _lines(self.tried)
        if whole != content:
            with writing(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, whole)

    def add(self, found: Sequence[Tried]) -> None:
        """Adds a batch."""
        with writing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as stream:
                stream.write(_lines(found))
        self.tried += found


def _lines(found: Sequence[Tried]) -> bytes:
    """The settings as lines, each with the digest of its content."""
    return "".join(json.dumps(sums.sealed(each.as_dict())) + "\n" for each in found).encode()


def search(bench: Bench, space: Space, log: Log, seeds: Sequence[int], trials: int) -> list[Tried]:
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
    while (left := (space.size if whole else trials) - len(log.tried)) > 0:
        asked = (
            proposals.from_grid(space, log.tried, left)
            if whole
            else proposals.from_optuna(space, log.tried, sentences, left)
        )
        tried, of = len(log.tried), space.size if whole else trials
        log.add(bench.judge(asked, seeds, f"settings {tried + 1} to {tried + len(asked)} of {of}, then neighbours"))
    while asked := missing(best(log.tried, sentences).values, space, log.tried):
        what = f"{len(asked)} neighbours of the best of {len(log.tried)} settings, until none is better"
        log.add(bench.judge(asked[: proposals.BATCH], seeds, what))
    if not any(each.found for each in log.tried):
        raise RunError(next(error for each in log.tried for error in each.errors))
    return log.tried


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
    tried = search(bench, space, Log(folder / FIT_LOG), seeds, trials)
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
