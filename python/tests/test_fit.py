"""``fanin fit``: a search over a handful of settings of a small incast."""

import json
import sys

import polars as pl
import pytest
from patches import before_runs

from fanin.choose.fit import answer, proposals
from fanin.choose.fit.bench import Bench, Found, Tried
from fanin.choose.fit.search import search
from fanin.choose.fit.space import NotAdmissibleError, Open, Space, key, space
from fanin.errors import ScenarioError
from fanin.results import sums
from fanin.run.laboratory import Batches
from fanin.run.scenario import Scenario
from fanin.show import fit_folder

SCENARIO = """\
title = "A small incast"
paper = "alpha"
figure = "Fig. 1"

[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "24pkt"

[transport]
rto-min = "10ms"

[[traffic]]
name = "servers"
kind = "incast"
senders = 8
bytes-each = "15KB"

[run]
duration = "1s"

[sweep]
"traffic.servers.senders" = [4, 8, 12]
seeds = "1..2"

[claims]
measure = "mean"
x = "traffic.servers.senders"
why = "a test"
"""

OPEN = """
[open.network.buffer]
"12pkt" = "small"
"24pkt" = "in between"
"96pkt" = "large"

[open.transport.initial-window]
2mss = "RFC 5681"
10mss = "RFC 6928"
"""

CLAIMS = """
[[claim]]
id = "no-drops"
says = "Nothing is dropped."
y = "drops"
accept = [0, 0]
at = [8]

[[claim]]
id = "drops"
says = "Packets are dropped."
y = "drops"
accept = [1, inf]
at = [8]

[[claim]]
id = "faster-than-light"
says = "Goodput exceeds the link."
y = "goodput_bps"
accept = [2e9, 3e9]

[[claim]]
id = "arithmetic"
says = "Three is two."
y = "drops"
accept = [-2, -1]
impossible = "three is not two"
"""

HELD = """
[[claim]]
id = "no-drops-of-four"
says = "Nothing is dropped."
y = "drops"
accept = [0, 0]
at = [4]
"""


@pytest.fixture
def paper(work):
    """Two experiments of a paper that share what is open, and one that is held out."""
    folder = work / "experiments/alpha"
    folder.mkdir(parents=True)
    (folder / "one.toml").write_text(SCENARIO + OPEN + CLAIMS)
    again = CLAIMS[: CLAIMS.index("[[claim]]", 10)].replace('"no-drops"', '"again"\nsame-as = "alpha/one#no-drops"')
    other = again + HELD.replace("no-drops-of-four", "of-twelve").replace("[4]", "[12]")
    (folder / "two.toml").write_text('open = "alpha/one"\n' + SCENARIO + other)
    (folder / "three.toml").write_text('open = "alpha/one"\nheld-out = true\n' + SCENARIO + HELD)
    return folder


FAST = ("--seeds", "1", "--fresh", "3")


