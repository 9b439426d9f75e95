"""``fanin compare``."""

import json
import re

import numpy as np
import pytest

import fanin
from fanin import comparison, goals
from fanin.comparison import Compared, Estimate, compare, placed
from fanin.errors import RunError
from fanin.stats import mean_interval

TWO = ("--schemes", "newreno,dctcp")


def test_every_scheme_gets_the_same_seeds_and_a_row(cli, work):
    result = cli("compare", "small.toml", *TWO, "--seeds", "1..4", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["seeds"], found["against"], found["by"]) == ([1, 2, 3, 4], "newreno", "goodput_bps")
    assert {each["scheme"]: each["runs"] for each in found["schemes"]} == {"newreno": 4, "dctcp": 4}
    for each in found["schemes"]:
        assert set(each["metrics"]) == set(comparison.METRICS)
        assert each["error"] is None
    runs = {
        scheme: [
            fanin.load("small.toml").run(seed, {"transport.scheme": scheme}, store=None).summary["fct_mean_s"]
            for seed in range(1, 5)
        ]
        for scheme in ("newreno", "dctcp")
    }
    dctcp = next(each for each in found["schemes"] if each["scheme"] == "dctcp")["metrics"]["fct_mean_s"]
    assert dctcp["mean"] == pytest.approx(np.mean(runs["dctcp"]))
    paired = mean_interval(np.array(runs["dctcp"]) - np.array(runs["newreno"]))
    assert (dctcp["difference"], dctcp["difference_half"]) == pytest.approx(paired)


def test_the_table_is_ranked_and_says_what_its_signs_mean(cli, work):
    marks = ("--set", "scheme.dctcp.mark-threshold=4pkt")
    lines = cli("compare", "small.toml", *TWO, *marks, "--no-store", "--by", "queue_mean_packets").out.splitlines()
    assert lines[0] == "# A small incast"
    assert lines[1].split("\t")[:3] == ["scheme", "goodput [Mbit/s]", "mean FCT [ms]"]
    assert [line.split("\t")[0] for line in lines[2:4]] == ["dctcp", "newreno"]
    assert "±" in lines[2]
    # The small scenario's sweep has three seeds.
    assert lines[4] == "± half the 95 % interval over 3 seeds; * differs from newreno, seed by seed"
    assert not (work / "results").exists()


def test_all_schemes_are_compared_if_none_are_named(cli, work):
    found = json.loads(cli("compare", "small.toml", "--seeds", "1", "--json").out)
    keys = {entry["key"] for entry in json.loads(cli("list", "schemes", "--json").out)}
    assert {each["scheme"] for each in found["schemes"]} == keys
    assert all(each["metrics"]["goodput_bps"]["half"] is None for each in found["schemes"] if not each["error"])


def test_finished_runs_are_found_again(cli, work):
    cli("compare", "small.toml", *TWO, "--seeds", "1..3")
    before = sorted(path.stat().st_mtime_ns for path in (work / "results").rglob("manifest.json"))
    assert len(before) == 6
    assert cli("compare", "small.toml", *TWO, "--seeds", "1..3").code == 0
    assert sorted(path.stat().st_mtime_ns for path in (work / "results").rglob("manifest.json")) == before


def test_wrong_schemes_and_references(cli, work):
    result = cli("compare", "small.toml", "--schemes", "newreno,dctpc")
    assert result.code == 3
    assert 'did you mean "dctcp"?' in result.err
    assert cli("compare", "small.toml", "--schemes", ",").code == 2
    assert cli("compare", "small.toml", *TWO, "--against", "sab").code == 2
    assert cli("compare", "small.toml", "--by", "nonsense").code == 2
    assert cli("compare", "none.toml").code == 3


def test_a_scheme_that_fails_does_not_stop_the_others(cli, work, monkeypatch):
    real = comparison.run_jobs

    def failing(wanted, *rest, **named):
        if ("transport.scheme", "newreno") in wanted[0].settings:
            raise RunError("transfer 3 is stuck")
        return real(wanted, *rest, **named)

    monkeypatch.setattr(comparison, "run_jobs", failing)
    result = cli("compare", "small.toml", *TWO, "--no-store")
    assert result.code == 1
    assert "error: newreno: transfer 3 is stuck" in result.err
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert (rows[2][0], rows[3]) == ("dctcp", ["newreno", *["-"] * len(comparison.METRICS)])


def test_ctrl_c_exits_with_130(cli, work, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "run_jobs", interrupted)
    result = cli("compare", "small.toml", *TWO)
    assert (result.code, "finished runs are kept" in result.err) == (130, True)


def row(scheme: str, *values: dict) -> Compared:
    return Compared(scheme, [], None, {}, [{"completed": 10, "incomplete": 0, **value} for value in values])


def ranking(rows: list[Compared], goal: str) -> list[tuple[str, int, str]]:
    found = placed(rows, goals.goal(goal, fanin.load("small.toml")), rows[0].scheme)
    return [(each.scheme, each.rank, each.verdict) for each in found]


