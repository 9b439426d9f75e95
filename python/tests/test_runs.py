"""Runs and sweeps: the same answer every time, on any number of threads, from the store or fresh."""

import io
import json
import math
import os
import struct
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from patches import altered, stored

import fanin
from fanin.digests import digest
from fanin.errors import ResultsError
from fanin.numbers.stats import percentile
from fanin.results.columns import jain
from fanin.results.files import beside
from fanin.results.frames import decode, meanings_in, parquet_of
from fanin.results.store import Store
from fanin.scenario import library, remarks
from fanin.scenario.points import points
from fanin.scenario.run_id import ids_of_seeds, run_id, simulated


@pytest.fixture
def small(work):
    return fanin.Scenario("small.toml")


def hashes(runs):
    return runs.frame()["result_hash"].to_list()


def test_two_runs_are_the_same(small):
    first, second = small.run(seed=3), small.run(seed=3)
    assert first.summary["result_hash"] == second.summary["result_hash"]
    assert first.run_id == second.run_id
    assert first.flows().equals(second.flows())
    assert small.run(seed=4).summary["result_hash"] != first.summary["result_hash"]


def test_one_and_two_threads_give_the_same_in_the_same_order(small):
    one = fanin.sweep(small, jobs=1, out=None)
    two = fanin.sweep(small, jobs=2, out=None)
    assert hashes(one) == hashes(two)
    assert [point for point, _ in one] == [point for point, _ in two] == points(small)


def test_a_stored_run_is_found_again_and_is_the_same(small):
    fresh = fanin.sweep(small, out="results", seeds=[1])
    seen = stored()
    assert len(seen) == len(fresh) == 6
    again = fanin.sweep(small, out="results", seeds=[1])
    assert seen == stored()
    assert fresh.frame().equals(again.frame())
    assert again.flows().height == sum(run.summary["flows"] for _, run in again)


def test_a_run_of_a_sweep_is_stored_as_one_alone_is(small):
    fanin.sweep(small, out="results")
    assert len(stored()) == 18
    for name, run in stored().items():
        overrides = {
            "transport.scheme": run.scenario["transport"]["scheme"],
            "traffic.bursts.senders": run.scenario["traffic"][1]["senders"],
        }
        alone = small.set(overrides).run(seed=run.scenario["run"]["seed"], out=Store("alone"))
        assert alone.run_id == name
        assert run.summary | {"wall_s": 0} == alone.summary | {"wall_s": 0}
        assert run.scenario == alone.stored.scenario
        assert run.tables == ["flows", "queues"]
        assert all(run.content(table) == alone.stored.content(table) for table in run.tables)


def test_a_rerun_takes_the_place_of_a_stored_run_and_keeps_its_tables(small):
    store = Store("results")
    first = small.run(out=store)
    altered("results", "UPDATE tables SET content = '' WHERE name = 'flows'")
    second = small.run(out=store)
    assert second.stored.tables == first.stored.tables
    assert store.find(second.run_id, ["flows"]).table("flows").height == 4
    assert list(stored()) == [second.run_id]


def test_ids_of_seeds_are_those_of_their_scenarios(small):
    resolved = [small.resolved({"run.seed": seed}) for seed in (1, 22, 333)]
    expected = [digest([simulated(each), fanin.engine_version()]) for each in resolved]
    assert ids_of_seeds(resolved[0], [1, 22, 333]) == expected == [run_id(each) for each in resolved]


def test_no_run_of_a_call_starts_after_its_time_except_the_first(small):
    seeds = [1, 2, 3]
    assert len(small.simulate_seeds([], seeds, 1e9)) == 3
    assert len(small.simulate_seeds([], seeds, 0.0)) == 1
    outputs = small.simulate_seeds([], seeds, 1e9)
    alone = [small.run(seed=seed).summary["result_hash"] for seed in seeds]
    assert [json.loads(each.summary)["result_hash"] for each in outputs] == alone
    assert decode(outputs[0].columns("flows")).height == 4


def test_a_change_of_the_scenario_changes_the_id_but_a_title_does_not(small, work):
    base = small.run().run_id
    assert small.set([("network.delay", "34us")]).run().run_id != base
    text = (work / "small.toml").read_text()
    (work / "titled.toml").write_text(text.replace("A small incast", "Another title").replace("33us", "33000ns"))
    assert fanin.Scenario("titled.toml").run().run_id == base


def test_frames_have_types(small):
    run = small.run()
    flows = run.flows()
    assert flows.height == run.summary["flows"] == 4
    assert flows.schema["bytes"] == pl.UInt64
    assert flows.schema["fct_s"] == pl.Float64
    assert flows["group"].cast(pl.String).unique().sort().to_list() == ["background", "bursts"]
    assert flows.filter(pl.col("bytes").is_null()).height == 1
    assert run.queues().height >= 1
    with pytest.raises(fanin.ResultsError, match="no table nonsense"):
        run.table("nonsense")


def test_every_stored_table_equals_the_one_in_memory(small):
    run = small.run(out=Store("results"))
    for name in run.stored.tables:
        stored, memory = run.stored.table(name), decode(run.output.columns(name))
        assert stored.columns == memory.columns
        assert stored.cast(memory.schema).equals(memory)


