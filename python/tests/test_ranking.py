"""All systems on the same work: ranks, and the pages that are made of them."""

import json
import math
import re
from pathlib import Path

import polars as pl
import pytest

from fanin.choose import ranking
from fanin.choose.ranking import CRITERION, RankedSystem, Regime
from fanin.claims import record
from fanin.numbers.stats import Spread
from fanin.scenario import catalogue, library

SMALL = """\
title = "Two | systems"

[network]
topology = "star"
rate = "1Gbps"
buffer = "20pkt"

[transport]
rto-min = "10ms"

[[traffic]]
name = "queries"
kind = "incast"
senders = 2
bytes-each = "16KB"
rounds = 2
jitter = "50us"

[[traffic]]
name = "background"
kind = "background"
flows = 1

[run]
duration = "200ms"

[sweep]
"traffic.queries.senders" = [2, 12]
"traffic.queries.rounds" = [3, 2]
zip = [["traffic.queries.senders", "traffic.queries.rounds"]]
seeds = "1..3"

[[variant]]
axis = "system"
label = "TCP"
set = { "transport.scheme" = "newreno" }

[[variant]]
axis = "system"
label = "DCTCP"
set = { "transport.scheme" = "dctcp", "scheme.dctcp.mark-threshold" = "5pkt" }

[[variant]]
axis = "background"
label = "one flow"
set = { "traffic.background.start" = "0s" }

[[variant]]
axis = "background"
label = "none"
set = { "traffic.background.start" = "200ms" }

[[column]]
id = "query_p50_s"
label = "Query completion time, median: nearest rank over the queries of a run"
of = "requests.qct_s"
take = "p50"
"""


@pytest.fixture
def reproduced(cli, work):
    """Eight points with three seeds each."""
    path = work / "experiments/cross/small.toml"
    path.parent.mkdir(parents=True)
    path.write_text(SMALL)
    result = cli("reproduce", "cross/small")
    assert result.code == 0, result.err
    return work


def runs(**goodputs):
    """A regime's runs: the goodputs of each system, seed by seed."""
    rows = [
        {"system": system, "seed": seed, CRITERION: float(value), ranking.UNFINISHED: value == 1}
        for system, values in goodputs.items()
        for seed, value in enumerate(values)
    ]
    return pl.DataFrame(rows)


def ranks(frame):
    return {place.system: place.rank for place in ranking.rank(frame)}


def test_systems_are_told_apart_seed_by_seed():
    # What the seeds have in common falls out, although the intervals of the means overlap.
    assert ranks(runs(a=[100, 150, 200], b=[110, 161, 211], c=[10, 11, 12])) == {"b": 1, "a": 2, "c": 3}
    assert ranks(runs(a=[100, 101, 102], b=[103, 101, 102], c=[10, 11, 12])) == {"b": 1, "a": 1, "c": 3}


def test_less_than_one_per_cent_is_a_tie():
    assert ranks(runs(a=[1000, 1001, 1002], b=[1005, 1006, 1007], c=[985, 986, 987])) == {"b": 1, "a": 1, "c": 3}


def test_what_the_seeds_disagree_about_is_neither_first_nor_last():
    assert ranks(runs(a=[100, 101, 102], b=[80, 81, 82], wide=[20, 60, 120])) == {"a": 1, "b": 2, "wide": None}


def test_nobody_has_more_of_both_than_those_on_the_front():
    every = [
        ranking.Overall(name, share, 0, 0, 1, 1, rest)
        for name, share, rest in [("a", 1, 2), ("b", 0.5, 60), ("c", 0.4, 50)]
    ]
    assert [each.system for each in ranking.front(every)] == ["a", "b"]


def test_without_intervals_the_means_decide():
    assert ranks(runs(a=[100, 101], b=[101, 102])) == {"b": 1, "a": 2}


def test_shares_are_of_the_best_mean_and_unfinished_answers_are_counted():
    best, other = ranking.rank(runs(a=[1, 50, 99], b=[100, 100, 100]))
    assert (best.system, best.share, best.unfinished) == ("b", 1.0, 0)
    assert (other.share, other.unfinished, other.seeds) == (0.5, 1, 3)


def test_a_measure_that_a_seed_lacks_has_no_value():
    frame = runs(a=[1, 2, 3]).with_columns(pl.Series("query_p99_s", [0.1, None, 0.2]))
    value = ranking.rank(frame)[0].values["query_p99_s"]
    assert math.isnan(value.mean)
    assert ranking.shown("query_p99_s", value) == "-"


def test_over_several_regimes_the_geometric_mean_counts():
    def regime(a, b):
        values = {name: Spread(0.0, 0.0, 0.0, 0.0) for name in ranking.MEASURES}
        return Regime({}, [RankedSystem("a", 1, values, a, 0, 3), RankedSystem("b", 2, values, b, 1, 3)])

    first, second = ranking.overall([regime(1.0, 0.01), regime(0.25, 1.0)])
    assert (first.system, first.share, first.worst, first.first) == ("a", 0.5, 0.25, 2)
    assert (second.share, second.finished, second.regimes) == (pytest.approx(0.1), 0, 2)


