"""PFDCT in the Linux kernel, where one is built: against the simulator's, and against the paper's equations."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import polars as pl
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
delay = "50us"
buffer = "1000pkt"
[transport]
scheme = "pfdct"
"""
    + IDEAL_HOSTS
    + """\
ack-every = 1
[[traffic]]
name = "answers"
kind = "incast"
senders = 1
bytes-each = "{segments}"
rounds = 1
request = "100B"
connections = "persistent"
jitter = "0s"
[run]
duration = "1s"
"""
)

LARGE = {"scheme.pfdct.class": "size-only", "scheme.pfdct.long-size": "1KB"}
"""All answers are long flows, and requests are short ones."""
ECHO = {**LARGE, "scheme.pfdct.cut": "first-echo"}
FROZEN = {"scheme.pfdct.kt-dir": "frozen"}
SPLIT = {"scheme.pfdct.bands": 3, "scheme.pfdct.band-buf": "split", "network.buffer": "60pkt"}
TWO_SHORT_BEGINNINGS = {"scheme.pfdct.class": "alg2", "transport.ack-every": 2, "traffic.answers.rounds": 2}
"""Of each answer 10 KB are short. If the rest is marked, one acknowledgement empties its windows of two segments."""
NEAR = {"network.delay": "5us"}


def servers(count: int) -> dict[str, Any]:
    return {**NEAR, "traffic.answers.senders": count}


class Fault(NamedTuple):
    kind: str
    segments: str


class Found(NamedTuple):
    """What happened in a run."""

    times: list[float]
    marks: int
    drops: int
    retransmissions: int
    longest: int


def played(backend: str, segments: int, changes: dict[str, Any], *faults: Fault) -> Any:
    text = SCENARIO.replace("{segments}", f"{1448 * segments}B")
    for kind, chosen in faults:
        text += f'[[fault]]\nkind = "{kind}"\nlink = "switch-0->receiver-0"\nsegments = "{chosen}"\n'
    ties = {} if backend == "linux" else {"network.ties": "scheduled"}
    return _engine.Scenario(text, "scenario.toml", {**ties, **changes, "run.backend": backend}).run(1)


def found(run: Any) -> Found:
    summary = json.loads(run.summary)
    counts = [summary[name] for name in ("marks", "drops", "retransmissions", "queue_max_packets")]
    return Found(decode(run.columns("flows"))["completion_s"].to_list(), *counts)


def classes(run: Any) -> dict[str, int]:
    counters = decode(run.columns("counters")).select(pl.col("name").cast(pl.String), "value")
    return {name: value for name, value in counters.iter_rows() if name.startswith("Port")}


@built
@pytest.mark.parametrize(
    ("segments", "changes", "faults"),
    [
        (200, {}, []),
        (200, {}, [Fault("drop", "50")]),
        (800, {}, []),
        (400, {"scheme.pfdct.class": "alg2"}, []),
        (400, LARGE, []),
        (400, LARGE, [Fault("drop", "100..105")]),
        (100, LARGE, [Fault("mark", "1..100")]),
        (400, LARGE, [Fault("mark", "15..24,100..110,300")]),
        (400, ECHO, [Fault("mark", "15..24,100..110,300")]),
        (10, {**LARGE, **FROZEN, **servers(4)}, []),
        (10, {**LARGE, **servers(8), "scheme.pfdct.clip-high": 7}, []),
        (30, {**servers(8), "network.buffer": "30pkt"}, []),
        (200, {**ECHO, **servers(4)}, []),
        (200, {**ECHO, **servers(4), "scheme.pfdct.ki": 5}, []),
        (100, {**ECHO, **servers(4), **SPLIT}, []),
        (100, TWO_SHORT_BEGINNINGS, [Fault("mark", "1..200")]),
    ],
    ids=[
        "short",
        "short-drop",
        "becomes-long",
        "alg2",
        "long",
        "long-drops",
        "all-marked",
        "window-end",
        "first-echo",
        "step",
        "clip",
        "short-band-full",
        "moving-threshold",
        "ideal-threshold",
        "split",
        "two-transfers",
    ],
)
def test_bands_marks_and_windows_are_the_simulators(
    segments: int, changes: dict[str, Any], faults: list[Fault]
) -> None:
    kernel, simulated = (found(played(backend, segments, changes, *faults)) for backend in ("linux", "simulator"))
    # The tolerance of validation/linux/scripts.toml.
    assert kernel.times == pytest.approx(simulated.times, abs=2e-6)
    assert kernel[1:] == simulated[1:]


