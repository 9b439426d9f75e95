"""``fanin advise``: fixes ranked on a scenario, with what they need and how far they carry."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from shapes import undocumented

import fanin
from fanin.choose import goals, robust
from fanin.choose.advice import Advice, Advised, _plainest_of_the_furthest
from fanin.choose.advising import _plainest
from fanin.choose.cautions import by_what_is_said
from fanin.choose.comparison import Estimate, Placed, paired
from fanin.choose.diagnosis import diagnose
from fanin.choose.fixes import AS_IT_IS, Effort, Fix, Marks, fixes, thresholds
from fanin.choose.outcomes import Verdict
from fanin.choose.outlook import Outlook
from fanin.choose.plan import Ahead, planned
from fanin.choose.robust import ABOUT_AS_GOOD_FACTOR, Variation, Varied, variations
from fanin.choose.rounds import paid
from fanin.cli import advise
from fanin.cli.advise import _print_answer, _print_best, _print_tables
from fanin.numbers.stats import Spread
from fanin.registry import registry
from fanin.run.job import Progress
from fanin.run.laboratory import Laboratory
from fanin.scenario.thresholds import Marking
from fanin.show.advice_page import headline, rows, word_rows

RACK = """\
title = "A rack"
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "150KB"
[transport]
scheme = "newreno"
rto-min = "200ms"
[[traffic]]
name = "servers"
kind = "incast"
senders = 40
bytes-each = "32KB"
jitter = "10us"
"""

BACKUP = """\
[[traffic]]
name = "backup"
kind = "background"
flows = 1
"""

FEW = ("--seeds", "1..3", "--jobs", "1")


@pytest.fixture
def rack(work):
    Path("rack.toml").write_text(RACK)
    return "rack.toml"


def advised(cli, *arguments):
    result = cli("advise", *arguments, *FEW, "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_a_collapse_gets_a_fix_that_can_be_deployed(cli, rack):
    found = advised(cli, rack, "--capacities", "2")
    by_name = {each["fix"]: each for each in found["fixes"]}
    best, own = by_name[found["recommended"]], by_name[AS_IT_IS]
    assert found["diagnosis"]["outcome"] == "collapse"
    assert (best["deployable"], best["effect"], own["effect"]) == (True, "better", "-")
    assert own["mean"] > 0.2 > 0.02 > best["mean"]
    # As it is and the best are searched for how far they carry, but none that only adds what has no effect.
    carried = {name: each["capacity"]["capacity"] for name, each in by_name.items() if each["capacity"]}
    assert {AS_IT_IS, found["recommended"]} < set(carried)
    assert f"{found['recommended']}, timer of 1ms" not in carried
    assert carried[found["recommended"]] > carried[AS_IT_IS]
    assert found["verdict"] == "take"
    assert found["headline"].startswith(f'Take "{found["recommended"]}": query-p99 ')
    # The goal decides, and where the best does not carry the senders that there are, another is told that does.
    assert found["recommended"] == "Linux DCTCP, 50 packets, window of 2"
    assert carried[found["recommended"]] == 52
    assert all(each["needs"] for each in found["fixes"])
    told = found | {"diagnosis": None, "fixes": [each | UNTOLD for each in found["fixes"]]}
    assert undocumented(told | {"variations": [each | UNTOLD for each in found["variations"]]}, "Advice") == set()


UNTOLD = dict.fromkeys(("settings", "measures", "capacity"))
"""Values whose keys are those of scenarios, of goals, and of `fanin capacity`."""


def test_where_the_best_does_not_carry_the_senders_one_that_does_is_searched_and_told(cli, rack):
    found = advised(cli, rack, "--capacities", "1", "--set", "traffic.servers.senders=60")
    carried = {each["fix"]: each["capacity"]["capacity"] for each in found["fixes"] if each["capacity"]}
    assert carried[found["recommended"]] < 60 <= carried[found["keeping"]]
    assert carried[AS_IT_IS] < 60


def answer(experiment, *every, keeps=()):
    """Advice whose fixes, the best first, are (name, mean, settings, more fields)."""
    less = goals.goal("query-p99", experiment)
    own = (AS_IT_IS, 1.0, {}, {"effort": Effort.NOTHING})
    found = []
    for name, mean, settings, more in sorted([own, *every], key=lambda each: each[1]):
        place = Placed(name, 1, Spread(mean, 0.0, mean, mean), False, None, {}, 6)
        fix = Fix(name, settings, Effort(more.get("effort", Effort.HOSTS)), f"what {name} needs")
        given = {"broken": (), "work": 1.0, "change": Estimate(mean, 0.0, mean - 1.0, 0.0)}
        given["values"] = dict.fromkeys(range(1, 7), mean)
        given |= {key: value for key, value in more.items() if key != "effort"}
        given = {"background": None} | given
        found.append(Advised(fix, place, margin=0.01, own=1.0, **given))
    happened = SimpleNamespace(fan_in=None, is_closed_loop=False, scenario={"traffic": []})
    return Advice(happened, less, list(keeps), [1, 2, 3, 4, 5, 6], found, None, [], [])


@pytest.mark.parametrize(("mean", "taken"), [(0.01, "fast"), (0.1, "fast"), (0.219, "bounded"), (0.4, "bounded")])
def test_the_goal_decides_and_bounds_only_among_what_is_about_as_good(work, mean, taken):
    fast = ("fast", mean, {"a": 1}, {"broken": ("timeout-ratio is 3 % (timeout-ratio=1%)",)})
    found = answer(fan_in(), fast, ("bounded", 0.24, {"b": 1}, {"effort": Effort.SWITCH_SETTING}))
    assert found.best.fix.name == taken
    deployable = [each.place.value.mean for each in found.every if each.effect(found.goal) == "better"]
    assert found.best.place.value.mean <= ABOUT_AS_GOOD_FACTOR * min(deployable)
    # What breaks a bound says so, and is not silent on what keeps it.
    bounds, keeping = dict(word_rows(found)).get("bounds", ""), found.as_dict()["keeping"]
    told = ("timeout-ratio is 3 % (timeout-ratio=1%)",)
    assert (found.best.broken, keeping) == ((told, "bounded") if taken == "fast" else ((), None))
    assert bounds == (f'{told[0]}; "bounded" (240 ms) keeps them' if taken == "fast" else "")


def carries(capacity):
    return {"found": SimpleNamespace(capacity=capacity, breaks_at=capacity + 1)}


SWITCH = {"effort": Effort.SWITCH_SETTING}


def test_what_is_better_than_the_advice_is_told_with_how_much_and_what_it_takes(work):
    more = ("more", 0.1, {"a": 1}, SWITCH)
    found = answer(fan_in(), more, ("less", 0.106, {"b": 1}, {}))
    assert (found.best.fix.name, found.passed_over.fix.name) == ("less", "more")
    told = found.as_dict()
    assert told["against"] == ["needs"]
    assert (told["passed_over"], told["gain_passed_over"]) == ("more", pytest.approx(0.006 / 0.106))
    # What is no better by a difference that counts is passed over without a word.
    same = answer(fan_in(), more, ("less", 0.106, {"b": 1}, {"values": dict(enumerate(NOISY, start=1))}))
    assert (same.best.fix.name, same.passed_over, same.as_dict()["passed_over"]) == ("less", None, None)
    assert "better" not in dict(word_rows(same))
    # Bounds that it does not keep, and other hosts, are other reasons.
    short = ("more", 0.1, {"a": 1}, carries(39))
    enough = ("less", 0.106, {"b": 1}, carries(40))
    keeps = [goals.keep("goodput=90%", fan_in())]
    happened = SimpleNamespace(fan_in={"key": "senders", "senders": 40}, is_closed_loop=False)
    bounded = replace(answer(fan_in(), short, enough, keeps=keeps), diagnosis=happened)
    assert bounded.against == ["bounds", "needs"]
    good, bad = (
        [with_hosts(1.0, 0.1, "better"), replace(with_hosts(1.0, 0.1, "better"), outcome=outcome)]
        for outcome in ("holds", "does not hold")
    )
    unsteady = replace(found, hosts={"less": good, "more": bad})
    assert unsteady.against == ["other-hosts", "needs"]
    assert "near" not in dict(word_rows(unsteady))
    alike = [replace(each, fix=replace(each.fix, needs="the same")) for each in found.every]
    untried = replace(found, every=alike, hosts={"less": good})
    assert untried.against == ["untried"]


def test_what_carries_fewer_than_the_scenario_does_is_passed_over_for_what_is_about_as_good(work):
    fewer, as_many = ("fewer", 0.1, {"a": 1}, carries(128)), ("as-many", 0.106, {"b": 1}, SWITCH | carries(500))
    found = answer(fan_in(), fewer, as_many)
    own = replace(found.own, found=carries(512)["found"])
    found = replace(found, every=[own if each is found.own else each for each in found.every])
    assert (found.best.fix.name, found.passed_over.fix.name) == ("as-many", "fewer")
    assert found.against == ["fewer", "needs"]
    # What the search has left open is no room that is given up, nor is there any to give up without a search.
    assert answer(fan_in(), fewer, as_many).best.fix.name == "fewer"


@pytest.mark.parametrize(
    ("most", "breaks", "room"), [(47, 51, "hardly any"), (47, 48, "too little"), (48, 51, "hardly any")]
)
def test_a_fan_in_in_the_gap_of_the_search_breaks_no_bound(work, most, breaks, room):
    found = answer(fan_in())
    own = replace(found.own, found=SimpleNamespace(capacity=most, breaks_at=breaks))
    happened = SimpleNamespace(fan_in={"key": "senders", "senders": 48}, is_closed_loop=False)
    assert replace(found, every=[own], diagnosis=happened).room == room
    assert replace(found, every=[own], diagnosis=happened).suffices(own) == (room != "too little")


NOISY = [0.05, 0.16, 0.1, 0.11, 0.08, 0.136]
"""Of six seeds; their mean is 0.106."""


@pytest.mark.parametrize(
    ("values", "taken"),
    [([0.106] * 6, "better"), (NOISY, "plain"), ([0.1001] * 6, "plain"), ([math.inf] * 6, "better")],
)
def test_of_the_same_effort_what_is_better_by_a_difference_that_counts_is_taken(work, values, taken):
    better = ("better", 0.1, {"a": 1, "b": 1}, carries(40))
    plain = ("plain", sum(values) / 6, {"c": 1}, {"values": dict(enumerate(values, start=1)), **carries(80)})
    assert answer(fan_in(), better, plain).best.fix.name == taken
    # Of less effort, it is taken although the other is better, unless that is much.
    less = answer(fan_in(), (*better[:3], better[3] | SWITCH), plain).best
    assert less.fix.name == ("better" if values[0] == math.inf else "plain")


@pytest.mark.parametrize(("mean", "taken"), [(0.1, "high"), (0.09, "low")])
def test_a_threshold_that_check_warns_of_is_taken_only_if_it_is_better_by_a_tenth(work, mean, taken):
    found = answer(fan_in(), ("low", mean, {"a": 1}, SWITCH), ("high", 0.102, {"a": 2}, SWITCH))
    every = []
    for each in found.every:
        threshold = "5pkt" if each.fix.name == "low" else "9pkt"
        cautions = ("5pkt: below a burst",) * (threshold == "5pkt")
        marked = replace(each.fix, marks=Marks(threshold, "why"), cautions=cautions, needs="a threshold")
        own = Marking("a", threshold, is_like_dctcp=True) if each.fix.settings else None
        every.append(replace(each, fix=replace(marked, marking=own)))
    scenario = {"transport": {"scheme": "linux", "stack": "linux-6.12"}, "queue": {"kind": "auto"}}
    found = replace(found, every=every, diagnosis=SimpleNamespace(fan_in=None, is_closed_loop=False, scenario=scenario))
    assert found.best.fix.name == taken
    assert ("threshold" in found.against) == (taken == "high")
    told = found.thresholds
    assert told["why"] == "why"
    if taken == "high":
        assert (told["from"], told["other_from"], told["other_is"], told["cautions"]) == ("9pkt", "5pkt", "better", [])
    else:
        assert (told["from"], told["other_from"], told["other_is"]) == ("5pkt", "9pkt", "worse")
        assert told["cautions"] == ["5pkt: below a burst"]


def test_three_that_are_better_than_one_another_in_a_circle_are_alike(work):
    # Each pair has three seeds in common.
    seeds = {"a": {1: 0.1, 2: 0.1, 3: 0.1, 4: 0.11, 5: 0.11, 6: 0.11}}
    seeds["b"] = {1: 0.11, 2: 0.11, 3: 0.11, 7: 0.1, 8: 0.1, 9: 0.1}
    seeds["c"] = {4: 0.1, 5: 0.1, 6: 0.1, 7: 0.11, 8: 0.11, 9: 0.11}
    found = answer(fan_in(), *((name, 0.105, {name: 1}, {"values": values}) for name, values in seeds.items()))
    assert all(found.is_better(found.find(one), found.find(other)) for one, other in ("ab", "bc", "ca"))
    assert found.best is not None


def test_what_seeds_do_not_decide_is_a_third_answer(work):
    open_ = ("open", 0.02, {"a": 1}, {"change": Estimate(0.02, 0.1, -0.98, 1.2)})
    found = answer(fan_in(), open_)
    assert (found.best, found.undecided.fix.name) == (None, "open")
    needed = found.undecided.seeds_to_decide
    assert found.verdict == "undecided"
    # A rank beside another of yours would say that it differs; here all have one.
    places = [replace(each, place=replace(each.place, rank=at)) for at, each in enumerate(found.every)]
    other = replace(found, every=places)
    assert [line[0] for line in rows(other, other.every)] == ["-", "1"]
    assert rows(other, other.every)[0][3] == f"undecided: about {needed} seeds"
    assert [line[0] for line in rows(found, found.every)] == ["1=", "1="]
    # What would take very many seeds, what may be worse, and what is beside a fix that is better.
    far = ("far", 0.9, {"a": 1}, {"change": Estimate(0.9, 0.1, -0.1, 1.2)})
    worse = ("worse", 1.9, {"a": 1}, {"change": Estimate(1.9, 0.1, 0.9, 1.2)})
    for other in ([far], [worse], [open_, ("sure", 0.5, {"b": 1}, {})]):
        assert answer(fan_in(), *other).undecided is None
    assert answer(fan_in(), far).verdict == "keep"


def test_what_is_better_by_far_with_each_of_three_seeds_is_taken_with_what_is_known(work):
    before, after = np.array([0.0053, 0.202, 0.202]), np.array([0.00069, 0.00069, 0.0007])
    found = answer(fan_in(), ("marks", float(after.mean()), {"a": 1}, {"change": paired(after, before)}))
    assert (found.best.fix.name, found.undecided) == ("marks", None)
    assert not found.as_dict()["sure"]
    assert (found.best.change.factor, len(found.best.change.sizes)) == (pytest.approx(7.7, rel=0.01), 3)
    sure = answer(fan_in(), ("marks", 0.1, {"a": 1}, {}))
    assert (sure.as_dict()["sure"], "sure" in dict(word_rows(sure))) == (True, False)


def test_one_or_two_seeds_leave_everything_undecided(cli, rack):
    def told(seeds, *arguments):
        result = cli("advise", rack, "--seeds", seeds, "--capacities", "0", "--jobs", "1", *arguments, "--json")
        return json.loads(result.out)

    found = told("1..2")
    assert (found["recommended"], found["undecided"]) == (None, "DCTCP, 50 packets, window of 2")
    assert found["verdict"] == "undecided"
    assert {each["fix"]: each["seeds_to_tell"] for each in found["fixes"]}[found["undecided"]] == 6
    # A place beside that of what differs much would say that it does not.
    text = cli("advise", rack, "--seeds", "1..2", "--capacities", "0", "--jobs", "1", "--all", "--tsv").out
    assert not re.findall(r"^\d+=?\t", text, re.MULTILINE)
    # Not even that nothing is better is known.
    for seeds, few in (("1", "1 seed is"), ("1..2", "2 seeds are")):
        found = told(seeds, "--set", "traffic.servers.senders=1")
        assert found["verdict"] == "few-seeds"
        assert found["headline"].startswith(f"Undecided: {few} too few to compare (query-p99 ")
        assert found["headline"].endswith("; about 6 would decide (--seeds 1..6).")
    text = cli("advise", rack, "--seeds", "1", "--capacities", "0", "--jobs", "1", "--set", "traffic.servers.senders=1")
    assert "nothing better is needed" not in text.out


def test_a_bound_that_is_broken_is_told_with_its_value(work):
    experiment = fan_in()
    rows = [experiment.run(seed).summary for seed in (1, 2)]
    assert goals.keep("query-p99=1us", experiment).broken_by(rows).endswith("s (query-p99=1us)")
    assert goals.keep("query-p99=9s", experiment).broken_by(rows) == ""
    # A share of what the best reaches is known only to a search.
    assert goals.keep("goodput=100%", experiment).broken_by(rows) == ""


def fan_in():
    Path("rack.toml").write_text(RACK)
    return fanin.Scenario("rack.toml")


def test_its_numbers_are_those_of_runs_with_its_settings(cli, rack):
    found = advised(cli, rack, "--capacities", "0")
    timer = next(each for each in found["fixes"] if each["fix"] == "timer of 1ms")
    runs = [fanin.Scenario(rack).set(timer["settings"]).run(seed).summary for seed in (1, 2, 3)]
    assert timer["mean"] == pytest.approx(sum(run["query_p99_s"] for run in runs) / 3)
    own = [fanin.Scenario(rack).run(seed).summary["query_p99_s"] for seed in (1, 2, 3)]
    assert timer["change"] == pytest.approx(timer["mean"] - sum(own) / 3)
    assert timer["capacity"] is None


def test_what_the_background_pays_is_told(cli, rack):
    Path(rack).write_text(RACK + BACKUP)
    slower = ("--set", "network.rate=1Gbps", "--set", "traffic.servers.start=1ms", "--set", "transport.rto-min=20ms")
    found = advised(cli, rack, "--capacities", "0", *slower)
    changes = [each["background_change"] for each in found["fixes"]]
    assert any(change is not None and change < 0 for change in changes)
    assert next(each for each in found["fixes"] if each["fix"] == AS_IT_IS)["background_change"] is None


def test_nothing_is_recommended_where_nothing_helps(cli, rack):
    found = advised(cli, rack, "--set", "traffic.servers.senders=1", "--capacities", "1")
    assert found["recommended"] is None
    assert found["verdict"] == "keep"
    assert next(each for each in found["fixes"] if each["fix"] == AS_IT_IS)["capacity"]["capacity"] > 1


ROOM = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "{rate}"
delay = "5us"
admission = "dynamic-threshold"
shared-buffer = "600KB"
[transport]
scheme = "linux"
[[traffic]]
name = "servers"
kind = "incast"
senders = 6
bytes-each = "31KB"
"""


