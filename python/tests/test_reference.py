"""``fanin compare --reference``: runs compared with other records."""

import json
import sys
from pathlib import Path

import polars as pl
import pytest

import fanin
from fanin.choose import reference
from fanin.choose.reference import Cell, Pairing, Records, Tolerance, column, join, tolerance
from fanin.errors import NotFoundError, ResultsError

SWEEP = """
[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "24pkt"
[[traffic]]
name = "servers"
kind = "incast"
senders = 4
bytes-each = "15KB"
jitter = "100us"
[run]
duration = "1s"
[sweep]
"traffic.servers.senders" = [2, 4]
seeds = "1..3"
"""

SENDERS = "traffic.servers.senders"


@pytest.fixture
def sweep(work, cli):
    """A small sweep, and its own totals as somebody else's records."""
    (work / "sweep.toml").write_text(SWEEP)
    made = cli("sweep", "sweep.toml", "--json")
    assert made.code == 0, made.err
    frame = pl.read_parquet(next(work.glob("results/sweeps/*/runs.parquet")))
    frame.write_parquet(work / "theirs.parquet")
    return frame


@pytest.fixture
def never_runs(sweep, monkeypatch):
    def never(*_, **__):
        raise AssertionError("it ran")

    monkeypatch.setattr("fanin.run.laboratory.Batches.run", never)


def compared(cli, *arguments, code=0):
    result = cli("compare", "sweep.toml", *arguments, "--json")
    assert result.code == code, result.err
    return json.loads(result.out)


def test_equal_records_agree(cli, sweep):
    found = compared(
        cli, "--reference", "theirs.parquet", "--tolerance", "goodput_bps=0", "--tolerance", "fct_p99_s=0%"
    )
    assert (found["key"], found["agrees"]) == ([SENDERS], True)
    assert [(each["key"][SENDERS], each["column"], each["values"]) for each in found["cells"]] == [
        ("2", "goodput_bps", [3, 3]),
        ("2", "fct_p99_s", [3, 3]),
        ("4", "goodput_bps", [3, 3]),
        ("4", "fct_p99_s", [3, 3]),
    ]
    assert {(each["difference"], each["p"], each["status"]) for each in found["cells"]} == {(0, None, "agrees")}
    text = cli("compare", "sweep.toml", "--reference", "theirs.parquet", "--tolerance", "goodput_bps=1%")
    assert text.code == 0
    assert "2 comparisons: 2 agrees" in text.out


def test_other_names_and_units_are_mapped(cli, sweep, work):
    named = sweep.select(n=pl.col(SENDERS), mbps=pl.col("goodput_bps") / 1e6)
    named.rename({"n": SENDERS}).write_csv(work / "theirs.csv")
    arguments = ("--reference", "theirs.csv", "--column", "goodput_bps=mbps*1e6")
    assert compared(cli, *arguments, "--tolerance", "goodput_bps=1bps")["agrees"]
    wrong = compared(
        cli, "--reference", "theirs.csv", "--column", "goodput_bps=mbps", "--tolerance", "goodput_bps=5%", code=1
    )
    assert {each["status"] for each in wrong["cells"]} == {"out of tolerance"}


def test_a_broken_tolerance_is_an_exit_code(cli, sweep, work):
    sweep.with_columns(pl.col("goodput_bps") * 1.04).write_csv(work / "theirs.csv")
    arguments = ("--reference", "theirs.csv", "--tolerance")
    assert compared(cli, *arguments, "goodput_bps=5%")["agrees"]
    found = compared(cli, *arguments, "goodput_bps=3%", code=1)
    assert {each["status"] for each in found["cells"]} == {"out of tolerance"}
    assert found["cells"][0]["difference"] == pytest.approx(1 / 1.04 - 1)


