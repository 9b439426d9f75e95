"""SAB's switch in the Linux kernel, where one is built, against the simulator's."""

from __future__ import annotations

import itertools
import json
from typing import Any

import polars as pl
import pytest
from linux_kernel import IDEAL_HOSTS, built

from fanin import _engine
from fanin.errors import ScenarioError
from fanin.results.frames import decode

NETWORK = (
    """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "40pkt"
[transport]
scheme = "sab"
"""
    + IDEAL_HOSTS
    + """\
ack-every = 1
[run]
duration = "1s"
[measure]
probes = "share"
probe-flows = 8
"""
)

LATER = """
[[traffic]]
name = "sender-{number}"
kind = "incast"
senders = 1
bytes-each = "2MB"
rounds = 1
connections = "{connections}"
start = "{number}ms"
jitter = "0s"
"""

ROUNDS = """
[[traffic]]
name = "answers"
kind = "incast"
senders = 8
bytes-each = "32KB"
rounds = 3
gap = "1ms"
request = "8B"
connections = "persistent"
jitter = "0s"
"""


def one_after_another(connections: str = "fresh", senders: int = 4) -> str:
    """Each sender opens its connection when the one before has sent for a millisecond."""
    return NETWORK + "".join(LATER.format(number=number, connections=connections) for number in range(senders))


def played(backend: str, text: str, changes: dict[str, Any] | None = None) -> Any:
    return _engine.Scenario(text, "scenario.toml", {**(changes or {}), "run.backend": backend}).run(1)


def windows(backend: str, text: str, changes: dict[str, Any] | None = None) -> list[list[int]]:
    """The shares of each sender in whole segments, one after another."""
    table = decode(played(backend, text, changes).columns("probes"))
    table = table.filter(pl.col("name").cast(pl.String) == "share", pl.col("value").is_not_nan())
    found: dict[int, list[float]] = {}
    for connection, value in table.select("connection", "value").iter_rows():
        found.setdefault(connection, []).append(value)
    mss = int((changes or {}).get("transport.mss", "1448B")[:-1])
    # In the kernel the first one is from before all shares: what the receiver's SYN allows.
    first = int(backend == "linux")
    # Whole segments, as far as a window can say that.
    assert backend == "simulator" or all(value % mss < 128 for of in found.values() for value in of[1:])
    segments = [[int(value // mss) for value in found[connection][first:]] for connection in sorted(found)]
    return [[each for each, _ in itertools.groupby(of)] for of in segments]


@built
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"scheme.sab.epsilon": 0.2, "scheme.sab.rtt0": "30us"},
        {"scheme.sab.forget": False},
        {"network.topology": "leaf-spine", "network.delay": "2us"},
        {"transport.receive-buffer": "40KB"},
        {"transport.mss": "948B"},
    ],
    ids=["counts", "parameters", "keeps", "smallest-of-path", "other-scale", "other-segments"],
)
def test_windows_are_the_simulators_as_flows_come_and_go(changes: dict[str, Any]) -> None:
    kernel, simulated = (windows(backend, one_after_another(), changes) for backend in ("linux", "simulator"))
    assert len(kernel) == 4 and sum(map(len, simulated)) >= 9
    for ours, theirs in zip(kernel, simulated, strict=True):
        # The last acknowledgements pass after FIN, which has removed the flow; in the simulator their data came before.
        assert ours[: len(theirs)] == theirs
        assert len(ours) <= len(theirs) + 1


@built
@pytest.mark.parametrize("least", [1, 2])
def test_no_window_is_below_what_receivers_acknowledge_at_once(least: int) -> None:
    small = {"scheme.sab.epsilon": 0.01, "scheme.sab.rtt0": "2us", "transport.ack-every": least}
    assert windows("linux", one_after_another(), small)[3][0] == least
    assert windows("simulator", one_after_another(), small)[3][0] == 0


@built
def test_a_connection_counts_from_its_first_data_until_it_is_closed() -> None:
    # All eight count also between rounds. When the first acknowledgements pass, all have sent; in the simulator an
    # acknowledgement has the share of its data.
    assert windows("linux", NETWORK + ROUNDS) == [[4]] * 8
    assert windows("simulator", NETWORK + ROUNDS) == [[38 // n, 4][n > 7 :] for n in range(1, 9)]


@built
@pytest.mark.parametrize("changes", [{}, {"traffic.answers.senders": 24}, {"traffic.answers.bytes-each": "100KB"}])
def test_without_loss_the_kernel_takes_as_long_as_the_simulator(changes: dict[str, Any]) -> None:
    changes = {**changes, "network.buffer": "1000pkt", "scheme.sab.epsilon": 0.04}
    runs = [played(backend, NETWORK + ROUNDS, changes) for backend in ("linux", "simulator")]
    kernel, simulated = (json.loads(run.summary) for run in runs)
    assert kernel["drops"] == simulated["drops"] == 0
    assert kernel["query_mean_s"] == pytest.approx(simulated["query_mean_s"], rel=0.02)


@built
def test_two_runs_are_equal_to_the_bit() -> None:
    offloads = {"transport.gro": "65536B", "transport.tso": "65536B", "transport.interrupt-interval": "8us"}
    runs = [played("linux", NETWORK + ROUNDS, {**offloads, "traffic.answers.senders": 24}) for _ in range(2)]
    assert len({json.loads(run.summary)["result_hash"] for run in runs}) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scheme.sab.sub-mss": "shrink"}, r"scheme\.sab\.sub-mss: .*below a segment"),
        ({"scheme.sab.first-share": "syn"}, r"scheme\.sab\.first-share: .*begins with initial-window"),
        ({"traffic.answers.scheme": "linux"}, r"give no group another"),
    ],
)
def test_what_no_linux_host_follows_is_refused_by_name(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        _engine.Scenario(NETWORK + ROUNDS, "scenario.toml", {**changes, "run.backend": "linux"}).check()