def test_columns_of_every_type_become_a_frame():
    columns = [
        ("count", "u64", struct.pack("<3Q", 1, 2, 2**63), None),
        ("some", "u64", struct.pack("<3Q", 1, 0, 3), b"\1\0\1"),
        ("rate", "f64", struct.pack("<3d", 0.1, math.nan, math.inf), None),
        ("mean", "f64", struct.pack("<3d", 0.5, 0.0, -0.0), b"\1\0\1"),
        ("is", "bool", b"\1\0\1", None),
        ("port", "text", ["a", "b", ""], None),
        ("group", "label", struct.pack("<3I", 1, 0, 1), ["x", "y"]),
    ]
    frame = decode(columns)
    values = [frame[name].to_list() for name in frame.columns]
    assert values[:2] == [[1, 2, 2**63], [1, None, 3]]
    assert (values[2][0], math.isnan(values[2][1]), values[2][2]) == (0.1, True, math.inf)
    assert values[3:] == [[0.5, None, -0.0], [True, False, True], ["a", "b", ""], ["y", "x", "y"]]
    assert frame.schema["group"] == pl.Categorical
    none = ([*column[:2], column[2][:0], column[3] if isinstance(column[3], list) else None] for column in columns)
    empty = decode(none)
    assert (empty.schema, empty.height) == (frame.schema, 0)
    assert pl.read_parquet(parquet_of(frame)).equals(frame)


def test_a_stored_table_tells_unit_and_meaning_of_its_columns(small):
    told = meanings_in(io.BytesIO(small.run(out=Store("results")).stored.content("flows")), "flows")
    assert told["fct_s"]["unit"] == "s"
    assert all(each["description"] for each in told.values())
    assert list(told) == small.run().flows().columns


def test_a_table_that_was_not_recorded_is_no_empty_one(small):
    stored, alone = small.run(out=Store("results")), small.run()
    ((_, swept), *_) = fanin.sweep(small, seeds=[1], out=None)
    for run in (stored, alone, swept):
        with pytest.raises(fanin.ResultsError, match=r"did not record queue-trace: it needs measure\.queue-trace"):
            run.table("queue-trace")
    assert len(small.set({"measure.queue-trace": "on-change"}).run().table("queue-trace"))


def test_a_light_run_says_which_table_it_lacks(small):
    runs = fanin.sweep(small, seeds=[1], out="results")
    with pytest.raises(fanin.ResultsError, match="links is not stored"):
        runs.finished[0][1].links()


def test_progress_is_told_and_can_stop_a_run(small):
    fractions = []
    small.run(progress=lambda fraction: fractions.append(fraction) or True)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert fractions == sorted(fractions)
    with pytest.raises(fanin.RunError, match="stopped"):
        small.set([("traffic.bursts.senders", "0"), ("run.duration", "30s")]).run(progress=lambda _: False)


def test_what_progress_raises_comes_out(small):
    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        small.set([("traffic.bursts.senders", "0"), ("run.duration", "30s")]).run(progress=fail)


def test_a_killed_run_leaves_nothing_that_counts(small):
    store = Store("results")
    store.prepare()
    young, old = store.root / ".tmp-young", store.root / ".tmp-old"
    for leftover in (young, old):
        leftover.mkdir()
        (leftover / "flows.parquet").write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    store.prepare()
    assert young.is_dir()
    assert not old.exists()
    runs = fanin.sweep(small, seeds=[1], out="results")
    assert len(runs) == 6


def test_what_a_killed_process_was_writing_is_removed_at_once(small):
    store = Store("results")
    store.prepare()
    code = "import sys, pathlib; from fanin.results.files import beside; beside(pathlib.Path(sys.argv[1])).mkdir()"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    subprocess.run([sys.executable, "-c", code, store.root / "x"], check=True, env=os.environ | {"PYTHONPATH": path})
    mine = beside(store.root / "x")
    mine.mkdir()
    assert len(list(store.root.glob(".tmp-*"))) == 2
    store.prepare()
    assert list(store.root.glob(".tmp-*")) == [mine]


def test_manifests_name_the_packages(small):
    stored = small.run(out=Store("results")).stored
    assert f"polars {version('polars')}" in stored.manifest["packages"]


def test_notebooks_show_something(small):
    run = small.run()
    runs = fanin.sweep(small, seeds=[1], out=None)
    for thing in (small, run, runs):
        assert thing._repr_html_().startswith("<table>")


def test_variables_that_are_given_join_those_of_the_file_or_replace_them(small):
    values = {"traffic.bursts.senders": [4, 5], "network.buffer": ["10pkt", "20pkt"]}
    added = points(small.vary(values), [1])
    assert len(added) == 2 * 2 * 2
    assert {point.values["transport.scheme"] for point in added} == {"newreno", "dctcp"}
    zipped = points(small.vary(values, [list(values)], bare=True), [1])
    assert [tuple(point.values.values()) for point in zipped] == [(4, "10pkt"), (5, "20pkt")]
    assert len(points(small.vary({}, bare=True), [1, 2])) == 2
    with pytest.raises(fanin.ScenarioError, match=r"together: network.bufer: does not vary .did you mean"):
        small.vary(values, [["network.bufer", "traffic.bursts.senders"]])
    with pytest.raises(fanin.ScenarioError, match=r"set: network.bufer: unknown key"):
        small.vary({"network.bufer": ["1pkt"]}).check()