def test_keys_of_one_side_are_told(cli, sweep, work):
    other = sweep.with_columns(pl.col(SENDERS) + 2)
    other.write_csv(work / "theirs.csv")
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv", "--column", "flows=flows", "--json")
    found = json.loads(result.out)
    assert (found["ours_only"], found["theirs_only"]) == ([["2"]], [["6"]])
    assert f"the reference has no {SENDERS} = 2" in result.err
    assert f"no run of ours has {SENDERS} = 6" in result.err
    other.with_columns(pl.col(SENDERS) + 20).write_csv(work / "theirs.csv")
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv", "--column", "flows=flows")
    assert (result.code, f"theirs.csv: no {SENDERS} is in both" in result.err) == (3, True)


def test_rows_of_a_result_table_are_compared(cli, sweep, work):
    experiment = fanin.Scenario("sweep.toml")
    points = [(seed, {SENDERS: senders}) for senders in (2, 4) for seed in (1, 2, 3)]
    flows = pl.concat(experiment.set(values).run(seed).flows().select("fct_s") for seed, values in points)
    flows.write_parquet(work / "flows.parquet")
    found = compared(cli, "--reference", "flows.parquet", "--table", "flows", "--key", "", "--column", "fct_s=fct_s")
    (cell,) = found["cells"]
    assert (cell["values"], cell["p"], found["agrees"]) == ([18, 18], 1, True)


def test_records_without_a_varied_key_are_refused_before_anything_runs(cli, sweep, work, never_runs, monkeypatch):
    sweep.select(pl.col(SENDERS).alias("traffic.servers.sendrs"), "goodput_bps").write_csv(work / "theirs.csv")
    arguments = ("compare", "sweep.toml", "--reference", "theirs.csv", "--column", "goodput_bps=goodput_bps")
    result = cli(*arguments)
    assert (result.code, result.out) == (3, "")
    assert f'varies {SENDERS}, which these records lack (did you mean "traffic.servers.sendrs"?)' in result.err
    monkeypatch.undo()
    monkeypatch.chdir(work)
    assert "1 comparisons" in cli(*arguments, "--key", "").out


def test_blanks_around_names_and_values_of_records_do_not_count(cli, sweep, work):
    rows = "\n".join(f"{n} , {v}" for n, v in sweep.select(SENDERS, "goodput_bps").iter_rows())
    (work / "theirs.csv").write_text(f"{SENDERS} , rate\n{rows}\n")
    found = compared(cli, "--reference", "theirs.csv", "--column", "goodput_bps=rate", "--tolerance", "goodput_bps=0")
    assert (found["key"], found["agrees"], len(found["cells"])) == ([SENDERS], True, 2)


def test_a_missing_scipy_is_told_before_anything_runs(cli, sweep, work, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    arguments = ("--reference", "theirs.parquet", "--column", "goodput_bps=goodput_bps")
    # Two values are too few for a test.
    assert compared(cli, *arguments, "--seeds", "1,2", code=1)["cells"][0]["p"] is None

    def never(*_, **__):
        raise AssertionError("it ran")

    monkeypatch.setattr("fanin.run.laboratory.Batches.run", never)
    result = cli("compare", "sweep.toml", *arguments, "--level", "0.2")
    assert result.code == 3
    assert "-m pip install scipy" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reference", "none.csv"], "none.csv: no such file"),
        (["--reference", "theirs.parquet", "--column", "goodput_bps=a"], "no column a"),
        (["--reference", "theirs.parquet", "--column", "goodput_bps"], "is not OURS=THEIRS"),
        (["--reference", "theirs.parquet", "--tolerance", "goodput_bps=x"], "is not COLUMN=SHARE"),
        (["--reference", "theirs.parquet", "--key", "nonsense"], "theirs.parquet: no column nonsense"),
    ],
)
def test_what_impossible_compared_says_why(cli, sweep, arguments, message):
    result = cli("compare", "sweep.toml", *arguments)
    assert result.code in (2, 3)
    assert message in " ".join(result.err.replace("│", " ").split())


