"""Libraries that are slow to import: each is imported on first use.

``from fanin.later import np, pl`` instead of ``import numpy as np`` keeps them out of commands that need no tables.

Columns become arrays by ``np.asarray(column)`` and not by ``column.to_numpy()``: there Polars imports NumPy, and an
interrupt meanwhile is a panic of its own.
"""

from __future__ import annotations

import importlib
import resource
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pl"]


LEAST = 1 << 30
"""Bytes of address space in which Polars can be imported; with less it ends the process."""


def room() -> float:
    """Bytes of address space that this process may take (``ulimit -v``)."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if limit == resource.RLIM_INFINITY else limit


class _Later(ModuleType):
    """Stands for a module until it is used."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        if room() < LEAST:
            raise MemoryError
        found = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import numpy as np
    import polars as pl
else:
    np = _Later("numpy")
    pl = _Later("polars")
