"""``fanin advise``: remedies ranked on a scenario, with what they need and how far they carry."""

import json
from pathlib import Path

import pytest

import fanin
from fanin.choose.diagnosis import facts
from fanin.choose.remedies import AS_IT_IS, SYSTEMS, Effort, thresholds
from fanin.registry import registry

RACK = """\
title = "A rack"
[network]
topology = "star"
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


def test_a_collapse_gets_a_remedy_that_can_be_deployed(cli, rack):
    found = advised(cli, rack, "--capacities", "1")
    by_name = {each["remedy"]: each for each in found["remedies"]}
    best, own = by_name[found["recommended"]], by_name[AS_IT_IS]
    assert found["diagnosis"]["outcome"] == "collapse"
    assert (best["deployable"], best["effect"], own["effect"]) == (True, "better", "-")
    assert own["mean"] > 0.2 > 0.02 > best["mean"]
    # As it is and the best are searched for how far they carry, and the best carries further.
    carried = {name: each["capacity"]["capacity"] for name, each in by_name.items() if each["capacity"]}
    assert set(carried) == {AS_IT_IS, found["recommended"]}
    assert carried[found["recommended"]] > 40 > carried[AS_IT_IS]
    assert found["sentences"][0].startswith(f'Take "{found["recommended"]}": query-p99 ')
    assert all(each["needs"] for each in found["remedies"])


def test_its_numbers_are_those_of_runs_with_its_settings(cli, rack):
    found = advised(cli, rack, "--capacities", "0")
    timer = next(each for each in found["remedies"] if each["remedy"] == "timer of 1ms")
    runs = [fanin.load(rack).run(seed, timer["settings"]).summary for seed in (1, 2, 3)]
    assert timer["mean"] == pytest.approx(sum(run["query_p99_s"] for run in runs) / 3)
    own = [fanin.load(rack).run(seed).summary["query_p99_s"] for seed in (1, 2, 3)]
    assert timer["change"] == pytest.approx(timer["mean"] - sum(own) / 3)
    assert timer["capacity"] is None


def test_what_the_background_pays_is_told(cli, rack):
    Path(rack).write_text(RACK + BACKUP)
    slower = ("--set", "network.rate=1Gbps", "--set", "traffic.servers.start=1ms", "--set", "transport.rto-min=20ms")
    found = advised(cli, rack, "--capacities", "0", *slower)
    changes = [each["background_change"] for each in found["remedies"]]
    assert any(change is not None and change < 0 for change in changes)
    assert next(each for each in found["remedies"] if each["remedy"] == AS_IT_IS)["background_change"] is None


def test_nothing_is_recommended_where_nothing_helps(cli, rack):
    found = advised(cli, rack, "--set", "traffic.servers.senders=1", "--capacities", "1")
    assert found["recommended"] is None
    keep, carries = found["sentences"][:2]
    assert keep.startswith("Keep yours: ")
    assert carries.startswith("As it is, it carries ")


ROOM = """\
[network]
topology = "star"
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


def test_who_needs_no_remedy_is_told_which_carries_further_with_its_threshold(cli, work):
    Path("room.toml").write_text(ROOM.format(rate="10Gbps"))
    found = advised(cli, "room.toml", "--capacities", "1")
    carried = {each["remedy"]: each["capacity"]["capacity"] for each in found["remedies"] if each["capacity"]}
    assert (found["recommended"], found["diagnosis"]["outcome"]) == (None, "full")
    # All that can be deployed and tie are searched, but none that only adds a setting to another of them.
    assert {"timer of 1ms", "Linux DCTCP, marks from 65 packets", "Linux DCTCP, marks from 21 packets"} <= set(carried)
    assert not [name for name in carried if name.endswith(", timer of 1ms")]
    assert found["further"].startswith("Linux DCTCP, marks from ")
    assert carried[found["further"]] == max(carried.values()) > 1.2 * carried[AS_IT_IS]
    keep, _, more = found["sentences"][:3]
    assert keep.startswith("Keep yours: ")
    assert more.startswith(f'For more, take "{found["further"]}". It carries {carried[found["further"]]} senders ')
    assert "an ECN threshold in the switch" in more