def frames(ours, theirs):
    own, other = (
        pl.DataFrame(
            {"n": [n for n, values in side.items() for _ in values], "y": [v for vs in side.values() for v in vs]}
        )
        for side in (ours, theirs)
    )
    return own, records(other)


def records(frame):
    return Records(Path("theirs.parquet"), frame)


def test_distributions_with_the_same_mean_may_differ():
    narrow, wide = [10.0 + i / 100 for i in range(-20, 21)], [10.0 + i for i in range(-20, 21)]
    found = join(*frames({1: narrow}, {1: wide}), ["n"], [Pairing("y", "y")], {"y": Tolerance(share=0.01)}, 0.01)
    (cell,) = found.cells
    assert (cell.within, cell.status) == (True, "other distribution")
    assert cell.p < 1e-4
    assert not found.agrees
    # Scaling all by one factor is what a mapped unit does.
    found = join(*frames({1: wide}, {1: [each / 8 for each in wide]}), ["n"], [Pairing("y", "y", 8.0)], {}, 0.01)
    assert (found.cells[0].within, found.cells[0].status) == (None, "agrees")


def test_the_level_holds_for_all_tests_together():
    def rejected(*ps, level=0.05):
        cells = [Cell(("1",), "y", 1.0, 1.0, (9, 9), None, p) for p in ps]
        return [cell.rejected for cell in reference._rejected(cells, level)]

    assert rejected(0.04) == [True]
    assert rejected(0.04, 0.5) == [False, False]
    assert rejected(0.5, 0.02, None, 0.04) == [False, False, False, False]
    assert rejected(0.04, 0.01, 0.02) == [True, True, True]


def test_too_few_values_are_not_tested_and_need_no_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    few = frames({1: [1.0] * 4}, {1: [5.0] * 4})
    found = join(*few, ["n"], [Pairing("y", "y")], {}, 0.01)
    assert (found.cells[0].p, found.cells[0].status, found.agrees) == (None, "not tested", False)
    # Two of the 70 orders of four and four values are as far apart as that.
    with pytest.raises(NotFoundError, match="-m pip install scipy"):
        join(*few, ["n"], [Pairing("y", "y")], {}, 2 / 70 + 1e-9)
    assert join(*few, ["n"], [Pairing("y", "y")], {"y": Tolerance(number=4)}, 0.01).agrees


def test_a_test_counts_only_if_it_could_reject_beside_the_others():
    five, six = reference._least_p(5, 5), reference._least_p(6, 6)
    assert (five, six) == (pytest.approx(2 / 252), pytest.approx(2 / 924))
    assert reference._able([five], 0.01) == [True]
    assert reference._able([five, five], 0.01) == [False, False]
    assert reference._able([five, six, six], 0.01) == [False, True, True]
    assert reference._able([reference._least_p(4800, 2)], 1.0) == [False]


def test_where_nothing_was_tested_it_does_not_say_that_it_agrees(cli, sweep, work):
    (work / "theirs.csv").write_text("fct_s\n1\n1\n")
    arguments = ("--reference", "theirs.csv", "--table", "flows", "--key", "", "--column", "fct_s=fct_s")
    result = cli("compare", "sweep.toml", *arguments)
    assert (result.code, "agrees" in result.out) == (1, False)
    assert "1 comparisons: 1 not tested" in result.out
    assert "not tested: there is no --tolerance" in result.out
    found = compared(cli, *arguments, code=1)
    assert ([each["status"] for each in found["cells"]], found["agrees"]) == (["not tested"], False)


def test_equal_numbers_are_one_key_however_they_are_written():
    ours = pl.DataFrame({"size": ["64KB", "1MB"], "on": [True, False], "y": [1.0, 2.0]})
    theirs = pl.DataFrame({"size": [64000, 1000000], "on": ["true", "false"], "y": [1.0, 3.0]})
    found = join(ours, records(theirs), ["size", "on"], [Pairing("y", "y")], {"y": Tolerance(number=0.5)}, 0.01)
    assert [(cell.key, cell.status) for cell in found.cells] == [
        (("64000", "true"), "agrees"),
        (("1000000", "false"), "out of tolerance"),
    ]


