"""Variants, columns and every kind of plot, on a small scenario."""

import contextlib
import json
import os
import pickle
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from patches import stored

import fanin
from fanin.errors import FaninError, RunError, ScenarioError
from fanin.numbers.stats import percentile
from fanin.results.columns import extended, filtered, jain
from fanin.scenario.format.bounds import matches
from fanin.scenario.format.column import Column
from fanin.scenario.format.plot import Plot
from fanin.scenario.points import points
from fanin.show.plots import diagram, drawing, series, topology
from fanin.show.plots.topology import arranged, levels

PAPER = """
[measure]
bin = "10ms"
queue-trace = "on-change"

[sweep]
"traffic.bursts.senders" = [2, 8]
"traffic.bursts.bytes-each" = ["32KB", "64KB"]
zip = [["traffic.bursts.senders", "traffic.bursts.bytes-each"]]
seeds = "1..3"

[[variant]]
axis = "system"
label = "TCP"
set = { "transport.scheme" = "newreno" }

[[variant]]
axis = "system"
label = "DCTCP"
[variant.set]
"transport.scheme" = "dctcp"
"scheme.dctcp.mark-threshold" = "5pkt"

[quick]
seeds = 1
"traffic.bursts.senders" = 2
"traffic.bursts.bytes-each" = "32KB"
"run.duration" = "100ms"

[[column]]
id = "fct_p5_s"
label = "Flow completion time, 5th percentile: nearest rank over the bursts"
of = "flows.fct_s"
rows = { group = "bursts" }
take = "p5"

[[column]]
id = "early_goodput_bps"
label = "Goodput of the background: mean of 10 ms to 30 ms"
of = "bins.goodput_bps"
rows = { group = "background" }
between = [0.01, 0.03]

[[column]]
id = "ideal_s"
label = "Flow completion time, ideal: all bytes at the rate of the link"
formula = "{traffic.bursts.senders} * {traffic.bursts.bytes-each} * 8 / 1e9"

[[plot]]
id = "fct"
x = "traffic.bursts.senders"
y = ["fct_p50_s", "ideal_s"]
by = "system"
y-scale = "log"
note = "A note."

[[plot]]
id = "by-size"
x = "traffic.bursts.bytes-each"
y = "fct_p50_s"
spread = ["fct_p5_s", "fct_p99_s"]
by = "system"
relative-to = "TCP"
published = [
    { label = "Table", by = "TCP", x = [32e3, 64e3], y = [2, 4] },
    { label = "Table", by = "DCTCP", x = [32e3, 64e3], y = [1, 3] },
]

[[plot]]
id = "bars"
kind = "bars"
x = "traffic.bursts.senders"
y = "groups.bursts.goodput_bps"
by = "system"
published = [{ label = "Table", by = "TCP", x = 8, y = 1e8 }]

[[plot]]
id = "cdf"
kind = "cdf"
x = "flows.fct_s"
by = "system"
where = { "traffic.bursts.senders" = 8 }

[[plot]]
id = "cdf-of-runs"
kind = "cdf"
x = "fct_mean_s"

[[plot]]
id = "by-seed"
x = "seed"
y = "fct_p50_s"
by = "system"

[[plot]]
id = "queue"
kind = "time"
y = "queue-trace.packets"
by = "system"
seed = 1
where = { "traffic.bursts.senders" = 8 }

[[plot]]
id = "goodput"
kind = "time"
y = "bins.goodput_bps"
by = ["system", "group"]
every = 0.05

[[plot]]
id = "network"
kind = "topology"

[[plot]]
id = "message"
kind = "format"
fields = [{ name = "Flow", bits = 40 }, { name = "Kind", bits = 8 }]

[[claim]]
id = "early"
says = "The background begins alone."
measure = "mean"
y = "bins.goodput_bps"
rows = { group = "background" }
between = [0, 0.004]
where = { system = "TCP" }
minus = { system = "DCTCP" }
accept = [-1e9, 1e9]
why = "no more than the link carries"

[[claim]]
id = "marks"
says = "Only DCTCP has marks."
measure = "wins"
x = "traffic.bursts.senders"
y = "marks"
where = { system = "DCTCP" }
rivals = [{ system = "TCP" }]
published = "always"
accept = [1, 1]
why = "TCP is not ECN-capable"
"""


@pytest.fixture
def paper(work):
    text = (work / "small.toml").read_text()
    (work / "paper.toml").write_text(text[: text.index("[sweep]")] + PAPER)
    return work / "paper.toml"


def test_variants_and_zipped_variables_make_the_points(paper):
    found = points(fanin.Scenario(paper))
    assert [point.seed for point in found] == [1, 2, 3] * 4
    assert [point.labels["system"] for point in found[::3]] == ["TCP", "TCP", "DCTCP", "DCTCP"]
    sizes = {(p.values["traffic.bursts.senders"], p.values["traffic.bursts.bytes-each"]) for p in found}
    assert sizes == {(2, "32KB"), (8, "64KB")}
    assert found[-1].values["scheme.dctcp.mark-threshold"] == "5pkt"


def test_a_quick_look_leaves_out_variants_their_figures_and_their_claims(cli, paper):
    text = paper.read_text().replace("[quick]\n", '[quick]\nvariant.system = ["TCP"]\n')
    text += """
[[plot]]
id = "of-one"
x = "traffic.bursts.senders"
y = "fct_p50_s"
by = "system"
where = { system = "DCTCP" }
names = { DCTCP = "with marks" }

[[claim]]
id = "left-out"
says = "DCTCP is fast."
measure = "mean"
x = "traffic.bursts.senders"
y = "fct_p50_s"
where = { system = "DCTCP" }
published = "fast"
accept = [0, 1]
why = "for the test"
"""
    paper.write_text(text)
    assert {p.labels["system"] for p in points(fanin.Scenario(paper))} == {"TCP", "DCTCP"}
    assert {p.labels["system"] for p in points(fanin.Scenario(paper), quick=True)} == {"TCP"}
    result = cli("reproduce", "paper.toml", "--quick", "--json")
    assert result.code == 0
    assert "no rows" not in result.err
    found = json.loads(result.out)["experiments"][0]
    assert [(claim["id"], claim["outcome"]) for claim in found["claims"]][-1] == ("left-out", "not judged")
    folder = Path("results/paper")
    # Published values of a line that is left out are not drawn, and a figure of it alone is not.
    assert "DCTCP" not in (folder / "by-size.svg").read_text()
    assert not (folder / "of-one.svg").exists()
    assert "of-one" not in [plot["name"] for plot in json.loads((folder / "claims.json").read_text())["plots"]]
    assert cli("verify").code == 0