def test_who_needs_no_fix_is_told_which_carries_further_with_its_threshold(cli, work):
    Path("room.toml").write_text(ROOM.format(rate="10Gbps"))
    found = advised(cli, "room.toml", "--capacities", "1")
    carried = {each["fix"]: each["capacity"]["capacity"] for each in found["fixes"] if each["capacity"]}
    assert (found["recommended"], found["diagnosis"]["outcome"]) == (None, "full")
    # All that can be deployed and tie are searched, but none that only adds a setting to another of them.
    assert {"timer of 1ms", "Linux DCTCP, marks from 65 packets", "Linux DCTCP, marks from 21 packets"} <= set(carried)
    assert not [name for name in carried if name.endswith(", timer of 1ms")]
    assert found["further"].startswith(("Linux DCTCP, marks from ", "ECN (RFC 3168), marks from "))
    assert carried[found["further"]] == max(carried.values()) > 1.2 * carried[AS_IT_IS]
    assert found["verdict"] == "keep"
    # What is only for more senders is tried last.
    said = cli("advise", "room.toml", "--capacities", "1", *FEW).out.splitlines()
    (tried_at,) = [place for place, line in enumerate(said) if line.startswith("Try it: fanin run room.toml --set ")]
    (more_at,) = [place for place, line in enumerate(said) if line.startswith("  more      for more senders: ")]
    assert said[1].startswith("  as it is  No collapse")
    assert 1 < more_at < tried_at
    assert f'"{found["further"]}" (' in said[more_at]
    assert f"carries {carried[found['further']]}" in said[more_at]
    further = next(each for each in found["fixes"] if each["fix"] == found["further"])
    assert "an ECN threshold in the switch" in further["needs"]


def test_the_advice_to_keep_a_scenario_says_how_much_room_it_leaves(cli, work):
    Path("room.toml").write_text(ROOM.format(rate="10Gbps"))

    def told(*arguments: str) -> tuple[int, int, tuple[str, str, bool]]:
        found = advised(cli, "room.toml", "--capacities", "1", *arguments)
        own = next(each for each in found["fixes"] if each["fix"] == AS_IT_IS)
        assert found["recommended"] is None
        said = (found["verdict"], found["room"], found["further"] is not None)
        return own["capacity"]["capacity"], own["capacity"]["breaks_at"], said

    # Six of fourteen senders leave room; fourteen do not, although they are no slower for it.
    most, _, said = told()
    assert said[:2] == ("keep", "enough")
    same, breaks_at, said = told("--set", f"traffic.servers.senders={most}")
    assert same == most > 6
    assert (breaks_at, said) == (most + 1, ("keep-for-now", "hardly any", True))
    # A bound that does not hold is no reason to keep anything.
    fewer, _, said = told("--set", f"traffic.servers.senders={most}", "--keep", "query-p99=300us")
    assert (fewer < most, said[:2]) == (True, ("too-little", "too little"))


