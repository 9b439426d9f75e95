"""Packages that only some commands need, and that users install when they use these."""

from __future__ import annotations

import importlib
import shlex
import sys
from typing import Any

from fanin.errors import NotFoundError

_PACKAGES = {
    "cluster": ["dask[distributed]"],
    "pandas": ["pandas"],
    "reference": ["scipy"],
    "rl": ["gymnasium"],
    "serve": ["starlette", "uvicorn"],
    "tune": ["optuna"],
}
"""Extra of fanin -> its packages."""


def how_to_install(extra: str) -> str:
    """What to type, for the Python that runs: that of a checkout, or of wherever a wheel was installed."""
    return shlex.join([sys.executable, "-m", "pip", "install", *_PACKAGES[extra]])


def needed(module: str, what: str, extra: str) -> Any:  # noqa: ANN401 - without types, and slow to import
    """A module of an extra.

    Raises:
        NotFoundError: it is not installed; ``what`` says what needs it.

    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotFoundError(f"{what}: {how_to_install(extra)}") from None
