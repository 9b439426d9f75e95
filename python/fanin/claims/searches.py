"""The results of searches over what papers leave open (``fanin fit``), for the claims ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.claims.sentences import Searched, Shown
from fanin.errors import ResultsError
from fanin.results import sums
from fanin.results.layout import FIT, FITS


@dataclass
class OfSentence:
    """The results of searches for one sentence."""

    tried: int = 0
    """Number of settings tried, in the largest search, because searches may overlap."""
    settings: list[Searched] = field(default_factory=list)
    """Settings confirmed with fresh seeds, and the closest one if none holds."""


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
            kept = sums.loaded(sums.read_bytes(path))
            if kept["engine_version"] == _engine.version():
                _add(found, kept, digest_of)
        except (ValueError, KeyError, TypeError):
            raise ResultsError(f"{path}: damaged; delete it and run 'fanin fit' again") from None
    return found


def _add(found: dict[str, OfSentence], kept: dict[str, Any], digest_of: Callable[[str], str | None]) -> None:
    current = {experiment for experiment, digest in kept["digests"].items() if digest_of(experiment) == digest}
    for name, each in kept["sentences"].items():
        if name.rpartition("/")[0] not in current:
            continue
        of = found.setdefault(name, OfSentence())
        of.tried = max(of.tried, each["tried"])
        of.settings += [Searched(**{**one, "shown": Shown(**one["shown"])}) for one in each["settings"]]
