"""RCCE's edge in the Linux kernel, where one is built, against the simulator's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from fanin import _engine
from fanin.errors import ScenarioError
from fanin.results.frames import decode

built = pytest.mark.skipif(
    1000 not in {hz for hz, *_ in _engine.linux_kernels()},
    reason='there is no kernel with HZ=1000: "make linux" builds it',
)

SCENARIO = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "1000pkt"
[transport]
scheme = "rcce"
stack = "linux-6"
interrupt-interval = "0s"
gro = "0B"
tso = "0B"
small-queue = "0B"
host-queue = 0
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


def played(backend: str, changes: dict[str, Any]) -> Any:
    ties = {} if backend == "linux" else {"network.ties": "scheduled"}
    return _engine.Scenario(SCENARIO, "scenario.toml", {**ties, **changes, "run.backend": backend}).run(1)


def times(run: Any) -> Any:
    """Completion times in nanoseconds."""
    return decode(run.columns("flows"))["fct_s"].to_numpy() * 1e9


@built
@pytest.mark.parametrize(
    "changes",
    [
        {"traffic.answers.senders": 1},
        {"traffic.answers.senders": 2},
        {},
        {"traffic.answers.senders": 64},
        {"traffic.answers.senders": 64, "scheme.rcce.requests": "pass"},
        {"scheme.rcce.priority": "off"},
        {"traffic.answers.request": "0B"},
    ],
    ids=["one", "two", "eight", "requests-wait", "requests-pass", "equal-shares", "unasked"],
)
def test_the_edges_scheduler_is_the_simulators(changes: dict[str, Any]) -> None:
    kernel, simulated = (times(played(backend, changes)) for backend in ("linux", "simulator"))
    print(np.abs(kernel - simulated).max(), kernel.mean(), simulated.mean())
    assert np.abs(kernel - simulated).max() < 2_000
