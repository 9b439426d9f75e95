"""What ``fanin run`` tries on a run: each change is simulated, and told with what it makes of the run."""

import json
import math
from dataclasses import replace

import pytest
from test_course import BAD_CABLE, FAR, REQUESTS, STAR, UPLINK, asked

import fanin
from fanin.choose import diagnosis
from fanin.choose import trials as module
from fanin.choose.diagnosis import diagnose
from fanin.choose.fixes import Effort
from fanin.choose.goals import measure
from fanin.choose.trials import Change, Changed, Trial, trials
from fanin.show.course import choose_commands, word_apart, word_trials

COLLAPSE = STAR.format(rate="10Gbps", buffer="150KB", window="2mss", senders=60, bytes="32KB") + 'jitter = "20us"\n'


def after(path, text, **overrides):
    """The diagnosis of a run, and what was tried on it."""
    path.write_text(text)
    experiment = fanin.Scenario(path).set(overrides)
    found = diagnose(experiment.run(), experiment.of_fan_in(), experiment.handle())
    return found, trials(experiment, found, int(experiment.resolved()["run"]["seed"]))


def told(found):
    return [each.change.settings for each in found.told]


def test_what_a_change_is_said_to_make_of_a_run_is_what_it_makes(tmp_path):
    _, found = after(tmp_path / "s.toml", COLLAPSE)
    assert found.goal == "query-p99"
    assert found.tried >= 9
    assert len(found.told) == 3 <= found.helped <= found.tried
    own = fanin.Scenario(tmp_path / "s.toml").run().summary
    for each in found.told:
        run = fanin.Scenario(tmp_path / "s.toml").set(each.change.settings).run().summary
        p99, mean, goodput = each.changed
        assert (goodput.before, goodput.after) == (own["goodput_bps"], run["goodput_bps"])
        assert (p99.before, p99.after) == (pytest.approx(own["query_p99_s"]), pytest.approx(run["query_p99_s"]))
        assert (mean.name, mean.after) == ("query-mean", run["query_mean_s"])
        assert run["query_p99_s"] < 0.9 * own["query_p99_s"]


def test_nothing_is_tried_on_a_run_that_is_fast_cut_short_or_long(tmp_path, monkeypatch):
    path = tmp_path / "s.toml"
    found, _ = after(path, COLLAPSE)
    assert found.is_to_mend
    assert not after(path, COLLAPSE, **{"network.buffer": "12MB"})[0].is_to_mend
    assert not after(path, COLLAPSE, **{"run.duration": "20us"})[0].is_to_mend
    # A change may let it go on for all of its duration.
    longer = {"traffic.servers.rounds": 100_000, "run.duration": "20s"}
    path.write_text(COLLAPSE)
    # However idle the link, a few rounds are soon over.
    few = {"traffic.servers.rounds": 3, "traffic.servers.senders": 500, "run.duration": "5s", "transport.rto-min": "4s"}
    for values, is_short in ((longer, False), (longer | {"run.duration": "300ms"}, True), (few, True)):
        experiment = fanin.Scenario(path).set(values)
        assert diagnose(experiment.run(), experiment.of_fan_in(), experiment.handle()).is_short == is_short
    assert word_trials(found, None) == ""
    monkeypatch.setattr(diagnosis, "MAX_EVENTS_TO_TRY", 1000)
    assert (found.is_to_mend, found.is_short) == (True, False)
    assert word_trials(found, None) == "No changes were tried, as the run is long: `fanin advise` tries them."
    assert [each.command for each in choose_commands(found, None, "s.toml", [])] == ["fanin advise s.toml"]


def test_commands_have_the_values_that_were_given_but_for_those_that_change(tmp_path):
    given = {"transport.rto-min": "100ms", "transport.mss": "1460B"}
    found, what = after(tmp_path / "s.toml", COLLAPSE, **given)
    lines = [each.command for each in choose_commands(found, what, "s.toml", [*given.items()])]
    assert len(lines) == 3
    for line, settings in zip(lines[:-1], told(what), strict=False):
        assert "--set transport.mss=1460B" in line
        assert ("transport.rto-min=100ms" in line) == ("transport.rto-min" not in settings)
    assert lines[-1] == "fanin advise s.toml --set transport.rto-min=100ms --set transport.mss=1460B"
    assert word_trials(found, what) == (
        f"With this seed, {what.helped} of {what.tried} changes that were tried made query-p99 better by a tenth or "
        "more."
    )


