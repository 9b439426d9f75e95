"""RCCE's edge in the Linux kernel, where one is built, against the simulator's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from linux_kernel import IDEAL_HOSTS, built

from fanin import _engine
from fanin.errors import ScenarioError
from fanin.results.frames import decode

SCENARIO = (
    """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "1000pkt"
[transport]
scheme = "rcce"
"""
    + IDEAL_HOSTS
    + """\
[scheme.rcce]
edge-mode = "tor-proxy"
[[traffic]]
name = "answers"
kind = "incast"
senders = 8
bytes-each = "64KB"
rounds = 2
gap = "30ms"
request = "8B"
connections = "fresh"
jitter = "0s"
announce-size = false
[run]
duration = "5s"
"""
)


def played(backend: str, changes: dict[str, Any], text: str = SCENARIO) -> Any:
    ties = {} if backend == "linux" else {"network.ties": "scheduled"}
    return _engine.Scenario(text, "scenario.toml", {**ties, **changes, "run.backend": backend}).run(1)


def times(run: Any) -> Any:
    """Completion times in nanoseconds; which of several equal servers is first is a tie."""
    return np.sort(decode(run.columns("flows"))["fct_s"].to_numpy() * 1e9)


def longest(run: Any) -> int:
    """The longest queue in packets."""
    packets: int = json.loads(run.summary)["queue_max_packets"]
    return packets


@built
@pytest.mark.parametrize(
    "changes",
    [
        {"traffic.answers.senders": 1},
        {"traffic.answers.senders": 2},
        {"network.buffer": "20pkt"},
        {"traffic.answers.senders": 64},
        {"traffic.answers.senders": 64, "scheme.rcce.requests": "pass"},
        {"scheme.rcce.priority": "off"},
        {"traffic.answers.request": "0B"},
        {"transport.receive-buffer": "1MB", "transport.mss": "948B", "scheme.rcce.priority": "off"},
    ],
    ids=["one", "two", "eight", "requests-wait", "requests-pass", "equal-shares", "unasked", "other-segments"],
)
def test_the_edges_scheduler_is_the_simulators(changes: dict[str, Any]) -> None:
    kernel, simulated = (played(backend, changes) for backend in ("linux", "simulator"))
    assert np.abs(times(kernel) - times(simulated)).max() < 2_000
    # The first segment of a connection that its sender opens does not wait in the kernel.
    if "traffic.answers.request" not in changes:
        assert longest(kernel) == longest(simulated)


@built
def test_the_edge_reacts_to_marks_of_its_own_port() -> None:
    # Without the scheduler only marks keep windows small.
    changes = {
        "scheme.rcce.scheduler": "off",
        "scheme.rcce.mark-threshold": "10pkt",
        "traffic.answers.senders": 2,
        "traffic.answers.bytes-each": "1MB",
        "traffic.answers.rounds": 1,
    }
    kernel, simulated = (json.loads(played(backend, changes).summary) for backend in ("linux", "simulator"))
    assert kernel["marks"] == pytest.approx(simulated["marks"], rel=0.1)
    assert kernel["queue_mean_packets"] == pytest.approx(simulated["queue_mean_packets"], rel=0.1)


@built
@pytest.mark.parametrize("edge", ["none", "relay-tree"])
def test_without_a_switch_the_scheduler_is_at_receivers(edge: str) -> None:
    text = SCENARIO.replace("tor-proxy", edge)
    if edge == "relay-tree":
        text = text.replace('kind = "incast"', f'kind = "{edge}"\nedge-count = 2')
        text = text.replace('connections = "fresh"\njitter = "0s"\n', "").replace(
            "[[", 'edge-scheduler = "per-host"\n[['
        )
    kernel, simulated = (times(played(backend, {}, text)) for backend in ("linux", "simulator"))
    assert np.abs(kernel - simulated).max() < 2_000


@built
def test_two_runs_are_equal_to_the_bit() -> None:
    offloads = {"transport.gro": "65536B", "transport.tso": "65536B", "transport.interrupt-interval": "8us"}
    runs = [played("linux", {**offloads, "traffic.answers.senders": 64}) for _ in range(2)]
    assert len({json.loads(run.summary)["result_hash"] for run in runs}) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scheme.rcce.st-enable": "on"}, r"scheme\.rcce\.st-enable: .*no labels"),
        ({"scheme.rcce.st-cell": "1KB"}, r"scheme\.rcce\.st-cell: .*does not follow"),
        ({"scheme.rcce.rto-r": "on-release"}, r"scheme\.rcce\.rto-r: .*edge-mode"),
        ({"scheme.rcce.proxy-counts": "arrivals"}, r"scheme\.rcce\.proxy-counts: .*as they leave"),
        ({"traffic.answers.receiver": 1}, r"scheme\.rcce\.edge-scheduler: .*per-host"),
    ],
)
def test_what_the_kernel_does_not_have_is_refused_by_name(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        _engine.Scenario(SCENARIO, "scenario.toml", {**changes, "run.backend": "linux"}).check()
