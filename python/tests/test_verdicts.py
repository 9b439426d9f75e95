"""The verdict on a sentence, and what a file declares for it."""

import json
import math
from dataclasses import replace
from functools import partial
from typing import get_args

import pytest

from fanin.claims import sentences, verdicts
from fanin.claims.judge import Measurement
from fanin.claims.sentences import Judgement, Sentence, Shown
from fanin.claims.verdicts import AT_THE_EDGE, OUTCOMES, VERDICTS, Outcome, Verdict, basis_of, names, verdict
from fanin.errors import ScenarioError
from fanin.run.scenario import Scenario
from fanin.scenario import checks, library, sections
from fanin.scenario.departures import Departures, as_judged
from fanin.scenario.format.claim import Case

NUMBERS = Shown(published="9", value="5", interval="-", accept="8 to 10", quantity="")


def setting(words, basis, outcome, distance=0.5, environment=""):
    return Judgement(
        id="",
        reading=words,
        outcome=outcome,
        distance=distance,
        shown=NUMBERS,
        environment=environment,
        basis=basis,
    )


def test_every_outcome_and_verdict_has_one_row():
    assert names(VERDICTS) == get_args(Verdict)
    assert {*names(OUTCOMES), "not judged"} == set(get_args(Outcome))
    assert len({word.slug for word in VERDICTS}) == len(VERDICTS)
    assert all(word.meaning.endswith(".") for word in (*OUTCOMES, *VERDICTS))


@pytest.mark.parametrize(
    ("cases", "impossible", "expected"),
    [
        ([("printed", "reproduced"), ("reading", "not reproduced")], "", "as printed"),
        ([("reading", "reproduced"), ("environment", "reproduced")], "", "with its tool's defaults"),
        ([("printed", "not reproduced"), ("reading", "reproduced")], "", "under a condition"),
        (
            [("printed", "not reproduced"), ("reading", "right direction, other size")],
            "",
            "right direction, other size",
        ),
        ([("printed", "not reproduced"), ("reading", "not reproduced")], "", "not found"),
        ([("printed", "not reproduced"), ("sensitivity", "reproduced")], "", "not found"),
        ([("sensitivity", "reproduced")], "", "not run"),
        ([("printed", "not run"), ("reading", "not judged")], "", "not run"),
        ([("printed", "right direction, other size")], "1 + 1 is not 3", "impossible"),
        ([("printed", "not run")], "1 + 1 is not 3", "impossible"),
        ([("reading", "reproduced")], "1 + 1 is not 3", "under a condition"),
    ],
)
def test_the_verdict_on_a_sentence_follows_from_its_cases(cases, impossible, expected):
    assert verdict(cases, impossible) == expected


def test_nothing_is_as_printed_unless_its_file_says_so():
    assert basis_of(None, "", "") == basis_of(None, "", "rfc") == basis_of(None, "64 KB", "") == "reading"
    assert basis_of(None, "", "qualnet") == "environment"
    assert basis_of(None, "64 KB", "qualnet") == "reading"
    assert basis_of("printed", "64 KB", "qualnet") == "printed"


def test_a_verdict_says_what_it_rests_on():
    large, small = setting("64 KB", "reading", "reproduced", 0.0), setting("8 KB", "reading", "not reproduced", 0.2)
    own = setting("", "environment", "reproduced", 0.0, "qualnet")
    wrong = setting("13 ms", "sensitivity", "not reproduced", 0.01)

    def said(name, settings, impossible="", tried=0):
        return sentences.rests_on(name, settings, impossible, tried)

    assert said("under a condition", [small, large]) == '64 KB; holds in 1 of 2 settings, not with "8 KB"'
    assert said("under a condition", [large]) == "64 KB"
    assert said("under a condition", [large], tried=12) == "64 KB; a search tried 12 settings"
    assert said("with its tool's defaults", [own, small]) == "qualnet"
    assert said("impossible", [small], "30 packets exceed 20") == "30 packets exceed 20"
    assert (
        said("right direction, other size", [small, replace(large, outcome="right direction, other size")]) == "64 KB"
    )
    further = replace(small, reading="1 MB", distance=0.9)
    # A search found the closest; the sensitivity is closer, and does not count.
    assert said("not found", [further, small, wrong], tried=12) == (
        "none of 12 settings; closest 5 (8 KB), accepted 8 to 10"
    )
    assert said("as printed", [own]) == said("not run", []) == ""