def test_thresholds_are_the_engines_rule_whatever_the_scenario_has(work):
    for rate, own in (("1Gbps", 20), ("10Gbps", 65), ("20Gbps", 130)):
        Path("room.toml").write_text(ROOM.format(rate=rate).replace("600KB", "1MB"))
        given = {"transport.scheme": "linux-dctcp", "scheme.linux-dctcp.mark-threshold": "30pkt"}
        experiment = fanin.Scenario("room.toml").set(given)
        assert thresholds(diagnose(experiment.run(), experiment.of_fan_in(), experiment.handle())) == (own, own // 3)
    small = fanin.Scenario("room.toml").set({"network.admission": "static", "network.buffer": "10pkt"})
    # From no more than half of the buffer on, which `fanin check` does not warn of.
    assert thresholds(diagnose(small.run(), small.of_fan_in(), small.handle())) == (5, 5)


def test_ctrl_c_in_json_is_provisional_too(cli, rack, interrupt):
    interrupt(3)
    result = cli("advise", rack, *FEW, "--json")
    found = json.loads(result.out)
    assert (result.code, found["provisional"], found["paths"], found["recommended"]) == (130, True, [], None)
    assert {each["fix"] for each in found["fixes"]} > {AS_IT_IS, "timer of 1ms", "SDTCP"}


def test_the_answer_comes_first_and_is_short(cli, rack):
    result = cli("advise", rack, *FEW, "--capacities", "0")
    first, try_, *_ = result.out.splitlines()
    assert first.startswith('Take "')
    assert try_.startswith(f"Try it: fanin run {rack} --set ")
    assert len(result.out.splitlines()) <= 25
    found = advised(cli, rack, "--capacities", "0")
    names = [each["fix"] for each in found["fixes"] if not each["same_runs"] or each["fix"] == AS_IT_IS]
    whole = cli("advise", rack, *FEW, "--capacities", "0", "--all", "--tsv").out
    lines = [line.split("\t") for line in whole.partition("# A rack: fixes by query-p99")[2].splitlines()]
    shown = [line[1] for line in lines if len(line) > 3 and line[1] in names]
    # All that can be deployed, as it is among them, then the others.
    can = {each["fix"] for each in found["fixes"] if each["deployable"]}
    own = [name for name in names if name in can]
    assert shown == [*own, *[name for name in names if name not in can]]
    assert {AS_IT_IS, "timer of 10ms", "a window of 2 segments at first", "connections that stay open"} < {*own}
    # The best few of them stand in the short answer.
    lines = result.out.splitlines()
    begin = lines.index(f"# A rack: the best of {len(own)} that you can deploy")
    assert [line.partition("  ")[0].removesuffix(" *") for line in lines[begin + 2 : begin + 7]] == own[:5]
    assert "What they need" not in result.out
    assert "What they need" in whole


def test_an_answer_fits_a_screen_of_80_columns(work, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"Linux DCTCP, {at} packets, window of 2, timer of 1ms, which has a long name" for at in range(30)]
    unsure = paired(np.array([0.00069, 0.00069, 0.0007]), np.array([0.0053, 0.202, 0.202]))
    costs = {"background": Estimate(7.0, 0.1, -3.0, 0.1), "broken": ("timeout-ratio is 3 % (timeout-ratio=1%)",)}
    costs["change"] = unsure
    found = answer(fan_in(), *((name, 0.1 + at, {"a": at}, costs | SWITCH) for at, name in enumerate(names)))
    _print_answer(found, "fanin run s.toml", "it collapses " * 20, all_=False)
    _print_best("A rack", found)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert len(lines) <= 60  # Names as long as these take three lines each.
    # Whatever is left out, it is told what speaks against the fix.
    assert [line[2:12].strip() for line in lines if line[2:12].strip() in ("costs", "bounds", "sure")] == [
        "costs",
        "bounds",
        "sure",
    ]
    assert max(map(len, lines)) <= 80


def test_a_table_in_two_parts_names_the_fix_in_both(work, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "66")
    longest = "Linux DCTCP, 65 packets, window of 2, timer of 1ms"
    found = answer(fan_in(), (longest, 0.1, {"a": 1}, carries(960) | {"background": Estimate(9.0, 0.1, -1.0, 0.1)}))
    _print_answer(found, "fanin run a-rack-with-a-name-of-its-own.toml --set x=1", "it collapses", all_=True)
    _print_tables("A rack", found)
    lines = capsys.readouterr().out.splitlines()
    # A command is in one piece, to be copied.
    assert found.advised.fix.name == longest
    assert "Try it: fanin run a-rack-with-a-name-of-its-own.toml --set x=1 --set a=1" in lines
    heads = [line.strip("┃\n") for line in lines if line.startswith("┃")]
    heads = [[cell.strip() for cell in re.sub(r"\x1b\[[0-9;]*m", "", line).split("┃")] for line in heads]
    assert [line[:2] for line in heads if "rank" in line] == [["rank", "fix"]] * 2


def test_memory_that_the_switch_may_lack_is_no_first_advice(cli, rack):
    found = advised(cli, rack, "--capacities", "0")
    shared = "ports share the switch's memory"
    ranks = {each["fix"]: each["rank"] for each in found["fixes"]}
    assert ranks[shared] < ranks[found["recommended"]]
    needs = next(each["needs"] for each in found["fixes"] if each["fix"] == found["with_memory"] == shared)
    assert "a switch that has the memory of 41 ports in one pool, 6.15 MB (ask its data sheet)" in needs


STEADY = ("--set", "network.buffer=1MB", "--set", "traffic.servers.senders=60", "--set", "traffic.servers.rounds=2")


GOES_ON = (
    *("--set", "network.buffer=1MB", "--set", "traffic.servers.senders=60", "--set", "traffic.servers.rounds=1000"),
    *("--set", "transport.rto-min=5ms", "--set", "traffic.servers.stop=40ms"),
)
"""Queries for some time: all fixes run about equally long, and faster queries take more of the link."""


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory):
    """Where a rack with a backup, and the runs that were asked for before, are."""
    folder = tmp_path_factory.mktemp("backed-up")
    (folder / "rack.toml").write_text(LINUX + BACKUP)
    return folder


@pytest.fixture
def steady(cli, backed_up):
    """Advice for that rack; all tests share its runs."""
    known = ("--capacities", "0", *STEADY, "--out", str(backed_up / "results"))
    return lambda *arguments: advised(cli, str(backed_up / "rack.toml"), *known, *arguments)


def test_what_the_background_pays_is_over_equal_times(steady):
    found = steady()
    own, best = (each for each in found["fixes"] if each["fix"] in (AS_IT_IS, found["recommended"]))
    changes = [each["background_change"] for each in (own, best)]
    # Two queries of 2 MB are hardly anything to a link that is the background's for the rest of 400 ms.
    assert all(change is None or abs(change) < 0.05 for change in changes)
    assert not any(each["costly"] for each in found["fixes"])


def run_of(background, rate, window_s, start_s=1.0):
    """A run in which the background has so much of the goodput, over a window that begins at some time."""
    row = {"seed": 1, "window_start_s": start_s, "simulated_s": start_s + window_s, "goodput_bps": rate}
    return row | {"groups.backup.goodput_bps": background}


def test_what_the_background_pays_is_weighed_with_the_lengths_of_the_windows(work):
    Path("rack.toml").write_text(RACK + BACKUP)
    background = goals.measure("background", fanin.Scenario("rack.toml"))
    own = run_of(19_142e6, 24_119e6, 0.494)
    # 1,085 Mbit/s for 125 ms and 24,119 Mbit/s for the other 369 ms are 18,291 Mbit/s.
    change = paid([run_of(1_085e6, 24_119e6, 0.125)], [own], background)
    assert change.mean == pytest.approx((0.125 * 1_085e6 + 0.369 * 24_119e6) / 0.494)
    assert change.difference / own["groups.backup.goodput_bps"] == pytest.approx(-0.0445, abs=5e-4)


@pytest.mark.parametrize("start", ["0s", "1s", "10s"])
def test_queries_on_a_full_link_cost_the_background_what_they_send_whenever_they_start(work, start):
    # Ten queries of 200 KB and a long flow: marks or not, the link is full and they send the same.
    slow = LINUX.replace('"10Gbps"', '"100Mbps"').replace("40", "4").replace("32KB", "50KB")
    Path("rack.toml").write_text(f'{slow}rounds = 10\nstart = "{start}"\n{BACKUP}')
    experiment = fanin.Scenario("rack.toml")
    marks = {"transport.ecn": "on", "queue.kind": "ecn-threshold", "queue.threshold": "10pkt"}
    before, after = Laboratory(experiment, None).cases([({}, [1]), (marks, [1])])
    own, faster = before.rows[0], after.rows[0]
    assert own["query_mean_s"] > 1.5 * faster["query_mean_s"]
    change = paid(after.rows, before.rows, goals.measure("background", experiment))
    assert abs(change.difference) < 0.03 * (change.mean - change.difference)


def test_no_fix_is_named_or_listed_without_what_the_background_pays(cli, rack):
    Path(rack).write_text(LINUX + BACKUP)
    found = advised(cli, rack, "--capacities", "0", "--margin", "0.1%", *GOES_ON)
    changes = {each["fix"]: each["background_change"] for each in found["fixes"]}
    costly = [each["fix"] for each in found["fixes"] if each["costly"]]
    assert costly == [name for name, change in changes.items() if change is not None and change <= -0.2]
    assert found["recommended"] in costly
    pays = f"{100 * changes[found['recommended']]:.3g} %"
    out = cli("advise", rack, *FEW, "--capacities", "0", "--margin", "0.1%", *GOES_ON, "--all", "--tsv").out
    assert f"\t{pays} !" in out
    assert "\n! costs the background 20 % or more\n" in out
    short = cli("advise", rack, *FEW, "--capacities", "0", "--margin", "0.1%", *GOES_ON).out
    assert f"\n  costs     background {pays}, a large cost\n" in short


def test_what_is_better_but_impossible_deployed_is_told_with_how_it_does_on_other_hosts(cli, backed_up):
    few = ("--capacities", "0", "--margin", "0.1%", "--set", "traffic.servers.rounds=3")
    found = advised(cli, str(backed_up / "rack.toml"), *few, "--out", str(backed_up / "results"))
    first = found["fixes"][0]
    assert not first["deployable"]
    assert found["ideal"] == first["fix"] != found["recommended"]
    assert found["ideal_variations"]


def test_one_threshold_is_recommended_and_the_other_compared(steady):
    found = steady()
    assert found["recommended"].startswith(("Linux DCTCP, ", "ECN (RFC 3168), "))
    taken, other = ("65", "21") if " 65 " in found["recommended"] else ("21", "65")
    told = found["thresholds"]
    assert (told["from"], told["other_from"]) == (f"{taken}pkt", f"{other}pkt")
    assert told["why"]


def test_the_threshold_of_a_scenario_that_stays_is_told(cli, work):
    few = DEEP.replace("senders = 40", "senders = 2")
    Path("marks.toml").write_text(few.replace('"linux"', '"linux-dctcp"'))
    found = advised(cli, "marks.toml", "--capacities", "0")
    assert found["recommended"] is None
    told = found["thresholds"]
    assert (told["from"], told["path"], told["why"]) == ("65pkt", "scheme.linux-dctcp.mark-threshold", None)
    assert (told["other_from"], told["other_is"]) == ("21pkt", "no different")
    assert next(each for each in found["fixes"] if each["fix"] == told["other"])["cautions"]
    # A scenario without marks has none.
    Path("linux.toml").write_text(few)
    assert advised(cli, "linux.toml", "--capacities", "0")["thresholds"] is None


def test_what_check_says_against_a_threshold_is_told_beside_the_advice(cli, work):
    found, _, _ = tried(DEEP)
    other = found["Linux DCTCP, marks from 21 packets"]
    (caution,) = other.cautions
    assert "21pkt: below C x RTT / 7 and a burst of 44 packets" in caution
    assert caution in json.loads(cli("check", "tried.toml", *other.command.split(), "--json").out)["warnings"]
    assert found["Linux DCTCP, marks from 65 packets"].cautions == found["timer of 1ms"].cautions == ()
    own = {"transport.scheme": "linux-dctcp", "scheme.linux-dctcp.mark-threshold": "21pkt"}
    Path("low.toml").write_text(DEEP.replace("senders = 40", "senders = 2"))
    low = advised(cli, "low.toml", "--capacities", "0", *(f"--set={path}={value}" for path, value in own.items()))
    assert low["thresholds"]["cautions"] == [caution]
    by_name = {each["fix"]: each for each in low["fixes"]}
    assert (by_name[AS_IT_IS]["threshold"], by_name[AS_IT_IS]["cautions"]) == ("21pkt", [caution])


