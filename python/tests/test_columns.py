"""How an experiment's columns reduce a result table to one number."""

from __future__ import annotations

import polars as pl
import pytest

from fanin.results.columns import extended
from fanin.scenario.format.column import TAKES, Column

VALUES = [2.0, 0.0, 4.0, 10.0]
TIMES = [0.0, 3.0, 5.0, 7.0]
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
    "time-share": 2 / 7,
    "jain": 256 / (4 * 120),
    "clusters": 2.0,
    "p50": 2.0,
}


def taken(take: str) -> float:
    gap = 5.0 if take == "clusters" else None
    below = 2.0 if take == "time-share" else None
    column = Column(id="x", label="X", of="flows.fct_s", take=take, gap=gap, below=below)
    return extended({}, [column], lambda _: pl.DataFrame({"fct_s": VALUES, "time_s": TIMES}))["x"]


@pytest.mark.parametrize("take", [*TAKES, "p50"])
def test_each_take_reduces_as_its_name_says(take):
    assert taken(take) == pytest.approx(EXPECTED[take])


def time_share(rows: dict[str, list[float]], **keys: object) -> float | None:
    column = Column(id="x", label="X", of="probes.value", take="time-share", below=2.0, **keys)
    return extended({}, [column], lambda _: pl.DataFrame(rows, schema=dict.fromkeys(rows, pl.Float64)))["x"]


def test_a_share_of_time_counts_how_long_values_are_held_and_not_how_many_there_are():
    """Of nine changes one is below the bound, and it is held for half of the time."""
    rows = {"time_s": [0.0, *range(8, 17)], "value": [1.0, *[5.0] * 9]}
    assert time_share(rows) == 0.5
    assert time_share(rows | {"value": [2.0, *[5.0] * 9]}) == 0.0


def test_a_share_of_time_follows_each_part_by_itself_and_leaves_its_last_value_out():
    """Connection 1 is below the bound from 0 s to 4 s, and connection 2 from 1 s to 2 s of its 3 s."""
    rows = {"time_s": [0, 1, 2, 4, 4], "connection": [1, 2, 2, 2, 1], "value": [1, 1, 9, 1, 1]}
    assert time_share(rows, by="connection") == pytest.approx((4 + 1) / (4 + 3))


def test_a_share_of_time_in_which_none_passes_is_none():
    assert time_share({"time_s": [1.0], "value": [1.0]}) is None
    assert time_share({"time_s": [], "value": []}) is None


@pytest.mark.parametrize("keys", [{"take": "time-share"}, {"take": "mean", "below": 2.0}])
def test_a_share_of_time_and_its_bound_belong_together(keys):
    with pytest.raises(ValueError, match="below belongs to take = time-share"):
        Column(id="x", label="X", of="probes.value", **keys)