def test_a_condition_is_told_in_few_words():
    small, large = setting("8 KB", "reading", "not reproduced", 0.2), setting("64 KB", "reading", "reproduced", 0.0)
    own = setting("", "environment", "reproduced", 0.0)
    accept = small.shown.accept
    weak = replace(small, outcome="right direction, other size")
    condition = partial(sentences.rests_on, short=True)
    assert condition("under a condition", [small, large], "") == "if 64 KB"
    assert condition("with its tool's defaults", [replace(own, environment="qualnet")], "") == "qualnet"
    assert condition("right direction, other size", [weak], "") == f"accepted {accept}, 8 KB"
    assert condition("not found", [small], "", tried=2) == f"none of 2 settings; accepted {accept}"
    assert condition("impossible", [], "30 packets exceed 20") == "30 packets exceed 20"
    assert condition("as printed", [own], "") == condition("not run", [], "") == ""
    assert sentences.in_short(f"a clause of words, {' '.join('abcdefghijklmnopqr')}, and one more") == (
        "a clause of words, a b c d e f g h i j k l m n o p q r ..."
    )
    assert (
        sentences.in_short(" ".join("abcdefghijklmnopqrstuvwxyz"))
        == "a b c d e f g h i j k l m n o p q r s t u v w x ..."
    )
    assert sentences.in_short("transport.rto-min = 1ms, network.delay = 2us") == "rto-min = 1ms, delay = 2us"


def test_a_sentence_is_quoted_with_its_figure_and_without_a_remark():
    assert sentences.quoted("Fig. 9", "It falls (over N).") == "Fig. 9: It falls."
    assert sentences.quoted("Fig. 9", "It (the queue) falls.") == "Fig. 9: It (the queue) falls."


def test_the_words_that_are_used_are_explained_once():
    said = ["not found, at the edge", "under a condition †", "not found (quick)"]
    assert [name for name, _ in verdicts.explained(said)] == ["under a condition", "not found", "at the edge", "†"]
    assert verdicts.explained([]) == []
    assert [word.slug for word in VERDICTS][1:4] == [
        *["with-its-tools-defaults", "under-a-condition", "right-direction-other-size"],
    ]


def test_a_verdict_rests_on_a_case_of_its_own_experiment_or_a_search_before_those_of_others():
    fails = judged("c", basis="reading", outcome="not reproduced", reading="64 KB")
    holds = replace(fails, outcome="reproduced", reading="8 KB")
    there = replace(fails, outcome="reproduced", experiment="a/d")
    found = setting("1 MB", "reading", "reproduced", 0.0)
    own = Sentence("c", "s", [fails, holds], repeats=[there], searched=[found])
    assert own.rests_on == '8 KB (in a/b); holds in 3 of 4 settings, not with "64 KB (in a/b)"'
    assert Sentence("c", "s", [fails], repeats=[there], searched=[found]).rests_on == (
        '1 MB; holds in 2 of 3 settings, not with "64 KB (in a/b)"'
    )
    elsewhere = Sentence("c", "s", [fails], repeats=[there])
    assert elsewhere.rests_on == '64 KB (in a/d); holds in 1 of 2 settings, not with "64 KB (in a/b)"'