def test_a_threshold_above_half_of_the_buffer_is_not_said_to_be_that_of_the_authors(work):
    found, _, _ = tried(LINUX, **{"network.buffer": "60pkt"})
    marks = found["Linux DCTCP, marks from 30 packets"].marks
    assert (
        marks.why == "half of the buffer, as bursts need the rest, and less than what DCTCP's authors take at 10 Gbit/s"
    )
    found, _, _ = tried(LINUX, **{"network.rate": "25Gbps", "network.buffer": "1MB"})
    marks = found["Linux DCTCP, marks from 163 packets"].marks
    assert marks.why == "what DCTCP's authors take at 10 Gbit/s, scaled to 25 Gbit/s"


def test_a_threshold_is_that_of_the_slowest_links_wherever_packets_are_lost(work):
    faster = {"network.topology": "leaf-spine", "network.rate": "25Gbps", "network.uplink-rate": "100Gbps"}
    _, happened, experiment = tried(DEEP, **faster, **{"network.buffer": "1MB"})
    uplink = replace(happened, port=replace(happened.port, rate_bps=100e9))
    found = {each.name: each for each in fixes(uplink, experiment).fixes}
    why = "what DCTCP's authors take at 10 Gbit/s, scaled to 25 Gbit/s"
    assert found["Linux DCTCP, marks from 163 packets"].marks.why == why


def test_what_a_fix_sets_takes_the_place_of_what_was_given(cli, rack):
    result = cli("advise", rack, *FEW, "--capacities", "0", "--set", "transport.initial-window=9mss")
    (line,) = [each for each in result.out.splitlines() if each.startswith("Try it: ")]
    assert line.count("transport.initial-window") == 1
    assert "transport.initial-window=2mss" in line


def test_a_switch_whose_threshold_the_scenario_sets_is_told_where_it_is_another(cli, work):
    Path("linux.toml").write_text(LINUX.replace("[[traffic]]", '[scheme.dctcp]\nmark-threshold = "40pkt"\n[[traffic]]'))
    warnings = advised(cli, "linux.toml", "--capacities", "0")["warnings"]
    (said,) = [each for each in warnings if each.startswith("the switch marks from 40pkt on")]
    assert "(scheme.dctcp.mark-threshold)" in said
    assert "DT-DCTCP, PFDCT, PFDCT-ST, DT-CWA, DCQCN are tried with a switch that marks in another way" in said


@pytest.fixture
def a_second_each(monkeypatch):
    """A clock by which each run takes a second, and nothing else any time."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("fanin.choose.outlook.time", clock)
    monkeypatch.setattr("fanin.choose.plan._OVERHEAD_OF_RUN_S", 0.0)
    first, told = advise._first, Outlook.advance

    def ran(experiment, seed):
        clock.now = 0.0
        return first(experiment, seed)._replace(seconds=1.0)

    def advance(self, progress):
        clock.now = float(progress.simulated)
        told(self, progress)

    monkeypatch.setattr(advise, "_first", ran)
    monkeypatch.setattr(Outlook, "advance", advance)
    return clock


def test_as_many_seeds_as_decide_run_of_the_best_and_the_time_is_kept(cli, rack, a_second_each):
    result = cli("advise", rack, "--within", "120s", "--jobs", "1")
    assert result.code == 0, result.err
    assert "One run takes 1 s, so --within 120s has no room for all" in result.err
    # The first run is not among those that were counted.
    spent = 1 + a_second_each.now
    assert 60 < spent <= 1.25 * 120 + 1
    (path,) = Path("results/advice").glob("*/advice.json")
    found = json.loads(path.read_text())
    seeds = {each["fix"]: each["seeds"] for each in found["fixes"]}
    assert (seeds[AS_IT_IS], seeds[found["recommended"]]) == (6, 6)
    # What few seeds say is no rank, and of what has one the best is the first.
    ranks = {each["fix"]: each["rank"] for each in found["fixes"]}
    assert all(ranks[name] is None for name, count in seeds.items() if count < 3)
    assert 1 in ranks.values()
    # What anybody can deploy is always listed, and what is hopeless has a seed.
    assert {"timer of 10ms", "timer of 1ms", "a window of 2 segments at first", "connections that stay open"} < set(
        seeds
    )
    assert min(seeds.values()) == 1
    assert found["dropped"][0].endswith(" x worse)")
    assert AS_IT_IS in found["unsearched"]
    assert re.search(r"^  left out  .*given up within 120s; run it again with a", result.out, re.MULTILINE)


def test_what_there_is_no_time_for_is_said(cli, rack, a_second_each):
    result = cli("advise", rack, "--within", "12s", "--jobs", "1")
    assert result.code == 0, result.err
    # Four of the time for the first seed, then what is better with the second.
    assert 1 + a_second_each.now <= 13
    (path,) = Path("results/advice").glob("*/advice.json")
    found = json.loads(path.read_text())
    seeds = {each["fix"]: each["seeds"] for each in found["fixes"]}
    assert ("SDTCP" in found["untried"], seeds[AS_IT_IS] < 6, found["variations"]) == (True, True, [])
    assert found["lacks_hosts"]
    assert "\n  hosts     not tried within 12s\n" in result.out
    assert re.search(r"^  left out  \d+ untried, \d+ few seeds.* within 12s; ", result.out, re.MULTILINE)
    # Seeds that are asked for run however long that takes, unless a time is, too.
    asked = ("advise", rack, "--jobs", "1", "--seeds", "1,2", "--capacities", "0", "--json")
    result = cli(*asked, "--within", "12s")
    bound = json.loads(result.out)
    assert (bound["seeds"], "--within 12s has no room for all" in result.err) == ([1, 2], True)
    assert {"SDTCP", AS_IT_IS} - {*bound["untried"]} == {AS_IT_IS}
    result = cli(*asked)
    found = json.loads(result.out)
    assert (found["seeds"], found["untried"], "--within" in result.err) == ([1, 2], [], False)
    assert cli("advise", rack, "--within", "soon").code == 2


def test_what_is_hopeless_with_the_first_seed_runs_with_no_other_if_time_is_short(
    cli, steady, backed_up, work, a_second_each, monkeypatch
):
    # What is dropped is decided before other hosts are tried, which takes most of the time.
    monkeypatch.setattr("fanin.choose.advising._on_other_hosts", lambda *_: {})
    rack = str(backed_up / "rack.toml")
    found = json.loads(cli("advise", rack, "--within", "150s", "--jobs", "1", *STEADY, "--json").out)
    ranked = {each["fix"]: each["seeds"] for each in found["fixes"]}
    dropped = dict(each.removesuffix(" x worse)").rsplit(" (", 1) for each in found["dropped"])
    assert dropped and all(float(factor) > 2 for factor in dropped.values())
    assert max(ranked.get(name, 0) for name in dropped) <= 1 < ranked[AS_IT_IS]
    # What can be deployed stays, however bad it is, and nothing is left out if there is time.
    assert ranked["Linux Reno"] >= 1
    assert steady()["dropped"] == []


@pytest.mark.parametrize("batch", [3, 6])
def test_ctrl_c_prints_what_is_known_as_provisional(cli, rack, interrupt, batch):
    Path(rack).write_text(LINUX + BACKUP)
    interrupt(batch)
    result = cli("advise", rack, *FEW, *GOES_ON)
    assert result.code == 130
    assert "interrupted: finished runs are kept in results; the same command continues from there" in result.err
    assert result.out.startswith(f"Provisional, by {min(batch - 2, 3)} of 3 seeds: ")
    assert "A rack: the best of " in result.out
    assert "results/advice" not in result.out
    assert (" so far" in result.out.rpartition("the best of")[2]) == (batch == 3)
    # A change of the background that may be chance is told all the same.
    assert re.search("^  leads .*background -.*, a large cost", result.out, re.MULTILINE)


def test_ctrl_c_before_anything_is_known_prints_nothing(cli, rack, interrupt):
    interrupt(1)
    result = cli("advise", rack, *FEW)
    assert (result.code, result.out) == (130, "")


def plan(within_s, seeds=None, capacities=None, reach=(40, 640), run_s=0.99):
    return planned(20, seeds, capacities, hosts=5, reach=reach, run_s=run_s, slots=2, within_s=within_s)


def test_a_plan_knows_whether_there_is_time_for_all():
    # Twenty fixes and twenty times other hosts, half a second each, for the six seeds that can decide.
    assert (plan(121).seeds, plan(121).is_tight) == ([1, 2, 3, 4, 5, 6], False)
    assert (plan(119).seeds, plan(119).is_tight) == ([1, 2, 3, 4, 5, 6], True)
    assert (plan(1, [7, 8]).seeds, plan(1, [7, 8]).is_tight) == ([7, 8], True)
    # It takes no more than there is, unless it is asked for.
    assert (plan(60).whole.seconds, plan(60).whole.runs) == (60, pytest.approx(120, rel=0.02))
    assert plan(1, [7, 8]).whole.seconds > 30
    # The time is that of everything: searches have what is left, and those that are asked for have all the time.
    one = plan(1000).search(1.0).seconds
    assert plan(121, capacities=0).whole.seconds == pytest.approx(120)
    assert [plan(within).whole.seconds for within in (121, 125)] == pytest.approx([121, 125])
    assert plan(1e6).whole.seconds == plan(121, capacities=3).whole.seconds == pytest.approx(120 + 4 * one)
    # Without a fan-in there is nothing to search, whatever is asked for.
    assert (plan(1e6, capacities=3, reach=(0, 0)).capacities, plan(1e6, reach=(0, 0)).capacities) == (0, 0)
    # Of other hosts and what has passed, 90 s; then one search and another of half the work.
    ends = [90.1 + one, 90.1 + one + plan(1e6).search(0.5).seconds, 90.1 + 3 * one]
    assert [plan(within).searches([1.0, 0.5, 1.0], 30.0) for within in (91, *ends)] == [0, 1, 2, 3]
    assert plan(1, capacities=2).searches([1.0, 0.5, 1.0], 30.0) == 3
    # Once some have been searched, it is known how much longer that takes than was expected.
    assert replace(plan(1e6), harder=2.0).search(1.0).seconds == 2 * one
    # Fixes whose runs take longer are known with the first seed.
    slow = [1.0] * 10 + [3.0] * 10
    assert [plan(within).knowing(slow).is_tight for within in (241, 238)] == [False, True]
    # Or that they take no longer than the first run did.
    assert not plan(121).knowing(slow).knowing([1.0] * 20).is_tight
    # Runs of no length take what is around them.
    assert plan(1e6, capacities=0, run_s=0.0).whole.seconds == pytest.approx(240 * 0.005)


def test_a_search_is_expected_to_take_what_its_senders_send():
    def search(here, last):
        return plan(1e6, reach=(here, last)).search(1.0)

    # A network without hosts for more, and a scenario that has many already.
    assert search(20, 31).seconds < search(20, 320).seconds / 3
    assert search(320, 1024).seconds < search(64, 1024).seconds / 3
    assert 15 < search(20, 31).runs < search(20, 320).runs < 60


def test_the_outlook_is_one_count_and_one_time_for_everything(monkeypatch):
    now, told = [0.0], []
    monkeypatch.setattr("fanin.choose.outlook.time", SimpleNamespace(monotonic=lambda: now[0]))
    outlook = Outlook(plan(1e6), told.append)

    def shown(at, *progress):
        now[0] = at
        outlook.advance(Progress(*progress))
        return told[-1].done, told[-1].total, told[-1].left

    with outlook.running(Ahead(10, 20.0), Ahead(100, 200.0)):
        assert shown(5.0, 2, 10, None, 2) == (2, 110, 215.0)
        assert shown(20.0, 5, 10, 30.0, 5) == (5, 110, 230.0)
        shown(40.0, 10, 10, 0.0, 10)
    # They took twice as long, and so will others; what the store had tells nothing.
    assert outlook.plan.slower == 2.0
    with outlook.running(Ahead(10, 20.0), Ahead(90, 180.0)):
        shown(41.0, 20, 20, 0.0, 10)
    assert outlook.plan.slower == 2.0
    # If they had twice the work of the scenario's own, it was that and nothing else.
    other = Outlook(plan(1e6, run_s=1.0), told.append)
    alike = other.plan.ranked(1)
    with other.running(alike, Ahead()):
        other.advance(Progress(20, 20, 0.0, 20))
        now[0] += replace(other.plan, work=[2.0] * 20).ranked(1).seconds
    assert other.plan.slower == pytest.approx(2.0, rel=0.02)
    assert other.knowing([2.0] * 20).slower == pytest.approx(1.0)
    now[0] = 41.0
    # A search asks for runs as it goes, and the count goes on.
    with outlook.searching(Ahead(50, 100.0), Ahead(5, 10.0)):
        assert shown(46.0, 22, 24, None, 12) == (22, 75, 105.0)
        # What is left of the runs that it has asked for is not all.
        assert shown(61.0, 23, 24, 3.0, 13) == (23, 75, 90.0)
        now[0] = 241.0
    assert (outlook.plan.slower, outlook.plan.harder) == (2.0, 2.0)
    assert outlook.whole_s(Ahead(5, 10.0)) == 251.0


def test_time_is_kept_for_other_hosts_only_if_that_can_be_enough():
    # Four fixes on five other hosts with six seeds take 60 s, and two with three 15.
    assert Outlook(plan(1000, capacities=0), lambda _: None).ranked_until_s == pytest.approx(940)
    assert Outlook(plan(100, capacities=0), lambda _: None).ranked_until_s == pytest.approx(70)
    assert Outlook(plan(49, capacities=0), lambda _: None).ranked_until_s == 49


def test_the_count_never_goes_back_and_ends_at_what_was_announced_last(cli, rack, monkeypatch):
    monkeypatch.setattr("fanin.cli.terminal._PLAIN_INTERVAL_S", 0.0)
    err = cli("advise", rack, *FEW, "--capacities", "1").err
    counts = [tuple(map(int, each)) for each in re.findall(r"^runs: (\d+) of about (\d+),", err, flags=re.MULTILINE)]
    done = [each for each, _ in counts]
    assert done == sorted(done)
    assert counts[-1][0] == counts[-1][1]
    assert "left of this" not in err


def test_a_page_has_the_answer_the_ranking_and_the_needs(cli, rack):
    result = cli("advise", rack, *FEW, "--capacities", "0")
    page = Path(result.out.splitlines()[-2]).read_text()
    assert page.startswith("# Advice: A rack")
    # A table has no line without cells in it.
    assert "|\n\n|" not in page
    assert "| SDTCP | OpenFlow switches" in page
    assert "`--set transport.rto-min=1ms`" in page
    assert "\n  as it is  Incast collapse" in result.out
    assert f"fanin advise {rack}" in page
    # Nothing was searched, so nothing is said of how far they carry.
    assert "\n- carries: " not in page


def test_traffic_without_a_fan_in_is_ranked_by_completion_times(cli, work):
    text = '[network]\ntopology = "star"\nrate = "10Gbps"\n[[traffic]]\nkind = "poisson"\nname = "rpc"\nfrom = "all"\n'
    Path("rpc.toml").write_text(f'{text}to = "all"\nbytes-each = "rpc"\nload = "30%"\ncount = 50\n')
    found = advised(cli, "rpc.toml")
    assert (found["goal"], found["over"]) == ("p99-fct", None)
    assert {each["capacity"] for each in found["fixes"]} == {None}


@pytest.mark.parametrize(("second", "goal"), [("0", "fct_max_s"), ("0.1", "p99-fct")])
def test_a_shuffle_is_ranked_by_its_last_transfer_and_has_no_senders_to_carry(cli, work, second, goal):
    pairs = [(one, other) for one in range(6) for other in range(6) if one != other]
    lines = [f"{start},{one},{other},20000" for start in ("0", second) for one, other in pairs]
    Path("pairs.csv").write_text("\n".join(["start,src,dst,bytes", *lines]))
    traffic = 'kind = "flows"\nname = "step"\nfile = "pairs.csv"\nfrom = "all"\nto = "all"\n'
    hosts = LINUX.replace('"star"', '"leaf-spine"\nleaves = 2\nhosts-per-leaf = 3')
    Path("shuffle.toml").write_text(f"{hosts.rpartition('[[traffic]]')[0]}[[traffic]]\n{traffic}")
    result = cli("advise", "shuffle.toml", *FEW)
    assert result.code == 0, result.err
    assert f"  {goal} [ms]  " in result.out
    assert f"the goal is {goal}, as " in result.err
    assert "\n  carries   not searched, as no traffic goes from a number of senders to one receiver\n" in result.out
    record = json.loads(Path(result.out.splitlines()[-1]).read_text())
    assert record["unsearchable"] == []
    assert "search how far" not in result.err


def test_of_several_fan_ins_it_is_told_why_none_is_searched(cli, rack):
    twice = RACK + RACK.partition("[[traffic]]")[1] + RACK.partition("[[traffic]]")[2].replace("servers", "more")
    Path(rack).write_text(twice)
    out = cli("advise", rack, "--seeds", "1", "--jobs", "1").out
    record = json.loads(Path(out.splitlines()[-1]).read_text())
    assert record["unsearchable"] == ["traffic.servers.senders", "traffic.more.senders"]
    assert "there are several fan-ins (traffic.servers.senders and traffic.more.senders; `fanin capacity --over" in out


def test_a_scenario_that_fewer_senders_make_invalid_gets_advice_without_capacities(cli, rack):
    fault = '[[fault]]\nkind = "loss"\nlink = "sender-5->switch-0"\nrate = 0.001\n'
    Path(rack).write_text(RACK + fault)
    result = cli("advise", rack, "--seeds", "1", "--jobs", "1")
    assert result.code == 0, result.err
    assert "warning: how many senders the fixes carry was not searched: rack.toml" in result.err
    assert "search how far" not in result.err


def test_what_is_said_of_several_fixes_is_said_once():
    said = [("RCC", "they merge"), ("SAB", "no room"), ("RCCE", "they merge")]
    assert by_what_is_said(said) == ["RCC and RCCE: they merge", "SAB: no room"]


def test_every_scheme_says_what_it_needs():
    efforts = {row["key"]: Effort.from_row(row) for row in registry()["schemes"]}
    assert (efforts["linux"], efforts["dctcp"]) == (Effort.HOSTS, Effort.SWITCH_SETTING)
    assert (efforts["rcc"], efforts["sab"], efforts["sdtcp"]) == (Effort.KERNEL, Effort.SWITCH, Effort.CONTROLLER)
    assert Effort.SWITCH_MEMORY.is_deployable
    assert not Effort.KERNEL.is_deployable


def tried(text, **overrides):
    """The fixes for a scenario by their names, with what a run of it says."""
    Path("tried.toml").write_text(text)
    experiment = fanin.Scenario("tried.toml").set(overrides)
    happened = diagnose(experiment.run(), experiment.of_fan_in(), experiment.handle())
    found, _ = fixes(happened, experiment)
    return {each.name: each for each in found}, happened, experiment


LINUX = RACK.replace('scheme = "newreno"', 'scheme = "linux"')

DEEP = LINUX.replace("150KB", "300KB")
"""A buffer that has room for DCTCP's own threshold twice."""