def test_a_command_has_no_value_that_the_scenario_has_anyhow(tmp_path):
    _, found = after(tmp_path / "s.toml", COLLAPSE)
    experiment = fanin.Scenario(tmp_path / "s.toml")
    for settings in told(found):
        whole = experiment.of_fan_in(settings)
        for path in settings:
            assert experiment.of_fan_in({key: settings[key] for key in settings if key != path}) != whole


ONE_INSTANT = """[network]
topology = "star"
rate = "10Gbps"
[[traffic]]
name = "servers"
kind = "incast"
senders = 48
bytes-each = "20KB"
"""
"""Fast by chance: of answers that begin apart, some lose all that they send."""


def test_answers_that_begin_apart_are_no_fix_where_they_fare_worse(tmp_path):
    found, what = after(tmp_path / "s.toml", ONE_INSTANT)
    assert found.jitter_to_set == "traffic.servers.jitter"
    assert what.worse_apart.change.settings == {"traffic.servers.jitter": "20us"}
    assert what.worse_apart.decides.after > 10 * what.worse_apart.decides.before
    assert {"traffic.servers.jitter": "20us"} not in told(what)
    assert all(each.gain >= module.MIN_GAIN for each in what.told)
    assert word_apart(what) == (
        f"With answers 20 us apart at random, query-p99 is {what.worse_apart.decides.word_after()}: begin them apart "
        "to see what a rack does."
    )


def test_answers_that_begin_apart_are_not_told_where_they_make_no_difference(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="600KB", window="2mss", senders=8, bytes="1MB")
    fast, what = after(tmp_path / "s.toml", text)
    assert fast.is_fast
    assert fast.jitter_to_set is not None
    assert (what.worse_apart, word_apart(what)) == (None, "")
    assert {"traffic.servers.jitter": "20us"} not in told(what)


def test_no_headline_stands_without_what_answers_that_begin_apart_make_of_it(cli, work):
    (work / "s.toml").write_text(ONE_INSTANT)
    plain = cli("run", "s.toml", "--no-store").out
    assert plain.startswith("No collapse")
    note = plain.splitlines()[1]
    assert note.startswith("With answers 20 us apart at random, query-p99 is ")
    found = json.loads(cli("run", "s.toml", "--no-store", "--json").out)["diagnosis"]
    assert note in found["headline"]
    assert not any("jitter=20us" in each["command"] for each in found["try"])
    without = json.loads(cli("run", "s.toml", "--no-store", "--json", "--no-try").out)["diagnosis"]
    assert "at random" not in without["headline"]


def test_a_load_that_fits_is_tried_where_more_is_offered(tmp_path):
    group = 'kind = "poisson"\nfrom = "all"\nto = "all"\nbytes-each = "20KB"\ncount = 1000\n'
    both = f'[[traffic]]\nname = "a"\n{group}load = "90%"\n[[traffic]]\nname = "b"\n{group}load = "30%"\n'
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="12MB", window="10mss") + both
    found, what = after(tmp_path / "s.toml", text, **{"network.sender-hosts": 8})
    assert found.excess.load == pytest.approx(1.2, rel=0.01)
    (fits,) = [each for each in what.told if each.change.name == "a load that fits"]
    assert fits.change.settings == {"traffic.a.load": "60%"}
    # That the goodput is less is what it means.
    less = [fits.changed[0], goodput(2e9, 1e9)]
    assert not replace(fits, changed=less).spoils
    assert replace(fits, changed=less, change=fits.change._replace(is_less=False)).spoils