@pytest.mark.parametrize(
    ("quick", "message"),
    [
        ('variant.system = ["TPC"]', 'quick.variant.system: no variant is "TPC" (did you mean "TCP"?)'),
        ('variant.sistem = ["TCP"]', 'quick.variant.sistem: no variant has this axis (did you mean "system"?)'),
        ("variant.system = []", "quick.variant.system"),
    ],
)
def test_a_quick_look_names_variants_of_the_file(cli, paper, quick, message):
    paper.write_text(paper.read_text().replace("[quick]\n", f"[quick]\n{quick}\n"))
    result = cli("check", "paper.toml")
    assert result.code == 3
    assert message in result.err


def test_variants_of_ones_own_are_all_in_a_quick_look_of_anothers_runs(paper):
    paper.write_text(paper.read_text().replace("[quick]\n", '[quick]\nvariant.system = ["TCP"]\n'))
    other = paper.with_name("other.toml")
    other.write_text('runs-of = "paper.toml"\n[variant.system]\nICTCP = { transport.scheme = "ictcp" }\n')
    found = points(fanin.Scenario(other), quick=True)
    assert [(p.labels["system"], p.values["run.duration"]) for p in found] == [("ICTCP", "100ms")]


def test_a_variant_may_have_its_own_part_of_the_sweep(paper):
    text = paper.read_text().replace('"5pkt"', '"5pkt"\n"traffic.bursts.senders" = "2..4"').replace("zip =", "#")
    paper.write_text(text)
    found = {(p.labels["system"], p.values["traffic.bursts.senders"]) for p in points(fanin.Scenario(paper))}
    assert found == {("TCP", 2), ("TCP", 8), ("DCTCP", 2), ("DCTCP", 3), ("DCTCP", 4)}


def test_a_quick_look_takes_the_files_quick_values(paper):
    found = points(fanin.Scenario(paper), quick=True)
    assert [(p.labels["system"], p.seed, p.values["run.duration"]) for p in found] == [
        ("TCP", 1, "100ms"),
        ("DCTCP", 1, "100ms"),
    ]


def test_every_kind_of_plot_is_drawn_and_every_claim_judged(cli, paper):
    result = cli("reproduce", "paper.toml", "--png", "--json")
    assert result.code == 0, result.err
    report = json.loads(result.out)["experiments"][0]
    folder = paper.parent / "results/paper"
    names = ["fct", "by-size", "bars", "cdf", "cdf-of-runs", "by-seed", "queue", "goodput", "network", "message"]
    assert {path.stem for path in folder.glob("*.svg")} == set(names)
    for name in names:
        assert (folder / f"{name}.png").stat().st_size > 1000
        assert pl.read_csv(folder / f"{name}.csv").height
    assert {claim["id"]: claim["outcome"] for claim in report["claims"]} == {
        "early": "reproduced",
        "marks": "reproduced",
    }
    runs = pl.read_parquet(folder / "runs.parquet")
    assert runs["ideal_s"].unique().sort().to_list() == [2 * 32e3 * 8 / 1e9, 8 * 64e3 * 8 / 1e9]
    assert (runs["fct_p5_s"] <= runs["fct_p50_s"]).all()
    assert runs["early_goodput_bps"].max() > 1e8
    assert (runs["groups.background.flows"] == 1).all()
    assert cli("reproduce", "paper.toml").code == 0


def test_figures_have_units_definitions_and_what_the_paper_says(cli, paper):
    cli("reproduce", "paper.toml")
    folder = paper.parent / "results/paper"
    bars = (folder / "bars.svg").read_text()
    assert "Goodput, bursts alone [Mbit/s]" in bars
    assert "payload in order" in bars
    assert "Table (published)" in bars
    assert "bytes-each [KB]" in (folder / "by-size.svg").read_text()
    assert "A note." in (folder / "fct.svg").read_text()
    assert "receiver" in (folder / "network.svg").read_text()
    relative = pl.read_csv(folder / "by-size.csv").filter(by="TCP")
    # With a seed no burst of 64 KB ends: its mean is infinite, and has no place.
    assert relative["mean"].to_list() == [1]
    shares = pl.read_csv(folder / "cdf.csv").filter(by="TCP")["share"]
    assert shares[-1] == 1
    assert shares.is_sorted()
    times = pl.read_csv(folder / "goodput.csv")["x"].unique().sort()
    assert times[:2].to_list() == [0, 0.05]