def test_sender_schemes_run_on_the_stack_of_the_scenario_whether_it_is_named_or_implied(work):
    implied, _, _ = tried(LINUX)
    named, _, _ = tried(LINUX, **{"transport.stack": "linux-6"})
    assert {name: each.settings for name, each in implied.items()} == {
        name: each.settings for name, each in named.items()
    }
    systems = [each for each in implied.values() if "transport.scheme" in each.settings]
    assert len(systems) > 10
    assert {each.settings["transport.stack"] for each in systems} == {"linux-6.12"}
    # On another stack, it is that one, and only the schemes of Linux have theirs.
    plain, _, _ = tried(RACK)
    stacks = {
        each.settings["transport.scheme"]: each.settings["transport.stack"]
        for each in plain.values()
        if each.settings and "transport.scheme" in each.settings
    }
    assert {scheme for scheme, stack in stacks.items() if stack == "linux-6.12"} == {
        "linux",
        "linux-reno",
        "linux-dctcp",
    }
    assert {stack for scheme, stack in stacks.items() if not scheme.startswith("linux")} == {"rfc"}
    assert "DCTCP, marks from 50 packets" in plain


def test_what_systems_bring_of_their_own_is_told_on_stderr_in_json_and_on_the_page(cli, work):
    Path("linux.toml").write_text(LINUX.replace("senders = 40", "senders = 4"))
    (warning, *_) = advised(cli, "linux.toml", "--capacities", "0")["warnings"]
    assert warning.startswith("the systems differ in more than their scheme")
    assert "initial-window" in warning
    result = cli("advise", "linux.toml", *FEW, "--capacities", "0")
    assert f"warning: {warning}" in result.err
    assert f"- {warning}" in Path(result.out.splitlines()[-2]).read_text()


