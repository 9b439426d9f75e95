"""Names that are read from files and become names of files; none of them may lead out of its folder."""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_RUN_ID = re.compile(r"[0-9a-f]{16}")


def checked(name: str) -> str:
    """The name, if it is a valid file name: lowercase letters, digits, dots, dashes and underscores.

    Raises:
        ValueError: it is not, because it could be a path, an option or a hidden file.

    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a file: use lowercase letters, digits, '-', '_' and '.', at most 100 of "
            "them, and begin with a letter or a digit"
        )
    return name


def is_run_id(name: str) -> bool:
    """Whether this is a run id, which is also the name of the run's folder."""
    return _RUN_ID.fullmatch(name) is not None


def checked_run_id(name: str) -> str:
    """A run id.

    Raises:
        ValueError: it is not one.

    """
    if not is_run_id(name):
        raise ValueError(f"{name!r} is not the id of a run")
    return name
