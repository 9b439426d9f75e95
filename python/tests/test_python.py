"""Python as the laboratory: scenarios from anything, and questions with the answers of the commands."""

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import SCENARIO
from patches import stored
from test_observed import racks  # noqa: F401 - a fixture

import fanin
from fanin.command import worded
from fanin.scenario.toml_text import to_toml

TABLES = {
    "title": "From tables",
    "network": {"topology": "two-switch", "rate": "1Gbps", "delay": "33us", "buffer": "20pkt"},
    "transport": {"rto-min": "10ms", "initial-window": "2mss"},
    "traffic": [
        {"name": "background", "kind": "background", "flows": 1},
        {"name": "bursts", "kind": "incast", "senders": 3, "bytes-each": "64KB", "start": "5ms", "jitter": "100us"},
    ],
    "run": {"duration": "200ms"},
}


@pytest.fixture
def small(work):
    return fanin.Scenario("small.toml")


def test_a_scenario_is_the_same_from_a_file_a_text_a_dictionary_and_keywords(small):
    found = [small, fanin.Scenario(SCENARIO), fanin.Scenario(TABLES), fanin.Scenario(**TABLES)]
    found.append(fanin.Scenario(Path("small.toml")))
    assert {each.run().run_id for each in found} == {small.run().run_id}
    assert fanin.Scenario(TABLES).document.title == "From tables"
    assert fanin.Scenario(runs_of="sdtcp/fig9").resolved() == fanin.Scenario("sdtcp/fig9").resolved()


def test_it_is_given_in_one_of_these_ways(work):
    for wrong in ((), ("small.toml", {"network": {}})):
        with pytest.raises(TypeError, match=r"by tables such as network"):
            fanin.Scenario(*wrong[:1], **dict(*wrong[1:]))
    with pytest.raises(fanin.NotFoundError, match="no such file or experiment"):
        fanin.Scenario("network")


def test_a_wrong_key_has_a_hint_wherever_it_is(small):
    with pytest.raises(fanin.ScenarioError, match=r'nework: unknown key .did you mean "network"'):
        fanin.Scenario(nework={"topology": "star"})
    bad = TABLES | {"network": {"topology": "star", "bufer": "1MB"}}
    with pytest.raises(fanin.ScenarioError, match=r'bufer: unknown key .did you mean "buffer"'):
        fanin.Scenario(bad).check()
    with pytest.raises(fanin.ScenarioError, match=r'rto-mn: unknown key .did you mean "rto-min"'):
        small.set("transport.rto-mn", "1ms").run()


def test_a_number_without_its_unit_is_refused_with_the_right_one(small):
    for given, wanted in ((10e9, "10Gbps"), (25_000_000, "25Mbps"), (np.float64(1e9), "1Gbps")):
        with pytest.raises(fanin.ScenarioError, match=f'a rate needs a unit: write "{wanted}"'):
            small.set("network.rate", given).check()


def test_a_list_of_probes_is_one_value(small):
    text = small.set("measure.probes", "cwnd,ssthresh").resolved()
    assert small.set("measure.probes", ["cwnd", "ssthresh"]).resolved() == text
    assert fanin.Scenario(TABLES | {"measure": {"probes": ("cwnd", "ssthresh")}}).resolved() == text


def test_what_is_set_replaces_what_was_and_leaves_the_scenario_alone(small):
    more = small.set("traffic.bursts.senders", 4).set({"traffic.bursts.senders": np.int64(5), "transport.sack": True})
    assert more.overrides == [("traffic.bursts.senders", "5"), ("transport.sack", "true")]
    assert small.overrides == []
    assert len(more.run().flows()) == 6
    assert small.set("environment", "qualnet").environment == "qualnet"
    with pytest.raises(TypeError, match="a value is needed"):
        small.set("network.buffer")