def test_twice_the_rate_between_switches_is_tried_if_no_fault_lowers_it(tmp_path):
    requests = REQUESTS.partition("[[traffic]]")[2].replace("count = 50", "count = 500")
    text = UPLINK.replace('"10Gbps"\n[', '"10Gbps"\nbuffer = "20MB"\n[').partition("[[traffic]]")[0]
    _, what = after(tmp_path / "u.toml", f"{text}[[traffic]]{requests}")
    assert {"network.uplink-rate": "20Gbps"} in told(what)
    # Those between aggregation switches and cores have a key of their own.
    core = 'topology = "clos"\npods = 2\nuplink-rate = "40Gbps"\ncore-rate = "1Gbps"\nbuffer = "20MB"\n'
    more = requests.replace('"20%"', '"40%"')
    found, what = after(tmp_path / "c.toml", f'[network]\n{core}rate = "10Gbps"\n[[traffic]]{more}')
    assert "->core-" in found.port.name
    assert {"network.core-rate": "2Gbps"} in told(what)
    traffic = 'kind = "poisson"\nfrom = "rack-0"\nto = "rack-1"\nbytes-each = "64KB"\nload = "20%"\ncount = 500\n'
    fault = '[[fault]]\nkind = "rate"\nlink = "leaf-0->spine-0"\ndirection = "one"\nrate = "2Gbps"\n'
    values = {"network.hosts-per-leaf": 4, "network.uplink-rate": "20Gbps", "network.buffer": "30KB"}
    found, what = after(
        tmp_path / "u.toml", f"{UPLINK.partition('[[traffic]]')[0]}[[traffic]]\n{traffic}{fault}", **values
    )
    assert found.port.is_slowed
    assert "uplink-rate" not in str(what)


def test_receivers_windows_are_tried_where_they_leave_the_link_idle(tmp_path):
    found, what = after(tmp_path / "s.toml", FAR)
    assert told(what)[0] == {"transport.receive-buffer": f"{found.filling_window}KB"}


def test_a_threshold_that_keeps_endless_flows_from_the_link_is_raised(tmp_path):
    text = """[network]
topology = "star"
rate = "10Gbps"
delay = "25us"
buffer = "500KB"
[transport]
stack = "linux-6"
scheme = "linux-dctcp"
[[traffic]]
name = "long"
kind = "background"
flows = 2
[run]
duration = "50ms"
"""
    found, what = after(tmp_path / "s.toml", text, **{"scheme.linux-dctcp.mark-threshold": "2pkt"})
    assert (found.goal, what.goal) == ("goodput", "goodput")
    assert {"scheme.linux-dctcp.mark-threshold": "65pkt"} in told(what)
    assert [each.name for each in what.told[0].changed] == ["goodput"]


def test_what_others_get_is_told_with_the_rest(tmp_path):
    # The runs last as long as the queries.
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 2\n[run]\nduration = "300ms"\n'
    clocked = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="150KB", window="10mss")
    for text in (f"{COLLAPSE}rounds = 20\n", f"{clocked}{asked(20, '20KB', '5ms', 40)}"):
        _, what = after(tmp_path / "s.toml", f"{text}{long}")
        assert [each.name for each in what.told[0].changed] == ["query-p99", "query-mean", "goodput"]


def test_shorter_timers_are_told_where_they_help_and_not_where_they_do_not(tmp_path):
    lost_syns = BAD_CABLE.format(senders=20, bytes="2KB")
    _, what = after(tmp_path / "s.toml", lost_syns, **{"traffic.servers.connections": "fresh"})
    assert told(what)[:2] == [
        {"transport.rto-initial": "10ms", "transport.syn-timeout": "10ms"},
        {"traffic.servers.connections": "persistent"},
    ]
    _, what = after(tmp_path / "s.toml", COLLAPSE)
    assert {"transport.rto-min": "1ms"} in told(what)
    requests = asked(20, "10KB", "5ms", 20, "periodic")
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="12MB", window="1mss") + requests
    stalled = {"transport.ack-delay": "40ms", "transport.ack-every": "2"}
    found, what = after(tmp_path / "s.toml", text, **stalled)
    assert found.outcome == "stalls"
    # Behind a queue, too, and where other outcomes are.
    beside = STAR.format(rate="1Gbps", buffer="150KB", window="1mss", senders=20, bytes="64KB") + 'jitter = "10us"\n'
    queued, more = after(tmp_path / "q.toml", beside, **stalled, **{"transport.scheme": "dctcp"})
    assert queued.may_stall
    assert {"transport.ack-every": 1} in told(more)
    assert {"transport.ack-every": 1} in told(what)
    assert not any("transport.rto-min" in settings for settings in told(what))


