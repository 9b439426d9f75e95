"""Completion times of runs in which transfers had not ended."""

import math
from types import SimpleNamespace

import polars as pl
import pytest

import fanin
from fanin.numbers.formula import evaluate
from fanin.results import never_ended
from fanin.results.columns import extended
from fanin.scenario.format.column import Column
from fanin.scenario.format.plot import Plot
from fanin.show.plots import series


def scenario(*traffic):
    groups = [{"name": name, "kind": kind, **keys} for name, kind, keys in traffic]
    return {"run": {"duration": "20s"}, "traffic": groups}


BURSTS = scenario(("bursts", "incast", {"stop": "0s", "rounds": 1}))
GOING_ON = scenario(("web", "poisson", {"count": 0, "stop": "0s"}))

TIMES = ("fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s", "fct_max_s")


def infinite(of, **groups):
    """The infinite completion times of a run with these numbers of transfers that ended, and that did not."""
    row = dict.fromkeys(TIMES, 0.1) | {"goodput_bps": 1e9}
    for name, (completed, incomplete) in groups.items():
        row |= {f"groups.{name}.{each}": 0.1 for each in ("fct_mean_s", "fct_p99_s")}
        row |= {f"groups.{name}.completed": completed, f"groups.{name}.incomplete": incomplete}
    return [name for name, value in never_ended.with_infinite(row, of).items() if value == math.inf]


def test_a_time_that_falls_among_transfers_that_never_ended_is_infinite():
    of_group = ["groups.bursts.fct_mean_s", "groups.bursts.fct_p99_s"]
    assert infinite(BURSTS, bursts=(100, 0)) == []
    # The 99th of 100 has ended, the 100th has not.
    assert infinite(BURSTS, bursts=(99, 1)) == ["fct_mean_s", "fct_max_s", "groups.bursts.fct_mean_s"]
    assert infinite(BURSTS, bursts=(98, 2)) == ["fct_mean_s", "fct_p99_s", "fct_max_s", *of_group]
    assert infinite(BURSTS, bursts=(50, 50)) == [name for name in TIMES if name != "fct_p50_s"] + of_group
    assert infinite(BURSTS, bursts=(1, 49)) == [*TIMES, *of_group]
    assert infinite(BURSTS, bursts=(0, 0)) == []


def test_a_group_whose_transfers_all_end_has_finite_times():
    both = scenario(("bursts", "incast", {"stop": "0s"}), ("long", "background", {"stop": "0s"}))
    found = infinite(both, bursts=(10, 0), long=(0, 2))
    assert [name for name in found if name.startswith("groups.bursts")] == []
    assert {"fct_mean_s", "groups.long.fct_mean_s"} < set(found)


def test_transfers_in_progress_of_traffic_that_goes_on_are_left_out():
    assert infinite(GOING_ON, web=(990, 10)) == []
    # More than one in a hundred are a backlog.
    assert "fct_mean_s" in infinite(GOING_ON, web=(989, 11))
    for end in ({"count": 1000, "stop": "0s"}, {"count": 0, "stop": "19s"}):
        assert "fct_mean_s" in infinite(scenario(("web", "poisson", end)), web=(990, 10))
    # A closed loop has as many in progress at its end as ever.
    loop = scenario(("web", "sessions", {"count": 0, "stop": "20s", "concurrent": 2}))
    assert infinite(loop, web=(10, 2)) == []
    assert infinite(loop, web=(0, 2)) == [*TIMES, "groups.web.fct_mean_s", "groups.web.fct_p99_s"]


def test_a_query_has_not_ended_if_one_of_its_transfers_has_not():
    both = scenario(("asked", "requests", {"count": 5, "stop": "0s"}), ("long", "background", {"stop": "0s"}))

    def query(asked, long):
        row = {"query_mean_s": 0.1}
        for name, (completed, incomplete) in {"asked": asked, "long": long}.items():
            row |= {f"groups.{name}.completed": completed, f"groups.{name}.incomplete": incomplete}
        return never_ended.with_infinite(row, both)["query_mean_s"]

    assert query((49, 1), (2, 0)) == math.inf
    assert query((50, 0), (1, 1)) == 0.1


FLOWS = pl.DataFrame(
    {
        "group": ["bursts"] * 4 + ["endless"],
        "bytes": [1000] * 4 + [None],
        "fct_s": [0.1, 0.2, None, 0.3, None],
    }
)