MIXED = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
buffer = "1MB"
[transport]
scheme = "linux-dctcp"
[run]
duration = "20ms"
[[traffic]]
name = "ours"
kind = "background"
flows = 1
[[traffic]]
name = "theirs"
kind = "background"
flows = 1
scheme = "linux"
"""


def test_fixes_that_need_marks_say_if_not_all_traffic_can_have_them(cli, work):
    Path("mixed.toml").write_text(MIXED)
    found = advised(cli, "mixed.toml")
    (warning,) = [each for each in found["warnings"] if "ECN-capable" in each]
    assert warning.startswith("not all traffic is ECN-capable (theirs) with as it is, Linux DCTCP, ")
    assert "The switch here forwards what it cannot mark, other switches drop it above the threshold" in warning
    assert warning.endswith("Try --set network.non-ect=drop, which can reverse the result")
    unmarked = {each["fix"]: each["unmarked"] for each in found["fixes"]}
    assert unmarked["L2DCT"] == ["theirs"]
    assert unmarked["ICTCP"] == []
    # The advice is tried with such a switch, also if only the scenario as it is needs marks.
    assert "a switch that drops what it cannot mark" in [each["variation"] for each in found["variations"]]
    dropping = advised(cli, "mixed.toml", "--set", "network.non-ect=drop")
    (warning,) = [each for each in dropping["warnings"] if "ECN-capable" in each]
    assert "other switches forward it. Try --set network.non-ect=by-queue, which can reverse the result" in warning
    assert not any(
        "ECN-capable" in each for each in advised(cli, "mixed.toml", "--set", "transport.ecn=on")["warnings"]
    )


def test_variations_are_other_hosts_and_connections(work):
    found, happened, experiment = tried(LINUX)
    names = [each.name for each in variations(happened, found["timer of 1ms"], experiment)]
    assert names == [
        "hosts as given",
        "an interrupt for every packet",
        "interrupts every 16us",
        "interrupts every 64us",
        "connections that are open before",
    ]
    marks = variations(happened, found["Linux DCTCP, marks from 50 packets"], experiment)
    assert marks[-1].settings == {"network.non-ect": "drop"}
    # Other stacks have no interrupts, and open connections may be new.
    found, happened, experiment = tried(f'{RACK}connections = "persistent"\n')
    (_, other) = variations(happened, found["timer of 1ms"], experiment)
    assert other.settings == {"traffic.servers.connections": "fresh"}


def test_connections_that_stay_open_are_a_fix_whatever_was_waited_for(work):
    found, happened, experiment = tried(LINUX, **{"traffic.servers.senders": 4})
    assert happened.outcome != "collapse"
    assert not happened.timeouts.get("syn")
    kept = found["connections that stay open"]
    assert (kept.settings, kept.effort) == ({"traffic.servers.connections": "persistent"}, Effort.APPLICATION)
    # Hosts on which they are open already are no other hosts for it.
    assert "connections that are open before" not in [each.name for each in variations(happened, kept, experiment)]
    assert "connections that stay open" not in tried(f'{LINUX}connections = "persistent"\n')[0]


def test_advice_says_on_which_hosts_it_does_not_hold(cli, work):
    # DCTCP's SYNs are no packets that a switch can mark; RFC 8257 leaves them as they are.
    marked = (
        RACK.replace('scheme = "newreno"', 'scheme = "dctcp"\ninitial-window = "2mss"')
        .replace("40", "48")
        .replace("10us", "0us")
    )
    Path("marked.toml").write_text(
        marked.replace("32KB", "20KB").replace("[[traffic]]", '[scheme.dctcp]\nmark-threshold = "20pkt"\n[[traffic]]')
    )
    found = advised(cli, "marked.toml", "--capacities", "0")
    assert (found["recommended"], found["holds"]) == (None, False)
    outcomes = {each["variation"]: each["outcome"] for each in found["variations"]}
    assert outcomes == {
        "hosts as given": "holds",
        "connections that are open before": "holds",
        "a switch that drops what it cannot mark": "does not hold",
    }
    result = cli("advise", "marked.toml", *FEW, "--capacities", "0", "--all", "--tsv")
    row = "a switch that drops what it cannot mark\t3,000\t"
    assert row in result.out
    # What no seed changes has no interval, and a caution of what would change it.
    assert not re.findall(r"± 0(?!\.)", result.out)
    (caution,) = [each for each in found["warnings"] if "all seeds gave the same result" in each]
    assert "set traffic.servers.jitter, such as 20us" in caution
    assert "no ±: the same with all seeds" in result.out
    assert "## On other hosts" in Path(result.out.splitlines()[-2]).read_text()


def test_advice_says_where_its_fix_holds_and_where_it_helps_less(cli, rack):
    found = advised(cli, rack, "--capacities", "0")
    assert (found["rival"], found["unsteady"], found["holds"]) == (found["recommended"], None, False)
    given, opened, drops = found["variations"]
    assert (given["outcome"], opened["outcome"], drops["outcome"]) == ("holds", "helps less", "holds")
    assert opened["fix"]["mean"] > 2 * given["fix"]["mean"]
    found = advised(cli, rack, "--capacities", "0", "--set", "traffic.servers.connections=persistent")
    assert found["holds"] is True


HEALTHY = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "25Gbps"
delay = "1us"
buffer = "1MB"
[transport]
scheme = "linux"
[[traffic]]
name = "answers"
kind = "incast"
senders = 8
bytes-each = "4KB"
rounds = 50
jitter = "10us"
"""


def test_a_healthy_scenario_needs_nothing_on_hosts_that_only_take_longer(cli, work):
    Path("healthy.toml").write_text(HEALTHY)
    found = advised(cli, "healthy.toml", "--capacities", "0")
    given, others = found["variations"][0], {each["variation"]: each for each in found["variations"]}
    slow = others["interrupts every 64us"]
    assert slow["own"]["mean"] > 3 * given["own"]["mean"]
    assert (found["recommended"], slow["outcome"]) == (None, "holds")
    # Connections that are open save a handshake, which is said but fixes nothing.
    kept = next(each for each in found["fixes"] if each["fix"] == "connections that stay open")
    assert (kept["effect"], kept["mean"] < found["variations"][0]["own"]["mean"]) == ("better", True)
    assert found["saving"] == "connections that stay open"


def test_how_much_longer_a_query_takes_alone_on_other_hosts(work):
    _, happened, experiment = tried(HEALTHY)

    def slower(**settings):
        return happened.alone(experiment.resolved({key.replace("_", "."): value for key, value in settings.items()}))

    # The handshake and the answer take an interrupt each.
    interval = {"transport.interrupt-interval": "64us"}
    alone = happened.queries.alone_s
    assert happened.alone(experiment.resolved(interval)) == pytest.approx(1 + 2 * 56e-6 / alone)
    assert happened.alone(experiment.resolved({"transport.interrupt-interval": "0s"})) < 1
    _, before, _ = tried(HEALTHY, **{"traffic.answers.connections": "persistent"})
    fresh = experiment.resolved({"traffic.answers.connections": "fresh"})
    trip = before.round_trip_s + 8e-6
    assert before.alone(fresh) == pytest.approx(1 + trip / before.queries.alone_s)
    # What has no end is not slowed.
    assert replace(happened, typical_bytes=0.0).alone(experiment.resolved(interval)) == 1


def with_hosts(own, fix, effect, name="other hosts", slower=1.0):
    """A variation with the results of the scenario as it is and of the fix."""
    first, other = (Spread(mean, 0.0, mean, mean) for mean in (own, fix))
    return Varied(Variation(name, {}, slower), first, other, effect, "holds")


@pytest.mark.parametrize(
    ("own", "fix", "effect", "outcome"),
    [
        (2.0, 0.019, "better", "holds"),
        (2.0, 0.16, "better", "helps less"),
        (math.inf, 0.01, "better", "holds"),
        (0.019, 0.019, "no difference that counts", "not needed"),
        (0.011, 0.0105, "better", "not needed"),
        (0.01, 0.02, "worse", "not needed"),
        (2.0, 1.9, "better", "helps less"),
        (1.0, 0.1, "undecided", "undecided"),
        (1.0, 1.0, "no difference that counts", "does not hold"),
        (1.0, math.inf, "unfinished", "does not hold"),
    ],
)
def test_what_becomes_of_a_fix_on_other_hosts(work, own, fix, effect, outcome):
    less = goals.goal("query-p99", fan_in())
    given = with_hosts(1.0, 0.01, "better")
    assert robust._outcome(with_hosts(own, fix, effect), given, less) == outcome


@pytest.mark.parametrize(
    ("own", "effect", "slower", "outcome"),
    [
        (0.88, "no difference that counts", 1.0, "not needed"),
        (0.9, "no difference that counts", 1.0, "does not hold"),
        (1.2, "worse", 1.0, "does not hold"),
        (0.9, "undecided", 1.0, "undecided"),
        # A query alone takes longer there as well.
        (1.3, "no difference that counts", 1.5, "not needed"),
        (1.35, "no difference that counts", 1.5, "does not hold"),
    ],
)
def test_a_small_gain_is_needed_where_the_scenario_is_as_without_it(work, own, effect, slower, outcome):
    less = goals.goal("query-p99", fan_in())
    there = with_hosts(own, own, effect, slower=slower)
    assert robust._outcome(there, with_hosts(1.0, 0.8, "better"), less) == outcome


@pytest.mark.parametrize(
    ("own", "fix", "effect", "slower", "outcome"),
    [
        (1.9, 1.0, "no difference that counts", 1.0, "holds"),
        (0.9, 1.0, "worse", 1.0, "holds"),
        (2.1, 3.0, "worse", 1.0, "does not hold"),
        # A query alone takes longer there as well.
        (2.9, 3.0, "worse", 1.5, "holds"),
        (3.1, 3.2, "worse", 1.5, "does not hold"),
        # What gains less than a tenth is not needed.
        (1.0, 0.92, "better", 1.0, "holds"),
        (1.0, 0.9, "better", 1.0, "does not hold"),
        (1.0, 1.0, "undecided", 1.0, "undecided"),
    ],
)
def test_what_becomes_of_the_advice_that_nothing_is_needed(work, own, fix, effect, slower, outcome):
    less = goals.goal("query-p99", fan_in())
    there = with_hosts(own, fix, effect, slower=slower)
    assert robust._outcome(there, with_hosts(1.0, 1.0, "worse"), less) == outcome


def test_of_those_about_as_good_one_that_holds_on_other_hosts_is_preferred(work):
    good, less = (
        [with_hosts(1.0, 0.1, "better"), replace(with_hosts(1.0, 0.1, "better"), outcome=outcome)]
        for outcome in ("holds", "helps less")
    )
    near = ("near", 0.105, {"b": 1}, {"effort": Effort.SWITCH_SETTING})
    others = ("alike", 0.104, {"a": 2}, {}), ("far", 0.2, {"c": 1}, {})
    found = answer(fan_in(), ("fast", 0.1, {"a": 1}, {}), near, *others)
    # Two of one kind would say little more than one, and what is far behind is not worth the time.
    assert [each.fix.name for each in found.finalists] == ["fast", "near"]
    assert (found.best.fix.name, found.unsteady) == ("fast", None)
    steady = replace(found, hosts={"fast": less, "near": good, "far": good})
    assert (steady.best.fix.name, steady.unsteady.fix.name) == ("near", "fast")
    assert (steady.passed_over.fix.name, steady.against) == ("fast", ["other-hosts", "needs"])
    # What is not better by a difference that counts is only as good.
    as_good = answer(fan_in(), ("fast", 0.1, {"a": 1}, {}), ("near", 0.1005, *near[2:]))
    alike = replace(as_good, hosts={"fast": less, "near": good})
    assert (alike.passed_over, alike.unsteady.fix.name) == (None, "fast")
    assert dict(word_rows(alike))["near"].endswith("; other hosts: helps less with other hosts")
    for hosts in ({"fast": good, "near": good}, {"fast": less, "near": less}):
        either = replace(found, hosts=hosts)
        assert (either.best.fix.name, either.unsteady) == ("fast", None)


