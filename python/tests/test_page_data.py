"""The ledger, which is all that the page has of the runs: it is written whole, and its scenarios are valid."""

import json
import lzma
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fanin._engine import Scenario
from fanin.claims import ledger
from fanin.show import page_data, plain

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
        Scenario(toml, "ledger.toml", [("transport.scheme", scheme)] if scheme else []).check()


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
