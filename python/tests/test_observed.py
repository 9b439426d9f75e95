"""The queue that is measured and drawn is that of the port that limits a run, or a warning names that port."""

import json

import polars as pl
import pytest
from patches import stored

import fanin
from fanin._engine import Scenario
from fanin.run.observed import bottleneck, find_moved_bottleneck

RACKS = """
[network]
topology = "leaf-spine"
rate = "100Gbps"
uplink-rate = "10Gbps"
delay = "5us"
buffer = "100pkt"

[transport]
scheme = "dctcp"
rto-min = "10ms"

[[traffic]]
name = "servers"
kind = "incast"
senders = 24
bytes-each = "64KB"
"""

FAULT = """
[[fault]]
kind = "loss"
link = "bottleneck"
rate = "1%"
"""

HERE, THERE = "leaf-0->receiver-0", "spine-0->leaf-0"


@pytest.fixture
def racks(work):
    (work / "racks.toml").write_text(RACKS)
    return work


@pytest.fixture
def simulated(monkeypatch):
    """The scenarios that the engine simulates in this process, each with its overrides."""
    made, run = [], Scenario.run
    monkeypatch.setattr(Scenario, "run", lambda own, *given: (made.append(own.changes), run(own, *given))[1])
    return made


def test_one_run_tells_the_queue_of_the_port_that_limits_it(cli, racks, simulated):
    done = cli("run", "racks.toml", "--no-try", "--json")
    assert len(simulated) == 1
    assert done.err.count(f"the bottleneck is {THERE}, not {HERE}, so the queue is that of {THERE}") == 1
    found = json.loads(done.out)
    assert found["diagnosis"]["observed"] == found["bottleneck"] == THERE
    assert found["queue_max_packets"] == 100
    # Only the run that is shown is stored, with the setting that makes it.
    ((name, run),) = stored().items()
    assert (name, run.scenario["measure"]["bottleneck"]) == (found["run_id"], THERE)
    given = fanin.Scenario("racks.toml").set({"measure.bottleneck": THERE}).run()
    assert (given.run_id, given.summary["result_hash"]) == (found["run_id"], found["result_hash"])


def test_to_measure_more_queues_changes_no_result(racks):
    experiment = fanin.Scenario("racks.toml")
    plain, every = (experiment.simulate([], on_the_way=more) for more in (False, True))
    assert json.loads(plain.summary)["result_hash"] == json.loads(every.summary)["result_hash"]
    assert (plain.observe(THERE), every.observe("nowhere"), every.observe(THERE)) == (False, False, True)
    there = json.loads(experiment.simulate([("measure.bottleneck", THERE)]).summary)
    assert json.loads(every.summary)["result_hash"] == there["result_hash"]


@pytest.mark.parametrize("record", ["queue-trace=on-change", "bin=1ms", "capture=bottleneck", "queues=none"])
def test_records_of_the_observed_port_do_not_move(cli, racks, simulated, record):
    done = cli("run", "racks.toml", "--no-store", "--no-try", "--json", "--set", f"measure.{record}")
    assert len(simulated) == 1
    assert "so the queue is that of" not in done.err
    other = [{"kind": "other-port", "observed": HERE, "port": THERE}] if record != "queues=none" else []
    assert [each for each in json.loads(done.out)["diagnosis"]["notes"] if each["kind"] == "other-port"] == other


def test_only_what_is_measured_differs(racks):
    experiment, moved = fanin.Scenario("racks.toml"), []
    first = experiment.run(moved=None)
    again = experiment.run(moved=lambda *ports: moved.append(ports))
    assert moved == [(HERE, THERE)]
    assert first.flows().equals(again.flows())
    assert first.links().equals(again.links())
    assert first.queues()["port"].to_list() == [HERE]
    assert again.queues()["port"].to_list() == [THERE]


def test_a_port_that_the_user_names_stays(cli, racks):
    done = cli("run", "racks.toml", "--no-store", "--set", f"measure.bottleneck={HERE}")
    assert "so the queue is that of" not in done.err
    assert "so the queue is that of" not in cli("run", "small.toml", "--no-store").err


def test_a_fault_at_the_observed_port_would_move_with_it(racks):
    (racks / "fault.toml").write_text(RACKS + FAULT)
    experiment = fanin.Scenario("fault.toml")
    run = experiment.run(moved=None)
    assert run.summary["bottleneck"] != HERE
    assert find_moved_bottleneck(run, experiment.resolved(), experiment.network) is None
    named = fanin.Scenario("fault.toml").set({"fault.loss.link": HERE})
    again = named.run(moved=None)
    assert again.flows().equals(run.flows())
    assert find_moved_bottleneck(again, named.resolved(), named.network) == (HERE, run.summary["bottleneck"])


def test_the_queue_that_is_drawn_is_that_port_s_and_the_axis_says_so(cli, racks):
    done = cli("plot", "queue", "racks.toml", "--file", "queue.svg")
    assert f"the bottleneck is {THERE}, not {HERE}" in done.err
    text = (racks / "queue.svg").read_text()
    assert "Queue of spine-0-&gt;leaf-0 [packets]" in text
    assert "observed port" not in text
    # A second look finds both runs in the store.
    assert "1 found in the store" in cli("plot", "queue", "racks.toml", "--file", "again.svg").err
    assert (racks / "again.svg").read_text() == text
    assert "so the queue is that of" not in cli("plot", "flows", "racks.toml", "--file", "flows.svg").err


