"""Settings in words, without the keys and values that most settings of an experiment share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fanin.claims.sentences import Judgement, Sentence

_PARTS = re.compile(r"; |, (?=[\w.-]+ = )")
_KEY = re.compile(r"([\w.-]+) = ")


def usual(claims: Iterable[Sentence]) -> list[str]:
    """The keys with their values that more than half of the settings of some sentences have."""
    found: list[Judgement] = []
    for claim in claims:
        found.extend(claim.cases)
        found.extend(claim.searched)
    settings = [each.reading for each in found if each.basis != "sensitivity"]
    counts = Counter(part for setting in settings for part in dict.fromkeys(_PARTS.split(setting)) if _KEY.match(part))
    return [part for part, count in counts.items() if 2 * count > len(settings) > 1]


def shortened(claim: Sentence, usual: Sequence[str]) -> Sentence:
    """The same sentence, with what is usual left out of the settings of its own cases and of searches.

    A setting that lacks a usual key says so, so that nothing is lost. Sensitivities name no keys.
    """
    cases = [
        each if each.basis == "sensitivity" else replace(each, reading=_short(each.reading, usual))
        for each in claim.cases
    ]
    searched = [replace(each, reading=_short(each.reading, usual)) for each in claim.searched]
    return replace(claim, cases=cases, searched=searched)


def _short(setting: str, usual: Sequence[str]) -> str:
    parts = [part for part in _PARTS.split(setting) if part]
    keys = {found[1] for part in parts if (found := _KEY.match(part))}
    words = [part for part in parts if not _KEY.match(part)]
    values = [part for part in parts if _KEY.match(part) and part not in usual]
    lacking = [found[1] for part in usual if (found := _KEY.match(part)) and found[1] not in keys]
    values += [f"with the default {', '.join(lacking)}"] if lacking else []
    return "; ".join([*words, ", ".join(values)] if values else words)