def test_a_sentence_about_all_experiments_holds_only_where_each_of_them_shows_it():
    holds = judged("c", basis="reading", outcome="reproduced", reading="64 KB")
    fails = replace(holds, outcome="not reproduced", experiment="a/d")
    weak = replace(fails, outcome="right direction, other size", experiment="a/e")
    some = Sentence("c", "s", [holds], repeats=[fails, weak])
    assert some.verdict == "under a condition"
    every = replace(some, everywhere=True)
    assert every.verdict == "not found"
    assert every.rests_on == "none of 1 setting; closest 5 (64 KB (in a/d)), accepted 8 to 10"
    assert replace(every, repeats=[weak]).verdict == "right direction, other size"
    assert replace(every, repeats=[replace(holds, experiment="a/d")]).verdict == "under a condition"
    assert replace(every, repeats=[]).rests_on == "64 KB"
    # It cannot hold before all have run, and fails if one that has run shows so; a sensitivity judges nothing.
    unknown = replace(fails, outcome="not run", experiment="a/f")
    assert replace(every, repeats=[unknown]).verdict == "not run"
    assert replace(every, repeats=[unknown, fails]).verdict == "not found"
    against = replace(fails, basis="sensitivity")
    assert replace(every, repeats=[against]).verdict == "under a condition"


def test_a_setting_that_fails_twice_is_listed_once():
    fails, holds = setting("8 KB", "reading", "not reproduced"), setting("64 KB", "reading", "reproduced", 0.0)
    said = sentences.rests_on("under a condition", [holds, fails, fails], "")
    assert said == '64 KB; holds in 1 of 2 settings, not with "8 KB"'


@pytest.mark.parametrize(
    ("outcomes", "impossible", "late"),
    [
        # The main case was there before the first run; the other two were added after it.
        (("reproduced", "reproduced", "reproduced"), "", ""),
        (("not reproduced", "reproduced", "reproduced"), "", "second"),
        (("not reproduced", "not reproduced", "reproduced"), "", "third"),
        (("not reproduced", "right direction, other size", "not reproduced"), "", "second"),
        (("not reproduced", "not reproduced", "not reproduced"), "", "third"),
        (("not reproduced", "not reproduced", "not reproduced"), "30 packets exceed 20", ""),
        (("not run", "not run", "not run"), "", ""),
    ],
)
def test_a_verdict_is_late_if_it_rests_on_a_case_written_after_a_first_run(outcomes, impossible, late):
    distances = {"reproduced": 0.0, "right direction, other size": 0.4, "not reproduced": 0.5, "not run": 1.0}
    cases = [
        judged(f"c-{number}", added=added, basis="reading", outcome=outcome, distance=distances[outcome] - number / 100)
        for number, (added, outcome) in enumerate(zip(("", "second", "third"), outcomes, strict=True))
    ]
    assert Sentence("c", "s", cases[:1], repeats=cases[1:], impossible=impossible).late == late


def test_a_setting_that_a_search_found_has_the_terms_of_the_main_case():
    found = setting("64 KB", "reading", "reproduced", 0.0)
    for added in ("", "after a first run"):
        main = judged("c", added=added, basis="reading", outcome="not reproduced")
        assert Sentence("c", "s", [main], searched=[found]).late == added


def judged(case, **fields):
    return Judgement(id=case, experiment="a/b", published=9, value=5, reason="r", shown=NUMBERS, **fields)


def test_sentences_are_counted_by_verdict():
    assert sentences.counted(["not found", "as printed", "not found"]) == "3 sentences: 1 as printed; 2 not found"
    assert sentences.counted([]) == "0 sentences"


