"""Loads the compiled engine, and checks that it fits this package.

In a checkout the two may differ: Python files change at once, the extension when it is built. An old extension would
fail later with an AttributeError, so it is checked when the package is imported. ``FANIN_ENGINE`` names another engine:
one that was built with schemes of its user.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from fanin.command import is_command

PACKAGE_VERSION = "0.1.0"

_STUBS = Path(__file__).with_name("_engine.pyi")
_NAME = "fanin._engine"


def needed() -> list[str]:
    """The names that this package needs from the extension: those that its stub file exports."""
    exported = _STUBS.read_text(encoding="utf-8").partition("__all__ = [")[2].partition("]")[0]
    return [name.strip('"') for line in exported.split(",") if (name := line.strip())]


def own_engine() -> str:
    """The engine with schemes of its user, if ``FANIN_ENGINE`` names one."""
    return os.environ.get("FANIN_ENGINE", "")


def problem() -> str | None:
    """Why the extension does not fit this package; ``None`` if it does."""
    own = own_engine()
    what = f"the engine {own} (FANIN_ENGINE)" if own else "the compiled engine"
    remedy = "build it again with these sources of fanin" if own else "in a checkout run make, else install fanin again"
    try:
        engine = _load(own) if own else importlib.import_module(_NAME)
    except ImportError as error:
        return f"{what} cannot be loaded ({error}): {remedy}"
    except ValueError as error:
        return f"{what} is refused: {error}"
    # The version of an extension consists of that of the package and a hash of the engine's source.
    built = engine.version() if hasattr(engine, "version") else "unknown"
    missing = [name for name in needed() if not hasattr(engine, name)]
    if not missing and built.partition("+")[0] == PACKAGE_VERSION:
        return None
    lacks = f" and lacks {', '.join(missing)}" if missing else ""
    beside = "this fanin needs" if own else "the Python files next to it need"
    return f"{what} has version {built}{lacks}, but {beside} version {PACKAGE_VERSION}: {remedy}"


def _load(file: str) -> ModuleType:
    """The engine in this file, as if it lay beside the package."""
    import hashlib

    loader = importlib.machinery.ExtensionFileLoader(_NAME, file)
    spec = importlib.util.spec_from_loader(_NAME, loader)
    assert spec is not None
    engine = importlib.util.module_from_spec(spec)
    loader.exec_module(engine)
    if hasattr(engine, "version"):
        # Its schemes are no part of the engine's source, and another build may run them otherwise.
        version = f"{engine.version()}.{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:8]}"
        engine.version = lambda: version  # type: ignore[attr-defined]
    sys.modules[_NAME] = sys.modules["fanin"]._engine = engine  # type: ignore[attr-defined]
    return engine


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
