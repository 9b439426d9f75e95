"""Libraries that are slow to import: each is imported on first use.

``from fanin.later import np, pl`` instead of ``import numpy as np`` keeps them out of commands that need no tables.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pl"]


class _Later(ModuleType):
    """Stands for a module until it is used."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        found = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import numpy as np
    import polars as pl
else:
    np = _Later("numpy")
    pl = _Later("polars")