def test_values_to_vary_are_a_list_a_range_an_array_or_a_text(small):
    wanted = [2, 4, 6]
    for values in (wanted, range(2, 7, 2), np.array(wanted), "2..6:2", pl.Series(wanted)):
        assert small.vary({"traffic.bursts.senders": values}).sweep.variables["traffic.bursts.senders"] == wanted
    with pytest.raises(fanin.ScenarioError, match=r"traffic.bursts.senders: takes values or ranges"):
        small.vary({"traffic.bursts.senders": [[2], [3]]})


def test_tables_come_back_as_they_were_written(work):
    """Also the parts that Python reads, with keys that need quotes."""
    tables = fanin.Scenario(to_toml(TABLES | {"sweep": {"transport.rto-min": ["1ms", "5ms"], "seeds": [1]}}))
    runs = fanin.sweep(tables, out=None)
    assert [point.values for point, _ in runs] == [{"transport.rto-min": "1ms"}, {"transport.rto-min": "5ms"}]


def same(answer, printed):
    """Whether an answer is what a command printed, but for the files that this wrote."""
    found = json.loads(printed)
    if "warnings" in found:
        found["warnings"] = [worded(each) for each in found["warnings"]]
    assert json.loads(json.dumps(answer.as_dict())) == {name: found[name] for name in found if name != "paths"}


def test_a_sweep_of_schemes_warns_as_their_comparison_does(work, cli):
    """Whether the sweep is a function or a command; what is set for all is no difference."""
    names = ["newreno", "ictcp", "dctcp"]
    tables = TABLES | {"transport": {"rto-min": "10ms"}}
    scenario = fanin.Scenario(tables)
    (work / "own.toml").write_text(to_toml(tables))

    def said(ask, *arguments):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(*arguments, seeds=[1])
        assert {each.filename for each in caught} == {__file__}
        return [str(each.message).partition("; beside_scheme")[0] for each in caught]

    before = said(fanin.compare, scenario, names)[:2]
    assert before[0].startswith("the systems differ in more than their scheme: initial-window")
    assert before[1].startswith("marking thresholds are the defaults (DCTCP 20pkt)")
    swept = scenario.vary({"transport.scheme": names, "traffic.bursts.senders": [2, 3]})
    assert {f"transport.scheme: {each}" for each in before} <= {*said(fanin.sweep, swept)}
    printed = cli("sweep", "own.toml", "--set", f"transport.scheme={','.join(names)}", "--seeds", "1").err
    assert all(f"warning: transport.scheme: {each}\n" in printed for each in before)
    alike = swept.vary({"transport.initial-window": ["2mss"]})
    assert not any("initial-window" in each for each in said(fanin.sweep, alike))


def test_what_seeds_and_few_samples_leave_open_is_a_warning_of_a_sweep(work):
    still = fanin.Scenario(TABLES | {"traffic": [TABLES["traffic"][1] | {"jitter": "0s", "senders": 1}]})
    with pytest.warns(fanin.ScenarioWarning) as caught:
        fanin.sweep(still.vary({"network.buffer": ["20pkt", "30pkt"]}), seeds=range(1, 4))
    found = [str(each.message) for each in caught]
    assert any(re.match(r"fct_p99_s: a run has \d+ of the .* that a p99 takes", each) for each in found)
    assert any("fct_p99_s: all seeds gave the same result, because nothing random changes it" in each for each in found)


def test_a_comparison_does_not_ignore_what_varies(small):
    varied = small.vary({"network.buffer": ["20pkt", "40pkt"]})
    with pytest.raises(ValueError, match=r"compare asks about one scenario, but network.buffer vary: set one value"):
        fanin.compare(varied, ["newreno", "dctcp"])