def test_a_figure_is_drawn_only_if_something_of_it_has_changed(cli, paper, monkeypatch):
    drawn = []
    real = drawing.save

    def counted(figure, table, folder, name, **named):
        drawn.append(name)
        return real(figure, table, folder, name, **named)

    for module in (drawing, diagram, topology):
        monkeypatch.setattr(module, "save", counted)
    folder = paper.parent / "results/paper"

    def reproduced(*options):
        drawn.clear()
        assert cli("reproduce", "paper.toml", "--quick", *options).code == 0
        return drawn

    assert len(reproduced()) == 10
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".svg", ".csv")}
    assert reproduced() == []
    assert {name: (folder / name).read_bytes() for name in before} == before
    paper.write_text(paper.read_text().replace("A note.", "Another note."))
    assert reproduced() == ["fct"]
    (folder / "bars.svg").write_text("damaged")
    (folder / "cdf.csv").unlink()
    assert reproduced() == ["bars", "cdf"]
    assert len(reproduced("--png")) == 10
    assert reproduced("--png") == []
    assert (folder / "bars.png").is_file()
    assert len(reproduced("--pdf")) == 10
    assert (folder / "bars.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "bars.png").is_file()


def test_what_an_earlier_command_drew_stays_as_long_as_its_figure_does(cli, paper):
    text = paper.read_text().replace("[[plot]]", '[[plot]]\nstyle = "column"', 1)
    paper.write_text(text)
    folder = paper.parent / "results/paper"

    def reproduced(*options):
        done = cli("reproduce", "paper.toml", "--quick", *options)
        assert done.code == 0, done.err
        return {path.name: path.read_bytes() for path in folder.glob("fct.*")}, done.err

    first, _ = reproduced("--pdf", "--png")
    assert b"A note. One seed, 2 transfers a run." in first["fct.txt"]
    assert sorted(first) == ["fct.csv", "fct.pdf", "fct.png", "fct.svg", "fct.txt"]
    for options in ([], ["--details"], ["--pdf"]):
        again, said = reproduced(*options)
        assert again == first
        assert "removed" not in said
    # With another description, pictures that nobody asked for again would be stale.
    paper.write_text(text.replace("A note.", "Another note.").replace('y-scale = "log"', "", 1))
    changed, _ = reproduced()
    assert [name for name in first if changed[name] == first[name]] == ["fct.csv"]
    (folder / "fct.txt").unlink()
    assert "fct.txt" in reproduced()[0]
    paper.write_text(text.replace('id = "fct"', 'id = "other"', 1))
    none, said = reproduced()
    assert not none
    assert "paper: removed what no figure of its file is any more: fct.csv, fct.pdf, fct.png, fct.svg, fct.txt" in said


def test_no_png_is_drawn_unless_it_is_asked_for(cli, paper):
    result = cli("reproduce", "paper.toml", "--quick", "--json")
    assert result.code == 0, result.err
    assert {Path(path).suffix for path in json.loads(result.out)["experiments"][0]["paths"]} == {
        ".svg", ".csv", ".parquet", ".json"
    }  # fmt: skip
    assert not list(paper.parent.glob("results/paper/*.png"))


def test_rows_at_one_time_are_averaged_or_added_up(cli, paper):
    plain = '[[plot]]\nid = "GROUPS"\nkind = "time"\ny = "bins.goodput_bps"\nby = "system"\nevery = 0.05\n'
    added = plain.replace("GROUPS", "added") + "total = true\n"
    text = paper.read_text()
    paper.write_text(text[: text.index("[[plot]]")] + plain.replace("GROUPS", "averaged") + added)
    assert cli("reproduce", "paper.toml", "--quick").code == 0
    averaged, total = (pl.read_csv(paper.parent / f"results/paper/{name}.csv") for name in ("averaged", "added"))
    assert total["mean"].to_list() == pytest.approx((averaged["mean"] * 2).to_list())


def test_runs_are_stored_once_with_the_tables_that_figures_read(cli, paper):
    other = paper.with_name("other.toml")
    text = paper.read_text()
    other.write_text(text[: text.index("[[column]]")] + '[[plot]]\nx = "flows"\ny = "drops"\nby = "system"\n')
    cli("reproduce", "other.toml", "--seeds", "1")
    before = stored(paper.parent / "results")
    assert not any(run.tables for run in before.values())
    # The trace is of the one plotted point and seed; the rest is read of every run.
    cli("reproduce", "paper.toml", "--seeds", "1")
    after = stored(paper.parent / "results")
    assert after.keys() == before.keys()
    assert sum("queue-trace" in run.tables for run in after.values()) == 2
    assert sum("flows" in run.tables for run in after.values()) == 4
    cli("reproduce", "other.toml", "paper.toml", "--seeds", "1")
    assert stored(paper.parent / "results") == after


def test_a_figure_may_show_the_runs_of_another(cli, paper):
    paper.with_name("second.toml").write_text('runs-of = "paper.toml"\n[[plot]]\nx = "flows"\ny = "ideal_s"\n')
    second = fanin.Scenario("second.toml")
    assert len(points(second)) == 12
    assert [column.id for column in second.columns] == ["fct_p5_s", "early_goodput_bps", "ideal_s"]
    second.check()
    paper.with_name("third.toml").write_text('runs-of = "second.toml"\n')
    with pytest.raises(ScenarioError, match=r"runs-of: second.toml has none of its own"):
        fanin.Scenario("third.toml")


def test_an_experiment_may_have_the_variants_of_another(paper):
    one = paper.with_name("one.toml")
    scenario = (
        '[network]\ntopology = "star"\n[[traffic]]\nname = "flows"\nkind = "incast"\nsenders = 2\nbytes-each = "1KB"\n'
    )
    system = '[variant.system]\nTCP = { transport.scheme = "newreno" }\nRCC = { transport.scheme = "rcc" }\n'
    buffer = '[variant.buffer]\nsmall = { network.buffer = "20pkt" }\n'
    column = '[[column]]\nid = "%s"\nlabel = "Twice: %s"\nformula = "2 * {flows}"\n'
    one.write_text(scenario + system + buffer + column % ("one_ratio", "one") + column % ("two_ratio", "one"))
    more = (
        system[:17] + 'DCTCP = { transport.scheme = "dctcp" }\n[variant.buffer]\nsmall = { network.buffer = "9pkt" }\n'
    )
    two = paper.with_name("two.toml")
    two.write_text('variants-of = "one.toml"\n' + scenario + more + column % ("two_ratio", "two"))
    both = fanin.Scenario("two.toml")
    both.check()
    assert both.labels == {"system": ["TCP", "RCC", "DCTCP"], "buffer": ["small"]}
    assert {point.values["network.buffer"] for point in points(both)} == {"9pkt"}
    assert [column.label for column in both.columns] == ["Twice: one", "Twice: two"]
    assert [*both.sources.values()] == [two.read_text(), one.read_text()]
    paper.with_name("three.toml").write_text('variants-of = "two.toml"\n' + scenario)
    with pytest.raises(ScenarioError, match=r"variants-of: two.toml has it too"):
        fanin.Scenario("three.toml")
    one.write_text(one.read_text().replace('"rcc"', '"rcd"'))
    with pytest.raises(ScenarioError, match=r"one.toml:10: .*rcd"):
        fanin.Scenario("two.toml").check()


@pytest.fixture
def second(paper):
    """Another figure of the same runs."""
    path = paper.with_name("second.toml")
    path.write_text('runs-of = "paper.toml"\n[[plot]]\nid = "size"\nx = "flows"\ny = "ideal_s"\n')
    return path


def test_processes_beside_each_other_draw_the_same(cli, paper, second):
    printed = [
        cli("reproduce", "paper.toml", "second.toml", "--quick", "--jobs", jobs, "--out", f"by-{jobs}") for jobs in "12"
    ]
    assert printed[0].out.replace("by-1", "by-2") == printed[1].out
    alone, beside = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.suffix in (".png", ".svg")}
        for folder in (paper.with_name("by-1"), paper.with_name("by-2"))
    )
    assert alone == beside
    assert {path.stem for path in beside} >= {"size", "cdf"}


