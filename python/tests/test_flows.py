import hashlib
import io
import json

import polars as pl
import pytest
from patches import stored

from fanin.errors import ResultsError, RunError, ScenarioError
from fanin.numbers import fct
from fanin.results.store import Store
from fanin.run import pool
from fanin.run.job import Job
from fanin.run.scenario import Scenario

LIST = "start_us,src,dst,bytes,class,deadline_us\n0,0,20,1460,small,\n0,1,20,1460,small,100\n5,2,3,150000,,\n"


@pytest.fixture
def scenario(listed):
    listed.with_name("list.csv").write_text(LIST, encoding="utf-8")
    return listed


def test_flows_of_a_file_run_with_class_and_deadline(scenario):
    flows = Scenario(scenario).run().table("flows")
    assert flows["bytes"].to_list() == [1460, 1460, 150000]
    assert flows["start_s"].to_list() == pytest.approx([0, 0, 5e-6])
    assert flows["class"].cast(pl.String).to_list() == ["small", "small", "flows"]
    assert flows["deadline_s"].to_list() == [None, pytest.approx(1e-4), None]


def test_a_bad_line_is_named_and_nothing_runs(scenario):
    (scenario.parent / "list.csv").write_text(LIST + "6,2,64,1,,\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"traffic\.flows\.file: list\.csv:5: dst 64, and .to. has 64 hosts"):
        Scenario(scenario).run()
    with pytest.raises(ScenarioError, match=r"none\.csv: No such file"):
        Scenario(scenario).set({"traffic.flows.file": "none.csv"}).check()


def test_another_content_is_another_run(scenario):
    first = Scenario(scenario).run().run_id
    assert Scenario(scenario).run().run_id == first
    (scenario.parent / "list.csv").write_text(LIST.replace("150000", "150001"), encoding="utf-8")
    assert Scenario(scenario).run().run_id != first


def test_a_file_that_changes_under_a_run_ends_it(scenario):
    path = scenario.parent / "list.csv"
    rows = "".join(f"{i},{i % 16},20,100000,,\n" for i in range(0, 100000, 10))
    path.write_text(LIST.splitlines()[0] + "\n" + rows, encoding="utf-8")
    done = False

    def spoil(_):
        nonlocal done
        if not done:
            with path.open("r+b") as file:
                file.truncate(100_000)
                file.seek(0, io.SEEK_END)
                file.write(b"nonsense\n")
            done = True
        return True

    with pytest.raises(RunError, match=r"list\.csv:\d+: "):
        Scenario(scenario).run(progress=spoil)


OTHER = LIST.replace("150000", "150001")


def test_a_list_that_is_another_one_for_as_long_as_it_is_read_is_refused(scenario, monkeypatch):
    path = scenario.parent / "list.csv"
    real = Scenario.simulate_seeds

    def simulate_seeds(self, *others):
        path.write_text(OTHER, encoding="utf-8")
        try:
            return real(self, *others)
        finally:
            path.write_text(LIST, encoding="utf-8")

    monkeypatch.setattr(Scenario, "simulate_seeds", simulate_seeds)
    results = scenario.parent / "results"
    (outcome,) = pool.outcomes([Job(Scenario(scenario), [("run.seed", "1")])], results)
    assert "file-sha256: list.csv has another one" in str(outcome)
    assert not [*results.glob("runs/*")]


def test_a_given_fingerprint_is_compared(scenario):
    digest = hashlib.sha256(LIST.encode()).hexdigest()
    Scenario(scenario).set([("traffic.flows.file-sha256", digest)]).run()
    with pytest.raises(ScenarioError, match=r"file-sha256: list\.csv has another one"):
        Scenario(scenario).set([("traffic.flows.file-sha256", digest[::-1])]).run()


@pytest.mark.parametrize(
    ("named", "simulated"), [(OTHER, None), (OTHER, LIST), (None, OTHER)], ids=["before", "before-and-back", "during"]
)
def test_a_run_of_a_changed_list_is_not_kept_as_that_of_the_old_one(scenario, monkeypatch, named, simulated):
    path = scenario.parent / "list.csv"
    real = Scenario.simulate_seeds

    def put(text):
        if text is not None:
            path.write_text(text, encoding="utf-8")

    def simulate_seeds(self, *others):
        outputs = real(self, *others)
        put(simulated)
        return outputs

    # What is looked for is named, and has not begun.
    monkeypatch.setattr(Store, "find", lambda *_, **__: put(named))
    monkeypatch.setattr(Scenario, "simulate_seeds", simulate_seeds)
    results = scenario.parent / "results"
    with pytest.raises(ResultsError, match=r"list\.csv \(SHA-256 \w{12}\.\.\., not \w{12}\.\.\.\) has changed since"):
        pool.outcomes([Job(Scenario(scenario), [("run.seed", "1")])], results)
    assert stored(results) == {}
    if simulated == OTHER:
        put(LIST)
        run = Scenario.simulate
        monkeypatch.setattr(Scenario, "simulate", lambda *rest, **more: (run(*rest, **more), put(simulated))[0])
        with pytest.raises(ResultsError, match="has changed since"):
            Scenario(scenario).run(out=Store(results))


def test_slowdown_of_lone_flows_is_one_if_they_can_send_all_at_once(scenario):
    def lone(window):
        flows = fct.complete(Scenario(scenario).set({"transport.initial-window": window}).run().table("flows"))
        one = flows.filter(pl.col("bytes") == 150000)
        return [fct.by_size(one, fct.DEFINITIONS[each])[0]["slowdown_p50"] for each in ("homa", "hpcc")]

    homa, hpcc = lone("200mss")
    assert homa == pytest.approx(1.0, abs=1e-6)
    assert hpcc >= 1.0
    # A window that has to open is no part of either ideal, and the words say so.
    assert min(lone("2mss")) > 1.04
    assert "with an unlimited window" in fct.DEFINITIONS["homa"].says


def test_bins_have_equally_many_flows_and_classes_add_up():
    size = list(range(1, 101))
    flows = pl.DataFrame({
        "flow": size, "group": ["a"] * 100, "class": ["x", "y"] * 50, "bytes": size,
        "fct_s": [float(each) for each in size], "ideal_s": [1.0] * 100, "ideal_hpcc_s": [50.0] * 100,
    })  # fmt: skip
    bins = fct.by_size(fct.complete(flows), fct.DEFINITIONS["hpcc"])
    assert [each["flows"] for each in bins] == [5] * 20
    assert bins[0]["slowdown_p99.9"] == 1.0
    assert bins[-1]["slowdown_p50"] == 98 / 50
    tenths = fct.by_size(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert [(each["bytes_from"], each["bytes_to"]) for each in tenths][:2] == [(1, 10), (11, 20)]
    assert tenths[0]["slowdown_p95"] == 10.0
    classes = fct.by_class(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert [(each["class"], each["flows"]) for each in classes] == [("x", 50), ("y", 50), ("all", 100)]
    curves = fct.cdf(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert curves.filter(pl.col("class") == "y")["share"].to_list()[-1] == 1.0
    assert curves.height == 200


def test_bins_with_the_same_edges_are_one():
    size = [1] * 95 + [2] * 3 + [3] * 2
    flows = pl.DataFrame({
        "flow": range(100), "group": ["a"] * 100, "class": ["x"] * 100, "bytes": size,
        "fct_s": [1.0] * 60 + [2.0] * 40, "ideal_s": [1.0] * 100, "ideal_hpcc_s": [1.0] * 100,
    })  # fmt: skip
    bins = fct.by_size(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert [(each["bytes_from"], each["bytes_to"], each["flows"]) for each in bins] == [(1, 1, 90), (1, 3, 10)]
    assert bins[0]["slowdown_mean"] == pytest.approx(120 / 90)
    curve = fct.cdf(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert curve.rows() == [("x", 0.6, 1.0, 1.0), ("x", 1.0, 2.0, 2.0)]


def test_distributions_of_no_finished_flow_are_an_empty_table(scenario, cli, tmp_path):
    flows = Scenario(scenario).run().table("flows").with_columns(pl.lit(None, pl.Float64).alias("fct_s"))
    flows.write_parquet(tmp_path / "flows.parquet")
    result = cli("describe", "--slowdown", "homa", str(tmp_path / "flows.parquet"), "--cdf", str(tmp_path / "cdf.csv"))
    assert (result.code, (tmp_path / "cdf.csv").read_text()) == (0, "class,share,fct_s,slowdown\n")


def test_flow_tables_of_two_engines_are_not_taken_together(scenario, cli, tmp_path):
    flows = Scenario(scenario).run().table("flows")
    flows.write_parquet(tmp_path / "one.parquet")
    flows.drop("deadline_s").write_parquet(tmp_path / "two.parquet")
    result = cli(
        "describe", "--slowdown", "homa", *(str(tmp_path / f"{name}.parquet") for name in ("one", "one", "two"))
    )
    assert result.code == 3
    assert "two.parquet: not the columns of" in result.err


def test_long_times_and_large_slowdowns_are_plain_numbers():
    row = dict.fromkeys(("bytes_from", "bytes_to", "flows"), 1000)
    row |= {"fct_p50_s": 0.0109, "fct_p99_s": 0.2698}
    row |= {f"slowdown_{of}": 12345.6 for of in ("mean", "p50", "p95", "p99", "p99.9")}
    assert fct.shown(row)[3:6] == ["10.9 ms", "269.8 ms", "12,346"]


def test_runs_without_a_table_of_flows_are_left_out(cli, work):
    assert cli("compare", "small.toml", "--seeds", "1", "--schemes", "newreno,dctcp").code == 0
    lacking = f"results/{min(stored())}"
    result = cli("describe", "--slowdown", "homa", lacking)
    assert (result.code, result.err) == (3, f"error: {lacking}: no table flows is stored; 'fanin run' stores it\n")
    whole = json.loads(cli("run", "small.toml", "--seed", "9", "--json").out)["stored"]
    result = cli("describe", "--slowdown", "homa", lacking, whole, "--json")
    assert (result.code, "1 of 2 runs have no table flows" in result.err) == (0, True), result.err
    assert json.loads(result.out)["flows"] > 0


def test_runs_of_different_scenarios_are_combined_with_a_warning(cli, work):
    for given in ([], ["--seed", "2"]):
        assert cli("run", "small.toml", *given).code == 0
    alike = [f"results/{name}" for name in stored()]
    assert len(alike) == 2
    assert "warning" not in cli("describe", "--slowdown", "homa", *alike).err
    assert cli("run", "small.toml", "--set", "transport.mss=1000B", "--set", "transport.scheme=dctcp").code == 0
    every = [f"results/{name}" for name in stored()]
    for command in (["describe", "--slowdown", "homa", *every], ["export", *every]):
        err = cli(*command).err
        assert "warning: runs of different scenarios are combined: they differ in transport.scheme" in err
        assert "transport.mss" in err or "more keys" in err