def test_fixes_are_tried_one_by_one_also_where_the_scheme_is_one_of_them(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="150KB", window="10mss", senders=40, bytes="32KB")
    _, what = after(tmp_path / "s.toml", f'{text}jitter = "20us"\n', **{"transport.scheme": "dctcp"})
    assert what.told
    assert not any("transport.initial-window" in settings and len(settings) > 1 for settings in told(what))


def test_trials_that_fail_take_nothing_from_the_run(cli, work, monkeypatch):
    (work / "s.toml").write_text(COLLAPSE)

    def fail(*_, **__):
        raise fanin.RunError("a list of flows has changed")

    monkeypatch.setattr(module, "trials", fail)
    result = cli("run", "s.toml", "--no-store", "--json")
    assert result.code == 0
    assert json.loads(result.out)["diagnosis"]["tried"] == 0
    assert "warning: no changes were tried: a list of flows has changed" in result.err


def test_a_run_that_ends_is_better_than_one_that_does_not():
    tour = fanin.Scenario("tour/collapse")
    measures = [measure("query-p99", tour), measure("goodput", tour)]
    # One of a thousand transfers is missing, which no percentile tells.
    hangs = {"query_p99_s": 0.02, "goodput_bps": 1e8, "completed": 1000, "incomplete": 1}
    ends = hangs | {"incomplete": 0, "completed": 1001}
    assert [each.before for each in module._changed(measures, hangs, ends)] == [math.inf, 1e8]
    assert [each.after for each in module._changed(measures, ends, hangs)] == [math.inf, 1e8]
    assert module._changed(measures, hangs, hangs)[0].text == "query-p99 stays 20 ms"


def test_that_nothing_helps_is_said(tmp_path):
    # A link that is down for most of the time.
    down = '[[fault]]\nkind = "link-down"\nlink = "switch-0->receiver-0"\nat = "100us"\nfor = "900ms"\n'
    found, what = after(tmp_path / "s.toml", COLLAPSE.replace("60", "6") + down)
    assert (what.helped, what.told) == (0, [])
    assert word_trials(found, what).startswith(f"With this seed, 0 of {what.tried} changes that were tried made ")


def p99(before, after, **more):
    return Changed("query-p99", "query_p99_s", more=False, before=before, after=after, **more)


def goodput(before, after):
    return Changed("goodput", "goodput_bps", more=True, before=before, after=after)


def of(gain, effort, *paths, before=1.0, after_bps=2e9):
    change = Change("some", dict.fromkeys(paths, 1), effort)
    return Trial(change, [p99(before, before * (1 - gain)), goodput(1e9, after_bps)])


def test_what_spoils_another_measure_comes_last(tmp_path):
    fast, slower, worse = (
        of(0.99, Effort.HOSTS, "a", after_bps=0.8e9),
        of(0.5, Effort.HOSTS, "b"),
        of(0.4, Effort.HOSTS, "c"),
    )
    assert fast.spoils
    assert module.choose_told([fast, slower, worse]) == [slower, worse, fast]


def test_where_queries_do_not_end_the_goodput_decides(tmp_path):
    cut, more = (of(0, Effort.HOSTS, name, before=math.inf, after_bps=rate) for name, rate in (("a", 1e9), ("b", 4e9)))
    assert (cut.gain, more.gain) == (0, 3)
    ends = Trial(Change("", {"c": 1}, Effort.HOSTS), [p99(math.inf, 5.0), cut.changed[1]])
    assert module.choose_told([more, ends]) == [ends, more]


def test_of_about_the_same_effect_the_least_effort_comes_first():
    memory, hosts = of(0.990, Effort.SWITCH_MEMORY, "a"), of(0.9895, Effort.HOSTS, "b")
    less, same_values = of(0.5, Effort.HOSTS, "c"), of(0.4, Effort.HOSTS, "c")
    found = [same_values, less, memory, hosts]
    assert module.choose_told(found) == [hosts, memory, less]
    # One for each kind of effort, before a second of any; but nothing that is much worse.
    more = [of(0.9899, Effort.HOSTS, "e"), memory, hosts, of(0.6, Effort.SWITCH_SETTING, "f")]
    assert [each.change.settings for each in module.choose_told(more)] == [{"e": 1}, {"a": 1}, {"b": 1}]


