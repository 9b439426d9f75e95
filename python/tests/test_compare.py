"""``fanin compare``."""

import json
import re
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from patches import before_runs, stored

import fanin
from fanin.choose import comparison, goals
from fanin.choose.cautions import other_switches, same_with_all_seeds
from fanin.choose.comparison import FEWEST_AGREEING, Compared, Estimate, compare, paired, placed, referred_to
from fanin.choose.goals import few_samples, usual_goal
from fanin.cli.compare import _print_ranking
from fanin.cli.compare import compare as command
from fanin.numbers import summary
from fanin.numbers.stats import Spread, fewest_for, mean_interval
from fanin.registry import registry, scheme_title, scheme_titles
from fanin.results.dataset import Timeouts
from fanin.results.store import Store
from fanin.run import laboratory

TWO = ("--schemes", "newreno,dctcp")


LONG = 'kind = "background"\nflows = 4\n'
SHUFFLE = 'kind = "flows"\nfile = "flows.csv"\nsenders = 4\n'
QUERIES = 'kind = "incast"\nsenders = 4\nbytes-each = "20KB"\n'
LOAD = 'kind = "poisson"\nfrom = "all"\nto = "all"\nbytes-each = "20KB"\nload = "30%"\ncount = 20\n'


@pytest.mark.parametrize(
    ("groups", "starts", "goal"),
    [
        ([QUERIES, LONG], "0,0", "query-p99"),
        ([LONG], "0,0", "goodput"),
        ([LOAD, LONG], "0,0", "p99-fct"),
        # A round trip with a full buffer of 100 packets takes 140 us.
        ([SHUFFLE, LONG], "0,139", "fct_max_s"),
        ([SHUFFLE], "0,141", "p99-fct"),
        ([SHUFFLE, LOAD], "0,0", "p99-fct"),
        ([LONG + 'bytes-each = "1MB"\n'], "0,0", "fct_max_s"),
        ([LONG + 'bytes-each = "1MB"\ninterval = "47us"\n'], "0,0", "p99-fct"),
        ([SHUFFLE, LONG + 'bytes-each = "1MB"\nstart = "1ms"\n'], "0,0", "p99-fct"),
    ],
)
def test_the_usual_goal_is_what_users_wait_for(tmp_path, groups, starts, goal):
    lines = [f"{start},{src},0,20000" for src, start in enumerate(starts.split(","))]
    (tmp_path / "flows.csv").write_text("\n".join(["# ours", "start_us, src, dst, bytes", "", *lines, ""]))
    head = '[network]\ntopology = "star"\nrate = "10Gbps"\ndelay = "5us"\nbuffer = "100pkt"\nsender-hosts = 8\n'
    text = "".join(f'[[traffic]]\nname = "group-{place}"\n{keys}' for place, keys in enumerate(groups))
    (tmp_path / "s.toml").write_text(head + text)
    assert usual_goal(fanin.Scenario(tmp_path / "s.toml").of_fan_in()) == goal