def test_processes_beside_each_other_run_nothing_of_the_working_folder(cli, paper, second):
    paper.with_name("multiprocessing.py").write_text("open('ran', 'w')\nraise SystemExit")
    assert cli("reproduce", "paper.toml", "second.toml", "--quick", "--jobs", "2").code == 0
    assert not paper.with_name("ran").exists()
    assert "PYTHONSAFEPATH" not in os.environ


def test_what_is_wrong_in_another_process_is_told_as_it_is_here(cli, paper, second):
    paper.write_text(paper.read_text().replace('label = "Table", by = "TCP"', 'label = "Table", by = "UDP"'))
    told = [cli("reproduce", "paper.toml", "second.toml", "--quick", "--jobs", jobs) for jobs in "12"]
    assert all("published 'UDP' is no line" in each.err for each in told)
    assert told[0].code == told[1].code == 3
    error = pickle.loads(pickle.dumps(ScenarioError("a.toml", 3, "key", "is wrong", "kay", ["more"])))
    assert str(error) == 'a.toml:3: key: is wrong (did you mean "kay"?)\nmore'


def test_columns_of_one_table_read_it_once(paper):
    read = []

    def table(name):
        read.append(name)
        return pl.DataFrame({"fct_s": [1.0, 3.0]})

    one = {"of": "flows.fct_s", "label": "Flow completion time"}
    columns = [Column(id=f"fct_{take}_s", take=take, **one) for take in ("min", "max")]
    assert extended({}, columns, table) == {"fct_min_s": 1, "fct_max_s": 3}
    assert read == ["flows"]


def test_a_weighted_mean_is_of_parts_in_the_order_listed():
    rows = {
        "group": ["a", "b", "a", "b", "c", "other"],
        "fct_mean_s": [0.1, 0.7, 0.2, None, None, 9.0],
        "completions": [3, 5, 4, 0, 0, 1],
    }
    frame = pl.DataFrame(rows)
    keys = {"id": "fct_s", "label": "L", "of": "bins.fct_mean_s", "by": "group", "weight": "completions"}

    def mean(*groups):
        return extended({}, [Column(rows={"group": list(groups)}, **keys)], lambda _: frame)["fct_s"]

    assert mean("b", "a", "c") == (5 * 0.7 / 1 + 7 * (0.1 + 0.2) / 2) / 12
    assert mean("a") == (0.1 + 0.2) * 7 / 2 / 7
    assert mean("c") is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"weight": "bytes"}, "weight and by belong together"),
        ({"by": "group"}, "weight and by belong together"),
        ({"weight": "bytes", "by": "group", "take": "p99"}, "weight belongs to take = mean"),
        ({"weight": "bytes", "by": "port"}, "a weighted mean by port needs the values of port in rows"),
    ],
)
def test_a_weight_needs_a_mean_and_its_parts(keys, message):
    with pytest.raises(ValueError, match=message):
        Column(**({"id": "c", "label": "L", "of": "flows.fct_s", "rows": {"group": ["a"]}} | keys))


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [2, 1, 3, 4], [1, 3, 4], [1, 2.5, 4], ["x", 3]])
def test_rows_are_those_with_one_of_the_values_ranges_or_not(values):
    frame = pl.DataFrame({"n": [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, None]})
    assert filtered(frame, {"n": values})["n"].to_list() == [n for n in frame["n"] if n in values]


def test_a_label_that_no_variant_has_is_found_before_the_runs(cli, paper):
    paper.write_text(
        paper.read_text()
        + '[[claim]]\nid = "c"\nsays = "s"\nmeasure = "mean"\nx = "traffic.bursts.senders"\ny = "drops"\n'
        'where = { system = "DCTPC" }\naccept = [0, 1]\nwhy = "by hand"\n'
    )
    result = cli("check", "paper.toml")
    assert result.code == 3
    assert 'claim.2.where.system: DCTPC is no label of system (did you mean "DCTCP"?)' in result.err


BOUNDED = """
[[plot]]
id = "small"
kind = "cdf"
x = "flows.fct_s"
rows = { bytes = "BOUND" }
"""


@pytest.mark.parametrize(
    ("bound", "sizes"),
    [
        ("<=64KB", {64_000}),
        (">1KB <1MB", {64_000}),
        (">=64KB, <64001", {64_000}),
        ("64KB", {64_000}),
        (">64KB", set()),
        ("nothing", set()),
    ],
)
def test_rows_are_those_within_bounds(bound, sizes):
    frame = pl.DataFrame({"bytes": [64_000, 64_000, None], "size": ["64KB", "64KB", None]})
    assert {*filtered(frame, {"bytes": [bound]})["bytes"]} == sizes
    assert {*filtered(frame, {"size": [bound]})["size"]} == {"64KB" for _ in sizes}
    assert {row["bytes"] for row in frame.to_dicts() if matches(row, {"size": [bound]})} == sizes


def test_what_varies_has_bounds_in_its_unit(cli, work):
    text = (work / "small.toml").read_text().replace("[sweep]\n", '[sweep]\n"network.buffer" = ["24pkt", "48pkt"]\n')
    for bound, code in (("<48pkt", 0), ("<1s", 3)):
        own = text.replace(
            'by = "transport.scheme"', f'by = "transport.scheme"\nwhere = {{ "network.buffer" = "{bound}" }}'
        )
        (work / "own.toml").write_text(own)
        result = cli("check", "own.toml")
        assert (result.code, "'<1s' is no number in pkt" in result.err) == (code, code == 3), result.err


