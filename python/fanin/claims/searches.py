"""The results of searches over what papers leave open (``fanin fit``), for the claims ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

from pydantic import FiniteFloat

from fanin import _engine
from fanin.claims.sentences import Judgement, Shown
from fanin.claims.verdicts import Outcome
from fanin.errors import ResultsError
from fanin.results.layout import FIT, FITS
from fanin.results.typed import typed


@dataclass
class OfSentence:
    """The results of searches for one sentence."""

    tried: int = 0
    """Number of settings tried, in the largest search, because searches may overlap."""
    settings: list[Judgement] = field(default_factory=list)
    """Settings confirmed with fresh seeds, and the closest one if none holds."""


@dataclass(frozen=True)
class _Setting:
    """A sentence under a setting, as the result of a search has it."""

    setting: str
    outcome: Outcome
    distance: FiniteFloat
    environment: str
    shown: Shown


@dataclass(frozen=True)
class _Sentence:
    tried: int
    settings: list[_Setting]


@dataclass(frozen=True)
class _Kept:
    """What the ledger needs of the result of a search."""

    digests: dict[str, str]
    """Experiment -> fingerprint of its file."""
    sentences: dict[str, _Sentence]


def read(out: Path, digest_of: Callable[[str], str | None]) -> dict[str, OfSentence]:
    """The results of all searches in a results folder, by sentence.

    A search of another engine, or of another version of an experiment's file, does not count for that experiment.

    Args:
        out: Results folder.
        digest_of: Fingerprint of an experiment's present file; ``None`` if there is no such experiment.

    Raises:
        ResultsError: the record of a search is damaged.

    """
    found: dict[str, OfSentence] = {}
    for path in sorted((out / FITS).glob(f"*/{FIT}")):
        try:
            content = json.loads(path.read_bytes())
            if content["engine_version"] == _engine.version():
                (kept,) = typed(_Kept, [{each.name: content[each.name] for each in fields(_Kept)}])
                _add(found, kept, digest_of)
        except OSError as error:
            raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError):
            raise ResultsError(f"{path}: damaged; delete it and run 'fanin fit' again") from None
    return found


def _add(found: dict[str, OfSentence], kept: _Kept, digest_of: Callable[[str], str | None]) -> None:
    current = {experiment for experiment, digest in kept.digests.items() if digest_of(experiment) == digest}
    for name, each in kept.sentences.items():
        if name.rpartition("/")[0] not in current:
            continue
        of = found.setdefault(name, OfSentence())
        of.tried = max(of.tried, each.tried)
        of.settings += [
            Judgement(
                id="",
                reading=one.setting,
                outcome=one.outcome,
                distance=one.distance,
                environment=one.environment,
                shown=one.shown,
            )
            for one in each.settings
        ]
