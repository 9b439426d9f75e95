"""``fanin sweep``."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from patches import before_runs

import fanin
from fanin.errors import RunError
from fanin.numbers.stats import NO_SPREAD, mean_interval
from fanin.results import files
from fanin.results.store import Store
from fanin.show.plots.series import is_uneven, named
from fanin.show.sweep_folder import scale_of

SWEEP = ("sweep", "small.toml", "--set", "network.buffer=10pkt..30pkt:20pkt", "--columns", "goodput_bps")


def data_set(out: str) -> dict[str, bytes]:
    """The bytes of every file of the one sweep in a results folder."""
    return {path.name: path.read_bytes() for path in Path(out, "sweeps").glob("*/*")}


def frame(out: str, name: str = "runs") -> pl.DataFrame:
    return pl.read_parquet(next(Path(out, "sweeps").glob(f"*/{name}.parquet")))


def failing(monkeypatch, **settings):
    """Runs with these settings break an invariant; everything else is simulated."""

    def look(run):
        if {(path.replace("_", "."), value) for path, value in settings.items()} <= set(run):
            raise RunError("a packet is missing")

    before_runs(monkeypatch, look)


def test_the_data_set_has_a_row_per_run_with_every_total(cli, work):
    result = cli(*SWEEP)
    assert result.code == 0, result.err
    runs = frame("results")
    keys = ["transport.scheme", "traffic.bursts.senders", "network.buffer", "seed"]
    assert runs.columns[:5] == [*keys, "run_id"]
    assert len(runs) == 2 * 3 * 2 * 3
    # Paired seeds: each point has the same ones, in order.
    assert runs["seed"].to_list() == [1, 2, 3] * 12
    one = dict(zip(keys[:3], runs.row(4)[:3], strict=True))
    run = fanin.Scenario("small.toml").set(one).run(seed=2)
    totals = {name: value for name, value in run.summary.items() if name != "wall_s" and not isinstance(value, list)}
    assert runs.row(4, named=True).items() >= totals.items()
    assert runs["run_id"][4] == run.run_id
    assert runs["groups.bursts.flows"][4] == run.summary["groups"][1]["flows"]
    # The clock's numbers are another each time.
    assert "wall_s" not in runs.columns


def test_the_summary_has_intervals_over_the_seeds(cli, work):
    cli(*SWEEP)
    runs, summary = frame("results"), frame("results", "summary")
    point = {"transport.scheme": "dctcp", "traffic.bursts.senders": 8, "network.buffer": "30pkt"}
    row = summary.filter(column="queue_mean_packets", **point).row(0, named=True)
    mean, half = mean_interval(runs.filter(**point)["queue_mean_packets"].to_numpy())
    assert (row["mean"], row["half"], row["low"], row["high"]) == (mean, half, mean - half, mean + half)
    assert (row["unit"], row["runs"]) == ("pkt", 3)
    assert set(summary["column"]).isdisjoint({"seed", "run_id", "traffic.bursts.senders"})


def test_every_column_of_the_data_set_is_explained(cli, work):
    cli(*SWEEP)
    for name in ("runs", "summary"):
        path = next(Path("results", "sweeps").glob(f"*/{name}.parquet"))
        columns = json.loads(cli("describe", str(path), "--json").out)["files"][0]["columns"]
        assert all(each["description"] for each in columns if not each["name"].startswith("groups.")), columns


def test_the_printed_queries_work(cli, work):
    out = cli(*SWEEP).out.splitlines()
    duckdb, polars = shlex.split(out[-2]), shlex.split(out[-1])
    assert duckdb[:2] == ["duckdb", "-c"]
    # What DuckDB takes as a file, polars takes as a table of that name.
    path = duckdb[2].split('FROM "')[1].split('"')[0]
    sql = duckdb[2].replace(f'"{path}"', "runs").replace("avg", "AVG")
    found = pl.SQLContext(runs=pl.read_parquet(path)).execute(sql.split(" ORDER BY ALL")[0], eager=True)
    assert len(found) == 12
    shown = subprocess.run([sys.executable, *polars[1:]], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("shape: (12, 5)")


def test_the_printed_query_of_seeds_alone_is_of_all_runs(cli, work):
    out = cli("sweep", "small.toml", "--bare", "--set", "run.duration=5ms", "--seeds", "1..2").out.splitlines()
    duckdb, polars = shlex.split(out[-2]), shlex.split(out[-1])
    assert "GROUP" not in duckdb[2]
    assert "True" not in polars[2]
    done = subprocess.run([sys.executable, *polars[1:]], check=True, capture_output=True, text=True)
    assert "len" in done.stdout


def test_a_column_of_text_has_no_mean(cli, work):
    found = cli("sweep", "small.toml", "--columns", "goodput_bps,bottleneck")
    assert found.code == 2
    assert "bottleneck is a text, which has no mean" in " ".join(found.err.replace("│", " ").split())
    found = cli("sweep", "small.toml", "--set", "transport.scheme=dctcp,rcc", "--columns", "transport.scheme")
    assert "transport.scheme varies" in found.err


def test_points_with_flows_that_are_missing_are_named(cli, work):
    few = ("--set", "traffic.bursts.senders=2,8,24,32", "--set", "run.duration=7ms", "--seeds", "1..2", "--bare")
    told = cli("sweep", "small.toml", *few).err
    assert "were not complete at the end of the run, at traffic.bursts.senders = 32 (64); " in told
    assert "; traffic.bursts.senders = 8 (16); 1 more; completion times leave them out" in told
    # One point needs no name.
    told = cli("sweep", "small.toml", "--set", "traffic.bursts.senders=8", *few[2:]).err
    assert "16 of 16 finite flows, in 2 of 2 runs, were not complete at the end of the run; completion" in told


def test_values_that_depend_on_each_other_are_checked_together(cli, work):
    both = ("--bare", "--set", "transport.loss-detection=linux", "--set", "transport.sack=true")
    assert cli("sweep", "small.toml", *both, "--set", "run.duration=5ms", "--seeds", "1").code == 0
    found = cli("sweep", "small.toml", "--bare", *both[1:3], "--set", "transport.sack=true,false")
    assert (found.code, "linux requires selective acknowledgements" in found.err) == (3, True)
    # Also those of a variant beside a sweep variable, and those that change together.
    text = (work / "small.toml").read_text()
    variant = '\n[[variant]]\naxis = "recovery"\nlabel = "linux"\nset = {"transport.loss-detection" = "linux"}\n'
    (work / "variant.toml").write_text(text + variant)
    assert fanin.Scenario("variant.toml").vary({"transport.sack": [True]}).check() is None
    zipped = {"transport.rto-min": ["1ms", "200s"], "transport.rto-max": ["1s", "300s"]}
    assert fanin.Scenario("small.toml").vary(zipped, [list(zipped)]).check() is None
    with pytest.raises(fanin.ScenarioError, match="rto-max: must be at least rto-min"):
        fanin.Scenario("small.toml").vary(zipped).check()
    # A value that is wrong by itself is the one that is named.
    with pytest.raises(fanin.ScenarioError, match="rto-min: must be a time"):
        fanin.Scenario("small.toml").vary({"transport.scheme": ["dctcp"], "transport.rto-min": ["abc"]}).check()


def test_what_no_seed_changes_has_no_interval_in_the_table(cli, work):
    at_once = (
        "--set",
        "traffic.bursts.senders=2,3",
        "--set",
        "traffic.bursts.jitter=0us",
        "--set",
        "network.buffer=1MB",
    )
    out = cli("sweep", "small.toml", *at_once, "--columns", "goodput_bps").out
    assert not re.findall(r"± 0(?!\.)", out)
    assert NO_SPREAD in out


def test_waits_that_the_column_of_timeouts_does_not_count_are_named_where_there_are_any(cli, work):
    grid = ("sweep", "small.toml", "--seeds", "1", "--columns", "goodput_bps")
    said = "(Clopper and Pearson); waits for tail loss probes are no timeouts (column loss_probes)\n"
    assert said not in cli(*grid).out
    linux = cli(*grid, "--bare", "--set", "transport.scheme=linux", "--set", "traffic.bursts.senders=24")
    assert said in linux.out


def test_the_table_and_the_plots(cli, work):
    lines = cli(*SWEEP, "--tsv").out.splitlines()
    assert lines[0] == "# A small incast"
    assert lines[1].split("\t") == ["scheme", "senders", "buffer", "goodput [Mbit/s]", "with a timeout, of 1000"]
    assert lines[2].split("\t")[:3] == ["newreno", "2", "10pkt"]
    assert "±" in lines[2]
    names = {path.name for path in Path("results", "sweeps").glob("*/*")}
    assert names == {
        "runs.parquet",
        "summary.parquet",
        "sweep.json",
        *(f"goodput-bps.{x}" for x in ("png", "svg", "csv")),
    }
    drawn = pl.read_csv(next(Path("results").glob("sweeps/*/goodput-bps.csv")))
    assert drawn["by"].unique().sort().to_list() == ["dctcp, 10pkt", "dctcp, 30pkt", "newreno, 10pkt", "newreno, 30pkt"]


def test_an_axis_is_in_words_and_keeps_points_apart_that_span_orders_of_magnitude(cli, work):
    jitters = "traffic.bursts.jitter=0s,20us,200us,8ms"
    cli("sweep", "small.toml", "--bare", "--set", jitters, "--seeds", "1", "--columns", "goodput_bps")
    drawn = next(Path("results").glob("sweeps/*/goodput-bps.svg")).read_text()
    assert ">Jitter [ms], linear below 0.01<" in drawn
    assert ">0.1<" in drawn
    assert [is_uneven(each) for each in ([1, 2, 3], [1, 10, 100], [-1, 0, 9])] == [False, True, False]
    assert named("transport.rto-min") == "RTO min"


def test_values_that_span_orders_of_magnitude_have_a_logarithmic_axis():
    values = ([0.01, 1.0], [1, 20], [0, 100], [None, 2], [-1, 900])
    assert [scale_of(pl.Series(each)) for each in values] == ["log", "linear", "linear", "linear", "linear"]


def test_plots_of_too_many_lines_are_left_out_and_that_is_said(cli, work):
    more = ("--set", "network.buffer=10pkt..30pkt:10pkt", "--set", "network.delay=10us..40us:10us")
    result = cli("sweep", "small.toml", *more, "--seeds", "1")
    assert result.code == 0, result.err
    assert "a plot would have more than 12 lines" in result.err
    assert not list(Path("results").glob("sweeps/*/*.png"))


def test_json_is_one_object(cli, work):
    found = json.loads(cli(*SWEEP, "--seeds", "7", "--json").out)
    assert (found["runs"], found["failed"], found["seeds"]) == (12, [], [7])
    assert found["keys"] == ["transport.scheme", "traffic.bursts.senders", "network.buffer"]
    assert found["summary"][0]["half"] is None
    assert all(Path(path).is_file() for path in found["paths"])
    assert set(found["query"]) == {"duckdb", "polars"}


def test_keys_that_change_together(cli, work):
    pair = ("--set", "network.rate=1Gbps,2Gbps", "--set", "network.buffer=20pkt,40pkt")
    result = cli("sweep", "small.toml", "--bare", *pair, "--zip", "network.rate,network.buffer", "--seeds", "1")
    assert result.code == 0, result.err
    assert frame("results").select("network.rate", "network.buffer").rows() == [("1Gbps", "20pkt"), ("2Gbps", "40pkt")]
    # One line, as the two keys are one.
    assert pl.read_csv(next(Path("results").glob("sweeps/*/goodput-bps.csv")))["by"].unique().to_list() == [""]


def test_a_value_may_come_again_beside_another_one(cli, work):
    pair = ("--set", "transport.rto-min=9ms,1ms,1ms,9ms", "--set", "transport.rto-max=5s,5s,6s,5s")
    once = ("--set", "network.buffer=20pkt,20pkt")
    words = ("--bare", *pair, *once, "--zip", "transport.rto-min,transport.rto-max", "--seeds", "1")
    assert cli("sweep", "small.toml", *words).code == 0
    steps = [("9ms", "5s", "20pkt"), ("1ms", "5s", "20pkt"), ("1ms", "6s", "20pkt")]
    assert frame("results").select("transport.rto-min", "transport.rto-max", "network.buffer").rows() == steps


def test_what_a_variant_s_label_stands_for_is_not_shown_beside_it(cli, work):
    variants = """
        [[variant]]
        label = "TCP"
        set = { "transport.scheme" = "newreno" }
        [[variant]]
        label = "DCTCP, low"
        [variant.set]
        "transport.scheme" = "dctcp"
        "scheme.dctcp.mark-threshold" = "2pkt"
    """
    (work / "variants.toml").write_text((work / "small.toml").read_text() + variants)
    lines = cli("sweep", "variants.toml", "--seeds", "1", "--columns", "goodput_bps", "--tsv").out.splitlines()
    assert lines[1].split("\t") == ["variant", "senders", "goodput [Mbit/s]", "with a timeout, of 1000"]
    assert lines[2].split("\t")[:2] == ["TCP", "2"]
    assert frame("results").columns[:4] == ["variant", "transport.scheme", "traffic.bursts.senders", "seed"]
    assert "scheme.dctcp.mark-threshold" in frame("results").columns
    told = cli("sweep", "variants.toml", "--seeds", "1", "--set", "run.duration=7ms").err
    assert "run, at variant = TCP, traffic.bursts.senders = 24 (24); variant = DCTCP, low, traffic.bursts" in told


def test_what_is_wrong_is_said_before_anything_runs(cli, work):
    bare = ("sweep", "small.toml", "--bare")
    assert "did you mean" in cli(*bare, "--set", "network.bufer=1pkt,2pkt").err
    assert cli(*bare, "--set", "network.buffer=5pkt..80pkt").code == 2
    assert cli(*bare, "--set", "network.buffer=5pkt", "--set", "network.buffer=6pkt").code == 2
    assert cli(*bare, "--columns", "godput_bps").code == 2
    assert cli(*bare, "--tables", "flow").code == 2
    assert cli(*bare, "--set", "network.buffer=1pkt,2pkt", "--zip", "network.buffer,network.rate").code == 3
    assert not Path("results").exists()


def test_a_killed_sweep_goes_on_and_leaves_the_same_bytes(work):
    """Twenty times killed, at any place: nothing is lost, made twice or left in halves."""
    driver = Path(__file__).with_name("kill_sweep.py")
    done = subprocess.run([sys.executable, driver], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 kills")
    assert done.stdout.endswith("3 kills at renames\n")


def test_a_failed_run_is_recorded_and_tried_again_when_asked(cli, work, monkeypatch):
    with monkeypatch.context() as patched:
        failing(patched, transport_scheme="dctcp", network_buffer="10pkt", run_seed="2")
        result = cli(*SWEEP)
    assert result.code == 1
    assert "error: transport.scheme dctcp, traffic.bursts.senders 2, network.buffer 10pkt, seed 2" in result.err
    assert "3 of 36 runs failed" in result.err
    assert len(frame("results")) == 33
    failed = json.loads(data_set("results")["failed.json"])
    assert [(each["seed"], each["error"]) for each in failed] == [(2, "a packet is missing")] * 3
    assert failed[0]["scenario"]["run"]["seed"] == 2
    assert failed[0]["scenario"]["network"]["buffer"] == "10pkt"
    # Nothing has changed, so nothing is simulated.
    again = cli(*SWEEP)
    assert (again.code, "3 of 36 runs failed" in again.err) == (1, True)
    assert cli(*SWEEP, "--failed").code == 0
    assert "failed.json" not in data_set("results")
    cli(*SWEEP, "--out", "undisturbed")
    assert data_set("results") == data_set("undisturbed")


def test_what_broke_off_for_want_of_memory_is_tried_again(cli, work, monkeypatch):
    def look(settings):
        if ("run.seed", "2") in settings:
            raise MemoryError

    with monkeypatch.context() as patched:
        before_runs(patched, look)
        result = cli(*SWEEP)
    assert (result.code, "12 of 36 runs failed" in result.err) == (1, True)
    assert "there was not enough memory; the next command retries it" in result.err
    assert cli(*SWEEP).code == 0
    cli(*SWEEP, "--out", "undisturbed")
    assert data_set("results") == data_set("undisturbed")


def test_everything_is_on_the_disk_before_it_counts(cli, work, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "sync", lambda path: synced.append(Path(path)))
    cli(*SWEEP, "--bare", "--seeds", "1", "--tables", "flows")
    assert set(data_set("results")) <= {path.name for path in synced}
    # The names in the folder too, and that of the finished folder.
    assert Path("results/sweeps") in synced
    assert sum(path.name.startswith(".tmp-") and path.parent == Path("results/sweeps") for path in synced) == 1


def test_results_that_somebody_removes_meanwhile_are_no_results(cli, work, monkeypatch):
    close = Store.close

    def removed(store):
        shutil.rmtree(store.root)
        close(store)

    monkeypatch.setattr(Store, "close", removed)
    result = cli(*SWEEP)
    assert (result.code, "removed while it was written" in result.err) == (3, True)


def test_ctrl_c_exits_with_130(cli, work, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fanin.run.pool.outcomes", interrupted)
    result = cli(*SWEEP)
    assert (result.code, "the same command continues from there" in result.err) == (130, True)
