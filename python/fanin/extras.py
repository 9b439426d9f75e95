"""Packages that only some commands need, and that users install when they use these."""

from __future__ import annotations

import importlib
from typing import Any

from fanin.errors import NotFoundError

_PACKAGES = {
    "cluster": "'dask[distributed]'",
    "reference": "scipy",
    "serve": "starlette uvicorn",
    "tune": "optuna",
}
"""Extra of fanin -> its packages, as ``pip install`` takes them."""


def how_to_install(extra: str) -> str:
    """What to type, of an installed fanin and in a checkout, which no index has."""
    checkout = f".venv/bin/pip install {_PACKAGES[extra]}"
    return f"pip install 'fanin[{extra}]' where fanin is installed, or in a checkout {checkout}"


def needed(module: str, what: str, extra: str) -> Any:  # noqa: ANN401 - without types, and slow to import
    """A module of an extra.

    Raises:
        NotFoundError: it is not installed; ``what`` says what needs it.

    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotFoundError(f"{what}: {how_to_install(extra)}") from None
