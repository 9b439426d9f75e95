"""Held-out experiments: no search may use them, and they judge the setting found by a search once.

A second judgement by the same experiment is refused unless requested, and is then recorded as such: whoever judges
twice can choose the setting that does better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from fanin import _engine
from fanin.choose.fit.bench import Tried
from fanin.choose.fit.space import Space, Values, words
from fanin.claims.record import digest
from fanin.errors import FaninError, ResultsError
from fanin.results import judgements, sums
from fanin.results.dataset import as_json
from fanin.results.files import write_whole, writing
from fanin.results.layout import FIT, FITS, HELD_OUT
from fanin.results.typed import typed
from fanin.run.scenario import Scenario
from fanin.scenario import library


class HeldOutError(FaninError):
    """A held-out experiment in a search, or one that was judged before."""


@dataclass(frozen=True)
class Judgement:
    """A held-out experiment under the setting that a search found."""

    experiment: str
    when: str
    """Time of the judgement, in UTC."""
    setting: Values
    search: str
    """Name of the search's folder."""
    engine_version: str
    digest: str
    """Digest of the experiment's file."""
    seeds: list[int]
    again: bool
    """Whether it is not the first judgement by this experiment."""
    holds: list[str]
    """Sentences that hold under the setting."""
    fails: list[str]
    own: list[str]
    """Sentences that hold with the file's own values."""


def refuse_held_out(experiments: Sequence[Scenario]) -> None:
    """Refuses held-out experiments in a search.

    Raises:
        HeldOutError: one is held out; the message names the first.

    """
    for each in experiments:
        if each.document.held_out:
            raise HeldOutError(
                f"{each.name} is held out of searches; --held-out judges the setting that is found by it, once"
            )


def of_papers(experiments: Sequence[Scenario], space: Space) -> tuple[list[Scenario], list[str]]:
    """The held-out experiments of the same papers that declare an open parameter of the search.

    Returns:
        The experiments, and the names of those that declare none: their results would be the same under any setting.

    """
    papers = {each.document.paper for each in experiments if each.document.paper}
    found, constant = [], []
    searched = {each.path for each in space.parameters}
    for name, path in library.experiments().items():
        if name.partition("/")[0] not in papers:
            continue
        each = Scenario.named(name, path)
        if each.document.held_out and each.document.claim and each.document.benchmark is None:
            if any(choice.path in searched for choice in each.open):
                found.append(each)
            else:
                constant.append(name)
    return found, constant


def extended(space: Space, experiments: Sequence[Scenario]) -> Space:
    """The same parameters, also for further experiments that declare them."""
    declared = {one.name: {choice.path for choice in one.open} for one in experiments}
    return Space(
        [
            replace(each, of=tuple(name for name, paths in declared.items() if each.path in paths))
            for each in space.parameters
        ]
    )


def read(out: Path | str) -> list[Judgement]:
    """All judgements by held-out experiments, in order.

    Raises:
        ResultsError: the record is damaged; it is never overwritten.

    """
    fits = Path(out) / FITS
    path = fits / HELD_OUT
    try:
        every = judgements.recorded(fits)
        found = typed(Judgement, every)
    except ValueError:
        raise ResultsError(f"{path}: damaged; it is the record of what was judged by held-out experiments") from None
    if (told := judgements.forgotten(fits, every)) is not None:
        raise ResultsError(f"{path}: damaged (it lacks a judgement that {told} has); restore it from a copy")
    return found


def refuse_second(experiments: Sequence[Scenario], search: str, out: Path | str, *, again: bool) -> None:
    """Refuses a second judgement by an experiment, unless requested.

    Args:
        experiments: The experiments.
        search: Name of the search's folder. If it was ended before its result was written, it may go on.
        out: Results folder.
        again: Whether it is requested.

    Raises:
        HeldOutError: an experiment was judged before.

    """
    judged = {each.experiment: each for each in read(out)}
    for each in experiments:
        before = judged.get(each.name)
        if before is not None and not again and not _goes_on(before, search, out):
            raise HeldOutError(
                f"{each.name} was judged on {before.when} with {words(before.setting)}; a second judgement is not "
                "independent: --again makes it, and records that it is not the first"
            )


def _goes_on(before: Judgement, search: str, out: Path | str) -> bool:
    """Whether a judgement is that of a search that was ended before its result was written."""
    return before.search == search and not (Path(out) / FITS / search / FIT).exists()


def judged(
    experiments: Sequence[Scenario], setting: Tried, own: Tried, search: str, seeds: Sequence[int], out: Path | str
) -> list[Judgement]:
    """Records a judgement by each of the held-out experiments.

    Args:
        experiments: The experiments.
        setting: Results under the setting found by the search.
        own: Results with the files' own values.
        search: Name of the search's folder.
        seeds: Seeds of the judgement.
        out: Results folder.

    Raises:
        ResultsError: the record is damaged or cannot be written.

    """
    before = read(out)
    known = {each.experiment: each for each in before}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = [
        Judgement(
            experiment=each.name,
            when=now,
            setting=setting.values,
            search=search,
            engine_version=_engine.version(),
            digest=digest(each),
            seeds=list(seeds),
            again=each.name in known,
            holds=_select_of(each, sorted(setting.holding)),
            fails=_select_of(each, sorted(setting.found.keys() - setting.holding)),
            own=_select_of(each, sorted(own.holding)),
        )
        for each in experiments
    ]
    # One that is recorded already is the same again, if the search only goes on.
    found = [_same_as(known.get(each.experiment), each, out) for each in found]
    path = Path(out) / FITS / HELD_OUT
    every = [*before, *(each for each in found if each not in before)]
    content = sums.sealed({judgements.EVERY: [asdict(each) for each in every]})
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, as_json(content))
    return found


def _same_as(before: Judgement | None, now: Judgement, out: Path | str) -> Judgement:
    """The judgement before, if it is this one of a search that goes on."""
    if before is None or not _goes_on(before, now.search, out):
        return now
    return before if replace(now, when=before.when, again=before.again) == before else now


def _select_of(experiment: Scenario, sentences: Sequence[str]) -> list[str]:
    return [each for each in sentences if each.rpartition("/")[0] == experiment.name]
