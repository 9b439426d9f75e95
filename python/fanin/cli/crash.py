"""The last resort: an internal error ends in one line and a report in a file, never in a traceback."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback

from fanin import _engine
from fanin.cli.terminal import note, version


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