def test_a_plot_whose_rows_match_nothing_is_an_error_that_names_the_values(cli, work):
    """A bound is one of a number; whether transfers are that small is known after the runs only."""
    text = (work / "small.toml").read_text()
    path = work / "bounded.toml"
    small = '"traffic.bursts.senders" = 2\nseeds = 1\n'
    head = text[: text.index("[sweep]")] + f"[sweep]\n{small}"
    line = head.count("\n") + BOUNDED.splitlines().index('rows = { bytes = "BOUND" }') + 1

    path.write_text(head + BOUNDED.replace("BOUND", "<100KB"))
    assert cli("reproduce", "bounded.toml").code == 0
    drawn = (work / "results/bounded/small.csv").read_text()
    assert len(drawn.splitlines()) == 1 + 2, "the two responses"

    path.write_text(head + BOUNDED.replace("BOUND", "<1KB"))
    result = cli("reproduce", "bounded.toml")
    assert result.code == 3
    assert f"bounded.toml:{line}: plot.0.rows.bytes: no row has <1KB; bytes goes from 64000 to 64000" in result.err

    column = '[[column]]\nid = "few_s"\nlabel = "Small"\nof = "flows.fct_s"\nrows = { bytes = "<1KB" }\n'
    path.write_text(head + column)
    result = cli("reproduce", "bounded.toml")
    assert result.code == 3
    line_of_rows = (head + column).splitlines().index('rows = { bytes = "<1KB" }') + 1
    assert f"bounded.toml:{line_of_rows}: column.0.rows.bytes: no row has <1KB; bytes goes from " in result.err

    for wrong in ("<10ms", "small", "<small"):
        path.write_text(head + BOUNDED.replace("BOUND", wrong))
        result = cli("check", "bounded.toml")
        assert result.code == 3
        assert f"bounded.toml:{line}: plot.0.rows.bytes: '{wrong}' is no number in B: write 100KB" in result.err
    path.write_text(head + BOUNDED.replace("BOUND", ">=10KB <5KB"))
    assert f"bounded.toml:{line}: plot.0.rows.bytes: no number is >=10KB <5KB" in cli("check", "bounded.toml").err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "every = 0.05",
            'rows = { group = "burst" }',
            'rows.group: no traffic is named burst (did you mean "bursts"?)',
        ),
        (
            "every = 0.05",
            'where = { "traffic.bursts.senders" = 9 }',
            "senders: no run has 9; traffic.bursts.senders is ",
        ),
        (
            "every = 0.05",
            'where = { "traffic.bursts.senders" = ">1000" }',
            "senders: no run has >1000; traffic.bursts.senders is ",
        ),
        (
            "every = 0.05",
            'where = { goodput_bps = "<10ms" }',
            "where.goodput_bps: '<10ms' is no number in bit/s: write ",
        ),
    ],
)
def test_a_selection_that_matches_nothing_is_found_before_the_runs(cli, paper, old, new, message):
    paper.write_text(paper.read_text().replace(old, new))
    result = cli("check", "paper.toml")
    assert result.code == 3
    assert message in result.err


def test_a_claim_about_no_run_is_found_before_the_runs(cli, paper):
    claim = '[[claim]]\nid = "c"\nsays = "s"\nmeasure = "mean"\nx = "traffic.bursts.senders"\ny = "drops"\n'
    file, sized = paper.read_text(), '{ "traffic.bursts.senders" = 7777 }'
    for wrong, told in (
        (f"where = {sized}", "where.traffic.bursts.senders: no run has 7777; traffic.bursts.senders is 2, 8"),
        (f"over = {sized}", "over.traffic.bursts.senders: no run has 7777; traffic.bursts.senders is 2, 8"),
        ("at = 7777", "at: no run has such a traffic.bursts.senders; it is 2, 8"),
        ("between = [3, 7]", "between: no run has such a traffic.bursts.senders; it is 2, 8"),
    ):
        paper.write_text(f'{file}{claim}{wrong}\naccept = [0, 1]\nwhy = "by hand"\n')
        result = cli("check", "paper.toml")
        assert (result.code, told in result.err) == (3, True), result.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'y = "queue-trace.packets"',
            'y = "queue-trace.packet"',
            'table queue-trace has no column packet (did you mean "queue-trace.packets"?)',
        ),
        (
            'by = "system"\nseed',
            'by = "sistem"\nseed',
            'plot.6.by: sistem is neither a column nor swept (did you mean "system"?)',
        ),
        ('"ideal_s"]', '"ideal"]', 'plot.0.y: ideal is neither a column nor swept (did you mean "ideal_s"?)'),
        ('take = "p5"', 'take = "p101"', "column.0.take: takes mean, sum"),
        ("{traffic.bursts.senders} *", "{traffic.bursts.sender} *", 'did you mean "traffic.bursts.senders"?'),
        ('rows = { group = "bursts" }', 'rows = { groop = "bursts" }', "column.0.rows.groop"),
        (
            'rows = { group = "bursts" }\ntake = "p5"',
            'rows = { group = "bursts" }\nby = "group"\nweight = "byte"',
            'column.0.weight: byte is neither a column nor swept (did you mean "bytes"?)',
        ),
        ('"5pkt"', '"5parsec"', "variant.1.set.scheme.dctcp.mark-threshold"),
        ('label = "DCTCP"', 'label = "TCP"', "variant.1: there is a variant 'system TCP' already"),
        ('id = "bars"', 'id = "cdf"', "plot.3: there is a plot 'cdf' already"),
        ('kind = "bars"', 'kind = "bar"', 'did you mean "bars"?'),
        ("every = 0.05", 'spread = ["a", "b"]', "spread belongs to kind = line or bars"),
        ('rivals = [{ system = "TCP" }]', "", "rivals belongs to wins, order, lead"),
        ("rivals = [{ system", "rivals = [{ sustem", "claim.1.rivals.sustem"),
        (
            'zip = [["traffic.bursts.senders",',
            'zip = [["traffic.bursts.sender",',
            "traffic.bursts.sender is not a variable",
        ),
        ('"groups.bursts.goodput_bps"', '"groups.bursts.goodput"', 'did you mean "groups.bursts.goodput_bps"?'),
        ('bin = "10ms"', "", "column.1.of: no run records bins: it needs measure.bin"),
        (
            'x = "traffic.bursts.senders"\ny = "marks"',
            'x = "seed"\ny = "marks"',
            "claim.1.x: a claim is about the mean",
        ),
        ('y = "marks"', 'y = "seed"', "claim.1.y: a claim is about the mean"),
        ('y = "marks"', 'y = "traffic.bursts.senders"', "claim.1.y: traffic.bursts.senders is the claim's x already"),
        ("seed = 1\nwhere", "where", "plot.6.seed: one run of queue-trace can be drawn, so name its seed"),
    ],
)
def test_mistakes_are_named_with_their_place(paper, old, new, message):
    text = paper.read_text()
    assert old in text
    paper.write_text(text.replace(old, new))
    with pytest.raises(ScenarioError) as raised:
        fanin.Scenario(paper).check()
    assert message in str(raised.value)
    assert raised.value.line


def test_published_curves_are_of_lines_that_there_are(cli, paper):
    paper.write_text(
        paper.read_text().replace('label = "Table", by = "TCP", x = 8', 'label = "Table", by = "UDP", x = 8')
    )
    assert "published 'UDP' is no line" in cli("reproduce", "paper.toml", "--quick").err