def fitted(cli, *arguments):
    result = cli("fit", *arguments, *FAST, "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_the_whole_grid_is_tried_where_it_is_small(cli, paper):
    found = fitted(cli, "alpha/one", "alpha/two")
    assert (found["settings_tried"], found["settings"], found["exhaustive"]) == (6, 6, True)
    # A sentence that another experiment of the search counts is judged once, and an impossible one never.
    assert list(found["sentences"]) == [
        "alpha/one/no-drops",
        "alpha/one/drops",
        "alpha/one/faster-than-light",
        "alpha/two/of-twelve",
    ]
    assert found["impossible"] == {"alpha/one/arithmetic": "three is not two"}
    assert found["winner"]["network.buffer"] == "96pkt"
    assert set(found["not_found"]) == {"alpha/one/faster-than-light"}
    assert found["not_found"]["alpha/one/faster-than-light"]["distance"] > 0.3
    assert ["alpha/one/no-drops", "alpha/one/drops"] in found["apart"]
    assert {tuple(each["holds"]) for each in found["front"]} == {
        ("alpha/one/no-drops", "alpha/two/of-twelve"),
        ("alpha/one/drops",),
    }
    small = next(each for each in found["ablation"] if each["value"] == "12pkt")
    assert "alpha/one/no-drops" in small["lost"]
    assert small["gained"] == ["alpha/one/drops"]
    assert [each["label"] for each in found["confirmed"]] == ["the file's own values", "winner", "setting"]
    assert found["fresh"] == [2, 3, 4]
    whys = {value["why"] for each in found["open"] for value in each["values"]}
    assert whys == {"small", "in between", "large", "RFC 5681", "RFC 6928"}


def test_a_second_search_runs_nothing_and_finds_the_same(cli, paper, monkeypatch):
    first = fitted(cli, "alpha/one")
    before_runs(monkeypatch, lambda _: pytest.fail("a run was repeated"))
    assert fitted(cli, "alpha/one") == first


@pytest.mark.parametrize("trials", ["6", "4"])
def test_an_interrupted_search_takes_the_same_course(cli, paper, interrupt, trials):
    arguments = ("alpha/one", "--trials", trials)
    whole = fitted(cli, *arguments, "--out", "whole")
    interrupt(2)
    result = cli("fit", *arguments, *FAST, "--out", "part")
    assert (result.code, "finished runs are kept in part" in result.err) == (130, True)
    again = fitted(cli, *arguments, "--out", "part")
    assert {**again, "paths": []} == {**whole, "paths": []}


def test_optuna_searches_what_is_too_large(cli, paper):
    found = fitted(cli, "alpha/one", "--trials", "4")
    assert 4 <= found["settings_tried"] <= 6
    assert found["winner"]["network.buffer"] == "96pkt"
    assert len(found["ablation"]) == 3
    assert fitted(cli, "alpha/one", "--trials", "4", "--jobs", "1") == found


def test_without_optuna_a_large_grid_is_an_error(cli, paper, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = cli("fit", "alpha/one", *FAST, "--trials", "4")
    assert (result.code, "-m pip install optuna" in result.err) == (3, True)


def test_only_admissible_values_are_searched(cli, paper):
    found = fitted(cli, "alpha/one", "--open", "network.buffer=12pkt,24pkt")
    assert found["settings_tried"] == 2
    for arguments, message in (
        (("--open", "network.buffer=13pkt"), "network.buffer = 13pkt is not admissible; 12pkt, 24pkt, 96pkt are"),
        (("--open", "transport.rto-min"), "transport.rto-min is not declared as open"),
        (("--sensitivity", "network.buffer=12pkt"), "is admissible"),
        (("--sensitivity", "network.bufer=12pkt"), "network.bufer"),
    ):
        result = cli("fit", "alpha/one", *FAST, *arguments)
        assert result.code in (2, 3)
        assert message in " ".join(result.err.split()), arguments


def test_a_sensitivity_is_labelled_and_counts_for_nothing(cli, paper):
    plain = fitted(cli, "alpha/one")
    found = fitted(cli, "alpha/one", "--sensitivity", "network.rate=10Gbps")
    last = found["confirmed"][-1]
    assert last["label"] == "sensitivity: network.rate=10Gbps"
    assert last["values"]["network.rate"] == "10Gbps"
    assert last["sentences"] != found["confirmed"][1]["sentences"]
    assert (found["front"], found["sentences"]) == (plain["front"], plain["sentences"])


class TestHeldOut:
    """Experiments that no search may use."""

    def test_they_are_refused_in_a_search(self, cli, paper):
        result = cli("fit", "alpha/one", "alpha/three", *FAST)
        assert (result.code, "alpha/three is held out of searches" in result.err) == (3, True)
        result = cli("fit", "alpha", *FAST, "--json")
        assert "held out: alpha/three" in result.err
        assert json.loads(result.out)["experiments"] == ["alpha/one", "alpha/two"]

    def test_they_judge_once(self, cli, paper):
        (first,) = fitted(cli, "alpha/one", "--held-out")["held_out"]
        assert (first["experiment"], first["holds"], first["again"]) == (
            "alpha/three",
            ["alpha/three/no-drops-of-four"],
            False,
        )
        assert first["setting"]["network.buffer"] == "96pkt"
        result = cli("fit", "alpha/one", *FAST, "--held-out")
        assert result.code == 3
        assert f"alpha/three was judged on {first['when']} with network.buffer = 96pkt" in result.err
        (second,) = fitted(cli, "alpha/one", "--held-out", "--again")["held_out"]
        assert second["again"]
        record = paper.parents[1] / "results/fits/held-out.json"
        assert [each["again"] for each in json.loads(record.read_text())["judgements"]] == [False, True]
        # Another search does not make it the first time.
        result = cli("fit", "alpha/one", *FAST, "--open", "network.buffer", "--held-out")
        assert (result.code, "was judged on" in result.err) == (3, True)

    def test_a_search_that_ended_between_its_two_records_goes_on(self, cli, paper, monkeypatch):
        def killed(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(fit_folder, "write", killed)
            result = cli("fit", "alpha/one", *FAST, "--held-out")
        assert (result.code, "finished runs are kept in" in result.err) == (130, True)
        record = paper.parents[1] / "results/fits/held-out.json"
        before = record.read_bytes()
        (found,) = fitted(cli, "alpha/one", "--held-out")["held_out"]
        assert (found["experiment"], found["again"]) == ("alpha/three", False)
        assert record.read_bytes() == before
        assert cli("fit", "alpha/one", *FAST, "--held-out").code == 3

    def test_a_damaged_record_is_not_replaced(self, cli, paper):
        fitted(cli, "alpha/one", "--held-out")
        record = paper.parents[1] / "results/fits/held-out.json"
        record.write_text("[{")
        assert cli("fit", "alpha/one", *FAST, "--held-out", "--again").code == 3
        assert record.read_text() == "[{"

    @pytest.mark.parametrize(
        "change",
        [
            {"setting": 1},
            {"setting": {"network.buffer": []}},
            {"setting": {"network.buffer": "\ud800"}},
            {"when": None},
            {"holds": "all"},
            {"again": "no"},
            {"more": 1},
        ],
    )
    def test_a_record_with_other_types_is_damaged(self, cli, paper, change):
        fitted(cli, "alpha/one", "--held-out")
        record = paper.parents[1] / "results/fits/held-out.json"
        (judgement,) = json.loads(record.read_text())["judgements"]
        text = json.dumps(sums.sealed({"judgements": [{**judgement, **change}]}))
        record.write_text(text)
        for again in ([], ["--again"]):
            result = cli("fit", "alpha/one", *FAST, "--held-out", *again)
            assert (result.code, "held-out.json: damaged" in result.err) == (3, True)
        assert record.read_text() == text

    def test_one_that_declares_nothing_cannot_judge(self, cli, paper):
        held = paper / "three.toml"
        held.write_text(held.read_text().replace('open = "alpha/one"\n', ""))
        result = cli("fit", "alpha/one", *FAST, "--held-out")
        assert result.code == 3
        assert "with no parameter of this search in [open]: alpha/three" in result.err


class TestLedger:
    """What the claims ledger makes of a search."""

    def claims(self, cli):
        return {each["id"]: each for each in json.loads(cli("claims", "alpha", "--json").out)}

    def test_it_counts_the_settings_that_were_tried(self, cli, paper):
        cli("reproduce", "alpha/one")
        before = self.claims(cli)
        assert before["alpha/one/faster-than-light"]["rests_on"].startswith("none of 1 setting; closest")
        cli("fit", "alpha/one", *FAST)
        after = self.claims(cli)
        never = after["alpha/one/faster-than-light"]
        assert (never["verdict"], never["settings_tried"]) == ("not found", 6)
        assert never["rests_on"].startswith("none of 7 settings; closest")
        assert after["alpha/one/arithmetic"]["verdict"] == "impossible"
        # The file's own buffer drops packets, and the search found a setting that does not.
        found = after["alpha/one/no-drops"]
        assert (before["alpha/one/no-drops"]["verdict"], found["verdict"]) == ("not found", "under a condition")
        assert "network.buffer = 96pkt" in found["rests_on"]
        assert "carried by network.buffer" in found["rests_on"]
        assert "a search tried 6 settings" in found["rests_on"]

    def test_a_search_of_another_file_does_not_count(self, cli, paper):
        cli("fit", "alpha/one", *FAST)
        assert self.claims(cli)["alpha/one/no-drops"]["settings_tried"] == 6
        file = paper / "one.toml"
        file.write_text(file.read_text().replace('"10us"', '"11us"'))
        assert self.claims(cli)["alpha/one/no-drops"]["settings_tried"] == 0

    def test_a_damaged_search_is_one_clear_error(self, cli, paper):
        cli("fit", "alpha/one", *FAST)
        next(paper.parents[1].glob("results/fits/alpha-*/fit.json")).write_text("{")
        result = cli("claims")
        assert (result.code, "fit.json: damaged" in result.err) == (3, True)


def test_it_is_printed_for_people(cli, paper):
    result = cli("fit", "alpha/one", *FAST, "--held-out")
    assert result.code == 0, result.err
    for expected in (
        "all 6 admissible settings tried; 3 sentences",
        "Confirmed with 3 fresh seeds",
        "Ablation of the winner",
        "Hold under no setting that was tried",
        "impossible: alpha/one/arithmetic: three is not two",
        "held out: alpha/three: 1 of 1 sentences hold, 0 with the file's own values",
    ):
        assert expected in result.out
    assert "6 admissible settings of 2 open parameters" in result.err


def test_an_axis_of_variants_may_be_open(cli, paper):
    text = SCENARIO.replace('buffer = "24pkt"\n', "") + CLAIMS
    text += '[variant.switch]\nshallow = { network.buffer = "12pkt" }\ndeep = { network.buffer = "96pkt" }\n'
    text += '[open.switch]\nshallow = "a"\ndeep = "b"\n'
    (paper / "one.toml").write_text(text.replace("at = [8]", 'at = [8]\nwhere = { switch = "shallow" }'))
    found = fitted(cli, "alpha/one")
    assert {each["values"]["switch"]: each["holds"] for each in found["front"]} == {
        "deep": ["alpha/one/no-drops"],
        "shallow": ["alpha/one/drops"],
    }
    (paper / "one.toml").write_text(
        (paper / "one.toml")
        .read_text()
        .replace('where = { switch = "shallow" }', 'where = { switch = "shallow" }\nminus = { switch = "deep" }', 1)
    )
    with pytest.raises(ScenarioError, match="compares labels of switch"):
        experiment = Scenario.named("alpha/one", paper / "one.toml")
        Bench([experiment], space([experiment]), Batches(None))


def test_a_variant_may_set_what_is_open_only_where_no_claim_reads_it(paper):
    text = SCENARIO + OPEN + CLAIMS.replace("at = [8]", 'at = [8]\nwhere = { system = "own" }')
    text = text.replace("accept = [2e9, 3e9]", 'accept = [2e9, 3e9]\nwhere = { system = "own" }')
    lines = '[variant.system]\nown = { transport.rto-min = "5ms" }\nother = { network.buffer = "48pkt" }\n'
    (paper / "one.toml").write_text(text + lines)
    experiment = Scenario.named("alpha/one", paper / "one.toml")
    experiment.check()
    assert len(Bench([experiment], space([experiment]), Batches(None)).sentences) == 3
    (paper / "one.toml").write_text(
        (text + lines).replace('rto-min = "5ms"', 'rto-min = "5ms", network.buffer = "9pkt"')
    )
    experiment = Scenario.named("alpha/one", paper / "one.toml")
    with pytest.raises(ScenarioError, match="the variant own sets it"):
        Bench([experiment], space([experiment]), Batches(None))


def test_only_the_runs_that_claims_read_are_made(paper):
    experiment = Scenario.named("alpha/three", paper / "three.toml")
    counts = []
    batches = Batches(None, advance=lambda progress: counts.append(progress.total))
    bench = Bench([experiment], space([experiment]), batches)
    bench.judge([{"network.buffer": "96pkt"}, {"network.buffer": "12pkt"}], [1, 2])
    # One of three numbers of senders, two seeds, two settings.
    assert counts[-1] == 4


GRID = Space([Open("a", (1, 2, 3), ("",) * 3, ()), Open("b", (True, False), ("",) * 2, ())])


def tried(a, b, *holding, distance=0.5, sentences="xyz"):
    found = {
        name: Found(
            "reproduced" if name in holding else "not reproduced", 0.0 if name in holding else distance, 1.0, *"---"
        )
        for name in sentences
    }
    return Tried({"a": a, "b": b}, found)


def test_more_sentences_come_before_closeness():
    names = ["x", "y", "z"]
    close, far, more = tried(1, True, "x", distance=0.1), tried(2, True, "x", distance=0.9), tried(3, True, "x", "y")
    assert answer.best([far, close, more], names) is more
    assert answer.best([far, close], names) is close
    assert 1 < far.score(names) < close.score(names) < 2 <= tried(1, True, "x", "y", distance=1.0).score(names)
    # What failed is as far away as anything can be.
    assert Tried({}, {}).score(names) == 0


def test_pairs_say_how_often_two_sentences_hold_together_and_where_best():
    names = ["f/x", "f/y", "g/z", "f/never"]

    def setting(number, *holding):
        return tried(number, True, *holding, sentences=names)

    # The winner has most sentences, but one setting alone has both of figure f.
    most = [setting(1, "f/x", "g/z"), setting(2, "f/y", "g/z"), setting(3, "f/x", "f/y"), setting(4, "f/x", "g/z")]
    found = answer.Fitted(None, dict.fromkeys(names, ""), {}, most, most[:1], [], [], [1], [2])
    assert [(each.one, each.other, each.settings) for each in found.pairs] == [
        ("f/x", "f/y", 1),
        ("f/y", "g/z", 1),
        ("f/x", "g/z", 2),
    ]
    assert [each.best for each in found.pairs] == [most[2], None, None]
    assert found.apart == []
    apart = answer.Fitted(None, dict.fromkeys(names, ""), {}, most[:2], most[:1], [], [], [1], [2])
    assert (apart.apart, apart.pairs[0].best) == ([("f/x", "f/y")], None)


def test_pairs_are_kept(cli, paper):
    found = fitted(cli, "alpha/one", "alpha/two")
    pairs = {tuple(each["sentences"]): each for each in found["pairs"]}
    never = pairs["alpha/one/no-drops", "alpha/one/drops"]
    assert (never["settings"], never["best"]) == (0, None)
    both = pairs["alpha/one/no-drops", "alpha/two/of-twelve"]
    assert both["settings"] > 0
    # They are of two figures.
    assert both["best"] is None


def test_the_front_and_its_cover():
    first, same = tried(1, True, "x", "y"), tried(2, True, "x", "y", distance=0.9)
    inside, other = tried(3, True, "x"), tried(1, False, "z")
    found = answer.front([same, inside, first, other], ["x", "y", "z"])
    assert found == [first, other]
    assert answer.cover(found) == [first, other]
    assert answer.cover([first, inside]) == [first]


def test_a_setting_is_not_mistaken_for_another():
    assert key({"a": True}) != key({"a": 1})
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})
    assert len({key(each) for each in GRID.grid()}) == GRID.size == 6
    assert [path for path, _ in GRID.neighbours({"a": 1, "b": True})] == ["a", "a", "b"]


def test_proposals_are_new_and_repeatable():
    names = ["x", "y", "z"]
    before = [tried(1, True, "x"), tried(2, True)]
    proposed = proposals.propose_by_optuna(GRID, before, names, 3)
    assert proposed == proposals.propose_by_optuna(GRID, before, names, 3)
    known = {key(each.values) for each in before}
    assert len({key(each) for each in proposed} - known) == 3
    assert proposals.next_of_grid(GRID, 4) == [{"a": 3, "b": True}, {"a": 3, "b": False}]


def test_no_value_that_all_admit_is_an_error(paper):
    two = paper / "two.toml"
    two.write_text(
        two.read_text().replace('open = "alpha/one"\n', "") + '[open.network.buffer]\n"1pkt" = "a"\n"2pkt" = "b"\n'
    )
    both = [Scenario.named(f"alpha/{name}", paper / f"{name}.toml") for name in ("one", "two")]
    with pytest.raises(NotAdmissibleError, match="no value is admissible in all"):
        space(both)
    with pytest.raises(NotAdmissibleError, match="none of these experiments declares"):
        space([])


def test_neighbours_are_tried_until_none_is_better():
    class Hill:
        """More sentences hold the larger ``a`` is."""

        sentences = ("x", "y", "z")

        def judge(self, settings, seeds, what=""):
            return [tried(each["a"], each["b"], *"xyz"[: each["a"]]) for each in settings]

    wide = Space([Open("a", tuple(range(8)), ("",) * 8, ()), Open("b", (True, False), ("",) * 2, ())])
    found = search(Hill(), wide, [1], 2)
    best = answer.best(found, Hill.sentences)
    assert best.values["a"] >= 3
    assert answer.missing(best.values, wide, found) == []
    assert len(found) == len({key(each.values) for each in found})


HALVES = """
[[claim]]
id = "some-drops"
says = "Packets are dropped with eight senders, and few with four."
y = "drops"
accept = [1, inf]
at = [8]

[[claim]]
id = "few-of-four"
half-of = "some-drops"
says = "Few are dropped with four senders."
y = "drops"
accept = [0, 20]
at = [4]
"""


def test_halves_of_a_sentence_have_to_hold_together(cli, paper):
    (paper / "two.toml").write_text('open = "alpha/one"\n' + SCENARIO + HALVES)
    found = fitted(cli, "alpha/two", "--open", "network.buffer")
    assert list(found["sentences"]) == ["alpha/two/some-drops"]
    table = next((paper.parents[1] / "results/fits").glob("*/settings.csv"))
    outcomes = {row["network.buffer"]: row["alpha/two/some-drops"] for row in pl.read_csv(table).iter_rows(named=True)}
    # The smallest buffer drops many of four senders' packets too, and the largest none at all.
    assert [size for size, outcome in outcomes.items() if outcome == "reproduced"] == ["24pkt"]
    assert outcomes.keys() > {"12pkt", "24pkt"}
    (own, *_) = found["confirmed"]
    assert " and " in own["sentences"]["alpha/two/some-drops"]["shown"]
