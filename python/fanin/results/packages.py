"""The versions of the Python packages that results are made with."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

_NAMES = ("matplotlib", "numpy", "polars", "pydantic")
"""Those that numbers, tables, figures and the reading of files depend on; runs depend on none."""


@cache
def packages() -> str:
    """Names and versions, such as ``numpy 2.3.5, polars 1.35.2``."""
    found = []
    for name in _NAMES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} unknown")
    return ", ".join(found)
