"""Names that come from files never lead out of the folder that they are meant for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fanin.claims import record
from fanin.errors import ResultsError
from fanin.names import checked, is_run_id
from fanin.results.layout import TAKEN
from fanin.scenario import library
from fanin.show.page_figures import figure

BAD = ["../x", "a/b", "/etc/passwd", "", ".", "..", ".hidden", "-o", "a\\b", "a\nb", "A", "a" * 101, "a\0", "ü"]
"""What no file may be called."""

PLOT = '[[plot]]\nid = "{}"\nx = "seed"\ny = "goodput_bps"\n'
CSV_PLOT = '[[plot]]\nx = "seed"\ny = ["traffic.{}.goodput_bps"]\n'


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_is_a_path_is_refused(name):
    with pytest.raises(ValueError, match="cannot be the name of a file"):
        checked(name)


def test_plain_names_pass():
    assert [checked(name) for name in ("goodput", "fig-9.b_2", "0")] == ["goodput", "fig-9.b_2", "0"]
    assert [is_run_id(name) for name in ("0123456789abcdef", "0123456789abcde", "../456789abcdef")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("verb", ["check", "reproduce", "sweep", "run", "compare", "capacity"])
@pytest.mark.parametrize(
    "said", [PLOT.format("../../x"), PLOT.format("/tmp/x"), CSV_PLOT.format("../x"), 'paper = "../x"\n']
)
def test_every_command_refuses_a_file_whose_names_are_paths(cli, work, verb, said):
    text = (work / "small.toml").read_text()
    path = work / "scenario.toml"
    path.write_text(said + text if said.startswith("paper") else text + said)
    result = cli(verb, "scenario.toml")
    assert result.code == 3
    assert "cannot be the name of a file" in result.err
    assert "scenario.toml:" in result.err


def test_a_record_that_names_files_elsewhere_is_damaged(cli, work):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    (found,) = (work / "results").rglob("claims.json")
    content = json.loads(found.read_text())
    content["plots"][0]["files"] = ["../../../../../../etc/passwd"]
    found.write_text(json.dumps(content))
    with pytest.raises(ResultsError, match="cannot be the name of a file"):
        record.read(found.parent)
    result = cli("report")
    assert "etc/passwd" not in "".join(page.read_text() for page in work.rglob("*.html"))
    assert "cannot be the name of a file" in result.out + result.err


@pytest.mark.parametrize("text", ["by,x\na\n", "by,x,mean\na,1,zz\n", "x,mean\n1,2\n", "", "by,x,mean\na,1,1e300\n"])
def test_what_is_no_figures_data_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    plot = record.PlotRecord(name="x", title="", x_label="", y_label="", y_scale=1e9, lines=["a"], files=["x.csv"])
    with pytest.raises(ResultsError, match=r"x\.csv: not the data of a figure"):
        figure(plot, [], tmp_path)


def test_an_unbalanced_quote_hides_no_rows_of_a_figure(tmp_path):
    (tmp_path / "x.csv").write_text('a,b\n1,"2\n3,4\n')
    plot = record.PlotRecord(name="x", title="", x_label="", y_label="", lines=[], files=["x.csv"])
    with pytest.raises(ResultsError, match=r"x\.csv: not the data of a figure \(unexpected end of data"):
        figure(plot, [], tmp_path, lambda name, _: name)


@pytest.mark.parametrize("name", ["...toml", "..toml", "a\nb.toml", "a\x1b[2Jb.toml"])
@pytest.mark.parametrize("verb", ["check", "run", "reproduce"])
def test_a_file_whose_name_leads_out_of_the_results_is_refused(cli, work, monkeypatch, verb, name):
    (work / name).write_text((work / "small.toml").read_text())
    result = cli(verb, f"./{name}")
    assert result.code == 3
    assert "cannot be the path of a file in a folder: rename the file" in result.err
    assert "\x1b" not in result.err
    assert not (work / "claims.json").exists()
    # Nor is it found as one of a library.
    (work / "experiments").mkdir()
    (work / name).rename(work / "experiments" / name)
    monkeypatch.setattr(library, "_ROOTS", (Path("experiments"),))
    assert "rename the file" in cli("reproduce", name.removesuffix(".toml")).err


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_no_experiment_writes_into_a_folder_of_other_results(cli, work, name):
    (work / f"{name}.toml").write_text((work / "small.toml").read_text())
    result = cli("reproduce", f"{name}.toml", "--quick")
    assert (result.code, "has others: rename it" in result.err) == (3, True)
    assert not (work / "results").exists()
    assert cli("check", f"{name}.toml").code == 0
