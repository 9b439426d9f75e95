"""The ledger, which is all that the page has of the runs: it is written whole, and its scenarios are valid."""

import json
import lzma
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fanin import _engine
from fanin.claims import ledger
from fanin.errors import ResultsError
from fanin.run.scenario import Scenario
from fanin.scenario import library
from fanin.show import claims_page, page_data, plain

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

SCENARIO = """\
title = "One ±"

[network]
topology = "star"

[[traffic]]
kind = "incast"
senders = 2
bytes-each = "16KB"
"""

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="an installed package has no documentation")


def test_every_scenario_of_the_page_is_valid_with_each_of_its_schemes():
    files = json.loads(lzma.decompress((ROOT / "web/ledger.json.xz").read_bytes()))
    experiments = [content for name, content in files.items() if name.startswith("experiments/")]
    every = [*files["presets.json"], *(each for experiment in experiments for each in experiment["scenarios"])]
    wanted = {(each["toml"], scheme) for each in every for scheme in each["compare"] or [""]}
    assert len(wanted) > 100
    for toml, scheme in wanted:
        _engine.Scenario(toml, "ledger.toml", [("transport.scheme", scheme)] if scheme else []).check()


def test_what_is_written_is_unpacked_for_the_page(tmp_path):
    """Also of experiments that were not run, of which nothing is written."""
    assert ledger.standings(tmp_path / "none")
    (tmp_path / "web").mkdir()
    script = tmp_path / "web/data.py"
    script.write_bytes((ROOT / "web/data.py").read_bytes())
    (tmp_path / "docs/guides").mkdir(parents=True)
    (tmp_path / "docs/guides/a.md").write_text(f"# A\n\n```toml\n# one.toml\n{SCENARIO}```\n")
    old = tmp_path / "web/public/data/experiments/old.json"
    old.parent.mkdir(parents=True)
    old.touch()
    page_data.write(tmp_path / "none", tmp_path / "docs", tmp_path / "web/ledger.json.xz")
    subprocess.run([sys.executable, script], check=True)
    files = {path.name: json.loads(path.read_text()) for path in (tmp_path / "web/public/data").rglob("*.json")}
    assert sorted(files) == ["papers.json", "presets.json"]
    assert files["papers.json"]["sentences"] == []
    assert [each["title"] for each in files["presets.json"]] == ["One ±"]
    assert "# Claims of the papers" in (tmp_path / "docs/papers/claims.md").read_text()


def test_the_page_of_a_paper_has_its_sentences_and_its_picture(tmp_path):
    """Between its marks; what has no results stays as it is."""
    kept = json.loads(lzma.decompress((ROOT / "web/ledger.json.xz").read_bytes()))["papers.json"]
    page = tmp_path / "docs/papers/sdtcp.md"
    picture, figure = tmp_path / "docs/pictures/sdtcp.svg", tmp_path / "results/sdtcp/fig9/goodput.svg"
    page.parent.mkdir(parents=True)
    marks = "<!-- sentences of {}: written by `make ledger` -->\n\nold\n\n<!-- end of sentences -->"
    image = "<!-- from results/sdtcp/fig9/goodput.svg -->\n![Goodput](../pictures/sdtcp.svg)"
    text = f"# Before\n\n{image}\n\n{marks.format('sdtcp')}\n\nAfter\n\n{marks.format('other')}\n"
    page.write_text(text)
    claims_page.write_into_pages(tmp_path / "docs", kept, tmp_path / "results")
    written = page.read_text()
    table = written.partition("-->\n\n| sentence |")[2].partition("\n\n")[0]
    (paper,) = [each for each in kept["papers"] if each["key"] == "sdtcp"]
    assert table.count("\n") == paper["sentences"] + 1
    legend = written.partition("-->\n\n| sentence |")[2].split("\n\n")[1].splitlines()[0]
    assert legend.startswith("**") and "**Not found**: none of the settings that were tried gives it. **" in legend
    assert "fanin claims --details sdtcp" in written
    assert written.startswith(f"# Before\n\n{image}\n\n")
    assert written.endswith(f"\n<!-- end of sentences -->\n\nAfter\n\n{marks.format('other')}\n")
    assert not picture.exists()
    figure.parent.mkdir(parents=True)
    with pytest.raises(ResultsError, match=r"goodput\.svg: no such figure"):
        claims_page.write_into_pages(tmp_path / "docs", kept, tmp_path / "results")
    figure.write_text("<svg/>")
    claims_page.write_into_pages(tmp_path / "docs", kept, tmp_path / "results")
    assert (page.read_text(), picture.read_text()) == (written, "<svg/>")


def test_sentences_that_differ_in_numbers_alone_keep_their_measures():
    says = ["It takes 5.5 ms (mean).", "It takes 1,150 ms (median).", "It takes no time (mean)."]
    shared = dict.fromkeys(("verdict", "mark", "published", "ours", "condition"), "") | {"edge": False, "late": ""}
    page = claims_page.table([{"figure": "Fig. 1", "experiment": "", "says": each, **shared} for each in says])
    told = [line.split(" | ")[0].removeprefix("| Fig. 1: ") for line in page.splitlines() if "Fig. 1" in line]
    assert told == [*says[:2], "It takes no time."]


def test_every_paper_has_a_page_for_its_sentences_and_a_picture_that_an_experiment_draws():
    kept = json.loads(lzma.decompress((ROOT / "web/ledger.json.xz").read_bytes()))["papers.json"]
    every = [
        path.read_text(encoding="utf-8") for folder in ("papers", "validation") for path in DOCS.glob(f"{folder}/*.md")
    ]
    placed = [place["paper"] for text in every for place in claims_page.BETWEEN.finditer(text)]
    assert sorted(placed) == sorted(paper["key"] for paper in kept["papers"])
    pictures = [name for text in every for name, _ in claims_page.PICTURE.findall(text)]
    assert len(pictures) == 5
    for name in pictures:
        key, _, figure = name.removesuffix(".svg").rpartition("/")
        experiment = Scenario.named(key, library.experiments()[key])
        (plot,) = [each for each in experiment.document.plot if each.name == figure]
        assert plot.published, name
    assert (DOCS / "papers/claims.md").read_text(encoding="utf-8").count("\n") <= 80


def test_a_scenario_is_written_as_it_was_read():
    base = {
        "environment": "ns3",
        "network": {"topology": "star", "buffer": "100pkt"},
        "transport": {"sack": True},
        "scheme": {"dctcp": {"g": 0.0625}},
        "traffic": [{"kind": "incast", "senders": 4}, {"kind": "background", "name": 'a "b"', "links": [1, 2]}],
    }
    assert tomllib.loads(plain.written(base)) == base


def test_values_of_a_point_are_put_into_the_scenario():
    base = {"network": {"buffer": "1MB"}, "traffic": [{"name": "bursts", "senders": 1}, {"kind": "background"}]}
    values = {
        "traffic.bursts.senders": 9,
        "traffic.background.flows": 2,
        "scheme.sdtcp.poll": "1ms",
        "network.buffer": "2MB",
    }
    assert plain.applied(base, values) == {
        "network": {"buffer": "2MB"},
        "traffic": [{"name": "bursts", "senders": 9}, {"kind": "background", "flows": 2}],
        "scheme": {"sdtcp": {"poll": "1ms"}},
    }
    assert base["network"] == {"buffer": "1MB"}