def test_a_cell_without_a_number_does_not_agree():
    ours = pl.DataFrame({"y": [None, None]}, schema={"y": pl.Float64})
    found = join(ours, records(pl.DataFrame({"y": [1.0]})), [], [Pairing("y", "y")], {}, 0.01)
    assert (found.cells[0].status, found.agrees) == ("no value", False)
    assert found.cells[0].as_dict([])["ours"] is None


def test_tolerances_and_columns_are_read_with_their_units():
    assert tolerance("goodput_bps=5%") == ("goodput_bps", Tolerance(share=0.05))
    assert tolerance("fct_p99_s = 2ms") == ("fct_p99_s", Tolerance(number=0.002))
    assert tolerance("timeouts=2") == ("timeouts", Tolerance(number=2))
    assert column("goodput_bps=rate*1e6") == Pairing("goodput_bps", "rate", 1e6)
    assert column("drops = lost") == Pairing("drops", "lost")
    for text in ("goodput_bps", "=5%", "goodput_bps=-1", "goodput_bps=many", "goodput_bps=nan", "goodput_bps=inf"):
        with pytest.raises(ValueError, match="is not COLUMN"):
            tolerance(text)
    for text in ("drops=lost*1e999", "drops=lost*e"):
        with pytest.raises(ValueError, match="factor"):
            column(text)
    assert Tolerance(share=0.1).holds(0.9, 1.0)
    assert not Tolerance(share=0.1).holds(0.89, 1.0)
    assert Tolerance(0.1, 5.0).holds(4.0, 0.0)


def test_a_file_that_is_no_table_is_an_error(tmp_path):
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(ResultsError, match=r"bad\.parquet: neither CSV"):
        reference.read(tmp_path / "bad.parquet")


CELLS = f"# of a testbed\n{SENDERS},mbps,remark\n2,900,none\n4,{{}},\n4,,late\n"


@pytest.mark.parametrize("cell", ["78x0", '"7,650"', "inf", "1e999", "nan", "NA", "5_600", "0x10"])
def test_a_cell_that_is_no_number_is_named(cli, sweep, work, never_runs, cell):
    (work / "theirs.csv").write_text(CELLS.format(cell))
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv", "--column", "goodput_bps=mbps*1e6")
    said = repr(cell.strip('"'))
    assert (result.code, result.out) == (3, "")
    assert f"theirs.csv:4: mbps: {said} is not a finite number; an empty cell is no value" in result.err
    # So it is where the column is compared because it has the name of ours.
    (work / "theirs.csv").write_text(CELLS.format(cell).replace("mbps", "goodput_bps"))
    assert "theirs.csv:4: goodput_bps: " in cli("compare", "sweep.toml", "--reference", "theirs.csv").err