def test_the_regimes_are_what_varies_besides_system_and_seed(cli, reproduced):
    result = cli("ranking", "--json")
    assert result.code == 0, result.err
    (found,) = json.loads(result.out)
    assert (found["experiment"], found["state"], found["criterion"]) == ("cross/small", "complete", CRITERION)
    assert found["axes"] == ["background", "traffic.queries.senders"]
    assert len(found["regimes"]) == 4
    places = found["regimes"][0]["places"]
    assert {place["system"] for place in places} == {"TCP", "DCTCP"}
    assert places[0]["rank"] == 1
    assert places[0]["seeds"] == 3
    assert set(places[0]["measures"]) == set(ranking.MEASURES)


def test_the_report_has_every_system_in_every_regime(cli, reproduced):
    report = Path("results/report/index.html").read_text()
    (said,) = re.findall(r'<script type="application/json" data-file="ranking.json">(.*?)</script>', report)
    found = json.loads(said)
    (experiment,) = found["experiments"]
    assert (experiment["title"], experiment["command"]) == ("Two | systems", "fanin reproduce cross/small")
    (asked,) = json.loads(cli("ranking", "--json").out)
    for shown, regime in zip(experiment["regimes"], asked["regimes"], strict=True):
        assert list(shown["where"].values()) == [str(value) for value in regime["regime"].values()]
        for place, known in zip(shown["places"], regime["places"], strict=True):
            assert place[:2] == [known["system"], known["rank"] or 0]
            assert place[2] == pytest.approx(100 * known["share_of_best"], abs=0.5)
            assert len(place) == len(found["columns"]) + 4


def test_the_page_is_made_of_the_runs_and_the_same_twice(cli, reproduced):
    for name in ("one", "two"):
        assert cli("ranking", "cross/small", "--page", f"{name}/ranking.md").code == 0
    page = reproduced / "one/ranking.md"
    assert page.read_text().replace("one/", "two/") == (reproduced / "two/ranking.md").read_text()
    text = page.read_text()
    assert "fanin reproduce cross/small" in text
    assert "24 of 24" in text
    assert r"Two \| systems" in text
    for line in text.splitlines():
        assert not line.startswith("|") or line.rstrip().endswith("|"), line


def test_a_terminal_gets_the_best_of_each_regime(cli, reproduced):
    out = cli("ranking", "--tsv").out
    assert "background\tsenders\tbest\tquery goodput (Mbit/s)\tties with it" in out
    assert len(out.splitlines()) == 6


def test_nothing_run_yet_says_what_to_run(cli, work):
    result = cli("ranking")
    assert result.code == 3
    assert "fanin reproduce cross" in result.err


def test_a_quick_look_is_called_one(cli, reproduced):
    assert cli("reproduce", "cross/small", "--seeds", "1..2").code == 0
    result = cli("ranking")
    assert "cross/small: 16 of 24 runs" in result.err


@pytest.mark.parametrize("key", [key for key in library.experiments() if key.startswith("cross/")])
def test_the_shipped_comparison_is_of_systems_that_there_are_and_of_no_paper(key):
    experiment = record.Scenario.named(key, library.experiments()[key])
    assert experiment.document.paper == ""
    systems = {variant.set_["transport.scheme"][0] for variant in experiment.variants if variant.axis == "system"}
    assert len(systems) > 10
    assert systems <= {row["key"] for row in catalogue.registry()["schemes"]}


def stored(value):
    """A number without its unit of packets, or in seconds, bit/s or bytes."""
    number, unit = re.fullmatch(r"([\d.]+)(\w*)", str(value)).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "KB": 1e3, "MB": 1e6, "Gbps": 1e9}.get(unit, 1)


@pytest.mark.parametrize("key", [key for key in library.experiments() if key.startswith("cross/")])
def test_the_shipped_comparison_has_the_thresholds_of_its_rule(key):
    experiment = record.Scenario.named(key, library.experiments()[key])
    network = experiment.resolved()["network"]
    hops = {"star": 4, "fat-tree": 12}[network["topology"]]
    product = hops * stored(network["delay"]) * stored(network["rate"]) / 12000
    for variant in (each for each in experiment.variants if each.axis == "buffer"):
        given = {path.removeprefix("scheme."): stored(values[0]) for path, values in variant.set_.items()}
        buffer = given["network.buffer"] / 1500
        k = int(min(max(20, round(0.78 * product)), buffer / 3))
        marking = {
            each: value for each, value in given.items() if each.endswith(".mark-threshold") and "rcc" not in each
        }
        assert {"l2dct.mark-threshold", "d2tcp.mark-threshold"} < set(marking)
        assert set(marking.values()) == {k}
        assert given["pfdct.kt-init"] == given["pfdct-st.kt-init"] == k
        assert (given["dt-dctcp.start"], given["dt-dctcp.stop"]) == (round(1.5 * k), round(2.5 * k))
        assert (given["dt-cwa.start"], given["dt-cwa.stop"]) == (round(1.5 * k), round(1.75 * k))
        if any("rcc" in (each.set_.get("transport.scheme") or ()) for each in experiment.variants):
            assert given["rcc.queue-max"] == given["rcce.queue-max"] == math.ceil(max(2 * k, product + k))
            assert given["rcc.mark-threshold"] == given["rcce.mark-threshold"] == 2 * k * 1500
        sdtcp = [given[f"sdtcp.{each}"] for each in ("low", "modest", "high")]
        assert sdtcp == pytest.approx([0.3 * buffer, 0.6 * buffer, 0.85 * buffer], abs=1.01)