def test_a_benchmark_gives_the_rows(cli, work):
    (work / "bench.toml").write_text(
        'benchmark = ["{python}", "-c", "print(1); print(dict(t_s={entries}).__repr__().replace(chr(39), chr(34)))"]\n'
        '[sweep]\nentries = [1, 2]\nseeds = [1, 2, 3]\n[[plot]]\nx = "entries"\ny = "t_s"\n'
    )
    result = cli("reproduce", "bench.toml", "--trust", "--json")
    assert result.code == 0, result.err
    series = json.loads(result.out)["experiments"][0]["plots"][0]["series"]
    assert [(row["x"], row["mean"], row["runs"]) for row in series] == [(1, 1.0, 3), (2, 2.0, 3)]
    for command, message in (
        ("['false']", "exit code 1"),
        ("['no-such-program']", "No such file"),
        ("['echo']", "JSON"),
        ("['echo', '[1, 2]']", "not a JSON object of finite numbers"),
        ("['echo', '{t_s: text}']", "not a JSON object of finite numbers"),
        ("['{python}', '-c', 'print(chr(91) * 200000)']", "not a JSON object of finite numbers"),
    ):
        (work / "bench.toml").write_text(f"benchmark = {command}\n[sweep]\nentries = 1\n".replace("'", '"'))
        with pytest.raises(RunError, match=message):
            fanin.sweep(fanin.Scenario("bench.toml"), out=None, trust=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"t_s": "text"}', "not a JSON object of finite numbers"),
        ('{"t_s": [1]}', "not a JSON object of finite numbers"),
        ('{"t_s": NaN}', "not a JSON object of finite numbers"),
        ('{"t_s": true}', "not a JSON object of finite numbers"),
        ('{"t_s": 1, "entries": 7, "run_id": 3}', "has entries, run_id, which is not its to say"),
    ],
)
def test_what_a_benchmark_prints_is_numbers_of_its_own(work, line, message):
    (work / "bench.toml").write_text(f"benchmark = {json.dumps(['echo', line])}\n[sweep]\nentries = 1\n")
    with pytest.raises(RunError, match=message):
        fanin.sweep(fanin.Scenario("bench.toml"), out=None, trust=True)


