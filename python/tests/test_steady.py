"""Traffic that waits until the long flows beside it are steady, and the warning of traffic that does not."""

import pytest

import fanin
from fanin.scenario import loads
from fanin.scenario.remarks import unsteady, without_effect
from fanin.scenario.traffic import as_run, without_waiting

SCENARIO = """\
[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "100pkt"

[transport]
scheme = "dctcp"

[[traffic]]
name = "long"
kind = "background"
flows = 2

[[traffic]]
name = "reads"
kind = "incast"
senders = 4
bytes-each = "20KB"
rounds = 5
jitter = "20us"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "beside.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return str(path)


def test_run_warns_of_queries_that_begin_before_the_queue_is_steady(scenario, cli):
    result = cli("run", scenario, "--no-store", "--no-try")
    assert "--set traffic.reads.start=steady" in result.err.replace("\n", " ")
    result = cli("run", scenario, "--no-store", "--no-try", "--set", "traffic.reads.start=steady")
    assert "steady" not in result.err


def test_compare_warns_of_it(scenario, cli):
    result = cli("compare", scenario, "--schemes", "dctcp,newreno", "--seeds", "1..3")
    assert "--set traffic.reads.start=steady" in " ".join(result.err.split())


def test_waiting_in_vain_is_warned_of(scenario, cli):
    settings = ["traffic.reads.start=steady", "run.steady-limit=60ms"]
    result = cli("run", scenario, "--no-store", "--no-try", *(each for set_ in settings for each in ("--set", set_)))
    assert "run.steady-limit = 60ms" in " ".join(result.err.split())


def test_only_what_can_wait_is_told_to_wait(scenario):
    resolved = fanin.Scenario(scenario).resolved()
    assert unsteady([{"long_flows_rising": 0}, {"long_flows_rising": None}, {}], resolved) is None
    assert "while 2 long flows still grew" in str(unsteady([{"long_flows_rising": 2}], resolved))
    long = {**resolved, "traffic": resolved["traffic"][:1]}
    assert unsteady([{"long_flows_rising": 2}], long) is None


def test_times_are_moved_to_when_traffic_began(scenario):
    settings = {"traffic.reads.start": "steady", "measure.warmup": "10ms"}
    resolved = fanin.Scenario(scenario).resolved(settings)
    found = as_run(resolved, {"steady_s": 0.25})
    assert [group["start"] for group in found["traffic"]] == ["0s", "0.250000000000s"]
    assert found["measure"]["warmup"] == "0.260000000000s"
    assert as_run(resolved, {"steady_s": None})["traffic"][1]["start"] == "60.000000000000s"
    assert without_effect({"steady_s": 0.25, "simulated_s": 0.3}, resolved) == []
    assert len(without_effect({"steady_s": 0.25, "simulated_s": 0.255}, resolved)) == 1


def test_traffic_begins_when_it_did_without_waiting(scenario):
    settings = {"traffic.reads.start": "steady", "measure.warmup": "1ms", "run.duration": "20ms"}
    experiment = fanin.Scenario(scenario)
    waited = experiment.set(settings).run()
    times = without_waiting(experiment.resolved(settings), waited.summary)
    again = experiment.set(settings | times).run()
    assert again.summary["steady_s"] is None
    assert waited.summary["steady_s"] > 0.02
    for total in ("query_p99_s", "flows", "goodput_bps", "simulated_s", "window_start_s"):
        assert again.summary[total] == pytest.approx(waited.summary[total], abs=1e-9), total
    assert without_waiting(experiment.resolved(), waited.summary) == {}


def test_what_is_said_of_the_network_counts_waiting_traffic_as_the_last(scenario):
    experiment = fanin.Scenario(scenario)
    said = [loads.remarks(experiment, {"traffic.reads.start": start}) for start in ("1s", "steady")]
    assert said[0] == said[1]


def test_long_flows_with_segmentation_offload_fill_their_receive_window(scenario):
    settings = {"transport.scheme": "linux", "transport.stack": "linux-6", "network.rate": "25Gbps"}
    settings |= {"network.buffer": "16MB", "traffic.reads.start": "100ms", "run.duration": "100ms"}
    probes = fanin.Scenario(scenario).set({**settings, "measure.probes": "in-flight"}).run(1).table("probes")
    # Windows grow to 2 MB; those that stop with room for less than a burst left stay at a tenth of that.
    assert probes["value"].max() > 1.5e6