@pytest.mark.parametrize(
    ("value", "accept", "published", "expected"),
    [
        (9.0, (8, 10), 9, 0.0),
        (8.0, (8, 10), 9, 0.0),
        (4.0, (8, 10), 9, 4 / 12),
        (20.0, (8, 10), 9, 0.5),
        (math.inf, (8, 10), 9, 1.0),
        (math.nan, (8, 10), 9, 1.0),
        (3.0, (0, 0), 3, 0.5),
        (3.0, (-1, 0), "none", 0.75),
        (3.0, (0, 0), None, 0.75),
        (1.0, (1.1, math.inf), "higher", 0.1 / 1.2),
    ],
)
def test_the_distance_from_the_accepted_range_has_no_unit(value, accept, published, expected):
    fields = {"id": "c", "claim": "c", "says": "s", "measure": "mean", "x": "n", "y": "g", "accept": accept, "why": "w"}
    case = Case(**fields, published=published)
    assert Measurement(case, value, math.nan, math.nan, "not reproduced").distance == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cases", "edge"),
    [
        ([("printed", "reproduced", True)], True),
        ([("printed", "reproduced", True), ("printed", "reproduced", False)], False),
        # Another setting does not give this verdict.
        ([("printed", "reproduced", True), ("reading", "reproduced", False)], True),
        ([("printed", "not reproduced", True), ("reading", "reproduced", False)], False),
        ([("printed", "not reproduced", False), ("reading", "not reproduced", True)], True),
        ([("reading", "not reproduced", False), ("sensitivity", "not reproduced", True)], False),
        ([("reading", "right direction, other size", True)], True),
        ([("reading", "not run", False)], False),
    ],
)
def test_a_verdict_is_at_the_edge_if_what_it_rests_on_is(cases, edge):
    made = [judged("c", basis=basis, outcome=outcome, at_edge=at_edge) for basis, outcome, at_edge in cases]
    claim = Sentence("c", "says", made)
    assert claim.at_edge == edge
    assert claim.marked.endswith(", at the edge") == edge
    assert claim.as_dict()["at_edge"] == edge


def test_a_verdict_names_a_case_that_is_not_at_the_edge():
    own = judged("c", basis="reading", outcome="reproduced", reading="64 KB", at_edge=True)
    firm = replace(own, experiment="a/d", reading="8 KB", at_edge=False)
    claim = Sentence("c", "s", [own], repeats=[firm])
    assert (claim.at_edge, claim.rests_on.partition(" (")[0]) == (False, "8 KB")
    # A search does not tell whether its settings are at the edge, so none of them is firmer than a case.
    found = setting("128 KB", "reading", "reproduced", 0.0)
    claim = Sentence("c", "s", [own], searched=[found], tried=3)
    assert (claim.at_edge, claim.rests_on.partition(";")[0]) == (True, "64 KB")


def test_the_closest_number_inside_the_range_says_why_it_is_not_accepted():
    shown = Shown(published="-", value="0.2 %", interval="0 to 0.5 %", accept="0.1 to 1 %", quantity="")
    nothing = replace(setting("64 KB", "reading", "not reproduced", 0.0), shown=shown)
    said = sentences.rests_on("not found", [nothing], "")
    assert said.endswith("closest 0.2 % (64 KB), accepted 0.1 to 1 %; its 95 % interval, 0 to 0.5 %, includes zero")


def test_the_edge_is_marked_wherever_a_verdict_is_shown(cli, work):
    text = (work / "small.toml").read_text()
    first = json.loads(cli("reproduce", "small.toml", "--quick", "--json").out)["experiments"][0]["claims"][0]
    (work / "small.toml").write_text(text.replace("accept = [1.0, 1e9]", f"accept = [1.0, {first['value'] * 1.001}]"))
    said = cli("reproduce", "small.toml", "--quick", "--details").out
    assert "\nunder a condition, at the edge: " in said
    assert "\n    reproduced, at the edge: some-goodput\n" in said
    ledger = cli("claims", "small", "--details").out
    assert "\nunder a condition, at the edge: small/some-goodput" in ledger
    assert "\n    reproduced, at the edge: small/some-goodput: " in ledger
    assert json.loads(cli("claims", "small", "--json").out)[0]["at_edge"] is True
    cli("claims", "--page", "claims.md")
    page = (work / "claims.md").read_text()
    assert "under a condition, at the edge (quick)" in page
    assert AT_THE_EDGE in page
    report = (work / "results/report/index.html").read_text()
    assert '"verdict":"under a condition","run":true,"edge":true,"mark":" (quick)"' in report


