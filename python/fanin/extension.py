"""Checks that the compiled engine fits this package.

In a checkout the two may differ: Python files change at once, the extension when it is built. An old extension would
fail later with an AttributeError, so it is checked when the package is imported.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from fanin.command import is_command

PACKAGE_VERSION = "0.1.0"

_STUBS = Path(__file__).with_name("_engine.pyi")


def needed() -> list[str]:
    """The names that this package needs from the extension: those that its stub file exports."""
    exported = _STUBS.read_text(encoding="utf-8").partition("__all__ = [")[2].partition("]")[0]
    return [name.strip('"') for line in exported.split(",") if (name := line.strip())]


def problem() -> str | None:
    """Why the extension does not fit this package; ``None`` if it does."""
    try:
        engine = importlib.import_module("fanin._engine")
    except ImportError as error:
        return f"the compiled engine cannot be loaded ({error}): in a checkout run make, else install fanin again"
    # The version of an extension consists of that of the package and a hash of the engine's source.
    built = engine.version() if hasattr(engine, "version") else "unknown"
    missing = [name for name in needed() if not hasattr(engine, name)]
    if not missing and built.partition("+")[0] == PACKAGE_VERSION:
        return None
    lacks = f" and lacks {', '.join(missing)}" if missing else ""
    return (
        f"the compiled engine has version {built}{lacks}, but the Python files next to it need version "
        f"{PACKAGE_VERSION}: in a checkout run make, else install fanin again"
    )


def check() -> None:
    """Refuses an extension of another version: with one line on the command line, elsewhere with an ImportError."""
    if (found := problem()) is None:
        return
    if is_command():
        sys.stderr.write(f"error: {found}\n")
        raise SystemExit(3)
    raise ImportError(found)


# Importing this module is the check: the package does it before it imports anything else.
check()