def test_every_scheme_gets_the_same_seeds_and_a_row(cli, work):
    result = cli("compare", "small.toml", *TWO, "--seeds", "1..4", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["seeds"], found["against"], found["by"]) == ([1, 2, 3, 4], "newreno", "query_p99_s")
    assert "the goal is query-p99, as there are queries; --goal takes another" in result.err
    assert {each["scheme"]: each["runs"] for each in found["schemes"]} == {"newreno": 4, "dctcp": 4}
    for each in found["schemes"]:
        assert set(each["metrics"]) == set(comparison.METRICS)
        assert each["error"] is None
    runs = {
        scheme: [
            fanin.Scenario("small.toml").set({"transport.scheme": scheme}).run(seed).summary["fct_mean_s"]
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
    asked = ("--no-store", "--by", "queue_mean_packets", "--tsv")
    lines = cli("compare", "small.toml", *TWO, *marks, *asked).out.splitlines()
    assert lines[0] == "# A small incast: by queue_mean_packets, less is better"
    assert lines[1].split("\t") == [
        "rank",
        "scheme",
        "queue_mean_packets [packets]",
        "behind the best",
        "goodput [Mbit/s]",
        "timeouts",
        "drops",
    ]
    assert [line.split("\t")[:2] for line in lines[2:4]] == [["1", "DCTCP"], ["2", "NewReno"]]
    assert "±" in lines[2]
    # The small scenario's sweep has three seeds.
    assert lines[4] == "± half the 95 % interval over 3 seeds; * differs from NewReno, seed by seed, by at least 1 %"
    assert not (work / "results").exists()


def test_all_schemes_are_compared_if_none_are_named(cli, work):
    found = json.loads(cli("compare", "small.toml", "--seeds", "1", "--json").out)
    keys = {entry["key"] for entry in json.loads(cli("list", "schemes", "--json").out)}
    assert {each["scheme"] for each in found["schemes"]} == keys
    assert all(each["metrics"]["goodput_bps"]["half"] is None for each in found["schemes"] if not each["error"])


def test_systems_that_differ_in_more_than_their_scheme_are_named_with_the_keys(cli, work):
    def warnings(*arguments):
        result = cli("compare", "small.toml", "--seeds", "1", "--no-store", "--json", *arguments)
        return [each for each in json.loads(result.out)["warnings"] if "more than their scheme" in each]

    (warning,) = warnings("--schemes", "newreno,dctcp,linux")
    assert "; --set transport.stack=linux-6.12 gives all the same stack" in warning
    found = json.loads(cli("compare", "small.toml", "--seeds", "1", "--json", "--schemes", "newreno,linux").out)
    apart = found["beside_scheme"]
    assert {"sack", "ack-every", "loss-detection", "tso"} <= {path.removeprefix("transport.") for path in apart}
    assert apart["transport.stack"] == {"NewReno": "rfc", "Linux CUBIC": "linux-6.12"}
    # Three lines of 80 characters, with as many schemes as there are.
    (warning,) = warnings("--schemes", "all")
    assert len(f"warning: {warning}") <= 3 * 80
    assert warnings("--schemes", "newreno,dctcp,linux", "--set", "transport.stack=linux-6") == []
    assert warnings(*TWO) == []
    (warning,) = warnings("--schemes", "dctcp,linux-dctcp", "--set", "transport.stack=linux-6")
    assert ": ecn-syn, ecn-retransmit and ecn-ack; " in warning


def test_finished_runs_are_found_again(cli, work):
    cli("compare", "small.toml", *TWO, "--seeds", "1..3")
    before = stored()
    assert len(before) == 6
    assert cli("compare", "small.toml", *TWO, "--seeds", "1..3").code == 0
    assert stored() == before


def test_wrong_schemes_and_references(cli, work):
    result = cli("compare", "small.toml", "--schemes", "newreno,dctpc")
    assert result.code == 3
    assert 'did you mean "dctcp"?' in result.err
    for name, meant in (
        ("tcp", "newreno"),
        ("TCP", "newreno"),
        ("DTCWA", "dt-cwa"),
        ("cubic", "linux"),
        ("SAB", "sab"),
    ):
        result = cli("compare", "small.toml", "--schemes", f"dctcp,{name}")
        assert result.code == 3
        assert f"--schemes: there is no scheme {name!r}; " in result.err
        assert f'(did you mean "{meant}"?)' in result.err
    assert "--schemes: uec: not modelled." in cli("compare", "small.toml", "--schemes", "dctcp,uec").err
    assert cli("compare", "small.toml", "--schemes", ",").code == 2
    assert cli("compare", "small.toml", *TWO, "--against", "sab").code == 2
    assert cli("compare", "small.toml", "--by", "nonsense").code == 2
    assert cli("compare", "none.toml").code == 3


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 2 of newreno fails."""

    def failing(settings):
        if {("transport.scheme", "newreno"), ("run.seed", "2")} <= set(settings):
            raise fanin.RunError("transfer 3 is stuck")

    before_runs(monkeypatch, failing)


def test_a_run_that_fails_is_recorded_and_does_not_stop_the_others(cli, work, stuck, monkeypatch):
    arguments = ("compare", "small.toml", *TWO, "--seeds", "1..4", "--json")
    result = cli(*arguments)
    assert result.code == 1
    assert "error: newreno: 1 of 4 runs failed; seed 2: transfer 3 is stuck" in result.err
    found = {each["scheme"]: each for each in json.loads(result.out)["schemes"]}
    assert {name: each["runs"] for name, each in found.items()} == {"newreno": 3, "dctcp": 4}
    (failure,) = Store("results").rows("SELECT * FROM failures")
    assert "stuck" in failure["error"]
    # Pairs are of the seeds that both have.
    monkeypatch.undo()
    monkeypatch.chdir(work)
    runs = {
        scheme: [fanin.Scenario("small.toml").set({"transport.scheme": scheme}).run(seed) for seed in (1, 3, 4)]
        for scheme in ("newreno", "dctcp")
    }
    own, others = ([run.summary["goodput_bps"] for run in runs[scheme]] for scheme in ("dctcp", "newreno"))
    away = found["dctcp"]["metrics"]["goodput_bps"]
    assert (away["difference"], away["difference_half"]) == pytest.approx(mean_interval(np.subtract(own, others)))


def test_failed_runs_are_tried_again_if_that_is_asked_for(cli, work, stuck, monkeypatch):
    arguments = ("compare", "small.toml", *TWO, "--seeds", "1..3")
    assert cli(*arguments).code == 1
    monkeypatch.undo()
    monkeypatch.chdir(work)
    assert cli(*arguments).code == 1
    assert cli(*arguments, "--failed").code == 0


def test_a_scheme_of_which_all_runs_fail_has_an_empty_row(cli, work, stuck):
    result = cli("compare", "small.toml", *TWO, "--seeds", "2", "--no-store", "--tsv")
    assert (result.code, "seed 2: transfer 3 is stuck" in result.err) == (1, True)
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert (rows[2][1], rows[3]) == ("DCTCP", ["-", "NewReno", "-", "-", "-", "-", "-"])


def test_all_schemes_are_one_batch(cli, work, monkeypatch):
    batches = []
    real = laboratory.outcomes
    monkeypatch.setattr(
        laboratory,
        "outcomes",
        lambda jobs, *rest, **named: batches.append(len(jobs)) or real(jobs, *rest, **named),
    )
    result = cli("compare", "small.toml", *TWO, "--seeds", "1..3")
    assert batches == [6]
    assert "runs: 6 of 6" in result.err


def test_ctrl_c_exits_with_130(cli, work, interrupt):
    interrupt(1)
    result = cli("compare", "small.toml", *TWO)
    assert (result.code, "finished runs are kept in results; the same command continues from there" in result.err) == (
        130,
        True,
    )


def test_ctrl_c_without_a_store_promises_nothing(cli, work, interrupt):
    interrupt(1)
    result = cli("compare", "small.toml", *TWO, "--no-store")
    assert (result.code, "interrupted: nothing was kept" in result.err) == (130, True)


def row(scheme: str, *values: dict) -> Compared:
    runs = enumerate(values, start=1)
    return Compared(scheme, [{"seed": seed, "completed": 10, "incomplete": 0, **value} for seed, value in runs])


def ranking(rows: list[Compared], goal: str) -> list[tuple[str, int, str]]:
    found = placed(rows, goals.goal(goal, fanin.Scenario("small.toml")), rows[0].scheme)
    return [(each.scheme, each.rank, each.comparison) for each in found]


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
    assert ranking(noisy, "drops") == [("a", 1, "best"), ("b", 1, "tie, no significant difference")]
    # The same spread over the seeds, but every seed says the same: pairs tell what means do not.
    steady = [noisy[0], row("b", {"drops": 6}, {"drops": 2}, {"drops": 10})]
    assert ranking(steady, "drops") == [("a", 1, "best"), ("b", 2, "worse")]
    few = [row("a", {"drops": 1}), row("b", {"drops": 9})]
    assert ranking(few, "drops")[1][2] == "too few seeds"


def test_a_difference_that_matters_to_nobody_is_a_tie_however_sure_it_is(work):
    rows = [
        row("a", *[{"query_p99_s": 0.01}] * 3),
        row("b", *[{"query_p99_s": 0.010000032}] * 3),
        row("c", *[{"query_p99_s": 0.0102}] * 3),
        row("d", *[{"query_p99_s": 0.010201}] * 3),
    ]
    expected = [("a", 1, "best"), ("b", 1, "tie, less than 1 %"), ("c", 3, "worse"), ("d", 3, "worse")]
    assert ranking(rows, "query-p99") == expected


def test_a_scheme_that_does_not_finish_comes_last_by_time_though_what_finished_was_quick(work):
    quick = {"fct_p99_s": 0.1, "completed": 90, "incomplete": 10}
    rows = [row("quick", quick, quick, quick), row("slow", *[{"fct_p99_s": 1.0}] * 3)]
    assert ranking(rows, "p99-fct") == [("slow", 1, "best"), ("quick", 2, "unfinished")]


UNFINISHED = {"query_p99_s": 0.001, "goodput_bps": 1e9, "completed": 90, "incomplete": 10}


@pytest.mark.parametrize("unfinished", [1, 3])
def test_a_reference_that_does_not_finish_takes_nobody_out_of_a_weighted_ranking(work, unfinished):
    wanted = goals.goal("query-p99:2,goodput:1", fanin.Scenario("small.toml"))
    whole = {"query_p99_s": 0.001, "goodput_bps": 1e9}
    rows = [
        row("newreno", *[UNFINISHED] * unfinished, *[whole] * (3 - unfinished)),
        row("rcc", *({"query_p99_s": 0.1 + each, "goodput_bps": 1e9} for each in (0.0, 0.001, 0.002))),
        row("dctcp", *({"query_p99_s": 0.01 + each, "goodput_bps": 1e9} for each in (0.0, 0.0001, 0.0002))),
    ]
    expected = [("dctcp", 1, "best"), ("rcc", 2, "worse"), ("newreno", 3, "unfinished")]
    assert ranking(rows, wanted.name) == expected
    assert referred_to(rows, wanted, "newreno") == "rcc"
    # Whatever scores are relative to, the order is the same.
    found = placed(rows, wanted, "dctcp")
    assert [(each.scheme, each.rank, each.comparison) for each in found] == expected
    assert [each.value.mean for each in found] == pytest.approx([1.0, 10 ** (-2 / 3), -np.inf], rel=0.02)
    assert [each.as_dict()["mean"] for each in found][2] is None
    # Nobody has finished, and nobody vanishes.
    none = [row(name, *[UNFINISHED] * 3) for name in ("newreno", "dctcp")]
    assert referred_to(none, wanted, "newreno") is None
    assert [each[1:] for each in ranking(none, wanted.name)] == [(1, "unfinished")] * 2


def test_a_scheme_without_a_value_is_named_after_all_others(work):
    rows = [row("a", *[{"query_p99_s": None}] * 3), row("b", *[{"query_p99_s": 0.1}] * 3), row("c", *[UNFINISHED] * 3)]
    found = [("b", 1, "best"), ("c", 2, "unfinished"), ("a", None, "no value")]
    assert ranking(rows, "query-p99") == found


def test_scores_say_what_they_are_relative_to(cli, work):
    # In so short a run no burst is over.
    short = ("--set", "run.duration=6ms", "--goal", "query-p99:2,goodput", "--seeds", "1..3")
    result = cli("compare", "small.toml", *TWO, *short, "--json")
    assert "newreno has no mean of every measure" in result.err
    found = json.loads(result.out)
    assert (found["scored_against"], [each["comparison"] for each in found["ranking"]]) == (None, ["unfinished"] * 2)
    assert json.loads(cli("compare", "small.toml", *TWO, "--json", *short[2:]).out)["scored_against"] == "newreno"


def test_a_rank_that_the_seeds_leave_open_is_undecided(work):
    rows = [
        row("steady", *({"query_p99_s": 0.34 + each} for each in (0.0, 0.001, 0.002))),
        row("worse", *({"query_p99_s": 0.40 + each} for each in (0.0, 0.002, 0.001))),
        row("wild", *({"query_p99_s": each} for each in (0.3, 0.5, 48.0))),
    ]
    expected = [("steady", 1, "best"), ("worse", 2, "worse"), ("wild", None, "no significant difference")]
    assert ranking(rows, "query-p99") == expected
    # Among others that no seed tells from the best it is one of them.
    assert [each[1] for each in ranking([rows[0], rows[2]], "query-p99")] == [1, 1]


def test_ranks_are_counted_as_in_a_competition_though_differences_that_count_are_not_transitive(work, capsys, tabs):
    rows = [
        row(name, *({"query_p99_s": each} for each in values))
        for name, values in {"a": (10, 10, 10), "b": (9, 12, 10.2), "c": (11, 11, 11), "d": (12, 12, 12)}.items()
    ]
    # The third is worse than the first only, and the fourth than the first and the third.
    assert ranking(rows, "query-p99") == [
        ("a", 1, "best"),
        ("b", 1, "tie, no significant difference"),
        ("c", 3, "worse"),
        ("d", 4, "worse"),
    ]
    wanted = goals.goal("query-p99", fanin.Scenario("small.toml"))

    def printed(*some):
        _print_ranking("It", wanted, placed(some, wanted, some[0].scheme), some, [], 0.01)
        lines = capsys.readouterr().out.splitlines()[2:]
        return [line.split("\t")[0] for line in lines[: len(some)]], lines[len(some) :]

    ranks, signs = printed(*rows)
    assert ranks == ["1=", "1=", "3", "4"]
    assert signs == ["=: shared, as no difference counts; the next rank is as many places further"]
    # Without ties and open places there is nothing to explain.
    assert printed(rows[0], rows[2], rows[3]) == (["1", "2", "3"], [])
    few = [row(name, {"query_p99_s": 1.0}) for name in "ab"]
    assert printed(*few)[1][0] == "-: the seeds leave the place open"


def test_who_is_worse_than_the_best_without_a_rank_is_not_just_called_worse():
    worse = Estimate(2.0, 0.1, 1.0, 0.1)
    told = [
        comparison.Placed(
            "a", rank, Spread(2.0, 0.1, 1.9, 2.1), is_best=False, behind=worse, measures={}, seeds=5
        ).comparison
        for rank in (2, None)
    ]
    assert told == ["worse", "worse, its place among the others open"]


def test_no_interval_is_given_that_impossible(work, capsys, tabs):
    rows = [
        row("steady", *({"query_p99_s": 0.34 + each, "goodput_bps": 9e9} for each in (0.0, 0.001, 0.002))),
        row("worse", *({"query_p99_s": 0.40 + each, "goodput_bps": 9e9} for each in (0.0, 0.002, 0.001))),
        row("wild", *({"query_p99_s": each, "goodput_bps": 9e9} for each in (0.3, 0.5, 48.0))),
    ]
    for of in rows:
        of.rows[:] = [one | {"capacity_bps": 1e10} for one in of.rows]
    rows[2].rows[0]["goodput_bps"] = 1e8
    compared = [Compared(of.scheme, of.rows, [], comparison._estimates(of.rows, rows[0].rows)) for of in rows]
    wanted = goals.goal("query-p99", fanin.Scenario("small.toml"))
    _print_ranking("It", wanted, placed(compared, wanted, "steady"), compared, ["goodput_bps"], 0.01)
    lines = capsys.readouterr().out.splitlines()
    # Of three seeds one collapses: the interval would reach above the capacity, and below zero.
    assert lines[1].split("\t") == ["rank", "scheme", "query-p99 [ms]", "behind the best", "goodput [Gbit/s]"]
    cells = [line.split("\t") for line in lines[2:5]]
    assert [(each[0], each[1], each[4]) for each in cells] == [
        ("1", "steady", "9"),
        ("2", "worse", "9"),
        ("-", "wild", "6.033 (0.1..9)"),
    ]
    assert lines[5:7] == [
        "-: the seeds leave the place open",
        "open places: about 57 seeds would decide (--seeds 1..57)",
    ]
    told = compared[2].as_dict()["metrics"]["goodput_bps"]
    assert (told["half"], told["low"], told["high"]) == (None, 1e8, 9e9)
    assert [placed(compared, wanted, "steady")[-1].as_dict()[end] for end in ("half", "low", "high")] == [
        None,
        0.3,
        48.0,
    ]


def test_timeouts_are_told_per_thousand_queries_if_there_are_any(cli, work):
    short = ("--set", "run.duration=300ms", "--set", "network.buffer=8pkt", "--seeds", "1..3")
    short = (*short, "--columns", "all")
    done = cli("compare", "small.toml", *TWO, *short)
    assert "# Retransmission timeouts of queries, all seeds together" in done.out
    found = json.loads(cli("compare", "small.toml", *TWO, *short, "--json").out)["schemes"]
    for each in found:
        told = each["timeouts"]
        assert told["rate"] == 1000 * told["with_timeout"] / told["count"]
        assert told["low"] <= told["rate"] <= told["high"]
    assert any(each["timeouts"]["with_timeout"] for each in found)
    enough = cli("compare", "small.toml", *TWO, *short, "--set", "network.buffer=10MB")
    assert "Retransmission timeouts" not in enough.out


def test_waits_for_tail_loss_probes_are_told_beside_timeouts(cli, work):
    Path("rack.toml").write_text(LOST_TAILS)
    asked = ("--seeds", "1..3", "--no-store", "--columns", "all", "--tsv", *BARE)
    done = cli("compare", "rack.toml", "--schemes", "linux,linux-reno", *asked)
    rows = {line.split("\t")[0]: line.split("\t") for line in done.out.split("# Retransmission")[1].splitlines()}
    assert rows["scheme"][-1] == "tail loss probes"
    assert rows["Linux CUBIC"][2] == "0"
    assert int(rows["Linux CUBIC"][-1]) > 0
    assert "probes are no timeouts" in done.out


BARE = ("--set", "network.frame-overhead=0B")
LOST_TAILS = """\
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "150KB"
[transport]
scheme = "linux"
rto-min = "10ms"
initial-window = "2mss"
[[traffic]]
name = "servers"
kind = "incast"
senders = 44
bytes-each = "20KB"
"""
"""Forty-eight answers, of which some lose their last segments, which only probes repair."""


def test_tables_name_schemes_as_the_text_does(cli, work):
    done = cli("compare", "small.toml", *TWO, "--seeds", "1..3", "--no-store", "--tsv")
    assert {line.split("\t")[1] for line in done.out.splitlines() if "\t" in line} >= {"NewReno", "DCTCP"}
    assert "* differs from NewReno, seed by seed" in done.out
    # Only the kernel has BBR.
    assert set(scheme_titles()) == {row["key"] for row in registry()["schemes"]} | {"linux-bbr"}
    assert len(set(scheme_titles().values())) == len(scheme_titles())
    assert [scheme_title(key) for key in ("pfdct-st", "unknown")] == ["PFDCT-ST", "unknown"]


def test_differences_that_fall_into_two_groups_have_no_interval(work, capsys):
    # One of five seeds is as good as the best; the mean differs all the same.
    slow = (201.0, 201.0, 201.0, 4.6, 201.0)
    rows = [row("fast", *[{"query_p99_s": 4.6}] * 5), row("slow", *({"query_p99_s": each} for each in slow))]
    compared = [Compared(of.scheme, of.rows, [], comparison._estimates(of.rows, rows[0].rows)) for of in rows]
    wanted = goals.goal("query-p99", fanin.Scenario("small.toml"))
    _print_ranking("It", wanted, placed(compared, wanted, "fast"), compared, [], 0.01)
    told = capsys.readouterr().out
    assert "±" not in told.splitlines()[3]
    assert "(0..196,400)" in told
    assert "percentile of the seeds' differences" in told


@pytest.mark.parametrize(
    ("more", "fewer", "needed"),
    [
        ((1, 50), (0, 50), True),
        ((6, 50), (2, 50), True),
        ((30, 50), (0, 50), False),
        ((1, 50), (1, 50), False),
        ((0, 50), (1, 50), False),
    ],
)
def test_how_many_seeds_would_tell_one_rate_of_timeouts_from_another(more, fewer, needed):
    one, other = (Timeouts(*each, queries=True) for each in (more, fewer))
    found = one.seeds_to_decide(other, 5)
    assert (found is not None) == needed
    if found is not None:
        enough = found / 5
        repeated = [Timeouts(round(events * enough), round(of * enough), queries=True) for events, of in (more, fewer)]
        assert repeated[0].seeds_to_decide(repeated[1], found) is None


def test_a_scheme_against_itself_differs_by_nothing(cli, work):
    # D2TCP without deadlines is DCTCP.
    found = json.loads(cli("compare", "small.toml", "--schemes", "dctcp,d2tcp", "--goal", "query-p99", "--json").out)
    assert (found["goal"], found["by"]) == ("query-p99", "query_p99_s")
    first, second = found["ranking"]
    assert (first["rank"], second["rank"], second["difference"]) == (1, 1, 0.0)
    assert second["comparison"] == "tie, no significant difference"
    text = cli("compare", "small.toml", "--schemes", "dctcp,d2tcp", "--goal", "query-p99", "--tsv").out
    assert "# A small incast: by query-p99, less is better" in text
    assert [line.split("\t")[0] for line in text.splitlines() if "\tD" in line and "=" in line[:2]] == ["1=", "1="]


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


def test_a_column_of_an_experiment_is_better_as_what_it_is_made_of(work):
    columns = {
        "a_bps": ('of = "flows.goodput_bps"', True),
        "b_s": ('of = "flows.fct_s"\ntake = "p99"', False),
        "c": ('of = "flows.fct_s"\ntake = "jain"', True),
        "d": ('of = "flows.goodput_bps"\ntake = "std"', False),
        "e_bps": ('formula = "{goodput_bps} / 2"', True),
        "f_ratio": ('formula = "{drops} / {segments_received}"\nbetter = "low"', False),
        "g_ratio": ('formula = "{goodput_bps} / 1e9"\nbetter = "high"', True),
    }
    unclear = {"h_ratio": ('formula = "{goodput_bps} / 1e9"', None)}
    every = (columns | unclear).items()
    declared = [f'[[column]]\nid = "{name}"\nlabel = "L"\n{origin}\n' for name, (origin, _) in every]
    Path("own.toml").write_text("\n".join([Path("small.toml").read_text(), *declared]))
    experiment = fanin.Scenario("own.toml")
    assert {name: goals.measure(name, experiment).more for name in columns} == {
        name: more for name, (_, more) in columns.items()
    }
    with pytest.raises(ValueError, match="neither more nor less of it is better"):
        goals.measure("h_ratio", experiment)
    assert [goals.measure(name, experiment).more for name in ("jain", "completed", "drops", "background")] == [
        True,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("query-p9", 'did you mean "query-p99"?'),
        ("groups.bursts.goodput", 'did you mean "groups.bursts.goodput_bps"?'),
        ("query-p99:0", "a weight is a number above zero"),
        ("query-p99,timeouts", "timeouts can be zero"),
        ("query-p99,queue", "queue can be zero"),
        ("run_id", "there is no measure 'run_id'"),
    ],
)
def test_wrong_goals(work, goal, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        goals.goal(goal, fanin.Scenario("small.toml"))


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
    found = goals.keep(text, fanin.Scenario("small.toml"))
    assert (found.bound, found.relative) == (pytest.approx(bound), relative)


@pytest.mark.parametrize("text", ["goodput", "goodput=fast", "goodput=20us", "timeouts=20pkt", "query-p99=5"])
def test_wrong_bounds(work, text):
    with pytest.raises(ValueError, match=r"takes|is not"):
        goals.keep(text, fanin.Scenario("small.toml"))


def test_a_difference_counts_if_its_interval_leaves_out_zero():
    assert Estimate(2.0, 1.0, 0.5, 0.4).differs()
    assert not Estimate(2.0, 1.0, 0.5, 0.6).differs()
    assert not Estimate(2.0, float("nan"), 0.5, float("nan")).differs()


def test_the_library_compares_without_the_command_line(work):
    both = compare(fanin.Scenario("small.toml"), ["newreno", "dctcp"], [1, 2, 3], out=None)
    assert [each.scheme for each in both] == ["newreno", "dctcp"]
    assert both[0].estimates["drops"].difference == 0.0


def test_goals_are_named_alike_in_the_registry_the_help_and_the_reference():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "choosing.md").read_text()
    table = page.partition("| measure |")[2].partition("\n\n")[0].splitlines()[2:]
    documented = {name: row for row in table for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert set(documented) == set(summary.goals())
    for name, total in summary.goals().items():
        if name != summary.BACKGROUND:
            assert f"`{total}`" in documented[name]
            assert documented[name].split("|")[3].strip() == summary.column(total).better
    help_ = " ".join((command.__doc__ or "").split()).partition("Goals: ")[2].partition(", or any column")[0]
    assert set(help_.split(", ")) == set(summary.goals())


@pytest.mark.parametrize("text", ["marks", "events", "window_start_s"])
def test_a_measure_without_a_direction_is_no_goal_and_no_bound(work, text):
    experiment = fanin.Scenario("small.toml")
    for refused in (lambda: goals.goal(text, experiment), lambda: goals.keep(f"{text}=1", experiment)):
        with pytest.raises(ValueError, match="neither more nor less of it is better"):
            refused()


def test_totals_with_a_declared_unit_end_as_columns_without_one_must():
    """The end of a name gives the unit of an experiment's own column; declared names follow the same rule."""
    for name, declared in summary.measured().items():
        unit = summary.column(f"own_{name}").unit
        assert unit in ("", declared.unit), name


def test_one_rule_says_what_counts():
    sure, slight, unsure = Estimate(100, 1, 5, 1), Estimate(100, 1, 0.5, 0.1), Estimate(100, 9, 5, 9)
    assert [each.matters() for each in (sure, slight, unsure)] == [True, False, False]
    assert [each.matters(0.1) for each in (sure, slight, unsure)] == [False, False, False]
    assert [each.matters(0.0) for each in (sure, slight, unsure)] == [True, True, False]
    # At least the margin, not more than it.
    assert Estimate(100, 1, 1, 0.1).matters(0.01)
    assert not Estimate(0, 0, 0, 0).matters(0.0)


def test_six_differences_of_one_sign_count_where_their_interval_contains_zero():
    before = np.array([9.0, 9.0, 9.0, 206.0, 9.0, 9.0])
    after = np.array([4.0, 5.0, 4.0, 4.0, 4.0, 5.0])
    found = paired(after, before)
    assert found.difference_half > abs(found.difference)
    assert (found.agreeing(), found.matters(), found.seeds_to_decide(6)) == (6, True, None)
    assert paired(before, after).matters()
    # Five may be chance, and the sixth would tell; one of the other sign, or none, leaves it to the interval.
    five = paired(after[1:], before[1:])
    assert (five.agreeing(), five.matters(), five.seeds_to_decide(5)) == (5, False, 6)
    for other in (8.0, 10.0):
        mixed = paired(np.array([other + 1, *after[1:]]), before)
        assert (mixed.agreeing(), mixed.matters()) == (0, False)
        assert mixed.seeds_to_decide(6) > 6


def test_three_pairs_that_all_differ_by_far_count_where_their_interval_contains_zero():
    before, after = np.array([5.3, 202.0, 202.0]), np.array([0.69, 0.69, 0.7])
    found = paired(after, before)
    assert found.difference_half > abs(found.difference)
    assert found.factor == pytest.approx(5.3 / 0.69)
    assert (found.is_sure(), found.matters(), found.seeds_to_decide(3)) == (False, True, None)
    assert (paired(before, after).factor, paired(before, after).matters()) == (found.factor, True)
    # Two may be chance, as may a factor below 3, and one pair of the other direction.
    assert not paired(after[:2], before[:2]).matters()
    for other in (2.0, 0.5):
        assert not paired(after, np.array([other * 0.69, 202.0, 202.0])).matters()
    # Of nothing, and of what may be negative, anything is any times as much.
    assert isnan(paired(np.array([0.0, 1.0, 1.0]), before).factor)
    assert isnan(paired(-after, before).factor)


def test_differences_that_are_of_no_use_do_not_agree():
    before = np.array([2.09, 2.08, 2.09, 3.6, 2.08, 3.6])
    after = np.full(6, 2.075)
    found = paired(after, before)
    # All six are less, but four of them by under 1 %: that the mean is 20 % less is that of two seeds.
    assert (found.agreeing(0.0), found.agreeing(0.01), found.differs()) == (6, 2, True)
    assert (found.matters(0.0), found.matters(0.01)) == (True, False)
    assert found.seeds_to_decide(6) > 6
    # It is neither known to count nor known to be small.
    assert (found.is_small(), paired(after, after + 0.001).is_small()) == (False, True)


def test_the_number_of_seeds_that_would_decide_is_told_where_it_is_of_use():
    assert Estimate(100, 9, 5, 10).seeds_to_decide(5) == 21
    # Known already, too small to be of use, too far away, and of no seed that is in both.
    for known in (
        Estimate(100, 9, 5, 1),
        Estimate(100, 9, 0.5, 10),
        Estimate(100, 9, 1.5, 90),
        Estimate(1, 1, nan, nan),
    ):
        assert known.seeds_to_decide(5) is None
    assert Estimate(1, 1, nan, nan).seeds_to_decide(5) is None
    # Without an interval, so many as the sign test takes.
    assert Estimate(100, nan, 5, nan).seeds_to_decide(2) == FEWEST_AGREEING
    assert Estimate(100, nan, 0.5, nan).seeds_to_decide(2) is None


def test_so_many_seeds_are_compared_as_can_decide(cli, work):
    text = Path("small.toml").read_text().partition("[sweep]")[0]
    Path("one.toml").write_text(text)
    found = json.loads(cli("compare", "one.toml", *TWO, "--json").out)
    assert found["seeds"] == [1, 2, 3, 4, 5, 6]


def test_the_margin_is_the_users(cli, work):
    given = ("compare", "small.toml", "--schemes", "newreno,dctcp", "--seeds", "1..3", "--goal", "goodput", "--json")
    usual, wide = (json.loads(cli(*given, "--margin", each).out) for each in ("1%", "99%"))
    assert (usual["margin"], wide["margin"]) == (0.01, 0.99)
    assert [each["rank"] for each in wide["ranking"]] == [1, 1]
    assert cli(*given, "--margin", "much").code == 2


def measured(*names: str) -> list[goals.Measure]:
    experiment = fanin.Scenario("small.toml")
    return [goals.measure(name, experiment) for name in names]


def test_a_quantile_takes_enough_values_that_the_largest_is_above_it():
    assert [fewest_for(percent) for percent in (50, 95, 99, 99.9)] == [5, 59, 299, 2995]
    for percent in (95, 99):
        few = fewest_for(percent)
        assert (percent / 100) ** few < 0.05 < (percent / 100) ** (few - 1)


def test_a_quantile_of_few_is_warned_of(work):
    (p99,) = measured("query-p99")

    def told(*counts):
        return few_samples([p99], [{"queries": count} for count in counts])

    assert told(299, 1000) == []
    assert told(0) == []
    (warning,) = told(1000, 298)
    assert warning == (
        "query-p99: a run has 298 of the 299 queries that a p99 takes; run more rounds (traffic.NAME.rounds or count)"
    )
    # Only quantiles of completion times, and those of groups by their own transfers.
    row = {"queries": 10, "completed": 400, "groups.bursts.completed": 200}
    assert few_samples(measured("query-mean", "queue-p99", "fct_max_s", "p99-fct"), [row]) == []
    (warning,) = few_samples(measured("groups.bursts.fct_p99_s"), [row])
    assert warning.startswith("groups.bursts.fct_p99_s: a run has 200 of the 299 transfers ")
    (warning,) = few_samples(measured("p99-fct", "fct_p99_s"), [{"completed": 20}])
    assert warning.startswith("p99-fct, fct_p99_s: a run has 20 of the 299 transfers ")


def test_each_command_that_shows_a_quantile_of_few_warns_of_it_once(cli, work):
    path = work / "small.toml"
    text = path.read_text()
    path.write_text(
        text + '\n[[plot]]\nid = "last"\nx = "traffic.bursts.senders"\ny = ["query_p99_s", "goodput_bps"]\n'
    )
    few = r": a run has \d+ of the 299 queries that a p99 takes; run more rounds \(traffic.NAME.rounds or count\)\n"

    def warned(*command, said):
        told = cli(*command).err
        assert told.count(" that a p99 takes") == 1, told
        assert re.search(f"warning: {said}{few}", told), told

    rounds = ("--set", "traffic.bursts.rounds=9")
    warned("run", "small.toml", "--no-try", *rounds, said="query-p99")
    grid = ("sweep", "small.toml", "--seeds", "1", "--set", "transport.scheme=newreno,dctcp")
    warned(*grid, "--columns", "query_p99_s,drops", *rounds, said="query_p99_s")
    warned("reproduce", "small.toml", "--quick", said="small: query_p99_s")
    # Of one query, and where none is shown.
    for rest in (("run", "small.toml", "--set", "traffic.bursts.rounds=1"), (*grid, "--columns", "drops", *rounds)):
        assert " that a p99 takes" not in cli(*rest).err


@pytest.mark.parametrize(("take", "few"), [("p95", 58), ("p99.9", 2994), ("max", None), ("p0", None), ("mean", None)])
def test_a_quantile_that_the_file_declares_takes_as_many(work, take, few):
    own = f'[[column]]\nid = "own_s"\nlabel = "L"\nof = "requests.qct_s"\ntake = "{take}"\n'
    Path("own.toml").write_text(f"{Path('small.toml').read_text()}\n{own}")
    own = goals.measure("own_s", fanin.Scenario("own.toml"))
    if few is None:
        assert few_samples([own], [{"queries": 1}]) == []
    else:
        assert [len(few_samples([own], [{"queries": count}])) for count in (few, few + 1)] == [1, 0]


ALL_AT_ONCE = """\
[network]
topology = "star"
rate = "1Gbps"
buffer = "24pkt"
[transport]
initial-window = "2mss"
[[traffic]]
name = "answers"
kind = "incast"
senders = 4
bytes-each = "12KB"
"""


ASKED_AT_RANDOM = """
name = "others"
kind = "incast"
senders = 2
bytes-each = "12KB"
jitter = "1us"
"""


def test_what_no_seed_changes_has_no_interval_and_the_jitter_is_named(cli, work):
    Path("still.toml").write_text(ALL_AT_ONCE)
    given = ("compare", "still.toml", *TWO, "--seeds", "1..3", "--no-store", "--goal", "query-mean")
    done = cli(*given)
    assert not re.search(r"\d ± ", done.out)
    assert "no ±: the same with all seeds" in done.out
    assert "warning: query-mean: all seeds gave the same result, because nothing random" in done.err
    assert "set traffic.answers.jitter, such as 20us" in done.err
    done = cli(*given, "--set", "traffic.answers.jitter=50us")
    assert "all seeds gave the same result" not in done.err
    assert "all seeds gave the same result" not in cli(*given, "--set", "traffic.answers.exponential=50us").err
    # Losses at random are something random, although few packets meet them.
    lossy = '[[fault]]\nkind = "loss"\nlink = "bottleneck"\nrate = "1e-9"\n'
    Path("still.toml").write_text(ALL_AT_ONCE + lossy)
    assert "all seeds gave the same result" not in cli(*given).err
    Path("still.toml").write_text(ALL_AT_ONCE)
    assert re.search(r"\d ± ", done.out)


def test_only_measures_that_are_not_zero_are_said_to_be_the_same_with_all_seeds(work):
    Path("still.toml").write_text(ALL_AT_ONCE)
    experiment = fanin.Scenario("still.toml")
    measures = [goals.measure(name, experiment) for name in ("goodput", "timeouts")]
    still, moving = ([{"goodput_bps": 1e9 + each, "timeouts": 0} for each in of] for of in ((0, 1, 2), (0, 1e6, 2e6)))
    (warning,) = same_with_all_seeds(measures, {"a": still, "b": moving}, experiment)
    assert warning.startswith("goodput: all seeds gave the same result (a), because nothing random")
    assert same_with_all_seeds(measures, {"b": moving}, experiment) == []
    assert same_with_all_seeds(measures, {"two seeds": still[:2]}, experiment) == []
    # Beside traffic that starts at random, a system that does not mind has shown that.
    Path("both.toml").write_text(ALL_AT_ONCE + ALL_AT_ONCE.partition("[[traffic]]")[1] + ASKED_AT_RANDOM)
    assert same_with_all_seeds(measures, {"a": still}, fanin.Scenario("both.toml")) == []


def test_a_marking_threshold_that_others_do_not_have_is_warned_of_with_what_gives_it_to_them(work):
    names = ["newreno", "dctcp", "l2dct", "dt-dctcp", "rcc"]
    (warning,) = other_switches(fanin.Scenario("small.toml"), names)
    assert warning == (
        "marking thresholds are the defaults (DCTCP 20pkt, L2DCT 20pkt, RCC 60000B), which decide the ranks; set "
        "scheme.dctcp.mark-threshold, scheme.l2dct.mark-threshold and scheme.rcc.mark-threshold as your switch has it"
    )
    assert other_switches(fanin.Scenario("small.toml"), ["newreno", "ictcp"]) == []
    given = [("scheme.dctcp.mark-threshold", "5pkt")]
    (warning,) = other_switches(fanin.Scenario("small.toml").set(given), names)
    assert warning.startswith(
        "DCTCP marks from 5pkt on, other schemes by their defaults (L2DCT 20pkt, RCC 60000B); for one "
    )
    options = re.findall(r"--set (\S+)=(\S+)", warning)
    assert [path for path, _ in options] == ["scheme.l2dct.mark-threshold", "scheme.rcc.mark-threshold"]
    assert other_switches(fanin.Scenario("small.toml").set([*given, *options]), names) == []
    assert other_switches(fanin.Scenario("small.toml").set(given), ["newreno", "dctcp", "dt-dctcp"]) == []


def test_all_measures_of_all_schemes_fit_a_hundred_lines_of_80_columns(cli, work, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    asked = ("compare", "small.toml", "--seeds", "1..6", "--goal", "query-p99")
    short = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", cli(*asked).out).splitlines()
    assert len(short) <= 34
    assert max(map(len, short)) <= 80
    done = cli(*asked, "--columns", "all")
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.out).splitlines()
    assert len(lines) <= 105
    assert max(map(len, lines)) <= 80
    told = " ".join(lines)
    assert "too narrow for Jain, " in told
    # What needs no row of its own is told in a line.
    probeless = (
        "no timeout and no probe: Homa, SAB, PFDCT, PFDCT-ST, NDP, RCC, RCCE, ICTCP, Swift, which is 0 (0..459) of"
    )
    assert f"{probeless} a thousand" in told
    assert "open: more than Homa with Linux CUBIC and Linux Reno; about 31 seeds would decide" in told


def test_a_background_over_other_times_is_cautioned(cli, work):
    background = '[[traffic]]\nname = "backup"\nkind = "background"\nflows = 1\n'
    text = ALL_AT_ONCE.replace("senders = 4", "senders = 24").replace("12KB", "64KB")
    Path("beside.toml").write_text(text + background)
    given = ("compare", "beside.toml", *TWO, "--seeds", "1..3", "--no-store", "--goal")
    said = "warning: background: it sends longer where queries are slower; "
    assert said in cli(*given, "background").err
    assert "warning: background" not in cli(*given, "query-mean").err
    # What came before the queries is no part of that time, however long it was.
    later = ("--seeds", "1", "--set", "network.rate=100Mbps", "--set", "traffic.answers.start=5s")
    assert said in cli(*given, "background", *later).err


def test_systems_are_compared_over_the_same_wire(cli, work):
    """Linux's stack brings Ethernet's frames, the others bring none."""
    for scheme, frames in (("newreno", "0B"), ("linux", "38B")):
        own = fanin.Scenario("small.toml").set([("transport.scheme", scheme)])
        assert own.resolved()["network"]["frame-overhead"] == frames
        others = ("newreno", "linux", "linux-dctcp")
        cases = [comparison.in_its_frames(own, {"transport.scheme": other}) for other in others]
        assert {own.resolved(case)["network"]["frame-overhead"] for case in cases} == {frames}
    given = comparison.in_its_frames(own, {"transport.scheme": "newreno", "network.frame-overhead": "20B"})
    assert given["network.frame-overhead"] == "20B"