def test_the_advice_to_keep_a_scenario_says_how_much_room_it_leaves(cli, work):
    Path("room.toml").write_text(ROOM.format(rate="10Gbps"))

    def told(*arguments: str) -> tuple[int, list[str]]:
        found = advised(cli, "room.toml", "--capacities", "1", *arguments)
        own = next(each for each in found["remedies"] if each["remedy"] == AS_IT_IS)
        assert found["recommended"] is None
        return own["capacity"]["capacity"], found["sentences"]

    # Six of fourteen senders leave room; fourteen do not, although they are no slower for it.
    most, said = told()
    assert said[0].startswith("Keep yours: no remedy ")
    assert "room" not in said[1]
    same, said = told("--set", f"traffic.servers.senders={most}")
    assert same == most > 6
    assert said[0].startswith("Keep yours as long as there are no more senders: no remedy ")
    assert said[1].endswith(f"Your {most} senders leave hardly any room: with {most + 1} the bounds break.")
    assert said[2].startswith("For more, take ")
    # A bound that does not hold is no reason to keep anything.
    fewer, said = told("--set", f"traffic.servers.senders={most}", "--keep", "query-p99=300us")
    assert fewer < most
    assert said[0].startswith("No remedy that takes only settings ")
    assert said[1].endswith(f"You have {most}, so the bounds do not hold.")
    assert "Keep yours" not in " ".join(said)


def test_thresholds_are_the_engines_rule_whatever_the_scenario_has(work):
    for rate, own in (("1Gbps", 20), ("10Gbps", 65), ("20Gbps", 130)):
        Path("room.toml").write_text(ROOM.format(rate=rate))
        given = {"transport.scheme": "linux-dctcp", "scheme.linux-dctcp.mark-threshold": "30pkt"}
        experiment = fanin.load("room.toml", given)
        assert thresholds(facts(experiment.run(), experiment.resolved())) == [own, own // 3]
    small = fanin.load("room.toml", {"network.admission": "static", "network.buffer": "10pkt"})
    assert thresholds(facts(small.run(), small.resolved())) == [8]


def test_a_page_has_the_answer_the_ranking_and_the_needs(cli, rack):
    result = cli("advise", rack, *FEW, "--capacities", "0")
    page = Path(result.out.splitlines()[-2]).read_text()
    assert page.startswith("# Advice: A rack")
    # A table has no line without cells in it.
    assert "|\n\n|" not in page
    assert "| sdtcp | OpenFlow switches" in page
    assert "`--set transport.rto-min=1ms`" in page
    assert "As it is: Incast collapse" in result.out
    assert f"fanin advise {rack}" in page
    assert "so ranks may be left out" in page
    # Nothing was searched, so nothing is said of how far they carry.
    assert '"carries" is' not in page


def test_traffic_without_a_fan_in_is_ranked_by_completion_times(cli, work):
    text = '[network]\ntopology = "star"\nrate = "10Gbps"\n[[traffic]]\nkind = "poisson"\nname = "rpc"\nfrom = "all"\n'
    Path("rpc.toml").write_text(f'{text}to = "all"\nbytes-each = "rpc"\nload = "30%"\ncount = 50\n')
    found = advised(cli, "rpc.toml")
    assert (found["goal"], found["over"]) == ("p99-fct", None)
    assert {each["capacity"] for each in found["remedies"]} == {None}


def test_every_scheme_says_what_it_needs():
    assert set(SYSTEMS) == {row["key"] for row in registry()["schemes"]}
    deployable = {"newreno", "linux", "linux-reno", "linux-dctcp", "dctcp"}
    assert {key for key, (effort, _) in SYSTEMS.items() if effort.is_deployable} == deployable
    assert not Effort.KERNEL.is_deployable