@built
def test_a_window_with_marks_is_reduced_when_all_of_it_is_acknowledged() -> None:
    changes = {**LARGE, "measure.probes": "cwnd"}
    table = decode(played("linux", 400, changes, Fault("mark", "15")).columns("probes"))
    windows = [round(value / 1448) for value in table["value"]]
    # Section 3.2.4 and Eq. 3. The mark is in the second of these windows, and the share that counts is a twelfth.
    alpha = (15 / 16) ** 3 + 1 / 12 / 16
    assert windows[:6] == [10, 11, 12, int(12 * (1 - alpha / 2)), 8, 9]


@built
def test_each_packet_has_the_class_that_its_sender_wrote() -> None:
    changes = {**LARGE, **servers(4), "network.buffer": "40pkt"}
    by_table = played("linux", 100, changes)
    by_code_point = played("linux", 100, {**changes, "scheme.pfdct.classify": "dscp"})
    assert found(by_table) == found(by_code_point)
    assert classes(by_table) == classes(by_code_point)
    one = played("linux", 400, LARGE, Fault("drop", "100"))
    assert found(one).retransmissions == classes(one)["PortRetransmissions"] == 1
    # All data once. The rest are the request, acknowledgements, and SYNs.
    assert classes(one)["PortLongFlows"] == 400
    assert "PortLongFlows" not in classes(played("linux", 400, {}))


INCAST = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "100pkt"
[transport]
scheme = "pfdct-st"
stack = "linux-6"
[[traffic]]
name = "answers"
kind = "incast"
senders = 32
bytes-each = "20KB"
rounds = 3
gap = "2ms"
request = "100B"
connections = "persistent"
[[traffic]]
name = "long"
kind = "background"
flows = 2
[measure]
warmup = "0s"
[run]
duration = "20ms"
"""


@built
def test_an_incast_beside_long_flows_takes_as_long_as_in_the_simulator() -> None:
    runs = [
        _engine.Scenario(INCAST, "incast.toml", {"run.backend": backend}).run(1) for backend in ("linux", "simulator")
    ]
    kernel, simulated = (json.loads(run.summary) for run in runs)
    assert kernel["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.05)
    assert kernel["fct_p50_s"] == pytest.approx(simulated["fct_p50_s"], rel=0.05)
    assert kernel["queue_mean_packets"] == pytest.approx(simulated["queue_mean_packets"], rel=0.2)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("kt-scope", "max", "ports add up thresholds"),
        ("kt-transport", "sender-mark", "do not mark for themselves"),
        ("rtt-min", "oracle", "measures round trips"),
        ("cut", "each-ack", "once a round trip"),
        ("red-min", 30, "no RED"),
        ("kt-init", 5000, "less than 4096"),
    ],
)
def test_a_reading_that_the_kernel_does_not_have_is_refused_by_name(key: str, value: Any, why: str) -> None:
    scenario = _engine.Scenario(INCAST, "incast.toml", {
        "transport.scheme": "pfdct",
        f"scheme.pfdct.{key}": value,
        "run.backend": "linux",
    })  # fmt: skip
    with pytest.raises(ScenarioError, match=rf"scheme\.pfdct\.{key}: .*{why}"):
        scenario.run(1)