def test_a_run_with_other_values_is_a_reading_and_no_environment(cli, work):
    path = work / "small.toml"
    path.write_text('environment = "ns3-2020"\n' + path.read_text() + 'basis = "environment"\nexplanation = "x"\n')

    def claim(*more):
        return json.loads(cli("reproduce", "small.toml", "--json", *more).out)["experiments"][0]["claims"][0]

    own = claim()
    assert (own["verdict"], own["environment"], own["reading"]) == ("with its tool's defaults", "ns3-2020", "")
    assert claim("--environment", "ns3-2020")["verdict"] == "with its tool's defaults"
    other = claim("--environment", "linux-6")
    assert (other["verdict"], other["reading"]) == ("under a condition", "environment = linux-6")
    assert other["basis"] == "reading"
    changed = claim("--set", "network.buffer=30pkt")
    assert (changed["verdict"], changed["reading"]) == ("under a condition", "network.buffer = 30pkt")
    assert "\n- under a condition (under linux-6): " in cli("reproduce", "small.toml", "--environment", "linux-6").out


def test_the_notes_of_plots_are_printed_once(cli, work):
    path = work / "small.toml"
    text = path.read_text().replace("[[plot]]", '[plots]\nnote = "DCTCP: with marks."\n\n[[plot]]')
    path.write_text(text + '\n[[plot]]\nid = "b"\nx = "flows"\ny = "drops"\nby = "transport.scheme"\n')
    assert cli("reproduce", "small.toml", "--quick", "--details").out.count("\nDCTCP: with marks.\n") == 1


def test_an_explanation_of_other_runs_says_so(cli, work):
    path = work / "small.toml"
    path.write_text(path.read_text().replace("accept = [1.0, 1e9]", 'accept = [1.0, 2.0]\nexplanation = "x"'))

    def reason(*more):
        return json.loads(cli("reproduce", "small.toml", "--json", *more).out)["experiments"][0]["claims"][0]["reason"]

    assert reason().endswith("): x")
    assert reason("--seeds", "1,2").endswith("): written for seeds 1..3, not for these runs: x")
    assert "): written for the full run with seeds 1..3, " in reason("--quick", "--out", "elsewhere")
    assert "): written for the file's own values, " in reason("--set", "network.buffer=30pkt")
    # The text, whose numbers deny those in the tables above it, is not printed.
    said = cli("reproduce", "small.toml", "--seeds", "1,2", "--details").out
    assert "): written for" not in said
    assert "\nExplanations are left out: they were written for seeds 1..3 (to be read in " in said
    own = cli("reproduce", "small.toml", "--details").out
    assert "): x\n" in own
    assert "Explanations are left out" not in own


@pytest.fixture
def readings(work):
    """The small scenario with a claim under two readings, of which one is marked as the printed one."""
    text = (
        (work / "small.toml").read_text().replace('measure = "max"', 'measure = "max"\nimpossible = "a link is a link"')
    )
    text += """
[[claim.case]]
id = "printed"
reading = "NewReno"
where = { "transport.scheme" = "newreno" }
basis = "printed"
accept = [2e9, 3e9]
"""
    (work / "small.toml").write_text(text)
    return work / "small.toml"


def test_a_declaration_that_a_case_refutes_is_reported(cli, readings):
    cli("reproduce", "small.toml", "--quick")
    result = cli("claims", "small", "--json")
    (claim,) = json.loads(result.out)
    assert [(each["basis"], each["outcome"]) for each in claim["cases"]] == [
        ("reading", "reproduced"),
        ("printed", "not reproduced"),
    ]
    assert (claim["verdict"], claim["impossible"]) == ("under a condition", "a link is a link")
    assert "is declared as impossible, but is reproduced under a condition" in result.err
    readings.write_text(readings.read_text().replace("accept = [1.0, 1e9]", "accept = [2e9, 3e9]"))
    cli("reproduce", "small.toml", "--quick")
    result = cli("claims", "small", "--details")
    assert "impossible: small/some-goodput: a link is a link" in result.out
    assert "declared as impossible" not in result.err
    assert result.out.splitlines()[-1] == "1 sentence: 1 impossible"