def test_an_empty_cell_is_no_value_and_a_text_beside_is_not_read(cli, sweep, work):
    (work / "theirs.csv").write_text(CELLS.format(850))
    found = compared(
        cli, "--reference", "theirs.csv", "--column", "goodput_bps=mbps*1e6", "--tolerance", "goodput_bps=1Gbps"
    )
    assert [cell["values"] for cell in found["cells"]] == [[3, 1], [3, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{n},mbps\n2,900\n4\n", "theirs.csv:3: 1 fields, but the header has 2"),
        ("{n},mbps\n2,900\n4,850,1\n", "theirs.csv:3: 3 fields, but the header has 2"),
        ("{n},mbps, mbps\n2,900,1\n", "theirs.csv:1: two columns are called 'mbps'"),
        ('{n},mbps\n2,"900\n4,850\n', "theirs.csv:2: not a CSV file"),
        ("{n},mbps\n2,9\0" + "00\n", "theirs.csv:2: no text"),
        ("", "theirs.csv: nothing in it"),
    ],
)
def test_a_row_that_is_no_row_is_named(cli, sweep, work, never_runs, text, message):
    (work / "theirs.csv").write_text(text.replace("{n}", SENDERS))
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv", "--column", "goodput_bps=mbps*1e6")
    assert (result.code, message in result.err) == (3, True), result.err


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (pl.lit(b"900"), "the column mbps is of Binary, not of numbers"),
        (pl.concat_list(pl.lit(9.0)), "the column mbps is of List(Float64), not of numbers"),
        (pl.concat_list(pl.lit(9.0)).list.to_array(1), "the column mbps is of Array(Float64"),
        (pl.lit("servers").cast(pl.Categorical), "row 1: mbps: 'servers' is not a finite number"),
        (pl.lit(float("inf")), "row 1: mbps: inf is not a finite number"),
    ],
)
def test_a_column_that_has_no_numbers_is_refused(cli, sweep, work, never_runs, theirs, message):
    sweep.select(SENDERS, mbps=theirs).write_parquet(work / "theirs.parquet")
    result = cli("compare", "sweep.toml", "--reference", "theirs.parquet", "--column", "goodput_bps=mbps*1e6")
    assert result.code == 3
    assert f"theirs.parquet: {message}" in result.err


def test_a_column_of_ours_that_has_no_numbers_is_refused(cli, sweep, work):
    fanin.Scenario("sweep.toml").run(1).flows().write_parquet(work / "flows.parquet")
    arguments = ("--reference", "flows.parquet", "--table", "flows", "--key", "")
    result = cli("compare", "sweep.toml", *arguments, "--column", "group=fct_s")
    assert (result.code, "our runs: the column group is not of numbers" in result.err) == (3, True)
    # Names and places are no quantities.
    found = json.loads(cli("compare", "sweep.toml", *arguments, "--json").out)
    assert "fct_s" in (columns := {cell["column"] for cell in found["cells"]})
    assert not {"group", "class", "flow", "src"} & columns


def test_records_without_a_column_of_ours_are_refused_before_anything_runs(cli, sweep, work, never_runs):
    pl.DataFrame({SENDERS: [2, 4], "remark": ["a", "b"]}).write_parquet(work / "theirs.parquet")
    result = cli("compare", "sweep.toml", "--reference", "theirs.parquet")
    assert (result.code, "theirs.parquet: no column is in both" in result.err) == (3, True)
    assert f"these records have {SENDERS}, remark, and our runs seed, goodput_bps, " in result.err
    result = cli("compare", "sweep.toml", "--reference", "theirs.parquet", "--table", "flow")
    assert (result.code, "there is no result table flow; there are flows, " in result.err) == (3, True)


def test_a_total_that_no_run_has_does_not_agree(cli, sweep, work):
    # Of a scheme with a table alone.
    (work / "theirs.csv").write_text(f"{SENDERS},table_evictions\n2,0\n4,0\n")
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv")
    assert (result.code, "theirs.csv: our runs have none of the columns" in result.err) == (3, True)
    # Beside one that they have, it is told that it is not compared.
    sweep.select(SENDERS, "goodput_bps").with_columns(table_evictions=pl.lit(0)).write_csv(work / "theirs.csv")
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv", "--level", "0.5")
    assert (result.code, "not compared, as our runs have none of it: table_evictions" in result.err) == (0, True)


def test_of_very_many_columns_a_message_names_some(cli, sweep, work):
    (work / "theirs.csv").write_text(",".join(f"c{place}" for place in range(3_000)) + "\n")
    result = cli("compare", "sweep.toml", "--reference", "theirs.csv")
    assert result.code == 3
    assert "which these records lack; there are c0, c1" in result.err
    assert len(result.err) < 2000