def test_what_does_not_end_is_infinitely_bad():
    assert p99(math.inf, 1.0).gain == 1
    assert p99(math.inf, math.inf).gain == p99(1.0, math.inf).gain == 0
    assert p99(math.nan, 1.0).gain == p99(1.0, math.nan).gain == 0
    assert goodput(1e9, 2e9).gain == 1
    assert goodput(1e9, 1.1e9).gain == pytest.approx(0.1)
    assert goodput(2e9, 1e9).gain == 0
    # Among several, it is what they come to that counts.
    slow, fast = (
        Trial(Change("", {name: 1}, Effort.HOSTS), [p99(math.inf, ms / 1e3)]) for name, ms in (("a", 36), ("b", 2))
    )
    assert module.choose_told([slow, fast]) == [fast, slow]
    assert p99(math.inf, 1e-3).text == "query-p99 unfinished -> 1 ms"
    assert p99(1e-3, 1e-3).text == "query-p99 stays 1 ms"


def test_run_tries_changes_unless_told_not_to(cli, work):
    (work / "s.toml").write_text(COLLAPSE)
    plain = cli("run", "s.toml", "--no-store").out.splitlines()
    found = json.loads(cli("run", "s.toml", "--no-store", "--json").out)["diagnosis"]
    assert found["tried"] >= 9
    assert f" of {found['tried']} changes that were tried made " in plain[plain.index("Try:") - 1]
    assert len(found["try"]) == 3
    assert all("query-p99 " in each["why"] for each in found["try"][:2])
    without = json.loads(cli("run", "s.toml", "--no-store", "--json", "--no-try").out)["diagnosis"]
    assert (without["tried"], [each["command"] for each in without["try"]]) == (0, ["fanin advise s.toml"])
    assert without | {"tried": found["tried"], "try": found["try"]} == found
    # Another seed is tried with its own runs.
    other = json.loads(cli("run", "s.toml", "--no-store", "--json", "--seed", "3").out)["diagnosis"]
    assert all("--set run.seed=3" in each["command"] for each in other["try"])
    assert other["try"][0]["why"] != found["try"][0]["why"]


def test_where_timers_decide_few_it_is_the_slowest_that_is_compared(tmp_path):
    text = """[network]
topology = "star"
rate = "1Gbps"
delay = "25us"
buffer = "256KB"
[transport]
stack = "linux-6"
scheme = "linux"
[[traffic]]
name = "memc"
kind = "requests"
fan-in = 30
bytes-each = "4KB"
load = "25%"
senders = 30
receivers = 2
jitter = "30us"
count = 300
"""
    found, what = after(tmp_path / "s.toml", text, **{"run.seed": "2"})
    assert found.is_of_few
    assert what.goal == "the slowest transfer"
    slowest, p99_, rest = what.told[0].changed
    assert (slowest.name, p99_.name, rest.name) == ("the slowest transfer", "query-p99", "goodput")
    assert slowest.before > 0.2 > 2 * slowest.after
    assert p99_.before < 0.01
    assert "made the slowest transfer better by a tenth or more" in word_trials(found, what)


def test_a_scenario_that_has_changed_since_the_run_is_not_tried(cli, work, monkeypatch):
    (work / "s.toml").write_text(COLLAPSE)
    real, loads = fanin.Scenario, []

    def change_before_the_second(*arguments):
        loads.append(arguments)
        if len(loads) == 2:
            (work / "s.toml").write_text(COLLAPSE.replace("32KB", "30KB"))
        return real(*arguments)

    monkeypatch.setattr(fanin, "Scenario", change_before_the_second)
    result = cli("run", "s.toml", "--no-store")
    assert "warning: no changes were tried: " in result.err
    assert "has changed since the run" in result.err
    assert "changes that were tried" not in result.out
