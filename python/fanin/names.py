"""Names that are read from files and become names of files; none of them may lead out of its folder."""

from __future__ import annotations

import os
import re
from typing import TypeGuard

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_LONGEST = 255
"""Bytes of a name in most file systems."""

_RUN_ID = re.compile(r"[0-9a-f]{16}")


def checked(name: str) -> str:
    """The name, if it is a valid file name: lowercase letters, digits, dots, dashes and underscores.

    Raises:
        ValueError: it is not, because it could be a path, an option or a hidden file.

    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a file: use at most 100 lowercase letters, digits, '-', '_' and '.', and "
            "begin with a letter or a digit"
        )
    return name


def checked_path(path: str) -> str:
    """The relative path of a file in a folder, if it cannot lead elsewhere; its parts may be in capital letters.

    Raises:
        ValueError: it can, or no file has such a name.

    """
    parts = path.split("/")
    if not path.isprintable() or any(part in ("", ".", "..") or len(os.fsencode(part)) > _LONGEST for part in parts):
        raise ValueError(f"{path[:100]!r} cannot be the path of a file in a folder")
    return path


def is_run_id(name: object) -> TypeGuard[str]:
    """Whether this is a run id."""
    return isinstance(name, str) and _RUN_ID.fullmatch(name) is not None
