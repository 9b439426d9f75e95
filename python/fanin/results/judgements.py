"""The record of judgements by held-out experiments, and whether it has all that results of searches tell of."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from fanin.errors import ResultsError
from fanin.results import sums
from fanin.results.layout import FIT, HELD_OUT

EVERY = "judgements"
"""The key of the record."""


def recorded(fits: Path) -> list[Any]:
    """All judgements in the record, in order; none if there is no record.

    Args:
        fits: The folder of searches.

    Raises:
        ValueError: the record is not what was written.
        ResultsError: it cannot be read.

    """
    path = fits / HELD_OUT
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror or error}") from None
    every = sums.unsealed(content).get(EVERY)
    if not isinstance(every, list):
        raise ValueError("no list of judgements")
    return every


def forgotten(fits: Path, every: list[Any]) -> Path | None:
    """The result of a search with a judgement that the record lacks, which would count as the first if made again.

    Args:
        fits: The folder of searches.
        every: The judgements in the record.

    """
    for path in sorted(fits.glob(f"*/{FIT}")):
        # What is damaged is named elsewhere.
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, ResultsError):
            if any(each not in every for each in json.loads(path.read_bytes())["held_out"]):
                return path
    return None
