"""The last resort: an internal error ends in one line and a report in a file, never in a traceback."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
import traceback

from fanin import _engine
from fanin.cli.terminal import note, version
from fanin.extension import own_engine


def of_own_engine() -> str:
    """Where the first panic was, if the engine has schemes of its user: that place may be theirs."""
    said = _engine.panics() if own_engine() else []
    place = re.search(r"panicked at (\S+):\d+:", said[0]) if said else None
    return f" at {place[1]}; if that is your scheme, mend it there" if place else ""


def report(error: BaseException) -> str:
    """Writes what a developer needs into a temporary file, and returns the file's path for the message.

    Where no file can be written, the text goes to stderr instead.
    """
    lines = (
        version(),
        f"Python {platform.python_version()} on {platform.platform()}",
        f"arguments: {sys.argv[1:]!r}",
        "",
        *traceback.format_exception(error),
        *_engine.panics(),
    )
    text = "\n".join(lines)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="fanin-defect-", suffix=".txt", delete=False
        ) as file:
            file.write(text)
    except OSError:
        note(text)
        return "the text above"
    return file.name
