"""``fanin tune``."""

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from patches import before_runs
from test_capacity import TINY

import fanin
from fanin.ask.tuning import _cautions
from fanin.choose import goals
from fanin.choose.comparison import paired
from fanin.choose.tuning import optuna_proposals
from fanin.choose.tuning.answer import Checked, Trial, Tuned, front, snippet
from fanin.choose.tuning.space import param
from fanin.cli.tune import _print
from fanin.numbers.stats import QUANTILES
from fanin.show import tuning_folder

BUFFER = ("--param", "network.buffer=12pkt..48pkt")


@pytest.fixture
def tiny(work: Path) -> Path:
    (work / "tiny.toml").write_text(TINY.replace("senders = 4", "senders = 12"))
    return work / "tiny.toml"


def tuned(cli, *arguments: str) -> dict:
    result = cli("tune", "tiny.toml", *arguments, "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_finds_the_better_end_of_a_monotone_parameter(cli, tiny):
    found = tuned(cli, *BUFFER, "--goal", "drops", "--trials", "16", "--fresh", "4")
    (best,) = found["best"]
    # Twelve senders of four packets each: with 48 packets of buffer nothing is lost at the start.
    assert int(best["values"]["network.buffer"].removesuffix("pkt")) > 40
    assert (best["goals"]["drops"]["comparison"], found["trials"]) == ("better", 16)
    assert best["goals"]["drops"]["mean"] < found["default"]["goals"]["drops"]["mean"]
    worse = tuned(cli, *BUFFER, "--goal", "query-p99", "--keep", "drops=1000", "--trials", "8", "--fresh", "3")
    assert worse["best"][0]["broken"] == []


def test_the_answer_is_of_fresh_seeds_and_paired(cli, tiny):
    found = tuned(cli, *BUFFER, "--goal", "goodput", "--trials", "6", "--seeds", "1..2", "--fresh", "3")
    best = found["best"][0]
    experiment = fanin.Scenario("tiny.toml")
    fresh = (3, 4, 5)
    own = [experiment.set(best["values"]).run(seed).summary["goodput_bps"] for seed in fresh]
    default = [experiment.run(seed).summary["goodput_bps"] for seed in fresh]
    assert best["goals"]["goodput"]["mean"] == pytest.approx(sum(own) / 3)
    assert found["default"]["goals"]["goodput"]["mean"] == pytest.approx(sum(default) / 3)
    assert best["goals"]["goodput"]["difference"] == pytest.approx((sum(own) - sum(default)) / 3)


def test_bounds_decide_what_counts(cli, tiny):
    arguments = (*BUFFER, "--goal", "goodput", "--trials", "12", "--fresh", "3")
    (free,) = tuned(cli, *arguments)["best"]
    (bound,) = tuned(cli, *arguments, "--keep", "queue-p99=20pkt")["best"]
    size = [int(each["values"]["network.buffer"].removesuffix("pkt")) for each in (free, bound)]
    assert size[0] > 20 >= size[1] - 2
    assert bound["keep"][0]["mean"] <= 20
    none = cli("tune", "tiny.toml", *BUFFER, "--keep", "query-p99=1us", "--trials", "2", "--fresh", "3")
    assert (none.code, "no trial keeps the bounds" in none.err) == (1, True)


def test_nothing_is_recommended_where_the_bound_is_of_runs_that_last_differently_long(cli, tiny):
    backup = '[[traffic]]\nname = "backup"\nkind = "background"\nflows = 1\n'
    tiny.write_text(tiny.read_text().replace("12KB", "64KB") + backup)
    given = ("--param", "transport.rto-min=1ms,50ms", "--goal", "query-p99", "--trials", "2", "--fresh", "3")
    (free,) = tuned(cli, *given)["best"]
    assert (free["recommended"], free["incomparable"]) == (True, [])
    (best,) = tuned(cli, *given, "--keep", "background=1%")["best"]
    assert best["values"] == free["values"]
    assert (best["recommended"], best["broken"], best["incomparable"]) == (False, [], ["background=1%"])
    assert "compares runs that last differently long" in cli("tune", "tiny.toml", *given, "--keep", "background=1%").out


@pytest.mark.parametrize("batch", [2, 4])
def test_an_interrupted_study_goes_the_same_way(cli, tiny, interrupt, batch):
    arguments = (*BUFFER, "--goal", "drops", "--trials", "12", "--fresh", "3")
    whole = tuned(cli, *arguments, "--out", "whole")
    interrupt(batch)
    result = cli("tune", "tiny.toml", *arguments, "--out", "part")
    assert (result.code, "finished runs are kept in part" in result.err) == (130, True)
    again = tuned(cli, *arguments, "--out", "part")
    assert {**again, "study": "", "paths": []} == {**whole, "study": "", "paths": []}
    trials = [next(Path(out).glob("studies/*/trials.csv")).read_text() for out in ("whole", "part")]
    assert trials[0] == trials[1]
    # The same study, further.
    assert tuned(cli, *arguments[:-4], "--trials", "14", "--fresh", "3", "--out", "part")["trials"] == 14


def test_a_study_that_is_extended_runs_nothing_again(cli, tiny, monkeypatch):
    arguments = (*BUFFER, "--goal", "drops", "--fresh", "3")
    tuned(cli, *arguments, "--trials", "6")
    (trials,) = Path("results").glob("studies/*/trials.csv")
    first = pl.read_csv(trials)
    simulated: list[object] = []
    before_runs(monkeypatch, simulated.append)
    assert tuned(cli, *arguments, "--trials", "12")["trials"] == 12
    assert pl.read_csv(trials)[:6].equals(first)
    assert 0 < len(simulated) <= 6 * 3 + 3


def test_proposals_are_repeatable_and_follow_results_and_bounds(tiny):
    optuna, params = optuna_proposals.load_optuna(""), [param(BUFFER[1], fanin.Scenario("tiny.toml"))]

    def proposed(*results: optuna_proposals.Result) -> list:
        return optuna_proposals.propose(optuna, params, [False], results, 4)

    sizes = range(12, 48, 3)
    kept = [optuna_proposals.Result({"network.buffer": each}, [float(each)], {"x": -1.0}) for each in sizes]
    broken = [replace(each, bounds={"x": 30.0 - each.drawn["network.buffer"]}) for each in kept]
    worse = [replace(each, goals=[-each.goals[0]]) for each in kept]
    failed = [replace(each, goals=[], bounds={}, error="it failed") for each in kept]
    assert proposed(*kept) == proposed(*kept)
    found = [proposed(*each) for each in (kept, broken, worse, failed, kept[:8])]
    assert all(one != other for place, one in enumerate(found) for other in found[:place])


def test_the_progress_counts_trials(cli, tiny):
    result = cli("tune", "tiny.toml", *BUFFER, "--goal", "drops", "--trials", "6", "--seeds", "1..2", "--fresh", "3")
    for expected in ("the default", "trials 1 to 4 of 6", "trials 5 to 6 of 6", "the check, with fresh seeds"):
        assert f", {expected}\n" in result.err


def test_a_trial_that_broke_off_for_want_of_memory_is_tried_again(cli, tiny, monkeypatch):
    arguments = ("--param", "network.buffer=12pkt,24pkt,30pkt", "--goal", "drops", "--fresh", "3")
    whole = tuned(cli, *arguments, "--out", "whole")

    def look(settings):
        if ("network.buffer", "30pkt") in settings:
            raise MemoryError

    with monkeypatch.context() as patched:
        before_runs(patched, look)
        result = cli("tune", "tiny.toml", *arguments, "--out", "part")
    assert (result.code, "not enough memory; the next command retries it" in result.err) == (3, True)
    again = tuned(cli, *arguments, "--out", "part")
    assert {**again, "study": "", "paths": []} == {**whole, "study": "", "paths": []}


def test_several_goals_make_a_front(cli, tiny):
    found = tuned(cli, *BUFFER, "--goal", "goodput", "--goal", "queue-p99", "--trials", "10", "--fresh", "3")
    assert len(found["best"]) > 1
    assert {Path(path).name for path in found["paths"]} == {"tune.json", "trials.csv", "pareto.png", "pareto.svg"}
    text = cli(
        "tune",
        "tiny.toml",
        *BUFFER,
        "--goal",
        "goodput",
        "--goal",
        "queue-p99",
        "--trials",
        "10",
        "--fresh",
        "3",
        "--tsv",
    )
    assert "front 2\t" in text.out


def test_the_front_has_what_nothing_beats(tiny):
    both = [goals.goal(name, fanin.Scenario("tiny.toml")) for name in ("goodput", "drops")]
    trials = [
        Trial({"x": 1}, [1.0, 1.0], True),
        Trial({"x": 2}, [2.0, 2.0], True),
        Trial({"x": 3}, [2.0, 3.0], True),
        Trial({"x": 4}, [9.0, 0.0], False),
        Trial({"x": 5}, [1.0, 1.0], True),
        Trial({"x": 6}, [3.0, float("inf")], True),
    ]
    assert [each.values["x"] for each in front(trials, both)] == [1, 2]
    single = [Trial({"x": each.values["x"]}, each.goals[:1], each.kept) for each in trials[:3]]
    assert [each.values["x"] for each in front(single, both[:1])] == [2]


def test_a_few_values_are_all_tried(cli, tiny):
    found = tuned(cli, "--param", "transport.initial-window=1mss,2mss,4mss", "--goal", "drops", "--fresh", "3")
    assert (found["trials"], found["best"][0]["values"]) == (3, {"transport.initial-window": "1mss"})


def test_a_few_values_are_all_tried_though_the_first_batch_was_interrupted(cli, tiny, interrupt):
    sizes = [f"{packets}pkt" for packets in (12, 16, 20, 28, 40, 64)]
    arguments = ("tune", "tiny.toml", "--param", f"network.buffer={','.join(sizes)}", "--goal", "drops", "--fresh", "3")
    interrupt(2)
    assert cli(*arguments).code == 130
    assert cli(*arguments).code == 0
    (trials,) = Path("results").glob("studies/*/trials.csv")
    assert sorted(pl.read_csv(trials)["network.buffer"]) == sorted(sizes)


def test_a_goal_without_a_value_is_refused(cli, tiny):
    tiny.write_text(
        '[network]\ntopology = "star"\n[[traffic]]\nkind = "background"\nflows = 1\n[run]\nduration = "5ms"\n'
    )
    result = cli("tune", "tiny.toml", *BUFFER, "--goal", "query-p99", "--trials", "4")
    assert (result.code, "has no query-p99: choose another --goal" in result.err) == (1, True)
    assert "the goal is goodput, as no transfer ends" in cli("tune", "tiny.toml", *BUFFER, "--trials", "1").err


def test_a_weighted_goal_finds_what_finishes_though_the_default_does_not(cli, tiny):
    # With 24 packets of buffer some senders wait for their timers until after the end.
    short = ("tune", "tiny.toml", "--set", "run.duration=8ms", "--goal", "query-p99:2,goodput", "--fresh", "3")
    result = cli(*short, "--param", "network.buffer=16pkt,200pkt,240pkt", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    (best,) = found["best"]
    assert best["values"]["network.buffer"] in ("200pkt", "240pkt")
    assert best["goals"]["query-p99:2,goodput:1"]["comparison"] == "finishes"
    assert found["default"]["goals"]["query-p99:2,goodput:1"]["mean"] is None
    assert "has no mean for some measure of query-p99:2,goodput:1" in result.err
    assert "keep yours" not in result.out
    none = cli(*short, "--param", "network.buffer=12pkt,16pkt")
    assert (none.code, "no trial that keeps the bounds finishes" in none.err) == (1, True)


def test_what_is_not_better_is_called_so(cli, tiny):
    result = cli("tune", "tiny.toml", "--param", "transport.rto-initial=1s,2s", "--goal", "drops", "--fresh", "3")
    assert result.code == 0
    assert "no significant difference" in result.out
    assert "keep yours: on fresh seeds" in result.out
    assert not list(Path("results").glob("studies/*/best.toml"))


def test_the_snippet_is_a_piece_of_a_scenario(cli, tiny):
    values = {
        "scheme.dctcp.mark-threshold": "9pkt",
        "scheme.dctcp.g": 0.1,
        "transport.sack": True,
        "traffic.a.rounds": 3,
    }
    text = snippet(values)
    assert text.endswith("# --set traffic.a.rounds=3\n")
    found = tomllib.loads(text)
    assert found == {"scheme": {"dctcp": {"mark-threshold": "9pkt", "g": 0.1}}, "transport": {"sack": True}}
    shown = cli("tune", "tiny.toml", *BUFFER, "--goal", "drops", "--trials", "2", "--fresh", "3", "--tsv").out
    assert "[network]\nbuffer = " in shown
    lines = shown.splitlines()
    assert lines[1].split("\t")[:3] == ["", "buffer", "drops"]
    assert [line.split("\t")[0] for line in lines[2:4]] == ["default", "found"]
    best = next(Path("results").glob("studies/*/best.toml")).read_text()
    assert best in shown


def test_parameters(tiny):
    experiment = fanin.Scenario("tiny.toml")
    threshold = param("scheme.dctcp.mark-threshold=5pkt..80pkt", experiment)
    assert (threshold.whole, threshold.value(7), threshold.drawn("20pkt"), threshold.drawn("9KB")) == (
        True,
        "7pkt",
        20,
        None,
    )
    gain = param("scheme.dctcp.g=1/64..1/4", experiment)
    assert (gain.whole, gain.value(0.123456), gain.value(1 / 64), gain.drawn("1/16")) == (
        False,
        0.123,
        0.015625,
        0.0625,
    )
    assert param("network.delay=1us..90us", experiment).value(12.3456) == "12.3us"
    assert param("traffic.answers.rounds=1..5", experiment).whole
    assert param("network.buffer=10pkt..30pkt:10pkt", experiment).choices == ("10pkt", "20pkt", "30pkt")


def test_wrong_arguments(cli, tiny):
    def message(*arguments: str) -> tuple[int, str]:
        result = cli("tune", "tiny.toml", *arguments)
        return result.code, " ".join(result.err.replace("│", " ").split())

    code, text = message("--param", "network.bufer=1pkt..9pkt")
    assert (code, 'did you mean "buffer"?' in text or 'did you mean "network.buffer"?' in text) == (3, True)
    assert text.startswith("error: --param: ")
    code, text = message("--param", "scheme.dctcp.mark-threshold=5pkt..80pkt")
    assert (code, "nothing in the scenario uses dctcp; --set transport.scheme=dctcp does" in text) == (2, True)
    code, text = message(*BUFFER, "--goal", "query-99")
    assert (code, 'did you mean "query-p99"?' in text) == (2, True)
    for wrong in ("network.buffer", "network.buffer=9pkt..1pkt", "network.buffer=9pkt", "network.buffer=1pkt..9KB"):
        assert message("--param", wrong)[0] == 2
    assert message(*BUFFER, *BUFFER)[0] == 2
    assert message()[0] == 2


def test_optuna_is_silenced_only_while_it_is_asked(tiny, capsys):
    optuna = optuna_proposals.load_optuna("")
    said = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.INFO)
    try:
        optuna_proposals.propose(
            optuna_proposals.load_optuna(""), [param(BUFFER[1], fanin.Scenario("tiny.toml"))], [False], [], 1
        )
        assert optuna.logging.get_verbosity() == optuna.logging.INFO
    finally:
        optuna.logging.set_verbosity(said)
    assert capsys.readouterr().err == ""


def test_without_optuna_it_says_what_to_install(cli, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = cli("tune", "tiny.toml", *BUFFER)
    assert (result.code, "-m pip install optuna" in result.err) == (3, True)


def test_a_failing_trial_is_told_and_the_others_go_on(cli, tiny, monkeypatch):
    def failing(settings):
        if ("network.buffer", "12pkt") in settings:
            raise fanin.RunError("transfer 3 is stuck")

    before_runs(monkeypatch, failing)
    result = cli("tune", "tiny.toml", "--param", "network.buffer=12pkt,24pkt,30pkt", "--fresh", "3", "--json")
    assert (result.code, "transfer 3 is stuck" in result.err) == (1, True)
    found = json.loads(result.out)
    assert (found["trials"], len(found["failed"])) == (2, 1)


def test_no_interval_is_given_that_impossible(work, capsys, tabs):
    experiment = fanin.Scenario("small.toml")
    wanted, bounds = [goals.goal("goodput", experiment)], [goals.keep("timeout-ratio=90%", experiment)]

    def checked(values: dict | None, *goodputs: float) -> Checked:
        rows = [
            {"seed": seed, "goodput_bps": each, "timeout_ratio": float(each < 1e9), "capacity_bps": 1e10}
            for seed, each in enumerate(goodputs, start=1)
        ]
        measured = wanted[0].values(rows, rows)
        away = paired(measured, measured - 1e9)
        return Checked(values, [wanted[0].spread(rows)], [away], [bounds[0].measure.spread(rows)], [], [], [], rows)

    # Of three seeds one collapses: the intervals would reach above the capacity, below zero, and above one.
    own, found = checked(None, 9e9, 9.1e9, 9.2e9), checked({"network.buffer": "40pkt"}, 9e9, 9.1e9, 1e8)
    answer = Tuned([], [], own, [found])
    _print("It", answer, wanted, bounds, {"network.buffer": "24pkt"}, 0.01)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[2][:3] == ["default", "24pkt", "9,100 ± 248"]
    assert lines[3][2] == "6,067 (100..9,100)"
    assert lines[3][-1].startswith("33.33 (0..100)")
    assert [QUANTILES] in lines
    told = tuning_folder.as_dict(answer, wanted, bounds, 0.01)
    kept = told["default"]["goals"]["goodput"]
    assert kept["high"] - kept["mean"] == pytest.approx(kept["half"])
    (best,) = told["best"]
    assert {key: best["goals"]["goodput"][key] for key in ("half", "low", "high")} == {
        "half": None, "low": 1e8, "high": 9.1e9,
    }  # fmt: skip
    assert {key: best["keep"][0][key] for key in ("half", "low", "high")} == {"half": None, "low": 0.0, "high": 1.0}


def test_quantiles_of_few_and_goals_that_no_seed_changes_are_warned_of(cli, tiny):
    given = ("--param", "network.buffer=30pkt,48pkt", "--set", "traffic.answers.senders=4", "--keep",
             "query-p99=1s", "--fresh", "3")  # fmt: skip
    few, *same = tuned(cli, *given, "--set", "traffic.answers.jitter=0s")["warnings"]
    assert few.startswith("query-p99: ")
    assert [each.partition(":")[0] for each in same] == ["query-p99"]
    done = cli("tune", "tiny.toml", *given, "--set", "traffic.answers.jitter=0s")
    assert f"warning: {few}\nwarning: {same[0]}\n" in done.err
    assert "no ±: the same with all seeds" in done.out
    assert tuned(cli, *given)["warnings"] == [few]


def test_a_recommended_threshold_that_check_warns_of_is_warned_of_here(work):
    path = "scheme.linux-dctcp.mark-threshold"
    (work / "rack.toml").write_text(
        '[network]\ntopology = "star"\nrate = "10Gbps"\nbuffer = "300KB"\n[transport]\nscheme = "linux-dctcp"\n'
        '[[traffic]]\nkind = "incast"\nsenders = 24\nbytes-each = "32KB"\njitter = "20us"\n'
    )
    experiment = fanin.Scenario("rack.toml")

    def warned(threshold: str, *, advised: bool) -> list[str]:
        best = SimpleNamespace(values={path: threshold}, rows=[], is_advice=lambda *_: advised)
        found = SimpleNamespace(default=SimpleNamespace(values=None, rows=[]), best=[best])
        return _cautions(experiment, found, [], [], 0.01)

    (remark,) = warned("5pkt", advised=True)
    assert remark.startswith(f"of the recommended values: {path} = 5pkt: below C x RTT / 7")
    assert warned("65pkt", advised=True) == warned("5pkt", advised=False) == []