OPEN = """
[open.transport.ack-every]
1 = "every packet"
"2..4:2" = "RFC 1122, section 4.2.3.2"
[open.transport]
ecn-syn = { true = "some do", false = "RFC 3168" }
[open]
system = { slow = "a", fast = "b" }
[variant.system]
slow = { network.rate = "1Gbps" }
fast = { network.rate = "10Gbps" }
"""


def opened(work, text):
    (work / "small.toml").write_text((work / "small.toml").read_text() + text)
    return Scenario.named("small", work / "small.toml")


def test_what_a_paper_leaves_open_is_a_table_of_values_and_reasons(work):
    experiment = opened(work, OPEN)
    experiment.check()
    assert {each.path: each.admissible for each in experiment.open} == {
        "transport.ack-every": [1, 2, 4],
        "transport.ecn-syn": [True, False],
        "system": ["slow", "fast"],
    }
    assert experiment.open[0].why(4) == "RFC 1122, section 4.2.3.2"
    assert not experiment.document.held_out


def test_an_experiment_may_name_another_that_says_what_is_open(work):
    opened(work, OPEN)
    text = (work / "small.toml").read_text()
    (work / "experiments/alpha").mkdir(parents=True)
    (work / "experiments/alpha/one.toml").write_text(text)
    other = work / "experiments/alpha/two.toml"
    other.write_text(
        'open = "alpha/one"\nheld-out = true\n' + text[: text.index("[open")] + text[text.index("[variant") :]
    )
    found = Scenario.named("alpha/two", other)
    assert [each.path for each in found.open] == ["transport.ack-every", "transport.ecn-syn", "system"]
    assert found.document.held_out
    other.write_text(other.read_text().replace("alpha/one", "alpha/two"))
    with pytest.raises(ScenarioError, match=r"alpha/two has no \[open\]"):
        Scenario.named("alpha/two", other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[open.transport.ack-every]\n1 = "a"\n', "a single admissible value is not open"),
        ('[open.transport.ack-every]\n1 = "a"\n"1..2" = "b"\n', "a value is listed twice"),
        ('[open.transport.ack-every]\n1 = ""\n2 = "b"\n', "at least 1 character"),
        ("[open.transport]\nack-every = 1\n", 'VALUE = "why"'),
        ('[open.transport]\nack-every = { 1 = "a", 2 = "b" }\nmss = "x"\n', 'VALUE = "why"'),
        ('[open.transport.ack-evry]\n1 = "a"\n2 = "b"\n', "unknown key .did you mean .*ack-every"),
        ('[open.transport.scheme]\nrcc = "a"\ndctcp = "b"\n', "the sweep varies it"),
        ('[open.system]\nslow = "a"\nfst = "b"\n' + OPEN[OPEN.index("[variant") :], "fst is no label of system"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_an_error(work, text, message):
    with pytest.raises(ScenarioError, match=message):
        opened(work, text).check()


def test_half_of_each_papers_experiments_are_held_out():
    """Those that show the same runs are held out together, since one of them would tell the others' results.

    With a sweep of its own an experiment takes only the scenario of another, and shows other runs.
    """
    papers: dict[str, list[bool]] = {}
    documents = {key: Scenario.named(key, path).document for key, path in library.experiments().items()}
    # An experiment that only repeats the sentences of others has none to test; a program's numbers leave nothing open.
    own = (
        each
        for each in documents.values()
        if each.paper and not all(claim.same_as or claim.half_of for claim in each.claim)
    )
    own = (each for each in own if each.paper != "rcc-code")
    for document in own:
        papers.setdefault(document.paper, []).append(document.held_out)
        if document.runs_of is not None and document.sweep is None:
            assert document.held_out == documents[document.runs_of].held_out, document.title
    assert set(papers) == {"dtcwa", "pfdct", "rcc", "rcce", "sdtcp"}
    for paper, held in papers.items():
        assert 0.4 <= sum(held) / len(held) <= 0.6, paper


LIKE = """\
[claims]
readings = ["a", "b"]
reading = [{ id = "a", says = "as printed" }, { id = "b", says = "another", runs = { starts = "together" } }]

[[claim]]
id = "first"
says = "TCP is quick."
readings = ["b"]
measure = "mean"
x = "n"
y = "fct_mean_s"
where = { system = "TCP" }
accept = [1, 2]
why = "half"
explanation = "of the first alone"

[[claim]]
id = "second"
says = "So is DCTCP."
like = "first"
where = { system = "DCTCP" }
why = "a third"
"""


def test_a_claim_like_another_has_its_terms_and_readings_unless_it_has_its_own():
    first, second = sections.parse(LIKE, "like.toml").cases
    assert (first.id, second.id) == ("first", "second")
    assert second.reading == first.reading == "another"
    assert (second.y, second.accept, second.why) == (first.y, first.accept, "a third")
    assert second.where == {"starts": ["together"], "system": ["DCTCP"]}
    assert (first.explanation, second.explanation) == ("of the first alone", "")
    # An error in a term that it takes is reported where the term is.
    assert second.location("y") == first.location("y") == ("claim", 0, "y")
    for wrong in ("third", "second"):
        with pytest.raises(ScenarioError, match=rf"like.toml:17: .*{wrong} is not a claim of this file with terms"):
            sections.parse(LIKE.replace('like = "first"', f'like = "{wrong}"'), "like.toml")


HALF = """

[[claim]]
id = "third"
half-of = "first"
says = "DCTCP is quick too."
measure = "mean"
x = "n"
y = "fct_mean_s"
accept = [1, 2]
why = "half"
"""


def test_both_halves_of_a_sentence_are_judged_under_the_same_readings():
    text = LIKE + HALF
    assert [case.half_of for case in sections.parse(text + 'readings = ["b"]', "half.toml").cases] == ["", "", "first"]
    for mistake, message in {
        "": 'both halves need one case with the reading "as printed"',
        'readings = ["b"]\nsame-as = "a/b#c"': "same-as and impossible belong to the claim that this one is half of",
    }.items():
        with pytest.raises(ScenarioError, match=f"half-of: {message}"):
            sections.parse(text + mistake, "half.toml")
    for other in ("none", "third"):
        with pytest.raises(ScenarioError, match="is not a claim before this one that is no half itself"):
            sections.parse(text.replace('half-of = "first"', f'half-of = "{other}"'), "half.toml")


def test_halves_of_a_sentence_are_counted_once():
    main = judged("c", basis="reading", outcome="reproduced")
    whole, half = Sentence("c", "s", [main]), Sentence("d", "s", [main], half_of="c")
    assert sentences.tally([(whole, "not found"), (half, "under a condition")]) == (
        "1 sentence: 1 not found (1 more is half of a sentence)"
    )
    assert sentences.drop_repeats([whole, half]) == [whole]


OPEN_KEY = """
environment = "mininet-2.2"
network.topology = "star"
transport.rto-backoff-reset = "sample"
traffic = [{{ name = "bursts", kind = "incast", senders = 2, bytes-each = "1KB" }}]
[open.transport.rto-backoff-reset]
sample = "{why}"
new-ack = "Linux has it so"
[variant.reset]
file = {{ }}
environment = {{ transport.rto-backoff-reset = "new-ack" }}
[[claim]]
id = "any"
says = "Something is done."
measure = "mean"
x = "reset"
y = "drops"
{basis}
where = {{ reset = "{reset}" }}
accept = [0, 1]
why = "a test"
"""


def open_key(tmp_path, why="no time stamps", basis="", reset="file"):
    path = tmp_path / "open.toml"
    path.write_text(OPEN_KEY.format(why=why, basis=basis, reset=reset), encoding="utf-8")
    return Scenario.named("open", path)


def based(experiment):
    return [
        (basis_of(each.basis, each.reading, experiment.environment), each.reading) for each in as_judged(experiment)
    ]


def test_an_open_key_at_a_value_of_ours_is_a_reading_that_is_named(tmp_path):
    assert based(open_key(tmp_path)) == [("reading", "transport.rto-backoff-reset = sample")]


def test_an_open_key_at_the_environments_value_is_no_reading(tmp_path):
    assert based(open_key(tmp_path, reset="environment")) == [("environment", "")]


def test_an_open_key_at_a_printed_value_is_no_reading(tmp_path):
    assert based(open_key(tmp_path, why="printed: 'a new sample' (section 1)")) == [("environment", "")]


def test_a_printed_value_in_another_unit_is_no_reading(tmp_path):
    text = OPEN_KEY.format(why="printed: 'a new sample'", basis="", reset="file")
    text = text.replace("transport.rto-backoff-reset", "network.buffer").replace('"sample"', '"128KB"')
    for said, expected in (("128KB", "environment"), ("128000B", "environment"), ("0.128MB", "environment")):
        path = tmp_path / f"{said}.toml"
        path.write_text(text.replace("sample =", f'"{said}" =').replace("new-ack", "150KB"), encoding="utf-8")
        assert based(Scenario.named("open", path))[0][0] == expected, said
    path.write_text(text.replace("sample =", '"128KiB" =').replace("new-ack", "150KB"), encoding="utf-8")
    assert based(Scenario.named("open", path))[0][0] == "reading"


def test_a_printed_value_needs_a_quotation(tmp_path):
    with pytest.raises(ScenarioError, match="the paper's words in single quotes"):
        open_key(tmp_path, why="printed: section 1")


@pytest.mark.parametrize("basis", ["environment", "printed"])
def test_a_declared_basis_that_an_open_key_contradicts_is_an_error_with_its_line(tmp_path, basis):
    with pytest.raises(ScenarioError, match=r"rto-backoff-reset = sample") as error:
        checks.check(open_key(tmp_path, basis=f'basis = "{basis}"'), [])
    assert error.value.file.endswith("open.toml")
    assert error.value.line == OPEN_KEY.splitlines().index("{basis}") + 1


@pytest.mark.parametrize("name", library.experiments())
def test_a_plot_of_its_file_shows_every_variant(name):
    assert Scenario(name).unshown() == []


def test_values_of_another_experiment_are_checked_there_alone():
    assert Scenario("rcce/rto").document.runs_of == "rcce/fig3a"
    assert Scenario("rcce/rto").warnings(swept=True) == []


@pytest.mark.parametrize("name", ["rcce/vc", "rcce/vb-threshold"])
def test_what_the_paper_does_not_print_is_not_counted_as_printed(name):
    based_on = {each.id: each.basis for each in as_judged(Scenario(name))}
    expected = {
        "rcce/vc": {"rcce-optimal": "printed", "rcc-optimal": "reading", "rcc-optimal-environment": "reading"},
        "rcce/vb-threshold": {"enough-short-ratio": "reading", "enough-short-environment": "reading"},
    }
    assert expected[name].items() <= based_on.items()


@pytest.mark.parametrize("name", library.experiments())
def test_no_case_in_its_environment_sets_an_open_key_to_a_value_of_ours(name):
    experiment = Scenario(name)
    checks.check(experiment, [])
    departures = Departures(experiment)
    written = {each.id: each for each in experiment.document.cases}
    for case in as_judged(experiment):
        if basis_of(case.basis, case.reading, experiment.environment) in ("printed", "environment"):
            assert departures.find(written[case.id]) == []
