"""The compiled engine beside this package, and whether it is the one that this package was written for.

In a checkout the two come apart: Python files change at once, the extension when it is built. An old extension would
fail somewhere deep with an AttributeError, so that it is looked at when the package is imported.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

PACKAGE_VERSION = "0.1.0"

_STUBS = Path(__file__).with_name("_engine.pyi")

_COMMANDS = ("fanin", "fanin.exe", "-m")


def needed() -> list[str]:
    """What this package takes from the extension: the names that its stub file exports."""
    exported = _STUBS.read_text(encoding="utf-8").partition("__all__ = [")[2].partition("]")[0]
    return [name.strip('"') for line in exported.split(",") if (name := line.strip())]


def problem() -> str | None:
    """Why the extension cannot serve this package, or ``None``."""
    try:
        engine = importlib.import_module("fanin._engine")
    except ImportError as error:
        return f"the compiled engine cannot be loaded ({error}): in a checkout run make, else install fanin again"
    # Every extension ever built has a version: that of the package, and a hash of the engine's source.
    built = engine.version() if hasattr(engine, "version") else "unknown"
    missing = [name for name in needed() if not hasattr(engine, name)]
    if not missing and built.partition("+")[0] == PACKAGE_VERSION:
        return None
    lacks = f" and lacks {', '.join(missing)}" if missing else ""
    return (
        f"the compiled engine is of version {built}{lacks}; the Python files beside it are of version "
        f"{PACKAGE_VERSION} and need another: in a checkout run make, else install fanin again"
    )


def check() -> None:
    """Refuses to go on with an extension of another age: one line on the command line, elsewhere an ImportError."""
    if (found := problem()) is None:
        return
    if Path(sys.argv[0]).name in _COMMANDS:
        sys.stderr.write(f"error: {found}\n")
        raise SystemExit(3)
    raise ImportError(found)


# Importing this module is the check: the package does it before it imports anything else.
check()
