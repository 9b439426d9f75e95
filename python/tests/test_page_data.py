"""The data files of the page that are committed: they agree with the documentation, and their scenarios run."""

import json
import tomllib
from pathlib import Path

import pytest

from fanin._engine import Scenario
from fanin.claims import ledger
from fanin.show import page_data, plain, ranking_matrix

ROOT = Path(__file__).parents[2]
DATA = ROOT / "web/public/data"
DOCS = ROOT / "docs"
PAPERS = json.loads((DATA / "papers.json").read_text(encoding="utf-8"))
PRESETS = json.loads((DATA / "presets.json").read_text(encoding="utf-8"))


def _rows(page: Path) -> dict[str, list[str]]:
    """The table of papers on the page of claims: paper -> its cells."""
    rows = [line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("| [")]
    return {cells[0].partition("]")[0].strip("["): cells[1:] for cells in rows}


def test_the_papers_have_the_verdicts_of_the_claims_page():
    shown = {
        paper["name"]: [
            *map(str, paper["counts"].values()),
            str(paper["sentences"]),
            str(paper["late"]),
            f"{paper['reproduced']} of {paper['cases']}",
        ]
        for paper in PAPERS["papers"]
    }
    assert shown == _rows(DOCS / "papers/claims.md")
    text = (DOCS / "papers/claims.md").read_text()
    assert f"{PAPERS['runs']} simulated runs ({PAPERS['hops']} packet-hops; engine {PAPERS['engine']}" in text


def test_every_paper_counts_its_sentences():
    for paper in PAPERS["papers"]:
        own = [
            each["verdict"]
            for each in PAPERS["sentences"]
            if each["paper"] == paper["key"] and not each["same_as"] and not each["half_of"]
        ]
        assert {name: own.count(name) for name in paper["counts"]} == paper["counts"]


@pytest.mark.parametrize("paper", [paper["key"] for paper in PAPERS["papers"]])
def test_numbers_of_cases_are_those_of_the_papers_page(paper):
    page = (DOCS / f"papers/claims-{paper}.md").read_text()
    experiments = {each["experiment"] for each in PAPERS["sentences"] if each["paper"] == paper}
    for key in experiments:
        for sentence in json.loads((DATA / "experiments" / page_data.file_of(key)).read_text())["sentences"]:
            for case in sentence["cases"]:
                assert f"| {case['ours']} |" in page, sentence["id"]


def test_every_sentence_of_the_list_has_its_experiment_with_figure_and_scenario():
    for brief in PAPERS["sentences"]:
        kept = json.loads((DATA / "experiments" / page_data.file_of(brief["experiment"])).read_text())
        (found,) = [each for each in kept["sentences"] if each["id"] == brief["id"]]
        decisive = found["cases"][found["decides"]]
        assert decisive["ours"] == brief["ours"]
        if brief["verdict"] == "direction only" and not found["repeats"] and not found["tried"]:
            assert decisive["outcome"] == "direction only"
        if found["scenario"] is not None:
            assert kept["scenarios"][found["scenario"]]["compare"] == brief["systems"]
        if found["figure"] is not None:
            assert kept["figures"][found["figure"]]["lines"]


def _scenarios() -> dict[str, tuple[str, list[str]]]:
    found = {preset["id"]: (preset["toml"], preset["compare"]) for preset in PRESETS}
    for path in sorted((DATA / "experiments").rglob("*.json")):
        for index, each in enumerate(json.loads(path.read_text())["scenarios"]):
            found[f"{path.stem} {index}"] = each["toml"], each["compare"]
    return found


SCENARIOS = _scenarios()


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_runs(name):
    toml, schemes = SCENARIOS[name]
    start = [("run.duration", "1us"), ("measure.warmup", "0s")]
    for scheme in schemes or [""]:
        chosen = [("transport.scheme", scheme)] if scheme else []
        assert json.loads(Scenario(toml, name, [*start, *chosen]).run().summary)["result_hash"]


def test_every_paper_and_guide_has_a_preset():
    groups = {preset["group"] for preset in PRESETS}
    assert groups == {paper["name"] for paper in PAPERS["papers"]} | {"Guides"}
    assert len({preset["id"] for preset in PRESETS}) == len(PRESETS)


def test_the_ranking_is_that_of_its_pages():
    kept = json.loads((DATA / "ranking.json").read_text(encoding="utf-8"))
    assert kept == ranking_matrix.read(DOCS / "papers")
    regime = kept["experiments"][0]["regimes"][0]
    best = regime["places"][0]
    assert (best[1], best[2]) == (1, 100)


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


def test_nothing_is_written_for_experiments_that_were_not_run(tmp_path):
    assert ledger.standings(tmp_path / "none")
    page_data.write(tmp_path / "none", DOCS, tmp_path / "data")
    assert json.loads((tmp_path / "data/papers.json").read_text())["sentences"] == []
    assert not (tmp_path / "data/experiments").exists()
