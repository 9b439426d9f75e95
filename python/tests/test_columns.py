"""How an experiment's columns reduce a result table to one number."""

from __future__ import annotations

import polars as pl
import pytest

from fanin.results.columns import extended
from fanin.scenario.format.column import TAKES, Column

VALUES = [2.0, 0.0, 4.0, 10.0]
EXPECTED = {
    "mean": 4.0,
    "sum": 16.0,
    "min": 0.0,
    "max": 10.0,
    "std": (56 / 3) ** 0.5,
    "count": 4.0,
    "first": 2.0,
    "last": 10.0,
    "share": 0.75,
    "jain": 256 / (4 * 120),
    "clusters": 2.0,
    "p50": 2.0,
}


def taken(take: str) -> float:
    gap = 5.0 if take == "clusters" else None
    column = Column(id="x", label="X", of="flows.fct_s", take=take, gap=gap)
    return extended({}, [column], lambda _: pl.DataFrame({"fct_s": VALUES}))["x"]


@pytest.mark.parametrize("take", [*TAKES, "p50"])
def test_each_take_reduces_as_its_name_says(take):
    assert taken(take) == pytest.approx(EXPECTED[take])