def test_a_measure_is_drawn_against_what_varies_by_scheme(small, work):
    schemes, fan_ins = ["newreno", "dctcp"], [2, 3, 5]
    runs = fanin.sweep(small.vary({"transport.scheme": schemes, "traffic.bursts.senders": fan_ins}), seeds=range(1, 4))
    drawn = fanin.plot("measure", runs, of="fct_mean_s", style="column")
    assert (drawn.lines, drawn.plot.x, drawn.plot.kind, drawn.runs) == (schemes, "traffic.bursts.senders", "line", 18)
    rows = runs.summary().filter(pl.col("column") == "fct_mean_s")
    shown = drawn.series.data
    assert shown["mean"].to_list() == rows["mean"].to_list()
    assert shown["low"].to_list() == rows["low"].to_list()
    assert drawn.save("fct.pdf").read_bytes().startswith(b"%PDF")
    bars = fanin.plot("measure", runs, against="transport.scheme", where={"traffic.bursts.senders": [2, 5]})
    assert (bars.lines, bars.plot.kind, bars.runs) == (["senders = 2", "senders = 5"], "bars", 12)
    for wrong, error, match in (
        ({"of": "fct_mean"}, fanin.FaninError, 'no column .fct_mean. .did you mean "fct_mean_s"'),
        ({"against": "network.buffer"}, ValueError, "network.buffer does not vary in these runs; transport.scheme, "),
        ({"where": {"traffic.bursts.senders": 2, "transport.scheme": "dctcp"}}, fanin.ResultsError, "nothing varies"),
    ):
        with pytest.raises(error, match=match):
            fanin.plot("measure", runs, **wrong)


def test_a_comparison_is_that_of_the_command(small, cli):
    marked = small.set("scheme.dctcp.mark-threshold", "5pkt")
    options = ("--goal", "queue", "--set", "scheme.dctcp.mark-threshold=5pkt")
    printed = cli("compare", "small.toml", "--schemes", "newreno,dctcp", *options, "--json")
    with pytest.warns(fanin.ScenarioWarning) as caught:
        found = fanin.compare(marked, ["newreno", "dctcp"], goal="queue")
    same(found, printed.out)
    assert [str(each.message) for each in caught] == found.warnings != []
    assert {each.filename for each in caught} == {__file__}
    assert all(f"warning: {each}\n" in worded(printed.err) for each in found.warnings)
    assert found.frame()["scheme"].to_list() == [each.scheme for each in found.schemes] == ["dctcp", "newreno"]
    assert found.runs().height == 2 * len(small.seeds)
    assert found._repr_html_().startswith("<table>")
    with pytest.raises(ValueError, match="rcc is not among the schemes: dctcp"):
        fanin.compare(small, "dctcp", against="rcc")
    with pytest.raises(ValueError, match="there is no measure 'goodputt'"):
        fanin.compare(small, "dctcp", goal="goodputt")


def test_a_capacity_is_that_of_the_command(small, cli):
    options = ("--over", "traffic.bursts.senders=2..16", "--seeds", "1..3", "--keep", "drops=5")
    vary = ("--vary", "network.buffer=20pkt,80pkt")
    printed = cli("capacity", "small.toml", *options, *vary, "--scheme", "dctcp", "--json")
    over = ("traffic.bursts.senders", 2, 16)
    asked = {"keep": ["drops=5"], "over": over, "seeds": [1, 2, 3], "vary": {"network.buffer": ["20pkt", "80pkt"]}}
    found = fanin.capacity(small, "dctcp", **asked)
    same(found, printed.out)
    assert [str(path) for path in found.write()] == json.loads(printed.out)["paths"]
    assert found.frame()["capacity"].to_list() == [each.capacity for each in found.cases]
    assert found._repr_html_().startswith("<table>")
    with pytest.raises(ValueError, match="so no fan-in keeps it"):
        fanin.capacity(small, keep=["goodput=120%"])
    with pytest.raises(ValueError, match="at least 3 seeds"):
        fanin.capacity(small, seeds=[1, 2])


