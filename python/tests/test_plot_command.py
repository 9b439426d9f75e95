"""``fanin plot``: pictures of any run or sweep."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import polars as pl
import pytest
from patches import stored

import fanin
from fanin.errors import FaninError
from fanin.numbers.summary import column
from fanin.results.stored_runs import Shown, ShownRuns, of_store
from fanin.scenario.format.plot import Plot
from fanin.show.plots import drawing, of_runs
from fanin.show.plots.of_runs import Asked, distributed, drawn, needs
from fanin.show.plots.series import Series

FAST = ("--set", "traffic.bursts.senders=8", "--set", "run.duration=200ms")


def shown(scenario, values, what, asked=None):
    """Runs of a scenario with what the picture needs, one for each value of the scheme."""
    found = fanin.Scenario(scenario).set(needs(what, asked or Asked(), fanin.Scenario(scenario).resolved()["measure"]))
    runs = []
    for value in values:
        given = {"transport.scheme": value, "run.duration": "200ms"}
        run = found.set(given).run()
        runs.append(Shown({"scheme": value, "seed": 1}, run.table, found.resolved(given), run.summary, value))
    return ShownRuns(runs, {})


@pytest.mark.parametrize("name", ["queue.png", "queue.svg", "queue.pdf"])
def test_a_picture_of_two_schemes_is_one_command(cli, work, name):
    done = cli("plot", "queue", "small.toml", *FAST, "--set", "transport.scheme=newreno,dctcp", "--file", name)
    assert done.code == 0
    assert done.out.strip() == name
    begins = (work / name).read_bytes()[:4]
    assert begins == {".png": b"\x89PNG", ".svg": b"<?xm", ".pdf": b"%PDF"}[f".{name[-3:]}"]
    if name.endswith(".svg"):
        text = (work / name).read_text()
        assert all(each in text for each in ("newreno", "dctcp", "buffer 20 packets"))


def test_a_grid_that_is_not_drawn_is_named(cli, work):
    said = cli("plot", "queue", "small.toml", *FAST).err
    assert "[sweep] and [variant] are not drawn here: `fanin reproduce small.toml` draws a [[plot]] of them" in said
    plain = (work / "small.toml").read_text().partition("[sweep]")[0]
    for name, grid in [("plain", ""), ("seeds", '[sweep]\nseeds = "1..3"\n')]:
        (work / f"{name}.toml").write_text(plain + grid)
        assert "not drawn" not in cli("plot", "queue", f"{name}.toml", *FAST).err


@pytest.mark.parametrize(("style", "inches", "text"), [("page", 6.4, 9), ("column", 3.33, 8), ("slide", 10.0, 18)])
def test_a_picture_has_the_size_of_where_it_goes(style, inches, text):
    data = pl.DataFrame({"by": ["a", "b"], "x": [1.0, 1.0], "mean": [1.0, 2.0], "half": [0.0, 0.0], "runs": [1, 1]})
    plot = Plot(kind="line", x="seed", y="goodput_bps", title="What it shows", note="A note.", style=style)
    series = Series(data, column("seed"), column("goodput_bps"))
    with mpl.rc_context(drawing.STYLE):
        figure = drawing._figure(plot, series)
    (axes,) = figure.axes
    assert figure.get_figwidth() == inches
    assert axes.yaxis.label.get_fontsize() == text
    assert len({line.get_linewidth() for line in axes.lines if line.get_xdata().size}) == 1
    told = [" ".join(each.get_text().split()) for each in figure.texts]
    definition = column("goodput_bps").definition
    assert axes.get_ylabel().replace("\n", " ") == "Goodput of all flows [Mbit/s]"
    note = f"Goodput of all flows [Mbit/s]: {definition} A note."
    assert told == ([] if style == "column" else ["What it shows", note])
    if style == "column":
        assert drawing.caption(plot, series).startswith("What it shows. ")
        assert definition in drawing.caption(plot, series)
        assert drawing.caption(plot, series).endswith(" A note.\n")


def test_a_picture_of_a_column_has_a_caption_beside_it_and_letters_that_publishers_take(cli, work):
    done = cli("plot", "queue", "small.toml", *FAST, "--file", "queue.pdf", "--style", "column", "--title", "A queue")
    assert done.code == 0, done.err
    assert (work / "queue.txt").read_text().startswith("A queue. Queue of ")
    assert b"/Subtype /Type3" not in (work / "queue.pdf").read_bytes()


MIX = """\
[network]
topology = "star"
[[traffic]]
name = "mix"
kind = "poisson"
senders = 4
bytes-each = "web-search"
load = "30%"
count = 60
"""


@pytest.mark.parametrize("of", ["homa", "hpcc"])
def test_slowdown_is_drawn_by_size_as_fanin_describe_has_it(cli, work, of):
    Path("mix.toml").write_text(MIX)
    schemes = ("--set", "transport.scheme=newreno,dctcp")
    done = cli("plot", "slowdown", "mix.toml", "--seeds", "1,2", *schemes, "--of", of, "--file", "a.svg", "--json")
    assert done.code == 0, done.err
    lines = [f"{scheme}, p{percent}" for scheme in ("NewReno", "DCTCP") for percent in (50, 95, 99)]
    assert json.loads(done.out)["lines"] == lines
    runs = [f"results/{place}" for place, each in stored().items() if each.scenario["transport"]["scheme"] == "dctcp"]
    found = json.loads(cli("describe", *runs, "--slowdown", of, "--json").out)["sizes"]
    _, series = drawn("slowdown", of_store([Path(run) for run in runs]), Asked(of=of))
    tail = series.data.filter(by="p99")
    assert tail["mean"].to_list() == [each["slowdown_p99"] for each in found]
    assert tail["x"].to_list() == [each["bytes_to"] for each in found]
    assert series.x.shown_as == "KB"


def test_only_published_definitions_of_slowdown_are_drawn(cli, work):
    Path("mix.toml").write_text(MIX)
    done = cli("plot", "slowdown", "mix.toml", "--of", "mine", "--file", "a.svg")
    assert (done.code, "--of mine: slowdown is that of homa or hpcc" in done.err) == (3, True)


@pytest.mark.parametrize(
    ("what", "more"),
    [("goodput", ()), ("windows", ("--senders", "2")), ("flows", ()), ("cdf", ("--of", "slowdown", "--log"))],
)
def test_each_kind_draws_a_scenario_and_a_stored_run(cli, work, what, more):
    done = cli("plot", what, "small.toml", *FAST, *more, "--file", f"{what}.svg", "--json")
    assert done.code == 0
    assert json.loads(done.out)["runs"] == 1
    # The first run of some only tells how long it takes.
    run = max(stored().values(), key=lambda each: (each.scenario["measure"]["bin"] != "0s", len(each.tables)))
    assert cli("plot", what, run.place, *more, "--file", "again.svg").code == 0
    assert (work / "again.svg").read_bytes() == (work / f"{what}.svg").read_bytes()


def test_bins_fit_the_runs(cli, work):
    def bins(*lengths):
        return needs("goodput", Asked(), {"bin": "0s"}, lengths)

    assert bins(0.0105) == [("measure.bin", "100000ns")]
    assert bins(0.0105, 0.0008) == [("measure.bin", "50000ns")]
    # A short one does not make a long one a thicket.
    assert bins(10.0, 1e-6) == [("measure.bin", "10000000ns")]
    assert bins(1e-9) == [("measure.bin", "1ns")]
    assert needs("goodput", Asked(), {"bin": "3ms"}, [1.0]) == []
    assert of_runs.until([0.2], "30s") == [("run.duration", "202001us")]
    assert of_runs.until([30.0], "30s") == []
    assert cli("plot", "goodput", "small.toml", *FAST, "--file", "a.png").code == 0
    # The first run only tells how long it takes.
    assert {run.scenario["measure"]["bin"] for run in stored().values()} == {"0s", "200us"}


ROUNDS = """
[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "12pkt"
[transport]
rto-min = "10ms"
[[traffic]]
name = "long"
kind = "background"
flows = 1
[[traffic]]
name = "servers"
kind = "incast"
senders = 6
bytes-each = "30KB"
rounds = 3
"""


def test_windows_are_those_of_senders_with_all_of_their_connections(work):
    (work / "rounds.toml").write_text(ROUNDS)
    found = fanin.Scenario("rounds.toml").set(needs("windows", Asked(senders=3), {}))
    run = found.run()
    runs = ShownRuns([Shown({"seed": 1}, run.table, found.resolved(), run.summary, "it")], {})
    plot, windows = drawn("windows", runs, Asked(senders=3))
    assert plot.note.startswith("3 of 7 senders; of each traffic group the one with the most timeouts")
    flows = run.flows().with_columns(pl.col("group").cast(pl.String))
    waited = flows.filter(group="servers").group_by("src").agg(pl.col("timeouts").sum())
    (long, *others) = windows.lines
    assert long.startswith("long, host")
    assert len(others) == 2
    assert waited.sort("timeouts", "src", descending=[True, False])["src"][0] in map(host, others)
    end = run.summary["simulated_s"]
    for line in windows.lines:
        of, mine = windows.data.filter(by=line), flows.filter(src=host(line))
        # To the end of its last connection, between which there is none.
        assert of["x"].max() == mine["completion_s"].fill_null(end).max()
        assert of.filter(mean=0.0).height == mine.filter(pl.col("completion_s") < end).height
        assert of["x"].is_sorted()


def test_a_number_of_senders_is_one_that_there_are(cli, work):
    (work / "rounds.toml").write_text(ROUNDS)
    assert cli("plot", "windows", "rounds.toml", "--senders", "7").code == 0
    result = cli("plot", "windows", "rounds.toml", "--senders", "8")
    assert result.code == 3
    assert "error: --senders 8: there are windows of 7 senders, so 1 to 7" in result.err
    result = cli("plot", "queue", "rounds.toml", "--senders", "2")
    assert (result.code, "queue shows no senders, windows does" in " ".join(result.err.split())) == (2, True)


def host(line):
    return int(line.rpartition(" ")[2])


def test_a_run_with_few_probes_says_so(cli, work):
    (work / "rounds.toml").write_text(ROUNDS)
    assert cli("run", "rounds.toml", "--set", "measure.probes=cwnd", "--set", "measure.probe-flows=3").code == 0
    (run,) = [each.place for each in stored().values()]
    done = cli("plot", "windows", run)
    assert (done.code, "3 of 19 connections were probed" in done.err) == (0, True)


def numbers(axis, view):
    """The numbers on an axis."""
    formatter = {True: axis.get_minor_formatter(), False: axis.get_major_formatter()}
    ticks = [(each, minor) for minor in (False, True) for each in axis.get_ticklocs(minor=minor)]
    return [formatter[minor](each, 0) for each, minor in ticks if view[0] <= each <= view[1]]


@pytest.mark.parametrize("values", [(15.2, 17.2), (1.1, 9.0), (0.9, 12.0), (3.0, 2500.0), (1e-5, 40.0)])
def test_a_logarithmic_axis_has_numbers_however_little_of_it_is_shown(values):
    plot = Plot.model_validate({"kind": "cdf", "x": "flows.slowdown", "x-scale": "log"})
    data = pl.DataFrame({"by": ["", ""], "x": values, "share": [0.5, 1.0]})
    with mpl.rc_context(drawing.STYLE):
        axes = drawing._figure(plot, Series(data, column("slowdown"), column("slowdown"))).axes[0]
    assert len([each for each in numbers(axes.xaxis, axes.get_xlim()) if each]) >= 3


def test_a_line_of_one_point_is_seen():
    plot = Plot.model_validate({"kind": "time", "y": "bins.goodput_bps"})
    row = {"by": "a", "x": 0.0, "mean": 1e9, "half": None, "runs": 1}
    data = pl.DataFrame([row], schema_overrides={"half": pl.Float64})
    with mpl.rc_context(drawing.STYLE):
        axes = drawing._figure(plot, Series(data, column("time_s"), column("goodput_bps"))).axes[0]
    assert [line.get_marker() for line in axes.get_lines() if len(line.get_xdata()) == 1] == ["o"]


def test_where_nothing_happened_the_axis_has_no_fractions_of_it():
    plot = Plot.model_validate({"kind": "line", "x": "flows", "y": "timeouts"})
    data = {"by": ["a"] * 2, "x": [1, 2], "mean": [0.0, 0.0], "half": [None, None], "runs": [1, 1]}

    def top(*means: float) -> float:
        series = Series(pl.DataFrame(data | {"mean": [*means]}), column("flows"), column("timeouts"))
        with mpl.rc_context(drawing.STYLE):
            return float(drawing._figure(plot, series).axes[0].get_ylim()[1])

    assert top(0.0, 0.0) == 1
    assert top(0.0, 30.0) > 30


def test_a_run_without_a_trace_says_which_setting_gives_one(cli, work):
    assert cli("run", "small.toml", *FAST).code == 0
    (run,) = [each.place for each in stored().values()]
    done = cli("plot", "queue", run)
    assert done.code == 3
    assert "has not recorded the queue of the bottleneck" in done.err
    assert "--set measure.queue-trace=on-change" in done.err
    assert cli("plot", "windows", run).err.count("--set measure.probes=cwnd") == 1
    assert cli("plot", "flows", run).code == 0


def test_a_sweep_is_drawn_by_what_varies_and_where_says_which(cli, work):
    cli("sweep", "small.toml", "--bare", "--set", "transport.scheme=newreno,dctcp", *FAST[2:], "--seeds", "1..2",
        "--tables", "flows")  # fmt: skip
    (folder,) = (work / "results" / "sweeps").iterdir()
    done = cli("plot", "cdf", str(folder), "--json")
    assert (json.loads(done.out)["lines"], json.loads(done.out)["runs"]) == (["newreno", "dctcp"], 4)
    one = cli("plot", "flows", str(folder), "--where", "transport.scheme=dctcp", "--where", "seed=1", "--json")
    assert json.loads(one.out)["runs"] == 1
    assert "do not differ in nonsense" in cli("plot", "cdf", str(folder), "--where", "nonsense=1").err
    missing = cli("plot", "queue", str(folder))
    assert missing.code == 3
    assert "--tables queue-trace" in missing.err


def test_mistakes_are_named(cli, work):
    assert "ends with none of .png, .svg, .pdf" in cli("plot", "cdf", "small.toml", "--file", "a.gif").err
    assert 'did you mean "slowdown"' in cli("plot", "cdf", "small.toml", "--of", "slowdwn").err
    with pytest.raises(FaninError, match="there is no table nothing"):
        distributed("nothing.here")
    assert distributed("query") == "requests.qct_s"


def test_tables_that_do_not_fit_together_are_named(work):
    runs = shown("small.toml", ["newreno", "dctcp"], "cdf")
    first = runs.runs[0]
    other = replace(first, table=lambda name: first.table(name).with_columns(more=pl.lit(1)))
    with pytest.raises(FaninError, match="newreno or another of these runs: its table flows is none of fanin"):
        drawn("cdf", replace(runs, runs=[other, runs.runs[1]]), Asked())


def test_lines_are_too_many_to_be_told_apart(work, monkeypatch):
    runs = shown("small.toml", ["newreno", "dctcp"], "queue")
    monkeypatch.setattr(of_runs, "MOST_LINES", 1)
    with pytest.raises(FaninError, match="2 lines cannot be told apart, 1 can: choose some with where=, by scheme"):
        drawn("queue", runs, Asked())


def test_bounds_are_the_buffer_and_the_receivers_rate(work):
    _, queue = drawn("queue", shown("small.toml", ["newreno"], "queue"), Asked())
    assert [(each.label, each.at, each.axis) for each in queue.bounds] == [("buffer", 20.0, "y")]
    plot, goodput = drawn("goodput", shown("small.toml", ["newreno"], "goodput"), Asked())
    assert plot.note == "Each point is the mean over 1 ms."
    assert [each.label for each in goodput.bounds] == ["link rate"]
    _, rates = drawn("cdf", shown("small.toml", ["newreno"], "cdf"), Asked("goodput"))
    assert [each.axis for each in rates.bounds] == ["x"]


@pytest.mark.parametrize(
    ("port", "given", "held"),
    [
        ("edge-0->root", {}, {64_000}),
        ("root->receiver-0", {}, {128_000}),
        ("sender-0->edge-0", {}, set()),
        ("root->receiver-0", {"network.admission": "dynamic-threshold", "network.shared-buffer": "200pkt"}, {150_000}),
    ],
)
def test_the_buffer_of_a_queue_is_that_of_its_port(work, port, given, held):
    tree = {"topology": "tree", "edge-buffer": "64KB", "buffer": "128KB"}
    given |= {f"network.{key}": value for key, value in tree.items()} | {"measure.bottleneck": port}
    found = fanin.Scenario("small.toml").set(given | {"measure.queue-trace": "on-change"} | {"run.duration": "20ms"})
    run = found.run()
    # A stored scenario has texts alone.
    texts = json.loads(json.dumps(found.resolved()))
    runs = ShownRuns([Shown({"seed": 1}, run.table, texts, run.summary, "small")], {})
    _, queue = drawn("queue", runs, Asked("bytes"))
    assert {each.at for each in queue.bounds} == held


def test_a_part_of_the_time_is_drawn(cli, work):
    runs = shown("small.toml", ["newreno"], "queue")
    whole, _ = drawn("queue", runs, Asked())
    assert whole.x_range is None
    about, part = drawn("queue", runs, Asked(span=(1e-3, 3e-3)))
    assert about.x_range == (1e-3, 3e-3)
    # On each side the next change, where the line leads.
    inside = part.data.filter(pl.col("x").is_between(1e-3, 3e-3)).height
    assert 0 < inside < part.data.height <= inside + 2
    about, rest = drawn("queue", runs, Asked(span=(1e-3, math.inf)))
    assert about.x_range == (1e-3, rest.data["x"].max())
    _, lanes = drawn("flows", shown("small.toml", ["newreno"], "flows"), Asked(span=(0.0, 1e-3)))
    assert (lanes.data["x"] <= 1e-3).all()
    _, bins = drawn("goodput", shown("small.toml", ["newreno"], "goodput"), Asked(span=(5e-3, 9e-3)))
    assert bins.data["x"].min() >= 5e-3
    assert bins.data["x"].max() <= 9e-3
    with pytest.raises(FaninError, match=r"nothing was recorded after .* from 3 s on can be drawn"):
        drawn("queue", runs, Asked(span=(3.0, math.inf)))
    assert cli("plot", "queue", "small.toml", *FAST, "--from", "1ms", "--to", "3ms", "--file", "q.svg").code == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("queue", "--from", "soon"), "'soon' is not a time such as 2ms"),
        (("queue", "--from", "3ms", "--to", "2ms"), "--from is not before --to"),
        (("cdf", "--to", "2ms"), "a distribution has no axis of time"),
    ],
)
def test_times_that_impossible_drawn(cli, work, options, says):
    what, *rest = options
    done = cli("plot", what, "small.toml", *rest)
    assert done.code == 2
    assert says in done.err


def test_lanes_stand_in_order_of_start_and_tell_who_waited(work):
    runs = shown("small.toml", ["newreno"], "flows")
    _, lanes = drawn("flows", runs, Asked())
    flows = runs.rows("flows")
    assert lanes.data["mean"].to_list() == [float(place) for place in range(1, flows.height + 1)]
    assert lanes.data["x"].is_sorted()
    assert lanes.data["waited"].sum() == flows.filter(pl.col("timeouts") > 0).height
    (run,) = runs.runs
    # So do those that a probe kept for most of their time.
    share = pl.when(pl.col("flow") < 3).then(0.6).otherwise(0.4)
    probed = flows.with_columns(timeouts=0, probe_wait_s=pl.col("fct_s") * share)
    _, lanes = drawn("flows", replace(runs, runs=[replace(run, table=lambda _: probed)]), Asked())
    assert lanes.data["waited"].sum() == 2
    # An endless transfer is drawn to the end of the run.
    assert lanes.data.filter(~pl.col("ended"))["end"].to_list() == [run.summary["simulated_s"]]


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_picture_is_replaced_whole_or_not_at_all(cli, work):
    for name in ("a.svg", "a.pdf"):
        assert cli("plot", "queue", "small.toml", "--file", name).code == 0
        whole = Path(name).read_bytes()
        limited = f"ulimit -f 2; exec {sys.executable} -m fanin plot queue small.toml --file {name}"
        result = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
        assert result.returncode == 3
        assert f"{name}: cannot write results: File too large; choose another place with --file" in result.stderr
        assert "Traceback" not in result.stderr
        assert Path(name).read_bytes() == whole
    assert not list(Path().glob(".*"))


def test_the_runs_of_an_experiment_are_drawn_by_what_varies_in_it(cli, work):
    plots = '[[plot]]\nkind = "cdf"\nx = "flows.fct_s"\nby = "transport.scheme"\n'
    (work / "small.toml").write_text((work / "small.toml").read_text() + plots)
    assert cli("reproduce", "small.toml", "--quick").code == 0
    where = ("--where", "traffic.bursts.senders=8", "--where", "seed=1")
    done = cli("plot", "cdf", "results/small", *where, "--file", "x.svg", "--json")
    assert (done.code, json.loads(done.out)) == (0, {"file": "x.svg", "lines": ["newreno", "dctcp"], "runs": 2})
    # What the experiment did not keep is not there, and the command that records it is named.
    done = cli("plot", "goodput", "results/small", *where)
    assert (done.code, "fanin plot goodput SCENARIO records it" in " ".join(done.err.split())) == (3, True)
    pl.DataFrame({"a": [1]}).write_parquet("results/small/runs.parquet")
    assert "damaged (it has no column seed)" in cli("plot", "cdf", "results/small").err