def test_what_a_variant_sets_impossible_given_too(work):
    variant = '[[variant]]\nlabel = "TCP"\nset = { "transport.rto-min" = "1ms" }\n'
    (work / "variants.toml").write_text((work / "small.toml").read_text() + variant)
    experiment = fanin.Scenario("variants.toml")
    with pytest.raises(fanin.ScenarioError, match=r"transport.rto-min: the variant 'TCP' of the file sets it"):
        experiment.vary({"transport.rto-min": ["2ms"]})
    assert len(points(experiment.vary({"transport.rto-min": ["2ms"]}, bare=True), [1])) == 1


def test_quick_thins_long_sweeps_only(work):
    text = (work / "small.toml").read_text().replace("[2, 8, 24]", '"1..10"')
    (work / "long.toml").write_text(text)
    quick = points(fanin.Scenario("long.toml"), quick=True)
    senders = sorted({point.values["traffic.bursts.senders"] for point in quick})
    assert senders == [1, 6, 10]
    assert {point.seed for point in quick} == {1}


def test_the_shipped_experiments_are_valid():
    names = library.experiments()
    assert {name.split("/")[0] for name in names} >= {"pfdct", "dtcwa", "rcc", "sdtcp", "rcce"}
    for name in names:
        experiment = fanin.Scenario(name)
        experiment.check()
        assert all(case.why for case in experiment.document.cases), name
        assert not remarks.unequal(experiment.variants, experiment.sweep.variables), name


def test_a_temporary_folder_that_vanishes_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may finish its run between the listing of temporary folders and the look at one of them."""
    store = Store(tmp_path)
    store.prepare()
    gone = store.root / ".tmp-gone"
    monkeypatch.setattr(Path, "glob", lambda _self, _pattern: iter([gone]))
    store.prepare()
    assert not gone.exists()


MANY = """\
[network]
topology = "star"
[[traffic]]
name = "many"
kind = "sessions"
bytes-each = "3KB"
count = 2000
concurrent = 8
senders = 4
[run]
duration = "5s"
"""


def test_rows_of_finished_flows_wait_on_the_disk_and_are_gone_after_it(work):
    (work / "many.toml").write_text(MANY)
    many = fanin.Scenario("many.toml")
    store, in_memory = Store("results"), many.run()
    while_running: set[int] = set()

    def look(_: float) -> bool:
        while_running.update(path.stat().st_size for path in store.root.glob(".tmp-*") if path.is_file())
        return True

    stored = many.run(out=store, progress=look)
    assert max(while_running) > 0
    assert stored.summary["result_hash"] == in_memory.summary["result_hash"]
    assert stored.stored is not None
    assert stored.stored.table("flows").equals(in_memory.flows())
    assert stored.flows().equals(in_memory.flows())
    del stored
    store.close()
    assert [path.name for path in store.root.iterdir()] == ["fanin.db"]


def test_rows_of_equal_seeds_wait_in_a_file_for_each_run(work):
    """As when two threads of a process simulate one seed of two scenarios."""
    (work / "many.toml").write_text(MANY)
    handle, store = fanin.Scenario("many.toml").handle(), Store("results")
    held = [handle.run_seeds([1, 2], 600.0, None, store.spill()) for _ in range(2)]
    first, second = ([json.loads(output.summary)["result_hash"] for output in outputs] for outputs in held)
    assert first == second
    assert len(list(store.root.glob(".tmp-*"))) == 4


def test_rows_that_find_no_room_are_told_as_what_impossible_written(work, monkeypatch):
    (work / "many.toml").write_text(MANY)
    monkeypatch.setattr(Store, "spill", lambda _: Path("/dev/full/nowhere"))
    with pytest.raises(ResultsError, match="/dev/full/nowhere: "):
        fanin.Scenario("many.toml").run(out=Store("results"))
    assert stored() == {}


def test_percentiles_and_jains_index_are_those_of_the_engine(small):
    run = small.run()
    bursts = run.flows().filter(group="bursts")
    times = bursts["fct_s"].to_numpy()
    assert len(times) == run.summary["completed"] == 3
    for name, percent in {"fct_p50_s": 50, "fct_p95_s": 95, "fct_p99_s": 99, "fct_max_s": 100}.items():
        assert run.summary[name] == percentile(times, percent)
    totals = next(group for group in run.summary["groups"] if group["group"] == "bursts")
    assert totals["jain"] == pytest.approx(jain(bursts["bytes"].to_numpy() / times), rel=1e-9)


def test_nothing_is_shared_fairly_where_nobody_gets_anything():
    assert jain(np.zeros(3)) is None
    assert jain(np.array([1e200, 1e200])) == 1.0
    assert jain(np.array([0.0, 0.0, 5.0, 0.0])) == 0.25
