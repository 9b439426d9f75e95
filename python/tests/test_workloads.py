import json

import pytest

from fanin.errors import ScenarioError
from fanin.run.scenario import Scenario
from fanin.scenario import catalogue

SCENARIO = """
[network]
topology = "leaf-spine"
rate = "10Gbps"
[[traffic]]
kind = "poisson"
from = "all"
to = "all"
bytes-each = "web-search"
load = "30%"
[[traffic]]
kind = "requests"
from = "all"
to = "all"
fan-in = 12
bytes-each = "20KB"
interval = "50us"
[run]
duration = "200us"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "load.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_check_says_what_a_load_was_computed_from(scenario, cli):
    flows, queries = json.loads(cli("check", str(scenario), "--json").out)["offered"]
    hosts = flows["capacity_bps"] / 10e9
    assert flows["group"] == "poisson"
    assert flows["mean_bytes"] == pytest.approx(1_478_656, rel=1e-6)
    assert flows["load_of"] == "receivers"
    assert flows["interval_s"] == pytest.approx(flows["mean_bytes"] * 8 / (0.3 * hosts * 10e9), rel=1e-6)
    assert queries["mean_bytes"] == 240_000
    assert queries["load"] == pytest.approx(240_000 * 8 / 50e-6 / queries["capacity_bps"])


def test_a_run_shows_the_mean_that_was_used(scenario, cli):
    assert "poisson\t1,478,656 B" in cli("run", str(scenario), "--no-store", "--all", "--tsv").out


def test_every_workload_is_listed_and_explained():
    for entry in catalogue.entries("workloads"):
        explained = catalogue.explain(entry["key"])
        assert explained["kind"] == "workload"
        assert explained["mean_bytes"] == pytest.approx(explained["stated_mean_bytes"], rel=explained["mean_tolerance"])
        for said in ("citation", "source", "precision", "mean_from"):
            assert explained[said] in explained["manual"]
        assert explained["interpolation"] == "linear"


def test_an_unknown_workload_names_the_nearest(scenario):
    with pytest.raises(ScenarioError, match=r"did you mean .data-mining."):
        Scenario(scenario).set({"traffic.poisson.bytes-each": "data-minning"}).check()


def test_a_load_that_nothing_carries_is_a_warning(cli, work):
    text = (
        '[network]\ntopology = "star"\nsender-hosts = 4\n[[traffic]]\nname = "all"\nkind = "poisson"\nfrom = "all"\n'
        'to = "all"\nbytes-each = "10KB"\ncount = 5\nload = "140%"\n'
    )
    (work / "full.toml").write_text(text)
    assert "traffic.all: offers 140 % of what its receivers can carry" in cli("check", "full.toml").err
    (work / "full.toml").write_text(text.replace("140%", "90%"))
    assert "offers" not in cli("check", "full.toml").err