def test_the_buffer_that_is_drawn_is_that_of_the_port_s_tier(cli, racks):
    def drawn(*settings):
        options = [part for setting in settings for part in ("--set", setting)]
        assert cli("plot", "queue", "racks.toml", *options, "--file", "queue.svg").code == 0
        return [line for line in (racks / "queue.svg").read_text().splitlines() if "buffer" in line]

    assert "buffer 100 packets" in "".join(drawn())
    assert "buffer 70 packets" in "".join(drawn("network.spine-buffer=70pkt"))
    # The queue of a host has no buffer of a switch.
    assert drawn("measure.bottleneck=sender-0->leaf-1") == []


def test_lines_of_different_ports_name_them(cli, racks):
    done = cli("plot", "queue", "racks.toml", "--set", "network.uplink-rate=10Gbps,400Gbps", "--json")
    assert json.loads(done.out)["lines"] == [f"{THERE}, 10Gbps", f"{HERE}, 400Gbps"]


def test_a_stored_queue_of_another_port_is_warned_of(cli, racks):
    cli("sweep", "racks.toml", "--seeds", "1", "--set", "measure.queue-trace=on-change", "--tables",
        "queue-trace,queues")  # fmt: skip
    (folder,) = (racks / "results" / "sweeps").iterdir()
    done = cli("plot", "queue", str(folder), "--file", "queue.svg")
    assert f"bottleneck is {THERE}, but the queue is that of {HERE}; --set measure.bottleneck='{THERE}' " in done.err
    assert "Queue of leaf-0-&gt;receiver-0 [packets]" in (racks / "queue.svg").read_text()
    assert "warning" not in cli("plot", "cdf", str(folder), "--of", "queues.max_packets", "--where", "seed=2").out


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "racks.toml", "--schemes", "dctcp,newreno", "--seeds", "1..2"),
        ("sweep", "racks.toml", "--seeds", "1..2"),
        ("sweep", "racks.toml", "--seeds", "1", "--columns", "queue_p99_packets"),
        ("capacity", "racks.toml", "--keep", "queue-p99=50pkt", "--over", "traffic.servers.senders=22..24"),
        (
            "tune",
            "racks.toml",
            "--param",
            "scheme.dctcp.mark-threshold=9pkt,19pkt",
            "--keep",
            "queue=99pkt",
            "--trials",
            "2",
            "--seeds",
            "1",
            "--fresh",
            "3",
        ),
        ("advise", "racks.toml", "--goal", "queue-p99", "--seeds", "1", "--capacities", "0"),
    ],
)
def test_commands_with_many_runs_warn(cli, racks, command):
    done = cli(*command)
    assert f"the bottleneck is {THERE}, but the queue is that of {HERE};" in done.err
    assert f"--set measure.bottleneck='{THERE}' measures the bottleneck" in done.err
    assert "but the queue is that of" not in cli(*command, "--set", f"measure.bottleneck={THERE}").err


def test_nothing_is_said_where_no_queue_is_shown(cli, racks):
    done = cli("sweep", "racks.toml", "--seeds", "1", "--columns", "goodput_bps")
    assert "but the queue is that of" not in done.err
    done = cli("capacity", "racks.toml", "--keep", "query-p99=50ms", "--over", "traffic.servers.senders=22..24")
    assert "but the queue is that of" not in done.err


ONE_AT_A_TIME = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "10MB"

[transport]
scheme = "linux"

[[traffic]]
name = "servers"
kind = "incast"
senders = 40
concurrent = 1
bytes-each = "64KB"
"""


def test_a_host_whose_burst_waits_in_it_is_no_bottleneck(cli, work):
    (work / "one.toml").write_text(ONE_AT_A_TIME)
    experiment = fanin.Scenario("one.toml")
    run = experiment.run()
    assert not run.summary["drops"]
    assert run.summary["bottleneck"].startswith("sender-")
    assert bottleneck(run, experiment.network) == "switch-0->receiver-0"
    found = cli("run", "one.toml", "--no-store", "--json")
    assert "so the queue is that of" not in found.err
    assert json.loads(found.out)["diagnosis"]["port"]["name"] == "switch-0->receiver-0"
    # One sender fills its own link as much as the receiver's.
    (work / "one.toml").write_text(ONE_AT_A_TIME.replace("senders = 40", "senders = 1"))
    experiment = fanin.Scenario("one.toml")
    assert bottleneck(experiment.run(), experiment.network) == "switch-0->receiver-0"
    done = cli("compare", "one.toml", "--schemes", "newreno,linux", "--seeds", "1..2")
    assert "but the queue is that of" not in done.err


ALL_TO_ALL = """
[network]
topology = "leaf-spine"
leaves = 4
hosts-per-leaf = 4
rate = "10Gbps"
buffer = "20MB"

[transport]
scheme = "newreno"

[[traffic]]
name = "all"
kind = "poisson"
from = "all"
to = "all"
bytes-each = "web-search"
load = "50%"
count = 300
"""


def test_without_a_loss_the_bottleneck_is_the_busiest_link(work):
    (work / "all.toml").write_text(ALL_TO_ALL)
    experiment = fanin.Scenario("all.toml")
    run = experiment.run()
    links = run.links().with_columns(busy=pl.col("bytes") / pl.col("rate_bps")).sort("busy", descending=True)
    assert run.summary["drops"] == 0
    busy = dict(links.select("link", "busy").iter_rows())
    assert busy[run.summary["bottleneck"]] < 0.95 * links["busy"][0]
    assert bottleneck(run, experiment.network) == links["link"][0]


def test_a_link_that_loses_at_random_has_no_full_queue(work):
    (work / "fault.toml").write_text(ONE_AT_A_TIME + FAULT.replace("bottleneck", "sender-0->switch-0"))
    experiment = fanin.Scenario("fault.toml")
    run = experiment.run()
    assert run.summary["drops"] == run.summary["drops_random_loss"] > 0
    assert bottleneck(run, experiment.network) == "switch-0->receiver-0"