def test_a_benchmark_has_a_command(cli, work):
    (work / "bench.toml").write_text("benchmark = []\n[sweep]\nentries = 1\n")
    result = cli("check", "bench.toml")
    assert result.code == 3
    assert "benchmark" in result.err


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_program_that_was_started_ends_with_the_command(work, name):
    (work / "bench.toml").write_text(
        'benchmark = ["sh", "-c", "sleep 600 & echo $! > started; wait"]\n[sweep]\nentries = 1\n'
    )
    command = [sys.executable, "-m", "fanin", "reproduce", "bench.toml", "--trust"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        while not (work / "started").exists() or not (work / "started").read_text().strip():
            assert program.poll() is None
            time.sleep(0.01)
        program.send_signal(getattr(signal, name))
        _, said = program.communicate(timeout=60)
    assert "interrupted" in said
    assert program.returncode == 128 + getattr(signal, name)
    status = Path(f"/proc/{(work / 'started').read_text().strip()}/stat")

    def ended() -> bool:
        try:
            # It may be left for whoever collects it.
            return status.read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    # What is killed may end a little later on a busy machine.
    assert any(ended() or time.sleep(0.05) for _ in range(600))


class TestTrust:
    """A file from elsewhere starts no program unless the user agrees."""

    @pytest.fixture
    def bench(self, work):
        """A file whose program leaves a trace."""
        (work / "bench.toml").write_text('benchmark = ["touch", "started"]\n[sweep]\nentries = 1\n')
        return work

    def test_without_a_terminal_it_is_refused(self, cli, bench):
        result = cli("reproduce", "bench.toml")
        assert result.code == 3
        assert result.err == (
            "error: bench.toml: benchmark: starts a program: touch started; if you trust the file, allow it with "
            "--trust (in Python: trust=True)\n"
        )
        with pytest.raises(fanin.ScenarioError, match="starts a program"):
            fanin.sweep(fanin.Scenario("bench.toml"), out=None)
        assert not (bench / "started").exists()

    @pytest.mark.parametrize(
        ("words", "sweep", "said"),
        [
            (
                ["{program}", "-c", "echo {what}\n{entries}"],
                "entries = [1, 2]\nprogram = ['sh']\nwhat = ['hello', 'touch it']\nunused = ['x']\n",
                r"sh -c 'echo hello\n{entries}'; or: sh -c 'echo touch it\n{entries}'",
            ),
            (["sh", "-c", "{a}"], "a = ['echo']\n[quick]\na = ['touch it']\n", "sh -c echo; or: sh -c 'touch it'"),
            (["sh", "-c", "{a}"], "a = ['{b}']\nb = ['touch it']\n", "sh -c '{b}'"),
            (["sh", "-c", "{{x}}"], "x = ['b']\nb = ['touch it']\n", "sh -c '{b}'"),
            (
                ["true", "{x}", "{y}"],
                "seeds = '1..2'\n[variant.k]\nA = { x = '1a' }\nB = { y = '; it' }\n",
                "true 1a '{y}'; or: true '{x}' '; it'",
            ),
            (["echo", " " * 4000 + "safe\u2800"], "a = 1\n", r"echo ' (4000 spaces) safe\u2800'"),
            (["echo", "a\\nb"], "a = 1\n", r"echo 'a\\nb'"),
            (["{a}{b}"], "a = ['x']\nb = ['y']\n'a}{b' = [7]\n", "xy"),
            (["echo", "." * 300], "a = 1\n", f"echo {'.' * 300} (1 commands, 305 characters: read them all)"),
        ],
    )
    def test_what_is_asked_is_what_is_started(self, cli, work, words, sweep, said):
        (work / "hidden.toml").write_text(f"benchmark = {json.dumps(words)}\n[sweep]\n{sweep}")
        assert f"starts a program: {said}; if you trust" in cli("reproduce", "hidden.toml").err
        assert f"would start a program: {said}\n" in cli("check", "hidden.toml").err

    def test_a_value_is_not_looked_at_for_further_names(self, work):
        words = json.dumps(["sh", "-c", 'echo "$0" >started; echo \'{"t": 1}\'', "{a}"])
        (work / "chain.toml").write_text(f"benchmark = {words}\n[sweep]\na = ['{{b}}']\nb = ['hidden']\n")
        fanin.sweep(fanin.Scenario("chain.toml"), out=None, trust=True)
        assert (work / "started").read_text() == "{b}\n"

    @pytest.mark.parametrize(("answer", "started"), [("n", False), ("y", True)])
    def test_on_a_terminal_the_user_is_asked(self, bench, answer, started):
        program, terminal = pty.fork()
        if program == 0:
            os.execv(sys.executable, [sys.executable, "-m", "fanin", "reproduce", "bench.toml"])
        shown = b""
        with contextlib.suppress(OSError):
            while b"Start it? [y/N]" not in shown:
                shown += os.read(terminal, 1000)
            os.write(terminal, answer.encode() + b"\n")
            while os.read(terminal, 1000):
                pass
        os.waitpid(program, 0)
        os.close(terminal)
        assert b"bench.toml starts a program: touch started" in shown
        assert (bench / "started").exists() == started

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
    def test_a_signal_at_the_question_ends_the_command(self, bench, name):
        program, terminal = pty.fork()
        if program == 0:
            os.execv(sys.executable, [sys.executable, "-m", "fanin", "reproduce", "bench.toml"])
        shown = b""
        while b"Start it? [y/N]" not in shown:
            shown += os.read(terminal, 1000)
        os.kill(program, getattr(signal, name))
        with contextlib.suppress(OSError):
            while os.read(terminal, 1000):
                pass
        _, status = os.waitpid(program, 0)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == 128 + getattr(signal, name)
        assert not (bench / "started").exists()

    def test_trust_starts_it(self, cli, bench):
        cli("reproduce", "bench.toml", "--trust")
        assert (bench / "started").exists()

    def test_check_says_so_and_starts_nothing(self, cli, bench):
        assert "`fanin reproduce` would start a program: touch started" in cli("check", "bench.toml").err
        assert not (bench / "started").exists()

    def test_the_packages_own_files_are_trusted(self, cli):
        assert "start a program" not in cli("check", "sdtcp/fig16").err


def test_what_a_benchmark_measured_is_stored_with_machine_and_date(cli, work):
    (work / "bench.toml").write_text(
        'benchmark = ["{python}", "-c", "print(dict(t_s={entries}).__repr__().replace(chr(39), chr(34)))"]\n'
        '[sweep]\nentries = [1, 2]\nseeds = [1, 2, 3]\n[[claim]]\nid = "c"\nsays = "It takes time."\nmeasure = "mean"\n'
        'x = "entries"\ny = "t_s"\naccept = [1, 2]\nwhy = "by hand"\n'
    )
    first = cli("reproduce", "bench.toml", "--trust")
    assert "bench: measured on this machine for the first time" in first.err
    manifests = [run.manifest for run in stored().values()]
    assert len(manifests) == 6
    finished = max(manifest["finished"] for manifest in manifests)
    assert {"entries": 2, "seed": 3} in [manifest["measured"]["point"] for manifest in manifests]
    reason = json.loads(cli("claims", "bench", "--json").out)[0]["reason"]
    assert f"measured on {manifests[0]['platform']}, {manifests[0]['cpus']} cores, {finished[:10]}" in reason
    page = Path("results/report/index.html").read_text()
    assert "running the experiment again repeats the measurement" in page
    assert finished[:10] in page
    second = cli("reproduce", "bench.toml", "--trust")
    assert f"bench: measured on this machine again, replacing the measurements of {finished[:10]}" in second.err
    assert len(stored()) == 6


def test_percentiles_and_fairness_by_hand():
    values = pl.Series([4.0, 1.0, 2.0, 3.0]).to_numpy()
    assert [percentile(values, percent) for percent in (0, 25, 26, 50, 99, 100)] == [1, 1, 2, 2, 4, 4]
    # In floating point each of these is one rank too high.
    ranks = np.arange(1.0, 1001.0)
    assert percentile(ranks, 99.9) == 999
    assert [percentile(ranks[:100], percent) for percent in (7, 14, 28, 55, 56)] == [7, 14, 28, 55, 56]
    assert jain(values) == pytest.approx(100 / 120)
    assert jain(values * 0) is None


def test_a_long_trace_keeps_its_extremes(paper):
    rows = pl.DataFrame({"x": [float(i) for i in range(100_000)], "y": [0.0] * 50_000 + [7.0] + [1.0] * 49_999})
    kept = series._thinned("a", rows)
    assert len(kept) <= 2000
    assert kept["mean"].max() == 7
    assert (kept["x"][0], kept["x"][-1]) == (0, 99_999)


def test_only_what_is_shown_of_a_trace_is_thinned():
    rows = pl.DataFrame({"x": [float(i) for i in range(100_000)], "y": [float(i % 7) for i in range(100_000)]})
    shown = series._shown(rows, (500.5, 1500.0))
    assert (shown["x"][0], shown["x"][-1], len(shown)) == (500, 1501, 1002)
    assert series._thinned("a", shown)["x"].to_list() == shown["x"].to_list()
    assert len(series._shown(rows, (0.0, 10.0))) == 12
    assert len(series._shown(rows, (99_990.0, 200_000.0))) == 11
    assert series._shown(rows, None) is rows


def test_a_named_line_to_be_relative_to_must_exist(paper):
    text = paper.read_text().replace('relative-to = "TCP"', 'relative-to = "UDP"')
    paper.write_text(text)
    runs = fanin.sweep(fanin.Scenario(paper), quick=True, out=None)
    with pytest.raises(FaninError, match="no line UDP"):
        series.series_of(runs.scenario.document.plot[1], runs, runs.frame())


def test_columns_may_be_of_what_receiving_hosts_show(cli, work):
    column = '[[column]]\nid = "acks"\nlabel = "Waiting"\nof = "host-probes.value"\nrows = { name = "acks-waiting" }\n'
    text = Path("small.toml").read_text().replace("[transport]\n", '[transport]\nscheme = "rcc"\n')
    Path("acks.toml").write_text(text + '[measure]\nprobes = "acks-waiting"\n' + column)
    assert cli("check", "acks.toml").code == 0
    Path("wrong.toml").write_text(Path("acks.toml").read_text().replace("probes.value", "probes.size"))
    assert cli("check", "wrong.toml").code == 3


def test_a_root_with_hosts_of_its_own_stands_above_the_switches_that_it_joins() -> None:
    tree = {"root": ["client", "edge-0", "edge-1"], "edge-0": ["root", "a"], "edge-1": ["root", "b"]}
    hosts = {"client": ["root"], "a": ["edge-0"], "b": ["edge-1"]}
    found = levels(tree | hosts, dict.fromkeys(tree, 1) | dict.fromkeys(hosts, 0))
    assert [found[name] for name in ("client", "edge-0", "edge-1", "root")] == [0, 1, 1, 2]


def test_hosts_stand_below_their_switch_and_no_link_of_theirs_crosses_another() -> None:
    near = {"root": ["client", "b", "a"], "a": ["root", "a1", "a2"], "b": ["root", "b1"], "client": ["root"]}
    near |= {"a1": ["a"], "a2": ["a"], "b1": ["b"]}
    rows, places = arranged({0: ["client", "b1", "a1", "a2"], 1: ["a", "b"], 2: ["root"]}, near)
    assert rows == {0: ["a1", "a2", "b1", "client"], 1: ["a", "b"], 2: ["root"]}
    assert places == {"a1": 0.125, "a2": 0.375, "b1": 0.625, "client": 0.875, "a": 0.25, "b": 0.625, "root": 0.5}


@pytest.mark.parametrize("formula", ["({flows} + 1) ** 1000", "sqrt(-{flows})", "1 / ({flows} - {flows})"])
def test_a_plot_whose_rows_have_no_values_is_a_warning_of_that(cli, paper, formula):
    text = paper.read_text()
    column = f'[[column]]\nid = "drawn"\nlabel = "d"\nformula = "{formula}"\n'
    paper.write_text(f'{text[: text.index("[[column]]")]}{column}[[plot]]\nid = "p"\nx = "flows"\ny = "drawn"\n')
    result = cli("reproduce", "paper.toml", "--quick")
    assert result.code == 0
    assert "warning: paper: plot p: none of its rows has finite values of flows and drawn" in result.err
    assert "no rows" not in result.err


def test_two_columns_of_one_name_are_two_lines(cli, paper):
    text = paper.read_text()
    column = """
[[column]]
id = "drops_PORT"
label = "Lost: PORT"
formula = "{drops} + NUMBER"
"""
    columns = "".join(
        column.replace("PORT", port).replace("NUMBER", add) for port, add in (("here", "1"), ("there", "2"))
    )
    plot = '[[plot]]\nid = "lost"\nx = "flows"\ny = ["drops_here", "drops_there"]\n'
    paper.write_text(text[: text.index("[[column]]")] + columns + plot)
    assert cli("reproduce", "paper.toml", "--quick").code == 0
    assert set(pl.read_csv(paper.parent / "results/paper/lost.csv")["by"]) == {"here", "there"}


def test_an_environment_or_a_value_for_all_systems_is_kept_apart(cli, work):
    first = cli("reproduce", "small.toml", "--quick", "--environment", "qualnet", "--set", "transport.rto-min=20ms")
    assert first.code == 0, first.err
    apart = work / "results/changed/environment=qualnet,transport.rto-min=20ms"
    record = json.loads((apart / "small/claims.json").read_text())
    assert record["scenario"]["transport"]["mss"] == "512B"
    assert record["scenario"]["transport"]["rto-min"] == "20ms"
    command = "fanin reproduce small.toml --quick --environment qualnet --set transport.rto-min=20ms"
    assert record["command"] == command
    assert "these verdicts are not those on the paper" in record["warnings"][0]
    assert "these verdicts are not those on the paper" in first.err
    assert not (work / "results/small").exists()
    told = cli("reproduce", "small.toml", "--quick", "--set", "traffic.bursts.senders=4")
    assert "traffic.bursts.senders keeps its value in [sweep]" in told.err


def test_a_network_of_more_hosts_than_a_table_is_guessed_from_is_drawn(cli, work):
    racks = '[network]\ntopology = "leaf-spine"\nhosts-per-leaf = 60\n'
    traffic = '[[traffic]]\nname = "flows"\nkind = "incast"\nsenders = 2\nbytes-each = "1KB"\n'
    (work / "racks.toml").write_text(f'{racks}{traffic}[[plot]]\nid = "network"\nkind = "topology"\n')
    assert cli("reproduce", "racks.toml", "--out", "results").code == 0
    drawn = pl.read_csv(work / "results/racks/network.csv")
    assert {"leaf-0", "spine-0"} <= {*drawn["from"]}


def test_a_picture_of_a_network_shows_its_bottleneck_and_buffers(work, tmp_path):
    small = fanin.Scenario("small.toml")
    plot = Plot.model_validate({"kind": "topology", "id": "network"})
    _, csv = topology.draw_topology(plot, small.network(), small.buffers(), tmp_path, also=())
    text = csv.with_suffix(".svg").read_text()
    assert "bottleneck: switch-0-&gt;switch-1" in text
    assert "buffer of a switch's port: 20 packets" in text
    assert pl.read_csv(csv).filter("bottleneck").select("from", "to").rows() == [("switch-0", "switch-1")]
    shared = {"network.admission": "dynamic-threshold", "network.shared-buffer": "4MB", "network.dt-alpha": "1"}
    assert fanin.Scenario("small.toml").set(shared).buffers() == "a switch's ports share 4 MB (dynamic threshold 1)"
    tiers = {"network.topology": "leaf-spine", "network.spine-buffer": "300KB"}
    assert fanin.Scenario("small.toml").set(tiers).buffers() == "buffer of a switch's port: 20 packets, spine 300 KB"


def test_a_caption_says_of_how_many_seeds_and_transfers_a_point_is(cli, paper):
    head = paper.read_text().partition("[[plot]]")[0]
    plots = ("y = 'fct_p99_s'", "y = 'fct_mean_s'", "y = 'goodput_bps'", "kind = 'cdf'")
    for number, keys in enumerate(plots):
        x = "flows.fct_s" if "cdf" in keys else "traffic.bursts.senders"
        head += f'[[plot]]\nid = "p{number}"\nstyle = "column"\nx = "{x}"\nby = "system"\n{keys}\n'
    paper.write_text(head)
    done = cli("reproduce", "paper.toml")
    assert done.code == 0, done.err
    said = [(paper.parent / f"results/paper/p{number}.txt").read_text() for number in range(4)]
    transfers = pl.read_parquet(paper.parent / "results/paper/runs.parquet")["completed"]
    many = f"{transfers.filter(transfers > 0).min()} to {transfers.max()}"
    assert f" Points are means over 3 seeds, {many} transfers a run. Bands: " in said[0]
    assert all(" Points are means over 3 seeds. " in each for each in said[1:3])
    assert said[3] == "All 3 seeds together.\n"