@pytest.mark.parametrize(
    ("take", "expected"),
    [("mean", math.inf), ("max", math.inf), ("p99", math.inf), ("p50", 0.2), ("min", 0.1), ("count", 3), ("last", 0.3)],
)
def test_a_declared_time_counts_what_never_ended_as_the_longest(take, expected):
    column = Column(id="x_s", label="X", of="flows.fct_s", take=take)
    assert extended({}, [column], lambda _: FLOWS, {})["x_s"] == expected


def test_a_declared_time_leaves_out_what_is_in_progress():
    column = Column(id="x_s", label="X", of="flows.fct_s", take="max")
    many = pl.concat([FLOWS[:1]] * 98 + [FLOWS[:3]])
    assert extended({}, [column], lambda _: many, {"bursts": 0})["x_s"] == 0.2
    assert extended({}, [column], lambda _: many[50:], {"bursts": 0})["x_s"] == math.inf
    # A column that is no time at which something ends is as it is.
    size = Column(id="size", label="Size", of="flows.bytes", take="max")
    assert extended({}, [size], lambda _: many, {})["size"] == 1000


def test_a_formula_of_infinite_times_is_not_a_missing_value():
    row = {"a": math.inf, "b": math.inf, "c": 2.0, "zero": 0.0}
    assert evaluate("{a} / {c}", row) == math.inf
    assert math.isnan(evaluate("{a} - {b}", row))
    assert evaluate("{c} / {zero}", row) is None
    assert evaluate("1e308 * 10 * {c}", row) is None


def test_the_table_of_runs_has_infinite_times(tmp_path):
    file = tmp_path / "cut.toml"
    file.write_text("""
title = "A run that ends before its transfers"

[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "100pkt"

[transport]
scheme = "newreno"

[[traffic]]
name = "short"
kind = "incast"
senders = 3
bytes-each = "10KB"

[[traffic]]
name = "long"
kind = "background"
bytes-each = "100MB"

[run]
duration = "100ms"
seed = 1

[sweep]
seeds = [1]

[[column]]
id = "long_s"
label = "Completion time of the long transfer"
of = "flows.fct_s"
rows = { group = "long" }

[[column]]
id = "ratio"
label = "Over the short ones"
formula = "{long_s} / {groups.short.fct_mean_s}"
""")
    row = fanin.sweep(fanin.Scenario(file), out=None).frame().to_dicts()[0]
    assert [row[name] for name in ("fct_mean_s", "fct_max_s", "long_s", "ratio")] == [math.inf] * 4
    assert row["fct_p50_s"] < row["groups.short.fct_p99_s"] < 0.1


def test_plots_have_no_place_for_infinite_times():
    frame = pl.DataFrame({"n": [1, 1, 2, 2], "seed": [1, 2] * 2, "fct_mean_s": [0.1, 0.3, 0.1, math.inf]})
    means = series.means(Plot(id="p", title="P", x="n", y="fct_mean_s"), {}, frame)
    assert means.data.select("x", "mean").rows() == [(1, pytest.approx(0.2))]
    plot = Plot(id="p", title="P", kind="cdf", x="fct_mean_s")
    shares = series.series_of(plot, SimpleNamespace(labels={}), frame)
    assert shares.data.select("x", "share").rows() == [(0.1, 0.25), (0.1, 0.5), (0.3, 0.75)]


def test_what_had_been_in_progress_no_longer_than_the_mean_had_just_begun():
    flows = pl.DataFrame(
        {
            "group": ["web", "web", "web", "web", "web", "long"],
            "start_s": [0.0, 1.0, 8.5, 7.5, 8.5, 9.9],
            "fct_s": [1.0, 3.0, None, None, None, None],
            "failed": [False, False, False, False, True, False],
        }
    )
    # Two seconds is the mean of what ended; an aborted handshake is none that goes on, and "long" no group that does.
    assert never_ended.just_begun(flows, 10.0, {"web": 0}) == 1
    assert never_ended.just_begun(flows, 11.0, {"web": 0}) == 0
    assert never_ended.just_begun(flows, 10.0, {"long": 0}) == 0
    assert never_ended.share({"incomplete": 3, "just_begun": 3, "completed": 5}) == 0.0