def test_whether_advice_holds_on_other_hosts(work):
    def varied(*outcomes):
        return [
            replace(with_hosts(1.0, 0.1, "better", name=f"hosts {at}"), outcome=outcome)
            for at, outcome in enumerate(("holds", *outcomes))
        ]

    taken = answer(fan_in(), ("fast", 0.1, {"a": 1}, {}))
    unsure = replace(taken, hosts={"fast": varied("helps less", "undecided", "does not hold")})
    assert (unsure.holds, replace(taken, hosts={"fast": varied("not needed")}).holds) == (False, True)
    kept = replace(answer(fan_in(), ("same", 1.0, {"a": 1}, {})), hosts={"same": varied("holds")})
    assert kept.holds
    # Where bounds are broken, something is needed.
    every = [replace(each, broken=("query-p99 is 1 s (query-p99=1ms)",)) for each in kept.every]
    broken = replace(kept, every=every)
    assert ("hosts" in dict(word_rows(kept)), "hosts" in dict(word_rows(broken))) == (True, False)
    assert [each.variation.name for each in broken.varied[1:] if each.effect == "better"] == ["hosts 1"]


def test_the_combinations_that_matter_are_tried_and_say_how_to_set_them(work):
    found, _, _ = tried(LINUX)
    both = found["Linux DCTCP, 50 packets, window of 2, timer of 1ms"]
    assert both.settings["transport.initial-window"] == "2mss"
    assert both.settings["transport.rto-min"] == "1ms"
    assert {"timer of 10ms", "timer of 1ms", "Linux DCTCP, 50 packets, window of 2"} <= set(found)
    assert "ip route change ROUTE rto_min 10ms on the senders" in found["timer of 10ms"].needs
    assert "net.ipv4.tcp_rto_min_us=10000" in found["timer of 10ms"].needs
    assert "ip route change ROUTE initcwnd 2 on the senders" in both.needs
    # A timer that is short already, and a small window, are nothing to try.
    short, _, _ = tried(LINUX, **{"transport.rto-min": "1ms", "transport.initial-window": "2mss"})
    assert not [name for name in short if "timer" in name or "window" in name]


def test_the_threshold_of_the_switch_is_that_of_all_fixes_that_mark_by_one(work):
    switch = '[scheme.dctcp]\nmark-threshold = "40pkt"\n[[traffic]]'
    found, _, _ = tried(DEEP.replace("[[traffic]]", switch, 1), **{"transport.gro": "0B"})
    kinds = ("mark-threshold",)
    marked = {
        name: value for name, each in found.items() for path, value in each.settings.items() if path.endswith(kinds)
    }
    assert {name: marked[name] for name in ("L2DCT", "D2TCP", "RCC", "RCCE")} == dict.fromkeys(
        ("L2DCT", "D2TCP", "RCC", "RCCE"), "40pkt"
    )
    own, other = found["Linux DCTCP, marks from 40 packets"], found["Linux DCTCP, marks from 65 packets"]
    assert (own.marks.is_first, other.marks.is_first) == (True, False)
    assert own.marks.why == "those of your switch (scheme.dctcp.mark-threshold)"
    assert "Linux DCTCP, marks from 21 packets" not in found
    # Without one, schemes have their own, and the usual threshold comes first.
    found, _, _ = tried(DEEP, **{"transport.gro": "0B"})
    assert not [path for path in found["RCC"].settings if path.endswith(kinds)]
    assert found["Linux DCTCP, marks from 65 packets"].marks.is_first
    assert "authors take at 10 Gbit/s" in found["Linux DCTCP, marks from 65 packets"].marks.why


def test_a_fix_that_changes_nothing_is_none(work):
    own = {"transport.scheme": "linux-dctcp", "scheme.linux-dctcp.mark-threshold": "65pkt"}
    found, _, _ = tried(DEEP, **own)
    assert "Linux DCTCP, marks from 65 packets" not in found
    assert "Linux DCTCP, marks from 21 packets" in found


def test_a_timer_that_never_runs_is_not_listed(cli, rack):
    few = ("--set", "traffic.servers.senders=2", "--capacities", "0")
    result = cli("advise", rack, *few, *FEW, "--all", "--tsv")
    assert "\ttimer of 1ms\t" not in result.out.partition("What they need")[0]
    (line,) = [line for line in result.out.splitlines() if line.startswith("no effect at all: ")]
    assert "timer of 10ms" in line
    same = {each["fix"]: each["same_runs"] for each in advised(cli, rack, *few)["fixes"]}
    assert (same["timer of 1ms"], same["SDTCP"]) == (True, False)


def test_a_first_timer_is_tried_where_it_is_what_was_waited_for(work):
    lost = RACK.replace("40", "100").replace("32KB", "1460B").replace("150KB", "30KB")
    found, happened, _ = tried(f'{lost}connections = "persistent"\n')
    assert happened.waits.initially > 0
    both = {"transport.rto-initial": "10ms", "transport.syn-timeout": "10ms"}
    assert found["first timer of 10ms"].settings == both
    assert "first timer of 10ms" not in tried(lost)[0]


FAR = {
    "network.delay": "500us",
    "network.buffer": "1500KB",
    "transport.receive-buffer": "64KB",
    "traffic.servers.senders": 4,
    "traffic.servers.bytes-each": "20MB",
}


def test_windows_of_receivers_that_limit_the_transfers_are_tried_as_large_as_the_link_and_the_buffer(work):
    found, happened, _ = tried(LINUX, **FAR)
    # 2.5 MB on the way, 20 KB more while hosts wait for interrupts, and 1.5 MB in the buffer, shared by four.
    larger = found["receivers' windows of 1006 KB"]
    assert happened.limited_bps is not None
    assert (larger.settings, larger.effort) == ({"transport.receive-buffer": "1006KB"}, Effort.HOSTS)
    assert "a maximum of 2012000 in net.ipv4.tcp_rmem" in larger.needs
    wider = fanin.Scenario("tried.toml").set(FAR | larger.settings)
    cured = diagnose(wider.run(), happened.scenario, wider.handle())
    assert cured.queries.p99_s < happened.queries.p99_s / 2
    # Where they do not limit anything, they are left as they are.
    assert not any("windows of" in name for name in tried(LINUX)[0])


def test_a_long_spread_of_starts_is_in_milliseconds(work):
    found, _, _ = tried(LINUX, **{"traffic.servers.senders": 4, "traffic.servers.bytes-each": "20MB"})
    (spread,) = [each for name, each in found.items() if "starts spread" in name]
    assert (spread.name, spread.settings) == ("starts spread over 80ms", {"traffic.servers.jitter": "80ms"})


def test_of_fixes_that_carry_alike_the_plainest_is_recommended():
    def carrying(name, capacity, settings):
        fix = Fix(name, dict.fromkeys(range(settings), 1), Effort.HOSTS, "")
        return SimpleNamespace(fix=fix, found=SimpleNamespace(capacity=capacity))

    both = [carrying("both", 352, 2), carrying("one", 320, 1)]
    assert _plainest_of_the_furthest(both).fix.name == "one"
    both[1].found.capacity = 300
    assert _plainest_of_the_furthest(both).fix.name == "both"
    assert _plainest_of_the_furthest([]) is None
    # What `fanin check` warns of comes after what it does not, however many settings that has.
    both[1].found.capacity, both[1].fix = 352, replace(both[1].fix, cautions=("below a burst",))
    assert _plainest_of_the_furthest(both).fix.name == "both"


def test_what_finishes_is_better_than_what_does_not(work):
    less = goals.goal("query-p99", fanin.Scenario("small.toml"))
    faster = Estimate(1.0, 0.1, -9.0, 0.1)
    assert robust.effect(10.0, 1.0, faster, less, 0.01, 3) == "better"
    assert robust.effect(math.inf, 1.0, None, less, 0.01, 3) == "better"
    assert robust.effect(1.0, math.inf, None, less, 0.01, 3) == "unfinished"
    assert robust.effect(1.0, 1.0, None, less, 0.01, 3) == "not comparable"
    assert robust.effect(10.0, 1.0, Estimate(1.0, math.nan, -9.0, math.nan), less, 0.01, 2) == "undecided"
    assert robust.effect(1.0, 1.0, Estimate(1.0, math.nan, 0.0, math.nan), less, 0.01, 2) == "no difference that counts"
    assert math.isnan(robust.times(0.0, 1.0))


def test_two_seeds_end_a_search_too(cli, rack):
    result = cli("advise", rack, "--seeds", "1..2", "--capacities", "1", "--jobs", "1")
    assert result.code == 0, result.err
    assert re.search(r'^warning: "[^"]+".*: 2 seeds cannot decide about ', result.err, flags=re.MULTILINE)


def test_what_fails_as_it_is_gets_no_advice(cli, rack):
    result = cli("advise", rack, *FEW, "--memory", "1MB")
    assert (result.code, result.out) == (1, "")
    assert "error: the run failed: as it is: 1 of 1 runs failed" in result.err


def test_what_is_left_without_the_switch_is_told(steady):
    found = steady("--set", "network.buffer=500KB")
    assert found["recommended"].startswith(("Linux DCTCP, ", "ECN (RFC 3168), "))
    hosts = [each for each in found["fixes"] if each["effect"] == "better" and "switch" not in each["needs"]]
    usable = [each["fix"] for each in hosts if each["deployable"]]
    assert found["beside_the_switch"] == usable[0]
    # Of a fix that changes no switch there is nothing to tell.
    small = steady("--set", "traffic.servers.rounds=1", "--set", "network.buffer=12MB")
    assert small["beside_the_switch"] is None


ENDLESS = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "1Gbps"
[transport]
scheme = "linux"
[run]
duration = "20ms"
[[traffic]]
name = "web"
kind = "poisson"
senders = 4
receivers = 4
load = 0.9
bytes-each = "1MB"
"""


def test_where_nothing_finishes_nothing_is_compared_or_said_to_hold(cli, work):
    Path("endless.toml").write_text(ENDLESS)
    found = advised(cli, "endless.toml", "--goal", "p99-fct")
    assert (found["comparable"], found["recommended"], found["holds"], found["variations"]) == (False, None, None, [])
    assert (found["verdict"], found["set"]) == ("not-comparable", ["traffic.web.stop"])
    # Where no transfer begins at the end, the run is too short.
    once = advised(cli, "endless.toml", "--goal", "p99-fct", "--set", "traffic.web.stop=17ms")
    assert (once["verdict"], once["set"]) == ("not-comparable", ["run.duration"])
    result = cli("advise", "endless.toml", "--goal", "p99-fct", *FEW, "--all", "--tsv")
    table = result.out
    assert "  set       traffic.web.stop: well before run.duration, 20ms\n" in table
    assert "as it is\tunfinished" in table
    assert "1=" not in table


BY_A_CLOCK = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "300KB"
[transport]
scheme = "linux"
[run]
duration = "100ms"
[[traffic]]
name = "q"
kind = "requests"
fan-in = 12
senders = 24
receivers = 4
load = 0.05
bytes-each = "20KB"
"""


def test_queries_that_had_just_begun_do_not_make_a_run_unfinished(work):
    Path("clock.toml").write_text(BY_A_CLOCK)
    experiment = fanin.Scenario("clock.toml")
    (found,) = Laboratory(experiment, None).cases([({}, [2])])
    (row,) = found.rows
    # Two queries of twelve were in progress, and two transfers that wait for a timer.
    assert (row["flows"], row["incomplete"], row["just_begun"]) == (1224, 26, 24)
    query = goals.goal("query-p99", experiment)
    assert query.values([row], [row])[0] == row["query_p99_s"]
    assert query.values([row | {"just_begun": 0}], [row])[0] == math.inf


