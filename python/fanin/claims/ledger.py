"""The claims ledger: the verdict on every sentence of every paper, from the results of ``fanin reproduce``.

Nothing is simulated here. A claim that was never judged is *not run*; verdicts from another engine or another version
of the experiment's file are shown and marked stale.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fanin.claims.sentences import Judgement, Sentence
from fanin.claims.standing import Standing
from fanin.errors import FaninError, NotFoundError, ResultsError
from fanin.results.cache import Cache, Made, Sources
from fanin.results.layout import CHANGED, CLAIMS, FITS
from fanin.results.store import Store
from fanin.scenario import library

if TYPE_CHECKING:
    from fanin.claims.assessment import Sweeps
    from fanin.claims.searches import OfSentence

Advance = Callable[[int, int], None]
"""Called with the number of experiments that have been read, and of all."""


def standings(
    out: Path | str, *, advance: Advance = lambda _done, _of: None, any_engine: bool = False
) -> list[Standing]:
    """Every experiment of the library, and those that are only in the results, by paper and figure.

    Args:
        out: Results folder; it need not exist.
        advance: Called before each experiment is read, which takes a while the first time.
        any_engine: Results of another engine are not stale.

    Raises:
        ResultsError: a record is damaged, or ``out`` is not a folder.

    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise ResultsError(f"{out}: not a folder; choose another with --out")
    experiments = library.experiments()
    cache = Cache("standings", Path.cwd(), str(out), made_by={key: str(path) for key, path in experiments.items()})
    sweeps: Sweeps = {}
    stored = Store(out).made_for()
    known = []
    for done, (key, path) in enumerate(experiments.items()):
        advance(done, len(experiments))
        known.append(_of_library(key, path, out, cache, sweeps, stored, any_engine))
    found = [*known, *(_of_results(key, out, cache) for key in recorded(out) - experiments.keys())]
    cache.write()
    return _joined(sorted(found, key=lambda each: _natural(f"{each.paper or '~'}/{each.key}")), _searched(out))


def _searched(out: Path) -> dict[str, OfSentence]:
    """The results of searches for each sentence; nothing is imported or read if there are none."""
    if not (out / FITS).is_dir():
        return {}
    from fanin.claims import assessment, searches

    return searches.read(out, assessment.digest_now)


def _joined(standings: list[Standing], searched: dict[str, OfSentence]) -> list[Standing]:
    """Adds to each sentence its cases in other experiments and the results of searches, which count for its verdict."""
    repeats: dict[str, list[Judgement]] = {}
    for claim in (claim for each in standings for claim in each.claims if claim.same_as):
        repeats.setdefault(claim.same_as.replace("#", "/"), []).extend(claim.cases)

    def complete(claim: Sentence) -> Sentence:
        joined = dataclasses.replace(claim, repeats=repeats.get(claim.id, []))
        found = searched.get(claim.id)
        return joined if found is None else dataclasses.replace(joined, searched=found.settings, tried=found.tried)

    return [dataclasses.replace(each, claims=[complete(claim) for claim in each.claims]) for each in standings]


def _of_library(
    key: str, path: Path, out: Path, cache: Cache, sweeps: Sweeps, stored: dict[str, str], any_engine: bool
) -> Standing:
    recorded = cache.fingerprint(out / key / CLAIMS)
    runs, begun = _finished(key, path, cache, sweeps, stored) if recorded is None else (0, False)

    def make() -> Made:
        from fanin.claims import assessment

        return _kept(*assessment.of_library(key, path, out, runs, begun, any_engine))

    return Standing.from_dict(cache.value(key, [recorded, runs, begun, any_engine], make))


def _of_results(key: str, out: Path, cache: Cache) -> Standing:
    def make() -> Made:
        from fanin.claims import assessment

        return _kept(*assessment.of_results(key, out))

    return Standing.from_dict(cache.value(key, [cache.fingerprint(out / key / CLAIMS)], make))


def _kept(standing: Standing, sources: Sources | None) -> Made:
    return {**dataclasses.asdict(standing), "folder": str(standing.folder)}, sources


def _finished(key: str, path: Path, cache: Cache, sweeps: Sweeps, stored: dict[str, str]) -> tuple[int, bool]:
    """The number of an experiment's stored runs, and whether a command for this experiment made any of them.

    Args:
        key: Its name.
        path: Its file.
        cache: Keeps the ids of its runs.
        sweeps: Those of other experiments, as figures share runs.
        stored: The ids of all runs, each with the experiment for which it was made.

    """
    if not stored:
        return 0, False

    def ids(some: bool) -> Callable[[], Made]:
        def make() -> Made:
            from fanin.claims import assessment

            return assessment.run_ids(key, path, sweeps, some=some)

        return make

    try:
        # Most experiments have no run at all, which a few look-ups show.
        if stored.keys().isdisjoint(cache.value(f"{key}: some runs", [], ids(some=True))):
            return 0, False
        found = [each for each in cache.value(f"{key}: runs", [], ids(some=False)) if each in stored]
    except FaninError:
        return 0, False
    return len(found), any(stored[each] == key for each in found)


def recorded(out: Path) -> set[str]:
    """Names of the experiments with a record.

    Experiments that ran with other values than their files' are skipped: those count for no paper, and have a report
    of their own.
    """
    found = set()
    for place, inner, others in os.walk(out):
        apart = {CHANGED} if Path(place) == out else set()
        inner[:] = [each for each in inner if not (each.startswith(".") or each in apart)]
        if Path(place) != out and CLAIMS in others:
            found.add(Path(place).relative_to(out).as_posix())
    return found


def chosen(every: list[Standing], name: str | None) -> list[Standing]:
    """The experiments of a paper, or a single one.

    Raises:
        NotFoundError: there is neither a paper nor an experiment of that name.

    """
    if name is None:
        return every
    found = [each for each in every if name in (each.paper, each.key) or each.key.startswith(f"{name}/")]
    if found:
        return found
    papers = list(dict.fromkeys(each.paper for each in every if each.paper))
    close = difflib.get_close_matches(name, [*papers, *(each.key for each in every)], n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    raise NotFoundError(f"{name}: no paper or experiment of that name{hint}; papers: {', '.join(papers)}")


def _natural(key: str) -> list[tuple[int, str]]:
    """Sorts ``fig9`` before ``fig10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", key)]
