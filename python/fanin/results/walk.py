"""Looks through folders that may be a stranger's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

Entries = list["os.DirEntry[str]"]


def walk(top: Path) -> Iterator[tuple[Path, Entries, Entries]]:
    """Every folder with the folders in it and with everything else in it, from above to below.

    As :func:`os.walk`, which in Python 3.11 fails in folders that are deeper than Python's stack.
    The folders are entered in the order of their list, which may be changed; links and what cannot be read are not.
    """
    left = [top]
    while left:
        place = left.pop()
        inner: Entries = []
        others: Entries = []
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                (inner if _is_folder(entry) else others).append(entry)
        yield place, inner, others
        left += [Path(entry.path) for entry in reversed(inner) if not entry.is_symlink()]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # Links may lead in a circle.
    with contextlib.suppress(OSError):
        return entry.is_dir()
    return False