def test_what_has_no_effect_here_is_searched_last(work):
    alike = {"change": Estimate(1.0, 0.1, 0.0, 0.1)}
    same = ("a timer that never runs", 1.0, {"a": 1}, alike | {"is_same": True})
    window = ("a window", 1.0, {"b": 1}, alike)
    found = answer(fan_in(), same, window)
    assert [each.fix.name for each in _plainest(found)] == ["a window", "a timer that never runs"]
    # Marks help however many send.
    marks = ("marks", 1.0, {"c": 1}, alike)
    found = answer(fan_in(), same, window, marks)
    first = found.find("marks")
    marked = replace(first, fix=replace(first.fix, marks=Marks("65pkt", "", is_first=True)))
    found = replace(found, every=[marked if each is first else each for each in found.every])
    assert [each.fix.name for each in _plainest(found)] == ["marks", "a window", "a timer that never runs"]


def test_what_carries_furthest_of_some_is_not_said_to_of_all(work):
    alike = {"change": Estimate(1.0, 0.1, 0.0, 0.1)}
    found = answer(fan_in(), ("a window", 1.0, {"b": 1}, alike | carries(40)))
    own = found.find(AS_IT_IS)
    found = replace(found, every=[replace(own, **carries(10)) if each is own else each for each in found.every])
    assert (found.further.fix.name, found.further.found.capacity) == ("a window", 40)
    some = replace(found, unsearched=["marks"])
    assert "of the fixes that were searched" in dict(word_rows(some))["more"]


def test_what_schedules_segments_that_hosts_merge_before_is_not_tried(cli, work):
    scheduling = {"RCC", "RCCE"}
    assert scheduling <= set(tried(RACK)[0])
    names, happened, experiment = tried(LINUX)
    assert not scheduling & set(names)
    merged, repaired = fixes(happened, experiment).refused
    assert merged.startswith("RCC and RCCE: the receivers schedule segments")
    # These two repair losses themselves, which Linux's own detection does not leave to them.
    assert repaired.startswith("NDP and Homa: ")
    assert "linux requires selective acknowledgements" in repaired
    # Hosts that merge none have what they schedule.
    assert scheduling <= set(tried(LINUX, **{"transport.gro": "0B"})[0])
    Path("linux.toml").write_text(LINUX)
    given = ("compare", "linux.toml", "--schemes", "linux,rcc,rcce", "--seeds", "1", "--jobs", "1")
    warning = "warning: RCC and RCCE: the receivers schedule segments, which these hosts merge before ("
    assert warning in cli(*given, "--set", "transport.stack=linux-6").err
    # Without that, they run on ideal hosts.
    assert warning not in cli(*given).err


def test_another_threshold_is_told_with_what_the_background_gains(work):
    path = "scheme.linux-dctcp.mark-threshold"
    gains = {"background": Estimate(12.3, 0.1, 2.3, 0.1)}
    memory = ("memory", 1.0, {"network.dt-alpha": 8}, carries(90))
    found = answer(fan_in(), memory, ("higher", 1.3, {path: "65pkt"}, gains))
    lowest, highest = (Marking(path, threshold, is_like_dctcp=True) for threshold in ("5pkt", "65pkt"))
    every = []
    for each in found.every:
        marking = highest if each.fix.name == "higher" else lowest
        more = carries(40) if each.fix.name == AS_IT_IS else {}
        every.append(replace(each, fix=replace(each.fix, marking=marking), **more))
    scenario = {"transport": {"scheme": "linux-dctcp", "stack": "linux-6.12"}, "queue": {"kind": "auto"}}
    found = replace(found, every=every, diagnosis=SimpleNamespace(scenario=scenario))
    # It is the scenario that stays, also where something else is for more senders.
    assert (found.best, found.further.fix.name) == (None, "memory")
    told = found.thresholds
    assert (told["from"], told["path"], told["other_from"], told["other_is"]) == ("5pkt", path, "65pkt", "worse")
    assert found.find(told["other"]).cost == pytest.approx(0.23)


def test_a_larger_share_for_one_port_says_what_others_pay(work):
    pool = {"network.admission": "dynamic-threshold", "network.shared-buffer": "2MB"}
    assert tried(LINUX, **pool)[0]["dynamic threshold of 8"].needs == (
        "alpha 8 in the switch: one port may take 89 % of its memory, which leaves less to incasts of other ports at "
        "the same time"
    )


def test_what_changes_only_hosts_leaves_the_queues_of_the_switch(work):
    red, _, _ = tried(RACK.replace("newreno", "linux") + '[queue]\nkind = "red"\n')
    by_title = {name: each.settings for name, each in red.items()}
    assert "queue.kind" not in by_title["Linux Reno"]
    assert "queue.kind" not in by_title["ICTCP"]
    assert by_title["L2DCT"]["queue.kind"] == "auto"
    # That the queue alone helps is a fix of its own.
    (without,) = [each for each in red.values() if each.settings == {"queue.kind": "drop-tail"}]
    assert without.effort == Effort.SWITCH_SETTING
    assert not [each for each in tried(RACK)[0].values() if each.settings == {"queue.kind": "drop-tail"}]


def test_what_ends_a_stall_by_delayed_acknowledgements_is_tried(work):
    stalled = LINUX.replace(
        'scheme = "linux"',
        'scheme = "linux"\ninitial-window = "1mss"\nack-policy = "count"\nquickack = 0\nack-delay = "40ms"',
    )
    few, happened, _ = tried(stalled, **{"traffic.servers.senders": 10, "traffic.servers.bytes-each": "20KB"})
    assert happened.outcome == "stalls"
    assert few["every segment acknowledged"].settings == {"transport.ack-every": 1}
    assert few["a window of 10 segments at first"].needs == "ip route change ROUTE initcwnd 10 on the senders"
    # Windows may fall to one segment at any time, unless receivers delay nothing.
    assert "every segment acknowledged" in tried(LINUX)[0]
    assert "every segment acknowledged" not in tried(LINUX, **{"transport.ack-every": 1})[0]
    assert "a window of 10 segments at first" not in tried(LINUX)[0]


def test_marks_of_a_switch_that_is_described_are_tried_as_it_is(work):
    switch = '[queue]\nkind = "ecn-threshold"\nthreshold = "40pkt"\n'
    found, happened, experiment = tried(LINUX + switch)
    dctcp = found["Linux DCTCP, marks from 40 packets"].settings
    assert dctcp["queue.threshold"] == "40pkt"
    assert "queue.kind" not in dctcp
    assert "L2DCT" in found
    refused = fixes(happened, experiment).refused
    assert not any("L2DCT" in each or "Linux DCTCP" in each for each in refused)


def test_a_switchs_profile_is_tried_as_it_is(work):
    profile = '[queue]\nkind = "wred"\nwred-min = "30KB"\nwred-max = "120KB"\n'
    found, _, _ = tried(LINUX + profile)
    assert found["ECN (RFC 3168), marks from 30000B"].settings == {"transport.ecn": "on"}
    assert not {"queue.kind", "queue.threshold"} & found["Linux DCTCP, marks from 30000B"].settings.keys()
    assert "queue.kind" not in found["L2DCT"].settings
    # Another threshold is a step.
    others = [each.settings for name, each in found.items() if name.startswith("ECN (RFC 3168), marks from ")]
    assert {"transport.ecn": "on", "queue.wred-min": "50pkt", "queue.wred-max": "50pkt"} in others


def test_marks_that_senders_take_for_losses_are_tried(work):
    found, _, experiment = tried(LINUX)
    ecn = next(each for name, each in found.items() if name.startswith("ECN (RFC 3168), marks from "))
    assert ecn.settings["transport.ecn"] == "on"
    assert ecn.settings["queue.kind"] == "ecn-threshold"
    assert "net.ipv4.tcp_ecn=1" in ecn.needs
    assert experiment.set(ecn.settings).run().summary["marks"] > 0
    # Who reacts to marks already, or has them on, needs none.
    assert not any(name.startswith("ECN ") for name in tried(LINUX, **{"transport.scheme": "linux-dctcp"})[0])
    assert not any(name.startswith("ECN ") for name in tried(LINUX, **{"transport.ecn": "on"})[0])


def test_what_may_be_better_than_the_advice_is_told_with_the_seeds_that_would_tell(work):
    noisy = {"values": dict(enumerate(NOISY, start=1)), "change": Estimate(0.4, 0.7, -0.6, 0.7), **SWITCH}
    found = answer(fan_in(), ("sure", 0.8, {"a": 1}, {}), ("open", 0.4, {"b": 1}, noisy))
    assert (found.best.fix.name, found.may_be_better.fix.name) == ("sure", "open")
    assert found.may_be_better.seeds_to_decide > 6
    # What is about as good is not worth the seeds.
    near = answer(fan_in(), ("sure", 0.42, {"a": 1}, {}), ("open", 0.4, {"b": 1}, noisy))
    assert near.may_be_better is None


def varied_on(*outcomes):
    first = with_hosts(1.0, 0.1, "better")
    return [replace(first, outcome="holds"), *(replace(first, outcome=outcome) for outcome in outcomes)]


def test_the_words_of_each_verdict_are_as_stored(work, tmp_path):
    """One answer for each verdict, with as many rows as it has."""
    open_ = {"change": Estimate(0.02, 0.1, -0.98, 1.2)}
    sender = {"key": "senders", "senders": 40}
    scenario = {"traffic": [], "run": {"duration": "20ms"}}
    happened = SimpleNamespace(fan_in=sender, is_closed_loop=False, scenario=scenario)
    better, more = ("more", 0.1, {"a": 1}, SWITCH | carries(39)), ("less", 0.106, {"b": 1}, carries(41))
    costly = {"background": Estimate(7.0, 0.1, -3.0, 0.1), "broken": ("timeout-ratio is 3 %",)}
    keeps = [goals.keep("goodput=90%", fan_in())]
    kept = answer(fan_in(), ("same", 1.0, {"a": 1}, {"change": Estimate(1.0, 0.1, 0.0, 0.1)} | carries(90)))

    def carrying(most, breaks):
        own = replace(kept.own, found=SimpleNamespace(capacity=most, breaks_at=breaks))
        return replace(kept, every=[own if each is kept.own else each for each in kept.every])

    taken = answer(fan_in(), better, more, ("costly", 0.2, {"c": 1}, costly), keeps=keeps)
    few = replace(kept.own, place=replace(kept.own.place, seeds=1))
    never = replace(kept.own, place=replace(kept.own.place, value=Spread(math.inf, 0.0, math.inf, math.inf)))
    answers = [
        replace(taken, hosts={"less": varied_on("holds", "not needed")}),
        replace(carrying(60, 70), hosts={"same": varied_on("holds", "does not hold")}),
        carrying(40, 41),
        carrying(20, 21),
        answer(fan_in(), ("open", 0.02, {"a": 1}, open_)),
        replace(kept, every=[few], seeds=[1]),
        replace(kept, every=[never]),
        replace(taken, is_provisional=True),
    ]
    said = []
    for verdict, each in zip(Verdict, answers, strict=True):
        found = replace(each, diagnosis=happened, over="traffic.servers.senders", keeps=keeps, within="5min")
        assert found.verdict == verdict
        said += [f"[{verdict}]", headline(found), *(f"{label:<10}{text}" for label, text in word_rows(found)), ""]
    new, stored = tmp_path / "advice.txt", Path(__file__).with_name("advice.txt")
    new.write_text("\n".join(said))
    assert stored.read_text() == new.read_text(), f"if that is meant, copy {new}"
