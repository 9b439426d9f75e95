"""SDTCP in the Linux kernel, behind Open vSwitch: against the simulator's switches, with the same controller."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from linux_kernel import IDEAL_HOSTS, KERNELS

from fanin import _engine
from fanin.results.frames import decode

runs = pytest.mark.skipif(
    1000 not in KERNELS or not Path("/usr/sbin/ovs-vswitchd").exists(),
    reason='"make linux" builds a kernel with HZ=1000, and "apt-get install openvswitch-switch" installs the switch',
)

SCENARIO = (
    """
[network]
topology = "star"
rate = "1Gbps"
delay = "50us"
buffer = "300pkt"
[transport]
scheme = "sdtcp"
"""
    + IDEAL_HOSTS
    + """\
ack-every = 1
[[traffic]]
name = "answers"
kind = "incast"
senders = 16
bytes-each = "32KB"
rounds = 1
request = "8B"
connections = "fresh"
jitter = "0s"
[measure]
capture-control = true
[run]
duration = "20s"
"""
)

PACKET_IN, PACKET_OUT, FLOW_MOD = 10, 13, 14
CONGESTION = 0xF0
WINDOW = 4
"""The cookie of entries that limit windows."""


class Run(NamedTuple):
    """What happened, and the messages between switch and controller."""

    output: Any
    messages: list[bytes]

    @property
    def times(self) -> list[float]:
        return sorted(decode(self.output.columns("flows"))["completion_s"].to_list())

    @property
    def summary(self) -> dict[str, Any]:
        return dict(json.loads(self.output.summary))

    @property
    def reports(self) -> list[tuple[int, int]]:
        """The levels and the queues in bytes that the switch has reported."""
        found = []
        for message in self.messages:
            if message[1] == PACKET_IN and message[14] >= CONGESTION:
                found.append((message[14] - CONGESTION, int.from_bytes(message[44:48], "big")))
        return found

    @property
    def windows(self) -> Counter[int]:
        """The limits in bytes that the controller has set, and how often."""
        action = bytes.fromhex("ffff00100002fa1700010000")
        changes = [each for each in self.messages if each[1] == FLOW_MOD and each[8:16] == WINDOW.to_bytes(8, "big")]
        return Counter(int.from_bytes(each.split(action)[1][:4], "big") for each in changes if action in each)


def blocks(capture: bytes) -> Iterator[bytes]:
    """The packets of a pcapng file, from their IPv4 headers on."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == 6:
            captured = struct.unpack_from("<I", capture, at + 20)[0]
            yield capture[at + 28 : at + 28 + captured]
        at += length


def messages(capture: bytes) -> list[bytes]:
    """The OpenFlow messages of a capture without losses."""
    streams: dict[bytes, bytes] = {}
    found = []
    for packet in blocks(capture):
        head = 4 * (packet[0] & 15)
        payload = packet[head + 4 * (packet[head + 12] >> 4) : int.from_bytes(packet[2:4], "big")]
        key = packet[12 : head + 4]
        stream = streams.get(key, b"") + payload
        while len(stream) >= 8 and len(stream) >= (length := int.from_bytes(stream[2:4], "big")):
            found.append(stream[:length])
            stream = stream[length:]
        streams[key] = stream
    return found


def run(backend: str, **changes: Any) -> Run:
    dotted = {key.replace("__", ".").replace("_", "-"): value for key, value in changes.items()}
    ties = {} if backend == "linux" else {"network.ties": "scheduled"}
    output = _engine.Scenario(SCENARIO, "scenario.toml", {**ties, **dotted, "run.backend": backend}).run(1)
    return Run(output, messages(output.capture() or b""))


