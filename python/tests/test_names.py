"""Names that come from files never lead out of the folder that they are meant for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from fanin.claims import record
from fanin.errors import ResultsError
from fanin.names import checked, is_run_id
from fanin.results import sums
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
    names = [path.name for path in found.parent.iterdir() if path.name != sums.SUMS]
    (found.parent / sums.SUMS).write_bytes(sums.text_of(found.parent, names))
    with pytest.raises(ResultsError, match="cannot be the name of a file"):
        record.read(found.parent)
    result = cli("report")
    assert "etc/passwd" not in "".join(page.read_text() for page in work.rglob("*.html"))
    assert "cannot be the name of a file" in result.out + result.err


def test_the_report_follows_no_link(cli, work):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    (work / "secret").write_text("by,x,mean\nsecret,1,2\n")
    data = next((work / "results/small").rglob("*.csv"))
    data.unlink()
    data.symlink_to(work / "secret")
    result = cli("report")
    assert (result.code, "a link that leads out of results" in result.err) == (3, True), result.err
    report = [path for path in (work / "results" / "report").rglob("*") if path.is_file()]
    assert "secret,1" not in "".join(path.read_text() for path in report)


def test_no_picture_of_a_stranger_gets_into_the_report(cli, work):
    """With digests that match. Opened by itself an SVG is a document, and its scripts run."""
    assert cli("reproduce", "small.toml", "--quick").code == 0
    (found,) = (work / "results").rglob("claims.json")
    content = json.loads(found.read_text())
    hostile = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    names = ["a.svg", "a.html", "a.xml", "a.xhtml"]
    for name in (*names, *(name for name in content["plots"][0]["files"] if name.endswith(".svg"))):
        (found.parent / name).write_text(hostile)
    content["plots"][0]["files"] += names
    found.write_text(json.dumps(content))
    files = [path.name for path in found.parent.iterdir() if path.name != sums.SUMS]
    (found.parent / sums.SUMS).write_bytes(sums.text_of(found.parent, files))
    assert cli("report").code == 0
    report = [path for path in (work / "results" / "report").rglob("*") if path.is_file()]
    assert "alert(1)" not in "".join(path.read_text() for path in report)
    assert {path.suffix for path in report if path.name not in ("index.html", sums.SUMS)} == {".csv", ".toml"}


@pytest.mark.parametrize("place", ["small", "small/SHA256SUMS", "runs", "sweeps"])
def test_no_command_writes_through_a_link_that_leads_out(cli, work, place):
    (work / "outside").mkdir()
    path = work / "results" / place
    path.parent.mkdir(parents=True)
    path.symlink_to(work / "outside")
    for verb in ("reproduce", "sweep", "run"):
        result = cli(verb, "small.toml")
        assert (result.code, "a link that leads out of results" in result.err) == (3, True), result.err
    assert not any((work / "outside").iterdir())


def test_links_within_the_results_and_to_them_are_followed(cli, work):
    (work / "disk" / "all").mkdir(parents=True)
    (work / "results").symlink_to(work / "disk")
    (work / "disk" / "runs").symlink_to("all")
    assert cli("run", "small.toml").code == 0
    assert any((work / "disk" / "all").iterdir())


def test_a_run_in_the_folder_of_another_is_read_by_no_command(cli, work):
    run = Path(json.loads(cli("run", "small.toml", "--json").out)["paths"]["folder"])
    other = run.rename(run.with_name("0123456789abcdef"))
    for verb in ("describe", "export", "fct"):
        result = cli(verb, str(other))
        assert (result.code, f"it is that of {run.name}" in result.err) == (3, True), result.err


@pytest.mark.parametrize("text", ["by,x\na\n", "by,x,mean\na,1,zz\n", "x,mean\n1,2\n", "", "by,x,mean\na,1,1e300\n"])
def test_a_figures_data_of_a_stranger_are_shown_or_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    plot = record.PlotRecord(name="x", title="", x_label="", y_label="", y_scale=1e9, lines=["a"], files=["x.csv"])
    with pytest.raises(ResultsError, match=r"x\.csv: not the data of a figure"):
        figure(plot, [], tmp_path)


def test_an_unbalanced_quote_hides_no_rows_of_a_figure(tmp_path):
    (tmp_path / "x.csv").write_text('a,b\n1,"2\n3,4\n')
    plot = record.PlotRecord(name="x", title="", x_label="", y_label="", lines=[], files=["x.csv"])
    with pytest.raises(ResultsError, match=r"x\.csv: not the data of a figure \(unexpected end of data"):
        figure(plot, [], tmp_path, lambda name, _: name)


def test_a_figures_data_through_a_link_are_not_read(tmp_path):
    (tmp_path / "secret.csv").write_text("by,x,mean\na,1,2\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/x.csv").symlink_to("../secret.csv")
    plot = record.PlotRecord(name="x", title="", x_label="", y_label="", lines=["a"], files=["x.csv"])
    assert figure(plot, [], tmp_path / "results")["lines"] == []


@pytest.mark.parametrize("key", ["scenario", "each", "seeds"])
def test_a_log_of_a_stranger_holds_runs_or_counts_as_damaged(cli, work, key):
    """With digests that match."""
    assert cli("sweep", "small.toml", "--seeds", "1").code == 0
    (log,) = (work / "results" / "runs").glob("*.jsonl")
    text = b""
    for line in log.read_bytes().splitlines():
        content = {**json.loads(line), key: []}
        del content["sha256"]
        rest = json.dumps(content).encode()[1:]
        text += b'{"sha256": "' + hashlib.sha256(rest).hexdigest().encode() + b'", ' + rest + b"\n"
    log.write_bytes(text)
    result = cli("sweep", "small.toml", "--seeds", "1")
    assert (result.code, "not runs); its runs are repeated" in result.err) == (0, True), result.err


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