def test_a_tuning_is_that_of_the_command(small, cli):
    pytest.importorskip("optuna")
    options = ("--goal", "goodput", "--trials", "4", "--fresh", "3", "--set", "transport.scheme=dctcp")
    path = "scheme.dctcp.mark-threshold"
    printed = cli("tune", "small.toml", "--param", f"{path}=2pkt,4pkt,8pkt", *options, "--json")
    dctcp = small.set("transport.scheme", "dctcp")
    found = fanin.tune(dctcp, {path: ["2pkt", "4pkt", "8pkt"]}, goal="goodput", trials=4, fresh=3)
    same(found, printed.out)
    assert [str(path) for path in found.write()] == json.loads(printed.out)["paths"]
    assert found.frame()[path].to_list() == ["2pkt", "4pkt", "8pkt"]
    (best,) = json.loads(printed.out)["best"]
    assert found.recommended == (best["values"] if best["recommended"] else None)
    assert found._repr_html_().startswith("<table>")


def test_advice_is_that_of_the_command(small, cli):
    options = ("--seeds", "1..3", "--capacities", "0", "--goal", "p99-fct")
    printed = cli("advise", "small.toml", *options, "--json")
    found = fanin.advise(small, seeds=[1, 2, 3], capacities=0, goal="p99-fct")
    same(found, printed.out)
    said = json.loads(printed.out)
    assert found.headline == said["headline"]
    assert [str(path) for path in found.write()] == said["paths"]
    assert found.frame()["fix"].to_list() == [each["fix"] for each in said["fixes"]]
    assert found._repr_html_().startswith("<table>")
    if found.recommended is not None:
        small.set(found.recommended).check()


def test_a_sweep_has_the_means_of_the_command(small, cli):
    printed = json.loads(cli("sweep", "small.toml", "--json").out)
    assert json.loads(json.dumps(fanin.sweep(small).summary().to_dicts())) == printed["summary"]


def test_slowdown_is_that_of_the_command(small, cli):
    run = small.run(out="results")
    same(fanin.fct(run, "hpcc"), cli("describe", f"results/{run.run_id}", "--slowdown", "hpcc", "--json").out)
    assert fanin.fct(f"results/{run.run_id}", "hpcc").as_dict() == fanin.fct(run, "hpcc").as_dict()
    assert fanin.fct(run).classes["class"].to_list() == ["bursts"]
    several = small.set("traffic.bursts.bytes-each", "cache").run()
    assert [fanin.fct(several, bins=bins).sizes.height for bins in (None, 1)] == [2, 1]
    assert {"share", "slowdown"} < set(fanin.fct(run).cdf.columns)


def test_a_picture_is_that_of_the_command(small, cli):
    pictures = {}
    for what in ("queue", "cdf"):
        cli("plot", what, "small.toml", "--set", "transport.scheme=newreno,dctcp", "--file", f"{what}.svg")
        drawn = fanin.plot(what, small.vary({"transport.scheme": ["newreno", "dctcp"]}))
        assert drawn.save(f"own/{what}.svg").read_bytes() == Path(f"{what}.svg").read_bytes()
        assert drawn.lines == ["newreno", "dctcp"]
        pictures[what] = drawn._repr_png_()
    assert all(each.startswith(b"\x89PNG") for each in pictures.values())
    with pytest.raises(ValueError, match="ends with none of"):
        drawn.save("cdf.jpeg")


def test_names_that_are_none_are_told_with_those_that_are(small):
    with pytest.raises(ValueError, match="there is no picture 'queues': queue, goodput"):
        fanin.plot("queues", small)
    with pytest.raises(ValueError, match="there is no slowdown 'hppc': homa, hpcc"):
        fanin.fct(small.run(), "hppc")
    with pytest.raises(fanin.ScenarioError, match='did you mean "dctcp"'):
        fanin.compare(small, "dctp")


def test_runs_are_drawn_as_they_were_recorded(small):
    runs = fanin.sweep(small.vary({"transport.scheme": ["newreno", "dctcp"]}, bare=True), seeds=[1], out=None)
    assert fanin.plot("cdf", runs).lines == ["newreno", "dctcp"]
    assert fanin.plot("cdf", runs, where={"transport.scheme": "dctcp"}).runs == 1
    traced = small.set("measure.queue-trace", "on-change")
    assert len(fanin.plot("queue", traced.run()).lines) == 1
    with pytest.raises(fanin.ResultsError, match=r"measure\.queue-trace"):
        fanin.plot("queue", runs)