@runs
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"scheme__sdtcp__reevaluate": "none"},
        {"scheme__sdtcp__jump": "highest", "scheme__sdtcp__queue_counts": "packets"},
        {"scheme__sdtcp__recovery": "500us", "scheme__sdtcp__step_down": True, "traffic__answers__senders": 8},
        {"scheme__sdtcp__buffers": False, "control__delay": "10us"},
        {"scheme__sdtcp__setup_delay": False, "scheme__sdtcp__window_scale": "ignored"},
    ],
    ids=["own", "as-printed", "highest-of-packets", "steps-down", "without-buffers", "copies"],
)
def test_levels_windows_and_times_are_the_simulators(changes: dict[str, Any]) -> None:
    kernel, simulated = run("linux", **changes), run("simulator", **changes)
    assert kernel.reports == simulated.reports and simulated.reports
    assert kernel.windows == simulated.windows and simulated.windows
    # The tolerance of validation/linux/scripts.toml.
    assert kernel.times == pytest.approx(simulated.times, abs=2e-6)
    for total in ("drops", "retransmissions", "queue_max_packets"):
        assert kernel.summary[total] == simulated.summary[total], total
    counters = decode(kernel.output.columns("counters")).select(pl.col("name").cast(pl.String), "value")
    assert dict(counters.iter_rows())["PortWindowsRewritten"] == simulated.summary["rewritten"]


@runs
def test_two_runs_have_the_same_bytes() -> None:
    one, other = run("linux"), run("linux")
    assert one.output.capture() == other.output.capture()
    assert one.summary["result_hash"] == other.summary["result_hash"]


@runs
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark reads the capture: apt-get install tshark")
def test_the_session_is_openflow_to_wireshark(tmp_path: Path) -> None:
    file = tmp_path / "session.pcapng"
    file.write_bytes(run("linux", traffic__answers__senders=4).output.capture())

    def shown(only: str, *fields: str) -> list[str]:
        words = ["tshark", "-r", str(file), "-d", "tcp.port==6653,openflow", "-Y", only, "-T", "fields"]
        words += [word for field in fields for word in ("-e", field)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()

    assert shown("_ws.malformed", "frame.number") == []
    types = {int(word) for line in shown("openflow_v4", "openflow_v4.type") for word in line.split(",")}
    assert {0, 5, 6, PACKET_IN, PACKET_OUT, FLOW_MOD, 18, 19} <= types and 1 not in types
    assert shown("tcp.len > 0 && !openflow_v4", "frame.number") == []


@runs
def test_connections_that_were_open_before_are_not_known_to_the_controller() -> None:
    kernel = run("linux", traffic__answers__connections="persistent", traffic__answers__senders=4)
    packets = [message for message in kernel.messages if message[1] == PACKET_IN]
    assert packets and len(packets) == len(kernel.reports), "levels are reported all the same"
    assert not [message for message in kernel.messages if message[1] == FLOW_MOD]
    assert kernel.summary["completed"] == 4


@runs
def test_a_connection_passes_two_switches_and_asks_at_each() -> None:
    changes = {"network__topology": "two-switch", "traffic__answers__senders": 4}
    kernel, simulated = run("linux", **changes), run("simulator", **changes)
    kinds = [Counter(message[1] for message in each.messages) for each in (kernel, simulated)]
    assert kinds[0][PACKET_IN] == kinds[1][PACKET_IN] and kinds[0][FLOW_MOD] == kinds[1][FLOW_MOD]
    assert kernel.times == pytest.approx(simulated.times, abs=4e-6)


@runs
def test_from_low_on_the_level_rises_only_while_the_queue_is_below_high() -> None:
    # Algorithm 1, lines 7 to 9: a queue that is never between modest and high stays at low.
    changes = {"scheme__sdtcp__modest": "31pkt", "scheme__sdtcp__high": "31pkt"}
    kernel, simulated = run("linux", **changes), run("simulator", **changes)
    assert [level for level, _ in kernel.reports] == [1] and kernel.reports == simulated.reports
    assert kernel.times == pytest.approx(simulated.times, abs=2e-6)