def test_ranks_by_what_is_better(work):
    rows = [
        row("a", *({"goodput_bps": 1.0 + each, "fct_p99_s": 1.0 + each} for each in (0.0, 0.1, 0.2))),
        row("b", *({"goodput_bps": 2.0 + each, "fct_p99_s": 2.0 + each} for each in (0.0, 0.1, 0.2))),
        row("c"),
    ]
    assert ranking(rows, "goodput") == [("b", 1, "best"), ("a", 2, "worse")]
    assert ranking(rows, "p99-fct") == [("a", 1, "best"), ("b", 2, "worse")]


def test_schemes_that_chance_tells_apart_share_a_rank(work):
    noisy = [row(name, *({"drops": each} for each in drops)) for name, drops in (("a", (5, 1, 9)), ("b", (4, 9, 3)))]
    assert ranking(noisy, "drops") == [("a", 1, "best"), ("b", 1, "no significant difference")]
    # The same spread over the seeds, but every seed says the same: pairs tell what means do not.
    steady = [noisy[0], row("b", {"drops": 6}, {"drops": 2}, {"drops": 10})]
    assert ranking(steady, "drops") == [("a", 1, "best"), ("b", 2, "worse")]
    few = [row("a", {"drops": 1}), row("b", {"drops": 9})]
    assert ranking(few, "drops")[1][2] == "too few seeds to tell"


def test_a_scheme_that_does_not_finish_comes_last_by_time_though_what_finished_was_quick(work):
    quick = {"fct_p99_s": 0.1, "completed": 90, "incomplete": 10}
    rows = [row("quick", quick, quick, quick), row("slow", *[{"fct_p99_s": 1.0}] * 3)]
    assert ranking(rows, "p99-fct") == [("slow", 1, "best"), ("quick", 2, "unfinished")]


def test_a_scheme_against_itself_differs_by_nothing(cli, work):
    # D2TCP without deadlines is DCTCP.
    found = json.loads(cli("compare", "small.toml", "--schemes", "dctcp,d2tcp", "--goal", "query-p99", "--json").out)
    assert (found["goal"], found["by"]) == ("query-p99", "query_p99_s")
    first, second = found["ranking"]
    assert (first["rank"], second["rank"], second["difference"]) == (1, 1, 0.0)
    assert second["verdict"] == "no significant difference"
    text = cli("compare", "small.toml", "--schemes", "dctcp,d2tcp", "--goal", "query-p99").out
    assert "# Ranking by query-p99, less is better" in text
    assert "no significant difference" in text


def test_a_weighted_goal_is_a_geometric_mean_relative_to_the_reference(cli, work):
    arguments = ("compare", "small.toml", *TWO, "--goal", "query-p99:3,background", "--json")
    found = {each["scheme"]: each for each in json.loads(cli(*arguments).out)["ranking"]}
    assert found["newreno"]["mean"] == pytest.approx(1.0, rel=0.02)
    times = {
        name: found["dctcp"]["measures"][name]["mean"] / found["newreno"]["measures"][name]["mean"]
        for name in ("query-p99", "background")
    }
    expected = ((1 / times["query-p99"]) ** 3 * times["background"]) ** 0.25
    assert found["dctcp"]["mean"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("query-p9", 'did you mean "query-p99"?'),
        ("groups.bursts.goodput", 'did you mean "groups.bursts.goodput_bps"?'),
        ("query-p99:0", "a weight is a number above zero"),
        ("query-p99,timeouts", "timeouts may be zero"),
        ("run_id", "there is no measure 'run_id'"),
    ],
)
def test_wrong_goals(work, goal, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        goals.goal(goal, fanin.load("small.toml"))


@pytest.mark.parametrize(
    ("text", "bound", "relative"),
    [
        ("goodput=90%", 0.9, True),
        ("goodput=9Gbps", 9e9, False),
        ("timeout-ratio=1%", 0.01, False),
        ("query-p99=500us", 5e-4, False),
        ("timeouts=0", 0.0, False),
        ("queue=20pkt", 20.0, False),
    ],
)
def test_bounds(work, text, bound, relative):
    found = goals.keep(text, fanin.load("small.toml"))
    assert (found.bound, found.relative) == (pytest.approx(bound), relative)


@pytest.mark.parametrize("text", ["goodput", "goodput=fast", "goodput=20us", "timeouts=20pkt", "query-p99=5"])
def test_wrong_bounds(work, text):
    with pytest.raises(ValueError, match=r"takes|is not"):
        goals.keep(text, fanin.load("small.toml"))


def test_a_difference_counts_if_its_interval_leaves_out_zero():
    assert Estimate(2.0, 1.0, 0.5, 0.4).differs
    assert not Estimate(2.0, 1.0, 0.5, 0.6).differs
    assert not Estimate(2.0, float("nan"), 0.5, float("nan")).differs
    assert Estimate(2e6, 1e5, 5.0, 4.0).shown("goodput_bps") == "2 ± 0.1*"


def test_the_library_compares_without_the_command_line(work):
    both = compare(fanin.load("small.toml"), ["newreno", "dctcp"], [1, 2, 3], out=None)
    assert [each.scheme for each in both] == ["newreno", "dctcp"]
    assert both[0].estimates["drops"].difference == 0.0