def test_a_run_has_the_queue_of_the_bottleneck_as_that_of_the_command(racks, cli):  # noqa: F811
    printed = json.loads(cli("run", "racks.toml", "--no-try", "--no-store", "--json").out)
    with pytest.warns(fanin.ScenarioWarning, match="the bottleneck is .*, not .*, so the queue is that of") as caught:
        run = fanin.Scenario("racks.toml").run()
    assert {each.filename for each in caught} == {__file__}
    assert (run.run_id, run.summary["queue_max_packets"]) == (printed["run_id"], printed["queue_max_packets"])


def test_what_the_totals_of_a_run_say_is_a_warning(small):
    with pytest.warns(fanin.ScenarioWarning, match="finite flows were not complete at the end of the run"):
        small.set("run.duration", "6ms").run()


def test_a_sweep_of_a_scenario_in_which_nothing_varies_has_a_run_for_each_seed(work):
    runs = fanin.sweep(fanin.Scenario(TABLES), seeds=range(2, 5), out=None)
    assert [point.seed for point, _ in runs] == runs.frame()["seed"].to_list() == [2, 3, 4]


def test_a_sweep_that_is_stopped_returns_what_has_finished(small):
    runs = fanin.sweep(small, out=None, jobs=1, progress=lambda now: now.done < 2)
    assert 2 <= len(runs) < 18
    assert len(runs) + len(runs.missing) == 18
    assert runs.frame().height == len(runs)
    assert "it did not begin" in runs.without()[0]
    again = fanin.sweep(small, out=None, progress=lambda _: None)
    assert (len(again), again.missing) == (18, [])


def test_a_question_that_is_stopped_keeps_what_has_finished(small):
    with pytest.raises(fanin.RunError, match="finished runs are kept"):
        fanin.compare(small, ["newreno", "dctcp"], goal="goodput", jobs=1, progress=lambda now: now.simulated < 2)
    assert len(stored()) >= 2


def test_pandas_frames_need_no_pyarrow(small, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    flows = small.run().flows()
    found = fanin.to_pandas(flows)
    assert list(found.columns) == flows.columns
    assert found["fct_s"].isna().sum() == flows["fct_s"].null_count() == 1
    assert found.groupby("group", observed=True)["bytes"].count().to_dict() == {"background": 0, "bursts": 3}
    runs = fanin.sweep(small, seeds=[1], out=None)
    assert isinstance(fanin.to_pandas(runs), pandas.DataFrame)
    assert len(fanin.to_pandas(runs)) == 6


def test_without_pandas_the_error_has_the_command_that_installs_it(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(fanin.NotFoundError, match="-m pip install pandas"):
        fanin.to_pandas(pl.DataFrame({"a": [1]}))


PAGES = Path(__file__).parents[2] / "docs"


def run_the_code_of(page):
    """Runs the blocks of code of a page, one after the other."""
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        for block in re.findall(r"(?ms)^```python\n(.*?)^```$", page):
            exec(compile(block, "python.md", "exec"), names)


@pytest.mark.skipif(not PAGES.is_dir(), reason="an installed package has no pages")
def test_the_code_of_the_page_runs(work):
    page = (PAGES / "how-to/python.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 95
    run_the_code_of(page)
    assert Path("fct.pdf").is_file()


@pytest.mark.skipif(not PAGES.is_dir(), reason="an installed package has no pages")
def test_the_code_of_the_page_about_schemes_runs(work):
    run_the_code_of((PAGES / "how-to/python-scheme.md").read_text(encoding="utf-8"))


@pytest.mark.skipif(not PAGES.is_dir(), reason="an installed package has no pages")
def test_the_reference_has_all_that_is_exported():
    page = (PAGES / "reference/python.md").read_text(encoding="utf-8")
    missing = [name for name in fanin.__all__ if not re.search(rf"\b{name}\b", page)]
    assert missing == ["__version__", "engine_version"]
